"""Noisy counts (Li and Li), and k-DGS: every distinct row with a count, after a generalisation that no row decides.

`noisy` draws the counts; `Columns` uses it too. Uses `privacy.noise` and `chance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import Counts, group
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.tables import Table
from shoal.errors import HierarchyError, ParameterError, TooLargeError, listed
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, whole
from shoal.methods import Progress, Schema, people_of, require_bound, silent
from shoal.methods.entry import Entry
from shoal.privacy.calculus import Definition, definition_of, delta_concern, delta_of, per_row
from shoal.privacy.noise import ONE, NoisyCountParameters, noise_scale, noisy_count_parameters
from shoal.privacy.promises import DifferentialPrivacy, SemanticAnonymity
from shoal.releases.certificate import certify
from shoal.releases.layout import COUNT, grouping, lay_out
from shoal.releases.release import Release

__all__ = ["KDGS", "NoisyCounts", "fixed", "noisy"]

LARGEST = 10_000_000
"""Rows of the largest declared domain in which each row gets a count."""

K = 10  # unless another is given: the paper's


@typed
@dataclass(frozen=True)
class NoisyCounts:
    """Distinct rows with noisy counts that keep (ε, δ)-differential privacy and semantic k-anonymity.

    A row that fewer than k records share is never released; the more share it, the more surely it is, with its count up to
    noise. All released columns count when rows are told apart. With a δ of 0 every row of the declared domain gets a count,
    whether or not a record has it, and there is no k.

    epsilon, delta: the promise; ε may be "ln(2)"
    k: how many records must share a row, at least; 10 unless given
    definition: "probabilistic", as in the paper, or "standard", which releases more
    levels: for columns with a hierarchy the level that they are generalised to, chosen without looking at the rows
    unit: the identifying column that tells whose rows belong together; each person gives at most `rows` of them
    counts: release each distinct row once, with a column `count`, instead of repeating it

    >>> from shoal import demo
    >>> people = demo.table()
    >>> release = NoisyCounts("ln(5)", "1e-6", levels={"age": 3, "postcode": 2, "admitted": 3}).release(people)
    >>> release.certificate.promise["semantic_k"]
    10
    """

    epsilon: Epsilon | Exact
    delta: Exact
    k: int | None = None
    definition: Definition = "probabilistic"
    levels: Mapping[str, int] | None = None
    unit: str | None = None
    rows: int = 1
    counts: bool = False

    name: ClassVar[str] = "noisy-counts"

    def __post_init__(self) -> None:
        delta = delta_of(self.delta, zero=True)
        if not delta and self.k is not None:
            raise ParameterError(
                "with a `delta` of 0 every row of the domain gets a count, so there is no k; leave out `k`"
            )
        given: dict[str, Any] = {
            "epsilon": Epsilon.of(self.epsilon),
            "delta": delta,
            "definition": definition_of(self.definition),
            "k": whole(K if self.k is None else self.k, "k") if delta else None,
            "rows": whole(self.rows, "rows"),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        require_bound(
            self.unit, self.rows, self.definition if delta else "standard"
        )  # which are one thing without a δ

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        """(ε, δ) under the definition, for one row or one person; and semantic k-anonymity where that is one row."""
        self._parameters()  # what has none is refused before a ledger counts it
        schema.require_unit(self.unit)
        schema.require_declared()
        trees, _ = fixed(schema, self.levels)
        if self.k is None:
            if missing := [name for name in schema.released if name not in trees]:
                raise HierarchyError(
                    f"with a delta of 0 every row of a declared domain gets a count, and {listed(missing)} have none; "
                    "give them hierarchies, or a delta"
                )
            self._domain(schema)
        if self.counts:
            _require_no_count(schema)
        semantic = self.k if self.unit is None else None
        return DifferentialPrivacy(
            self.epsilon, self.delta, self.definition, self.unit or "row", semantic
        )

    def crowd(self, schema: Schema) -> int | None:
        """How many records must share a row for it to be more likely than not to be released; None without a δ."""
        parameters = self._parameters()
        return parameters.half if isinstance(parameters, NoisyCountParameters) else None

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The rows that were drawn with the counts that were drawn, in the order of their values."""
        schema = Schema.of(table)
        promise = self.promise(schema)
        chance, said = chance or Chance(), progress or silent
        said(0, 2, "counting rows")
        rows = generalised(people_of(self, table, chance), self.levels)
        said(1, 2, "drawing counts")
        parameters = self._parameters()
        if isinstance(parameters, NoisyCountParameters):
            drawn = replace(rows, count=noisy(rows.count, parameters, chance))
            derived = {"k": parameters.k, "scale": parameters.scale, "half": parameters.half}
        else:
            drawn = _everywhere(rows, self._domain(schema), parameters, chance)
            derived = {"k": None, "scale": parameters, "half": None}
        epsilon, delta = self._row()
        released = _kept(drawn)
        _, levels = fixed(schema, self.levels)
        certificate = certify(
            table,
            self,
            promise,
            chance,
            levels=levels,
            derived={
                "epsilon": epsilon,
                "delta": delta,
                "definition": self.definition,
                "rows": self.rows,
                **derived,
            },
            counted=self.counts,
        )
        result = laid_out(table, self.levels, released, self.counts)
        said(2, 2, "drawing counts")
        kept = (
            int(rows.count[drawn.count > 0].sum())
            if isinstance(parameters, NoisyCountParameters)
            else rows.total
        )
        facts: dict[str, Any] = {
            "records": table.rows,
            "kept": released.total,
            "groups": released.over(grouping(table)).distinct,
            "crowd": self.crowd(schema),
        }
        if table.rows and self.k and (concern := delta_concern(self.delta, table.rows)):
            facts["concern"] = concern  # by the number of records, so for the owner alone
        return Release(result, certificate, table.rows - kept, facts)

    def _row(self) -> tuple[Epsilon, Fraction]:
        if not self.delta:
            return Epsilon.of(self.epsilon) * Fraction(1, self.rows), Fraction(0)
        return per_row(self.epsilon, self.delta, self.rows)

    def _parameters(self) -> NoisyCountParameters | Fraction:
        """The chances and the noise of the practical matrix, or the scale of that which keeps ε alone."""
        epsilon, delta = self._row()
        return (
            noise_scale(epsilon)
            if self.k is None
            else noisy_count_parameters(epsilon, delta, self.k, self.definition)
        )

    def _domain(self, schema: Schema) -> tuple[int, ...]:
        """How many values each column has in the declared domain."""
        trees, levels = fixed(schema, self.levels)
        cards = tuple(trees[name].cardinality(levels[name]) for name in schema.released)
        if (cells := prod(cards)) > LARGEST:
            raise TooLargeError(
                f"the declared domain has {cells:,} rows, and each would get a count; at most {LARGEST:,} are taken: give "
                "higher `levels`, or a `delta`"
            )
        return cards


@typed
@dataclass(frozen=True)
class KDGS:
    """Deterministic generalisation and suppression: rows at fixed levels, without those that fewer than k records share.

    Keeps semantic k-anonymity, and no differential privacy: counts are exact. `unit` is the identifying column that tells whose
    rows belong together: one row of each person is drawn, and only that is used.

    >>> from shoal import demo
    >>> people = demo.table()
    >>> print(KDGS(10, levels={"age": 3, "postcode": 2, "admitted": 3}).release(people).certificate.promise)
    {'promise': 'semantic anonymity', 'k': 10}
    """

    k: int
    levels: Mapping[str, int] | None = None
    counts: bool = False
    unit: str | None = None

    name: ClassVar[str] = "kdgs"

    def __post_init__(self) -> None:
        whole(self.k, "k")

    def promise(self, schema: Schema) -> SemanticAnonymity:
        """Semantic k-anonymity."""
        schema.require_unit(self.unit)
        schema.require_declared()
        fixed(schema, self.levels)
        if self.counts:
            _require_no_count(schema)
        return SemanticAnonymity(self.k, self.unit)

    def crowd(self, schema: Schema) -> int:
        """How many records must share a row for it to be released: k."""
        return self.k

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The rows that at least k records share."""
        schema = Schema.of(table)
        promise = self.promise(schema)
        chance, said = chance or Chance(), progress or silent
        table = people_of(self, table, chance)
        said(0, 1, "counting rows")
        rows = generalised(table, self.levels)
        released = _kept(replace(rows, count=rows.count * (rows.count >= self.k)))
        certificate = certify(
            table, self, promise, chance, levels=fixed(schema, self.levels)[1], counted=self.counts
        )
        result = laid_out(table, self.levels, released, self.counts)
        said(1, 1, "counting rows")
        facts = {
            "records": table.rows,
            "kept": released.total,
            "groups": released.over(grouping(table)).distinct,
            "crowd": self.crowd(schema),
        }
        return Release(result, certificate, table.rows - released.total, facts)


def noisy(
    count: npt.NDArray[np.int64], parameters: NoisyCountParameters, chance: Chance
) -> npt.NDArray[np.int64]:
    """The count to release of rows that occur so often; 0 for those that are not released."""
    found = np.zeros(len(count), dtype=np.int64)
    large = np.flatnonzero(count >= parameters.k)
    place = np.minimum(count[large], len(parameters.withheld) - 1)
    order = np.argsort(place, kind="stable")
    released = np.zeros(len(large), dtype=np.bool_)
    values, starts = np.unique(place[order], return_index=True)
    for value, some in zip(values.tolist(), np.split(order, starts)[1:], strict=True):
        released[some] = ~chance.bernoulli(Fraction(parameters.withheld[value], ONE), len(some))
    taken = large[released]
    noise = chance.discrete_laplaces(parameters.scale, len(taken))
    found[taken] = np.maximum(count[taken] + noise, parameters.k)
    return found


def _everywhere(rows: Counts, cards: tuple[int, ...], scale: Fraction, chance: Chance) -> Counts:
    """A noisy count, at least 0, for every row of a domain: matrix (3) of the paper."""
    places = np.ravel_multi_index([codes.astype(np.intp) for codes in rows.codes], cards)
    count = chance.discrete_laplaces(scale, prod(cards))
    count[places] += rows.count
    every = tuple(
        codes.astype(np.uint32) for codes in np.unravel_index(np.arange(prod(cards)), cards)
    )
    return replace(rows, codes=every, cards=cards, count=np.maximum(count, 0))


def _kept(rows: Counts) -> Counts:
    kept = np.flatnonzero(rows.count)
    return replace(rows, codes=tuple(codes[kept] for codes in rows.codes), count=rows.count[kept])


def _require_no_count(schema: Schema) -> None:
    if COUNT in schema.released:
        raise ParameterError(
            "a column is called 'count', as the released counts would be; rename it"
        )


def fixed(
    schema: Schema, levels: Mapping[str, int] | None
) -> tuple[dict[str, Hierarchy], dict[str, int]]:
    """The public hierarchies of released columns and the level of each, 0 where none is given."""
    trees = {name: schema.public(name) for name in schema.released if name in schema.hierarchies}
    if unknown := [name for name in levels or {} if name not in trees]:
        raise ParameterError(
            f"`levels` names {listed(unknown)}, which are no released columns with a hierarchy"
        )
    found = {name: whole((levels or {}).get(name, 0), f"level of {name!r}", 0) for name in trees}
    for name, level in found.items():
        if level > trees[name].height:
            raise ParameterError(
                f"column {name!r} has levels 0 to {trees[name].height}, not {level}"
            )
    return trees, found


def generalised(table: Table, levels: Mapping[str, int] | None) -> Counts:
    """Distinct rows of the released columns at fixed levels; columns without a hierarchy as they are."""
    schema = Schema.of(table)
    trees, at = fixed(schema, levels)
    names, codes, cards = schema.released, [], []
    table.columns(names)  # side by side, which is faster than one by one
    for name in names:
        tree = trees.get(name)
        codes.append(tree.maps[at[name]][table.leaves(name)] if tree else table.column(name).codes)
        cards.append(tree.cardinality(at[name]) if tree else max(len(table.column(name).keys), 1))
    return group(names, codes, cards)


def laid_out(table: Table, levels: Mapping[str, int] | None, rows: Counts, counts: bool) -> Any:
    """The released rows, repeated or with their counts."""
    trees, at = fixed(Schema.of(table), levels)
    labels = {
        name: (tree.labels[at[name]], rows.codes[rows.names.index(name)])
        for name, tree in trees.items()
    }
    return lay_out(table, labels, rows=rows, counts=counts)


ENTRY = Entry(
    method=NoisyCounts,
    summary="frequent rows with noisy counts, at levels you give",
    draft=(
        'epsilon = "?"  # how much one row may matter',
        'delta = "?"  # the chance that this fails; shoal explain --counts 10',
        "k = 10  # how many records must share a row, at least",
        'definition = "probabilistic"  # or standard: releases more rows',
        "levels = {}  # such as { NAME = 2 }; 0 for columns not named",
    ),
    truthful=False,
    subset=True,
    generalises="released",
    needs_quasi=False,
    needs_hierarchies=False,
)

KDGS_ENTRY = Entry(
    method=KDGS,
    summary="frequent rows with exact counts: semantic k-anonymity alone",
    draft=(
        "k = 10  # how many records must share a row, at least",
        "levels = {}  # such as { NAME = 2 }; 0 for columns not named",
    ),
    subset=True,
    generalises="released",
    needs_quasi=False,
    needs_hierarchies=False,
)
