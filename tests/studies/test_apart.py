"""Judging releases of buckets: sizes, losses and query errors, owner only."""

from pathlib import Path

import pytest

import shoal
from shoal.chance import Seeded
from shoal.errors import ColumnError
from shoal.methods.buckets import Buckets
from shoal.studies import saving
from tests.measure.test_bucket_errors import people, released, towns


def test_a_release_of_buckets_is_judged_by_its_sizes() -> None:
    table = people(True)
    release = released(table, "0.3")
    judgement = shoal.judge(table, release, queries=30)
    figures = judgement.buckets
    assert figures is not None
    in_bucket = release.table["bucket"].value_counts()["count"].to_list()
    assert figures.sizes == {size: in_bucket.count(size) for size in sorted(set(in_bucket))}
    assert figures.loss == sum((size - 1) ** 2 for size in in_bucket)
    assert judgement.losses["buckets"].raw == figures.loss
    assert judgement.losses["buckets"].normalised == figures.loss / (table.rows - 1) ** 2
    assert (judgement.records, judgement.kept, judgement.groups) == (2000, 2000, len(in_bucket))
    assert figures.queries is not None
    assert figures.queries.count <= 30
    assert "owner only" in repr(figures)
    assert judgement.to_dict()["buckets"]["loss"] == figures.loss


def test_queries_are_asked_only_if_they_are_wanted_and_can_be_compared() -> None:
    table = people(False, 200)
    judgement = shoal.judge(table, released(table))
    assert judgement.buckets is not None
    assert judgement.buckets.queries is None
    frame = table.frame.to_native().with_row_index("person").with_columns(person=0)
    frame = frame.with_columns(person=frame["ward"] * 20 + frame["age"])
    repeated = shoal.table(
        frame, quasi=["ward", "age"], sensitive=["illness"], identifying=["person"]
    )
    limits = shoal.Limits.each({}, others="0.9")
    release = Buckets("illness", limits, "two", unit="person").release(repeated, Seeded(2))
    judgement = shoal.judge(repeated, release, queries=5)
    assert judgement.kept < judgement.records
    assert "count queries" in judgement.unknown


def test_a_release_of_buckets_of_another_table_is_refused() -> None:
    table = people(False, 100)
    with pytest.raises(ColumnError):
        shoal.judge(towns(), released(table))


def test_buckets_are_drawn_with_the_errors_of_queries(tmp_path: Path) -> None:
    table = people(True, 300)
    judgement = shoal.judge(table, released(table), queries=10)
    assert judgement.buckets is not None
    saving.save(judgement.buckets.pictures(), tmp_path / "buckets.svg")
    drawn = (tmp_path / "buckets.svg").read_text()
    for text in ("people of the bucket", "one single bucket", "Owner only"):
        assert text in drawn
