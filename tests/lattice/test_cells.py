"""Cells in each of their forms: what they weigh is what their rows weigh."""

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.hierarchy import Hierarchy
from shoal.lattice import Lattice
from shoal.lattice import cells as module
from shoal.lattice.cells import Cells, Outer
from shoal.measure.loss import LOSSES, Columnwise
from tests.lattice.small import (
    Coded,
    Problem,
    a_larger_lattice,
    coded,
    counted,
    key_of,
    many,
    problems,
    weights_of,
)


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


class Grouped(NamedTuple):
    """A node of a table: its groups in one form of cells, and from the rows."""

    table: Coded
    cells: Cells
    groups: dict[tuple[int, ...], int]

    @property
    def listed(self) -> list[tuple[int, ...]]:
        """The codes of the groups, in the order of the compact cells."""
        if self.cells.last_axis is not None:
            return sorted(self.groups, key=lambda codes: moved(codes, self.cells.last_axis))
        return list(self.groups)

    @property
    def cards(self) -> list[int]:
        return self.table.coding.cards_at(self.cells.levels)


def moved(values: Sequence[int], axis: int | None) -> list[int]:
    """The values with that of one axis last."""
    assert axis is not None
    return [*values[:axis], *values[axis + 1 :], values[axis]]


ORDERED = ["dense", "keys", "wide", "block"]
FORMS = [*ORDERED, "last axis"]
some = settings(max_examples=25)


@st.composite
def grouped(draw: st.DrawFn, form: str, carried: bool = True) -> Grouped:
    """The cells of a node, made by hand from its groups."""
    table = coded(*draw(problems()), carried=carried)
    levels = draw(st.sampled_from(table.nodes))
    groups = table.groups(levels)
    coding, cards = table.coding, table.coding.cards_at(levels)
    sizes = np.array([*groups.values()], dtype=np.float64)
    keys = np.array([key_of(codes, cards) for codes in groups], dtype=np.intp)
    axis = draw(st.integers(0, len(cards) - 1))
    match form if groups else "keys":  # as a table of nobody is rolled up
        case "dense":
            array = np.zeros(prod(cards))
            array[keys] = sizes
            cells = Cells(coding, levels, array)
        case "keys":
            cells = Cells(coding, levels, sizes, keys)
        case "wide":
            columns = [np.array([codes[at] for codes in groups], int) for at in range(len(cards))]
            runs = [range(at) for at in (axis,) if at]
            packs = coding.pack(levels, columns, [*runs, range(axis, len(cards))])
            cells = Cells(coding, levels, sizes, wide=packs)
        case "block":
            inner = prod(cards[axis:])
            first = np.unique(keys // inner)
            array = np.zeros((inner, len(first)))
            array[keys % inner, np.searchsorted(first, keys // inner)] = sizes
            cells = Cells(coding, levels, array.ravel(), outer=Outer(axis, first))
        case _:
            order = sorted(groups, key=lambda codes: moved(codes, axis))
            last = [key_of(moved(codes, axis), moved(cards, axis)) for codes in order]
            sizes = np.array([groups[codes] for codes in order], dtype=np.float64)
            cells = Cells(coding, levels, sizes, np.array(last, dtype=np.intp), last_axis=axis)
    return Grouped(table, cells, groups)


def codes_of(cells: Cells) -> list[tuple[int, ...]]:
    columns = [cells.codes(axis).tolist() for axis in range(len(cells.levels))]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("form", FORMS)
@some
@given(st.data(), st.integers(1, 5))
def test_compact_cells_are_the_groups_that_have_records(
    form: str, data: st.DataObject, k: int
) -> None:
    node = data.draw(grouped(form))
    compact = node.cells.compact
    assert codes_of(compact) == node.listed
    assert compact.sizes.tolist() == [node.groups[codes] for codes in node.listed]
    if compact.last_axis is not None:
        return  # what comes with an axis last is small groups already
    small = compact.below(k)
    expected = {codes: size for codes, size in node.groups.items() if size < k}
    assert dict(zip(codes_of(small), small.sizes.tolist(), strict=True)) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dense", [0, module.DENSE])
@some
@given(st.data(), st.integers(1, 5))
def test_kept_records_are_weighed_and_counted_by_code(
    form: str, dense: int, data: st.DataObject, k: int
) -> None:
    node = data.draw(grouped(form))
    weights = weights_of(node.cards)
    sizes = node.cells.sizes.astype(np.float64)
    kept = sizes * (sizes >= k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", dense)
        marginals = node.cells.marginals(kept)
    weighed = node.cells.weigh(weights, kept)
    large = {codes: size for codes, size in node.groups.items() if size >= k}
    for axis, card in enumerate(node.cards):
        records = Counter(dict.fromkeys(range(card), 0))
        for codes, size in large.items():
            records[codes[axis]] += size
        assert marginals[axis].tolist() == [records[code] for code in range(card)]
    assert weighed == sum(
        size * sum(weights[axis][code] for axis, code in enumerate(codes))
        for codes, size in large.items()
    )


def test_kept_records_are_weighed_where_the_first_axis_comes_last() -> None:
    """One record of each of 3 × 2 groups: two of each first value, three of each second one."""
    hierarchies = {
        name: Hierarchy.from_lines([[str(i), "*"] for i in range(3)]) for name in ("a", "b")
    }
    table = coded(hierarchies, [(a, b, 0) for a in range(3) for b in range(2)], carried=False)
    cells = Cells(table.coding, (0, 0), np.ones(6), np.arange(6), last_axis=0)
    weights = [np.array([1.0, 2, 4]), np.array([10.0, 100])]
    assert cells.weigh(weights, cells.sizes) == 2 * (1 + 2 + 4) + 3 * (10 + 100)
    kept = np.array([0.0, 1, 0, 1, 0, 0])
    assert cells.weigh(weights, kept) == (2 + 10) + (1 + 100)


@pytest.mark.parametrize("form", ORDERED)
@some
@given(st.data())
def test_groups_are_numbered_by_their_first_axes(form: str, data: st.DataObject) -> None:
    node = data.draw(grouped(form))
    first = data.draw(st.integers(1, len(node.cards)))
    numbers = {codes: at for at, codes in enumerate(sorted({row[:first] for row in node.groups}))}
    expected = [numbers[codes[:first]] for codes in node.groups]
    assert node.cells.compact.group_of(first).tolist() == expected


@pytest.mark.parametrize("form", ORDERED)
@pytest.mark.parametrize("dense", [0, module.DENSE])
@some
@given(st.data())
def test_rows_find_their_group(form: str, dense: int, data: st.DataObject) -> None:
    node = data.draw(grouped(form, carried=False))
    table, levels = node.table, node.cells.levels
    by_axis = [np.array(table.real(axis, level), np.uint8) for axis, level in enumerate(levels)]
    by_column = [by_axis[table.coding.axes.index(column)] for column in range(len(by_axis))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", dense)
        places = node.cells.compact.find(by_column).tolist()
    groups = list(node.groups)
    assert [groups[place] for place in places] == table.codes(levels)
