"""Filling a form in: what Shoal can say stands there, and what a person must say is left open.

No question is dropped: each has an answer, or is marked as open, or both. Uses `forms` and `facts`;
`showing` shows the result.
"""

from dataclasses import dataclass, field

from shoal.arguments import typed
from shoal.errors import FileError
from shoal.look import Zone
from shoal.report.committees.facts import FACTS, Fact, OwnerFact, PublicFact
from shoal.report.committees.forms import FormQuestion, FormSection, Framework
from shoal.report.subject import Published, Reported
from shoal.zones import brief

__all__ = ["Answered", "AnsweredSection", "FilledForm", "Given", "answers", "filled"]


@brief
@dataclass(frozen=True)
class Given:
    """What Shoal says, one line or several, and what that is taken from.

    owner_only: whether it reveals information about the input
    """

    fact: str
    source: str
    owner_only: bool
    lines: tuple[str, ...] = field(repr=False)


@brief
@dataclass(frozen=True)
class Answered:
    """A question with what Shoal says about it, and what is left to a person.

    missing: what Shoal could say if it had more, each with what it needs
    """

    question: FormQuestion
    given: tuple[Given, ...]
    missing: tuple[str, ...]

    @property
    def open(self) -> bool:
        """Whether something is left to a person."""
        return bool(self.question.open) or not self.given


@brief
@dataclass(frozen=True)
class AnsweredSection:
    """The answered questions of a section."""

    title: str
    answers: tuple[Answered, ...]


@brief
@dataclass(frozen=True)
class FilledForm:
    """A form that was filled in for a release, which `release` numbers.

    owner_only: whether it may reveal information about the input, if only by what is not known
    """

    framework: Framework = field(repr=False)
    release: str
    owner_only: bool
    sections: tuple[AnsweredSection, ...] = field(repr=False)

    @property
    def answers(self) -> tuple[Answered, ...]:
        """All answers in the order of the questions."""
        return tuple(answer for part in self.sections for answer in part.answers)

    @property
    def first(self) -> dict[str, FormQuestion]:
        """The first question that each fact answers."""
        places: dict[str, FormQuestion] = {}
        for answer in self.answers:
            for given in answer.given:
                places.setdefault(given.fact, answer.question)
        return places


@typed
def filled(framework: Framework, subject: Reported | Published) -> FilledForm:
    """A form filled in; from `Published` it has nothing but what the released files show.

    FileError if the release fails verification.
    """
    owner_only = isinstance(subject, Reported) or subject.zone is Zone.OWNER
    answered = answers(framework, subject)
    return FilledForm(framework, subject.certificate.number, owner_only, answered)


@typed
def answers(framework: Framework, subject: Reported | Published) -> tuple[AnsweredSection, ...]:
    """The sections of a form, with every question answered as far as Shoal can.

    From `Published`, what only the owner knows is left open. FileError if the release fails
    verification: what it claims answers nothing.
    """
    shown = subject.published if isinstance(subject, Reported) else subject
    if shown.failures:
        raise FileError(
            f"release {shown.certificate.number} fails verification: {shown.failures[0]}",
            "fill in a form for a release that holds",
        )
    known: dict[str, Given | str] = {}

    def tell(name: str) -> Given | str:
        """What a fact says, or what it needs; each is looked up once."""
        if name not in known:
            known[name] = _told(name, subject)
        return known[name]

    def answered(question: FormQuestion) -> Answered:
        told = [tell(name) for name in question.facts]
        given = tuple(one for one in told if isinstance(one, Given))
        return Answered(question, given, tuple(one for one in told if isinstance(one, str)))

    def section(part: FormSection) -> AnsweredSection:
        return AnsweredSection(part.title, tuple(map(answered, part.questions)))

    return tuple(map(section, framework.sections))


def _told(name: str, subject: Reported | Published) -> Given | str:
    """What a fact says about a release, or why it says nothing."""
    fact: Fact = FACTS[name]
    lines: tuple[str, ...] = ()
    needs = fact.needs
    if isinstance(fact, PublicFact):
        lines = fact.tell(subject.published if isinstance(subject, Reported) else subject)
    elif isinstance(subject, Reported):
        lines = fact.tell(subject)
        needs = (
            f"Not known: {subject.unknown[fact.part]}." if fact.part in subject.unknown else needs
        )
    if not lines:
        return needs
    return Given(name, fact.source, isinstance(fact, OwnerFact), lines)
