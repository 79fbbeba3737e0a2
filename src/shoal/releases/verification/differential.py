"""Differential privacy, as far as several methods share it: ε and δ of a person and of a row.

`DifferentialClaim` is what a certificate says of them in three places, its promise, its parameters
and what was derived for a single row; `NoiseClaim` what it says of the noise of counts. Uses
`numbers`; the checks of three methods use it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

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
    noise_scale,
    precision,
    whole,
)
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["PROMISE", "DifferentialClaim", "NoiseClaim", "first_likely_size", "smallest_bounds"]

PROMISE = DifferentialPrivacy.name

_DIGITS_OF_DELTA = 12
"""Significant digits of a derived δ."""

_NOT_LIKELY = (
    "the number of records from which a row is more likely than not to be released "
    "does not follow from epsilon, delta and k"
)


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


@dataclass(frozen=True)
class NoiseClaim:
    """What a certificate says of the noise of counts."""

    given: str
    derived: str | None
    """None where there is no δ, and every row gets a count with noise of this scale."""

    scale: Fraction | None
    bound: int | None
    threshold: int | None
    """The smallest count that is released."""

    half: int | None
    """How often a row must occur to be more likely than not to be released."""

    @classmethod
    def read(cls, claims: Claims) -> "NoiseClaim":
        derived = claims.derived
        return cls(
            given=claims.parameters.text("noise"),
            derived=derived.text_if_any("noise"),
            scale=derived.number_if_any("scale"),
            bound=derived.whole_if_any("bound"),
            threshold=derived.whole_if_any("threshold"),
            half=derived.whole_if_any("half"),
        )

    def faults(
        self, epsilon: StatedEpsilon, delta: Fraction, k: int | None, definition: str
    ) -> Iterator[str]:
        """Whether the noise follows from the ε, δ and k of a count."""
        if self.given not in ("bounded", "printed"):
            yield NOT_TAKEN
        elif self.derived != (None if k is None else self.given):
            yield "the noise is not that of the parameters"
        elif k is None:
            yield from self._scale_faults(noise_scale(epsilon, 1))
            if (self.bound, self.threshold, self.half) != (None, None, None):
                yield "without a delta nothing is withheld, and the certificate says what is"
        elif self.given == "bounded":
            yield from self._bound_faults(epsilon, delta, k, definition)
        else:
            yield from self._matrix_faults(epsilon, delta, k, definition)

    def _scale_faults(self, scale: Fraction) -> Iterator[str]:
        if self.scale is None or self.scale < scale:
            yield "the noise is narrower than epsilon asks for"
        elif self.scale > scale:
            yield "the noise is wider than epsilon asks for: it was not derived from it"

    def _matrix_faults(
        self, epsilon: StatedEpsilon, delta: Fraction, k: int, definition: str
    ) -> Iterator[str]:
        # Half of ε is for the noise, the other half for what is withheld.
        yield from self._scale_faults(noise_scale(epsilon, 2))
        if self.bound is not None or self.threshold != k:
            yield "the printed noise has no bound, and its smallest count is k"
        if self.half != first_likely_size(epsilon, delta, k, definition):
            yield _NOT_LIKELY

    def _bound_faults(
        self, epsilon: StatedEpsilon, delta: Fraction, k: int, definition: str
    ) -> Iterator[str]:
        if definition != "standard":
            yield "bounded noise keeps the standard definition only"
        least, most = smallest_bounds(epsilon, delta)
        bound = self.bound or 0
        if bound < least:
            yield "the bound of the noise is smaller than epsilon and delta allow"
        elif bound > most:
            yield "the bound of the noise is larger than epsilon and delta ask for"
        if self.threshold != bound + k:
            yield "the smallest count that is released is not the bound of the noise and k together"
        # The noise is as likely above 0 as below, so the threshold itself is the first.
        if self.half != bound + k:
            yield _NOT_LIKELY
        if self.scale is not None:
            yield "bounded noise has no scale"


def smallest_bounds(epsilon: StatedEpsilon, delta: Fraction) -> tuple[int, int]:
    """The smallest bound of noise that keeps ε and δ, and the largest that rounding may make of it.

    By theorem 2 of docs/proofs/bounded-noise.md it is the first b with
    e^(εb) ≥ ((e^ε − 1) / δ + 2) / (e^ε + 1). Probabilities are rounded down to multiples of 2^−128.
    """
    digits = digits_for(epsilon, delta)
    with precision(digits):
        spent = epsilon.value(digits)
        factor = spent.exp()
        lost = as_decimal(delta)
        real = (((factor - 1) / lost + 2) / (factor + 1)).ln() / spent
        # Each probability lacks less than one multiple, and none is much below δ.
        rounding = (real + 2) / (lost * (1 << 128)) / spent
        unsure = as_decimal(CLEARLY) * (1 + real)
        return ceil(real - unsure), ceil(real + unsure + rounding)


def first_likely_size(epsilon: StatedEpsilon, delta: Fraction, k: int, definition: str) -> int:
    """How often a row must occur to be more likely than not to be released by the printed matrix.

    The chances are those of docs/proofs/noisy-counts.md.
    """
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
