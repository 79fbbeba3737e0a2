"""The order of cells: every cell has one turn, whatever is left to the end."""

from hypothesis import given

from shoal.views import View, Views
from shoal.views.cells import components
from shoal.views.counting import Counted
from shoal.views.ordering import guessed, order
from tests.views.cases import random_views


@given(random_views())
def test_every_cell_has_one_turn(views: Views) -> None:
    for part in components(views):
        first, last = order(part.constraints)
        assert sorted([*first, *last]) == list(range(len(part.constraints.cells)))


def test_a_single_view_is_counted_without_a_guess() -> None:
    (part,) = components(Views(3, [View("A", [0, 1, 2], ["x", "y", "y"])]))
    assert order(part.constraints) == ([0], [])
    assert guessed(part.constraints) == 0


def test_a_chain_is_counted_from_one_end_to_the_other() -> None:
    """Thirty views, each sharing one person with the next: two are open at a time, at most."""
    table = ["x", "y", "y"] * 21
    shown = [
        View(str(at), range(2 * at, 2 * at + 3), table[2 * at : 2 * at + 3]) for at in range(30)
    ]
    (part,) = components(Views(61, shown))
    counted = Counted.of(part.constraints)
    assert max(map(len, counted.layers)) <= 4


def test_large_shared_cells_are_left_to_the_end() -> None:
    """Two views that share ten of twenty people are easier to count value by value."""
    values = ["u", "v", "w", "x", "y"] * 4
    both = [View("A", range(20), values), View("B", range(10, 30), values)]
    (part,) = components(Views(30, both))
    assert order(part.constraints).last
    assert guessed(part.constraints) > 0
