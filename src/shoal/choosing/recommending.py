"""`choose`: from answers to a recommendation, and why.

Uses all of this room, `methods`, and `measure` for what ε means; the doors show what it gives.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.arguments import typed
from shoal.choosing import writing
from shoal.choosing.deciding import (
    AUDIT,
    BLANKS,
    ELSEWHERE,
    KNOWN,
    SENSITIVE,
    epsilon_of,
    group_of,
    method_of,
    parameters_of,
    values_of,
)
from shoal.choosing.guides import PAGES, RUNNERS_UP, UNPROTECTED, guide_of
from shoal.choosing.questions import UNKNOWN, Answers
from shoal.choosing.reasons import reason_of
from shoal.choosing.trying import blanks_of, crowd, promise_of
from shoal.measure.explaining import explain
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Guide
from shoal.privacy.limits import BucketLimits
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Promise,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)

__all__ = ["Reason", "Recommendation", "RunnerUp", "Strength", "choose"]

_WITHSTANDS: dict[type[Any], int] = {
    DifferentialPrivacy: 4,  # whoever knows everything but one person's row
    SemanticAnonymity: 3,  # whoever knows the algorithm and who is in the table
    Coincidence: 3,
    BucketLimits: 3,
    Syntactic: 2,  # whoever does not know the algorithm
    LowestRisk: 2,
    Sampled: 1,  # nobody, but people may be missing
}
"""The order of promises, by what those they hold against may know. An audit is a 3."""

_UNITS = {"row": 0, "several": 1, "household": 2, UNKNOWN: 2}


@dataclass(frozen=True, order=True)
class Strength:
    """How strong a promise is, to compare what different answers lead to.

    First by whom it withstands; among those alike by ε, then δ, then who is protected together,
    then how many look alike, then how many values each might have.
    """

    withstands: int
    less_epsilon: Fraction = Fraction(0)
    less_delta: Fraction = Fraction(0)
    unit: int = 0
    group: int = 1
    values: int = 1


@dataclass(frozen=True)
class Reason:
    """What one answer did."""

    question: str
    answer: str
    text: str


@dataclass(frozen=True)
class RunnerUp:
    """What would be taken next, and why it is not."""

    method: str
    text: str


@dataclass(frozen=True)
class Recommendation:
    """What to do, why, and how to begin.

    method: a name of the catalogue, "audit", or "synthetic data, elsewhere"
    parameters: those to start with, as a recipe has them; names in capitals are `blanks`
    promise: that of the method, for a table of such columns; None where Shoal makes none of a table
    unprotected: what the promise does not protect from
    warnings: what to know or do before anything is run
    """

    answers: Answers
    method: str
    parameters: dict[str, Any]
    promise: Promise | None
    reasons: tuple[Reason, ...]
    unprotected: tuple[str, ...]
    warnings: tuple[str, ...]
    runner_up: RunnerUp

    @property
    def guide(self) -> Guide:
        """What the method is for, promises and costs, in a few words."""
        return guide_of(self.method)

    @property
    def page(self) -> str:
        """The page of the docs about the method."""
        return PAGES[self.method]

    @property
    def blanks(self) -> dict[str, str]:
        """What stands in capitals for something of the table, and what to put there."""
        given = blanks_of(self.parameters)
        if self.method == AUDIT:
            given += (KNOWN, "LOW", "HIGH", "WIDTH")
        return {name: BLANKS[name] for name in given}

    @property
    def meaning(self) -> str:
        """What the promise means for one person."""
        if isinstance(self.promise, DifferentialPrivacy):
            return explain(self.promise.epsilon, self.promise.delta).conclusion
        if isinstance(self.promise, BucketLimits | Coincidence) and self.answers.harm == "value":
            return (
                "Somebody who knows the algorithm and who is in the table, but nobody's sensitive "
                "value, believes of any value that you have it with a probability of at most "
                f"1/{values_of(self.answers)}."
            )
        if isinstance(self.promise, SemanticAnonymity):
            return (
                "Your record makes no difference to the release, or might as well be that of any "
                f"of {self.promise.k - 1} others, also for someone who knows the algorithm."
            )
        return self.guide.promise

    @property
    def strength(self) -> Strength:
        """How strong the promise is."""
        answers, promise = self.answers, self.promise
        if promise is None:
            return Strength(3 if self.method == AUDIT else 0)
        parts: dict[str, Any] = {"unit": _UNITS[answers.person or "row"]}
        if isinstance(promise, DifferentialPrivacy):
            parts |= {"less_epsilon": -epsilon_of(answers), "less_delta": -promise.delta}
        parts["group"] = group_of(answers)
        if SENSITIVE in str(self.parameters):
            parts["values"] = values_of(answers)
        return Strength(_WITHSTANDS[type(promise)], **parts)

    def recipe_lines(self) -> tuple[str, ...]:
        """The section `[method]` of a recipe; nothing where no table is released."""
        if self.method not in CATALOGUE:
            return ()
        return writing.recipe_lines(self.method, self.parameters)

    def commands(self) -> tuple[str, ...]:
        """What to run next, in order; FILE is the table."""
        if self.method == ELSEWHERE:
            return ()
        if self.method == AUDIT:
            return writing.audit_commands(self.parameters)
        return writing.release_commands(self.answers, self.parameters)

    def python(self) -> str:
        """The same in Python, for a `table` with its roles and hierarchies."""
        if self.method == ELSEWHERE:
            return ""
        if self.method == AUDIT:
            return writing.audit_python(self.parameters)
        entry = entry_of(self.method)
        return writing.release_python(entry.method.__name__, self.parameters, self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        promise = None if self.promise is None else self.promise.to_dict()
        statement = self.guide.promise if self.promise is None else self.promise.statement
        return {
            "answers": self.answers.to_dict(),
            "method": self.method,
            "page": self.page,
            "parameters": self.parameters,
            "blanks": self.blanks,
            "in_short": self.guide.promise,
            "statement": statement,
            "promise": promise,
            "meaning": self.meaning,
            "reasons": [vars(reason) for reason in self.reasons],
            "costs": self.guide.cost,
            "unprotected": list(self.unprotected),
            "warnings": list(self.warnings),
            "runner_up": vars(self.runner_up),
            "recipe": list(self.recipe_lines()),
            "commands": list(self.commands()),
            "python": self.python(),
        }


@typed
def choose(answers: Answers) -> Recommendation:
    """The method that fits the answers, with what it promises and costs, and why.

    >>> found = choose(Answers(who="anyone", harm="membership", people="hundred-thousand"))
    >>> found.method, found.parameters["delta"]
    ('noisy-counts', '1e-7')
    """
    method = method_of(answers)
    parameters = parameters_of(method, answers)
    promise = promise_of(method, parameters) if method in CATALOGUE else None
    unprotected = UNPROTECTED[method] if promise is None else promise.unprotected
    return Recommendation(
        answers=answers,
        method=method,
        parameters=parameters,
        promise=promise,
        reasons=tuple(
            Reason(question, answer, reason_of(question, answer, method))
            for question, answer in answers.to_dict().items()
        ),
        unprotected=tuple(unprotected),
        warnings=tuple(_warnings(answers, method, parameters)),
        runner_up=RunnerUp(*RUNNERS_UP[method]),
    )


def _warnings(answers: Answers, method: str, parameters: dict[str, Any]) -> Iterator[str]:
    """What to know or do before anything is run."""
    if method in CATALOGUE:
        if "epsilon" in parameters:
            yield from _private_warnings(answers, method, parameters)
        else:
            yield from _shown_warnings(answers, method, parameters)
    if answers.person in ("household", UNKNOWN):
        yield (
            "Find out whether anybody is in the table several times, or with family: the promise "
            "is only about what the unit takes together."
        )
    if answers.use == "join" and method not in ("buckets", "sampling"):
        yield (
            "Coarser values cannot be joined by exact values. Join before the release, or keep a "
            "column at its finest level (ceiling, levels) and expect fewer rows."
        )
    if answers.use == "totals":
        yield (
            "Synthetic data that was learnt from people may reveal them, unless the tool promises "
            "differential privacy, as MST and AIM do (dpmm, SmartNoise)."
        )
    if answers.use == "software":
        yield (
            "Make rows up from the names, types and public ranges of columns, without looking at "
            "any row. What is learnt from rows may reveal people."
        )


def _private_warnings(answers: Answers, method: str, parameters: dict[str, Any]) -> Iterator[str]:
    """What to know of a release with differential privacy."""
    if answers.before != "once":
        yield (
            "Make a ledger first, and enter every release of these people: ε and δ of all of them "
            "add up, whoever gets them."
        )
    if answers.people == "thousand":
        needed = crowd(method, parameters)
        shared = (
            "" if needed is None else f", as a row needs about {needed:,} records that share it"
        )
        yield f"The table is small: expect few, coarse rows{shared}. Try shoal explain --records."
    if answers.people == UNKNOWN:
        yield "Do not take the number of people from the table: δ would reveal it."
    if answers.rows == "all":
        yield (
            "A table with every record in it cannot hide who is in it. If every record counts more "
            "than that, answer again what must not be found out."
        )
    if answers.harm == "value":
        yield (
            "Differential privacy does not limit what is inferred from groups: if most people like "
            "you have a value, it is believed of you (docs: Two kinds of promise)."
        )
    if answers.rule == "diversity":
        yield "Ask whether differential privacy satisfies the rule; it is not about l-diversity."
    if answers.harm == "least":
        yield "If only colleagues get it, and may recognise people, answer that: a sample will do."


def _shown_warnings(answers: Answers, method: str, parameters: dict[str, Any]) -> Iterator[str]:
    """What to know of a release that shows groups or records."""
    entry = entry_of(method)
    if answers.before in ("before", UNKNOWN) and entry.as_views is not None:
        yield (
            "Check it together with what has been released before: a ledger with a γ refuses what "
            "reveals too much (shoal ledger create --gamma, shoal views check)."
        )
        if entry.again_note:
            yield f"By this method only once: {entry.again_note}."
    if answers.algorithm == "no":
        yield (
            "Shoal's code is public. Try shoal attack on the release: it shows what someone infers "
            "who knows the algorithm."
        )
    if answers.people == "thousand":
        yield "The table is small: look at it at several levels before you decide (shoal preview)."
    if parameters.get("splits") == "middle":
        yield (
            "Semantic k-anonymity is about all released columns: make each of them "
            "quasi-identifying, with a hierarchy, or leave it out."
        )
    if method == "kdgs":
        yield "Fix the levels by what is public, never by looking at the rows."
    if method == "disclosure":
        yield "Fix the path before you look at the values, and keep a refusal secret."
    if method == "buckets":
        yield (
            "All other columns are shown unchanged: leave out what must not be known. Give grave "
            "values stricter limits; shoal limits says which cannot be kept."
        )
