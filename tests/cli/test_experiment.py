"""`shoal experiment` lists and repeats the evaluations of the papers."""

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from shoal.cli.app import app


def _run(*args: object) -> Result:
    return CliRunner().invoke(app, ["experiment", *map(str, args)])


def test_the_list_names_paper_and_figure() -> None:
    listed = json.loads(_run("list", "--json").stdout)
    assert {"name", "paper", "figure"} <= listed[0].keys()
    assert "safepub-parameters" in _run("list").stdout


def test_a_run_shows_tables_and_the_comparison_with_the_paper() -> None:
    shown = _run("run", "safepub-parameters")
    assert shown.exit_code == 0, shown.output
    assert "The paper: " in shown.stdout
    assert "Here: " in shown.stdout


def test_a_run_is_also_json() -> None:
    result = json.loads(_run("run", "safepub-parameters", "--quick", "--json").stdout)
    assert result["setting"] == "quick"
    row = next(row for row in result["tables"][0]["rows"] if row["delta"] == "1e-6")
    assert row == {"epsilon": 0.1, "delta": "1e-6", "k": 60, "k, standard definition": 35}


def test_a_chart_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "k.svg"
    assert _run("run", "safepub-parameters", "--chart", file).exit_code == 0
    assert file.read_text().startswith("<svg")
    again = _run("run", "safepub-parameters", "--chart", file)
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_data_is_refused_where_it_is_not_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("a\n1\n")
    refused = _run("run", "safepub-parameters", "--data", file)
    assert refused.exit_code == 2
    assert "does not look at data; leave out --data" in refused.stderr
