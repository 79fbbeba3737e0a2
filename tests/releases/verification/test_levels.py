"""Levels of generalised columns: fixed, bounded, missing, and what nobody sees of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from shoal.releases.verification.claims import Claims, read_claims
from shoal.releases.verification.levels import (
    NOT_OF_EACH,
    bounded_level_faults,
    fixed_level_faults,
    has_level_of_each,
    hierarchies_missing,
    is_score,
    level_trust,
    levelless_faults,
    rows_per_person,
)
from tests.releases.verification.forging import AGES, ILLS, SEXES, TREES, released


def claims(**changes: Any) -> Claims:
    """Of a release at level 1 of the age and 0 of the sex; the illness has no hierarchy."""
    return read_claims(replace(released("fixed").certificate, **changes))


@pytest.mark.parametrize(
    ("levels", "names", "fault"),
    [
        ({"age": 1, "sex": 0}, ["sex", "age"], []),
        ({}, [], []),
        ({"age": 1}, ["sex", "age"], [NOT_OF_EACH]),
        ({"age": 1, "sex": 0}, ["age"], [NOT_OF_EACH]),
    ],
)
def test_there_is_a_level_of_each_column_and_of_no_other(
    levels: Mapping[str, int], names: list[str], fault: list[str]
) -> None:
    assert list(has_level_of_each(levels, names)) == fault


def test_levels_are_those_fixed_and_0_where_none_is() -> None:
    assert list(fixed_level_faults(claims(), {"age": 1})) == []
    assert list(fixed_level_faults(claims(), {"age": 1, "sex": 0})) == []
    for other in ({}, {"age": 0}, {"age": 1, "sex": 1}, {"age": 1, "ill": 0}):
        assert list(fixed_level_faults(claims(), other)) == [
            "the levels are not those that the parameters fix"
        ]


def test_every_column_with_a_hierarchy_on_the_certificate_has_a_level() -> None:
    fault = "column 'sex' has a hierarchy, and the certificate gives it no level"
    assert list(fixed_level_faults(claims(levels={"age": 1}), {"age": 1})) == [fault]


def test_every_released_column_with_a_hierarchy_at_hand_has_a_level() -> None:
    assert list(levelless_faults(claims(), {"age": AGES, "sex": SEXES})) == []
    assert list(levelless_faults(claims(), {"who": AGES})) == []
    assert list(levelless_faults(claims(), {"ill": ILLS})) == [
        "column 'ill' has a hierarchy, and the certificate gives it no level"
    ]


@pytest.mark.parametrize(
    ("floor", "ceiling", "allowed"),
    [
        ({}, {}, True),
        ({"age": 1}, {"age": 1}, True),
        ({"sex": 1}, {"sex": 0}, True),
        ({"age": 2}, {}, False),
        ({}, {"age": 0}, False),
    ],
)
def test_levels_are_within_their_bounds(
    floor: dict[str, int], ceiling: dict[str, int], allowed: bool
) -> None:
    found = list(bounded_level_faults({"age": 1}, floor, ceiling))
    fault = "column 'age' is at level 1, which the parameters do not allow"
    assert found == ([] if allowed else [fault])


def test_what_nobody_sees_of_labels_depends_on_the_hierarchies_at_hand() -> None:
    [end] = hierarchies_missing(claims(), {"age": AGES})
    assert "'sex' are labels" in end.words
    assert list(hierarchies_missing(claims(), TREES)) == []
    assert len(list(level_trust(claims(), {}))) == 2
    [always] = level_trust(claims(), TREES)
    assert "without looking at the rows" in always.words


def test_what_nobody_sees_of_people_with_several_rows() -> None:
    [end] = rows_per_person("who", 2)
    assert end.words == "that each value of 'who' gave at most 2 rows, drawn by chance"
    assert list(rows_per_person(None, 1)) == []


@pytest.mark.parametrize(
    ("given", "is_one"),
    [
        ("granularity", True),
        ({"is": "kept-records"}, True),
        ({"is": "kept-records", "power": 2}, True),
        ("kept-records", False),
        ({"is": "granularity"}, False),
        ({"is": "Kept: all is well"}, False),
        ({"is": 3}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_score_is_known_or_told_as_the_owners_own(given: object, is_one: bool) -> None:
    assert is_score(given) is is_one
