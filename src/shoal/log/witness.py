"""A witness: a second file, elsewhere, with the digest of every entry. `ledger` uses it.

A file cannot show that an older copy was put in its place. A witness can. The log is written first
and the witness next, and nobody acts on an entry before both are on the disk. So whoever dies in
between leaves a witness that lags behind, which is fine, and a witness that is ahead means that the
log went back. A witness that moves leaves a closing line where it was, with the entry of the move,
which a copy from before it lacks.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import FileError
from shoal.log.chain import Head
from shoal.log.custody import sync

__all__ = ["Seen", "Witness", "state_folder"]

_DIGITS = 32  # of a digest, where it names a witness or checks a line


def state_folder() -> Path:
    """Where witnesses are kept unless a folder is given: with the state of the user's programs."""
    given = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(given):
        return Path(given) / "shoal" / "witnesses"
    try:
        return _programs_state() / "shoal" / "witnesses"
    except RuntimeError:
        raise FileError(
            "the user who runs this has no home folder, where witnesses are kept",
            "give a folder with `witness`",
        ) from None


def _programs_state() -> Path:
    """Where the system wants programs to keep their state; RuntimeError if there is no home."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "state"


@dataclass(frozen=True)
class Seen:
    """An entry as a witness knows it: its number, its digest, and what it spent, if anything.

    `moved` closes a witness: the next entries are known in that place or, if it is False, nowhere.
    """

    number: int
    digest: str
    spent: Mapping[str, str | None] | None = None
    moved: str | bool | None = None

    @property
    def head(self) -> Head:
        """The end of the chain that the witness knows."""
        return Head(self.number, self.digest)

    def line(self) -> bytes:
        """A line of a witness. Its check shows whether the line or the log was changed."""
        parts = [self.number, self.digest, self.spent]
        if self.moved is not None:
            parts.append(self.moved)
        text = json.dumps(parts, sort_keys=True)
        return f"{_check(text)} {text}\n".encode()

    @classmethod
    def of(cls, line: bytes) -> "Seen | None":
        """What a line says; None if it is damaged."""
        check, _, text = line.decode(errors="replace").partition(" ")
        if check != _check(text):
            return None
        try:
            return cls(*json.loads(text))
        except (ValueError, TypeError):
            return None


def _check(text: str) -> str:
    return hashlib.sha256(f"shoal witness\n{text}".encode()).hexdigest()[:_DIGITS]


class Witness:
    """The digests of a chain, in a folder away from it, named by the digest of its first entry.

    It has no lock of its own: whoever writes holds the lock of the log.
    """

    def __init__(self, folder: Path, first: str) -> None:
        self.path = folder / f"{first[:_DIGITS]}.witness"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Witness) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def exists(self) -> bool:
        """Whether there is a file, as far as this user may know."""
        return os.path.exists(self.path)

    def last(self) -> Seen | None:
        """The last entry that it knows; None if there is no witness.

        FileError if it is damaged or cannot be read.
        """
        lines = self._lines()
        if lines is None:
            return None
        last = Seen.of(lines[-1]) if lines else None
        if last is None:
            raise FileError(f"the witness {self.path} is damaged")
        return last

    def seen(self) -> list[Seen | None]:
        """All entries that it knows, in their order; None where a line is damaged."""
        return [Seen.of(line) for line in self._lines() or ()]

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
        """Add entries at the end; they are on the disk when this returns.

        A line that was cut short before is dropped.
        """
        try:
            self._put(self.path, entries, 0)
        except OSError as error:
            raise self._unwritten(error) from None

    def remove(self) -> None:
        """Remove it, where nobody needs it any longer."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _lines(self) -> list[bytes] | None:
        """The lines that are whole; None if there is no file."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(
                f"cannot read the witness {self.path}: {error.strerror}",
                "make it readable for the owner of the ledger",
            ) from None
        return content.split(b"\n")[:-1]

    def _put(self, path: Path, entries: Sequence[Seen], creating: int) -> None:
        flags = os.O_RDWR | creating | getattr(os, "O_CLOEXEC", 0)
        with os.fdopen(os.open(path, flags, 0o600), "r+b") as file:
            whole = file.read().rfind(b"\n") + 1
            file.seek(whole)
            file.truncate()
            file.write(b"".join(seen.line() for seen in entries))
            file.flush()
            os.fsync(file.fileno())

    def _unwritten(self, error: OSError) -> FileError:
        return FileError(
            f"cannot write the witness {self.path}: {error.strerror}",
            "make room or give the right to write there, or choose another folder with `witness`",
        )
