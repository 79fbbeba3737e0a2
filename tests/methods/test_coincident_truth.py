"""An adversary who knows the algorithm, all quasi-identifying values and who is in which group, run
against the code that ships.

To him all assignments of a bag of values to people are equally likely. He runs `merged`, or the
whole release, on each of them along every path of its chance (`enumeration`), so that what he then
believes is exact. Twins that leak are caught by the same adversary.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement
from math import prod
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import shoal
from shoal.attack.coins import Enumerated, law, point
from shoal.chance import Chance, Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import InfeasibleError
from shoal.methods import coincident
from shoal.methods.coincident import RANGES, Coincident, Ranges, schemes
from shoal.methods.coincident.grouping import Order
from shoal.methods.coincident.schemes import SCHEMES, Scheme, merged
from shoal.privacy.models import parse_model
from tests.assignments import Assignments, Bag, Predicate

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Halves = tuple[int, ...]
Groups = tuple[tuple[int, ...], ...]
Law = dict[Groups | None, Fraction]
"""The probability of every way to put halves of leaves into groups; None is nothing released."""

assignments = cache(Assignments)


# Predicates, written anew, exact. Each is made for a bag, as t-closeness looks at all values


def distinct(p: int, whole: Bag) -> Predicate:
    return lambda counts: sum(c > 0 for c in counts) >= p


def entropy(l: Fraction, whole: Bag) -> Predicate:  # noqa: E741
    def holds(counts: Bag) -> bool:
        """The entropy is at least log l: n^n ≥ l^n ∏ c^c."""
        n = sum(counts)
        return bool(n**n >= l**n * prod(c**c for c in counts))

    return holds


def recursive(c: Fraction, l: int, whole: Bag) -> Predicate:  # noqa: E741
    return lambda counts: bool(max(counts) < c * sum(sorted(counts, reverse=True)[l - 1 :]))


def closeness(t: Fraction, ordered: bool, whole: Bag) -> Predicate:
    def holds(counts: Bag) -> bool:
        apart = [
            Fraction(own, sum(counts)) - Fraction(all_, sum(whole))
            for own, all_ in zip(counts, whole, strict=True)
        ]
        if not ordered:
            return sum(abs(one) for one in apart) <= 2 * t
        return sum(abs(sum(apart[:k], Fraction(0))) for k in range(1, len(apart))) <= t * max(
            len(apart) - 1, 1
        )

    return holds


def made_up(seed: int, whole: Bag) -> Predicate:
    """Every bag is safe or not by lot, and large ones more often."""
    return lambda counts: Random(f"{seed} {counts}").random() < 0.3 + 0.6 * sum(counts) / sum(whole)


PREDICATES: dict[str, Callable[[Bag], Predicate]] = {
    "2-sensitive": partial(distinct, 2),
    "3-sensitive": partial(distinct, 3),
    **{
        f"entropy {least}": partial(entropy, Fraction(least))
        for least in ("3/2", "9/5", "2", "5/2")
    },
    **{
        f"({c}, {rank})": partial(recursive, Fraction(c), rank)
        for c, rank in [("2", 2), ("3", 2), ("1", 2), ("3", 3)]
    },
    **{f"{t}-close": partial(closeness, Fraction(t), False) for t in ("1/6", "1/5", "1/4", "1/3")},
    **{f"{t}-close in order": partial(closeness, Fraction(t), True) for t in ("1/8", "1/4")},
    **{f"made up {seed}": partial(made_up, seed) for seed in range(4)},
}


@cache
def predicate(name: str, whole: Bag) -> Predicate:
    return PREDICATES[name](whole)


# The law of `merged`, given which groups are safe


class _Ask(Exception):
    """It is not known yet whether these halves together are safe."""

    def __init__(self, halves: Halves) -> None:
        super().__init__()
        self.halves = halves


@dataclass
class Scheming:
    """What `merged` does on some leaves, by what it is told is safe.

    The law is found once for all tables that answer alike.
    """

    leaves: int
    scheme: Scheme
    depth: int = 1
    source: Callable[[Enumerated], Chance] = lambda chance: chance
    found: dict[tuple[tuple[Halves, bool], ...], Halves | Law] = field(default_factory=dict)

    def given(self, answers: tuple[tuple[Halves, bool], ...]) -> Halves | Law:
        """The law, or halves of which must be known whether together they are safe."""
        if answers not in self.found:
            try:
                weights = law(partial(self._run, dict(answers)))
                assert sum(weight.exact for weight in weights.values()) == 1
                self.found[answers] = {outcome: weight.exact for outcome, weight in weights.items()}
            except _Ask as asked:
                self.found[answers] = asked.halves
        return self.found[answers]

    def _run(self, known: dict[Halves, bool], chance: Enumerated) -> Groups | None:
        def safe(numbers: Ints, groups: int) -> Bools:
            asked = [tuple(np.flatnonzero(numbers == one).tolist()) for one in range(groups)]
            for halves in asked:
                if halves not in known:
                    raise _Ask(halves)
            return np.array([known[halves] for halves in asked], dtype=np.bool_)

        try:
            group = merged(self.leaves, safe, self.scheme, self.depth, self.source(chance))
        except InfeasibleError:
            return None
        return tuple(
            tuple(np.flatnonzero(group == one).tolist()) for one in range(int(group.max()) + 1)
        )


@dataclass
class Seen:
    """How many releases there can be, and of these how many where somebody's value is believed
    otherwise than shown.
    """

    releases: int = 0
    leaks: int = 0
    refused: Fraction = Fraction(0)
    """How likely it is that nothing is released."""
    worst: Fraction = Fraction(0)
    """The most by which a belief differs from what the group shows."""
    told: Fraction = Fraction(0)
    """The most by which a refusal moves a belief away from how often a value occurs at all."""


def judged(scheming: Scheming, sizes: Sequence[int], bag: Bag, name: str) -> Seen:
    """What the adversary sees and believes for leaves of these sizes, a bag of values, and a
    predicate.
    """
    all_, seen = assignments(bag), Seen()
    safe = predicate(name, tuple(bag.count(value) for value in all_.values))
    ends = np.cumsum([half for size in sizes for half in (size - size // 2, size // 2)])
    members = [
        tuple(range(end - size, end))
        for end, size in zip(ends.tolist(), np.diff(ends, prepend=0).tolist(), strict=True)
    ]

    def together(halves: Halves) -> frozenset[int]:
        return frozenset(person for half in halves for person in members[half])

    weighed: dict[Groups | None, dict[Fraction, list[Ints]]] = {}
    open_: list[tuple[tuple[tuple[Halves, bool], ...], Ints]] = [((), np.arange(len(all_.worlds)))]
    while open_:
        answers, worlds = open_.pop()
        found = scheming.given(answers)
        if isinstance(found, dict):
            for outcome, weight in found.items():
                weighed.setdefault(outcome, {}).setdefault(weight, []).append(worlds)
        else:
            yes = all_.safe(together(found), safe)[worlds]
            open_ += [
                ((*answers, (found, said)), worlds[yes == said])
                for said in (True, False)
                if (yes == said).any()
            ]
    for outcome, parts in weighed.items():
        everybody = list(range(sum(sizes)))
        groups = (
            [everybody] if outcome is None else [sorted(together(halves)) for halves in outcome]
        )
        shown: dict[bytes, list[tuple[Fraction, Ints]]] = {}
        for weight, several in parts.items():
            for worlds in all_.alike(groups, np.concatenate(several)):
                shown.setdefault(_bags(all_, worlds, groups).tobytes(), []).append((weight, worlds))
        for alike in shown.values():
            total = sum((weight * len(worlds) for weight, worlds in alike), Fraction(0))
            believed = (
                sum(
                    all_.has[worlds].sum(axis=0).astype(object) * weight for weight, worlds in alike
                )
                / total
            )
            counts = _bags(all_, alike[0][1], groups)
            apart = max(
                abs(person[value] - Fraction(int(own[value]), len(group)))
                for group, own in zip(groups, counts, strict=True)
                for person in believed[group]
                for value in range(len(own))
            )
            if outcome is None:
                seen.refused, seen.told = total / len(all_.worlds), apart
            else:
                assert all(safe(tuple(own)) for own in counts.tolist())
                seen.releases += 1
                seen.leaks += apart > 0
                seen.worst = max(seen.worst, apart)
    return seen


def _bags(all_: Assignments, worlds: Ints, groups: list[list[int]]) -> Ints:
    """How often every value occurs in groups that look the same in all these worlds."""
    return np.array([all_.has[worlds[0]][group].sum(axis=0) for group in groups])


def bags(people: int, values: int) -> list[Bag]:
    """All bags of so many values at most, up to their names."""
    most = [
        counts
        for number in range(1, values + 1)
        for counts in combinations_with_replacement(range(people, 0, -1), number)
        if sum(counts) == people
    ]
    return [
        tuple(value for value, count in enumerate(counts) for _ in range(count)) for counts in most
    ]


def instances(shapes: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, Bag, str]]:
    for leaves, size, values in shapes:
        for bag in bags(leaves * size, values):
            yield from ((leaves, size, bag, name) for name in PREDICATES)


QUICK = [
    (1, 2, 2),
    (2, 2, 4),
    (3, 2, 4),
    (2, 3, 4),
    (4, 2, 2),
    (2, 4, 3),
]  # leaves, their size, values at most
SLOW = [(3, 2, 6), (2, 3, 6), (4, 2, 4), (5, 2, 2), (3, 3, 3), (3, 4, 2), (6, 2, 2)]


@pytest.mark.parametrize(
    "shapes", [QUICK, pytest.param(SLOW, marks=pytest.mark.slow)], ids=["quick", "slow"]
)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_believed_of_anybody_is_what_the_group_shows(
    scheme: Scheme, shapes: list[tuple[int, int, int]]
) -> None:
    known = {leaves: Scheming(leaves, scheme) for leaves, _, _ in shapes}
    number = releases = 0
    for leaves, size, bag, name in instances(shapes):
        if size % 2 and scheme == "interleaved":
            continue
        seen = judged(known[leaves], [size] * leaves, bag, name)
        assert not seen.leaks, (leaves, size, bag, name)
        assert not seen.told, (leaves, size, bag, name)
        number += 1
        releases += seen.releases
    print(f"{scheme}: {number} instances, {releases} releases")
    assert number > 500
    assert releases > number


# Twins


FOUR_AND_TWO: Bag = (0, 0, 0, 0, 1, 1)


def picking(pick: Callable[[Ints, Bools, int, Chance], Sequence[int]]) -> Callable[..., Any]:
    """`_kept` with other leaves left out of the trees: picked from the safe ones, instead of drawn
    uniformly.
    """

    class Source(Enumerated):
        def __init__(self, safe: Bools, chance: Chance) -> None:
            self.safe, self.chance = safe, chance

        def choice(self, n: int, size: int) -> Ints:
            those = np.flatnonzero(self.safe) if n == self.safe.sum() else np.arange(n)
            return np.searchsorted(
                those, np.array(pick(those, self.safe, size, self.chance), dtype=np.int64)
            )

    kept = schemes._kept
    return lambda safe, scheme, depth, chance: kept(safe, scheme, depth, Source(safe, chance))


def first(those: Ints, safe: Bools, number: int, chance: Chance) -> Sequence[int]:
    return [int(leaf) for leaf in those[:number]]


def nearest(those: Ints, safe: Bools, number: int, chance: Chance) -> Sequence[int]:
    """Those far from all unsafe ones go, so that these merge with what is near."""
    unsafe = np.flatnonzero(~safe)
    far = [min((abs(int(leaf) - int(other)) for other in unsafe), default=0) for leaf in those]
    return [int(leaf) for leaf in those[np.argsort(far, kind="stable")[::-1][:number]]]


def weighted(those: Ints, safe: Bools, number: int, chance: Chance) -> Sequence[int]:
    """A later leaf goes more likely than an earlier one."""
    assert isinstance(chance, Enumerated)
    left, out = [int(leaf) for leaf in those], []
    for _ in range(number):
        total = sum(leaf + 1 for leaf in left)
        out.append(left.pop(chance.branch([point(Fraction(leaf + 1, total)) for leaf in left])))
    return out


def uniform(those: Ints, safe: Bools, number: int, chance: Chance) -> Sequence[int]:
    return [int(leaf) for leaf in those[chance.choice(len(those), number)]]


@pytest.mark.parametrize("scheme", ["UA", "forest"])
@pytest.mark.parametrize("pick", [first, nearest, weighted, uniform])
def test_leaving_out_groups_other_than_by_uniform_draws_leaks(
    pick: Any, scheme: Scheme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schemes, "_kept", picking(pick))
    seen = [
        judged(Scheming(leaves, scheme), [2] * leaves, bag, "2-sensitive") for leaves, bag in CAUGHT
    ]
    assert any(one.leaks for one in seen) == (pick is not uniform)


CAUGHT: list[tuple[int, Bag]] = [
    (3, FOUR_AND_TWO),
    (3, (0, 0, 0, 1, 1, 2)),
    (5, (0, 0, 0, 0, 0, 0, 0, 1, 1, 1)),
]


def test_leaving_out_the_first_reveals_the_value_of_a_person_in_a_group_of_four() -> None:
    """The six people of the proof: {2, 3} alone and {0, 1, 4, 5} together is only released if 0 and
    1 are alike.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemes, "_kept", picking(first))
        seen = judged(Scheming(3, "UA"), [2, 2, 2], FOUR_AND_TWO, "2-sensitive")
    assert seen.worst >= Fraction(1, 4)  # 0 is certain, where the group shows three quarters


def test_a_seeded_source_leaks_to_anyone_who_knows_the_seed() -> None:
    seen = [
        judged(
            Scheming(leaves, scheme, source=seeded(seed)),
            [2] * leaves,
            bag,
            "2-sensitive",
        )
        for seed in range(2)
        for scheme in SCHEMES[:3]
        for leaves, bag in CAUGHT
    ]
    assert any(one.leaks for one in seen)


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (2, 4), (2, 2, 2, 3)])
@pytest.mark.parametrize("scheme", ["forest", "UU", "UA"])
def test_leaves_of_unequal_size_leak(scheme: Scheme, sizes: tuple[int, ...]) -> None:
    scheming = Scheming(len(sizes), scheme)
    assert any(
        judged(scheming, sizes, bag, name).leaks
        for bag in bags(sum(sizes), 2)
        for name in ("2-sensitive", "entropy 9/5")
    )


def test_an_odd_size_cannot_be_interleaved() -> None:
    """Halves of one leaf would differ: the reason why the method asks for an even size."""
    assert any(
        judged(Scheming(3, "interleaved"), [3, 3, 3], bag, "2-sensitive").leaks
        for bag in bags(9, 2)
    )


@pytest.mark.parametrize("order", [(0, 2, 1, 3, 4, 5), (0, 1, 2, 4, 3, 5)])
def test_interleaving_other_halves_than_one_of_each_leaf_leaks(
    order: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    interleave = schemes._interleave
    monkeypatch.setattr(
        schemes, "_interleave", lambda halves, *rest: interleave(halves[:, order], *rest)
    )
    scheming = Scheming(3, "interleaved")
    assert any(judged(scheming, [2, 2, 2], bag, "2-sensitive").leaks for bag in bags(6, 3))


def test_interleaving_that_depends_on_values_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves of a safe leaf are swapped: which groups there are then tells which leaf is safe."""
    interleave = schemes._interleave

    def twin(halves: Ints, group: Ints, some: Bools, test: Any, leaves: int) -> Bools:
        safe = test(np.arange(2 * leaves) // 2, leaves)
        two = halves.reshape(-1, 3, 2).copy()
        swap = safe[two[:, :, 0] // 2]
        two[swap] = two[swap][:, ::-1]
        return interleave(two.reshape(-1, 6), group, some, test, leaves)

    monkeypatch.setattr(schemes, "_interleave", twin)
    scheming = Scheming(3, "interleaved")
    assert any(judged(scheming, [2, 2, 2], bag, "2-sensitive").leaks for bag in bags(6, 3))


def test_keeping_groups_by_their_values_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A safe sibling that stays out of the merging, as one would do to keep groups small."""

    def twin(leaves: int, safe: Any, scheme: Scheme, depth: int, chance: Chance) -> Ints:
        fine = safe(np.arange(2 * leaves) // 2, leaves)
        group = np.arange(2 * leaves) // 2
        bad = np.flatnonzero(~fine)
        if len(bad) == 1 and len(fine) > 1:
            bad = np.array([bad[0], (bad[0] + 1) % leaves])
        group[np.isin(group, bad)] = leaves
        numbers = np.unique(group, return_inverse=True)[1].astype(np.int64)
        if not safe(numbers, int(numbers.max()) + 1).all():
            raise InfeasibleError("")
        return numbers

    monkeypatch.setitem(globals(), "merged", twin)
    assert any(judged(Scheming(3, "UA"), [2, 2, 2], bag, "2-sensitive").leaks for bag in bags(6, 3))


def test_printed_uu_without_a_sibling_would_need_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least power of two that holds one group is one group, which is a tree without a sibling.

    Nobody learns of it.
    """
    kept = schemes._kept

    def printed(safe: Bools, scheme: Scheme, depth: int, chance: Chance) -> Any:
        if (~safe).sum() == 1:
            return np.flatnonzero(~safe), np.zeros(0, dtype=np.int64), []
        return kept(safe, scheme, depth, chance)

    bag = (0, 0, 1, 2, 3, 4, 5, 6)
    ours = judged(Scheming(4, "UU"), [2] * 4, bag, "2-sensitive")
    monkeypatch.setattr(schemes, "_kept", printed)
    theirs = judged(Scheming(4, "UU"), [2] * 4, bag, "2-sensitive")
    assert not any((ours.refused, theirs.refused, ours.leaks, theirs.leaks))
    assert theirs.releases < ours.releases


# What happens where safe groups are too few, or the root is not safe

FEW: list[tuple[int, int, Bag]] = [
    (3, 1, (0, 0, 0, 0, 0, 1)),
    (5, 1, (0,) * 8 + (1, 1)),
    (5, 2, (0,) * 8 + (1, 1)),
    (7, 2, (0,) * 12 + (1, 1)),
    (7, 2, (0,) * 12 + (1, 2)),
]
"""Leaves of two, how often they merge two by two, and values of which few leaves have two."""


@pytest.mark.parametrize(
    ("scheme", "few"),
    [
        *((scheme, FEW[:3]) for scheme in SCHEMES),
        pytest.param("forest", FEW[3:], marks=pytest.mark.slow),
    ],
)
def test_groups_that_are_left_out_and_everybody_as_one_group_reveal_nothing(
    scheme: Scheme, few: list[tuple[int, int, Bag]]
) -> None:
    for leaves, depth, bag in few:
        names = ("2-sensitive", "1/4-close", "made up 1") if leaves < 7 else ("2-sensitive",)
        for name in names:
            seen = judged(Scheming(leaves, scheme, depth), [2] * leaves, bag, name)
            assert not seen.leaks, (leaves, depth, bag, name)
            assert not seen.told, (leaves, depth, bag, name)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("depth", [0, 1])
def test_a_refusal_depends_on_the_bag_alone(scheme: Scheme, depth: int) -> None:
    """Whether all together are safe: it cannot happen by chance, and tells who knows the bag
    nothing.
    """
    for leaves, size, bag, name in instances([(3, 2, 3), (2, 2, 3)]):
        everybody = tuple(bag.count(value) for value in sorted(set(bag)))
        seen = judged(Scheming(leaves, scheme, depth), [size] * leaves, bag, name)
        safe = predicate(name, everybody)(everybody)
        assert seen.refused <= 1 - safe, (leaves, bag, name)
        assert not seen.leaks
        assert not seen.told


@pytest.mark.parametrize("leaves", [3, 5])
def test_three_or_five_siblings_merge_at_once_and_reveal_nothing(leaves: int) -> None:
    scheming = Scheming(leaves, "forest", 0)
    for bag in bags(2 * leaves, 3 if leaves == 3 else 2):
        for name in ("2-sensitive", "entropy 9/5", "made up 0"):
            assert judged(scheming, [2] * leaves, bag, name).leaks == 0


def test_leaving_out_the_first_unsafe_groups_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = schemes._kept

    def twin(safe: Bools, scheme: Scheme, depth: int, chance: Chance) -> Any:
        tree, left_out, siblings = kept(safe, scheme, depth, chance)
        out = np.flatnonzero(~safe)[: len(left_out)]
        return np.setdiff1d(np.union1d(tree, left_out), out), out, siblings

    monkeypatch.setattr(schemes, "_kept", twin)
    assert any(
        judged(Scheming(leaves, "forest", depth), [2] * leaves, bag, "2-sensitive").leaks
        for leaves, depth, bag in FEW
    )


def test_trees_of_different_sizes_that_merge_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of two leaves and one of one, and if a root is unsafe both merge: then siblings cannot
    stand for each other.
    """

    def twin(leaves: int, safe: Any, scheme: Scheme, depth: int, chance: Chance) -> Ints:
        leaf = np.arange(6) // 2
        pair = np.array([0, 0, 0, 0, 1, 1])
        fine = safe(leaf, 3)
        groups = leaf if fine[:2].all() else pair
        if safe(pair, 2).all() and fine[2]:
            return groups
        if not safe(np.zeros(6, dtype=np.int64), 1).all():
            raise InfeasibleError("")
        return np.zeros(6, dtype=np.int64)

    monkeypatch.setitem(globals(), "merged", twin)
    assert any(
        judged(Scheming(3, "forest"), [2, 2, 2], bag, name).leaks
        for bag in bags(6, 3)
        for name in ("2-sensitive", "entropy 9/5")
    )


# The whole release, on people who all have other quasi-identifying values


PLACES = Hierarchy.from_lines(
    [[str(i), f"road {i // 2}", "west" if i < 4 else "east", "*"] for i in range(10)], Kind.INTEGER
)


@cache
def people(world: Bag, homes: tuple[int, ...]) -> Any:
    frame = pl.DataFrame({"home": homes, "ill": ["abcd"[value] for value in world]})
    return shoal.table(
        frame,
        quasi=["home"],
        sensitive=["ill"],
        hierarchies={"home": PLACES},
        types={"home": "integer", "ill": "text"},
    )


def seeded(seed: int) -> Callable[[Enumerated], Chance]:
    """A source of chance that is the same in every world."""
    return lambda chance: Seeded(seed)


@dataclass(frozen=True)
class Shown:
    """All that a release shows, and which people have which values together."""

    rows: tuple[tuple[Any, ...], ...]
    certificate: str
    who: tuple[tuple[tuple[int, ...], Bag], ...]


def shown(method: Coincident, world: Bag, homes: tuple[int, ...], chance: Chance) -> Shown | None:
    who: list[Groups] = []
    laid_out = coincident._Ordered.laid_out

    def spied(self: Any, halves: Ints, chance: Chance) -> Any:
        groups = halves[self.half]
        who.append(
            tuple(
                tuple(sorted(self.record[groups == one].tolist()))
                for one in range(int(groups.max()) + 1)
            )
        )
        return laid_out(self, halves, chance)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coincident._Ordered, "laid_out", spied)
        try:
            made = method.release(people(world, homes), chance)
        except InfeasibleError:
            return None
    together = tuple((group, tuple(sorted(world[person] for person in group))) for group in who[0])
    return Shown(
        tuple(made.table.rows()), made.certificate.to_json() + str(made.table.schema), together
    )


Weights = dict[Shown | None, dict[int, Fraction]]


def weighed(method: Coincident, bag: Bag, source: Callable[[Any], Chance] = lambda c: c) -> Weights:
    """The probability of every release, and of none, by the assignment of the bag."""
    homes, weights = tuple(range(len(bag))), Weights()
    for at, world in enumerate(assignments(bag).worlds.tolist()):

        def run(chance: Enumerated, world: tuple[int, ...] = tuple(world)) -> Any:
            return shown(method, world, homes, source(chance))

        for outcome, weight in law(run).items():
            weights.setdefault(outcome, {})[at] = weight.exact
    return weights


def leaks(method: Coincident, bag: Bag, source: Callable[[Any], Chance] = lambda c: c) -> int:
    """How many groups of releases there are in which somebody's value is believed otherwise than
    shown.
    """
    return leaking(weighed(method, bag, source), bag)


def leaking(weights: Weights, bag: Bag) -> int:
    all_, bad = assignments(bag), 0
    for outcome, own in weights.items():
        believed = sum(all_.has[at].astype(object) * weight for at, weight in own.items()) / sum(
            own.values()
        )
        for group, values in outcome.who if outcome else ():
            shares = [Fraction(values.count(value), len(group)) for value in all_.values]
            bad += any(believed[person].tolist() != shares for person in group)
    return bad


def unsafe(weights: Weights, bag: Bag, name: str) -> int:
    """How many groups of releases do not satisfy a predicate among all that is released."""
    bad = 0
    for outcome in filter(None, weights):
        those = [value for _, values in outcome.who for value in values]
        counts = [
            tuple(values.count(value) for value in sorted(set(bag)))
            for values in (those, *(own for _, own in outcome.who))
        ]
        bad += sum(not predicate(name, counts[0])(own) for own in counts[1:])
    return bad


def refused(scheme: Scheme, bag: Bag, name: str) -> Fraction:
    """How likely nothing is released of groups of two, by the predicates above: some are left out
    by lot if they are odd.
    """
    rests = [bag[:at] + bag[at + 1 :] for at in range(len(bag))] if len(bag) % 2 else [bag]
    scheming = Scheming(len(bag) // 2, scheme)
    return sum(
        (judged(scheming, [2] * (len(bag) // 2), rest, name).refused for rest in rests), Fraction(0)
    ) / len(rests)


BESIDE: list[
    tuple[str, str, Bag]
] = [  # a tree of two leaves that merges, and fails, beside another that is safe
    ("2-diversity of ill", "2-sensitive", (0, 0, 0, 0, 0, 0, 1, 1)),
    ("1/5-closeness of ill", "1/5-close", (0, 0, 0, 0, 0, 0, 0, 1, 1, 1)),
]
WHOLE: list[Any] = [
    ("2-diversity of ill", "2-sensitive", "UA", "hierarchy", "curve", FOUR_AND_TWO),
    ("2-sensitive 2-anonymity of ill", "2-sensitive", "forest", "boundary", "splits", FOUR_AND_TWO),
    ("2-diversity of ill", "2-sensitive", "UA", "narrower", "splits", FOUR_AND_TWO),
    ("1/6-closeness of ill", "1/6-close", "forest", "hierarchy", "curve", (0, 0, 0, 1, 1, 1)),
    (
        "entropy 3/2-diversity of ill",
        "entropy 3/2",
        "interleaved",
        "narrower",
        "splits",
        (0, 0, 0, 1, 1, 1),
    ),
    ("recursive (3, 2)-diversity of ill", "(3, 2)", "UU", "hierarchy", "splits", (0, 0, 0, 1, 1)),
    ("2-diversity of ill", "2-sensitive", "UA", "narrower", "splits", (0, 0, 0, 1, 2)),
    ("2-diversity of ill", "2-sensitive", "forest", "narrower", "splits", (0, 0, 0, 0, 0, 1, 1)),
    *((model, name, "forest", "narrower", "splits", bag) for model, name, bag in BESIDE),
    pytest.param(
        "2-diversity of ill",
        "2-sensitive",
        "UU",
        "narrower",
        "splits",
        (0, 0, 0, 0, 1, 1, 2, 2),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("model", "name", "scheme", "ranges", "order", "bag"), WHOLE)
def test_a_whole_release_reveals_what_its_groups_show_and_these_are_safe(
    model: str, name: str, scheme: Scheme, ranges: Ranges, order: Order, bag: Bag
) -> None:
    weights = weighed(coincident_by(model, scheme, ranges, order), bag)
    assert len(weights) > 1
    assert not leaking(weights, bag)
    assert not unsafe(weights, bag, name)
    assert sum(weights.get(None, {}).values(), Fraction(0)) / len(
        assignments(bag).worlds
    ) == refused(scheme, bag, name)


@pytest.mark.parametrize(
    ("model", "name", "bag"), [BESIDE[0], pytest.param(*BESIDE[1], marks=pytest.mark.slow)]
)
def test_a_whole_release_is_unsafe_if_what_merges_is_judged_with_others(
    model: str, name: str, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = merged

    def twin(leaves: int, safe: Any, *rest: Any) -> Ints:
        return shipped(
            leaves, lambda numbers, groups: safe(np.where(numbers < 0, 0, numbers), groups), *rest
        )

    monkeypatch.setattr(coincident, "merged", twin)
    assert unsafe(weighed(coincident_by(model, "forest"), bag), bag, name)


def coincident_by(
    model: str, scheme: Scheme, ranges: Ranges | None = None, order: Order = "splits"
) -> Coincident:
    return Coincident((parse_model(model),), 2, scheme, 1, order, ranges)


def test_these_releases_show_values_of_the_hierarchy_and_ranges_of_their_own() -> None:
    method, table = (
        coincident_by("2-diversity of ill", "UA"),
        people((0, 1, 0, 1, 0, 0), tuple(range(6))),
    )
    homes = {
        home
        for seed in range(20)
        for home in method.release(table, Seeded(seed)).table["home"].to_list()
    }
    assert homes == {"road 0", "road 1", "2-9 or missing", "*"}


def test_ranges_that_are_chosen_by_what_people_have_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group whose first person is well shows a value of the hierarchy, and any other how far the
    splits reach.
    """
    shown = coincident._Ordered._shown

    def twin(self: Any, column: int, order: Ints, starts: Ints) -> Any:
        ill = self.rows.codes[1][self.record[self.halves[order[starts]]]]
        narrow, wide = (
            shown(replace(self, method=replace(self.method, ranges=one)), column, order, starts)
            for one in RANGES[1:]
        )
        texts = [*narrow[0], *(f"{text} " for text in wide[0])]
        return texts, np.where(ill == 0, narrow[1], wide[1] + len(narrow[0]))

    monkeypatch.setattr(coincident._Ordered, "_shown", twin)
    assert leaks(coincident_by("2-diversity of ill", "UA"), FOUR_AND_TWO)


def test_a_whole_release_leaks_if_the_seed_is_known() -> None:
    method = coincident_by("2-diversity of ill", "UA")
    assert any(leaks(method, FOUR_AND_TWO, seeded(seed)) for seed in range(3))


def test_a_whole_release_leaks_if_safe_groups_are_left_out_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schemes, "_kept", picking(first))
    assert leaks(coincident_by("2-diversity of ill", "UA"), FOUR_AND_TWO)


def test_people_with_the_same_quasi_identifying_values_are_as_likely_in_any_of_their_places() -> (
    None
):
    """Three of four live in 0.

    Two of them make a group, and who is the third is drawn, over all orders of records.
    """
    method, homes = (
        Coincident((parse_model("1-diversity of ill"),), 2, ranges="hierarchy", order="curve"),
        (0, 0, 0, 1),
    )
    bag = (0, 0, 1, 1)
    weights: dict[tuple[tuple[Any, ...], ...], dict[Bag, Fraction]] = {}
    for world in Assignments(bag).worlds.tolist():
        run = lambda chance, world=tuple(world): shown(method, world, homes, chance)  # noqa: E731
        for outcome, weight in law(run).items():
            assert outcome is not None
            own = weights.setdefault(outcome.rows, {})
            own[tuple(world)] = own.get(tuple(world), Fraction(0)) + weight.exact
    for rows, own in weights.items():
        values = {
            "0": [ill for _, home, ill in rows if home == "0"],
            "road 0": [ill for _, home, ill in rows if home == "road 0"],
        }
        assert (len(values["0"]), len(values["road 0"])) == (2, 2)
        for value in set(bag):
            near, far = (
                Fraction(values[label].count("abcd"[value]), 2) for label in ("0", "road 0")
            )
            believed = [
                sum(w for world, w in own.items() if world[p] == value) / sum(own.values())
                for p in range(4)
            ]
            assert believed == [near * 2 / 3 + far / 3] * 3 + [far]
