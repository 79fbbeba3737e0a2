"""Refusing early what would not fit into memory.

Uses `errors`; the rooms that allocate at the size of the data use it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import TooLargeError

__all__ = ["CELL", "available", "require"]

CELL = 16
"""Bytes of a value in a dataframe; longer texts take more, never more than in their file."""

# A container's own limit lies here: version 2 of control groups, then version 1.
_GROUP = Path("/sys/fs/cgroup")
_LIMITS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
# Where nothing says how much memory there is, nothing is refused.
_UNKNOWN = 1 << 62


def available() -> int:
    """Bytes of memory that can still be used on this machine, or in this container."""
    return min(_free(), default=_UNKNOWN)


def require(needed: int, what: str, remedy: str) -> None:
    """Raise TooLargeError if `needed` bytes are more than this machine has left."""
    free = available()
    if needed > free:
        raise TooLargeError(
            f"{what} needs about {_gigabytes(needed)} of memory and {_gigabytes(free)} are free",
            remedy,
        )


def _free() -> Iterator[int]:
    """What each source of such figures says."""
    lines = _read(Path("/proc/meminfo")).splitlines()
    of_machine = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    yield from of_machine
    for limit, usage in _LIMITS:
        most = _read(_GROUP / limit).strip()
        if most.isdigit():
            used = int(_read(_GROUP / usage).strip() or 0)
            yield max(int(most) - used + _cache(_GROUP / usage), 0)
    if not of_machine and hasattr(os, "sysconf"):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _cache(usage: Path) -> int:
    """What a control group uses as cache of files, which is given back when asked for."""
    for line in _read(usage.with_name("memory.stat")).splitlines():
        if line.startswith(("inactive_file ", "total_inactive_file ")):
            return int(line.split()[1])
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"
