"""The few kinds of charts, always the same for the same thing, over plain rows.

Each gives an Altair chart without a title; axes have words, and labels stand where the things are.
Whatever differs in colour also differs in lightness, shape or words, so that nothing is lost in
grey. Uses `drawing`, `labels` and `palette`; rooms make `Picture`s of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, log1p, log10
from typing import Any

from shoal.arguments import typed
from shoal.exact.numbers import percent
from shoal.look.drawing import HEIGHT, WIDTH, library
from shoal.look.labels import LINE, apart, beside, width
from shoal.look.palette import HEAT, SERIES, colour

__all__ = [
    "ChartAxis",
    "HeatClass",
    "MapPoint",
    "Mark",
    "bars",
    "heat_classes",
    "heat_map",
    "histogram",
    "lines",
    "map_of",
    "number",
    "parts",
    "ranges",
    "shifts",
    "slopes",
]

_BAR = 16
"""The height of a horizontal bar."""

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3])
"""What tells lines apart besides their colour."""

_FACTORS = (2, 3, 4, 5, 10, 20, 50, *(10**power for power in range(2, 20)))
"""By how much classes of numbers may grow from one to the next."""

_FEW = 8
"""Values of an axis that can each have a tick."""

_RIM = {"stroke": colour("paper"), "strokeWidth": 4, "strokeJoin": "round"}
"""What keeps letters apart from the lines below them."""

_SHARES = "format(datum.value * 100, '.3~g') + ' %'"
"""How shares stand at an axis."""


def number(value: float) -> str:
    """A number as it stands beside a mark.

    >>> number(30162), number(2.5), number(0.00012)
    ('30,162', '2.5', '0.00012')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


@dataclass(frozen=True)
class ChartAxis:
    """An axis: its words, and how its values are written.

    shares: whether values are shares, shown in per cent
    log: whether each step multiplies; needs values above 0, or
    linear_below: where a scale that multiplies begins to add, down to 0
    ends: where it begins and ends; by default with the values
    ticks: where it has ticks; by default at round numbers
    """

    title: str
    shares: bool = False
    log: bool = False
    linear_below: float | None = None
    ends: tuple[float, float] | None = None
    ticks: tuple[float, ...] = ()

    def text(self, value: float) -> str:
        """A value as it stands beside a mark."""
        return percent(value) if self.shares else number(value)

    def drawn(self, channel: Any, field: str, *, zero: bool = True) -> Any:
        """The axis as a channel of Altair's."""
        alt = library()
        written: dict[str, Any] = {}
        if self.shares:
            written["labelExpr"] = _SHARES
        scale: dict[str, Any] = {"zero": zero, "nice": True}
        if self.ends is not None:
            scale = {"domain": list(self.ends), "nice": False}
        if self.log:
            scale |= {"type": "log", "zero": False}
            if self.ends is not None:
                written["values"] = _steps(self.linear_below or self.ends[0], self.ends[1])
        if self.log and self.linear_below:
            scale |= {"type": "symlog", "constant": self.linear_below}
            written["values"] = [0, *written.get("values", [])]
        if self.ticks:
            written["values"] = list(self.ticks)
        axis = alt.Axis(**written)
        return channel(f"{field}:Q", title=self.title, axis=axis, scale=alt.Scale(**scale))

    def place(self, value: float) -> float:
        """Where on the axis a value is, from 0 to 1."""
        assert self.ends is not None
        low, high, at = (self._straight(each) for each in (*self.ends, value))
        return (at - low) / (high - low) if high > low else 0.5

    def _straight(self, value: float) -> float:
        """A value on a scale on which all steps add."""
        if not self.log:
            return value
        return log1p(value / self.linear_below) if self.linear_below else log10(value)


def _steps(low: float, high: float) -> list[float]:
    """The ticks of an axis that multiplies: 1, 2, 5, 10 and so on; far apart, 1, 10, 100."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    factors = (1, 2, 5) if len(powers) < 5 else (1,)
    steps = (factor * 10.0**power for power in powers for factor in factors)
    return [step for step in steps if low <= step * (1 + 1e-9) and step <= high * (1 + 1e-9)]


@dataclass(frozen=True)
class Mark:
    """A limit, a choice or a finding: where on the axis it is, and what it is called."""

    at: float
    label: str


def _chart(rows: Sequence[Mapping[str, Any]]) -> Any:
    alt = library()
    return alt.Chart(alt.Data(values=list(rows)))


def _colour_of(series: str, place: int) -> str:
    """Before is grey and after is teal; others take the colours in their order."""
    if series in ("before", "after"):
        return colour(series)
    return colour(SERIES[place % len(SERIES)])


def _by(series: Sequence[str], channel: Any, colours: Sequence[str] = ()) -> Any:
    """The colours of some series, without a legend."""
    alt = library()
    codes = [_colour_of(name, place) for place, name in enumerate(series)]
    codes[: len(colours)] = map(colour, colours)
    scale = alt.Scale(domain=list(series), range=codes)
    return channel("of:N", scale=scale, legend=None, sort=None)


def _rules(marks: Sequence[Mark], axis: ChartAxis) -> list[Any]:
    """Vertical rules with their labels above the chart, those of neighbours in several lines."""
    alt = library()
    layers = []
    for line, mark in enumerate(sorted(marks, key=lambda mark: mark.at)):
        base = _chart([{"at": mark.at, "label": f"{mark.label} {axis.text(mark.at)}"}])
        base = base.encode(alt.X("at:Q"))
        rule = base.mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=colour("ink"))
        text = base.mark_text(align="left", baseline="bottom", dx=-2)
        top = alt.value(-4 - LINE * (len(marks) - 1 - line))
        layers += [rule, text.encode(text="label:N", y=top)]
    return layers


# Amounts


@typed
def bars(
    rows: Sequence[tuple[str, Mapping[str, float | None]]],
    axis: ChartAxis,
    *,
    marks: Sequence[Mark] = (),
    colours: Sequence[str] = (),
) -> Any:
    """Horizontal bars, one or several for each name, with their values beside them.

    rows: names, each with its value by series ("before" and "after"); none is drawn where it is
    None or not finite
    marks: thresholds
    colours: of the series, by their names in the palette; else by what they are called
    """
    alt = library()
    series = list(dict.fromkeys(name for _, values in rows for name in values))
    named = len(series) > 1
    drawn: list[dict[str, Any]] = []
    for row, (name, values) in enumerate(rows):
        for of, value in values.items():
            if value is None or not isfinite(value):
                continue
            # The first bars say which they are, so that no legend is needed.
            words = f"{of} " if named and not row else ""
            drawn.append(
                {"name": name, "of": of, "value": value, "label": words + axis.text(value)}
            )
    place = alt.Axis(labelLimit=260, ticks=False, domain=False, grid=False, labelPadding=8)
    down: list[Any] = [alt.Y("name:N", title=None, sort=None, axis=place)]
    if named:
        down.append(alt.YOffset("of:N", sort=series, scale=alt.Scale(domain=series)))
    base = _chart(drawn).encode(axis.drawn(alt.X, "value"), *down)
    filled = base.mark_bar(height=alt.RelativeBandSize(0.9 if named else 0.62))
    bar = filled.encode(_by(series, alt.Color, colours))
    labels = base.encode(text="label:N")
    rim, text = (labels.mark_text(align="left", dx=5, **look) for look in (_RIM, {}))
    # A label may reach over a threshold, which must not cross it out.
    layers = [bar, *_rules(marks, axis), rim, text]
    each = len(series) * _BAR + 12
    return alt.layer(*layers).properties(width=WIDTH - 160, height=max(len(rows), 1) * each)


@typed
def histogram(
    bins: Sequence[tuple[str, Mapping[str, float]]],
    x: str,
    y: ChartAxis,
    *,
    mark: tuple[int, str] | None = None,
    beyond: bool = False,
) -> Any:
    """Columns over bins in their order, with their values above them.

    bins: names, each with its value by series
    mark: the number of the bin before which a rule stands, and what it says; with one series, the
    columns before it stand out, or those
    beyond: it
    """
    alt = library()
    series = list(dict.fromkeys(name for _, values in bins for name in values))
    named = len(series) > 1
    drawn: list[dict[str, Any]] = []
    for at, (name, values) in enumerate(bins):
        for of, value in values.items():
            out = mark is not None and (at < mark[0]) is not beyond
            label = y.text(value) if value else ""
            drawn.append({"name": name, "of": of, "value": value, "out": out, "label": label})
    names = [name for name, _ in bins]
    place = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False, grid=False)
    scale = alt.Scale(domain=names, paddingInner=0.12, paddingOuter=0.1)
    across: list[Any] = [alt.X("name:O", title=x, sort=None, axis=place, scale=scale)]
    if named:
        across.append(alt.XOffset("of:N", sort=series, scale=alt.Scale(domain=series)))
    top = max((row["value"] for row in drawn), default=0)
    # Room for the labels above the highest columns.
    high = replace(y, ends=y.ends or (0, top * 1.1 or 1))
    base = _chart(drawn).encode(*across, high.drawn(alt.Y, "value"))
    ways = [colour("after"), colour("orange")]
    shown = _by(series, alt.Color)
    if not named:
        shown = alt.Color("out:N", scale=alt.Scale(domain=[False, True], range=ways), legend=None)
    layers = [base.mark_bar().encode(shown)]
    # Labels of narrow columns would cover each other.
    longest = max((width(row["label"]) for row in drawn), default=0.0)
    if len(drawn) * (longest + 4) <= WIDTH:
        layers.append(base.mark_text(dy=-7).encode(text="label:N"))
    if named:
        layers += _keys(series)
    if mark is not None:
        layers += _before(names, mark, len(names))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _keys(series: Sequence[str]) -> list[Any]:
    """The names of the series above the chart at its right, each beside its colour."""
    alt = library()
    layers = []
    right = WIDTH
    for place, name in reversed(list(enumerate(series))):
        base = _chart([{"name": name}])
        right -= round(width(name)) + 4
        text = base.mark_text(align="left", baseline="middle")
        square = base.mark_square(size=90, color=_colour_of(name, place), opacity=1)
        layers.append(text.encode(text="name:N", x=alt.value(right), y=alt.value(-26)))
        right -= 10
        layers.append(square.encode(x=alt.value(right), y=alt.value(-26)))
        right -= 16
    return layers


def _before(names: Sequence[str], mark: tuple[int, str], bins: int) -> list[Any]:
    """A rule between two bins, with its label above the chart."""
    alt = library()
    at, label = mark
    name, edge, aside = (names[at], 0, -4) if at < bins else (names[-1], 1, 4)
    base = _chart([{"name": name, "label": label}])
    base = base.encode(alt.X("name:O", sort=None, bandPosition=edge))
    rule = base.mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=colour("ink"), xOffset=aside)
    side: dict[str, Any] = {"align": "left", "dx": -2}
    if at > bins / 2:
        side = {"align": "right", "dx": 2}
    text = base.mark_text(baseline="bottom", **side)
    return [rule, text.encode(text="label:N", y=alt.value(-4))]


@typed
def parts(shares: Sequence[tuple[str, float]]) -> Any:
    """One bar of a whole in its parts, each with its name and share above it."""
    alt = library()
    start = 0.0
    drawn = []
    for place, (name, share) in enumerate(shares):
        label = f"{name} {percent(share)}"
        drawn.append(
            {"of": name, "start": start, "stop": start + share, "label": label, "row": place}
        )
        start += share
    whole = ChartAxis("", shares=True, ends=(0, 1))
    codes = [colour(("after", "faded", "before")[place % 3]) for place in range(len(shares))]
    scale = alt.Scale(domain=[name for name, _ in shares], range=codes)
    across = whole.drawn(alt.X, "start").title(None)
    base = _chart(drawn).encode(across)
    filled = base.mark_bar(height=34).encode(
        alt.X2("stop"), alt.Color("of:N", scale=scale, legend=None), y=alt.value(20)
    )
    # The first label begins with its part, the last ends with it: none runs into another.
    first = base.transform_filter("datum.row == 0").mark_text(align="left", dx=1)
    last = base.transform_filter("datum.row > 0").mark_text(align="right", dx=-1)
    layers = [
        filled,
        first.encode(text="label:N", y=alt.value(-8)),
        last.encode(alt.X("stop:Q"), text="label:N", y=alt.value(-8)),
    ]
    return alt.layer(*layers).properties(width=WIDTH - 40, height=40)


# Points and lines


@dataclass(frozen=True)
class MapPoint:
    """A candidate on a map of two figures.

    beaten: whether another one is better; None if that is not said of it
    this: whether it is the one that all is about
    """

    name: str
    x: float
    y: float
    beaten: bool | None = False
    this: bool = False

    @property
    def state(self) -> str:
        """What its shape says."""
        if self.this:
            return "this"
        if self.beaten is None:
            return "aside"
        return "beaten" if self.beaten else "unbeaten"


@typed
def map_of(points: Sequence[MapPoint], x: ChartAxis, y: ChartAxis) -> Any:
    """A map of candidates: more is better to the right, less is better below.

    Those that are not beaten are filled; the frontier joins those of them that no other beats in
    both figures.
    """
    alt = library()
    x, y = (_around(x, [p.x for p in points]), _around(y, [p.y for p in points]))
    places = [(x.place(point.x) * WIDTH, HEIGHT - y.place(point.y) * HEIGHT) for point in points]
    # Those that matter get the first choice of places.
    order = sorted(range(len(points)), key=lambda at: (bool(points[at].beaten), at))
    labels = beside(
        [places[at] for at in order], [points[at].name for at in order], (WIDTH, HEIGHT)
    )
    rows = []
    for at, label in zip(order, labels, strict=True):
        point = points[at]
        rows.append(
            {
                "name": point.name,
                "x": point.x,
                "y": point.y,
                "state": point.state,
                "dx": label.x,
                "dy": label.y,
                "align": label.align,
            }
        )
    frontier = [{"x": at, "y": up, "rank": rank} for rank, (at, up) in enumerate(_frontier(points))]
    states = {
        "this": ("diamond", 190, colour("vermilion"), colour("ink")),
        "unbeaten": ("circle", 80, colour("after"), colour("after")),
        "beaten": ("circle", 60, colour("paper"), colour("before")),
        "aside": ("square", 60, colour("paper"), colour("ink")),
    }

    def by(channel: Any, at: int) -> Any:
        ways = [state[at] for state in states.values()]
        return channel("state:N", scale=alt.Scale(domain=list(states), range=ways), legend=None)

    base = _chart(rows).encode(x.drawn(alt.X, "x"), y.drawn(alt.Y, "y"))
    line = _chart(frontier).mark_line(interpolate="step-before", strokeWidth=1.5, opacity=0.6)
    joined = line.encode(x.drawn(alt.X, "x"), y.drawn(alt.Y, "y"), order="rank:Q")
    marks = base.mark_point(opacity=1, strokeWidth=1.5).encode(
        by(alt.Shape, 0), by(alt.Size, 1), by(alt.Fill, 2), by(alt.Stroke, 3)
    )
    pixels = (alt.X("dx:Q", scale=None, axis=None), alt.Y("dy:Q", scale=None, axis=None))
    rims, texts = [], []
    for align in ("left", "center", "right"):
        for faded in (False, True):
            shown = f"datum.align == '{align}' && (datum.state == 'beaten') == {str(faded).lower()}"
            look = {"color": colour("muted")} if faded else {}
            names = _chart(rows).transform_filter(shown).encode(*pixels, text="name:N")
            rims.append(names.mark_text(align=align, **_RIM))
            texts.append(names.mark_text(align=align, **look))
    # Names stand on the line, but never on a point.
    return alt.layer(joined, *rims, marks, *texts).properties(width=WIDTH, height=HEIGHT)


def _frontier(points: Sequence[MapPoint]) -> list[tuple[float, float]]:
    """The places of unbeaten points that no other one beats in both figures, from left to right."""
    best: list[tuple[float, float]] = []
    unbeaten = {(point.x, point.y) for point in points if point.beaten is False}
    for at, up in sorted(unbeaten, key=lambda place: (-place[0], place[1])):
        if not best or up < best[-1][1]:
            best.append((at, up))
    return best[::-1]


def _around(axis: ChartAxis, values: Sequence[float]) -> ChartAxis:
    """An axis with ends around all values, some room left at both."""
    if axis.ends is not None or not values:
        return axis
    low, high = min(values), max(values)
    most = 1.0 if axis.shares and high <= 1 else inf
    if axis.log:
        return replace(axis, ends=(low / 1.6, min(high * 1.6, most)))
    room = (high - low) * 0.12 or max(abs(high) * 0.1, 0.02)
    return replace(axis, ends=(max(low - room, min(low, 0.0)), min(high + room, most)))


@typed
def lines(
    points: Sequence[tuple[str, float, float]],
    x: ChartAxis,
    y: ChartAxis,
    *,
    step: bool = False,
    marks: Sequence[Mark] = (),
    texts: Sequence[tuple[float, float, str]] = (),
) -> Any:
    """Lines over an axis, each with its name at its end.

    points: the name of the line, and a place on it
    step: whether values hold until the next place
    marks: vertical rules
    texts: what stands above some places
    """
    alt = library()
    points = [point for point in points if isfinite(point[2])]
    x, y = _exactly(x, [at for _, at, _ in points]), _spanning(y, [up for *_, up in points])
    series = list(dict.fromkeys(of for of, _, _ in points))
    rows = [{"of": of, "x": at, "y": value} for of, at, value in points]
    way = "step-before" if step else "linear"
    base = _chart(rows).encode(x.drawn(alt.X, "x", zero=False), y.drawn(alt.Y, "y"))
    dashes = [list(_DASHES[place % len(_DASHES)]) for place in range(len(series))]
    dash = alt.StrokeDash(
        "of:N", legend=None, sort=None, scale=alt.Scale(domain=series, range=dashes)
    )
    dots = base.mark_point(size=26, opacity=1).encode(_by(series, alt.Color))
    drawn = base.mark_line(interpolate=way, strokeWidth=2).encode(_by(series, alt.Color), dash)
    layers = [drawn] if len(rows) > 60 * len(series) else [drawn, dots]
    if len(series) > 1:
        layers += _ends(rows, series, x, y)
    if texts and x.ends is not None:
        layers += _named(texts, x, y, (WIDTH - 60.0, float(HEIGHT)))
    layers += _rules(marks, x)
    return alt.layer(*layers).properties(width=WIDTH - 60, height=HEIGHT)


def _exactly(axis: ChartAxis, values: Sequence[float]) -> ChartAxis:
    """An axis with its ends at its values, and ticks at them if they are few and multiply."""
    places = tuple(sorted(set(values)))
    if axis.ends is not None or len(places) < 2:
        return axis
    ticks = places if axis.log and len(places) <= _FEW else ()
    return replace(axis, ends=(places[0], places[-1]), ticks=ticks)


def _spanning(axis: ChartAxis, values: Sequence[float]) -> ChartAxis:
    """An upright axis with ends: from 0, or from the least value where steps multiply.

    Where some values are 0, it multiplies above the least of the others only.
    """
    if axis.ends is not None or not values:
        return axis
    top = max(values)
    if not axis.log or not top:
        return replace(axis, log=False, ends=(min(0.0, *values), top * 1.05 or 1.0))
    least = min(value for value in values if value > 0)
    if min(values) <= 0:
        return replace(axis, linear_below=least, ends=(0.0, top * 1.2))
    return replace(axis, ends=(least / 1.2, top * 1.2))


def _ends(
    rows: Sequence[Mapping[str, Any]], series: Sequence[str], x: ChartAxis, y: ChartAxis
) -> list[Any]:
    """The names of lines beside their ends, apart from each other."""
    alt = library()
    last = []
    for name in series:
        own = [row for row in rows if row["of"] == name]
        last.append(max(own, key=lambda row: row["x"]))
    places = [HEIGHT - HEIGHT * y.place(row["y"]) for row in last]
    layers = []
    for row, place, down in zip(last, places, apart(places), strict=True):
        text = _chart([row]).mark_text(align="left", dx=8, dy=round(down - place, 1))
        layers.append(
            text.encode(x.drawn(alt.X, "x", zero=False), y.drawn(alt.Y, "y"), text="of:N")
        )
    return layers


@typed
def slopes(rows: Sequence[tuple[float, float]], ends: tuple[str, str], title: str) -> Any:
    """Lines from a share to another, as from a belief before to one after.

    rows: both shares
    ends: what stands below either side
    """
    alt = library()
    axis = ChartAxis(title, shares=True, ends=(0, 1))
    before = apart([HEIGHT * (1 - low) for low, _ in rows])
    after = apart([HEIGHT * (1 - high) for _, high in rows])
    marks: list[dict[str, Any]] = []
    for at, shares in enumerate(rows):
        for side, share, places in zip(ends, shares, (before, after), strict=True):
            marks.append(
                {"row": at, "side": side, "share": share, "dy": places[at], "label": percent(share)}
            )
    place = alt.Axis(labelAngle=0, ticks=False, labelPadding=8, grid=False, domain=False)
    scale = alt.Scale(domain=list(ends), paddingOuter=0.45)
    across = alt.X("side:O", title=None, sort=None, axis=place, scale=scale)
    base = _chart(marks).encode(across, axis.drawn(alt.Y, "share"), alt.Detail("row:N"))
    layers = [base.mark_line(strokeWidth=2), base.mark_point(size=50, opacity=1)]
    for side, align, dx in ((ends[0], "right", -9), (ends[1], "left", 9)):
        text = _chart([mark for mark in marks if mark["side"] == side])
        text = text.mark_text(align=align, dx=dx)
        layers.append(text.encode(across, alt.Y("dy:Q", scale=None, axis=None), text="label:N"))
    return alt.layer(*layers).properties(width=WIDTH * 0.7, height=HEIGHT)


@typed
def ranges(rows: Sequence[tuple[str, float, float]], axis: ChartAxis) -> Any:
    """What each figure lies between: a bar from low to high, with both ends beside it."""
    alt = library()
    drawn = [
        {
            "name": name,
            "low": low,
            "high": high,
            "label": axis.text(low) if low == high else f"{axis.text(low)} to {axis.text(high)}",
        }
        for name, low, high in rows
    ]
    down = _names()
    base = _chart(drawn).encode(axis.drawn(alt.X, "low"), down)
    filled = base.mark_bar(height=12, cornerRadius=6).encode(alt.X2("high"))
    # A range of no width still shows.
    narrow = base.transform_filter("datum.low == datum.high")
    ticks = narrow.mark_tick(thickness=4, size=14, color=colour("after"))
    text = base.mark_text(align="left", dx=10).encode(alt.X("high:Q"), text="label:N")
    height = max(len(rows), 1) * 30
    return alt.layer(filled, ticks, text).properties(width=WIDTH - 160, height=height)


@typed
def shifts(rows: Sequence[tuple[str, float, float | None, float | None]], axis: ChartAxis) -> Any:
    """For each name a line from before (a ring) to after (a dot), with a tick at what is allowed.

    rows: name, before, after and limit; without after, only the first is drawn
    """
    alt = library()
    spans, marks = [], []
    for name, before, after, limit in rows:
        if after is not None:
            spans.append({"name": name, "before": before, "after": after})
        first = "before" if after is not None else "now"
        for what, place in ((first, before), ("after", after), ("allowed", limit)):
            if place is not None:
                marks.append({"name": name, "at": place, "what": what})
    names = ["before", "now", "after", "allowed"]

    def by(channel: Any, ways: list[Any]) -> Any:
        scale = alt.Scale(domain=names, range=ways)
        return channel("what:N", sort=names, scale=scale, legend=None)

    down = _names()
    across = axis.drawn(alt.X, "at")
    points = _chart(marks).encode(down, across)
    paper, ink = colour("paper"), colour("ink")
    drawn = points.mark_point(opacity=1, strokeWidth=2).encode(
        by(alt.Shape, ["circle", "circle", "circle", "M0,-1V1"]),
        by(alt.Size, [120, 90, 90, 260]),
        by(alt.Stroke, [colour("before"), colour("after"), colour("after"), ink]),
        by(alt.Fill, [paper, colour("after"), colour("after"), paper]),
    )
    layers = [drawn]
    for mark, side in _words(marks):
        word = _chart([mark]).encode(down, across)
        layers.append(word.mark_text(**side).encode(text="what:N"))
    if spans:
        rule = _chart(spans).mark_rule(color=colour("before"), strokeWidth=1.5)
        layers.insert(0, rule.encode(down, alt.X("before:Q"), alt.X2("after")))
    height = max(len(rows), 1) * 24 + 14
    return alt.layer(*layers).properties(width=WIDTH - 200, height=height)


def _words(
    marks: Sequence[dict[str, Any]],
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What the marks of the first row are, each with the place of the word.

    The limit stands above the others, which look away from each other.
    """
    first = sorted(
        (mark for mark in marks if mark["name"] == marks[0]["name"]), key=lambda mark: mark["at"]
    )
    own = [mark for mark in first if mark["what"] != "allowed"]
    sides = ("right", "left") if len(own) > 1 else ("center",)
    placed = []
    for mark in first:
        side: dict[str, Any] = {"dy": -15 - LINE}
        if mark in own:
            align = sides[own.index(mark)]
            side = {"dy": -15, "align": align, "dx": {"right": 8, "left": -8, "center": 0}[align]}
        placed.append((mark, side))
    return placed


def _names() -> Any:
    """The names of rows, in their order."""
    alt = library()
    axis = alt.Axis(labelLimit=300, ticks=False, domain=False, grid=False, labelPadding=8)
    return alt.Y("name:N", title=None, sort=None, axis=axis)


# Many things at once


@typed
def heat_map(
    points: Sequence[tuple[float, float, int]],
    x: ChartAxis,
    y: ChartAxis,
    *,
    step: float,
    marks: Sequence[tuple[float, float, str]] = (),
    limits: Sequence[Mark] = (),
    unit: str = "number",
) -> Any:
    """How many things are where, in squares of a grid over shares; empty squares stay empty.

    points: the lower left corner of each square that has any, and how many
    step: the side of a square
    marks: places with their names, the first as a diamond, others as rings
    limits: vertical rules
    """
    alt = library()
    classes = heat_classes(max((count for _, _, count in points), default=1))
    names = [each.name for each in classes]
    rows = []
    for left, low, count in points:
        name = next(each.name for each in reversed(classes) if count >= each.least)
        rows.append({"x": left, "x2": left + step, "y": low, "y2": low + step, "class": name})
    scale = alt.Scale(domain=names, range=[colour(each.shade) for each in classes])
    legend = alt.Legend(title=unit, orient="right", symbolType="square", symbolStrokeWidth=0)
    squares = (
        _chart(rows)
        .mark_rect()
        .encode(
            x.drawn(alt.X, "x"),
            alt.X2("x2"),
            y.drawn(alt.Y, "y"),
            alt.Y2("y2"),
            alt.Color("class:O", scale=scale, legend=legend, sort=names),
        )
    )
    layers = [squares, *_rules(limits, x)]
    height = HEIGHT + 60
    if marks:
        layers += _marked(marks, x, y, height)
    return alt.layer(*layers).properties(width=WIDTH - 120, height=height)


@dataclass(frozen=True)
class HeatClass:
    """Counts that have the same shade, from the least one on."""

    least: int
    name: str
    shade: str


def heat_classes(most: int) -> list[HeatClass]:
    """The classes of counts up to the largest, each with its name and shade.

    >>> [(each.least, each.name, each.shade) for each in heat_classes(3)]
    [(1, '1', 'heat-1'), (2, '2–3', 'heat-5')]
    """
    # Each class begins with a round multiple of the one before.
    factor = next(one for one in _FACTORS if one ** len(HEAT) > most)
    edges = [factor**power for power in range(len(HEAT)) if factor**power <= most]
    # A few classes are spread over all shades.
    last = max(len(edges) - 1, 1)
    return [
        HeatClass(low, _between(low, high - 1), HEAT[round(at * (len(HEAT) - 1) / last)])
        for at, (low, high) in enumerate(zip(edges, [*edges[1:], most + 1], strict=True))
    ]


def _between(low: int, high: int) -> str:
    return number(low) if low == high else f"{number(low)}–{number(high)}"


def _marked(
    marks: Sequence[tuple[float, float, str]], x: ChartAxis, y: ChartAxis, height: int
) -> list[Any]:
    """Places on a map with their names, legible on whatever is below them."""
    alt = library()
    layers = []
    for at, (across, up, _) in enumerate(marks):
        shape = ("diamond", 170) if at == 0 else ("circle", 130)
        point = _chart([{"x": across, "y": up}]).mark_point(
            shape=shape[0],
            size=shape[1],
            fill=colour("paper"),
            stroke=colour("ink"),
            strokeWidth=2,
            opacity=1,
        )
        layers.append(point.encode(x.drawn(alt.X, "x"), y.drawn(alt.Y, "y")))
    return layers + _named(marks, x, y, (WIDTH - 120.0, float(height)), rim=True)


def _named(
    marks: Sequence[tuple[float, float, str]],
    x: ChartAxis,
    y: ChartAxis,
    size: tuple[float, float],
    *,
    rim: bool = False,
) -> list[Any]:
    """The names of places beside them, apart from each other.

    rim: of the colour of paper, which keeps the letters apart from what is below them
    """
    alt = library()
    places = [(x.place(at) * size[0], size[1] - y.place(up) * size[1]) for at, up, _ in marks]
    layers = []
    for (*_, name), label in zip(
        marks, beside(places, [name for *_, name in marks], size), strict=True
    ):
        written = _chart([{"x": label.x, "y": label.y, "name": name}])
        channels = (alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None))
        looks: list[dict[str, Any]] = [{}]
        if rim:
            looks = [{**_RIM, "fontWeight": "bold"}, {"fontWeight": "bold"}]
        for look in looks:
            text = written.mark_text(align=label.align, **look)
            layers.append(text.encode(*channels, text="name:N"))
    return layers
