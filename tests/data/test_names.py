"""Names of columns can be told apart, and are told from values."""

import pytest

from shoal.data.names import like_a_record, require_names
from shoal.errors import ColumnError


@pytest.mark.parametrize(
    "names",
    [
        ["age", "AGE"],
        ["age", "age "],
        ["age", "a\u200bge"],
        ["caf\u00e9", "cafe\u0301"],
    ],
)
def test_names_that_look_alike_are_refused_by_their_places(names: list[str]) -> None:
    with pytest.raises(ColumnError) as raised:
        require_names(names, "people.csv")
    assert raised.value.where == "people.csv"
    assert "columns 1 and 2" in raised.value.what
    assert "age" not in str(raised.value)


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u3164"])
def test_a_name_that_cannot_be_seen_is_refused(name: str) -> None:
    with pytest.raises(ColumnError, match="column 2 has no name"):
        require_names(["age", name])


def test_names_that_differ_to_the_eye_are_taken() -> None:
    require_names(["age", "sex", "Alter"])


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (["39", "sex"], [["40"], ["f"]]),
        (["2024-01-01", "sex"], [["2024-01-02"], ["f"]]),
        (["Ann", "ward"], [["Bob", "Ann"], ["w1"]]),
        (["P-0012", "ward"], [["P-0013", "P-0014"], ["north"]]),
    ],
)
def test_a_record_is_told_from_names(names: list[str], values: list[list[str]]) -> None:
    assert like_a_record(names, values)


def test_names_are_not_taken_for_a_record() -> None:
    assert not like_a_record(["name", "visits"], [["Ann", "Bob"], []])


def test_a_column_called_like_one_of_its_values_is_no_record_beside_words_above_numbers() -> None:
    places = ["urban", "rural"]
    assert not like_a_record(["urban", "age", "size"], [places, ["31", "40"], ["1", "2.5"]])
    # One may be a stand-in for a number, and columns of texts say nothing.
    assert like_a_record(["urban", "n/a"], [places, ["31", "40"]])
    assert like_a_record(["urban", "ward", "name"], [places, ["w1", "w2"], ["Ann", "Bea"]])
    # A number is no name, whatever the others are.
    assert like_a_record(["7", "age", "size"], [["7", "8"], ["31", "40"], ["1", "2"]])
