"""The adversary of a whole audit: what everyone who hears its answers and denials can work out."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from shoal.attack.transcript import Heard, possible
from shoal.attack.transcript_sums import ranges
from shoal.audit import Audit, Standing
from shoal.audit.model import Decision, Number
from shoal.audit.sums import Sums

__all__ = ["Told", "told"]

_ROUNDED = 1e-6  # of a width: what a solver may be off


@dataclass(frozen=True)
class Told:
    """Someone's value lies between two numbers that are closer to each other than the audit promises."""

    column: str
    person: int
    low: Number | float
    high: Number | float
    promised: Number


def told(audit: Audit) -> tuple[Told, ...]:
    """Everyone whose value is found out, or known more closely than promised, by all that an audit has replied.

    What is tried grows quickly with the number of queries; TooLargeError where it is too much.
    """
    return tuple(
        found for standing in audit.state() if standing.family for found in _of(audit, standing)
    )


def _of(audit: Audit, standing: Standing) -> Iterator[Told]:
    secret, family = standing.secret, standing.family
    assert family is not None
    auditor = secret.auditor(family, audit.people)
    entries = audit.entries(secret.column)
    transcript = [Heard(entry.people, _answer(entry)) for entry in entries]
    assert secret.width is not None  # a Secret sets it if nobody gives it
    promised = Fraction(secret.width)
    if isinstance(auditor, Sums):
        for person, each in enumerate(ranges(auditor, transcript)):
            if each.width < float(auditor.widths[person]) * (1 - _ROUNDED):
                yield Told(secret.column, person, each.low, each.high, promised)
        return
    for person, one in possible(auditor, transcript).items():
        if one.known is not None or one.width < promised:
            yield Told(secret.column, person, one.low, one.high, promised)


def _answer(entry: Decision) -> Number | None:
    return entry.value if entry.answered else None
