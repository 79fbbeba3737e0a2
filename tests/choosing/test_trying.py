"""Trying a recommended method: it is made as a recipe would make it, for columns that fit."""

from fractions import Fraction

import pytest

from shoal.choosing.trying import blanks_of, crowd, made, promise_of, schema_of
from shoal.errors import ShoalError
from shoal.methods.buckets import Buckets
from shoal.privacy.promises import SemanticAnonymity


def test_columns_follow_from_the_names_in_capitals() -> None:
    parameters = {"models": ["3-diversity of SENSITIVE"], "unit": "PERSON"}
    assert blanks_of(parameters) == ("PERSON", "SENSITIVE")
    assert schema_of(parameters).released == ("SENSITIVE", "KNOWN")
    long = schema_of({"person": "PERSON", "item": "ITEM", "schema": [["FIRST"]]})
    assert list(long.roles) == ["PERSON", "ITEM"]


def test_limits_are_made() -> None:
    method = made("buckets", {"column": "SENSITIVE", "limits": {"others": "1/3"}})
    assert isinstance(method, Buckets)
    assert method.limits.others == Fraction(1, 3)


def test_the_promise_is_that_of_the_method() -> None:
    fixed = {"models": ["11-anonymity"], "splits": "middle"}
    assert promise_of("mondrian", fixed) == SemanticAnonymity(11)
    with pytest.raises(ShoalError):
        promise_of("mondrian", {"models": ["unheard-of"]})


def test_a_crowd_is_given_where_it_says_something() -> None:
    assert crowd("noisy-counts", {"epsilon": "1", "delta": "1e-6", "levels": {}}) == 15
    assert crowd("sampling", {"probability": "0.1"}) is None
