"""A recipe is checked as a whole, and every mistake is named by its key."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.errors import FileError, RecipeError
from shoal.recipe import Recipe
from shoal.views.files import ViewsFile
from tests.recipe.people import Write


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("k = 2", "kk = 2", "method.models[0].kk: unknown key; did you mean 'k'?"),
        ("k = 2", 'k = "two"', "method.models[0].k should be a valid integer, not 'two'"),
        ("k = 2", "k = 2.5", "method.models[0].k should be a valid integer, not 2.5"),
        ("k = 2", "", "method.models[0].k: missing; add it"),
        (
            '"k-anonymity"',
            '"k-anonimity"',
            "method.models[0].model is 'k-anonimity'; did you mean 'k-anonymity'?",
        ),
        (
            'model = "k-anonymity"\n',
            "",
            "method.models[0].model: missing; it takes 'k-anonymity', 'distinct-diversity'",
        ),
        (
            'name = "optimal"',
            'name = "optimum"',
            "method.name is 'optimum'; did you mean 'optimal'?",
        ),
        ('name = "optimal"', 'nmae = "optimal"', "method.nmae: unknown key; did you mean 'name'?"),
        (
            'build = "intervals"',
            'buidl = "intervals"',
            "hierarchies.age.buidl: unknown key; did you mean 'build'?",
        ),
        (
            'model = "k-anonymity"',
            'modle = "k-anonymity"',
            "method.models[0].modle: unknown key; did you mean 'model'?",
        ),
        (
            'name = "optimal"',
            "",
            "method.name: missing; it takes 'auto', 'safepub', 'noisy-counts'",
        ),
        (
            'name = "optimal"',
            'name = "x"',
            "method.name is 'x'; it takes 'auto', 'safepub', 'noisy-counts', 'columns'",
        ),
        (
            "suppression = 0.5",
            "supression = 0.5",
            "method.supression: unknown key; did you mean 'suppression'?",
        ),
        (
            "suppression = 0.5",
            "suppression = true",
            "method.suppression should be a number such as 0.05",
        ),
        (
            "suppression = 0.5",
            'loss = "granular"',
            "method.loss is 'granular'; did you mean 'granularity'?",
        ),
        (
            "suppression = 0.5",
            "floor = { agee = 1 }",
            "method.floor.agee: not a quasi-identifying column; did you mean 'age'?",
        ),
        (
            'separator = ";"',
            'seperator = ";"',
            "source.seperator: unknown key; did you mean 'separator'?",
        ),
        ('path = "people.csv"\n', "", "source.path: missing; add it"),
        ('"integer"', '"int"', "source.types.age is 'int'; did you mean 'integer'?"),
        (
            "types = { age",
            "types = { aged",
            "source.types.aged: no such column in [roles]; did you mean 'age'?",
        ),
        ('age = "quasi"', 'age = "quazi"', "roles.age is 'quazi'; did you mean 'quasi'?"),
        (
            'build = "intervals"',
            'build = "interval"',
            "hierarchies.age.build is 'interval'; did you mean 'intervals'?",
        ),
        ("widths", "width", "hierarchies.age.width: unknown key; did you mean 'widths'?"),
        ("low = 0", "low = true", "hierarchies.age.low should be a number"),
        (
            '[hierarchies.sex]\nbuild = "suppress"\nvalues = ["f", "m"]',
            "",
            "hierarchies.sex: missing",
        ),
        (
            "[hierarchies.sex]",
            "[hierarchies.sexx]",
            "hierarchies.sexx: no such column in [roles]; did you mean 'sex'?",
        ),
        (
            'missing = "category"',
            'missing = "drop"',
            "missing is 'drop'; it takes 'category', 'refuse'",
        ),
        ('missing = "category"', "budget = 1", "budget: unknown key; it takes 'source', 'roles'"),
        (
            'format = "csv"',
            'format = "pdf"',
            "output.format is 'pdf'; it takes 'csv', 'csv.gz', 'csv.zst', 'parquet', 'arrow'",
        ),
        (
            'model = "k-anonymity"\nk',
            'model = "distinct-diversity"\ncolumn = "age"\nl',
            "'age' is not a sensitive column",
        ),
        (
            "[[method.models]]",
            "[[method.modles]]",
            "method.modles: unknown key; did you mean 'models'?",
        ),
    ],
)
def test_a_mistake_is_named_by_its_key_and_its_fix(
    write: Write, old: str, new: str, said: str
) -> None:
    with pytest.raises(RecipeError, match=re.escape(said)):
        Recipe.load(write((old, new)))


def test_all_mistakes_are_listed_one_per_line(write: Write) -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe.load(write(("k = 2", "kk = 2"), ('format = "csv"', 'formt = "csv"')))
    first, *lines = str(caught.value).splitlines()
    assert first.endswith("recipe.toml has 3 mistakes")
    assert sorted(line.split(":")[0].strip() for line in lines) == [
        "method.models[0].k",
        "method.models[0].kk",
        "output.formt",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("k = 2", "k = 0", "method.models[0].k = 0 is out of range"),
        ("suppression = 0.5", "suppression = 1.5", "method.suppression"),
        ("suppression = 0.5", "suppression = nan", "method.suppression"),
        ("suppression = 0.5", 'suppression = "a third"', "method.suppression"),
    ],
)
def test_a_value_out_of_range_is_named_by_its_key(
    write: Write, old: str, new: str, said: str
) -> None:
    with pytest.raises(RecipeError, match=re.escape(said)):
        Recipe.load(write((old, new))).method()


def test_a_hierarchy_that_cannot_be_built_is_named_by_its_key(write: Write) -> None:
    recipe = Recipe.load(write(("widths = [10, 50]", "widths = [10, 15]")))
    with pytest.raises(RecipeError, match=r"recipe\.toml: hierarchies\.age: .*nest"):
        recipe.table()


def test_placeholders_that_are_left_are_listed(write: Write) -> None:
    with pytest.raises(
        RecipeError, match=re.escape("'?' at roles.sex, method.models[0].k; replace")
    ):
        Recipe.load(write(('sex = "quasi"', 'sex = "?"'), ("k = 2", 'k = "?"')))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"a = [", "is not TOML"), (b"\xff\xfe\x00", "is not UTF-8"), (None, "cannot read")],
)
def test_a_file_that_is_not_a_recipe_is_refused(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "recipe.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((RecipeError, FileError), match=said):
        Recipe.load(path)


@pytest.mark.parametrize(
    "content",
    ["[Zanzibar]\n[Zanzibar]\n", "a = { Zanzibar = 1, Zanzibar = 2 }\n", "Zanzibar,flu\n"],
)
def test_a_message_about_a_file_that_is_not_toml_quotes_nothing_of_it(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "people.txt"
    path.write_text(content)
    for reader in (Recipe.load, ViewsFile.read):
        with pytest.raises((RecipeError, FileError), match=r"is not TOML.*: see line \d") as caught:
            reader(path)
        assert "Zanzibar" not in str(caught.value)


@pytest.mark.parametrize("name", ["people.csv", "People.CSV", "people.tsv", "people.parquet"])
def test_a_table_in_place_of_a_recipe_is_recognised(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("secret = 1\nsecret = 2\n")
    with pytest.raises(
        RecipeError, match=r"Is it a table\? Then draft a recipe with: shoal recipe new .*eople"
    ) as caught:
        Recipe.load(tmp_path / name)
    assert "secret" not in str(caught.value)


def test_an_empty_recipe_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text("")
    with pytest.raises(RecipeError, match=r"(?s)source: missing.*roles: missing.*method: missing"):
        Recipe.load(tmp_path / "recipe.toml")


def test_a_unit_needs_an_identifying_column(
    safe: Callable[..., Path],
) -> None:
    wrong = safe('unit = "person"', edit=('name = "identifying"', 'name = "insensitive"'))
    with pytest.raises(RecipeError, match=r"'person' is not an identifying column; no column has"):
        Recipe.load(wrong).method()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("epsilonn = 1", "method.epsilonn: unknown key; did you mean 'epsilon'?"),
        ("split = true", "method.split should be a number"),
        ('definition = "standart"', "method.definition is 'standart'; did you mean 'standard'?"),
        ('search = "wlak"', "method.search is 'wlak'; did you mean 'walk'?"),
        (
            "importance = { agee = 2 }",
            "method.importance.agee: not a released column with a hierarchy; did you mean 'age'?",
        ),
        ("importance = { age = true }", "method.importance.age should be a number"),
        (
            "floor = { name = 1 }",
            "method.floor.name: not a released column with a hierarchy; it takes 'age', 'sex'",
        ),
        (
            "ceiling = { visits = 1 }",
            "method.ceiling.visits: not a released column with a hierarchy",
        ),
        ("levels = { age = 1.5 }", "method.levels.age should be a valid integer, not 1.5"),
        (
            "levels = { aeg = 1 }",
            "method.levels.aeg: not a released column with a hierarchy; did you mean 'age'?",
        ),
        ('classes = "diagnosis"', "method.classes should be a valid list"),
        (
            'classes = ["diagnoses"]',
            "method.classes[0]: 'diagnoses' is not a released column; did you mean 'diagnosis'?",
        ),
        ('classes = ["name"]', "method.classes[0]: 'name' is not a released column"),
        ('unit = "age"', "method.unit: 'age' is not an identifying column; give it that role"),
        ('unit = "nam"', "method.unit: 'nam' is not an identifying column; did you mean 'name'?"),
        ("models = []", "method.models: unknown key"),
        # What SafePub itself refuses, by its key
        ('score = "granular"', "method.score is 'granular'; known are 'granularity', 'intensity'"),
        ('score = "classification"', "method.classes names the columns to be predicted"),
        ("split = 1", "method: a split of 1 leaves nothing for a search"),
        ("split = 0", "method.split = 0 is out of range"),
        (
            'unit = "name"\ndefinition = "probabilistic"',
            "method: the probabilistic definition is not kept where people have several rows",
        ),
        ("rows = 2", "method.rows bounds how many rows each person gives; say with unit"),
        ("beta = 1", "method.beta = 1 is out of range"),
        ('beta = "often"', "method.beta"),
        ("records = 100", "method.records is what beta = 'auto' is chosen by"),
        ("steps = 0", "method.steps = 0 is out of range"),
    ],
)
def test_an_option_that_does_not_fit_is_named_with_its_fix(
    safe: Callable[..., Path], option: str, said: str
) -> None:
    with pytest.raises(RecipeError, match=re.escape(said)):
        Recipe.load(safe(option)).method()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            ('epsilon = "ln(2)"', "epsilon = 0"),
            "method.epsilon = 0 is out of range; it takes a number above 0",
        ),
        (('epsilon = "ln(2)"', "epsilon = nan"), "method.epsilon = nan is not a finite number"),
        (
            ('epsilon = "ln(2)"', "epsilon = true"),
            'method.epsilon should be a number such as 0.5, or a text such as "ln(2)"',
        ),
        (('epsilon = "ln(2)"', ""), "method.epsilon: missing; add it"),
        (("delta = 1e-6", "delta = 1"), "method.delta = 1 is out of range"),
        (("delta = 1e-6", ""), "method.delta: missing; add it"),
        (
            ('[hierarchies.sex]\nbuild = "suppress"\nvalues = ["f", "m"]', ""),
            "hierarchies.sex: missing, and the column is quasi",
        ),
    ],
)
def test_an_impossible_promise_is_refused(
    safe: Callable[..., Path], edit: tuple[str, str], said: str
) -> None:
    with pytest.raises(RecipeError, match=re.escape(said)):
        Recipe.load(safe(edit=edit)).method()


def test_columns_that_lack_a_hierarchy_are_named_and_nothing_else(
    safe: Callable[..., Path],
) -> None:
    path = safe()
    path.write_text(re.sub(r"\[hierarchies(.|\n)*?\[method\]", "[method]", path.read_text()))
    with pytest.raises(RecipeError) as caught:
        Recipe.load(path)
    assert all(
        "missing, and the column is quasi-identifying" in line
        for line in str(caught.value).splitlines()[1:]
    )
