"""Whose rows are whose: noticing people who are in a table several times, and drawing one row of
each. Uses `tables`, `counts` and `chance`; `measure`, `methods` and the doors use it.

Everything that counts records counts rows. Where a person has several, five rows of one look like a
group of five people. So `require_unit` refuses a table with repeated people unless somebody said
which column tells them apart (a unit), or that every row is a different person; and `drawn` leaves
at most so many rows of each, after which rows are people.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from shoal.data.kinds import Kind
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, plural

__all__ = ["Repeated", "repeated", "require_once", "require_unit"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WHO = _set(
    "patient patienten person participant respondent subject subj subjekt user employee customer "
    "client student pupil pid ssn mrn pnr personnummer pseudonym"
)
"""What people are called: a column that is called so numbers them, with "id" or without."""
_WHOSE = _set(
    "people persons patients pers pat individual member citizen resident insured passport voter "
    "bene beneficiary subscriber donor account national nhs social security kunde kunden mitarbeiter teilnehmer versicherten"
)
"""What numbers of people are called, where another word says that they are numbers."""
_ROWS = _set("record case study hadm admission row line")
"""What numbers of rows are called, which may be numbers of people too."""
_ID = _set("id ids identifier key uuid guid uid")
_NUMBER = _ID | _set("nr no num number nummer code")
_NAME = _set("name email mail phone telephone mobile vorname nachname")
"""What columns are called that name people: two people may share a value."""
_PART = _set("first last given family fore sur vorname nachname")
"""What says that only a part of a name is meant, which very many people may share."""
_FILLING = _PART | _set("of the des der full unique hashed e")

_KNOWN = _WHO | _WHOSE | _ROWS | _NUMBER | _NAME | _FILLING | {"address"}
_ANY = "|".join(sorted(_KNOWN, key=lambda word: (-len(word), word)))
_JOINED = re.compile(rf"({_ANY})({_ANY})?({_ANY})?")
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W\d_]+")

_MOST_ROWS = 100
"""Rows of a person on average; with more, a column that nobody declared does not name people."""
_NAMESAKES = 2
"""Rows of a name on average; from that many, they are not people who happen to share it."""
_BY_ACCIDENT = log(1e6)  # less than once in a million


@dataclass(frozen=True)
class Repeated:
    """A column by which people are in a table several times: how many values it has, in how many
    rows, and whether it was declared identifying."""

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

    These are identifying columns that repeat, and columns that were `left_out` and are called as
    people are, unless they have too few values for that. A name, or an account, may repeat where a
    number of people tells all rows apart, as far as people happen to share it. What is not called
    as people are may repeat where anything identifying tells all rows apart: it may be identifying
    only so as not to be released. In any case those count whose rows agree in the `quasi` columns.
    """
    # What a column is that nobody looks at otherwise must not refuse a table, so missing values are
    # a value here.
    whole = replace(table, missing="category")
    declared = table.having(Role.IDENTIFYING)
    called = {name: words for name in table.names if (words := _Words.of(name))}
    others = [
        name
        for name in left_out
        if name not in declared and (name in called or (quasi and _worth_a_look(table, name)))
    ]
    counted = {
        name: rows for name in (*declared, *others) if (rows := _Identifiers.of(whole, name))
    }
    if all(rows.values == rows.rows for rows in counted.values()):
        return ()
    keys = [
        name
        for name in dict.fromkeys((*declared, *called))
        if (rows := counted.get(name) or _Identifiers.of(whole, name)) and rows.values == table.rows
    ]
    has_person_key = any(name in called and called[name].tell_people for name in keys)
    found = []
    for name, rows in counted.items():
        if rows.values == rows.rows:
            continue
        words = called.get(name)
        if words is None:
            certain = name in declared and not keys
        elif name not in declared and rows.rows > _MOST_ROWS * rows.values:
            certain = False
        else:
            shared = (words.name and words.part) or rows.rows < _NAMESAKES * rows.values
            certain = not (has_person_key and shared)
        if certain or (quasi and _agree(whole, name, rows, quasi)):
            found.append(Repeated(name, rows.values, rows.rows, name in declared))
    return tuple(found)


def require_unit(table: Table, unit: str | None, aside: Iterable[str] = ()) -> None:
    """ColumnError if people are in several rows and nobody said whose rows belong together, or that
    rows are people.

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
            f"{found[0]}, so rows are not people and the promise would be about rows",
            "name the column that tells people apart as `unit`, such as "
            f"{found[0].column!r}, or set `rows_are_people` if every row is a different person",
        )


def require_once(
    table: Table, quasi: Sequence[str], left_out: Iterable[str], what: str = ""
) -> None:
    """ColumnError if people are in several rows of a table of which nothing can be drawn, unless
    its owner says otherwise.

    `what` says which table it is, for the message.
    """
    if not table.rows_are_people and (found := repeated(table, quasi, left_out)):
        raise ColumnError(
            f"{what}{found[0]}, so rows are not people and the promise would be about rows",
            "leave one row of each person in it, or set `rows_are_people` if every row is a "
            "different person",
        )


# Which columns tell people apart


@dataclass(frozen=True)
class _Identifiers:
    """How many rows have a value in a column, and how many different values these are."""

    rows: int
    values: int

    @classmethod
    def of(cls, table: Table, name: str) -> "_Identifiers | None":
        """None where the values cannot be compared: they tell nobody apart."""
        try:
            keys = table.keys(name)
        except ColumnError:
            return None
        if None not in keys:
            return cls(table.rows, len(keys))
        column = table.count([name], {})
        missing = int(column.count[column.codes[0] == len(keys) - 1].sum())
        return cls(table.rows - missing, len(keys) - 1)


def _worth_a_look(table: Table, name: str) -> bool:
    """Whether a column has enough values to tell people apart, some of them more than once."""
    values = table.source.distinct(name)  # cheaper than coding it
    return values is not None and 0 < values < table.rows <= _MOST_ROWS * values


@dataclass(frozen=True)
class _Words:
    """What the name of a column says about people.

    It may be a `name`, or only a `part` of one, or a number. `tell_people`: where it differs in all
    rows, these are people, other than by a bare number of rows, such as `id`.
    """

    name: bool
    part: bool
    tell_people: bool

    @classmethod
    def of(cls, column: str) -> "_Words | None":
        """None if a column is not called as people are; `patient_id`, `PatientID`, `patientid` and
        "ID of patient" all are.

        One word that does not belong is enough: a `customer_country_code` is not a number of
        customers.
        """
        words: set[str] = set()
        for part in _BOUNDARY.sub(" ", column).lower().split():
            joined = _JOINED.fullmatch(part)
            if joined is None:
                return None
            words.update(word for word in joined.groups() if word)
        if "address" in words and not words & {"email", "mail"}:
            return None
        if words & _NAME:
            return None if words & _ROWS else cls(True, bool(words & _PART), True)
        if words & _WHO or (words & _WHOSE and words & _NUMBER):
            return cls(False, False, True)
        if words == {"key"} and column.lower() != "key":
            return None  # the keys of statisticians, Key1 and so on, are quasi-identifiers
        bare = words & _ID or (words & _ROWS and words & _NUMBER)
        return cls(False, False, False) if bare else None


def _agree(table: Table, name: str, rows: _Identifiers, quasi: Sequence[str]) -> bool:
    """Whether all rows with one value of a column have the same quasi-identifying values, far more
    often than by accident.

    That is so for at least half of the values that repeat. A single column, or several of which one
    decides the others, show
    nothing: a postal code decides the region. Nor do measures and dates, or values with very many
    rows.
    """
    if name in quasi or not rows.values < rows.rows <= _MOST_ROWS * rows.values:
        return False
    together = table.count([name, *quasi], {})
    keys = table.keys(name)
    if None in keys:  # a missing value is nobody's
        together = together.where(together.codes[0] != len(keys) - 1)
    groups = together.over(quasi)
    if groups.distinct <= max(len(np.unique(codes)) for codes in groups.codes):
        return False
    value = together.codes[0]
    repeats = np.bincount(value, together.count, len(keys)) > 1
    combinations = np.bincount(value, minlength=len(keys))[repeats]
    agreeing = float((combinations == 1).mean())
    # Two rows drawn at random agree so often; more than two agree more rarely.
    by_accident = float(((groups.count / rows.rows) ** 2).sum())
    if agreeing < max(1 / 2, by_accident):
        return False
    unlikely = len(combinations) * _divergence(agreeing, by_accident) >= _BY_ACCIDENT
    return unlikely and not _measure(table.labels(name))


def _divergence(share: float, of: float) -> float:
    """How unlikely a share is where another is expected, as the exponent of Chernoff's bound."""
    parts = ((share, of), (1 - share, 1 - of))
    return sum(one * log(one / other) for one, other in parts if one)


def _measure(labels: Sequence[str]) -> bool:
    """Whether values are dates, or numbers of which some are not whole: amounts and times, which
    name nobody.
    """
    there = [label for label in labels if label]
    for kind in (Kind.DATE, Kind.FLOAT):
        try:
            keys = [kind.key(label) for label in there]
        except (ValueError, TypeError, OverflowError):
            continue
        return kind is Kind.DATE or any(key != int(key) for key in keys)  # type: ignore[arg-type]
    return False
