"""`shoal audit` and `shoal serve`: answer queries about a table, or deny them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import (
    complain,
    figures,
    listing,
    print_json,
    show,
    title,
    warn_exposed,
    working,
)
from shoal.errors import FileError, ParameterError

if TYPE_CHECKING:
    from fractions import Fraction

    from shoal.audit import Audit, SecretState

__all__ = ["app", "serve"]

SUFFIX = ".audit"

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Put a table under audit, ask, look at what was asked, give keys.",
)
keys = typer.Typer(
    cls=options.Group, no_args_is_help=True, help="Keys for those who may ask the service."
)
app.add_typer(keys, name="key")

Place = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="The audit; else the only *.audit here.",
        envvar="SHOAL_AUDIT",
        show_envvar=False,
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the analyst.", show_default=False)]


@app.command(cls=options.Command)
def new(
    file: options.File,
    column: Annotated[
        list[str],
        typer.Option(
            "--column",
            "-c",
            metavar="A,B,…",
            help="What is secret and asked about.",
            show_default=False,
        ),
    ],
    bounds: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--bounds",
            metavar="LOW HIGH",
            help="Public bounds of the values of one column.",
            show_default=False,
        ),
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(
            "--public",
            "-p",
            metavar="A,B,…",
            help="Columns for conditions; else all others.",
            show_default=False,
        ),
    ] = None,
    named: Annotated[
        str | None,
        typer.Option(
            "--people",
            metavar="NAME",
            help="The public column that names people.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="The order of rows is public: people have numbers.")
    ] = False,
    rows_are_people: Annotated[
        bool,
        typer.Option(
            "--rows-are-people", help="Every row is a different person, though a name repeats."
        ),
    ] = False,
    family: Annotated[
        Literal["max", "min", "sum"] | None,
        typer.Option(
            "--aggregate",
            help="What is answered; else the first query decides.",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="How uncertain every value stays at least; 1 only where bounds are close.",
            show_default=False,
        ),
    ] = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="It is public that no value occurs twice.")
    ] = False,
    dither: Annotated[
        bool, typer.Option("--dither", help="For sums: add a secret part of the last digit.")
    ] = False,
    strategy: Annotated[
        Literal["binding", "simulatable", "simple"],
        typer.Option(
            metavar="NAME",
            help="How it is decided: binding, simulatable, or simple, which is unsafe.",
        ),
    ] = "binding",
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE|URL",
            help="Where it goes; else beside the table.",
            show_default=False,
        ),
    ] = None,
    types: options.Types = [],  # noqa: B006
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
) -> None:
    """Put a table under audit.

    A copy of its public and secret columns goes into a store that only you may read; nothing can be asked about the rest.
    """
    from shoal.audit import Audit, Secret

    secret = options.names(column)
    low, high = _bounds(bounds, secret)
    table = options.read(file, separator, encoding, "category", types, quote=quote)
    shown = (
        options.names(public) if public else [name for name in table.names if name not in secret]
    )
    place = store or str(file.with_suffix(SUFFIX))
    made = Audit.new(
        place,
        replace(table, rows_are_people=rows_are_people),
        [
            Secret(name, family, low, high, width, None, distinct, strategy, dither)
            for name in secret
        ],
        public=shown,
        named=named,
        rows=rows,
    )
    complain(
        f"made {made.place} for {made.people:,} people; it holds the data, so keep it as you keep that"
    )
    show(_about(made, made.state()))
    fewer = "" if public else ", and make it anew with --public"
    complain(
        "Whoever may ask can count people by the public columns as they like. If that is too much, delete the audit before "
        f"anyone has asked{fewer}."
    )
    if strategy == "simple":
        complain(
            "warning: the strategy simple is unsafe: its denials tell values. Use it to see how, on made-up data only"
        )
    where = (
        "" if store is None and Path.cwd() == file.resolve().parent else f" --store {made.place}"
    )
    complain(f"Next: shoal audit ask {_first_query(made)}{where}")


@app.command(cls=options.Command)
def ask(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY", help="As max(salary) where dept = 'X'.", show_default=False
        ),
    ],
    store: Place = None,
    json: options.Json = False,
) -> None:
    """Ask a query, and get the answer or a denial.

    The log takes it as known to everyone from then on, so ask what you would tell everyone.
    """
    reply = _opened(store).ask(query)
    if json:
        print_json({"denied": reply.denied, "answer": None if reply.denied else str(reply)})
    else:
        show(str(reply))


@app.command(cls=options.Command)
def transcript(store: Place = None, json: options.Json = False) -> None:
    """Show what was asked and replied: what all analysts may know."""
    lines = _opened(store).transcript()
    if json:
        told = [
            {
                "number": one.number,
                "query": one.query,
                "denied": one.reply.denied,
                "answer": _answer(one.reply),
            }
            for one in lines
        ]
        print_json({"lines": told})
    elif lines:
        show(figures(*((f"{one.number}  {one.reply}", one.query) for one in lines)))
    else:
        complain("nothing was asked yet")


@app.command(cls=options.Command)
def state(store: Place = None, json: options.Json = False) -> None:
    """Show how it stands with the audit: for the owner."""
    audit = _opened(store)
    standings = audit.state()
    if json:
        columns = [
            {
                **one.secret.to_dict(),
                "family": one.secret.family or one.family,
                "answered": one.answered,
                "denied": one.denied,
            }
            for one in standings
        ]
        print_json({"people": audit.people, "columns": columns, "head": audit.head()})
        return
    show(
        _about(audit, standings),
        title("Queries"),
        _counts(standings),
        figures(("head", audit.head())),
    )


@app.command(cls=options.Command)
def attack(store: Place = None, json: options.Json = False) -> None:
    """What can be worked out from all answers and denials, by someone who knows the strategy: for the owner.

    Nobody's value, unless the strategy is simple. Exit code 1: somebody's is.
    """
    from shoal.attack import told
    from shoal.measure.judging import NOTICE

    audit = _opened(store)
    with working("ruling out what would have sounded otherwise"):
        found = told(audit)
    if json:
        people = [
            {
                "column": one.column,
                "person": audit.person(one.person),
                "low": _end(one.low),
                "high": _end(one.high),
            }
            for one in found
        ]
        print_json({"not_for_release": True, "notice": NOTICE, "told": people})
    elif found:
        rows = [
            (
                ", ".join(audit.person(one.person).values()),
                one.column,
                _end(one.low),
                _end(one.high),
                str(one.promised),
            )
            for one in found
        ]
        complain(NOTICE)
        show(listing(("person", "column", "from", "to", "promised"), *rows))
    else:
        show(
            f"nothing more than was promised about any of {audit.people:,} people, from {_asked(audit)}"
        )
    if found:
        raise typer.Exit(1)


@keys.command("add", cls=options.Command)
def add(
    name: Name,
    role: Annotated[
        Literal["analyst", "owner"], typer.Option(help="An owner may also see the state.")
    ] = "analyst",
    store: Place = None,
) -> None:
    """Make a key for someone who may ask the service.

    It is printed now, and never again.
    """
    key = _opened(store).add_key(name, role)
    print(key)
    complain(f"this is the key of {name}, as {role}; it cannot be shown again")


@keys.command("list", cls=options.Command)
def list_(store: Place = None, json: options.Json = False) -> None:
    """Show who has a key."""
    there = _opened(store).keys()
    if json:
        print_json(
            {"keys": [{"name": one.name, "role": one.role, "made": one.made} for one in there]}
        )
    elif there:
        show(listing(("name", "role", "made"), *((one.name, one.role, one.made) for one in there)))
    else:
        complain("nobody has a key yet; shoal audit key add makes one")


@keys.command("remove", cls=options.Command)
def remove(name: Name, store: Place = None) -> None:
    """Take someone's key back."""
    _opened(store).remove_key(name)
    complain(f"the key of {name} is refused from now on")


def serve(
    store: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|URL",
            help="The audit; else the only *.audit here.",
            envvar="SHOAL_AUDIT",
            show_envvar=False,
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", help="The port to listen on.", min=0, max=65535)
    ] = 8000,
    quantum: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Replies leave a multiple of it after a query.", min=0
        ),
    ] = 0.25,
    rate: Annotated[
        float, typer.Option(metavar="N", help="Requests a second and key.", min=0.001)
    ] = 10,
    burst: Annotated[int, typer.Option(metavar="N", help="Requests of a key at once.", min=1)] = 20,
    body: Annotated[
        int, typer.Option(metavar="BYTES", help="The largest request.", min=100)
    ] = 1_000_000,
    waiting: Annotated[
        int, typer.Option(metavar="N", help="Requests of a key in progress.", min=1)
    ] = 16,
    cost: Annotated[
        int, typer.Option(metavar="STEPS", help="What a query may cost, in steps of 10 ns.", min=1)
    ] = 200_000_000,
    connections: Annotated[
        int, typer.Option(metavar="N", help="Connections at once.", min=1)
    ] = 512,
    per_address: Annotated[
        int, typer.Option(metavar="N", help="Connections at once from one address.", min=1)
    ] = 64,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="For a head, for a body, and to read a reply.", min=0.1
        ),
    ] = 15,
    tls_certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For TLS: a certificate.", show_default=False),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For TLS: its key.", show_default=False)
    ] = None,
) -> None:
    """Let those who have a key ask an audit over HTTP.

    Log lines go to stderr, a JSON object each, without data, queries or keys.
    """
    try:
        from shoal.service import Limits
        from shoal.service import serve as run
    except ImportError:
        raise ParameterError(
            "serving needs more libraries; install them with pip install 'shoal[service]'"
        ) from None
    audit = _opened(store)
    if tls_key is not None:
        warn_exposed(tls_key)
    if not audit.keys():
        complain("note: nobody has a key yet; shoal audit key add makes one")
    if tls_certificate is None and host not in ("127.0.0.1", "::1", "localhost"):
        complain(
            "warning: without TLS, keys and answers can be read on the way; give --tls-certificate, or use a proxy with TLS"
        )
    limits = Limits(body, rate, burst, quantum, waiting, cost, connections, per_address, timeout)
    run(
        audit,
        host=host,
        port=port,
        limits=limits,
        certificate=tls_certificate,
        key=tls_key,
        ready=lambda port: complain(
            f"serving {audit.place} on {host}, port {port}; Ctrl-C ends it"
        ),
    )


def _opened(store: str | None) -> "Audit":
    from shoal.audit import Audit

    if store is None:
        found = sorted(str(path) for path in Path().glob(f"*{SUFFIX}"))
        if len(found) != 1:
            there = "there is none here" if not found else f"here are {len(found)}"
            raise FileError(
                f"which audit? {there}; name it with --store, or make one with shoal audit new"
            )
        store = found[0]
    audit = Audit.open(store)
    if "://" not in audit.place:
        warn_exposed(audit.place)
    return audit


def _bounds(
    given: tuple[str, str] | None, secret: list[str]
) -> "tuple[Fraction, Fraction] | tuple[None, None]":
    """The ends of --bounds. Bounds that are wider than what is public would make the promise void, so they are one column's."""
    from shoal.exact.numbers import fraction

    if given is None:
        return None, None
    if len(secret) > 1:
        raise ParameterError(
            f"--bounds is about one column, and there are {len(secret)}: make an audit of each, with --store, or one in Python, "
            "with a Secret for each"
        )
    low, high = (fraction(end, "bounds") for end in given)
    if low > high:
        raise ParameterError(
            f"--bounds {given[0]} {given[1]}: the low end is above the high end; give the low one first"
        )
    return low, high


def _span(low: str | None, high: str | None) -> str:
    if low is None:
        return "no bounds" if high is None else f"up to {high}"
    return f"from {low} up" if high is None else f"from {low} to {high}"


def _about(audit: "Audit", standings: "tuple[SecretState, ...]") -> Any:
    pairs = []
    for standing in standings:
        one, told = standing.secret, standing.secret.to_dict()
        facts = [
            one.family or standing.family or _choice(one.families(audit.people)),
            _span(told["low"], told["high"]),
            "whole numbers" if one.integers else "any numbers",
            *(["all different"] if one.distinct else []),
            f"every value stays uncertain by {told['width']}",
            *(["dithered"] if one.dither else []),
            one.strategy,
        ]
        pairs.append((f"secret {one.column}", ", ".join(facts)))
    pairs.append(
        (
            "public",
            ", ".join(f"{name} ({kind.value})" for name, kind in audit.public.items()) or "nothing",
        )
    )
    if audit.named:
        pairs.append(("people by", audit.named))
    return figures(*pairs)


def _first_query(audit: "Audit") -> str:
    """A query that is not refused, whatever the values are, as it is typed into a shell."""
    from shlex import quote

    from shoal.audit import Query

    secret = audit.secrets[0]
    bounded = secret.low is not None or secret.high is not None
    if secret.strategy == "simulatable" and bounded:  # which may deny every query but this one
        return quote(str(Query("count", None)))
    return quote(str(Query(secret.families(audit.people)[0], secret.column)))


def _choice(families: tuple[str, ...]) -> str:
    """Which aggregates there are to choose from."""
    *others, last = families
    told = f"{', '.join(others)} or {last} by the first query" if others else last
    return told if "sum" in families else f"{told} (sums within bounds need --dither)"


def _counts(standings: "tuple[SecretState, ...]") -> Any:
    rows = [
        (
            one.secret.column,
            one.secret.family or one.family or "",
            str(one.answered),
            str(one.denied),
        )
        for one in standings
    ]
    return listing(("column", "aggregate", "answered", "denied"), *rows)


def _asked(audit: "Audit") -> str:
    number = sum(one.answered + one.denied for one in audit.state())
    return "1 query" if number == 1 else f"{number:,} queries"


def _end(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _answer(reply: Any) -> str | None:
    return None if reply.denied else str(reply)
