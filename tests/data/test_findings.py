"""What columns look like: the type their values are written in, and what is odd about them."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.data.findings import FINDINGS, FoundColumn, find, written_kind
from shoal.data.kinds import Kind


def found(*values: Any, **types: str) -> FoundColumn:
    """What is found about a column of these values."""
    table = shoal.table(pl.DataFrame({"a": [*values]}), types=types)
    return find(table)[0]


def codes(column: FoundColumn) -> list[str]:
    """What is odd about a column."""
    return [one.code for one in column.oddities]


@pytest.mark.parametrize(
    ("values", "kind", "why"),
    [
        (["39", "50", "-3", "0"], Kind.INTEGER, "whole numbers"),
        (["9223372036854775807", "1"], Kind.INTEGER, "whole numbers"),
        (["9223372036854775808", "1"], Kind.TEXT, "mixed"),
        (["39.5", "50"], Kind.FLOAT, "numbers"),
        (["39.0", "50"], Kind.FLOAT, "numbers"),
        (["2024-02-29", "2023-01-01"], Kind.DATE, "dates"),
        (["2024-02-30", "2023-01-01"], Kind.TEXT, "mixed"),
        (["07101", "07103"], Kind.TEXT, "digits"),
        (["-0", "1"], Kind.TEXT, "mixed"),
        ([" 39", "50"], Kind.TEXT, "mixed"),
        (["f", "m"], Kind.TEXT, "texts"),
        (["", ""], Kind.TEXT, "no values"),
        ([39, 50], Kind.INTEGER, "stored"),
    ],
)
def test_the_type_is_the_one_that_all_values_are_written_in(
    values: list[Any], kind: Kind, why: str
) -> None:
    column = found(*values)
    assert (column.kind, column.why.code) == (kind, why)
    assert written_kind(shoal.table(pl.DataFrame({"a": values})), "a") is kind


@given(st.lists(st.text("0123456789-+. eE", min_size=1, max_size=20), min_size=1, max_size=5))
def test_a_type_is_found_only_if_no_value_changes_by_it(texts: list[str]) -> None:
    kind = found(*texts).kind
    for text in texts:
        written = text.removesuffix(".0") if kind is Kind.FLOAT else text
        assert kind.text(kind.key(text)) == written


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (["07101", "17103", "27103"], "zeros"),
        (["39", "50", "60", "71", "sixty"], "mostly"),
        (["1,5", "2,75", "3,0"], "decimal comma"),
        (["31.12.2024", "1.1.2025"], "other dates"),
        (["12/31/2024", "01/01/2025"], "other dates"),
        (["2024-12-31 23:59:00", "2025-01-01 00:00:00"], "moments"),
        (["31.12.2024 9:05", "1.1.2025 14:30"], "moments"),
        (["12.50", "3.75"], "fixed decimals"),
        (["flu", "NA", "asthma"], "stand-ins"),
        (["39", "?", "50"], "stand-ins"),
        (["Ann", "ann ", "Bob"], "variants"),
        (["M\N{REPLACEMENT CHARACTER}ller", "Meier"], "lost"),
        (["x", "x", "x"], "one value"),
        (["", None, ""], "empty"),
    ],
)
def test_what_is_odd_is_found(values: list[Any], code: str) -> None:
    assert code in codes(found(*values))


@pytest.mark.parametrize("values", [["12.50", "3.7"], ["0.00", "-0.00"], ["12.50", "x"]])
def test_decimals_that_differ_in_number_are_not_said_to_be_fixed(values: list[str]) -> None:
    assert "fixed decimals" not in codes(found(*values))


@pytest.mark.parametrize("values", [["f", "m", "f"], ["39", "50"], ["2024-02-29"], ["x"]])
def test_nothing_is_odd_about_usual_columns(values: list[Any]) -> None:
    assert codes(found(*values)) == []


def test_a_declared_type_that_does_not_fit_is_said_with_numbers() -> None:
    column = found("39", "050", "sixty", a="integer")
    assert [
        (one.code, dict(one.values)) for one in column.oddities if one.wording.weight == "wrong"
    ] == [
        ("misfits", {"number": 1, "distinct": 3}),
        ("loses zeros", {"number": 1, "distinct": 3}),
    ]
    assert codes(found(39, 50, a="text")) == []
    assert codes(found(39, 50, a="date")) == ["misfits"]


def test_rows_missing_values_and_values_are_counted() -> None:
    column = found("a", "b", "a", None, "")
    assert (column.rows, column.missing, column.distinct) == (5, 2, 2)


def test_lists_are_said_to_be_of_no_use() -> None:
    [column] = find(shoal.table(pl.DataFrame({"a": [[1], [2]]})))
    assert codes(column) == ["not comparable"]


def test_an_empty_table_has_nothing_to_tell_by() -> None:
    [column] = find(shoal.table(pl.DataFrame({"a": pl.Series([], dtype=pl.String)})))
    assert column.why.code == "no values"


def test_brief_words_have_no_figures_and_no_words_have_values() -> None:
    for wording in FINDINGS.values():
        assert "{" not in wording.brief
    column = found("Ann", "ann ", "NA", "07101")
    told = [str(column.why), *map(str, column.oddities)]
    assert not any("Ann" in one or "07101" in one for one in told)


def test_rows_elsewhere_are_looked_at_too() -> None:
    lazy = pl.LazyFrame({"age": ["39", "50"], "town": ["Ulm", None]})
    told: list[int] = []
    columns = find(shoal.table(lazy), lambda done, total, what: told.append(done))
    assert [(one.kind, one.missing) for one in columns] == [(Kind.INTEGER, 0), (Kind.TEXT, 1)]
    assert told == [0, 1]
