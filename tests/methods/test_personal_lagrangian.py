"""The Lagrangian solver: what it relies on, by enumeration, and that it finds what enumeration
finds.
"""

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import ParameterError, Stopped
from shoal.methods.personal import People, Personal, Wish, lagrangian
from shoal.methods.personal.lagrangian import (
    Chains,
    Largest,
    Record,
    climbing,
    largest,
    least_norm,
    search,
)

Node = tuple[int, ...]
TREES = {
    "a": Hierarchy.from_lines(
        [[str(i), str(i // 2 * 10), str(i // 4 * 100), "*"] for i in range(8)]
    ),
    "b": Hierarchy.from_lines([["p", "x", "*"], ["q", "x", "*"], ["r", "y", "*"], ["s", "y", "*"]]),
    "c": Hierarchy.from_lines([["u", "*"], ["v", "*"], ["w", "*"]]),
}


def some_table(seed: int, rows: int = 14) -> Table:
    draw = random.Random(seed)
    columns = {
        name: [draw.choice(tree.labels[0][: draw.randint(2, 9)]) for _ in range(rows)]
        for name, tree in TREES.items()
    } | {"wish": [draw.choice(["strict", "normal", None]) for _ in range(rows)]}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return shoal.table(
        frame, quasi=[*TREES], identifying=["wish"], hierarchies=TREES, rows_are_people=True
    )


def some_people(seed: int, **options: Any) -> People:
    draw = random.Random(seed)
    model: Any = draw.choice(["fixed", "uniform", "harmonic"])
    method = Personal(
        Fraction(draw.randint(0, 20), 20),
        solver="lagrangian",
        measure=draw.choice(["leaves", "log", "depth"]),
        model=model,
        weights={"a": 3, "b": Fraction(1, 2)} if model != "uniform" else {},
        choice=draw.choice([None, "wish"]),
        pull=draw.choice([Fraction(1, 50), Fraction(1), Fraction(7)]),
        power=draw.randint(0, 3),
        **options,
    )
    return People.of(method, some_table(seed))


def some_record(seed: int) -> Record:
    """A record of a random table, seen by the shipped code, or one of random numbers."""
    draw = random.Random(seed)
    if seed % 2:
        people = some_people(seed)
        best = Largest(
            people.crowds,
            people.utility,
            people.wanted,
            Fraction(people.method.pull),
            people.method.power,
        )
        number = next(number for number, want in enumerate(best.wanted) if len(want.rows))
        return best.record(number, draw.randrange(len(best.wanted[number].rows)))[0]
    heights = [draw.randint(0, 3) for _ in range(draw.randint(1, 4))]
    reach = [
        np.array([0, *(draw.randint(0, height) for _ in range(12))], dtype=np.uint8)
        for height in heights
    ]
    falling = [
        [sorted((draw.randint(0, 8) for _ in range(h + 1)), reverse=True) for h in heights]
        for _ in range(2)
    ]
    if draw.random() < 0.5:
        falling[0] = [[*levels[:-1], 0] for levels in falling[0]]
    falling[0][0][0] += 1  # so that the record itself shows something
    count, pull = (
        np.array([draw.randint(1, 3) for _ in range(13)]),
        Fraction(draw.randint(1, 9), draw.randint(1, 9)),
    )
    return Record(
        reach,
        count,
        falling[0],
        falling[1],
        pull,
        Fraction(3),
        draw.randint(0, 3),
        draw.randint(0, 8),
    )


def nodes(record: Record) -> list[Node]:
    return list(product(*(range(height + 1) for height in record.heights)))


def supermodular(record: Record, function: Callable[[Node], Fraction | int]) -> bool:
    values = {node: function(node) for node in nodes(record)}
    return all(
        values[tuple(map(min, one, two))] + values[tuple(map(max, one, two))]
        >= values[one] + values[two]
        for one in values
        for two in values
    )


def product_of(record: Record) -> Callable[[Node], Fraction]:
    return lambda node: record.shown(node) * (record.kept(node) / record.unit) ** record.power


def g(record: Record, alpha: Fraction, node: Node) -> Fraction:
    return record.pull * record.people(node) + record.shown(node) * (
        (record.kept(node) / record.unit) ** record.power - alpha
    )


# What is relied on


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_people_and_what_is_shown_times_what_it_is_worth_are_supermodular(seed: int) -> None:
    record = some_record(seed)
    assert supermodular(record, record.people)
    assert supermodular(record, product_of(record))


def test_a_sensitivity_that_grows_with_the_level_would_not_be_supermodular() -> None:
    wrong = 0
    for seed in range(0, 60, 2):
        record = some_record(seed)
        object.__setattr__(record, "sensitivity", [levels[::-1] for levels in record.sensitivity])
        wrong += not supermodular(record, product_of(record))
    assert wrong > 10


@pytest.mark.parametrize(
    ("sensitivity", "worth"), [([[1, 2]], [[1, 0]]), ([[1, 0]], [[0, 1]]), ([[1, -1]], [[1, 0]])]
)
def test_a_record_whose_parts_grow_or_are_negative_is_refused(
    sensitivity: list[list[int]], worth: list[list[int]]
) -> None:
    with pytest.raises(ParameterError, match=r"sensitivity|worth"):
        Record(
            [np.zeros(1, dtype=np.uint8)],
            np.ones(1, dtype=np.int64),
            sensitivity,
            worth,
            Fraction(1),
        )


def sets(chains: Chains) -> npt.NDArray[np.bool_]:
    return np.array(list(product([False, True], repeat=chains.length)), dtype=np.bool_)


def on_sets(chains: Chains, alpha: Fraction, price: npt.NDArray[np.float64]) -> list[float]:
    """g of every set, from what the docstring says."""
    found = []
    for chosen in sets(chains):
        node = [0] * len(chains.top)
        for column, level in zip(chains.column[chosen], chains.level[chosen], strict=True):
            node[column] = max(node[column], int(level))
        lacking = [
            not has and level <= node[column]
            for has, column, level in zip(chosen, chains.column, chains.level, strict=True)
        ]
        found.append(float(g(chains.record, alpha, tuple(node))) - float(price[lacking].sum()))
    return found


def in_base_polytope(chains: Chains, values: list[float], vertex: npt.NDArray[np.float64]) -> bool:
    """Whether for every set the vertex has at most −g, and for the whole set just that.

    From where the empty set has 0.
    """
    sums = sets(chains) @ vertex
    slack = 1e-9 * (1 + np.abs(values).max())
    return (
        bool(np.all(sums <= values[0] - np.array(values) + slack))
        and abs(sums[-1] - values[0] + values[-1]) <= slack
    )


@pytest.mark.parametrize("price", ["shipped", "none"])
def test_vertices_are_of_the_base_polytope_and_without_a_price_for_what_a_set_lacks_they_are_not(
    price: str,
) -> None:
    fine, all_of_them, draw = 0, 0, random.Random(3)
    for seed in range(80):
        record = some_record(seed)
        top = tuple(min(height, 2) for height in record.heights[:4])
        if not any(top) or len(top) != len(record.heights) or not record.shown(top):
            continue
        alpha = Fraction(draw.randint(0, 40))
        chains = Chains(record, top)
        chains.start(float(alpha))
        if price == "none":
            chains.price[:] = 0
        values = on_sets(chains, alpha, chains.price)
        vertex = chains.vertex(np.array([draw.gauss(0, 1) for _ in range(chains.length)]))
        all_of_them += 1
        fine += in_base_polytope(chains, values, vertex) and max(values) <= chains.bound(
            vertex
        ) + 1e-6 * (1 + abs(max(values)))
    assert all_of_them > 20
    assert fine == all_of_them if price == "shipped" else fine < all_of_them


# The solvers of one record


def test_the_point_of_least_norm_finds_the_largest_of_hundreds_of_functions() -> None:
    draw = random.Random(1)
    for seed in range(300):
        record = some_record(seed)
        if not any(record.heights):
            continue
        alpha = Fraction(draw.randint(-20, 200), 7)
        chains = Chains(record, record.heights)
        chains.start(float(alpha))
        point = least_norm(chains.vertex, chains.length, chains.enough, 10_000)
        best = max(g(record, alpha, node) for node in nodes(record))
        scale = 1 + max(abs(float(g(record, alpha, node))) for node in nodes(record))
        assert abs(chains.most - best) <= 1e-9 * scale, seed
        if chains.all_keep:
            assert -1e-9 * scale <= chains.bound(point) - best <= 1e-6 * scale, seed


@given(st.integers(0, 10**6))
def test_the_point_of_least_norm_of_any_polytope_has_its_nearest_vertex_no_nearer(
    seed: int,
) -> None:
    draw = np.random.default_rng(seed)
    corners = draw.normal(size=(draw.integers(1, 12), draw.integers(1, 6))) + draw.normal()
    point = least_norm(
        lambda at: corners[np.argmin(corners @ at)], corners.shape[1], lambda _: False, 1000
    )
    assert (corners @ point).min() >= point @ point - 1e-6


@settings(max_examples=200)
@given(st.integers(0, 10**6))
def test_dinkelbach_finds_what_enumeration_finds(seed: int) -> None:
    record = some_record(seed)
    found = largest(record)
    best = max(record.value(node) for node in nodes(record) if record.shown(node))
    assert found.value == record.value(found.node) == best
    assert 0 <= found.gap <= 1e-6 * (1 + float(best))


@given(st.integers(0, 10**6))
def test_below_a_last_node_all_keep_the_floor_and_the_largest_value_is_found(seed: int) -> None:
    record = some_record(seed)
    top = record.last(random.Random(seed).sample(range(len(record.worth)), len(record.worth)))
    if record.kept((0,) * len(top)) < record.floor or not any(top) or not record.shown(top):
        return
    below = [
        node
        for node in nodes(record)
        if all(level <= high for level, high in zip(node, top, strict=True))
    ]
    assert all(record.kept(node) >= record.floor for node in below)
    last = [*climbing(record, below[0], top, 10_000)][-1]
    assert last.value == max(record.value(node) for node in below)


def test_a_gap_says_how_much_a_search_cut_short_may_miss() -> None:
    cut = 0
    for seed in range(200):
        record = some_record(seed)
        if any(record.heights) and record.shown(record.heights):
            best = max(record.value(node) for node in nodes(record))
            for found in climbing(record, (0,) * len(record.worth), record.heights, 1):
                assert best <= found.value + Fraction(found.gap) * (
                    1 + Fraction(1, 10**6)
                ) + Fraction(1, 10**6)
                cut += found.gap > 1e-3
    assert cut > 10


# The solver of a table


def value_of(
    people: People, number: int, place: int
) -> tuple[Record, Callable[[Node], Fraction | None]]:
    best = Largest(
        people.crowds,
        people.utility,
        people.wanted,
        Fraction(people.method.pull),
        people.method.power,
    )
    record, _ = best.record(number, place)
    return record, lambda node: record.value(node) if record.shown(node) else None


def silent(done: int, total: int) -> None:
    assert 0 <= done <= total


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_a_small_lattice_gives_every_row_the_largest_value_that_keeps_its_utility(
    seed: int,
) -> None:
    people = some_people(seed)
    for number, chosen in enumerate(search(people, Seeded(1), silent)):
        for place, levels in enumerate(chosen.levels.tolist()):
            record, value = value_of(people, number, place)
            allowed = [
                got
                for node in nodes(record)
                if record.kept(node) >= record.floor and (got := value(node)) is not None
            ]
            found = value(tuple(levels))
            assert record.kept(tuple(levels)) == chosen.worth[place] >= record.floor
            if allowed:
                assert found is not None
                assert abs(found - max(allowed)) <= Fraction(1, 10**12) * max(
                    allowed
                )  # values are compared as floats


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_in_a_large_lattice_the_floor_is_kept_and_no_row_has_less_than_as_it_is(
    seed: int, effort: int
) -> None:
    people = some_people(seed, effort=effort)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lagrangian, "SMALL", 0)
        found, again = search(people, Seeded(seed), silent), search(people, Seeded(seed), silent)
    for number, chosen in enumerate(found):
        assert (chosen.levels == again[number].levels).all()
        for place, levels in enumerate(chosen.levels.tolist()):
            record, value = value_of(people, number, place)
            assert record.kept(tuple(levels)) == chosen.worth[place] >= record.floor
            as_it_is, got = value((0,) * len(levels)), value(tuple(levels))
            assert as_it_is is None or (
                got is not None and got >= as_it_is * (1 - Fraction(1, 10**12))
            )


def test_a_large_lattice_brings_most_of_what_enumeration_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, best = 0.0, 0.0
    for seed in range(12):
        people = some_people(seed, effort=300)
        objective = Largest(
            people.crowds,
            people.utility,
            people.wanted,
            Fraction(people.method.pull),
            people.method.power,
        )
        every = search(people, Seeded(1), silent)
        with monkeypatch.context() as patch:
            patch.setattr(lagrangian, "SMALL", 0)
            some = search(people, Seeded(1), silent)
        for number, (one, other) in enumerate(zip(every, some, strict=True)):
            full, found = (
                objective.value(number, chosen.risk, chosen.worth) for chosen in (one, other)
            )
            shows = np.isfinite(full) & (full > 0)
            kept, best = kept + float((found[shows] / full[shows]).sum()), best + float(shows.sum())
    assert kept / best > 0.95


def test_more_effort_is_more_passes_and_no_more_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lagrangian, "SMALL", 0)
    walks: list[int] = []
    walk = Chains.walk

    def counted(self: Chains, order: Any) -> Any:
        walks.append(1)
        return walk(self, order)

    monkeypatch.setattr(Chains, "walk", counted)
    for effort in (1, 50, 400):
        walks.clear()
        search(some_people(7, effort=effort), Seeded(1), silent)
        assert (
            len(walks) <= effort + 2 * 10 * lagrangian.ROUND
        )  # the last record is searched to its end


def test_the_solver_makes_a_release_and_can_be_stopped() -> None:
    table = some_table(5, 40)
    wishes = {"strict": Wish("0.2"), "normal": Wish()}
    release = Personal("0.4", solver="lagrangian", choice="wish", wishes=wishes).release(
        table, Seeded(1)
    )
    assert len(release.table) == 40

    def stop(done: int, total: int, doing: str) -> None:
        raise Stopped("enough")

    with pytest.raises(Stopped):
        Personal("0.4", solver="lagrangian").release(table, Seeded(1), progress=stop)


@pytest.mark.parametrize("option", [{"power": 10**6}, {"pull": 10**200}])
def test_values_beyond_all_numbers_are_refused(option: dict[str, Any]) -> None:
    method = Personal("0.5", solver="lagrangian", **option)
    people = People.of(method, some_table(1))
    with pytest.raises(ParameterError, match="too large"):
        search(people, Seeded(1), silent)


def test_weights_of_0_leave_every_record_as_it_is() -> None:
    people = People.of(
        Personal("0.1", solver="lagrangian", weights=dict.fromkeys(TREES, 0)), some_table(1)
    )
    assert not search(people, Seeded(1), silent)[0].levels.any()


def test_on_adult_the_largest_value_is_that_of_the_record_itself_or_of_next_to_nothing(
    shared_data: Path,
) -> None:
    folder = shared_data / "adult"
    trees = {
        path.stem: shoal.hierarchy.read(path, root="*")
        for path in (folder / "hierarchies").glob("*.csv")
    }
    table = shoal.read(folder / "adult.csv", hierarchies=trees)
    people = People.of(Personal(0), table.with_roles(quasi=table.names))
    for pull, kind in ((Fraction(1, 10_000), 0), (Fraction(1), 1)):
        best = Largest(people.crowds, people.utility, people.wanted, pull, 1)
        for place in (5, 5000, 15_000):
            record, _ = best.record(0, place)
            node = largest(record).node
            columns = sum(
                level < height for level, height in zip(node, record.heights, strict=True)
            )
            assert columns == (1 if kind else len(node)), "one column is shown, or all as they are"
            assert any(node) == bool(kind)
