"""`python -m bench.left`: the pictures and tables of docs/how-to/how-much-is-left.md.

What is left of the made-up hospital of the demo, by the number of records and by what is asked for,
and what a release by region looks like, is measured here. What is left of census tables is read
from docs/reference/benchmarks-kept.md, where `python -m bench.kept` puts it.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import polars as pl

import shoal
from bench.__main__ import Cells, Printed, say
from bench.kept import EPSILONS, MEASURES, Figures
from bench.sources import ROOT
from shoal import demo
from shoal.data.hierarchy import Hierarchy
from shoal.look.drawing import FONT
from shoal.methods.auto import automatic
from shoal.methods.method import Method
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub

IMAGES = ROOT / "docs" / "images"
PAGE = ROOT / "docs" / "reference" / "benchmarks-kept.md"
EPSILON, DELTA = 1, "1e-6"
RECORDS = (1_000, 4_000, 20_000, 100_000, 400_000)
RUNS = 10

METHODS: dict[str, Callable[[], Method]] = {
    "noisy counts, tree": lambda: NoisyCounts(EPSILON, DELTA, levels="tree"),
    "noisy counts, search": lambda: NoisyCounts(EPSILON, DELTA, levels="search"),
    "shoal.release, truthful": lambda: automatic(EPSILON, DELTA, truthful=True),
    "SafePub": lambda: SafePub(EPSILON, DELTA),
}


@dataclass(frozen=True)
class Left:
    """The means of some releases: shares of the information and of the records."""

    method: str
    records: int
    information: float
    kept: float


def left(method: str, hospital: shoal.Table, runs: int) -> Left:
    """What one method keeps of the hospital."""
    made = [METHODS[method]().release(hospital).facts for _ in range(runs)]
    information = mean(1 - (facts.loss or 0) for facts in made)
    kept = mean(1 - facts.suppressed / facts.records for facts in made)
    return Left(method, hospital.rows, information, kept)


def by_records(runs: int, sizes: tuple[int, ...] = RECORDS) -> list[Left]:
    """What every method keeps of hospitals with more and more records."""
    found = []
    for size in sizes:
        hospital = demo.table(size)
        for method in METHODS:
            say(f"{size:,} records: {method}, {runs} runs")
            found.append(left(method, hospital, runs))
    return found


def printed(found: list[Left]) -> Printed:
    """One line per number of records, one column per method."""
    rows: list[Cells] = []
    for size in dict.fromkeys(each.records for each in found):
        cells = [_shares(each.information, each.kept) for each in found if each.records == size]
        rows.append((f"{size:,}", *cells))
    return Printed("Information and records left of a hospital", ("records", *METHODS), rows)


def records_picture(found: list[Left]) -> Any:
    """Information kept against the number of records."""
    import altair as alt

    data = [
        {"method": each.method, "records": each.records, "information": each.information}
        for each in found
    ]
    sizes = sorted({each.records for each in found})
    axis = alt.Axis(values=sizes, format=",", title="records in the table")
    return (
        alt.Chart(pl.DataFrame(data), width=420, height=220)
        .mark_line(point=True, strokeWidth=2.5)
        .encode(
            x=alt.X("records:Q", axis=axis, scale=alt.Scale(type="log", nice=False)),
            y=alt.Y("information:Q", title="information kept", axis=alt.Axis(format="%")),
            color=_coloured(METHODS),
        )
    )


def _coloured(methods: Iterable[str]) -> Any:
    """One colour per method, named below the chart."""
    import altair as alt

    names = [*methods]
    return alt.Color(
        "method:N",
        title=None,
        scale=alt.Scale(domain=names, range=[COMPARED[name] for name in names]),
        legend=alt.Legend(orient="bottom", columns=2, labelLimit=400),
    )


# What helps

ASKED: dict[str, dict[str, Any]] = {
    "nothing else": {},
    "`epsilon=0.5`": {"epsilon": "0.5"},
    "`epsilon=2`": {"epsilon": 2},
    '`ceiling={"diagnosis": 1}`': {"ceiling": {"diagnosis": 1}},
    '`importance={"age": 3, "diagnosis": 3, "stay": 2}`': {
        "importance": {"age": 3, "diagnosis": 3, "stay": 2}
    },
    "no `postcode` and `admitted`": {},
}
LEFT_OUT = ("postcode", "admitted")
LOOKED_AT = {"diagnosis": 1, "age": 3}
"""Columns and the levels that a reader of the release may want: chapters, and 20 years."""


def advice(runs: int) -> Printed:
    """What is left of the hospital of the demo, by what is asked for."""
    hospital = demo.table(demo.ENOUGH)
    fewer = hospital.with_roles(
        identifying=["patient", *LEFT_OUT],
        quasi=[name for name in hospital.quasi if name not in LEFT_OUT],
        sensitive=["diagnosis"],
        insensitive=["stay", "outcome"],
    )
    rows: list[Cells] = []
    for asked, options in ASKED.items():
        table = fewer if asked.startswith("no ") else hospital
        wanted = {"epsilon": EPSILON, "delta": DELTA, **options}
        made = [shoal.release(table, **wanted) for _ in range(runs)]
        information = mean(1 - (each.facts.loss or 0) for each in made)
        kept = mean(1 - each.facts.suppressed / each.facts.records for each in made)
        detail = [
            f"{100 * mean(_shown(each.table, name, level) for each in made):.0f} %"
            for name, level in LOOKED_AT.items()
        ]
        rows.append((asked, _shares(information, kept), *detail))
    head = ("asked for", "information, records", "chapter of diagnosis", "age within 20 years")
    return Printed("What helps", head, rows)


def _shown(release: pl.DataFrame, name: str, level: int) -> float:
    """The share of released rows whose value is at this level or a finer one."""
    labels = demo.hierarchies()[name].labels[: level + 1]
    fine = {label for texts in labels for label in texts}
    return float(release.select(pl.col(name).is_in([*fine]).mean()).item())


# What is left of census tables

SECTION = "## More of the data\n"
CENSUS = {"adult": "adult, 30,162 × 9", "acs": "acs, 68,725 × 5"}
COMPARED = {
    "noisy counts, tree": "#00796b",
    "noisy counts, search": "#4db6ac",
    "shoal.release, truthful": "#bf360c",
    "SafePub, tree": "#f57c00",
    "SafePub": "#ffb74d",
}
"""Methods of that page, as far as it has them, and their colours."""


@dataclass(frozen=True)
class Measured:
    """One line of the tables of docs/reference/benchmarks-kept.md."""

    table: str
    method: str
    epsilon: float
    figures: Figures

    @property
    def information(self) -> float:
        return self.figures.information or 0

    @property
    def kept(self) -> float:
        return self.figures.records or 0


def measured(page: Path) -> Iterator[Measured]:
    """What is left of census tables and what it is good for, by the benchmarks' page."""
    text = page.read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0]
    for part in text.split("\n### ")[1:]:
        name = part.partition("\n")[0].strip()
        for line in part.splitlines():
            method, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            if name in CENSUS and len(cells) == 1 + len(MEASURES) and cells[0] in EPSILONS:
                numbers: list[Any] = [_number(cell) for cell in cells[1:]]
                figures = Figures(**dict(zip(MEASURES, numbers, strict=True)))
                yield Measured(name, method, float(cells[0]), figures)


def _number(cell: str) -> float | None:
    return float(cell.replace(",", "")) if cell else None


def compared(page: Path) -> list[Measured]:
    """Those lines that the pictures show."""
    return [each for each in measured(page) if each.method in COMPARED]


def _methods(found: Iterable[Measured]) -> list[str]:
    """Those methods that were measured, in the order in which they are shown."""
    there = {each.method for each in found}
    return [name for name in COMPARED if name in there]


def by_epsilon(page: Path) -> Printed:
    """The table of the guide: information and records by ε, one column per method."""
    found = {(each.table, each.epsilon, each.method): each for each in compared(page)}
    methods = _methods(found.values())
    rows: list[Cells] = []
    for table, epsilon in dict.fromkeys((table, epsilon) for table, epsilon, _ in found):
        ways = [found.get((table, epsilon, method)) for method in methods]
        cells = ["" if each is None else _shares(each.information, each.kept) for each in ways]
        rows.append((CENSUS[table], f"{epsilon:g}", *cells))
    return Printed("What each method keeps", ("table", "ε", *methods), rows)


def _shares(information: float, kept: float) -> str:
    """Information and records, as the guide shows them."""
    return f"{information:.2f}".removeprefix("0") + f", {100 * kept:.0f} %"


def epsilon_picture(page: Path) -> Any:
    """Information kept against ε, one panel per table."""
    import altair as alt

    found = compared(page)
    methods = _methods(found)
    axis = alt.Axis(values=sorted({each.epsilon for each in found}), format="~g", title="ε")
    panels = []
    for table, title in CENSUS.items():
        data = [
            {"method": each.method, "ε": each.epsilon, "information": each.information}
            for each in found
            if each.table == table
        ]
        panels.append(
            alt.Chart(pl.DataFrame(data), width=280, height=220, title=title)
            .mark_line(point=True, strokeWidth=2.5)
            .encode(
                x=alt.X("ε:Q", axis=axis, scale=alt.Scale(type="log", nice=False)),
                y=alt.Y(
                    "information:Q",
                    title="information kept",
                    axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1]),
                ),
                color=_coloured(methods),
            )
        )
    return alt.hconcat(*panels)


PARTS = {
    "kept": "#00796b",
    "lost because values are coarser": "#ffcc80",
    "lost with records that are left out": "#bf360c",
}


def shares_picture(page: Path) -> Any:
    """Where the information goes at ε = 1, one bar per method."""
    import altair as alt

    found = [each for each in compared(page) if each.epsilon == EPSILON]
    methods = _methods(found)
    data = []
    for each in found:
        # A record that is left out has lost all; what else is missing was lost by coarser values.
        shares = (each.information, each.kept - each.information, 1 - each.kept)
        for place, (part, share) in enumerate(zip(PARTS, shares, strict=True)):
            row = {"table": CENSUS[each.table], "method": each.method, "part": part}
            data.append({**row, "share": share, "place": place})
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share of the information", axis=alt.Axis(format="%")),
            y=alt.Y("method:N", title=None, sort=methods, axis=alt.Axis(labelLimit=300)),
            order="place:O",
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=[*PARTS], range=[*PARTS.values()]),
                legend=alt.Legend(orient="bottom", labelLimit=400),
            ),
        )
    )
    texts = (
        alt.Chart()
        .transform_filter(alt.datum.place == 0)
        .mark_text(align="left", dx=4, color="white", fontWeight="bold")
        .encode(
            x=alt.value(0),
            y=alt.Y("method:N", sort=methods),
            text=alt.Text("share:Q", format=".0%"),
        )
    )
    layers = alt.layer(bars, texts, data=pl.DataFrame(data)).properties(width=230, height=120)
    return layers.facet(column=alt.Column("table:N", title=None, sort=[*CENSUS.values()]))


# What a release by region looks like

SHOWN = ("age", "stay")


def regions_picture() -> Any:
    """Two columns of a hospital as a map of boxes, by SafePub and by a tree of noisy counts."""
    import altair as alt

    other = [name for name in demo.table(0).names if name not in SHOWN]
    hospital = demo.table(demo.ENOUGH).with_roles(identifying=other, quasi=SHOWN)
    ways = {
        "SafePub: one level per column": METHODS["SafePub"],
        "A tree: finer where there are more": METHODS["noisy counts, tree"],
    }
    panels = [
        _panel(title, method().release(hospital).table, hospital) for title, method in ways.items()
    ]
    return alt.hconcat(*panels).resolve_scale(color="shared")


def _panel(title: str, release: pl.DataFrame, hospital: shoal.Table) -> Any:
    """Every released row as a box, coarse ones behind fine ones."""
    import altair as alt

    found = _boxes(release, hospital)
    text = alt.Title(title, subtitle=f"{len(found):,} rows, {len(release):,} stays")
    return (
        alt.Chart(found, width=330, height=260, title=text)
        .mark_rect(stroke="white", strokeWidth=0.6)
        .encode(
            x=alt.X("age from:Q", title="age", scale=alt.Scale(domain=[0, 106], nice=False)),
            x2="age to:Q",
            y=alt.Y(
                "stay from:Q",
                title="days in hospital",
                axis=alt.Axis(values=[1, 2, 4, 8, 15, 29, 100, 365]),
                scale=alt.Scale(type="log", domain=[1, 366], nice=False),
            ),
            y2="stay to:Q",
            color=alt.Color(
                "density:Q",
                title="stays per year of age and day in hospital",
                scale=alt.Scale(type="log", scheme="teals"),
                legend=alt.Legend(orient="bottom", gradientLength=240, titleLimit=400),
            ),
        )
    )


def _boxes(release: pl.DataFrame, hospital: shoal.Table) -> pl.DataFrame:
    """The ends of every released row, coarse ones first, and how densely it is populated."""
    boxes = []
    for *texts, records in release.group_by(SHOWN).len("records").iter_rows():
        box: dict[str, int] = {"records": records, "area": 1}
        if "" in texts:
            continue  # where a value is missing, there is nowhere to draw it
        for name, text in zip(SHOWN, texts, strict=True):
            low, high = _ends(hospital.hierarchy(name), text)
            box |= {f"{name} from": low, f"{name} to": high + 1}
            box["area"] *= high + 1 - low
        boxes.append(box)
    coarse_first = sorted(boxes, key=lambda box: -box["area"])
    # A coarse box has the records that are in no finer one inside it.
    owner = np.full([1 + max(box[f"{name} to"] for box in boxes) for name in SHOWN], -1)
    for number, box in enumerate(coarse_first):
        ages, days = (slice(box[f"{name} from"], box[f"{name} to"]) for name in SHOWN)
        owner[ages, days] = number
    own = [int((owner == number).sum()) for number in range(len(boxes))]
    found = pl.DataFrame(coarse_first).with_columns(pl.Series("own", own))
    return found.with_columns((pl.col("records") / pl.col("own").clip(1)).alias("density"))


def _ends(tree: Hierarchy, text: str) -> tuple[int, int]:
    """The smallest and the largest number that a released text stands for."""
    for labels, codes in zip(tree.labels, tree.maps, strict=True):
        if text in labels:
            code = labels.index(text)
            below = [tree.labels[0][leaf] for leaf in (codes == code).nonzero()[0]]
            numbers = [int(leaf) for leaf in below if leaf]  # the empty text is a missing value
            return min(numbers), max(numbers)
    raise ValueError(text)


def pictures(runs: int, page: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The name of every picture, and what draws it."""
    yield "left-shares", partial(shares_picture, page)
    yield "left-epsilon", partial(_epsilon, page)
    yield "left-regions", regions_picture
    yield "left-records", partial(_records, runs)


def _epsilon(page: Path) -> Any:
    print(by_epsilon(page).text(markdown=True), end="\n\n", flush=True)
    return epsilon_picture(page)


def _records(runs: int) -> Any:
    found = by_records(runs)
    print(printed(found).text(markdown=True), end="\n\n", flush=True)
    return records_picture(found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.left", description=__doc__)
    parser.add_argument("--only", metavar="NAMES", help="some of the pictures, or advice")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"releases each ({RUNS})")
    parser.add_argument("--out", type=Path, default=IMAGES, metavar="DIR", help="docs/images")
    parser.add_argument("--format", default="svg", help="svg or png")
    parser.add_argument("--page", type=Path, default=PAGE, help="docs/reference/benchmarks-kept.md")
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else None
    if wanted is None or "advice" in wanted:
        print(advice(given.runs).text(markdown=True), end="\n\n", flush=True)
    for name, draw in pictures(given.runs, given.page):
        if wanted is None or name in wanted:
            drawn = draw().configure(font=FONT)  # measured as browsers draw it, so nothing is cut
            drawn.save(str(given.out / f"{name}.{given.format}"), scale_factor=1.5)


if __name__ == "__main__":
    main()
