"""Charts for the owner: the one way to make, mark and save them, with the axes that they share.

Altair is loaded when a chart is drawn. Uses `data.disk` and `judging`; `curves` and the
restoring of views use it.
"""

import os
from collections.abc import Iterable, Sequence
from fractions import Fraction
from io import BytesIO, StringIO
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data.disk import replacing
from shoal.errors import ParameterError, ShoalError
from shoal.studies.judging import refuse_beside_a_release
from shoal.zones import NOTICE

if TYPE_CHECKING:
    from altair import LayerChart, VConcatChart

__all__ = [
    "HEIGHT",
    "Charted",
    "layered",
    "library",
    "require",
    "risk_axis",
    "rule",
    "save",
    "stacked",
    "utility_axis",
]

FORMS: dict[str, dict[str, Any]] = {
    "html": {"inline": True},
    "png": {"scale_factor": 2},
    "svg": {},
}
"""What charts are saved as, with Altair's options for each: the first draws without a network."""

WIDTH, HEIGHT = 520, 320
"""The size of a chart in pixels, unless it has another."""

_LINE = 14
"""The height of a line of text in pixels."""


class Charted:
    """Something an owner may look at as a chart."""

    def chart(self) -> "LayerChart":
        """An Altair chart, marked as not for release."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart as HTML that draws without a network, as PNG or as SVG, by the suffix.

        FileError beside a release.
        """
        save(self.chart(), path)


def library() -> Any:
    """Altair; ShoalError if it is not installed."""
    try:
        import altair
        import vl_convert  # noqa: F401  draws PNG, SVG and what HTML needs inside
    except ImportError:
        raise ShoalError(
            "charts need Altair", "install it with: pip install 'shoal[plots]'"
        ) from None
    return altair


def require(path: str | os.PathLike[str]) -> str:
    """The form a chart is saved in, by the suffix of the file; an error if it cannot be saved."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise ParameterError(
            f"{Path(path).name!r} is not a name for a chart", "let it end in .html, .png or .svg"
        )
    refuse_beside_a_release(path)
    library()
    return form


def save(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write a chart as HTML that draws without a network, as PNG or as SVG, by the suffix.

    FileError beside a release.
    """
    form = require(path)
    drawn = BytesIO() if form == "png" else StringIO()
    chart.save(drawn, format=form, **FORMS[form])
    content = drawn.getvalue()
    with replacing(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def layered(text: str, layers: Iterable[Any], **properties: Any) -> "LayerChart":
    """Layers as one chart under a title that says that it is not for release."""
    alt = library()
    title = alt.Title(text, subtitle=NOTICE, anchor="start")
    chart: LayerChart = alt.layer(*layers).properties(title=title, **properties)
    return chart


def stacked(text: str, drawn: Sequence[Any]) -> "VConcatChart":
    """Charts one below the other under a title that says that they are not for release."""
    alt = library()
    title = alt.Title(text, subtitle=NOTICE, anchor="start")
    sized = [chart.properties(width=WIDTH) for chart in drawn]
    chart: VConcatChart = alt.vconcat(*sized).properties(title=title)
    return chart


def utility_axis(name: str, title: str, *, whole: bool = True) -> Any:
    """A horizontal axis for shares of utility: from 0 to 1, or those that occur."""
    alt = library()
    scale = alt.Scale(zero=False, padding=20)
    if whole:
        scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format="%")
    return alt.X(f"{name}:Q", title=title, axis=axis, scale=scale)


def risk_axis(rows: Sequence[dict[str, Any]]) -> Any:
    """A vertical axis for the `risk` of some rows.

    Risks are of all sizes: the axis is logarithmic down to the smallest, and linear below it.
    """
    alt = library()
    risks = [row["risk"] for row in rows if row["risk"] > 0] or [1.0]
    lowest, highest = min(risks), max(risks)
    powers = range(ceil(log10(lowest)), floor(log10(highest)) + 1)
    ticks = [0, *(10.0**power for power in powers)]
    scale = alt.Scale(type="symlog", constant=lowest)
    axis = alt.Axis(format="~g", values=ticks)
    return alt.Y("risk:Q", title="risk", scale=scale, axis=axis)


def rule(label: str, at: Fraction, line: int = 0) -> list[Any]:
    """A vertical rule with a label at its foot, in the given line of text."""
    alt = library()
    mark = {"at": float(at), "label": f"{label}: {float(at):.1%}"}
    data = alt.Data(values=[mark])
    base = alt.Chart(data).encode(alt.X("at:Q"))
    # On the side of the rule where there is more room.
    side: dict[str, Any] = {"align": "left", "dx": 4}
    if at > Fraction(1, 2):
        side = {"align": "right", "dx": -4}
    height = alt.value(HEIGHT - 4 - _LINE * line)
    text = base.mark_text(baseline="bottom", **side)
    line = base.mark_rule(strokeDash=[4, 3], color="gray")
    return [line, text.encode(text="label:N", y=height)]
