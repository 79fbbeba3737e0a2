"""A level that is chosen after looking gives somebody away, with methods that keep their promise.

All tables of up to four records are tried, with the code that ships (docs/proofs/looking.md).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.attack import breach, releases
from shoal.data.hierarchy import Hierarchy

TREE = Hierarchy.from_lines(
    [["0", "0-1", "*"], ["1", "0-1", "*"], ["2", "2-3", "*"], ["3", "2-3", "*"]], "integer"
)
LIKE = shoal.table(pl.DataFrame({"a": [0]}), quasi=["a"], hierarchies={"a": TREE})
PEOPLE = [(value,) for value in range(4)]
MOST, K = 4, 2

Rows = tuple[Any, ...]


def finest(rows: Rows) -> int:
    """The finest level at which no record would be lost."""
    for level, width in enumerate([1, 2, 4]):
        groups = [row[0] // width for row in rows]
        if all(groups.count(group) >= K for group in groups):
            return level
    return 2


def kdgs(choose: Callable[[Rows], int]) -> Callable[[Rows], Any]:
    """What is released of rows, at a level that may depend on them."""
    fixed = [releases(shoal.KDGS(K, levels={"a": level}), LIKE) for level in range(3)]
    return lambda rows: fixed[choose(rows)](rows)


def noisy(level: int) -> Callable[[Rows], Any]:
    """The law of what noisy counts release at a level."""
    method = shoal.NoisyCounts(1, "1/100", K, levels={"a": level})
    return releases(method, LIKE, Fraction(1, 10**6))


@pytest.mark.parametrize("level", range(3))
def test_no_table_gives_anybody_away_at_a_level_that_is_fixed(level: int) -> None:
    assert breach(kdgs(lambda rows: level), PEOPLE, MOST, K) is None


def test_a_level_chosen_after_looking_gives_a_person_away() -> None:
    found = breach(kdgs(finest), PEOPLE, MOST, K, fewest=3)
    assert found is not None
    assert found.database == ((0,), (0,), (1,))
    assert (found.record, found.replaceable) == ((1,), 0)
    assert found.present == 1
    assert found.absent == 0


def test_no_epsilon_bounds_what_a_level_chosen_after_looking_reveals() -> None:
    with_somebody, without = ((0,), (0,), (1,)), ((0,), (0,))
    laws = [noisy(finest(rows))(rows) for rows in (with_somebody, without)]
    # Each release is possible for one of the tables only: the certificate has the level.
    assert not laws[0].keys() & laws[1].keys()
    for law in laws:
        assert sum(weight.low for weight in law.values()) > Fraction(99, 100)
    # At a level that is fixed, what either table can show is possible for both.
    fixed = [noisy(1)(rows) for rows in (with_somebody, without)]
    assert fixed[0].keys() & fixed[1].keys()
