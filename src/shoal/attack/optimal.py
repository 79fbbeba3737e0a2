"""The attack on optimal tables by counting: a table that loses less was not released, so it failed.

That reveals nothing where such a table has a group that is too small in any case. The others are
counted if they are finer than the released one, as each of their groups then has values of one
released group. Where groups may be suppressed, a table loses more or less by the values, and is not
counted, unless no model looks at them. Uses `blind` and `counting`; `minimality` uses it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from shoal.attack import blind
from shoal.attack.counting import CountedWays, CountingProblem, PeopleClass, ways
from shoal.attack.inferences import AttackResult, Effort
from shoal.attack.knowledge import Knowledge
from shoal.counts import Counts
from shoal.errors import InputError, TooLargeError
from shoal.lattice import Groups, Lattice, Node
from shoal.measure.loss import LOSSES
from shoal.methods.method import Progress, silent
from shoal.methods.optimal import Optimal

__all__ = ["CANDIDATES", "counted"]

Ints = npt.NDArray[np.int64]

CANDIDATES = 8
"""Finer tables that are counted at once, at most: their masks multiply."""


def counted(
    method: Optimal,
    knowledge: Knowledge,
    effort: Effort,
    progress: Progress = silent,
) -> AttackResult | None:
    """What is inferred of everyone by counting; None where the structure does not allow it."""
    if method.suppression and not any(model.columns for model in method.models):
        return blind.counted(method, knowledge, effort, progress)
    if method.suppression or knowledge.group_of is None or not knowledge.people.rows:
        return None
    quasi = list(knowledge.people.quasi)
    trees = {name: knowledge.people.hierarchy(name) for name in quasi}
    counts = knowledge.people.count(quasi)
    lattice = Lattice(counts, trees, floor=method.floor, ceiling=method.ceiling)
    # Values do not matter for the order in which the method prefers tables.
    better, chosen = _before_the_released(method, knowledge, lattice)
    if len(better) > CANDIDATES or not all(_refines(groups, chosen) for groups in better):
        return None

    row_of = _row_of_everyone(knowledge, counts)
    group_of_row = np.zeros(counts.distinct, dtype=np.int64)
    group_of_row[row_of] = knowledge.group_of
    solved = []
    for group in range(len(knowledge.labels)):
        rows = np.flatnonzero(group_of_row == group)
        finer = [groups.rows[rows] for groups in better]
        try:
            solved.append(_solved(knowledge, group, rows, finer, counts.count[rows]))
        except TooLargeError:
            return None
    why = [_not_released(lattice.names, groups.node) for groups in better]
    return _result(knowledge, solved, row_of, why)


def _row_of_everyone(knowledge: Knowledge, counts: Counts) -> Ints:
    """The distinct row of every person."""
    distinct = zip(*(counts.column(name).tolist() for name in counts.names), strict=True)
    number_of = {codes: row for row, codes in enumerate(distinct)}
    everyone = zip(*(knowledge.coded(name).tolist() for name in counts.names), strict=True)
    return np.array([number_of[codes] for codes in everyone])


def _before_the_released(
    method: Optimal, knowledge: Knowledge, lattice: Lattice
) -> tuple[list[Groups], Groups]:
    """The tables that lose less than the released one and may satisfy the models, and that one."""
    loss = LOSSES[method.loss] if isinstance(method.loss, str) else method.loss

    def order(groups: Groups) -> tuple[float, Node]:
        everybody = np.ones(len(groups.sizes), dtype=np.bool_)
        lost = loss.of(groups, everybody)
        # Rounded, as the order of equal losses must not depend on the last digits of a sum.
        return float(f"{lost:.9e}"), groups.node

    places = [knowledge.shown_names.index(name) for name in lattice.names]
    released = {tuple(label[at] for at in places) for label in knowledge.labels}
    better: list[Groups] = []
    for groups in sorted(lattice.walk(), key=order):
        if _labels(lattice, groups) == released:
            return better, groups
        if int(groups.sizes.min()) >= knowledge.judge.least:
            better.append(groups)
    raise InputError(
        "the release is not one of the tables that the method tries with these people",
        "give the recipe that the release was made by",
    )


def _labels(lattice: Lattice, groups: Groups) -> set[tuple[str, ...]]:
    """The texts that the groups of a node show."""
    columns = []
    for at, tree in enumerate(lattice.hierarchies):
        labels = tree.labels[groups.node[at]]
        codes = groups.codes(at).tolist()
        columns.append([labels[code] for code in codes])
    return set(zip(*columns, strict=True))


def _refines(finer: Groups, coarser: Groups) -> bool:
    """Whether every group of the one lies in a group of the other."""
    groups_of_rows = np.stack([finer.rows, coarser.rows])
    pairs = np.unique(groups_of_rows, axis=1)
    return bool(pairs.shape[1] == len(finer.sizes))


def _not_released(names: Sequence[str], node: Node) -> str:
    levels = ", ".join(f"{name} at level {level}" for name, level in zip(names, node, strict=True))
    return f"the table with {levels} was not released"


@dataclass(frozen=True, eq=False)
class _SolvedGroup:
    """The ways to spread the values of one group, by which finer tables they satisfy there.

    rows: the distinct rows of every class of people
    """

    rows: list[Ints]
    problem: CountingProblem
    tallies: dict[int, CountedWays]

    @property
    def number(self) -> int:
        """The number of all ways."""
        return sum(tally.number for tally in self.tallies.values())

    def masks(self) -> dict[int, Fraction]:
        """The probability of every mask."""
        number = self.number
        probabilities = {}
        for mask, tally in self.tallies.items():
            probabilities[mask] = Fraction(tally.number, number)
        return probabilities


def _solved(
    knowledge: Knowledge,
    group: int,
    rows: Ints,
    finer: Sequence[Ints],
    count: Ints,
) -> _SolvedGroup:
    # Rows that are in the same group of every finer table are alike; the zeros stand for the
    # released table, in which all of them are, so that there is a line even without finer ones.
    released = np.zeros(len(rows), dtype=np.int64)
    parts = np.stack([released, *finer])
    alike, class_of = np.unique(parts, axis=1, return_inverse=True)
    class_of = class_of.ravel()
    sizes = np.bincount(class_of, count).astype(np.int64).tolist()
    candidates = []
    for part_of_class in alike[1:]:
        members = []
        for part in np.unique(part_of_class):
            classes = np.flatnonzero(part_of_class == part)
            members.append(tuple(classes.tolist()))
        candidates.append(tuple(members))
    problem = CountingProblem(
        bags=(tuple(knowledge.bags[group].tolist()),),
        classes=tuple(PeopleClass(0, size) for size in sizes),
        candidates=tuple(candidates),
    )
    rows_of_classes = [rows[class_of == each] for each in range(len(sizes))]
    return _SolvedGroup(rows_of_classes, problem, ways(problem, knowledge.judge))


def _result(
    knowledge: Knowledge,
    solved: Sequence[_SolvedGroup],
    row_of: Ints,
    why: Sequence[str],
) -> AttackResult:
    inferences = []
    left = Fraction(1)
    every = (1 << len(why)) - 1
    others_of = _masks_of_others([each.masks() for each in solved], every)
    for group, (its, others) in enumerate(zip(solved, others_of, strict=True)):
        # No finer table may satisfy here and in all other groups: it would have been released.
        weight = {mask: _probability_apart(mask, others) for mask in its.tallies}
        total = Fraction(0)
        for mask, tally in its.tallies.items():
            total += weight[mask] * tally.number
        if not total:
            raise InputError(
                "no input leads to this release by this method", "give the recipe of the release"
            )
        left = total / its.number
        apparent = knowledge.apparent(group)
        for each, rows in enumerate(its.rows):
            shares = _shares(its, each, weight, total)
            people = np.flatnonzero(np.isin(row_of, rows)).tolist()
            inferences.append(knowledge.inference(people, apparent, shares, why))
    return AttackResult("counting", knowledge.people.rows, tuple(inferences), left)


def _probability_apart(mask: int, others: Mapping[int, Fraction]) -> Fraction:
    """The probability of masks without a bit of the given one."""
    probability = Fraction(0)
    for other, share in others.items():
        if not mask & other:
            probability += share
    return probability


def _shares(
    solved: _SolvedGroup,
    each: int,
    weight: Mapping[int, Fraction],
    total: Fraction,
) -> list[Fraction]:
    """The probabilities of all values for the people of a class."""
    size = solved.problem.classes[each].size
    shares = []
    for value in range(len(solved.problem.bags[0])):
        often = Fraction(0)
        for mask, tally in solved.tallies.items():
            often += weight[mask] * tally.has[each][value]
        shares.append(often / (total * size))
    return shares


def _masks_of_others(
    masks: Sequence[Mapping[int, Fraction]], every: int
) -> list[dict[int, Fraction]]:
    """For every group the probabilities of the finer tables that satisfy in all other groups.

    A finer table satisfies if it does in all groups, which do not depend on each other.
    """
    before = [{every: Fraction(1)}]
    for each in masks[:-1]:
        before.append(_both(before[-1], each))
    after = [{every: Fraction(1)}]
    for each in reversed(masks[1:]):
        after.append(_both(after[-1], each))
    after.reverse()
    return list(map(_both, before, after))


def _both(
    one: Mapping[int, Fraction],
    other: Mapping[int, Fraction],
) -> dict[int, Fraction]:
    """The law of the bits that are in both of two independent masks."""
    joint: dict[int, Fraction] = {}
    for first, share in one.items():
        for second, other_share in other.items():
            mask = first & second
            joint[mask] = joint.get(mask, Fraction(0)) + share * other_share
    return joint
