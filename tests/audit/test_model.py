"""Sets of people, and decisions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit.model import Decision, crowd, members, require_asked, require_auditor
from shoal.errors import ParameterError


@given(st.sets(st.integers(0, 200)))
def test_a_set_of_people_is_built_and_listed_in_order(people: set[int]) -> None:
    packed = crowd(people)
    assert packed == sum(1 << person for person in people)
    assert list(members(packed)) == sorted(people)


def test_whoever_asks_hears_the_answer_or_nothing() -> None:
    assert Decision.answer(0b11, 5) == Decision(0b11, True, "=", 5)
    assert Decision.answer(0b11, 5).reply == 5
    assert Decision.denial(0b11) == Decision(0b11, False, None, None)
    assert Decision.denial(0b11).reply is None
    assert Decision(0b11, False, "<=", 5).reply is None


def test_an_auditor_needs_people_and_a_known_strategy() -> None:
    require_auditor(1, "binding")
    with pytest.raises(ParameterError, match="people=0 is too few; an audit needs at least one"):
        require_auditor(0, "binding")
    with pytest.raises(ParameterError, match="strategy='bold' is unknown; known are 'binding'"):
        require_auditor(1, "bold")


@pytest.mark.parametrize("asked", [0, 0b1000, 0b1001, -1])
def test_a_question_is_about_some_of_the_people(asked: int) -> None:
    require_asked(0b111, 3)
    with pytest.raises(ParameterError, match="some of the 3 people"):
        require_asked(asked, 3)
