"""`Audit`: a data set that answers queries or denies them, with one log for all who ask. The doors use it.

Everyone who asks may collude, so there is one log, and what is decided depends on it, on what is public and, as the proofs
allow, on the true answer. An answer leaves once its entry is on the disk.
"""

import hashlib
import json
import os
import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TYPE_CHECKING, Any, Literal, cast

from shoal import __version__
from shoal.arguments import typed
from shoal.audit import expressions
from shoal.audit.expressions import Public, Query
from shoal.audit.model import STRATEGIES, Costed, Decision, Number, Strategy
from shoal.audit.store import Key, Link, Store
from shoal.chance import Chance
from shoal.data.kinds import Kind
from shoal.errors import (
    ColumnError,
    FileError,
    ParameterError,
    QueryError,
    Stopped,
    TooLargeError,
    listed,
    plural,
)
from shoal.exact.numbers import Exact, fraction, printed

if TYPE_CHECKING:
    from shoal.data.tables import Table

__all__ = ["Audit", "Family", "Line", "Reply", "Secret", "Standing"]

Family = Literal["max", "min", "sum"]
FAMILIES: tuple[Family, ...] = ("max", "min", "sum")
ROLES = ("owner", "analyst")
FINE = 10**1300
"""Into how many parts dither divides a unit: enough for about a thousand sums over the same people."""

CLOSE = 1000
"""Bounds this far apart, or less, are close together: of these, 1 is a thousandth at least."""

ROW = "row"  # the public column with the number of a row, where the owner publishes that

_FAMILY: Mapping[str, Family] = {"max": "max", "min": "min", "sum": "sum", "mean": "sum"}
_SECRET = "secret: "  # before the names of secret columns in the store; public ones have "public: "
_PUBLIC = "public: "
_KEY = 32  # bytes of an analyst's key, and of the secret in the first entry


@typed
@dataclass(frozen=True)
class Secret:
    """A column that is asked about, and what is public of its values.

    family: "max", "min" or "sum" (means too); if None, the first query decides. One column has one: together they would tell more
    low, high: bounds of all values
    width: how far apart the values that are possible for a person stay at least. It may be left out, for 1, where there are no
        bounds or these are close together, as for ages
    integers: all values are whole numbers; None for as it is, which is then public
    distinct: no two people have the same value
    strategy: "binding", "simulatable", or "simple", which is unsafe
    dither: for sums within bounds, which need it unless there are very few whole numbers: a secret random part of `unit` is added
        to each value, once, as values with few digits could be worked out. Answers are off by half a unit a person at most
    unit: all values are multiples of it; if None, of the last decimal that occurs, which is then public
    """

    column: str
    family: Family | None = None
    low: Exact | None = None
    high: Exact | None = None
    width: Exact | None = None
    integers: bool | None = None
    distinct: bool = False
    strategy: Strategy = "binding"
    dither: bool = False
    unit: Exact | None = None

    def __post_init__(self) -> None:
        if self.dither and self.family in ("max", "min"):
            raise ParameterError(f"dither is for sums; {self.family} needs none")
        if self.dither:
            object.__setattr__(self, "family", "sum")
        if self.family not in (None, *FAMILIES):
            raise ParameterError(f"family={self.family!r} is unknown; known are {listed(FAMILIES)}")
        if self.strategy not in STRATEGIES:
            raise ParameterError(
                f"strategy={self.strategy!r} is unknown; known are {listed(STRATEGIES)}"
            )
        for name in ("low", "high", "width", "unit"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, fraction(given, name))
        if self.width is None:
            object.__setattr__(self, "width", self._default_width())
        if self.unit is not None and self.unit <= 0:  # type: ignore[operator]
            raise ParameterError("unit is above 0")
        if self.low is not None and self.high is not None and self.low > self.high:  # type: ignore[operator]
            raise ParameterError(
                f"the lower bound {self.low} is above the upper one, {self.high}; give the lower one first"
            )

    def _default_width(self) -> Fraction:
        """1 where that promises something; else ParameterError."""
        if self.low is None and self.high is None:
            return Fraction(1)
        if self.low is None or self.high is None:
            between = "of values that have one bound"
        elif Fraction(self.high) - Fraction(self.low) > CLOSE:
            between = f"between {printed(Fraction(self.low))} and {printed(Fraction(self.high))}"
        else:
            return Fraction(1)
        raise ParameterError(
            f"`width` is not given, and the usual 1 promises little {between}; give how far apart a person's possible "
            "values stay at least, so wide that to know a value that closely does no harm: for yearly salaries, thousands"
        )

    def families(self, people: int) -> tuple[Family, ...]:
        """What can be asked of so many people: each of these by itself, if `family` does not say which."""
        found = []
        for family in FAMILIES if self.family is None else (self.family,):
            with suppress(ParameterError, TooLargeError):
                self.auditor(family, people)
                found.append(family)
        return tuple(found)

    def auditor(self, family: Family, people: int) -> Costed[Any]:
        """Who decides about one aggregate of this column; ParameterError if what is public does not allow for any."""
        from shoal.audit.maxima import Maxima, Minima

        unit = None if self.unit is None else Fraction(self.unit)
        low, high, width = (
            _multiple(self.low, unit, up=True),
            _multiple(self.high, unit),
            _multiple(self.width, unit, up=True),
        )
        assert width is not None  # __post_init__ has set it
        if self.distinct and unit is not None and width < 2 * people * unit:
            raise ParameterError(
                f"{people:,} different values that are multiples of {printed(unit)} could give each other away; leave `distinct` "
                "out if that is not public, or ask for a larger width"
            )
        if family != "sum":
            kind = Maxima if family == "max" else Minima
            return kind(people, low, high, width, bool(self.integers), self.distinct, self.strategy)
        if self.distinct:
            raise ParameterError(
                "sums are audited for values that may be equal; leave `distinct` out, or ask about max or min"
            )
        from shoal.audit.sums import Sums

        if self.dither and unit is not None and low is not None and high is not None:
            last = unit / FINE
            return Sums(
                people, low, high + unit - last, width + unit, strategy=self.strategy, unit=last
            )
        if (
            self.low is None and self.high is None and not self.dither
        ):  # then other multiples of the unit are always possible
            return Sums(people, width=width, strategy=self.strategy)
        if self.integers and not self.dither:
            return Sums(people, low, high, width, integers=True, strategy=self.strategy)
        if self.dither:
            raise ParameterError(
                "dither is for sums within public bounds; give `low` and `high`, or leave it out"
            )
        raise ParameterError(
            "values that have few digits can be worked out from sums; make the audit with dither, which adds a secret part of "
            "the last digit to each value, or ask about max or min"
        )

    def to_dict(self) -> dict[str, Any]:
        """For the log: exact numbers are texts."""
        return {
            name: printed(value) if isinstance(value, Fraction) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Reply:
    """What whoever asked gets: the answer, exact but for dithered sums, or None, which is a denial."""

    answer: Number | None

    @property
    def denied(self) -> bool:
        return self.answer is None

    def __str__(self) -> str:
        return "denied" if self.answer is None else printed(Fraction(self.answer))


@dataclass(frozen=True)
class Line:
    """A line of the transcript, which all who ask may see."""

    number: int
    query: str
    reply: Reply


@dataclass(frozen=True)
class Standing:
    """How it stands with one secret column: for the owner."""

    secret: Secret
    family: Family | None
    answered: int = 0
    denied: int = 0
    known: Any = field(default=None, repr=False)
    """The auditor's state: what is taken as known of everyone. None before the first query."""


@typed
class Audit:
    """The audit at a path or a URL; `Audit.new` makes one. Threads and processes may share it."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._store = Store(place)
        self._lock = threading.Lock()
        with self._store.reading() as turn:
            first, *rest = turn.links(None)
        created = first.content
        data = self._store.data()
        if _fingerprint(data) != created["data"]:
            raise FileError(
                f"{self._store.name}: the data was changed after the audit began; answer nothing"
            )
        self.people: int = created["people"]
        self.named: str | None = created["named"]
        self._public = {name: _public(data[_PUBLIC + name]) for name in created["public"]}
        self._values = {
            one["column"]: _Values.of(json.loads(data[_SECRET + one["column"]]))
            for one in created["secrets"]
        }
        self._secrets = {one["column"]: Secret(**one) for one in created["secrets"]}
        self._everyone = (1 << self.people) - 1
        self._last = first
        self._standing = {name: Standing(secret, None) for name, secret in self._secrets.items()}
        self._auditors: dict[str, Costed[Any]] = {}
        self._replies: dict[tuple[str, int], Decision] = {}
        self._lines: list[Line] = []
        self._follow(rest)

    def __repr__(self) -> str:
        return f"<shoal.Audit of {plural(self.people, 'row')}, {listed(self._secrets)} secret>"

    @classmethod
    def open(cls, place: str | os.PathLike[str]) -> "Audit":
        """The audit at a path or at a URL such as postgresql://host/database."""
        return cls(place)

    @classmethod
    def new(
        cls,
        place: str | os.PathLike[str],
        table: "Table",
        secrets: Iterable[Secret] | Secret,
        *,
        public: Iterable[str],
        named: str | None = None,
        rows: bool = False,
    ) -> "Audit":
        """Put a table under audit: a copy of its public and secret columns goes into a new store, and nothing else of it.

        Every row is one person: where people are evidently in several rows, the table is refused, unless it says
        `rows_are_people`. Whoever may ask can count people by the `public` columns as they like.

        named: the public column that names people, for queries about a list of them; all its values differ
        rows: the numbers of rows, from 1, are public too, as a column `row`; without it the order of rows is not kept
        """
        given = [secrets] if isinstance(secrets, Secret) else list(secrets)
        shown = list(dict.fromkeys(public))
        _require(table, given, shown, named, rows)
        columns = dict(zip(shown, table.columns(shown), strict=True))
        order = list(range(table.rows))
        if not rows:  # people who are alike in public are always asked about together, so this order tells nothing
            order.sort(key=lambda i: [column.codes[i] for column in columns.values()])
        data = {
            _PUBLIC + name: _dumped(
                {
                    "kind": column.kind.value,
                    "labels": column.labels,
                    "codes": [int(column.codes[i]) for i in order],
                }
            )
            for name, column in columns.items()
        }
        if rows:
            numbers = range(1, table.rows + 1)
            data[_PUBLIC + ROW] = _dumped(
                {
                    "kind": Kind.INTEGER.value,
                    "labels": [*map(str, numbers)],
                    "codes": [*range(table.rows)],
                }
            )
        kept = []
        for secret in given:
            values, checked = _read(table, secret)
            checked.auditor(checked.family or "max", table.rows)
            data[_SECRET + secret.column] = _dumped([_text(values[i]) for i in order])
            kept.append(checked.to_dict())
        created = {
            **_said("created"),
            "key": Chance()
            .bytes(_KEY)
            .hex(),  # without it, a digest of the log would be a way to try values
            "people": table.rows,
            "public": [*shown, *([ROW] if rows else [])],
            "named": named or (ROW if rows else None),
            "secrets": kept,
            "data": _fingerprint(data),
        }
        Store.create(place, created, data)
        return cls(place)

    # What is public

    @property
    def place(self) -> str:
        """Where it is kept; a URL is without its password."""
        return self._store.name

    @property
    def public(self) -> dict[str, Kind]:
        """The columns that conditions are about, with their types."""
        return {name: column.kind for name, column in self._public.items()}

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The columns that are asked about, with what is public of them."""
        return tuple(self._secrets.values())

    def query(
        self,
        aggregate: str,
        column: str | None = None,
        *,
        where: str | None = None,
        people: Sequence[str | int] | None = None,
    ) -> Query:
        """A query from its parts: a condition, or a list of people by the column that names them, or neither for everyone."""
        if aggregate not in expressions.AGGREGATES:
            raise QueryError(
                f"the aggregate {aggregate!r} is unknown; known are {listed(expressions.AGGREGATES)}"
            )
        if (column is None) != (aggregate == "count"):
            raise QueryError(
                "a count is of people and has no column; every other aggregate has one"
            )
        if where is not None and people is not None:
            raise QueryError("a query has a condition or a list of people, not both")
        found: expressions.Condition | None = None
        if where is not None:
            found = expressions.condition(where, self.public, self._secrets)
        elif people is not None:
            found = self._listed(people)
        return Query(aggregate, column, found)

    def _listed(self, people: Sequence[str | int]) -> expressions.Atom:
        if self.named is None:
            raise QueryError(
                "nobody can be asked about by name: no public column names people; use a condition instead"
            )
        if not people or len(people) > self.people:
            raise QueryError(f"a list of people has from 1 to {self.people:,} of them")
        column = self._public[self.named]
        atom = expressions.naming(self.named, column.kind, people)
        if (
            absent := len(set(atom.values)) - column.those(atom).bit_count()
        ):  # a name is one person's
            raise QueryError(
                f"{plural(absent, 'name')} of the list {'is' if absent == 1 else 'are'} not in column {self.named!r}"
            )
        return atom

    # Asking

    def ask(
        self,
        query: str | Query,
        *,
        analyst: str = "owner",
        most: int | None = None,
        gone: Callable[[], bool] = lambda: False,
    ) -> Reply:
        """The answer, exact but for dithered sums, or a denial; QueryError if it cannot be understood, or may not be asked.

        A query about the same people as an earlier one gets the same reply, and makes no new entry: everyone knew it already.

        most: the steps that it may cost, of roughly ten nanoseconds; above them it is a QueryError. What it costs follows from
            this query and the log, not from anybody's value
        gone: whether nobody waits for the reply any more. Then it is Stopped, and nothing is in the log
        """
        if isinstance(query, str):
            query = expressions.parse(query, self.public, self._secrets)
        _afford(expressions.cost(query.where, self.people), most)
        _stay(gone)
        try:
            people = expressions.people(query.where, self._public, self._everyone)
        except (KeyError, ValueError, TypeError, ArithmeticError):  # one that no text makes
            raise QueryError(
                f"the condition does not fit the public columns, which are {listed(self._public)}"
            ) from None
        if query.aggregate == "count":
            return Reply(people.bit_count())
        if query.column is None or query.column not in self._secrets:
            raise QueryError(
                f"nothing can be asked about column {query.column!r}; ask about {listed(self._secrets)}"
            )
        if not people:
            raise QueryError("the query is about nobody, who has no such value")
        place = query.column, people
        with self._lock:
            _stay(gone)
            if place not in self._replies:
                with self._store.writing() as turn:
                    self._follow(turn.links(self._last))  # what others have asked
                    self._may(query)
                    if place in self._replies:
                        return self._reply(query.aggregate, query.column, self._replies[place])
                    try:
                        _afford(self._cost(query, people), most)
                        _stay(gone)
                        entry = self._decided(query, people)
                    except TooLargeError as error:
                        raise QueryError(str(error)) from None
                    _stay(gone)  # the last moment at which there is nothing to take back
                    link = turn.append(self._last, self._content(query, entry, analyst))
                self._follow([link])  # from here on it is on the disk
            self._may(query)
            return self._reply(query.aggregate, query.column, self._replies[place])

    def _may(self, query: Query) -> None:
        """QueryError if the column is asked about in another way."""
        assert query.column is not None
        standing, wanted = self._standing[query.column], _FAMILY[query.aggregate]
        fixed = standing.secret.family or standing.family
        if fixed not in (None, wanted):
            raise QueryError(
                f"column {query.column!r} answers {'sums and means' if fixed == 'sum' else fixed} only: with {wanted} as well "
                "more could be found out than either tells"
            )
        if query.column not in self._auditors:
            try:
                standing.secret.auditor(wanted, self.people)
            except (ParameterError, TooLargeError) as error:
                raise QueryError(f"column {query.column!r}: {error}") from None

    def _cost(self, query: Query, people: int) -> int:
        assert query.column is not None
        auditor, known = self._auditor(query.column, _FAMILY[query.aggregate])
        return auditor.cost(known, people)

    def _decided(self, query: Query, people: int) -> Decision:
        assert query.column is not None
        family = _FAMILY[query.aggregate]
        auditor, known = self._auditor(query.column, family)
        return auditor.decide(known, people, self._values[query.column].aggregate(family, people))

    def _auditor(self, column: str, family: Family) -> tuple[Costed[Any], Any]:
        if column in self._auditors:
            return self._auditors[column], self._standing[column].known
        auditor = self._secrets[column].auditor(family, self.people)
        return auditor, auditor.start()

    def _content(self, query: Query, entry: Decision, analyst: str) -> dict[str, Any]:
        return {
            **_said("asked"),
            "analyst": analyst,
            "query": str(query),
            "aggregate": query.aggregate,
            "column": query.column,
            "people": f"{entry.people:x}",
            "answered": entry.answered,
            "relation": entry.relation,
            "value": None if entry.value is None else _text(Fraction(entry.value)),
        }

    def _follow(self, links: Iterable[Link]) -> None:
        """Take entries of the log over into the state."""
        for link in links:
            content = link.content
            value = None if content["value"] is None else _number(Fraction(content["value"]))
            entry = Decision(
                int(content["people"], 16), content["answered"], content["relation"], value
            )
            column, family = content["column"], _FAMILY[content["aggregate"]]
            auditor, known = self._auditor(column, family)
            standing = self._standing[column]
            self._auditors[column] = auditor
            self._standing[column] = replace(
                standing,
                family=family,
                answered=standing.answered + entry.answered,
                denied=standing.denied + (not entry.answered),
                known=auditor.after(known, entry),
            )
            self._replies[column, entry.people] = entry
            self._lines.append(
                Line(
                    link.number - 1,
                    content["query"],
                    self._reply(content["aggregate"], column, entry),
                )
            )
            self._last = link

    def _reply(self, aggregate: str, column: str, entry: Decision) -> Reply:
        if not entry.answered or entry.value is None:
            return Reply(None)
        value, people, secret = (
            Fraction(entry.value),
            entry.people.bit_count(),
            self._secrets[column],
        )
        if (
            secret.dither
        ):  # less what was added on average; the exact sum, which nobody gets, could only tell more
            unit = Fraction(cast(Fraction, secret.unit))
            value = round((value - people * unit / 2) / unit) * unit
        return Reply(_number(value / people if aggregate == "mean" else value))

    # What was asked

    def transcript(self, after: int = 0, most: int | None = None) -> tuple[Line, ...]:
        """What was asked and replied, the oldest first: after a number of these, and so many at most. All who ask may see it."""
        self._refresh()
        with self._lock:
            return tuple(self._lines[after : None if most is None else after + most])

    def entries(self, column: str) -> tuple[Decision, ...]:
        """The entries about one secret column, the oldest first."""
        self._refresh()
        with self._lock:
            return tuple(entry for (name, _), entry in self._replies.items() if name == column)

    def person(self, number: int) -> dict[str, str]:
        """What is public of one person, by the number that sets of people have for them."""
        shown = {} if self.named is None else {self.named: self._public[self.named]}
        return {
            name: column.kind.text(column.keys[column.codes[number]])
            for name, column in (shown or self._public).items()
        }

    def state(self) -> tuple[Standing, ...]:
        """How it stands with every secret column, for the owner."""
        self._refresh()
        with self._lock:
            return tuple(self._standing.values())

    def head(self) -> str:
        """The digest of the last entry. Noted elsewhere, it shows later whether entries were cut off at the end."""
        self._refresh()
        with self._lock:
            return self._last.digest

    def _refresh(self) -> None:
        with self._lock, self._store.reading() as turn:
            self._follow(turn.links(self._last))

    # Who may ask the service

    def add_key(self, name: str, role: str = "analyst") -> str:
        """A new key for someone, which is shown now and never again: the store keeps a digest only."""
        if role not in ROLES:
            raise ParameterError(f"role={role!r} is unknown; it takes {listed(ROLES)}")
        if not (0 < len(name) <= 100 and name.isprintable()):
            raise ParameterError("the name of a key is a printable text of up to 100 characters")
        key = f"shoal-{Chance().bytes(_KEY).hex()}"
        self._store.add_key(Key(name, role, digest(key), _now()))
        return key

    def keys(self) -> list[Key]:
        """Who has a key, with role and time; the keys themselves are nowhere."""
        return self._store.keys()

    def remove_key(self, name: str) -> None:
        """From now on, this key is refused."""
        self._store.remove_key(name)


def _afford(cost: int, most: int | None) -> None:
    if most is not None and cost > most:
        raise QueryError(
            f"the query is too costly: it takes {cost:,} steps, and {most:,} are allowed here; ask about fewer people, "
            "with a shorter condition, or about people whom fewer earlier queries link with others"
        )


def _stay(gone: Callable[[], bool]) -> None:
    if gone():
        raise Stopped("whoever asked has left; nothing was recorded")


def digest(key: str) -> str:
    """What is kept of a key. It is 256 random bits, so that trying keys out is hopeless, and one pass of SHA-256 is enough."""
    return hashlib.sha256(f"shoal key\n{key}".encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True)
class _Values:
    """The values of a secret column as whole numbers over one denominator: sums of thousands stay quick and exact."""

    scaled: tuple[int, ...]
    denominator: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> "_Values":
        exact = [Fraction(text) for text in texts]
        denominator = lcm(*(value.denominator for value in exact))
        return cls(tuple(int(value * denominator) for value in exact), denominator)

    def aggregate(self, family: Family, people: int) -> Number:
        chosen = (
            value
            for value, one in zip(self.scaled, reversed(f"{people:b}"), strict=False)
            if one == "1"
        )
        found = max(chosen) if family == "max" else min(chosen) if family == "min" else sum(chosen)
        return _number(Fraction(found, self.denominator))


def _require(
    table: "Table", secrets: Sequence[Secret], public: Sequence[str], named: str | None, rows: bool
) -> None:
    """Raise if the columns do not fit together."""
    names = [secret.column for secret in secrets]
    if not names:
        raise ParameterError("an audit needs a secret column; give one at least")
    for name in (*names, *public):
        table.kind(name)  # ColumnError if there is none
    if len(set(names)) < len(names) or (both := set(names) & set(public)):
        twice = sorted({name for name in names if names.count(name) > 1}) or sorted(both)
        raise ColumnError(
            f"column {listed(twice)} is named twice; a column is public or secret, once"
        )
    if not table.rows:
        raise ColumnError("the table has no rows, so there is nobody to ask about")
    if rows and ROW in (*public, *names):
        raise ColumnError(
            f"a column is called {ROW!r}, which is what numbers of rows would be called; rename it"
        )
    if named is not None:
        _require_names(table, public, named)
    from shoal.data.people import require_once

    require_once(table, public, [name for name in table.names if name not in names])


def _require_names(table: "Table", public: Sequence[str], named: str) -> None:
    """Raise if a column does not name people in public."""
    if named not in public:
        raise ColumnError(f"column {named!r} is to name people in public; make it public too")
    table.require_people(named)
    if len(table.column(named).keys) < table.rows:
        raise ColumnError(
            f"column {named!r} is to name people, and does not tell all rows apart; a row is one person"
        )


def _read(table: "Table", secret: Secret) -> tuple[list[Fraction], Secret]:
    """The exact values of a secret column, checked against what is said to be public of them, and that with nothing left open."""
    name = secret.column
    values: list[Fraction] = []
    missing = wrong = 0
    for value in table.frame.get_column(name).to_list():
        if value is None or value == "" or value != value:
            missing += 1
            continue
        try:
            values.append(fraction(value.strip() if isinstance(value, str) else value, name))
        except ParameterError:
            wrong += 1
    if missing:
        raise ColumnError(
            f"column {name!r}: {plural(missing, 'value')} of {table.rows:,} {_are(missing)} missing; leave those rows out, or "
            "fill them: queries are about people who have a value"
        )
    if wrong:
        raise ColumnError(
            f"column {name!r}: {plural(wrong, 'value')} of {table.rows:,} {_are(wrong)} no numbers; clean it"
        )
    whole = all(value.denominator == 1 for value in values)
    declared = table.types.get(name)
    if declared not in (None, Kind.INTEGER, Kind.FLOAT):
        raise ColumnError(
            f"column {name!r} is declared as {declared}; an audit is about numbers: integer or float"
        )
    integers = (
        secret.integers
        if secret.integers is not None
        else whole
        if declared is None
        else declared is Kind.INTEGER
    )
    if integers and not whole:
        raise ColumnError(
            f"column {name!r} is said to hold whole numbers, and does not; declare its type as float"
        )
    outside = sum(
        (secret.low is not None and value < secret.low)  # type: ignore[operator]
        or (secret.high is not None and value > secret.high)  # type: ignore[operator]
        for value in values
    )
    if outside:
        raise ColumnError(
            f"column {name!r}: {plural(outside, 'value')} of {table.rows:,} are outside the public bounds; widen them"
        )
    if secret.distinct and len(set(values)) < len(values):
        raise ColumnError(
            f"column {name!r} is said to hold no value twice, and does; leave `distinct` out"
        )
    unit = (
        Fraction(secret.unit)
        if secret.unit is not None
        else Fraction(1)
        if integers
        else _last_decimal(values)
    )
    if odd := sum((value / unit).denominator != 1 for value in values):
        raise ColumnError(
            f"column {name!r}: {plural(odd, 'value')} of {table.rows:,} {_are(odd)} no multiple of the unit"
        )
    if secret.dither:
        chance = Chance()
        values = [value + unit * Fraction(chance.below(FINE), FINE) for value in values]
    return values, replace(secret, integers=integers, unit=unit)


def _multiple(end: Exact | None, unit: Fraction | None, up: bool = False) -> Number | None:
    """A bound, or a width, rounded to a multiple of the unit: no value is between."""
    if end is None or unit is None:
        return None if end is None else _number(Fraction(end))
    steps = Fraction(end) / unit
    return _number((ceil(steps) if up else floor(steps)) * unit)


def _last_decimal(values: Sequence[Fraction]) -> Fraction:
    """The last decimal that occurs; values that are no decimals have a unit of their own."""
    common = lcm(*(value.denominator for value in values))
    digits = next((digits for digits in range(400) if 10**digits % common == 0), None)
    return Fraction(1, common if digits is None else 10**digits)


def _text(value: Fraction) -> str:
    """A number for the store; of one with digits that were added, the shortest text would take long to find."""
    return str(value) if value.denominator > 10**100 else printed(value)


def _public(text: str) -> Public:
    found = json.loads(text)
    kind = Kind(found["kind"])
    return Public(
        kind, tuple(kind.key(label) for label in found["labels"]), array("l", found["codes"])
    )


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _fingerprint(data: Mapping[str, str]) -> str:
    found = hashlib.sha256()
    for name, text in sorted(data.items()):
        for part in (name.encode(errors="surrogatepass"), text.encode()):
            found.update(f"{len(part)}\n".encode() + part)
    return found.hexdigest()


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _number(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _said(what: str) -> dict[str, Any]:
    """How every entry begins."""
    return {"what": what, "time": _now(), "shoal": __version__}
