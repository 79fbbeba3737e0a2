"""What is inferred of people is summed up, and shown person by person."""

from fractions import Fraction

import pytest

from shoal.attack import AttackResult, Effort, Inference
from shoal.errors import ParameterError
from shoal.zones import OWNER_ONLY
from tests.attack.people import HALF, known

EVEN = {"x": HALF, "y": HALF}
CERTAIN = Inference((0, 1), EVEN, {"x": Fraction(1), "y": Fraction(0)}, ("why",), ("a model",))
SHOWN = Inference((2,), EVEN, EVEN)
ESTIMATED = Inference(
    (3,), EVEN, {"x": Fraction(3, 4), "y": Fraction(1, 4)}, bounds={"x": (0.625, 0.9), "y": (0, 1)}
)
RESULT = AttackResult("counting", 5, (SHOWN, ESTIMATED, CERTAIN), None, unknown=1)


def test_people_are_counted_by_what_is_learnt_of_them() -> None:
    assert (RESULT.changed, RESULT.surer, RESULT.broken, RESULT.certain) == (3, 3, 2, 2)
    assert RESULT.gain == HALF
    assert RESULT.of(1) is CERTAIN
    with pytest.raises(ParameterError, match="nothing is said of row 4"):
        RESULT.of(4)


def test_estimates_count_by_their_lower_bounds() -> None:
    assert RESULT.sampled
    assert ESTIMATED.gain == Fraction(1, 8)
    assert ESTIMATED.surest == Fraction(5, 8)
    unsure = Inference((0,), EVEN, EVEN, bounds={"x": (0.1, 0.9), "y": (0.1, 0.9)})
    assert unsure.gain == 0


def test_the_most_exposed_come_first_with_what_is_known_of_them() -> None:
    people = known([(0, 0), (1, 1), (2, 2), (3, 3), (4, 0)])
    assert RESULT.most_exposed() == [CERTAIN, ESTIMATED]
    exposed = RESULT.exposed_records(people, 3)
    assert [person.row for person in exposed] == [1, 2, 4]
    second, last = exposed[1:]
    assert second.public == {"a": "1", "b": "1"}
    assert (second.value, second.shown, second.inferred) == ("x", 0.5, 1.0)
    assert (second.why, second.broken, second.at_least) == (["why"], ["a model"], False)
    assert (last.inferred, last.at_least) == (0.625, True)
    assert RESULT.exposed_records(people, 0) == []


def test_what_is_inferred_is_for_the_owner_only() -> None:
    [exposed] = RESULT.exposed_records(known([(0, 0), (1, 1), (2, 2), (3, 3), (4, 0)]), 1)
    for each in (exposed, CERTAIN, RESULT):
        assert repr(each).startswith(OWNER_ONLY)
        assert repr(each).count(OWNER_ONLY) == 1


def test_there_are_three_ways_to_find_inputs() -> None:
    with pytest.raises(ParameterError, match="how='guessing' is not a way to find inputs"):
        Effort("guessing")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="tries=0 is out of range"):
        Effort(tries=0)
