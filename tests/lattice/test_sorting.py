"""Small groups found by sorting are those of a plain group-by, and so are sums over them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.lattice import Lattice, rollup
from tests.lattice.small import (
    Problem,
    counted,
    many,
    plain_groups,
    problems,
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
