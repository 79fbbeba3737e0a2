"""Which node is released: chosen on a sample of its own, so that the choice has a price in ε.

`LevelSearch` is what methods use. `select` is one permute-and-flip over the whole lattice; `walk`
is SafePub's printed walk from the top, repaired. Both spend an ε on the sample they are given.
`sampled_k` decides how large that sample is. Uses `scores` and `chance`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data import free_memory
from shoal.exact.epsilon import Epsilon
from shoal.lattice import Node
from shoal.methods.searching.scores import Candidates, Score
from shoal.privacy.calculus import search_epsilon

__all__ = [
    "COUNTING",
    "LARGEST",
    "PART",
    "STEPS",
    "LevelSearch",
    "drawn",
    "ramped",
    "sampled_k",
    "select",
    "walk",
]

COUNTING = Fraction(1, 20)
"""The share of the search's ε that goes into knowing about how many records there are."""

WANTED = 1 << 13
"""Records that a search looks at: more choose hardly better (docs/reference/benchmarks-kept.md)."""

LEAST = 3
"""The smallest k of a search: below, a sample's groups say little about the release (measured)."""

RAMP = Fraction(4, 3)
"""Where the ramp of a score ends, in k.

It begins at half of that, so that what lies around k counts about right (measured).
"""

LARGEST = 1_000_000
"""Nodes of the largest lattice that is searched as a whole."""

PART = 5_000
"""Nodes of a larger lattice that are searched, drawn at random."""

SAMPLED_ROW = 160
"""Bytes that a search takes for each distinct row of its sample (docs/reference/benchmarks.md)."""

BLOCK = 1 << 20
"""Rows that are looked at together."""

STEPS = 300
"""Steps of the walk, as in the paper."""


@dataclass(frozen=True, eq=False)
class LevelSearch:
    """A search among the candidates for an ε, by what is public.

    steps: how many steps a walk takes; None for one choice among all nodes
    """

    nodes: Candidates
    score: Score
    epsilon: Epsilon
    steps: int | None = None

    def require_memory(self, counts: Counts, k: int, beta: Fraction) -> None:
        """TooLargeError if the sample of a search for these would not fit into memory.

        Nothing is drawn for that.
        """
        share = beta * sampled_k(k, beta, counts.total) / k
        # At least as many rows as the sample will have, and then about as many.
        rows = min(counts.distinct, int(share * counts.total))
        if rows * SAMPLED_ROW > free_memory.available():
            rows = _rows_of_sample(counts, float(share))
        free_memory.require(
            rows * SAMPLED_ROW,
            f"choosing levels on a sample of about {rows:,} distinct rows",
            "give `levels`, or use a larger machine",
        )

    def records(self, counts: Counts, chance: Chance) -> int:
        """About how many records there are, for a small part of ε."""
        scale = 1 / (self.epsilon * COUNTING).bounds()[0]
        return counts.total + chance.discrete_laplace(scale)

    def node(
        self,
        counts: Counts,
        k: int,
        beta: Fraction,
        about: int,
        chance: Chance,
        progress: Callable[[int, int], None],
    ) -> Node:
        """The node for a release of groups of at least k among records drawn with chance β.

        about: a number of records that `records` gave, which sizes the sample
        """
        small = sampled_k(k, beta, about)
        share = beta * small / k
        epsilon = search_epsilon(self.epsilon * (1 - COUNTING), share)
        sample = drawn(counts, share, chance)
        limit = ramped(small)
        if self.steps is None:
            return select(self.nodes, self.score, sample, limit, epsilon, chance, progress)
        return walk(self.nodes, self.score, sample, limit, epsilon, chance, progress, self.steps)


def drawn(counts: Counts, share: Fraction, chance: Chance) -> Counts:
    """A sample: every record with this chance, independently of all others.

    It may have rows of which nothing was drawn.
    """
    sample = replace(counts, count=chance.binomial(counts.count, share))
    left = sample.count > 0
    # A copy of most rows would take memory, and hardly save time.
    return sample.where(left) if 2 * np.count_nonzero(left) < len(left) else sample


def _rows_of_sample(counts: Counts, share: float) -> int:
    """How many rows a sample may be expected to have."""
    if share >= 1:
        return counts.distinct
    starts = range(0, len(counts.count), BLOCK)
    parts = (counts.count[start : start + BLOCK] for start in starts)
    return round(sum(float(-np.expm1(part * np.log1p(-share)).sum()) for part in parts))


def sampled_k(k: int, beta: Fraction, about: int) -> int:
    """The group size to search with, given the release's and about how many records there are.

    The sample of a search is drawn with the chance β · k_s / k, so that its groups stand to k_s as
    those of the release to k.
    """
    drawn = beta * max(about, 1)
    in_proportion = int(k * WANTED / drawn)
    return min(k, max(LEAST, in_proportion))


def ramped(k: int) -> int:
    """The k of the ramp by which groups are scored that will be released from k on."""
    return round(RAMP * k)


def select(
    nodes: Candidates,
    score: Score,
    sample: Counts,
    k: int,
    epsilon: Fraction,
    chance: Chance,
    progress: Callable[[int, int], None],
) -> Node:
    """The node that permute-and-flip selects, of all or of a random part of a large lattice.

    It costs ε on the sample.
    """
    rate = epsilon / score.spread(nodes, k)
    scores = score.on(nodes, sample, k)
    if nodes.size <= LARGEST:
        return scores.permute_and_flip(chance, rate, progress)
    part = [nodes.node(int(number)) for number in chance.choice(nodes.size, PART)]
    of_part = []
    for done, node in enumerate(part):
        progress(done, len(part))
        of_part.append(scores.of(node))
    chosen = chance.permute_and_flip(np.array(of_part, dtype=np.int64), rate * scores.unit)
    return part[chosen]


def walk(
    nodes: Candidates,
    score: Score,
    sample: Counts,
    k: int,
    epsilon: Fraction,
    chance: Chance,
    progress: Callable[[int, int], None],
    steps: int = STEPS,
) -> Node:
    """The paper's walk: from the top to the next pivot by exponential mechanisms, steps times.

    It costs ε on the sample. In the paper the best of all pivots is taken by its true score, which
    no budget pays for. Here half of ε goes into the steps and half into one permute-and-flip over
    the pivots. A pivot is never visited twice.
    """
    scores = score.on(nodes, sample, k)
    rate = epsilon / score.spread(nodes, k) / 2 * scores.unit
    known: dict[Node, int] = {nodes.high: scores.of(nodes.high)}
    pivot = nodes.high
    pivots = [pivot]
    waiting: list[Node] = []
    for step in range(steps):
        progress(step, steps)
        for node in nodes.finer(pivot):
            if node not in known:
                known[node] = scores.of(node)
                waiting.append(node)
        if not waiting:
            break
        worth = np.array([known[node] for node in waiting], dtype=np.int64)
        pivot = waiting.pop(chance.exponential(worth, rate / steps))
        pivots.append(pivot)
    worth = np.array([known[node] for node in pivots], dtype=np.int64)
    return pivots[chance.permute_and_flip(worth, rate)]
