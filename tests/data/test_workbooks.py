"""Workbooks: one sheet is a table, and what is written says nothing but that."""

import datetime as dt
import io
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

import shoal
from shoal.data.workbooks import first_day_of_excel, write_workbook
from shoal.errors import ColumnError, FileError, TooLargeError


def book(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    workbook = xlsxwriter.Workbook(path)
    for name, rows in sheets.items():
        sheet = workbook.add_worksheet(name)
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    workbook.close()
    return path


def test_a_sheet_is_named_where_there_are_several(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["age", "ill"], [39, "flu"]]
    path = book(tmp_path / "t.xlsx", {"people": rows, "notes": [["made"], ["today"]]})
    with pytest.raises(FileError, match="has 2 sheets: 'people', 'notes'; say which one"):
        shoal.read(path)
    assert shoal.read(path, sheet="people").labels("age") == ("39",)
    with pytest.raises(FileError, match="no sheet 'x'; it has 'people', 'notes'"):
        shoal.read(path, sheet="x")


def test_types_are_read_off_the_cells(tmp_path: Path) -> None:
    head = ["n", "f", "m", "b"]
    rows: list[list[Any]] = [head, [1, 1.5, "x", True], [2, 2, 7, False], [None] * 4]
    table = shoal.read(book(tmp_path / "t.xlsx", {"a": rows}))
    assert [table.kind(name).value for name in "nfmb"] == ["integer", "float", "text", "text"]
    assert table.labels("m") == ("7", "x")
    assert table.guessed == {"n", "f", "m", "b"}


@pytest.mark.parametrize(
    ("head", "said"),
    [(["a", "a"], "columns 1 and 2 have the same name"), (["a", None], "column 2 has no name")],
)
def test_columns_need_names_that_differ(head: list[Any], said: str, tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"a": [head, ["x", "y"]]})
    with pytest.raises(ColumnError, match=said):
        shoal.read(path)


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    content = write_workbook(pl.DataFrame({"a": ["secret"]}))
    (tmp_path / "t.xlsx").write_bytes(content[:-30])
    with pytest.raises(FileError, match="damaged") as caught:
        shoal.read(tmp_path / "t.xlsx")
    assert "secret" not in str(caught.value)


def test_an_old_workbook_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    # The reader of old workbooks panics, which is no Exception, where four bytes are cut in two.
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    sizes = b"\x3e\0\x03\0\xfe\xff\x09\0\x06\0" + bytes(10)
    chains = b"\1\0\0\0" + bytes(8) + b"\0\x10\0\0" + b"\xfe\xff\xff\xff" + bytes(4)
    more = b"\xfe\xff\xff\xff" + bytes(4) + bytes(4) + b"\xff" * 432
    (tmp_path / "t.xls").write_bytes((head + sizes + chains + more)[:512] + bytes(22))
    with pytest.raises(FileError, match="damaged"):
        shoal.read(tmp_path / "t.xls")


def test_an_empty_sheet_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"a": []})
    with pytest.raises(FileError, match="sheet 'a' is empty; its first row needs the names"):
        shoal.read(path)


def test_texts_among_durations_are_refused_without_showing_them(tmp_path: Path) -> None:
    workbook = xlsxwriter.Workbook(tmp_path / "t.xlsx")
    sheet = workbook.add_worksheet()
    sheet.write_row(0, 0, ["id", "worked"])
    sheet.write_number(1, 1, 1.5, workbook.add_format({"num_format": "[h]:mm:ss"}))
    sheet.write_string(2, 1, "secret")
    workbook.close()
    with pytest.raises(ColumnError, match="'worked' has texts among cells of another") as caught:
        shoal.read(tmp_path / "t.xlsx")
    assert "secret" not in str(caught.value)


def test_formulas_are_texts(tmp_path: Path) -> None:
    content = write_workbook(pl.DataFrame({"a": ["=1+1", "http://x.org"]}))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
        names = archive.namelist()
    assert b"<f>" not in sheet
    assert b"hyperlink" not in sheet
    assert not any("calcChain" in name for name in names)


def test_a_written_workbook_has_no_author_and_no_time() -> None:
    with zipfile.ZipFile(io.BytesIO(write_workbook(pl.DataFrame({"a": ["x"]})))) as archive:
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert not any(one.extra or one.comment for one in archive.infolist())
        core = archive.read("docProps/core.xml").decode()
    assert "<dc:creator></dc:creator>" in core
    assert core.count("1980-01-01T00:00:00Z") == 2
    assert str(dt.date.today().year) not in core


def test_days_that_excel_does_not_have(tmp_path: Path) -> None:
    assert first_day_of_excel() == dt.date(1900, 3, 1)
    shoal.write(pl.DataFrame({"a": [dt.date(1850, 1, 1)]}), tmp_path / "t.xlsx")
    assert shoal.read(tmp_path / "t.xlsx").labels("a") == ("1850-01-01",)


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(FileError, match="1,048,576 rows"):
        write_workbook(pl.DataFrame({"a": pl.repeat("x", 1 << 20, eager=True)}))


def test_a_stray_cell_in_the_last_corner_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"a": [["x"], [1]]})
    stray = xlsxwriter.Workbook(path)
    sheet = stray.add_worksheet()
    sheet.write(0, 0, "x")
    sheet.write((1 << 20) - 1, (1 << 14) - 1, "secret")
    stray.close()
    with pytest.raises(TooLargeError, match="memory"):
        shoal.read(path, engine="memory")


def a_document(path: Path, columns: int, rows: int, text: str) -> Path:
    """An OpenDocument with one row of cells that is there several times."""
    head = "".join(
        f'<table:table-cell office:value-type="string"><text:p>c{at}</text:p></table:table-cell>'
        for at in range(columns)
    )
    cells = (
        f'<table:table-cell table:number-columns-repeated="{columns}" '
        f'office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
    )
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content{names}><office:body><office:spreadsheet>"
        f'<table:table table:name="a"><table:table-row>{head}</table:table-row>'
        f'<table:table-row table:number-rows-repeated="{rows}">{cells}</table:table-row>'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w", 8) as parts:
        kind = "application/vnd.oasis.opendocument.spreadsheet"
        parts.writestr(zipfile.ZipInfo("mimetype"), kind)
        parts.writestr("META-INF/manifest.xml", "<manifest/>")
        parts.writestr("content.xml", content)
    return path


@pytest.mark.parametrize("form", ["xlsx", "ods"])
def test_a_long_text_in_many_cells_counts_in_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    text = "x" * 30_000
    path = tmp_path / f"t.{form}"
    if form == "xlsx":
        path.write_bytes(write_workbook(pl.DataFrame({"a": [text] * 2000})))
    else:
        a_document(path, 10, 200, text)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 50_000_000)
    with pytest.raises(TooLargeError, match="memory"):
        shoal.read(path, engine="memory")
    monkeypatch.undo()
    assert shoal.read(path, engine="memory").rows in (200, 2000)


def test_sizes_that_are_not_true_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.xlsx"
    content = write_workbook(pl.DataFrame({"a": ["x"]}))
    with zipfile.ZipFile(io.BytesIO(content)) as parts, zipfile.ZipFile(path, "w", 8) as bomb:
        for part in parts.infolist():
            more = bytes(1 << 22) if "sheet1" in part.filename else b""
            bomb.writestr(part.filename, parts.read(part) + more)
    with zipfile.ZipFile(path) as bomb:
        size = bomb.getinfo("xl/worksheets/sheet1.xml").file_size
    forged = path.read_bytes().replace(size.to_bytes(4, "little"), (900).to_bytes(4, "little"))
    path.write_bytes(forged)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 1 << 20)
    with pytest.raises(TooLargeError):
        shoal.read(path, engine="memory")


def test_times_of_the_day_have_no_day(tmp_path: Path) -> None:
    workbook = xlsxwriter.Workbook(tmp_path / "t.xlsx")
    sheet = workbook.add_worksheet()
    clock = workbook.add_format({"num_format": "hh:mm"})
    sheet.write_column(0, 0, ["at", dt.time(7, 30), dt.time(0)], clock)
    workbook.close()
    assert shoal.read(tmp_path / "t.xlsx").labels("at") == ("00:00:00", "07:30:00")


def test_readers_of_workbooks_say_nothing_on_their_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = book(tmp_path / "t.xlsx", {"a": [["x", "y"], [1, None]]})
    shoal.read(path)
    assert not [one for one in caplog.records if not one.name.startswith("shoal")]
