"""Noisy counts (after Li and Li), and k-DGS: every distinct row with a count.

Rows are generalised to levels that do not depend on the data, or that were paid for: chosen by a
search (`searching`), or by region (`refining`). `noisy` draws the counts, with bounded noise or by
the printed matrix; `Columns` uses it too. Uses `privacy.sharing` and `chance`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, Literal

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
from shoal.exact.numbers import Exact, fraction, printed, whole
from shoal.methods.entry import Entry, Guide
from shoal.methods.method import Progress, Task, begin, delta_concerns, require_bound
from shoal.methods.refining import RefiningBudget, require_refinable
from shoal.methods.searching import (
    Candidates,
    LevelSearch,
    Score,
    candidates,
    require_score,
    score_of,
)
from shoal.methods.showing import ShownRows, at_node, counted_at
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
from shoal.zones import brief

__all__ = ["KDGS", "NoisyCounts", "derived_of", "fixed", "noisy"]

LARGEST = 10_000_000
"""Rows of the largest declared domain in which each row gets a count."""

Levels = Mapping[str, int] | Literal["search", "tree"]
"""Levels that are given, or how they are chosen."""

SPLIT = {"search": Fraction(9, 10), "tree": Fraction(7, 10)}
"""The share of ε for the counts unless another is given; the rest chooses levels (measured)."""

SMALLEST_SHARE = Fraction(1, 10**12)
"""An ε below which a choice of levels would be blind."""

FEWEST: dict[Noise, int] = {"bounded": 1, "printed": 10}
"""How many records must share a row unless another number is given; the paper's is 10."""


@typed
@brief
@dataclass(frozen=True, init=False)
class NoisyCounts:
    """Distinct rows with noisy counts: (ε, δ)-differential privacy, and semantic k-anonymity.

    A row that fewer than k records share is never released; the more share it, the more surely it
    is, with its count up to noise. All released columns count when rows are told apart. With a δ of
    0 every row of the declared domain gets a count, whether or not a record has it, and there is no
    k.

    epsilon: how much one person may matter: a number such as 0.5, or "ln(2)"
    delta: the chance that this fails, such as 1e-6
    k: how many records must share a row, at least; semantic k-anonymity is promised for 2 or more
        where levels are given. Unless given it is 1 with bounded noise, and 10 with the printed one
    definition: "standard", what (ε, δ) usually means, or "probabilistic", as in the paper, which
        releases less and takes the printed noise
    levels: "search", one choice among all nodes of the lattice; "tree", which refines regions with
        many records further than others, so that a column has values of several levels; or the
        level of every column with a hierarchy, chosen without looking at the rows, 0 where a
        column is not named. Unless given it is "search", and level 0 without a δ
    unit: the identifying column that says whose rows belong together
    rows: how many rows of each person are used, at most
    counts: release each distinct row once, with a column `count`, instead of repeating it
    noise: "bounded", one noise for what is released and for its count, or "printed", the matrix of
        the paper, which releases less; without a δ there is one noise only
    split: the share of ε for the counts, where levels are chosen; 9/10 with a search, and 7/10 with
        a tree unless given
    score: what a good release is, for a search: granularity, intensity, discernibility, entropy,
        groups or classification
    importance: how much columns count in the choice of levels; 1 if not named
    floor: the lowest level that a column may be released at
    ceiling: the highest level that a column may be released at
    classes: columns to be predicted, for the score "classification"

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
    levels: Levels
    unit: str | None
    rows: int
    counts: bool
    noise: Noise
    split: Fraction | None
    score: Score | str
    importance: Mapping[str, Fraction]
    floor: Mapping[str, int]
    ceiling: Mapping[str, int]
    classes: tuple[str, ...]

    name: ClassVar[str] = "noisy-counts"

    def __init__(  # noqa: PLR0913  the parameters of the method
        self,
        epsilon: Epsilon | Exact,
        delta: Exact,
        k: int | None = None,
        definition: Definition = "standard",
        levels: Levels | None = None,
        unit: str | None = None,
        rows: int = 1,
        counts: bool = False,
        noise: Noise = "bounded",
        split: Exact | None = None,
        score: Score | str = "granularity",
        importance: Mapping[str, Exact] | None = None,
        floor: Mapping[str, int] | None = None,
        ceiling: Mapping[str, int] | None = None,
        classes: Sequence[str] = (),
    ) -> None:
        exact = delta_of(delta, zero=True)
        if not exact and k is not None:
            raise ParameterError(
                "with a `delta` of 0 every row of the domain gets a count, so there is no k",
                "leave out `k`",
            )
        if levels is None:
            levels = "search" if exact else {}
        if split is not None:
            split = fraction(split, "split", 0, 1, above=True, below=True)
        weights = {
            name: fraction(weight, f"importance of {name!r}", 0)
            for name, weight in (importance or {}).items()
        }
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
            split=split,
            score=score,
            importance=weights,
            floor=dict(floor or {}),
            ceiling=dict(ceiling or {}),
            classes=tuple(classes),
        )
        self._require_choice()
        # Without a δ both definitions are the same, and no noise is cut off.
        if exact:
            require_definition(self.definition, self.noise)
        require_bound(unit, self.rows, self.definition if exact else "standard")

    def _require_choice(self) -> None:
        """ParameterError if what is said of the choice of levels does not go together."""
        if isinstance(self.levels, str):
            if self.levels not in SPLIT:
                raise ParameterError(
                    f"is {self.levels!r}",
                    "it takes levels by column, 'search' or 'tree'",
                    option="levels",
                )
            if not self.delta:
                raise ParameterError(
                    "with a `delta` of 0 levels are not chosen", "give `levels` by column"
                )
            require_score(self.score, self.classes)
            if self.levels == "tree":
                require_refinable(self.score, self.definition)
            return
        given = {
            "split": self.split is not None,
            "importance": self.importance,
            "floor": self.floor,
            "ceiling": self.ceiling,
            "classes": self.classes,
        }
        if unused := [name for name, value in given.items() if value]:
            raise ParameterError(
                f"are given, so nothing is chosen by {listed(unused)}",
                "leave these out, or ask for 'search' or 'tree'",
                option="levels",
            )

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        """(ε, δ) under the definition, for one row or one person.

        For one row, a k of at least 2 and levels that are not chosen, semantic k-anonymity too.
        """
        plan = self.plan(schema)  # what cannot be released is refused before a ledger counts it
        schema.require_unit(self.unit)
        schema.require_declared()
        if self.k is None:
            trees, _ = fixed(schema, _given(self.levels))
            if missing := [name for name in schema.released if name not in trees]:
                raise HierarchyError(
                    "with a delta of 0 every row of a declared domain gets a count, and "
                    f"{listed(missing)} have none",
                    "give them hierarchies, or a delta",
                )
            self._domain(schema)
        if self.counts:
            _require_no_count(schema)
        # Levels that were chosen depend on rows that fewer than k records share.
        fixed_levels = plan.choosing is None
        semantic = self.k if fixed_levels and self.unit is None and self.k != 1 else None
        return DifferentialPrivacy(
            self.epsilon, self.delta, self.definition, self.unit or "row", semantic
        )

    def crowd(self, schema: Schema) -> int | None:
        """How many records must share a row to make its release more likely than not.

        None without a δ.
        """
        return self.plan(schema).noise.half

    def searched(self, schema: Schema) -> Mapping[str, range] | None:
        """The levels that are searched, of all columns with a hierarchy; None if none are."""
        nodes = self.plan(schema).candidates
        return None if nodes is None or self.levels == "tree" else nodes.ranges

    def plan(self, schema: Schema) -> "CountPlan":
        """How a table with this schema will be released."""
        epsilon, delta = self._row()
        if not isinstance(self.levels, str):
            fixed(schema, self.levels)
            return CountPlan(self._noise(epsilon, delta))
        trees = {
            name: schema.public(name) for name in schema.released if name in schema.hierarchies
        }
        nodes = candidates(
            schema.released, trees, self.floor, self.ceiling, self.importance, self.classes
        )
        if nodes.size == 1:
            return CountPlan(self._noise(epsilon, delta), nodes)
        split = self.split or SPLIT[self.levels]
        choosing = epsilon * (1 - split)
        if choosing.bounds()[0] < SMALLEST_SHARE:
            raise ParameterError(
                f"a `split` of {printed(split)} leaves nothing for a search",
                "give a smaller one, or `levels`",
            )
        tree = None
        if self.levels == "tree":
            tree = RefiningBudget(nodes, choosing)
            tree.require_possible()
        return CountPlan(self._noise(epsilon * split, delta), nodes, choosing, tree)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The rows drawn with the counts drawn, in the order of their values."""
        job = begin(self, table, chance, progress)
        job.progress(0, 3, "counting rows")
        plan = self.plan(job.schema)
        chosen = self._chosen(plan, job)
        job.progress(2, 3, "drawing counts")
        rows, noise = chosen.shown.rows, plan.noise
        if noise.parameters is None:
            scale = noise_scale(noise.epsilon)
            drawn = _everywhere(rows, self._domain(job.schema), scale, job.chance)
            kept, shown = rows, rows.total
        else:
            drawn = replace(rows, count=noisy(rows.count, noise.parameters, job.chance))
            kept = replace(rows, count=np.minimum(rows.count, drawn.count))
            shown = int(rows.count[drawn.count > 0].sum())
        released = replace(chosen.shown, rows=drawn.where(drawn.count > 0))
        certificate = certify(
            job.table,
            self,
            job.promise,
            job.chance,
            levels=chosen.levels,
            derived={**self._derived(plan), "tree": chosen.tree},
            counted=self.counts,
        )
        result = lay_out(job.table, released.labels, released.rows, counts=self.counts)
        job.progress(3, 3, "drawing counts")
        facts = KeptFacts(
            records=job.rows,
            suppressed=job.rows - shown,
            kept=released.rows.total,
            used=rows.total,
            groups=released.rows.over(grouping(job.table)).distinct,
            crowd=noise.half,
            loss=_loss(job, rows.total, replace(chosen.shown, rows=kept)),
            concerns=delta_concerns(self.delta, job.people),
        )
        return Release(result, certificate, facts)

    def _chosen(self, plan: "CountPlan", job: Task) -> "_Chosen":
        """The rows at the levels that are given, searched for, or those of a tree."""
        released = job.schema.released
        if plan.candidates is None:
            trees, levels = fixed(job.schema, _given(self.levels))
            return _Chosen(counted_at(job.table.count(released, levels), trees, levels), levels)
        counts = job.table.count(released)
        job.progress(1, 3, "choosing levels")
        if plan.tree is not None:
            order = plan.tree.order(counts, job.chance)
            tree = plan.tree.grown(counts, order, plan.noise.half or 1, job.chance)
            return _Chosen(tree.shown(), plan.tree.levels, tree.derived())
        found = self._searched(plan, plan.candidates, counts, job)
        return _Chosen(at_node(counts, plan.candidates.hierarchies, found), found)

    def _searched(
        self, plan: "CountPlan", nodes: Candidates, counts: Counts, job: Task
    ) -> Mapping[str, int]:
        if plan.choosing is None:
            return nodes.levels(nodes.low)
        search = LevelSearch(nodes, score_of(self.score), plan.choosing)
        half = plan.noise.half or 1
        search.require_memory(counts, half, Fraction(1))
        about = search.records(counts, job.chance)

        def searching(done: int, total: int) -> None:
            # The second of three parts.
            job.progress(total + done, 3 * total, "choosing levels")

        return nodes.levels(search.node(counts, half, Fraction(1), about, job.chance, searching))

    def _derived(self, plan: "CountPlan") -> dict[str, Any]:
        """What follows from the parameters, for the certificate."""
        epsilon, delta = self._row()
        tree = plan.tree
        return {
            "epsilon": epsilon,
            "delta": delta,
            "definition": self.definition,
            "rows": self.rows,
            "k": self.k,
            "epsilon_counts": plan.noise.epsilon,
            "epsilon_search": plan.choosing,
            "epsilon_order": None if tree is None else tree.epsilon_order,
            "epsilon_tree": None if tree is None else tree.epsilon_tree,
            **plan.noise.derived(),
        }

    def _row(self) -> tuple[Epsilon, Fraction]:
        """The share of the promise that one row has."""
        if not self.delta:
            return self.epsilon * Fraction(1, self.rows), Fraction(0)
        return per_row(self.epsilon, self.delta, self.rows)

    def _noise(self, epsilon: Epsilon, delta: Fraction) -> "_Noise":
        if self.k is None:
            noise_scale(epsilon)  # what cannot be drawn is refused
            return _Noise(epsilon, None)
        parameters = count_parameters(epsilon, delta, self.k, self.definition, self.noise)
        return _Noise(epsilon, parameters)

    def _domain(self, schema: Schema) -> tuple[int, ...]:
        """How many values each column has in the declared domain."""
        trees, levels = fixed(schema, _given(self.levels))
        cards = tuple(trees[name].cardinality(levels[name]) for name in schema.released)
        cells = prod(cards)
        if cells > LARGEST:
            raise TooLargeError(
                f"the declared domain has {cells:,} rows, and each would get a count; at most "
                f"{LARGEST:,} are taken",
                "give higher `levels`, or a `delta`",
            )
        return cards


@dataclass(frozen=True, eq=False)
class CountPlan:
    """How a table will be released, by the parameters and the schema alone.

    noise: the noise of the counts
    candidates: the levels to choose from; None if they are given
    choosing: the ε of that choice; None if there is only one candidate
    tree: what grows a tree for that ε; None if one node is searched for
    """

    noise: "_Noise"
    candidates: Candidates | None = None
    choosing: Epsilon | None = None
    tree: RefiningBudget | None = None


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The rows as they will be shown, and at which levels, for the certificate."""

    shown: ShownRows
    levels: Mapping[str, int]
    tree: Mapping[str, Any] | None = None


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
@brief
@dataclass(frozen=True)
class KDGS:
    """Deterministic generalisation and suppression: rows at fixed levels.

    Rows that fewer than k records share are not released.

    Keeps semantic k-anonymity, and no differential privacy: counts are exact.

    k: how many records must share a row, at least
    levels: the level of every column with a hierarchy, chosen without looking at the rows; 0 where
        a column is not named
    counts: release each distinct row once, with a column `count`, instead of repeating it
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used

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
        released = counted_at(rows.where(rows.count >= self.k), trees, levels)
        certificate = certify(
            job.table, self, job.promise, job.chance, levels=levels, counted=self.counts
        )
        kept = released.rows
        result = lay_out(job.table, released.labels, kept, counts=self.counts)
        job.progress(1, 1, "counting rows")
        facts = KeptFacts(
            records=job.table.rows,
            suppressed=job.table.rows - kept.total,
            kept=kept.total,
            groups=kept.over(grouping(job.table)).distinct,
            crowd=self.k,
            loss=_loss(job, rows.total, released),
        )
        return Release(result, certificate, facts)


def _loss(job: Task, records: int, kept: ShownRows) -> float | None:
    """The granularity lost; None if a quasi-identifying column has no hierarchy."""
    trees = {name: job.schema.hierarchies[name] for name in kept.texts}
    if any(name not in trees for name in job.table.quasi):
        return None
    return kept.lost(records, trees)


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


def _given(levels: Levels) -> Mapping[str, int]:
    """Levels that are given by column; none where they are chosen."""
    return {} if isinstance(levels, str) else levels


ENTRY = Entry(
    method=NoisyCounts,
    summary="frequent rows with noisy counts: differential privacy that keeps most",
    draft=(
        'epsilon = "?"  # how much one row may matter',
        'delta = "?"  # the chance that this fails; shoal explain --counts 1',
        "k = 1  # how many records must share a row, at least",
        'levels = "tree"  # "search": one level per column; or such as { NAME = 2 }',
        "# importance = { NAME = 3 }  # columns that count more than the others",
        "# ceiling = { NAME = 2 }  # the highest level that a column may be released at",
        "# More options (noise, counts, floor, split, unit, …): docs/reference/recipes.md",
    ),
    guide=Guide(
        need="Anyone may get it, and nobody may tell whether someone is in it",
        promise="What is concluded about you hardly depends on whether you are in the table.",
        cost="Rare combinations vanish; counts are off by about one at ε = 1",
        leaves_open="What is true of most people like you",
        example="Open data of a hospital",
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
    levels_note=(
        "noisy-counts counts records that agree in all released columns, so the groups of its "
        "release differ from these. Levels chosen by looking at this page reveal information about "
        "the table, and no budget pays for that."
    ),
)

KDGS_ENTRY = Entry(
    method=KDGS,
    not_attacked=(
        "levels are fixed beforehand, so knowing the algorithm adds only that rows which are not "
        "there have fewer than k records; that every record might be one of k others is proven "
        "(docs: proofs/semantic)"
    ),
    summary="frequent rows with exact counts: semantic k-anonymity alone",
    draft=(
        "k = 10  # how many records must share a row, at least",
        "levels = {}  # such as { NAME = 2 }; 0 for columns not named",
    ),
    guide=Guide(
        need="A rule asks for k-anonymity, counts must be exact, and levels can be fixed",
        promise=(
            "Your record makes no difference, or might be that of any of k − 1 others, also "
            "to those who know the algorithm."
        ),
        cost="Levels are chosen without looking; rare rows are left out",
        leaves_open="What all of a group have in common, and how many they are",
        example="A table with no cell below 11",
    ),
    subset=True,
    generalises="released",
    needs_quasi=False,
    needs_hierarchies=False,
)
