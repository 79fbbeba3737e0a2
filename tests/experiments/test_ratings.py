"""Ratings that experiments make by code, or read from a table."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.experiments.ratings import PersonalRatings, draw, given


def test_the_same_seed_makes_the_same_ratings() -> None:
    assert draw(300, 20, 900, seed=3).frame().equals(draw(300, 20, 900, seed=3).frame())
    assert not draw(300, 20, 900, seed=3).frame().equals(draw(300, 20, 900, seed=4).frame())


def test_ratings_are_read_from_the_first_three_columns() -> None:
    stars = {
        "user": ["b", "a", None, "b", "a"],
        "film": ["x", "y", "x", None, "x"],
        "stars": [4.5, 1.0, 2.0, 3.0, None],
        "when": [1, 2, 3, 4, 5],
    }
    ratings = given(shoal.table(pl.DataFrame(stars)))
    assert ratings.people == 2
    assert ratings.value.tolist() == [4.5, 1.0]
    assert ratings.person.tolist() == [1, 0]
    assert len(set(ratings.item.tolist())) == 2


def test_whole_numbers_stay_whole() -> None:
    stars = pl.DataFrame({"who": [1, 2], "what": [1, 1], "how": [5.0, 3.0]})
    ratings = given(shoal.table(stars))
    assert ratings.value.dtype.kind == "i"
    assert ratings.table().types["rating"] == "integer"


def test_tables_without_ratings_are_refused() -> None:
    with pytest.raises(InputError, match="three columns"):
        given(shoal.table(pl.DataFrame({"who": [1], "what": [2]})))
    with pytest.raises(InputError, match="no ratings"):
        given(shoal.table(pl.DataFrame({"who": [None], "what": ["a"], "how": [1]})))


def test_the_items_that_are_rated_most_are_kept() -> None:
    every = PersonalRatings(
        np.array([0, 1, 2, 0, 1, 2], dtype=np.int32),
        np.array([2, 2, 2, 0, 0, 1], dtype=np.int32),
        np.array([1, 2, 3, 4, 5, 1]),
    )
    some = every.among(2)
    assert some.value.tolist() == [1, 2, 3, 4, 5]
    assert some.item.tolist() == [0, 0, 0, 1, 1]
    assert every.among(9) is every
