"""The lowest risk of every record, exactly, from the whole lattice for all records at once.

What is shown of a record becomes no more sensitive by generalising it, and the crowd it may belong
to no smaller. So the lowest risk is found at one of the record's *last* nodes: those that keep its
utility while no coarser neighbour does. Which nodes these are depends on the record only by what
its values are worth at every level, so there are few kinds of records; and a node is counted once,
for all records of which it is a last one. Then every record is made as fine again as its risk
allows.
"""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.data import free_memory
from shoal.errors import TooLargeError
from shoal.lattice import Node
from shoal.methods.personal.crowds import Best, Chosen, Crowds, Wanted
from shoal.methods.personal.models import Sum

__all__ = ["LARGEST", "lowest", "refined"]

Index = npt.NDArray[np.intp]
LARGEST = 5_000_000
"""Nodes of the largest lattice that is searched."""


def lowest(
    crowds: Crowds,
    utility: Sum,
    wanted: Sequence[Wanted],
    progress: Callable[[int, int], None] | None = None,
) -> list[Chosen]:
    """For every row of each `Wanted` the node with the lowest risk that keeps the utility.

    Of equal ones among the last nodes that worth most, then the first; and levels that can be finer
    at the same risk are.
    """
    nodes = prod(height + 1 for height in crowds.heights)
    if nodes > LARGEST:
        raise TooLargeError(
            f"the lattice has {nodes:,} nodes, and {LARGEST:,} can be searched exactly",
            "use the solver 'genetic', take levels out of the hierarchies, or use fewer "
            "quasi-identifying columns",
        )
    kind, kinds = _kinds(crowds, utility)
    free_memory.require(
        nodes * kinds * len(wanted),
        f"searching {nodes:,} nodes for {kinds:,} kinds of records",
        "use 'genetic'",
    )
    shape = [height + 1 for height in crowds.heights]
    last = [_last(crowds, utility, want, kind, kinds).reshape(kinds, nodes) for want in wanted]
    kinds_of = [kind[want.rows] for want in wanted]
    best = Best(crowds, utility, wanted)
    places = np.flatnonzero(np.any([mask.any(axis=0) for mask in last], axis=0))
    for done, place in enumerate(places.tolist()):
        node = tuple(int(level) for level in np.unravel_index(place, shape))
        here = [mask[:, place] for mask in last]
        among = None
        if not all(mask.all() for mask in here):
            among = [np.flatnonzero(mask[own]) for mask, own in zip(here, kinds_of, strict=True)]
        best.offer(node, among)
        if progress is not None and done % 64 == 0:
            progress(done, len(places))
    return refined(best)


def _kinds(crowds: Crowds, utility: Sum) -> tuple[Index, int]:
    """Every row's kind: rows of one kind are worth the same at every node."""
    kind = np.zeros(crowds.everyone.distinct, dtype=np.intp)
    kinds = 1
    columns = zip(crowds.hierarchies, utility.parts, crowds.everyone.codes, strict=True)
    for hierarchy, parts, codes in columns:
        by_level = zip(parts, hierarchy.maps, strict=True)
        levels = np.stack([part[of_leaf] for part, of_leaf in by_level], axis=1)
        alike, own = np.unique(levels, axis=0, return_inverse=True)
        both = kind * len(alike) + own.ravel()[codes]
        distinct, kind = np.unique(both, return_inverse=True)
        kinds = len(distinct)
    return kind, kinds


def _last(
    crowds: Crowds, utility: Sum, want: Wanted, kind: Index, kinds: int
) -> npt.NDArray[np.bool_]:
    """For every kind of row the nodes that keep its utility while no coarser neighbour does."""
    shape = [height + 1 for height in crowds.heights]
    every = np.zeros((kinds, *shape), dtype=np.bool_)
    example = np.zeros(kinds, dtype=np.intp)
    example[kind] = np.arange(len(kind))
    for number in np.unique(kind[want.rows]).tolist():
        kept = _worths(crowds, utility, int(example[number])) >= want.floor
        last = kept.copy()
        for column in range(len(shape)):
            # A view whose first axis is that of the column.
            finer = np.moveaxis(last, column, 0)
            coarser = np.moveaxis(kept, column, 0)
            finer[:-1] &= ~coarser[1:]
        every[number] = last
    return every


def _worths(crowds: Crowds, utility: Sum, row: int) -> npt.NDArray[np.int64]:
    """What a row is worth at every node, by levels."""
    shape = [height + 1 for height in crowds.heights]
    worth = np.zeros(shape, dtype=np.int64)
    columns = zip(crowds.hierarchies, utility.parts, crowds.everyone.codes, strict=True)
    for column, (hierarchy, parts, leaves) in enumerate(columns):
        by_level = zip(parts, hierarchy.maps, strict=True)
        levels = np.array([int(part[codes[leaves[row]]]) for part, codes in by_level])
        along = [1] * len(shape)
        along[column] = -1
        worth += levels.reshape(along)
    return worth


def refined(best: Best) -> list[Chosen]:
    """What every row has, with every column as fine as it can be at the same risk.

    That is, with the same crowd, and no more to show of it. All people of a crowd may look alike in
    a column at a finer level than the node's. Showing that level leaves the crowd unchanged, in all
    columns at once. Where nothing shown is sensitive at all, the crowd may shrink.
    """
    every = best.chosen()
    for want, chosen, place in zip(best.wanted, every, best.place, strict=True):
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        for takers in np.split(order, starts[1:]) if len(order) else ():
            node = best.nodes[place[takers[0]]]
            rows = want.rows[takers]
            if any(node):
                levels = _finer(best.crowds, node, want, rows)
                chosen.levels[takers] = levels
                chosen.worth[takers] = best.crowds.sum_of(best.utility, rows, levels)
    return every


def _finer(crowds: Crowds, node: Node, want: Wanted, rows: Index) -> npt.NDArray[np.uint8]:
    """The levels of some rows at a node, each as low as their crowds and what it may show allow."""
    people, starts, mine = crowds.members(node, rows)
    levels = np.tile(np.array(node, dtype=np.uint8), (len(rows), 1))
    # Where nothing sensitive is shown, any crowd will do.
    nothing = crowds.sum_of(want.sensitivity, rows, levels) == 0
    for column, (hierarchy, level) in enumerate(zip(crowds.hierarchies, node, strict=True)):
        leaves = crowds.everyone.codes[column]
        parts = want.sensitivity.parts[column]
        lowest, highest = (
            extreme.reduceat(leaves[people], starts)[mine] for extreme in (np.minimum, np.maximum)
        )
        own = leaves[rows]
        same = np.ones(len(rows), dtype=np.bool_)
        shown = parts[level][hierarchy.maps[level][own]]
        for finer in reversed(range(level)):
            # Leaves are in tree order: what the outermost share, all share.
            codes = hierarchy.maps[finer]
            same &= (codes[lowest] == codes[highest]) | nothing
            same &= parts[finer][codes[own]] == shown
            levels[same, column] = finer
    return levels
