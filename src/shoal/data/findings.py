"""What a table's columns look like: of which type their values are written, and what is odd.

A wrong guess costs a person's trust, or a release: postal codes read as numbers lose their zeros, a
file without names loses a record. So whoever reads a table is told what was found, and why. Uses
`tables`; `recipe` drafts by it, and the workbench shows it. What is found reveals information about
the rows, and is the owner's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import polars as pl

from shoal.data.kinds import Kind
from shoal.data.sources import Memory, Reading
from shoal.data.tables import Table
from shoal.data.values import fitting_forms, fitting_marks, fitting_moments
from shoal.errors import ShoalError
from shoal.zones import owner_only

__all__ = [
    "FINDINGS",
    "ColumnFinding",
    "FoundColumn",
    "Wording",
    "find",
    "find_column",
    "written_kind",
]

Weight = Literal["why", "note", "odd", "wrong"]
"""Why a type was found; what is worth knowing, worth a look, or certainly wrong."""

_CANONICAL_INTEGER = r"^(?:0|-?[1-9][0-9]{0,17})$"
"""Whole numbers as Shoal writes them, of so few digits that all of them fit."""

_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"
_FIXED = r"^-?(?:0|[1-9][0-9]{0,8})\.[0-9]{1,6}$"
"""Numbers with decimals, of so few digits that all of them fit."""

_DECIMAL_COMMA = r"^[+-]?[0-9]+(?:\.[0-9]{3})*,[0-9]+$"
_OTHER_DATE = (
    r"^[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})$"
    r"|^[0-9]{4}[/.][0-9]{1,2}[/.][0-9]{1,2}$"
)
_MOMENT = (
    r"^(?:[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})|[0-9]{4}[/.-][0-9]{1,2}[/.-][0-9]{1,2})"
    r"[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?[AaPp][Mm])?$"
)
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_DIGITS = r"^[0-9]+$"
_ZEROS = r"^[+-]?0[0-9]+$"
_LOST = "\N{REPLACEMENT CHARACTER}"

_STAND_INS = (
    *("na", "n/a", "#n/a", "nan", "null", "nil", "none", "missing", "unknown", "undefined"),
    *("?", "-", "--", ".", "..", "not available", "not known", "k.a.", "k. a.", "unbekannt"),
    "keine angabe",
)
"""Texts that people write for a value that is missing."""

_MOSTLY = 0.8
"""The share of a column's values from which the others look like mistakes."""


class Wording(NamedTuple):
    """How a finding is told.

    brief: without figures
    full: with them, at {names}
    """

    weight: Weight
    brief: str
    full: str


FINDINGS: Mapping[str, Wording] = {
    "whole numbers": Wording(
        "why", "all values are whole numbers", "all {distinct} values are whole numbers"
    ),
    "numbers": Wording("why", "all values are numbers", "all {distinct} values are numbers"),
    "dates": Wording("why", "all values are dates", "all {distinct} values are dates"),
    "digits": Wording(
        "why",
        "its values are digits, and kept as texts so that no 0 in front is lost",
        "its {distinct} values are digits, and kept as texts so that no 0 in front is lost",
    ),
    "texts": Wording(
        "why",
        "none of its values is a number or a date",
        "none of its {distinct} values is a number or a date",
    ),
    "mixed": Wording(
        "why",
        "not all of its values are numbers or dates",
        "not all of its {distinct} values are numbers or dates",
    ),
    "stored": Wording("why", "the source says so", "the source says so"),
    "no values": Wording("why", "there is no value to tell by", "there is no value to tell by"),
    "zeros": Wording(
        "note",
        "some values begin with a 0 that a number would lose",
        "{number} of {distinct} values begin with a 0 that a number would lose",
    ),
    "misfits": Wording(
        "wrong",
        "some values are not of this type",
        "{number} of {distinct} values are not of this type",
    ),
    "loses zeros": Wording(
        "wrong",
        "as this type, some values lose their leading 0",
        "as this type, {number} of {distinct} values lose their leading 0",
    ),
    "mostly": Wording(
        "odd",
        "most values are numbers or dates, but not all",
        "all but {number} of {distinct} values are numbers or dates",
    ),
    "decimal comma": Wording(
        "odd",
        "its numbers have decimal commas, so they are read as texts",
        "its numbers have decimal commas, so they are read as texts",
    ),
    "other dates": Wording(
        "odd",
        "its dates are not written as 2024-02-29, so they are read as texts",
        "its dates are not written as 2024-02-29, so they are read as texts",
    ),
    "moments": Wording(
        "odd",
        "its dates have a time of the day, so they are read as texts",
        "its dates have a time of the day, so they are read as texts",
    ),
    "fixed decimals": Wording(
        "odd",
        "it has numbers or codes such as 12.50, whose last 0 a number would lose",
        "it has numbers or codes such as 12.50, whose last 0 a number would lose",
    ),
    "stand-ins": Wording(
        "odd",
        "texts such as NA or ? count as values, not as missing",
        "texts such as NA or ?, which count as values, not as missing: {number}",
    ),
    "variants": Wording(
        "odd",
        "some values differ from another only in case or blanks",
        "values that differ from another only in case or blanks: {number}",
    ),
    "lost": Wording(
        "wrong",
        "some values have lost characters, from an encoding that was misread",
        "values with lost characters, from an encoding that was misread: {number}",
    ),
    "one value": Wording("odd", "every row has the same value", "every row has the same value"),
    "empty": Wording("odd", "every value is missing", "every value is missing"),
    "not comparable": Wording(
        "wrong",
        "it holds lists, records or bytes, which cannot be used",
        "it holds lists, records or bytes, which cannot be used",
    ),
}
"""What can be found about a column."""


@dataclass(frozen=True)
class ColumnFinding:
    """One thing that was found about a column.

    >>> str(ColumnFinding("stand-ins", {"number": 2}))
    'texts such as NA or ?, which count as values, not as missing: 2'
    """

    code: str
    values: Mapping[str, int] = field(default_factory=dict)
    forms: tuple[str, ...] = ()
    """What `shoal.read` may be told: how its dates may be written, the marks of its numbers, or
    texts that people write for missing values. No other text of a table is ever here."""

    @property
    def wording(self) -> Wording:
        """How it is told, and how much it matters."""
        return FINDINGS[self.code]

    def __str__(self) -> str:
        figures = {name: f"{value:,}" for name, value in self.values.items()}
        return self.wording.full.format(**figures)


@owner_only
@dataclass(frozen=True)
class FoundColumn:
    """A column as its values are.

    kind: the type that fits all of them as they are written
    missing: how many rows have no value
    distinct: how many different values the others have
    why: how the type was found
    """

    name: str
    kind: Kind
    rows: int
    missing: int
    distinct: int
    why: ColumnFinding
    oddities: tuple[ColumnFinding, ...] = ()


def find(
    table: Table, progress: Callable[[int, int, str], None] | None = None
) -> tuple[FoundColumn, ...]:
    """What the columns of a table look like, given the types that it has been declared to have.

    Rows that are elsewhere are gone through once for each column.
    """
    found = []
    if table.rows and isinstance(table.source, Memory):
        # All at once, which is faster.
        with suppress(ShoalError):
            table.source.values([Reading(name, table.source.kind(name)) for name in table.names])
    for place, name in enumerate(table.names):
        if progress:
            progress(place, len(table.names), "looking at the columns")
        found.append(find_column(table, name))
    return tuple(found)


def find_column(table: Table, name: str) -> FoundColumn:
    """What a column of a table looks like."""
    rows = table.rows
    try:
        own = table.source.kind(name)
        keys = table.source.values([Reading(name, own)])[0]
        known, distinct = table.source.known(Reading(name, own))
    except ShoalError:
        why = ColumnFinding("not comparable")
        return FoundColumn(name, Kind.TEXT, rows, 0, 0, why, (why,))
    missing = rows - known
    kind, why = own, ColumnFinding("stored")
    oddities: list[ColumnFinding] = []
    if own is Kind.TEXT:
        texts = pl.Series([key for key in keys if key is not None], dtype=pl.String)
        kind, why = _written(texts)
        if table.types.get(name) is Kind.FLOAT and len(texts) and _has_fixed_decimals(texts):
            # Somebody has said that they are numbers, not codes.
            kind, why = Kind.FLOAT, ColumnFinding("numbers", {"distinct": len(texts)})
        oddities += _oddities(texts, kind, table.types.get(name))
    elif name in table.types and table.types[name] is not own:
        labels = [own.text(key) for key in keys if key is not None]
        oddities += _misfits(pl.Series(labels, dtype=pl.String), table.types[name])
    if not distinct:
        oddities.append(ColumnFinding("empty"))
    elif distinct == 1 and not missing and rows > 1:
        oddities.append(ColumnFinding("one value"))
    return FoundColumn(name, kind, rows, missing, distinct, why, tuple(oddities))


def written_kind(table: Table, name: str) -> Kind:
    """The type that all values of a column have as they are written; a declared one stays.

    01234 is text, since its 0 would be lost. Only whole floats may end in .0, as other programs
    write them.
    """
    declared = table.kind(name)
    if declared is not Kind.TEXT:
        return declared
    texts = pl.Series([text for text in table.labels(name) if text], dtype=pl.String)
    return _written(texts)[0]


def _written(texts: pl.Series) -> tuple[Kind, ColumnFinding]:
    """The type that fits all texts as they are written, and how it was found."""
    number = {"distinct": len(texts)}
    if not len(texts):
        return Kind.TEXT, ColumnFinding("no values")
    if texts.str.contains(_CANONICAL_INTEGER).all() or _all(texts, Kind.INTEGER, _NUMBER):
        return Kind.INTEGER, ColumnFinding("whole numbers", number)
    if _all(texts, Kind.FLOAT, _NUMBER):
        return Kind.FLOAT, ColumnFinding("numbers", number)
    if _all(texts, Kind.DATE, _DATE):
        return Kind.DATE, ColumnFinding("dates", number)
    if texts.str.contains(_DIGITS).all() and texts.str.contains(_ZEROS).any():
        return Kind.TEXT, ColumnFinding("digits", number)
    some = texts.str.contains(f"{_NUMBER}|{_DATE}").any()
    return Kind.TEXT, ColumnFinding("mixed" if some else "texts", number)


def _all(texts: pl.Series, kind: Kind, form: str) -> bool:
    """Whether all texts are written as Shoal writes values of a type."""
    ending = ".0" if kind is Kind.FLOAT else ""
    if not texts.str.contains(form).all():
        return False
    try:
        return all(kind.text(kind.key(text)) == text.removesuffix(ending) for text in texts)
    except (ValueError, TypeError):
        return False


def _oddities(texts: pl.Series, kind: Kind, declared: Kind | None) -> Iterator[ColumnFinding]:
    """What is odd about the values of a column of texts."""
    distinct = len(texts)
    if not distinct:
        return
    if declared is not None and declared not in (kind, Kind.TEXT):
        yield from _misfits(texts, declared)
    lost = int(texts.str.contains(_LOST, literal=True).sum())
    if lost:
        yield ColumnFinding("lost", {"number": lost})
    if kind is not Kind.TEXT:
        return
    zeros = int(texts.str.contains(_ZEROS).sum())
    if zeros:
        yield ColumnFinding("zeros", {"number": zeros, "distinct": distinct})
    folded = texts.str.strip_chars().str.to_lowercase()
    stand_ins = folded.is_in(_STAND_INS)
    if stand_ins.any() and distinct > 1:
        forms = tuple(texts.filter(stand_ins).sort())
        yield ColumnFinding("stand-ins", {"number": int(stand_ins.sum())}, forms)
    for finding in _nearly(texts.filter(~stand_ins), zeros):
        # Texts that stand for missing values are neither numbers nor dates.
        yield finding if not stand_ins.any() else replace(finding, forms=())
    variants = distinct - folded.n_unique()
    if variants:
        yield ColumnFinding("variants", {"number": variants})


def _nearly(texts: pl.Series, zeros: int) -> Iterator[ColumnFinding]:
    """Numbers and dates that are written in another way, or that most values are."""
    distinct = len(texts)
    if texts.str.contains(_DECIMAL_COMMA).any() and _share(texts, _DECIMAL_COMMA) >= 1 / 2:
        yield ColumnFinding("decimal comma", forms=fitting_marks(texts) or ())
    elif _share(texts, _OTHER_DATE) >= _MOSTLY:
        yield ColumnFinding("other dates", forms=fitting_forms(texts))
    elif _share(texts, _MOMENT) >= _MOSTLY:
        yield ColumnFinding("moments", forms=fitting_moments(texts))
    elif distinct > 1 and _has_fixed_decimals(texts):
        yield ColumnFinding("fixed decimals")
    elif not zeros and distinct > 1:
        others = distinct - int(texts.str.contains(f"{_NUMBER}|{_DATE}").sum())
        if others and 1 - others / distinct >= _MOSTLY:
            yield ColumnFinding("mostly", {"number": others, "distinct": distinct})


def _has_fixed_decimals(texts: pl.Series) -> bool:
    """Whether all texts are numbers with as many decimals: as numbers, no two become one."""
    if not texts.str.contains(_FIXED).all() or texts.str.contains(r"^-0\.0+$").any():
        return False
    return texts.str.extract(r"\.([0-9]+)$").str.len_chars().n_unique() == 1


def _share(texts: pl.Series, form: str) -> float:
    return int(texts.str.contains(form).sum()) / max(len(texts), 1)


def _misfits(texts: pl.Series, declared: Kind) -> Iterator[ColumnFinding]:
    """Values that are not of the declared type, or that lose something by it."""
    distinct = len(texts)
    misfits = _misfitting(texts, declared)
    if misfits:
        yield ColumnFinding("misfits", {"number": misfits, "distinct": distinct})
    if declared in (Kind.INTEGER, Kind.FLOAT):
        zeros = int(texts.str.contains(_ZEROS).sum())
        if zeros:
            yield ColumnFinding("loses zeros", {"number": zeros, "distinct": distinct})


def _misfitting(texts: Sequence[str] | pl.Series, kind: Kind) -> int:
    if kind is Kind.TEXT:
        return 0
    misfits = 0
    for text in texts:
        try:
            kind.key(text)
        except (ValueError, TypeError, OverflowError):
            misfits += 1
    return misfits
