"""What papers propose and what does not hold what it was meant to: to study, not to release by. Uses `methods`; tests use it.

Nothing here makes a `Release` or a certificate, and nothing here is on the command line.
"""

import warnings
from collections import Counter
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise, product
from math import inf, prod
from typing import Any

import numpy as np

from shoal.arguments import typed
from shoal.audit.maxima import Known
from shoal.audit.model import Decision, Number
from shoal.audit.polytope import extremes, free
from shoal.audit.sums import Sums, SumState
from shoal.chance import Chance
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError, TooLargeError
from shoal.exact.numbers import Exact, fraction, whole
from shoal.methods.personal.crowds import Crowds
from shoal.methods.personal.models import Risk, Sensitivity, Sum, Utility, Weights, Worth

__all__ = ["PrintedMaxima", "PrintedSums", "frequent_exponential"]

LARGEST = 1_000_000
"""Nodes times distinct rows that are scored at most."""
DIGITS = Context(prec=40)  # of the logarithm of β, the one number that is rounded
WARNING = (
    "frequent_exponential is NOT differentially private, whatever its parameters: which generalisations are frequent depends on "
    "single records, and shows. Release nothing made by it; SafePub keeps what it was meant to keep"
)


@typed
def frequent_exponential(
    table: Table,
    t: int,
    epsilon: Exact,
    beta: Exact,
    *,
    pull: Exact = 1,
    power: int = 1,
    measure: Utility = "leaves",
    model: Sensitivity = "fixed",
    weights: Weights | None = None,
    chance: Chance | None = None,
) -> dict[tuple[str, ...], int]:
    """Algorithm 3 of Fouad, Elbassioni and Bertino (2012), which is not differentially private although it was published as such.

    Each record is sampled with probability 1 − β. A sampled one is replaced by one of its generalisations that fit t records
    or more, drawn with probability proportional to e^(ε′ f / n), where n is the number of records, f is pull / risk +
    utility^power, ε′ = (ε + ln β) / (3 η (1 − β)) and η = 2 (pull / s + u^power / n) for the lowest sensitivity s above 0 and the
    highest utility u. What shows nothing sensitive counts as if it showed s. Gives how often each generalisation of the
    quasi-identifying columns came out; the roots once more, as the paper has it. docs/proofs/personal.md has the counterexample.
    """
    warnings.warn(WARNING, UserWarning, stacklevel=2)
    t, power, chance = whole(t, "t"), whole(power, "power", 0), chance or Chance()
    tension, missing = (
        fraction(epsilon, "epsilon", 0, above=True),
        fraction(beta, "beta", 0, 1, above=True),
    )
    force = fraction(pull, "pull", 0, above=True)
    trees = {name: table.hierarchy(name) for name in table.quasi}
    if not trees:
        raise ParameterError(
            "the table has no quasi-identifying column to generalise; give one that role"
        )
    grip = tension + Fraction(
        DIGITS.ln(DIGITS.divide(Decimal(missing.numerator), Decimal(missing.denominator)))
    )
    if missing == 1 or grip <= 0:
        raise ParameterError(
            "beta must be below 1 and above e to the power −epsilon; choose it between"
        )
    rows = table.count(list(trees))
    if rows.total < t:
        raise InfeasibleError(
            f"no generalisation fits t={t} records, as there are not so many; use a smaller t"
        )
    nodes = prod(tree.height + 1 for tree in trees.values())
    if nodes * rows.distinct > LARGEST:
        raise TooLargeError(
            f"{nodes:,} nodes of {rows.distinct:,} distinct rows are more than {LARGEST:,}; use fewer columns"
        )
    crowds, worth, shown = (
        Crowds(rows, trees),
        Worth(measure).sum(trees),
        Risk(model, weights or {}).sum(trees),
    )
    least = _least(shown)
    rate = (
        grip
        / (6 * (force / least + (worth.most / worth.unit) ** power / rows.total) * (1 - missing))
        / rows.total
    )

    scores: list[list[tuple[Fraction, tuple[int, ...]]]] = [[] for _ in range(rows.distinct)]
    for node in product(*(range(tree.height + 1) for tree in trees.values())):
        sizes, kept, said = (
            crowds.sizes(node),
            crowds.sum_at(worth, node),
            crowds.sum_at(shown, node),
        )
        for row in np.flatnonzero(sizes >= t).tolist():
            sensitivity = max(Fraction(_at(said, row)) / shown.unit, least)
            utility = (Fraction(_at(kept, row)) / worth.unit) ** power
            scores[row].append((force * int(sizes[row]) / sensitivity + utility, node))

    drawn: Counter[tuple[str, ...]] = Counter(
        [tuple(tree.labels[-1][0] for tree in trees.values())]
    )
    for row, times in enumerate(chance.binomial(crowds.everyone.count, 1 - missing).tolist()):
        for _ in range(times):
            node = scores[row][chance.exponential([score for score, _ in scores[row]], rate)][1]
            leaves = [int(codes[row]) for codes in crowds.everyone.codes]
            drawn[
                tuple(
                    tree.labels[level][tree.maps[level][leaf]]
                    for tree, level, leaf in zip(trees.values(), node, leaves, strict=True)
                )
            ] += 1
    return dict(sorted(drawn.items()))


def _least(shown: Sum) -> Fraction:
    """The lowest sensitivity above 0 of anything that can be shown."""
    roots = sum(int(levels[-1].min()) for levels in shown.parts)
    units = roots or min(
        (int(part[part > 0].min(initial=1 << 62)) for levels in shown.parts for part in levels),
        default=0,
    )
    if units == 1 << 62:
        raise ParameterError(
            "all weights are 0: nothing is sensitive; give a column a weight above 0"
        )
    return units / shown.unit


def _at(values: int | np.ndarray[tuple[int, ...], np.dtype[np.int64]], row: int) -> int:
    return values if isinstance(values, int) else int(values[row])


@dataclass(frozen=True)
class PrintedMaxima:
    """Algorithm 3.1 of Zhang's chapter 3, as printed: does not keep what it promises, whatever is asked first.

    After a denial its log holds a made-up answer, which true answers contradict later. `strict` also denies these, which does
    not help either: asking again tells.
    """

    people: int
    strict: bool = False

    def start(self) -> Known:
        """Nothing is known."""
        return Known((inf,) * self.people)

    def after(self, state: Known, decision: Decision) -> Known:
        """True and made-up answers alike."""
        return (
            state
            if decision.value is None
            else state.exactly(decision.people, decision.value, False)
        )

    def decide(self, state: Known, people: int, answer: Number) -> Decision:
        """Answer unless that would tell, or it is the least made-up answer that would not."""
        heard: list[Any] = sorted({most for _, most in state.witnesses})
        tried = (
            [
                heard[0] - 1,
                *heard,
                *(Fraction(a + b) / 2 for a, b in pairwise(heard)),
                heard[-1] + 1,
            ]
            if heard
            else [0]
        )
        tried.sort()
        tells = [self._tells(state, people, value) for value in tried]
        if all(tells):
            return Decision(people, False, None, None)
        made_up = tried[tells.index(False)]
        contradicts = self.strict and not _fits(state.exactly(people, answer, False))
        if not self._tells(state, people, answer) and answer != made_up and not contradicts:
            return Decision(people, True, "=", answer)
        if not any(tells) and not contradicts:
            return Decision(people, True, "=", answer)
        return Decision(people, False, "=", made_up)

    @staticmethod
    def _tells(state: Known, people: int, value: Any) -> bool:
        then = state.exactly(people, value, False)
        return _fits(then) and any(not who & (who - 1) for who, _ in then.witnesses)


def _fits(known: Known) -> bool:
    return all(who for who, _ in known.witnesses)


class PrintedSums(Sums):
    """Algorithm 3.2 of Zhang's chapter 3, as printed: looks at how far the sum can go, never at anyone's value.

    What it answers alone gives values away; and what a denial is bound to depends on the true answer. docs/proofs/audit-sums.md
    """

    def decide(self, state: SumState, people: int, answer: Number) -> Decision:
        """Answer if the sum could be less and more by 2; a denial is bound to a sum that could be less and more by 1."""
        if not free(state.constraints, people):
            return Decision(people, False, None, None)
        found = extremes(
            [float(low) for low in self.lows],
            [float(high) for high in self.highs],
            state.constraints,
            [people],
        )
        least, most = found[0] if found else (inf, -inf)

        def passes(
            value: Number,
        ) -> bool:  # test 2; what is off by less than the solver may be counts as equal
            return least - 1e-6 <= value - 1 and value + 1 <= most + 1e-6

        if passes(answer) and passes(answer - 1) and passes(answer + 1):
            return Decision(people, True, "=", answer)
        bound = next((value for value in (answer, answer - 1, answer + 1) if passes(value)), None)
        return Decision(people, False, None if bound is None else "=", bound)
