"""Coincident generalisation (Zhang, chapter 5): groups show all there is to know of their values.

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

from shoal.arguments import keep, typed
from shoal.chance import Chance
from shoal.counts import Codes, Counts, group, ranks, smallest
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.schema import Schema
from shoal.data.tables import Role, Table
from shoal.errors import InfeasibleError, ParameterError, listed, plural
from shoal.exact.numbers import whole
from shoal.lattice import Lattice
from shoal.methods.axes import Axis, axis_of
from shoal.methods.coincident.grouping import ORDERS, Order, Runs, by_curve, by_splits, in_order
from shoal.methods.coincident.schemes import (
    LEFT_OUT,
    SCHEMES,
    Scheme,
    best_depth,
    merged,
    shaped,
)
from shoal.methods.entry import AsViews, Entry, Guide
from shoal.methods.method import (
    Progress,
    begin,
    conjunction,
    require_records,
    short_names,
    syntactic,
)
from shoal.privacy.models import DeltaPresence, Model, bound, holds_all
from shoal.privacy.promises import Coincidence, Promise
from shoal.releases.certificate import Certificate, certify
from shoal.releases.facts import Facts
from shoal.releases.layout import GROUP, released
from shoal.releases.release import Release
from shoal.zones import brief

__all__ = ["GROUP", "Coincident", "fewest", "satisfied"]

_OWN = "\0group"
"""No column of a table has this name."""

MANY = 200_000
"""Records above which people are put along a curve if nothing else is asked for: splits take twice
as long (measured).
"""

Ranges = Literal["narrower", "boundary", "hierarchy"]
RANGES: tuple[Ranges, ...] = ("narrower", "boundary", "hierarchy")
Spare = Literal["groups", "records"]
SPARES: tuple[Spare, ...] = ("groups", "records")

MOST_HALVINGS = 40
"""With more, a tree holds more people than there are."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@typed
@brief
@dataclass(frozen=True, init=False)
class Coincident:
    """Groups that satisfy models of the sensitive values, even if the algorithm is known.

    models: what every group must satisfy, such as "3-diversity of ill"; models of how values are
        spread in a group
    size: how many people a group has to start with; by default twice as many as the models need
    scheme: "forest" (one tree of nearly all groups), "UU" or "UA" (a tree of pairs, of as few or as
        many groups as can be), or "interleaved"
    depth: how often groups merge two by two before more than two do; by default so that few groups
        are left over
    order: how groups are formed: by balanced "splits", or along a "curve" through the hierarchies,
        which is faster; by default splits up to `MANY` records, which everyone may count, and where
        `ranges` needs them
    ranges: what a group shows of a column: "boundary", as far as the splits reach that made its
        parts; "hierarchy", the finest value that all its people have in common; or, the default
        where there are splits, the "narrower" of both
    spare: what does not fit the tree: "groups" that are already safe are released, and if there are
        too few, groups drawn at random are left out; or "records" are left out from the beginning,
        drawn at random
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used
    """

    models: tuple[Model, ...]
    size: int
    scheme: Scheme
    depth: int | None
    order: Order | None
    ranges: Ranges | None
    spare: Spare
    unit: str | None

    name: ClassVar[str] = "coincident"

    def __init__(
        self,
        models: Sequence[Model | str],
        size: int | None = None,
        scheme: Scheme = "forest",
        depth: int | None = None,
        order: Order | None = None,
        ranges: Ranges | None = None,
        spare: Spare = "groups",
        unit: str | None = None,
    ) -> None:
        every = conjunction(models)
        if size is None:
            size = 2 * fewest(every)
        keep(
            self,
            models=every,
            size=whole(size, "size", 2),
            scheme=scheme,
            depth=None if depth is None else whole(depth, "depth", 0),
            order=order,
            ranges=ranges,
            spare=spare,
            unit=unit,
        )
        if any(isinstance(model, DeltaPresence) for model in every):
            raise ParameterError(
                "presence is about who is in the table, which everyone may know here",
                "take models of values",
            )
        _require_known("scheme", scheme, SCHEMES)
        _require_known("order", order, (None, *ORDERS))
        _require_known("ranges", ranges, (None, *RANGES))
        _require_known("spare", spare, SPARES)
        self._require_sense()

    def _require_sense(self) -> None:
        """ParameterError if the parameters do not go together."""
        if self.ranges in ("boundary", "narrower") and self.order == "curve":
            raise ParameterError(
                "a curve has no boundaries to show",
                "take `ranges` 'hierarchy', or `order` 'splits'",
            )
        if self.spare == "records" and self.scheme in ("UU", "UA"):
            raise ParameterError(
                f"{self.scheme} chooses what it leaves out of its tree by which groups are safe",
                "leave `spare` out",
            )
        if self.scheme == "interleaved" and self.size % 2:
            raise ParameterError("interleaved groups are halved", "give an even `size`")
        if self.depth is not None and self.depth > MOST_HALVINGS:
            raise ParameterError(
                f"is above {MOST_HALVINGS}: a tree of that many groups holds more people than "
                "there are",
                "give a smaller one",
                option="depth",
            )

    def halvings(self, records: int) -> int:
        """How often groups of that many records merge two by two, at most."""
        if self.depth is not None:
            return self.depth
        return best_depth(records // self.size, self.scheme)

    def promise(self, schema: Schema) -> Promise:
        """That the models hold of what can be inferred, not only of what is seen."""
        syntactic(self.models, schema, self.unit)
        if GROUP in schema.roles:
            raise ParameterError(
                f"the table has a column {GROUP!r}, which the release adds", "rename it"
            )
        for name in schema.having(Role.QUASI):
            schema.public(name)
        # Else the type of a column could reveal a record that is left out.
        schema.require_declared()
        return Coincidence(short_names(self.models), self.unit)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The records in groups.

        Fewer than `size` of them, drawn at random, are left out, so that groups are even.
        """
        require_records(table)
        job = begin(self, table, chance, progress)
        table = job.table
        job.progress(0, 3, "ordering people")
        method = self._decided(table)
        _require_whole(table, method)
        people = _Ordered.of(table, method, job.chance)
        job.progress(1, 3, "merging groups")
        groups = people.grouped(job.chance)
        job.progress(2, 3, "merging groups")
        laid = people.laid_out(groups, job.chance)
        job.progress(3, 3, "merging groups")
        certificate = certify(table, method, job.promise, job.chance)
        facts = Facts(
            records=table.rows,
            suppressed=table.rows - int(people.sizes[groups != LEFT_OUT].sum()),
            groups=int(groups.max(initial=-1)) + 1,
        )
        return Release(laid, replace(certificate, columns=_columns(certificate)), facts)

    def _decided(self, table: Table) -> "Coincident":
        """The method with its models bound to a table, and with an order and ranges."""
        order = self.order
        if order is None:
            needs_splits = self.ranges not in (None, "hierarchy")
            order = "splits" if needs_splits or table.rows <= MANY else "curve"
        ranges = self.ranges or ("narrower" if order == "splits" else "hierarchy")
        models = tuple(bound(model, table) for model in self.models)
        return replace(self, models=models, order=order, ranges=ranges)


def _require_known(option: str, given: str | None, known: Sequence[str | None]) -> None:
    """ParameterError if an option is not one of those known."""
    if given not in known:
        names = [name for name in known if name is not None]
        raise ParameterError(
            "is unknown", f"known are {listed(names)}", option=option, given=repr(given)
        )


def fewest(models: Sequence[Model]) -> int:
    """How many people a group must have at least to satisfy some models."""
    numbers = [1]
    for model in models:
        given = [name for name in ("k", "l", "p") if hasattr(model, name)]
        numbers += [ceil(Fraction(getattr(model, name))) for name in given]
    return max(numbers)


def satisfied(
    models: Sequence[Model],
    own: npt.NDArray[Any],
    groups: int,
    columns: Mapping[str, tuple[npt.NDArray[Any], int]],
    count: Ints | None = None,
) -> Bools:
    """Which of that many groups satisfy all models.

    `own` is the group of every row, and `columns` has codes and how many of these there are. Rows
    of no group, which have the number of groups, are one more, so that shares of all are right.
    """
    counts = group(
        [_OWN, *columns],
        [own.astype(smallest(groups + 1)), *(codes for codes, _ in columns.values())],
        [groups + 1, *(card for _, card in columns.values())],
        count,
    )
    labels = ("",) * (groups + 1)
    numbers = np.arange(groups + 1, dtype=smallest(groups + 1))
    lattice = Lattice(counts, {_OWN: Hierarchy((labels,), (numbers,))})
    return holds_all(models, lattice.groups((0,)))[:groups]


def _require_whole(table: Table, method: Coincident) -> None:
    """InfeasibleError, before anything is drawn, if not even all records satisfy the models.

    That depends on the bag of values alone.
    """
    names = sorted({name for model in method.models for name in model.columns})
    bag = table.count(names)
    columns = dict(zip(names, zip(bag.codes, bag.cards, strict=True), strict=True))
    everybody = np.zeros(bag.distinct, dtype=np.int64)
    if table.rows and not satisfied(method.models, everybody, 1, columns, bag.count).all():
        raise InfeasibleError(
            f"even all records together do not satisfy {' and '.join(map(str, method.models))}",
            "ask for less",
        )


def _columns(certificate: Certificate) -> list[Any]:
    added = {"name": GROUP, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}
    return [added, *certificate.columns]


@dataclass(frozen=True, eq=False)
class _Ordered:
    """The released records, as distinct rows; groups to start with follow each other."""

    table: Table
    method: Coincident
    rows: Counts
    axes: Sequence[Axis]
    record: Ints
    reach: tuple[Codes, Codes] | None = None
    """How far the part reaches that splits made, for every column and group to start with."""

    @classmethod
    def of(cls, table: Table, method: Coincident, chance: Chance) -> "_Ordered":
        """People by their quasi-identifying values.

        Of those who have the same, it is drawn who comes where.
        """
        quasi = table.quasi
        others = [name for name in released(table) if name not in quasi]
        # In the order of their values, whatever that of the input.
        rows = table.count([*quasi, *others], dict.fromkeys(quasi, 0))
        number = table.rows // method.size
        if method.spare == "records":
            number = shaped(number, method.scheme, method.halvings(table.rows))[0]
        if table.rows and not number:
            blocks = 3 if method.scheme == "interleaved" and method.spare == "records" else 1
            raise InfeasibleError(
                f"the table has fewer than {blocks * method.size} records, which "
                f"{plural(blocks, 'group')} have to start with",
                "take a smaller `size`",
            )
        left_out = chance.choice(table.rows, table.rows - number * method.size).astype(np.int64)
        record = np.delete(np.repeat(np.arange(rows.distinct), rows.count), left_out)
        axes = [axis_of(table, name, "boundary", (), whole=True) for name in quasi]
        if not number:
            return cls(table, method, rows, axes, record)
        # Rows with the same values are neighbours.
        first = np.ones(rows.distinct, dtype=np.bool_)
        differs = [column[1:] != column[:-1] for column in rows.codes[: len(quasi)]]
        first[1:] = np.any(differs, axis=0)
        starts = np.flatnonzero(first)
        cell = (np.cumsum(first) - 1).take(record)
        record = record.take(_by_lot(cell, chance))
        people = np.bincount(cell, minlength=len(starts))
        leaves = tuple(column.take(starts) for column in rows.codes[: len(quasi)])
        cells = Counts(tuple(quasi), leaves, tuple(axis.size for axis in axes), people)
        if method.order == "curve":
            runs = by_curve(cells, [table.hierarchy(name) for name in quasi])
        else:
            along = zip(axes, leaves, strict=True)
            places = tuple(axis.place.take(column) for axis, column in along)
            ends = [axis.ends for axis in axes]
            runs = by_splits(replace(cells, codes=places), method.size, ends)
        record = record.take(_places(runs.rows, runs.counts))
        reach = None if method.ranges == "hierarchy" else _reach(runs, number, method.size)
        return cls(table, method, rows, axes, record, reach)

    @cached_property
    def halves(self) -> Ints:
        """Where every half of a group to start with begins."""
        size = self.method.size
        groups = np.arange(0, len(self.record), size)
        starts: Ints = np.add.outer(groups, np.array([0, size - size // 2]))
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
        every = {}
        for name in names:
            codes, card = _values(self.table, name, self.rows)
            every[name] = codes.take(self.record), card

        def safe(numbers: Ints, groups: int) -> Bools:
            own = numbers.take(self.half)
            columns = every
            if LEFT_OUT in numbers:
                seen = own != LEFT_OUT
                own = own[seen]
                columns = {name: (codes[seen], card) for name, (codes, card) in every.items()}
            own = np.where(own < 0, groups, own).astype(smallest(groups + 1))
            return satisfied(self.method.models, own, groups, columns)

        depth = self.method.halvings(self.table.rows)
        return merged(len(self.halves) // 2, safe, self.method.scheme, depth, chance)

    def laid_out(self, groups: Ints, chance: Chance) -> Any:
        """The released columns: groups by what they show, or by lot, and records by values."""
        table = self.table
        number = int(groups.max(initial=-1)) + 1
        names = released(self.table)
        order = np.flatnonzero(groups != LEFT_OUT)
        order = order.take(in_order(groups.take(order)))
        starts = np.searchsorted(groups.take(order), np.arange(number))
        labels = {
            axis.name: self._shown(column, order, starts) for column, axis in enumerate(self.axes)
        }
        by_text = [_text_ranks(texts).take(codes) for texts, codes in labels.values()]
        alike = ranks(by_text, [len(texts) for texts, _ in labels.values()])
        by_label = _by_lot(alike, chance)
        rank = np.empty(number, dtype=smallest(max(number, 1)))
        rank[by_label] = np.arange(number)
        others = {name: table.keys(name) for name in names if name not in labels}
        of_record = groups.take(self.half)
        record = self.record[of_record != LEFT_OUT]
        codes = [self.rows.column(name).take(record) for name in others]
        own = rank.take(of_record[of_record != LEFT_OUT])
        rows = group(
            [GROUP, *others],
            [own, *codes],
            [max(number, 1), *(max(len(keys), 1) for keys in others.values())],
        )
        own = np.repeat(rows.codes[0], rows.count).astype(np.int64)
        laid: dict[str, Any] = {GROUP: (None, own + 1)}
        for name in names:
            if name in labels:
                texts, places = labels[name]
                shown = places.take(by_label).astype(smallest(len(texts)))
                laid[name] = texts, shown.take(own)
            else:
                laid[name] = others[name], np.repeat(rows.column(name), rows.count)
        return table.like(laid)

    def _shown(self, column: int, order: Ints, starts: Ints) -> tuple[list[str], Ints]:
        """What groups show of a column: texts, and the place of every group's among them.

        `starts` says where the halves of each begin.
        """
        axis = self.axes[column]
        texts = list[str]()
        shown = np.zeros(len(starts), dtype=np.int64)
        wide = np.full(len(starts), axis.size + 1)
        if self.method.ranges != "boundary":
            leaves = self.rows.codes[column].take(self.record.reshape(-1, self.method.size).T)
            first = self.method.size - self.method.size // 2
            low, high = (
                _extreme(of, _by_half(of, leaves, first).take(order), starts)
                for of in (np.minimum, np.maximum)
            )
            texts, shown, wide = _common(self.table.hierarchy(axis.name), low, high)
        if self.reach is None:
            return texts, shown
        lows, highs = (ends[column].take(order // 2) for ends in self.reach)
        low = _extreme(np.minimum, lows, starts).astype(np.int64)
        high = _extreme(np.maximum, highs, starts).astype(np.int64)
        narrow = np.flatnonzero(high - low + 1 < wide)
        ranges, place = np.unique((low * axis.size + high)[narrow], return_inverse=True)
        known = {text: at for at, text in enumerate(texts)}
        numbers = []
        for pair in ranges.tolist():
            text = axis.text(*divmod(pair, axis.size))
            numbers.append(known.setdefault(text, len(known)))
        shown[narrow] = np.array(numbers, dtype=np.int64).take(place)
        return list(known), shown


def _reach(runs: Runs, groups: int, size: int) -> tuple[Codes, Codes] | None:
    """How far the parts reach that groups of a size are in; None where no splits made them."""
    if runs.part is None or runs.low is None or runs.high is None:
        return None
    upto = np.cumsum(runs.counts)
    # No part ends within a group.
    part = runs.part.take(np.searchsorted(upto, np.arange(groups) * size, side="right"))
    return runs.low.take(part, axis=1), runs.high.take(part, axis=1)


def _text_ranks(texts: Sequence[str]) -> Ints:
    """The rank of every text, sorted by words."""
    order = sorted(range(len(texts)), key=lambda at: _in_words(texts[at]))
    return np.argsort(np.array(order))


def _in_words(text: str) -> tuple[list[str | int], str]:
    """A key that sorts texts by their words, and by the value of numbers in them.

    That order is public.
    """
    parts = enumerate(re.split("([0-9]+)", text))
    return [int(part) if at % 2 else part for at, part in parts], text


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
    # Runs of one row follow each other there, and rows fill up one after the other.
    first[order] = upto - counts.take(order)
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


def _by_half(of: np.ufunc, leaves: npt.NDArray[Any], first: int) -> npt.NDArray[Any]:
    """The smallest or largest leaf of every half; the first half has the first people."""
    return np.stack([of.reduce(leaves[:first]), of.reduce(leaves[first:])], axis=1)


def _extreme(of: np.ufunc, values: npt.NDArray[Any], starts: Ints) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = of.reduceat(values, starts) if len(starts) else values
    return found


def _common(
    hierarchy: Hierarchy, lowest: npt.NDArray[Any], highest: npt.NDArray[Any]
) -> tuple[list[str], Ints, Ints]:
    """The texts of all levels, each group's finest common one, and how many leaves show it.

    It is the finest that the outermost leaves share.
    """
    texts, by_level = hierarchy.texts()
    number = by_level.shape[1]
    pairs = np.unique(by_level * number + np.arange(number))  # several levels may have one text
    sizes = np.bincount(pairs // number, minlength=len(texts))
    shown = np.empty(len(lowest), dtype=np.int64)
    left = np.arange(len(lowest))
    # Leaves are in tree order: what the outermost share, all do.
    for codes, places in zip(hierarchy.maps, by_level, strict=True):
        low = codes.take(lowest.take(left))
        high = codes.take(highest.take(left))
        same = left[low == high]
        shown[same] = places.take(lowest.take(same))
        left = left[low != high]
    return texts, shown, sizes.take(shown)


ENTRY = Entry(
    method=Coincident,
    summary="l-diversity that holds although everyone knows how groups are made",
    draft=(
        'models = ["?"]  # such as "3-diversity of NAME"; all: docs/reference/models.md',
        "# size = 6  # people of a group to start with; else twice what models need",
        'scheme = "forest"  # or interleaved, UU, UA',
        '# order = "splits"  # or curve, which is faster; else by how many rows',
    ),
    guide=Guide(
        need="Membership is public, and l-diversity must hold though the algorithm is known",
        promise=(
            "Your group shows all that can be inferred about your value, also by those who "
            "know the algorithm."
        ),
        cost="Values become ranges; a few records are left out by lot",
        leaves_open="Membership; whoever knows others' values may infer more",
        example="A survey with one delicate question",
    ),
    subset=True,
    adds=(GROUP,),
    as_views=AsViews(mark=GROUP, drawn=True),
    own_ranges=True,
    leaves_out=True,
    proof="coincident",
)
