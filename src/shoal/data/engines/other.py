"""Rows in whatever else narwhals takes as a lazy frame, such as Ibis tables of a warehouse.

Uses narwhals, and `sql` where Arrow is handed over; `distant` uses it.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import polars as pl

from shoal.data.engines.sql import arrow_parts
from shoal.errors import ColumnError, InternalError, listed

__all__ = ["OtherLazy"]

_BATCH = 1 << 18
"""Rows that are handed over at a time."""

_DIFFERENT = (("a", "A"), ("e", "é"), ("é", "e\u0301"), ("s", "s "), ("ss", "ß"))
"""Texts that only a collation holds for equal: by case, accents, code points, spaces or letters."""


# No repr, since that of a frame may have rows.
@dataclass(frozen=True, eq=False, repr=False)
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
        self._require_exact(names)
        places = [self._place(name) for name in names]
        grouped = self._by_place.group_by(*places).agg(nw.len().alias("amount"))
        chosen = grouped.select(*places, "amount")
        native = nw.to_native(chosen)
        # Ibis hands over what a warehouse gives as it comes, others all at once.
        if hasattr(native, "to_pyarrow_batches"):
            yield from arrow_parts(_batches(native.to_pyarrow_batches(chunk_size=_BATCH)), names)
        else:
            yield _collected(chosen)

    def orders(self) -> bool:
        return False  # nobody knows by what collation, and whether in parts

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        raise InternalError("a lazy table was asked for an order")

    def rows(self) -> int:
        return int(_collected(self._by_place.select(nw.len())).item())

    def distinct(self, name: str) -> int:
        self._require_exact([name])
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

    def _require_exact(self, names: Sequence[str]) -> None:
        """ColumnError if a collation holds different texts of a column for equal."""
        texts = [name for name in names if self.types.schema[name] == pl.String]
        merged = [name for name in texts if self._merges(name)]
        if merged:
            raise ColumnError(
                f"by its collation, different texts of {listed(merged)} are equal",
                "give a query in which it compares them byte by byte",
            )
        if texts and _backend(self.frame) == "sqlite":
            # Where what follows from a column has no collation, so that it is not found out.
            raise ColumnError(
                f"by Ibis, nothing is known about the collation of {listed(texts)} in SQLite",
                "read the file by its path",
            )

    def _merges(self, name: str) -> bool:
        """Whether the collation of a column holds different texts for equal.

        Of one text, whichever it is, with letters after it: what is made of a column has its
        collation.
        """
        column = nw.col(self._place(name))
        equal = [
            (_followed(column, one) == _followed(column, other)).alias(f"pair{place}")
            for place, (one, other) in enumerate(_DIFFERENT)
        ]
        some = self._by_place.filter(~column.is_null()).head(1)
        return any(map(any, _collected(some.select(*equal)).rows()))

    def _place(self, name: str) -> str:
        return f"column{self._names.index(name)}"


def _collected(lazy: "nw.LazyFrame[Any]") -> pl.DataFrame:
    return lazy.collect("polars").to_polars()


def _batches(reader: Any) -> Iterator[Any]:
    """The batches of a reader of Ibis, without warnings about what it calls itself."""
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            batch = next(reader, None)
        if batch is None:
            return
        yield batch


def _followed(column: nw.Expr, letters: str) -> nw.Expr:
    return nw.concat_str(column, nw.lit(letters))


def _backend(frame: Any) -> str | None:
    """What is behind a table of Ibis; None for all other frames."""
    if not hasattr(frame, "get_backend"):
        return None
    name: str = frame.get_backend().name
    return name
