"""Binding on an explicit set of possible tables, with any predicate: Zhang, definitions 1 to 4.

For small spaces. What those who ask consider possible is kept exactly, as the set of tables that
would have sounded the same, so more is answered than by the auditors that keep bounds instead. A
query is any function of a table, and it is safe to let a set be known if a predicate says so.
docs/proofs/audit-binding.md shows why that is safe. Uses nothing else of `audit`.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Generic, TypeVar

from shoal.errors import InputError, ParameterError

__all__ = ["Binding", "BoundReply", "apart"]

S = TypeVar("S")

Query = Callable[[S], Hashable]

BLOCKS = 12
"""Safe answers up to which all unions of them are tried."""

SINGLES = 60
"""Tables up to which two of them are tried together."""


@dataclass(frozen=True)
class BoundReply:
    """The answer, or None, a denial, and the tables that are possible after it, as bits."""

    answer: Hashable | None
    known: int = field(repr=False)

    @property
    def denied(self) -> bool:
        return self.answer is None


@dataclass(frozen=True, eq=False)
class Binding(Generic[S]):
    """Answers or denies queries about one of these tables, so that what is known stays safe.

    states: all tables that are possible; which one is the true one is secret
    safe: whether it does no harm that exactly these tables are known to be possible

    >>> tables = [(x, y) for x in range(3) for y in range(3)]
    >>> binding = Binding(tables, apart(1))
    >>> binding.ask(binding.start(), sum, (1, 1)).answer
    2
    >>> binding.ask(binding.start(), sum, (0, 0)).denied
    True
    """

    states: Sequence[S]
    safe: Callable[[Sequence[S]], bool]

    def start(self) -> int:
        """All tables are possible; ParameterError if even that is not safe."""
        everything = (1 << len(self.states)) - 1
        if not everything or not self._is_safe(everything):
            raise ParameterError("what is public is not safe already", option="states")
        return everything

    def possible(self, known: int) -> list[S]:
        """The tables of a set."""
        return [state for place, state in enumerate(self.states) if known >> place & 1]

    def ask(self, known: int, query: Query[S], table: S) -> BoundReply:
        """The reply to a query about the true table, given the tables that are still possible.

        InputError if the true table is not one of these.
        """
        place = self._places.get(table) if isinstance(table, Hashable) else None
        if place is None or not known >> place & 1:
            raise InputError("the table is not among those that are possible")
        denied = self.denied(known, query)
        if denied >> place & 1:
            return BoundReply(None, denied)
        answer = query(table)
        return BoundReply(answer, self._blocks(known, query)[answer] & ~denied)

    def denied(self, known: int, query: Query[S]) -> int:
        """The tables for which a query is denied: those that an answer would harm, and more.

        It depends on what is known and on the query, and not on the true table. The smallest set
        that was found, of which a denial tells no more than is safe; answers then do so neither.
        """
        blocks = list(self._blocks(known, query).values())
        harmed = 0
        for block in blocks:
            if not self._is_safe(block):
                harmed |= block
        if not harmed:
            return 0
        wholes = [block for block in blocks if not block & harmed]
        candidates = sorted(set(self._candidates(known, harmed, wholes)), key=_by_size)
        return next((each for each in candidates if self._is_binding(each, blocks)), known)

    def _candidates(self, known: int, harmed: int, wholes: Sequence[int]) -> Iterator[int]:
        """What may be bound with the tables that an answer would harm."""
        yield harmed
        for count in range(1, len(wholes) + 1) if len(wholes) <= BLOCKS else (1, len(wholes)):
            for chosen in combinations(wholes, count):
                yield harmed | _union(chosen)
        singles = [1 << place for place in _bits(known & ~harmed)]
        for count in (1, 2) if len(singles) <= SINGLES else (1,):
            for chosen in combinations(singles, count):
                yield harmed | _union(chosen)
        # one table after the other, until it is enough
        bound = harmed
        for single in singles:
            bound |= single
            yield bound

    def _is_binding(self, denied: int, blocks: Sequence[int]) -> bool:
        """Whether a denial of these, and any other answer, is safe."""
        left = (block & ~denied for block in blocks)
        return self._is_safe(denied) and all(self._is_safe(each) for each in left if each)

    def _blocks(self, known: int, query: Query[S]) -> dict[Hashable, int]:
        """The tables by what the query answers, in the order in which they are given."""
        blocks: dict[Hashable, int] = {}
        for place in _bits(known):
            answer = query(self.states[place])
            blocks[answer] = blocks.get(answer, 0) | 1 << place
        return blocks

    def _is_safe(self, known: int) -> bool:
        if known not in self._judged:
            self._judged[known] = self.safe(self.possible(known))
        return self._judged[known]

    @cached_property
    def _judged(self) -> dict[int, bool]:
        return {}

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {state: place for place, state in enumerate(self.states)}


def apart(width: float) -> Callable[[Sequence[Sequence[float]]], bool]:
    """The predicate of audits: everyone has two possible values that are a width apart."""

    def safe(tables: Sequence[Sequence[float]]) -> bool:
        columns = zip(*tables, strict=True)
        return all(max(column) - min(column) >= width for column in columns)

    return safe


def _bits(known: int) -> Iterator[int]:
    while known:
        lowest = known & -known
        yield lowest.bit_length() - 1
        known ^= lowest


def _union(sets: Sequence[int]) -> int:
    union = 0
    for each in sets:
        union |= each
    return union


def _by_size(tables: int) -> tuple[int, int]:
    return tables.bit_count(), tables
