"""Where views come from: conditions, releases of this project, tables of others, and one TOML file for all of these. Uses
`model`, `tables`, `files`, `release`, and of `audit` the language of conditions; the command line uses it.

A released table becomes one view for each of its groups: the people of the register whose public values fit it. Where somebody
fits several groups, who is in which is not public; such groups become one view that keeps the bags of all, and a note says so.
"""

import tomllib
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.audit import expressions
from shoal.data.disk import misread, reading
from shoal.data.hierarchy import read as read_hierarchy
from shoal.data.hierarchy.texts import ANY, Bools, Texts
from shoal.data.kinds import Kind
from shoal.data.tables import Table, table
from shoal.errors import ColumnError, FileError, InputError, ShoalError, listed, plural
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.views.cells import together
from shoal.views.model import Value, View, Views

__all__ = ["Register", "is_view", "load"]

TRUTHFUL = ("optimal", "mondrian", "coincident", "disclosure", "personal", "buckets")
"""Methods whose releases show values of people as they are, and of everybody in a group."""


def is_view(method: str, promise: Mapping[str, Any]) -> bool:
    """Whether a release shows values of everybody in a group: not with fakes, nor where one row of each person was drawn."""
    return method in TRUTHFUL and not promise.get("fakes") and not promise.get("unit")


@typed
@dataclass(frozen=True, eq=False)
class Register:
    """What everybody knows: who there is, and their public columns.

    people: the public columns, a row for each person, with hierarchies where releases have their values
    person: the column that names people; else they are numbered from 1 on
    kind: the type of sensitive values, by which those that are written in several ways are one
    complete: whether everybody in it is known to be in the table

    >>> import polars as pl
    >>> register = Register(table(pl.DataFrame({"who": ["Ann", "Bob"], "age": [23, 31]})), person="who")
    >>> register.view("young", "age < 30", ["flu"])
    View(name='young', people=frozenset({0}), bag={'flu': 1})
    """

    people: Table
    person: str | None = None
    kind: Kind = Kind.TEXT
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    """What was found out on the way that a reader of the result should know."""

    beside: dict[str, str] = field(default_factory=dict, repr=False)
    """Columns that tables showed besides, which nobody is known by, each with the table that showed it first."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everybody's name."""
        if self.person is None:
            return tuple(str(i + 1) for i in range(self.people.rows))
        column = self.people.column(self.person)
        names = [column.labels[code] for code in column.codes.tolist()]
        if None in column.keys or len(set(names)) < len(names):
            raise ColumnError(
                f"column {self.person!r} is to name people, and has a name twice or none; name everybody once"
            )
        return tuple(names)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _public(self) -> dict[str, expressions.Public]:
        found = {}
        for name in self.people.names:
            column = self.people.column(name)
            found[name] = expressions.Public(
                column.kind, column.keys, array("Q", column.codes.tolist())
            )
        return found

    def rows(self) -> Iterator[list[str]]:
        """Everybody, by all public columns with their names."""
        columns = [self.people.column(name) for name in sorted(self.people.names)]
        for codes in zip(*(column.codes.tolist() for column in columns), strict=True):
            yield [
                f"{column.name}={column.labels[code]}"
                for column, code in zip(columns, codes, strict=True)
            ]

    def trees(self) -> dict[str, list[list[str]]]:
        """The hierarchies, each as its lines."""
        return {
            name: sorted(map(list, tree.lines())) for name, tree in self.people.hierarchies.items()
        }

    # Views

    def view(
        self, name: str, where: str | Iterable[str] | None, bag: Mapping[Any, int] | Iterable[Any]
    ) -> View:
        """A view of those for whom a condition holds, as "age between 30 and 39 and sex = 'M'", or who are named; None is all."""
        if where is None or isinstance(where, str):
            kinds = {one: column.kind for one, column in self._public.items()}
            condition = None if where is None else expressions.condition(where, kinds)
            people = _members(
                expressions.people(condition, self._public, (1 << self.people.rows) - 1),
                self.people.rows,
            )
        else:
            named = list(where)
            if absent := sum(str(one) not in self._number for one in named):
                raise InputError(
                    f"view {name!r} names {plural(absent, 'person')} not in the register; add them, or correct it"
                )
            people = [self._number[str(one)] for one in named]
        return View(name, people, self._bag(name, bag))

    def _bag(self, name: str, bag: Mapping[Any, int] | Iterable[Any]) -> dict[Value, int]:
        pairs = bag.items() if isinstance(bag, Mapping) else Counter(map(self._value, bag)).items()
        found: dict[Value, int] = {}
        for value, often in pairs:
            if isinstance(often, bool) or not isinstance(often, int):
                raise InputError(f"view {name!r}: how often a value occurs is a whole number")
            key = self._value(value)
            found[key] = found.get(key, 0) + often
        return found

    def _value(self, value: object) -> str | None:
        """A sensitive value as text; None is the missing one."""
        try:
            return self.kind.text(self.kind.key(value)) or None
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"a sensitive value is not of the type {self.kind.value!r} that was declared"
            ) from None

    def of_release(self, release: Release, name: str, column: str | None = None) -> list[View]:
        """The views that a release of this project gives: its groups or its buckets, with the values of a sensitive column."""
        paper = release.certificate
        if paper.method not in TRUTHFUL:
            raise InputError(
                f"{name!r} was released by {paper.method}, and is no view: it does not show the values of everybody in a group "
                "as they are. Leave it out; what it adds to others is what its own promise says, if it has one"
            )
        if paper.promise.get("unit"):
            raise InputError(
                f"{name!r} has one row of each {paper.promise['unit']!r}, and which was drawn; it is not a view of all rows. "
                "Leave it out, or release a table with one row per person"
            )
        there = [str(one["name"]) for one in paper.columns if one["role"] == "sensitive"]
        chosen = there[0] if column is None and len(there) == 1 else column
        if chosen is None or chosen not in there:
            raise ColumnError(
                f"{name!r} has the sensitive columns {listed(there)}; name the one that is checked"
            )
        if chosen in self.people.names:
            raise ColumnError(
                f"the register has the column {chosen!r}, which is what nobody should know; leave it out"
            )
        if paper.method == "buckets":
            return self._of_buckets(release, name, chosen)
        # Whatever of it people are known by makes groups, also what was taken for harmless.
        quasi = [
            str(one["name"])
            for one in paper.columns
            if one["role"] == "quasi"
            or (one["name"] in self.people.names and one["name"] != chosen)
        ]
        self._require_trees(paper, name)
        drawn = paper.method == "coincident"  # where some are left out, and groups may look alike
        return self.of_table(
            release.table,
            name,
            {one: one for one in quasi},
            chosen,
            group="group" if drawn else None,
            drawn=drawn,
            starred=paper.parameters.get("suppressed") == "star",
            levels=paper.levels,
            unchanged=[str(one["name"]) for one in paper.columns if one["role"] != "quasi"],
        )

    def _require_trees(self, paper: Certificate, name: str) -> None:
        """InputError unless the register has the hierarchies that a release is read by; values as they are need none."""
        for one in paper.columns:
            column = str(one["name"])
            if "hierarchy_sha256" not in one or paper.levels.get(column) == 0:
                continue
            tree = self.people.hierarchies.get(column)
            if tree is None or one["hierarchy_sha256"] not in (
                None,
                tree.of_kind(Kind(one["type"])).digest,
            ):
                what = "no hierarchy" if tree is None else "another hierarchy"
                raise InputError(
                    f"{name!r}: the register has {what} for column {column!r}; give it the hierarchy that the release went by, "
                    "as its texts mean nothing certain without it"
                )

    def of_table(
        self,
        frame: Any,
        name: str,
        columns: Mapping[str, str],
        sensitive: str,
        *,
        values: Mapping[Any, Any] | None = None,
        group: str | None = None,
        count: str | None = None,
        drawn: bool = False,
        starred: bool = True,
        levels: Mapping[str, int] | None = None,
        unchanged: Collection[str] = (),
    ) -> list[View]:
        """The views that a table of anybody gives: one for every group of rows that look alike.

        columns: which column of the table belongs to a public column of the register
        values: what sensitive values of the table are called here, where they have other names
        group: a column that says which rows are one group, where groups may look alike
        count: a column that says how often a row is meant
        drawn: whether people who fit a group may have been left out of it by chance
        starred: whether rows of which all is `*`, beside others, are those who were suppressed: who fits no other row, if
            everybody in the register is in the table
        levels: of their hierarchies that public columns were released at, where it is one for all rows
        unchanged: public columns whose values are shown as they are
        """
        shown = nw.from_native(frame, eager_only=True)
        if absent := [one for one in columns if one not in self.people.names]:
            raise ColumnError(f"{name!r} goes by columns that the register lacks: {listed(absent)}")
        wanted = [
            *columns.values(),
            sensitive,
            *([group] if group else []),
            *([count] if count else []),
        ]
        if absent := [one for one in wanted if one not in shown.columns]:
            raise ColumnError(
                f"{name!r} has no column {listed(absent)}; it has {listed(shown.columns)}"
            )
        self._apart(
            name, set(shown.columns) - {*columns.values(), *columns, sensitive, group, count}
        )
        called = {text_of(old): new for old, new in (values or {}).items()}
        if ANY in set(map(text_of, shown[sensitive].to_list())) - called.keys():
            raise InputError(
                f"{name!r} has {ANY!r} for a sensitive value, which tells nothing that could be counted; leave it out"
            )
        if absent := sorted(called.keys() - set(map(text_of, shown[sensitive].to_list()))):
            self.notes.append(
                f"{name}: it shows no {listed(absent)}, so that renaming changes nothing; is it spelt as there?"
            )
        labels = (
            zip(*(map(text_of, shown[one].to_list()) for one in columns.values()), strict=True)
            if columns
            else [()] * len(shown)
        )
        own = map(text_of, shown[group].to_list()) if group else [""] * len(shown)
        often = _counts(shown[count].to_list(), count) if count else [1] * len(shown)
        bags: dict[tuple[str, tuple[str, ...]], Counter[str | None]] = {}
        for label, mark, value, times in zip(
            labels, own, map(text_of, shown[sensitive].to_list()), often, strict=True
        ):
            if times:
                bags.setdefault((mark, label), Counter())[
                    self._value(called.get(value, value))
                ] += times
        aside = starred and self.complete and len({key[1] for key in bags}) > 1
        stars = [key for key in bags if aside and columns and set(key[1]) == {ANY}]
        at = levels or {}
        reach = {
            one: _Reach(self.people, one, name, at.get(one), unchanged=one in unchanged)
            for one in columns
        }
        return list(self._groups(name, reach, bags, stars, drawn))

    def _apart(self, name: str, columns: set[str]) -> None:
        """InputError if another table showed one of these columns too: then the rows of both can be joined."""
        if linked := sorted(columns & self.beside.keys() - set(self.people.names)):
            raise InputError(
                f"{self.beside[linked[0]]!r} and {name!r} both show {listed(linked)}, by which their rows can be joined: they "
                "tell more than their groups do. Leave it out of one, or give the register this column too"
            )
        self.beside.update(dict.fromkeys(columns, name))

    def _groups(
        self,
        name: str,
        reach: Mapping[str, "_Reach"],
        bags: Mapping[tuple[str, tuple[str, ...]], Counter[str | None]],
        suppressed: Sequence[tuple[str, tuple[str, ...]]],
        drawn: bool,
    ) -> Iterator[View]:
        """A view for every group, of those who fit it; groups that share people are joined."""
        fits: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for key in bags:
            if key not in suppressed:
                parts = sorted(
                    zip(reach, key[1], strict=True),
                    key=lambda part: reach[part[0]].number(part[1]),
                )
                people = (
                    reach[parts[0][0]].people(parts[0][1]) if parts else np.arange(self.people.rows)
                )
                for one, text in parts[
                    1:
                ]:  # those whom the text with the fewest people fits are looked at, not everybody
                    people = people[reach[one].of(text)[reach[one].codes[people]]]
                fits[key] = sorted(people.tolist())
        if suppressed:  # those who are in no other group
            rest = sorted(set(range(self.people.rows)).difference(*fits.values()))
            fits |= dict.fromkeys(suppressed, rest)
        yield from self._joined(name, [(fits[key], bags[key]) for key in bags], "groups", drawn)

    def _of_buckets(self, release: Release, name: str, column: str) -> list[View]:
        if release.certificate.promise.get("fakes"):
            raise InputError(
                f"{name!r} has buckets with fakes, of which nobody knows what is real; they are no views"
            )
        people = nw.from_native(release.table, eager_only=True)
        held = nw.from_native(release.further["buckets"], eager_only=True)
        columns = [one for one in people.columns if one != "bucket" and one in self.people.names]
        if not columns:
            raise ColumnError(
                f"{name!r} shares no column with the register; they have {listed(people.columns)}"
            )
        self._apart(name, set(people.columns) - {"bucket", *columns})
        bags: dict[int, Counter[str | None]] = {}
        for bucket, value, often in zip(
            held["bucket"].to_list(), held[column].to_list(), held["count"].to_list(), strict=True
        ):
            bags.setdefault(int(bucket), Counter())[self._value(text_of(value))] += int(often)
        kinds = [self.people.column(one).kind for one in columns]
        by_row: dict[tuple[str, ...], set[int]] = {}
        rows = zip(*(people[one].to_list() for one in columns), strict=True)
        for row, bucket in zip(rows, people["bucket"].to_list(), strict=True):
            try:
                key = tuple(
                    kind.text(kind.key(value)) for kind, value in zip(kinds, row, strict=True)
                )
            except (ValueError, TypeError, OverflowError):
                raise ColumnError(
                    f"{name!r} and the register have columns of different types; declare those of the register"
                ) from None
            by_row.setdefault(key, set()).add(int(bucket))
        inside: dict[int, list[int]] = {bucket: [] for bucket in bags}
        labels = [self.people.column(one) for one in columns]
        for person, key in enumerate(
            zip(*([one.labels[code] for code in one.codes.tolist()] for one in labels), strict=True)
        ):
            for bucket in by_row.get(key, ()):
                inside[bucket].append(person)
        return list(
            self._joined(
                name, [(inside[bucket], bag) for bucket, bag in sorted(bags.items())], "buckets"
            )
        )

    def _joined(
        self,
        name: str,
        groups: Sequence[tuple[list[int], Counter[str | None]]],
        what: str,
        drawn: bool = False,
    ) -> Iterator[View]:
        if empty := sum(not people and bag.total() > 0 for people, bag in groups):
            raise InputError(
                f"{name!r} has {empty:,} {what} that fit nobody in the register. Is it of the same people, and has the register "
                "the types of their columns, and the hierarchies that were released by?"
            )
        owner: dict[int, int] = {}
        pairs = [
            (owner.setdefault(person, number), number)
            for number, (people, _) in enumerate(groups)
            for person in people
        ]
        alike: dict[int, list[int]] = {}
        for number, first in together(range(len(groups)), pairs).items():
            alike.setdefault(first, []).append(number)
        joined = sum(len(some) for some in alike.values() if len(some) > 1)
        if joined:
            self.notes.append(
                f"{name}: {joined:,} {what} were joined, as some people fit several of them. Bounds are for someone who knows "
                "who is in which; where other views are about the same people, that is not decided"
            )
        for number, some in zip(count(1), alike.values(), strict=False):
            people = sorted(set().union(*(groups[one][0] for one in some)))
            bag: Counter[Value] = Counter()
            for one in some:
                bag.update(groups[one][1])
            parts = tuple(dict(groups[one][1]) for one in some)
            loose = len(some) > 1 or (drawn and len(people) > bag.total())
            yield View(f"{name}/{number}", people, bag, parts if loose else ())


class _Reach:
    """Whom a released text of a column may stand for."""

    def __init__(
        self,
        people: Table,
        name: str,
        source: str,
        level: int | None = None,
        *,
        unchanged: bool = False,
    ) -> None:
        self.column = people.column(name)
        self.codes = self.column.codes
        self.unchanged = unchanged
        by_tree = name in people.hierarchies and not unchanged
        tree = people.hierarchy(name) if by_tree else None
        leaf = people.leaf_of(name) if by_tree else None
        self.texts = Texts.of_values(
            self.column.labels, self.column.keys, self.column.kind, tree, leaf, level
        )
        self.source = source
        self._known: dict[str, Bools] = {}
        self._often = np.bincount(self.codes, minlength=len(self.column.keys))
        self._ends = np.cumsum(self._often)
        self._by_code = np.argsort(self.codes, kind="stable")

    def number(self, text: str) -> int:
        """How many people of the register it fits."""
        return int(self._often[self.of(text)].sum())

    def people(self, text: str) -> npt.NDArray[np.int64]:
        """Whom of the register it fits."""
        codes = np.flatnonzero(self.of(text))
        if not len(codes):
            return codes
        parts = np.split(codes, np.flatnonzero(np.diff(codes) > 1) + 1)
        return np.concatenate(
            [
                self._by_code[self._ends[own[0]] - self._often[own[0]] : self._ends[own[-1]]]
                for own in parts
            ]
        )

    def of(self, text: str) -> Bools:
        """Which keys of the column it fits."""
        if text not in self._known:
            fits = self.texts.value(text) if self.unchanged else self.texts(text)
            if fits is None:
                raise InputError(
                    f"{self.source!r} has a text in column {self.column.name!r} that is no value, range or set of it; give the "
                    "register the type of the column, and the hierarchy that was released by"
                )
            self._known[text] = fits
        return self._known[text]


def _counts(given: Iterable[object], column: str) -> list[int]:
    """How often rows are meant."""
    try:
        found = [int(str(one)) for one in given]
    except ValueError:
        found = [-1]
    if min(found, default=0) < 0:
        raise InputError(
            f"column {column!r} says how often a row is meant: whole numbers from 0 on, in every row"
        )
    return found


def text_of(value: object) -> str:
    """A value as text, as it is written into files."""
    return "" if value is None or value != value else str(Kind.TEXT.key(value) or "")


def _members(people: int, number: int) -> list[int]:
    flags = np.unpackbits(
        np.frombuffer(people.to_bytes(number // 8 + 1, "little"), dtype=np.uint8), bitorder="little"
    )
    return np.flatnonzero(flags).tolist()


# One file for all

_SECTIONS = ("gamma", "limits", "register", "sensitive", "views")
_READING = {"separator": (str,), "encoding": (str,)}
_REGISTER = {
    "file": (str,),
    "people": (list,),
    "person": (str,),
    "complete": (bool,),
    "types": (dict,),
    "hierarchies": (dict,),
}
_SENSITIVE = {"column": (str,), "type": (str,)}
_VIEW = {"name": (str,), "where": (str,), "people": (list,), "values": (list, dict)}
_RELEASE = {"name": (str,), "release": (str,), "sensitive": (str,)}
_TABLE = {
    "table": (str,),
    "columns": (dict,),
    "values": (dict,),
    **dict.fromkeys(("name", "sensitive", "group", "count"), (str,)),
}
_TEXTS = ("types", "hierarchies", "columns")
_SAID = {str: "a text", bool: "true or false", list: "a list", dict: "a table { … }"}


@typed
def load(path: str | PathLike[str]) -> Views:
    """The views of a TOML file (docs: several releases together); InputError says what does not belong there."""
    return opened(path)[0]


def opened(path: str | PathLike[str]) -> tuple[Views, Register, str | None]:
    """The views of a TOML file, the register that they are of, and the sensitive column, if it is named."""
    where, content = content_of(path)
    sections = sections_of(content, where)
    given = _section(content, "register", where, {**_REGISTER, **_READING})
    secret = _section(content, "sensitive", where, _SENSITIVE)
    register = _register(
        given,
        sections,
        where.parent,
        Kind.of(secret.get("type", "text"), "the type of [sensitive]"),
    )
    if secret.get("column") in register.people.names:
        raise ColumnError(
            f"the register has the column {secret['column']!r}, which is what nobody should know; leave it out"
        )
    views: list[View] = []
    for number, section in enumerate(sections, 1):
        views += _views(register, section, number, where.parent, secret.get("column"))
    limits = {
        register._value(value): limit for value, limit in _section(content, "limits", where).items()
    }
    shown = {value for view in views for value in view.shown}
    if absent := [str(value) for value in limits if value not in shown]:
        register.notes.append(
            f"there are limits for {listed(absent)}, which no view shows; are they spelt as there?"
        )
    found = Views(
        register.names,
        views,
        content.get("gamma", "1/2"),
        limits,
        register.complete,
        tuple(register.notes),
    )
    return found, register, secret.get("column")


def content_of(path: str | PathLike[str]) -> tuple[Path, dict[str, Any]]:
    where = Path(path)
    try:
        content = tomllib.loads(where.read_bytes().decode("utf-8"))
        reading(where)
    except OSError as error:
        raise FileError(f"cannot read {where}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileError(f"{where} is not TOML in UTF-8: see {misread(error)}") from None
    if unknown := [key for key in content if key not in _SECTIONS]:
        raise InputError(
            f"{where.name} has {listed(unknown)}, which is unknown there; known are {listed(_SECTIONS)}"
        )
    return where, content


def sections_of(content: Mapping[str, Any], where: Path) -> list[dict[str, Any]]:
    sections = content.get("views", [])
    if (
        not isinstance(sections, list)
        or not all(isinstance(one, dict) for one in sections)
        or not sections
    ):
        raise InputError(f"{where.name}: write every view as a section [[views]]; there is none")
    return sections


def sensitive_of(path: str | PathLike[str]) -> str | None:
    """The sensitive column that a TOML file of views is about, if it is named."""
    where, content = content_of(path)
    return _section(content, "sensitive", where, _SENSITIVE).get("column")


def others_of(path: str | PathLike[str], register: Register, column: str) -> list[View]:
    """The views of a column in a TOML file of what others have shown; its own register is passed over for the one given."""
    where, content = content_of(path)
    if sensitive_of(path) not in (None, column):
        return []
    return [
        view
        for number, section in enumerate(sections_of(content, where), 1)
        for view in _views(register, section, number, where.parent, column)
    ]


Keys = Mapping[str, tuple[type, ...]]


def _known(section: Mapping[str, Any], place: str, keys: Keys) -> None:
    """InputError unless a section has these keys only, each with what belongs there."""
    if unknown := [key for key in section if key not in keys]:
        raise InputError(
            f"{place} has {listed(unknown)}, which is unknown there; known are {listed(keys)}"
        )
    for key, value in section.items():
        if type(value) not in keys[key]:
            raise InputError(
                f"{place}: {key!r} is {' or '.join(_SAID[kind] for kind in keys[key])}"
            )
        if key in _TEXTS and not all(isinstance(one, str) for one in value.values()):
            raise InputError(f"{place}: {key!r} has a text for every column")


def _section(
    content: Mapping[str, Any], name: str, where: Path, keys: Keys | None = None
) -> dict[str, Any]:
    found = content.get(name, {})
    if not isinstance(found, dict):
        raise InputError(f"{where.name}: {name!r} is a section; write it as [{name}]")
    if keys is not None:
        _known(found, f"{where.name}: [{name}]", keys)
    return found


def _register(
    given: Mapping[str, Any], sections: Sequence[Mapping[str, Any]], folder: Path, kind: Kind
) -> Register:
    import polars as pl

    import shoal

    complete = given.get("complete", True)
    types = given.get("types", {})
    trees = {
        name: read_hierarchy(folder / file, kind=types.get(name, "text"))
        for name, file in given.get("hierarchies", {}).items()
    }
    options: dict[str, Any] = {"types": types, "hierarchies": trees}
    if "file" in given:
        reading = {key: given[key] for key in ("separator", "encoding") if key in given}
        return Register(
            shoal.read(folder / given["file"], **options, **reading),
            given.get("person"),
            kind,
            complete,
        )
    if "people" in given:
        rows = given["people"]
        if not rows or len({isinstance(row, dict) for row in rows}) > 1:
            raise InputError(
                "[register]: 'people' are names, or tables with public columns, at least one and all the same"
            )
        if isinstance(rows[0], dict):
            names = list(dict.fromkeys(name for row in rows for name in row))
            try:
                frame = pl.DataFrame(
                    {name: [row.get(name) for row in rows] for name in names}, strict=True
                )
            except (TypeError, pl.exceptions.PolarsError):
                raise InputError(
                    "[register]: a column of 'people' has values of several types; write all as numbers or as text"
                ) from None
            return Register(table(frame, **options), given.get("person"), kind, complete)
        named = [str(row) for row in rows]
    else:  # those whom the views name
        named = list(dict.fromkeys(str(one) for section in sections for one in _named(section)))
        if not named:
            raise InputError(
                "there is no [register] and no view names its people; say who there is"
            )
    return Register(
        table(pl.DataFrame({"person": named}), types={"person": "text"}), "person", kind, complete
    )


def _named(section: Mapping[str, Any]) -> list[Any]:
    people = section.get("people", [])
    return people if isinstance(people, list) else []


def _views(
    register: Register, section: Mapping[str, Any], number: int, folder: Path, column: str | None
) -> list[View]:
    """The views of one section. What is wrong is said with its place."""
    name = str(section.get("name", f"view {number}"))
    place = f"[[views]] number {number}" + (f", {name!r}" if "name" in section else "")
    try:
        return _of_section(register, section, name, folder, column)
    except ShoalError as error:
        raise type(error)(f"{place}: {error}") from None


def _of_section(
    register: Register, section: Mapping[str, Any], name: str, folder: Path, column: str | None
) -> list[View]:
    kinds = [key for key in ("where", "people", "release", "table") if key in section]
    if len(kinds) > 1 or ("values" in section and kinds and kinds[0] == "release"):
        raise InputError(
            f"it has {listed(kinds)}; a view has one of where, people, release and table"
        )
    kind = kinds[0] if kinds else None
    if kind == "release":
        _known(section, "the section", _RELEASE)
        return register.of_release(
            Release.read(folder / section["release"]), name, section.get("sensitive", column)
        )
    if kind == "table":
        import shoal

        _known(section, "the section", {**_TABLE, **_READING})
        sensitive = section.get("sensitive", column)
        if sensitive is None:
            raise InputError("name the 'sensitive' column of the table")
        reading = {key: section[key] for key in ("separator", "encoding") if key in section}
        frame = shoal.read(folder / section["table"], **reading).frame.to_native()
        return register.of_table(
            frame,
            name,
            section.get("columns", {}),
            sensitive,
            values=section.get("values"),
            group=section.get("group"),
            count=section.get("count"),
        )
    _known(section, "the section", _VIEW)
    values = section.get("values")
    if values is None:
        raise InputError(
            "'values' are those it showed: a list, or a table of how often each occurs"
        )
    if kind is None:
        raise InputError('say whom it is about, by where or people; where = "" is everybody')
    where = section[kind]
    return [
        register.view(name, (where.strip() or None) if isinstance(where, str) else where, values)
    ]
