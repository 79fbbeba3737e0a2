"""Bodies that were received already, and clients that leave."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from shoal.service.asgi import disconnected, replayed, without_body


def receiving(*kinds: str) -> Callable[[], Awaitable[dict[str, Any]]]:
    """Messages of these kinds, one after the other."""
    messages = iter([{"type": kind} for kind in kinds])

    async def receive() -> dict[str, Any]:
        return next(messages)

    return receive


def test_a_body_is_received_once_more_and_then_what_comes() -> None:
    async def main() -> None:
        receive = replayed(b"{}", receiving("http.disconnect"))
        assert await receive() == {"type": "http.request", "body": b"{}", "more_body": False}
        assert await receive() == {"type": "http.disconnect"}
        assert (await without_body(receiving())())["body"] == b""

    asyncio.run(main())


def test_a_client_has_left_once_it_disconnects() -> None:
    async def main() -> None:
        await disconnected(receiving("http.request", "http.request", "http.disconnect"))

    asyncio.run(main())
