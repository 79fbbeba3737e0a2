"""`shoal workbench`: from a file to a release, by clicking."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.terminal import remark
from shoal.errors import FileError, ParameterError

__all__ = ["needs_libraries", "workbench"]


def workbench(
    project: Annotated[
        Path,
        typer.Argument(
            metavar="[PROJECT_DIR]",
            help="The folder of a project, or one with several; a new one is made.",
            show_default=False,
        ),
    ] = Path(),
    *,
    port: Annotated[
        int,
        typer.Option(
            metavar="N", help="The port to listen on; 0 takes any free one.", min=0, max=65535
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
) -> None:
    """Open the workbench in the browser, on this machine only.

    Its address, with a token, is printed alone on a line. Ctrl-C stops it; releases that are being
    made go on.
    """
    try:
        from shoal.workbench import serve
    except ImportError:
        raise needs_libraries() from None

    def ready(address: str) -> None:
        print(address, flush=True)
        remark("keep this address to yourself: its token lets whoever has it in; Ctrl-C stops it")

    def browse(address: str) -> None:
        import webbrowser

        webbrowser.open(address)

    _make(project)
    serve(project, port=port, ready=ready, browse=None if no_browser else browse)


def _make(folder: Path) -> None:
    """Make a folder that is not there yet, if there is one to make it in."""
    if folder.exists() or not folder.parent.is_dir():
        return
    try:
        # What it will hold is private.
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise FileError(
            f"the folder cannot be made: {error.strerror}",
            "take one that you may write to",
            where=str(folder),
        ) from None
    remark(f"made the folder {folder}")


def needs_libraries() -> ParameterError:
    """What is said where the workbench's libraries are not installed."""
    return ParameterError(
        "the workbench needs more libraries", "install them with pip install 'shoal[workbench]'"
    )
