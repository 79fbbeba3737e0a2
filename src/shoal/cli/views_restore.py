"""`shoal views restore`: views in addition, with which nobody is exposed any more; and `shoal views` with all its commands."""

import json as text
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, print_json, show, title, working
from shoal.cli.views import (
    LONG,
    Force,
    Gamma,
    Most,
    New,
    Person,
    Recipe,
    With,
    app,
    gathered,
    share_text,
    surest,
    tables_text,
    writable,
)
from shoal.errors import ParameterError, plural

if TYPE_CHECKING:
    from shoal.views import Candidate, Plan, Restored, Row, View, Views

__all__ = ["app"]


@app.command(cls=options.Command)
def restore(
    views: New,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The table itself, which `unaware` looks at.", show_default=False
        ),
    ] = None,
    ledger: With = None,
    recipe: Recipe = None,
    sensitive: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Of the table; else that of \\[sensitive].", show_default=False
        ),
    ] = None,
    person: Person = None,
    gamma: Gamma = None,
    adversary: Annotated[
        Literal["unaware", "aware"], typer.Option(help="Who does not, or does, know of restoring.")
    ] = "unaware",
    number: Annotated[
        int, typer.Option("--views", metavar="K", min=1, help="How many views may be added.")
    ] = 2,
    free: Annotated[
        bool, typer.Option("--free", help="Also views that are no part of an earlier one.")
    ] = False,
    conditions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Public columns that a new view may go by.")
    ] = 1,
    effort: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Sets of views to count.", show_default=False),
    ] = None,
    least: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="`aware`: of possible tables it must restore; else any.",
            show_default=False,
        ),
    ] = None,
    ceiling: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="`aware`: how sure one may ever become; else 1.",
            show_default=False,
        ),
    ] = None,
    most: Most = 20,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the new views as TOML.", show_default=False),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw before and after, as HTML, PNG or SVG.", show_default=False
        ),
    ] = None,
    force: Force = False,
    json: options.Json = False,
) -> None:
    """Which views in addition make everybody safe again?

    Against someone who does not know of restoring, views are chosen by the table. Against someone who does, they are chosen by
    what is public, and may fail: the plan says beforehand how often. Without --data only the plan is told. Exit code 1: somebody
    stays exposed. The answer names people and is for the owner alone.
    """
    import shoal
    from shoal import views as room
    from shoal.data.disk import replacing
    from shoal.measure.judging import NOTICE

    if data is None and (adversary == "unaware" or to or chart):
        raise ParameterError(
            "give the table itself by --data; without it there is only a plan, by --adversary aware"
        )
    if adversary == "unaware" and (least is not None or ceiling is not None):
        raise ParameterError(
            f"{'--ceiling' if least is None else '--least'} is about a plan; it belongs to --adversary aware"
        )
    if data is None and ledger is None and sensitive is not None:
        raise ParameterError("--sensitive belongs to --data or --with; leave it out")
    if to is not None:  # before the work is done, not after
        writable(to, "--to", force, views, data, ledger, recipe)
    if chart is not None:
        from shoal.studies import charts

        charts.require(chart)
        writable(chart, "--chart", force, views, data, ledger, recipe)
    with working(f"reading {views.name}"):
        given, register, column = gathered(views, ledger, recipe, sensitive, person, gamma)
        table = None
        if data is not None:
            if column is None:
                raise ParameterError(
                    "say which column of the table is sensitive, by --sensitive or in [sensitive]"
                )
            table = room.truth(register, shoal.read(data), column, complete=given.complete)
    with working("searching"):
        public = room.public(register)
        candidates = room.refinements(given, public, conditions=conditions)
        if free:
            candidates += room.free(given, public, conditions=conditions)
        found, by = None, None
        top = options.share("1" if ceiling is None else ceiling, "--ceiling")
        enough = options.share("0" if least is None else least, "--least")
        if table is None:
            by = room.plan(
                given,
                candidates,
                most=number,
                ceiling=top,
                **({} if effort is None else {"effort": effort}),
            )
        else:
            found = room.restore(
                given,
                table,
                candidates,
                adversary=adversary,
                most=number,
                effort=effort,
                least=enough,
                ceiling=top,
            )
            by = found.plan
    if json:
        print_json(
            {
                "not_for_release": True,
                "notice": NOTICE,
                "adversary": adversary,
                **_told(found, by, candidates),
            }
        )
    else:
        show(NOTICE)
        _show(found, by, candidates, most)
        show("", NOTICE)
    if to is not None and found is not None:
        if found.added:
            with replacing(to) as file:
                file.write(
                    _sections(given, found.added, column if views.is_dir() else None).encode()
                )
        complain(f"wrote {to}" if found.added else f"{to} was not written, as no view was added")
    if chart is not None and found is not None:
        if found.rows:
            found.save(chart)
        complain(
            f"wrote {chart}"
            if found.rows
            else f"{chart} was not written: nobody was exposed, there is nothing to draw"
        )
    if by is not None and by.low < enough and by.candidates:
        complain(f"this plan is not followed, as --least is {enough}")
    if (
        (by is None or by.low == 0 or by.low < enough)
        if found is None
        else found.private is not True
    ):
        raise typer.Exit(1)


def _told(
    found: "Restored | None", by: "Plan | None", candidates: "list[Candidate]"
) -> dict[str, Any]:
    told: dict[str, Any] = {"candidates": len(candidates)}
    if by is not None:
        told["plan"] = {
            "views": [one.name for one in by.candidates],
            "share": str(by.low) if by.confidence is None else float(by.low),
            "share_high": str(by.high) if by.confidence is None else float(by.high),
            "confidence": None if by.confidence is None else float(by.confidence),
            "bound": share_text(by.bound, LONG),
            "worst": share_text(_worst(by), LONG),
            "reasons": [one.reason for one in by.outlooks if one.reason],
        }
    if found is None:
        return told
    return {
        **told,
        "private": found.private,
        "tables_before": found.before.tables_text,
        "tables_after": found.after.tables_text,
        "tried": found.tried,
        "views": [_view(found.before.views.names, view) for view in found.added],
        "people": [
            {
                "person": one.person,
                "value": None if one.value is None else str(one.value),
                "limit": str(one.limit),
                "before": share_text(one.before, LONG),
                "after": share_text(one.after, LONG),
            }
            for one in found.rows
        ],
        "unrestored": [
            {
                "person": one.exposed.name,
                "value": None if one.exposed.value is None else str(one.exposed.value),
                "probability": share_text(one.exposed.probability, LONG),
                "reason": one.reason,
                "proven": one.proven,
            }
            for one in found.unrestored
        ],
    }


def _view(names: Sequence[str], view: "View") -> dict[str, Any]:
    return {
        "name": view.name,
        "people": [names[one] for one in sorted(view.members)],
        "values": {
            "" if value is None else str(value): often
            for value, often in sorted(view.shown.items(), key=str)
        },
    }


def _sections(views: "Views", added: "Sequence[View]", column: str | None) -> str:
    """Views as sections of a TOML file. With a column they are for a recipe: people are rows of the table, whoever names them."""
    names = views.names if column is None else [str(row + 1) for row in range(len(views.names))]
    sections = [] if column is None else [f"[sensitive]\ncolumn = {_quoted(column)}\n"]
    for view in added:
        told = _view(names, view)
        values = ", ".join(f"{_quoted(value)} = {often}" for value, often in told["values"].items())
        people = ", ".join(map(_quoted, told["people"]))
        sections.append(
            f"[[views]]\nname = {_quoted(told['name'])}\npeople = [{people}]\nvalues = {{ {values} }}\n"
        )
    return "\n".join(["", *sections])


def _quoted(name: str) -> str:
    return text.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _show(
    found: "Restored | None", by: "Plan | None", candidates: "list[Candidate]", most: int
) -> None:
    if by is not None:
        _show_plan(by)
    if found is None:
        return
    verdict = {True: "every limit holds", False: "somebody stays exposed", None: "not decided"}[
        found.private
    ]
    before, after = found.before, found.after
    show(
        "",
        figures(
            (
                "verdict",
                verdict
                if before.private is not True
                else "every limit holds already; nothing is to be restored",
            ),
            ("views added", f"{len(found.added)} of {plural(len(candidates), 'candidate')}"),
            ("possible tables", f"{tables_text(before)} before, {tables_text(after)} after"),
            ("the surest one can be", f"{surest(before)} before, {surest(after)} after"),
        ),
    )
    if found.added:
        show(
            title("Added"),
            listing(
                ("view", "people", "values"), *(_row(before.views, view) for view in found.added)
            ),
        )
    if found.rows:
        rows = map(_before_after, found.rows[:most])
        bounds = "" if before.how == after.how == "exact" else ", at most"
        show(
            title(f"Before and after{bounds}"),
            listing(("person", "value", "before", "after", "allowed"), *rows),
        )
        if len(found.rows) > most:
            show(f"and {len(found.rows) - most:,} more; --json has all")
    for reason in dict.fromkeys(one.reason for one in found.unrestored):
        complain(f"not restored: {reason}")


def _show_plan(by: "Plan") -> None:
    share = (
        share_text(by.low)
        if by.confidence is None
        else f"{float(by.low):.3f} to {float(by.high):.3f}"
    )
    if by.candidates:
        told = [
            ("views", ", ".join(one.name for one in by.candidates)),
            ("restored in", f"{share} of the possible tables"),
            ("no procedure in more than", share_text(by.bound)),
            ("the surest one may become", share_text(_worst(by))),
        ]
    elif by.before.private:
        told = [("views", "none: every limit holds already; nothing is to be restored")]
    else:
        told = [
            ("views", "none: there is no plan"),
            ("no procedure in more than", share_text(by.bound)),
            ("the surest one can be now", surest(by.before)),
        ]
    show(title("Plan, by what is public"), figures(*told))
    for reason in dict.fromkeys(one.reason for one in by.outlooks if one.reason):
        complain(f"not planned: {reason}")


def _worst(by: "Plan") -> Fraction:
    """How sure one may become by a plan; for whom it has no views that is how sure one is now."""
    return (
        by.worst
        if all(one.candidates for one in by.outlooks) and by.outlooks
        else max(by.worst, by.before.largest)
    )


def _row(views: "Views", view: "View") -> tuple[str, str, str]:
    told = _view(views.names, view)
    return (
        view.name,
        ", ".join(told["people"]),
        ", ".join(f"{value or 'missing'} {n}" for value, n in told["values"].items()),
    )


def _before_after(one: "Row") -> tuple[str, ...]:
    value = "missing" if one.value is None else str(one.value)
    return one.person, value, share_text(one.before), share_text(one.after), share_text(one.limit)
