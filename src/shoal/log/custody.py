"""What a ledger or an audit asks of its file: locks that work, no other readers, a witness. Uses `errors`; both rooms use it.

A file cannot tell that an older copy was put in its place. A witness can: it is a second file, elsewhere, with the digest of
every entry. The file is written first and the witness next, and nobody acts on an entry before both are on the disk. So whoever
dies in between leaves a witness that lags behind, which is fine, and a witness that is ahead means that the file went back.
A witness that moves leaves a closing line where it was, with the entry of the move, which a copy from before it lacks.
"""

import hashlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any

from shoal.errors import FileError

__all__ = ["Seen", "Witness", "exposed", "require_locks", "sound", "state_folder", "sync"]

_KNOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], uri=True, timeout=0, isolation_level=None)
try:
    connection.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    sys.exit(3 if error.sqlite_errorcode & 255 in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) else 4)
sys.exit(5)
"""
_KEPT_OUT, _LET_IN = 3, 5  # how the second process ends
_PATIENCE = 60  # seconds for the second process, which takes some milliseconds
_NAME = 32  # digits of a digest that name a witness, or check a line

_tried: set[tuple[int, int]] = set()  # files, by device and number, whose locks were found to work


def require_locks(path: Path) -> None:
    """FileError unless a second process is kept out of an SQLite file that this one has locked for writing.

    On some network drives locks are granted to everyone. Each file is tried once per process: it stays on its drive.
    """
    there = os.stat(path)
    if (there.st_dev, there.st_ino) in _tried:
        return
    command = [get_executable(), "-I", "-S", "-c", _KNOCK, f"{path.resolve().as_uri()}?mode=rw"]
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
        ).returncode
    except (OSError, ValueError, TypeError, subprocess.TimeoutExpired):
        ended = None
    if ended == _LET_IN:
        raise FileError(
            f"{path}: locks do not work on this drive, so two processes could write at once; move the file to a local disk"
        )
    if ended != _KEPT_OUT:
        raise FileError(
            f"{path}: the locks could not be tested, as no second Python process could be run; run Shoal where it may "
            "start one (multiprocessing.set_executable names the Python to start)"
        )
    _tried.add((there.st_dev, there.st_ino))


def sound(connection: sqlite3.Connection) -> bool:
    """Whether no page of an SQLite file contradicts another: cells that nothing counts, say, or space that is used twice."""
    return bool(connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)])


def exposed(path: str | os.PathLike[str]) -> str | None:
    """A warning if others than its owner may read or change a file; None if not, or if the system has no such rights."""
    if os.name != "posix":
        return None
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None
    if not mode & 0o077:
        return None
    who = "everyone" if mode & 0o007 else "the group"
    return (
        f"{os.fspath(path)} is open to {who} (mode {mode:03o}); make it yours alone with chmod 600"
    )


def sync(folder: Path) -> None:
    """Put the name of a new file onto the disk, where the system lets a folder be opened."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def state_folder() -> Path:
    """Where witnesses are kept unless a folder is given: with the state of the user's programs."""
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        if os.path.isabs(given):
            base = Path(given)
        elif sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Application Support"
        else:
            base = Path.home() / ".local" / "state"
    except RuntimeError:
        raise FileError(
            "the user who runs this has no home folder for the witness of a ledger; give a folder with --witness"
        ) from None
    return base / "shoal" / "witnesses"


@dataclass(frozen=True)
class Seen:
    """An entry as a witness knows it: its number, its digest, and what it spent if it spent anything.

    `moved` closes a witness: the next entries are known in that place, or, if it is False, nowhere.
    """

    number: int
    digest: str
    spent: Mapping[str, Any] | None = None
    moved: str | bool | None = None

    def line(self) -> bytes:
        """A line of a witness, with a check of its own: it has to be told whether it or the chain was changed."""
        closing = [] if self.moved is None else [self.moved]
        text = json.dumps([self.number, self.digest, self.spent, *closing], sort_keys=True)
        return f"{_check(text)} {text}\n".encode()

    @classmethod
    def of(cls, line: bytes) -> "Seen | None":
        """What a line says; None if it is damaged."""
        check, _, text = line.decode(errors="replace").partition(" ")
        try:
            return cls(*json.loads(text)) if check == _check(text) else None
        except (ValueError, TypeError):
            return None


def _check(text: str) -> str:
    return hashlib.sha256(f"shoal witness\n{text}".encode()).hexdigest()[:_NAME]


class Witness:
    """The digests of a chain of entries, in a folder away from it, under the digest of the first.

    It has no lock of its own: whoever writes holds the lock of the chain.
    """

    def __init__(self, folder: Path, first: str) -> None:
        self.path = folder / f"{first[:_NAME]}.witness"

    def exists(self) -> bool:
        """Whether there is a file, as far as this user may know."""
        return os.path.exists(self.path)

    def last(self) -> Seen | None:
        """The last entry that it knows; None if there is no witness. FileError if it is damaged or cannot be read."""
        lines = self._lines()
        if lines is None:
            return None
        found = Seen.of(lines[-1]) if lines else None
        if found is None:
            raise FileError(f"the witness {self.path} is damaged")
        return found

    def seen(self) -> list[Seen | None]:
        """All entries that it knows, in their order; None where a line is damaged."""
        return [*map(Seen.of, self._lines() or ())]

    def write(self, entries: Sequence[Seen]) -> None:
        """Make it, or make it anew: all of it, or nothing."""
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished.unlink(missing_ok=True)
            self._put(unfinished, entries, os.O_CREAT | os.O_EXCL)
            os.replace(unfinished, self.path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise self._unwritten(error) from None
        sync(self.path.parent)

    def add(self, entries: Sequence[Seen]) -> None:
        """Add entries at the end; they are on the disk when this returns. A line that was cut short before is dropped."""
        try:
            self._put(self.path, entries, 0)
        except OSError as error:
            raise self._unwritten(error) from None

    def remove(self) -> None:
        """Take it away, where nobody needs it any longer."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _lines(self) -> list[bytes] | None:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(
                f"cannot read the witness {self.path}: {error.strerror}; make it readable for the owner of the ledger"
            ) from None
        return content.split(b"\n")[:-1]  # without one that was cut short

    def _put(self, path: Path, entries: Sequence[Seen], creating: int) -> None:
        place = os.open(path, os.O_RDWR | creating | getattr(os, "O_CLOEXEC", 0), 0o600)
        with os.fdopen(place, "r+b") as file:
            whole = file.read().rfind(b"\n") + 1
            file.seek(whole)
            file.truncate()
            file.write(b"".join(seen.line() for seen in entries))
            file.flush()
            os.fsync(file.fileno())

    def _unwritten(self, error: OSError) -> FileError:
        return FileError(
            f"cannot write the witness {self.path}: {error.strerror}; make room or give the right to write there, or choose "
            "another folder with --witness"
        )
