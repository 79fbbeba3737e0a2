"""Every text of the workbench is there in every language."""

import ast
import re
import string
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple
from importlib.resources import files
from pathlib import Path

import pytest

from shoal.choosing import QUESTIONS
from shoal.choosing.deciding import BLANKS
from shoal.choosing.guides import RUNNERS_UP, WAYS, guide_of
from shoal.choosing.reasons import _REASONS
from shoal.methods.catalogue import entries
from shoal.recipe.options import options
from shoal.recipe.schema import METHODS, MODELS
from shoal.releases.looking import PLACES
from shoal.workbench import refusals
from shoal.workbench.refusals import Refusal
from shoal.workbench.screens import steps
from shoal.workbench.texts import LANGUAGES, language_of, translations

_LOOKED = r"""\.looked\(\s*("[^"]*")"""
"""What was looked at is noted in English, and shown in the language of the page."""

FOLDER = Path(str(files("shoal.workbench")))
_QUOTED = r"""_\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""


def texts() -> set[str]:
    """All texts that pages and code mark to be translated."""
    found = {step.title for step in steps()} | {*PLACES.values()} | {*_interview()} | {*_options()}
    for refusal in (value for value in vars(refusals).values() if isinstance(value, Refusal)):
        found |= {refusal.title, *refusal.fixes}
    for path in [*FOLDER.rglob("*.html"), *FOLDER.rglob("*.py")]:
        written = path.read_text("utf-8")
        found |= {ast.literal_eval(text) for text in re.findall(_QUOTED, written)}
        found |= {ast.literal_eval(text) for text in re.findall(_LOOKED, written)}
    return found


def _interview() -> Iterator[str]:
    """What the questions and answers say, and what they lead to."""
    for question in QUESTIONS:
        yield from (question.text, question.help)
        for answer in question.answers:
            yield answer.text
            texts = _REASONS[question.key][answer.key]
            yield from [texts] if isinstance(texts, str) else texts.values()
    for way in WAYS:
        yield from filter(None, astuple(guide_of(way)))
        yield RUNNERS_UP[way][1]
    yield from BLANKS.values()
    yield from (entry.summary for entry in entries())


def _options() -> Iterator[str]:
    """What the options of methods and models mean."""
    for choices in (METHODS, MODELS):
        for name in choices.names:
            yield from (option.meaning for option in options(choices, name))


others = pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])


@others
def test_every_text_is_translated(language: str) -> None:
    missing = sorted(texts() - translations(language).keys())
    assert not missing


@others
def test_no_translation_is_left_over(language: str) -> None:
    """Texts that are not marked come from the library: notes of steps, progress, warnings."""
    left = translations(language).keys() - texts()
    written = "".join(path.read_text("utf-8") for path in FOLDER.parent.rglob("*.py"))
    written = re.sub(r'"\s*\n\s*"', "", written)
    assert not sorted(text for text in left if text not in written)


@others
def test_a_text_is_the_same_on_all_screens(language: str) -> None:
    """Files are read in any order: with two counterparts of a text, chance would decide."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in (FOLDER / "translations" / language).iterdir():
        for english, other in tomllib.loads(path.read_text("utf-8"))["texts"].items():
            found[english].add(other)
    assert not {english: several for english, several in found.items() if len(several) > 1}


@others
def test_translations_have_the_same_values(language: str) -> None:
    for english, other in translations(language).items():
        assert _names(english) == _names(other), english


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_the_first_language_that_is_known_is_taken() -> None:
    assert language_of("en", "de") == "en"
    assert language_of("xx", "fr;q=1,de-CH") == "de"
    assert language_of(None, "") == "en"
