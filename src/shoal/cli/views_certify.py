"""`shoal views certify` and `verify`: a paper that several releases keep γ together."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, show, working
from shoal.cli.views import File, Force, Gamma, writable
from shoal.cli.views_restore import app
from shoal.errors import FileError

__all__ = ["app"]


@app.command(cls=options.Command)
def certify(
    views: File,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The JSON; a text for people goes beside it.",
            show_default=False,
        ),
    ],
    gamma: Gamma = None,
    force: Force = False,
) -> None:
    """Certify that several releases keep γ together.

    The certificate follows from what is public, and names nobody: it may be given away. If γ is not kept there is none.
    """
    from shoal.views import certifying

    for path in (out, out.with_suffix(".txt")):  # before the work is done, not after
        writable(path, "--out", force, views)
    share = None if gamma is None else options.share(gamma, "--gamma")
    with working("checking"), options.keys_of(views):
        made = certifying.certify(views, gamma=share)
    written = made.write(out)
    show(str(made), "")
    complain(f"wrote {' and '.join(map(str, written))}")


@app.command(cls=options.Command)
def verify(
    certificate: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What shoal views certify wrote.", show_default=False),
    ],
    views: File,
) -> None:
    """Check a certificate of several releases again, from these and the register; exit code 1 if it does not hold."""
    from shoal.views import certifying
    from shoal.views.sources import content_of

    try:  # what is no readable file is a mistake in the command, not a certificate that does not hold
        certificate.open("rb").close()
    except OSError as error:
        raise FileError(
            f"cannot read {certificate}: {error.strerror}; give what shoal views certify wrote"
        ) from None
    content_of(views)
    with working("checking"):
        found = certifying.verify(certificate, views)
    for wrong in found:
        complain(f"{certificate}: {wrong}")
    if found:
        raise typer.Exit(1)
    show("all of it holds")
