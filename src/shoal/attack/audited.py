"""The adversary of a whole audit: what everyone who hears its answers and denials can work out.

Uses the adversaries of single columns, `transcript` and `transcript_sums`; the command line uses
it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.attack.transcript import Heard, all_wide, possible
from shoal.attack.transcript_sums import narrow
from shoal.audit import Audit, Secret
from shoal.audit.maxima import Maxima
from shoal.audit.model import Auditor, Number
from shoal.audit.sums import Sums
from shoal.errors import TooLargeError
from shoal.zones import owner_only

__all__ = ["Disclosed", "disclosed"]


@owner_only
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
    values: list[Disclosed] = []
    for state in audit.state():
        if state.family is not None:
            auditor = audit.auditor(state.secret.column, state.family)
            values.extend(_of_column(audit, state.secret, auditor))
    return tuple(values)


def _of_column(audit: Audit, secret: Secret, auditor: Auditor[Any]) -> Iterator[Disclosed]:
    assert secret.width is not None  # a Secret sets it if nobody gives it
    decisions = audit.entries(secret.column)
    transcript = [Heard(decision.people, decision.reply) for decision in decisions]
    promised = Fraction(secret.width)
    if isinstance(auditor, Sums):
        for person, values in narrow(auditor, transcript).items():
            yield Disclosed(secret.column, person, values.low, values.high, promised)
        return
    try:
        known = possible(auditor, transcript)
    except TooLargeError:
        if not (isinstance(auditor, Maxima) and all_wide(auditor, transcript, decisions)):
            raise
        return
    for person, value in known.items():
        if value.known is not None or value.width < promised:
            yield Disclosed(secret.column, person, value.low, value.high, promised)
