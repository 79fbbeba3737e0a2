"""Pictures of checked and restored views: who is exposed, before and after, for the owner."""

import pytest

from shoal import views
from shoal.look import Zone
from shoal.views import Checked, View, Views
from tests.look.drawn import require_zone, rows_of

TABLE = ["H", "S", "V", "S", "V", "S", "F"]


def _views(gamma: str) -> Views:
    return Views(7, [View("A", range(4), TABLE[:4]), View("B", range(3, 7), TABLE[3:])], gamma)


def _checked(gamma: str) -> Checked:
    return views.check(_views(gamma))


def test_everybody_is_in_one_bin_and_the_exposed_are_beyond_the_mark() -> None:
    sure, exposed = _checked("1/2").pictures()
    assert sure.title == "1 of 7 people is exposed by these views"
    people = {str(row[0]): int(str(row[1])) for row in sure.rows}
    assert sum(people.values()) == 7
    assert people["70–80 %"] == 1
    beyond = {row["name"]: row["value"] for row in rows_of(sure.draw()) if row.get("out")}
    assert sum(beyond.values()) == 1
    assert exposed.rows == [["4: S", "80 %", "50 %"]]
    require_zone(sure, Zone.OWNER)
    require_zone(exposed, Zone.OWNER)


@pytest.mark.parametrize("gamma", ["4/5", "1"])
def test_a_probability_at_the_limit_is_within_it(gamma: str) -> None:
    [sure] = _checked(gamma).pictures()
    assert sure.title == "None of 7 people is exposed by these views"
    beyond = [row["value"] for row in rows_of(sure.draw()) if row.get("out")]
    assert sum(beyond) == 0


def test_restored_views_show_before_and_after() -> None:
    restored = views.restore(_views("1/2"), TABLE, views.subsets(_views("1/2"), 2))
    [picture] = restored.pictures()
    assert picture.rows == [["4: S", "80 %", "50 %", "50 %"]]
    require_zone(picture, Zone.OWNER)
    spans = [row for row in rows_of(picture.draw()) if "before" in row]
    assert spans == [{"name": "4: S", "before": 0.8, "after": 0.5}]
