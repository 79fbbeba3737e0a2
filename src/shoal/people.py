"""Whose rows are whose: noticing people who are in a table several times, and drawing one row of each. Uses `tables`, `counts`
and `chance`; `measure`, `methods` and the doors use it.

Everything that counts records counts rows. Where a person has several, five rows of one look like a group of five people. So
`require_unit` refuses a table with repeated people unless somebody said which column tells them apart (a unit), or that every
row is a different person; and `drawn` leaves at most so many rows of each, after which rows are people.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts.counts import group
from shoal.errors import ColumnError, plural
from shoal.kinds import Kind
from shoal.tables import Role, Table

__all__ = ["Repeated", "drawn", "first_rows", "repeated", "require_unit"]

_NUMBERED = r"(?:id|ids|identifier|nr|no|num|number|key|code)"
_IDS = re.compile(
    r"id|[pu]id|uuid|guid|ssn|patient|person|participant|respondent|pseudonym"
    r"|(?:patient|person|people|participant|respondent|customer|client|user|member|subject|student|employee|individual|"
    rf"citizen|resident|insured|passport|social security) ?{_NUMBERED}"
)
"""What columns are called that number people: a value that is there twice is a person who is there twice."""
_NAMES = re.compile(r"(?:(?:first|last|full|sur|given|family|fore) ?)?name|e ?mail|phone|mobile")
"""What columns are called that name people: two people may share a value, and where another column tells all rows apart, do."""

_MOST_ROWS = 100  # of a person on average, beyond which a column that nobody named is not taken for one of people
_BY_ACCIDENT = log(1e6)  # less than once in a million


@dataclass(frozen=True)
class Repeated:
    """A column by which people are in a table several times: how many values it has, in how many rows, and whether it was
    declared identifying."""

    column: str
    values: int
    rows: int
    declared: bool

    def __str__(self) -> str:
        tells = "is identifying" if self.declared else "seems to tell people apart"
        return (
            f"column {self.column!r} {tells} and repeats: {plural(self.values, 'value')} in "
            f"{plural(self.rows, 'row')}"
        )


def repeated(
    table: Table, quasi: Sequence[str] = (), left_out: Iterable[str] = ()
) -> tuple[Repeated, ...]:
    """The columns by which people are evidently in several rows; a missing value is nobody's.

    These are identifying columns that repeat. Where another one, or one that is called as people are, tells all rows apart,
    they may be identifying only so as not to be released: then only those count that number people by their name, or whose
    rows agree in the `quasi` columns. Columns that were `left_out` count if they are called as people are, or if their rows
    agree so.
    """
    # What a column is that nobody looks at otherwise must not refuse a table, so missing values are a value here.
    whole = replace(table, missing="category")
    declared = table.having(Role.IDENTIFYING)
    called = [name for name in table.names if _called(_IDS, name) or _called(_NAMES, name)]
    others = [
        name
        for name in left_out
        if name not in declared and (name in called or (quasi and _worth_a_look(table, name)))
    ]
    counted = {name: rows for name in (*declared, *others) if (rows := _Rows.of(whole, name))}
    if all(rows.values == rows.rows for rows in counted.values()):
        return ()
    naming = {*declared, *called}
    has_key = any(
        (rows := counted.get(name) or _Rows.of(whole, name)) and rows.values == table.rows
        for name in naming
    )
    found = []
    for name, rows in counted.items():
        if rows.values == rows.rows:
            continue
        certain = name in naming and (not has_key or _called(_IDS, name))
        if certain or (quasi and _agree(whole, name, rows, quasi)):
            found.append(Repeated(name, rows.values, rows.rows, name in declared))
    return tuple(found)


def require_unit(table: Table, unit: str | None, aside: Iterable[str] = ()) -> None:
    """ColumnError if people are in several rows and nobody said whose rows belong together, or that rows are people.

    Columns `aside` are identifying only so as not to be released.
    """
    if unit is not None:
        table.require_people(unit)
        return
    if table.rows_are_people:
        return
    skipped = set(aside)
    if found := [one for one in repeated(table, table.quasi) if one.column not in skipped]:
        raise ColumnError(
            f"{found[0]}, so rows are not people and the promise would be about rows; name the column that tells people apart "
            f"as `unit`, such as {found[0].column!r}, or set `rows_are_people` if every row is a different person"
        )


def drawn(table: Table, unit: str, rows: int, chance: Chance) -> Table:
    """The table with at most so many rows of each person, drawn uniformly and independently of everything else.

    Its columns keep their types, whatever the rows drawn would suggest.
    """
    table.require_people(unit)
    chosen = first_rows(table.column(unit).codes, rows, chance)
    if len(chosen) == table.rows:
        return table
    return table.taking(chosen)


def first_rows(people: npt.NDArray[Any], rows: int, chance: Chance) -> npt.NDArray[np.intp]:
    """At most so many rows of each person, a uniform choice, independent between people."""
    order = chance.permutation(len(people))
    order = order[np.argsort(people[order], kind="stable")]
    sorted_people = people[order]
    starts = (
        np.flatnonzero(np.concatenate(([True], sorted_people[1:] != sorted_people[:-1])))
        if len(order)
        else order
    )
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return np.sort(order[place < rows])


# Which columns tell people apart


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows in which a column has a value, and how many values it has."""

    there: npt.NDArray[np.bool_]
    rows: int
    values: int

    @classmethod
    def of(cls, table: Table, name: str) -> "_Rows | None":
        """None where the values cannot be compared: they tell nobody apart."""
        try:
            column = table.column(name)
        except ColumnError:
            return None
        missing = [code for code, key in enumerate(column.keys) if key is None]
        there = ~np.isin(column.codes, missing)
        return cls(there, int(there.sum()), len(column.keys) - len(missing))


def _worth_a_look(table: Table, name: str) -> bool:
    """Whether a column has enough values to tell people apart, some of them more than once; cheaper than coding it."""
    try:
        values = table.frame.get_column(name).n_unique()
    except Exception:  # of lists and the like, each library has an error of its own
        return False
    return 0 < values < table.rows <= _MOST_ROWS * values


def _called(names: re.Pattern[str], name: str) -> bool:
    """Whether a column is called so: `patient_id`, `PatientID` and "Patient ID" alike."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", " ", name).lower()
    return names.fullmatch(" ".join(words.split())) is not None


def _agree(table: Table, name: str, rows: _Rows, quasi: Sequence[str]) -> bool:
    """Whether all rows with one value of a column have the same quasi-identifying values, far more often than by accident.

    That is so for at least half of the values that repeat. A single column, or several of which one decides the others, show
    nothing: a postal code decides the region. Nor do measures and dates, or values with very many rows.
    """
    if name in quasi or not rows.values < rows.rows <= _MOST_ROWS * rows.values:
        return False
    own, columns = table.column(name), table.columns(quasi)
    codes = [column.codes[rows.there] for column in columns]
    cards = [max(len(column.keys), 1) for column in columns]
    groups = group(quasi, codes, cards)
    if groups.distinct <= max(len(np.unique(column)) for column in codes):
        return False
    value = own.codes[rows.there]
    together = group([name, *quasi], [value, *codes], [max(len(own.keys), 1), *cards])
    repeats = np.bincount(value, minlength=len(own.keys)) > 1
    combinations = np.bincount(together.codes[0], minlength=len(own.keys))[repeats]
    agreeing = float((combinations == 1).mean())
    # Two rows drawn at random agree so often; more than two agree more rarely.
    by_accident = float(((groups.count / rows.rows) ** 2).sum())
    if agreeing < max(1 / 2, by_accident):
        return False
    unlikely = len(combinations) * _divergence(agreeing, by_accident) >= _BY_ACCIDENT
    return unlikely and not _measure(own.labels)


def _divergence(share: float, of: float) -> float:
    """How unlikely a share is where another is expected, as the exponent of Chernoff's bound."""
    parts = ((share, of), (1 - share, 1 - of))
    return sum(one * log(one / other) for one, other in parts if one)


def _measure(labels: Sequence[str]) -> bool:
    """Whether values are dates, or numbers of which some are not whole: amounts and times, which name nobody."""
    there = [label for label in labels if label]
    for kind in (Kind.DATE, Kind.FLOAT):
        try:
            keys = [kind.key(label) for label in there]
        except (ValueError, TypeError, OverflowError):
            continue
        return kind is Kind.DATE or any(key != int(key) for key in keys)  # type: ignore[arg-type]
    return False
