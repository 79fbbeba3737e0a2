"""`shoal certificate`: a certificate is shown again, as it is, unless it was changed."""

import json
from pathlib import Path

import pytest

import shoal
from tests.cli.shell import refused, run


@pytest.fixture
def made(folder: Path) -> str:
    """What a release printed, without the files that were written afterwards."""
    result = run("release", "recipe.toml", "--out", "out")
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def test_a_certificate_is_shown_as_the_release_printed_it(folder: Path, made: str) -> None:
    for place in ("out", "out/certificate.json"):
        shown = run("certificate", place)
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.startswith(made)
        assert "release.csv" in shown.stdout
        assert max(map(len, shown.stdout.splitlines())) <= 80


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_the_document_is_printed_as_it_is(folder: Path, made: str, option: list[str]) -> None:
    shown = run("certificate", "out", *option)
    assert shown.stdout == Path("out/certificate.json").read_text(encoding="utf-8")


def test_a_page_of_html_is_printed_or_written(folder: Path, made: str) -> None:
    printed = run("certificate", "out", "--format", "html").stdout
    result = run("certificate", "out", "--html", "page.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "wrote page.html" in result.stderr
    assert Path("page.html").read_text(encoding="utf-8") == printed
    assert printed.startswith("<!DOCTYPE html>")
    assert "exists already" in refused("certificate", "out", "--html", "page.html")
    assert run("certificate", "out", "--html", "page.html", "--force").exit_code == 0
    told = refused("certificate", "out", "--json", "--format", "html")
    assert "--json and --format contradict each other" in told


def test_no_page_takes_the_place_of_what_is_read(folder: Path, made: str) -> None:
    paper = "out/certificate.json"
    assert "what the command reads" in refused("certificate", paper, "--html", paper, "--force")
    assert "what the command reads" in refused("certificate", "out", "--html", paper, "--force")


def test_a_changed_certificate_is_refused(folder: Path, made: str) -> None:
    paper = Path("out/certificate.json")
    paper.write_text(paper.read_text().replace("2-anonymity", "9-anonymity"))
    told = refused("certificate", "out")
    assert told.startswith("error: out/certificate.json: the certificate was changed")
    paper.write_text("{}")
    assert "not a valid certificate" in refused("certificate", "out", "--json")
    paper.unlink()
    assert "cannot read out/certificate.json" in refused("certificate", "out")
    paper.write_bytes(b"\xff")
    assert "cannot read" in refused("certificate", "out")


def test_nothing_but_the_certificate_is_needed(folder: Path, made: str) -> None:
    shown = run("certificate", "out").stdout
    Path("out/release.csv").unlink()
    assert run("certificate", "out").stdout == shown


def test_a_forged_certificate_is_refused_in_words(folder: Path, made: str) -> None:
    from shoal.releases.certificate import DOCUMENT
    from shoal.releases.sealed import sealed

    paper = Path("out/certificate.json")
    content = json.loads(paper.read_text())
    del content["seal"], content["certificate"]
    for part, value in (("columns", [1]), ("file", 5), ("unprotected", 3), ("parameters", [])):
        paper.write_text(sealed({**content, part: value}, DOCUMENT))
        for option in ([], ["--format", "html"]):
            assert "not a valid certificate" in refused("certificate", "out", *option)


def test_a_name_is_not_a_command_to_the_terminal(folder: Path) -> None:
    people = shoal.table(
        shoal.demo.table().frame.to_native().select("age").rename({"age": "a\x1b[2J<b>"}),
        quasi=["a\x1b[2J<b>"],
    )
    shoal.RandomSample("1/2").release(people).write("out")
    for option in ("text", "html"):
        shown = run("certificate", "out", "--format", option).stdout
        assert option == "html" or "\x1b" not in shown
        assert "<b>" not in shown
