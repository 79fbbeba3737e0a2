"""What charts are drawn from, for tests of pictures in any room."""

from collections.abc import Iterator
from typing import Any

from shoal.look import Picture, Zone
from shoal.look.drawing import svg


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """All rows that a chart is drawn from, of all its layers."""
    return list(_rows(chart.to_dict()))


def _rows(spec: Any) -> Iterator[dict[str, Any]]:
    if isinstance(spec, list):
        for part in spec:
            yield from _rows(part)
    elif isinstance(spec, dict):
        for key, part in spec.items():
            if key == "data" and "values" in part:
                yield from part["values"]
            else:
                yield from _rows(part)


def require_figures(picture: Picture, *columns: int) -> None:
    """The chart compiles, and has the figures of some columns of the table as they are there."""
    drawn = svg(picture.draw())
    for row in picture.rows:
        for column in columns:
            assert f"{row[column]}<" in drawn, row[column]


def require_zone(picture: Picture, zone: Zone) -> None:
    """The picture is of a zone in its page and as a chart, and shows no sign of the other."""
    assert picture.zone is zone
    owner = zone is Zone.OWNER
    assert (Zone.OWNER.short in picture.html()) is owner
    assert (Zone.OWNER.words in picture.chart().to_json(ensure_ascii=False)) is owner
