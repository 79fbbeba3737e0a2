"""Promises in plain words: every kind has them, and no bound is rounded to the wrong side."""

from fractions import Fraction
from math import e
from pathlib import Path

import pytest

import shoal
from shoal.measure.explaining import CountExplanation, Explanation, odds_of
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.certificate import Certificate
from shoal.report.promising import explained, in_plain_words
from shoal.report.subject import Published
from tests.methods.examples import EXAMPLES, people


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_promise_has_plain_words(name: str, released: dict[str, Path]) -> None:
    plain = in_plain_words(Published.read(released[name]).certificate)
    assert plain.finding
    assert len(plain.meaning) > 80
    assert plain.person[0].startswith("For one person")
    for text in (plain.finding, plain.meaning, *plain.person):
        assert "anonymous" not in text
        assert "safe" not in text


def certificate_of(epsilon: str, delta: str) -> Certificate:
    method = shoal.NoisyCounts(epsilon, delta, levels={})
    return method.release(people(60)).certificate


def test_the_odds_are_rounded_up() -> None:
    assert odds_of("1") >= Fraction(e)
    assert odds_of("ln(2)") == 2


def test_a_large_epsilon_is_called_weak() -> None:
    assert "weak" in in_plain_words(certificate_of("5", "1e-3")).meaning
    assert "weak" not in in_plain_words(certificate_of("1", "1e-3")).meaning


def test_an_allowance_is_told_by_how_often_it_is_used_up() -> None:
    assert "once in 1,000,000 times" in in_plain_words(certificate_of("1", "1e-6")).meaning
    assert "probability of 26 %" in in_plain_words(certificate_of("1", "0.26")).meaning


def test_a_limit_of_buckets_is_told_in_figures() -> None:
    table = people(60)
    one, *others = (
        shoal.Buckets("ill", limits).release(table).certificate
        for limits in (
            shoal.Limits.each({}, others="0.5"),
            shoal.Limits.each({"gout": "0.75"}, others="0.5"),
            shoal.Limits.formula(1, "0.3"),
        )
    )
    assert in_plain_words(one).person[0].endswith("can be yours with more than 50 %")
    assert all("at most its limit" in in_plain_words(other).person[1] for other in others)


def test_the_parameters_are_explained_by_the_certificate_alone(released: dict[str, Path]) -> None:
    kinds = {}
    for name, path in released.items():
        certificate = Published.read(path).certificate
        found = explained(certificate)
        kinds[name] = type(found)
        if isinstance(found, Explanation):
            assert found.k == certificate.derived["k"]
            assert str(found.beta) == certificate.derived["beta"]
        if isinstance(found, CountExplanation):
            assert found.bound == certificate.derived["bound"]
        differential = certificate.promise["promise"] == DifferentialPrivacy.name
        assert (found is not None) is differential
    assert kinds["safepub tree"] is Explanation
    assert kinds["columns"] is CountExplanation
