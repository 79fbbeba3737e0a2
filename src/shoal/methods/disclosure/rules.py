"""How a table of a path is chosen: by permutations within groups, or the first that is safe.

Uses `lattice` and `privacy.models`; `Disclosure` uses it. Why neither choice reveals anything more:
docs/proofs/disclosure.md.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.errors import InputError
from shoal.lattice import Groups, Histogram, Lattice, Node
from shoal.methods.method import Progress, silent
from shoal.privacy.models import Model, holds_all

__all__ = ["descended", "first_safe", "parents", "require_alike", "safe_parts"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def descended(
    lattice: Lattice,
    path: Sequence[Node],
    models: Sequence[Model],
    together: Ints | None,
    progress: Progress = silent,
) -> Ints:
    """The rule PERM: for every group of the finest node its place in the path.

    It is past the end if nothing may be shown. All begin at the coarsest node. A part of a group
    goes down if it is safe whatever values of the group it has, and so is what stays behind. Those
    that `together` gives one number go down only if all of them do. So each decision looks at
    nothing but what is shown in the end, and all ways to give out the values of a released group
    lead to the same release.
    """
    finest = lattice.groups(path[0])
    groups = lattice.groups(path[-1])
    last = len(path) - 1
    place = np.where(holds_all(models, groups)[parents(groups, finest)], last, len(path))
    for at in range(last, 0, -1):
        progress(last - at, last, "going down the path")
        finer = lattice.groups(path[at - 1])
        goes = _leaving(groups, finer, models)[parents(finer, finest)] & (place == at)
        if together is not None:
            goes &= np.bincount(together, ~goes, len(goes))[together] == 0
        place[goes] = at - 1
        groups = finer
    progress(last, last, "going down the path")
    return place


def _leaving(groups: Groups, finer: Groups, models: Sequence[Model]) -> Bools:
    """Which parts of groups can be shown alone, with what stays behind of their group safe too."""
    parent = parents(groups, finer)
    number = len(groups.sizes)
    goes = safe_parts(groups, parent, finer.sizes, models)
    behind = np.bincount(parent, np.where(goes, 0, finer.sizes), number).astype(np.int64)
    few = np.flatnonzero(behind)
    few = few[~safe_parts(groups, few, behind[few], models)]
    # The smallest part that could go stays with them: as it is large enough by itself, so are they
    # all.
    order = np.lexsort((finer.sizes, ~goes, parent))
    goes[order[np.searchsorted(parent[order], few)]] = False
    return goes


def safe_parts(groups: Groups, of: Ints, sizes: Ints, models: Sequence[Model]) -> Bools:
    """Whether parts of groups with that many records are safe whichever values they have.

    The values are those of their group. Those with the most frequent values are spread least
    evenly, which is the worst that can be.
    """
    safe = np.ones(len(of), dtype=np.bool_)
    for model in models:
        safe &= model.holds(_MostFrequent(groups, of, sizes, model.columns))
    return safe


class _MostFrequent(Groups):
    """Parts of groups with that many records, the most frequent values of a column in them.

    Values are numbered by frequency.
    """

    def __init__(self, groups: Groups, of: Ints, sizes: Ints, columns: tuple[str, ...]) -> None:
        self.sizes = sizes
        if columns:
            found = groups.histogram(columns[0])
            often = found.count[np.lexsort((-found.count, found.group))]
            starts = np.searchsorted(found.group, np.arange(found.groups + 1))
            length = np.diff(starts)[of]
            own = np.repeat(np.arange(len(of)), length)
            first = np.cumsum(length) - length
            rank = np.arange(len(own)) - first[own]
            often = often[starts[of][own] + rank]
            before = np.cumsum(often) - often
            taken = np.clip(sizes[own] - (before - before[first[own]]), 0, often)
            some = taken > 0
            self._found = Histogram(own[some], rank[some], taken[some], len(of), found.values)

    def histogram(self, name: str) -> Histogram:
        return self._found


def first_safe(
    lattice: Lattice,
    path: Sequence[Node],
    models: Sequence[Model],
    together: Ints,
    progress: Progress = silent,
) -> Ints:
    """The rule first-safe: for every finest group the first place in the path where all are safe.

    That is, all of those that `together` gives the same number; past the end of the path if there
    is none.
    """
    finest = lattice.groups(path[0])
    place = np.full(len(finest.sizes), len(path))
    for at in reversed(range(len(path))):
        progress(len(path) - at, len(path), "testing the path")
        groups = lattice.groups(path[at])
        failing = ~holds_all(models, groups)[parents(groups, finest)]
        place[np.bincount(together, failing, len(place))[together] == 0] = at
    return place


def require_alike(lattice: Lattice, path: Sequence[Node]) -> None:
    """InputError unless groups that become one are alike at every step.

    That is, they have the same size and merged in the same way before. Looks at quasi-identifying
    values alone, which are public here.
    """
    groups = lattice.groups(path[0])
    form = groups.sizes
    for step, node in enumerate(path[1:], 1):
        coarser = lattice.groups(node)
        parent = parents(coarser, groups)
        merged = np.zeros(len(coarser.sizes), dtype=np.int64)
        merged[parent] = form
        if (merged[parent] != form).any():
            raise InputError(
                f"step {step} of the path merges groups that are not alike in size and in how they "
                "merged before, so that not releasing a finer table reveals information about "
                "people",
                "take the rule 'permutations', or other steps",
            )
        number = np.bincount(parent, minlength=len(merged))
        both = np.stack([merged, number])
        form = np.unique(both, axis=1, return_inverse=True)[1].reshape(-1)
        groups = coarser


def parents(coarser: Groups, finer: Groups) -> Ints:
    """For every group of a finer node its group at a coarser one."""
    parent = np.zeros(len(finer.sizes), dtype=np.int64)
    parent[finer.rows] = coarser.rows
    return parent
