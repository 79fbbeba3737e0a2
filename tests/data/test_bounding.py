"""Which rows of people are drawn together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.chance import Seeded
from shoal.data import bounding
from shoal.data.bounding import blocks, chosen_rows


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of at most 3 people and 10 rows."""
    monkeypatch.setattr(bounding, "DRAWN_TOGETHER", 3)
    monkeypatch.setattr(bounding, "ROWS_TOGETHER", 10)


@pytest.mark.usefixtures("small_blocks")
def test_a_block_is_full_before_the_next_one_begins() -> None:
    sizes = np.array([2, 2, 2, 2, 9, 1, 30, 4, 6, 5, 5, 1])
    together = [sizes[block].tolist() for block in blocks(sizes)]
    assert together == [[2, 2, 2], [2], [9, 1], [30], [4, 6], [5, 5], [1]]


@pytest.mark.usefixtures("small_blocks")
def test_a_block_does_not_depend_on_who_comes_after_it() -> None:
    sizes = np.random.default_rng(4).integers(1, 13, 60)
    every = blocks(sizes)
    for known in range(1, 60):
        assert blocks(sizes[:known])[:-1] == every[: len(blocks(sizes[:known])) - 1]
    for first in every:
        rest = [
            slice(block.start + first.start, block.stop + first.start)
            for block in blocks(sizes[first.start :])
        ]
        assert rest == [block for block in every if block.start >= first.start]


@given(st.lists(st.integers(1, 5), max_size=12), st.integers(1, 3), st.integers(0, 99))
def test_who_has_few_rows_does_not_change_what_others_draw(
    sizes: list[int], rows: int, seed: int
) -> None:
    people = np.repeat(np.arange(len(sizes), dtype=np.uint8), sizes)
    many = np.isin(people, [person for person, size in enumerate(sizes) if size > rows])
    kept = chosen_rows(people, rows, Seeded(seed))
    assert kept[~many].all()
    assert kept[many].tolist() == chosen_rows(people[many], rows, Seeded(seed)).tolist()
