"""HTML from parts: whatever is not HTML already is escaped, so that no value becomes markup.

Uses nothing; everything that shows a page uses it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape

__all__ = [
    "NOTHING",
    "Html",
    "columns_of_figures",
    "entries",
    "legible",
    "table",
    "tag",
    "together",
]

NOTHING = "–"
"""A cell for which there is no figure."""

_VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta"})
"""Elements that have no content."""

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""What XML cannot hold, and what turns the direction of the words after it."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def together(*parts: object) -> Html:
    """Parts one after the other; None is nothing, and what is not HTML is escaped."""
    return Html("".join(_escaped(part) for part in parts if part is not None))


def _escaped(part: object) -> str:
    return part if isinstance(part, Html) else escape(legible(str(part)))


def legible(text: str) -> str:
    r"""A text in which nothing is unseen: names and values may contain anything.

    >>> print(legible("age\u202e\x1b"))
    age\u202e\x1b
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def tag(name: str, /, *parts: object, cls: str | None = None, **attributes: object) -> Html:
    """An element; an attribute that is None or False is left out.

    Underscores in the names of attributes stand for hyphens: aria_label, data_zone, for_.

    >>> tag("p", "a < b", cls="note", aria_label='"x"')
    '<p class="note" aria-label="&quot;x&quot;">a &lt; b</p>'
    """
    given: dict[str, object] = {"class": cls}
    given |= {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    inside = "".join(
        f" {key}" if value is True else f' {key}="{escape(legible(str(value)))}"'
        for key, value in given.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{inside}>")
    return Html(f"<{name}{inside}>{together(*parts)}</{name}>")


def table(
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    caption: object = None,
    label: str | None = None,
    numbers: Collection[int] | None = None,
    cls: str | None = None,
) -> Html:
    """A table whose first column names its rows.

    label: what screen readers call it, if it has no caption
    numbers: the columns of figures, which stand to the right; by default all but the first
    """
    right = set(range(1, len(head))) if numbers is None else set(numbers)

    def cell(name: str, at: int, part: object, **attributes: object) -> Html:
        return tag(name, part, cls="number" if at in right else None, **attributes)

    # A heading without a word is not one.
    titles = [
        cell("th", at, part, scope="col") if part else tag("td") for at, part in enumerate(head)
    ]
    lines = [
        tag(
            "tr",
            cell("th", 0, row[0], scope="row"),
            *(cell("td", at, part) for at, part in enumerate(row[1:], 1)),
        )
        for row in rows
    ]
    shown = tag(
        "table",
        None if caption is None else tag("caption", caption),
        tag("thead", tag("tr", *titles)),
        tag("tbody", *lines),
        cls=cls,
    )
    # Wide tables scroll by themselves, so that a page never does.
    name = label or ("Table" if caption is None else str(caption))
    return tag("div", shown, cls="wide", tabindex=0, role="group", aria_label=name)


def columns_of_figures(rows: Sequence[Sequence[object]]) -> list[int]:
    """The columns after the first that have figures and no words; "–" is a figure not known.

    >>> columns_of_figures([["age", "43 %", "level 2"], ["sex", "–", "level 0"]])
    [1]
    """
    width = min(map(len, rows), default=0)
    return [at for at in range(1, width) if _all_figures([str(row[at]) for row in rows])]


def _all_figures(texts: Sequence[str]) -> bool:
    figures = [text for text in texts if text[:1].isdigit() and not any(map(str.isalpha, text))]
    return bool(figures) and len(figures) + texts.count(NOTHING) == len(texts)


def entries(pairs: Mapping[str, object] | Iterable[tuple[object, object]]) -> Html:
    """Names with their values."""
    listed = pairs.items() if isinstance(pairs, Mapping) else pairs
    return tag("dl", *(tag("div", tag("dt", key), tag("dd", value)) for key, value in listed))
