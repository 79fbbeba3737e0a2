"""`Card`: what a notebook shows of a thing, as a piece of HTML that needs nothing around it.

It has its own styles, under names that no other has, and takes ink and paper from the notebook,
which may be light or dark; only the mark of its zone has colours of its own. There is no script
and nothing is fetched. Uses `markup`, `palette` and `zoned`; `cards` of the rooms make them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from shoal.errors import plural
from shoal.look.markup import NOTHING, Html, columns_of_figures, table, tag, together
from shoal.look.palette import COLOURS, colour
from shoal.look.zoned import Zone

__all__ = ["NOTHING", "Card", "alarm", "first_of", "fold", "note", "paragraph", "points"]

_CLASS = re.compile(r' class="([^"]*)"')


@dataclass(frozen=True)
class Card:
    """What a notebook shows of a thing: its title, what matters of it, and who may see that.

    zone: None for what is neither about an input nor to be published
    """

    title: str
    parts: Sequence[object]
    zone: Zone | None

    def html(self) -> str:
        """The whole card with its styles."""
        badge = None if self.zone is None else self.zone.badge()
        title = tag("p", self.title, " ", badge, cls="title")
        words = None
        if self.zone is Zone.OWNER:
            words = note(f"{self.zone.words}.")
        kind = "" if self.zone is None else f" {self.zone.value}"
        inside = tag("div", title, words, *self.parts, cls=f"card{kind}")
        return tag("style", Html(_styles())) + _prefixed(inside)


def _prefixed(html: Html) -> str:
    """The same with names of classes that no style of a notebook has."""

    # Quotation marks in texts and attributes are escaped, so that only tags are found.
    def prefixed(found: re.Match[str]) -> str:
        names = " ".join(f"shoal-{name}" for name in found[1].split())
        return f' class="{names}"'

    return _CLASS.sub(prefixed, html)


@cache
def _styles() -> str:
    sheet = files("shoal.look").joinpath("notebook.css").read_text(encoding="utf-8")
    named = {name.upper().replace("-", "_"): colour(name) for name in COLOURS}
    coloured = re.sub(r"\b[A-Z_]{3,}\b", lambda found: named[found[0]], sheet)
    return " ".join(coloured.split())


# Parts of cards


def paragraph(*parts: object) -> Html:
    """A paragraph."""
    return tag("p", *parts)


def note(*parts: object) -> Html:
    """A paragraph that stands back."""
    return tag("p", *parts, cls="muted")


def alarm(*parts: object) -> Html:
    """What must not be overlooked."""
    return tag("p", tag("strong", *parts, cls="alarm"))


def points(lines: Iterable[object]) -> Html:
    """A list of points."""
    return tag("ul", *(tag("li", line) for line in lines), cls="points")


def fold(summary: str, *parts: object) -> Html:
    """Parts that are seen once somebody asks for them."""
    return tag("details", tag("summary", summary), *parts)


def first_of(
    noun: str, most: int, head: Sequence[object], rows: Sequence[Sequence[object]]
) -> Html:
    """A table of the first rows of many, and how many more there are."""
    rest = len(rows) - most
    more = note(f"and {plural(rest, noun)} more") if rest > 0 else None
    figures = columns_of_figures(rows)
    label = f"Table by {noun}"
    return together(table(head, rows[:most], label=label, numbers=figures), more)
