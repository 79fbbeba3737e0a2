"""The steps by which regions were refined, as a certificate has them."""

from typing import Any

import pytest

from shoal.releases.refined import Refined

STEPS = [["age", 2], ["sex", 0], ["age", 1]]


def test_the_levels_of_a_column_are_its_ceiling_and_those_of_its_steps() -> None:
    refined = Refined.of({"ceiling": {"age": 4}}, {"tree": {"steps": STEPS}})
    assert refined == Refined((("age", 2), ("sex", 0), ("age", 1)), {"age": 4})
    heights = {"age": 5, "sex": 1, "town": 3}
    assert refined.levels(heights) == {"age": [1, 2, 4], "sex": [0, 1]}
    assert refined.levels({"town": 3}) == {}


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
    assert Refined.of({"ceiling": 3}, derived) is None


def test_a_ceiling_that_is_not_one_is_left_out() -> None:
    refined = Refined.of({"ceiling": "low"}, {"tree": {"steps": STEPS}})
    assert refined is not None
    assert refined.ceiling == {}
