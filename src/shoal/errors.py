"""Every error Shoal raises on purpose, in one tree. Uses nothing; every room uses it.

    ShoalError
    ├── InputError           the data given cannot be used as it is
    │   ├── FileError        a file is unreadable, or not what it was said to be
    │   ├── SourceError      a database, a cluster or another engine failed to count its rows
    │   ├── ColumnError      a column is unknown, repeated, without a role or of the wrong type
    │   └── HierarchyError   a hierarchy is malformed, or does not cover its column
    ├── ParameterError       an option has a value outside its range
    ├── RecipeError          a recipe has an unknown key or a value that does not fit
    ├── TooLargeError        the work would not fit; the message has the number
    ├── InfeasibleError      no table satisfies what was asked for
    ├── BudgetError          a ledger does not allow it: its budget, or its γ
    │   └── OverridableError  its γ, which a reason that is entered overrides
    ├── ForkError            Polars cannot work in this process, a fork; nothing was reserved
    ├── QueryError           a query cannot be understood, or is about what may not be asked
    ├── Stopped              the caller asked to stop
    └── InternalError        Shoal contradicts itself: a bug, and nothing was released

An error has parts: `what` is wrong, `where`, and the `fix`; `option` names the parameter it is
about, with the value `given`. The library shows them as one sentence. The command line and recipes
call the same parts by their own names (`told`, `at`). No part ever contains a cell's value.
`listed` and `plural` help to write them.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Self

__all__ = [
    "BudgetError",
    "ColumnError",
    "FileError",
    "ForkError",
    "HierarchyError",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "OverridableError",
    "ParameterError",
    "QueryError",
    "RecipeError",
    "ShoalError",
    "SourceError",
    "Spelling",
    "Stopped",
    "TooLargeError",
    "listed",
    "plural",
    "python_spelling",
    "spelled",
    "toml_spelling",
]

Spelling = Callable[[str, str | None], str]
"""How a door writes a parameter: takes its name and the text of its value, or None where no value
is shown.
"""

_PARAMETER = re.compile(r"`([a-z_]\w*)(?:=([^`]*))?`")
"""A parameter in a message stands in backticks, alone or with an example of its value: `k`,
`quasi=['age']`.
"""


def python_spelling(name: str, value: str | None) -> str:
    """A parameter as a Python program has it.

    >>> python_spelling("k", None), python_spelling("k", "5")
    ('`k`', 'k=5')
    """
    return f"`{name}`" if value is None else f"{name}={value}"


def toml_spelling(name: str, value: str | None) -> str:
    """A parameter as a key of a TOML file.

    >>> toml_spelling("k", None), toml_spelling("k", "5")
    ('k', 'k = 5')
    """
    return name if value is None else f"{name} = {value}"


class ShoalError(Exception):
    """What Shoal raises on purpose; anything else is a bug.

    what: the problem, without a full stop; where `option` is given, it follows the name of the
    option
    fix: what to do about it
    where: the place, such as a file, a column, or a key of a recipe
    option: the parameter that the error is about
    given: the value of that parameter, as it may be shown

    >>> fix = "it takes a whole number from 1"
    >>> error = ParameterError("is out of range", fix, option="k", given="0")
    >>> print(error)
    k=0 is out of range; it takes a whole number from 1
    >>> print(error.at("people.toml: method"))
    people.toml: method: k=0 is out of range; it takes a whole number from 1
    >>> print(error.told(lambda name, value: f"--{name}" if value is None else f"--{name} {value}"))
    --k 0 is out of range; it takes a whole number from 1
    """

    spelling: Spelling | None = None
    """How parameters are written, where that does not depend on the door: an error about a file has
    the file's keys.
    """

    def __init__(
        self,
        what: str,
        fix: str = "",
        *,
        where: str = "",
        option: str = "",
        given: str | None = None,
    ) -> None:
        super().__init__(what, fix)
        self.what = what
        self.fix = fix
        self.where = where
        self.option = option
        self.given = given

    def __str__(self) -> str:
        return self.told(python_spelling)

    def __reduce__(self) -> tuple[object, ...]:
        parts = {"where": self.where, "option": self.option, "given": self.given}
        notes = list(getattr(self, "__notes__", ()))
        return _restored, (type(self), self.what, self.fix, parts, self.spelling, notes)

    def told(self, spelling: Spelling) -> str:
        """The whole message, with parameters as a door writes them."""
        spelling = self.spelling or spelling
        problem = spelled(self.what, spelling)
        if self.option:
            problem = f"{spelling(self.option, self.given)} {problem}"
        if self.where:
            problem = f"{self.where}: {problem}"
        return f"{problem}; {spelled(self.fix, spelling)}" if self.fix else problem

    def to_dict(self) -> dict[str, Any]:
        """The message, and its parts as a program reads them; those that it has not are empty."""
        spelling = self.spelling or python_spelling
        return {
            "message": str(self),
            "where": self.where,
            "option": self.option,
            "fix": spelled(self.fix, spelling),
        }

    def at(self, where: str, spelling: Spelling | None = None) -> Self:
        """The same error, at a place that the caller knows.

        A place that the error already has is inside that one.

        spelling: how parameters are written there, if that is not the door's business
        """
        place = f"{where}: {self.where}" if self.where else where
        error = type(self)(self.what, self.fix, where=place, option=self.option, given=self.given)
        error.spelling = spelling or self.spelling
        for note in getattr(self, "__notes__", ()):
            error.add_note(note)
        return error.with_traceback(self.__traceback__)


def _restored(
    kind: type[ShoalError],
    what: str,
    fix: str,
    parts: dict[str, str],
    spelling: Spelling | None,
    notes: list[str],
) -> ShoalError:
    """An error that comes from another process."""
    error = kind(what, fix, **parts)
    error.spelling = spelling
    for note in notes:
        error.add_note(note)
    return error


def spelled(text: str, spelling: Spelling) -> str:
    """A text with the parameters in backticks as a door writes them."""
    return _PARAMETER.sub(lambda found: spelling(found[1], found[2]), text)


class InputError(ShoalError):
    """The data given cannot be used as it is."""


class FileError(InputError):
    """A file is unreadable, or not what it was said to be."""


class SourceError(InputError):
    """A database, a cluster or another engine failed to count its rows."""


class ColumnError(InputError):
    """A column is unknown, repeated, unmentioned or of the wrong type."""


class HierarchyError(InputError):
    """A hierarchy is malformed, or does not cover its column."""


class ParameterError(ShoalError):
    """An option has a value outside its range."""


class RecipeError(ShoalError):
    """A recipe has an unknown key or a value that does not fit."""

    spelling = staticmethod(toml_spelling)
    mistakes: "tuple[RecipeError, ...]" = ()
    """All of them, where the error is about several."""

    def to_dict(self) -> dict[str, Any]:
        """As of every error, with the `mistakes` one by one."""
        parts = [mistake.to_dict() for mistake in self.mistakes]
        return {**super().to_dict(), "mistakes": parts}


class TooLargeError(ShoalError):
    """The work would not fit into memory or into a stated limit."""


class InfeasibleError(ShoalError):
    """No table satisfies what was asked for."""


class BudgetError(ShoalError):
    """A ledger does not allow it: its budget, or its γ."""


class OverridableError(BudgetError):
    """The γ of a ledger does not allow it, unless a reason to release it anyway is entered."""


class ForkError(ShoalError):
    """Polars cannot work in this process, which is a fork of one that used it.

    Nothing was reserved.
    """


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
