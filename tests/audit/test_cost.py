"""A refusal because of cost reveals nothing: it follows from the replies so far.

All tables of a few people with a few values are tried, with all sequences of questions, on the
auditors that ship; a cost that looks at the answer is caught.
"""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from shoal.audit.maxima import Maxima, Minima
from shoal.audit.model import Costed
from shoal.audit.sums import Sums
from shoal.errors import QueryError
from tests.audit.asking import true_answer
from tests.audit.salaries import made

PEOPLE = 3
SETS = range(1, 1 << PEOPLE)


def uneven(auditor: Costed[Any], values: Iterable[int], rounds: int) -> list[Any]:
    """Replies and questions after them whose cost is not the same for all tables."""
    costs: defaultdict[Any, set[int]] = defaultdict(set)
    for table in product(values, repeat=PEOPLE):
        frontier: list[tuple[Any, Any]] = [((), auditor.start())]
        for turn in range(rounds):
            after = []
            for heard, state in frontier:
                for people in SETS:
                    costs[heard, people].add(auditor.cost(state, people))
                    if turn + 1 < rounds:
                        answer = true_answer(auditor, table, people)
                        decision = auditor.decide(state, people, answer)
                        replies = (*heard, (people, decision.reply))
                        after.append((replies, auditor.after(state, decision)))
            frontier = after
    return [place for place, different in costs.items() if len(different) > 1]


AUDITORS: list[tuple[Any, range]] = [
    (Maxima(PEOPLE, 0, 3), range(4)),
    (Minima(PEOPLE, 0, 3), range(4)),
    (Maxima(PEOPLE, strategy="simulatable"), range(4)),
    (Sums(PEOPLE, 0, 3, integers=True), range(4)),
    (Sums(PEOPLE), range(2)),
    (Sums(PEOPLE, 0, 3), range(2)),
]


@pytest.mark.parametrize(("auditor", "values"), AUDITORS)
def test_the_cost_of_a_question_follows_from_what_was_asked_and_replied(
    auditor: Any, values: range
) -> None:
    assert not uneven(auditor, values, 3)


def test_a_cost_that_looks_at_denied_answers_is_caught() -> None:
    class Secretive(Sums):
        """It remembers the answers to denied questions."""

        def decide(self, state: Any, people: int, answer: Any) -> Any:
            decision = super().decide(state, people, answer)
            if not decision.answered:
                object.__setattr__(self, "last", int(answer))
            return decision

        def cost(self, state: Any, people: int) -> int:
            return super().cost(state, people) + getattr(self, "last", 0)

    assert uneven(Secretive(PEOPLE, 0, 3, integers=True), range(4), 2)


def test_the_cost_of_sums_grows_with_the_groups_that_questions_distinguish() -> None:
    auditor = Sums(40, 0, 100, 5, unit=Fraction(1, 10**300))
    state = auditor.start()
    assert auditor.cost(state, 0b11) == 2 + 1
    state = auditor.after(state, auditor.decide(state, (1 << 20) - 1, 1_000))
    assert auditor.cost(state, 0b11) == 20 + 2**2 * 2
    assert auditor.cost(state, 0b11 << 30) == 2 + 1


def test_an_earlier_reply_is_repeated_whatever_it_costs(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    known = audit.ask("max(salary)")
    assert audit.ask("max(salary)", most=1) == known
    with pytest.raises(QueryError, match="too costly: it takes 300 steps, and 1 are"):
        audit.ask("max(salary) where dept = 'X'", most=1)
    assert len(audit.transcript()) == 1
