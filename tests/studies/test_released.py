"""How the rows of a released table are to be read, by the certificate beside it."""

import polars as pl

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import suppress
from shoal.studies.released import ReleasedForm, released_form, with_counts

PEOPLE = shoal.table(
    pl.DataFrame({"town": ["a"] * 30 + ["b"] * 20, "ill": ["flu", "cold"] * 25}),
    quasi=["town"],
    sensitive=["ill"],
    hierarchies={"town": suppress(["a", "b"])},
)


def test_a_table_without_a_certificate_is_an_ordinary_one() -> None:
    assert released_form(None) == ReleasedForm()


def test_rows_with_counts_stand_for_as_many_records() -> None:
    release = shoal.KDGS(2, counts=True).release(PEOPLE, Seeded(1))
    assert released_form(release.certificate).counted
    rows = with_counts(release.table)
    assert rows.shape[0] == 50
    assert len(rows.frame) == len(release.table)
    assert "count" not in rows.frame.columns


def test_sensitive_values_of_buckets_are_apart_and_nobody_is_known_by_a_bucket() -> None:
    limits = shoal.Limits.each({}, others="1/2")
    release = shoal.Buckets("ill", limits, solver="two").release(PEOPLE, Seeded(1))
    form = released_form(release.certificate)
    assert form.apart == ("ill",)
    assert form.mark is None
