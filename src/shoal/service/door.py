"""Who may come in, how often and in which order, and when replies leave.

What a reply reveals beside the answer is kept small: answers and denials leave a whole number of
quanta after the query came in. Not controlled: how many quanta a long decision takes, the load of
the machine, the network. Uses `audit` and `turns`; `app` and `middleware` use it.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any, TypeVar

from anyio import to_thread
from fastapi import HTTPException

from shoal.audit import Audit
from shoal.audit.store import Key
from shoal.errors import Stopped
from shoal.log.keys import digest
from shoal.service.asgi import Message, Receive, disconnected
from shoal.service.bodies import QueryReply, QueryRequest
from shoal.service.limits import ServiceLimits
from shoal.service.turns import Turns

__all__ = ["Door"]

Result = TypeVar("Result")
ReplyBody = dict[str, Any]
"""A `QueryReply`, ready to be sent."""

BODIES = 64
"""Times the largest body: that many bytes of bodies are held at once, at most."""

FRESH = 1.0
"""Seconds for which the list of keys is not read again."""

READERS = 4
"""Requests that read the log at the same time, at most."""


@dataclass
class Door:
    """Keys, limits, turns, and the grid of time on which replies leave.

    One thread decides, and few read, since they wait while it decides. The other threads are for
    the keys.

    present: requests in progress, by key
    held: bytes of their bodies
    known: when the keys were read last, and what they were
    clock, pause: tests bring their own
    """

    audit: Audit
    limits: ServiceLimits
    deciding: Turns = field(default_factory=lambda: Turns(1))
    reading: Turns = field(default_factory=lambda: Turns(READERS))
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    present: Counter[str] = field(default_factory=Counter)
    held: int = 0
    known: tuple[float, list[Key]] = (-math.inf, [])
    looking: "asyncio.Future[list[Key]] | None" = None
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    # Keys

    async def keys(self) -> list[Key]:
        """Everyone who has a key, as of at most a second ago; simultaneous callers look once."""
        read, keys = self.known
        if self.clock() - read <= FRESH:
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
        """The key in the headers of a request; HTTPException if there is none, or it is unknown."""
        key = self.find(await self.keys(), _bearer(headers))
        if key is None:
            raise HTTPException(
                401,
                "the key is missing or unknown; shoal audit key add makes one",
                {"WWW-Authenticate": "Bearer"},
            )
        return key

    @staticmethod
    def find(keys: list[Key], given: str) -> Key | None:
        """The key that was given; all are compared, each in constant time."""
        wanted, match = digest(given), None
        # no early end: how long it takes must not depend on which key it is
        for key in keys:
            if compare_digest(key.digest, wanted):
                match = key
        return match

    # Limits

    @contextmanager
    def within(self, key: Key) -> Iterator[None]:
        """Count a request of a key as in progress for the length of the block.

        HTTPException if there are too many.
        """
        self._spend(key)
        if self.present[key.name] >= self.limits.waiting:
            raise HTTPException(
                429,
                "too many requests with this key are in progress; try again later",
                {"Retry-After": "1"},
            )
        self.present[key.name] += 1
        try:
            yield
        finally:
            self.present[key.name] -= 1

    def _spend(self, key: Key) -> None:
        """Take a request from the key's bucket, which fills at the rate; refuse if it is empty."""
        now = self.clock()
        full = float(self.limits.burst)
        left, then = self.buckets.get(key.name, (full, now))
        left = min(self.limits.burst, left + (now - then) * self.limits.rate)
        if left < 1:
            self.buckets[key.name] = left, now
            wait = math.ceil((1 - left) / self.limits.rate)
            raise HTTPException(
                429,
                "too many requests with this key; try again later",
                {"Retry-After": str(wait)},
            )
        self.buckets[key.name] = left - 1, now

    @asynccontextmanager
    async def body(self, scope: Message, receive: Receive) -> AsyncIterator[bytes]:
        """The body of a request, which counts as held for the length of the block.

        HTTPException if it is too large or too slow.
        """
        body = bytearray()
        try:
            try:
                async with asyncio.timeout(self.limits.timeout):
                    await self._fill(body, scope, receive)
            except TimeoutError:
                raise HTTPException(
                    408, f"the body did not arrive within {self.limits.timeout:g} seconds"
                ) from None
            yield bytes(body)
        finally:
            self.held -= len(body)

    async def _fill(self, body: bytearray, scope: Message, receive: Receive) -> None:
        too_large = HTTPException(413, f"a request may have at most {self.limits.body:,} bytes")
        # what is stated is refused before anything is received; what is sent may be more
        stated = dict(scope["headers"]).get(b"content-length", b"0")
        if not stated.isdigit() or int(stated[:20]) > self.limits.body:
            raise too_large
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Stopped("the client has disconnected")
            piece = message.get("body", b"")
            more = message.get("more_body", False)
            body += piece
            self.held += len(piece)
            if len(body) > self.limits.body:
                raise too_large
            if self.held > BODIES * self.limits.body:
                raise HTTPException(
                    503, "too many large requests at once; try again later", {"Retry-After": "1"}
                )

    # Turns and the grid

    async def read(self, key: Key, work: Callable[[], Result]) -> Result:
        """What is read from the audit, outside the event loop."""
        async with self.reading.turn(key.name):
            return await to_thread.run_sync(work)

    async def decide(self, request: QueryRequest, key: Key, receive: Receive) -> ReplyBody:
        """The reply to a query in its turn, on the grid.

        Stopped, with nothing recorded, if the client has disconnected by then.
        """
        leaving = asyncio.ensure_future(disconnected(receive))
        begun = False

        async def work() -> ReplyBody:
            nonlocal begun
            async with self.deciding.turn(key.name):
                begun = True
                return await to_thread.run_sync(self._ask, request, key, leaving.done)

        working = asyncio.ensure_future(self.on_the_grid(work))
        try:
            await asyncio.wait((leaving, working), return_when=asyncio.FIRST_COMPLETED)
            if leaving.done() and not begun:
                # a thread that has begun looks for itself whether someone still waits
                working.cancel()
            return await working
        except asyncio.CancelledError:
            if not leaving.done():
                raise
            raise Stopped("the client has disconnected") from None
        finally:
            leaving.cancel()

    def _ask(self, request: QueryRequest, key: Key, gone: Callable[[], bool]) -> ReplyBody:
        """The reply as it is sent: the grid also hides the time it takes to write its digits."""
        query = self.audit.query(
            request.aggregate, request.column, where=request.where, people=request.people
        )
        reply = self.audit.ask(query, analyst=key.name, most=self.limits.cost, gone=gone)
        return QueryReply.of(reply).model_dump()

    async def on_the_grid(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """What the work returns or raises, a whole number of quanta after now."""
        start, quantum = self.clock(), self.limits.quantum
        try:
            return await work()
        finally:
            # errors wait as well, so that they are no quicker than replies
            if quantum:
                spent = self.clock() - start
                await self.pause(math.ceil(spent / quantum) * quantum - spent)


def _bearer(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the headers of a request; empty if there is none, or more than one."""
    given = [value for name, value in headers if name == b"authorization"]
    if len(given) != 1:
        return ""
    scheme, _, key = given[0].decode("latin-1").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""
