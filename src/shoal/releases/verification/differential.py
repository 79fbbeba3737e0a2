"""Differential privacy, as far as several methods share it: ε and δ of a person and of a row.

`DifferentialClaim` is what a certificate says of them in three places, its promise, its parameters
and what was derived for a single row. Uses `numbers`; the checks of three methods use it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from shoal.errors import FileError, plural
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.numbers import (
    CLEARLY,
    MOST_STEPS,
    StatedEpsilon,
    as_decimal,
    digits_for,
    next_decimal,
    precision,
    whole,
)

__all__ = ["PROMISE", "DifferentialClaim", "first_likely_size"]

PROMISE = DifferentialPrivacy.name

_DIGITS_OF_DELTA = 12
"""Significant digits of a derived δ."""


@dataclass(frozen=True)
class DifferentialClaim:
    """ε, δ, definition and unit, wherever the certificate has them."""

    claims: Claims
    epsilon: StatedEpsilon
    """Of the promise, as is δ."""

    delta: Fraction
    definition: str
    promised_unit: str
    semantic_k: int | None
    given_epsilon: StatedEpsilon
    given_delta: Fraction
    unit: str | None
    """The column by which rows are bounded."""

    person: str | None
    """The column whose values are people: the unit, or that of a table of persons and items."""

    rows: int
    derived_rows: int
    row_delta: Fraction

    @classmethod
    def read(cls, claims: Claims) -> "DifferentialClaim":
        promise = claims.promise
        given = claims.parameters
        derived = claims.derived
        definition = promise.text("definition")
        stated = given.part.get("definition", "standard")
        if not stated == derived.part["definition"] == definition or definition not in (
            "probabilistic",
            "standard",
        ):
            raise FileError(
                "the promise, the parameters and what was derived from them "
                "do not name one definition"
            )
        unit = given.text_if_any("unit")
        return cls(
            claims,
            epsilon=promise.epsilon("epsilon"),
            delta=promise.number("delta"),
            definition=definition,
            promised_unit=promise.text("unit"),
            semantic_k=promise.part.get("semantic_k"),
            given_epsilon=given.epsilon("epsilon"),
            given_delta=given.number("delta"),
            unit=unit,
            person=given.part.get("person") or unit,
            rows=given.whole("rows"),
            derived_rows=derived.whole("rows"),
            row_delta=derived.number("delta"),
        )

    @property
    def row_epsilon(self) -> StatedEpsilon:
        """ε of a row, where a person has several."""
        return self.epsilon.times(Fraction(1, self.rows))

    @property
    def epsilon_text(self) -> str:
        return str(self.claims.certificate.promise["epsilon"])

    def faults(self) -> Iterator[str]:
        """Whether the three places agree, and the δ of a row is small enough."""
        same_epsilon = self.epsilon.equals(self.given_epsilon)
        if not same_epsilon or self.given_delta != self.delta:
            yield "epsilon or delta of the promise are not those of the parameters"
        if self.promised_unit != (self.person or "row"):
            yield "the unit of the promise is not that of the parameters"
        if self.person and self.definition != "standard" and self.delta:
            yield "people are bounded to a number of rows, which keeps the standard definition only"
        if self.person in self.claims.names:
            yield f"column {self.person!r}, which tells people apart, is released"
        if self.derived_rows != self.rows or (self.rows > 1 and not self.unit):
            yield (
                "how many rows a person may have differs between the parameters, "
                "what was derived from them, and the unit"
            )
        yield from self._row_delta_faults()

    def _row_delta_faults(self) -> Iterator[str]:
        rows = plural(self.rows, "row")
        if self.rows == 1 or not self.delta:
            if self.row_delta != self.delta:
                yield f"the delta of a row is too large for {rows}"
        elif self.row_delta > self.delta or not self._enough_together(self.row_delta):
            yield f"the delta of a row is too large for {rows}"
        # The next larger δ of a row must be too large, or this one was not derived.
        elif self._enough_together(next_decimal(self.row_delta, _DIGITS_OF_DELTA)):
            yield f"the delta of a row is not the one that {rows} ask for"

    def _enough_together(self, row_delta: Fraction) -> bool:
        """Whether the rows of a person, with this δ each, keep the ε and δ of the promise.

        The δ of each grows by e^ε of those after it.
        """
        digits = digits_for(self.row_epsilon, row_delta)
        person_power = self.epsilon.power(digits)[1]
        row_power = self.row_epsilon.power(digits)[0]
        spent = row_delta * (person_power - 1)
        return spent <= self.delta * (row_power - 1) * (1 + CLEARLY)


def first_likely_size(
    epsilon: StatedEpsilon, delta: Fraction, k: int | None, definition: str
) -> int | None:
    """How often a row must occur to be more likely than not to be released.

    The chances are those of docs/proofs/noisy-counts.md. None where nothing is withheld.
    """
    if k is None:
        return None
    digits = digits_for(epsilon, delta)
    with precision(digits):
        # Chances are multiples of one over this unit.
        unit = Decimal(1 << 128)
        spent = epsilon.value(digits)
        factor = spent.exp()
        root = (spent / 2).exp()
        lost = int(as_decimal(delta) * unit) / unit
        chance = Decimal(0)
        for size in range(whole(k), k + MOST_STEPS):
            if definition == "probabilistic":
                first = lost if size == k else root * chance
                bounds = [first, 1 - (1 - chance) / factor]
            else:
                bounds = [
                    root * chance + lost + lost / root,
                    factor * chance + lost,
                    1 - max(1 - chance - lost, Decimal(0)) / factor,
                ]
            chance = int(min(bounds) * unit) / unit
            if 2 * chance >= 1:
                return size
    raise FileError("the chances of the certificate are too small to be derived again")
