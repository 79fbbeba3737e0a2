"""The price of utility in risk under personal generalisation.

It is computed for a table, for one person, and beside k-anonymity. All of it is computed from the
data and covered by no promise: it is owner only, says so in every form it takes, and cannot be
written beside a release. Uses `records`, and gives the values of `curves`; the command line uses
it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data import free_memory
from shoal.data.tables import Table
from shoal.errors import ParameterError, TooLargeError, listed
from shoal.exact.numbers import Exact, fraction, whole
from shoal.lattice import Lattice, Node
from shoal.measure.loss import LOSSES
from shoal.methods.catalogue import entries, entry_of
from shoal.methods.method import Progress, people_of, require_people, silent
from shoal.methods.optimal import search
from shoal.methods.personal import People, Personal
from shoal.methods.personal.crowds import Wanted, comparable
from shoal.methods.personal.exact import LARGEST
from shoal.methods.personal.models import Sum
from shoal.privacy.models import KAnonymity
from shoal.studies.curves import Against, AnonymityComparison, Curve, Stair, Staircase, half_of
from shoal.studies.records import Records, Solution

__all__ = ["FLOORS", "compared", "minimal_node", "require_traded", "tradeoff", "tradeoff_of"]

Ints = npt.NDArray[np.int64]

FLOORS: tuple[Fraction, ...] = tuple(Fraction(share, 20) for share in range(21))
"""Shares of utility at which a curve is drawn unless others are given."""

ARBITRARY = 10
"""k-anonymous tables for every k, as for Figure 9 of the paper."""

_NODE_BYTES = 64
"""Memory that a node takes while the ways to show one record are weighed."""

_PARTS = 1000
"""Parts of one piece of work, for progress."""


def require_traded(name: str) -> str:
    """What the parameters of a method trade for utility; ParameterError if that is not weighed."""
    entry = entry_of(name)
    if not entry.trades:
        others = [each.name for each in entries() if each.trades]
        raise ParameterError(
            f"the method {name!r} has no trade-off to weigh", f"use {listed(others)}"
        )
    return entry.trades


# A table


@typed
def tradeoff(
    table: Table,
    method: Personal,
    floors: Iterable[Exact] = FLOORS,
    *,
    chance: Chance | None = None,
    progress: Progress | None = None,
) -> Curve:
    """The risk of a table at each of some floors, by the method's solver, and where it is halved.

    >>> import shoal
    >>> curve = tradeoff(shoal.demo.table(200), Personal(0.5), ["0.2", "0.5", "0.8"])
    >>> [point.risk < curve.as_it_is.risk for point in curve.points]
    [True, True, True]
    >>> curve.half.risk <= curve.as_it_is.risk / 2
    True
    """
    shares = {fraction(share, "floors", 0, 1) for share in floors}
    if not shares:
        raise ParameterError(
            "`floors` lists no share of utility",
            "give at least one, or leave it out for steps of a twentieth",
        )
    chance = chance or Chance()
    report = progress or silent
    table = people_of(method, table, chance)
    records = Records.of(table, method)
    bottom = (0,) * len(table.quasi)
    as_it_is = records.point(Solution(Fraction(1), records.at(bottom)))
    limit = half_of(as_it_is.risk)
    # The ends are cheap, and halving may need them.
    asked = sorted({Fraction(0), *shares, Fraction(1)})
    points = []
    below: Solution | None = None
    above: Solution | None = None
    for done, share in enumerate(asked):
        part = _part(report, done, len(asked) + 1)
        solution = records.solve(share, method.solver, chance, part)
        point = records.point(solution)
        points.append(point)
        if point.risk <= limit:
            below = solution
        elif above is None:
            above = solution
    half = below
    if below and above and method.solver == "exact":
        part = _part(report, len(asked), len(asked) + 1)
        share = records.last_within(limit, below, above, part)
        half = records.solve(share, "exact", chance, part)
    return Curve(
        points=tuple(point for point in points if point.floor in shares),
        as_it_is=as_it_is,
        half=None if half is None else records.point(half),
        solver=method.solver,
    )


# One person


@typed
def tradeoff_of(table: Table, method: Personal, row: int) -> Staircase:
    """What utility costs the person of one row of a table (the first is 0), exactly.

    >>> import shoal
    >>> stairs = tradeoff_of(shoal.demo.table(200), Personal(0.5), 0)
    >>> stairs.at("0.5").risk <= stairs.at("0.9").risk <= stairs.as_it_is.risk
    True
    """
    if whole(row, "row", 0) >= table.rows:
        raise ParameterError(
            "is not in the table",
            f"it has {table.rows:,} rows, the first being 0",
            option="row",
            given=str(row),
        )
    if method.unit is not None:
        raise ParameterError(
            f"`row` is one row of the table, and the method draws one of each {method.unit!r}",
            "leave out `unit`, or take a table with one row per person",
        )
    require_people(method, table)
    table = table.in_memory([method.choice] if method.choice else [], in_order=True)
    people = Records.of(table, method).people
    _require_small(prod(height + 1 for height in people.crowds.heights))
    _, sums_of_wishes = method.sums(people.hierarchies)
    sensitivity, share = sums_of_wishes[_wish(method, table, row)]
    leaves = []
    for column in table.records(people.hierarchies):
        leaf_of = table.leaf_of(column.name)
        leaves.append(int(leaf_of[column.codes[row]]))
    ways = _WaysToShow.of(people, leaves, sensitivity, share)
    return Staircase(ways.undominated(), ways.step(0), share)


def _require_small(nodes: int) -> None:
    """TooLargeError if not all nodes can be weighed for one person."""
    if nodes > LARGEST:
        raise TooLargeError(
            f"the lattice has {nodes:,} nodes and {LARGEST:,} can be searched for one person",
            "take levels out of the hierarchies, or use fewer quasi-identifying columns",
        )
    free_memory.require(
        nodes * _NODE_BYTES,
        f"weighing {nodes:,} ways to show a record",
        "use fewer quasi-identifying columns",
    )


def _wish(method: Personal, table: Table, row: int) -> str | None:
    """What the person of a row chose."""
    if method.choice is None:
        return None
    [column] = table.records([method.choice])
    key = column.keys[column.codes[row]]
    return None if key is None else str(key)


@dataclass(frozen=True, eq=False)
class _WaysToShow:
    """Every way to show one record: its worth, its risk and its crowd at each node of the lattice.

    Arrays have one axis per column.
    """

    people: People
    leaves: list[int]
    worth: Ints
    risk: npt.NDArray[np.float64]
    """In the unit of the sensitivity, so that quotients compare as the rationals they stand for."""
    unit: float
    sizes: Ints

    @classmethod
    def of(
        cls,
        people: People,
        leaves: list[int],
        sensitivity: Sum,
        share: Fraction,
    ) -> "_WaysToShow":
        crowds = people.crowds
        nobody = np.zeros(0, dtype=np.intp)
        wanted = Wanted.of(sensitivity, people.utility, share, nobody)
        want = comparable(wanted, crowds)
        shape = [height + 1 for height in crowds.heights]
        worth = np.zeros(shape, dtype=np.int64)
        shown = np.zeros(shape, dtype=np.int64)
        # One histogram of everybody, by the level at which each column first shows the record's
        # value, gives the crowds of all nodes.
        joins = np.zeros(crowds.everyone.distinct, dtype=np.intp)
        for column, leaf in enumerate(leaves):
            maps = crowds.hierarchies[column].maps
            apart = np.sum([codes != codes[leaf] for codes in maps], axis=0)
            joins = joins * shape[column] + apart[crowds.everyone.codes[column]]
            # The parts of this column lie along its axis.
            along = [1] * len(shape)
            along[column] = -1
            for total, of in ((worth, people.utility), (shown, want.sensitivity)):
                parts = zip(of.parts[column], maps, strict=True)
                by_level = [part[codes[leaf]] for part, codes in parts]
                total += np.reshape(by_level, along)
        counts = np.bincount(joins, crowds.everyone.count, prod(shape))
        sizes = counts.astype(np.int64).reshape(shape)
        for column in range(len(shape)):
            np.cumsum(sizes, axis=column, out=sizes)
        unit = float(want.sensitivity.unit)
        return cls(people, leaves, worth, shown / sizes, unit, sizes)

    def undominated(self) -> tuple[Stair, ...]:
        """The steps that no other beats in utility or risk without losing in the other."""
        risk = self.risk.ravel()
        # Worth most first, and of equal ones the lowest risk.
        order = np.lexsort((risk, -self.worth.ravel()))
        ordered = risk[order]
        before = np.append(np.inf, ordered[:-1])
        lowest_before = np.minimum.accumulate(before)
        kept = order[ordered < lowest_before]
        ascending = kept[::-1].tolist()
        return tuple(map(self.step, ascending))

    def step(self, place: int) -> Stair:
        """The step of a node, by its place among all of them."""
        node = [int(level) for level in np.unravel_index(place, self.sizes.shape)]
        hierarchies = self.people.hierarchies
        levels = dict(zip(hierarchies, node, strict=True))
        shown = {}
        for name, leaf in zip(hierarchies, self.leaves, strict=True):
            level = levels[name]
            tree = hierarchies[name]
            shown[name] = tree.labels[level][tree.maps[level][leaf]]
        most = self.people.utility.most
        utility = Fraction(1)
        if most:
            utility = Fraction(int(self.worth.flat[place]), most)
        return Stair(
            utility=utility,
            risk=float(self.risk.flat[place]) / self.unit,
            people=int(self.sizes.flat[place]),
            levels=levels,
            shown=shown,
        )


# Beside k-anonymity


@typed
def compared(
    table: Table,
    method: Personal,
    ks: Iterable[int],
    *,
    tables: int = ARBITRARY,
    chance: Chance | None = None,
    progress: Progress | None = None,
) -> AnonymityComparison:
    """The experiment of the paper's Figure 9.

    k-anonymous tables are compared with personal generalisation at the same utility. For every k
    some arbitrary tables are drawn: from all columns at their roots, a random one is made a level
    finer for as long as groups stay that large. Beside them stands the optimum by granularity.
    Nobody is suppressed.
    """
    chance = chance or Chance()
    report = progress or silent
    table = people_of(method, table, chance)
    asked = _sizes(ks, table.rows)
    number = whole(tables, "tables")
    records = Records.of(table, method)
    counts = records.people.rows.over(tuple(table.quasi))
    lattice = Lattice(counts, records.people.hierarchies)
    comparing = _Comparing(records, chance)
    smallest: dict[Node, int] = {}
    rows = []
    for done, k in enumerate(asked):
        part = _part(report, done, len(asked))
        part(0, 1, f"drawing {k}-anonymous tables")
        arbitrary = [minimal_node(lattice, k, smallest, chance) for _ in range(number)]
        best = search(lattice, [KAnonymity(k)], LOSSES["granularity"]).node
        first_half, second_half = _part(part, 0, 2), _part(part, 1, 2)
        rows.append(comparing.row(k, arbitrary, False, first_half))
        rows.append(comparing.row(k, [best], True, second_half))
    return AnonymityComparison(tuple(rows))


def _sizes(ks: Iterable[int], rows: int) -> list[int]:
    """The sizes of groups that are asked for, each once."""
    asked = sorted({whole(k, "ks") for k in ks})
    if not asked:
        raise ParameterError("`ks` lists no size of groups", "give at least one, such as 5")
    if asked[-1] > rows:
        raise ParameterError(
            f"no table of {rows:,} records is {asked[-1]:,}-anonymous", "ask for smaller `ks`"
        )
    return asked


def minimal_node(
    lattice: Lattice,
    k: int,
    smallest: dict[Node, int],
    chance: Chance,
) -> Node:
    """A node with groups of at least k in which no column can be finer, found at random.

    The way goes down from the top. `smallest` keeps the size of the smallest group of nodes that
    were looked at.
    """
    node = lattice.top
    while True:
        finer = lattice.finer(node)
        for each in finer:
            if each not in smallest:
                smallest[each] = int(lattice.groups(each).sizes.min())
        allowed = [each for each in finer if smallest[each] >= k]
        if not allowed:
            return node
        node = allowed[chance.below(len(allowed))]


class _Comparing:
    """Compares the records at some nodes with what the solvers choose at the same utility."""

    def __init__(self, records: Records, chance: Chance) -> None:
        self.records = records
        self.chance = chance
        # Tables for larger k often have the same optimum.
        self._solved: dict[Fraction, tuple[float, float]] = {}

    def row(
        self,
        k: int,
        nodes: list[Node],
        optimal: bool,
        progress: Progress,
    ) -> Against:
        records = self.records
        shown = [records.at(node) for node in nodes]
        kept = sum(map(records.kept, shown), Fraction(0)) / len(nodes)
        means = []
        for choices in shown:
            risks = [chosen.risk for chosen in choices]
            means.append(records.mean(risks))
        risk = sum(means) / len(nodes)
        exact, genetic = self._risks(kept, progress)
        return Against(k, optimal, len(nodes), kept, risk, exact, genetic)

    def _risks(self, floor: Fraction, progress: Progress) -> tuple[float, float]:
        """The mean risks at a floor, by the exact and by the genetic solver."""
        if floor not in self._solved:
            records, chance = self.records, self.chance
            exact = records.solve(floor, "exact", chance, _part(progress, 0, 2))
            genetic = records.solve(floor, "genetic", chance, _part(progress, 1, 2))
            means = records.mean(exact.risks), records.mean(genetic.risks)
            self._solved[floor] = means
        return self._solved[floor]


def _part(progress: Progress, done: int, total: int) -> Progress:
    """Progress within one of several equal pieces of work."""

    def report(inner: int, of: int, what: str) -> None:
        within = _PARTS * inner // max(of, 1)
        progress(done * _PARTS + within, total * _PARTS, what)

    return report
