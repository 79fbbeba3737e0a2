"""What a recipe makes is what the library makes; a check looks at all it names."""

import hashlib
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.data.tables import Role
from shoal.errors import HierarchyError, RecipeError
from shoal.methods.optimal import Optimal
from shoal.privacy.models import KAnonymity, TCloseness
from shoal.recipe import Recipe
from tests.recipe.people import PEOPLE, Write


def test_a_recipe_makes_what_the_library_makes(write: Write) -> None:
    recipe = Recipe.load(write())
    assert recipe.method() == Optimal((KAnonymity(2),), suppression="0.5")
    made = recipe.table()
    assert made.quasi == ("age", "sex")
    assert made.having(Role.IDENTIFYING) == ("name",)
    assert [made.hierarchy(name).height for name in made.quasi] == [3, 1]
    assert recipe.nodes(recipe.table()) == 8
    assert recipe.format == "csv"


@pytest.mark.parametrize("missing", ["category", "refuse"])
def test_a_recipe_knows_its_schema_without_a_look_at_its_source(write: Write, missing: str) -> None:
    path = write(('missing = "category"', f'missing = "{missing}"'))
    table = Recipe.load(path).table()
    (path.parent / "people.csv").unlink()
    schema = Recipe.load(path).schema
    assert schema.roles == table.schema.roles
    assert schema.released == table.schema.released
    for name, tree in schema.hierarchies.items():
        assert schema.kinds[name] is table.kind(name)
        assert tree.labels == table.hierarchy(name).labels


def test_running_a_recipe_gives_a_release(write: Write) -> None:
    release = Recipe.load(write()).run()
    assert "name" not in release.table.columns
    assert release.table.group_by("age", "sex").len()["len"].min() >= 2


def test_the_source_and_hierarchy_files_lie_beside_the_recipe(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(('build = "suppress"\nvalues = ["f", "m"]', 'file = "sex.csv"'))
    (path.parent / "sex.csv").write_text("f;*\nm;*\n")
    (path.parent / "elsewhere").mkdir()
    monkeypatch.chdir(path.parent / "elsewhere")
    recipe = Recipe.load(path)
    assert recipe.hierarchies["sex"].leaves == 2
    assert recipe.table().rows == 6


def test_a_hierarchy_file_takes_the_declared_type_of_its_column(write: Write) -> None:
    path = write(
        (
            'build = "intervals"\nlow = 0\nhigh = 99\nwidths = [10, 50]',
            'file = "age.csv"\nadd_root = "any"',
        )
    )
    (path.parent / "age.csv").write_text("".join(f"{age:03};{age // 10}x\n" for age in range(100)))
    table = Recipe.load(path).table()
    assert table.hierarchy("age").labels[-1] == ("any",)
    assert len(table.leaf_of("age")) == 6


def test_a_population_is_read_from_its_file(write: Write) -> None:
    models = 'model = "delta-presence"\nlowest = 0\nhighest = 0.5\npopulation = "town.csv"'
    path = write(('model = "k-anonymity"\nk = 2', models))
    (path.parent / "town.csv").write_text("age;sex\n" + "30;f\n" * 7 + "30;m\n" * 5)
    (model,) = Recipe.load(path).method().models  # type: ignore[attr-defined]
    assert model.population.total == 12
    assert model.population.names == ("age", "sex")


@pytest.mark.parametrize("written", ['"0.3-closeness (hierarchical) of diagnosis"', "THE_TABLE"])
def test_hierarchical_closeness_takes_the_hierarchy_of_its_column(
    write: Write, written: str
) -> None:
    section = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    table = '{ model = "t-closeness", column = "diagnosis", t = 0.3, distance = "hierarchical" }'
    groups = 'tree = { lungs = ["flu", "cold"], heart = ["stroke"] }'
    tree = f'[hierarchies.diagnosis]\nbuild = "group"\n{groups}\n\n[method]'
    models = f"models = [{written.replace('THE_TABLE', table)}]"
    path = write((section, ""), ("suppression = 0.5", models), ("[method]", tree))
    # Ann and Bea, in their thirties, have a stroke and a flu.
    people = PEOPLE.replace("cold", "stroke", 1)
    path.with_name("people.csv").write_text(people)
    recipe = Recipe.load(path)
    release = recipe.run()
    (model,) = release.certificate.parameters["models"]
    assert (model["distance"], model["t"]) == ("hierarchical", "3/10")
    found = Optimal(
        (TCloseness("diagnosis", "0.3", "hierarchical", recipe.table().hierarchy("diagnosis")),)
    )
    assert release.certificate.levels == found.release(recipe.table()).certificate.levels
    flat = Optimal((TCloseness("diagnosis", "0.3"),)).release(recipe.table())
    assert (
        flat.certificate.levels != release.certificate.levels
    )  # where a flu is as far from a cold as from a stroke
    assert (
        shoal.verify(
            release.write(path.parent / "out").with_name("certificate.json"),
            path.parent / "out" / "release.csv",
        )
        == []
    )


def nodes(path: Path) -> int | None:
    recipe = Recipe.load(path)
    return recipe.nodes(recipe.table())


def test_the_lattice_of_safepub_has_every_released_column_with_a_hierarchy(
    safe: Callable[..., Path],
) -> None:
    tree = (
        "[output]",
        '[hierarchies.diagnosis]\nbuild = "suppress"\nvalues = ["flu", "cold"]\n[output]',
    )
    assert nodes(safe()) == 4 * 2
    assert nodes(safe(edit=tree)) == 4 * 2 * 2
    assert nodes(safe("floor = { age = 1 }", "ceiling = { diagnosis = 0 }", edit=tree)) == 3 * 2
    predicted = safe('score = "classification"', 'classes = ["diagnosis"]', edit=tree)
    assert nodes(predicted) == 4 * 2
    assert nodes(safe("levels = { age = 1, sex = 0, diagnosis = 1 }", edit=tree)) is None


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            "ceiling = { age = 9 }",
            "method: column 'age' can have levels 0 to 3; floor and ceiling ask for 0 to 9",
        ),
        (
            "levels = { age = 1 }",
            "method.levels is to name every column that has a hierarchy; missing are 'sex'",
        ),
        (
            "importance = { age = 0, sex = 0 }",
            "method.importance takes numbers of at least 0, and one above 0",
        ),
    ],
)
def test_what_the_schema_forbids_is_found_before_anything_is_spent(
    safe: Callable[..., Path], option: str, said: str
) -> None:
    path = safe(option)
    ledger = shoal.Ledger.create(path.with_name("book.ledger"))
    recipe = Recipe.load(path)
    for attempt in (recipe.promise, recipe.release, partial(recipe.release, ledger=ledger)):
        with pytest.raises(RecipeError, match=re.escape(said)):
            attempt(recipe.table())
    assert len(ledger.entries()) == 1
    for command in (
        ["recipe", "check", str(path)],
        ["release", str(path), "--out", str(path.with_name("out"))],
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 2
        assert said in result.stderr


def test_a_check_names_columns_that_are_released_unchanged(safe: Callable[..., Path]) -> None:
    checked = CliRunner().invoke(app, ["recipe", "check", str(safe())])
    assert "no hierarchy  diagnosis, visits: released unchanged" in checked.stdout


def test_a_table_without_anything_to_generalise_is_refused(safe: Callable[..., Path]) -> None:
    path = safe()
    text = re.sub(r"\[hierarchies(.|\n)*?\[method\]", "[method]", path.read_text()).replace(
        '"quasi"', '"insensitive"'
    )
    path.write_text(text)
    with pytest.raises(RecipeError, match="no released column has one to be generalised along"):
        Recipe.load(path)


@pytest.mark.parametrize("ledger", [False, True])
def test_the_certificate_has_the_digest_of_the_recipe_and_nothing_else_of_it(
    safe: Callable[..., Path], ledger: bool
) -> None:
    path = safe(
        edit=("[output]", '[ledger]\npath = "book.ledger"\n[output]') if ledger else ("", "")
    )
    if ledger:
        shoal.Ledger.create(path.with_name("book.ledger"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    recipe = Recipe.load(path)
    made = recipe.run()
    assert made.certificate.recipe == digest
    text = made.certificate.to_json()
    assert f"SHA-256 {digest}" in str(made.certificate)
    assert f"k = {made.certificate.derived['k']}" in str(made.certificate)
    assert "people.csv" not in text
    assert str(path.parent) not in text
    if ledger:
        entry = shoal.Ledger(path.with_name("book.ledger")).entries()[-1]
        assert entry.facts.certificate["recipe"] == digest
    assert recipe.method().release(recipe.table()).certificate.recipe is None
    path.write_text(path.read_text() + "# changed\n")
    assert Recipe.load(path).run().certificate.recipe != digest


def test_a_value_outside_its_hierarchy_is_counted_and_not_shown(write: Write) -> None:
    path = write(("high = 99\nwidths = [10, 50]", "high = 49\nwidths = [10, 50]"))
    with pytest.raises(HierarchyError, match=r"column 'age': 2 distinct values") as caught:
        Recipe.load(path).run()
    assert "52" not in str(caught.value)
    assert "58" not in str(caught.value)


def test_a_check_lists_all_that_is_wrong_at_once(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,age,sex,ill\nann,31,f,flu\nbob,x,m,cold\n")
    (tmp_path / "sex.csv").write_text("f;any\nm;all\n")
    recipe = tmp_path / "people.toml"
    recipe.write_text(
        """
[source]
path = "people.csv"
types = { age = "integer" }
tab = 1

[roles]
name = "identifying"
age = "quasi"
sex = "quasi"
ill = "sensitive"

[hierarchies]
age = { build = "intervals", low = 9, high = 1, widths = [5] }
sex = { file = "sex.csv" }
job = { file = "job.csv" }

[method]
name = "safepub"
epsilon = -1
delta = 1e-6
ceiling = { ill = 1 }
"""
    )
    done = CliRunner().invoke(app, ["recipe", "check", str(recipe)])
    assert done.exit_code == 2
    said = done.stderr
    for expected in (
        "source.tab: unknown key",
        "hierarchies.job: no such column in [roles]",
        "method.ceiling.ill: ",
        "hierarchies.age.high must not be below",
        "hierarchies.sex: ",
        "hierarchies.job: cannot read",
        "epsilon",
        "column 'age': 1 distinct value",
    ):
        assert expected in said, expected
    assert "bob" not in said


def test_a_check_goes_on_beside_what_is_left_open_and_faulty(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,ill\n31,flu\n")
    recipe = tmp_path / "people.toml"
    recipe.write_text(
        """
missing = "perhaps"
[source]
path = "people.csv"
[roles]
age = "quasi"
ill = "sensitive"
weight = "insensitive"
height = "insensitive"
[hierarchies]
age = { build = "intervals", low = "?", high = 99, widths = [5] }
[method]
name = "optimal"
models = ["5-anonimity", "3-diversity of weight"]
"""
    )
    with pytest.raises(RecipeError) as caught:
        Recipe.check(recipe)
    said = str(caught.value)
    for expected in (
        "still has '?' at hierarchies.age.low",
        "missing is 'perhaps'",
        "5-anonimity",
        "roles.weight: the source has no such column",
        "roles.height: the source has no such column",
    ):
        assert expected in said, expected
