"""Files: what is read is what was written, and what cannot be read is named."""

import codecs
import csv
import io
import os
import re
import stat
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import shoal
from shoal.data import csv_files, disk, files, memory, spreadsheets
from shoal.errors import ColumnError, FileError, ParameterError, TooLargeError

DATA = Path(__file__).parents[3] / "shared" / "data"


def texts(table: shoal.Table) -> dict[str, list[str | None]]:
    """The table's columns as texts."""
    return {
        name: [column.labels[code] or None for code in column.codes]
        for name in table.names
        for column in [table.column(name)]
    }


@pytest.fixture
def save(tmp_path: Path) -> Any:
    def save(content: str | bytes, name: str = "people.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return save


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


@pytest.mark.parametrize(
    "names",
    [
        ["age", "Age"],
        ["straße", "STRASSE"],
        ["caf\u00e9", "cafe\u0301"],
        ["ﬁeld", "field"],
        ["zip", "zip "],
        ["zip", "\u00a0zip"],
        ["zip code", "zip  code"],
        ["zip", "z\u200bip"],
        ["zip", "zip\ufeff"],
        ["zip", "zi\u00adp"],
        ["zip", "zip\ufe0f"],
        ["zip", "zip\u3164"],
    ],
)
@pytest.mark.parametrize("format", ["csv", "parquet", "arrow", "dataframe"])
def test_names_that_look_alike_are_refused_without_being_shown(
    tmp_path: Path, names: list[str], format: str
) -> None:
    frame = pl.DataFrame({"other": ["x"], names[0]: ["y"], names[1]: ["z"]})
    alike = pytest.raises(ColumnError, match="the names of columns 2 and 3 differ only in case")
    if format == "dataframe":
        with alike as caught:
            shoal.table(frame)
    else:
        shoal.write(frame, tmp_path / "t", format=format)  # type: ignore[arg-type]
        given: dict[str, Any] = {"separator": ",", "quote": '"'} if format == "csv" else {}
        (tmp_path / "t").rename(tmp_path / f"t.{format}")
        with alike as caught:
            shoal.read(tmp_path / f"t.{format}", columns=["other"], **given)
    assert not [name for name in names if name in str(caught.value)]


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


def test_empty_lines_at_the_end_are_no_rows_and_elsewhere_an_error(save: Any) -> None:
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


def test_duplicate_names_are_named(save: Any) -> None:
    with pytest.raises(ColumnError, match="two columns are called 'a', 'b'"):
        shoal.read(save("a,b,a,b,c\n1,2,3,4,5\n"))


@pytest.mark.parametrize("content", ["", "\n\n", "  \n"])
def test_an_empty_file_is_refused(save: Any, content: str) -> None:
    with pytest.raises(FileError, match="is empty"):
        shoal.read(save(content))


@pytest.mark.parametrize("content", ["a,b", "a,b\n", "a,b\r\n"])
def test_a_header_alone_is_a_table_without_rows(save: Any, content: str) -> None:
    table = shoal.read(save(content), quasi=["a"])
    assert (table.rows, table.names) == (0, ("a", "b"))
    assert table.column("a").keys == ()
    assert len(table.column("a").codes) == 0


def test_a_file_of_one_row_and_one_column_is_a_table(save: Any) -> None:
    assert texts(shoal.read(save("a,b\n1,2"))) == {"a": ["1"], "b": ["2"]}
    assert texts(shoal.read(save("a\n1\n\n2\n"))) == {"a": ["1", None, "2"]}


def test_values_stay_the_texts_they_are(save: Any) -> None:
    cells = ["007", "1e3", " x ", "NA", "null", "true", "2024-02-30", "39.0"]
    assert texts(shoal.read(save("a;b\n" + "".join(f"{cell};1\n" for cell in cells))))["a"] == cells


def test_a_declared_type_says_how_the_texts_compare(save: Any) -> None:
    table = shoal.read(
        save("a,d\n039,2024-01-02\n39,2024-01-01\n4,\n"), types={"a": "integer", "d": "date"}
    )
    assert table.column("a").keys == (4, 39)
    assert table.column("d").labels == ("2024-01-01", "2024-01-02", "")


def test_only_the_columns_asked_for_are_read_in_the_files_order(save: Any) -> None:
    path = save('a,b,c\n1,"2",3\n4,5,6\n')
    assert texts(shoal.read(path, columns=["c", "a"])) == {"a": ["1", "4"], "c": ["3", "6"]}
    with pytest.raises(ColumnError, match="no column 'd'; it has 'a', 'b', 'c'"):
        shoal.read(path, columns=["a", "d"])
    with pytest.raises(ParameterError, match="`columns` is empty"):
        shoal.read(path, columns=[])


def test_names_are_no_patterns(tmp_path: Path) -> None:
    (tmp_path / "a1.csv").write_text("x\n1\n")
    (tmp_path / "a[1].csv").write_text("y\n1\n")
    assert shoal.read(tmp_path / "a[1].csv").names == ("y",)
    pl.DataFrame({"z": [1]}).write_parquet(tmp_path / "a*.parquet")
    assert shoal.read(tmp_path / "a*.parquet").names == ("z",)


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_roles_types_and_hierarchies_reach_the_table(tmp_path: Path, format: files.Format) -> None:
    tree = shoal.Hierarchy.from_lines([["39", "*"], ["50", "*"]])
    shoal.write(
        pl.DataFrame({"age": [39, 50], "ill": ["flu", None], "id": ["p", "q"], "x": ["1", "2"]}),
        tmp_path / f"t.{format}",
    )
    table = shoal.read(
        tmp_path / f"t.{format}",
        quasi=["age"],
        sensitive=["ill"],
        identifying=["id"],
        insensitive=["x"],
        hierarchies={"age": tree},
        missing="refuse",
    )
    table.require_roles()
    assert (table.quasi, table.sensitive) == (("age",), ("ill",))
    assert table.leaves("age").tolist() == [0, 1]
    with pytest.raises(ColumnError, match="column 'ill': 1 of 2 values are missing"):
        table.column("ill")


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather"])
def test_a_file_that_is_not_what_its_name_says_is_refused(save: Any, name: str) -> None:
    with pytest.raises(FileError, match="though its name says so"):
        shoal.read(save("a,b\n1,2\n", name))


def test_the_content_counts_more_than_the_name(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x.csv")
    assert shoal.read(tmp_path / "x.csv").names == ("a",)
    with pytest.raises(ParameterError, match="for CSV files"):
        shoal.read(tmp_path / "x.csv", separator=",")


@pytest.mark.parametrize("magic", [b"PAR1", b"ARROW1"])
def test_damaged_files_are_refused(save: Any, magic: bytes) -> None:
    with pytest.raises(FileError, match="damaged"):
        shoal.read(save(magic + b"no such thing, " * 20, "x.parquet"))


@pytest.mark.parametrize("magic", [b"\x1f\x8b\x08", b"PK\x03\x04", b"FEA1"])
def test_packed_files_are_refused_with_what_to_do(save: Any, magic: bytes) -> None:
    with pytest.raises(FileError, match=r"unpack|save"):
        shoal.read(save(magic + b"....", "x.csv"))


def test_arrow_streams_are_read(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", "y"], "b": [1, 2]})
    with pa.ipc.new_stream(tmp_path / "s.arrow", table.schema) as sink:
        sink.write_table(table)
    assert texts(shoal.read(tmp_path / "s.arrow", columns=["b"])) == {"b": ["1", "2"]}


def test_duplicate_names_in_parquet_are_an_error(tmp_path: Path) -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(twice, tmp_path / "t.parquet")
    with pytest.raises(ColumnError, match="two columns are called 'a'"):
        shoal.read(tmp_path / "t.parquet")


def test_what_is_no_readable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        shoal.read(tmp_path / "absent.csv")
    with pytest.raises(FileError, match="is a directory"):
        shoal.read(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(FileError, match="not an ordinary file"):
        shoal.read(tmp_path / "pipe.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_one_may_not_read_is_named(save: Any) -> None:
    path = save("a\n1\n")
    path.chmod(0)
    with pytest.raises(FileError, match="Permission denied"):
        shoal.read(path)


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_a_file_too_large_for_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: files.Format
) -> None:
    path = tmp_path / f"t.{format}"
    shoal.write(pl.DataFrame({"a": ["x" * 20] * 1000, "b": ["y"] * 1000}), path)
    monkeypatch.setattr(memory, "available", lambda: 10_000)
    for reader in ("read_csv", "read_parquet", "read_ipc"):
        monkeypatch.setattr(pl, reader, None)
    with pytest.raises(TooLargeError, match=r"needs about 0\.\d MB of memory and 0\.0 MB are free"):
        shoal.read(path)


def test_an_empty_text_is_missing_wherever_it_comes_from(tmp_path: Path) -> None:
    values = ["x", "", None]
    (tmp_path / "t.csv").write_text('a,b\nx,1\n"",1\n,1\n')
    frame = pl.DataFrame({"a": values, "b": [1, 1, 1]})
    shoal.write(frame, tmp_path / "t.parquet")
    shoal.write(frame, tmp_path / "t.arrow")
    tables = [shoal.read(tmp_path / f"t.{end}") for end in ("csv", "parquet", "arrow")]
    tables += [
        shoal.table(frame),
        shoal.table(pd.DataFrame({"a": values})),
        shoal.table(pa.table({"a": values})),
    ]
    tables.append(shoal.table(pd.DataFrame({"a": pd.Series(values, dtype=object)})))
    for table in tables:
        assert table.column("a").keys == ("x", None)
        assert table.column("a").codes.tolist() == [0, 1, 1]


# --------------------------------------------------------------------------------------------------------------- writing

cells = (
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
    )
    | st.none()
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data(), st.integers(1, 3), st.sampled_from(["csv", "parquet", "arrow"]))
def test_what_was_written_is_read_again(
    tmp_path: Path, data: st.DataObject, width: int, format: files.Format
) -> None:
    rows = data.draw(st.lists(st.tuples(*[cells] * width), max_size=8))
    names = [f"c{j}" for j in range(width)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    path = tmp_path / f"t.{format}"
    shoal.write(frame, path)
    expected = {name: [row[j] or None for row in rows] for j, name in enumerate(names)}
    assert (
        texts(
            shoal.read(
                path,
                separator="," if format == "csv" else None,
                quote='"' if format == "csv" else None,
            )
        )
        == expected
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.text("ab,;\"'*^$. \n\té", max_size=4) | st.sampled_from(["*", "^.*$", "", '"', "a"]),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    st.sampled_from(["csv", "parquet", "arrow"]),
)
def test_columns_may_have_any_name(tmp_path: Path, names: list[str], format: files.Format) -> None:
    frame = pl.DataFrame({name: [f"{j}", "x"] for j, name in enumerate(names)})
    given: dict[str, Any] = {"separator": ",", "quote": '"'} if format == "csv" else {}
    if len({" ".join(name.split()) for name in names} - {""}) < len(names):
        return  # blank, or told apart by blanks only
    shoal.write(frame, tmp_path / f"t.{format}")
    assert_frame_equal(shoal.read(tmp_path / f"t.{format}", **given).frame.to_native(), frame)
    last = shoal.read(tmp_path / f"t.{format}", columns=names[-1:], **given)
    assert texts(last) == {names[-1]: [f"{len(names) - 1}", "x"]}


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


def test_every_kind_of_dataframe_is_written_alike(tmp_path: Path) -> None:
    data = {"a": [1, 2], "b": ["x", 'y,"z"']}
    frames = [
        pl.DataFrame(data),
        pd.DataFrame(data, index=[7, 9]),
        pa.table(data),
        shoal.table(pl.DataFrame(data)),
    ]
    for frame in frames:
        shoal.write(frame, tmp_path / "t.csv")
        assert (tmp_path / "t.csv").read_text() == 'a,b\n1,x\n2,"y,""z"""\n'
    for frame in frames:
        shoal.write(frame, tmp_path / "t.parquet")
        assert_frame_equal(pl.read_parquet(tmp_path / "t.parquet"), pl.DataFrame(data))


def test_what_is_no_number_is_written_as_missing(tmp_path: Path) -> None:
    shoal.write(
        pl.DataFrame({"a": [1.5, float("nan"), None], "b": [True, False, None]}), tmp_path / "t.csv"
    )
    assert (tmp_path / "t.csv").read_text() == "a,b\n1.5,true\n,false\n,\n"


def test_the_format_is_the_names_end_or_given(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    shoal.write(frame, tmp_path / "t.data", format="arrow")
    assert (tmp_path / "t.data").read_bytes().startswith(b"ARROW1")
    with pytest.raises(
        ParameterError,
        match=r"'t\.xls' does not say its format; give `format`: 'csv', 'parquet' or 'arrow'",
    ):
        shoal.write(frame, tmp_path / "t.xls")
    with pytest.raises(ParameterError, match="format='xml' is unknown"):
        shoal.write(frame, tmp_path / "t.csv", format="xml")  # type: ignore[arg-type]


def test_nested_columns_are_refused_by_csv(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="column 'a' is of type List"):
        shoal.write(pl.DataFrame({"a": [[1]]}), tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, RuntimeError, OSError(28, "No space left on device")]
)
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: Any
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")
    expected = FileError if isinstance(error, OSError) else error

    def interrupted() -> None:
        with disk.replacing(path) as file:
            file.write(b"half of the n")
            raise error

    with pytest.raises(expected):
        interrupted()
    assert [found.name for found in tmp_path.iterdir()] == ["t.csv"]
    assert path.read_text() == "old"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    (tmp_path / "real.csv").write_text("private")
    os.link(tmp_path / "real.csv", tmp_path / "hard.csv")
    for name, target in (("link.csv", "real.csv"), ("dangling.csv", "absent.csv")):
        (tmp_path / name).symlink_to(tmp_path / target)
        with pytest.raises(FileError, match="is a symbolic link"):
            shoal.write(frame, tmp_path / name)
    assert not (tmp_path / "absent.csv").exists()
    shoal.write(frame, tmp_path / "hard.csv")
    assert (tmp_path / "hard.csv").read_text() == "a\n1\n"
    assert (tmp_path / "real.csv").read_text() == "private"
    (tmp_path / "folder").symlink_to(tmp_path)
    shoal.write(frame, tmp_path / "folder" / "new.csv")
    assert (tmp_path / "new.csv").is_file()


def test_a_written_file_has_the_permissions_of_the_one_before_or_the_usual(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    shoal.write(frame, tmp_path / "own.csv")
    (tmp_path / "own.csv").chmod(0o600)
    shoal.write(frame, tmp_path / "own.csv")
    assert stat.S_IMODE((tmp_path / "own.csv").stat().st_mode) == 0o600
    shoal.write(frame, tmp_path / "real.csv")
    (tmp_path / "plain").touch()
    assert stat.S_IMODE((tmp_path / "real.csv").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain").stat().st_mode
    )


def test_places_one_cannot_write_to_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write .*: No such file or directory"):
        shoal.write(pl.DataFrame({"a": [1]}), tmp_path / "absent" / "t.csv")
    with pytest.raises(FileError, match="directory or a device"):
        shoal.write(pl.DataFrame({"a": [1]}), tmp_path, format="csv")


def test_the_study_tables_are_read_as_they_are() -> None:
    path = DATA / "adult" / "adult.csv"
    if not path.exists():
        pytest.skip("the shared data is not here")
    table = shoal.read(path)
    assert (table.rows, len(table.names)) == (30_162, 9)
    assert_frame_equal(
        table.frame.to_native(), pl.read_csv(path, separator=";", infer_schema=False)
    )


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
def test_rows_that_follow_their_like_are_written_as_polars_writes_them(
    column: list[Any], tmp_path: Path
) -> None:
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


# ------------------------------------------------------------------------------------------------------------- formulas

RUN = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "-9 to 0",
    "=cmd|' /C calc'!A0",
]
NOT_RUN = [
    "-5",
    "+5",
    "-1,234.5",
    "-1e-5",
    "-12%",
    "-.5",
    "a=1",
    "'=1+1",
    " x",
    "",
    "-",
    "'",
    "1-5",
]


def test_texts_that_a_spreadsheet_would_run_are_found_and_negative_numbers_are_not() -> None:
    for text in RUN:
        assert files.formulas(pl.DataFrame({"a": ["x", text]})) == ["a"], text
    for text in NOT_RUN:
        assert files.formulas(pl.DataFrame({"a": ["x", text]})) == [], text
    assert files.formulas(pl.DataFrame({"a": [-5], "b": [-0.5], "=c": [1]})) == ["=c"]
    assert files.formulas(pd.DataFrame({"^a$": pd.Series(["=1"], dtype="category")})) == ["^a$"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.text("'=+-@1e.,%x \t\r\n＝", max_size=5) | st.sampled_from([*RUN, *NOT_RUN]) | st.none(),
        max_size=8,
    )
)
def test_a_neutralised_file_has_nothing_to_run_and_reads_back_as_it_was(
    tmp_path: Path, texts_given: list[str | None]
) -> None:
    frame = pl.DataFrame(
        {"=a": texts_given, "n": [-1] * len(texts_given)}, schema={"=a": pl.String, "n": pl.Int64}
    )
    path = tmp_path / "t.csv"
    shoal.write(frame, path, neutralise=True)
    written = pl.read_csv(path, infer_schema=False)
    assert files.formulas(written) == []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            assert not re.match(r"[=+@\t\r\n＝].", row[0], re.DOTALL) or re.fullmatch(
                r"[+-][0-9.,]+([eE][+-]?[0-9]+)?%?", row[0]
            )
    read = shoal.read(path, separator=",", quote='"', neutralised=True)
    assert texts(read)["=a"] == [text or None for text in texts_given]
    different = {text or None for text in written["'=a"].to_list()}
    assert len(different) == len({text or None for text in texts_given})


def test_a_twin_that_marks_no_apostrophes_mixes_up_two_texts() -> None:
    two = ["=1", "'=1"]
    naive = [f"'{text}" if text.startswith("=") else text for text in two]
    assert len(set(naive)) == 1
    ours = spreadsheets.neutralised(pl.DataFrame({"a": two}))["a"].to_list()
    assert ours == ["'=1", "''=1"]
    assert files.restored(pl.DataFrame({"a": ours}))["a"].to_list() == two


def test_only_csv_can_be_neutralised(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="`neutralise` is for 'csv'"):
        shoal.write(pl.DataFrame({"a": ["=1"]}), tmp_path / "t.parquet", neutralise=True)
    assert not list(tmp_path.iterdir())
