"""The lattice: the groups of every node equal a plain group-by from the rows."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given

from shoal.data.hierarchy import Hierarchy
from shoal.errors import ColumnError, ParameterError
from shoal.lattice import Lattice
from tests.lattice.small import (
    Problem,
    Rows,
    a_larger_lattice,
    counted,
    exhaustive,
    many,
    plain_groups,
    problems,
    wide_problems,
)


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
