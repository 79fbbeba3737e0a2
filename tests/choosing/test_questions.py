"""The questions: what is asked when, and which answers are taken."""

import pytest

from shoal.choosing import QUESTIONS, UNKNOWN, Answers, following
from shoal.choosing.questions import question_of
from shoal.errors import ParameterError


def test_every_question_can_be_answered_by_not_knowing() -> None:
    for question in QUESTIONS:
        assert question.keys[-1] == UNKNOWN
        assert question.text_of(UNKNOWN) == "I don't know"
        assert len(set(question.keys)) == len(question.keys) > 2
        assert question.text.endswith("?")
        assert question.help.endswith(".")


def test_what_is_asked_and_not_answered_is_not_known() -> None:
    assert set(Answers().to_dict().values()) == {UNKNOWN}
    assert Answers().ask is None  # only those are asked who get no table
    assert Answers(who="questions").ask == UNKNOWN


def test_an_answer_that_a_question_does_not_have_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"who='nobody' is unknown; it takes 'anyone', "):
        Answers(who="nobody")


def test_an_answer_to_what_is_not_asked_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"rows='real' is not asked after the other answers"):
        Answers(shape="wide", rows="real")


def test_an_interview_asks_until_nothing_is_left() -> None:
    given: dict[str, str] = {}
    while (question := following(given)) is not None:
        given[question.key] = question.keys[0]
    assert list(given) == [
        *("who", "use", "harm", "rule", "shape", "rows", "person", "people", "before")
    ]
    assert Answers(**given).to_dict() == given


def test_what_is_not_asked_any_more_is_left_out() -> None:
    given = {"who": "contract", "harm": "value", "algorithm": "no", "rule": "none"}
    assert Answers.fitting(given | {"who": "anyone"}).algorithm is None
    assert Answers.fitting(given | {"who": "anyone"}).rule == "none"
    assert Answers.fitting(given).algorithm == "no"


def test_a_question_is_found_by_its_key() -> None:
    assert question_of("harm").text == "What must not be found out?"
