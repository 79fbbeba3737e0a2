"""What the entries of a ledger add up to: the budget, what is spent and what is left.

Uses `entries`; `Ledger` uses it.

Sums are plain composition: releases with (ε₁, δ₁) and (ε₂, δ₂) are (ε₁ + ε₂, δ₁ + δ₂) together, by
the standard and by the probabilistic definition, also where the data changed in between. A release
without a bound has δ = 1, which holds of anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from shoal.errors import BudgetError
from shoal.exact.epsilon import Epsilon, total
from shoal.exact.numbers import short
from shoal.ledger.entries import (
    Adopted,
    Allowance,
    BudgetSet,
    Completed,
    Cost,
    Created,
    Gamma,
    GammaSet,
    LedgerEntry,
    Refused,
    Remembered,
    Reserved,
)
from shoal.log.chain import Link
from shoal.privacy.promises import Promise
from shoal.zones import owner_only

__all__ = ["Account", "Budget", "amount"]

_LONG = 40  # characters of a sum that people still read

F = TypeVar("F")


class Budget(NamedTuple):
    """An amount of ε and of δ, as exact numbers.

    A δ of 1 promises nothing: a release without a bound was entered.
    """

    epsilon: Fraction
    delta: Fraction

    def rounded(self, *, up: bool) -> str:
        """For people, with six digits."""
        context = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
        epsilon, delta = (
            Fraction(context.divide(number.numerator, number.denominator)) for number in self
        )
        return amount(epsilon, delta)


@owner_only
@dataclass(frozen=True)
class Account:
    """The entries of a ledger at one moment."""

    entries: tuple[LedgerEntry[Any], ...]

    def _repr_html_(self) -> str:
        """The account as notebooks show it."""
        from shoal.ledger.cards import card_of_account

        return card_of_account(self).html()

    @classmethod
    def of(cls, chain: Sequence[Link]) -> "Account":
        """The account of a chain."""
        return cls(tuple(map(LedgerEntry.of, chain)))

    def of_kind(self, kind: type[F]) -> list[LedgerEntry[F]]:
        """The entries whose facts are of a kind, in their order."""
        return [entry for entry in self.entries if isinstance(entry.facts, kind)]

    # What was released

    @cached_property
    def reserved(self) -> list[LedgerEntry[Reserved]]:
        """The releases that count as spent: all that were ever reserved."""
        return self.of_kind(Reserved)

    @cached_property
    def completed(self) -> dict[int, LedgerEntry[Completed]]:
        """The entries that complete others, by the number of these."""
        return {entry.facts.reserved: entry for entry in self.of_kind(Completed)}

    @cached_property
    def refused(self) -> dict[int, LedgerEntry[Refused]]:
        """The entries that refuse others, by the number of these."""
        return {entry.facts.reserved: entry for entry in self.of_kind(Refused)}

    @cached_property
    def lost(self) -> list[LedgerEntry[Adopted]]:
        """The adoptions of copies that lacked entries."""
        return [entry for entry in self.of_kind(Adopted) if entry.facts.lost]

    @cached_property
    def shown(self) -> dict[int, str]:
        """What releases showed, packed, by the number of the entry that reserved them."""
        shown = {}
        for entry in self.entries:
            facts = entry.facts
            if isinstance(facts, Completed | Remembered) and facts.shown is not None:
                shown[facts.reserved] = facts.shown
        return shown

    def repeats(self, method: str) -> bool:
        """Whether a release by a method would be added to an earlier one by it, unchecked.

        With a γ, each release is checked together with all earlier ones.
        """
        methods = {entry.facts.method for entry in self.reserved}
        return self.gamma is None and method in methods

    # What it may cost

    @cached_property
    def limit(self) -> Allowance | None:
        """The budget that holds now, exactly."""
        limit = None
        for entry in self.entries:
            if isinstance(entry.facts, Created | BudgetSet):
                limit = entry.facts.budget
        return limit

    @cached_property
    def gamma(self) -> Gamma | None:
        """The γ that holds now; None if there is none."""
        gamma = None
        for entry in self.entries:
            if isinstance(entry.facts, Created | GammaSet):
                gamma = entry.facts.gamma
        return gamma

    # What it has cost

    @cached_property
    def spending(self) -> "list[LedgerEntry[Reserved | Adopted]]":
        """What is added up: releases, and what was lost when a copy was adopted."""
        return [*self.reserved, *self.lost]

    @cached_property
    def cost(self) -> Cost:
        """What all of it costs together. There is no ε if no release has one, for 0 is not an ε."""
        return Cost.total([entry.facts.cost for entry in self.spending])

    @property
    def epsilon(self) -> Epsilon | None:
        """The ε of all releases that have one."""
        return self.cost.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ of all releases, at most 1."""
        return self.cost.delta or Fraction(0)

    @property
    def spent(self) -> Budget:
        """What is spent; ε is rounded up where it is a logarithm."""
        epsilon = self.epsilon.bounds()[1] if self.epsilon else Fraction(0)
        return Budget(epsilon, self.delta)

    @property
    def left(self) -> Budget | None:
        """What may still be spent, an irrational ε rounded down; None if nothing limits it."""
        if self.limit is None:
            return None
        epsilon = self.limit.epsilon.bounds()[0] - self.spent.epsilon
        return Budget(max(epsilon, Fraction(0)), self.limit.delta - self.delta)

    @property
    def spent_text(self) -> str:
        """What is spent, for people; a long ε is rounded up."""
        exact = amount(self.epsilon, self.delta)
        return exact if len(exact) < _LONG else self.spent.rounded(up=True)

    def after(self, promise: Promise, method: str, path: Path) -> Budget | None:
        """What would be left after a release that promises this; None if nothing limits it.

        BudgetError if it may not be made.
        """
        cost = Cost.of(promise)
        self.require(cost, method, path)
        left = self.left
        if left is None or cost.epsilon is None or cost.delta is None:
            return left
        epsilon = left.epsilon - cost.epsilon.bounds()[1]
        return Budget(max(epsilon, Fraction(0)), left.delta - cost.delta)

    def require(self, cost: Cost, method: str, path: Path) -> None:
        """BudgetError unless one more release of that cost may be made."""
        unit = self.cost.unit
        if cost.unit is not None and unit not in (None, cost.unit):
            raise BudgetError(
                f"the earlier releases protect the unit {unit!r} and this one {cost.unit!r}, "
                "and what they spend does not add up",
                "give the same `unit`, or use another ledger",
                where=str(path),
            )
        if self.limit is None:
            return
        if cost.epsilon is None or cost.delta is None:
            raise BudgetError(
                f"the ledger has a budget, and a release by {method} cannot be charged to it: "
                "its promise has no ε, or its draws come from a seed",
                "use a method that promises differential privacy, or a ledger without a budget",
                where=str(path),
            )
        epsilon = total([self.epsilon, cost.epsilon]) if self.epsilon else cost.epsilon
        if self.limit.epsilon < epsilon or self.limit.delta < self.delta + cost.delta:
            raise BudgetError(
                f"the release needs {amount(cost.epsilon, cost.delta)}, and the ledger has spent "
                f"{self.spent_text} of a budget of {amount(*self.limit)}",
                "ask for less, or raise the budget knowingly with shoal ledger budget",
                where=str(path),
            )


def amount(epsilon: Epsilon | Fraction | None, delta: Fraction) -> str:
    """An ε and a δ for people, exactly.

    >>> amount(Epsilon.of("ln(2)"), Fraction("0.000012")), amount(None, Fraction(1, 3))
    ('ε ln(2), δ 1.2e-5', 'ε 0, δ 1/3')
    """
    text = short(epsilon) if isinstance(epsilon, Fraction) else str(epsilon or 0)
    return f"ε {text}, δ {short(delta)}"
