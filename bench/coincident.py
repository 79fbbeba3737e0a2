"""`python -m bench.coincident`: what it costs to be safe though the algorithm is known, beside
Mondrian, which is not; and the time that a million records take. The table is adult: age, education
and workclass are known, occupation is sensitive; with all its values, and with the records of its 8
and its 5 most frequent ones.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

import polars as pl

import shoal
from bench import work
from bench.__main__ import Cells, Printed, say
from bench.measure import best
from bench.sources import ROOT, adult, large
from shoal.errors import InfeasibleError
from shoal.look.drawing import FONT
from shoal.methods.coincident import Coincident
from shoal.methods.coincident.grouping import ORDERS, Order
from shoal.methods.coincident.schemes import SCHEMES, Scheme
from shoal.methods.method import Method
from shoal.methods.mondrian import Mondrian
from shoal.privacy.models import DistinctDiversity, EntropyDiversity, Model, PSensitive

QUASI, HIDDEN = ("age", "education", "workclass"), "occupation"
VALUES = (14, 8, 5)
PARAMETERS = (2, 3, 4, 5, 6, 8, 10)
MILLION = 1_000_000
TIMES_LEAST = (
    2,
    3,
    4,
    6,
    8,
    16,
)  # sizes to start with, as halves of what a model asks for at least
TIMES = 20  # at most, of which the best counts, as other work may run


def table(values: int) -> shoal.Table:
    """Adult with the records of the most frequent values of the sensitive column."""
    source = adult()
    frame = work.read_text(source).select(*QUASI, HIDDEN)
    often = frame[HIDDEN].value_counts(sort=True)[HIDDEN][:values].implode()
    trees = {name: tree for name, tree in source.hierarchies().items() if name in QUASI}
    return shoal.table(
        frame.filter(pl.col(HIDDEN).is_in(often)),
        quasi=QUASI,
        sensitive=[HIDDEN],
        hierarchies=trees,
    )


def models(values: int) -> Iterator[tuple[str, int, Model]]:
    for parameter in PARAMETERS:
        if parameter <= values:
            yield "p-sensitive", parameter, PSensitive(HIDDEN, parameter, 2)
            yield "entropy l", parameter, EntropyDiversity(HIDDEN, parameter)


def judged(people: shoal.Table, method: Callable[[], Method]) -> tuple[float, float] | None:
    """The mean size of groups and the granularity; None if nothing is released."""
    try:
        release = method().release(people)
    except InfeasibleError:
        return None
    return people.rows / (release.facts.groups or 1), shoal.judge(people, release).losses[
        "granularity"
    ].normalised


def sized(
    people: shoal.Table, model: Model, parameter: int, scheme: Scheme, order: Order
) -> tuple[float, float] | None:
    """The best of some sizes to start with, by granularity: what an owner would find by the same
    few tries on public data.
    """
    sizes = sorted({2 * -(-parameter * times // 4) for times in TIMES_LEAST} - {0})
    methods = [partial(Coincident, (model,), size, scheme, order=order) for size in sizes]
    found = [judged(people, method) for method in methods]
    return min((each for each in found if each is not None), key=lambda each: each[1], default=None)


def safety() -> Printed:
    """Mean group size and granularity of all schemes, beside Mondrian."""
    rows: list[Cells] = []
    for values in VALUES:
        people = table(values)
        for name, parameter, model in models(values):
            say(f"{values} values, {name} {parameter}")
            cells = [sized(people, model, parameter, scheme, "splits") for scheme in SCHEMES]
            cells.append(judged(people, partial(Mondrian, (model,))))
            shown = [
                "refused" if cell is None else f"{cell[0]:.1f} / {cell[1]:.1%}" for cell in cells
            ]
            rows.append((values, f"{name} {parameter}", *shown))
    head = ("values", "model", *SCHEMES, "Mondrian (unsafe)")
    return Printed("Mean group size and granularity: the cost of safety", head, rows)


def orders() -> Printed:
    """Which order of people keeps more, with the forest."""
    rows: list[Cells] = []
    people = table(VALUES[0])
    for name, parameter, model in models(VALUES[0]):
        say(f"orders: {name} {parameter}")
        cells = [sized(people, model, parameter, "forest", order) for order in ORDERS]
        rows.append(
            (
                f"{name} {parameter}",
                *(
                    "refused" if cell is None else f"{cell[0]:.1f} / {cell[1]:.1%}"
                    for cell in cells
                ),
            )
        )
    return Printed("Order of people: mean group size and granularity", ("model", *ORDERS), rows)


def million(data: Path) -> Printed:
    """A million records of health, from the coded table to the release, and to the written file."""
    source = large("health", data)
    unit_of = pl.read_csv(source.path, separator=";", n_rows=MILLION)
    rows: list[Cells] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.csv"
        unit_of.write_csv(path, separator=";")
        unit = best(lambda: pl.read_csv(path, separator=";"), repeats=TIMES)
        hidden = "MARSTAT"
        names = [name for name in unit_of.columns if name != hidden]
        trees = source.hierarchies()
        people = shoal.read(
            path, quasi=names, sensitive=[hidden], hierarchies={name: trees[name] for name in names}
        )
        people.records(people.names)
        about = f"{MILLION:,} × {len(people.names)}"
        rows.append((about, "polars.read_csv (R)", unit, 1.0, None, None))
        for order in ORDERS:
            method = Coincident((DistinctDiversity(hidden, 3),), order=order)
            say(f"a million records, {order}")
            taken = best(partial(method.release, people), repeats=TIMES)
            written = best(
                lambda method=method: method.release(people).write(Path(folder) / "out"), repeats=3
            )
            judgement = shoal.judge(people, method.release(people))
            lost = f"{judgement.losses['granularity'].normalised:.1%}"
            rows.append(
                (about, f"forest by {order}, from the coded table", taken, taken / unit, 5.0, lost)
            )
            rows.append(
                (about, f"forest by {order}, written as CSV", written, written / unit, None, None)
            )
    return Printed(
        "A million records", ("table", "what", "seconds", "R", "bar", "granularity"), rows
    )


def chart(printed: Printed, path: Path) -> None:
    """The granularity of every scheme as a picture."""
    import altair as alt

    data = []
    for values, model, *cells in printed.rows:
        name, _, parameter = str(model).rpartition(" ")
        for scheme, cell in zip((*SCHEMES, "Mondrian (unsafe)"), cells, strict=True):
            if cell != "refused":
                loss = float(Fraction(str(cell).split(" / ")[1].rstrip("%")) / 100)
                data.append(
                    {
                        "values": f"{values} values",
                        "model": name,
                        "parameter": int(parameter),
                        "scheme": scheme,
                        "loss": loss,
                    }
                )
    picture = (
        alt.Chart(pl.DataFrame(data), width=190, height=150)
        .mark_line(point=True)
        .encode(
            x=alt.X("parameter:Q", title="p or l"),
            y=alt.Y("loss:Q", title="granularity lost", axis=alt.Axis(format="%")),
            color=alt.Color("scheme:N", sort=[*SCHEMES, "Mondrian (unsafe)"]),
            row=alt.Row("model:N", title=None),
            column=alt.Column(
                "values:N", title=None, sort=[f"{number} values" for number in VALUES]
            ),
        )
    )
    picture.configure(font=FONT).save(str(path))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.coincident", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT / "bench" / "data",
        help="where large tables are, or are made",
    )
    parser.add_argument("--only", metavar="PARTS", help="some of safety,orders,million")
    parser.add_argument(
        "--chart",
        type=Path,
        metavar="FILE",
        help="also draw the cost of safety, as SVG, PNG or HTML",
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args()
    parts: dict[str, Callable[[], Printed]] = {
        "safety": safety,
        "orders": orders,
        "million": partial(million, given.data),
    }
    for name in given.only.split(",") if given.only else parts:
        found = parts[name]()
        print(found.text(given.markdown), end="\n\n", flush=True)
        if name == "safety" and given.chart:
            chart(found, given.chart)


if __name__ == "__main__":
    main()
