"""Rows in whatever else narwhals takes as a lazy frame, such as Ibis tables of a warehouse.

Uses narwhals; `distant` uses it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import polars as pl

from shoal.errors import InternalError

__all__ = ["OtherLazy"]


@dataclass(frozen=True, eq=False)
class OtherLazy:
    """The rows of a lazy frame, which is run anew for every question."""

    frame: Any
    name: str = "the lazy table"
    decimals: frozenset[str] = frozenset()

    @cached_property
    def types(self) -> pl.DataFrame:
        types = _collected(self._by_place.head(0)).schema.values()
        return pl.DataFrame(schema=dict(zip(self._names, types, strict=True)))

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        places = [self._place(name) for name in names]
        grouped = self._by_place.group_by(*places).agg(nw.len().alias("amount"))
        yield _collected(grouped.select(*places, "amount"))

    def orders(self, name: str) -> bool:
        return False  # nobody knows by what collation, and whether in parts

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        raise InternalError("a lazy table was asked for an order")

    def rows(self) -> int:
        return int(_collected(self._by_place.select(nw.len())).item())

    def distinct(self, name: str) -> int:
        values = self._by_place.select(nw.col(self._place(name)).n_unique())
        return int(_collected(values).item())

    def head(self, rows: int) -> pl.DataFrame:
        some = _collected(self._by_place.head(rows))
        some.columns = self._names
        return some

    @cached_property
    def _names(self) -> list[str]:
        lazy: nw.LazyFrame[Any] = nw.from_native(self.frame)
        return lazy.collect_schema().names()

    @cached_property
    def _by_place(self) -> "nw.LazyFrame[Any]":
        """The same rows, their columns named by their places: any other name may have a meaning."""
        lazy: nw.LazyFrame[Any] = nw.from_native(self.frame)
        return lazy.rename({name: self._place(name) for name in self._names})

    def _place(self, name: str) -> str:
        return f"column{self._names.index(name)}"


def _collected(lazy: "nw.LazyFrame[Any]") -> pl.DataFrame:
    return lazy.collect("polars").to_polars()
