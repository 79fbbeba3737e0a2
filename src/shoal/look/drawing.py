"""How charts are drawn: the one look of all of them, and drawings as SVG.

The kinds of charts are in `charts`. Altair is loaded when a chart is drawn. Uses `palette`
and `markup`; `pictures` gives charts their words.
"""

import re
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from io import BytesIO, StringIO
from typing import Any

from shoal.errors import ShoalError
from shoal.look.markup import legible
from shoal.look.palette import SERIES, colour
from shoal.look.zoned import Zone

__all__ = [
    "FORMS",
    "HEIGHT",
    "WIDTH",
    "available",
    "content",
    "drawn",
    "finished",
    "library",
    "stacked",
    "svg",
]

WIDTH, HEIGHT = 620, 260
"""The size of a chart in pixels, unless it has another."""


FORMS: dict[str, dict[str, Any]] = {"png": {"scale_factor": 2}, "svg": {}}
"""What one chart is saved as, with Altair's options for each."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


_TITLE = 86
"""Letters of a line of a title."""


@cache
def available() -> bool:
    """Whether charts can be drawn."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


def library() -> Any:
    """Altair; ShoalError if it is not installed."""
    if not available():
        raise ShoalError("charts need Altair", "install it with: pip install 'shoal[plots]'")
    import altair

    return altair


def config() -> dict[str, Any]:
    """What all charts look like."""
    ink, muted, line = colour("ink"), colour("muted"), colour("line")
    words = {"labelFont": FONT, "titleFont": FONT, "labelColor": ink, "titleColor": muted}
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "axis": {
            **words,
            "domainColor": muted,
            "tickColor": muted,
            "gridColor": line,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 220,
            "labelFlush": False,
            "tickCount": 6,
        },
        "legend": {**words, "labelFontSize": 12, "titleFontSize": 12},
        "title": {
            "font": FONT,
            "subtitleFont": FONT,
            "color": ink,
            "anchor": "start",
            "subtitleColor": colour("owner-ink"),
        },
        "text": {"font": FONT, "fontSize": 12, "fill": ink},
        "bar": {"color": colour("after")},
        "point": {"color": colour("after"), "filled": True},
        "line": {"color": colour("after")},
        "rule": {"color": muted},
        "range": {"category": [colour(name) for name in SERIES]},
        "aria": False,
    }


def finished(chart: Any, title: str, zone: Zone) -> Any:
    """A chart as people get it: with its title, the words of its zone, and the look."""
    return _titled(chart, title, zone).configure(**config())


def stacked(drawn: Sequence[tuple[Any, str]], zone: Zone) -> Any:
    """Charts with their titles, one below the other, under the words of their zone."""
    if len(drawn) == 1:
        return finished(*drawn[0], zone)
    alt = library()
    # A chart under another one says its zone too: it may be cut out of the picture.
    titled = [_titled(chart, title, zone) for chart, title in drawn]
    chart = alt.vconcat(*titled, spacing=28)
    return chart.resolve_scale(color="independent").configure(**config())


def _titled(chart: Any, title: str, zone: Zone) -> Any:
    below = [zone.words] if zone is Zone.OWNER else []
    lines = textwrap.wrap(title, _TITLE)
    return chart.properties(title=library().Title(lines, subtitle=below, offset=14))


def content(chart: Any, form: str) -> bytes:
    """A chart as the content of a file, in one of the `FORMS`."""
    spec = chart.properties(background=colour("paper")).to_dict()
    on_paper = library().Chart.from_dict(_legible_parts(spec))
    drawn: BytesIO | StringIO = BytesIO() if form == "png" else StringIO()
    on_paper.save(drawn, format=form, **FORMS[form])
    written = drawn.getvalue()
    return written if isinstance(written, bytes) else written.encode()


def _legible_parts(part: Any) -> Any:
    """What a chart is made of, all texts legible: by other letters, drawing would end the process.

    They are texts of keys and values alike, so that whatever refers to each other still does.
    """
    match part:
        case str():
            return legible(part)
        case dict():
            return {legible(key): _legible_parts(inner) for key, inner in part.items()}
        case list():
            return [_legible_parts(inner) for inner in part]
    return part


def drawn(draw: Callable[[], Any]) -> str:
    """The chart that a function makes, as SVG."""
    return svg(draw())


def svg(chart: Any, reworded: Callable[[Any], Any] | None = None) -> str:
    """A chart as SVG, drawn here: no browser and no network is needed.

    reworded: gives the chart, as Vega-Lite has it, other words
    """
    library()
    import vl_convert

    spec = _legible_parts(chart.to_dict())
    if reworded is not None:
        spec = reworded(spec)
    spec["config"] = config()
    drawn: str = vl_convert.vegalite_to_svg(spec)
    # The figure around it has the alternative text, so screen readers pass over its parts.
    drawn = re.sub(r' (role|aria-[a-z]+)="[^"]*"', "", drawn)
    return drawn.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
