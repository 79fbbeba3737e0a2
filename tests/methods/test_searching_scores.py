"""SafePub's scores: what they are, and how far one record moves them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import floor, log
from typing import Any

import numpy as np
import pytest

from shoal.counts import Counts, group
from shoal.data.hierarchy import Hierarchy
from shoal.lattice import Node
from shoal.methods.searching import scores
from shoal.methods.searching.scores import SCORES, Candidates, candidates

Record = tuple[int, ...]  # the code of every column, of a leaf where it has a hierarchy

THREE = Hierarchy.from_lines([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])
TWO = Hierarchy.from_lines([["0", "*"], ["1", "*"]])
FOUR = Hierarchy.from_lines([[leaf, "pq" if leaf in "pq" else "rs", "*"] for leaf in "pqrs"])


def space(*trees: Hierarchy | None, classes: Sequence[int] = (), **options: Any) -> Candidates:
    """Columns with these hierarchies, or with none."""
    names = [str(j) for j in range(len(trees))]
    given = {"floor": {}, "ceiling": {}, "importance": {}, **options}
    hierarchies = {name: tree for name, tree in zip(names, trees, strict=True) if tree}
    return candidates(names, hierarchies, **given, classes=[str(j) for j in classes])


CHAIN = space(THREE)
GRID = space(TWO, TWO, importance={"0": Fraction(1), "1": Fraction(1, 2)})
MIXED = space(TWO, None)
CLASS = space(TWO, None, classes=[1])
CLASSES = space(TWO, None, None, classes=[1, 2])
PREDICTED = space(THREE, TWO, classes=[1])  # which has a hierarchy, and stays as it is


def cards(where: Candidates) -> list[int]:
    return [
        where.hierarchies[name].cardinality(0) if name in where.hierarchies else 2
        for name in where.names
    ]


def counts(where: Candidates, records: Sequence[Record]) -> Counts:
    columns = [
        np.array([record[j] for record in records], dtype=np.uint8) for j in range(len(where.names))
    ]
    return group(where.names, columns, cards(where))


def nodes(where: Candidates) -> list[Node]:
    return [where.node(number) for number in range(where.size)]


# What the scores are, from their definitions


def _kept_share(name: str, tree: Hierarchy, level: int, code: int) -> Fraction:
    """The share of a column that a value keeps, for the scores that add up over columns."""
    if name == "granularity":
        covered = sum(int(each) == code for each in tree.maps[level])
        return Fraction(tree.leaves - covered, tree.leaves)
    if name == "intensity":
        return Fraction(tree.height - level, tree.height)
    return Fraction(0)


def _information(where: Candidates, sizes: Counter[Record], record: Record) -> int:
    """What the values of a group tell, by how many of all records have each."""
    one, most = scores.EntropyScore()._most(where)
    told = 0
    for j, column in enumerate(where.names):
        frequency = sum(c for other, c in sizes.items() if other[j] == record[j])
        steps = sum(one // step for step in range(frequency, sizes.total()))
        told += where.importance.get(column, 0) * min(steps, most.get(column, 0))
    return told


def plain(name: str, where: Candidates, records: Sequence[Record], k: int, node: Node) -> Fraction:
    """A node's score, record by record in fractions."""

    def phi(c: int) -> int:
        return max(0, min(c, 2 * c - k))

    trees = [where.hierarchies.get(column) for column in where.names]
    weights = [where.importance.get(column, 0) for column in where.names]

    def values(record: Record) -> Record:
        return tuple(
            int(tree.maps[level][code]) if tree else code
            for tree, level, code in zip(trees, node, record, strict=True)
        )

    sizes, n = Counter(map(values, records)), max(len(records), 1)
    total = Fraction(0)
    for group_, c in sizes.items():
        by_size = {
            "discernibility": phi(c) * (1 - Fraction(c, n)),
            "groups": Fraction(min(k, max(0, 2 * c - k))),
        }
        total += by_size.get(name, Fraction(0))
        for j, (tree, weight) in enumerate(zip(trees, weights, strict=True)):
            if tree:
                share = _kept_share(name, tree, node[j], group_[j])
                total += phi(c) * weight * floor(share * scores.GRID)
    if name == "entropy":
        total += sum(phi(c) * _information(where, sizes, group_) for group_, c in sizes.items())
    if name == "classification":
        for j in (where.names.index(column) for column in where.classes):
            best: dict[Record, Counter[int]] = {}
            for group_, c in sizes.items():
                features = tuple(
                    code for i, code in enumerate(group_) if where.names[i] not in where.classes
                )
                best.setdefault(features, Counter())[group_[j]] += phi(c)
            total += sum(max(found.values()) for found in best.values())
    return total


SPACES = {
    **{f"{name} on a {what}": (name, where) for name in SCORES if name != "classification"
       for what, where in {"chain": CHAIN, "grid": GRID, "mixed table": MIXED}.items()},
    "classification": ("classification", CLASS),
    "classification by two": ("classification", CLASSES),
    "classification of leaves": ("classification", PREDICTED),
}  # fmt: skip
every_score = pytest.mark.parametrize(("name", "where"), SPACES.values(), ids=SPACES)


def samples(where: Candidates, most: int) -> Iterator[list[Record]]:
    """All with at most so many records."""
    records = list(product(*map(range, cards(where))))
    for size in range(most + 1):
        yield from map(list, combinations_with_replacement(records, size))


def size_for(where: Candidates) -> int:
    return {3: 6, 4: 5, 6: 4, 8: 3}[len(list(product(*map(range, cards(where)))))]


def scored(name: str, where: Candidates, records: Sequence[Record], k: int) -> list[Fraction]:
    """The shipped scores of all nodes, less that of the last: only differences matter."""
    found = SCORES[name].on(where, counts(where, records), k)
    last, *others = [found.of(node) * found.unit for node in reversed(nodes(where))]
    return [score - last for score in (*reversed(others), last)]


@every_score
def test_a_score_is_what_it_says(name: str, where: Candidates) -> None:
    for records in samples(where, size_for(where) - 2):
        for k in (1, 2, 3, 4):
            expected = [plain(name, where, records, k, node) for node in nodes(where)]
            assert scored(name, where, records, k) == [score - expected[-1] for score in expected]


# How far one record moves them


def widest(name: str, where: Candidates, most: int, sizes: Sequence[int] = range(1, 7)) -> Fraction:
    """How much more a record adds to the score of one node than to that of another, as a share of
    what is claimed.
    """
    found = Fraction(0)
    for k in sizes:
        spread = SCORES[name].spread(where, k)
        known = {
            tuple(sorted(records)): scored(name, where, records, k)
            for records in samples(where, most)
        }
        for records, after in known.items():
            for i in range(len(records)):
                before = known[records[:i] + records[i + 1 :]]
                changes = [new - old for new, old in zip(after, before, strict=True)]
                found = max(found, (max(changes) - min(changes)) / spread)
    return found


@every_score
def test_no_record_moves_a_score_further_than_it_claims(name: str, where: Candidates) -> None:
    found = widest(name, where, size_for(where))
    assert found <= 1
    if name not in ("discernibility", "entropy"):  # which get there in large samples only
        assert found == 1


def moved(name: str, where: Candidates, before: Counts, after: Counts, k: int) -> Fraction:
    """The same for one pair of samples."""
    old, new = (SCORES[name].on(where, sample, k) for sample in (before, after))
    changes = [new.of(node) * new.unit - old.of(node) * old.unit for node in nodes(where)]
    return (max(changes) - min(changes)) / SCORES[name].spread(where, k)


def many_and_few(where: Candidates, few: int) -> Counts:
    """Many records alike, and a few that both of two columns tell apart from them."""
    return group(where.names, [np.array([0, 1], dtype=np.uint8)] * 2, [2, 2], np.array([1000, few]))


def test_large_samples_come_close_to_what_is_claimed_of_discernibility() -> None:
    where = space(TWO, TWO)
    before, after = many_and_few(where, 3), many_and_few(where, 4)
    assert Fraction(98, 100) < moved("discernibility", where, before, after, 6) < 1


def test_large_samples_come_close_to_what_is_claimed_of_entropy() -> None:
    """Where the second column is at its root, a rare value gains two records; where it is not, the
    same value only gets more frequent, as the new record is alone there.
    """
    first, second = (
        Hierarchy.from_lines([[f"{leaf}", "*"] for leaf in range(leaves)]) for leaves in (900, 2000)
    )
    where = space(first, second, importance={"1": Fraction(0)})
    ones = np.arange(2000)
    codes = [np.array([0, *(ones * 0 + 1), 0]), np.array([0, *ones, 1])]
    columns = [column.astype(np.uint16) for column in codes]

    def sample(more: int) -> Counts:
        return group(where.names, columns, [900, 2000], np.array([99, *(ones * 0 + 40), more]))

    before = sample(0).where(sample(0).count > 0)
    assert Fraction(9, 10) < moved("entropy", where, before, sample(1), 100) < 1


def test_the_information_of_a_value_is_close_to_its_logarithm() -> None:
    where = space(FOUR)
    sizes = np.array([6000, 3000, 900, 100])
    sample = group(where.names, [np.arange(4, dtype=np.uint8)], [4], sizes)
    one, most = scores.EntropyScore()._most(where)
    expected = sum(size * min(log(10_000 / size), log(4)) for size in sizes.tolist())
    found = SCORES["entropy"].on(where, sample, 5).of((0,))
    assert found / one == pytest.approx(expected, rel=1e-3)
    assert most == {"0": int(one * log(4))}


def test_information_without_a_bound_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that lets a value tell more than its column can."""
    where = space(TWO)
    codes = [np.array([0, 1], dtype=np.uint8)]
    three, four = (group(where.names, codes, [2], np.array([5000, size])) for size in (3, 4))
    claimed = SCORES["entropy"].spread(where, 6)
    assert moved("entropy", where, three, four, 6) <= 1
    one, _ = scores.EntropyScore()._most(where)
    monkeypatch.setattr(scores.EntropyScore, "_most", lambda score, nodes: (one, {"0": 10 * one}))
    monkeypatch.setattr(scores.EntropyScore, "spread", lambda score, nodes, k: claimed)
    assert moved("entropy", where, three, four, 6) > 1


@pytest.mark.parametrize("name", ["discernibility", "entropy", "classification"])
def test_a_score_that_jumps_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the ramp a group counts from k on, all at once."""
    monkeypatch.setattr(scores, "ramp", lambda sizes, k: np.where(sizes >= k, sizes, 0.0))
    where = space(TWO, None, classes=[1]) if name == "classification" else space(TWO, TWO)
    assert moved(name, where, many_and_few(where, 9), many_and_few(where, 10), 10) > 1
