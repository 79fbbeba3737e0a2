"""`shoal views certify` and `verify`: a certificate that several releases keep γ together."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, remark, show, working
from shoal.cli.views import File, Gamma
from shoal.errors import FileError

__all__ = ["certify", "verify"]


def certify(
    views: File,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where the JSON goes; a readable text goes beside it.",
            show_default=False,
        ),
    ],
    gamma: Gamma = None,
    force: options.Force = False,
) -> None:
    """Certify that several releases keep γ together.

    The certificate follows from what is public, and names nobody: it may be published. If γ is not
    kept there is none.
    """
    from shoal.views import certifying

    # Before the work is done, not after.
    for path in (out, out.with_suffix(".txt")):
        options.require_free(path, "out", force, views)
    share = None if gamma is None else options.share(gamma, "--gamma")
    with working("checking"), options.keys_of(views):
        certificate = certifying.certify(views, gamma=share)
    written = certificate.write(out)
    show(str(certificate), "")
    remark(f"wrote {' and '.join(map(str, written))}")


def verify(
    certificate: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The file that `shoal views certify` wrote.", show_default=False
        ),
    ],
    views: File,
) -> None:
    """Check a certificate of several releases against them and the register.

    Exit code 1 if it does not hold.
    """
    from shoal.views import certifying
    from shoal.views.files import ViewsFile

    # A file that cannot be read is a mistake in the command, not a failed certificate.
    try:
        certificate.open("rb").close()
    except OSError as error:
        raise FileError(
            f"cannot read {certificate}: {error.strerror}", "give what shoal views certify wrote"
        ) from None
    ViewsFile.read(views)
    with working("checking"):
        failures = certifying.verify(certificate, views)
    for failure in failures:
        complain(f"{certificate}: {failure}")
    if failures:
        raise typer.Exit(1)
    show("everything holds")
