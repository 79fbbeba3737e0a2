"""The check of buckets: every share of every value, and whatever the method does not have."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.chance import Seeded
from shoal.methods.buckets import Buckets
from shoal.privacy.limits import Limits
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.releases.verification import unchecked, verify
from tests.methods.examples import AGES
from tests.methods.test_buckets import METHODS, many


def forged(
    release: Release,
    folder: Path,
    people: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame,
    values: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame,
    **paper: Any,
) -> list[str]:
    """What verify says of a release whose tables or certificate are changed, with all digests
    computed anew.
    """
    made = Release(
        people(release.table),
        replace(release.certificate, **paper),
        further={"buckets": values(release.further["buckets"])},
    )
    path = made.write(folder / "forged")
    return verify(path.with_name("certificate.json"), path, {"age": AGES})


UNEVEN = "does not have as many values as people"


def all_with_gout(values: pl.DataFrame) -> pl.DataFrame:
    same = values.with_columns(ill=pl.lit("gout"))
    return same.group_by("bucket", "ill").agg(pl.sum("count")).sort("bucket")


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"people": lambda f: f.with_columns(bucket=pl.lit(1, pl.Int64))}, UNEVEN),
        ({"people": lambda f: f.with_columns(bucket=pl.col("bucket") + 1)}, "numbered one by one"),
        ({"people": lambda f: f.reverse()}, "the rows are not in the order"),
        ({"people": lambda f: f.head(-1)}, UNEVEN),
        ({"values": lambda f: f.reverse()}, "not in their order"),
        ({"values": lambda f: f.with_columns(count=pl.col("count") + 1)}, UNEVEN),
        ({"values": all_with_gout}, "more of some value than its limit"),
        ({"values": lambda f: f.rename({"count": "often"})}, "not the bucket, its sensitive"),
        (
            {"values": lambda f: f.with_columns(bucket=pl.col("bucket") * 1000)},
            "a number that no bucket has",
        ),
        ({"derived": {"records": 200}}, "states 'records'"),
        ({"derived": {"gap_reached": 7.0}}, "not a share"),
        ({"derived": {"sizes_searched": 0}}, "not a whole number above 0"),
        ({"derived": {"sizes_searched": None}}, "not a whole number above 0"),
        ({"whole": True}, "no record was left out"),
    ],
)  # fmt: skip
def test_verify_finds_what_is_wrong_with_forged_tables(
    changed: Any, fault: str, tmp_path: Path
) -> None:
    found = forged(METHODS["two"].release(many()), tmp_path, **changed)
    assert any(fault in one for one in found), found


def test_verify_says_that_it_does_not_know_which_sizes_were_searched(tmp_path: Path) -> None:
    release = METHODS["two"].release(many())
    left_out = release.write(tmp_path / "left out").with_name("certificate.json")
    stating = replace(release.certificate, derived={"sizes_searched": 40})
    stated = replace(release, certificate=stating).write(tmp_path / "stated")
    bounded = METHODS["fakes"].release(many()).write(tmp_path / "bounded")
    stated, bounded = stated.with_name("certificate.json"), bounded.with_name("certificate.json")
    assert any("no largest one is stated" in one for one in unchecked(left_out))
    assert any("up to the one stated" in one for one in unchecked(stated))
    assert not any("stated" in one for one in unchecked(bounded))  # by `largest`


def described(paper: Certificate, **changed: dict[str, str]) -> dict[str, Any]:
    """The columns of a certificate with some of what it says of them changed."""
    return {"columns": [{**column, **changed.get(column["name"], {})} for column in paper.columns]}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (
            lambda paper: described(paper, town={"role": "sensitive"}),
            "released unchanged beside people",
        ),
        (
            lambda paper: described(paper, town={"table": "buckets"}),
            "released unchanged beside people",
        ),
        (lambda paper: described(paper, ill={"role": "insensitive"}), "not described"),
        (lambda paper: described(paper, ill={"table": "other"}), "not described"),
        (lambda paper: described(paper, bucket={"role": "sensitive"}), "not described"),
        (lambda paper: {"levels": {"age": 1}}, "names levels"),
        *(
            (
                lambda paper, wrong=wrong: {"parameters": {**paper.parameters, **wrong}},
                "not ones that the method takes",
            )
            for wrong in (
                {"solver": "mine"},
                {"within": {"age": -1}},
                {"within": {"nobody": 1}},
                {"within": {"ill": 1}},
                {"associations": True},
                {"largest": 0},
                {"gap": "2"},
                {"seconds": "0"},
            )
        ),
        (lambda paper: {"parameters": {**paper.parameters, "largest": 1}}, "more people than"),
    ],
)
def test_verify_finds_columns_and_parameters_that_the_method_does_not_have(
    changed: Any, fault: str, tmp_path: Path
) -> None:
    release = METHODS["two"].release(many())
    found = forged(release, tmp_path, **changed(release.certificate))
    assert any(fault in one for one in found), found


@pytest.mark.parametrize("other", ["01", " 1", "1.0", "+1"])
def test_verify_finds_a_bucket_that_is_two_where_its_number_is_read_as_text(
    other: str, tmp_path: Path
) -> None:
    release = METHODS["two"].release(many())

    def respelled(frame: pl.DataFrame) -> pl.DataFrame:
        first = pl.col("bucket").is_first_distinct() & (pl.col("bucket") == 1)
        return frame.with_columns(
            bucket=pl.when(first).then(pl.lit(other)).otherwise(pl.col("bucket").cast(pl.String))
        )

    assert forged(release, tmp_path / "right") == []
    found = forged(release, tmp_path, people=respelled, values=respelled)
    assert any("spelled in several ways" in one for one in found), found


def test_verify_finds_limits_that_are_not_those_promised(tmp_path: Path) -> None:
    release = METHODS["two"].release(many())
    stricter = (
        replace(METHODS["two"], limits=Limits.each({}, others="0.4"))
        .release(many(), Seeded(1))
        .certificate
    )
    assert forged(release, tmp_path) == []
    assert any(
        "more of some value" in one
        for one in forged(release, tmp_path, promise=stricter.promise, statement=stricter.statement)
    )
    words = forged(release, tmp_path, promise=stricter.promise)
    assert any("statement" in one for one in words)
    assert any("not those of the parameters" in one for one in words)
    assert any("does not promise F" in one for one in forged(release, tmp_path, method="sampling"))


def test_verify_finds_a_missing_or_swapped_second_table(tmp_path: Path) -> None:
    one, other = (
        METHODS["two"].release(many(rows)).write(tmp_path / str(rows)) for rows in (200, 210)
    )
    one.with_name("buckets.csv").write_bytes(other.with_name("buckets.csv").read_bytes())
    assert verify(one.with_name("certificate.json"), one)
    other.with_name("buckets.csv").unlink()
    assert any(
        "buckets.csv" in fault for fault in verify(other.with_name("certificate.json"), other)
    )


def test_verify_finds_buckets_across_blocks(tmp_path: Path) -> None:
    method = Buckets("ill", Limits.each({}, others="0.7"), solver="two", within={"age": 1})
    release = METHODS["two"].release(many(1000))
    faults = forged(
        release, tmp_path, parameters={**release.certificate.parameters, "within": {"age": 1}}
    )
    assert any("differ in level 1 of 'age'" in one for one in faults)
    path = method.release(many(5000)).write(tmp_path / "right")
    assert verify(path.with_name("certificate.json"), path, {"age": AGES}) == []
    assert any(
        "the hierarchies were not given" in one
        for one in unchecked(path.with_name("certificate.json"))
    )


@pytest.mark.parametrize(
    ("odds", "fault"),
    [
        (lambda given: None, "does not say the odds of fakes"),
        (lambda given: "even", "does not say the odds of fakes"),
        (lambda given: [[0, given[0][1]]], "does not say the odds of fakes"),
        (lambda given: [[given[0][0] + 1, given[0][1]]], "not those of the buckets in the table"),
        (lambda given: [[given[0][0], given[0][1][:-1]]], "one number from 0 to 1"),
        (lambda given: [[given[0][0], ["2"] * len(given[0][1])]], "one number from 0 to 1"),
        (lambda given: [[given[0][0], ["0"] * len(given[0][1])]], "may be fake by their odds"),
    ],
)
def test_verify_finds_odds_that_fakes_cannot_have(odds: Any, fault: str, tmp_path: Path) -> None:
    release = fakes()
    derived = dict(release.certificate.derived)
    assert forged(release, tmp_path / "right") == []
    derived["fake_odds"] = odds(derived["fake_odds"])
    found = forged(release, tmp_path, derived=derived)
    assert any(fault in one for one in found), found


@cache
def fakes() -> Release:
    return METHODS["fakes"].release(many())


def test_verify_finds_fakes_where_there_are_none_and_none_where_there_are(tmp_path: Path) -> None:
    release = METHODS["two"].release(many())
    odds = fakes().certificate.derived["fake_odds"]
    derived = {**release.certificate.derived, "fake_odds": odds}
    assert any(
        "odds of fakes, and the promise has none" in one
        for one in forged(release, tmp_path, derived=derived)
    )
    found = forged(fakes(), tmp_path, values=all_with_gout)
    assert any("fewer than 1 values that may be fake" in one for one in found), found
    searched = {**release.certificate.derived, "sizes_searched": 0}
    assert any("largest bucket size" in one for one in forged(release, tmp_path, derived=searched))
