"""Someone who knows Mondrian learns from the cuts that it did not make."""

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.attack import Effort, expose
from shoal.errors import TooLargeError
from shoal.methods.mondrian import Mondrian
from shoal.privacy.models import DistinctDiversity, EntropyDiversity
from tests.attack.people import known, of_everyone, owned


def test_cuts_that_several_groups_lie_across_are_counted_together() -> None:
    """The column b is widest and tried first; both groups lie across its cut."""
    rows = [(4, 0), (3, 0), (1, 3), (5, 1), (0, 3), (0, 0)]
    method = Mondrian((EntropyDiversity("ill", 2),))
    released = method.release(owned(rows, "zxyyzx")).table
    assert released.select("a", "b").n_unique() == 2
    found = expose(method, known(rows), released, "ill", effort=Effort("counting"))
    assert found.left == Fraction(2, 3)
    assert of_everyone(found) == of_everyone(
        expose(method, known(rows), released, "ill", effort=Effort("enumeration"))
    )


def test_a_problem_that_is_too_large_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(6, 3), (5, 2), (3, 1), (2, 1), (2, 1), (1, 3), (2, 3), (2, 2)]
    method = Mondrian((DistinctDiversity("ill", 2),))
    shown = method.release(owned(rows, "zzzzyzxx")).table
    exact = expose(method, known(rows), shown, "ill")
    assert exact.changed

    def too_large(*args: object, **more: object) -> None:
        raise TooLargeError("as if")

    monkeypatch.setattr("shoal.attack.mondrian.ways", too_large)
    found = expose(method, known(rows), shown, "ill", effort=Effort(tries=1_000))
    assert found.left is None
    for row in range(8):
        for value, (low, high) in (found.of(row).bounds or {}).items():
            assert low <= exact.of(row).inherent.get(value, 0) <= high


@pytest.mark.slow
def test_mondrian_betrays_people_of_adult(shared_data: Path) -> None:
    quasi = ["age", "education", "workclass"]
    frame = pl.read_csv(shared_data / "adult" / "adult.csv", separator=";").select(
        *quasi, "occupation"
    )
    folder = shared_data / "adult" / "hierarchies"
    trees = {
        name: shoal.hierarchy.read(
            folder / f"{name}.csv", kind="integer" if name == "age" else "text"
        )
        for name in quasi
    }
    method = Mondrian((DistinctDiversity("occupation", 2),))
    released = method.release(
        shoal.table(frame, quasi=quasi, sensitive=["occupation"], hierarchies=trees)
    ).table
    found = expose(
        method,
        shoal.table(frame.select(quasi), quasi=quasi, hierarchies=trees),
        released,
        "occupation",
    )
    assert (
        found.people,
        found.changed,
        found.surer,
        found.broken,
        found.certain,
        found.unknown,
    ) == (
        30162,
        738,
        347,
        125,
        125,
        0,
    )
    truth = frame["occupation"].to_list()
    certain = [
        (row, max(one.inherent, key=one.inherent.__getitem__))
        for one in found.inferences
        if one.broken
        for row in one.rows
    ]
    assert all(
        truth[row] == value for row, value in certain
    )  # the attacker, who never saw the column, is right about all
