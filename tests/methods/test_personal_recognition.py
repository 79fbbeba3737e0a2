"""What is left of crowds for someone who knows the algorithm and has the register."""

import numpy as np
import polars as pl

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import groups
from shoal.methods.personal import Personal
from shoal.methods.personal.recognition import Recognition

TOWNS = groups({"west": ["a", "b"], "east": ["c", "d"]})


def _numbers(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.array(values, dtype=np.int64)


SEEN = Recognition(
    _numbers(2, 1, 1), _numbers(4, 2, 1), _numbers(2, 1, 1), np.zeros((3, 1), dtype=np.uint8)
)


def test_the_mean_is_over_people_and_not_over_rows() -> None:
    assert SEEN.mean(SEEN.fitting) == (2 / 4 + 1 / 2 + 1 / 1) / 4
    assert SEEN.mean(SEEN.left) == (2 / 2 + 1 + 1) / 4


def test_those_in_a_crowd_of_one_are_alone() -> None:
    assert SEEN.alone(SEEN.fitting) == 1 / 4
    assert SEEN.alone(SEEN.left) == 2 / 4


def test_equal_numbers_are_equal() -> None:
    same = Recognition(
        SEEN.people.copy(), SEEN.fitting.copy(), SEEN.left.copy(), SEEN.levels.copy()
    )
    assert same == SEEN
    other = Recognition(SEEN.people, SEEN.fitting, _numbers(1, 1, 1), SEEN.levels)
    assert other != SEEN


def test_whoever_knows_the_algorithm_is_left_with_no_more_people() -> None:
    frame = pl.DataFrame({"town": list("aabcccdd"), "ill": ["x"] * 8})
    table = shoal.table(
        frame,
        quasi=["town"],
        insensitive=["ill"],
        hierarchies={"town": TOWNS},
        rows_are_people=True,
    )
    facts = Personal("1/2").release(table, Seeded(1)).facts
    seen = getattr(facts, "seen")  # noqa: B009  facts of other methods have none
    assert seen is not None
    assert seen.people.sum() == 8
    assert (seen.left <= seen.fitting).all()
    assert (seen.left >= 1).all()
