"""`ViewsFile`: one TOML file that says who there is and what was shown; and views written as TOML.

Uses `register` and `data.toml`; `gathering`, `certifying` and the ledger use it. Errors name the
section and the key they are about.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.arguments import typed
from shoal.data import toml
from shoal.data.databases import is_database
from shoal.data.disk import Place, is_address
from shoal.data.hierarchy import read as read_hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table, table
from shoal.errors import InputError, ShoalError, listed
from shoal.releases.release import Release
from shoal.views.model import Value, View, Views
from shoal.views.register import Register
from shoal.views.released import Legend

__all__ = ["Subject", "ViewSection", "ViewsFile", "as_toml", "others_of", "sensitive_of"]

_SECTIONS = ("gamma", "limits", "register", "sensitive", "views")
_READING: toml.Keys = {"separator": (str,), "encoding": (str,)}
_REGISTER: toml.Keys = {
    "file": (str,),
    "query": (str,),
    "people": (list,),
    "person": (str,),
    "complete": (bool,),
    "types": (dict,),
    "hierarchies": (dict,),
    **_READING,
}
_SENSITIVE: toml.Keys = {"column": (str,), "type": (str,)}
_VIEW: toml.Keys = {
    "name": (str,),
    "where": (str,),
    "people": (list,),
    "values": (list, dict),
}
_RELEASE: toml.Keys = {
    "name": (str,),
    "release": (str,),
    "sensitive": (str,),
}
_TABLE: toml.Keys = {
    "name": (str,),
    "table": (str,),
    "columns": (dict,),
    "sensitive": (str,),
    "values": (dict,),
    "group": (str,),
    "count": (str,),
    **_READING,
}


@dataclass(frozen=True)
class Subject:
    """What the views of a file are about: the sensitive column, if it is named, and its type."""

    column: str | None
    kind: Kind


@dataclass(frozen=True)
class ViewSection:
    """One [[views]] of a file, numbered from 1; paths are seen from the file's folder."""

    number: int
    content: Mapping[str, Any]
    folder: Path

    @property
    def name(self) -> str:
        return str(self.content.get("name", f"view {self.number}"))

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        named = f", {self.name!r}" if "name" in self.content else ""
        return f"[[views]] number {self.number}{named}"

    def views(self, register: Register, column: str | None) -> list[View]:
        """Its views of a register; `column` is the sensitive one unless it names another."""
        try:
            return self._views(register, column)
        except ShoalError as error:
            raise error.at(self.place) from None

    def _views(self, register: Register, column: str | None) -> list[View]:
        match self._kind():
            case "release":
                toml.require_keys(self.content, _RELEASE)
                release = Release.read(self.folder / self.content["release"])
                sensitive = self.content.get("sensitive", column)
                return register.of_release(release, self.name, sensitive)
            case "table":
                toml.require_keys(self.content, _TABLE)
                legend = self._legend(column)
                return register.of_table(self._table(), self.name, legend)
            case kind:
                toml.require_keys(self.content, _VIEW)
                return [self._view(register, kind)]

    def _kind(self) -> str | None:
        """The key that says whom it is about."""
        kinds = [key for key in ("where", "people", "release", "table") if key in self.content]
        # A release brings its own values; those of a table may be renamed.
        if len(kinds) > 1 or (kinds == ["release"] and "values" in self.content):
            raise InputError(
                f"it has {listed(kinds)}", "give it one of where, people, release and table"
            )
        return kinds[0] if kinds else None

    def _legend(self, column: str | None) -> Legend:
        columns = _texts(self.content, ("columns",))
        sensitive = self.content.get("sensitive", column)
        if sensitive is None:
            raise InputError("missing", "name the sensitive column of the table", where="sensitive")
        return Legend(
            columns,
            sensitive,
            self.content.get("values", {}),
            group=self.content.get("group"),
            count=self.content.get("count"),
        )

    def _table(self) -> Any:
        return _read(self.content["table"], self.folder, self.content).frame.to_native()

    def _view(self, register: Register, kind: str | None) -> View:
        values = self.content.get("values")
        if values is None:
            raise InputError(
                "missing",
                "give the values it showed: a list, or a table with the count of each",
                where="values",
            )
        if kind is None:
            raise InputError(
                "it does not say whom it is about", 'add where or people; where = "" is everybody'
            )
        where = self.content[kind]
        if isinstance(where, str):
            # An empty condition holds for everybody.
            where = where.strip() or None
        return register.view(self.name, where, values)


@dataclass(frozen=True, eq=False)
class ViewsFile:
    """A TOML file of views that was read; only its keys are checked so far."""

    path: Path
    content: Mapping[str, Any]

    @classmethod
    def read(cls, path: Place) -> "ViewsFile":
        """The file at a path; an error if it is not TOML or has a key that is unknown there."""
        document = toml.read(path, "a file of views")
        for name in document.content:
            if name not in _SECTIONS:
                raise toml.unknown_key((name,), _SECTIONS).at(document.path.name)
        return cls(document.path, document.content)

    @property
    def folder(self) -> Path:
        return self.path.parent

    @cached_property
    def sections(self) -> list[ViewSection]:
        """Every [[views]]; InputError if there is none."""
        written = self.content.get("views", [])
        whole = isinstance(written, list) and all(isinstance(one, dict) for one in written)
        if not whole or not written:
            raise InputError(
                "there should be at least one",
                "write every view as a section [[views]]",
                where="views",
            )
        return [ViewSection(number, one, self.folder) for number, one in enumerate(written, 1)]

    @cached_property
    def subject(self) -> Subject:
        """What its [sensitive] says."""
        given = toml.section(self.content, "sensitive", _SENSITIVE)
        kind = Kind.of(given.get("type", "text"), "the type of [sensitive]")
        return Subject(given.get("column"), kind)

    def views(self, register: Register) -> Views:
        """Everything that it shows, with its limits."""
        column = self.subject.column
        if column is not None:
            # Whoever has the column in the register knows all of it.
            register.require_secret(column)
        shown: list[View] = []
        for section in self.sections:
            shown += section.views(register, column)
        given = toml.section(self.content, "limits")
        limits = {register.canonical(value): limit for value, limit in given.items()}
        occurring: set[Value] = {value for view in shown for value in view.bag}
        # A limit that no value meets is likely a misspelling, and would protect nobody.
        absent = [str(value) for value in limits if value not in occurring]
        if absent:
            register.notes.append(
                f"there are limits for {listed(absent)}, which no view shows; "
                "are they spelt the same there?"
            )
        return Views(
            register.names,
            shown,
            self.content.get("gamma", "1/2"),
            limits,
            register.complete,
            tuple(register.notes),
        )

    def register(self) -> Register:
        """The register that it names or lists; or else those whom its views name."""
        given = toml.section(self.content, "register", _REGISTER)
        types = _texts(given, ("register", "types"))
        files = _texts(given, ("register", "hierarchies"))
        options: dict[str, Any] = {
            "types": types,
            "hierarchies": {
                name: read_hierarchy(self.folder / file, kind=types.get(name, "text"))
                for name, file in files.items()
            },
        }
        person: str | None = given.get("person")
        if "file" in given:
            people = _read(given["file"], self.folder, given, **options)
        elif "people" in given:
            rows = given["people"]
            if not rows or len({isinstance(row, dict) for row in rows}) > 1:
                raise InputError(
                    "should be names, or tables with public columns",
                    "give at least one, and all of one form",
                    where="register.people",
                )
            if isinstance(rows[0], dict):
                people = table(_frame(rows), **options)
            else:
                people, person = _named(map(str, rows)), "person"
        else:
            # Nobody else can be in a view, so nothing is lost without a register.
            people, person = _named(self._mentioned()), "person"
        complete = given.get("complete", True)
        return Register(people, person, self.subject.kind, complete)

    def _mentioned(self) -> Iterator[str]:
        """Everybody whom the views name, once."""
        names: dict[str, None] = {}
        for section in self.sections:
            people = section.content.get("people", [])
            if isinstance(people, list):
                names |= dict.fromkeys(map(str, people))
        if not names:
            raise InputError(
                "there is no [register], and no view names its people", "say who there is"
            )
        return iter(names)


def _texts(content: Mapping[str, Any], place: Sequence[str]) -> Mapping[str, str]:
    """A part of a section that has a text for every column."""
    part: Mapping[str, str] = content.get(place[-1], {})
    for name, text in part.items():
        if not isinstance(text, str):
            raise InputError("should be a text", where=toml.at((*place, name)))
    return part


def _read(place: str, folder: Path, given: Mapping[str, Any], **options: Any) -> Table:
    """A table file, or a query of a database, read as its section says."""
    import shoal

    path = place if is_address(place) else folder / place
    reading = {key: given[key] for key in ("query", *_READING) if key in given}
    if not is_database(str(path)):
        reading["engine"] = "memory"
    people = shoal.read(path, **options, **reading)
    return people.in_memory(people.names)


def _frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    import polars as pl

    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    try:
        return pl.DataFrame(columns, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        raise InputError(
            "a column has values of several types",
            "write all as numbers or as text",
            where="register.people",
        ) from None


def _named(names: Iterator[str]) -> Table:
    import polars as pl

    return table(pl.DataFrame({"person": list(names)}), types={"person": "text"})


def sensitive_of(path: Place) -> str | None:
    """The sensitive column that a file of views is about, if it is named."""
    return ViewsFile.read(path).subject.column


def others_of(
    path: Place,
    register: Register,
    column: str,
) -> list[View]:
    """The views of a column in a file of what others have shown.

    The file's own register is passed over for the one given.
    """
    file = ViewsFile.read(path)
    # The file is about another column, which is checked separately.
    if file.subject.column not in (None, column):
        return []
    return [view for section in file.sections for view in section.views(register, column)]


@typed
def as_toml(
    views: Sequence[View],
    names: Sequence[str],
    column: str | None = None,
) -> str:
    r"""Views as sections of a TOML file, to be appended to one.

    names: of everybody in the register
    column: the sensitive one, where the sections are to be a file of their own

    >>> print(as_toml([View("men", [0], ["flu"])], ["Ann"]))
    <BLANKLINE>
    [[views]]
    name = "men"
    people = ["Ann"]
    values = { "flu" = 1 }
    <BLANKLINE>
    """
    sections = [""]
    if column is not None:
        sections.append(f"[sensitive]\ncolumn = {toml.quoted(column)}\n")
    for view in views:
        people = ", ".join(toml.quoted(names[person]) for person in sorted(view.people))
        counts = []
        for value, often in sorted(view.bag.items(), key=str):
            text = "" if value is None else str(value)
            counts.append(f"{toml.quoted(text)} = {often}")
        values = ", ".join(counts)
        lines = (
            "[[views]]",
            f"name = {toml.quoted(view.name)}",
            f"people = [{people}]",
            f"values = {{ {values} }}",
            "",
        )
        sections.append("\n".join(lines))
    return "\n".join(sections)
