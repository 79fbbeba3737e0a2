"""`draft`: a recipe for a table, with "?" wherever only a person can decide.

Uses `schema` and the catalogue of methods.

The draft holds nothing of the table but the names and types of its columns. What those suggest, and
how values are written, is only ever a comment.
"""

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal import __version__
from shoal.data import toml
from shoal.data.disk import Place, is_address
from shoal.data.findings import find_column, written_kind
from shoal.data.formats import format_named
from shoal.data.kinds import Kind
from shoal.data.people import repeated
from shoal.data.tables import Table
from shoal.errors import FileError
from shoal.measure.signs import NAME_SIGNS, READY_SIGNS, NameSign, ReadySign
from shoal.measure.suggesting import suggest
from shoal.methods.auto import AUTO
from shoal.methods.catalogue import entry_of
from shoal.methods.entry import Entry
from shoal.recipe.hierarchies import READY_NAME, READY_VALUES, starting, texts_of
from shoal.recipe.schema import PLACEHOLDER

__all__ = ["draft", "outline"]

_AUTO = (
    "[method]",
    f'name = "{AUTO}"',
    "# differential privacy by the method that keeps most; the certificate says which",
    f'epsilon = "{PLACEHOLDER}"  # how much one row may matter, such as 1 or "ln(2)"',
    f'delta = "{PLACEHOLDER}"  # the chance that this fails: 1e-6; try shoal explain --counts 1',
    "truthful = false  # true: a sample of true records; else all, with noisy counts",
    "# importance = { NAME = 3 }  # columns that count more than the others",
    "# ceiling = { NAME = 2 }  # the highest level that a column may be released at",
    "# rows = 1  # with a unit: how many rows of each are used, at most",
)
"""The section of the method that takes one of the others."""

_UNIT = '# unit = "NAME"  # whose rows belong together, by an identifying column'

_LABELLED = ("sav", "zsav", "por", "dta")
"""Formats whose files may have labels for codes."""


def draft(
    table: Table,
    path: Place,
    *,
    folder: Path = Path(),
    method: str = AUTO,
    header: bool = False,
    **reading: Any,
) -> str:
    """A recipe for a table, to be kept in a folder and filled in, with the options of one method.

    `path` is a file, a folder or a database, and `reading` how it was read, where that was given:
    engine, query, and the options of `shoal.read` for files.
    FileError if the names of the columns seem to be a record, unless `header` says that they are
    names.
    """
    if not header and table.is_headless:
        raise FileError(
            f"the first line of {path} looks like a record, and the draft would show it as the "
            "names of the columns",
            "put a line with names above it, or give `header` if it has the names",
        )
    section = _auto(table) if method == AUTO else _method(entry_of(method))
    kinds = {name: _kind(table, name) for name in table.names}
    moments = [name for name, kind in kinds.items() if kind is Kind.TEXT and _moments(table, name)]
    kinds |= dict.fromkeys(moments, Kind.DATE)
    table = replace(table, types={**table.types, **dict.fromkeys(moments, Kind.DATE)})
    guesses = {one.column: one.role.value if one.role else "" for one in suggest(table)}
    source = {"path": _placed(path, folder), **reading}
    lines = [
        f"# Drafted by Shoal {__version__}. Replace every {PLACEHOLDER!r}, then:",
        "# shoal recipe check, shoal release. More options: docs/reference/recipes.md",
        'missing = "category"  # missing values are a value of their own; or "refuse"',
        "# rows_are_people = true  # every row is another person, though names repeat",
        *_source(source, kinds, moments),
        *_written_otherwise(table, kinds),
        *_roles(guesses),
        *_examples(table, guesses, kinds),
        "",
        *section,
        "# Other methods: shoal choose asks which; shoal recipe new --method NAME",
    ]
    return "\n".join(lines) + "\n"


def outline(place: str, names: Iterable[str], **reading: Any) -> str:
    """A recipe of which nothing is decided but what it reads: the beginning of a draft.

    place: the source as the recipe is to name it
    names: of the columns, as far as they are known
    reading: how it is read, as for `draft`
    """
    columns = dict.fromkeys(names, PLACEHOLDER)
    lines = [
        f"# Drafted by Shoal {__version__}. Replace every {PLACEHOLDER!r}, then:",
        "# shoal recipe check, shoal release; or go on with shoal workbench.",
        'missing = "category"  # missing values are a value of their own; or "refuse"',
        *_source({"path": place, **reading}, columns),
        *_roles(dict.fromkeys(columns, "")),
        "",
        "[method]",
        f'name = "{PLACEHOLDER}"  # how to release; shoal choose asks what is needed for it',
    ]
    return "\n".join(lines) + "\n"


def _placed(path: Place, folder: Path) -> str:
    """A place as a recipe in a folder names it: addresses unchanged, paths from the folder on."""
    place = os.fspath(path)
    if is_address(place) or place == "-":
        return place
    return Path(os.path.relpath(place, folder)).as_posix()


def _source(
    source: Mapping[str, Any], kinds: Mapping[str, str], moments: Collection[str] = ()
) -> Iterator[str]:
    yield from ("", "[source]")
    for key, value in source.items():
        if isinstance(value, Mapping):
            forms = (f"{toml.key(name)} = {_value(form)}" for name, form in value.items())
            yield f"{key} = {{ {', '.join(forms)} }}"
        elif value is not None:
            yield f"{key} = {_value(value)}"
    if format_named(source["path"]) in _LABELLED and source.get("labels") is None:
        yield "# If its codes have labels, draft it with --labels texts to read these."
    yield from ("", "[source.types]  # text, integer, float or date")
    wide = _widest(kinds)
    for name, kind in kinds.items():
        comment = "  # of a moment, the day counts" if name in moments else ""
        yield f"{toml.key(name):{wide}} = {toml.quoted(kind)}{comment}"


def _written_otherwise(table: Table, kinds: Mapping[str, Kind]) -> Iterator[str]:
    """Options by which texts such as 1.234,5, 18.10.1970 and NA would be what they stand for."""
    marks: dict[str, str] = {}
    dates, missing = [], []
    for name, kind in kinds.items():
        if kind is not Kind.TEXT:
            continue
        for finding in find_column(table, name).oddities:
            if finding.code == "decimal comma" and finding.forms:
                decimal, thousands = finding.forms
                given = {"decimal": decimal, "thousands": thousands}
                marks |= {option: mark for option, mark in given.items() if mark}
            elif finding.code == "other dates" and finding.forms:
                form, *others = finding.forms
                option = f"# --dates {shlex.quote(f'{name}={form}')}"
                dates.append(f"{option}  or {' or '.join(others)}" if others else option)
            elif finding.code == "stand-ins":
                texts = (shlex.quote(f"{name}={text}") for text in finding.forms)
                missing += [f"# --missing-texts {text}" for text in texts]
    if marks or dates:
        yield from ("", "# Some texts look like numbers or dates; to read them so, draft it with")
    if marks:
        options = (f"--{option} {shlex.quote(mark)}" for option, mark in marks.items())
        yield f"# {' '.join(options)}"
    yield from dates
    if missing:
        yield from ("", "# Some texts look like missing values; to count them so, draft it with")
    yield from missing


def _roles(guesses: Mapping[str, str]) -> Iterator[str]:
    yield from (
        "",
        "# identifying: is never released.      quasi: others may know it.",
        "# sensitive: nobody should learn it.   insensitive: neither.",
        "[roles]",
    )
    wide = _widest(guesses)
    for name, guess in guesses.items():
        comment = f"  # {guess}?" if guess else ""
        yield f'{toml.key(name):{wide}} = "{PLACEHOLDER}"{comment}'


def _kind(table: Table, name: str) -> Kind:
    """The type of a column; codes of digits are text, whether or not one begins with 0 today."""
    kind = written_kind(table, name)
    is_code = any(sign.matches(name) for sign in _CODES)
    if kind is Kind.INTEGER and table.kind(name) is Kind.TEXT and is_code:
        return Kind.TEXT
    return kind


_CODES: tuple[NameSign | ReadySign, ...] = (
    *(sign for sign in READY_SIGNS if sign.hierarchy != "years"),
    *(sign for sign in NAME_SIGNS if sign.what == "a postcode"),
)

_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}.*)?$"
"""A day with a time in ISO 8601; Shoal leaves midnight out."""


def _moments(table: Table, name: str) -> bool:
    """Whether all values of a column of texts are days with a time."""
    texts = pl.Series([text for text in table.labels(name) if text], dtype=pl.String)
    return len(texts) > 0 and bool(texts.str.contains(_MOMENT).all())


def _auto(table: Table) -> list[str]:
    """The section of the method that takes one of the others, and whose rows belong together."""
    several = repeated(table, left_out=table.names)
    if not several:
        return [*_AUTO[:-1], _UNIT, _AUTO[-1]]
    unit = f"# unit = {toml.quoted(several[0].column)}"
    return [*_AUTO[:-1], "# People seem to be in several rows:", unit, _AUTO[-1]]


def _examples(table: Table, guesses: Mapping[str, str], kinds: Mapping[str, Kind]) -> Iterator[str]:
    yield from (
        "",
        "# How values generalise: by public knowledge, never by the rows. Take the # away",
        "# where it fits. A column without one is released unchanged, which costs records",
        "# if it has many values, or refused. docs/how-to/hierarchies.md",
        '# Few texts can be shown or hidden: { build = "suppress", values = ["a", "b"] }',
        "[hierarchies]",
    )
    names = [name for name, guess in guesses.items() if guess != "identifying"]
    for name in names or list(guesses)[:1]:
        start = starting(name, kinds[name], texts=texts_of(table, name))
        line = f"# {toml.key(name)} = {_inline(_short(start.section))}"
        why = _WHY.get(start.reason, "")
        yield f"{line}  # {why}" if why and len(line) + len(why) + 4 <= _WIDTH else line


def _short(section: Mapping[str, Any]) -> dict[str, Any]:
    """A section that fits a line: texts come from a file, and all days that there may be."""
    match section["build"]:
        case "file" | "group":
            return {"file": PLACEHOLDER}
        case "dates":
            return {"build": "ready", "name": "dates"}
    # The type stands among the types already.
    return {key: value for key, value in section.items() if key != "kind"}


_WIDTH = 80
_WHY = {READY_NAME: "by its name", READY_VALUES: "by its values"}


def _inline(section: Mapping[str, Any]) -> str:
    pairs = ", ".join(f"{key} = {_value(value)}" for key, value in section.items())
    return f"{{ {pairs} }}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return toml.quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return str(value)


def _method(entry: Entry) -> list[str]:
    """The section of a method, with its options."""
    about = [f"# {entry.summary}"]
    if not entry.public_algorithm:
        about.append("# Someone who knows the algorithm may infer more than the table shows.")
    return ["[method]", f'name = "{entry.name}"', *about, *entry.draft]


def _widest(names: Iterable[str]) -> int:
    return max((len(toml.key(name)) for name in names), default=0)
