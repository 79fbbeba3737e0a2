"""Columns as axes: codes, packs and keys say what the values of the rows say."""

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.lattice import coding as module
from shoal.lattice.coding import Coding, Memo, middle, raised, sums_at
from tests.lattice.small import Problem, coded, key_of, problems, weights_of

some = settings(max_examples=30)
PACKS = [1, 2, 6, 4096]
"""Values that a pack may have: each axis alone, some together, all together."""


def an_example() -> Coding:
    """Two, four and three values that occur, of six each; the largest comes second."""
    leaves = [(0, 0, 5), (4, 1, 3), (4, 3, 3), (4, 5, 0)]
    levels = [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0] * 6]
    maps = [[np.array(codes, dtype=np.uint8) for codes in levels]] * 3
    columns = [np.array(column, dtype=np.uint8) for column in zip(*leaves, strict=True)]
    return Coding(columns, np.array([1.0, 2, 3, 4]), maps)


def test_axes_come_with_the_largest_column_first() -> None:
    coding = an_example()
    assert coding.axes == [1, 2, 0]
    assert coding.cards == [[4, 3, 1], [3, 3, 1], [2, 2, 1]]
    assert coding.levels_of((7, 8, 9)) == (8, 9, 7)
    assert coding.columns_of((8, 9, 7)) == (7, 8, 9)
    assert coding.cards_at((1, 0, 2)) == [3, 3, 1]


def test_codes_are_ranks_among_the_values_that_occur() -> None:
    coding = an_example()
    assert [codes.tolist() for codes in coding.real[0]] == [[0, 1, 3, 5], [0, 1, 2], [0]]
    assert coding.between(0, 0, 1).tolist() == [0, 0, 1, 2]
    assert coding.between(0, 1, 2).tolist() == [0, 0, 0]
    assert coding.between(1, 0, 0).tolist() == [0, 1, 2]


def test_a_marginal_counts_records_and_not_rows() -> None:
    coding = an_example()
    assert coding.marginal(0, 0).tolist() == [1, 2, 3, 4]
    assert coding.marginal(0, 1).tolist() == [3, 3, 4]
    assert coding.marginal(2, 1).tolist() == [1, 9]


@some
@given(problems())
def test_a_carried_column_comes_last_and_has_one_level(problem: Problem) -> None:
    table = coded(*problem)
    coding = table.coding
    assert len(coding.axes) == len(problem[0])
    assert coding.real[-1][0].tolist() == sorted({row[-1] for row in problem[1]})
    assert [len(levels) for levels in coding.cards][-1] == 1
    often = Counter(row[-1] for row in problem[1])
    assert coding.marginal(len(coding.axes), 0).tolist() == [often[s] for s in sorted(often)]


@pytest.mark.parametrize("most", PACKS)
@some
@given(problems(), st.data())
def test_packs_and_keys_hold_the_codes_of_every_row(
    most: int, problem: Problem, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PACK", most)
        table = coded(*problem)
        levels = data.draw(st.sampled_from(table.nodes))
        cards = table.coding.cards_at(levels)
        rows = table.codes(levels)
        columns = [np.array([row[axis] for row in rows], dtype=int) for axis in range(len(cards))]
        keys = np.array([key_of(row, cards) for row in rows], dtype=np.intp)
        packed = table.coding.pack(levels, columns)
        unpacked = table.coding.unpack(levels, keys)
    assert [axis for axes, _ in packed for axis in axes] == list(range(len(cards)))
    for axes, codes in packed:
        run = slice(axes.start, axes.stop)
        assert codes.tolist() == [key_of(row[run], cards[run]) for row in rows]
        assert len(axes) == 1 or prod(cards[run]) <= most
    assert [axes for axes, _ in packed] == [axes for axes, _ in unpacked]
    for (_, codes), (_, again) in zip(packed, unpacked, strict=True):
        assert codes.tolist() == again.tolist()


@pytest.mark.parametrize("most", PACKS)
@some
@given(problems(), st.data())
def test_a_look_up_leads_from_fine_packs_to_coarser_codes(
    most: int, problem: Problem, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PACK", most)
        table = coded(*problem)
    coarse = data.draw(st.sampled_from(table.nodes))
    fine = data.draw(st.tuples(*(st.integers(0, level) for level in coarse)))
    cards = table.coding.cards_at(fine)
    rows, coarser = table.codes(fine), table.codes(coarse)
    left_out = data.draw(st.none() | st.integers(0, len(fine) - 1))
    for axes, _ in table.coding.base:
        pack = [key_of(row[axes.start : axes.stop], cards[axes.start : axes.stop]) for row in rows]
        kept = [axis for axis in axes if axis != left_out]
        at_coarse = [table.coding.cards[axis][coarse[axis]] for axis in kept]
        numbers, values = table.coding.look_up(axes, fine, coarse, left_out=left_out)
        assert values == prod(at_coarse)
        expected = [key_of([row[axis] for axis in kept], at_coarse) for row in coarser]
        assert numbers[pack].tolist() == expected
        for axis in axes:
            along = table.coding.along(axes, axis, fine, coarse)
            assert along[pack].tolist() == [row[axis] for row in coarser]


@pytest.mark.parametrize("half", [3, module.HALF])
@some
@given(problems(), st.data())
def test_a_key_weighs_what_its_codes_weigh(
    half: int, problem: Problem, data: st.DataObject
) -> None:
    table = coded(*problem)
    levels = data.draw(st.sampled_from(table.nodes))
    cards = table.coding.cards_at(levels)
    weights = weights_of(cards)
    first = data.draw(st.integers(1, len(cards)))
    rows = [row[:first] for row in table.codes(levels)]
    keys = np.array([key_of(row, cards[:first]) for row in rows], dtype=np.intp)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HALF", half)
        found = table.coding.weigh_keys(keys, weights[:first], cards)
    expected = [sum(weights[axis][code] for axis, code in enumerate(row)) for row in rows]
    assert found.tolist() == expected


@pytest.mark.parametrize("half", [3, module.HALF])
def test_every_key_of_a_node_is_weighed(monkeypatch: pytest.MonkeyPatch, half: int) -> None:
    monkeypatch.setattr(module, "HALF", half)
    weights = [np.array([100.0, 200, 300, 400]), np.array([10.0, 20, 30]), np.array([1.0, 2])]
    found = an_example().weigh_keys(np.arange(24), weights, [4, 3, 2])
    assert found.tolist() == [sum(codes) for codes in product(*weights)]


@pytest.mark.parametrize("place", range(3))
def test_keys_are_weighed_where_only_one_large_axis_has_several_values(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """There is nothing to halve then, whatever the size."""
    monkeypatch.setattr(module, "HALF", 3)
    cards = [1, 1, 1]
    cards[place] = 10
    weights = weights_of(cards)
    found = an_example().weigh_keys(np.arange(10), weights, cards)
    assert found.tolist() == [sum(codes) for codes in product(*weights)]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_the_middle_leaves_the_fewest_cells(cards: list[int]) -> None:
    def cells(split: int) -> int:
        return prod(cards[:split]) + prod(cards[split:])

    assert cells(middle(tuple(cards))) == min(map(cells, range(len(cards) + 1)))


def test_a_memo_forgets_everything_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMO", 100)
    memo = Memo()
    first, second, third = (np.full(6, number) for number in range(3))  # 48 bytes each
    assert memo.put("first", None, first) is first
    memo.put("second", "kept alive", second)
    known = memo.get("second")
    assert known is not None
    assert known[0] == "kept alive"
    assert known[1] is second
    memo.put("third", None, third)
    assert memo.get("first") is memo.get("second") is None
    assert memo.get("third") is not None


def test_one_level_is_raised_or_lowered() -> None:
    assert raised((1, 2, 3), 1) == (1, 3, 3)
    assert raised((1, 2, 3), 2, -1) == (1, 2, 2)


def test_places_without_rows_have_the_sum_0() -> None:
    sums = sums_at(np.array([3, 1, 3]), np.array([1.0, 2, 4]), 5)
    assert sums.tolist() == [0, 2, 0, 5, 0]
    assert sums_at(np.zeros(0, dtype=int), np.zeros(0), 2).dtype == np.float64
