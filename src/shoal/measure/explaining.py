"""`explain` and `explain_counts`: what ε, δ, k and β mean for one person, before any data is seen.

Uses `privacy` and `look`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sinh
from typing import Any, Literal

from shoal.arguments import typed
from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon, rounded_up
from shoal.exact.numbers import Exact, fraction, percent_up, short, whole
from shoal.look.pictures import Picture, Pictured
from shoal.privacy.bounded import BoundedCountParameters
from shoal.privacy.calculus import (
    AUTO,
    Definition,
    chosen_parameters,
    delta_concern,
    per_row,
    safepub_parameters,
)
from shoal.privacy.neighbours import Mechanism, Replacement, replaced
from shoal.privacy.promises import DifferentialPrivacy
from shoal.privacy.sharing import CountParameters, Noise, column_parameters, count_parameters
from shoal.zones import brief

__all__ = [
    "CountExplanation",
    "Explanation",
    "Smoothness",
    "explain",
    "explain_counts",
    "odds_of",
]

CURVE = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3))
"""The multiples of ε at which the smoothness of δ is shown."""

CHANCES = tuple(map(Fraction, ("0", "0.01", "0.1", "0.5", "0.9", "0.99", "0.999")))
"""The chances of a row to be released for which the number of records is shown."""


def odds_of(epsilon: Epsilon | Exact) -> Fraction:
    """The factor by which a conclusion may become more or less likely, for people: rounded up.

    >>> odds_of("1.5"), odds_of("ln(2)")
    (Fraction(449, 100), Fraction(2, 1))
    """
    return rounded_up(Epsilon.of(epsilon).exponential()[1], 3)


@dataclass(frozen=True)
class Smoothness:
    """The δ that goes with a larger ε: the promise does not end at a cliff."""

    epsilon: Epsilon
    delta: float


@brief
@dataclass(frozen=True)
class Explanation(Pictured):
    """What a SafePub release with these parameters does.

    anonymisation, search: the ε of each, for every row
    delta_row: the δ of every row
    k: how many drawn rows must look the same
    beta: the chance that a row is drawn
    crowd: about how many rows of the table must look the same
    is_usual: whether β is at most 1 − e^−ε
    odds: the factor by which a conclusion may become more or less likely
    concern: what is wrong with δ for that many people, if anything
    """

    promise: DifferentialPrivacy
    rows: int
    split: Fraction
    anonymisation: Epsilon
    search: Epsilon | None
    delta_row: Fraction
    k: int
    beta: Fraction
    crowd: int
    is_usual: bool
    gamma: Fraction
    odds: float
    smoothness: tuple[Smoothness, ...]
    concern: str | None

    def _repr_html_(self) -> str:
        """The explanation as notebooks show it."""
        from shoal.measure.cards import card_of_explanation

        return card_of_explanation(self).html()

    @property
    def replacement(self) -> Replacement:
        """What is kept where one row, or person, is replaced by another."""
        return _replacement(self.promise, "sample" if self.is_usual else "counts")

    @property
    def not_drawn(self) -> float:
        """The chance that a row is not even looked at."""
        return float(1 - self.beta)

    @property
    def conclusion(self) -> str:
        """What ε means for one person, in words."""
        return _conclusion(self.promise, "your row" if self.rows == 1 else "your rows")

    def pictures(self) -> tuple[Picture, ...]:
        """Belief before and after, and the chance of being drawn, as charts."""
        from shoal.measure.pictures import of_explanation

        return of_explanation(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: floats, and beside them the exact numbers as texts."""
        epsilon, delta = Epsilon.of(self.promise.epsilon), Fraction(self.promise.delta)
        return {
            "epsilon": float(epsilon),
            "delta": float(delta),
            "definition": self.promise.definition,
            "rows": self.rows,
            "split": {"anonymisation": float(self.split), "search": float(1 - self.split)},
            "epsilon_anonymisation": float(self.anonymisation),
            "epsilon_search": float(self.search or 0),
            "k": self.k,
            "beta": float(self.beta),
            "gamma": float(self.gamma),
            "not_drawn": self.not_drawn,
            "crowd": self.crowd,
            "odds": self.odds,
            "smoothness": [
                {"epsilon": float(point.epsilon), "delta": point.delta} for point in self.smoothness
            ],
            "promise": self.promise.statement,
            "replacement": _parts(self.replacement),
            "exact": {
                "epsilon": str(epsilon),
                "delta": short(delta),
                "epsilon_anonymisation": str(self.anonymisation),
                "epsilon_search": "0" if self.search is None else str(self.search),
                "delta_row": short(self.delta_row),
                "beta": str(self.beta),
            },
        }


@typed
def explain(
    epsilon: Epsilon | Exact,
    delta: Exact,
    definition: Definition = "standard",
    *,
    split: Exact = Fraction(9, 10),
    beta: Exact | Literal["auto"] | None = None,
    rows: int = 1,
    people: int | None = None,
) -> Explanation:
    """What ε and δ mean for one person in a SafePub release.

    split: the share of ε for the anonymisation; the rest is for the search
    beta: the chance that a record is drawn; "auto": chosen by the number of people
    rows: how many rows of each person are used
    people: how many people the table is publicly known to have

    >>> explain(1, "1e-6").k
    56
    """
    share = fraction(split, "split", 0, 1)
    if not share:
        raise ParameterError(
            "leaves nothing for the anonymisation",
            "give a share above 0, such as 0.9",
            option="split",
            given="0",
        )
    promise = _promise(epsilon, delta, definition, rows)
    each, delta_row = per_row(epsilon, delta, rows)
    anonymisation = each * share
    if not (isinstance(beta, str) and beta == AUTO):
        parameters = safepub_parameters(anonymisation, delta_row, definition, beta=beta)
    elif people is not None:
        parameters = chosen_parameters(anonymisation, delta_row, definition, people * rows)
    else:
        raise ParameterError(
            "'auto' is chosen by the number of people",
            "give `people` if that is public, or a number",
            option="beta",
        )
    curve = []
    for factor in CURVE:
        larger = anonymisation * factor
        curve.append(Smoothness(larger, float(parameters.delta_at(larger))))
    return Explanation(
        promise=promise,
        rows=rows,
        split=share,
        anonymisation=anonymisation,
        search=each * (1 - share) if share < 1 else None,
        delta_row=delta_row,
        k=parameters.k,
        beta=parameters.beta,
        crowd=parameters.crowd,
        is_usual=parameters.is_usual,
        gamma=parameters.gamma,
        odds=float(Epsilon.of(epsilon).exponential()[1]),
        smoothness=tuple(curve),
        concern=None if people is None else delta_concern(delta, people),
    )


def _conclusion(promise: DifferentialPrivacy, yours: str) -> str:
    odds = odds_of(promise.epsilon)
    factor = f"{float(odds):g}"
    return (
        "Whatever somebody knows, anything they conclude from the release is at most "
        f"{factor} times as likely with {yours} in the table as without, and at least "
        f"1/{factor} times. Somebody who believes with probability 50 % that you are in the "
        f"table believes it with at most {percent_up(odds / (1 + odds))} afterwards."
    )


@brief
@dataclass(frozen=True)
class CountExplanation(Pictured):
    """What a release of noisy counts does.

    columns: of how many groups of columns a record may be in; None for whole rows
    parameters: those of each count: its ε, δ, k and noise
    chances: for some numbers of records the chance that a row which they share is released
    """

    promise: DifferentialPrivacy
    columns: int | None
    parameters: CountParameters
    chances: tuple[tuple[int, float], ...]
    concern: str | None

    def _repr_html_(self) -> str:
        """The explanation as notebooks show it."""
        from shoal.measure.cards import card_of_count_explanation

        return card_of_count_explanation(self).html()

    @property
    def bound(self) -> int | None:
        """The largest distance of a released count from the true one; None if there is none."""
        if isinstance(self.parameters, BoundedCountParameters):
            return self.parameters.bound
        return None

    @property
    def error(self) -> float:
        """By how much a noisy count is off, on average, before rows are withheld."""
        if isinstance(self.parameters, BoundedCountParameters):
            return self.parameters.error
        return 1 / sinh(1 / float(self.parameters.scale))  # E|z| = 2r / (1 − r²)

    @property
    def replacement(self) -> Replacement:
        """What is kept where one row, or person, is replaced by another."""
        return _replacement(self.promise, "counts")

    @property
    def conclusion(self) -> str:
        """What ε means for one person, in words."""
        yours = "your row" if self.promise.unit == "row" else "your rows"
        return _conclusion(self.promise, yours)

    def pictures(self) -> tuple[Picture, ...]:
        """Belief before and after, and the chance that a row is released, as charts."""
        from shoal.measure.pictures import of_counts

        return of_counts(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: floats, and beside them the exact numbers as texts."""
        count = self.parameters
        return {
            "epsilon": float(Epsilon.of(self.promise.epsilon)),
            "delta": float(Fraction(self.promise.delta)),
            "definition": self.promise.definition,
            "k": count.k,
            "columns": self.columns,
            "epsilon_count": float(count.epsilon),
            "delta_count": float(count.delta),
            "noise": "printed" if self.bound is None else "bounded",
            "error": self.error,
            "bound": self.bound,
            "threshold": count.threshold,
            "half": count.half,
            "chances": [{"records": records, "chance": chance} for records, chance in self.chances],
            "promise": self.promise.statement,
            "replacement": _parts(self.replacement),
            "exact": {
                "epsilon_count": str(count.epsilon),
                "delta_count": short(count.delta),
            },
        }


@typed
def explain_counts(
    epsilon: Epsilon | Exact,
    delta: Exact,
    k: int,
    definition: Definition = "standard",
    *,
    columns: int | None = None,
    rows: int = 1,
    people: int | None = None,
    noise: Noise = "bounded",
) -> CountExplanation:
    """What ε, δ and k mean for a row that some records share, in a release of noisy counts.

    columns: of how many groups of columns a record may be in, for a release of columns
    noise: "bounded", or "printed", the matrix of the paper

    >>> counts = explain_counts(1, "1e-6", 1)
    >>> counts.bound, counts.parameters.half, round(counts.error, 3)
    (14, 15, 0.851)
    """
    whole(k, "k")
    if columns is not None and definition != "standard":
        raise ParameterError(
            "goes with the standard definition", "take `definition='standard'`", option="columns"
        )
    promise = _promise(epsilon, delta, definition, rows)
    each, delta_row = per_row(epsilon, delta, rows)
    if columns is None:
        parameters = count_parameters(each, delta_row, k, definition, noise)
    else:
        parameters = column_parameters(each, delta_row, columns, k, noise)
    return CountExplanation(
        promise=promise,
        columns=columns,
        parameters=parameters,
        chances=tuple(_chances(parameters)),
        concern=None if people is None else delta_concern(delta, people),
    )


def _chances(parameters: CountParameters) -> list[tuple[int, float]]:
    """The fewest records for each of some chances to be released."""
    chances: dict[int, float] = {}
    size = parameters.k
    for least in CHANCES:
        while parameters.chance(size) < least:
            if parameters.chance(size + 1) == parameters.chance(size) > 0:
                return list(chances.items())  # it grows no more
            size += 1
        chances[size] = float(parameters.chance(size))
    return list(chances.items())


def _promise(
    epsilon: Epsilon | Exact, delta: Exact, definition: Definition, rows: int
) -> DifferentialPrivacy:
    if rows > 1 and definition != "standard":
        raise ParameterError(
            "needs another definition: the probabilistic one says nothing about several rows",
            "take `definition='standard'`",
            option="rows",
            given=str(rows),
        )
    return DifferentialPrivacy(epsilon, delta, definition, "row" if rows == 1 else "person")


def _replacement(promise: DifferentialPrivacy, mechanism: Mechanism) -> Replacement:
    """What a promise means for replacing; of people with several rows, for any method."""
    kind: Mechanism = mechanism if promise.unit == "row" else "any"
    return replaced(promise.epsilon, promise.delta, promise.definition, mechanism=kind)


def _parts(replacement: Replacement) -> dict[str, Any]:
    return {"epsilon": float(replacement.epsilon), "delta": float(replacement.delta)}
