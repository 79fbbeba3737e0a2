"""`shoal assess`: how easily people in a table can be recognised, and whether that is within limits."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, percent, print_json, show, title, working
from shoal.errors import ParameterError, listed, plural

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

    Looks at the columns named, as they are, and says which it left out. With limits it is a gate for pipelines.
    """
    from shoal.exact.numbers import fraction as exact
    from shoal.exact.numbers import whole
    from shoal.measure.risk import assess as assess_table

    limits = _Limits(
        k=None if min_k is None else whole(min_k, "--min-k"),
        risk=None if max_risk is None else options.share(max_risk, "--max-risk"),
        at_risk=None if max_at_risk is None else _Amount.read(max_at_risk, "--max-at-risk"),
        uniques=None if max_uniques is None else _Amount.read(max_uniques, "--max-uniques"),
        l=None if min_l is None else whole(min_l, "--min-l"),
        t=None if max_t is None else exact(max_t, "--max-t", 0, 1),
    )
    for option, given in (("--min-l", min_l), ("--max-t", max_t)):
        if given is not None and not options.names(sensitive):
            raise ParameterError(f"{option} is about sensitive columns; name them with --sensitive")
    share = None if fraction is None else options.share(fraction, "--fraction")
    above = options.share(threshold, "--threshold")
    if limits.at_risk is not None and above == 1:
        raise ParameterError(
            "--max-at-risk can never be violated with --threshold 1: no risk is above 1; lower the threshold"
        )
    if idle := limits.idle():
        raise ParameterError(
            f"{idle[0]} can never be violated: it holds for every table; give a stricter limit, or none"
        )
    with working(f"reading {file.name}"):
        table = options.read(
            file,
            separator,
            encoding,
            missing,
            types,
            quote=quote,
            quasi=quasi,
            sensitive=sensitive,
            identifying=identifying,
        )
        people = (
            None
            if population is None
            else options.read(population, separator, encoding, missing, types, quote=quote)
        )
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
    if found.repeated:
        complain(f"note: {_repeats(found)}; these figures are of rows. {_FIX}")
    violated = list(limits.violated(found))
    if json:
        print_json({**found.to_dict(), "violated": violated})
    else:
        show(*_pages(found))
        if details and share is None:
            show(
                "\nHow many are unique in the population: give --fraction, the share of it that the table holds"
            )
    for line in violated:
        complain(f"violated: {line}")
    if violated:
        raise typer.Exit(1)


_FIX = (
    "Name the column that tells people apart with --person, or give --rows-are-people if every row is a different "
    "person"
)


def _repeats(found: "Assessment") -> str:
    return f"people seem to be in several rows, by {listed(found.repeated)}"


@dataclass(frozen=True)
class _Amount:
    """A number of records, or a share of them."""

    text: str
    amount: Fraction
    is_share: bool

    @classmethod
    def read(cls, text: str, option: str) -> "_Amount":
        """10 is a number of records; 0.01, 1/100 and 1% are the same share."""
        from shoal.exact.numbers import fraction as exact

        if text.isdecimal():
            return cls(text, exact(text, option), False)
        return cls(text, options.share(text, option), True)

    @property
    def is_all(self) -> bool:
        return self.is_share and self.amount == 1

    def below(self, number: int, records: int) -> bool:
        return number > (self.amount * records if self.is_share else self.amount)


@dataclass(frozen=True)
class _Limits:
    """The limits given; a table that cannot be judged by them violates all of them."""

    k: int | None
    risk: Fraction | None
    at_risk: _Amount | None
    uniques: _Amount | None
    l: int | None  # noqa: E741  the letter the model is named after
    t: Fraction | None

    def idle(self) -> list[str]:
        """Those that no table violates: whoever gives one believes that something is checked."""
        idle = {
            "--min-k 1": self.k == 1,
            "--max-risk 1": self.risk == 1,
            "--max-at-risk 100%": self.at_risk is not None and self.at_risk.is_all,
            "--max-uniques 100%": self.uniques is not None and self.uniques.is_all,
            "--min-l 1": self.l == 1,
            "--max-t 1": self.t == 1,
        }
        return [limit for limit, is_idle in idle.items() if is_idle]

    def given(self) -> list[str]:
        """The options of those that are given."""
        options = {
            "--min-k": self.k,
            "--max-risk": self.risk,
            "--max-at-risk": self.at_risk,
            "--max-uniques": self.uniques,
            "--min-l": self.l,
            "--max-t": self.t,
        }
        return [option for option, limit in options.items() if limit is not None]

    def violated(self, found: "Assessment") -> Iterator[str]:
        """Which are violated, and by how much; all of them where there is nothing to judge, or rows are not people."""
        if found.k is None:
            without = "every row is suppressed" if found.rows else "the table has no rows"
            yield from (f"{option}: nothing to judge: {without}" for option in self.given())
            return
        if found.repeated:
            yield from (
                f"{option}: rows are not people: {_repeats(found)}. {_FIX}"
                for option in self.given()
            )
            return
        who, number = ("record", found.records)
        if found.person is not None and found.people is not None:
            who, number = "person", found.people
        if self.k is not None and found.k < self.k:
            yield f"--min-k {self.k}: the smallest group has {_many(found.k, who)}"
        if self.risk is not None and self.risk * found.k < 1:  # exact, where 1/k as a float is not
            yield f"--max-risk {float(self.risk):g}: the highest risk is {found.prosecutor.highest:.4g}"
        if self.at_risk is not None and self.at_risk.below(
            found.prosecutor.records_at_risk, number
        ):
            yield (
                f"--max-at-risk {self.at_risk.text}: {_many(found.prosecutor.records_at_risk, who)} "
                f"({percent(found.prosecutor.at_risk)}) are at risk above {found.threshold:g}"
            )
        if self.uniques is not None and self.uniques.below(found.uniques, number):
            yield (
                f"--max-uniques {self.uniques.text}: {_many(found.uniques, who)} "
                f"({percent(found.sample_uniqueness)}) are alone in their group"
            )
        for name, diversity in found.sensitive.items():
            if self.l is not None and diversity.distinct < self.l:
                yield f"--min-l {self.l}: a group has {plural(diversity.distinct, 'distinct value')} of {name!r}"
            # Closeness is the float nearest to the exact distance, so it is compared with the float nearest to t.
            if self.t is not None and diversity.closeness > float(self.t):
                yield f"--max-t {float(self.t):g}: a group is {diversity.closeness:.4g} away from the table in {name!r}"


def _many(number: int, who: str) -> str:
    return f"{number:,} people" if who == "person" and number != 1 else plural(number, who)


def _pages(found: "Assessment") -> "Iterator[RenderableType]":
    """The assessment as tables."""
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
        outside = _many(found.outside, "record" if found.person is None else "person")
        yield f"\n{outside} in groups larger than the population's: it cannot be where they come from"
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
