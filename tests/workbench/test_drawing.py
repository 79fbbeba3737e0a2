"""Charts are drawn in a process of their own."""

import os
import signal
from functools import partial
from typing import Any

import pytest

from shoal.errors import ShoalError
from shoal.look.charts import ChartAxis, bars
from shoal.workbench.drawing import Pen

pytest.importorskip("vl_convert", reason="charts need shoal[plots]")

CHART = partial(bars, [("one", {"before": 1.0})], ChartAxis("share"))


@pytest.fixture(scope="module")
def pen() -> Any:
    made = Pen()
    yield made
    made.close()


def _number_of(pen: Pen) -> int:
    assert pen._process is not None
    return pen._process.pid


def test_a_chart_is_drawn_elsewhere_and_the_next_one_in_the_same_place(pen: Pen) -> None:
    assert pen.svg(CHART).startswith("<svg")
    first = _number_of(pen)
    assert pen.svg(CHART).startswith("<svg")
    assert _number_of(pen) == first != os.getpid()


def test_what_cannot_be_drawn_is_an_error_and_the_process_stays(pen: Pen) -> None:
    pen.svg(CHART)
    first = _number_of(pen)
    with pytest.raises(ShoalError, match="cannot be drawn"):
        pen.svg(partial(int, "not a chart"))
    assert _number_of(pen) == first


def test_a_process_that_has_ended_is_started_again(pen: Pen) -> None:
    pen.svg(CHART)
    os.kill(_number_of(pen), signal.SIGKILL)
    assert pen.svg(CHART).startswith("<svg")


def test_a_chart_that_ends_the_process_is_an_error(pen: Pen) -> None:
    with pytest.raises(ShoalError, match="cannot be drawn"):
        pen.svg(partial(os._exit, 3))
    assert pen.svg(CHART).startswith("<svg")


def test_the_process_starts_ahead_once_and_then_only_for_a_chart() -> None:
    made = Pen()
    try:
        made.prepare_once()
        first = _number_of(made)
        made._ended()
        made.prepare_once()
        assert made._process is None
        assert made.svg(CHART).startswith("<svg")
        assert _number_of(made) != first
    finally:
        made.close()
