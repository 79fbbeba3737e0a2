"""Declared types of columns: how a value compares, sorts and prints.

Uses `errors`; `tables` and `hierarchy` use it. A value from a file is text, one from a dataframe
may be an integer, a float or a date. `Kind.key` turns either into one comparable key, so that the
integer 39, the text "39" and the hierarchy leaf "039" are the same integer.
"""

import datetime as dt
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Literal, cast

from shoal.errors import ColumnError, ParameterError, listed, plural

__all__ = ["Key", "Kind", "KindName"]

Key = str | int | float | dt.date
"""A comparable value; all keys of one column are of one type. A missing value is None instead."""

KindName = Literal["text", "integer", "float", "date"]
"""A kind as recipes and the command line spell it."""

# Whole floats below it print as integers: pandas turns integers with missing values into floats.
_EXACT = 1e15
# What every dataframe library can hold.
_LARGEST_INTEGER = 1 << 63
# Beyond it several integers are one float.
_EXACT_INTEGER = 1 << 53
_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
# Seven days, which Python reads as a Monday.
_WEEK = re.compile(r"[0-9]{4}-?W[0-9]{2}", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)


_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(?:\.[0-9]{3})*,[0-9]+")
_OTHER_DATE = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}(?: .*)?")


class Kind(StrEnum):
    """The declared type of a column."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DATE = "date"

    @classmethod
    def of(
        cls, given: "Kind | str", what: str = "the type", among: "Sequence[Kind] | None" = None
    ) -> "Kind":
        """The kind of a name; ParameterError if there is none, or if it is not `among` some."""
        names = [kind.value for kind in among or cls]
        if not isinstance(given, str):
            shown = f"of type {type(given).__name__}"
        elif given not in names:
            shown = repr(str(given))
        else:
            return cls(given)
        raise ParameterError(f"{what} is {shown}", f"it takes {listed(names)}")

    def key(self, value: object) -> Key | None:
        """The comparable key of a value, None for a missing one.

        ValueError, or another error of Python's conversions, if it is not of this type.

        >>> Kind.INTEGER.key(" 039") == Kind.INTEGER.key(39.0) == 39
        True
        """
        if value is None or (isinstance(value, str) and not value):
            return None
        if isinstance(value, float) and math.isnan(value):
            return None
        match self:
            case Kind.TEXT:
                return value if isinstance(value, str) else _text_of(value)
            case Kind.INTEGER:
                return _integer(value)
            case Kind.FLOAT:
                return _float(value)
            case Kind.DATE:
                return _date(value)

    def text(self, key: Key | None) -> str:
        """The canonical text of a key; a missing value is the empty text."""
        return "" if key is None else _text_of(key)

    def canonical(self, text: str) -> str:
        """A text as it is released: "039" of whole numbers as 39, and a label unchanged.

        >>> Kind.INTEGER.canonical("039"), Kind.INTEGER.canonical("30-39")
        ('39', '30-39')
        """
        if self is Kind.TEXT:
            return text
        try:
            return self.text(self.key(text))
        except (ValueError, TypeError, OverflowError):
            return text

    def keys(self, values: Sequence[object], column: str) -> list[Key | None]:
        """The keys of several values.

        The error names the column and the number of misfits, never a value.
        """
        # Most values are their own keys, and of people there may be millions.
        types = set(map(type, values))
        if self is Kind.TEXT and types <= {str, type(None)}:
            return [text or None for text in cast("Sequence[str | None]", values)]
        if self is Kind.INTEGER and types == {int}:
            whole = cast("list[int]", list(values))
            if min(whole) > -_LARGEST_INTEGER and max(whole) < _LARGEST_INTEGER:
                return [*whole]
        keys: list[Key | None] = []
        misfits = 0
        for value in values:
            try:
                keys.append(self.key(value))
            except (ValueError, TypeError, OverflowError):
                misfits += 1
        if misfits:
            verb = "is" if misfits == 1 else "are"
            raise ColumnError(
                f"{plural(misfits, 'distinct value')} {verb} not of the declared type "
                f"{self.value!r}",
                self._written_otherwise(values),
                where=f"column {column!r}",
            )
        return keys

    def _written_otherwise(self, values: Sequence[object]) -> str:
        """What to do about values that are not of this type, by how texts among them look."""
        texts = [value.strip() for value in values if isinstance(value, str)]
        if self in (Kind.INTEGER, Kind.FLOAT) and any(map(_DECIMAL_COMMA.fullmatch, texts)):
            return "give `decimal = ','` for decimal commas, declare another type, or clean it"
        if self is Kind.DATE and any(map(_OTHER_DATE.fullmatch, texts)):
            return (
                "give `dates` if they are written in another way, declare another type, or clean it"
            )
        return "declare another type for the column, or clean it"


def _text_of(value: object) -> str:
    # As in the files Shoal writes.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, Decimal):
        return _text_of_decimal(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time(0):
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.datetime | dt.time):
        return value.isoformat()
    return str(value)


def _text_of_decimal(value: Decimal) -> str:
    """As that of the same integer or float, so that it is the same wherever decimals come from."""
    if value.is_finite() and value == int(value):
        return str(int(value))
    shortest = repr(float(value))
    return shortest if Decimal(shortest) == value else str(value)


def _integer(value: object) -> int:
    if isinstance(value, str):
        stripped = value.strip()
        if _WHOLE.fullmatch(stripped):
            value = int(stripped)
        elif _NUMBER.fullmatch(stripped):
            # Exact where a float would round.
            value = Decimal(stripped)
        else:
            raise ValueError("not an integer")
    if isinstance(value, float) and not abs(value) <= _EXACT_INTEGER:
        raise ValueError("not an integer")
    whole = int(value)  # type: ignore[call-overload]
    if whole != value or abs(whole) >= _LARGEST_INTEGER:
        raise ValueError("not an integer")
    return int(whole)


def _float(value: object) -> float:
    if isinstance(value, str):
        value = value.strip()
        if not _NUMBER.fullmatch(value):
            raise ValueError("not a number")
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    # -0.0 and 0.0 are one value.
    return number + 0.0


def _date(value: object) -> dt.date:
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    if not isinstance(value, str) or _WEEK.fullmatch(value.strip()):
        raise ValueError("not a date")
    return dt.datetime.fromisoformat(value.strip()).date()
