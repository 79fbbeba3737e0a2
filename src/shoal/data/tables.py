"""`Table`: columns, their roles and types, and values coded as small integers. Uses `errors`, `kinds`,
`frames`, `memory` and `hierarchy`.

A column is coded when it is first used and never otherwise. An empty text is a missing value, in files and in dataframes
alike; so are null and NaN. The policy for missing values is "category" (a value of its own) or "refuse".
"""

import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.counts import Codes, smallest
from shoal.data import frames, memory
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.errors import ColumnError, HierarchyError, ParameterError, listed, plural
from shoal.zones import OWNER_ONLY, owner_only

__all__ = ["Column", "Missing", "Role", "Table", "require_names", "table", "wrap"]

Missing = Literal["category", "refuse"]
_Place = tuple[
    str, Kind, Missing
]  # of a coded column: its name, its type and the policy for missing values

_LOOKED_AT = 10_000  # rows in which a name is looked for, to see whether it is one
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)  # letters, marks and symbols that have no ink
_SIDE_BY_SIDE = 20_000  # rows from which on starting threads costs less than it saves


class Role(StrEnum):
    """What a column is to someone who wants to recognise a person."""

    IDENTIFYING = "identifying"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@owner_only
@dataclass(frozen=True, eq=False)
class Column:
    """One coded column: `keys[codes[i]]` is the value of row i; keys are in canonical order, a missing value (None) last."""

    name: str
    kind: Kind
    keys: tuple[Key | None, ...]
    codes: Codes

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The canonical text of every key."""
        return tuple(self.kind.text(key) for key in self.keys)


@typed
@dataclass(frozen=True, eq=False)
class Table:
    """A table about people. Make one with `shoal.table` or `shoal.read`."""

    frame: "nw.DataFrame[Any]"
    roles: Mapping[str, Role] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    types: Mapping[str, Kind] = field(default_factory=dict)
    missing: Missing = "category"
    rows_are_people: bool = False
    """Whether the owner said that every row is a different person, whatever identifying columns repeat."""
    # Tables that differ in roles share what was coded; what depends on hierarchies is each table's own.
    _coded: dict[_Place, Column] = field(default_factory=dict, repr=False)
    _kinds: dict[str, Kind] = field(default_factory=dict, init=False, repr=False)
    _trees: dict[str, Hierarchy] = field(default_factory=dict, init=False, repr=False)
    _leaves: dict[str, Codes] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        return f"<{OWNER_ONLY}shoal.Table of {self.rows:,} rows × {len(self.names)} columns>"

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
                f"no role for column{'s' if len(self.unmentioned) > 1 else ''} {listed(self.unmentioned)}; "
                "say for each whether it is identifying, quasi, sensitive or insensitive"
            )

    def require_people(self, unit: str) -> None:
        """Raise ColumnError if a row does not say whose it is, by the column that tells people apart.

        Also if its type is read off the values, or is that of decimals, which are read as floats: two people might be one.
        """
        self._require(unit)
        if unit in self.guessed or (
            unit not in self.types and self.frame.get_column(unit).dtype.is_decimal()
        ):
            raise ColumnError(
                f"column {unit!r} is to tell people apart, and its type is read off its values, by which two people might be "
                "one; declare its type, 'text' or 'integer'"
            )
        if None in self.column(unit).keys:
            raise ColumnError(
                f"column {unit!r} is to tell whose rows belong together, and misses values; fill them or drop those rows"
            )

    def taking(self, rows: npt.NDArray[np.integer]) -> "Table":
        """The table of some rows, by their places; columns keep the types they have here."""
        types = {name: self.kind(name) for name in self.names}
        return replace(self, frame=self.frame[rows], types=types, _coded={})

    def kind(self, name: str) -> Kind:
        """The type of a column: the declared one, else its hierarchy's, else the dataframe's."""
        if name not in self._kinds:
            self._kinds[name] = self._kind(name)
        return self._kinds[name]

    def _kind(self, name: str) -> Kind:
        self._require(name)
        if name in self.types:
            return self.types[name]
        hierarchy = self.hierarchies.get(name)
        if hierarchy is not None and hierarchy.kind is not Kind.TEXT:
            return hierarchy.kind
        own = frames.kind_of(self._library, self.frame.get_column(name))
        if hierarchy is None or own is Kind.TEXT:
            return own
        try:  # integers meet the texts "39" and "039" of a hierarchy as integers, if all its leaves are such
            self._trees[name] = hierarchy.of_kind(own)
        except HierarchyError:
            return Kind.TEXT
        return own

    @cached_property
    def guessed(self) -> frozenset[str]:
        """The columns whose type nobody declared, and that is read off their values: it tells about them."""
        declared = {
            *self.types,
            *(
                name
                for name, hierarchy in self.hierarchies.items()
                if hierarchy.kind is not Kind.TEXT
            ),
        }
        return frozenset(
            name
            for name in self.names
            if name not in declared and frames.guessed(self._library, self.frame.get_column(name))
        )

    @cached_property
    def _library(self) -> frames.Library:
        found = frames.library(self.frame)
        assert found is not None  # `table` takes no other
        return found

    def column(self, name: str) -> Column:
        """A column, coded on first use."""
        place = name, self.kind(name), self.missing
        if place not in self._coded:
            self._code([place])
        return self._coded[place]

    def columns(self, names: Iterable[str]) -> list[Column]:
        """Several columns; those that are not coded yet are coded side by side, since the libraries free Python's lock."""
        places = [(name, self.kind(name), self.missing) for name in names]
        if new := [place for place in dict.fromkeys(places) if place not in self._coded]:
            self._code(new)
        return [self._coded[place] for place in places]

    def _require(self, name: str) -> None:
        if name not in self.names:
            raise ColumnError(f"no column {name!r}; {told(self.frame)}")

    def _code(self, places: Sequence[_Place]) -> None:
        together = {
            name: self.frame.get_column(name).to_native()
            for name, kind, _ in places
            if kind is not Kind.INTEGER
        }
        ahead = self._library.together(together)

        def code(place: _Place) -> None:
            name, kind, _ = place
            self._coded[place] = self._column(
                name, kind, *(ahead.pop(name, None) or self._factorize(name, kind))
            )

        if len(places) > len(ahead) + 1 and self.rows >= _SIDE_BY_SIDE:
            with ThreadPoolExecutor(min(len(places), os.cpu_count() or 1)) as threads:
                list(threads.map(code, places))
        else:
            for place in places:
                code(place)

    def _factorize(self, name: str, kind: Kind) -> tuple[npt.NDArray[Any], list[object]]:
        series = self.frame.get_column(name)
        if not frames.comparable(series):
            raise ColumnError(
                f"column {name!r} is of type {series.dtype}, whose values have no order or text that all libraries share; "
                "convert it to text, numbers or dates"
            )
        try:
            native = series.to_native()
            return self._library.factorize(
                self._library.whole(native) if kind is Kind.INTEGER else native
            )
        except TypeError:
            raise ColumnError(
                f"column {name!r} holds lists or other values that cannot be compared; convert it to text"
            ) from None

    def _column(
        self, name: str, kind: Kind, codes: npt.NDArray[Any], values: list[object]
    ) -> Column:
        keys = kind.keys(values, name)
        if None in keys and self.missing == "refuse":
            missing = int(np.isin(codes, [i for i, key in enumerate(keys) if key is None]).sum())
            raise ColumnError(
                f"column {name!r}: {missing:,} of {self.rows:,} values are missing and the policy is 'refuse'; "
                "fill or drop them, or use missing='category'"
            )
        # Distinct values may share a key ("39", "039"), and keys get their canonical order: one table look-up does both.
        ordered: list[Key | None] = [
            *sorted({key for key in keys if key is not None}),
            *[None] * (None in keys),
        ]
        if ordered == keys:
            return Column(name, kind, tuple(ordered), codes.astype(smallest(max(len(ordered), 1))))
        place = {key: i for i, key in enumerate(ordered)}
        code_of = np.array([place[key] for key in keys], dtype=smallest(max(len(ordered), 1)))
        return Column(
            name, kind, tuple(ordered), code_of.take(codes) if keys else codes.astype(np.uint8)
        )

    def hierarchy(self, name: str) -> Hierarchy:
        """The hierarchy of a column by the column's type, with a leaf for missing values where the policy asks for one."""
        if name not in self.hierarchies:
            raise HierarchyError(
                f"column {name!r} has no hierarchy; give it one (the simplest has one level, where all values are *)"
            )
        kind = self.kind(name)
        if name not in self._trees:
            try:
                self._trees[name] = self.hierarchies[name].of_kind(kind)
            except HierarchyError as error:
                raise HierarchyError(
                    f"column {name!r} is of type {kind.value!r}: {error}"
                ) from None
        found = self._trees[name]
        return found.with_missing() if self.missing == "category" else found

    def leaves(self, name: str) -> Codes:
        """Every row's leaf in the column's hierarchy."""
        return self.leaf_of(name)[self.column(name).codes]

    def leaf_of(self, name: str) -> Codes:
        """For every code of a column its leaf in the hierarchy; HierarchyError if values are not covered."""
        if name not in self._leaves:
            column, hierarchy = self.column(name), self.hierarchy(name)
            found = np.fromiter(
                map(hierarchy.find, column.keys), dtype=np.int64, count=len(column.keys)
            )
            absent = int((found < 0).sum())
            if absent:
                raise HierarchyError(
                    f"column {name!r}: {absent:,} distinct value{'s' if absent > 1 else ''} of the table "
                    f"{'are' if absent > 1 else 'is'} not in its hierarchy; add them to it, clean the table, "
                    "or declare the column's type if numbers are written in two ways"
                )
            self._leaves[name] = found.astype(smallest(hierarchy.cardinality(0)))
        return self._leaves[name]

    def like(
        self, columns: Mapping[str, tuple[Sequence[Key | None] | None, npt.NDArray[Any]]]
    ) -> Any:
        """A dataframe of the kind that came in: row i of a column has the value `values[codes[i]]` of its (values, codes).

        Values are keys, or texts such as a hierarchy's labels; None and the empty text are missing. A column gets the type
        it had if all its values can have it, else that of its kind (integers, floats, dates), else text. The type depends on
        the values given, not on which of them occur, unless it lists values or says that some are missing: of a value that
        no row has, nothing is left. A column that the table has not is text; with None for its values it has the codes
        themselves, as whole numbers.

        >>> import polars as pl
        >>> people = table(pl.DataFrame({"age": [31, 47]}))
        >>> people.like({"age": (["30", "40"], np.array([0, 1]))}).schema
        Schema([('age', Int64)])
        >>> people.like({"age": (["30-39", "40-49"], np.array([0, 1]))})["age"].to_list()
        ['30-39', '40-49']
        """
        lengths = {len(codes) for _, codes in columns.values()}
        if len(lengths) != 1:
            raise ColumnError(
                f"a dataframe needs at least one column, and all of one length; given were {len(columns)} columns"
            )
        made = {}
        for name, (values, codes) in columns.items():
            if values is None:
                made[name] = self._library.series(codes, self._library.default(Kind.INTEGER, False))
                continue
            own = self.frame.get_column(name) if name in self.names else None
            kind = Kind.TEXT if own is None else self.kind(name)
            occurs = np.bincount(codes, minlength=len(values)) > 0
            place = np.cumsum(occurs) - 1
            series = frames.series_of(self._library, values, kind, own, occurs)
            made[name] = self._library.take(series, place[codes])
        return self._library.frame(made)

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
                    raise ColumnError(f"no column {name!r} to be {role.value}; {told(self.frame)}")
                if roles.setdefault(name, role) is not role:
                    raise ColumnError(
                        f"column {name!r} is both {roles[name].value} and {role.value}; give it one role"
                    )
        return replace(self, roles=roles)


@typed
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
    rows_are_people: bool = False,
) -> Table:
    """A `Table` from a pandas, Polars or Arrow dataframe. It is not copied: leave it as it is while you use the table.

    With `rows_are_people` you say that every row is a different person, although an identifying column repeats.

    >>> import polars as pl
    >>> table(pl.DataFrame({"age": [39, 50], "illness": ["flu", "asthma"]}), quasi=["age"], sensitive=["illness"])
    <owner only: shoal.Table of 2 rows × 2 columns>
    """
    wrapped = wrap(frame)
    names = wrapped.columns
    require_names(names)
    if missing not in ("category", "refuse"):
        raise ParameterError(f"missing={missing!r}; it takes 'category' or 'refuse'")
    if not isinstance(rows_are_people, bool):
        raise ParameterError(f"rows_are_people={rows_are_people!r}; it takes True or False")
    kinds = {
        name: Kind.of(kind, f"the type of column {name!r}") for name, kind in (types or {}).items()
    }
    for name, tree in (hierarchies or {}).items():
        if not isinstance(tree, Hierarchy):
            raise ParameterError(
                f"the hierarchy of column {name!r} is a {type(tree).__name__}; make or read a Hierarchy first"
            )
    for name in (*(hierarchies or {}), *kinds):
        if name not in names:
            raise ColumnError(f"no column {name!r}; {told(wrapped)}")
    made = Table(
        wrapped,
        hierarchies=dict(hierarchies or {}),
        types=kinds,
        missing=missing,
        rows_are_people=rows_are_people,
    ).with_roles(quasi=quasi, sensitive=sensitive, identifying=identifying, insensitive=insensitive)
    # A column is coded at four bytes a row or less; sixteen more are in use while one is made.
    memory.require(
        made.rows * (4 * len(made.roles) + 16),
        f"coding a table of {made.rows:,} rows",
        "use fewer columns, or a larger machine",
    )
    return made


def require_names(names: Sequence[str], where: str = "") -> None:
    """ColumnError unless every column has a name, and one that people and other programs can tell from the others.

    It says places, for a line that is taken for names may be a record.
    """
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        looks = _looks(name)
        if not looks:
            raise ColumnError(f"{where}column {place} has no name; give it one")
        if looks in seen:
            raise ColumnError(
                f"{where}the names of columns {seen[looks]} and {place} differ only in case, blanks, invisible characters "
                "or Unicode form; rename one"
            )
        seen[looks] = place


def _looks(name: str) -> str:
    """A name without what cannot be seen, or is lost where names are copied."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    seen = "".join(
        one
        for one in folded
        if one.isspace()
        or one
        == "\0"  # which no file has, and begins the names of columns that Shoal adds for itself
        or not (unicodedata.category(one) in ("Cf", "Cc") or _INVISIBLE.match(one))
    )
    return " ".join(seen.split())


def told(frame: "nw.DataFrame[Any]") -> str:
    """Which columns there are, for an error; not where the first line of a file seems to be a record rather than names."""
    if not len(frame):  # so the first line of a file, which may be its only record, is all there is
        return f"the table has {plural(len(frame.columns), 'column')} and no rows"
    if headless(frame):
        return f"the names of its {plural(len(frame.columns), 'column')} look like values: does the file lack a line with names?"
    return f"the table has {listed(frame.columns)}"


def headless(frame: "nw.DataFrame[Any]") -> bool:
    """Whether the names of the columns seem to be a record: a file was read that lacks a line with names."""
    texts = [
        frame[name].head(_LOOKED_AT).to_list() if frame.schema[name] == nw.String else []
        for name in frame.columns
    ]
    return like_a_record(frame.columns, texts)


def like_a_record(names: Sequence[str], below: Sequence[Sequence[str | None]]) -> bool:
    """Whether any of these is a number or a date, occurs among the values below it, or is spelled as all of them are.

    >>> like_a_record(["name", "ward"], [["Ann", "Bea"], ["w1", "w2"]])
    False
    >>> like_a_record(["Ann", "w1"], [["Bea", "Cid"], ["w2", "w3"]])
    True
    """
    for name, values in zip(names, below, strict=True):
        if name and (_like_a_value(name) or name in values):
            return True
        spellings = {_spelling(value) for value in values[:100] if value}
        if re.search(r"[\d@]", name) and spellings == {_spelling(name)}:
            return True
    return False


def _spelling(text: str) -> str:
    """How a text is written: "P-0012" is letters, a dash and digits."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", text))


def _like_a_value(name: str) -> bool:
    for kind in (Kind.FLOAT, Kind.DATE):
        try:
            kind.key(name)
        except (ValueError, TypeError):
            continue
        return True
    return False


def wrap(frame: Any) -> "nw.DataFrame[Any]":
    """A native dataframe in the form that is the same for all libraries, not copied; ColumnError if it is none."""
    try:
        wrapped: nw.DataFrame[Any] | None = nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        names = list(frame.columns if hasattr(frame, "dtypes") else frame.column_names)
        repeated = sorted({str(name) for name in names if names.count(name) > 1})
        raise ColumnError(f"two columns are called {listed(repeated)}; rename one") from None
    except TypeError:
        if hasattr(frame, "collect"):
            raise ColumnError(
                "this dataframe is lazy: nothing has been computed yet; call .collect() first"
            ) from None
        wrapped = None
    if wrapped is None or frames.library(wrapped) is None:
        hint = (
            "read a file with shoal.read"
            if isinstance(frame, str | os.PathLike)
            else "convert it to one of them"
        )
        raise ColumnError(
            f"{type(frame).__name__} is not a pandas, Polars or Arrow dataframe; {hint}"
        )
    if other := [name for name in wrapped.columns if not isinstance(name, str)]:
        raise ColumnError(
            f"column names are text, and {listed(map(str, other))} {'is' if len(other) == 1 else 'are'} not; rename them"
        )
    return wrapped
