"""What others have shown of the same people: a file of views that is written by a form.

The file is the one that a recipe names in [views], so that the command line counts it too. Uses
`views` and tomlkit; the screen of several releases uses it.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.data.disk import replacing
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import FileError, InputError, ParameterError

if TYPE_CHECKING:
    from shoal.audit.expressions import Atom
    from shoal.views.files import ViewSection

__all__ = [
    "NAME",
    "OPERATORS",
    "ShownByOthers",
    "appended",
    "condition",
    "entered",
    "removed",
    "shown_in",
]

NAME = "others.toml"
"""What the file is called where a project has none yet."""

OPERATORS = ("=", "<", "<=", ">", ">=", "between")
"""How a public value may be compared, in the language of conditions."""


@dataclass(frozen=True)
class ShownByOthers:
    """Something that was shown: of whom, and what."""

    number: int
    name: str
    of: str
    values: str


def shown_in(path: Path) -> list[ShownByOthers]:
    """What a file has; an error if it is not one of views."""
    from shoal.views.files import ViewsFile

    file = ViewsFile.read(path)
    if not file.content.get("views"):
        return []
    return [_shown(section) for section in file.sections]


def _shown(section: "ViewSection") -> ShownByOthers:
    content = section.content
    where = content.get("where")
    of = str(where) if where is not None else ""
    people = content.get("people")
    if isinstance(people, list):
        of = f"{len(people):,}"
    for kind in ("release", "table"):
        of = str(content.get(kind, of))
    values = content.get("values", ())
    counts = values.values() if isinstance(values, Mapping) else [1] * len(values)
    total = sum(often for often in counts if isinstance(often, int))
    return ShownByOthers(section.number, section.name, of, f"{total:,}" if total else "")


def condition(parts: Iterable[tuple[str, str, str]], table: Table) -> str:
    """A condition on public columns from the fields of a form: column, operator, value.

    Fields that are empty are passed over; no condition is everybody.

    >>> import polars as pl, shoal
    >>> people = shoal.table(pl.DataFrame({"age": [30, 31], "home town": ["Ulm", "Bonn"]}))
    >>> print(condition([("age", "between", "30 and 39"), ("home town", "=", "Ulm")], people))
    age between 30 and 39 and "home town" = 'Ulm'
    """
    from shoal.audit.expressions import All

    atoms = [_atom(*part, table) for part in parts if part[0] and part[2].strip()]
    return str(All(tuple(atoms)))


def _atom(column: str, operator: str, value: str, table: Table) -> "Atom":
    from shoal.audit.expressions import Atom

    if operator not in OPERATORS or column not in table.names:
        raise ParameterError("a condition compares a column with a value", "choose both")
    texts = [value]
    if operator == "between":
        texts = re.split(r"\s+(?:and|und)\s+|\s*[–;]\s*", value.strip())
        if len(texts) != 2:
            raise ParameterError("between takes two values", "write them as 30 and 39")
    numeric = table.kind(column) in (Kind.INTEGER, Kind.FLOAT)
    try:
        values = [Decimal(text.strip()) if numeric else text.strip() for text in texts]
    except InvalidOperation:
        raise ParameterError(
            f"the column {column!r} has numbers", "compare it with a number"
        ) from None
    return Atom(column, cast(Any, operator), tuple(values))


def entered(
    path: Path, name: str, where: str, values: Mapping[str, int], *, table: Table, column: str
) -> None:
    """Add something that was shown; nothing is written if it cannot be true of the table's people.

    It is checked with the others of the file, so that names stay apart.
    """
    import tomlkit

    from shoal.views.files import ViewSection
    from shoal.views.model import Views
    from shoal.views.register import Register

    if not values:
        raise InputError("there is no value with its count", "enter at least one")
    document = _document(path, column)
    section = tomlkit.table()
    section["name"] = name
    section["where"] = where
    section["values"] = tomlkit.inline_table()
    section["values"].update(values)
    _sections(document).append(section)
    register = Register.of_rows(table, column)
    shown = ViewSection(1, section.unwrap(), path.parent).views(register, column)
    Views(register.names, shown)  # as many values as people
    names = [str(one.get("name", "")) for one in _sections(document)]
    if names.count(name) > 1:
        raise InputError("something of this name was entered already", "take another name")
    _write(path, document)


def removed(path: Path, number: int) -> None:
    """Take out what is at a place, counted from 1."""
    document = _document(path, None)
    with suppress(IndexError):
        _sections(document).pop(number - 1)
    _write(path, document)


def appended(path: Path, sections: str, column: str) -> None:
    """Add sections of [[views]] that Shoal wrote."""
    import tomlkit

    document = _document(path, column)
    for section in tomlkit.parse(sections).get("views", []):
        _sections(document).append(section)
    _write(path, document)


def _document(path: Path, column: str | None) -> Any:
    """The file, or a new one about a sensitive column; an error if it is about another."""
    import tomlkit

    from shoal.views.files import ViewsFile

    if not path.exists():
        document = tomlkit.document()
        document["sensitive"] = tomlkit.table()
        document["sensitive"]["column"] = column
        document["sensitive"].add(tomlkit.nl())
        return document
    subject = ViewsFile.read(path).subject.column
    if column is not None and subject not in (None, column):
        raise InputError(
            f"the file is about the column {subject!r}", "check that column", where=path.name
        )
    return tomlkit.parse(path.read_text("utf-8"))


def _sections(document: Any) -> Any:
    if "views" not in document:
        import tomlkit

        document["views"] = tomlkit.aot()
    return document["views"]


def _write(path: Path, document: Any) -> None:
    import tomlkit

    try:
        with replacing(path) as file:
            file.write(tomlkit.dumps(document).encode())
    except OSError as error:
        raise FileError(f"cannot write {path.name}: {error.strerror}") from None
