"""Loss models: goldens worked out by hand, and what must hold for every table, hierarchy and
node."""

import math
from math import log2
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.counts import group
from shoal.data.hierarchy import Hierarchy
from shoal.errors import ParameterError
from shoal.lattice import Groups, Lattice
from shoal.measure.loss import (
    LOSSES,
    Aggregate,
    Aggregated,
    Columnwise,
    Entropy,
    Granularity,
    Intensity,
    Weights,
    normalised,
)

AGE = Hierarchy.from_lines([["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]])
SEX = Hierarchy.from_lines([["x", "*"], ["y", "*"]])


def four_people() -> Lattice:
    """Two people (a, x), one (b, x), one (c, y)."""
    codes = [np.array([0, 0, 1, 2], dtype=np.uint8), np.array([0, 0, 0, 1], dtype=np.uint8)]
    return Lattice(group(["age", "sex"], codes, [4, 2]), {"age": AGE, "sex": SEX})


# At ages ab and cd, sexes as they are: three people (ab, x) are kept, one (cd, y) is suppressed.
GOLDENS = {
    "granularity": (3 * (2 / 4 + 1 / 2) + 2, 4 * (1 / 4 + 1 / 2), 8.0),
    "intensity": (3 * (1 / 2 + 0) + 2, 0.0, 8.0),
    "discernibility": (3**2 + 1 * 4, 2**2 + 1 + 1, 4.0**2),
    "entropy": (
        2 * log2(3 / 2) + log2(3) + 2 + 2,
        0.0,
        (2 * log2(2) + 2 + 2) + (3 * log2(4 / 3) + 2),
    ),
    "group_size": (4 / 2, 4 / 3, 4.0),
    "ambiguity": ((3 * 2 * 1 + 4 * 2) / 4, 1.0, 8.0),
    "divergence": (
        0.5 * log2((1 / 2) / (13 / 32))
        + 0.25 * log2((1 / 4) / (13 / 32))
        + 0.25 * log2((1 / 4) / (1 / 32)),
        0.0,
        3 - 1.5,
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_what_it_is_by_hand(name: str) -> None:
    lattice = four_people()
    groups = lattice.groups((1, 0))
    kept = groups.sizes >= 2
    raw, low, high = GOLDENS[name]
    assert LOSSES[name].of(groups, kept) == pytest.approx(raw)
    assert LOSSES[name].span(lattice) == pytest.approx((low, high))
    assert normalised(LOSSES[name], groups, kept) == pytest.approx((raw - low) / (high - low))


# The same node when two of the three people (ab, x) are sampled, and the one (cd, y).
SAMPLED = {
    "granularity": 3 * (2 / 4 + 1 / 2) + 2,
    "intensity": 3 * (1 / 2 + 0) + 2,
    "discernibility": 2**2 + 1**2 + 1 * 4,
    "entropy": 2 * (log2(3) + log2(3)) + 0 + 2 + 2 - 2 * log2(2) - 3 * log2(3),
    "group_size": 4 / 3,
    "ambiguity": (2 * 2 + 1 * 2 + 4 * 2) / 4,
    "divergence": 0.5 * log2((1 / 2) / (9 / 32))
    + 0.25 * log2((1 / 4) / (9 / 32))
    + 0.25 * log2((1 / 4) / (5 / 32)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_of_a_sample_is_what_it_is_by_hand(name: str) -> None:
    groups = four_people().groups((1, 0))
    assert LOSSES[name].of(groups, np.minimum(groups.sizes, 2)) == pytest.approx(SAMPLED[name])
    assert LOSSES[name].of(groups, groups.sizes) == pytest.approx(
        LOSSES[name].of(groups, groups.sizes > 0)
    )


def test_losses_are_listed_by_their_own_names() -> None:
    assert list(GOLDENS) == [
        "granularity",
        "intensity",
        "discernibility",
        "entropy",
        "group_size",
        "ambiguity",
        "divergence",
    ]
    assert {name: loss.name for name, loss in LOSSES.items()} == {name: name for name in GOLDENS}


def test_importance_weighs_columns() -> None:
    lattice = four_people()
    groups = lattice.groups((1, 0))
    kept = np.ones(2, dtype=np.bool_)
    assert Granularity().of(groups, kept) == pytest.approx(4 * (2 / 4 + 1 / 2))
    assert Granularity({"age": 3}).of(groups, kept) == pytest.approx(4 * (3 * 2 / 4 + 1 / 2))
    assert Intensity({"sex": 0}).of(groups, kept) == pytest.approx(4 * 1 / 2)
    assert Intensity({"sex": 0}).span(lattice) == (0, 4)
    assert normalised(Entropy({"age": 0}), lattice.groups((2, 0)), kept) == 0


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf")])
def test_importance_is_a_number_of_at_least_0(weight: float) -> None:
    with pytest.raises(ParameterError, match="'age'"):
        Granularity({"age": weight})


def test_importance_of_an_unknown_column_is_an_error() -> None:
    with pytest.raises(ParameterError, match="'height'"):
        Granularity({"height": 2}).weights(four_people())


def test_a_hierarchy_without_levels_has_nothing_to_lose_but_its_records() -> None:
    flat = Hierarchy((("only",),), (np.zeros(1, dtype=np.uint8),))
    lattice = Lattice(group(["one"], [np.zeros(3, dtype=np.uint8)], [1]), {"one": flat})
    groups = lattice.groups((0,))
    for loss in LOSSES.values():
        assert normalised(loss, groups, np.array([True])) == 0
        assert normalised(loss, groups, np.array([False])) == 1


def test_an_empty_table_has_lost_nothing() -> None:
    lattice = Lattice(group(["sex"], [np.zeros(0, dtype=np.uint8)], [2]), {"sex": SEX})
    groups = lattice.groups((1,))
    for loss in LOSSES.values():
        assert normalised(loss, groups, np.ones(0, dtype=np.bool_)) == 0


@pytest.mark.parametrize("people", [7, 11])
def test_rounding_is_no_loss(people: int) -> None:
    trees = dict.fromkeys(("a", "b", "c"), SEX)
    lattice = Lattice(group(list(trees), [np.zeros(people, dtype=np.uint8)] * 3, [2] * 3), trees)
    assert normalised(LOSSES["entropy"], lattice.groups((0, 0, 0)), np.array([True])) == 0


def test_missing_values_do_not_make_the_divergence_negative() -> None:
    one = Hierarchy.from_lines([["only", "*"]]).with_missing()
    lattice = Lattice(group(["one"], [np.array([0, 1], dtype=np.uint8)], [2]), {"one": one})
    everyone = lattice.groups((1,))
    assert LOSSES["divergence"].of(everyone, np.array([True])) == pytest.approx(0)


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    """A small table over one to three columns with random hierarchies."""
    columns = draw(st.integers(1, 3))
    rows = draw(st.integers(1, 12))
    names, codes, cards, hierarchies = [], [], [], {}
    for j in range(columns):
        leaves = draw(st.integers(1, 5))
        lines = [[f"{leaf}"] for leaf in range(leaves)]
        for level in range(draw(st.integers(0, 2))):
            of: dict[str, int] = {}
            for line in lines:
                of.setdefault(line[-1], draw(st.integers(0, 2)))
                line.append(f"{level}:{of[line[-1]]}")
        tree = Hierarchy.from_lines([[*line, "*"] for line in lines])
        if draw(st.booleans()):
            tree = tree.with_missing()
        names.append(f"c{j}")
        hierarchies[f"c{j}"] = tree
        cards.append(len(tree.maps[0]))
        codes.append(
            np.array(
                draw(st.lists(st.integers(0, cards[-1] - 1), min_size=rows, max_size=rows)),
                dtype=np.uint8,
            )
        )
    return Lattice(group(names, codes, cards), hierarchies)


@st.composite
def released(draw: st.DrawFn) -> tuple[Lattice, Groups, npt.NDArray[np.bool_]]:
    """A node of a lattice and which of its groups are kept."""
    lattice = draw(lattices())
    node = tuple(draw(st.integers(0, top)) for top in lattice.top)
    groups = lattice.groups(node)
    size = len(groups.sizes)
    return (
        lattice,
        groups,
        np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=np.bool_),
    )


@given(released())
def test_normalised_losses_are_0_for_the_input_and_1_for_nothing_and_between_otherwise(
    given: Any,
) -> None:
    lattice, groups, kept = given
    bottom = lattice.groups((0,) * len(lattice.names))
    for loss in LOSSES.values():
        assert normalised(
            loss, bottom, np.ones(len(bottom.sizes), dtype=np.bool_)
        ) == pytest.approx(0, abs=1e-9)
        assert normalised(loss, groups, np.zeros(len(kept), dtype=np.bool_)) == pytest.approx(1)
        assert 0 <= normalised(loss, groups, kept) <= 1


@given(released())
def test_without_suppression_a_coarser_node_never_loses_less(given: Any) -> None:
    lattice, groups, _ = given
    for node in lattice.coarser(groups.node):
        coarser = lattice.groups(node)
        for loss in LOSSES.values():
            finer_loss = loss.of(groups, np.ones(len(groups.sizes), dtype=np.bool_))
            assert (
                loss.of(coarser, np.ones(len(coarser.sizes), dtype=np.bool_)) >= finer_loss - 1e-9
            )


@given(released())
def test_suppressing_one_more_group_never_costs_less_columnwise(given: Any) -> None:
    _, groups, kept = given
    for loss in LOSSES.values():
        if isinstance(loss, Columnwise):
            for i in np.flatnonzero(kept):
                fewer = kept.copy()
                fewer[i] = False
                assert loss.of(groups, fewer) >= loss.of(groups, kept) - 1e-9


def record_by_record(
    loss: Columnwise, lattice: Lattice, groups: Groups, kept: npt.NDArray[np.bool_]
) -> float:
    """A columnwise loss by its definition, one cell after the other."""
    total = 0.0
    counts, records = lattice.counts, lattice.total
    for row in range(counts.distinct):
        for j, (name, hierarchy, level) in enumerate(
            zip(lattice.names, lattice.hierarchies, groups.node, strict=True)
        ):
            leaf = int(counts.codes[counts.names.index(name)][row])
            column = counts.codes[j]
            released = bool(kept[groups.rows[row]])
            same = hierarchy.maps[level] == hierarchy.maps[level][leaf]
            match loss.name:  # type: ignore[attr-defined]
                case "granularity":
                    covered = int(same[: hierarchy.leaves].sum()) or 1
                    cost = covered / hierarchy.leaves if released else 1.0
                case "intensity":
                    cost = level / hierarchy.height if released else 1.0
                case "entropy":
                    alike = int(counts.count[same[column]].sum()) if released else records
                    cost = log2(alike) - log2(int(counts.count[column == leaf].sum()))
            total += int(counts.count[row]) * cost
    return total


@given(released())
def test_columnwise_losses_are_sums_over_cells(given: Any) -> None:
    lattice, groups, kept = given
    for loss in (Granularity(), Intensity(), Entropy()):
        assert loss.of(groups, kept) == pytest.approx(
            record_by_record(loss, lattice, groups, kept), abs=1e-9
        )


class ForgetsTheSuppressed(Granularity):
    """A broken twin."""

    def _weights(self, lattice: Lattice) -> Weights:
        right = super()._weights(lattice)
        return Weights(right.level, (0.0,) * len(right.suppressed))


def test_a_loss_that_forgets_suppressed_records_would_be_noticed() -> None:
    lattice = four_people()
    groups = lattice.groups((1, 0))
    kept = groups.sizes >= 2
    assert ForgetsTheSuppressed().of(groups, kept) != pytest.approx(
        record_by_record(ForgetsTheSuppressed(), lattice, groups, kept)
    )


@given(released())
def test_the_divergence_is_that_of_the_reconstructed_table(given: Any) -> None:
    lattice, groups, kept = given
    counts, records = lattice.counts, lattice.total
    whole = np.prod([len(h.maps[0]) for h in lattice.hierarchies])
    divergence = 0.0
    suppressed = int(groups.sizes[~kept].sum())
    for row in range(counts.distinct):
        true = int(counts.count[row]) / records
        its = int(groups.rows[row])
        cells = np.prod(
            [
                int((h.maps[level] == h.maps[level][counts.codes[j][row]]).sum())
                for j, (h, level) in enumerate(zip(lattice.hierarchies, groups.node, strict=True))
            ]
        )
        estimate = (
            int(groups.sizes[its]) / cells if kept[its] else 0
        ) / records + suppressed / records / whole
        divergence += true * log2(true / estimate)
    assert LOSSES["divergence"].of(groups, kept) == pytest.approx(divergence, abs=1e-9)


def test_losses_of_many_nodes_share_what_depends_on_the_lattice() -> None:
    lattice = four_people()
    assert Granularity().weights(lattice) is Granularity().weights(lattice)
    assert Granularity({"age": 2}).weights(lattice) is not Granularity().weights(lattice)


@given(released())
def test_keeping_groups_is_keeping_all_their_records(given: Any) -> None:
    _, groups, kept = given
    for loss in LOSSES.values():
        assert loss.of(groups, np.where(kept, groups.sizes, 0)) == pytest.approx(
            loss.of(groups, kept)
        )


@given(released(), st.data())
def test_no_loss_but_that_of_sizes_falls_when_a_record_is_lost(
    given: Any, data: st.DataObject
) -> None:
    _, groups, kept = given
    numbers = np.where(kept, groups.sizes, 0)
    fewer = np.array([data.draw(st.integers(0, int(number))) for number in numbers], dtype=np.int64)
    for name in ("granularity", "intensity", "entropy", "ambiguity"):
        assert LOSSES[name].of(groups, fewer) >= LOSSES[name].of(groups, numbers) - 1e-9


@pytest.mark.parametrize("by", get_args(Aggregate))
@pytest.mark.parametrize("cells", [Granularity(), Intensity(), Entropy()])
def test_aggregates_go_from_0_to_1_and_never_fall_without_suppression(
    by: Aggregate, cells: Columnwise
) -> None:
    lattice = four_people()
    loss = Aggregated(cells, by)
    everything = {node: np.ones(len(lattice.groups(node).sizes), np.bool_) for node in nodes_of()}
    for node, kept in everything.items():
        found = loss.of(lattice.groups(node), kept)
        assert 0 <= normalised(loss, lattice.groups(node), kept) <= 1
        for coarser in lattice.coarser(node):
            assert loss.of(lattice.groups(coarser), everything[coarser]) >= found - 1e-12
    assert loss.of(lattice.groups((0, 0)), everything[0, 0]) == pytest.approx(0)
    nothing = np.zeros(len(everything[0, 0]), np.bool_)
    assert normalised(loss, lattice.groups((0, 0)), nothing) == pytest.approx(1)


def nodes_of() -> list[tuple[int, ...]]:
    return list(four_people().nodes())


def test_aggregates_are_those_of_arx() -> None:
    lattice = four_people()
    groups = lattice.groups((1, 0))
    kept = groups.sizes >= 2
    by_column = Aggregated(Granularity()).by_column(groups, kept)
    # (Σ shares − n / leaves) / (n − n / leaves), three records kept and one suppressed.
    assert by_column == pytest.approx([(3 * 2 / 4 + 1 - 1) / 3, (3 / 2 + 1 - 2) / 2])
    one, two = by_column
    expected = {
        "sum": one + two,
        "arithmetic mean": (one + two) / 2,
        "geometric mean": math.sqrt((1 + one) * (1 + two)) - 1,
        "maximum": max(one, two),
        "rank": max(one, two),
    }
    for by, value in expected.items():
        assert Aggregated(Granularity(), by).of(groups, kept) == pytest.approx(value)  # type: ignore[arg-type]
    assert Aggregated(Granularity(), "rank").key(by_column) == (max(one, two), min(one, two))


@pytest.mark.parametrize(
    ("balance", "kept_counts", "left_counts"), [(0.25, 1, 0.5), (0.75, 0.5, 1)]
)
def test_balance_makes_suppression_or_generalisation_cheaper(
    balance: float, kept_counts: float, left_counts: float
) -> None:
    groups = four_people().groups((1, 0))
    kept = groups.sizes >= 2
    loss = Aggregated(Granularity(), "sum", balance=balance)
    age = kept_counts * 3 * 2 / 4 + 2 / 4 + left_counts * (1 - 2 / 4)
    lowest = kept_counts * 4 / 4
    assert loss.by_column(groups, kept)[0] == pytest.approx((age - lowest) / (4 - lowest))


def test_importance_of_aggregates_is_relative_to_the_largest() -> None:
    groups = four_people().groups((1, 0))
    kept = groups.sizes >= 2
    plain = Aggregated(Granularity()).by_column(groups, kept)
    weighed = Aggregated(Granularity(), importance={"age": 4}).by_column(groups, kept)
    assert weighed == pytest.approx(plain * [1, 1 / 4])


@pytest.mark.parametrize("by", get_args(Aggregate))
@pytest.mark.parametrize("balance", [0, 0.1, 0.5, 0.8, 1])
def test_bounds_are_below_what_is_lost(by: Aggregate, balance: float) -> None:
    lattice = four_people()
    loss = Aggregated(Granularity(), by, balance=balance)
    least = loss.least_by_column(lattice)
    for node in lattice.nodes():
        groups = lattice.groups(node)
        for k in (1, 2, 3, 5):
            kept = groups.sizes >= k
            for suppressed in range(int(groups.sizes[~kept].sum()) + 1):
                bound = least(np.array([node]), np.array([suppressed]))
                assert bound[0] <= loss.of(groups, kept) + 1e-12


def test_aggregates_refuse_what_they_do_not_know() -> None:
    with pytest.raises(ParameterError, match="aggregate"):
        Aggregated(Granularity(), "median")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="balance"):
        Aggregated(Granularity(), balance=float("nan"))
    with pytest.raises(ParameterError, match="twice"):
        Aggregated(Granularity({"age": 2}))
