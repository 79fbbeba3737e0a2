"""Noticing people who are in a table several times.

Everything that counts records counts rows: five rows of one person look like a group of five
people. So `require_unit` refuses a table with repeated people unless its owner names the column
that tells them apart (a unit), or says that every row is a different person. Uses `tables`;
`measure`, `methods` and the doors use it.
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
"""Words for people: a column with such a name numbers them, with "id" or without."""
_WHOSE = _set(
    "people persons patients pers pat individual member citizen resident insured passport voter "
    "bene beneficiary subscriber donor account national nhs social security kunde kunden "
    "mitarbeiter teilnehmer versicherten"
)
"""Words for people that need another word, such as "number", to name a number of people."""
_ROWS = _set("record case study hadm admission row line")
"""Words for numbers of rows, which may be numbers of people too."""
_ID = _set("id ids identifier key uuid guid uid")
_NUMBER = _ID | _set("nr no num number nummer code")
_NAME = _set("name email mail phone telephone mobile vorname nachname")
"""Words for names of people: two people may share a value."""
_PART = _set("first last given family fore sur vorname nachname")
"""Words for a part of a name, which very many people may share."""
_FILLING = _PART | _set("of the des der full unique hashed e")

_KNOWN = _WHO | _WHOSE | _ROWS | _NUMBER | _NAME | _FILLING | {"address"}
# Longer words first, so that "patients" is not read as "patient" and a rest.
_LONGEST_FIRST = sorted(_KNOWN, key=lambda word: (-len(word), word))
_ANY_WORD = "|".join(_LONGEST_FIRST)
_JOINED = re.compile(rf"({_ANY_WORD})({_ANY_WORD})?({_ANY_WORD})?")
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W\d_]+")

_MOST_ROWS = 100
"""Average rows per person above which a column that nobody declared does not name people."""
_NAMESAKES = 2
"""Average rows per name from which they are not people who happen to share it."""
_BY_ACCIDENT = log(1e6)
"""The exponent of a probability of one in a million."""


@dataclass(frozen=True)
class Repeated:
    """A column by which people are in a table several times."""

    column: str
    values: int
    """The number of different values."""
    rows: int
    """The number of rows that have a value."""
    declared: bool
    """Whether the column was declared identifying."""

    def __str__(self) -> str:
        reason = "is identifying" if self.declared else "seems to tell people apart"
        values = plural(self.values, "value")
        rows = plural(self.rows, "row")
        return f"column {self.column!r} {reason} and repeats: {values} in {rows}"


def repeated(
    table: Table, quasi: Sequence[str] = (), left_out: Iterable[str] = ()
) -> tuple[Repeated, ...]:
    """The columns by which people are evidently in several rows; a missing value is nobody's.

    These are identifying columns that repeat, and columns that were `left_out` whose names are
    words for people, unless they have too few values for that. There are two exceptions: a name or
    an account may repeat where a number of people tells all rows apart, as people may happen to
    share it; and a column with any other name may repeat where anything identifying tells all rows
    apart, as it may be identifying only so as not to be released. Neither exception holds if the
    rows of a value agree in the `quasi` columns.
    """
    # A column that is not used must not make the table invalid, so missing values are allowed here.
    whole = replace(table, missing="category")
    declared = table.having(Role.IDENTIFYING)
    words_of = _words_of(table.names)
    suspects = list(declared)
    for name in left_out:
        if name in declared:
            continue
        if name in words_of or (quasi and _worth_a_look(table, name)):
            suspects.append(name)
    counted = _counted(whole, suspects)
    if not any(values.repeat for values in counted.values()):
        return ()

    known = counted | _counted(whole, [name for name in words_of if name not in counted])
    keys = [name for name, values in known.items() if values.values == table.rows]
    has_person_key = any(name in words_of and words_of[name].tell_people for name in keys)
    repeating = []
    for name, values in counted.items():
        if not values.repeat:
            continue
        if name not in words_of:
            certain = name in declared and not keys
        elif name not in declared and values.too_few:
            certain = False
        else:
            certain = not (has_person_key and values.may_be_shared(words_of[name]))
        if certain or (quasi and _agree(whole, name, values, quasi)):
            repeating.append(Repeated(name, values.values, values.rows, name in declared))
    return tuple(repeating)


def require_unit(table: Table, unit: str | None, aside: Iterable[str] = ()) -> None:
    """ColumnError if people are in several rows and the owner has not dealt with it.

    The owner may name a `unit`, or say that rows are people. Columns `aside` are identifying only
    so as not to be released.
    """
    if unit is not None:
        table.require_people(unit)
        return
    if table.rows_are_people:
        return
    skipped = set(aside)
    for column in repeated(table, table.quasi):
        if column.column in skipped:
            continue
        raise ColumnError(
            f"{column}, so rows are not people and the promise would be about rows",
            "name the column that tells people apart as `unit`, such as "
            f"{column.column!r}, or set `rows_are_people` if every row is a different person",
        )


def require_once(
    table: Table,
    quasi: Sequence[str],
    left_out: Iterable[str],
    what: str = "",
) -> None:
    """ColumnError if people are in several rows, unless the owner said that rows are people.

    It is for tables whose rows cannot be drawn. `what` names the table in the message.
    """
    if table.rows_are_people:
        return
    columns = repeated(table, quasi, left_out)
    if columns:
        raise ColumnError(
            f"{what}{columns[0]}, so rows are not people and the promise would be about rows",
            "keep one row of each person, or set `rows_are_people` if every row is a different "
            "person",
        )


# Which columns tell people apart


@dataclass(frozen=True)
class _Identifiers:
    """How many rows have a value in a column, and how many different values these are."""

    rows: int
    values: int

    @property
    def repeat(self) -> bool:
        """Whether some value occurs more than once."""
        return self.values < self.rows

    @property
    def too_few(self) -> bool:
        """Whether there are too many rows per value for the values to be people."""
        return self.rows > _MOST_ROWS * self.values

    def may_be_shared(self, words: "_Words") -> bool:
        """Whether different people may happen to have the same value."""
        part_of_name = words.name and words.part
        return part_of_name or self.rows < _NAMESAKES * self.values

    @classmethod
    def of(cls, table: Table, name: str) -> "_Identifiers | None":
        """None where the values cannot be compared: they tell nobody apart."""
        try:
            rows, values = table.known(name)
        except ColumnError:
            return None
        return cls(rows, values)


def _counted(table: Table, names: Iterable[str]) -> dict[str, _Identifiers]:
    """The identifiers in some columns, except those whose values cannot be compared."""
    counted = {}
    for name in names:
        values = _Identifiers.of(table, name)
        if values is not None:
            counted[name] = values
    return counted


def _worth_a_look(table: Table, name: str) -> bool:
    """Whether a column has enough values to tell people apart, some of them more than once."""
    # Counting values is cheaper than coding the column.
    values = table.source.distinct(name)
    if values is None:
        return False
    return 0 < values < table.rows <= _MOST_ROWS * values


@dataclass(frozen=True)
class _Words:
    """What the name of a column says about the people in it."""

    name: bool
    """Whether people are named, not numbered."""
    part: bool
    """Whether only a part of a name is meant."""
    tell_people: bool
    """Whether different values are different people; a bare `id` may be a number of rows."""

    @classmethod
    def of(cls, column: str) -> "_Words | None":
        """None if the name of a column has any word that is not about people.

        So `patient_id`, `PatientID`, `patientid` and "ID of patient" are about people, while a
        `customer_country_code` is not.
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
            if words & _ROWS:
                return None
            return cls(name=True, part=bool(words & _PART), tell_people=True)
        if words & _WHO or (words & _WHOSE and words & _NUMBER):
            return cls(name=False, part=False, tell_people=True)
        # Statisticians call quasi-identifiers keys: Key1 and so on.
        if words == {"key"} and column.lower() != "key":
            return None
        if words & _ID or (words & _ROWS and words & _NUMBER):
            return cls(name=False, part=False, tell_people=False)
        return None


def _words_of(names: Iterable[str]) -> dict[str, _Words]:
    """What the names of some columns say about people, except those that say nothing."""
    words_of = {}
    for name in names:
        words = _Words.of(name)
        if words is not None:
            words_of[name] = words
    return words_of


def _agree(
    table: Table,
    name: str,
    values: _Identifiers,
    quasi: Sequence[str],
) -> bool:
    """Whether rows with the same value agree in the `quasi` columns, far more often than by chance.

    They must agree for at least half of the values that repeat. Agreement in a single column, or in
    several of which one decides the others, shows nothing: a postal code decides the region. Nor
    does it for measures and dates, or for values with very many rows.
    """
    if name in quasi or not values.repeat or values.too_few:
        return False
    together = table.count([name, *quasi], {})
    keys = table.keys(name)
    if None in keys:
        # A missing value is nobody's, and comes last.
        together = together.where(together.codes[0] != len(keys) - 1)
    groups = together.over(quasi)
    most_values = max(len(np.unique(codes)) for codes in groups.codes)
    if groups.distinct <= most_values:
        return False

    value = together.codes[0]
    repeats = np.bincount(value, together.count, len(keys)) > 1
    combinations = np.bincount(value, minlength=len(keys))[repeats]
    agreeing = float((combinations == 1).mean())
    # How often two rows drawn at random agree; more than two agree more rarely.
    shares = groups.count / values.rows
    by_chance = float((shares**2).sum())
    if agreeing < max(1 / 2, by_chance):
        return False
    exponent = len(combinations) * _divergence(agreeing, by_chance)
    return exponent >= _BY_ACCIDENT and not _is_measure(table.labels(name))


def _divergence(share: float, expected: float) -> float:
    """How unlikely a share is where another is expected, as the exponent of Chernoff's bound."""
    exponent = 0.0
    for part, expected_part in ((share, expected), (1 - share, 1 - expected)):
        if part:
            exponent += part * log(part / expected_part)
    return exponent


def _is_measure(labels: Sequence[str]) -> bool:
    """Whether values are dates, or numbers not all of which are whole: these do not name people."""
    texts = [label for label in labels if label]
    for kind in (Kind.DATE, Kind.FLOAT):
        try:
            keys = [kind.key(text) for text in texts]
        except (ValueError, TypeError, OverflowError):
            continue
        if kind is Kind.DATE:
            return True
        return any(key != int(key) for key in keys)  # type: ignore[arg-type]
    return False
