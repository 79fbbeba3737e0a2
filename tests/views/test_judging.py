"""What a procedure reveals to someone who knows it."""

from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import combinations

import pytest

from shoal.errors import ParameterError, TooLargeError
from shoal.views import (
    Candidate,
    View,
    Views,
    check,
    plan,
    posterior,
    restore,
    worlds,
)
from shoal.views.model import Value
from tests.views.cases import HALF, chapter, intervals, shown


def printed(
    views: Views, candidates: list[Candidate], most: int
) -> Callable[[tuple[Value, ...]], Hashable]:
    """The chapter's procedure: the first candidates that restore, or "failed" if there are none."""

    def procedure(table: tuple[Value, ...]) -> Hashable:
        for size in range(1, most + 1):
            for some in combinations(candidates, size):
                more = [one.view(table) for one in some]
                if check(views.also(*more)).private:
                    return shown(more)
        return "failed"

    return procedure


def test_the_printed_procedure_reveals_something_by_failing() -> None:
    views = chapter("6.3A", "6.3B")
    tables = worlds(views)
    assert len(tables) == 45
    beliefs = posterior(printed(views, intervals(views), 2), tables)
    assert beliefs["failed"].share == Fraction(31, 45)
    assert beliefs["failed"].beliefs[3]["S"] == Fraction(28, 31)


def leaks(
    views: Views, procedure: Callable[[tuple[Value, ...]], tuple[View, ...]]
) -> list[Fraction]:
    """By how much belief after an output differs from what its views reveal, at most."""
    tables = worlds(views)
    put = {table: procedure(table) for table in tables}
    beliefs = posterior(lambda table: shown(put[table]), tables)
    found = []
    for table in {shown(put[table]): table for table in tables}.values():
        by_views = check(views.also(*put[table]))
        own = beliefs[shown(put[table])]
        found.append(
            max(
                abs(
                    by_views.of(person).shares.get(value, Fraction(0))
                    - own.beliefs[person].get(value, Fraction(0))
                )
                for person in range(len(views.people))
                for value in views.values
            )
        )
    return found


def test_a_plan_reveals_no_more_than_its_views() -> None:
    views = chapter("6.3A", "6.3B")
    by = plan(views, intervals(views))
    assert by.candidates
    assert set(leaks(views, by.shown)) == {0}


def test_a_plan_that_listed_values_in_the_order_of_people_would_be_noticed() -> None:
    views = chapter("6.3A", "6.3B")
    by = plan(views, intervals(views))

    def twin(table: tuple[Value, ...]) -> tuple[View, ...]:
        return tuple(
            View(one.name, one.people, [table[person] for person in sorted(one.people)])
            for one in by.candidates
        )

    assert max(leaks(views, twin)) > 0


def test_a_choice_that_looks_at_the_table_reveals_more_than_its_views() -> None:
    """The broken twin of a plan: it restores wherever it can."""
    views = chapter("6.3A", "6.3B")
    candidates = intervals(views)
    tables = worlds(views)
    added = {table: restore(views, table, candidates).added for table in tables}
    assert max(leaks(views, added.__getitem__)) > 0
    beliefs = posterior(lambda table: shown(added[table]), tables)
    assert max(one.largest for one in beliefs.values()) > HALF


def test_all_possible_tables_are_listed() -> None:
    views = chapter("6.3A", "6.3B")
    tables = worlds(views)
    assert len(set(tables)) == len(tables) == 45
    for view in views.views:
        assert all(Counter(table[one] for one in view.people) == view.bag for table in tables)
    with pytest.raises(TooLargeError, match="44"):
        worlds(views, 44)
    with pytest.raises(ParameterError, match="no view"):
        worlds(Views(8, views.views))
