"""From a complete recipe to a verified release with its reports, and what is refused on the way."""

import html
import os
import re
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

import shoal
from shoal.recipe.editing import editing
from shoal.releases.release import CERTIFICATE, Release, certificate_in
from shoal.workbench.jobs import Job, write
from tests.cli.shell import run
from tests.workbench.benches import Bench
from tests.workbench.conftest import violations

PLACE = "/p/hospital~hospital/release"
KEY = "hospital~hospital"


def finished(bench: Bench, kind: str) -> Job:
    """The newest job of a kind, once it has ended."""
    job = bench.desk.jobs.of(bench.project(KEY), kind)[0]
    job.wait(120)
    return job


def release(bench: Bench, name: str = "first", **fields: Any) -> Job:
    bench.post(f"{PLACE}/start", name=name, **fields)
    return finished(bench, "release")


def recipe_of(bench: Bench) -> Path:
    path: Path = bench.project(KEY).recipe
    return path


def change(bench: Bench, old: str, new: str) -> None:
    path = recipe_of(bench)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def made(bench: Bench, method: str) -> None:
    """Give the recipe another method."""
    text = recipe_of(bench).read_text()
    start, end = text.index("[method]"), text.index("[output]")
    recipe_of(bench).write_text(text[:start] + method + text[end:])


def keep_ledger(bench: Bench, **limits: Any) -> None:
    """Make a ledger, and name it in the recipe."""
    shoal.Ledger.create(bench.project(KEY).folder / "hospital.ledger", **limits)
    with editing(recipe_of(bench)) as draft:
        draft.set("ledger", "path", to="hospital.ledger")


def test_what_is_undecided_or_wrong_leads_to_the_screen_that_mends_it(demo_bench: Bench) -> None:
    change(demo_bench, 'sex = "quasi"', 'sex = "?"')
    change(demo_bench, "epsilon = 1\n", 'epsilon = "?"\n')
    page = demo_bench.get(PLACE)
    assert "roles.sex" in page
    assert f'href="/p/{KEY}/roles"' in page
    assert "method.epsilon" in page
    assert "Release and spend" not in page


def test_a_value_outside_its_hierarchy_is_found_before_anything_is_spent(
    demo_bench: Bench,
) -> None:
    path = recipe_of(demo_bench).parent / "hierarchies" / "sex.csv"
    path.write_text("female;*\n")
    page = demo_bench.get(f"{PLACE}/check", part=True)
    assert 'class="wrong"' in page
    assert f'href="/p/{KEY}/hierarchies?column=sex"' in page
    assert "diverse" not in page
    # It tells about the rows, and what is chosen because of it is on the list.
    assert "noted as chosen after looking" in page
    assert demo_bench.project(KEY).note("looked")


def test_what_a_try_kept_is_said_before_anything_is_spent(demo_bench: Bench) -> None:
    assert "Not tried yet" in demo_bench.get(PLACE)
    demo_bench.post(f"/p/{KEY}/run/recipe", part=False, status=303)
    assert finished(demo_bench, "candidate").state == "done"
    page = demo_bench.get(PLACE)
    assert re.search(r"A try of exactly this kept [\d,]+ of [\d,]+ records", page)
    change(demo_bench, "epsilon = 1\n", "epsilon = 0.9\n")
    assert "Not tried yet" in demo_bench.get(PLACE)


def test_the_button_names_the_cost_and_asks_once(demo_bench: Bench) -> None:
    assert "Release and spend ε 1, δ 1e-6" in demo_bench.get(PLACE)
    sure = demo_bench.get(f"{PLACE}?sure=1&name=first")
    assert "This cannot be taken back." in sure
    assert "releases/first" in sure
    assert not demo_bench.project(KEY).releases


def test_a_name_that_is_no_folder_or_taken_is_refused(demo_bench: Bench) -> None:
    assert "A name has letters" in demo_bench.get(f"{PLACE}?sure=1&name=../x")
    (demo_bench.project(KEY).folder / "releases" / "first").mkdir(parents=True)
    assert "There is a release of this name" in demo_bench.get(f"{PLACE}?sure=1&name=first")
    demo_bench.post(f"{PLACE}/start", name="first", status=422)


def test_the_ledger_has_the_entry_and_the_page_what_is_left(demo_bench: Bench) -> None:
    keep_ledger(demo_bench, epsilon="1.5", delta="1e-5")
    page = demo_bench.get(PLACE)
    assert "ε 1.5, δ 1e-5" in page
    assert "ε 0.5, δ 9e-6" in page
    assert release(demo_bench).state == "done"
    assert "It is entry 2 of the ledger." in demo_bench.get(f"{PLACE}/made/first")
    # A second one does not fit, and nothing is spent on it.
    again = demo_bench.get(PLACE)
    assert "The ledger will refuse it" in again
    job = release(demo_bench, "second")
    assert job.state == "failed"
    assert "budget" in demo_bench.get(f"{PLACE}/job/{job.key}")
    ledger = shoal.Ledger(demo_bench.project(KEY).folder / "hospital.ledger")
    assert ledger.spent().epsilon == 1


def test_only_the_files_of_a_release_are_given_away(demo_bench: Bench) -> None:
    assert release(demo_bench).state == "done"
    folder = demo_bench.project(KEY).release("first")
    (folder / "note.txt").write_text("secret")
    (folder / "link.csv").symlink_to(recipe_of(demo_bench))
    found = demo_bench.client.get(f"{PLACE}/made/first/file/release.csv")
    assert found.headers["content-disposition"].startswith("attachment")
    assert found.content == (folder / "release.csv").read_bytes()
    for name in ("note.txt", "link.csv", "..%2Fhospital.toml", "%2e%2e/hospital.toml"):
        refused = demo_bench.client.get(f"{PLACE}/made/first/file/{name}")
        assert refused.status_code in (404, 422)
        assert "secret" not in refused.text
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    place = f"{PLACE}/made/first/file/release.csv"
    assert demo_bench.client.get(place, headers=elsewhere).status_code == 403


def test_files_are_verified_and_a_changed_one_is_told(demo_bench: Bench) -> None:
    release(demo_bench)
    demo_bench.post(f"{PLACE}/made/first/verify")
    assert finished(demo_bench, "verify").state == "done"
    page = demo_bench.get(f"{PLACE}/made/first")
    assert "Verified: everything that the files can show holds." in page
    assert "What the files cannot show" in page
    with open(demo_bench.project(KEY).release("first") / "release.csv", "a") as file:
        file.write("x\n")
    demo_bench.post(f"{PLACE}/made/first/verify")
    finished(demo_bench, "verify")
    assert "No: something does not hold." in demo_bench.get(f"{PLACE}/made/first")


def test_reports_lie_beside_releases_and_open_under_a_strict_policy(demo_bench: Bench) -> None:
    release(demo_bench)
    project = demo_bench.project(KEY)
    for audience, form in (("public", ""), ("owner", ""), ("owner", "hipaa")):
        demo_bench.post(f"{PLACE}/made/first/report", audience=audience, form=form)
        job = finished(demo_bench, "report")
        assert job.state == "done", job.error
        (name,) = job.result["files"]
        shown = demo_bench.client.get(f"{PLACE}/report/{name}")
        policy = shown.headers.get_list("content-security-policy")
        assert len(policy) == 1
        assert policy[0].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
        assert "script-src" not in policy[0]
        assert f"{PLACE}/report/{name}" in demo_bench.get(f"{PLACE}/made/first")
    saved = demo_bench.client.get(f"{PLACE}/report/first-public.html?save=1")
    assert saved.headers["content-disposition"].startswith("attachment")
    names = {path.name for path in project.release("first").iterdir()}
    assert names == {"release.csv", CERTIFICATE}
    demo_bench.get(f"{PLACE}/report/..%2Fhospital.toml", status=404)
    demo_bench.get(f"{PLACE}/report/hospital.toml", status=422)


def test_a_release_of_the_command_line_is_listed(demo_bench: Bench) -> None:
    folder = demo_bench.project(KEY).folder
    found = run("release", str(recipe_of(demo_bench)), "--out", str(folder / "by hand"))
    assert found.exit_code == 0
    certificate = certificate_in(folder / "by hand")
    assert certificate is not None
    page = demo_bench.get(PLACE)
    assert "by hand" in page
    assert certificate.number[:8] in page
    assert "ε 1, δ 1e-6" in demo_bench.get(f"{PLACE}/made/by%20hand")


def test_the_code_on_the_page_does_the_same(
    demo_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(demo_bench)
    change(demo_bench, "epsilon = 1\n", "epsilon = 2\n")
    page = demo_bench.get(f"{PLACE}/made/first")
    code = {
        key: html.unescape(re.findall(rf'<pre id="code-{key}"[^>]*>(.*?)</pre>', page, re.S)[0])
        for key in ("recipe", "python", "commands")
    }
    assert "epsilon = 1\n" in code["recipe"]
    folder = demo_bench.project(KEY).folder
    monkeypatch.chdir(folder)
    exec(code["python"], {})
    releases = folder / "releases"
    first, again = (certificate_in(releases / name) for name in ("first", "first-again"))
    assert first is not None
    assert again is not None
    assert (again.promise, again.parameters) == (first.promise, first.parameters)
    # The project's recipe is another one by now, so the page says where this one goes.
    assert "as first.toml in the folder of the project" in page
    (folder / "first.toml").write_text(code["recipe"], "utf-8")
    rmtree(releases / "first-again")
    for line in code["commands"].splitlines():
        assert run(*line.split()[1:]).exit_code == 0
    third = certificate_in(releases / "first-again")
    assert third is not None
    assert (third.promise, third.recipe) == (first.promise, first.recipe)


def test_a_stopped_release_leaves_nothing_behind(demo_bench: Bench) -> None:
    demo_bench.post(f"{PLACE}/start", name="first")
    job = demo_bench.desk.jobs.of(demo_bench.project(KEY), "release")[0]
    demo_bench.post(f"/p/{KEY}/jobs/{job.key}/cancel")
    job.wait(60)
    if job.state == "cancelled":
        assert not demo_bench.project(KEY).releases
    assert demo_bench.get(f"{PLACE}/job/{job.key}")


def _killed(job: Job) -> None:
    """As if the process of a job had been killed before its end."""
    write(job.folder / "state.json", {"state": "running"})


def test_a_release_whose_process_was_killed_says_what_is_there(demo_bench: Bench) -> None:
    job = release(demo_bench)
    _killed(job)
    assert job.state == "lost"
    assert "The last release, “first”, ended unexpectedly." in demo_bench.get(PLACE)
    said = demo_bench.get(f"{PLACE}/job/{job.key}")
    assert "it was written before" in said
    assert "has no ledger" not in said
    rmtree(demo_bench.project(KEY).release("first"))
    said = demo_bench.get(f"{PLACE}/job/{job.key}")
    assert "Nothing was written." in said
    assert "has no ledger" in said
    keep_ledger(demo_bench)
    assert "counts as spent" in demo_bench.get(f"{PLACE}/job/{job.key}")
    assert release(demo_bench).state == "done"
    assert "ended unexpectedly" not in demo_bench.get(PLACE)


def test_a_recipe_that_is_edited_while_the_page_is_open_is_not_released_unseen(
    demo_bench: Bench,
) -> None:
    [seen] = set(re.findall(r'name="recipe" value="(\w+)"', demo_bench.get(PLACE)))
    sure = f"{PLACE}?sure=1&name=first&recipe={seen}"
    assert "This cannot be taken back." in demo_bench.get(sure)
    change(demo_bench, "epsilon = 1\n", "epsilon = 10\n")
    assert "Release and spend ε 10" in demo_bench.get(PLACE)
    said = demo_bench.get(sure)
    assert "The recipe has changed since this page was shown" in said
    assert "This cannot be taken back." not in said
    late = demo_bench.post(f"{PLACE}/start", status=422, name="first", recipe=seen).text
    assert "The recipe has changed" in late
    # Nor is it where it was edited after the click.
    demo_bench.desk.jobs.start(
        demo_bench.project(KEY), "release", {"name": "first", "recipe": seen}
    )
    job = finished(demo_bench, "release")
    assert (job.state, "since this release was asked for" in job.error["what"]) == ("failed", True)
    assert not demo_bench.project(KEY).releases
    [now] = set(re.findall(r'name="recipe" value="(\w+)"', demo_bench.get(PLACE)))
    assert release(demo_bench, recipe=now).state == "done"


def test_a_refusal_by_gamma_can_be_overridden_with_a_reason(demo_bench: Bench) -> None:
    made(demo_bench, '[method]\nname = "sampling"\nprobability = "1/3"\n')
    keep_ledger(demo_bench, gamma="1/2")
    assert "The ledger will refuse it" in demo_bench.get(PLACE)
    job = release(demo_bench)
    assert job.state == "failed"
    page = demo_bench.get(f"{PLACE}/job/{job.key}")
    assert "You may release it anyway." in page
    assert not demo_bench.project(KEY).releases
    assert release(demo_bench, override="the board has decided").state == "done"
    page = demo_bench.get(f"{PLACE}/made/first")
    assert "the board has decided" in page


def test_output_is_decided_in_the_recipe(demo_bench: Bench) -> None:
    demo_bench.post(f"{PLACE}/output", format="parquet", rows_per_file="100", neutralise="on")
    text = recipe_of(demo_bench).read_text()
    assert 'format = "parquet"' in text
    assert "rows_per_file = 100" in text
    assert "neutralise" not in text
    demo_bench.post(f"{PLACE}/output", format="xls", status=422)
    demo_bench.post(f"{PLACE}/output", format="csv", rows_per_file="-1", status=422)


def test_no_value_of_the_table_is_in_what_the_workbench_keeps(demo_bench: Bench) -> None:
    release(demo_bench)
    demo_bench.post(f"{PLACE}/made/first/verify")
    finished(demo_bench, "verify")
    folder = demo_bench.project(KEY).folder
    patient = (folder / "hospital.csv").read_text().splitlines()[1].split(",")[0]
    for path in (folder / ".workbench").rglob("*"):
        if path.is_file():
            assert patient.encode() not in path.read_bytes()


def test_from_the_recipe_to_a_verified_release_and_its_report(page: Any) -> None:
    base = page.url.split("/p/")[0].rstrip("/")
    page.goto(f"{base}{PLACE}")
    page.wait_for_selector("text=every value has its place")
    assert violations(page) == []
    # A plain form, and a decision in a recipe that the process has read.
    page.select_option("select[name=format]", "parquet")
    with page.expect_navigation():
        page.click("text=Save this")
    assert page.input_value("select[name=format]") == "parquet"
    page.click("text=Release and spend")
    page.wait_for_selector("text=This cannot be taken back.")
    assert violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url("**/release/made/**", timeout=120_000)
    page.click("text=Verify")
    page.wait_for_selector("text=Verified:", timeout=120_000)
    page.click(".reports .released button")
    page.wait_for_selector(".reports .released a", timeout=120_000)
    assert violations(page) == []
    with page.expect_popup() as opened:
        page.click(".reports .released a >> nth=0")
    report = opened.value
    report.wait_for_load_state()
    assert "What release" in report.title()
    assert "rgb" in report.evaluate("getComputedStyle(document.querySelector('.band')).color")
    report.close()


def test_a_release_shows_what_is_in_it_and_what_is_left(demo_bench: Bench) -> None:
    release(demo_bench)
    place = f"{PLACE}/made/first"
    page = demo_bench.get(place)
    assert f'hx-get="{place}/rows" hx-trigger="load"' in page
    assert "Compare it with the input" in page
    shown = demo_bench.get(f"{place}/rows", part=True)
    table = Release.read(demo_bench.project(KEY).release("first"))
    assert f"{table.rows.shape[0]:,} rows, {table.rows.shape[1]} columns." in shown
    assert "How often" in shown
    often = [int(number.replace(",", "")) for number in re.findall(r'number">([\d,]+)</td>', shown)]
    assert often == sorted(often, reverse=True)
    assert "<h1>" in demo_bench.get(f"{place}/rows")
    demo_bench.post(f"/p/{KEY}/run/release", part=False, status=303, name="first")
    assert finished(demo_bench, "candidate").state == "done"
    assert re.search(r"<p>[\d,]+ of [\d,]+ records\.", demo_bench.get(place))
    # Another release took its place since: nothing is known of that.
    written = demo_bench.project(KEY).release("first") / CERTIFICATE
    os.utime(written, (written.stat().st_atime, written.stat().st_mtime + 3600))
    assert "Compare it with the input" in demo_bench.get(place)
