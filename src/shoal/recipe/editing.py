"""`Draft`: a recipe that is being written, decision by decision.

The file stays the one place where decisions are: comments and order survive, so that a person with
an editor and a program can take turns. Uses tomlkit; `schema` and the workbench use it.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data import toml
from shoal.data.disk import replacing
from shoal.data.formats import BY_COLUMN
from shoal.errors import RecipeError, ShoalError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

__all__ = ["PLACEHOLDER", "Draft", "editing", "unfilled_places"]

PLACEHOLDER = "?"
"""Stands in a draft where only a person can decide; a recipe with one left is refused."""

_TEXTS = ("source", "missing_texts")
"""Where a "?" is a text of the table, and not something undecided."""


def unfilled_places(content: object) -> list[toml.Place]:
    """The places of a recipe that still have a "?".

    >>> unfilled_places({"source": {"missing_texts": ["?"]}, "roles": {"age": "?"}})
    [('roles', 'age')]
    """
    values = toml.plain_values(content)
    return [place for place, value in values if value == PLACEHOLDER and place[:2] != _TEXTS]


@dataclass
class _Turn:
    """Whose turn it is to edit a file, and the draft that they have."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    draft: "Draft | None" = None


_TURNS: dict[Path, _Turn] = {}
_TURNS_LOCK = threading.Lock()


class Draft:
    """The text of a recipe, with its decisions by place.

    A place is the way to a key, such as ("method", "epsilon").
    """

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path = path
        self._content = content

    @classmethod
    def read(cls, path: Path) -> "Draft":
        """The draft in a file; RecipeError if that is not TOML."""
        return cls(path, toml.read(path, "a recipe", RecipeError).content)

    @cached_property
    def document(self) -> "TOMLDocument":
        """The file with its comments and order.

        It is read when something changes: that takes some fifty times as long as the values alone.
        """
        # Line ends stay as they are.
        text = self.path.read_bytes().decode("utf-8")
        document: TOMLDocument = _tomlkit().parse(text)
        return document

    @property
    def content(self) -> dict[str, Any]:
        """All decisions as plain values."""
        if "document" not in self.__dict__:
            return self._content
        content: dict[str, Any] = self.document.unwrap()
        return content

    def get(self, *place: str) -> Any:
        """What was decided at a place; None if nothing was, or only a "?" is there."""
        value: Any = self.content
        for part in place:
            if not isinstance(value, Mapping) or part not in value:
                return None
            value = value[part]
        return None if value == PLACEHOLDER else value

    def section(self, *place: str) -> dict[str, Any]:
        """A section as it is written, with every "?"; empty if there is none."""
        value: Any = self.content
        for part in place:
            value = value.get(part) if isinstance(value, Mapping) else None
        return dict(value) if isinstance(value, Mapping) else {}

    def set(self, *place: str, to: object) -> None:
        """Decide something; None takes the decision back."""
        *way, last = place
        section: Any = self.document
        for part in way:
            if part not in section or not isinstance(section[part], Mapping):
                if to is None:
                    return
                section[part] = _tomlkit().table()
            section = section[part]
        if to is None:
            section.pop(last, None)
        else:
            section[last] = to

    @property
    def undecided(self) -> list[tuple[str, ...]]:
        """The places that still have a "?"."""
        return [tuple(map(str, place)) for place in unfilled_places(self.content)]

    # Columns

    @property
    def columns(self) -> list[str]:
        """The columns that have a role, or a "?" for one."""
        return list(self.section("roles"))

    def align(self, names: Iterable[str]) -> None:
        """Name these columns and no others: new ones get a "?", those that are gone go entirely."""
        wanted = list(names)
        by_column = (("source", option) for option in BY_COLUMN)
        for section in (("roles",), ("source", "types"), ("hierarchies",), *by_column):
            for name in self.section(*section):
                if name not in wanted:
                    self.set(*section, name, to=None)
        known = self.section("roles")
        for name in wanted:
            if name not in known:
                self.set("roles", name, to=PLACEHOLDER)
                self.set("source", "types", name, to=PLACEHOLDER)

    def settle_types(self, kinds: Mapping[str, str]) -> None:
        """Give columns whose type is undecided the type that was found."""
        for name, kind in self.section("source", "types").items():
            if kind == PLACEHOLDER and name in kinds:
                self.set("source", "types", name, to=str(kinds[name]))

    @property
    def text(self) -> str:
        """The file as it would be written."""
        return str(self.document.as_string())

    def save(self) -> None:
        """Write the file, as a whole or not at all."""
        with replacing(self.path) as file:
            file.write(self.text.encode())


@contextmanager
def editing(path: Path) -> Iterator[Draft]:
    """The draft in a file, written when the block ends without an error.

    Blocks on the same file take turns, in other threads and processes too, so that nobody's
    decision is lost; one inside another is a part of it. RecipeError, and nothing is written, if
    somebody with an editor has changed the file meanwhile.
    """
    path = path.absolute()
    with _TURNS_LOCK:
        turn = _TURNS.setdefault(path, _Turn())
    with turn.lock:
        if turn.draft is not None:
            yield turn.draft
            return
        with _locked(path):
            before = path.read_bytes() if path.is_file() else b""
            draft = turn.draft = Draft.read(path)
            text = draft.text
            try:
                yield draft
            finally:
                turn.draft = None
            if draft.text == text:
                return
            if path.read_bytes() != before:
                raise RecipeError(
                    "somebody changed the recipe at the same time, and nothing was written",
                    "decide it again",
                    where=path.name,
                )
            draft.save()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A lock on the file that has a name now, where the system has such; it ends with the process.

    Whoever writes puts a new file in its place, so that a lock may be on one that is gone.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    while True:
        try:
            file = os.open(path, os.O_RDONLY)
        except OSError:
            # Reading it says what is wrong.
            yield
            return
        try:
            # Some network drives have no locks.
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(file, path):
                yield
                return
        finally:
            os.close(file)


def _is_at(file: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False


def _tomlkit() -> Any:
    try:
        import tomlkit
    except ImportError:
        raise ShoalError(
            "editing recipes needs tomlkit", "install it with: pip install 'shoal[workbench]'"
        ) from None
    return tomlkit
