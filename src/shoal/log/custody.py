"""The care of a log's file: locks that work, no other readers.

Uses `errors`; `sqlite`, the ledger and the command line use it.
"""

import os
import sqlite3
import stat
import subprocess
from contextlib import suppress
from multiprocessing.spawn import get_executable
from pathlib import Path

from shoal.errors import FileError

__all__ = ["exposed", "require_locks", "sound", "sync"]

_KNOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], uri=True, timeout=0, isolation_level=None)
try:
    connection.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    busy = sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED
    sys.exit(3 if error.sqlite_errorcode & 255 in busy else 4)
sys.exit(5)
"""
_KEPT_OUT, _LET_IN = 3, 5  # how the second process ends
_PATIENCE = 60  # seconds for the second process, which takes some milliseconds

_tried: set[tuple[int, int]] = set()
"""Files, by device and number, whose locks were found to work."""


def require_locks(path: Path) -> None:
    """FileError unless a second process is kept out of an SQLite file that this one has locked.

    On some network drives locks are granted to everyone. Each file is tried once per process: it
    stays on its drive.
    """
    status = os.stat(path)
    file = status.st_dev, status.st_ino
    if file in _tried:
        return
    code = _knock(path)
    if code == _LET_IN:
        raise FileError(
            "locks do not work on this drive, so two processes could write at once",
            "move the file to a local disk",
            where=str(path),
        )
    if code != _KEPT_OUT:
        raise FileError(
            "the locks could not be tested, as no second Python process could be run",
            "run Shoal where it may start one (multiprocessing.set_executable names the Python)",
            where=str(path),
        )
    _tried.add(file)


def _knock(path: Path) -> int | None:
    """How a second process ends that tries to lock the file; None if none could be run."""
    place = f"{path.resolve().as_uri()}?mode=rw"
    try:
        command = [get_executable(), "-I", "-S", "-c", _KNOCK, place]
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
        ).returncode
    except (OSError, ValueError, TypeError, subprocess.TimeoutExpired):
        return None


def sound(connection: sqlite3.Connection) -> bool:
    """Whether no page of an SQLite file contradicts another."""
    return bool(connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)])


def exposed(path: str | os.PathLike[str]) -> str | None:
    """A warning if others than its owner may read or change a file.

    None if they may not, or if the system has no such rights.
    """
    if os.name != "posix":
        return None
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None
    if not mode & 0o077:
        return None
    who = "everyone" if mode & 0o007 else "the group"
    name = os.fspath(path)
    return f"{name} is open to {who} (mode {mode:03o}); make it yours alone with chmod 600"


def sync(folder: Path) -> None:
    """Bring the name of a new file to the disk, where the system lets a folder be opened."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
