"""The language of queries: `max(salary) where dept = 'X' and not age < 30`. `book` uses it.

A query has an aggregate and a condition on public columns. It is parsed here, by recursive descent,
into a few frozen classes, and evaluated on the public columns alone; nothing of it reaches a
database. `str` of a query is its canonical text.

Logic has two values. A missing value satisfies no comparison but `!=`, which is the same as `not …
= …`.
"""

import operator
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from shoal.data.kinds import Key, Kind
from shoal.errors import QueryError, listed

__all__ = [
    "AGGREGATES",
    "Aggregate",
    "All",
    "Atom",
    "Condition",
    "Not",
    "Public",
    "Query",
    "Some",
    "condition",
    "cost",
    "naming",
    "parse",
    "people",
]

LONGEST = 8_000
"""Characters of a query, at most."""

DEEPEST = 32
"""Parentheses and negations inside each other, at most."""

MOST = 500
"""Values that a query compares with, at most."""

COMPARED = 5
"""Steps to compare one person."""

READ = 100
"""Steps to read one value."""

Aggregate = Literal["max", "min", "sum", "mean", "count"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
Sign = Literal["=", "!=", "<", "<=", ">", ">=", "in", "between", "missing"]
Value = str | Decimal
"""A quoted text (also of a date), or a number."""

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SIGNS = ("=", "!=", *_ORDER)
_MEANT = {"==": "=", "<>": "!=", "=>": ">=", "=<": "<="}
"""Signs of other languages, which are two tokens here, and what is meant."""

_WORDS = frozenset({"and", "or", "not", "in", "between", "is", "missing", "where"})
_NAME = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    r"""(?P<name>[^\W\d]\w*)
    | (?P<number>
        [+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?(?![\w.]))
    | '(?P<text>(?:[^']|'')*)'
    | "(?P<quoted>(?:[^"]|"")*)"
    | (?P<sign>!=|<=|>=|[=<>(),*])""",
    re.VERBOSE,
)


# What a query is


@dataclass(frozen=True)
class Atom:
    """One comparison of a column with values."""

    column: str
    sign: Sign
    values: tuple[Value, ...] = ()

    def __str__(self) -> str:
        name = _name_text(self.column)
        values = [_value_text(value) for value in self.values]
        match self.sign:
            case "missing":
                return f"{name} is missing"
            case "between":
                return f"{name} between {values[0]} and {values[1]}"
            case "in":
                return f"{name} in ({', '.join(values)})"
        return f"{name} {self.sign} {values[0]}"


@dataclass(frozen=True)
class Not:
    """Everyone else."""

    inner: "Condition"

    def __str__(self) -> str:
        return f"not {_part_text(self.inner)}"


@dataclass(frozen=True)
class All:
    """Those for whom all parts hold."""

    parts: "tuple[Condition, ...]"

    def __str__(self) -> str:
        return " and ".join(map(_part_text, self.parts))


@dataclass(frozen=True)
class Some:
    """Those for whom at least one part holds."""

    parts: "tuple[Condition, ...]"

    def __str__(self) -> str:
        return " or ".join(map(_part_text, self.parts))


Condition = Atom | Not | All | Some


@dataclass(frozen=True)
class Query:
    """An aggregate of a column over those for whom a condition holds, or over everyone.

    A count has no column.
    """

    aggregate: Aggregate
    column: str | None
    where: Condition | None = None

    def __str__(self) -> str:
        argument = "*" if self.column is None else _name_text(self.column)
        start = f"{self.aggregate}({argument})"
        return start if self.where is None else f"{start} where {self.where}"


def naming(column: str, kind: Kind, people: Sequence[str | int]) -> Atom:
    """The condition that a column is one of these: an explicit list of people.

    QueryError if one of them cannot be in such a column.
    """
    try:
        texts = [kind.text(kind.key(name)) for name in people]
    except (ValueError, TypeError, OverflowError):
        raise QueryError(
            f"column {column!r}, which names people, is of type {kind.value}",
            "list only values of that type",
        ) from None
    if not all(texts):
        raise QueryError("the list of people contains an empty name")
    if kind in (Kind.TEXT, Kind.DATE):
        return Atom(column, "in", tuple(texts))
    return Atom(column, "in", tuple(map(Decimal, texts)))


def _name_text(name: str) -> str:
    if _NAME.fullmatch(name) and name.lower() not in _WORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _value_text(value: Value) -> str:
    if isinstance(value, Decimal):
        return str(value)
    return "'" + value.replace("'", "''") + "'"


def _part_text(part: Condition) -> str:
    return f"({part})" if isinstance(part, All | Some) else str(part)


# Reading one


def parse(text: str, public: Mapping[str, Kind], secret: Collection[str] = ()) -> Query:
    """The query in a text, given the public columns and the secret ones; else QueryError.

    >>> public = {"dept": Kind.TEXT, "age": Kind.INTEGER}
    >>> print(parse("MAX(salary) where (dept='X') and not age>=30", public, ["salary"]))
    max(salary) where dept = 'X' and not age >= 30
    """
    reader = _Reader(text, public, secret)
    query = reader.query()
    reader.end()
    return query


def condition(text: str, public: Mapping[str, Kind], secret: Collection[str] = ()) -> Condition:
    """The condition in a text, without an aggregate in front; else QueryError."""
    reader = _Reader(text, public, secret)
    where = reader.condition(0)
    reader.end()
    return where


class _Token(NamedTuple):
    kind: str  # name, number, text, quoted, sign, or end
    text: str
    place: int

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return repr(self.text if len(self.text) < 40 else self.text[:40] + "…")


def _tokens(text: str, names: Collection[str]) -> Iterator[_Token]:
    if len(text) > LONGEST:
        raise QueryError(
            f"the query has {len(text):,} characters, and {LONGEST:,} are allowed",
            "give a list of people instead",
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError("the query contains half a character", "send it as UTF-8")
    place = _after_space(text, 0)
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            quote = text[place] in "'\""
            fix = "is a quote missing?" if quote else _quoting_hint(text, place, names)
            where = f"character {place + 1}"
            raise QueryError(f"{text[place]!r} does not belong there", fix, where=where)
        kind = str(match.lastgroup)
        doubled = "'" if kind == "text" else '"'
        yield _Token(kind, match[kind].replace(doubled * 2, doubled), place)
        place = _after_space(text, match.end())
    yield _Token("end", "", len(text))


def _after_space(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _quoting_hint(text: str, place: int, names: Collection[str]) -> str:
    """What to do if the name of a column that needs quotes is at this place of a text."""
    for name in sorted(names, key=len, reverse=True):
        start = text.find(name, max(0, place - len(name)))
        if _name_text(name) != name and 0 <= start <= place:
            return f"write the column in double quotes: {_name_text(name)}"
    return ""


class _Reader:
    """Recursive descent over the tokens of a text."""

    def __init__(self, text: str, public: Mapping[str, Kind], secret: Collection[str]) -> None:
        self.text = text
        self.public = public
        self.secret = secret
        self.names = (*public, *secret)
        self.tokens = list(_tokens(text, self.names))
        self.next = 0
        self.values = 0

    # The grammar, from the top

    def query(self) -> Query:
        token = self.take()
        aggregate = token.text.lower()
        if token.kind != "name" or aggregate not in AGGREGATES:
            known = ", ".join(AGGREGATES)
            raise self.wrong(token, f"a query starts with one of {known}, as in max(salary)")
        argument = "*" if aggregate == "count" else "salary"
        self.expect("(", f"as in {aggregate}({argument})")
        column = None
        if aggregate == "count":
            self.expect("*", "people are counted, not values; as in count(*)")
        else:
            column = self.name()
        self.expect(")", f"{aggregate} takes one column")
        if self.peek().kind == "end":
            return Query(aggregate, column)
        if not self.word("where"):
            raise self.wrong(self.peek(), "the aggregate is followed by where, or by nothing")
        return Query(aggregate, column, self.condition(0))

    def condition(self, depth: int) -> Condition:
        parts = [self.conjunction(depth)]
        while self.word("or"):
            parts.append(self.conjunction(depth))
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def conjunction(self, depth: int) -> Condition:
        parts = [self.negation(depth)]
        while self.word("and"):
            parts.append(self.negation(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def negation(self, depth: int) -> Condition:
        if depth > DEEPEST:
            raise self.wrong(self.peek(), f"parentheses and negations are more than {DEEPEST} deep")
        if self.word("not"):
            return Not(self.negation(depth + 1))
        if self.sign("("):
            inner = self.condition(depth + 1)
            self.expect(")", "a parenthesis is still open")
            return inner
        return self.comparison()

    def comparison(self) -> Condition:
        column = self.public_column()
        if self.word("is"):
            negated = self.word("not")
            atom = self.missing(column)
        else:
            negated = self.word("not")
            if self.word("in"):
                atom = self.membership(column)
            elif self.word("between"):
                atom = self.range(column)
            else:
                return self.relation(column, negated)
        return Not(atom) if negated else atom

    def missing(self, column: str) -> Atom:
        if not self.word("missing"):
            raise self.wrong(self.peek(), "write is missing, or is not missing")
        return Atom(column, "missing")

    def membership(self, column: str) -> Atom:
        self.expect("(", "as in dept in ('X', 'Y')")
        values = [self.value(column)]
        while self.sign(","):
            values.append(self.value(column))
        self.expect(")", "a parenthesis is still open")
        return Atom(column, "in", tuple(values))

    def range(self, column: str) -> Atom:
        low = self.value(column, ordered=True)
        if not self.word("and"):
            raise self.wrong(self.peek(), "expected 'and', as in age between 30 and 39")
        return Atom(column, "between", (low, self.value(column, ordered=True)))

    def relation(self, column: str, negated: bool) -> Atom:
        token = self.take()
        if negated or token.kind != "sign" or token.text not in _SIGNS:
            raise self.wrong(
                token,
                "expected one of = != < <= > >=, in (…), between … and …, is missing",
            )
        typed = token.text + self.peek().text
        if self.peek().kind == "sign" and typed in _MEANT:
            raise self.wrong(
                token, "there is no such sign", f"write {_MEANT[typed]} instead of {typed}"
            )
        value = self.value(column, ordered=token.text in _ORDER)
        return Atom(column, cast(Sign, token.text), (value,))

    def public_column(self) -> str:
        token = self.peek()
        column = self.name()
        if column in self.public:
            return column
        what = f"there is no public column {column!r}"
        if column in self.secret:
            what = f"column {column!r} is secret, and conditions are about public columns"
        hint = _quoting_hint(self.text, token.place, self.names)
        fix = f"the public columns are {listed(self.public)}"
        raise QueryError(
            what, f"{fix}; {hint}" if hint else fix, where=f"character {token.place + 1}"
        )

    def name(self) -> str:
        token = self.take()
        if token.kind == "quoted" or (token.kind == "name" and token.text.lower() not in _WORDS):
            return token.text
        raise self.wrong(
            token,
            "expected the name of a column",
            'an unusual name is in double quotes, as in "post code"',
        )

    def value(self, column: str, ordered: bool = False) -> Value:
        token = self.take()
        kind = self.public[column]
        self.values += 1
        if self.values > MOST:
            raise self.wrong(
                token,
                f"a query compares with at most {MOST} values",
                "give a list of people instead",
            )
        if ordered and kind is Kind.TEXT:
            raise self.wrong(
                token,
                f"column {column!r} is text, which has no order",
                "use =, != or in, or have its type declared in a new audit",
            )
        self.require_form(token, column, kind)
        value = Decimal(token.text) if token.kind == "number" else token.text
        try:
            _key(value, kind)
        except (ValueError, OverflowError):
            raise self.wrong(
                token, f"column {column!r} is of type {kind.value}, and this is not a {kind.value}"
            ) from None
        return value

    def require_form(self, token: _Token, column: str, kind: Kind) -> None:
        """Raise unless a value is written as values of its column are: quoted, or as a number."""
        if kind in (Kind.TEXT, Kind.DATE):
            if token.kind != "text" or not token.text:
                example = "'X'" if kind is Kind.TEXT else "'2024-12-31'"
                raise self.wrong(
                    token,
                    f"column {column!r} is of type {kind.value}",
                    f"compare it with a value in single quotes, such as {example}",
                )
        elif token.kind != "number":
            raise self.wrong(
                token,
                f"column {column!r} is of type {kind.value}",
                "compare it with a number, such as 30",
            )

    # The tokens

    def peek(self) -> _Token:
        return self.tokens[self.next]

    def take(self) -> _Token:
        token = self.tokens[self.next]
        self.next += token.kind != "end"
        return token

    def word(self, word: str) -> bool:
        return self.skip("name", word)

    def sign(self, sign: str) -> bool:
        return self.skip("sign", sign)

    def skip(self, kind: str, text: str) -> bool:
        token = self.tokens[self.next]
        same = token.kind == kind and token.text.lower() == text
        self.next += same
        return same

    def expect(self, sign: str, why: str) -> None:
        if not self.sign(sign):
            raise self.wrong(self.peek(), f"expected {sign!r}", why)

    def end(self) -> None:
        token = self.peek()
        if token.kind != "end":
            raise self.wrong(token, "expected and, or, or the end of the query")

    def wrong(self, token: _Token, what: str, fix: str = "") -> QueryError:
        hint = _quoting_hint(self.text, token.place, self.names)
        where = f"character {token.place + 1}, at {token}"
        return QueryError(what, "; ".join(filter(None, (fix, hint))), where=where)


# Whom it is about


def _key(value: Value, kind: Kind) -> Key | Decimal | None:
    """What the keys of a column are compared with; a number beside integers stays exact."""
    if kind is Kind.INTEGER and isinstance(value, Decimal):
        return value
    return kind.key(value)


@dataclass(frozen=True, eq=False)
class Public:
    """A public column: its type, its distinct values in order, and which of them everyone has."""

    kind: Kind
    keys: tuple[Key | None, ...]
    codes: "array[int]"  # Python 3.11 cannot say this at run time

    def those(self, atom: Atom) -> int:
        """The people for whom a comparison holds."""
        if not self.codes:
            return 0
        match = self._test(atom)
        holds = np.fromiter(map(match, self.keys), bool, len(self.keys))
        packed = np.packbits(holds[np.asarray(self.codes)], bitorder="little")
        return int.from_bytes(packed.tobytes(), "little")

    def _test(self, atom: Atom) -> Callable[[Key | None], bool]:
        values: list[Any] = [_key(value, self.kind) for value in atom.values]
        among = frozenset(values)
        match atom.sign:
            case "missing":
                return lambda key: key is None
            case "=" | "in":
                return lambda key: key is not None and key in among
            case "!=":
                return lambda key: key is None or key != values[0]
            case "between":
                return lambda key: key is not None and values[0] <= key <= values[1]
        compare = _ORDER[atom.sign]
        return lambda key: key is not None and compare(key, values[0])


def cost(where: Condition | None, people: int) -> int:
    """Steps, as auditors count them, to find for whom of this many people a condition holds."""
    match where:
        case None:
            return 0
        case Atom():
            return COMPARED * people + READ * len(where.values)
        case Not():
            return cost(where.inner, people)
    return sum(cost(part, people) for part in where.parts)


def people(where: Condition | None, columns: Mapping[str, Public], everyone: int) -> int:
    """The set of people for whom a condition holds."""
    match where:
        case None:
            return everyone
        case Atom():
            return columns[where.column].those(where)
        case Not():
            return everyone & ~people(where.inner, columns, everyone)
        case All():
            common = everyone
            for part in where.parts:
                common &= people(part, columns, everyone)
            return common
    union = 0
    for part in where.parts:
        union |= people(part, columns, everyone)
    return union
