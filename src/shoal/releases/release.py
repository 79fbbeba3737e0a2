"""`Release`: a released table with its certificate, written into a folder of its own and read back.

Uses `certificate` and files; methods make releases, and every door writes and reads them.
"""

import errno
import hashlib
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

from shoal.arguments import typed
from shoal.data import free_memory
from shoal.data.disk import placing, reading, refuse_inputs_in, unwritable
from shoal.data.formats import is_csv
from shoal.data.frames import RowsWithCounts
from shoal.errors import FileError, ParameterError, ShoalError
from shoal.releases.certificate import DOCUMENT, Certificate
from shoal.releases.facts import Entered, Facts
from shoal.zones import OWNER_ONLY

__all__ = [
    "CERTIFICATE",
    "METADATA",
    "Release",
    "certificate_at",
    "certificate_in",
    "certificate_of",
    "earlier_files",
    "released_files",
    "require_place",
    "require_rows_per_file",
    "tables_of",
]

_LOG = logging.getLogger(__name__)

CERTIFICATE = "certificate.json"
"""The file beside a released table."""

METADATA = {
    "datapackage": "datapackage.json",
    "csvw": "csv-metadata.json",
    "healthdcat": "healthdcat.jsonld",
}
"""Descriptions that may lie beside a release, by their standards; they go when it is replaced."""

_READS = 5
"""How often a folder is read that is replaced meanwhile: each time, a writer has to come
between.
"""

_MEMORY_PER_BYTE = 40
"""Bytes that one of JSON takes at most, as Python objects."""


class _ReleasedTable:
    """The attribute `Release.table`: rows that were given with counts are repeated when asked for.

    Most of a large release are repeated rows, and who only writes it never needs them.
    """

    def __get__(self, release: Any, owner: type) -> Any:
        if release is None:
            return self
        rows = vars(release)["table"]
        if isinstance(rows, RowsWithCounts):
            rows = rows.repeated()
            self.__set__(release, rows)
        return rows

    def __set__(self, release: Any, rows: Any) -> None:
        vars(release)["table"] = rows


@typed
@dataclass(frozen=True, eq=False)
class Release:
    """A released table with its certificate, and what only the owner should see.

    table: a dataframe of the kind that came in; methods may give it as `RowsWithCounts`
    facts: what the method learnt about the input on its way; never written
    further: the other tables that some methods release, by their names
    entry: where a ledger has this release; never written
    """

    table: Any
    certificate: Certificate
    facts: Facts = field(default_factory=Facts)
    further: Mapping[str, Any] = field(default_factory=dict)
    entry: Entered | None = None

    @property
    def rows(self) -> Any:
        """The table as it is held: a dataframe, or `RowsWithCounts` until somebody asks for it."""
        return vars(self)["table"]

    def with_certificate(self, certificate: Certificate) -> "Release":
        """The same release with another certificate."""
        return replace(self, table=self.rows, certificate=certificate)

    def with_entry(self, entry: Entered) -> "Release":
        """The same release, entered in a ledger."""
        return replace(self, table=self.rows, entry=entry)

    @property
    def suppressed(self) -> int:
        """How many records were suppressed; owner only."""
        return self.facts.suppressed

    def __repr__(self) -> str:
        """What the released files show, and no more: a notebook may be passed on."""
        tables = [self.rows, *self.further.values()]
        shapes = [f"{table.shape[0]:,} rows × {table.shape[1]} columns" for table in tables]
        made = f"{self.certificate.number} by {self.certificate.method}"
        # A seed promises nothing, so the release stays with its owner.
        mark = "" if self.certificate.private else OWNER_ONLY
        return f"<{mark}shoal.Release {made}: {' and '.join(shapes)}>"

    def _repr_html_(self) -> str:
        """The first rows and the promise as notebooks show them."""
        from shoal.releases.cards import card_of_release

        return card_of_release(self).html()

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> "Release":
        """The release that was written into a directory.

        It has what its files show, and nothing about the input.
        """
        folder = Path(directory)
        for _ in range(_READS):
            before = _content(folder)
            try:
                certificate = Certificate.from_json(before.decode("utf-8"))
                frames = _frames(folder, certificate)
            except (OSError, ValueError, KeyError, TypeError, AttributeError, ShoalError) as error:
                if _content(folder) != before:
                    continue  # another release took its place meanwhile
                if isinstance(error, ShoalError):
                    raise
                raise _no_release(folder) from None
            if _content(folder) == before:
                return cls(frames.pop(""), certificate, further=frames)
        raise FileError(f"{folder} is being written again and again", "read it later")

    def write(
        self,
        directory: str | os.PathLike[str],
        format: str = "csv",
        *,
        neutralise: bool = False,
        rows_per_file: int | None = None,
    ) -> Path:
        """Write the released tables and their certificate into a separate folder.

        The files are release.<format>, further tables by their names, and certificate.json. With
        `rows_per_file`, a table is written in parts of that many rows: release-00000.<format>,
        release-00001.<format> and so on.

        The folder is new or empty, or has an earlier release, which is replaced. It appears at
        once, whole, also where the process is killed. With `neutralise`, cells of a CSV file that a
        spreadsheet would run as formulas are written so that it does not. Gives the path of the
        released file, or a pattern of the paths of its parts.
        """
        folder = Path(directory)
        tables = {"release": self.rows, **self.further}
        require_rows_per_file(rows_per_file)
        try:
            with placing(folder, earlier_files) as part:
                form = _Form(format, neutralise, rows_per_file)
                written = [form.write(frame, part, name) for name, frame in tables.items()]
                file: dict[str, Any] = {**written[0], "format": format}
                if neutralise:
                    file["neutralised"] = True
                if self.further:
                    file["further"] = dict(zip(self.further, written[1:], strict=True))
                with open(part / CERTIFICATE, "xb") as paper:
                    paper.write(replace(self.certificate, file=file).to_json().encode())
                    paper.flush()
                    os.fsync(paper.fileno())
        except OSError as error:
            fix = "give a new folder, in one you may write to"
            raise unwritable(str(folder), error, fix) from None
        _LOG.info("wrote release %s into %s", self.certificate.number, folder)
        return folder / str(written[0]["name"])


# Only here: a dataclass would take it for a default.
Release.table = _ReleasedTable()


@dataclass(frozen=True)
class _Form:
    """How tables are written."""

    format: str
    neutralise: bool
    rows_per_file: int | None

    def write(self, frame: Any, folder: Path, name: str) -> dict[str, Any]:
        """Write a table, which is safely on disk afterwards; gives its name and digest.

        Parts have a name together, and a digest each.
        """
        from shoal.data.files import in_parts
        from shoal.data.table_files import part_names, pattern

        if self.rows_per_file is None:
            target = folder / f"{name}.{self.format}"
            return {"name": target.name, "sha256": self._written(frame, target)}
        called = pattern(name, self.format)
        number = max(-(-int(frame.shape[0]) // self.rows_per_file), 1)
        parts = zip(part_names(called, number), in_parts(frame, self.rows_per_file), strict=True)
        digests = [self._written(part, folder / own_name) for own_name, part in parts]
        return {"name": called, "sha256": digests}

    def _written(self, frame: Any, target: Path) -> str:
        """Write a file, and give its digest."""
        from shoal.data.files import Format, serialise

        with open(target, "x+b") as file:
            serialise(frame, file, cast(Format, self.format), neutralise=self.neutralise)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()


def require_rows_per_file(rows_per_file: int | None) -> None:
    """ParameterError unless files can have that many rows."""
    if rows_per_file is not None and rows_per_file < 1:
        raise ParameterError(
            "is out of range",
            "it takes a whole number above 0",
            option="rows_per_file",
            given=str(rows_per_file),
        )


def _no_release(folder: Path) -> FileError:
    return FileError(
        f"{folder} has no certificate.json with its table", "give the directory of a release"
    )


def _content(folder: Path) -> bytes:
    """The certificate of a release as it is written."""
    try:
        return _bytes_of(folder / CERTIFICATE)
    except OSError:
        raise _no_release(folder) from None


def _bytes_of(path: Path) -> bytes:
    """What a file holds that anybody may have put there: a device or a pipe might never end."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a plain file")
    content = path.stat().st_size
    free_memory.require(content * _MEMORY_PER_BYTE, f"reading {path}", "use a larger machine")
    return path.read_bytes()


def _frames(folder: Path, certificate: Certificate) -> dict[str, Any]:
    """The tables of a release, the first under no name."""
    file = certificate.file or {}
    frames = {"": _frame(folder, file)}
    for name, further in file.get("further", {}).items():
        frames[name] = _frame(folder, {**file, **further})
    return frames


def _frame(folder: Path, file: Mapping[str, Any]) -> Any:
    """One table of a release, as the certificate has its file, or the files of its parts."""
    from shoal.data.spreadsheets import restored
    from shoal.data.table_files import TableFiles, added_parts

    called, names = Path(file["name"]).name, _file_names(file)
    paths = [folder / name for name in names]
    reading(*paths, folder / CERTIFICATE)
    missing = [path.name for path in paths if not path.is_file()]
    if len(missing) == len(paths):
        raise _no_release(folder)
    if missing:
        raise FileError(f"{folder} lacks parts of its table, such as {missing[0]!r}")
    files = TableFiles.of(paths)
    difference = files.difference(_digests(file))
    if difference is not None:
        raise FileError(
            f"{folder / called} is not the table that its certificate was written for: {difference}"
        )
    more = added_parts(folder, called, names) if called not in names else None
    if more is not None:
        raise FileError(f"{folder}: {more}", "remove what is not part of the release")
    rows = files.table(file["format"])
    if not is_csv(file["format"]) or file.get("neutralised") is not True:
        return rows
    if isinstance(rows, RowsWithCounts):
        return RowsWithCounts(restored(rows.frame), rows.count)
    return restored(rows)


def _file_names(file: Mapping[str, Any]) -> list[str]:
    """The names of the files of a table; only their last parts count."""
    from shoal.data.table_files import part_names

    name = Path(file["name"]).name
    if isinstance(file["sha256"], str):
        return [name]
    return part_names(name, len(file["sha256"]))


def tables_of(certificate: Certificate) -> list[tuple[list[str], list[str]]]:
    """The names and digests of the files of each table of a release that was written."""
    file = certificate.file or {}
    tables = [file, *file.get("further", {}).values()]
    return [(_file_names(table), _digests(table)) for table in tables]


def _digests(file: Mapping[str, Any]) -> list[str]:
    return [file["sha256"]] if isinstance(file["sha256"], str) else list(file["sha256"])


def require_place(directory: str | os.PathLike[str], inputs: Iterable[Path] = ()) -> list[Path]:
    """The files of an earlier release in a folder, if there are any.

    FileError if no release can be written there.

    It must hold nothing else, and none of the `inputs` that the release is made from.
    """
    folder = Path(directory)
    refuse_inputs_in(folder, inputs)
    try:
        files = earlier_files(folder)
    except OSError as error:  # such as a name that is too long
        raise FileError(f"cannot write {folder}: {error.strerror}", "give another folder") from None
    above = next(path for path in folder.absolute().parents if os.path.lexists(path))
    needed = [above]
    if os.path.lexists(folder):
        needed.append(folder.absolute())
    for path in needed:
        if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
            raise FileError(
                f"cannot write {folder}: you may not write to {path}", "give a folder elsewhere"
            )
    return files


def earlier_files(folder: Path) -> list[Path]:
    """The files of an earlier release in a folder, none if it is new or empty.

    FileError if it holds anything else.
    """
    if folder.is_symlink():
        raise FileError(f"{folder} is a symbolic link", "give the folder itself")
    if not os.path.lexists(folder):
        return []
    if not folder.is_dir():
        raise FileError(f"{folder} is a file", "give the name of a folder")
    if os.path.ismount(folder) or _current(folder):
        raise FileError(
            f"{folder} cannot be replaced as a whole: something is mounted there, "
            "or it is the current folder",
            "give a new folder inside it",
        )
    files = sorted(folder.iterdir())
    if not files:
        return []
    for path in files:
        if path.is_symlink() or not path.is_file():
            raise FileError(
                f"{folder} holds {path.name!r}, which is not a plain file",
                "give a new or empty folder",
            )
    names = _names_in(folder)
    if names:
        names |= set(METADATA.values())
    for path in files:
        if path.name not in names:
            raise FileError(
                f"{folder} holds {path.name!r}, which belongs to no release there",
                "give a new or empty folder",
            )
    return files


def released_files(folder: Path) -> list[Path]:
    """The files of the release in a folder as its certificate names them, with the certificate.

    Nothing else that may lie there, and none that is missing.
    """
    paths = [folder / name for name in sorted(_names_in(folder))]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def _names_in(folder: Path) -> set[str]:
    """The names of a release's files, by the certificate in a folder; none where it has none."""
    certificate = certificate_in(folder)
    if certificate is None:
        return set()
    try:
        file = certificate.file or {}
        tables = [file, *file.get("further", {}).values()]
        return {CERTIFICATE, *chain.from_iterable(map(_file_names, tables))}
    except (TypeError, KeyError, AttributeError):  # anybody may have written it
        return set()


def _current(folder: Path) -> bool:
    """Whether this process works in a folder."""
    try:
        return os.path.samefile(folder, os.getcwd())
    except OSError:  # it was deleted
        return False


def certificate_in(folder: Path) -> Certificate | None:
    """The certificate in a folder, if there is one that can be read."""
    try:
        return Certificate.from_json(_bytes_of(folder / CERTIFICATE).decode("utf-8"))
    except (OSError, UnicodeDecodeError, ShoalError):
        return None


def certificate_of(path: str | os.PathLike[str]) -> Certificate | None:
    """The certificate that lies beside a released file and names it, if there is one."""
    target = Path(path)
    certificate = certificate_in(target.parent)
    if certificate is None or not isinstance(certificate.file, Mapping):
        return None
    return certificate if certificate.file.get("name") == target.name else None


def certificate_at(place: str | os.PathLike[str]) -> tuple[Certificate, str]:
    """The certificate in the directory of a release, or in its own file, and how it is written.

    FileError if there is none, or if it was changed.
    """
    path = Path(place)
    if path.is_dir():
        path /= CERTIFICATE
    try:
        text = _bytes_of(path).decode("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a text"
        raise FileError(
            f"cannot read {path}: {reason}", "give the directory of a release"
        ) from None
    try:
        certificate = Certificate.from_json(text)
        # Anybody may have written it: it is looked at here, where that can be said.
        str(certificate), [(one["name"], one["role"], one["type"]) for one in certificate.columns]
    except ShoalError as error:
        raise error.at(str(path)) from None
    except (TypeError, KeyError, AttributeError, ValueError):
        raise DOCUMENT.invalid.at(str(path)) from None
    return certificate, text
