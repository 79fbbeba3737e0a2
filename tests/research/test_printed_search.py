"""SafePub's search as printed: its scores by hand, its steps, and that it keeps no promise."""

from fractions import Fraction

import numpy as np
import pytest

import shoal
from shoal import demo
from shoal.attack.coins import Interval, exp, law, standard
from shoal.chance import Seeded
from shoal.counts import Counts, group
from shoal.data.hierarchy import Hierarchy
from shoal.errors import ParameterError
from shoal.lattice import Node
from shoal.methods.searching.scores import Candidates, candidates
from shoal.releases.release import Release
from shoal.research import printed_search
from shoal.research.printed_search import (
    HardScores,
    PrintedWalk,
    printed_sensitivity,
    printed_walk,
    study_printed,
)

TREE = Hierarchy.from_lines([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])
FLU = Hierarchy.from_lines([["flu", "*"], ["cold", "*"]])
SCORES = ("granularity", "intensity", "discernibility", "entropy", "groups", "classification")


def space(tree: Hierarchy, *, classes: tuple[str, ...] = ()) -> Candidates:
    names = ["x", *classes]
    return candidates(names, {"x": tree}, {}, {}, {}, classes)


def sample(nodes: Candidates, *records: tuple[int, ...], cards: tuple[int, ...]) -> Counts:
    columns = [np.array(column, dtype=np.uint8) for column in zip(*records, strict=True)]
    return group(nodes.names, columns, list(cards))


def test_scores_are_those_of_the_definitions() -> None:
    nodes = space(TREE)
    drawn = sample(nodes, *[(0,)] * 4, *[(1,)] * 2, *[(2,)] * 3, cards=(3,))
    expected = {
        "granularity": [-(4 / 3 + 3 / 3 + 2), -(6 * 2 / 3 + 3 / 3), -9.0],
        "intensity": [-2.0, -9 / 2, -9.0],
        "discernibility": [-((16 + 9) / 9 + 2), -(36 + 9) / 9, -9.0],
        "entropy": [-((16 + 9) / 9 + 2), -(36 + 9) / 9, -9.0],
        "groups": [2.0, 2.0, 0.0],
    }
    for name, values in expected.items():
        scores = HardScores(name, nodes, drawn, 3)
        assert [scores.of((level,)) for level in range(3)] == pytest.approx(values), name


def test_classification_counts_records_of_the_most_frequent_class() -> None:
    nodes = space(FLU, classes=("ill",))
    records = [(0, 0)] * 4 + [(0, 1)] * 3 + [(1, 1)] * 5 + [(1, 0)] * 2
    scores = HardScores("classification", nodes, sample(nodes, *records, cards=(2, 2)), 3)
    assert [scores.of((0, 0)), scores.of((1, 0))] == [4 + 5, 8]


@pytest.mark.parametrize("name", [name for name in SCORES if name != "classification"])
def test_no_record_moves_a_score_further_than_the_theorems_say(name: str) -> None:
    nodes = space(TREE)
    for k in (1, 2, 3):
        for a in range(4):
            for c in range(4):
                records = [(0,)] * a + [(1,)] + [(2,)] * c
                for more in ((0,), (2,)):
                    before, after = (
                        HardScores(name, nodes, sample(nodes, *some, cards=(3,)), k)
                        for some in (records, [*records, more])
                    )
                    for level in range(3):
                        moved = abs(after.of((level,)) - before.of((level,)))
                        assert moved <= printed_sensitivity(name, 1, k) + Fraction(1, 10**9)


def test_line_10_reveals_one_record_with_certainty() -> None:
    """Theorem 10 fails: on the lattice {⊤, g} with one step, (ε, δ) holds for δ = 1 only."""
    nodes, k = space(FLU), 5

    def chosen(count: int) -> dict[Node, Interval]:
        drawn = sample(nodes, *[(0,)] * count, cards=(2,))
        return law(
            lambda chance: printed_walk(nodes, "groups", drawn, k, Fraction(1), 1, chance).node
        )

    five, four = chosen(k), chosen(k - 1)
    assert set(five) == {(0,)}
    assert set(four) == {(1,)}
    for epsilon in (1, 100):
        assert standard(five, four, exp(Fraction(epsilon))).low == 1


def test_a_walk_goes_down_from_the_top_and_returns_the_best_pivot() -> None:
    nodes = space(TREE)
    drawn = sample(nodes, *[(0,)] * 9, *[(1,)] * 9, *[(2,)] * 9, cards=(3,))
    walk = printed_walk(nodes, "groups", drawn, 5, Fraction(100), 10, Seeded(1))
    assert walk == PrintedWalk((0,), ((2,), (1,), (0,)), 3.0)


def test_a_study_warns_and_is_not_a_release() -> None:
    table = demo.table(rows=400)
    method = shoal.SafePub(2, "1e-3", floor={"age": 3, "postcode": 3, "admitted": 3})
    with pytest.warns(UserWarning, match="NOT differentially private"):
        walk, drawn = study_printed(method, table, Seeded(1), steps=5)
    assert len(walk.pivots) == 6
    assert drawn.total < table.rows
    assert not isinstance(walk, Release)
    assert not any(hasattr(walk, name) for name in ("write", "certificate"))


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(ParameterError, match="the paper has no score 'beauty'"):
        printed_sensitivity("beauty", 1, 2)
    table = demo.table(rows=10)
    heights = dict.fromkeys(table.hierarchies, 0)
    with (
        pytest.warns(UserWarning, match=printed_search.WARNING[:20]),
        pytest.raises(ParameterError, match="nothing to search"),
    ):
        study_printed(shoal.SafePub(1, "1e-3", levels=heights), table)
