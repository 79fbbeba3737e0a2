"""Files: what is read is what was written, and what cannot be read is named."""

import os
from collections.abc import Callable, Iterator, Sequence
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
from shoal.data import files, free_memory
from shoal.data.distant import Distant
from shoal.data.engines import EngineName
from shoal.data.engines.streaming import Streamed
from shoal.errors import ColumnError, FileError, ParameterError, SourceError, TooLargeError
from tests.data.columns import leaves, texts

DATA = Path(__file__).parents[3] / "shared" / "data"


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


@pytest.mark.parametrize("content", ["", "\n\n", "  \n"])
def test_an_empty_file_is_refused(save: Any, content: str) -> None:
    with pytest.raises(FileError, match="is empty"):
        shoal.read(save(content))


def test_file_names_are_not_patterns(tmp_path: Path) -> None:
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
    assert leaves(table, "age").tolist() == [0, 1]
    with pytest.raises(ColumnError, match="column 'ill': 1 of 2 values are missing"):
        table.records(["ill"])


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather"])
def test_a_file_that_is_not_what_its_name_says_is_refused(save: Any, name: str) -> None:
    with pytest.raises(FileError, match="though its name says so"):
        shoal.read(save("a,b\n1,2\n", name))


def test_the_content_says_what_a_file_is_if_its_name_does_not(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x.data")
    assert shoal.read(tmp_path / "x.data").names == ("a",)
    with pytest.raises(ParameterError, match="for CSV files"):
        shoal.read(tmp_path / "x.data", separator=",")


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_damaged_files_are_refused(save: Any, form: str) -> None:
    magic = {"parquet": b"PAR1", "arrow": b"ARROW1"}[form]
    with pytest.raises(FileError, match="damaged"):
        shoal.read(save(magic + b"no such thing, " * 20, f"x.{form}"))


@pytest.mark.parametrize("magic", [b"\x1f\x8b\x08", b"PK\x03\x04", b"FEA1"])
def test_packed_files_are_refused_with_what_to_do(save: Any, magic: bytes) -> None:
    with pytest.raises(FileError, match=r"unpack|save|copy"):
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


def test_a_path_that_is_not_a_readable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        shoal.read(tmp_path / "absent.csv")
    with pytest.raises(FileError, match="has no files"):
        shoal.read(tmp_path)
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    with pytest.raises(FileError, match="is a directory"):
        shoal.read(tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(FileError, match="not an ordinary file"):
        shoal.read(tmp_path / "pipe.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_named(save: Any) -> None:
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
    monkeypatch.setattr(free_memory, "available", lambda: 10_000)
    for reader in ("read_csv", "read_parquet", "read_ipc"):
        monkeypatch.setattr(pl, reader, None)
    with pytest.raises(TooLargeError, match=r"needs about 0\.\d MB of memory and 0\.0 MB are free"):
        shoal.read(path, engine="memory")


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_a_file_too_large_for_memory_is_streamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: files.Format
) -> None:
    path = tmp_path / f"t.{format}"
    shoal.write(pl.DataFrame({"a": ["x" * 20] * 1000, "b": ["y"] * 1000}), path)
    monkeypatch.setattr(free_memory, "available", lambda: 10_000)
    given = shoal.read(path, columns=["b"])
    assert isinstance(given.source, Distant)
    assert given.names == ("b",)
    assert given.count(["b"], {}).count.tolist() == [1000]


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_files_of_one_folder_are_one_table(tmp_path: Path, engine: EngineName) -> None:
    for place, values in enumerate((["x", "y"], ["y"])):
        shoal.write(pl.DataFrame({"a": values}), tmp_path / f"{place}.parquet")
    (tmp_path / "_SUCCESS").write_bytes(b"")
    for path in (tmp_path, tmp_path / "*.parquet"):
        given = shoal.read(path, engine=engine)
        assert given.count(["a"], {}).count.tolist() == [1, 2]
    shoal.write(pl.DataFrame({"a": [1]}), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=r"the columns of .*2\.parquet differ"):
        shoal.read(tmp_path, engine=engine)


def wrong_files() -> dict[str, tuple[bytes, str]]:
    return {
        "ragged": (b'a,b\n1,2\n3\n"x",4\n', "line 3 has 1 field and the header 2"),
        "too long": (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields"),
        "not UTF-8": ("a,b\nä,1\n".encode("latin-1"), "not UTF-8"),
        "NUL": (b"a,b\n1,\0\n", "line 2 has a NUL"),
        "unpaired": (b'a,b\n"1,2\n3,4\n', "quotes do not pair up"),
    }


@pytest.mark.parametrize("name", wrong_files())
def test_what_is_wrong_with_a_streamed_file_is_said_beforehand(name: str, save: Any) -> None:
    content, message = wrong_files()[name]
    with pytest.raises(FileError, match=message):
        shoal.read(save(content), engine="stream")


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n1,\n1,2\n\n\n",
        b'\xef\xbb\xbf"a ""x""","^b$"\r\n"1\n2",\r\n\r\n',
        b"a;b\n1;2\n",
        b"a\n1\n\n2\n",
        b"a,b\n",
    ],
)
def test_a_streamed_file_has_the_rows_that_a_read_one_has(content: bytes, save: Any) -> None:
    path = save(content)
    memory, stream = (shoal.read(path, engine=engine) for engine in ("memory", "stream"))
    assert memory.names == stream.names
    assert memory.rows == stream.rows
    assert memory.count(memory.names).count.tolist() == stream.count(memory.names).count.tolist()
    assert all(memory.keys(name) == stream.keys(name) for name in memory.names)


def rewritten(path: Path) -> None:
    """Other rows in as many bytes."""
    path.write_bytes(path.read_bytes().replace(b"x", b"y"))


def replaced(path: Path) -> None:
    """Another file of the same size and age."""
    found = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"x", b"y"))
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.rename(path)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"z,9\n")


@pytest.mark.parametrize("change", [rewritten, replaced, appended, Path.unlink])
@pytest.mark.parametrize("when", ["before", "between", "during"])
def test_a_file_that_changes_while_it_is_streamed_is_noticed(
    change: Callable[[Path], Any], when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "visits"
    folder.mkdir()
    for part in ("1.csv", "2.csv"):
        (folder / part).write_text("a,b\n" + "x,1\n" * 500)
    ages = {"b": shoal.hierarchy.intervals(0, 9, widths=[5])}
    given = shoal.read(
        folder, engine="stream", quasi=["b"], identifying=["a"], hierarchies=ages,
        types={"b": "integer"}, rows_are_people=True,
    )  # fmt: skip
    if when == "between":
        assert given.source.distinct("a") == 1
    if when == "during":
        tally = Streamed.tally

        def changing(engine: Streamed, names: Sequence[str]) -> Iterator[pl.DataFrame]:
            yield from tally(engine, names)
            change(folder / "2.csv")

        monkeypatch.setattr(Streamed, "tally", changing)
    else:
        change(folder / "2.csv")
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1/2")
    with pytest.raises(SourceError, match=r"the rows of .*2\.csv changed"):
        ledger.release(shoal.SafePub("1/2", "1/8"), given)
    assert not ledger.account().reserved


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
        assert table.keys("a") == ("x", None)
        assert table.records(["a"])[0].codes.tolist() == [0, 1, 1]


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


def test_the_format_is_given_or_by_the_end_of_the_name(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    shoal.write(frame, tmp_path / "t.data", format="arrow")
    assert (tmp_path / "t.data").read_bytes().startswith(b"ARROW1")
    with pytest.raises(
        ParameterError,
        match=r"'t\.data' does not say its format; give `format`: 'csv', .* or 'jsonl'",
    ):
        shoal.write(frame, tmp_path / "t.data")
    with pytest.raises(ParameterError, match="old Excel is read but not written"):
        shoal.write(frame, tmp_path / "t.xls")
    with pytest.raises(ParameterError, match="format='xml' is unknown"):
        shoal.write(frame, tmp_path / "t.csv", format="xml")  # type: ignore[arg-type]


def test_the_study_tables_are_read_unchanged() -> None:
    path = DATA / "adult" / "adult.csv"
    if not path.exists():
        pytest.skip("the shared data is not here")
    table = shoal.read(path)
    assert (table.rows, len(table.names)) == (30_162, 9)
    assert_frame_equal(
        table.frame.to_native(), pl.read_csv(path, separator=";", infer_schema=False)
    )
