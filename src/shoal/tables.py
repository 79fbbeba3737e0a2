"""`Table`: columns, their roles and types, and values coded as small integers. Uses `errors`, `kinds`, `memory`, `hierarchy`.

A column is coded when it is first used and never otherwise. An empty text is a missing value, in files and in dataframes
alike; so are null and NaN. The policy for missing values is "category" (a value of its own) or "refuse".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal import memory
from shoal.errors import ColumnError, HierarchyError, ParameterError
from shoal.hierarchy.tree import Codes, Hierarchy, smallest
from shoal.kinds import Key, Kind

__all__ = ["Column", "Missing", "Role", "Table", "table"]

Missing = Literal["category", "refuse"]


class Role(StrEnum):
    """What a column is to someone who wants to recognise a person."""

    IDENTIFYING = "identifying"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True, eq=False)
class Column:
    """One coded column: `keys[codes[i]]` is the value of row i; keys are in canonical order, a missing value (None) last."""

    name: str
    kind: Kind
    keys: tuple[Key | None, ...]
    codes: Codes

    @property
    def labels(self) -> tuple[str, ...]:
        """The canonical text of every key."""
        return tuple(self.kind.text(key) for key in self.keys)


@dataclass(frozen=True, eq=False)
class Table:
    """A table about people. Make one with `shoal.table` or `shoal.read`."""

    frame: "nw.DataFrame[Any]"
    roles: Mapping[str, Role] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    types: Mapping[str, Kind] = field(default_factory=dict)
    missing: Missing = "category"
    _coded: dict[str, Column] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<shoal.Table of {self.rows:,} rows × {len(self.names)} columns>"

    @property
    def rows(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def having(self, role: Role) -> tuple[str, ...]:
        """The names of the columns with a role, in the table's order."""
        return tuple(name for name in self.names if self.roles.get(name) is role)

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.having(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return self.having(Role.SENSITIVE)

    @property
    def unmentioned(self) -> tuple[str, ...]:
        """The columns without a role."""
        return tuple(name for name in self.names if name not in self.roles)

    def require_roles(self) -> None:
        """Raise ColumnError if any column has no role: a release never decides that silently."""
        if self.unmentioned:
            raise ColumnError(
                f"no role for column{'s' if len(self.unmentioned) > 1 else ''} {_listed(self.unmentioned)}; "
                "say for each whether it is identifying, quasi, sensitive or insensitive"
            )

    def kind(self, name: str) -> Kind:
        """The declared type of a column: declared for it, else by its hierarchy, else by the dataframe."""
        if name in self.types:
            return self.types[name]
        if name in self.hierarchies and self.hierarchies[name].kind is not Kind.TEXT:
            return self.hierarchies[name].kind
        dtype = self.frame.schema[name]
        if name in self.hierarchies:
            return Kind.TEXT
        if dtype.is_integer():
            return Kind.INTEGER
        if dtype.is_float() or dtype.is_decimal():
            return Kind.FLOAT
        if dtype == nw.Date:
            return Kind.DATE
        return Kind.TEXT

    def column(self, name: str) -> Column:
        """A column, coded on first use."""
        if name not in self._coded:
            if name not in self.names:
                raise ColumnError(f"no column {name!r}; the table has {_listed(self.names)}")
            self._coded[name] = self._code(name)
        return self._coded[name]

    def _code(self, name: str) -> Column:
        kind = self.kind(name)
        codes, values = _factorize(self.frame[name])
        keys = kind.keys(values, name)
        # Distinct values may share a key ("39", "039"), and keys get their canonical order: one table look-up does both.
        ordered: list[Key | None] = [*sorted({key for key in keys if key is not None})]
        if None in keys:
            if self.missing == "refuse" and self.rows:
                rows = int(np.isin(codes, [i for i, key in enumerate(keys) if key is None]).sum())
                if rows:
                    raise ColumnError(
                        f"column {name!r}: {rows:,} of {self.rows:,} values are missing and the policy is 'refuse'; "
                        "fill or drop them, or use missing='category'"
                    )
            ordered.append(None)
        place = {key: i for i, key in enumerate(ordered)}
        lut = np.array([place[key] for key in keys], dtype=smallest(len(ordered)))
        return Column(name, kind, tuple(ordered), lut[codes] if len(lut) else codes.astype(np.uint8))

    def hierarchy(self, name: str) -> Hierarchy:
        """The hierarchy of a column, with a leaf for missing values where the policy asks for one."""
        if name not in self.hierarchies:
            raise HierarchyError(f"column {name!r} has no hierarchy; give it one, or hierarchy 'suppress'")
        found = self.hierarchies[name]
        return found.with_missing() if self.missing == "category" else found

    def leaves(self, name: str) -> Codes:
        """Every row's leaf in the column's hierarchy."""
        return self.leaf_of(name)[self.column(name).codes]

    def leaf_of(self, name: str) -> Codes:
        """For every code of a column its leaf in the hierarchy; HierarchyError if values are not covered."""
        column, hierarchy = self.column(name), self.hierarchy(name)
        found = np.array([hierarchy.find(key) for key in column.keys], dtype=np.int64)
        absent = int((found < 0).sum())
        if absent:
            raise HierarchyError(
                f"column {name!r}: {absent} distinct value{'s' if absent > 1 else ''} of the table "
                f"{'are' if absent > 1 else 'is'} not in its hierarchy; add them (shoal hierarchy check --values lists them), "
                "or clean the table"
            )
        return found.astype(smallest(len(hierarchy.maps[0])))

    def with_roles(
        self,
        *,
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        identifying: Iterable[str] = (),
        insensitive: Iterable[str] = (),
    ) -> "Table":
        """The same table with these roles and no others."""
        roles: dict[str, Role] = {}
        given = {
            Role.QUASI: quasi,
            Role.SENSITIVE: sensitive,
            Role.IDENTIFYING: identifying,
            Role.INSENSITIVE: insensitive,
        }
        for role, names in given.items():
            for name in names:
                if name not in self.names:
                    raise ColumnError(f"no column {name!r} to be {role.value}; the table has {_listed(self.names)}")
                if roles.setdefault(name, role) is not role:
                    raise ColumnError(f"column {name!r} is both {roles[name].value} and {role.value}; give it one role")
        return replace(self, roles=roles)


def table(
    frame: Any,
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifying: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    types: Mapping[str, Kind | str] | None = None,
    missing: Missing = "category",
) -> Table:
    """A `Table` from a pandas, Polars or Arrow dataframe."""
    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except (TypeError, ValueError) as error:  # narwhals: DuplicateError is a ValueError
        if "duplicate" in str(error).lower() or "unique" in str(error).lower():
            raise ColumnError("the dataframe has two columns of one name; rename one") from None
        raise ColumnError(f"{type(frame).__name__} is not a pandas, Polars or Arrow dataframe") from None
    names = list(wrapped.columns)
    repeated = sorted({str(name) for name in names if names.count(name) > 1})
    if repeated:
        raise ColumnError(f"two columns are called {_listed(repeated)}; rename one")
    if missing not in ("category", "refuse"):
        raise ParameterError(f"missing={missing!r}; it takes 'category' or 'refuse'")
    known = [kind.value for kind in Kind]
    for name, kind in (types or {}).items():
        if kind not in known:
            raise ParameterError(f"type {kind!r} of column {name!r} is unknown; it takes {_listed(known)}")
    for name in (*(hierarchies or {}), *(types or {})):
        if name not in names:
            raise ColumnError(f"no column {name!r}; the table has {_listed(names)}")
    made = Table(
        wrapped,
        hierarchies=dict(hierarchies or {}),
        types={name: Kind(kind) for name, kind in (types or {}).items()},
        missing=missing,
    )
    memory.require(
        made.rows * 8 * 4, f"coding a table of {made.rows:,} rows", "read fewer columns, or use Parquet and the engine"
    )
    return made.with_roles(quasi=quasi, sensitive=sensitive, identifying=identifying, insensitive=insensitive)


def _factorize(series: "nw.Series[Any]") -> tuple[npt.NDArray[Any], list[object]]:
    """Codes and distinct values of a series, in no particular order."""
    native = series.to_native()
    if series.implementation.is_polars():
        import polars as pl

        text = native if native.dtype == pl.String else None
        if text is not None:
            values = text.drop_nulls().unique().to_list()
            physical = text.cast(pl.Enum(values)).to_physical()
            if text.null_count():
                return physical.cast(pl.UInt32).fill_null(len(values)).to_numpy(), [*values, None]
            return physical.to_numpy(), values
        codes = native.rank("dense")
        pairs = native.unique().sort(nulls_last=True)
        return (codes.fill_null(pairs.drop_nulls().len() + 1) - 1).to_numpy(), pairs.to_list()
    if series.implementation.is_pyarrow():
        encoded = native.combine_chunks().dictionary_encode(null_encoding="encode")
        if hasattr(encoded, "chunks"):
            encoded = encoded.unify_dictionaries().combine_chunks()
        return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
    import pandas as pd

    codes, uniques = pd.factorize(native, use_na_sentinel=True)
    values = [None if value is pd.NaT else value for value in uniques.astype(object)]
    codes = np.where(codes < 0, len(values), codes)
    return codes, [*values, None]


def _listed(names: Iterable[object]) -> str:
    return ", ".join(repr(str(name)) for name in names)
