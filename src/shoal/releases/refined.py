"""`Refined`: the steps of a tree, by which a release has values of several levels in a column.

It is read from what a certificate says. `certificate` uses it, and whoever reads such a release.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Refined"]


@dataclass(frozen=True)
class Refined:
    """Columns that were refined step by step, each row by some of the first steps.

    steps: a column, and the level that it is refined to from the one above
    floor: the levels below which columns were not refined, 0 where none is named

    >>> refined = Refined((("age", 2), ("sex", 0), ("age", 1)), {"town": 3})
    >>> refined.levels(["age", "sex", "town"])
    {'age': range(1, 4), 'sex': range(0, 2), 'town': range(3, 4)}
    """

    steps: tuple[tuple[str, int], ...]
    floor: Mapping[str, int]

    @classmethod
    def of(cls, parameters: Mapping[str, Any], derived: Mapping[str, Any]) -> "Refined | None":
        """What a certificate says of the steps; None if it does not speak of a tree."""
        floor = parameters.get("floor")
        match derived.get("tree"):
            case {"steps": [*steps]} if all(map(_is_step, steps)):
                given = floor if isinstance(floor, Mapping) else {}
                return cls(tuple((name, level) for name, level in steps), given)
        return None

    def levels(self, columns: Iterable[str]) -> dict[str, range]:
        """The levels that the values of columns may have; these are all that have a hierarchy."""
        ranges = {}
        for column in columns:
            steps = [level for name, level in self.steps if name == column]
            # What is not refined has one level, which is its floor.
            lowest = min(steps, default=self.floor.get(column, 0))
            ranges[column] = range(lowest, max(steps, default=lowest - 1) + 2)
        return ranges


def _is_step(step: object) -> bool:
    """Whether something is a column and a level; anybody may have written it."""
    match step:
        case [str(), int(level)]:
            return level >= 0
    return False
