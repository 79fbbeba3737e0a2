"""Declared types of columns: how a value compares, sorts and prints. Uses `errors`; `table` and `hierarchy` use it.

A value from a file is text, one from a dataframe may be an integer, a float or a date. `Kind.key` turns either into
one comparable key, so that the integer 39, the text "39" and the hierarchy leaf "039" are the same integer.
"""

import datetime as dt
import math
from enum import StrEnum

from shoal.errors import ColumnError

__all__ = ["Key", "Kind"]

Key = str | int | float | dt.date
"""A comparable value; all keys of one column are of one type. A missing value is None instead."""


class Kind(StrEnum):
    """The declared type of a column."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DATE = "date"

    def key(self, value: object) -> Key | None:
        """The comparable key of a value, None for a missing one; ValueError if it is not of this type.

        >>> Kind.INTEGER.key(" 039") == Kind.INTEGER.key(39.0) == 39
        True
        """
        if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            return None
        match self:
            case Kind.TEXT:
                return _text_of(value)
            case Kind.INTEGER:
                return _integer(value)
            case Kind.FLOAT:
                number = float(value)  # type: ignore[arg-type]
                if not math.isfinite(number):
                    raise ValueError("not a finite number")
                return number + 0.0  # -0.0 and 0.0 are one value
            case Kind.DATE:
                return _date(value)

    def text(self, key: Key | None) -> str:
        """The canonical text of a key; a missing value is the empty text."""
        if key is None:
            return ""
        if self is Kind.FLOAT and isinstance(key, float) and key.is_integer() and abs(key) < 1e15:
            return str(int(key))
        return key.isoformat() if isinstance(key, dt.date) else str(key)

    def keys(self, values: "list[object]", column: str) -> "list[Key | None]":
        """The keys of several values; the error names the column and the number of misfits, never a value."""
        keys: list[Key | None] = []
        misfits = 0
        for value in values:
            try:
                keys.append(self.key(value))
            except (ValueError, TypeError):
                misfits += 1
        if misfits:
            raise ColumnError(
                f"column {column!r}: {misfits} distinct value{'s are' if misfits > 1 else ' is'} not of the declared "
                f"type {self.value!r}; declare another type for the column, or clean it"
            )
        return keys


def _text_of(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # pandas turns integers with missing values into floats
    if isinstance(value, dt.datetime) and value.time() == dt.time(0):
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.datetime):
        return value.isoformat()
    return str(value)


def _integer(value: object) -> int:
    if isinstance(value, float):
        if not value.is_integer():
            raise ValueError("not an integer")
        return int(value)
    if isinstance(value, str):
        stripped = value.strip()
        try:
            return int(stripped)
        except ValueError:
            return _integer(float(stripped))
    return int(value)  # type: ignore[call-overload,no-any-return]


def _date(value: object) -> dt.date:
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    return dt.date.fromisoformat(str(value).strip()[:10])
