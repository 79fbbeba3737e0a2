"""`shoal compare`: two tables side by side, such as an input and its release, or two releases."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import listing, percent, print_json, show, title, working
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table as Listing

    from shoal.hierarchy import Hierarchy
    from shoal.tables import Column, Table

__all__ = ["compare"]


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="A table, such as the input.", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one, such as a release of it.", show_default=False)],
    recipe: Annotated[
        Path | None, typer.Option(metavar="RECIPE", help="Take roles and hierarchies from a recipe.", show_default=False)
    ] = None,
    quasi: options.Quasi = [],  # noqa: B006  typer wants a list, and nobody changes it
    sensitive: options.Sensitive = [],  # noqa: B006
    hierarchy: options.Hierarchies = [],  # noqa: B006
    json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    missing: options.MissingPolicy = "category",
) -> None:
    """How do two tables differ: records, groups, risks, values?

    Name the columns with a recipe or with --quasi. Where a hierarchy is known, so is the loss.
    """
    from shoal.hierarchy import read as read_hierarchy
    from shoal.recipe import Recipe
    from shoal.tables import Role

    known, secret = options.names(quasi), options.names(sensitive)
    trees = {name: read_hierarchy(file) for name, file in options.pairs(hierarchy, "--hierarchy").items()}
    if recipe is not None:
        chosen = Recipe.load(recipe)
        known, secret = known or chosen.having(Role.QUASI), secret or chosen.having(Role.SENSITIVE)
        trees = chosen.hierarchies | trees
    if not known:
        raise ParameterError("no quasi-identifying columns to compare by; name them with --quasi, or give a --recipe")
    sides: list[dict[str, Any]] = []
    for path in (a, b):
        with working(f"reading {path.name}"):
            table = options.read(path, separator, encoding, missing, (), quote=quote, quasi=known, sensitive=secret)
            sides.append(_side(table, trees))
    if json:
        print_json({"a": sides[0], "b": sides[1]})
    else:
        show(_figures(*sides), title("Distinct values"), _columns(*sides))


def _side(table: "Table", trees: "Mapping[str, Hierarchy]") -> dict[str, Any]:
    """What is compared of one table. The loss is that of the rows it has: those that are not there are in no column."""
    from shoal.measure.risk import assess

    excess = {name: _excess(table.column(name), trees[name]) for name in table.quasi if name in trees}
    known = {name: share for name, share in excess.items() if share is not None}
    most = {name: 1 - 1 / trees[name].leaves for name in known}
    return {
        **assess(table).to_dict(),
        "loss": _of(sum(known.values()), sum(most.values())) if len(known) == len(table.quasi) else None,
        "losses": {name: _of(share, most[name]) for name, share in known.items()},
        "values": {name: len(table.column(name).keys) for name in table.names},
    }


def _of(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _excess(column: "Column", tree: "Hierarchy") -> float | None:
    """The share of its domain that a cell covers beyond one leaf, on average; None where a value is not in the hierarchy."""
    import numpy as np

    covered = {
        text: int(leaves)
        for level in reversed(range(tree.height + 1))  # a text that is at several levels is taken for the finest
        for text, leaves in zip(tree.labels[level], tree.cover(level), strict=True)
    }
    covered.setdefault("", 1)  # a missing value is a leaf of its own
    if not column.codes.size or not all(text in covered for text in column.labels):
        return None
    return float(np.mean(np.array([covered[text] - 1 for text in column.labels])[column.codes])) / tree.leaves


def _figures(*sides: dict[str, Any]) -> "Listing":
    """Records, groups and risks of both."""
    columns = []
    for side in sides:
        risk = side["prosecutor"]
        column = {
            "records": f"{side['records']:,}",
            "suppressed rows, not counted": f"{side['suppressed']:,}",
            "groups": f"{side['groups']:,}",
            "k, the smallest group": "no records" if side["k"] is None else f"{side['k']:,}",
            "uniques, alone in their group": f"{side['uniques']:,} ({percent(side['sample_uniqueness'])})",
            "highest risk (prosecutor)": percent(risk["highest"]),
            "average risk over records": percent(risk["average"]),
            f"records at risk above {percent(side['threshold'])}": f"{risk['records_at_risk']:,} ({percent(risk['at_risk'])})",
            "loss of its rows (granularity)": "unknown" if side["loss"] is None else percent(side["loss"]),
        }
        for name, diversity in side["sensitive"].items():
            column[f"distinct l of {name}"] = f"{diversity['distinct']:,}"
            column[f"t of {name}"] = f"{diversity['closeness']:.3g}"
        columns.append(column)
    return listing(["", "A", "B"], *([name, *(column.get(name, "") for column in columns)] for name in columns[0]))


def _columns(*sides: dict[str, Any]) -> "Listing":
    """How many distinct values every column has, and its loss, in both."""
    return listing(
        ["", "A", "B", "loss of A", "of B"],
        *(
            [
                name,
                *(f"{side['values'][name]:,}" if name in side["values"] else "absent" for side in sides),
                *(percent(share) if (share := side["losses"].get(name)) is not None else "" for side in sides),
            ]
            for name in dict.fromkeys(name for side in sides for name in side["values"])
        ),
    )
