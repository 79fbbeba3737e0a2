"""`Refined`: the steps of a tree, by which a release has values of several levels in a column.

It is read from what a certificate says. `certificate` uses it, and whoever reads such a release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Refined"]


@dataclass(frozen=True)
class Refined:
    """Columns that were refined step by step, each row by some of the first steps.

    steps: a column, and the level that it is refined to
    ceiling: the levels that columns had before the first step, the root where none is named

    >>> refined = Refined((("age", 2), ("sex", 0), ("age", 0)), {"age": 3})
    >>> refined.levels({"age": 4, "sex": 1, "town": 2})
    {'age': [0, 2, 3], 'sex': [0, 1]}
    """

    steps: tuple[tuple[str, int], ...]
    ceiling: Mapping[str, int]

    @classmethod
    def of(cls, parameters: Mapping[str, Any], derived: Mapping[str, Any]) -> "Refined | None":
        """What a certificate says of the steps; None if it does not speak of a tree."""
        ceiling = parameters.get("ceiling")
        match derived.get("tree"):
            case {"steps": [*steps]} if all(map(_is_step, steps)):
                given = ceiling if isinstance(ceiling, Mapping) else {}
                return cls(tuple((name, level) for name, level in steps), given)
        return None

    def levels(self, heights: Mapping[str, int]) -> dict[str, list[int]]:
        """The levels that the values of refined columns may have, given how high hierarchies are.

        A level in between is missing where its labels would have stood for other values elsewhere.
        """
        found: dict[str, set[int]] = {}
        for name, level in self.steps:
            if name in heights:
                top = self.ceiling.get(name, heights[name])
                found.setdefault(name, {top}).add(level)
        return {name: sorted(levels) for name, levels in found.items()}


def _is_step(step: object) -> bool:
    """Whether something is a column and a level; anybody may have written it."""
    match step:
        case [str(), int(level)]:
            return level >= 0
    return False
