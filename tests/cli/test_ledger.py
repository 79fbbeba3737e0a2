"""`shoal ledger` on the command line, and ledgers that recipes name."""

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import shoal
import shoal.data.disk
import shoal.data.files
import shoal.releases.release
from shoal.chance import Chance
from shoal.errors import (
    InfeasibleError,
    Stopped,
)
from shoal.ledger import Ledger
from tests.ledger.private import Private, people, run, tree
from tests.recipe.people import PEOPLE, RECIPE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10}0s;*\n" for age in range(100)))
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    (tmp_path / "recipe.toml").write_text(RECIPE + '\n[ledger]\npath = "own.ledger"\n')
    return tmp_path


def test_show_tells_everything_within_80_columns(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    assert (
        run("ledger", "create", str(path), "--epsilon", "ln(8)", "--delta", "1e-5").exit_code == 0
    )
    ledger = Ledger(path)
    made = ledger.release(Private("0.5"), people())
    with pytest.raises(InfeasibleError):
        ledger.release(Private("ln(2)", fails=True), people("abca"))
    assert run("ledger", "budget", str(path), "--epsilon", "4").exit_code == 0
    shown = run("ledger", "show", str(path)).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search(r"budget +ε 4, δ 1e-5 *\n", shown)
    assert re.search(r"spent +ε 1.19315, δ 2e-6 \(standard definition, unit row\)", shown)
    assert re.search(r"left +ε 2.80685, δ 8e-6", shown)
    assert "created with a budget of ε ln(8), δ 1e-5" in shown
    assert "changed to a budget of ε 4, δ 1e-5" in shown
    assert made.certificate.number in shown
    assert "NOT COMPLETED, and counts as spent" in shown
    found = json.loads(run("ledger", "show", str(path), "--json").stdout)
    assert found["budget"] == {"epsilon": "4", "delta": "1e-5"}
    assert Fraction(found["spent"]["epsilon"]) + Fraction(found["left"]["epsilon"]) == 4
    assert [entry["what"] for entry in found["entries"]] == [
        "created",
        "reserved",
        "completed",
        "reserved",
        "budget",
    ]
    assert found["head"] == ledger.head() == found["entries"][-1]["digest"]
    assert found["bounded"] is True


def test_a_ledger_that_others_may_read_is_told_once_by_every_command(folder: Path) -> None:
    ledger = Ledger.create("own.ledger")
    commands = [
        ("ledger", "show", "own.ledger"),
        ("ledger", "show", "own.ledger", "--json"),
        ("ledger", "verify", "own.ledger"),
        ("ledger", "gamma", "own.ledger", "1"),
        ("ledger", "adopt", "own.ledger", "--witness", "other"),
        ("release", "recipe.toml", "--out", "first"),
        ("views", "check", "first", "--with", "own.ledger", "--recipe", "recipe.toml"),
        ("ledger", "remember", "own.ledger", "first", "--recipe", "recipe.toml"),
        ("ledger", "budget", "own.ledger", "--epsilon", "1", "--delta", "0"),
    ]
    assert "chmod" not in run(*commands[0]).stderr
    for mode in (0o640, 0o604, 0o620):
        ledger.path.chmod(mode)
        for arguments in commands:
            said = run(*arguments).stderr
            assert said.count("own.ledger is open to") == said.count("chmod 600") == 1, arguments
        shutil.rmtree("first")
        run("ledger", "adopt", "own.ledger", "--witness", "before")
    ledger.path.chmod(0o600)
    assert ledger.witness is not None
    ledger.witness.chmod(0o644)
    assert f"{ledger.witness} is open to everyone (mode 644)" in run(*commands[0]).stderr


def test_mistakes_on_the_command_line_are_exit_code_2(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger")
    for arguments in (
        ("show", path),
        ("verify", path),
        ("budget", path),
        ("create", path, "--epsilon", "1"),
    ):
        result = run("ledger", *arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.startswith("error: ")
    assert not tree(tmp_path)


def test_a_recipe_names_its_ledger_seen_from_its_own_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = run("release", "recipe.toml", "--out", "out")
    assert refused.exit_code == 2
    assert "shoal ledger create own.ledger" in refused.stderr
    assert not (folder / "out").exists()
    Ledger.create("own.ledger")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    done = run("release", "../recipe.toml", "--out", "out")
    assert done.exit_code == 0, done.output
    assert "own.ledger as entry 2" in done.stderr
    certificate = json.loads((folder / "elsewhere" / "out" / "certificate.json").read_text())
    assert Ledger("../own.ledger").entries()[2].facts.release == certificate["number"]
    recipe = shoal.Recipe.load("../recipe.toml")
    for entry, made in ((4, recipe.run()), (6, recipe.release(recipe.table()))):
        assert Ledger("../own.ledger").entries()[entry].facts.release == made.certificate.number
    Ledger.create("other.ledger")
    assert (
        run("release", "../recipe.toml", "--out", "more", "--ledger", "other.ledger").exit_code == 0
    )
    assert [len(Ledger(path).entries()) for path in ("../own.ledger", "other.ledger")] == [7, 3]


def test_a_release_that_the_budget_does_not_allow_writes_nothing(folder: Path) -> None:
    Ledger.create("own.ledger", epsilon=1, delta=0.1)
    before = tree(folder)
    result = run("release", "recipe.toml", "--out", "out")
    assert result.exit_code == 2
    assert "cannot be charged to it" in result.stderr
    assert run("release", "recipe.toml", "--out", ".").exit_code == 2
    assert tree(folder) == before


def test_a_release_that_is_stopped_is_told_to_be_spent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.methods.optimal import Optimal

    Ledger.create("own.ledger")
    for error in (KeyboardInterrupt, Stopped):

        def stop(
            self: object,
            table: object,
            chance: Chance,
            error: type[BaseException] = error,
            **options: object,
        ) -> None:
            chance.bytes(1)
            raise error("stopped")

        monkeypatch.setattr(Optimal, "release", stop)
        result = run("release", "recipe.toml", "--out", "out")
        assert result.exit_code == 130
        assert "counts as spent" in result.stderr
    assert not (folder / "out").exists()


def test_unknown_keys_of_the_section_are_told(folder: Path) -> None:
    (folder / "recipe.toml").write_text(RECIPE + '\n[ledger]\npaths = "own.ledger"\n')
    assert (
        "ledger.paths: unknown key; did you mean 'path'?"
        in run("recipe", "check", "recipe.toml").stderr
    )
