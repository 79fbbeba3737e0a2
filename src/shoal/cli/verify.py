"""`shoal verify`: does a released table keep what its certificate says?

It parses, calls `releases.verification` and shows the verdict.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, figures, print_json, show
from shoal.errors import FileError, ParameterError, listed

if TYPE_CHECKING:
    from shoal.data.commitments import OpenedTable

__all__ = ["verify"]


@bundled
def verify(
    certificate: Annotated[
        Path,
        typer.Argument(
            metavar="CERTIFICATE",
            help="The certificate.json of a release, or the folder of both.",
            show_default=False,
        ),
    ],
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TABLE]",
            help="The released table it came with, or the folder that it is in.",
            show_default=False,
        ),
    ] = None,
    *,
    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE",
            help="The recipe that was followed, for its hierarchies.",
            show_default=False,
        ),
    ] = None,
    files: options.HierarchyFiles,
    register: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The register that people were counted in, with --register-key.",
            show_default=False,
        ),
    ] = None,
    register_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="The key to the register, which its release printed.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Does a released table keep what its certificate says?

    Exit code 1 if either file was changed or something does not hold, with one line for each fault.
    What the files cannot show is listed. With hierarchies, released values are looked up in them
    too. A seal is not a signature: get both files from someone you trust.
    """
    from shoal.recipe import Recipe
    from shoal.releases.certificate import Certificate
    from shoal.releases.verification import verify as verdict_on

    if table is None:
        table = certificate if certificate.is_dir() else certificate.parent
    if certificate.is_dir():
        certificate = certificate / "certificate.json"
    _require_readable(certificate)
    if not table.is_dir() and "*" not in table.name:
        _require_readable(table)
    given = files.read()
    trees, digest = given, None
    if recipe is not None:
        followed = Recipe.load(recipe)
        trees = {**followed.hierarchies, **given}
        digest = followed.digest
    verdict = verdict_on(
        certificate, table, trees, recipe=digest, register=_opened(register, register_key)
    )
    paper = None
    if not verdict:
        paper = Certificate.from_json(certificate.read_text(encoding="utf-8"))
        _require_levels(given, paper.levels)
    if json:
        print_json(
            {
                "holds": not verdict,
                "failures": verdict,
                "unchecked": verdict.unchecked,
                "unchecked_places": verdict.places,
                "release": paper and paper.number,
                "promise": paper and dict(paper.promise),
                "statement": verdict.statement,
            }
        )
    for fault in verdict:
        complain(f"{certificate}: {fault}")
    if verdict:
        raise typer.Exit(1)
    if paper and not json:
        lines = [
            ("release", paper.number),
            ("promise", verdict.statement or ""),
            ("holds", "as far as the files show"),
        ]
        for place, words in enumerate(verdict.unchecked):
            lines.append(("" if place else "not checked", f"- {words}"))
        show(figures(*lines))


def _opened(register: Path | None, key: str | None) -> "OpenedTable | None":
    """The register with its key; ParameterError if one of them is missing."""
    from shoal.data.commitments import OpenedTable
    from shoal.data.files import read

    if register is None and key is None:
        return None
    if register is None or key is None:
        raise ParameterError("--register and --register-key belong together", "give both")
    # As texts: the certificate says how they are to be read.
    texts = dict.fromkeys(read(register).names, "text")
    return OpenedTable(read(register, types=texts), key)


def _require_readable(path: Path) -> None:
    """A file that cannot be read is a mistake in the command, not a changed release."""
    try:
        with open(path, "rb"):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise FileError(
            f"cannot read {path}: {reason}", "give the certificate.json of a release, and its table"
        ) from None


def _require_levels(given: Iterable[str], levels: Iterable[str]) -> None:
    """A hierarchy of a column without a level would not be used."""
    unknown = [name for name in given if name not in levels]
    if unknown:
        raise ParameterError(
            f"--hierarchy {listed(unknown)}: the certificate has levels for {listed(levels)} only"
        )
