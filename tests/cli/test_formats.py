"""Tables of other programs at the command line: the same answers, `--source`, standard input."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal.cli.app import app
from shoal.cli.options import forms_of_dates
from shoal.data import files
from shoal.data.formats import WRITTEN
from shoal.errors import ParameterError
from shoal.recipe.scripting import as_python
from tests.cli.shell import refused, run
from tests.recipe.people import RECIPE


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Standard input as a process finds it, which reads it once."""
    files._piped.cache_clear()
    yield
    files._piped.cache_clear()


def piped(content: bytes, *arguments: str) -> Result:
    files._piped.cache_clear()
    return CliRunner().invoke(app, arguments, input=content)


@pytest.mark.parametrize("form", WRITTEN)
def test_a_release_in_every_format_verifies(folder: Path, form: str) -> None:
    text = RECIPE.replace('format = "csv"', f'format = "{form}"')
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    made = run("release", "recipe.toml", "--out", "out", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["table"] == f"out/release.{form}"
    verified = run("verify", "out/certificate.json", "out")
    assert verified.exit_code == 0, verified.output
    again = shoal.Release.read(folder / "out")
    assert again.table.height == shoal.read(folder / "out" / f"release.{form}").rows
    path = folder / "out" / f"release.{form}"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert run("verify", "out/certificate.json", "out").exit_code == 1


@pytest.mark.parametrize("form", ["xlsx", "sav", "dta", "xpt", "jsonl"])
def test_a_recipe_means_text_where_it_declares_no_type(tmp_path: Path, form: str) -> None:
    from shoal import demo

    recipe = demo.write(tmp_path, 500)
    stays = pl.read_csv(tmp_path / "hospital.csv", infer_schema=False)
    stays = stays.with_columns(pl.col("age", "stay").cast(pl.Int64))
    shoal.write(stays.with_columns(pl.col("admitted").str.to_date()), tmp_path / f"other.{form}")
    given = shoal.Recipe.load(recipe)
    own, other = given.table(), given.reading_from(tmp_path / f"other.{form}").table()
    assert other.schema.kinds == given.schema.kinds
    assert not other.guessed
    for name in own.schema.released:
        assert other.keys(name) == own.keys(name)
    place = str(tmp_path / f"other.{form}")
    made = run("release", str(recipe), "--source", place, "--out", str(tmp_path / "out"))
    assert made.exit_code == 0, made.output


@pytest.mark.parametrize("form", ["csv.gz", "xlsx", "sav", "dta", "jsonl"])
def test_a_recipe_reads_another_source(folder: Path, form: str) -> None:
    people = pl.read_csv(folder / "people.csv", separator=";", infer_schema=False)
    if form == "csv.gz":
        content = gzip.compress((folder / "people.csv").read_bytes())
        (folder / f"other.{form}").write_bytes(content)
    else:
        shoal.write(people, folder / f"other.{form}")
    (folder / "people.csv").unlink()
    checked = run("recipe", "check", "recipe.toml", "--source", f"other.{form}")
    assert checked.exit_code == 0, checked.output
    made = run("release", "recipe.toml", "--source", f"other.{form}", "--out", "out")
    assert made.exit_code == 0, made.output
    assert "people.csv" in refused("release", "recipe.toml", "--out", "again")


@pytest.mark.parametrize("form", ["csv", "csv.zst", "parquet", "arrow", "xlsx", "sav"])
def test_standard_input_is_a_source(folder: Path, form: str) -> None:
    people = pl.read_csv(folder / "people.csv", separator=";", infer_schema=False)
    shoal.write(people, folder / f"other.{form}")
    expected = run("assess", f"other.{form}", "-q", "age,sex", "--json").stdout
    content = (folder / f"other.{form}").read_bytes()
    assert piped(content, "assess", "-", "-q", "age,sex", "--json").stdout == expected
    recipe = RECIPE.replace('separator = ";"\n', "")
    (folder / "recipe.toml").write_text(recipe, encoding="utf-8")
    made = piped(content, "release", "recipe.toml", "--source", "-", "--out", "out")
    assert made.exit_code == 0, made.output


def test_standard_input_is_read_into_memory(folder: Path) -> None:
    assert "standard input is empty" in piped(b"", "assess", "-", "-q", "age").stderr
    said = piped(b"age\n39\n", "assess", "-", "-q", "age", "--engine", "stream").stderr
    assert "into memory" in said


def test_how_values_are_written_is_an_option(folder: Path) -> None:
    Path("t.csv").write_text("born;paid\n18.10.1970;1,5\n1.2.1988;2\n", encoding="utf-8")
    options = ["--decimal", ",", "--dates", "born=%d.%m.%Y", "--type", "born=date,paid=float"]
    assert run("assess", "t.csv", "-q", "born,paid", *options).exit_code == 0
    said = refused("assess", "t.csv", "-q", "born", "--dates", "%Y-%m-%d", "--type", "born=date")
    assert "2 values of column 'born' are not written as %Y-%m-%d" in said
    assert "--dates %x" in refused("assess", "t.csv", "-q", "born", "--dates", "%x")
    assert "--decimal ';'" in refused("assess", "t.csv", "-q", "born", "--decimal", ";")
    drafted = run("recipe", "new", "t.csv", *options[:4]).stdout
    assert 'dates = { born = "%d.%m.%Y" }' in drafted
    assert 'decimal = ","' in drafted
    assert 'born = "date"' in drafted
    assert 'paid = "float"' in drafted


def test_forms_of_dates_are_of_all_columns_or_of_each() -> None:
    assert forms_of_dates([]) is None
    with pytest.raises(ParameterError, match="does not name a column"):
        forms_of_dates(["%d.%m.%Y", "%Y"])


def test_what_a_recipe_says_of_its_source_is_checked(folder: Path) -> None:
    wrong = 'dates = { birth = "%d.%m.%Y" }\ndecimal = ";"\nlabels = "both"\n'
    text = RECIPE.replace("[roles]", "").replace("types =", f"{wrong}types =")
    text = text.replace('name = "identifying"', '[roles]\nname = "identifying"')
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    assert "source.labels" in refused("recipe", "check", "recipe.toml")
    (folder / "recipe.toml").write_text(text.replace('"both"', '"codes"'), encoding="utf-8")
    said = refused("recipe", "check", "recipe.toml")
    assert "source.decimal" in said
    assert "source.dates.birth" in said


def test_a_recipe_as_code_says_how_its_source_is_read(folder: Path) -> None:
    text = RECIPE.replace("types =", 'decimal = ","\ndates = { visits = "%d.%m.%Y" }\ntypes =')
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    code = as_python(shoal.Recipe.load(folder / "recipe.toml"), "out")
    assert "decimal=','" in code
    assert "%d.%m.%Y" in code
