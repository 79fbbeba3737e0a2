"""A verdict names the conventions that are kept and missed, exactly, and promises nothing."""

from dataclasses import replace
from fractions import Fraction
from math import nextafter
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.measure.conventions import CAVEAT, CONVENTIONS, Convention, RiskVerdict, judged
from shoal.measure.risk import Assessment

GROUP_SIZES = [convention for convention in CONVENTIONS if convention.figure == "k"]
LOOSER = [Convention(c.name, c.figure, c.limit - 1, c.source) for c in GROUP_SIZES]


def assessed(*sizes: int, **options: Any) -> Assessment:
    """Groups of these sizes, by age."""
    ages = [age for age, size in enumerate(sizes) for _ in range(size)]
    return shoal.assess(pl.DataFrame({"age": ages}), quasi=["age"], **options)


def passes(assessment: Assessment, name: str) -> bool | None:
    [result] = [one for one in judged(assessment).results if one.convention.name == name]
    return result.passed


@pytest.mark.parametrize("convention", GROUP_SIZES, ids=lambda convention: convention.name)
def test_a_group_size_is_kept_from_the_very_number(convention: Convention) -> None:
    size = int(convention.limit)
    assert passes(assessed(size, 100), convention.name) is True
    assert passes(assessed(size - 1, 100), convention.name) is False


def test_one_fewer_would_pass_what_a_convention_refuses() -> None:
    for convention, looser in zip(GROUP_SIZES, LOOSER, strict=True):
        too_small = Fraction(int(convention.limit) - 1)
        assert looser.keeps(too_small)
        assert not convention.keeps(too_small)


def test_every_convention_has_its_own_name_and_a_source() -> None:
    names = [convention.name for convention in CONVENTIONS]
    assert len(set(names)) == len(names)
    assert all(len(convention.source) > 20 for convention in CONVENTIONS)
    limits = [convention.limit for convention in GROUP_SIZES]
    assert limits == sorted(limits)  # a verdict names the neighbours of what the table has


def test_a_share_at_risk_is_compared_exactly() -> None:
    at_limit = assessed(4, 76)  # 5 % of 80 records
    assert passes(at_limit, "ARX, records at risk") is True
    assert passes(assessed(4, 75), "ARX, records at risk") is False
    assert passes(assessed(4, 76, threshold="0.1"), "ARX, records at risk") is None


def test_a_success_rate_is_compared_exactly() -> None:
    assert passes(assessed(20, 20, 20), "ARX, success rate") is True  # 3 / 60
    assert passes(assessed(20, 20, 19), "ARX, success rate") is False


def test_an_average_in_floats_is_rounded_to_the_safe_side() -> None:
    frame = pl.DataFrame({"age": [0] * 60, "who": range(60)})
    by_people = shoal.assess(frame, quasi=["age"], person="who")
    assert passes(by_people, "ARX, success rate") is True
    # As near to 5 % as a float can be, the true average may be above it.
    nearly = replace(by_people, marketer=nextafter(0.05, 0))
    assert passes(nearly, "ARX, success rate") is False


def test_a_verdict_names_the_strictest_kept_and_the_weakest_missed() -> None:
    verdict = assessed(7, 30).verdict
    assert "up to 1 in 7" in verdict.line
    assert "passes 'threshold rule of 5' (groups of 5 or more, risk 20 %)" in verdict.line
    assert "fails 'ACRO default' (groups of 10 or more, risk 10 %)" in verdict.line
    assert verdict.line.endswith(CAVEAT)
    assert "threshold rule of 3" in verdict.passed
    assert "CMS cell size" in verdict.failed


def test_a_verdict_is_certain_about_someone_who_is_alone() -> None:
    line = assessed(1, 1, 30).verdict.line
    assert "for certain: 2 records are alone with these values" in line
    assert "fails every convention on group sizes" in line
    assert "1 record is alone" in assessed(1, 30).verdict.line


@pytest.mark.parametrize("sizes", [(1, 2), (3,), (11, 12), (1000,)])
def test_no_verdict_says_safe_or_anonymous(sizes: tuple[int, ...]) -> None:
    verdict = assessed(*sizes).verdict
    for word in ("safe", "anonym", "secure", "protected"):
        assert word not in verdict.line.lower()
    # Whatever passes, the line says that this is not a promise.
    assert (CAVEAT in verdict.line) is bool(verdict.passed)


def test_a_verdict_says_whom_its_figures_are_of() -> None:
    assert assessed(7).verdict.line.startswith("If every row is another person, someone")
    assert assessed(7).verdict.of == "records"
    people = assessed(7, rows_are_people=True).verdict
    assert people.line.startswith("Someone")
    assert people.of == "people"
    visits = pl.DataFrame({"age": [0] * 6, "who": [1, 1, 2, 2, 3, 3]})
    verdict = shoal.assess(visits, quasi=["age"], person="who").verdict
    assert (verdict.of, verdict.passed) == ("people", ("threshold rule of 3",))


def test_rows_that_are_not_people_are_not_judged() -> None:
    visits = pl.DataFrame({"age": [0] * 60, "patient_id": [i // 5 for i in range(60)]})
    verdict = shoal.assess(visits, quasi=["age"]).verdict
    assert "rows are not people" in verdict.line
    assert "'patient_id'" in verdict.line
    assert verdict.passed == verdict.failed == ()
    assert all(result.shown == "not judged" for result in verdict.results)
    # The same figures would pass if the rows were people.
    assert shoal.assess(visits, quasi=["age"], rows_are_people=True).verdict.failed == ()


def test_a_table_without_records_is_not_judged() -> None:
    empty = pl.DataFrame({"age": pl.Series([], dtype=pl.Int64)})
    verdict = shoal.assess(empty, quasi=["age"]).verdict
    assert verdict.line == "No convention can be judged: nothing to judge: the table has no rows."


def test_a_verdict_is_for_the_owner_and_part_of_the_plain_values() -> None:
    found = assessed(7, 30)
    assert repr(found.verdict).startswith("owner only: RiskVerdict(")
    plain = found.to_dict()["verdict"]
    assert plain["line"] == found.verdict.line
    by_name = {one["name"]: one for one in plain["conventions"]}
    assert by_name["CMS cell size"]["passed"] is False
    assert by_name["CMS cell size"]["value"] == 7
    assert by_name["ARX, records at risk"]["value"] == 0
    assert len(by_name) == len(CONVENTIONS)
    assert isinstance(found.verdict, RiskVerdict)
