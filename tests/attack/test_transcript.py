"""The adversary of maxima and minima: what it finds out, and that it finds all that there is."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attack.transcript import Heard, Possible, possible
from shoal.audit.maxima import Maxima, Minima
from shoal.audit.model import Strategy
from shoal.errors import InputError, TooLargeError
from shoal.research import PrintedMaxima
from tests.audit.asking import answers, heard


@pytest.mark.parametrize(
    ("strategy", "known"), [("simple", 5), ("simulatable", None), ("binding", None)]
)
def test_only_a_denial_of_the_simple_strategy_reveals_a_value(
    strategy: Strategy, known: int | None
) -> None:
    auditor = Maxima(4, strategy=strategy)
    transcript = heard(auditor, (5, 1, 3, 2), [(0, 1), (1, 2, 3)])
    assert transcript[1].answer is None
    assert possible(auditor, transcript)[0].known == known


def test_minima_are_attacked_as_maxima_of_the_negated_values() -> None:
    auditor = Minima(4, strategy="simple")
    transcript = heard(auditor, (-5, -1, -3, -2), [(0, 1), (1, 2, 3)])
    assert possible(auditor, transcript)[0].known == -5


def test_the_printed_algorithm_answers_in_the_end_what_it_denied() -> None:
    assert answers(PrintedMaxima(2), (3, 5), [(0, 1), (0,), (0,)]) == [5, None, 3]
    strict = PrintedMaxima(3, strict=True)
    transcript = heard(strict, (1, 2, 5), [(0, 1, 2), (0, 1), (0, 1)])
    assert [each.answer for each in transcript] == [5, None, None]
    assert possible(strict, transcript, marks=(4, 6))[2].known == 5


@st.composite
def asked(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """Values from 0 to 9 of two to four people, and up to three questions about them."""
    people = draw(st.integers(2, 4))
    values = draw(st.lists(st.integers(0, 9), min_size=people, max_size=people))
    question = st.lists(st.integers(0, people - 1), min_size=1, max_size=people, unique=True)
    return values, draw(st.lists(question, min_size=1, max_size=3))


@given(asked(), st.booleans())
def test_the_adversary_finds_what_enumeration_finds(case: Any, minima: bool) -> None:
    values, questions = case
    kind = Minima if minima else Maxima
    auditor = kind(len(values), 0, 9, strategy="simple", integers=True)
    transcript = heard(auditor, values, questions)
    listed = possible(auditor, transcript, domain=range(10))
    if len(values) < 3:
        alike = [
            table
            for table in product(range(10), repeat=len(values))
            if heard(auditor, table, questions) == transcript
        ]
        for person, value in listed.items():
            assert set(value.values) == {table[person] for table in alike}
    without_list = possible(auditor, transcript)
    for person, value in listed.items():
        assert values[person] in value.values
        assert set(value.values) == whole_numbers(without_list[person])


def whole_numbers(value: Possible) -> set[int]:
    """Those from 0 to 9 that a value can be."""
    return {
        number
        for number in range(10)
        if number in value.values or any(low < number < high for low, high in value.between)
    }


def test_people_who_are_always_asked_about_together_cost_no_more_than_one() -> None:
    auditor = Maxima(2_000, strategy="simple")
    values = [5] + [1] * 1_997 + [3, 2]
    transcript = heard(auditor, values, [range(1_998), range(1, 2_000)])
    assert [each.answer for each in transcript] == [5, None]
    by_person = possible(auditor, transcript)
    assert by_person[0].known == 5
    assert by_person[1].known is None
    assert by_person[1].high == 5


def test_a_transcript_that_is_impossible_or_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="no table gives this transcript"):
        possible(Maxima(3), [Heard(1, 5)])
    many = Maxima(24)
    transcript = heard(many, range(24), [[person, person + 1] for person in range(23)])
    with pytest.raises(TooLargeError, match="take fewer questions"):
        possible(many, transcript)


def test_a_possible_value_states_its_ends_and_its_width() -> None:
    value = Possible((3,), ((1, 2), (4, 6)))
    assert (value.low, value.high, value.width, value.known) == (1, 6, 5, None)
    assert value.mirrored() == Possible((-3,), ((-6, -4), (-2, -1)))
    assert Possible((3,), ()).known == 3
