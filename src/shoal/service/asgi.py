"""The messages between a server and an application, and bodies that were received already.

Uses nothing of the service; `door` and `middleware` use it.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["Application", "Message", "Receive", "Send", "disconnected", "replayed", "without_body"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


async def disconnected(receive: Receive) -> None:
    """Wait until the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


def replayed(body: bytes, receive: Receive) -> Receive:
    """A body that was received already, to be received once more."""
    given = False

    async def first() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return first


def without_body(receive: Receive) -> Receive:
    """A request whose body nobody reads."""
    return replayed(b"", receive)
