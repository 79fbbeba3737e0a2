"""Algorithm 4 of Fouad, Elbassioni and Bertino (2012), and equation 10, which is to choose t.

Both belong to Algorithm 3 (`frequent`) and to a claim of differential privacy that does not hold:
docs/proofs/personal.md has the counterexamples. Uses `frequent`; tests use it.
"""

import warnings
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, exp, floor, log

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError
from shoal.exact.numbers import Exact, fraction, whole
from shoal.lattice import Node
from shoal.research.frequent import (
    FrequentScore,
    FrequentScoring,
    grip,
    quasi_trees,
    require_few_scores,
)

__all__ = ["Layers", "frequency_bound", "layered_exponential"]

Floats = npt.NDArray[np.float64]

TRIES = 10_000
"""Points that are drawn until one is in a layer; with fewer than that the layer counts as empty."""

FINE = 1 << 53
"""Numbers between 0 and 1 are drawn in steps of one part of this."""

WARNING = (
    "layered_exponential is NOT differentially private, whatever its parameters: which"
    " generalisations are accepted depends on single records, and shows. Release nothing made by it"
)


@dataclass(frozen=True)
class Layers:
    """The parameters of Algorithm 4.

    theta: t is this share of the number of records
    sigma: what is accepted fits σt records or more
    step: ε″; sensitivities of a layer differ at most by the factor 1 + ε″
    """

    theta: Exact = "1/2"
    sigma: Exact = "1/2"
    step: Exact = "1/2"

    def __post_init__(self) -> None:
        for name in ("theta", "sigma", "step"):
            fraction(getattr(self, name), name, 0, 1, above=True)


@typed
def frequency_bound(
    epsilon: Exact,
    delta: Exact,
    beta: Exact,
    *,
    columns: int,
    height: int,
    most: Exact,
    influence: Exact,
    slack: Exact = "1/2",
) -> int:
    """The least whole t above the right-hand side of equation 10.

    It does not depend on the number of records, and no t helps. The paper prints h^κ in the second
    term; its inequality 25 needs h^k, which is taken here.

    columns, height: k, and the largest number h of levels of a hierarchy
    most: the largest score of a generalisation, divided by the number of records
    influence: η
    slack: τ₁
    """
    kept = 1 - fraction(beta, "beta", 0, 1, above=True)
    tau = float(fraction(slack, "slack", 0, 1, above=True))
    strength = grip(fraction(epsilon, "epsilon", 0, above=True), 1 - kept)
    failing = float(fraction(delta, "delta", 0, 1, above=True))
    rate = float(strength) / (3 * float(fraction(influence, "influence", 0, above=True)))
    exponent = rate / float(kept) * float(fraction(most, "most", 0))
    nodes = whole(columns, "columns") * log(whole(height, "height"))
    if tau == 1:
        raise ParameterError("is out of range", "choose it below 1", option="slack")
    share = float(1 - kept)
    chernoff = 2 / (share * tau**2) * (log(2 / failing) + nodes)
    copies = share * exp(nodes + exponent) / (float(kept) * (1 - tau))
    return floor(max(chernoff, copies)) + 1


@typed
def layered_exponential(
    table: Table,
    epsilon: Exact,
    beta: Exact,
    *,
    layers: Layers | None = None,
    score: FrequentScore | None = None,
    chance: Chance | None = None,
) -> dict[tuple[str, ...], int]:
    """As `frequent_exponential`, with Algorithm 4 to draw the generalisation of a sampled record.

    A layer of sensitivities is picked. A point of the polytope of the record's chains is drawn from
    it, in which the extension of |ρ| is at least t, with a density proportional to e to the power
    of the extended score, and rounded by a threshold until the node fits σt records or more. Points
    are drawn by rejection, in floats: this is to be studied on few columns.
    """
    warnings.warn(WARNING, UserWarning, stacklevel=2)
    kept = 1 - fraction(beta, "beta", 0, 1, above=True)
    strength = grip(fraction(epsilon, "epsilon", 0, above=True), 1 - kept)
    trees = quasi_trees(table)
    rows = table.count(list(trees))
    require_few_scores(rows, trees)
    scoring = FrequentScoring.of(rows, trees, score or FrequentScore())
    rate = float(strength / (3 * scoring.influence * kept) / max(rows.total, 1))
    source = chance or Chance()
    drawn: Counter[tuple[str, ...]] = Counter([tuple(t.labels[-1][0] for t in trees.values())])
    sampled = source.binomial(scoring.crowds.everyone.count, kept)
    for row, times in enumerate(sampled.tolist()):
        points = _Points(scoring, row, rate, layers or Layers())
        for _ in range(times):
            drawn[scoring.texts(row, points.draw(source))] += 1
    return dict(sorted(drawn.items()))


@dataclass(frozen=True)
class _Points:
    """The polytope of the chains of one row, as Algorithm 4 draws from it."""

    scoring: FrequentScoring
    row: int
    rate: float
    layers: Layers
    _known: dict[Node, tuple[float, float, float]] = field(default_factory=dict)

    @cached_property
    def _t(self) -> Fraction:
        return fraction(self.layers.theta, "theta") * self.scoring.crowds.people

    @cached_property
    def _steps(self) -> list[tuple[int, int]]:
        heights = self.scoring.crowds.heights
        return [(column, level) for column, high in enumerate(heights) for level in range(high)]

    def _number_of_layers(self) -> int:
        """U + 1."""
        chain = [self._at(node)[1] for node in self._chain(range(len(self._steps)))]
        ratio = max(chain) / float(self.scoring.least)
        step = float(fraction(self.layers.step, "step"))
        return max(ceil(log(ratio) / log(1 + step) - 1e-9), 0) + 1 if ratio > 0 else 1

    def draw(self, chance: Chance) -> Node:
        """Steps 2 to 7 of the algorithm; layers without points are picked again."""
        layers = list(range(self._number_of_layers()))
        while layers:
            layer = layers[chance.below(len(layers))]
            point = self._point(layer, chance)
            if point is not None:
                return self._rounded(point, chance)
            layers.remove(layer)
        raise InfeasibleError("no layer has a point with t records", "use a smaller `theta`")

    def _point(self, layer: int, chance: Chance) -> Floats | None:
        """A point of a layer; None if none is found."""
        low = float(self.scoring.least) * (1 + float(fraction(self.layers.step, "step"))) ** layer
        high = low * (1 + float(fraction(self.layers.step, "step")))
        for _ in range(TRIES):
            point = self._uniform(chance)
            people, shown, value = self._extended(point)
            inside = people >= float(self._t) - 1e-9 and low - 1e-9 <= shown <= high + 1e-9
            # A bound on the density: an extension is a mean over nodes.
            if inside and _unit(chance) <= exp(self.rate * (value - self._most) / low):
                return point
        return None

    def _uniform(self, chance: Chance) -> Floats:
        """A point at random, falling with the level in every column."""
        columns = np.array([column for column, _ in self._steps])
        values = np.array([_unit(chance) for _ in self._steps])
        order = np.lexsort((-values, columns))
        return values[order]

    def _extended(self, point: Floats) -> tuple[float, float, float]:
        """The Lovász extensions of |ρ|, Φ and λ|ρ| + Φu^κ at a point."""
        order = np.argsort(-point, kind="stable")
        ends = np.concatenate(([1.0], point[order], [0.0]))
        parts = np.array([self._at(node) for node in self._chain(order.tolist())])
        people, shown, value = (ends[:-1] - ends[1:]) @ parts
        return float(people), float(shown), float(value)

    def _rounded(self, point: Floats, chance: Chance) -> Node:
        """Thresholds are drawn until the node fits σt records or more."""
        enough = fraction(self.layers.sigma, "sigma") * self._t
        while True:
            threshold = _unit(chance)
            levels = [0] * len(self.scoring.crowds.heights)
            for (column, _), value in zip(self._steps, point.tolist(), strict=True):
                levels[column] += value > threshold
            if self._at(tuple(levels))[0] >= enough:
                return tuple(levels)

    def _chain(self, order: "range | list[int]") -> list[Node]:
        """The nodes from the row itself to the roots when steps are taken in an order."""
        levels = [0] * len(self.scoring.crowds.heights)
        nodes = [tuple(levels)]
        for step in order:
            levels[self._steps[step][0]] += 1
            nodes.append(tuple(levels))
        return nodes

    @cached_property
    def _most(self) -> float:
        """The largest λ|ρ| + Φu^κ of a node."""
        levels = [range(height + 1) for height in self.scoring.crowds.heights]
        return max(self._at(node)[2] for node in product(*levels))

    def _at(self, node: Node) -> tuple[float, float, float]:
        """People, what is shown, and λ|ρ| + Φu^κ at a node."""
        if node not in self._known:
            people, shown, worth = self.scoring.parts(self.row, node)
            shown = max(shown, self.scoring.least)
            value = self.scoring.pull * people + shown * worth**self.scoring.power
            self._known[node] = float(people), float(shown), float(value)
        return self._known[node]


def _unit(chance: Chance) -> float:
    return chance.below(FINE) / FINE
