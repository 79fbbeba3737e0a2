"""`shoal compare`: two tables side by side, such as an input and its release, or two releases."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, listing, percent, print_json, show, title, working
from shoal.errors import ParameterError, listed
from shoal.zones import NOTICE

if TYPE_CHECKING:
    from rich.table import Table as Listing

    from shoal.measure.comparing import Comparison, Side

__all__ = ["compare"]

_LOSS_OF_ALL = "loss of all records of A"
_SCALE = "Loss is granularity, from 0 % for the input to 100 % for nothing left."


@bundled
def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A table, such as the input.", show_default=False)
    ],
    b: Annotated[
        str,
        typer.Argument(
            metavar="B", help="Another one, such as a release of it.", show_default=False
        ),
    ],
    *,
    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE", help="Take roles and hierarchies from a recipe.", show_default=False
        ),
    ] = None,
    quasi: options.Quasi = [],  # noqa: B006  typer wants a list, and nobody changes it
    sensitive: options.Sensitive = [],  # noqa: B006
    files: options.HierarchyFiles,
    json: options.Json = False,
    form: options.Form,
) -> None:
    """How do two tables differ: records, groups, risks, values, loss?

    Name the columns with a recipe or with --quasi. If each has a hierarchy, the loss is shown; a
    hierarchy is read by its --type. If A is the input, the loss of all its records is shown too,
    including those that B does not have.
    """
    from shoal.data.schema import Role
    from shoal.data.tables import table as as_table
    from shoal.measure.comparing import compare as compare_tables
    from shoal.releases.release import certificate_of
    from shoal.studies.released import released_form, require_comparable, with_counts

    known, secret = options.names(quasi), options.names(sensitive)
    trees = files.read(form.types, [a, b])
    chosen = None if recipe is None else form.load(recipe)
    unit, rows_are_people = None, False
    if chosen is not None:
        known = known or chosen.having(Role.QUASI)
        secret = secret or chosen.having(Role.SENSITIVE)
        trees = chosen.hierarchies | trees
        unit = getattr(chosen.method(), "unit", None)
        rows_are_people = chosen.content.rows_are_people
    if not known:
        raise ParameterError(
            "no quasi-identifying columns to compare by",
            "name them with --quasi, or give a --recipe",
        )
    # Only hierarchies go by --type: a released column may hold texts such as "20-29".
    form = replace(form, types=[])
    tables, marks, complete = [], [], []
    for letter, path in (("a", a), ("b", b)):
        certificate = certificate_of(path)
        require_comparable(certificate)
        shape = released_form(certificate)
        beside = [name for name in secret if name not in shape.apart]
        with working(f"reading {options.shown(path)}"):
            # The source of the recipe is read as for a release.
            if chosen is not None and chosen.reads(path) and form.is_default:
                table = chosen.table().with_roles(quasi=known, sensitive=secret)
            else:
                table = form.beside(path).read(path, quasi=known, sensitive=beside)
            if shape.counted:
                rows = with_counts(table.frame)
                table = as_table(rows, quasi=known, sensitive=beside, missing=form.missing)
        tables.append(table)
        marks += [shape.mark] if shape.mark else []
        complete += [letter] if shape.complete else []
    comparison = compare_tables(
        tables[0],
        tables[1],
        {name: tree for name, tree in trees.items() if name in known},
        unit=unit,
        rows_are_people=rows_are_people,
        marks=marks,
        a_is_input=chosen is not None and chosen.reads(a),
        complete=complete,
    )
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        if side.assessment.repeated:
            columns = listed(side.assessment.repeated)
            complain(
                f"note: people seem to be in several rows of {name}, by {columns}; its figures are "
                "of rows"
            )
    if json:
        print_json(comparison.to_dict())
        return
    if comparison.a_is_input:
        show(NOTICE, "")
    show(
        _figures(comparison),
        *_notes(comparison),
        title("Distinct values, and loss of each column"),
        _columns(comparison),
    )


def _notes(comparison: "Comparison") -> Iterator[str]:
    """What the losses are of, or why there are none."""
    reasons: dict[str, list[str]] = {}
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        for column, reason in side.loss_unknown.items():
            reasons.setdefault(f"{column!r}: {reason}", []).append(name)
    for reason, names in reasons.items():
        yield f"\nNo loss of {' and '.join(names)} for column {reason}."
    sides = (comparison.a, comparison.b)
    if any(side.loss_of_input is not None for side in sides):
        yield (
            f"\n{_SCALE} A is taken for the input: records that B does not have count as lost "
            "entirely."
        )
    elif any(side.loss is not None for side in sides):
        yield (
            f"\n{_SCALE} It is that of the rows a table has; rows that were left out do not count."
        )


def _figures(comparison: "Comparison") -> "Listing":
    """Records, groups and risks of both."""
    columns = [_figures_of(side) for side in (comparison.a, comparison.b)]
    if comparison.a.loss_of_input is None and comparison.b.loss_of_input is None:
        for column in columns:
            del column[_LOSS_OF_ALL]
    return listing(
        ["", "A", "B"],
        *([name, *(column.get(name, "") for column in columns)] for name in columns[0]),
    )


def _figures_of(side: "Side") -> dict[str, str]:
    assessment = side.assessment
    risk = assessment.prosecutor
    at_risk = f"{risk.records_at_risk:,} ({percent(risk.at_risk)})"
    uniques = f"{assessment.uniques:,} ({percent(assessment.sample_uniqueness)})"
    column = {
        "records": f"{assessment.records:,}",
        "suppressed rows, not counted": f"{assessment.suppressed:,}",
        "groups": f"{assessment.groups:,}",
        "k, the smallest group": "no records" if assessment.k is None else f"{assessment.k:,}",
        "uniques, alone in their group": uniques,
        "highest risk (prosecutor)": percent(risk.highest),
        "average risk over records": percent(risk.average),
        f"records at risk above {percent(assessment.threshold)}": at_risk,
        _LOSS_OF_ALL: _loss(side.loss_of_input),
        "loss of the rows there are": _loss(side.loss),
    }
    for name, diversity in assessment.sensitive.items():
        column[f"distinct l of {name}"] = f"{diversity.distinct:,}"
        column[f"t of {name}"] = f"{diversity.closeness:.3g}"
    return column


def _loss(loss: float | None) -> str:
    return "unknown" if loss is None else percent(loss)


def _columns(comparison: "Comparison") -> "Listing":
    """How many distinct values every column has, and its loss, in both."""
    sides = (comparison.a, comparison.b)
    of_input = any(side.loss_of_input is not None for side in sides)
    rows = []
    for name in dict.fromkeys([*comparison.a.values, *comparison.b.values]):
        values = [f"{s.values[name]:,}" if name in s.values else "absent" for s in sides]
        losses = [(s.losses_of_input if of_input else s.losses).get(name) for s in sides]
        rows.append([name, *values, *("" if loss is None else percent(loss) for loss in losses)])
    return listing(["", "A", "B", "loss of A", "of B"], *rows)
