"""The exact law of what Columns releases, for all neighbours among tiny tables.

Broken twins that the same adversary catches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.attack.coins import Enumerated, Interval, exp, law, standard
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.methods.columns import Columns
from shoal.methods.columns import wide as wide_form
from shoal.methods.columns.wide import Wide
from shoal.privacy.sharing import CountParameters, Noise, column_parameters
from tests.columns_forms import (
    FORMS,
    Database,
    Groups,
    Law,
    Outcome,
    Record,
    both_forms,
    nothing,
    rows_of,
    table_of,
)

EPSILON, DELTA = 4, Fraction(1, 5)
CUT = Fraction(1, 5000)
SLACK = Fraction(1, 100)  # what the paths that are cut may weigh together; each twin is farther off


def law_of(
    form: str,
    database: Database,
    groups: Groups,
    most: int,
    parameters: CountParameters,
    cut: Fraction = CUT,
) -> Law:
    given = FORMS[form](database, 1 + max(place for group in groups for place in group))

    def run(chance: Enumerated) -> Outcome:
        return rows_of(given.release(groups, most, parameters, chance, nothing, True).laid)

    return law(run, cut=cut)


def neighbours(domain: Sequence[Record], records: int) -> Iterator[tuple[Database, Database]]:
    for size in range(records):
        for database in combinations_with_replacement(domain, size):
            for record in domain:
                yield database, tuple(sorted((*database, record), key=str))


def worst(
    form: str,
    domain: Sequence[Record],
    records: int,
    groups: Groups,
    most: int,
    spent: int,
    noise: Noise = "bounded",
) -> tuple[Fraction, Fraction]:
    """Bounds of the largest δ that neighbours need at ε, in both directions.

    The budget is spent on so many groups.
    """
    parameters = column_parameters(EPSILON, DELTA, spent, 2, noise)
    known: dict[Database, Law] = {}
    least = most_ = Fraction(0)
    for pair in neighbours(domain, records):
        laws = []
        for database in pair:
            database = tuple(sorted(database, key=str))
            if database not in known:
                known[database] = law_of(form, database, groups, most, parameters)
            laws.append(known[database])
        for one, other in (laws, laws[::-1]):
            needed = standard(one, other, exp(Fraction(EPSILON)))
            cut = [
                1 - sum((weight.low for weight in part.values()), Fraction(0))
                for part in (one, other)
            ]
            assert max(cut) < SLACK / 5
            most_ = max(most_, needed.high + cut[0])
            least = max(least, needed.low - cut[1] * exp(Fraction(EPSILON)).high)
    return least, most_


TWO: list[Record] = [(a, b) for a in (1, None) for b in (1, None)]
VALUES: list[Record] = [(1, 1), (2, None), (None, 2), (1, 2)]
CASES: dict[str, tuple[list[Record], int, Groups, int]] = {
    "two groups, one allowed": (TWO, 3, ((0,), (1,)), 1),
    "two groups, both allowed": (TWO, 3, ((0,), (1,)), 2),
    "two values": (VALUES, 3, ((0,), (1,)), 1),
    "overlapping": ([(1, 1, 1), (1, None, None), (None, 1, None)], 3, ((0, 1), (1, 2)), 1),
}


@both_forms
@pytest.mark.parametrize("noise", ["bounded", "printed"])
@pytest.mark.parametrize("case", CASES)
def test_every_output_keeps_the_bound_for_all_neighbours(
    form: str, noise: Noise, case: str
) -> None:
    domain, records, groups, most = CASES[case]
    least, needed = worst(form, domain, records, groups, most, most, noise)
    assert needed <= DELTA + SLACK
    assert least > 0  # the adversary sees something at all


# Broken twins: the same adversary catches each of them


def test_a_bound_on_groups_that_is_not_enforced_is_caught() -> None:
    least, _ = worst(
        "wide", TWO, 3, ((0,), (1,)), 2, 1
    )  # two groups are given, and one is paid for
    assert least > DELTA + SLACK
    least, _ = worst("long", TWO, 3, ((0,), (1,)), 2, 1)
    assert least > DELTA + SLACK


def test_all_null_projections_that_are_published_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A twin that publishes them beside what was chosen: a record is then seen in every group."""
    right = Wide.projected

    def published(self: Wide, groups: Groups, most: int, chance: Chance) -> Iterator[Any]:
        nulls = (self.counts.count[:, None] * ~self._given(groups)).sum(axis=0).tolist()
        for found, number in zip(right(self, groups, most, chance), nulls, strict=True):
            codes = tuple(
                np.append(codes, card - 1)
                for codes, card in zip(found.codes, found.cards, strict=True)
            )
            yield replace(found, codes=codes, count=np.append(found.count, number))

    monkeypatch.setattr(Wide, "projected", published)
    least, _ = worst("wide", [(1, None, None), (None, 1, None)], 3, ((0,), (1,), (2,)), 1, 1)
    assert least > DELTA + SLACK


PAIRED, CROSSED = (
    ((1, 1), (1, 1), (2, 2), (2, 2)),
    ((1, 2), (1, 2), (2, 1), (2, 1)),
)  # the same projections, linked otherwise


@both_forms
def test_which_projections_belong_to_one_record_is_not_told(form: str) -> None:
    parameters = column_parameters(EPSILON, Fraction(9, 10), 2, 2)  # so that much is released
    one, other = (
        law_of(form, database, ((0,), (1,)), 2, parameters, Fraction(1, 100))
        for database in (PAIRED, CROSSED)
    )
    assert one == other


def test_the_same_order_in_all_groups_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that releases each group's rows in the order of the records."""

    def in_order(names: Any, codes: Any, cards: Any, count: Any = None) -> Counts:
        often: dict[tuple[int, ...], int] = {}
        rows = list(zip(*(column.tolist() for column in codes), strict=True))
        for row, times in zip(
            rows, [1] * len(rows) if count is None else count.tolist(), strict=True
        ):
            often[row] = often.get(row, 0) + times
        columns = tuple(np.array(column, dtype=np.uint8) for column in zip(*often, strict=True))
        return Counts(tuple(names), columns, tuple(cards), np.array([*often.values()]))

    monkeypatch.setattr(wide_form, "group", in_order)
    parameters = column_parameters(EPSILON, Fraction(9, 10), 2, 2)  # so that much is released
    one, other = (
        law_of("wide", database, ((0,), (1,)), 2, parameters, Fraction(1, 100))
        for database in (PAIRED, CROSSED)
    )
    assert one != other


def everything(table: shoal.Table, method: Columns) -> dict[tuple[str, ...], Interval]:
    """The law of all that leaves: rows, types, certificate."""

    def run(chance: Enumerated) -> tuple[str, ...]:
        made = method.release(table, chance)
        return str(made.table.rows()), str(made.table.schema), made.certificate.to_json()

    return law(run, cut=Fraction(1, 500))


@both_forms
def test_all_that_leaves_keeps_the_bound(form: str) -> None:
    method = Columns(EPSILON, DELTA, 2, 1, schema=[["c0"], ["c1"], ["c0"]])
    if form == "long":
        method = replace(method, person="who", item="item", value="value")
    domain: list[Record] = [(1, 1), (2, None), (None, None)]
    known: dict[Database, dict[tuple[str, ...], Interval]] = {}

    def law_at(database: Database) -> dict[tuple[str, ...], Interval]:
        if database not in known:
            known[database] = everything(table_of(form, database), method)
        return known[database]

    for pair in neighbours(domain, 2):
        for one, other in (pair, pair[::-1]):
            laws = law_at(one), law_at(other)
            missing = 1 - sum((weight.low for weight in laws[0].values()), Fraction(0))
            assert missing < SLACK
            assert standard(*laws, exp(Fraction(EPSILON))).high <= DELTA + SLACK
            assert {told[1:] for told in laws[0]} == {
                told[1:] for told in laws[1]
            }  # types and certificate are always the same
