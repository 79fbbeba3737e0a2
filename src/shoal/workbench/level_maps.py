"""The map of all levels, whose squares can be chosen: by loss upwards, by suppression across.

It is laid out here and drawn by a template, as links, so that a pointer and keys can choose. Uses
`measure`, `look`; the screen Explore uses it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.look.charts import HeatClass, heat_classes
from shoal.measure.spaces import SIDE, LevelsPlace, SolutionSpace

__all__ = ["LevelsMap", "MapMark", "MapSquare"]

_SIDES = int(1 / SIDE)


@dataclass(frozen=True)
class MapSquare:
    """Combinations of levels that lose and suppress about the same.

    up, across: its place in the grid, from the lower left
    lost, suppressed: the shares between which they are
    """

    up: int
    across: int
    nodes: int
    shade: str
    chosen: bool

    @property
    def lost(self) -> str:
        """How much they lose."""
        return _span(self.up)

    @property
    def suppressed(self) -> str:
        """How much they suppress."""
        return _span(self.across)

    @property
    def key(self) -> str:
        """What it is called in addresses."""
        return f"{self.up}.{self.across}"

    @property
    def area(self) -> str:
        """Its place as CSS counts, from the upper left."""
        return f"{_SIDES - self.up} / {self.across + 1}"


@dataclass(frozen=True)
class MapMark:
    """A combination with a name: "best", "recipe", or the number of a pin."""

    name: str
    loss: float
    suppressed: float

    @property
    def place(self) -> str:
        """Where it is, as CSS has it."""
        return f"left: {self.suppressed:.2%}; bottom: {self.loss:.2%}"


@dataclass(frozen=True)
class LevelsMap:
    """The map: its squares, what is marked on it, and what the shades mean.

    address: where a square is chosen; its key is added
    """

    space: SolutionSpace
    squares: Sequence[MapSquare]
    marks: Sequence[MapMark]
    classes: Sequence[HeatClass]
    address: str
    ticks: ClassVar = (0, 25, 50, 75, 100)
    """Where both axes have a number, in per cent."""

    @classmethod
    def of(
        cls,
        space: SolutionSpace,
        pins: Sequence[Mapping[str, Any]],
        chosen: tuple[int, int] | None,
        address: str,
    ) -> "LevelsMap":
        """The map of a space, with pins on it."""
        classes = heat_classes(max(square.nodes for square in space.squares))
        squares = []
        for one in space.squares:
            up, across = round(one.loss / float(SIDE)), round(one.suppressed / float(SIDE))
            shade = next(each.shade for each in reversed(classes) if one.nodes >= each.least)
            squares.append(MapSquare(up, across, one.nodes, shade, (up, across) == chosen))
        named: dict[str, LevelsPlace | None] = {"best": space.best, "recipe": space.chosen}
        marks = [
            MapMark(name, place.loss, place.suppressed)
            for name, place in named.items()
            if place is not None
        ]
        marks += [
            MapMark(str(number), pin["loss"], pin["suppressed"])
            for number, pin in enumerate(pins, 1)
            if pin["is_current"]
        ]
        # Those that lose least come first, for whoever goes through them by keys.
        squares.sort(key=lambda one: (one.up, one.across))
        return cls(space, squares, marks, classes, address)


def _span(low: int) -> str:
    side = float(SIDE) * 100
    return f"{low * side:.3g}–{(low + 1) * side:.3g} %"
