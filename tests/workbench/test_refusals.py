"""Who is refused sees a page that says what to do, and nothing that they should not know."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from shoal.workbench import access
from shoal.workbench.access import Access
from shoal.workbench.app import application
from tests.workbench.benches import HOST, ORIGIN, hospital
from tests.workbench.conftest import violations
from tests.workbench.teams import PROJECT, Team

BROWSER = {"Accept": "text/html,*/*"}
PART = {"HX-Request": "true"}


def alone(home: Path) -> TestClient:
    """Somebody without the token, at a workbench that has a project."""
    hospital(home)
    app = application(home, Access((HOST,)), lambda event: None)
    return TestClient(app, base_url=ORIGIN, follow_redirects=False, headers=BROWSER)


@pytest.mark.parametrize(
    ("headers", "status", "says"),
    [
        ({}, 401, "printed, with its token"),
        ({"Host": "evil.example"}, 421, "ask whoever gave it to you"),
        ({"Sec-Fetch-Site": "cross-site"}, 403, "go on from this page"),
        ({"Accept-Language": "de"}, 401, "ausgegeben hat"),
    ],
)
def test_a_refusal_is_a_page_that_says_what_to_do(
    tmp_path: Path, headers: dict[str, str], status: int, says: str
) -> None:
    refused = alone(tmp_path).get(f"{PROJECT}/risk", headers=headers)
    assert refused.status_code == status
    assert says in refused.text
    assert "<h1>" in refused.text
    assert "hospital" not in refused.text
    assert "token=" not in refused.text


def test_a_page_with_another_host_does_not_say_what_is_here(tmp_path: Path) -> None:
    """A page elsewhere that has made its name lead here can read the answer."""
    refused = alone(tmp_path).get("/", headers={"Host": "evil.example"})
    assert "shoal" not in refused.text.partition("</style>")[2].lower()
    assert HOST not in refused.text


def test_programs_get_a_text(tmp_path: Path) -> None:
    refused = alone(tmp_path).get("/", headers={"Accept": "*/*"})
    assert refused.headers["content-type"].startswith("text/plain")
    assert "with its token" in refused.text


def test_members_are_told_their_role_and_who_may(team: Team) -> None:
    analyst = team.client("analyst")
    for project in (PROJECT, "/p/there~is~none"):
        refused = analyst.get(f"{project}/risk", headers=BROWSER)
        assert refused.status_code == 403
        assert "You came in as Analyst, with the role analyst" in refused.text
        assert "Ask an owner" in refused.text
        assert "hospital" not in refused.text
    part = analyst.post(f"{PROJECT}/roles/set", headers=PART)
    assert part.status_code == 422
    assert part.headers["HX-Retarget"] == "#notice"
    assert "Ask an owner" in part.text


def test_after_a_session_is_over_one_comes_back_to_the_page(
    team: Team,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = team.client("owner")
    assert owner.get(f"{PROJECT}/risk").status_code == 200
    with monkeypatch.context() as patch:
        patch.setattr(access, "_SESSION", -1.0)
        place = owner.get(f"{PROJECT}/risk").headers["location"]
        part = owner.post(f"{PROJECT}/roles", headers=PART)
    # A script follows the header; a redirect would put the form into a part of the page.
    assert (part.status_code, part.headers["HX-Redirect"]) == (401, "/enter?over=1")
    form = owner.get(place)
    assert "Your session is over" in form.text
    assert f'value="{PROJECT}/risk"' in form.text
    back = {"key": team.keys["owner"], "back": f"{PROJECT}/risk"}
    assert owner.post("/enter", data=back).headers["location"] == f"{PROJECT}/risk"
    elsewhere = {"key": team.keys["owner"], "back": "//evil.example"}
    assert owner.post("/enter", data=elsewhere).headers["location"] == "/"


def test_somebody_with_a_wrong_key_or_none_is_told_the_same_of_every_page(
    team: Team,
) -> None:
    stranger = team.client()
    assert "Your session is over" not in stranger.get("/enter").text
    wrong = stranger.post("/enter", data={"key": "shoal-0", "back": f"{PROJECT}/risk"})
    assert (wrong.status_code, "Nobody has this key" in wrong.text) == (401, True)
    there = stranger.get(f"{PROJECT}/risk")
    nowhere = stranger.get("/p/there~is~none/risk")
    assert there.status_code == nowhere.status_code
    assert (
        there.headers["location"].replace("hospital~hospital", "there~is~none")
        == (nowhere.headers["location"])
    )


def test_the_language_can_be_chosen_before_one_is_in(team: Team) -> None:
    stranger = team.client()
    assert stranger.post("/language", data={"language": "de", "back": "/enter"}).cookies
    assert "Ihr Schlüssel" in stranger.get("/enter").text


@pytest.mark.parametrize("path", [f"{PROJECT}/nothing", "/nothing", f"{PROJECT}/attack/bound"])
def test_an_address_that_there_is_not_is_a_page_too(
    team: Team,
    path: str,
) -> None:
    answer = team.client("owner").get(path)
    assert answer.status_code in (404, 422)
    assert "There is no such page" in answer.text
    assert "<h1>" in answer.text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_refusals_are_accessible(browser: Any, served: str, scheme: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    answer = page.goto(served.partition("?")[0])
    assert answer.status == 401
    assert page.evaluate("getComputedStyle(document.body).fontFamily") != "Times New Roman"
    assert page.evaluate("getComputedStyle(document.querySelector('.box')).borderStyle") != "none"
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not violations(page)
    page.close()
