"""The app: its commands, and the one place where errors become exit codes.

0: done. 1: a threshold is violated, or a check found something wrong. 2: bad input. 70: a bug in
Shoal. 130: stopped by Ctrl-C.
141: nobody reads the output.
"""

import errno
import os
import sys
import traceback
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from shoal import __version__
from shoal.cli import options
from shoal.cli.terminal import abandon, complain, complain_json
from shoal.data.disk import guarding
from shoal.errors import ShoalError, Stopped

__all__ = ["app", "app_for"]

app: typer.Typer
"""All commands."""

_PANELS = {
    "Start here": ("demo", "workbench", "choose"),
    "Prepare": ("assess", "preview", "explain", "recipe", "hierarchy"),
    "Release": ("release", "verify", "certificate", "report", "metadata", "count"),
    "Judge and attack": ("judge", "compare", "tradeoff", "limits", "attack"),
    "Several releases": ("ledger", "views"),
    "Answer queries, share a workbench": ("serve", "audit", "member"),
    "Research": ("experiment",),
}
"""All commands, by the panels of the help."""

_GROUPS = ("experiment", "recipe", "hierarchy", "ledger", "audit", "views", "member")
"""Modules whose `app` has several commands."""

_ELSEWHERE = {"limits": "buckets", "count": "buckets", "serve": "audit"}
"""Commands whose function is in a module with another name."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # of a disk that stdout goes to


_JSON = "shoal.json"
"""Where the context says whether errors are JSON."""


class _Shoal(options.Group):
    """Runs a command.

    Whatever goes wrong becomes one line on stderr and an exit code, never a traceback. With --json
    the line is a JSON object.
    """

    def parse_args(self, ctx: Any, args: Any) -> Any:
        ctx.meta[_JSON] = "--json" in args
        try:
            return super().parse_args(ctx, args)
        except ShoalError as error:
            raise _failed(ctx, 2, error) from None

    def invoke(self, ctx: Any) -> Any:
        try:
            with guarding():
                return self._flushed(ctx)
        except (KeyboardInterrupt, Stopped) as error:
            raise _failed(ctx, 130, error, "stopped; nothing is half-written") from None
        except ShoalError as error:
            raise _failed(ctx, 2, error) from None
        except BrokenPipeError:
            abandon(sys.stdout)
            raise typer.Exit(141) from None  # 1 would say that a threshold was violated
        except MemoryError as error:
            fix = "name fewer columns, or use a machine with more of it"
            raise _failed(ctx, 2, error, f"error: out of memory; {fix}") from None
        except Exception as error:
            # typer's own exceptions (usage errors, Exit, Abort) know what to do. Anything else is a
            # bug, and its text may hold a value of the table: only its type and place are shown;
            # the rest only to someone who asks.
            if type(error).__module__.split(".")[0] in ("typer", "click") or os.environ.get(
                "SHOAL_DEBUG"
            ):
                raise
            if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
                abandon(sys.stdout)
                message = f"error: cannot write the output: {error.strerror}; make room for it"
                raise _failed(ctx, 2, error, message) from None
            message = (
                f"error: a bug in Shoal ({_place(error)}); please report it. "
                "SHOAL_DEBUG=1 shows the traceback, which may contain values of the table"
            )
            raise _failed(ctx, 70, error, message) from None

    def _flushed(self, ctx: Any) -> Any:
        """Run a command and flush its output here, where a closed pipe can still be handled."""
        try:
            done = super().invoke(ctx)
        except BaseException:  # what the command found counts more than that nobody reads it
            try:
                sys.stdout.flush()
            except OSError:
                abandon(sys.stdout)
            raise
        sys.stdout.flush()
        return done


def _failed(ctx: Any, code: int, error: BaseException, message: str = "") -> typer.Exit:
    """The exit of a command that failed, after its error was told.

    message: for an error that has no words of ours
    """
    notes = list(getattr(error, "__notes__", ()))
    if ctx.meta[_JSON]:
        told: dict[str, Any] = {"kind": type(error).__name__}
        if isinstance(error, ShoalError) and not message:
            told |= error.to_dict()
        else:
            told["message"] = message.removeprefix("error: ")
        complain_json({"error": told, "notes": notes, "exit_code": code})
    else:
        complain(*notes, message or f"error: {error}")
    return typer.Exit(code)


def _place(error: BaseException) -> str:
    """The type of an error and the last line of Shoal's own that it came through."""
    frames = [
        (frame.f_globals.get("__name__", ""), line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    module, line = [frame for frame in frames if frame[0].startswith("shoal.")][-1]
    return f"{type(error).__name__} in {module}, line {line}"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"shoal {__version__}")
        raise typer.Exit


def shoal(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Tables about people, released so that the promise holds.

    [bold]shoal demo[/bold] releases a made-up hospital. For a table of your own:
    [bold]shoal recipe new[/bold], fill in the draft, [bold]shoal release[/bold].
    In the browser: [bold]shoal workbench[/bold].
    """


def app_for(words: list[str]) -> typer.Typer:
    """The app with the command that is typed; with all of them where that is none, as for help.

    Loading and building the others would take longer than many a command. While a shell completes a
    command, that is in the environment.
    """
    words = words or _being_completed()
    first = words[0] if words else ""
    known = [name for names in _PANELS.values() for name in names]
    return _made([first] if first in known else known)


def _being_completed() -> list[str]:
    """What is typed so far, as the scripts that complete it for bash, zsh, fish and others say."""
    if "_SHOAL_COMPLETE" not in os.environ:
        return []
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return line.split()[1:]


@cache
def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return app_for([])


def _made(names: list[str]) -> typer.Typer:
    made = typer.Typer(
        name="shoal",
        cls=_Shoal,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    made.callback()(shoal)
    panels = {name: panel for panel, names in _PANELS.items() for name in names}
    for name in names:
        panel = panels[name]
        if name in _GROUPS:
            made.add_typer(_group(name), name=name, rich_help_panel=panel)
        else:
            module = import_module(f"shoal.cli.{_ELSEWHERE.get(name, name)}")
            made.command(name, cls=options.Command, rich_help_panel=panel)(getattr(module, name))
    return made


@cache
def _group(name: str) -> typer.Typer:
    group: typer.Typer = import_module(f"shoal.cli.{name}").app
    if name == "views":
        from shoal.cli import views_certify, views_restore

        group.command("restore", cls=options.Command)(views_restore.restore)
        group.command("certify", cls=options.Command)(views_certify.certify)
        group.command("verify", cls=options.Command)(views_certify.verify)
    return group
