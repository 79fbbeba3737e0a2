"""`shoal choose`: which method fits, by an interview or by options.

It asks the questions of `shoal.choosing`, and shows what that recommends.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.choosing.questions import Answers, Question, following, question_of
from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    complain,
    copyable,
    figures,
    indented,
    print_json,
    remark,
    show,
    title,
)
from shoal.errors import Stopped

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.choosing import Recommendation

__all__ = ["choose"]

BACK = "b"
"""What goes back to the question before."""


def _option(key: str) -> typer.models.OptionInfo:
    """The option of a question: it takes its answers."""
    question = question_of(key)
    option: typer.models.OptionInfo = typer.Option(
        metavar="ANSWER",
        help=f"{question.text} {', '.join(question.keys[:-1])}.",
        show_default=False,
        rich_help_panel="Answers; unknown is one to every question",
    )
    return option


@dataclass(frozen=True)
class Said:
    """Answers that are given as options: a bundle."""

    who: Annotated[str | None, _option("who")] = None
    use: Annotated[str | None, _option("use")] = None
    ask: Annotated[str | None, _option("ask")] = None
    harm: Annotated[str | None, _option("harm")] = None
    algorithm: Annotated[str | None, _option("algorithm")] = None
    rule: Annotated[str | None, _option("rule")] = None
    shape: Annotated[str | None, _option("shape")] = None
    rows: Annotated[str | None, _option("rows")] = None
    person: Annotated[str | None, _option("person")] = None
    people: Annotated[str | None, _option("people")] = None
    before: Annotated[str | None, _option("before")] = None

    def given(self) -> dict[str, str]:
        """The answers that were given, by question."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: answer for key, answer in said.items() if answer is not None}


@bundled
def choose(*, said: Said, json: options.Json = False) -> None:
    """Which method fits my case?

    Asks a few questions, and recommends a method with its parameters, what it promises and costs,
    and what to run next. Answers may be given as options; what is left out is asked on a terminal,
    and unknown elsewhere. Reads no data.
    """
    from shoal.choosing import choose as chosen

    given = said.given()
    if not json and is_terminal():
        answers = _interview(given)
    else:
        answers = Answers(**given)
    found = chosen(answers)
    if json:
        print_json(found.to_dict())
    else:
        show(*_pages(found))


def is_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def _interview(given: Mapping[str, str]) -> Answers:
    """Ask for what is not given; whoever goes back changes their last answer."""
    answers, asked = dict(given), list[str]()
    while (question := following(answers)) is not None:
        key = _asked(question, bool(asked))
        if key == BACK:
            del answers[asked.pop()]
            continue
        answers[question.key] = key
        asked.append(question.key)
    fitting = Answers.fitting(answers)
    for key in given:
        if getattr(fitting, key) is None:
            remark(f"--{key} is not asked after the other answers, and was left out")
    return fitting


def _asked(question: Question, can_go_back: bool) -> str:
    """The key of the answer that is chosen, or BACK."""
    lines = [f"{number} {answer.text}" for number, answer in enumerate(question.answers, 1)]
    show(title(question.text), indented(question.help), *map(indented, lines))
    keys = {str(number): key for number, key in enumerate(question.keys, 1)}
    keys |= dict(zip(question.keys, question.keys, strict=True))
    hint = f"1 to {len(lines)}"
    if can_go_back:
        keys[BACK] = BACK
        hint += f", or {BACK} to go back"
    while True:
        try:
            said = str(typer.prompt(hint)).strip().lower()
        except typer.Abort:
            raise Stopped("the interview was stopped") from None
        if said in keys:
            return keys[said]
        complain(f"{said!r} is not an answer; type {hint}")


def _pages(found: "Recommendation") -> "Iterator[RenderableType]":
    """The recommendation, at any width."""
    lines = [("take", found.method), ("it promises", found.guide.promise)]
    if found.promise is not None:
        lines.append(("exactly", found.promise.statement))
    lines += [("it costs", f"{found.guide.cost}."), ("docs", found.page)]
    yield figures(*lines)
    yield title("Why")
    yield figures(*((reason.question, reason.text) for reason in found.reasons))
    yield title("What it means for one person in the table")
    yield indented(found.meaning)
    yield title("What it does not protect")
    yield from map(_item, found.unprotected)
    if found.warnings:
        yield title("Before you begin")
        yield from map(_item, found.warnings)
    yield title(f"Why not {found.runner_up.method}")
    yield indented(found.runner_up.text)
    yield from _next(found)


def _item(text: str) -> "RenderableType":
    return figures(("  -", text))


def _next(found: "Recommendation") -> "Iterator[RenderableType]":
    """What to run, and what to put where names are in capitals."""
    if found.recipe_lines():
        yield title("In a recipe, in place of its section [method]")
        yield from map(indented, found.recipe_lines())
    if found.commands():
        yield title("What to run next")
        yield from map(copyable, found.commands())
    if found.blanks:
        yield title("What to put in place of capitals")
        yield figures(*((f"  {name}", text) for name, text in found.blanks.items()))
