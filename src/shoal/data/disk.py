"""Files as such: the encoding of a text, what JSON can hold, writing whole or not at all.

Uses `errors`; whatever reads or writes a file uses it. Nothing is written through a link, and no
command writes over what it has read: both are ensured here, for everyone who writes. Whatever is
written gets a hidden name beside its place first, `.NAME.….part`, is brought to the disk, and then
takes its place by one renaming. What a killed process leaves under such a name is removed by the
next one that writes there.
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
from dataclasses import dataclass
from math import isfinite
from mmap import mmap
from pathlib import Path
from typing import IO

from shoal.errors import FileError, ParameterError

__all__ = [
    "GUESSES",
    "Stamps",
    "encodings",
    "finite",
    "guarding",
    "is_address",
    "misread",
    "mixed",
    "place_of",
    "placing",
    "reading",
    "refuse_inputs_in",
    "replacing",
    "require_encoding",
    "same",
    "together",
    "unguarded",
    "unreadable",
    "unwritable",
]

GUESSES = ("cp1252", "latin-1")
"""Encodings that almost any bytes fit: what is read as one of them may well be something else."""

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

_LINUX = sys.platform == "linux"
# Of Linux's renameat2: both names change places at once.
_RENAME_EXCHANGE = 2
# AT_FDCWD: paths are seen from the current folder.
_HERE = -100
# What a system without such an exchange answers.
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NUMBER = re.compile(r"\(os error ([0-9]+)\)")

Place = str | os.PathLike[str]


def is_address(place: Place) -> bool:
    """Whether a place is not a path: the URL of a database, or of something on a cluster.

    >>> is_address("postgresql://host/clinic"), is_address("clinic.csv")
    (True, False)
    """
    return "://" in os.fspath(place)


# Texts


def encodings(head: bytes) -> list[str]:
    """What a text with this beginning may be encoded in, the likeliest first."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return [name]
    if head.count(0) > len(head) // 4:
        little = head[1::2].count(0) > head[::2].count(0)
        return ["utf-16-le" if little else "utf-16-be"]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeError:
        return [*GUESSES]
    return ["utf-8", *GUESSES] if head.isascii() else ["utf-8"]


def mixed(content: bytes | mmap) -> int | None:
    """Where a text that is not UTF-8 nevertheless has a character in UTF-8; None if it has none.

    Such a text was put together from files in several encodings: read in one of them, a part of it
    would be wrong.

    >>> mixed("Müller".encode("cp1252")), mixed("Müller".encode("cp1252") + "é".encode())
    (None, 6)
    """
    character = _MULTIBYTE.search(content)
    return None if character is None else character.start()


def misread(error: ValueError) -> str:
    """Where a reader of TOML or JSON stopped.

    Its own words may quote the file, and what was given may be private.

    >>> import json
    >>> try:
    ...     json.loads("[1, Ann]")
    ... except ValueError as error:
    ...     print(misread(error))
    line 1 column 5
    """
    place = re.search(r"line \d+,? column \d+|end of document", str(error))
    return place[0] if place else "an unknown place"


def require_encoding(encoding: str) -> None:
    """ParameterError unless this is an encoding of text; Python also lists base64 and others."""
    try:
        " ".encode(encoding)
    except UnicodeError:
        pass  # text, but not this one
    except (LookupError, ValueError):
        raise ParameterError(
            "is unknown",
            "give one such as 'utf-8' or 'cp1252'",
            option="encoding",
            given=repr(encoding),
        ) from None


def unreadable(what: str, error: Exception) -> FileError:
    """The error for what cannot be read, by what the system says about it.

    It may also be a ValueError: of a name that no file can have.
    """
    reason = getattr(error, "strerror", None) or "not a path"
    return FileError(f"cannot read {what}: {reason}")


def unwritable(what: str, error: OSError, otherwise: str = "") -> FileError:
    """The error for what cannot be written; `otherwise` is the fix unless the disk is full."""
    number = error.errno
    # Polars says no more than a text.
    if number is None and (said := _NUMBER.search(str(error))):
        number = int(said[1])
    reason = os.strerror(number) if number else "the system refuses it"
    fix = "make room, or use another disk" if number in _FULL else otherwise
    return FileError(f"cannot write {what}: {reason}", fix)


# What may be written to

_read: ContextVar[list[Place] | None] = ContextVar("_read", default=None)


@contextmanager
def guarding() -> Iterator[None]:
    """Within the block nothing is written over that was read in it: a command's inputs survive."""
    before = _read.set([])
    try:
        yield
    finally:
        _read.reset(before)


@contextmanager
def unguarded() -> Iterator[None]:
    """Within the block files may be read and written again, as a server does in its whole life."""
    before = _read.set(None)
    try:
        yield
    finally:
        _read.reset(before)


def reading(*paths: Place) -> None:
    """Every reader reports here what it reads, so that a command does not write over it."""
    noted = _read.get()
    if noted is not None:
        noted += paths


@dataclass(frozen=True)
class Stamps:
    """Files as they were at some time, to see later whether they still are."""

    noted: Mapping[Path, tuple[int, ...] | None]

    @classmethod
    def of(cls, files: Iterable[Path]) -> "Stamps":
        return cls({file: _stamp(file) for file in files})

    def changed(self) -> list[Path]:
        """The files that were written, replaced or removed since."""
        return [file for file, stamp in self.noted.items() if _stamp(file) != stamp]


def _stamp(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def same(one: Place, other: Place) -> bool:
    """Whether two paths are one file, by whatever links.

    Or would be one where the case or Unicode form of names does not count.
    """
    with suppress(OSError, ValueError):
        if os.path.samefile(one, other):
            return True
    first, second = _at(one), _at(other)
    if _alike(first.name) != _alike(second.name):
        return False
    return _same_folder(first.parent, second.parent)


def refuse_inputs_in(folder: Place, inputs: Iterable[Place] = ()) -> None:
    """FileError if an input, or a file that was read, lies in a folder that is to be written."""
    target = _at(folder)
    for path in (*inputs, *(_read.get() or ())):
        # Such a name is not that of a file, and whoever reads it will say so.
        if "\0" in os.fspath(path):
            continue
        for way in (_at(path), Path(os.path.realpath(path))):
            if any(_same_folder(target, above) for above in way.parents):
                raise FileError(
                    f"{os.fspath(path)} lies in {os.fspath(folder)} and would be published along "
                    "with it",
                    "write the release into a new folder",
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
    """Where a file is written; FileError if it is a link, a folder, a device or an input."""
    target, name = _at(path), os.fspath(path)
    if target.is_symlink():
        raise FileError(f"{name} is a symbolic link", "give the name of the file itself")
    if target.exists() and not target.is_file():
        raise FileError(
            f"cannot write {name}: it is a directory or a device", "give the name of a file"
        )
    if any(same(target, one) for one in _read.get() or ()):
        raise FileError(f"{name} is what the command reads", "give the output another name")
    return target


# Writing


@contextmanager
def replacing(path: Place) -> Iterator[IO[bytes]]:
    """A file to write that takes its place when the block ends well, and is gone otherwise."""
    with together(path) as (file,):
        yield file


@contextmanager
def together(*paths: Place) -> Iterator[list[IO[bytes]]]:
    """Files to write, and to read back, that take their places together when the block ends well.

    All of them do, or none. Where they replace earlier ones, a process that is killed meanwhile
    leaves some of either set, never of both.
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
            # None of the earlier set may lie beside one of the new set.
            for target in targets[1:]:
                target.unlink(missing_ok=True)
            for part, target in zip(parts, targets, strict=True):
                os.replace(part, target)
                placed.append(target)
        _settle(targets[0].parent)
    except BaseException as error:
        incomplete = placed if len(placed) < len(targets) else []
        for left in (*parts, *incomplete):
            left.unlink(missing_ok=True)
        if isinstance(error, OSError):
            names = " and ".join(os.fspath(path) for path in paths)
            raise unwritable(names, error) from None
        raise


@contextmanager
def placing(folder: Place, replaceable: Callable[[Path], object]) -> Iterator[Path]:
    """A folder to fill that takes its place by one renaming when the block ends well.

    Otherwise it is gone. Whoever looks, whenever the process is killed: there is the earlier folder
    or the new one, whole. `replaceable` gets the place, and raises if what is there must stay.
    Where a system cannot exchange two folders at once, there may be none for an instant instead.
    Folders inside are left alone.
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
        # What was there before, or what did not get there.
        _remove(part)
        for path in new:
            with suppress(OSError):
                path.rmdir()


def _take_place(part: Path, target: Path) -> None:
    """Put a folder into its place; what was there gets the part's name, unless it was empty."""
    if not target.exists() or not any(target.iterdir()):
        if os.name == "nt" and target.exists():
            target.rmdir()
        # Replaces an empty folder, and no other.
        os.rename(part, target)
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


def _part(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")


def _sweep(target: Path) -> None:
    """Remove what killed processes left of earlier tries to write there: whatever nobody holds."""
    form = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{16}\.(part|old)")
    for name in os.listdir(target.parent):
        left = target.parent / name
        if not form.fullmatch(name) or _held(left):
            continue
        if left.is_dir() and not left.is_symlink():
            _remove(left)
        else:
            left.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    """Remove a folder with the files in it; folders in it stay, and so does it then."""
    with suppress(OSError):
        for path in folder.iterdir():
            if not path.is_dir() or path.is_symlink():
                path.unlink()
        folder.rmdir()


def _settle(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if os.name == "nt":
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        # Some network drives cannot.
        with suppress(OSError):
            os.fsync(place)
    finally:
        os.close(place)


@contextmanager
def _undisturbed(folder: Path) -> Iterator[None]:
    """Nobody else puts files into their places there meanwhile, and Ctrl-C waits.

    It is a matter of microseconds.
    """
    waiting: list[int] = []
    handlers = {}

    def wait(number: int, frame: object) -> None:
        waiting.append(number)

    # No other thread sees signals.
    if threading.current_thread() is threading.main_thread():
        for number in _STOPPING:
            if callable(signal.getsignal(number)):
                handlers[number] = signal.signal(number, wait)
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
        # Some network drives have none.
        with suppress(OSError):
            fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def _hold(place: int) -> bool:
    """Lock an open file, so that others see that its writer lives.

    False if somebody else has locked it, or if that is not known.
    """
    try:
        import fcntl

        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def _holding(folder: Path) -> Iterator[None]:
    # Folders of Windows cannot be opened.
    if os.name == "nt":
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
