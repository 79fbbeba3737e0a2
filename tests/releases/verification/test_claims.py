"""What a certificate claims, read into types; whatever is not of its type is an error."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from shoal.data.kinds import Kind
from shoal.errors import FileError
from shoal.releases.certificate import Certificate
from shoal.releases.verification.claims import PartReader, one_of, read_claims
from shoal.releases.verification.numbers import StatedEpsilon, is_numeric
from tests.releases.verification.forging import SEXES, TREES, released


def certificate(**changes: Any) -> Certificate:
    return replace(released("fixed").certificate, **changes)


def test_columns_have_their_types() -> None:
    claims = read_claims(certificate())
    assert claims.names == ["sex", "age", "ill"]
    assert claims.quasi == ["sex", "age"]
    assert claims.kind("age") is Kind.INTEGER
    assert claims.with_role("sensitive") == ["ill"]
    with pytest.raises(FileError, match="'town', which it does not have"):
        claims.column("town")


def test_hierarchies_are_those_given_or_those_on_the_certificate() -> None:
    columns = [dict(column) for column in certificate().columns]
    columns[0]["hierarchy"] = SEXES.lines()
    claims = read_claims(certificate(columns=columns))
    assert set(claims.trees({}, claims.levels)) == {"sex"}
    assert set(claims.trees(TREES, ["age"])) == {"age"}
    assert claims.without_tree({}) == ["age"]
    assert claims.without_tree(TREES) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": []},
        {"derived": None},
        {"promise": "safe"},
        {"statement": 5},
        {"unprotected": [None]},
        {"number": 5},
        {"whole": 1},
        {"levels": {"age": -1}},
        {"levels": {"age": True}},
        {"levels": {"age": "1"}},
        {"columns": [{"name": "age", "role": "quasi", "type": "colour"}]},
        {"columns": [{"name": "age", "role": "quasi"}]},
        {"columns": [{"name": "age", "role": "quasi", "type": "text"}] * 2},
        {"columns": [{"name": "age", "role": "quasi", "type": "text", "hierarchy": []}]},
        {"columns": [{"name": "age", "role": "quasi", "type": "text", "hierarchy": [[1]]}]},
        {"columns": [{"name": "age", "role": "quasi", "type": "text", "hierarchy_sha256": 5}]},
        {"columns": [{"name": "age", "role": "quasi", "type": "text", "table": None}]},
        {"parameters": {"unit": ""}},
        {"parameters": {"models": [{"k": 3}]}},
    ],
    ids=str,
)
def test_a_part_of_another_type_is_an_error(changes: dict[str, Any]) -> None:
    with pytest.raises((FileError, KeyError, TypeError, ValueError, AttributeError)):
        read_claims(certificate(**changes))


def reader(value: object) -> PartReader:
    return PartReader({"part": value}, "not so")


def test_values_are_read_as_their_types() -> None:
    assert reader("1/3").number("part") == Fraction(1, 3)
    assert reader(None).number_if_any("part") is None
    assert reader(3).whole("part") == 3
    assert reader("ln(2)").epsilon("part") == StatedEpsilon(Fraction(1), Fraction(2))
    assert reader(True).flag("part") is True
    assert reader("who").text_if_any("part") == "who"
    assert reader({"age": 1}).levels("part") == {"age": 1}
    assert reader("star").checked(one_of("drop", "star"), "part") == "star"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("one", "number"),
        ("1/0", "number"),
        ([], "number"),
        (0, "whole"),
        (1.0, "whole"),
        ("2*", "epsilon"),
        (1, "flag"),
        ("true", "flag"),
        (5, "text"),
        ("", "text_if_any"),
        ({"age": "1"}, "levels"),
        ({"age": -1}, "levels"),
        ([], "levels"),
        (None, "levels"),
    ],
)
def test_a_value_of_another_type_is_refused_in_the_words_of_its_part(
    value: object, kind: str
) -> None:
    with pytest.raises(FileError, match=r"^not so$"):
        getattr(reader(value), kind)("part")


def test_what_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        reader(1).whole("other")
    with pytest.raises(FileError, match="not so"):
        reader("many").require(is_numeric, "part")
