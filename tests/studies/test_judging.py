"""A judgement says what plain counting says, is marked as not for release, and stays away from
releases.
"""

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import KAnonymity, demo
from shoal.chance import Seeded
from shoal.errors import ColumnError, FileError, HierarchyError, InputError, ShoalError
from shoal.measure.loss import LOSSES
from shoal.releases.facts import Facts, KeptFacts
from shoal.studies.judging import Judgement, judge
from tests.data.columns import leaves

AGE = shoal.hierarchy.intervals(low=20, high=59, widths=[10, 20])
TOWN = shoal.hierarchy.groups({"east": ["Ely", "Hull"], "west": ["Bath", "Bude"]})
SECRET = "Zanzibar"  # a value of the input that no message may tell


def people(rows: list[tuple[Any, ...]]) -> shoal.Table:
    frame = pl.DataFrame(
        rows, schema={"age": pl.Int64, "town": pl.String, "ill": pl.String}, orient="row"
    )
    return shoal.table(
        frame,
        quasi=["age", "town"],
        sensitive=["ill"],
        hierarchies={"age": AGE, "town": TOWN},
        missing="category",
    )


SIX = [
    (21, "Ely", "flu"),
    (22, "Ely", "flu"),
    (25, "Hull", "cold"),
    (38, "Bath", "flu"),
    (39, "Bude", "cold"),
    (51, "Bude", SECRET),
]


def shown(table: shoal.Table, levels: dict[str, int], rows: list[int]) -> pl.DataFrame:
    """Some rows of a table at some levels, as plainly as can be."""
    frame = table.frame.to_native()
    columns: dict[str, list[str | None]] = {}
    for name in table.names:
        if name in levels:
            tree = table.hierarchy(name)
            texts = [
                tree.labels[levels[name]][tree.maps[levels[name]][leaf]]
                for leaf in leaves(table, name)
            ]
        else:
            texts = frame[name].to_list()
        columns[name] = [texts[row] for row in rows]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def counted(found: Judgement, name: str) -> dict[str, tuple[int, float]]:
    column = next(column for column in found.columns if column.column == name)
    return {one.value: (one.before, one.after) for one in column.values}


@st.composite
def releases(draw: st.DrawFn) -> tuple[shoal.Table, dict[str, int], list[int]]:
    """A table, the levels of its columns, and the rows that are released, in any order."""
    ages, towns = (
        st.none() | st.integers(20, 59),
        st.sampled_from([None, "Ely", "Hull", "Bath", "Bude"]),
    )
    rows = draw(st.lists(st.tuples(ages, towns, st.sampled_from(["flu", "cold"])), max_size=12))
    levels = {"age": draw(st.integers(0, AGE.height)), "town": draw(st.integers(0, TOWN.height))}
    order = draw(st.permutations(range(len(rows))))
    return people(rows), levels, order[: draw(st.integers(0, len(rows)))]


@given(releases())
def test_a_judgement_is_what_plain_counting_says(given: Any) -> None:
    table, levels, rows = given
    before, after = shown(table, levels, [*range(table.rows)]), shown(table, levels, rows)
    found = judge(table, after, levels=levels)
    assert (found.records, found.kept, found.groups) == (
        table.rows,
        len(rows),
        after.select("age", "town").n_unique() if rows else 0,
    )
    for name in table.names:
        was, now = (
            Counter(text or "" for text in before[name]),
            Counter(text or "" for text in after[name]),
        )
        assert counted(found, name) == {text: (was[text], now[text]) for text in was}
    covered = {
        name: dict(zip(tree.labels[levels[name]], tree.cover(levels[name]).tolist(), strict=True))
        for name, tree in ((name, table.hierarchy(name)) for name in ("age", "town"))
    }
    leaves = {"age": 40, "town": 4}
    lost = table.rows - len(rows)
    groups = Counter(after.select("age", "town").rows())
    cells = [
        [covered[name][text or ""] for name, text in zip(covered, row, strict=True)]
        for row in after.select("age", "town").rows()
    ]
    expected = {
        "granularity": sum(
            c / n for row in cells for c, n in zip(row, leaves.values(), strict=True)
        )
        + 2 * lost,
        "intensity": len(rows) * sum(levels[name] / table.hierarchy(name).height for name in levels)
        + 2 * lost,
        "discernibility": sum(size**2 for size in groups.values()) + lost * table.rows,
        "group_size": table.rows / max(len(groups) + (lost > 0), 1),
        "ambiguity": (sum(map(prod, cells)) + lost * prod(leaves.values())) / max(table.rows, 1),
    }
    assert {name: found.losses[name].raw for name in expected} == pytest.approx(expected)
    assert list(found.losses) == list(LOSSES)
    assert all(0 <= one.normalised <= 1 for one in found.losses.values())
    assert not found.unknown


@given(releases())
def test_levels_that_are_not_given_are_found_by_the_values(given: Any) -> None:
    table, levels, rows = given
    after = shown(table, levels, rows)
    told, guessed = judge(table, after, levels=levels), judge(table, after)
    assert (guessed.kept, guessed.groups) == (told.kept, told.groups)
    if all(column.level == levels.get(column.column, 0) for column in guessed.columns):
        assert guessed.losses == told.losses
    else:  # nothing was released, or all values are of several levels: the finest is taken
        assert guessed.losses["granularity"].raw <= told.losses["granularity"].raw + 1e-9


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_the_loss_is_the_one_the_method_states(suppressed: Any) -> None:
    table = demo.table()
    made = shoal.Optimal((KAnonymity(5),), suppression="1/10", suppressed=suppressed).release(table)
    found = judge(table, made)
    assert made.suppressed > 0
    assert found.kept == table.rows - made.suppressed
    assert found.groups == made.facts.groups
    assert found.losses["granularity"].normalised == pytest.approx(made.facts.loss)
    assert (found.release, found.method) == (made.certificate.number, "optimal")
    assert {
        column.column: column.level
        for column in found.columns
        if column.column in made.certificate.levels
    } == dict(made.certificate.levels)


HOSPITAL = demo.table(1500)
METHODS: list[Any] = [
    shoal.Optimal((KAnonymity(5),), suppression="1/10", suppressed="star"),
    shoal.Mondrian((KAnonymity(5),)),
    shoal.RandomSample("1/3"),
    shoal.SafePub(2, "1e-4"),
]


@cache
def made_by(name: str) -> tuple[shoal.Release, str]:
    """A release of the made-up hospital by a method, and its judgement."""
    made = next(method for method in METHODS if method.name == name).release(HOSPITAL, Seeded(1))
    return made, judge(HOSPITAL, made).to_json()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_written_release_is_judged_like_the_one_in_memory(
    method: Any, form: str, tmp_path: Path
) -> None:
    made, told = made_by(method.name)
    made.write(tmp_path / "out", form)
    assert judge(HOSPITAL, shoal.Release.read(tmp_path / "out")).to_json() == told


def test_safepub_is_judged_by_its_rate() -> None:
    table = demo.table()
    made = shoal.SafePub(2, "1e-4").release(table, Seeded(2))
    found = judge(table, made)
    assert isinstance(made.facts, KeptFacts)
    assert (found.kept, found.groups) == (made.facts.kept, made.facts.groups)
    assert made.facts.loss == pytest.approx(found.losses["granularity"].normalised)
    assert found.rate is not None
    assert found.rate == pytest.approx(float(shoal.privacy.safepub_parameters("1.8", "1e-4").beta))
    for column in found.columns:
        assert sum(one.after for one in column.values) == found.kept
        assert all(one.scaled == pytest.approx(one.after / found.rate) for one in column.values)
    assert set(found.losses) == set(LOSSES)


@pytest.mark.parametrize("counts", [False, True])
def test_noisy_counts_may_be_more_than_there_were_records(counts: bool) -> None:
    table = people([(21, "Ely", "flu")] * 40 + SIX)
    method = shoal.NoisyCounts("1/2", "1e-2", k=3, levels={"age": 1}, counts=counts)
    told: list[Judgement] = []
    for seed in range(12):
        release = method.release(table, Seeded(seed))
        found = judge(table, release)
        assert found.kept == (release.table["count"].sum() if counts else len(release.table))
        assert 0 <= found.losses["granularity"].normalised <= 1
        told.append(found)
    there = int(table.count(table.names, {"age": 1}).count.max())
    assert min(found.kept for found in told) < there < max(found.kept for found in told)
    without = replace(
        table.with_roles(quasi=["age", "town"], identifying=["ill"]), rows_are_people=True
    )
    every = shoal.NoisyCounts(1, 0, counts=counts, levels={}).release(without)
    assert judge(without, every).kept >= 0


def test_counts_of_a_sample_are_scaled_by_its_rate_and_losses_count_who_was_not_drawn() -> None:
    table = people(SIX * 100)
    made = shoal.RandomSample("1/4").release(table, Seeded(3))
    found = judge(table, made, queries=50)
    assert found.rate == 0.25
    assert found.losses["intensity"].normalised == pytest.approx(1 - found.share)
    assert found.losses["granularity"].normalised == pytest.approx(1 - found.share)
    assert found.queries is not None
    assert found.queries.count == 50
    assert judge(table, made.table).rate is None


def test_ranges_are_judged_as_far_as_they_can_be() -> None:
    table = people(SIX * 3)
    made = shoal.Mondrian((KAnonymity(3),)).release(table)
    found = judge(table, made)
    assert found.kept == table.rows
    assert found.groups == made.facts.groups
    assert set(found.losses) == {"granularity", "discernibility", "group_size", "ambiguity"}
    assert set(found.unknown) == {"loss by intensity", "loss by entropy", "loss by divergence"}
    sizes = made.table.group_by("age", "town").len()["len"].to_list()
    assert found.losses["discernibility"].raw == sum(size**2 for size in sizes)
    for name in ("age", "town"):
        column = counted(found, name)
        assert sum(before for before, _ in column.values()) == table.rows
        assert sum(after for _, after in column.values()) == pytest.approx(table.rows)


def test_values_of_several_levels_side_by_side_are_worth_what_they_cover() -> None:
    table = people(SIX)
    mixed = pl.DataFrame(
        {
            "age": ["20-29", "22", "*"],
            "town": ["Ely", "east", "east"],
            "ill": ["flu", "flu", "cold"],
        }
    )
    found = judge(table, mixed)
    assert [column.level for column in found.columns] == [None, None, 0]
    assert found.losses["granularity"].raw == (10 + 1 + 40) / 40 + (1 + 2 + 2) / 4 + 3 * 2
    assert found.losses["ambiguity"].raw == (10 * 1 + 1 * 2 + 40 * 2 + 3 * 160) / 6
    assert counted(found, "town")["Ely"] == (2, 2.0)
    strange = mixed.with_columns(age=pl.lit("old"))
    with pytest.raises(
        HierarchyError, match="'age'"
    ):  # what it stands for is not known, so neither are counts
        judge(table, strange)


def test_stars_in_every_generalised_column_are_a_suppressed_record_unless_the_level_says_so() -> (
    None
):
    table = people(SIX)
    starred = pl.DataFrame(
        {
            "age": ["20-29", "20-29", "*"],
            "town": ["east", "east", "*"],
            "ill": ["flu", "flu", "cold"],
        }
    )
    found = judge(table, starred, levels={"age": 1, "town": 1})
    assert (found.kept, found.groups) == (2, 1)
    assert counted(found, "ill")["cold"] == (2, 0)
    roots = pl.DataFrame({"age": ["*"] * 6, "town": ["*"] * 6, "ill": [ill for *_, ill in SIX]})
    assert judge(table, roots).kept == judge(table, roots, levels={"age": 3, "town": 2}).kept == 6
    assert judge(table, roots, levels={"age": 1, "town": 1}).kept == 0
    with pytest.raises(HierarchyError, match="'town'"):
        judge(
            table,
            starred.with_columns(town=pl.Series(["*", "east", "*"])),
            levels={"age": 1, "town": 1},
        )


FOREIGN = {
    "a group that the input does not have": {"age": ["30-39"], "town": ["east"], "ill": ["flu"]},
    "a group with too many records": {
        "age": ["20-29"] * 4,
        "town": ["east"] * 4,
        "ill": ["flu"] * 4,
    },
    "a value that no record has": {"age": ["40-49"], "town": ["west"], "ill": ["flu"]},
    "too many records": {"age": ["*"] * 7, "town": ["*"] * 7, "ill": ["flu"] * 7},
}


@pytest.mark.parametrize("rows", FOREIGN.values(), ids=FOREIGN)
def test_a_release_of_another_table_is_refused(rows: dict[str, list[str]]) -> None:
    with pytest.raises(InputError, match="judge it by the table it was made from"):
        judge(people(SIX), pl.DataFrame(rows))


def test_what_does_not_fit_is_said_without_a_value() -> None:
    table = people(SIX)
    fine = {"age": ["20-29"], "town": ["east"], "ill": ["flu"]}
    wrong: list[tuple[dict[str, Any], dict[str, Any], type[ShoalError], str]] = [
        (
            {**fine, "ill": ["Timbuktu"]},
            {},
            ColumnError,
            "'ill': 1 released value not in the input",
        ),
        ({**fine, "name": ["Timbuktu"]}, {}, ColumnError, "no column 'name'"),
        ({"age": ["20-29"], "ill": ["flu"]}, {}, ColumnError, "no column 'town'"),
        (fine, {"levels": {"age": 2}}, HierarchyError, "'age': 1 released value not at level 2"),
        (fine, {"levels": {"age": 9}}, HierarchyError, "levels 0 to 3"),
        (fine, {"classes": "illness"}, ColumnError, "no column 'illness' to predict"),
    ]
    for rows, options, kind, message in wrong:
        with pytest.raises(kind, match=re.escape(message)) as caught:
            judge(table, pl.DataFrame(rows), **options)
        assert SECRET not in str(caught.value)
        assert "Timbuktu" not in str(caught.value)


def test_numbers_may_be_written_in_two_ways() -> None:
    tree = shoal.Hierarchy.from_lines(
        [["007", "010", "*"], ["008", "010", "*"], ["012", "020", "*"]], "integer"
    )
    table = shoal.table(
        pl.DataFrame({"code": [7, 8, 12]}),
        quasi=["code"],
        hierarchies={"code": tree},
        missing="refuse",
    )
    made = shoal.Optimal((KAnonymity(2),), suppression="1/2").release(table)
    assert made.table["code"].to_list() == [10, 10]
    found = judge(table, made)
    assert found.kept == 2
    assert counted(found, "code") == {"010": (2, 2), "020": (1, 0)}


@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_dataframes_of_all_libraries_are_judged_alike(library: str) -> None:
    frame = people(SIX * 5).frame.to_native()
    native = (
        pd.DataFrame(frame.to_dict(as_series=False))
        if library == "pandas"
        else pa.table(frame.to_dict(as_series=False))
    )
    roles: dict[str, Any] = {
        "quasi": ["age", "town"],
        "sensitive": ["ill"],
        "hierarchies": {"age": AGE, "town": TOWN},
    }
    found = []
    for one in (frame, native):
        table = shoal.table(one, **roles)
        found.append(
            judge(
                table,
                shoal.Optimal((KAnonymity(5),), suppression="1/4", suppressed="star").release(
                    table
                ),
            ).to_dict()
        )
    for each in found:
        del each["release"]
    assert found[0] == found[1]


def test_a_table_without_hierarchies_or_quasi_identifying_columns_has_counts_and_no_losses() -> (
    None
):
    frame = pl.DataFrame({"a": [1, 2, 2], "b": ["x", "y", "y"]})
    for quasi, reason in (((), "quasi-identifying"), (("a",), "'a'")):
        table = shoal.table(
            frame, quasi=quasi, insensitive=[name for name in frame.columns if name not in quasi]
        )
        found = judge(table, shoal.RandomSample(1).release(table), queries=5)
        assert (found.kept, found.losses) == (3, {})
        assert all(reason in told for told in found.unknown.values())
        assert counted(found, "a") == {"1": (1, 1), "2": (2, 2)}
        assert found.queries is not None
        assert found.queries.mean == 0


@pytest.mark.parametrize("rows", [[], SIX])
def test_an_empty_release_has_lost_all_there_was(rows: list[Any]) -> None:
    table = people(rows)
    found = judge(table, pl.DataFrame(schema=dict.fromkeys(table.names, pl.String)), queries=5)
    assert (found.kept, found.share, found.groups) == (0, 0, 0)
    assert {one.normalised for one in found.losses.values()} == {float(bool(rows))}


# Classification


def test_classes_are_predicted_and_a_generalised_one_is_not() -> None:
    pytest.importorskip("sklearn")
    table = people(
        [
            (age, town, "flu" if age < 40 else "cold")
            for age in range(20, 60, 2)
            for town in ("Ely", "Bath")
        ]
    )
    made = shoal.Optimal((KAnonymity(2),), floor={"age": 1, "town": 1}).release(table)
    found = judge(table, made, classes=["ill", "town"])
    assert [(one.column, one.classifier, one.folds) for one in found.accuracies] == [
        ("ill", "tree", 10),
        ("ill", "logistic", 10),
        ("ill", "c4.5", 10),
    ]
    assert all(one.released == 1 for one in found.accuracies)
    assert list(found.unknown) == ["classification of town"]
    assert "generalised" in found.unknown["classification of town"]
    assert judge(table, made).accuracies == ()


def test_few_records_and_empty_releases_can_be_learnt_from_as_well() -> None:
    pytest.importorskip("sklearn")
    few = people(SIX)
    nothing = pl.DataFrame(schema=dict.fromkeys(few.names, pl.String))
    assert {one.folds for one in judge(few, nothing, classes="ill").accuracies} == {6}
    assert judge(people(SIX[:1]), nothing, classes="ill").unknown == {
        "classification of ill": "it takes two records"
    }


# Not for release


def test_the_json_form_says_first_that_it_is_not_for_release(tmp_path: Path) -> None:
    table = people(SIX)
    found = judge(table, shoal.Optimal((KAnonymity(2),)).release(table), queries=5)
    assert next(iter(found.to_dict())) == "not_for_release"
    told = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert next(iter(told)) == "not_for_release"
    assert told["not_for_release"] is True
    assert told["columns"][2]["values"] == [
        {"value": value, "before": number, "after": number, "scaled": None}
        for value, number in ((SECRET, 1), ("cold", 2), ("flu", 3))
    ]
    assert SECRET not in repr(found)
    found.write(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == told


def test_a_judgement_is_never_written_beside_a_release(tmp_path: Path) -> None:
    table = people(SIX)
    made = shoal.Optimal((KAnonymity(2),)).release(table)
    made.write(tmp_path / "out")
    (tmp_path / "out" / "inner").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "linked.json").symlink_to(tmp_path / "elsewhere.json")
    there = {path.name for path in (tmp_path / "out").iterdir()}
    found = judge(table, made)
    for name in (
        "out/report.json",
        "out/inner/report.json",
        "way/report.json",
        "out/inner/../report.json",
        "out/linked.json",
    ):
        with pytest.raises(FileError, match="write it somewhere else"):
            found.write(tmp_path / name)
    assert {path.name for path in (tmp_path / "out").iterdir()} == there
    assert not (tmp_path / "elsewhere.json").exists()
    assert not [*(tmp_path / "out" / "inner").iterdir()]


def test_a_release_is_read_only_if_its_files_belong_together(tmp_path: Path) -> None:
    table = people(SIX)
    written = shoal.Optimal((KAnonymity(2),)).release(table).write(tmp_path)
    read = shoal.Release.read(tmp_path)
    assert read.certificate.file is not None
    assert (read.suppressed, read.facts, read.entry) == (0, Facts(), None)
    written.write_text(written.read_text() + "*,*,flu\n")
    with pytest.raises(FileError, match="digests differ"):
        shoal.Release.read(tmp_path)
    written.unlink()
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FileError, match="give the directory of a release"):
            shoal.Release.read(folder)


def test_groups_of_many_columns_are_found() -> None:
    """More combinations than fit an integer, so that groups are looked for in another way."""
    values = [f"v{i}" for i in range(2000)]
    tree = shoal.hierarchy.suppress(values)
    names = [f"c{j}" for j in range(8)]
    drawn = np.random.default_rng(1).integers(0, 2000, (300, 8))
    frame = pl.DataFrame({name: [values[i] for i in drawn[:, j]] for j, name in enumerate(names)})
    table = shoal.table(
        frame, quasi=names, hierarchies=dict.fromkeys(names, tree), missing="refuse"
    )
    levels = dict.fromkeys(names, 0)
    assert judge(table, frame.sample(200, seed=1), levels=levels).losses[
        "granularity"
    ].normalised == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="judge it by the table"):
        judge(table, frame.head(100).with_columns(c0=frame["c0"].tail(100)), levels=levels)


def test_the_loss_is_that_of_the_columns_that_are_asked_for() -> None:
    table = people(SIX)
    release = shown(table, {"age": 1, "town": 0}, list(range(6)))

    def granularity(*columns: str) -> float:
        return judge(table, release, columns=columns).losses["granularity"].normalised

    # Ten ages of forty, and every town by itself: each column counts from its own best.
    assert granularity("age") == pytest.approx(9 / 39)
    assert granularity("town") == 0
    assert granularity("age", "town") == judge(table, release).losses["granularity"].normalised
    with pytest.raises(ColumnError, match="no column 'nowhere'"):
        granularity("age", "nowhere")
