"""A file is what it holds: a wrong ending is an error that says what to do."""

import gzip
import zipfile
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.formats import WRITTEN, called, format_named
from shoal.data.recognising import recognise
from shoal.errors import FileError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    for form in WRITTEN:
        shoal.write(pl.DataFrame({"age": [39, 50], "ill": ["flu", "ok"]}), folder / f"t.{form}")
    return folder


@pytest.mark.parametrize("form", WRITTEN)
def test_content_is_recognised(form: str, folder: Path) -> None:
    content = (folder / f"t.{form}").read_bytes()
    assert recognise(Path(f"t.{form}"), content) == form
    # As standard input is, which has no name.
    assert recognise(Path("t"), content) == form


@pytest.mark.parametrize("named", ["csv", "dta", "sav", "xlsx", "parquet", "csv.gz", "jsonl"])
@pytest.mark.parametrize("form", [form for form in WRITTEN if form != "jsonl"])
def test_a_wrong_ending_is_an_error(form: str, named: str, folder: Path, tmp_path: Path) -> None:
    if named == form:
        return
    path = tmp_path / f"people.{named}"
    path.write_bytes((folder / f"t.{form}").read_bytes())
    with pytest.raises(FileError) as caught:
        shoal.read(path)
    said = str(caught.value)
    assert "utf-16" not in said.lower()
    assert "rename it" in said
    assert called(form) in said or (form == "csv" and "CSV" in said)


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"%PDF-1.7", "t.csv", "is a PDF"),
        (b"RDX3\nX\n", "t.rda", "R workspace"),
        (gzip.compress(b"RDX3\nX\n", mtime=0), "t.rda", "R workspace"),
        (b"BZh91AY&SY", "t.csv.bz2", "bzip2"),
        (bytes(12) + b"\xc2\xea\x81\x63" + bytes(99), "t.sas7bcat", "a SAS catalogue of labels"),
        (bytes(range(256)) * 9, "t.csv", "neither text nor of a format that is known"),
        (bytes(range(255, -1, -1)) * 9, "people", "neither text nor of a format that is known"),
        (bytes(999), "t.csv", "neither text nor of a format that is known"),
        (b"PK\x03\x04 and no more", "t.xlsx", "but not Excel, or a damaged one"),
        (b"PK\x03\x04 and no more", "t.data", "is a zip archive; unpack it"),
        (b"\x81\x82\x83\0\x84" * 99, "t.dta", "not Stata though its name says so: it is damaged"),
        (b"age,ill\n39,flu\n", "t.csv.gz", "it is not compressed; rename it to .csv"),
        (b"age,ill\n39,flu\n", "t.jsonl", "not JSON lines though its name says so"),
    ],
)
def test_what_is_not_read_is_named(content: bytes, name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError) as caught:
        shoal.read(tmp_path / name)
    assert said in str(caught.value)


def test_documents_and_archives_are_not_tables(tmp_path: Path) -> None:
    for name, said in (("word/document.xml", "a document"), ("people.csv", "a zip archive")):
        with zipfile.ZipFile(tmp_path / "t.data", "w") as archive:
            archive.writestr(name, "x")
        with pytest.raises(FileError, match=said):
            shoal.read(tmp_path / "t.data")


def test_old_files_of_stata_are_recognised() -> None:
    for first in (105, 113, 114, 115):
        assert recognise(Path("t.dta"), bytes([first, 2, 1, 0, 5, 0])) == "dta"
    assert format_named("t.dta") == "dta"
    # A letter that one of them begins with, too.
    assert recognise(Path("t.csv"), b"sex,age\nf,39\n") == "csv"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["age,ill\n39,flu\n", "年齢,病気\n39,風邪\n40,😀\n"])
def test_text_of_two_bytes_a_character_is_text(encoding: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert recognise(tmp_path / "t.csv", text.encode(encoding)) == "csv"
