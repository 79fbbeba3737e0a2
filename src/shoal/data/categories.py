"""Values of a categorical column from their places, in every Polars that is supported.

Uses Polars; `frames`, `tallies` and `engines.packing` use it.
"""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import polars as pl

    Places = TypeVar("Places", pl.Series, pl.Expr)

__all__ = ["at_places"]


def at_places(places: "Places", dtype: "pl.DataType") -> "Places":
    """The categories at these places; `dtype` is a Categorical or an Enum.

    Places have the type in which Polars stores those of `dtype`.

    >>> import polars as pl
    >>> at_places(pl.Series([1, 0, None], dtype=pl.UInt8), pl.Enum(["f", "m"])).to_list()
    ['m', 'f', None]
    """
    if hasattr(places.cat, "to"):
        return places.cat.to(dtype)
    return places.cast(dtype)  # before Polars 1.43
