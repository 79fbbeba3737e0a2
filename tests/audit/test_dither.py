"""Sums of values with few digits: what they tell, and what digits that are added do about it."""

import random
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack import disclosed
from shoal.audit import Secret
from shoal.audit.maxima import Maxima
from shoal.audit.model import Decision, crowd
from shoal.audit.polytope import Constraint
from shoal.audit.secret import FINE
from shoal.audit.sums import Sums, SumState
from shoal.errors import ColumnError, ParameterError, QueryError

FRAME = pl.DataFrame(
    {
        "name": ["Ann", "Bea", "Cid", "Dov", "Eve", "Fay"],
        "pay": [52.5, 61.25, 48.0, 75.5, 66.0, 58.75],
    }
)


def audit(place: Path, **given: Any) -> shoal.Audit:
    return shoal.Audit.new(
        place, shoal.table(FRAME, types={"name": "text"}), Secret("pay", **given), public=["name"]
    )


def test_no_minor_is_larger_than_the_bound_that_the_proof_uses() -> None:
    for size in (1, 2, 3):
        for entries in product((0, 1), repeat=size * size):
            minor = round(np.linalg.det(np.array(entries, float).reshape(size, size)))
            assert minor**2 * 4**size <= (size + 1) ** (size + 1)


def test_where_the_unit_is_coarse_nothing_is_answered_that_could_be_worked_out() -> None:
    drawn = random.Random(1)
    values = [Fraction(drawn.randint(0, 1000), 100) for _ in range(12)]
    questions = [
        crowd(person for person in range(12) if drawn.random() < 0.5) or 1 for _ in range(60)
    ]
    answered = {}
    for unit in (None, Fraction(1, 100), Fraction(1, 10**20)):
        auditor = Sums(12, 0, 10, 1, unit=unit)
        state, answers = auditor.start(), 0
        for people in questions:
            asked = sum(
                (values[person] for person in range(12) if people >> person & 1), Fraction(0)
            )
            entry = auditor.decide(state, people, asked)
            answers += entry.answered and entry.relation == "="
            state = auditor.after(state, entry)
        answered[unit] = answers
    assert answered[Fraction(1, 100)] == 0  # a twelfth of a hundredth is no room for anything
    assert answered[Fraction(1, 10**20)] == answered[None] > 6


def test_the_digits_that_are_added_are_enough_for_a_thousand_sums_of_two_thousand_people() -> None:
    auditor, drawn = Sums(2_000, 0, 10, 1, unit=Fraction(1, FINE)), random.Random(2)
    rows = tuple(Constraint(drawn.getrandbits(2_000), "=", 5_000) for _ in range(1_000))
    assert not auditor.is_coarse(SumState(rows), drawn.getrandbits(2_000))
    assert auditor.is_coarse(SumState(rows * 2), drawn.getrandbits(2_000))


def test_answers_are_off_by_half_a_unit_a_person_at_most_and_the_log_keeps_what_was_decided(
    tmp_path: Path,
) -> None:
    one = audit(tmp_path / "a", low=0, high=100, width=5, dither=True)
    true = FRAME["pay"].sum()
    reply = one.ask("sum(pay)")
    assert reply.answer is not None
    assert abs(Fraction(reply.answer) - Fraction(true)) <= Fraction(1, 100) * 3 + Fraction(1, 100)
    assert Fraction(reply.answer) % Fraction(1, 100) == 0
    assert one.ask("mean(pay)").answer == Fraction(reply.answer) / 6
    [entry] = one.entries("pay")
    assert Fraction(entry.value or 0).denominator > 10**1000
    again = shoal.Audit.open(tmp_path / "a")
    assert again.ask("sum(pay)") == reply
    assert [line.reply for line in again.transcript()] == [reply]
    assert all(len(str(line.reply)) < 20 for line in again.transcript())


def test_sums_of_few_digits_are_refused_without_dither(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="dither"):
        audit(tmp_path / "a", low=0, high=100).ask("sum(pay)")
    with pytest.raises(ParameterError, match="dither is for sums"):
        Secret("pay", "max", dither=True)
    with pytest.raises(ParameterError, match="public bounds"):
        audit(tmp_path / "b", dither=True)
    with pytest.raises(ColumnError, match="not divisible by the unit"):
        audit(tmp_path / "c", low=0, high=100, dither=True, unit=1)


def test_without_bounds_sums_are_exact(tmp_path: Path) -> None:
    one = audit(tmp_path / "a")
    assert one.ask("sum(pay)").answer == 362
    assert one.ask("sum(pay) where name != 'Ann'").denied


def test_a_dithered_sum_is_worked_out_again_from_others(tmp_path: Path) -> None:
    one = audit(tmp_path / "a", low=0, high=100, width=2, dither=True)
    whole, some = one.ask("sum(pay)"), one.ask("sum(pay) where name in ('Ann', 'Bea', 'Cid')")
    rest = one.ask("sum(pay) where not name in ('Ann', 'Bea', 'Cid')")
    assert None not in (whole.answer, some.answer, rest.answer)
    assert abs(
        Fraction(whole.answer or 0) - Fraction(some.answer or 0) - Fraction(rest.answer or 0)
    ) <= Fraction(2, 100)
    assert [entry.relation for entry in one.entries("pay")] == ["=", "=", None]


def test_entries_of_a_coarse_audit_are_denials_that_bind_nothing() -> None:
    auditor = Sums(4, 0, 10, 1, unit=1)
    assert auditor.decide(auditor.start(), 15, 20) == Decision(15, False, None, None)


def test_bounds_that_no_value_can_have_are_those_that_some_can(tmp_path: Path) -> None:
    whole = pl.DataFrame({"name": ["Ann", "Bea"], "pay": [1, 1]})
    table = shoal.table(whole, types={"name": "text", "pay": "integer"})
    one = shoal.Audit.new(
        tmp_path / "a", table, Secret("pay", low="0.5", high="4.5"), public=["name"]
    )
    assert one.ask("max(pay)").denied
    assert disclosed(one) == ()  # it may be 1 or 2, for each of them
    with pytest.raises(ParameterError, match="smaller width"):
        shoal.Audit.new(
            tmp_path / "b", table, Secret("pay", low="0.5", high="1.9"), public=["name"]
        )
    with pytest.raises(ParameterError, match="are whole"):
        Maxima(2, Fraction(1, 2), 4, integers=True)


def test_different_values_of_few_digits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="give each other away"):
        audit(tmp_path / "a", low=0, high=100, distinct=True, width="0.1")
    assert audit(tmp_path / "b", low=0, high=100, distinct=True, width=1).ask(
        "max(pay)"
    ).answer == Fraction(151, 2)


class Careless(Sums):
    """A twin that takes multiples of a unit for real numbers."""

    def is_coarse(self, state: SumState, people: int) -> bool:
        return False


def narrowest(people: int, high: int, entries: list[Decision]) -> int:
    """How far apart the possible values of some person are, of all whole tables with the answers that were given."""
    tables = np.array(list(product(range(high + 1), repeat=people)))
    for entry in entries:
        if entry.answered:
            asked = [person for person in range(people) if entry.people >> person & 1]
            tables = tables[tables[:, asked].sum(1) == entry.value]
    return int(np.ptp(tables, axis=0).min())


@pytest.mark.parametrize("unit", [1, None])
def test_four_sums_tell_whole_numbers_to_a_twin_that_takes_them_for_reals(unit: int | None) -> None:
    values, questions = (3, 1, 7, 4, 5), ((0, 3, 4), (1, 2, 3), (1, 4), (0, 2, 4))
    found = {}
    for auditor in (Sums(5, 0, 8, 2, unit=unit), Careless(5, 0, 8, 2, unit=unit)):
        state, entries = auditor.start(), []
        for people in questions:
            entries.append(
                auditor.decide(state, crowd(people), sum(values[person] for person in people))
            )
            state = auditor.after(state, entries[-1])
        found[type(auditor)] = narrowest(5, 8, entries)
    assert found[Careless] < 2
    assert (found[Sums] >= 2) == (
        unit == 1
    )  # real numbers are promised to nobody who knows that they are whole


def test_some_multiples_are_as_near_to_any_real_table_as_the_proof_says() -> None:
    drawn = random.Random(5)
    for _ in range(300):
        n = drawn.randint(2, 6)
        m = drawn.randint(1, n - 1)
        a = np.array([[drawn.randint(0, 1) for _ in range(n)] for _ in range(m)])
        chosen = next(
            (
                list(some)
                for some in combinations(range(n), m)
                if round(np.linalg.det(a[:, list(some)]))
            ),
            None,
        )
        if chosen is None:
            continue  # rows that are no basis are fewer
        basis = round(np.linalg.det(a[:, chosen]))
        kernel = []
        for other in (column for column in range(n) if column not in chosen):
            v = np.zeros(n, np.int64)
            v[other] = basis
            for place, column in enumerate(chosen):  # Cramer's rule
                minor = a[:, chosen].copy()
                minor[:, place] = a[:, other]
                v[column] = -round(np.linalg.det(minor))
            assert not (a @ v).any()
            kernel.append(v)
        shares = [drawn.uniform(-3, 3) for _ in kernel]
        real = sum(share * v for share, v in zip(shares, kernel, strict=True))
        near = sum(round(share) * v for share, v in zip(shares, kernel, strict=True))
        largest = ((m + 1) ** (m + 1) / 4**m) ** 0.5
        assert np.abs(real - near).max() <= n / 2 * largest + 1e-9


def test_widths_of_multiples_are_asked_for_with_room() -> None:
    bare, fine = Sums(3, 0, 8, 2).box, Sums(3, 0, 8, 2, unit=Fraction(1, 10**30)).box
    assert all(
        wider - width == Fraction(8, 2**38)
        for width, wider in zip(bare.width, fine.width, strict=True)
    )
