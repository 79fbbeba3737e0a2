"""`shoal ledger`: what a data set has already given away. Calls `Ledger` and shows its answers."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, figures, print_json, remark, show, title, warn_exposed
from shoal.errors import ParameterError, plural

if TYPE_CHECKING:
    from fractions import Fraction

    from shoal.ledger import Ledger, LedgerEntry
    from shoal.ledger.account import Account, Budget
    from shoal.ledger.entries import Allowance, Gamma, Reserved, Together

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
        metavar="NUMBER",
        help="The most that may be spent in total, such as 2 or ln(2).",
        show_default=False,
    ),
]
Delta = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="The most that may be spent in total, such as 1e-5.",
        show_default=False,
    ),
]
Share = Annotated[
    str | None,
    typer.Option(
        "--gamma",
        metavar="SHARE",
        help="How sure anyone may become of a value, from all views, such as 1/2.",
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
WitnessFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder of the witness; by default, that of your programs' state.",
        show_default=False,
    ),
]
NoWitness = Annotated[
    bool,
    typer.Option("--no-witness", help="Keep no witness; an older copy would go unnoticed."),
]


@app.command(cls=options.Command)
def create(
    path: Book,
    epsilon: Epsilon = None,
    delta: Delta = None,
    gamma: Share = None,
    limit: Limits = [],  # noqa: B006  typer wants a list, and nobody changes it
    witness: WitnessFolder = None,
    no_witness: NoWitness = False,
) -> None:
    """Make a ledger for a data set.

    With --epsilon and --delta it has a budget, and a release beyond it is refused. With --gamma a
    release is refused that reveals too much together with earlier ones. Keep the ledger away from
    what you publish. A witness elsewhere keeps the digests of all entries, so that going back to an
    older copy is noticed.
    """
    from shoal.ledger import Ledger

    place = _place(witness, no_witness)
    book = Ledger.create(
        path,
        epsilon=epsilon,
        delta=delta,
        gamma=None if gamma is None else options.share(gamma, "--gamma"),
        limits=_shares(limit),
        witness=True if place is None else place,
    )
    account = book.account()
    parts = [f"a budget of {_amount(account.limit)}" if account.limit else "no budget"]
    if account.gamma:
        parts.append(f"γ {account.gamma}")
    remark(f"made {path} with {', '.join(parts)}")
    remark(f"witness: {book.witness or 'none'}")


@app.command(cls=options.Command)
def adopt(path: Book, witness: WitnessFolder = None, no_witness: NoWitness = False) -> None:
    """Declare this copy of a ledger the valid one, or move its witness.

    For a ledger whose witness is missing, or that is an older copy while the newest one is lost:
    what the witness knows to have been spent since is entered as spent. The adoption is an entry of
    the ledger.
    """
    from shoal.ledger import Ledger
    from shoal.ledger.account import amount

    book = Ledger(path)
    warn_exposed(path)
    entry = book.adopt(_place(witness, no_witness))
    remark(f"entry {entry.number}: this copy is adopted; witness: {book.witness or 'none'}")
    cost = entry.facts.cost
    if entry.facts.lost and cost.delta is not None:
        spent = amount(cost.epsilon, cost.delta)
        complain(
            f"warning: {_entries(entry.facts.lost)} that the witness knew are lost; "
            f"what they spent counts: {spent}"
        )


@app.command("gamma", cls=options.Command)
def gamma_(
    path: Book,
    share: Annotated[
        str,
        typer.Argument(
            metavar="SHARE", help="The new γ, such as 1/2; 1 removes it.", show_default=False
        ),
    ],
    limit: Limits = [],  # noqa: B006
) -> None:
    """Set how sure anyone may become of a value, from all views together.

    It holds for releases from now on. The change is an entry of the ledger.
    """
    book = opened(path)
    before = book.account().gamma or "there was none"
    entry = book.set_gamma(options.share(share, "SHARE"), _shares(limit))
    remark(f"entry {entry.number}: γ is {entry.facts.gamma or 'none'}; before, {before}")


@app.command(cls=options.Command)
@bundled
def remember(
    path: Book,
    release: Annotated[
        Path, typer.Argument(metavar="DIR", help="A release that was entered.", show_default=False)
    ],
    recipe: Annotated[
        Path,
        typer.Option(
            metavar="RECIPE",
            help="The recipe it was made by, for its hierarchies.",
            show_default=False,
        ),
    ],
    *,
    counting: options.Following,
) -> None:
    """Add what an earlier release showed, where a ledger does not know it.

    Ledgers keep that by themselves, unless a release was entered step by step.
    """
    from shoal.releases.release import Release

    entry = opened(path).remember(Release.read(release), counting.load(recipe).table())
    remark(f"entry {entry.number}: what entry {entry.facts.reserved} showed")


@app.command(cls=options.Command)
def budget(path: Book, epsilon: Epsilon = None, delta: Delta = None) -> None:
    """Set the budget of a ledger, or raise or lower it.

    What is not given stays the same. The change is an entry of the ledger.
    """
    book = opened(path)
    limit = book.account().limit
    entry = book.set_budget(epsilon=epsilon, delta=delta)
    before = _amount(limit) if limit else "there was none"
    remark(f"entry {entry.number}: the budget is {_amount(entry.facts.budget)}; before, {before}")


@app.command("show", cls=options.Command)
def show_(path: Book, json: options.Json = False) -> None:
    """Show what was released, what is spent and what is left."""
    book = opened(path)
    account, witness = book.account(), book.witness
    if json:
        print_json({**_as_json(account), "witness": None if witness is None else str(witness)})
        return
    pairs = []
    if account.gamma:
        pairs.append(("γ", f"{_gamma_text(account.gamma)}, for all releases that are views"))
    else:
        pairs.append(("budget", _amount(account.limit) if account.limit else "none"))
    if account.gamma is None or account.epsilon is not None:
        pairs.append(("spent", _spent(account)))
    if account.left:
        pairs.append(("left", account.left.rounded(up=False)))
    releases = f"{len(account.reserved)}, of which {len(account.completed)} completed"
    pairs.append(("releases", releases))
    pairs.append(("head", account.entries[-1].digest))
    pairs.append(("witness", str(witness or "none")))
    show(figures(*pairs), title("Entries"), _history(account))
    if account.delta >= 1 and account.gamma is None:
        remark("note: nothing bounds one of the releases; of the whole, nothing is promised")


@app.command(cls=options.Command)
def verify(
    path: Book,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST",
            help="A head noted earlier, which the ledger must contain.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Check that no byte of a ledger was changed; exit code 1 if one was.

    The witness shows whether the file is an older copy. A file that was written anew, together with
    its witness, is found only with --head.
    """
    from shoal.ledger import Ledger

    book = Ledger(path)
    warn_exposed(path)
    problems = book.verify(head)
    for problem in problems:
        complain(f"{path}: {problem}")
    if problems:
        raise typer.Exit(1)
    entries = book.entries()
    number = f"{len(entries):,}, all as they were written"
    show(figures(("entries", number), ("head", entries[-1].digest)))


def opened(path: Path) -> "Ledger":
    """The ledger at a path, with a warning of what its owner should know."""
    from shoal.ledger import Ledger

    book = Ledger(path)
    for concern in book.concerns():
        complain(f"warning: {concern}")
    return book


# Options


def _place(witness: Path | None, none: bool) -> "Path | bool | None":
    """Where the witness is to be; None if neither option is given."""
    if witness is not None and none:
        raise ParameterError("--witness and --no-witness contradict each other", "give one of them")
    return False if none else witness


def _shares(limits: list[str]) -> "dict[str, Fraction]":
    shares = options.pairs(limits, "--limit", "VALUE=SHARE")
    return {value: options.share(share, f"--limit {value}") for value, share in shares.items()}


# Entries in words


def _history(account: "Account") -> Any:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column()
    states = list(dict.fromkeys(entry.facts.fingerprint for entry in account.reserved))
    for entry in account.entries:
        text = _described(entry, account, states)
        if text is not None:
            time = entry.time.replace("T", " ").rstrip("Z")
            table.add_row(str(entry.number), time, text)
    return table


def _described(entry: "LedgerEntry[Any]", account: "Account", states: list[str]) -> str | None:
    """An entry in words; None if it is shown with the release that it is about."""
    facts = entry.facts
    match entry.what:
        case "created":
            budget = f"a budget of {_amount(facts.budget)}" if facts.budget else "no budget"
            gamma = f", γ {_gamma_text(facts.gamma)}" if facts.gamma else ""
            return f"created with {budget}{gamma}"
        case "budget":
            return f"changed to a budget of {_amount(facts.budget)}"
        case "gamma":
            return f"changed to γ {_gamma_text(facts.gamma)}" if facts.gamma else "changed to no γ"
        case "adopted":
            lost = f" this copy, {_entries(facts.lost)} lost" if facts.lost else ""
            return f"adopted{lost}"
        case "remembered":
            return f"added what entry {facts.reserved} showed"
        case "reserved":
            return "\n".join(_release_lines(entry, account, states))
        case _:
            return None


def _release_lines(
    entry: "LedgerEntry[Reserved]", account: "Account", states: list[str]
) -> list[str]:
    """A release with the entry that completes it, or refuses it."""
    facts = entry.facts
    done, refused = account.completed.get(entry.number), account.refused.get(entry.number)
    together = []
    if done and done.facts.together:
        together = _together(done.facts.together, "OVERRIDDEN")
        if done.facts.override:
            together.append(f"reason: {done.facts.override}")
    if refused:
        together = _together(refused.facts.together, "REFUSED")
    cost = facts.cost.to_dict()
    spent = f"ε {cost['epsilon']}, δ {cost['delta']}" if facts.bounded else "unbounded"
    lines = [f"release by {facts.method}" + ("" if together else f": {spent}")]
    if facts.bounded:
        lines.append(f"{cost['definition']} definition, unit {cost['unit']}")
    lines += together
    if done:
        lines.append(f"number {done.facts.release}")
    elif not refused:
        counts = "" if account.gamma and not facts.bounded else ", and counts as spent"
        lines.append(f"NOT COMPLETED{counts}")
    state = f"state {states.index(facts.fingerprint) + 1} of {len(states)}"
    return [*lines, f"data: {state}, fingerprint {facts.fingerprint[:16]}…"]


def _together(together: "Together", otherwise: str) -> list[str]:
    """How a release stood with those before it; `otherwise` is what happened without γ."""
    share = _gamma_text(together.gamma)
    others = plural(len(together.entries), "earlier release")
    if together.kept:
        return [f"keeps γ {share}, with {others}"]
    verdict = "not decided whether it keeps"
    if together.kept is False:
        verdict = "does not keep"
    return [f"{otherwise}: {verdict} γ {share}, with {others}", together.why]


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number:,} entries"


def _gamma_text(gamma: "Gamma") -> str:
    """A γ with the limits of single values."""
    limits = ", ".join(f"{value} {limit}" for value, limit in gamma.limits.items())
    return f"{gamma.share} ({limits})" if limits else str(gamma.share)


def _amount(budget: "Allowance | None") -> str:
    from shoal.ledger.account import amount

    return amount(*budget) if budget else ""


def _spent(account: "Account") -> str:
    """What is spent; where γ bounds the views, by all other releases."""
    if account.gamma:
        unbounded = {entry.number for entry in account.spending if entry.facts.cost.epsilon is None}
        bounded = tuple(entry for entry in account.entries if entry.number not in unbounded)
        account = replace(account, entries=bounded)
    cost = account.cost
    if cost.unit is None:
        return account.spent_text
    return f"{account.spent_text} ({cost.definition} definition, unit {cost.unit})"


# Entries as JSON


def _as_json(account: "Account") -> dict[str, Any]:
    """Numbers are exact, as texts; ε is rounded to the safe side where it is a logarithm."""
    from shoal.exact.numbers import short

    limit = account.limit
    budget = limit and {"epsilon": str(limit.epsilon), "delta": short(limit.delta)}
    return {
        "budget": budget,
        "spent": _numbers(account.spent),
        "left": _numbers(account.left),
        "bounded": account.delta < 1,
        "gamma": account.gamma and account.gamma.to_dict(),
        "head": account.entries[-1].digest,
        "entries": [_entry_json(entry) for entry in account.entries],
    }


def _numbers(amount: "Budget | None") -> dict[str, str] | None:
    from shoal.exact.numbers import short

    if amount is None:
        return None
    return {"epsilon": short(amount.epsilon), "delta": short(amount.delta)}


def _entry_json(entry: "LedgerEntry[Any]") -> dict[str, Any]:
    """An entry without what its release showed, which is long and packed: only how long it is."""
    facts = entry.facts.to_dict()
    if facts.get("shown"):
        facts["shown"] = len(facts["shown"])
    head = {"entry": entry.number, "what": entry.what, "time": entry.time}
    return {**head, **facts, "digest": entry.digest}
