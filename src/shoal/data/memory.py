"""Refusing early what would not fit into memory. Uses `errors`; the rooms that allocate at the size of the data use it."""

import os
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import TooLargeError

__all__ = ["available", "require"]

_GROUP = Path(
    "/sys/fs/cgroup"
)  # a container's own limit lies here, version 2 of control groups, then version 1
_LIMITS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def available() -> int:
    """Bytes of memory that can still be used on this machine, or in this container."""
    return min(_free(), default=1 << 62)  # unknown: never refuse


def require(needed: int, what: str, remedy: str) -> None:
    """Raise TooLargeError if `needed` bytes are more than this machine has left."""
    free = available()
    if needed > free:
        raise TooLargeError(
            f"{what} needs about {_gigabytes(needed)} of memory and {_gigabytes(free)} are free; {remedy}"
        )


def _free() -> Iterator[int]:
    lines = _read(Path("/proc/meminfo")).splitlines()
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    yield from found
    for limit, used in _LIMITS:
        if (most := _read(_GROUP / limit).strip()).isdigit():
            # What the group uses as cache of files is given back when asked for.
            cache = [
                int(line.split()[1])
                for line in _read((_GROUP / used).with_name("memory.stat")).splitlines()
                if _cached(line)
            ]
            yield max(int(most) - int(_read(_GROUP / used).strip() or 0) + sum(cache[:1]), 0)
    if not found and hasattr(os, "sysconf"):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _cached(line: str) -> bool:
    return line.startswith(("inactive_file ", "total_inactive_file "))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"
