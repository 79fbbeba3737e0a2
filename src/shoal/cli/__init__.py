"""The command line: one door to the library. It holds no logic that a library user would miss, only options and print.

One module a command; `options` has the options they share, `terminal` what they say and how. A command imports the rooms
it needs inside its function, so that `shoal --help` stays quick.
"""

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """The `shoal` command."""
    from shoal.cli.terminal import prepare

    prepare()
    for name in (
        "SIGTERM",
        "SIGHUP",
    ):  # stop as Ctrl-C does, cleaning up; unless started by nohup, which ignores the latter
        if (number := getattr(signal, name, None)) and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        from shoal.cli.app import app

        app()
    except KeyboardInterrupt:  # before the app could take it: while it was being imported
        sys.exit(130)
