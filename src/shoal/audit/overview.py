"""What a door shows of an audit: its secret columns, a first query, its transcript in pages.

Uses `Audit`, by what is public of it; the command line and the service use it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from shoal.audit import Audit, Line, Query
from shoal.audit.model import Strategy
from shoal.exact.numbers import Exact, printed
from shoal.look.charts import ChartAxis, bars
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.zones import owner_only

__all__ = [
    "ColumnOverview",
    "ColumnSettings",
    "TranscriptPage",
    "first_query",
    "overview",
    "queries_of",
    "transcript_page",
]


@dataclass(frozen=True)
class ColumnSettings:
    """A secret column, and what is public of its values. Numbers are exact texts.

    family: what is answered; None until the first query decides
    """

    column: str
    family: str | None
    low: str | None
    high: str | None
    width: str
    integers: bool
    distinct: bool
    strategy: Strategy
    dither: bool
    unit: str | None
    low_column: str | None = None
    high_column: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@owner_only
@dataclass(frozen=True)
class ColumnOverview:
    """A secret column, and how many queries about it were answered and denied (owner only)."""

    settings: ColumnSettings
    answered: int
    denied: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **self.settings.to_dict(),
            "answered": self.answered,
            "denied": self.denied,
        }


def overview(audit: Audit) -> tuple[ColumnOverview, ...]:
    """Every secret column of an audit."""
    columns = []
    for state in audit.state():
        secret = state.secret
        settings = ColumnSettings(
            column=secret.column,
            family=secret.family or state.family,
            low=_text(secret.low),
            high=_text(secret.high),
            width=printed(Fraction(secret.width or 1)),
            integers=bool(secret.integers),
            distinct=secret.distinct,
            strategy=secret.strategy,
            dither=secret.dither,
            unit=_text(secret.unit),
            low_column=secret.low_column,
            high_column=secret.high_column,
        )
        columns.append(ColumnOverview(settings, state.answered, state.denied))
    return tuple(columns)


def queries_of(columns: Sequence[ColumnOverview]) -> Picture:
    """How many queries were answered and denied."""
    answered = sum(column.answered for column in columns)
    asked = answered + sum(column.denied for column in columns)
    shown = [
        (one.settings.column, {"answered": float(one.answered), "denied": float(one.denied)})
        for one in columns
    ]
    return Picture(
        title=f"{answered:,} of {asked:,} queries about secret columns were answered",
        sentence="Queries about each secret column that were answered and that were denied.",
        head=["column", "answered", "denied"],
        rows=[[one.settings.column, f"{one.answered:,}", f"{one.denied:,}"] for one in columns],
        draw=partial(bars, shown, ChartAxis("queries"), colours=("after", "before")),
        zone=Zone.OWNER,
    )


def _text(number: Exact | None) -> str | None:
    return None if number is None else printed(Fraction(number))


def first_query(audit: Audit) -> Query:
    """A query that a new audit answers, whatever the values are."""
    secret = audit.secrets[0]
    bounded = secret.low is not None or secret.high is not None
    if secret.strategy == "simulatable" and bounded:
        # it may deny every query about values
        return Query("count", None)
    return Query(secret.families(audit.people)[0], secret.column)


@dataclass(frozen=True)
class TranscriptPage:
    """Lines of a transcript, in the order in which they were asked.

    next: how many lines to pass over for those that follow; None if there are no more
    """

    lines: tuple[Line, ...]
    next: int | None


def transcript_page(audit: Audit, after: int, most: int, characters: int) -> TranscriptPage:
    """A page of the transcript: at most this many lines, and characters of queries.

    It has at least one line, if there is any. A query that lists people can be as long as the list.
    """
    lines = audit.transcript(after, most)
    fitting = _fitting(lines, characters)
    more = len(fitting) < len(lines) or len(lines) == most
    return TranscriptPage(fitting, after + len(fitting) if more else None)


def _fitting(lines: tuple[Line, ...], characters: int) -> tuple[Line, ...]:
    length = 0
    for place, line in enumerate(lines):
        length += len(line.query)
        if place and length > characters:
            return lines[:place]
    return lines
