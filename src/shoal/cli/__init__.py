"""The command line: it parses, calls and shows, and holds no logic that a library user would miss.

Each command has a module of its name, except that `buckets` has `shoal count`, and `audit` also
has `shoal serve`. `app` puts them together and turns errors into exit codes. `options` and
`bundles` have what their options share, `terminal` prints, `processor` is about numpy's speed. A
command imports the rooms it needs inside its function, and only the command that is typed is
loaded, so that it starts quickly.
"""

import gc
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """The `shoal` command."""
    # Commands make many objects that stay, and hardly any cycles: look for these less often.
    gc.set_threshold(100_000, 50, 50)
    from shoal.cli.processor import sort_quickly, start_quickly
    from shoal.cli.terminal import prepare

    sort_quickly()
    start_quickly(sys.argv[1:])
    prepare()
    # These stop a command as Ctrl-C does, so that it cleans up. One that is ignored stays ignored:
    # nohup ignores SIGHUP, which Windows does not have.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        from shoal.cli.app import app_for

        app_for(sys.argv[1:])()
    except KeyboardInterrupt:  # before the app could take it: while it was being imported
        sys.exit(130)
