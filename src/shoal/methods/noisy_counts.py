"""Noisy counts (after Li and Li), and k-DGS: every distinct row with a count.

Rows are generalised to levels that do not depend on the data. `noisy` draws the counts, with
bounded noise or by the printed matrix; `Columns` uses it too. Uses `privacy.sharing` and `chance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.arguments import keep, typed
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.errors import HierarchyError, ParameterError, TooLargeError, listed
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, whole
from shoal.methods.entry import Entry
from shoal.methods.method import (
    Job,
    Progress,
    begin,
    delta_concerns,
    granularity_lost,
    require_bound,
)
from shoal.privacy.bounded import BITS, BoundedCountParameters
from shoal.privacy.calculus import Definition, definition_of, delta_of, per_row
from shoal.privacy.noise import ONE, NoisyCountParameters, noise_scale
from shoal.privacy.promises import DifferentialPrivacy, SemanticAnonymity
from shoal.privacy.sharing import (
    CountParameters,
    Noise,
    count_parameters,
    noise_named,
    require_definition,
)
from shoal.releases.certificate import certify
from shoal.releases.facts import KeptFacts
from shoal.releases.layout import COUNT, grouping, lay_out
from shoal.releases.release import Release

__all__ = ["KDGS", "NoisyCounts", "derived_of", "fixed", "noisy"]

LARGEST = 10_000_000
"""Rows of the largest declared domain in which each row gets a count."""

FEWEST: dict[Noise, int] = {"bounded": 1, "printed": 10}
"""How many records must share a row unless another number is given; the paper's is 10."""


@typed
@dataclass(frozen=True, init=False)
class NoisyCounts:
    """Distinct rows with noisy counts: (ε, δ)-differential privacy, and semantic k-anonymity.

    A row that fewer than k records share is never released; the more share it, the more surely it
    is, with its count up to noise. All released columns count when rows are told apart. With a δ of
    0 every row of the declared domain gets a count, whether or not a record has it, and there is no
    k.

    epsilon, delta: the promise; ε may be "ln(2)"
    k: how many records must share a row, at least; semantic k-anonymity is promised for 2 or more.
        Unless given it is 1 with bounded noise, and 10 with the printed one
    definition: "standard", what (ε, δ) usually means, or "probabilistic", as in the paper, which
        releases less and takes the printed noise
    levels: for columns with a hierarchy the level that they are generalised to, chosen without
        looking at the rows
    unit: the identifying column that says whose rows belong together; each person gives at most
        `rows` of them
    counts: release each distinct row once, with a column `count`, instead of repeating it
    noise: "bounded", one noise for what is released and for its count, or "printed", the matrix of
        the paper, which releases less; without a δ there is one noise only

    >>> from shoal import demo
    >>> people = demo.table()
    >>> levels = {"age": 3, "postcode": 2, "admitted": 3}
    >>> release = NoisyCounts("ln(5)", "1e-6", k=10, levels=levels).release(people)
    >>> release.certificate.promise["semantic_k"], release.certificate.derived["threshold"]
    (10, 19)
    """

    epsilon: Epsilon
    delta: Fraction
    k: int | None
    definition: Definition
    levels: Mapping[str, int] | None
    unit: str | None
    rows: int
    counts: bool
    noise: Noise

    name: ClassVar[str] = "noisy-counts"

    def __init__(  # noqa: PLR0913  the parameters of the method
        self,
        epsilon: Epsilon | Exact,
        delta: Exact,
        k: int | None = None,
        definition: Definition = "standard",
        levels: Mapping[str, int] | None = None,
        unit: str | None = None,
        rows: int = 1,
        counts: bool = False,
        noise: Noise = "bounded",
    ) -> None:
        exact = delta_of(delta, zero=True)
        if not exact and k is not None:
            raise ParameterError(
                "with a `delta` of 0 every row of the domain gets a count, so there is no k",
                "leave out `k`",
            )
        least: int | None = None
        if exact:
            least = FEWEST[noise_named(noise)] if k is None else whole(k, "k")
        keep(
            self,
            epsilon=Epsilon.of(epsilon),
            delta=exact,
            k=least,
            definition=definition_of(definition),
            levels=levels,
            unit=unit,
            rows=whole(rows, "rows"),
            counts=counts,
            noise=noise_named(noise),
        )
        # Without a δ both definitions are the same, and no noise is cut off.
        if exact:
            require_definition(self.definition, self.noise)
        require_bound(unit, self.rows, self.definition if exact else "standard")

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        """(ε, δ) under the definition, for one row or one person.

        For one row and a k of at least 2, semantic k-anonymity too.
        """
        self._noise()  # what cannot be released is refused before a ledger counts it
        schema.require_unit(self.unit)
        schema.require_declared()
        trees, _ = fixed(schema, self.levels)
        if self.k is None:
            if missing := [name for name in schema.released if name not in trees]:
                raise HierarchyError(
                    "with a delta of 0 every row of a declared domain gets a count, and "
                    f"{listed(missing)} have none",
                    "give them hierarchies, or a delta",
                )
            self._domain(schema)
        if self.counts:
            _require_no_count(schema)
        semantic = self.k if self.unit is None and self.k != 1 else None
        return DifferentialPrivacy(
            self.epsilon, self.delta, self.definition, self.unit or "row", semantic
        )

    def crowd(self, schema: Schema) -> int | None:
        """How many records must share a row to make its release more likely than not.

        None without a δ.
        """
        return self._noise().half

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The rows drawn with the counts drawn, in the order of their values."""
        job = begin(self, table, chance, progress)
        job.progress(0, 2, "counting rows")
        trees, levels = fixed(job.schema, self.levels)
        rows = job.table.count(job.schema.released, levels)
        job.progress(1, 2, "drawing counts")
        noise = self._noise()
        if noise.parameters is None:
            scale = noise_scale(noise.epsilon)
            drawn = _everywhere(rows, self._domain(job.schema), scale, job.chance)
            kept, shown = rows, rows.total
        else:
            drawn = replace(rows, count=noisy(rows.count, noise.parameters, job.chance))
            kept = replace(rows, count=np.minimum(rows.count, drawn.count))
            shown = int(rows.count[drawn.count > 0].sum())
        released = drawn.where(drawn.count > 0)
        epsilon, delta = self._row()
        certificate = certify(
            job.table,
            self,
            job.promise,
            job.chance,
            levels=levels,
            derived={
                "epsilon": epsilon,
                "delta": delta,
                "definition": self.definition,
                "rows": self.rows,
                "k": self.k,
                **noise.derived(),
            },
            counted=self.counts,
        )
        result = laid_out(job.table, levels, released, self.counts)
        job.progress(2, 2, "drawing counts")
        facts = KeptFacts(
            records=job.rows,
            suppressed=job.rows - shown,
            kept=released.total,
            groups=released.over(grouping(job.table)).distinct,
            crowd=noise.half,
            loss=_loss(job, rows, kept, trees, levels),
            concerns=delta_concerns(self.delta, job.rows),
        )
        return Release(result, certificate, facts)

    def _row(self) -> tuple[Epsilon, Fraction]:
        """The share of the promise that one row has."""
        if not self.delta:
            return self.epsilon * Fraction(1, self.rows), Fraction(0)
        return per_row(self.epsilon, self.delta, self.rows)

    def _noise(self) -> "_Noise":
        epsilon, delta = self._row()
        if self.k is None:
            noise_scale(epsilon)  # what cannot be drawn is refused
            return _Noise(epsilon, None)
        parameters = count_parameters(epsilon, delta, self.k, self.definition, self.noise)
        return _Noise(epsilon, parameters)

    def _domain(self, schema: Schema) -> tuple[int, ...]:
        """How many values each column has in the declared domain."""
        trees, levels = fixed(schema, self.levels)
        cards = tuple(trees[name].cardinality(levels[name]) for name in schema.released)
        cells = prod(cards)
        if cells > LARGEST:
            raise TooLargeError(
                f"the declared domain has {cells:,} rows, and each would get a count; at most "
                f"{LARGEST:,} are taken",
                "give higher `levels`, or a `delta`",
            )
        return cards


@dataclass(frozen=True)
class _Noise:
    """The ε of a row, and what decides which rows are released.

    There is no such thing where ε is kept alone.
    """

    epsilon: Epsilon
    parameters: CountParameters | None

    @property
    def half(self) -> int | None:
        """How many records must share a row for it to be more likely than not to be released."""
        return None if self.parameters is None else self.parameters.half

    def derived(self) -> dict[str, Any]:
        """What follows from the parameters, for the certificate."""
        if self.parameters is not None:
            return derived_of(self.parameters)
        nothing = dict.fromkeys(("noise", "bound", "threshold", "half"))
        return {"scale": noise_scale(self.epsilon), **nothing}


def derived_of(parameters: CountParameters) -> dict[str, Any]:
    """What a certificate says of the noise: its law, and the smallest count that is released."""
    bound, scale = None, None
    if isinstance(parameters, BoundedCountParameters):
        bound = parameters.bound
    else:
        scale = parameters.scale
    return {
        "noise": "printed" if bound is None else "bounded",
        "scale": scale,
        "bound": bound,
        "threshold": parameters.threshold,
        "half": parameters.half,
    }


@typed
@dataclass(frozen=True)
class KDGS:
    """Deterministic generalisation and suppression: rows at fixed levels.

    Rows that fewer than k records share are not released.

    Keeps semantic k-anonymity, and no differential privacy: counts are exact. `unit` is the
    identifying column that says whose rows belong together: one row of each person is drawn, and
    only that is used.

    >>> from shoal import demo
    >>> people = demo.table()
    >>> release = KDGS(10, levels={"age": 3, "postcode": 2, "admitted": 3}).release(people)
    >>> print(release.certificate.promise)
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
        job = begin(self, table, chance, progress)
        job.progress(0, 1, "counting rows")
        trees, levels = fixed(job.schema, self.levels)
        rows = job.table.count(job.schema.released, levels)
        released = rows.where(rows.count >= self.k)
        certificate = certify(
            job.table, self, job.promise, job.chance, levels=levels, counted=self.counts
        )
        result = laid_out(job.table, levels, released, self.counts)
        job.progress(1, 1, "counting rows")
        facts = KeptFacts(
            records=job.table.rows,
            suppressed=job.table.rows - released.total,
            kept=released.total,
            groups=released.over(grouping(job.table)).distinct,
            crowd=self.k,
            loss=_loss(job, rows, released, trees, levels),
        )
        return Release(result, certificate, facts)


def _loss(
    job: Job,
    rows: Counts,
    kept: Counts,
    trees: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
) -> float | None:
    """The granularity lost; None if a quasi-identifying column has no hierarchy."""
    if any(name not in trees for name in job.table.quasi):
        return None
    return granularity_lost(rows.total, kept, trees, levels)


def noisy(
    count: npt.NDArray[np.int64], parameters: CountParameters, chance: Chance
) -> npt.NDArray[np.int64]:
    """The counts to release of rows that occur this often; 0 for those that are not released."""
    drawn = np.zeros(len(count), dtype=np.int64)
    large = np.flatnonzero(count >= parameters.k)
    if isinstance(parameters, NoisyCountParameters):
        drawn[large] = _by_matrix(count[large], parameters, chance)
    else:
        drawn[large] = _within_bound(count[large], parameters, chance)
    return drawn


def _within_bound(
    count: npt.NDArray[np.int64], parameters: BoundedCountParameters, chance: Chance
) -> npt.NDArray[np.int64]:
    """Counts of at least k with bounded noise, 0 for those below the threshold."""
    noise = chance.placed(parameters.cumulative, BITS, len(count)) - parameters.bound
    total = count + noise
    return np.where(total >= parameters.threshold, total, 0)


def _by_matrix(
    count: npt.NDArray[np.int64], parameters: NoisyCountParameters, chance: Chance
) -> npt.NDArray[np.int64]:
    """Counts of at least k by the printed matrix: a coin, then noise on those it releases."""
    drawn = np.zeros(len(count), dtype=np.int64)
    place = np.minimum(count, len(parameters.withheld) - 1)
    order = np.argsort(place, kind="stable")
    released = np.zeros(len(count), dtype=np.bool_)
    values, starts = np.unique(place[order], return_index=True)
    # Rows that occur equally often are withheld with the same chance, drawn together.
    runs = np.split(order, starts)[1:]
    for value, alike in zip(values.tolist(), runs, strict=True):
        withheld = Fraction(parameters.withheld[value], ONE)
        released[alike] = ~chance.bernoulli(withheld, len(alike))
    taken = np.flatnonzero(released)
    noise = chance.discrete_laplaces(parameters.scale, len(taken))
    drawn[taken] = np.maximum(count[taken] + noise, parameters.k)
    return drawn


def _everywhere(rows: Counts, cards: tuple[int, ...], scale: Fraction, chance: Chance) -> Counts:
    """A noisy count, at least 0, for every row of a domain: matrix (3) of the paper."""
    cells = prod(cards)
    places = np.ravel_multi_index([codes.astype(np.intp) for codes in rows.codes], cards)
    count = chance.discrete_laplaces(scale, cells)
    count[places] += rows.count
    every = np.unravel_index(np.arange(cells), cards)
    codes = tuple(column.astype(np.uint32) for column in every)
    return replace(rows, codes=codes, cards=cards, count=np.maximum(count, 0))


def _require_no_count(schema: Schema) -> None:
    if COUNT in schema.released:
        raise ParameterError(
            "a column is called 'count', as the released counts would be", "rename it"
        )


def fixed(
    schema: Schema, levels: Mapping[str, int] | None
) -> tuple[dict[str, Hierarchy], dict[str, int]]:
    """The public hierarchies of released columns and the level of each, 0 where none is given."""
    given = levels or {}
    trees = {name: schema.public(name) for name in schema.released if name in schema.hierarchies}
    if unknown := [name for name in given if name not in trees]:
        raise ParameterError(
            f"names {listed(unknown)}, which are not released columns with a hierarchy",
            option="levels",
        )
    at = {name: whole(given.get(name, 0), f"level of {name!r}", 0) for name in trees}
    for name, level in at.items():
        if level > trees[name].height:
            raise ParameterError(
                f"column {name!r} has levels 0 to {trees[name].height}, not {level}"
            )
    return trees, at


def laid_out(table: Table, levels: Mapping[str, int], rows: Counts, counts: bool) -> Any:
    """The released rows, repeated or with their counts."""
    labels = {
        name: (table.hierarchy(name).labels[level], rows.column(name))
        for name, level in levels.items()
    }
    return lay_out(table, labels, rows, counts=counts)


ENTRY = Entry(
    method=NoisyCounts,
    summary="frequent rows with noisy counts, at levels you give",
    draft=(
        'epsilon = "?"  # how much one row may matter',
        'delta = "?"  # the chance that this fails; shoal explain --counts 1',
        "k = 1  # how many records must share a row, at least",
        'noise = "bounded"  # or printed: the paper\'s, releases fewer rows',
        "levels = {}  # such as { NAME = 2 }; 0 for columns not named",
    ),
    truthful=False,
    subset=True,
    generalises="released",
    needs_quasi=False,
    needs_hierarchies=False,
    not_attacked=(
        "differential privacy holds against someone who knows the algorithm and all other records, "
        "which is proven (docs: proofs/bounded-noise, proofs/noisy-counts)"
    ),
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
