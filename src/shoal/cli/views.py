"""`shoal views`: what several releases of one table tell together."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, percent, print_json, show, title, working
from shoal.errors import ParameterError, plural

if TYPE_CHECKING:
    from shoal.views import Checked, Exposed, Views

__all__ = ["app"]

app = typer.Typer(cls=options.Group, no_args_is_help=True, help="Check what several releases of one table tell together.")

New = Annotated[
    Path,
    typer.Argument(
        metavar="VIEWS", help="A TOML file: who there is, and what was shown; or a release, with --with.", show_default=False
    ),
]
With = Annotated[
    Path | None,
    typer.Option("--with", metavar="LEDGER", help="And all that this ledger knows was shown.", show_default=False),
]
Recipe = Annotated[
    Path | None,
    typer.Option(metavar="RECIPE", help="Of the table that a release is of; else the ledger's last.", show_default=False),
]
Sensitive = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The one that is checked, where there are several.", show_default=False)
]
Person = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Names people of the table; else rows are numbered.", show_default=False)
]
File = Annotated[Path, typer.Argument(metavar="VIEWS", help="A TOML file: who there is, and what was shown.", show_default=False)]
Gamma = Annotated[str | None, typer.Option(metavar="SHARE", help="In place of the file's, as 1/2 or 50%.", show_default=False)]
How = Annotated[
    Literal["exact", "enclosed", "sampling", "importance"] | None,
    typer.Option(help="By itself the surest that can be done.", show_default=False),
]
Confidence = Annotated[str, typer.Option(metavar="SHARE", help="Of all bounds together, where tables are drawn.")]
Tries = Annotated[int, typer.Option(metavar="N", min=1, help="How many tables are drawn, where they are.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Of these draws.")]
_HOW = {
    "exact": "counted, exactly",
    "enclosed": "counted, with roundings accounted for",
    "sampling": "from possible tables drawn uniformly",
    "importance": "from possible tables drawn and weighed",
    "bounded": "in part only by bounds of single views",
}
_LONGEST = 30  # digits of a number that are shown


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
    most: Annotated[int, typer.Option(metavar="N", min=0, help="How many exposed people are listed; --json has all.")] = 20,
    json: options.Json = False,
) -> None:
    """How sure can anybody become of a value, who has seen all views?

    All tables that could have shown the views count as equally likely. Exit code 1: somebody is exposed, or may be. The answer
    names people and is for the owner alone. With --with: would one more release keep γ with all that the ledger knows?
    """
    from shoal import views as room
    from shoal.judgement import NOTICE

    with working(f"reading {views.name}"):
        given = gathered(views, ledger, recipe, sensitive, person)
    if gamma is not None:
        given = given.within(options.share(gamma, "--gamma"))
    with working("checking"):
        found = room.check(given, how=how, confidence=options.share(confidence, "--confidence"), tries=tries, seed=seed)
        told = [_told(one) for one in found.exposed]
        open_ = [_told(one) for one in found.undecided]
    if json:
        print_json({"not_for_release": True, "notice": NOTICE, **_figures(found), "exposed": told, "undecided": open_})
    else:
        _show(found, NOTICE, most)
    if found.private is not True:
        raise typer.Exit(1)


def gathered(views: Path, ledger: Path | None, recipe: Path | None, sensitive: str | None, person: str | None) -> "Views":
    """The views of a file, or of a release of the table of a recipe; with what a ledger knows."""
    from shoal import views as room
    from shoal.ledger import Ledger
    from shoal.recipe import Recipe
    from shoal.release import Release
    from shoal.views.sources import opened

    book = None if ledger is None else Ledger(ledger)
    if not views.is_dir():
        if book is None:
            return room.load(views)
        given, register, column = opened(views)
        return book.together_with(given, register, sensitive or column)
    if book is None:
        raise ParameterError(f"{views} is a directory: give the ledger that knows of other releases by --with")
    chosen = recipe or book.recipe_file
    if chosen is None:
        raise ParameterError("say whose table it is, by --recipe: who is in a release is told by the table it is of")
    made = Recipe.load(chosen)
    return book.together(Release.read(views), made.table(), sensitive, person=person, others=made.others)


def _figures(found: "Checked") -> dict[str, Any]:
    return {
        "tables": found.tables_text,
        "private": found.private,
        "gamma": str(found.views.gamma),
        "limits": {_value(value): str(limit) for value, limit in found.views.limits.items()},
        "largest": str(found.largest),
        "method": found.how,
        "confidence": None if found.confidence is None else float(found.confidence),
        "effective_samples": found.effective,
        "people": len(found.views.names),
        "views": len(found.views.shown),
        "components": found.components,
        "notes": list(found.views.notes),
    }


def _told(one: "Exposed") -> dict[str, Any]:
    told = {"person": one.name, "value": _value(one.value), "limit": str(one.limit), "views": list(one.views)}
    if one.exact:
        return {**told, "probability": str(one.probability)}
    return {**told, "probability": float(one.probability), "low": float(one.low), "high": float(one.high)}


def _value(value: object) -> str | None:
    return None if value is None else str(value)


def _show(found: "Checked", notice: str, most: int) -> None:
    tables = found.tables_text
    if found.tables is not None and len(tables) > _LONGEST:
        tables = f"{tables[0]}.{tables[1:4]}…e{len(tables) - 1}"
    verdict = {True: "every limit holds", False: "somebody is exposed", None: "not decided"}[found.private]
    show(
        notice,
        "",
        figures(
            ("verdict", verdict),
            ("possible tables", tables),
            ("the surest one can be", _share(found.largest)),
            ("allowed", ", ".join([_share(Fraction(found.views.gamma)), *_limits(found)])),
            (
                "people, views",
                f"{len(found.views.names):,}, {len(found.views.shown):,} in {plural(found.components, 'component')}",
            ),
            (
                "how",
                _HOW[found.how] + ("" if found.confidence is None else f"; bounds hold with {percent(float(found.confidence))}"),
            ),
            *([("worth uniform samples", f"{found.effective:,.0f}")] if found.effective is not None else []),
        ),
    )
    for heading, some in (("Exposed", found.exposed), ("Not decided", found.undecided)):
        if some:
            show(title(heading), listing(("person", "value", "probability", "allowed", "by"), *map(_row, some[:most])))
            if len(some) > most:
                show(f"and {len(some) - most:,} more; --json has all")
    for note in found.views.notes:
        complain(f"note: {note}")
    show("", notice)


def _limits(found: "Checked") -> list[str]:
    return [f"{_value(value) or 'missing'} {_share(Fraction(limit))}" for value, limit in found.views.limits.items()]


def _row(one: "Exposed") -> tuple[str, ...]:
    share = _share(one.probability) if one.exact else f"{float(one.low):.4f} to {float(one.high):.4f}"
    return one.name, _value(one.value) or "missing", share, _share(one.limit), ", ".join(one.views)


def _share(share: Fraction) -> str:
    """A fraction where it is short, else a decimal."""
    text = str(share)
    return text if len(text) <= 9 else f"{float(share):.6f}"
