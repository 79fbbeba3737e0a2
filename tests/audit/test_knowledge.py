"""How closely values are known, as the owner sees it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
import shoal.audit.knowledge as module
from shoal.audit import Secret
from shoal.audit.knowledge import WidthBin, knowledge
from shoal.look import Zone
from tests.look.drawn import require_zone, rows_of

FRAME = pl.DataFrame(
    {"name": list("abcdefgh"), "dept": list("XXXXYYYY"), "pay": [5, 6, 4, 7, 3, 5, 8, 2]}
)


def audit(place: Path, **given: Any) -> shoal.Audit:
    table = shoal.table(FRAME, types={"name": "text", "pay": "integer"})
    return shoal.Audit.new(place, table, Secret("pay", **given), public=["name", "dept"])


def widths(audited: shoal.Audit) -> dict[str, int]:
    [column] = knowledge(audited)
    return {each.low: each.people for each in column.bins if each.people}


def test_nothing_is_shown_before_anything_is_asked(tmp_path: Path) -> None:
    assert knowledge(audit(tmp_path / "a", low=0, high=10)) == ()


def test_sums_narrow_the_values_of_those_they_are_about(tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    audited = audit(tmp_path / "a", low=0, high=10, dither=True)
    audited.ask("sum(pay) where dept = 'X'")
    assert widths(audited) == {"8": 8}
    assert not audited.ask("sum(pay) where name in ('a', 'h')").denied
    audited.ask("sum(pay) where name in ('e', 'h')")
    [column] = knowledge(audited)
    assert column.exact
    # e and h have at most 5 together, and a what h leaves of 7
    assert widths(audited) == {"4": 3, "8": 5}
    assert column.bins[-1] == WidthBin("8", None, 5)


def test_widths_of_many_cells_are_lower_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited = audit(tmp_path / "a", low=0, high=10, dither=True)
    audited.ask("sum(pay) where dept = 'X'")
    monkeypatch.setattr(module, "SOLVED", 0)
    [column] = knowledge(audited)
    assert not column.exact
    assert sum(each.people for each in column.bins) == 8


@pytest.mark.parametrize(
    # from 0 to 7, and from 0 to 14; or from 4 to 14
    ("family", "shown"),
    [("max", {"4": 4, "8": 4}), ("min", {"8": 8})],
)
def test_extremes_bound_the_values_of_those_they_are_about(
    tmp_path: Path, family: Any, shown: dict[str, int]
) -> None:
    audited = audit(tmp_path / "a", family=family, low=0, high=14, integers=False)
    audited.ask(f"{family}(pay) where dept = 'X'")
    assert widths(audited) == shown


def test_without_bounds_values_are_as_far_apart_as_can_be(tmp_path: Path) -> None:
    audited = audit(tmp_path / "a")
    audited.ask("sum(pay)")
    [column] = knowledge(audited)
    assert column.to_dict()["widths"] == [{"low": "1", "high": None, "people": 8}]


def test_widths_are_also_a_chart_for_the_owner(tmp_path: Path) -> None:
    audited = audit(tmp_path / "a", low=0, high=10)
    audited.ask("max(pay) where dept = 'X'")
    [column] = knowledge(audited)
    [picture] = column.pictures()
    require_zone(picture, Zone.OWNER)
    bars = rows_of(picture.draw())
    assert [f"{row['value']:.0f}" for row in bars] == [row[1] for row in picture.rows]
    assert sum(row["value"] for row in bars) == 8
    assert repr(column).startswith("owner only: ")
