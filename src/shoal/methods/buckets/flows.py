"""`fill`: how many records of each value go into buckets of each size, in integers.

A maximal flow by augmenting paths. Where there is none for all records, it says which values have
more records than places, which is what `program` learns from. Uses nothing; `settings` uses it too.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.methods.buckets.problem import Ints

__all__ = ["Filling", "fill"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Filling:
    """Records with value i in buckets of the j-th size: `held[i, j]`, at most as many as allowed.

    `crowded` are values that together have more records than places, where not all found one.
    """

    held: Ints
    crowded: Bools | None = None


def fill(counts: Ints, room: Ints, upper: Ints) -> Filling:
    """All records put into buckets, `room[j]` into the j-th size, of each value at most `upper`.

    Where that is impossible, as many as a maximal flow puts there.
    """
    held = np.zeros_like(upper)
    for j, places in enumerate(room.tolist()):
        wanted = np.minimum(upper[:, j], counts - held.sum(axis=1))
        held[:, j] = _first(wanted, places)
    while (left := counts - held.sum(axis=1)).any():
        search = _Search(left, room - held.sum(axis=0), upper - held, held)
        route = search.route()
        if route is None:
            return Filling(held, search.crowded())
        search.push(route)
    return Filling(held)


def _first(wanted: Ints, most: int) -> Ints:
    """As much of what is wanted, value by value, as comes to at most that many."""
    return np.asarray(np.diff(np.minimum(wanted.cumsum(), most), prepend=0))


@dataclass(frozen=True)
class _Flow:
    """Records leave the buckets of a size, or none at first, for those of another."""

    out: int | None
    into: int
    amount: int
    """How many can, of all values."""


class _Search:
    """Breadth first from the records that are left, size by size, to one that has room."""

    def __init__(self, left: Ints, room: Ints, free: Ints, held: Ints) -> None:
        self.left = left
        self.room = room
        self.free = free
        self.held = held
        self.came: dict[int, _Flow] = {}

    def route(self) -> list[_Flow] | None:
        """The steps from the last to the first; None if there is no way."""
        waiting: list[int | None] = [None]
        for out in waiting:  # there will be more
            amounts = np.minimum(self._source(out)[:, None], self.free).sum(axis=0)
            for into in np.flatnonzero(amounts).tolist():
                if into in self.came:
                    continue
                self.came[into] = _Flow(out, into, int(amounts[into]))
                if self.room[into]:
                    return self._back(into)
                waiting.append(into)
        return None

    def _source(self, out: int | None) -> Ints:
        return self.left if out is None else self.held[:, out]

    def _back(self, into: int) -> list[_Flow]:
        steps = [self.came[into]]
        while (before := steps[-1].out) is not None:
            steps.append(self.came[before])
        return steps

    def push(self, route: list[_Flow]) -> None:
        """Move as many records along a route as all of its steps allow.

        A step moves only what was there before, so that all steps can be taken at once.
        """
        amount = min(int(self.room[route[0].into]), *(step.amount for step in route))
        moves = []
        for step in route:
            movable = np.minimum(self._source(step.out), self.free[:, step.into])
            moves.append((step, _first(movable, amount)))
        for step, moved in moves:
            self.held[:, step.into] += moved
            if step.out is not None:
                self.held[:, step.out] -= moved

    def crowded(self) -> Bools:
        """The values whose records are left, or hold places that these could have had.

        They hold all places of the sizes that were reached, and as many of the others as they may.
        """
        reached = list(self.came)
        return np.asarray((self.left > 0) | (self.held[:, reached] > 0).any(axis=1))
