"""Low risks by linear programs, after Section 2.4 of the paper.

Uses `alone`, `crowds`, `exact` and SciPy, an extra. For one record, x[j, l] in [0, 1] says how much
column j is at level l or above, and the number of people it could be about becomes a concave
function of x, Σ over people of the least x of what they ask for; so does the largest crowd at a
bounded sensitivity become a linear program, whose value is never below the true one. A threshold
rounds x to a node. The paper draws the threshold and claims a factor for what comes out, which is
wrong (ERRATA.md; tests/methods/test_personal_relaxed.py has the counterexample): the program likes
to mix the unchanged record with the roots, and no threshold gives anything between. So all
thresholds are tried, nodes that do not keep the utility are made finer until they do, and nothing
is promised.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.errors import ShoalError
from shoal.lattice import Node
from shoal.methods.personal import EFFORT, People
from shoal.methods.personal.alone import Alone
from shoal.methods.personal.crowds import Best, Chosen, Floats
from shoal.methods.personal.exact import refined
from shoal.methods.personal.models import Ints

__all__ = ["Relaxation", "search"]

RATIO = 1.5
"""Between the bounds on the sensitivity that a record's programs have, one after the other."""
ROUNDS = 4
"""Programs for one bound at most.

Each knows the crowds better, but other records bring more than a sharper x (measured).
"""
CLOSE = 1e-6
"""The share of a program's value that it may be above the true one for no further rounds."""
PATIENCE = 40
"""Records in a row whose programs better nothing, after which the search ends."""


def search(people: People, chance: Chance, progress: Callable[[int, int], None]) -> list[Chosen]:
    """For every row the best of the nodes that up to `effort` linear programs lead to.

    The programs are those of rows drawn by their risk.
    """
    best = Best(people.crowds, people.utility, people.wanted)
    effort = people.method.effort or EFFORT
    alone = Alone(people, best)
    done = 0
    idle = 0
    while done < effort and idle < PATIENCE and (drawn := alone.draw(chance, 1)):
        problem = Relaxation.of(alone, *drawn)
        idle += 1
        for bound in problem.bounds():
            if done + problem.programs >= effort:
                break
            progress(done + problem.programs, effort)
            solved = problem.solve(bound, min(ROUNDS, effort - done - problem.programs))
            for node in () if solved is None else problem.nodes(solved[1]):
                idle = 0 if best.offer(node) else idle
        done += problem.programs
    return refined(best)


@dataclass(eq=False)
class Relaxation:
    """The levels of one record in linear programs.

    worths, shown: what each column (by row) adds at each level (by column) to the utility and to
        the sensitivity
    floor: the utility to keep
    sizes: gives how many people the record could be about at some nodes
    """

    heights: Node
    worths: Ints
    shown: Ints
    floor: int
    sizes: Callable[[Sequence[Node]], Ints]
    programs: int = 0
    """How many were solved."""

    @classmethod
    def of(cls, alone: Alone, row: int) -> "Relaxation":
        """Those of a row."""

        def sizes(nodes: Sequence[Node]) -> Ints:
            return alone.sizes(row, nodes)

        return cls(
            alone.crowds.heights,
            alone.worths(row),
            alone.sensitivities(row),
            alone.floor(row),
            sizes,
        )

    def __post_init__(self) -> None:
        self._column = np.repeat(np.arange(len(self.heights)), self.heights)
        self._level = np.concatenate([np.arange(1, height + 1) for height in self.heights])
        self._finest, self._everyone = (
            int(size) for size in self.sizes([(0,) * len(self.heights), self.heights])
        )
        self._lost = self._steps(self.worths)
        self._hidden = self._steps(self.shown)
        worth = int(self.worths[:, 0].sum())
        self._spare = (worth - self.floor) / max(worth, 1)
        self._cuts: list[Floats] = []
        self._rounded: set[Node] = set()

    def _steps(self, parts: Ints) -> Floats:
        """What each step of a level takes away, as a share of all that the record has."""
        taken = parts[self._column, self._level - 1] - parts[self._column, self._level]
        shares: Floats = taken / max(int(parts[:, 0].sum()), 1)
        return shares

    def bounds(self) -> list[float]:
        """Bounds on the sensitivity, as shares of the record's own, from the least to all of it.

        The least keeps the utility.
        """
        solved = self._program(np.append(self._hidden, 0), 1)
        most = self.shown.max(initial=1)
        least = self.shown[self.shown > 0].min(initial=most)
        lowest = least / max(int(self.shown[:, 0].sum()), 1)
        if solved is not None:
            lowest = max(1 - self._hidden @ solved[:-1], lowest)
        steps = int(np.ceil(np.log(1 / lowest) / np.log(RATIO))) if lowest < 1 else 0
        return [*(lowest * RATIO**step for step in range(steps)), 1.0]

    def solve(self, bound: float, rounds: int = ROUNDS) -> tuple[float, Floats] | None:
        """A bound on the people that the record could be about, and the x of that.

        It holds at any node that keeps the utility and a bound on the sensitivity. None if the
        programs say that there is no such node. Crowds are bounded from above by as many planes as
        rounds so far have found: each lies on the concave function where the last x was (Lovász's
        greedy algorithm gives it), and holds at all bounds.
        """
        value = 1.0
        x = np.zeros(len(self._column))
        for _ in range(rounds):
            found = self._program(np.append(np.zeros(len(x)), 1.0), bound)
            if found is None:
                return None
            value = found[-1]
            x = found[:-1]
            # No rounding error may put a level before the one below it.
            for column in range(len(self.heights)):
                x[self._column == column] = np.minimum.accumulate(x[self._column == column])
            cut, reached = self._cut(x)
            self._cuts.append(cut)
            if value - reached <= CLOSE * value:
                break
        return value * self._everyone, x

    def _program(self, gain: Floats, bound: float) -> Floats | None:
        """x, and the share of all people that the planes found so far allow, of the most gain.

        None where nothing is possible.
        """
        try:
            from scipy.optimize import linprog
        except ImportError:
            raise ShoalError(
                "needs SciPy",
                "install it with: pip install 'shoal[personal]'",
                option="solver",
                given="'relaxed'",
            ) from None
        above = np.flatnonzero(self._level > 1)
        falling = np.zeros((len(above), len(gain)))
        each = np.arange(len(above))
        falling[each, above] = 1
        falling[each, above - 1] = -1
        planes = [np.append(-cut, 1.0) for cut in self._cuts]
        sides = [np.append(self._lost, 0), np.append(-self._hidden, 0), *planes]
        most = [self._spare, bound - 1, *(self._finest / self._everyone for _ in planes)]
        rows = np.vstack((falling, *sides))
        limits = np.concatenate((np.zeros(len(above)), most))
        self.programs += 1
        result = linprog(-gain, A_ub=rows, b_ub=limits, bounds=(0, 1), method="highs")
        return None if result.x is None else np.clip(result.x, 0, 1)

    def _order(self, x: Floats) -> npt.NDArray[np.intp]:
        """Steps from the largest x down, those of a column from its lowest level up."""
        return np.lexsort((self._level, -x))

    def _chain(self, order: npt.NDArray[np.intp]) -> list[Node]:
        """The nodes from the unchanged record to the roots when steps are taken in an order."""
        levels = np.zeros((len(order) + 1, len(self.heights)), dtype=np.intp)
        levels[np.arange(1, len(order) + 1), self._column[order]] = 1
        return [tuple(node) for node in np.cumsum(levels, axis=0).tolist()]

    def _cut(self, x: Floats) -> tuple[Floats, float]:
        """The slopes of the plane at x, and its height there, in shares of all people."""
        order = self._order(x)
        slopes = np.zeros(len(x))
        slopes[order] = np.diff(self.sizes(self._chain(order))) / self._everyone
        return slopes, self._finest / self._everyone + float(slopes @ x)

    def rounded(self, x: Floats) -> list[Node]:
        """The nodes that rounding by a threshold from 0 to 1 can give, finest first."""
        order = self._order(x)
        chain = self._chain(order)
        ends = np.concatenate(([1.0], x[order], [0.0]))
        return [chain[place] for place in np.flatnonzero(ends[:-1] - ends[1:] > CLOSE)]

    def nodes(self, x: Floats) -> Iterator[Node]:
        """What rounding can give, each once, finer until it keeps the utility, then coarser."""
        found = self.rounded(x)
        kept = [node for node in found if self._worth(node) >= self.floor]
        for node in [*kept[-1:], *found[len(kept) :]]:
            if node not in self._rounded:
                self._rounded.add(node)
                yield self._coarser(self._finer(node))

    def _worth(self, node: Node) -> int:
        return int(self.worths[np.arange(len(node)), node].sum())

    def _risks(self, nodes: Sequence[Node]) -> Floats:
        shown = self.shown[np.arange(len(self.heights)), np.array(nodes)].sum(axis=1)
        # A step from nothing shown has a price too.
        return np.asarray(np.maximum(shown, 1) / self.sizes(nodes))

    def _finer(self, node: Node) -> Node:
        """A node, finer by steps that cost little risk for their utility, until it keeps enough."""
        while (missing := self.floor - self._worth(node)) > 0:
            options = []
            for column, level in enumerate(node):
                finer = self._next(column, level)
                if finer is not None:
                    options.append(_with(node, column, finer))
            gains = [min(self._worth(option) - self.floor, 0) + missing for option in options]
            costs = np.log(self._risks(options) / self._risks([node]))
            node = options[int(np.argmin(costs / gains))]
        return node

    def _next(self, column: int, level: int) -> int | None:
        """The next level of a column below one that is worth more."""
        for finer in reversed(range(level)):
            if self.worths[column, finer] > self.worths[column, level]:
                return finer
        return None

    def _coarser(self, node: Node) -> Node:
        """A node, coarser by the steps that leave the least risk, while they keep the utility."""
        while True:
            options = []
            for column, level in enumerate(node):
                if level < self.heights[column]:
                    options.append(_with(node, column, level + 1))
            options = [option for option in options if self._worth(option) >= self.floor]
            if not options:
                return node
            node = options[int(np.argmin(self._risks(options)))]


def _with(node: Node, column: int, level: int) -> Node:
    return (*node[:column], level, *node[column + 1 :])
