"""Sealed documents: what was written is read back, and nothing else is."""

import json
import re

import pytest

from shoal.errors import FileError
from shoal.releases.sealed import DocumentKind, canonical, seal_of, sealed, unsealed

NOTE = DocumentKind("note", 3, "note", "ask for one")
CONTENT = {"text": "grüß dich", "numbers": [1, 2.5, None, True], "more": {"b": 1, "a": 2}}
KEYS = list(CONTENT)
INVALID = re.escape("this is not a valid note; ask for one")


def resealed(**changes: object) -> str:
    """A note by somebody who knows how to seal."""
    content = {**CONTENT, "note": 3, **changes}
    return canonical({**content, "seal": seal_of(content)})


def test_what_was_sealed_is_read_back() -> None:
    assert unsealed(sealed(CONTENT, NOTE), NOTE, KEYS) == CONTENT


def test_the_order_of_keys_does_not_change_the_text() -> None:
    backwards = dict(reversed(CONTENT.items()))
    assert sealed(backwards, NOTE) == sealed(CONTENT, NOTE)


def test_the_seal_is_the_digest_of_everything_else() -> None:
    content = json.loads(sealed(CONTENT, NOTE))
    seal = content.pop("seal")
    assert seal == seal_of(content)
    assert content == {**CONTENT, "note": 3}


def test_every_changed_character_is_noticed() -> None:
    text = sealed(CONTENT, NOTE)
    for place, character in enumerate(text):
        changed = text[:place] + ("x" if character != "x" else "y") + text[place + 1 :]
        with pytest.raises(FileError):
            unsealed(changed, NOTE, KEYS)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("grüß", "gruss"),
        lambda text: text.replace(" 2.5", " 2.50"),
        lambda text: text + "\n",
        lambda text: text.replace("\n ", "\n  ", 1),
        lambda text: text.replace("{\n", '{\n "text": "twice",\n', 1),
    ],
    ids=["a value", "how a number is written", "a line at the end", "a space", "a repeated key"],
)
def test_a_document_that_was_changed_says_so(change: object) -> None:
    assert callable(change)
    text = change(sealed(CONTENT, NOTE))
    with pytest.raises(FileError, match="the note was changed after it was written; get it again"):
        unsealed(text, NOTE, KEYS)


@pytest.mark.parametrize("version", [1, 2, 4, 10**30])
def test_another_version_of_the_layout_is_named(version: int) -> None:
    message = (
        f"the note has layout {version}, and this version of Shoal reads layout 3; "
        "use the version of Shoal that wrote it"
    )
    with pytest.raises(FileError, match=f"^{re.escape(message)}$"):
        unsealed(resealed(note=version), NOTE, KEYS)


@pytest.mark.parametrize("version", [None, "3", "\x1b[31m", [3], {"layout": 3}, 2.5])
def test_a_version_that_is_not_a_number_is_not_repeated(version: object) -> None:
    with pytest.raises(FileError, match="the note has an unknown layout, and this"):
        unsealed(resealed(note=version), NOTE, KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "3",
        "null",
        '"note"',
        "[" * 100_000,
        "9" * 100_000,
        "\ufeff{}",
        '{"note": 3}',
        '{"seal": ""}',
        '{"note": 3, "seal": "", "text": NaN}',
        '{"note": 3, "seal": "", "text": "\\ud800"}',
    ],
)
def test_what_is_not_a_document_of_the_kind_says_so(text: str) -> None:
    with pytest.raises(FileError, match=f"^{INVALID}$"):
        unsealed(text, NOTE, KEYS)


def test_a_document_with_other_keys_is_not_one_of_the_kind() -> None:
    for text, keys in ((resealed(more_text=""), KEYS), (resealed(), KEYS[:-1]), (resealed(), [])):
        with pytest.raises(FileError, match=f"^{INVALID}$"):
            unsealed(text, NOTE, keys)


def test_what_json_cannot_carry_exactly_is_not_sealed() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        sealed({"text": float("nan")}, NOTE)
