"""What `shoal compare` shows of several releases at a terminal."""

import re
from pathlib import Path

import pytest

import shoal
from tests.cli.shell import run


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and its releases by several methods."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    people = shoal.demo.table()
    people.frame.to_native().write_csv("people.csv")
    for k in (5, 20):
        method = shoal.Optimal([shoal.KAnonymity(k)], suppression="1/10")
        method.release(people).write(f"k{k}")
    shoal.Mondrian([shoal.KAnonymity(10)]).release(people).write("mondrian")
    shoal.SafePub(2, "1e-4", unit="patient").release(people).write("safepub-of-patients")
    schema = [["age", "sex"], ["diagnosis"]]
    shoal.Columns(2, "1e-4", schema=schema).release(people).write("columns")
    return tmp_path


def test_releases_are_shown_with_promises_figures_and_the_frontier(clinic: Path) -> None:
    folders = ["k5", "k20", "mondrian", "safepub-of-patients", "columns"]
    result = run("compare", "people.csv", *folders)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == lines[-1] == "owner only: this report reveals information about the input"
    assert max(map(len, lines)) <= 80
    text = " ".join(result.stdout.split())
    assert "k5 optimal: 5-anonymity; anyone who knows the algorithm may infer more" in text
    assert "safepub: ε 2, δ 1e-4, for people by patient" in text
    assert re.search(r"^input +4,000 +100 % ", result.stdout, re.MULTILINE)
    assert "Risks are of people in 'input', 'safepub-of-patients', and of rows elsewhere" in text
    assert "Most losses need hierarchies" in text
    # Mondrian's groups are larger than those of k5, and lose less.
    assert re.search(r"^k5 +by mondrian *$", result.stdout, re.MULTILINE)
    assert "Not ranked columns this is a release by columns" in text
    assert "no figure ranks one kind above another" in text


def test_one_kind_of_promise_needs_no_word_about_others(clinic: Path) -> None:
    shown = " ".join(run("compare", "people.csv", "k5", "k20").stdout.split())
    assert "syntactic k5, k20" in shown
    assert "Beaten" not in shown
    assert "Not ranked" not in shown
    assert "kind above another" not in shown
    assert "of people" not in shown


def test_a_loss_that_is_not_known_ranks_nothing_and_says_why(clinic: Path) -> None:
    shown = " ".join(run("compare", "people.csv", "k5", "k20", "--loss", "entropy").stdout.split())
    assert "Not ranked k5 column 'age' has no hierarchy k20 column 'age' has no hierarchy" in shown
    assert "No other" not in shown
