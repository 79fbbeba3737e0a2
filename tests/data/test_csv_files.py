"""CSV files: how they are written is found out, and faults are named with their line."""

import codecs
import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.data import csv_files
from shoal.data.csv_files import CsvOptions
from shoal.data.frames import CodedRows
from shoal.data.hierarchy.build import suppress
from shoal.errors import ColumnError, FileError, ParameterError, ShoalError
from tests.data.columns import texts


@pytest.mark.parametrize("separator", csv_files.SEPARATORS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends_are_found(save: Any, separator: str, line_end: str) -> None:
    lines = [f"age {separator}sex", f"39{separator}female", f"50{separator}male"]
    table = shoal.read(save(line_end.join(lines) + line_end))
    assert table.names == ("age ", "sex")
    assert texts(table)["sex"] == ["female", "male"]


def test_a_decimal_comma_is_not_taken_for_a_separator(save: Any) -> None:
    table = shoal.read(save("weight;height\n70,5;1,80\n81,2;1,75\n"))
    assert table.names == ("weight", "height")


def test_a_single_column_whose_name_has_a_comma_stays_one_column(save: Any) -> None:
    assert shoal.read(save("age, in years\n39\n50\n")).names == ("age, in years",)


def test_a_title_above_the_header_is_not_taken_for_the_only_column(save: Any) -> None:
    path = save("Stays in 2024\nage;sex;ward\n39;female;a\n50;male;b\n")
    with pytest.raises(
        FileError, match="first line has one field and those below have 3 with separator ';'"
    ):
        shoal.read(path)
    names = save("name\nSmith, Ann\nJones, Bob\n")
    with pytest.raises(FileError, match="or give the separator if it is one column"):
        shoal.read(names)
    assert texts(shoal.read(names, separator=";")) == {"name": ["Smith, Ann", "Jones, Bob"]}


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16", b""),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("cp1252", b""),
    ],
)
def test_encodings_are_found(save: Any, encoding: str, mark: bytes) -> None:
    table = shoal.read(save(mark + "straße;größe\nMüllerweg;klein\nŽižkov;groß\n".encode(encoding)))
    assert texts(table) == {"straße": ["Müllerweg", "Žižkov"], "größe": ["klein", "groß"]}


def test_bytes_that_windows_does_not_know_are_latin_1(save: Any) -> None:
    assert texts(shoal.read(save(b"a,b\n\x81\xe9,1\n"))) == {"a": ["\x81é"], "b": ["1"]}


def test_an_encoding_that_shows_only_late_in_the_file_is_found(save: Any) -> None:
    rows = 60_000
    table = shoal.read(save("name,n\n" + "Smith,1\n" * rows + "Müller,2\n", encoding="cp1252"))
    assert table.rows == rows + 1
    assert texts(table)["name"][-1] == "Müller"


def test_a_file_that_begins_as_utf_8_and_breaks_off_is_not_guessed_at(save: Any) -> None:
    path = save("name,n\nMüller,1\n".encode() + b"Smith,1\n" * 60_000 + b"M\xfcller,1\n")
    with pytest.raises(FileError, match=r"not utf-8 text: line 60003"):
        shoal.read(path)


@pytest.mark.parametrize(
    "lines",
    [
        ["Müller".encode(), "Müller".encode("cp1252")],
        ["Müller".encode("cp1252"), "Müller".encode()],
        ["Müller".encode("cp1252"), *[b"Smith"] * 60_000, "Łódź".encode()],
        [*[b"Smith"] * 60_000, "Łódź".encode(), "Müller".encode("cp1252")],
        [b"\x81", "日本".encode()],
    ],
)
def test_a_file_in_mixed_encodings_is_refused_and_not_guessed_at(
    save: Any, lines: list[bytes]
) -> None:
    path = save(b"name,n\n" + b"".join(line + b",1\n" for line in lines))
    with pytest.raises(
        FileError, match=r"mixes encodings: line \d+ has UTF-8, and line \d+"
    ) as caught:
        shoal.read(path)
    for part in ("ller", "Łód", "日"):
        assert part not in str(caught.value)
    assert shoal.read(path, encoding="latin-1").rows == len(lines)  # whoever says what it is


@pytest.mark.parametrize("header", [",age", "age,", "age,  ", 'age,""', "age,\u200b", "age,\u00a0"])
def test_a_column_without_a_name_is_refused(save: Any, header: str) -> None:
    with pytest.raises(ColumnError, match=r"column [12] has no name"):
        shoal.read(save(f"{header}\n1,2\n"), separator=",")


def test_nul_characters_are_refused_with_their_line(save: Any, tmp_path: Path) -> None:
    for path in (
        save("a,b\n1,2\nse\0cret,3\n"),
        save("a,b\n1,2\nse\0cret,é\n", encoding="cp1252"),
        save("a,b\n1,2\nse\0cret,é\n", encoding="utf-16"),
    ):
        with pytest.raises(FileError, match="line 3 has a NUL character") as caught:
            shoal.read(path)
        assert "cret" not in str(caught.value)
    with pytest.raises((FileError, ColumnError), match="NUL"):
        shoal.read(save("a\0,b\n1,2\n"))
    with pytest.raises(ColumnError, match="column 'a' has a text with a NUL character"):
        shoal.write(pl.DataFrame({"a": ["se\0cret"]}), tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


JSON = [
    '[{"name": "Zanzibar", "ill": "flu"}, {"name": "Bob", "ill": "gout"}]',
    ' {"name": "Zanzibar", "ill": "flu"}',
    '{"name": "Zanzibar", "ill": "flu"}\n{"name": "Bob", "ill": "gout"}\n',
    '[["Zanzibar", "flu"], ["Bob", "gout"]]',
    '["Zanzibar", "flu"]',
    "[]",
    '<?xml version="1.0"?><p name="Zanzibar" ill="flu"/>',
    "<people><p><name>Zanzibar</name></p></people>",
]


@pytest.mark.parametrize("content", JSON)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_and_xml_are_refused_without_showing_a_cell(
    save: Any, content: str, encoding: str
) -> None:
    path = save(content, encoding=encoding)
    for options in ({}, {"columns": ["age"]}, {"quasi": ["age"]}, {"separator": ","}):
        with pytest.raises(FileError, match="is JSON or XML; save the table as CSV") as caught:
            shoal.read(path, **options)
        assert "Zanzibar" not in str(caught.value)


@pytest.mark.parametrize("header", ["[Age],[Sex]", "<AGE>,<SEX>", "{age},{sex}"])
def test_names_in_brackets_are_names(save: Any, header: str) -> None:
    assert shoal.read(save(f"{header}\n39,female\n50,male\n")).names == tuple(header.split(","))


@pytest.mark.parametrize(
    "content",
    [
        "Zanzibar,flu",
        "Zanzibar,Zanzibar\n",
        "INSERT INTO people VALUES ('Zanzibar', 'flu');",
        "Zanzibar\n",
        "name: Zanzibar, ill: flu",
    ],
)
def test_the_only_line_of_a_file_is_not_shown_for_it_may_be_a_record(
    save: Any, content: str
) -> None:
    path = save(content)
    for options in ({"columns": ["age"]}, {"quasi": ["age"]}, {"types": {"age": "integer"}}):
        with pytest.raises((FileError, ColumnError)) as caught:
            shoal.read(path, **options)
        assert "Zanzibar" not in str(caught.value)


def test_a_given_encoding_that_does_not_fit_is_refused(save: Any) -> None:
    path = save("name,n\nMüller,1\n", encoding="cp1252")
    with pytest.raises(FileError, match="not utf-8 text: line 2"):
        shoal.read(path, encoding="utf-8")
    with pytest.raises(ParameterError, match="encoding='klingon' is unknown"):
        shoal.read(path, encoding="klingon")


def test_a_given_separator_and_quote_are_used(save: Any) -> None:
    table = shoal.read(save("a:b\n'x:y':1\n"), separator=":", quote="'")
    assert texts(table) == {"a": ["x:y"], "b": ["1"]}
    assert texts(shoal.read(save('a,b\n"x,1\n'), quote="")) == {"a": ['"x'], "b": ["1"]}
    assert shoal.read(save("a\tb\n1\t2\n"), separator="tab").names == ("a", "b")


def test_apostrophes_are_quotes_only_where_all_of_them_are(save: Any) -> None:
    assert texts(shoal.read(save("a,b\n'x,y','it''s'\n")))["a"] == ["x,y"]
    assert texts(shoal.read(save("a,b\n'tis,x\n'twas',y\n")))["a"] == ["'tis", "'twas'"]


@pytest.mark.parametrize(("given", "right"), [(",", ";"), (";", ","), ("|", "\t")])
def test_a_wrong_separator_is_an_error_that_names_the_right_one(
    save: Any, given: str, right: str
) -> None:
    path = save(f"age{right}sex\n39{right}female\n")
    with pytest.raises(FileError, match="one column with separator") as caught:
        shoal.read(path, separator=given)
    assert repr(right) in str(caught.value)


@pytest.mark.parametrize("bad", ["ab", "\n", "ä", ""])
def test_a_separator_is_one_character(save: Any, bad: str) -> None:
    with pytest.raises(ParameterError, match="one ASCII character"):
        shoal.read(save("a,b\n1,2\n"), separator=bad)


@pytest.mark.parametrize("columns", [None, ["a"], ["a", "c"]])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("fault", ["3,4", "3,4,5,6", "3", "3,4,5,"])
def test_a_ragged_line_is_an_error_with_its_number(
    save: Any, fault: str, quoted: bool, columns: list[str] | None
) -> None:
    value = '"x\ny"' if quoted else "x"
    path = save(f"a,b,c\n{value},2,\n1,{value},3\n{fault}\n1,2,3\n")
    with pytest.raises(
        FileError, match=f"line {6 if quoted else 4} has {len(fault.split(','))} field"
    ):
        shoal.read(path, columns=columns)


def test_a_ragged_line_far_down_a_large_file_is_found(save: Any) -> None:
    lines = ["a,b,c"] + ["one,two,three"] * 50_000
    lines[40_000] = "one,two"
    for text in ("\n".join(lines), "\r\n".join(lines) + "\r\n"):
        with pytest.raises(FileError, match="line 40001 has 2 fields and the header 3"):
            shoal.read(save(text))
        with pytest.raises(FileError, match="line 40001 has 2 fields and the header 3"):
            shoal.read(save(text), columns=["b"])
    lines[40_000], lines[40_001] = "one,two", "one,two,three,four"
    with pytest.raises(FileError, match="line 40001 has 2 fields"):
        shoal.read(save("\n".join(lines)), columns=["b"])


def test_empty_lines_are_skipped_at_the_end_and_an_error_elsewhere(save: Any) -> None:
    assert shoal.read(save("a,b\n1,2\n3,\n\n\n")).rows == 2
    assert shoal.read(save("\n\na,b\n1,2\n3,\n")).rows == 2
    with pytest.raises(FileError, match="line 3 has no fields and the header 2"):
        shoal.read(save("a,b\n1,2\n\n3,4\n"))


@pytest.mark.parametrize("line", ['5" pipe,2', '"x"y,2', '"never closed,2'])
def test_quotes_that_do_not_pair_up_are_an_error_without_the_cell(save: Any, line: str) -> None:
    with pytest.raises(FileError, match=r"quotes do not pair up|fields? and the header") as caught:
        shoal.read(save(f"a,b\n1,2\n{line}\n3,4\n"))
    assert "pipe" not in str(caught.value)
    assert "closed" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_duplicate_names_are_told_by_their_places(save: Any) -> None:
    with pytest.raises(ColumnError, match="columns 1 and 3 have the same name"):
        shoal.read(save("a,b,a,b,c\n1,2,3,4,5\n"))


@pytest.mark.parametrize("content", ["a,b", "a,b\n", "a,b\r\n"])
def test_a_header_alone_is_a_table_without_rows(save: Any, content: str) -> None:
    table = shoal.read(save(content), quasi=["a"])
    assert (table.rows, table.names) == (0, ("a", "b"))
    assert table.keys("a") == ()
    assert len(table.records(["a"])[0].codes) == 0


def test_a_file_of_one_row_and_one_column_is_a_table(save: Any) -> None:
    assert texts(shoal.read(save("a,b\n1,2"))) == {"a": ["1"], "b": ["2"]}
    assert texts(shoal.read(save("a\n1\n\n2\n"))) == {"a": ["1", None, "2"]}


def test_values_stay_texts(save: Any) -> None:
    cells = ["007", "1e3", " x ", "NA", "null", "true", "2024-02-30", "39.0"]
    assert texts(shoal.read(save("a;b\n" + "".join(f"{cell};1\n" for cell in cells))))["a"] == cells


def test_a_declared_type_says_how_the_texts_compare(save: Any) -> None:
    table = shoal.read(
        save("a,d\n039,2024-01-02\n39,2024-01-01\n4,\n"), types={"a": "integer", "d": "date"}
    )
    assert table.keys("a") == (4, 39)
    assert table.records(["d"])[0].labels == ("2024-01-01", "2024-01-02", "")


def test_only_the_columns_asked_for_are_read_in_the_files_order(save: Any) -> None:
    path = save('a,b,c\n1,"2",3\n4,5,6\n')
    assert texts(shoal.read(path, columns=["c", "a"])) == {"a": ["1", "4"], "c": ["3", "6"]}
    with pytest.raises(ColumnError, match="no column 'd'; it has 'a', 'b', 'c'"):
        shoal.read(path, columns=["a", "d"])
    with pytest.raises(ParameterError, match="`columns` is empty"):
        shoal.read(path, columns=[])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(st.text("ab,;|\t\"'\n é", max_size=5), st.text("xy,;|\t\"'\n é", max_size=5)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(csv_files.SEPARATORS),
)
def test_files_of_pythons_own_csv_writer_are_read(
    tmp_path: Path, rows: list[tuple[str, str]], separator: str
) -> None:
    made = io.StringIO(newline="")
    csv.writer(made, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    (tmp_path / "t.csv").write_bytes(made.getvalue().encode())
    found = texts(shoal.read(tmp_path / "t.csv", separator=separator))
    assert found == {"a": [a or None for a, _ in rows], "b": [b or None for _, b in rows]}


def test_nan_is_written_as_missing(tmp_path: Path) -> None:
    shoal.write(
        pl.DataFrame({"a": [1.5, float("nan"), None], "b": [True, False, None]}), tmp_path / "t.csv"
    )
    assert (tmp_path / "t.csv").read_text() == "a,b\n1.5,true\n,false\n,\n"


def test_nested_columns_are_refused_by_csv(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="column 'a' is of type List"):
        shoal.write(pl.DataFrame({"a": [[1]]}), tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "column",
    [
        ["a", None, "b,c", 'say "x"', ""],
        ["two\nlines", "a", "b", "c", "d"],
        ["one\rtwo", "a", "b", "c", "d"],
        [1, None, 3, 4, 5],
        [0.0, -0.0, 1.5, None, 2.5],
    ],
)
def test_repeated_rows_are_written_as_polars_writes_them(column: list[Any], tmp_path: Path) -> None:
    values = pl.Series("v", column)
    often = [1, 9000, 2, 5000, 1]
    frame = pl.DataFrame(
        {
            "^v$": values.gather(
                [place for place, times in enumerate(often) for _ in range(times)]
            ),
            "w": [None] * sum(often),
        }
    )
    frame = frame.with_columns(w=pl.lit(None, dtype=pl.String))
    shoal.write(frame, tmp_path / "ours.csv")
    frame.write_csv(tmp_path / "theirs.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_rows_of_nothing_but_missing_values_come_first_too(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"v": [None] * 12_000 + ["a"] * 3, "w": [None] * 12_003},
        schema={"v": pl.String, "w": pl.Int64},
    )
    shoal.write(frame, tmp_path / "ours.csv")
    frame.write_csv(tmp_path / "theirs.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": ["x", "y,z", None], "b": [1, None, 3]}),
        pl.DataFrame({"a": ["x", "two\nlines", "z"], "b": [1, 2, 3]}),
        pl.DataFrame({"only": ["x", None, "z"]}),
        pl.DataFrame({"a": [0.0, -0.0, None], "b": [0.5, float("nan"), 1e300]}),
    ],
)
@pytest.mark.parametrize("count", [[30_000, 1, 2], [1, 1, 1], [20_000, 0, 5], [0, 0, 0]])
def test_counted_rows_are_written_as_the_repeated_rows_are(
    frame: pl.DataFrame, count: list[int]
) -> None:
    counted, repeated = io.BytesIO(), io.BytesIO()
    csv_files.write_csv(frame, counted, np.array(count))
    csv_files.write_csv(frame[np.repeat([0, 1, 2], count)], repeated)
    assert counted.getvalue() == repeated.getvalue()


# Coding while reading


@pytest.fixture
def always_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are coded while they are read, too, and columns of any number of values."""
    monkeypatch.setattr(csv_files, "_WORTHWHILE", -1)
    monkeypatch.setattr(csv_files, "_REPEATED", 1)


def csv_file(path: Path) -> csv_files.CsvFile:
    content = path.read_bytes()
    return csv_files.CsvFile(path, content[: csv_files.HEAD], len(content), CsvOptions())


def rows_or_error(read: Any) -> Any:
    try:
        rows = read(None)
    except ShoalError as error:
        return str(error)
    frame = rows.frame() if isinstance(rows, CodedRows) else rows
    return frame.schema, frame.rows()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["a", "b", "", "é", " a", "0", "00", '"a"', '""', '"a;b"', '"a"b', 'a"b']
            )
            | st.text('ab";\r\0é ', max_size=3),
            min_size=1,
            max_size=4,
        ),
        min_size=2,
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.binary(max_size=2),
    st.sets(st.sampled_from(["a", "b", "", "é", "0", '"a"', "elsewhere"])),
)
def test_coding_while_reading_changes_no_row_and_no_error(
    always_coded: None,
    tmp_path: Path,
    records: list[list[str]],
    end: str,
    rest: bytes,
    expected: set[str],
) -> None:
    lines = ["x;y", *(";".join(record) for record in records)]
    path = tmp_path / "any.csv"
    path.write_bytes(end.join(lines).encode() + rest)
    file = csv_file(path)
    plain = rows_or_error(file.read)
    assert rows_or_error(file.read_coded) == plain
    declared = {"x": sorted(expected), "elsewhere": ["a"]}
    assert rows_or_error(lambda columns: file.read_coded(columns, declared)) == plain


def test_texts_that_are_coded_while_they_are_read_are_sorted_and_all_occur(
    always_coded: None, save: Any
) -> None:
    path = save("town;age\nYork;39\n;50\nBath;39\n;039\nBath;7\n")
    rows = csv_file(path).read_coded(None)
    assert isinstance(rows, CodedRows)
    codes, values = rows.coded["town"]
    assert values == ["Bath", "York", None]
    assert codes.tolist() == [1, 2, 0, 2, 0]
    assert rows.coded["age"][1] == ["039", "39", "50", "7"]
    table = shoal.read(path, types={"age": "integer"})
    assert table.keys("age") == (7, 39, 50)
    assert table.frame["age"].to_list() == ["39", "50", "39", "039", "7"]


@pytest.mark.parametrize("expected", [{}, {"town": ["York", "Aldwych", "Leeds", "Bath"]}])
@pytest.mark.parametrize("rare", ["", "Hull", "Aldwych", "Zennor"])
def test_a_text_that_comes_once_in_a_large_file_has_its_place_in_the_order(
    save: Any, rare: str, expected: dict[str, list[str]]
) -> None:
    lines = "York;39\nBath;7\n" * 40_000
    path = save(f"town;age\n{lines}{rare};7\n{lines}")
    rows = csv_file(path).read_coded(None, expected)
    assert isinstance(rows, CodedRows)
    codes, values = rows.coded["town"]
    assert values == [*sorted({"York", "Bath", rare} - {""}), *([] if rare else [None])]
    assert np.bincount(codes).min() == 1
    assert rows.frame().equals(csv_file(path).read(None))


def test_columns_of_many_values_stay_texts_and_the_others_are_coded(save: Any) -> None:
    lines = [f"P{n:06},{n % 7},{n % 50}" for n in range(40_000)]
    path = save("person,day,age\n" + "\n".join(lines) + "\n")
    rows = csv_file(path).read_coded(None)
    assert isinstance(rows, CodedRows)
    assert list(rows.coded) == ["day", "age"]
    assert rows.columns == ("person", "day", "age")
    assert rows.frame().equals(csv_file(path).read(None))


@pytest.mark.parametrize("declared", [253, 254, 255, 300])
def test_declared_values_that_no_row_has_are_none_of_the_tables(save: Any, declared: int) -> None:
    lines = "York;39\n;7\n" * 40_000
    path = save(f"town;age\n{lines}")
    ages = suppress([str(age) for age in range(declared)])
    table = shoal.read(path, quasi=["age"], hierarchies={"age": ages})
    assert table.keys("age") == ("39", "7")
    assert table.keys("town") == ("York", None)


@pytest.mark.parametrize("values", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1])
def test_more_values_than_two_bytes_tell_apart_are_read_all_the_same(
    always_coded: None, save: Any, values: int
) -> None:
    numbers = [*range(values), "", 5]
    table = shoal.read(save("n;m\n" + "".join(f"{n};1\n" for n in numbers)))
    assert texts(table)["n"] == [str(n) or None for n in numbers]
    assert len(table.keys("n")) == values + 1


@pytest.mark.parametrize("fault", ['York;"4";x', "York;\0;x", "York;4", "York;4;x;y", "York;é;x"])
def test_what_is_unusual_late_in_a_large_file_is_seen(save: Any, fault: str) -> None:
    lines = "York;39;x\n" * 60_000
    path = save(f"town;age;ward\n{lines}{fault}\n{lines}", encoding="cp1252")
    file = csv_file(path)
    assert rows_or_error(file.read_coded) == rows_or_error(file.read)
