"""TOML files: reading one, naming a place in it, and saying what does not belong there.

Uses `disk` and `errors`; recipes and files of views are read with it. What a file may contain is
its reader's business. No message quotes a value: a file of views holds sensitive ones.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from shoal.data.disk import misread, reading
from shoal.errors import FileError, InputError, ShoalError, listed

__all__ = [
    "Keys",
    "Place",
    "TomlFile",
    "at",
    "key",
    "plain_values",
    "quoted",
    "read",
    "require_keys",
    "section",
    "suggestion",
    "unknown_key",
]

DEEPEST = 50
"""Sections and lists inside each other; far deeper ones would exhaust Python's stack."""

Place = Sequence[int | str]
"""The way to a value: keys, and the numbers of elements in lists."""

Keys = Mapping[str, tuple[type, ...]]
"""The keys that a section takes, each with the types that its value may have."""

_TYPES = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table { … }",
}


@dataclass(frozen=True)
class TomlFile:
    """A TOML file that was read; `digest` is the SHA-256 of its bytes."""

    path: Path
    content: dict[str, Any]
    digest: str


def read(
    path: str | PathLike[str], what: str = "a TOML file", error: type[ShoalError] = FileError
) -> TomlFile:
    """The content of a file; FileError if it is unreadable, the given `error` if it is not TOML.

    what: what the file should be, as the message calls it
    """
    place = Path(path)
    try:
        written = place.read_bytes()
        text = written.decode("utf-8")
    except OSError as problem:
        raise FileError(
            f"cannot read {place}: {problem.strerror}", f"give the path of {what}"
        ) from None
    except UnicodeDecodeError:
        raise FileError(f"{place} is not UTF-8 text", f"give the path of {what}") from None
    except ValueError:  # such as one with the byte 0
        raise FileError("this cannot be a path", f"give the path of {what}") from None
    reading(place)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise error(f"{place} is not TOML: see {misread(problem)}") from None
    except (ValueError, RecursionError):
        # Python's own reader of TOML cannot take these.
        raise error(
            f"{place} has a number with thousands of digits, or sections a hundred deep"
        ) from None
    if _depth(content) > DEEPEST:
        raise error(
            f"{place} has sections or lists more than {DEEPEST} deep", "write it with fewer levels"
        )
    return TomlFile(place, content, hashlib.sha256(written).hexdigest())


def _depth(content: object) -> int:
    """How deep sections and lists lie inside each other."""
    depth = 0
    layer = _inner([content])
    while layer:
        depth += 1
        layer = _inner(layer)
    return depth


def _inner(layer: Iterable[object]) -> list[object]:
    """What lies directly inside the sections and lists of a layer."""
    inner: list[object] = []
    for part in layer:
        if isinstance(part, dict):
            inner += part.values()
        elif isinstance(part, list):
            inner += part
    return inner


def plain_values(content: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """Every value that is not a section or list, with its place.

    >>> list(plain_values({"a": [1, {"b": 2}]}))
    [(('a', 0), 1), (('a', 1, 'b'), 2)]
    """
    if isinstance(content, dict):
        for name, inner in content.items():
            yield from plain_values(inner, (*place, name))
    elif isinstance(content, list):
        for number, inner in enumerate(content):
            yield from plain_values(inner, (*place, number))
    else:
        yield place, content


# How keys and texts are written


def at(place: Place) -> str:
    """A place as people write it.

    >>> at(("method", "models", 0, "k")), at(("roles", "post code"))
    ('method.models[0].k', 'roles."post code"')
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{key(part)}" for part in place)
    return "".join(parts).removeprefix(".")


def key(name: str) -> str:
    """A key as TOML wants it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(text: str) -> str:
    """A text as TOML wants it, which does not take control characters unescaped.

    >>> print(quoted('a "b"'))
    "a \\"b\\""
    """
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in escaped)


# What does not belong in a file


def suggestion(given: object, accepted: Iterable[str]) -> str:
    """What may have been meant, or else all that is accepted.

    >>> suggestion("gama", ["gamma", "limits"]), suggestion("x", ["gamma", "limits"])
    ("did you mean 'gamma'?", "it takes 'gamma', 'limits'")
    """
    names = list(accepted)
    close = get_close_matches(str(given), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"it takes {listed(names)}"


def unknown_key(
    place: Place, accepted: Iterable[str], error: type[ShoalError] = InputError
) -> ShoalError:
    """The error about a key that its section does not take.

    >>> print(unknown_key(("register", "flie"), ["file", "people"]))
    register.flie: unknown key; did you mean 'file'?
    """
    return error("unknown key", suggestion(place[-1], accepted), where=at(place))


def require_keys(content: Mapping[str, Any], keys: Keys, place: Place = ()) -> None:
    """InputError unless a section has these keys only, each with a value of a right type.

    >>> require_keys({"file": 5}, {"file": (str,)}, ("register",))
    Traceback (most recent call last):
    shoal.errors.InputError: register.file: should be a text
    """
    for name, value in content.items():
        if name not in keys:
            raise unknown_key((*place, name), keys)
        # By type, as true is not a whole number here.
        if type(value) not in keys[name]:
            wanted = " or ".join(_TYPES[kind] for kind in keys[name])
            raise InputError(f"should be {wanted}", where=at((*place, name)))


def section(content: Mapping[str, Any], name: str, keys: Keys | None = None) -> dict[str, Any]:
    """A section of a file by its name, empty if there is none; InputError unless it has these keys.

    keys: None where any will do, such as names of columns
    """
    part = content.get(name, {})
    if not isinstance(part, dict):
        raise InputError("should be a section", f"write it as [{name}]", where=name)
    if keys is not None:
        require_keys(part, keys, (name,))
    return part
