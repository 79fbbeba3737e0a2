"""The workbench: from a file to a release that its owner can explain, by clicking.

A page in the browser, on this machine only. It reads and writes the very files of the command line:
recipes, ledgers, releases. Uses every room above; the command line starts it. Importing it is
light: pages load with the first use of a name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.workbench.app import application
    from shoal.workbench.running import serve

__all__ = ["application", "serve"]

_MODULES = {"application": "app", "serve": "running"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"shoal.workbench.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
