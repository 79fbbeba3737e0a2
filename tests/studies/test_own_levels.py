"""Records with levels of their own: losses and risks by plain counting, and those of one level as
others find them.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import log2, prod
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import HierarchyError, InputError
from shoal.lattice import Lattice
from shoal.measure.loss import LOSSES, normalised
from shoal.measure.utility import classification
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.personal import Personal
from shoal.releases.release import Release
from shoal.studies.own_levels import OwnLevels
from tests import regions
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


# Releases that are refined by region

COLUMNS = ("town", "age", "ill")


def shown_sets(release: Release, names: Sequence[str]) -> Counter[tuple[frozenset[str], ...]]:
    """The released rows as sets of leaves, and how often each is there."""
    rows = release.table.select(names).rows()
    return Counter(tuple(map(regions.leaves_of, names, row)) for row in rows)


def fits(record: Sequence[str], row: Sequence[frozenset[str]]) -> bool:
    return all(value in leaves for value, leaves in zip(record, row, strict=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", regions.METHODS)
def test_the_risk_of_a_refined_release_is_by_whom_its_records_fit(method: str, seed: int) -> None:
    table = regions.town_table(seed)
    release = regions.by_region(method, table, seed)
    risk = shoal.judge(table, release).risk
    assert risk is not None
    # The ill are sensitive: nobody is known by that.
    people = table.frame.select("town", "age").rows()
    rows = shown_sets(release, ("town", "age"))
    risks = {row: 1 / sum(fits(person, row) for person in people) for row in rows}
    assert risk.mean == pytest.approx(
        sum(risks[row] * often for row, often in rows.items()) / rows.total()
    )
    assert risk.highest == pytest.approx(max(risks.values()))


@pytest.mark.parametrize("seed", range(4))
def test_a_truthful_tree_loses_what_its_method_says(seed: int) -> None:
    table = regions.town_table(seed)
    release = regions.by_region("sampled", table, seed)
    judgement = shoal.judge(table, release)
    assert judgement.losses["granularity"].normalised == pytest.approx(release.facts.loss)
    assert (judgement.kept, judgement.groups) == (len(release.table), release.facts.groups)
    assert set(judgement.losses) == set(LOSSES)
    assert not judgement.unknown
    levels = {column.column: column.level for column in judgement.columns}
    assert levels["sex"] == 0
    assert None in levels.values()


@pytest.mark.parametrize("seed", range(4))
def test_noisy_counts_of_a_tree_keep_no_more_than_the_tightest_rows_can_show(seed: int) -> None:
    table = regions.town_table(seed)
    release = regions.by_region("noisy", table, seed)
    judgement = shoal.judge(table, release)
    rows = shown_sets(release, COLUMNS)
    records = table.frame.select(COLUMNS).rows()
    tightest = Counter[tuple[frozenset[str], ...]]()
    for record in records:
        fitting = [row for row in rows if fits(record, row)]
        if fitting:
            tightest[min(fitting, key=lambda row: prod(map(len, row)))] += 1
    kept = {row: min(often, tightest[row]) for row, often in rows.items()}
    assert any(kept[row] < often for row, often in rows.items())
    sizes = [regions.TREES[name].leaves for name in COLUMNS]
    raw = float(len(COLUMNS) * (len(records) - sum(kept.values())))
    for row, often in kept.items():
        raw += often * sum(len(part) / size for part, size in zip(row, sizes, strict=True))
    loss = judgement.losses["granularity"]
    assert loss.raw == pytest.approx(raw)
    # The method knows which records are in rows that it has not released; others take them for
    # records of looser rows, as far as noise makes room.
    room = release.certificate.derived["bound"] * len(rows) / len(records)
    assert release.facts.loss is not None
    assert release.facts.loss - room <= loss.normalised <= release.facts.loss + 1e-9
    assert judgement.kept == len(release.table)


def test_a_refined_release_is_judged_the_same_with_a_column_of_counts_and_read_back(
    tmp_path: Path,
) -> None:
    table = regions.town_table()
    plain = regions.by_region("noisy", table)
    counted = replace(regions.NOISY, counts=True).release(table, Seeded(1))
    counted.write(tmp_path / "out")
    again = shoal.judge(table, shoal.Release.read(tmp_path / "out"))
    one = shoal.judge(table, plain)
    assert (again.losses, again.risk, again.kept) == (one.losses, one.risk, one.kept)


def test_a_row_of_roots_is_kept_where_regions_are_refined() -> None:
    trees = {name: regions.TREES[name] for name in ("town", "age")}
    table = shoal.table(
        regions.town_records(records=80).select(*trees),
        quasi=list(trees),
        hierarchies=trees,
        rows_are_people=True,
    )
    roots = pl.DataFrame()
    for seed in range(40):
        release = NoisyCounts(1, "1/10", levels="tree").release(table, Seeded(seed))
        roots = release.table.filter(town="*", age="*")
        if 0 < len(roots) < len(release.table):
            break
    assert len(roots)
    judgement = shoal.judge(table, release)
    assert judgement.kept == len(release.table)
    assert judgement.groups == release.facts.groups


def test_a_column_that_is_not_refined_is_read_at_its_only_level() -> None:
    table = regions.town_table()
    method = replace(regions.NOISY, floor={"ill": 1}, ceiling={"ill": 1})
    release = method.release(table, Seeded(2))
    judgement = shoal.judge(table, release)
    assert {column.column: column.level for column in judgement.columns}["ill"] == 1
    assert judgement.losses["granularity"].normalised == pytest.approx(release.facts.loss, abs=0.01)
    strange = replace(release, table=release.table.with_columns(ill=pl.lit("flu")))
    with pytest.raises(HierarchyError, match="not at level 1"):
        shoal.judge(table, strange)


def test_what_the_input_cannot_have_given_is_refused() -> None:
    table = regions.town_table()
    release = regions.by_region("sampled", table)
    many = pl.concat([release.table.with_columns(town=pl.lit("d"), age=pl.lit("7"))] * 2)
    with pytest.raises(InputError, match="records that the input does not have"):
        shoal.judge(table, replace(release, table=many))


@pytest.mark.parametrize("method", regions.METHODS)
def test_classifiers_and_queries_read_values_of_several_levels(method: str) -> None:
    table = regions.town_table()
    release = regions.by_region(method, table)
    (accuracy,) = classification(table, release.table, "sex", classifiers=["c4.5"], folds=3)
    assert accuracy.relative is not None
    assert accuracy.relative > 0.5
    queries = shoal.judge(table, release, queries=100, seed=1).queries
    assert queries is not None
    assert queries.median < 1


def test_levels_that_are_given_are_taken_instead_of_the_steps() -> None:
    table = regions.town_table()
    release = regions.by_region("noisy", table)
    with pytest.raises(HierarchyError, match="not at level 0"):
        shoal.judge(table, release, levels={"town": 0, "age": 0, "ill": 0})


@pytest.mark.parametrize("method", regions.METHODS)
def test_a_text_is_read_by_the_levels_that_were_released_alone(method: str) -> None:
    # "b" is a leaf, and at a level that is left out of the tree it is "a" and "b".
    lines = [["a", "b", "*"], ["b", "b", "*"], ["c", "z", "*"], ["d", "z", "*"]]
    table = replace(
        regions.town_table(),
        hierarchies={**regions.TREES, "town": Hierarchy.from_lines(lines)},
    )
    release = regions.by_region(method, table)
    assert ["town", 1] not in release.certificate.derived["tree"]["steps"]
    assert "b" in release.table["town"].to_list()
    judgement = shoal.judge(table, release)
    loss = judgement.losses["granularity"].normalised
    assert loss == pytest.approx(release.facts.loss, abs=0.03 if method == "noisy" else 1e-9)
    (town,) = [column for column in judgement.columns if column.column == "town"]
    after = {value.value: value.after for value in town.values}
    shown = release.table["town"].to_list()
    anywhere = shown.count("*") / len(table.hierarchy("town").labels[0])
    assert after["b"] == pytest.approx(shown.count("b") + anywhere)
