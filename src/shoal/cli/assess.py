"""`shoal assess`: how easily people in a table can be recognised, and whether that is within
limits.
"""

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, percent, print_json, show, title, working
from shoal.errors import ParameterError, spelled

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.measure.risk import Assessment

__all__ = ["assess"]


def _limit(name: str, metavar: str, text: str) -> Any:
    return typer.Option(
        name,
        metavar=metavar,
        help=text,
        rich_help_panel="Limits (exit code 1 if violated)",
        show_default=False,
    )


def assess(
    file: options.File,
    quasi: options.Quasi,
    sensitive: options.Sensitive = [],  # noqa: B006  typer wants a list, and nobody changes it
    identifying: Annotated[
        list[str],
        typer.Option(
            "--identifying",
            metavar="A,B,…",
            help="Columns that name one person by themselves.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Tells people apart: count people, not rows.",
            show_default=False,
        ),
    ] = None,
    household: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Tells households apart: also the risk that somebody of one is recognised.",
            show_default=False,
        ),
    ] = None,
    rows_are_people: Annotated[
        bool,
        typer.Option(
            "--rows-are-people", help="Every row is a different person, though a name repeats."
        ),
    ] = False,
    population: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of the people an attacker may choose from.",
            show_default=False,
        ),
    ] = None,
    fraction: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the population that the table holds.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        str, typer.Option(metavar="SHARE", help="A record with a risk above this is at risk.")
    ] = "0.2",
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Also: risk by column, smallest identifying column sets, population uniqueness.",
        ),
    ] = False,
    json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    missing: options.MissingPolicy = "category",
    types: options.Types = [],  # noqa: B006
    min_k: Annotated[int | None, _limit("--min-k", "K", "Records in the smallest group.")] = None,
    max_risk: Annotated[
        str | None, _limit("--max-risk", "SHARE", "Highest prosecutor risk of a record.")
    ] = None,
    max_at_risk: Annotated[
        str | None, _limit("--max-at-risk", "N|SHARE", "Records at risk: 10, 0.01 or 1%.")
    ] = None,
    max_uniques: Annotated[
        str | None, _limit("--max-uniques", "N|SHARE", "Records alone in their group.")
    ] = None,
    min_l: Annotated[
        int | None, _limit("--min-l", "L", "Distinct sensitive values in every group.")
    ] = None,
    max_t: Annotated[
        str | None, _limit("--max-t", "T", "Distance of any group from the table (t-closeness).")
    ] = None,
) -> None:
    """How easily can people in this table be recognised?

    Looks at the columns named, as they are, and says which it left out. With limits it is a gate
    for pipelines.
    """
    from shoal.measure import gates
    from shoal.measure.risk import assess as assess_table

    for option, given in (("--min-l", min_l), ("--max-t", max_t)):
        if given is not None and not options.names(sensitive):
            raise ParameterError(
                f"{option} is about sensitive columns", "name them with `sensitive`"
            )
    limits = gates.RiskLimits(min_k, max_risk, max_at_risk, max_uniques, min_l, max_t)
    share = None if fraction is None else gates.share(fraction, "fraction")
    above = gates.share(threshold, "threshold")
    limits.require_possible(above)
    form = options.Form(separator, quote, encoding, missing, types)
    with working(f"reading {file.name}"):
        table = form.read(file, quasi=quasi, sensitive=sensitive, identifying=identifying)
        people = None if population is None else form.read(population)
    with working(f"assessing {table.rows:,} rows"):
        found = assess_table(
            table,
            person=person,
            household=household,
            rows_are_people=rows_are_people,
            population=people,
            fraction=share,
            threshold=above,
            details=details,
        )
    spelling = options.as_options({"person": "--person", "rows_are_people": "--rows-are-people"})
    if found.repeated:
        fix = spelled(gates.REPEATED_FIX, spelling)
        complain(f"note: {gates.repeats(found)}; these figures are of rows. {fix}")
    violated = []
    for one in limits.violated(found):
        limit = one.limit.replace("_", "-")
        violated.append(f"--{limit} {one.given}: {spelled(one.what, spelling)}")
    if json:
        print_json({**found.to_dict(), "violated": violated})
    else:
        show(*_pages(found))
        if details and share is None:
            show(
                "\nFor uniqueness in the population, give --fraction, the share of it that the "
                "table holds"
            )
    for line in violated:
        complain(f"violated: {line}")
    if violated:
        raise typer.Exit(1)


def _pages(found: "Assessment") -> "Iterator[RenderableType]":
    """The assessment as tables."""
    from shoal.measure.gates import many

    whose = "records" if found.person is None else "people"
    yield figures(
        *([("person", found.person)] if found.person else []),
        *([("household", found.household)] if found.household else []),
        ("quasi-identifying", ", ".join(found.columns)),
        *([("sensitive", ", ".join(found.sensitive))] if found.sensitive else []),
        ("left out", ", ".join(found.left_out) or "no column"),
    )
    yield title("The table")
    yield figures(
        ("records", f"{found.records:,}"),
        *([("people", f"{found.people:,}")] if found.people is not None else []),
        *([("suppressed rows, not counted", f"{found.suppressed:,}")] if found.suppressed else []),
        ("groups", f"{found.groups:,}"),
        ("k, the smallest group", "no records" if found.k is None else f"{found.k:,}"),
        ("largest group", f"{found.largest:,}"),
        (
            "uniques, alone in their group",
            f"{found.uniques:,} ({percent(found.sample_uniqueness)})",
        ),
    )
    yield title("Risk of being recognised")
    kinds = {
        "prosecutor": found.prosecutor,
        **({"journalist": found.journalist} if found.journalist else {}),
    }
    yield listing(
        ["", *kinds],
        ["highest", *(percent(risk.highest) for risk in kinds.values())],
        [f"average over {whose}", *(percent(risk.average) for risk in kinds.values())],
        ["average over groups", *(percent(risk.average_of_groups) for risk in kinds.values())],
        [
            f"{whose} at risk above {percent(found.threshold)}",
            *(f"{risk.records_at_risk:,} ({percent(risk.at_risk)})" for risk in kinds.values()),
        ],
        ["marketer", percent(found.marketer)],
    )
    if found.households is not None:
        yield title("Somebody of a household is recognised")
        yield figures(
            ("households", f"{found.households.number:,}"),
            ("highest risk", percent(found.households.highest)),
            ("average over households", percent(found.households.average)),
            ("average over people", percent(found.households.average_of_people)),
            (
                f"households at risk above {percent(found.threshold)}",
                f"{found.households.households_at_risk:,} ({percent(found.households.at_risk)})",
            ),
        )
    if found.outside:
        outside = many(found.outside, "record" if found.person is None else "person")
        yield (
            f"\n{outside} in groups larger than the population's: it cannot be where they come from"
        )
    if found.sensitive:
        yield title("What a group gives away")
        ordered = any(
            diversity.closeness_ordered is not None for diversity in found.sensitive.values()
        )
        yield listing(
            [
                "",
                "distinct l",
                "entropy l",
                "c at l = 2",
                "t",
                *(["ordered t"] if ordered else []),
                "beta",
                "delta",
            ],
            *(
                [
                    name,
                    f"{diversity.distinct:,}",
                    *(
                        "none"
                        if figure is None
                        else f"{figure:,.0f}"
                        if 1000 <= figure < inf
                        else f"{figure:.3g}"
                        for figure in (
                            diversity.entropy,
                            diversity.recursive,
                            diversity.closeness,
                            *([diversity.closeness_ordered] if ordered else []),
                            diversity.likeness,
                            diversity.disclosure,
                        )
                    ),
                ]
                for name, diversity in found.sensitive.items()
            ),
        )
    if found.column_risks:
        yield title("Share of each column in the average risk")
        yield listing(
            ["", "values", "share", "alone", "all others"],
            *(
                [r.column, f"{r.values:,}", percent(r.share), percent(r.alone), percent(r.without)]
                for r in found.column_risks
            ),
        )
    if found.identifying_sets is not None:
        yield title("Smallest sets of columns that single people out")
        yield listing(
            ["", "uniques", "share"],
            *(
                [", ".join(one.columns), f"{one.uniques:,}", percent(one.share)]
                for one in found.identifying_sets[:10]
            ),
        )
        if len(found.identifying_sets) > 10:
            yield f"and {len(found.identifying_sets) - 10} more; --json lists them all"
    if found.population_uniqueness is not None:
        people = found.population_uniqueness
        yield title(f"Estimated uniques in the population of {people.population:,}")
        yield figures(
            *(
                (
                    name + (" (chosen)" if name == people.model else ""),
                    "does not fit" if share is None else percent(share),
                )
                for name, share in (
                    ("pitman", people.pitman),
                    ("zayatz", people.zayatz),
                    ("snb", people.snb),
                )
            )
        )
