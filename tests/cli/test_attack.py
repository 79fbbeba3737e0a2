"""`shoal attack` shows who is exposed, and why."""

import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.attack import ExposedRecord, expose
from shoal.attack.counting import ways
from shoal.chance import Seeded
from shoal.cli.app import app
from shoal.cli.attack import _described
from shoal.exact.numbers import percent
from shoal.methods.mondrian import Mondrian
from shoal.privacy.models import DistinctDiversity
from tests.attack.people import TREES, known, owned
from tests.cli.catalogued import write_recipe

RECIPE = """
[source]
path = "people.csv"
[source.types]
a = "integer"
b = "integer"
[roles]
name = "identifying"
a = "quasi"
b = "quasi"
ill = "sensitive"
[hierarchies.a]
file = "a.csv"
[hierarchies.b]
file = "b.csv"
[method]
name = "mondrian"
models = ["2-diversity of ill"]
"""


def test_the_command_prints_who_is_exposed_and_why_without_reading_the_column(
    tmp_path: Path,
) -> None:
    rows = [(5, 2), (0, 3), (4, 0), (3, 2), (4, 1), (6, 1), (2, 2), (3, 3)]
    people = pl.DataFrame(rows, schema=["a", "b"], orient="row").with_columns(
        name=pl.Series([f"p{i}" for i in range(8)]), ill=pl.Series(list("zzzxzzzx"))
    )
    people.write_csv(tmp_path / "people.csv")
    for name, hierarchy in TREES.items():
        shoal.hierarchy.write(hierarchy, tmp_path / f"{name}.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    recipe, made = str(tmp_path / "recipe.toml"), str(tmp_path / "made")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        return done.output

    run("release", recipe, "--out", made)
    people.with_columns(ill=pl.lit("secret"), name=pl.lit("nobody")).write_csv(
        tmp_path / "people.csv"
    )
    figures = json.loads(run("attack", made, "--recipe", recipe, "--json"))
    method = Mondrian((DistinctDiversity("ill", 2),))
    found = expose(method, known(rows), method.release(owned(rows, "zzzxzzzx")).table, "ill")
    assert (
        (figures["changed"], figures["surer"], figures["broken"])
        == (found.changed, found.surer, found.broken)
        == (8, 4, 1)
    )
    assert figures["largest_gain"] == pytest.approx(float(found.gain))
    row = figures["exposed"][0]["row"] - 1
    assert row in found.most_exposed()[0].rows
    assert figures["exposed"][0]["public"] == {"a": str(rows[row][0]), "b": str(rows[row][1])}
    shown = " ".join(run("attack", made, "--recipe", recipe, "--most", "1").split())
    assert "was not cut between" in shown
    assert f"Most exposed row {row + 1}: " in shown
    assert "secret" not in shown
    assert "by counting all inputs that lead to it" in shown
    assert "at least" not in shown
    for wrong in (["--recipe", recipe, "--column", "a"], [made, "--recipe", recipe], []):
        done = CliRunner().invoke(app, ["attack", made, *wrong])
        assert done.exit_code == 2
    assert "give --recipe" in done.output
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.attack.mondrian.ways", partial(ways, most=0))
        patch.setattr("shoal.attack.mondrian.FEWEST", 1)
        sampled = " ".join(run("attack", made, "--recipe", recipe).split())
    assert "sampling them where there are too many" in sampled
    assert "inferred at least" in sampled


def test_people_who_differ_only_in_their_row_are_shown_once() -> None:
    alike = [
        ExposedRecord(
            row=row,
            public={"age": "22"},
            value="flu",
            shown=0.5,
            inferred=0.8,
            at_least=False,
            broken=[],
            why=["age was not cut between 21 and 22"],
        )
        for row in (3, 1_243)
    ]
    [first, *_] = _described("ill", alike)
    assert first == "rows 3, 1,243: age 22"
    [first, *_] = _described("ill", alike[:1])
    assert first == "row 3: age 22"


def test_of_personal_releases_it_says_how_often_the_right_person_is_named(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, "personal")
    made = tmp_path / "made"
    done = CliRunner().invoke(app, ["release", str(recipe), "--out", str(made)])
    assert done.exit_code == 0, done.output
    # Beside the risk as it is counted, for the owner.
    told = " ".join(done.stderr.split())
    assert "owner only: someone who has everybody's values and knows the algorithm names" in told
    assert "knows the algorithm names" not in done.stdout
    attack = ["attack", str(made), "--recipe", str(recipe)]
    figures = json.loads(CliRunner().invoke(app, [*attack, "--json"]).stdout)
    assert figures["replayed"] is True
    assert figures["named"] >= figures["named_as_counted"]
    shown = CliRunner().invoke(app, attack)
    assert shown.stdout.splitlines()[0] == shown.stdout.splitlines()[-1] == figures["notice"]
    assert percent(figures["named"]) in shown.stdout
    assert shown.stderr == ""
    source = tmp_path / "people.csv"
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    source.write_text("".join(lines[:30]), encoding="utf-8")
    changed = CliRunner().invoke(app, attack)
    assert changed.exit_code == 0
    assert "running the method gives another release" in " ".join(changed.stderr.split())


def test_a_release_with_nothing_to_find_says_so_without_a_recipe(tmp_path: Path) -> None:
    table = shoal.demo.table(300)
    shoal.NoisyCounts(1, "1e-2", levels={}).release(table, Seeded(1)).write(tmp_path / "released")
    refused = CliRunner().invoke(app, ["attack", str(tmp_path / "released")])
    assert refused.exit_code == 2
    assert "this is a release by noisy-counts: " in refused.stderr
    assert "recipe" not in refused.stderr
