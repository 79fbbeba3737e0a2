"""What notebooks show of audits: no value, and no reply.

Uses `look`; `Audit` loads it when a notebook asks.
"""

from shoal.audit.book import Audit
from shoal.audit.overview import overview
from shoal.errors import plural
from shoal.look import Zone, entries
from shoal.look.notebooks import NOTHING, Card, first_of

__all__ = ["card_of_audit"]

_COLUMNS = 40
"""Secret columns that are listed."""


def card_of_audit(audit: Audit) -> Card:
    """The columns of an audit, and how many queries were answered and denied."""
    rows = []
    for column in overview(audit):
        own = column.settings
        bounds = f"{own.low or own.low_column or 'any'} to {own.high or own.high_column or 'any'}"
        family = own.family or NOTHING
        asked = [f"{column.answered:,}", f"{column.denied:,}"]
        rows.append([own.column, family, bounds, own.strategy, *asked])
    head = ["secret column", "answers", "values are public to be", "strategy", "answered", "denied"]
    public = ", ".join(f"{name} ({kind.value})" for name, kind in audit.public.items())
    parts = [
        entries([("public columns", public), ("kept in", audit.place)]),
        first_of("column", _COLUMNS, head, rows),
    ]
    return Card(f"Audit of {plural(audit.people, 'row')}", parts, Zone.OWNER)
