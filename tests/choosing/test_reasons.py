"""Reasons: there is one for every answer, whatever is recommended."""

import pytest

from shoal.choosing import QUESTIONS, Question
from shoal.choosing.guides import WAYS
from shoal.choosing.reasons import _REASONS, reason_of

every_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.key)


@every_question
def test_every_answer_has_a_reason_and_no_other_has(question: Question) -> None:
    assert tuple(_REASONS[question.key]) == question.keys
    texts = [reason_of(question.key, key, way) for key in question.keys for way in WAYS]
    for text in texts:
        assert text[0].isupper()
        assert text.endswith(".")


def test_a_method_has_its_own_text_before_its_kind_and_that_before_the_others() -> None:
    assert "SafePub" in reason_of("rule", "cells", "safepub")
    assert "total ε of 1" in reason_of("who", "anyone", "safepub")
    assert "nothing may depend" in reason_of("who", "anyone", "kdgs")
