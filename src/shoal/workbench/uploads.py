"""Files that are sent in a form: they go to the disk as they come, whatever their size.

Nothing of them is held in memory or in another place. A file appears as a whole, and nothing stays
of one that breaks off. Uses `disk`; `beginning` uses it.
"""

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from shoal.data.disk import replacing
from shoal.errors import FileError, ParameterError

__all__ = ["receive", "safe_name"]

_BATCH = 1 << 20
"""Bytes of a file that are written at a time."""

_LONGEST_FIELD = 10_000
"""Bytes of a field that comes with a file."""

_NOT_TABLES = (".toml", ".json", ".audit", ".ledger")
"""What is beside tables in a project, and must not be taken for one."""

Place = Callable[[Mapping[str, str], str], Path]
"""Where a file goes, by the fields before it and by its name."""


async def receive(content_type: str, stream: AsyncIterator[bytes], place: Place) -> Path:
    """The file that was sent in a form, once it is complete."""
    upload = _Upload(_boundary(content_type), place)
    waiting = bytearray()
    try:
        async for chunk in stream:
            waiting += chunk
            if len(waiting) >= _BATCH:
                await run_in_threadpool(upload.take, bytes(waiting))
                waiting.clear()
        await run_in_threadpool(upload.take, bytes(waiting))
        return upload.finished()
    except (ClientDisconnect, FormParserError):
        upload.give_up()
        raise _broken_off() from None
    except OSError as error:
        upload.give_up()
        raise FileError(
            f"the file cannot be written: {error.strerror}", "is the disk full?"
        ) from None
    except BaseException:
        upload.give_up()
        raise


def safe_name(sent: str) -> str:
    """The name of a file that was sent, without folders and hidden beginnings; empty if none is.

    >>> safe_name("C:\\\\data\\\\people 2024.csv"), safe_name("../../.bashrc"), safe_name("..")
    ('people 2024.csv', 'bashrc', '')
    """
    name = re.split(r"[/\\]", sent)[-1]
    return re.sub(r"[^\w .()+-]", "_", name).lstrip(". ").strip()[-120:]


def _boundary(content_type: str) -> bytes:
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise _nothing()
    return options[b"boundary"]


def _nothing() -> ParameterError:
    return ParameterError("no file was sent", "choose one")


def _broken_off() -> FileError:
    return FileError(
        "the file did not arrive as a whole, and nothing is kept of it", "send it again"
    )


@dataclass
class _Upload:
    """A form on its way, and its file, which is written as it comes."""

    boundary: bytes
    place: Place
    fields: dict[str, str] = field(default_factory=dict)
    file: Path | None = None
    is_complete: bool = False
    _made: Path | None = None
    _target: Path | None = None
    _writing: AbstractContextManager[IO[bytes]] | None = None
    _open: IO[bytes] | None = None
    _header: list[bytes] = field(default_factory=lambda: [b"", b""])
    _options: Mapping[bytes, bytes] = field(default_factory=dict)
    _field: bytes = b""

    def __post_init__(self) -> None:
        callbacks: Any = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._add_to_name,
            "on_header_value": self._add_to_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._end_headers,
            "on_part_data": self._add,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        self._parser = MultipartParser(self.boundary, callbacks)

    def take(self, chunk: bytes) -> None:
        """Take a part of what has come."""
        self._parser.write(chunk)

    def finished(self) -> Path:
        """The file, if all of it has come."""
        if not self.is_complete:
            raise _broken_off()
        if self.file is None:
            raise _nothing()
        return self.file

    def give_up(self) -> None:
        """Leave nothing behind."""
        if self._writing is not None:
            stopped = FileError("stopped")
            with suppress(FileError, OSError):
                self._writing.__exit__(type(stopped), stopped, None)
            self._writing = None
        if self.file is not None:
            self.file.unlink(missing_ok=True)
        if self._made is not None:
            with suppress(OSError):
                self._made.rmdir()

    # What the parser tells

    def _begin_part(self) -> None:
        self._options, self._field, self._open = {}, b"", None

    def _add_to_name(self, data: bytes, start: int, end: int) -> None:
        self._header[0] += data[start:end]

    def _add_to_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1] += data[start:end]

    def _end_header(self) -> None:
        name, value = self._header
        self._header = [b"", b""]
        if name.lower() == b"content-disposition":
            self._options = parse_options_header(value)[1]

    def _end_headers(self) -> None:
        if b"filename" not in self._options:
            return
        name = safe_name(self._options[b"filename"].decode("utf-8", "replace"))
        if not name or self._target is not None:
            raise _nothing()
        if name.lower().endswith(_NOT_TABLES):
            raise FileError(
                "this is not a table", "choose a file with a table, such as CSV or Excel"
            )
        target = self.place(self.fields, name)
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
            self._made = target.parent
        self._target = target
        self._writing = replacing(target)
        self._open = self._writing.__enter__()
        # Nobody else's, like the rows in it.
        os.chmod(self._open.name, 0o600)

    def _add(self, data: bytes, start: int, end: int) -> None:
        if self._open is not None:
            self._open.write(data[start:end])
            return
        self._field += data[start:end]
        if len(self._field) > _LONGEST_FIELD:
            raise ParameterError("a field is too long", "use a shorter name")

    def _end_part(self) -> None:
        if self._open is None or self._writing is None:
            name = self._options.get(b"name", b"").decode("utf-8", "replace")
            self.fields[name] = self._field.decode("utf-8", "replace")
            return
        if self._open.tell() == 0:
            raise FileError("the file is empty", "choose another one")
        writing, self._writing, self._open = self._writing, None, None
        writing.__exit__(None, None, None)
        self.file = self._target

    def _end(self) -> None:
        self.is_complete = True
