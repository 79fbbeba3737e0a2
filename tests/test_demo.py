"""The made-up hospital: always the same, all of one piece, and at risk as real tables are."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import shoal
from shoal import arx, demo
from shoal.data.hierarchy import read as read_hierarchy
from shoal.errors import FileError, ParameterError


def test_the_hospital_is_the_same_in_every_process() -> None:
    code = (
        "from shoal import demo;"
        "print(demo.hospital().hash_rows(seed=1).sum(), demo.hospital(50).write_csv()[:200])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_it_has_the_columns_and_the_number_of_rows_asked_for() -> None:
    assert demo.hospital().shape == (4000, 10)
    assert [demo.hospital(rows).height for rows in (0, 1, 2, 7)] == [0, 1, 2, 7]
    assert demo.hospital(0).schema == demo.hospital().schema
    with pytest.raises(
        ParameterError, match="rows=-1 is out of range; it takes a whole number from 0"
    ):
        demo.hospital(-1)


def test_every_column_has_a_role_and_every_value_a_leaf() -> None:
    table = demo.table()
    table.require_roles()
    for name, tree in demo.hierarchies().items():
        assert not tree.derived
        assert len(table.leaf_of(name)) == len(table.keys(name))


def test_patients_are_numbered_once() -> None:
    assert demo.hospital()["patient"].n_unique() == 4000


def test_the_columns_depend_on_each_other_as_in_a_hospital() -> None:
    stays = demo.hospital()
    births = stays.filter(diagnosis="childbirth")
    assert births["sex"].unique().to_list() == ["female"]
    assert births["age"].is_between(16, 55).all()
    assert stays.filter(ward="paediatrics")["age"].max() < 18  # type: ignore[operator]
    assert stays.group_by("diagnosis").agg(pl.col("ward").n_unique())["ward"].max() == 1
    mean = dict(stays.group_by("diagnosis").agg(pl.col("stay").mean()).rows())
    assert mean["depression"] > 3 * mean["concussion"]
    winter = stays.filter(diagnosis="influenza")["admitted"].dt.month().is_in([12, 1, 2, 3]).mean()
    assert isinstance(winter, float)
    assert winter > 0.6


def test_it_is_at_risk_one_diagnosis_is_rare_and_some_values_are_missing() -> None:
    table, stays = demo.table(), demo.hospital()
    assert (table.count(table.quasi).count == 1).mean() > 0.9
    counts = stays["diagnosis"].value_counts()
    assert counts["count"].min() == 1
    assert 0 < stays["postcode"].null_count() < 100


def test_the_files_read_back_as_the_table(tmp_path: Path) -> None:
    recipe = demo.write(tmp_path / "demo", rows=300)
    assert recipe == tmp_path / "demo" / "hospital.toml"
    read = shoal.read(
        recipe.with_name("hospital.csv"),
        types={"age": "integer", "stay": "integer", "admitted": "date"},
    )
    table = demo.table(300)
    columns = zip(read.records(table.names), table.records(table.names), strict=True)
    for column, made in columns:
        assert column.keys == made.keys
        assert column.codes.tolist() == made.codes.tolist()
    for name, tree in demo.hierarchies().items():
        again = read_hierarchy(tmp_path / "demo" / "hierarchies" / f"{name}.csv", kind=tree.kind)
        assert again.lines() == tree.lines()


def test_an_unwritable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(FileError, match="cannot make"):
        demo.write(tmp_path / "taken")


def test_every_released_column_has_a_hierarchy_of_several_levels() -> None:
    trees = demo.hierarchies()
    assert set(trees) == set(demo.hospital(0).columns) - {"patient"}
    for name, tree in trees.items():
        cards = [tree.cardinality(level) for level in range(tree.height + 1)]
        # No level is the one below by another name.
        assert cards == sorted(set(cards), reverse=True), name


def test_the_recipe_makes_a_release_with_differential_privacy(tmp_path: Path) -> None:
    recipe = shoal.Recipe.load(demo.write(tmp_path))
    release = recipe.run()
    made: pl.DataFrame = release.table
    assert made.columns == [name for name in demo.hospital(0).columns if name != "patient"]
    promise = release.certificate.promise
    assert (promise["promise"], promise["epsilon"], promise["delta"]) == (
        "differential privacy",
        "1",
        "1e-6",
    )
    least = release.certificate.derived["threshold"]
    assert least == 20
    assert made.group_by(pl.all()).len()["len"].min() >= least


def test_the_hospital_from_a_file_and_from_memory_is_one_table(tmp_path: Path) -> None:
    for format in ("parquet", "arrow"):
        shoal.write(demo.hospital(100), tmp_path / f"h.{format}")
        assert_frame_equal(
            shoal.read(tmp_path / f"h.{format}").frame.to_native(), demo.hospital(100)
        )


def test_the_hospital_as_a_project_of_arx(tmp_path: Path) -> None:
    project = arx.read(demo.arx_project(tmp_path / "hospital.deid", 50))
    assert project.frame.height == 50
    assert [one.name for one in project.attributes if one.lines] == list(demo.QUASI)
