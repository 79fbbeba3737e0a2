"""The auditor of sums: no transcript reveals a value more closely than the width.

Broken twins are caught. The judge is exact: what the auditor takes as known must lie within what an
adversary considers possible, and must be wide, which two points of fractions show.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.audit.polytope as polytope
import shoal.audit.slices as slices
from bench import audit_sums
from shoal.attack.transcript import Heard
from shoal.attack.transcript_sums import ranges
from shoal.audit.cells import Constraint
from shoal.audit.model import Decision, Number, Strategy, crowd, members
from shoal.audit.polytope import Box, combination, extremes
from shoal.audit.sums import Rule, Sums, SumState
from shoal.errors import InputError, ParameterError, TooLargeError
from shoal.research import PrintedSums
from tests.audit.asking import answers, talk
from tests.audit.exact import indicators, rank, solution

pytest.importorskip("highspy")

Table = tuple[Fraction, ...]


def table(*values: float | str) -> Table:
    return tuple(map(Fraction, values))


def total(values: Sequence[Number], people: int) -> Number:
    return sum((values[person] for person in members(people)), Fraction(0))


# The exact judge


def holds(constraints: Iterable[Constraint], values: Sequence[Number]) -> bool:
    for constraint in constraints:
        value = total(values, constraint.people)
        if value > constraint.value or (constraint.relation == "=" and value < constraint.value):
            return False
    return True


def wide(auditor: Sums, constraints: Sequence[Constraint]) -> bool:
    """Whether points that are exactly in the polytope are as far apart as everyone's width.

    Corners are found in floats, and those that are furthest apart are then worked out in fractions.
    """
    n = auditor.people
    sets = [1 << person for person in range(n)] * 2 + [each.people for each in constraints]
    planes = indicators(sets, n)
    values = [Fraction(each.value) for each in constraints]
    ends = [*auditor.lows, *auditor.highs, *values]
    normals, sides = np.array(planes, float), np.array([float(end) for end in ends])
    chosen = np.array(list(combinations(range(len(planes)), n)))
    chosen = chosen[np.abs(np.linalg.det(normals[chosen])) > 1e-6]
    points = np.linalg.solve(normals[chosen], sides[chosen][..., None])[..., 0]
    inside = np.all((points > sides[:n] - 1e-7) & (points < sides[n : 2 * n] + 1e-7), axis=1)
    for each, normal, side in zip(constraints, normals[2 * n :], sides[2 * n :], strict=True):
        off = points @ normal - side
        inside &= (np.abs(off) if each.relation == "=" else off) < 1e-7

    def furthest(person: int, sign: int) -> Fraction | None:
        """The value of a person at the first exact corner of those that are furthest out."""
        for place in np.argsort(np.where(inside, sign * points[:, person], inf))[:4]:
            which = chosen[place]
            corner = solution([planes[i] for i in which], [ends[i] for i in which])
            if corner is not None and within(auditor, corner) and holds(constraints, corner):
                return corner[person]
        return None

    for person in range(n):
        low, high = furthest(person, 1), furthest(person, -1)
        if low is None or high is None or abs(high - low) < auditor.widths[person]:
            return False
    return True


def within(auditor: Sums, point: Sequence[Fraction]) -> bool:
    ends = zip(auditor.lows, point, auditor.highs, strict=True)
    return all(low <= value <= high for low, value, high in ends)


@dataclass
class Walk:
    """All transcripts of all tables on a grid: tables that sound alike share a branch."""

    auditor: Sums
    tables: Sequence[Table]
    questions: Sequence[int]
    judged: dict[tuple[Constraint, ...], bool] = field(default_factory=dict)
    nodes: int = 0

    def breach(self, depth: int) -> str | None:
        """How the auditor breaks its promise; None if it keeps it."""
        return self._from(self.auditor.start(), list(self.tables), depth)

    def _from(self, state: SumState, tables: list[Table], depth: int) -> str | None:
        self.nodes += 1
        fault = self._fault(state, tables)
        if fault or not depth:
            return fault
        for people in self.questions:
            branches: defaultdict[Decision, list[Table]] = defaultdict(list)
            for values in tables:
                branches[self._decided(state, people, total(values, people))].append(values)
            replies = [decision.reply for decision in branches]
            if len(set(replies)) < len(replies):
                return "what is recorded depends on more than what was said"
            for decision, alike in branches.items():
                if decision.relation is None and len(alike) == len(tables):
                    continue  # nothing changes
                fault = self._from(self.auditor.after(state, decision), alike, depth - 1)
                if fault:
                    return fault
        return None

    def _decided(self, state: SumState, people: int, answer: Number) -> Decision:
        key = state, people, answer
        if key not in self._decisions:
            self._decisions[key] = self.auditor.decide(state, people, answer)
        return self._decisions[key]

    @cached_property
    def _decisions(self) -> dict[tuple[SumState, int, Number], Decision]:
        return {}

    def _fault(self, state: SumState, tables: list[Table]) -> str | None:
        if state.constraints not in self.judged:
            self.judged[state.constraints] = wide(self.auditor, state.constraints)
        if not self.judged[state.constraints]:
            return "what is taken as known is too narrow"
        sounded = set(tables)
        for values in self.tables:
            if values not in sounded and holds(state.constraints, values):
                return "a table that is taken as possible would have sounded different"
        return None


class Memo(Sums):
    """The auditor itself, which computes each rule once."""

    def rule(self, state: SumState, people: int) -> Rule | None:
        if (state, people) not in self.rules:
            self.rules[state, people] = super().rule(state, people)
        return self.rules[state, people]

    @cached_property
    def rules(self) -> dict[tuple[SumState, int], Rule | None]:
        return {}


def grid(people: int, *values: float) -> list[Table]:
    return [table(*each) for each in product(values, repeat=people)]


SOME = [crowd(people) for people in ((0, 1), (1, 2), (0, 2), (0, 1, 2))]
ALL = range(1, 8)


def test_no_transcript_of_a_small_grid_reveals_anything() -> None:
    walk = Walk(Memo(3, 0, 4), grid(3, 0, 1.25, 2.5, 4), SOME)
    assert walk.breach(2) is None
    assert walk.nodes > 200


def test_no_transcript_reveals_anything_where_bounds_and_widths_differ() -> None:
    auditor = Memo(3, (0, -1, 0), (4, 3, 2), (1, Fraction(1, 2), Fraction(3, 4)))
    tables = list(product(table(0, 1.5, 3.5), table(-1, 0.5, 3), table(0, 0.75, 2)))
    assert Walk(auditor, tables, SOME).breach(2) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "auditor", [Memo(3, 0, 4), Memo(3, 0, 2), Memo(3, 0, 5, Fraction(3, 2))], ids=str
)
def test_no_long_transcript_reveals_anything(auditor: Memo) -> None:
    values = [auditor.highs[0] * Fraction(part, 20) for part in (0, 4, 9, 14, 20)]
    walk = Walk(auditor, list(product(values, repeat=3)), ALL)
    assert walk.breach(4) is None
    assert walk.nodes > 200


@pytest.mark.slow
def test_no_transcript_about_four_people_reveals_anything() -> None:
    questions = [crowd(people) for size in (2, 3, 4) for people in combinations(range(4), size)]
    assert Walk(Memo(4, 0, 4), grid(4, 0, 1.5, 4), questions).breach(2) is None


# Twins


class Forgetful(Memo):
    """A twin whose denials are forgotten."""

    def after(self, state: SumState, decision: Decision) -> SumState:
        return super().after(state, decision) if decision.answered else state


class Telling(Memo):
    """A twin whose threshold depends on the answer."""

    def decide(self, state: SumState, people: int, answer: Number) -> Decision:
        decision = super().decide(state, people, answer)
        return replace(decision, value=answer + 1) if decision.relation == "<=" else decision


class Summing(Memo):
    """A twin that looks at how far the sum can go, not at people."""

    def rule(self, state: SumState, people: int) -> Rule | None:
        lows, highs = list(map(float, self.lows)), list(map(float, self.highs))
        ends = extremes(lows, highs, state.constraints, [people])
        if ends is None or ends[0][1] - ends[0][0] < 4:
            return None
        low, high = (Fraction(round(end * 1000), 1000) for end in ends[0])
        return Rule(low + 1, high - 1, low + 1)


class Narrow(Memo):
    """A twin that keeps nine tenths of the width."""

    @cached_property
    def box(self) -> Box:
        return Box(self.lows, self.highs, [width * Fraction(9, 10) for width in self.widths])


class Hasty(Memo):
    """A twin that binds denials below what is safe."""

    def rule(self, state: SumState, people: int) -> Rule | None:
        rule = super().rule(state, people)
        if rule is None or rule.low is None:
            return None
        return replace(rule, bound=Fraction(rule.low) / 2)


class Inclusive(Memo):
    """A twin that answers below its own threshold."""

    def decide(self, state: SumState, people: int, answer: Number) -> Decision:
        rule = self.rule(state, people)
        if rule is None or rule.low is None or rule.bound is None:
            return super().decide(state, people, answer)
        if rule.low <= answer <= rule.bound:
            return Decision.answer(people, answer)
        return super().decide(state, people, answer)


@pytest.mark.parametrize(
    ("twin", "depth"),
    [
        (Forgetful(3, 0, 4), 1),
        (Telling(3, 0, 4), 1),
        (Summing(3, 0, 4), 2),
        (Narrow(3, 0, 4), 2),
        (Hasty(3, 0, 4), 1),
        (Inclusive(3, 0, 4), 1),
        (Memo(3, 0, 4, strategy="simple"), 1),
        (PrintedSums(3, 0, 10), 2),
    ],
    ids=lambda each: type(each).__name__,
)
def test_broken_twins_are_caught(twin: Sums, depth: int) -> None:
    high = float(twin.highs[0])
    tables = grid(3, 0, 0.25, high * 0.11875, high * 0.3125, high * 0.625, high * 0.88125, high)
    assert Walk(twin, tables, SOME).breach(depth) is not None


def test_a_twin_that_overlooks_people_further_along_a_chain_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slices, "linked", lambda constraints, people: ((), people))
    assert Walk(Memo(3, 0, 4), grid(3, 0, 1.25, 2.5, 4), SOME).breach(2) is not None


# What is answered


def test_what_follows_from_answers_is_answered_again_and_denials_stay() -> None:
    auditor, values = Sums(4, 0, 10), table(4, 5, 6, 0.5)
    assert answers(auditor, values, [(0, 1), (0, 1), (2,), (2,), (0, 1)]) == [9, 9, None, None, 9]
    said, state = talk(auditor, values, [(0, 1), (2, 3), (0, 1, 2, 3)])
    assert [heard.answer for heard in said] == [9, Fraction(13, 2), Fraction(31, 2)]
    assert len(state.constraints) == 2


def test_a_denied_question_stays_denied_once_its_answer_follows_from_others() -> None:
    auditor, values = Sums(4, 0, 10), table("1.2", "2.9", "0.6", "3.8")
    everyone = (0, 1, 2, 3)
    said, _ = talk(auditor, values, [(1, 3), (1, 2), everyone, (0, 2), everyone])
    assert [heard.answer is None for heard in said] == [False, False, True, False, True]
    assert said[0].answer + said[3].answer == sum(values)  # type: ignore[operator]


def test_the_threshold_is_a_width_above_the_least_safe_answer() -> None:
    auditor = Sums(2, 0, 10)
    rule = auditor.rule(auditor.start(), 3)
    assert rule is not None
    assert rule.low is not None
    assert rule.high is not None
    assert rule.bound == rule.low + 1
    assert 1 < rule.low < Fraction(1002, 1000)
    assert Fraction(18998, 1000) < rule.high < 19
    assert answers(auditor, table(1, 1.0), [(0, 1)]) == [None]
    assert answers(auditor, table(1, 1.5), [(0, 1)]) == [Fraction(5, 2)]
    assert answers(auditor, table(9.75, 9.75), [(0, 1)]) == [None]


def test_simulatable_denies_everything_within_bounds_and_is_binding_without_them() -> None:
    questions = [(0, 1), (1, 2), (2, 3), (0, 2), (0, 1, 2, 3)]
    values = table(4, 5, 6, 7)
    assert not any(answers(Sums(4, 0, 10, strategy="simulatable"), values, questions))
    both: tuple[Strategy, ...] = ("simulatable", "binding")
    for strategy in both:
        said = answers(Sums(4, strategy=strategy), values, questions)
        assert said == [9, 11, 13, None, 22]


def test_without_bounds_answers_do_not_change_decisions() -> None:
    random = Random(5)
    questions = [list(members(random.getrandbits(8) or 1)) for _ in range(30)]
    decided = set()
    for _ in range(5):
        values = [Fraction(random.randrange(-1000, 1000), 7) for _ in range(8)]
        said = answers(Sums(8), values, questions)
        decided.add(tuple(answer is None for answer in said))
    assert len(decided) == 1


@given(st.integers(3, 7), st.data())
@settings(max_examples=60)
def test_without_bounds_exactly_what_would_determine_a_value_is_denied(
    people: int, data: st.DataObject
) -> None:
    auditor, state = Sums(people), SumState()
    for _ in range(data.draw(st.integers(1, 10))):
        asked = data.draw(st.integers(1, 2**people - 1))
        decision = auditor.decide(state, asked, asked.bit_count())  # everyone has 1
        if asked in state.denied:
            assert not decision.answered
        else:
            follows = combination(state.constraints, asked) is not None
            sets = [each.people for each in state.constraints] + [asked]
            assert decision.answered == (follows or not determines_someone(sets, people))
        state = auditor.after(state, decision)


def determines_someone(sets: list[int], people: int) -> bool:
    """Whether sums over these sets determine someone's value."""
    known = rank(indicators(sets, people))
    return any(rank(indicators([*sets, 1 << person], people)) == known for person in range(people))


@st.composite
def settled(draw: st.DrawFn) -> tuple[Sums, Table, list[int]]:
    """An auditor with bounds and widths for each person, a table, and questions."""
    people = draw(st.integers(2, 4))
    lows, highs, widths, values = [], [], [], []
    for _ in range(people):
        low = Fraction(draw(st.integers(-8, 8)), draw(st.sampled_from((1, 3))))
        span = Fraction(draw(st.integers(2, 30)), 2)
        lows.append(low)
        highs.append(low + span)
        widths.append(span * Fraction(draw(st.integers(1, 9)), 10))
        values.append(low + span * Fraction(draw(st.integers(0, 20)), 20))
    auditor = Sums(people, tuple(lows), tuple(highs), tuple(widths))
    questions = draw(st.lists(st.integers(1, 2**people - 1), min_size=1, max_size=6))
    return auditor, tuple(values), questions


@given(settled())
@settings(max_examples=60)
def test_whatever_is_asked_answers_are_true_and_what_is_taken_as_known_is_wide(
    case: tuple[Sums, Table, list[int]],
) -> None:
    auditor, values, questions = case
    state = auditor.start()
    for people in questions:
        true = total(values, people)
        decision = auditor.decide(state, people, true)
        assert decision.reply in (None, true)
        state = auditor.after(state, decision)
    assert wide(auditor, state.constraints)
    assert holds((each for each in state.constraints if each.relation == "="), values)


def test_a_state_is_a_function_of_the_log() -> None:
    random = Random(3)
    values = [Fraction(random.randrange(1001), 100) for _ in range(40)]
    auditor, state, log = Sums(40, 0, 10), SumState(), []
    for _ in range(25):
        people = random.getrandbits(40) | 1
        log.append(auditor.decide(state, people, total(values, people)))
        state = auditor.after(state, log[-1])
    fresh, again = Sums(40, 0, 10), SumState()
    for decision in log:
        again = fresh.after(again, decision)
    assert again == state
    question = random.getrandbits(40)
    slices.centre.cache_clear()
    assert fresh.rule(again, question) == auditor.rule(state, question)


def test_many_answers_about_many_people_stay_safe() -> None:
    random = Random(7)
    people, count = 40, 38
    values = [Fraction(random.randrange(1001), 100) for _ in range(people)]
    auditor = Sums(people, 0, 10)
    questions = [[i for i in range(people) if random.random() < 0.5] for _ in range(count)]
    _, state = talk(auditor, values, questions)
    everyone = [1 << person for person in range(people)]
    ends = extremes([0.0] * people, [10.0] * people, state.constraints, everyone)
    assert ends is not None
    assert all(high - low >= 1 for low, high in ends)
    assert sum(each.relation == "=" for each in state.constraints) > 28


def test_a_column_that_changed_is_noticed() -> None:
    auditor = Sums(3, 0, 10)
    state = auditor.after(auditor.start(), auditor.decide(auditor.start(), 3, 9))
    with pytest.raises(InputError, match="must not change") as caught:
        auditor.decide(state, 3, 8)
    assert "8" not in str(caught.value)
    assert "9" not in str(caught.value)


def test_a_truth_outside_what_is_taken_as_known_does_no_harm() -> None:
    auditor, values = Sums(3, 0, 10), table(9.75, 9.75, 5)
    said, state = talk(auditor, values, [(0, 1), (0, 1, 2), (1, 2), (0, 2)])
    assert said[0].answer is None
    assert not holds(state.constraints, values)
    assert wide(auditor, state.constraints)
    assert all(each.width >= 1 for each in ranges(auditor, said))


def test_too_many_linked_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polytope, "LINKED", 3)
    auditor, values = Sums(5, 0, 10), table(4, 5, 6, 7, 8)
    assert answers(auditor, values, [(0, 1), (3, 4)]) == [9, 15]
    with pytest.raises(TooLargeError, match="3 groups of people, of whom 3 are only one"):
        answers(auditor, values, [(0, 1), (1, 2)])
    everyone = answers(Sums(5, 0, 10), values, [(0, 1, 2, 3, 4)])
    assert everyone == [30]  # people whom nothing distinguishes are one cell


def test_the_benchmarks_still_run() -> None:
    rows = [row[:2] for row in audit_sums.speed([(60, 50)])]
    assert rows == [(60, answered) for answered in (10, 20, 30, 40, 50)]
    [row] = audit_sums.large([(500, 5)])
    people, questions, answered, cells = (int(str(cell)) for cell in row[:4])
    assert (people, questions) == (500, 5)
    assert 3 <= answered <= 5
    assert cells > 5


# Whole numbers


def whole_breach(
    auditor: Sums, state: SumState, tables: list[tuple[int, ...]], said: list[Heard], depth: int
) -> list[Heard] | None:
    """A transcript after which the tables that sound alike are too close together."""
    if min(max(column) - min(column) for column in zip(*tables, strict=True)) < 1:
        return said
    for people in range(1, 8) if depth else ():
        branches = defaultdict(list)
        for values in tables:
            branches[auditor.decide(state, people, total(values, people))].append(values)
        for decision, alike in branches.items():
            if decision.relation is None and len(alike) == len(tables):
                continue
            transcript = [*said, Heard(people, decision.reply)]
            after = auditor.after(state, decision)
            breach = whole_breach(auditor, after, alike, transcript, depth - 1)
            if breach:
                return breach
    return None


@pytest.mark.parametrize(("high", "depth"), [(2, 3), (3, 2)])
def test_no_transcript_of_whole_numbers_reveals_anything(high: int, depth: int) -> None:
    tables = list(product(range(high + 1), repeat=3))
    auditor = Memo(3, 0, high, integers=True)
    assert whole_breach(auditor, SumState(), tables, [], depth) is None
    said = [answers(auditor, values, [(0, 1), (0, 1, 2)]) for values in tables]
    assert any(replies != [None, None] for replies in said)  # so there was something to breach


def test_the_adversary_of_whole_numbers_breaches_simple_auditing() -> None:
    simple = Memo(3, 0, 3, integers=True, strategy="simple")
    tables = list(product(range(4), repeat=3))
    transcript = whole_breach(simple, SumState(), tables, [], 3)
    assert transcript is not None
    assert min(value.width for value in ranges(simple, transcript)) < 1


def test_an_audit_of_reals_is_not_an_audit_of_whole_numbers() -> None:
    """A denial of reals may be bound to a sum of at most 3/2, where only one table is whole."""
    constraints = (
        Constraint(0b011, "=", 3),
        Constraint(0b110, "=", 3),
        Constraint(0b101, "<=", Fraction(3, 2)),
    )
    auditor = Sums(3, 0, 3, integers=True)
    left = auditor.tables[auditor.possible(constraints)]
    assert {tuple(each) for each in left.tolist()} == {(0, 3, 0)}


@pytest.mark.parametrize(
    "wrong",
    [
        {"people": 0},
        {"strategy": "bold"},
        {"low": 0},
        {"low": 0, "high": 10, "width": 0},
        {"low": 0, "high": 10, "width": 11},
        {"low": 0, "high": 10, "width": Fraction(1, 10**8)},
        {"low": (0, 0), "high": 10},
        {"integers": True},
        {"low": 0, "high": 10**6, "integers": True},
        {"low": 0, "high": Fraction(5, 2), "integers": True},
    ],
    ids=str,
)
def test_invalid_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Sums(**{"people": 3, **wrong})


@pytest.mark.parametrize("people", [0, 8, -1])
def test_a_question_about_nobody_or_about_strangers_is_refused(people: int) -> None:
    with pytest.raises(ParameterError):
        Sums(3, 0, 10).decide(SumState(), people, 1)
