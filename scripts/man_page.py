"""The man page, from the commands and their options: python scripts/man_page.py FILE"""

import re
import textwrap
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from shoal import __version__
from shoal.cli.app import app


def escaped(text: str) -> str:
    """A text in which nothing is a request or an escape of roff, in lines of 80 characters."""
    plain = re.sub(r"\[/?[a-z ]+\]", "", text).replace("\\", "\\e").replace("-", "\\-")
    lines = textwrap.wrap(plain, 79, break_long_words=False, break_on_hyphens=False)
    return "\n".join(re.sub(r"^([.'])", r"\\&\1", line) for line in lines)


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text."""
    parts = re.split(r"\n\s*\n", (text or "").replace("\b", "").strip())
    yield "\n.PP\n".join(map(escaped, filter(None, parts)))


def commands(command: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands below one, with their names, in the order of the help."""
    for name, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield (*names, name), each
            yield from commands(each, (*names, name))


def options(command: Any, context: typer.Context) -> Iterator[str]:
    """The arguments and options of a command."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or getattr(parameter, "hidden", False):
            continue
        name, meaning = record
        yield from (".TP", rf"\fB{escaped(name)}\fR", escaped(meaning) or "\\&")


def page() -> str:
    """The whole page."""
    root: Any = get_command(app)
    lines = [
        f'.TH SHOAL 1 "" "shoal {__version__}" "User Commands"',
        ".SH NAME",
        r"shoal \- release tables about people so that the promise holds",
        ".SH SYNOPSIS",
        r"\fBshoal\fR \fICOMMAND\fR [\fIOPTION\fR]...",
        ".SH DESCRIPTION",
        *paragraphs(root.help),
        ".SH COMMANDS",
    ]
    for names, command in commands(root):
        context = typer.Context(command, info_name=" ".join(("shoal", *names)))
        lines += [f".SS shoal {escaped(' '.join(names))}", *paragraphs(command.help or "")]
        lines += options(command, context)
    lines += [
        ".SH EXIT STATUS",
        *(".TP", "0", "Done."),
        *(".TP", "1", "A threshold is violated, or a check found something wrong."),
        *(".TP", "2", "Bad input."),
        *(".TP", "70", "A bug in Shoal."),
        *(".TP", "130", "Stopped by Ctrl\\-C."),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    arguments = ArgumentParser(description=__doc__)
    arguments.add_argument("file", metavar="FILE", type=Path)
    arguments.parse_args().file.write_text(page(), encoding="utf-8")
