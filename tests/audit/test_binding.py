"""Binding on explicit sets: safe by enumeration, and more is answered than by closed forms."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations, permutations, product
from typing import Any

import pytest

from shoal.audit import Binding
from shoal.audit.binding import apart
from shoal.audit.maxima import Maxima
from shoal.audit.model import crowd
from shoal.audit.sums import Sums
from shoal.errors import InputError, ParameterError

Table = tuple[int, ...]
TABLES = list(product(range(3), repeat=3))
SETS = [people for size in (1, 2, 3) for people in combinations(range(3), size)]


def highest(people: Sequence[int]) -> Callable[[Table], Hashable]:
    return lambda table: max(table[person] for person in people)


def total(people: Sequence[int]) -> Callable[[Table], Hashable]:
    return lambda table: sum(table[person] for person in people)


def breach(binding: Binding[Table], queries: Sequence[Any], safe: Any) -> bool:
    """Whether queries, one after the other, let an unsafe set be known, for any true table."""
    heard: defaultdict[tuple[Any, ...], list[Table]] = defaultdict(list)
    for table in binding.states:
        known, replies = binding.start(), []
        for query in queries:
            reply = binding.ask(known, query, table)
            known = reply.known
            replies.append(reply.answer)
        heard[tuple(replies)].append(table)
    return any(not safe(alike) for alike in heard.values())


def diverse(tables: Sequence[Table]) -> bool:
    """A predicate by which more may be less safe: no value is more than half likely."""
    columns = zip(*tables, strict=True)
    return all(2 * max(Counter(column).values()) <= len(tables) for column in columns)


@pytest.mark.parametrize("safe", [apart(1), apart(2), diverse], ids=["one", "two", "diverse"])
@pytest.mark.parametrize("aggregate", [highest, total])
def test_whoever_enumerates_all_tables_finds_nothing_out(safe: Any, aggregate: Any) -> None:
    for sequence in permutations(SETS, 2):
        binding = Binding(TABLES, safe)
        assert not breach(binding, [aggregate(people) for people in sequence], safe)


class Simple(Binding[Table]):
    """A twin that denies what an answer would harm, and nothing else: definition 1 fails."""

    def denied(self, known: int, query: Any) -> int:
        blocks = self._blocks(known, query).values()
        return sum(block for block in blocks if not self._is_safe(block))


class Spoiling(Binding[Table]):
    """A twin whose denials are safe and leave answers that are not: definition 2 (2) fails."""

    def _is_binding(self, denied: int, blocks: Sequence[int]) -> bool:
        return self._is_safe(denied)


@pytest.mark.parametrize("twin", [Simple, Spoiling])
def test_broken_twins_are_caught(twin: Any) -> None:
    queries = [[aggregate(people) for people in SETS] for aggregate in (highest, total)]
    sequences = [pair for each in queries for pair in permutations(each, 2)]
    found = [breach(twin(TABLES, apart(2)), sequence, apart(2)) for sequence in sequences]
    assert any(found)


def test_the_example_of_the_chapter_is_denied_for_two_tables_only() -> None:
    """Figure 3.5: b1 alone would be harmed, and is bound with one other."""
    binding = Binding(list(range(1, 7)), lambda tables: len(tables) > 1)
    query = {1: "a", 2: "b", 3: "b", 4: "c", 5: "c", 6: "c"}.get
    denied = binding.possible(binding.denied(binding.start(), query))
    assert len(denied) == 2
    assert 1 in denied
    assert binding.ask(binding.start(), query, 2).answer == "b"


@pytest.mark.parametrize(
    ("auditor", "aggregate"),
    [(Maxima(3, 0, 2, integers=True), highest), (Sums(3, 0, 2, integers=True), total)],
    ids=["max", "sum"],
)
def test_no_less_is_answered_than_by_the_auditors_of_sets_of_people(
    auditor: Any, aggregate: Any
) -> None:
    more = 0
    for sequence in permutations(SETS, 2):
        binding, counted = Binding(TABLES, apart(1)), [0, 0]
        for table in TABLES:
            known, state = binding.start(), auditor.start()
            for people in sequence:
                query = aggregate(people)
                reply = binding.ask(known, query, table)
                decision = auditor.decide(state, crowd(people), query(table))
                known, state = reply.known, auditor.after(state, decision)
                counted[0] += not reply.denied
                counted[1] += decision.answered
        assert counted[0] >= counted[1]
        more += counted[0] - counted[1]
    assert more > 0


def test_what_is_not_possible_or_not_safe_from_the_start_is_refused() -> None:
    with pytest.raises(ParameterError, match="not safe already"):
        Binding([(1, 2)], apart(1)).start()
    binding = Binding(TABLES, apart(1))
    with pytest.raises(InputError, match="not among those"):
        binding.ask(binding.start(), highest((0,)), (9, 9, 9))
