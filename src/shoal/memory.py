"""Refusing early what would not fit into memory. Uses `errors`; the rooms that allocate at the size of the data use it."""

import os

from shoal.errors import TooLargeError

__all__ = ["available", "require"]


def available() -> int:
    """Bytes of memory that can still be used on this machine."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 1 << 62  # unknown: never refuse


def require(needed: int, what: str, remedy: str) -> None:
    """Raise TooLargeError if `needed` bytes are more than this machine has left."""
    free = available()
    if needed > free:
        raise TooLargeError(f"{what} needs about {needed / 1e9:,.1f} GB of memory and {free / 1e9:,.1f} GB are free; {remedy}")
