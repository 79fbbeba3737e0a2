"""Files of a release, read: tables in every form, and errors in words for all other files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Kind
from shoal.data.table_files import TableFiles
from shoal.errors import FileError, TooLargeError
from shoal.releases.verification import verify
from shoal.releases.verification.claims import Claims, read_claims
from shoal.releases.verification.reading import (
    ReleasedTables,
    TableShape,
    read_bytes,
    read_certificate,
    read_rows,
    read_table,
)
from tests.releases.test_release_folder import made
from tests.releases.verification.forging import TREES, released


def test_a_certificate_that_says_neutralised_of_another_table_fails(tmp_path: Path) -> None:
    out = tmp_path / "out"
    release = replace(made("=1+1"), certificate=replace(made().certificate, private=True))
    path = release.write(out)
    paper = shoal.Certificate.from_json((out / "certificate.json").read_text(encoding="utf-8"))
    for said, found in ((True, "would run as a formula"), ("yes", "not a valid Shoal certificate")):
        forged = replace(paper, file={**(paper.file or {}), "neutralised": said})
        (out / "certificate.json").write_text(forged.to_json(), encoding="utf-8")
        assert [wrong for wrong in verify(out / "certificate.json", path) if found in wrong]


def claims_of(form: str, **more: Any) -> Claims:
    """The claims of a certificate whose file is of some form."""
    paper = released("fixed").certificate
    return read_claims(replace(paper, file={"format": form, **more}))


def written(folder: Path, content: bytes) -> TableFiles:
    (folder / "table").write_bytes(content)
    return TableFiles.of([folder / "table"])


def test_bytes_are_those_of_the_file_and_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x00\xffa")
    assert read_bytes(tmp_path / "a") == b"\x00\xffa"
    with pytest.raises(FileError, match=r"cannot read .*nobody: No such file"):
        read_bytes(tmp_path / "nobody")
    with pytest.raises(FileError, match="not a path"):
        read_bytes(Path("a\0b"))


def test_memory_is_asked_for_before_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 1000)
    assert len(read_bytes(tmp_path / "a", 9)) == 100
    with pytest.raises(TooLargeError, match="of memory"):
        read_bytes(tmp_path / "a", 40)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b"", "certificate"),
        (b"[]", "certificate"),
        (b'{"certificate": 2}', "certificate"),
    ],
)
def test_what_is_not_a_certificate_is_an_error_in_words(
    content: bytes, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        read_certificate(path)
    path.write_text(released("fixed").certificate.to_json(), encoding="utf-8")
    assert read_certificate(path) == released("fixed").certificate


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_frame_is_read_in_the_form_that_the_certificate_names(form: str, tmp_path: Path) -> None:
    path = released("fixed").write(tmp_path, form)
    rows = read_rows(TableFiles.of([path]), claims_of(form))
    assert rows.frame.columns == ["sex", "age", "ill"]
    assert rows.shape[0] == len(released("fixed").table)
    assert len(rows.frame) < rows.shape[0]
    for content in (b"", b"\x00" * 9):
        path.write_bytes(content if form != "csv" else b"")
        with pytest.raises(FileError, match=f"the table is not a readable {form} file"):
            read_rows(TableFiles.of([path]), claims_of(form))


@pytest.mark.parametrize("form", ["", "xls", "CSV"])
def test_a_form_that_nobody_writes_is_named_beside_those_known(form: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"names format {form!r}; known are 'csv', 'csv.gz'"):
        read_rows(written(tmp_path, b"a\n1\n"), claims_of(form))


def test_cells_that_were_neutralised_are_read_as_they_were(tmp_path: Path) -> None:
    files = written(tmp_path, b"sex\n'=1\n")
    assert read_rows(files, claims_of("csv")).frame["sex"].to_list() == ["'=1"]
    neutralised = claims_of("csv", neutralised=True)
    assert read_rows(files, neutralised).frame["sex"].to_list() == ["=1"]
    with pytest.raises(FileError, match="would run as a formula"):
        read_rows(written(tmp_path, b"sex\n=1\n"), neutralised)
    for stated in (False, 1, "yes"):
        with pytest.raises(FileError, match="not a valid Shoal certificate"):
            read_rows(files, claims_of("csv", neutralised=stated))


def test_columns_are_text_where_they_are_generalised_and_else_of_their_declared_types() -> None:
    frame = pl.DataFrame({"sex": ["f"], "age": ["30"], "ill": ["flu"], "bucket": ["07"]})
    claims = claims_of("csv")
    rows = RowsWithCounts(frame, np.array([2]))
    table = read_table(rows, claims, TableShape(added={"bucket": Kind.INTEGER}))
    kinds = [table.kind(name) for name in table.names]
    assert kinds == [Kind.TEXT, Kind.TEXT, Kind.TEXT, Kind.INTEGER]
    unlevelled = replace(claims, certificate=replace(claims.certificate, levels={}))
    table = read_table(rows, unlevelled, TableShape(generalised=False))
    assert table.kind("age") is Kind.INTEGER
    without = RowsWithCounts(frame.drop("age"), rows.count)
    assert read_table(without, claims, TableShape()).names == ("sex", "ill", "bucket")


def test_groups_are_by_quasi_identifying_columns_or_by_their_number() -> None:
    frame = pl.DataFrame({"sex": ["f", "f", "m"], "age": ["30-39"] * 3, "ill": ["flu"] * 3})
    rows = RowsWithCounts(frame, np.array([1, 4, 2]))
    for shape, sizes in ((TableShape(), [2, 5]), (TableShape(grouped_by="ill"), [7])):
        tables = ReleasedTables(claims_of("csv"), shape, rows, {}, TREES)
        assert sorted(tables.groups.sizes) == sizes
        assert set(tables.level_trees) == set(tables.quasi_trees) == {"age", "sex"}
