"""`marginal`: how many records have each combination of some columns' values, by a release alone.

A released value that is coarser than the level asked for is spread over the values below it. In a
release by a tree of refinements, rows of several levels are side by side, and a coarse one is what
finer ones left over: it is spread over what they do not cover. Nothing here looks at the input.
Uses the grammar of texts and the certificate; benchmarks use it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.data.hierarchy.texts import Texts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.data.tables import table as as_table
from shoal.errors import ColumnError, HierarchyError, ParameterError, TooLargeError, plural
from shoal.releases.layout import COUNT
from shoal.releases.release import Release
from shoal.zones import brief

__all__ = ["Marginal", "ReleasedRows", "Spread", "marginal"]

Spread = Literal["even", "proportional"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ROUNDS = 30
"""Steps of the expectation-maximisation behind a proportional spread."""

LARGEST = 10_000_000
"""Combinations of values that are counted at most."""


@brief
@dataclass(frozen=True, eq=False)
class Marginal:
    """The numbers of records by the values of some columns, as far as a release says.

    columns: the columns, one axis of `counts` each
    values: their values, in the order of their hierarchies
    counts: how many records have each combination; not whole where values were spread
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    counts: Floats = field(repr=False)

    @property
    def shares(self) -> Floats:
        """The same as shares of all records; all 0 if there are none."""
        total = self.counts.sum()
        return self.counts / total if total else self.counts

    def distance(self, other: "Marginal") -> float:
        """The total variation between two marginals of the same columns: 0 if shares are equal.

        It is 1 if only one of them has any records.
        """
        if (self.columns, self.values) != (other.columns, other.values):
            raise ParameterError(
                "the marginals are of other columns or levels", "ask both for the same"
            )
        if self.counts.any() != other.counts.any():
            return 1.0
        return float(np.abs(self.shares - other.shares).sum() / 2)


@typed
def marginal(
    release: Any,
    hierarchies: Mapping[str, Hierarchy],
    columns: Sequence[str],
    levels: Mapping[str, int] | None = None,
    *,
    spread: Spread = "proportional",
) -> Marginal:
    """How many released records have each combination of some columns' values.

    release: a `Release`, or a released dataframe or table
    hierarchies: those the release was made with
    columns: the columns to count by
    levels: the level of each at which to count; the leaves where none is given
    spread: how a coarser value is spread over those below it: "even", over its leaves alike, or
        "proportional", as other rows have them

    >>> import shoal
    >>> from shoal import demo
    >>> people = demo.table()
    >>> release = shoal.SafePub(1, "1e-6").release(people)
    >>> by_sex = marginal(release, people.hierarchies, ["sex"])
    >>> round(by_sex.counts.sum()) == release.facts.kept
    True
    """
    return ReleasedRows.of(release, hierarchies, columns).marginal(columns, levels, spread=spread)


@brief
@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """The distinct rows of a release, with what each of their values may be: for many marginals."""

    columns: Mapping[str, "_ReadColumn"] = field(repr=False)
    count: Ints = field(repr=False)
    axes: dict[tuple[str, int], "_CountedBy"] = field(default_factory=dict, repr=False)
    """What was counted by before, at which level: each column is in many marginals."""

    @classmethod
    def of(
        cls, release: Any, hierarchies: Mapping[str, Hierarchy], columns: Iterable[str]
    ) -> "ReleasedRows":
        """Read some columns of a release, and those that its tree refined."""
        chain = _Chain.of(release)
        refined = () if chain is None else chain.names
        names = list(dict.fromkeys([*columns, *refined]))
        shown, repeats = _shown(release)
        for name in names:
            if name not in shown.names or name not in hierarchies:
                raise ColumnError(
                    f"column {name!r} is not in the release, or has no hierarchy",
                    "name released columns, and give all hierarchies of the release",
                )
        whole = names if chain is None else shown.names
        counted = shown.count([*dict.fromkeys([*whole, *repeats])], {})
        read: dict[str, _ReadColumn] = {}
        for name in names:
            tree = hierarchies[name].with_missing()
            sets = _leaves_of(shown.labels(name), tree, name, mixed=name in refined)
            read[name] = _ReadColumn(tree, counted.column(name).astype(np.int64), sets)
        count = counted.count
        for name in repeats:
            numbers = np.array([int(text) for text in shown.labels(name)], dtype=np.int64)
            count = count * numbers[counted.column(name)]
        if chain is not None:
            fixed = [name for name in whole if name not in (*refined, *repeats)]
            cells = [counted.column(name).astype(np.int64) for name in fixed]
            for name, rows, taken in chain.left_over(read, cells):
                read[name] = read[name].narrowed(rows, taken)
        return cls(read, count)

    def marginal(
        self,
        columns: Sequence[str],
        levels: Mapping[str, int] | None = None,
        *,
        spread: Spread = "proportional",
    ) -> Marginal:
        """As the function `marginal`."""
        if spread not in get_args(Spread):
            raise ParameterError(
                "is unknown",
                "it takes 'even' or 'proportional'",
                option="spread",
                given=repr(spread),
            )
        axes = [self._axis(name, (levels or {}).get(name, 0)) for name in columns]
        shape = tuple(len(axis.column.sets) for axis in axes)
        cells = max(prod(shape), prod(len(axis.labels) for axis in axes))
        if cells > LARGEST:
            raise TooLargeError(
                f"there are {cells:,} combinations of values; at most {LARGEST:,} are counted",
                "ask for fewer columns, or higher `levels`",
            )
        place = np.ravel_multi_index([axis.column.codes for axis in axes], shape)
        shown: Floats = np.bincount(place, self.count, prod(shape)).astype(np.float64)
        shown = shown.reshape(shape)
        counts = _applied(shown, [axis.evenly for axis in axes])
        if spread == "proportional":
            counts = _proportional(shown, counts, [axis.fitting for axis in axes])
        return Marginal(tuple(columns), tuple(axis.labels for axis in axes), counts)

    def _axis(self, name: str, level: int) -> "_CountedBy":
        if (name, level) not in self.axes:
            self.axes[name, level] = _CountedBy.of(self.columns[name], name, level)
        return self.axes[name, level]


def _applied(cells: Floats, matrices: Sequence[Floats]) -> Floats:
    """Each axis of an array multiplied by the matrix that belongs to it."""
    # Each product puts the new axis last, so that after all of them their order is the old one.
    return reduce(lambda left, matrix: np.tensordot(left, matrix, axes=(0, 0)), matrices, cells)


def _proportional(shown: Floats, start: Floats, fitting: Sequence[Floats]) -> Floats:
    """The most likely numbers if values were coarsened whatever they are, from a start."""
    backwards = [matrix.T for matrix in fitting]
    numbers = start
    for _ in range(ROUNDS):
        expected = _applied(numbers, backwards)
        ratio = np.divide(shown, expected, out=np.zeros_like(shown), where=expected > 0)
        numbers = numbers * _applied(ratio, fitting)
    return numbers


@dataclass(frozen=True, eq=False)
class _ReadColumn:
    """A released column: of every distinct row the code of its value, and the leaves of each."""

    tree: Hierarchy
    codes: Ints
    sets: Bools
    """Codes × leaves."""

    @property
    def first(self) -> Ints:
        """One leaf of every row."""
        return np.asarray(self.sets.argmax(axis=1)[self.codes])

    def narrowed(self, rows: Ints, taken: Bools) -> "_ReadColumn":
        """Some rows without the leaves that are taken there; unchanged where nothing is left.

        A part may have passed and not been released, so that its records are nowhere else.
        """
        whole = self.sets[self.codes[rows]]
        rest = whole & ~taken
        nothing = ~rest[:, : self.tree.leaves].any(axis=1)
        rest[nothing] = whole[nothing]
        different, code = np.unique(rest, axis=0, return_inverse=True)
        codes = self.codes.copy()
        codes[rows] = len(self.sets) + code
        return _ReadColumn(self.tree, codes, np.concatenate((self.sets, different)))


@dataclass(frozen=True, eq=False)
class _CountedBy:
    """The values to count a column by."""

    column: _ReadColumn
    level: int
    labels: tuple[str, ...]

    @classmethod
    def of(cls, column: _ReadColumn, name: str, level: int) -> "_CountedBy":
        tree = column.tree
        if not 0 <= level <= tree.height:
            raise ParameterError(f"column {name!r} has levels 0 to {tree.height}, not {level}")
        return cls(column, level, tree.labels[level])

    @cached_property
    def evenly(self) -> Floats:
        """Of every code, the shares of its leaves that each value has."""
        numbers = self.leaves
        return np.asarray(numbers / numbers.sum(axis=1, keepdims=True))

    @cached_property
    def fitting(self) -> Floats:
        """Of every code, the share of each value's leaves that it may be."""
        values = np.bincount(self.column.tree.maps[self.level], minlength=len(self.labels))
        return np.asarray(self.leaves / values)

    @cached_property
    def leaves(self) -> Floats:
        """How many leaves every code has of each value.

        A missing value is one of several leaves in "*" alone, and hardly ever meant.
        """
        tree = self.column.tree
        sets = self.column.sets
        if tree.has_missing:
            several = sets[:, :-1].any(axis=1)
            sets = sets.copy()
            sets[several, -1] = False
        # Leaves lie in tree order, so that the leaves of a value are hardly ever apart.
        values = np.asarray(tree.maps[self.level], np.int64)
        starts = np.flatnonzero(np.diff(values, prepend=-1))
        runs = np.add.reduceat(sets, starts, axis=1, dtype=np.int64)
        numbers = np.zeros((len(sets), len(self.labels)))
        np.add.at(numbers.T, values[starts], runs.T)
        return numbers


def _shown(release: Any) -> tuple[Table, list[str]]:
    """The released rows as texts, and the column that says how often each is there, if any."""
    frame = release.rows if isinstance(release, Release) else release
    if isinstance(frame, Table):
        return frame, []
    names = as_table(frame).names
    counted = isinstance(release, Release) and release.certificate.parameters.get("counts")
    return as_table(frame, types=dict.fromkeys(names, Kind.TEXT)), [COUNT] if counted else []


def _leaves_of(labels: Sequence[str], tree: Hierarchy, name: str, mixed: bool) -> Bools:
    """Which leaves every released text of a column may be."""
    shown = set(labels)
    whole = [level for level, texts in enumerate(tree.labels) if shown <= set(texts)]
    # A text may name values of several levels: prefer the level that has them all.
    texts = Texts.of(tree, whole[0] if whole and not mixed else None)
    read = [texts(label) for label in labels]
    sets = [leaves for leaves in read if leaves is not None and leaves.any()]
    if len(sets) < len(read):
        unread = plural(len(read) - len(sets), "released value")
        raise HierarchyError(
            f"{unread} not in its hierarchy at any level",
            "give the hierarchy the release was made with",
            where=f"column {name!r}",
        )
    return np.array(sets, dtype=np.bool_).reshape(len(labels), len(tree.maps[0]))


# What finer rows leave over


@dataclass(frozen=True)
class _Chain:
    """The nodes that a tree of refinements goes through, as its certificate says."""

    steps: tuple[tuple[str, int], ...]
    ceiling: Mapping[str, int]

    @classmethod
    def of(cls, release: Any) -> "_Chain | None":
        """None where a release was not made by a tree, or nothing says so."""
        if not isinstance(release, Release):
            return None
        certificate = release.certificate
        tree = certificate.derived.get("tree")
        if not tree:
            return None
        steps = tuple((str(name), int(level)) for name, level in tree["steps"])
        return cls(steps, certificate.parameters.get("ceiling") or {})

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are refined."""
        return tuple(dict.fromkeys(name for name, _ in self.steps))

    def nodes(self, columns: Mapping[str, _ReadColumn]) -> list[dict[str, int]]:
        """The levels of these columns after 0, 1, 2, … steps."""
        nodes = [{name: self.ceiling.get(name, columns[name].tree.height) for name in self.names}]
        for name, level in self.steps:
            nodes.append({**nodes[-1], name: level})
        return nodes

    def left_over(
        self, columns: Mapping[str, _ReadColumn], fixed: Sequence[Ints]
    ) -> Iterator[tuple[str, Ints, Bools]]:
        """For every step the rows that it left behind, and which leaves of its column they lack.

        These rows are at the node before the step. What they lack is what passed: the parts of
        their box that some finer row is in. `fixed` has the codes of columns that are not refined.
        """
        nodes = self.nodes(columns)
        depth = _depth(columns, nodes)
        first = {name: columns[name].first for name in self.names}
        for turn, (name, level) in enumerate(self.steps):
            behind = np.flatnonzero(depth == turn)
            beyond = np.flatnonzero(depth > turn)
            if not len(behind) or not len(beyond):
                continue
            at = nodes[turn].items()
            cells = [columns[each].tree.maps[height][first[each]] for each, height in at]
            _, box = np.unique(np.stack([*cells, *fixed], axis=1), axis=0, return_inverse=True)
            tree = columns[name].tree
            taken = np.zeros((int(box.max()) + 1, tree.cardinality(level)), dtype=np.bool_)
            taken[box[beyond], tree.maps[level][first[name][beyond]]] = True
            yield name, behind, taken[box[behind]][:, tree.maps[level]]


def _depth(columns: Mapping[str, _ReadColumn], nodes: Sequence[Mapping[str, int]]) -> Ints:
    """How many steps every row has taken: the last node whose values it has."""
    names = [*nodes[0]]
    rows = len(columns[names[0]].codes)
    depth = np.full(rows, -1, dtype=np.int64)
    sizes = {name: columns[name].sets.sum(axis=1)[columns[name].codes] for name in names}
    for turn, node in enumerate(nodes):
        fits = np.ones(rows, dtype=np.bool_)
        for name, level in node.items():
            tree = columns[name].tree
            covered = np.bincount(tree.maps[level], minlength=tree.cardinality(level))
            fits &= sizes[name] == covered[tree.maps[level][columns[name].first]]
        depth[fits] = turn
    return depth
