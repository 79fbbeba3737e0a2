"""The HTTP application of an audit: routes, keys, limits, and replies that all have one shape and leave on a grid of time.

What a reply tells beside the answer is kept small. A denial looks like an answer and is as long; both leave a whole number of
quanta after the query came in. Not controlled: how many quanta a long decision takes, the load of the machine, the network.
"""

import asyncio
import json
import math
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Annotated, Any, Literal, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr
from starlette.exceptions import HTTPException as StarletteError

from shoal import __version__
from shoal.audit.book import Audit, Reply, Standing, digest
from shoal.audit.expressions import LONGEST
from shoal.audit.store import Key
from shoal.errors import (
    FileError,
    InternalError,
    ParameterError,
    QueryError,
    ShoalError,
    TooLargeError,
)

__all__ = ["Limits", "application"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Log = Callable[[Mapping[str, Any]], None]
Read = TypeVar("Read")

_SHAPE = (
    128  # bytes: a reply is a multiple of it, and an answer has rarely more than a hundred digits
)
_FRESH = 1.0  # seconds for which the list of keys is not read again
_READERS = 4  # requests that read the log at the same time
_PAGE = 1_000  # lines of the transcript in one reply
_PEOPLE = 100_000  # in a list of them; the size of the body is the stricter limit


@dataclass(frozen=True)
class Limits:
    """What one client may do, and how replies are timed.

    body: bytes of a request
    rate, burst: requests a second and key, and how many may come at once
    quantum: seconds; replies to queries leave a multiple of it after they came in. 0 for as soon as they can
    """

    body: int = 1_000_000
    rate: float = 10.0
    burst: int = 20
    quantum: float = 0.25

    def __post_init__(self) -> None:
        if not (
            self.body > 0
            and self.burst > 0
            and 0 < self.rate < math.inf
            and 0 <= self.quantum < math.inf
        ):
            raise ParameterError(
                "the limits on body, rate and burst are above 0, and the quantum is 0 or above"
            )


# What is sent and received


class Asked(BaseModel):
    """A query: an aggregate of a secret column over people given by a condition or a list, or over everyone."""

    model_config = ConfigDict(extra="forbid")

    aggregate: Literal["max", "min", "sum", "mean", "count"]
    column: Annotated[
        StrictStr | None,
        Field(max_length=1_000, description="The secret column; none for a count."),
    ] = None
    where: Annotated[
        StrictStr | None,
        Field(
            max_length=LONGEST,
            description="A condition on public columns.",
            examples=["dept = 'X' and not age < 30"],
        ),
    ] = None
    people: Annotated[
        list[StrictStr | StrictInt] | None,
        Field(
            min_length=1,
            max_length=_PEOPLE,
            description="People by the column that names them, instead of a condition.",
        ),
    ] = None


class Replied(BaseModel):
    """The answer, a decimal or a quotient such as 10/3, or a denial. Nothing else, and in the same shape."""

    denied: bool
    answer: str | None

    @classmethod
    def of(cls, reply: Reply) -> "Replied":
        return cls(denied=reply.denied, answer=None if reply.denied else str(reply))


class Page(BaseModel):
    """Which lines of the transcript to give."""

    model_config = ConfigDict(extra="forbid")

    after: Annotated[int, Field(ge=0, le=1 << 53, description="Lines to pass over.")] = 0
    limit: Annotated[int, Field(ge=1, le=_PAGE, description="Lines to give at most.")] = _PAGE


class TranscriptLine(Replied):
    """A query that was asked, and what was replied."""

    number: int
    query: str


class Transcript(BaseModel):
    """Lines in the order they were asked; `next` is what to give as `after` for those that follow, if there may be more."""

    lines: list[TranscriptLine]
    next: int | None


class Asking(BaseModel):
    """A secret column, and what is public of its values."""

    column: str
    family: Literal["max", "min", "sum"] | None
    low: str | None
    high: str | None
    width: str
    integers: bool
    distinct: bool
    strategy: str
    dither: bool
    unit: str | None


class Columns(BaseModel):
    """What can be asked: the public columns with their types, the one that names people, and the secret columns."""

    people: int
    public: dict[str, str]
    named: str | None
    secret: list[Asking]


class ColumnState(Asking):
    """How it stands with a secret column."""

    answered: int
    denied: int


class State(BaseModel):
    """How it stands with the audit; `head` is the digest of the last entry of the log."""

    columns: list[ColumnState]
    head: str


class Health(BaseModel):
    status: Literal["ok"]


class Problem(BaseModel):
    """What was wrong, and what to do."""

    error: str


class _Padded(JSONResponse):
    """JSON and blanks up to a size that an answer and a denial share: encrypted, they look alike."""

    def render(self, content: Any) -> bytes:
        body = super().render(content)
        return body.ljust(-(-len(body) // _SHAPE) * _SHAPE)


_PROBLEMS = {
    400: "The query cannot be understood, or is not about what may be asked.",
    401: "The key is missing or unknown.",
    403: "The key is not the owner's.",
    413: "The request is too large.",
    422: "The request does not have the described form.",
    429: "Too many requests with this key; Retry-After says when to go on.",
    500: "A bug, or the service lacks something; the owner finds the place in the log.",
    503: "The store cannot be used at the moment.",
}


def _problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {
        code: {"model": Problem, "description": _PROBLEMS[code]} for code in (*codes, 413, 500, 503)
    }


# The application


def application(audit: Audit, limits: Limits | None = None, log: Log | None = None) -> "FastAPI":
    """The ASGI application of an audit. `log` takes one event a request, without data, queries or keys."""
    limits = limits or Limits()
    door = _Door(audit, limits)
    app = FastAPI(
        title="Shoal audit",
        summary="Exact answers to queries about people, or a denial, so that nobody's value is found out.",
        version=__version__,
        docs_url=None,  # these pages would fetch scripts from elsewhere
        redoc_url=None,
    )
    app.add_middleware(_Around, limits=limits, log=log or _print)
    app.add_exception_handler(ShoalError, _refused)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(StarletteError, _refused)
    analyst = Annotated[Key, Depends(door.analyst)]
    owner = Annotated[Key, Depends(door.owner)]

    @app.post("/query", response_model=Replied, responses=_problems(400, 401, 422, 429))
    async def query(asked: Asked, key: analyst) -> _Padded:
        """Ask. The reply is the answer, exact but for dithered sums, or a denial."""
        return _Padded(await door.on_the_grid(lambda: door.ask(asked, key)))

    @app.get("/transcript", responses=_problems(401, 422, 429))
    async def transcript(key: analyst, page: Annotated[Page, Query()]) -> Transcript:
        """All that was ever asked and replied, by whomever: every analyst may know it, and the audit takes it as known."""
        lines = await door.read(lambda: audit.transcript(page.after, page.limit))
        told = [
            TranscriptLine(number=one.number, query=one.query, **Replied.of(one.reply).model_dump())
            for one in lines
        ]
        return Transcript(
            lines=told, next=page.after + len(told) if len(told) == page.limit else None
        )

    @app.get("/columns", responses=_problems(401, 429))
    async def columns(key: analyst) -> Columns:
        """What can be asked about, and by which columns."""
        standings = await door.read(audit.state)
        secret = [Asking(**_settings(one)) for one in standings]
        public = {name: kind.value for name, kind in audit.public.items()}
        return Columns(people=audit.people, public=public, named=audit.named, secret=secret)

    @app.get("/state", responses=_problems(401, 403, 429))
    async def state(key: owner) -> State:
        """How it stands with every secret column: for the owner."""
        standings, head = await door.read(lambda: (audit.state(), audit.head()))
        return State(
            columns=[
                ColumnState(**_settings(one), answered=one.answered, denied=one.denied)
                for one in standings
            ],
            head=head,
        )

    @app.get("/health", responses=_problems())
    async def health() -> Health:
        """Whether the store can be read."""
        await to_thread.run_sync(door.keys)
        return Health(status="ok")

    return app


@dataclass
class _Door:
    """Who may come in, how often, and when replies leave."""

    audit: Audit
    limits: Limits
    # Threads, first come, first served: one decides, and few read, for they wait while it decides. The rest is for the keys.
    deciding: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    reading: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_READERS))
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    known: tuple[float, list[Key]] = (-math.inf, [])
    clock: Callable[[], float] = time.monotonic  # tests bring their own
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def analyst(
        self,
        request: Request,
        given: Annotated[
            HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))
        ],
    ) -> Key:
        """Whoever has a key."""
        key = self.find(await to_thread.run_sync(self.keys), given.credentials if given else "")
        if key is None:
            raise HTTPException(
                401, "give a key that shoal audit key add has made", {"WWW-Authenticate": "Bearer"}
            )
        request.state.key = key.name
        self.hurry(key)
        return key

    async def owner(
        self,
        request: Request,
        given: Annotated[
            HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))
        ],
    ) -> Key:
        """Whoever has an owner's key."""
        key = await self.analyst(request, given)
        if key.role != "owner":
            raise HTTPException(403, "this is for the owner; give a key with the role owner")
        return key

    def keys(self) -> list[Key]:
        read, keys = self.known
        if self.clock() - read > _FRESH:
            keys = self.audit.keys()
            self.known = self.clock(), keys
        return keys

    @staticmethod
    def find(keys: list[Key], given: str) -> Key | None:
        """The key that was given; all are compared, each in constant time."""
        wanted, found = digest(given), None
        for key in keys:
            if compare_digest(key.digest, wanted):
                found = key
        return found

    def hurry(self, key: Key) -> None:
        """Take a request from the key's bucket, which fills up at the rate; refuse if it is empty."""
        now = self.clock()
        left, then = self.buckets.get(key.name, (float(self.limits.burst), now))
        left = min(self.limits.burst, left + (now - then) * self.limits.rate)
        if left < 1:
            self.buckets[key.name] = left, now
            wait = math.ceil((1 - left) / self.limits.rate)
            raise HTTPException(
                429, "too many requests with this key; go on later", {"Retry-After": str(wait)}
            )
        self.buckets[key.name] = left - 1, now

    def ask(self, asked: Asked, key: Key) -> dict[str, Any]:
        query = self.audit.query(
            asked.aggregate, asked.column, where=asked.where, people=asked.people
        )
        return Replied.of(self.audit.ask(query, analyst=key.name)).model_dump()

    async def read(self, work: Callable[[], Read]) -> Read:
        """What is read from the audit, beside the loop."""
        return await to_thread.run_sync(work, limiter=self.reading)

    async def on_the_grid(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What the work gives or raises, a whole number of quanta after now. It runs beside the loop, one at a time."""
        start, quantum = self.clock(), self.limits.quantum
        try:
            return await to_thread.run_sync(work, limiter=self.deciding)
        finally:
            if quantum:
                spent = self.clock() - start
                await self.pause(math.ceil(spent / quantum) * quantum - spent)


def _settings(standing: Standing) -> dict[str, Any]:
    return {**standing.secret.to_dict(), "family": standing.secret.family or standing.family}


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """An error in our form. A message of Shoal has no value of the private table; one about the form has places only."""
    match error:
        case QueryError() | TooLargeError():
            return _Padded({"error": str(error)}, 400)
        case RequestValidationError():
            wrong = "; ".join(
                f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]
            )
            return _Padded({"error": wrong.encode(errors="replace").decode()}, 422)
        case StarletteError():
            return _Padded({"error": str(error.detail)}, error.status_code, error.headers)
        case InternalError():
            raise error
    request.state.problem = _place(error)
    if isinstance(error, FileError):
        return _Padded(
            {"error": "the store cannot be used at the moment; nothing was replied, so ask again"},
            503,
        )
    return _Padded(
        {
            "error": "the service lacks something, and nothing was replied; tell the owner, who finds it in the log"
        },
        500,
    )


class _Around:
    """Around everything: the limit on the body, a line in the log, and no traceback to anyone, as it may hold a value."""

    def __init__(self, app: Application, limits: Limits, log: Log) -> None:
        self.app, self.limits, self.log = app, limits, log

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.monotonic()
        status = 0
        bug: str | None = None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"cache-control", b"no-store")]
            await send(message)

        try:
            body = await self._body(scope, receive)
            if body is None:
                await _Padded({"error": f"a request has {self.limits.body:,} bytes at most"}, 413)(
                    scope, receive, answer
                )
            else:
                await self.app(scope, _again(body, receive), answer)
        except Exception as error:
            bug = _place(error)
            if not status:
                await _Padded({"error": "a bug in Shoal; please report it"}, 500)(
                    scope, receive, answer
                )
        finally:
            state = scope.get("state", {})
            route = scope.get("route")  # what was typed instead of a path could be anything
            self.log(
                {
                    "event": "request",
                    "method": scope["method"] if route else None,
                    "path": getattr(route, "path", None),
                    "status": status,
                    "seconds": round(time.monotonic() - start, 3),
                    "key": state.get("key"),
                    **({"problem": state["problem"]} if "problem" in state else {}),
                    **({"bug": bug} if bug else {}),
                }
            )

    async def _body(self, scope: Message, receive: Receive) -> bytes | None:
        """The body, or None if it is too large."""
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if not said.isdigit() or int(said[:20]) > self.limits.body:
            return None
        body: bytes = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self.limits.body:
                return None
            if not message.get("more_body", False):
                return body


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, to be received once more."""
    given = False

    async def first() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return first


def _place(error: BaseException) -> str:
    """The type of an error and the last line of Shoal's own that it came through; its text may hold a value."""
    places = [
        (frame.f_globals.get("__name__", ""), line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    module, line = [place for place in places if place[0].startswith("shoal.")][-1]
    return f"{type(error).__name__} in {module}, line {line}"


def _print(event: Mapping[str, Any]) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    print(json.dumps({"time": now, **event}), file=sys.stderr, flush=True)
