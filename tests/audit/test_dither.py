"""Sums of values with few digits: what they reveal, and how added digits prevent it."""

import random
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import shoal
import shoal.audit.dither as module
from shoal.attack import Heard
from shoal.audit import Secret
from shoal.audit.cells import Constraint
from shoal.audit.dither import FINE, Dither, DitherDraws, Recorded
from shoal.audit.model import Decision, members
from shoal.audit.sums import Sums, SumState
from shoal.chance import Chance, Seeded
from tests.audit.asking import heard, talk

FRAME = pl.DataFrame(
    {
        "name": ["Ann", "Bea", "Cid", "Dov", "Eve", "Fay"],
        "pay": [52.5, 61.25, 48.0, 75.5, 66.0, 58.75],
    }
)


def audit(place: Path, **given: Any) -> shoal.Audit:
    table = shoal.table(FRAME, types={"name": "text"})
    return shoal.Audit.new(place, table, Secret("pay", **given), public=["name"])


def minor(matrix: npt.NDArray[Any]) -> int:
    """The determinant of a matrix of whole numbers."""
    return round(float(np.linalg.det(matrix)))


def test_no_minor_is_larger_than_the_bound_that_the_proof_uses() -> None:
    for size in (1, 2, 3):
        for entries in product((0, 1), repeat=size * size):
            largest = minor(np.array(entries).reshape(size, size))
            assert largest**2 * 4**size <= (size + 1) ** (size + 1)


def test_where_the_unit_is_coarse_nothing_is_answered_that_could_be_worked_out() -> None:
    drawn = random.Random(1)
    values = [Fraction(drawn.randint(0, 1000), 100) for _ in range(12)]
    questions = [[person for person in range(12) if drawn.random() < 0.5] or [0] for _ in range(60)]

    def answered(unit: Fraction | None) -> int:
        """New constraints by answers: those that follow from others add none."""
        _, state = talk(Sums(12, 0, 10, 1, unit=unit), values, questions)
        return sum(each.relation == "=" for each in state.constraints)

    assert answered(Fraction(1, 100)) == 0  # a twelfth of a hundredth leaves no room for anything
    assert answered(Fraction(1, 10**20)) == answered(None) > 6


def test_the_added_digits_are_enough_for_a_thousand_sums_over_two_thousand_people() -> None:
    auditor, drawn = Sums(2_000, 0, 10, 1, unit=Fraction(1, FINE)), random.Random(2)
    sets = [drawn.getrandbits(2_000) for _ in range(1_000)]
    equations = tuple(Constraint(people, "=", 5_000) for people in sets)
    assert not auditor.is_coarse(SumState(equations), drawn.getrandbits(2_000))
    assert auditor.is_coarse(SumState(equations * 2), drawn.getrandbits(2_000))


def test_answers_are_off_by_at_most_half_a_unit_per_person_and_the_log_keeps_all_digits(
    tmp_path: Path,
) -> None:
    dithered = audit(tmp_path / "a", low=0, high=100, width=5, dither=True)
    true = FRAME["pay"].sum()
    reply = dithered.ask("sum(pay)")
    assert reply.answer is not None
    assert abs(Fraction(reply.answer) - Fraction(true)) <= Fraction(1, 100) * 3 + Fraction(1, 100)
    assert Fraction(reply.answer) % Fraction(1, 100) == 0
    assert dithered.ask("mean(pay)").answer == Fraction(reply.answer) / 6
    [decision] = dithered.entries("pay")
    assert Fraction(decision.value or 0).denominator > 10**1000
    again = shoal.Audit.open(tmp_path / "a")
    assert again.ask("sum(pay)") == reply
    assert [line.reply for line in again.transcript()] == [reply]
    assert all(len(str(line.reply)) < 20 for line in again.transcript())


def test_without_bounds_sums_are_exact(tmp_path: Path) -> None:
    exact = audit(tmp_path / "a")
    assert exact.ask("sum(pay)").answer == 362
    assert exact.ask("sum(pay) where name != 'Ann'").denied


def test_a_dithered_sum_that_follows_from_others_is_answered(tmp_path: Path) -> None:
    dithered = audit(tmp_path / "a", low=0, high=100, width=2, dither=True)
    queries = (
        "sum(pay)",
        "sum(pay) where name in ('Ann', 'Bea', 'Cid')",
        "sum(pay) where not name in ('Ann', 'Bea', 'Cid')",
    )
    answers = [dithered.ask(query).answer for query in queries]
    assert None not in answers
    whole, part, rest = (Fraction(answer or 0) for answer in answers)
    assert abs(whole - part - rest) <= Fraction(2, 100)
    assert [decision.relation for decision in dithered.entries("pay")] == ["=", "=", None]


def test_a_coarse_audit_denies_and_is_bound_to_nothing() -> None:
    auditor = Sums(4, 0, 10, 1, unit=1)
    assert auditor.decide(auditor.start(), 15, 20) == Decision.denial(15)


class Careless(Sums):
    """A twin that takes multiples of a unit for real numbers."""

    def is_coarse(self, state: SumState, people: int) -> bool:
        return False


def narrowest(people: int, high: int, transcript: list[Heard]) -> int:
    """The least width of anyone's possible values, of all whole tables with the answers given."""
    tables = np.array(list(product(range(high + 1), repeat=people)))
    for each in transcript:
        if each.answer is not None:
            asked = list(members(each.people))
            tables = tables[tables[:, asked].sum(1) == each.answer]
    return int(np.ptp(tables, axis=0).min())


@pytest.mark.parametrize("unit", [1, None])
def test_four_sums_reveal_whole_numbers_to_a_twin_that_takes_them_for_reals(
    unit: int | None,
) -> None:
    values, questions = (3, 1, 7, 4, 5), ((0, 3, 4), (1, 2, 3), (1, 4), (0, 2, 4))
    careful, careless = Sums(5, 0, 8, 2, unit=unit), Careless(5, 0, 8, 2, unit=unit)
    assert narrowest(5, 8, heard(careless, values, questions)) < 2
    kept = narrowest(5, 8, heard(careful, values, questions)) >= 2
    # an audit of real numbers promises nothing against someone who knows that they are whole
    assert kept == (unit == 1)


def test_some_table_of_multiples_is_as_near_to_any_real_table_as_the_proof_says() -> None:
    drawn = random.Random(5)
    for _ in range(300):
        n = drawn.randint(2, 6)
        m = drawn.randint(1, n - 1)
        a = np.array([[drawn.randint(0, 1) for _ in range(n)] for _ in range(m)])
        bases = [list(columns) for columns in combinations(range(n), m)]
        chosen = next((columns for columns in bases if minor(a[:, columns])), None)
        if chosen is None:
            continue  # the rows are dependent
        basis = minor(a[:, chosen])
        kernel = []
        for other in (column for column in range(n) if column not in chosen):
            v = np.zeros(n, np.int64)
            v[other] = basis
            for place, column in enumerate(chosen):  # Cramer's rule
                replaced = a[:, chosen].copy()
                replaced[:, place] = a[:, other]
                v[column] = -minor(replaced)
            assert not (a @ v).any()
            kernel.append(v)
        shares = [drawn.uniform(-3, 3) for _ in kernel]
        real = sum(share * v for share, v in zip(shares, kernel, strict=True))
        near = sum(round(share) * v for share, v in zip(shares, kernel, strict=True))
        largest = ((m + 1) ** (m + 1) / 4**m) ** 0.5
        assert np.abs(real - near).max() <= n / 2 * largest + 1e-9


def test_widths_of_multiples_are_asked_for_with_room() -> None:
    bare, fine = Sums(3, 0, 8, 2).box, Sums(3, 0, 8, 2, unit=Fraction(1, 10**30)).box
    for width, wider in zip(bare.width, fine.width, strict=True):
        assert wider - width == Fraction(8, 2**38)


# Digits are drawn for cells


def drawn_parts(questions: list[int], people: int, chance: Chance) -> tuple[int, ...]:
    """What is added to each question, one after the other."""
    dither = Dither.start(people)
    for question in questions:
        dither = dither.asked(question, DitherDraws(chance))
    return tuple(dither.parts(question) for question in questions)


@pytest.mark.parametrize(
    "questions",
    [[0b111, 0b001], [0b001, 0b011, 0b111], [0b011, 0b110, 0b101], [0b111, 0b011, 0b110]],
    ids=str,
)
def test_exactly_what_people_could_have_can_be_added_to_sums(
    questions: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FINE", 3)
    possible = set()
    for parts in product(range(3), repeat=3):
        sums = (sum(parts[person] for person in members(question)) for question in questions)
        possible.add(tuple(sums))
    chance = Seeded(7)
    assert {drawn_parts(questions, 3, chance) for _ in range(1_500)} == possible


def test_a_twin_whose_parts_cannot_be_extreme_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With average digits for a cell, someone who has none of them would be impossible."""
    monkeypatch.setattr(module, "FINE", 3)
    monkeypatch.setattr(DitherDraws, "fresh", lambda self, count: count)
    drawn = {drawn_parts([0b111, 0b001], 3, Seeded(7)) for _ in range(500)}
    assert (0, 0) not in drawn


def test_what_is_added_to_many_people_is_about_half_a_unit_for_each() -> None:
    chance = Seeded(3)
    dither = Dither.start(100_000)
    everyone = (1 << 100_000) - 1
    for question in (everyone, everyone >> 50_000, everyone >> 99_000, everyone >> 10):
        dither = dither.asked(question, DitherDraws(chance))
        count = question.bit_count()
        assert abs(Fraction(dither.parts(question), FINE) - Fraction(count, 2)) < 4 * count**0.5


def test_what_was_drawn_is_read_from_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    chance, first, second = Seeded(5), Dither.start(9), Dither.start(9)
    for question in (0b111, 0b110110, 0b1, 0b111111111):
        draws = DitherDraws(chance)
        first = first.asked(question, draws)
        second = second.asked(question, Recorded(draws.text(9), 9))
        assert first.added == second.added
        assert first.labels.tolist() == second.labels.tolist()
