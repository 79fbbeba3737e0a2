"""`shoal views`: what several releases of one table tell together."""

import os
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, percent, print_json, show, title, working
from shoal.data.disk import same
from shoal.errors import FileError, ParameterError, plural

if TYPE_CHECKING:
    from shoal.exact.numbers import Exact
    from shoal.views import Checked, Exposed, Register, Views

__all__ = ["app", "gathered", "share_text", "surest", "tables_text", "writable"]

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Check what several releases of one table tell together.",
)

New = Annotated[
    Path,
    typer.Argument(
        metavar="VIEWS",
        help="A TOML file: who there is, and what was shown; or a release, with --with.",
        show_default=False,
    ),
]
With = Annotated[
    Path | None,
    typer.Option(
        "--with", metavar="LEDGER", help="And all that this ledger knows.", show_default=False
    ),
]
Recipe = Annotated[
    Path | None,
    typer.Option(
        metavar="RECIPE",
        help="With a release: of its table; else the ledger's last.",
        show_default=False,
    ),
]
Sensitive = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="With --with: which, where there are several.", show_default=False
    ),
]
Person = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With a release: names people; else rows are numbered.",
        show_default=False,
    ),
]
File = Annotated[
    Path,
    typer.Argument(
        metavar="VIEWS", help="A TOML file: who there is, and what was shown.", show_default=False
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE", help="In place of what is set, as 1/2 or 50%.", show_default=False
    ),
]
How = Annotated[
    Literal["exact", "enclosed", "sampling", "importance"] | None,
    typer.Option(help="By itself the surest that can be done.", show_default=False),
]
Confidence = Annotated[
    str, typer.Option(metavar="SHARE", help="Of all bounds together, where tables are drawn.")
]
Tries = Annotated[
    int, typer.Option(metavar="N", min=1, help="How many tables are drawn, where they are.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Of these draws.")]
Most = Annotated[
    int, typer.Option(metavar="N", min=0, help="How many people are listed; --json has all.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over files that are there.")]
_HOW = {
    "exact": "counted, exactly",
    "enclosed": "counted, with roundings accounted for",
    "sampling": "from possible tables drawn uniformly",
    "importance": "from possible tables drawn and weighed",
    "bounded": "in part only by bounds of single views",
}
_LONGEST = 30  # digits of a number that are shown
_WIDE, LONG = 9, 40  # characters of a fraction that is not rounded: in a table, and in JSON


@app.callback()
def views() -> None:
    """Check what several releases of one table tell together."""


@app.command(cls=options.Command)
def check(
    views: New,
    ledger: With = None,
    recipe: Recipe = None,
    sensitive: Sensitive = None,
    person: Person = None,
    gamma: Gamma = None,
    how: How = None,
    confidence: Confidence = "0.99",
    tries: Tries = 10_000,
    seed: Seed = 0,
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Of counting, before tables are drawn.", show_default=False
        ),
    ] = None,
    most: Most = 20,
    json: options.Json = False,
) -> None:
    """How sure can anybody become of a value, who has seen all views?

    All tables that could have shown the views count as equally likely. Exit code 1: somebody is exposed, or may be. The answer
    names people and is for the owner alone. With --with: would one more release keep γ with all that the ledger knows?
    """
    from shoal import views as room
    from shoal.measure.judging import NOTICE

    if ledger is None and sensitive is not None:
        raise ParameterError(
            "--sensitive belongs to --with: it says which column of the ledger is checked; leave it out"
        )
    with working(f"reading {views.name}"):
        given, _, _ = gathered(views, ledger, recipe, sensitive, person, gamma)
    sure = options.share(confidence, "--confidence")
    with working("checking"):
        found = room.check(given, how=how, confidence=sure, tries=tries, seed=seed, most=steps)
        told = [_told(one) for one in found.exposed]
        open_ = [_told(one) for one in found.undecided]
    if json:
        print_json(
            {
                "not_for_release": True,
                "notice": NOTICE,
                **_figures(found),
                "exposed": told,
                "undecided": open_,
            }
        )
    else:
        _show(found, NOTICE, most)
    if found.private is not True:
        raise typer.Exit(1)


def gathered(
    views: Path,
    ledger: Path | None,
    recipe: Path | None,
    sensitive: str | None,
    person: str | None,
    gamma: str | None,
) -> "tuple[Views, Register, str | None]":
    """The views of a file, or of a release of the table of a recipe, with what a ledger knows; the register, and the column."""
    from shoal.cli.ledger import opened as opened_ledger
    from shoal.data.sources import Memory
    from shoal.data.tables import Table
    from shoal.recipe import Recipe
    from shoal.releases.release import Release
    from shoal.views.sources import Register, opened

    book = None if ledger is None else opened_ledger(ledger)
    if not views.is_dir():
        for option, given in (("--recipe", recipe), ("--person", person)):
            if given is not None:
                raise ParameterError(
                    f"{option} belongs to the directory of a release, and {views} is none; leave it out"
                )
        with options.keys_of(views):
            found, register, column = opened(views)
        column = sensitive or column
        if book is not None:
            found = book.together_with(found, register, column)
    else:
        if book is None:
            raise ParameterError(
                f"{views} is a directory: give the ledger that knows of other releases by --with"
            )
        chosen = recipe or book.recipe_file
        if chosen is None:
            raise ParameterError(
                "say whose table it is, by --recipe: who is in a release is told by the table it is of"
            )
        with options.keys_of(chosen):
            made = Recipe.load(chosen)
            table = made.table()
        release = Release.read(views)
        found = book.together(release, table, sensitive, person=person, others=made.others)
        column = sensitive or next(
            str(one["name"]) for one in release.certificate.columns if one["role"] == "sensitive"
        )
        public = dict.fromkeys([*table.quasi, *([person] if person else [])])
        kinds = {name: table.kind(name) for name in public}
        register = Register(
            Table(Memory(table.frame.select(*public)), types=kinds, missing=table.missing),
            person,
            table.kind(column),
        )
    return (
        found if gamma is None else found.within(options.share(gamma, "--gamma")),
        register,
        column,
    )


def writable(path: Path, option: str, force: bool, *read: Path | None) -> None:
    """FileError if a file that is to be written is there, unless that is wanted; what the command reads is never written over."""
    if not os.path.lexists(path):
        return
    if any(one is not None and same(path, one) for one in read):
        raise FileError(f"{path} is what the command reads; give {option} another name")
    if not force:
        raise FileError(
            f"{path} is there already; give {option} another name, or --force to write over it"
        )


def _figures(found: "Checked") -> dict[str, Any]:
    return {
        "tables": found.tables_text,
        "private": found.private,
        "gamma": str(found.views.gamma),
        "limits": {_value(value): str(limit) for value, limit in found.views.limits.items()},
        "largest": share_text(found.largest, LONG),
        "method": found.how,
        "confidence": None if found.confidence is None else float(found.confidence),
        "effective_samples": found.effective,
        "people": len(found.views.names),
        "views": len(found.views.shown),
        "components": found.components,
        "notes": list(found.views.notes),
    }


def _told(one: "Exposed") -> dict[str, Any]:
    told: dict[str, Any] = {
        "person": one.name,
        "value": _value(one.value),
        "limit": str(one.limit),
        "views": list(one.views),
    }
    if _besides(one):
        told["alone"] = False
    if one.exact:
        return {**told, "probability": str(one.probability)}
    return {
        **told,
        "probability": float(one.probability),
        "low": float(one.low),
        "high": float(one.high),
    }


def _value(value: object) -> str | None:
    return None if value is None else str(value)


def _show(found: "Checked", notice: str, most: int) -> None:
    verdict = {True: "every limit holds", False: "somebody is exposed", None: "not decided"}[
        found.private
    ]
    show(
        notice,
        "",
        figures(
            ("verdict", verdict),
            ("possible tables", tables_text(found)),
            ("the surest one can be", surest(found)),
            ("allowed", ", ".join([share_text(found.views.gamma), *_limits(found)])),
            (
                "people, views",
                f"{len(found.views.names):,}, {len(found.views.shown):,} in {plural(found.components, 'component')}",
            ),
            (
                "how",
                _HOW[found.how]
                + (
                    ""
                    if found.confidence is None
                    else f"; bounds hold with {percent(float(found.confidence))}"
                ),
            ),
            *(
                [("worth uniform samples", f"{found.effective:,.0f}")]
                if found.effective is not None
                else []
            ),
        ),
    )
    for heading, some in (("Exposed", found.exposed), ("Not decided", found.undecided)):
        if some:
            show(
                title(heading),
                listing(
                    ("person", "value", "probability", "allowed", "by"), *map(_row, some[:most])
                ),
            )
            if len(some) > most:
                show(f"and {len(some) - most:,} more; --json has all")
    for note in found.views.notes:
        complain(f"note: {note}")
    show("", notice)


def _limits(found: "Checked") -> list[str]:
    return [
        f"{_value(value) or 'missing'} {share_text(limit)}"
        for value, limit in found.views.limits.items()
    ]


def _row(one: "Exposed") -> tuple[str, ...]:
    low, high = (_decimal(share, 4, up) for share, up in ((one.low, False), (one.high, True)))
    share = share_text(one.probability) if one.exact else f"{low} to {high}"
    by = ", ".join(one.views) + (" and others" if _besides(one) else "")
    return one.name, _value(one.value) or "missing", share, share_text(one.limit), by


def _besides(one: "Exposed") -> bool:
    """Whether somebody is exposed by more views than are told."""
    return one.low > one.limit and not one.alone


def tables_text(found: "Checked") -> str:
    """The number of possible tables, where it is very long by its first digits."""
    text = found.tables_text
    return (
        text
        if found.tables is None or len(text) <= _LONGEST
        else f"{text[0]}.{text[1:4]}…e{len(text) - 1}"
    )


def surest(found: "Checked") -> str:
    """The largest probability that anybody has a value; a bound where it was not counted exactly."""
    return ("" if found.how == "exact" else "at most ") + share_text(found.largest)


def share_text(share: "Exact", longest: int = _WIDE) -> str:
    """A fraction where it is short, else a decimal that is rounded up."""
    text = str(share)
    return text if len(text) <= longest else _decimal(Fraction(share), 6, up=True)


def _decimal(share: Fraction, digits: int, up: bool) -> str:
    scaled = ceil(share * 10**digits) if up else floor(share * 10**digits)
    return f"{scaled / 10**digits:.{digits}f}"
