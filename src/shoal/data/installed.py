"""Libraries that only some formats need, which may not be installed. Readers of formats use it."""

from importlib import import_module
from typing import Any

from shoal.errors import FileError

__all__ = ["require_installed"]


def require_installed(module: str, what: str, extra: str) -> Any:
    """A library that is an extra; FileError says which one to install.

    what: what needs it, as the beginning of a sentence
    """
    try:
        return import_module(module)
    except ImportError:
        raise FileError(
            f"{what} need the library {module}", f"install it with: pip install 'shoal[{extra}]'"
        ) from None
