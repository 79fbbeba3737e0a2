"""`shoal views restore` and `check`, as somebody types them."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.views import (
    check,
)
from tests.views.cases import (
    NAMES,
    TABLE,
    lay_open,
)
from tests.views_files import DONALD, run


def test_check_exits_with_1_where_nothing_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lay_open(tmp_path))
    done = run("views", "check", "views.toml", "--json")
    assert (done.exit_code, json.loads(done.stdout)["private"]) == (1, None)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("views.toml").write_text(DONALD)
    pl.DataFrame({"name": NAMES[:7], "ill": TABLE[:7], "other": ["x"] * 7}).write_csv("table.csv")
    return tmp_path


def test_restore_exits_with_1_where_nothing_is_decided(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.views.checking.count", lambda *given: None)
    monkeypatch.setattr("shoal.views.checking.ENOUGH", 10**9)
    done = run("views", "restore", "views.toml", "--data", "table.csv", "--views", "1", "--json")
    assert (done.exit_code, json.loads(done.stdout)["private"]) == (1, None), done.output


def test_the_table_may_lack_people_of_a_register_that_has_more(files: Path) -> None:
    Path("views.toml").write_text(
        DONALD.replace("[register]", "[register]\ncomplete = false").replace(
            '"Garcia", age = 28 }', '"Garcia", age = 28 }, { name = "Zoe", age = 22 }'
        )
    )
    done = run("views", "restore", "views.toml", "--data", "table.csv", "--json")
    assert done.exit_code in (0, 1), done.output
    assert (
        json.loads(done.stdout)["tables_before"]
        == check(shoal.views.load("views.toml")).tables_text
    )


def test_the_sensitive_column_of_the_command_line_replaces_that_of_the_file(files: Path) -> None:
    Path("views.toml").write_text(DONALD.replace('"ill"', '"other"'))
    restoring = ("views", "restore", "views.toml", "--data", "table.csv")
    assert run(*restoring).exit_code == 2  # the views are not true of that column
    assert run(*restoring, "--sensitive", "ill").exit_code == 0


def test_a_ceiling_holds_with_the_table_too(files: Path) -> None:
    aware = (
        "views",
        "restore",
        "views.toml",
        "--data",
        "table.csv",
        "--adversary",
        "aware",
        "--json",
    )
    assert len(json.loads(run(*aware).stdout)["views"]) == 2
    done = run(*aware, "--ceiling", "9/10")
    assert (done.exit_code, json.loads(done.stdout)["views"]) == (1, [])


def restoring(*options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["views", "restore", "views.toml", *options])
    return done.exit_code, done.output


def test_the_command_line_restores_and_writes_the_views(files: Path) -> None:
    written = ["--to", "more.toml", "--chart", "chart.svg"]
    done = CliRunner().invoke(
        app, ["views", "restore", "views.toml", "--data", "table.csv", "--json", *written]
    )
    output = json.loads(done.stdout)
    assert (done.exit_code, output["private"], output["tables_before"], output["tables_after"]) == (
        0,
        True,
        "45",
        "8",
    )
    assert output["people"] == [
        {"person": "Donald", "value": "S", "limit": "1/2", "before": "4/5", "after": "1/2"}
    ]
    Path("views.toml").write_text(DONALD + Path("more.toml").read_text())
    assert CliRunner().invoke(app, ["views", "check", "views.toml"]).exit_code == 0
    assert Path("chart.svg").exists()


def test_the_command_line_plans_without_the_table(files: Path) -> None:
    code, output = restoring("--adversary", "aware", "--json")
    told = json.loads(output)
    assert (code, told["plan"]["share"], told["plan"]["bound"], told["plan"]["worst"]) == (
        0,
        "8/45",
        "2/5",
        "1",
    )
    assert "views" not in told
    code, output = restoring("--adversary", "aware", "--views", "1")
    assert code == 1
    assert "not planned" in output
    assert restoring("--data", "table.csv", "--views", "1")[0] == 1
    code, output = restoring("--data", "table.csv", "--adversary", "aware")
    assert code == 0
    assert "8/45 of the possible tables" in output


def test_without_the_table_there_can_only_be_a_plan(files: Path) -> None:
    code, output = restoring()
    assert code == 2
    assert "--data" in output
