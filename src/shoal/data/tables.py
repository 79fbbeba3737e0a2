"""`Table`: a source of rows with the roles, types and hierarchies of its columns.

Methods and measures ask a table for counts, never for rows. An empty text is a missing value, in
files and in dataframes alike; so are null and NaN. The policy for missing values is "category"
(missing is one more value) or "refuse". Uses `sources`, `schema` and `hierarchy`, and `distant`
and `tallies` for rows that are not in memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.arguments import described, missing_of, typed
from shoal.chance import Chance
from shoal.counts import Codes, Counts, smallest
from shoal.data import free_memory
from shoal.data.frames import RowsWithCounts
from shoal.data.hierarchy.texts import ANY
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.data.names import require_names
from shoal.data.schema import Role, Schema
from shoal.data.sources import (
    Column,
    Keep,
    Laid,
    Memory,
    Reading,
    Recoded,
    Rewritten,
    Source,
    is_distant,
)
from shoal.data.sources import Suppressed as Suppressed
from shoal.errors import ColumnError, HierarchyError, ParameterError, listed, plural
from shoal.zones import OWNER_ONLY

__all__ = ["Column", "Missing", "Role", "Table", "table"]

Missing = Literal["category", "refuse"]

_FETCHED_CELL = 32
"""Bytes of a cell while rows are fetched: its code, and what becomes of it in a dataframe."""


@typed
@dataclass(frozen=True, eq=False)
class Table:
    """A table about people. Make one with `shoal.table` or `shoal.read`."""

    source: Source
    roles: Mapping[str, Role] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    types: Mapping[str, Kind] = field(default_factory=dict)
    missing: Missing = "category"
    rows_are_people: bool = False
    """Whether the owner said that every row is a person, even if identifying columns repeat."""
    # Results of look-ups; the source keeps its coded columns, for all tables that share it.
    _kinds: dict[str, Kind] = field(default_factory=dict, init=False, repr=False)
    _keys: dict[str, tuple[Key | None, ...]] = field(default_factory=dict, init=False, repr=False)
    _trees: dict[str, Hierarchy] = field(default_factory=dict, init=False, repr=False)
    _leaves: dict[str, Codes] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        return f"<{OWNER_ONLY}shoal.Table of {self.rows:,} rows × {len(self.names)} columns>"

    def _repr_html_(self) -> str:
        """The columns as notebooks show them, and no cell."""
        from shoal.data.cards import card_of_table

        return card_of_table(self).html()

    @property
    def rows(self) -> int:
        return self.source.rows

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def is_headless(self) -> bool:
        """Whether the names of the columns seem to be a record: their file has no line of names."""
        all_text = all(self.kind(name) is Kind.TEXT for name in self.names)
        return all_text and self.source.is_headless()

    @property
    def frame(self) -> "nw.DataFrame[Any]":
        """The dataframe that the table was made from; ColumnError if its rows are elsewhere."""
        return self._in_memory.frame

    # Roles

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
    def released(self) -> tuple[str, ...]:
        """The names of all columns but the identifying ones, which are never released."""
        roles = self.roles
        return tuple(name for name in self.names if roles.get(name) is not Role.IDENTIFYING)

    @property
    def unmentioned(self) -> tuple[str, ...]:
        """The columns without a role."""
        return tuple(name for name in self.names if name not in self.roles)

    @cached_property
    def schema(self) -> Schema:
        """What a promise may depend on; ColumnError if a column has no role."""
        self.require_roles()
        return Schema(
            {name: self.roles[name] for name in self.names},
            {name: self.kind(name) for name in self.names},
            {name: self.hierarchy(name) for name in self.names if name in self.hierarchies},
            self.guessed,
        )

    def require_roles(self) -> None:
        """Raise ColumnError if any column has no role: a release never decides that silently."""
        unmentioned = self.unmentioned
        if not unmentioned:
            return
        columns = "column" if len(unmentioned) == 1 else "columns"
        raise ColumnError(
            f"no role for {columns} {listed(unmentioned)}",
            "say for each whether it is identifying, quasi, sensitive or insensitive",
        )

    def require_people(self, unit: str) -> None:
        """Raise ColumnError if a column cannot tell people apart: it has missing values.

        Also if its type is read off its values, or if it holds decimals, which are read as floats:
        two people might become one.
        """
        self.require(unit)
        kind = self.kind(unit)
        as_float = kind is Kind.FLOAT and self.source.decimal(unit)
        if unit in self.guessed or as_float:
            raise ColumnError(
                f"column {unit!r} tells people apart, but its type is read off its values, which "
                "might make two people one",
                "declare its type, 'text' or 'integer'",
            )
        if kind is Kind.TEXT and self.source.rounded(unit):
            raise ColumnError(
                f"column {unit!r} tells people apart, but its decimals come as floats, which might "
                "make two people one",
                "declare its type as 'integer', or convert it to text in the query",
            )
        known, _ = self.known(unit)
        if known < self.rows:
            raise ColumnError(
                f"column {unit!r} tells people apart, but some of its values are missing",
                "fill them, or drop those rows",
            )

    # Types and hierarchies

    def kind(self, name: str) -> Kind:
        """The type of a column: the declared one, else its hierarchy's, else the source's."""
        if name not in self._kinds:
            self._kinds[name] = self._kind(name)
        return self._kinds[name]

    def _kind(self, name: str) -> Kind:
        self.require(name)
        if name in self.types:
            return self.types[name]
        hierarchy = self.hierarchies.get(name)
        if hierarchy is not None and hierarchy.kind is not Kind.TEXT:
            return hierarchy.kind
        kind = self.source.kind(name)
        if hierarchy is None or kind is Kind.TEXT:
            return kind
        # Integers match the texts "39" and "039" of a hierarchy if all its leaves are integers.
        try:
            self._trees[name] = hierarchy.of_kind(kind)
        except HierarchyError:
            return Kind.TEXT
        return kind

    @cached_property
    def guessed(self) -> frozenset[str]:
        """The columns whose type is not declared but read off their values.

        Such a type reveals information about the values.
        """
        declared = set(self.types)
        for name, tree in self.hierarchies.items():
            if tree.kind is not Kind.TEXT:
                declared.add(name)
        undeclared = [name for name in self.names if name not in declared]
        return frozenset(filter(self.source.guessed, undeclared))

    def hierarchy(self, name: str) -> Hierarchy:
        """The hierarchy of a column, by the column's type.

        It has a leaf for missing values where the policy is "category".
        """
        if name not in self.hierarchies:
            raise HierarchyError(
                f"column {name!r} has no hierarchy",
                "give it one (the simplest has one level, where all values are *)",
            )
        kind = self.kind(name)
        if name not in self._trees:
            try:
                self._trees[name] = self.hierarchies[name].of_kind(kind)
            except HierarchyError as error:
                raise error.at(f"column {name!r} is of type {kind.value!r}") from None
        tree = self._trees[name]
        if self.missing == "category":
            return tree.with_missing()
        return tree

    # Questions to the source

    def require(self, name: str) -> None:
        """Raise ColumnError if there is no such column."""
        if name not in self.names:
            raise ColumnError(f"no column {name!r}", self.source.describe())

    def keys(self, name: str) -> tuple[Key | None, ...]:
        """The distinct values of a column, in canonical order, a missing value (None) last."""
        self.look_at([name])
        return self._keys[name]

    def known(self, name: str) -> tuple[int, int]:
        """How many rows have a value in a column, and how many different values these are."""
        return self.source.known(self._reading(name))

    def labels(self, name: str) -> tuple[str, ...]:
        """The canonical text of every distinct value of a column."""
        kind = self.kind(name)
        return tuple(kind.text(key) for key in self.keys(name))

    def look_at(self, names: Iterable[str]) -> None:
        """Ask for the values of several columns at once, which is faster than one by one."""
        new = [name for name in dict.fromkeys(names) if name not in self._keys]
        if not new:
            return
        readings = [self._reading(name) for name in new]
        for name, keys in zip(new, self.source.values(readings), strict=True):
            if None in keys and self.missing == "refuse":
                raise self._missing(name, keys)
            self._keys[name] = keys

    def _missing(self, name: str, keys: tuple[Key | None, ...]) -> ColumnError:
        recoded = Recoded(self._reading(name), None, len(keys))
        column = self.source.count([recoded])
        # A missing value comes last.
        is_missing = column.codes[0] == len(keys) - 1
        missing = int(column.count[is_missing].sum())
        return ColumnError(
            f"{missing:,} of {self.rows:,} values are missing and the policy is 'refuse'",
            "fill or drop them, or use `missing='category'`",
            where=f"column {name!r}",
        )

    def leaf_of(self, name: str) -> Codes:
        """The leaf in the hierarchy of every distinct value of a column.

        HierarchyError if values are not covered.
        """
        if name not in self._leaves:
            self._leaves[name] = self._leaf_of(name)
        return self._leaves[name]

    def _leaf_of(self, name: str) -> Codes:
        keys = self.keys(name)
        hierarchy = self.hierarchy(name)
        leaves = np.fromiter(map(hierarchy.find, keys), dtype=np.int64, count=len(keys))
        absent = int((leaves < 0).sum())
        if absent:
            values = plural(absent, "distinct value")
            verb, them = ("is", "it") if absent == 1 else ("are", "them")
            fix = f"add {them} there, or clean the table"
            kind, own = self.kind(name), self.hierarchies[name].kind
            if own is not Kind.TEXT and kind is Kind.TEXT:
                fix = f"declare the column {own.value!r}, {fix}"
            elif kind is not Kind.TEXT:
                fix = f"let it begin lower or end higher, {fix}"
            elif any(map(_numeric, keys)):
                fix = f"{fix}; declare the column's type if numbers are written in two ways"
            raise HierarchyError(
                f"{values} of the table {verb} not in its hierarchy",
                fix,
                where=f"column {name!r}",
            )
        return leaves.astype(smallest(hierarchy.cardinality(0)))

    def count(
        self,
        names: Sequence[str],
        levels: Mapping[str, int] | None = None,
        codes: Mapping[str, tuple[Codes, int]] | None = None,
    ) -> Counts:
        """The distinct rows of some columns and how often each occurs.

        Columns in `levels` are counted by their values at that level of their hierarchy, all others
        by their values. Without `levels`, every column that has a hierarchy is counted by its
        leaves. With `codes`, the distinct values of a column (`keys`) get these codes, which are
        below the number given.
        """
        if levels is None:
            levels = {name: 0 for name in names if name in self.hierarchies}
        self.look_at(names)
        recoded = []
        for name in names:
            if codes is not None and name in codes:
                recoded.append(Recoded(self._reading(name), *codes[name]))
            else:
                recoded.append(self._recoded(name, levels.get(name)))
        return self.source.count(recoded)

    def bounded(self, unit: str, rows: int, chance: Chance) -> "Table":
        """The table with at most `rows` rows of each person, drawn uniformly and independently.

        Its columns keep their types, whatever the rows drawn would suggest.
        """
        self.require_people(unit)
        columns = [self._reading(name) for name in self.released if name in self.roles]
        source = self.source.bounded(self._reading(unit), columns, rows, chance)
        if source is self.source:
            return self
        types = {name: self.kind(name) for name in self.names}
        return replace(self, source=source, types=types)

    def write_back(
        self,
        names: Sequence[str],
        levels: Mapping[str, int],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> RowsWithCounts:
        """The records with the columns in `levels` generalised, equal ones once.

        Their order depends on the released values alone. `keep` decides by the codes of these
        columns which records are kept; the others are dropped, or show '*'.
        """
        self.look_at(names)
        columns = []
        for name in names:
            recoded = self._recoded(name, levels.get(name))
            if name not in levels:
                columns.append(Rewritten(recoded, self.keys(name)))
                continue
            labels = self.hierarchy(name).labels[levels[name]]
            starred = keep is not None and suppressed == "star"
            if starred and ANY not in labels:
                labels = (*labels, ANY)
            star = labels.index(ANY) if ANY in labels else 0
            columns.append(Rewritten(recoded, labels, star))
        return self.source.write_back(columns, keep, suppressed)

    def like(self, columns: Laid) -> Any:
        """A dataframe of the same library as the table's.

        Row i of a column has the value `values[codes[i]]` of its (values, codes). Values are keys,
        or texts such as a hierarchy's labels; None and the empty text are missing. A column gets
        the type it had if all its values can have it, else that of its kind (integers, floats,
        dates), else text. The type depends on the values given, not on which of them occur, unless
        it lists values or says that some are missing: a value that no row has leaves no trace. A
        column that the table does not have is text; with None for its values it holds the codes
        themselves, as whole numbers.

        >>> import polars as pl
        >>> people = table(pl.DataFrame({"age": [31, 47]}))
        >>> people.like({"age": (["30", "40"], np.array([0, 1]))}).schema["age"]
        Int64
        >>> people.like({"age": (["30-39", "40-49"], np.array([0, 1]))})["age"].to_list()
        ['30-39', '40-49']
        """
        kinds = {name: self.kind(name) for name in columns if name in self.names}
        return self.source.make(columns, kinds)

    def _reading(self, name: str) -> Reading:
        return Reading(name, self.kind(name))

    def _recoded(self, name: str, level: int | None) -> Recoded:
        reading = self._reading(name)
        if level is None:
            values = len(self.keys(name))
            return Recoded(reading, None, max(values, 1))
        tree = self.hierarchy(name)
        codes = self.leaf_of(name)
        if level:
            codes = tree.maps[level][codes]
        return Recoded(reading, codes, tree.cardinality(level))

    # Single records, which only a table in memory has

    def in_memory(self, besides: Iterable[str] = (), *, in_order: bool = False) -> "Table":
        """The table with its rows in memory, for work on single people; itself if they are there.

        Rows that are elsewhere are fetched: all columns with a role but identifying ones, and those
        `besides`. Rows of files and of Polars keep their order, others are in that of their values.
        TooLargeError if they do not fit; ColumnError if they should be `in_order` and have none.
        """
        if isinstance(self.source, Memory):
            return self
        released = [name for name in self.released if name in self.roles]
        names = list(dict.fromkeys([*released, *besides]))
        kinds = {name: self.kind(name) for name in names}
        free_memory.require(
            self.rows * len(names) * _FETCHED_CELL,
            f"fetching {self.rows:,} rows into memory, since this needs single records,",
            "use fewer columns, a part of the table, or a larger machine",
        )
        from shoal.data.distant import Distant

        frame = None
        if isinstance(self.source, Distant):
            frame = self.source.in_own_order(names)
        if frame is None and in_order:
            raise ColumnError(
                "this needs the order of rows, and those of a database or a cluster have none",
                "read the table, or a part of it, from a file",
            )
        if frame is None:
            frame = RowsWithCounts.of(self.write_back(names, {})).repeated()
        return Table(
            Memory.of(frame),
            {name: role for name, role in self.roles.items() if name in kinds},
            {name: tree for name, tree in self.hierarchies.items() if name in kinds},
            kinds,
            self.missing,
            self.rows_are_people,
        )

    def first_rows(self, rows: int) -> "Table":
        """A table of the first rows, or of some where they have no order; without roles.

        It has the types that were declared, and is for a look at single rows or at how values are
        written.

        >>> import polars as pl
        >>> table(pl.DataFrame({"age": [47, 31, 47]})).first_rows(2).rows
        2
        """
        from shoal.data.distant import Distant

        if isinstance(self.source, Distant):
            first = self.source.first_rows(rows)
        else:
            first = self._in_memory.first_rows(rows)
        return Table(first, types=self.types, missing=self.missing)

    def records(self, names: Iterable[str]) -> list[Column]:
        """Coded columns in the order of the rows; ColumnError if the rows are not in memory.

        They are for work on single people: registers, audits, attacks.

        >>> import polars as pl
        >>> [age] = table(pl.DataFrame({"age": [47, 31, 47]})).records(["age"])
        >>> age.keys, age.codes.tolist()
        ((31, 47), [1, 0, 1])
        """
        wanted = list(names)
        self.look_at(wanted)
        return self._in_memory.columns([self._reading(name) for name in wanted])

    def runs(self, names: Iterable[str]) -> tuple[list[Column], npt.NDArray[np.int64]]:
        """Coded columns of the rows as they are held, and how often each row is there.

        In memory each is there once. A table of `RowsWithCounts` has them in their order.

        >>> import polars as pl
        >>> rows = RowsWithCounts(pl.DataFrame({"age": [47, 31]}), np.array([2, 5]))
        >>> [age], count = table(rows).runs(["age"])
        >>> age.keys, age.codes.tolist(), count.tolist()
        ((31, 47), [1, 0], [2, 5])
        """
        from shoal.data.tallies import Tallied

        wanted = list(names)
        self.look_at(wanted)
        readings = [self._reading(name) for name in wanted]
        if isinstance(self.source, Tallied):
            return self.source.runs(readings)
        return self._in_memory.runs(readings)

    @property
    def _in_memory(self) -> Memory:
        if not isinstance(self.source, Memory):
            raise ColumnError(
                "this needs single records, and the rows of this table are not in memory",
                "read the table, or a part of it, into memory first",
            )
        return self.source

    # Other tables of the same source

    def selecting(self, names: Sequence[str], **changes: Any) -> "Table":
        """A table in memory with some of the columns.

        It has no roles, types or hierarchies but those in `changes`.
        """
        source = self._in_memory.selecting(names)
        return Table(source, missing=self.missing, **changes)

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
                    problem = f"no column {name!r} to be {role.value}"
                    raise ColumnError(problem, self.source.describe())
                if roles.setdefault(name, role) is not role:
                    raise ColumnError(
                        f"column {name!r} is both {roles[name].value} and {role.value}",
                        "give it one role",
                    )
        return replace(self, roles=roles, source=self._told(roles))

    def _told(self, roles: Mapping[str, Role]) -> Source:
        """The source, which is told what a release is made from: all but identifying columns."""
        released = [name for name, role in roles.items() if role is not Role.IDENTIFYING]
        return self.source.together(released)


@typed
def table(  # noqa: PLR0913  keyword options
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
    """A `Table` from a pandas, Polars or Arrow dataframe, a Polars LazyFrame, or an own engine.

    The dataframe is not copied: do not change it while you use the table. A lazy one is not read
    into memory: its distinct rows are counted where they are. `rows_are_people` says
    that every row is a different person, even if an identifying column repeats.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [39, 50], "illness": ["flu", "asthma"]})
    >>> table(people, quasi=["age"], sensitive=["illness"])
    <owner only: shoal.Table of 2 rows × 2 columns>
    """
    source = _source(frame)
    require_names(source.names)
    if missing not in ("category", "refuse"):
        raise ParameterError(
            "is not a policy",
            "it takes 'category' or 'refuse'",
            option="missing",
            given=repr(missing),
        )
    kinds: dict[str, Kind] = {}
    for name, kind in (types or {}).items():
        kinds[name] = Kind.of(kind, f"the type of column {name!r}")
    trees = dict(hierarchies or {})
    for name, tree in trees.items():
        if not isinstance(tree, Hierarchy):
            raise ParameterError(
                f"the hierarchy of column {name!r} is a {type(tree).__name__}",
                "make or read a Hierarchy first",
            )
    people = Table(
        source,
        hierarchies=trees,
        types=kinds,
        missing=missing,
        rows_are_people=rows_are_people,
    )
    for name in (*trees, *kinds):
        people.require(name)
    people = people.with_roles(
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        insensitive=insensitive,
    )
    if isinstance(source, Memory):
        _require_memory(people)
    return people


def _source(frame: Any) -> Source:
    """The source of a dataframe, whether its rows are in memory or not."""
    # By its type: looking at a property, such as the number of rows, may count them.
    if hasattr(type(frame), "write_back"):
        return cast(Source, frame)
    if isinstance(frame, RowsWithCounts):
        from shoal.data.tallies import Tallied

        return Tallied.of_rows(frame)
    if hasattr(type(frame), "tally"):
        return _counted_by(frame)
    if not is_distant(frame):
        return Memory.of(frame)
    from shoal.data.distant import Distant

    return Distant.of(frame)


def _counted_by(engine: Any) -> Source:
    """The source of rows that somebody's own engine counts."""
    from shoal.data.distant import Distant
    from shoal.data.engines.engine import Engine

    if lacking := missing_of(engine, Engine):
        raise ParameterError(
            f"{described(engine)} is taken for an engine, and has no {listed(lacking)}",
            "docs/how-to/extend-source.md has what an engine of your own needs",
        )
    return Distant(engine)


def _require_memory(people: Table) -> None:
    """Raise TooLargeError if the columns of a table in memory cannot be coded."""
    # A coded column takes at most four bytes per row; coding one takes sixteen more.
    bytes_per_row = 4 * len(people.roles) + 16
    free_memory.require(
        people.rows * bytes_per_row,
        f"coding a table of {people.rows:,} rows",
        "use fewer columns, or a larger machine",
    )


def _numeric(key: Key | None) -> bool:
    """Whether a text is a number."""
    try:
        return key is not None and Kind.FLOAT.key(key) is not None
    except (ValueError, TypeError, OverflowError):
        return False
