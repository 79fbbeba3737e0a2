"""Files of a release: the certificate in one, and the tables in the others.

Files are anybody's, so memory is asked for before they are read, and what cannot be read is a
FileError. Of a table, equal neighbours are held once, so that it may be larger than memory. Uses
`claims`, `models` and the readers of `data`; `core` reads by it, and the checks of methods get
their tables as `ReleasedTables`.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.data import free_memory
from shoal.data.disk import unreadable
from shoal.data.files import formulas, restored
from shoal.data.formats import is_csv
from shoal.data.frames import RowsWithCounts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.table_files import TableFiles, added_parts, part_names
from shoal.data.tables import Table, table
from shoal.errors import FileError, ShoalError
from shoal.releases.certificate import Certificate
from shoal.releases.verification.claims import ClaimedColumn, Claims
from shoal.releases.verification.models import ReleasedGroups, released_groups
from shoal.releases.verification.words import NOT_VALID

__all__ = [
    "ReleasedTables",
    "StatedFile",
    "TableShape",
    "read_bytes",
    "read_certificate",
    "read_rows",
    "read_table",
]

_BYTES_PER_CHARACTER = 40
"""Memory that a byte of JSON takes at most, as Python objects."""


@dataclass(frozen=True)
class TableShape:
    """What is special about the tables of a method, or of one with certain parameters."""

    generalised: bool = True
    """Whether quasi-identifying columns hold labels and ranges, and not values."""

    extra_labels: tuple[str, ...] = ()
    """Labels that every level has beside its own; they come last."""

    grouped_by: str | None = None
    """The column that numbers the groups; None if quasi-identifying values make them."""

    most_starred: Fraction | None = None
    """The share of rows that may be suppressed as stars; None if such rows are a group."""

    added: Mapping[str, Kind] = field(default_factory=dict)
    """Columns that the method adds to its tables, whatever the certificate says of them."""

    data_hierarchies: bool = False
    """Whether hierarchies may be made from the rows, which a budget would have to pay for."""


@dataclass(frozen=True)
class ReleasedTables:
    """The tables of a release, with what they are read by."""

    claims: Claims
    shape: TableShape
    rows: RowsWithCounts
    further: Mapping[str, RowsWithCounts]
    """The tables beside the first, by name."""

    hierarchies: Mapping[str, Hierarchy]
    """Those that whoever verifies has given."""

    @cached_property
    def table(self) -> Table:
        return read_table(self.rows, self.claims, self.shape)

    @cached_property
    def level_trees(self) -> dict[str, Hierarchy]:
        """The hierarchies at hand of columns with a level."""
        return self.claims.trees(self.hierarchies, self.claims.levels)

    @cached_property
    def refined_trees(self) -> dict[str, Hierarchy]:
        """The hierarchies at hand of columns with values of several levels."""
        return self.claims.trees(self.hierarchies, self.claims.refined - self.claims.levels.keys())

    @cached_property
    def quasi_trees(self) -> dict[str, Hierarchy]:
        """The hierarchies at hand of quasi-identifying columns."""
        return self.claims.trees(self.hierarchies, self.claims.quasi)

    @cached_property
    def groups(self) -> ReleasedGroups:
        """The groups that models are about."""
        names = self.claims.quasi
        if self.shape.grouped_by is not None:
            names = [self.shape.grouped_by]
        lines = {column.name: column.lines or () for column in self.claims.columns}
        return released_groups(self.table, names, lines, self.shape.most_starred)

    def is_generalised(self, column: ClaimedColumn) -> bool:
        return _is_generalised(column, self.claims, self.shape)


def read_bytes(path: Path, memory_per_byte: int = 1) -> bytes:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            free_memory.require(memory_per_byte * size, f"reading {path}", "use a larger machine")
            return file.read()
    except (OSError, ValueError) as error:
        raise unreadable(str(path), error) from None


def read_certificate(path: Path) -> Certificate:
    try:
        text = read_bytes(path, _BYTES_PER_CHARACTER).decode("utf-8")
        return Certificate.from_json(text)
    except UnicodeDecodeError:
        raise FileError("the certificate is not UTF-8 text") from None
    except ShoalError:
        raise
    except Exception:
        raise FileError(NOT_VALID) from None


@dataclass(frozen=True)
class StatedFile:
    """The file of a table as a certificate states it, or the files of its parts."""

    name: str
    sha256: list[str]
    in_parts: bool

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "StatedFile":
        # Only the last part of a name counts, so that no certificate reaches another folder.
        name = Path(given["name"]).name
        if isinstance(given["sha256"], str):
            return cls(name, [given["sha256"]], in_parts=False)
        return cls(name, list(given["sha256"]), in_parts=True)

    @property
    def names(self) -> list[str]:
        return part_names(self.name, len(self.sha256)) if self.in_parts else [self.name]

    def require_own(self, path: Path) -> None:
        """FileError if a path is neither a folder, nor a file of the table, nor their pattern.

        Else files beside it would be read, and it would seem to be what they are.
        """
        if not path.is_dir() and path.name not in (self.name, *self.names):
            raise FileError(
                f"{path} is not a part of the table that the certificate was written for",
                "give the folder of the release",
            )

    def files(self, path: Path) -> TableFiles:
        """The files beside a path, or in the folder there; FileError if one cannot be read."""
        folder = path if path.is_dir() else path.parent
        return TableFiles.of([folder / name for name in self.names])

    def faults(self, path: Path) -> Iterator[str]:
        """Whether other files would be read along with the parts."""
        folder = path if path.is_dir() else path.parent
        more = added_parts(folder, self.name, self.names) if self.in_parts else None
        if more is not None:
            yield more


def read_rows(files: TableFiles, claims: Claims) -> RowsWithCounts:
    """The rows in the files of a table."""
    stated = claims.certificate.file or {}
    form = stated.get("format", "")
    rows = files.rows(form)
    if "neutralised" not in stated:
        return rows
    if stated["neutralised"] is not True or not is_csv(form):
        raise FileError(NOT_VALID)
    return RowsWithCounts(_restored(rows.frame), rows.count)


def _restored(frame: Any) -> Any:
    """The texts that cells were made from, which were written so that no spreadsheet runs them."""
    if formulas(frame):
        raise FileError(
            "the table has a cell that a spreadsheet would run as a formula, "
            "though the certificate says that it has none"
        )
    return restored(frame)


def read_table(rows: RowsWithCounts, claims: Claims, shape: TableShape) -> Table:
    """Rows as a table whose columns have the types that the certificate declares."""
    types = dict[str, Kind]()
    for column in claims.columns:
        generalised = _is_generalised(column, claims, shape)
        types[column.name] = Kind.TEXT if generalised else column.kind
    types.update(shape.added)
    # Columns that are missing or too many are noticed by whoever compares the names.
    present = {name: kind for name, kind in types.items() if name in rows.frame.columns}
    return table(rows, types=present)


def _is_generalised(column: ClaimedColumn, claims: Claims, shape: TableShape) -> bool:
    by_role = shape.generalised and column.role == "quasi"
    return by_role or column.name in claims.levels or column.name in claims.refined
