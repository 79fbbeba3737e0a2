"""`shoal choose`: answers by options or by an interview, and what is shown."""

import json
import re

import pytest
from typer.testing import CliRunner, Result

from shoal.choosing import QUESTIONS
from shoal.cli import choose as module
from shoal.cli.app import app
from shoal.cli.choose import Said
from tests.choosing.interviews import EXAMPLES, example
from tests.cli.shell import refused, run


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def talk(monkeypatch: pytest.MonkeyPatch, said: str, *options: str) -> Result:
    """An interview on a terminal, in which this is typed."""
    monkeypatch.setattr(module, "is_terminal", lambda: True)
    return CliRunner().invoke(app, ["choose", *options], input=said)


def options_of(name: str) -> list[str]:
    return [word for key, answer in EXAMPLES[name].items() for word in (f"--{key}", answer)]


def test_there_is_an_option_for_every_question() -> None:
    assert list(Said.__annotations__) == [question.key for question in QUESTIONS]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_recommendation_is_shown_at_80_columns(name: str) -> None:
    result = run("choose", *options_of(name))
    assert result.exit_code == 0, result.output
    found, shown = example(name), " ".join(re.sub(r" \\\s*\n", " ", result.stdout).split())
    assert max(map(len, result.stdout.splitlines())) <= 80
    texts = [found.method, found.guide.promise, found.meaning, found.runner_up.text]
    texts += [reason.text for reason in found.reasons]
    texts += [*found.unprotected, *found.warnings, *found.recipe_lines(), *found.commands()]
    for text in texts:
        assert " ".join(text.split()) in shown, text


def test_json_has_all_of_it() -> None:
    result = run("choose", *options_of("kdgs"), "--json")
    assert json.loads(result.stdout) == json.loads(json.dumps(example("kdgs").to_dict()))


def test_an_interview_asks_what_was_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    result = talk(monkeypatch, "totals\n3\n1\n1\n", "--who", "questions")
    assert result.exit_code == 0, result.output
    assert "Who will get it?" not in result.stdout
    assert "What will they ask for?" in result.stdout
    assert "--aggregate sum" in result.stdout


def test_one_can_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    result = talk(monkeypatch, "1\n1\nb\n6\n")  # anyone, records: no, software
    assert result.exit_code == 0, result.output
    assert result.stdout.count("What will they do with it?") == 2
    assert "synthetic data, elsewhere" in result.stdout


def test_what_is_not_an_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    result = talk(monkeypatch, "b\n9\nanyone\nsoftware\n")
    assert result.exit_code == 0, result.output
    assert "'b' is not an answer; type 1 to 5" in result.stderr
    assert "'9' is not an answer; type 1 to 5" in result.stderr


def test_an_option_that_is_not_asked_after_all_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = talk(monkeypatch, "anyone\nsoftware\n", "--rows", "real")
    assert result.exit_code == 0, result.output
    assert "--rows is not asked after the other answers, and was left out" in result.stderr


def test_an_interview_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    result = talk(monkeypatch, "1\n")
    assert result.exit_code == 130
    assert "stopped" in result.stderr


def test_wrong_answers_are_refused() -> None:
    assert "--who all is unknown; it takes 'anyone'" in refused("choose", "--who", "all")
    said = refused("choose", "--use", "software", "--rows", "real")
    assert "--rows real is not asked after the other answers; leave it out" in said


def test_a_long_command_can_be_copied_from_a_narrow_terminal() -> None:
    shown = run("choose", "--who", "anyone", "--harm", "membership").stdout
    lines = [line.rstrip() for line in shown.splitlines()]
    [first] = [index for index, line in enumerate(lines) if line.startswith("  shoal verify")]
    assert lines[first].endswith(" \\")
    command = lines[first].strip(" \\") + " " + lines[first + 1].strip()
    assert command.endswith("released/release.csv --recipe recipe.toml")
