"""A library that is not installed is named, with what installs it."""

import sys

import polars as pl
import pytest

import shoal
from shoal.data.installed import require_installed
from shoal.errors import FileError


def test_what_is_installed_is_given() -> None:
    assert require_installed("zlib", "files", "files").crc32(b"") == 0


@pytest.mark.parametrize(
    ("module", "form"),
    [
        ("pyreadstat", "sav"),
        ("pyreadstat", "dta"),
        ("xlsxwriter", "xlsx"),
        ("fastexcel", "xlsx"),
        ("zstandard", "csv.zst"),
    ],
)
def test_an_extra_that_is_missing_is_named(
    module: str,
    form: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path_factory.mktemp("files") / f"t.{form}"
    shoal.write(pl.DataFrame({"a": ["x"]}), path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FileError, match=rf"need the library {module}; .*'shoal\[files\]'"):
        shoal.write(pl.DataFrame({"a": ["x"]}), path)
    if module != "xlsxwriter":
        with pytest.raises(FileError, match=rf"need the library {module}"):
            shoal.read(path)
