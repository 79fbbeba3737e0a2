"""`shoal assess`: how easily people in a table can be recognised, and whether that is allowed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    complain,
    figures,
    listing,
    percent,
    print_json,
    remark,
    show,
    title,
    working,
)
from shoal.errors import FileError, ParameterError, spelled
from shoal.zones import NOT_FOR_RELEASE, NOTICE

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import RenderableType

    from shoal.data.tables import Table
    from shoal.measure.gates import RiskLimits
    from shoal.measure.risk import Assessment
    from shoal.measure.suggesting import Suggestion
    from shoal.measure.uniqueness import IdentifyingSet, PopulationUniqueness

__all__ = ["assess"]

_SETS = 10  # how many sets of columns are shown
_ROLES = (
    ("identifying", "Columns that look identifying"),
    ("quasi", "Columns that look quasi-identifying"),
    ("sensitive", "Columns that look sensitive"),
    (None, "No sign of a role; decide for yourself"),
)
"""The roles that columns may look like, each an option too, and titles."""


def _limit(name: str, metavar: str, text: str) -> Any:
    return typer.Option(
        name,
        metavar=metavar,
        help=text,
        rich_help_panel="Limits (exit code 1 if violated)",
        show_default=False,
    )


@dataclass(frozen=True)
class Whose:
    """Whom the rows of a table are about, as `shoal.assess` is told."""

    person: str | None
    household: str | None
    rows_are_people: bool | None


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns are, and whom a row is about."""

    quasi: options.Quasi = field(default_factory=list)
    sensitive: options.Sensitive = field(default_factory=list)
    identifying: Annotated[
        list[str],
        typer.Option(
            "--identifying",
            metavar="A,B,…",
            help="Columns that name one person by themselves.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Tells people apart: count people, not rows.",
            show_default=False,
        ),
    ] = None
    household: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Tells households apart: adds the risk that a member is recognised.",
            show_default=False,
        ),
    ] = None
    rows_are_people: Annotated[
        bool,
        typer.Option(
            "--rows-are-people", help="Every row is a different person, even if names repeat."
        ),
    ] = False

    @property
    def units(self) -> tuple[str, ...]:
        """The columns that tell people and households apart."""
        return tuple(name for name in (self.person, self.household) if name is not None)

    def read(self, form: options.Form, file: str) -> "tuple[Table, Whose]":
        """The table, and whom its rows are about; a recipe says both itself."""
        if not options.is_recipe(file):
            table = form.read(
                file, quasi=self.quasi, sensitive=self.sensitive, identifying=self.identifying
            )
            return table, Whose(self.person, self.household, self.rows_are_people or None)
        recipe = form.of_recipe(
            file,
            quasi=self.quasi,
            sensitive=self.sensitive,
            identifying=self.identifying,
            person=self.person,
            rows_are_people=self.rows_are_people,
        )
        method = recipe.method()
        unit = getattr(method, "person", None) or getattr(method, "unit", None)
        table = recipe.table()
        if not table.quasi:
            raise ParameterError(
                f"{file} has no quasi-identifying column, so there is nothing to assess",
                "change the role of those that others may know",
            )
        return table, Whose(unit, self.household, rows_are_people=None)


@dataclass(frozen=True)
class PopulationOptions:
    """Where the people of the table come from."""

    population: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Table of the people an attacker may choose from.",
            show_default=False,
        ),
    ] = None
    population_query: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE|SQL",
            help="For a population in a database; --query by default.",
            show_default=False,
        ),
    ] = None
    fraction: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the population that the table holds.",
            show_default=False,
        ),
    ] = None

    def read(self, form: options.Form) -> "Table | None":
        if self.population is None:
            return None
        return form.beside(self.population, self.population_query).read(self.population)

    def share(self) -> "Fraction | None":
        from shoal.measure import gates

        return None if self.fraction is None else gates.share(self.fraction, "fraction")


@dataclass(frozen=True)
class GateOptions:
    """Who is at risk, and the limits that make the command a gate."""

    threshold: Annotated[
        str, typer.Option(metavar="SHARE", help="Records with a higher risk count as at risk.")
    ] = "0.2"
    min_k: Annotated[int | None, _limit("--min-k", "K", "Records in the smallest group.")] = None
    max_risk: Annotated[
        str | None, _limit("--max-risk", "SHARE", "Highest prosecutor risk of a record.")
    ] = None
    max_at_risk: Annotated[
        str | None, _limit("--max-at-risk", "N|SHARE", "Records at risk: 10, 0.01 or 1%.")
    ] = None
    max_uniques: Annotated[
        str | None, _limit("--max-uniques", "N|SHARE", "Records alone in their group.")
    ] = None
    min_l: Annotated[
        int | None, _limit("--min-l", "L", "Distinct sensitive values in every group.")
    ] = None
    max_t: Annotated[
        str | None, _limit("--max-t", "T", "Distance of any group from the table (t-closeness).")
    ] = None

    def require_sensitive(self, fix: str) -> None:
        """ParameterError if a limit is given that needs a sensitive column: there is none."""
        for option, given in (("min_l", self.min_l), ("max_t", self.max_t)):
            if given is not None:
                raise ParameterError("is about sensitive columns", fix, option=option)

    def limits(self) -> "RiskLimits":
        from shoal.measure import gates

        return gates.RiskLimits(
            self.min_k,
            self.max_risk,
            self.max_at_risk,
            self.max_uniques,
            self.min_l,
            self.max_t,
        )


@dataclass(frozen=True)
class AnswerOptions(options.ChartFile):
    """How the figures are shown."""

    json: options.Json = False


@bundled
def assess(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A table, or a recipe that says what its columns are.",
            show_default=False,
        ),
    ],
    columns: ColumnOptions,
    origin: PopulationOptions,
    *,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Adds risk by column, smallest identifying column sets, population uniqueness.",
        ),
    ] = False,
    answer: AnswerOptions,
    form: options.Form,
    gate: GateOptions,
) -> None:
    """How easily can people in this table be recognised?

    Looks at the named columns without generalising them, and lists those it left out.
    Columns are only suggested if --quasi names none. With limits it is a gate for pipelines.
    """
    from shoal.measure import gates
    from shoal.measure.risk import assess as assess_table

    answer.require()
    if not options.names(columns.sensitive) and not options.is_recipe(file):
        gate.require_sensitive("name them with `sensitive`")
    limits = gate.limits()
    share = origin.share()
    above = gates.share(gate.threshold, "threshold")
    limits.require_possible(above)
    with working(f"reading {options.shown(file)}"):
        table, whose = columns.read(form, file)
    if not table.sensitive:
        gate.require_sensitive("give a column of the recipe this role")
    if not table.quasi:
        _refuse(context, table, columns.units)
        raise typer.Exit(2)
    with working(f"reading {options.shown(file)}"):
        people = origin.read(form)
    with working(f"assessing {table.rows:,} rows"):
        assessment = assess_table(
            table,
            person=whose.person,
            household=whose.household,
            rows_are_people=whose.rows_are_people,
            population=people,
            fraction=share,
            threshold=above,
            details=details,
        )
    spelling = options.as_options({"person": "--person", "rows_are_people": "--rows-are-people"})
    if assessment.repeated:
        fix = spelled(gates.REPEATED_FIX, spelling)
        remark(f"note: {gates.repeats(assessment)}; these figures are of rows. {fix}")
    violated = []
    for violation in limits.violated(assessment):
        limit = violation.limit.replace("_", "-")
        violated.append(f"--{limit} {violation.given}: {spelled(violation.what, spelling)}")
    if answer.json:
        print_json({**NOT_FOR_RELEASE, **assessment.to_dict(), "violated": violated})
    else:
        show(f"{spelled(assessment.verdict.line, spelling)}\n")
        show(*_pages(assessment))
        if details:
            show(*_convention_pages(assessment))
        if details and share is None:
            show(
                "\nFor uniqueness in the population, give --fraction, the share of it that the "
                "table holds"
            )
        show("", NOTICE)
    answer.write(assessment)
    for line in violated:
        complain(f"violated: {line}")
    if violated:
        raise typer.Exit(1)


def _refuse(context: typer.Context, table: "Table", units: "Sequence[str]") -> None:
    """Say that no column was named, what the columns look like, and what to type next."""
    from shoal.measure.suggesting import suggest

    if table.is_headless:
        raise FileError(
            "the first line of the file looks like a record, which would be shown as the names of "
            "the columns",
            "put a line with names above it, or name columns with `quasi`",
        )
    with working(f"looking at {len(table.names)} columns"):
        suggestions = [one for one in suggest(table) if one.column not in units]
    chosen = {
        f"--{role}": [one.column for one in suggestions if one.role == role]
        for role, _ in _ROLES
        if role is not None
    }
    chosen["--quasi"] = chosen["--quasi"] or ["COLUMN"]
    complain(
        "error: no quasi-identifying columns to assess, so nothing was assessed; name those that "
        "others may know with --quasi"
    )
    show(*_suggestion_pages(suggestions), aside=True)
    complain(options.again(context, chosen))


def _suggestion_pages(suggestions: "Sequence[Suggestion]") -> "Iterator[RenderableType]":
    """What the columns look like, and what is only for the owner to decide."""
    from shoal.measure.suggesting import LISTED, LOOKED_AT

    for role, heading in _ROLES:
        looking = [one for one in suggestions if one.role == role]
        if looking:
            yield title(heading)
            yield figures(*((one.column, _reason(one)) for one in looking))
    yield (
        f"\nThis goes by names, numbers of values, and {LOOKED_AT:,} values of a column at most "
        f"(none of one with over {LISTED:,}). Letters are those of HIPAA's safe harbour, "
        "45 CFR 164.514(b)(2)(i). All of it is for the owner only. No column has a role until you "
        "name it:\n"
    )


def _reason(suggestion: "Suggestion") -> str:
    letters = f" ({', '.join(suggestion.safe_harbour)})" if suggestion.safe_harbour else ""
    first, *rest = suggestion.reasons
    return "; ".join([f"{first}{letters}", *rest])


def _convention_pages(assessment: "Assessment") -> "Iterator[RenderableType]":
    """Every convention, what it asks, and what the table has."""
    yield title("Conventions")
    said = {True: "pass", False: "fail", None: ""}
    results = assessment.verdict.results
    rows = [
        [one.convention.name, one.convention.asks, one.shown, said[one.passed]] for one in results
    ]
    yield listing(["", "asks for", "this table", ""], *rows)


def _pages(assessment: "Assessment") -> "Iterator[RenderableType]":
    """The assessment as tables."""
    yield from _table_pages(assessment)
    yield from _risk_pages(assessment)
    if assessment.sensitive:
        yield from _sensitive_pages(assessment)
    if assessment.column_risks:
        yield title("Share of each column in the average risk")
        rows = [
            [r.column, f"{r.values:,}", percent(r.share), percent(r.alone), percent(r.without)]
            for r in assessment.column_risks
        ]
        yield listing(["", "values", "share", "alone", "all others"], *rows)
    if assessment.identifying_sets is not None:
        yield from _set_pages(assessment.identifying_sets)
    if assessment.population_uniqueness is not None:
        yield from _population_pages(assessment.population_uniqueness)


def _table_pages(assessment: "Assessment") -> "Iterator[RenderableType]":
    """The columns that were looked at, and the groups they make."""
    columns = []
    if assessment.person:
        columns.append(("person", assessment.person))
    if assessment.household:
        columns.append(("household", assessment.household))
    columns.append(("quasi-identifying", ", ".join(assessment.columns)))
    if assessment.sensitive:
        columns.append(("sensitive", ", ".join(assessment.sensitive)))
    columns.append(("left out", ", ".join(assessment.left_out) or "no column"))
    yield figures(*columns)
    yield title("The table")
    numbers = [("records", f"{assessment.records:,}")]
    if assessment.people is not None:
        numbers.append(("people", f"{assessment.people:,}"))
    if assessment.suppressed:
        numbers.append(("suppressed rows, not counted", f"{assessment.suppressed:,}"))
    k = "no records" if assessment.k is None else f"{assessment.k:,}"
    uniques = f"{assessment.uniques:,} ({percent(assessment.sample_uniqueness)})"
    numbers += [
        ("groups", f"{assessment.groups:,}"),
        ("k, the smallest group", k),
        ("largest group", f"{assessment.largest:,}"),
        ("uniques, alone in their group", uniques),
    ]
    yield figures(*numbers)


def _risk_pages(assessment: "Assessment") -> "Iterator[RenderableType]":
    """The risks by attacker, and those of households."""
    from shoal.measure.gates import many

    whose = "records" if assessment.person is None else "people"
    above = percent(assessment.threshold)
    kinds = {"prosecutor": assessment.prosecutor}
    if assessment.journalist:
        kinds["journalist"] = assessment.journalist
    risks = kinds.values()
    yield title("Risk of being recognised")
    yield listing(
        ["", *kinds],
        ["highest", *(percent(risk.highest) for risk in risks)],
        [f"average over {whose}", *(percent(risk.average) for risk in risks)],
        ["average over groups", *(percent(risk.average_of_groups) for risk in risks)],
        [
            f"{whose} at risk above {above}",
            *(f"{risk.records_at_risk:,} ({percent(risk.at_risk)})" for risk in risks),
        ],
        ["marketer", percent(assessment.marketer)],
    )
    homes = assessment.households
    if homes is not None:
        at_risk = f"{homes.households_at_risk:,} ({percent(homes.at_risk)})"
        yield title("Someone in a household is recognised")
        yield figures(
            ("households", f"{homes.number:,}"),
            ("highest risk", percent(homes.highest)),
            ("average over households", percent(homes.average)),
            ("average over people", percent(homes.average_of_people)),
            (f"households at risk above {above}", at_risk),
        )
    if assessment.outside:
        outside = many(assessment.outside, "record" if assessment.person is None else "person")
        yield (
            f"\n{outside} in groups larger than the population's: it cannot be where they come from"
        )


def _sensitive_pages(assessment: "Assessment") -> "Iterator[RenderableType]":
    """What the groups achieve in every sensitive column."""
    columns = assessment.sensitive
    ordered = any(column.closeness_ordered is not None for column in columns.values())
    head = ["", "distinct l", "entropy l", "c at l = 2", "t", "ordered t", "beta", "delta"]
    rows = []
    for name, diversity in columns.items():
        achieved = (
            diversity.entropy,
            diversity.recursive,
            diversity.closeness,
            diversity.closeness_ordered,
            diversity.likeness,
            diversity.disclosure,
        )
        rows.append([name, f"{diversity.distinct:,}", *map(_figure, achieved)])
    if not ordered:
        absent = head.index("ordered t")
        for line in (head, *rows):
            del line[absent]
    yield title("What a group gives away")
    yield listing(head, *rows)


def _figure(figure: float | None) -> str:
    if figure is None:
        return "none"
    return f"{figure:,.0f}" if 1000 <= figure < inf else f"{figure:.3g}"


def _set_pages(sets: "Sequence[IdentifyingSet]") -> "Iterator[RenderableType]":
    """The smallest sets of columns that make records unique."""
    yield title("Smallest sets of columns that single people out")
    rows = [
        [", ".join(columns.columns), f"{columns.uniques:,}", percent(columns.share)]
        for columns in sets[:_SETS]
    ]
    yield listing(["", "uniques", "share"], *rows)
    if len(sets) > _SETS:
        yield f"and {len(sets) - _SETS} more; --json lists them all"


def _population_pages(estimate: "PopulationUniqueness") -> "Iterator[RenderableType]":
    """How many people are unique in the population, by several models."""
    yield title(f"Estimated uniques in the population of {estimate.population:,}")
    shares = {"pitman": estimate.pitman, "zayatz": estimate.zayatz, "snb": estimate.snb}
    lines = []
    for name, share in shares.items():
        chosen = " (chosen)" if name == estimate.model else ""
        lines.append((name + chosen, "does not fit" if share is None else percent(share)))
    yield figures(*lines)
