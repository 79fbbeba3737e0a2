"""What the library says, in other languages: pictures, verdicts, reasons, errors.

The library writes English sentences with figures and names in them. A translation lists them with
places for what differs, so that the library needs to know nothing of languages. What it does not
list stays English, and pages mark it so. Uses `texts`; `pages` and `drawing` use it.

A translation is a folder of TOML files, one for each room that says something. A place whose name
begins with n is for a number, with p for a share in percent, with w for words that are translated
in their turn, and with known for words that have to be known; anything else stays as it is. There
are thousands of phrases, so those with places are found by their rarest word, and few are tried.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from shoal.workbench.texts import lines_of, translations

__all__ = ["Phrases", "in_chart", "phrases"]

_NUMBER = r"[\d.,·×⁻⁰¹²³⁴-⁹e/-]+"

SENTENCES = re.compile(r"(?<=[.?]) (?=[A-Z\d])")
"""Where a text is taken apart into sentences."""

_PLACE = re.compile(r"(?<!\{)\{(\w+)\}(?!\}(?!\}))")

_WORD = re.compile("[A-Za-z]+")

_WHOLE_WORD = re.compile(r"(?<![A-Za-z\0])[A-Za-z]+(?![A-Za-z\0])")
"""A word that does not touch a place, where it might go on."""

_QUOTED = re.compile("'[^']*'")

_ENOUGH = 2
"""Words of a phrase by which it is known, whatever is at its places: a path may have blanks."""

_END = re.compile(r"; |[.?] (?=[A-Z])")
"""Where something else begins, which belongs to no place."""

_REMEMBERED = 2000
"""How many texts are kept with what was found: parts of one are looked up again and again."""

_WORDS = ("title", "text")
"""Keys of a chart under which words for people are."""

_VALUES = ("values", "datasets", "domain", "sort")
"""Keys under which names may be that people read."""

_NAMES = ("field", "type")
"""Keys of what only the chart itself reads."""


class Pattern:
    """A phrase with places: its texts between them, and what matches the whole."""

    def __init__(self, english: str, kinds: Mapping[str, str]) -> None:
        self.english = english
        self._kinds = kinds
        # Texts and names of places in turn.
        self._pieces = _PLACE.split(english)
        literals = [piece.replace("{{", "{").replace("}}", "}") for piece in self._pieces[::2]]
        self.length = sum(map(len, literals))
        self.head, self.tail = literals[0], literals[-1]
        self.words = _WHOLE_WORD.findall("\0".join(literals))
        self._expression: re.Pattern[str] | None = None

    def match(self, text: str) -> dict[str, str] | None:
        """What is at the places of a text; None if it is another one."""
        if not (text.startswith(self.head) and text.endswith(self.tail)):
            return None
        if self._expression is None:
            self._expression = self._compiled()
        found = self._expression.fullmatch(text)
        return None if found is None else found.groupdict()

    def _compiled(self) -> re.Pattern[str]:
        parts = []
        for place, piece in enumerate(self._pieces):
            if place % 2:
                # A text that stays as it is may be anything.
                kind = self._kinds.get(piece.partition("_")[0], ".+?")
                parts.append(f"(?P<{piece}>{kind})")
            else:
                parts.append(re.escape(piece.replace("{{", "{").replace("}}", "}")))
        return re.compile("".join(parts), re.DOTALL)


_Place = Callable[[Pattern, str, str], str | None]
"""What to say at a place of a phrase; None if it does not fit."""


class Phrases:
    """Says in a language what the library says in English."""

    kinds: ClassVar[Mapping[str, str]] = {"n": _NUMBER, "p": rf"(?:under |over )?{_NUMBER} ?%"}
    """What stands at places whose names begin so: numbers, and shares in percent."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        self._exact: dict[str, str] = {}
        patterns = []
        for english, other in known.items():
            if "{" not in english:
                self._exact[english] = other
            else:
                patterns.append(Pattern(english, self.kinds))
        # The longest first: it says most exactly what it is about.
        patterns.sort(key=lambda pattern: pattern.length, reverse=True)
        self._patterns = patterns
        self._by_word = _indexed(patterns)
        self._found: dict[str, str | None] = {}

    def __call__(self, text: str) -> str:
        """The text in the language; itself if it is not known.

        >>> phrases("de")("named like an age"), phrases("de")("5 of 9 records are alone in a group")
        ('heißt wie ein Alter', '5 von 9 Datensätzen sind allein in ihrer Gruppe')
        """
        bare = text.strip(" ")
        told = bare and self.find(bare)
        return text.replace(bare, told) if told else text

    def find(self, text: str) -> str | None:
        """The text in the language; None if it is not known."""
        if text not in self._found:
            if len(self._found) > _REMEMBERED:
                self._found.clear()
            self._found[text] = None  # a text is no part of itself
            self._found[text] = self._sought(text)
        return self._found[text]

    def _sought(self, text: str) -> str | None:
        ways = (self._whole, self._small, self._sentences, self._parts, self._ended, self._nearly)
        return next(filter(None, (way(text) for way in ways)), None)

    def _whole(self, text: str) -> str | None:
        """A text that is listed, and so is all that is at its places."""
        if text in self._exact:
            return self._used(text, self._exact[text])
        return self._with_places(text, self.at_place)

    def _nearly(self, text: str) -> str | None:
        """A text that is listed, with something at its places that may be English."""
        return self._with_places(text, self.at_any_place)

    def _with_places(self, text: str, place: _Place) -> str | None:
        for pattern in self._candidates(text):
            found = pattern.match(text)
            if found is None:
                continue
            filled = {name: place(pattern, name, part) for name, part in found.items()}
            if None not in filled.values():
                other = self._known[pattern.english].format(**filled)
                return self._used(pattern.english, other)
        return None

    def _small(self, text: str) -> str | None:
        """A text that is listed as it is inside of a sentence, at the beginning of one."""
        if not text[:1].isupper():
            return None
        other = self._whole(text[0].lower() + text[1:])
        return other and other[0].upper() + other[1:]

    def _sentences(self, text: str) -> str | None:
        """Several sentences that are listed."""
        sentences = SENTENCES.split(text)
        return " ".join(self._every(sentences)) if len(sentences) > 1 else None

    def _ended(self, text: str) -> str | None:
        """A text with a full stop that is listed without."""
        if not text.endswith("."):
            return None
        told = self.find(text[:-1])
        return told and f"{told}."

    def _parts(self, text: str) -> str | None:
        """A text that is put together: the only grammar that the library has for that."""
        # A problem and what to do.
        whole, semicolon, fix = text.partition("; ")
        if semicolon and (told := self._every([whole, fix])):
            return "; ".join(told)
        # Where something is, and what.
        where, colon, what = text.partition(": ")
        place, what_is = self._word(where), self._word(what)
        if colon and place and what_is and (place, what_is) != (where, what):
            return f"{place}: {what_is}"
        # Something and a remark on it.
        if text.endswith(")") and " (" in text:
            before, _, inside = text[:-1].partition(" (")
            if (remark := self._word(inside)) and (told := self._every([before])):
                return f"{told[0]} ({remark})"
        # Several things.
        several = text.split(", ")
        if len(several) > 1 and (told := self._every(several)):
            return ", ".join(told)
        return self._added(text) or self._predicate(text)

    def _added(self, text: str) -> str | None:
        """Something, and what is added to it after a comma or a semicolon."""
        for mark in re.finditer("[,;] ", text):
            added = self._whole(text[mark.start() :])
            if added and (told := self._every([text[: mark.start()]])):
                return told[0] + added
        return None

    def _predicate(self, text: str) -> str | None:
        """What is said of something that stands before it: a path, a name, or words."""
        for blank in re.finditer(" ", text):
            subject, predicate = text[: blank.start()], text[blank.end() :]
            name = _QUOTED.sub("'", subject)
            is_name = " " not in name and not name.isalpha()
            if (is_name or subject in self._exact) and (told := self._whole(predicate)):
                return f"{self(subject)} {told}"
        return None

    def _every(self, texts: Iterable[str]) -> list[str]:
        """All of some texts in the language; none if one is not known."""
        told = []
        for text in texts:
            other = self.find(text)
            if other is None:
                return []
            told.append(other)
        return told

    def at_place(self, pattern: Pattern, name: str, part: str) -> str | None:
        """What to say at a place; None if the phrase does not fit, for all that is there."""
        if name.startswith("known"):
            return self.find(part)
        if name.startswith(("w", "p")):
            return self._word(part)
        return None if _END.search(part) or _is_prose(part) else part

    def at_any_place(self, pattern: Pattern, name: str, part: str) -> str | None:
        """What to say at a place where it does not matter if some of it is English."""
        if len(pattern.words) < _ENOUGH:
            return None
        return self(part) if name.startswith(("known", "w", "p")) else part

    def _word(self, part: str) -> str | None:
        """A part in the language: itself if it is a name, and None if it is English words."""
        bare = part.strip(" ")
        told = bare and self.find(bare)
        if not told:
            return None if _is_prose(part) else part
        return part.replace(bare, told)

    def _used(self, english: str, other: str) -> str:
        """A phrase that was found, for who wants to know which are."""
        return other

    def _candidates(self, text: str) -> list[Pattern]:
        """The phrases with places that may fit, the longest first."""
        places = set(self._by_word.get("", ()))
        for word in _WORD.findall(text):
            places.update(self._by_word.get(word, ()))
        return [self._patterns[place] for place in sorted(places)]


def _is_prose(part: str) -> bool:
    """Whether a part has English words beside each other, and not in quotes."""
    return re.search("[a-z]{2,},? [a-z]{2,}", _QUOTED.sub("", part)) is not None


def _indexed(patterns: list[Pattern]) -> dict[str, list[int]]:
    """The places of phrases by the word of each that the fewest others have."""
    often = Counter(word for pattern in patterns for word in pattern.words)
    index: dict[str, list[int]] = {}
    for place, pattern in enumerate(patterns):
        word = min(pattern.words, key=lambda word: (often[word], word), default="")
        index.setdefault(word, []).append(place)
    return index


@cache
def phrases(language: str) -> Phrases:
    """What says in a language what the library says; English itself knows no other words."""
    if language == "en":
        return Phrases({})
    # What screens themselves say may come from the library, too.
    known = {text: other for text, other in translations(language).items() if "{" not in text}
    folder = files("shoal.workbench") / "translations" / f"phrases-{language}"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        known |= lines_of(file.read_text("utf-8"))
    return Phrases(known)


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
