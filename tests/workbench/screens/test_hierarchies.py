"""The screen of hierarchies: built, previewed, uploaded, compared, mended and edited."""

import re
from pathlib import Path
from typing import Any

import pytest

from shoal.data.hierarchy import read
from shoal.errors import ShoalError
from shoal.recipe import Recipe
from shoal.recipe.editing import editing
from shoal.workbench.screens.hierarchies import STEP
from shoal.workbench.steps import Standing
from tests.workbench.benches import Bench
from tests.workbench.conftest import violations

KEY = "hospital~hospital"
BASE = f"/p/{KEY}/hierarchies"
AGES: dict[str, Any] = {
    "column": "age",
    "build": "intervals",
    "low": "0",
    "high": "120",
    "widths": "5, 10",
}


def recipe_of(bench: Bench) -> Recipe:
    return Recipe.load(bench.home / "hospital" / "hospital.toml")


def section(bench: Bench, column: str) -> dict[str, Any]:
    found: dict[str, Any] = bench.project(KEY).draft().section("hierarchies", column)
    return found


def decide(bench: Bench, *place: str, to: object) -> None:
    with editing(bench.home / "hospital" / "hospital.toml") as draft:
        draft.set(*place, to=to)


def late(bench: Bench) -> list[str]:
    return bench.project(KEY).draft().get("chosen_after_looking") or []


# The page of a column


def test_the_first_column_without_a_hierarchy_is_shown(demo_bench: Bench) -> None:
    decide(demo_bench, "hierarchies", "ward", to=None)
    page = demo_bench.get(BASE)
    assert "<h2>ward</h2>" in page
    assert "Suggested, not saved yet." in page
    assert section(demo_bench, "ward") == {}


def test_a_column_that_is_not_released_has_no_page(demo_bench: Bench) -> None:
    demo_bench.get(f"{BASE}?column=patient", status=422)
    demo_bench.get(f"{BASE}?column=nothing", status=422)


@pytest.mark.parametrize("build", ["intervals", "dates", "mask", "order", "group", "suppress"])
def test_every_builder_has_a_form(demo_bench: Bench, build: str) -> None:
    page = demo_bench.get(f"{BASE}?column=ward&build={build}")
    assert f'name="build" value="{build}"' in page


def test_without_roles_the_page_says_what_to_do(demo_bench: Bench) -> None:
    decide(demo_bench, "roles", to={"age": "?"})
    assert "Give columns their roles" in demo_bench.get(BASE)


def test_the_step_says_whether_a_column_lacks_one(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    assert STEP.standing(project) == Standing("done")
    decide(demo_bench, "hierarchies", "age", to=None)
    assert STEP.standing(project).state == "todo"
    decide(demo_bench, "method", to={"name": "optimal", "models": ["5-anonymity"]})
    assert STEP.standing(project).state == "needs"
    decide(demo_bench, "hierarchies", "age", to={"build": "intervals", "low": "?"})
    assert STEP.standing(project).state == "needs"


# Suggestions


def test_all_that_anybody_could_have_written_is_taken_by_one_click(demo_bench: Bench) -> None:
    for column in ("age", "admitted", "postcode", "ward"):
        decide(demo_bench, "hierarchies", column, to=None)
    assert f'hx-get="{BASE}/suggestions"' in demo_bench.get(BASE)
    page = demo_bench.get(f"{BASE}/suggestions")
    assert "Take all suggestions (" in page
    assert "ward" not in page
    answer = demo_bench.post(f"{BASE}/take", part=False, status=303, made_from="public")
    assert section(demo_bench, "age")["widths"] == [5, 10, 20]
    # By how it is written in the table.
    postcodes = {"build": "mask", "length": 5, "steps": [1, 2, 3, 4]}
    assert section(demo_bench, "postcode") == postcodes
    assert section(demo_bench, "admitted")["levels"] == ["month", "year"]
    assert section(demo_bench, "ward") == {}
    assert late(demo_bench) == []
    assert not demo_bench.project(KEY).note("looked")
    assert re.search(r"Saved for \d columns", demo_bench.get(answer.headers["location"]))
    demo_bench.post(f"{BASE}/undo", part=False, status=303, column="age")
    assert section(demo_bench, "age") == {}


def test_the_others_are_made_from_the_rows_and_say_so(demo_bench: Bench) -> None:
    for column in ("ward", "admitted"):
        decide(demo_bench, "hierarchies", column, to=None)
    decide(demo_bench, "hierarchies", "stay", to=None)
    demo_bench.post(f"{BASE}/take", part=False, status=303, made_from="public")
    page = demo_bench.get(f"{BASE}/suggestions")
    assert "Make them from the rows" in page
    demo_bench.post(f"{BASE}/take", part=False, status=303, made_from="rows")
    assert "hierarchies.ward" in late(demo_bench)
    assert demo_bench.project(KEY).note("looked")
    tree = recipe_of(demo_bench).hierarchies["ward"]
    assert tree.derived
    assert "Make them from the rows" not in demo_bench.get(f"{BASE}/suggestions")


def test_after_taking_all_one_look_says_whether_every_value_has_its_place(
    demo_bench: Bench,
) -> None:
    assert "✓ Every value" in demo_bench.get(f"{BASE}/checked", part=True)
    decide(demo_bench, "hierarchies", "age", to={"build": "intervals", "low": 0, "high": 50})
    page = demo_bench.get(f"{BASE}/checked")
    assert re.search(r'column=age">age</a>: 5\d of 10\d values, in [\d,]+ of [\d,]+ rows', page)
    assert "column=sex" not in page
    # From then on every page of the step says so.
    assert f'hx-get="{BASE}/checked" hx-trigger="load"' in demo_bench.get(BASE)


def test_a_builder_goes_on_from_what_it_made_of_the_rows(demo_bench: Bench) -> None:
    decide(demo_bench, "hierarchies", "stay", to=None)
    fields: dict[str, Any] = {"column": "stay", "build": "intervals", "made_from": "rows"}
    ends = {"low": "0", "high": "500", "widths": "5, 50"}
    demo_bench.post(f"{BASE}/save", part=False, status=303, **fields, **ends)
    assert section(demo_bench, "stay").keys() == {"file"}
    page = demo_bench.get(f"{BASE}?column=stay")
    assert re.search(r'value="5, 50" id="f-widths"', page)
    # The file itself was changed, so the builder would say something else.
    path = bench_file(demo_bench, "stay")
    path.write_text("0;*\n1;*\n")
    assert 'id="f-widths"' not in demo_bench.get(f"{BASE}?column=stay")


def bench_file(bench: Bench, column: str) -> Path:
    folder: Path = bench.project(KEY).folder
    return folder / str(section(bench, column)["file"])


def test_where_the_promise_needs_public_hierarchies_the_step_says_so(demo_bench: Bench) -> None:
    decide(demo_bench, "hierarchies", "ward", to=None)
    demo_bench.post(f"{BASE}/take", part=False, status=303, made_from="rows")
    project = demo_bench.project(KEY)
    assert STEP.standing(project) == Standing("needs", "made from the rows")
    page = demo_bench.get(BASE)
    assert "The method refuses hierarchies that were made from the rows: ward." in page
    demo_bench.post(
        f"{BASE}/origin", part=False, status=303, column="age", made_from="public", all="yes"
    )
    assert STEP.standing(project) == Standing("done")
    assert "The method refuses" not in demo_bench.get(BASE)


def test_numbers_from_the_rows_have_rounded_ends(demo_bench: Bench) -> None:
    fields: dict[str, Any] = {"column": "age", "build": "intervals", "fill": "yes"}
    filled = demo_bench.post(f"{BASE}/save", part=False, **fields).text
    assert re.search(r'value="0" id="f-low"', filled)
    assert re.search(r'value="110" id="f-high"', filled)
    assert re.search(r'value="5, 10, 50" id="f-widths"', filled)


# Preview


def test_the_preview_shows_levels_and_saves_nothing(demo_bench: Bench) -> None:
    before = section(demo_bench, "age")
    shown = demo_bench.post(f"{BASE}/preview", **AGES).text
    assert "121 values, 4 levels" in shown
    assert "Against the saved one" in shown
    assert section(demo_bench, "age") == before
    assert not demo_bench.project(KEY).note("looked")


def test_what_is_wrong_stands_beside_its_field(demo_bench: Bench) -> None:
    shown = demo_bench.post(f"{BASE}/preview", **{**AGES, "widths": "5, 7"}).text
    assert "does not nest" in shown
    shown = demo_bench.post(f"{BASE}/preview", **{**AGES, "widths": "0.5"}).text
    assert re.search(r'id="problem-widths"[^>]*>[^<]*not an integer', shown)
    shown = demo_bench.post(f"{BASE}/preview", **{**AGES, "low": "x"}).text
    assert re.search(r'id="problem-low"[^>]*>Write a number', shown)


def test_a_form_that_was_just_opened_does_not_complain(demo_bench: Bench) -> None:
    fields: dict[str, Any] = {"column": "ward", "build": "group", "tree": ""}
    assert "This is needed." in demo_bench.post(f"{BASE}/preview", **fields).text
    assert "This is needed." not in demo_bench.post(f"{BASE}/preview", on_load="yes", **fields).text


def test_a_hierarchy_that_is_too_large_is_not_made_while_typing(demo_bench: Bench) -> None:
    fields: dict[str, Any] = {"column": "postcode", "build": "mask", "length": "7"}
    assert "10,000,000" in demo_bench.post(f"{BASE}/preview", **fields).text
    demo_bench.post(f"{BASE}/save", **fields)
    assert section(demo_bench, "postcode") == {"build": "mask", "length": 7}


def test_without_a_script_the_preview_is_part_of_the_page(demo_bench: Bench) -> None:
    page = demo_bench.post(f"{BASE}/preview", part=False, **AGES).text
    assert "<h1>" in page
    assert "121 values, 4 levels" in page


# Saving


def test_what_is_saved_is_in_the_recipe(demo_bench: Bench) -> None:
    demo_bench.post(f"{BASE}/save", part=False, status=303, **AGES)
    saved = {"build": "intervals", "low": 0, "high": 120, "widths": [5, 10]}
    assert section(demo_bench, "age") == saved
    assert recipe_of(demo_bench).hierarchies["age"].lines()[39] == ["39", "35-39", "30-39", "*"]
    assert "# Public: from what anybody knows" in demo_bench.project(KEY).draft().text
    assert late(demo_bench) == []


def test_what_is_wrong_is_not_saved(demo_bench: Bench) -> None:
    before = section(demo_bench, "age")
    for wrong in ({"widths": "5, 7"}, {"low": "x"}, {"low": ""}):
        demo_bench.post(f"{BASE}/save", part=False, status=422, **{**AGES, **wrong})
    assert section(demo_bench, "age") == before


def test_a_hierarchy_is_taken_away_and_brought_back(demo_bench: Bench) -> None:
    before = section(demo_bench, "age")
    demo_bench.post(f"{BASE}/remove", column="age")
    assert section(demo_bench, "age") == {}
    demo_bench.post(f"{BASE}/undo", column="age")
    assert section(demo_bench, "age") == before
    demo_bench.post(f"{BASE}/undo", column="age", status=422)


# From the rows


def test_a_form_is_filled_from_the_rows_and_says_so(demo_bench: Bench) -> None:
    page = demo_bench.post(f"{BASE}/save", part=False, fill="yes", **AGES).text
    assert "Filled in from the rows, not saved yet." in page
    assert re.search(r'value="rows" checked', page)
    assert demo_bench.project(KEY).note("looked")
    page = demo_bench.post(
        f"{BASE}/save", part=False, fill="yes", column="ward", build="group"
    ).text
    assert "all others\n  " in page


def test_what_is_made_from_rows_is_marked_and_breaks_a_promise(demo_bench: Bench) -> None:
    fields: dict[str, Any] = {
        "column": "ward",
        "build": "suppress",
        "values": "",
        "made_from": "rows",
    }
    demo_bench.post(f"{BASE}/save", part=False, status=303, **fields)
    assert section(demo_bench, "ward") == {"file": "hierarchies/ward.csv"}
    assert (demo_bench.home / "hospital" / "hierarchies" / "ward.csv.derived").exists()
    assert demo_bench.project(KEY).note("hierarchies-from-rows") == ["ward"]
    assert late(demo_bench) == ["hierarchies.ward"]
    recipe = recipe_of(demo_bench)
    with pytest.raises(ShoalError, match="derived from the rows"):
        recipe.promise(recipe.table())
    page = demo_bench.get(f"{BASE}?column=ward")
    assert "Made from the rows" in page

    demo_bench.post(f"{BASE}/origin", column="ward", made_from="public")
    assert demo_bench.project(KEY).note("hierarchies-from-rows") == []
    assert not recipe_of(demo_bench).hierarchies["ward"].derived
    # The certificate still says that it was chosen after looking.
    assert late(demo_bench) == ["hierarchies.ward"]


def test_a_derived_preview_shows_no_value(demo_bench: Bench) -> None:
    table = (demo_bench.home / "hospital" / "hospital.csv").read_text().splitlines()
    ward = table[1].split(",")[table[0].split(",").index("ward")]
    fields: dict[str, Any] = {
        "column": "ward",
        "build": "suppress",
        "values": "",
        "made_from": "rows",
    }
    shown = demo_bench.post(f"{BASE}/preview", **fields).text
    assert "shown in the tree only" in shown
    assert ward not in shown


def test_a_choice_after_looking_is_listed_though_the_recipe_names_the_same_file(
    demo_bench: Bench,
) -> None:
    demo_bench.get(f"{BASE}/coverage?column=age", part=True)
    _edit(demo_bench, "sex", act="rename", level="1", label="*", to="any")
    assert section(demo_bench, "sex") == {"file": "hierarchies/sex.csv"}
    assert late(demo_bench) == ["hierarchies.sex"]


# Files


def _upload(bench: Bench, content: str) -> str:
    files = {"upload": ("sex.csv", content.encode())}
    sent = bench.client.post(
        f"{BASE}/upload", data={"column": "sex"}, files=files, follow_redirects=False
    )
    assert sent.status_code == 303, sent.text[:500]
    return str(sent.headers["location"])


def test_an_upload_is_compared_before_it_is_used(demo_bench: Bench) -> None:
    path = demo_bench.home / "hospital" / "hierarchies" / "sex.csv"
    before = path.read_text()
    lines = read(path).lines()
    grown = "".join(";".join(line) + "\n" for line in [*lines, ["inter", lines[0][1]]])
    address = _upload(demo_bench, grown)
    page = demo_bench.get(address)
    assert "Uploaded, not used yet" in page
    staged = re.search(r'name="staged" value="([^"]+)"', page)
    assert staged
    fields: dict[str, Any] = {"column": "sex", "build": "file", "staged": staged[1]}
    assert "Values added: 1" in demo_bench.post(f"{BASE}/preview", **fields).text
    assert path.read_text() == before
    demo_bench.post(f"{BASE}/save", **fields)
    assert "inter" in path.read_text()
    assert section(demo_bench, "sex") == {"file": "hierarchies/sex.csv"}
    demo_bench.post(f"{BASE}/undo", column="sex")
    assert path.read_text() == before


def test_what_is_not_a_file_of_a_hierarchy_is_refused(demo_bench: Bench) -> None:
    page = demo_bench.get(_upload(demo_bench, "male\nfemale\n"))
    staged = re.search(r'name="staged" value="([^"]+)"', page)
    assert staged
    fields: dict[str, Any] = {"column": "sex", "build": "file", "staged": staged[1]}
    assert "only one level" in demo_bench.post(f"{BASE}/preview", **fields).text
    assert "2 levels" in demo_bench.post(f"{BASE}/preview", add_root="*", **fields).text
    fields["staged"] = "../../hospital.csv"
    demo_bench.post(f"{BASE}/preview", status=422, **fields)


def test_a_file_stays_where_it_is(demo_bench: Bench) -> None:
    elsewhere = demo_bench.home / "codes.csv"
    elsewhere.write_text("f,*\nm,*\n")
    fields: dict[str, Any] = {"column": "sex", "build": "file", "file": "../codes.csv"}
    demo_bench.post(f"{BASE}/save", **fields)
    assert section(demo_bench, "sex") == {"file": "../codes.csv"}
    # An edit does not touch it.
    _edit(demo_bench, "sex", act="rename", level="1", label="*", to="any")
    assert elsewhere.read_text() == "f,*\nm,*\n"
    assert section(demo_bench, "sex")["file"].startswith("hierarchies/sex")


def test_the_source_is_not_a_hierarchy(demo_bench: Bench) -> None:
    fields: dict[str, Any] = {"column": "sex", "build": "file", "file": "hospital.csv"}
    assert "is the source itself" in demo_bench.post(f"{BASE}/preview", **fields).text


def test_records_that_a_change_concerns_are_counted_when_asked(demo_bench: Bench) -> None:
    fields: dict[str, Any] = {**AGES, "high": "30"}
    assert "How many records" in demo_bench.post(f"{BASE}/preview", **fields).text
    told = demo_bench.post(f"{BASE}/concerned", **fields).text
    assert re.search(r"\d+ of 1,000 records have", told)
    assert demo_bench.project(KEY).note("looked")


# Coverage


def test_coverage_is_for_the_owner_who_asks(demo_bench: Bench) -> None:
    page = demo_bench.get(f"{BASE}?column=age")
    assert 'hx-trigger="load"' in page  # the preview
    assert f'hx-get="{BASE}/coverage?column=age" hx-trigger="load"' not in page
    assert "are in the saved hierarchy" in demo_bench.get(f"{BASE}/coverage?column=age", part=True)
    assert f'hx-get="{BASE}/coverage?column=age" hx-trigger="load"' in demo_bench.get(
        f"{BASE}?column=age"
    )


def test_missing_values_are_counted_listed_on_request_and_added(demo_bench: Bench) -> None:
    path = demo_bench.home / "hospital" / "hierarchies" / "ward.csv"
    lines = read(path).lines()
    gone = lines[0][0]
    path.write_text("".join(";".join(line) + "\n" for line in lines[1:]))
    told = demo_bench.get(f"{BASE}/coverage?column=ward", part=True)
    assert re.search(r"1 of \d+ different values", told)
    assert gone not in told
    assert gone in demo_bench.post(f"{BASE}/missing", column="ward").text
    demo_bench.post(f"{BASE}/add", column="ward", value=gone, to=lines[0][1])
    tree = recipe_of(demo_bench).hierarchies["ward"]
    assert tree.derived
    assert lines[0] in tree.lines()
    assert demo_bench.project(KEY).note("hierarchies-from-rows") == ["ward"]


def test_intervals_are_opened_where_values_lie_beyond(demo_bench: Bench) -> None:
    demo_bench.post(f"{BASE}/save", **{**AGES, "high": "40"})
    told = demo_bench.get(f"{BASE}/coverage?column=age", part=True)
    assert "Open the upper end: 40 and all above is one value" in told
    assert "Open the lower end" not in told
    demo_bench.post(f"{BASE}/open", column="age", end="high")
    assert section(demo_bench, "age") == {
        "build": "intervals", "low": 0, "top": 40, "widths": [5, 10],
    }  # fmt: skip
    told = demo_bench.get(f"{BASE}/coverage?column=age", part=True)
    assert "are in the saved hierarchy" in told


# The tree


def _digest(page: str) -> str:
    found = re.search(r'name="digest" value="(\w+)"', page)
    assert found
    return found[1]


def _edit(bench: Bench, column: str, **fields: Any) -> Any:
    digest = _digest(bench.get(f"{BASE}/tree?column={column}"))
    return bench.post(f"{BASE}/tree/edit", column=column, digest=digest, **fields)


def test_the_tree_is_loaded_level_by_level(demo_bench: Bench) -> None:
    page = demo_bench.get(f"{BASE}/tree?column=age")
    assert "0-39" in page
    assert "35-39" not in page
    assert "0-19" in demo_bench.get(f"{BASE}/tree/below?column=age&level=4&code=0", part=True)
    assert "35-39" in demo_bench.get(f"{BASE}/tree?column=age&level=2&code=3")
    demo_bench.get(f"{BASE}/tree/below?column=age&level=4&code=99", part=True, status=422)


def test_branches_are_found_by_their_label(demo_bench: Bench) -> None:
    found = demo_bench.post(f"{BASE}/tree/find", column="age", text="35-").text
    assert "35-39" in found
    assert "Nothing contains" in demo_bench.post(f"{BASE}/tree/find", column="age", text="xyz").text
    assert "<h1>" in demo_bench.post(f"{BASE}/tree/find", part=False, column="age", text="3").text


def test_a_large_tree_stays_small_on_the_page(demo_bench: Bench) -> None:
    fields: dict[str, Any] = {"column": "postcode", "build": "mask", "length": "4", "steps": "3"}
    demo_bench.post(f"{BASE}/save", **fields)
    page = demo_bench.get(f"{BASE}/tree?column=postcode&level=1&code=5")
    assert len(page) < 60_000
    assert "5099" in page
    assert "5100" not in page
    later = demo_bench.get(f"{BASE}/tree?column=postcode&level=1&code=5&start=900")
    assert "5999" in later


def test_edits_are_written_to_a_file(demo_bench: Bench) -> None:
    demo_bench.post(f"{BASE}/save", **AGES)
    _edit(demo_bench, "age", act="rename", level="2", label="0-9", to="children")
    assert section(demo_bench, "age")["file"].startswith("hierarchies/age")
    _edit(
        demo_bench,
        "age",
        act="merge",
        level="3",
        label="*",
        chosen=["100-109", "110-119", "120"],
        to="100+",
    )
    _edit(demo_bench, "age", act="move", level="1", label="10-14", chosen=["10"], to="5-9")
    _edit(
        demo_bench, "age", act="gather", level="3", label="*", chosen=["10-19", "20-29"], to="young"
    )
    _edit(demo_bench, "age", act="add", level="1", label="115-119", values="130\n131")
    _edit(demo_bench, "age", act="drop", level="1", label="115-119", chosen=["131"])
    _edit(demo_bench, "age", act="add-level", level="0")
    _edit(demo_bench, "age", act="remove-level", level="1")
    tree = recipe_of(demo_bench).hierarchies["age"]
    lines = {line[0]: line[1:] for line in tree.lines()}
    assert lines["10"] == ["5-9", "children", "children", "*"]
    assert lines["12"] == ["10-14", "10-19", "young", "*"]
    assert lines["130"] == ["115-119", "100+", "100+", "*"]
    assert "131" not in lines
    for _ in range(8):
        demo_bench.post(f"{BASE}/undo", column="age")
    assert section(demo_bench, "age")["build"] == "intervals"


def test_an_edit_of_a_tree_that_has_changed_is_refused(demo_bench: Bench) -> None:
    digest = _digest(demo_bench.get(f"{BASE}/tree?column=sex"))
    fields: dict[str, Any] = {
        "column": "sex",
        "digest": digest,
        "act": "rename",
        "level": "1",
        "label": "*",
    }
    demo_bench.post(f"{BASE}/tree/edit", to="any", **fields)
    demo_bench.post(f"{BASE}/tree/edit", to="other", status=422, **fields)
    demo_bench.post(f"{BASE}/tree/edit", **{**fields, "act": "burn"}, status=422)


def test_a_file_that_a_release_was_made_by_is_not_replaced(demo_bench: Bench) -> None:
    folder = demo_bench.home / "hospital"
    release = folder / "releases" / "first"
    recipe_of(demo_bench).release(recipe_of(demo_bench).table(), release)
    before = (folder / "hierarchies" / "sex.csv").read_text()
    _edit(demo_bench, "sex", act="rename", level="1", label="*", to="any")
    assert section(demo_bench, "sex") == {"file": "hierarchies/sex-2.csv"}
    assert (folder / "hierarchies" / "sex.csv").read_text() == before


# In a browser


def test_an_interval_hierarchy_is_built_by_keyboard(page: Any, tmp_path: Path) -> None:
    home = page.url.split("/p/")[0].rstrip("/")
    page.goto(f"{home}{BASE}?column=age&build=intervals")
    preview = page.locator("#preview")
    preview.get_by_text("91 values, 5 levels").wait_for()
    assert violations(page) == []
    page.get_by_label("Widths", exact=True).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("10, 30")
    preview.get_by_text("91 values, 4 levels").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("9x")
    page.locator("#problem-top").get_by_text("Write a number").wait_for()
    page.keyboard.press("Backspace")
    page.keyboard.type("0")
    preview.get_by_text("91 values, 4 levels").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Undo the last change").wait_for()
    recipe = Recipe.load(tmp_path / "hospital" / "hospital.toml")
    assert recipe.hierarchies["age"].lines()[39] == ["39", "30-39", "30-59", "*"]

    page.get_by_role("link", name="Look at the tree and edit it").press("Enter")
    page.locator("summary", has_text="30-59").press("Enter")
    page.locator("summary", has_text="40-49").press("Enter")
    page.get_by_text("44", exact=True).wait_for()
    page.get_by_label("Search values and groups").fill("77")
    page.get_by_role("link", name="77", exact=True).wait_for()
    assert violations(page) == []


# Ready-made ones


def test_a_ready_made_hierarchy_is_chosen_previewed_and_saved(demo_bench: Bench) -> None:
    given: dict[str, Any] = {
        "column": "ward",
        "build": "ready",
        "name": "german-states",
        "form": "name",
    }
    assert "Schleswig-Holstein" in demo_bench.post(f"{BASE}/preview", **given).text
    demo_bench.post(f"{BASE}/save", **given)
    kept = {"build": "ready", "name": "german-states", "form": "name"}
    assert section(demo_bench, "ward") == kept
    assert late(demo_bench) == []


def test_only_the_forms_of_a_list_are_offered(demo_bench: Bench) -> None:
    given: dict[str, Any] = {"column": "ward", "build": "ready", "name": "sex", "form": "letters"}
    page = demo_bench.post(f"{BASE}/preview", **given).text
    assert 'value="german-letters"' in page
    assert "alpha-3" not in page
    # Another list has other forms, and what was chosen for the first means nothing.
    page = demo_bench.post(f"{BASE}/preview", **{**given, "name": "countries"}).text
    assert 'value="alpha-3"' in page
    assert 'value="usual" selected' in page
    assert "german-letters" not in page
    assert "Something is missing or wrong" not in page


def test_a_ready_made_hierarchy_that_is_very_large_is_not_made_for_a_preview(
    demo_bench: Bench,
) -> None:
    given: dict[str, Any] = {"column": "ward", "build": "ready", "name": "postcodes-in"}
    assert "900,000" in demo_bench.post(f"{BASE}/preview", **given).text
