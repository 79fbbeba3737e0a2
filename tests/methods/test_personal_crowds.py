"""How many people a record could be about at a node, and the best node offered to it."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.lattice import Node
from shoal.methods.personal import People, Personal
from shoal.methods.personal.crowds import EXACT, Best, Crowds, Wanted, comparable
from shoal.methods.personal.models import Worth
from tests.methods.test_personal import TREES, some_method, some_people


def test_a_register_counts_for_the_crowd_and_is_completed_where_it_lacks_people() -> None:
    frame = pl.DataFrame({"town": ["a", "a", "c"], "age": ["1", "1", "2"]})
    table = shoal.table(frame, quasi=["town", "age"], hierarchies=TREES)
    register = shoal.table(
        pl.DataFrame({"town": ["a", "b", "b", "b"], "age": ["1", "1", "1", "7"]})
    )  # of (a, 1) only one
    crowds = People.of(Personal("0.5", register=register), table).crowds
    assert sorted(crowds.everyone.count.tolist()) == [
        1,
        1,
        2,
        2,
    ]  # a second (a, 1), and (c, 2), whom the register lacks
    assert crowds.sizes((1, 0)).max() == 4


def nodes_of(crowds: Crowds) -> list[Node]:
    return list(product(*(range(height + 1) for height in crowds.heights)))


def shown(crowds: Crowds, node: Node, row: int) -> tuple[int, ...]:
    """What everyone's row shows at a node."""
    columns = zip(crowds.hierarchies, node, crowds.everyone.codes, strict=True)
    return tuple(int(tree.maps[level][codes[row]]) for tree, level, codes in columns)


def alike(crowds: Crowds, node: Node, row: int) -> list[int]:
    """Everyone's rows that show the same as one of them."""
    others = range(crowds.everyone.distinct)
    return [other for other in others if shown(crowds, node, other) == shown(crowds, node, row)]


HUNDRED = Hierarchy.from_lines([[str(i), f"{i // 10}_", "*"] for i in range(100)])


def few_of_many(seed: int) -> Table:
    """People in so many cells that these are counted by sorting, and not in an array."""
    draw = np.random.default_rng(seed)
    columns = {name: draw.integers(0, 30, 40).astype(str).tolist() for name in ("a", "b")}
    trees = dict.fromkeys(columns, HUNDRED)
    return shoal.table(pl.DataFrame(columns), quasi=["a", "b"], hierarchies=trees)


@pytest.mark.parametrize("counted", ["in an array", "by sorting"])
@pytest.mark.parametrize("seed", range(6))
def test_crowds_are_those_who_show_the_same(seed: int, counted: str) -> None:
    if counted == "by sorting":
        crowds = People.of(Personal("1/2"), few_of_many(seed)).crowds
    else:
        crowds = People.of(some_method(seed), some_people(seed)).crowds
    count = crowds.everyone.count
    rows = np.arange(crowds.everyone.distinct)
    for node in nodes_of(crowds):
        groups = [alike(crowds, node, row) for row in rows.tolist()]
        assert crowds.sizes(node).tolist() == [int(count[group].sum()) for group in groups]
        members, starts, mine = crowds.members(node, rows[::2])
        parts = np.split(members, starts[1:])
        assert [sorted(parts[one].tolist()) for one in mine.tolist()] == groups[::2]


@pytest.mark.parametrize("seed", range(6))
def test_sums_at_a_node_are_those_of_rows_at_its_levels(seed: int) -> None:
    people = People.of(some_method(seed), some_people(seed))
    crowds = people.crowds
    rows = np.arange(crowds.everyone.distinct)
    for total in (people.utility, people.wanted[0].sensitivity):
        for node in nodes_of(crowds):
            levels = np.tile(np.array(node, dtype=np.uint8), (len(rows), 1))
            expected = [
                int(total.of(shown(crowds, node, row), node) * total.unit) for row in rows.tolist()
            ]
            assert crowds.sum_of(total, rows, levels).tolist() == expected
            assert np.broadcast_to(crowds.sum_at(total, node), len(rows)).tolist() == expected


def test_rows_are_found_among_everyone() -> None:
    register = some_people(3, 9)
    crowds = People.of(Personal("1/2", register=register), some_people(2, 12)).crowds
    order = np.arange(crowds.everyone.distinct)[::-1]
    assert crowds.find([codes[order] for codes in crowds.everyone.codes]).tolist() == order.tolist()


def offered(*nodes: Node, seed: int = 3) -> Best:
    people = People.of(Personal("1/2", measure="depth"), some_people(seed, 12))
    best = Best(people.crowds, people.utility, people.wanted)
    for node in nodes:
        best.offer(node)
    return best


def test_every_row_keeps_the_best_node_offered_whatever_their_order() -> None:
    """The lowest risk, then the highest utility, of those that keep the utility."""
    people = People.of(Personal("1/2", measure="depth"), some_people(3, 12))
    nodes = nodes_of(people.crowds)
    first, last = (offered(*order).chosen()[0] for order in (nodes, nodes[::-1]))
    assert (first.risk == last.risk).all()
    assert (first.worth == last.worth).all()
    want = comparable(people.wanted[0], people.crowds)
    for place, row in enumerate(want.rows.tolist()):
        able = []
        for node in nodes:
            texts = shown(people.crowds, node, row)
            worth = people.utility.of(texts, node) * people.utility.unit
            if worth >= want.floor:
                risk = want.sensitivity.of(texts, node) / int(people.crowds.sizes(node)[row])
                able.append((risk, -worth))
        risk, worth = min(able)
        assert first.risk[place] == pytest.approx(float(risk))
        assert first.worth[place] == -worth


def two_neighbours() -> People:
    """Two people of one town, whose ages are alike at level 1."""
    frame = pl.DataFrame({"town": ["a", "a"], "age": ["0", "1"]})
    table = shoal.table(frame, quasi=["town", "age"], hierarchies=TREES)
    return People.of(Personal("1/2", measure="depth"), table)


@pytest.mark.parametrize("nodes", [[(0, 1), (1, 1)], [(1, 1), (0, 1)]])
def test_of_equal_risks_the_one_of_higher_utility_is_kept(nodes: list[Node]) -> None:
    people = two_neighbours()
    best = Best(people.crowds, people.utility, people.wanted)
    for node in nodes:
        best.offer(node)
    [chosen] = best.chosen()
    assert chosen.risk.tolist() == [1, 1]
    assert chosen.worth.tolist() == [4, 4]
    assert chosen.levels.tolist() == [[0, 1], [0, 1]]


def test_nobody_takes_a_node_below_their_floor_that_others_take() -> None:
    people = two_neighbours()
    [want] = people.wanted
    floors = [5, 4, 3]  # at (0, 1) a record is worth 4
    wanted = [replace(want, floor=floor) for floor in floors]
    best = Best(people.crowds, people.utility, wanted)
    assert best.offer((0, 1)) == 4
    assert [chosen.levels.tolist() for chosen in best.chosen()] == [
        [[0, 0], [0, 0]],
        [[0, 1], [0, 1]],
        [[0, 1], [0, 1]],
    ]


def test_a_node_is_offered_once_and_only_to_those_it_is_offered_to() -> None:
    best = offered()
    assert best.nodes == [(0, 0)]
    assert best.offer((0, 0)) == 0
    nobody = [np.zeros(0, dtype=np.intp)]
    assert best.offer((1, 1), nobody) == 0
    assert best.offer((1, 1)) == 0
    assert offered().offer((1, 1)) > 0
    assert not best.reachable((2, 3))
    assert best.offer((2, 3)) == 0


def test_a_floor_is_a_share_of_the_utility_rounded_up() -> None:
    utility = Worth("depth").sum(TREES)
    rows = np.arange(3)
    for share in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)):
        floor = Wanted.of(utility, utility, share, rows).floor
        assert floor >= share * utility.most > floor - 1


def test_sensitivities_times_people_stay_below_what_floats_tell_apart() -> None:
    people = People.of(Personal("1/2", weights={"town": "1/3"}), some_people(2, 12))
    want = comparable(people.wanted[0], people.crowds)
    assert want.sensitivity is people.wanted[0].sensitivity
    assert want.sensitivity.most * people.crowds.people <= EXACT


def test_sensitivities_that_are_too_large_are_rounded_up_and_by_no_more_than_needed() -> None:
    people = People.of(Personal("1/2", weights={"town": EXACT - 1}), some_people(2, 12))
    given = people.wanted[0].sensitivity
    rounded = comparable(people.wanted[0], people.crowds).sensitivity
    assert given.most * people.crowds.people > EXACT
    assert EXACT / 2 < rounded.most * people.crowds.people <= EXACT
    whole = Fraction(given.most) / given.unit
    assert whole <= Fraction(rounded.most) / rounded.unit <= whole + len(TREES) / rounded.unit
