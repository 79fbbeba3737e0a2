"""Compressed files hold what was put in, nothing else, and are refused when damaged."""

import gzip
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

import shoal
from shoal.data import free_memory, packed
from shoal.data.files import Format, serialise
from shoal.data.frames import RowsWithCounts
from shoal.errors import FileError, TooLargeError

CONTENT = b"age,ill\n" + b"39,flu\n" * 200_000


def compressed(how: str, content: bytes = CONTENT) -> bytes:
    file = io.BytesIO()
    with packed.packing(file, how) as inner:
        inner.write(content)
    return file.getvalue()


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_what_is_packed_is_unpacked(how: str) -> None:
    content = compressed(how)
    assert packed.packing_of(content) == how
    assert packed.unpacked([content], how, "t") == CONTENT
    byte_by_byte = (content[place : place + 1] for place in range(len(content)))
    assert packed.unpacked(byte_by_byte, how, "t") == CONTENT
    # Files after one another, as tools that compress in parallel write them.
    assert packed.unpacked([content, content], how, "t") == 2 * CONTENT


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_other_programs_agree(how: str) -> None:
    if how == "gzip":
        assert gzip.decompress(compressed(how)) == CONTENT
        assert packed.unpacked([gzip.compress(CONTENT)], how, "t") == CONTENT
    else:
        other = zstandard.ZstdCompressor(level=10).compress(CONTENT)
        assert packed.unpacked([other], how, "t") == CONTENT


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_damage_is_an_error(how: str) -> None:
    content = compressed(how)
    changed = bytearray(content)
    changed[len(content) // 2] ^= 255
    for damaged in (content[:-3], content[: len(content) // 2], bytes(changed)):
        with pytest.raises(FileError, match="t is damaged"):
            packed.unpacked([damaged], how, "t")
    with pytest.raises(FileError, match="t is damaged"):
        packed.unpacked([content + b"more"], how, "t")


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_a_bomb_is_refused_before_it_fills_memory(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = compressed(how, bytes(300_000_000))
    assert len(content) < 400_000
    monkeypatch.setattr(free_memory, "available", lambda: 50_000_000)
    with pytest.raises(TooLargeError, match="unpack it and stream"):
        packed.unpacked([content], how, "t")
    assert all(len(part) < 20_000_000 for part in packed.unpacked_blocks([content], how, "t"))


def test_gzip_has_no_name_and_no_time(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x"]})
    for name in ("a.csv.gz", "b.csv.gz"):
        shoal.write(frame, tmp_path / name)
    content = (tmp_path / "a.csv.gz").read_bytes()
    assert content == (tmp_path / "b.csv.gz").read_bytes()
    # Flags say that there is no name and no comment, then comes the time, and no system.
    assert content[3:10] == b"\0\0\0\0\0\0\xff"


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".jsonl.gz", ".jsonl.zst"])
def test_compressed_files_are_read(ending: str, tmp_path: Path) -> None:
    how = {".gz": "gzip", ".zst": "zstd"}[Path(ending).suffix]
    content = b'{"a":"\xc3\xa4","b":1}\n' if "jsonl" in ending else "a;b\nä;1\n".encode("cp1252")
    (tmp_path / f"t{ending}").write_bytes(compressed(how, content))
    table = shoal.read(tmp_path / f"t{ending}")
    assert table.labels("a") == ("ä",)
    assert table.labels("b") == ("1",)
    with pytest.raises(FileError, match=r"read as a whole.* Parquet or plain CSV"):
        shoal.read(tmp_path / f"t{ending}", engine="stream")


@pytest.mark.parametrize("form", ["csv.gz", "csv.zst"])
def test_rows_that_are_repeated_are_written_compressed(form: Format) -> None:
    frame = pl.DataFrame({"age": [39, 40], "ill": ["flu", "cold"]})
    rows = RowsWithCounts(frame, np.array([70_000, 3]))
    plain, file = io.BytesIO(), io.BytesIO()
    serialise(rows, plain, "csv")
    serialise(rows, file, form)
    how = {"csv.gz": "gzip", "csv.zst": "zstd"}[form]
    assert packed.unpacked([file.getvalue()], how, "t") == plain.getvalue()
