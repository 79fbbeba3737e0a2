"""The attack by sampling: inputs are drawn at random and kept if they lead to the release.

Also what may be said of probabilities after a number of draws. Uses `knowledge`; `minimality` and
`mondrian` use it.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lgamma, log

import numpy as np
import numpy.typing as npt

from shoal.attack.inferences import AttackResult, Effort
from shoal.attack.knowledge import Knowledge
from shoal.chance import Seeded
from shoal.methods.method import Progress, silent

__all__ = ["FEWEST", "estimates", "interval", "sampled"]

Ints = npt.NDArray[np.int64]

FEWEST = 100
"""Samples that must lead to the release before anything is said."""

_ERROR = 0.01
"""The probability that any of the bounds does not hold, at most."""

_PRECISION = 1e-7
"""How precisely the ends of an interval are found."""


def sampled(knowledge: Knowledge, effort: Effort, progress: Progress = silent) -> AttackResult:
    """What is inferred of everyone from random inputs. It must be known who is in which group.

    Nothing is said of people whose group was suppressed.
    """
    group_of = knowledge.group_of
    assert group_of is not None
    people = knowledge.people.rows
    source = np.random.default_rng(effort.seed)
    by_group = np.argsort(knowledge.group_of_record, kind="stable")
    [column] = knowledge.values.records([knowledge.column])
    codes = column.codes[by_group]
    suppressed = knowledge.left_out
    often_released = knowledge.bags.sum(axis=0)
    hits = np.zeros((people, len(knowledge.keys)), dtype=np.int64)
    kept = 0
    target: tuple[tuple[str, ...], ...] | None = None
    for done in range(effort.tries):
        progress(done, effort.tries, "sampling inputs")
        # Everyone, group by group and shuffled within each, gets the values that the group shows.
        shuffled = np.lexsort((source.random(people), group_of))
        drawn = np.empty(people, dtype=np.int64)
        drawn[shuffled[suppressed:]] = codes
        if suppressed:
            # As `Inputs` weighs them: any shares of values were as likely as any others before.
            likely = source.dirichlet(often_released + 1)
            drawn[shuffled[:suppressed]] = source.choice(len(likely), suppressed, p=likely)
        values = [knowledge.keys[code] for code in drawn.tolist()]
        coins = Seeded(int(source.integers(1 << 62)))
        frame = knowledge.release_of(values, coins)
        if frame is None:
            continue
        if target is None:
            target = knowledge.rows_of(knowledge.frame, frame.columns)
        if knowledge.rows_of(frame, frame.columns) == target:
            kept += 1
            hits[np.arange(people), drawn] += 1

    accepted = kept, effort.tries
    if kept < FEWEST:
        return AttackResult("sampling", people, (), None, people, accepted)
    why = ["of the inputs that were drawn, more led to this release with that value"]
    inferences = []
    for person, often in enumerate(hits.tolist()):
        if group_of[person] < 0:
            continue
        shares, bounds = estimates(often, kept, hits.size)
        apparent = knowledge.apparent(int(group_of[person]))
        inferences.append(knowledge.inference([person], apparent, shares, why, bounds))
    return AttackResult("sampling", people, tuple(inferences), None, suppressed, accepted)


def estimates(
    hits: Sequence[int], tries: int, claims: int
) -> tuple[list[Fraction], list[tuple[float, float]]]:
    """The shares of hits among some tries, and the bounds of each as one of this many claims."""
    shares = [Fraction(often, tries) for often in hits]
    bounds = [interval(often, tries, claims) for often in hits]
    return shares, bounds


@lru_cache(maxsize=1 << 14)
def interval(hits: int, tries: int, claims: int) -> tuple[float, float]:
    """Clopper and Pearson's bounds of a probability; those of all claims hold together with 99 %.

    >>> low, high = interval(0, 100, 1)
    >>> low, round(high, 3)
    (0.0, 0.052)
    """
    # Half of the error for each end, and for each claim its part of it.
    error = _ERROR / 2 / max(claims, 1)
    low, high = 0.0, 1.0
    if hits:
        low = _edge(range(hits, tries + 1), tries, error, grows=True)
    if hits < tries:
        high = _edge(range(hits + 1), tries, error, grows=False)
    return low, high


def _edge(
    some: range,
    tries: int,
    error: float,
    *,
    grows: bool,
) -> float:
    """The probability of a hit at which that of a number of hits in a range is the error.

    `grows` says whether the latter grows with the former; the result is rounded to the safe side.
    """
    numbers = np.array(some)
    log_factorials = np.array([lgamma(number + 1) for number in range(tries + 1)])
    choices = log_factorials[tries] - log_factorials[numbers] - log_factorials[tries - numbers]
    low, high = 0.0, 1.0
    while high - low > _PRECISION:
        middle = (low + high) / 2
        logs = choices + numbers * log(middle) + (tries - numbers) * log(1 - middle)
        tail = float(np.exp(logs).sum())
        if (tail > error) is grows:
            high = middle
        else:
            low = middle
    return low if grows else high
