"""Differential privacy on a certificate: promise, parameters and what was derived agree."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from shoal.methods.noisy_counts import NoisyCounts
from shoal.privacy.noise import noisy_count_parameters
from shoal.releases.release import Release
from shoal.releases.verification.differential import first_likely_size
from shoal.releases.verification.numbers import StatedEpsilon
from tests.releases.verification.forging import Change, Content, both, faults, people, put

METHODS = {
    "rows": NoisyCounts(2, "1e-4", 5, "probabilistic", noise="printed", levels={}),
    "standard": NoisyCounts(2, "1e-4", k=5, definition="standard", levels={}),
    "people": NoisyCounts(4, "1e-4", k=5, definition="standard", unit="who", rows=2, levels={}),
}


@cache
def released(name: str) -> Release:
    return METHODS[name].release(people(40))


@pytest.mark.parametrize("name", METHODS)
def test_a_release_verifies(name: str, tmp_path: Path) -> None:
    assert faults(released(name), tmp_path) == []


def scaled(share: str) -> Change:
    """The δ of a row, larger or smaller."""

    def change(content: Content) -> None:
        delta = Fraction(content["derived"]["delta"]) * Fraction(share)
        content["derived"]["delta"] = f"{float(delta):.8e}"

    return change


ONE_UNIT = both(put("promise.unit", "who"), put("parameters.unit", "who"))
FORGERIES: dict[str, tuple[str, Change, str]] = {
    "a smaller epsilon promised": ("rows", put("promise.epsilon", "1"), "epsilon or delta of the"),
    "a smaller delta promised": ("rows", put("promise.delta", "1e-5"), "epsilon or delta of the"),
    "a smaller epsilon given": ("rows", put("parameters.epsilon", "1"), "epsilon or delta of the"),
    "a smaller delta given": ("rows", put("parameters.delta", "1e-5"), "epsilon or delta of the"),
    "the stronger definition promised": (
        "rows",
        put("promise.definition", "standard"),
        "do not name one definition",
    ),
    "another definition given": (
        "standard",
        put("parameters.definition", "probabilistic"),
        "do not name one definition",
    ),
    "another definition derived": (
        "standard",
        put("derived.definition", "probabilistic"),
        "do not name one definition",
    ),
    "a definition that nobody knows": (
        "standard",
        both(*(put(f"{part}.definition", "best") for part in ("promise", "parameters", "derived"))),
        "definition='best' is unknown",
    ),
    "people promised, rows kept": ("standard", put("promise.unit", "who"), "the unit of the"),
    "rows promised, people kept": ("people", put("promise.unit", "row"), "the unit of the"),
    "people, by the probabilistic definition": ("rows", ONE_UNIT, "the standard definition only"),
    "the column of people is released": (
        "standard",
        both(put("promise.unit", "ill"), put("parameters.unit", "ill")),
        "'ill', which tells people apart, is released",
    ),
    "more rows than were paid for": ("people", put("parameters.rows", 3), "how many rows"),
    "other rows derived": ("people", put("derived.rows", 1), "how many rows"),
    "several rows of nobody": (
        "standard",
        both(put("parameters.rows", 2), put("derived.rows", 2)),
        "how many rows",
    ),
    "a larger delta of a row": ("rows", scaled("2"), "the delta of a row is too large for 1 row"),
    "a smaller delta of a row": ("rows", scaled("1/2"), "the delta of a row"),
    "a larger delta of a person's row": ("people", scaled("1001/1000"), "too large for 2 rows"),
    "a smaller delta of a person's row": (
        "people",
        scaled("999/1000"),
        "not the one that 2 rows ask for",
    ),
}


@pytest.mark.parametrize(("name", "change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_is_found(name: str, change: Change, words: str, tmp_path: Path) -> None:
    found = faults(released(name), tmp_path, change)
    assert any(words in fault for fault in found), found


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
def test_the_first_likely_size_is_that_of_the_chances_themselves(definition: Any) -> None:
    for epsilon, delta, k in product(["1/10", "1", "ln(3)", "5"], ["1e-2", "1e-9"], [1, 4, 30]):
        parameters = noisy_count_parameters(epsilon, delta, k, definition)
        chance: Callable[[int], Fraction] = parameters.chance
        size = first_likely_size(StatedEpsilon.read(epsilon), Fraction(delta), k, definition)
        assert chance(size - 1) < Fraction(1, 2) <= chance(size), (epsilon, delta, k)
