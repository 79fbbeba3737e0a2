"""What a release promises, as a value: it can be stated beforehand and written into a certificate. Uses `calculus` and `exact`.

`DifferentialPrivacy` and `SemanticAnonymity` hold against someone who knows the algorithm. The others are promises of the
methods people compare with; they do not, and each says so itself.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from shoal.arguments import typed
from shoal.errors import ParameterError, listed, plural
from shoal.exact.epsilon import Epsilon, rounded_up, total
from shoal.exact.numbers import Exact, fraction, printed, short, whole
from shoal.privacy.calculus import Definition, definition_of, delta_of

__all__ = [
    "Coincidence",
    "DifferentialPrivacy",
    "LowestRisk",
    "Promise",
    "Sampled",
    "SemanticAnonymity",
    "Syntactic",
    "composed",
    "of_people",
    "unit_of",
]


class Promise(Protocol):
    """What holds about a release, stated before any data is seen."""

    name: ClassVar[str]

    @property
    def statement(self) -> str:
        """What is promised, in words that claim no more than is true."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The promise as plain values for a certificate."""
        ...


def of_people(unit: str | None) -> str:
    """What a statement adds where one row of each person was drawn before anything else; nothing without a unit."""
    if unit is None:
        return ""
    return (
        f". This is about the records drawn beforehand: one row of each value of {unit!r}, at random. No other row was used, so "
        "these records are people"
    )


def unit_of(given: object) -> str | None:
    """The column that tells people apart, or None where rows are people."""
    if given is None or (isinstance(given, str) and given):
        return given
    raise ParameterError("the unit of a promise is the name of a column, or None")


def _told_of(unit: str | None) -> dict[str, str]:
    return {} if unit is None else {"unit": unit}


@typed
@dataclass(frozen=True)
class DifferentialPrivacy:
    """(ε, δ)-differential privacy under a named definition, for a unit that is added or removed.

    `unit` is "row", or the name of the column that tells whose rows belong together. With `semantic_k` the release keeps
    semantic k-anonymity as well. A δ of 0 makes both definitions the same.

    >>> print(DifferentialPrivacy("ln(2)", "1e-6", "standard").statement)
    (ln(2), 1e-6)-differential privacy, standard definition, unit one row: whichever single row is added or removed, and \
whatever else is known, no set of possible releases becomes more than e^ln(2) (at most 2) times as likely plus 1e-6
    """

    epsilon: Epsilon | Exact
    delta: Exact
    definition: Definition
    unit: str = "row"
    semantic_k: int | None = None

    name: ClassVar[str] = "differential privacy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", Epsilon.of(self.epsilon))
        object.__setattr__(
            self,
            "delta",
            delta_of(self.delta) if fraction(self.delta, "delta", 0, 1) else Fraction(0),
        )
        if self.semantic_k is not None:
            whole(self.semantic_k, "semantic_k")
        definition_of(self.definition)
        if not isinstance(self.unit, str) or not self.unit:
            raise ParameterError(
                "the unit of differential privacy is 'row' or the name of a column"
            )

    @property
    def statement(self) -> str:
        epsilon, delta = Epsilon.of(self.epsilon), short(Fraction(self.delta))
        unit = "one row" if self.unit == "row" else f"all rows with one value of {self.unit!r}"
        change = "whichever single row is" if self.unit == "row" else "whoever's rows are"
        factor = f"e^{epsilon} (at most {float(rounded_up(epsilon.exponential()[1], 3)):g}) times as likely"
        bound = (
            f"no set of possible releases becomes more than {factor} plus {delta}"
            if self.definition == "standard"
            else f"no release becomes more than {factor}, but for releases that together have a probability of at most {delta}"
        )
        return (
            f"({epsilon}, {delta})-differential privacy, {self.definition} definition, unit {unit}: "
            f"{change} added or removed, and whatever else is known, {bound}"
            + (f". Also {SemanticAnonymity(self.semantic_k).statement}" if self.semantic_k else "")
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "promise": self.name,
            "epsilon": str(self.epsilon),
            "delta": short(Fraction(self.delta)),
            "definition": self.definition,
            "unit": self.unit,
            "neighbours": "add or remove one",
            **({"semantic_k": self.semantic_k} if self.semantic_k else {}),
        }


@typed
@dataclass(frozen=True)
class SemanticAnonymity:
    """Semantic k-anonymity (Li and Li): every record is of no influence, or could be any of k.

    >>> print(SemanticAnonymity(10).statement)
    semantic 10-anonymity: for every record of the input, the release would be as likely without it, or there are at least 9 \
others such that it would be as likely with a copy of any of them in its place, also for someone who knows the algorithm
    """

    k: int
    unit: str | None = None

    name: ClassVar[str] = "semantic anonymity"

    def __post_init__(self) -> None:
        whole(self.k, "k")
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        return (
            f"semantic {self.k}-anonymity: for every record of the input, the release would be as likely without it, or there "
            f"are at least {plural(self.k - 1, 'other')} such that it would be as likely with a copy of any of them in its "
            "place, also for someone who knows the algorithm" + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name, "k": self.k, **_told_of(self.unit)}


@typed
def composed(*promises: DifferentialPrivacy) -> DifferentialPrivacy:
    """What several releases of the same data promise together: their ε and their δ add up, rounded up where need be.

    The definition is the probabilistic one only if it is that of all of them.

    >>> both = composed(DifferentialPrivacy(1, "1e-6", "probabilistic"), DifferentialPrivacy("0.5", "1e-6", "standard"))
    >>> both.to_dict()["epsilon"], both.to_dict()["delta"], both.definition
    ('1.5', '2e-6', 'standard')
    """
    units = {promise.unit for promise in promises}
    if len(units) != 1:
        raise ParameterError(
            f"promises to {listed(sorted(units))} do not add up; compose one or more with the same unit"
        )
    delta = sum((Fraction(promise.delta) for promise in promises), Fraction(0))
    if delta >= 1:
        raise ParameterError(
            f"the deltas add up to {short(delta)}: together these releases promise nothing"
        )
    strong = all(promise.definition == "probabilistic" for promise in promises)
    return DifferentialPrivacy(
        total(Epsilon.of(promise.epsilon) for promise in promises),
        delta,
        "probabilistic" if strong else "standard",
        units.pop(),
    )


@dataclass(frozen=True)
class Syntactic:
    """Every released group satisfies these models. That is a property of the table, not of what it tells.

    >>> Syntactic(("5-anonymity",)).statement
    'every group satisfies 5-anonymity: syntactic; an attacker who knows the algorithm may infer more'
    """

    models: tuple[str, ...]
    unit: str | None = None

    name: ClassVar[str] = "syntactic"

    def __post_init__(self) -> None:
        if (
            isinstance(self.models, str)
            or not self.models
            or not all(isinstance(model, str) for model in self.models)
        ):
            raise ParameterError(
                "a syntactic promise takes the names of one model or more, such as ('5-anonymity',)"
            )
        object.__setattr__(self, "models", tuple(self.models))
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        models = " and ".join(self.models)
        return (
            f"every group satisfies {models}: syntactic; an attacker who knows the algorithm may infer more"
            + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name, "models": list(self.models), **_told_of(self.unit)}


@dataclass(frozen=True)
class Sampled:
    """Every record was drawn with this chance, independently of all others, and shown as it is."""

    share: Exact
    unit: str | None = None

    name: ClassVar[str] = "sampled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", fraction(self.share, "share", 0, 1))
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        return (
            f"each record was released with chance {printed(Fraction(self.share))}, independently of all others. Nothing more: "
            "that a person is missing from the release does not show that they are missing from the input, but whoever is "
            "released is released as they are, and who is unique in the population is recognised"
            + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "promise": self.name,
            "share": printed(Fraction(self.share)),
            **_told_of(self.unit),
        }


@dataclass(frozen=True)
class Coincidence:
    """What can be inferred about anybody is what their group shows, and that satisfies these models.

    >>> print(Coincidence(("3-diversity of ill",)).statement)
    every group satisfies 3-diversity of ill, and that is all that can be inferred: what someone who knows the algorithm, \
everybody's quasi-identifying values and who is in which group believes about a person's other values is exactly how they are \
spread in the person's group, unless they knew more about who has what before
    """

    models: tuple[str, ...]
    unit: str | None = None

    name: ClassVar[str] = "coincidence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", Syntactic(self.models).models)
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        return (
            f"every group satisfies {' and '.join(self.models)}, and that is all that can be inferred: what someone who knows "
            "the algorithm, everybody's quasi-identifying values and who is in which group believes about a person's other "
            "values is exactly how they are spread in the person's group, unless they knew more about who has what before"
            + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name, "models": list(self.models), **_told_of(self.unit)}


@dataclass(frozen=True)
class LowestRisk:
    """Every record is shown at the lowest risk that keeps its utility, or at a low one that a heuristic found.

    >>> print(LowestRisk("0.7", "exact", "leaves", "fixed", "table").statement)
    every record is shown at the lowest risk (fixed sensitivity of what is shown, by the number of people of the table whom it \
fits) among its generalisations that keep at least 0.7 of its utility (leaves): exact. Nothing more: an attacker who knows the \
algorithm may infer more
    """

    utility: Exact
    solver: str
    measure: str
    model: str
    counted_in: str
    unit: str | None = None

    name: ClassVar[str] = "lowest risk"

    def __post_init__(self) -> None:
        unit_of(self.unit)
        object.__setattr__(self, "utility", fraction(self.utility, "utility", 0, 1))

    @property
    def statement(self) -> str:
        risk = f"({self.model} sensitivity of what is shown, by the number of people of the {self.counted_in} whom it fits)"
        kept = f"at least {printed(Fraction(self.utility))} of its utility ({self.measure})"
        if self.solver == "exact":
            told = f"every record is shown at the lowest risk {risk} among its generalisations that keep {kept}: exact"
        else:
            told = f"every record keeps {kept}, at a risk {risk} that {self.solver!r} found low: heuristic, others may be lower"
        return (
            f"{told}. Nothing more: an attacker who knows the algorithm may infer more"
            + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "promise": self.name,
            "utility": printed(Fraction(self.utility)),
            "solver": self.solver,
            "measure": self.measure,
            "model": self.model,
            "counted_in": self.counted_in,
            **_told_of(self.unit),
        }
