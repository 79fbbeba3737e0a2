"""`draft`: a recipe for a table, with "?" wherever only a person can decide.

Uses `schema` and the catalogue of methods.

The draft holds nothing of the table but the names and types of its columns. What those suggest is
only ever a comment.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from shoal import __version__
from shoal.data import toml
from shoal.data.disk import Place, is_address
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import FileError
from shoal.methods.auto import AUTO
from shoal.methods.catalogue import entries
from shoal.methods.entry import Entry
from shoal.recipe.schema import PLACEHOLDER

__all__ = ["draft"]

_HINTS = {
    "quasi": (
        r"(^|[^a-z])age|birth|sex|gender|zip|post|city|country|race|ethnic|marital|educat"
        "|occupation|work|job"
    ),
    "sensitive": (
        "diagnos|disease|illness|condition|treatment|drug|salary|income|wage|religion|vote|score"
        "|result"
    ),
}
"""What the names of columns suggest about their roles."""

_NAMING = r"name|(^|[^a-z])id($|[^a-z])|ssn|e-?mail|phone|passport|account|insurance|number"
_MANY_VALUES = 0.9  # the share of different values from which a column may identify people
_MANY_NAMES = 0.5  # the same for a column that is called like one that names people

_HIERARCHIES = {
    Kind.INTEGER: ['build = "intervals"', 'low = "?"', 'high = "?"', "widths = [5, 10, 20]"],
    Kind.FLOAT: [
        'build = "intervals"',
        'kind = "float"',
        'low = "?"',
        'high = "?"',
        "widths = [5, 10, 20]",
    ],
    Kind.DATE: ['build = "dates"', 'first = "?"', 'last = "?"', 'levels = ["month", "year"]'],
    Kind.TEXT: ['file = "?"  # or a builder: group, mask, order, suppress'],
}
"""How the hierarchy of a column may begin, by its type."""


_AUTO = (
    "[method]",
    f'name = "{AUTO}"',
    "# differential privacy by the method that keeps most; the certificate says which",
    f'epsilon = "{PLACEHOLDER}"  # how much one row may matter, such as 1 or "ln(2)"',
    f'delta = "{PLACEHOLDER}"  # the chance that this fails, such as 1e-6; try shoal explain',
    "truthful = false  # true: a sample of true records; else all, with noisy counts",
    "# importance = { NAME = 3 }  # columns that count more than the others",
    "# ceiling = { NAME = 2 }  # the highest level that a column may be released at",
    '# unit = "NAME"  # whose rows belong together, by an identifying column',
)
"""The section of the method that takes one of the others."""


def draft(
    table: Table,
    path: Place,
    *,
    folder: Path = Path(),
    header: bool = False,
    **reading: str | None,
) -> str:
    """A recipe for a table, to be kept in a folder and filled in.

    `path` is a file, a folder or a database, and `reading` how it was read, where that was given:
    engine, query, separator, quote and encoding.
    FileError if the names of the columns seem to be a record, unless `header` says that they are
    names.
    """
    all_text = all(table.kind(name) is Kind.TEXT for name in table.names)
    if not header and all_text and table.source.is_headless():
        raise FileError(
            f"the first line of {path} looks like a record, and the draft would show it as the "
            "names of the columns",
            "put a line with names above it, or give `header` if it has the names",
        )
    kinds = {name: _type(table, name) for name in table.names}
    guesses = {name: _role(table, name, kinds[name]) for name in table.names}
    place = os.fspath(path)
    if not is_address(place):
        place = Path(os.path.relpath(place, folder)).as_posix()
    source = {"path": place, **reading}
    lines = [
        f"# Drafted by Shoal {__version__}. Replace every {PLACEHOLDER!r}, then:",
        "# shoal recipe check, shoal release.",
        'missing = "category"  # missing values are a value of their own; or "refuse"',
        "# rows_are_people = true  # every row is another person, though names repeat",
        *_source(source, kinds),
        *_roles(guesses),
        *_examples(guesses, kinds),
        "",
        *_AUTO,
        "",
        "# Other methods, in place of the section [method] above.",
        *(line for entry in entries() for line in _commented(["", *_method(entry)])),
        "",
        "[output]",
        'format = "csv"  # or parquet, arrow',
        "neutralise = false  # true: no spreadsheet runs a cell of the CSV",
    ]
    return "\n".join(lines) + "\n"


def _source(source: Mapping[str, str | None], kinds: Mapping[str, Kind]) -> Iterator[str]:
    yield from ("", "[source]")
    for key, value in source.items():
        if value is not None:
            yield f"{key} = {toml.quoted(value)}"
    yield from ("", "[source.types]  # text, integer, float or date")
    wide = _widest(kinds)
    for name, kind in kinds.items():
        yield f"{toml.key(name):{wide}} = {toml.quoted(kind)}"


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


def _examples(guesses: Mapping[str, str], kinds: Mapping[str, Kind]) -> Iterator[str]:
    yield from (
        "",
        "# How values generalise: a builder, or a file with one line per value, which",
        "# shoal hierarchy make writes. They are public: made from what anybody knows of",
        "# a column, never from its rows. Every quasi column needs one. A released column",
        "# without one is released unchanged: the finer it is, the fewer rows are kept.",
        "# For example (take the # away):",
    )
    names = [name for name, guess in guesses.items() if guess != "identifying"]
    for name in names or list(guesses)[:1]:
        yield ""
        yield from _commented([f"[hierarchies.{toml.key(name)}]", *_HIERARCHIES[kinds[name]]])


def _method(entry: Entry) -> list[str]:
    """The section of a method, with its options."""
    about = [f"# {entry.summary}"]
    if not entry.public_algorithm:
        about.append("# Someone who knows the algorithm may infer more than the table shows.")
    return ["[method]", f'name = "{entry.name}"', *about, *entry.draft]


def _commented(lines: Iterable[str]) -> list[str]:
    return [f"# {line}".rstrip() for line in lines]


def _widest(names: Iterable[str]) -> int:
    return max((len(toml.key(name)) for name in names), default=0)


# What a column seems to be


def _type(table: Table, name: str) -> Kind:
    """The type that all values of a column have as they are written.

    01234 is text, since its 0 would be lost.

    Only whole floats may end in .0, as other programs write them.
    """
    declared = table.kind(name)
    texts = [text for text in table.labels(name) if text]
    if declared is not Kind.TEXT or not texts:
        return declared
    for kind in (Kind.INTEGER, Kind.FLOAT, Kind.DATE):
        ending = ".0" if kind is Kind.FLOAT else ""
        try:
            if all(kind.text(kind.key(text)) == text.removesuffix(ending) for text in texts):
                return kind
        except (ValueError, TypeError):
            continue
    return declared


def _role(table: Table, name: str, kind: Kind) -> str:
    """The role that a column's name, type or number of values suggests.

    Empty where nothing does.
    """
    suggested = "quasi" if kind is Kind.DATE else ""
    for role, words in _HINTS.items():
        if re.search(words, name, re.IGNORECASE):
            suggested = role
            break
    is_named = re.search(_NAMING, name, re.IGNORECASE) is not None
    enough = _MANY_NAMES if is_named else _MANY_VALUES
    differs = table.rows > 1 and len(table.keys(name)) > enough * table.rows
    return "identifying" if differs and (is_named or not suggested) else suggested
