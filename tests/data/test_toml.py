"""Reading TOML files: what is wrong is said with its place, and no value is quoted."""

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data import toml
from shoal.errors import FileError, InputError, RecipeError

KEYS: toml.Keys = {"file": (str,), "complete": (bool,), "people": (list, dict), "k": (int,)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "people.toml"


def test_a_file_is_read_with_its_digest(file: Path) -> None:
    file.write_bytes(b"a = 1\n")
    read = toml.read(file)
    assert (read.path, read.content) == (file, {"a": 1})
    assert read.digest == hashlib.sha256(b"a = 1\n").hexdigest()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b"\xff\xfe", "is not UTF-8 text; give the path of a recipe"),
        (None, "cannot read .*: No such file or directory; give the path of a recipe"),
    ],
)
def test_an_unreadable_file_says_what_was_wanted(
    file: Path, written: bytes | None, message: str
) -> None:
    if written is not None:
        file.write_bytes(written)
    with pytest.raises(FileError, match=message):
        toml.read(file, "a recipe", RecipeError)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("a = [", "is not TOML: see "),
        ("Zanzibar,flu\n", r"is not TOML: see line 1,? column"),
        ("[Zanzibar]\n[Zanzibar]\n", r"is not TOML: see line 2,? column"),
        (f"a = {'9' * 5_000}", "a number with thousands of digits"),
        (f"a = {'[' * 3_000}", "sections a hundred deep"),
        (f"a = {'[' * 51}{']' * 51}", "more than 50 deep; write it with fewer levels"),
    ],
)
def test_what_is_not_toml_is_refused_without_a_word_of_it(
    file: Path, written: str, message: str
) -> None:
    file.write_text(written)
    for error in (FileError, RecipeError):
        with pytest.raises(error, match=message) as caught:
            toml.read(file, error=error)
        assert "Zanzibar" not in str(caught.value)


def test_fifty_levels_are_not_too_deep(file: Path) -> None:
    file.write_text(f"a = {'[' * 49}1{']' * 49}")
    assert toml.read(file).content["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"flie": "x"}, r"^register\.flie: unknown key; did you mean 'file'\?$"),
        ({"zz": 1}, r"^register\.zz: unknown key; it takes 'file', 'complete', 'people', 'k'$"),
        ({"file": 5}, r"^register\.file: should be a text$"),
        ({"k": True}, r"^register\.k: should be a whole number$"),
        ({"complete": "no"}, r"^register\.complete: should be true or false$"),
        ({"people": "Ann"}, r"^register\.people: should be a list or a table \{ … \}$"),
    ],
)
def test_what_does_not_belong_in_a_section_is_said_with_its_place(
    content: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        toml.section({"register": content}, "register", KEYS)


def test_a_section_may_be_absent_and_must_be_one() -> None:
    assert toml.section({}, "register", KEYS) == {}
    assert toml.section({"limits": {"any": 1}}, "limits") == {"any": 1}
    with pytest.raises(InputError, match=r"^register: should be a section; write it as \[regis"):
        toml.section({"register": 3}, "register", KEYS)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_keys_and_texts_are_read_as_they_were_meant(text: str) -> None:
    assert tomllib.loads(f"a = {toml.quoted(text)}") == {"a": text}
    assert tomllib.loads(f"{toml.key(text)} = 1") == {text: 1}


def test_what_cannot_be_a_path_is_refused_in_words() -> None:
    with pytest.raises(FileError, match="cannot be a path"):
        toml.read("a\0b.toml")
