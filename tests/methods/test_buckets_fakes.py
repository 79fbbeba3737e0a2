"""How fakes are drawn, and what a release of buckets with fakes draws from."""

from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Chance
from shoal.data.tables import Table
from shoal.errors import InfeasibleError
from shoal.methods.buckets import Buckets
from shoal.privacy.limits import Limits
from tests.measure.hospital import hospital, release, truth


def test_fakes_that_keep_to_associations_may_be_true_of_somebody_in_the_bucket() -> None:
    table = hospital(20_000, apart=True)
    real = truth(table, {"ill": ["ill08"]})
    fake = {}
    for associations in (False, True):
        # About one draw in ten shows too little to see the association.
        made = release(table, 1, fakes=1, associations=associations)
        ninth = made.further["buckets"].filter(pl.col("ill") == "ill08")
        fake[associations] = int(ninth["count"].sum()) - real
    assert fake[False] > 50
    assert fake[True] < 25  # only in buckets without a man


@pytest.mark.parametrize("solver", ["two", "multi", "anatomy"])
def test_the_advice_of_a_refusal_is_not_the_solver_in_use(solver: Any) -> None:
    with pytest.raises(InfeasibleError) as refused:
        Buckets("ill", Limits.each({}, others="1/3"), solver, fakes=2).release(three_of_each())
    assert "solver" not in str(refused.value)
    assert "fewer fakes" in str(refused.value)


def three_of_each() -> Table:
    frame = pl.DataFrame({"who": range(9), "ill": ["a", "b", "c"] * 3})
    return shoal.table(frame, quasi=["who"], sensitive=["ill"])


def test_chance_is_only_drawn_from_the_source() -> None:
    """The default source is the operating system's; with a seed all is repeated, fakes too."""
    one, other = (release(hospital(400), 5, fakes=1) for _ in range(2))
    assert one.table.equals(other.table)
    assert one.further["buckets"].equals(other.further["buckets"])
    assert Chance.private
