"""Pictures of measures: the same figures in chart and table, and the right zone."""

import json
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.look import Picture, Zone
from shoal.look.drawing import svg
from shoal.measure.pictures import risks_before_and_after, sizes_before_and_after
from shoal.measure.risk import Assessment
from tests.look.drawn import require_figures, require_zone, rows_of


def _assessed(ages: list[str], **options: Any) -> Assessment:
    table = shoal.table(pl.DataFrame({"age": ages}), quasi=["age"])
    return shoal.assess(table, rows_are_people=True, **options)


BEFORE = ["31"] * 6 + ["32"] * 2 + ["33"]
AFTER = ["30-39"] * 9


def _values(picture: Picture) -> str:
    """All that a chart is drawn from."""
    return json.dumps(picture.draw().to_dict(), ensure_ascii=False)


def test_an_assessment_shows_its_risks_and_its_groups() -> None:
    risks, sizes = _assessed(BEFORE).pictures()
    assert risks.title == "3 of 9 people have a risk above 20 %"
    assert [row[1] for row in risks.rows] == ["100 %", "33.3 %", "33.3 %"]
    assert sizes.title == "1 of 9 people is alone in a group"
    assert sizes.rows == [["1", "1", "1"], ["2", "1", "2"], ["3–4", "0", "0"], ["5–9", "1", "6"]]
    assert "not at risk: groups of 5 or more" in _values(sizes)
    require_figures(risks, 1)
    assert svg(sizes.draw())


def test_one_bin_begins_at_the_threshold() -> None:
    sizes = _assessed(BEFORE, threshold=Fraction(1, 6)).sizes
    assert [each.low for each in sizes] == [1, 2, 3, 5, 6]
    assert sum(each.members for each in sizes if each.low < 6) == 3


def test_bins_have_every_group_and_every_record_once() -> None:
    assessed = shoal.assess(shoal.demo.table(300), quasi=["age", "sex"])
    assert sum(each.groups for each in assessed.sizes) == assessed.groups
    assert sum(each.members for each in assessed.sizes) == assessed.records
    at_risk = sum(each.members for each in assessed.sizes if each.low < 5)
    assert at_risk == assessed.prosecutor.records_at_risk


def test_people_are_counted_once_each_by_their_smallest_group() -> None:
    rows = pl.DataFrame({"who": ["a", "a", "b", "c"], "age": ["1", "2", "2", "2"]})
    assessed = shoal.assess(shoal.table(rows), quasi=["age"], person="who")
    assert [(each.low, each.groups, each.members) for each in assessed.sizes] == [
        (1, 1, 1),
        (2, 0, 0),
        (3, 1, 2),
        (5, 0, 0),
    ]


def test_columns_show_their_share_in_the_risk() -> None:
    table = shoal.demo.table(200)
    assessed = shoal.assess(table, quasi=["age", "sex"], details=True)
    *_, columns = assessed.pictures()
    assert columns.title.startswith("age has the largest share")
    shares = [row[2] for row in columns.rows]
    assert all(f"{share}<" in svg(columns.draw()) for share in shares)


def test_before_and_after_stand_side_by_side() -> None:
    before, after = _assessed(BEFORE), _assessed(AFTER)
    risks = risks_before_and_after(before, after)
    assert risks.title == "3 of 9 people at risk before, 0 of 9 after"
    assert risks.rows[0][1:] == ["100 %", "11.1 %"]
    require_figures(risks, 1, 2)
    sizes = sizes_before_and_after(before, after)
    assert sizes.rows[0] == ["1", "1", "0"]
    assert sizes.rows[3] == ["5–9", "6", "9"]
    assert [row["value"] for row in rows_of(sizes.draw()) if "of" in row][:2] == [1, 0]


def test_an_assessment_is_the_owners_unless_its_table_is_released() -> None:
    assessed = _assessed(AFTER)
    for zone in Zone:
        for picture in assessed.pictures(zone):
            require_zone(picture, zone)
    assert {picture.zone for picture in assessed.pictures()} == {Zone.OWNER}


def test_a_picture_of_the_wrong_zone_is_noticed() -> None:
    twin = _assessed(AFTER).pictures(Zone.RELEASED)[0]
    with pytest.raises(AssertionError):
        require_zone(twin, Zone.OWNER)


def test_a_table_without_records_has_pictures_too() -> None:
    empty = _assessed([])
    assert [picture.html()[:7] for picture in empty.pictures()] == ["<figure"] * 2


EXPLAINED: list[Any] = [shoal.explain(1, "1e-6"), shoal.explain_counts(1, "1e-6", 5)]


@pytest.mark.parametrize("explained", EXPLAINED)
def test_explanations_are_about_parameters_and_may_be_published(explained: Any) -> None:
    for picture in explained.pictures():
        require_zone(picture, Zone.RELEASED)


def test_a_belief_may_not_move_further_than_the_odds_allow() -> None:
    beliefs, drawn = EXPLAINED[0].pictures()
    # e / (1 + e) is 0.73105…, and what is at most that much is not at most 73.1 %.
    assert beliefs.rows[2] == ["50 %", "73.2 %", "26.8 %"]
    assert beliefs.title.endswith("become 73.2 % at most")
    assert "73.2 %" in _values(beliefs)
    assert [row[1] for row in drawn.rows] == ["59.3 %", "40.7 %"]
    require_figures(drawn, 1)


def test_the_curve_of_chances_is_that_of_the_parameters() -> None:
    _, chances = EXPLAINED[1].pictures()
    drawn = {point["x"]: point["y"] for point in rows_of(chances.draw()) if "x" in point}
    for each in EXPLAINED[1].to_dict()["chances"]:
        assert drawn[each["records"]] == pytest.approx(each["chance"])


def test_two_tables_stand_side_by_side_for_the_owner() -> None:
    one, other = (
        shoal.table(pl.DataFrame({"age": ages}), quasi=["age"]) for ages in (BEFORE, AFTER)
    )
    comparison = shoal.compare(one, other, rows_are_people=True)
    risks, sizes = comparison.pictures()
    assert "at risk in A, 0 of 9 in B" in risks.title
    assert risks.head == ["attacker", "in A", "in B"]
    require_figures(risks, 1, 2)
    for picture in (risks, sizes):
        require_zone(picture, Zone.OWNER)


def test_a_preview_shows_what_is_suppressed() -> None:
    table = shoal.demo.table(200)
    result = shoal.preview(table, {"age": 3}, models=[shoal.KAnonymity(5)], suppression="0.1")
    [picture] = result.pictures()
    require_zone(picture, Zone.OWNER)
    require_figures(picture, 0, 3)
    assert "allowed 10 %" in svg(picture.draw())
