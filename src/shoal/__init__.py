"""Shoal: tables about people, released so that the promise holds against someone who knows the algorithm.

This page lists everything public. Importing it is light: each name loads its room when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_ROOMS = {
    "Table": "tables",
    "table": "tables",
    "Role": "tables",
    "Kind": "kinds",
    "Hierarchy": "hierarchy",
    "read": "files",
    "write": "files",
    "Counts": "counts",
    "Lattice": "counts",
    "Groups": "counts",
    "ShoalError": "errors",
}

_WHOLE = ("demo", "hierarchy")  # rooms that are used by their own name, as in shoal.demo.hospital()

__all__ = ["__version__", *_ROOMS]

if TYPE_CHECKING:
    from shoal import demo as demo
    from shoal import hierarchy as hierarchy
    from shoal.counts import Counts as Counts
    from shoal.counts import Groups as Groups
    from shoal.counts import Lattice as Lattice
    from shoal.errors import ShoalError as ShoalError
    from shoal.files import read as read
    from shoal.files import write as write
    from shoal.hierarchy import Hierarchy as Hierarchy
    from shoal.kinds import Kind as Kind
    from shoal.tables import Role as Role
    from shoal.tables import Table as Table
    from shoal.tables import table as table


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return getattr(import_module(f"shoal.{_ROOMS[name]}"), name)
    if name in _WHOLE:
        return import_module(f"shoal.{name}")
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
