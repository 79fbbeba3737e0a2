"""All interviews that there can be, without those that differ only in parameters of their own.

What a person is and how many there are change a parameter each, and nothing else: tests that go
through all of their answers take one interview for each method.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

from shoal.choosing import AUDIT, ELSEWHERE, QUESTIONS, UNKNOWN, Answers, Recommendation, choose

Given = tuple[str | None, ...]
"""The answers in the order of the questions; None for what is not asked."""

KEYS = [question.key for question in QUESTIONS]
FIXED = {"person": "row", "people": "thousand"}


def interviews(fixed: dict[str, str]) -> Iterator[Given]:
    """Every interview, with some answers that are always the same."""

    def walk(place: int, said: Given) -> Iterator[Given]:
        if place == len(QUESTIONS):
            yield said
            return
        question, before = QUESTIONS[place], SimpleNamespace(**dict(zip(KEYS, said, strict=False)))
        answers: Given = (None,)
        if question.asked(cast(Answers, before)):
            answers = (fixed[question.key],) if question.key in fixed else question.keys
        for answer in answers:
            yield from walk(place + 1, (*said, answer))

    return walk(0, ())


def fitted(given: Given) -> Given:
    """The same answers, as far as they are asked for; unknown where another is asked for."""
    before = SimpleNamespace()
    said = vars(before)
    for question, answer in zip(QUESTIONS, given, strict=True):
        is_asked = question.asked(cast(Answers, before))
        said[question.key] = (answer or UNKNOWN) if is_asked else None
    return tuple(said.values())


def changed(given: Given, key: str, answer: str) -> Given:
    """An interview with another answer to one question, all others equal."""
    place = KEYS.index(key)
    return fitted((*given[:place], answer, *given[place + 1 :]))


def answers_of(given: Given) -> Answers:
    said = zip(KEYS, given, strict=True)
    return Answers(**{key: answer for key, answer in said if answer is not None})


def recommended(given: Given) -> Recommendation:
    return choose(answers_of(given))


_SHOWN = {"people": "hundred-thousand", "person": "row", "before": "once", "shape": "dozen"}
_VALUE = {"who": "anyone", "harm": "value", "rule": "diversity", "rows": "real", **_SHOWN}
_TRUSTED = {"who": "contract", "harm": "record", "algorithm": "no", "rule": "cells", **_SHOWN}

EXAMPLES = {
    "noisy-counts": {"who": "anyone", "rows": "noisy", **_SHOWN},
    "safepub": {"who": "anyone", "rows": "real", **_SHOWN},
    "columns": {"who": "anyone", **_SHOWN, "shape": "wide"},
    "columns, long": {"who": "anyone", **_SHOWN, "shape": "wide", "person": "several"},
    "buckets": _VALUE | {"use": "join", "rule": "none"},
    "personal": _TRUSTED | {"rule": "none"},
    "coincident": _VALUE | {"person": "several"},
    "disclosure": _VALUE | {"rows": "all"},
    "kdgs": {"who": "anyone", "harm": "record", "rule": "cells", "rows": "real", **_SHOWN},
    "optimal": _TRUSTED | {"before": "before"},
    "mondrian": _TRUSTED | {"shape": "numbers"},
    "mondrian, in the middle": (
        {"who": "anyone", "harm": "record", "rule": "nine", "rows": "all", **_SHOWN}
    ),
    "sampling": {"who": "colleagues", "harm": "least"},
    AUDIT: {"who": "questions", "ask": "extremes", "harm": "value", "person": "row"},
    ELSEWHERE: {"use": "software"},
}
"""Answers that lead to every method, and to variants of some after a comma."""


def example(name: str) -> Recommendation:
    return choose(Answers(**EXAMPLES[name]))
