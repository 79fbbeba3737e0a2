"""The log of the service: one JSON object per line on stderr, without data, queries or keys.

Uses nothing of the service; `app`, `middleware` and `run` use it.
"""

import json
import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

__all__ = ["Event", "Log", "ServerLines", "place_of", "write"]

Event = Mapping[str, str | int | float | None]
Log = Callable[[Event], None]


def write(event: Event) -> None:
    """One line of the log, with the time."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    print(json.dumps({"time": now, **event}), file=sys.stderr, flush=True)


class ServerLines(logging.Handler):
    """What the server itself logs.

    Only fixed texts: arguments and tracebacks could contain a value.
    """

    def emit(self, record: logging.LogRecord) -> None:
        # asyncio adds objects, in further lines
        text = str(record.msg).strip().partition("\n")[0]
        write({"event": "server", "level": record.levelname.lower(), "text": text})


def place_of(error: BaseException) -> str:
    """The type of an error and the last line of Shoal's own that it came through.

    Its text is left out, as it may contain a value.
    """
    places = [
        (frame.f_globals.get("__name__", ""), line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    module, line = [place for place in places if place[0].startswith("shoal.")][-1]
    return f"{type(error).__name__} in {module}, line {line}"
