"""Who comes in, and what a page elsewhere cannot do."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from shoal.workbench.access import Access, TeamAccess, _with_ours
from shoal.workbench.app import application
from shoal.workbench.members import Members
from shoal.workbench.refusals import ANOTHER_USER, NOT_OURS
from tests.workbench.benches import HOST, ORIGIN, Bench

PLACES = ("/", "/p/hospital~hospital/data", "/p/hospital~hospital/risk")


@pytest.mark.parametrize("path", PLACES)
def test_nobody_comes_in_without_the_token(tmp_path: Path, path: str) -> None:
    app = application(tmp_path, Access((HOST,)), lambda event: None)
    client = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    assert client.get(path).status_code == 401
    assert client.get(f"{path}?token=guessed").status_code == 401
    client.cookies.set("shoal-7", "guessed")
    assert client.get(path).status_code == 401


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:8"},
    ],
)
def test_pages_elsewhere_read_and_start_nothing(
    demo_bench: Bench, path: str, headers: dict[str, str]
) -> None:
    assert demo_bench.client.get(path, headers=headers).status_code in (403, 421)
    assert demo_bench.client.post(path, headers=headers).status_code in (403, 421)


def test_pages_forbid_scripts_and_frames_of_others(demo_bench: Bench) -> None:
    policy = demo_bench.client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy.replace("style-src-attr 'unsafe-inline'", "")


@pytest.mark.parametrize("key", ["..~secret", "~etc~passwd", "hospital~nothing", "%2e%2e~x"])
def test_no_key_leads_out_of_the_folder(demo_bench: Bench, key: str) -> None:
    (demo_bench.home.parent / "secret.toml").write_text('[source]\npath = "x"\n[roles]\n')
    assert "There is no such project" in demo_bench.get(f"/p/{key}/data", status=422)


def test_a_route_may_have_a_stricter_policy_of_its_own() -> None:
    own = (b"content-security-policy", b"default-src 'none'")
    names = [name for name, _ in _with_ours([own])]
    assert names.count(own[0]) == 1
    assert dict(_with_ours([own]))[own[0]] == own[1]
    assert b"cache-control" in names


def test_what_a_browser_is_started_with_lets_somebody_in_once(tmp_path: Path) -> None:
    access = Access((HOST,))
    app = application(tmp_path, access, lambda event: None)
    once = access.pass_once()
    mine = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    assert mine.get(f"/?token={once}").status_code == 303
    assert mine.get("/new").status_code == 200
    neighbour = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    assert neighbour.get(f"/?token={once}").status_code == 401
    assert neighbour.get(f"/?token={access.token}").status_code == 303


def test_what_does_not_say_where_it_comes_from_changes_nothing(tmp_path: Path) -> None:
    access = Access((HOST,))
    app = application(tmp_path, access, lambda event: None)
    client = TestClient(app, base_url=ORIGIN, cookies={access.cookie: access.session})
    assert client.get("/new").status_code == 200
    refused = client.post("/leave")
    assert (refused.status_code, refused.text) == (403, NOT_OURS.text)


def test_another_user_of_the_machine_does_not_come_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.workbench.access.is_another_user", lambda client, server: True)
    access = Access((HOST,))
    app = application(tmp_path, access, lambda event: None)
    client = TestClient(app, base_url=ORIGIN, cookies={access.cookie: access.session})
    refused = client.get("/new")
    assert (refused.status_code, refused.text) == (403, ANOTHER_USER.text)
    # The members of a team come from anywhere.
    team = TeamAccess((HOST,), members=Members(tmp_path))
    app = application(tmp_path, team, lambda event: None)
    client = TestClient(app, base_url=ORIGIN)
    assert client.get("/enter").status_code == 200
