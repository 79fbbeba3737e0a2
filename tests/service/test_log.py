"""Log lines contain no data, no query and no key."""

import io
import json
import logging

import pytest

from shoal.errors import ParameterError
from shoal.service.limits import ServiceLimits
from shoal.service.log import ServerLines, place_of, write


def test_what_the_event_loop_says_is_logged_without_its_objects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "Task exception was never retrieved\nfuture: <Task exception=ValueError('4711')>"
    ServerLines().emit(logging.LogRecord("asyncio", logging.ERROR, "", 0, text, None, None))
    logged = capsys.readouterr().err
    assert "never retrieved" in logged
    assert "4711" not in logged
    assert io.StringIO(logged).readline() == logged


def test_a_line_is_a_json_object_with_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    write({"event": "started", "port": 8000})
    line = json.loads(capsys.readouterr().err)
    assert list(line) == ["time", "event", "port"]
    assert line["time"].endswith("Z")


def test_the_place_of_an_error_is_the_last_line_of_shoal_without_its_text() -> None:
    with pytest.raises(ParameterError) as caught:
        ServiceLimits(body=-4711)
    place = place_of(caught.value)
    assert place.startswith("ParameterError in shoal.service.limits, line ")
    assert "4711" not in place
