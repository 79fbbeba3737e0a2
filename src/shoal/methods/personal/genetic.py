"""Low risks by a genetic search for all records together, after Section 2.5 of the paper.

Uses `alone`, `climbing`, `crowds` and `exact`. A chromosome is a path: columns in the order in
which they become finer by a level, from the roots of all down. It ends where it first keeps the
utility of a record, and levels that this record can spare are taken back: it ends in a frontier
node, which keeps the utility while none of its immediate generalisations does. Records are drawn by
their risk. The first time a record is drawn with a node, it climbs from there by steps that change
two columns, which the paper does not have. Then a litter descends from the path of that node, and
its fittest, judged by the record's own risk, climbs. What lowers the record's risk is offered to
all records: counting a node for all costs some hundred times as much as for one. Nothing says how
far the risks that are found are from the lowest: docs/reference/benchmarks-methods.md has figures.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.lattice import Node
from shoal.methods.personal import People
from shoal.methods.personal.alone import Alone
from shoal.methods.personal.climbing import Climb
from shoal.methods.personal.crowds import Best, Chosen
from shoal.methods.personal.exact import refined
from shoal.methods.personal.models import Ints

__all__ = ["litters", "search"]

BROOD = 16
"""Records of a generation."""
LITTER = 24
"""Paths for each of them."""
NODES, FEWEST = 300, 10
"""Nodes that are counted for all records, for every column, unless their number is given: at most,
and however much work climbing is."""
CELLS = 1 << 31
"""Cells that climbing looks at, unless the number of nodes is given: about 13 s of a processor."""
PATIENCE = 20
"""Generations in a row that better nothing, after which the search ends; with half of it the risks
on adult are twice as far from the lowest."""
MUTANTS, CROSSED = 18, 3
"""Of a litter: paths that lost a step, and that have steps of a mate; the others are immigrants."""


def search(people: People, chance: Chance, progress: Callable[[int, int], None]) -> list[Chosen]:
    """For every row the best of `effort` nodes, the row unchanged among them.

    Of fewer once generations better nothing, or by default once climbing was much work.
    """
    best = Best(people.crowds, people.utility, people.wanted)
    effort = SearchEffort.of(people)
    alone = Alone(people, best)
    idle = 0
    while effort.done(best) < effort.nodes and idle < PATIENCE:
        parents = alone.draw(chance, BROOD)
        if not parents:
            break
        idle += 1
        settled = [parent for parent in parents if alone.settled(parent)]
        bred = dict(zip(settled, litters(alone, settled, chance), strict=True))
        for parent in parents:
            progress(effort.done(best), effort.nodes)
            climb = Climb(alone, parent)
            node, risk = _lowered(alone, climb, bred.get(parent))
            effort.cells += climb.cells
            if risk < alone.risk(parent) and len(best.offered) < effort.nodes:
                best.offer(node)
                idle = 0
    return refined(best)


@dataclass
class SearchEffort:
    """How much a search may do, and how much of it was done."""

    nodes: int
    """Those counted for all records, at most."""

    fewest: int
    """Nodes that are counted however much climbing looked at."""

    cells: int = 0
    """What climbing looked at."""

    @classmethod
    def of(cls, people: People) -> "SearchEffort":
        """What is given, which climbing does not shorten, or else what the columns call for."""
        given = people.method.effort
        if given is not None:
            return cls(given, given)
        columns = len(people.crowds.heights)
        return cls(NODES * columns, FEWEST * columns)

    def done(self, best: Best) -> int:
        """How much of `nodes` was done, by nodes or by cells, whichever is more."""
        offered = len(best.offered)
        if offered < self.fewest:
            return offered
        by_cells = self.nodes * min(self.cells, CELLS) // CELLS
        return max(offered, by_cells)


def _lowered(alone: Alone, climb: Climb, litter: list[Node] | None) -> tuple[Node, float]:
    """Where a row climbs to from its own node, or from the fittest of a litter; and the risk."""
    row = climb.row
    if litter is None:
        return climb.best(alone.node(row), alone.risk(row))
    risks = alone.risks(row, litter)
    fittest = int(np.argmin(risks))
    return climb.best(litter[fittest], float(risks[fittest]))


def litters(alone: Alone, parents: list[int], chance: Chance) -> list[list[Node]]:
    """For each of some rows the frontier nodes in which the paths of a litter end, each once."""
    if not parents:
        return []
    steps = np.repeat(np.arange(len(alone.heights)), alone.heights)
    order = steps[_paths(alone, parents, steps, chance)]
    worths = np.repeat([alone.worths(row) for row in parents], LITTER, axis=0)
    floors = np.repeat([alone.floor(row) for row in parents], LITTER)
    ends = _frontier(order, alone.heights, worths, floors).reshape(len(parents), LITTER, -1)
    return [[tuple(node) for node in np.unique(litter, axis=0).tolist()] for litter in ends]


def _paths(
    alone: Alone, parents: list[int], steps: npt.NDArray[np.intp], chance: Chance
) -> npt.NDArray[np.intp]:
    """A litter for each of some rows: all steps, by number, in the order in which they are taken.

    Steps of the path of the row's best node come first. A mutant has lost one of them; one that is
    crossed has half of them, then those of the best node of another row; an immigrant none. All
    other steps follow at random.
    """
    size = len(parents) * LITTER
    drawn = chance.words(size * len(steps)).reshape(size, -1) >> np.uint64(2)
    # Which step of its column each is.
    nth = np.concatenate([np.arange(height) for height in alone.heights])
    mates = alone.draw(chance, LITTER)
    of_parents = [alone.heights - alone.node(row) for row in parents]
    own = np.repeat(of_parents, LITTER, axis=0)[:, steps] > nth
    of_mates = [alone.heights - alone.node(row) for row in mates]
    other = np.resize(of_mates, (size, len(alone.heights)))[:, steps] > nth
    within = np.tile(np.arange(LITTER), len(parents))[:, None]
    lost = np.argmax(np.where(own, drawn, np.uint64(0)), axis=1)
    later = ~own
    later[np.arange(size), lost] = True
    is_half = drawn & np.uint64(1) == 0
    crossed = np.where(own & is_half, 0, 2 - other)
    rank = np.where(within < MUTANTS, later, crossed)
    rank[within[:, 0] >= MUTANTS + CROSSED] = 0
    return np.argsort(rank.astype(np.uint64) << np.uint64(62) | drawn, axis=1)


def _frontier(
    order: npt.NDArray[np.intp], heights: npt.NDArray[np.intp], worths: Ints, floors: Ints
) -> npt.NDArray[np.intp]:
    """The nodes in which paths end: down until the utility is kept, then back where it still is."""
    path = np.arange(len(order))
    columns = np.arange(len(heights))
    levels = np.tile(heights, (len(order), 1))
    worth = worths[:, columns, heights].sum(axis=1)
    taken = np.zeros(order.shape, dtype=np.bool_)
    for step, column in enumerate(order.T):
        taken[:, step] = worth < floors
        if not taken[:, step].any():
            break
        finer = levels[path, column] - taken[:, step]
        worth += worths[path, column, finer] - worths[path, column, levels[path, column]]
        levels[path, column] = finer
    for step in reversed(np.flatnonzero(taken.any(axis=0)).tolist()):
        column = order[:, step]
        coarser = levels[path, column] + taken[:, step]
        spared = worth + worths[path, column, coarser] - worths[path, column, levels[path, column]]
        back = spared >= floors
        levels[path[back], column[back]] = coarser[back]
        worth[back] = spared[back]
    return levels
