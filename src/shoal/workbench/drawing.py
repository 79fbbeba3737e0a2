"""`python -m shoal.workbench.drawing`: the process in which charts are drawn.

What draws takes more memory than most tables, and a server lives long. The process ends by itself
when nothing was to be drawn for some time, and with the workbench. Uses `look`; pages use it.
"""

import pickle
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from shoal.errors import ShoalError
from shoal.look import drawing
from shoal.look.pictures import Picture
from shoal.workbench.phrases import in_chart, phrases
from shoal.workbench.texts import LANGUAGES

__all__ = ["Pen", "figures"]

IDLE = 300.0
"""Seconds without a chart after which the process ends."""


class Pen:
    """Draws charts as SVG, one after the other, in another process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        self._is_prepared = False

    def svg(self, draw: Callable[[], Any], language: str = "en") -> str:
        """The chart that `draw` makes, a function of a module with plain arguments, as SVG."""
        asked = pickle.dumps((draw, language))
        with self._lock:
            try:
                drawn = self._asked(asked)
            except (OSError, EOFError):
                # The process has ended meanwhile; if the chart itself ends it, so will the next.
                self._ended()
                drawn = self._tried(asked)
        if isinstance(drawn, str):
            return drawn
        raise ShoalError("the chart cannot be drawn", "its table has the same figures")

    def prepare_once(self) -> None:
        """Start the process when the first project is opened: there will be charts in a moment.

        Not again, once it has ended: until a chart is asked for, it would only take memory.
        """
        if not self._is_prepared:
            self._is_prepared = True
            self.prepare()

    def prepare(self) -> None:
        """Start the process, unless it runs: somebody will want a chart in a moment."""
        if drawing.available() and self._lock.acquire(blocking=False):
            try:
                self._started()
            except (OSError, EOFError):
                pass
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the process, whatever it draws, and start no other."""
        self._is_closed = True
        if self._process is not None:
            self._process.kill()
        with self._lock:
            self._ended()

    def _tried(self, asked: bytes) -> object:
        try:
            return self._asked(asked)
        except (OSError, EOFError):
            self._ended()
            return None

    def _asked(self, asked: bytes) -> object:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(asked)
        process.stdin.flush()
        return pickle.load(process.stdout)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._is_closed:
            raise EOFError
        if self._process is None or self._process.poll() is not None:
            self._ended()
            self._process = subprocess.Popen(
                # -P: the folder in which the workbench was started must not shadow any library.
                [sys.executable, "-P", "-m", "shoal.workbench.drawing"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _ended(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def in_language(draw: Callable[[], Any], language: str) -> str:
    """The chart that `draw` makes as SVG, drawn here, its words in a language."""
    return drawing.svg(draw(), partial(in_chart, said=phrases(language)))


def figures(picture: Picture) -> dict[str, str]:
    """A picture as HTML in every language, for jobs, which do not know who will look at it."""
    made = {}
    for language in LANGUAGES:
        drawer = partial(in_language, language=language)
        made[language] = str(picture.html(svg=drawer, words=phrases(language)))
    return made


def main(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Draw what is asked for, until nobody asks any more.

    Whoever asks waits for the answer, so nothing is read ahead.
    """
    chart = drawing.library().Chart({"values": [{"a": 1}]}).mark_point().encode(x="a:Q")
    drawing.svg(chart)  # the first chart takes much longer than the others
    while select.select([asked], [], [], IDLE)[0]:
        try:
            draw, language = pickle.load(asked)
        except EOFError:
            return
        try:
            drawn: str | None = in_language(draw, language)
        except Exception:
            drawn = None
        pickle.dump(drawn, answers)
        answers.flush()


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
