"""Hierarchies of a draft: which are needed, made one by one, and how to begin."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.data.coverage import uncovered_values
from shoal.data.hierarchy import Hierarchy, suppress, write
from shoal.data.kinds import Kind
from shoal.data.tables import table
from shoal.errors import RecipeError, ShoalError
from shoal.recipe.editing import Draft
from shoal.recipe.hierarchies import (
    READY_NAME,
    REASONS,
    hierarchy_in,
    is_from_rows,
    needs,
    section_from_rows,
    starting,
    texts_of,
)
from shoal.recipe.schema import BUILDERS, options_of

RECIPE = """
[source]
path = "people.csv"
types = { age = "integer", sex = "?" }

[roles]
name = "identifying"
age = "quasi"
sex = "quasi"
ill = "sensitive"
ward = "?"

[hierarchies]
age = { build = "intervals", low = 0, high = 99, widths = [10] }
sex = { file = "sex.csv" }
"""


def drafted(folder: Path, more: str = "") -> Draft:
    path = folder / "recipe.toml"
    path.write_text(RECIPE + more)
    return Draft.read(path)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("", {"age": "needed", "sex": "needed", "ill": "useful"}),
        ('[method]\nname = "?"', {"age": "needed", "sex": "needed", "ill": "useful"}),
        ('[method]\nname = "auto"', {"age": "useful", "sex": "useful", "ill": "useful"}),
        ('[method]\nname = "optimal"', {"age": "needed", "sex": "needed", "ill": "unused"}),
        ('[method]\nname = "sampling"', {"age": "useful", "sex": "useful", "ill": "unused"}),
    ],
)
def test_the_method_says_which_columns_need_one(
    tmp_path: Path, method: str, expected: dict[str, str]
) -> None:
    assert needs(drafted(tmp_path, method)) == expected


def test_one_hierarchy_is_made_though_the_rest_is_undecided(tmp_path: Path) -> None:
    draft = drafted(tmp_path)
    assert hierarchy_in(draft, "age").kind is Kind.INTEGER
    section = {"build": "suppress", "values": ["1", "2"]}
    assert hierarchy_in(draft, "age", section).lines() == [["1", "*"], ["2", "*"]]
    with pytest.raises(ShoalError):
        hierarchy_in(draft, "sex")
    write(suppress(["f", "m"]), tmp_path / "sex.csv")
    assert hierarchy_in(draft, "sex").leaves == 2


def test_what_is_wrong_with_a_section_is_said(tmp_path: Path) -> None:
    draft = drafted(tmp_path)
    with pytest.raises(RecipeError, match="widths") as refused:
        hierarchy_in(draft, "age", {"build": "intervals", "low": 0, "high": 9, "widths": [0.5]})
    assert refused.value.option == "hierarchies.age.widths"
    with pytest.raises(RecipeError, match="wide: unknown key"):
        hierarchy_in(draft, "age", {"build": "intervals", "wide": 3})
    (tmp_path / "people.csv").write_text("age\n1\n")
    with pytest.raises(RecipeError, match="is the source itself"):
        hierarchy_in(draft, "age", {"file": "people.csv"})


def test_a_note_beside_the_file_says_that_it_was_made_from_rows(tmp_path: Path) -> None:
    draft = drafted(tmp_path)
    write(suppress(["f", "m"]), tmp_path / "sex.csv")
    assert not is_from_rows(draft, "sex")
    write(Hierarchy.from_lines([["f", "*"]], derived=True), tmp_path / "sex.csv")
    assert is_from_rows(draft, "sex")
    assert not is_from_rows(draft, "age")


@pytest.mark.parametrize(
    ("name", "kind", "values", "build"),
    [
        ("age", Kind.INTEGER, None, "intervals"),
        ("Alter", Kind.FLOAT, None, "intervals"),
        ("stay", Kind.INTEGER, None, "intervals"),
        ("admitted", Kind.DATE, None, "dates"),
        ("Geburtsdatum", Kind.DATE, None, "dates"),
        ("PLZ", Kind.TEXT, None, "ready"),
        ("zip", Kind.INTEGER, None, "ready"),
        ("post code", Kind.TEXT, None, "mask"),
        ("AGE", None, None, "intervals"),
        ("geburtsdatum", None, None, "dates"),
        ("ward", None, None, "group"),
        ("sex", Kind.TEXT, None, "ready"),
        ("sexo", Kind.TEXT, None, "suppress"),
        ("insured", Kind.TEXT, 2, "suppress"),
        ("ward", Kind.TEXT, None, "group"),
        ("code", Kind.TEXT, 5000, "file"),
    ],
)
def test_the_name_and_type_of_a_column_suggest_a_builder(
    name: str, kind: Kind | None, values: int | None, build: str
) -> None:
    start = starting(name, kind, values)
    assert start.section["build"] == build
    assert start.reason in REASONS
    assert set(start.section) <= set(options_of(BUILDERS, build).model_fields)


@pytest.mark.parametrize(
    ("name", "hierarchy"),
    [
        ("country", "countries"),
        ("Staatsangehörigkeit", "countries"),
        ("ISCO_08", "isco-08"),
        ("icd10", "icd-10"),
        ("ICD-10-CM", "icd-10-cm"),
        ("nace_rev2", "nace-2"),
        ("ISCED", "isced-2011"),
        ("Bundesland", "german-states"),
        ("us_state", "us-states"),
        ("Geschlecht", "sex"),
        ("PLZ", "postcodes-de"),
        ("zip_code", "postcodes-us"),
        ("marital status", "marital-status"),
    ],
)
def test_a_name_suggests_a_ready_made_hierarchy(name: str, hierarchy: str) -> None:
    start = starting(name, Kind.TEXT)
    assert start.section == {"build": "ready", "name": hierarchy}
    assert start.reason == READY_NAME


@pytest.mark.parametrize(
    ("name", "kind", "texts", "section"),
    [
        ("country", Kind.TEXT, ["FRA", "DEU"], {"name": "countries", "form": "alpha-3"}),
        ("country", Kind.TEXT, ["France", "Iran"], {"name": "countries", "form": "name"}),
        ("country", Kind.INTEGER, ["8", "250"], {"name": "countries", "form": "numeric"}),
        ("isco", Kind.INTEGER, ["110", "2512"], {"name": "isco-08"}),
        ("sex", Kind.TEXT, ["m", "w"], {"name": "sex", "form": "german-letters"}),
        ("sex", Kind.TEXT, ["f", "m"], {"name": "sex", "form": "small-letters"}),
        ("icd", Kind.TEXT, ["J18.9", "E11"], {"name": "icd-10", "form": "dotted"}),
        ("icd", Kind.TEXT, ["J18.9", "E11.74"], {"name": "icd-10", "form": "dotted-5"}),
        ("icd", Kind.TEXT, ["J189", "E1174"], {"name": "icd-10", "form": "plain-5"}),
        # A few may be mistyped.
        ("icd", Kind.TEXT, ["J18", "E11", "I10", "C50", "?"], {"name": "icd-10"}),
        # Without a name that says so.
        ("x", Kind.TEXT, ["France", "Iran", "Peru"], {"name": "countries", "form": "name"}),
        ("x", Kind.TEXT, ["J18.9", "E11", "I10.0"], {"name": "icd-10", "form": "dotted"}),
    ],
)
def test_how_values_are_written_suggests_the_form(
    name: str, kind: Kind, texts: list[str], section: dict[str, str]
) -> None:
    assert starting(name, kind, texts=texts).section == {"build": "ready", **section}


@pytest.mark.parametrize(
    ("name", "kind", "texts", "section"),
    [
        (
            "Geburtsdatum",
            Kind.DATE,
            None,
            {"build": "dates", "levels": ["month", "year", "decade"]},
        ),
        ("paid_on", Kind.DATE, None, {"build": "dates", "levels": ["month", "year"]}),
        ("birth_year", Kind.INTEGER, ["1987"], {"build": "ready", "name": "years"}),
        ("Jahr", Kind.INTEGER, None, {"build": "ready", "name": "years"}),
        ("age", Kind.INTEGER, ["39"], {"build": "intervals", "low": 0, "top": 90}),
        ("died", Kind.INTEGER, ["0", "1"], {"build": "suppress", "values": ["0", "1"]}),
        ("member", Kind.TEXT, ["ja"], {"build": "suppress", "values": ["nein", "ja"]}),
        ("postcode", Kind.TEXT, ["20095", "01067"], {"build": "mask", "length": 5}),
        ("post code", Kind.INTEGER, ["2009", "1067"], {"build": "mask", "length": 4}),
    ],
)
def test_what_anybody_could_write_is_suggested_whole(
    name: str, kind: Kind, texts: list[str] | None, section: dict[str, object]
) -> None:
    start = starting(name, kind, texts=texts)
    assert start.is_whole
    assert section.items() <= start.section.items()
    assert start.reason in REASONS
    build = BUILDERS.thing(start.section["build"])
    assert build(**{key: value for key, value in start.section.items() if key != "build"}).leaves


@pytest.mark.parametrize(
    ("name", "kind", "texts"),
    [
        ("stay", Kind.INTEGER, ["3", "4"]),
        ("ward", Kind.TEXT, ["heart"]),
        ("postcode", Kind.TEXT, ["SW1A 1AA"]),
        ("postcode", Kind.TEXT, ["1067", "20095"]),
        ("postcode", Kind.TEXT, []),
    ],
)
def test_what_only_a_person_can_say_is_left_open(name: str, kind: Kind, texts: list[str]) -> None:
    assert not starting(name, kind, texts=texts).is_whole


def numbers(values: list[object], **types: str) -> dict[str, object]:
    return section_from_rows(table(pl.DataFrame({"x": values}), types=types), "x")


def test_ends_from_the_rows_are_rounded_and_widths_suit_them() -> None:
    assert numbers([18, 43, 97]) == {
        "build": "intervals",
        "low": 0,
        "high": 100,
        "widths": [5, 10, 50],
    }
    assert numbers([0, 1, 4, 9]) == {"build": "intervals", "low": 0, "high": 9, "widths": [5]}
    assert numbers([1910, 2004])["low"] == 1910
    assert numbers([-0.35, 0.2], x="float") == {
        "build": "intervals",
        "kind": "float",
        "low": -0.4,
        "high": 0.2,
        "widths": [0.05, 0.1],
    }
    assert numbers([7, 7])["high"] == 8
    assert numbers([0, 0], x="float")["high"] == 1


def test_a_few_numbers_far_away_do_not_stretch_the_intervals() -> None:
    section = numbers([-900_000, *range(1_000, 60_000, 100), 9_999_999])
    assert section["bottom"] == 0
    assert section["top"] == 60_000
    assert not {"low", "high"} & section.keys()


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=40),
    st.sampled_from(["integer", "float"]),
)
def test_every_value_is_in_the_hierarchy_that_was_made_of_them(
    values: list[int], kind: str
) -> None:
    people = table(pl.DataFrame({"x": values}), types={"x": kind})
    section = section_from_rows(people, "x")
    if kind == "integer":
        assume(max(values) - min(values) < 10_000)
    options = {key: value for key, value in section.items() if key != "build"}
    tree = BUILDERS.thing("intervals")(**options)
    assert not uncovered_values(replace(people, hierarchies={"x": tree}), "x").values


def test_texts_from_the_rows_are_shown_or_not() -> None:
    people = table(pl.DataFrame({"ward": ["heart", "lung", None]}))
    assert section_from_rows(people, "ward") == {"build": "suppress", "values": ["heart", "lung"]}
    assert texts_of(people, "ward") == ["heart", "lung"]
    with pytest.raises(ShoalError, match="has no values"):
        section_from_rows(table(pl.DataFrame({"x": [None]}), types={"x": "text"}), "x")


def test_values_that_are_not_of_the_list_suggest_none() -> None:
    assert starting("country", Kind.TEXT, texts=["home", "abroad"]).section["build"] == "group"
    assert starting("x", Kind.TEXT, texts=["France"]).section["build"] == "group"
    assert starting("x", Kind.TEXT, texts=["France", "elsewhere"]).section["build"] == "group"
