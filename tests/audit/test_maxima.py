"""Maxima and minima under audit: ERRATA's oracles, and all questions on all small tables, with the auditors that ship."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attack.transcript import Heard, possible
from shoal.audit.maxima import Known, Maxima, MaximaState, Minima
from shoal.audit.model import Auditor, Decision, Number, crowd, members
from shoal.errors import InputError, ParameterError, TooLargeError
from shoal.research import PrintedMaxima

SETS = ((0, 1), (1, 2, 3), (1, 2, 3), (2, 3))


def heard(
    auditor: Auditor[Any], values: Sequence[Number], questions: Sequence[Sequence[int]]
) -> list[Heard]:
    """What an auditor says to questions about some values."""
    state, said = auditor.start(), []
    extreme = min if isinstance(auditor, Minima) else max
    for people in questions:
        entry = auditor.decide(state, crowd(people), extreme(values[person] for person in people))
        state = auditor.after(state, entry)
        said.append(Heard(crowd(people), entry.value if entry.answered else None))
    return said


def answers(
    auditor: Auditor[Any], values: Sequence[Number], questions: Sequence[Sequence[int]] = SETS
) -> list[Number | None]:
    return [each.answer for each in heard(auditor, values, questions)]


@dataclass(frozen=True)
class Walk:
    """All questions, so many after each other, to all tables of a grid; `real` ones are those whose transcripts count.

    The state of an auditor is a function of the transcript, so tables that sound alike are walked together.
    """

    auditor: Any
    tables: np.ndarray
    real: np.ndarray
    width: int = 1  # of the possible values, in steps of the grid

    @classmethod
    def over(
        cls, auditor: Any, grid: int, real: Sequence[int] | None = None, width: int = 1
    ) -> "Walk":
        tables = np.array(list(product(range(grid), repeat=auditor.people)))
        if getattr(auditor, "distinct", False):
            tables = tables[[len(set(row)) == len(row) for row in tables.tolist()]]
        inner = np.asarray(np.isin(tables, range(grid) if real is None else real).all(axis=1))
        return cls(auditor, tables, inner, width)

    def breach(self, depth: int, first: Sequence[int] = ()) -> list[Any] | None:
        """Questions and answers after which someone is found out, if there are any; the first question may be given."""
        extreme = np.min if isinstance(self.auditor, Minima) else np.max
        questions = range(1, 1 << self.auditor.people)
        truth = {each: extreme(self.tables[:, list(members(each))], axis=1) for each in questions}
        seen: set[Any] = set()

        def walk(state: Any, left: int, alike: np.ndarray, so_far: list[Any]) -> list[Any] | None:
            for people in first if first and not so_far else questions:
                values = truth[people][alike]
                sounds: dict[Any, list[np.ndarray]] = {}
                then: dict[Any, Any] = {}
                for value in np.unique(values).tolist():
                    entry = self.auditor.decide(state, people, value)
                    sound = value if entry.answered else None
                    sounds.setdefault(sound, []).append(alike[values == value])
                    after = self.auditor.after(state, entry)
                    if sound in then and then[sound] != after:
                        return [
                            *so_far,
                            (people, sound),
                            "the audit's state depends on more than what was heard",
                        ]
                    then[sound] = after
                for sound, parts in sounds.items():
                    rest = np.concatenate(parts)
                    if not self.real[rest].any():
                        continue
                    found = self.tables[rest]
                    if (found.max(axis=0) - found.min(axis=0) < self.width).any():
                        return [*so_far, (people, sound)]
                    if left > 1:
                        key = then[sound], left, rest.tobytes()
                        if key not in seen:
                            seen.add(key)
                            if deeper := walk(
                                then[sound], left - 1, np.sort(rest), [*so_far, (people, sound)]
                            ):
                                return deeper
            return None

        return walk(self.auditor.start(), depth, np.arange(len(self.tables)), [])


def reals(auditor: Any) -> Walk:
    """Real numbers: every order of the people, with values below, between and above to be mistaken for."""
    return Walk.over(auditor, 2 * auditor.people + 2, range(2, 2 * auditor.people + 1, 2))


ONE_OF_EACH_SIZE = {
    3: (1, 3, 7),
    4: (1, 3, 7, 15),
    5: (1, 3, 7, 15, 31),
}  # people may be renamed, so these first questions are all there are


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((5, 1, 7, 2), [5, 7, 7, 7]),
        ((5, 1, 5, 2), [5, None, None, None]),
        ((5, 1, 3, 2), [5, None, None, 3]),
        ((3, 5, 1, 2), [5, None, None, 2]),
    ],
)
def test_the_oracle_of_the_corrected_algorithm(
    values: tuple[int, ...], said: list[int | None]
) -> None:
    assert answers(Maxima(4), values) == said
    mirrored = [None if each is None else -each for each in said]
    assert answers(Minima(4), [-value for value in values]) == mirrored


def test_the_simple_strategy_tells_by_a_denial_and_the_others_do_not() -> None:
    for strategy, found in (("simple", 5), ("simulatable", None), ("binding", None)):
        auditor = Maxima(4, strategy=strategy)  # type: ignore[arg-type]
        said = heard(auditor, (5, 1, 3, 2), SETS[:2])
        assert said[1].answer is None
        assert possible(auditor, said)[0].known == found


def test_the_first_question_is_answered_iff_it_is_about_two_people_or_more() -> None:
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
def test_nobody_is_found_out_where_values_are_few_whole_numbers(high: int) -> None:
    for people, depth in ((2, 5), (3, 4)):
        auditor = Maxima(people, 0, high, integers=True)
        assert Walk.over(auditor, high + 1).breach(depth) is None
        assert Walk.over(Minima(people, 0, high, integers=True), high + 1).breach(depth) is None


@pytest.mark.slow
@pytest.mark.parametrize("high", [1, 2, 3, 4])
def test_nobody_of_four_is_found_out_where_values_are_few_whole_numbers(high: int) -> None:
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
        entry = super().decide(state, people, answer)
        return (
            Decision(people, True, "=", answer)
            if entry.relation and entry.value == answer
            else entry
        )


class Believing(Maxima):
    """A twin that takes what denials are bound to for true."""

    def after(self, state: MaximaState, decision: Decision) -> MaximaState:
        audit = super().after(state, decision).audit
        return MaximaState(audit, audit)


class Telling(Maxima):
    """A twin whose denial is bound to something that depends on the answer."""

    def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
        entry = super().decide(state, people, answer)
        return replace(entry, value=answer) if entry.relation == "<=" else entry


class Careless(Maxima):
    """A twin that does not make use of values being distinct."""

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
    assert reals(Careless(5, distinct=True)).breach(2, [0b00111]) is not None
    assert reals(Maxima(5, distinct=True)).breach(2, [0b00111]) is None


def test_a_twin_without_the_margin_at_the_end_of_the_domain_is_caught() -> None:
    class Bare(Maxima):
        def decide(self, state: MaximaState, people: int, answer: Number) -> Decision:
            return Maxima(self.people, None, self.high).decide(state, people, answer)

    assert Walk.over(Bare(3, 0, 2, integers=True), 3).breach(2) is not None


def test_the_printed_algorithm_answers_in_the_end_what_it_denied() -> None:
    assert answers(PrintedMaxima(2), (3, 5), [(0, 1), (0,), (0,)]) == [5, None, 3]
    said = heard(PrintedMaxima(3, strict=True), (1, 2, 5), [(0, 1, 2), (0, 1), (0, 1)])
    assert [each.answer for each in said] == [5, None, None]
    assert possible(PrintedMaxima(3, strict=True), said, marks=(4, 6))[2].known == 5


@st.composite
def asked(draw: st.DrawFn) -> tuple[int, list[int], list[list[int]]]:
    people = draw(st.integers(2, 7))
    values = draw(st.lists(st.integers(0, 9), min_size=people, max_size=people))
    one = st.lists(st.integers(0, people - 1), min_size=1, max_size=people, unique=True)
    return people, values, draw(st.lists(one, max_size=8))


@given(asked(), st.sampled_from(["binding", "simulatable"]), st.booleans())
def test_a_repeated_answer_is_given_again_and_a_repeated_denial_stays(
    case: Any, strategy: Any, bounded: bool
) -> None:
    people, values, questions = case
    auditor = (
        Maxima(people, 0, 9, integers=True, strategy=strategy)
        if bounded
        else Maxima(people, strategy=strategy)
    )
    if not questions:
        return
    first = answers(auditor, values, questions)
    again = answers(auditor, values, [*questions, *questions])[len(questions) :]
    for one, other in zip(first, again, strict=True):
        assert one is None or one == other
    repeated = answers(auditor, values, [each for each in questions for _ in range(2)])
    assert repeated[::2] == repeated[1::2]


@given(asked(), st.booleans())
def test_what_is_given_is_true_and_binding_answers_where_simulatable_does(
    case: Any, distinct: bool
) -> None:
    people, values, questions = case
    if distinct:
        values = [value * people + person for person, value in enumerate(values)]
    said = answers(Maxima(people, distinct=distinct), values, questions)
    truth = [max(values[person] for person in each) for each in questions]
    assert all(one is None or one == other for one, other in zip(said, truth, strict=True))
    first_denial = next((at for at, each in enumerate(said) if each is None), len(said))
    cautious = answers(Maxima(people, strategy="simulatable", distinct=distinct), values, questions)
    assert all(
        one == other or other is None
        for one, other in zip(said[:first_denial], cautious, strict=False)
    )


@given(asked(), st.booleans(), st.sampled_from([None, 0]), st.booleans())
def test_the_audit_never_leaves_fewer_than_two_who_may_have_a_value(
    case: Any, distinct: bool, low: Any, high: bool
) -> None:
    people, values, questions = case
    if distinct:
        values = [value * people + person for person, value in enumerate(values)]
    auditor = Maxima(people, low, max(values) + 1 if high else None, distinct=distinct)
    state = auditor.start()
    for each in questions:
        state = auditor.after(
            state, auditor.decide(state, crowd(each), max(values[person] for person in each))
        )
        assert all(who.bit_count() >= 2 for who, _ in state.audit.witnesses)
        for who, most in state.audit.witnesses:
            assert all(state.audit.bounds[person] == most for person in members(who))


def test_distinct_values_up_to_a_public_bound_are_denied_where_nothing_could_be_bound() -> None:
    auditor, values = Maxima(4, high=5, distinct=True), (5, 3, 1, 4)
    state = auditor.start()
    for people in ((1, 3), (0, 1, 3), (0, 2)):
        state = auditor.after(
            state, auditor.decide(state, crowd(people), max(values[person] for person in people))
        )
        assert all(who.bit_count() >= 2 for who, _ in state.audit.witnesses)


@given(asked())
def test_the_adversary_finds_what_enumeration_finds(case: Any) -> None:
    people, values, questions = case
    people, values = min(people, 4), values[:4]
    questions = [[person for person in each if person < people] or [0] for each in questions[:3]]
    auditor = Maxima(people, 0, 9, strategy="simple", integers=True)
    said = heard(auditor, values, questions)
    if not said:
        return
    tables = (
        [
            table
            for table in product(range(10), repeat=people)
            if heard(auditor, table, questions) == said
        ]
        if people < 3
        else None
    )
    found = possible(auditor, said, domain=range(10))
    if tables is not None:
        for person, one in found.items():
            assert set(one.values) == {table[person] for table in tables}
    for person, one in found.items():
        assert values[person] in one.values
        other = possible(auditor, said)[person]  # the same, without a list of all values
        assert set(one.values) == {
            value
            for value in range(10)
            if value in other.values or any(low < value < high for low, high in other.between)
        }


def test_people_who_are_always_asked_about_together_cost_the_adversary_no_more_than_one() -> None:
    auditor = Maxima(2_000, strategy="simple")
    values = [5] + [1] * 1_997 + [3, 2]
    questions = [range(1_998), range(1, 2_000)]
    said = heard(auditor, values, questions)
    assert [each.answer for each in said] == [5, None]
    found = possible(auditor, said)
    assert found[0].known == 5
    assert found[1].known is None
    assert found[1].high == 5


def test_the_adversary_says_what_cannot_be_and_what_is_too_much() -> None:
    auditor = Maxima(3)
    with pytest.raises(InputError, match="no table gives this transcript"):
        possible(auditor, [Heard(1, 5)])
    many = Maxima(24)
    said = heard(many, range(24), [[one, one + 1] for one in range(23)])
    with pytest.raises(TooLargeError, match="take fewer questions"):
        possible(many, said)


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


def test_binding_answers_more_than_simulatable_on_the_experiment_of_the_chapter() -> None:
    people, drawn, counts = (
        300,
        random.Random(3),
        dict.fromkeys(("simple", "binding", "simulatable"), 0),
    )
    values = [drawn.randint(1, people) for _ in range(people)]
    questions = [drawn.sample(range(people), drawn.randint(1, people // 10)) for _ in range(100)]
    for strategy in counts:
        said = answers(Maxima(people, strategy=strategy), values, questions)  # type: ignore[arg-type]
        counts[strategy] = sum(each is not None for each in said)
    assert counts["simple"] > counts["binding"] > counts["simulatable"]


def test_bounds_start_where_they_are_declared() -> None:
    assert Maxima(2, 0, 9).start().audit == Known((9, 9))
    assert Maxima(2).start().audit == Known((inf, inf))
