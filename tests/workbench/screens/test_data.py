"""The data: how it is read, what its columns look like, and that wrong guesses cannot be missed."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.findings import FINDINGS
from shoal.workbench.looking import figures_seen
from shoal.workbench.screens.data import STEP
from shoal.workbench.screens.data_parts import FIGURES
from shoal.workbench.steps import Standing
from shoal.workbench.texts import LANGUAGES, translations
from tests.workbench.benches import Bench
from tests.workbench.conftest import settle, violations
from tests.workbench.screens.test_projects import text_of

DATA = "/p/mine~recipe/data"


def begun(bench: Bench, content: str | bytes, name: str = "people.csv", query: str = "") -> Path:
    """A project called mine, on a file with this content; the file."""
    path = bench.home / name
    if content:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    bench.post("/new", part=False, path=str(path), name="mine", query=query)
    return path


def columns(bench: Bench) -> str:
    """What the screen says of the columns, in words."""
    return text_of(bench.post(f"{DATA}/columns").text)


def recipe(bench: Bench) -> Any:
    """What is decided."""
    return bench.project("mine~recipe").draft()


def test_columns_are_found_with_types_and_the_draft_has_them(empty_bench: Bench) -> None:
    begun(empty_bench, "age,plz,day\n39,07101,2024-01-31\n50,17103,2023-02-28\n")
    project = empty_bench.project("mine~recipe")
    assert STEP.standing(project).state == "needs"
    said = columns(empty_bench)
    assert "all values are whole numbers" in said
    assert "some values begin with a 0 that a number would lose" in said
    types = recipe(empty_bench).section("source", "types")
    assert types == {"age": "integer", "plz": "text", "day": "date"}
    assert STEP.standing(project).state == "done"


def test_figures_are_hidden_until_somebody_asks_and_then_noted(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town\n" + "39,Ulm\n50,\n" * 40)
    project = empty_bench.project("mine~recipe")
    assert "80" not in columns(empty_bench)
    assert figures_seen(project) == ()
    empty_bench.post(f"{DATA}/missing", missing="refuse")
    assert recipe(empty_bench).get("chosen_after_looking") is None
    shown = text_of(empty_bench.post(f"{DATA}/figures").text)
    assert "80 rows, 2 columns" in shown
    assert "40 50 %" in shown
    assert figures_seen(project) == (FIGURES,)
    empty_bench.post(f"{DATA}/type", column="age", kind="text")
    assert recipe(empty_bench).get("chosen_after_looking") == ["source"]


def test_cells_are_hidden_until_somebody_asks(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town\n39,Wolkenkuckucksheim\n")
    page = empty_bench.get(DATA) + empty_bench.post(f"{DATA}/columns").text + empty_bench.get(DATA)
    assert "Wolkenkuckucksheim" not in page
    rows = empty_bench.client.get(f"{DATA}/rows")
    assert "Wolkenkuckucksheim" in rows.text
    assert rows.headers["cache-control"] == "no-store"
    kept = [path for path in (empty_bench.home / "mine").rglob("*") if path.is_file()]
    assert not any(b"Wolkenkuckucksheim" in path.read_bytes() for path in kept)
    assert "the first rows" in figures_seen(empty_bench.project("mine~recipe"))


def test_a_type_that_does_not_fit_is_said_at_once_with_the_fix(empty_bench: Bench) -> None:
    begun(empty_bench, "age,plz\n39,07101\n50,old\n")
    columns(empty_bench)
    changed = empty_bench.post(f"{DATA}/type", column="plz", kind="integer")
    assert changed.headers["HX-Trigger"] == "recipe-changed"
    said = text_of(changed.text)
    assert "To fix: plz" in said
    assert "some values are not of this type" in said
    assert "some values lose their leading 0" in said
    assert "Read plz as text" in said
    assert "To fix" not in text_of(empty_bench.post(f"{DATA}/type", column="plz", kind="text").text)
    empty_bench.post(f"{DATA}/type", column="nothing", kind="text", status=422)
    empty_bench.post(f"{DATA}/type", column="plz", kind="colour", status=422)


def test_dates_and_decimal_commas_are_converted_by_a_click(empty_bench: Bench) -> None:
    begun(
        empty_bench,
        "born;seen;paid\n18.10.1970;1/2/2024;1.234,5\n01.02.1988;3/4/2024;2,5\n",
    )
    said = columns(empty_bench)
    assert "Read born as dates such as 31.12.2024" in said
    assert "Read seen as dates such as 31/12/2024" in said
    assert "Read seen as dates such as 12/31/2024" in said
    assert "Read paid as numbers such as 1.234,5" in said
    empty_bench.post(f"{DATA}/values", column="born", dates="%d.%m.%Y")
    empty_bench.post(f"{DATA}/values", column="seen", dates="%m/%d/%Y")
    changed = empty_bench.post(f"{DATA}/values", column="paid", decimal=",", thousands=".")
    assert changed.headers["HX-Trigger"] == "recipe-changed"
    assert "Worth a look" not in text_of(changed.text)
    source = recipe(empty_bench).section("source")
    assert source["dates"] == {"born": "%d.%m.%Y", "seen": "%m/%d/%Y"}
    assert (source["decimal"], source["thousands"]) == (",", ".")
    assert source["types"] == {"born": "date", "seen": "date", "paid": "float"}
    table = empty_bench.desk.tables.bare(empty_bench.project("mine~recipe"))
    assert table.labels("seen") == ("2024-01-02", "2024-03-04")
    assert table.keys("paid") == (2.5, 1234.5)
    empty_bench.post(f"{DATA}/values", column="nothing", dates="%d.%m.%Y", status=422)
    empty_bench.post(f"{DATA}/values", column="born", dates="%Q", status=422)


def test_all_suggestions_are_taken_by_one_click(empty_bench: Bench) -> None:
    lines = ["born;rent;paid;seen;sex;plz"]
    for day in range(1, 9):
        rent = "k.A." if day == 3 else f"{day}20,5"
        sex = "k.A." if day == 2 else "fm"[day % 2]
        seen = f"2024-03-0{day} 1{day}:30:00"
        lines.append(f"0{day}.02.1970;{rent};1{day}/12/2024;{seen};{sex};0106{day}")
    begun(empty_bench, "\n".join([*lines, ""]))
    page = columns(empty_bench)
    assert "Take all suggestions (5)" in page
    assert "its values are digits, and kept as texts" in page
    assert "Read seen as days, such as 2024-12-31 without the time" in page
    page = text_of(empty_bench.post(f"{DATA}/take").text)
    assert "Take all suggestions" not in page
    source = recipe(empty_bench).section("source")
    assert source["types"] == {
        "born": "date",
        "rent": "float",
        "paid": "date",
        "seen": "date",
        "sex": "text",
        "plz": "text",
    }
    assert source["missing_texts"] == {"rent": ["k.A."], "sex": ["k.A."]}
    table = empty_bench.desk.tables.bare(empty_bench.project("mine~recipe"))
    assert table.labels("seen")[0] == "2024-03-01"
    assert "Worth a look" not in page


def test_numbers_with_fixed_decimals_are_read_as_such_by_a_click(empty_bench: Bench) -> None:
    begun(empty_bench, "weight;nace\n12.50;62.01\n3.70;62.10\n")
    page = columns(empty_bench)
    assert "They are numbers: read weight as such" in page
    page = text_of(empty_bench.post(f"{DATA}/type", column="weight", kind="float").text)
    assert "read weight as such" not in page
    assert "They are numbers: read nace as such" in page
    table = empty_bench.desk.tables.bare(empty_bench.project("mine~recipe"))
    assert table.keys("weight") == (3.7, 12.5)
    empty_bench.post(f"{DATA}/leave", column="nace")
    assert STEP.standing(empty_bench.project("mine~recipe")).state == "done"


def test_files_of_other_programs_are_taken(empty_bench: Bench) -> None:
    path = empty_bench.home / "people.sav"
    shoal.write(pl.DataFrame({"age": [39, 50], "ill": ["flu", "ok"]}), path)
    begun(empty_bench, b"", "people.sav")
    assert "all values are" not in columns(empty_bench)
    assert recipe(empty_bench).section("source", "types") == {"age": "integer", "ill": "text"}
    assert "SPSS" in text_of(empty_bench.get(DATA))


def test_refusing_missing_values_says_what_that_does(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town\n39,\n50,Ulm\n")
    assert "1 of 2 columns have missing values." in columns(empty_bench)
    said = text_of(empty_bench.post(f"{DATA}/missing", missing="refuse").text)
    assert "Every release will be refused: 1 of 2 columns" in said
    assert recipe(empty_bench).get("missing") == "refuse"


def test_another_separator_quote_or_encoding_shows_its_effect(empty_bench: Bench) -> None:
    begun(empty_bench, "größe;name\n1,80;Zoë\n1,75;Bob\n".encode("cp1252"))
    page = text_of(empty_bench.get(DATA))
    assert "cp1252 is only a guess" in page
    right: dict[str, Any] = {"separator": ";", "quote": '"', "encoding": "cp1252"}
    assert "only a guess" in empty_bench.post(f"{DATA}/reading", **right).text
    assert "encoding" not in recipe(empty_bench).section("source")
    assert "guess" not in empty_bench.post(f"{DATA}/reading", **right, confirm="1").text
    assert recipe(empty_bench).section("source")["encoding"] == "cp1252"
    wrong = empty_bench.post(f"{DATA}/reading", separator=",", quote='"', encoding="cp1252").text
    assert "detected: semicolon ;" in text_of(wrong)
    assert "has one column with separator" in columns(empty_bench)
    other = text_of(
        empty_bench.post(f"{DATA}/reading", separator=";", quote="none", encoding="cp850").text
    )
    assert "detected: cp1252" in other
    assert recipe(empty_bench).section("source")["quote"] == ""
    said = empty_bench.post(
        f"{DATA}/reading", status=422, separator=";", quote='"', encoding="klingon"
    )
    assert "encoding" in said.text
    assert recipe(empty_bench).section("source")["encoding"] == "cp850"


def test_a_file_without_names_is_not_read_until_somebody_has_named_its_columns(
    empty_bench: Bench,
) -> None:
    begun(empty_bench, "39,f,07101\n50,m,07103\n39,f,07105\n")
    page = empty_bench.get(DATA) + empty_bench.post(f"{DATA}/columns").text
    assert "looks like a record" in page
    assert "07101" not in page
    assert "07101" in empty_bench.get(f"{DATA}/first-line", part=True)
    few: dict[str, Any] = {"name-0": "a", "name-1": "b"}
    refused = empty_bench.post(f"{DATA}/names", part=False, status=422, first="record", **few)
    assert "Column 3 has no name" in refused.text
    names: dict[str, Any] = {"name-0": "age", "name-1": "sex", "name-2": "postcode"}
    empty_bench.post(f"{DATA}/names", part=False, first="record", **names)
    said = columns(empty_bench)
    assert "postcode" in said
    assert recipe(empty_bench).columns == ["age", "sex", "postcode"]
    copy = empty_bench.home / "mine" / "people named.csv"
    assert copy.read_text().startswith("age,sex,postcode\n39,f,07101\n")
    assert empty_bench.desk.tables.bare(empty_bench.project("mine~recipe")).rows == 3


def test_names_that_look_like_values_can_be_kept(empty_bench: Bench) -> None:
    begun(empty_bench, "2023,2024\n1,2\n3,4\n")
    assert "looks like a record" in empty_bench.get(DATA)
    empty_bench.post(f"{DATA}/names", part=False, keep="1")
    assert recipe(empty_bench).columns == ["2023", "2024"]
    assert "looks like a record" not in empty_bench.get(DATA)
    assert "2023" in columns(empty_bench)


def test_columns_of_one_name_get_others_in_a_copy(empty_bench: Bench) -> None:
    path = begun(empty_bench, "age,age,\n39,40,f\n50,51,m\n")
    assert "Columns 1 and 2 have the same name" in empty_bench.get(DATA)
    names: dict[str, Any] = {"name-0": "age", "name-1": "age then", "name-2": "sex"}
    empty_bench.post(f"{DATA}/names", part=False, first="names", **names)
    assert "age then" in columns(empty_bench)
    assert path.read_text().startswith("age,age,")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b,c\n1,2,3\n1,2\n", "line 3 has 2 fields"),
        ('a,b\n"1,2\n', "quotes do not pair up"),
        (b"a,b\n1,\xff\xfe\n2,\xc3\xa4\n", "mixes encodings"),
        ("a,b\n", "has no rows"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(
    empty_bench: Bench, content: str | bytes, said: str
) -> None:
    begun(empty_bench, content)
    assert said in text_of(empty_bench.get(DATA)) + columns(empty_bench)


def test_an_empty_file_is_said_to_be_empty(empty_bench: Bench) -> None:
    (empty_bench.home / "people.csv").touch()
    begun(empty_bench, "")
    assert "is empty" in empty_bench.get(DATA)


def test_a_file_that_changes_or_goes_is_noticed(empty_bench: Bench) -> None:
    path = begun(empty_bench, "age,town\n39,Ulm\n")
    columns(empty_bench)
    path.write_text("age,town,sex\n39,Ulm,f\n", encoding="utf-8")
    said = columns(empty_bench)
    assert "The columns of the file are not those of the recipe" in said
    assert "New in the file: sex" in said
    empty_bench.post(f"{DATA}/align")
    assert recipe(empty_bench).section("roles") == {"age": "?", "town": "?", "sex": "?"}
    path.unlink()
    assert "No such file" in empty_bench.get(DATA)
    assert STEP.standing(empty_bench.project("mine~recipe")).note == "the file is not there"


def test_another_file_is_taken_and_roles_of_its_columns_stay(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town\n39,Ulm\n")
    columns(empty_bench)
    draft = recipe(empty_bench)
    draft.set("roles", "age", to="quasi")
    draft.save()
    other = empty_bench.home / "other.csv"
    other.write_text("age;region\n39;South\n", encoding="utf-8")
    assert "CSV, 2 columns" in text_of(empty_bench.get(f"{DATA}/look?path={other}", part=True))
    assert str(other) in empty_bench.get(f"{DATA}?path={other}")
    empty_bench.post(f"{DATA}/path", part=False, status=422, path="/nowhere.csv")
    empty_bench.post(f"{DATA}/path", part=False, path=str(other))
    assert recipe(empty_bench).section("source")["separator"] == ";"
    said = columns(empty_bench)
    assert "New in the file: region" in said
    assert "Only in the recipe: town" in said
    empty_bench.post(f"{DATA}/align")
    assert recipe(empty_bench).section("roles") == {"age": "quasi", "region": "?"}
    assert recipe(empty_bench).get("source", "types", "age") == "integer"


def test_a_database_is_read_by_its_query_and_looked_through_by_a_job(empty_bench: Bench) -> None:
    with closing(sqlite3.connect(empty_bench.home / "clinic.sqlite")) as clinic, clinic:
        clinic.execute("CREATE TABLE visits (age INTEGER, town TEXT)")
        clinic.executemany("INSERT INTO visits VALUES (?, ?)", [(39, "Ulm"), (50, None)])
    begun(empty_bench, "", "clinic.sqlite", "visits")
    said = columns(empty_bench)
    assert "The rows are not in memory" in said
    assert "Only the first rows were looked at." in said
    assert recipe(empty_bench).section("source", "types") == {"age": "integer", "town": "text"}
    empty_bench.post(f"{DATA}/through", part=False)
    project = empty_bench.project("mine~recipe")
    [job] = empty_bench.desk.jobs.of(project, "findings")
    assert job.wait(60) == "done"
    assert "Only the first rows" not in columns(empty_bench)
    assert "Ulm" not in (job.folder / "state.json").read_text()


def test_what_can_be_found_is_translated() -> None:
    told = {text for wording in FINDINGS.values() for text in (wording.brief, wording.full)}
    told |= {FIGURES, "no file yet", "the file is not there", "columns to look at"}
    for language in LANGUAGES:
        assert language == "en" or not told - translations(language).keys()


def test_a_wrong_guess_is_seen_and_mended_in_the_browser(page: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,plz\n39,07101\n50,17103\n", encoding="utf-8")
    page.goto(page.url + f"new?path={path}")
    page.get_by_role("button", name="Make the project").click()
    page.get_by_label("Type of plz").wait_for()
    settle(page)
    page.get_by_label("Type of plz").select_option("integer")
    page.get_by_text("some values lose their leading 0").wait_for()
    settle(page)
    assert not violations(page)
    page.get_by_role("button", name="Read plz as text").click()
    page.get_by_text("Nothing odd was found.").wait_for()
    settle(page)
    page.get_by_label("Between values").select_option(";")
    page.get_by_text("detected: comma ,").wait_for()
    settle(page)
    page.get_by_label("Between values").select_option(",")
    page.get_by_label("Type of plz").wait_for()
    page.set_viewport_size({"width": 360, "height": 740})
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


def test_texts_are_counted_as_missing_by_a_click(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town,paid\n39,Ulm,5\nk.A.,?,999\n50,Bonn,7\n")
    assert "Count “k.A.” in age as missing" in columns(empty_bench)
    said = text_of(empty_bench.post(f"{DATA}/missing-texts", column="age", text="k.A.").text)
    assert "Read age as whole number" in said
    assert "Count “k.A.” in age as a value again" in said
    empty_bench.post(f"{DATA}/type", column="age", kind="integer")
    empty_bench.post(f"{DATA}/missing-texts", column="town", text="?")
    empty_bench.post(f"{DATA}/missing-texts", column="paid", text="999")
    texts = {"age": ["k.A."], "town": ["?"], "paid": ["999"]}
    assert recipe(empty_bench).get("source", "missing_texts") == texts
    # This "?" is a text, and not something to decide.
    assert not any(place[0] == "source" for place in recipe(empty_bench).undecided)
    project = empty_bench.project("mine~recipe")
    table = empty_bench.desk.tables.bare(project)
    assert table.keys("age") == (39, 50, None)
    assert table.labels("town") == ("Bonn", "Ulm", "")
    assert "" in table.labels("paid")
    empty_bench.post(f"{DATA}/missing-texts", column="paid", text="999", back="1")
    assert "999" in empty_bench.desk.tables.bare(project).labels("paid")
    empty_bench.post(f"{DATA}/missing-texts", column="nothing", text="NA", status=422)
    empty_bench.post(f"{DATA}/missing-texts", column="age", text="", status=422)


def test_a_text_is_counted_as_missing_in_all_columns_at_once(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town,paid\n39,Ulm,NA\nNA,NA,7\n50,Bonn,7\n")
    said = columns(empty_bench)
    assert "Count “NA” in all columns as missing" in said
    assert "3 columns have it" in said
    said = text_of(empty_bench.post(f"{DATA}/missing-texts", column="", text="NA").text)
    assert recipe(empty_bench).get("source", "missing_texts") == ["NA"]
    assert "Count “NA” in all columns as a value again" in said
    assert "Count “NA” in town as a value again" not in said
    table = empty_bench.desk.tables.bare(empty_bench.project("mine~recipe"))
    assert [table.labels(name)[-1] for name in table.names] == ["", "", ""]
    empty_bench.post(f"{DATA}/missing-texts", column="town", text="NA", back="1")
    texts = {"age": ["NA"], "paid": ["NA"]}
    assert recipe(empty_bench).get("source", "missing_texts") == texts
    empty_bench.post(f"{DATA}/missing-texts", column="", text="NA", back="1")
    assert recipe(empty_bench).get("source", "missing_texts") is None


def test_the_step_says_what_is_left_to_decide_about_columns(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town\n39,Ulm\n50,Bonn\n")
    project = empty_bench.project("mine~recipe")
    columns(empty_bench)
    assert STEP.standing(project).state == "done"
    empty_bench.post(f"{DATA}/type", column="town", kind="integer")
    assert STEP.standing(project) == Standing("needs", "columns to fix")
    empty_bench.post(f"{DATA}/type", column="town", kind="text")
    assert STEP.standing(project).state == "done"
    project.folder.joinpath(recipe(empty_bench).get("source", "path")).write_text(
        "age,town\n39,Ulm\n,Bonn\n"
    )
    assert STEP.standing(project) == Standing("todo", "changed since you looked")
    columns(empty_bench)
    assert STEP.standing(project).state == "done"
    empty_bench.post(f"{DATA}/missing", missing="refuse")
    assert STEP.standing(project) == Standing("needs", "missing values are refused")


def test_what_is_odd_is_undecided_until_somebody_leaves_it_as_it_is(empty_bench: Bench) -> None:
    begun(empty_bench, "age,town\n39,NA\n50,Bonn\n")
    project = empty_bench.project("mine~recipe")
    assert "Worth a look: town" in columns(empty_bench)
    assert STEP.standing(project) == Standing("needs", "columns to decide")
    assert "needs a decision" in text_of(empty_bench.get("/p/mine~recipe/steps"))
    said = text_of(empty_bench.post(f"{DATA}/leave", column="town").text)
    assert "Nothing is left to decide" in said
    assert "Count “NA” in town as missing" in said
    assert STEP.standing(project).state == "done"
