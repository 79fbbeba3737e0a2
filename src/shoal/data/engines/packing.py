"""`Packing`: several columns as one whole number, by which rows are grouped in half the memory.

How many bits a column gets is guessed from some rows. A row that has a value beyond the guess has
no key, and whoever groups by keys has to count such rows in another way. Uses Polars and
`categories`; `streaming` uses it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, and_

import polars as pl

from shoal.data.categories import at_places

__all__ = ["GUESSED_FROM", "Packing"]

GUESSED_FROM = 1 << 16
"""Rows that are enough to guess from."""

_KEY = 64
"""Bits of a key."""

_SPARE = 2
"""Bits that a column gets at least beyond those that were needed so far."""

_MANY = GUESSED_FROM // 4
"""Different values among these rows from which a column may name people: others will follow."""

_EVERY = 33
"""Bits for such a column: places among categories have 32, and one number means missing."""

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_WHOLE = (pl.Boolean, pl.Categorical, pl.Enum, pl.Date, pl.Time, pl.Datetime)


@dataclass(frozen=True)
class _Digit:
    """A column in a key: 0 for a missing value, or else how far its number is above `low`, and 1.

    It has `bits` bits, and `below` are below them.
    """

    name: str
    dtype: pl.DataType
    low: int
    bits: int
    below: int = 0

    def fits(self) -> pl.Expr:
        """Whether a value has its number among these."""
        high = min(self.low + (1 << self.bits) - 2, _HIGHEST)
        return self._number.is_between(_whole(self.low), _whole(high)).fill_null(True)

    def written(self) -> pl.Expr:
        """The digit of a value that fits, at its place in the key."""
        distance = self._number - _whole(self.low)
        # A value that does not fit makes some number, and it is not used.
        digit = distance.cast(pl.UInt64, wrap_numerical=True) + 1
        return digit.fill_null(0) * pl.lit(1 << self.below, pl.UInt64)

    def read(self, key: str) -> pl.Expr:
        """The value, from the key."""
        shifted = pl.col(key) // pl.lit(1 << self.below, pl.UInt64)
        digit = (shifted & pl.lit((1 << self.bits) - 1, pl.UInt64)).cast(pl.Int64)
        number = pl.when(digit > 0).then(digit - 1 + _whole(self.low))
        physical = number.cast(_physical(self.dtype))
        if isinstance(self.dtype, pl.Categorical | pl.Enum):
            return at_places(physical, self.dtype).alias(self.name)
        return physical.cast(self.dtype).alias(self.name)

    @property
    def _number(self) -> pl.Expr:
        return pl.col(self.name).to_physical().cast(pl.Int64)


@dataclass(frozen=True, eq=False)
class Packing:
    """Which columns are written into which keys; the others stay as they are."""

    names: Sequence[str]
    keys: Sequence[Sequence[_Digit]]

    @classmethod
    def guessed(cls, some: pl.DataFrame) -> "Packing":
        """A packing for rows of which some are given."""
        digits = [_guessed(column) for column in some if _is_whole(column.dtype)]
        packed = [key for key in _distributed(digits) if len(key) > 1]
        return cls(some.columns, [_placed(key) for key in packed])

    def fits(self) -> pl.Expr:
        """Whether a row has keys."""
        return reduce(and_, (digit.fits() for key in self.keys for digit in key))

    def packed(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Rows by their keys, which are missing where a value does not fit."""
        keys = []
        for number, key in enumerate(self.keys):
            written = reduce(add, (digit.written() for digit in key))
            keys.append(pl.when("fits").then(written).alias(_key(number)))
        return rows.with_columns(fits=self.fits()).select(*keys, *self._others)

    def read(self, part: pl.DataFrame) -> pl.DataFrame:
        """Rows from their keys, and whatever else stands beside them."""
        read = {name: pl.col(name) for name in self._others}
        for number, key in enumerate(self.keys):
            read.update({digit.name: digit.read(_key(number)) for digit in key})
        beside = [name for name in part.columns if name not in self._packed_names]
        return part.select(*(read[name] for name in self.names), *beside)

    @property
    def _others(self) -> list[str]:
        packed = {digit.name for key in self.keys for digit in key}
        return [name for name in self.names if name not in packed]

    @property
    def _packed_names(self) -> set[str]:
        return {*self._others, *map(_key, range(len(self.keys)))}


def _guessed(column: pl.Series) -> _Digit:
    """A column with as many bits as its values need so far, or may need."""
    values = column.drop_nulls().unique()
    numbers = values.to_physical().cast(pl.Int64).to_list()
    low = min(numbers, default=0)
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        low = 0
    bits = (max(numbers, default=0) - low + 1).bit_length()
    if len(numbers) > _MANY:
        bits = max(bits, _EVERY)
    return _Digit(column.name, column.dtype, low, bits)


def _distributed(digits: Iterable[_Digit]) -> list[list[_Digit]]:
    """The digits in as few keys as they take, each with some bits to spare."""
    keys: list[list[_Digit]] = []
    for digit in sorted(digits, key=lambda digit: -digit.bits):
        for key in keys:
            if _needed([*key, digit]) <= _KEY:
                key.append(digit)
                break
        else:
            keys.append([digit])
    return keys


def _needed(key: Sequence[_Digit]) -> int:
    return sum(digit.bits + _SPARE for digit in key)


def _placed(key: Sequence[_Digit]) -> list[_Digit]:
    """The digits of a key at their places, with all bits of the key shared out."""
    more = _SPARE + (_KEY - _needed(key)) // len(key)
    placed = []
    below = 0
    for digit in key:
        bits = digit.bits + more
        low = digit.low
        if not isinstance(digit.dtype, pl.Categorical | pl.Enum):
            # Numbers on both sides of those that were seen.
            room = (1 << bits) - (1 << digit.bits)
            low = max(low - room // 2, _LOWEST)
        placed.append(replace(digit, low=low, bits=bits, below=below))
        below += bits
    return placed


def _is_whole(dtype: pl.DataType) -> bool:
    """Whether Polars holds values of a type as whole numbers of at most 64 bits, with a sign."""
    too_large = (pl.UInt64, pl.Int128, pl.UInt128)
    return isinstance(dtype, _WHOLE) or (dtype.is_integer() and dtype not in too_large)


def _physical(dtype: pl.DataType) -> pl.DataType:
    return pl.Series(dtype=dtype).to_physical().dtype


def _whole(number: int) -> pl.Expr:
    return pl.lit(number, pl.Int64)


def _key(number: int) -> str:
    return f"key {number}"
