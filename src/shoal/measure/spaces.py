"""`solution_space`: how all levels that could have been chosen compare, in loss and suppression.

It is for the owner: everything here is computed from the data without a budget. Uses `lattice`,
`privacy`, `loss` and `look`; reports and notebooks use it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from random import Random

import numpy as np

from shoal.arguments import typed
from shoal.data.tables import Table
from shoal.errors import plural
from shoal.exact.numbers import Exact, fraction, percent, whole
from shoal.lattice import Groups, Lattice, Node
from shoal.look.charts import ChartAxis, Mark, heat_map
from shoal.look.pictures import Picture, Pictured
from shoal.look.zoned import Zone
from shoal.measure.loss import Columnwise, Loss, normalised, placed
from shoal.measure.previewing import bound_to, levels_of, loss_of
from shoal.privacy.models import KAnonymity, Model, holds_all
from shoal.zones import owner_only

__all__ = ["LevelsPlace", "SolutionSpace", "Square", "solution_space"]

SIDE = Fraction(1, 20)
"""The side of a square, as a share."""

COARSE = (Fraction(0), SIDE, 2 * SIDE, 5 * SIDE, 10 * SIDE, Fraction(1))
"""The shares of suppressed records by which the table of a map has columns."""

NODES = 20_000
"""Nodes that are looked at; of more, that many are drawn."""


@owner_only
@dataclass(frozen=True)
class LevelsPlace:
    """Levels of the columns, the loss at them, and the share of records that is suppressed."""

    levels: Mapping[str, int]
    loss: float
    suppressed: float


@owner_only
@dataclass(frozen=True)
class Square:
    """How many combinations of levels lose and suppress about the same.

    loss, suppressed: the lower ends; squares have the side `SIDE`
    """

    loss: float
    suppressed: float
    nodes: int


@owner_only
@dataclass(frozen=True)
class SolutionSpace(Pictured):
    """All combinations of levels, by what they lose and suppress.

    nodes: how many there are, of which `seen` were looked at
    allowed: the largest share of records that may be suppressed, if there is such a limit
    best: the one with the least loss of those that are allowed; None if none is
    chosen: the one that all is about, if there is one
    """

    records: int
    models: tuple[str, ...]
    loss_model: str
    nodes: int
    seen: int
    allowed: float | None
    squares: tuple[Square, ...]
    best: LevelsPlace | None
    chosen: LevelsPlace | None

    def pictures(self) -> tuple[Picture, ...]:
        """A heat map: how many combinations of levels lose and suppress how much."""
        marks = [(place.suppressed, place.loss, name) for name, place in self._named()]
        points = [(each.suppressed, each.loss, each.nodes) for each in self.squares]
        limits = [] if self.allowed is None else [Mark(self.allowed, "allowed:")]
        return (
            Picture(
                title=self._title(),
                sentence=self._sentence(),
                head=["loss", *map(_suppressing, pairwise(COARSE))],
                rows=[*self._rows()],
                draw=partial(
                    heat_map,
                    points,
                    ChartAxis("records suppressed", shares=True, ends=(0, 1)),
                    ChartAxis(f"loss ({self.loss_model})", shares=True, ends=(0, 1)),
                    step=float(SIDE),
                    marks=marks,
                    limits=limits,
                    unit="combinations",
                ),
                zone=Zone.OWNER,
            ),
        )

    def _rows(self) -> Iterator[list[object]]:
        """How many combinations lose about the same, by how much they suppress."""
        for loss in sorted({each.loss for each in self.squares}):
            alike = [each for each in self.squares if each.loss == loss]
            numbers = [
                sum(each.nodes for each in alike if low <= each.suppressed < high)
                for low, high in pairwise(map(float, COARSE))
            ]
            yield [_span(Fraction(loss).limit_denominator(100), SIDE), *(f"{n:,}" for n in numbers)]

    def _named(self) -> Iterator[tuple[str, LevelsPlace]]:
        best, chosen = self.best, self.chosen
        least = "least loss" if self.seen == self.nodes else "least loss seen"
        if best is not None and chosen is not None and best.levels == chosen.levels:
            yield f"this release, with the {least}", chosen
            return
        if chosen is not None:
            yield "this release", chosen
        if best is not None:
            yield least, best

    def _title(self) -> str:
        number = plural(self.nodes, "combination")
        if self.chosen is not None:
            lost, gone = percent(self.chosen.loss), percent(self.chosen.suppressed)
            return f"Of {number} of levels, this one loses {lost} and suppresses {gone} of records"
        if self.best is None:
            return f"None of {number} of levels suppresses few enough records"
        return f"The best of {number} of levels loses {percent(self.best.loss)}"

    def _sentence(self) -> str:
        models = " and ".join(self.models) or "nothing"
        text = (
            f"Each square has the combinations of levels that lose and suppress about the same of "
            f"the {self.records:,} records, where groups that fail {models} are suppressed. Its "
            "colour says how many they are; empty places have none. Lower left is better."
        )
        if self.seen < self.nodes:
            text += f" {self.seen:,} of them were drawn at random and looked at."
        for name, place in self._named():
            where = f"{name[:1].upper()}{name[1:]}: {_levels(place.levels)}"
            text += f" {where} ({_both(place)})."
        return text


def _span(low: Fraction, side: Fraction) -> str:
    # Columns are narrow: the sign stays with its figure.
    return f"{float(low * 100):.3g}–{float((low + side) * 100):.3g}\N{NO-BREAK SPACE}%"


def _suppressing(ends: tuple[Fraction, Fraction]) -> str:
    low, high = ends
    return f"suppressing {_span(low, high - low)}"


def _both(place: LevelsPlace) -> str:
    return f"{percent(place.loss)} lost, {percent(place.suppressed)} suppressed"


def _levels(levels: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


@typed
def solution_space(
    table: Table,
    models: Sequence[Model] = (),
    *,
    loss: Loss | str = "granularity",
    suppression: Exact | None = None,
    chosen: Mapping[str, int] | None = None,
    most: int = NODES,
) -> SolutionSpace:
    """How all combinations of levels of the quasi-identifying columns compare.

    models: groups that fail one are suppressed
    suppression: the largest share of records that may be
    chosen: the levels of a release
    most: how many combinations are looked at; of more, that many are drawn at random, always the
    same ones

    >>> import shoal
    >>> space = solution_space(shoal.demo.table(200), [shoal.KAnonymity(5)], suppression="0.1")
    >>> space.nodes == space.seen, space.best.suppressed <= 0.1
    (True, True)
    """
    measure = loss_of(loss)
    whole(most, "most", 1)
    limit = None if suppression is None else fraction(suppression, "suppression", 0, 1)
    wanted = bound_to(table, models)
    carried = sorted({column for model in wanted for column in model.columns})
    levels = levels_of(table, chosen or {})
    trees = {name: table.hierarchy(name) for name in levels}
    lattice = Lattice(table.count([*table.quasi, *carried]), trees)
    scoring = _Scoring(lattice, wanted, measure)
    squares: Counter[tuple[int, int]] = Counter()
    best: tuple[float, float, Node] | None = None
    seen = 0

    def least(found: tuple[float, float, Node]) -> tuple[float, float, Node] | None:
        """The better of the best so far and another one, if that is allowed."""
        allowed = limit is None or round(found[1] * lattice.total) <= limit * lattice.total
        return min(best or (2.0, 2.0, ()), found) if allowed else best

    for groups in _some(lattice, most):
        seen += 1
        lost, gone = scoring.of(groups)
        squares[_square(lost), _square(gone)] += 1
        best = least((lost, gone, groups.node))
    here = None
    if chosen is not None:
        node = tuple(levels.values())
        here = LevelsPlace(levels, *scoring.of(lattice.groups(node)))
        # Where only some are looked at, it may be none of them.
        best = least((here.loss, here.suppressed, node))
    return SolutionSpace(
        records=lattice.total,
        models=tuple(map(str, wanted)),
        loss_model=measure.name,
        nodes=lattice.size,
        seen=seen,
        allowed=None if limit is None else float(limit),
        squares=tuple(
            Square(float(down * SIDE), float(across * SIDE), number)
            for (down, across), number in sorted(squares.items())
        ),
        best=None if best is None else _place(lattice, best),
        chosen=here,
    )


def _place(lattice: Lattice, found: tuple[float, float, Node]) -> LevelsPlace:
    lost, gone, node = found
    return LevelsPlace(dict(zip(lattice.names, node, strict=True)), lost, gone)


def _square(share: float) -> int:
    """The square that a share is in; the last has its upper end."""
    return min(int(share / float(SIDE)), int(1 / SIDE) - 1)


def _some(lattice: Lattice, most: int) -> Iterator[Groups]:
    """The groups of every node, or of nodes drawn evenly if there are too many."""
    if lattice.size <= most:
        yield from lattice.walk()
        return
    # What is drawn here is looked at by the owner and never released.
    chosen = Random(0).sample(range(lattice.size), most)
    ranges = [range(low, high + 1) for low, high in zip(lattice.bottom, lattice.top, strict=True)]
    for rank in sorted(chosen):
        node, rest = [], rank
        for levels in reversed(ranges):
            rest, at = divmod(rest, len(levels))
            node.append(levels[at])
        yield lattice.groups(tuple(reversed(node)))


@dataclass(frozen=True, eq=False)
class _Scoring:
    """What levels lose and suppress."""

    lattice: Lattice
    models: Sequence[Model]
    loss: Loss

    def of(self, groups: Groups) -> tuple[float, float]:
        """The loss, and the share of records suppressed."""
        total = max(self.lattice.total, 1)
        if self.least is not None and isinstance(self.loss, Columnwise):
            # Sums over cells as they are, which is several times as fast.
            cells = groups.cells
            gone = int(cells[cells < self.least].sum())
            raw = self.loss.limited(groups, self.least)
            return placed(self.loss, self.lattice, raw, gone == self.lattice.total), gone / total
        kept = np.asarray(holds_all(self.models, groups))
        gone = int(groups.sizes[~kept].sum())
        return normalised(self.loss, groups, kept), gone / total

    @cached_property
    def least(self) -> int | None:
        """The size of groups that are kept, if that is all that models ask for."""
        sizes = [model.k for model in self.models if isinstance(model, KAnonymity)]
        return max(sizes, default=1) if len(sizes) == len(self.models) else None
