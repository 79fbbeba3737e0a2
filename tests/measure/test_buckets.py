"""What can be read off both tables of a release of buckets: counts with errors, associations."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import inf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, FileError
from shoal.measure.buckets import BucketReading, Estimate, count, excluded
from shoal.methods.buckets import Buckets
from shoal.privacy.limits import Limits
from shoal.releases.release import Release
from tests.measure.hospital import hospital, release, truth


def test_one_bucket_gives_the_hypergeometric_mean_and_variance() -> None:
    frame = pl.DataFrame({"home": [1, 1, 2, 3, 4], "ill": ["a", "b", "b", "c", "d"]})
    made = Buckets("ill", Limits.each({}, others="0.4"), solver="two").release(
        shoal.table(frame, quasi=["home"], sensitive=["ill"])
    )
    assert set(made.table["bucket"]) == {1}
    found = count(made, {"home": 1, "ill": ["b"]})
    ways = [
        sum(person < 2 for person in some) for some in combinations(range(5), 2)
    ]  # who may have the two b
    mean = sum(ways) / len(ways)
    assert found.count == pytest.approx(mean)
    assert found.error == pytest.approx(sqrt(sum((way - mean) ** 2 for way in ways) / len(ways)))


@pytest.mark.parametrize("fakes", [0, 2])
def test_estimates_are_as_far_from_the_truth_as_their_errors_say(fakes: int) -> None:
    """Where illnesses have nothing to do with other columns: 300 queries, whose mean squared
    distance in errors is about 1.
    """
    table = hospital()
    read = BucketReading(release(table, 3, fakes=fakes))
    draw, far = np.random.default_rng(2), []
    for _ in range(300):
        where = {
            "sex": ["female"],
            "age": sorted(draw.choice(90, 30, replace=False).tolist()),
            "ill": [f"ill{i:02}" for i in draw.choice(20, 4, replace=False)],
        }
        found = read.count(where)
        far.append(((found.count - truth(table, where)) / found.error) ** 2)
    assert 0.6 < float(np.mean(far)) < 1.6


def test_what_does_not_ask_for_the_sensitive_column_is_exact() -> None:
    table = hospital()
    where: dict[str, list[Any]] = {"sex": ["male"], "age": list(range(20, 40))}
    assert count(release(table), where) == Estimate(truth(table, where), 0.0)


def test_asking_for_all_values_counts_everybody() -> None:
    table = hospital()
    for fakes in (0, 1):
        found = count(release(table, fakes=fakes), {"ill": [f"ill{i:02}" for i in range(20)]})
        assert found.count == pytest.approx(3000)
        assert found.error == pytest.approx(0, abs=1e-6)


def test_only_the_unbiased_estimate_is_right_where_values_go_with_other_columns() -> None:
    table = hospital(apart=True)
    where: dict[str, Any] = {"sex": ["male"], "ill": ["ill08"]}
    papers, unbiased = [], []
    for seed in range(20):
        read = BucketReading(release(table, seed, fakes=1))
        papers.append(read.count(where).count)
        found = read.count(where, unbiased=True)
        unbiased.append(found.count)
    assert truth(table, where) == 0
    assert min(papers) > 50
    assert found.error < inf
    # Beyond that once in ten million times.
    assert abs(np.mean(unbiased)) < 5.5 * found.error / sqrt(20)
    assert np.std(unbiased) == pytest.approx(found.error, rel=0.6)


def test_values_that_buckets_cannot_tell_apart_have_no_unbiased_estimate() -> None:
    frame = pl.DataFrame({"home": range(8), "ill": ["a", "b"] * 4})
    made = Buckets("ill", Limits.each({}, others="1/2"), solver="two").release(
        shoal.table(frame, quasi=["home"], sensitive=["ill"])
    )
    assert count(made, {"home": [1], "ill": ["a"]}, unbiased=True).error == inf


def test_a_release_that_was_read_from_files_gives_the_same_answers(tmp_path: Path) -> None:
    made = release(hospital(), fakes=1)
    made.write(tmp_path)
    where = {"age": range(30, 50), "ill": "ill03"}
    assert count(Release.read(tmp_path), where) == count(made, where)


def test_questions_that_make_no_sense_are_clear_errors() -> None:
    made = release(hospital())
    with pytest.raises(ColumnError, match="no column 'ward'; it has 'sex', 'age', 'ill'"):
        count(made, {"ward": "x"})
    with pytest.raises(FileError, match="not a release of buckets"):
        count(shoal.RandomSample("1/2").release(hospital()), {"sex": "male"})
    empty = release(hospital(0))
    assert count(empty, {"sex": "male", "ill": "ill00"}) == Estimate(0.0, 0.0)


def test_ranges_are_not_written_out_and_ask_for_whole_numbers_of_any_type() -> None:
    frame = pl.DataFrame(
        {
            "n": range(6),
            "t": ["1", "2", "03", "-4", "1" * 5000, ""],
            "f": [1.0, 2.5, 3.0, -4.0, 5e20, None],
            "ill": ["a", "b"] * 3,
        }
    )
    kinds = {"n": "integer", "t": "text", "f": "float", "ill": "text"}
    given = shoal.table(frame, quasi=["n", "t", "f"], sensitive=["ill"], types=kinds)
    made = Buckets("ill", Limits.each({}, others="1/2"), solver="two").release(given)
    everything = range(-(10**15), 10**15)
    assert [count(made, {name: everything}).count for name in ("n", "t", "f")] == [6, 3, 3]
    assert count(made, {"n": [range(2, 4), 5]}).count == 3
    assert count(made, {"t": ""}).count == 1
    assert BucketReading(made).absent({"n": [range(5, 9), 7], "ill": ["a", "c"], "t": "2"}) == {
        "n": [7],
        "ill": ["c"],
    }
    with pytest.raises(ColumnError, match="column 'n' is of type 'integer', and a value"):
        count(made, {"n": "many"})


def test_a_negative_association_is_learnt_and_no_other_is_seen_where_there_is_none() -> None:
    def learnt(table: Table) -> list[tuple[Any, Any]]:
        associations = BucketReading(release(table, 1, fakes=1)).associations()
        of_sex = [each for each in associations if each.column == "sex"]
        return [(each.value, each.sensitive) for each in of_sex]

    assert learnt(hospital(30_000, apart=True)) == [("male", "ill08")]
    assert learnt(hospital(30_000)) == []


def test_excluded_values_are_those_of_somebody_in_the_bucket() -> None:
    draw = np.random.default_rng(4)
    bucket = np.repeat(np.arange(4000), 4)
    value = draw.integers(0, 6, 16_000)
    sex = np.where(value == 0, 0, draw.integers(0, 2, 16_000))
    out = excluded([sex], [2], bucket, (bucket, value))
    men = np.bincount(bucket, sex) > 0
    assert np.array_equal(out[:, 0], men)
    assert not out[:, 1:].any()


def beliefs(made: Release, table: Table) -> list[tuple[str, float, bool]]:
    """Every value that is shown, how probable it is to be real, and whether it is."""
    ill = dict(
        zip(*(table.frame[name].to_list() for name in table.frame.columns[::2]), strict=True)
    )
    real = set(zip(made.table["bucket"], map(ill.get, made.table[:, 0]), strict=True))
    shown = made.further["buckets"]
    rows = zip(shown["bucket"], shown["ill"], BucketReading(made).real, strict=True)
    return [(value, float(sure), (bucket, value) in real) for bucket, value, sure in rows]


@pytest.mark.parametrize(
    ("limits", "fakes", "solver"),
    [
        (Limits.each({}, others="1/4"), 1, "two"),
        (Limits.each({}, others="1/4"), 2, "optimal"),
        (Limits.formula(2, "1/20"), 1, "two"),
        (Limits.each({"v0": "3/5", "v1": "3/5"}, others="1/6"), 2, "multi"),
    ],
)
def test_of_what_is_believed_with_some_probability_that_share_is_real(
    limits: Limits, fakes: int, solver: Any
) -> None:
    """Also for values that all buckets of a size show; with limits of one size and varied ones.

    Seeds are fixed.
    """
    if solver == "optimal":
        pytest.importorskip("scipy")
    often = [220, 180, 150, 120, 100, 80, 60, 50, 40]
    values = [f"v{i}" for i, number in enumerate(often) for _ in range(number)]
    frame = pl.DataFrame({"who": range(1000), "one": 1, "ill": values})
    table = shoal.table(frame, quasi=["who", "one"], sensitive=["ill"])
    sure: Counter[str] = Counter()
    true: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for seed in range(4):
        made = Buckets("ill", limits, solver, fakes=fakes).release(table, Seeded(seed))
        for value, probability, real in beliefs(made, table):
            if probability < 1:
                sure[value] += probability  # type: ignore[assignment]
                true[value] += real
                number[value] += 1
    for value in number:
        within = 4.5 * sqrt(max(sure[value] * (1 - sure[value] / number[value]), 1))
        assert abs(sure[value] - true[value]) < within


@cache
def releases_with(fakes: int) -> list[Release]:
    """Releases of one table with fixed seeds."""
    often = [200, 180, 160, 140, 120, 100, 60, 40]
    values = [f"v{i}" for i, number in enumerate(often) for _ in range(number)]
    frame = pl.DataFrame({"who": range(1000), "ill": values})
    table = shoal.table(frame, quasi=["who"], sensitive=["ill"])
    method = Buckets("ill", Limits.each({}, others="1/4"), "two", fakes=fakes)
    return [method.release(table, Seeded(seed)) for seed in range(25)]


def far_off(fakes: int, factor: Fraction = Fraction(1)) -> list[tuple[float, float]]:
    """How far the counts of the most frequent value are off, and what that should be like.

    `factor` is what its odds are multiplied by.
    """
    errors = []
    for made in releases_with(fakes):
        read = BucketReading(made)
        first = read.values.records(["ill"])[0].codes == 0
        pairs = zip(first, read.odds, strict=True)
        read.odds = [odds * factor if is_first else odds for is_first, odds in pairs]
        estimate = read.count({"ill": ["v0"]})
        errors.append((estimate.count - 200, estimate.error))
    return errors


def covered(found: list[tuple[float, float]]) -> bool:
    """Whether the mean is 0 and the squared errors are as stated, as far as 25 releases show."""
    errors, stated = (np.array(side) for side in zip(*found, strict=True))
    unbiased = abs(errors.mean()) < 3.5 * sqrt((stated**2).mean() / len(errors))
    return bool(unbiased and 0.3 < (errors**2).mean() / (stated**2).mean() < 2.2)


@pytest.mark.parametrize("fakes", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_counts_with_fakes_are_unbiased_and_as_far_off_as_they_say(fakes: int) -> None:
    assert covered(far_off(fakes))


def test_twins_with_other_odds_or_half_the_error_are_caught() -> None:
    assert not covered(far_off(2, Fraction(1, 2)))
    assert not covered(far_off(2, Fraction(2)))
    assert not covered([(error, stated / 2) for error, stated in far_off(2)])


def test_blocks_with_fakes_are_read_block_by_block(tmp_path: Path) -> None:
    sexes = Hierarchy.from_lines([["female", "*"], ["male", "*"]], Kind.TEXT)
    table = shoal.table(
        hospital(1200).frame.to_native(),
        quasi=["sex", "age"],
        sensitive=["ill"],
        hierarchies={"sex": sexes},
    )
    made = release(table, fakes=1, within={"sex": 0})
    assert len(made.certificate.derived["fake_odds"]) == 2
    assert shoal.verify(tmp_path / "certificate.json", made.write(tmp_path)) == []
    everything = count(made, {"ill": [f"ill{i:02}" for i in range(20)]})
    assert everything.count == pytest.approx(1200)
    assert everything.error == pytest.approx(0, abs=1e-5)
    where: dict[str, Any] = {"sex": ["male"], "ill": ["ill00"]}
    found = count(made, where)
    assert abs(found.count - truth(table, where)) < 5 * found.error
