"""`shoal explain`: what ε, δ, k and β mean, before any data is seen.

For one person; or with a schema, for the table: what to expect of each method.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    complain,
    figures,
    listing,
    percent,
    print_json,
    show,
    title,
    working,
)
from shoal.errors import ParameterError, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.measure.explaining import CountExplanation, Explanation
    from shoal.studies.forecasting import Between, Forecast

__all__ = ["explain"]

FORECAST = "What to expect of a table"

SPLIT = "0.9"
"""The share of ε for the anonymisation unless another is given."""


@dataclass(frozen=True)
class TableOptions:
    """What is public about a table whose release is forecast: a bundle of options."""

    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE",
            help="Say what to expect for the columns of a recipe; its table is not read.",
            rich_help_panel=FORECAST,
            show_default=False,
        ),
    ] = None
    records: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="About how many records the table is publicly known to have.",
            rich_help_panel=FORECAST,
            show_default=False,
        ),
    ] = None
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A public table with these columns, such as a census.",
            rich_help_panel=FORECAST,
            show_default=False,
        ),
    ] = None
    values: Annotated[
        list[str],
        typer.Option(
            "--values",
            metavar="NAME=N,…",
            help="How many values a column without a hierarchy has.",
            rich_help_panel=FORECAST,
            show_default=False,
        ),
    ] = field(default_factory=list)

    def is_asked(self, files: options.HierarchyFiles) -> bool:
        """Whether a forecast is asked for: there is a recipe, or a hierarchy."""
        if files.hierarchy:
            return True
        files.read()  # an error if something is said about files that are not there
        if self.schema is not None:
            return True
        for name in ("records", "like", "values"):
            if getattr(self, name):
                raise ParameterError(
                    "goes with `schema` or `hierarchy`", "say which columns", option=name
                )
        return False

    def forecast(
        self, files: options.HierarchyFiles, epsilon: str, delta: str, rows: int
    ) -> "Forecast":
        """What to expect of each method."""
        from shoal.studies.forecasting import forecast

        if self.records is None:
            raise ParameterError(
                "is missing: what to expect depends on the number of records",
                "give it if it is public, or a number that is",
                option="records",
            )
        schema, like = self._columns(files)
        values = {}
        for name, text in options.pairs(self.values, "--values").items():
            if not text.isdecimal() or not int(text):
                raise ParameterError(f"--values {name}={text} is not a number above 0")
            values[name] = int(text)
        with working("releasing tables that are made up"):
            return forecast(
                schema,
                records=self.records,
                epsilon=epsilon,
                delta=delta,
                rows=rows,
                like=like,
                values=values,
            )

    def _columns(self, files: options.HierarchyFiles) -> Any:
        """The schema, or the hierarchies, and the public table, if there is one."""
        from shoal.data.disk import same
        from shoal.data.files import read
        from shoal.recipe import Recipe

        if self.schema is None:
            trees = files.read()
            return trees, None if self.like is None else read(self.like, hierarchies=trees)
        if files.hierarchy:
            raise ParameterError(
                "does not go with `schema`", "the recipe has hierarchies", option="hierarchy"
            )
        recipe = Recipe.load(self.schema)
        if self.like is None:
            return recipe.schema, None
        if same(self.like, recipe.source):
            raise ParameterError(
                "is the table of the recipe itself",
                "give one that is nobody's secret",
                option="like",
            )
        released = recipe.content.released
        return recipe.schema, recipe.read(self.like, {}, released, released)


@bundled
def explain(  # noqa: PLR0913  typer reads the options from the signature
    *,
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="E",
            help="By how much one person may matter: 1, 0.5, ln(2).",
            show_default=False,
        ),
    ],
    delta: Annotated[
        str, typer.Option(metavar="D", help="The chance that this fails: 1e-6.", show_default=False)
    ],
    definition: Annotated[
        Literal["probabilistic", "standard"],
        typer.Option(help="What epsilon and delta mean together; the first is stronger."),
    ] = "standard",
    beta: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="The chance that a record is drawn; auto: by --people.",
            show_default="1 - e^-epsilon",
        ),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Share of epsilon for the anonymisation, not the search; 1: fixed levels.",
        ),
    ] = SPLIT,
    rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Rows of each person that are used.")
    ] = 1,
    people: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="How many people the table is publicly known to have.",
            show_default=False,
        ),
    ] = None,
    counts: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=1,
            help="Explain noisy counts of at least K records instead.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        int | None,
        typer.Option(
            metavar="C",
            min=1,
            help="Counts of up to C groups of columns per record.",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        Literal["bounded", "printed"] | None,
        typer.Option(
            help="The noise of counts: one that is bounded, or the paper's.",
            show_default="bounded",
        ),
    ] = None,
    table: TableOptions,
    files: options.HierarchyFiles,
    drawing: options.ChartFile,
    json: options.Json = False,
) -> None:
    """What do epsilon and delta mean for one person, or for a table?

    Gives k and beta of a SafePub release with these parameters, and says in words what they do.
    With --counts it gives the chances and the noise of noisy counts. With --schema, or with a
    hierarchy for each column, it says what to expect of each method. Reads no private data.
    """
    from shoal.measure import explaining

    drawing.require(released=True)
    if table.is_asked(files):
        other = {
            "beta": beta,
            "people": people,
            "counts": counts,
            "columns": columns,
            "noise": noise,
            "definition": definition != "standard",
            "split": split != SPLIT,
        }
        for name, value in other.items():
            if value:
                raise ParameterError("is not about a forecast", "leave it out", option=name)
        forecast = table.forecast(files, epsilon, delta, rows)
        _give(forecast, _forecast_pages(forecast), json)
        drawing.write(forecast)
        return
    share = options.share(split, "--split")
    if columns is not None and (counts is None or definition != "standard"):
        raise ParameterError(
            "goes with --counts and --definition standard", "give both", option="columns"
        )
    if beta is not None and counts is not None:
        raise ParameterError("does not go with --counts", "leave out one", option="beta")
    if noise is not None and counts is None:
        raise ParameterError("goes with --counts", "give both", option="noise")
    explanation: explaining.Explanation | explaining.CountExplanation
    if counts is None:
        explanation = explaining.explain(
            epsilon, delta, definition, split=share, beta=beta, rows=rows, people=people
        )
        pages = _pages(explanation)
    else:
        explanation = explaining.explain_counts(
            epsilon,
            delta,
            counts,
            definition,
            columns=columns,
            rows=rows,
            people=people,
            noise=noise or "bounded",
        )
        pages = _count_pages(explanation)
    _give(explanation, pages, json)
    drawing.write(explanation)


def _give(
    answer: "Explanation | CountExplanation | Forecast",
    pages: "Iterator[RenderableType]",
    json: bool,
) -> None:
    """Show an answer, and before it what is wrong with δ, if anything."""
    if answer.concern:
        complain(f"warning: {answer.concern}")
    if json:
        print_json(answer.to_dict())
    else:
        show(*pages)


def _forecast_pages(forecast: "Forecast") -> "Iterator[RenderableType]":
    """What to expect of each way to release, best first."""
    promise = forecast.promise
    person = f" for a person with up to {forecast.rows} rows" if forecast.rows > 1 else ""
    yield figures(
        ("epsilon, delta", f"{promise.epsilon}, {promise.to_dict()['delta']}{person}"),
        ("records", f"{forecast.stated:,}"),
        ("columns", ", ".join(forecast.columns)),
    )
    yield title("What to expect of each method: a forecast, not a promise")
    rows = []
    for one in forecast.expectations:
        counts = "true" if one.error is None else f"off by {_between(one.error)}"
        crowd = "-" if one.crowd is None else f"{one.crowd:,}"
        rows.append([one.way, _between(one.information), _between(one.kept), crowd, counts])
    yield listing(["", "information", "records", "crowd", "counts"], *rows)
    for way, reason in forecast.refused.items():
        yield f"\n{way}: {reason}"
    yield f"\n{_made(forecast)}"
    yield (
        "\nshoal.release, and the method auto of recipes, take a tree: of noisy counts, or of "
        "SafePub if they are to be truthful."
    )


def _between(figure: "Between") -> str:
    low, high = (round(100 * end) for end in (figure.low, figure.high))
    return f"{low} %" if low == high else f"{low}–{high} %"


def _made(forecast: "Forecast") -> str:
    """What the figures come from, and what they mean."""
    drawn = "that are made up, by a cautious and by a hopeful law"
    if forecast.by_like:
        drawn = "drawn from the public one"
    larger = ""
    if forecast.records < forecast.stated:
        larger = f" They have {plural(forecast.records, 'record')}; more would keep more."
    return (
        f"By releases of tables {drawn}.{larger} information: how much is kept of what the "
        "records say, where one that is not released says nothing. records: how many are in a "
        "released row. crowd: how many must share a row for it to be more likely than not to be "
        "released."
    )


_FOR_YOU = "What this means for you, if you are one of the people in the table"


def _count_pages(explanation: "CountExplanation") -> "Iterator[RenderableType]":
    """What a row that some records share may expect, and how far its count is off."""
    promise, count = explanation.promise, explanation.parameters
    each = (
        f" for each of {explanation.columns:,} groups of columns"
        if explanation.columns
        else " for a count"
    )
    yield figures(
        ("method", "noisy counts"),
        ("epsilon", f"{promise.epsilon}, {float(count.epsilon):.6g}{each}"),
        ("delta", f"{promise.to_dict()['delta']}, {float(count.delta):.3g}{each}"),
        ("definition", promise.definition),
        ("k, the fewest records", f"{count.k:,}: a row that fewer share is never released"),
        ("likely released", f"{count.half:,} records or more: more likely than not"),
        ("noise", _noise(explanation)),
    )
    yield title(_FOR_YOU)
    yield figures(
        ("odds", explanation.conclusion),
        ("delta", _failure(explanation)),
        ("if replaced", _replacing(explanation)),
    )
    yield title("The chance that a row is released, by the number of records that share it")
    yield listing(
        ["records", "chance"],
        *([f"{records:,}", percent(chance)] for records, chance in explanation.chances),
    )


def _noise(explanation: "CountExplanation") -> str:
    """How far a released count is off."""
    off = f"a count is off by {explanation.error:.3g} on average"
    if explanation.bound is None:
        return f"{off}; no count below k is shown"
    threshold = explanation.parameters.threshold
    return f"{off}, by {explanation.bound:,} at most; no count below {threshold:,} is shown"


def _pages(explanation: "Explanation") -> "Iterator[RenderableType]":
    """The explanation for people."""
    facts = explanation.to_dict()
    exact = facts["exact"]
    several = explanation.rows > 1
    each = " for each row" if several else ""
    person = f" for a person with up to {explanation.rows} rows" if several else ""
    searching = "nothing: the levels are fixed"
    if explanation.search is not None:
        searching = exact["epsilon_search"] + each
    yield figures(
        ("method", "SafePub, with beta as usual; --counts 1 explains noisy counts"),
        ("epsilon", exact["epsilon"] + person),
        ("  for the anonymisation", exact["epsilon_anonymisation"] + each),
        ("  for the search", searching),
        ("delta", exact["delta"] + (f", {exact['delta_row']} for each row" if several else "")),
        ("definition", explanation.promise.definition),
        ("k, the smallest group", f"{explanation.k:,}"),
        ("beta, the chance of being drawn", f"{float(explanation.beta):.6g}"),
    )
    yield title(_FOR_YOU)
    yield figures(
        ("not drawn", _not_drawn(explanation)),
        ("a crowd", _crowd(explanation)),
        ("odds", explanation.conclusion),
        ("delta", _failure(explanation)),
        ("if replaced", _replacing(explanation)),
    )
    yield title("Not a cliff: for larger factors delta is far smaller")
    yield listing(
        [f"epsilon of the anonymisation{each}", "factor", "delta"],
        *(
            [f"{point['epsilon']:.4g}", f"{exp(point['epsilon']):.3g}", f"{point['delta']:.3g}"]
            for point in facts["smoothness"]
        ),
    )


def _not_drawn(explanation: "Explanation") -> str:
    unseen = explanation.not_drawn
    text = (
        f"With a probability of {percent(unseen)} a row is not even looked at when the table is "
        "made."
    )
    if explanation.search is None:
        return text
    return (
        f"{text} The search for levels draws a sample of its own, at most as large: with a "
        f"probability of at least {percent(unseen**2)} neither looks at it."
    )


def _crowd(explanation: "Explanation") -> str:
    return (
        f"A row that is drawn is published only as one of at least {explanation.k:,} drawn rows "
        f"that look the same in every published column. For that, about {explanation.crowd:,.0f} "
        "rows of the table must look like it."
    )


def _replacing(explanation: "Explanation | CountExplanation") -> str:
    """What the promise means where tables of the same size are compared."""
    replacement = explanation.replacement
    unit = "row" if explanation.promise.unit == "row" else "person"
    return (
        f"epsilon {replacement.epsilon} and delta {float(replacement.delta):.3g} are kept if one "
        f"{unit} is replaced by another, instead of added or removed."
    )


def _failure(explanation: "Explanation | CountExplanation") -> str:
    delta = explanation.promise.to_dict()["delta"]
    rare = f"once in {float(1 / explanation.promise.delta):,.0f} times"
    if explanation.promise.definition == "probabilistic":
        return (
            f"With a probability of at most {delta}, {rare}, the release is one that breaks these "
            "bounds."
        )
    return f"To these bounds {delta} is added: at worst as if they did not hold at all {rare}."
