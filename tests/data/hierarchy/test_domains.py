"""Declared domains in files: what is read, and what is refused without showing its content."""

from pathlib import Path

import pytest

from shoal.data.hierarchy import groups, read_groups, read_values
from shoal.errors import FileError, RecipeError


def test_values_are_lines_and_empty_ones_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "values.txt").write_bytes("\ufeffa b\r\n\r\nc,d\né\n".encode())
    assert read_values(tmp_path / "values.txt") == ["a b", "c,d", "é"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tree.json", '{"Europe": {"West": ["FR"]}, "Asia": ["JP"]}'),
        ("tree.toml", 'Asia = ["JP"]\n[Europe]\nWest = ["FR"]\n'),
    ],
)
def test_groups_are_read_as_the_builder_takes_them(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    lines = groups(read_groups(tmp_path / name)).lines()
    assert sorted(lines) == [["FR", "West", "Europe", "*"], ["JP", "Asia", "Asia", "*"]]


def test_files_that_do_not_contain_groups_are_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_text('{"Zanzibar": }')
    with pytest.raises(
        RecipeError, match="does not contain groups: see line 1 column 14"
    ) as caught:
        read_groups(path)
    assert "Zanzibar" not in str(caught.value)
    path.write_text("[" * 100_000)
    with pytest.raises(RecipeError, match="a thousand deep; make them flatter"):
        read_groups(path)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*absent\.txt: No such file"):
        read_values(tmp_path / "absent.txt")
    (tmp_path / "latin.txt").write_bytes("Köln".encode("latin-1"))
    with pytest.raises(FileError, match="is not UTF-8; save it as such"):
        read_values(tmp_path / "latin.txt")
