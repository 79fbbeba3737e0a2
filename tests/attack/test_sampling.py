"""Samples bound what is true, and say nothing where they are few."""

import polars as pl
import pytest

import shoal
from shoal.attack import Effort, expose
from shoal.attack.knowledge import Knowledge
from shoal.attack.sampling import interval
from shoal.chance import Seeded
from shoal.errors import ParameterError
from shoal.methods.coincident import Coincident
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.privacy.models import DistinctDiversity, EntropyDiversity
from tests.attack.people import TREES, known, owned


def test_samples_bound_what_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.attack.sampling.FEWEST", 40)  # bounds hold for any number
    rows = [(4, 0), (3, 0), (1, 3), (5, 1), (0, 3), (0, 0)]
    method = Mondrian((EntropyDiversity("ill", 2),))
    shown = method.release(owned(rows, "zxyyzx")).table
    exact = expose(method, known(rows), shown, "ill", effort=Effort("counting"))
    found = expose(method, known(rows), shown, "ill", effort=Effort("sampling", tries=80, seed=3))
    assert found.accepted is not None
    assert 40 <= found.accepted[0] <= found.accepted[1] == 80
    for row in range(6):
        bounds = found.of(row).bounds
        assert bounds is not None
        assert all(
            low <= exact.of(row).inherent.get(value, 0) <= high
            for value, (low, high) in bounds.items()
        )


def test_too_few_samples_say_nothing() -> None:
    rows = [(6, 3), (5, 2), (3, 1), (2, 1), (2, 1), (1, 3), (2, 3), (2, 2)]
    method = Mondrian((DistinctDiversity("ill", 2),))
    found = expose(
        method,
        known(rows),
        method.release(owned(rows, "zzzzyzxx")).table,
        "ill",
        effort=Effort("sampling", tries=20),
    )
    assert (found.inferences, found.unknown, found.changed) == ((), 8, 0)
    with pytest.raises(ParameterError, match="nothing is said"):
        found.of(0)


def test_groups_that_are_not_of_these_people_are_not_said_to_be_left_out_by_lot() -> None:
    method = Optimal((DistinctDiversity("ill", 2),), suppression="1/2")
    shown = method.release(owned([(0, 0), (1, 0), (4, 2), (5, 2)], "xyxy")).table
    others = [(row % 6, row % 4) for row in range(40)]
    with pytest.raises(ParameterError, match="who was suppressed, so inputs cannot be sampled"):
        expose(method, known(others), shown, "ill")


@pytest.mark.parametrize(("hits", "tries"), [(0, 50), (3, 50), (25, 50), (50, 50)])
def test_intervals_are_those_of_clopper_and_pearson(hits: int, tries: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    low, high = interval(hits, tries, 10)
    expected = stats.binomtest(hits, tries).proportion_ci(1 - 0.01 / 10, method="exact")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_samples_of_a_method_with_coins_are_the_same_for_the_same_seed() -> None:
    frame = pl.DataFrame({"a": list(range(6))})
    given = shoal.table(
        frame.with_columns(ill=pl.Series(list("xxxyxz"))),
        quasi=["a"],
        sensitive=["ill"],
        hierarchies={"a": TREES["a"]},
    )
    public = shoal.table(frame, quasi=["a"], hierarchies={"a": TREES["a"]})
    method = Coincident(("2-diversity of ill",), 2, depth=1)
    tried = (method.release(given, Seeded(seed)).table for seed in range(99))
    released = next(
        one for one in tried if Knowledge(method, public, one, "ill").group_of is not None
    )
    kept = {
        expose(
            method, public, released, "ill", effort=Effort("sampling", tries=25, seed=1)
        ).accepted
        for _ in range(3)
    }
    assert len(kept) == 1
