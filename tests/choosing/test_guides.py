"""When to take what: there is a guide for all that may be recommended, and the docs have it."""

from collections.abc import Iterable

from shoal.choosing import QUESTIONS, UNKNOWN, guide_of
from shoal.choosing.deciding import AUDIT, ELSEWHERE
from shoal.choosing.guides import PAGES, RUNNERS_UP, UNPROTECTED, WAYS
from shoal.methods.catalogue import entries
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")


def table(ways: Iterable[str]) -> str:
    """A table of the page, from the guides."""
    lines = [
        "| you need | take | it promises | it costs | it does not protect | example |",
        "|---|---|---|---|---|---|",
    ]
    for way in ways:
        guide = guide_of(way)
        link = f"[{way}]({PAGES[way]})"
        cells = (guide.need, link, guide.promise, guide.cost, guide.leaves_open, guide.example)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def tables() -> list[str]:
    """What holds if the algorithm is known, what holds of the table only, and what is neither."""
    known = [entry.name for entry in entries() if entry.public_algorithm]
    known.sort(key=lambda name: name != "noisy-counts")  # the one to take if in doubt
    others = [entry.name for entry in entries() if not entry.public_algorithm]
    return [table(ways) for ways in ([*known, AUDIT], others, [ELSEWHERE])]


def questions() -> str:
    """The questions, as the page lists them."""
    return "\n".join(f"- {question.text}" for question in QUESTIONS)


def answers() -> str:
    """The options with the short names of answers, as the page about commands has them."""
    lines = ["| option | question | answers |", "|---|---|---|"]
    for question in QUESTIONS:
        said = [f"`{one.key}`: {one.text}" for one in question.answers if one.key != UNKNOWN]
        lines.append(f"| `--{question.key}` | {question.text} | {'<br>'.join(said)} |")
    return "\n".join(lines)


def test_the_page_has_the_tables() -> None:
    for wanted in tables():
        assert wanted in PAGE, f"docs/choosing.md needs this table:\n{wanted}"


def test_the_pages_have_the_questions_and_the_answers() -> None:
    assert questions() in PAGE, f"docs/choosing.md needs these questions:\n{questions()}"
    assert answers() in COMMANDS, (
        f"docs/reference/command-line.md needs these answers:\n{answers()}"
    )


def test_every_way_has_a_page_a_guide_and_a_runner_up() -> None:
    assert set(PAGES) == set(RUNNERS_UP) == set(WAYS)
    assert set(UNPROTECTED) == {AUDIT, ELSEWHERE}
    for way in WAYS:
        assert (ROOT / "docs" / PAGES[way]).exists()
        assert guide_of(way).promise.endswith(".")
        other, why = RUNNERS_UP[way]
        assert other in WAYS
        assert other != way
        assert why.endswith(".")
