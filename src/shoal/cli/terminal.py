"""What a command says, and where: results on stdout, everything else on stderr.

It loads rich only where it is used. With --quiet, only errors, warnings and what programs read are
said; with --json, an error is one JSON object.

Streams may have any encoding, or nobody who reads them. What they cannot take is spelled otherwise,
in JSON by escapes; what is meant to become a file is UTF-8.
"""

import codecs
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Timer
from typing import IO, TYPE_CHECKING, TextIO

from shoal.data.disk import finite
from shoal.errors import FileError
from shoal.exact.numbers import percent

if TYPE_CHECKING:
    import os

    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "Report",
    "abandon",
    "complain",
    "complain_json",
    "copyable",
    "figures",
    "give",
    "indented",
    "listing",
    "percent",
    "prepare",
    "print_json",
    "printable",
    "remark",
    "rows_of",
    "say",
    "set_quiet",
    "show",
    "title",
    "warn_exposed",
    "working",
]

Report = Callable[[int, int, str], None]
"""Takes how much is done, of how much, and what is being done."""

PATIENCE = 1.0  # seconds before a progress bar appears

_COMMAND_WIDTH = 74  # and an indent and a backslash, within 80 columns

_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether the command was given --quiet."""

_SPELLED = {
    **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "π": "pi"},
    **{
        "σ": "sigma",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "×": "x",
        "·": "*",
        "−": "-",
        "∞": "infinity",
    },
    **{"–": "-", "—": "-", "…": "...", "′": "'", "’": "'", "→": "->", "√": "sqrt", "²": "^2"},
}
"""What Shoal writes that encodings such as cp1252 and ASCII do not have."""


def prepare() -> None:
    """Make stdout and stderr take any text, whatever their encoding, also where they are closed."""
    codecs.register_error("shoal", _spell)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # for good
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="shoal")


def _spell(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    spelled = _SPELLED.get(character)
    if spelled is None:
        spelled = character.encode("ascii", "backslashreplace").decode("ascii")
    return spelled, error.start + 1


def abandon(stream: IO[str]) -> None:
    """Discard what is left in the buffer of a stream that is closed or cannot be written."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def printable(text: str) -> str:
    """A text without anything that a terminal would obey.

    Names of columns and files may contain anything.

    >>> print(printable("age\\x1b[2J"))
    age\\x1b[2J
    """
    return "".join(
        character if _is_plain(character) else character.encode("unicode_escape").decode()
        for character in text
    )


def _is_plain(character: str) -> bool:
    return character.isprintable() or character == "\n"


def set_quiet(quiet: bool) -> None:
    """Say only errors and warnings from now on, and what programs read; or everything again."""
    _QUIET.set(quiet)


def remark(*messages: str) -> None:
    """Messages that nobody has to read: what was written, what to do next. Not with --quiet."""
    if not _QUIET.get():
        complain(*messages)


def complain(*messages: str) -> None:
    """Errors and warnings on stderr, unwrapped, so that they can be searched and copied."""
    for message in messages:
        try:
            print(printable(message), file=sys.stderr, flush=True)
        except OSError:
            abandon(sys.stderr)


def warn_exposed(path: "str | os.PathLike[str]") -> None:
    """A warning if anybody but its owner may read or change an owner-only file."""
    from shoal.log.custody import exposed

    warning = exposed(path)
    if warning:
        complain(f"warning: {warning}")


def show(*things: "RenderableType", aside: bool = False) -> None:
    """Results for people, on stdout; with `aside`, what goes with a message, on stderr.

    Not with --quiet: then there are files, JSON and exit codes.
    """
    if _QUIET.get():
        return
    from rich.console import Console

    console = Console(stderr=aside, highlight=False, markup=False, emoji=False)
    for thing in things:
        console.print(printable(thing) if isinstance(thing, str) else thing)


def say(*lines: str) -> None:
    """Lines for people on stdout, unwrapped, so that they can be copied. Not with --quiet."""
    if not _QUIET.get():
        print(*map(printable, lines), sep="\n")


def print_json(value: object) -> None:
    """One JSON object on stdout; JSON has no infinity, so that is null."""
    print(_json(value, sys.stdout, indent=2))


def complain_json(value: object) -> None:
    """One JSON object on a line of stderr."""
    complain(_json(value, sys.stderr))


def _json(value: object, stream: TextIO, indent: int | None = None) -> str:
    unicode = (stream.encoding or "utf-8").lower().startswith("utf")
    text = json.dumps(finite(value), ensure_ascii=not unicode, indent=indent)
    return "".join(
        character if _is_plain(character) else json.dumps(character)[1:-1] for character in text
    )


def give(text: str) -> None:
    """Write the content of a file to stdout.

    It is in UTF-8 as all files are, unless stdout is a terminal, which has its own encoding.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None or sys.stdout.isatty():
        sys.stdout.write(text)
        return
    try:
        content = text.encode()
    except UnicodeError:
        raise FileError(
            "the output has a text that is not valid Unicode", "correct the option it comes from"
        ) from None
    sys.stdout.flush()
    raw.write(content)
    raw.flush()


def title(text: str) -> "Text":
    """A heading above a table."""
    from rich.text import Text

    return Text(f"\n{printable(text)}", style="bold")


def indented(text: str, *, lines: bool = False) -> "Padding":
    """A paragraph that belongs to the line above; with lines, one line for each of its own."""
    from rich.padding import Padding
    from rich.text import Text

    parts = text.split("\n") if lines else [text]
    return Padding(Text("\n".join(map(printable, parts))), (0, 0, 0, 2))


def copyable(command: str) -> "Padding":
    """A command that belongs to the line above: a long one goes on after a backslash.

    A terminal would break it anywhere, and what is copied from there would not run.
    """
    lines = [""]
    for word in shlex.split(command, posix=False):
        if lines[-1] and len(lines[-1]) + len(word) > _COMMAND_WIDTH:
            lines[-1] += " \\"
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return indented("\n".join(lines), lines=True)


def figures(*pairs: tuple[str, str]) -> "Table":
    """Names and what belongs to them, one per line."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in pairs:
        table.add_row(printable(name), printable(text))
    return table


def listing(head: Sequence[str], *rows: Sequence[str]) -> "Table":
    """A table: the first column has names, the others figures."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for i, name in enumerate(head):
        table.add_column(printable(name), justify="right" if i else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    return table


def rows_of(head: Sequence[str], *rows: Sequence[str]) -> "Table":
    """Rows of a table of data: long texts are cut so that every column stays in sight."""
    from rich.console import Console
    from rich.table import Table

    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    room = Console().width
    cut = next(
        (
            cut
            for cut in range(max(widths), 4, -1)
            if sum(min(width, cut) + 2 for width in widths) <= room
        ),
        4,
    )
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in head:
        table.add_column(_cut(name, cut), no_wrap=True)
    for row in rows:
        table.add_row(*(_cut(text, cut) for text in row))
    return table


def _cut(text: str, length: int) -> str:
    text = printable(text).replace("\n", " ")
    return text if len(text) <= length else text[: length - 1] + "…"


@contextmanager
def working(what: str) -> Iterator[Report]:
    """Show a progress bar on stderr while the block runs.

    It appears after a second, and only if stderr is a terminal.

    The report it gives may be called with figures; until then the bar only says that something
    moves.
    """
    if _QUIET.get() or not sys.stderr.isatty():
        yield lambda done, total, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(printable(what), total=None)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total, what: bar.update(
            task, completed=done, total=total, description=what
        )
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
