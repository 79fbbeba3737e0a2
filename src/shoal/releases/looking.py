"""Choices that were made after looking at the data, as certificates have them.

A promise about an algorithm assumes that whoever runs it fixed roles, hierarchies and parameters
without looking at the data (docs/proofs/looking.md). `LateChoice` is one that was not. Uses `data`
for the names of places; recipes keep such choices, and certificates show them.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.data import toml
from shoal.errors import ParameterError

__all__ = ["ASSUMED", "PLACES", "TITLE", "LateChoice", "choices_of", "in_sentences", "parts_of"]

TITLE = "Chosen after looking at the data"
"""The title under which certificates have such choices."""

ASSUMED = (
    "The promise assumes that all that is chosen was chosen without looking at the data. These "
    "choices were made after figures computed from it had been seen, so what they reveal about it "
    "is not covered by the promise:"
)
"""What stands before a list of such choices."""

PLACES = {
    "source": "what is read",
    "missing": "what missing values count as",
    "rows_are_people": "that every row is another person",
    "roles": "the roles of columns",
    "hierarchies": "hierarchies",
    "method": "the method",
}
"""The parts of a recipe on which a released table depends, in words."""

LONGEST = 500
"""Characters of the words in which an owner says why a choice was public."""


@dataclass(frozen=True)
class LateChoice:
    """Something that was chosen after looking at the data.

    place: its key in a recipe, such as "method.epsilon"
    public: why it is what anybody would have chosen without the data, in the owner's words; empty
        if nobody says so

    >>> print(LateChoice("hierarchies.age"))
    the hierarchy of 'age'
    >>> print(LateChoice("method.epsilon", "the rule of our board says 1"))
    epsilon of the method; the owner says that this was public: “the rule of our board says 1”
    """

    place: str
    public: str = ""

    def __post_init__(self) -> None:
        parts_of(self.place)
        if len(self.public) > LONGEST:
            raise ParameterError(
                f"the reason why {self.place} was public has more than {LONGEST} characters",
                "say it more briefly",
            )
        if not all(one.isprintable() for one in self.public):
            raise ParameterError(
                f"the reason why {self.place} was public has characters that cannot be printed",
                "write it on one line",
            )

    def __str__(self) -> str:
        words = _in_words(parts_of(self.place))
        if not self.public:
            return words
        return f"{words}; the owner says that this was public: “{self.public}”"

    def to_dict(self) -> dict[str, str]:
        """Plain values for a certificate."""
        parts = {"place": self.place}
        return {**parts, "public": self.public} if self.public else parts


def parts_of(place: str) -> tuple[str, ...]:
    """The keys of a place; ParameterError unless a released table depends on what is there.

    >>> parts_of('hierarchies."post code"')
    ('hierarchies', 'post code')
    """
    keys: list[str] = []
    try:
        inner: Any = tomllib.loads(f"{place} = 1") if place.isprintable() else None
    except (tomllib.TOMLDecodeError, RecursionError):
        inner = None
    while isinstance(inner, dict) and len(inner) == 1:
        [(key, inner)] = inner.items()
        keys.append(key)
    parts = tuple(keys)
    if inner != 1 or parts[0] not in PLACES or len(parts) > 2 or toml.at(parts) != place:
        raise ParameterError(
            f"{place!r} is not a place of a recipe that a release depends on",
            "give one such as roles, hierarchies.NAME or method.epsilon",
        )
    return parts


def _in_words(parts: tuple[str, ...]) -> str:
    first, *rest = parts
    if not rest or parts == ("method", "name"):
        return PLACES[first]
    [name] = rest
    named = {"hierarchies": f"the hierarchy of {name!r}", "method": f"{name} of the method"}
    return named.get(first, f"{PLACES[first]}: {name}")


def choices_of(given: Iterable[Mapping[str, Any]]) -> tuple[LateChoice, ...]:
    """The choices that a certificate has; ParameterError if they are not written as they should be.

    >>> [choice.place for choice in choices_of([{"place": "roles"}])]
    ['roles']
    """
    choices: list[LateChoice] = []
    if not isinstance(given, list | tuple):
        raise ParameterError("choices are not a list")
    for one in given:
        if not isinstance(one, Mapping) or not all(isinstance(text, str) for text in one.values()):
            raise ParameterError("a choice is not a place with a reason")
        if "place" not in one or one.keys() - {"place", "public"} or one.get("public") == "":
            raise ParameterError("a choice has a place, and perhaps a reason")
        choices.append(LateChoice(**one))
    if len({choice.place for choice in choices}) < len(choices):
        raise ParameterError("a choice is listed twice", "list each once")
    return tuple(choices)


def in_sentences(given: Iterable[Mapping[str, Any]]) -> list[str]:
    """What a certificate says about such choices, one line each; nothing if there are none."""
    choices = choices_of(given)
    return [ASSUMED, *(f"- {choice}" for choice in choices)] if choices else []
