"""Around every request: the key before the body, the limits on both, and a line in the log.

Nobody gets a traceback, as it may hold a value. Uses `door`, `bodies` and `log`; `app` uses it.
"""

import time

from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from shoal.errors import InternalError, QueryError, ShoalError, Stopped, TooLargeError
from shoal.service.asgi import Application, Message, Receive, Send, replayed, without_body
from shoal.service.bodies import PaddedResponse, refusal
from shoal.service.door import Door
from shoal.service.log import Event, Log, place_of

__all__ = ["KEYED", "Around", "refused"]

KEYED = ("/query", "/transcript", "/columns", "/state")
"""Paths that need a key."""

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


async def refused(request: Request, error: Exception) -> JSONResponse:
    """An error in our form; one that is not the client's is logged, and a bug is raised."""
    if isinstance(error, InternalError):
        raise error
    if isinstance(error, ShoalError) and not isinstance(
        error, QueryError | TooLargeError | Stopped
    ):
        request.state.problem = place_of(error)
    return refusal(error)


class Around:
    """The middleware around the application."""

    def __init__(self, app: Application, door: Door, log: Log) -> None:
        self.app = app
        self.door = door
        self.log = log

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.monotonic()
        status = 0
        bug = None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        try:
            if scope["path"] in KEYED:
                await self._admitted(scope, receive, answer)
            else:
                # nothing here reads a body
                await self.app(scope, without_body(receive), answer)
        except Exception as error:
            bug = place_of(error)
            if not status:
                response = PaddedResponse({"error": "a bug in Shoal; please report it"}, 500)
                await response(scope, receive, answer)
        finally:
            self.log(_event(scope, status, time.monotonic() - start, bug))

    async def _admitted(self, scope: Message, receive: Receive, answer: Send) -> None:
        """The application, for those with a key; others are refused before they send a body."""
        request = Request(scope)
        try:
            key = await self.door.admit(scope["headers"])
            request.state.key = key.name
            request.state.admitted = key
            with self.door.within(key):
                if scope["method"] != "POST":
                    await self.app(scope, without_body(receive), answer)
                    return
                async with self.door.body(scope, receive) as body:
                    await self.app(scope, replayed(body, receive), answer)
        except (HTTPException, ShoalError) as error:
            response = await refused(request, error)
            await response(scope, receive, answer)


def _event(scope: Message, status: int, seconds: float, bug: str | None) -> Event:
    """The line in the log.

    An unknown method or path could contain anything, so it is left out.
    """
    path = scope["path"]
    if path not in KEYED:
        path = getattr(scope.get("route"), "path", None)
    state = scope.get("state", {})
    event: dict[str, str | int | float | None] = {
        "event": "request",
        "method": scope["method"] if scope["method"] in _METHODS else None,
        "path": path,
        "status": status,
        "seconds": round(seconds, 3),
        "key": state.get("key"),
    }
    if "problem" in state:
        event["problem"] = state["problem"]
    if bug:
        event["bug"] = bug
    return event
