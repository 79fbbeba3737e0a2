"""A page of HTML: one file that opens without a network, prints well and needs no script.

The zone of a page shows as a band at its top, beside it on screen, and on every printed sheet.
Uses `markup`, `palette` and `zoned`; reports use it.
"""

from importlib.resources import files

from shoal.arguments import typed
from shoal.look.markup import Html, tag, together
from shoal.look.palette import style_sheet
from shoal.look.zoned import Zone

__all__ = ["MARK", "page", "section", "styles"]

MARK = Html(
    '<svg class="mark" viewBox="0 0 40 24" width="40" height="24" aria-hidden="true" '
    'focusable="false"><g fill="none" stroke="currentColor" stroke-width="2.2" '
    'stroke-linecap="round"><path d="M3 6h7M15 4h7M27 6h7M7 12h7M31 12h6M3 18h7M15 20h7M27 18h7"/>'
    '<path d="M19 12h7" stroke-dasharray="1 3.2" opacity=".55"/></g></svg>'
)
"""The mark: a shoal of equal strokes, one of which is hidden."""


def styles() -> str:
    """The style sheet of every page."""
    sheet = files("shoal.look").joinpath("page.css").read_text(encoding="utf-8")
    return style_sheet() + " ".join(sheet.split())


@typed
def page(title: str, *parts: object, zone: Zone, language: str = "en") -> str:
    """A whole page in a zone, under its title."""
    # The words are repeated on every printed sheet, where there is no band.
    sheets = f'@page{{@top-right{{content:"{zone.words}";}}}}'
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} – {zone.words}"),
        tag("style", Html(styles() + sheets)),
    )
    top = tag("header", zone.band(), tag("p", MARK, " Shoal", cls="brand"), tag("h1", title))
    end = tag("footer", zone.band())
    body = tag("body", top, tag("main", *parts), end, cls=zone.value)
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang=language) + "\n"


def section(title: str, *parts: object, zone: Zone | None = None, name: str | None = None) -> Html:
    """A section under its heading; one of another zone than its page carries a mark."""
    badge = None if zone is None else zone.badge()
    heading = tag("h2", title, together(" ", badge) if badge else None)
    cls = None if zone is None else f"zoned {zone.value}"
    return tag("section", heading, *parts, cls=cls, id=name)
