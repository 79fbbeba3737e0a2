"""`shoal audit` and `shoal serve`: answer queries about a table, or deny them."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    complain,
    figures,
    listing,
    print_json,
    remark,
    show,
    title,
    warn_exposed,
    working,
)
from shoal.cli.workbench import needs_libraries
from shoal.errors import FileError, ParameterError
from shoal.zones import NOT_FOR_RELEASE, NOTICE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.attack import Disclosed
    from shoal.audit import Audit, Reply, Secret
    from shoal.audit.knowledge import ColumnKnowledge
    from shoal.audit.overview import ColumnOverview, ColumnSettings
    from shoal.data.tables import Table
    from shoal.service import ServiceLimits

__all__ = ["app", "serve"]

SUFFIX = ".audit"
BAR = 40  # characters of a bar for all people

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Put a table under audit, ask queries, see what was asked, manage keys.",
)
keys = typer.Typer(
    cls=options.Group, no_args_is_help=True, help="Keys for those who may query the service."
)
app.add_typer(keys, name="key")

Place = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="The audit; by default, the only *.audit here.",
        envvar="SHOAL_AUDIT",
        show_envvar=False,
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The analyst.", show_default=False)]


@dataclass(frozen=True)
class SecretOptions:
    """What is secret, and what is public of it."""

    column: Annotated[
        list[str],
        typer.Option(
            "--column",
            "-c",
            metavar="A,B,…",
            help="Secret columns to ask about.",
            show_default=False,
        ),
    ]
    bounds: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--bounds",
            metavar="LOW HIGH",
            help="Public bounds of one column's values: numbers, or public columns.",
            show_default=False,
        ),
    ] = None
    family: Annotated[
        Literal["max", "min", "sum"] | None,
        typer.Option(
            "--aggregate",
            help="What is answered; by default, the first query decides.",
            show_default=False,
        ),
    ] = None
    width: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="How uncertain every value stays; 1 by default, if bounds are close together.",
            show_default=False,
        ),
    ] = None
    distinct: Annotated[
        bool, typer.Option("--distinct", help="It is public that no value occurs twice.")
    ] = False
    dither: Annotated[
        bool, typer.Option("--dither", help="For sums: add a secret part of the last digit.")
    ] = False
    strategy: Annotated[
        Literal["binding", "simulatable", "simple"],
        typer.Option(
            metavar="NAME", help="How to decide: binding, simulatable, or simple (unsafe)."
        ),
    ] = "binding"

    def names(self) -> list[str]:
        return options.names(self.column)

    def secrets(self) -> "list[Secret]":
        from shoal.audit import Secret

        bounds = self._bounds()
        return [
            Secret(
                name,
                self.family,
                width=self.width,
                distinct=self.distinct,
                strategy=self.strategy,
                dither=self.dither,
                **bounds,
            )
            for name in self.names()
        ]

    def _bounds(self) -> "dict[str, Any]":
        """The ends of --bounds; too wide ones break the promise, so they are for one column."""
        from shoal.exact.numbers import fraction

        if self.bounds is None:
            return {}
        columns = len(self.names())
        if columns > 1:
            raise ParameterError(
                f"is for one column, and there are {columns}",
                "make one audit per column, with `store`, or use Python, with a Secret for each",
                option="bounds",
            )
        given: dict[str, Any] = {}
        for side, text in zip(("low", "high"), self.bounds, strict=True):
            try:
                given[side] = fraction(text, "bounds")
            except ParameterError:
                given[f"{side}_column"] = text
        return given


@dataclass(frozen=True)
class PublicOptions:
    """What is public of people."""

    public: Annotated[
        list[str] | None,
        typer.Option(
            "--public",
            "-p",
            metavar="A,B,…",
            help="Columns for conditions; all others by default.",
            show_default=False,
        ),
    ] = None
    named: Annotated[
        str | None,
        typer.Option(
            "--people",
            metavar="NAME",
            help="The public column that names people.",
            show_default=False,
        ),
    ] = None
    rows: Annotated[
        bool, typer.Option("--rows", help="The order of rows is public: people are numbered.")
    ] = False
    rows_are_people: Annotated[
        bool,
        typer.Option(
            "--rows-are-people", help="Every row is a different person, even if names repeat."
        ),
    ] = False

    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="NAME",
            help="Who a row is about, where people are in several rows.",
            show_default=False,
        ),
    ] = None

    def columns(self, table: "Table", secret: list[str]) -> list[str]:
        if self.public:
            return options.names(self.public)
        return [name for name in table.names if name not in secret]


@dataclass(frozen=True)
class ReadingOptions(options.Layout):
    """How the table is read."""

    types: options.Types = field(default_factory=list)

    def table(self, file: str) -> "Table":
        return options.Form(**vars(self)).read(file)


@app.command(cls=options.Command)
@bundled
def new(
    file: options.File,
    secret: SecretOptions,
    people: PublicOptions,
    reading: ReadingOptions,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE|URL",
            help="Where to keep it; beside the table by default.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Put a table under audit.

    A copy of its public and secret columns goes into a store that only you may read; nothing can be
    asked about the rest.
    """
    from shoal.audit import Audit
    from shoal.audit.overview import first_query, overview
    from shoal.data.disk import is_address

    secrets = secret.secrets()
    if store is None and is_address(file):
        raise ParameterError("an audit of a database is not kept beside it", "give `store` a place")
    table = replace(reading.table(file), rows_are_people=people.rows_are_people)
    audit = Audit.new(
        store or str(Path(file).with_suffix(SUFFIX)),
        table,
        secrets,
        public=people.columns(table, secret.names()),
        named=people.named,
        rows=people.rows,
        unit=people.unit,
    )
    remark(
        f"made {audit.place} for {audit.people:,} people; "
        "it contains the data, so protect it as you protect the data"
    )
    show(_settings(audit, overview(audit)))
    again = "" if people.public else ", and make a new one with --public"
    remark(
        "Anyone who may ask can count people by the public columns. If that reveals too much, "
        f"delete the audit before anyone asks{again}."
    )
    if secret.strategy == "simple":
        complain(
            "warning: the strategy simple is unsafe: its denials reveal values; "
            "use it only to see how, on made-up data"
        )
    found_here = store is None and Path.cwd() == Path(file).resolve().parent
    where = "" if found_here else f" --store {audit.place}"
    remark(f"Next: shoal audit ask {quote(str(first_query(audit)))}{where}")


@app.command(cls=options.Command)
def ask(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY", help="Such as max(salary) where dept = 'X'.", show_default=False
        ),
    ],
    store: Place = None,
    json: options.Json = False,
) -> None:
    """Ask a query, and get the answer or a denial.

    From then on the audit assumes that everyone knows the reply, so ask only what everyone may
    know.
    """
    reply = _opened(store).ask(query)
    if json:
        print_json(_reply(reply))
    else:
        show(str(reply))


@app.command(cls=options.Command)
def transcript(store: Place = None, json: options.Json = False) -> None:
    """Show all queries and replies, which every analyst may see."""
    lines = _opened(store).transcript()
    if json:
        shown = [
            {"number": line.number, "query": line.query, **_reply(line.reply)} for line in lines
        ]
        print_json({"lines": shown})
    elif lines:
        show(figures(*((f"{line.number}  {line.reply}", line.query) for line in lines)))
    else:
        remark("nothing has been asked yet")


@app.command(cls=options.Command)
def state(
    store: Place = None,
    chart: options.Chart = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Show the state of the audit, and how closely values are known (owner only)."""
    from shoal.audit.knowledge import knowledge
    from shoal.audit.overview import overview, queries_of
    from shoal.studies import saving

    options.require_chart(chart, force)
    audit = _opened(store)
    columns = overview(audit)
    with working("working out how closely values are known"):
        known = knowledge(audit)
    head = audit.head()
    if json:
        shown = [column.to_dict() for column in columns]
        apart = [column.to_dict() for column in known]
        figures_of = {"people": audit.people, "columns": shown, "known": apart, "head": head}
        print_json({**NOT_FOR_RELEASE, **figures_of})
    else:
        show(
            NOTICE,
            "",
            _settings(audit, columns),
            title("Queries"),
            _numbers(columns),
            *(part for column in known for part in _known(column, audit.people)),
            figures(("head", head)),
        )
    if chart is not None:
        widths = [picture for column in known for picture in column.pictures()]
        saving.save([queries_of(columns), *widths], chart)
        remark(f"wrote {chart}, which is not for release")


@app.command(cls=options.Command)
def attack(store: Place = None, json: options.Json = False) -> None:
    """Show what someone who knows the strategy can infer from all replies (owner only).

    Nobody's value, unless the strategy is simple. Exit code 1: somebody's value is disclosed.
    """
    from shoal.attack import disclosed
    from shoal.audit.overview import overview

    audit = _opened(store)
    with working("ruling out tables that contradict the replies"):
        values = disclosed(audit)
    if json:
        shown = [_disclosed(audit, value) for value in values]
        print_json({**NOT_FOR_RELEASE, "disclosed": shown})
    elif values:
        complain(NOTICE)
        rows = [_disclosed_row(audit, value) for value in values]
        show(listing(("person", "column", "from", "to", "promised"), *rows))
    else:
        asked = sum(column.answered + column.denied for column in overview(audit))
        queries = "1 query" if asked == 1 else f"{asked:,} queries"
        show(
            f"nothing beyond the promise is known about any of {audit.people:,} people, "
            f"from {queries}"
        )
    if values:
        raise typer.Exit(1)


@keys.command("add", cls=options.Command)
def add(
    name: Name,
    role: Annotated[
        Literal["analyst", "owner"], typer.Option(help="An owner may also see the state.")
    ] = "analyst",
    store: Place = None,
) -> None:
    """Make a key for someone who may query the service.

    It is printed once, and cannot be shown again.
    """
    key = _opened(store).add_key(name, role)
    print(key)
    remark(f"this is the key of {name} ({role}); it cannot be shown again")


@keys.command("list", cls=options.Command)
def list_(store: Place = None, json: options.Json = False) -> None:
    """Show who has a key."""
    holders = _opened(store).keys()
    if json:
        shown = [{"name": key.name, "role": key.role, "made": key.made} for key in holders]
        print_json({"keys": shown})
    elif holders:
        rows = [(key.name, key.role, key.made) for key in holders]
        show(listing(("name", "role", "made"), *rows))
    else:
        remark("nobody has a key yet; shoal audit key add makes one")


@keys.command("remove", cls=options.Command)
def remove(name: Name, store: Place = None) -> None:
    """Revoke someone's key."""
    _opened(store).remove_key(name)
    remark(f"the key of {name} is refused from now on")


@dataclass(frozen=True)
class AddressOptions:
    """Where to listen."""

    host: Annotated[str, typer.Option(metavar="HOST", help="The address to listen on.")] = (
        "127.0.0.1"
    )
    port: Annotated[
        int, typer.Option(metavar="PORT", help="The port to listen on.", min=0, max=65535)
    ] = 8000
    tls_certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For TLS: a certificate.", show_default=False),
    ] = None
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For TLS: its key.", show_default=False)
    ] = None

    known_as: Annotated[
        list[str],
        typer.Option(
            metavar="HOST,…",
            help="For --workbench: the hosts in the addresses that people open.",
            show_default=False,
        ),
    ] = field(default_factory=list)

    @property
    def exposed(self) -> bool:
        """Whether others could read what is sent."""
        return self.tls_certificate is None and self.host not in ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class ClientLimitOptions:
    """What clients may do."""

    quantum: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Replies are sent at multiples of it after a query.", min=0
        ),
    ] = 0.25
    rate: Annotated[
        float, typer.Option(metavar="N", help="Requests per second for each key.", min=0.001)
    ] = 10
    burst: Annotated[int, typer.Option(metavar="N", help="Requests of a key at once.", min=1)] = 20
    body: Annotated[
        int, typer.Option(metavar="BYTES", help="The size of the largest request.", min=100)
    ] = 1_000_000
    waiting: Annotated[
        int, typer.Option(metavar="N", help="Requests of a key in progress at once.", min=1)
    ] = 16
    cost: Annotated[
        int, typer.Option(metavar="STEPS", help="What a query may cost, in steps of 10 ns.", min=1)
    ] = 200_000_000
    connections: Annotated[int, typer.Option(metavar="N", help="Connections at once.", min=1)] = 512
    per_address: Annotated[
        int, typer.Option(metavar="N", help="Connections at once from one address.", min=1)
    ] = 64
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Time to send headers, to send a body, to read a reply.",
            min=0.1,
        ),
    ] = 15

    def limits(self) -> "ServiceLimits":
        from shoal.service import ServiceLimits

        return ServiceLimits(**asdict(self))


@bundled
def serve(
    address: AddressOptions,
    limits: ClientLimitOptions,
    store: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|URL",
            help="The audit, else the only *.audit here; with --workbench a folder of projects.",
            envvar="SHOAL_AUDIT",
            show_envvar=False,
            show_default=False,
        ),
    ] = None,
    workbench: Annotated[
        bool, typer.Option("--workbench", help="Serve the workbench to a team instead.")
    ] = False,
) -> None:
    """Answer queries over HTTP, for those who have a key.

    With --workbench, members of a team with a key (shoal member add) share a workbench.
    Log lines go to stderr, one JSON object per line, without data, queries or keys.
    """
    try:
        from shoal.service import serve as run
    except ImportError:
        raise ParameterError(
            "serving needs more libraries", "install them with pip install 'shoal[service]'"
        ) from None
    if address.tls_key is not None:
        warn_exposed(address.tls_key)
    if workbench:
        _serve_team(Path(store or "."), address, limits)
        return
    audit = _opened(store, "as in shoal serve people.audit")
    if not audit.keys():
        remark("note: nobody has a key yet; shoal audit key add makes one")
    if address.exposed:
        complain(_EXPOSED)

    def ready(port: int) -> None:
        remark(f"serving {audit.place} on {address.host}, port {port}; Ctrl-C stops it")

    run(
        audit,
        host=address.host,
        port=address.port,
        limits=limits.limits(),
        certificate=address.tls_certificate,
        key=address.tls_key,
        ready=ready,
    )


def _serve_team(home: Path, address: AddressOptions, limits: ClientLimitOptions) -> None:
    try:
        from shoal.workbench.members import Members
        from shoal.workbench.running import TeamAddress, serve_team
    except ImportError:
        raise needs_libraries() from None
    if not Members(home).all():
        remark("note: nobody has a key yet; shoal member add makes one")
    if address.exposed:
        complain(_EXPOSED)

    def ready(port: int) -> None:
        remark(f"serving {home} on {address.host}, port {port}; Ctrl-C stops it")

    known_as = tuple(options.names(address.known_as))
    place = TeamAddress(
        address.host, address.port, known_as, address.tls_certificate, address.tls_key
    )
    serve_team(home, place, limits.limits(), ready)


_EXPOSED = (
    "warning: without TLS, keys and answers can be read in transit; "
    "give --tls-certificate, or use a proxy with TLS"
)


def _opened(store: str | None, how: str = "with --store") -> "Audit":
    from shoal.audit import Audit

    audit = Audit.open(_only_audit(how) if store is None else store)
    if "://" not in audit.place:
        warn_exposed(audit.place)
    return audit


def _only_audit(how: str) -> str:
    """The only audit in this folder; which one of several is meant is never guessed."""
    files = sorted(str(path) for path in Path().glob(f"*{SUFFIX}"))
    if not files:
        raise FileError(
            "there is no audit here", f"name one, {how}, or make one with shoal audit new"
        )
    if len(files) > 1:
        raise FileError(f"there are {len(files)} audits here", f"name one, {how}")
    return files[0]


def _reply(reply: "Reply") -> dict[str, Any]:
    return {"denied": reply.denied, "answer": None if reply.denied else str(reply)}


def _settings(audit: "Audit", columns: "tuple[ColumnOverview, ...]") -> Any:
    """What is secret and what is public, one line each."""
    pairs = []
    for secret, column in zip(audit.secrets, columns, strict=True):
        settings = column.settings
        family = settings.family or _choice(secret.families(audit.people))
        pairs.append((f"secret {settings.column}", ", ".join((family, *_facts(settings)))))
    public = [f"{name} ({kind.value})" for name, kind in audit.public.items()]
    pairs.append(("public", ", ".join(public) or "nothing"))
    if audit.named:
        pairs.append(("people by", audit.named))
    return figures(*pairs)


def _facts(settings: "ColumnSettings") -> "Iterator[str]":
    yield _span(settings)
    yield "whole numbers" if settings.integers else "any numbers"
    if settings.distinct:
        yield "all different"
    yield f"every value stays uncertain by {settings.width}"
    if settings.dither:
        yield "dithered"
    yield settings.strategy


def _choice(families: tuple[str, ...]) -> str:
    """Which aggregates there are to choose from."""
    *others, last = families
    choice = f"{', '.join(others)} or {last}, decided by the first query" if others else last
    return choice if "sum" in families else f"{choice} (sums within bounds need --dither)"


def _span(settings: "ColumnSettings") -> str:
    low, high = settings.low or settings.low_column, settings.high or settings.high_column
    if low is None:
        return "no bounds" if high is None else f"up to {high}"
    return f"from {low} up" if high is None else f"from {low} to {high}"


def _numbers(columns: "tuple[ColumnOverview, ...]") -> Any:
    """How many queries were answered and denied."""
    rows = []
    for column in columns:
        name, family = column.settings.column, column.settings.family or ""
        rows.append((name, family, str(column.answered), str(column.denied)))
    return listing(("column", "aggregate", "answered", "denied"), *rows)


def _known(column: "ColumnKnowledge", people: int) -> "Iterator[Any]":
    """How many people's possible values are how far apart, as a table and as bars."""
    apart = "apart" if column.exact else "apart at least"
    yield title(f"Possible values of {column.column}")
    rows = []
    for each in column.bins:
        bar = "█" * round(BAR * each.people / people) or "▏" * bool(each.people)
        rows.append((each.span, f"{each.people:,}", bar))
    yield listing((apart, "people", ""), *rows)


def _disclosed(audit: "Audit", value: "Disclosed") -> dict[str, Any]:
    return {
        "column": value.column,
        "person": audit.person(value.person),
        "low": _end(value.low),
        "high": _end(value.high),
    }


def _disclosed_row(audit: "Audit", value: "Disclosed") -> tuple[str, ...]:
    person = ", ".join(audit.person(value.person).values())
    return person, value.column, _end(value.low), _end(value.high), str(value.promised)


def _end(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
