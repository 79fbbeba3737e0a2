"""Pictures: the finding, the drawing and the table, and what is left without Altair."""

import re
from functools import partial
from typing import Any
from xml.etree import ElementTree

import pytest

from shoal.errors import ShoalError
from shoal.look import drawing
from shoal.look.charts import ChartAxis, bars
from shoal.look.palette import colour
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone


def _bars() -> Any:
    alt = drawing.library()
    values = alt.Data(values=[{"size": 3, "groups": 2}, {"size": 4, "groups": 1}])
    return alt.Chart(values).mark_bar().encode(x="size:O", y="groups:Q")


def _picture(rows: int = 2, zone: Zone = Zone.OWNER) -> Picture:
    table = [[size, size * 7] for size in range(rows)]
    return Picture("All <groups>", "Bars are groups.", ["size", "groups"], table, _bars, zone)


def test_a_picture_has_its_words_its_drawing_and_its_table() -> None:
    shown = _picture().html()
    assert 'aria-label="All &lt;groups&gt;. Bars are groups."' in shown
    assert "<svg" in shown
    assert shown.count("<tr>") == 3
    assert "All <groups>" not in shown


def test_a_drawing_takes_the_colours_of_its_page_or_keeps_its_own() -> None:
    assert "var(--after)" in _picture().html()
    plain = _picture().html(variables=False)
    assert colour("after") in plain
    assert "var(" not in plain


HOSTILE = ("x\x01", "x\x00y", "\u202ex", "</text><script>", "#0b6e6e", "l" * 3000, "a\" b='")
"""Names that break an SVG, its direction, its page or its colours, if anything lets them."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_can_be_anything(name: str) -> None:
    rows = [(name, {"": 0.5})]
    drawn = Picture("t", "s", ["n"], [[name]], partial(bars, rows, ChartAxis(name)), Zone.OWNER)
    shown = drawn.html()
    assert not re.search("<script|[\x00-\x08\u202e]", shown)
    assert "var(--accent)" not in shown
    for form in drawing.FORMS:
        written = drawing.content(drawn.chart(), form)
        assert form == "html" or b"<script" not in written
    ElementTree.fromstring(drawing.content(drawn.chart(), "svg"))


def test_a_long_table_can_be_opened() -> None:
    assert "<details>" in _picture(rows=40).html()
    assert "<details>" not in _picture(rows=4).html()


def test_a_chart_for_the_owner_says_so() -> None:
    assert Zone.OWNER.words in _picture().chart().to_json()
    assert Zone.OWNER.words not in _picture(zone=Zone.RELEASED).chart().to_json()


def test_without_altair_the_table_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "available", lambda: False)
    shown = _picture().html()
    assert "shoal[plots]" in shown
    assert "<svg" not in shown.replace(Zone.OWNER.sign, "")
    assert shown.count("<tr>") == 3
    with pytest.raises(ShoalError, match="Altair"):
        _picture().chart()


def test_two_drawings_share_no_names() -> None:
    names = [part.split('"')[0] for part in _picture().html().split(' id="')[1:]]
    assert all(name.startswith("p") for name in names)
