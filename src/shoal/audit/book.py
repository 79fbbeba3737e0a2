"""`Audit`: a data set that answers queries or denies them, with one log for all who ask.

Everyone who asks may collude, so there is one log, and what is decided depends on it, on what is
public and, as the proofs allow, on the true answer. An answer is given once its entry is on the
disk.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arguments import typed
from shoal.audit import expressions
from shoal.audit.dither import FINE, Dither, DitherDraws, Recorded
from shoal.audit.expressions import Query
from shoal.audit.model import Costed, Decision, Number
from shoal.audit.records import Asked, Begun
from shoal.audit.secret import (
    FAMILY_OF,
    Family,
    PeopleInRows,
    Secret,
    exact_values,
    simplest,
)
from shoal.audit.store import Key, Store
from shoal.audit.stored import (
    StoredValues,
    column_text,
    kind_bounds,
    public_column,
    row_numbers,
)
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
from shoal.exact.numbers import printed
from shoal.log.chain import Link, now
from shoal.log.keys import digest, new_key
from shoal.zones import owner_only

if TYPE_CHECKING:
    import numpy.typing as npt

    from shoal.data.tables import Table

__all__ = ["Audit", "Line", "Reply", "SecretState", "digest", "replied"]

ROLES = ("owner", "analyst")
ROW = "row"
"""The public column with the number of a row, where the owner publishes that."""

# Before the names of columns in the store.
_SECRET = "secret: "
_PUBLIC = "public: "
_KEY = 32  # bytes of the secret in the first entry


@dataclass(frozen=True)
class Reply:
    """The answer, exact but for dithered sums, or None, which is a denial.

    digits: the decimals that are shown of a mean, as many as its sum can be recovered from
    """

    answer: Number | None
    digits: int | None = field(default=None, compare=False, repr=False)

    @property
    def denied(self) -> bool:
        return self.answer is None

    def __str__(self) -> str:
        if self.answer is None:
            return "denied"
        if self.digits is None:
            return printed(Fraction(self.answer))
        return printed(Fraction(round(self.answer * 10**self.digits), 10**self.digits))


@dataclass(frozen=True)
class Line:
    """A line of the transcript, which all who ask may see."""

    number: int
    query: str
    reply: Reply


@owner_only
@dataclass(frozen=True)
class SecretState:
    """The state of one secret column: for the owner."""

    secret: Secret
    family: Family | None
    answered: int = 0
    denied: int = 0
    known: Any = field(default=None, repr=False)
    """The auditor's state: what is taken as known of everyone. None before the first query."""

    def after(self, family: Family, answered: bool, known: Any) -> "SecretState":
        """The state once a query was asked."""
        return replace(
            self,
            family=family,
            answered=self.answered + answered,
            denied=self.denied + (not answered),
            known=known,
        )


@typed
class Audit:
    """The audit at a path or a URL; `Audit.new` makes one. Threads and processes may share it."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._store = Store(place)
        self._lock = threading.Lock()
        with self._store.reading() as turn:
            first, *rest = turn.chain()
        begun = Begun.from_dict(first.facts)
        data = self._store.data()
        if _fingerprint(data) != begun.data:
            raise FileError(
                "the data was changed after the audit began",
                "answer nothing",
                where=self._store.name,
            )
        self.people = begun.people
        self.named = begun.named
        self._everyone = (1 << self.people) - 1
        self._public = {name: public_column(data[_PUBLIC + name]) for name in begun.public}
        self._secrets = {secret.column: secret for secret in begun.secrets}
        self._values = {name: StoredValues.read(data[_SECRET + name]) for name in self._secrets}
        self._dithers = {
            name: Dither.start(self.people)
            for name, secret in self._secrets.items()
            if secret.dither and not self._values[name].dithered
        }
        self._bounds = {
            name: kind_bounds(secret, self._public) for name, secret in self._secrets.items()
        }
        self._states = {name: SecretState(secret, None) for name, secret in self._secrets.items()}
        self._auditors: dict[str, Costed[Any]] = {}
        self._decisions: dict[tuple[str, int], Decision] = {}
        self._lines: list[Line] = []
        self._last = first.head
        self._follow(rest)

    def __repr__(self) -> str:
        return f"<shoal.Audit of {plural(self.people, 'row')}, {listed(self._secrets)} secret>"

    def _repr_html_(self) -> str:
        """The audit as notebooks show it."""
        from shoal.audit.cards import card_of_audit

        return card_of_audit(self).html()

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
        unit: str | None = None,
    ) -> "Audit":
        """Put a table under audit: its public and secret columns, and nothing else, are stored.

        Every row is one person: where people are evidently in several rows, the table is refused,
        unless it says `rows_are_people`. Whoever may ask can count people by the `public` columns
        as they like.

        named: the public column that names people, for queries about a list of them; all its values
            differ
        rows: the numbers of rows, from 1, are public too, as a column `row`; otherwise the order of
            rows is not kept
        unit: the column that says who a row is about, where people are in several rows. Someone's
            value is then the sum of their rows, or the largest or smallest, as `family` says, and
            bounds are of that
        """
        given = [secrets] if isinstance(secrets, Secret) else list(secrets)
        shown = list(dict.fromkeys(public))
        table = table.in_memory(table.names, in_order=rows)
        people = PeopleInRows.in_rows(table, unit)
        _require(table, given, shown, named, people)
        if rows and (unit is not None or ROW in (*shown, *(each.column for each in given))):
            raise ColumnError(
                f"rows cannot be numbered: there is a `unit`, or a column called {ROW!r}",
                "leave `rows` out, or rename the column",
            )
        order = _order(table, [] if rows else shown, people)
        first = np.array(people.first)[order]
        data = {_PUBLIC + name: column_text(table, name, first) for name in shown}
        if rows:
            data[_PUBLIC + ROW] = row_numbers(table.rows)
            shown.append(ROW)
            named = named or ROW
        checked = []
        for secret in given:
            values, settled = exact_values(table, secret, people)
            columns = {name: public_column(data[_PUBLIC + name]) for name in secret.bound_columns}
            bounds = kind_bounds(settled, columns)
            settled.auditor(settled.family or "max", len(people.first), bounds)
            data[_SECRET + secret.column] = StoredValues.of(values).text(order)
            checked.append(settled)
        begun = Begun(len(people.first), tuple(shown), named, tuple(checked), _fingerprint(data))
        key = Chance().bytes(_KEY).hex()
        Store.create(place, {**begun.to_dict(), "key": key}, data)
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
        """A query from its parts.

        It is about those for whom a condition holds, or who are listed by the column that names
        them, or else about everyone.
        """
        if aggregate not in expressions.AGGREGATES:
            raise QueryError(
                f"the aggregate {aggregate!r} is unknown",
                f"known are {listed(expressions.AGGREGATES)}",
            )
        if (column is None) != (aggregate == "count"):
            raise QueryError(
                "a count is of people and has no column; every other aggregate has one"
            )
        if where is not None and people is not None:
            raise QueryError("a query has a condition or a list of people, not both")
        condition: expressions.Condition | None = None
        if where is not None:
            condition = expressions.condition(where, self.public, self._secrets)
        elif people is not None:
            condition = self._listed(people)
        return Query(aggregate, column, condition)

    def _listed(self, people: Sequence[str | int]) -> expressions.Atom:
        if self.named is None:
            raise QueryError(
                "nobody can be asked about by name: no public column names people",
                "use a condition instead",
            )
        if not people or len(people) > self.people:
            raise QueryError(f"a list of people has from 1 to {self.people:,} of them")
        column = self._public[self.named]
        atom = expressions.naming(self.named, column.kind, people)
        # A name is one person's, so fewer people than names means that some are not there.
        absent = len(set(atom.values)) - column.those(atom).bit_count()
        if absent:
            verb = "is" if absent == 1 else "are"
            raise QueryError(
                f"{plural(absent, 'name')} of the list {verb} not in column {self.named!r}"
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
        """The answer, exact but for dithered sums, or a denial.

        QueryError if the query cannot be understood, or may not be asked. A query about the same
        people as an earlier one gets the same reply, and makes no new entry: everyone knew it
        already.

        most: the steps that it may cost, of roughly ten nanoseconds; above them it is a QueryError.
            The cost follows from this query and the log, not from anybody's value
        gone: whether nobody waits for the reply any more. Then it is Stopped, and nothing is in the
            log
        """
        if isinstance(query, str):
            query = expressions.parse(query, self.public, self._secrets)
        _require_affordable(expressions.cost(query.where, self.people), most)
        _require_present(gone)
        people = self._people(query)
        if query.aggregate == "count":
            return Reply(people.bit_count())
        question = self._question(query, people)
        with self._lock:
            _require_present(gone)
            if question.place not in self._decisions:
                self._decide(question, analyst, most, gone)
            self._require_family(question)
            return self._reply(query.aggregate, question.place)

    def _people(self, query: Query) -> int:
        """Who a query is about."""
        try:
            return expressions.people(query.where, self._public, self._everyone)
        # A condition that was not made from a text may be of the wrong types.
        except (KeyError, ValueError, TypeError, ArithmeticError):
            raise QueryError(
                f"the condition does not fit the public columns, which are {listed(self._public)}"
            ) from None

    def _question(self, query: Query, people: int) -> "_ColumnQuestion":
        """A query as its auditor takes it; QueryError if nobody may be asked about in that way."""
        if query.column is None or query.column not in self._secrets:
            raise QueryError(
                f"nothing can be asked about column {query.column!r}",
                f"ask about {listed(self._secrets)}",
            )
        if not people:
            raise QueryError("the query is about nobody, who has no such value")
        return _ColumnQuestion(str(query), query.aggregate, query.column, people)

    def _decide(
        self, question: "_ColumnQuestion", analyst: str, most: int | None, gone: Callable[[], bool]
    ) -> None:
        """Decide about a question and enter that, unless others have asked it meanwhile."""
        with self._store.writing() as turn:
            self._follow(turn.after(self._last))
            self._require_family(question)
            if question.place in self._decisions:
                return
            auditor, known = self._auditor(question.column, question.family)
            try:
                _require_affordable(auditor.cost(known, question.people), most)
                _require_present(gone)
                decision, drawn = self._decided(question)
            except TooLargeError as error:
                raise QueryError(error.what, error.fix) from None
            # The last moment at which there is nothing to take back.
            _require_present(gone)
            asked = question.entry(decision, analyst, drawn)
            link = turn.append(self._last, asked.what, asked.to_dict())
        # From here on it is on the disk.
        self._follow([link])

    def _require_family(self, question: "_ColumnQuestion") -> None:
        """QueryError if the column is asked about in another way."""
        column = question.column
        state = self._states[column]
        fixed = state.secret.family or state.family
        if fixed not in (None, question.family):
            kinds = "sums and means" if fixed == "sum" else fixed
            raise QueryError(
                f"column {column!r} answers {kinds} only: with {question.family} as well, "
                "more could be found out than either reveals"
            )
        if column in self._auditors:
            return
        try:
            self.auditor(column, question.family)
        except (ParameterError, TooLargeError) as error:
            raise QueryError(str(error), where=f"column {column!r}") from None

    def _decided(self, question: "_ColumnQuestion") -> tuple[Decision, str]:
        """What the auditor decides, given all that was asked so far and the true answer.

        Also what was drawn for a dithered column, for the log.
        """
        column, people = question.column, question.people
        auditor, known = self._auditor(column, question.family)
        draws = DitherDraws(Chance())
        dither = self._dithers.get(column)
        if dither is not None:
            dither = dither.asked(people, draws)
        answer = self._truth(column, question.family, people, dither)
        return auditor.decide(known, people, answer), draws.text(self.people)

    def _truth(self, column: str, family: Family, people: int, dither: Dither | None) -> Number:
        """The true answer, with what is added to it."""
        answer = self._values[column].aggregate(family, people)
        if dither is None:
            return answer
        unit = Fraction(self._secrets[column].unit or 1)
        return simplest(answer + unit * Fraction(dither.parts(people), FINE))

    def _auditor(self, column: str, family: Family) -> tuple[Costed[Any], Any]:
        """Who decides about a column, and what is known of it."""
        if column in self._auditors:
            return self._auditors[column], self._states[column].known
        auditor = self.auditor(column, family)
        return auditor, auditor.start()

    def auditor(self, column: str, family: Family) -> Costed[Any]:
        """Who decides about one aggregate of a secret column, as the public knows."""
        return self._secrets[column].auditor(family, self.people, self._bounds[column])

    def _follow(self, links: Iterable[Link]) -> None:
        """Take entries of the log over into the state."""
        for link in links:
            asked = Asked.from_dict(link.facts)
            column, decision = asked.column, asked.decision
            family = FAMILY_OF[asked.aggregate]
            auditor, known = self._auditor(column, family)
            self._auditors[column] = auditor
            known = auditor.after(known, decision)
            if column in self._dithers:
                recorded = Recorded(asked.drawn, self.people)
                dither = self._dithers[column].asked(decision.people, recorded)
                self._dithers[column] = dither
            self._states[column] = self._states[column].after(family, decision.answered, known)
            place = column, decision.people
            self._decisions[place] = decision
            reply = self._reply(asked.aggregate, place)
            self._lines.append(Line(link.number - 1, asked.query, reply))
            self._last = link.head

    def _reply(self, aggregate: str, place: tuple[str, int]) -> Reply:
        column, _ = place
        return replied(aggregate, self._secrets[column], self._decisions[place])

    # What was asked

    def transcript(self, after: int = 0, most: int | None = None) -> tuple[Line, ...]:
        """What was asked and replied, the oldest first. All who ask may see it.

        after: how many lines to leave out at the beginning
        most: how many lines at most
        """
        self._refresh()
        with self._lock:
            return tuple(self._lines[after : None if most is None else after + most])

    def entries(self, column: str) -> tuple[Decision, ...]:
        """The decisions about one secret column, the oldest first."""
        self._refresh()
        with self._lock:
            return tuple(one for (name, _), one in self._decisions.items() if name == column)

    def person(self, number: int) -> dict[str, str]:
        """What is public of one person, by the number that sets of people have for them."""
        shown = self._public if self.named is None else {self.named: self._public[self.named]}
        return {
            name: column.kind.text(column.keys[column.codes[number]])
            for name, column in shown.items()
        }

    def state(self) -> tuple[SecretState, ...]:
        """The state of every secret column, for the owner."""
        self._refresh()
        with self._lock:
            return tuple(self._states.values())

    def head(self) -> str:
        """The digest of the last entry.

        Noted elsewhere, it shows later whether entries were cut off at the end.
        """
        self._refresh()
        with self._lock:
            return self._last.digest

    def _refresh(self) -> None:
        with self._lock, self._store.reading() as turn:
            self._follow(turn.after(self._last))

    # Who may ask the service

    def add_key(self, name: str, role: str = "analyst") -> str:
        """A new key for someone, which is shown only now: the store keeps a digest."""
        if role not in ROLES:
            raise ParameterError(
                "is unknown", f"it takes {listed(ROLES)}", option="role", given=repr(role)
            )
        if not (0 < len(name) <= 100 and name.isprintable()):
            raise ParameterError("the name of a key is a printable text of up to 100 characters")
        key = new_key()
        self._store.add_key(Key(name, role, digest(key), now()))
        return key

    def keys(self) -> list[Key]:
        """Who has a key, with role and time; the keys themselves are nowhere."""
        return self._store.keys()

    def remove_key(self, name: str) -> None:
        """From now on, this key is refused."""
        self._store.remove_key(name)


@dataclass(frozen=True)
class _ColumnQuestion:
    """An aggregate of a secret column, over a set of people."""

    text: str
    aggregate: str
    column: str
    people: int

    @property
    def family(self) -> Family:
        return FAMILY_OF[self.aggregate]

    @property
    def place(self) -> tuple[str, int]:
        """What a decision is about: the same for a sum and a mean of the same people."""
        return self.column, self.people

    def entry(self, decision: Decision, analyst: str, drawn: str = "") -> Asked:
        """The entry of the log for what was decided."""
        return Asked(analyst, self.text, self.aggregate, self.column, decision, drawn)


def _require_affordable(cost: int, most: int | None) -> None:
    if most is not None and cost > most:
        raise QueryError(
            f"the query is too costly: it takes {cost:,} steps, and {most:,} are allowed here",
            "ask about fewer people, with a shorter condition, or about people whom fewer earlier "
            "queries link with others",
        )


def _require_present(gone: Callable[[], bool]) -> None:
    if gone():
        raise Stopped("whoever asked has left; nothing was recorded")


def replied(aggregate: str, secret: Secret, decision: Decision) -> Reply:
    """What a decision is to whoever asked."""
    if not decision.answered or decision.value is None:
        return Reply(None)
    value, people = Fraction(decision.value), decision.people.bit_count()
    if secret.dither:
        # Without what was added on average. The exact sum, which nobody gets, would reveal more.
        assert secret.unit is not None
        unit = Fraction(secret.unit)
        value = round((value - people * unit / 2) / unit) * unit
    if aggregate != "mean":
        return Reply(simplest(value))
    steps = 2 * people / Fraction(secret.unit or 1)
    digits = next(digits for digits in count() if 10**digits >= steps)
    return Reply(simplest(value / people), digits)


# The data in the store


def _require(
    table: "Table",
    secrets: Sequence[Secret],
    public: Sequence[str],
    named: str | None,
    people: PeopleInRows,
) -> None:
    """Raise if the columns do not fit together."""
    from shoal.data.people import require_once

    names = [secret.column for secret in secrets]
    if not names:
        raise ParameterError("an audit needs a secret column", "give at least one")
    bounds = [name for secret in secrets for name in secret.bound_columns]
    for name in (*names, *public, *bounds):
        # ColumnError if there is none of that name.
        table.kind(name)
    twice = sorted({name for name in names if names.count(name) > 1 or name in public})
    if twice:
        raise ColumnError(
            f"column {listed(twice)} is named twice; a column is public or secret, once"
        )
    if not table.rows:
        raise ColumnError("the table has no rows, so there is nobody to ask about")
    hidden = [name for name in bounds if name not in public]
    if hidden:
        raise ColumnError(f"column {listed(hidden)} has public bounds", "make it public too")
    if named is not None:
        _require_names(table, public, named, people)
    people.require_same(table, public)
    if people.of is None:
        require_once(table, public, [name for name in table.names if name not in names])


def _require_names(table: "Table", public: Sequence[str], named: str, people: PeopleInRows) -> None:
    """Raise if a column does not name people in public."""
    if named not in public:
        raise ColumnError(f"column {named!r} is to name people in public", "make it public too")
    table.require_people(named)
    if len(table.keys(named)) < len(people.first):
        raise ColumnError(
            f"column {named!r} is to name people, and rows share names; a row is one person"
        )


def _order(table: "Table", names: Sequence[str], people: PeopleInRows) -> "npt.NDArray[np.int64]":
    """People in the order of some columns; as they are, if there are none.

    People who are alike in public are always asked about together, so this order reveals nothing.
    """
    columns = table.records(names)
    if not columns:
        return np.arange(len(people.first))
    return np.lexsort([np.asarray(column.codes)[people.first] for column in reversed(columns)])


def _fingerprint(data: Mapping[str, str]) -> str:
    """The digest of all data in the store."""
    digest = hashlib.sha256()
    for name, text in sorted(data.items()):
        # Names may hold what is not Unicode, and so may a damaged text.
        for part in (name.encode(errors="surrogatepass"), text.encode(errors="surrogatepass")):
            digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()
