"""`shoal recipe`: drafting recipes, taking them over from ARX, and checking them."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, figures, give, print_json, remark, show, working
from shoal.data.disk import replacing
from shoal.errors import FileError

__all__ = ["app"]

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Draft a recipe, import one from ARX, or check one.",
)


def _methods(incomplete: str) -> list[str]:
    """The methods that a shell offers."""
    from shoal.recipe import METHODS

    return [name for name in METHODS.names if name.startswith(incomplete)]


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
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="The method to draft the recipe for.",
            autocompletion=_methods,
        ),
    ] = "auto",
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
        said = {"engine": layout.engine, "master": layout.master, "query": layout.query}
        said |= layout.reading
        text = draft(table, file, folder=folder, method=method, header=header, **said)
    if out is None:
        give(text)
        return
    with replacing(out) as target:
        target.write(text.encode())
    remark(f'wrote {out}; fill in every "?", then: shoal recipe check {out}')


@app.command("from", cls=options.Command)
def from_project(
    project: Annotated[
        Path,
        typer.Argument(metavar="PROJECT", help="An ARX project (.deid).", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where the recipe goes, with the data and hierarchies that it needs.",
            show_default=False,
        ),
    ],
) -> None:
    """Make a recipe from an ARX project.

    Lists what was taken over, and everything that was not.
    """
    from shoal import arx
    from shoal.recipe import from_arx

    with working(f"reading {project.name}"):
        made = from_arx(arx.read(project), out)
    show(figures(*(_parted(line) for line in made.taken)))
    complain("not taken over, or not as it was:")
    for line in made.left:
        complain(f"- {line}")
    remark(f"wrote {made.recipe}; next: shoal recipe check {made.recipe}")


def _parted(line: str) -> tuple[str, str]:
    what, _, more = line.partition(": ")
    return what, more


@app.command(cls=options.Command)
@bundled
def check(
    recipe: options.RecipeFile, json: options.Json = False, *, counting: options.Following
) -> None:
    """Check a recipe against its table, and say what it will promise.

    Nothing is released. Everything that is wrong is listed.
    """
    from shoal.data.schema import Role
    from shoal.methods.method import crowd_of
    from shoal.recipe import Recipe
    from shoal.releases.certificate import plain

    with working(f"reading {recipe.name}"):
        checked = Recipe.check(recipe, counting.engine, counting.master, counting.source)
        chosen, table = checked.recipe, checked.table
        promise, concerns = chosen.promise(table), chosen.concerns(table)
        nodes = chosen.nodes(table)
        crowd = crowd_of(chosen.method(), table.schema)
    method = chosen.method()
    unit = getattr(method, "person", None) or getattr(method, "unit", None)
    people = None if unit is None else len(table.keys(unit))
    roles = {role.value: list(table.having(role)) for role in Role}
    unchanged = chosen.content.unchanged
    if json:
        print_json(
            {
                "recipe": str(recipe),
                "sha256": chosen.digest,
                "roles": roles,
                "method": method.name,
                "promise": plain(promise.to_dict()),
                "statement": promise.statement,
                "unprotected": list(promise.unprotected),
                "without_hierarchy": unchanged,
                "records_needed": crowd,
                "owner_only": {
                    "rows": table.rows,
                    "people": people,
                    "lattice_nodes": nodes,
                    "warnings": list(concerns),
                },
            }
        )
        return
    lines = [("rows", f"{table.rows:,}")]
    if people is not None:
        lines.append(("people", f"{people:,}, by {unit!r}"))
    lines += [(role, ", ".join(names) or "no column") for role, names in roles.items()]
    if unchanged:
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
