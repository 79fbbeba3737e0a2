"""Every error Shoal raises on purpose, in one tree. Uses nothing; every room uses it.

    ShoalError
    ├── InputError          the data given cannot be used as it is
    │   ├── FileError       a file is unreadable, or not what it was said to be
    │   ├── ColumnError     a column is unknown, repeated, unmentioned or of the wrong type
    │   └── HierarchyError  a hierarchy is malformed, or does not cover its column
    ├── ParameterError      an option has a value outside its range
    ├── RecipeError         a recipe has an unknown key or a value that does not fit
    ├── TooLargeError       the work would not fit; the message has the number
    ├── InfeasibleError     no table satisfies what was asked for
    ├── BudgetError         a ledger does not allow it: its budget, or its γ
    ├── ForkError           Polars cannot work in this process, which is a fork; nothing was reserved
    ├── QueryError          a query cannot be understood, or is about what may not be asked
    ├── Stopped             the caller asked to stop
    └── InternalError       Shoal contradicts itself: a bug, and nothing was released

A message says what was wrong, where, and what to do. It never contains a cell's value. `listed` and `plural` help to say it.
"""

from collections.abc import Iterable

__all__ = [
    "BudgetError",
    "ColumnError",
    "FileError",
    "ForkError",
    "HierarchyError",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "ParameterError",
    "QueryError",
    "RecipeError",
    "ShoalError",
    "Stopped",
    "TooLargeError",
    "listed",
    "plural",
]


class ShoalError(Exception):
    """What Shoal raises on purpose; anything else is a bug."""


class InputError(ShoalError):
    """The data given cannot be used as it is."""


class FileError(InputError):
    """A file is unreadable, or not what it was said to be."""


class ColumnError(InputError):
    """A column is unknown, repeated, unmentioned or of the wrong type."""


class HierarchyError(InputError):
    """A hierarchy is malformed, or does not cover its column."""


class ParameterError(ShoalError):
    """An option has a value outside its range."""


class RecipeError(ShoalError):
    """A recipe has an unknown key or a value that does not fit."""


class TooLargeError(ShoalError):
    """The work would not fit into memory or into a stated limit."""


class InfeasibleError(ShoalError):
    """No table satisfies what was asked for."""


class BudgetError(ShoalError):
    """A ledger does not allow it: its budget, or its γ."""


class ForkError(ShoalError):
    """Polars cannot work in this process, which is a fork of one that used it; nothing was reserved."""


class QueryError(ShoalError):
    """A query cannot be understood, or is about what may not be asked."""


class Stopped(ShoalError):
    """The caller asked to stop; nothing was written."""


class InternalError(ShoalError, RuntimeError):
    """Shoal contradicts itself: a bug, and nothing was released."""


def listed(things: Iterable[object]) -> str:
    """Names as a message lists them.

    >>> listed(["age", "sex"])
    "'age', 'sex'"
    """
    return ", ".join(map(repr, things)) or "nothing"


def plural(number: int, noun: str) -> str:
    """A number and its noun.

    >>> plural(1, "record"), plural(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
