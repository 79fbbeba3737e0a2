"""The exact law of all trees that the shipped code grows, for all small tables and neighbours."""

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from math import exp, inf, log
from typing import Any

import numpy as np
import pytest

from shoal.chance import Chance, Seeded
from shoal.counts import Counts, group
from shoal.data.hierarchy import groups, suppress
from shoal.methods.refining import Boxes, Refinable, grow, growing, public_order
from shoal.privacy.refining import RefiningParameters, refining_parameters

TREES = [groups({"a": ["0", "1"], "b": ["2"]}), suppress(["x", "y"])]
DOMAIN = [(i, j) for i in range(3) for j in range(2)]
COLUMNS = Refinable.wholly(TREES)
STEPS = public_order(COLUMNS).steps
EPSILON = "1"

Tree = frozenset[tuple[Any, ...]]


def counts(records: tuple[tuple[int, int], ...]) -> Counts:
    columns = [np.array([record[j] for record in records], dtype=np.uint8) for j in range(2)]
    return group(["n", "c"], columns, [3, 2])


def tables(most: int) -> Iterator[tuple[tuple[int, int], ...]]:
    for size in range(most + 1):
        yield from combinations_with_replacement(DOMAIN, size)


def shown(rows: Counts, boxes: Boxes) -> Tree:
    """Which box every leaf of a distinct row is in: its levels and values."""
    return frozenset(
        (
            int(rows.codes[0][i]),
            int(rows.codes[1][i]),
            *boxes.levels[boxes.depth[boxes.box[i]]].tolist(),
        )
        for i in range(rows.distinct)
    )


class Path:
    """Takes one path through passed and failed tests, with its exact probability."""

    def __init__(self, parameters: RefiningParameters, path: list[bool]) -> None:
        self.parameters, self.path, self.at, self.weight = parameters, path, 0, 1.0

    def exceed(self, above: Any, parameters: RefiningParameters, chance: Chance) -> Any:
        outcomes = []
        for m in above.tolist():
            if self.at == len(self.path):
                self.path.append(True)
            passes = self.path[self.at]
            self.at += 1
            self.weight *= tail(float(parameters.scale), m if passes else 1 - m)
            outcomes.append(passes)
        return np.array(outcomes, dtype=np.bool_)


def tail(scale: float, m: int) -> float:
    """P[z > −m]; P[z ≤ −m] is `tail(scale, 1 − m)`."""
    ratio = exp(-1 / scale)
    return 1 - ratio**m / (1 + ratio) if m > 0 else ratio ** (1 - m) / (1 + ratio)


def law(
    rows: Counts,
    parameters: RefiningParameters,
    threshold: int,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., Boxes] = grow,
) -> dict[Tree, float]:
    found: dict[Tree, float] = {}
    path: list[bool] = []
    while True:
        tests = Path(parameters, path)
        monkeypatch.setattr(growing, "exceed", tests.exceed)
        boxes = run(rows, COLUMNS, STEPS, parameters, threshold, Seeded(1))
        tree = shown(rows, boxes)
        found[tree] = found.get(tree, 0.0) + tests.weight
        while path and not path[-1]:
            path.pop()
        if not path:
            return found
        path[-1] = False


def worst(
    parameters: RefiningParameters,
    threshold: int,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., Boxes] = grow,
) -> float:
    """The largest log-ratio of what two neighbours show of the records that both have."""
    laws = {
        records: law(counts(records), parameters, threshold, monkeypatch, run)
        for records in tables(3)
    }
    found = 0.0
    for records, one in laws.items():
        for place in range(len(records)):
            fewer = records[:place] + records[place + 1 :]
            both = {(n, c) for n, c in fewer}
            ratios = _ratios(_seen(one, both), _seen(laws[fewer], both))
            found = max(found, *ratios)
    return found


def _seen(law_of: dict[Tree, float], both: set[tuple[int, int]]) -> dict[Tree, float]:
    """The law of the boxes of records that both tables have."""
    seen: dict[Tree, float] = {}
    for tree, weight in law_of.items():
        part = frozenset(box for box in tree if box[:2] in both)
        seen[part] = seen.get(part, 0.0) + weight
    return seen


def _ratios(one: dict[Tree, float], other: dict[Tree, float]) -> list[float]:
    ratios = [0.0]
    for tree in one.keys() | other.keys():
        if not one.get(tree) or not other.get(tree):
            ratios.append(inf)
        else:
            ratios.append(abs(log(one[tree] / other[tree])))
    return ratios


@pytest.mark.parametrize("threshold", [-2, 0, 1, 2])
def test_trees_of_neighbours_differ_by_epsilon_at_most(
    threshold: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = refining_parameters(EPSILON, len(STEPS))
    assert worst(parameters, threshold, monkeypatch) <= float(EPSILON) * (1 + 1e-9)


class Twin(RefiningParameters):
    """Parameters without a bias, or with a fraction of the noise."""

    @property
    def bias(self) -> int:
        return 0

    @property
    def cut(self) -> int:
        return 1_000


def _counted_twice(rows: Counts, *rest: Any) -> Boxes:
    from dataclasses import replace

    return grow(replace(rows, count=3 * rows.count), *rest)


def test_twins_differ_by_more(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = refining_parameters(EPSILON, len(STEPS))
    limit = float(EPSILON) * 1.05
    narrow = RefiningParameters(parameters.epsilon, parameters.steps, parameters.scale / 4)
    assert worst(narrow, 1, monkeypatch) > limit
    blunt = Twin(parameters.epsilon, parameters.steps, parameters.scale * 2 / 3)
    assert worst(blunt, 1, monkeypatch) > limit
    assert worst(parameters, 2, monkeypatch, _counted_twice) > limit


def _by_the_true_count(above: Any, parameters: RefiningParameters, chance: Chance) -> Any:
    return above > 0


def test_a_test_by_the_true_count_shows_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "exceed", _by_the_true_count)
    parameters = refining_parameters(EPSILON, len(STEPS))
    two, three = counts(((0, 0), (0, 0))), counts(((0, 0), (0, 0), (0, 0)))
    trees = [
        shown(rows, grow(rows, COLUMNS, STEPS, parameters, 2, Seeded(1))) for rows in (two, three)
    ]
    assert trees[0] != trees[1]


def test_noise_is_drawn_for_every_test_on_its_own() -> None:
    parameters = refining_parameters(EPSILON, len(STEPS))
    above = np.zeros(20_000, dtype=np.int64)
    share = growing.exceed(above, parameters, Seeded(3)).mean()
    expected = tail(float(parameters.scale), 0)
    assert abs(share - expected) < 5 * (expected * (1 - expected) / 20_000) ** 0.5


def test_dense_regions_end_fine_and_sparse_ones_coarse() -> None:
    records = ((0, 0),) * 500 + ((0, 1),) * 400 + ((1, 0),) * 3 + ((2, 1),) * 300
    rows = counts(records)
    parameters = refining_parameters("1", len(STEPS))
    boxes = grow(rows, COLUMNS, STEPS, parameters, 30, Seeded(0))
    levels = {
        (int(n), int(c)): tuple(boxes.levels[boxes.depth[box]].tolist())
        for n, c, box in zip(rows.codes[0], rows.codes[1], boxes.box, strict=True)
    }
    assert levels[0, 0] == levels[0, 1] == (0, 0)
    assert levels[2, 1] == (0, 0)
    assert max(levels[1, 0]) > 0
    assert boxes.sizes(rows).sum() == rows.total


def test_an_empty_table_has_no_boxes() -> None:
    boxes = grow(counts(()), COLUMNS, STEPS, refining_parameters("1", 3), 0, Seeded(1))
    assert len(boxes.box) == 0


def test_the_first_boxes_are_the_cells_at_the_ceilings() -> None:
    columns = Refinable(TREES, [[1, 0], [0]], [1.0, 1.0])
    order = public_order(columns).steps
    assert [(step.column, step.level) for step in order] == [(0, 0)]
    rows = counts(((0, 0), (1, 0), (1, 1), (2, 1)))
    boxes = grow(rows, columns, order, refining_parameters("1", 1), 10**6, Seeded(1))
    shared = {(int(n), int(c)): int(box) for n, c, box in zip(*rows.codes, boxes.box, strict=True)}
    assert shared[0, 0] == shared[1, 0]
    assert len({shared[0, 0], shared[1, 1], shared[2, 1]}) == 3
    assert boxes.row_levels(0).tolist() == [1, 1, 1, 0]
    assert boxes.row_levels(1).tolist() == [0, 0, 0, 0]


def test_many_values_and_few_rows_give_the_same_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = counts(((0, 0),) * 40 + ((1, 1),) * 30 + ((2, 0),))
    parameters = refining_parameters("1", len(STEPS))
    trees = []
    for dense in (0, 1000):
        monkeypatch.setattr(growing, "_DENSE", dense)
        trees.append(shown(rows, grow(rows, COLUMNS, STEPS, parameters, 5, Seeded(4))))
    assert trees[0] == trees[1]
