"""Cells: who is in the same one, and in which sets cells are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit.cells import Constraint, cells, refined
from shoal.audit.model import crowd, members

SETS = st.lists(st.sets(st.integers(0, 40), min_size=1), max_size=20)


@given(SETS, st.sets(st.integers(0, 40), min_size=1), st.integers(1, 3))
def test_people_share_a_cell_exactly_if_all_sets_and_their_kind_are_the_same(
    sets: list[set[int]], asked: set[int], count: int
) -> None:
    kinds = np.arange(41, dtype=np.int32) % count
    groups = cells([Constraint(crowd(each), "=", 0) for each in sets], crowd(asked), kinds)
    everyone = sorted(set().union(asked, *sets))
    signatures = {}
    for person in everyone:
        about = tuple(person in each for each in (*sets, asked))
        signatures.setdefault((about, person % count), []).append(person)
    found = [np.flatnonzero(groups.labels == place).tolist() for place in range(len(groups))]
    assert found == list(signatures.values())  # in the order of first members
    assert groups.first.tolist() == [people[0] for people in found]
    assert groups.sizes.tolist() == [len(people) for people in found]
    inside = groups.rows([crowd(each) for each in (*sets, asked)])
    for row, each in zip(inside, (*sets, asked), strict=True):
        assert [bool(one) for one in row] == [people[0] in each for people in found]


@given(SETS)
def test_refining_at_once_and_one_by_one_distinguish_the_same_people(sets: list[set[int]]) -> None:
    start = np.zeros(41, np.int32)
    people = [crowd(each) for each in sets]
    at_once = refined(start, people)
    one_by_one = start
    for each in people:
        one_by_one = refined(one_by_one, [each])
    pairs = set(zip(at_once.tolist(), one_by_one.tolist(), strict=True))
    assert len(pairs) == len(set(at_once.tolist())) == len(set(one_by_one.tolist()))


def test_a_constraint_hashes_by_what_it_says() -> None:
    first, second = Constraint(5, "=", 1), Constraint(5, "=", 1)
    assert hash(first) == hash(second)
    assert hash(first) == hash(first)
    assert first == second != Constraint(5, "<=", 1)
    assert list(members(first.people)) == [0, 2]
