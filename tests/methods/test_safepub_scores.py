"""SafePub's scores: what they are, and how far one record moves them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import floor
from typing import Any

import numpy as np
import pytest

from shoal.counts import Counts, group
from shoal.data.hierarchy import Hierarchy
from shoal.lattice import Node
from shoal.methods.safepub import scores
from shoal.methods.safepub.scores import SCORES, Candidates, candidates

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
    for j, weight in enumerate(weights if name == "entropy" else ()):
        kept: Counter[int] = Counter()
        for group_, c in sizes.items():
            kept[group_[j]] += phi(c)
        total += weight * sum(size * (1 - Fraction(size, n)) for size in kept.values())
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


@pytest.mark.parametrize(("name", "importance"), [("discernibility", 1), ("entropy", 0)])
def test_large_samples_come_close_to_what_is_claimed(name: str, importance: int) -> None:
    where = space(TWO, TWO, importance={"1": Fraction(importance)})
    assert (
        Fraction(98, 100)
        < moved(name, where, many_and_few(where, 3), many_and_few(where, 4), 6)
        < 1
    )


@pytest.mark.parametrize("name", ["discernibility", "entropy", "classification"])
def test_a_score_that_jumps_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the ramp a group counts from k on, all at once."""
    monkeypatch.setattr(scores, "ramp", lambda sizes, k: np.where(sizes >= k, sizes, 0.0))
    where = space(TWO, None, classes=[1]) if name == "classification" else space(TWO, TWO)
    assert moved(name, where, many_and_few(where, 9), many_and_few(where, 10), 10) > 1
