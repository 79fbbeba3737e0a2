"""Members of a team: keys, roles, and that a release needs the word of somebody else."""

from pathlib import Path
from typing import Any

import pytest

from shoal.errors import FileError, ParameterError
from shoal.workbench import approvals
from shoal.workbench.members import Member, Members, may
from shoal.workbench.projects import Home, Project
from shoal.workbench.work.report import place_of
from tests.workbench.teams import PROJECT, Team


def asked(project: Project) -> dict[str, str]:
    """What the form of a reviewer sends who has just opened the page."""
    approval = approvals.approval_of(project)
    assert approval is not None
    return {"question": approval.question}


def _is_at_the_entrance(answer: Any) -> bool:
    return str(answer.headers["location"]).partition("?")[0] == "/enter"


def test_members_come_in_with_their_key_only(team: Team) -> None:
    stranger = team.client()
    assert _is_at_the_entrance(stranger.get("/"))
    assert _is_at_the_entrance(stranger.get(f"{PROJECT}/risk"))
    assert stranger.get("/enter").status_code == 200
    for key in ("", "shoal-0", team.keys["owner"][:-1]):
        assert stranger.post("/enter", data={"key": key}).status_code == 401
    assert _is_at_the_entrance(stranger.get("/?token=x"))
    assert team.client("owner").get("/").status_code == 200


def test_keys_are_kept_as_digests_that_nobody_else_reads(team: Team) -> None:
    text = team.members.path.read_text()
    assert not any(key in text for key in team.keys.values())
    assert team.members.path.stat().st_mode & 0o077 == 0


def test_who_is_removed_is_out_at_once(team: Team) -> None:
    reviewer = team.client("reviewer")
    assert reviewer.get("/").status_code == 200
    team.members.remove("Reviewer")
    assert _is_at_the_entrance(reviewer.get("/"))
    with pytest.raises(ParameterError, match="nobody called 'Reviewer' has a key"):
        team.members.remove("Reviewer")


@pytest.mark.parametrize("asked_meanwhile", [True, False])
def test_a_new_key_does_not_revive_sessions_of_the_old_one(
    team: Team, asked_meanwhile: bool
) -> None:
    thief = team.client("owner")
    team.members.remove("Owner")
    if asked_meanwhile:
        assert _is_at_the_entrance(thief.get("/"))
    team.keys["owner"] = team.members.add("Owner", "owner")
    assert _is_at_the_entrance(thief.get("/"))
    assert team.client("owner").get("/").status_code == 200


def test_a_session_ends_by_itself(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = team.client("owner")
    assert owner.get("/").status_code == 200
    monkeypatch.setattr("shoal.workbench.access._SESSION", -1.0)
    assert _is_at_the_entrance(owner.get("/"))


def test_sessions_that_are_over_are_not_kept(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        team.client("owner")
    assert len(team.access.sessions) == 3
    monkeypatch.setattr("shoal.workbench.access._SESSION", -1.0)
    team.client("owner")
    assert len(team.access.sessions) == 1


def test_leaving_ends_the_session(team: Team) -> None:
    owner = team.client("owner")
    session = owner.cookies["shoal-7"]
    assert owner.post("/leave").status_code == 303
    owner.cookies.set("shoal-7", session)
    assert _is_at_the_entrance(owner.get("/"))


@pytest.mark.parametrize("screen", ["data", "roles", "risk", "promise", "release", "run"])
def test_analysts_only_ask(team: Team, screen: str) -> None:
    analyst = team.client("analyst")
    assert analyst.get(f"{PROJECT}/{screen}").status_code == 403
    assert analyst.get(f"{PROJECT}/ask").status_code == 200
    assert analyst.post(f"{PROJECT}/approval/approve").status_code == 403


def test_reviewers_look_and_change_nothing(team: Team) -> None:
    reviewer = team.client("reviewer")
    assert reviewer.get(f"{PROJECT}/risk").status_code == 200
    for path in ("/approval/ask", "/roles", "/release", "/promise"):
        assert reviewer.post(f"{PROJECT}{path}").status_code == 403
    assert reviewer.get(f"{PROJECT}/data/rows").status_code == 403


def test_reviewers_read_public_reports_only(team: Team) -> None:
    folder = place_of(Home(team.home).project("hospital~hospital"))
    folder.mkdir()
    for audience in ("public", "owner"):
        (folder / f"first-{audience}.html").write_text(f"for {audience}")
    address = f"{PROJECT}/release/report/first"
    reviewer, owner = team.client("reviewer"), team.client("owner")
    assert reviewer.get(f"{address}-public.html").text == "for public"
    refused = reviewer.get(f"{address}-owner.html")
    assert refused.status_code == 422
    assert "for owner" not in refused.text
    assert owner.get(f"{address}-owner.html").text == "for owner"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_roles_that_are_unknown_may_do_nothing(method: str) -> None:
    stranger = Member("x", "guest")
    assert not may(stranger, method, f"{PROJECT}/release")


def test_nobody_approves_their_own_release(team: Team) -> None:
    project = Home(team.home).project("hospital~hospital")
    with pytest.raises(ParameterError, match="not approved"):
        approvals.require(project)
    owner, reviewer = team.client("owner"), team.client("reviewer")
    owner.post(f"{PROJECT}/approval/ask")
    refused = owner.post(f"{PROJECT}/approval/approve", data=asked(project))
    assert refused.status_code == 422
    assert "nobody approves their own release" in refused.text.lower()
    with pytest.raises(ParameterError, match="not approved"):
        approvals.require(project)
    answer = reviewer.post(f"{PROJECT}/approval/approve", data=asked(project))
    assert answer.status_code == 303
    assert approvals.require(project).digest == approvals.digest_of(project)
    approvals.use(project)
    with pytest.raises(ParameterError, match="not approved"):
        approvals.require(project)


def test_a_changed_recipe_needs_a_new_approval(team: Team) -> None:
    project = Home(team.home).project("hospital~hospital")
    team.client("owner").post(f"{PROJECT}/approval/ask")
    team.client("reviewer").post(f"{PROJECT}/approval/approve", data=asked(project))
    approvals.require(project)
    project.recipe.write_text(project.recipe.read_text() + "\n# changed\n")
    with pytest.raises(ParameterError, match="not approved"):
        approvals.require(project)


def test_a_declined_release_says_why(team: Team) -> None:
    team.client("owner").post(f"{PROJECT}/approval/ask")
    team.client("reviewer").post(f"{PROJECT}/approval/decline", data={"reason": "too <b>much</b>"})
    shown = team.client("owner").get(f"{PROJECT}/approval").text
    assert "Reviewer declined." in shown
    assert "too &lt;b&gt;much&lt;/b&gt;" in shown


def test_the_log_says_who_did_what_and_no_key(team: Team) -> None:
    team.client("owner").post(f"{PROJECT}/approval/ask")
    last = team.events[-1]
    assert isinstance(last, dict)
    assert last["who"] == "Owner"
    assert last["project"] == "hospital~hospital"
    assert last["path"] == "/p/{project}/approval/ask"
    assert not any(key in str(team.events) for key in team.keys.values())


def test_names_and_roles_are_checked(tmp_path: Path) -> None:
    members = Members(tmp_path)
    for name in ("", "x" * 101, "a\nb"):
        with pytest.raises(ParameterError, match="printable"):
            members.add(name, "owner")
    with pytest.raises(ParameterError, match="role='boss' is unknown"):
        members.add("Ann", "boss")
    members.add("Ann", "owner")
    with pytest.raises(ParameterError, match="'Ann' has a key already"):
        members.add("Ann", "analyst")
    members.path.write_text("{")
    with pytest.raises(FileError, match="cannot be read"):
        members.all()
