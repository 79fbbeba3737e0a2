"""`shoal preview`: what becomes of a table at given levels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import figures, listing, percent, print_json, rows_of, show, title, working
from shoal.errors import ParameterError, listed, plural

if TYPE_CHECKING:
    from shoal.tables import Table

__all__ = ["preview"]

SIZES = (2, 3, 5, 10, 20)  # the k for which suppression is shown


def preview(
    source: Annotated[Path, typer.Argument(metavar="RECIPE|FILE", help="A recipe, or a table with options.", show_default=False)],
    levels: options.Levels = [],  # noqa: B006  typer wants a list, and nobody changes it
    rows: Annotated[int, typer.Option(metavar="N", min=0, help="How many groups are shown.")] = 10,
    quasi: options.Quasi = [],  # noqa: B006
    hierarchy: options.Hierarchies = [],  # noqa: B006
    json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    missing: options.MissingPolicy = "category",
    types: options.Types = [],  # noqa: B006
) -> None:
    """What becomes of a table at given levels?

    Takes a recipe, or a table with --quasi and a --hierarchy for each of those columns.
    """
    from shoal.counts import Lattice
    from shoal.engine import Embedded
    from shoal.measure.loss import LOSSES, normalised

    with working(f"reading {source.name}"):
        if source.suffix == ".toml":
            from shoal.recipe import Recipe

            table = Recipe.load(source).table()
        else:
            table = options.read(source, separator, encoding, missing, types, quote=quote, quasi=quasi, hierarchy=hierarchy)
    chosen = _levels(levels, table)
    with working(f"grouping {table.rows:,} rows"):
        trees = {name: table.hierarchy(name) for name in table.quasi}
        groups = Lattice(Embedded().count(table, table.quasi), trees).groups(tuple(chosen.values()))
        sizes = groups.sizes
        suppressed = {k: int(sizes[sizes < k].sum()) for k in (1, *SIZES)}
        losses = {k: normalised(LOSSES["granularity"], groups, sizes >= k) for k in suppressed}
        first = [
            [trees[name].labels[level][code] for code in groups.codes(j)[:rows]] for j, (name, level) in enumerate(chosen.items())
        ]
    found: dict[str, Any] = {
        "records": table.rows,
        "levels": chosen,
        "groups": len(sizes),
        "k": int(sizes.min()) if len(sizes) else None,
        "loss": losses.pop(1),
        "suppressed": [{"k": k, "records": suppressed[k], "loss": loss} for k, loss in losses.items()],
        "first": [
            {"values": dict(zip(chosen, values, strict=True)), "records": int(size)}
            for *values, size in zip(*first, sizes[:rows], strict=True)
        ],
    }
    if json:
        print_json(found)
        return
    show(
        listing(
            ["", "level", "of", "values"],
            *([name, f"{at}", f"{trees[name].height}", f"{trees[name].cardinality(at):,}"] for name, at in chosen.items()),
        ),
        title("The table at these levels"),
        figures(
            ("records", f"{table.rows:,}"),
            ("groups", f"{len(sizes):,}"),
            ("k, the smallest group", "no records" if found["k"] is None else f"{found['k']:,}"),
            ("loss (granularity)", percent(found["loss"])),
        ),
        title("With groups below k suppressed"),
        listing(
            ["k", "suppressed", "share", "loss"],
            *([f"{k}", f"{suppressed[k]:,}", percent(suppressed[k] / max(table.rows, 1)), percent(losses[k])] for k in SIZES),
        ),
    )
    if found["first"]:
        show(
            title(f"The first {plural(len(found['first']), 'group')}"),
            rows_of(["records", *chosen], *([f"{g['records']:,}", *g["values"].values()] for g in found["first"])),
        )


def _levels(given: list[str], table: "Table") -> dict[str, int]:
    """The level of every quasi-identifying column."""
    if not table.quasi:
        raise ParameterError("no quasi-identifying columns to preview; name them with --quasi")
    chosen = dict.fromkeys(table.quasi, 0)
    for name, text in options.pairs(given, "--levels").items():
        if name not in chosen:
            raise ParameterError(f"--levels names {name!r}; the quasi-identifying columns are {listed(chosen)}")
        height = table.hierarchy(name).height
        if not text.isdecimal() or int(text) > height:
            raise ParameterError(f"--levels {name}={text}: the column has levels 0 to {height}")
        chosen[name] = int(text)
    return chosen
