"""`RefiningBudget` and `GrownTree`: what methods need to release at levels that differ by region.

A budget buys the order of steps and then the tree; the tree shows every row at the levels of its
box. Uses `order`, `growing` and `privacy.refining`; methods that release groups use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Counts, group, smallest
from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import HierarchyError, ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.methods.refining.growing import Boxes, Ints, grow
from shoal.methods.refining.order import Refinable, RefiningOrder, bought_order
from shoal.methods.searching.scores import Candidates
from shoal.methods.showing import ShownRows
from shoal.privacy.calculus import Definition
from shoal.privacy.refining import RefiningParameters, refining_parameters

__all__ = ["GrownTree", "RefiningBudget", "clear_levels", "require_refinable"]

ORDER = Fraction(1, 6)
"""The share of a tree's ε that buys the order of its steps (measured on census tables)."""


@dataclass(frozen=True, eq=False)
class RefiningBudget:
    """A tree that can be grown for an ε, by what is public."""

    nodes: Candidates
    epsilon: Epsilon

    @property
    def epsilon_order(self) -> Epsilon:
        """The part of ε that buys the order of steps."""
        return self.epsilon * ORDER

    @property
    def epsilon_tree(self) -> Epsilon:
        """The part of ε that pays for all tests."""
        return self.epsilon * (1 - ORDER)

    @cached_property
    def columns(self) -> Refinable:
        """The columns that are refined."""
        trees, ranges = self.nodes.hierarchies, self.nodes.ranges
        return Refinable(
            trees=list(trees.values()),
            levels=[clear_levels(name, tree, ranges[name]) for name, tree in trees.items()],
            importance=[float(self.nodes.importance[name]) for name in trees],
        )

    @property
    def levels(self) -> dict[str, int]:
        """The levels of columns that are not refined, since they have only one."""
        ranges = self.nodes.ranges.items()
        return {name: levels[0] for name, levels in ranges if len(levels) == 1}

    @cached_property
    def parameters(self) -> RefiningParameters:
        """The noise of the tests."""
        return refining_parameters(self.epsilon_tree, self.columns.steps)

    def require_possible(self) -> None:
        """An error if levels cannot stand side by side, or the noise would be too wide."""
        _ = self.parameters

    def order(self, counts: Counts, chance: Chance) -> RefiningOrder:
        """The order of steps, bought."""
        return bought_order(self._refined(counts), self.columns, self.epsilon_order, chance)

    def grown(
        self, counts: Counts, order: RefiningOrder, crowd: Fraction | int, chance: Chance
    ) -> "GrownTree":
        """The tree for a release in which about `crowd` records must share a row."""
        threshold = order.threshold(crowd, self.parameters.bias)
        rows = self._refined(counts)
        boxes = grow(rows, self.columns, order.steps, self.parameters, threshold, chance)
        return GrownTree(self, order, threshold, counts, boxes)

    def _refined(self, counts: Counts) -> Counts:
        """The rows without the columns that have no hierarchy; so some may be there repeatedly."""
        names = tuple(self.nodes.hierarchies)
        places = [counts.names.index(name) for name in names]
        codes = tuple(counts.codes[j] for j in places)
        return Counts(names, codes, tuple(counts.cards[j] for j in places), counts.count)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree that was grown on some rows."""

    budget: RefiningBudget
    order: RefiningOrder
    threshold: int
    counts: Counts
    boxes: Boxes

    def derived(self) -> dict[str, Any]:
        """What a certificate says of the tree."""
        names = list(self.budget.nodes.hierarchies)
        parameters = self.budget.parameters
        return {
            "steps": [[names[step.column], step.level] for step in self.order.steps],
            "threshold": self.threshold,
            "scale": parameters.scale,
            "bias": parameters.bias,
            "cut": parameters.cut,
        }

    def shown(self, count: Ints | None = None) -> ShownRows:
        """The rows at the levels of their boxes; columns without a hierarchy stay as they are.

        `count` says how often each row counts, if not as often as it occurs.
        """
        counts = self.counts
        codes, cards = list(counts.codes), list(counts.cards)
        texts, covered = {}, {}
        for column, (name, tree) in enumerate(self.budget.nodes.hierarchies.items()):
            j = counts.names.index(name)
            if name in self.budget.levels:
                # It looks as in any other release at that level: labels in its order and type.
                only = self.budget.levels[name]
                codes[j], cards[j] = tree.maps[only][counts.codes[j]], tree.cardinality(only)
                texts[name], covered[name] = tree.labels[only], tree.cover(only)
                continue
            every, by_level = tree.texts()
            level = self.boxes.row_levels(column)
            codes[j] = by_level[level, counts.codes[j]].astype(smallest(len(every)))
            cards[j] = len(every)
            texts[name] = tuple(every)
            covered[name] = _covered(tree, self.budget.columns.levels[column], by_level)
        weight = counts.count if count is None else count
        rows = group(counts.names, codes, cards, weight)
        return ShownRows(rows.where(rows.count > 0), texts, covered)

    def tells(self, shown: ShownRows) -> npt.NDArray[np.bool_]:
        """Which rows show anything: some of their columns are not at the root."""
        trees = self.budget.nodes.hierarchies
        tells = np.full(shown.rows.distinct, len(trees) < len(shown.rows.names))
        for name, tree in trees.items():
            is_root = np.array([text == tree.labels[-1][0] for text in shown.texts[name]])
            tells |= ~is_root[shown.rows.column(name)]
        return tells


def require_refinable(score: object, definition: Definition) -> None:
    """ParameterError if no tree can be grown for a release by this score and definition."""
    if score != "granularity":
        raise ParameterError(
            "is 'granularity' where a tree is grown: it knows no other", option="score"
        )
    # Of the tree only boxes with released rows are seen. The other definition does not survive
    # that trees look alike (docs/proofs/refining.md).
    if definition != "standard":
        raise ParameterError(
            "is not kept where a tree is grown",
            "take the definition 'standard', or choose one level for each column",
            option="definition",
            given=repr(definition),
        )


def clear_levels(name: str, tree: Hierarchy, levels: range) -> list[int]:
    """The levels that a column can have side by side, from its ceiling to its floor.

    A text stands for one set of values wherever it is released. So a level is left out if a label
    of it stands for other values at another level. HierarchyError if ceiling and floor are such.
    """
    meant: dict[str, tuple[int, int]] = {}
    clear: list[int] = []
    ends = dict.fromkeys((levels[-1], levels[0]))
    for level in (*ends, *(level for level in levels if level not in ends)):
        codes = tree.maps[level]
        # A value covers a run of leaves, so its first one and their number are all there is to it.
        first = np.searchsorted(codes, np.arange(tree.cardinality(level))).tolist()
        runs = zip(first, np.bincount(codes).tolist(), strict=True)
        labels = dict(zip(tree.labels[level], runs, strict=True))
        if all(meant.get(label, own) == own for label, own in labels.items()):
            meant.update(labels)
            clear.append(level)
        elif level in ends:
            raise HierarchyError(
                f"the hierarchy of column {name!r} has a label that stands for different values at "
                f"levels {levels[0]} and {levels[-1]}, and a tree releases both",
                "rename it (shoal hierarchy check finds it), or search for one level per column",
            )
    return sorted(clear, reverse=True)


def _covered(tree: Hierarchy, levels: Sequence[int], by_level: Ints) -> Ints:
    """How many leaves each text stands for at these levels."""
    covered = np.ones(int(by_level.max(initial=0)) + 1, dtype=np.int64)
    for level in levels:
        covered[by_level[level]] = tree.cover(level)[tree.maps[level]]
    return covered
