"""Files of tables: what is read in parts is what was written, and what was digested."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data import files, free_memory, parquet, table_files
from shoal.data.frames import RowsWithCounts
from shoal.data.table_files import TableFile, TableFiles, part_names
from shoal.errors import FileError, TooLargeError

FORMS = ("csv", "parquet", "arrow")

DIFFERENT = pl.DataFrame(
    {
        'a "name", quoted': ["x", 'with "quotes"', "over\ntwo lines", "", "ä" * 30],
        "number": ["1", "22", None, "4", "5"],
    }
)
ROWS = RowsWithCounts(DIFFERENT, np.array([3, 1, 40, 7, 2]))


def written(folder: Path, form: Any, rows: Any = ROWS) -> Path:
    path = folder / f"table.{form}"
    with open(path, "wb") as file:
        files.serialise(rows, file, form)
    return path


def same(read: RowsWithCounts, rows: RowsWithCounts = ROWS) -> bool:
    """Whether rows are the same, where an empty text is a missing one."""
    one, other = read.repeated(), rows.repeated()
    return bool(one.fill_null("").equals(other.fill_null("")))


def as_if_large(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Have tables read as those that are large beside free memory, `block` bytes at a time."""
    monkeypatch.setattr(table_files, "_SMALL", 1 << 62)
    monkeypatch.setattr(table_files, "_SMALL_FILE", 1 << 62)
    monkeypatch.setattr(table_files, "_BLOCK", block)
    monkeypatch.setattr(table_files, "_AT_A_TIME", 10 * block)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block", [8, 30, 64, 1000])
@pytest.mark.parametrize("group", [1, 7, 1000])
def test_a_table_is_read_as_it_was_written_however_little_at_a_time(
    form: str, block: int, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_ROW_GROUP", group)
    as_if_large(monkeypatch, block)
    path = written(tmp_path, form)
    read = TableFiles.of([path])
    assert read.digests == [hashlib.sha256(path.read_bytes()).hexdigest()]
    rows = read.table(form)
    assert isinstance(rows, RowsWithCounts)
    assert same(rows)
    assert len(rows.frame) == len(DIFFERENT)


@pytest.mark.parametrize("form", FORMS)
def test_a_table_that_is_small_beside_free_memory_is_read_as_a_dataframe(
    form: str, tmp_path: Path
) -> None:
    read = TableFiles.of([written(tmp_path, form)])
    frame = read.table(form)
    assert isinstance(frame, pl.DataFrame)
    assert same(RowsWithCounts.of(frame))
    assert read.rows(form).count.tolist() == ROWS.count.tolist()


def test_a_table_of_many_rows_in_a_small_file_is_not_held_as_a_dataframe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "parquet", RowsWithCounts(DIFFERENT[:1], np.array([1_000_000])))
    monkeypatch.setattr(free_memory, "available", lambda: 1 << 28)
    rows = TableFiles.of([path]).table("parquet")
    assert isinstance(rows, RowsWithCounts)
    assert rows.count.tolist() == [1_000_000]


@pytest.mark.parametrize("form", FORMS)
def test_parts_of_a_table_are_read_in_their_order(form: str, tmp_path: Path) -> None:
    paths = [
        written(tmp_path, form, part).rename(tmp_path / str(place))
        for place, part in enumerate(ROWS.parts(9))
    ]
    rows = TableFiles.of(paths).rows(form)
    assert same(rows)
    assert rows.count.tolist() == ROWS.count.tolist()


def test_a_file_that_changes_while_it_is_read_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if_large(monkeypatch, 16)
    for form in ("csv", "parquet"):
        path = written(tmp_path, form)
        read = TableFiles.of([path])
        content = path.read_bytes()
        path.write_bytes(content.replace(b"22", b"23"))
        with pytest.raises(FileError, match="changed while it was read"):
            read.rows(form)
        path.unlink()
        with pytest.raises(FileError, match="cannot read"):
            list(read.files[0].blocks())


def test_a_small_file_is_held_so_that_it_cannot_change(tmp_path: Path) -> None:
    path = written(tmp_path, "csv")
    read = TableFiles.of([path])
    path.write_bytes(b"")
    assert same(read.rows("csv"))


def test_memory_is_asked_for_by_groups_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a few kilobytes holds more rows than fit, and they are read group by group."""
    many = RowsWithCounts(pl.DataFrame({"a": ["x"], "b": ["y"]}), np.array([3_000_000]))
    path = written(tmp_path, "parquet", many)
    assert path.stat().st_size < 20_000
    groups = parquet.row_groups(path.read_bytes())
    assert groups is not None
    assert sum(group.rows for group in groups) == 3_000_000
    monkeypatch.setattr(free_memory, "available", lambda: 30_000_000)
    assert TableFiles.of([path]).rows("parquet").count.tolist() == [3_000_000]
    pl.DataFrame({"a": ["x"] * 3_000_000}).write_parquet(path, row_group_size=3_000_000)
    with pytest.raises(TooLargeError, match="of memory"):
        TableFiles.of([path]).rows("parquet")


@pytest.mark.parametrize("content", [b"", b"\n", b"PAR1", b"a,b\n1,2,3\n"])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_a_table_is_an_error_in_words(
    content: bytes, form: str, tmp_path: Path
) -> None:
    (tmp_path / "t").write_bytes(content)
    if form == "csv" and content == b"PAR1":
        return  # a name without rows
    with pytest.raises(FileError, match=f"not a readable {form} file"):
        TableFiles.of([tmp_path / "t"]).rows(form)
    with pytest.raises(FileError, match="known are 'csv'"):
        TableFiles.of([tmp_path / "t"]).rows("xls")


def test_a_quote_that_never_closes_is_held_until_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if_large(monkeypatch, 8)
    (tmp_path / "t").write_bytes(b'a,b\n"1,2\n' + b"3,4\n" * 9)
    asked: list[int] = []
    monkeypatch.setattr(free_memory, "require", lambda needed, *_: asked.append(needed))
    with pytest.raises(FileError, match="not a readable csv file"):
        TableFiles.of([tmp_path / "t"]).rows("csv")
    assert max(asked) >= 40


def test_names_of_parts_sort_in_their_order() -> None:
    for parts in (1, 99_999, 100_001):
        names = part_names("release-*.csv", parts)
        assert len(names) == parts
        assert names == sorted(names)
    assert names[0] == "release-000000.csv"


def test_what_is_not_a_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nobody", tmp_path, Path("a\0b")):
        with pytest.raises(FileError, match="cannot read"):
            TableFile.of(path)


def test_other_libraries_read_the_parts_of_a_release(tmp_path: Path) -> None:
    """By the pattern that the certificate has."""
    release = shoal.KDGS(2).release(shoal.demo.table())
    for form in ("csv", "parquet"):
        path = release.write(tmp_path / form, form, rows_per_file=100)
        assert shoal.read(path).rows == release.rows.shape[0]
    assert pl.read_parquet(path).equals(release.table)
