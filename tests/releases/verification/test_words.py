"""Words from certificates: one printable line, and nothing that passes for words of ours."""

import pytest

from shoal.releases.verification.words import named, on_one_line, word


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("column 'größe' of 東京", "column 'größe' of 東京"),
        ("holds\n\x1b[2J", r"holds\n\x1b[2J"),
        ("a\u202eb\u2028c\x00", r"a\u202eb\u2028c\x00"),
        ("", ""),
    ],
)
def test_a_line_has_nothing_that_a_terminal_would_obey(text: str, shown: str) -> None:
    assert on_one_line(text) == shown
    assert on_one_line(text).isprintable()


def test_a_long_line_is_cut_before_it_buries_the_others() -> None:
    assert on_one_line("a" * 1000) == "a" * 1000
    assert on_one_line("a" * 1001) == "a" * 1000 + "…"


def test_a_name_is_quoted_and_cut() -> None:
    assert named("a") == "'a'"
    assert named("a\nb") == r"'a\nb'"
    assert named("a" * 60) == repr("a" * 60)
    assert named("a" * 61) == repr("a" * 60 + "…")


@pytest.mark.parametrize("plain", ["k-anonymity", "0.1.0", "a/b", "größe", "a" * 60, 5])
def test_a_plain_word_is_shown_unchanged(plain: object) -> None:
    assert word(plain) == str(plain)


@pytest.mark.parametrize("other", ["two words", "", "holds:", "a\n", "a" * 61, [1]])
def test_anything_else_is_quoted(other: object) -> None:
    assert word(other)[0] in "'\""
    assert word(other)[-1] in "'\""
