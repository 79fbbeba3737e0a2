"""What the library says, in other languages: titles of pictures, verdicts, reasons, errors.

The library writes English sentences with figures and names in them. A translation lists them with
places for what differs, so that the library needs to know nothing of languages. What it does not
list stays English, and pages mark it so. Uses nothing; `pages` and `drawing` use it.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

__all__ = ["Phrases", "in_chart", "phrases"]

_NUMBER = r"[\d.,·×⁻⁰¹²³⁴-⁹e/-]+"
_KINDS = {"n": _NUMBER, "p": rf"{_NUMBER} ?%"}
"""What stands at places whose names begin with a letter: numbers, and shares in percent."""

_SENTENCES = re.compile(r"(?<=[.?]) (?=[A-Z\d])")

_WORDS = ("title", "text")
"""Keys of a chart under which words for people are."""

_VALUES = ("values", "datasets", "domain", "sort")
"""Keys under which names may be that people read."""

_NAMES = ("field", "type")
"""Keys of what only the chart itself reads."""


class Phrases:
    """Says in a language what the library says in English."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        patterns = [english for english in known if "{" in english]
        # The longest first: it says most exactly what it is about.
        patterns.sort(key=len, reverse=True)
        self._patterns = [(_pattern(english), known[english]) for english in patterns]

    def __call__(self, text: str) -> str:
        """The text in the language; itself if it is not known.

        >>> phrases("de")("named like an age"), phrases("de")("5 of 9 records are alone in a group")
        ('heißt wie ein Alter', '5 von 9 Datensätzen sind allein in ihrer Gruppe')
        """
        return self.find(text) or text

    def find(self, text: str) -> str | None:
        """The text in the language; None if it is not known."""
        if text in self._known:
            return self._known[text]
        sentences = _SENTENCES.split(text)
        if len(sentences) > 1:
            told = [self.find(sentence) for sentence in sentences]
            if None not in told:
                return " ".join(filter(None, told))
        for pattern, other in self._patterns:
            if found := pattern.fullmatch(text):
                parts = found.groupdict()
                words = {name: self(part) for name, part in parts.items() if name.startswith("w")}
                return other.format(**parts | words)
        return None


def _pattern(english: str) -> re.Pattern[str]:
    """What matches the texts of a phrase; a text that stays as it is may be anything."""
    parts = []
    for text, name, _, _ in Formatter().parse(english):
        parts.append(re.escape(text))
        if name is not None:
            kind = _KINDS.get(name.partition("_")[0], ".+?")
            parts.append(f"(?P<{name}>{kind})")
    return re.compile("".join(parts), re.DOTALL)


@cache
def phrases(language: str) -> Phrases:
    """What says in a language what the library says; English itself knows no other words."""
    import tomllib

    if language == "en":
        return Phrases({})
    file = files("shoal.workbench") / "translations" / f"phrases-{language}.toml"
    sections = tomllib.loads(file.read_text("utf-8")).values()
    return Phrases({english: other for section in sections for english, other in section.items()})


def in_chart(spec: Any, said: Phrases, *, words: bool = False) -> Any:
    """A Vega-Lite chart whose words are in another language.

    Names in the data and in scales change alike, so that they still refer to each other.
    """
    match spec:
        case str():
            return said(spec) if words else spec
        case list():
            return [in_chart(part, said, words=words) for part in spec]
        case dict():
            return {
                key: part
                if key in _NAMES
                else in_chart(part, said, words=words or key in (*_WORDS, *_VALUES))
                for key, part in spec.items()
            }
    return spec
