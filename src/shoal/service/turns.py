"""Turns: who comes next where many want the same. `door` uses it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Turns"]


class Turns:
    """Places for work, given to one key after the other.

    Whoever asks a lot waits for their own questions: another key's question waits only for those
    that run, and for one question of each other key.

    served: the number of the last turn that a key had
    """

    def __init__(self, places: int) -> None:
        self.free = places
        self.queues: dict[str, deque[asyncio.Future[None]]] = {}
        self.served: dict[str, int] = {}
        self.turns = 0

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """Wait for a place, and have it for the length of the block."""
        await self._take(key)
        try:
            yield
        finally:
            self._give()

    async def _take(self, key: str) -> None:
        if self.free:
            self.free -= 1
            self._serve(key)
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.queues.setdefault(key, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                # it came just now
                self._give()
            else:
                self._forget(key, place)
            raise

    def _forget(self, key: str, place: "asyncio.Future[None]") -> None:
        queue = self.queues[key]
        queue.remove(place)
        if not queue:
            del self.queues[key]

    def _give(self) -> None:
        """Pass a place on to the key that waits and was served longest ago."""
        if not self.queues:
            self.free += 1
            return
        # a key that was never served comes first
        key = min(self.queues, key=lambda waiting: self.served.get(waiting, 0))
        place = self.queues[key][0]
        self._forget(key, place)
        self._serve(key)
        place.set_result(None)

    def _serve(self, key: str) -> None:
        self.turns += 1
        self.served[key] = self.turns
