"""The public report is a function of the released files, and says what must be said first."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.methods.catalogue import entries
from shoal.report import Published, public
from tests.methods.examples import AGES, EXAMPLES
from tests.releases.verification.forging import both, forge, put

COARSE = shoal.Optimal([shoal.KAnonymity(3)], suppression="1/10", floor={"age": 1})


def release_of(ages: list[int]) -> shoal.Release:
    """A release by which records of decades with fewer than three are suppressed."""
    people = shoal.table(pl.DataFrame({"age": ages}), quasi=["age"], hierarchies={"age": AGES})
    return COARSE.release(people, Seeded(4))


ONE = release_of([31] * 10 + [42] * 20 + [55])
OTHER = release_of([34, 39] * 5 + [47] * 20 + [71, 88])
"""The same release of two inputs."""


def depends_on_the_input(report: Callable[[shoal.Release], str]) -> bool:
    """Whether a report differs where the released files do not."""
    return report(ONE) != report(OTHER)


def of_release(release: shoal.Release) -> str:
    return public(Published.of(release))


def test_two_inputs_with_the_same_release_have_the_same_public_report(tmp_path: Path) -> None:
    ONE.write(tmp_path / "one")
    OTHER.write(tmp_path / "other")
    for file in ("release.csv", "certificate.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    assert ONE.facts != OTHER.facts
    assert not depends_on_the_input(of_release)


def test_an_owners_figure_in_a_public_report_would_be_noticed() -> None:
    assert depends_on_the_input(lambda release: of_release(release) + f"{release.suppressed}")
    assert depends_on_the_input(lambda release: of_release(release) + f"{release.facts.records}")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_method_tells_the_report_more_than_its_files_do(name: str, tmp_path: Path) -> None:
    method, tables = EXAMPLES[name]
    release = method.release(tables())
    release.write(tmp_path / "out")
    verdict = shoal.verify(tmp_path / "out" / "certificate.json", tmp_path / "out")
    # What was written has the digests of files, and nothing else of the release differs.
    certificate = shoal.Release.read(tmp_path / "out").certificate
    kept = replace(release, certificate=certificate)
    assert public(Published.of(kept, verdict)) == public(tmp_path / "out")


ELSEWHERE = """
import os, sys, json
place, opened = sys.argv[1], []
sys.addaudithook(lambda event, given: opened.append(given[0]) if event == "open" else None)
from shoal.report import public
page = public("moved")
inside = [str(path) for path in opened if isinstance(path, str | os.PathLike)]
inside = [os.path.abspath(path) for path in inside]
json.dump({"page": page, "opened": [path for path in inside if path.startswith(place)]}, sys.stdout)
"""


def test_a_copy_elsewhere_gives_the_same_bytes_and_nothing_else_is_opened(
    tmp_path: Path, released: dict[str, Path]
) -> None:
    own = released["noisy counts, tree"]
    folder = tmp_path / "elsewhere"
    shutil.copytree(own, folder / "moved")
    (folder / "people.csv").write_text("age\n1\n")
    (folder / "recipe.toml").write_text("[source]\npath = 'people.csv'\n")
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "HOME": str(folder)}
    command = [sys.executable, "-c", ELSEWHERE, str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found["page"] == public(own)
    opened = {Path(path).relative_to(folder).parts for path in found["opened"]}
    assert opened == {("moved", "certificate.json"), ("moved", "release.csv")}
    assert str(folder) not in found["page"]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_release_has_a_public_report(name: str, released: dict[str, Path]) -> None:
    shown = Published.read(released[name])
    page = public(shown)
    assert "May be published" in page
    assert "Owner only" not in page
    assert shown.certificate.number in page
    assert escape(shown.certificate.statement) in page
    for line in shown.certificate.unprotected:
        assert escape(line[1:]) in page
    assert page.count("<section") == page.count("<h2>") == 11
    # It needs no script and fetches nothing.
    assert not re.search(r"<script|<link|<img|@import|https?://(?!www\.w3\.org)| on[a-z]+=", page)
    entry = shown.entry
    assert entry is not None
    assert ('class="box alarm"' in page) is not entry.public_algorithm


@pytest.mark.usefixtures("undrawn")
def test_a_release_with_a_seed_is_said_to_be_a_test(released: dict[str, Path]) -> None:
    page = public(released["seeded"])
    assert 'class="box alarm"' in page
    assert "NOT PRIVATE" in page
    assert "Nothing is promised" in page
    assert "made with a seed" in page  # the check says so too
    assert "May be published" not in page


@pytest.mark.usefixtures("undrawn")
def test_a_promise_that_does_not_hold_is_not_explained(
    tmp_path: Path, released: dict[str, Path]
) -> None:
    def change(content: dict[str, Any]) -> None:
        content["promise"]["models"] = ["100-anonymity"]
        content["statement"] = content["statement"].replace("3-anonymity", "100-anonymity")
        content["parameters"]["models"][0]["k"] = 100

    folder = shutil.copytree(released["optimal"], tmp_path / "forged")
    forge(folder / "certificate.json", change)
    page = public(folder)
    assert "Verification failed" in page
    assert "fails verification" in page
    assert re.findall("<h2>([^<]*)", page)[0] == "Nothing is promised that can be relied on"
    assert "For one person" not in page
    assert page.count("100-anonymity") == 1
    assert page.index("The certificate claims") < page.index("100-anonymity")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("promise", {"promise": "differential privacy"}),
        ("promise", {"promise": "differential privacy", "epsilon": "1", "delta": "1/0"}),
        ("promise", {"promise": "sampled", "share": "1e999999999"}),
        ("parameters", {"rows": "many"}),
        ("derived", {"beta": "1e-999999999"}),
        ("columns", [{"name": "age", "role": "owner", "type": "integer"}]),
        ("file", {"name": "release.csv", "format": "csv", "sha256": []}),
        ("number", None),
        ("columns", [1]),
        ("levels", [[]]),
    ],
)
def test_whatever_a_certificate_says_the_answer_is_in_words(
    tmp_path: Path, released: dict[str, Path], part: str, value: object, seeded: bool
) -> None:
    folder = shutil.copytree(released["safepub"], tmp_path / "forged")
    forge(folder / "certificate.json", both(put(part, value), put("private", not seeded)))
    try:
        page = public(folder)
    except shoal.ShoalError:
        return
    assert "Verification failed" in page


@pytest.mark.usefixtures("undrawn")
def test_a_level_that_the_files_cannot_show_may_be_any_number(
    tmp_path: Path, released: dict[str, Path]
) -> None:
    folder = shutil.copytree(released["optimal"], tmp_path / "forged")
    forge(folder / "certificate.json", put("levels.age", 10**30))
    assert len(public(folder)) < 1_000_000


@pytest.mark.usefixtures("undrawn")
def test_names_and_values_are_not_markup(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    frame = pl.DataFrame({hostile: [f"<img src=x onerror={i % 2}>" for i in range(40)]})
    people = shoal.table(frame, sensitive=[hostile])
    shoal.NoisyCounts(1, "1e-3", levels={}).release(people).write(tmp_path)
    page = public(tmp_path)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.usefixtures("undrawn")
def test_the_highest_risk_is_rounded_up() -> None:
    page = of_release(release_of([31] * 3 + [42] * 20))
    assert "with a chance of at most 33.4 %" in page


def test_a_public_report_has_drawings_that_fit_dark_pages(released: dict[str, Path]) -> None:
    page = public(released["safepub"])
    assert page.count("<svg") > 4
    assert "var(--after)" in page
    assert len(page) < 1_000_000


def test_links_lead_to_sections(released: dict[str, Path]) -> None:
    page = public(released["optimal"])
    links = re.findall(r'href="#([\w-]+)"', page)
    assert links
    assert set(links) <= set(re.findall(r'<section[^>]* id="([\w-]+)"', page))


def test_every_method_is_known_to_break_or_not() -> None:
    assert {entry.public_algorithm for entry in entries()} == {True, False}


@pytest.mark.usefixtures("undrawn")
def test_columns_of_several_levels_are_not_said_to_be_changed(tmp_path: Path) -> None:
    people = shoal.demo.table(2000)
    shoal.NoisyCounts(1, "1e-4", levels="tree").release(people).write(tmp_path / "tree")
    page = public(tmp_path / "tree")
    assert "have values of several levels" in page
    assert "is unchanged</h2>" not in page
    assert "The value * stands for any value." in page
    assert "Every filled step" not in page

    shoal.RandomSample("1/10").release(people).write(tmp_path / "sample")
    page = public(tmp_path / "sample")
    assert "released columns are unchanged</h2>" in page
    assert "A level says" not in page
