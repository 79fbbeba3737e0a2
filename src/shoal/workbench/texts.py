"""Texts in several languages: English as it is written in pages and code, and translations of it.

A translation is a folder of TOML files, one for each screen, of English texts with their
counterparts. What a certificate says stays as it is, since others check it. `pages` uses it.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

__all__ = ["LANGUAGES", "language_of", "lines_of", "translations", "translator"]

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The languages that pages can have, each by its own name."""

Translate = Callable[..., str]

_LINE = re.compile(r'^("(?:[^"\\]|\\.)*") = ("(?:[^"\\]|\\.)*")(?:  #.*)?$', re.MULTILINE)


def lines_of(text: str) -> dict[str, str]:
    """The texts of a file and their counterparts.

    Such a file is TOML whose lines each have a text and its counterpart, both in double quotes. A
    reader of all of TOML takes a tenth of a second for thousands of them, and somebody waits.
    """
    pairs = (f"{found[1]}:{found[2]}" for found in _LINE.finditer(text))
    made: dict[str, str] = json.loads("{" + ",".join(pairs) + "}")
    return made


@cache
def translations(language: str) -> Mapping[str, str]:
    """Every English text with its counterpart; empty for English itself."""
    if language == "en":
        return {}
    folder = files("shoal.workbench") / "translations" / language
    found: dict[str, str] = {}
    for file in folder.iterdir():
        found |= lines_of(file.read_text("utf-8"))
    return found


def translator(language: str) -> Translate:
    """What translates a text, and puts values at its {names}.

    >>> translator("en")("{number} columns", number=3)
    '3 columns'
    """
    known = translations(language)

    def translate(text: str, **values: object) -> str:
        told = known.get(text, text)
        return told.format(**values) if values else told

    return translate


def language_of(chosen: str | None, accepted: str) -> str:
    """The language somebody chose, or the first one that their browser accepts.

    >>> language_of(None, "fr, de-AT;q=0.9, en;q=0.8")
    'de'
    """
    if chosen in LANGUAGES:
        return chosen
    for part in accepted.split(","):
        name = part.partition(";")[0].strip().lower().partition("-")[0]
        if name in LANGUAGES:
            return name
    return "en"
