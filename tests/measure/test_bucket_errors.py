"""Errors of count queries from buckets: compared with counting by hand."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.errors import ColumnError
from shoal.measure.bucket_errors import BucketQueries, bucket_errors
from shoal.methods.buckets import Buckets


def people(dependent: bool, rows: int = 2000) -> shoal.Table:
    draw = np.random.default_rng(2)
    ward = draw.integers(0, 4, rows)
    illness = ward if dependent else draw.integers(0, 4, rows)
    frame = pl.DataFrame({"ward": ward, "age": draw.integers(0, 9, rows), "illness": illness})
    return shoal.table(frame, quasi=["ward", "age"], sensitive=["illness"])


def released(table: shoal.Table, limit: str = "0.5") -> shoal.Release:
    method = Buckets("illness", shoal.Limits.each({}, others=limit), "two")
    return method.release(table, Seeded(1))


def test_errors_are_small_where_columns_are_independent_and_grow_with_dependence() -> None:
    asked = BucketQueries(100)
    apart, together = (
        bucket_errors(table, released(table), asked, seed=3)
        for table in (people(False), people(True))
    )
    assert 0 < apart.paper.mean < 0.2 < together.paper.mean
    # One single bucket knows nothing of what goes with what; buckets of two know a little.
    assert together.paper.mean < together.single.mean
    assert together.unbiased.mean != together.paper.mean
    assert 0 < apart.count <= 100


def test_buckets_of_one_answer_exactly() -> None:
    table = people(True, 300)
    errors = bucket_errors(table, released(table, "1"), BucketQueries(50))
    assert errors.paper.mean == pytest.approx(0)
    assert errors.single.mean > 0.1


def test_a_single_bucket_is_what_the_release_of_one_gives() -> None:
    """The baseline that is computed from the input equals what a release of one bucket answers."""
    table = people(True, 240)
    values = table.count(["illness"], {}).count.tolist()
    limits = {value: f"{count}/240" for value, count in enumerate(values)}
    method = Buckets("illness", shoal.Limits.each(limits), "two")
    release = method.release(table, Seeded(1))
    assert set(release.further["buckets"]["bucket"].to_list()) == {1}
    errors = bucket_errors(table, release, BucketQueries(60))
    assert errors.paper.mean == pytest.approx(errors.single.mean)


def test_the_seed_decides_which_queries_are_asked() -> None:
    table = people(False, 500)
    release = released(table)
    first, again, other = (
        bucket_errors(table, release, BucketQueries(20), seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_release_of_another_table_is_refused() -> None:
    table = people(False, 100)
    with pytest.raises(ColumnError, match="no column that the input has"):
        bucket_errors(towns(), released(table))


def towns() -> shoal.Table:
    """A table that has nothing but the sensitive column in common with the others."""
    return shoal.table(pl.DataFrame({"town": ["a", "b"], "illness": [1, 2]}), quasi=["town"])
