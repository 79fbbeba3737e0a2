"""Cards: what notebooks show of everything, escaped, marked, and without anything from elsewhere.

What the cards of a room say is tested with the room.
"""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from shoal.look import Zone
from shoal.look.notebooks import NOTHING, Card, alarm, first_of, fold, note, paragraph, points
from tests.shown import CELL, HOSTILE, PUBLIC, everything, shown_classes

ALLOWED = {"style", "div", "p", "span", "strong", "ul", "li", "details", "summary"}
ALLOWED |= {"table", "caption", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd"}
ALLOWED |= {"svg", "path", "rect"}
"""What a card is made of."""

UNMARKED = ("ledger", "audit")
"""Whose `repr` says where they are, and nothing of what is in them."""

LONGEST = 240
"""Characters of a `repr`: three lines of a terminal."""


class Tags(HTMLParser):
    """What a browser would find in a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.classes: set[str] = set()
        self.others: set[str] = set()
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.open.append(tag)
        for name, value in attrs:
            if name == "class":
                self.classes |= set((value or "").split())
            self.others.add(name)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def faults(html: str, zone: Zone | None) -> list[str]:
    """What is wrong with a card of a zone."""
    tags = Tags(html)
    found = [f"element {name}" for name in tags.names - ALLOWED]
    found += [f"class {name}" for name in tags.classes if not name.startswith("shoal-")]
    found += [f"attribute {name}" for name in tags.others if name in ("src", "href", "id", "style")]
    found += [f"handler {name}" for name in tags.others if name.startswith("on")]
    if re.search(r"url\(|https?:|@import|javascript:", html):
        found.append("fetches something")
    marks = {
        Zone.OWNER: "Owner only – reveals information about the input",
        Zone.RELEASED: "May be published",
    }
    found += [f"mark of {one}" for one, words in marks.items() if (words in html) != (one is zone)]
    return found


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return everything(tmp_path_factory.mktemp("shown"))


def zone_of(name: str) -> Zone | None:
    if name == "failing verdict":
        return None  # nobody should take it for something to publish
    return Zone.RELEASED if name in PUBLIC else Zone.OWNER


def test_everything_is_escaped_marked_and_whole(things: dict[str, Any]) -> None:
    for name, thing in things.items():
        assert not faults(thing._repr_html_(), zone_of(name)), name


def test_nothing_that_shows_itself_is_left_out(things: dict[str, Any]) -> None:
    assert set(shown_classes()) == {type(thing).__name__ for thing in things.values()}


def test_no_cell_of_an_input_is_shown(things: dict[str, Any]) -> None:
    for name, thing in things.items():
        assert CELL not in thing._repr_html_(), name
        assert CELL not in repr(thing), name


def test_a_repr_is_short_and_has_the_mark_that_its_card_has(things: dict[str, Any]) -> None:
    for name, thing in things.items():
        assert len(repr(thing)) <= LONGEST, name
        marked = name not in PUBLIC and name not in UNMARKED
        assert repr(thing).count("owner only: ") == marked, name


def test_cards_are_small(things: dict[str, Any]) -> None:
    for name, thing in things.items():
        assert len(thing._repr_html_()) < 16_000, name


BAD: list[tuple[str, Any]] = [
    ("element script", f"{HOSTILE}</div>"),
    ("class plain", '<p class="plain"></p>'),
    ("fetches something", "<style>p { background: url(x) }</style>"),
    ("attribute src", '<p src="x"></p>'),
    ("handler onclick", '<p onclick="x"></p>'),
]


@pytest.mark.parametrize(("fault", "html"), BAD)
def test_a_card_that_is_not_whole_is_noticed(fault: str, html: str) -> None:
    assert fault in faults(html.replace("</div>", ""), None)


def test_a_card_of_the_wrong_zone_is_noticed() -> None:
    card = Card("Risks", [], Zone.RELEASED)
    assert not faults(card.html(), Zone.RELEASED)
    assert faults(card.html(), Zone.OWNER)


def test_ink_and_paper_are_those_of_the_notebook() -> None:
    html = Card("Risks", [paragraph("x")], Zone.OWNER).html()
    [sheet] = re.findall(r"<style>(.*?)</style>", html)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", sheet)
    assert all(".shoal-card" in part for names, _ in rules for part in names.split(","))
    for names, rule in rules:
        has_ink = re.search(r"(?<![-\w])color: #", rule)
        has_paper = "background: #" in rule
        assert bool(has_ink) == bool(has_paper) or "color: #" not in rule, names
        if ".shoal-badge" not in names and ".shoal-alarm" not in names:
            assert not has_paper, names


def test_parts_of_cards() -> None:
    assert paragraph("a<b") == "<p>a&lt;b</p>"
    assert note("x") == '<p class="muted">x</p>'
    assert alarm("x") == '<p><strong class="alarm">x</strong></p>'
    assert points(["a", "b"]) == '<ul class="points"><li>a</li><li>b</li></ul>'
    assert fold("More", note("x")) == f"<details><summary>More</summary>{note('x')}</details>"


def test_of_many_rows_the_first_ones_are_shown() -> None:
    shown = first_of("row", 2, ["name", "size"], [[f"row {n}", f"{n}"] for n in range(5)])
    assert "row 1" in shown
    assert "row 2" not in shown
    assert "and 3 rows more" in shown


def test_figures_stand_to_the_right_and_words_do_not() -> None:
    rows = [["a", "1 %", "2 of 3"], ["b", NOTHING, "3"]]
    shown = first_of("row", 9, ["", "share", "words"], rows)
    assert '<td class="number">1 %</td>' in shown
    assert "<td>2 of 3</td>" in shown


def test_what_shows_itself_does_not_load_the_look_before_it_is_asked(tmp_path: Path) -> None:
    code = "import sys, shoal.data.tables; print('shoal.look' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
