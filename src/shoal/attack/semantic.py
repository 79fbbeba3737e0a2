"""The checker of semantic (k, ε)-anonymity.

It looks for a table with somebody in it whom the output gives away. Li, Li: Microdata publishing
with algorithmic privacy guarantees, definition 4. It takes the exact law of an algorithm's outputs,
in fractions or in the intervals of `coins`, and tries every table over a small domain. Exhaustive,
so for small cases; proofs for all tables are in docs/proofs/semantic.md.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb
from typing import Any, TypeAlias

import narwhals as nw

from shoal.arguments import typed
from shoal.attack.coins import ONE, ZERO, Interval, law, point
from shoal.chance import Chance
from shoal.data.tables import Table, table
from shoal.errors import InfeasibleError, InternalError, ParameterError, TooLargeError
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, fraction, printed, whole
from shoal.methods.method import Method

__all__ = ["Breach", "Observation", "breach", "releases"]

LARGEST = 100_000
"""Tables that are tried one by one at most."""

Record: TypeAlias = Hashable
Database: TypeAlias = tuple[Record, ...]
Law: TypeAlias = Mapping[Any, Fraction | int | Interval]
Algorithm: TypeAlias = Callable[[Any], Law | Hashable]
"""From rows to the exact probability of every output, or to the output if nothing is drawn."""


class CutLaw(dict[Any, Interval]):
    """A law without its lightest paths: what it misses of 1 may be any output."""


@dataclass(frozen=True)
class Breach:
    """A table, and a record in it that neither of the two conditions protects."""

    database: Database
    record: Record
    k: int
    epsilon: Epsilon | None
    """None is 0."""
    output: Hashable
    """The output that reveals whether the record is there."""
    present: Fraction
    """The probability of that output."""
    absent: Fraction
    """Its probability without the record."""
    replaceable: int
    """By how many other records it could be replaced unnoticed; k − 1 would do."""

    @property
    def statement(self) -> str:
        """What is wrong, in words."""
        protection = str(self.k) if self.epsilon is None else f"({self.k}, {self.epsilon})"
        present, absent = printed(self.present), printed(self.absent)
        return (
            f"no semantic {protection}-anonymity: of the records {list(self.database)}, the record"
            f" {self.record!r} matters. The output {self.output} has probability {present} with it"
            f" and {absent} without it, and it could be replaced unnoticed by {self.replaceable} of"
            f" the other records, not by {self.k - 1}"
        )


@typed
def breach(
    algorithm: Algorithm,
    domain: Sequence[Record],
    records: int,
    k: int,
    epsilon: Epsilon | Exact = 0,
    *,
    fewest: int = 1,
    cut: Exact = 0,
) -> Breach | None:
    """The first table over a domain in which a record is not protected; None if there is none.

    Tables have `fewest` to `records` records. A record is protected if its removal changes no
    output's probability by more than a factor e^ε, or if the same holds of its replacement by a
    copy of each of at least k − 1 other records of the table. Tables are tried from the smallest
    on, and are handed over in the order of the domain. Where e^ε is irrational it is rounded down:
    what is found to hold, holds.

    A law may be one of `coins.law`, in intervals: then a breach is found where probabilities are
    surely apart, which for intervals of 10⁻⁸⁰ is where they are. Outputs without end have to be
    cut: `cut` is how much of a law may be missing, and what one law misses counts as anything up to
    that. So a breach by outputs that are rarer than what is missing is not seen. Laws of `releases`
    know themselves what they miss.

    >>> print(breach(lambda rows: rows * 2, ["Ann"], 2, 2).statement)
    no semantic 2-anonymity: of the records ['Ann'], the record 'Ann' matters. The output \
('Ann', 'Ann') has probability 1 with it and 0 without it, and it could be replaced unnoticed \
by 0 of the other records, not by 1
    >>> def counts(rows):
    ...     return len(rows) >= 2 and ("somebody",) * len(rows)
    >>> breach(counts, ["Ann", "Bo"], 4, 2) is None
    True
    """
    rows = tuple(domain)
    if not rows or len(set(rows)) < len(rows):
        raise ParameterError(
            "`domain` must list every possible row once", "give at least one row, and none twice"
        )
    wanted = whole(k, "k")
    tables = comb(len(rows) + whole(records, "records"), len(rows))
    if tables > LARGEST:
        raise TooLargeError(
            f"there are {tables:,} tables and at most {LARGEST:,} are tried",
            "take fewer records or a smaller domain",
        )
    # An ε of 0 is no budget, but it is allowed here: probabilities must then be equal.
    factor = None
    is_zero = isinstance(epsilon, int | str) and epsilon in (0, "0")
    if not is_zero:
        factor = Epsilon.of(epsilon)
    # Neighbouring tables share their laws, so each is found once.
    laws = _Laws(algorithm, rows, fraction(cut, "cut", 0, 1))
    for size in range(whole(fewest, "fewest"), records + 1):
        for database in combinations_with_replacement(rows, size):
            for candidate in _noticed(laws, database, wanted, factor):
                if candidate.replaceable < wanted - 1:
                    return candidate
    return None


def _noticed(
    laws: "_Laws",
    database: Database,
    k: int,
    epsilon: Epsilon | None,
) -> Iterator[Breach]:
    """The records whose removal is noticed: breaches if few others could replace them."""
    growth = Fraction(1) if epsilon is None else epsilon.exponential()[0]
    counts = Counter(database)
    present = laws.of(counts)
    for record in counts:
        rest = counts - Counter([record])
        absent = laws.of(rest)
        apart = _apart(present, absent, growth)
        if apart is None:
            continue
        replaceable = 0
        for other, often in rest.items():
            replaced = laws.of(rest + Counter([other]))
            if _apart(present, replaced, growth) is None:
                replaceable += often
        (output,) = apart
        yield Breach(
            database,
            record,
            k,
            epsilon,
            output,
            present=present.shown(output),
            absent=absent.shown(output),
            replaceable=replaceable,
        )


@dataclass(frozen=True)
class _Law:
    """The probability of every output, and how much is missing of all of them."""

    weights: Mapping[Any, Interval]
    missing: Fraction

    def get(self, output: Hashable) -> Interval:
        return self.weights.get(output, Interval(Fraction(0), self.missing))

    def shown(self, output: Hashable) -> Fraction:
        """A probability for people to read: itself, or twelve digits of it."""
        weight = self.weights.get(output, ZERO)
        if weight.low == weight.high:
            return weight.low
        middle = (weight.low + weight.high) / 2
        return Fraction(round(middle * 10**12), 10**12)


class _Laws:
    """The laws of an algorithm's outputs on tables over a domain, each found once."""

    def __init__(
        self,
        algorithm: Algorithm,
        domain: Database,
        cut: Fraction,
    ) -> None:
        self.algorithm = algorithm
        self.domain = domain
        self.cut = cut
        self._known: dict[Database, _Law] = {}

    def of(self, counts: Counter[Record]) -> _Law:
        """The law on a table, whose rows are laid out in the order of the domain."""
        database = tuple(row for row in self.domain for _ in range(counts[row]))
        if database not in self._known:
            self._known[database] = _law(self.algorithm(database), self.cut)
        return self._known[database]


def _law(given: Law | Hashable, cut: Fraction) -> _Law:
    if not isinstance(given, Mapping | Hashable):
        raise ParameterError(
            f"the algorithm returns a {type(given).__name__}, which cannot be looked up",
            "return a tuple or a text",
        )
    if not isinstance(given, Mapping):
        return _Law({given: ONE}, Fraction(0))
    if isinstance(given, CutLaw):
        return _Law(given, 1 - sum((weight.low for weight in given.values()), Fraction(0)))
    weights = {}
    for output, weight in given.items():
        if isinstance(weight, Interval):
            weights[output] = weight
        elif isinstance(weight, int | Fraction):
            weights[output] = point(weight)
    lows = [weight.low for weight in weights.values()]
    highs = [weight.high for weight in weights.values()]
    least = sum(lows, Fraction(0))
    most = sum(highs, Fraction(0))
    all_numbers = len(weights) == len(given) and min(lows, default=Fraction(0)) >= 0
    sums_to_one = least <= 1 <= most + cut
    if not cut and lows == highs:
        # All are exact, so their sum has to be.
        sums_to_one = least == 1
    if not all_numbers or not sums_to_one:
        raise ParameterError(
            "the probabilities of an algorithm's outputs must be fractions of at least 0 that sum"
            " to 1, exactly",
            "give `cut` where outputs are left out",
        )
    return _Law(weights, 1 - least if cut else Fraction(0))


def _apart(one: _Law, other: _Law, growth: Fraction) -> tuple[Hashable] | None:
    """The first output whose probabilities surely differ by more than a factor, either way."""
    for output in (*one.weights, *other.weights):
        a, b = one.get(output), other.get(output)
        if a.low > growth * b.high or b.low > growth * a.high:
            return (output,)
    return None


@dataclass(frozen=True)
class Observation:
    """All that a release shows, except its random number: rows, types of columns, certificate."""

    rows: tuple[tuple[Any, ...], ...]
    types: tuple[str, ...]
    certificate: str

    def __str__(self) -> str:
        return str(list(self.rows))


@typed
def releases(method: Method, like: Table, cut: Exact | None = None) -> Callable[[Database], Any]:
    """What a method shows of rows, as an algorithm for `breach`; the schema is that of a table.

    A row is a tuple of the values of all columns, in the table's order. For a method that draws,
    give a `cut`: it gets the law of all it can show, except outcomes whose draws are less likely
    than that. 0 will do where every draw has finitely many values, as a sample has.
    """
    smallest = None if cut is None else fraction(cut, "cut", 0, 1)

    def algorithm(database: Database) -> Any:
        given = _table(database, like)
        if smallest is None:
            return _observed(method, given, _NoChance())
        drawn = law(lambda chance: _observed(method, given, chance), cut=smallest)
        return CutLaw(drawn) if smallest else drawn

    return algorithm


def _table(database: Database, like: Table) -> Table:
    """Rows as a table with the schema of another."""
    rows: tuple[Any, ...] = database
    columns = {}
    for at, name in enumerate(like.names):
        columns[name] = [row[at] for row in rows]
    backend = like.frame.implementation
    frame = nw.from_dict(columns, schema=like.frame.schema, backend=backend)
    roles: dict[str, Any] = {}
    for name, role in like.roles.items():
        roles.setdefault(role.value, []).append(name)
    return table(
        frame.to_native(),
        **roles,
        hierarchies=like.hierarchies,
        types=like.types,
        missing=like.missing,
        # Whatever identifying values the compared inputs have.
        rows_are_people=True,
    )


def _observed(method: Method, given: Table, chance: Chance) -> Observation:
    try:
        release = method.release(given, chance)
    except InfeasibleError:
        # That there is no release is seen too.
        return Observation((), (), "")
    frame = nw.from_native(release.table, eager_only=True)
    rows = tuple(tuple(map(_cell, row)) for row in frame.iter_rows())
    types = tuple(map(str, frame.schema.values()))
    certificate = replace(release.certificate, number="")
    return Observation(rows, types, certificate.to_json())


def _cell(value: Any) -> Any:
    """A value as it can be compared; NaN is missing too."""
    return None if value != value else value


class _NoChance(Chance):
    """A source of chance that nothing may be drawn from but the number of a release."""

    def bytes(self, size: int) -> bytes:
        raise InternalError(
            "the method draws random numbers, so that one release is not all it can show",
            "give `releases` a `cut`: it then makes the law of what is released",
        )

    def number(self) -> str:
        return ""
