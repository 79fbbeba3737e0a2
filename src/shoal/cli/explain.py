"""`shoal explain`: what ε, δ, k and β mean for one person, before any data is seen."""

from collections.abc import Iterator
from fractions import Fraction
from math import exp, sinh
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, listing, percent, print_json, show, title
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.privacy import DifferentialPrivacy, Epsilon

__all__ = ["explain"]

CURVE = (
    Fraction(1),
    Fraction(3, 2),
    Fraction(2),
    Fraction(3),
)  # the multiples of ε at which the smoothness curve is shown
CHANCES = tuple(
    map(Fraction, ("0", "0.01", "0.1", "0.5", "0.9", "0.99", "0.999"))
)  # each with its number of records


def explain(
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
    ] = "probabilistic",
    split: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Of epsilon for the anonymisation, the rest is for the search; 1: fixed levels.",
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
            help="And of up to C groups of columns a record is in.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """What do epsilon and delta mean for one person?

    Gives k and beta of a SafePub release with these parameters, and says in words what they do. With --counts it gives the
    chances and the noise of noisy counts. Reads no data.
    """
    from shoal.exact.numbers import short
    from shoal.privacy import (
        DifferentialPrivacy,
        Epsilon,
        delta_concern,
        per_row,
        safepub_parameters,
    )

    share = options.share(split, "--split")
    if not share:
        raise ParameterError(
            "--split 0 leaves nothing for the anonymisation; give a share above 0, such as 0.9"
        )
    if rows > 1 and definition != "standard":
        raise ParameterError(
            f"--rows {rows}: the probabilistic definition says nothing of several rows; add --definition standard"
        )
    promise = DifferentialPrivacy(epsilon, delta, definition, "row" if rows == 1 else "person")
    each, failure = per_row(epsilon, delta, rows)
    if columns is not None and (counts is None or definition != "standard"):
        raise ParameterError("--columns goes with --counts, and with --definition standard")
    if counts is not None:
        if people is not None and (concern := delta_concern(delta, people)):
            complain(f"warning: {concern}")
        _explain_counts(promise, each, failure, counts, columns, json)
        return
    anonymisation = each * share
    search = each * (1 - share) if share < 1 else None
    found = safepub_parameters(anonymisation, failure, definition)
    curve = [(anonymisation * factor, found.delta_at(anonymisation * factor)) for factor in CURVE]
    concern = None if people is None else delta_concern(delta, people)
    odds = float(Epsilon.of(promise.epsilon).exponential()[1])
    facts: dict[str, Any] = {
        "epsilon": float(Epsilon.of(promise.epsilon)),
        "delta": float(Fraction(promise.delta)),
        "definition": definition,
        "rows": rows,
        "split": {"anonymisation": float(share), "search": float(1 - share)},
        "epsilon_anonymisation": float(anonymisation),
        "epsilon_search": float(search or 0),
        "k": found.k,
        "beta": float(found.beta),
        "gamma": float(found.gamma),
        "not_drawn": float(1 - found.beta),
        "crowd": float(found.k / found.beta),
        "odds": odds,
        "smoothness": [{"epsilon": float(one), "delta": float(chance)} for one, chance in curve],
        "promise": promise.statement,
        "exact": {
            "epsilon": str(promise.epsilon),
            "delta": short(Fraction(promise.delta)),
            "epsilon_anonymisation": str(anonymisation),
            "epsilon_search": "0" if search is None else str(search),
            "delta_row": short(failure),
            "beta": str(found.beta),
        },
    }
    if concern:
        complain(f"warning: {concern}")
    if json:
        print_json(facts)
    else:
        show(*_pages(facts))


def _explain_counts(
    promise: "DifferentialPrivacy",
    each: "Epsilon",
    failure: Fraction,
    k: int,
    columns: int | None,
    json: bool,
) -> None:
    """What a row that so many records share may expect, and how far its count is off."""
    from shoal.exact.numbers import short
    from shoal.privacy.noise import column_parameters, noisy_count_parameters

    found = (
        noisy_count_parameters(each, failure, k, promise.definition)
        if columns is None
        else column_parameters(each, failure, columns, k)
    )
    sizes = [
        next((i for i in range(k, len(found.withheld)) if found.chance(i) >= least), None)
        for least in CHANCES
    ]
    shown = [(i, found.chance(i)) for i in dict.fromkeys(sizes) if i is not None]
    facts: dict[str, Any] = {
        "epsilon": float(promise.epsilon),
        "delta": float(Fraction(promise.delta)),
        "definition": promise.definition,
        "k": k,
        "columns": columns,
        "epsilon_count": float(found.epsilon),
        "delta_count": float(found.delta),
        "scale": float(found.scale),
        "noise": 1 / sinh(1 / float(found.scale)),  # E|z| = 2r / (1 − r²)
        "half": found.half,
        "chances": [{"records": i, "chance": float(chance)} for i, chance in shown],
        "promise": promise.statement,
        "exact": {
            "epsilon_count": str(found.epsilon),
            "delta_count": short(found.delta),
            "scale": str(found.scale),
        },
    }
    if json:
        print_json(facts)
        return
    of_each = f" for each of {columns:,} groups of columns" if columns else " for a count"
    show(
        figures(
            ("epsilon", f"{promise.epsilon}, {facts['epsilon_count']:.6g}{of_each}"),
            ("delta", f"{short(Fraction(promise.delta))}, {facts['delta_count']:.3g}{of_each}"),
            ("definition", promise.definition),
            ("k, the fewest records", f"{k:,}: a row that fewer share is never released"),
            ("likely released", f"{found.half:,} records or more: more likely than not"),
            (
                "noise",
                f"a released count is off by {facts['noise']:.3g} on average, and never below k",
            ),
        ),
        title("With which chance is a row released that so many records share?"),
        listing(
            ["records", "chance"], *([f"{i:,}", percent(float(chance))] for i, chance in shown)
        ),
    )


def _pages(facts: dict[str, Any]) -> "Iterator[RenderableType]":
    """The explanation for people."""
    exact, rows, search = facts["exact"], facts["rows"], facts["epsilon_search"]
    of_each = " for each row" if rows > 1 else ""
    yield figures(
        (
            "epsilon",
            exact["epsilon"] + (f" for a person with up to {rows} rows" if rows > 1 else ""),
        ),
        ("  for the anonymisation", exact["epsilon_anonymisation"] + of_each),
        (
            "  for the search",
            exact["epsilon_search"] + of_each if search else "nothing: the levels are fixed",
        ),
        ("delta", exact["delta"] + (f", {exact['delta_row']} for each row" if rows > 1 else "")),
        ("definition", facts["definition"]),
        ("k, the smallest group", f"{facts['k']:,}"),
        ("beta, the chance to be drawn", f"{facts['beta']:.6g}"),
    )
    yield title("What this means for you, if you are one of the people in the table")
    unseen, odds = facts["not_drawn"], facts["odds"]
    drawn = f"With a probability of {percent(unseen)} a row is not even looked at when the table is made."
    if search:
        drawn += f" The search for levels draws for itself, no more often: with {percent(unseen**2)} or more neither looks at it."
    crowd = (
        f"A row that is drawn is published only as one of at least {facts['k']:,} drawn rows that look the same in every "
        f"published column. For that, about {facts['crowd']:,.0f} rows of the table must look like it."
    )
    likely = (
        f"Whatever somebody knows, anything they conclude from the release is at most {odds:.3g} times as likely with your "
        f"{'row' if rows == 1 else 'rows'} in the table as without, and at least 1/{odds:.3g} times. Somebody who believes "
        f"with 50 % that you are in the table can believe it with at most {percent(odds / (1 + odds))} afterwards."
    )
    rare = f"once in {1 / facts['delta']:,.0f} times"
    if facts["definition"] == "probabilistic":
        fails = f"With a probability of at most {exact['delta']}, {rare}, the release is one that breaks these bounds."
    else:
        fails = f"To these bounds {exact['delta']} is added: at worst as if they did not hold at all {rare}."
    yield figures(("not drawn", drawn), ("a crowd", crowd), ("odds", likely), ("delta", fails))
    yield title("Not a cliff: for larger factors delta is far smaller")
    yield listing(
        [f"epsilon of the anonymisation{of_each}", "factor", "delta"],
        *(
            [f"{one['epsilon']:.4g}", f"{exp(one['epsilon']):.3g}", f"{one['delta']:.3g}"]
            for one in facts["smoothness"]
        ),
    )
