"""`shoal explain`: what ε, δ, k and β mean for one person, before any data is seen."""

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, percent, print_json, show, title
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.measure.explaining import CountExplanation, Explanation

__all__ = ["explain"]


def explain(  # noqa: PLR0913  typer reads the options from the signature
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
    ] = "0.9",
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
    json: options.Json = False,
) -> None:
    """What do epsilon and delta mean for one person?

    Gives k and beta of a SafePub release with these parameters, and says in words what they do.
    With --counts it gives the chances and the noise of noisy counts. Reads no data.
    """
    from shoal.measure import explaining

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
    if explanation.concern:
        complain(f"warning: {explanation.concern}")
    if json:
        print_json(explanation.to_dict())
    else:
        show(*pages)


def _count_pages(explanation: "CountExplanation") -> "Iterator[RenderableType]":
    """What a row that some records share may expect, and how far its count is off."""
    promise, count = explanation.promise, explanation.parameters
    each = (
        f" for each of {explanation.columns:,} groups of columns"
        if explanation.columns
        else " for a count"
    )
    yield figures(
        ("epsilon", f"{promise.epsilon}, {float(count.epsilon):.6g}{each}"),
        ("delta", f"{promise.to_dict()['delta']}, {float(count.delta):.3g}{each}"),
        ("definition", promise.definition),
        ("k, the fewest records", f"{count.k:,}: a row that fewer share is never released"),
        ("likely released", f"{count.half:,} records or more: more likely than not"),
        ("if replaced", _replacing(explanation)),
        ("noise", _noise(explanation)),
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
        ("epsilon", exact["epsilon"] + person),
        ("  for the anonymisation", exact["epsilon_anonymisation"] + each),
        ("  for the search", searching),
        ("delta", exact["delta"] + (f", {exact['delta_row']} for each row" if several else "")),
        ("definition", explanation.promise.definition),
        ("k, the smallest group", f"{explanation.k:,}"),
        ("beta, the chance of being drawn", f"{float(explanation.beta):.6g}"),
    )
    yield title("What this means for you, if you are one of the people in the table")
    yield figures(
        ("not drawn", _not_drawn(explanation)),
        ("a crowd", _crowd(explanation)),
        ("odds", _odds(explanation)),
        ("delta", _failure(explanation, facts)),
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


def _odds(explanation: "Explanation") -> str:
    odds = explanation.odds
    rows = "row" if explanation.rows == 1 else "rows"
    return (
        "Whatever somebody knows, anything they conclude from the release is at most "
        f"{odds:.3g} times as likely with your {rows} in the table as without, and at least "
        f"1/{odds:.3g} times. Somebody who believes with probability 50 % that you are in the "
        f"table believes it with at most {percent(odds / (1 + odds))} afterwards."
    )


def _replacing(explanation: "Explanation | CountExplanation") -> str:
    """What the promise means where tables of the same size are compared."""
    replacement = explanation.replacement
    unit = "row" if explanation.promise.unit == "row" else "person"
    return (
        f"epsilon {replacement.epsilon} and delta {float(replacement.delta):.3g} are kept if one "
        f"{unit} is replaced by another, instead of added or removed."
    )


def _failure(explanation: "Explanation", facts: dict[str, Any]) -> str:
    rare = f"once in {1 / facts['delta']:,.0f} times"
    delta = facts["exact"]["delta"]
    if explanation.promise.definition == "probabilistic":
        return (
            f"With a probability of at most {delta}, {rare}, the release is one that breaks these "
            "bounds."
        )
    return f"To these bounds {delta} is added: at worst as if they did not hold at all {rare}."
