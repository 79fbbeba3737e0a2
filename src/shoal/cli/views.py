"""`shoal views check`: what several releases of one table reveal together.

And what the other commands of `shoal views` share: what they are about, and how results are shown.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import figures, listing, percent, print_json, remark, show, title, working
from shoal.errors import ParameterError, plural
from shoal.zones import NOT_FOR_RELEASE, NOTICE

if TYPE_CHECKING:
    from shoal.exact.numbers import Exact
    from shoal.ledger import Ledger
    from shoal.views import Checked, ExposedPerson, Gathered

__all__ = [
    "LONG",
    "VERDICTS",
    "File",
    "Gamma",
    "Listed",
    "Scope",
    "app",
    "share_text",
    "surest",
    "tables_text",
    "value_text",
]

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Check what several releases of one table reveal together.",
)

File = Annotated[
    Path,
    typer.Argument(
        metavar="VIEWS", help="A TOML file: the people, and what was shown.", show_default=False
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Use this γ instead of the one that is set, such as 1/2 or 50%.",
        show_default=False,
    ),
]
Listed = Annotated[
    int,
    typer.Option(
        "--most", metavar="N", min=0, help="How many people are listed; --json lists all."
    ),
]

VERDICTS = {True: "every limit holds", False: "somebody is exposed", None: "not decided"}

_HOW = {
    "exact": "counted, exactly",
    "enclosed": "counted, with roundings accounted for",
    "sampling": "from possible tables drawn uniformly",
    "importance": "from possible tables drawn and weighed",
    "bounded": "in part only by bounds of single views",
}
_LONGEST = 30  # digits of a number that are shown
_WIDE = 9  # characters of a fraction in a table that is not rounded

LONG = 40
"""Characters of a fraction in JSON that is not rounded."""


@dataclass(frozen=True)
class Scope(options.Counting):
    """What is checked: views of a file or a release, with all that a ledger knows, and γ."""

    views: Annotated[
        Path,
        typer.Argument(
            metavar="VIEWS",
            help="A TOML file: the people, and what was shown; or a release, with --with.",
            show_default=False,
        ),
    ]
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="LEDGER",
            help="Count all that this ledger knows, too.",
            show_default=False,
        ),
    ] = None
    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE",
            help="With a release: the recipe of its table; by default, the ledger's last.",
            show_default=False,
        ),
    ] = None
    sensitive: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Which column, if there are several; by default, that of \\[sensitive].",
            show_default=False,
        ),
    ] = None
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With a release: the column that names people; by default, rows are numbered.",
            show_default=False,
        ),
    ] = None
    gamma: Gamma = None

    def gathered(self) -> "Gathered":
        """The views, by the library."""
        from shoal.cli.ledger import opened
        from shoal.views import gather

        ledger = None if self.ledger is None else opened(self.ledger)
        if self.views.is_dir():
            gathered = self._of_release(ledger)
        else:
            of_release = ["recipe", "person", *(own.name for own in fields(options.Counting))]
            for option in of_release:
                if getattr(self, option) is not None:
                    raise ParameterError(
                        f"belongs to the directory of a release, and {self.views} is not one",
                        "leave it out",
                        option=option,
                    )
            with options.keys_of(self.views):
                gathered = gather(self.views)
            if ledger is not None:
                gathered = gathered.with_ledger(ledger, self.sensitive)
        if self.gamma is not None:
            gathered = gathered.within(options.share(self.gamma, "--gamma"))
        return gathered

    def _of_release(self, ledger: "Ledger | None") -> "Gathered":
        from shoal.releases.release import Release
        from shoal.views import gather_release

        if ledger is None:
            raise ParameterError(
                f"{self.views} is a directory", "give the ledger of its other releases by --with"
            )
        file = self.recipe or ledger.recipe_file
        if file is None:
            raise ParameterError(
                "the table of the release is not known", "give the recipe that reads it by --recipe"
            )
        with options.keys_of(file):
            chosen = self.load(file)
            table = chosen.table()
        return gather_release(
            Release.read(self.views),
            table,
            ledger,
            column=self.sensitive,
            person=self.person,
            others=chosen.others,
        )


@dataclass(frozen=True)
class Precision:
    """By which method views are checked, and within what limits."""

    how: Annotated[
        Literal["exact", "enclosed", "sampling", "importance"] | None,
        typer.Option(
            help="By default, the most precise method that is feasible.", show_default=False
        ),
    ] = None
    confidence: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="The confidence of all bounds together, where tables are drawn."
        ),
    ] = "0.99"
    tries: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many tables are drawn, where they are.")
    ] = 10_000
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of these draws.")] = 0
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Steps of counting before tables are drawn instead.",
            show_default=False,
        ),
    ] = None


@app.callback()
def views() -> None:
    """Check what several releases of one table reveal together."""


@app.command(cls=options.Command)
@bundled
def check(
    scope: Scope, precision: Precision, listed: Listed = 20, json: options.Json = False
) -> None:
    """How sure can anybody who has seen all views become of a value?

    All tables that could have shown the views are considered equally likely. Exit code 1: somebody
    is exposed, or may be. The answer names people and is owner only. With --with: would one more
    release keep γ with all that the ledger knows?
    """
    from shoal.views import check as check_together

    if scope.ledger is None and scope.sensitive is not None:
        raise ParameterError(
            "belongs to --with: it names the column of the ledger that is checked",
            "leave it out",
            option="sensitive",
        )
    with working(f"reading {scope.views.name}"):
        gathered = scope.gathered()
    with working("checking"):
        checked = check_together(
            gathered.views,
            how=precision.how,
            confidence=options.share(precision.confidence, "--confidence"),
            tries=precision.tries,
            seed=precision.seed,
            steps=precision.steps,
        )
        # Which views expose somebody is searched here, and may take a while.
        exposed = [_exposed_json(one) for one in checked.exposed]
        undecided = [_exposed_json(one) for one in checked.undecided]
    if json:
        content = {**NOT_FOR_RELEASE, **_json(checked)}
        print_json({**content, "exposed": exposed, "undecided": undecided})
    else:
        _show(checked, listed)
    if checked.private is not True:
        raise typer.Exit(1)


# As JSON


def _json(checked: "Checked") -> dict[str, Any]:
    views = checked.views
    return {
        "tables": checked.tables_text,
        "private": checked.private,
        "gamma": str(views.gamma),
        "limits": {value_text(value): str(limit) for value, limit in views.limits.items()},
        "largest": share_text(checked.largest, LONG),
        "method": checked.how,
        "confidence": None if checked.confidence is None else float(checked.confidence),
        "effective_samples": checked.effective,
        "people": len(views.people),
        "views": len(views.views),
        "components": checked.components,
        "notes": list(views.notes),
    }


def _exposed_json(one: "ExposedPerson") -> dict[str, Any]:
    content: dict[str, Any] = {
        "person": one.name,
        "value": value_text(one.value),
        "limit": str(one.limit),
        "views": list(one.views),
    }
    if _by_others_too(one):
        content["alone"] = False
    if one.exact:
        return {**content, "probability": str(one.probability)}
    bounds = {"low": float(one.low), "high": float(one.high)}
    return {**content, "probability": float(one.probability), **bounds}


# As tables


def _show(checked: "Checked", listed: int) -> None:
    views = checked.views
    how = _HOW[checked.how]
    if checked.confidence is not None:
        how += f"; bounds hold with {percent(float(checked.confidence))}"
    size = f"{len(views.people):,}, {len(views.views):,}"
    rows = [
        ("verdict", VERDICTS[checked.private]),
        ("possible tables", tables_text(checked)),
        ("highest probability", surest(checked)),
        ("allowed", ", ".join([share_text(views.gamma), *_limits(checked)])),
        ("people, views", f"{size} in {plural(checked.components, 'component')}"),
        ("how", how),
    ]
    if checked.effective is not None:
        rows.append(("worth uniform samples", f"{checked.effective:,.0f}"))
    show(NOTICE, "", figures(*rows))
    for heading, people in (("Exposed", checked.exposed), ("Not decided", checked.undecided)):
        if people:
            header = ("person", "value", "probability", "allowed", "by")
            show(title(heading), listing(header, *map(_row, people[:listed])))
        if len(people) > listed:
            show(f"and {len(people) - listed:,} more; --json has all")
    for note in views.notes:
        remark(f"note: {note}")
    show("", NOTICE)


def _limits(checked: "Checked") -> list[str]:
    return [
        f"{value_text(value) or 'missing'} {share_text(limit)}"
        for value, limit in checked.views.limits.items()
    ]


def _row(one: "ExposedPerson") -> tuple[str, ...]:
    share = share_text(one.probability)
    if not one.exact:
        share = f"{_decimal(one.low, 4, up=False)} to {_decimal(one.high, 4, up=True)}"
    by = ", ".join(one.views)
    if _by_others_too(one):
        by += " and others"
    return one.name, value_text(one.value) or "missing", share, share_text(one.limit), by


def _by_others_too(one: "ExposedPerson") -> bool:
    """Whether somebody is exposed by more views than are listed."""
    return one.low > one.limit and not one.alone


def value_text(value: object) -> str | None:
    """A sensitive value as text."""
    return None if value is None else str(value)


def tables_text(checked: "Checked") -> str:
    """The number of possible tables, where it is very long by its first digits."""
    text = checked.tables_text
    if checked.tables is None or len(text) <= _LONGEST:
        return text
    return f"{text[0]}.{text[1:4]}…e{len(text) - 1}"


def surest(checked: "Checked") -> str:
    """The largest probability that anybody has a value; a bound where it is not exact."""
    bound = "" if checked.how == "exact" else "at most "
    return bound + share_text(checked.largest)


def share_text(share: "Exact", longest: int = _WIDE) -> str:
    """A fraction where it is short, else a decimal that is rounded up."""
    text = str(share)
    return text if len(text) <= longest else _decimal(Fraction(share), 6, up=True)


def _decimal(share: Fraction, digits: int, up: bool) -> str:
    scaled = ceil(share * 10**digits) if up else floor(share * 10**digits)
    return f"{scaled / 10**digits:.{digits}f}"
