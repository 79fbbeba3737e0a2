"""`shoal compare`: two tables side by side, such as an input and its release, or two releases."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, listing, percent, print_json, show, title, working
from shoal.errors import ParameterError, listed, plural

if TYPE_CHECKING:
    from rich.table import Table as Listing

    from shoal.data.tables import Column, Table

__all__ = ["compare"]

_SCALE = "Loss is granularity, from 0 % for the input to 100 % for nothing left."


def compare(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="A table, such as the input.", show_default=False)
    ],
    b: Annotated[
        Path,
        typer.Argument(
            metavar="B", help="Another one, such as a release of it.", show_default=False
        ),
    ],
    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE", help="Take roles and hierarchies from a recipe.", show_default=False
        ),
    ] = None,
    quasi: options.Quasi = [],  # noqa: B006  typer wants a list, and nobody changes it
    sensitive: options.Sensitive = [],  # noqa: B006
    hierarchy: options.Hierarchies = [],  # noqa: B006
    json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    missing: options.MissingPolicy = "category",
    types: options.Types = [],  # noqa: B006
    root: options.Root = None,
    add_root: options.AddRoot = None,
) -> None:
    """How do two tables differ: records, groups, risks, values, loss?

    Name the columns with a recipe or with --quasi. Where every one has a hierarchy, the loss is known; --type is for these.
    If A is the input, the loss is also that of all its records, with those that B does not have.
    """
    from shoal.data.hierarchy.cover import covers
    from shoal.data.tables import Role
    from shoal.recipe import Recipe

    known, secret = options.names(quasi), options.names(sensitive)
    trees = options.hierarchies(hierarchy, types, root, add_root)
    chosen = None if recipe is None else Recipe.load(recipe)
    if chosen is not None:
        known, secret = known or chosen.having(Role.QUASI), secret or chosen.having(Role.SENSITIVE)
        trees = chosen.hierarchies | trees
    if not known:
        raise ParameterError(
            "no quasi-identifying columns to compare by; name them with --quasi, or give a --recipe"
        )
    scales = {
        name: _Scale(tree.leaves, covers(tree)) for name, tree in trees.items() if name in known
    }
    sides: list[dict[str, Any]] = []
    for path in (a, b):
        with working(f"reading {path.name}"):
            if (
                chosen is not None
                and _same(path, chosen.source)
                and separator is quote is encoding is None
            ):
                table = chosen.table().with_roles(
                    quasi=known, sensitive=secret
                )  # read as for a release
            else:
                table = options.read(
                    path,
                    separator,
                    encoding,
                    missing,
                    (),
                    quote=quote,
                    quasi=known,
                    sensitive=secret,
                )
            unit = None if chosen is None else getattr(chosen.method(), "unit", None)
            rows_are_people = chosen is not None and chosen.content.rows_are_people
            sides.append(_side(table, scales, _numbered(path, table), unit, rows_are_people))
    for name, side in zip("AB", sides, strict=True):
        if side["repeated"]:
            complain(
                f"note: people seem to be in several rows of {name}, by {listed(side['repeated'])}; its figures are of rows"
            )
    of_input = _is_input(*sides) or (chosen is not None and _same(a, chosen.source))
    for side in sides:
        side |= (
            _of_input(side, sides[0]["rows"])
            if of_input
            else {"loss_of_input": None, "losses_of_input": {}}
        )
    if json:
        print_json({"a": sides[0], "b": sides[1]})
    else:
        show(
            _figures(*sides),
            *_notes(*sides),
            title("Distinct values, and loss of each column"),
            _columns(*sides),
        )


@dataclass(frozen=True)
class _Scale:
    """What a column can lose: how many leaves its domain has, and how many of them a text stands for."""

    leaves: int
    covered: Callable[[str], int | None]

    @property
    def most(self) -> float:
        return 1 - 1 / self.leaves


def _same(path: Path, source: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(source)


def _numbered(path: Path, table: "Table") -> list[str]:
    """The column that tells groups apart where they look alike, by the certificate beside a release."""
    from shoal.releases.layout import GROUP
    from shoal.releases.release import certificate_of

    paper = certificate_of(path)
    coincident = paper is not None and paper.method == "coincident"
    return [GROUP] if coincident and GROUP in table.names else []


def _side(
    table: "Table",
    scales: Mapping[str, _Scale],
    numbered: list[str],
    unit: str | None,
    rows_are_people: bool,
) -> dict[str, Any]:
    """What is compared of one table, by people if it has the unit of the recipe; its loss is that of the rows it has."""
    from shoal.measure.risk import assess

    excess = {name: _excess(table.column(name), scales.get(name)) for name in table.quasi}
    known = {name: share for name, share in excess.items() if not isinstance(share, str)}
    return {
        **assess(
            table,
            quasi=[*table.quasi, *numbered],
            person=unit if unit in table.names else None,
            rows_are_people=rows_are_people and unit not in table.names,
        ).to_dict(),
        "loss": _share(sum(known.values()), sum(scales[name].most for name in known))
        if len(known) == len(excess)
        else None,
        "losses": {name: _share(share, scales[name].most) for name, share in known.items()},
        "loss_unknown": {
            name: reason for name, reason in excess.items() if isinstance(reason, str)
        },
        "values": {name: len(table.column(name).keys) for name in table.names},
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _excess(column: "Column", scale: _Scale | None) -> float | str:
    """The share of its domain that a cell covers beyond one leaf, on average; or why that is not known."""
    import numpy as np

    if scale is None:
        return "no hierarchy is given"
    covered = [scale.covered(text) for text in column.labels]
    if strange := covered.count(None):
        return f"{plural(strange, 'distinct value')} not in the hierarchy, of any level"
    if not column.codes.size:
        return "it has no rows"
    return float(np.mean((np.array(covered, dtype=np.int64) - 1)[column.codes])) / scale.leaves


def _is_input(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether A may be what B was made from: nothing in it is generalised, and it has no fewer rows."""
    return bool(a["loss"] == 0 and a["rows"] >= b["rows"] and a["suppressed"] == 0)


def _of_input(side: dict[str, Any], rows: int) -> dict[str, Any]:
    """The losses over all rows of the input: those that are not there have lost everything."""
    absent = max(rows - side["rows"], 0)

    def over_all(loss: float) -> float:
        return _share(loss * side["rows"] + absent, side["rows"] + absent)

    empty = not side["rows"] and rows
    return {
        "loss_of_input": 1.0 if empty else None if side["loss"] is None else over_all(side["loss"]),
        "losses_of_input": {name: over_all(loss) for name, loss in side["losses"].items()},
    }


def _notes(a: dict[str, Any], b: dict[str, Any]) -> Iterator[str]:
    """What the losses are of, or why there are none."""
    reasons: dict[str, list[str]] = {}
    for name, side in (("A", a), ("B", b)):
        for column, reason in side["loss_unknown"].items():
            reasons.setdefault(f"{column!r}: {reason}", []).append(name)
    yield from (
        f"\nNo loss of {' and '.join(names)} for column {reason}."
        for reason, names in reasons.items()
    )
    if a["loss_of_input"] is not None or b["loss_of_input"] is not None:
        yield f"\n{_SCALE} A is taken for the input: records that B does not have count as lost entirely."
    elif a["loss"] is not None or b["loss"] is not None:
        yield f"\n{_SCALE} It is that of the rows a table has; rows that were left out do not count."


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
            "loss of all records of A": _told(side["loss_of_input"]),
            "loss of the rows there are": _told(side["loss"]),
        }
        if all(one["loss_of_input"] is None for one in sides):
            del column["loss of all records of A"]
        for name, diversity in side["sensitive"].items():
            column[f"distinct l of {name}"] = f"{diversity['distinct']:,}"
            column[f"t of {name}"] = f"{diversity['closeness']:.3g}"
        columns.append(column)
    return listing(
        ["", "A", "B"],
        *([name, *(column.get(name, "") for column in columns)] for name in columns[0]),
    )


def _told(loss: float | None) -> str:
    return "unknown" if loss is None else percent(loss)


def _columns(*sides: dict[str, Any]) -> "Listing":
    """How many distinct values every column has, and its loss, in both."""
    which = "losses" if all(side["loss_of_input"] is None for side in sides) else "losses_of_input"
    return listing(
        ["", "A", "B", "loss of A", "of B"],
        *(
            [
                name,
                *(
                    f"{side['values'][name]:,}" if name in side["values"] else "absent"
                    for side in sides
                ),
                *(
                    percent(share) if (share := side[which].get(name)) is not None else ""
                    for side in sides
                ),
            ]
            for name in dict.fromkeys(name for side in sides for name in side["values"])
        ),
    )
