"""What can be read off both tables: counts with their errors, associations; and what helped attackers make of it."""

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, inf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from bench.buckets import shares as made_shares
from shoal.attack import association, corruption, posterior
from shoal.chance import Chance, Seeded
from shoal.cli.app import app
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, FileError, InfeasibleError, ParameterError
from shoal.measure.buckets import Estimate, BucketReading, count, excluded
from shoal.methods.buckets import Buckets
from shoal.privacy.limits import Limits
from shoal.releases.release import Release

LIMITS = Limits.each({}, others="0.17")


def hospital(rows: int = 3000, seed: int = 1, *, apart: bool = False) -> Table:
    """Twenty illnesses that have nothing to do with sex and age; if they are `apart`, no man has the ninth."""
    draw = np.random.default_rng(seed)
    weights = 0.9 ** np.arange(20)
    ill = draw.choice(20, rows, p=weights / weights.sum())
    sex = np.where((ill == 8) & apart, 0, draw.integers(0, 2, rows))
    frame = pl.DataFrame(
        {
            "sex": np.array(["female", "male"])[sex],
            "age": draw.integers(0, 90, rows),
            "ill": np.array([f"ill{i:02}" for i in range(20)])[ill],
        }
    )
    return shoal.table(frame, quasi=["sex", "age"], sensitive=["ill"])


def release(table: Table, seed: int | None = None, **options: Any) -> Release:
    return Buckets("ill", LIMITS, solver="two", **options).release(
        table, None if seed is None else Seeded(seed)
    )


def truth(table: Table, where: dict[str, list[Any]]) -> int:
    frame = table.frame.to_native()
    return int(frame.filter(*(pl.col(name).is_in(values) for name, values in where.items())).height)


# Counts


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
    """Where illnesses have nothing to do with other columns; 300 queries, whose mean squared distance in errors is about 1."""
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


def test_the_unbiased_estimate_is_right_where_values_go_with_other_columns_and_the_papers_is_not() -> (
    None
):
    table = hospital(apart=True)
    where: dict[str, Any] = {"sex": ["male"], "ill": ["ill08"]}
    papers, unbiased = [], []
    for _ in range(40):
        read = BucketReading(release(table, fakes=1))
        papers.append(read.count(where).count)
        found = read.count(where, unbiased=True)
        unbiased.append(found.count)
    assert truth(table, where) == 0
    assert min(papers) > 50
    assert found.error < inf
    assert abs(np.mean(unbiased)) < 5.5 * found.error / sqrt(40)  # beyond once in ten millions
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
    with pytest.raises(FileError, match="no release of buckets"):
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
    with pytest.raises(ColumnError, match="asked for of column 'n' is not of its type, 'integer'"):
        count(made, {"n": "many"})


# Associations


def test_a_negative_association_is_learnt_and_no_other_is_seen_where_there_is_none() -> None:
    found = BucketReading(release(hospital(60_000, apart=True), 1, fakes=1)).associations()
    assert [(one.value, one.sensitive) for one in found if one.column == "sex"] == [
        ("male", "ill08")
    ]
    assert [
        one
        for one in BucketReading(release(hospital(60_000), 1, fakes=1)).associations()
        if one.column == "sex"
    ] == []


def test_fakes_that_keep_to_associations_are_values_that_nobody_of_the_bucket_is_seen_not_to_have() -> (
    None
):
    table = hospital(20_000, apart=True)
    real = truth(table, {"ill": ["ill08"]})
    fake = {}
    for associations in (False, True):
        made = release(
            table, 1, fakes=1, associations=associations
        )  # about one draw in ten shows too little to see it
        fake[associations] = (
            int(made.further["buckets"].filter(pl.col("ill") == "ill08")["count"].sum()) - real
        )
    assert fake[False] > 50
    assert fake[True] < 25  # only in buckets without a man


def test_excluded_values_are_those_of_somebody_in_the_bucket() -> None:
    draw = np.random.default_rng(4)
    bucket = np.repeat(np.arange(4000), 4)
    value = draw.integers(0, 6, 16_000)
    sex = np.where(value == 0, 0, draw.integers(0, 2, 16_000))
    out = excluded([sex], [2], bucket, (bucket, value))
    men = np.bincount(bucket, sex) > 0
    assert np.array_equal(out[:, 0], men)
    assert not out[:, 1:].any()


# Corruption


def brute_force(
    shown: dict[str, int], size: int, able: dict[str, Fraction], fake: dict[str, Fraction]
) -> dict[tuple[str, ...], Fraction]:
    """All real bags of a bucket that shows this, by the law that buckets are made by: ∏ λ^c/c! of real, ∏ μ of fakes."""
    found: dict[tuple[str, ...], Fraction] = {}
    values = sorted(Counter(shown).elements())
    for some in {tuple(sorted(some)) for some in combinations(values, len(values) - size)}:
        real = Counter(shown) - Counter(some)
        if set(real) & set(some) or len(set(some)) < len(some):
            continue
        weight = Fraction(1)
        for value, often in real.items():
            weight *= able[value] ** often / factorial(often)
        for value in some:
            weight *= fake[value]
        found[tuple(sorted(real.elements()))] = weight
    return {real: weight / sum(found.values()) for real, weight in found.items()}


@pytest.mark.parametrize(
    ("shown", "size", "known"),
    [
        ({"a": 1, "b": 1, "c": 1}, 2, []),
        ({"a": 1, "b": 1, "c": 1}, 2, ["b"]),
        ({"a": 2, "b": 1, "c": 1}, 3, []),
        ({"a": 2, "b": 1, "c": 1}, 3, ["a"]),
        ({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, 3, ["e"]),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, 3, ["a", "d"]),
        ({"a": 2, "b": 1, "c": 1, "d": 1}, 3, ["a", "a"]),
    ],
)
def test_the_posterior_is_that_of_all_ways_to_make_the_bucket(
    shown: dict[str, int], size: int, known: list[str]
) -> None:
    able = {
        value: Fraction(number) for value, number in zip("abcde", (50, 25, 10, 5, 3), strict=True)
    }
    odds = {
        value: Fraction(number, 10)
        for value, number in zip("abcde", (2, 10, 7, 10, 4), strict=True)
    }
    fake = {value: able[value] * odds[value] for value in able}
    total, found = Fraction(0), Counter[str]()
    for real, weight in brute_force(shown, size, able, fake).items():
        left = Counter(real)
        left.subtract(known)
        if min(left.values()) < 0:
            continue
        # The known people are some of the bucket's: as many ways as there are to pick them.
        for value in set(known):
            weight *= comb(Counter(real)[value], known.count(value))
        total += weight
        for value, often in left.items():
            found[value] += weight * Fraction(often, left.total())  # type: ignore[assignment]
    assert posterior(shown, size, odds, known) == {
        value: weight / total for value, weight in found.items() if weight
    }


def test_without_fakes_who_knows_all_others_is_certain() -> None:
    assert posterior({"a": 1, "b": 1, "c": 1}, 3, {"a": 1, "b": 1, "c": 1}, ["a", "b"]) == {"c": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"shown": {"a": 1}, "size": 2},
        {"shown": {"a": 1, "b": 1}, "size": 2, "known": ["a", "b"]},
        {"shown": {"a": 1, "b": 1}, "size": 2, "known": ["c"]},
        {"shown": {"a": 1, "z": 1}, "size": 1},
        {"shown": {"a": 2, "b": 2}, "size": 3},
        {"shown": {"a": 1, "b": 1}, "size": 1, "odds": {"a": 0.5, "b": 1}},
        {"shown": {"a": 1, "b": 1}, "size": 1, "odds": {"a": 0, "b": 0}},
    ],
)
def test_buckets_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        posterior(**{"odds": {"a": 1, "b": 1, "c": 1}, **wrong})


def three() -> Table:
    """The smallest case in which odds matter: buckets of two different values out of three, and the third as a fake."""
    values = ["a"] * 90 + ["b"] * 60 + ["c"] * 50
    return shoal.table(
        pl.DataFrame({"who": range(200), "ill": values}), quasi=["who"], sensitive=["ill"]
    )


def test_who_knows_the_other_person_of_a_bucket_is_as_sure_as_the_filler_makes_it(
    tmp_path: Path,
) -> None:
    """90 a, 60 b, 50 c: half of all buckets hold a and b, a tenth b and c. So of the other person of one b, a is 5/6."""
    made = Buckets("ill", Limits.each({}, others="1/2"), fakes=1).release(three(), Seeded(1))
    (number, odds), *others = made.certificate.derived["fake_odds"]
    assert (number, others) == (100, [])
    exact = dict(zip("abc", map(Fraction, odds), strict=True))
    assert posterior({"a": 1, "b": 1, "c": 1}, 2, exact, ["b"])["a"] == Fraction(5, 6)
    assert corruption(made).largest == corruption(made, 1).largest == pytest.approx(5 / 6)
    made.write(tmp_path / "made")
    done = CliRunner().invoke(app, ["attack", str(tmp_path / "made"), "--json"])
    assert json.loads(done.output)["releases"][0]["knows_all_others"] == pytest.approx(5 / 6)
    assert "83.3 %" in CliRunner().invoke(app, ["attack", str(tmp_path / "made")]).output
    again = Buckets("ill", Limits.each({}, others="1/2"), fakes=1).release(three())
    assert (
        shoal.verify(tmp_path / "again" / "certificate.json", again.write(tmp_path / "again")) == []
    )


def beliefs(made: Release, table: Table) -> list[tuple[str, float, bool]]:
    """Of every value that is shown: which it is, how probable it is to be real, and whether it is."""
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
    """Also for values that all buckets of a size show; with limits of one size and varied ones. Fixed seeds."""
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


def test_fakes_leave_who_knows_all_others_no_surer_than_there_are_values_left() -> None:
    """Fifty values, buckets of eight: one, two and three fakes leave 1/2, 1/3 and 1/4, which is the least there can be."""
    values = [i for i, number in enumerate(made_shares(12_000)) for _ in range(number)]
    frame = pl.DataFrame({"who": range(len(values)), "ill": values})
    table = shoal.table(frame, quasi=["who"], sensitive=["ill"])
    limits = Limits.each({}, others="1/8")
    for fakes in (1, 2, 3):
        made = Buckets("ill", limits, "two", fakes=fakes).release(table, Seeded(fakes))
        assert set(made.certificate.derived["fake_odds"][0][1]) == {"1"}
        assert corruption(made).largest == pytest.approx(1 / (1 + fakes))


def far_off(fakes: int, factor: Fraction = Fraction(1)) -> list[tuple[float, float]]:
    """Errors of the number of the most frequent value, over releases of one table with fixed seeds, and what they should be.

    `factor` is what its odds are multiplied by.
    """
    often = [500, 450, 400, 350, 300, 250, 150, 100]
    values = [f"v{i}" for i, number in enumerate(often) for _ in range(number)]
    table = shoal.table(
        pl.DataFrame({"who": range(2500), "ill": values}), quasi=["who"], sensitive=["ill"]
    )
    method = Buckets("ill", Limits.each({}, others="1/4"), "two", fakes=fakes)
    found = []
    for seed in range(25):
        read = BucketReading(method.release(table, Seeded(seed)))
        if factor != 1:
            first = read.values.column("ill").codes == 0
            odds = zip(first, read.odds, strict=True)
            read.odds = [one * factor if own else one for own, one in odds]
        one = read.count({"ill": ["v0"]})
        found.append((one.count - 500, one.error))
    return found


def covered(found: list[tuple[float, float]]) -> bool:
    """Whether the mean is 0 and the squared errors are what is stated, within what 25 releases can tell."""
    errors, stated = (np.array(side) for side in zip(*found, strict=True))
    unbiased = abs(errors.mean()) < 3.5 * sqrt((stated**2).mean() / len(errors))
    return bool(unbiased and 0.3 < (errors**2).mean() / (stated**2).mean() < 2.2)


@pytest.mark.parametrize("fakes", [1, 2, 3])
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


@pytest.mark.parametrize("solver", ["two", "multi", "anatomy"])
def test_the_advice_of_a_refusal_is_not_the_solver_in_use(solver: Any) -> None:
    with pytest.raises(InfeasibleError) as refused:
        Buckets("ill", Limits.each({}, others="1/3"), solver, fakes=2).release(three_of_each())
    assert "solver" not in str(refused.value)
    assert "fewer fakes" in str(refused.value)


def three_of_each() -> Table:
    frame = pl.DataFrame({"who": range(9), "ill": ["a", "b", "c"] * 3})
    return shoal.table(frame, quasi=["who"], sensitive=["ill"])


def test_fakes_take_certainty_from_who_knows_all_others_of_a_bucket() -> None:
    table = hospital(600)
    without, defended = release(table, 1), release(table, 1, fakes=2)
    assert corruption(without).largest == 1
    assert corruption(defended).largest < 0.6
    assert corruption(without, 0).largest <= max(
        LIMITS.of(Counter(table.frame["ill"].to_list())).values()
    )
    assert (
        corruption(defended, 0).largest
        <= corruption(defended, 1).largest
        <= corruption(defended).largest
    )


@pytest.mark.parametrize("fakes", [0, 1])
def test_attackers_look_at_buckets_of_every_size_and_at_those_that_tell_most(fakes: int) -> None:
    """Small buckets come first and are many; the largest share is in larger ones."""
    values = (
        [f"v{i:03}" for i in range(120)]
        + ["flu"] * 600
        + ["HIV"] * 160
        + [f"w{i}" for i in range(4) for _ in range(40 * fakes)]
    )
    table = shoal.table(
        pl.DataFrame({"who": range(len(values)), "ill": values}), quasi=["who"], sensitive=["ill"]
    )
    limits = Limits.each(
        {"flu": "3/4", "HIV": "1/4", **{f"w{i}": "1/4" for i in range(4)}}, others="1/2"
    )
    made = Buckets("ill", limits, solver="two", fakes=fakes).release(table, Seeded(1))
    read = BucketReading(made)
    assert len(set(read.sizes.tolist())) == 2
    assert (read.sizes == read.sizes.min()).sum() > 50
    largest = max(
        Fraction(int(most), int(size))
        for most, size in zip(read.most, read.sizes, strict=True)
        if most > 1
    )
    assert corruption(made, 0).largest >= float(largest) > 0.5
    if not fakes:
        assert corruption(made, 0).largest == 0.75
        assert corruption(made).attacked == len(read.sizes)


def test_nothing_is_learnt_from_an_empty_release() -> None:
    assert [corruption(release(hospital(0), fakes=fakes)).attacked for fakes in (0, 1)] == [0, 0]


def test_ruling_out_makes_surer_and_fakes_that_keep_to_associations_help() -> None:
    table = hospital(20_000, apart=True)
    negative, seen = association(release(table, 1, fakes=1, associations=True))
    assert negative >= 1
    assert 0 < seen.mean <= seen.largest <= 1
    assert seen.attacked == 20_000


# The command line


def test_commands_count_and_attack(tmp_path: Path) -> None:
    table = hospital(600)
    release(table).write(tmp_path / "plain")
    release(table, fakes=1).write(tmp_path / "defended")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        return done.output

    where = ["--where", "sex=female", "--where", "age=30..49,60", "--where", "ill=ill00,ill01"]
    expected = count(
        Release.read(tmp_path / "plain"),
        {"sex": "female", "age": [*range(30, 50), 60], "ill": ["ill00", "ill01"]},
    )
    assert f"{expected.count:,.1f}" in run("count", str(tmp_path / "plain"), *where)
    assert '"error": 0.0' in run(
        "count", str(tmp_path / "plain"), "--where", "sex=female", "--json"
    )
    shown = run("attack", str(tmp_path / "plain"), str(tmp_path / "defended"))
    assert "knows all others" in shown
    assert "100 %" in shown
    assert '"fakes": 1' in run("attack", str(tmp_path / "defended"), "--json")
    quoted = [
        "--where",
        'ill="ill00",ill01',
        "--where",
        "sex=female,femal",
        "--where",
        "age=30..49,60",
    ]
    shown = run("count", str(tmp_path / "plain"), *quoted)
    assert f"{expected.count:,.1f}" in shown
    assert "nobody in the release has 'femal' as 'sex'" in shown
    for wrong in (
        ["--where", "sex"],
        ["--where", "age=a..b"],
        ["--where", "age=39..30"],
        ["--where", "ward=1"],
    ):
        assert CliRunner().invoke(app, ["count", str(tmp_path / "plain"), *wrong]).exit_code == 2


def test_chance_is_only_drawn_from_the_source() -> None:
    """The default source is the operating system's; with a seed all is repeated, fakes too."""
    one, other = (release(hospital(400), 5, fakes=1) for _ in range(2))
    assert one.table.equals(other.table)
    assert one.further["buckets"].equals(other.further["buckets"])
    assert Chance.private
