"""The search of SafePub: the law of its choice, its sample, and lattices beyond any array."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import NoisyCounts, SafePub, demo
from shoal.attack.coins import Interval, exp, flipped, law, shipped
from shoal.chance import Seeded
from shoal.data import free_memory
from shoal.errors import TooLargeError
from shoal.lattice import Node
from shoal.lattice.optimum import Optimum
from shoal.methods.method import Method
from shoal.methods.searching import search
from shoal.methods.searching.scores import SCORES, Candidates
from shoal.methods.searching.search import _rows_of_sample, drawn, sampled_k, select
from tests.methods.test_safepub import SEXES, people
from tests.methods.test_searching_scores import (
    CHAIN,
    FOUR,
    GRID,
    THREE,
    TWO,
    Record,
    cards,
    counts,
    nodes,
    plain,
    space,
)


def by_enumeration(
    name: str, where: Candidates, records: Sequence[Record], k: int, rate: Fraction
) -> dict[Node, Interval]:
    """The law of permute-and-flip over all nodes, from the scores' definitions."""
    found = {node: plain(name, where, records, k, node) for node in nodes(where)}
    best = max(found.values())
    return dict(
        zip(found, flipped([exp(rate * (score - best)) for score in found.values()]), strict=True)
    )


def assert_same(one: dict[Node, Interval], other: dict[Node, Interval]) -> None:
    assert {node for node, weight in one.items() if weight.high > 10**-60} == {
        node for node, weight in other.items() if weight.high > 10**-60
    }
    assert all(
        abs(float(weight - other[node])) < 1e-60 for node, weight in one.items() if node in other
    )


@st.composite
def searches(draw: st.DrawFn) -> tuple[str, Candidates, list[Record], int, Fraction]:
    """A score, a small lattice, a sample, a k and a rate per unit of the score's spread."""
    name = draw(st.sampled_from(list(SCORES)))
    trees = draw(st.lists(st.sampled_from([TWO, THREE, FOUR]), min_size=1, max_size=2))
    given_importance = {str(j): Fraction(draw(st.integers(1, 4)), 4) for j in range(len(trees))}
    others = [None] * draw(st.integers(name == "classification", 2))
    last = len(trees) + len(others)
    ceiling = {"0": draw(st.integers(0, trees[0].height))}
    bounds = {"ceiling": ceiling, "floor": {"0": draw(st.integers(0, ceiling["0"]))}}
    classes = range(len(trees), last) if name == "classification" else ()
    where = space(*trees, *others, classes=classes, importance=given_importance, **bounds)
    codes = st.tuples(*(st.integers(0, card - 1) for card in cards(where)))
    few = draw(st.lists(codes, max_size=5))  # some records often: groups of all sizes
    records = [record for record in few for _ in range(draw(st.integers(1, 7)))]
    return (
        name,
        where,
        records,
        draw(st.integers(1, 9)),
        draw(st.fractions(Fraction(1, 20), 3, max_denominator=20)),
    )


@given(searches())
@settings(max_examples=250)
def test_the_choice_has_the_law_of_permute_and_flip_over_all_nodes(
    search: tuple[str, Candidates, list[Record], int, Fraction],
) -> None:
    name, where, records, k, epsilon = search
    sample, rate = counts(where, records), epsilon / SCORES[name].spread(where, k)
    found = law(
        lambda chance: select(where, SCORES[name], sample, k, epsilon, chance, lambda *_: None)
    )
    assert_same(found, by_enumeration(name, where, records, k, rate))


@pytest.mark.parametrize("name", ["granularity", "groups"])
@pytest.mark.parametrize("records", [[], [(0,)] * 4 + [(2,)], [(0,)] * 3 + [(1,)] * 2 + [(2,)] * 4])
def test_coin_by_coin_the_law_is_the_same(name: str, records: list[Record]) -> None:
    """As shipped down to the coins of e^-x and the order of the candidates."""
    sample, epsilon = counts(CHAIN, records), Fraction(1)
    rate = epsilon / SCORES[name].spread(CHAIN, 4)
    found = law(
        lambda chance: select(CHAIN, SCORES[name], sample, 4, epsilon, chance, lambda *_: None),
        shipped("permute_and_flip_lazily"),
    )
    assert_same(found, by_enumeration(name, CHAIN, records, 4, rate))


def test_a_bound_below_a_score_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin whose bounds on what suppression takes are too high."""
    sample = counts(GRID, [(0, 0)] * 5 + [(1, 0)] * 3 + [(1, 1)] * 2)
    run = Optimum.run

    def eager(optimum: Optimum) -> Any:
        found = run(optimum)
        optimum.excess += 1 + optimum.plain.max()
        return found

    monkeypatch.setattr(Optimum, "run", eager)
    with pytest.raises(AssertionError, match="bound"):
        law(
            lambda chance: select(
                GRID, SCORES["granularity"], sample, 4, Fraction(1), chance, lambda *_: None
            )
        )


def test_a_large_lattice_is_searched_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "LARGEST", 10)
    monkeypatch.setattr(search, "PART", 3)
    seen: list[float] = []
    found = {
        tuple(
            SafePub(1, "1e-3")
            .release(people(50), progress=lambda done, total, _: seen.append(done / total))
            .certificate.levels.values()
        )
        for _ in range(5)
    }
    assert found <= {(a, t, s) for a in range(3) for t in range(3) for s in range(2)}
    assert len(seen) == 5 * (4 + 3)


@pytest.mark.parametrize("how", ["select", "walk"])
@pytest.mark.parametrize("score", ["granularity", "intensity", "groups"])
def test_a_lattice_beyond_any_array_is_searched(
    score: str, how: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PART", 50)
    names = [f"c{j}" for j in range(70)]
    frame = pl.DataFrame({name: ["f", "m"] * 20 for name in names})
    given = shoal.table(frame, quasi=names, hierarchies=dict.fromkeys(names, SEXES))
    found = SafePub(1, "1e-3", score=score, search=how, steps=3).release(given)
    assert set(found.certificate.levels) == set(names)


@given(st.integers(1, 500), st.fractions(Fraction(1, 100), 1), st.integers(-(10**6), 10**12))
def test_a_search_looks_at_a_part_that_shrinks_as_the_table_grows(
    k: int, beta: Fraction, about: int
) -> None:
    assert min(k, search.LEAST) <= sampled_k(k, beta, about + 1) <= sampled_k(k, beta, about) <= k
    assert search.ramped(k) >= 1


def test_a_small_table_is_searched_as_it_would_be_released() -> None:
    assert sampled_k(58, Fraction(3, 5), 5_000) == 58
    assert sampled_k(58, Fraction(3, 5), 10**9) == search.LEAST


@pytest.mark.parametrize(
    "method", [SafePub(1, "1e-6"), NoisyCounts(1, "1e-6")], ids=["safepub", "noisy-counts"]
)
def test_a_sample_that_does_not_fit_is_refused_and_nothing_is_spent(
    method: Method, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hospital = demo.table()
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", epsilon=2, delta="1e-5")
    monkeypatch.setattr(free_memory, "available", lambda: 100_000)
    with pytest.raises(TooLargeError, match=r"choosing levels on a sample.*give `levels`"):
        ledger.release(method, hospital)
    assert not ledger.account().reserved


def test_the_rows_of_a_sample_are_foreseen() -> None:
    given = demo.table().count(["age", "sex", "ward"], {})
    sample = drawn(given, Fraction(1, 10), Seeded(1))
    rows = np.count_nonzero(sample.count)
    assert _rows_of_sample(given, 0.1) == pytest.approx(rows, rel=0.1)
    assert _rows_of_sample(given, 1.0) == given.distinct
