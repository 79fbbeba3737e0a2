"""The check of buckets: every share of every value in every bucket, with fractions.

A release has two tables, of people with bucket numbers and of buckets with sensitive values. Uses
`promised` for the words of limits, and reads the limits themselves off the certificate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.data.tables import Table
from shoal.errors import listed, plural
from shoal.privacy.limits import BucketLimits
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.numbers import is_numeric, number
from shoal.releases.verification.promised import bucket_limits, is_promise_of
from shoal.releases.verification.reading import ReleasedTables, TableShape, read_table
from shoal.releases.verification.rows import (
    Ints,
    column_of,
    frequencies,
    integers,
    totals,
)
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["CHECK"]

_BUCKETS = "buckets"
"""The further table."""

_SHAPE = TableShape(generalised=False, added={"bucket": Kind.INTEGER, "count": Kind.INTEGER})


@dataclass(frozen=True)
class ValueLimits:
    """The limit of every sensitive value, read off the certificate."""

    own: Mapping[Key | None, Fraction]
    others: Fraction | None
    factor: Fraction | None
    """With a factor, the limit of other values is factor · share + others."""

    @classmethod
    def read(cls, given: Mapping[str, Any], kind: Kind) -> "ValueLimits":
        pairs = [*given.get("values", ())]
        for members in given.get("classes", {}).values():
            pairs += [(value, members["limit"]) for value in members["values"]]
        keys = kind.keys([value for value, _ in pairs], "of the limits")
        own = dict(zip(keys, [number(limit) for _, limit in pairs], strict=True))
        others = given.get("others")
        if others is None:
            return cls(own, None, None)
        if isinstance(others, Mapping):
            return cls(own, number(others["b"]), number(others["a"]))
        return cls(own, number(others), None)

    def of(self, value: Key | None, share: Fraction) -> Fraction | None:
        """The limit of a value with this share of all records; None if it has none."""
        if value in self.own:
            return self.own[value]
        if self.others is None or self.factor is None:
            return self.others
        return min(Fraction(1), self.factor * share + self.others)


@dataclass(frozen=True)
class FakeOdds:
    """The odds by which fakes were drawn in one block of buckets, one number per value."""

    buckets: int
    odds: tuple[Fraction, ...]


@dataclass(frozen=True)
class BucketsClaim:
    """What a certificate of buckets says."""

    claims: Claims
    promised: BucketLimits
    asked: BucketLimits
    """The promise that the parameters ask for."""

    limits: ValueLimits
    by_formula: bool
    solver: str
    largest: int | None
    within: Mapping[str, int]
    """The levels at which the people of a bucket agree."""

    fakes_hide_links: bool
    has_odds: bool
    odds: tuple[FakeOdds, ...] | None
    """Block by block; None if the certificate does not say them so."""

    gap_reached: object
    has_sizes_searched: bool
    sizes_searched: object
    """The largest size that was searched. Left out where no larger one could be better."""

    @property
    def column(self) -> str:
        return self.promised.column

    @property
    def fakes(self) -> int:
        return self.promised.fakes


def parse(claims: Claims) -> BucketsClaim:
    given = claims.parameters
    promise = claims.certificate.promise
    derived = claims.derived
    given.require(is_numeric, "gap", "seconds", "largest", "within")
    promised = bucket_limits(claims, promise)
    odds = derived.part.get("fake_odds")
    return BucketsClaim(
        claims,
        promised=promised,
        asked=bucket_limits(claims, given.part),
        limits=ValueLimits.read(promise["limits"], claims.kind(promised.column)),
        by_formula=isinstance(promise["limits"].get("others"), Mapping),
        solver=given.text("solver"),
        largest=given.whole_if_any("largest"),
        within=given.levels_if_any("within") or {},
        fakes_hide_links=given.flag("associations"),
        has_odds=odds is not None,
        odds=_parse_odds(odds),
        gap_reached=derived.part.get("gap_reached", 0.0),
        has_sizes_searched="sizes_searched" in derived.part,
        sizes_searched=derived.part.get("sizes_searched"),
    )


def _parse_odds(given: object) -> tuple[FakeOdds, ...] | None:
    if not isinstance(given, list) or not all(map(_is_block, given)):
        return None
    return tuple(FakeOdds(buckets, tuple(map(number, odds))) for buckets, odds in given)


def _is_block(given: object) -> bool:
    if not isinstance(given, list) or len(given) != 2:
        return False
    buckets, odds = given
    return type(buckets) is int and buckets >= 1 and isinstance(odds, list)


# The certificate


def derivation(record: BucketsClaim) -> Iterator[str]:
    """Whether promise, columns, parameters and what is derived are such as the method has.

    The odds of fakes are checked with the tables.
    """
    if not is_promise_of(record.claims, record.asked):
        yield "column, limits or fakes of the promise are not those of the parameters"
    gap = record.gap_reached
    searched = record.sizes_searched
    if type(gap) is not float or not 0 <= gap <= 1:
        yield "the gap of the bucket sizes is not a share"
    if record.has_sizes_searched and (type(searched) is not int or searched < 1):
        yield "the largest bucket size that was searched is not a whole number above 0"
    yield from _column_faults(record)
    if record.claims.levels:
        yield "the certificate names levels, and buckets release the other columns unchanged"
    if not _parameters_fit(record):
        yield NOT_TAKEN


def _column_faults(record: BucketsClaim) -> Iterator[str]:
    claims = record.claims
    hidden = record.column
    described = {column.name: (column.role, column.kind, column.table) for column in claims.columns}
    bucket = ("insensitive", Kind.INTEGER, None)
    values = ("sensitive", claims.kind(hidden), _BUCKETS)
    if described.get("bucket") != bucket or described[hidden] != values:
        yield "the bucket or the sensitive column is not described as the method does it"
    for name in _beside(record):
        role, _, table = described[name]
        if role == "sensitive" or table is not None:
            yield "a sensitive column is released unchanged beside people"
            return


def _beside(record: BucketsClaim) -> list[str]:
    """The columns of the people."""
    return [name for name in record.claims.names if name not in ("bucket", record.column)]


def _parameters_fit(record: BucketsClaim) -> bool:
    given = record.claims.parameters
    if record.solver not in ("optimal", "multi", "two", "anatomy"):
        return False
    if not set(record.within) <= set(_beside(record)):
        return False
    if record.fakes_hide_links and not record.asked.fakes:
        return False
    return given.number("gap") <= 1 and given.number("seconds") > 0


# The tables


@dataclass(frozen=True)
class BucketTables:
    """Both tables, by their buckets."""

    people: Table
    values: Table
    column: str

    @cached_property
    def bucket_of_person(self) -> Ints:
        return integers(self.people, "bucket")

    @cached_property
    def bucket(self) -> Ints:
        """The bucket of every row of values, as are the others."""
        return integers(self.values, "bucket")

    @cached_property
    def count(self) -> Ints:
        return integers(self.values, "count")

    @cached_property
    def code(self) -> Ints:
        return column_of(self.values, self.column).codes.astype(np.int64)

    @cached_property
    def buckets(self) -> int:
        return int(self.bucket_of_person.max(initial=0))

    @cached_property
    def sizes(self) -> Ints:
        """How many people each bucket has, by its number."""
        return totals(self.bucket_of_person, frequencies(self.people), self.buckets + 1)

    @cached_property
    def held(self) -> Ints:
        """How many values each bucket has, by its number."""
        largest = max(self.buckets, int(self.bucket.max(initial=0)))
        held = np.zeros(largest + 1, dtype=np.int64)
        np.add.at(held, self.bucket, self.count)
        return held

    def numbers_are_possible(self) -> bool:
        # Rows of different buckets are different.
        most = len(self.bucket_of_person)
        for bucket in (self.bucket_of_person, self.bucket):
            if (bucket < 1).any() or (bucket > most).any():
                return False
        return True

    def in_order(self) -> bool:
        """Whether the rows of values go up by bucket and value, and none is there twice."""
        if (frequencies(self.values) > 1).any():
            return False
        bucket = self.bucket
        code = self.code
        same_bucket = bucket[1:] == bucket[:-1]
        ascending = (bucket[1:] > bucket[:-1]) | (same_bucket & (code[1:] > code[:-1]))
        return bool(ascending.all())


def released(record: BucketsClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether both tables have the same buckets, and no value has more of one than its limit."""
    shown = [tables.rows, tables.further[_BUCKETS]]
    yield from _spelling_faults(record, [rows.frame for rows in shown])
    values = read_table(tables.further[_BUCKETS], record.claims, _SHAPE)
    own_columns = ["bucket", record.column, "count"]
    if list(values.names) != own_columns or record.column in tables.table.names:
        yield (
            "the columns of the table of buckets are not the bucket, its sensitive values "
            "and how often each occurs"
        )
    else:
        yield from _bucket_faults(record, BucketTables(tables.table, values, record.column))
    yield from _agreement_faults(record, tables)


def _spelling_faults(record: BucketsClaim, frames: Sequence[Any]) -> Iterator[str]:
    """Whether numbers and dates are spelled in one way.

    Whoever reads 1 and 01 as text sees two buckets where there is one.
    """
    import polars as pl

    kinds = {
        "count": Kind.INTEGER,
        **{column.name: column.kind for column in record.claims.columns},
    }
    for frame in frames:
        texts = frame.select(pl.col(pl.String, pl.Categorical, pl.Enum))
        for name in texts.columns:
            if name not in kinds:
                continue
            spellings = texts[name].drop_nulls().unique().to_list()
            if len(set(kinds[name].keys(spellings, name))) < len(spellings):
                yield (
                    f"column {name!r} has a value that is spelled in several ways, "
                    "which may part what belongs together"
                )


def _bucket_faults(record: BucketsClaim, tables: BucketTables) -> Iterator[str]:
    if not tables.numbers_are_possible():
        yield "a bucket has a number that no bucket has"
        return
    sizes = tables.sizes
    held = tables.held
    fakes = record.fakes
    if not sizes[1:].all():
        yield "the buckets are not numbered one by one"
    # Every bucket has a value for each of its people, and its fakes.
    same_buckets = len(held) == len(sizes) and (held[1:] == sizes[1:] + fakes).all()
    if not same_buckets or (tables.count < 1).any():
        more = f" and {plural(fakes, 'fake')}" if fakes else ""
        yield f"some bucket does not have as many values as people{more}"
        return
    bounded = record.largest is not None and record.solver != "anatomy"
    if bounded and int(sizes.max(initial=0)) > (record.largest or 0):
        yield "some bucket has more people than the parameter `largest` allows"
    if not tables.in_order():
        yield "the values of the buckets are not in their order, or one is there twice"
    yield from _fake_faults(record, tables)
    yield from _limit_faults(record, tables)


def _fake_faults(record: BucketsClaim, tables: BucketTables) -> Iterator[str]:
    """Whether enough values may be fake, by how often they occur and by their odds."""
    fakes = record.fakes
    if not fakes:
        if record.has_odds:
            yield "the certificate has odds of fakes, and the promise has none"
        return
    single = np.bincount(tables.bucket, tables.count == 1, len(tables.sizes))
    if (single[1:] < fakes).any():
        yield f"some bucket has fewer than {fakes} values that may be fake"
    if record.odds is None:
        yield "the certificate does not say the odds of fakes, block by block"
    elif sum(block.buckets for block in record.odds) != int(tables.bucket.max(initial=0)):
        yield "the odds of fakes are not those of the buckets in the table"
    else:
        yield from _odds_faults(record.odds, tables, fakes)


def _odds_faults(blocks: Sequence[FakeOdds], tables: BucketTables, fakes: int) -> Iterator[str]:
    """Whether the odds of every block are those of its values, and leave enough to be fake."""
    last = 0
    for block in blocks:
        first = last + 1
        last = last + block.buckets
        rows = (tables.bucket >= first) & (tables.bucket <= last)
        codes, place = np.unique(tables.code[rows], return_inverse=True)
        if len(codes) != len(block.odds) or not all(0 <= odds <= 1 for odds in block.odds):
            yield "the odds of fakes are not one number from 0 to 1 for every value of the block"
            return
        possible = np.array([odds > 0 for odds in block.odds], dtype=np.bool_)
        may_be_fake = possible[place] & (tables.count[rows] == 1)
        number_of_fakes = np.bincount(tables.bucket[rows] - first, may_be_fake, block.buckets)
        if (number_of_fakes < fakes).any():
            yield f"some bucket has fewer than {fakes} values that may be fake by their odds"


def _limit_faults(record: BucketsClaim, tables: BucketTables) -> Iterator[str]:
    """Whether no value has more of a bucket than its limit.

    Rows with the same value, count and size of bucket are looked at once.
    """
    keys = tables.values.keys(tables.column)
    in_all = totals(tables.code, tables.count, len(keys))
    sizes = tables.sizes[tables.bucket]
    # Numbers are at most as large as there are people, so that the products are exact.
    kind_of_row = tables.code
    for part in (tables.count, sizes):
        keyed = kind_of_row * (int(part.max(initial=0)) + 1) + part
        _, first, kind_of_row = np.unique(keyed, return_index=True, return_inverse=True)
    fails = []
    for row in first.tolist():
        code = tables.code[row]
        # With fakes a value may occur more often than there are people.
        share = min(Fraction(1), Fraction(int(in_all[code]), tables.people.rows))
        limit = record.limits.of(keys[code], share)
        if limit is None:
            yield "a value has no limit"
            return
        fails.append(int(tables.count[row]) > limit * int(sizes[row]))
    if any(fails):
        failing_rows = np.array(fails, dtype=np.bool_)[kind_of_row]
        broken = len(np.unique(tables.bucket[failing_rows]))
        yield (
            f"{broken:,} of {plural(tables.buckets, 'bucket')} "
            "have more of some value than its limit allows"
        )


def _agreement_faults(record: BucketsClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether the people of every bucket agree at the levels of `within`, as far as can be seen."""
    bucket = integers(tables.table, "bucket")
    for name, level in record.within.items():
        if name not in tables.hierarchies:
            continue
        kind = record.claims.kind(name)
        column = column_of(tables.table, name)
        tree = tables.hierarchies[name].of_kind(kind).with_missing()
        node_of_key = [tree.maps[level][tree.find(key)] for key in column.keys]
        nodes: npt.NDArray[np.int64] = np.array(node_of_key, dtype=np.int64)[column.codes]
        pairs = np.unique(np.stack([bucket, nodes]), axis=1)
        if pairs.shape[1] != len(np.unique(bucket)):
            yield f"a bucket has people that differ in level {level} of {name!r}"


# What is left


def trusted(record: BucketsClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that it was drawn who of those with a value got which bucket, by draws that nobody knows"
    )
    if record.within:
        yield OpenEnd(
            "that the levels of `within` were chosen without a look at who has which value, "
            "and none were tried before"
        )
    unknown = [name for name in record.within if name not in hierarchies]
    if unknown:
        yield OpenEnd(
            f"that the people of a bucket agree in {listed(unknown)}: "
            "the hierarchies were not given"
        )
    if record.fakes:
        values = plural(record.fakes, "value")
        yield OpenEnd(f"that {values} of every bucket are fake, and which")
        if record.by_formula:
            yield OpenEnd(
                "limits by formula exactly, as fakes blur how often a value occurs: "
                "they are checked by the most they may be"
            )
        yield OpenEnd("the odds by which fakes were drawn", (("derived", "fake_odds"),))
    yield OpenEnd("how near the bucket sizes are to the best ones", (("derived", "gap_reached"),))
    if record.has_sizes_searched:
        place = ("derived", "sizes_searched")
        yield OpenEnd("that bucket sizes were searched up to the one stated", (place,))
    elif record.solver == "two" and record.largest is None:
        yield OpenEnd(
            "that every bucket size that could be better was searched, as no largest one is stated"
        )


def free(record: BucketsClaim) -> Iterator[str]:
    yield from ("solver", "largest", "gap", "seconds", "within", "associations")


CHECK = MethodCheck(
    name="buckets",
    promises=(BucketLimits.name,),
    parameters="column limits solver largest gap seconds within fakes associations unit",
    derived="gap_reached sizes_searched fake_odds",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
    shape=lambda record: _SHAPE,
    further=(_BUCKETS,),
)
