"""Who may come in: the printed address or members with a key, and pages of our own only.

A page elsewhere can neither read nor start anything: requests need a cookie that only the printed
address or a key gives, must name this host, and must not come from another origin. Nor may another
user of this machine come in. Uses `callers`, `members`, `refusals`, the keys of `log` and the
service's log; `app` puts it around every request.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from urllib.parse import parse_qs, quote, urlencode

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from shoal.log.keys import digest
from shoal.service.asgi import Application, Message, Receive, Send
from shoal.service.log import Log, place_of
from shoal.workbench.callers import is_another_user
from shoal.workbench.members import OWNER, Member, Members, may
from shoal.workbench.refusals import (
    ANOTHER_USER,
    BUG,
    ELSEWHERE,
    NO_TOKEN,
    NOT_OURS,
    WRONG_HOST,
    WRONG_ROLE,
    Refusal,
)

__all__ = ["ENTER", "LANGUAGE", "OPEN", "START", "Access", "Guard", "TeamAccess", "session_of"]

OPEN = ("/static/",)
"""Paths that anybody may have: they are the same for everyone, and hold no data."""

ENTER = "/enter"
"""Where members give their key."""

LANGUAGE = "/language"
"""Where the language of pages is chosen, also of the one that asks for a key."""

START = "/start"
"""Where somebody goes who has come in by the printed address."""

_SESSION = 12 * 3600.0
"""Seconds after which a member gives their key again."""

_SAFE = ("GET", "HEAD")

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    # With none at all, browsers hide the origin of plain forms, which are then refused.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; "
        b"style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
)
"""Nothing is kept, sent on, framed or fetched from elsewhere."""


@dataclass
class Access:
    """The one way in for the person who started the workbench.

    hosts: what the Host of a request may be
    secure: whether addresses begin with https
    passes: tokens that let somebody in once
    """

    hosts: tuple[str, ...]
    secure: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    passes: set[str] = field(default_factory=set)

    @property
    def is_team(self) -> bool:
        """Whether several people work here, and releases need somebody's approval."""
        return False

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers share cookies among the ports of a host."""
        return "shoal-" + self.hosts[0].rpartition(":")[2]

    def origins(self) -> set[str]:
        """Where pages of our own come from."""
        scheme = "https" if self.secure else "http"
        return {f"{scheme}://{host}" for host in self.hosts}

    def enter(self, query: Mapping[str, list[str]]) -> str | None:
        """The session for somebody who brings the token; None for others."""
        given = query.get("token", [""])[0]
        if given in self.passes:
            self.passes.discard(given)
            return self.session
        return self.session if compare_digest(given.encode(), self.token.encode()) else None

    def pass_once(self) -> str:
        """A token that lets somebody in once: for where others may read it, but later."""
        self.passes.add(made := secrets.token_urlsafe(24))
        return made

    def account(self, session: str) -> Member | None:
        """Whose session it is; None if it is nobody's."""
        return OWNER if compare_digest(session.encode(), self.session.encode()) else None


@dataclass
class TeamAccess(Access):
    """The way in for a team: everyone with their key.

    sessions: by which key somebody came in with each, as its digest, and when
    """

    members: Members = field(kw_only=True)
    sessions: dict[str, tuple[str, float]] = field(default_factory=dict)

    @property
    def is_team(self) -> bool:
        """Whether several people work here, and releases need somebody's approval."""
        return True

    def enter(self, query: Mapping[str, list[str]]) -> str | None:
        """Nobody comes in by an address."""
        return None

    def admit(self, key: str) -> str | None:
        """A new session for whoever has the key; None if nobody does."""
        known = digest(key)
        if self.members.find(known) is None:
            return None
        session = secrets.token_urlsafe(32)
        now = time.monotonic()
        # Others come and go meanwhile, in threads of their own.
        for name, (_, since) in list(self.sessions.items()):
            if now - since > _SESSION:
                self.leave(name)
        self.sessions[session] = known, now
        return session

    def account(self, session: str) -> Member | None:
        """Whose session it is, with their role as it is now.

        It ends with the key, even if somebody of the same name gets another one.
        """
        known, since = self.sessions.get(session, ("", 0.0))
        member = self.members.find(known)
        if member is None or time.monotonic() - since > _SESSION:
            self.leave(session)
            return None
        return member

    def leave(self, session: str) -> None:
        """End a session."""
        self.sessions.pop(session, None)


def _plain(scope: Message, refusal: Refusal) -> Response:
    return PlainTextResponse(refusal.text, refusal.status)


class Guard:
    """The middleware around the workbench: who comes in, what goes out, and a line in the log.

    page: what is shown to those who are refused
    """

    def __init__(
        self,
        app: Application,
        access: Access,
        log: Log,
        page: Callable[[Message, Refusal], Response] = _plain,
    ) -> None:
        self.app = app
        self.access = access
        self.log = log
        self.page = page

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        start, status, place = time.monotonic(), 0, None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_ours(message["headers"])
            await send(message)

        try:
            response = self._refused(scope) or self._entering(scope)
            if isinstance(response, Refusal):
                response = self.page(scope, response)
            await (response or self.app)(scope, receive, answer)
        except Exception as error:
            place = place_of(error)
            if not status:
                await self.page(scope, replace(BUG, place=place))(scope, receive, answer)
        finally:
            self.log(_event(scope, status, time.monotonic() - start, place))

    def _refused(self, scope: Message) -> Refusal | None:
        """A refusal for requests that a page elsewhere or another user may have made."""
        headers = list(scope["headers"])
        given = {name: _values(headers, name) for name in (b"host", b"origin", b"sec-fetch-site")}
        if given[b"host"] not in [[host] for host in self.access.hosts]:
            return WRONG_HOST
        if not self.access.is_team and is_another_user(scope.get("client"), scope.get("server")):
            return ANOTHER_USER
        foreign = given[b"origin"] and given[b"origin"][0] not in self.access.origins()
        sites = given[b"sec-fetch-site"]
        if foreign or any(site not in ("same-origin", "none") for site in sites):
            return ELSEWHERE
        if scope["method"] not in _SAFE and not (given[b"origin"] or "same-origin" in sites):
            return NOT_OURS
        return None

    def _entering(self, scope: Message) -> Refusal | Response | None:
        """The way in; a refusal for those who are not in, or whose role does not allow it."""
        access = self.access
        is_entrance = access.is_team and scope["path"] in (ENTER, LANGUAGE)
        if scope["path"].startswith(OPEN) or is_entrance:
            return None
        session = session_of(scope["headers"], access.cookie)
        member = access.account(session)
        if member is not None:
            scope.setdefault("state", {})["member"] = member
            return None if may(member, scope["method"], scope["path"]) else WRONG_ROLE
        if access.is_team:
            return _to_the_entrance(scope, is_over=bool(session))
        query = parse_qs(scope["query_string"].decode("latin-1"))
        entered = access.enter(query) if scope["method"] == "GET" else None
        if entered is None:
            return NO_TOKEN
        place = START if scope["path"] == "/" else scope["path"]
        response = RedirectResponse(place, 303)
        response.set_cookie(
            access.cookie, entered, httponly=True, samesite="strict", secure=access.secure
        )
        return response


def _to_the_entrance(scope: Message, *, is_over: bool) -> Response:
    """Where members give their key, and from where they go on to the page that they wanted."""
    headers = dict(scope["headers"])
    is_part = b"hx-request" in headers
    asked = {"over": "1"} if is_over else {}
    if scope["method"] == "GET" and not is_part and scope["path"] != "/":
        asked["back"] = quote(scope["path"])
    place = f"{ENTER}?{urlencode(asked)}" if asked else ENTER
    if is_part:
        # A script would follow a redirect, and put the form into a part of its page.
        return Response(status_code=401, headers={"HX-Redirect": place})
    return RedirectResponse(place, 303)


def session_of(headers: Iterable[tuple[bytes, bytes]], cookie: str) -> str:
    """The session in the headers of a request; empty if there is none."""
    # Other servers of this machine may have put cookies beside ours that are not as they should be.
    given = cookie_parser("; ".join(_values(headers, b"cookie")))
    return given.get(cookie, "")


def _with_ours(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer and ours; a route that has one of its own keeps that."""
    given = list(headers)
    names = {name.lower() for name, _ in given}
    return [*given, *(header for header in _HEADERS if header[0] not in names)]


def _values(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in headers if name == wanted]


def _event(
    scope: Message, status: int, seconds: float, place: str | None
) -> dict[str, str | int | float | None]:
    """The line in the log: the route that was asked for, never what was sent."""
    member = scope.get("state", {}).get("member")
    event: dict[str, str | int | float | None] = {
        "event": "request",
        "method": scope["method"] if scope["method"] in (*_SAFE, "POST") else None,
        "path": getattr(scope.get("route"), "path", None),
        "status": status,
        "seconds": round(seconds, 3),
        "who": None if member is None else member.name,
        "project": scope.get("path_params", {}).get("project"),
    }
    if place:
        event["bug"] = place
    return event
