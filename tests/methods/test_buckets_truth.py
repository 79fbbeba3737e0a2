"""An adversary who knows the algorithm, the people and both tables, run against the very code that
ships.

To him all ways to give a bag of values to people are equally likely. He runs the method on each of
them along every path of its chance (`enumeration`), so that what he then believes is exact. Twins
that leak are caught by the same adversary.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack.coins import law
from shoal.chance import Chance
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.errors import InfeasibleError
from shoal.methods import buckets
from shoal.methods.buckets import Buckets
from shoal.methods.buckets.settings import Search
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


Weights = dict[Shown, dict[Values, Fraction]]
"""Every release that there can be, with its probability in every world that it can come from."""


def weighed(method: Any, bag: str, homes: tuple[int, ...] | None = None) -> Weights:
    weights: Weights = {}
    for world in sorted(set(permutations(bag))):
        for outcome, weight in law(partial(shown, method, world, homes)).items():
            if outcome is not None:
                weights.setdefault(outcome, {})[world] = weight.exact
    return weights


def believed(
    weights: Weights, known: Mapping[int, str] | None = None
) -> Iterator[tuple[Shown, list[Belief]]]:
    """Every release that there can be, with what is then believed of everybody.

    `known` are the values of some people.
    """
    given = (known or {}).items()
    for outcome, everywhere in weights.items():
        worlds = {
            world: own
            for world, own in everywhere.items()
            if all(world[person] == value for person, value in given)
        }
        if not worlds:
            continue
        beliefs: list[Belief] = [{} for _ in next(iter(worlds))]
        for world, own in worlds.items():
            for belief, value in zip(beliefs, world, strict=True):
                belief[value] = belief.get(value, Fraction(0)) + own / sum(worlds.values())
        yield outcome, beliefs


def breaches(method: Any, bag: str, limits: Limits, homes: tuple[int, ...] | None = None) -> int:
    """How many people are linked to a value with more than its limit, over all releases."""
    return breaches_of(weighed(method, bag, homes), bag, limits)


def breaches_of(weights: Weights, bag: str, limits: Limits) -> int:
    most = limits.of(Counter(bag))
    return sum(
        p > most[value]
        for _, beliefs in believed(weights)
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
    releases = list(believed(weighed(method, bag)))
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

    def surest(weights: Weights) -> Fraction:
        found = []
        for outcome, beliefs in believed(weights, known={0: "a"}):
            bucket = {row[0]: row[-1] for row in outcome.people}
            found += [max(beliefs[i].values()) for i in (1, 2, 3) if bucket[i] == bucket[0]]
        return max(found)

    method = Buckets("ill", HALF, solver="two", fakes=1)
    weights = weighed(method, "aabc")
    assert breaches_of(weights, "aabc", HALF) == 0
    assert surest(weights) == Fraction(1, 2)
    assert surest(weighed(replace(method, fakes=0), "aabc")) == 1


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
        beliefs
        for _, beliefs in believed(weighed(Joining(), "hff", homes))
        if beliefs[0].get("h") == 1
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
