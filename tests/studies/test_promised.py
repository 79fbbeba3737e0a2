"""Promises in one line each, and which ones include others."""

from dataclasses import replace
from typing import Any

import pytest

import shoal
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Promise,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)
from shoal.releases.certificate import Certificate
from shoal.studies.promised import in_short, includes, rows_are_people, rows_of_each, unit_of

INFER = "; anyone who knows the algorithm may infer more"


def certificate(promise: Promise, method: str, **options: Any) -> Certificate:
    return Certificate(
        promise=promise.to_dict(),
        statement=promise.statement,
        unprotected=promise.unprotected,
        method=method,
        parameters={},
        columns=[],
        number="1",
        **options,
    )


@pytest.mark.parametrize(
    ("promise", "method", "line"),
    [
        (DifferentialPrivacy(1, "1e-6", "standard"), "safepub", "ε 1, δ 1e-6"),
        (
            DifferentialPrivacy("ln(2)", 0, "standard", "name", 5),
            "noisy-counts",
            "ε ln(2), δ 0, semantic 5-anonymity, for people by name",
        ),
        (SemanticAnonymity(7), "kdgs", "semantic 7-anonymity"),
        (
            Syntactic(("5-anonymity", "3-diversity of ill")),
            "optimal",
            f"5-anonymity and 3-diversity of ill{INFER}",
        ),
        (Coincidence(("3-diversity of ill",)), "coincident", "3-diversity of ill"),
        (
            Sampled("0.1"),
            "sampling",
            f"each record drawn with probability 0.1, unchanged{INFER}",
        ),
        (
            LowestRisk("0.7", "exact", "leaves", "fixed", "table"),
            "personal",
            f"low risk where each record keeps 0.7 of its utility{INFER}",
        ),
    ],
)
def test_a_promise_has_one_line(promise: Promise, method: str, line: str) -> None:
    assert in_short(certificate(promise, method)) == line


def test_a_release_without_a_promise_says_so() -> None:
    assert "no certificate" in in_short(None)
    seeded = certificate(SemanticAnonymity(7), "kdgs", private=False)
    assert in_short(seeded) == "nothing: the draws came from a seed"


def test_a_promise_to_rows_is_not_about_people() -> None:
    assert unit_of(certificate(DifferentialPrivacy(1, 0, "standard"), "safepub")) is None
    assert unit_of(certificate(Syntactic(("5-anonymity",), "name"), "optimal")) == "name"


def private(epsilon: object, delta: object, *more: Any) -> Promise:
    promise: Any = DifferentialPrivacy
    made: Promise = promise(epsilon, delta, *(more or ["standard"]))
    return made


STRONGER = [
    (private("ln(2)", "1e-6"), private(1, "1e-6")),
    (private(1, "1e-7"), private(1, "1e-6")),
    (private(1, "1e-6", "probabilistic"), private(1, "1e-6")),
    (private(1, "1e-6", "standard", "row", 5), private(1, "1e-6")),
    (private(1, "1e-6", "standard", "row", 6), private(1, "1e-6", "standard", "row", 5)),
    (SemanticAnonymity(6), SemanticAnonymity(5)),
    (Sampled("0.1"), Sampled("1/5")),
    (Syntactic(("5-anonymity", "3-diversity of ill")), Syntactic(("5-anonymity",))),
    (Syntactic(("5-anonymity",)), Syntactic(("5-anonymity",), starred=True)),
    (
        Coincidence(("3-diversity of ill",), merged=False),
        Coincidence(("3-diversity of ill",)),
    ),
]


@pytest.mark.parametrize(("strong", "weak"), STRONGER)
def test_a_stronger_promise_includes_a_weaker_one_and_not_the_other_way(
    strong: Promise, weak: Promise
) -> None:
    assert includes(strong.to_dict(), weak.to_dict())
    assert not includes(weak.to_dict(), strong.to_dict())
    assert includes(weak.to_dict(), weak.to_dict())


UNLIKE = [
    (private(1, "1e-3"), private(2, "1e-6")),
    (private(1, 0, "standard", "name"), private(1, 0)),
    (Syntactic(("5-anonymity",), "name"), Syntactic(("5-anonymity",))),
    (Syntactic(("3-diversity of ill",)), Syntactic(("3-diversity of pay",))),
    (
        LowestRisk("0.7", "exact", "leaves", "fixed", "table"),
        LowestRisk("0.8", "exact", "leaves", "fixed", "table"),
    ),
]


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_promises_that_cannot_be_told_to_include_each_other_do_not(
    one: Promise, other: Promise
) -> None:
    assert not includes(one.to_dict(), other.to_dict())
    assert not includes(other.to_dict(), one.to_dict())


def test_a_table_keeps_the_k_that_can_be_seen_from_it() -> None:
    five, ten = Syntactic(("5-anonymity",)).to_dict(), Syntactic(("10-anonymity",)).to_dict()
    assert not includes(five, ten)
    assert not includes(five, ten, 9)
    assert includes(five, ten, 10)
    diverse = Syntactic(("3-diversity of ill",)).to_dict()
    assert not includes(five, diverse, 1000)


def test_limits_of_buckets_are_included_only_where_they_are_the_same() -> None:
    people = shoal.demo.table()
    papers = [
        shoal.Buckets("diagnosis", shoal.Limits.formula(1, limit), "multi").release(people)
        for limit in ("1/2", "1/2", "2/3")
    ]
    one, same, other = (paper.certificate.promise for paper in papers)
    assert includes(one, same)
    assert not includes(one, other)
    assert in_short(papers[0].certificate) == "F'-privacy of diagnosis"


@pytest.mark.parametrize(
    ("unit", "rows", "people"),
    [("row", None, None), ("name", None, True), ("name", 1, True), ("name", 3, None)],
)
def test_rows_are_people_where_one_of_each_was_drawn(
    unit: str, rows: int | None, people: bool | None
) -> None:
    given = certificate(DifferentialPrivacy(1, "1e-6", "standard", unit=unit), "safepub")
    given = replace(given, parameters={} if rows is None else {"rows": rows})
    assert rows_of_each(given) == (rows or 1)
    assert rows_are_people(given) is people
    assert rows_are_people(None) is None
