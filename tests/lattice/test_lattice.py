"""Counts, lattice, roll-up and the search: everything equals a plain group-by from the rows."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.counts import Counts, group
from shoal.data.hierarchy import Hierarchy
from shoal.errors import ColumnError, InfeasibleError, ParameterError, TooLargeError
from shoal.lattice import Lattice, coding, optimum, rollup, sorting, tables, walk
from shoal.measure.loss import LOSSES, Columnwise
from shoal.methods import optimal
from shoal.methods.optimal import search
from shoal.privacy.models import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    TCloseness,
    holds_all,
)

Rows = list[tuple[int, ...]]
Problem = tuple[dict[str, Hierarchy], Rows]

ENGINE = (coding, optimum, sorting, tables, walk)
"""The modules whose limits decide which path is taken."""


@st.composite
def trees(draw: st.DrawFn, most: int = 6) -> Hierarchy:
    leaves = draw(st.integers(1, most))
    lines = [[str(leaf)] for leaf in range(leaves)]
    codes = list(range(leaves))
    for level in range(draw(st.integers(0, 2))):
        merged = [draw(st.integers(0, 2)) for _ in range(max(codes) + 1)]
        codes = [merged[code] for code in codes]
        for line, code in zip(lines, codes, strict=True):
            line.append(f"{level}:{code}")
    return Hierarchy.from_lines([[*line, "*"] for line in draw(st.permutations(lines))])


@st.composite
def problems(draw: st.DrawFn, columns: int = 3, most: int = 40) -> Problem:
    """Hierarchies of some columns, and rows of their leaves with a sensitive value last."""
    hierarchies = {f"c{j}": draw(trees()) for j in range(draw(st.integers(1, columns)))}
    row = st.tuples(
        *(st.integers(0, h.leaves - 1) for h in hierarchies.values()), st.integers(0, 3)
    )
    return hierarchies, draw(st.lists(row, min_size=0, max_size=most))


def counted(hierarchies: dict[str, Hierarchy], rows: Rows) -> Counts:
    names = [*hierarchies, "s"]
    columns = [np.array([row[j] for row in rows], dtype=np.uint8) for j in range(len(names))]
    return group(names, columns, [*(h.leaves for h in hierarchies.values()), 4])


def plain_groups(
    hierarchies: dict[str, Hierarchy], rows: Rows, node: tuple[int, ...]
) -> dict[tuple[int, ...], Counter[int]]:
    """The groups of a node, from the rows: their codes and how often each sensitive value
    occurs."""
    found: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for row in rows:
        codes = tuple(
            int(h.maps[at][leaf])
            for h, at, leaf in zip(hierarchies.values(), node, row, strict=False)
        )
        found[codes][row[-1]] += 1
    return found


def small_tables(monkeypatch: pytest.MonkeyPatch, **numbers: int) -> None:
    """Make the engine use its machinery for large tables on small ones."""
    for name, number in numbers.items():
        using = [module for module in ENGINE if hasattr(module, name)]
        assert using, f"no module has a limit {name}"
        for module in using:
            monkeypatch.setattr(module, name, number)


HARD = [
    {},
    {"SMALL": 1, "STEP": 2, "WANTED": 1},
    {"SPARSE": 0, "PACK": 2, "SMALL": 1},
    {"BLOCK": 0, "PACK": 4},
    {"BLOCK": 1000, "SMALL": 1},
    {"WIDEST": 8, "PACK": 3, "SMALL": 1},
    {"LONGER": 0, "SHARED": 1, "MANY": 1},
    {"LONGER": 100, "SHARED": 1, "MANY": 1, "PACK": 4},
]
"""Settings under which every path of the engine is taken, on tables small enough to check by
hand."""


@pytest.fixture(
    params=HARD,
    ids=lambda numbers: (
        " ".join(f"{name}={number}" for name, number in numbers.items()) or "as it ships"
    ),
)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    small_tables(monkeypatch, **request.param)


many = settings(max_examples=40)
exhaustive = settings(max_examples=200)
wide_problems = problems(columns=4, most=60)


@pytest.mark.usefixtures("engine")
@many
@given(problems())
def test_the_groups_of_every_node_are_those_of_a_group_by_from_the_rows(problem: Problem) -> None:
    check_groups(*problem)


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
@exhaustive
@given(wide_problems)
def test_the_groups_of_every_node_of_wider_tables_are_those_of_a_group_by(problem: Problem) -> None:
    check_groups(*problem)


def check_groups(hierarchies: dict[str, Hierarchy], rows: Rows) -> None:
    counts = counted(hierarchies, rows)
    lattice = Lattice(counts, hierarchies)
    walked = {groups.node: groups for groups in lattice.walk()}
    assert sorted(walked) == list(lattice.nodes())
    assert lattice.size == len(walked)
    for node in lattice.nodes():
        expected = plain_groups(hierarchies, rows, node)
        for groups in (lattice.groups(node), walked[node]):
            codes = list(zip(*(groups.codes(j).tolist() for j in range(len(node))), strict=True))
            assert dict(zip(codes, groups.sizes.tolist(), strict=True)) == {
                key: bag.total() for key, bag in expected.items()
            }
            assert groups.cells.sum() == len(rows)
            marginals = groups._raw.marginals(groups.cells.astype(np.float64))
            for axis, column in enumerate(lattice.rollup.axes):
                seen = lattice.rollup.real[axis][node[column]]
                assert marginals[axis].tolist() == groups.marginal(column)[seen].tolist()
            histogram = groups.histogram("s")
            bags: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
            for at, value, count in zip(
                histogram.group, histogram.value, histogram.count, strict=True
            ):
                bags[codes[at]][int(value)] += int(count)
            assert bags == expected
            assert list(histogram.group) == sorted(histogram.group)
            assert histogram.dense().sum(axis=1).tolist() == groups.sizes.tolist()
            assert (histogram.total() == np.bincount([row[-1] for row in rows], minlength=4)).all()
            assert groups.row_sizes.tolist() == [groups.sizes[at] for at in groups.rows]
            assert groups.surviving(3).tolist() == [size >= 3 for size in groups.sizes]
            for row, at in enumerate(groups.rows):
                leaves = [counts.codes[j][row] for j in range(len(node))]
                assert codes[at] == tuple(
                    h.maps[level][leaf]
                    for h, level, leaf in zip(hierarchies.values(), node, leaves, strict=True)
                )


def small_groups(cells: rollup.Cells, lattice: Lattice) -> dict[tuple[int, ...], int]:
    """Codes and sizes of cells, by column."""
    axes = lattice.rollup.axes
    codes = [
        lattice.rollup.real[axis][cells.levels[axis]][cells.codes(axis)].tolist()
        for axis in range(len(axes))
    ]
    columns = [codes[axes.index(column)] for column in range(len(axes))]
    return dict(zip(zip(*columns, strict=True), cells.sizes.tolist(), strict=True))


@pytest.mark.usefixtures("engine")
@many
@given(problems(), st.integers(1, 9))
def test_what_a_limit_costs_is_the_groups_below_it(problem: Problem, k: int) -> None:
    hierarchies, rows = problem
    lattice = Lattice(counted(hierarchies, rows), hierarchies)

    def expected(node: tuple[int, ...]) -> dict[tuple[int, ...], int]:
        return {
            key: bag.total()
            for key, bag in plain_groups(hierarchies, rows, node).items()
            if bag.total() < k
        }

    nodes = [lattice.rollup.levels_of(node) for node in lattice.nodes()]
    asks: list[rollup.Ask] = [(levels, None) for levels in nodes]
    asks += [(levels, axis) for levels in nodes for axis, level in enumerate(levels) if level]
    answers: Counter[rollup.Levels] = Counter()
    for cells in lattice.rollup.below(asks, k):
        assert small_groups(cells, lattice) == expected(lattice.rollup.columns_of(cells.levels))
        answers[cells.levels] += 1
    wanted = Counter(levels for levels, _ in asks)
    wanted.update(
        (*levels[:axis], levels[axis] - 1, *levels[axis + 1 :])
        for levels, axis in asks
        if axis is not None
    )
    assert answers == wanted


@pytest.mark.usefixtures("engine")
@many
@given(problems(), st.integers(1, 9), st.booleans())
def test_masses_are_sums_over_groups_of_what_their_sizes_cost(
    problem: Problem, k: int, ramp: bool
) -> None:
    hierarchies, rows = problem
    lattice = Lattice(counted(hierarchies, rows), hierarchies)

    def penalty(sizes: rollup.Sizes) -> rollup.Sizes:
        return np.maximum(np.minimum(sizes, k - sizes), 0) if ramp else sizes * (sizes < k)

    nodes = [lattice.rollup.levels_of(node) for node in lattice.nodes()]
    asks: list[rollup.Ask] = [(levels, None) for levels in nodes]
    asks += [(levels, axis) for levels in nodes for axis, level in enumerate(levels) if level]
    found = list(lattice.rollup.masses(asks, k, penalty))
    assert {levels for levels, _ in found} == set(nodes)
    for levels, mass in found:
        groups = plain_groups(hierarchies, rows, lattice.rollup.columns_of(levels))
        assert mass == sum(int(penalty(np.array([bag.total()]))[0]) for bag in groups.values())


@pytest.mark.usefixtures("engine")
@many
@given(problems(), st.integers(1, 5), st.sampled_from(["granularity", "intensity", "entropy"]))
def test_a_loss_is_the_same_from_groups_and_from_cells(problem: Problem, k: int, name: str) -> None:
    hierarchies, rows = problem
    lattice = Lattice(counted(hierarchies, rows), hierarchies)
    loss = LOSSES[name]
    assert isinstance(loss, Columnwise)
    for groups in lattice.walk():
        expected = loss.of(groups, groups.sizes >= k)
        assert loss.limited(groups, k) == pytest.approx(expected, abs=1e-9)
        assert loss.limited(lattice.groups(groups.node), k) == pytest.approx(expected, abs=1e-9)


MODELS: list[tuple[Model, ...]] = [
    (KAnonymity(2),),
    (KAnonymity(4), KAnonymity(3)),
    (KAnonymity(2), DistinctDiversity("s", 2)),
    (EntropyDiversity("s", 2),),
    (TCloseness("s", "0.4"), KAnonymity(2)),
]


def best_of_all(
    lattice: Lattice, models: tuple[Model, ...], loss: str, limit: int
) -> tuple[float, tuple[int, ...]] | None:
    """The best node by looking at every one; of equal ones the first."""
    scored = []
    for node in lattice.nodes():
        groups = lattice.groups(node)
        kept = holds_all(models, groups)
        if groups.sizes[~kept].sum() <= limit:
            scored.append((round(LOSSES[loss].of(groups, kept), 7), node))
    return min(scored, default=None)


class Aim(NamedTuple):
    """What a search is asked for."""

    models: tuple[Model, ...]
    loss: str
    suppression: Fraction


aims = st.builds(
    Aim,
    st.sampled_from(MODELS),
    st.sampled_from(sorted(LOSSES)),
    st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)]),
)


@pytest.mark.usefixtures("engine")
@settings(max_examples=60)
@given(problems(), aims)
def test_the_search_finds_what_full_enumeration_finds(problem: Problem, aim: Aim) -> None:
    check_search(*problem, aim)


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
@exhaustive
@given(wide_problems, aims)
def test_the_search_of_wider_tables_finds_what_full_enumeration_finds(
    problem: Problem, aim: Aim
) -> None:
    check_search(*problem, aim)


def check_search(hierarchies: dict[str, Hierarchy], rows: Rows, aim: Aim) -> None:
    models, loss, suppression = aim
    lattice = Lattice(counted(hierarchies, rows), hierarchies)
    expected = best_of_all(lattice, models, loss, int(suppression * len(rows)))
    if expected is None:
        with pytest.raises(InfeasibleError, match="allow more suppression"):
            search(lattice, models, LOSSES[loss], suppression)
        return
    found = search(lattice, models, LOSSES[loss], suppression)
    assert found.loss == pytest.approx(expected[0], abs=1e-6)
    assert found.node == expected[1]
    groups = lattice.groups(found.node)
    assert found.suppressed == groups.sizes[~holds_all(models, groups)].sum()


def a_larger_lattice(
    columns: int = 5, rows: int = 4000, seed: int = 3
) -> tuple[dict[str, Hierarchy], Counts]:
    rng = np.random.default_rng(seed)
    lines = [[str(leaf), f"{leaf // 2}.", f"{leaf // 6}:", "*"] for leaf in range(12)]
    hierarchies = {f"c{j}": Hierarchy.from_lines(lines) for j in range(columns)}
    codes = [np.minimum(rng.geometric(0.25, rows) - 1, 11).astype(np.uint8) for _ in hierarchies]
    return hierarchies, group([*hierarchies], codes, [12] * columns)


def test_threads_find_what_one_thread_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchies, counts = a_larger_lattice(4, 2000)
    alone = search(Lattice(counts, hierarchies), [KAnonymity(5)], LOSSES["granularity"], 1)
    small_tables(monkeypatch, PARALLEL=1, THREADS=4, SMALL=10, WANTED=1, STEP=2)
    for _ in range(10):
        found = search(Lattice(counts, hierarchies), [KAnonymity(5)], LOSSES["granularity"], 1)
        assert (found.node, found.suppressed) == (alone.node, alone.suppressed)
        assert found.loss == pytest.approx(alone.loss)


def test_the_search_evaluates_a_small_part_of_the_lattice() -> None:
    hierarchies, counts = a_larger_lattice()
    lattice = Lattice(counts, hierarchies)
    assert search(lattice, [KAnonymity(5)], LOSSES["granularity"], 1).evaluated < lattice.size / 4


@pytest.mark.parametrize(
    "broken",
    [
        lambda found: found._replace(
            lasting_excess=found.lasting_excess * 1.5 + 9
        ),  # a bound that is too high
        lambda found: found._replace(excess=found.excess * 0.5),  # a loss that is too low
        lambda found: found._replace(excess=found.excess + 1),
    ],
)
def test_a_search_with_a_wrong_bound_is_caught(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[optimum.Evaluation], optimum.Evaluation]
) -> None:
    """The twin of `test_the_search_finds_what_full_enumeration_finds`: a broken bound does change
    what is found."""
    right = optimum.Optimum._limited
    monkeypatch.setattr(
        optimum.Optimum, "_limited", lambda self, small, rule: broken(right(self, small, rule))
    )
    for seed, k in itertools.product(range(20), (2, 3, 5)):
        hierarchies, counts = a_larger_lattice(3, 100, seed)
        lattice = Lattice(counts, hierarchies)
        found = search(lattice, [KAnonymity(k)], LOSSES["granularity"], 1)
        expected = best_of_all(lattice, (KAnonymity(k),), "granularity", lattice.total)
        assert expected is not None
        if found.node != expected[1] or abs(found.loss - expected[0]) > 1e-6:
            return
    pytest.fail("no search went wrong")


def test_columns_whose_keys_fit_no_integer_are_grouped_all_the_same() -> None:
    rng = np.random.default_rng(5)
    tree = Hierarchy.from_lines([[str(leaf), str(leaf // 8), "*"] for leaf in range(64)])
    columns = [rng.integers(0, 64, 500).astype(np.uint8) for _ in range(14)]
    columns = [np.concatenate([column, column[:100]]) for column in columns]
    hierarchies = {f"c{j}": tree for j in range(14)}
    lattice = Lattice(group([*hierarchies], columns, [64] * 14), hierarchies)
    bottom = lattice.groups(lattice.bottom)
    assert sorted(bottom.sizes.tolist()) == [1] * 400 + [2] * 100
    assert [bottom.codes(3)[at] for at in bottom.rows] == lattice.counts.codes[3].tolist()
    one = lattice.groups((0,) + (2,) * 13)
    assert (
        one.sizes.tolist() == np.bincount(columns[0], minlength=64)[np.unique(columns[0])].tolist()
    )
    middle = lattice.groups((1,) * 14)
    assert middle.sizes.sum() == 600
    assert middle.sizes.max() >= 2
    for j in (0, 13):
        assert middle.marginal(j).tolist() == np.bincount(columns[j] // 8, minlength=8).tolist()


@pytest.mark.parametrize("columns", [4, 12, 16, 20, 31])
def test_losses_of_wide_tables_are_those_of_their_rows(columns: int) -> None:
    """Keys of 12ⁿ cells grow past 32 bits, past what half-tables could hold, and past 64 bits."""
    hierarchies, counts = a_larger_lattice(columns, 300)
    lattice = Lattice(counts, hierarchies)
    loss = LOSSES["granularity"]
    assert isinstance(loss, Columnwise)
    for node in ((0,) * columns, (1,) * columns, (2, 1) * (columns // 2) + (3,) * (columns % 2)):
        trees = list(hierarchies.values())
        codes = [
            tree.maps[at][leaves].tolist()
            for tree, at, leaves in zip(trees, node, counts.codes, strict=True)
        ]
        sizes: Counter[tuple[int, ...]] = Counter()
        for row, count in zip(zip(*codes, strict=True), counts.count.tolist(), strict=True):
            sizes[row] += count
        groups = lattice.groups(node)
        assert sorted(groups.sizes.tolist()) == sorted(sizes.values())
        weights = [tree.cover(at) / tree.leaves for tree, at in zip(trees, node, strict=True)]
        expected = sum(
            size
            * (sum(w[code] for w, code in zip(weights, row, strict=True)) if size >= 2 else columns)
            for row, size in sizes.items()
        )
        assert loss.of(groups, groups.sizes >= 2) == pytest.approx(expected)
        assert loss.limited(groups, 2) == pytest.approx(expected)


def test_counts_do_not_depend_on_the_order_of_rows() -> None:
    rows = [(0, 1, 2), (1, 1, 0), (0, 1, 2), (0, 0, 3)]
    hierarchies = {
        "c0": Hierarchy.from_lines([["0", "*"], ["1", "*"]]),
        "c1": Hierarchy.from_lines([["0", "*"], ["1", "*"]]),
    }
    for order in itertools.permutations(rows):
        counts = counted(hierarchies, list(order))
        assert [codes.tolist() for codes in counts.codes] == [[0, 0, 1], [0, 1, 1], [3, 2, 0]]
        assert counts.count.tolist() == [1, 2, 1]
        assert (counts.total, counts.distinct) == (4, 3)


def test_counts_over_some_columns_sum_over_the_others() -> None:
    counts = group(
        ["a", "b"], [np.array([0, 0, 1], np.uint8), np.array([0, 1, 1], np.uint8)], [2, 2]
    )
    assert counts.over(["a"]).count.tolist() == [2, 1]
    assert counts.over([]).count.tolist() == [3]


def test_a_lattice_knows_its_size_heights_and_neighbours() -> None:
    hierarchies, counts = a_larger_lattice(2)
    lattice = Lattice(counts, hierarchies, floor={"c0": 1}, ceiling={"c1": 2})
    assert (lattice.bottom, lattice.top, lattice.size) == ((1, 0), (3, 2), 9)
    assert (
        lattice.height(lattice.bottom),
        lattice.height((2, 1)),
        lattice.height(lattice.top),
    ) == (0, 2, 4)
    assert lattice.finer((1, 1)) == [(1, 0)]
    assert lattice.coarser((2, 2)) == [(3, 2)]
    assert {groups.node for groups in lattice.walk()} == set(lattice.nodes())


def test_invalid_levels_raise() -> None:
    hierarchies, counts = a_larger_lattice(2)
    with pytest.raises(ParameterError, match="levels 0 to 3, not 4"):
        Lattice(counts, hierarchies, floor={"c0": 4})
    with pytest.raises(ParameterError, match="not a quasi-identifying"):
        Lattice(counts, hierarchies, floor={"x": 1})
    with pytest.raises(ParameterError, match="swap"):
        Lattice(counts, hierarchies, floor={"c0": 2}, ceiling={"c0": 1})
    for node in ((1,), (1, 4), (-1, 0)):
        with pytest.raises(ParameterError, match="one level for each"):
            Lattice(counts, hierarchies).groups(node)


def test_a_column_that_was_not_counted_has_no_histogram() -> None:
    hierarchies, counts = a_larger_lattice(2)
    with pytest.raises(ColumnError, match="not counted"):
        Lattice(counts, hierarchies).groups((0, 0)).histogram("s")


def test_a_lattice_too_large_says_how_large_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchies, counts = a_larger_lattice(2)
    monkeypatch.setattr(optimal, "LARGEST", 15)
    monkeypatch.setattr(optimal, "ENUMERATED", 15)
    for loss in ("granularity", "discernibility"):
        with pytest.raises(TooLargeError, match=r"16 nodes .* floor or ceiling"):
            search(Lattice(counts, hierarchies), [KAnonymity(2)], LOSSES[loss])


def test_more_columns_than_arrays_have_dimensions() -> None:
    """Numpy's arrays have at most 64 dimensions; tables may have more columns."""
    rng = np.random.default_rng(11)
    tree = Hierarchy.from_lines([["0", "*"], ["1", "*"]])
    hierarchies = {f"c{j}": tree for j in range(100)}
    columns = [
        rng.integers(0, 2, 40).astype(np.uint8) if j < 3 else np.zeros(40, np.uint8)
        for j in range(100)
    ]
    counts = group([*hierarchies], columns, [2] * 100)
    assert counts.count.tolist() == group(["a", "b", "c"], columns[:3], [2] * 3).count.tolist()
    alone = group([*hierarchies], columns[3:] + columns[:3], [1] * 97 + [2] * 3)
    assert [codes.max() for codes in alone.codes] == [0] * 97 + [1] * 3
    lattice = Lattice(counts, hierarchies, ceiling={f"c{j}": 0 for j in range(3, 100)})
    assert {groups.node[:3]: len(groups.sizes) for groups in lattice.walk()}[(1, 1, 1)] == 1
    found = search(lattice, [KAnonymity(4)], LOSSES["granularity"], 1)
    expected = best_of_all(lattice, (KAnonymity(4),), "granularity", 40)
    assert expected is not None
    assert found.node == expected[1]
    assert found.loss == pytest.approx(expected[0])


def test_a_lattice_of_one_node_has_that_node_as_its_best() -> None:
    hierarchies, counts = a_larger_lattice(2)
    levels = {"c0": 1, "c1": 2}
    found = search(
        Lattice(counts, hierarchies, floor=levels, ceiling=levels),
        [KAnonymity(5)],
        LOSSES["granularity"],
        1,
    )
    assert (found.node, found.evaluated) == ((1, 2), 1)


def test_codes_of_eight_bytes_are_counted_exactly() -> None:
    large = 1 << 60
    counts = group(
        ["a", "b"],
        [np.array([1, 0, 1], np.uint8), np.array([large - 1, 5, large - 1], np.uint64)],
        [2, large],
    )
    assert [codes.tolist() for codes in counts.codes] == [[0, 1], [5, large - 1]]
    assert counts.count.tolist() == [1, 2]
