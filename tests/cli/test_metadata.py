"""`shoal metadata`: what it writes and where, and whose words count."""

import json
from pathlib import Path

import pytest

import shoal
from shoal import demo
from tests.cli.shell import refused, run


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shoal.NoisyCounts(1, "1e-6").release(demo.table(500)).write("released")
    return tmp_path / "released"


def test_a_description_lies_beside_the_table(released: Path) -> None:
    done = run("metadata", "released", "--title", "Stays")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert json.loads((released / "datapackage.json").read_text())["title"] == "Stays"
    assert "exists already" in refused("metadata", "released")
    assert run("metadata", "released", "--force").exit_code == 0
    run("metadata", "released", "--as", "csvw")
    assert (released / "csv-metadata.json").is_file()
    run("metadata", "released", "--as", "csvw", "--out", "elsewhere.json")
    assert Path("elsewhere.json").read_bytes() == (released / "csv-metadata.json").read_bytes()


def test_typed_words_go_before_those_of_the_file(released: Path) -> None:
    Path("about.toml").write_text('title = "Stays"\npublisher = "The hospital"\n')
    run("metadata", "released", "--about", "about.toml", "--title", "Other stays")
    package = json.loads((released / "datapackage.json").read_text())
    assert package["title"] == "Other stays"
    assert package["contributors"][0]["title"] == "The hospital"


def test_what_is_wrong_is_said_and_nothing_is_written(released: Path) -> None:
    assert "health_category" in refused("metadata", "released", "--as", "healthdcat")
    assert "no certificate.json" in refused("metadata", ".")
    Path("about.toml").write_text('titel = "Stays"\n')
    assert "titel" in refused("metadata", "released", "--about", "about.toml")
