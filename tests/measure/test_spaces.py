"""The solution space: every combination of levels in one square, and the best as a search finds."""

from fractions import Fraction

import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.look import Zone
from shoal.look.drawing import svg
from shoal.measure.spaces import SIDE, solution_space
from tests.look.drawn import require_zone, rows_of

MODELS = [shoal.KAnonymity(5)]


@pytest.fixture(scope="module")
def people() -> Table:
    return shoal.demo.table(200)


def test_every_combination_is_in_one_square(people: Table) -> None:
    space = solution_space(people, MODELS)
    assert space.seen == space.nodes == sum(square.nodes for square in space.squares)
    assert all(0 <= square.loss < 1 and 0 <= square.suppressed < 1 for square in space.squares)


def test_the_best_is_what_the_search_releases(people: Table) -> None:
    release = shoal.Optimal(MODELS, suppression="0.05").release(people, Seeded(1))
    space = solution_space(people, MODELS, suppression="0.05", chosen=release.certificate.levels)
    assert space.best is not None
    assert space.best == space.chosen
    judged = shoal.judge(people, release)
    assert space.best.loss == pytest.approx(judged.losses["granularity"].normalised)
    assert space.best.suppressed == pytest.approx(1 - judged.share)


def test_without_a_node_that_is_allowed_there_is_no_best(people: Table) -> None:
    space = solution_space(people, [shoal.KAnonymity(201)], suppression=0)
    assert space.best is None
    [picture] = space.pictures()
    assert picture.title.startswith("None of ")


def test_models_of_any_kind_suppress(people: Table) -> None:
    weak, strong = (
        solution_space(people, [shoal.DistinctDiversity("diagnosis", number)]) for number in (1, 4)
    )
    assert weak.best is not None
    assert strong.best is not None
    assert weak.best.loss < strong.best.loss


def test_of_too_many_combinations_some_are_drawn(people: Table) -> None:
    some = solution_space(people, MODELS, most=50)
    assert some.seen == 50 < some.nodes
    assert some == solution_space(people, MODELS, most=50)
    assert "50 of them were drawn" in some.pictures()[0].sentence
    assert "Least loss seen: " in some.pictures()[0].sentence


def test_what_was_chosen_is_the_best_even_if_it_was_not_drawn(people: Table) -> None:
    best = solution_space(people, MODELS).best
    assert best is not None
    some = solution_space(people, MODELS, most=1, chosen=best.levels)
    assert some.best == some.chosen == best


def test_the_chart_has_the_squares_of_its_table(people: Table) -> None:
    space = solution_space(people, MODELS, suppression="0.05", chosen={"age": 3})
    [picture] = space.pictures()
    require_zone(picture, Zone.OWNER)
    squares = [row for row in rows_of(picture.draw()) if "class" in row]
    assert len(squares) == len(space.squares)
    numbers = [int(str(cell).replace(",", "")) for row in picture.rows for cell in row[1:]]
    assert sum(numbers) == space.nodes
    assert len(picture.rows) == len({square.loss for square in space.squares})
    assert all(len(row) == len(picture.head) for row in picture.rows)
    corners = {(row["y"], row["x"]) for row in squares}
    assert corners == {(square.loss, square.suppressed) for square in space.squares}
    drawn = svg(picture.draw())
    for text in ("this release", "least loss", "allowed: 5 %"):
        assert f">{text}<" in drawn


def test_squares_fill_the_map() -> None:
    assert Fraction(1) % SIDE == 0


def test_an_unknown_loss_is_refused(people: Table) -> None:
    with pytest.raises(ParameterError, match="is unknown"):
        solution_space(people, loss="nothing")


def test_a_table_without_columns_to_generalise_is_refused(people: Table) -> None:
    with pytest.raises(ParameterError, match="no quasi-identifying column"):
        solution_space(people.with_roles(sensitive=["diagnosis"]))
