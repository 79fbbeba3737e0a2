"""Where the labels of a chart go, so that they stay apart. Pixels, with y growing downwards.

Nothing is measured: letters are taken to be as wide as they are on average. Uses nothing; `charts`
uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LINE", "Beside", "apart", "beside", "width"]

LINE = 14.0
"""The height of a line of text."""

_LETTER = 6.6
"""The width of a letter, on average."""

_GAP = 9.0
"""Between a point and its label."""

_ROUNDS = 4
"""How often each label looks for its place."""


def width(text: str) -> float:
    """About how wide a text is."""
    return _LETTER * len(text)


def apart(places: Sequence[float], gap: float = LINE) -> list[float]:
    """Places moved as little as it takes to be a gap apart, in the same order.

    >>> apart([0, 1, 50])
    [-6.5, 7.5, 50.0]
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    # Runs of places that touch: where the middle of each is, and whose places they are.
    runs: list[tuple[float, list[int]]] = []
    for at in order:
        middle, members = float(places[at]), [at]
        while runs and middle - runs[-1][0] < gap * (len(members) + len(runs[-1][1])) / 2:
            before, others = runs.pop()
            total = before * len(others) + middle * len(members)
            members = others + members
            middle = total / len(members)
        runs.append((middle, members))
    moved = [0.0] * len(places)
    for middle, members in runs:
        first = middle - gap * (len(members) - 1) / 2
        for rank, at in enumerate(members):
            moved[at] = first + gap * rank
    return moved


@dataclass(frozen=True)
class Beside:
    """A label beside its point: where its text begins, is centred or ends."""

    x: float
    y: float
    align: str


def beside(
    points: Sequence[tuple[float, float]], texts: Sequence[str], size: tuple[float, float]
) -> list[Beside]:
    """A place beside each point at which its label covers as little as possible.

    One by one, and then again, as a label that came early did not know of those that came later.

    size: of the chart
    """
    dots = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    ways = [_ways(x, y, width(text)) for (x, y), text in zip(points, texts, strict=True)]
    chosen: dict[int, int] = {}
    for _ in range(_ROUNDS):
        for at, its in enumerate(ways):
            others = [ways[other][way][1] for other, way in chosen.items() if other != at]
            costs = [_covered(box, dots + others) + _outside(box, size) for _, box in its]
            chosen[at] = costs.index(min(costs))
    return [ways[at][chosen[at]][0] for at in range(len(ways))]


def _ways(x: float, y: float, long: float) -> list[tuple[Beside, "_Box"]]:
    """The places beside a point, with what a label of some width covers there; the best first."""
    ways = [
        (Beside(x + _GAP, y, "left"), x + _GAP),
        (Beside(x - _GAP, y, "right"), x - _GAP - long),
        (Beside(x, y - LINE, "center"), x - long / 2),
        (Beside(x, y + LINE, "center"), x - long / 2),
    ]
    for lines in (-LINE, LINE, -2 * LINE, 2 * LINE):
        ways.append((Beside(x + _GAP, y + lines, "left"), x + _GAP))
        ways.append((Beside(x - _GAP, y + lines, "right"), x - _GAP - long))
    return [(way, (left, way.y - LINE / 2, left + long, way.y + LINE / 2)) for way, left in ways]


_Box = tuple[float, float, float, float]


def _covered(box: _Box, others: Sequence[_Box]) -> float:
    """How much of other boxes a box covers."""
    area = 0.0
    for other in others:
        across = min(box[2], other[2]) - max(box[0], other[0])
        down = min(box[3], other[3]) - max(box[1], other[1])
        area += max(across, 0.0) * max(down, 0.0)
    return area


def _outside(box: _Box, size: tuple[float, float]) -> float:
    """How much of a box lies outside of the chart."""
    inside = _covered((0.0, 0.0, *size), [box])
    return (box[2] - box[0]) * (box[3] - box[1]) - inside
