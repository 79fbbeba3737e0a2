"""Buckets (Wang et al.): people with the number of a bucket, and buckets with the sensitive values of their people.

Everybody's other columns stay exact. Which sizes of buckets there are, and which values each holds, follows from how
often each value occurs (`settings`); who of those with a value goes where is drawn. So nobody is linked to a value with
more than its share of their bucket: docs/proofs/buckets.md. Uses `privacy.limits` and `chance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts.counts import group
from shoal.errors import ParameterError, listed
from shoal.hierarchy.tree import smallest
from shoal.kinds import Kind
from shoal.methods import Progress, Schema, silent
from shoal.methods.buckets.settings import Setting, Solver, find_setting
from shoal.methods.noisy_counts import fixed
from shoal.privacy.exact import Exact, fraction, whole
from shoal.privacy.limits import BucketLimits, Limits
from shoal.release import COUNT, Certificate, Release, certify, released
from shoal.tables import Role, Table

__all__ = ["BUCKET", "Buckets"]

BUCKET = "bucket"
"""The column of both released tables that says which people and which values belong together."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Buckets:
    """Two tables, people with bucket numbers and buckets with values, that keep a separate limit for every sensitive value.

    column: the sensitive column
    limits: how probable each of its values may become, at most
    solver: how bucket sizes are found: "optimal" (needs scipy), "multi", "two", or "anatomy", the baseline
    largest: the largest size of a bucket; the smallest that allows a setting unless given
    gap, seconds: how far from the least loss "optimal" may stop, and how long it may take
    within: levels of columns with a public hierarchy; only people who agree at these levels share a bucket

    >>> from shoal import demo
    >>> people = demo.table()
    >>> limits = Limits.formula(4, "0.05")
    >>> release = Buckets("diagnosis", limits, solver="two").release(people.with_roles(
    ...     quasi=["age", "sex", "ward"], sensitive=["diagnosis"], identifying=["patient", "postcode", "admitted", "stay",
    ...     "insurance", "outcome"]))
    >>> list(release.table.columns), list(release.further["buckets"].columns)
    (['age', 'sex', 'ward', 'bucket'], ['bucket', 'diagnosis', 'count'])
    """

    column: str
    limits: Limits
    solver: Solver = "optimal"
    largest: int | None = None
    gap: Exact = Fraction(1, 1000)
    seconds: Exact = 60
    within: Mapping[str, int] | None = None

    name: ClassVar[str] = "buckets"

    def __post_init__(self) -> None:
        BucketLimits(self.column, self.limits)
        find_setting([], [], self.solver)  # an unknown one is refused
        given: dict[str, Any] = {
            "largest": None if self.largest is None else whole(self.largest, "largest"),
            "gap": fraction(self.gap, "gap", 0, 1),
            "seconds": fraction(self.seconds, "seconds", 0, above=True),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def promise(self, schema: Schema) -> BucketLimits:
        """F′-privacy of the column."""
        if schema.roles.get(self.column) is not Role.SENSITIVE:
            raise ParameterError(f"`column` {self.column!r} is no sensitive column; give it that role")
        if others := [name for name in schema.having(Role.SENSITIVE) if name != self.column]:
            raise ParameterError(
                f"{listed(others)} would be released beside people as they are; of several sensitive columns release one, and "
                "make the others identifying"
            )
        if taken := [name for name in (BUCKET, COUNT) if schema.roles.get(name) not in (None, Role.IDENTIFYING)]:
            raise ParameterError(f"the release has columns of its own called {listed(taken)}; rename those of the table")
        if self.within is not None:
            if self.column in self.within:
                raise ParameterError(f"`within` names {self.column!r}, which is to be hidden; name columns that are released")
            fixed(schema, self.within)
        return BucketLimits(self.column, self.limits.keyed(schema.kinds[self.column]))

    def release(self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None) -> Release:
        """The people in the order of their values and buckets; the buckets with their values, and how often each is there."""
        schema = Schema.of(table)
        promise = self.promise(schema)
        chance, said = chance or Chance(), progress or silent
        said(0, 3, "counting values")
        values = table.column(self.column)
        counts = dict(zip(values.keys, np.bincount(values.codes, minlength=len(values.keys)).tolist(), strict=True))
        eligible = promise.limits.eligibility(counts)
        eligible.require()
        limits = list(promise.limits.of(counts).values())  # every key occurs
        blocks = self._blocks(table, schema)
        said(1, 3, "finding bucket sizes")
        settings = [self._setting(values.codes[rows], limits) for rows in blocks]
        said(2, 3, "filling buckets")
        people, held, first = np.zeros(table.rows, dtype=np.int64), [], 1
        for rows, setting in zip(blocks, settings, strict=True):
            bucket, value = dealt(setting, first)
            people[rows] = assigned(values.codes[rows], bucket, value, chance)
            held.append((bucket, value))
            first += sum(setting.buckets)
        result, further = self._people(table, people, first), self._buckets(table, held, first)
        gaps = [setting.gap for setting in settings if setting.gap is not None]
        certificate = certify(
            table,
            self,
            promise,
            chance,
            levels=None,
            derived={"gap": max(gaps) if gaps and len(gaps) == len(settings) else None},
        )
        said(3, 3, "filling buckets")
        facts: dict[str, Any] = {
            "records": table.rows,
            "buckets": first - 1,
            "loss": sum(setting.loss for setting in settings),
            "diversity": promise.limits.diversity(counts).statement,
        }
        if eligible.concerns:
            facts["concern"] = "; ".join(eligible.concerns)
        return Release(result, replace(certificate, columns=self._columns(table, certificate)), 0, facts, {"buckets": further})

    def _blocks(self, table: Table, schema: Schema) -> list[npt.NDArray[np.intp]]:
        """The rows of people who may share a bucket, block by block, in the order of the values they agree in."""
        if not self.within:
            return [np.arange(table.rows)]
        trees, at = fixed(schema, self.within)
        codes = [trees[name].maps[at[name]][table.leaves(name)] for name in self.within]
        order = np.lexsort(codes[::-1])
        same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in codes])
        return np.split(order, np.flatnonzero(~same) + 1) if table.rows else []

    def _setting(self, codes: npt.NDArray[Any], limits: list[Fraction]) -> Setting:
        counts = np.bincount(codes, minlength=len(limits))
        return find_setting(counts, limits, self.solver, self.largest, gap=self.gap, seconds=self.seconds)

    def _people(self, table: Table, bucket: Ints, buckets: int) -> Any:
        names = [name for name in released(table) if name != self.column]
        columns = [table.column(name) for name in names]
        rows = group(
            [*names, BUCKET],
            [*(column.codes for column in columns), bucket.astype(smallest(buckets))],
            [*(max(len(column.keys), 1) for column in columns), buckets],
        )
        laid: dict[str, tuple[Any, npt.NDArray[Any]]] = {
            column.name: (column.keys, np.repeat(codes, rows.count)) for column, codes in zip(columns, rows.codes, strict=False)
        }
        return table.like({**laid, BUCKET: (None, np.repeat(rows.codes[-1].astype(np.int64), rows.count))})

    def _buckets(self, table: Table, held: list[tuple[Ints, Ints]], buckets: int) -> Any:
        keys = table.column(self.column).keys
        bucket, value = (np.concatenate([*parts, np.zeros(0, dtype=np.int64)]) for parts in zip(*held, ([], []), strict=True))
        inside = group([BUCKET, self.column], [bucket, value], [buckets, max(len(keys), 1)])
        return table.like(
            {BUCKET: (None, inside.codes[0].astype(np.int64)), self.column: (keys, inside.codes[1]), COUNT: (None, inside.count)}
        )

    def _columns(self, table: Table, certificate: Certificate) -> list[dict[str, Any]]:
        """The columns of the first table, then those of the second; the sensitive one is in the second alone."""
        whole_number = {"role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}
        own = [dict(column) for column in certificate.columns if column["name"] != self.column]
        return [*own, {"name": BUCKET, **whole_number}]


def dealt(setting: Setting, first: int) -> tuple[Ints, Ints]:
    """For every place in a setting's buckets, which are numbered from `first` on, its bucket and the value it holds."""
    bags, buckets = setting.bags(), []
    for bag in bags:
        buckets.append(np.repeat(np.arange(first, first + len(bag)), bag.shape[1]))
        first += len(bag)
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *buckets]), np.concatenate([empty, *(bag.ravel() for bag in bags)])


def assigned(values: npt.NDArray[Any], bucket: Ints, value: Ints, chance: Chance) -> Ints:
    """The bucket of every record, by its value: those with a value are put into the places for it in a uniform order."""
    order = chance.permutation(len(values))
    order = order[np.argsort(values[order], kind="stable")]
    found = np.empty(len(values), dtype=np.int64)
    found[order] = bucket[np.argsort(value, kind="stable")]
    return found
