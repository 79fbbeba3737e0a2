"""What a promise about adding or removing one record means for replacing one by another.

Promises here are about neighbours of which one has a record more. Li and Li also look at neighbours
of the same size, of which one record differs. Every bound here is proven in
docs/proofs/neighbours.md. Uses `calculus` and `exact`; `explaining` uses it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from shoal.arguments import typed
from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon, rounded_up
from shoal.exact.numbers import Exact, short
from shoal.privacy.calculus import Definition, definition_of, delta_of

__all__ = ["Mechanism", "Replacement", "replaced"]

Mechanism = Literal["any", "counts", "sample"]
"""What is known of a method: nothing, that it is noisy counts, or that it samples as SafePub does
with a chance of at most 1 − e^−ε.

The last two are about single records, not about people with several rows.
"""

_SHOWN = 12
"""Digits of a δ that had to be rounded up."""


@dataclass(frozen=True)
class Replacement:
    """The (ε, δ) that is kept where one record is replaced by another.

    A δ of 1 promises nothing.
    """

    epsilon: Epsilon
    delta: Fraction
    definition: Definition

    @property
    def statement(self) -> str:
        """What it means, in words."""
        return (
            f"({self.epsilon}, {short(self.delta)}) where one record is replaced by another, "
            "instead of added or removed"
        )


@typed
def replaced(
    epsilon: Epsilon | Exact,
    delta: Exact,
    definition: Definition = "standard",
    *,
    mechanism: Mechanism = "any",
) -> Replacement:
    """What (ε, δ) for adding or removing a record promises where one is replaced by another.

    ε is doubled. δ becomes (1 + e^ε)δ for any method, and no method-independent bound is smaller.
    It stays δ for sampling with a chance of at most 1 − e^−ε, and for noisy counts by the
    probabilistic definition; by the standard one it is 1 − (1 − δ)² for these, for columns, and for
    sampling with a larger chance. Rounded up in the twelfth digit.

    >>> print(replaced("ln(2)", "1e-6", "standard").statement)
    (ln(4), 3e-6) where one record is replaced by another, instead of added or removed
    >>> float(replaced(1, "1e-6", mechanism="sample").delta)
    1e-06
    """
    exact, failing = Epsilon.of(epsilon), delta_of(delta, zero=True)
    kind = definition_of(definition)
    if mechanism not in get_args(Mechanism):
        raise ParameterError(
            "is unknown",
            "it takes 'any', 'counts' or 'sample'",
            option="mechanism",
            given=repr(mechanism),
        )
    if mechanism == "any":
        failing = _twice(exact, failing)
    elif mechanism == "counts" and kind == "standard":
        failing = 1 - (1 - failing) ** 2
    return Replacement(exact * 2, min(failing, Fraction(1)), kind)


def _twice(epsilon: Epsilon, delta: Fraction) -> Fraction:
    """(1 + e^ε)δ, rounded up where e^ε is irrational."""
    if not delta:
        return delta
    low, high = epsilon.exponential()
    exact = (1 + high) * delta
    return exact if low == high else rounded_up(exact, _SHOWN)
