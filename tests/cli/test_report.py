"""`shoal report`: one page for the public or the owner, never in the folder of a release."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app
from shoal.look import drawing
from shoal.report.committees import FRAMEWORKS
from tests.cli.catalogued import write_recipe


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a recipe and its release."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(drawing, "available", lambda: False)
    write_recipe(tmp_path, "optimal")
    run("release", "recipe.toml", "--out", "made")
    return tmp_path


def run(*words: str, code: int = 0) -> str:
    """What a command says on stderr."""
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return " ".join(done.stderr.split())


def test_the_public_report_needs_the_release_alone(place: Path) -> None:
    (place / "people.csv").unlink()
    assert run("report", "made") == "wrote report.html"
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "May be published" in page
    run("report", "made", "--for", "public", "--out", "again.html")
    assert (place / "again.html").read_text(encoding="utf-8") == page


def test_the_owners_report_has_a_name_and_marks_of_its_own(place: Path) -> None:
    asked = ("report", "made", "--for", "owner", "--recipe", "recipe.toml", "--queries", "5")
    assert run(*asked) == "wrote report-owner.html, which is not for release"
    page = (place / "report-owner.html").read_text(encoding="utf-8")
    assert "Owner only – reveals information about the input" in page
    assert "count queries" in page


@pytest.mark.parametrize("audience", ["public", "owner"])
def test_no_report_is_written_into_the_folder_of_a_release(place: Path, audience: str) -> None:
    asked = ["report", "made", "--for", audience, "--out", "made/report.html"]
    if audience == "owner":
        asked += ["--recipe", "recipe.toml"]
    assert "must hold nothing else" in run(*asked, code=2)
    assert {path.name for path in (place / "made").iterdir()} == {"certificate.json", "release.csv"}


def test_what_is_for_the_owner_is_refused_for_the_public(place: Path) -> None:
    for option, value in {
        "--recipe": "recipe.toml",
        "--queries": "5",
        "--class": "ill",
        "--engine": "stream",
    }.items():
        said = run("report", "made", option, value, code=2)
        assert said == f"error: {option} is for the owner’s report only; add --for owner"
    assert "needs the input" in run("report", "made", "--for", "owner", code=2)
    assert not (place / "report.html").exists()


def test_a_file_that_exists_is_overwritten_only_if_that_is_wanted(place: Path) -> None:
    run("report", "made")
    assert "exists already" in run("report", "made", code=2)
    run("report", "made", "--force")


def test_a_changed_table_has_no_report(place: Path) -> None:
    table = place / "made" / "release.csv"
    table.write_bytes(table.read_bytes() + b"\n")
    assert "their digests differ" in run("report", "made", code=2)
    assert "has no certificate.json" in run("report", "elsewhere", code=2)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_form_for_committees_is_filled_in(place: Path, name: str) -> None:
    assert run("report", "made", "--as", name) == f"wrote report-{name}.html"
    assert "Left to you" in (place / f"report-{name}.html").read_text(encoding="utf-8")


def test_an_unknown_form_is_refused_before_anything_is_read(place: Path) -> None:
    assert "nobody" in run("report", "made", "--as", "nobody", code=2)
    asked = ("report", "made", "--for", "owner", "--recipe", "recipe.toml", "--as", "gdpr")
    assert run(*asked) == "wrote report-gdpr-owner.html, which is not for release"


def test_a_pdf_is_written_too_or_says_what_it_needs(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "weasyprint", None)
    said = run("report", "made", "--pdf", code=2)
    assert "pip install 'shoal[pdf]'" in said
    assert not (place / "report.html").exists()


@pytest.mark.usefixtures("weasyprint")
def test_pdfs_lie_beside_their_pages(place: Path) -> None:
    assert run("report", "made", "--pdf") == "wrote report.html wrote report.pdf"
    assert run("report", "made", "--out", "only.pdf") == "wrote only.pdf"
    assert (place / "only.pdf").read_bytes().startswith(b"%PDF")
