"""The adversary of sums: it finds values out from the simple strategy, not from the default."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings

from shoal.attack.transcript import Heard
from shoal.attack.transcript_sums import ranges
from shoal.audit.model import members
from shoal.audit.polytope import extremes
from shoal.audit.sums import Sums
from shoal.errors import InputError
from shoal.research import PrintedSums
from tests.audit.asking import answers, heard, talk
from tests.audit.test_sums import Table, settled, table

pytest.importorskip("highspy")


def test_simple_auditing_is_breached_and_binding_is_not() -> None:
    values, questions = table(0.3, 0.2, 5), [(0, 1), (0, 2), (1, 2)]
    simple, binding = Sums(3, 0, 10, strategy="simple"), Sums(3, 0, 10)
    transcript = heard(simple, values, questions)
    assert [each.answer is None for each in transcript] == [True, False, False]
    found_out = ranges(simple, transcript)
    assert max(each.width for each in found_out) < 0.46
    for each, value in zip(found_out, values, strict=True):
        assert each.low - 1e-6 <= value <= each.high + 1e-6
    uncertain = ranges(binding, heard(binding, values, questions))
    assert min(each.width for each in uncertain) >= 1


def test_the_printed_algorithm_breaches_without_a_denial() -> None:
    questions = [(0, 1), (1, 2), (1, 4), (0, 2, 3, 4)]
    values = table("1/3", "5/3", "1/3", 1, "1/3")
    transcript, state = talk(PrintedSums(5, 0, 10), values, questions)
    assert [each.answer for each in transcript] == [2, 2, 2, 2]
    everyone = [1 << person for person in range(5)]
    ends = extremes([0.0] * 5, [10.0] * 5, state.constraints, everyone)
    assert ends is not None
    assert np.allclose(ends, [(0, 2 / 3), (4 / 3, 2), (0, 2 / 3), (0, 2), (0, 2 / 3)])
    assert None in answers(Sums(5, 0, 10), values, questions)


@given(settled())
@settings(max_examples=25)
def test_after_binding_replies_everyones_width_is_still_possible(
    case: tuple[Sums, Table, list[int]],
) -> None:
    auditor, values, questions = case
    transcript = heard(auditor, values, [list(members(people)) for people in questions])
    left = ranges(auditor, transcript)
    for value, width, each in zip(values, auditor.widths, left, strict=True):
        assert each.width >= width - 1e-7
        assert each.low - 1e-7 <= value <= each.high + 1e-7


def test_a_transcript_of_another_auditor_is_refused() -> None:
    with pytest.raises(InputError, match="would have denied what was answered"):
        ranges(Sums(3, 0, 10), [Heard(3, Fraction(1, 2))])
    with pytest.raises(InputError, match="no table gives this transcript"):
        ranges(Sums(2, 0, 3, integers=True, strategy="simple"), [Heard(3, 3), Heard(3, None)])


def test_without_bounds_the_adversary_knows_nothing() -> None:
    transcript = heard(Sums(4), table(1, 2, 3, 4), [(0, 1), (1, 2), (0, 2), (0, 3)])
    assert {(each.low, each.high) for each in ranges(Sums(4), transcript)} == {(-inf, inf)}
