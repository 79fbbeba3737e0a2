"""The attack on Mondrian by counting.

A cut that was tried and not made reveals something about the groups that lie across it, and about
nobody else. The very cuts that Mondrian tries are made again (`Replay`). Uses `counting`;
`minimality` uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import factorial, prod

import numpy as np
import numpy.typing as npt

from shoal.attack.counting import Candidate, CountingProblem, PeopleClass, drawn, ways
from shoal.attack.inferences import AttackResult, Effort, Inference
from shoal.attack.knowledge import Knowledge
from shoal.attack.sampling import FEWEST, estimates
from shoal.counts import Counts
from shoal.data.components import representatives
from shoal.errors import InputError, TooLargeError
from shoal.methods.axes import axis_of
from shoal.methods.method import Progress, silent
from shoal.methods.mondrian import Cuts, Mondrian, Partition, Proposal
from shoal.privacy.models import KAnonymity

__all__ = ["Cut", "Replay", "counted"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_DRAWS = 20
"""Draws of a counting problem for each input that may be sampled: they take far less time."""

_ENOUGH = 2_000
"""Draws that led to the release, beyond which no more are used."""

_NEITHER = 2
"""The side of a cut that a row is on which is not in the cell that was cut."""


def counted(
    method: Mondrian,
    knowledge: Knowledge,
    effort: Effort,
    progress: Progress = silent,
) -> AttackResult | None:
    """What is inferred of everyone by counting; None if equal records may be in several groups."""
    if method.relaxed or knowledge.group_of is None or not knowledge.people.rows:
        return None
    replay = Replay(method, knowledge)
    replay.run()
    return _Solution(knowledge, effort, replay).result(progress)


# The cuts


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut that Mondrian tried and did not make.

    It has its place, the rows of the cell, and which of them were to go right.
    """

    column: str
    left: str
    right: str
    rows: Ints
    goes_right: Bools

    def __str__(self) -> str:
        return f"{self.column} was not cut between {self.left} and {self.right}"


class Replay(Partition):
    """Mondrian's cuts, as far as the released groups show that they were made.

    `refused` are those that were not. A cut that a released group lies across was refused. Of any
    other cut the release shows which values both halves have.
    """

    def __init__(self, method: Mondrian, knowledge: Knowledge) -> None:
        people = knowledge.people
        self.axes = [axis_of(people, name, method.ranges, []) for name in people.quasi]
        # The models are judged here, by what the release shows.
        undemanding = replace(method, models=(KAnonymity(1),))
        super().__init__(people, self.axes, undemanding)
        self.bags = knowledge.bags
        self.judge = knowledge.judge
        self.row_of = self._row_of_everyone(knowledge)
        assert knowledge.group_of is not None
        # All people of a row are in one group, as cuts are strict.
        first = np.unique(self.row_of, return_index=True)[1]
        self.group_of = knowledge.group_of[first]
        self.refused: list[Cut] = []

    def _row_of_everyone(self, knowledge: Knowledge) -> Ints:
        """Everyone's distinct row, by their places on all axes."""
        places = []
        for axis in self.axes:
            leaves = knowledge.coded(axis.name)
            places.append(axis.place[leaves].tolist())
        number = _numbered(self.rows, len(self.axes))
        rows = [number[key] for key in zip(*places, strict=True)]
        return np.array(rows, dtype=np.int64)

    def run(self) -> None:
        """Cut; InputError if that leads to groups other than the released ones."""
        self.cut(silent)
        cells_and_groups = np.stack([self.crowd.cell, self.group_of])
        pairs = np.unique(cells_and_groups, axis=1).shape[1]
        if not pairs == len(self.low) == len(self.bags):
            raise InputError(
                "the method does not lead to these groups with these people",
                "give the recipe of the release",
            )

    def median(self, proposed: Proposal) -> Cuts:
        """As Mondrian does; what was tried is noted."""
        cuts = super().median(proposed)
        self._tried = proposed, cuts
        return cuts

    def hold(self, halves: Sequence[Ints], number: int) -> Bools:
        """Which halves satisfied the models, as far as the release shows.

        Those of a cut that a group lies across did not.
        """
        if number == 1:
            # All records together do, else there would be no release.
            return np.ones(1, dtype=np.bool_)
        proposed, cuts = self._tried
        active, local, right = proposed.active, proposed.local, cuts.right
        groups = len(self.bags)
        # Which groups have rows in which halves: a group that is in both lies across the cut.
        cell_and_group = local * groups + self.group_of[active]
        parts = np.unique(2 * cell_and_group + right)
        pairs, side = np.divmod(parts, 2)
        cell, group = np.divmod(pairs, groups)
        in_both = pairs[1:] == pairs[:-1]
        across = np.zeros(number // 2, dtype=np.bool_)
        across[cell[1:][in_both]] = True

        values = self.bags.shape[1]
        shown = np.zeros((number, values), dtype=np.int64)
        np.add.at(shown, 2 * cell + side, self.bags[group])
        held = self.judge.holds(shown)
        held[::2][across] = False

        for each in np.flatnonzero(across).tolist():
            along = self.axes[proposed.axis[each]]
            inside = local == each
            before = along.labels[cuts.ends_left[each]]
            after = along.labels[cuts.starts_right[each]]
            cut = Cut(along.name, before, after, active[inside], right[inside])
            self.refused.append(cut)
        return held

    def telling(self) -> list[Cut]:
        """The refused cuts with enough people on both sides, so that values decided."""
        telling = []
        for cut in self.refused:
            people = self.crowd.count[cut.rows]
            on_the_right = people[cut.goes_right].sum()
            on_the_left = people.sum() - on_the_right
            if min(on_the_left, on_the_right) >= self.judge.least:
                telling.append(cut)
        return telling


def _numbered(rows: Counts, axes: int) -> dict[tuple[int, ...], int]:
    """The number of every distinct row, by its places."""
    places = (column.tolist() for column in rows.codes[:axes])
    return {key: at for at, key in enumerate(zip(*places, strict=True))}


# The groups that hang together


@dataclass(frozen=True, eq=False)
class _Linked:
    """Groups that refused cuts link, as a counting problem.

    groups: the released group of every class of the problem
    class_of: the class of every distinct row, -1 for those in other groups
    why: the cuts that were refused
    """

    problem: CountingProblem
    groups: list[int]
    class_of: Ints
    why: list[str]


def _linked(replay: Replay) -> list[_Linked]:
    """The counting problems of a release, which do not depend on each other."""
    cuts = replay.telling()
    groups_of_cuts = []
    for cut in cuts:
        groups_of_rows = replay.group_of[cut.rows]
        groups_of_cuts.append(np.unique(groups_of_rows).tolist())
    first_of = representatives(range(len(replay.bags)), groups_of_cuts)
    cuts_of: dict[int, list[Cut]] = {}
    for cut, groups in zip(cuts, groups_of_cuts, strict=True):
        cuts_of.setdefault(first_of[groups[0]], []).append(cut)
    problems = []
    for first, its_cuts in cuts_of.items():
        groups = [group for group, root in first_of.items() if root == first]
        problems.append(_problem(replay, groups, its_cuts))
    return problems


def _problem(replay: Replay, groups: list[int], cuts: Sequence[Cut]) -> _Linked:
    rows = np.flatnonzero(np.isin(replay.group_of, groups))
    # People of the same group who are on the same side of all cuts are alike.
    shape = len(cuts) + 1, len(replay.group_of)
    sides = np.full(shape, _NEITHER, dtype=np.int64)
    sides[0] = replay.group_of
    for at, cut in enumerate(cuts, 1):
        sides[at, cut.rows] = cut.goes_right
    alike, class_of_row = np.unique(sides[:, rows], axis=1, return_inverse=True)
    class_of_row = class_of_row.ravel()
    people = np.bincount(class_of_row, replay.crowd.count[rows])
    sizes = people.astype(np.int64).tolist()

    # Two cuts that part the same classes are one candidate.
    candidates: dict[Candidate, None] = {}
    for side_of_class in alike[1:]:
        left = np.flatnonzero(side_of_class == 0).tolist()
        right = np.flatnonzero(side_of_class == 1).tolist()
        candidates[tuple(left), tuple(right)] = None

    group_of_class = alike[0].tolist()
    place = {group: at for at, group in enumerate(groups)}
    places = [place[group] for group in group_of_class]
    classes = tuple(map(PeopleClass, places, sizes))
    bags = tuple(map(tuple, replay.bags[groups].tolist()))
    problem = CountingProblem(bags, classes, tuple(candidates))
    class_of = np.full(len(replay.group_of), -1, dtype=np.int64)
    class_of[rows] = class_of_row
    reasons = dict.fromkeys(map(str, cuts))
    return _Linked(problem, group_of_class, class_of, list(reasons))


# What is inferred


class _Solution:
    """Solves the counting problems of a release one after the other."""

    def __init__(
        self,
        knowledge: Knowledge,
        effort: Effort,
        replay: Replay,
    ) -> None:
        self.knowledge = knowledge
        self.draws = _DRAWS * effort.tries
        self.source = np.random.default_rng(effort.seed)
        self.row_of = replay.row_of
        self.problems = _linked(replay)
        values = len(knowledge.keys)
        self.claims = sum(len(linked.problem.classes) for linked in self.problems) * values
        self.inferences: list[Inference] = []
        self.left: Fraction | None = Fraction(1)
        self.unknown = 0

    def result(self, progress: Progress) -> AttackResult:
        plain = np.ones(len(self.knowledge.labels), dtype=np.bool_)
        for done, linked in enumerate(self.problems):
            progress(done, len(self.problems), "counting inputs")
            plain[linked.groups] = False
            self._solve(linked)
        self._add_plain(np.flatnonzero(plain).tolist())
        people = self.knowledge.people.rows
        return AttackResult("counting", people, tuple(self.inferences), self.left, self.unknown)

    def _solve(self, linked: _Linked) -> None:
        problem = linked.problem
        class_of_person = linked.class_of[self.row_of]
        members = []
        for each in range(len(problem.classes)):
            people = np.flatnonzero(class_of_person == each)
            members.append(people.tolist())
        try:
            # 0 is the mask of inputs for which every candidate is refused.
            number, has = ways(problem, self.knowledge.judge, refused=True)[0]
        except TooLargeError:
            self.left = None
            self._estimate(linked, members)
            return
        if self.left is not None:
            # `ways` counts how values are spread over classes; within each, people may swap.
            swaps = prod(factorial(each.size) for each in problem.classes)
            alike = prod(map(factorial, chain.from_iterable(problem.bags)))
            self.left *= Fraction(swaps * number, alike * problem.assignments)
        for rows, group, often in zip(members, linked.groups, has, strict=True):
            shares = [Fraction(times, number * len(rows)) for times in often]
            self._add(rows, group, shares, linked.why)

    def _estimate(self, linked: _Linked, members: Sequence[list[int]]) -> None:
        """Draw where there are too many ways to count."""
        values = len(self.knowledge.keys)
        hits = drawn(linked.problem, self.knowledge.judge, self.draws, self.source)
        hits = hits[:_ENOUGH]
        if len(hits) < FEWEST:
            self.unknown += sum(map(len, members))
            return
        for rows, group, codes in zip(members, linked.groups, hits.T, strict=True):
            often = np.bincount(codes, minlength=values).tolist()
            shares, bounds = estimates(often, len(hits), self.claims)
            self._add(rows, group, shares, linked.why, bounds)

    def _add(
        self,
        rows: list[int],
        group: int,
        shares: Sequence[Fraction],
        why: Sequence[str],
        bounds: Sequence[tuple[float, float]] | None = None,
    ) -> None:
        apparent = self.knowledge.apparent(group)
        inference = self.knowledge.inference(rows, apparent, shares, why, bounds)
        self.inferences.append(inference)

    def _add_plain(self, groups: Sequence[int]) -> None:
        """Groups of which nothing more is known than they show."""
        group_of = self.knowledge.group_of
        assert group_of is not None
        order = np.argsort(group_of, kind="stable")
        numbers = np.arange(len(self.knowledge.labels) + 1)
        starts = np.searchsorted(group_of[order], numbers)
        for group in groups:
            rows = order[starts[group] : starts[group + 1]].tolist()
            shown = self.knowledge.apparent(group)
            self.inferences.append(Inference(tuple(rows), shown, shown))
