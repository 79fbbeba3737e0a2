"""The genetic search: what it finds keeps the utility, is a frontier of paths, and is near the
lowest risk on adult.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import Stopped
from shoal.methods.personal import People, Personal, genetic
from shoal.methods.personal.alone import Alone
from shoal.methods.personal.crowds import Best, Floats

TOWN = Hierarchy.from_lines([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
AGE = Hierarchy.from_lines([[str(i), str(i // 2), f"{i // 4}.", "*"] for i in range(8)])
SEX = Hierarchy.from_lines([["f", "*"], ["m", "*"]])
Records = list[tuple[str, str, str, str | None]]

records = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.integers(0, 7).map(str),
        st.sampled_from("fm"),
        st.sampled_from(["strict", "normal", "open", None]),
    ),
    max_size=30,
)
methods = st.builds(
    Personal,
    st.integers(0, 10).map(lambda tenths: Fraction(tenths, 10)),
    solver=st.just("genetic"),
    measure=st.sampled_from(["leaves", "log", "depth"]),
    model=st.sampled_from(["fixed", "uniform", "harmonic"]),
    choice=st.sampled_from([None, "choice"]),
    effort=st.sampled_from([1, 2, 5, 1000]),
)


def table_of(rows: Records) -> Table:
    names = ["town", "age", "sex", "choice"]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return shoal.table(
        frame,
        quasi=names[:3],
        identifying=["choice"],
        hierarchies={"town": TOWN, "age": AGE, "sex": SEX},
    )


def lattice(people: People) -> list[tuple[int, ...]]:
    return list(product(*(range(height + 1) for height in people.crowds.heights)))


def solved(people: People, seed: int = 1) -> list[Floats]:
    found = people.solve(Seeded(seed), lambda done, total, what: None)
    for want, chosen in zip(people.wanted, found, strict=True):
        assert (chosen.worth >= want.floor).all()
        assert (
            people.crowds.sum_of(people.utility, want.rows, chosen.levels) == chosen.worth
        ).all()
    return [chosen.risk for chosen in found]


@settings(max_examples=30)
@given(records, methods, st.integers(0, 5))
def test_every_record_keeps_its_utility_and_no_risk_is_below_the_lowest(
    rows: Records, method: Personal, seed: int
) -> None:
    people = People.of(method, table_of(rows))
    lowest = People.of(
        Personal(method.utility, measure=method.measure, model=method.model, choice=method.choice),
        table_of(rows),
    )
    for found, least in zip(solved(people, seed), solved(lowest), strict=True):
        assert (found >= least).all()
    assert all(
        (a == b).all() for a, b in zip(solved(people, seed), solved(people, seed), strict=True)
    )


def test_on_a_small_lattice_it_finds_the_lowest_risks() -> None:
    rng = np.random.default_rng(3)
    rows: Records = [
        (str(rng.choice([*"abcd"])), str(rng.integers(8)), str(rng.choice([*"fm"])), None)
        for _ in range(60)
    ]
    for share in ("1/5", "1/2", "4/5"):
        found, least = (
            solved(People.of(Personal(share, solver=solver), table_of(rows)))
            for solver in _solvers()
        )
        assert np.allclose(found, least)


def _solvers() -> tuple[Literal["genetic"], Literal["exact"]]:
    return "genetic", "exact"


@settings(max_examples=30)
@given(records.filter(bool), methods, st.integers(0, 9))
def test_every_path_ends_in_a_frontier_node_that_no_coarser_one_betters(
    rows: Records, method: Personal, seed: int
) -> None:
    people = People.of(method, table_of(rows))
    alone = Alone(people, Best(people.crowds, people.utility, people.wanted))
    chance = Seeded(seed)
    for parent in alone.draw(chance, 2):
        worths, columns = alone.worths(parent), np.arange(3)
        (litter,) = genetic.litters(alone, [parent], chance)
        for node in litter:
            assert worths[columns, node].sum() >= alone.floor(parent)
            for column in range(3):
                if node[column] < people.crowds.heights[column]:
                    coarser = [level + (other == column) for other, level in enumerate(node)]
                    assert worths[columns, coarser].sum() < alone.floor(parent)


def test_it_ends_after_its_effort_and_can_be_stopped() -> None:
    rows: Records = [
        (town, str(age), sex, None) for town in "abcd" for age in range(8) for sex in "fm"
    ]
    for effort in (1, 2, 7):
        told: list[tuple[int, int]] = []
        people = People.of(Personal("1/2", solver="genetic", effort=effort), table_of(rows))
        people.solve(Seeded(1), lambda done, total, what: told.append((done, total)))  # noqa: B023
        assert all(done <= total == effort for done, total in told[1:-1])
        assert bool(told[1:-1]) == (effort > 1)

    def stop(done: int, total: int, what: str) -> None:
        if done > 1:
            raise Stopped("enough")

    with pytest.raises(Stopped):
        People.of(Personal("1/2", solver="genetic"), table_of(rows)).solve(Seeded(1), stop)


def test_by_default_it_also_ends_once_climbing_was_much_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_default = Personal("1/2", measure="depth", solver="genetic")

    def counted(method: Personal) -> int:
        offered: list[int] = []
        offer = Best.offer

        def noted(best: Best, *given: Any) -> int:
            taken = offer(best, *given)
            offered.append(len(best.offered))
            return taken

        with monkeypatch.context() as patched:
            patched.setattr(Best, "offer", noted)
            solved(People.of(method, table))
        return offered[-1]

    table = wide(6, 400)
    unbounded = counted(by_default)
    monkeypatch.setattr(genetic, "CELLS", 1)
    fewest = genetic.FEWEST * 6
    # The generation that reaches the bound is finished.
    assert fewest <= counted(by_default) < fewest + genetic.BROOD < unbounded
    assert counted(replace(by_default, effort=unbounded)) == unbounded


def test_a_table_without_rows_is_released() -> None:
    assert [
        len(risk) for risk in solved(People.of(Personal("1/2", solver="genetic"), table_of([])))
    ] == [0]


@pytest.mark.parametrize(
    ("share", "measure"), [pytest.param("1/2", "leaves", marks=pytest.mark.slow), ("7/10", "depth")]
)
def test_on_adult_the_mean_risk_is_within_seven_percent_of_the_lowest(
    shared_data: Path, share: str, measure: Literal["leaves", "depth"]
) -> None:
    folder = shared_data / "adult" / "hierarchies"
    hierarchies = {
        path.stem: Hierarchy.from_lines(
            [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()], root="*"
        )
        for path in folder.glob("*.csv")
    }
    table = shoal.read(shared_data / "adult" / "adult.csv", hierarchies=hierarchies)
    table = table.with_roles(quasi=table.names)

    def mean(solver: Literal["genetic", "exact"], effort: int = 1000) -> float:
        people = People.of(Personal(share, solver=solver, measure=measure, effort=effort), table)
        return float(people.facts(people.solve(Seeded(1), lambda done, total, what: None)).risk)

    lowest = mean("exact")
    assert (
        lowest <= mean("genetic") <= 1.07 * lowest < mean("genetic", 20)
    )  # a search that gives up early is noticed


def wide(columns: int, rows: int) -> Table:
    """A table of independent, skewed columns, each with four levels."""
    rng = np.random.default_rng(7)
    weights = 1 / np.arange(1, 9) ** 1.4
    drawn = rng.choice(8, (columns, rows), p=weights / weights.sum())
    frame = pl.DataFrame({f"c{j}": list(map(str, codes)) for j, codes in enumerate(drawn.tolist())})
    trees = dict.fromkeys(frame.columns, AGE)
    return shoal.table(frame, quasi=frame.columns, hierarchies=trees, rows_are_people=True)


def test_off_adult_the_mean_risk_is_within_two_percent_of_the_lowest() -> None:
    people = People.of(Personal("1/2", measure="depth", solver="genetic"), wide(6, 400))
    exactly = replace(people, method=replace(people.method, solver="exact"))

    def mean(people: People) -> float:
        return people.facts(people.solve(Seeded(1), lambda done, total, what: None)).risk

    lowest = mean(exactly)
    assert lowest <= mean(people) <= 1.02 * lowest
    few = replace(people, method=replace(people.method, effort=20))
    assert mean(few) > 1.1 * lowest  # a search that gives up early is noticed
