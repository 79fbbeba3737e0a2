"""An adversary who knows the algorithm, the people and both tables, run against the very code that
ships.

To him all ways to give a bag of values to people are equally likely. He runs the method on each of
them along every path of its chance (`enumeration`), so that what he then believes is exact. Twins
that leak are caught by the same adversary.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, permutations
from math import factorial, prod
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack.coins import law
from shoal.chance import Chance, Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.errors import InfeasibleError
from shoal.methods import buckets
from shoal.methods.buckets import Buckets, filling
from shoal.methods.buckets.filling import fakes, mixed, with_room
from shoal.methods.buckets.hiding import Hiding
from shoal.methods.buckets.settings import Search, Setting, find_setting, fitting
from shoal.methods.method import Progress
from shoal.privacy.limits import Limits
from shoal.privacy.promises import Promise
from shoal.releases.release import Release

HALF = Limits.each({}, others="1/2")
PLACES = Hierarchy.from_lines(
    [[str(i), "west" if i < 2 else "east", "*"] for i in range(6)], Kind.INTEGER
)

Values = tuple[str, ...]
Belief = dict[str, Fraction]


@cache
def people(values: Values, homes: tuple[int, ...] | None = None) -> Table:
    frame = pl.DataFrame({"home": list(homes or range(len(values))), "ill": list(values)})
    return shoal.table(
        frame,
        quasi=["home"],
        sensitive=["ill"],
        hierarchies={"home": PLACES},
        types={"home": "integer", "ill": "text"},
    )


@dataclass(frozen=True)
class Shown:
    """All that a release shows."""

    people: tuple[tuple[Any, ...], ...]
    values: tuple[tuple[Any, ...], ...]
    certificate: str


def shown(
    method: Any, values: Values, homes: tuple[int, ...] | None, chance: Chance
) -> Shown | None:
    try:
        made = method.release(people(values, homes), chance)
    except InfeasibleError:
        return None
    types = str((made.table.schema, made.further["buckets"].schema))
    return Shown(
        tuple(made.table.rows()),
        tuple(made.further["buckets"].rows()),
        made.certificate.to_json() + types,
    )


def believed(
    method: Any,
    bag: str,
    homes: tuple[int, ...] | None = None,
    known: Mapping[int, str] | None = None,
) -> Iterator[tuple[Shown, list[Belief]]]:
    """Every release that there can be, with what is then believed of everybody.

    `known` are the values of some people.
    """
    weights: dict[Shown, dict[Values, Fraction]] = {}
    for world in sorted(set(permutations(bag))):
        if all(world[person] == value for person, value in (known or {}).items()):
            for outcome, weight in law(partial(shown, method, world, homes)).items():
                if outcome is not None:
                    weights.setdefault(outcome, {})[world] = weight.exact
    for outcome, worlds in weights.items():
        beliefs: list[Belief] = [{} for _ in bag]
        for world, own in worlds.items():
            for belief, value in zip(beliefs, world, strict=True):
                belief[value] = belief.get(value, Fraction(0)) + own / sum(worlds.values())
        yield outcome, beliefs


def breaches(method: Any, bag: str, limits: Limits, homes: tuple[int, ...] | None = None) -> int:
    """How many people are linked to a value with more than its limit, over all releases."""
    most = limits.of(Counter(bag))
    return sum(
        p > most[value]
        for _, beliefs in believed(method, bag, homes)
        for belief in beliefs
        for value, p in belief.items()
    )


def shares(outcome: Shown) -> dict[int, Belief]:
    """What each bucket shows: the share of every value in it."""
    sizes = Counter(row[-1] for row in outcome.people)
    found: dict[int, dict[str, Fraction]] = {}
    for bucket, value, count in outcome.values:
        found.setdefault(bucket, {})[value] = Fraction(count, sizes[bucket])
    return dict(found)


CASES = [
    ("aabb", HALF, {}),
    ("aabc", HALF, {}),
    ("aabc", Limits.formula(1, "1/4"), {}),
    ("aaab", Limits.each({"b": "1/3"}, others=1), {}),
    ("aabb", HALF, {"within": {"home": 1}}),
    ("abcc", HALF, {"within": {"home": 1}}),
    ("hfff", Limits.each({"h": "1/2"}, others=1), {"within": {"home": 1}}),
]


def assert_shares(method: Buckets, bag: str) -> None:
    """Everybody is believed to have a value with the probability of its share of their bucket, and
    at most its limit.
    """
    releases = list(believed(method, bag))
    most = method.limits.of(Counter(bag))
    assert releases
    for outcome, beliefs in releases:
        bucket = {row[0]: row[-1] for row in outcome.people}
        for person, belief in enumerate(beliefs):
            assert belief == shares(outcome)[bucket[person]]
            assert all(p <= most[value] for value, p in belief.items())


@pytest.mark.parametrize(("bag", "limits", "options"), CASES)
def test_nobody_is_linked_to_a_value_by_more_than_its_share_of_the_bucket(
    bag: str, limits: Limits, options: Any
) -> None:
    assert_shares(Buckets("ill", limits, solver="two", **options), bag)


@pytest.mark.parametrize("solver", ["multi", "anatomy", "optimal"])
def test_the_same_holds_of_every_solver(solver: Any) -> None:
    if solver == "optimal":
        pytest.importorskip("scipy")
    assert_shares(Buckets("ill", HALF, solver=solver), "aabb")


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"within": {"home": 1}}])
def test_the_same_holds_of_five_people(options: Any) -> None:
    assert_shares(
        Buckets("ill", Limits.each({"c": "1/3"}, others="1/2"), solver="two", **options), "aabbc"
    )


def test_people_who_cannot_be_told_apart_are_linked_by_less_than_the_limit() -> None:
    assert breaches(Buckets("ill", HALF, solver="two"), "aabb", HALF, (0, 0, 1, 2)) == 0
    assert breaches(Buckets("ill", HALF, solver="two"), "aabb", HALF, (1, 1, 1, 1)) == 0


def test_fakes_keep_the_limits_and_hide_what_one_known_value_would_reveal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Corruption, exactly: the adversary knows the value of person 0, and looks at who shares the
    bucket.
    """
    monkeypatch.setattr(
        buckets.filling, "_MIXING", -1
    )  # one round, so that all paths can be followed

    def surest(method: Buckets) -> Fraction:
        found = []
        for outcome, beliefs in believed(method, "aabc", known={0: "a"}):
            bucket = {row[0]: row[-1] for row in outcome.people}
            found += [max(beliefs[i].values()) for i in (1, 2, 3) if bucket[i] == bucket[0]]
        return max(found)

    method = Buckets("ill", HALF, solver="two", fakes=1)
    assert breaches(method, "aabc", HALF) == 0
    assert surest(method) == Fraction(1, 2)
    assert surest(replace(method, fakes=0)) == 1


# Twins


@dataclass(frozen=True)
class Twin:
    """A method that does something else with a release than the right one."""

    right: Buckets
    broken: Callable[[Release, Table, Chance], Release]
    name: ClassVar[str] = "twin"

    def promise(self, schema: Schema) -> Promise:
        return self.right.promise(schema)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        chance = chance or Chance()
        return self.broken(self.right.release(table, chance), table, chance)


def test_a_twin_that_fills_first_come_first_served_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(buckets, "assigned", lambda places, runs, chance: places)
    assert breaches(Buckets("ill", HALF, solver="two"), "aabc", HALF)


def test_a_twin_that_fills_with_who_lives_nearest_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each bucket takes a person by chance and then, for every other value it wants, the one who
    lives nearest.
    """

    def nearest(places: Any, runs: Any, chance: Chance) -> Any:
        homes, found, left = (
            np.array(where),
            np.zeros(len(places), dtype=np.int64),
            set(range(len(places))),
        )
        order = {
            person: place for place, person in enumerate(chance.permutation(len(places)).tolist())
        }
        for bucket in sorted(set(places.tolist())):
            first: int | None = None
            for run in runs[places == bucket].tolist():
                able = [person for person in left if runs[person] == run]
                far = {p: 0 if first is None else abs(homes[p] - homes[first]) for p in able}
                person = min(able, key=lambda p, far=far: (far[p], order[p]))  # type: ignore[misc]
                first = person if first is None else first
                found[person] = bucket
                left.discard(person)
        return found

    where: list[int] = []

    def spying(method: Any, values: Values, homes: Any, chance: Chance) -> Shown | None:
        where[:] = [
            home for _, home in sorted(zip(values, homes or range(len(values)), strict=True))
        ]
        return right(method, values, homes, chance)

    right = shown
    monkeypatch.setitem(globals(), "shown", spying)
    monkeypatch.setattr(buckets, "assigned", nearest)
    assert breaches(Buckets("ill", HALF, solver="two"), "aabb", HALF, (0, 1, 4, 5))


def test_a_twin_that_joins_an_impossible_block_with_others_is_caught() -> None:
    """The block of one person is impossible only if that person has what may not be certain:
    joining it tells.
    """
    limits = Limits.each({"h": "1/2"}, others=1)
    homes = (0, 2, 3)
    apart = Buckets("ill", limits, solver="two", within={"home": 1})

    @dataclass(frozen=True)
    class Joining:
        name: ClassVar[str] = "joining"

        def release(
            self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
        ) -> Release:
            try:
                return apart.release(table, chance)
            except InfeasibleError:
                return replace(apart, within=None).release(table, chance)

    assert breaches(apart, "hff", limits, homes) == 0
    joined = [
        beliefs for _, beliefs in believed(Joining(), "hff", homes) if beliefs[0].get("h") == 1
    ]
    assert joined
    assert breaches(Joining(), "hff", limits, homes)


def test_a_twin_that_numbers_buckets_as_people_come_is_caught() -> None:
    def numbered(release: Release, table: Table, chance: Chance) -> Release:
        ill = dict(zip(table.frame["home"].to_list(), table.frame["ill"].to_list(), strict=True))
        first = min(release.table.rows(), key=lambda row: (ill[row[0]], row[0]))[
            -1
        ]  # the table sorted by value
        order = {first: 1, 3 - first: 2}
        values = (
            release.further["buckets"]
            .with_columns(pl.col("bucket").replace(order))
            .sort("bucket", "ill")
        )
        return replace(
            release,
            table=release.table.with_columns(pl.col("bucket").replace(order)),
            further={"buckets": values},
        )

    assert breaches(Twin(Buckets("ill", HALF, solver="two"), numbered), "aabb", HALF)


def test_a_twin_that_lists_people_in_the_order_of_their_values_is_caught() -> None:
    def sorted_by_value(release: Release, table: Table, chance: Chance) -> Release:
        frame = release.table.join(table.frame.to_native(), on="home").sort("bucket", "ill")
        return replace(release, table=frame.select(release.table.columns))

    assert breaches(Twin(Buckets("ill", HALF, solver="two"), sorted_by_value), "aabb", HALF)


def test_a_twin_with_larger_limits_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Search.setting

    def looser(search: Search, counts: Any, limits: Any) -> Any:
        return right(search, counts, [min(Fraction(1), limit * 2) for limit in limits])

    monkeypatch.setattr(Search, "setting", looser)
    assert breaches(Buckets("ill", HALF, solver="two"), "aabb", HALF)


def test_a_twin_whose_certificate_reveals_somebody_is_caught() -> None:
    def telling(release: Release, table: Table, chance: Chance) -> Release:
        told = {"gap_reached": float(table.frame["ill"][0] == "a")}
        return replace(release, certificate=replace(release.certificate, derived=told))

    assert breaches(Twin(Buckets("ill", HALF, solver="two"), telling), "aabb", HALF)


# Dealing and fakes


def uniform(values: int, number: int = 0) -> Hiding:
    return Hiding(number, (1,) * values, (Fraction(1),) * values)


@pytest.mark.parametrize("most", [[1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 1], [3, 2, 2, 1, 1, 1]])
def test_mixed_buckets_hold_what_they_held_and_keep_to_the_most(most: list[int]) -> None:
    """Buckets of two sizes, of which the larger may hold every value once more."""
    limits = np.stack([most, np.array(most) + 1], axis=1)
    for seed in range(30):
        bags = [np.tile(np.repeat(np.arange(6), most), (4, 1)) for _ in range(2)]
        bags[1] = np.concatenate([bags[1], np.tile(np.arange(6), (4, 1))], axis=1)
        after = mixed(bags, limits, uniform(6), Seeded(seed))
        assert [bag.shape for bag in after] == [bag.shape for bag in bags]
        whole, held = (np.concatenate([bag.ravel() for bag in some]) for some in (bags, after))
        assert np.array_equal(np.sort(held), np.sort(whole))
        for j, bag in enumerate(after):
            assert all((np.bincount(one, minlength=6) <= limits[:, j]).all() for one in bag)


def test_mixing_two_buckets_makes_every_split_equally_likely() -> None:
    def run(chance: Any) -> Hashable:
        (after,) = mixed(
            [np.array([[0, 1], [2, 3]])],
            np.ones((4, 1), dtype=np.int64),
            uniform(4),
            chance,
            rounds=1,
        )
        return tuple(map(tuple, np.sort(after, axis=1).tolist()))

    assert {weight.exact for weight in law(run).values()} == {Fraction(1, 6)}
    assert len(law(run)) == 6


Bags = tuple[tuple[int, ...], ...]


def weight_of(bags: Bags, hiding: Hiding) -> Fraction:
    """By the definition: ∏ 1/c! of what buckets hold, and of each the sum over all sets of fakes of
    their weights.
    """
    total = Fraction(1)
    for bag in bags:
        for often in Counter(bag).values():
            total /= factorial(often)
        left = [weight for value, weight in enumerate(hiding.weights) if value not in bag]
        total *= sum(prod(some) for some in combinations(left, hiding.number))
    return total


MIXED = [
    ([[[0, 1], [0, 2]]], [[1], [1], [1], [1]], (3, 1, 2, 5), 1),
    ([[[0, 0, 1], [0, 2, 3]]], [[2], [1], [1], [1]], (3, 1, 2, 5), 1),
    ([[[0, 0, 0, 1], [0, 1, 1, 2]]], [[3], [3], [3], [3]], (3, 1, 2, 5), 1),
    ([[[0, 1]], [[0, 0, 2]]], [[1, 2], [1, 2], [1, 1], [1, 1], [1, 1]], (3, 1, 2, 5, 4), 2),
]


def stays(bags: Any, most: Any, weights: tuple[int, ...], number: int) -> bool:
    """Whether one round of trades, followed along every path, leaves the law of bags and fakes as
    it is.
    """
    hiding = Hiding(number, weights, (Fraction(1),) * len(weights))
    shapes = [np.array(bag).shape for bag in bags]

    def arrays(state: Bags) -> list[Any]:
        rest = [list(bag) for bag in state]
        return [np.array([rest.pop(0) for _ in range(shape[0])]) for shape in shapes]

    def step(state: Bags) -> dict[Bags, Any]:
        def run(chance: Any) -> Bags:
            after = mixed(arrays(state), np.array(most), hiding, chance, rounds=1)
            return tuple(tuple(sorted(bag)) for some in after for bag in some.tolist())

        return law(run)

    seen: dict[Bags, dict[Bags, Any]] = {}
    waiting = [tuple(tuple(sorted(bag)) for some in bags for bag in some)]
    while waiting:
        state = waiting.pop()
        if state not in seen:
            seen[state] = step(state)
            waiting += seen[state]
    assert len(seen) > 1
    into: Counter[Bags] = Counter()
    for state, after in seen.items():
        for other, weight in after.items():
            into[other] += weight_of(state, hiding) * weight.exact
    return all(
        abs(into[state] / weight_of(state, hiding) - 1) < Fraction(1, 10**12) for state in seen
    )


@pytest.mark.parametrize(("bags", "most", "weights", "number"), MIXED)
def test_trades_leave_the_law_of_bags_and_fakes_unchanged(
    bags: Any, most: Any, weights: tuple[int, ...], number: int
) -> None:
    assert stays(bags, most, weights, number)


def test_twins_of_trades_that_are_always_accepted_or_forget_a_factor_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(filling._Trade, "ways", lambda self, first: [1] * self.pairs)
        assert not stays(*MIXED[2])
    monkeypatch.setattr(
        filling._Room, "left", lambda self, flat, kind, size: np.ones(len(kind), dtype=np.int64)
    )
    assert not stays(*MIXED[1])


def test_sets_of_fakes_are_drawn_in_proportion_to_the_products_of_their_weights() -> None:
    found = law(lambda chance: tuple(fakes(np.array([[0]]), [5, 1, 2, 3], 2, chance)[0].tolist()))
    sets: Counter[frozenset[int]] = Counter()
    for some, weight in found.items():
        sets[frozenset(some)] += weight.exact  # type: ignore[assignment]
    assert sets == {
        frozenset({1, 2}): Fraction(2, 11),
        frozenset({1, 3}): Fraction(3, 11),
        frozenset({2, 3}): Fraction(6, 11),
    }


def test_avoided_values_become_fakes_only_when_no_others_are_left() -> None:
    avoided = np.array([[False, True, False, True]])
    found = law(
        lambda chance: tuple(fakes(np.array([[0]]), [5, 1, 2, 3], 2, chance, avoided)[0].tolist())
    )
    assert {fake[0] for fake in found} == {2}
    assert {fake[1]: weight.exact for fake, weight in found.items()} == {
        1: Fraction(1, 4),
        3: Fraction(3, 4),
    }


def test_too_few_values_for_fakes_are_refused_before_anything_is_drawn() -> None:
    with pytest.raises(InfeasibleError, match="fewer than 1 value to be fakes"):
        fakes(np.array([[0, 1]]), [3, 3], 1, Chance())


def test_buckets_that_hold_values_twice_leave_more_to_be_fakes() -> None:
    """Three values and buckets of three: with one fake a bucket may hold two different ones, and so
    one of them twice.
    """
    most = np.array([[2], [2], [2]])
    setting = Setting((3,), (4,), np.array([[4], [4], [4]]))
    for bag in with_room(setting, most, 1)[0].tolist():
        assert len(set(bag)) == 2
    with pytest.raises(InfeasibleError, match="take fewer fakes"):
        with_room(setting, np.array([[1], [2], [2]]), 2)


@pytest.mark.parametrize("counts", [(90, 60, 50), (60, 50, 45, 45), (5, 5, 4, 4, 3, 3, 2, 2, 1, 1)])
def test_expected_numbers_are_those_that_there_are_and_odds_those_of_the_law(
    counts: tuple[int, ...],
) -> None:
    """All pairs of bags and fakes of a bucket of two with one fake, weighed as `Hiding` says."""
    limits = [Fraction(1, 2)] * len(counts)
    setting = find_setting(counts, limits, "two")
    hiding = Hiding.of(setting, fitting(limits, setting.sizes), 1)
    able = [w / float(o) for w, o in zip(hiding.weights, hiding.odds, strict=True)]
    total, real = 0.0, [0.0] * len(counts)
    for bag in combinations(range(len(counts)), 2):
        for fake in set(range(len(counts))) - set(bag):
            weight = able[bag[0]] * able[bag[1]] * hiding.weights[fake]
            total += weight
            for value in bag:
                real[value] += weight
    for own, count in zip(real, counts, strict=True):
        assert own / total * sum(setting.buckets) == pytest.approx(count, rel=2e-3)
    if len(counts) > 4:
        assert set(hiding.odds) == {1}
