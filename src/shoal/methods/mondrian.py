"""Mondrian: halve the table along one column after the other.

It goes on for as long as both halves satisfy the models.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity (ICDE 2006). All open parts of
the table are cut in the same round by a few passes over the distinct rows, so that the work grows
with the depth of the cuts, not with their number. A baseline: the promise is syntactic, since the
cuts are chosen by looking at the data. With splits that are fixed beforehand it is semantic:
docs/proofs/semantic.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from shoal.arguments import keep, require_one_of, typed
from shoal.chance import Chance
from shoal.counts import Counts, group, smallest
from shoal.data import free_memory
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.schema import Schema
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, HierarchyError, InfeasibleError, ParameterError
from shoal.lattice import Lattice
from shoal.methods.axes import Axis, axis_of
from shoal.methods.entry import AsViews, Entry, Guide
from shoal.methods.method import Progress, Task, begin, conjunction, protected, syntactic
from shoal.privacy.models import DeltaPresence, KAnonymity, Model, bound, holds_all
from shoal.privacy.promises import Promise, SemanticAnonymity
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import lay_out, released
from shoal.releases.release import Release
from shoal.zones import brief

__all__ = ["Cuts", "Mondrian", "Partition", "Proposal"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_HALF = "\0half"
"""The column of halves; no column of a table is called so."""

_ROW, _PLACE = 200, 20
"""Bytes per row, and per row and column: measured."""


@typed
@brief
@dataclass(frozen=True, init=False)
class Mondrian:
    """Multidimensional generalisation under any conjunction of models.

    Records with equal values stay together, unless it is `relaxed`. With splits in the middle,
    boundary ranges and only k-anonymity as model it keeps semantic k-anonymity. That takes a public
    hierarchy for every released column, all of which must be quasi-identifying; a part is cut along
    the column of which it covers most, or not at all, and fewer than k records are not released.

    models: what every group must satisfy, such as "5-anonymity"
    relaxed: whether records at a cut may go to either side, which gives groups of more even size,
        and ranges that overlap
    ranges: "boundary", up to the cuts and the ends of the declared domain; or "observed", from the
        smallest to the largest value in the group as in the paper, which needs no hierarchy and
        shows the outermost values that occur
    splits: at the "median" of the records; or in the "middle" of what is left of a column's
        declared domain, which is fixed beforehand
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used
    """

    models: tuple[Model, ...]
    relaxed: bool
    ranges: Literal["boundary", "observed"]
    splits: Literal["median", "middle"]
    unit: str | None

    name: ClassVar[str] = "mondrian"

    def __init__(
        self,
        models: Sequence[Model | str],
        relaxed: bool = False,
        ranges: Literal["boundary", "observed"] = "boundary",
        splits: Literal["median", "middle"] = "median",
        unit: str | None = None,
    ) -> None:
        require_one_of("ranges", ranges, "boundary", "observed")
        require_one_of("splits", splits, "median", "middle")
        keep(
            self,
            models=conjunction(models),
            relaxed=relaxed,
            ranges=ranges,
            splits=splits,
            unit=unit,
        )
        self._require_sense()

    def _require_sense(self) -> None:
        """ParameterError if the parameters do not go together."""
        loose = self.relaxed or self.ranges == "observed"
        strict = "use Mondrian strict, with boundary ranges"
        if loose and any(isinstance(model, DeltaPresence) for model in self.models):
            raise ParameterError("presence needs every person to look like one group", strict)
        if self.splits == "middle":
            if loose:
                raise ParameterError("splits in the middle look at no value", strict)
            if not all(isinstance(model, KAnonymity) for model in self.models):
                raise ParameterError(
                    "splits in the middle keep semantic k-anonymity, and no other model",
                    "give k-anonymity alone",
                )

    def promise(self, schema: Schema) -> Promise:
        """Every group satisfies the models; with splits in the middle, semantic k-anonymity."""
        promise = syntactic(self.models, schema, self.unit)
        if self.splits == "median":
            return promise
        _require_public(schema)
        return SemanticAnonymity(self.k, self.unit)

    @property
    def k(self) -> int:
        """The k of k-anonymity, 1 if that is not among the models."""
        return max((model.k for model in self.models if isinstance(model, KAnonymity)), default=1)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The table in groups that satisfy the models.

        No record is suppressed, except that with splits in the middle all are if there are fewer
        than k.
        """
        job = begin(self, table, chance, progress)
        people = job.table
        if self.splits == "middle" and people.rows < self.k:
            return self._nothing(job)
        method = replace(self, models=tuple(bound(model, people) for model in self.models))
        crowds = [model.population for model in self.models if isinstance(model, DeltaPresence)]
        fixed = self.splits == "middle"
        axes = [axis_of(people, name, self.ranges, crowds, whole=fixed) for name in people.quasi]
        cells = Partition(people, axes, method)
        cells.cut(job.progress)
        columns = {axis.name: cells.labelled(j, axis) for j, axis in enumerate(axes)}
        return Release(
            lay_out(people, columns, cells.rows),
            certify(people, method, job.promise, job.chance, whole=not fixed),
            Facts(records=people.rows, groups=_visible(columns)),
        )

    def _nothing(self, job: Task) -> Release:
        """No row, in columns of types that do not reveal whether there were any."""
        table = job.table
        counts = table.count(released(table), {})
        rows = counts.where(np.zeros(0, dtype=np.bool_))
        nobody = np.zeros(0, dtype=np.int64)
        roots = {name: (table.hierarchy(name).labels[-1], nobody) for name in table.quasi}
        return Release(
            lay_out(table, roots, rows),
            certify(table, self, job.promise, job.chance),
            Facts(records=table.rows, suppressed=table.rows, groups=0),
        )


def _visible(columns: Mapping[str, tuple[Sequence[str], npt.NDArray[Any]]]) -> int:
    """How many groups there are to see: cells that show the same ranges are one."""
    codes = [codes for _, codes in columns.values()]
    cards = [max(len(texts), 1) for texts, _ in columns.values()]
    return group(list(columns), codes, cards).distinct


def _require_public(schema: Schema) -> None:
    """An error if a column would reveal more of the rows than the sizes of groups."""
    for name, role in schema.roles.items():
        if role is Role.IDENTIFYING:
            continue
        if role is not Role.QUASI:
            raise ColumnError(
                f"column {name!r} is {role.value} and would be released unchanged, which semantic "
                "k-anonymity does not allow",
                "make it quasi-identifying, or identifying so that it is not released",
            )
        if name not in schema.hierarchies:
            raise HierarchyError(
                f"column {name!r} has no hierarchy, so its declared domain is not known",
                "give it one",
            )
        schema.public(name)
    schema.require_declared()


def _distinct(table: Table, axes: Sequence[Axis]) -> Counts:
    """The distinct rows of all released columns, the quasi-identifying ones first, as places."""
    quasi = [axis.name for axis in axes]
    others = [name for name in released(table) if name not in quasi]
    leaves = {axis.name: 0 for axis in axes if axis.hierarchy}
    rows = table.count([*quasi, *others], leaves)
    # Leaves are in the order of the tree, places in that of the axis.
    places = [axis.place[rows.column(axis.name)] for axis in axes]
    sizes = [axis.size for axis in axes]
    carried, cards = rows.codes[len(axes) :], rows.cards[len(axes) :]
    return group(rows.names, [*places, *carried], [*sizes, *cards], rows.count)


def _each_alone(rows: Counts) -> Counts:
    """The same records, each a row of its own: equal ones may part."""
    each = np.repeat(np.arange(rows.distinct), rows.count)
    codes = tuple(column[each] for column in rows.codes)
    return replace(rows, codes=codes, count=np.ones(len(each), dtype=np.int64))


@dataclass(eq=False)
class _Crowd:
    """Rows that the cuts part: the table's, or those of a population it was drawn from."""

    places: Ints
    """The place of every row along each axis."""

    count: Ints
    cell: Ints

    @classmethod
    def of(cls, rows: Counts, places: Sequence[npt.NDArray[Any]]) -> "_Crowd":
        """All rows in one cell."""
        nowhere_cut = np.zeros(rows.distinct, dtype=np.int64)
        return cls(np.array(places, dtype=np.int64), rows.count, nowhere_cut)


@dataclass(frozen=True, eq=False)
class Proposal:
    """One round of cuts, one for every open cell.

    active: the rows of open cells
    opened: the numbers of these cells
    local: the place of every active row's cell among them
    axis: the column along which each is to be cut
    """

    active: Ints
    opened: Ints
    local: Ints
    axis: Ints


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where the cells of a round are cut.

    It says which active rows go right, where left halves end and where right ones start.
    """

    right: Bools
    ends_left: Ints
    starts_right: Ints


class Partition:
    """The parts of the table, each a box of places, and the rows in each."""

    def __init__(self, table: Table, axes: Sequence[Axis], method: Mondrian) -> None:
        rows = _distinct(table, axes)
        number = rows.total if method.relaxed else rows.distinct
        free_memory.require(
            number * (_ROW + _PLACE * len(axes)),
            f"cutting {number:,} rows along {len(axes)} columns",
            "use Optimal, or fewer columns",
        )
        self.rows = _each_alone(rows) if method.relaxed else rows
        self.method = method
        self.middle = method.splits == "middle"
        self.crowd = _Crowd.of(self.rows, self.rows.codes[: len(axes)])
        self.populations = [
            _population(model, axes) for model in method.models if isinstance(model, DeltaPresence)
        ]
        self.carried = {name: _carried(table, name, self.rows) for name in protected(method.models)}
        self.sizes = np.array([axis.size for axis in axes], dtype=np.int64)
        self.missing = np.array([axis.missing for axis in axes], dtype=np.int64)
        # One cell at first, or none where there are no rows.
        cells = min(self.rows.distinct, 1)
        self.low = np.zeros((cells, len(axes)), dtype=np.int64)
        self.high = self.low + self.sizes - 1
        # The outermost places that occur in a cell.
        self.first, self.last = self.low.copy(), self.high.copy()
        # Where the models forbade the cut of a cell along an axis.
        self.spent = self.low.astype(np.bool_)

    def cut(self, progress: Progress) -> None:
        """Cut every cell until no cut is allowed."""
        total = self.rows.total
        if not total:
            return
        together = [crowd.cell for crowd in (self.crowd, *self.populations)]
        if not self.hold(together, 1).all():
            models = " and ".join(map(str, self.method.models))
            raise InfeasibleError(
                f"even all records together do not satisfy {models}", "ask for less"
            )
        active = np.arange(self.rows.distinct)
        self._look(active)
        while True:
            widths = self._widths()
            active = active[(widths.max(axis=1) > 0)[self.crowd.cell[active]]]
            progress(total - int(self.crowd.count[active].sum()), total, "cutting the table")
            if not len(active):
                return
            self._cut_once(self._propose(active, widths))

    def _widths(self) -> npt.NDArray[np.float64]:
        """How much of every axis a cell covers, 0 where it may not be cut."""
        near, far = (self.low, self.high) if self.middle else (self.first, self.last)
        widths = np.where(self.spent, 0, far - near)
        return np.asarray(widths / np.maximum(self.sizes - 1, 1))

    def _propose(self, active: Ints, widths: npt.NDArray[np.float64]) -> Proposal:
        """One cut for every cell of the active rows, along the column that it covers most of."""
        opened = np.flatnonzero(np.bincount(self.crowd.cell[active]))
        number = self._numbered(opened)
        return Proposal(
            active, opened, number[self.crowd.cell[active]], widths[opened].argmax(axis=1)
        )

    def _numbered(self, opened: Ints) -> Ints:
        """The place of every cell among the open ones, or -1."""
        number = np.full(len(self.low), -1)
        number[opened] = np.arange(len(opened))
        return number

    def _cut_once(self, proposed: Proposal) -> None:
        """Make the cuts that the models allow."""
        opened, axis = proposed.opened, proposed.axis
        cuts = self._middle(proposed) if self.middle else self.median(proposed)
        halves = self._halves(proposed, cuts)
        held = self.hold(halves, 2 * len(opened))
        allowed = held[: 2 * len(opened) : 2] & held[1 : 2 * len(opened) : 2]
        if self.middle:
            # To try another column instead would reveal that this one had been tried.
            self.spent[opened[~allowed]] = True
        else:
            self.spent[opened[~allowed], axis[~allowed]] = True
        # The left half keeps its cell's number, the right half gets the next free one.
        right_of = np.full(2 * len(opened) + 1, -1)
        right_of[1::2][allowed] = len(self.low) + np.arange(allowed.sum())
        for half, part in zip(halves, (self.crowd, *self.populations), strict=True):
            part.cell = np.where(right_of[half] < 0, part.cell, right_of[half])
        self._split(
            opened[allowed], axis[allowed], cuts.ends_left[allowed], cuts.starts_right[allowed]
        )
        self._look(proposed.active[allowed[proposed.local]])

    def _halves(self, proposed: Proposal, cuts: Cuts) -> list[Ints]:
        """The half of every row, and of everyone in a population.

        If its cell is not open, it is a number above all halves.
        """
        rows = np.full(len(self.crowd.cell), 2 * len(proposed.opened))
        rows[proposed.active] = 2 * proposed.local + cuts.right
        number = self._numbered(proposed.opened)
        return [
            rows,
            *(_parted(each, number, proposed.axis, cuts.ends_left) for each in self.populations),
        ]

    def _middle(self, proposed: Proposal) -> Cuts:
        """Cuts in the middle of what is left of the domain; a missing value is not part of it."""
        opened, axis = proposed.opened, proposed.axis
        low, high = self.low[opened, axis], self.high[opened, axis]
        last = high - (high == self.missing[axis])
        ends_left: Ints = (low + last) // 2
        return Cuts(self._right_of(proposed, ends_left), ends_left, ends_left + 1)

    def _right_of(self, proposed: Proposal, ends_left: Ints) -> Bools:
        """Which active rows lie behind where their cell's left half ends."""
        right: Bools = self._places(proposed) > ends_left[proposed.local]
        return right

    def _places(self, proposed: Proposal) -> Ints:
        """The places of active rows along the axis of their cell."""
        return self.crowd.places[proposed.axis[proposed.local], proposed.active]

    def median(self, proposed: Proposal) -> Cuts:
        """Cuts at the median of each cell's records."""
        opened, local, axis = proposed.opened, proposed.local, proposed.axis
        place = self._places(proposed)
        first, last = self.first[opened, axis], self.last[opened, axis]
        # One histogram of places for all cells, laid end to end; the median is where half of a
        # cell's records are reached.
        ends = np.cumsum(last - first + 1)
        starts = ends - (last - first + 1)
        count = self.crowd.count[proposed.active]
        heights = _total(starts[local] + place - first[local], count, int(ends[-1]))
        climbed = np.cumsum(heights)
        before_cell = climbed[starts] - heights[starts]
        records = climbed[ends - 1] - before_cell
        half = (records + 1) // 2
        median = np.searchsorted(climbed, before_cell + half)
        upto, at = climbed[median] - before_cell, heights[median]
        middle = median - starts + first
        if self.method.relaxed:
            # Of those at the median, just enough stay to make the halves even.
            stay = half - (upto - at)
            tied = place == middle[local]
            goes = tied & ~_spread(tied, local, stay, at)
            right: Bools = (place > middle[local]) | goes
            ends_left, starts_right = middle, np.where(stay < at, middle, middle + 1)
            went_left = upto - at + stay
        else:
            # The more even of the two cuts there may be after the median, or before it.
            after = records - upto >= upto - at
            ends_left = np.where(after, middle, middle - 1)
            went_left = np.where(after, upto, upto - at)
            right, starts_right = place > ends_left[local], ends_left + 1
        # Where only missing values go right, the left half keeps all that is not missing.
        alone = (last == self.missing[axis]) & (went_left + heights[ends - 1] == records)
        return Cuts(
            right, np.where(alone, last - 1, ends_left), np.where(alone, last, starts_right)
        )

    def _split(self, cells: Ints, axis: Ints, ends_left: Ints, starts_right: Ints) -> None:
        """Add the right halves of some cells."""
        low, high = self.low[cells], self.high[cells]
        low[np.arange(len(cells)), axis] = starts_right
        self.high[cells, axis] = ends_left
        self.low = np.vstack([self.low, low])
        self.high = np.vstack([self.high, high])
        self.first = np.vstack([self.first, low])
        self.last = np.vstack([self.last, high])
        self.spent[cells] = False
        self.spent = np.vstack([self.spent, np.zeros_like(low, dtype=np.bool_)])

    def _look(self, rows: Ints) -> None:
        """Find the outermost places that occur in the cells of some rows.

        The rows must be all the rows of their cells.
        """
        cells = self.crowd.cell[rows]
        for j, places in enumerate(self.crowd.places):
            seen = places[rows]
            first = np.full(len(self.low), self.sizes[j])
            last = np.full(len(self.low), -1)
            np.minimum.at(first, cells, seen)
            np.maximum.at(last, cells, seen)
            self.first[:, j] = np.where(last < 0, self.first[:, j], first)
            self.last[:, j] = np.where(last < 0, self.last[:, j], last)

    def hold(self, halves: Sequence[Ints], number: int) -> Bools:
        """Which halves satisfy all models; what is in none has the number after the last."""
        if self.middle:  # halves may be empty, which a group never is
            sizes = _total(halves[0], self.crowd.count, number + 1)
            return sizes[:number] >= self.method.k
        leaves = np.arange(number + 1, dtype=smallest(number + 1))
        tree = Hierarchy((("",) * (number + 1),), (leaves,))
        counts = _tally(halves[0], number + 1, self.carried, self.crowd.count)
        groups = Lattice(counts, {_HALF: tree}).groups((0,))
        populations = iter(zip(halves[1:], self.populations, strict=True))
        models = []
        for model in self.method.models:
            if isinstance(model, DeltaPresence):
                half, people = next(populations)
                model = replace(model, population=_tally(half, number + 1, {}, people.count))
            models.append(model)
        return holds_all(models, groups)

    def labelled(self, j: int, axis: Axis) -> tuple[list[str], Ints]:
        """The texts of a column in the release, and every row's code among them."""
        low, high = self.low[:, j], self.high[:, j]
        if self.method.ranges == "observed":
            low, high = self.first[:, j], self.last[:, j]
        runs, code = np.unique(low * axis.size + high, return_inverse=True)
        texts, read = [], {}
        for low_end, high_end in (divmod(run, axis.size) for run in runs.tolist()):
            text = axis.text(low_end, high_end)
            if axis.means(text, low_end, high_end):
                read[text] = low_end, high_end
            else:  # a label that says less
                read[text] = axis.run(text) or (axis.size, axis.size)
            texts.append(text)
        # By what they are read as: the order of ranges would tell apart those that show the same
        # text.
        ordered = sorted(read, key=lambda text: (read[text], text))
        known = {text: place for place, text in enumerate(ordered)}
        places = np.array([known[text] for text in texts], dtype=np.int64)
        return ordered, places[code][self.crowd.cell]


def _population(model: DeltaPresence, axes: Sequence[Axis]) -> _Crowd:
    """The people whom the table was drawn from, by the table's axes."""
    rows = model.population
    for axis in axes:
        known = axis.name in rows.names
        if not known or rows.cards[rows.names.index(axis.name)] != len(axis.place):
            raise ColumnError(
                f"the population of {model} does not have column {axis.name!r} coded by the "
                "table's hierarchy"
            )
    return _Crowd.of(rows, [axis.place[rows.column(axis.name)] for axis in axes])


def _parted(people: _Crowd, number: Ints, axis: Ints, ends_left: Ints) -> Ints:
    """The half of everyone in a population; `number` is the place of a cell among those cut."""
    local = number[people.cell]
    place = people.places[axis[local], np.arange(len(local))]
    half = 2 * local + (place > ends_left[local])
    # Those whose cell is not cut have a number above all halves.
    return np.where(local < 0, 2 * len(axis), half)


def _carried(table: Table, name: str, rows: Counts) -> tuple[npt.NDArray[Any], int]:
    """A column as the models expect it, and the number of its codes.

    The codes are leaves if it has a hierarchy, else those of the column.
    """
    codes = rows.column(name)
    if name in table.hierarchies:
        return table.leaf_of(name)[codes], len(table.hierarchy(name).maps[0])
    return codes, max(len(table.keys(name)), 1)


def _tally(
    half: Ints, halves: int, carried: Mapping[str, tuple[npt.NDArray[Any], int]], count: Ints
) -> Counts:
    """The counts of halves and carried columns."""
    codes: list[npt.NDArray[Any]] = [half, *(column for column, _ in carried.values())]
    cards = [card for _, card in carried.values()]
    return group([_HALF, *carried], codes, [halves, *cards], count)


def _spread(tied: Bools, cell: Ints, chosen: Ints, of: Ints) -> Bools:
    """Pick `chosen[c]` of the `of[c]` tied rows of every cell c, evenly along their order.

    That order ends with the sensitive values: taking the first ones would part the values instead
    of spreading them.
    """
    rows = np.flatnonzero(tied)
    rows = rows[np.argsort(cell[rows], kind="stable")]
    cells = cell[rows]
    rank = np.arange(len(rows)) - np.searchsorted(cells, cells)
    share, among = chosen[cells], of[cells]
    picked = np.zeros(len(tied), dtype=np.bool_)
    picked[rows] = (rank + 1) * share // among > rank * share // among
    return picked


def _total(places: npt.NDArray[Any], weights: Ints, size: int) -> Ints:
    """The sum of weights at every place; floats are exact up to 2**53 records."""
    return np.bincount(places, weights, size).astype(np.int64)


ENTRY = Entry(
    method=Mondrian,
    summary="groups with ranges of their own",
    draft=(
        'models = ["?"]',
        "relaxed = false  # true: groups of more even size, whose ranges overlap",
        'ranges = "boundary"  # or observed: only as far as there are values',
        'splits = "median"  # or middle: fixed beforehand (semantic k-anonymity)',
    ),
    guide=Guide(
        need="A rule asks for k-anonymity or the like, and numbers need narrow ranges",
        promise=(
            "Your group satisfies the model: with k-anonymity, at least k people look like you."
        ),
        cost="Each group has ranges of its own, which are harder to compare",
        leaves_open="Whoever knows the algorithm may infer more, unless splits are fixed",
        example="Ages and incomes for such a study",
    ),
    public_algorithm=False,
    public_choices=("splits", "middle"),
    needs_hierarchies=False,
    as_views=AsViews(),
    own_ranges=True,
)
