"""Samples: their weights make them right, and memory holds them."""

from math import log10

import numpy as np
import numpy.typing as npt
import pytest

from shoal.views import View, Views
from shoal.views.cells import Constraints, components
from shoal.views.counting import Counted
from shoal.views.importance import ENOUGH, ENTRIES, estimate
from tests.views.cases import chapter, puzzles


def test_weights_are_what_makes_importance_right() -> None:
    """A table that is likely to be drawn counts for less: without that, shares would be off."""
    views = chapter("6.3A", "6.3B", "6.5A")
    (part, *_) = components(views)
    exact = Counted.of(part.constraints)
    guess = estimate(part.constraints, 50_000, np.random.default_rng(1))
    for c, shares in enumerate(exact.shares):
        for v, share in enumerate(shares):
            assert abs(guess.shares[c, v] - float(share)) <= 6 * guess.deviations[c, v] + 1e-12
    assert 10**guess.logarithm == pytest.approx(exact.tables, rel=0.05)


class Watched(np.random.Generator):
    """Chance of which is known how much was drawn of it each time."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: list[int] = []

    def random(self, size: int) -> npt.NDArray[np.float64]:  # type: ignore[override]
        self.drawn.append(size)
        return super().random(size)


def crossing(people: int, size: int = 10) -> Constraints:
    """Two tables of groups that have nothing to do with each other: few samples can be finished."""
    source = np.random.default_rng(1)
    value = source.integers(0, 5, people)
    shown = []
    for name in "ab":
        turn = source.permutation(people)
        for at in range(0, people, size):
            own = turn[at : at + size]
            shown.append(View(f"{name}{at}", own.tolist(), value[own].tolist()))
    (part,) = components(Views(people, shown))
    return part.constraints


def test_drawing_ends_once_no_sample_can_be_finished_and_leaves_out_those_that_cannot() -> None:
    source = Watched(1)
    estimated = estimate(crossing(200), 2000, source)
    assert estimated.effective == 0
    assert len(source.drawn) < 200
    assert source.drawn == sorted(source.drawn, reverse=True)
    assert sum(source.drawn) < 2000 * 200 / 4


@pytest.mark.parametrize(("people", "size"), [(12, 4), (20, 4), (24, 6)])
def test_samples_that_are_left_out_still_count_as_samples(people: int, size: int) -> None:
    puzzle, source = crossing(people, size), Watched(1)
    exact, found = Counted.of(puzzle), estimate(puzzle, 20_000, source)
    finished = source.drawn[-1]
    assert ENOUGH < finished < 10_000
    for own, about, off in zip(exact.shares, found.shares, found.deviations, strict=True):
        assert all(
            abs(float(share) - one) <= 6 * more + 1e-12
            for share, one, more in zip(own, about, off, strict=True)
        )
    digits = log10(exact.tables)
    assert found.logarithm == pytest.approx(digits, abs=0.05)
    twin = found.logarithm + log10(20_000 / finished)  # by those alone that were finished
    assert twin != pytest.approx(digits, abs=0.05)


def test_samples_are_fewer_where_memory_is_short_and_none_where_these_are_useless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (part,) = components(next(iter(puzzles())))
    each = (len(part.constraints.cells) + len(part.constraints.bags)) * part.constraints.values
    for able, drawn in ((5000, 2000), (1500, 1500), (ENOUGH, ENOUGH), (ENOUGH - 1, 0)):
        monkeypatch.setattr("shoal.views.importance.ENTRIES", able * each + each - 1)
        source = Watched(1)
        estimated = estimate(part.constraints, 2000, source)
        assert [*source.drawn, 0][0] == drawn
        assert estimated.effective <= drawn
        assert (estimated.effective > 0) == (drawn > 0)


def test_samples_of_very_many_people_are_not_begun() -> None:
    pairs = tuple((1, (at, at + 1)) for at in range(30_000))
    ring = Constraints((*pairs[:-1], (1, (0, 29_999))), ((1, 1, 0, 0, 0),) * 30_000)
    assert len(ring.cells) * ring.values * ENOUGH > ENTRIES
    source = Watched(1)
    assert estimate(ring, 10_000, source).effective == 0
    assert source.drawn == []
