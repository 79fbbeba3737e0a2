"""The first screen: what each project has, and new ones."""

import re
from pathlib import Path
from typing import Any

import pytest

from shoal.ledger import Ledger
from tests.workbench.benches import Bench, bench, hospital
from tests.workbench.conftest import violations

PEOPLE = "name,age,town\nAnn,39,Ulm\nBob,50,Bonn\n"


@pytest.fixture
def people(empty_bench: Bench) -> Path:
    """A table in the folder of projects."""
    path = empty_bench.home / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def text_of(page: str) -> str:
    """The words of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def card_of(bench: Bench, key: str = "hospital~hospital") -> str:
    """The words of a project's card, which follows the list."""
    assert f"/p/{key}/card" in bench.get("/")
    return text_of(bench.get(f"/p/{key}/card", part=True))


def test_an_empty_folder_teaches_how_to_begin(empty_bench: Bench) -> None:
    page = text_of(empty_bench.get("/"))
    for words in ("Your first project", "A file on this machine", "Upload a copy", "Made-up data"):
        assert words in page


def test_a_project_shows_its_data_draft_releases_and_ledger(demo_bench: Bench) -> None:
    page = card_of(demo_bench)
    assert str(demo_bench.home / "hospital" / "hospital.csv") in page
    assert "Everything is decided" in page
    assert "none yet" in page
    assert "no ledger" in page


def test_a_ledger_says_what_is_left(demo_bench: Bench) -> None:
    project = demo_bench.project("hospital~hospital")
    Ledger.create(project.folder / "hospital.ledger", epsilon=2, delta="1e-5", witness=False)
    recipe = project.recipe.read_text(encoding="utf-8")
    project.recipe.write_text(recipe + '\n[ledger]\npath = "hospital.ledger"\n', encoding="utf-8")
    assert "ε 2, δ 1e-5 left of ε 2, δ 1e-5" in card_of(demo_bench)
    (project.folder / "hospital.ledger").write_bytes(b"nothing")
    assert "hospital.ledger" in card_of(demo_bench)


def test_mistakes_and_files_that_are_gone_are_said(demo_bench: Bench) -> None:
    project = demo_bench.project("hospital~hospital")
    recipe = project.recipe.read_text(encoding="utf-8")
    project.recipe.write_text(recipe.replace('"insensitive"', '"indifferent"'), encoding="utf-8")
    (project.folder / "hospital.csv").unlink()
    page = card_of(demo_bench)
    assert "To fix: roles.stay" in page
    assert "and 1 more" in page
    assert "The file is not there any more." in page


def test_a_path_is_looked_at_and_becomes_a_project(empty_bench: Bench, people: Path) -> None:
    looked = text_of(empty_bench.get(f"/new/look?path={people}", part=True))
    assert "CSV, 3 columns" in looked
    assert 'value="people"' in empty_bench.get(f"/new?path={people}")
    made = empty_bench.post("/new", part=False, path=str(people), name="mine")
    assert made.headers["location"] == "/p/mine~recipe/data"
    assert "Undecided: the types of 3 columns" in card_of(empty_bench, "mine~recipe")
    assert "Ann" not in empty_bench.get("/p/mine~recipe/data")


def test_what_is_wrong_is_said_beside_the_field_and_nothing_is_made(
    empty_bench: Bench, people: Path
) -> None:
    for path, name, problem in (
        (str(people), "../x", "A name has letters"),
        ("/nowhere/people.csv", "mine", "There is no such file"),
        ("", "mine", "No path was given"),
    ):
        page = empty_bench.post("/new", part=False, status=422, path=path, name=name).text
        assert problem in text_of(page)
    assert [one.name for one in empty_bench.home.iterdir()] == ["people.csv"]


def test_a_file_can_be_sent_and_the_hospital_made_up(empty_bench: Bench) -> None:
    sent = empty_bench.client.post(
        "/new/upload",
        data={"name": "sent"},
        files={"file": ("people.csv", PEOPLE.encode(), "text/csv")},
        follow_redirects=False,
    )
    assert sent.headers["location"] == "/p/sent~recipe/data"
    assert (empty_bench.home / "sent" / "people.csv").read_text(encoding="utf-8") == PEOPLE
    made = empty_bench.post("/new/demo", part=False)
    assert made.headers["location"] == "/p/hospital~recipe/"
    again = empty_bench.post("/new/demo", part=False)
    assert again.headers["location"] == "/p/hospital%202~recipe/"


def test_folders_are_shown_and_lead_to_the_file(empty_bench: Bench, people: Path) -> None:
    page = empty_bench.get("/new")
    assert f"/new?path={people}".replace("/", "/") in page.replace("%2F", "/")
    assert "people.csv" in empty_bench.get(f"/folders?at={people.parent}", part=True)
    assert "Cannot look into" in empty_bench.get("/folders?at=/nowhere", part=True)
    assert "evil" not in empty_bench.get("/folders?pick=//evil.example/", part=True)


def test_a_project_is_taken_off_the_list_and_put_back(demo_bench: Bench) -> None:
    demo_bench.post("/p/hospital~hospital/remove", part=False)
    assert "Your first project" in demo_bench.get("/")
    assert (demo_bench.home / "hospital" / "hospital.csv").exists()
    demo_bench.post("/restore", part=False, place="hospital/hospital.toml.removed")
    assert "Everything is decided" in card_of(demo_bench)


def test_the_folder_of_a_project_leads_straight_to_it(tmp_path: Path) -> None:
    hospital(tmp_path)
    with bench(tmp_path / "hospital") as own:
        found = own.client.get("/start", follow_redirects=False)
        assert found.headers["location"] == "/p/hospital/"
        assert "Everything is decided" in card_of(own, "hospital")
    with bench(tmp_path) as several:
        assert several.client.get("/start", follow_redirects=False).headers["location"] == "/"


def test_a_new_user_goes_from_nothing_to_the_columns_with_the_keyboard(
    page: Any, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    assert not violations(page)
    page.get_by_role("link", name="New project").press("Enter")
    page.get_by_role("link", name="people.csv").press("Enter")
    page.get_by_role("button", name="Make the project").wait_for()
    assert not violations(page)
    page.get_by_label("Name of the project").first.press("Enter")
    page.get_by_role("heading", name="3 columns").wait_for()
    assert not violations(page)
    assert "Ann" not in page.content()
    page.get_by_role("button", name="Show the first 20 rows").press("Enter")
    page.get_by_role("cell", name="Ann").wait_for()
