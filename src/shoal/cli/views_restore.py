"""`shoal views restore`: views in addition, with which nobody is exposed any more; and `shoal views` with all its commands."""

import json as text
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, print_json, show, title, working
from shoal.cli.views import File, app
from shoal.errors import ParameterError, plural

if TYPE_CHECKING:
    from shoal.views import Candidate, Plan, Restored, Row, View, Views

__all__ = ["app"]


@app.command(cls=options.Command)
def restore(
    views: File,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The table itself, which `unaware` looks at.", show_default=False)
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of the table; else that of [sensitive].", show_default=False)
    ] = None,
    adversary: Annotated[Literal["unaware", "aware"], typer.Option(help="Who does not, or does, know of restoring.")] = "unaware",
    most: Annotated[int, typer.Option("--views", metavar="K", min=1, help="How many views may be added.")] = 2,
    free: Annotated[bool, typer.Option("--free", help="Also views that are no part of an earlier one.")] = False,
    conditions: Annotated[int, typer.Option(metavar="N", min=1, help="Public columns that a new view may go by.")] = 1,
    effort: Annotated[int | None, typer.Option(metavar="N", min=1, help="Sets of views to count.", show_default=False)] = None,
    least: Annotated[str, typer.Option(metavar="SHARE", help="`aware`: of possible tables it must restore.")] = "0",
    ceiling: Annotated[str, typer.Option(metavar="SHARE", help="`aware`: how sure one may ever become.")] = "1",
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the new views as TOML.", show_default=False)] = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw before and after, as HTML, PNG or SVG.", show_default=False)
    ] = None,
    json: options.Json = False,
) -> None:
    """Which views in addition make everybody safe again?

    Against someone who does not know of restoring, views are chosen by the table. Against someone who does, they are chosen by
    what is public, and may fail: the plan says beforehand how often. Without --data only the plan is told. Exit code 1: somebody
    stays exposed. The answer names people and is for the owner alone.
    """
    import shoal
    from shoal import views as room
    from shoal.disk import replacing
    from shoal.judgement import NOTICE
    from shoal.views.sources import opened

    if data is None and (adversary == "unaware" or to or chart):
        raise ParameterError("give the table itself by --data; without it there is only a plan, by --adversary aware")
    if chart is not None:
        from shoal import charts

        charts.require(chart)
    with working(f"reading {views.name}"):
        given, register, column = opened(views)
        table = None
        if data is not None:
            chosen = sensitive or column
            if chosen is None:
                raise ParameterError("say which column of the table is sensitive, by --sensitive or in [sensitive]")
            table = room.truth(register, shoal.read(data), chosen, complete=given.complete)
    with working("searching"):
        public = room.public(register)
        candidates = room.refinements(given, public, conditions=conditions)
        if free:
            candidates += room.free(given, public, conditions=conditions)
        found, by = None, None
        top, enough = options.share(ceiling, "--ceiling"), options.share(least, "--least")
        if table is None:
            by = room.plan(given, candidates, most=most, ceiling=top, **({} if effort is None else {"effort": effort}))
        else:
            found = room.restore(
                given, table, candidates, adversary=adversary, most=most, effort=effort, least=enough, ceiling=top
            )
            by = found.plan
    if to is not None and found is not None:
        with replacing(to) as file:
            file.write("\n".join(_section(given, view) for view in found.added).encode())
    if chart is not None and found is not None:
        found.save(chart)
    if json:
        print_json({"not_for_release": True, "notice": NOTICE, "adversary": adversary, **_told(found, by, candidates)})
    else:
        show(NOTICE, "")
        _show(found, by, candidates)
        show("", NOTICE)
    if (by is None or by.low == 0) if found is None else found.private is not True:
        raise typer.Exit(1)


def _told(found: "Restored | None", by: "Plan | None", candidates: "list[Candidate]") -> dict[str, Any]:
    told: dict[str, Any] = {"candidates": len(candidates)}
    if by is not None:
        told["plan"] = {
            "views": [one.name for one in by.candidates],
            "share": str(by.low) if by.confidence is None else float(by.low),
            "share_high": str(by.high) if by.confidence is None else float(by.high),
            "confidence": None if by.confidence is None else float(by.confidence),
            "bound": str(by.bound),
            "worst": str(by.worst),
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
        "views": [_view(found.before.views, view) for view in found.added],
        "people": [
            {
                "person": one.person,
                "value": None if one.value is None else str(one.value),
                "limit": str(one.limit),
                "before": str(one.before),
                "after": str(one.after),
            }
            for one in found.rows
        ],
        "unrestored": [
            {
                "person": one.exposed.name,
                "value": None if one.exposed.value is None else str(one.exposed.value),
                "probability": str(one.exposed.probability),
                "reason": one.reason,
                "proven": one.proven,
            }
            for one in found.unrestored
        ],
    }


def _view(views: "Views", view: "View") -> dict[str, Any]:
    return {
        "name": view.name,
        "people": [views.names[one] for one in sorted(view.members)],
        "values": {"" if value is None else str(value): often for value, often in sorted(view.shown.items(), key=str)},
    }


def _section(views: "Views", view: "View") -> str:
    """A view as a section of a TOML file."""
    told = _view(views, view)
    values = ", ".join(f"{_quoted(value)} = {often}" for value, often in told["values"].items())
    people = ", ".join(map(_quoted, told["people"]))
    return f"[[views]]\nname = {_quoted(told['name'])}\npeople = [{people}]\nvalues = {{ {values} }}\n"


def _quoted(name: str) -> str:
    return text.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _show(found: "Restored | None", by: "Plan | None", candidates: "list[Candidate]") -> None:
    if by is not None:
        _show_plan(by)
    if found is None:
        return
    verdict = {True: "every limit holds", False: "somebody stays exposed", None: "not decided"}[found.private]
    show(
        figures(
            ("verdict", verdict),
            ("views added", f"{len(found.added)} of {plural(len(candidates), 'candidate')}"),
            ("possible tables", f"{_short(found.before.tables_text)} before, {_short(found.after.tables_text)} after"),
            ("the surest one can be", f"{_share(found.before.largest)} before, {_share(found.after.largest)} after"),
        )
    )
    if found.added:
        show(title("Added"), listing(("view", "people", "values"), *(_row(found.before.views, view) for view in found.added)))
    if found.rows:
        show(
            title("Before and after"), listing(("person", "value", "before", "after", "allowed"), *map(_before_after, found.rows))
        )
    for reason in dict.fromkeys(one.reason for one in found.unrestored):
        complain(f"not restored: {reason}")


def _show_plan(by: "Plan") -> None:
    share = _share(by.low) if by.confidence is None else f"{float(by.low):.3f} to {float(by.high):.3f}"
    show(
        title("Plan, by what is public"),
        figures(
            ("views", ", ".join(one.name for one in by.candidates) or "none"),
            ("restored in", f"{share} of the possible tables"),
            ("no procedure in more than", _share(by.bound)),
            ("the surest one may become", _share(by.worst)),
        ),
    )
    for reason in dict.fromkeys(one.reason for one in by.outlooks if one.reason):
        complain(f"not planned: {reason}")


def _row(views: "Views", view: "View") -> tuple[str, str, str]:
    told = _view(views, view)
    return view.name, ", ".join(told["people"]), ", ".join(f"{value or 'missing'} {n}" for value, n in told["values"].items())


def _before_after(one: "Row") -> tuple[str, ...]:
    value = "missing" if one.value is None else str(one.value)
    return one.person, value, _share(one.before), _share(one.after), _share(one.limit)


def _share(share: Fraction) -> str:
    told = str(share)
    return told if len(told) <= 9 else f"{float(share):.6f}"


def _short(number: str) -> str:
    return number if len(number) <= 30 else f"{number[0]}.{number[1:4]}…e{len(number) - 1}"
