"""`shoal demo` does the main job, says what to do next, and overwrites nothing."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal import demo
from shoal.cli.app import app
from shoal.workbench.projects import Home


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["demo", *arguments], env={"COLUMNS": "80", "NO_COLOR": "1"})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A folder in which the command ran without any options, and what it said."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = run()
    assert result.exit_code == 0, result.output
    return folder, result


def test_the_demo_does_the_main_job(done: tuple[Path, Result]) -> None:
    folder, _ = done
    out = folder / "shoal-demo" / "release"
    assert sorted(path.name for path in out.iterdir()) == ["certificate.json", "release.csv"]
    assert shoal.verify(out / "certificate.json", out / "release.csv") == []
    paper = shoal.Certificate.from_json((out / "certificate.json").read_text())
    recipe = (folder / "shoal-demo" / "hospital" / "hospital.toml").read_bytes()
    assert paper.recipe == hashlib.sha256(recipe).hexdigest()
    assert paper.private
    assert paper.method == "noisy-counts"
    assert paper.refined is not None


def test_the_demo_keeps_nearly_all_records_with_real_detail(done: tuple[Path, Result]) -> None:
    folder, _ = done
    made = pl.read_csv(folder / "shoal-demo" / "release" / "release.csv")
    assert made.height > 0.8 * demo.ENOUGH  # measured: 89 to 98 %
    chapters = demo.hierarchies()["diagnosis"].labels[1]
    known = made.filter(pl.col("diagnosis").is_in(chapters))
    assert known.height > 0.7 * made.height  # measured: 95 to 100 %
    assert all(made[name].n_unique() > 1 for name in demo.hierarchies())


def test_the_demo_says_what_was_promised_and_what_to_do_next_within_80_columns(
    done: tuple[Path, Result],
) -> None:
    _, result = done
    told = " ".join(result.stdout.split())
    for part in (
        "at most 2.72 times as likely",
        "(1, 1e-6)-differential privacy, standard definition, unit one row",
        "owner only: this reveals",
        "of 20,000 records kept",
        "information 5",
        "the finest one in the middle the coarsest",
        "off by 1.3 on average, and by 19 at most",
        "shoal verify shoal-demo/release/certificate.json shoal-demo/release/release.csv",
        "shoal explain --epsilon 1 --delta 1e-6 --counts 1",
        "shoal judge shoal-demo/hospital/hospital.toml --release shoal-demo/release",
        "shoal recipe new",
    ):
        assert part in told
    assert re.search(r"age \d+ % \d+, from \S+ to \S+ sex", told)
    assert max(map(len, result.stdout.splitlines())) <= 81  # a command is not broken


def test_what_the_demo_says_to_do_next_can_be_done(
    done: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, result = done
    monkeypatch.chdir(folder)
    commands = re.findall(r"^  shoal (.*)$", result.stdout, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        words = shlex.split(command.replace("FILE.csv", "shoal-demo/hospital/hospital.csv"))
        if words[0] == "workbench":  # it would serve until it is stopped
            [project] = Home(folder / words[1]).projects()
            assert project.name == "hospital"
            continue
        after = CliRunner().invoke(app, words)
        assert after.exit_code == 0, after.output


def test_the_demo_overwrites_nothing_unless_forced(
    done: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = done
    monkeypatch.chdir(folder)
    number = json.loads(Path("shoal-demo/release/certificate.json").read_text())["number"]
    refused = run()
    assert refused.exit_code == 2
    assert "--force to write over an earlier release" in refused.stderr
    refused = run("--out", "elsewhere", "--data", "shoal-demo/hospital")
    assert refused.exit_code == 2
    assert not Path("elsewhere").exists()
    assert "hospital.toml exists already" in refused.stderr
    Path("shoal-demo/release/release.parquet").touch()
    assert "'release.parquet', which belongs to no release" in run("--force").stderr
    Path("shoal-demo/release/release.parquet").unlink()
    assert run("--force").exit_code == 0
    assert sorted(path.name for path in Path("shoal-demo/release").iterdir()) == [
        "certificate.json",
        "release.csv",
    ]
    assert json.loads(Path("shoal-demo/release/certificate.json").read_text())["number"] != number


@pytest.mark.parametrize("name", ["hospital.csv", "hierarchies"])
def test_the_demo_never_overwrites_a_table_of_someone_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("private")
    for more in ([], ["--force"]):
        refused = run("--out", str(tmp_path / "out"), "--data", str(tmp_path), *more)
        assert refused.exit_code == 2
        assert f"{name} exists already" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "private"


def test_with_out_alone_the_demo_writes_only_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("--out", "here/mine")
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "certificate.json",
        "here",
        "mine",
        "release.csv",
    ]
    assert "shoal judge" not in result.stdout


def test_the_hospital_is_not_put_where_it_would_be_published(tmp_path: Path) -> None:
    result = run("--out", str(tmp_path / "out"), "--data", str(tmp_path / "out" / "data"))
    assert result.exit_code == 2
    assert "would be published along" in result.stderr
    assert not (tmp_path / "out").exists()
