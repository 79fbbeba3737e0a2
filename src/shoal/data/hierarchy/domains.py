"""Declared domains that lie in files: lists of values, and groups of them.

Uses `errors` and `disk`; the command line uses it, and whoever keeps a code list beside a program.
"""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from shoal.data.disk import misread, reading, unreadable
from shoal.errors import FileError, RecipeError

__all__ = ["read_groups", "read_values"]


def read_values(path: str | os.PathLike[str]) -> list[str]:
    """The values in a UTF-8 file, one per line; empty lines are skipped."""
    return [line for line in _text(path).splitlines() if line]


def read_groups(path: str | os.PathLike[str]) -> Any:
    """The groups in a JSON or TOML file, as `shoal.hierarchy.groups` takes them."""
    content = _text(path)
    try:
        return tomllib.loads(content) if Path(path).suffix == ".toml" else json.loads(content)
    except RecursionError:
        raise RecipeError(
            f"{os.fspath(path)} has groups a thousand deep", "make them flatter"
        ) from None
    except ValueError as error:
        raise RecipeError(
            f"{os.fspath(path)} does not contain groups: see {misread(error)}",
            'write {"name": [values]} as JSON, or as TOML in a .toml file',
        ) from None


def _text(path: str | os.PathLike[str]) -> str:
    reading(path)
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(os.fspath(path), error) from None
    except UnicodeError:
        raise FileError(f"{os.fspath(path)} is not UTF-8", "save it as such") from None
