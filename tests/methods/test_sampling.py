"""Random samples: each record with its probability, unchanged, by counts alone."""

from collections import Counter
from fractions import Fraction

import narwhals as nw
import polars as pl
import pytest

from shoal.attack.coins import law
from shoal.chance import Seeded
from shoal.errors import ParameterError
from shoal.methods.method import begin
from shoal.methods.sampling import RandomSample
from tests.methods.examples import people, table


def test_the_probability_is_kept_exactly() -> None:
    assert RandomSample(0.1).probability == Fraction(1, 10)
    assert RandomSample("1/3").probability == Fraction(1, 3)
    with pytest.raises(ParameterError, match=r"probability=1\.5 is out of range"):
        RandomSample(1.5)


def test_all_or_nothing_is_released_at_the_ends() -> None:
    given = people()
    assert len(RandomSample(1).release(given).table) == given.rows
    assert len(RandomSample(0).release(given).table) == 0


def test_every_record_is_drawn_with_its_probability_independently_of_all_others() -> None:
    frame = nw.to_native(people(3).frame).with_columns(
        age=pl.Series([7, 7, 9]), town=pl.lit("Oslo"), ill=pl.lit("gout"), tag=pl.lit(1)
    )
    given = table(frame)
    laws = law(
        lambda chance: tuple(RandomSample("1/3").release(given, chance).table["age"].to_list())
    )
    drawn = Fraction(1, 3)
    for ages, weight in laws.items():
        sevens, nines = Counter(ages)[7], Counter(ages)[9]
        expected = (1, 2, 1)[sevens] * drawn**sevens * (1 - drawn) ** (2 - sevens)
        expected *= drawn if nines else 1 - drawn
        assert weight.low <= expected <= weight.high


def test_one_row_of_each_person_may_be_drawn() -> None:
    frame = nw.to_native(people(40).frame)
    given = table(pl.concat([frame, frame]))
    method = RandomSample(1, unit="name")
    assert begin(method, given, Seeded(1)).table.rows == 40
    assert len(method.release(given, Seeded(1)).table) == 40


def test_the_owner_is_told_how_many_records_came_in() -> None:
    assert RandomSample("1/2").release(people()).facts.records == 200
