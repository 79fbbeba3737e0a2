"""The auditor of sums: no transcript tells anyone's value more closely than the width, and twins that let one do so are caught.

The judge is exact: what the auditor takes as known must lie within what an adversary holds possible, and must be wide, which two
points of fractions show.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
from shoal.audit.model import Auditor, Decision, Number, Strategy, crowd, members
from shoal.audit.polytope import Box, Constraint, combination, extremes, linked
from shoal.audit.sums import Rule, Sums, SumState
from shoal.errors import InputError, ParameterError, TooLargeError
from shoal.research import PrintedSums

pytest.importorskip("highspy")

Table = tuple[Fraction, ...]


def table(*values: float | str) -> Table:
    return tuple(map(Fraction, values))


def total(values: Sequence[Number], people: int) -> Number:
    return sum((values[person] for person in members(people)), Fraction(0))


def talk(
    auditor: Auditor[Any], values: Sequence[Number], questions: Iterable[Iterable[int]]
) -> tuple[list[Heard], Any]:
    """What is said to questions one by one, and the state after them."""
    state, said = auditor.start(), []
    for question in questions:
        people = crowd(question)
        entry = auditor.decide(state, people, total(values, people))
        state = auditor.after(state, entry)
        said.append(Heard(people, entry.value if entry.answered else None))
    return said, state


def answers(
    auditor: Auditor[Any], values: Sequence[Number], questions: Iterable[Iterable[int]]
) -> list[Number | None]:
    return [heard.answer for heard in talk(auditor, values, questions)[0]]


# The exact judge


def holds(rows: Iterable[Constraint], values: Sequence[Number]) -> bool:
    return all(
        total(values, row.people) == row.value
        if row.relation == "="
        else total(values, row.people) <= row.value
        for row in rows
    )


def corner(normals: Sequence[Sequence[int]], sides: Sequence[Fraction]) -> Table | None:
    """Where as many equations as there are people meet, exactly."""
    system = [
        [Fraction(each) for each in normal] + [side]
        for normal, side in zip(normals, sides, strict=True)
    ]
    for place in range(len(system)):
        pivot = next((row for row in range(place, len(system)) if system[row][place]), None)
        if pivot is None:
            return None
        system[place], system[pivot] = system[pivot], system[place]
        system[place] = [each / system[place][place] for each in system[place]]
        for row in range(len(system)):
            if row != place and system[row][place]:
                factor = system[row][place]
                system[row] = [
                    a - factor * b for a, b in zip(system[row], system[place], strict=True)
                ]
    return tuple(row[-1] for row in system)


def wide(auditor: Sums, rows: Sequence[Constraint]) -> bool:
    """Whether points of the polytope that are exactly in it are as far apart as everyone's width.

    Corners are looked for in floats, and those that are furthest apart are then worked out in fractions.
    """
    n = auditor.people
    unit = [[int(i == j) for j in range(n)] for i in range(n)]
    planes = [(unit[i], auditor.lows[i]) for i in range(n)] + [
        (unit[i], auditor.highs[i]) for i in range(n)
    ]
    planes += [([row.people >> i & 1 for i in range(n)], Fraction(row.value)) for row in rows]
    some = list(combinations(range(len(planes)), n))
    normals = np.array([plane[0] for plane in planes], float)
    sides = np.array([float(plane[1]) for plane in planes])
    chosen = np.array(some)
    solvable = np.abs(np.linalg.det(normals[chosen])) > 1e-6
    chosen = chosen[solvable]
    points = np.linalg.solve(normals[chosen], sides[chosen][..., None])[..., 0]
    inside = np.all((points > sides[:n] - 1e-7) & (points < sides[n : 2 * n] + 1e-7), axis=1)
    for row, normal, side in zip(rows, normals[2 * n :], sides[2 * n :], strict=True):
        off = points @ normal - side
        inside &= (np.abs(off) if row.relation == "=" else off) < 1e-7
    for person in range(n):
        found = []
        for sign in (-1, 1):
            for place in np.argsort(np.where(inside, sign * points[:, person], inf))[:4]:
                point = corner(
                    [planes[i][0] for i in chosen[place]], [planes[i][1] for i in chosen[place]]
                )
                if (
                    point is not None
                    and all(
                        low <= x <= high
                        for low, x, high in zip(auditor.lows, point, auditor.highs, strict=True)
                    )
                    and holds(rows, point)
                ):
                    found.append(point[person])
                    break
        if len(found) < 2 or abs(found[1] - found[0]) < auditor.widths[person]:
            return False
    return True


@dataclass
class Walk:
    """All transcripts of all tables on a grid: a tree, as tables that sounded alike so far share their branch."""

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
            branches: dict[tuple[bool, Number | None], list[Table]] = defaultdict(list)
            entries: dict[tuple[bool, Number | None], Decision] = {}
            for values in tables:
                entry = self._decided(state, people, total(values, people))
                seen = entry.answered, entry.value if entry.answered else None
                branches[seen].append(values)
                if entries.setdefault(seen, entry) != entry:
                    return "what is recorded depends on more than what was said"
            for seen, some in branches.items():
                if entries[seen].relation is not None or len(some) < len(
                    tables
                ):  # else nothing changes
                    fault = self._from(self.auditor.after(state, entries[seen]), some, depth - 1)
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
        if any(
            holds(state.constraints, values) and values not in sounded for values in self.tables
        ):
            return "a table that is taken as possible would have sounded otherwise"
        return None


class Memo(Sums):
    """The auditor itself, which works out rules once."""

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


def test_no_transcript_of_a_small_grid_tells_anything() -> None:
    walk = Walk(Memo(3, 0, 4), grid(3, 0, 1.25, 2.5, 4), SOME)
    assert walk.breach(2) is None
    assert walk.nodes > 200


def test_no_transcript_tells_where_bounds_and_widths_differ() -> None:
    auditor = Memo(3, (0, -1, 0), (4, 3, 2), (1, Fraction(1, 2), Fraction(3, 4)))
    tables = list(product(table(0, 1.5, 3.5), table(-1, 0.5, 3), table(0, 0.75, 2)))
    assert Walk(auditor, tables, SOME).breach(2) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "auditor", [Memo(3, 0, 4), Memo(3, 0, 2), Memo(3, 0, 5, Fraction(3, 2))], ids=str
)
def test_no_long_transcript_tells_anything(auditor: Memo) -> None:
    high = auditor.highs[0]
    walk = Walk(
        auditor,
        list(product([high * Fraction(part, 20) for part in (0, 4, 9, 14, 20)], repeat=3)),
        ALL,
    )
    assert walk.breach(4) is None
    assert walk.nodes > 200


@pytest.mark.slow
def test_no_transcript_about_four_people_tells_anything() -> None:
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
        entry = super().decide(state, people, answer)
        return replace(entry, value=answer + 1) if entry.relation == "<=" else entry


class Summing(Memo):
    """A twin that looks at how far the sum can go, not at people."""

    def rule(self, state: SumState, people: int) -> Rule | None:
        found = extremes(
            list(map(float, self.lows)), list(map(float, self.highs)), state.constraints, [people]
        )
        if found is None or found[0][1] - found[0][0] < 4:
            return None
        low, high = (Fraction(round(end * 1000), 1000) for end in found[0])
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
        return (
            None
            if rule is None or rule.low is None
            else replace(rule, bound=Fraction(rule.low) / 2)
        )


class Inclusive(Memo):
    """A twin that answers below its own threshold."""

    def decide(self, state: SumState, people: int, answer: Number) -> Decision:
        rule = self.rule(state, people)
        if (
            rule is not None
            and rule.low is not None
            and rule.bound is not None
            and rule.low <= answer <= rule.bound
        ):
            return Decision(people, True, "=", answer)
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
    walk = Walk(twin, grid(3, 0, 0.25, high * 0.11875, high * 0.3125, high * 0.625, high), SOME)
    assert walk.breach(depth) is not None


def test_a_twin_that_overlooks_people_further_along_a_chain_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def near(rows: Sequence[Constraint], people: int) -> tuple[tuple[Constraint, ...], int]:
        return (), people

    monkeypatch.setattr(slices, "linked", near)
    slices.shape.cache_clear()
    assert Walk(Memo(3, 0, 4), grid(3, 0, 1.25, 2.5, 4), SOME).breach(2) is not None
    slices.shape.cache_clear()


# What is answered


def test_what_could_be_known_is_answered_again_and_denials_stay() -> None:
    auditor, values = Sums(4, 0, 10), table(4, 5, 6, 0.5)
    assert answers(auditor, values, [(0, 1), (0, 1), (2,), (2,), (0, 1)]) == [9, 9, None, None, 9]
    said, state = talk(auditor, values, [(0, 1), (2, 3), (0, 1, 2, 3)])
    assert [heard.answer for heard in said] == [9, Fraction(13, 2), Fraction(31, 2)]
    assert len(state.constraints) == 2


def test_a_denied_question_stays_denied_when_others_tell_its_answer() -> None:
    auditor, values = (
        Sums(4, 0, 10),
        (Fraction("1.2"), Fraction("2.9"), Fraction("0.6"), Fraction("3.8")),
    )
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


def test_bounds_with_simulatable_auditing_deny_everything_and_without_bounds_it_is_binding() -> (
    None
):
    questions = [(0, 1), (1, 2), (2, 3), (0, 2), (0, 1, 2, 3)]
    assert not any(answers(Sums(4, 0, 10, strategy="simulatable"), table(4, 5, 6, 7), questions))
    both: list[Strategy] = ["simulatable", "binding"]
    assert [answers(Sums(4, strategy=each), table(4, 5, 6, 7), questions) for each in both] == [
        [9, 11, 13, None, 22]
    ] * 2


def test_without_bounds_answers_do_not_change_decisions() -> None:
    random = Random(5)
    questions = [random.getrandbits(8) or 1 for _ in range(30)]
    decided = set()
    for _ in range(5):
        auditor, state, said = Sums(8), SumState(), []
        values = [Fraction(random.randrange(-1000, 1000), 7) for _ in range(8)]
        for people in questions:
            entry = auditor.decide(state, people, total(values, people))
            state = auditor.after(state, entry)
            said.append(entry.answered)
        decided.add(tuple(said))
    assert len(decided) == 1


@given(st.integers(3, 7), st.data())
@settings(max_examples=60)
def test_without_bounds_no_value_is_ever_determined_and_little_is_denied_for_nothing(
    people: int, data: st.DataObject
) -> None:
    auditor, state = Sums(people), SumState()
    for _ in range(data.draw(st.integers(1, 10))):
        asked = data.draw(st.integers(1, 2**people - 1))
        entry = auditor.decide(state, asked, asked.bit_count())  # everyone has 1
        rank = exact_rank([row.people for row in state.constraints] + [asked], people)
        told = any(
            exact_rank([row.people for row in state.constraints] + [asked, 1 << person], people)
            == rank
            for person in range(people)
        )
        assert entry.answered == (
            not told
            or (asked not in state.denied and combination(state.constraints, asked) is not None)
        ) or (asked in state.denied)
        state = auditor.after(state, entry)


def exact_rank(sets: Sequence[int], people: int) -> int:
    rows = [[Fraction(each >> person & 1) for person in range(people)] for each in sets]
    rank = 0
    for column in range(people):
        pivot = next((row for row in range(rank, len(rows)) if rows[row][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for row in range(rank + 1, len(rows)):
            factor = rows[row][column] / rows[rank][column]
            rows[row] = [a - factor * b for a, b in zip(rows[row], rows[rank], strict=True)]
        rank += 1
    return rank


@st.composite
def settled(draw: st.DrawFn) -> tuple[Sums, Table, list[int]]:
    """An auditor with bounds and widths of each person, a table, questions."""
    people = draw(st.integers(2, 4))
    lows = [
        Fraction(draw(st.integers(-8, 8)), draw(st.sampled_from((1, 3)))) for _ in range(people)
    ]
    spans = [Fraction(draw(st.integers(2, 30)), 2) for _ in range(people)]
    widths = [span * Fraction(draw(st.integers(1, 9)), 10) for span in spans]
    auditor = Sums(
        people,
        tuple(lows),
        tuple(low + span for low, span in zip(lows, spans, strict=True)),
        tuple(widths),
    )
    values = tuple(
        low + span * Fraction(draw(st.integers(0, 20)), 20)
        for low, span in zip(lows, spans, strict=True)
    )
    return auditor, values, draw(st.lists(st.integers(1, 2**people - 1), min_size=1, max_size=6))


@given(settled())
@settings(max_examples=60)
def test_whatever_is_asked_what_is_taken_as_known_is_wide_and_answers_are_true(
    case: tuple[Sums, Table, list[int]],
) -> None:
    auditor, values, questions = case
    state = auditor.start()
    for people in questions:
        entry = auditor.decide(state, people, total(values, people))
        assert not entry.answered or entry.value == total(values, people)
        state = auditor.after(state, entry)
    assert wide(auditor, state.constraints)
    assert holds((row for row in state.constraints if row.relation == "="), values)


def test_a_state_is_a_function_of_the_log() -> None:
    random = Random(3)
    values = [Fraction(random.randrange(1001), 100) for _ in range(40)]
    auditor, state, log = Sums(40, 0, 10), SumState(), []
    for _ in range(25):
        people = random.getrandbits(40) | 1
        log.append(auditor.decide(state, people, total(values, people)))
        state = auditor.after(state, log[-1])
    fresh, again = Sums(40, 0, 10), SumState()
    for entry in log:
        again = fresh.after(again, entry)
    assert again == state
    question = random.getrandbits(40)
    for cached in (slices.shape, slices.centre):
        cached.cache_clear()
    assert fresh.rule(again, question) == auditor.rule(state, question)


def test_many_answers_about_many_people_stay_safe() -> None:
    random = Random(7)
    people, count = 40, 38
    values = [Fraction(random.randrange(1001), 100) for _ in range(people)]
    auditor = Sums(people, 0, 10)
    _, state = talk(
        auditor, values, [[i for i in range(people) if random.random() < 0.5] for _ in range(count)]
    )
    found = extremes(
        [0.0] * people,
        [10.0] * people,
        state.constraints,
        [1 << person for person in range(people)],
    )
    assert found is not None
    assert all(high - low >= 1 for low, high in found)
    assert sum(row.relation == "=" for row in state.constraints) > 28


def test_rows_that_say_nothing_of_the_people_asked_about_are_left_out() -> None:
    rows = [
        Constraint(0b000011, "=", 5),
        Constraint(0b110000, "=", 5),
        Constraint(0b000110, "=", 5),
        Constraint(0b001100, "=", 5),
    ]
    assert linked(rows, 0b001000) == ((rows[0], rows[2], rows[3]), 0b001111)
    assert linked(rows[:2], 0b001000) == ((), 0b001000)


def test_a_combination_is_found_exactly() -> None:
    assert combination([Constraint(0b0011, "=", 1), Constraint(0b1100, "=", 1)], 0b1111) == (
        Fraction(1),
        Fraction(1),
    )
    assert combination([Constraint(0b1111, "=", 1), Constraint(0b0011, "=", 1)], 0b1100) == (
        Fraction(1),
        Fraction(-1),
    )
    assert (
        combination([Constraint(people, "=", 1) for people in (0b011, 0b110, 0b101)], 0b111)
        == (Fraction(1, 2),) * 3
    )
    assert combination([Constraint(0b0111, "=", 1), Constraint(0b1110, "=", 1)], 0b1001) is None
    assert combination([], 0b1) is None


def test_data_that_changed_is_noticed() -> None:
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


def test_too_many_linked_people_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polytope, "LINKED", 3)
    assert answers(Sums(5, 0, 10), table(4, 5, 6, 7, 8), [(0, 1), (1, 2), (3, 4)]) == [9, 11, 15]
    with pytest.raises(TooLargeError, match="4 people"):
        answers(Sums(5, 0, 10), table(4, 5, 6, 7, 8), [(0, 1), (1, 2), (2, 3)])


def test_the_benchmarks_still_run() -> None:
    assert [row[:2] for row in audit_sums.speed([(60, 50)])] == [
        (60, answers) for answers in (10, 20, 30, 40, 50)
    ]
    by = {row[3]: row[4] for row in audit_sums.utility(12, 11, 1, 4)}
    assert by["simulatable"] == 0
    assert by["binding"] == pytest.approx(by["simple"], abs=3)


# Whole numbers


def whole_breach(
    auditor: Sums, state: SumState, tables: list[tuple[int, ...]], said: list[Heard], depth: int
) -> list[Heard] | None:
    """A transcript after which the tables that sounded alike are too close together."""
    if min(max(column) - min(column) for column in zip(*tables, strict=True)) < 1:
        return said
    for people in range(1, 8) if depth else ():
        branches = defaultdict(list)
        for values in tables:
            branches[auditor.decide(state, people, total(values, people))].append(values)
        for entry, some in branches.items():
            if entry.relation is not None or len(some) < len(tables):
                heard = [*said, Heard(people, entry.value if entry.answered else None)]
                found = whole_breach(auditor, auditor.after(state, entry), some, heard, depth - 1)
                if found:
                    return found
    return None


@pytest.mark.parametrize("high", [2, 3])
def test_no_transcript_of_whole_numbers_tells_anything(high: int) -> None:
    tables = list(product(range(high + 1), repeat=3))
    assert (
        whole_breach(Memo(3, 0, high, integers=True), SumState(), tables, [], 3 if high == 2 else 2)
        is None
    )
    assert any(
        answers(Sums(3, 0, high, integers=True), values, [(0, 1), (0, 1, 2)]) != [None, None]
        for values in tables
    )


def test_the_adversary_of_whole_numbers_breaches_simple_auditing() -> None:
    simple = Memo(3, 0, 3, integers=True, strategy="simple")
    tables = list(product(range(4), repeat=3))
    found = whole_breach(simple, SumState(), tables, [], 3)
    assert found is not None
    assert min(each.width for each in ranges(simple, found)) < 1


def test_reals_are_no_audit_of_whole_numbers() -> None:
    """Two people with whole numbers from 0, the width is 1, the sum is at most 3/2 when the reals' denial is bound to that."""
    rows = (
        Constraint(0b011, "=", 3),
        Constraint(0b110, "=", 3),
        Constraint(0b101, "<=", Fraction(3, 2)),
    )
    auditor = Sums(3, 0, 3, integers=True)
    left = auditor.tables[auditor.possible(rows)]
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
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Sums(**{"people": 3, **wrong})


@pytest.mark.parametrize("people", [0, 8, -1])
def test_questions_are_about_people_who_are_there(people: int) -> None:
    with pytest.raises(ParameterError):
        Sums(3, 0, 10).decide(SumState(), people, 1)


# The adversary


def test_simple_auditing_is_breached_and_binding_is_not() -> None:
    values, questions = table(0.3, 0.2, 5), [(0, 1), (0, 2), (1, 2)]
    said, _ = talk(Sums(3, 0, 10, strategy="simple"), values, questions)
    assert [heard.answer is None for heard in said] == [True, False, False]
    found = ranges(Sums(3, 0, 10, strategy="simple"), said)
    assert max(each.width for each in found) < 0.46
    assert all(
        each.low - 1e-6 <= value <= each.high + 1e-6
        for each, value in zip(found, values, strict=True)
    )
    said, _ = talk(Sums(3, 0, 10), values, questions)
    assert min(each.width for each in ranges(Sums(3, 0, 10), said)) >= 1


def test_the_printed_algorithm_breaches_without_a_denial() -> None:
    questions = [(0, 1), (1, 2), (1, 4), (0, 2, 3, 4)]
    values = table("1/3", "5/3", "1/3", 1, "1/3")
    said, state = talk(PrintedSums(5, 0, 10), values, questions)
    assert [heard.answer for heard in said] == [2, 2, 2, 2]
    found = extremes([0.0] * 5, [10.0] * 5, state.constraints, [1 << person for person in range(5)])
    assert found is not None
    expected = [(0, 2 / 3), (4 / 3, 2), (0, 2 / 3), (0, 2), (0, 2 / 3)]
    assert np.allclose(found, expected)
    assert None in answers(Sums(5, 0, 10), values, questions)


@given(settled())
@settings(max_examples=25)
def test_the_adversary_of_binding_holds_everyones_width_possible(
    case: tuple[Sums, Table, list[int]],
) -> None:
    auditor, values, questions = case
    said, _ = talk(auditor, values, [list(members(people)) for people in questions])
    for value, width, found in zip(values, auditor.widths, ranges(auditor, said), strict=True):
        assert found.width >= width - 1e-7
        assert found.low - 1e-7 <= value <= found.high + 1e-7


def test_the_adversary_says_so_when_nothing_fits() -> None:
    with pytest.raises(InputError, match="denied"):
        ranges(Sums(3, 0, 10), [Heard(3, Fraction(1, 2))])


def test_without_bounds_the_adversary_knows_nothing() -> None:
    said, _ = talk(Sums(4), table(1, 2, 3, 4), [(0, 1), (1, 2), (0, 2), (0, 3)])
    assert {(each.low, each.high) for each in ranges(Sums(4), said)} == {(-inf, inf)}


def _pairs() -> Iterator[tuple[Fraction, Fraction]]:
    yield from (
        (Fraction(0), Fraction(10)),
        (Fraction(-7, 3), Fraction(1, 3)),
        (Fraction(10**6), Fraction(10**6 + 5)),
    )


@pytest.mark.parametrize(("low", "high"), list(_pairs()))
def test_numbers_are_rounded_to_the_safe_side(low: Fraction, high: Fraction) -> None:
    box = Box([low] * 3, [high] * 3, [Fraction(1)] * 3)
    assert all(Fraction(float(each)) * box.scale <= high - low for each in box.span)
    assert all(Fraction(float(each)) * box.scale >= 1 for each in box.need)
    inside = box.inside(0b101, Fraction(22, 7))
    assert box.outside(0b101, float(inside), True) >= Fraction(float(inside)) * box.scale + 2 * low
    assert box.outside(0b101, float(inside), False) <= Fraction(float(inside)) * box.scale + 2 * low
