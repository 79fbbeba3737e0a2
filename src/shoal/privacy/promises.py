"""What a release promises, as values that can be stated beforehand and written into a certificate.

Each promise says itself what it does not protect from. `DifferentialPrivacy` and
`SemanticAnonymity` hold against someone who knows the algorithm. The others are promises of the
methods people compare with: most of them do not, and say so. Uses `calculus` and `exact`; methods,
certificates, ledgers and `verification` use it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from shoal.arguments import keep, typed
from shoal.errors import ParameterError, listed, plural
from shoal.exact.epsilon import Epsilon, rounded_up, total
from shoal.exact.numbers import Exact, fraction, printed, short, whole
from shoal.privacy.calculus import Definition, definition_of, delta_of
from shoal.zones import brief

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
    "unit_part",
]


class Promise(Protocol):
    """What holds about a release, stated before any data is seen."""

    name: ClassVar[str]

    public_choices: ClassVar[bool]
    """Whether it assumes that all that is chosen was chosen without looking at the data.

    Such a promise is about what an algorithm reveals whose parameters are fixed beforehand. One
    about the released table alone holds however it was made.
    """

    @property
    def statement(self) -> str:
        """What is promised, in words that claim no more than is true."""
        ...

    @property
    def unprotected(self) -> tuple[str, ...]:
        """What the promise does not protect from, one line each."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The promise as plain values for a certificate.

        They are its parts by name, from which it can be made again.
        """
        ...


_SIDE_CHANNELS = (
    "what can be learnt besides the release: how long it took, how much memory it used, "
    "files left behind, who asked for it"
)
_SEVERAL_ROWS = (
    "people in several rows of the input, unless one row of each was drawn: "
    "five rows of one person look like five people"
)
_SEVERAL_RELEASES = (
    "several releases about the same people, which may reveal more together than each alone"
)
_INSENSITIVE = "insensitive columns, which are released unchanged and count as known to nobody"


@typed
@brief
@dataclass(frozen=True, init=False)
class DifferentialPrivacy:
    """(ε, δ)-differential privacy under a named definition, for a unit that is added or removed.

    `unit` is "row", or the name of the column that says whose rows belong together. With
    `semantic_k` the release keeps semantic k-anonymity as well. A δ of 0 makes both definitions the
    same.

    >>> print(DifferentialPrivacy("ln(2)", "1e-6", "standard").statement)
    (ln(2), 1e-6)-differential privacy, standard definition, unit one row: whichever single row is \
added or removed, and whatever else is known, no set of possible releases becomes more than \
e^ln(2) (at most 2) times as likely plus 1e-6
    """

    epsilon: Epsilon
    delta: Fraction
    definition: Definition
    unit: str
    semantic_k: int | None

    name: ClassVar[str] = "differential privacy"
    public_choices: ClassVar[bool] = True
    unprotected: ClassVar[tuple[str, ...]] = (
        "what groups reveal about everybody like you: an attribute shared by most people of a "
        "group is inferred about its other people too, whether or not they are in the table",
        "people who are in the table several times: in several rows, where the unit is a row, "
        "or under several names, where it is a person. The more often, the less they are "
        "protected",
        "several releases about the same people: what each of them spends adds up",
        _SIDE_CHANNELS,
    )

    def __init__(
        self,
        epsilon: Epsilon | Exact,
        delta: Exact,
        definition: Definition,
        unit: str = "row",
        semantic_k: int | None = None,
    ) -> None:
        keep(
            self,
            epsilon=Epsilon.of(epsilon),
            delta=delta_of(delta, zero=True),
            definition=definition_of(definition),
            unit=unit,
            semantic_k=None if semantic_k is None else whole(semantic_k, "semantic_k"),
        )
        if not unit:
            raise ParameterError(
                "the unit of differential privacy is empty", "give 'row' or the name of a column"
            )

    @property
    def statement(self) -> str:
        delta = short(self.delta)
        unit, change = "one row", "whichever single row is"
        if self.unit != "row":
            unit, change = f"all rows with one value of {self.unit!r}", "whoever's rows are"
        highest = float(rounded_up(self.epsilon.exponential()[1], 3))
        factor = f"e^{self.epsilon} (at most {highest:g}) times as likely"
        if self.definition == "standard":
            bound = f"no set of possible releases becomes more than {factor} plus {delta}"
        else:
            bound = (
                f"no release becomes more than {factor}, but for releases that together "
                f"have a probability of at most {delta}"
            )
        promised = (
            f"({self.epsilon}, {delta})-differential privacy, {self.definition} definition, "
            f"unit {unit}: {change} added or removed, and whatever else is known, {bound}"
        )
        if not self.semantic_k:
            return promised
        return f"{promised}. Also {SemanticAnonymity(self.semantic_k).statement}"

    def to_dict(self) -> dict[str, Any]:
        parts: dict[str, Any] = {
            "promise": self.name,
            "epsilon": str(self.epsilon),
            "delta": short(self.delta),
            "definition": self.definition,
            "unit": self.unit,
            "neighbours": "add or remove one",
        }
        if self.semantic_k:
            parts["semantic_k"] = self.semantic_k
        return parts


@typed
def composed(*promises: DifferentialPrivacy) -> DifferentialPrivacy:
    """What several releases of the same data promise together.

    Their ε and their δ add up, rounded up where necessary.

    The definition is the probabilistic one only if it is that of all of them.

    >>> both = composed(
    ...     DifferentialPrivacy(1, "1e-6", "probabilistic"),
    ...     DifferentialPrivacy("0.5", "1e-6", "standard"),
    ... )
    >>> both.to_dict()["epsilon"], both.to_dict()["delta"], both.definition
    ('1.5', '2e-6', 'standard')
    """
    units = {promise.unit for promise in promises}
    if len(units) != 1:
        raise ParameterError(
            f"promises to {listed(sorted(units))} do not add up",
            "compose one or more with the same unit",
        )
    delta = sum((promise.delta for promise in promises), Fraction(0))
    if delta >= 1:
        raise ParameterError(
            f"the deltas add up to {short(delta)}: together these releases promise nothing"
        )
    strong = all(promise.definition == "probabilistic" for promise in promises)
    return DifferentialPrivacy(
        total(promise.epsilon for promise in promises),
        delta,
        "probabilistic" if strong else "standard",
        units.pop(),
    )


@typed
@dataclass(frozen=True)
class SemanticAnonymity:
    """Semantic k-anonymity (Li and Li): every record is of no influence, or could be any of k.

    >>> print(SemanticAnonymity(10).statement)
    semantic 10-anonymity: for every record of the input, the release would be as likely without \
it, or there are at least 9 others such that it would be as likely with a copy of any of them in \
its place, also for someone who knows the algorithm
    """

    k: int
    unit: str | None = None

    name: ClassVar[str] = "semantic anonymity"
    public_choices: ClassVar[bool] = True
    unprotected: ClassVar[tuple[str, ...]] = (
        "the exact number of people who share a released row: whoever knows all of them but one "
        "learns whether that one is among them",
        "what a row reveals about everyone who has it: there are k people or more, "
        "and all of them have the same values",
        "people who are in the table several times, and several releases about the same people: "
        "both may leave smaller crowds",
        _SIDE_CHANNELS,
    )

    def __post_init__(self) -> None:
        whole(self.k, "k")
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        return (
            f"semantic {self.k}-anonymity: for every record of the input, the release would be as "
            f"likely without it, or there are at least {plural(self.k - 1, 'other')} such that it "
            "would be as likely with a copy of any of them in its place, "
            "also for someone who knows the algorithm" + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name, "k": self.k, **unit_part(self.unit)}


@dataclass(frozen=True)
class Syntactic:
    """Every released group satisfies these models.

    That is a property of the table, not of what it reveals.

    `starred` says that suppressed records are released as rows of stars.

    >>> Syntactic(("5-anonymity",)).statement
    'every group satisfies 5-anonymity: syntactic; an attacker who knows the algorithm may infer \
more'
    """

    models: tuple[str, ...]
    unit: str | None = None
    starred: bool = False

    name: ClassVar[str] = "syntactic"
    public_choices: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", _model_names(self.models))
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        return (
            f"every group satisfies {' and '.join(self.models)}: syntactic; "
            "an attacker who knows the algorithm may infer more" + of_people(self.unit)
        )

    @property
    def unprotected(self) -> tuple[str, ...]:
        lines = (
            _SEVERAL_ROWS,
            "the choice of levels or ranges, which depends on the data: whoever knows the "
            "algorithm may rule out inputs that would have led to another choice, and so infer "
            "more than the table shows (docs: minimality)",
            _INSENSITIVE,
            _SEVERAL_RELEASES,
        )
        if not self.starred:
            return lines
        stars = (
            "rows of stars: they belong to no group, so no model applies to them, "
            "and their other columns are released unchanged"
        )
        return (stars, *lines)

    def to_dict(self) -> dict[str, Any]:
        parts = {"promise": self.name, "models": list(self.models), **unit_part(self.unit)}
        return {**parts, "starred": True} if self.starred else parts


@dataclass(frozen=True, init=False)
class Sampled:
    """Every record was drawn with this probability, and is shown unchanged.

    Each was drawn independently of all others.
    """

    share: Fraction
    unit: str | None

    name: ClassVar[str] = "sampled"
    public_choices: ClassVar[bool] = False
    unprotected: ClassVar[tuple[str, ...]] = (
        "people in several rows of the input, unless one row of each was drawn: "
        "the more rows, the more likely it is that one of them is released",
        "whoever is released: their records are unchanged, "
        "and anyone who knows their values may recognise them",
        "a record that is unique in the release may belong to someone who is unique "
        "in the population",
    )

    def __init__(self, share: Exact, unit: str | None = None) -> None:
        keep(self, share=fraction(share, "share", 0, 1), unit=unit_of(unit))

    @property
    def statement(self) -> str:
        return (
            f"each record was released with probability {printed(self.share)}, independently of "
            "all others. Nothing more: that a person is missing from the release does not show "
            "that they are missing from the input, but whoever is released is shown unchanged, "
            "and whoever is unique in the population is recognised" + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name, "share": printed(self.share), **unit_part(self.unit)}


@dataclass(frozen=True)
class Coincidence:
    """Nothing can be inferred about anybody beyond what their group shows.

    What the group shows satisfies these models.

    `merged` says that groups may have been merged because of who has which value, which reveals
    something about several people together.

    >>> print(Coincidence(("3-diversity of ill",)).statement)
    every group satisfies 3-diversity of ill, and that is all that can be inferred: what someone \
who knows the algorithm, everybody's quasi-identifying values and who is in which group believes \
about a person's other values is exactly how they are spread in the person's group, unless they \
knew more about who has what before
    """

    models: tuple[str, ...]
    unit: str | None = None
    merged: bool = True

    name: ClassVar[str] = "coincidence"
    public_choices: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", _model_names(self.models))
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        return (
            f"every group satisfies {' and '.join(self.models)}, and that is all that can be "
            "inferred: what someone who knows the algorithm, everybody's quasi-identifying values "
            "and who is in which group believes about a person's other values is exactly how they "
            "are spread in the person's group, unless they knew more about who has what before"
            + of_people(self.unit)
        )

    @property
    def unprotected(self) -> tuple[str, ...]:
        together = (
            "facts about several people of a group together, as far as the group shows them: "
            "they cannot all have a value that occurs in it less often"
        )
        if self.merged:
            together = (
                "facts about several people together: that groups had to be merged shows that "
                "some people of them have the same values"
            )
        return (
            "quasi-identifying values, and who is in the table: both count as known, and which "
            "groups there are, what they show and where their ranges end depends on them",
            "people who are in the table several times: each of their records is as hidden as "
            "promised, but not what the records reveal together",
            together,
            "against someone who knows some people's values, or how values relate to other "
            "columns: they learn more about the others of a group",
            _INSENSITIVE,
            _SEVERAL_RELEASES,
            "against someone who knows that an earlier attempt was refused: "
            "a refusal reveals something about the values, and so does a second attempt",
        )

    def to_dict(self) -> dict[str, Any]:
        parts = {"promise": self.name, "models": list(self.models), **unit_part(self.unit)}
        return parts if self.merged else {**parts, "merged": False}


@dataclass(frozen=True, init=False)
class LowestRisk:
    """Every record is shown at the lowest risk that keeps its utility.

    Where a heuristic looked for it, the risk is low, but perhaps not the lowest.

    >>> print(LowestRisk("0.7", "exact", "leaves", "fixed", "table").statement)
    every record is shown at the lowest risk (fixed sensitivity of what is shown, by the number of \
people of the table whom it fits) among its generalisations that keep at least 0.7 of its utility \
(leaves): exact. Nothing more: an attacker who knows the algorithm may infer more
    """

    utility: Fraction
    solver: str
    measure: str
    model: str
    counted_in: str
    unit: str | None

    name: ClassVar[str] = "lowest risk"
    public_choices: ClassVar[bool] = False
    unprotected: ClassVar[tuple[str, ...]] = (
        _SEVERAL_ROWS,
        "people who are recognised nevertheless: a low risk is not zero, "
        "and whoever is unlike all others keeps a high one",
        "which generalisation each record got, as that depends on the record: whoever knows the "
        "algorithm may rule out people who would have got another, and so sees smaller crowds "
        "than were counted (docs: personal generalisation)",
        "sensitive and insensitive columns, which are released unchanged",
        _SEVERAL_RELEASES,
    )

    def __init__(
        self,
        utility: Exact,
        solver: str,
        measure: str,
        model: str,
        counted_in: str,
        unit: str | None = None,
    ) -> None:
        keep(
            self,
            unit=unit_of(unit),
            utility=fraction(utility, "utility", 0, 1),
            solver=solver,
            measure=measure,
            model=model,
            counted_in=counted_in,
        )

    @property
    def statement(self) -> str:
        risk = (
            f"({self.model} sensitivity of what is shown, by the number of people of the "
            f"{self.counted_in} whom it fits)"
        )
        kept = f"at least {printed(self.utility)} of its utility ({self.measure})"
        if self.solver == "exact":
            promised = (
                f"every record is shown at the lowest risk {risk} among its generalisations that "
                f"keep {kept}: exact"
            )
        else:
            promised = (
                f"every record keeps {kept}, at a risk {risk} that {self.solver!r} found low: "
                "heuristic, others may be lower"
            )
        return (
            f"{promised}. Nothing more: an attacker who knows the algorithm may infer more"
            + of_people(self.unit)
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "promise": self.name,
            "utility": printed(self.utility),
            "solver": self.solver,
            "measure": self.measure,
            "model": self.model,
            "counted_in": self.counted_in,
            **unit_part(self.unit),
        }


# Whose rows belong together, which several promises mention


def of_people(unit: str | None) -> str:
    """What a statement adds where one row of each person was drawn before anything else.

    Nothing without a unit.
    """
    if unit is None:
        return ""
    return (
        f". This is about the records drawn beforehand: one row of each value of {unit!r}, at "
        "random. No other row was used, so these records are people"
    )


def unit_of(given: object) -> str | None:
    """The column that tells people apart, or None where rows are people."""
    if given is None or (isinstance(given, str) and given):
        return given
    raise ParameterError(
        "the unit of a promise is not a text", "give the name of a column, or leave it out"
    )


def unit_part(unit: str | None) -> dict[str, str]:
    """The unit among the plain values of a promise; nothing where rows are people."""
    return {} if unit is None else {"unit": unit}


def _model_names(given: object) -> tuple[str, ...]:
    names = tuple(given) if isinstance(given, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            "a promise about groups takes the names of one model or more",
            "give them as in `models=('5-anonymity',)`",
        )
    return names
