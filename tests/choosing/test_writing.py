"""What is written for a recommendation works: recipes, commands, Python code."""

import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

import shoal
from shoal.choosing import AUDIT, ELSEWHERE, Recommendation
from shoal.choosing.guides import WAYS
from shoal.choosing.trying import made, schema_of
from shoal.cli.app import app
from shoal.data.schema import Role
from shoal.recipe import Recipe
from tests.choosing.interviews import EXAMPLES, example

ROWS = 400


def table_for(found: Recommendation) -> shoal.Table:
    """A table with the columns that a recommendation names."""
    schema = schema_of(found.parameters)
    values: dict[str, list[Any]] = {name: ["a", "b", "c", "d"] * 100 for name in schema.roles}
    for name in schema.having(Role.IDENTIFYING):
        values[name] = [f"p{number}" for number in range(ROWS)]
    values |= {name: [30 + number % 3 for number in range(ROWS)] for name in schema.hierarchies}
    if "ITEM" in values:
        values["ITEM"] = ["FIRST", "SECOND", "THIRD", "FIRST"] * 100
    roles = {role.value: list(schema.having(role)) for role in Role}
    return shoal.table(
        pl.DataFrame(values),
        types=dict(schema.kinds),
        hierarchies=dict(schema.hierarchies),
        **roles,  # type: ignore[arg-type]
    )


every_release = pytest.mark.parametrize("name", list(EXAMPLES)[:-2])


@every_release
def test_python_releases_by_the_method(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = example(name)
    shoal.Ledger.create("people.ledger", witness=False)
    names: dict[str, Any] = {"table": table_for(found)}
    exec(found.python(), names)
    assert names["method"] == made(found.method, found.parameters)
    certificate = names["release"].certificate
    assert certificate.method == found.method
    assert found.promise is not None
    assert certificate.promise == found.promise.to_dict()
    assert (tmp_path / "released" / "certificate.json").exists()


@every_release
def test_a_recipe_with_these_lines_makes_the_method(name: str, tmp_path: Path) -> None:
    found = example(name)
    table = table_for(found)
    shoal.write(table.frame, tmp_path / "people.csv")
    roles = [f"{name} = '{role.value}'" for name, role in table.schema.roles.items()]
    kinds = [f"{name} = '{kind.value}'" for name, kind in table.schema.kinds.items()]
    trees = []
    for column, tree in table.hierarchies.items():
        shoal.hierarchy.write(tree, tmp_path / f"{column}.csv")
        trees.append(f"{column} = {{ file = '{column}.csv' }}")
    lines = ["[source]", "path = 'people.csv'", "[source.types]", *kinds, "[roles]", *roles]
    lines += ["[hierarchies]", *trees, *found.recipe_lines()]
    (tmp_path / "recipe.toml").write_text("\n".join(lines))
    assert Recipe.load(tmp_path / "recipe.toml").method() == made(found.method, found.parameters)


def test_the_examples_lead_to_all_methods() -> None:
    assert [example(name).method for name in EXAMPLES] == [
        name.partition(", ")[0] if name != ELSEWHERE else name for name in EXAMPLES
    ]
    assert {example(name).method for name in EXAMPLES} == set(WAYS)


def test_commands_are_commands() -> None:
    known = typer.main.get_command(app)
    for name in EXAMPLES:
        for line in example(name).commands():
            command: Any = known
            words = shlex.split(line)[1:]
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            taken = {option for parameter in command.params for option in parameter.opts}
            assert taken >= {word for word in words if word.startswith("--")}, line


def test_an_audit_is_made_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = example(AUDIT)
    wages = pl.DataFrame({"KNOWN": ["a", "b", "c"], "SENSITIVE": [10, 20, 30]})
    names: dict[str, Any] = {"table": shoal.table(wages), "LOW": 0, "HIGH": 100, "WIDTH": 5}
    exec(found.python(), names)
    assert str(names["audit"].ask("max(SENSITIVE)")) == "30"
    assert "LOW" in found.blanks


def test_nothing_is_written_for_what_shoal_does_not_do() -> None:
    found = example(ELSEWHERE)
    assert (found.recipe_lines(), found.commands(), found.python()) == ((), (), "")
