"""A decision tree like C4.5: gain ratio, a branch per value, and pruning by pessimistic errors.

It is Quinlan's tree (1993) for nominal columns as Weka's J48 grows it, without subtree raising. All
nodes of a depth are split at once, so that a tree takes as many passes over the rows as it is
deep. Uses numpy; `utility` uses it to find out what can be learnt from a release.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

__all__ = ["C45Tree"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SMALLEST = 2
"""Records that at least two branches of a split must have, as in C4.5."""

CONFIDENCE = 0.25
"""How pessimistic pruning is: the smaller, the more. C4.5's own."""

SPARE_GAIN = 1e-3
"""By how much a gain may be below the average of all columns, as in J48."""

SPARE_ERRORS = 0.1
"""By how many errors a leaf may be worse than what it replaces, as in J48."""


@dataclass(frozen=True, eq=False)
class C45Tree:
    """A tree, as arrays over its nodes; node 0 is the root.

    feature: the column that a node splits by, -1 for a leaf
    majority: the most frequent class of its training records
    keys, children: for node · `span` + value, in order, the node below
    """

    feature: Ints
    majority: Ints
    keys: Ints
    children: Ints
    span: int

    @classmethod
    def fitted(cls, codes: Ints, classes: Ints, weights: Ints) -> "C45Tree":
        """The tree of some training rows, each of which stands for `weights` records."""
        growth = _Growth(codes, classes, weights.astype(np.float64))
        while growth.has_open_nodes:
            growth.split()
        return growth.pruned()

    def predict(self, codes: Ints) -> Ints:
        """The class of every row; of a value that no training row had, the node's majority."""
        node = np.zeros(len(codes), dtype=np.int64)
        moving = np.flatnonzero(self.feature[node] >= 0)
        while len(moving):
            at = node[moving]
            values = codes[moving, self.feature[at]]
            wanted = at * self.span + values
            place = np.searchsorted(self.keys, wanted)
            place[place == len(self.keys)] = 0
            found = (self.keys[place] == wanted) & (values < self.span)
            moving = moving[found]
            node[moving] = self.children[place[found]]
            moving = moving[self.feature[node[moving]] >= 0]
        return self.majority[node]


class _Growth:
    """A tree that grows by one depth at a time."""

    def __init__(self, codes: Ints, classes: Ints, weights: Floats) -> None:
        self.codes, self.classes, self.weights = codes, classes, weights
        self.kinds = int(classes.max(initial=0)) + 1
        self.span = int(codes.max(initial=0)) + 1
        self.total = 0
        self.feature: list[Ints] = []
        self.counts: list[Floats] = []
        self.parent: list[Ints] = []
        self.keys: list[Ints] = []
        # The rows in nodes that may still be split, and where they are among these.
        self.rows = np.arange(len(classes))
        self.place = np.zeros(len(classes), dtype=np.int64)
        self.used = np.zeros((1, codes.shape[1]), dtype=np.bool_)
        self._add(np.full(1, -1), np.zeros(0, dtype=np.int64))

    @property
    def has_open_nodes(self) -> bool:
        return len(self.rows) > 0

    def split(self) -> None:
        """Split every open node by its best column, or leave it a leaf."""
        first = self.total - len(self.used)
        counts = self.counts[-1]
        choice = self._best(counts)
        self.feature[-1][:] = choice
        split = choice[self.place] >= 0
        self.rows, self.place = self.rows[split], self.place[split]
        column = choice[self.place]
        values = self.codes[self.rows, column]
        keys, self.place = np.unique((first + self.place) * self.span + values, return_inverse=True)
        parent = keys // self.span
        self.used = self.used[parent - first]
        self.used[np.arange(len(parent)), choice[parent - first]] = True
        if len(keys):
            self._add(parent, keys)

    def _add(self, parent: Ints, keys: Ints) -> None:
        """New nodes, which hold the rows that are open."""
        number = len(self.used)
        self.counts.append(self._by_class(self.place, number))
        self.feature.append(np.full(number, -1))
        self.parent.append(parent)
        self.keys.append(keys)
        self.total += number

    def _by_class(self, part: Ints, number: int) -> Floats:
        """How many open records each of a number of parts has of each class."""
        cells = part * self.kinds + self.classes[self.rows]
        counts = np.bincount(cells, self.weights[self.rows], number * self.kinds)
        return counts.astype(np.float64).reshape(number, self.kinds)

    def _best(self, counts: Floats) -> Ints:
        """The column by which each open node is split, -1 where none is good enough."""
        records = counts.sum(axis=1)
        worth = (counts.max(axis=1) < records) & (records >= 2 * SMALLEST)
        gains = np.zeros(self.used.shape)
        ratios = np.zeros(self.used.shape)
        before = _information(counts)
        for column in range(self.used.shape[1]):
            gain, split = self._gain(column, before, records)
            fits = worth & ~self.used[:, column] & (split > 0) & (gain > 0)
            gains[fits, column] = gain[fits]
            ratios[fits, column] = gain[fits] / split[fits]
        fitting = ratios > 0
        average = gains.sum(axis=1) / np.maximum(fitting.sum(axis=1), 1)
        ratios[gains < average[:, None] - SPARE_GAIN] = 0
        best: Ints = ratios.argmax(axis=1)
        best[ratios.max(axis=1, initial=0) <= 0] = -1
        return best

    def _gain(self, column: int, before: Floats, records: Floats) -> tuple[Floats, Floats]:
        """The information that a split gains at each node, and that of the split itself.

        The latter is 0 where fewer than two branches have enough records.
        """
        number = len(records)
        values = self.codes[self.rows, column]
        branches, branch = np.unique(self.place * self.span + values, return_inverse=True)
        counts = self._by_class(branch, len(branches))
        node = branches // self.span
        sizes = counts.sum(axis=1)
        after = np.bincount(node, _information(counts), number)
        shares = sizes * np.log2(records[node] / sizes)
        split = np.bincount(node, shares, number) / records
        large = np.bincount(node, sizes >= SMALLEST, number)
        split[large < 2] = 0
        return (before - after) / records, split

    def pruned(self) -> C45Tree:
        """The tree with a leaf for every node below which it is not expected to err less."""
        counts = np.concatenate(self.counts)
        feature = np.concatenate(self.feature)
        records = counts.sum(axis=1)
        errors = records - counts.max(axis=1)
        as_leaf = errors + _further_errors(records, errors)
        below = np.zeros(self.total)
        first = self.total
        for depth in range(len(self.feature) - 1, -1, -1):
            first -= len(self.feature[depth])
            nodes = np.arange(first, first + len(self.feature[depth]))
            leaf = (feature[nodes] < 0) | (as_leaf[nodes] <= below[nodes] + SPARE_ERRORS)
            feature[nodes[leaf]] = -1
            estimate = np.where(leaf, as_leaf[nodes], below[nodes])
            if depth:
                below += np.bincount(self.parent[depth], estimate, self.total)
        keys = np.concatenate(self.keys)
        order = np.argsort(keys)
        children = 1 + order
        return C45Tree(feature, counts.argmax(axis=1), keys[order], children, self.span)


def _information(counts: Floats) -> Floats:
    """For every line of counts, Σ n·log2(total / n): its entropy times its records."""
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = counts * np.log2(total / counts)
    return np.asarray(np.where(counts > 0, parts, 0).sum(axis=1))


def _further_errors(records: Floats, errors: Floats) -> Floats:
    """How many more errors are to be expected on other records, at C4.5's confidence."""
    records = np.maximum(records, 1e-9)
    none = records * (1 - CONFIDENCE ** (1 / records))
    one = _beyond(records, np.ones_like(errors))
    few = none + errors * (one - none)
    return np.where(errors < 1, few, _beyond(records, errors))


def _beyond(records: Floats, errors: Floats) -> Floats:
    """The same for at least one error, by the normal approximation of C4.5."""
    z = NormalDist().inv_cdf(1 - CONFIDENCE)
    share = (errors + 0.5) / records
    spread = share / records - share**2 / records + z**2 / (4 * records**2)
    root = np.sqrt(np.maximum(spread, 0))
    highest = (share + z**2 / (2 * records) + z * root) / (1 + z**2 / records)
    further = highest * records - errors
    nearly_all = errors + 0.5 >= records
    return np.where(nearly_all, np.maximum(records - errors, 0), further)
