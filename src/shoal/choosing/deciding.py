"""What the answers lead to: a way to release, its starting parameters, and how strong it is.

Uses the questions alone, and names methods as the catalogue does. `recommending` says why.

"I don't know" stands, in every condition, with the answer that asks for more. A test goes through
all interviews and finds that it never leads to a weaker promise than another answer would.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from shoal.choosing.questions import UNKNOWN, Answers
from shoal.exact.numbers import printed, short

__all__ = [
    "AUDIT",
    "BLANKS",
    "CLASS",
    "ELSEWHERE",
    "HOUSEHOLD",
    "ITEM",
    "KNOWN",
    "LARGEST",
    "PERSON",
    "SENSITIVE",
    "SHARES",
    "TOTALS",
    "delta_of",
    "epsilon_of",
    "group_of",
    "is_private",
    "method_of",
    "parameters_of",
    "values_of",
]

AUDIT = "audit"
"""No table is released: questions are answered or denied."""

ELSEWHERE = "synthetic data, elsewhere"
"""Nothing that Shoal does."""

TOTALS = {"anyone": 1, "contract": 2, "colleagues": 3, "questions": 1, UNKNOWN: 1}
"""The ε that all releases may spend together, by who gets them: a start, not a law."""

SHARES = {
    "once": Fraction(1),
    "before": Fraction(1, 2),
    "again": Fraction(1, 4),
    UNKNOWN: Fraction(1, 4),
}
"""Which part of it one release gets, by what was or will be released besides."""

LARGEST = {
    "thousand": 10**3,
    "hundred-thousand": 10**5,
    "ten-million": 10**7,
    "more": 10**10,
    UNKNOWN: 10**10,
}
"""The most people that there may be; more than 10^10 have never lived at once."""

_GROUPS = {"none": 1, "cells": 11, "nine": 12, "diversity": 1, UNKNOWN: 12}
"""How many records must look alike, by the rule. 12, since 1/11 is above 9 %."""

_PRIVATE_COLUMNS = 10  # the k that releases of columns start with
_SUPPRESSION = "0.05"  # the share of records that is commonly left out for k-anonymity
_UTILITY = "0.6"  # what each record keeps, in the examples of personal generalisation
_SAMPLE = "0.1"

PERSON, HOUSEHOLD, SENSITIVE, CLASS = "PERSON", "HOUSEHOLD", "SENSITIVE", "CLASS"
KNOWN, ITEM, FIRST, SECOND, THIRD = "KNOWN", "ITEM", "FIRST", "SECOND", "THIRD"

BLANKS = {
    PERSON: "the identifying column that tells people apart",
    HOUSEHOLD: "the identifying column that tells households apart, or else people",
    SENSITIVE: "the sensitive column",
    CLASS: "the column to predict",
    KNOWN: "a column that people are known by; name all that are meant",
    ITEM: "the column that says what a row is about, such as an article",
    FIRST: "a column or item; those that belong together share a list",
    SECOND: "a column or item that belongs to FIRST",
    THIRD: "another column or item",
    "LOW": "the smallest value that is publicly possible",
    "HIGH": "the largest value that is publicly possible",
    "WIDTH": "how uncertain every value has to stay",
}
"""What stands for names and numbers that only the owner of a table knows."""


def is_private(answers: Answers) -> bool:
    """Whether only differential privacy does what is asked for."""
    if answers.harm in ("membership", "least", UNKNOWN):
        return True
    # Releases of everything else reveal more together than each alone.
    if answers.before in ("again", UNKNOWN) or answers.who == "questions":
        return True
    if _is_personal(answers):
        return False
    if answers.shape in ("wide", UNKNOWN):
        return True
    if _is_trusted(answers) or answers.harm == "value":
        return False
    # Which row is whose, and recipients may know the algorithm.
    if answers.rule in ("cells", "nine"):
        return answers.rows in ("noisy", UNKNOWN)
    return answers.rule != "diversity"


def _is_trusted(answers: Answers) -> bool:
    """Whether a promise about the table alone will do.

    Not where buckets might fit, which promise more, and it is not known whether they do.
    """
    is_open = answers.harm == "value" and UNKNOWN in (answers.use, answers.rule)
    return answers.algorithm == "no" and not is_open


def _is_personal(answers: Answers) -> bool:
    return _is_trusted(answers) and answers.harm == "record" and answers.rule == "none"


def method_of(answers: Answers) -> str:
    """The method that the answers lead to: its name in the catalogue, AUDIT or ELSEWHERE."""
    if answers.use in ("totals", "software"):
        return ELSEWHERE
    if answers.people is None:
        return "sampling" if answers.ask is None else AUDIT
    if is_private(answers):
        return _private_method(answers)
    if _is_personal(answers):
        return "personal"
    if answers.rule == "none" and (answers.use == "join" or answers.shape == "numbers"):
        return "buckets"
    if _is_trusted(answers):
        return "mondrian" if answers.shape == "numbers" else "optimal"
    if answers.harm == "value" or answers.rule == "diversity":
        return "disclosure" if answers.rows == "all" else "coincident"
    fixed = answers.shape == "dozen" and answers.rows == "real"
    return "kdgs" if fixed else "mondrian"


def _private_method(answers: Answers) -> str:
    if answers.shape == "wide":
        return "columns"
    return "safepub" if answers.rows in ("real", "all") else "noisy-counts"


# What the parameters start with


def epsilon_of(answers: Answers) -> Fraction:
    """The ε of this release."""
    return TOTALS[answers.who or UNKNOWN] * SHARES[answers.before or UNKNOWN]


def delta_of(answers: Answers) -> Fraction:
    """The δ of this release: a hundredth of one in the number of people.

    So the δ of several releases together stay below a tenth of it.
    """
    return Fraction(1, 100 * LARGEST[answers.people or UNKNOWN])


def group_of(answers: Answers) -> int:
    """How many records must look alike, by the rule; 1 if it does not say."""
    return _GROUPS[answers.rule or "none"]


def values_of(answers: Answers) -> int:
    """How many different sensitive values each person might have, at least.

    Where values must not be found out, each is believed with at most one in that number.
    """
    return 2 if answers.who in ("contract", "colleagues") else 3


def parameters_of(method: str, answers: Answers) -> dict[str, Any]:
    """The parameters that a method starts with, as a recipe has them."""
    return dict(_PARAMETERS[method](answers))


Parameters = Iterator[tuple[str, Any]]


def _budget(answers: Answers) -> Parameters:
    yield "epsilon", printed(epsilon_of(answers))
    yield "delta", short(delta_of(answers))


def _unit(answers: Answers) -> Parameters:
    if answers.person == "several":
        yield "unit", PERSON
    elif answers.person in ("household", UNKNOWN):
        yield "unit", HOUSEHOLD


def _counted(answers: Answers) -> Parameters:
    if answers.use == "counts" or answers.ask == "counts":
        yield "counts", True


def _levels(answers: Answers, name: str, search: str) -> Parameters:
    """By a tree; for a model by a search, as classifiers learn little from a tree."""
    if answers.use == "model":
        yield from ((name, search), ("score", "classification"), ("classes", [CLASS]))
    else:
        yield name, "tree"


def _noisy_counts(answers: Answers) -> Parameters:
    yield from _budget(answers)
    if group_of(answers) > 1:
        yield "k", group_of(answers)
    yield from _levels(answers, "levels", "search")
    yield from _counted(answers)
    yield from _unit(answers)


def _safepub(answers: Answers) -> Parameters:
    yield from _budget(answers)
    yield from _levels(answers, "search", "select")
    yield "beta", "auto"
    yield from _unit(answers)


def _columns(answers: Answers) -> Parameters:
    yield from _budget(answers)
    yield "k", max(_PRIVATE_COLUMNS, group_of(answers))
    yield "most", 2
    yield "schema", [[FIRST, SECOND], [THIRD]]
    yield from _counted(answers)
    for _, whose in _unit(answers):  # a row for each thing that a person has
        yield from (("person", whose), ("item", ITEM))


def _models(answers: Answers) -> Parameters:
    models = []
    if group_of(answers) > 1:
        models.append(f"{group_of(answers)}-anonymity")
    number = values_of(answers)
    if answers.harm == "value":
        # Fewer than one in that number have the most frequent value, as r1 < c (r2 + … + rm). So
        # there are more different values than that, too.
        ratio = printed(Fraction(1, number - 1))
        models.append(f"recursive ({ratio}, 2)-diversity of {SENSITIVE}")
    elif answers.rule in ("diversity", UNKNOWN):
        models.append(f"{number}-diversity of {SENSITIVE}")
    yield "models", models


def _grouped(answers: Answers) -> Parameters:
    yield from _models(answers)
    yield from _unit(answers)


def _disclosure(answers: Answers) -> Parameters:
    yield from _models(answers)
    yield "local", True
    yield from _unit(answers)


def _buckets(answers: Answers) -> Parameters:
    yield "column", SENSITIVE
    yield "limits", {"others": f"1/{values_of(answers)}"}
    yield "solver", "multi"
    yield from _unit(answers)


def _personal(answers: Answers) -> Parameters:
    yield "utility", _UTILITY
    if answers.shape == "wide":
        yield "solver", "genetic"
    yield from _unit(answers)


def _kdgs(answers: Answers) -> Parameters:
    yield "k", group_of(answers)
    yield "levels", {KNOWN: 1}
    yield from _counted(answers)
    yield from _unit(answers)


def _optimal(answers: Answers) -> Parameters:
    yield from _models(answers)
    yield "suppression", "0" if answers.rows == "all" else _SUPPRESSION
    yield from _unit(answers)


def _mondrian(answers: Answers) -> Parameters:
    yield from _models(answers)
    if not _is_trusted(answers):
        yield "splits", "middle"
    yield from _unit(answers)


def _sampling(answers: Answers) -> Parameters:
    yield "probability", _SAMPLE
    yield from _unit(answers)


def _audit(answers: Answers) -> Parameters:
    yield "column", SENSITIVE
    yield "aggregate", "sum" if answers.ask == "totals" else "max"
    yield "dither", answers.ask == "totals"
    yield from _unit(answers)


_PARAMETERS: dict[str, Callable[[Answers], Parameters]] = {
    "safepub": _safepub,
    "noisy-counts": _noisy_counts,
    "columns": _columns,
    "buckets": _buckets,
    "personal": _personal,
    "coincident": _grouped,
    "disclosure": _disclosure,
    "kdgs": _kdgs,
    "optimal": _optimal,
    "mondrian": _mondrian,
    "sampling": _sampling,
    AUDIT: _audit,
    ELSEWHERE: lambda answers: iter(()),
}
"""The parameters of every way, by its name."""
