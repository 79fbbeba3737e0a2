"""Maxima and minima under audit: published examples, and all questions on all small tables.

The auditors are those that ship; broken twins of them are caught by the same walk.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations, product
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit.maxima import Known, Maxima, MaximaState, Minima
from shoal.audit.model import Decision, Number, Strategy, crowd, members
from shoal.errors import ParameterError
from shoal.research import PrintedMaxima
from tests.audit.asking import answers

SETS = ((0, 1), (1, 2, 3), (1, 2, 3), (2, 3))


@dataclass(frozen=True)
class Walk:
    """All sequences of questions to all tables of a grid.

    The state of an auditor is a function of the transcript, so tables that sound alike are walked
    together.

    real: the tables whose transcripts count
    width: of the possible values, in steps of the grid
    """

    auditor: Any
    tables: np.ndarray
    real: np.ndarray
    width: int = 1
    walked: set[Any] = field(default_factory=set)

    @classmethod
    def over(
        cls, auditor: Any, grid: int, real: Sequence[int] | None = None, width: int = 1
    ) -> "Walk":
        if getattr(auditor, "distinct", False):
            rows = list(permutations(range(grid), auditor.people))
        else:
            rows = list(product(range(grid), repeat=auditor.people))
        tables = np.array(rows)
        inner = np.asarray(np.isin(tables, range(grid) if real is None else real).all(axis=1))
        return cls(auditor, tables, inner, width)

    def breach(self, depth: int, first: Sequence[int] = ()) -> list[Any] | None:
        """Questions and answers after which someone is found out, if there are any.

        The first question may be given.
        """
        extreme = np.min if isinstance(self.auditor, Minima) else np.max
        everyone = range(1, 1 << self.auditor.people)
        truth = {each: extreme(self.tables[:, list(members(each))], axis=1) for each in everyone}
        questions = {each: truth[each] for each in first} if first else truth
        every_table = np.arange(len(self.tables))
        self.walked.clear()
        return self._walk(self.auditor.start(), every_table, [], questions, truth, depth)

    def _walk(
        self,
        state: Any,
        alike: np.ndarray,
        so_far: list[Any],
        questions: dict[int, np.ndarray],
        truth: dict[int, np.ndarray],
        left: int,
    ) -> list[Any] | None:
        for people, true in questions.items():
            branches: dict[Number | None, tuple[Any, list[np.ndarray]]] = {}
            values = true[alike]
            for value in np.unique(values).tolist():
                decision = self.auditor.decide(state, people, value)
                after = self.auditor.after(state, decision)
                known, parts = branches.setdefault(decision.reply, (after, []))
                if known != after:
                    fault = "the audit's state depends on more than what was heard"
                    return [*so_far, (people, decision.reply), fault]
                parts.append(alike[values == value])
            for reply, (after, parts) in branches.items():
                rest = np.concatenate(parts)
                if not self.real[rest].any():
                    continue
                transcript = [*so_far, (people, reply)]
                if (np.ptp(self.tables[rest], axis=0) < self.width).any():
                    return transcript
                rest.sort()
                if left > 1 and self._is_new(after, left, rest):
                    deeper = self._walk(after, rest, transcript, truth, truth, left - 1)
                    if deeper:
                        return deeper
        return None

    def _is_new(self, state: Any, left: int, rest: np.ndarray) -> bool:
        key = state, left, rest.tobytes()
        if key in self.walked:
            return False
        self.walked.add(key)
        return True


def reals(auditor: Any) -> Walk:
    """Real numbers: every order of people's values, with others below, between and above them."""
    return Walk.over(auditor, 2 * auditor.people + 2, range(2, 2 * auditor.people + 1, 2))


ONE_OF_EACH_SIZE = {3: (1, 3, 7), 4: (1, 3, 7, 15), 5: (1, 3, 7, 15, 31)}
"""People may be renamed, so these first questions are all there are."""


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((5, 1, 7, 2), [5, 7, 7, 7]),
        ((5, 1, 5, 2), [5, None, None, None]),
        ((5, 1, 3, 2), [5, None, None, 3]),
        ((3, 5, 1, 2), [5, None, None, 2]),
    ],
)
def test_the_corrected_algorithm_replies_as_worked_out_by_hand(
    values: tuple[int, ...], said: list[int | None]
) -> None:
    assert answers(Maxima(4), values, SETS) == said
    mirrored = [None if each is None else -each for each in said]
    assert answers(Minima(4), [-value for value in values], SETS) == mirrored


def test_the_first_question_is_answered_if_and_only_if_it_is_about_two_people_or_more() -> None:
    assert answers(Maxima(3), (1, 2, 3), [(0,)]) == [None]
    assert answers(Maxima(3), (1, 2, 3), [(0, 1)]) == [2]


@pytest.mark.parametrize(
    "auditor", [Maxima(3), Maxima(3, distinct=True), Minima(3), Maxima(3, strategy="simulatable")]
)
def test_nobody_of_three_is_found_out_by_four_questions(auditor: Any) -> None:
    walk = reals(auditor)
    if isinstance(auditor, Minima):  # what is above counts for minima as what is below for maxima
        walk = replace(walk, tables=walk.tables.max() - walk.tables)
    assert walk.breach(4) is None


@pytest.mark.parametrize("auditor", [Maxima(4), Maxima(4, distinct=True)])
def test_nobody_of_four_is_found_out_by_four_questions(auditor: Any) -> None:
    assert reals(auditor).breach(4, ONE_OF_EACH_SIZE[4]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "auditor", [Maxima(4), Maxima(4, distinct=True), Maxima(4, strategy="simulatable")]
)
def test_nobody_of_four_is_found_out_by_five_questions(auditor: Any) -> None:
    assert reals(auditor).breach(5, ONE_OF_EACH_SIZE[4]) is None


@pytest.mark.slow
def test_nobody_of_five_is_found_out_by_three_questions_where_values_are_distinct() -> None:
    assert reals(Maxima(5, distinct=True)).breach(3, ONE_OF_EACH_SIZE[5]) is None


@pytest.mark.parametrize("high", [1, 2, 3])
def test_nobody_is_found_out_among_few_whole_numbers(high: int) -> None:
    for people, depth in ((2, 5), (3, 4)):
        auditor = Maxima(people, 0, high, integers=True)
        assert Walk.over(auditor, high + 1).breach(depth) is None
        assert Walk.over(Minima(people, 0, high, integers=True), high + 1).breach(depth) is None


@pytest.mark.slow
@pytest.mark.parametrize("high", [1, 2, 3, 4])
def test_nobody_of_four_is_found_out_among_few_whole_numbers(high: int) -> None:
    assert Walk.over(Maxima(4, 0, high, integers=True), high + 1).breach(4) is None


@pytest.mark.parametrize("width", [1, 2, 3])
def test_with_bounds_everyone_keeps_the_width(width: int) -> None:
    auditor = Maxima(3, 0, 5, width)
    assert Walk.over(auditor, 6, width=width).breach(3) is None
    assert Walk.over(Minima(3, 0, 5, width), 6, width=width).breach(3) is None


class Unbound(Maxima):
    """A twin whose denials are forgotten."""

    def after(self, state: MaximaState, decision: Decision) -> MaximaState:
        return super().after(state, decision) if decision.answered else state


class Tied(Maxima):
    """A twin that answers what its denial is bound to."""

    def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
        decision = super().decide(state, people, answer)
        if decision.relation and decision.value == answer:
            return Decision.answer(people, answer)
        return decision


class Believing(Maxima):
    """A twin that believes what denials are bound to."""

    def after(self, state: MaximaState, decision: Decision) -> MaximaState:
        audit = super().after(state, decision).audit
        return MaximaState(audit, audit)


class Telling(Maxima):
    """A twin whose denial is bound to something that depends on the answer."""

    def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
        decision = super().decide(state, people, answer)
        return replace(decision, value=answer) if decision.relation == "<=" else decision


class Careless(Maxima):
    """A twin that ignores that values are distinct."""

    def after(self, state: MaximaState, decision: Decision) -> MaximaState:
        return Maxima(self.people).after(state, decision)

    def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
        return Maxima(self.people).decide(state, people, answer)


@pytest.mark.parametrize(
    ("twin", "depth"),
    [
        (Maxima(3, strategy="simple"), 2),
        (PrintedMaxima(2), 3),
        (PrintedMaxima(3), 3),
        (PrintedMaxima(3, strict=True), 3),
        (Unbound(4), 3),
        (Tied(4), 3),
        (Believing(4), 3),
        (Telling(3), 3),
    ],
    ids=lambda each: type(each).__name__,
)
def test_broken_twins_are_caught(twin: Any, depth: int) -> None:
    assert reals(twin).breach(depth, ONE_OF_EACH_SIZE.get(twin.people, ())) is not None


def test_a_twin_that_forgets_that_values_are_distinct_is_caught() -> None:
    walk = reals(Maxima(5, distinct=True))
    assert walk.breach(2, [0b00111]) is None
    careless = replace(walk, auditor=Careless(5, distinct=True))
    assert careless.breach(2, [0b00111]) is not None


def test_a_twin_without_the_margin_at_the_end_of_the_domain_is_caught() -> None:
    class Bare(Maxima):
        def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
            return Maxima(self.people, None, self.high).decide(state, people, answer)

    assert Walk.over(Bare(3, 0, 2, integers=True), 3).breach(2) is not None


@st.composite
def asked(draw: st.DrawFn) -> tuple[int, list[int], list[list[int]]]:
    people = draw(st.integers(2, 7))
    values = draw(st.lists(st.integers(0, 9), min_size=people, max_size=people))
    question = st.lists(st.integers(0, people - 1), min_size=1, max_size=people, unique=True)
    return people, values, draw(st.lists(question, max_size=8))


def states(
    auditor: Maxima, values: Sequence[int], questions: Iterable[Sequence[int]]
) -> Iterator[Known]:
    """What the audit takes as known after each question."""
    state = auditor.start()
    for question in questions:
        answer = max(values[person] for person in question)
        state = auditor.after(state, auditor.decide(state, crowd(question), answer))
        yield state.audit


def made_distinct(values: Sequence[int]) -> list[int]:
    """Values in the same order, of which no two are equal."""
    return [value * len(values) + person for person, value in enumerate(values)]


@given(asked(), st.sampled_from(["binding", "simulatable"]), st.booleans())
def test_a_repeated_answer_is_given_again_and_a_repeated_denial_stays(
    case: Any, strategy: Any, bounded: bool
) -> None:
    people, values, questions = case
    auditor = Maxima(people, strategy=strategy)
    if bounded:
        auditor = Maxima(people, 0, 9, integers=True, strategy=strategy)
    first = answers(auditor, values, questions)
    again = answers(auditor, values, [*questions, *questions])[len(questions) :]
    for before, after in zip(first, again, strict=True):
        assert before is None or before == after
    repeated = answers(auditor, values, [each for each in questions for _ in range(2)])
    assert repeated[::2] == repeated[1::2]


@given(asked(), st.booleans())
def test_answers_are_true_and_binding_answers_wherever_simulatable_does(
    case: Any, distinct: bool
) -> None:
    people, values, questions = case
    if distinct:
        values = made_distinct(values)
    said = answers(Maxima(people, distinct=distinct), values, questions)
    truth = [max(values[person] for person in each) for each in questions]
    assert all(answer in (None, true) for answer, true in zip(said, truth, strict=True))
    simulatable = Maxima(people, strategy="simulatable", distinct=distinct)
    for answer, cautious in zip(said, answers(simulatable, values, questions), strict=True):
        if answer is None:
            break
        assert cautious in (None, answer)


@given(asked(), st.booleans(), st.sampled_from([None, 0]), st.booleans())
def test_the_audit_never_leaves_fewer_than_two_who_may_have_a_value(
    case: Any, distinct: bool, low: Any, high: bool
) -> None:
    people, values, questions = case
    if distinct:
        values = made_distinct(values)
    auditor = Maxima(people, low, max(values) + 1 if high else None, distinct=distinct)
    for known in states(auditor, values, questions):
        for who, most in known.witnesses:
            assert who.bit_count() >= 2
            assert all(known.bounds[person] == most for person in members(who))


def test_distinct_values_up_to_a_public_bound_are_denied_where_nothing_could_be_bound() -> None:
    auditor, values = Maxima(4, high=5, distinct=True), (5, 3, 1, 4)
    for known in states(auditor, values, ((1, 3), (0, 1, 3), (0, 2))):
        assert all(who.bit_count() >= 2 for who, _ in known.witnesses)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Maxima(0), "one person"),
        (lambda: Maxima(2, strategy="none"), "strategy"),  # type: ignore[arg-type]
        (lambda: Maxima(2, width=0), "width"),
        (lambda: Maxima(2, 0, 5, width=Fraction(1, 2), integers=True), "whole"),
        (lambda: Maxima(2, 0, 1, width=2), "smaller width"),
        (lambda: Maxima(2, integers=True, distinct=True), "distinct"),
        (lambda: Maxima(2).decide(Maxima(2).start(), 0, 1), "some of the 2 people"),
        (lambda: Maxima(2).decide(Maxima(2).start(), 4, 1), "some of the 2 people"),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make()


def test_binding_answers_more_than_simulatable_in_the_experiment_of_the_chapter() -> None:
    people, drawn = 300, random.Random(3)
    values = [drawn.randint(1, people) for _ in range(people)]
    questions = [drawn.sample(range(people), drawn.randint(1, people // 10)) for _ in range(100)]

    def answered(strategy: Strategy) -> int:
        replies = answers(Maxima(people, strategy=strategy), values, questions)
        return sum(reply is not None for reply in replies)

    assert answered("simple") > answered("binding") > answered("simulatable")


def test_at_the_start_only_the_declared_bounds_are_known() -> None:
    assert Maxima(2, 0, 9).start().audit == Known((9, 9))
    assert Maxima(2).start().audit == Known((inf, inf))
