"""Algorithm 3 of Fouad, Elbassioni and Bertino (2012).

It was published as differentially private, which it is not: docs/proofs/personal.md has the
counterexample. Uses the models of personal generalisation; `layered` and tests use it.
"""

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import TypeAlias

import numpy as np

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError, TooLargeError
from shoal.exact.numbers import Exact, fraction, whole
from shoal.lattice import Node
from shoal.methods.personal.crowds import Crowds
from shoal.methods.personal.models import (
    Sensitivity,
    SensitivityModel,
    Sum,
    Utility,
    Weights,
    Worth,
)

__all__ = [
    "FrequentScore",
    "FrequentScoring",
    "frequent_exponential",
    "grip",
    "quasi_trees",
    "require_few_scores",
]

LARGEST = 1_000_000
"""Nodes times distinct rows that are scored at most."""

DIGITS = Context(prec=40)
"""Of the logarithm of β, the one number that is rounded."""

WARNING = (
    "frequent_exponential is NOT differentially private, whatever its parameters: which"
    " generalisations are frequent depends on single records, and shows. Release nothing made by"
    " it; SafePub keeps what it was meant to keep"
)

Trees: TypeAlias = Mapping[str, Hierarchy]
Scored: TypeAlias = list[tuple[Fraction, Node]]
"""The nodes at which a row is frequent, with the score of each."""


@dataclass(frozen=True)
class FrequentScore:
    """What generalisations are scored by: pull / risk + utility^power."""

    pull: Exact = 1
    power: int = 1
    measure: Utility = "leaves"
    model: Sensitivity = "fixed"
    weights: Weights | None = None

    def __post_init__(self) -> None:
        fraction(self.pull, "pull", 0, above=True)
        whole(self.power, "power", 0)


@typed
def frequent_exponential(
    table: Table,
    t: int,
    epsilon: Exact,
    beta: Exact,
    *,
    score: FrequentScore | None = None,
    chance: Chance | None = None,
) -> dict[tuple[str, ...], int]:
    """How often each generalisation of the quasi-identifying columns comes out.

    The roots come out once more, as in the paper. Each record is sampled with probability 1 − β. A
    sampled one is replaced by one of its generalisations that fit t records or more, drawn with
    probability proportional to e^(ε′ f / n), where n is the number of records, f is the score, ε′ =
    (ε + ln β) / (3 η (1 − β)) and η = 2 (pull / s + u^power / n) for the lowest sensitivity s above
    0 and the highest utility u. What shows nothing sensitive counts as if it showed s.
    """
    warnings.warn(WARNING, UserWarning, stacklevel=2)
    least_records = whole(t, "t")
    kept = 1 - fraction(beta, "beta", 0, 1, above=True)
    strength = grip(fraction(epsilon, "epsilon", 0, above=True), 1 - kept)
    trees = quasi_trees(table)
    rows = table.count(list(trees))
    if rows.total < least_records:
        raise InfeasibleError(
            f"no generalisation fits t={t} records, as there are only {rows.total:,}",
            "use a smaller `t`",
        )
    require_few_scores(rows, trees)
    scoring = FrequentScoring.of(rows, trees, score or FrequentScore())
    rate = strength / (3 * scoring.influence * kept) / rows.total
    scores = scoring.scores(least_records)
    source = chance or Chance()
    roots = tuple(tree.labels[-1][0] for tree in trees.values())
    # The paper adds the roots once, so that something always comes out.
    drawn: Counter[tuple[str, ...]] = Counter([roots])
    sampled = source.binomial(scoring.crowds.everyone.count, kept)
    for row, times in enumerate(sampled.tolist()):
        numbers = [number for number, _ in scores[row]]
        for _ in range(times):
            choice = source.exponential(numbers, rate)
            _, node = scores[row][choice]
            drawn[scoring.texts(row, node)] += 1
    return dict(sorted(drawn.items()))


def grip(epsilon: Fraction, beta: Fraction) -> Fraction:
    """ε + ln β, which must be above 0."""
    quotient = DIGITS.divide(Decimal(beta.numerator), Decimal(beta.denominator))
    strength = epsilon + Fraction(DIGITS.ln(quotient))
    if beta == 1 or strength <= 0:
        raise ParameterError(
            "is out of range",
            "choose it above e to the power −`epsilon` and below 1",
            option="beta",
        )
    return strength


def quasi_trees(table: Table) -> Trees:
    """The hierarchies of the quasi-identifying columns; ParameterError if there are none."""
    trees = {name: table.hierarchy(name) for name in table.quasi}
    if not trees:
        raise ParameterError(
            "the table has no quasi-identifying column to generalise", "give one that role"
        )
    return trees


def require_few_scores(rows: Counts, trees: Trees) -> None:
    """TooLargeError if there are too many generalisations to score all."""
    nodes = prod(tree.height + 1 for tree in trees.values())
    if nodes * rows.distinct > LARGEST:
        raise TooLargeError(
            f"{nodes:,} nodes of {rows.distinct:,} distinct rows are more than {LARGEST:,} scores",
            "use fewer columns",
        )


@dataclass(frozen=True, eq=False)
class FrequentScoring:
    """The scores of all generalisations of a table's rows."""

    crowds: Crowds
    trees: Trees
    worth: Sum
    shown: Sum
    pull: Fraction
    power: int

    @classmethod
    def of(
        cls,
        rows: Counts,
        trees: Trees,
        score: FrequentScore,
    ) -> "FrequentScoring":
        worth = Worth(score.measure).sum(trees)
        shown = SensitivityModel(score.model, score.weights or {}).sum(trees)
        pull = fraction(score.pull, "pull", 0, above=True)
        return cls(Crowds(rows, trees), trees, worth, shown, pull, score.power)

    @property
    def least(self) -> Fraction:
        """The lowest sensitivity above 0 of anything that can be shown."""
        # If even the roots show something, nothing shows less.
        roots = sum(int(levels[-1].min()) for levels in self.shown.parts)
        if roots:
            return roots / self.shown.unit
        units = []
        for part in chain.from_iterable(self.shown.parts):
            positive = part[part > 0]
            if len(positive):
                units.append(int(positive.min()))
        if not units:
            raise ParameterError(
                "all weights are 0: nothing is sensitive", "give a column a weight above 0"
            )
        return min(units) / self.shown.unit

    @property
    def influence(self) -> Fraction:
        """η: by how much one record may change a score, according to the paper."""
        utility = (self.worth.most / self.worth.unit) ** self.power
        return 2 * (self.pull / self.least + utility / self.crowds.people)

    def scores(self, t: int) -> list[Scored]:
        """For every distinct row the nodes at which t records or more are like it."""
        least = self.least
        scores: list[Scored] = [[] for _ in range(self.crowds.everyone.distinct)]
        levels = [range(tree.height + 1) for tree in self.trees.values()]
        for node in product(*levels):
            sizes = self.crowds.sizes(node)
            worth = np.broadcast_to(self.crowds.sum_at(self.worth, node), sizes.shape)
            shown = np.broadcast_to(self.crowds.sum_at(self.shown, node), sizes.shape)
            for row in np.flatnonzero(sizes >= t).tolist():
                sensitivity = Fraction(int(shown[row])) / self.shown.unit
                utility = Fraction(int(worth[row])) / self.worth.unit
                crowding = self.pull * int(sizes[row]) / max(sensitivity, least)
                score = crowding + utility**self.power
                scores[row].append((score, node))
        return scores

    def texts(self, row: int, node: Node) -> tuple[str, ...]:
        """What a row shows at a node."""
        texts = []
        leaves = [int(codes[row]) for codes in self.crowds.everyone.codes]
        for tree, level, leaf in zip(self.trees.values(), node, leaves, strict=True):
            texts.append(tree.labels[level][tree.maps[level][leaf]])
        return tuple(texts)

    def parts(self, row: int, node: Node) -> tuple[int, Fraction, Fraction]:
        """How many records a row fits at a node, what it shows, and what it is worth."""
        people = int(self.crowds.sizes(node)[row])
        codes = []
        leaves = [int(codes[row]) for codes in self.crowds.everyone.codes]
        for tree, level, leaf in zip(self.trees.values(), node, leaves, strict=True):
            codes.append(int(tree.maps[level][leaf]))
        return people, self.shown.of(codes, node), self.worth.of(codes, node)
