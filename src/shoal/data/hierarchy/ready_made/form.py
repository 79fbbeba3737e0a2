"""What a ready-made hierarchy is: an entry of the catalogue, and how its values may be written.

Uses `tree`; the lists beside it make entries, and the catalogue has all of them.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["Path", "ReadyMade", "WrittenForm", "rows"]

Path = Sequence[str]
"""What a value becomes at each level above its own, the root left out."""


@dataclass(frozen=True)
class WrittenForm:
    """One way in which the values of a ready-made hierarchy are written.

    example: a value
    leaves: every value; None where there are too many to list
    path: what a value becomes, None for what is not a value; None where values cannot be chosen
    build: makes the hierarchy below a root, where that is quicker than value by value
    size: how many values there are, where they may be very many
    lists: whether a value is among all of them; None where each with a path is
    """

    example: str
    leaves: Callable[[], Iterable[str]] | None = None
    path: Callable[[str], Path | None] | None = None
    build: Callable[[str], Hierarchy] | None = None
    size: int = 0
    lists: Callable[[str], bool] | None = None

    @property
    def is_listed(self) -> bool:
        """Whether the form has values of its own, so that none need be declared."""
        return self.leaves is not None or self.build is not None


@dataclass(frozen=True)
class ReadyMade:
    """A hierarchy that nobody has to write.

    about: what its values are
    levels: what stands at each level, from the values to the last level below the root
    forms: how values may be written; the first is the one that is taken if none is named
    source, licence: where the facts come from, and what allows to use them
    """

    name: str
    about: str
    levels: tuple[str, ...]
    forms: Mapping[str, WrittenForm]
    source: str
    licence: str

    @property
    def form(self) -> str:
        """The form that is taken if none is named."""
        return next(iter(self.forms))


def rows(file: str) -> Iterator[dict[str, str]]:
    """The lines of a list that lies beside this module, by the names in its first line."""
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())
