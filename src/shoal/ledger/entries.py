"""What the entries of a ledger say: a frozen record per kind of entry, to JSON and back.

Uses `log`; `account` adds them up and `book` writes them.

Numbers are exact, and texts in JSON. The secret key of a ledger is a fact of its first entry that
no record has: it is for fingerprints alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

from shoal.errors import FileError
from shoal.exact.epsilon import Epsilon, total
from shoal.exact.numbers import Exact, fraction, short
from shoal.log.chain import Link
from shoal.privacy.calculus import delta_of
from shoal.privacy.promises import DifferentialPrivacy, Promise
from shoal.zones import owner_only

__all__ = [
    "Adopted",
    "Allowance",
    "BudgetSet",
    "ColumnCheck",
    "Completed",
    "Cost",
    "Created",
    "EntryFacts",
    "Gamma",
    "GammaSet",
    "LedgerEntry",
    "Refused",
    "Remembered",
    "Reserved",
    "Together",
]

Json = Mapping[str, Any]

# A ledger repeats few numbers many times, and reading "ln(2)" takes a search for roots.
_epsilon = lru_cache(maxsize=1024)(Epsilon.of)
_fraction = lru_cache(maxsize=1024)(Fraction)


class Allowance(NamedTuple):
    """A budget as it was set: what may be spent in all."""

    epsilon: Epsilon
    delta: Fraction

    @classmethod
    def of(cls, epsilon: Epsilon | Exact, delta: Exact) -> "Allowance":
        """By exact numbers; ParameterError where one is out of range."""
        return cls(Epsilon.of(epsilon), delta_of(delta, zero=True))

    @classmethod
    def from_dict(cls, facts: Json) -> "Allowance | None":
        if facts["epsilon"] is None:
            return None
        return cls(_epsilon(facts["epsilon"]), _fraction(facts["delta"]))


def _allowance_dict(budget: Allowance | None) -> dict[str, Any]:
    if budget is None:
        return {"epsilon": None, "delta": None}
    return {"epsilon": str(budget.epsilon), "delta": short(budget.delta)}


@dataclass(frozen=True)
class Cost:
    """What an entry spends. Without an ε nothing bounds it; without a δ, that counts as 1."""

    epsilon: Epsilon | None = None
    delta: Fraction | None = None
    definition: str | None = None
    unit: str | None = None

    @classmethod
    def from_dict(cls, facts: Json) -> "Cost":
        epsilon, delta = facts["epsilon"], facts["delta"]
        return cls(
            None if epsilon is None else _epsilon(epsilon),
            None if delta is None else _fraction(delta),
            facts["definition"],
            facts["unit"],
        )

    @classmethod
    def of(cls, promise: Promise) -> "Cost":
        """What a release with a promise will spend."""
        if not isinstance(promise, DifferentialPrivacy):
            return cls()
        return cls(promise.epsilon, promise.delta, promise.definition, promise.unit)

    @classmethod
    def total(cls, costs: "list[Cost]") -> "Cost":
        """What several spend together; δ is 1 at most, which holds of anything."""
        epsilons = [cost.epsilon for cost in costs if cost.epsilon is not None]
        deltas = [Fraction(1) if cost.delta is None else cost.delta for cost in costs]
        definitions = {cost.definition for cost in costs} - {None}
        units = [cost.unit for cost in costs if cost.unit is not None]
        # The probabilistic definition implies the standard one, by which any mixture holds.
        definition = "standard" if len(definitions) > 1 else next(iter(definitions), None)
        return cls(
            total(epsilons) if epsilons else None,
            min(Fraction(1), sum(deltas, Fraction(0))),
            definition,
            units[0] if units else None,
        )

    def to_dict(self) -> dict[str, str | None]:
        return {
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": None if self.delta is None else short(self.delta),
            "definition": self.definition,
            "unit": self.unit,
        }


@dataclass(frozen=True)
class Gamma:
    """How probable a value may be for anybody, given all releases that are views.

    `limits` are for single values.
    """

    share: Fraction
    limits: Mapping[str, Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, share: Exact, limits: Mapping[str, Exact] | None = None) -> "Gamma":
        """By exact numbers; ParameterError where one is not a share."""
        shares = {}
        for value, limit in (limits or {}).items():
            shares[str(value)] = fraction(limit, f"the limit of {value!r}", 0, 1)
        return cls(fraction(share, "gamma", 0, 1), shares)

    @classmethod
    def from_dict(cls, facts: Json | None) -> "Gamma | None":
        return None if facts is None else cls.of(facts["share"], facts["limits"])

    def to_dict(self) -> dict[str, Any]:
        limits = {value: str(limit) for value, limit in self.limits.items()}
        return {"share": str(self.share), "limits": limits}

    @property
    def limited(self) -> bool:
        """Whether anything is limited."""
        return self.share != 1 or bool(self.limits)

    def __str__(self) -> str:
        limits = (f"{value} {limit}" for value, limit in self.limits.items())
        return ", ".join([str(self.share), *limits])


def _gamma_dict(gamma: Gamma | None) -> dict[str, Any] | None:
    return None if gamma is None else gamma.to_dict()


@dataclass(frozen=True)
class ColumnCheck:
    """What was found when the views of one sensitive column were checked."""

    largest: str
    tables: str
    method: str
    confidence: str | None

    def to_dict(self) -> dict[str, str | None]:
        return dict(vars(self))


@dataclass(frozen=True)
class Together:
    """How a release stands with earlier ones.

    kept: whether γ is kept; None if that cannot be decided
    why: in words that name nobody; empty if it is kept
    entries: the earlier releases that show the same columns
    unmet: values with a limit of their own that nothing shows
    """

    gamma: Gamma
    kept: bool | None
    why: str
    entries: tuple[int, ...] = ()
    unmet: tuple[str, ...] = ()
    checked: Mapping[str, ColumnCheck] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, facts: Json) -> "Together":
        checked = {column: ColumnCheck(**check) for column, check in facts["checked"].items()}
        gamma = Gamma.of(facts["gamma"]["share"], facts["gamma"]["limits"])
        return cls(
            gamma,
            facts["kept"],
            facts["why"],
            tuple(facts["with"]),
            tuple(facts["unmet"]),
            checked,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "gamma": self.gamma.to_dict(),
            "kept": self.kept,
            "why": self.why,
            "with": list(self.entries),
            "unmet": list(self.unmet),
            "checked": {column: check.to_dict() for column, check in self.checked.items()},
        }


class EntryFacts(Protocol):
    """What the records of all kinds of entries have in common."""

    what: ClassVar[str]

    @classmethod
    def from_dict(cls, facts: Json) -> Self: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Created:
    """The ledger was made. `witness` is a folder, True for the usual one, False for none."""

    what: ClassVar[str] = "created"

    witness: str | bool
    budget: Allowance | None = None
    gamma: Gamma | None = None

    @classmethod
    def from_dict(cls, facts: Json) -> "Created":
        return cls(facts["witness"], Allowance.from_dict(facts), Gamma.from_dict(facts["gamma"]))

    def to_dict(self) -> dict[str, Any]:
        gamma = _gamma_dict(self.gamma)
        return {"witness": self.witness, "gamma": gamma, **_allowance_dict(self.budget)}


@dataclass(frozen=True)
class BudgetSet:
    """The budget was set anew."""

    what: ClassVar[str] = "budget"

    budget: Allowance | None

    @classmethod
    def from_dict(cls, facts: Json) -> "BudgetSet":
        return cls(Allowance.from_dict(facts))

    def to_dict(self) -> dict[str, Any]:
        return _allowance_dict(self.budget)


@dataclass(frozen=True)
class GammaSet:
    """γ was set anew, or taken away."""

    what: ClassVar[str] = "gamma"

    gamma: Gamma | None

    @classmethod
    def from_dict(cls, facts: Json) -> "GammaSet":
        return cls(Gamma.from_dict(facts["gamma"]))

    def to_dict(self) -> dict[str, Any]:
        return {"gamma": _gamma_dict(self.gamma)}


@dataclass(frozen=True)
class Reserved:
    """A release was about to be made, and counts as spent.

    promise, columns: as the certificate has them; columns have their roles
    fingerprint: of the table
    other_data: whether the table differs from that of the release before
    """

    what: ClassVar[str] = "reserved"

    method: str
    cost: Cost
    promise: Json
    columns: Mapping[str, str]
    fingerprint: str
    other_data: bool

    @classmethod
    def from_dict(cls, facts: Json) -> "Reserved":
        return cls(
            facts["method"],
            Cost.from_dict(facts),
            facts["promise"],
            facts["columns"],
            facts["fingerprint"],
            facts["other_data"],
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            **self.cost.to_dict(),
            "promise": self.promise,
            "columns": self.columns,
            "fingerprint": self.fingerprint,
            "other_data": self.other_data,
        }

    @property
    def bounded(self) -> bool:
        """Whether differential privacy bounds what the release reveals."""
        return self.cost.epsilon is not None


@dataclass(frozen=True)
class Completed:
    """A release was made, and its files could appear.

    reserved: the number of the entry that reserved it
    release: its own number, which its certificate has
    certificate: as JSON
    shown: what it showed, packed; None if it is not a view, or not known
    others: the digests of what others have shown, which was counted too
    together: how it stands with earlier releases, where the ledger has a γ
    override: why the owner released it anyway
    recipe_file: the recipe it was made by, as seen from the ledger
    """

    what: ClassVar[str] = "completed"

    reserved: int
    release: str
    certificate: Json
    shown: str | None = None
    others: tuple[str, ...] = ()
    together: Together | None = None
    override: str | None = None
    recipe_file: str | None = None

    @classmethod
    def from_dict(cls, facts: Json) -> "Completed":
        together = facts["together"]
        return cls(
            facts["reserved"],
            facts["release"],
            facts["certificate"],
            facts["shown"],
            tuple(facts["others"]),
            None if together is None else Together.from_dict(together),
            facts["override"],
            facts["recipe_file"],
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "reserved": self.reserved,
            "release": self.release,
            "certificate": self.certificate,
            "shown": self.shown,
            "others": list(self.others),
            "together": None if self.together is None else self.together.to_dict(),
            "override": self.override,
            "recipe_file": self.recipe_file,
        }


@dataclass(frozen=True)
class Refused:
    """A release was made, does not keep γ, and is gone."""

    what: ClassVar[str] = "refused"

    reserved: int
    together: Together

    @classmethod
    def from_dict(cls, facts: Json) -> "Refused":
        return cls(facts["reserved"], Together.from_dict(facts["together"]))

    def to_dict(self) -> dict[str, Any]:
        return {"reserved": self.reserved, "together": self.together.to_dict()}


@dataclass(frozen=True)
class Remembered:
    """What a release showed was added later."""

    what: ClassVar[str] = "remembered"

    reserved: int
    shown: str

    @classmethod
    def from_dict(cls, facts: Json) -> "Remembered":
        return cls(facts["reserved"], facts["shown"])

    def to_dict(self) -> dict[str, Any]:
        return {"reserved": self.reserved, "shown": self.shown}


@dataclass(frozen=True)
class Adopted:
    """The owner said that this copy of the ledger is the one that holds.

    lost: how many entries the witness knew that this copy lacks
    cost: what they spent, which counts as spent
    """

    what: ClassVar[str] = "adopted"

    witness: str | bool
    lost: int
    cost: Cost

    @classmethod
    def from_dict(cls, facts: Json) -> "Adopted":
        return cls(facts["witness"], facts["lost"], Cost.from_dict(facts))

    def to_dict(self) -> dict[str, Any]:
        return {"witness": self.witness, "lost": self.lost, **self.cost.to_dict()}


_KINDS: dict[str, type[EntryFacts]] = {
    kind.what: kind
    for kind in (
        Created,
        BudgetSet,
        GammaSet,
        Reserved,
        Completed,
        Refused,
        Remembered,
        Adopted,
    )
}

F = TypeVar("F", covariant=True)


@owner_only
@dataclass(frozen=True)
class LedgerEntry(Generic[F]):
    """One entry of a ledger, with the facts of its kind."""

    number: int
    time: str
    facts: F
    digest: str

    @property
    def what(self) -> str:
        """The kind of entry.

        One of "created", "budget", "gamma", "reserved", "completed", "refused", "remembered" and
        "adopted".
        """
        return str(self.facts.what)  # type: ignore[attr-defined]

    @classmethod
    def of(cls, link: Link) -> "LedgerEntry[Any]":
        """The entry of a link."""
        if link.what not in _KINDS:
            raise FileError(
                f"entry {link.number} is of a kind that this version of Shoal does not know",
                "use the version that wrote it",
            )
        facts = _KINDS[link.what].from_dict(link.facts)
        return LedgerEntry(link.number, link.time, facts, link.digest)
