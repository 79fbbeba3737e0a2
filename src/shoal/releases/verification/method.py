"""`MethodCheck`: what verification needs to know of a method, and how its releases are checked.

Every method has a module here with one of these; `catalogue` lists them, and `core` goes by the
list. A check first reads its part of a certificate into a record, a frozen dataclass with typed
fields, and then looks at nothing but the record and the tables.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from shoal.data.hierarchy.tree import Hierarchy
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.reading import ReleasedTables, TableShape

__all__ = ["MethodCheck", "OpenEnd", "Place"]

Place = tuple[str | int, ...]
"""Where something is on a certificate, such as ("parameters", "score")."""

Record = TypeVar("Record")


@dataclass(frozen=True)
class OpenEnd:
    """Something that the files do not show, in words, and where on the certificate it is."""

    words: str
    places: tuple[Place, ...] = ()


def _nothing_more(record: object, released: ReleasedTables) -> Iterator[str]:
    return iter(())


def _never(record: object) -> bool:
    return False


def _ordinary(record: object) -> TableShape:
    return TableShape()


def _no_variant(record: object) -> Mapping[str, bool]:
    return {}


@dataclass(frozen=True)
class MethodCheck(Generic[Record]):
    """How the releases of a method are checked. Faults are texts; none means that all is well."""

    name: str
    promises: tuple[str, ...]
    parameters: str
    """The names of all parameters: a certificate has these, and no others."""

    parse: Callable[[Claims], Record]
    """Reads the record; any error if a part is missing, or is not what it should be."""

    derivation: Callable[[Record], Iterator[str]]
    """The faults of the certificate alone: whether everything follows from the parameters."""

    trusted: Callable[[Record, Mapping[str, Hierarchy]], Iterator[OpenEnd]]
    """What the files do not show, with these hierarchies."""

    free: Callable[[Record], Iterator[str]]
    """The parameters that the files do not settle."""

    released: Callable[[Record, ReleasedTables], Iterator[str]] = _nothing_more
    """The faults of the tables, beside those of labels, order and models."""

    whole: Callable[[Record], bool] = _never
    """Whether the method leaves no record out."""

    shape: Callable[[Record], TableShape] = _ordinary
    derived: str = ""
    """The names of what may be derived from the parameters."""

    further: tuple[str, ...] = ()
    """The tables that it makes beside the first."""

    newer: str = ""
    """The names of parameters that earlier versions did not have: they may be absent."""

    variant: Callable[[Record], Mapping[str, bool]] = _no_variant
    """The parts of the promise that say what else is not protected."""

    models_of_release: bool = False
    """Whether models compare groups with the release itself, and not with the input."""
