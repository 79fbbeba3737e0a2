"""What the entries of a ledger add up to: the budget, what is spent and what is left. Uses `privacy`; `Ledger` uses it.

Sums are plain composition: releases with (ε₁, δ₁) and (ε₂, δ₂) are (ε₁ + ε₂, δ₁ + δ₂) together, by the standard and by the
probabilistic definition, also where the data changed in between. A release without a bound has δ = 1, which holds of anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from shoal.errors import BudgetError
from shoal.exact.epsilon import Epsilon, total
from shoal.exact.numbers import Exact, fraction, short
from shoal.ledger.store import Link
from shoal.zones import owner_only

__all__ = ["Account", "Budget", "Entry", "Gamma", "amount"]

_LONG = 40  # characters of a sum that people still read


class Budget(NamedTuple):
    """So much ε and so much δ, as exact numbers. A δ of 1 promises nothing: a release without a bound was entered."""

    epsilon: Fraction
    delta: Fraction

    def rounded(self, *, up: bool) -> str:
        """For people, with six digits."""
        to = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
        return amount(
            *(Fraction(to.divide(number.numerator, number.denominator)) for number in self)
        )


@dataclass(frozen=True)
class Gamma:
    """How probable a value may be for anybody, at most, given all releases that are views; `limits` for single values."""

    share: Fraction
    limits: Mapping[str, Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, share: Exact, limits: Mapping[str, Exact] | None = None) -> "Gamma":
        """By exact numbers; ParameterError where one is no share."""
        named = {
            str(value): fraction(limit, f"the limit of {value!r}", 0, 1)
            for value, limit in (limits or {}).items()
        }
        return cls(fraction(share, "gamma", 0, 1), named)

    def facts(self) -> dict[str, Any]:
        """As an entry has it."""
        return {
            "share": str(self.share),
            "limits": {value: str(limit) for value, limit in self.limits.items()},
        }

    def __str__(self) -> str:
        return ", ".join(
            [str(self.share), *(f"{value} {limit}" for value, limit in self.limits.items())]
        )


@owner_only
@dataclass(frozen=True)
class Entry:
    """One entry of a ledger.

    `what` is "created", "budget" or "gamma" (they were set anew), "reserved" (a release was about to be made, and counts as
    spent), "completed" (it was made, and its files could appear), "refused" (it was made, does not keep γ, and is gone),
    "remembered" (what it showed was added later) or "adopted" (the owner said that this copy of the ledger is the one that
    holds). `facts` are what belongs to it: of a release reserved its `epsilon` and `delta` (texts; None where nothing bounds
    it), `definition`, `unit`, `method`, `promise`, `columns` with their roles and `fingerprint`; of one completed the entry
    where it was `reserved`, its number (`release`), its `certificate`, what it has `shown` if that is views, how it stands
    `together` with others, and why the owner wanted it all the same (`override`); of an adoption how many entries were `lost`
    that the witness knew, and their `epsilon`, `delta`, `definition` and `unit`, which count as spent.
    """

    number: int
    what: Literal[
        "created", "budget", "gamma", "reserved", "completed", "refused", "remembered", "adopted"
    ]
    time: str
    facts: Mapping[str, Any]
    digest: str

    @classmethod
    def of(cls, link: Link) -> "Entry":
        """The entry of a link, without the secret key of the ledger."""
        facts = {
            name: fact for name, fact in link.content.items() if name not in ("what", "time", "key")
        }
        return cls(link.number, link.content["what"], link.content["time"], facts, link.digest)


@owner_only
@dataclass(frozen=True)
class Account:
    """The entries of a ledger at one moment."""

    entries: tuple[Entry, ...]

    @cached_property
    def reserved(self) -> list[Entry]:
        """The releases that count as spent: all that were ever reserved."""
        return [entry for entry in self.entries if entry.what == "reserved"]

    @cached_property
    def spending(self) -> list[Entry]:
        """The entries whose ε and δ are added up: releases, and what was lost when a copy was adopted."""
        lost = (entry for entry in self.entries if entry.what == "adopted" and entry.facts["lost"])
        return [*self.reserved, *lost]

    @cached_property
    def completed(self) -> dict[int, Entry]:
        """The entries that complete others, by the number of these."""
        return {
            entry.facts["reserved"]: entry for entry in self.entries if entry.what == "completed"
        }

    @cached_property
    def limit(self) -> tuple[Epsilon, Fraction] | None:
        """The budget that holds now, exactly."""
        last = [entry.facts for entry in self.entries if entry.what in ("created", "budget")][-1]
        return (
            None
            if last["epsilon"] is None
            else (Epsilon.of(last["epsilon"]), Fraction(last["delta"]))
        )

    @cached_property
    def refused(self) -> dict[int, Entry]:
        """The entries that refuse others, by the number of these."""
        return {entry.facts["reserved"]: entry for entry in self.entries if entry.what == "refused"}

    @cached_property
    def shown(self) -> dict[int, str]:
        """What releases showed, packed, by the number of the entry that reserved them."""
        some = [entry.facts for entry in self.entries if entry.what in ("completed", "remembered")]
        return {
            facts["reserved"]: facts["shown"] for facts in some if facts.get("shown") is not None
        }

    @cached_property
    def gamma(self) -> Gamma | None:
        """The γ that holds now; None if there is none."""
        last = [
            entry.facts.get("gamma") for entry in self.entries if entry.what in ("created", "gamma")
        ][-1]
        return None if last is None else Gamma.of(last["share"], last["limits"])

    @cached_property
    def epsilon(self) -> Epsilon | None:
        """The ε of all releases that have one; None if there are none, for 0 is no ε."""
        spent = [
            Epsilon.of(entry.facts["epsilon"])
            for entry in self.spending
            if entry.facts["epsilon"] is not None
        ]
        return total(spent) if spent else None

    @cached_property
    def delta(self) -> Fraction:
        """The δ of all releases, at most 1."""
        return min(
            Fraction(1),
            sum((Fraction(entry.facts["delta"] or 1) for entry in self.spending), Fraction(0)),
        )

    @cached_property
    def unit(self) -> str | None:
        """What all releases with an ε protect; None if there are none."""
        return next(
            (entry.facts["unit"] for entry in self.spending if entry.facts["unit"] is not None),
            None,
        )

    @cached_property
    def definition(self) -> str | None:
        """By which definition the sum holds: the weaker one of those that occur; None if there are none."""
        found = {entry.facts["definition"] for entry in self.spending} - {None}
        return next(iter(found)) if len(found) == 1 else "standard" if found else None

    @property
    def spent(self) -> Budget:
        """What is spent; ε is rounded up where it is a logarithm."""
        return Budget(self.epsilon.bounds()[1] if self.epsilon else Fraction(0), self.delta)

    @property
    def left(self) -> Budget | None:
        """What may still be spent; ε is rounded down where it is a logarithm. None if there is no bound."""
        if self.limit is None:
            return None
        return Budget(
            max(self.limit[0].bounds()[0] - self.spent.epsilon, Fraction(0)),
            self.limit[1] - self.delta,
        )

    @property
    def told(self) -> str:
        """What is spent, for people; a long ε is rounded up."""
        exact = amount(self.epsilon, self.delta)
        return exact if len(exact) < _LONG else self.spent.rounded(up=True)

    def require(self, wanted: Mapping[str, Any], method: str, path: Path) -> None:
        """BudgetError unless one more release may be made; `wanted` are its epsilon, delta and unit as an entry has them."""
        if wanted["unit"] is not None and self.unit not in (None, wanted["unit"]):
            raise BudgetError(
                f"the releases in {path} protect the unit {self.unit!r} and this one {wanted['unit']!r}; what they spend "
                "does not add up, so give the same unit, or use another ledger"
            )
        if self.limit is None:
            return
        if wanted["epsilon"] is None:
            raise BudgetError(
                f"{path} has a budget, and a release by {method} fits none: its promise has no ε, or its draws come from a seed; "
                "use a method that promises differential privacy, or a ledger without a budget"
            )
        epsilon, delta = Epsilon.of(wanted["epsilon"]), Fraction(wanted["delta"])
        if (
            self.limit[0] < (total([self.epsilon, epsilon]) if self.epsilon else epsilon)
            or self.limit[1] < self.delta + delta
        ):
            raise BudgetError(
                f"the release needs {amount(epsilon, delta)}, and {path} has spent {self.told} of a budget of "
                f"{amount(*self.limit)}; ask for less, or raise the budget knowingly with shoal ledger budget"
            )


def amount(epsilon: Epsilon | Fraction | None, delta: Fraction) -> str:
    """An ε and a δ for people, exactly.

    >>> amount(Epsilon.of("ln(2)"), Fraction("0.000012")), amount(None, Fraction(1, 3))
    ('ε ln(2), δ 1.2e-5', 'ε 0, δ 1/3')
    """
    return (
        f"ε {short(epsilon) if isinstance(epsilon, Fraction) else epsilon or 0}, δ {short(delta)}"
    )
