"""A refusal for its cost tells nothing: it is the same for all tables that would have led to the same replies.

All tables of a few people with a few values are gone through, with all sequences of questions, by the shipped auditors; a cost
that looked at the answer is caught.
"""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from shoal.audit.maxima import Maxima, Minima
from shoal.audit.model import Costed, crowd, members
from shoal.audit.sums import Sums
from shoal.errors import QueryError
from tests.audit.salaries import made

PEOPLE = 3
SETS = range(1, 1 << PEOPLE)


def told(auditor: Costed[Any], values: Iterable[int], rounds: int) -> list[Any]:
    """Tables and questions for which the replies are the same, and a question after them costs differently."""
    tables = list(product(values, repeat=PEOPLE))
    costs: defaultdict[Any, set[int]] = defaultdict(set)
    for table in tables:
        frontier: list[tuple[Any, Any]] = [((), auditor.start())]
        for turn in range(rounds):
            after = []
            for heard, state in frontier:
                for people in SETS:
                    costs[heard, people].add(auditor.cost(state, people))
                    if turn + 1 < rounds:
                        entry = auditor.decide(state, people, _answer(auditor, table, people))
                        reply = (people, entry.value if entry.answered else None)
                        after.append(((*heard, reply), auditor.after(state, entry)))
            frontier = after
    return [place for place, found in costs.items() if len(found) > 1]


def _answer(auditor: Any, table: tuple[int, ...], people: int) -> int:
    chosen = [table[person] for person in members(people)]
    if isinstance(auditor, Minima):
        return min(chosen)
    return max(chosen) if isinstance(auditor, Maxima) else sum(chosen)


AUDITORS: list[tuple[Any, range]] = [
    (Maxima(PEOPLE, 0, 3), range(4)),
    (Minima(PEOPLE, 0, 3), range(4)),
    (Maxima(PEOPLE, strategy="simulatable"), range(4)),
    (Sums(PEOPLE, 0, 3, integers=True), range(4)),
    (Sums(PEOPLE), range(2)),
    (Sums(PEOPLE, 0, 3), range(2)),
]


@pytest.mark.parametrize(("auditor", "values"), AUDITORS)
def test_what_a_question_costs_follows_from_what_was_asked_and_replied(
    auditor: Any, values: range
) -> None:
    assert not told(auditor, values, 3)


def test_a_cost_that_looks_at_what_nobody_was_told_is_caught() -> None:
    class Secretive(Sums):
        """It remembers the answers to denied questions."""

        def decide(self, state: Any, people: int, answer: Any) -> Any:
            entry = super().decide(state, people, answer)
            if not entry.answered:
                object.__setattr__(self, "last", int(answer))
            return entry

        def cost(self, state: Any, people: int) -> int:
            return super().cost(state, people) + getattr(self, "last", 0)

    assert told(Secretive(PEOPLE, 0, 3, integers=True), range(4), 2)


def test_a_set_of_people_is_walked_and_built_in_order() -> None:
    for people in (0, 1, 0b1011, 1 << 70 | 5):
        found = list(members(people))
        assert found == [person for person in range(80) if people >> person & 1]
        assert crowd(found) == people


def test_the_cost_of_sums_grows_with_those_whom_questions_link() -> None:
    auditor = Sums(40, 0, 100, 5, unit=Fraction(1, 10**300))
    state = auditor.start()
    assert auditor.cost(state, 0b11) == 4
    entry = auditor.decide(state, (1 << 20) - 1, 1_000)
    state = auditor.after(state, entry)
    assert auditor.cost(state, 0b11) == 20**2 * 2
    assert auditor.cost(state, 0b11 << 30) == 4


def test_what_was_replied_before_is_replied_again_whatever_it_costs(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    known = audit.ask("max(salary)")
    assert audit.ask("max(salary)", most=1) == known
    with pytest.raises(QueryError, match="too costly: it takes 300 steps, and 1 are"):
        audit.ask("max(salary) where dept = 'X'", most=1)
    assert len(audit.transcript()) == 1
