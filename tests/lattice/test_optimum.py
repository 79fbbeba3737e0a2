"""The search: it finds what full enumeration finds, and looks at far fewer nodes."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data import free_memory
from shoal.data.hierarchy import Hierarchy
from shoal.errors import InfeasibleError, TooLargeError
from shoal.lattice import Lattice, optimum
from shoal.measure.loss import LOSSES
from shoal.methods import optimal
from shoal.methods.optimal import search
from shoal.privacy.models import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    TCloseness,
    holds_all,
)
from tests.lattice.small import (
    Problem,
    Rows,
    a_larger_lattice,
    best_of_all,
    counted,
    exhaustive,
    problems,
    small_tables,
    wide_problems,
)

MODELS: list[tuple[Model, ...]] = [
    (KAnonymity(2),),
    (KAnonymity(4), KAnonymity(3)),
    (KAnonymity(2), DistinctDiversity("s", 2)),
    (EntropyDiversity("s", 2),),
    (TCloseness("s", "0.4"), KAnonymity(2)),
]


class Aim(NamedTuple):
    """What a search is asked for."""

    models: tuple[Model, ...]
    loss: str
    suppression: Fraction


aims = st.builds(
    Aim,
    st.sampled_from(MODELS),
    st.sampled_from(sorted(LOSSES)),
    st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)]),
)


@pytest.mark.usefixtures("engine")
@settings(max_examples=60)
@given(problems(), aims)
def test_the_search_finds_what_full_enumeration_finds(problem: Problem, aim: Aim) -> None:
    check_search(*problem, aim)


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
@exhaustive
@given(wide_problems, aims)
def test_the_search_of_wider_tables_finds_what_full_enumeration_finds(
    problem: Problem, aim: Aim
) -> None:
    check_search(*problem, aim)


def check_search(hierarchies: dict[str, Hierarchy], rows: Rows, aim: Aim) -> None:
    models, loss, suppression = aim
    lattice = Lattice(counted(hierarchies, rows), hierarchies)
    expected = best_of_all(lattice, models, loss, int(suppression * len(rows)))
    if expected is None:
        with pytest.raises(InfeasibleError, match="allow more suppression"):
            search(lattice, models, LOSSES[loss], suppression)
        return
    found = search(lattice, models, LOSSES[loss], suppression)
    assert found.loss == pytest.approx(expected[0], abs=1e-6)
    assert found.node == expected[1]
    groups = lattice.groups(found.node)
    assert found.suppressed == groups.sizes[~holds_all(models, groups)].sum()


def test_threads_find_what_one_thread_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchies, counts = a_larger_lattice(4, 2000)
    alone = search(Lattice(counts, hierarchies), [KAnonymity(5)], LOSSES["granularity"], 1)
    small_tables(monkeypatch, PARALLEL=1, THREADS=4, SMALL=10, WANTED=1, STEP=2)
    for _ in range(10):
        found = search(Lattice(counts, hierarchies), [KAnonymity(5)], LOSSES["granularity"], 1)
        assert (found.node, found.suppressed) == (alone.node, alone.suppressed)
        assert found.loss == pytest.approx(alone.loss)


def test_little_memory_changes_nothing_but_what_is_done_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hierarchies, counts = a_larger_lattice(4, 2000)
    small_tables(monkeypatch, PARALLEL=1)
    expected = search(Lattice(counts, hierarchies), [KAnonymity(5)], LOSSES["granularity"], 1)
    pools = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, threads: int) -> None:
            pools.append(threads)
            super().__init__(threads)

    small_tables(monkeypatch, WEIGHED=7)
    monkeypatch.setattr(optimum, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(free_memory, "available", lambda: 2000)
    found = search(Lattice(counts, hierarchies), [KAnonymity(5)], LOSSES["granularity"], 1)
    assert (found.node, found.suppressed) == (expected.node, expected.suppressed)
    assert found.loss == pytest.approx(expected.loss)
    assert pools == [1]


def test_the_search_evaluates_a_small_part_of_the_lattice() -> None:
    hierarchies, counts = a_larger_lattice()
    lattice = Lattice(counts, hierarchies)
    assert search(lattice, [KAnonymity(5)], LOSSES["granularity"], 1).evaluated < lattice.size / 4


@pytest.mark.parametrize(
    "broken",
    [
        lambda found: found._replace(
            lasting_excess=found.lasting_excess * 1.5 + 9
        ),  # a bound that is too high
        lambda found: found._replace(excess=found.excess * 0.5),  # a loss that is too low
        lambda found: found._replace(excess=found.excess + 1),
    ],
)
def test_a_search_with_a_wrong_bound_is_caught(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[optimum.Evaluation], optimum.Evaluation]
) -> None:
    """The twin of `test_the_search_finds_what_full_enumeration_finds`: a broken bound does change
    what is found."""
    right = optimum.Optimum._limited
    monkeypatch.setattr(
        optimum.Optimum, "_limited", lambda self, small, rule: broken(right(self, small, rule))
    )
    for seed, k in itertools.product(range(20), (2, 3, 5)):
        hierarchies, counts = a_larger_lattice(3, 100, seed)
        lattice = Lattice(counts, hierarchies)
        found = search(lattice, [KAnonymity(k)], LOSSES["granularity"], 1)
        expected = best_of_all(lattice, (KAnonymity(k),), "granularity", lattice.total)
        assert expected is not None
        if found.node != expected[1] or abs(found.loss - expected[0]) > 1e-6:
            return
    pytest.fail("no search went wrong")


def test_a_lattice_too_large_says_how_large_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchies, counts = a_larger_lattice(2)
    monkeypatch.setattr(optimal, "LARGEST", 15)
    monkeypatch.setattr(optimal, "ENUMERATED", 15)
    for loss in ("granularity", "discernibility"):
        with pytest.raises(TooLargeError, match=r"16 nodes .* floor or ceiling"):
            search(Lattice(counts, hierarchies), [KAnonymity(2)], LOSSES[loss])


def test_a_lattice_of_one_node_has_that_node_as_its_best() -> None:
    hierarchies, counts = a_larger_lattice(2)
    levels = {"c0": 1, "c1": 2}
    found = search(
        Lattice(counts, hierarchies, floor=levels, ceiling=levels),
        [KAnonymity(5)],
        LOSSES["granularity"],
        1,
    )
    assert (found.node, found.evaluated) == ((1, 2), 1)
