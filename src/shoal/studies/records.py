"""The records of a table as the solvers of personal generalisation choose for them, at any floor.

At a floor everybody keeps that share of utility, whatever they chose; how sensitive columns are to
them stays theirs. Uses the solvers; `tradeoffs` uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from operator import mul

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.data.tables import Table
from shoal.lattice import Node
from shoal.methods.method import Progress
from shoal.methods.personal import People, Personal, Solver
from shoal.methods.personal.crowds import Chosen, comparable
from shoal.methods.personal.exact import lowest
from shoal.studies.curves import Point

__all__ = ["Records", "Solution"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solution:
    """What is chosen for everybody at a floor: for each kind of wish, one choice per row."""

    floor: Fraction
    choices: Sequence[Chosen]

    @property
    def risks(self) -> list[Floats]:
        return [chosen.risk for chosen in self.choices]


@dataclass(frozen=True, eq=False)
class Records:
    """People, and how many records every row of each of their `Wanted` stands for."""

    people: People
    counts: Sequence[Ints]

    @classmethod
    def of(cls, table: Table, method: Personal) -> "Records":
        """The records of a table; an error if the method could not release it."""
        method.promise(table.schema)
        people = People.of(method, table)
        counts = []
        for number, want in enumerate(people.wanted):
            mine = np.flatnonzero(people.want == number)
            places = people.place[mine]
            records = people.rows.count[mine]
            count = np.bincount(places, records, len(want.rows))
            counts.append(count.astype(np.int64))
        return cls(people, counts)

    def solve(
        self,
        floor: Fraction,
        solver: Solver,
        chance: Chance,
        progress: Progress,
    ) -> Solution:
        """What a solver chooses where everybody keeps a share of utility."""

        def at_floor(done: int, total: int, what: str) -> None:
            progress(done, total, f"{what} at a floor of {float(floor):.1%}")

        # Everybody keeps the same share here, whatever they wished.
        units = self._units(floor)
        wanted = [replace(want, floor=units) for want in self.people.wanted]
        method = replace(self.people.method, solver=solver)
        people = replace(self.people, method=method, wanted=wanted)
        return Solution(floor, people.solve(chance, at_floor))

    def at(self, node: Node) -> list[Chosen]:
        """Everybody at one node."""
        crowds = self.people.crowds
        sizes = crowds.sizes(node)
        worth = np.broadcast_to(crowds.sum_at(self.people.utility, node), sizes.shape)
        choices = []
        for given in self.people.wanted:
            want = comparable(given, crowds)
            shown = np.broadcast_to(crowds.sum_at(want.sensitivity, node), sizes.shape)
            everybody = np.array(node, dtype=np.uint8)
            levels = np.tile(everybody, (len(want.rows), 1))
            unit = float(want.sensitivity.unit)
            risk = shown[want.rows] / sizes[want.rows] / unit
            choices.append(Chosen(levels, risk, worth[want.rows]))
        return choices

    def mean(self, risks: Sequence[Floats]) -> float:
        """The mean risk of the records."""
        total = 0.0
        for often, risk in zip(self.counts, risks, strict=True):
            total += float(often @ risk)
        return total / max(self.people.rows.total, 1)

    def kept(self, choices: Sequence[Chosen]) -> Fraction:
        """The mean share of utility that the records keep; it becomes a floor, so it is exact."""
        worth = 0
        for often, chosen in zip(self.counts, choices, strict=True):
            worth += sum(map(mul, often.tolist(), chosen.worth.tolist()))
        most = self.people.utility.most * self.people.rows.total
        return Fraction(worth, max(most, 1))

    def point(self, solution: Solution) -> Point:
        """The table as it is shown."""
        return Point(
            floor=solution.floor,
            risk=self.mean(solution.risks),
            highest=max(float(risk.max(initial=0)) for risk in solution.risks),
            utility=float(self.kept(solution.choices)),
        )

    def last_within(
        self,
        limit: float,
        below: Solution,
        above: Solution,
        progress: Progress,
    ) -> Fraction:
        """The highest floor at which the mean of the lowest risks is within a limit.

        It is between a floor at which it is, and one at which it is not. Risks only grow with the
        floor: rows with the same risk at both ends have it between them too, and are not solved
        again. A row keeps its risk up to the utility it has at it, so that few floors are left to
        be tried.
        """
        people = self.people
        low, high = self._units(below.floor), self._units(above.floor)
        within, beyond = below.risks, above.risks
        while high - low > 1:
            progress(0, 1, "halving the risk")
            middle = (low + high) // 2
            unlike = []
            wanted = []
            for want, lower, higher in zip(people.wanted, within, beyond, strict=True):
                rows = np.flatnonzero(lower != higher)
                unlike.append(rows)
                wanted.append(replace(want, floor=middle, rows=want.rows[rows]))
            solved = lowest(people.crowds, people.utility, wanted)
            risks = [risk.copy() for risk in within]
            for risk, rows, chosen in zip(risks, unlike, solved, strict=True):
                risk[rows] = chosen.risk
            if self.mean(risks) <= limit:
                # No risk changes before the floor exceeds the least utility that is kept.
                low = min(int(chosen.worth.min()) for chosen in solved if len(chosen.worth))
                within = risks
            else:
                high = middle
                beyond = risks
        return Fraction(low, max(people.utility.most, 1))

    def _units(self, share: Fraction) -> int:
        """A share of utility in the units that the solvers count in."""
        return ceil(share * self.people.utility.most)
