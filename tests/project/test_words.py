"""Words that no page and no message uses: they were how earlier texts sounded translated."""

import re

import pytest

from tests.conftest import ROOT

# Proofs have a language of their own.
TEXTS = sorted(
    [
        ROOT / "README.md",
        *(page for page in (ROOT / "docs").rglob("*.md") if "proofs" not in page.parts),
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "src").rglob("*.html"),
    ]
)

INSTEAD = {
    r"\bone (?:line|row|level|number|value|file|page|folder) an? \w+": "one line per value",
    r"\bnonsense\b": "invalid",
    r"\bfor (?:you|the owner) alone\b": "owner only",
    r"\bholds? it for (?:\w+ )?likely\b": "believes it with probability …",
    r"\b(?:at most|at least|of) so many (?:records|rows|people)\b": "that many records",
    r"\bthe chance of an? \w+ to be\b": "the chance that a row is …",
    r"\brather \w+ than not\b": "more likely than not to be …",
    r"\bis none that Shoal\b": "not a valid …",
    r"\bleaves? as it is\b": "is released unchanged",
    r"\bby itself the surest\b": "by default, the most precise",
    r"\bequivalence classes of\b": "groups of",
    r"\bput(?:s)? on the safe side\b": "errs on the safe side",
    r"\bwhat (?:it|they|that) means? stands\b": "is described in …",
}
"""What is not said, and what is said instead."""


@pytest.mark.parametrize("words", INSTEAD)
def test_nothing_sounds_translated(words: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}"
        for path in TEXTS
        for match in re.finditer(words, path.read_text(encoding="utf-8"))
    ]
    assert not found, f"say: {INSTEAD[words]}"


def test_what_is_not_said_would_be_noticed() -> None:
    for words, text in zip(
        INSTEAD,
        ("one line a value", "nonsense is refused", "for you alone", "hold it for 50 likely"),
        strict=False,
    ):
        assert re.search(words, text)
