"""`shoal compare`: releases against their input, or two tables side by side."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import listing, percent, print_json, remark, show, title, working
from shoal.errors import ParameterError, listed
from shoal.zones import NOTICE

if TYPE_CHECKING:
    from rich.table import Table as Listing

    from shoal.data.hierarchy import Hierarchy
    from shoal.data.tables import Table
    from shoal.measure.comparing import Comparison, Side
    from shoal.recipe import Recipe
    from shoal.studies.candidates import ReleaseComparison

__all__ = ["compare"]

_LOSS_OF_ALL = "loss of all records of A"
_SCALE = "Loss is granularity, from 0 % for the input to 100 % for nothing left."


@dataclass(frozen=True)
class NamedColumns:
    """Which columns others may know, and which nobody should learn: a bundle of options."""

    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE", help="Take roles and hierarchies from a recipe.", show_default=False
        ),
    ] = None
    quasi: options.Quasi = field(default_factory=list)
    sensitive: options.Sensitive = field(default_factory=list)


@dataclass(frozen=True)
class Ranking:
    """What several releases are ranked by: a bundle of options."""

    risk: Annotated[
        Literal["highest", "average", "at_risk"],
        typer.Option(help="The risk that several releases are ranked by."),
    ] = "highest"
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The loss they are ranked by; by default, the first that is known for all.",
            show_default=False,
        ),
    ] = None


@bundled
def compare(
    table: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="The table that releases were made from.", show_default=False
        ),
    ],
    releases: Annotated[
        list[str],
        typer.Argument(
            metavar="RELEASE...",
            help="Directories of releases, or one other table.",
            show_default=False,
        ),
    ],
    *,
    columns: NamedColumns,
    files: options.HierarchyFiles,
    ranking: Ranking,
    drawing: options.ChartFile,
    json: options.Json = False,
    form: options.Form,
) -> None:
    """Compare what releases promise, risk and keep.

    Columns, with roles and hierarchies, come from a recipe, from --quasi and --hierarchy, or else
    from the certificates, as far as they have them. Without hierarchies, losses are those by the
    sizes of groups.

    With one other table in place of releases, both are shown side by side: records, groups,
    risks, values, loss. A hierarchy is read by its --type. If INPUT is the input, the loss of all
    its records is shown too, including those that the other table does not have.
    """
    drawing.require()
    trees = files.read(form.types, [table, *releases])
    roles = _Roles.of(columns, trees, form)
    if len(releases) == 1 and not _is_release(releases[0]):
        drawing.write(_compare_two(table, releases[0], roles, form, json=json))
    else:
        drawing.write(_compare_several(table, releases, roles, form, ranking, json=json))


def _is_release(place: str) -> bool:
    """Whether a place is the directory of a release."""
    from shoal.releases.release import CERTIFICATE

    return (Path(place) / CERTIFICATE).is_file()


@dataclass(frozen=True)
class _Roles:
    """The roles and hierarchies of columns, by options and a recipe, which may be None."""

    recipe: "Recipe | None"
    quasi: list[str]
    sensitive: list[str]
    trees: "dict[str, Hierarchy]"
    unit: str | None = None
    rows_are_people: bool = False

    @classmethod
    def of(
        cls, columns: NamedColumns, trees: "dict[str, Hierarchy]", form: options.Form
    ) -> "_Roles":
        from shoal.data.schema import Role

        known, secret = options.names(columns.quasi), options.names(columns.sensitive)
        if columns.recipe is None:
            return cls(None, known, secret, trees)
        chosen = form.load(columns.recipe)
        return cls(
            chosen,
            known or chosen.having(Role.QUASI),
            secret or chosen.having(Role.SENSITIVE),
            chosen.hierarchies | trees,
            getattr(chosen.method(), "unit", None),
            chosen.content.rows_are_people,
        )

    def read(self, place: str, form: options.Form, sensitive: list[str]) -> "Table":
        """A table; the source of the recipe is read as for a release."""
        if self.recipe is not None and self.recipe.reads(place) and form.is_default:
            return self.recipe.table().with_roles(quasi=self.quasi, sensitive=self.sensitive)
        return form.beside(place).read(place, quasi=self.quasi, sensitive=sensitive)


def _compare_several(
    place: str,
    releases: list[str],
    roles: _Roles,
    form: options.Form,
    ranking: Ranking,
    *,
    json: bool,
) -> "ReleaseComparison":
    """Releases, each with what it promises, and which ones no other beats."""
    import shoal
    from shoal.cli.candidates import pages
    from shoal.releases.release import certificate_of

    with working(f"reading {options.shown(place)}"):
        table = roles.read(place, form, roles.sensitive)
    # Only the input and hierarchies go by --type: a released column may hold texts such as "20-29".
    released = replace(form, types=[])
    found: list[Any] = []
    for each in releases:
        if _is_release(each):
            found.append(Path(each))
        elif certificate_of(each) is not None:
            found.append(Path(each).parent)
        else:
            found.append(released.beside(each).read(each))
    with working("comparing"):
        compared = shoal.compare(
            table, found, roles.trees, unit=roles.unit, rows_are_people=roles.rows_are_people
        ).by(ranking.risk, ranking.loss)
    if compared.input.repeated:
        remark(
            f"note: people seem to be in several rows of the input, by "
            f"{listed(compared.input.repeated)}; figures are of rows"
        )
    if json:
        print_json(compared.to_dict())
    else:
        show(NOTICE, *pages(compared), "", NOTICE)
    return compared


def _compare_two(a: str, b: str, roles: _Roles, form: options.Form, *, json: bool) -> "Comparison":
    """Two tables side by side."""
    from shoal.data.tables import table as as_table
    from shoal.measure.comparing import compare as compare_tables
    from shoal.releases.release import certificate_of
    from shoal.studies.released import released_form, require_comparable, with_counts

    if not roles.quasi:
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
        beside = [name for name in roles.sensitive if name not in shape.apart]
        with working(f"reading {options.shown(path)}"):
            table = roles.read(path, form, beside)
            if shape.counted:
                rows = with_counts(table.frame)
                table = as_table(rows, quasi=roles.quasi, sensitive=beside, missing=form.missing)
        tables.append(table)
        marks += [shape.mark] if shape.mark else []
        complete += [letter] if shape.complete else []
    comparison = compare_tables(
        tables[0],
        tables[1],
        {name: tree for name, tree in roles.trees.items() if name in roles.quasi},
        unit=roles.unit,
        rows_are_people=roles.rows_are_people,
        marks=marks,
        a_is_input=roles.recipe is not None and roles.recipe.reads(a),
        complete=complete,
    )
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        if side.assessment.repeated:
            columns = listed(side.assessment.repeated)
            remark(
                f"note: people seem to be in several rows of {name}, by {columns}; its figures are "
                "of rows"
            )
    if json:
        print_json(comparison.to_dict())
        return comparison
    if comparison.a_is_input:
        show(NOTICE, "")
    show(
        _figures(comparison),
        *_notes(comparison),
        title("Distinct values, and loss of each column"),
        _columns(comparison),
    )
    return comparison


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
