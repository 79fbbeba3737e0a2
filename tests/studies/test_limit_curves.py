"""Loss and query errors against the limits of buckets."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.chance import Seeded
from shoal.errors import ParameterError
from shoal.methods.buckets import Buckets, BucketsFacts
from shoal.studies.limit_curves import weigh_limits
from tests.measure.test_bucket_errors import people


def method(**options: Any) -> Buckets:
    return Buckets("illness", shoal.Limits.formula(1, "0.02"), **options)


def test_points_are_what_releases_under_eased_limits_lose() -> None:
    table = people(True, 400)
    curve = weigh_limits(table, method(), [1, 3], ["two", "multi"], chance=Seeded(1))
    assert [(point.theta, point.solver) for point in curve.points] == [
        (Fraction(theta), solver) for theta in (1, 3) for solver in ("multi", "two")
    ]
    for point in curve.points:
        limits = shoal.Limits.formula(point.theta, "0.02")
        release = Buckets("illness", limits, point.solver).release(table, Seeded(2))
        assert isinstance(release.facts, BucketsFacts)
        assert point.loss == release.facts.bucket_loss
        assert point.buckets == release.table["bucket"].n_unique()
    strict, loose = (point.loss or 0 for point in curve.points if point.solver == "two")
    assert 0 < loose < strict


def test_the_same_queries_are_asked_at_every_point() -> None:
    table = people(True, 400)
    curve = weigh_limits(table, method(), [1, 3], ["two"], queries=30, chance=Seeded(1))
    first, second = (point.queries for point in curve.points)
    assert first is not None
    assert second is not None
    assert first.count == second.count
    assert first.single == second.single
    assert first.paper.mean > second.paper.mean


def test_limits_that_cannot_be_kept_are_points_too() -> None:
    curve = weigh_limits(people(True, 400), method(), ["0.1", 3], ["two"])
    refused, kept = curve.points
    assert refused.loss is None
    assert "larger share" in refused.refused
    assert kept.loss is not None
    assert curve.frame()["loss"].to_list() == [None, kept.loss]


def test_limits_without_a_formula_are_multiplied() -> None:
    limits = shoal.Limits.classes({"grave": ("0.3", [1, 2])}, others="0.5")
    assert limits.eased("0.5").of({1: 1, 3: 1}) == {1: Fraction(3, 20), 3: Fraction(1, 4)}
    assert limits.eased(5).of({1: 1, 3: 1}) == {1: 1, 3: 1}
    assert limits.eased(2).named[0].limit == Fraction(3, 5)


def test_one_row_of_each_person_is_weighed() -> None:
    table = people(False, 300)
    frame = table.frame.to_native()
    frame = frame.with_columns(person=frame["ward"] * 20 + frame["age"])
    repeated = shoal.table(
        frame, quasi=["ward", "age"], sensitive=["illness"], identifying=["person"]
    )
    curve = weigh_limits(repeated, method(unit="person"), [2], ["two"], queries=5, chance=Seeded(3))
    (point,) = curve.points
    assert point.buckets is not None
    assert point.buckets < frame["person"].n_unique()


def test_a_curve_is_drawn_and_owner_only(tmp_path: Path) -> None:
    curve = weigh_limits(people(True, 200), method(), [2, 4], ["two"], queries=5)
    assert "owner only" in repr(curve)
    curve.save(tmp_path / "curve.svg")
    drawn = (tmp_path / "curve.svg").read_text()
    for text in ("mean squared error", "one single bucket", "Owner only"):
        assert text in drawn


@pytest.mark.parametrize("given", [{"thetas": []}, {"solvers": []}, {"solvers": ["best"]}])
def test_what_cannot_be_weighed_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        weigh_limits(people(True, 50), method(), **given)
