"""`shoal release`: the files it writes, and when it writes none."""

import json
from pathlib import Path

import pytest

import shoal
from tests.cli.shell import refused, run
from tests.recipe.people import RECIPE


def test_a_release_writes_the_table_and_its_certificate(folder: Path) -> None:
    result = run("release", "recipe.toml", "--out", "out")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "certificate.json",
        "release.csv",
    ]
    assert "5-anonymity" not in result.stdout
    assert "2-anonymity" in result.stdout
    assert "lattice: 8 nodes" in result.stderr
    again = run("assess", "out/release.csv", "-q", "age,sex", "--min-k", "2")
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_release_has_the_format_of_the_recipe(folder: Path, format: str) -> None:
    (folder / "recipe.toml").write_text(RECIPE.replace('format = "csv"', f'format = "{format}"'))
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    assert shoal.read(folder / "out" / f"release.{format}").rows > 0


@pytest.mark.parametrize(
    "method", ['name = "kdgs"\nk = 2', 'name = "noisy-counts"\nepsilon = 3\ndelta = 0.4\nk = 2']
)
def test_a_column_without_a_hierarchy_leaves_the_loss_unknown(folder: Path, method: str) -> None:
    start, rest = RECIPE.split("[hierarchies.sex]")
    (folder / "recipe.toml").write_text(
        f"{start}[method]\n{method}\nlevels = {{ age = 1 }}\n[output]{rest.split('[output]')[1]}"
    )
    result = run("release", "recipe.toml", "--out", "out")
    assert result.exit_code == 0, result.output
    assert "records kept" in result.stderr
    assert "loss" not in result.stderr


def test_an_earlier_release_is_written_over_only_by_force(folder: Path) -> None:
    release = ["release", "recipe.toml", "--out", "out"]
    assert run(*release).exit_code == 0
    said = refused(*release)
    assert "out/certificate.json and out/release.csv are there already" in said
    assert "--force" in said
    before = json.loads((folder / "out" / "certificate.json").read_text())["number"]
    assert run(*release, "--force").exit_code == 0
    assert json.loads((folder / "out" / "certificate.json").read_text())["number"] != before
    (folder / "out" / "certificate.json").unlink()
    for more in ([], ["--force"]):  # it may be anybody's table
        said = refused(*release, *more)
        assert "out holds 'release.csv', which belongs to no release there" in said


def test_a_release_of_another_format_is_replaced_as_a_whole(folder: Path) -> None:
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    (folder / "recipe.toml").write_text(RECIPE.replace('format = "csv"', 'format = "parquet"'))
    refused("release", "recipe.toml", "--out", "out")
    (folder / "out" / "notes.txt").write_text("mine")
    said = refused("release", "recipe.toml", "--out", "out", "--force")
    assert "out holds 'notes.txt', which belongs to no release there" in said
    (folder / "out" / "notes.txt").unlink()
    assert run("release", "recipe.toml", "--out", "out", "--force").exit_code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "certificate.json",
        "release.parquet",
    ]


def test_a_release_that_fails_leaves_the_earlier_one(folder: Path) -> None:
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    (folder / "recipe.toml").write_text(
        RECIPE.replace("k = 2", "k = 7").replace("suppression = 0.5", "suppression = 0")
    )
    assert "no node satisfies 7-anonymity" in refused(
        "release", "recipe.toml", "--out", "out", "--force"
    )


def test_a_recipe_with_unknown_keys_is_refused(folder: Path) -> None:
    (folder / "recipe.toml").write_text(RECIPE.replace("k = 2", "kay = 2") + "\n[extra]\n")
    said = refused("release", "recipe.toml", "--out", "out")
    assert "method.models[0].kay: unknown key" in said
    assert "extra: unknown key" in said


def test_a_lattice_too_large_to_enumerate_is_refused_with_its_size(folder: Path) -> None:
    names = [f"c{i}" for i in range(16)]
    levels = ";".join(["{0}", *(f"{{0}}_{level}" for level in range(9)), "*"])
    (folder / "wide.csv").write_text(
        "\n".join([",".join(names), ",".join("a" * 16), ",".join("b" * 16)]) + "\n"
    )
    (folder / "tall.csv").write_text("".join(levels.format(value) + "\n" for value in "ab"))
    (folder / "recipe.toml").write_text(
        '[source]\npath = "wide.csv"\n[roles]\n'
        + "".join(f'{name} = "quasi"\n' for name in names)
        + "".join(f'[hierarchies.{name}]\nfile = "tall.csv"\n' for name in names)
        + '[method]\nname = "optimal"\n[[method.models]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    said = refused("release", "recipe.toml", "--out", "out")
    assert f"{11**16:,}" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k = 2", "k = 0"),
        ("k = 2", "k = 7"),
        ("suppression = 0.5", "suppression = nan"),
        ("suppression = 0.5", "suppression = inf"),
        ("high = 99", "high = 49"),
        ('values = ["f", "m"]', 'values = ["f"]'),
        ('path = "people.csv"', 'path = "nowhere.csv"'),
        ('build = "suppress"\nvalues = ["f", "m"]', 'file = "roots.csv"'),
        ('encoding = "utf-8"', 'encoding = "utf-99"'),
        ('diagnosis = "sensitive"', 'diagnosis = "sensitive"\nunheard-of = "quasi"'),
    ],
)
def test_a_recipe_that_cannot_be_done_leaves_nothing_behind(
    folder: Path, old: str, new: str
) -> None:
    (folder / "roots.csv").write_text("f;x\nm;y\n")
    assert old in RECIPE
    suppressed = (
        RECIPE.replace("suppression = 0.5", "suppression = 0") if new == "k = 7" else RECIPE
    )
    (folder / "recipe.toml").write_text(suppressed.replace(old, new))
    assert "error: " in refused("release", "recipe.toml", "--out", "out")
