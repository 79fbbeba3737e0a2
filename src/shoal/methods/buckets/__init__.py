"""Buckets (Wang et al.): people with the number of a bucket, and buckets with sensitive values.

Everybody's other columns stay exact. Which sizes of buckets there are, and which values each holds,
follows from how often each value occurs (`settings`); who of those with a value goes where is
drawn. So nobody is linked to a value with more than its share of their bucket:
docs/proofs/buckets.md. Uses `privacy.limits` and `chance`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.arguments import keep, typed
from shoal.chance import Chance
from shoal.counts import Counts, group, smallest
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.schema import Schema
from shoal.data.tables import Role, Table
from shoal.errors import InfeasibleError, ParameterError, listed, plural
from shoal.exact.numbers import Exact, whole
from shoal.measure.buckets import excluded
from shoal.methods.buckets.filling import assigned, fakes, mixed, with_room
from shoal.methods.buckets.hiding import Hiding
from shoal.methods.buckets.problem import fitting
from shoal.methods.buckets.settings import Search, Setting, Solver
from shoal.methods.entry import AsViews, Entry, Guide
from shoal.methods.method import Progress, begin, require_records
from shoal.privacy.limits import BlockedValue, BucketLimits, Eligibility, Limits
from shoal.releases.certificate import Certificate, certify
from shoal.releases.facts import Facts
from shoal.releases.layout import COUNT, released
from shoal.releases.release import Release
from shoal.zones import brief, owner_only

__all__ = ["BUCKET", "Buckets", "BucketsFacts"]

BUCKET = "bucket"
"""The column of both released tables that says which people and which values belong together."""

Ints = npt.NDArray[np.int64]

_LARGEST = 1 << 62

_SELDOM = Fraction(1, 2)
"""Odds below which an owner is told that fakes hide a value less than others."""


@owner_only
@dataclass(frozen=True, kw_only=True)
class BucketsFacts(Facts):
    """How large the buckets are, what that costs, and what l-diversity would have done."""

    buckets: int
    bucket_loss: int
    bucket_gap: float | None
    """By how much of its loss another setting may be better, at most; None if that is unknown."""

    diversity: str

    def figures(self) -> Iterator[str]:
        records = plural(self.records, "record")
        buckets = plural(self.buckets, "bucket")
        error = self.bucket_loss / max(self.records - 1, 1)
        yield (f"{records} in {buckets}; loss {self.bucket_loss:,}, mean squared error {error:.4g}")
        if self.bucket_gap is not None:
            yield f"no other bucket sizes lose less than {1 - self.bucket_gap:.2%} of that"
        yield self.diversity


@typed
@brief
@dataclass(frozen=True, init=False)
class Buckets:
    """People with bucket numbers, and buckets with values, that keep a limit for every value.

    column: the sensitive column
    limits: how probable each of its values may become, at most
    solver: how bucket sizes are found: "optimal" (needs scipy), "multi", "two", or "anatomy", the
        baseline
    largest: the largest size of a bucket; the smallest that allows a setting unless given
    gap, seconds: how far from the least loss "optimal" may stop, and how long it may take
    within: levels of columns with a public hierarchy; only people who agree at these levels share a
        bucket
    fakes: how many values that nobody in it has are added to every bucket, against those who know
        some of its people
    associations: whether no fake is a value that somebody of the bucket is seen not to have
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used

    >>> from shoal import demo
    >>> people = demo.table()
    >>> limits = Limits.formula(4, "0.05")
    >>> hidden = ["patient", "postcode", "admitted", "stay", "insurance", "outcome"]
    >>> people = people.with_roles(
    ...     quasi=["age", "sex", "ward"], sensitive=["diagnosis"], identifying=hidden
    ... )
    >>> release = Buckets("diagnosis", limits, solver="two").release(people)
    >>> list(release.table.columns), list(release.further["buckets"].columns)
    (['age', 'sex', 'ward', 'bucket'], ['bucket', 'diagnosis', 'count'])
    """

    column: str
    limits: Limits
    solver: Solver
    largest: int | None
    gap: Fraction
    seconds: Fraction
    within: Mapping[str, int] | None
    fakes: int
    associations: bool
    unit: str | None

    name: ClassVar[str] = "buckets"

    def __init__(  # noqa: PLR0913  the parameters of the method
        self,
        column: str,
        limits: Limits,
        solver: Solver = "optimal",
        largest: int | None = None,
        gap: Exact = Fraction(1, 1000),
        seconds: Exact = 60,
        within: Mapping[str, int] | None = None,
        fakes: int = 0,
        associations: bool = False,
        unit: str | None = None,
    ) -> None:
        BucketLimits(column, limits, fakes)  # raises where these do not fit
        search = Search(solver, largest, gap, seconds, fakes)
        if associations and not fakes:
            raise ParameterError(
                "is about fakes, and there are none", "give `fakes` too", option="associations"
            )
        keep(
            self,
            column=column,
            limits=limits,
            solver=search.solver,
            largest=search.largest,
            gap=search.gap,
            seconds=search.seconds,
            within=within,
            fakes=search.fakes,
            associations=associations,
            unit=unit,
        )

    def promise(self, schema: Schema) -> BucketLimits:
        """F′-privacy of the column."""
        if schema.roles.get(self.column) is not Role.SENSITIVE:
            raise ParameterError(
                "is not a sensitive column",
                "give it that role",
                option="column",
                given=repr(self.column),
            )
        others = [name for name in schema.having(Role.SENSITIVE) if name != self.column]
        if others:
            raise ParameterError(
                f"{listed(others)} would be released unchanged beside people",
                "release one of several sensitive columns, and make the others identifying",
            )
        free = (None, Role.IDENTIFYING)
        taken = [name for name in (BUCKET, COUNT) if schema.roles.get(name) not in free]
        if taken:
            raise ParameterError(
                f"the release adds columns called {listed(taken)}", "rename those of the table"
            )
        if self.within is not None:
            if self.column in self.within:
                raise ParameterError(
                    f"names {self.column!r}, which is to be hidden",
                    "name columns that are released",
                    option="within",
                )
            _trees(schema, self.within)
        schema.require_unit(self.unit)
        limits = self.limits.keyed(schema.kinds[self.column])
        return BucketLimits(self.column, limits, self.fakes, self.unit)

    def beforehand(self, table: Table) -> tuple[str, ...]:
        """What the limits allow by how often values occur.

        InfeasibleError if no buckets can keep them.
        """
        eligible = self.eligibility(table)
        eligible.require()
        return tuple(eligible.concerns)

    def eligibility(self, table: Table) -> Eligibility:
        """Whether buckets can keep the limits, and which values prevent it: owner only.

        >>> from shoal import demo
        >>> people = demo.table()
        >>> hidden = [name for name in people.names if name != "diagnosis"]
        >>> people = people.with_roles(sensitive=["diagnosis"], identifying=hidden)
        >>> strict = Limits.each({"childbirth": "0.01"}, others=1)
        >>> list(Buckets("diagnosis", strict).eligibility(people).preventing)
        ['childbirth']
        """
        values = table.count([self.column], {})
        occurring = dict(zip(table.keys(self.column), values.count.tolist(), strict=True))
        eligible = self.promise(table.schema).limits.eligibility(occurring)
        if not self.within:
            return eligible
        return replace(eligible, blocked=tuple(self._blocked(table, eligible)))

    def _blocked(self, table: Table, eligible: Eligibility) -> Iterator[BlockedValue]:
        """The values with too large a share of some block, block by block."""
        people = _Records.of(table, self.column)
        block, blocks = self._blocks(people, table, table.schema)
        keys = table.keys(self.column)
        run = block * len(keys) + people.values
        inside = np.bincount(run, people.rows.count, blocks * len(keys))
        inside = inside.reshape(blocks, len(keys)).astype(np.int64)
        # Some row of every block, by which it is described.
        _, first = np.unique(block, return_index=True)
        for number, counts in enumerate(inside):
            total = int(counts.sum())
            for value, count in zip(keys, counts.tolist(), strict=True):
                share = Fraction(count, total)
                limit = eligible.shares[value][1]
                if share > limit:
                    agree = self._agree(people, table, int(first[number]))
                    yield BlockedValue(agree, value, share, limit)

    def _agree(self, people: "_Records", table: Table, row: int) -> dict[str, str]:
        """What the people of a block have in common, by one of its rows."""
        agree = {}
        for name, level in (self.within or {}).items():
            tree = table.hierarchy(name)
            leaf = table.leaf_of(name)[people.rows.column(name)[row]]
            agree[name] = tree.labels[level][tree.maps[level][leaf]]
        return agree

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The people by values and buckets, and the buckets with how often each value occurs."""
        require_records(table)
        job = begin(self, table, chance, progress)
        table, promise, chance = job.table, job.promise, job.chance
        job.progress(0, 3, "counting values")
        people = _Records.of(table, self.column)
        block, blocks = self._blocks(people, table, job.schema)
        keys = table.keys(self.column)
        run = block * len(keys) + people.values
        inside = np.bincount(run, people.rows.count, blocks * len(keys))
        inside = inside.reshape(blocks, len(keys)).astype(np.int64)
        occurring = dict(zip(keys, inside.sum(axis=0).tolist(), strict=True))
        eligible = promise.limits.eligibility(occurring)
        eligible.require()
        limits = list(promise.limits.of(occurring).values())  # every key occurs
        job.progress(1, 3, "finding bucket sizes")
        settings = self._settings(inside, limits)
        job.progress(2, 3, "filling buckets")
        filled = _filled(settings, limits, self.fakes, chance)
        of_record = run.astype(smallest(max(blocks * len(keys), 1)))[people.record]
        by_run = np.argsort(of_record, kind="stable")
        bucket = np.empty(table.rows, dtype=np.int64)
        bucket[by_run] = assigned(filled.places, of_record[by_run], chance)
        avoided = people.avoided(bucket, filled.held()) if self.associations else None
        shown = filled.shown(avoided, chance)
        derived = self._derived(settings, filled)
        certificate = certify(table, self, promise, chance, derived=derived)
        certificate = replace(
            certificate,
            columns=self._columns(certificate),
            parameters={**certificate.parameters, "limits": self.limits.to_dict()},
        )
        job.progress(3, 3, "filling buckets")
        facts = BucketsFacts(
            records=table.rows,
            buckets=filled.buckets,
            bucket_loss=sum(setting.loss for setting in settings),
            bucket_gap=_gap(settings),
            diversity=promise.limits.diversity(occurring).statement,
            concerns=(*eligible.concerns, *filled.concerns()),
        )
        with_buckets = table.like(people.laid_out(table, bucket))
        buckets = self._buckets(table, shown, filled.buckets)
        return Release(with_buckets, certificate, facts, {"buckets": buckets})

    def _settings(self, inside: Ints, limits: list[Fraction]) -> list[Setting]:
        """The setting of every block.

        An impossible one refuses the whole release, since joining its block with another would
        reveal something.
        """
        search = Search(self.solver, self.largest, self.gap, self.seconds, self.fakes)
        try:
            return [search.setting(counts, limits) for counts in inside]
        except InfeasibleError as error:
            if not self.within:
                raise
            raise InfeasibleError(
                f"among people who agree in `within`, {error.what}",
                f"{error.fix}. Levels that are tried until one works reveal who has what: take "
                "coarser ones by what is publicly known, or none",
            ) from None

    def _derived(self, settings: list[Setting], filled: "_Filled") -> dict[str, Any]:
        """What follows from how often values occur, for the certificate.

        With fakes a release shows only nearly how often they do. How good the sizes are would show
        it better, so that this is for the owner then.
        """
        if self.fakes:
            return {"fake_odds": filled.odds()}
        derived: dict[str, Any] = {}
        gap = _gap(settings)
        if gap is not None:
            derived["gap_reached"] = gap
        searched = [setting.searched for setting in settings if setting.searched is not None]
        if searched:
            derived["sizes_searched"] = min(searched)
        return derived

    def _blocks(self, people: "_Records", table: Table, schema: Schema) -> tuple[Ints, int]:
        """The block of every distinct row, and how many there are.

        Blocks are numbered in the order of the values that their people agree in.
        """
        rows = people.rows
        block = np.zeros(rows.distinct, dtype=np.int64)
        blocks = min(rows.distinct, 1)
        trees = _trees(schema, self.within or {})
        for name, level in (self.within or {}).items():
            tree = trees[name]
            codes = tree.maps[level][table.leaf_of(name)[rows.column(name)]]
            agreed = block * tree.cardinality(level) + codes
            distinct, block = np.unique(agreed, return_inverse=True)
            blocks = len(distinct)
        return block, blocks

    def _buckets(self, table: Table, shown: tuple[Ints, Ints], buckets: int) -> Any:
        keys = table.keys(self.column)
        bucket, value = (part.astype(np.uint64) for part in shown)
        inside = group([BUCKET, self.column], [bucket, value], [buckets + 1, max(len(keys), 1)])
        return table.like(
            {
                BUCKET: (None, inside.codes[0].astype(np.int64)),
                self.column: (keys, inside.codes[1]),
                COUNT: (None, inside.count),
            }
        )

    def _columns(self, certificate: Certificate) -> list[dict[str, Any]]:
        """The columns of the people; then the sensitive one, which is in the other table."""
        columns = {column["name"]: dict(column) for column in certificate.columns}
        hidden = columns.pop(self.column)
        added = {"name": BUCKET, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}
        return [*columns.values(), added, {**hidden, "table": "buckets"}]


def _trees(schema: Schema, within: Mapping[str, int]) -> dict[str, Hierarchy]:
    """The public hierarchies of the columns that blocks are made by."""
    known = [name for name in schema.released if name in schema.hierarchies]
    unknown = [name for name in within if name not in known]
    if unknown:
        raise ParameterError(
            f"names {listed(unknown)}, which are not released columns with a hierarchy",
            f"it takes {listed(known)}",
            option="within",
        )
    trees = {name: schema.public(name) for name in within}
    for name, level in within.items():
        height = trees[name].height
        if whole(level, f"level of {name!r} in `within`", 0) > height:
            raise ParameterError(
                f"has level {level} of column {name!r}",
                f"that column has levels 0 to {height}",
                option="within",
            )
    return trees


@dataclass(frozen=True, eq=False)
class _Records:
    """The records in the order of the columns released beside people, then of their values.

    Records that agree in all of these cannot be told apart.
    """

    rows: Counts
    """The distinct rows: the columns beside people, then the sensitive one."""

    record: Ints
    """The distinct row of every record."""

    first: Ints
    """A distinct row for every combination of the columns beside people."""

    @classmethod
    def of(cls, table: Table, column: str) -> "_Records":
        beside = [name for name in released(table) if name != column]
        rows = table.count([*beside, column], {})
        new = np.zeros(rows.distinct, dtype=np.bool_)
        new[:1] = True
        for codes in rows.codes[:-1]:
            new[1:] |= codes[1:] != codes[:-1]
        record = np.repeat(np.arange(rows.distinct), rows.count)
        return cls(rows, record, np.flatnonzero(new))

    @property
    def values(self) -> Ints:
        """The sensitive value of every distinct row."""
        return self.rows.codes[-1].astype(np.int64)

    @property
    def rank(self) -> Ints:
        """For every record its combination of the columns beside people."""
        of_row = np.searchsorted(self.first, np.arange(self.rows.distinct), side="right") - 1
        ranks: Ints = of_row[self.record]
        return ranks

    def avoided(self, bucket: Ints, held: tuple[Ints, Ints]) -> npt.NDArray[np.bool_]:
        """The values that someone of a bucket is seen not to have.

        That is as far as the release without fakes would show it.
        """
        codes = [column[self.record] for column in self.rows.codes[:-1]]
        return excluded(codes, list(self.rows.cards[:-1]), bucket - 1, held)

    def laid_out(self, table: Table, bucket: Ints) -> dict[str, tuple[Any, npt.NDArray[Any]]]:
        """The people with their buckets, in the order of both, for `Table.like`."""
        buckets = int(bucket.max(initial=0)) + 1
        rank, bucket = np.divmod(np.sort(self.rank * buckets + bucket), buckets)
        row = self.first[rank]
        beside = zip(self.rows.names[:-1], self.rows.codes[:-1], strict=True)
        columns = {name: (table.keys(name), codes[row]) for name, codes in beside}
        return {**columns, BUCKET: (None, bucket)}


@dataclass(frozen=True, eq=False)
class _SameSize:
    """Buckets of one size in one block.

    bags: the values that each holds
    most: how often such a bucket may hold each value
    hiding: how fakes are added to them, if they are
    """

    bags: Ints
    most: Ints
    hiding: Hiding | None


@dataclass(frozen=True, eq=False)
class _Filled:
    """Buckets with the values that they hold, size by size and block by block.

    They are numbered from 1 in that order.
    """

    parts: list[_SameSize]

    hidings: list[tuple[int, Hiding]]
    """Of every block how many buckets it has, and how fakes are added to them."""

    places: Ints
    """The buckets of all places, in the order of the blocks and of the values they hold."""

    @property
    def buckets(self) -> int:
        return sum(len(part.bags) for part in self.parts)

    def held(self) -> tuple[Ints, Ints]:
        """For every place its bucket, counted from 0, and the value that it holds."""
        sizes = np.array([part.bags.shape[1] for part in self.parts], dtype=np.int64)
        of_bucket = np.repeat(sizes, [len(part.bags) for part in self.parts])
        bucket = np.repeat(np.arange(self.buckets), of_bucket)
        return bucket, _flat(part.bags for part in self.parts)

    def odds(self) -> list[tuple[int, list[Fraction]]]:
        """Of every block how many buckets it has, and the odds of its values, in their order.

        That is, to be fake where a value is shown once.
        """
        odds = []
        for buckets, hiding in self.hidings:
            held = _flat(part.bags for part in self.parts if part.hiding is hiding)
            values = np.unique(held).tolist()
            odds.append((buckets, [hiding.odds[value] for value in values]))
        return odds

    def concerns(self) -> Iterator[str]:
        """What weakens fakes: values in so many buckets that they are rarely fake where shown."""
        every = [odds for _, of_block in self.odds() for odds in of_block]
        seldom = sum(0 < odds < _SELDOM for odds in every)
        never = sum(not odds for odds in every)
        if seldom:
            yield (
                f"{plural(seldom, 'value')} would have to be in nearly every bucket, so that fakes "
                "hide them less than others"
            )
        if never:
            yield (
                f"{plural(never, 'value')} must be in every bucket that may hold them, so that "
                "fakes do not hide them"
            )

    def shown(self, avoided: npt.NDArray[np.bool_] | None, chance: Chance) -> tuple[Ints, Ints]:
        """Buckets and values as they are released, with fakes."""
        sides = [self.held()]
        first = 0
        for part in self.parts:
            after = first + len(part.bags)
            if part.hiding is not None:
                rows = None if avoided is None else avoided[first:after]
                weights = part.hiding.within(part.most)
                fake = fakes(part.bags, weights, part.hiding.number, chance, rows)
                bucket = np.repeat(np.arange(first, after), part.hiding.number)
                sides.append((bucket, fake.ravel()))
            first = after
        bucket, value = (np.concatenate(side) for side in zip(*sides, strict=True))
        return bucket + 1, value


def _gap(settings: list[Setting]) -> float | None:
    """By how much of the loss of all blocks other settings may be better, at most."""
    lost = 0
    bound = 0.0
    for setting in settings:
        if setting.gap is None:
            return None
        lost += setting.loss
        bound += setting.loss * (1 - setting.gap)
    return max(0.0, 1 - bound / lost) if lost else 0.0


def _filled(
    settings: list[Setting], limits: list[Fraction], number: int, chance: Chance
) -> _Filled:
    """The buckets of all blocks.

    With fakes, what each holds is drawn; without, it follows from how often values occur.
    """
    parts: list[_SameSize] = []
    hidings: list[tuple[int, Hiding]] = []
    places = [np.zeros(0, dtype=np.int64)]
    first = 1
    for setting in settings:
        most = fitting(limits, setting.sizes)
        hiding = None
        bags = setting.bags()
        buckets = sum(setting.buckets)
        if number and bags:
            bags = with_room(setting, most, number)
            hiding = Hiding.of(setting, most, number)
            bags = mixed(bags, most, hiding, chance)
            hidings.append((buckets, hiding))
        sizes = np.repeat(setting.sizes, setting.buckets).astype(np.int64)
        bucket = np.repeat(np.arange(first, first + buckets), sizes)
        value = _flat(bags).astype(smallest(max(len(limits), 1)))
        places.append(bucket[np.argsort(value, kind="stable")])
        parts += [_SameSize(bag, most[:, j], hiding) for j, bag in enumerate(bags)]
        first += buckets
    return _Filled(parts, hidings, np.concatenate(places))


def _flat(bags: Iterable[Ints]) -> Ints:
    """The values of buckets, one after the other."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *(bag.ravel() for bag in bags)])


ENTRY = Entry(
    method=Buckets,
    summary="people unchanged, with their sensitive values apart, by bucket",
    draft=(
        'column = "?"  # the sensitive column, the only one with that role',
        "# How probable each of its values may become: by class, and for all others;",
        'limits = { classes = { A = { limit = 0.05, values = ["?"] } }, others = "?" }',
        "# a limit of 1 may publish a value beside its people;",
        "# or by value, { values = { VALUE = 0.05 }, others = 0.5 }; or by share f,",
        "# min{1, a·f + b}: { a = 4, b = 0.02 }",
        'solver = "multi"  # or optimal (smaller buckets, needs scipy), two, anatomy',
        "fakes = 0  # values nobody has in every bucket, against those who know others",
        "# within = { NAME = 2 }  # only people who agree at a level share a bucket",
    ),
    guide=Guide(
        need="Membership is public, other columns stay exact, and values must not be guessed",
        promise=(
            "Nobody who knows who is in the table can link you to a value with more than its limit."
        ),
        cost="Sensitive values are released apart from people",
        leaves_open="Membership and other columns; whoever knows others' values may infer more",
        example="Ages and wards exact, diagnoses hidden",
    ),
    generalises="released",
    needs_quasi=False,
    needs_hierarchies=False,
    adds=(BUCKET,),
    tables=("buckets",),
    as_views=AsViews(mark=BUCKET, apart="buckets", known_roles=(Role.QUASI, Role.INSENSITIVE)),
    trades="limits",
    not_attacked=("what attackers learn who know others of a bucket needs no recipe: leave it out"),
    again_note="with two releases by buckets, no limit holds against whoever gets both",
)
