"""`survey`: what every combination of levels would lose and suppress, one by one, to search in.

`solution_space` sums up; here all combinations are kept, so that an owner can narrow them down and
note some. It is for the owner: everything here is computed from the data without a budget. Uses
`lattice`, `privacy`, `loss` and `spaces`; the workbench uses it.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.data.disk import replacing
from shoal.data.tables import Table
from shoal.errors import FileError, ParameterError
from shoal.exact.numbers import whole
from shoal.lattice import Groups, Lattice, Node
from shoal.measure.loss import LOSSES, Columnwise, Loss, normalised, placed
from shoal.measure.previewing import levels_of
from shoal.measure.spaces import NODES, SIDE, LevelsPlace, SolutionSpace, Square
from shoal.privacy.models import KAnonymity, Model, bound, holds_all
from shoal.zones import owner_only

__all__ = ["LevelSurvey", "Narrowing", "survey"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SECONDS = 60.0
"""How long combinations are looked at where not all of them can be."""

_WORK = 20_000_000_000
"""Nodes × different rows of a table up to which every node is looked at, however long it takes."""

_EVERY = 64
"""Nodes after which progress is told."""


@dataclass(frozen=True)
class Narrowing:
    """Which combinations of levels somebody wants to see.

    at_least, at_most: levels of columns
    suppression, loss: the largest shares
    satisfied: models that must hold without suppressing anything
    """

    at_least: Mapping[str, int] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    suppression: float | None = None
    loss: float | None = None
    satisfied: tuple[str, ...] = ()


@owner_only
@dataclass(frozen=True, eq=False)
class LevelSurvey:
    """Combinations of levels, each with what it loses and suppresses.

    heights: the highest level of every column
    nodes: how many combinations there are
    levels: those that were looked at, one row each
    lost, suppressed: the loss, and the share of records suppressed, if groups that fail a model are
    failing: for every model the share of records in groups that fail it
    """

    heights: Mapping[str, int]
    records: int
    models: tuple[str, ...]
    loss_model: str
    nodes: int
    levels: npt.NDArray[np.int16] = field(repr=False)
    lost: Floats = field(repr=False)
    suppressed: Floats = field(repr=False)
    failing: Floats = field(repr=False)

    @property
    def seen(self) -> int:
        """How many combinations were looked at."""
        return len(self.lost)

    @property
    def is_whole(self) -> bool:
        """Whether every combination was looked at; else those were drawn at random."""
        return self.seen == self.nodes

    def matching(self, wanted: Narrowing) -> Bools:
        """Which of the combinations are wanted."""
        fits = np.ones(self.seen, dtype=np.bool_)
        for place, name in enumerate(self.heights):
            at = self.levels[:, place]
            fits &= at >= wanted.at_least.get(name, 0)
            fits &= at <= wanted.at_most.get(name, self.heights[name])
        if wanted.suppression is not None:
            fits &= self.suppressed <= wanted.suppression
        if wanted.loss is not None:
            fits &= self.lost <= wanted.loss
        for model in wanted.satisfied:
            if model not in self.models:
                raise ParameterError(f"{model} was not looked at", "survey the levels by it")
            fits &= self.failing[:, self.models.index(model)] == 0
        return fits

    @cached_property
    def squares(self) -> npt.NDArray[np.int64]:
        """For each combination the square of a map that it is in, by loss and by suppression."""
        last = int(1 / SIDE) - 1
        both = np.stack([self.lost, self.suppressed], axis=1) / float(SIDE)
        return np.minimum(both.astype(np.int64), last)

    def best(self, fits: Bools, number: int) -> list[LevelsPlace]:
        """Of some combinations those that lose least, the first one first."""
        there = np.flatnonzero(fits)
        order = np.lexsort((self.suppressed[there], self.lost[there]))
        return [self.place(int(at)) for at in there[order[:number]]]

    def at(self, levels: Mapping[str, int]) -> LevelsPlace | None:
        """A combination of levels; None if it was not looked at."""
        if levels.keys() != self.heights.keys():
            return None
        node = np.array([levels[name] for name in self.heights])
        found = np.flatnonzero((self.levels == node).all(axis=1))
        return self.place(int(found[0])) if len(found) else None

    def place(self, at: int) -> LevelsPlace:
        """One of the combinations."""
        node = map(int, self.levels[at])
        levels = dict(zip(self.heights, node, strict=True))
        return LevelsPlace(levels, float(self.lost[at]), float(self.suppressed[at]))

    def space(
        self, fits: Bools, allowed: float | None = None, chosen: Mapping[str, int] | None = None
    ) -> SolutionSpace:
        """Some combinations, summed up for a picture."""
        squares = Counter(map(tuple, self.squares[fits].tolist()))
        within = fits if allowed is None else fits & (self.suppressed <= allowed)
        best = self.best(within, 1)
        number = int(fits.sum())
        return SolutionSpace(
            records=self.records,
            models=self.models,
            loss_model=self.loss_model,
            nodes=number,
            seen=number,
            allowed=allowed,
            squares=tuple(
                Square(float(low * SIDE), float(left * SIDE), count)
                for (low, left), count in sorted(squares.items())
            ),
            best=best[0] if best else None,
            chosen=None if chosen is None else self.at(chosen),
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Keep it in a file, which is the owner's."""
        with replacing(path) as file:
            np.savez_compressed(
                file,
                names=np.array(list(self.heights), dtype=np.str_),
                heights=np.array(list(self.heights.values())),
                models=np.array(self.models, dtype=np.str_),
                loss_model=np.array(self.loss_model),
                numbers=np.array([self.records, self.nodes]),
                levels=self.levels,
                lost=self.lost,
                suppressed=self.suppressed,
                failing=self.failing,
            )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "LevelSurvey":
        """One that was written; FileError if the file is missing or something else."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as parts:
                names = [str(name) for name in parts["names"]]
                heights = [int(height) for height in parts["heights"]]
                records, nodes = map(int, parts["numbers"])
                return cls(
                    heights=dict(zip(names, heights, strict=True)),
                    records=records,
                    models=tuple(str(model) for model in parts["models"]),
                    loss_model=str(parts["loss_model"]),
                    nodes=nodes,
                    levels=parts["levels"],
                    lost=parts["lost"],
                    suppressed=parts["suppressed"],
                    failing=parts["failing"],
                )
        except Exception as error:
            # numpy raises many kinds for a file that is cut short.
            if isinstance(error, MemoryError):
                raise
            raise FileError(
                "not a survey of levels", "make it again", where=os.fspath(path)
            ) from None


@typed
def survey(
    table: Table,
    models: Sequence[Model] = (),
    *,
    loss: Loss | str = "granularity",
    most: int = NODES,
    seconds: float = SECONDS,
    progress: Any = None,
) -> LevelSurvey:
    """What every combination of levels of the quasi-identifying columns loses and suppresses.

    models: groups that fail one are suppressed
    most: how many combinations are looked at; of more, that many are drawn at random
    seconds: how long that may take, where not all are looked at
    progress: called from time to time with (done, total, what); may raise to stop

    >>> import shoal
    >>> found = survey(shoal.demo.table(200), [shoal.KAnonymity(5)])
    >>> found.is_whole, found.best(found.matching(Narrowing(suppression=0)), 1)[0].suppressed
    (True, 0.0)
    """
    whole(most, "most", 1)
    if isinstance(loss, str) and loss not in LOSSES:
        raise ParameterError("is unknown", option="loss", given=repr(loss))
    measure = LOSSES[loss] if isinstance(loss, str) else loss
    wanted = [bound(model, table) for model in models]
    carried = sorted({column for model in wanted for column in model.columns})
    trees = {name: table.hierarchy(name) for name in levels_of(table, {})}
    lattice = Lattice(table.count([*table.quasi, *carried]), trees)
    scores = _Scores(lattice, wanted, measure)
    nodes: list[Node] = []
    figures: list[tuple[float, ...]] = []
    for groups in _looked_at(lattice, most, seconds):
        nodes.append(groups.node)
        figures.append(scores.of(groups))
        if progress is not None and len(nodes) % _EVERY == 0:
            progress(len(nodes), min(lattice.size, most), "looking at combinations of levels")
    found = np.array(figures, dtype=np.float64).reshape(len(nodes), 2 + len(wanted))
    heights = dict(zip(lattice.names, lattice.top, strict=True))
    return LevelSurvey(
        heights=heights,
        records=lattice.total,
        models=tuple(map(str, wanted)),
        loss_model=measure.name,
        nodes=lattice.size,
        levels=np.array(nodes, dtype=np.int16).reshape(len(nodes), len(heights)),
        lost=found[:, 0],
        suppressed=found[:, 1],
        failing=found[:, 2:],
    )


def _looked_at(lattice: Lattice, most: int, seconds: float) -> Iterator[Groups]:
    """The groups of every node; or of nodes in a random order, as many as can be in the time.

    To walk through only a part of all would show neighbours of some corner.
    """
    if lattice.size <= most and lattice.size * len(lattice.counts.count) <= _WORK:
        yield from lattice.walk()
        return
    ranges = [range(low, high + 1) for low, high in zip(lattice.bottom, lattice.top, strict=True)]
    end = monotonic() + seconds
    # What is drawn here is looked at by the owner and never released.
    for rank in Random(0).sample(range(lattice.size), min(most, lattice.size)):
        node, rest = [], rank
        for levels in reversed(ranges):
            rest, at = divmod(rest, len(levels))
            node.append(levels[at])
        yield lattice.groups(tuple(reversed(node)))
        if monotonic() > end:
            return


@dataclass(frozen=True, eq=False)
class _Scores:
    """What levels lose and suppress, together and by each model."""

    lattice: Lattice
    models: Sequence[Model]
    loss: Loss

    def of(self, groups: Groups) -> tuple[float, ...]:
        """The loss, the share of records suppressed, and the share that fails each model."""
        total = max(self.lattice.total, 1)
        if self.sizes is not None and isinstance(self.loss, Columnwise):
            # Sums over cells as they are, which is several times as fast.
            cells = groups.cells
            failing = [int(cells[cells < k].sum()) / total for k in self.sizes]
            least = max(self.sizes, default=1)
            gone = max(failing, default=0.0)
            raw = self.loss.limited(groups, least)
            return placed(self.loss, self.lattice, raw, gone == 1), gone, *failing
        kept = np.asarray(holds_all(self.models, groups))
        gone = int(groups.sizes[~kept].sum()) / total
        failing = [
            int(groups.sizes[~np.asarray(holds_all([model], groups))].sum()) / total
            for model in self.models
        ]
        return normalised(self.loss, groups, kept), gone, *failing

    @cached_property
    def sizes(self) -> list[int] | None:
        """The sizes that groups must have, if that is all that models ask for."""
        sizes = [model.k for model in self.models if isinstance(model, KAnonymity)]
        return sizes if len(sizes) == len(self.models) else None
