"""Helped attackers of buckets: some know other people, some rule out what does not go together."""

import json
from collections import Counter
from dataclasses import asdict
from fractions import Fraction
from itertools import combinations
from math import comb, factorial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from bench.buckets import shares as made_shares
from shoal.attack import HelpedAttackers, association, corruption, helped, posterior
from shoal.chance import Seeded
from shoal.cli.app import app
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.measure.buckets import BucketReading
from shoal.methods.buckets import Buckets
from shoal.privacy.limits import Limits
from shoal.releases.release import Release
from tests.measure.hospital import LIMITS, hospital, release


def brute_force(
    shown: dict[str, int], size: int, able: dict[str, Fraction], fake: dict[str, Fraction]
) -> dict[tuple[str, ...], Fraction]:
    """All real bags of a bucket that shows this, by the law that buckets are made by.

    It is ∏ λ^c/c! of real values, and ∏ μ of fakes.
    """
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
    """The smallest case in which odds matter: buckets of two values out of three, and the third as
    a fake.
    """
    values = ["a"] * 90 + ["b"] * 60 + ["c"] * 50
    return shoal.table(
        pl.DataFrame({"who": range(200), "ill": values}), quasi=["who"], sensitive=["ill"]
    )


def test_who_knows_the_other_person_of_a_bucket_is_as_sure_as_the_filler_makes_it(
    tmp_path: Path,
) -> None:
    """90 a, 60 b, 50 c: half of all buckets hold a and b, a tenth b and c. So the other person of
    one with b has a with probability 5/6.
    """
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


def test_fakes_leave_who_knows_all_others_no_surer_than_there_are_values_left() -> None:
    """Fifty values, buckets of eight: one, two and three fakes leave 1/2, 1/3 and 1/4, which is the
    least there can be.
    """
    values = [i for i, number in enumerate(made_shares(12_000)) for _ in range(number)]
    frame = pl.DataFrame({"who": range(len(values)), "ill": values})
    table = shoal.table(frame, quasi=["who"], sensitive=["ill"])
    limits = Limits.each({}, others="1/8")
    for fakes in (1, 2, 3):
        made = Buckets("ill", limits, "two", fakes=fakes).release(table, Seeded(fakes))
        assert set(made.certificate.derived["fake_odds"][0][1]) == {"1"}
        assert corruption(made).largest == pytest.approx(1 / (1 + fakes))


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
        [f"v{i:03}" for i in range(60)]
        + ["flu"] * 300
        + ["HIV"] * 80
        + [f"w{i}" for i in range(4) for _ in range(20 * fakes)]
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
    assert (read.sizes == read.sizes.min()).sum() > 25
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


def test_the_command_compares_releases_with_and_without_fakes(tmp_path: Path) -> None:
    table = hospital(600)
    plain, defended = str(tmp_path / "plain"), str(tmp_path / "defended")
    release(table).write(plain)
    release(table, fakes=1).write(defended)

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["attack", *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    shown = run(plain, defended)
    assert "knows all others" in shown
    assert "100 %" in shown
    rows = json.loads(run(plain, defended, "--json"))["releases"]
    assert [row["fakes"] for row in rows] == [0, 1]
    assert rows[0] == {"release": plain, **asdict(helped(Release.read(plain)))}


def test_the_figures_of_helped_attackers_are_those_of_each() -> None:
    made = release(hospital(600), 1, fakes=1)
    negative, ruling_out = association(made)
    assert helped(made) == HelpedAttackers(
        fakes=1,
        knows_nobody=corruption(made, 0).largest,
        knows_one=corruption(made, 1).largest,
        knows_all_others=corruption(made).largest,
        associations=negative,
        rules_out=ruling_out.largest,
    )
