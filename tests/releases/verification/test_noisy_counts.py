"""The checks of noisy counts and k-DGS: noise wide enough, levels fixed, every row k times."""

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from shoal.methods.noisy_counts import KDGS, NoisyCounts
from shoal.privacy.bounded import bounded_count_parameters
from shoal.releases.release import Release
from shoal.releases.verification import unchecked
from shoal.releases.verification.differential import smallest_bounds
from shoal.releases.verification.numbers import StatedEpsilon
from tests.releases.verification.forging import (
    ILLS,
    TREES,
    Change,
    both,
    faults,
    people,
    put,
    without,
)

LEVELS = {"age": 1, "sex": 0}
WITH_DOMAIN = {**TREES, "ill": ILLS}
METHODS: dict[str, Any] = {
    "bounded": NoisyCounts(2, "1e-4", k=5, levels=LEVELS),
    "bounded counted": NoisyCounts(2, "1e-4", levels=LEVELS, counts=True),
    "noisy": NoisyCounts(2, "1e-4", k=5, levels=LEVELS, noise="printed"),
    "counted": NoisyCounts(2, "1e-4", k=5, levels=LEVELS, counts=True, noise="printed"),
    "without delta": NoisyCounts(2, 0, levels={**LEVELS, "ill": 1}),
    "by person": NoisyCounts(
        4, "1e-4", k=5, definition="standard", levels=LEVELS, unit="who", rows=2
    ),
    "by person, printed": NoisyCounts(
        4, "1e-4", k=5, levels=LEVELS, unit="who", rows=2, noise="printed"
    ),
    "k-dgs": KDGS(5, levels=LEVELS),
    "k-dgs counted": KDGS(5, levels=LEVELS, counts=True),
}


@cache
def released(name: str) -> Release:
    """A release of eight kinds of people, forty of each, made once."""
    options = {"hierarchies": WITH_DOMAIN} if name == "without delta" else {}
    made: Release = METHODS[name].release(people(40, **options))
    return made


@pytest.mark.parametrize("name", METHODS)
def test_a_release_verifies_with_and_without_hierarchies(name: str, tmp_path: Path) -> None:
    trees = WITH_DOMAIN if name == "without delta" else TREES
    assert len(released(name).table) >= 4
    assert faults(released(name), tmp_path) == []
    assert faults(released(name), tmp_path, trees=trees) == []


BOUND = bounded_count_parameters(2, "1e-4").bound


def bounded_by(bound: int) -> Change:
    """All that follows from a bound of the noise."""
    return both(
        put("derived.bound", bound),
        both(put("derived.threshold", bound + 5), put("derived.half", bound + 5)),
    )


FORGERIES: dict[str, tuple[str, Change, str]] = {
    "bounded: a narrower noise": ("bounded", bounded_by(BOUND - 1), "smaller than epsilon and"),
    "bounded: a wider noise": ("bounded", bounded_by(BOUND + 1), "larger than epsilon and delta"),
    "bounded: no bound": ("bounded", put("derived.bound", None), "smaller than epsilon and"),
    "bounded: a huge bound": ("bounded", bounded_by(10**300), "larger than epsilon and delta"),
    "bounded: a lower threshold": (
        "bounded",
        put("derived.threshold", BOUND + 4),
        "not the bound of the noise and k",
    ),
    "bounded: no threshold": (
        "bounded",
        put("derived.threshold", None),
        "not the bound of the noise and k",
    ),
    "bounded: another size that is likely": (
        "bounded",
        put("derived.half", BOUND + 4),
        "more likely than not",
    ),
    "bounded: a scale": ("bounded", put("derived.scale", "1"), "bounded noise has no scale"),
    "bounded: a smaller delta": (
        "bounded",
        both(
            put("promise.delta", "1e-7"),
            both(put("parameters.delta", "1e-7"), put("derived.delta", "1e-7")),
        ),
        "smaller than epsilon and",
    ),
    "bounded: the stronger definition": (
        "bounded",
        both(
            put("promise.definition", "probabilistic"),
            both(
                put("parameters.definition", "probabilistic"),
                put("derived.definition", "probabilistic"),
            ),
        ),
        "bounded noise keeps the standard definition only",
    ),
    "bounded: another k": (
        "bounded",
        both(put("parameters.k", 4), put("derived.k", 4)),
        "not the bound of the noise and k",
    ),
    "bounded: the other noise derived": (
        "bounded",
        put("derived.noise", "printed"),
        "the noise is not that of the parameters",
    ),
    "bounded: called printed": (
        "bounded",
        both(put("parameters.noise", "printed"), put("derived.noise", "printed")),
        "narrower than epsilon",
    ),
    "bounded: an unknown noise": (
        "bounded",
        both(put("parameters.noise", "none"), put("derived.noise", "none")),
        "the parameters are not ones that the method takes",
    ),
    "bounded: semantic anonymity for a k of 1": (
        "bounded counted",
        put("promise.semantic_k", 1),
        "semantic k-anonymity is promised",
    ),
    "printed: a bound": ("noisy", put("derived.bound", 3), "the printed noise has no bound"),
    "printed: a higher threshold": (
        "noisy",
        put("derived.threshold", 6),
        "its smallest count is k",
    ),
    "without a delta: a threshold": (
        "without delta",
        put("derived.threshold", 6),
        "without a delta nothing is withheld",
    ),
    "another epsilon of a row": ("noisy", put("derived.epsilon", "1"), "the epsilon of a row"),
    "half the noise": ("noisy", put("derived.scale", "1/2"), "narrower than epsilon"),
    "wider noise": ("noisy", put("derived.scale", "9"), "wider than epsilon"),
    "half the noise, without a delta": (
        "without delta",
        put("derived.scale", "1/4"),
        "narrower than epsilon",
    ),
    "another k": ("noisy", put("derived.k", 4), "k is not that of the parameters"),
    "a delta without a k": (
        "noisy",
        both(put("parameters.k", None), put("derived.k", None)),
        "does not go with delta",
    ),
    "a k without a delta": (
        "without delta",
        both(put("parameters.k", 3), put("derived.k", 3)),
        "does not go with delta",
    ),
    "semantic anonymity of another k": (
        "noisy",
        put("promise.semantic_k", 6),
        "semantic k-anonymity is promised",
    ),
    "semantic anonymity of people": (
        "by person",
        put("promise.semantic_k", 5),
        "semantic k-anonymity is promised",
    ),
    "another size that is likely": ("noisy", put("derived.half", 6), "more likely than not"),
    "no domain of a column": (
        "without delta",
        both(without("levels.ill"), without("parameters.levels.ill")),
        "without a delta every column has a declared domain",
    ),
    "another level": ("noisy", put("levels.age", 2), "not those that the parameters fix"),
    "no level": ("noisy", without("levels.sex"), "the certificate gives it no level"),
    "counts that are not there": (
        "noisy",
        put("parameters.counts", True),
        "no column with the counts",
    ),
    "counts of another type": ("noisy", put("parameters.counts", 1), "the method takes"),
    "k-dgs: another k promised": ("k-dgs", put("promise.k", 6), "the k of the promise"),
    "k-dgs: another level": ("k-dgs", put("levels.age", 0), "not those that the parameters fix"),
    "k-dgs: counts that are not there": (
        "k-dgs",
        put("parameters.counts", True),
        "no column with the counts",
    ),
}


@pytest.mark.parametrize(("name", "change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_is_found(name: str, change: Change, words: str, tmp_path: Path) -> None:
    found = faults(released(name), tmp_path, change)
    assert any(words in fault for fault in found), found


def fewer(lines: list[str]) -> list[str]:
    """The first row four times, and all others as often as they are."""
    return [lines[0]] * 4 + [line for line in lines if line != lines[0]]


def one_fewer(lines: list[str]) -> list[str]:
    """The first row one time less often than the threshold."""
    return [lines[0]] * (BOUND + 4) + [line for line in lines if line != lines[0]]


def one_below(lines: list[str]) -> list[str]:
    """The first row with a count one below the threshold for a k of 1."""
    return [f"{lines[0].rpartition(',')[0]},{BOUND}", *lines[1:]]


def recounted(lines: list[str]) -> list[str]:
    """The first row with a count of four."""
    return [f"{lines[0].rpartition(',')[0]},4", *lines[1:]]


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("bounded", one_fewer, f"1 of 8 rows are released fewer than threshold = {BOUND + 5}"),
        ("bounded counted", one_below, f"8 rows are released fewer than threshold = {BOUND + 1}"),
        ("bounded counted", lambda lines: [lines[0], *lines], "a row is there twice"),
        ("noisy", fewer, "1 of 8 rows are released fewer than threshold = 5 times"),
        ("k-dgs", fewer, "1 of 8 rows are released fewer than k = 5 times"),
        ("counted", recounted, "1 of 8 rows are released fewer than threshold = 5 times"),
        ("k-dgs counted", recounted, "1 of 8 rows are released fewer than k = 5 times"),
        ("counted", lambda lines: [lines[0], *lines], "a row is there twice"),
        ("k-dgs counted", lambda lines: [lines[0], *lines], "a row is there twice"),
    ],
)
def test_rows_that_may_not_be_released_are_found(
    name: str, rows: Any, words: str, tmp_path: Path
) -> None:
    found = faults(released(name), tmp_path, rows=rows)
    assert any(words in fault for fault in found), found


@pytest.mark.parametrize("epsilon", ["1e-3", "0.1", "ln(2)", "1", "ln(10)", "5"])
@pytest.mark.parametrize("delta", ["1/2", "1/10", "1e-3", "1e-9", "1e-30"])
def test_the_bound_is_found_again_by_an_arithmetic_of_its_own(epsilon: str, delta: str) -> None:
    bound = bounded_count_parameters(epsilon, delta).bound
    least, most = smallest_bounds(StatedEpsilon.read(epsilon), Fraction(delta))
    assert least <= bound <= most
    # Rounding makes a difference for the smallest parameters only.
    assert most == least or (epsilon, delta) in {("1e-3", "1e-30"), ("ln(2)", "1/10")}


@pytest.mark.parametrize("name", ["noisy", "k-dgs"])
def test_a_column_whose_hierarchy_is_at_hand_must_have_a_level(name: str, tmp_path: Path) -> None:
    assert faults(released(name), tmp_path, trees=WITH_DOMAIN) == [
        "column 'ill' has a hierarchy, and the certificate gives it no level"
    ]


def test_what_the_files_do_not_show_is_listed() -> None:
    listed = " / ".join(unchecked(released("by person").certificate, TREES))
    assert "rows were withheld and counts were made noisy by chance" in listed
    assert "'who' gave at most 2 rows" in listed
    assert "without looking at the rows" in listed
    assert "labels of their levels" in " ".join(unchecked(released("k-dgs").certificate))
