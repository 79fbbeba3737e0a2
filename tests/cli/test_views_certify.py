"""`shoal views certify` and `verify`: certificates of several releases, and what fits none."""

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.releases.release import Release
from tests.cli.shell import refused
from tests.views_files import (
    BY_AGE,
    DONALD,
    NOBODY,
    SECRETS,
    laid_out,
    people,
    run,
    two_releases,
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The chapter's views under a γ that they keep, and a file that is not a certificate."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("safe.toml").write_text('gamma = "9/10"\n' + DONALD)
    Path("table.csv").write_text("name,ill\nAlan,H\n")
    return tmp_path


def test_a_certificate_and_its_text_are_overwritten_only_by_force() -> None:
    assert run("views", "certify", "safe.toml", "-o", "paper.json").exit_code == 0
    assert "paper.json exists already" in refused(
        "views", "certify", "safe.toml", "-o", "paper.json"
    )
    Path("paper.json").unlink()
    assert "paper.txt exists already" in refused(
        "views", "certify", "safe.toml", "-o", "paper.json"
    )
    assert run("views", "certify", "safe.toml", "-o", "paper.json", "--force").exit_code == 0


def test_a_missing_file_is_a_mistake_in_the_command() -> None:
    assert run("views", "certify", "safe.toml", "-o", "paper.json").exit_code == 0
    assert "cannot read nope.toml: No such file" in refused(
        "views", "verify", "paper.json", "nope.toml"
    )
    assert "cannot read nope.json: No such file" in refused(
        "views", "verify", "nope.json", "safe.toml"
    )
    assert run("views", "verify", "paper.json", "safe.toml").exit_code == 0
    assert run("views", "verify", "table.csv", "safe.toml").exit_code == 1


@pytest.fixture
def both(folder: Path) -> None:
    two_releases(laid_out(folder))


def test_several_releases_are_certified_and_verified(both: None) -> None:
    done = run("views", "certify", "VIEWS.toml", "-o", "together.json")
    assert done.exit_code == 0, done.output
    text = Path("together.txt").read_text()
    assert "possible tables: 288" in text
    assert "no value of ill more probable for anybody than 1/2" in " ".join(text.split())
    paper = json.loads(Path("together.json").read_text())
    assert [one["number"] for one in paper["shown"]] == [
        Release.read(name).certificate.number for name in ("one", "two")
    ]
    assert (paper["tables"], paper["largest"], paper["checked"]["how"]) == ("288", "1/2", "exact")
    for secret in (*SECRETS, '"A"'):
        assert secret not in Path("together.json").read_text()
    assert (
        run("views", "verify", "together.json", "VIEWS.toml").stdout.strip() == "everything holds"
    )


def test_a_set_that_does_not_keep_gamma_has_no_certificate(both: None) -> None:
    BY_AGE.release(people()).write("two")
    done = run("views", "certify", "VIEWS.toml", "-o", "together.json")
    assert done.exit_code == 2
    assert "nothing to certify" in done.stderr
    assert not Path("together.json").exists()
    assert not Path("together.txt").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda: Path("together.json").write_text(
                Path("together.json").read_text().replace("288", "289")
            ),
            "was changed",
        ),
        (lambda: NOBODY.release(people()).write("two"), "is on the certificate, and was not given"),
        (
            lambda: Path("VIEWS.toml").write_text(
                Path("VIEWS.toml").read_text() + '[[views]]\nwhere = ""\nvalues = ["a"]\n'
            ),
            "is not on the certificate",
        ),
        (
            lambda: Path("register.csv").write_text(
                Path("register.csv").read_text().replace("A,M", "A,F")
            ),
            "register",
        ),
        (
            lambda: Path("VIEWS.toml").write_text(
                'limits = { SARS = "3/4" }\n' + Path("VIEWS.toml").read_text()
            ),
            "limits is not",
        ),
        (
            lambda: Path("together.json").write_text("{}"),
            "not a valid certificate of several releases",
        ),
    ],
)
def test_a_certificate_that_does_not_fit_is_found(both: None, change: Any, words: str) -> None:
    run("views", "certify", "VIEWS.toml", "-o", "together.json")
    change()
    done = run("views", "verify", "together.json", "VIEWS.toml")
    assert done.exit_code == 1
    assert words in done.stderr
