"""A group is the same thing everywhere: the records that share their released quasi-identifying
values."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal import Table
from shoal.cli.app import app

loose: Any = shoal  # which takes more than a type checker allows

FRAME = pl.DataFrame(
    {
        "age": ["20", "21", "30", "31"] * 300,
        "ill": ["flu"] * 600 + ["cold"] * 600,
        "ward": ["a", "b", "c"] * 400,
    }
)


def people(quasi: list[str]) -> Table:
    return shoal.table(
        FRAME,
        quasi=quasi,
        sensitive=[name for name in ("ill",) if name not in quasi],
        insensitive=[name for name in ("age", "ward") if name not in quasi],
        hierarchies={
            "age": shoal.hierarchy.groups({"20s": ["20", "21"], "30s": ["30", "31"]}),
            "ill": shoal.hierarchy.suppress(["flu", "cold"]),
            "ward": shoal.hierarchy.suppress(["a", "b", "c"]),
        },
        types=dict.fromkeys(FRAME.columns, "text"),
    )


def seen(release: Any, quasi: list[str]) -> int:
    """How many groups somebody counts who has the released table, by the glossary."""
    shown = release.table.select([*quasi, *(["group"] if "group" in release.table else [])])
    return int(shown.unique().height)


METHODS = [
    loose.SafePub(3, "1e-2", levels={"age": 1, "ill": 0, "ward": 0}),
    shoal.NoisyCounts(3, "1e-2", k=2, levels={"age": 1}),
    shoal.NoisyCounts(3, "1e-2", k=2, levels={"age": 1}, counts=True),
    shoal.KDGS(2, levels={"age": 1}),
    loose.Optimal(["5-anonymity"]),
    loose.Mondrian(["5-anonymity"]),
    loose.Mondrian(["5-anonymity"], relaxed=True),
    loose.Coincident(["2-diversity of ill"], size=6),
]


@pytest.mark.parametrize("quasi", [["age"], ["age", "ward"]])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_release_judge_and_whoever_has_the_table_count_the_same_groups(
    method: Any, quasi: list[str]
) -> None:
    table = people(quasi)
    release = method.release(table)
    assert release.facts.groups == seen(release, quasi)
    assert loose.judge(table, release).groups == seen(release, quasi)


def test_without_quasi_identifying_columns_records_share_all_that_is_released() -> None:
    table = people([])
    release = loose.SafePub(3, "1e-2", levels={"age": 1, "ill": 0, "ward": 0}).release(table)
    assert release.facts.groups == release.table.unique().height
    assert loose.judge(table, release).groups == release.table.unique().height


def test_coincident_groups_that_look_alike_are_several_to_judge() -> None:
    frame = pl.DataFrame({"age": ["20"] * 24, "ill": ["flu", "cold"] * 12})
    table = shoal.table(
        frame,
        quasi=["age"],
        sensitive=["ill"],
        hierarchies={"age": shoal.hierarchy.suppress(["20", "21"])},
        types=dict.fromkeys(frame.columns, "text"),
    )
    release = loose.Coincident(["2-diversity of ill"], size=12, depth=0).release(table)
    found = loose.judge(table, release)
    sizes = release.table.group_by("group").len()["len"].to_list()
    assert found.groups == release.facts.groups == len(sizes) > 1
    assert found.losses["discernibility"].raw == sum(size**2 for size in sizes)
    assert found.losses["group_size"].raw == 24 / len(sizes)


@pytest.mark.parametrize(
    "method", [METHODS[0], METHODS[3], METHODS[-1]], ids=["safepub", "kdgs", "coincident"]
)
def test_compare_counts_the_groups_that_release_and_judge_count(
    method: Any, tmp_path: Path
) -> None:
    table = people(["age"])
    FRAME.write_csv(tmp_path / "people.csv")
    release = method.release(table)
    release.write(tmp_path / "out")
    files = [str(tmp_path / "people.csv"), str(tmp_path / "out" / "release.csv")]
    done = CliRunner().invoke(app, ["compare", *files, "--quasi", "age", "--json"])
    assert json.loads(done.stdout)["b"]["groups"] == loose.judge(table, release).groups
