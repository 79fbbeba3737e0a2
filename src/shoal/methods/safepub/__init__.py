"""SafePub: truthful tables with differential privacy, by sampling, generalising and suppressing. The main way to release.

A node of the lattice is chosen on a sample of its own (`search`, `scores`), then a fresh sample is generalised to it, and
groups of at least k sampled records leave, in an order that their values alone decide. Nothing else leaves. The proof
that this keeps (ε, δ): docs/proofs/safepub.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import Counts, group
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.tables import Role, Table
from shoal.errors import HierarchyError, ParameterError, listed
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, fraction, printed, whole
from shoal.lattice import Node
from shoal.methods import Progress, Schema, people_of, require_bound, silent
from shoal.methods.entry import Entry
from shoal.methods.safepub.scores import SCORES, Space, space_of
from shoal.methods.safepub.search import COUNTING, STEPS, ramped, sampled_k, select, walk
from shoal.privacy.calculus import (
    Definition,
    SafePubParameters,
    definition_of,
    delta_concern,
    delta_of,
    per_row,
    safepub_parameters,
    search_epsilon,
)
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.certificate import certify
from shoal.releases.layout import grouping, lay_out
from shoal.releases.release import Release

__all__ = ["SafePub"]

SMALLEST = Fraction(1, 10**6)
"""The smallest ε of a row that is worth a release: with it, one record in a million is drawn."""


@typed
@dataclass(frozen=True)
class SafePub:
    """Sampling, generalisation and suppression that keep (ε, δ)-differential privacy.

    Every released column counts when groups are told apart. Those with a hierarchy are generalised, whatever their role;
    the others are released as they are.

    epsilon, delta: the promise; ε may be "ln(2)"
    definition: "probabilistic", as in the paper, or "standard", which keeps more records
    split: the share of ε for the anonymisation; the rest is for the search
    score: what a good release is: granularity, intensity, discernibility, entropy, groups or classification
    importance: how much columns count in the score; 1 if not named
    floor, ceiling: bounds on the levels of columns
    classes: columns to be predicted, for the score "classification"
    search: "select", one choice among all nodes, or "walk", the paper's walk, repaired
    steps: how many steps a walk takes, 300 unless given; a select takes none
    levels: the level of every column with a hierarchy, where they are given: then nothing is spent on a search
    unit: the identifying column that tells whose rows belong together; each person gives at most `rows` of them

    >>> from shoal import demo
    >>> people = demo.table()
    >>> release = SafePub(epsilon=2, delta="1e-4").release(people)
    >>> release.certificate.promise["epsilon"], len(release.table) < people.rows
    ('2', True)
    """

    epsilon: Epsilon | Exact
    delta: Exact
    definition: Definition = "probabilistic"
    split: Exact = Fraction(9, 10)
    score: str = "granularity"
    importance: Mapping[str, Exact] = field(default_factory=dict)
    floor: Mapping[str, int] = field(default_factory=dict)
    ceiling: Mapping[str, int] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    search: Literal["select", "walk"] = "select"
    steps: int | None = None
    levels: Mapping[str, int] | None = None
    unit: str | None = None
    rows: int = 1

    name: ClassVar[str] = "safepub"

    def __post_init__(self) -> None:
        given: dict[str, Any] = {
            "epsilon": Epsilon.of(self.epsilon),
            "delta": delta_of(self.delta),
            "definition": definition_of(self.definition),
            "split": fraction(self.split, "split", 0, 1, above=True),
            "importance": {
                name: fraction(weight, f"importance of {name!r}", 0)
                for name, weight in self.importance.items()
            },
            "classes": (self.classes,) if isinstance(self.classes, str) else tuple(self.classes),
            "steps": None if self.steps is None else whole(self.steps, "steps"),
            "rows": whole(self.rows, "rows"),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if Epsilon.of(self.epsilon).bounds()[0] < SMALLEST * self.rows:
            raise ParameterError(
                f"an `epsilon` of {self.epsilon} leaves nothing to release; give one of at least {float(SMALLEST):g}"
            )
        if self.score not in SCORES:
            raise ParameterError(f"`score` is {self.score!r}; known are {listed(SCORES)}")
        if (self.score == "classification") != bool(self.classes):
            raise ParameterError(
                "`classes` names the columns to be predicted, and goes with the score 'classification' only"
            )
        if self.search not in ("select", "walk"):
            raise ParameterError(f"`search` is {self.search!r}; it takes 'select' or 'walk'")
        walked = (self.steps or STEPS) if self.search == "walk" else None  # others take none
        object.__setattr__(self, "steps", walked)
        require_bound(self.unit, self.rows, self.definition)
        if self.levels is None and self.split == 1:
            raise ParameterError(
                "a `split` of 1 leaves nothing for a search; give the `levels` to release, or a smaller `split`"
            )

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        """(ε, δ) under the definition, for one row or one person."""
        self._parameters(self._space(schema))  # what has none is refused before a ledger counts it
        schema.require_unit(self.unit)
        schema.require_declared()
        return DifferentialPrivacy(self.epsilon, self.delta, self.definition, self.unit or "row")

    def crowd(self, schema: Schema) -> int:
        """About how many records must share a row for it to be more likely than not to be released: k/β, rounded up."""
        parameters, _ = self._parameters(self._space(schema))
        return ceil(parameters.k / parameters.beta)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """Groups of at least k records of a fresh sample, generalised to the levels chosen on another."""
        schema = Schema.of(table)
        self.promise(schema)  # before anything is counted
        chance, said = chance or Chance(), progress or silent
        said(0, 3, "counting rows")
        return self.release_counts(table, self.count(table, chance), chance, said)

    def release_counts(
        self, table: Table, counts: Counts, chance: Chance, said: Progress
    ) -> Release:
        """The release of a table whose rows were counted by `count`."""
        schema = Schema.of(table)
        promise, space = self.promise(schema), self._space(schema)
        parameters, searching = self._parameters(space)
        if searching is None:
            node = space.low
        else:
            said(1, 3, "searching the lattice")
            node = self._search(counts, space, parameters, searching, chance, said)
        said(2, 3, "drawing records")
        sample = drawn(counts, parameters.beta, chance)
        rows = released_groups(sample, space, node, parameters.k)
        labels = {
            name: (space.hierarchies[name].labels[level], codes)
            for name, level, codes in zip(space.names, node, rows.codes, strict=True)
            if name in space.hierarchies
        }
        certificate = certify(
            table,
            self,
            promise,
            chance,
            levels={
                name: level
                for name, level in zip(space.names, node, strict=True)
                if name in space.hierarchies
            },
            derived=self._derived(parameters, searching),
        )
        result = lay_out(table, labels, rows=rows)
        said(3, 3, "drawing records")
        facts: dict[str, Any] = {
            "records": table.rows,
            "kept": rows.total,
            "groups": rows.over(grouping(table)).distinct,
            "crowd": self.crowd(schema),
        }
        if table.rows and (concern := delta_concern(self.delta, table.rows)):
            facts["concern"] = concern  # by the number of records, so for the owner alone
        return Release(result, certificate, table.rows - rows.total, facts)

    def _space(self, schema: Schema) -> Space:
        """The candidates, from the schema alone."""
        hierarchies: dict[str, Hierarchy] = {}
        names = schema.released
        for name in names:
            if name not in schema.hierarchies:
                if schema.roles[name] is not Role.QUASI:
                    continue
                raise HierarchyError(
                    f"column {name!r} has no hierarchy; give it one, or another role if it may leave as it is"
                )
            hierarchies[name] = schema.public(name)
        if not hierarchies:
            raise ParameterError(
                "the table has no column with a hierarchy to generalise along; give one a hierarchy"
            )
        floor, ceiling = dict(self.floor), dict(self.ceiling)
        if self.levels is not None:
            missing = [name for name in hierarchies if name not in self.levels]
            if missing:
                raise ParameterError(
                    f"`levels` is to name every column that has a hierarchy; missing are {listed(missing)}"
                )
            if floor or ceiling:
                raise ParameterError("`levels` fixes every level; leave out `floor` and `ceiling`")
            floor = ceiling = dict(self.levels)
        importance = {name: Fraction(weight) for name, weight in self.importance.items()}
        return space_of(names, hierarchies, floor, ceiling, importance, self.classes)

    def _parameters(self, space: Space) -> tuple[SafePubParameters, Epsilon | None]:
        """k and β of the anonymisation, and the search's ε, if there is anything to search."""
        epsilon, delta = per_row(self.epsilon, self.delta, self.rows)
        if space.size == 1:
            return safepub_parameters(epsilon, delta, self.definition), None
        split = Fraction(self.split)
        searching = epsilon * (1 - split)
        if searching.bounds()[0] < SMALLEST**2:
            raise ParameterError(
                f"a `split` of {printed(split)} leaves nothing for a search; give a smaller one, or `levels`"
            )
        return safepub_parameters(epsilon * split, delta, self.definition), searching

    def _derived(self, parameters: SafePubParameters, searching: Epsilon | None) -> dict[str, Any]:
        return {
            "k": parameters.k,
            "beta": parameters.beta,
            "epsilon_anonymisation": parameters.epsilon,
            "epsilon_search": searching,
            "delta": parameters.delta,
            "definition": parameters.definition,
            "rows": self.rows,
        }

    def count(self, table: Table, chance: Chance) -> Counts:
        """Distinct rows of the released columns: leaves of those that have a hierarchy, values of the others."""
        space = self._space(Schema.of(table))
        table = people_of(self, table, chance)
        codes, cards = [], []
        table.columns(space.names)
        for name in space.names:
            tree = space.hierarchies.get(name)
            codes.append(table.leaves(name) if tree else table.column(name).codes)
            cards.append(tree.cardinality(0) if tree else max(len(table.column(name).keys), 1))
        return group(space.names, codes, cards)

    def _search(
        self,
        counts: Counts,
        space: Space,
        parameters: SafePubParameters,
        epsilon: Epsilon,
        chance: Chance,
        progress: Progress,
    ) -> Node:
        """The node to release. The budget pays for a noisy number of records, which sizes the sample, and for the choice."""
        scale = 1 / (epsilon * COUNTING).bounds()[0]
        k = sampled_k(parameters.k, parameters.beta, counts.total + chance.discrete_laplace(scale))
        share = parameters.beta * k / parameters.k
        spent = search_epsilon(epsilon * (1 - COUNTING), share)
        sample = drawn(counts, share, chance)

        def searching(done: int, total: int) -> None:
            progress(total + done, 3 * total, "searching the lattice")  # the second of three parts

        score = SCORES[self.score]
        if self.search == "walk":
            return walk(
                space, score, sample, ramped(k), spent, chance, searching, self.steps or STEPS
            )
        return select(space, score, sample, ramped(k), spent, chance, searching)


def drawn(counts: Counts, share: Fraction, chance: Chance) -> Counts:
    """A sample: every record with this chance, independently of all others."""
    count = chance.binomial(counts.count, share)
    some = np.flatnonzero(count)
    return replace(counts, codes=tuple(codes[some] for codes in counts.codes), count=count[some])


def released_groups(sample: Counts, space: Space, node: Node, k: int) -> Counts:
    """The groups that leave: those of at least k sampled records, over all released columns, by their codes at the node's levels.

    Where every column is at its root a row tells nothing, and none leaves.
    """
    trees = [space.hierarchies.get(name) for name in space.names]
    codes = [
        tree.maps[level][codes] if tree else codes
        for tree, level, codes in zip(trees, node, sample.codes, strict=True)
    ]
    cards = [
        tree.cardinality(level) if tree else card
        for tree, level, card in zip(trees, node, sample.cards, strict=True)
    ]
    groups = group(sample.names, codes, cards, sample.count)
    suppressed = all(
        tree is not None and level == tree.height for tree, level in zip(trees, node, strict=True)
    )
    kept = np.flatnonzero((groups.count >= k) & (not suppressed))
    return replace(
        groups, codes=tuple(codes[kept] for codes in groups.codes), count=groups.count[kept]
    )


ENTRY = Entry(
    method=SafePub,
    summary="differential privacy with true rows: fewer and coarser",
    draft=(
        'epsilon = "?"  # how much one row may matter, such as 1 or "ln(2)"',
        'delta = "?"  # the chance that this fails, such as 1e-6; try shoal explain',
        'definition = "probabilistic"  # or standard: keeps more records',
        'score = "granularity"  # what a good release is; others: docs/safepub.md',
        "# importance = { NAME = 3 }  # columns that count more in the score than 1",
        "# ceiling = { NAME = 2 }  # the highest level that a column may be released at",
        '# unit = "NAME"  # whose rows belong together, by an identifying column (for any',
        '# method). Each person gives one row; here it needs definition = "standard"',
        "# More options (levels, classes, floor, split, …): docs/recipes.md",
    ),
    subset=True,
    generalises="released",
    needs_quasi=False,
    levels_note=(
        "safepub counts records that agree in all released columns, in a sample, so the groups "
        "of its release differ from these. Levels chosen by looking at this page reveal "
        "information about the table, and no budget pays for that."
    ),
)
