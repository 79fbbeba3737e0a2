"""How people are put together: by splits, and along a curve."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.counts import Counts
from shoal.data.hierarchy import Hierarchy
from shoal.methods.coincident.grouping import by_curve, by_splits


def rows_of(draw: np.random.Generator, rows: int, sizes: list[int]) -> Counts:
    codes = tuple(draw.integers(0, size, rows).astype(np.uint8) for size in sizes)
    return Counts(
        tuple(map(str, range(len(sizes)))), codes, tuple(sizes), draw.integers(0, 9, rows)
    )


def tree_of(draw: np.random.Generator, size: int) -> Hierarchy:
    """Leaves in tens at most, these in values of any length, below one root."""
    ends = [
        np.sort(draw.integers(0, size // width + 1, size)).astype(str).tolist() for width in (4, 2)
    ]
    lines = [
        [str(leaf), f"{high}.{low}", high, "*"]
        for leaf, (low, high) in enumerate(zip(*ends, strict=True))
    ]
    return Hierarchy.from_lines(lines)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_parts_have_everybody_once_and_reach_over_those_in_them(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 30, draw.integers(1, 4)).tolist()
    rows = rows_of(draw, int(draw.integers(1, 40)), sizes)
    runs = by_splits(rows, int(draw.integers(2, 6)))
    assert (np.bincount(runs.rows, runs.counts, rows.distinct) == rows.count).all()
    assert runs.part is not None and runs.low is not None and runs.high is not None  # noqa: PT018
    places = np.array(rows.codes)[:, runs.rows]
    assert ((runs.low[:, runs.part] <= places) & (places <= runs.high[:, runs.part])).all()
    assert (runs.high < np.array(sizes)[:, None]).all()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_a_curve_has_everybody_once_and_leaves_a_value_after_all_of_it(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 30, draw.integers(1, 4)).tolist()
    rows, trees = (
        rows_of(draw, int(draw.integers(1, 40)), sizes),
        [tree_of(draw, size) for size in sizes],
    )
    runs = by_curve(rows, trees)
    assert (np.bincount(runs.rows, runs.counts, rows.distinct) == rows.count).all()
    first = by_curve(
        Counts(("0",), (np.arange(sizes[0]),), (sizes[0],), np.ones(sizes[0], dtype=np.int64)),
        trees[:1],
    )
    for codes in trees[0].maps:
        visited = codes[first.rows]
        assert (visited[1:] != visited[:-1]).sum() + 1 == len(set(visited.tolist()))


def test_a_curve_through_more_columns_than_a_number_has_bits_for_takes_the_widest_values() -> None:
    draw = np.random.default_rng(1)
    rows, trees = rows_of(draw, 50, [20] * 40), [tree_of(draw, 20)] * 40
    runs = by_curve(rows, trees)
    assert sorted(runs.rows.tolist()) == list(range(50))


def test_a_part_at_the_end_of_a_column_of_256_places_begins_there() -> None:
    rows = Counts(
        ("a", "b"),
        (np.array([0, 255, 255, 255], dtype=np.uint8), np.arange(4, dtype=np.uint8)),
        (256, 4),
        np.ones(4, dtype=np.int64),
    )
    runs = by_splits(rows, 2)
    assert runs.low is not None
    assert runs.low[0].tolist() == [0, 255]


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6))
def test_two_people_part_where_the_widest_value_between_them_ends_nearest_to_the_middle(
    seed: int,
) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 40))
    levels = [
        np.sort(draw.choice(size - 1, int(draw.integers(0, size)), replace=False))
        for _ in range(int(draw.integers(0, 4)))
    ]
    before, after = sorted(draw.choice(size, 2, replace=False).tolist())
    rows = Counts(("age",), (np.array([before, after]),), (size,), np.array([2, 2]))
    runs = by_splits(rows, 2, [levels])
    assert runs.low is not None and runs.high is not None  # noqa: PT018
    end = int(runs.high[0, 0])
    assert runs.low.tolist() == [[0, end + 1]]
    assert before <= end < after
    inside = [[place for place in range(before, after) if place in own] for own in levels]
    widest = next((own for own in reversed(inside) if own), list(range(before, after)))
    middle = (before + after - 1) / 2
    assert end in widest
    assert abs(end - middle) == min(abs(place - middle) for place in widest)


def test_splits_fall_between_groups() -> None:
    rows = Counts(("age",), (np.arange(12, dtype=np.uint8),), (12,), np.full(12, 2))
    runs = by_splits(rows, 3)
    assert runs.rows.tolist() == sorted(runs.rows.tolist())
    assert runs.part is not None
    ends = np.cumsum(runs.counts)[np.flatnonzero(np.diff(runs.part, append=-1))]
    assert (ends % 3 == 0).all()
