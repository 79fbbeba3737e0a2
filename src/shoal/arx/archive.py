"""A project file as an archive: a zip of known parts, none of which is trusted.

Nothing is unpacked to the disk, parts are found by names that are fixed, and none may expand to
more than it plausibly holds. XML has no entities. Uses `errors`; `project` uses it.
"""

import os
import zipfile
import zlib
from collections.abc import Collection
from types import TracebackType
from typing import Self
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from shoal.data import free_memory
from shoal.data.disk import reading, unreadable
from shoal.errors import FileError

__all__ = ["Archive", "decoded"]

_PARTS = 20_000
"""Files in an archive: some for each column."""

LARGEST = {".xml": 64 << 20, ".dat": 128 << 20, ".csv": 4 << 30}
"""Bytes of a part, by its ending."""

_PLAIN = {".xml": 4 << 20, ".dat": 4 << 20, ".csv": 64 << 20}
_FOLD = 250
"""A part above this size that is compressed to less than this fraction is not a table: text
becomes some ten times smaller.
"""

_ELEMENTS = 1_000_000
"""Elements of a part in XML; ARX needs a dozen for each column."""

_DEEPEST = 64
"""How deep elements lie inside each other; ARX needs four."""

_UTF8_BOM = "utf-8-sig"


class Archive:
    """The parts of a project file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.where = os.fspath(path)
        try:
            reading(path)
            self._zip = zipfile.ZipFile(path)
            infos = self._zip.infolist()
        except (OSError, ValueError) as error:
            raise unreadable(f"the project {self.where}", error) from None
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
            raise self.broken("is not a whole zip archive") from None
        self._infos = {info.filename: info for info in infos}
        if len(infos) > _PARTS or len(self._infos) < len(infos):
            raise self.broken("has parts that no project has")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    @property
    def names(self) -> Collection[str]:
        return self._infos.keys()

    def broken(self, what: str) -> FileError:
        """The error about a file that is not a project."""
        return FileError(
            f"{self.where} {what}",
            "save the project in ARX once more, or export its data and hierarchies as CSV",
        )

    def part(self, name: str) -> bytes:
        """The content of a part; FileError if there is none, or if it is not what it should be."""
        info = self._infos.get(name)
        if info is None:
            raise self.broken(f"has no part {name!r}: not an ARX project, or an unfinished one")
        form = os.path.splitext(name)[1]
        folded = info.file_size > _FOLD * max(info.compress_size, 1)
        if info.file_size > LARGEST[form] or (info.file_size > _PLAIN[form] and folded):
            raise self.broken(f"has a part that expands to {info.file_size:,} bytes")
        what = f"unpacking {name!r} of {self.where}"
        free_memory.require(2 * info.file_size, what, "use a larger machine")
        try:
            with self._zip.open(info) as file:
                # What the archive says of the size need not be true.
                content = file.read(info.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError):
            raise self.broken(f"has a damaged part {name!r}") from None
        except NotImplementedError:
            raise self.broken(f"has a part {name!r} that is compressed in another way") from None
        if len(content) != info.file_size:
            raise self.broken(f"has a damaged part {name!r}")
        return content

    def xml(self, name: str) -> Element:
        """A part as XML, without entities and without a document type."""
        content = decoded(self.part(name))
        builder = TreeBuilder()
        parser = expat.ParserCreate()
        depth = number = 0

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth, number
            depth += 1
            number += 1
            if depth > _DEEPEST or number > _ELEMENTS:
                raise _Refused
            builder.start(tag, attributes)

        def end(tag: str) -> None:
            nonlocal depth
            depth -= 1
            builder.end(tag)

        def refuse(*_: object) -> None:
            raise _Refused

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = builder.data
        parser.StartDoctypeDeclHandler = refuse
        parser.EntityDeclHandler = refuse
        try:
            parser.Parse(content, True)
            return builder.close()
        except (expat.ExpatError, _Refused, AssertionError):
            raise self.broken(f"has a part {name!r} that is not XML of ARX") from None


class _Refused(Exception):
    """XML that has what ARX never writes."""


def decoded(content: bytes) -> str:
    """Text as Java wrote it: UTF-8, or else what Windows has used in the West."""
    try:
        return content.decode(_UTF8_BOM)
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")
