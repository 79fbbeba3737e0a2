"""Who may come in: the printed address or members with a key, and pages of our own only.

A page elsewhere can neither read nor start anything: requests need a cookie that only the printed
address or a key gives, must name this host, and must not come from another origin. Nor may another
user of this machine come in. Uses `callers`, `members`, the keys of `log` and the service's log;
`app` puts it around every request.
"""

import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from urllib.parse import parse_qs

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse

from shoal.log.keys import digest
from shoal.service.asgi import Application, Message, Receive, Send
from shoal.service.log import Log, place_of
from shoal.workbench.callers import is_another_user
from shoal.workbench.members import OWNER, Member, Members, may
from shoal.workbench.phrases import phrases
from shoal.workbench.texts import language_of

__all__ = ["ENTER", "OPEN", "START", "Access", "Guard", "TeamAccess", "session_of"]

OPEN = ("/static/",)
"""Paths that anybody may have: they are the same for everyone, and hold no data."""

ENTER = "/enter"
"""Where members give their key."""

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
        self.sessions[session] = known, time.monotonic()
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


class Guard:
    """The middleware around the workbench: who comes in, what goes out, and a line in the log."""

    def __init__(self, app: Application, access: Access, log: Log) -> None:
        self.app = app
        self.access = access
        self.log = log

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        start, status, bug = time.monotonic(), 0, None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_ours(message["headers"])
            await send(message)

        try:
            response = self._refused(scope) or self._entering(scope)
            await (response or self.app)(scope, receive, answer)
        except Exception as error:
            bug = place_of(error)
            if not status:
                text = f"A bug in Shoal ({bug}); please report it."
                await _plain(scope, text, 500)(scope, receive, answer)
        finally:
            self.log(_event(scope, status, time.monotonic() - start, bug))

    def _refused(self, scope: Message) -> PlainTextResponse | None:
        """A refusal for requests that a page elsewhere or another user may have made."""
        headers = list(scope["headers"])
        given = {name: _values(headers, name) for name in (b"host", b"origin", b"sec-fetch-site")}
        if given[b"host"] not in [[host] for host in self.access.hosts]:
            return _plain(scope, "This address is not served here.", 421)
        if not self.access.is_team and is_another_user(scope.get("client"), scope.get("server")):
            return _plain(scope, "This workbench belongs to another user.", 403)
        foreign = given[b"origin"] and given[b"origin"][0] not in self.access.origins()
        sites = given[b"sec-fetch-site"]
        if foreign or any(site not in ("same-origin", "none") for site in sites):
            return _plain(scope, "Pages elsewhere cannot use the workbench.", 403)
        if scope["method"] not in _SAFE and not (given[b"origin"] or "same-origin" in sites):
            return _plain(scope, "Only pages of the workbench may change anything.", 403)
        return None

    def _entering(self, scope: Message) -> PlainTextResponse | RedirectResponse | None:
        """The way in; a refusal for those who are not in, or whose role does not allow it."""
        access = self.access
        if scope["path"].startswith(OPEN) or (access.is_team and scope["path"] == ENTER):
            return None
        member = access.account(session_of(scope["headers"], access.cookie))
        if member is not None:
            scope.setdefault("state", {})["member"] = member
            if may(member, scope["method"], scope["path"]):
                return None
            return _plain(scope, f"A member with the role {member.role} may not do this.", 403)
        if access.is_team:
            return RedirectResponse(ENTER, 303, {"HX-Redirect": ENTER})
        query = parse_qs(scope["query_string"].decode("latin-1"))
        session = access.enter(query) if scope["method"] == "GET" else None
        if session is None:
            text = "Open the address that `shoal workbench` printed, with its token."
            return _plain(scope, text, 401)
        place = START if scope["path"] == "/" else scope["path"]
        response = RedirectResponse(place, 303)
        response.set_cookie(
            access.cookie, session, httponly=True, samesite="strict", secure=access.secure
        )
        return response


def session_of(headers: Iterable[tuple[bytes, bytes]], cookie: str) -> str:
    """The session in the headers of a request; empty if there is none."""
    # Other servers of this machine may have put cookies beside ours that are not as they should be.
    given = cookie_parser("; ".join(_values(headers, b"cookie")))
    return given.get(cookie, "")


def _plain(scope: Message, text: str, status: int) -> PlainTextResponse:
    """A text without a page, in the language that was chosen or that the browser asks for."""
    headers = list(scope["headers"])
    chosen = session_of(headers, "shoal-language")
    language = language_of(chosen, ",".join(_values(headers, b"accept-language")))
    return PlainTextResponse(phrases(language)(text), status)


def _with_ours(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer and ours; a route that has one of its own keeps that."""
    given = list(headers)
    names = {name.lower() for name, _ in given}
    return [*given, *(header for header in _HEADERS if header[0] not in names)]


def _values(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in headers if name == wanted]


def _event(
    scope: Message, status: int, seconds: float, bug: str | None
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
    if bug:
        event["bug"] = bug
    return event
