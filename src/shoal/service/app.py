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
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Annotated, Any, Literal, TypeVar

from anyio import to_thread
from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr
from starlette.exceptions import HTTPException as StarletteError

from shoal import __version__
from shoal.audit.book import Audit, Line, Reply, SecretState, digest
from shoal.audit.expressions import LONGEST
from shoal.audit.store import Key
from shoal.errors import (
    FileError,
    InternalError,
    QueryError,
    ShoalError,
    Stopped,
    TooLargeError,
)
from shoal.service.limits import Limits
from shoal.service.turns import Turns

__all__ = ["application"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Log = Callable[[Mapping[str, Any]], None]
Read = TypeVar("Read")

_SHAPE = (
    128  # bytes: a reply is a multiple of it, and an answer has rarely more than a hundred digits
)
_TEXTS = 1_000_000  # characters of queries in one page of the transcript; a list of people can have as many
_KEYED = ("/query", "/transcript", "/columns", "/state")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
_BODIES = 64  # times the largest body: so many bytes of bodies are held at once
_FRESH = 1.0  # seconds for which the list of keys is not read again
_READERS = 4  # requests that read the log at the same time
_PAGE = 1_000  # lines of the transcript in one reply
_PEOPLE = 100_000  # in a list of them; the size of the body is the stricter limit


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
    408: "The body of the request took too long.",
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
    bearer = Depends(
        HTTPBearer(auto_error=False)
    )  # for the description; _Around has looked at the key already

    async def analyst(request: Request, given: Annotated[object, bearer]) -> Key:
        key: Key = request.state.admitted
        return key

    async def owner(request: Request, given: Annotated[object, bearer]) -> Key:
        key = await analyst(request, given)
        if key.role != "owner":
            raise HTTPException(403, "this is for the owner; give a key with the role owner")
        return key

    by_analyst = Annotated[Key, Depends(analyst)]
    by_owner = Annotated[Key, Depends(owner)]
    app = FastAPI(
        title="Shoal audit",
        summary="Exact answers to queries about people, or a denial, so that nobody's value is found out.",
        version=__version__,
        docs_url=None,  # these pages would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # a redirect would quote the Host that was sent
    )
    app.add_middleware(_Around, door=door, log=log or _print)
    app.add_exception_handler(ShoalError, _refused)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(StarletteError, _refused)

    @app.post("/query", response_model=Replied, responses=_problems(400, 401, 408, 422, 429))
    async def query(asked: Asked, key: by_analyst, request: Request) -> _Padded:
        """Ask. The reply is the answer, exact but for dithered sums, or a denial."""
        return _Padded(await door.decide(asked, key, request.receive))

    @app.get("/transcript", responses=_problems(401, 422, 429))
    async def transcript(key: by_analyst, page: Annotated[Page, Query()]) -> Transcript:
        """All that was ever asked and replied, by whomever: every analyst may know it, and the audit takes it as known."""
        lines = await door.read(key, lambda: audit.transcript(page.after, page.limit))
        shown = _page(lines)
        told = [
            TranscriptLine(number=one.number, query=one.query, **Replied.of(one.reply).model_dump())
            for one in shown
        ]
        more = len(shown) < len(lines) or len(lines) == page.limit
        return Transcript(lines=told, next=page.after + len(told) if more else None)

    @app.get("/columns", responses=_problems(401, 429))
    async def columns(key: by_analyst) -> Columns:
        """What can be asked about, and by which columns."""
        standings = await door.read(key, audit.state)
        secret = [Asking(**_settings(one)) for one in standings]
        public = {name: kind.value for name, kind in audit.public.items()}
        return Columns(people=audit.people, public=public, named=audit.named, secret=secret)

    @app.get("/state", responses=_problems(401, 403, 429))
    async def state(key: by_owner) -> State:
        """How it stands with every secret column: for the owner."""
        standings, head = await door.read(key, lambda: (audit.state(), audit.head()))
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
        await door.keys()
        return Health(status="ok")

    return app


@dataclass
class _Door:
    """Who may come in, how often, in which order, and when replies leave."""

    audit: Audit
    limits: Limits
    # Threads: one decides, and few read, for they wait while it decides. The rest is for the keys.
    deciding: Turns = field(default_factory=lambda: Turns(1))
    reading: Turns = field(default_factory=lambda: Turns(_READERS))
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    present: Counter[str] = field(default_factory=Counter)  # requests in progress, by key
    held: int = 0  # bytes of their bodies
    known: tuple[float, list[Key]] = (-math.inf, [])
    looking: "asyncio.Future[list[Key]] | None" = None
    clock: Callable[[], float] = time.monotonic  # tests bring their own
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def keys(self) -> list[Key]:
        """Everyone who has a key, as of a second ago at most. Those who want to know at the same time look once."""
        read, keys = self.known
        if self.clock() - read <= _FRESH:
            return keys
        if self.looking is None:
            self.looking = asyncio.ensure_future(to_thread.run_sync(self.audit.keys))
            self.looking.add_done_callback(self._looked)
        return await asyncio.shield(self.looking)

    def _looked(self, looking: "asyncio.Future[list[Key]]") -> None:
        self.looking = None
        if not looking.cancelled() and looking.exception() is None:
            self.known = self.clock(), looking.result()

    async def admit(self, headers: Iterable[tuple[bytes, bytes]]) -> Key:
        """The key that the head of a request has, which may come in now; HTTPException if there is none, or it may not."""
        key = self.find(await self.keys(), _bearer(headers))
        if key is None:
            raise HTTPException(
                401, "give a key that shoal audit key add has made", {"WWW-Authenticate": "Bearer"}
            )
        return key

    @staticmethod
    def find(keys: list[Key], given: str) -> Key | None:
        """The key that was given; all are compared, each in constant time."""
        wanted, found = digest(given), None
        for key in keys:
            if compare_digest(key.digest, wanted):
                found = key
        return found

    @contextmanager
    def within(self, key: Key) -> Iterator[None]:
        """One more request of a key is in progress for the length of the block; HTTPException if they are too many."""
        self.hurry(key)
        if self.present[key.name] >= self.limits.waiting:
            raise HTTPException(
                429,
                "too many requests with this key are waiting; go on later",
                {"Retry-After": "1"},
            )
        self.present[key.name] += 1
        try:
            yield
        finally:
            self.present[key.name] -= 1

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

    @asynccontextmanager
    async def body(self, scope: Message, receive: Receive) -> AsyncIterator[bytes]:
        """The body of a request, which counts as held for the length of the block; HTTPException if it is too large or slow."""
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.timeout):
                await self._fill(body, scope, receive)
        except TimeoutError:
            self.held -= len(body)
            raise HTTPException(
                408, f"the body has to arrive within {self.limits.timeout:g} seconds"
            ) from None
        except BaseException:
            self.held -= len(body)
            raise
        try:
            yield bytes(body)
        finally:
            self.held -= len(body)

    async def _fill(self, body: bytearray, scope: Message, receive: Receive) -> None:
        too_large = HTTPException(413, f"a request has {self.limits.body:,} bytes at most")
        stated = dict(scope["headers"]).get(b"content-length", b"0")
        if not stated.isdigit() or int(stated[:20]) > self.limits.body:
            raise too_large
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Stopped("whoever asked has left")
            piece = message.get("body", b"")
            more = message.get("more_body", False)
            body += piece
            self.held += len(piece)
            if len(body) > self.limits.body:
                raise too_large
            if self.held > _BODIES * self.limits.body:
                raise HTTPException(
                    503, "too many large requests at once; go on later", {"Retry-After": "1"}
                )

    def ask(self, asked: Asked, key: Key, gone: Callable[[], bool]) -> dict[str, Any]:
        query = self.audit.query(
            asked.aggregate, asked.column, where=asked.where, people=asked.people
        )
        reply = self.audit.ask(query, analyst=key.name, most=self.limits.cost, gone=gone)
        return Replied.of(reply).model_dump()

    async def read(self, key: Key, work: Callable[[], Read]) -> Read:
        """What is read from the audit, beside the loop."""
        async with self.reading.turn(key.name):
            return await to_thread.run_sync(work)

    async def decide(self, asked: Asked, key: Key, receive: Receive) -> dict[str, Any]:
        """The reply to a query in its turn, on the grid; Stopped, with nothing recorded, if whoever asked has left by then."""
        leaving = asyncio.ensure_future(_left(receive))
        begun = False

        async def work() -> dict[str, Any]:
            nonlocal begun
            async with self.deciding.turn(key.name):
                begun = True
                return await to_thread.run_sync(self.ask, asked, key, leaving.done)

        working = asyncio.ensure_future(self.on_the_grid(work))
        try:
            await asyncio.wait((leaving, working), return_when=asyncio.FIRST_COMPLETED)
            if leaving.done() and not begun:
                working.cancel()  # a thread that has begun looks for itself whether someone still waits
            return await working
        except asyncio.CancelledError:
            if not leaving.done():
                raise
            raise Stopped("whoever asked has left") from None
        finally:
            leaving.cancel()

    async def on_the_grid(self, work: Callable[[], Awaitable[Read]]) -> Read:
        """What the work gives or raises, a whole number of quanta after now."""
        start, quantum = self.clock(), self.limits.quantum
        try:
            return await work()
        finally:
            if quantum:
                spent = self.clock() - start
                await self.pause(math.ceil(spent / quantum) * quantum - spent)


def _bearer(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the head of a request; nothing if there is none, or more than one."""
    given = [value for name, value in headers if name == b"authorization"]
    scheme, _, key = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
    return key.strip() if scheme.lower() == "bearer" else ""


async def _left(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _page(lines: Sequence[Line]) -> Sequence[Line]:
    """The first lines, at least one, whose texts are not too long together."""
    length = 0
    for place, line in enumerate(lines):
        length += len(line.query)
        if place and length > _TEXTS:
            return lines[:place]
    return lines


def _settings(standing: SecretState) -> dict[str, Any]:
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
        case Stopped():  # nobody will read it
            return _Padded({"error": "whoever asked has left, and nothing was recorded"}, 503)
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
    """Around everything: the key before the body, the limits on both, a line in the log, and no traceback to anyone, as it may
    hold a value."""

    def __init__(self, app: Application, door: _Door, log: Log) -> None:
        self.app, self.door, self.log = app, door, log

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
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        try:
            if scope["path"] in _KEYED:
                await self._admitted(scope, receive, answer)
            else:  # nothing here reads a body
                await self.app(scope, _without_body(receive), answer)
        except Exception as error:
            bug = _place(error)
            if not status:
                await _Padded({"error": "a bug in Shoal; please report it"}, 500)(
                    scope, receive, answer
                )
        finally:
            state = scope.get("state", {})
            route = scope.get("route")  # what was typed instead of a path could be anything
            path = scope["path"] if scope["path"] in _KEYED else getattr(route, "path", None)
            self.log(
                {
                    "event": "request",
                    "method": scope["method"] if scope["method"] in _METHODS else None,
                    "path": path,
                    "status": status,
                    "seconds": round(time.monotonic() - start, 3),
                    "key": state.get("key"),
                    **({"problem": state["problem"]} if "problem" in state else {}),
                    **({"bug": bug} if bug else {}),
                }
            )

    async def _admitted(self, scope: Message, receive: Receive, answer: Send) -> None:
        """The application for those who have a key: what is wrong with the head is told before the body is received."""
        request = Request(scope)
        try:
            key = await self.door.admit(scope["headers"])
            request.state.key, request.state.admitted = key.name, key
            with self.door.within(key):
                if scope["method"] != "POST":
                    await self.app(scope, _without_body(receive), answer)
                    return
                async with self.door.body(scope, receive) as body:
                    await self.app(scope, _again(body, receive), answer)
        except (StarletteError, ShoalError) as error:
            response = await _refused(request, error)
            await response(scope, receive, answer)


def _without_body(receive: Receive) -> Receive:
    return _again(b"", receive)


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
