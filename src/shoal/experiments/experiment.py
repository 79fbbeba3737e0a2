"""What an experiment is, what it is given, and what it gives: tables, charts and a finding.

Uses `look`; the modules of the papers use it, and `catalogue` runs what they define.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from shoal.chance import Chance, Seeded
from shoal.errors import ParameterError
from shoal.look import drawing
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.methods.method import Progress
from shoal.studies.saving import Saved
from shoal.zones import NOTICE, brief

if TYPE_CHECKING:
    import polars as pl

    from shoal.data.tables import Table

__all__ = ["Cell", "Experiment", "Findings", "Panel", "Plot", "Result", "RunSetting"]

Cell = str | int | float | None
"""What stands in a table of results. Shares are floats from 0 to 1."""

Item = TypeVar("Item")
Value = TypeVar("Value")


def _silent(done: int, total: int, what: str) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class RunSetting:
    """How an experiment is run: with little or full effort, and on which table.

    `table` is the reader's own; None where the experiment makes one by code. The same `seed` gives
    the same figures. Nothing that an experiment makes is released, so its chance may be seeded.
    """

    quick: bool = True
    table: "Table | None" = None
    seed: int = 1
    progress: Progress = _silent

    def of(self, quick: Value, full: Value) -> Value:
        """The first of two values in a quick run, the second in a full one."""
        return quick if self.quick else full

    def chance(self, run: int = 0) -> Chance:
        """The draws of one of several runs."""
        return Seeded(self.seed * 1_000_003 + run)

    def each(self, items: Sequence[Item], what: str) -> Iterator[Item]:
        """The items one by one, with progress."""
        for done, item in enumerate(items):
            self.progress(done, len(items), what)
            yield item
        self.progress(len(items), len(items), what)


@dataclass(frozen=True)
class Plot:
    """How the rows of a panel are drawn: columns for the axes and, maybe, one for the colour.

    A logarithmic axis cannot show 0.
    """

    x: str
    y: str
    by: str | None = None
    mark: Literal["line", "bar", "point"] = "line"
    log_x: bool = False
    log_y: bool = False


@brief
@dataclass(frozen=True)
class Panel:
    """One table of results, and how it is drawn."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...] = field(repr=False)
    plot: Plot | None = None

    def frame(self) -> "pl.DataFrame":
        """The table as a dataframe."""
        import polars as pl

        return pl.DataFrame(list(self.rows), schema=list(self.head), orient="row", strict=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, one object per row."""
        rows = [dict(zip(self.head, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows}


@dataclass(frozen=True)
class Findings:
    """What the function of an experiment returns.

    `found` is one or two sentences: what is seen here and whether it agrees with the paper.
    """

    panels: tuple[Panel, ...]
    found: str = field(repr=False)


@brief
@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper as something to run.

    `printed` says what the paper shows. `takes` says what a given table must have, empty where the
    experiment takes none.
    """

    name: str
    paper: str
    figure: str
    shows: str
    printed: str
    run: Callable[[RunSetting], Findings] = field(repr=False)
    takes: str = ""

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "paper": self.paper,
            "figure": self.figure,
            "shows": self.shows,
            "printed": self.printed,
            "takes": self.takes,
        }

    def refuse(self, setting: RunSetting) -> None:
        """ParameterError where a table is given that the experiment would not look at."""
        if setting.table is not None and not self.takes:
            raise ParameterError(
                f"experiment {self.name!r} does not look at data", "leave out `data`"
            )


@brief
@dataclass(frozen=True)
class Result(Saved):
    """The tables and charts of an experiment beside what its paper shows.

    `data` is None where the table was made by code. Results about a given table are owner only.
    """

    experiment: Experiment
    quick: bool
    data: str | None
    findings: Findings = field(repr=False)

    def _repr_html_(self) -> str:
        """The tables as notebooks show them."""
        from shoal.experiments.cards import card_of_result

        return card_of_result(self).html()

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The tables of results."""
        return self.findings.panels

    @property
    def notice(self) -> str:
        """The mark of an owner-only report; empty where no given table was looked at."""
        return NOTICE if self.data is not None else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "not_for_release": self.data is not None,
            **self.experiment.to_dict(),
            "setting": "quick" if self.quick else "full",
            "data": self.data,
            "found": self.findings.found,
            "tables": [panel.to_dict() for panel in self.panels],
        }

    @property
    def zone(self) -> Zone:
        """Who may see it: the owner, if a given table was looked at."""
        return Zone.RELEASED if self.data is None else Zone.OWNER

    def pictures(self) -> tuple[Picture, ...]:
        """All panels that can be drawn."""
        of = f"{self.experiment.paper}, {self.experiment.figure}"
        return tuple(
            Picture(
                title=f"{of}: {panel.title}",
                sentence=self.findings.found,
                head=panel.head,
                rows=[[_cell(cell) for cell in row] for row in panel.rows],
                draw=partial(_drawn, panel),
                zone=self.zone,
            )
            for panel in self.panels
            if panel.plot is not None
        )


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _drawn(panel: Panel) -> Any:
    """The chart of one panel."""
    alt = drawing.library()
    plot = panel.plot
    assert plot is not None
    rows = [
        {str(place): value for place, value in enumerate(row)}
        for row in panel.rows
        if row[panel.head.index(plot.y)] is not None
    ]
    chart = alt.Chart(alt.Data(values=rows))
    if plot.mark == "line":
        chart = chart.mark_line(point=True)
    elif plot.mark == "bar":
        chart = chart.mark_bar()
    else:
        chart = chart.mark_point()
    # Columns are told by number: names may hold what Vega takes for a path, such as a dot.
    channels = [
        alt.X(_field(panel, plot.x), title=plot.x, scale=_scale(plot.log_x)),
        alt.Y(_field(panel, plot.y), title=plot.y, scale=_scale(plot.log_y)),
    ]
    if plot.by is not None:
        place = panel.head.index(plot.by)
        channels.append(alt.Color(f"{place}:N", title=plot.by, sort=None))
        if plot.mark == "bar":
            channels.append(alt.XOffset(f"{place}:N", sort=None))
    return chart.encode(*channels).properties(width=drawing.WIDTH, height=drawing.HEIGHT)


def _field(panel: Panel, name: str) -> str:
    """A column of a panel as Vega names it, with its type."""
    place = panel.head.index(name)
    is_text = any(isinstance(row[place], str) for row in panel.rows)
    return f"{place}:O" if is_text else f"{place}:Q"


def _scale(logarithmic: bool) -> Any:
    alt = drawing.library()
    return alt.Scale(type="log") if logarithmic else alt.Scale(zero=False)
