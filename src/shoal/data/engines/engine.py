"""`Engine`: what every kind of engine can do. `distant` and the engines use it."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import polars as pl

__all__ = ["Engine"]


class Engine(Protocol):
    """Counts the rows of one table, wherever they are.

    Rows are equal if their values are the same, byte by byte: no collation makes two texts one.
    """

    @property
    def name(self) -> str:
        """What the rows are in, for an error: nothing secret, such as a password."""
        ...

    @property
    def types(self) -> pl.DataFrame:
        """A dataframe without rows that has the columns and their types."""
        ...

    @property
    def decimals(self) -> frozenset[str]:
        """Columns of decimals that `types` shows as floats, since that is what they come as."""
        ...

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The distinct rows of some columns, in parts.

        A part has these columns in their order and then the number of times each row occurs.
        """
        ...

    def orders(self) -> bool:
        """Whether it can put the rows in order: see `in_order`."""
        ...

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        """All rows of some columns, in parts, ordered by the first column.

        Numbers and dates ascend, and texts by the code points of their characters; rows without a
        value may be anywhere. An engine that cannot order more than fits into memory orders about
        `at_once` rows at a time.
        """
        ...

    def rows(self) -> int:
        """The number of rows."""
        ...

    def distinct(self, name: str) -> int:
        """How many different values a column has; a missing value is one."""
        ...

    def head(self, rows: int) -> pl.DataFrame:
        """Some of the rows, at most that many."""
        ...
