"""The language of queries: `max(salary) where dept = 'X' and not age < 30`. Uses `kinds`; `Audit` uses it.

A query has an aggregate and a condition on public columns. It is parsed here, by recursive descent, into a few frozen classes,
and evaluated on the public columns alone; nothing of it reaches a database. `str` of a query is its canonical text.

Logic has two values. A missing value satisfies no comparison but `!=`, which is the same as `not … = …`.
"""

import operator
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args

from shoal.data.kinds import Key, Kind
from shoal.errors import QueryError, listed

__all__ = [
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
"""Characters of a query."""

DEEPEST = 32
"""Parentheses and `not`s inside each other."""

MOST = 500
"""Values that a query compares with."""

COMPARED = 5  # steps to compare one person
READ = 100  # steps to read one value

Aggregate = Literal["max", "min", "sum", "mean", "count"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
Sign = Literal["=", "!=", "<", "<=", ">", ">=", "in", "between", "missing"]
Value = str | Decimal
"""A quoted text (of a date too), or a number."""

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MEANT = {
    "==": "equal is one sign: write = instead of ==",
    "<>": "write != instead of <>",
    "=>": "write >= instead of =>",
    "=<": "write <= instead of =<",
}
_WORDS = frozenset({"and", "or", "not", "in", "between", "is", "missing", "where"})
_NAME = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    r"""(?P<name>[^\W\d]\w*)
    | (?P<number>[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?(?![\w.]))
    | '(?P<text>(?:[^']|'')*)'
    | "(?P<quoted>(?:[^"]|"")*)"
    | (?P<sign>!=|<=|>=|[=<>(),*])""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*")


# What a query is


@dataclass(frozen=True)
class Atom:
    """One comparison of a column with values."""

    column: str
    sign: Sign
    values: tuple[Value, ...] = ()

    def __str__(self) -> str:
        name, values = _named(self.column), [_valued(value) for value in self.values]
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
        return f"not {_within(self.inner)}"


@dataclass(frozen=True)
class All:
    """Those for whom all parts hold."""

    parts: "tuple[Condition, ...]"

    def __str__(self) -> str:
        return " and ".join(map(_within, self.parts))


@dataclass(frozen=True)
class Some:
    """Those for whom some part holds."""

    parts: "tuple[Condition, ...]"

    def __str__(self) -> str:
        return " or ".join(map(_within, self.parts))


Condition = Atom | Not | All | Some


@dataclass(frozen=True)
class Query:
    """An aggregate of a column (of none for a count) over those for whom a condition holds, or over everyone."""

    aggregate: Aggregate
    column: str | None
    where: Condition | None = None

    def __str__(self) -> str:
        start = f"{self.aggregate}({'*' if self.column is None else _named(self.column)})"
        return start if self.where is None else f"{start} where {self.where}"


def naming(column: str, kind: Kind, people: Sequence[str | int]) -> Atom:
    """The condition that a column is one of these: an explicit list of people; QueryError if one cannot be in such a column."""
    try:
        texts = [kind.text(kind.key(one)) for one in people]
    except (ValueError, TypeError, OverflowError):
        raise QueryError(
            f"people are named by column {column!r}, which is {kind.value}; the list has something else"
        ) from None
    if not all(texts):
        raise QueryError("the list of people has no people, or an empty name")
    return Atom(
        column, "in", tuple(texts if kind in (Kind.TEXT, Kind.DATE) else map(Decimal, texts))
    )


def _named(name: str) -> str:
    if _NAME.fullmatch(name) and name.lower() not in _WORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _valued(value: Value) -> str:
    return str(value) if isinstance(value, Decimal) else "'" + value.replace("'", "''") + "'"


def _within(inner: Condition) -> str:
    return f"({inner})" if isinstance(inner, All | Some) else str(inner)


# Reading one


def parse(text: str, public: Mapping[str, Kind], secret: Collection[str] = ()) -> Query:
    """The query that a text is, given the public columns with their types and the secret ones; else QueryError.

    >>> print(parse("MAX(salary) where (dept='X') and not age>=30", {"dept": Kind.TEXT, "age": Kind.INTEGER}, ["salary"]))
    max(salary) where dept = 'X' and not age >= 30
    """
    reader = _Reader(text, public, secret)
    found = reader.query()
    reader.end()
    return found


def condition(text: str, public: Mapping[str, Kind], secret: Collection[str] = ()) -> Condition:
    """The condition that a text is, without an aggregate in front; else QueryError."""
    reader = _Reader(text, public, secret)
    found = reader.condition(0)
    reader.end()
    return found


class _Token(NamedTuple):
    kind: str  # name, number, text, quoted, sign, or end
    text: str
    place: int


def _tokens(text: str, names: Collection[str] = ()) -> Iterator[_Token]:
    if len(text) > LONGEST:
        raise QueryError(
            f"the query has {len(text):,} characters; it may have {LONGEST:,}: ask for a list of people instead"
        )
    if any("\ud800" <= one <= "\udfff" for one in text):
        raise QueryError("the query is no text: it has half a character; send it as UTF-8")
    place = _end(_SPACE.match(text))
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            hint = (
                "; is a quote missing?" if text[place] in "'\"" else _unquoted(text, place, names)
            )
            raise QueryError(f"character {place + 1}: {text[place]!r} does not belong there{hint}")
        kind = str(found.lastgroup)
        inner = found[kind]
        yield _Token(
            kind, inner.replace("''", "'") if kind == "text" else inner.replace('""', '"'), place
        )
        place = _end(_SPACE.match(text, found.end()))
    yield _Token("end", "", len(text))


def _unquoted(text: str, place: int, names: Collection[str]) -> str:
    """A hint, if at some place of a text there is the name of a column that needs quotes."""
    for name in sorted(names, key=len, reverse=True):
        start = text.find(name, max(0, place - len(name)))
        if _named(name) != name and 0 <= start <= place:
            return f"; write the column in double quotes: {_named(name)}"
    return ""


def _end(found: "re.Match[str] | None") -> int:
    assert found is not None  # it matches nothing too
    return found.end()


class _Reader:
    """Recursive descent over the tokens of a text."""

    def __init__(self, text: str, public: Mapping[str, Kind], secret: Collection[str]) -> None:
        self.text, self.names = text, (*public, *secret)
        self.tokens = list(_tokens(text, self.names))
        self.next = 0
        self.public, self.secret = public, secret
        self.values = 0

    # The grammar, from the top

    def query(self) -> Query:
        name = self.take()
        aggregate = name.text.lower()
        if name.kind != "name" or aggregate not in AGGREGATES:
            raise self.wrong(
                name, f"a query starts with one of {', '.join(AGGREGATES)}, as in max(salary)"
            )
        self.expect("(", f"as in {aggregate}({'*' if aggregate == 'count' else 'salary'})")
        column = None
        if aggregate == "count":
            self.expect("*", "people are counted, as in count(*), not values")
        else:
            column = self.name()
        self.expect(")", f"{aggregate} is of one column")
        found = None
        if self.tokens[self.next].kind != "end":
            if not self.word("where"):
                raise self.wrong(
                    self.tokens[self.next], "after the aggregate comes where, or nothing"
                )
            found = self.condition(0)
        return Query(aggregate, column, found)

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
        here = self.tokens[self.next]
        if depth > DEEPEST:
            raise self.wrong(here, f"parentheses and nots go {DEEPEST} deep at most")
        if self.word("not"):
            return Not(self.negation(depth + 1))
        if self.sign("("):
            inner = self.condition(depth + 1)
            self.expect(")", "a parenthesis is open")
            return inner
        return self.comparison()

    def comparison(self) -> Condition:
        place = self.tokens[self.next]
        column = self.name()
        if column not in self.public:
            why = (
                f"column {column!r} is secret, and conditions are about public columns"
                if column in self.secret
                else f"there is no public column {column!r}"
            )
            hint = _unquoted(self.text, place.place, self.names)
            raise QueryError(
                f"character {place.place + 1}: {why}; public are {listed(self.public)}{hint}"
            )
        if self.word("is"):
            negated = self.word("not")
            if not self.word("missing"):
                raise self.wrong(self.tokens[self.next], "write is missing, or is not missing")
            return self.negated(negated, Atom(column, "missing"))
        negated = self.word("not")
        if self.word("in"):
            self.expect("(", "as in dept in ('X', 'Y')")
            values = [self.value(column)]
            while self.sign(","):
                values.append(self.value(column))
            self.expect(")", "a parenthesis is open")
            return self.negated(negated, Atom(column, "in", tuple(values)))
        if self.word("between"):
            low = self.value(column, ordered=True)
            if not self.word("and"):
                raise self.wrong(self.tokens[self.next], "as in age between 30 and 39")
            return self.negated(
                negated, Atom(column, "between", (low, self.value(column, ordered=True)))
            )
        sign = self.take()
        if negated or sign.kind != "sign" or sign.text not in ("=", "!=", *_ORDER):
            raise self.wrong(
                sign, "a comparison is one of = != < <= > >=, in (…), between … and …, is missing"
            )
        after = self.tokens[self.next]
        if after.kind == "sign" and (meant := _MEANT.get(sign.text + after.text)):
            raise self.wrong(sign, meant)
        return Atom(column, sign.text, (self.value(column, ordered=sign.text in _ORDER),))  # type: ignore[arg-type]

    def name(self) -> str:
        token = self.take()
        if token.kind == "quoted" or (token.kind == "name" and token.text.lower() not in _WORDS):
            return token.text
        raise self.wrong(
            token,
            'here comes the name of a column, in double quotes if it is unusual, as in "post code"',
        )

    def value(self, column: str, ordered: bool = False) -> Value:
        token = self.take()
        kind = self.public[column]
        self.values += 1
        if self.values > MOST:
            raise self.wrong(
                token,
                f"a query compares with {MOST} values at most; ask for a list of people instead",
            )
        if ordered and kind is Kind.TEXT:
            raise self.wrong(
                token,
                f"column {column!r} is text, which has no order; use =, != or in, or have its type declared in a new audit",
            )
        if kind in (Kind.TEXT, Kind.DATE):
            if token.kind != "text" or not token.text:
                example = "'X'" if kind is Kind.TEXT else "'2024-12-31'"
                raise self.wrong(
                    token,
                    f"column {column!r} is {kind.value}: compare it with a value in single quotes, as {example}",
                )
        elif token.kind != "number":
            raise self.wrong(
                token, f"column {column!r} is {kind.value}: compare it with a number, as 30"
            )
        value = Decimal(token.text) if token.kind == "number" else token.text
        try:
            _key(value, kind)
        except (ValueError, OverflowError):
            raise self.wrong(
                token, f"this is no {kind.value}, which column {column!r} is"
            ) from None
        return value

    # The tokens

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
        found = token.kind == kind and token.text.lower() == text
        self.next += found
        return found

    def expect(self, sign: str, why: str) -> None:
        if not self.sign(sign):
            raise self.wrong(self.tokens[self.next], f"expected {sign!r}: {why}")

    def end(self) -> None:
        if (token := self.tokens[self.next]).kind != "end":
            raise self.wrong(token, "the query should be over here, or go on with and, or")

    @staticmethod
    def negated(negated: bool, atom: Atom) -> Condition:
        return Not(atom) if negated else atom

    def wrong(self, token: _Token, why: str) -> QueryError:
        seen = (
            "the end"
            if token.kind == "end"
            else repr(token.text if len(token.text) < 40 else token.text[:40] + "…")
        )
        hint = _unquoted(self.text, token.place, self.names)
        return QueryError(f"character {token.place + 1}, at {seen}: {why}{hint}")


# Whom it is about


def _key(value: Value, kind: Kind) -> Key | Decimal | None:
    """What the keys of a column are compared with; a number beside integers stays exact."""
    return value if kind is Kind.INTEGER and isinstance(value, Decimal) else kind.key(value)


@dataclass(frozen=True, eq=False)
class Public:
    """A public column: its type, its distinct values in order, and which of them everyone has."""

    kind: Kind
    keys: tuple[Key | None, ...]
    codes: "array[int]"  # Python 3.11 cannot say this at run time

    def those(self, atom: Atom) -> int:
        """The people for whom a comparison holds."""
        match = self._test(atom)
        bits = bytes(b"01"[match(key)] for key in self.keys)
        # The last person is the highest bit. Base two is read in linear time.
        return int(bytes(bits[code] for code in reversed(self.codes)), 2) if self.codes else 0

    def _test(self, atom: Atom) -> Callable[[Key | None], bool]:
        values = [_key(value, self.kind) for value in atom.values]
        among = frozenset(values)
        match atom.sign:
            case "missing":
                return lambda key: key is None
            case "=" | "in":
                return lambda key: key is not None and key in among
            case "!=":
                return lambda key: key is None or key != values[0]
            case "between":
                return lambda key: key is not None and values[0] <= key <= values[1]  # type: ignore[operator]
        compare = _ORDER[atom.sign]
        return lambda key: key is not None and compare(key, values[0])


def cost(where: Condition | None, people: int) -> int:
    """Steps, as auditors count them, to find whom a condition holds for among so many people."""
    match where:
        case None:
            return 0
        case Atom():
            return COMPARED * people + READ * len(where.values)
        case Not():
            return cost(where.inner, people)
    return sum(cost(part, people) for part in where.parts)


def people(where: Condition | None, columns: Mapping[str, Public], everyone: int) -> int:
    """The people for whom a condition holds, as a set."""
    match where:
        case None:
            return everyone
        case Atom():
            return columns[where.column].those(where)
        case Not():
            return everyone & ~people(where.inner, columns, everyone)
        case All():
            found = everyone
            for part in where.parts:
                found &= people(part, columns, everyone)
            return found
    found = 0
    for part in where.parts:
        found |= people(part, columns, everyone)
    return found
