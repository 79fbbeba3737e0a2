"""`Promise`: what a release guarantees, as a value that can be stated before any data is seen. Uses `hierarchy`.

Methods state promises, certificates carry them, `verify` reads them back; so a promise is made of plain data only.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from shoal.hierarchy.tree import Hierarchy

__all__ = ["KNOWS_THE_ALGORITHM", "Promise", "plain"]

KNOWS_THE_ALGORITHM = "syntactic; an attacker who knows the algorithm may infer more"
"""The promise every method has that chooses its output by looking at the data and proves nothing about the choice."""


@dataclass(frozen=True)
class Promise:
    """What a release guarantees and what it does not.

    `kind` is the family: "none" guarantees nothing, "syntactic" only properties of the released table itself.
    `models` are the properties that the released table has, as plain data; `complete` says that every record of the
    input is in the release, if only with its quasi-identifying columns suppressed, so that shares are those of the input.
    """

    kind: Literal["none", "syntactic"]
    says: str
    models: tuple[Mapping[str, Any], ...] = ()
    unprotected: tuple[str, ...] = ()
    complete: bool = False

    def __str__(self) -> str:
        return self.says

    def as_dict(self) -> dict[str, Any]:
        """The promise as it stands on a certificate."""
        found: dict[str, Any] = plain(asdict(self))
        return found


def plain(value: object) -> Any:
    """A parameter as data that JSON can carry exactly: a fraction is the text "1/20", a hierarchy its lines.

    >>> plain({"limit": Fraction(1, 20), "levels": (1, 2)})
    {'limit': '1/20', 'levels': [1, 2]}
    """
    match value:
        case None | bool() | int() | str() | float() if not isinstance(value, Enum):
            return value
        case Enum():
            return value.value
        case Fraction():
            return str(value)
        case Hierarchy():
            return value.lines()
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type) and all(f.init for f in fields(value)):
        if any(hasattr(getattr(value, f.name), "dtype") for f in fields(value)):
            return type(value).__name__  # tables of numbers, such as a population, stay with the owner
        return {"is": type(value).__name__, **{f.name: plain(getattr(value, f.name)) for f in fields(value)}}
    return type(value).__name__
