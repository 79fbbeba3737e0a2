"""A recipe is checked as a whole, every mistake is named by its key, and what it makes is what the library makes."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.data.tables import Role, table
from shoal.errors import FileError, HierarchyError, RecipeError
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.methods.sampling import RandomSample
from shoal.privacy.models import DistinctDiversity, KAnonymity, TCloseness
from shoal.recipe import BUILDERS, METHODS, MODELS, Recipe, draft, options_of
from shoal.recipe.schema import Choices
from shoal.views.files import ViewsFile
from tests.conftest import ROOT

RECIPE = """
missing = "category"

[source]
path = "people.csv"
separator = ";"
encoding = "utf-8"
types = { age = "integer" }

[roles]
name = "identifying"
age = "quasi"
sex = "quasi"
diagnosis = "sensitive"
visits = "insensitive"

[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10, 50]

[hierarchies.sex]
build = "suppress"
values = ["f", "m"]

[method]
name = "optimal"
suppression = 0.5

[[method.models]]
model = "k-anonymity"
k = 2

[output]
format = "csv"
"""

PEOPLE = "name;age;sex;diagnosis;visits\n" + "".join(
    f"{name};{age};{sex};{diagnosis};{visits}\n"
    for name, age, sex, diagnosis, visits in [
        ("Ann", 31, "f", "flu", 1),
        ("Bea", 34, "f", "cold", 2),
        ("Cid", 35, "m", "flu", 3),
        ("Dov", 39, "m", "flu", 1),
        ("Eve", 52, "f", "cold", 2),
        ("Fay", 58, "f", "flu", 5),
    ]
)

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the recipe with some of its text replaced, and its table beside it."""

    def written(*changes: tuple[str, str], more: str = "") -> Path:
        text = RECIPE
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "people.csv").write_text(PEOPLE)
        path = tmp_path / "recipe.toml"
        path.write_text(text + more)
        return path

    return written


def test_a_recipe_makes_what_the_library_makes(write: Write) -> None:
    recipe = Recipe.load(write())
    assert recipe.method() == Optimal((KAnonymity(2),), suppression="0.5")
    made = recipe.table()
    assert made.quasi == ("age", "sex")
    assert made.having(Role.IDENTIFYING) == ("name",)
    assert [made.hierarchy(name).height for name in made.quasi] == [3, 1]
    assert recipe.nodes(recipe.table()) == 8
    assert recipe.format == "csv"


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
        ('name = "optimal"', "", "method.name: missing; it takes 'safepub', 'noisy-counts'"),
        (
            'name = "optimal"',
            'name = "x"',
            "method.name is 'x'; it takes 'safepub', 'noisy-counts', 'columns'",
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
            'format = "xlsx"',
            "output.format is 'xlsx'; it takes 'csv', 'parquet', 'arrow'",
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


def test_all_mistakes_are_listed_a_line_each(write: Write) -> None:
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
def test_a_file_that_is_no_recipe_is_refused(
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
def test_what_is_said_of_a_file_that_is_not_toml_quotes_nothing_of_it(
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


def test_the_other_methods_are_there(write: Write) -> None:
    mondrian = Recipe.load(
        write(('name = "optimal"\nsuppression = 0.5', 'name = "mondrian"\nrelaxed = true'))
    )
    assert mondrian.method() == Mondrian((KAnonymity(2),), relaxed=True)
    assert mondrian.nodes(mondrian.table()) is None
    models = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    sampling = Recipe.load(
        write(
            ('name = "optimal"\nsuppression = 0.5', 'name = "sampling"\nprobability = "1/3"'),
            (models, ""),
        )
    )
    assert sampling.method() == RandomSample("1/3")


def test_a_population_is_read_from_its_file(write: Write) -> None:
    models = 'model = "delta-presence"\nlowest = 0\nhighest = 0.5\npopulation = "town.csv"'
    path = write(('model = "k-anonymity"\nk = 2', models))
    (path.parent / "town.csv").write_text("age;sex\n" + "30;f\n" * 7 + "30;m\n" * 5)
    (model,) = Recipe.load(path).method().models  # type: ignore[attr-defined]
    assert model.population.total == 12
    assert model.population.names == ("age", "sex")


def test_models_may_be_given_by_their_short_names(write: Write) -> None:
    section = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    both = 'models = ["2-anonymity", { model = "distinct-diversity", column = "diagnosis", l = 2 }, "0.5-closeness of diagnosis"]'
    path = write((section, ""), ("suppression = 0.5", f"suppression = 0.5\n{both}"))
    wanted = (KAnonymity(2), DistinctDiversity("diagnosis", 2), TCloseness("diagnosis", "1/2"))
    assert Recipe.load(path).method() == Optimal(wanted, suppression="0.5")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "5 anonymity",
            "method.models[0]: model '5 anonymity' is not understood; write it as '5-anonymity'",
        ),
        ("0-anonymity", "method.models[0]: k=0 is out of range"),
        (
            "2-diversity of diagnosys",
            "method.models[0]: 'diagnosys' is not a sensitive column; did you mean 'diagnosis'?",
        ),
    ],
)
def test_a_short_name_that_is_wrong_is_named_by_its_key(write: Write, name: str, said: str) -> None:
    section = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    path = write((section, ""), ("suppression = 0.5", f'models = ["{name}"]'))
    with pytest.raises(RecipeError, match=re.escape(said)):
        Recipe.load(path)


@pytest.mark.parametrize("written", ['"0.3-closeness (hierarchical) of diagnosis"', "THE_TABLE"])
def test_hierarchical_closeness_takes_the_hierarchy_of_its_column(
    write: Write, written: str
) -> None:
    section = '[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    table = '{ model = "t-closeness", column = "diagnosis", t = 0.3, distance = "hierarchical" }'
    tree = '[hierarchies.diagnosis]\nbuild = "group"\ntree = { lungs = ["flu", "cold"], heart = ["stroke"] }\n\n[method]'
    models = f"models = [{written.replace('THE_TABLE', table)}]"
    path = write((section, ""), ("suppression = 0.5", models), ("[method]", tree))
    people = PEOPLE.replace(
        "cold", "stroke", 1
    )  # Ann and Bea, in their thirties, have a stroke and a flu
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


def test_numbers_are_exact(write: Write) -> None:
    path = write(
        ('model = "k-anonymity"\nk = 2', 'model = "t-closeness"\ncolumn = "diagnosis"\nt = 0.1')
    )
    (model,) = Recipe.load(path).method().models  # type: ignore[attr-defined]
    assert model == TCloseness("diagnosis", "1/10")


@pytest.mark.parametrize(
    "choices", [METHODS, MODELS, BUILDERS], ids=["methods", "models", "builders"]
)
def test_every_choice_and_each_of_its_options_is_documented(choices: Choices) -> None:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    for name in choices.names:
        assert f'{choices.key} = "{name}"' in page or f'"{name}"' in page, name
        for option in options_of(choices, name).model_fields:
            assert f"`{option}`" in page, f"{name}: {option}"


# Drafts


@pytest.fixture
def people(tmp_path: Path) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "patient id": [f"secret{i}" for i in range(40)],
            "age": list(range(40)),
            'odd "column" =': ["secret"] * 40,
            "diagnosis": ["flu", "cold"] * 20,
            "note": [f"secret{i}" for i in range(40)],
            "ward": [1, 2] * 20,
            "insurance": ["secret", "public"] * 20,
            "account number": [f"secret{i % 30}" for i in range(40)],
            "hospital name": ["secret"] * 40,
            "admitted": ["2024-02-29", "2024-03-01"] * 20,
        }
    )


def test_a_draft_decides_nothing_silently(people: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(draft(table(people), tmp_path / "people.csv", folder=tmp_path))
    with pytest.raises(RecipeError) as caught:
        Recipe.load(path)
    for key in (
        'roles."patient id"',
        "roles.age",
        'roles."odd \\"column\\" ="',
        "roles.diagnosis",
        "roles.note",
        "roles.ward",
        "method.epsilon",
        "method.delta",
        "roles.insurance",
    ):
        assert key in str(caught.value)


def test_a_draft_guesses_only_in_comments_and_holds_no_value(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    text = draft(table(people), tmp_path / "people.csv", folder=tmp_path)
    assert "secret" not in text
    assert "flu" not in text
    guesses = dict(re.findall(r'^("[^"]*"|\S+)\s+= "\?"(?:  # (\w+)\?)?$', text, re.MULTILINE))
    assert guesses["age"] == "quasi"
    assert guesses["diagnosis"] == "sensitive"
    assert guesses["note"] == "identifying"
    assert (
        guesses["ward"] == guesses["insurance"] == guesses['"hospital name"'] == ""
    )  # so named, and only a few values
    assert guesses['"patient id"'] == guesses['"account number"'] == "identifying"
    assert guesses["admitted"] == "quasi"
    assert "2024" not in text
    assert 'path = "people.csv"' in text


def test_a_draft_fits_80_columns(people: pl.DataFrame, tmp_path: Path) -> None:
    assert (
        max(map(len, draft(table(people), tmp_path / "people.csv", folder=tmp_path).splitlines()))
        <= 80
    )


def test_a_draft_takes_for_text_what_would_lose_a_zero(tmp_path: Path) -> None:
    texts = {
        "float": ["25.0", "7.5"],
        "integer": ["25", "-7"],
        "text": ["25.00", "7.5"],
        "date": ["2024-01-01", "2024-02-01"],
    }
    drafted = draft(table(pl.DataFrame(texts)), tmp_path / "people.csv", folder=tmp_path)
    for name in texts:
        assert re.search(rf'^{name} *= "{name}"$', drafted, re.MULTILINE)


def _filled(people: pl.DataFrame, folder: Path) -> str:
    """A draft whose blanks are filled in, and the hierarchy of age with them."""
    people.write_csv(folder / "people.csv")
    text = draft(table(people), folder / "people.csv", folder=folder)
    text = re.sub(r'^(age +)= "\?"', r'\1= "quasi"', text, flags=re.MULTILINE)
    text = re.sub(r'^(diagnosis +)= "\?"', r'\1= "sensitive"', text, flags=re.MULTILINE)
    text = text.replace('epsilon = "?"', "epsilon = 2").replace('delta = "?"', "delta = 0.5")
    text = re.sub(r'^([^#\n]*)= "\?"', r'\1= "identifying"', text, flags=re.MULTILINE)
    first, ages, rest = re.split(
        r"^(# \[hierarchies\.age\]\n(?:# .*\n)+)", text, flags=re.MULTILINE
    )
    ages = (
        re.sub(r"^# ", "", ages, flags=re.MULTILINE)
        .replace('low = "?"', "low = 0")
        .replace('high = "?"', "high = 99")
    )
    return first + ages + rest


@pytest.mark.parametrize("name", [name for name in METHODS.names if name != "safepub"])
def test_every_other_method_of_a_draft_can_take_the_place_of_the_first(
    people: pl.DataFrame, tmp_path: Path, name: str
) -> None:
    head, _, rest = _filled(people, tmp_path).partition("[method]\n")
    (section,) = [
        part for part in rest.split("# [method]\n")[1:] if part.startswith(f'# name = "{name}"')
    ]
    lines = [line.removeprefix("# ") for line in section.splitlines() if line.startswith("# ")]
    lines = [line.replace('column = "?"', 'column = "diagnosis"') for line in lines]
    chosen = (
        "\n".join(["[method]", *lines]).replace('["?"]', '["2-anonymity"]').replace('"?"', "0.5")
    )
    (tmp_path / "recipe.toml").write_text(head + chosen)
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method().name == name
    assert recipe.run().certificate.method == name


def test_a_filled_draft_is_a_recipe_with_differential_privacy(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "recipe.toml").write_text(_filled(people, tmp_path))
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method() == shoal.SafePub(epsilon=2, delta="0.5")
    assert recipe.run().certificate.promise["epsilon"] == "2"


def test_what_a_draft_offers_besides_is_understood(people: pl.DataFrame, tmp_path: Path) -> None:
    text = _filled(people, tmp_path)
    for line in ("importance", "ceiling", "unit"):
        text = re.sub(rf"^# ({line} = .*)$", r"\1", text, flags=re.MULTILINE)
    text = (
        text.replace('unit = "NAME"', 'unit = "patient id"')
        .replace("NAME", "age")
        .replace('"probabilistic"', '"standard"')
    )
    (tmp_path / "recipe.toml").write_text(text)
    wanted = shoal.SafePub(
        2, "0.5", "standard", importance={"age": 3}, ceiling={"age": 2}, unit="patient id"
    )
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method() == wanted
    assert recipe.run().certificate.promise["unit"] == "patient id"


# SafePub

SAFEPUB = """
[method]
name = "safepub"
epsilon = "ln(2)"
delta = 1e-6
"""


@pytest.fixture
def safe(write: Write) -> Callable[..., Path]:
    """Writes the recipe with SafePub for a method, with options below its ε and δ."""
    start, end = RECIPE.index("[method]"), RECIPE.index("[output]")

    def make(*options: str, edit: tuple[str, str] = ("", "")) -> Path:
        return write((RECIPE[start:end], "\n".join([SAFEPUB, *options, "\n"])), edit)

    return make


def test_epsilon_may_be_a_logarithm_and_delta_is_exact(safe: Callable[..., Path]) -> None:
    method = Recipe.load(safe()).method()
    assert method == shoal.SafePub(epsilon="ln(2)", delta="1/1000000")


def test_every_option_of_safepub_reaches_it(safe: Callable[..., Path]) -> None:
    options = (
        'definition = "standard"',
        "split = 0.8",
        'score = "classification"',
        'importance = { age = 2, sex = "1/3" }',
        "floor = { age = 1 }",
        "ceiling = { age = 2 }",
        'classes = ["diagnosis"]',
        'search = "walk"',
        "steps = 7",
        'unit = "name"',
        "rows = 2",
    )
    wanted = shoal.SafePub(
        "ln(2)",
        "1e-6",
        "standard",
        split="4/5",
        score="classification",
        importance={"age": 2, "sex": "1/3"},
        floor={"age": 1},
        ceiling={"age": 2},
        classes=("diagnosis",),
        search="walk",
        steps=7,
        unit="name",
        rows=2,
    )
    recipe = Recipe.load(safe(*options))
    assert recipe.method() == wanted
    given = {option.split(" = ")[0] for option in options} | {"epsilon", "delta", "levels"}
    assert given == {field.name for field in fields(shoal.SafePub)}
    fixed = Recipe.load(safe("levels = { age = 1, sex = 0 }"))
    assert fixed.method() == shoal.SafePub("ln(2)", "1e-6", levels={"age": 1, "sex": 0})
    for one in (recipe, fixed):
        assert one.run().certificate.parameters["delta"] == "1/1000000"


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


def test_a_unit_where_no_column_is_identifying_is_told_what_to_do(
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
            'unit = "name"',
            "method: the probabilistic definition is not kept where people have several rows",
        ),
        ("rows = 2", "method.rows bounds how many rows each person gives; say with unit"),
        ("steps = 0", "method.steps = 0 is out of range"),
    ],
)
def test_nonsense_is_named_by_its_key_and_its_fix(
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
def test_a_promise_that_makes_no_sense_is_refused(
    safe: Callable[..., Path], edit: tuple[str, str], said: str
) -> None:
    with pytest.raises(RecipeError, match=re.escape(said)):
        Recipe.load(safe(edit=edit)).method()


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


def test_a_check_names_columns_that_leave_as_they_are(safe: Callable[..., Path]) -> None:
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


# The recipe's digest


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
sheet = 1

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
        "source.sheet: unknown key",
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
