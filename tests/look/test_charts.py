"""The kinds of charts: each draws, has the figures it was given, and can be told apart in grey."""

import json
from collections.abc import Callable
from math import inf
from typing import Any

import pytest

from shoal.look import Picture, Zone, drawing
from shoal.look.charts import (
    ChartAxis,
    MapPoint,
    Mark,
    bars,
    heat_map,
    histogram,
    lines,
    map_of,
    parts,
    ranges,
    shifts,
    slopes,
)

RISK = ChartAxis("risk", shares=True)
WHOLE = ChartAxis("share", shares=True, ends=(0, 1))
PAIRS: list[tuple[str, dict[str, float | None]]] = [
    ("age", {"before": 0.25, "after": 0.125}),
    ("sex", {"before": 0.5, "after": None}),
]
SIZES = [("1", {"": 43.0}), ("2–4", {"": 20.0}), ("5–9", {"": 300.0})]
POINTS = [
    MapPoint("input", 1.0, 1.0, None),
    MapPoint("five", 0.55, 0.2),
    MapPoint("worse", 0.5, 0.2, True),
    MapPoint("ours", 0.4, 0.01, this=True),
]

KINDS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "bars": (
        lambda: bars(PAIRS, RISK, marks=[Mark(0.2, "threshold")]),
        ["before 25 %", "after 12.5 %", "50 %"],
    ),
    "one bar each": (lambda: bars([("all", {"": 3.0})], ChartAxis("records")), ["all", "3"]),
    "histogram": (
        lambda: histogram(SIZES, "size", ChartAxis("records"), mark=(2, "groups of 5")),
        ["43", "300", "groups of 5"],
    ),
    "histogram of two": (
        lambda: histogram([("1", {"before": 4, "after": 0})], "size", ChartAxis("records")),
        ["before", "after"],
    ),
    "parts": (lambda: parts([("drawn", 0.59), ("not", 0.41)]), ["drawn 59 %", "not 41 %"]),
    "map": (lambda: map_of(POINTS, WHOLE, ChartAxis("risk", log=True)), ["five", "worse", "ours"]),
    "lines": (
        lambda: lines(
            [("mean", 0, 0.1), ("mean", 1, 0.4), ("highest", 0, 0.5), ("highest", 1, 1)],
            ChartAxis("x"),
            RISK,
            marks=[Mark(0.3, "half")],
        ),
        ["mean", "highest", "half 0.3"],
    ),
    "slopes": (lambda: slopes([(0.5, 0.73)], ("before", "after"), "belief"), ["50 %", "73 %"]),
    "ranges": (lambda: ranges([("tree", 0.5, 0.7), ("both", 0.2, 0.2)], WHOLE), ["50 % to 70 %"]),
    "shifts": (lambda: shifts([("Ann", 0.8, 0.5, 0.6)], WHOLE), ["before", "after", "allowed"]),
    "shifts of one": (lambda: shifts([("Ann", 0.8, None, 0.6)], WHOLE), ["now", "allowed"]),
    "heat map": (
        lambda: heat_map(
            [(0.0, 0.5, 1), (0.5, 0.5, 40)], WHOLE, WHOLE, step=0.5, marks=[(0.1, 0.6, "best")]
        ),
        ["best", "1–2", "27–40"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_draws_and_says_its_figures(kind: str) -> None:
    draw, texts = KINDS[kind]
    drawn = drawing.svg(draw())
    assert drawn.startswith("<svg ")
    for text in texts:
        assert f">{text}<" in drawn, text


def test_what_is_not_known_has_no_bar() -> None:
    spec = json.dumps(bars(PAIRS, RISK).to_dict())
    assert spec.count('"of": "after"') == 1


def test_columns_before_the_mark_look_different() -> None:
    rows = histogram(SIZES, "size", ChartAxis("records"), mark=(2, "x")).to_dict()["layer"][0]
    assert [row["out"] for row in rows["data"]["values"]] == [True, True, False]


def test_the_frontier_joins_those_that_nobody_beats() -> None:
    chart = map_of(POINTS, WHOLE, RISK).to_dict()
    frontier = chart["layer"][0]["data"]["values"]
    assert [(row["x"], row["y"]) for row in frontier] == [(0.4, 0.01), (0.55, 0.2)]


def test_states_of_a_map_differ_in_shape_or_fill() -> None:
    layers = map_of(POINTS, WHOLE, RISK).to_dict()["layer"]
    [points] = [layer["encoding"] for layer in layers if "shape" in layer["encoding"]]
    pairs = zip(points["shape"]["scale"]["range"], points["fill"]["scale"]["range"], strict=True)
    assert len(set(pairs)) == 4


@pytest.mark.parametrize(
    "chart",
    [
        map_of(POINTS, WHOLE, RISK),
        bars([("a", {"before": 0.9, "after": 0.1})], RISK, marks=[Mark(0.2, "threshold")]),
    ],
)
def test_no_line_crosses_out_a_label(chart: Any) -> None:
    kinds = [layer["mark"] for layer in chart.to_dict()["layer"]]
    rims = [at for at, mark in enumerate(kinds) if "stroke" in mark and mark["type"] == "text"]
    lines = [at for at, mark in enumerate(kinds) if mark["type"] in ("line", "rule")]
    assert rims
    assert max(lines) < min(rims)


def test_lines_differ_in_more_than_their_colour() -> None:
    chart = lines([("a", 0, 0), ("b", 0, 1), ("c", 1, 1)], ChartAxis("x"), ChartAxis("y")).to_dict()
    dashes = chart["layer"][0]["encoding"]["strokeDash"]["scale"]["range"]
    assert len({tuple(dash) for dash in dashes}) == 3


def test_a_heat_map_has_a_node_for_each_square_and_not_for_each_thing() -> None:
    drawn = drawing.svg(heat_map([(0.0, 0.0, 10**6)], WHOLE, WHOLE, step=0.05))
    assert drawn.count("<path") < 60


def test_charts_of_nothing_still_draw() -> None:
    for chart in (bars([], RISK), histogram([], "size", RISK), shifts([], WHOLE)):
        assert drawing.svg(chart).startswith("<svg ")


def test_what_is_infinite_is_not_drawn() -> None:
    charts = [
        bars([("a", {"": inf}), ("b", {"": 1.0})], ChartAxis("error")),
        lines([("", 0, 1), ("", 1, inf), ("", 2, 3)], ChartAxis("x"), ChartAxis("error")),
    ]
    for chart in charts:
        assert "Infinity" not in chart.to_json()
        assert drawing.svg(chart).startswith("<svg ")


STRANGE = '<script>alert("x")</script> & ]]> \' é \u202e #0e7c7b datum.x {{y}}'


def test_texts_in_a_drawing_are_texts() -> None:
    picture = Picture(
        STRANGE,
        STRANGE,
        [STRANGE],
        [[STRANGE]],
        lambda: bars([(STRANGE, {STRANGE: 1.0, "b": 2.0})], ChartAxis(STRANGE)),
        Zone.RELEASED,
    )
    assert "<script" not in picture.html()
    assert "<script" not in drawing.svg(picture.draw())
    assert "<script" not in drawing.content(picture.chart(), "svg").decode()
