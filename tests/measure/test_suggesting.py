"""Suggestions: a role with its reasons, no value, bounded work, wherever the rows are."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.schema import Role
from shoal.data.sources import Memory
from shoal.measure import suggesting
from shoal.measure.signs import ValueSign
from shoal.measure.suggesting import Suggestion, suggest
from tests.data.places import PLACES_OF_ROWS, Place

ROWS = 60
PLACES = ("arrow", "lazy polars", "streamed csv", "duckdb", "sqlite")

PEOPLE = pl.DataFrame(
    {
        "contact": [f"zanzibar{i}@example.org" for i in range(ROWS)],
        "reached": [f"+49 30 55{i:05}" for i in range(ROWS)],
        "Nachname": [f"zanzibar{i % 30}" for i in range(ROWS)],
        "free text": [f"zanzibar {i}" for i in range(ROWS)],
        "id": list(range(ROWS)),
        "weight": [50 + i / 7 for i in range(ROWS)],
        "seen": [f"2024-03-{1 + i % 28:02}" for i in range(ROWS)],
        "sex": ["f", "m"] * (ROWS // 2),
        "diagnosis": ["zanzibar", "flu", "cold"] * (ROWS // 3),
        "ward": ["zanzibar"] * ROWS,
        "phone": ["yes", "no"] * (ROWS // 2),
        "link": ["https://zanzibar.org/a", "https://zanzibar.org/b"] * (ROWS // 2),
    }
)
EXPECTED = {
    "contact": (Role.IDENTIFYING, "F"),
    "reached": (Role.IDENTIFYING, "D"),
    "Nachname": (Role.IDENTIFYING, "A"),
    "free text": (Role.IDENTIFYING, ""),
    "id": (Role.IDENTIFYING, "R"),
    "weight": (Role.QUASI, ""),
    "seen": (Role.QUASI, "C"),
    "sex": (Role.QUASI, ""),
    "diagnosis": (Role.SENSITIVE, ""),
    "ward": (None, ""),
    "phone": (None, ""),  # whether there is one
    "link": (None, ""),  # where the row is from
}


def looks(table: Any) -> dict[str, tuple[Role | None, str]]:
    return {one.column: (one.role, "".join(one.safe_harbour)) for one in suggest(table)}


def test_columns_look_like_what_they_are() -> None:
    assert looks(PEOPLE) == EXPECTED
    assert list(looks(PEOPLE)) == PEOPLE.columns


def test_every_suggestion_has_a_reason_and_none_shows_a_value() -> None:
    for suggestion in suggest(PEOPLE):
        assert suggestion.reasons
        assert "zanzibar" not in str(suggestion).lower()
        assert repr(suggestion).startswith("owner only: ")


def test_by_names_alone_rows_do_not_matter() -> None:
    by_name = suggest(PEOPLE, look=False)
    assert by_name == suggest(PEOPLE.clear(), look=False)
    roles = {one.column: one.role for one in by_name}
    assert roles["Nachname"] is Role.IDENTIFYING
    assert roles["phone"] is Role.IDENTIFYING  # its values would say whether there is one
    assert roles["diagnosis"] is Role.SENSITIVE
    assert roles["contact"] is None
    assert {one.column: one.reasons for one in by_name}["ward"] == ("its name says nothing",)


def test_suggestions_become_plain_values() -> None:
    [plain] = [one.to_dict() for one in suggest(PEOPLE.select("contact"))]
    assert plain["role"] == "identifying"
    assert plain["safe_harbour"] == ["F"]
    assert suggest(PEOPLE.select("ward"))[0].to_dict()["role"] is None


def reasons(frame: pl.DataFrame) -> list[str]:
    [suggestion] = suggest(frame)
    return list(suggestion.reasons)


def test_reasons_say_how_many_share_a_value() -> None:
    assert reasons(pl.DataFrame({"x": [1] * 5})) == ["all rows have the same value"]
    assert reasons(pl.DataFrame({"x": [1, 2] * 30})) == ["2 values, each shared by about 30 rows"]
    assert reasons(pl.DataFrame({"x": [1, 1, 2]})) == ["2 values in 3 rows"]
    assert reasons(pl.DataFrame({"x": [1, 2, 3]})) == ["every row has another value"]
    mostly = pl.DataFrame({"x": [0, *range(99)]})
    assert reasons(mostly) == ["nearly every row has another value (99 %)"]
    assert reasons(pl.DataFrame({"x": [None, None]})) == ["it has no values"]


def test_only_columns_without_a_role_are_looked_at() -> None:
    table = shoal.table(PEOPLE, quasi=["sex"], identifying=["id"])
    assert {"sex", "id"}.isdisjoint(looks(table))
    assert table.roles == {"sex": Role.QUASI, "id": Role.IDENTIFYING}  # none was added


def test_missing_values_are_not_counted_and_refuse_nothing() -> None:
    mails = [f"a{i}@example.org" for i in range(20)]
    frame = pl.DataFrame({"x": [*mails, *[None] * 80]})
    [suggestion] = suggest(shoal.table(frame, missing="refuse"))
    assert (suggestion.role, suggestion.safe_harbour) == (Role.IDENTIFYING, ("F",))


def test_a_few_mistyped_values_do_not_hide_a_pattern() -> None:
    mails = [f"a{i}@example.org" for i in range(20)]
    mistyped = pl.DataFrame({"x": [*mails, "none", "?"] * 2})
    assert looks(mistyped)["x"] == (Role.IDENTIFYING, "F")
    half = pl.DataFrame({"x": [*mails, *map(str, range(20))] * 2})
    assert looks(half)["x"] == (None, "")


def test_values_that_identify_count_more_than_a_name() -> None:
    frame = pl.DataFrame({"city": [f"a{i}@example.org" for i in range(20)]})
    [suggestion] = suggest(frame)
    assert (suggestion.role, suggestion.safe_harbour) == (Role.IDENTIFYING, ("B", "F"))


def test_values_that_cannot_be_compared_are_said_to_be_so() -> None:
    assert reasons(pl.DataFrame({"x": [[1, 2], [3]]})) == ["its values cannot be compared"]


def test_a_column_with_too_many_values_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    listing = Memory.values

    def values(self: Memory, columns: Any) -> Any:
        asked.extend(column.name for column in columns)
        return listing(self, columns)

    monkeypatch.setattr(Memory, "values", values)
    frame = pl.DataFrame({"x": [f"a{i}@example.org" for i in range(50)], "y": [1, 2] * 25})
    monkeypatch.setattr(suggesting, "LISTED", 49)
    large, small = suggest(frame)
    assert "x" not in asked
    assert "y" in asked
    assert large == Suggestion(
        "x", Role.IDENTIFYING, ("every row has another value", "too many values to look at them")
    )
    assert small.role is None


def test_only_some_values_are_compared_with_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggesting, "LOOKED_AT", 10)
    seen: list[str] = []

    def matches(text: str) -> bool:
        seen.append(text)
        return False

    monkeypatch.setattr(suggesting, "VALUE_SIGNS", (ValueSign("x", Role.QUASI, "", matches),))
    suggest(pl.DataFrame({"x": list(range(1000, 1095))}))
    assert seen == [str(number) for number in range(1000, 1095, 10)]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    [found] = [one for one in PLACES_OF_ROWS if one.name == request.param]
    found.open(request, tmp_path)
    return found


def test_suggestions_are_the_same_wherever_the_rows_are(place: Place) -> None:
    table = shoal.table(place.source(PEOPLE))
    assert {one.column: one for one in suggest(table)} == {
        one.column: one for one in suggest(PEOPLE)
    }
