"""SafePub's scores and search as Bild, Kuhn and Prasser print them, to be compared with.

Line 10 of their Figure 7 keeps the best pivot by its true score, which no budget pays for, and the
sample that is searched is the one that is released:
docs/explanation/why-not-the-papers-search.md. Scores jump where a group reaches k.
Uses the candidates and parameters of `methods.safepub`; experiments and tests use it.
Nothing here can be released.
"""

import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.lattice import Node
from shoal.lattice.rollup import Cells, Floats, Rollup
from shoal.methods.safepub import SafePub
from shoal.methods.searching.scores import Candidates, score_of
from shoal.methods.searching.search import drawn

__all__ = ["HardScores", "PrintedWalk", "printed_sensitivity", "printed_walk", "study_printed"]

GRID = 1 << 20
"""Scores are rounded to multiples of 1/GRID before they are compared: this is only a study."""

WARNING = (
    "the printed search of SafePub is NOT differentially private, whatever its parameters: the best"
    " pivot is chosen by its true score. Release nothing by it; SafePub keeps what it was meant to"
)


@dataclass(frozen=True)
class PrintedWalk:
    """Where the printed search went.

    node: what it returns, the pivot with the best true score
    pivots: all that it visited, in their order, beginning at the top
    score: that of the node
    """

    node: Node
    pivots: tuple[Node, ...]
    score: float


class HardScores:
    """The paper's scores on a sample: groups of at least k count whole, others not at all.

    >>> printed_sensitivity("groups", 9, 58), printed_sensitivity("classification", 9, 58)
    (Fraction(1, 1), Fraction(58, 1))
    """

    def __init__(self, name: str, nodes: Candidates, sample: Counts, k: int) -> None:
        printed_sensitivity(name, 1, k)
        self.name, self.nodes, self.k = name, nodes, k
        self.rollup: Rollup = nodes.rollup(sample, last=nodes.classes)
        self.columns = [j for j, column in enumerate(nodes.names) if column not in nodes.classes]
        self.known: dict[Node, float] = {}

    def of(self, node: Node) -> float:
        """The score of a node; the larger, the better."""
        if node not in self.known:
            self.known[node] = self._score(node)
        return self.known[node]

    def _score(self, node: Node) -> float:
        carried = len(self.rollup.real) - len(self.rollup.axes)
        axes = [self.columns[place] for place in self.rollup.axes]
        cells = self.rollup.cells((*(node[j] for j in axes), *(0,) * carried)).compact
        sizes = cells.sizes.astype(np.float64)
        heights = [self._height(j) for j in axes]
        # Rows of nothing but stars count as suppressed.
        blank = not carried and all(
            node[j] == height for j, height in zip(axes, heights, strict=True)
        )
        kept = np.where((sizes >= self.k) & (not blank), sizes, 0.0)
        lost = float(self.rollup.total) - float(kept.sum())
        if self.name == "groups":
            return float(np.count_nonzero(kept))
        if self.name == "classification":
            return self._right(cells, kept)
        if self.name == "discernibility":
            return -float((kept**2).sum()) / max(self.rollup.total, 1) - lost
        return -sum(
            self._of_column(cells, axis, j, node[j], kept) + lost for axis, j in enumerate(axes)
        )

    def _height(self, j: int) -> int:
        tree = self.nodes.hierarchies.get(self.nodes.names[j])
        # A column that is released unchanged has no root.
        return -1 if tree is None else tree.height

    def _of_column(self, cells: Cells, axis: int, j: int, level: int, kept: Floats) -> float:
        """What generalisation costs in one column, for the records that are kept."""
        tree = self.nodes.hierarchies.get(self.nodes.names[j])
        if tree is None:
            return 0.0
        if self.name == "intensity":
            return float(kept.sum()) * level / max(tree.height, 1)
        codes = self.rollup.real[axis][level]
        by_value = np.bincount(cells.codes(axis), kept, len(codes))
        if self.name == "granularity":
            covered = np.asarray(tree.cover(level))[codes]
            return float((by_value * covered).sum()) / tree.leaves
        if level == tree.height:
            return float(by_value.sum())
        return float((by_value**2).sum()) / max(self.rollup.total, 1)

    def _right(self, cells: Cells, kept: Floats) -> float:
        """How many records have the most frequent class of their features."""
        features = len(self.rollup.axes)
        group = cells.group_of(features)
        groups = int(group[-1]) + 1 if len(group) else 0
        right = 0.0
        for place in range(len(self.rollup.real) - features):
            values = len(self.rollup.real[features + place][0])
            cell = group * values + cells.codes(features + place)
            by_class = np.bincount(cell, kept, groups * values).reshape(groups, values)
            right += float(by_class.max(axis=1, initial=0).sum())
        return right


def printed_sensitivity(score: str, columns: int, k: int) -> Fraction:
    """By how much one record moves a score, as theorems 6 to 9 of the paper have it."""
    jump = Fraction(5) if k == 1 else Fraction(k * k, k - 1) + 1
    cells = Fraction(max(k - 1, 1) * columns)
    known = {
        "granularity": cells,
        "intensity": cells,
        "discernibility": jump,
        "entropy": jump * columns,
        "groups": Fraction(1),
        "classification": Fraction(k),
    }
    if score not in known:
        raise ParameterError(f"the paper has no score {score!r}", f"it has {', '.join(known)}")
    return known[score]


def printed_walk(
    nodes: Candidates,
    score: str,
    sample: Counts,
    k: int,
    epsilon: Fraction,
    steps: int,
    chance: Chance,
) -> PrintedWalk:
    """Figure 7 of the paper, line by line, on a sample that was drawn before.

    Where there is no candidate left, which the figure does not provide for, it stops.
    """
    scores = HardScores(score, nodes, sample, k)
    # The exponential mechanism of the paper's Definition 3.
    rate = epsilon / steps / (2 * printed_sensitivity(score, len(nodes.hierarchies), k))
    pivot = best = nodes.high
    pivots = [pivot]
    candidates = {pivot: None}
    for _ in range(steps):
        candidates.update(dict.fromkeys(nodes.finer(pivot)))
        candidates.pop(pivot, None)
        if not candidates:
            break
        waiting = list(candidates)
        worth = np.array([round(scores.of(node) * GRID) for node in waiting], dtype=np.int64)
        pivot = waiting[chance.exponential(worth, rate / GRID)]
        pivots.append(pivot)
        # Line 10.
        if scores.of(pivot) > scores.of(best):
            best = pivot
    return PrintedWalk(best, tuple(pivots), scores.of(best))


@typed
def study_printed(
    method: SafePub, table: Table, chance: Chance | None = None, *, steps: int = 300
) -> tuple[PrintedWalk, Counts]:
    """The paper's search with the parameters of a method, and the sample that it looked at.

    It is not private, and returns a study: neither a release nor anything to make one of.
    """
    warnings.warn(WARNING, stacklevel=2)
    draws = chance or Chance()
    plan = method.plan(table.schema)
    if plan.searching is None:
        raise ParameterError("the levels are fixed: there is nothing to search", "free some")
    sample = drawn(table.count(table.schema.released), plan.parameters.beta, draws)
    epsilon = plan.searching.bounds()[0]
    k = plan.parameters.k
    score = score_of(method.score).name
    walk = printed_walk(plan.candidates, score, sample, k, epsilon, steps, draws)
    return walk, sample
