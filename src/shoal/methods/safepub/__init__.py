"""SafePub: truthful tables with differential privacy, by sampling, generalising and suppressing.
The main way to release.

A node of the lattice is chosen on a sample of its own (`searching`), or a tree of refinements is
grown (`refining`). Then a fresh sample is generalised to it, and groups of at least k sampled
records are released, in an order that their values alone decide. Nothing else is released. The
proof that this keeps (ε, δ): docs/proofs/safepub.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from shoal.arguments import keep, typed
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.schema import Schema
from shoal.data.tables import Role, Table
from shoal.errors import HierarchyError, ParameterError, listed
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, fraction, printed, whole
from shoal.lattice import Node
from shoal.methods.entry import Entry, Guide
from shoal.methods.method import (
    Progress,
    Task,
    begin,
    delta_concerns,
    require_bound,
)
from shoal.methods.refining import RefiningBudget, require_refinable
from shoal.methods.searching import (
    STEPS,
    Candidates,
    LevelSearch,
    Score,
    candidates,
    require_score,
    score_of,
)
from shoal.methods.searching.search import drawn
from shoal.methods.showing import ShownRows, at_node
from shoal.privacy.calculus import (
    AUTO,
    Definition,
    SafePubParameters,
    chosen_parameters,
    definition_of,
    delta_of,
    per_row,
    safepub_parameters,
)
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.certificate import certify
from shoal.releases.facts import KeptFacts
from shoal.releases.layout import grouping, lay_out
from shoal.releases.release import Release
from shoal.zones import brief

__all__ = ["SafePub", "SafePubPlan", "SearchChoice", "released_groups"]

SMALLEST = Fraction(1, 10**6)
"""The smallest ε of a row that is worth a release: with it, one record in a million is drawn."""


@dataclass(frozen=True, eq=False)
class SafePubPlan:
    """How a table will be released, by the parameters and the schema alone.

    candidates: the nodes that may be released
    parameters: k and β of the anonymisation; where β is chosen by a noisy number of records, those
        for the usual β
    searching: the ε of the search; None if there is only one candidate
    tree: what grows a tree for that ε; None if one node is searched for
    """

    candidates: Candidates
    parameters: SafePubParameters
    searching: Epsilon | None
    tree: RefiningBudget | None = None


@dataclass(frozen=True)
class SearchChoice:
    """What the budget of the search pays for: a node, and the parameters to release it with."""

    node: Node
    parameters: SafePubParameters


@dataclass(frozen=True, eq=False)
class _Made:
    """The groups to release, and how they came about, for the certificate."""

    shown: ShownRows
    parameters: SafePubParameters
    levels: Mapping[str, int]
    derived: Mapping[str, Any]


@typed
@brief
@dataclass(frozen=True, init=False)
class SafePub:
    """Sampling, generalisation and suppression that keep (ε, δ)-differential privacy.

    Every released column counts when groups are told apart. Those with a hierarchy are generalised,
    whatever their role; the others are released unchanged.

    epsilon: how much one person may matter: a number such as 0.5, or "ln(2)"
    delta: the chance that this fails, such as 1e-6
    definition: "standard", what (ε, δ) usually means, or "probabilistic", as in the paper, which is
        stronger and keeps fewer records
    split: the share of ε for the anonymisation; the rest is for the search
    score: what a good release is: granularity, intensity, discernibility, entropy, groups or
        classification; or a score of your own (docs/how-to/extend-score.md)
    importance: how much columns count in the score; 1 if not named
    floor: the lowest level that a column may be released at
    ceiling: the highest level that a column may be released at
    classes: columns to be predicted, for the score "classification"
    search: "select", one choice among all nodes; "walk", the paper's walk, repaired; or "tree",
        which refines regions with many records further than others, so that a column has values of
        several levels; it takes the standard definition
    steps: how many steps a walk takes, 300 unless given; a select takes none
    levels: the level of every column with a hierarchy, where they are given: then nothing is spent
        on a search
    beta: the chance that a record is drawn, 1 − e^−ε unless given; "auto" for the one that is
        expected to keep most records, by their number
    records: about how many records there are, where that is public; if not, the search pays for it
    unit: the identifying column that says whose rows belong together
    rows: how many rows of each person are used, at most

    >>> from shoal import demo
    >>> people = demo.table()
    >>> release = SafePub(epsilon=2, delta="1e-4").release(people)
    >>> release.certificate.promise["epsilon"], len(release.table) < people.rows
    ('2', True)
    """

    epsilon: Epsilon
    delta: Fraction
    definition: Definition
    split: Fraction
    score: Score | str
    importance: Mapping[str, Fraction]
    floor: Mapping[str, int]
    ceiling: Mapping[str, int]
    classes: tuple[str, ...]
    search: Literal["select", "walk", "tree"]
    steps: int | None
    levels: Mapping[str, int] | None
    beta: Fraction | Literal["auto"] | None
    records: int | None
    unit: str | None
    rows: int

    name: ClassVar[str] = "safepub"

    def __init__(  # noqa: PLR0913  the parameters of the method
        self,
        epsilon: Epsilon | Exact,
        delta: Exact,
        definition: Definition = "standard",
        split: Exact = Fraction(9, 10),
        score: Score | str = "granularity",
        importance: Mapping[str, Exact] | None = None,
        floor: Mapping[str, int] | None = None,
        ceiling: Mapping[str, int] | None = None,
        classes: Sequence[str] = (),
        search: Literal["select", "walk", "tree"] = "select",
        steps: int | None = None,
        levels: Mapping[str, int] | None = None,
        beta: Exact | Literal["auto"] | None = None,
        records: int | None = None,
        unit: str | None = None,
        rows: int = 1,
    ) -> None:
        weights = {
            name: fraction(weight, f"importance of {name!r}", 0)
            for name, weight in (importance or {}).items()
        }
        if steps is not None:
            steps = whole(steps, "steps")
        if records is not None:
            records = whole(records, "records")
        if beta is not None and not (isinstance(beta, str) and beta == AUTO):
            beta = fraction(beta, "beta", 0, 1, above=True, below=True)
        keep(
            self,
            epsilon=Epsilon.of(epsilon),
            delta=delta_of(delta),
            definition=definition_of(definition),
            split=fraction(split, "split", 0, 1, above=True),
            score=score,
            importance=weights,
            floor=dict(floor or {}),
            ceiling=dict(ceiling or {}),
            classes=tuple(classes),
            search=search,
            # Any other search takes no steps.
            steps=(steps or STEPS) if search == "walk" else None,
            levels=levels,
            beta=beta,
            records=records,
            unit=unit,
            rows=whole(rows, "rows"),
        )
        self._require_sense()

    def _require_sense(self) -> None:
        """ParameterError if the parameters do not go together."""
        if self.epsilon.bounds()[0] < SMALLEST * self.rows:
            raise ParameterError(
                f"an `epsilon` of {self.epsilon} leaves nothing to release",
                f"give one of at least {float(SMALLEST):g}",
            )
        require_score(self.score, self.classes)
        if self.search not in ("select", "walk", "tree"):
            raise ParameterError(
                f"is {self.search!r}", "it takes 'select', 'walk' or 'tree'", option="search"
            )
        if self.search == "tree":
            require_refinable(self.score, self.definition)
        if self.records is not None and self.beta != AUTO:
            raise ParameterError("is what `beta='auto'` is chosen by", option="records")
        require_bound(self.unit, self.rows, self.definition)
        if self.levels is None and self.split == 1:
            raise ParameterError(
                "a `split` of 1 leaves nothing for a search",
                "give the `levels` to release, or a smaller `split`",
            )

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        """(ε, δ) under the definition, for one row or one person."""
        self.plan(schema)  # what cannot be released is refused before a ledger counts it
        schema.require_unit(self.unit)
        schema.require_declared()
        return DifferentialPrivacy(self.epsilon, self.delta, self.definition, self.unit or "row")

    def crowd(self, schema: Schema) -> int | None:
        """About how many records must share a row for it to be more likely than not to be released:
        k/β, rounded up; None where β will be chosen by a noisy number of records.
        """
        if self.beta == AUTO and self.records is None:
            return None
        return self.plan(schema).parameters.crowd

    def beforehand(self, table: Table) -> tuple[str, ...]:
        """What the owner should know of a β that asks for no group."""
        if self.plan(table.schema).parameters.k > 1:
            return ()
        return (
            "`beta` is so small that k is 1: a drawn record is released even if nobody shares its "
            "row; give a larger one, or leave it out",
        )

    def searched(self, schema: Schema) -> Mapping[str, range] | None:
        """The levels of all columns with a hierarchy, but for those to be predicted."""
        if self.levels is not None or self.search == "tree":
            return None
        return self.plan(schema).candidates.ranges

    def plan(self, schema: Schema) -> SafePubPlan:
        """How a table with this schema will be released."""
        nodes = self._candidates(schema)
        epsilon, delta = per_row(self.epsilon, self.delta, self.rows)
        if nodes.size == 1:
            if self.beta == AUTO and self.records is None:
                raise ParameterError(
                    "'auto' is chosen by the number of records, and without a search nothing pays "
                    "for it",
                    "give `records` if their number is public, or a number",
                    option="beta",
                )
            return SafePubPlan(nodes, self._parameters(epsilon, delta), None)
        searching = epsilon * (1 - self.split)
        if searching.bounds()[0] < SMALLEST**2:
            raise ParameterError(
                f"a `split` of {printed(self.split)} leaves nothing for a search",
                "give a smaller one, or `levels`",
            )
        parameters = self._parameters(epsilon * self.split, delta)
        tree = None
        if self.search == "tree":
            tree = RefiningBudget(nodes, searching)
            tree.require_possible()
        return SafePubPlan(nodes, parameters, searching, tree)

    def _parameters(self, epsilon: Epsilon, delta: Fraction) -> SafePubParameters:
        """k and β of the anonymisation, as far as they are known before any data is seen."""
        if self.records is not None:
            return chosen_parameters(epsilon, delta, self.definition, self.records)
        beta = None if self.beta == AUTO else self.beta
        return safepub_parameters(epsilon, delta, self.definition, beta=beta)

    def _candidates(self, schema: Schema) -> Candidates:
        """The nodes that may be released."""
        trees = _trees(schema)
        floor, ceiling = self.floor, self.ceiling
        if self.levels is not None:
            missing = [name for name in trees if name not in self.levels]
            if missing:
                raise ParameterError(
                    "is to name every column that has a hierarchy",
                    f"missing are {listed(missing)}",
                    option="levels",
                )
            if floor or ceiling:
                raise ParameterError(
                    "fixes every level", "leave out `floor` and `ceiling`", option="levels"
                )
            floor = ceiling = self.levels
        return candidates(schema.released, trees, floor, ceiling, self.importance, self.classes)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """Groups of at least k records of a fresh sample, at levels chosen on another sample."""
        job = begin(self, table, chance, progress)
        job.progress(0, 3, "counting rows")
        return self.release_counts(job, job.table.count(job.schema.released))

    def release_counts(self, job: Task, counts: Counts) -> Release:
        """The release of a table whose rows were counted.

        Columns with a hierarchy are counted by leaves, others by values.
        """
        plan = self.plan(job.schema)
        if plan.tree is None:
            made = self._by_node(plan, counts, job)
        else:
            made = self._by_tree(plan, plan.tree, counts, job)
        rows = made.shown.rows
        certificate = certify(
            job.table,
            self,
            job.promise,
            job.chance,
            levels=made.levels,
            derived=made.derived,
        )
        released = lay_out(job.table, made.shown.labels, rows)
        job.progress(3, 3, "drawing records")
        facts = KeptFacts(
            records=job.rows,
            suppressed=job.rows - rows.total,
            kept=rows.total,
            used=counts.total,
            groups=rows.over(grouping(job.table)).distinct,
            crowd=made.parameters.crowd,
            loss=made.shown.lost(counts.total, plan.candidates.hierarchies),
            concerns=delta_concerns(self.delta, job.people),
        )
        return Release(released, certificate, facts)

    def _by_node(self, plan: SafePubPlan, counts: Counts, job: Task) -> _Made:
        """The groups at one node, which is given or searched for."""
        choice = self.choose(plan, counts, job.chance, job.progress)
        job.progress(2, 3, "drawing records")
        parameters, nodes = choice.parameters, plan.candidates
        sample = drawn(counts, parameters.beta, job.chance)
        shown = released_groups(sample, nodes, choice.node, parameters.k)
        levels = nodes.levels(choice.node)
        return _Made(shown, parameters, levels, self._derived(plan, parameters))

    def _by_tree(
        self, plan: SafePubPlan, budget: RefiningBudget, counts: Counts, job: Task
    ) -> _Made:
        """The groups of a tree: it is grown on all records, and a fresh sample is released."""
        job.progress(1, 3, "growing a tree")
        order = budget.order(counts, job.chance)
        parameters = self._chosen(plan.parameters, order.records)
        tree = budget.grown(counts, order, parameters.k / parameters.beta, job.chance)
        job.progress(2, 3, "drawing records")
        sample = job.chance.binomial(counts.count, parameters.beta)
        shown = tree.shown(sample)
        large = shown.rows.count >= parameters.k
        derived = {
            **self._derived(plan, parameters),
            "epsilon_order": budget.epsilon_order,
            "epsilon_tree": budget.epsilon_tree,
            "tree": tree.derived(),
        }
        kept = shown.where(large & tree.tells(shown))
        return _Made(kept, parameters, budget.levels, derived)

    def choose(
        self, plan: SafePubPlan, counts: Counts, chance: Chance, progress: Progress
    ) -> SearchChoice:
        """The node to release, and with which parameters.

        The budget pays for a noisy number of records, which sizes the sample and decides on β where
        nothing else does, and for the choice of the node.
        """
        if plan.searching is None:
            return SearchChoice(plan.candidates.low, plan.parameters)
        progress(1, 3, "searching the lattice")
        steps = (self.steps or STEPS) if self.search == "walk" else None
        search = LevelSearch(plan.candidates, score_of(self.score), plan.searching, steps)
        search.require_memory(counts, plan.parameters.k, plan.parameters.beta)
        about = search.records(counts, chance)
        parameters = self._chosen(plan.parameters, about)

        def searching(done: int, total: int) -> None:
            # The second of three parts.
            progress(total + done, 3 * total, "searching the lattice")

        node = search.node(counts, parameters.k, parameters.beta, about, chance, searching)
        return SearchChoice(node, parameters)

    def _chosen(self, parameters: SafePubParameters, about: int) -> SafePubParameters:
        """The parameters; by about how many records there are if nothing else decides on β."""
        if self.beta != AUTO or self.records is not None:
            return parameters
        return chosen_parameters(
            parameters.epsilon, parameters.delta, self.definition, max(about, 1)
        )

    def _derived(self, plan: SafePubPlan, parameters: SafePubParameters) -> dict[str, Any]:
        """What follows from the parameters and the choice, for the certificate."""
        return {
            "k": parameters.k,
            "beta": parameters.beta,
            "epsilon_anonymisation": parameters.epsilon,
            "epsilon_search": plan.searching,
            "delta": parameters.delta,
            "definition": parameters.definition,
            "rows": self.rows,
            "epsilon_order": None,
            "epsilon_tree": None,
            "tree": None,
        }


def _trees(schema: Schema) -> dict[str, Hierarchy]:
    """The public hierarchies of the released columns that may be generalised."""
    trees: dict[str, Hierarchy] = {}
    for name in schema.released:
        if name in schema.hierarchies:
            trees[name] = schema.public(name)
        elif schema.roles[name] is Role.QUASI:
            raise HierarchyError(
                f"column {name!r} has no hierarchy",
                "give it one, or another role if it may be released unchanged",
            )
    if not trees:
        raise ParameterError(
            "the table has no column with a hierarchy to generalise along", "give one a hierarchy"
        )
    return trees


def released_groups(sample: Counts, nodes: Candidates, node: Node, k: int) -> ShownRows:
    """The groups that are released: those of at least k sampled records, at the node's levels.

    Records of a group agree in all released columns. Where every column is at its root a row shows
    nothing, and none is released.
    """
    levels = nodes.levels(node)
    groups = at_node(sample, nodes.hierarchies, levels)
    at_root = [
        name in levels and levels[name] == nodes.hierarchies[name].height for name in sample.names
    ]
    return groups.where((groups.rows.count >= k) & (not all(at_root)))


ENTRY = Entry(
    method=SafePub,
    summary="differential privacy with true rows: fewer and coarser",
    draft=(
        'epsilon = "?"  # how much one row may matter, such as 1 or "ln(2)"',
        'delta = "?"  # the chance that this fails, such as 1e-6; try shoal explain',
        'definition = "standard"  # or probabilistic: stronger, keeps fewer records',
        'score = "granularity"  # what a good release is; others: docs/how-to/safepub.md',
        "# importance = { NAME = 3 }  # columns that count more in the score than 1",
        "# ceiling = { NAME = 2 }  # the highest level that a column may be released at",
        '# unit = "NAME"  # whose rows belong together, by an identifying column (for',
        '# any method). Each person gives one row; it needs definition = "standard"',
        "# More options (levels, beta, floor, split, …): docs/reference/recipes.md",
    ),
    guide=Guide(
        need="Anyone may get it, and every row must be a real record",
        promise=(
            "What is concluded about you hardly depends on whether you are in the table, and "
            "every row is a real record."
        ),
        cost="A third less is kept than by noisy counts: a sample, in groups of dozens",
        leaves_open="What is true of most people like you",
        example="A register whose rows are checked",
    ),
    subset=True,
    generalises="released",
    needs_quasi=False,
    not_attacked=(
        "differential privacy holds against someone who knows the algorithm and all other records, "
        "which is proven (docs: proofs/safepub)"
    ),
    levels_note=(
        "safepub counts records that agree in all released columns, in a sample, so the groups "
        "of its release differ from these. Levels chosen by looking at this page reveal "
        "information about the table, and no budget pays for that."
    ),
)
