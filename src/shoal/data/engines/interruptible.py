"""An engine that Ctrl-C reaches while it counts.

Drivers wait for their database where Python sees no signal, or make an error of their own of it. So
they wait in a thread, and whoever asked can stop them. `databases` and `sql`
use it.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Protocol, TypeVar

import polars as pl

from shoal.data.engines.engine import Engine

__all__ = ["Cancellable", "Interruptible"]

Answer = TypeVar("Answer")

_LOOK = 0.1
"""Seconds until a signal is seen."""
_TRIES, _PATIENCE = 40, 0.25
"""How often an engine is asked to stop, and seconds between: it may not have begun at first."""


class Cancellable(Engine, Protocol):
    """An engine that can be stopped from another thread."""

    def cancel(self) -> None:
        """Make the question that is being answered fail."""
        ...


def _one_thread() -> ThreadPoolExecutor:
    # Some drivers want to be asked by one thread only.
    return ThreadPoolExecutor(1, thread_name_prefix="shoal-engine")


@dataclass(frozen=True, eq=False)
class Interruptible:
    """An engine that waits in a thread, and is stopped where its asker is."""

    engine: Cancellable
    _thread: ThreadPoolExecutor = field(default_factory=_one_thread, repr=False)

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def types(self) -> pl.DataFrame:
        return self._ask(lambda: self.engine.types)

    @property
    def decimals(self) -> frozenset[str]:
        return self._ask(lambda: self.engine.decimals)

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        yield from self._parts(self.engine.tally(names))

    def orders(self) -> bool:
        return self._ask(self.engine.orders)

    def in_order(self, names: Sequence[str], at_once: int) -> Iterator[pl.DataFrame]:
        yield from self._parts(self.engine.in_order(names, at_once))

    def rows(self) -> int:
        return self._ask(self.engine.rows)

    def distinct(self, name: str) -> int:
        return self._ask(partial(self.engine.distinct, name))

    def head(self, rows: int) -> pl.DataFrame:
        return self._ask(partial(self.engine.head, rows))

    def _parts(self, parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        try:
            while (part := self._ask(partial(next, parts, None))) is not None:
                yield part
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                self._thread.submit(close)

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        answered = Event()

        def answer() -> Answer:
            try:
                return question()
            finally:
                answered.set()

        try:
            asked = self._thread.submit(answer)
            # Polars makes signals go on waiting, so that one is seen only between two waits.
            while not answered.wait(_LOOK):
                continue
            return asked.result()
        finally:
            # Whoever asked does not wait any longer, wherever the signal came.
            for _ in range(_TRIES):
                if answered.is_set():
                    break
                self.engine.cancel()
                answered.wait(_PATIENCE)
