"""Every order of cells counts the same, and so does value by value."""

from collections.abc import Iterator
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.views import Views
from shoal.views.cells import components
from shoal.views.counting import Counted
from shoal.views.steps import between, steps_of
from tests.views.cases import random_views


@settings(max_examples=100)
@given(random_views(), st.randoms(use_true_random=False))
def test_every_order_of_cells_counts_the_same_and_so_does_value_by_value(
    views: Views, source: Random
) -> None:
    for part in components(views):
        cells = list(range(len(part.constraints.cells)))
        expected = Counted.of(part.constraints)
        for _ in range(3):
            source.shuffle(cells)
            cut = source.randrange(len(cells) + 1)
            steps = tuple(steps_of(part.constraints, cells[:cut], cells[cut:]))
            found = Counted._forwards(part.constraints, steps, 10**6, rounded=False)
            assert (found.tables, found.sums) == (expected.tables, expected.sums)
            drawn = found.drawn(source)
            assert [sum(own) for own in drawn] == [size for size, _ in part.constraints.cells]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=4), st.integers(0, 9))
def test_parts_between_bounds_are_all_there_are(bounds: list[tuple[int, int]], size: int) -> None:
    low, high = [one for one, _ in bounds], [one for _, one in bounds]

    def every(at: int) -> Iterator[tuple[int, ...]]:
        if at == len(bounds):
            yield ()
            return
        for own in range(low[at], high[at] + 1):
            for others in every(at + 1):
                yield (own, *others)

    assert list(between(low, high, size)) == [one for one in every(0) if sum(one) == size]
