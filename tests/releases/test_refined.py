"""The steps by which regions were refined, as a certificate has them."""

from typing import Any

import pytest

from shoal.releases.refined import Refined

STEPS = [["age", 2], ["sex", 0], ["age", 1]]


def test_levels_go_from_the_last_step_of_a_column_to_the_one_above_its_first() -> None:
    refined = Refined.of({"floor": {"age": 1, "town": 3}}, {"tree": {"steps": STEPS}})
    assert refined == Refined((("age", 2), ("sex", 0), ("age", 1)), {"age": 1, "town": 3})
    assert refined.levels(["age", "sex", "town", "job"]) == {
        "age": range(1, 4),
        "sex": range(2),
        "town": range(3, 4),
        "job": range(1),
    }


@pytest.mark.parametrize(
    "derived",
    [
        {},
        {"tree": None},
        {"tree": {}},
        {"tree": {"steps": 3}},
        {"tree": {"steps": ["age"]}},
        {"tree": {"steps": [["age", -1]]}},
        {"tree": {"steps": [["age", "1"]]}},
        {"tree": [["age", 1]]},
    ],
)
def test_what_anybody_may_have_written_is_not_taken_for_steps(derived: dict[str, Any]) -> None:
    assert Refined.of({"floor": 3}, derived) is None


def test_a_floor_that_is_not_one_is_left_out() -> None:
    refined = Refined.of({"floor": "low"}, {"tree": {"steps": STEPS}})
    assert refined is not None
    assert refined.floor == {}
