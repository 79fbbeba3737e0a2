"""An engine that is stopped while it counts stops, and Ctrl-C stays what it is."""

import signal
import threading
from collections.abc import Iterator, Sequence

import polars as pl
import pytest

from shoal.data.distant import Distant
from shoal.data.engines.interruptible import Interruptible
from shoal.data.engines.streaming import Streamed
from shoal.data.kinds import Kind
from shoal.data.sources import Reading
from shoal.errors import SourceError

PEOPLE = pl.DataFrame({"age": [31, 31, 47], "ill": ["flu", None, "flu"]})
AGE = Reading("age", Kind.INTEGER)


class Slow(Streamed):
    """Counts until it is stopped, as a driver does that Python's signals do not reach."""

    def __init__(self) -> None:
        super().__init__(PEOPLE.lazy())
        self.__dict__.update(asked=threading.Event(), stopped=threading.Event(), stops=0)

    def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        # Not by Polars, which takes signals itself while it works.
        yield pl.DataFrame({"0": [31, 47], "count": [2, 1]})
        self.__dict__["asked"].set()
        assert self.__dict__["stopped"].wait(60)
        raise OSError("canceling statement due to user request")

    def cancel(self) -> None:
        self.__dict__["stops"] += 1
        # The first time may be too early.
        if self.__dict__["stops"] > 1:
            self.__dict__["stopped"].set()


class Quick(Streamed):
    def __init__(self) -> None:
        super().__init__(PEOPLE.lazy())

    def cancel(self) -> None:
        raise AssertionError("nobody stopped it")


def test_its_answers_are_those_of_the_engine() -> None:
    engine = Interruptible(Quick())
    assert (engine.name, engine.rows(), engine.distinct("ill")) == ("the LazyFrame", 3, 2)
    assert engine.types.schema == PEOPLE.schema
    assert engine.head(2).equals(PEOPLE[:2])
    source = Distant(engine)
    assert source.values([AGE]) == [(31, 47)]
    assert source.known(Reading("ill", Kind.TEXT)) == (2, 1)


def test_a_part_that_nobody_takes_is_given_up() -> None:
    closed = threading.Event()

    class Parted(Quick):
        def tally(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
            try:
                yield PEOPLE
                yield PEOPLE
            finally:
                closed.set()

    parts = Interruptible(Parted()).tally(["age"])
    assert next(parts).equals(PEOPLE)
    parts.close()  # type: ignore[attr-defined]
    assert closed.wait(10)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="threads get no signals here")
def test_ctrl_c_reaches_whoever_waits_and_stops_the_engine() -> None:
    slow = Slow()
    own = threading.get_ident()

    def press() -> None:
        assert slow.__dict__["asked"].wait(60)
        signal.pthread_kill(own, signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        Distant(Interruptible(slow)).values([AGE])
    assert slow.__dict__["stopped"].is_set()


def test_a_failure_stays_a_failure() -> None:
    slow = Slow()
    slow.__dict__["stopped"].set()
    with pytest.raises(SourceError, match="OSError"):
        Distant(Interruptible(slow)).values([AGE])
    assert slow.__dict__["stops"] == 0
