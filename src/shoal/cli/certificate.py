"""`shoal certificate`: shows the certificate of a release again, and nothing else."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import give, remark, show
from shoal.errors import ParameterError

__all__ = ["certificate"]


def certificate(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="The directory of a release, or its certificate.json.",
            show_default=False,
        ),
    ],
    form: Annotated[
        Literal["text", "json", "html"], typer.Option("--format", help="How it is printed.")
    ] = "text",
    json: Annotated[
        bool, typer.Option("--json", help="Print the document as it is; short for --format json.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page of HTML instead.", show_default=False),
    ] = None,
    force: options.Force = False,
) -> None:
    """Show the certificate of a release again.

    It is what the release printed: the promise, what is not protected, parameters and files. A
    certificate that was changed is refused. Whether the table keeps it is for shoal verify.
    """
    from shoal.releases.certificate_page import certificate_page
    from shoal.releases.release import CERTIFICATE, certificate_at
    from shoal.studies.promised import in_order

    if json and form == "html":
        raise ParameterError("`json` and `form` contradict each other", "leave one of them out")
    options.require_free(html, "html", force, place, place / CERTIFICATE)
    read, text = certificate_at(place)
    paper = in_order(read)
    if html is not None:
        from shoal.data.disk import replacing

        with replacing(html) as file:
            file.write(certificate_page(paper).encode())
        remark(f"wrote {html}")
    elif json or form == "json":
        give(text)
    elif form == "html":
        give(certificate_page(paper))
    else:
        show(str(paper))
