"""Pages from templates: the frame around every screen, parts of screens, and errors.

`Here` is what a route knows: who asks, in which language, and the project it is about. Uses
`projects`, `tables`, `jobs`, `steps` and `texts`; every screen uses it.
"""

import datetime as dt
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from shoal import __version__
from shoal.data.formats import called
from shoal.errors import ParameterError, ShoalError, spelled, toml_spelling
from shoal.exact.numbers import percent, short
from shoal.look.markup import Html
from shoal.look.pages import MARK
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.recipe.editing import Draft, editing
from shoal.releases.looking import PLACES, parts_of
from shoal.service.asgi import Message
from shoal.workbench import assets, looking
from shoal.workbench.access import Access
from shoal.workbench.drawing import Pen
from shoal.workbench.jobs import Jobs
from shoal.workbench.members import NOBODY, Member
from shoal.workbench.phrases import phrases
from shoal.workbench.projects import Home, Project, require_shape
from shoal.workbench.refusals import Refusal
from shoal.workbench.texts import LANGUAGES, Translate, language_of, translator
from shoal.workbench.words import size_in_words, when_in_words

if TYPE_CHECKING:
    from shoal.workbench.steps import Step
    from shoal.workbench.tables import Tables

__all__ = [
    "Desk",
    "Here",
    "Opened",
    "Owner",
    "Submitted",
    "not_let_in",
    "own_address",
    "refused",
    "typed",
    "unknown",
]


@dataclass
class Desk:
    """What all requests share.

    draws_ahead: whether what draws charts starts with the first project, before one is asked for
    """

    home: Home
    access: Access
    jobs: Jobs
    draws_ahead: bool = False

    @cached_property
    def tables(self) -> "Tables":
        """The tables of projects; what reads them loads when one is first needed."""
        from shoal.workbench.tables import Tables

        return Tables()

    @cached_property
    def pen(self) -> Pen:
        """What draws charts."""
        return Pen()

    @cached_property
    def steps(self) -> "tuple[Step, ...]":
        """The steps of every project; the screens load when one is first needed."""
        from shoal.workbench import screens

        return screens.steps()


@cache
def templates() -> Environment:
    """The templates; whatever is not HTML already is escaped."""
    made = Environment(
        loader=PackageLoader("shoal.workbench"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["html"] = markup
    made.filters["said"] = said
    made.filters["named"] = named
    made.filters["problem"] = problem
    made.filters["percent"] = percent
    made.filters["size"] = size_in_words
    made.filters["when"] = when_in_words
    made.filters["short"] = short
    made.filters["typed"] = typed
    made.filters["coded"] = coded
    made.filters["drawn"] = Markup  # what jobs of our own have drawn
    made.filters["sentence"] = sentence
    made.globals.update(
        Zone=Zone,
        MARK=Markup(MARK),
        version=__version__,
        LANGUAGES=LANGUAGES,
        len=len,
        shared=assets.address,
        called=called,
        example_day=dt.date(2024, 12, 31),
    )
    return made


@pass_context
def markup(context: Context, part: object) -> Markup:
    """HTML from `look` as templates know it; anything else is escaped.

    A picture becomes its figure, with its table, in the language of the page.
    """
    if isinstance(part, Picture):
        language = context["language"]
        drawer = partial(context["here"].desk.pen.svg, language=language)
        part = part.html(svg=drawer, words=phrases(language))
    return Markup(part) if isinstance(part, Html) else Markup.escape(part)


_WORD = re.compile(r"[A-Za-z]{3}")
"""What a text has that is in some language, unlike ε 1."""


@pass_context
def said(context: Context, text: str, begins: bool = False) -> Markup:
    """What the library says, in the language of the page; marked where it stays English.

    begins: whether it begins a sentence
    """
    known = phrases(context["language"])
    found = known.find(text) or known.find(spelled(text, toml_spelling))
    told = spelled(found or text, toml_spelling)
    told = sentence(told) if begins else told
    if found is None and context["language"] != "en" and _WORD.search(text):
        return Markup('<span lang="en">{}</span>').format(told)
    return Markup.escape(told)


@pass_context
def named(context: Context, text: str) -> str:
    """What may be words of the library, or else a name, which stays as it is."""
    return phrases(context["language"])(text)


@pass_context
def problem(context: Context, error: object, begins: bool = True, placed: bool = False) -> Markup:
    """A whole error, put together of its parts: where, which option, what, and what to do.

    begins: whether it begins a sentence
    placed: whether to say where, which may be clear from where it is shown
    """
    where, option, given, what, fix = (
        str(getattr(error, part, None) or "")
        for part in ("where", "option", "given", "what", "fix")
    )
    whole = Markup()
    if where and placed:
        whole += Markup("{}: ").format(named(context, where))
    if option:
        about = toml_spelling(option, given or None)
        whole += Markup('<span class="option">{}</span> ').format(about)
    whole += said(context, what, begins and not whole)
    return whole + Markup("; {}").format(said(context, fix)) if fix else whole


def coded(text: str) -> Markup:
    """A text whose parts in backticks are shown as code.

    >>> print(coded("`unit` < 2"))
    <code>unit</code> &lt; 2
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(Markup.escape(text))))


def typed(value: object) -> str:
    """A value of a recipe as a person would type it; nothing for None.

    >>> typed(1e-06), typed(0.05), typed("1/3"), typed(None)
    ('1e-6', '0.05', '1/3', '')
    """
    if isinstance(value, float) and isfinite(value):
        return short(Fraction(repr(value)))
    return "" if value is None else str(value)


def sentence(text: str) -> str:
    """A text with a capital at its beginning, unless that is a symbol such as γ.

    >>> sentence("it fits"), sentence("γ = 1/2")
    ('It fits', 'γ = 1/2')
    """
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


class Here:
    """A request: who asks, in which language, and about which project."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.desk: Desk = request.app.state.desk
        # Whoever gives their key is nobody yet.
        self.who: Member = getattr(request.state, "member", NOBODY)

    @cached_property
    def language(self) -> str:
        """The language of the page."""
        chosen = self.request.cookies.get("shoal-language")
        return language_of(chosen, self.request.headers.get("accept-language", ""))

    @cached_property
    def _(self) -> Translate:
        """Translates a text into the language of the page."""
        return translator(self.language)

    @staticmethod
    def counted(values: Mapping[str, int]) -> dict[str, str]:
        """Numbers as texts have them."""
        return {name: f"{value:,}" for name, value in values.items()}

    @property
    def is_part(self) -> bool:
        """Whether a script asks for a part of a page."""
        return "hx-request" in self.request.headers

    def page(
        self, template: str, *, zone: Zone = Zone.OWNER, status: int = 200, **context: Any
    ) -> HTMLResponse:
        """A whole page, or a part of one if the template does not extend the layout."""
        given = {
            "here": self,
            "_": self._,
            "zone": zone,
            "language": self.language,
            "who": self.who,
            "project": None,
            "at": "",
            **context,
        }
        text = templates().get_template(template).render(given)
        # The path of a folder may have letters that are none.
        return HTMLResponse(text.encode("utf-8", "replace"), status)

    def go(self, address: str) -> Response:
        """Send the browser to another page."""
        if self.is_part:
            # As in other redirects: a header takes neither line ends nor all letters.
            address = quote(address, safe=":/%#?=@[]!$&'()*+,;")
            return Response(status_code=204, headers={"HX-Redirect": address})
        return RedirectResponse(address, 303)


class Owner(Here):
    """A request about no project yet, which only an owner may make."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        if not self.who.is_owner:
            raise ParameterError("only an owner may do this", "ask one")


class Opened(Here):
    """A request about a project."""

    def __init__(self, request: Request, project: str) -> None:
        super().__init__(request)
        self.project: Project = self.desk.home.project(project)
        self.chosen_late: set[str] = set()
        require_shape(self.draft)
        if self.desk.draws_ahead:
            self.desk.pen.prepare_once()

    def address(self, screen: str = "", **query: str) -> str:
        """The address of a screen of the project."""
        asked = "&".join(f"{key}={quote(value)}" for key, value in query.items())
        return f"/p/{quote(self.project.key)}/{screen}" + (f"?{asked}" if asked else "")

    @cached_property
    def draft(self) -> Draft:
        """The recipe as it was when the request came in."""
        return self.project.draft()

    def decide(self, *place: str, to: object) -> None:
        """Write a decision into the recipe, at once."""
        with self.deciding() as draft:
            draft.set(*place, to=to)

    @contextmanager
    def deciding(self, *from_rows: str) -> Iterator[Draft]:
        """The recipe, to write several decisions at once.

        What is decided after figures of the rows were shown goes on the list of such choices, and
        the page says so. So do the places that are `from_rows` whatever was shown, such as
        "hierarchies.age" for a hierarchy made from the values of the column.
        """
        with editing(self.project.recipe) as draft:
            before = draft.content
            yield draft
            places = list(from_rows)
            if looking.figures_seen(self.project):
                places += looking.changed(before, draft.content)
            self.chosen_late |= {*looking.record(self.project, draft, places)}
        self.__dict__.pop("draft", None)

    def looked(self, what: str) -> None:
        """Note that figures computed from the rows were shown.

        What is decided after that goes on the list of such choices, which may be on certificates.
        """
        looking.look(self.project, what)

    @property
    def late_matters(self) -> bool:
        """Whether the promise may assume that nothing was chosen after looking."""
        return looking.matters(self.draft)

    @property
    def late_choices(self) -> list[looking.Late]:
        """What was chosen after looking, where the promise may assume that nothing was."""
        if self.who.role == "analyst" or not self.late_matters:
            return []
        return looking.late(self.project, self.draft)

    def place_in_words(self, place: str) -> str:
        """A choice by its place in a recipe, in the language of the page."""
        first, *rest = parts_of(place)
        if not rest or place == "method.name":
            return self._(PLACES[first])
        if first == "hierarchies":
            return self._("the hierarchy of “{column}”", column=rest[0])
        if first == "method":
            return self._("“{option}” of the method", option=rest[0])
        return f"{self._(PLACES[first])}: {rest[0]}"

    def listed(self, texts: Iterable[str]) -> str:
        """Several texts in the language of the page, one after the other."""
        return ", ".join(map(self._, texts))

    @property
    def back(self) -> str:
        """The page that is open, for forms of the frame."""
        return self.request.url.path

    def own(self, address: str) -> str:
        """An address of the project; its first page for any other."""
        return address if address.startswith(self.address()) else self.address()

    @property
    def steps(self) -> "list[tuple[Step, Any]]":
        """The steps of the project that this person may take, and how far each is."""
        return [
            (step, step.standing(self.project))
            for step in self.desk.steps
            if self.who.role in step.roles
        ]

    def page(
        self, template: str, *, zone: Zone = Zone.OWNER, status: int = 200, **context: Any
    ) -> HTMLResponse:
        """A page or a part of one, about the project."""
        made = super().page(template, zone=zone, status=status, project=self.project, **context)
        if self.chosen_late:
            # The frame shows a notice; screens that say recipe-changed instead do as well.
            made.headers["HX-Trigger"] = "chosen-after-looking"
        return made

    @property
    def folder(self) -> Path:
        """The folder of the project."""
        return self.project.folder


async def _submitted(request: Request) -> AsyncIterator[FormData]:
    # Files that were sent are closed at the end.
    async with request.form() as given:
        yield given


Submitted = Annotated[FormData, Depends(_submitted)]
"""What a form sent; routes that use it can be plain functions, which run outside the loop."""


def own_address(address: str) -> str:
    """An address of our own; the first page for any other.

    >>> own_address("/p/clinic/data"), own_address("//elsewhere.example")
    ('/p/clinic/data', '/')
    """
    return address if address.startswith("/") and not address.startswith(("//", "/\\")) else "/"


# What went wrong


def refused(request: Request, error: Exception) -> HTMLResponse:
    """A page, or a part of one, that says what is wrong and how to mend it."""
    assert isinstance(error, ShoalError)
    return _wrong(Here(request), error, 422)


def unknown(request: Request, error: Exception) -> HTMLResponse:
    """The same for an address that there is not, or that lacks what it must have."""
    status = error.status_code if isinstance(error, HTTPException) else 422
    fix = "go back to the list of projects"
    return _wrong(Here(request), ParameterError("there is no such page", fix), status)


def _wrong(here: Here, error: ShoalError, status: int) -> HTMLResponse:
    if not here.is_part:
        return here.page("refused.html", error=error, status=status)
    return _beside_the_main(here.page("error.html", error=error, status=422))


def _beside_the_main(part: HTMLResponse) -> HTMLResponse:
    """A part of a page that its script shows where it says what went wrong."""
    part.headers["HX-Retarget"] = "#notice"
    part.headers["HX-Reswap"] = "innerHTML"
    return part


def not_let_in(scope: Message, refusal: Refusal) -> Response:
    """What those see who may not come in, or not do something; programs get a text.

    The page has its style in itself, as they may not even fetch that.
    """
    here = Here(Request(scope))
    if here.is_part and here.who.name:
        return _beside_the_main(here.page("refusal_part.html", refusal=refusal, status=422))
    if "text/html" not in here.request.headers.get("accept", ""):
        return PlainTextResponse(refusal.text, refusal.status)
    style = assets.look()
    made = here.page(
        "refusal.html",
        refusal=refusal,
        names=refusal.names,
        style=Markup(style),
        status=refusal.status,
    )
    known = b64encode(sha256(style.encode()).digest()).decode()
    made.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'sha256-{known}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return made
