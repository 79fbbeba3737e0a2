"""The forms of committees as data: each is a TOML file beside this module.

A form says which document it follows, how far that could be read, and what it asks, in our words.
Uses `data.toml`; `answering` fills forms in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from shoal.arguments import typed
from shoal.data import toml
from shoal.errors import InternalError, ParameterError, listed
from shoal.zones import brief

__all__ = [
    "FRAMEWORKS",
    "LEFT_OUT",
    "FormQuestion",
    "FormSection",
    "Framework",
    "ReadSource",
    "framework",
]

Standing = Literal["read", "in part", "draft", "headings"]

FRAMEWORKS = ("nist-800-226", "hipaa", "gdpr", "iso-27559")
"""The documents that there are forms for, by the names that people type."""

LEFT_OUT = {
    "ema-0070": "there is no form for EMA's policy 0070, since neither the template of its "
    "anonymisation report nor the text of its guidance could be read",
}
"""Documents that people would look for, and why they have no form."""

STANDINGS: Mapping[Standing, str] = {
    "read": "The passages that this form follows were read.",
    "in part": "The documents that this form follows were read in part.",
    "draft": "A draft of the document was read, not its final version.",
    "headings": "Only the headings of the document were read.",
}
"""How far a document was read, in words."""


@dataclass(frozen=True)
class ReadSource:
    """A text that a form was made from.

    place: where the document is
    read: what of it was read, and where if that is elsewhere
    """

    document: str
    place: str
    read: str


@brief
@dataclass(frozen=True)
class FormQuestion:
    """What a document asks, in our words.

    reference: the section or article it comes from
    facts: the names of what Shoal can say about it
    open: what a person has to say about it; empty if Shoal's facts are all
    """

    reference: str
    text: str
    facts: tuple[str, ...] = ()
    open: str = ""


@brief
@dataclass(frozen=True)
class FormSection:
    """Questions under a title."""

    title: str
    questions: tuple[FormQuestion, ...]


@brief
@dataclass(frozen=True)
class Framework:
    """A form: what a document asks.

    issued: the document's versions and dates
    about: what the form is for
    standing: how far the document was read
    not_read: what was not read, and is left out
    """

    name: str
    title: str
    issued: str
    about: str
    standing: Standing
    not_read: str
    sources: tuple[ReadSource, ...] = field(repr=False)
    sections: tuple[FormSection, ...] = field(repr=False)

    @property
    def questions(self) -> tuple[FormQuestion, ...]:
        """All questions in their order."""
        return tuple(question for part in self.sections for question in part.questions)


@typed
def framework(name: str) -> Framework:
    """The form of a document by its name; ParameterError if there is none.

    >>> framework("hipaa").title
    'HIPAA expert determination, 45 CFR 164.514(b)(1)'
    """
    if name in LEFT_OUT:
        raise ParameterError(LEFT_OUT[name], f"known are {listed(FRAMEWORKS)}")
    if name not in FRAMEWORKS:
        raise ParameterError(f"there is no form {name!r}", f"known are {listed(FRAMEWORKS)}")
    return _framework(name)


@cache
def _framework(name: str) -> Framework:
    return _read(name, toml.read(Path(__file__).parent / f"{name}.toml").content)


def _read(name: str, content: Mapping[str, Any]) -> Framework:
    """A form from the content of its file."""
    given = dict(content)
    if given["standing"] not in get_args(Standing):
        raise InternalError(f"the form {name!r} does not say how far its document was read")
    sources = tuple(ReadSource(**source) for source in given.pop("sources"))
    sections = tuple(map(_section, given.pop("sections")))
    return Framework(name=name, sources=sources, sections=sections, **given)


def _section(content: Mapping[str, Any]) -> FormSection:
    return FormSection(content["title"], tuple(map(_question, content["questions"])))


def _question(content: Mapping[str, Any]) -> FormQuestion:
    question = FormQuestion(**{**content, "facts": tuple(content.get("facts", ()))})
    if not question.facts and not question.open:
        raise InternalError(f"nobody would answer the question {question.text!r}")
    return question
