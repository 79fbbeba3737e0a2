"""The rules of disclosure: someone who knows the rule learns what the table shows, and no more.

The adversary runs the shipped rules on every way to give out the values (`told`), in exact numbers.
What the paper prints, and the rule first-safe where groups are not alike, are twins that the same
adversary must catch.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from shoal.counts import group, smallest
from shoal.data.hierarchy import Hierarchy
from shoal.errors import (
    InputError,
    ParameterError,
)
from shoal.lattice import Lattice
from shoal.methods.disclosure import (
    UNEVEN,
    Disclosure,
)
from shoal.methods.disclosure.rules import descended, first_safe, require_alike, safe_parts
from shoal.privacy.models import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
)
from tests.assignments import diverse

# Tables: an adversary who runs the rule on all ways to give out the values

Values = tuple[int, ...]

Groups = tuple[tuple[int, ...], ...]

Steps = tuple[Groups, ...]

Shown = Mapping[Values, Groups | None]
"""For every way to give out the values the groups that are released, or that nothing is."""


class Instance(NamedTuple):
    """Neighbouring people are grouped, ever coarser, and have some values."""

    steps: Steps
    values: Values

    @property
    def ways(self) -> list[Values]:
        return list(orders(Counter(self.values)))


def orders(values: Counter[Any]) -> Iterator[tuple[Any, ...]]:
    if not values.total():
        yield ()
    for value in sorted(+values):
        yield from ((value, *rest) for rest in orders(values - Counter([value])))


def bags(groups: Groups, way: Values) -> tuple[Counter[int], ...]:
    return tuple(Counter(way[person] for person in members) for members in groups)


def worlds(shown: Shown) -> Iterator[tuple[Groups, list[Values]]]:
    """Every release with the ways that lead to it."""
    seen: dict[Any, list[Values]] = {}
    for way, groups in shown.items():
        if groups is not None:
            seen.setdefault(
                (groups, tuple(frozenset(bag.items()) for bag in bags(groups, way))), []
            ).append(way)
    return ((groups, ways) for (groups, _), ways in seen.items())


def told(shown: Shown, safe: Callable[[Counter[int]], bool]) -> list[str]:
    """What is wrong with what is shown: beliefs that are not what a group shows, or not safe."""
    wrong = []
    for groups, ways in worlds(shown):
        for members, bag in zip(groups, bags(groups, ways[0]), strict=True):
            for person in members:
                belief = Counter(way[person] for way in ways)
                if {v: Fraction(n, len(ways)) for v, n in belief.items()} != {
                    v: Fraction(n, len(members)) for v, n in bag.items()
                }:
                    wrong.append("a belief is not what the group shows")
                if not safe(belief):
                    wrong.append("a belief is not safe")
    return wrong


def all_permutations(shown: Shown) -> bool:
    """Whether all ways to give a group's values to its people lead to each release."""
    return all(
        len(ways)
        == math.prod(
            math.factorial(bag.total()) // math.prod(map(math.factorial, bag.values()))
            for bag in bags(groups, ways[0])
        )
        for groups, ways in worlds(shown)
    )


def runs(sizes: Iterable[int]) -> Groups:
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(tuple(range(a, b)) for a, b in pairwise(ends))


def coarser(draw: random.Random, groups: Groups) -> Groups:
    cuts = sorted({0, len(groups), *(i for i in range(1, len(groups)) if draw.random() < 0.4)})
    return tuple(
        tuple(person for members in groups[a:b] for person in members) for a, b in pairwise(cuts)
    )


def instances(seed: int, number: int, most: int = 6, steps: int = 3) -> list[Instance]:
    draw, found = random.Random(seed), []
    for _ in range(number):
        path = [runs(draw.choice((1, 2, 2, 3)) for _ in range(draw.randint(1, 4)))]
        while sum(map(len, path[0])) > most:
            path[0] = path[0][:-1]
        for _ in range(1, steps):
            path.append(coarser(draw, path[-1]))
        kinds = draw.randint(2, 5) if len(path[0][-1]) < 5 else 3
        people = sum(map(len, path[0]))
        values = sorted(
            i % kinds if draw.random() < 0.7 else draw.randint(0, kinds - 1) for i in range(people)
        )
        found.append(Instance(tuple(path), tuple(values)))
    return found


def shipped(given: Sequence[Instance], model: Model, rule: str, check: bool = True) -> list[Shown]:
    """What a shipped rule releases for all ways of some instances with equally many steps, all in
    one go.
    """
    worlds = [(instance, way) for instance in given for way in instance.ways]
    maps: list[list[int]] = [[] for _ in given[0].steps]
    for instance, _ in worlds:
        for codes, groups in zip(maps, instance.steps, strict=True):
            start = codes[-1] + 1 if codes else 0
            codes += [start + number for number, members in enumerate(groups) for _ in members]
    people = len(maps[0])
    levels = [np.arange(people), *map(np.array, maps)]
    tree = Hierarchy(
        tuple(("",) * (int(codes[-1]) + 1) for codes in levels),
        tuple(c.astype(smallest(people)) for c in levels),
    )
    values = np.array([value for _, way in worlds for value in way], dtype=np.uint8)
    lattice = Lattice(
        group(["id", "ill"], [levels[0].astype(smallest(people)), values], [people, 6]),
        {"id": tree},
    )
    path = [(level,) for level in range(1, len(levels))]
    finest = lattice.groups(path[0])
    world = np.repeat(np.arange(len(worlds)), [len(way) for _, way in worlds])
    together = np.zeros(len(finest.sizes), dtype=np.int64)
    together[finest.rows] = world
    if rule == "first-safe":
        if check:
            require_alike(lattice, path)
        place = first_safe(lattice, path, (model,), together)
    else:
        place = descended(lattice, path, (model,), None if rule == "local" else together)
    places, start = place[finest.rows].tolist(), 0
    found: dict[int, dict[Values, Groups | None]] = {}
    for instance, way in worlds:
        own = places[start : start + len(way)]
        start += len(way)
        made: dict[Any, list[int]] = {}
        if max(own) < len(instance.steps):
            for person, at in enumerate(own):
                (members,) = [members for members in instance.steps[at] if person in members]
                made.setdefault((at, members), []).append(person)
        found.setdefault(id(instance), {})[way] = tuple(map(tuple, made.values())) or None
    return [found[id(instance)] for instance in given]


DIVERSITY: dict[Model, Callable[[Counter[int]], bool]] = {
    EntropyDiversity("ill", 2): diverse(2),
    DistinctDiversity("ill", 2): lambda bag: len(bag) >= 2,
    RecursiveDiversity("ill", 2, 2): lambda bag: (
        max(bag.values()) < 2 * (bag.total() - max(bag.values()))
    ),
    PSensitive("ill", 2, 3): lambda bag: len(bag) >= 2,
    EntropyDiversity("ill", "3/2"): lambda bag: (
        math.prod(n**n for n in bag.values()) * 3 ** bag.total() <= (2 * bag.total()) ** bag.total()
    ),
}

every_model = pytest.mark.parametrize("model", DIVERSITY, ids=str)


@every_model
@pytest.mark.parametrize("rule", ["together", "local"])
def test_the_rule_of_permutations_reveals_what_the_table_shows(model: Model, rule: str) -> None:
    given = instances(7, 200)
    finer = 0
    for instance, shown in zip(given, shipped(given, model, rule), strict=True):
        assert told(shown, DIVERSITY[model]) == []
        assert all_permutations(shown)
        finer += any(groups not in (None, instance.steps[-1]) for groups in shown.values())
    assert finer > 5


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("rule", ["together", "local"])
def test_the_rule_of_permutations_reveals_what_the_table_shows_on_many(
    model: Model, rule: str
) -> None:
    given = instances(8, 3000, most=7)
    for shown in shipped(given, model, rule):
        assert told(shown, DIVERSITY[model]) == []
        assert all_permutations(shown)


def alike(seed: int, number: int) -> list[Instance]:
    """Instances whose groups merge with groups like them."""
    paths = [
        (runs([1] * 4), runs([2, 2]), runs([4])),
        (runs([1] * 6), runs([2] * 3), runs([6])),
        (runs([1] * 6), runs([3] * 2), runs([6])),
        (runs([2] * 3), runs([2] * 3), runs([6])),
        (runs([1] * 6), runs([2] * 3), runs([2, 4])),
        (runs([2] * 2 + [1] * 2), runs([4, 2]), runs([4, 2])),
    ]
    draw = random.Random(seed)
    chosen = [draw.choice(paths) for _ in range(number)]
    return [
        Instance(path, tuple(sorted(draw.randint(0, 2) for members in path[0] for _ in members)))
        for path in chosen
    ]


@every_model
def test_the_first_safe_table_reveals_what_it_shows_where_groups_are_alike(model: Model) -> None:
    given = alike(3, 60)
    found = shipped(given, model, "first-safe")
    for shown in found:
        assert told(shown, DIVERSITY[model]) == []
    assert not all(map(all_permutations, found))  # joint facts stay visible


class NoTwo:
    """A property that merging may bring and take away: a group is not just one 0 and one 1."""

    name: ClassVar[str] = "no two"
    hereditary: ClassVar[bool] = False
    columns: ClassVar[tuple[str, ...]] = ("ill",)
    meaning: ClassVar[str] = ""

    def holds(self, groups: Any) -> Any:
        counts = groups.histogram("ill").dense()
        return ~((counts[:, 0] == 1) & (counts[:, 1] == 1) & (groups.sizes == 2))

    def achieved(self, groups: Any, kept: Any = None) -> int:
        return 0


@pytest.mark.parametrize(
    ("path", "values", "model"),
    [
        ((runs([2, 4]), runs([6])), (0, 0, 1, 2, 3, 4), DistinctDiversity("ill", 2)),
        (
            (runs([2, 2, 2]), runs([2, 4]), runs([6])),
            (0, 0, 0, 1, 2, 3),
            DistinctDiversity("ill", 2),
        ),
        (
            (runs([1, 1, 2]), runs([2, 2]), runs([4])),
            (0, 1, 2, 3),
            NoTwo(),
        ),  # of equal size, and yet not alike
    ],
)
def test_the_first_safe_table_reveals_more_where_groups_are_not_alike(
    path: Steps, values: Values, model: Model
) -> None:
    given = [Instance(path, values)]
    with pytest.raises(InputError, match="not alike"):
        shipped(given, model, "first-safe")
    (shown,) = shipped(given, model, "first-safe", check=False)
    assert told(shown, DIVERSITY.get(model, lambda bag: True))


def one_too_many(groups: Any, of: Any, sizes: Any, models: Any) -> Any:
    """A broken twin: parts are tested as if they had one record more."""
    return safe_parts(groups, of, sizes + 1, models)


def never(groups: Any, of: Any, sizes: Any, models: Any) -> Any:
    """A broken twin: parts are not tested at all."""
    return np.ones(len(of), dtype=np.bool_)


@pytest.mark.parametrize("rule", ["together", "local"])
@pytest.mark.parametrize("twin", [one_too_many, never])
def test_a_rule_that_tests_too_little_is_caught(
    monkeypatch: pytest.MonkeyPatch, twin: Any, rule: str
) -> None:
    monkeypatch.setattr("shoal.methods.disclosure.rules.safe_parts", twin)
    model = DistinctDiversity("ill", 2)
    assert any(told(shown, DIVERSITY[model]) for shown in shipped(instances(7, 200), model, rule))


# The most frequent values are the worst


def bag_groups(bags: Sequence[Sequence[int]]) -> Any:
    """Groups with so many of each value."""
    counts = np.array(bags)
    number, value = np.nonzero(counts)
    tree = Hierarchy((("",) * len(bags),), (np.arange(len(bags), dtype=np.uint16),))
    codes: list[Any] = [number.astype(np.uint16), value.astype(np.uint8)]
    return Lattice(
        group(["id", "ill"], codes, [len(bags), counts.shape[1]], counts[number, value]),
        {"id": tree},
    ).groups((0,))


@pytest.mark.parametrize(
    "model",
    [
        *DIVERSITY,
        EntropyDiversity("ill", "5/2"),
        RecursiveDiversity("ill", "3/2", 3),
        RecursiveDiversity("ill", "1/2", 1),
        KAnonymity(2),
    ],
    ids=str,
)
def test_a_part_is_safe_if_it_is_with_the_most_frequent_values(model: Model) -> None:
    assert isinstance(model, UNEVEN)
    every = [bag for bag in combinations_with_replacement(range(5), 4) if any(bag)]
    asked = [(number, size) for number, bag in enumerate(every) for size in range(1, sum(bag) + 1)]
    found = safe_parts(bag_groups(every), np.array(asked)[:, 0], np.array(asked)[:, 1], (model,))
    parts = [
        (number, part)
        for number, bag in enumerate(every)
        for part in product(*(range(n + 1) for n in bag))
        if any(part)
    ]
    right = dict.fromkeys(asked, True)
    for (number, part), holds in zip(
        parts, model.holds(bag_groups([part for _, part in parts])).tolist(), strict=True
    ):
        right[number, sum(part)] &= holds
    assert dict(zip(asked, found.tolist(), strict=True)) == right
    assert all(
        right[number, size + 1]
        for number, size in asked
        if right[number, size] and (number, size + 1) in right
    )
    assert {True, False} <= set(right.values())


def test_of_other_models_the_most_frequent_values_are_not_the_worst() -> None:
    """Of values 0 three times and 1 twice, in a table with many 0: two 0 are close to it, two 1 are
    not.
    """
    for model in (TCloseness("ill", "1/2"), BetaLikeness("ill", 2)):
        assert model.holds(bag_groups([(2, 0), (0, 0), (18, 3)][::2])).all()
        assert not model.holds(bag_groups([(0, 2), (20, 1)])).all()
        with pytest.raises(ParameterError, match="depends on which values"):
            Disclosure((model,))
        Disclosure((model,), rule="first-safe")


# The paper's algorithm 4.5


def rotations(groups: Groups, way: Values) -> Iterator[Values]:
    """All states in which the values of each group are rotated, independently."""
    for turns in product(*(range(len(members)) for members in groups)):
        turned = list(way)
        for members, turn in zip(groups, turns, strict=True):
            for i, person in enumerate(members):
                turned[person] = way[members[(i + turn) % len(members)]]
        yield tuple(turned)


def printed_4_5(
    instance: Instance,
    l: int,  # noqa: E741
    every: Callable[..., bool],
    some: Callable[..., bool],
) -> Shown:
    """Algorithm 4.5: return T_j if for `every` group of T_j `some` rotation of it is not diverse on
    T_{j−1}.
    """
    good = diverse(l)

    def chosen(way: Values) -> Groups | None:
        first = next(
            (i for i, groups in enumerate(instance.steps) if all(map(good, bags(groups, way)))),
            None,
        )
        if first is None:
            return None
        for j in range(len(instance.steps) - 1, first, -1):
            finer = instance.steps[j - 1]
            if every(
                some(
                    not all(
                        good(bag)
                        for members, bag in zip(finer, bags(finer, turned), strict=True)
                        if members[0] in own
                    )
                    for turned in rotations((own,), way)
                )
                for own in instance.steps[j]
            ):
                return instance.steps[j]
        return instance.steps[first]

    return {way: chosen(way) for way in instance.ways}


@pytest.mark.parametrize("every", [all, any])
@pytest.mark.parametrize(
    ("some", "path", "values", "entropy"),
    [
        (any, (runs([2, 2, 2]), runs([6])), (0, 0, 1, 1, 2, 2), 0.8113),
        (all, (runs([2, 4]), runs([6])), (0, 0, 1, 2, 3, 4), 0),
    ],
)
def test_algorithm_4_5_as_printed_is_caught_under_every_reading(
    every: Any, some: Any, path: Steps, values: Values, entropy: float
) -> None:
    instance = Instance(path, values)
    shown = printed_4_5(instance, 2, every, some)
    assert "a belief is not safe" in told(shown, diverse(2))
    beliefs = [
        Counter(way[person] for way in ways)
        for _, ways in worlds(shown)
        for person in range(len(values))
    ]
    shares = [[n / belief.total() for n in belief.values()] for belief in beliefs]
    assert min(-sum(share * math.log2(share) for share in own) for own in shares) == pytest.approx(
        entropy, abs=1e-4
    )
    (right,) = shipped([instance], EntropyDiversity("ill", 2), "together")
    assert told(right, diverse(2)) == []


def test_steps_of_one_level_are_never_worse_than_larger_ones() -> None:
    model = DistinctDiversity("ill", 2)
    given = instances(11, 150)
    fine = shipped(given, model, "together")
    coarse = shipped(
        [Instance((one.steps[0], one.steps[-1]), one.values) for one in given], model, "together"
    )
    for small, large in zip(fine, coarse, strict=True):
        for way, groups in large.items():
            assert groups is None or len(small[way] or ()) >= len(groups)
