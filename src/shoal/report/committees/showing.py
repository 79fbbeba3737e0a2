"""A form that was filled in, as a page of HTML or as Markdown.

It never says that a document is complied with: it says what Shoal answers, and what is left to a
person. Uses `answering` and `look`; the command line uses it.
"""

from collections.abc import Iterator, Mapping

from shoal.arguments import typed
from shoal.look import Html, Zone, page, section, table, tag
from shoal.report.committees.answering import Answered, FilledForm, Given
from shoal.report.committees.forms import STANDINGS, FormQuestion

__all__ = ["html", "markdown"]

NOTICE = (
    "This is not legal advice, and it does not say that any requirement is met. The questions are "
    "in our words: the document itself decides."
)
"""What every form begins with."""

ANSWER, LEFT = "Shoal’s answer", "Left to you"

_FEW = 3
"""Lines of a fact that are repeated wherever a form asks for it."""

First = Mapping[str, FormQuestion]
"""The first question that each fact answers."""

NOTHING = "Shoal knows nothing about this."


@typed
def html(form: FilledForm) -> str:
    """The form as one page, marked as owner only if it is."""
    asked = form.framework
    zone = _zone(form)
    parts = [
        tag("p", NOTICE, cls="lead"),
        tag("p", tag("strong", STANDINGS[asked.standing]), f" {asked.not_read}"),
        tag("p", asked.about),
        tag("p", f"Release {form.release}. {_summary(form)}"),
    ]
    first = form.first
    for part in form.sections:
        questions = [_question(answer, first) for answer in part.answers]
        parts.append(section(part.title, *questions))
    sources = [
        (one.document, one.read, tag("a", one.place, href=one.place)) for one in asked.sources
    ]
    read = table(("document", "what was read", "where it is"), sources, numbers=())
    parts.append(section("Where the questions come from", tag("p", _issued(form)), read))
    return page(asked.title, *parts, zone=zone)


@typed
def markdown(form: FilledForm) -> str:
    """The form as Markdown, marked as owner only if it is."""
    return "\n\n".join(_blocks(form)) + "\n"


def _blocks(form: FilledForm) -> Iterator[str]:
    """The paragraphs of the Markdown."""
    asked, zone = form.framework, _zone(form)
    mark = f"**{zone.words}**"
    yield f"# {asked.title}"
    yield mark
    yield NOTICE
    yield f"**{STANDINGS[asked.standing]}** {asked.not_read}"
    yield asked.about
    yield f"Release {form.release}. {_summary(form)}"
    for part in form.sections:
        yield f"## {part.title}"
        for answer in part.answers:
            yield from _answer_blocks(answer, form.first)
    yield "## Where the questions come from"
    yield _issued(form)
    yield "\n".join(f"- {one.document}: {one.read}. <{one.place}>" for one in asked.sources)
    yield mark


def _answer_blocks(answer: Answered, first: First) -> Iterator[str]:
    """The paragraphs of a question: its answers, and what is open."""
    question = answer.question
    yield f"### {question.text}"
    yield f"*{question.reference}*"
    for heading, owner_only, given in _by_source(answer, first):
        lines = "\n".join(f"- {_plain(line)}" for line in given)
        mark = f" ({Zone.OWNER.short})" if owner_only else ""
        yield f"{heading}{mark}:\n\n{lines}"
    left = _left(answer)
    if left:
        yield f"> **{LEFT}:** {' '.join(left)}\n>\n> ☐ …"


def _plain(line: str) -> str:
    """A line that Markdown takes as it is: names of columns are anybody's."""
    one_line = " ".join(line.split())
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|!" else sign for sign in one_line)


def _question(answer: Answered, first: First) -> Html:
    """A question with its answers, and a box for what is open."""
    question = answer.question
    parts = [tag("h3", question.text), tag("p", question.reference, cls="muted reference")]
    for heading, owner_only, lines in _by_source(answer, first):
        badge = Zone.OWNER.badge() if owner_only else None
        parts.append(tag("p", tag("strong", heading), " ", badge))
        parts.append(tag("ul", *(tag("li", line) for line in lines)))
    left = _left(answer)
    if left:
        hints = [tag("p", hint, cls="muted") for hint in left]
        room = tag("p", "\N{NO-BREAK SPACE}")  # to write in, on paper
        parts.append(tag("div", tag("strong", f"☐ {LEFT}"), *hints, room, cls="open"))
    return tag("article", *parts)


def _left(answer: Answered) -> list[str]:
    """What is said where something is open; nothing where Shoal's answer is all."""
    if not answer.open:
        return []
    hints = [*dict.fromkeys(answer.missing), *filter(None, [answer.question.open])]
    return hints or [NOTHING]


def _by_source(answer: Answered, first: First) -> Iterator[tuple[str, bool, list[str]]]:
    """What Shoal says, by its source: a heading, whether it is the owner's, and the lines."""
    sources = dict.fromkeys((given.source, given.owner_only) for given in answer.given)
    for source, owner_only in sources:
        told = [given for given in answer.given if given.source == source]
        lines = [line for given in told for line in _lines(given, answer.question, first)]
        yield f"{ANSWER}, from {source}", owner_only, list(dict.fromkeys(lines))


def _lines(given: Given, question: FormQuestion, first: First) -> tuple[str, ...]:
    """The lines of a fact; a long one is written once in a form."""
    before = first[given.fact]
    if before is question or len(given.lines) <= _FEW:
        return given.lines
    return (f"See the answer to: {before.text} ({before.reference})",)


def _zone(form: FilledForm) -> Zone:
    return Zone.OWNER if form.owner_only else Zone.RELEASED


def _summary(form: FilledForm) -> str:
    """How many questions have an answer, and how many are open."""
    total = len(form.answers)
    whole = sum(not one.open for one in form.answers)
    partly = sum(bool(one.open and one.given) for one in form.answers)
    return (
        f"Of {total} questions, Shoal answers {whole}, answers {partly} in part, and leaves "
        f"{total - whole - partly} to you."
    )


def _issued(form: FilledForm) -> str:
    return f"The document: {form.framework.issued}."
