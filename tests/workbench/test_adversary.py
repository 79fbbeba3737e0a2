"""What an adversary tries at a workbench: other roles, races, odd requests, and broken files."""

import fcntl
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.routing import BaseRoute

from shoal.errors import ParameterError, ShoalError
from shoal.recipe.editing import editing
from shoal.workbench import approvals, looking
from shoal.workbench.access import session_of
from shoal.workbench.jobs import Job, Jobs
from shoal.workbench.members import Member, may
from shoal.workbench.projects import Home, Project
from shoal.workbench.work import release
from tests.workbench.benches import Bench
from tests.workbench.teams import PROJECT, Team
from tests.workbench.test_members import asked

KEY = "hospital~hospital"
REVIEWER, ANALYST = Member("Ann", "reviewer"), Member("Ben", "analyst")


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def addresses(bench: Bench) -> Iterator[tuple[str, str]]:
    """Every method and path of the workbench, with the demo as the project."""
    app: Any = bench.client.app
    app.state.screens.load()
    for method, path in _routes(app.routes):
        if path.startswith(("/made", "/report")):  # a router in a router
            path = "/p/{project}/release" + path
        yield method, path.replace("{project}", KEY)


def _routes(routes: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    for route in routes:
        if methods := getattr(route, "methods", None):
            yield from ((method, route.path) for method in methods)  # type: ignore[attr-defined]
        elif inner := getattr(route, "original_router", None):
            yield from _routes(inner.routes)


# Roles


PEOPLE = ("attack", "together", "explore/columns", "hierarchies/tree", "data/", "run/form")
"""Where single rows, values or people are shown."""


def test_reviewers_and_analysts_reach_what_their_role_names_and_nothing_else(
    demo_bench: Bench,
) -> None:
    every = list(addresses(demo_bench))
    assert len(every) > 100
    posts = {path for method, path in every if method == "POST" and may(REVIEWER, method, path)}
    inside = f"/p/{KEY}/"
    approving = {f"{inside}approval/approve", f"{inside}approval/decline"}
    assert posts == {*approving, "/language", "/leave"}
    gets = {path for method, path in every if method == "GET" and may(REVIEWER, method, path)}
    assert not [path for path in gets if path.removeprefix(inside).startswith(PEOPLE)]
    assert not gets & {"/new", "/new/look", "/folders"}
    assert {f"{inside}{part}" for part in ("risk", "release", "approval", "roles")} <= gets
    asked = {path for method, path in every if may(ANALYST, method, path)}
    outside = {path for path in asked if not path.startswith(f"{inside}ask")}
    assert outside == {"/", "/language", "/leave", inside, f"{inside}steps"}


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", [f"{PROJECT}/risk", "/new", f"{PROJECT}/data/rows"])
def test_a_role_that_is_unknown_reads_nothing(method: str, path: str) -> None:
    assert not may(Member("x", "guest"), method, path)


@pytest.mark.parametrize(
    "path",
    ["//p/x/data", "/p//x/risk", "/P/x/risk", "/p/x/risk/", "/p/x/../new", "/p/x/data%2frows"],
)
def test_odd_spellings_of_a_path_are_refused(path: str) -> None:
    assert not may(ANALYST, "GET", path)
    assert not may(REVIEWER, "GET", path) or "%" in path


def test_reviewers_do_not_look_around_on_the_machine(team: Team) -> None:
    (team.home.parent / "payroll.csv").write_text("salary_of_the_boss\n1\n")
    reviewer = team.client("reviewer")
    for query in (f"at={team.home.parent}", f"path={team.home.parent / 'payroll.csv'}"):
        page = reviewer.get(f"{PROJECT}/data?{query}")
        assert page.status_code == 200
        assert "salary_of_the_boss" not in page.text
        assert "payroll.csv" not in page.text.replace(quote(query), "")


def test_reviewers_see_no_values_in_the_hierarchies_that_were_made_from_them(team: Team) -> None:
    owner, reviewer = team.client("owner"), team.client("reviewer")
    page = f"{PROJECT}/hierarchies"
    with editing(Home(team.home).project(KEY).recipe) as draft:
        draft.set("hierarchies", "ward", to=None)
    assert owner.post(f"{page}/take", data={"made_from": "rows"}).status_code == 303
    assert "general surgery" in owner.get(f"{page}?column=ward").text
    shown = reviewer.get(f"{page}?column=ward")
    assert shown.status_code == 200
    assert "general surgery" not in shown.text


def test_reviewers_do_not_learn_how_values_are_written(team: Team) -> None:
    page = f"{PROJECT}/hierarchies"
    with editing(Home(team.home).project(KEY).recipe) as draft:
        draft.set("hierarchies", "postcode", to=None)
        draft.set("hierarchies", "ward", to=None)
    length = re.compile(r'value="5"[^>]*id="f-length"')
    assert length.search(team.client("owner").get(f"{page}?column=postcode").text)
    shown = team.client("reviewer").get(f"{page}?column=postcode").text
    assert 'id="f-length"' in shown
    assert not length.search(shown)
    # Nor does the page ask for what they may not see: each would answer with a refusal.
    parts = re.findall(r'hx-(?:get|post)="([^"]+)" hx-trigger="load', shown)
    assert parts == []


def test_reports_with_figures_of_the_rows_are_for_owners_and_count_as_looking(team: Team) -> None:
    project = Home(team.home).project(KEY)
    (project.folder / "reports").mkdir()
    for name in ("first-owner", "first-public"):
        (project.folder / "reports" / f"{name}.html").write_text("<p>report</p>")
    reviewer, owner = team.client("reviewer"), team.client("owner")
    assert reviewer.get(f"{PROJECT}/release/report/first-public.html").status_code == 200
    assert reviewer.get(f"{PROJECT}/release/report/first-owner.html").status_code == 422
    assert not looking.figures_seen(project)
    assert owner.get(f"{PROJECT}/release/report/first-owner.html").status_code == 200
    assert looking.figures_seen(project) == ("the report for owners",)


# Approvals


def approved(team: Team) -> Project:
    """The project, with a release by its recipe approved."""
    project = Home(team.home).project(KEY)
    team.client("owner").post(f"{PROJECT}/approval/ask")
    page = team.client("reviewer").get(f"{PROJECT}/approval").text
    [question] = re.findall(r'name="question" value="(\w+)"', page)
    said = team.client("reviewer").post(f"{PROJECT}/approval/approve", data={"question": question})
    assert said.status_code == 303
    return project


def a_hierarchy(project: Project) -> Path:
    """A file of a hierarchy that the recipe names from now on."""
    path = project.folder / "sexes.csv"
    path.write_text("female;*\nmale;*\n")
    with_file = {"build": "file", "file": path.name}
    with editing(project.recipe) as draft:
        column = next(iter(draft.section("hierarchies")))
        draft.set("hierarchies", column, to=with_file)
    return path


def test_an_approval_ends_when_a_file_changes_that_the_recipe_names(team: Team) -> None:
    path = a_hierarchy(Home(team.home).project(KEY))
    project = approved(team)
    digest = approvals.require(project).digest
    path.write_text("female;person;*\nmale;person;*\n")
    with pytest.raises(ParameterError, match="not approved"):
        approvals.require(project)
    with pytest.raises(ParameterError, match="changed since it was approved"):
        release.run(project, {"name": "x", "digest": digest}, lambda *_: None)
    assert not (project.folder / "releases").exists()


def test_a_reviewer_approves_only_what_they_have_seen(team: Team) -> None:
    project = Home(team.home).project(KEY)
    owner, reviewer = team.client("owner"), team.client("reviewer")
    owner.post(f"{PROJECT}/approval/ask")
    seen = asked(project)
    project.recipe.write_text(project.recipe.read_text() + "\n# worse\n")
    owner.post(f"{PROJECT}/approval/ask")
    for fields in (seen, {"question": approvals.digest_of(project)}, {}):
        answer = reviewer.post(f"{PROJECT}/approval/approve", data=fields)
        assert answer.status_code == 422
    with pytest.raises(ParameterError, match="not approved"):
        approvals.require(project)


def test_two_releases_at_once_cannot_share_an_approval(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(team)
    started: list[str] = []

    def start(self: Jobs, project: Project, kind: str, arguments: Any, who: str = "") -> Job:
        started.append(kind)
        return Job(project.hidden / "jobs" / "x")

    monkeypatch.setattr(Jobs, "start", start)
    require = approvals.require

    def slowly(project: Project) -> approvals.Approval:
        found = require(project)
        time.sleep(0.1)
        return found

    monkeypatch.setattr(approvals, "require", slowly)
    owners = [team.client("owner") for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        both = list(
            pool.map(
                lambda at: owners[at].post(f"{PROJECT}/release/start", data={"name": f"r{at}"}),
                range(2),
            )
        )
    assert sorted(answer.status_code for answer in both) == [303, 422]
    assert started == ["release"]


def test_an_override_counts_only_if_the_reviewer_has_seen_it(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    def start(self: Jobs, project: Project, kind: str, arguments: Any, who: str = "") -> Job:
        started.append(arguments)
        return Job(project.hidden / "jobs" / "x")

    monkeypatch.setattr(Jobs, "start", start)
    owner, reviewer = team.client("owner"), team.client("reviewer")
    project = approved(team)
    owner.post(f"{PROJECT}/release/start", data={"name": "a", "override": "nobody looks"})
    owner.post(f"{PROJECT}/approval/ask", data={"override": "they agreed"})
    assert "they agreed" in reviewer.get(f"{PROJECT}/approval").text
    reviewer.post(f"{PROJECT}/approval/approve", data=asked(project))
    owner.post(f"{PROJECT}/release/start", data={"name": "b"})
    assert [one.get("override") for one in started] == [None, "they agreed"]


def test_an_override_that_is_asked_for_later_needs_another_look(team: Team) -> None:
    project = Home(team.home).project(KEY)
    owner, reviewer = team.client("owner"), team.client("reviewer")
    owner.post(f"{PROJECT}/approval/ask")
    seen = asked(project)  # the recipe stays as it is
    owner.post(f"{PROJECT}/approval/ask", data={"override": "nobody looks"})
    assert reviewer.post(f"{PROJECT}/approval/approve", data=seen).status_code == 422
    with pytest.raises(ParameterError, match="not approved"):
        approvals.require(project)


def test_an_approval_that_is_given_twice_at_once_counts_once(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Home(team.home).project(KEY)
    question = approvals.ask(project, Member("Owner", "owner")).question
    find, found = approvals.approval_of, threading.Barrier(2)

    def at_once(project: Project) -> approvals.Approval | None:
        read = find(project)
        with suppress(threading.BrokenBarrierError):
            found.wait(0.3)  # both have read, unless one waits for the other
        return read

    monkeypatch.setattr(approvals, "approval_of", at_once)

    def approve(name: str) -> str:
        try:
            return approvals.decide(project, Member(name, "reviewer"), question).state
        except ParameterError:
            return "refused"

    with ThreadPoolExecutor() as pool:
        assert sorted(pool.map(approve, ("Ann", "Bea"))) == ["approved", "refused"]


def test_two_releases_at_once_do_not_take_the_same_place(demo_bench: Bench) -> None:
    """The second would replace the first, after both were paid for."""
    project = demo_bench.project(KEY)

    class Slow(Jobs):
        def _begin(self, folder: Path) -> None:
            self.lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
            fcntl.flock(self.lock, fcntl.LOCK_EX)

    demo_bench.desk.jobs = jobs = Slow()
    demo_bench.post(f"/p/{KEY}/release/start", name="mine")
    demo_bench.post(f"/p/{KEY}/release/start", name="mine", status=422)
    assert len(jobs.of(project, "release")) == 1
    os.close(jobs.lock)
    # What never came about keeps no name.
    demo_bench.post(f"/p/{KEY}/release/start", name="mine")
    os.close(jobs.lock)


# Asking


def test_what_is_wrong_with_the_secret_column_is_not_for_analysts(team: Team) -> None:
    project = Home(team.home).project(KEY)
    folder = project.hidden / "jobs" / "20260101-000000-000000-audit"
    folder.mkdir(parents=True)
    (folder / "task.json").write_text(json.dumps({"kind": "audit", "arguments": {}}))
    error = {"what": "column 'pay': 3 values of 1,000 are missing", "fix": "", "where": ""}
    (folder / "state.json").write_text(json.dumps({"state": "failed", "error": error}))
    assert "3 values of" in team.client("owner").get(f"{PROJECT}/ask").text
    analyst = team.client("analyst").get(f"{PROJECT}/ask")
    assert analyst.status_code == 200
    assert "3 values" not in analyst.text


# Looking


def test_undoing_a_hierarchy_after_looking_is_a_choice_after_looking(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    column = next(iter(project.draft().section("hierarchies")))
    folder = project.folder / "hierarchies"
    folder.mkdir(exist_ok=True)
    path = folder / "own.csv"
    path.write_text("a;*\n")
    with editing(project.recipe) as draft:
        draft.set("hierarchies", column, to={"build": "file", "file": "hierarchies/own.csv"})
    project.keep(
        "hierarchy-undo",
        [
            {
                "column": column,
                "section": project.draft().section("hierarchies", column),
                "number": 1,
                "derived": False,
            }
        ],
    )
    (project.hidden / "hierarchy-undo-1.csv").write_text("a;b;*\n")
    looking.look(project, "risks")
    demo_bench.post(f"/p/{KEY}/hierarchies/undo", column=column)
    assert path.read_text() == "a;b;*\n"
    assert project.draft().get(looking.LIST) == [f"hierarchies.{column}"]


def test_forgetting_names_also_forgets_the_reasons_that_have_them(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    for kind in ("together", "restore", "attack"):
        folder = project.hidden / "jobs" / f"20260101-000000-000000-{kind}"
        folder.mkdir(parents=True)
        task = {"kind": kind, "arguments": {"names": True}}
        (folder / "task.json").write_text(json.dumps(task))
        (folder / "state.json").write_text(json.dumps({"state": "done", "result": {}}))
    demo_bench.post(f"/p/{KEY}/together/forget")
    assert [job.kind for job in demo_bench.desk.jobs.of(project)] == ["attack"]


# Cookies


def test_cookies_of_other_servers_of_this_machine_do_not_shut_anybody_out() -> None:
    for other in (b'a={"b": [1, 2]}; ', b"c d; =; ", b'x="2|1:0|10:\xff"; '):
        assert session_of([(b"cookie", other + b"shoal-7=mine")], "shoal-7") == "mine"


# Files that are broken, gone or in the way


SCREENS = (
    *("data", "roles", "hierarchies", "risk", "promise", "promise/options", "run", "explore"),
    *("release", "ask", "together", "attack", "looking/all", "card", "steps", "approval", ""),
)


def statuses(bench: Bench) -> dict[str, int]:
    found = {}
    for screen in SCREENS:
        answer = bench.client.get(f"/p/{KEY}/{screen}", follow_redirects=False)
        assert "Traceback" not in answer.text
        found[screen] = answer.status_code
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[source\n", "not TOML"),
        ("\x00", "not TOML"),
        ("[method]\nname = 1\n", "has lost its section"),
    ],
)
def test_a_recipe_that_is_broken_while_it_is_open_says_so(
    demo_bench: Bench, text: str, said: str
) -> None:
    demo_bench.project(KEY).recipe.write_text(text)
    assert set(statuses(demo_bench).values()) == {422}
    assert said in demo_bench.get(f"/p/{KEY}/roles", status=422)


@pytest.mark.parametrize(
    "text",
    [
        "[source]\n[roles]\n",
        "[source]\npath = 3\n[roles]\nage = 3\n",
        "method = 3\nmissing = 3\nledger = 3\nhierarchies = 3\n[source]\npath = 'x'\n[roles]\n",
        "views = 3\nchosen_after_looking = 3\n[source]\npath = ''\ntypes = 3\n[roles]\na = []\n",
        "[source]\npath = 'hospital.csv'\n[roles]\nage = 'quasi'\n[hierarchies]\nage = 3\n"
        "[method]\nname = []\n[ledger]\npath = 3\n[views]\nothers = 3\n[output]\nformat = 3\n",
        "[source]\npath = 'x'\n[roles]\nage = 'king'\n[method]\nname = 'auto'\nepsilon = nan\n",
        "[source]\npath = '../../../../etc/shadow'\n[roles]\nage = '?'\n[method]\nname = 'x'\n",
    ],
)
def test_a_recipe_with_values_of_wrong_types_never_breaks_a_screen(
    demo_bench: Bench, text: str
) -> None:
    demo_bench.project(KEY).recipe.write_text(text)
    found = statuses(demo_bench)
    assert {screen: status for screen, status in found.items() if status >= 500} == {}


def test_a_project_that_is_gone_says_so(demo_bench: Bench) -> None:
    shutil.rmtree(demo_bench.project(KEY).folder)
    assert set(statuses(demo_bench).values()) == {422}
    shutil.rmtree(demo_bench.home)
    for path in ("/", "/new", "/folders", "/start"):
        assert demo_bench.client.get(path).status_code in (200, 422)


def test_a_folder_that_cannot_be_written_says_so(demo_bench: Bench) -> None:
    """A file in the place of the notes stands for it: these tests may run as root."""
    project = demo_bench.project(KEY)
    (project.folder / ".workbench").write_text("")
    found = statuses(demo_bench)
    assert max(found.values()) == 422
    assert "cannot be made" in demo_bench.get(f"/p/{KEY}/risk", status=422)
    with pytest.raises(ShoalError, match="cannot be made"):
        looking.look(project, "risks")


# Odd requests


ODD = (
    *("", "\x00", "../../etc/passwd", "1e999", "-1", "9" * 5000, "nan", "\udc80", "é" * 300, "?"),
    *("[", "*", "~", "1/0", "٣", "\r\nSet-Cookie: a=b", "age", "<script>", "a" * 100_000),
)
FIELDS = (
    *("path", "at", "column", "name", "kind", "method", "number", "query", "records", "gamma"),
    *("models", "role", "release", "key", "place", "why", "build", "staged", "paths", "known"),
    *(
        "epsilon",
        "encoding",
        "separator",
        "quote",
        "file",
        "rows_per_file",
        "risk",
        "loss",
        "after",
    ),
)
NOT_SENT = ("/new/demo", "/leave", f"/p/{KEY}/remove")


def test_no_odd_request_breaks_anything(demo_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: Jobs, project: Project, kind: str, arguments: Any, who: str = "") -> Job:
        return Job(project.hidden / "jobs" / "x")

    monkeypatch.setattr(Jobs, "start", start)
    demo_bench.client.follow_redirects = False
    recipe = demo_bench.project(KEY).recipe
    text = recipe.read_text()
    for number, (method, path) in enumerate(sorted(addresses(demo_bench))):
        if path in NOT_SENT or method not in ("GET", "POST"):
            continue
        for turn in range(2):
            if recipe.read_text() != text:
                recipe.write_text(text)
            values = {
                name: ODD[(number * 7 + place * (turn * 4 + 3)) % len(ODD)]
                for place, name in enumerate(FIELDS)
            }
            at = re.sub(
                r"\{\w+\}",
                quote(ODD[number % len(ODD)][:40] or "x", safe="", errors="surrogatepass"),
                path,
            )
            sent = "&".join(
                f"{name}={quote(value, safe='', errors='surrogateescape')}"
                for name, value in values.items()
            )
            headers = {"HX-Request": "true"} if turn else {}
            if method == "GET":
                answer = demo_bench.client.get(f"{at}?{sent[:8000]}", headers=headers)
            else:
                form = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
                answer = demo_bench.client.post(at, content=sent, headers=form)
            assert answer.status_code < 500, (method, path, turn, answer.text[:300])
            assert "Set-Cookie: a" not in str(answer.headers)
            assert "<script>" not in answer.text


def test_names_that_no_page_can_write_are_left_out(demo_bench: Bench) -> None:
    place = os.fsencode(demo_bench.home)
    try:
        os.mkdir(place + b"/caf\xe9")
    except OSError:
        pytest.skip("this system has no such names")
    for path in (b"/caf\xe9.csv", b"/caf\xe9/recipe.toml"):
        with open(place + path, "w") as file:
            file.write('[source]\npath = "x.csv"\n[roles]\n')
    for page in ("/", "/new", f"/folders?at={quote(str(demo_bench.home))}", f"/p/{KEY}/data"):
        demo_bench.get(page)


@pytest.mark.parametrize("noted", ["3", '"x"', "{"])
def test_notes_that_are_no_notes_are_passed_over(demo_bench: Bench, noted: str) -> None:
    hidden = demo_bench.project(KEY).hidden
    for name in ("looked", "chosen-after", "hierarchy-undo", "together", "interview", "approval"):
        (hidden / f"{name}.json").write_text(noted)
    assert max(statuses(demo_bench).values()) < 500


@pytest.mark.parametrize("name", ["recipe.toml", "questions.audit", "own.ledger", "notes.JSON"])
def test_what_a_project_trusts_cannot_be_sent_as_a_table(empty_bench: Bench, name: str) -> None:
    file = {"file": (name, b"a,b\n1,2\n")}
    assert empty_bench.client.post("/new/upload", files=file).status_code == 422
    assert not [*empty_bench.home.iterdir()]
