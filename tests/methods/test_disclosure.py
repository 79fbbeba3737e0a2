"""Disclosure of tables: someone who knows the rule learns what the table shows, and no more.

The adversary runs the shipped rules on every way to give out the values (`told`), in exact numbers.
What the paper prints, and the rule first-safe where groups are not alike, are twins that the same
adversary must catch.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.counts import group, smallest
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import (
    HierarchyError,
    InfeasibleError,
    InputError,
    ParameterError,
    Stopped,
)
from shoal.lattice import Lattice
from shoal.methods.disclosure import (
    UNEVEN,
    Disclosure,
)
from shoal.methods.disclosure.rules import descended, first_safe, require_alike, safe_parts
from shoal.privacy.models import (
    BetaLikeness,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
    parse_model,
)
from shoal.privacy.promises import Coincidence
from shoal.releases.release import Release
from shoal.releases.verification import unchecked
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
        return list(_orders(Counter(self.values)))


def _orders(values: Counter[Any]) -> Iterator[tuple[Any, ...]]:
    if not values.total():
        yield ()
    for value in sorted(+values):
        yield from ((value, *rest) for rest in _orders(values - Counter([value])))


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


# The method

TOWNS = Hierarchy.from_lines(
    [["Aby", "north", "*"], ["Boda", "north", "*"], ["Cela", "south", "*"], ["Dala", "south", "*"]]
)
SEXES = Hierarchy.from_lines([["f", "*"], ["m", "*"]])
DIVERSE = (DistinctDiversity("ill", 2),)


def table(towns: str, ills: Sequence[Any], sexes: str = "", **options: Any) -> Table:
    """People by the first letters of their towns, what they have, and their sexes."""
    names = {label[0].lower(): label for label in TOWNS.labels[0]}
    frame = pl.DataFrame(
        {
            "town": [names[t] for t in towns],
            "sex": list(sexes or "f" * len(towns)),
            "ill": list(ills),
        }
    )
    roles: dict[str, Any] = {
        "quasi": ["town", "sex"],
        "sensitive": ["ill"],
        "hierarchies": {"town": TOWNS, "sex": SEXES},
    }
    return shoal.table(frame, **{**roles, **options})


def shares(released: pl.DataFrame) -> dict[Any, dict[str, Fraction]]:
    """How values are spread in each group."""
    return {
        town: {ill: Fraction(n, len(rows)) for ill, n in Counter(rows["ill"]).items()}
        for (town,), rows in released.group_by("town")
    }


@pytest.mark.parametrize(
    ("method", "towns", "ills", "groups"),
    [
        (Disclosure(DIVERSE), "aabb", "wxyz", 2),
        (Disclosure(DIVERSE), "aabb", "wwxx", 1),
        (Disclosure(DIVERSE, path=["town", "town"], floor={"sex": 1}), "aabb", "wwxy", 1),
        (Disclosure(DIVERSE, path=["town"], local=True), "aabbcd", "wxyzwx", 3),
        (Disclosure(DIVERSE, path=["town", "town"], rule="first-safe"), "aabb", "wxwx", 2),
        (Disclosure(DIVERSE, path=["town", "town"], rule="first-safe"), "aabbccdd", "wwwwwwxx", 1),
        (
            Disclosure((TCloseness("ill", "1/3"),), path=["town", "town"], rule="first-safe"),
            "aabb",
            "wwxx",
            1,
        ),
    ],
)
def test_an_adversary_who_runs_the_release_on_all_inputs_believes_what_it_shows(
    method: Disclosure, towns: str, ills: str, groups: int
) -> None:
    release = method.release(table(towns, ills))
    shown = shares(release.table)
    assert len(shown) == groups
    possible = []
    for way in _orders(Counter(ills)):
        with suppress(InfeasibleError):
            if method.release(table(towns, way)).table.equals(release.table):
                possible.append(way)
    for town, values in zip(
        table(towns, ills).frame["town"].to_list(), zip(*possible, strict=True), strict=True
    ):
        texts = [
            labels[codes[TOWNS.labels[0].index(town)]]
            for labels, codes in zip(TOWNS.labels, TOWNS.maps, strict=True)
        ]
        (own,) = [text for text in texts if text in shown][:1]  # the finest that is there
        assert {value: Fraction(n, len(possible)) for value, n in Counter(values).items()} == shown[
            own
        ]


def test_the_promise_is_that_of_coincidence_and_levels_are_the_chosen_node() -> None:
    method, given = (
        Disclosure(DIVERSE, path=["town", ["town", "sex"]]),
        table("aabbccdd", "wxyzwxyz"),
    )
    release = method.release(given, Seeded(1))
    promise = method.promise(table("", "").schema)
    assert isinstance(promise, Coincidence)
    assert release.certificate.promise == promise.to_dict()
    assert release.certificate.levels == {"town": 0, "sex": 0}
    assert release.certificate.parameters["path"] == [["town"], ["town", "sex"]]
    assert method == Disclosure(["2-diversity of ill"], path=[["town"], ["town", "sex"]])
    assert "local" not in repr(release.facts)
    assert Disclosure(DIVERSE, local=True).release(given).certificate.levels == {}


TREES = {"town": TOWNS, "sex": SEXES}


def checked(
    release: Release,
    folder: Path,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    **changes: Any,
) -> str:
    """What verify says, once the certificate says something else."""
    paper = release.certificate
    given = {**paper.parameters, **changes.pop("parameters", {})}
    folder = folder / "out"
    replace(release, certificate=replace(paper, parameters=given, **changes, private=True)).write(
        folder
    )
    return str(shoal.verify(folder / "certificate.json", folder / "release.csv", hierarchies))


@pytest.mark.parametrize(
    "model",
    [
        "2-anonymity",
        "2-diversity of ill",
        "entropy 3/2-diversity of ill",
        "recursive (2, 2)-diversity of ill",
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"local": True},
        {"path": ["town", ["town", "sex"]]},
        {"floor": {"town": 1}, "path": ["town"], "local": True},
    ],
)
def test_verify_finds_nothing_wrong_with_any_release(
    model: str, options: dict[str, Any], tmp_path: Path
) -> None:
    draw, made = random.Random(7), 0
    for at in range(8):
        towns = "".join(draw.choices("abcd", k=draw.choice([4, 12, 40])))
        given = table(towns, draw.choices("vwxyz", k=len(towns)))
        with suppress(InfeasibleError):
            release = Disclosure((parse_model(model),), **options).release(given)
            assert checked(release, tmp_path / str(at), TREES) == "[]"
            made += 1
    assert made > 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameters": {"rule": "any"}}, "not ones that the method takes"),
        ({"parameters": {"floor": {"who": 1}}}, "not ones that the method takes"),
        ({"parameters": {"floor": {"town": -1}}}, "not ones that the method takes"),
        ({"parameters": {"path": [["who"], ["town"]]}}, "not ones that the method takes"),
        ({"parameters": {"path": [["sex"]]}, "levels": {"town": 1, "sex": 0}}, "not of the path"),
        ({"levels": {"town": 0, "sex": 1}}, "not of the path"),
        ({"levels": {"town": 0}}, "not for all columns"),
        ({"whole": False}, "records were left out"),
        (
            {
                "parameters": {
                    "models": [
                        {
                            "is": "t-closeness",
                            "column": "ill",
                            "t": "1",
                            "distance": "equal",
                            "hierarchy": None,
                        }
                    ]
                },
                "promise": Coincidence(("1-closeness of ill",)).to_dict(),
                "statement": Coincidence(("1-closeness of ill",)).statement,
            },
            "not ones that the method takes",
        ),
    ],
)
def test_verify_finds_parameters_and_levels_that_cannot_be(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    release = Disclosure(DIVERSE, path=["town", "town"]).release(table("aabb", "wxyz"))
    assert checked(release, tmp_path / "fine", TREES) == "[]"
    assert said in checked(release, tmp_path, **changes)


def test_verify_finds_levels_beyond_a_path_that_is_not_given(tmp_path: Path) -> None:
    release = Disclosure(DIVERSE).release(table("aabb", "wxyz"))
    assert "not of the path" in checked(
        release, tmp_path / "a", TREES, levels={"town": 99, "sex": 0}
    )
    assert "not of the path" in checked(
        release, tmp_path / "b", TREES, levels={"town": 0, "sex": 1}
    )
    assert any("'town', 'sex'" in what for what in unchecked(release.certificate))
    assert not any("'town', 'sex'" in what for what in unchecked(release.certificate, TREES))


@pytest.mark.parametrize("local", [False, True])
def test_verify_finds_a_step_down_that_is_not_safe_whoever_has_what(
    local: bool, tmp_path: Path
) -> None:
    """The first safe table, called that of the rule of permutations.

    And groups that go by themselves, one step too far.
    """
    release = Disclosure(DIVERSE, path=["town", "town"], rule="first-safe").release(
        table("aabb", "wxwx")
    )
    changes: dict[str, Any] = {"levels": {}} if local else {}
    said = checked(
        release, tmp_path, TREES, parameters={"rule": "permutations", "local": local}, **changes
    )
    assert "step 1 of the path was taken down" in said


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


def test_columns_take_turns_where_no_path_is_given() -> None:
    given = Disclosure((KAnonymity(2),))._nodes({"town": TOWNS, "sex": SEXES})
    assert given == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert Disclosure((KAnonymity(2),), floor={"town": 1})._nodes(
        {"town": TOWNS, "sex": SEXES}
    ) == [(1, 0), (1, 1), (2, 1)]


def test_invalid_parameters_raise_with_the_reason() -> None:
    options: dict[str, Any]
    for options, said in (
        ({"path": "town"}, "list of steps"),
        ({"path": 5}, "list of steps"),
        ({"path": ["town", 1]}, "list of steps"),
        ({"path": [["town", 1]]}, "list of steps"),
        ({"floor": ["town"]}, "levels by column"),
        ({"floor": {"town": 1.5}}, "floor of 'town'"),
        ({"floor": {"town": -1}}, "floor of 'town'"),
        ({"rule": "best"}, "'permutations', 'first-safe'"),
        ({"rule": "first-safe", "local": True}, "`local` goes with the rule 'permutations' only"),
    ):
        with pytest.raises(ParameterError, match=said):
            Disclosure(DIVERSE, **options)
    population = group(["town"], [np.zeros(1, dtype=np.uint8)], [4])
    with pytest.raises(ParameterError, match="presence"):
        Disclosure((DeltaPresence(0, 1, population),), rule="first-safe")
    schema = table("", "").schema
    for options, said in (
        ({"path": ["ill"]}, "'ill'"),
        ({"path": ["town"] * 3}, "levels 0 to 2"),
        (
            {"floor": {"town": 3}},
            "`floor` is above the hierarchy of 'town'; that has levels 0 to 2",
        ),
        ({"floor": {"shoe": 1}}, "'shoe'"),
    ):
        with pytest.raises(ParameterError, match=said):
            Disclosure(DIVERSE, **options).promise(schema)
    with pytest.raises(InfeasibleError, match="nothing can be released") as caught:
        Disclosure(DIVERSE).release(table("aabb", "wwww"))
    assert "w" not in str(caught.value).split()
    with pytest.raises(HierarchyError, match="'sex' has no hierarchy"):
        Disclosure(DIVERSE).promise(table("ab", "wx", hierarchies={"town": TOWNS}).schema)
    with pytest.raises(InputError, match="step 2 of the path merges groups that are not alike"):
        Disclosure(DIVERSE, rule="first-safe", path=["town", "town"]).release(
            table("aabbcc", "wwxxyy")
        )
    derived = replace(TOWNS, derived=True)
    with pytest.raises(HierarchyError, match="derived from the rows"):
        Disclosure(DIVERSE).promise(
            table("ab", "wx", hierarchies={"town": derived, "sex": SEXES}).schema
        )


def test_a_refusal_says_what_it_reveals_and_what_would_help() -> None:
    """Of six people, if the towns are all there is to show, a refusal moves what is believed of two
    of them from 2/3 to 6/7.
    """
    short = Disclosure(DIVERSE, path=[])
    refused: list[tuple[str, ...]] = []
    for way in _orders(Counter("wwwwxx")):
        with suppress(InfeasibleError):
            short.release(table("aabbbb", way))
            continue
        refused.append(way)
    assert Fraction(sum(way[0] == "w" for way in refused), len(refused)) == Fraction(6, 7)
    with pytest.raises(
        InfeasibleError,
        match=r"take more steps, or ask for less. Keep this refusal secret: it reveals",
    ):
        short.release(table("aabbbb", refused[0]))
    with pytest.raises(
        InfeasibleError, match=r"models; ask for less. Keep this refusal secret if you try again"
    ):
        Disclosure(DIVERSE).release(table("aabb", "wwww"))


def test_a_step_of_a_recipe_is_a_column_or_several(tmp_path: Path) -> None:
    table("aabb", "wxyz").frame.to_native().write_csv(tmp_path / "people.csv")
    for name, tree in TREES.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(";".join(line) for line in tree.lines()))
    (tmp_path / "recipe.toml").write_text("""
        source = { path = "people.csv" }
        roles = { town = "quasi", sex = "quasi", ill = "sensitive" }
        hierarchies = { town = { file = "town.csv" }, sex = { file = "sex.csv" } }
        [method]
        name = "disclosure"
        models = ["2-diversity of ill"]
        path = ["town", ["town", "sex"]]
    """)
    recipe = shoal.Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method() == Disclosure(DIVERSE, path=["town", ["town", "sex"]])
    assert recipe.run().certificate.parameters["path"] == [["town"], ["town", "sex"]]


def test_groups_that_could_look_alike_do_not_go_down_by_themselves() -> None:
    twice = Hierarchy.from_lines(
        [["Aby", "Aby", "*"], ["Boda", "Aby", "*"], ["Cela", "south", "*"], ["Dala", "Dala", "*"]]
    )
    given = table("aabb", "wxyz", hierarchies={"town": twice, "sex": SEXES})
    Disclosure(DIVERSE).release(given)
    with pytest.raises(HierarchyError, match="'Aby' at two levels"):
        Disclosure(DIVERSE, local=True).release(given)
    chain = Hierarchy.from_lines([["Aby", "Aby", "*"], ["Boda", "Boda", "*"]])
    Disclosure(DIVERSE, local=True).release(
        table("aabb", "wxyz", hierarchies={"town": chain, "sex": SEXES})
    )


@pytest.mark.parametrize("rule", ["permutations", "first-safe"])
def test_it_says_how_far_it_is_and_stops_when_asked(rule: Any) -> None:
    seen: list[tuple[int, int, str]] = []
    method, given = (
        Disclosure(DIVERSE, rule=rule, path=["town", "town"]),
        table("aabbccdd", "wxyzwxyz"),
    )
    method.release(given, progress=lambda *said: seen.append(said))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)

    def stop(done: int, total: int, what: str) -> None:
        raise Stopped("stopped")

    with pytest.raises(Stopped):
        method.release(given, progress=stop)


def test_the_certificate_says_of_facts_about_several_people_what_is_true() -> None:
    """By permutations there are none beyond what groups show (theorem 4).

    The first safe table tells that others were not.
    """
    merged = "that groups had to be merged"
    by_permutations = Disclosure(DIVERSE).release(table("aabb", "wxyz")).certificate
    assert not any(merged in line for line in by_permutations.unprotected)
    assert any("as far as the group shows" in line for line in by_permutations.unprotected)
    first = Disclosure(DIVERSE, rule="first-safe").release(table("aabb", "wxyz")).certificate
    assert any(merged in line for line in first.unprotected)
