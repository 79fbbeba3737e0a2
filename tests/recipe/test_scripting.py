"""Python code and commands do the very same as the recipe they are written from."""

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from shoal import demo
from shoal.recipe import Recipe
from shoal.recipe.scripting import as_commands, as_python
from shoal.releases.certificate import Certificate
from shoal.releases.release import certificate_in
from tests.cli.shell import run
from tests.recipe.people import PEOPLE

METHODS = {
    "auto": 'epsilon = 1\ndelta = 1e-6\nimportance = { age = 3, diagnosis = "1/3" }',
    "safepub": 'epsilon = "ln(2)"\ndelta = 1e-6\nunit = "patient"',
    "noisy-counts": 'epsilon = "ln(2)"\ndelta = "1e-6"\nlevels = { age = 4, sex = 1, postcode = 3, '
    "admitted = 4, ward = 2, insurance = 1, diagnosis = 1, stay = 1, outcome = 1 }",
    "optimal": 'models = ["5-anonymity", { model = "distinct-diversity", l = 2, '
    'column = "diagnosis" }]\nsuppression = "1/10"',
    "mondrian": 'models = ["4-anonymity"]',
    "kdgs": "k = 5\nlevels = { age = 4, sex = 1, postcode = 3, admitted = 4, ward = 2,"
    " insurance = 1 }",
    "buckets": 'column = "diagnosis"\n'
    "limits = { values = { stroke = 0.3 }, others = { a = 3, b = 0.2 } }",
    "sampling": 'probability = "1/3"',
    "personal": "utility = 0.5",
}


def hospital(folder: Path, method: str, options: str, more: str = "") -> Recipe:
    path = demo.write(folder, 300)
    text = path.read_text()
    start, end = text.index("[method]"), text.index("[output]")
    path.write_text(f'{text[:start]}[method]\nname = "{method}"\n{options}\n{text[end:]}{more}')
    return Recipe.load(path)


def told(folder: Path) -> tuple[Any, ...]:
    """What a certificate says that does not depend on chance."""
    found = certificate_in(folder)
    assert isinstance(found, Certificate)
    assert found.file is not None
    names = found.file["name"], found.file["format"], found.file.get("neutralised")
    return found.method, found.promise, found.parameters, found.columns, names


@pytest.mark.parametrize("method", METHODS)
def test_python_releases_what_the_recipe_does(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = hospital(tmp_path, method, METHODS[method])
    recipe.release(recipe.table(), tmp_path / "by recipe")
    monkeypatch.chdir(tmp_path)
    exec(as_python(recipe, "by python"), {})
    assert told(tmp_path / "by python") == told(tmp_path / "by recipe")


def test_python_enters_the_ledger_and_writes_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shoal

    recipe = hospital(
        tmp_path,
        "auto",
        METHODS["auto"],
        'neutralise = true\nrows_per_file = 50\n[ledger]\npath = "h.ledger"\n',
    )
    book = shoal.Ledger.create(tmp_path / "h.ledger", epsilon=2, delta="1e-5")
    recipe.release(recipe.table(), tmp_path / "by recipe")
    monkeypatch.chdir(tmp_path)
    exec(as_python(recipe, "by python"), {})
    assert told(tmp_path / "by python") == told(tmp_path / "by recipe")
    assert book.spent().epsilon == 2


def test_hierarchies_are_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "r.toml").write_text("""
rows_are_people = true
[source]
path = "people.csv"
separator = ";"
types = { age = "integer" }
[roles]
name = "identifying"
age = "quasi"
sex = "quasi"
diagnosis = "sensitive"
visits = "insensitive"
[hierarchies]
age = { build = "intervals", low = 0, high = 99, widths = [10, 50] }
sex = { build = "group", tree = { all = ["f", "m"] } }
[method]
name = "optimal"
models = [{ model = "k-anonymity", k = 2 }]
""")
    recipe = Recipe.load(tmp_path / "r.toml")
    recipe.release(recipe.table(), tmp_path / "by recipe")
    monkeypatch.chdir(tmp_path)
    exec(as_python(recipe, "by python"), {})
    assert told(tmp_path / "by python") == told(tmp_path / "by recipe")


def test_the_commands_release_and_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = hospital(tmp_path, "auto", METHODS["auto"])
    monkeypatch.chdir(tmp_path)
    for line in as_commands(recipe, "out dir").splitlines():
        program, *words = shlex.split(line)
        assert program == "shoal"
        assert run(*words).exit_code == 0
    assert os.listdir("out dir")
