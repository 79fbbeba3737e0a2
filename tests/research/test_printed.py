"""Auditors as a chapter prints them give values away; tests of the audit run their adversaries."""

from collections.abc import Sequence

import pytest

from shoal.attack import Heard, possible
from shoal.audit.model import Decision, crowd
from shoal.research import PrintedMaxima, PrintedSums


def test_the_second_denial_of_a_maximum_reveals_it() -> None:
    printed = PrintedMaxima(people=3, strict=True)
    values = [1, 2, 5]
    state = printed.start()
    said = []
    for people in (crowd([0, 1, 2]), crowd([0, 1]), crowd([0, 1])):
        true = max(value for person, value in enumerate(values) if people >> person & 1)
        decision = printed.decide(state, people, true)
        state = printed.after(state, decision)
        said.append(Heard(people, decision.value if decision.answered else None))
    assert [heard.answer for heard in said] == [5, None, None]
    assert possible(printed, said, marks=[4, 6])[2].known == 5


def sums(values: Sequence[int], *questions: Sequence[int]) -> list[Decision]:
    printed = PrintedSums(len(values), 0, 10)
    state = printed.start()
    decisions = []
    for asked in questions:
        answer = sum(values[person] for person in asked)
        decision = printed.decide(state, crowd(asked), answer)
        state = printed.after(state, decision)
        decisions.append(decision)
    return decisions


@pytest.mark.parametrize(("values", "bound"), [((0, 0), 1), ((1, 0), 1), ((9, 10), 19)])
def test_what_a_denied_sum_is_bound_to_depends_on_the_true_one(
    values: tuple[int, int], bound: int
) -> None:
    (decision,) = sums([*values, 5], [0, 1])
    assert (decision.answered, decision.value) == (False, bound)


def test_a_sum_far_from_both_ends_is_answered() -> None:
    (decision,) = sums([4, 5, 5], [0, 1])
    assert (decision.answered, decision.value) == (True, 9)


def test_a_sum_that_follows_from_others_is_denied_without_a_record() -> None:
    *_, last = sums([5, 5, 5], [0, 1, 2], [0, 1, 2])
    assert (last.answered, last.value) == (False, None)
