"""Files as such: the encoding of a text, what JSON can hold, writing whole or not at all. Uses `errors`; what writes uses it.

Nothing is written through a link, and no command writes over what it has read: both are held here, for all that write.
Whatever is written gets a hidden name beside its place first, `.NAME.….part`, is brought to the disk, and then takes its
place by one renaming. What a killed process leaves under such a name is removed by the next one that writes there.
"""

import codecs
import ctypes
import errno
import os
import re
import secrets
import signal
import stat
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from math import isfinite
from mmap import mmap
from pathlib import Path
from typing import IO

from shoal.errors import FileError, ParameterError

__all__ = [
    "encodings",
    "finite",
    "guarding",
    "known",
    "misread",
    "mixed",
    "place_of",
    "placing",
    "reading",
    "refuse_inputs_in",
    "replacing",
    "same",
    "together",
]

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
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
"""A character of UTF-8 that is not ASCII."""

_RENAME_EXCHANGE = 2  # of Linux's renameat2: both names change places at once
_HERE = -100  # AT_FDCWD: paths are seen from the current folder
_CANNOT = {
    errno.ENOSYS,
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EPERM,
}  # of a system that has no exchange

Place = str | os.PathLike[str]


# Texts


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


def mixed(content: bytes | mmap) -> int | None:
    """Where a text that is not UTF-8 has a character in UTF-8 all the same, None if it has none.

    Such a text was put together from files in several encodings: read in one of them, a part of it would be wrong.

    >>> mixed("Müller".encode("cp1252")), mixed("Müller".encode("cp1252") + "é".encode())
    (None, 6)
    """
    found = _MULTIBYTE.search(content)
    return None if found is None else found.start()


def misread(error: ValueError) -> str:
    """Where a reader of TOML or JSON stopped. Its own words may quote the file, and what was given may be private.

    >>> import json
    >>> try:
    ...     json.loads("[1, Ann]")
    ... except ValueError as error:
    ...     print(misread(error))
    line 1 column 5
    """
    found = re.search(r"line \d+,? column \d+|end of document", str(error))
    return found[0] if found else "an unknown place"


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


# What may be written to

_read: ContextVar[list[Place] | None] = ContextVar("_read", default=None)


@contextmanager
def guarding() -> Iterator[None]:
    """Within the block nothing is written over that was read in it: a command's inputs stay as they are."""
    before = _read.set([])
    try:
        yield
    finally:
        _read.reset(before)


def reading(*paths: Place) -> None:
    """Every reader says here what it reads, so that a command does not write over it."""
    noted = _read.get()
    if noted is not None:
        noted += paths


def same(one: Place, other: Place) -> bool:
    """Whether two paths are one file, by whatever links; or would be one where case or Unicode form of names do not count."""
    with suppress(OSError, ValueError):
        if os.path.samefile(one, other):
            return True
    first, second = _at(one), _at(other)
    return _alike(first.name) == _alike(second.name) and _same_folder(first.parent, second.parent)


def refuse_inputs_in(folder: Place, inputs: Iterable[Place] = ()) -> None:
    """FileError if one of some files, or of those that were read, lies in a folder that is to be written."""
    target = _at(folder)
    for one in (*inputs, *(_read.get() or ())):
        if "\0" in os.fspath(one):  # which is no file, and whoever reads it will say so
            continue
        for way in (_at(one), Path(os.path.realpath(one))):
            if any(_same_folder(target, above) for above in way.parents):
                raise FileError(
                    f"{os.fspath(one)} lies in {os.fspath(folder)} and would be published along; "
                    "write the release into a new folder"
                )


def _at(path: Place) -> Path:
    """A path whose folder has no links; its last part may be one."""
    given = Path(path)
    try:
        if given.name in ("", ".."):
            return Path(os.path.realpath(given))
        return Path(os.path.realpath(given.parent), given.name)
    except ValueError:
        raise FileError(f"{os.fspath(path)!r} cannot be the name of a file") from None


def _alike(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _same_folder(one: Path, other: Path) -> bool:
    if one == other:
        return True
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def place_of(path: Place) -> Path:
    """Where a file is written; FileError if that is a link, a folder or a device, or what was read."""
    target, said = _at(path), os.fspath(path)
    if target.is_symlink():
        raise FileError(f"{said} is a symbolic link; give the name of the file itself")
    if target.exists() and not target.is_file():
        raise FileError(
            f"cannot write {said}: it is a directory or a device; give the name of a file"
        )
    if any(same(target, one) for one in _read.get() or ()):
        raise FileError(f"{said} is what the command reads; give the output another name")
    return target


# Writing


@contextmanager
def replacing(path: Place) -> Iterator[IO[bytes]]:
    """A file to write that takes its place when the block ends well, and leaves nothing behind when it does not."""
    with together(path) as (file,):
        yield file


@contextmanager
def together(*paths: Place) -> Iterator[list[IO[bytes]]]:
    """Files to write, and to read back, that take their places together when the block ends well: all of them, or none.

    Where they replace earlier ones, a process that is killed meanwhile leaves some of either set, never of both.
    """
    targets = [place_of(path) for path in paths]
    parts = [_part(target) for target in targets]
    placed: list[Path] = []
    try:
        with ExitStack() as opened:
            files: list[IO[bytes]] = []
            with _locked(targets[0].parent):
                for part, target in zip(parts, targets, strict=True):
                    _sweep(target)
                    files.append(opened.enter_context(open(part, "x+b")))
                    _hold(files[-1].fileno())
            yield files
            for file, target in zip(files, targets, strict=True):
                file.flush()
                if target.exists():
                    os.chmod(file.name, stat.S_IMODE(target.stat().st_mode))
                os.fsync(file.fileno())
        with _undisturbed(targets[0].parent):
            for target in targets[1:]:  # none of the earlier set beside one of the new set
                target.unlink(missing_ok=True)
            for part, target in zip(parts, targets, strict=True):
                os.replace(part, target)
                placed.append(target)
        _settle(targets[0].parent)
    except BaseException as error:
        for left in (*parts, *(placed if len(placed) < len(targets) else ())):
            left.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FileError(
                f"cannot write {' and '.join(os.fspath(path) for path in paths)}: {error.strerror or error}"
            ) from None
        raise


@contextmanager
def placing(folder: Place, replaceable: Callable[[Path], object]) -> Iterator[Path]:
    """A folder to fill that takes its place by one renaming when the block ends well, and is gone when it does not.

    Whoever looks, whenever the process is killed: there is the earlier folder or the new one, whole. `replaceable` gets the
    place, and raises if what is there must stay. Where a system cannot exchange two folders at once, there may be none for
    an instant instead. Folders inside are left alone.
    """
    refuse_inputs_in(folder)
    target = _at(folder)
    part = _part(target)
    new = [path for path in target.parents if not path.exists()]
    try:
        replaceable(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            with _locked(target.parent):
                _sweep(target)
                part.mkdir()
                held.enter_context(_holding(part))
            yield part
            if target.exists():
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            _settle(part)
            with _undisturbed(target.parent):
                replaceable(target)
                _take_place(part, target)
            _settle(target.parent)
    finally:
        _remove(part)  # what was there before, or what did not get there
        for path in new:
            with suppress(OSError):
                path.rmdir()


def _take_place(part: Path, target: Path) -> None:
    """Put a folder into its place; what was there gets the name of the part, unless it was empty."""
    if not target.exists() or not any(target.iterdir()):
        if os.name == "nt" and target.exists():
            target.rmdir()
        os.rename(part, target)  # replaces an empty folder, and no other
    elif not _exchange(part, target):
        aside = part.with_suffix(".old")
        os.rename(target, aside)
        try:
            os.rename(part, target)
        except BaseException:
            os.rename(aside, target)
            raise
        os.rename(aside, part)


def _exchange(one: Path, other: Path) -> bool:
    """Let two names change places at once; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if _LINUX else None
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number))


_LINUX = sys.platform == "linux"


def _part(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")


def _sweep(target: Path) -> None:
    """Remove what killed processes left of earlier tries to write there: whatever no living one holds."""
    form = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{16}\.(part|old)")
    for name in os.listdir(target.parent):
        if form.fullmatch(name) and not _held(left := target.parent / name):
            if left.is_dir() and not left.is_symlink():
                _remove(left)
            else:
                left.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    """Remove a folder with the files in it; folders in it stay, and so does it then."""
    with suppress(OSError):
        for one in folder.iterdir():
            if not one.is_dir() or one.is_symlink():
                one.unlink()
        folder.rmdir()


def _settle(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if os.name != "nt":
        place = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # some network drives cannot
                os.fsync(place)
        finally:
            os.close(place)


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


def _hold(place: int) -> bool:
    """Lock an open file, so that others see that its writer lives; False if somebody else has, or that is not known."""
    try:
        import fcntl

        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def _holding(folder: Path) -> Iterator[None]:
    if os.name == "nt":  # whose folders cannot be opened
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        _hold(place)
        yield
    finally:
        os.close(place)


def _held(path: Path) -> bool:
    """Whether the writer of a part still lives, or may."""
    try:
        place = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return True
    try:
        return not _hold(place)
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
