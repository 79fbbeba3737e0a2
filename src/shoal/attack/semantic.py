"""The checker of semantic (k, ε)-anonymity: is there a table, and someone in it, whom the output gives away?

Li, Li: Microdata publishing with algorithmic privacy guarantees, definition 4. It takes the exact law of an
algorithm's outputs, in fractions or in the intervals of `coins`, and tries every table over a small domain. Exhaustive, so for
small cases; proofs for all tables are in docs/proofs/semantic.md.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
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
from shoal.methods import Method

__all__ = ["Breach", "Shown", "breach", "releases"]

LARGEST = 100_000  # tables worth trying one by one

Row: TypeAlias = Hashable
Database: TypeAlias = tuple[Row, ...]
Law: TypeAlias = Mapping[Any, Fraction | int | Interval]
Algorithm: TypeAlias = Callable[[Any], Law | Hashable]
"""From rows to the probability of every output, exactly; or, where nothing is drawn, to the output itself."""


@dataclass(frozen=True)
class Breach:
    """A table, and a record in it that neither of the two conditions protects."""

    database: Database
    record: Row
    k: int
    epsilon: Epsilon | None  # None is 0
    output: Hashable  # that tells whether the record is there
    present: Fraction  # the probability of that output
    absent: Fraction  # and that without the record
    replaceable: int  # by how many other records it could be replaced unnoticed; k − 1 would do

    @property
    def statement(self) -> str:
        """What is wrong, in words."""
        wanted = (
            f"semantic {self.k}-anonymity"
            if self.epsilon is None
            else f"semantic ({self.k}, {self.epsilon})-anonymity"
        )
        return (
            f"no {wanted}: of the records {list(self.database)}, the record {self.record!r} matters. The output {self.output} "
            f"has probability {printed(self.present)} with it and {printed(self.absent)} without it, and it could be replaced "
            f"unnoticed by {self.replaceable} of the other records, not by {self.k - 1}"
        )


@typed
def breach(
    algorithm: Algorithm,
    domain: Sequence[Row],
    records: int,
    k: int,
    epsilon: Epsilon | Exact = 0,
    *,
    fewest: int = 1,
    cut: Exact = 0,
) -> Breach | None:
    """The first table of `fewest` to so many records over a domain in which a record is not protected; None if there is none.

    A record is protected if its removal changes no output's probability by more than a factor e^ε, or if the same holds of
    its replacement by a copy of each of at least k − 1 other records of the table. Tables are tried from the smallest on,
    and are handed over in the order of the domain. Where e^ε is irrational it is rounded down: what is found to hold, holds.

    A law may be one of `coins.law`, in intervals: then a breach is found where probabilities are surely apart, which for
    intervals of 10⁻⁸⁰ is where they are. Outputs without end have to be cut: `cut` is how much of a law may be missing, and
    what one law misses counts as anything up to that.

    >>> print(breach(lambda rows: rows * 2, ["Ann"], 2, 2).statement)
    no semantic 2-anonymity: of the records ['Ann'], the record 'Ann' matters. The output ('Ann', 'Ann') has probability 1 \
with it and 0 without it, and it could be replaced unnoticed by 0 of the other records, not by 1
    >>> breach(lambda rows: len(rows) >= 2 and ("somebody",) * len(rows), ["Ann", "Bo"], 4, 2) is None
    True
    """
    domain = tuple(domain)
    if not domain or len(set(domain)) < len(domain):
        raise ParameterError(
            "`domain` lists every row that there can be, each once; give at least one"
        )
    whole(k, "k")
    tables = comb(len(domain) + whole(records, "records"), len(domain))
    if tables > LARGEST:
        raise TooLargeError(
            f"there are {tables:,} tables and at most {LARGEST:,} are tried; take fewer records or a smaller domain"
        )
    factor = None if isinstance(epsilon, int | str) and epsilon in (0, "0") else Epsilon.of(epsilon)
    growth = Fraction(1) if factor is None else factor.exponential()[0]
    missing = fraction(cut, "cut", 0, 1)
    known = cache(lambda database: _law(algorithm(database), missing))
    for size in range(whole(fewest, "fewest"), records + 1):
        for database in combinations_with_replacement(domain, size):
            counts, own = Counter(database), known(database)
            for record in counts:
                rest = counts - Counter([record])
                without = known(_laid_out(rest, domain))
                output = _apart(own, without, growth)
                if output is None:
                    continue
                replaceable = sum(
                    often
                    for other, often in rest.items()
                    if other == record
                    or _apart(own, known(_laid_out(rest + Counter([other]), domain)), growth)
                    is None
                )
                if replaceable < k - 1:
                    (told,) = output
                    present, absent = _told(own, told), _told(without, told)
                    return Breach(database, record, k, factor, told, present, absent, replaceable)
    return None


@dataclass(frozen=True)
class _Law:
    """The probability of every output, and how much is missing of all of them."""

    weights: Mapping[Any, Interval]
    missing: Fraction

    def get(self, output: Hashable) -> Interval:
        return self.weights.get(output, Interval(Fraction(0), self.missing))


def _law(given: Law | Hashable, cut: Fraction) -> _Law:
    if not isinstance(given, Mapping | Hashable):
        raise ParameterError(
            f"an algorithm gives a {type(given).__name__}, which cannot be looked up; give a tuple or a text"
        )
    if not isinstance(given, Mapping):
        return _Law({given: ONE}, Fraction(0))
    weights = {
        output: weight if isinstance(weight, Interval) else point(weight)
        for output, weight in given.items()
        if isinstance(weight, int | Fraction | Interval)
    }
    least = sum((weight.low for weight in weights.values()), Fraction(0))
    most = sum((weight.high for weight in weights.values()), Fraction(0))
    rounded = any(weight.low < weight.high for weight in weights.values())
    if (
        len(weights) < len(given)
        or any(weight.low < 0 for weight in weights.values())
        or not (least <= 1 <= most + cut)
        or (not rounded and not cut and least != 1)
    ):
        raise ParameterError(
            "the probabilities of an algorithm's outputs are fractions of at least 0 that sum to 1, exactly; give `cut` "
            "where some are left out"
        )
    return _Law(weights, 1 - least if cut else Fraction(0))


def _told(law: _Law, output: Hashable) -> Fraction:
    """A probability for people: itself, or twelve digits of it."""
    weight = law.weights.get(output, ZERO)
    if weight.low == weight.high:
        return weight.low
    return Fraction(round((weight.low + weight.high) / 2 * 10**12), 10**12)


def _laid_out(counts: Counter[Row], domain: Sequence[Row]) -> Database:
    return tuple(row for row in domain for _ in range(counts[row]))


def _apart(one: _Law, other: _Law, growth: Fraction) -> tuple[Hashable] | None:
    """The first output of which the probabilities surely differ by more than a factor, in either direction."""
    for output in (*one.weights, *other.weights):
        a, b = one.get(output), other.get(output)
        if a.low > growth * b.high or b.low > growth * a.high:
            return (output,)
    return None


@dataclass(frozen=True)
class Shown:
    """All that a release shows, but for its random number: rows, types of columns, certificate."""

    rows: tuple[tuple[Any, ...], ...]
    types: tuple[str, ...]
    certificate: str

    def __str__(self) -> str:
        return str(list(self.rows))


@typed
def releases(method: Method, like: Table, cut: Exact | None = None) -> Callable[[Database], Any]:
    """What a method shows of rows, as an algorithm for `breach`; the schema is that of a table.

    A row is a tuple of the values of all columns, in the table's order. For a method that draws, give a `cut`: the law of
    all it can show, but for outcomes whose draws are less likely than that. Give `breach` a somewhat larger one.
    """
    smallest = None if cut is None else fraction(cut, "cut", 0, 1)

    def algorithm(database: Database) -> Any:
        if smallest is None:
            return shown_by(database, _Nothing())
        return law(lambda chance: shown_by(database, chance), cut=smallest)

    def shown_by(database: Database, chance: Chance) -> Shown:
        columns = {name: [row[j] for row in database] for j, name in enumerate(like.names)}  # type: ignore[index]
        frame = nw.from_dict(
            columns, schema=like.frame.schema, backend=like.frame.implementation
        ).to_native()
        roles: dict[str, Any] = {}
        for name, role in like.roles.items():
            roles.setdefault(role.value, []).append(name)
        given = table(
            frame,
            **roles,
            hierarchies=like.hierarchies,
            types=like.types,
            missing=like.missing,
            rows_are_people=True,  # whatever identifying values the inputs to be compared have
        )
        try:
            release = method.release(given, chance)
        except InfeasibleError:
            return Shown((), (), "")  # that there is no release is seen too
        shown = nw.from_native(release.table, eager_only=True)
        certificate = replace(release.certificate, number="")
        rows = (
            tuple(None if value != value else value for value in row) for row in shown.iter_rows()
        )  # NaN is missing too
        return Shown(tuple(rows), tuple(map(str, shown.schema.values())), certificate.to_json())

    return algorithm


class _Nothing(Chance):
    """A source of chance that nothing may be drawn from but the number of a release."""

    def bytes(self, size: int) -> bytes:
        raise InternalError(
            "the method draws random numbers: give `breach` the law of what it releases, not one release; `releases` with "
            "a `cut` makes it"
        )

    def number(self) -> str:
        return ""
