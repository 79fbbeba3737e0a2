"""Rows as a release shows them: at one node, with what they have lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Hierarchy
from shoal.counts import group
from shoal.methods.showing import at_node, counted_at

TREE = Hierarchy.from_lines([[str(i), str(i // 2), "*"] for i in range(6)])
TREES = {"x": TREE}


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12), st.integers(0, 2))
def test_the_granularity_lost_is_what_cells_cover_and_what_is_suppressed(
    records: list[tuple[int, bool]], level: int
) -> None:
    codes = np.array([TREE.maps[level][leaf] for leaf, kept in records if kept], dtype=np.uint8)
    released = counted_at(group(["x"], [codes], [TREE.cardinality(level)]), TREES, {"x": level})
    cells = [(1, 2, 6)[level] / 6 if kept else 1.0 for _, kept in records]
    lost = released.lost(len(records), TREES)
    expected = sum((cell - 1 / 6) / (1 - 1 / 6) for cell in cells) / max(len(records), 1)
    assert lost == pytest.approx(expected)
    assert released.lost(len(records), {}) is None


def test_rows_at_a_node_are_those_that_agree_there() -> None:
    rows = group(
        ["x", "y"],
        [np.array([0, 1, 2, 2], np.uint8), np.array([0, 0, 0, 1], np.uint8)],
        [6, 2],
        np.array([3, 4, 5, 6]),
    )
    shown = at_node(rows, TREES, {"x": 1})
    texts, codes = shown.labels["x"]
    found = [
        (texts[x], int(y), int(n))
        for x, y, n in zip(codes, shown.rows.codes[1], shown.rows.count, strict=True)
    ]
    assert found == [("0", 0, 7), ("1", 0, 5), ("1", 1, 6)]
    fewer = shown.where(shown.rows.count > 5)
    assert fewer.rows.total == 13
