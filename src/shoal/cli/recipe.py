"""`shoal recipe`: drafting and checking recipes."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, figures, give, show, working
from shoal.data.disk import replacing
from shoal.errors import FileError

__all__ = ["app"]

app = typer.Typer(cls=options.Group, no_args_is_help=True, help="Draft a recipe, or check one.")


@app.command(cls=options.Command)
@bundled
def new(
    file: options.File,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where the draft goes; printed by default.",
            show_default=False,
        ),
    ] = None,
    header: Annotated[
        bool,
        typer.Option(
            "--header",
            help="The first line has names, even if it looks like values.",
            rich_help_panel=options.READING,
        ),
    ] = False,
    *,
    layout: options.Layout,
) -> None:
    """Draft a recipe for a table.

    What only you can decide is a "?": a recipe with one left is refused.
    """
    from shoal.recipe import draft

    if out is not None and out.exists():
        raise FileError(f"{out} exists", "move it away, or give --out another name")
    with working(f"reading {options.shown(file)}"):
        table = options.Form(**vars(layout)).read(file)
        folder = Path() if out is None else out.parent
        text = draft(table, file, folder=folder, header=header, **vars(layout))
    if out is None:
        give(text)
        return
    with replacing(out) as target:
        target.write(text.encode())
    complain(f'wrote {out}; fill in every "?", then: shoal recipe check {out}')


@app.command(cls=options.Command)
@bundled
def check(recipe: options.RecipeFile, *, counting: options.Counting) -> None:
    """Check a recipe against its table, and say what it will promise.

    Nothing is released. Everything that is wrong is listed.
    """
    from shoal.data.schema import Role
    from shoal.methods.catalogue import entry_of
    from shoal.methods.method import crowd_of
    from shoal.recipe import Recipe

    with working(f"reading {recipe.name}"):
        checked = Recipe.check(recipe, counting.engine, counting.master)
        chosen, table = checked.recipe, checked.table
        promise, concerns = chosen.promise(table), chosen.concerns(table)
        nodes = chosen.nodes(table)
        crowd = crowd_of(chosen.method(), table.schema)
    method = chosen.method()
    lines = [("rows", f"{table.rows:,}")]
    unit = getattr(method, "person", None) or getattr(method, "unit", None)
    if unit is not None:
        lines.append(("people", f"{len(table.keys(unit)):,}, by {unit!r}"))
    lines += [(role.value, ", ".join(table.having(role)) or "no column") for role in Role]
    unchanged = [name for name in table.schema.released if name not in table.hierarchies]
    entry = entry_of(method.name)
    if unchanged and entry.generalises == "released" and entry.needs_hierarchies:
        names = ", ".join(unchanged)
        lines.append(("no hierarchy", f"{names}: released unchanged, so fewer records share a row"))
    lines.append(("method", method.name))
    if nodes is not None:
        lines.append(("lattice", f"{nodes:,} nodes"))
    if crowd is not None:
        lines.append(("needs", f"about {crowd:,} records that share a row, for it to be released"))
    lines.append(("promise", promise.statement))
    show(figures(*lines))
    for concern in concerns:
        complain(f"owner only, warning: {concern}")
