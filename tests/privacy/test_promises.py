"""Promises: stated in words, written as plain values, and open about what they do not protect."""

import json
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from shoal.errors import ParameterError
from shoal.privacy.calculus import Definition
from shoal.privacy.limits import BucketLimits, Limits
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Promise,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)

DEFINITIONS: tuple[Definition, Definition] = ("probabilistic", "standard")
PROMISES: list[Any] = [
    DifferentialPrivacy("ln(2)", "1e-6", "standard", "who", 5),
    SemanticAnonymity(5),
    Syntactic(("5-anonymity",)),
    Syntactic(("5-anonymity",), "who", starred=True),
    Sampled("1/3", "who"),
    Coincidence(("3-diversity of ill",)),
    Coincidence(("3-diversity of ill",), merged=False),
    LowestRisk("0.7", "exact", "leaves", "fixed", "table"),
]
EVERY: list[Any] = [*PROMISES, BucketLimits("ill", Limits.formula(2, "0.05"))]


def named(promise: Promise) -> str:
    return promise.name


@pytest.mark.parametrize(
    "promise", [Syntactic(("5-anonymity", "3-diversity of job")), Sampled("0.1"), Sampled("1/3")]
)
def test_a_promise_is_one_line_and_plain_values(promise: Promise) -> None:
    assert "\n" not in promise.statement
    assert json.loads(json.dumps(promise.to_dict())) == promise.to_dict()


def test_a_syntactic_promise_says_what_it_does_not_promise() -> None:
    assert Syntactic(("5-anonymity",)).statement.endswith(
        "syntactic; an attacker who knows the algorithm may infer more"
    )


@pytest.mark.parametrize("models", [(), "5-anonymity", (5,)])
def test_a_syntactic_promise_has_the_names_of_models(models: Any) -> None:
    with pytest.raises(ParameterError):
        Syntactic(models)


@pytest.mark.parametrize("share", [2, "nan"])
def test_a_share_that_is_none_is_not_promised(share: Any) -> None:
    with pytest.raises(ParameterError):
        Sampled(share)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_a_promise_names_its_definition_and_its_unit(definition: Definition) -> None:
    row = DifferentialPrivacy(0.9, 1e-6, definition)
    assert row.to_dict() == {
        "promise": "differential privacy",
        "epsilon": "0.9",
        "delta": "1e-6",
        "definition": definition,
        "unit": "row",
        "neighbours": "add or remove one",
    }
    for word in (definition, "unit one row", "added or removed", "1e-6", "e^0.9"):
        assert word in row.statement
    assert "'patient_id'" in DifferentialPrivacy(0.9, 1e-6, definition, unit="patient_id").statement


def test_a_promise_without_a_unit_or_definition_is_refused() -> None:
    with pytest.raises(ParameterError, match="unit"):
        DifferentialPrivacy(1, "1e-6", "standard", unit="")
    with pytest.raises(ParameterError, match="definition"):
        DifferentialPrivacy(1, "1e-6", "other")  # type: ignore[arg-type]


@pytest.mark.parametrize("promise", EVERY, ids=named)
def test_every_promise_says_in_single_lines_what_it_does_not_protect(promise: Promise) -> None:
    lines = promise.unprotected
    assert len(lines) == len(set(lines)) >= 3
    for line in lines:
        assert line == line.strip()
        assert "\n" not in line
        assert not line.endswith(".")


@pytest.mark.parametrize("promise", PROMISES, ids=named)
def test_a_promise_can_be_made_again_from_its_plain_values(promise: Any) -> None:
    parts = json.loads(json.dumps(promise.to_dict()))
    names = [field.name for field in fields(promise)]
    again = type(promise)(**{name: parts[name] for name in names if name in parts})
    assert again == promise
    assert again.unprotected == promise.unprotected


@pytest.mark.parametrize("promise", EVERY, ids=named)
def test_a_promise_can_be_replaced_by_itself(promise: Any) -> None:
    assert replace(promise) == promise


def test_parameters_are_converted_once() -> None:
    assert type(Sampled(0.5).share) is Fraction
    assert type(LowestRisk("0.7", "exact", "leaves", "fixed", "table").utility) is Fraction
    assert DifferentialPrivacy(1, 0, "standard") == DifferentialPrivacy("1", "0", "standard")
    assert Syntactic(["5-anonymity"]).models == ("5-anonymity",)  # type: ignore[arg-type]


def test_rows_of_stars_are_not_protected_and_only_where_there_are_any() -> None:
    dropped, starred = Syntactic(("5-anonymity",)), Syntactic(("5-anonymity",), starred=True)
    assert starred.unprotected[1:] == dropped.unprotected
    assert "rows of stars" in starred.unprotected[0]
    assert starred.to_dict() == {**dropped.to_dict(), "starred": True}


def test_merging_reveals_facts_about_several_people_and_not_merging_does_not() -> None:
    merged, apart = Coincidence(("any",)), Coincidence(("any",), merged=False)
    changed = set(merged.unprotected) ^ set(apart.unprotected)
    assert len(changed) == 2
    assert all(line.startswith("facts about several people") for line in changed)
    assert apart.to_dict() == {**merged.to_dict(), "merged": False}


@pytest.mark.parametrize("unit", ["", 5, ["who"]])
def test_a_unit_is_the_name_of_a_column(unit: Any) -> None:
    for make in (
        lambda: Sampled(1, unit),
        lambda: Syntactic(("5-anonymity",), unit),
        lambda: Coincidence(("5-anonymity",), unit),
        lambda: LowestRisk(1, "exact", "leaves", "fixed", "table", unit),
    ):
        with pytest.raises(ParameterError, match="unit"):
            make()
