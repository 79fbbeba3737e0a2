"""`shoal release`: from a recipe to the released table and its certificate."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, print_json, remark, show, working
from shoal.errors import FileError, listed, plural
from shoal.zones import OWNER_ONLY

if TYPE_CHECKING:
    from shoal.ledger import Ledger
    from shoal.recipe import Recipe
    from shoal.releases.facts import Entered
    from shoal.releases.release import Release

__all__ = ["refuse_earlier", "release"]

_NO_LEDGER = (
    "note: no ledger. What releases of the same people reveal adds up, and Shoal remembers none of "
    "them; make one with: shoal ledger create, and name it under [ledger] in the recipe"
)


@bundled
def release(  # noqa: PLR0913
    recipe: options.RecipeFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where the files go; RECIPE-release by default, after the recipe's name.",
            show_default=False,
        ),
    ] = None,
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
        bool, typer.Option("--neutralise", help="Keep spreadsheets from running cells as formulas.")
    ] = False,
    rows_per_file: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Write the table in parts of N rows each.", show_default=False
        ),
    ] = None,
    override: Annotated[
        str | None,
        typer.Option(
            metavar="REASON",
            help="Release although the ledger's γ is not kept, and record why.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
    *,
    counting: options.Following,
) -> None:
    """Make the table that a recipe describes, and its certificate.

    Writes release.csv (or the recipe's format, or its parts) and certificate.json into DIR, which
    is new, or replaced as a whole.
    """
    from shoal.cli.ledger import opened
    from shoal.methods.catalogue import entry_of

    chosen = counting.load(recipe)
    out = out or Path(f"{recipe.stem}-release")
    if rows_per_file is None:
        rows_per_file = chosen.content.output.rows_per_file
    # Before the work is done, not after.
    place = chosen.require_place(out, neutralise=neutralise, rows_per_file=rows_per_file)
    refuse_earlier(place, force)
    method = chosen.method()  # what is wrong with it is said before anything is read
    path = ledger or chosen.ledger
    book = opened(path) if path else None
    with working(f"reading {options.shown(chosen.content.source.path)}"):
        table = chosen.table()
    # Before anything is spent or written.
    warnings = chosen.concerns(table)
    before = list(_notes_before(chosen, method.name, book, out))
    nodes = chosen.nodes(table)
    if not json:
        remark(*before)
        complain(*(f"owner only, warning: {warning}" for warning in warnings))
    if nodes is not None and not json:
        remark(f"lattice: {plural(nodes, 'node')}")
    with working("releasing") as report:
        made = chosen.release(
            table,
            out,
            ledger=book,
            progress=report,
            override=override,
            neutralise=neutralise,
            rows_per_file=rows_per_file,
        )
    names = _names(chosen, made, rows_per_file)
    after = [] if neutralise else list(_formulas(chosen, made, out))
    after += [OWNER_ONLY + line for line in made.facts.lines() if line not in warnings]
    # Whether or not the input is: whoever sees the same release is told the same.
    empty = None if made.rows.shape[0] else _nothing(made.facts.crowd)
    entered = []
    if made.entry is not None and book is not None:
        entered = [f"entered in {book.path} as entry {made.entry.number}"]
        entered += _entered(made.entry, override)
    if json:
        owned = [line.removeprefix(OWNER_ONLY) for line in (*after, *entered)]
        print_json(
            {
                **_answer(made, out, names),
                "warnings": [empty.removeprefix("warning: ")] if empty else [],
                "notes": [line.removeprefix("note: ") for line in before],
                "owner_only": {
                    "warnings": warnings,
                    "notes": owned,
                    "lattice_nodes": nodes,
                },
            }
        )
        return
    show(str(made.certificate), "")
    written = ", ".join(str(out / name) for name in names.values())
    remark(f"wrote {written} and {out / 'certificate.json'}", *after)
    if empty:
        complain(empty)
    if not entry_of(method.name).not_judged:
        command = shlex.join(["shoal", "judge", str(recipe), "--release", str(out)])
        remark(f"owner only, how good it is: {command}")
    remark(*entered)


def _answer(made: "Release", out: Path, names: dict[str, str]) -> dict[str, Any]:
    """What anybody may know of a release: where its files are, and what is promised."""
    from shoal.releases.release import released_files

    paper = made.certificate
    return {
        "release": paper.number,
        "table": str(out / names["release"]),
        "certificate": str(out / "certificate.json"),
        "further": {name: str(out / file) for name, file in names.items() if name != "release"},
        "files": [str(path) for path in released_files(out)],
        "rows": int(made.rows.shape[0]),
        "method": paper.method,
        "promise": dict(paper.promise),
        "statement": paper.statement,
        "unprotected": list(paper.unprotected),
    }


def _notes_before(
    chosen: "Recipe", method: str, book: "Ledger | None", out: Path
) -> "Iterator[str]":
    """What the owner should know before there is a release: it cannot be taken back."""
    from shoal.methods.catalogue import entry_of

    unchanged = chosen.content.unchanged
    if unchanged:
        yield (
            f"note: no hierarchy for {listed(unchanged)}: released unchanged, so fewer records "
            "share a row and more are left out; see docs/how-to/hierarchies.md"
        )
    if book is None:
        yield _NO_LEDGER
        for folder in chosen.earlier_beside(out):
            yield (
                f"note: {folder} has an earlier release of the same columns; if it is about the "
                "same people, what both reveal adds up"
            )
        return
    again = entry_of(method).again_note
    if again and book.account().repeats(method):
        yield f"note: {book.path} has an earlier release by {method}: {again}"


def _names(chosen: "Recipe", made: "Release", rows_per_file: int | None) -> dict[str, str]:
    """The names of the released files; of parts, their pattern."""
    from shoal.data.table_files import pattern

    tables = ("release", *made.further)
    if rows_per_file is not None:
        return {name: pattern(name, chosen.format) for name in tables}
    return {name: f"{name}.{chosen.format}" for name in tables}


def _entered(entry: "Entered", override: str | None) -> "Iterator[str]":
    """What the owner is told about the ledger's entry."""
    together = entry.together
    if entry.override is not None:
        yield (
            "owner only: γ is not kept with earlier releases, or that is not known; your reason is "
            "entered"
        )
    elif together is not None:
        earlier = plural(len(together.entries), "earlier release")
        yield f"owner only: γ is kept, together with {earlier}"
    if together is not None and together.unmet:
        yield (
            f"owner only: there are limits for {listed(together.unmet)}, which nothing shows; are "
            "they spelt as in the table?"
        )
    if override is not None and entry.override is None:
        yield "note: there was nothing to override, and the reason is not entered"
    if entry.other_data:
        yield "note: the data is not that of the release before; what both spent is added up"


def _nothing(crowd: int | None) -> str:
    """What to say about an empty release.

    Everybody may see that it is empty, and trying again spends more.
    """
    why = ""
    if crowd is not None:
        why = f" A row needs about {crowd:,} records to be more likely than not to be released."
    return (
        f"warning: nothing was released; the table is empty, and the promise holds.{why} Releasing "
        "again until there are rows spends the budget each time; change the recipe instead"
    )


def refuse_earlier(earlier: list[Path], force: bool) -> None:
    """FileError if there are files of an earlier release and nobody said that they may go."""
    if earlier and not force:
        files = " and ".join(map(str, earlier))
        verb = "is" if len(earlier) == 1 else "are"
        raise FileError(
            f"{files} {verb} there already",
            "give --out another directory, or --force to write over an earlier release",
        )


def _formulas(chosen: "Recipe", made: "Release", out: Path) -> "Iterator[str]":
    """Which columns have texts that spreadsheets run, and how to neutralise them.

    That takes no second release, and spends nothing.
    """
    from shoal.data.files import formulas
    from shoal.data.formats import is_csv

    if not is_csv(chosen.format) or chosen.content.output.neutralise:
        return
    again = f"shoal.Release.read({str(out)!r}).write({str(out)!r}, neutralise=True)"
    for name, frame in {"release": made.rows, **made.further}.items():
        columns = formulas(frame)
        if columns:
            yield (
                f"owner only: {name}.csv has cells that a spreadsheet would run as formulas, in "
                f"{listed(columns)}; give --neutralise next time, and write this release again in "
                f"Python: {again}"
            )
