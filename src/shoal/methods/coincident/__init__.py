"""Coincident generalisation (Zhang, chapter 5): groups that show all there is to know about who has
which value.

People are put into groups of equal size by their quasi-identifying values alone (`grouping`), and
groups merge by a rule that is the same for all who end up in one (`schemes`). So what someone who
knows the algorithm believes about a person is what the group
shows, no more: docs/proofs/coincident.md. Uses `privacy.models` and `chance`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import Codes, Counts, group, ranks, smallest
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Role, Table
from shoal.errors import InfeasibleError, ParameterError, listed, plural
from shoal.exact.numbers import whole
from shoal.lattice import Lattice
from shoal.methods import Progress, Schema, begin, conjunction, short_names, syntactic
from shoal.methods.axes import Axis, axis_of
from shoal.methods.coincident.grouping import ORDERS, Order, by_curve, by_splits, in_order
from shoal.methods.coincident.schemes import (
    LEFT_OUT,
    SCHEMES,
    Scheme,
    best_depth,
    merged,
    shaped,
)
from shoal.methods.entry import AsViews, Entry
from shoal.privacy.models import DeltaPresence, Model, bound, holds_all
from shoal.privacy.promises import Coincidence, Promise
from shoal.releases.certificate import Certificate, certify
from shoal.releases.facts import Facts
from shoal.releases.layout import GROUP, released
from shoal.releases.release import Release

__all__ = ["GROUP", "Coincident", "fewest", "satisfied"]

_OWN = "\0group"  # no column of a table is called so

MANY = 200_000
"""Records above which people are put along a curve if nothing else is asked for: splits take twice
as long (measured).
"""

Ranges = Literal["narrower", "boundary", "hierarchy"]
RANGES: tuple[Ranges, ...] = ("narrower", "boundary", "hierarchy")

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@typed
@dataclass(frozen=True)
class Coincident:
    """Groups that satisfy models of the sensitive values, also against someone who knows the
    algorithm.

    models: what every group must satisfy, such as "3-diversity of ill"; models of how values are
    spread in a group
    size: how many people a group has to start with; by itself twice as many as the models ask for
    at least
    scheme: "forest" (one tree of nearly all groups), "UU" or "UA" (a tree of pairs, of as few or as
        many groups as can be), or "interleaved"
    depth: how often groups merge two by two before more than two do; by itself as often as leaves
    few groups over
    order: how groups are formed: by balanced "splits", or along a "curve" through the hierarchies,
        which is faster; by itself splits up to `MANY` records, which everyone may count, and where
        `ranges` needs them
    ranges: what a group shows of a column: "boundary", as far as the splits reach that made its
        parts; "hierarchy", the finest value that all its people have in common; or, by itself where
        there are splits, the "narrower" of both
    spare: what does not fit the tree: "groups" that are safe as they are stay so, and if there are
        too few, groups drawn at random are left out; or "records" are left out from the beginning,
        drawn at random
    unit: the identifying column that tells whose rows belong together; one row of each person is
    drawn, and only that is used
    """

    models: tuple[Model, ...]
    size: int | None = None
    scheme: Scheme = "forest"
    depth: int | None = None
    order: Order | None = None
    ranges: Ranges | None = None
    spare: Literal["groups", "records"] = "groups"
    unit: str | None = None

    name: ClassVar[str] = "coincident"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", conjunction(self.models))
        if any(isinstance(model, DeltaPresence) for model in self.models):
            raise ParameterError(
                "presence is about who is in the table, which everyone may know here; take models of values"
            )
        if self.size is None:
            object.__setattr__(self, "size", 2 * fewest(self.models))
        whole(self.size, "size", 2)
        if self.depth is not None:
            whole(self.depth, "depth", 0)
        if self.scheme not in SCHEMES:
            raise ParameterError(f"scheme={self.scheme!r} is unknown; known are {listed(SCHEMES)}")
        if self.order not in (None, *ORDERS):
            raise ParameterError(f"order={self.order!r} is unknown; known are {listed(ORDERS)}")
        if self.ranges not in (None, *RANGES):
            raise ParameterError(f"ranges={self.ranges!r} is unknown; known are {listed(RANGES)}")
        if self.ranges in ("boundary", "narrower") and self.order == "curve":
            raise ParameterError(
                "a curve has no boundaries to show; take `ranges` 'hierarchy', or `order` 'splits'"
            )
        if self.spare not in ("groups", "records"):
            raise ParameterError(f"spare={self.spare!r}; it takes 'groups' or 'records'")
        if self.spare == "records" and self.scheme in ("UU", "UA"):
            raise ParameterError(
                f"{self.scheme} chooses by which groups are safe what it leaves out of its tree; leave `spare` out"
            )
        if self.scheme == "interleaved" and self.people % 2:
            raise ParameterError("interleaved groups are halved; give an even `size`")
        if self.depth is not None and self.depth > 40:
            raise ParameterError(
                "depth is above 40: a tree of so many groups holds more people than there are; take less"
            )

    @property
    def people(self) -> int:
        """How many people a group has to start with."""
        return whole(self.size, "size", 2)

    def halvings(self, records: int) -> int:
        """How often groups of that many records merge two by two, at most."""
        if self.depth is not None:
            return self.depth
        return best_depth(records // self.people, self.scheme)

    def promise(self, schema: Schema) -> Promise:
        """That the models hold of what can be inferred, not only of what is seen."""
        syntactic(self.models, schema, self.unit)
        if GROUP in schema.roles:
            raise ParameterError(
                f"the table has a column {GROUP!r}, which the release adds; rename it"
            )
        for name in schema.having(Role.QUASI):
            schema.public(name)
        schema.require_declared()  # else the type of a column could tell of a record that is left out
        return Coincidence(short_names(self.models), self.unit)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The records in groups.

        Fewer than `size` of them, drawn at random, are left out, so that groups are even.
        """
        job = begin(self, table, chance, progress)
        table, chance, said = job.table, job.chance, job.progress
        said(0, 3, "ordering people")
        order = self.order or (
            "curve" if self.ranges in (None, "hierarchy") and table.rows > MANY else "splits"
        )
        ranges = self.ranges or ("narrower" if order == "splits" else "hierarchy")
        method = replace(
            self,
            models=tuple(bound(model, table) for model in self.models),
            order=order,
            ranges=ranges,
        )
        _require_whole(table, method)
        people = _People.of(table, method, chance)
        said(1, 3, "merging groups")
        halves = people.grouped(chance)
        said(2, 3, "merging groups")
        made = people.laid_out(halves, chance)
        said(3, 3, "merging groups")
        paper = certify(table, method, job.promise, chance)
        return Release(
            made,
            replace(paper, columns=_columns(paper)),
            Facts(
                records=table.rows,
                suppressed=table.rows - int(people.sizes[halves != LEFT_OUT].sum()),
                groups=int(halves.max(initial=-1)) + 1,
            ),
        )


def fewest(models: Sequence[Model]) -> int:
    """How many people a group must have at least to satisfy some models."""
    return max(
        [
            1,
            *(
                ceil(Fraction(getattr(m, one)))
                for m in models
                for one in ("k", "l", "p")
                if hasattr(m, one)
            ),
        ]
    )


def satisfied(
    models: Sequence[Model],
    own: npt.NDArray[Any],
    groups: int,
    columns: Mapping[str, tuple[npt.NDArray[Any], int]],
    count: Ints | None = None,
) -> Bools:
    """Which of so many groups satisfy all models, given the group of every row, and codes of
    columns and how many there are.

    Rows of no group, which have the number of groups, are one more, so that shares of all are
    right.
    """
    counts = group(
        [_OWN, *columns],
        [own.astype(smallest(groups + 1)), *(codes for codes, _ in columns.values())],
        [groups + 1, *(card for _, card in columns.values())],
        count,
    )
    tree = Hierarchy((("",) * (groups + 1),), (np.arange(groups + 1, dtype=smallest(groups + 1)),))
    return holds_all(models, Lattice(counts, {_OWN: tree}).groups((0,)))[:groups]


def _require_whole(table: Table, method: Coincident) -> None:
    """InfeasibleError before anything is drawn if not even all records satisfy the models, which
    the bag alone tells.
    """
    names = sorted({name for model in method.models for name in model.columns})
    bag = table.count(names)
    columns = dict(zip(names, zip(bag.codes, bag.cards, strict=True), strict=True))
    everybody = np.zeros(bag.distinct, dtype=np.int64)
    if table.rows and not satisfied(method.models, everybody, 1, columns, bag.count).all():
        raise InfeasibleError(
            f"even all records together do not satisfy {' and '.join(map(str, method.models))}; ask for less"
        )


def _columns(paper: Certificate) -> list[Any]:
    return [
        {"name": GROUP, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value},
        *paper.columns,
    ]


@dataclass(frozen=True, eq=False)
class _People:
    """The records that are released, as distinct rows, in an order in which groups to start with
    follow each other.
    """

    table: Table
    method: Coincident
    rows: Counts
    axes: Sequence[Axis]
    record: Ints
    reach: tuple[Codes, Codes] | None = None
    """How far the part reaches that splits made, for every column and group to start with."""

    @classmethod
    def of(cls, table: Table, method: Coincident, chance: Chance) -> "_People":
        """People by their quasi-identifying values.

        Of those who have the same, it is drawn who comes where.
        """
        quasi = table.quasi
        others = [name for name in released(table) if name not in quasi]
        # In the order of their values, whatever that of the input.
        rows = table.count([*quasi, *others], dict.fromkeys(quasi, 0))
        number = table.rows // method.people
        if method.spare == "records":
            number = shaped(number, method.scheme, method.halvings(table.rows))[0]
        if table.rows and not number:
            blocks = 3 if method.scheme == "interleaved" and method.spare == "records" else 1
            raise InfeasibleError(
                f"the table has fewer than {blocks * method.people} records, which {plural(blocks, 'group')} have to start with; "
                "take a smaller `size`"
            )
        left_out = chance.choice(table.rows, table.rows - number * method.people).astype(np.int64)
        record = np.delete(np.repeat(np.arange(rows.distinct), rows.count), left_out)
        axes = [axis_of(table, name, "boundary", (), whole=True) for name in quasi]
        if not number:
            return cls(table, method, rows, axes, record)
        first = np.ones(rows.distinct, dtype=np.bool_)
        first[1:] = np.any(
            [column[1:] != column[:-1] for column in rows.codes[: len(quasi)]], axis=0
        )
        starts, cell = (
            np.flatnonzero(first),
            (np.cumsum(first) - 1).take(record),
        )  # rows with the same values are neighbours
        record = record.take(_by_lot(cell, chance))
        people = np.bincount(cell, minlength=len(starts))
        leaves = tuple(column.take(starts) for column in rows.codes[: len(quasi)])
        cells = Counts(tuple(quasi), leaves, tuple(axis.size for axis in axes), people)
        if method.order == "curve":
            runs = by_curve(cells, [table.hierarchy(name) for name in quasi])
        else:
            places = tuple(
                axis.place.take(column) for axis, column in zip(axes, leaves, strict=True)
            )
            runs = by_splits(
                replace(cells, codes=places), method.people, [axis.ends for axis in axes]
            )
        record = record.take(_places(runs.rows, runs.counts))
        if (
            method.ranges == "hierarchy"
            or runs.part is None
            or runs.low is None
            or runs.high is None
        ):
            return cls(table, method, rows, axes, record)
        starting = np.searchsorted(
            np.cumsum(runs.counts), np.arange(number) * method.people, side="right"
        )
        part = runs.part.take(starting)  # no part ends within a group
        return cls(
            table,
            method,
            rows,
            axes,
            record,
            (runs.low.take(part, axis=1), runs.high.take(part, axis=1)),
        )

    @cached_property
    def halves(self) -> Ints:
        """Where every half of a group to start with begins."""
        size = self.method.people
        starts: Ints = np.add.outer(
            np.arange(0, len(self.record), size), np.array([0, size - size // 2])
        )
        return starts.ravel()

    @cached_property
    def half(self) -> Ints:
        """The half that every record is in."""
        return np.repeat(np.arange(len(self.halves)), self.sizes)

    @cached_property
    def sizes(self) -> Ints:
        """How many records every half has."""
        return np.diff(self.halves, append=len(self.record))

    def grouped(self, chance: Chance) -> Ints:
        """The number of the group of every half."""
        if not len(self.record):
            return np.zeros(0, dtype=np.int64)
        names = sorted({name for model in self.method.models for name in model.columns})
        found = {name: _values(self.table, name, self.rows) for name in names}
        carried = {name: (codes.take(self.record), card) for name, (codes, card) in found.items()}

        def safe(numbers: Ints, groups: int) -> Bools:
            own, there = numbers.take(self.half), carried
            if LEFT_OUT in numbers:
                seen = own != LEFT_OUT
                own = own[seen]
                there = {name: (codes[seen], card) for name, (codes, card) in carried.items()}
            own = np.where(own < 0, groups, own).astype(smallest(groups + 1))
            return satisfied(self.method.models, own, groups, there)

        depth = self.method.halvings(self.table.rows)
        return merged(len(self.halves) // 2, safe, self.method.scheme, depth, chance)

    def laid_out(self, groups: Ints, chance: Chance) -> Any:
        """The released columns: groups in the order of what they show, or by lot, and their records
        by values.
        """
        table, number, names = self.table, int(groups.max(initial=-1)) + 1, released(self.table)
        order = np.flatnonzero(groups != LEFT_OUT)
        order = order.take(in_order(groups.take(order)))
        starts = np.searchsorted(groups.take(order), np.arange(number))
        labels = {
            axis.name: self._shown(column, order, starts) for column, axis in enumerate(self.axes)
        }
        by_text = [
            np.argsort(np.array(sorted(range(len(texts)), key=lambda at: _in_words(texts[at]))))
            for texts, _ in labels.values()
        ]
        alike = ranks(
            [rank.take(codes) for rank, (_, codes) in zip(by_text, labels.values(), strict=True)],
            list(map(len, by_text)),
        )
        by_label = _by_lot(alike, chance)
        rank = np.empty(number, dtype=smallest(max(number, 1)))
        rank[by_label] = np.arange(number)
        others = {name: table.keys(name) for name in names if name not in labels}
        of_record = groups.take(self.half)
        record = self.record[of_record != LEFT_OUT]
        codes = [self.rows.codes[self.rows.names.index(name)].take(record) for name in others]
        own = rank.take(of_record[of_record != LEFT_OUT])
        rows = group(
            [GROUP, *others],
            [own, *codes],
            [max(number, 1), *(max(len(keys), 1) for keys in others.values())],
        )
        own = np.repeat(rows.codes[0], rows.count).astype(np.int64)
        made: dict[str, Any] = {GROUP: (None, own + 1)}
        for name in names:
            if name in labels:
                texts, places = labels[name]
                made[name] = texts, places.take(by_label).astype(smallest(len(texts))).take(own)
            else:
                made[name] = others[name], np.repeat(rows.codes[rows.names.index(name)], rows.count)
        return table.like(made)

    def _shown(self, column: int, order: Ints, starts: Ints) -> tuple[list[str], Ints]:
        """What groups show of a column: texts, and the place of every group's among them.

        Their halves are from starts on.
        """
        axis, texts = self.axes[column], list[str]()
        shown, wide = np.zeros(len(starts), dtype=np.int64), np.full(len(starts), axis.size + 1)
        if self.method.ranges != "boundary":
            leaves = self.rows.codes[column].take(self.record.reshape(-1, self.method.people).T)
            first = self.method.people - self.method.people // 2
            low, high = (
                _extreme(
                    of,
                    np.stack([of.reduce(leaves[:first]), of.reduce(leaves[first:])], axis=1).take(
                        order
                    ),
                    starts,
                )
                for of in (np.minimum, np.maximum)
            )
            texts, shown, wide = _common(self.table.hierarchy(axis.name), low, high)
        if self.reach is None:
            return texts, shown
        low, high = (ends[column].take(order // 2) for ends in self.reach)
        low, high = (
            _extreme(np.minimum, low, starts).astype(np.int64),
            _extreme(np.maximum, high, starts).astype(np.int64),
        )
        narrow = np.flatnonzero(high - low + 1 < wide)
        found, place = np.unique((low * axis.size + high)[narrow], return_inverse=True)
        known = {text: at for at, text in enumerate(texts)}
        own = [
            known.setdefault(axis.text(*divmod(each, axis.size)), len(known))
            for each in found.tolist()
        ]
        shown[narrow] = np.array(own, dtype=np.int64).take(place)
        return list(known), shown


def _in_words(text: str) -> tuple[list[str | int], str]:
    """To sort texts by their words, and by the value of numbers in them: anyone can tell that
    order.
    """
    return [
        int(part) if at % 2 else part for at, part in enumerate(re.split("([0-9]+)", text))
    ], text


def _by_lot(values: Ints, chance: Chance) -> Ints:
    """The places of values, smallest value first; the order of equal ones is drawn."""
    order = in_order(values)
    ranked = values.take(order)
    tied = np.zeros(len(values) + 1, dtype=np.bool_)
    tied[1:-1] = ranked[1:] == ranked[:-1]
    among = np.flatnonzero(tied[1:] | tied[:-1])
    drawn = order.take(among).take(chance.permutation(len(among)))
    order[among] = drawn.take(in_order(values.take(drawn)))  # those drawn first come first
    return order


def _places(rows: Ints, counts: Ints) -> Ints:
    """For people in the order of some runs of rows their places among all people sorted by row."""
    order = in_order(rows)
    upto = np.cumsum(counts.take(order))
    first = np.empty(len(rows), dtype=np.int64)
    first[order] = upto - counts.take(
        order
    )  # runs of one row follow each other there, and rows fill up one after the other
    ends = np.cumsum(counts)
    return np.repeat(first - (ends - counts), counts) + np.arange(int(counts.sum()))


def _values(table: Table, name: str, rows: Counts) -> tuple[npt.NDArray[Any], int]:
    """A column as the models expect it: leaves where it has a hierarchy, else its own codes.

    And how many there are.
    """
    codes = rows.codes[rows.names.index(name)]
    if name in table.hierarchies:
        return table.leaf_of(name)[codes], len(table.hierarchy(name).maps[0])
    return codes, max(len(table.keys(name)), 1)


def _extreme(of: np.ufunc, values: npt.NDArray[Any], starts: Ints) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = of.reduceat(values, starts) if len(starts) else values
    return found


def _common(
    hierarchy: Hierarchy, lowest: npt.NDArray[Any], highest: npt.NDArray[Any]
) -> tuple[list[str], Ints, Ints]:
    """The texts of all levels, and for every group the finest that its outermost leaves share, and
    how many leaves show it.
    """
    texts, by_level = hierarchy.texts()
    number = by_level.shape[1]
    pairs = np.unique(by_level * number + np.arange(number))  # several levels may have one text
    sizes = np.bincount(pairs // number, minlength=len(texts))
    shown = np.empty(len(lowest), dtype=np.int64)
    left = np.arange(len(lowest))
    for codes, places in zip(
        hierarchy.maps, by_level, strict=True
    ):  # leaves are in tree order: what the outermost share, all do
        low, high = codes.take(lowest.take(left)), codes.take(highest.take(left))
        same = left[low == high]
        shown[same] = places.take(lowest.take(same))
        left = left[low != high]
    return texts, shown, sizes.take(shown)


ENTRY = Entry(
    method=Coincident,
    summary="l-diversity that holds although everyone knows how groups are made",
    draft=(
        'models = ["?"]  # such as "3-diversity of NAME"; all: docs/models.md',
        "# size = 6  # people of a group to start with; else twice what models need",
        'scheme = "forest"  # or interleaved, UU, UA',
        '# order = "splits"  # or curve, which is faster; else by how many rows',
    ),
    subset=True,
    adds=(GROUP,),
    as_views=AsViews(mark=GROUP, drawn=True),
    own_ranges=True,
    leaves_out=True,
    proof="coincident",
)
