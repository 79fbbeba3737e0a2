"""Labels stay apart, in their order, and within the chart."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shoal.look.labels import LINE, apart, beside, width

PLACES = st.lists(st.floats(0, 260), max_size=9)


@given(PLACES)
def test_labels_are_a_line_apart_and_keep_their_order(places: list[float]) -> None:
    moved = apart(places)
    inside = sorted(moved)
    assert all(b - a >= LINE - 1e-6 for a, b in pairwise(inside))
    for i, one in enumerate(places):
        for j, other in enumerate(places):
            assert not (one < other and moved[i] > moved[j])


def test_labels_that_are_apart_stay_where_they_are() -> None:
    assert apart([100.0, 0.0]) == [100.0, 0.0]


def test_labels_of_neighbours_do_not_cover_each_other() -> None:
    points = [(100.0, 100.0), (104.0, 102.0), (108.0, 98.0)]
    texts = ["first one", "second one", "third one"]
    spans = []
    for text, label in zip(texts, beside(points, texts, (400, 260)), strict=True):
        left = {"left": 0.0, "center": 0.5, "right": 1.0}[label.align] * width(text)
        spans.append((label.x - left, label.y))
    for i, (left, y) in enumerate(spans):
        for j, (other, down) in enumerate(spans):
            if i < j:
                across = left < other + width(texts[j]) and other < left + width(texts[i])
                assert not (across and abs(y - down) < LINE)


def test_a_label_at_the_edge_stands_inside() -> None:
    [label] = beside([(398.0, 100.0)], ["a long name"], (400, 260))
    assert label.align == "right"
