"""Whole walks through the workbench in Chromium, as people take them.

From a file to a verified release by clicking; killed in the middle; two tabs at once; by keyboard
alone; every screen with axe, narrow, wide and dark; and a page elsewhere that gets nothing.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import shoal
from bench.sources import Source
from bench.workbench import project_of
from shoal.recipe import Recipe
from shoal.workbench.screens import steps
from tests.workbench.benches import Running, hospital, running
from tests.workbench.conftest import SECONDS, settle, violations

HOSPITAL = "/p/hospital~hospital"


@contextmanager
def tab(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """A page with cookies of its own; errors of scripts fail the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    context.set_default_timeout(SECONDS)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert not problems


# From a file to a verified release

ROLES = {
    "patient": "identifying",
    "age": "quasi-identifying",
    "plz": "quasi-identifying",
    "ward": "quasi-identifying",
    "seen": "insensitive",
    "diagnosis": "sensitive",
}


def patients(path: Path) -> Path:
    """A table with mistakes.

    Everybody has two rows; postal codes look like numbers; one number of visits is a word; and
    somebody is older than a hierarchy that ends at 90.
    """
    wards = ["surgery", "heart", "children", "Lung"]
    lines = [",".join(ROLES)]
    for row in range(400):
        person = row // 2
        age = 104 if person == 7 else 20 + person % 60
        cells = [f"P{person:03}", age, f"0{7100 + person % 5}", wards[person % 4]]
        cells += ["twice" if row == 9 else row % 3, ("flu", "cold", "asthma")[row % 3]]
        lines.append(",".join(map(str, cells)))
    path.write_text("\n".join([*lines, ""]), "utf-8")
    return path


def begin(page: Any, path: Path) -> None:
    """Make a project on a file, by its path."""
    page.get_by_label("Path of a table").fill(str(path))
    page.get_by_role("button", name="Look at it").click()
    page.get_by_role("button", name="Make the project").click()
    page.wait_for_url("**/data")


def step(page: Any, name: str) -> None:
    """Go to another screen by the steps on the left."""
    with page.expect_navigation():
        page.get_by_role("navigation", name="Steps").get_by_role("link", name=name).click()
    settle(page)


def role(page: Any, column: str, name: str) -> Any:
    """The button that gives a column a role."""
    group = page.get_by_role("radiogroup", name=f"Role of {column}", exact=True)
    return group.get_by_role("radio", name=name, exact=True)


def decide(page: Any, roles: dict[str, str]) -> None:
    """Give columns their roles."""
    for column, name in roles.items():
        settle(page)
        with page.expect_response("**/roles/set"):
            role(page, column, name).check()
    settle(page)


def typed(page: Any, field: Any, text: str) -> None:
    """Fill in an option of the method, and wait until it is saved."""
    with page.expect_response("**/promise/options"):
        field.fill(text)
        page.keyboard.press("Tab")
    settle(page)


def hierarchy(page: Any, column: str, builder: str, **fields: str) -> None:
    """Make the hierarchy of a column by a builder, from what anybody can know."""
    page.get_by_role("navigation", name="Columns").get_by_role("link", name=column).click()
    ways = page.get_by_role("navigation", name="How to make it")
    ways.get_by_role("link", name=builder, exact=True).click()
    for label, text in fields.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(text)
    page.get_by_role("button", name="Save the hierarchy").click()
    page.get_by_role("link", name="Look at the tree and edit it").wait_for()


def release(page: Any, name: str) -> None:
    """Release, verify and write a public report, from the screen of releases."""
    step(page, "Release")
    page.get_by_label("Name of the release").fill(name)
    page.locator("#go").get_by_role("button", name="Release").click()
    page.get_by_text("This cannot be taken back").wait_for()
    page.locator("#go").get_by_role("button", name="Release").click()
    page.wait_for_url(f"**/release/made/{name}")
    page.get_by_role("button", name="Verify").click()
    page.get_by_text("Verified: everything that the files can show holds.").wait_for()
    page.get_by_role("button", name="Write it for anyone").first.click()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open").first.click()
    opened.value.wait_for_load_state()
    assert "May be published" in opened.value.content()
    opened.value.close()


def test_a_table_with_mistakes_becomes_a_verified_release(browser: Any, tmp_path: Path) -> None:
    home = tmp_path / "projects"
    home.mkdir()
    path = patients(tmp_path / "patients.csv")
    with running(home) as started, tab(browser, started.address) as page:
        begin(page, path)
        # A word among numbers: read as whole numbers, the column would be refused.
        page.get_by_label("Type of seen").select_option("integer")
        page.get_by_text("some values are not of this type").wait_for()
        page.get_by_role("button", name="Read seen as text").click()
        page.get_by_text("some values are not of this type").wait_for(state="detached")
        page.get_by_role("link", name="Go on: roles of the columns").click()
        decide(page, ROLES)
        page.get_by_text("All 6 columns are decided.").wait_for()
        step(page, "Hierarchies")
        hierarchy(
            page, "age", "Intervals", Smallest_value="0", Largest_value="90", Widths="5, 10, 30"
        )
        hierarchy(page, "plz", "Masking", Values="\n".join(f"0{7100 + i}" for i in range(5)))
        hierarchy(page, "ward", "Groups", Groups="body\n  surgery\n  heart\nother\n  Lung")
        # Values that a hierarchy lacks are put where they belong.
        page.get_by_role("link", name="Does it have every value of the table?").click()
        page.get_by_text("1 of 4 different values are not in the saved hierarchy").wait_for()
        page.get_by_label("Add them to the group").fill("other")
        page.get_by_label("Anybody could know these values: the hierarchy stays public").check()
        page.get_by_role("button", name="Add the values").click()
        page.get_by_text("All 4 different values of the table are in").wait_for()
        page.get_by_role("navigation", name="Columns").get_by_role("link", name="age").click()
        page.get_by_role("button", name="Open the upper end").click()
        page.get_by_text("different values of the table are in the saved").wait_for()
        step(page, "Promise")
        page.get_by_role("link", name="All methods").click()
        with page.expect_navigation():
            page.get_by_role("button", name="Take optimal").click()
        settle(page)
        page.get_by_label("Add a model").select_option("k-anonymity")
        page.get_by_label("k", exact=True).wait_for()
        settle(page)
        typed(page, page.get_by_label("k", exact=True), "3")
        page.get_by_text("All other options").click()
        typed(page, page.get_by_label("suppression").first, "0.2")
        page.get_by_role("heading", name="What is promised").wait_for()
        # Repeated people: the release is held back, and a link leads to where it is mended.
        step(page, "Release")
        page.get_by_text("rows are not people").wait_for()
        with page.expect_navigation():
            page.get_by_role("link", name="Fix it under Roles").click()
        settle(page)
        with page.expect_response("**/roles/people"):
            page.get_by_label("Who is a person?").select_option("column:patient")
        release(page, "first")
    folder = home / "patients" / "releases" / "first"
    assert shoal.verify(folder / "certificate.json", folder / "release.csv") == []
    recipe = Recipe.load(home / "patients" / "recipe.toml")
    assert recipe.content.roles["patient"] == "identifying"
    assert path.read_text("utf-8").startswith("patient,age,")


def export(path: Path) -> Path:
    """A German export: semicolons, commas, days with times, k.A., zeros in front, several rows."""
    names = (
        "Patient_ID;Nachname;Geburtsdatum;PLZ;Geschlecht;Aufnahme;ICD;Miete;Verstorben;Bemerkung"
    )
    lines = [names]
    for row in range(2400):
        person = row * 7 // 10
        born = f"{1 + person % 28:02}.{1 + person % 12:02}.{1940 + person % 60}"
        rent = "k.A." if row % 50 == 3 else f"{300 + row * 37 % 900},{row % 10}0"
        seen = f"{1 + row % 28:02}.03.2024 {row % 24:02}:15"
        sex = "k.A." if person % 40 == 0 else "wm"[person % 2]
        remark = ("", "ruft Frau Groß an wegen der Akte", "Unterlagen fehlen")[row % 3]
        cells = [f"P{person:04}", ("Müller", "Groß", "Jäger")[person % 3], born]
        cells += [f"0{1067 + person % 9 * 10}", sex, seen, ("I10.0", "E11.7", "J18.9")[row % 3]]
        lines.append(";".join([*cells, rent, str(row % 11 // 10), remark]))
    path.write_text("\n".join([*lines, ""]), "cp1252")
    return path


def test_an_export_becomes_a_verified_release_by_taking_what_is_suggested(
    browser: Any, tmp_path: Path
) -> None:
    home = tmp_path / "projects"
    home.mkdir()
    path = export(tmp_path / "aufnahmen.csv")
    with running(home) as started, tab(browser, started.address) as page:
        begin(page, path)
        page.get_by_role("button", name="They are right: it is cp1252").click()
        page.get_by_role("button", name="They are right").wait_for(state="detached")
        settle(page)
        page.get_by_role("button", name="Take all suggestions (4)").click()
        page.get_by_role("button", name="Take all suggestions").wait_for(state="detached")
        assert page.get_by_label("Type of Aufnahme").input_value() == "date"
        assert page.get_by_label("Type of Miete").input_value() == "float"
        assert page.get_by_label("Type of PLZ").input_value() == "text"
        step(page, "Roles")
        page.get_by_role("button", name="Take all suggestions (9)").click()
        decide(page, {"Verstorben": "insensitive"})
        page.get_by_text("All 10 columns are decided.").wait_for()
        assert role(page, "Bemerkung", "identifying").is_checked()
        page.get_by_role("button", name="Show the risk while I decide").click()
        settle(page)
        page.get_by_role("button", name="Patient_ID tells people apart").click()
        page.get_by_text("Counted by people: Patient_ID tells them apart.").wait_for()
        settle(page)
        # It is shown wherever it was said.
        assert page.get_by_label("Who is a person?").input_value() == "column:Patient_ID"
        step(page, "Hierarchies")
        page.get_by_role("button", name="Take all suggestions (6)").click()
        page.get_by_text("Saved for 6 columns.").wait_for()
        page.get_by_role("link", name="Do they have every value of the table?").click()
        page.get_by_text("Every value of the table is in its hierarchy.").wait_for()
        page.get_by_role("navigation", name="Columns").get_by_role("link", name="Miete").click()
        page.get_by_role("button", name="Fill in the ends from the rows").click()
        page.get_by_role("button", name="Save the hierarchy").click()
        page.get_by_role("link", name="Look at the tree and edit it").wait_for()
        step(page, "Promise")
        answers = ("Anyone", "Count and cross-tabulate", "That someone is in the table at all")
        for answer in (*answers, "No", "Up to a few dozen columns", "No, numbers", "I don't know"):
            page.get_by_role("radio", name=answer).first.check()
            with page.expect_navigation():
                page.get_by_role("button", name="Next").click()
        page.get_by_role("radio", name="No, this is the only release").check()
        with page.expect_navigation():
            page.get_by_role("button", name="Next").click()
        # Who is a person was said with the roles.
        assert page.get_by_label("The identifying column").input_value() == "Patient_ID"
        with page.expect_navigation():
            page.get_by_role("button", name="Take this").click()
        page.get_by_role("heading", name="Nothing can be promised yet").wait_for()
        with page.expect_navigation():
            page.get_by_role("link", name="Go there").click()
        page.get_by_role("button", name="Anybody could have written them: mark them public").click()
        page.get_by_text("The method refuses hierarchies").wait_for(state="detached")
        step(page, "Release")
        page.get_by_text("Not tried yet: nobody knows what it would keep.").wait_for()
        release(page, "first")
        page.get_by_text("The most frequent rows").wait_for()
    folder = home / "aufnahmen" / "releases" / "first"
    assert shoal.verify(folder / "certificate.json", folder / "release.csv") == []
    _, *rows = (folder / "release.csv").read_text("utf-8").splitlines()
    # Of 1,680 people; nobody's counts for more than a few.
    assert sum(int(row.rpartition(",")[2]) for row in rows) > 1000


def test_a_file_without_names_gets_them(browser: Any, tmp_path: Path) -> None:
    home = tmp_path / "projects"
    home.mkdir()
    path = tmp_path / "plain.csv"
    rows = [f"{20 + row % 50},0{7100 + row % 3},{row * 7 % 13}" for row in range(60)]
    path.write_text("\n".join([*rows, ""]), "utf-8")
    with running(home) as started, tab(browser, started.address) as page:
        begin(page, path)
        page.get_by_role("heading", name="The first line looks like a record").wait_for()
        # Not even the first record is shown before somebody asks.
        assert "07100" not in page.content()
        page.get_by_text("Name the 3 columns").click()
        for number, name in enumerate(("age", "code", "visits"), 1):
            page.get_by_label(f"Column {number}").fill(name)
        page.get_by_role("button", name="Write the copy and use it").click()
        page.get_by_role("link", name="Go on: roles of the columns").wait_for()
        assert page.get_by_label("Type of code").input_value() == "text"
    copy = home / "plain" / "plain named.csv"
    assert copy.read_text("utf-8").splitlines() == ["age,code,visits", *rows]


@pytest.mark.slow
def test_adult_becomes_a_verified_release(browser: Any, tmp_path: Path, shared_data: Path) -> None:
    adult = shared_data / "adult"
    source = Source("adult", adult / "adult.csv", adult / "hierarchies")
    project_of(source, tmp_path)
    with running(tmp_path) as started, tab(browser, started.address) as page:
        page.goto(f"{started.origin}/p/adult~recipe/roles")
        page.get_by_text("Highest risk").wait_for()
        decide(page, {"sex": "insensitive", "race": "insensitive"})
        for name in ("Risk", "Hierarchies", "Promise", "Run", "Explore"):
            step(page, name)
            assert not violations(page)
        release(page, "first")
    folder = tmp_path / "adult" / "releases" / "first"
    assert shoal.verify(folder / "certificate.json", folder / "release.csv") == []


# Killed in the middle


def test_nothing_is_lost_by_killing_the_workbench(browser: Any, tmp_path: Path) -> None:
    hospital(tmp_path, 2000)
    roles = f"{HOSPITAL}/roles"
    with running(tmp_path) as started, tab(browser, started.address) as page:
        page.goto(started.origin + roles)
        decide(page, {"ward": "insensitive", "insurance": "sensitive"})
        started.process.kill()
        started.process.wait()
        # A click that nobody hears is not silent.
        role(page, "sex", "sensitive").check()
        page.get_by_text("The workbench does not answer").wait_for()
    with running(tmp_path) as started, tab(browser, started.address) as page:
        page.goto(started.origin + roles)
        assert role(page, "ward", "insensitive").is_checked()
        assert role(page, "insurance", "sensitive").is_checked()
        assert role(page, "sex", "quasi-identifying").is_checked()
        step(page, "Release")
        page.get_by_label("Name of the release").fill("first")
        page.locator("#go").get_by_role("button", name="Release").click()
        page.get_by_text("This cannot be taken back").wait_for()
        page.locator("#go").get_by_role("button", name="Release").click()
        page.wait_for_url("**/release/job/*")
        started.process.kill()
        started.process.wait()
    with running(tmp_path) as started, tab(browser, started.address) as page:
        # The job has gone on without anybody, and is found again.
        page.goto(f"{started.origin}{HOSPITAL}/release")
        if page.get_by_role("link", name="See how far it is").count():
            page.get_by_role("link", name="See how far it is").click()
            page.wait_for_url("**/release/made/first")
        else:
            page.get_by_role("link", name="first", exact=True).click()
        page.get_by_role("button", name="Verify").click()
        page.get_by_text("Verified: everything that the files can show holds.").wait_for()


# Every screen


def overflow(page: Any) -> int:
    """By how many pixels a page is wider than its window."""
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return int(page.evaluate(wider))


def test_every_screen_is_accessible_and_fits(browser: Any, tmp_path: Path) -> None:
    hospital(tmp_path, 300)
    recipe = Recipe.load(tmp_path / "hospital" / "hospital.toml")
    (tmp_path / "hospital" / "releases").mkdir()
    recipe.release(recipe.table(), tmp_path / "hospital" / "releases" / "first")
    screens = [f"{HOSPITAL}/{step.key}" for step in steps()]
    wrong: list[tuple[str, ...]] = []
    with running(tmp_path) as started, tab(browser, started.address) as page:
        for path in ["/", *screens, f"{HOSPITAL}/looking/all"]:
            page.goto(started.origin + path)
            settle(page)
            if path == f"{HOSPITAL}/risk":
                with page.expect_navigation():
                    page.get_by_role("button", name="Show the risk").click()
                settle(page)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                wrong += [(path, scheme, *found) for found in violations(page)]
            for width in (360, 1920):
                page.set_viewport_size({"width": width, "height": 800})
                if overflow(page) > 0:
                    wrong.append((path, f"{width} px", f"{overflow(page)} px too wide"))
            page.set_viewport_size({"width": 1280, "height": 800})
    assert not wrong


# Two tabs, and the keyboard


def test_two_tabs_decide_at_once_and_both_survive(browser: Any, tmp_path: Path) -> None:
    hospital(tmp_path, 300)
    with running(tmp_path) as started, tab(browser, started.address) as one:
        other = one.context.new_page()
        for page in (one, other):
            page.goto(f"{started.origin}{HOSPITAL}/roles")
            settle(page)
        with one.expect_response("**/roles/set"), other.expect_response("**/roles/set"):
            role(one, "insurance", "insensitive").check()
            role(other, "ward", "sensitive").check()
        one.reload()
        assert role(one, "insurance", "insensitive").is_checked()
        assert role(one, "ward", "sensitive").is_checked()
    roles = Recipe.load(tmp_path / "hospital" / "hospital.toml").content.roles
    assert (roles["insurance"], roles["ward"]) == ("insensitive", "sensitive")


def tab_to(page: Any, name: str) -> None:
    """Press Tab until the focus is on something of a name, and check that one can see it."""
    for _ in range(120):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus["name"].startswith(name):
            assert focus["outline"] != "none", name
            return
    raise AssertionError(f"the keyboard does not lead to {name!r}")


FOCUS = """() => {
    const at = document.activeElement;
    const label = at.labels && at.labels.length ? at.labels[0].innerText : at.innerText;
    return {name: (label || "").trim(), outline: getComputedStyle(at).outlineStyle};
}"""


def test_the_keyboard_alone_leads_through_roles_and_promise(browser: Any, tmp_path: Path) -> None:
    hospital(tmp_path, 300)
    with running(tmp_path) as started, tab(browser, started.address) as page:
        page.goto(f"{started.origin}{HOSPITAL}/roles")
        settle(page)
        tab_to(page, "identifying")  # the role of the first column, which is decided
        tab_to(page, "quasi-identifying")
        with page.expect_response("**/roles/set"):
            page.keyboard.press("ArrowRight")  # age becomes sensitive
        page.keyboard.press("Control+Home")
        page.reload()
        tab_to(page, "Promise")
        page.keyboard.press("Enter")
        page.wait_for_url("**/promise/options")
        tab_to(page, "Questions")
        page.keyboard.press("Enter")
        page.wait_for_url("**/promise/questions")
        for _ in range(12):
            settle(page)
            if not page.locator("form.question").count():
                break
            tab_to(page, page.locator("form.question .answer").first.inner_text().strip())
            page.keyboard.press("Space")
            tab_to(page, "Next")
            with page.expect_navigation():
                page.keyboard.press("Enter")
        tab_to(page, "Take this")
        page.keyboard.press("Enter")
        page.wait_for_url("**/promise/options")
    content = Recipe.load(tmp_path / "hospital" / "hospital.toml").content
    assert content.roles["age"] == "sensitive"
    assert content.entry.name == "noisy-counts"


# Pages elsewhere


class Hostile(BaseHTTPRequestHandler):
    """A page on another port of this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title><p>elsewhere")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of a page on another port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


FETCHES = """async (address) => {
    const found = [];
    for (const mode of ["cors", "no-cors"]) {
        for (const method of ["GET", "POST"]) {
            try {
                const answer = await fetch(address, {mode, method, credentials: "include"});
                found.push([mode, method, answer.status, await answer.text()]);
            } catch (error) {
                found.push([mode, method, 0, ""]);
            }
        }
    }
    return found;
}"""

IMAGE = """(address) => new Promise((done) => {
    const image = new Image();
    image.onload = () => done(true);
    image.onerror = () => done(false);
    image.src = address;
})"""

FRAME = """(address) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
        try { done(frame.contentDocument ? frame.contentDocument.body.innerText : ""); }
        catch { done(""); }
    };
    frame.src = address;
    document.body.append(frame);
})"""

FORM = """(address) => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = address;
    form.innerHTML = '<input name="role:ward" value="identifying">';
    document.body.append(form);
    form.submit();
}"""


def test_a_page_elsewhere_gets_and_changes_nothing(
    browser: Any, tmp_path: Path, elsewhere: str
) -> None:
    hospital(tmp_path, 300)
    recipe = tmp_path / "hospital" / "hospital.toml"
    before = recipe.read_bytes()
    with running(tmp_path) as started, tab(browser, started.address) as page:
        target = f"{started.origin}{HOSPITAL}/roles"
        answers: list[tuple[str, int]] = []
        page.context.on("response", lambda answer: answers.append(_answer(answer, started)))
        for host in ("127.0.0.1", "localhost"):
            # The same host is the same site: a cookie that is strict about sites is sent.
            page.goto(elsewhere.replace("127.0.0.1", host))
            for address in (target, f"{target}/set", f"{started.origin}/"):
                found = page.evaluate(FETCHES, address)
                assert [answer[2:] for answer in found] == [[0, ""]] * 4
            assert not page.evaluate(IMAGE, f"{started.origin}/static/mark.svg")
            assert "Roles" not in page.evaluate(FRAME, target)
            with page.context.expect_page() as opened:
                page.evaluate("(address) => { window.open(address); }", target)
            opened.value.wait_for_load_state()
            assert "Pages elsewhere cannot use the workbench" in opened.value.content()
            opened.value.close()
            with page.expect_navigation():
                page.evaluate(FORM, f"{target}/set")
            assert "Pages elsewhere cannot use the workbench" in page.content()
        # The browser fetches the icon of the owner's tab whenever it likes, now and then this late.
        icon = f"{started.origin}/static/mark.svg?v="
        answered = [
            (address, status)
            for address, status in answers
            if status != NOT_ASKED and not address.startswith(icon)
        ]
        assert [address for address, status in answered if status != 403] == []
        # Frames, windows and forms; of what `fetch` and images are refused a page cannot tell.
        assert len(answered) >= 6
        # All that while the owner is in, and the workbench answers its own pages.
        page.goto(target)
        assert "Roles" in page.title()
    assert recipe.read_bytes() == before


NOT_ASKED = 0


def _answer(answer: Any, started: Running) -> tuple[str, int]:
    """An address and how the workbench answered, if it was asked."""
    asked = answer.url.startswith(started.origin)
    return answer.url, int(answer.status) if asked else NOT_ASKED
