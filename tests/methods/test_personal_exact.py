"""The lowest risk of every record: what brute force finds, and no level could be finer."""

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import TooLargeError
from shoal.methods.method import silent
from shoal.methods.personal import People, Personal, exact
from shoal.methods.personal.crowds import Best, Crowds
from tests.methods.test_personal import some_method, some_people


def brute_force(people: People, row: int) -> dict[tuple[int, ...], tuple[Fraction, Fraction]]:
    """Risk and utility of a row at every node that keeps its utility, by counting one by one."""
    everyone, trees = people.crowds.everyone, people.crowds.hierarchies
    want = people.wanted[people.want[row]]
    leaves = [int(codes[row]) for codes in people.rows.codes[: len(trees)]]
    found = {}
    for node in product(*(range(tree.height + 1) for tree in trees)):
        codes = [
            int(tree.maps[level][leaf])
            for tree, level, leaf in zip(trees, node, leaves, strict=True)
        ]
        fits = [
            int(number)
            for number, *those in zip(everyone.count, *everyone.codes, strict=True)
            if all(
                tree.maps[at][leaf] == code
                for tree, at, leaf, code in zip(trees, node, those, codes, strict=True)
            )
        ]
        worth = people.utility.of(codes, node)
        if worth * people.utility.unit >= want.floor:
            found[node] = want.sensitivity.of(codes, node) / sum(fits), worth
    return found


@pytest.mark.parametrize("seed", range(150))
def test_exact_is_what_brute_force_finds_and_no_level_could_be_finer(seed: int) -> None:
    table, method = some_people(seed), some_method(seed)
    people = People.of(method, table)
    levels = people.levels(people.solve(Seeded(1), silent))
    for row in range(people.rows.distinct):
        allowed = brute_force(people, row)
        mine = tuple(levels[row].tolist())
        least = min(risk for risk, _ in allowed.values())
        assert allowed[mine][0] == least
        finer = [
            node
            for node in allowed
            if node != mine and all(a <= b for a, b in zip(node, mine, strict=True))
        ]
        assert all(allowed[node][0] > least for node in finer)


def is_caught() -> bool:
    for seed in range(20):
        try:
            test_exact_is_what_brute_force_finds_and_no_level_could_be_finer(seed)
        except AssertionError:
            return True
    return False


def test_a_twin_that_looks_at_every_second_node_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    offer = Best.offer
    monkeypatch.setattr(
        Best,
        "offer",
        lambda self, node, among=None: 0 if sum(node) % 2 else offer(self, node, among),
    )
    assert is_caught()


def test_a_twin_that_refines_by_what_the_record_alone_allows_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    members = Crowds.members

    def alone(self: Crowds, node: Any, rows: Any) -> Any:
        return members(self, (0,) * len(node), rows)

    monkeypatch.setattr(Crowds, "members", alone)
    assert is_caught()


def test_a_lattice_too_large_to_search_is_refused_with_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exact, "LARGEST", 11)
    with pytest.raises(TooLargeError, match=r"12 nodes, .*genetic"):
        Personal("0.5").release(some_people(1))


EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5), (0, 5)]


def graph(edges: list[tuple[int, int]], vertices: int) -> Table:
    """The table of the reduction in docs/proofs/personal.md: the record first, then the edges."""
    ends = [(), *edges]
    rows = [["b" if vertex in edge else "a" for vertex in range(vertices)] for edge in ends]
    names = [f"v{vertex}" for vertex in range(vertices)]
    tree = Hierarchy.from_lines([["a", "*"], ["b", "*"]])
    frame = pl.DataFrame(rows, schema=names, orient="row")
    trees = dict.fromkeys(names, tree)
    return shoal.table(frame, quasi=names, hierarchies=trees, rows_are_people=True)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_exact_solver_finds_densest_subgraphs(size: int) -> None:
    """So whoever could find lowest risks quickly could find these."""
    vertices = 6
    densest = max(
        sum(set(edge) <= set(chosen) for edge in EDGES)
        for chosen in combinations(range(vertices), size)
    )
    method = Personal(Fraction(2 * vertices - size, 2 * vertices))
    people = People.of(method, graph(EDGES, vertices))
    (chosen,) = people.solve(Seeded(1), silent)
    leaves = [codes[people.wanted[0].rows] for codes in people.crowds.everyone.codes]
    record = int(np.flatnonzero(np.stack(leaves).sum(axis=0) == 0)[0])
    risk = Fraction(vertices - size, densest + 1)
    assert chosen.risk[record] == pytest.approx(float(risk))
