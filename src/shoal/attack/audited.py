"""The adversary of a whole audit: what everyone who hears its answers and denials can work out.

Uses the adversaries of single columns, `transcript` and `transcript_sums`; the command line uses
it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from shoal.attack.transcript import Heard, possible
from shoal.attack.transcript_sums import ranges
from shoal.audit import Audit, SecretState
from shoal.audit.model import Number
from shoal.audit.sums import Sums

__all__ = ["Disclosed", "disclosed"]

_ROUNDED = 1e-6
"""Of a width: the error a solver may make."""


@dataclass(frozen=True)
class Disclosed:
    """Someone's value lies between two numbers that are closer together than the audit promises."""

    column: str
    person: int
    low: Number | float
    high: Number | float
    promised: Number


def disclosed(audit: Audit) -> tuple[Disclosed, ...]:
    """Everyone whose value all replies of an audit reveal more closely than promised.

    The work grows quickly with the number of queries; TooLargeError where it is too much.
    """
    by_column = [_of_column(audit, standing) for standing in audit.state() if standing.family]
    return tuple(each for column in by_column for each in column)


def _of_column(audit: Audit, standing: SecretState) -> Iterator[Disclosed]:
    secret, family = standing.secret, standing.family
    assert family is not None
    assert secret.width is not None  # a Secret sets it if nobody gives it
    auditor = secret.auditor(family, audit.people)
    decisions = audit.entries(secret.column)
    transcript = [Heard(decision.people, decision.reply) for decision in decisions]
    promised = Fraction(secret.width)
    if isinstance(auditor, Sums):
        for person, values in enumerate(ranges(auditor, transcript)):
            if values.width < float(auditor.widths[person]) * (1 - _ROUNDED):
                yield Disclosed(secret.column, person, values.low, values.high, promised)
        return
    for person, value in possible(auditor, transcript).items():
        if value.known is not None or value.width < promised:
            yield Disclosed(secret.column, person, value.low, value.high, promised)
