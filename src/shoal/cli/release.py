"""`shoal release`: from a recipe to the released table and its certificate."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, show, working
from shoal.errors import FileError, listed, plural

if TYPE_CHECKING:
    from shoal.ledger import Ledger
    from shoal.recipe import Recipe
    from shoal.releases.facts import Entered
    from shoal.releases.release import Release

__all__ = ["refuse_earlier", "release"]

_NO_LEDGER = (
    "note: no ledger. What releases of the same people reveal adds up, and Shoal remembers none of them; make one with: "
    "shoal ledger create, and name it under [ledger] in the recipe"
)
_LOOKED_AT = 1000  # directories beside the new release in which an earlier one is looked for


def release(
    recipe: options.RecipeFile,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Where both files go.", show_default=False),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Write over an earlier release in DIR.")
    ] = False,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Enter the release in this ledger, not the recipe's.",
            show_default=False,
        ),
    ] = None,
    neutralise: Annotated[
        bool, typer.Option("--neutralise", help="Let no spreadsheet run a cell as a formula.")
    ] = False,
    override: Annotated[
        str | None,
        typer.Option(
            metavar="REASON",
            help="Release though the ledger's γ is not kept, and enter why.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make the table that a recipe describes, and its certificate.

    Writes release.csv (or the recipe's format) and certificate.json into DIR, which is new, or replaced as a whole.
    """
    from shoal.cli.ledger import opened
    from shoal.methods import beforehand
    from shoal.methods.catalogue import entry_of
    from shoal.recipe import Recipe

    chosen = Recipe.load(recipe)
    # Before the work is done, not after.
    refuse_earlier(chosen.require_place(out, neutralise=neutralise), force)
    chosen.method()  # what is wrong with it is told before anything is read
    path = ledger or chosen.ledger
    book = path and opened(path)
    with working(f"reading {chosen.source.name}"):
        table = chosen.table()
        chosen.promise(table)
    if book and chosen.method().name == "buckets" and _again(book):
        complain(
            f"note: {book.path} has an earlier release by buckets; against whoever gets both, no limit holds"
        )
    warned = beforehand(chosen.method(), table)
    for concern in warned:  # before anything is spent or written
        complain(f"owner only, warning: {concern}")
    if not book:
        complain(_NO_LEDGER)
        for folder in earlier_beside(out, chosen):
            complain(
                f"note: {folder} has an earlier release of the same columns; if it is about the same people, what both reveal "
                "adds up"
            )
    if (nodes := chosen.nodes(table)) is not None:
        complain(f"lattice: {plural(nodes, 'node')}")
    try:
        with working("releasing") as report:
            made = chosen.release(
                table,
                out,
                ledger=book or None,
                progress=report,
                override=override,
                neutralise=neutralise,
            )
    except BaseException as error:
        for note in getattr(
            error, "__notes__", ()
        ):  # that it counts as spent, also where it was stopped
            complain(note)
        raise
    written = [out / f"{name}.{chosen.format}" for name in ("release", *made.further)]
    paper = out / "certificate.json"
    show(str(made.certificate), "")
    complain(f"wrote {', '.join(map(str, written))} and {paper}")
    if chosen.format == "csv" and not (neutralise or chosen.content.output.neutralise):
        _warn_of_formulas(made, out)
    for line in made.facts.lines():
        if line not in warned:
            complain(f"owner only: {line}")
    if not len(made.table) and table.rows:
        complain(_nothing(made.facts.crowd))
    if not entry_of(made.certificate.method).not_judged:
        complain(
            f"owner only, how good it is: shoal judge {shlex.quote(str(recipe))} --release {shlex.quote(str(out))}"
        )
    if made.entry is not None and book:
        complain(f"entered in {book.path} as entry {made.entry.number}")
        for line in _entered(made.entry, override):
            complain(line)


def _entered(entry: "Entered", override: str | None) -> "Iterator[str]":
    """What the owner is told about the ledger's entry."""
    together = entry.together or {}
    if entry.override is not None:
        yield "owner only: γ is not kept with earlier releases, or that is not known; your reason is entered"
    elif entry.together is not None:
        earlier = plural(len(together["with"]), "earlier release")
        yield f"owner only: γ is kept, together with {earlier}"
    if unmet := together.get("unmet"):
        yield (
            f"owner only: there are limits for {listed(unmet)}, which nothing shows; are they spelt "
            "as in the table?"
        )
    if override is not None and entry.override is None:
        yield "note: there was nothing to override, and the reason is not entered"
    if entry.other_data:
        yield "note: the data is not that of the release before; what both spent is added up"


def _nothing(crowd: int | None) -> str:
    """What to say of an empty release: it is one, everybody may see that, and it must not be tried again for that reason."""
    why = ""
    if crowd is not None:
        why = f" A row needs about {crowd:,} records to be more likely than not to be released."
    return (
        f"warning: nothing was released; the table is empty, and the promise holds.{why} Releasing again until there are rows "
        "spends the budget each time; change the recipe instead"
    )


def earlier_beside(out: Path, recipe: "Recipe") -> list[Path]:
    """The directories at or beside `out` with a release of the columns that a recipe releases, by their certificates."""
    from shoal.data.tables import Role
    from shoal.releases.certificate import Certificate

    leaving = {name for name in recipe.content.roles if name not in recipe.having(Role.IDENTIFYING)}
    try:
        beside = sorted(one for one in out.absolute().parent.iterdir() if one.is_dir())
    except OSError:
        beside = []
    found = []
    for folder in dict.fromkeys([out.absolute().parent, *beside][:_LOOKED_AT]):
        try:
            paper = Certificate.from_json((folder / "certificate.json").read_text("utf-8"))
            columns = {column["name"] for column in paper.columns}
        except (OSError, UnicodeDecodeError, FileError, TypeError, KeyError, AttributeError):
            continue
        if paper.recipe == recipe.digest or leaving <= columns:
            found.append(Path(os.path.relpath(folder)))
    return found


def _again(book: "Ledger") -> bool:
    """Whether a ledger has an earlier release by buckets, with which no γ is kept."""
    account = book.account()
    return account.gamma is None and "buckets" in {entry.facts.method for entry in account.reserved}


def refuse_earlier(earlier: list[Path], force: bool) -> None:
    """FileError if there are files of an earlier release and nobody said that they may go."""
    if earlier and not force:
        raise FileError(
            f"{' and '.join(map(str, earlier))} {'is' if len(earlier) == 1 else 'are'} there already; "
            "give --out another directory, or --force to write over an earlier release"
        )


def _warn_of_formulas(made: "Release", out: Path) -> None:
    """Which columns have texts that spreadsheets run, and what to do without releasing, and spending, once more."""
    from shoal.data.files import formulas

    for name, frame in {"release": made.table, **made.further}.items():
        if found := formulas(frame):
            again = f"shoal.Release.read({str(out)!r}).write({str(out)!r}, neutralise=True)"
            complain(
                f"owner only: {name}.csv has cells that a spreadsheet would run as formulas, in {listed(found)}; "
                f"give --neutralise next time, and write this release again in Python: {again}"
            )
