"""Pictures of a judgement: the same figures in chart and table, and all of them the owner's."""

from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.look import Zone
from shoal.look.drawing import svg
from shoal.measure.loss import LOSSES
from shoal.measure.utility import Accuracy
from shoal.studies.candidates import ReleaseComparison
from shoal.studies.judging import ColumnCounts, Judgement, ValueCount
from shoal.studies.pictures import LOST, column_before_and_after
from tests.look.drawn import require_figures, require_zone, rows_of


@pytest.fixture(scope="module")
def judgement() -> Judgement:
    table = shoal.demo.table(300)
    method = shoal.Optimal([shoal.KAnonymity(5)], suppression="0.05")
    return shoal.judge(table, method.release(table, Seeded(1)))


def test_a_judgement_shows_losses_and_every_column(judgement: Judgement) -> None:
    losses, overview, *columns = judgement.pictures()
    assert losses.title.endswith("is lost, measured by granularity")
    require_figures(losses, 0, 1)
    assert LOST.keys() == {*LOSSES, "buckets"}
    assert [row[2] for row in losses.rows] == [LOST[name] for name in judgement.losses]
    kept = sum(column.level == 0 for column in judgement.columns)
    assert kept > 1
    assert overview.title == f"{kept} of {len(judgement.columns)} columns are left as they were"
    require_figures(overview, 3)
    assert [one.title.split(":")[0] for one in columns] == [c.column for c in judgement.columns]


def test_all_that_is_judged_is_the_owners(judgement: Judgement) -> None:
    losses, overview, first, *others = judgement.pictures()
    for picture in (losses, overview, first):
        require_zone(picture, Zone.OWNER)
    assert {picture.zone for picture in others} == {Zone.OWNER}
    assert Zone.OWNER.words in judgement.plot().to_json(ensure_ascii=False)


def _drawn(judgement: Judgement, counts: list[tuple[str, int, float]]) -> list[list[str]]:
    """The rows of the picture of a column with some counts before and after."""
    values = tuple(ValueCount(text, was, now, None) for text, was, now in counts)
    picture = column_before_and_after(judgement, ColumnCounts("x", 0, values))
    assert svg(picture.draw())
    bars = [row for row in rows_of(picture.draw()) if "of" in row]
    shares = {(row["name"], row["of"]): row["value"] for row in bars}
    total = sum(was for _, was, _ in counts)
    rows = [[str(cell) for cell in row] for row in picture.rows]
    # Every record is in one of the bars, in the chart and in the table.
    assert sum(v for (_, of), v in shares.items() if of == "before") == pytest.approx(1)
    assert sum(int(row[1].replace(",", "")) for row in rows) == total
    return rows


def test_codes_that_begin_with_a_zero_are_not_numbers(judgement: Judgement) -> None:
    codes = [(f"07{at:03}", at + 1, float(at + 1)) for at in range(40)]
    names = [row[0] for row in _drawn(judgement, codes)]
    assert names[0] == "07039"
    assert not [name for name in names if "–" in name]
    plain = [(f"{at}", at + 1, float(at + 1)) for at in range(40)]
    assert _drawn(judgement, plain)[0][0] == "0–4"


def test_the_table_of_a_column_has_its_counts(judgement: Judgement) -> None:
    rows = _drawn(judgement, [("a", 30, 15.0), ("", 10, 25.0)])
    assert rows == [["a", "30", "75 %", "15", "37.5 %"], ["missing", "10", "25 %", "25", "62.5 %"]]


def test_many_numbers_become_intervals_and_none_is_left_out(judgement: Judgement) -> None:
    rows = _drawn(judgement, [(str(age), 1, 1.0) for age in range(17, 91)])
    assert [rows[0][0], rows[-1][0]] == ["10–19", "90–99"]
    assert [row[1] for row in rows[:2]] == ["3", "10"]
    halves = _drawn(judgement, [(str(tenth / 10), 1, 1.0) for tenth in range(-20, 21)])
    assert halves[0][0] == "-2 to -1.5"


def test_many_dates_become_months_or_years(judgement: Judgement) -> None:
    days = [(f"2024-{month:02}-{day:02}", 1, 1.0) for month in (1, 2) for day in range(1, 20)]
    assert [row[0] for row in _drawn(judgement, days)] == ["2024-01", "2024-02"]
    years = [(f"{year}-05-06", 1, 1.0) for year in range(1950, 2000)]
    assert _drawn(judgement, years)[0][0] == "1950s"


def test_of_many_names_the_most_frequent_are_left(judgement: Judgement) -> None:
    rows = _drawn(judgement, [(f"name {at}", at + 1, 1.0) for at in range(40)])
    assert rows[0][0] == "name 39"
    assert rows[-1][0] == "29 other values"
    assert len(rows) == 12


def test_accuracies_of_classifiers_are_drawn(judgement: Judgement) -> None:
    accuracy = Accuracy("sex", "tree", 10, 0.5, 0.75, 0.625, 0.5)
    picture = replace(judgement, accuracies=(accuracy,)).pictures()[1]
    assert picture.title.startswith("A classifier trained on the release predicts sex for 62.5 %")
    require_figures(picture, 1, 2, 3)


def test_a_column_without_records_has_a_picture(judgement: Judgement) -> None:
    picture = column_before_and_after(judgement, ColumnCounts("x", 0, ()))
    assert "there are no values" in picture.title
    assert svg(picture.draw())


def test_what_is_released_as_it_is_has_moved_nothing() -> None:
    table = shoal.table(pl.DataFrame({"a": ["x", "y", "y"]}), quasi=["a"])
    judged = shoal.judge(table, table.frame.to_native())
    overview = next(one for one in judged.pictures() if "left as" in one.title)
    assert overview.rows == [["a", "as it was", "2", "0 %"]]


# Several releases


def _compared() -> ReleaseComparison:
    table = shoal.demo.table(300)
    releases = {
        f"k = {k}": shoal.Optimal([shoal.KAnonymity(k)], suppression="0.05").release(table)
        for k in (2, 5, 10)
    }
    return shoal.compare(table, releases)


def test_releases_are_on_a_map_with_those_that_no_other_beats() -> None:
    found = _compared()
    [picture] = found.pictures()
    require_zone(picture, Zone.OWNER)
    points = {row["name"]: row for row in rows_of(picture.draw()) if "state" in row}
    for release in found.releases:
        point = points[release.name]
        assert point["y"] == pytest.approx(float(release.risk("highest") or 0))
        assert point["x"] == pytest.approx(1 - release.losses["granularity"])
        assert (point["state"] == "unbeaten") is release.unbeaten
    assert points["input"]["state"] == "aside"
    drawn = svg(picture.draw())
    assert all(f">{row[0]}<" in drawn for row in picture.rows)


def test_a_release_of_unknown_figures_is_not_on_the_map_and_is_said_to_be_missing() -> None:
    found = _compared()
    first, *others = found.releases
    unknown = replace(first, assessment=None, unbeaten=None, unranked="no figures")
    [picture] = replace(found, releases=(unknown, *others)).pictures()
    assert "1 is not on the map" in picture.sentence
    assert picture.rows[0][-1] == "not ranked: no figures"
    assert not [row for row in rows_of(picture.draw()) if row.get("name") == first.name]
    assert replace(found, releases=(unknown,)).pictures() == ()
