"""`Register`: who there is, and what everybody knows of them.

It turns conditions, tables and releases into views. Uses `released` and `model`, `data`,
`releases`, and of `audit` the language of conditions; `files`, `candidates` and the ledger use it.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from shoal.arguments import typed
from shoal.audit import expressions
from shoal.data.hierarchy.texts import ANY
from shoal.data.kinds import Kind
from shoal.data.sources import Column
from shoal.data.tables import Table
from shoal.errors import ColumnError, InputError, listed, plural
from shoal.methods.entry import AsViews
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.views.model import Value, View
from shoal.views.released import (
    Legend,
    Reach,
    ShownGroup,
    ShownRow,
    as_views,
    everybody_fitting,
    is_starred,
    rows_of,
    text_of,
    views_of_groups,
)
from shoal.zones import brief

__all__ = ["Register", "form_of", "sensitive_columns"]

_Bags = dict[tuple[str, tuple[str, ...]], Counter[str | None]]
"""How often each value occurs in every group, by the group's mark and its texts."""


@typed
@brief
@dataclass(frozen=True, eq=False)
class Register:
    """What everybody knows: who there is, and their public columns.

    people: the public columns, a row for each person, with the hierarchies that releases go by
    person: the column that names people; otherwise they are numbered from 1
    kind: the type of sensitive values, by which those that are written in several ways are one
    complete: whether everybody in it is known to be in the table

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"who": ["Ann", "Bob"], "age": [23, 31]})
    >>> register = Register(shoal.table(frame), person="who")
    >>> view = register.view("young", "age < 30", ["flu"])
    >>> view.name, view.people, view.bag
    ('young', frozenset({0}), {'flu': 1})
    """

    people: Table
    person: str | None = None
    kind: Kind = Kind.TEXT
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    """What was noticed on the way that a reader of the result should know."""

    beside: dict[str, str] = field(default_factory=dict, repr=False)
    """Columns that tables showed besides and nobody is known by, each with the table that showed it
    first."""

    @classmethod
    def of_rows(cls, table: Table, sensitive: str, person: str | None = None) -> "Register":
        """Everybody in a table, with the quasi-identifying columns that they are known by.

        sensitive: the column that views are about, of which nothing but its type is kept
        """
        public = [name for name in table.quasi if name != sensitive]
        if person is not None and person not in public:
            public.append(person)
        known = table.in_memory(public).selecting(
            public,
            hierarchies={name: tree for name, tree in table.hierarchies.items() if name in public},
            types={name: table.kind(name) for name in public},
        )
        return cls(known, person, table.kind(sensitive))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everybody's name."""
        if self.person is None:
            return tuple(str(row + 1) for row in range(self.people.rows))
        column = self._columns[self.person]
        names = _texts(column)
        if None in column.keys or len(set(names)) < len(names):
            raise ColumnError(
                f"column {self.person!r} should name people, and has a name twice or none",
                "name everybody once",
            )
        return tuple(names)

    @cached_property
    def _columns(self) -> dict[str, Column]:
        """Everybody's public values, in the order of the rows."""
        names = self.people.names
        return dict(zip(names, self.people.records(names), strict=True))

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _public(self) -> dict[str, expressions.Public]:
        return {
            name: expressions.Public(column.kind, column.keys, _places(column))
            for name, column in self._columns.items()
        }

    def rows(self) -> Iterator[list[str]]:
        """Everybody, by all public columns with their names."""
        columns = [
            [f"{name}={text}" for text in _texts(column)]
            for name, column in sorted(self._columns.items())
        ]
        yield from map(list, zip(*columns, strict=True))

    def trees(self) -> dict[str, list[list[str]]]:
        """The hierarchies, each as its lines."""
        trees = self.people.hierarchies
        return {name: sorted(map(list, tree.lines())) for name, tree in trees.items()}

    def canonical(self, value: object) -> str | None:
        """A sensitive value as the one text that stands for it; None is the missing one."""
        try:
            return self.kind.text(self.kind.key(value)) or None
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"a sensitive value is not of the type {self.kind.value!r} that was declared"
            ) from None

    # By a condition, or by names

    def view(
        self,
        name: str,
        where: str | Iterable[str] | None,
        bag: Mapping[Any, int] | Iterable[Any],
    ) -> View:
        """A view of those for whom a condition holds, or who are named; None is everybody.

        where: such as "age between 30 and 39 and sex = 'M'", or a list of names
        """
        if where is None or isinstance(where, str):
            return View(name, self._satisfying(where), self._bag(name, bag))
        named = list(map(str, where))
        absent = sum(person not in self._number for person in named)
        if absent:
            raise InputError(
                f"view {name!r} names {plural(absent, 'person')} not in the register",
                "add them, or correct it",
            )
        people = [self._number[person] for person in named]
        return View(name, people, self._bag(name, bag))

    def _satisfying(self, where: str | None) -> list[int]:
        """The people for whom a condition holds."""
        kinds = {name: column.kind for name, column in self._public.items()}
        condition = None if where is None else expressions.condition(where, kinds)
        # A set of people is one integer here, a bit for each.
        everybody = (1 << self.people.rows) - 1
        people = expressions.people(condition, self._public, everybody)
        written = people.to_bytes(self.people.rows // 8 + 1, "little")
        flags = np.unpackbits(np.frombuffer(written, dtype=np.uint8), bitorder="little")
        return np.flatnonzero(flags).tolist()

    def _bag(
        self,
        name: str,
        bag: Mapping[Any, int] | Iterable[Any],
    ) -> dict[Value, int]:
        if not isinstance(bag, Mapping):
            # Values that are written in several ways are one.
            bag = Counter(map(self.canonical, bag))
        counts: dict[Value, int] = {}
        for value, often in bag.items():
            if isinstance(often, bool) or not isinstance(often, int):
                raise InputError(f"view {name!r}: the count of a value should be a whole number")
            key = self.canonical(value)
            counts[key] = counts.get(key, 0) + often
        return counts

    # Of a release

    def of_release(
        self,
        release: Release,
        name: str,
        column: str | None = None,
    ) -> list[View]:
        """The views that a release gives: its groups or buckets, with a sensitive column."""
        certificate = release.certificate
        form = form_of(certificate, name)
        sensitive = self._sensitive(certificate, name, column)
        if form.apart is not None:
            return self._of_buckets(release, name, sensitive, form)
        self._require_trees(certificate, name)
        # Whatever of it people are known by makes groups, also what was taken for harmless.
        quasi = [
            str(one["name"])
            for one in certificate.columns
            if one["role"] == "quasi"
            or (one["name"] in self.people.names and one["name"] != sensitive)
        ]
        legend = Legend(
            {name: name for name in quasi},
            sensitive,
            group=form.mark,
            drawn=form.drawn,
            starred=certificate.parameters.get("suppressed") == "star",
            levels=certificate.levels,
            unchanged=[str(one["name"]) for one in certificate.columns if one["role"] != "quasi"],
        )
        return self.of_table(release.table, name, legend)

    def _sensitive(self, certificate: Certificate, name: str, column: str | None) -> str:
        """The sensitive column of a release that is checked."""
        sensitive = sensitive_columns(certificate)
        if column is None and len(sensitive) == 1:
            column = sensitive[0]
        if column is None or column not in sensitive:
            raise ColumnError(
                f"{name!r} has the sensitive columns {listed(sensitive)}",
                "name the one that is checked",
            )
        self.require_secret(column)
        return column

    def require_secret(self, column: str) -> None:
        """ColumnError if the register itself has the sensitive column."""
        if column in self.people.names:
            raise ColumnError(
                f"the register has the column {column!r}, which nobody should know", "leave it out"
            )

    def _require_trees(self, certificate: Certificate, name: str) -> None:
        """InputError unless the register has the hierarchies that a release went by.

        Columns that were released unchanged need none.
        """
        for one in certificate.columns:
            column = str(one["name"])
            # Level 0 is the values themselves.
            if "hierarchy_sha256" not in one or certificate.levels.get(column) == 0:
                continue
            digest = one["hierarchy_sha256"]
            tree = self.people.hierarchies.get(column)
            if tree is None:
                problem = "no hierarchy"
            # None: the hierarchy was derived from the rows, and there is none to compare.
            elif digest not in (None, tree.of_kind(Kind(one["type"])).digest):
                problem = "another hierarchy"
            else:
                continue
            raise InputError(
                f"{name!r}: the register has {problem} for column {column!r}",
                "give it the hierarchy of the release, without which the texts are ambiguous",
            )

    def _of_buckets(
        self,
        release: Release,
        name: str,
        column: str,
        form: AsViews,
    ) -> list[View]:
        """Views of buckets: the released rows name them, a further table holds their values."""
        assert form.mark is not None
        assert form.apart is not None
        people = nw.from_native(release.table, eager_only=True)
        held = nw.from_native(release.further[form.apart], eager_only=True)
        shared = set(people.columns) & set(self.people.names) - {form.mark}
        public = [name for name in people.columns if name in shared]
        if not public:
            raise ColumnError(
                f"{name!r} shares no column with the register", f"it has {listed(people.columns)}"
            )
        self._require_apart(name, set(people.columns) - {form.mark, *public})
        bags: dict[int, Counter[str | None]] = {}
        parts = (held[part].to_list() for part in (form.mark, column, "count"))
        for bucket, value, often in zip(*parts, strict=True):
            bag = bags.setdefault(int(bucket), Counter())
            bag[self.canonical(text_of(value))] += int(often)
        buckets_of = self._buckets_of_rows(people, name, public, form.mark)
        inside: dict[int, list[int]] = {bucket: [] for bucket in bags}
        texts = [_texts(self._columns[one]) for one in public]
        for person, row in enumerate(zip(*texts, strict=True)):
            # Somebody who looks like a released row may be in any bucket of such rows.
            for bucket in buckets_of.get(row, ()):
                inside[bucket].append(person)
        groups = [ShownGroup(inside[bucket], bag) for bucket, bag in sorted(bags.items())]
        return self._views(name, groups, "buckets")

    def _buckets_of_rows(
        self, people: "nw.DataFrame[Any]", name: str, public: Sequence[str], mark: str
    ) -> dict[tuple[str, ...], set[int]]:
        """The buckets of all released rows with the same public values."""
        kinds = [self.people.kind(one) for one in public]
        buckets: dict[tuple[str, ...], set[int]] = {}
        rows = zip(*(people[one].to_list() for one in public), strict=True)
        for row, bucket in zip(rows, people[mark].to_list(), strict=True):
            cells = zip(kinds, row, strict=True)
            try:
                texts = tuple(kind.text(kind.key(value)) for kind, value in cells)
            except (ValueError, TypeError, OverflowError):
                raise ColumnError(
                    f"{name!r} and the register have columns of different types",
                    "declare those of the register",
                ) from None
            buckets.setdefault(texts, set()).add(int(bucket))
        return buckets

    # Of a table

    def of_table(self, frame: Any, name: str, legend: Legend) -> list[View]:
        """The views that a released table gives: one for every group of rows that look alike."""
        absent = [column for column in legend.columns if column not in self.people.names]
        if absent:
            raise ColumnError(f"{name!r} goes by columns that the register lacks: {listed(absent)}")
        rows = rows_of(frame, name, legend)
        columns = nw.from_native(frame, eager_only=True).columns
        self._require_apart(name, set(columns) - {*legend.mentioned, *legend.columns})
        bags = self._bags(name, rows, legend)
        reach = {column: Reach(self.people, column, name, legend) for column in legend.columns}
        starred = []
        if legend.starred and self.complete and len({texts for _, texts in bags}) > 1:
            starred = [key for key in bags if is_starred(key[1])]
        fits = {
            key: sorted(everybody_fitting(self.people.rows, reach, key[1]).tolist())
            for key in bags
            if key not in starred
        }
        if starred:
            # Suppressed records are of those who are in no other group.
            rest = sorted(set(range(self.people.rows)).difference(*fits.values()))
            fits |= dict.fromkeys(starred, rest)
        groups = [ShownGroup(fits[key], bag) for key, bag in bags.items()]
        return self._views(name, groups, "groups", drawn=legend.drawn)

    def _bags(self, name: str, rows: Sequence[ShownRow], legend: Legend) -> _Bags:
        """The bags of all groups, with values as they are called here."""
        renamed = {text_of(old): new for old, new in legend.values.items()}
        shown = {row.value for row in rows}
        if ANY in shown - renamed.keys():
            raise InputError(
                f"{name!r} has {ANY!r} for a sensitive value, which cannot be counted",
                "leave it out",
            )
        absent = sorted(renamed.keys() - shown)
        if absent:
            self.notes.append(
                f"{name}: it does not show {listed(absent)}, so renaming changes nothing; "
                "is it spelt the same there?"
            )
        bags: _Bags = {}
        for row in rows:
            if row.records:
                value = self.canonical(renamed.get(row.value, row.value))
                bags.setdefault((row.mark, row.texts), Counter())[value] += row.records
        return bags

    def _require_apart(self, name: str, columns: set[str]) -> None:
        """InputError if another table showed one of these columns too, so rows can be joined."""
        # Columns of the register make groups, so they do not link rows any further.
        linked = sorted(columns & self.beside.keys() - set(self.people.names))
        if linked:
            raise InputError(
                f"{self.beside[linked[0]]!r} and {name!r} both show {listed(linked)}, by which "
                "their rows can be joined: they reveal more than their groups do",
                "leave it out of one, or give the register this column too",
            )
        self.beside.update(dict.fromkeys(columns, name))

    def _views(
        self, name: str, groups: Sequence[ShownGroup], noun: str, *, drawn: bool = False
    ) -> list[View]:
        """A view for every group; a note says if some were joined, as they share people."""
        # A group of nobody means that its texts were misread: better no answer than a wrong one.
        empty = sum(not group.people and group.bag.total() > 0 for group in groups)
        if empty:
            raise InputError(
                f"{name!r} has {empty:,} {noun} that fit nobody in the register. Is it of the same "
                "people, and does the register have the types and hierarchies of the release?"
            )
        views, joined = views_of_groups(name, groups, drawn=drawn)
        if joined:
            self.notes.append(
                f"{name}: {joined:,} {noun} were joined, as some people fit several of them. "
                "Bounds are for someone who knows who is in which; where other views are about "
                "the same people, that is not decided"
            )
        return views


def _texts(column: Column) -> list[str]:
    """Everybody's value as text."""
    return [column.labels[code] for code in column.codes.tolist()]


def _places(column: Column) -> "array[int]":
    """The codes of a column as conditions are evaluated on."""
    return array("Q", column.codes.tolist())


def sensitive_columns(certificate: Certificate) -> list[str]:
    """The sensitive columns of a release."""
    return [str(one["name"]) for one in certificate.columns if one["role"] == "sensitive"]


def form_of(certificate: Certificate, name: str) -> AsViews:
    """How a release becomes views; InputError if it does not."""
    form = as_views(certificate.method)
    if form is None:
        raise InputError(
            f"{name!r} was released by {certificate.method} and is not a view: it does not show "
            "the true values of everybody in a group",
            "leave it out; what it adds to others is stated by its own promise, if it has one",
        )
    unit = certificate.promise.get("unit")
    if unit:
        raise InputError(
            f"{name!r} has one row of each {unit!r}, drawn by chance, and is not a view of all "
            "rows",
            "leave it out, or release a table with one row per person",
        )
    if certificate.promise.get("fakes"):
        raise InputError(
            f"{name!r} has buckets with fakes, of which nobody knows what is real: they are not "
            "views",
            "leave it out",
        )
    return form
