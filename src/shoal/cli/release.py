"""`shoal release`: from a recipe to the released table and its certificate."""

import os
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, percent, show, working
from shoal.errors import FileError, plural

__all__ = ["release"]


def release(
    recipe: options.RecipeFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where both files go.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Write over an earlier release in DIR.")] = False,
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Enter the release in this ledger, not the recipe's.", show_default=False),
    ] = None,
) -> None:
    """Make the table that a recipe describes, and its certificate.

    Writes release.csv (or the recipe's format) and certificate.json into DIR: both, or none.
    """
    from shoal.files import FORMATS
    from shoal.ledger import Ledger
    from shoal.recipe import Recipe

    if os.path.exists(out) and not out.is_dir():  # before the work is done, not after
        raise FileError(f"{out} is a file; give --out a directory")
    names = ["certificate.json", *(f"release.{form}" for form in sorted(set(FORMATS.values())))]
    earlier = [out / name for name in names if os.path.lexists(out / name)]
    if earlier and not force:
        raise FileError(
            f"{' and '.join(map(str, earlier))} {'is' if len(earlier) == 1 else 'are'} there already; "
            "give --out another directory, or --force to write over an earlier release"
        )
    chosen = Recipe.load(recipe)
    method = chosen.method()
    path = ledger or chosen.ledger
    book = path and Ledger(path)
    if (nodes := chosen.nodes()) is not None:
        complain(f"lattice: {plural(nodes, 'node')}")
    with working(f"reading {chosen.source.name}"):
        table = chosen.table()
    try:
        with working("releasing") as report:
            if book:
                made = book.release(method, table, out, format=chosen.format, progress=report)
            else:
                made = method.release(table, progress=report)
    except BaseException as error:
        for note in getattr(error, "__notes__", ()):  # that it counts as spent, also where it was stopped
            complain(note)
        raise
    with working("writing"):
        written = out / f"release.{chosen.format}" if book else made.write(out, chosen.format)
        for old in earlier:  # a table of another format would lie beside a certificate that is not its own
            if old not in (written, written.with_name("certificate.json")):
                old.unlink()
    show(str(made.certificate), "")
    complain(f"wrote {written} and {written.with_name('certificate.json')}")
    if made.suppressed:  # only for the owner's eyes: how many there were is not in the release
        complain(f"{plural(made.suppressed, 'record')} suppressed, {percent(made.suppressed / table.rows)}")
    if "loss" in made.facts:
        complain(f"loss {percent(made.facts['loss'])}, from 0 % for the input to 100 % for nothing left")
    if book:
        entered = made.facts["ledger"]
        complain(f"entered in {book.path} as entry {entered['entry']}")
        if entered["other_data"]:
            complain("note: the data is not that of the release before; what both spent is added up")
