"""The search from the coarsest node down finds what looking at every node finds."""

from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.hierarchy import Hierarchy
from shoal.errors import InfeasibleError
from shoal.lattice import Lattice
from shoal.lattice.descent import DownwardSearch, Judged
from shoal.measure.loss import Aggregate, Aggregated, Granularity
from shoal.methods.optimal import climb, search
from shoal.privacy.models import DistinctDiversity, KAnonymity, Model, TCloseness, holds_all
from tests.lattice.small import Problem, Rows, counted, problems

MODELS: list[list[Model]] = [
    [KAnonymity(2)],
    [KAnonymity(3), DistinctDiversity("s", 2)],
    [TCloseness("s", "1/4")],
]


@given(
    problems(),
    st.sampled_from(get_args(Aggregate)),
    st.sampled_from(MODELS),
    st.sampled_from([0, 1, "1/4"]),
    st.sampled_from([0.1, 0.5, 0.9]),
)
def test_the_best_node_is_that_of_looking_at_every_one(
    problem: Problem, by: Aggregate, models: list[Model], share: int | str, balance: float
) -> None:
    trees, rows = problem
    lattice = Lattice(counted(trees, rows), trees)
    loss = Aggregated(Granularity(), by, balance=balance)
    limit = int(Fraction(share) * lattice.total)
    judged = {}
    for node in lattice.nodes():
        groups = lattice.groups(node)
        kept = holds_all(models, groups)
        if groups.sizes[~kept].sum() <= limit:
            key = loss.key(loss.by_column(groups, kept))
            judged[node] = tuple(float(f"{part:.9e}") for part in key)
    if not judged:
        with pytest.raises(InfeasibleError):
            search(lattice, models, loss, Fraction(share))
        return
    best = search(lattice, models, loss, Fraction(share))
    assert judged[best.node] == pytest.approx(min(judged.values()), abs=1e-9)
    try:
        found = climb(lattice, models, loss, Fraction(share)).node
    except InfeasibleError:
        return
    for node, key in judged.items():
        if sum(one != two for one, two in zip(node, found, strict=True)) == 1:
            assert key >= judged[found]


def test_nodes_that_cannot_be_best_are_not_grouped() -> None:
    lines = [[str(i), str(i // 2), str(i // 4), "*"] for i in range(8)]
    trees = {f"c{j}": Hierarchy.from_lines(lines) for j in range(4)}
    rows: Rows = [(i % 8, i % 5, i % 3, i % 7, 0) for i in range(200)]
    lattice = Lattice(counted(trees, rows), trees)
    loss = Aggregated(Granularity(), "geometric mean")
    assert search(lattice, [KAnonymity(3)], loss, 1).evaluated < lattice.size / 2


def test_none_where_every_node_suppresses_too_much() -> None:
    lattice = Lattice(counted(*_one()), _one()[0])
    descent = DownwardSearch(lattice, lambda node: Judged(None, 1, 1), 0)
    assert descent.climb() is None


def _one() -> Problem:
    return {"c0": Hierarchy.from_lines([["a", "*"], ["b", "*"]])}, [(0, 0), (1, 0)]
