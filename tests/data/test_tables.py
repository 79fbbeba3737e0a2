"""Tables: equal data is the same column in every library, and comes back in the same library."""

import datetime as dt
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, Kind
from shoal.data import free_memory
from shoal.data.tables import Column, Role
from shoal.errors import ColumnError, HierarchyError, ParameterError, TooLargeError
from tests.data.columns import leaves

DAYS = [dt.date(2024, 2, 29), dt.date(1999, 12, 31), None]


def same(one: Column, other: Column) -> bool:
    return (
        one.keys == other.keys
        and one.labels == other.labels
        and one.codes.dtype == other.codes.dtype
        and one.codes.tolist() == other.codes.tolist()
    )


def of(frame: Any, **options: Any) -> Column:
    return shoal.table(frame, **options).records(["a"])[0]


# ------------------------------------------------------------------------ the same in all libraries


texts = st.lists(st.none() | st.text(max_size=4), max_size=12)
wholes = st.lists(
    st.none() | st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-3, 3), max_size=12
)
floats = st.lists(
    st.none() | st.floats(allow_infinity=False) | st.sampled_from([0.0, -0.0, 39.0]), max_size=12
)
dates = st.lists(st.none() | st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1)), max_size=12)
times = st.lists(
    st.none() | st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)), max_size=12
)
truths = st.lists(st.none() | st.booleans(), max_size=12)
decimals = st.lists(st.none() | st.decimals(-99, 99, places=2), max_size=12)


def agree(*frames: Any) -> None:
    first, *others = [of(frame) for frame in frames]
    for other in others:
        assert same(first, other)


@given(texts)
def test_texts_are_coded_alike(values: list[str | None]) -> None:
    polars = pl.DataFrame({"a": values}, schema={"a": pl.String})
    categories = sorted({value for value in values if value is not None})
    agree(
        polars,
        polars.cast(pl.Categorical),
        polars.cast(pl.Enum([*categories, "never used "])),
        pl.concat([polars[:3], polars[3:]], rechunk=False),
        pd.DataFrame({"a": pd.Series(values, dtype=object)}),
        pd.DataFrame({"a": pd.Series(values, dtype="str")}),
        pd.DataFrame({"a": pd.Series(values, dtype="string")}),
        pd.DataFrame({"a": pd.Categorical(values, categories=[*categories, "never used "])}),
        pa.table({"a": pa.array(values, pa.string())}),
        pa.table({"a": pa.chunked_array([values[:3], values[3:]], pa.large_string())}),
        pa.table(
            {"a": pa.chunked_array([values[:3], values[3:]], pa.string()).dictionary_encode()}
        ),
    )


@given(wholes)
def test_integers_are_coded_alike(values: list[int | None]) -> None:
    agree(
        pl.DataFrame({"a": values}, schema={"a": pl.Int64}),
        pd.DataFrame({"a": pd.array(values, dtype="Int64")}),
        pd.DataFrame({"a": pd.array(values, dtype="int64[pyarrow]")}),
        pa.table({"a": pa.array(values, pa.int64())}),
    )
    there = [value for value in values if value is not None]
    agree(
        pl.DataFrame({"a": there}, schema={"a": pl.Int64}),
        pd.DataFrame({"a": np.array(there, dtype=np.int64)}),
        pd.DataFrame({"a": pd.Categorical(np.array(there, dtype=np.int64))}),
        pa.table({"a": pa.array(there, pa.int64()).dictionary_encode()}),
    )


spelt = st.sampled_from(
    [
        "39",
        "039",
        "+39",
        "-0",
        "0",
        " 39",
        "3.0",
        "1e3",
        "",
        "7",
        "-7",
        "123456789012345",
        "12\n",
        "9223372036854775807",
    ]
)


@given(st.lists(st.none() | spelt, max_size=8))
def test_texts_of_whole_numbers_are_coded_alike_however_they_are_spelt(
    values: list[str | None],
) -> None:
    column = of(pl.DataFrame({"a": values}, schema={"a": pl.String}), types={"a": "integer"})
    assert same(
        column, of(pd.DataFrame({"a": pd.Series(values, dtype=object)}), types={"a": "integer"})
    )
    assert [column.keys[code] for code in column.codes] == [
        Kind.INTEGER.key(value) for value in values
    ]


@pytest.mark.parametrize(
    "text",
    ["9223372036854775808", "-9223372036854775808", "0x1", "1_000", "٣", "--1", "+", "true", "NaN"],
)
def test_texts_that_are_not_whole_numbers_are_refused(text: str) -> None:
    with pytest.raises(ColumnError, match="integer"):
        of(pl.DataFrame({"a": ["1", text]}), types={"a": "integer"})


@given(floats)
def test_floats_are_coded_alike(values: list[float | None]) -> None:
    agree(
        pl.DataFrame({"a": values}, schema={"a": pl.Float64}),
        pd.DataFrame(
            {
                "a": np.array(
                    [np.nan if value is None else value for value in values], dtype=np.float64
                )
            }
        ),
        pd.DataFrame(
            {
                "a": pd.array(
                    [None if value != value else value for value in values], dtype="Float64"
                )
            }
        ),
        pa.table({"a": pa.array(values, pa.float64())}),
    )


@given(dates)
def test_dates_are_coded_alike(values: list[dt.date | None]) -> None:
    if not any(values):
        values = [
            *values,
            dt.date(2024, 2, 29),
        ]  # in pandas, nothing tells a column without dates from one without texts
    agree(
        pl.DataFrame({"a": values}, schema={"a": pl.Date}),
        pl.DataFrame({"a": values}, schema={"a": pl.Datetime("ms")}),
        pd.DataFrame({"a": pd.to_datetime(pd.Series(values, dtype="datetime64[s]"))}),
        pd.DataFrame({"a": pd.Series(values, dtype=object)}),
        pa.table({"a": pa.array(values, pa.date32())}),
        pa.table({"a": pa.array(values, pa.date32()).cast(pa.timestamp("ms"))}),
    )


@given(times)
def test_timestamps_are_coded_alike(values: list[dt.datetime | None]) -> None:
    agree(
        pl.DataFrame({"a": values}, schema={"a": pl.Datetime("us")}),
        pd.DataFrame({"a": pd.Series(values, dtype="datetime64[us]")}),
        pa.table({"a": pa.array(values, pa.timestamp("us"))}),
    )


@given(truths)
def test_booleans_are_coded_alike(values: list[bool | None]) -> None:
    agree(
        pl.DataFrame({"a": values}, schema={"a": pl.Boolean}),
        pd.DataFrame({"a": pd.array(values, dtype="boolean")}),
        pa.table({"a": pa.array(values, pa.bool_())}),
        pl.DataFrame(
            {"a": [None if value is None else str(value).lower() for value in values]},
            schema={"a": pl.String},
        ),
    )


@given(decimals)
def test_decimals_are_coded_alike(values: list[Decimal | None]) -> None:
    agree(
        pl.DataFrame({"a": values}, schema={"a": pl.Decimal(6, 2)}),
        pa.table({"a": pa.array(values, pa.decimal128(6, 2))}),
        pl.DataFrame(
            {"a": [None if value is None else float(value) for value in values]},
            schema={"a": pl.Float64},
        ),
    )


@given(wholes)
def test_texts_of_a_declared_type_are_coded_like_values_of_it(values: list[int | None]) -> None:
    written = [None if value is None else f" {value:+04d}" for value in values]
    assert same(
        of(pl.DataFrame({"a": written}, schema={"a": pl.String}), types={"a": "integer"}),
        of(pl.DataFrame({"a": values}, schema={"a": pl.Int64})),
    )


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Int64]
)
def test_integers_of_every_width_keep_their_extremes(dtype: Any) -> None:
    low, high = (
        pl.Series([0], dtype=dtype).lower_bound()[0],
        pl.Series([0], dtype=dtype).upper_bound()[0],
    )
    if dtype == pl.UInt64:
        high = 2**63 - 1
    if dtype == pl.Int64:
        low += 1
    assert of(pl.DataFrame({"a": [high, None, low, high]}, schema={"a": dtype})).keys == (
        low,
        high,
        None,
    )


def test_an_arrow_dictionary_may_hold_nothing_and_have_narrow_indices() -> None:
    indices = pa.array([0, 1, None], pa.int8())
    assert of(
        pa.table({"a": pa.DictionaryArray.from_arrays(indices, pa.array(["x", None]))})
    ).codes.tolist() == [0, 1, 1]
    full = pa.DictionaryArray.from_arrays(indices, pa.array([str(i) for i in range(128)]))
    assert of(pa.table({"a": full})).keys == ("0", "1", None)


def test_mixed_objects_are_texts() -> None:
    assert of(pd.DataFrame({"a": [1, "1", 2.0, None, "x"]})).keys == ("1", "2", "x", None)


def test_the_smallest_codes_are_used() -> None:
    for size, dtype in ((256, np.uint8), (257, np.uint16), (65_537, np.uint32)):
        assert of(pl.DataFrame({"a": range(size)})).codes.dtype == dtype


def test_keys_are_in_canonical_order_with_missing_last() -> None:
    column = of(pl.DataFrame({"a": ["10", "9", None, "é", "a", ""]}))
    assert column.keys == ("10", "9", "a", "é", None)
    assert of(pl.DataFrame({"a": ["10", "9", None]}), types={"a": "integer"}).keys == (9, 10, None)


@pytest.mark.parametrize(
    "empty",
    [pl.DataFrame({"a": []}), pd.DataFrame({"a": []}), pa.table({"a": pa.array([], pa.string())})],
)
def test_a_table_without_rows_has_no_keys(empty: Any) -> None:
    table = shoal.table(empty, quasi=["a"], missing="refuse")
    assert (table.rows, table.keys("a"), len(table.records(["a"])[0].codes)) == (0, (), 0)


def test_a_column_of_nothing_is_all_missing() -> None:
    for frame in (
        pl.DataFrame({"a": [None, None]}),
        pd.DataFrame({"a": [None, None]}),
        pa.table({"a": pa.nulls(2)}),
    ):
        assert of(frame).keys == (None,)
        with pytest.raises(ColumnError, match="2 of 2 values are missing"):
            of(frame, missing="refuse")


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [[1]]}),
        pl.DataFrame({"a": [{"x": 1}]}),
        pl.DataFrame({"a": [b"x"]}),
        pl.DataFrame({"a": [dt.timedelta(1)]}),
        pd.DataFrame({"a": [[1], [2]]}),
        pd.DataFrame({"a": pd.to_timedelta([1], unit="s")}),
        pa.table({"a": [[1]]}),
        pa.table({"a": [b"x"]}),
    ],
)
@pytest.mark.parametrize("types", [None, {"a": "text"}])
def test_values_that_do_not_compare_are_refused_when_used(
    frame: Any, types: dict[str, str] | None
) -> None:
    with pytest.raises(ColumnError, match="column 'a'"):
        of(frame, types=types)


def test_coding_several_columns_at_once_is_coding_each() -> None:
    frame = pl.DataFrame(
        {name: [f"{i * k % 7}" for i in range(30_000)] for k, name in enumerate("abcd")}
    )
    together, each = shoal.table(frame), shoal.table(frame)
    names = ["c", "a", "d", "a"]
    assert [column.name for column in together.records(names)] == names
    assert all(same(one, each.records([one.name])[0]) for one in together.records(names))
    assert together.records([]) == []


def test_only_the_columns_in_use_are_coded_and_only_once() -> None:
    table = shoal.table(pl.DataFrame({"a": ["x"], "b": [[1]]}), quasi=["a"], insensitive=["b"])
    assert table.records(["a"])[0] is table.records(["a"])[0]
    assert table.with_roles(sensitive=["a"]).records(["a"])[0] is table.records(["a"])[0]


def test_the_dataframe_is_not_copied() -> None:
    for frame in (pl.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]}), pa.table({"a": [1]})):
        assert shoal.table(frame).frame.to_native() is frame


# ---------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "thing", [{"a": [1]}, [1], pd.Series([1]), pl.Series([1]), np.zeros((2, 2)), "people.csv", None]
)
def test_only_dataframes_are_accepted(thing: Any) -> None:
    with pytest.raises(ColumnError, match="is not a pandas, Polars or Arrow dataframe"):
        shoal.table(thing)


def test_repeated_and_nameless_columns_are_refused() -> None:
    for frame in (
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"]),
    ):
        with pytest.raises(ColumnError, match="two columns are called 'a'; rename one"):
            shoal.table(frame)
    with pytest.raises(ColumnError, match="column names are text, and '0', '1' are not"):
        shoal.table(pd.DataFrame([[1, 2]]))


def test_a_narwhals_dataframe_is_taken() -> None:
    assert shoal.table(nw.from_native(pl.DataFrame({"a": [1]}))).names == ("a",)


def test_roles_name_what_is_wrong() -> None:
    frame = pl.DataFrame({"a": [1], "b": [2], "c": [3]})
    table = shoal.table(frame, quasi=["a"], sensitive=["b"])
    assert table.roles == {"a": Role.QUASI, "b": Role.SENSITIVE}
    with pytest.raises(ColumnError, match="no role for column 'c'; say for each"):
        table.require_roles()
    with pytest.raises(ColumnError, match="no role for columns 'a', 'b', 'c'"):
        shoal.table(frame).require_roles()
    shoal.table(frame, quasi=["a"], identifying=["b"], insensitive=["c"]).require_roles()
    with pytest.raises(ColumnError, match="column 'a' is both quasi and sensitive"):
        shoal.table(frame, quasi=["a"], sensitive=["a"])
    with pytest.raises(ColumnError, match="no column 'd' to be quasi; the table has 'a', 'b', 'c'"):
        shoal.table(frame, quasi=["d"])


@pytest.mark.parametrize("role", ["quasi", "sensitive", "identifying", "insensitive"])
def test_a_text_given_for_a_list_of_columns_is_refused(role: str) -> None:
    with pytest.raises(
        ParameterError, match=rf"{role}='ab' is a text; give a list, as in {role}=\['ab'\]"
    ):
        shoal.table(pl.DataFrame({"a": [1], "b": [2]}), **{role: "ab"})  # type: ignore[arg-type]


def test_unknown_columns_types_and_policies_are_named() -> None:
    frame = pl.DataFrame({"a": [1]})
    tree = Hierarchy.from_lines([["1", "*"]])
    with pytest.raises(ColumnError, match="no column 'b'; the table has 'a'"):
        shoal.table(frame, hierarchies={"b": tree})
    with pytest.raises(ColumnError, match="no column 'b'"):
        shoal.table(frame, types={"b": "text"})
    with pytest.raises(ColumnError, match="no column 'b'"):
        shoal.table(frame).records(["b"])
    with pytest.raises(
        ParameterError, match="type of column 'a' is 'number'; it takes 'text', 'integer'"
    ):
        shoal.table(frame, types={"a": "number"})
    with pytest.raises(
        ParameterError, match="missing='drop' is not a policy; it takes 'category' or 'refuse'"
    ):
        shoal.table(frame, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="the hierarchy of column 'a' is a str"):
        shoal.table(frame, hierarchies={"a": "ages.csv"})  # type: ignore[dict-item]


def test_missing_values_are_refused_with_their_number_and_nothing_else() -> None:
    with pytest.raises(
        ColumnError, match="column 'a': 3 of 4 values are missing and the policy is 'refuse'"
    ) as caught:
        of(pl.DataFrame({"a": ["secret", None, "", None]}), missing="refuse")
    assert "secret" not in str(caught.value)


def test_values_of_another_type_are_counted_and_never_shown() -> None:
    with pytest.raises(
        ColumnError, match="column 'a': 2 distinct values are not of the declared type 'integer'"
    ) as caught:
        of(pl.DataFrame({"a": ["1", "secret", "39.5"]}), types={"a": "integer"})
    assert "secret" not in str(caught.value)
    assert "39.5" not in str(caught.value)


@pytest.mark.parametrize("at_once", [1, 1 << 20])
@pytest.mark.parametrize("form", [pl.DataFrame, pd.DataFrame, pa.table])
def test_columns_asked_for_together_are_those_asked_for_one_by_one(
    form: Any, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.data.frames._AT_ONCE", at_once)
    data = {
        "^a$": ["y", None, "", "x"] * 6000,
        "*": [None, "b", "c", "b"] * 6000,
        "number": ["7", "07", None, "-1"] * 6000,
        "day": ["2024-02-29", "1999-12-31", "", None] * 6000,
        "many": [f"person {i}" for i in range(24_000)],
        "whole": [3, 1, 2, 2] * 6000,
        "share": [0.5, None, 0.25, 0.5] * 6000,
    }
    options: Any = {"types": {"number": "integer", "day": "date"}}
    names = [*data, "^a$", "many"]
    found = shoal.table(form(data), **options).records(names)
    assert [column.name for column in found] == names
    assert found[0] is found[-2]
    alone = shoal.table(pl.DataFrame(data), **options)
    assert all(same(column, alone.records([column.name])[0]) for column in found)
    assert [found[0].keys[code] for code in found[0].codes[:4]] == ["y", None, None, "x"]


def test_the_first_column_that_misses_values_is_refused_before_texts_that_are_coded_ahead() -> None:
    frame = pl.DataFrame(
        {"number": [1, None], "text": ["", None], "gone": pl.Series([None, None], dtype=pl.String)}
    )
    for names, missing in ((["number", "text"], 1), (["text", "number"], 2), (["gone", "text"], 2)):
        with pytest.raises(
            ColumnError, match=f"column '{names[0]}': {missing} of 2 values are missing"
        ):
            shoal.table(frame, missing="refuse").records(names)


def test_a_table_too_large_for_memory_is_refused_with_the_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(free_memory, "available", lambda: 1_000_000)
    with pytest.raises(
        TooLargeError,
        match=r"coding a table of 100,000 rows needs about 2\.0 MB of memory and 1\.0 MB are free",
    ):
        shoal.table(pl.DataFrame({"a": range(100_000)}), quasi=["a"])


# -------------------------------------------------------------------------------------- hierarchies


AGES = Hierarchy.from_lines([["039", "30-39", "*"], ["40", "40-49", "*"]])


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ([39, 40], None),
        ([39.0, 40.0], None),
        ([39.0, 40.0], {"a": "integer"}),
        (["39", "40"], {"a": "integer"}),
        (["39", " 40.0"], {"a": "float"}),
        (["039", "40"], None),
    ],
)
def test_numbers_meet_the_texts_of_a_hierarchy(values: list[Any], types: Any) -> None:
    table = shoal.table(pl.DataFrame({"a": [*values, None]}), hierarchies={"a": AGES}, types=types)
    assert table.hierarchy("a").labels[0] == ("039", "40", "")
    assert leaves(table, "a").tolist() == [0, 1, 2]


def test_texts_that_are_written_differently_are_different_and_the_error_has_a_fix() -> None:
    table = shoal.table(pl.DataFrame({"a": ["39", "40"]}), hierarchies={"a": AGES})
    with pytest.raises(
        HierarchyError,
        match=r"column 'a': 1 distinct value of the table is not in its hierarchy.*declare",
    ) as caught:
        leaves(table, "a")
    assert "39" not in str(caught.value)


def test_values_that_a_hierarchy_lacks_are_told_what_fits_their_type() -> None:
    days = shoal.hierarchy.dates("2024-01-01", "2024-12-31", ["month"])
    moments = [dt.datetime(2024, 5, 1, hour) for hour in (7, 8)]
    table = shoal.table(pl.DataFrame({"a": moments}), hierarchies={"a": days}, types={"a": "text"})
    with pytest.raises(HierarchyError, match="declare the column 'date', add them there"):
        leaves(table, "a")
    ages = shoal.hierarchy.intervals(0, 99, widths=[5])
    table = shoal.table(pl.DataFrame({"a": [100]}), hierarchies={"a": ages})
    with pytest.raises(HierarchyError, match="let it begin lower or end higher, add it there"):
        leaves(table, "a")
    towns = shoal.hierarchy.suppress(["Ulm"])
    table = shoal.table(pl.DataFrame({"a": ["Bonn"]}), hierarchies={"a": towns})
    with pytest.raises(HierarchyError, match=r"add it there, or clean the table$"):
        leaves(table, "a")


def test_a_number_meets_a_hierarchy_of_other_texts_as_text() -> None:
    tree = Hierarchy.from_lines([["39", "*"], ["unknown", "*"]])
    table = shoal.table(pl.DataFrame({"a": [39, 39]}), hierarchies={"a": tree})
    assert table.kind("a") is Kind.TEXT
    assert leaves(table, "a").tolist() == [0, 0]


def test_dates_meet_a_hierarchy_of_dates() -> None:
    tree = Hierarchy.from_lines([["2024-02-29", "2024", "*"], ["1999-12-31", "1999", "*"]])
    for frame in (
        pl.DataFrame({"a": DAYS}),
        pd.DataFrame({"a": pd.to_datetime(pd.Series(DAYS, dtype="datetime64[s]"))}),
        pa.table({"a": DAYS}),
        pl.DataFrame({"a": ["2024-02-29", "1999-12-31", ""]}),
    ):
        assert leaves(shoal.table(frame, hierarchies={"a": tree}), "a").tolist() == [0, 1, 2]


def test_a_declared_type_that_the_hierarchy_cannot_have_is_an_error() -> None:
    table = shoal.table(
        pl.DataFrame({"a": [39]}),
        hierarchies={"a": Hierarchy.from_lines([["old", "*"]])},
        types={"a": "integer"},
    )
    with pytest.raises(HierarchyError, match=r"column 'a' is of type 'integer': .*'old'"):
        table.hierarchy("a")


def test_a_column_without_a_hierarchy_says_so() -> None:
    with pytest.raises(HierarchyError, match="column 'a' has no hierarchy"):
        shoal.table(pl.DataFrame({"a": [1]})).hierarchy("a")


def test_the_policy_decides_whether_there_is_a_leaf_for_missing_values() -> None:
    frame = pl.DataFrame({"a": [39]})
    assert shoal.table(frame, hierarchies={"a": AGES}).hierarchy("a").has_missing
    assert (
        not shoal.table(frame, hierarchies={"a": AGES}, missing="refuse").hierarchy("a").has_missing
    )


def test_large_hierarchies_are_looked_up_once() -> None:
    size = 66_000  # more than two bytes can number
    tree = Hierarchy.from_lines([[str(i), str(i // 100), "*"] for i in range(size)])
    table = shoal.table(pl.DataFrame({"a": range(size)}), hierarchies={"a": tree})
    assert table.leaf_of("a") is table.leaf_of("a")
    assert leaves(table, "a").tolist() == list(range(size))


# --------------------------------------------------------------------------------- dataframes again


FRAMES: dict[str, Any] = {
    "polars": lambda data: pl.DataFrame(data),
    "pandas": lambda data: pd.DataFrame(
        data, index=[f"row {i}" for i in range(len(next(iter(data.values()))))]
    ),
    "arrow": lambda data: pa.table(data),
}
CODES = np.array([1, 0, 1, 2], dtype=np.uint8)


def back(frame: Any, values: Any, **options: Any) -> tuple[Any, list[object]]:
    """The dataframe that `like` makes of a column of the same name, and its values."""
    made = shoal.table(frame, **options).like({"a": (values, CODES)})
    assert type(made) is type(frame)
    series = nw.from_native(made, eager_only=True)["a"]
    return series, series.to_list()


@pytest.mark.parametrize("library", FRAMES)
def test_values_of_their_type_get_it_back_and_others_are_text(library: str) -> None:
    make = FRAMES[library]
    series, values = back(make({"a": [39, 50]}), ["39", "050", "7"])
    assert (series.dtype, values) == (nw.Int64, [50, 39, 50, 7])
    series, values = back(make({"a": [39, 50]}), ["30-39", "40-49", ""])
    assert (series.dtype, values[:3], series.null_count()) == (
        nw.String,
        ["40-49", "30-39", "40-49"],
        1,
    )
    series, values = back(make({"a": [1.5, 2.0]}), ["1.5", 2.0, 3])
    assert (series.dtype, values) == (nw.Float64, [2.0, 1.5, 2.0, 3.0])
    series, values = back(make({"a": ["x", "y"]}), ["01", "02", "*"])
    assert (series.dtype, values) == (nw.String, ["02", "01", "02", "*"])
    series, values = back(make({"a": [True, False]}), ["false", "true", "true"])
    assert (series.dtype, values) == (nw.Boolean, [True, False, True, True])


@pytest.mark.parametrize("library", FRAMES)
def test_dates_come_back_as_dates(library: str) -> None:
    days = [dt.date(2024, 2, 29), dt.date(1999, 12, 31)]
    frame = FRAMES[library]({"a": pd.to_datetime(days) if library == "pandas" else days})
    series, values = back(frame, [*days, None])
    assert series.dtype == (nw.Datetime if library == "pandas" else nw.Date)
    assert [str(value)[:10] for value in values[:3]] == ["1999-12-31", "2024-02-29", "1999-12-31"]
    assert series.null_count() == 1
    series, values = back(frame, ["2024", "1999", "*"])
    assert (series.dtype, values[0]) == (nw.String, "1999")


@pytest.mark.parametrize("library", FRAMES)
def test_missing_integers_are_null(library: str) -> None:
    series, _ = back(FRAMES[library]({"a": [39, 50]}), [39, 50, None])
    assert series.dtype == nw.Int64
    assert series.null_count() == 1


@pytest.mark.parametrize(
    ("frame", "labels"),
    [
        (pl.DataFrame({"a": [1, 2]}), ["7", "07", "8"]),
        (pd.DataFrame({"a": [1.5, 2.5]}), ["1.0", "1", "8"]),
        (pl.DataFrame({"a": [1.5, 2.5]}, schema={"a": pl.Float32}), ["0.1", "0.1000000001", "8"]),
        (
            pl.DataFrame({"a": [Decimal("1.5")]}, schema={"a": pl.Decimal(6, 1)}),
            ["1.25", "1.26", "8"],
        ),
        (pa.table({"a": [dt.date(2024, 1, 1)]}), ["2024-01-01", "20240101", "2024-01-02"]),
    ],
)
def test_labels_that_differ_stay_different_whatever_the_type(frame: Any, labels: list[str]) -> None:
    """Groups are counted by their labels; once merged, no proof would cover their law."""
    assert len(set(back(frame, labels)[1])) == len(labels)


def test_narrow_types_come_back_where_the_values_fit() -> None:
    frame = pl.DataFrame({"a": [1, 2]}, schema={"a": pl.Int8})
    assert back(frame, [1, 2, 100])[0].dtype == nw.Int8
    assert back(frame, [1, 2, 1000])[0].dtype == nw.Int64
    frame = pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Enum(["x", "y"])})
    assert back(frame, ["x", "y", None])[0].dtype == nw.Enum(["x", "y"])
    assert back(frame, ["x", "y", "*"])[0].dtype == nw.String
    category = pd.DataFrame({"a": pd.Categorical(["x", "y"])})
    assert back(category, ["x", "y", None])[0].dtype == nw.Categorical
    assert (
        back(category, ["x", "y", "*"])[0].dtype == nw.Categorical
    )  # which values there were is nothing to it
    ordered = pd.DataFrame({"a": pd.Categorical(["x", "y"], ordered=True)})
    assert back(ordered, ["x", "y", "*"])[0].dtype == nw.String
    assert back(pd.DataFrame({"a": [1, 2]}), ["1", "2", ""])[0].dtype == nw.Int64


def test_the_index_of_a_pandas_dataframe_reveals_nothing() -> None:
    made = shoal.table(FRAMES["pandas"]({"a": [1, 2]})).like({"a": ([1, 2], np.array([1, 0]))})
    assert made.index.tolist() == [0, 1]


def test_new_columns_are_text_and_columns_keep_the_order_given() -> None:
    made = shoal.table(pl.DataFrame({"a": [1], "b": [2]})).like(
        {"group": (["g"], np.zeros(2, int)), "a": ([5], np.zeros(2, int))}
    )
    assert made.to_dict(as_series=False) == {"group": ["g", "g"], "a": [5, 5]}


def test_columns_of_different_length_are_refused() -> None:
    table = shoal.table(pl.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(ColumnError, match="all of the same length"):
        table.like({"a": ([1], np.zeros(2, int)), "b": ([1], np.zeros(3, int))})
    with pytest.raises(ColumnError, match="at least one column"):
        table.like({})


@settings(deadline=None)
@given(st.sampled_from(["texts", "integers", "floats", "dates", "times", "booleans"]), st.data())
def test_a_column_taken_apart_and_put_together_is_itself(what: str, data: st.DataObject) -> None:
    kinds: dict[str, tuple[Any, Any, Any]] = {
        "texts": (texts, pl.String, "str"),
        "integers": (wholes, pl.Int64, "Int64"),
        "floats": (floats, pl.Float64, "Float64"),
        "dates": (dates, pl.Date, "datetime64[s]"),
        "times": (times, pl.Datetime("us"), "datetime64[us]"),
        "booleans": (truths, pl.Boolean, "boolean"),
    }
    strategy, dtype, pandas = kinds[what]
    values = data.draw(strategy)
    polars = pl.DataFrame({"a": values}, schema={"a": dtype})
    for frame in (polars, polars.to_arrow(), pd.DataFrame({"a": pd.Series(values, dtype=pandas)})):
        table = shoal.table(frame)
        [column] = table.records(["a"])
        again = table.like({"a": (column.keys, column.codes)})
        assert type(again) is type(frame)
        assert nw.from_native(again, eager_only=True).schema == table.frame.schema
        assert same(of(again), column)


# -------------------------------------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("kind", "value", "key"),
    [
        ("integer", "039", 39),
        ("integer", " +39.0 ", 39),
        ("integer", "3.9e1", 39),
        ("integer", "9007199254740993.0", 9007199254740993),
        ("integer", Decimal("39.0"), 39),
        ("integer", True, 1),
        ("float", "1,5".replace(",", "."), 1.5),
        ("float", ".5", 0.5),
        ("float", Decimal("1.50"), 1.5),
        ("date", "2024-02-29", dt.date(2024, 2, 29)),
        ("date", "2024-02-29T12:30:00", dt.date(2024, 2, 29)),
        ("date", dt.datetime(2024, 2, 29, 12), dt.date(2024, 2, 29)),
        ("text", 39.0, "39"),
        ("text", 1.5, "1.5"),
        ("text", Decimal("1.50"), "1.5"),
        ("text", dt.datetime(2024, 2, 29), "2024-02-29"),
        ("text", dt.datetime(2024, 2, 29, 12), "2024-02-29T12:00:00"),
        ("text", False, "false"),
        ("text", " x ", " x "),
    ],
)
def test_values_have_the_key_of_their_kind(kind: str, value: object, key: object) -> None:
    found = Kind(kind).key(value)
    assert found == key
    assert type(found) is type(key)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", "39.5"),
        ("integer", 39.5),
        ("integer", Decimal("39.5")),
        ("integer", "1_000"),
        ("integer", "1e999"),
        ("integer", str(2**63)),
        ("integer", float("inf")),
        ("integer", "x"),
        ("integer", "٣٩"),
        ("float", "inf"),
        ("float", "nan"),
        ("float", float("-inf")),
        ("float", "1_0"),
        ("float", "0x1p3"),
        ("date", "2024-02-30"),
        ("date", "2024-02-29 or so"),
        ("date", 20240229),
    ],
)
def test_values_that_are_not_of_a_kind_are_refused(kind: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        Kind(kind).key(value)


@pytest.mark.parametrize("kind", list(Kind))
def test_nothing_is_missing_in_every_kind(kind: Kind) -> None:
    assert [kind.key(value) for value in (None, "", float("nan"))] == [None] * 3
    assert kind.text(None) == ""


@given(st.sampled_from(list(Kind)), st.data())
def test_the_text_of_a_key_has_that_key(kind: Kind, data: st.DataObject) -> None:
    values: dict[Kind, Any] = {
        Kind.TEXT: st.text(min_size=1),
        Kind.INTEGER: st.integers(-(2**63) + 1, 2**63 - 1),
        Kind.FLOAT: st.floats(allow_nan=False, allow_infinity=False),
        Kind.DATE: st.dates(),
    }
    key = kind.key(data.draw(values[kind]))
    assert kind.key(kind.text(key)) == key


def test_columns_that_look_like_values_are_not_listed() -> None:
    """The first line of a file without names is a record: it must not end up in an error."""
    frame = pl.DataFrame({"Male": ["Female"], "39": ["50"], "Never-married": ["Divorced"]})
    for ask in (
        lambda: shoal.table(frame, quasi=["age"]),
        lambda: shoal.assess(frame, quasi=["age"]),
    ):
        with pytest.raises(ColumnError, match="lack a line with names") as caught:
            ask()
        assert "Male" not in str(caught.value)
        assert "39" not in str(caught.value)


def test_common_mistakes_say_what_to_write() -> None:
    frame = pl.DataFrame({"age": ["1", "2"]})
    assert shoal.assess(frame, quasi=["age"]).k == 1
    with pytest.raises(ColumnError, match=r"shoal\.table"):
        shoal.Optimal([shoal.KAnonymity(2)]).release(frame)  # type: ignore[arg-type]
    with pytest.raises(ColumnError, match=r"shoal\.read"):
        shoal.table("people.csv")
    assert shoal.Optimal(["2-anonymity"]).models == (shoal.KAnonymity(2),)


def test_an_engine_of_ones_own_is_taken_and_what_it_lacks_is_named() -> None:
    class Half:
        def tally(self, names: list[str]) -> None: ...

    with pytest.raises(
        ParameterError, match=r"a Half is taken for an engine.* 'decimals', .*'dist"
    ):
        shoal.table(Half())
