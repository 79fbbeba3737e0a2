"""`shoal ledger`: what a data set has already given away."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, figures, print_json, show, title, warn_exposed
from shoal.errors import ParameterError, plural

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from shoal.ledger import Ledger
    from shoal.ledger.account import Account, Budget, Entry

__all__ = ["app", "opened"]

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Make a ledger, show it, set its budget, verify or adopt it.",
)

Book = Annotated[
    Path, typer.Argument(metavar="PATH", help="The file of a ledger.", show_default=False)
]
Epsilon = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="What may be spent in all, as 2 or ln(2).", show_default=False
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="How sure one may become of a value, by all views, as 1/2.",
        show_default=False,
    ),
]
Limits = Annotated[
    list[str],
    typer.Option(
        "--limit",
        metavar="VALUE=SHARE",
        help="The same for one value; may be repeated.",
        show_default=False,
    ),
]
Witness = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder of the witness; by default with the state of your programs.",
        show_default=False,
    ),
]
NoWitness = Annotated[
    bool, typer.Option("--no-witness", help="No witness: an older copy would not be noticed.")
]
Delta = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="What may be spent in all, as 1e-5.", show_default=False),
]


@app.command(cls=options.Command)
def create(
    path: Book,
    epsilon: Epsilon = None,
    delta: Delta = None,
    gamma: Gamma = None,
    limit: Limits = [],  # noqa: B006  typer wants a list, and nobody changes it
    witness: Witness = None,
    no_witness: NoWitness = False,
) -> None:
    """Make a ledger for a data set.

    With --epsilon and --delta it has a budget, and a release beyond it is refused. With --gamma a release is refused that tells
    too much together with earlier ones. Keep it away from what you publish. A witness elsewhere keeps the digests of all entries,
    so that a ledger that goes back to an older copy is noticed.
    """
    from shoal.ledger import Ledger

    place = _place(witness, no_witness)
    book = Ledger.create(
        path,
        epsilon=epsilon,
        delta=delta,
        gamma=_share(gamma),
        limits=_shares(limit),
        witness=True if place is None else place,
    )
    made = book.account()
    budget = _limit(made)
    complain(
        f"made {path} with {f'a budget of {budget}' if budget else 'no budget'}{f', γ {made.gamma}' if made.gamma else ''}"
    )
    complain(f"witness: {book.witness or 'none'}")


@app.command(cls=options.Command)
def adopt(path: Book, witness: Witness = None, no_witness: NoWitness = False) -> None:
    """Say that this copy of a ledger is the one that holds, or move its witness.

    For a ledger whose witness is missing, or that is an older copy while the newest one is lost: what the witness knows to have
    been spent since is entered as spent. The adoption is an entry of the ledger.
    """
    from shoal.exact.epsilon import Epsilon
    from shoal.exact.numbers import fraction
    from shoal.ledger import Ledger
    from shoal.ledger.account import amount

    book = Ledger(path)
    warn_exposed(path)
    entry = book.adopt(_place(witness, no_witness))
    facts = entry.facts
    complain(f"entry {entry.number}: this copy is adopted; witness: {book.witness or 'none'}")
    if facts["lost"]:
        epsilon = None if facts["epsilon"] is None else Epsilon.of(facts["epsilon"])
        spent = amount(epsilon, fraction(facts["delta"], "delta"))
        complain(
            f"warning: {_entries(facts['lost'])} that the witness knew are lost; what they spent counts: {spent}"
        )


@app.command("gamma", cls=options.Command)
def gamma_(
    path: Book,
    share: Annotated[
        str, typer.Argument(metavar="SHARE", help="As 1/2; 1 takes γ away.", show_default=False)
    ],
    limit: Limits = [],  # noqa: B006
) -> None:
    """Set how sure one may become of a value, by all releases that are views together.

    It holds for releases from now on. The change is an entry of the ledger.
    """
    book = opened(path)
    before = book.account().gamma
    entry = book.set_gamma(options.share(share, "SHARE"), _shares(limit))
    complain(
        f"entry {entry.number}: γ is {book.account().gamma or 'none'}; before, {before or 'there was none'}"
    )


@app.command(cls=options.Command)
def remember(
    path: Book,
    release: Annotated[
        Path, typer.Argument(metavar="DIR", help="A release that was entered.", show_default=False)
    ],
    recipe: Annotated[
        Path,
        typer.Option(
            metavar="RECIPE", help="By which it was made: its hierarchies.", show_default=False
        ),
    ],
) -> None:
    """Add what an earlier release showed, where a ledger does not know it.

    Ledgers keep that by themselves; those that an older Shoal wrote do not have it.
    """
    from shoal.recipe import Recipe
    from shoal.releases.release import Release

    entry = opened(path).remember(Release.read(release), Recipe.load(recipe).table())
    complain(f"entry {entry.number}: what entry {entry.facts['reserved']} showed")


@app.command(cls=options.Command)
def budget(path: Book, epsilon: Epsilon = None, delta: Delta = None) -> None:
    """Set the budget of a ledger, or raise or lower it.

    What is not given stays as it is. The change is an entry of the ledger.
    """
    book = opened(path)
    before = _limit(book.account())
    entry = book.set_budget(epsilon=epsilon, delta=delta)
    complain(
        f"entry {entry.number}: the budget is {_limit(book.account())}; before, {before or 'there was none'}"
    )


@app.command("show", cls=options.Command)
def show_(path: Book, json: options.Json = False) -> None:
    """Show what was released, what is spent and what is left."""
    book = opened(path)
    account, witness = book.account(), book.witness
    if json:
        print_json({**_as_json(account), "witness": witness and str(witness)})
        return
    spent, left, gamma = account.spent, account.left, account.gamma
    show(
        figures(
            *(
                [("γ", f"{_gamma(gamma.facts())}, for all releases that are views")]
                if gamma
                else []
            ),
            *([] if gamma else [("budget", _limit(account) or "none")]),
            *([] if gamma and account.epsilon is None else [("spent", _spent(account))]),
            *([("left", left.rounded(up=False))] if left else []),
            ("releases", f"{len(account.reserved)}, of which {len(account.completed)} completed"),
            ("head", account.entries[-1].digest),
            ("witness", str(witness or "none")),
        ),
        title("Entries"),
        _history(account),
    )
    if spent.delta >= 1 and gamma is None:
        complain(
            "note: a release was entered that nothing bounds; of the whole, nothing is promised"
        )


@app.command(cls=options.Command)
def verify(
    path: Book,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST", help="A head noted earlier, which must be in it.", show_default=False
        ),
    ] = None,
) -> None:
    """Check that no byte of a ledger was changed; exit code 1 if one was.

    That the file is an older copy is known by its witness. A file that was written anew, together with its witness, shows only
    with --head.
    """
    from shoal.ledger import Ledger

    book = Ledger(path)
    warn_exposed(path)
    found = book.verify(head)
    for wrong in found:
        complain(f"{path}: {wrong}")
    if found:
        raise typer.Exit(1)
    entries = book.entries()
    show(
        figures(
            ("entries", f"{len(entries):,}, all as they were written"), ("head", entries[-1].digest)
        )
    )


def opened(path: Path) -> "Ledger":
    """The ledger at a path, with a warning of what its owner should know."""
    from shoal.ledger import Ledger

    book = Ledger(path)
    for concern in book.concerns():
        complain(f"warning: {concern}")
    return book


def _place(witness: Path | None, none: bool) -> "Path | bool | None":
    """Where the witness is to be; None if nothing is said."""
    if witness is not None and none:
        raise ParameterError("--witness and --no-witness contradict each other; give one of them")
    return False if none else witness


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number:,} entries"


def _history(account: "Account") -> Any:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column()
    data = list(dict.fromkeys(entry.facts["fingerprint"] for entry in account.reserved))
    for entry in account.entries:
        if entry.what not in ("completed", "refused"):
            table.add_row(
                str(entry.number),
                entry.time.replace("T", " ").rstrip("Z"),
                _told(entry, account, data),
            )
    return table


def _told(entry: "Entry", account: "Account", data: list[str]) -> str:
    """An entry in words; a release with the one that completes it."""
    facts = entry.facts
    if entry.what == "gamma":
        return f"changed to γ {_gamma(facts['gamma'])}" if facts["gamma"] else "changed to no γ"
    if entry.what == "adopted":
        return f"adopted this copy, {_entries(facts['lost'])} lost" if facts["lost"] else "adopted"
    if entry.what == "remembered":
        return f"added what entry {facts['reserved']} showed"
    costs = "" if facts["epsilon"] is None else f"ε {facts['epsilon']}, δ {facts['delta']}"
    if entry.what != "reserved":
        gamma = f", γ {_gamma(facts['gamma'])}" if facts.get("gamma") else ""
        verb = "created with" if entry.what == "created" else "changed to"
        return f"{verb} {f'a budget of {costs}' if costs else 'no budget'}{gamma}"
    done, refused = account.completed.get(entry.number), account.refused.get(entry.number)
    together = _together(done, refused)
    lines = [f"release by {facts['method']}{'' if together else ': ' + (costs or 'unbounded')}"]
    if costs:
        lines.append(f"{facts['definition']} definition, unit {facts['unit']}")
    lines += together
    if done:
        lines.append(f"number {done.facts['release']}")
    elif not refused:
        lines.append(
            "NOT COMPLETED" if account.gamma and not costs else "NOT COMPLETED, and counts as spent"
        )
    lines.append(
        f"data: state {data.index(facts['fingerprint']) + 1} of {len(data)}, fingerprint {facts['fingerprint'][:16]}…"
    )
    return "\n".join(lines)


def _together(done: "Entry | None", refused: "Entry | None") -> list[str]:
    """How a release stood with those before it, in words."""
    entry = done or refused
    if entry is None or "together" not in entry.facts:
        return []
    found = entry.facts["together"]
    share, others = _gamma(found["gamma"]), plural(len(found["with"]), "earlier release")
    if found["kept"]:
        return [f"keeps γ {share}, with {others}"]
    verdict = "does not keep" if found["kept"] is False else "not decided whether it keeps"
    said = f"REFUSED: {verdict} γ {share}" if refused else f"OVERRIDDEN: {verdict} γ {share}"
    return [
        f"{said}, with {others}",
        found["why"],
        *([f"reason: {entry.facts['override']}"] if done else []),
    ]


def _gamma(facts: "Mapping[str, Any]") -> str:
    """A γ as an entry has it, in words, with the limits of single values."""
    limits = ", ".join(f"{value} {limit}" for value, limit in facts["limits"].items())
    return f"{facts['share']} ({limits})" if limits else str(facts["share"])


def _share(text: str | None) -> "Fraction | None":
    return None if text is None else options.share(text, "--gamma")


def _shares(given: list[str]) -> dict[str, Any]:
    return {
        value: options.share(share, f"--limit {value}")
        for value, share in options.pairs(given, "--limit", "VALUE=SHARE").items()
    }


def _limit(account: "Account") -> str:
    from shoal.ledger.account import amount

    return amount(*account.limit) if account.limit else ""


def _spent(account: "Account") -> str:
    """What is spent; where γ bounds the views, by all other releases."""
    if account.gamma:
        bounded = (
            entry
            for entry in account.entries
            if entry.what not in ("reserved", "adopted") or entry.facts["epsilon"] is not None
        )
        account = replace(account, entries=tuple(bounded))
    return (
        account.told
        if account.unit is None
        else f"{account.told} ({account.definition} definition, unit {account.unit})"
    )


def _as_json(account: "Account") -> dict[str, Any]:
    """Numbers are texts that are exact, ε rounded to the safe side where it is a logarithm."""
    from shoal.exact.numbers import short

    def numbers(some: "Budget | None") -> dict[str, str] | None:
        return some and {"epsilon": short(some.epsilon), "delta": short(some.delta)}

    limit = account.limit
    return {
        "budget": limit and {"epsilon": str(limit[0]), "delta": short(limit[1])},
        "spent": numbers(account.spent),
        "left": numbers(account.left),
        "bounded": account.spent.delta < 1,
        "gamma": account.gamma and account.gamma.facts(),
        "head": account.entries[-1].digest,
        "entries": [
            {
                "entry": entry.number,
                "what": entry.what,
                "time": entry.time,
                **_facts(entry),
                "digest": entry.digest,
            }
            for entry in account.entries
        ],
    }


def _facts(entry: "Entry") -> dict[str, Any]:
    """The facts of an entry, without what it showed, which is long and packed: only how long it is."""
    return {
        name: len(fact) if name == "shown" and fact else fact for name, fact in entry.facts.items()
    }
