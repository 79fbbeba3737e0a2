"""Files as such: the encoding of a text, what JSON can hold, writing whole or not at all. Uses `errors`; what writes uses it."""

import codecs
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import IO

from shoal.errors import FileError, ParameterError

__all__ = ["encodings", "finite", "known", "replacing", "together"]

_STOPPING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def encodings(head: bytes) -> list[str]:
    """What a text that begins so may be encoded in, the likeliest first."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return [name]
    if head.count(0) > len(head) // 4:
        return ["utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeError:
        return ["cp1252", "latin-1"]
    return ["utf-8", "cp1252", "latin-1"] if head.isascii() else ["utf-8"]


def known(encoding: str) -> None:
    """ParameterError unless this is an encoding of text; Python's list also has base64 and the like."""
    try:
        " ".encode(encoding)
    except UnicodeError:
        pass  # text, but not this one
    except (LookupError, ValueError):
        raise ParameterError(
            f"encoding {encoding!r} is unknown; give one such as 'utf-8' or 'cp1252'"
        ) from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write that takes its place when the block ends well, and leaves nothing behind when it does not."""
    with together(path) as (file,):
        yield file


@contextmanager
def together(*paths: str | os.PathLike[str]) -> Iterator[list[IO[bytes]]]:
    """Files to write, and to read back, that take their places together when the block ends well: all of them, or none."""
    targets = [Path(os.path.realpath(path)) for path in paths]
    for path, target in zip(paths, targets, strict=True):
        if target.exists() and not target.is_file():
            raise FileError(
                f"cannot write {os.fspath(path)}: it is a directory or a device; give the name of a file"
            )
    parts = [
        target.with_name(f".{target.name}.{os.getpid()}.{time.monotonic_ns()}.part")
        for target in targets
    ]
    placed: list[Path] = []
    try:
        with ExitStack() as opened:
            files: list[IO[bytes]] = [opened.enter_context(open(part, "x+b")) for part in parts]
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        with _undisturbed(targets[0].parent):
            for part, target in zip(parts, targets, strict=True):
                os.replace(part, target)
                placed.append(target)
    except BaseException as error:
        for left in (*parts, *(placed if len(placed) < len(targets) else ())):
            left.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FileError(
                f"cannot write {' and '.join(os.fspath(path) for path in paths)}: {error.strerror or error}"
            ) from None
        raise


@contextmanager
def _undisturbed(folder: Path) -> Iterator[None]:
    """Nobody else puts files into their places there, and Ctrl-C waits until they are: it is a matter of microseconds."""
    waiting: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():  # no other one sees signals
        for number in _STOPPING:
            if callable(signal.getsignal(number)):
                handlers[number] = signal.signal(
                    number, lambda number, frame: waiting.append(number)
                )
    try:
        with _locked(folder):
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number in waiting:
        signal.raise_signal(number)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A lock on a folder, where the system has such; it is gone with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives have none
            fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def finite(value: object) -> object:
    """The value for JSON, which has no infinity: that is null.

    >>> finite({"risk": [0.5, float("inf")]})
    {'risk': [0.5, None]}
    """
    match value:
        case Mapping():
            return {key: finite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [finite(inner) for inner in value]
        case float() if not isfinite(value):
            return None
    return value
