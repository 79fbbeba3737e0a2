"""Someone who knows the search for the best table learns from the tables it did not release."""

from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.attack import Effort, expose, inputs
from shoal.methods.optimal import Optimal
from shoal.privacy.models import DistinctDiversity, EntropyDiversity
from tests.attack.people import HALF, THIRD, known, owned

PATIENTS = pl.DataFrame(
    {"age": ["old", "old", "middle", "middle", "young", "young"], "sex": list("MMMFFF")}
)


CONDITIONS = ["heart disease", "viral infection", "cancer", "cancer", "flu", "ulcer"]


PLAIN = {
    "age": shoal.hierarchy.suppress(["old", "middle", "young"]),
    "sex": shoal.hierarchy.suppress(["M", "F"]),
}


@pytest.mark.parametrize("how", [None, "enumeration"])
def test_the_patients_of_table_4_1_are_betrayed_by_the_table_that_was_not_released(
    how: Any,
) -> None:
    people = shoal.table(PATIENTS, quasi=["age", "sex"], hierarchies=PLAIN)
    frame = PATIENTS.with_columns(condition=pl.Series(CONDITIONS))
    private = shoal.table(frame, quasi=["age", "sex"], sensitive=["condition"], hierarchies=PLAIN)
    method = Optimal((EntropyDiversity("condition", 2),))
    release = method.release(private)
    assert release.certificate.levels == {"age": 1, "sex": 0}  # table (c)
    possible = inputs(method, people, release.table, "condition")
    assert len(possible) == 4
    assert all(given[2:4] == ("cancer", "cancer") for given in possible)
    found = expose(method, people, release.table, "condition", effort=Effort(how))
    assert found.left == Fraction(4, 36)
    assert [found.of(row).inherent.get("cancer", 0) for row in range(6)] == [0, 0, 1, 1, 0, 0]
    assert [found.of(row).apparent["cancer"] for row in range(6)] == [THIRD] * 6
    assert (found.certain, found.surer, found.broken) == (2, 6, 2)
    assert found.gain == Fraction(2, 3)
    assert found.of(2).broken == ("entropy 2-diversity of condition",)


SUPPRESSING = Optimal((DistinctDiversity("ill", 2),), suppression=HALF)


def posteriors(rows: list[tuple[int, int]], shown: Any, method: Optimal) -> list[dict[str, Any]]:
    """What is believed of everyone, by brute force: every input, as likely as its bag is.

    All bags of the table are equally likely, and all ways to spread one.
    """
    values = sorted(set(shown["ill"]))
    target = sorted(shown.rows())
    weights: list[dict[str, Fraction]] = [{} for _ in rows]
    for given in product(values, repeat=len(rows)):
        try:
            made = method.release(owned(rows, "".join(given))).table
        except shoal.errors.InfeasibleError:
            continue
        if sorted(made.rows()) != target:
            continue
        weight = Fraction(prod(factorial(given.count(value)) for value in values))
        for person, value in enumerate(given):
            weights[person][value] = weights[person].get(value, Fraction(0)) + weight
    totals = [sum(one.values()) for one in weights]
    return [
        {value: weight / total for value, weight in one.items()}
        for one, total in zip(weights, totals, strict=True)
    ]


@pytest.mark.parametrize(
    ("rows", "ill"),
    [
        ([(0, 0), (0, 0), (2, 0), (2, 0), (4, 2), (4, 2)], "xyxyxx"),
        ([(0, 0), (0, 0), (1, 0), (4, 2), (4, 2), (7, 3)], "xyyxyx"),
        ([(0, 0), (1, 1), (2, 2), (3, 3), (3, 3)], "xyxyy"),
        ([(0, 0), (0, 0), (0, 0), (1, 1), (1, 1)], "xxyyy"),
        ([(0, 0), (0, 0), (0, 3), (1, 0), (1, 3), (4, 0)], "yyxyxx"),
    ],
)
def test_with_suppression_all_inputs_are_weighed_as_by_brute_force(
    rows: list[tuple[int, int]], ill: str
) -> None:
    shown = SUPPRESSING.release(owned(rows, ill)).table
    found = expose(SUPPRESSING, known(rows), shown, "ill", effort=Effort("enumeration"))
    assert found.unknown == len(rows) - len(shown)
    believed = posteriors(rows, shown, SUPPRESSING)
    said = {row for one in found.inferences for row in one.rows}
    assert len(said) == len(shown)
    for row in said:
        inherent = {value: share for value, share in found.of(row).inherent.items() if share}
        assert inherent == believed[row]


LEAKY = [(0, 0), (0, 0), (0, 3), (1, 0), (1, 3), (4, 0)]


def test_with_suppression_something_is_learnt_and_sampling_finds_as_much() -> None:
    shown = SUPPRESSING.release(owned(LEAKY, "yyxyxx")).table
    exact = expose(SUPPRESSING, known(LEAKY), shown, "ill", effort=Effort("enumeration"))
    assert (exact.changed, exact.certain, exact.unknown) == (5, 5, 1)
    sampled = expose(
        SUPPRESSING, known(LEAKY), shown, "ill", effort=Effort("sampling", tries=2_000)
    )
    assert sampled.unknown == exact.unknown
    for one in sampled.inferences:
        for value, (low, high) in (one.bounds or {}).items():
            assert low <= exact.of(one.rows[0]).inherent.get(value, 0) <= high
