"""`shoal experiment`: the evaluations of the papers, repeated."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import figures, listing, print_json, show, title, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.data.tables import Table
    from shoal.experiments import Result
    from shoal.experiments.experiment import Cell

__all__ = ["app"]

app = typer.Typer(
    cls=options.Group, no_args_is_help=True, help="Repeat the evaluations of the papers."
)


@app.command("list", cls=options.Command)
def list_all(json: options.Json = False) -> None:
    """Which figures and tables of the papers can be repeated?"""
    from shoal.experiments import experiments

    if json:
        print_json([experiment.to_dict() for experiment in experiments()])
        return
    by_paper: dict[str, list[tuple[str, str]]] = {}
    for each in experiments():
        by_paper.setdefault(each.paper, []).append((each.name, f"{each.figure}: {each.shows}"))
    for paper, lines in by_paper.items():
        show(title(paper), figures(*lines))


@app.command(cls=options.Command)
def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A name that `shoal experiment list` shows.", show_default=False
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option("--quick/--full", help="Settings that take seconds, or those of the paper."),
    ] = True,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE|FILE",
            help="Your own table instead of one made by code.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed gives the same figures.")
    ] = 1,
    chart: options.Chart = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Repeat a figure or table of a paper, and compare.

    RECIPE says where a table is, the roles of its columns and their hierarchies; FILE is enough
    where the experiment needs no hierarchies. What is shown about your own table reveals
    information about it and is owner only.
    """
    from shoal import experiments

    options.require_chart(chart, force, released=data is None)
    table = None if data is None else _table(data)
    with working(name) as report:
        result = experiments.run(
            name,
            quick=quick,
            data=table,
            data_name="" if data is None else data.name,
            seed=seed,
            progress=report,
        )
    if json:
        print_json(result.to_dict())
    else:
        show(*_pages(result))
    options.write_chart(chart, result)


def _table(data: Path) -> "Table":
    import shoal

    with working(f"reading {data.name}"):
        if data.suffix == ".toml":
            return shoal.Recipe.load(data).table()
        return shoal.read(data)


def _pages(result: "Result") -> "Iterator[RenderableType]":
    """The tables of a result, and how they compare with the paper's."""
    experiment = result.experiment
    if result.notice:
        yield result.notice
    data = "a table made by code" if result.data is None else result.data
    setting = "quick" if result.quick else "full"
    yield f"{experiment.paper}, {experiment.figure}: {experiment.shows}"
    yield f"{setting} setting, on {data}" if experiment.takes else f"{setting} setting"
    for panel in result.panels:
        yield title(panel.title)
        yield listing(list(panel.head), *(list(map(_shown, row)) for row in panel.rows))
    yield ""
    yield f"The paper: {experiment.printed}"
    yield f"Here: {result.findings.found}"
    if result.notice:
        yield result.notice


def _shown(cell: "Cell") -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell
