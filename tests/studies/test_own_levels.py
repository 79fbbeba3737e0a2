"""Records with levels of their own: losses and risks by plain counting, and those of one level as
others find them.
"""

import random
from dataclasses import replace
from itertools import product
from math import log2

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.lattice import Lattice
from shoal.measure.loss import LOSSES, normalised
from shoal.methods.personal import Personal
from shoal.studies.own_levels import OwnLevels
from tests.methods.test_personal import TOWNS, some_people

AGES = Hierarchy.from_lines([[str(i), f"{i // 2}.", f"{i // 4}:", "*"] for i in range(8)])
TREES = {"town": TOWNS, "age": AGES}


def shown_at(tree: Hierarchy, value: str, level: int) -> str:
    code = int(tree.maps[level][tree.labels[0].index(value)])
    return str(tree.labels[level][code])


def leaves_of(tree: Hierarchy, text: str) -> set[str]:
    """The leaves that a text stands for."""
    levels = range(tree.height + 1)
    return {
        leaf for leaf in tree.labels[0] if text in [shown_at(tree, leaf, level) for level in levels]
    }


def level_of(tree: Hierarchy, text: str) -> int:
    """The lowest level that has a value of these leaves."""
    leaves = leaves_of(tree, text)
    for level in range(tree.height + 1):
        shown = [shown_at(tree, leaf, level) for leaf in tree.labels[0]]
        if {leaf for leaf, own in zip(tree.labels[0], shown, strict=True) if own == text} == leaves:
            return level
    raise AssertionError(text)


def mixed(seed: int, rows: int = 14, lost: int = 0) -> tuple[Table, pl.DataFrame]:
    """A table, and its records each at levels of its own, without some of them."""
    draw = random.Random(seed)
    towns, ages = TREES["town"], TREES["age"]
    records = [(draw.choice("abcd"), str(draw.randrange(8))) for _ in range(rows)]
    frame = pl.DataFrame(records, schema=["town", "age"], orient="row")
    table = shoal.table(frame, quasi=["town", "age"], hierarchies=TREES, rows_are_people=True)
    shown = [
        (
            shown_at(towns, town, draw.randint(0, towns.height)),
            shown_at(ages, age, draw.randint(0, ages.height)),
        )
        for town, age in records[lost:]
    ]
    return table, pl.DataFrame(sorted(shown), schema=["town", "age"], orient="row")


@pytest.mark.parametrize("lost", [0, 3])
@pytest.mark.parametrize("seed", range(8))
def test_losses_and_risks_are_what_plain_counting_says(seed: int, lost: int) -> None:
    table, released = mixed(seed, lost=lost)
    trees = [TREES["town"], TREES["age"]]
    lattice = Lattice(table.count(["town", "age"]), TREES)
    own = OwnLevels.of(lattice, table, shoal.table(released))
    assert own is not None
    records = table.frame.to_native().rows()
    shown = [tuple(zip(trees, row, strict=True)) for row in released.rows()]

    intensity = sum(level_of(tree, text) / tree.height for row in shown for tree, text in row)
    assert own.intensity() == pytest.approx(intensity + 2 * lost)

    entropy = 2 * lost * log2(len(records))
    for column in (0, 1):
        values = [record[column] for record in records]
        entropy -= sum(log2(values.count(value)) for value in values)
        for row in shown:
            covered = leaves_of(*row[column])
            entropy += log2(sum(value in covered for value in values))
    assert own.entropy() == pytest.approx(entropy)

    domain = list(product(*(tree.labels[0] for tree in trees)))
    estimate = {cell: lost / len(domain) for cell in domain}
    risks = []
    for row in shown:
        cells = list(product(*(leaves_of(*cell) for cell in row)))
        for cell in cells:
            estimate[cell] += 1 / len(cells)
        risks.append(1 / sum(record in cells for record in records))
    assert sum(estimate.values()) == pytest.approx(len(records))
    divergence = sum(log2(records.count(record) / estimate[record]) for record in records) / len(
        records
    )
    assert own.divergence() == pytest.approx(divergence)
    risk = own.risk()
    assert risk is not None
    assert risk.mean == pytest.approx(sum(risks) / len(risks))
    assert risk.highest == pytest.approx(max(risks))
    assert risk.alone == pytest.approx(sum(each == 1 for each in risks) / len(risks))


@pytest.mark.parametrize("seed", range(6))
def test_records_at_one_node_lose_what_the_loss_models_say(seed: int) -> None:
    table, _ = mixed(seed)
    trees = [TREES["town"], TREES["age"]]
    lattice = Lattice(table.count(["town", "age"]), TREES)
    node = (seed % 3, seed % 4)
    rows = [tuple(map(shown_at, trees, record, node)) for record in table.frame.to_native().rows()]
    released = pl.DataFrame(rows, schema=["town", "age"], orient="row")
    own = OwnLevels.of(lattice, table, shoal.table(released))
    assert own is not None
    groups = lattice.groups(node)
    kept = groups.sizes > 0
    for name in ("intensity", "entropy", "divergence"):
        assert getattr(own, name)() == pytest.approx(LOSSES[name].of(groups, kept), abs=1e-9)
        assert normalised(LOSSES[name], groups, kept) <= 1


def test_a_text_of_several_levels_stands_for_all_that_it_covers_at_any() -> None:
    tree = Hierarchy.from_lines(
        [["a", "a", "*"], ["b", "c", "*"], ["c", "c", "*"], ["d", "d", "*"]]
    )
    table = shoal.table(pl.DataFrame({"x": list("abbcd")}), quasi=["x"], hierarchies={"x": tree})
    lattice = Lattice(table.count(["x"]), {"x": tree})
    own = OwnLevels.of(lattice, table, shoal.table(pl.DataFrame({"x": list("acccd")})))
    assert own is not None
    assert own.levels.tolist() == [[0], [1], [0]]
    assert own.risk() is not None
    twisted = Hierarchy.from_lines(
        [["a", "b", "*"], ["b", "z", "*"], ["c", "z", "*"], ["d", "d", "*"]]
    )
    table = replace(table, hierarchies={"x": twisted})
    lattice = Lattice(table.count(["x"]), {"x": twisted})
    # "b" is one leaf or another, which no value covers.
    assert OwnLevels.of(lattice, table, shoal.table(pl.DataFrame({"x": list("bbbbd")}))) is None


def test_a_text_of_no_level_has_no_losses_by_level() -> None:
    table, released = mixed(1)
    strange = released.with_columns(town=pl.lit("a-c"))
    lattice = Lattice(table.count(["town", "age"]), TREES)
    assert OwnLevels.of(lattice, table, shoal.table(strange)) is None


def test_a_personal_release_is_judged_by_every_loss_and_by_whom_records_fit() -> None:
    measured = 0
    for seed in range(6):
        table = replace(some_people(seed, 30), hierarchies=TREES)
        release = Personal("7/10").release(table, Seeded(1))
        judgement = shoal.judge(table, release, queries=20)
        assert judgement.kept == judgement.records == 30
        assert set(judgement.losses) == set(LOSSES)
        assert not judgement.unknown
        facts = release.facts.seen  # type: ignore[attr-defined]
        if judgement.risk is not None:
            measured += 1
            assert judgement.risk.mean == pytest.approx(facts.mean(facts.fitting))
            assert judgement.risk.alone == pytest.approx(facts.alone(facts.fitting))
            assert judgement.to_dict()["risk"]["highest"] == judgement.risk.highest
    assert measured


def test_people_at_the_roots_of_all_columns_are_not_suppressed() -> None:
    table = some_people(3, 12)
    judgement = shoal.judge(table, Personal(0).release(table, Seeded(1)))
    assert judgement.kept == 12
