"""The linear programs: never below the truth, equal to the program with a variable for every
person, and no factor kept.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import Stopped
from shoal.lattice import Node
from shoal.methods.personal import People, Personal
from shoal.methods.personal.alone import Alone
from shoal.methods.personal.crowds import Best, Floats
from shoal.methods.personal.models import Ints, Sensitivity, Utility
from shoal.methods.personal.relaxed import Relaxation

TOWN = Hierarchy.from_lines([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
AGE = Hierarchy.from_lines([[str(i), str(i // 2), f"{i // 4}.", "*"] for i in range(8)])
SEX = Hierarchy.from_lines([["f", "*"], ["m", "*"]])
Records = list[tuple[str, str, str]]

records = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 7).map(str), st.sampled_from("fm")),
    min_size=1,
    max_size=30,
)
shares = st.sampled_from(["0", "1/5", "1/3", "1/2", "7/10", "9/10", "1"])
measures = st.sampled_from(["leaves", "log", "depth"])
models = st.sampled_from(["fixed", "uniform", "harmonic"])


def table_of(rows: Records) -> Table:
    names = ["town", "age", "sex"]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return shoal.table(frame, quasi=names, hierarchies={"town": TOWN, "age": AGE, "sex": SEX})


def problems(people: People) -> list[Relaxation]:
    """That of the first row, and of the last."""
    alone = Alone(people, Best(people.crowds, people.utility, people.wanted))
    return [Relaxation.of(alone, row) for row in {0, len(people.wanted[0].rows) - 1}]


def lattice(problem: Relaxation) -> list[Node]:
    return list(product(*(range(height + 1) for height in problem.heights)))


def summed(parts: Ints, nodes: Sequence[Node]) -> Ints:
    return np.asarray(parts[np.arange(parts.shape[0]), np.array(nodes)].sum(axis=1))


def with_a_variable_for_everyone(problem: Relaxation, bound: float) -> float:
    """Problem (5) as it stands: people with the same lowest levels at which they look like the
    record share a variable.
    """
    nodes, heights = lattice(problem), problem.heights
    sizes = dict(zip(nodes, problem.sizes(nodes).tolist(), strict=True))
    kinds = {}  # how many are first met at a node: by inclusion and exclusion
    for node in nodes:
        signs = product(*([(0, 1), (1, -1)] if level else [(0, 1)] for level in node))
        kinds[node] = sum(
            int(np.prod([sign for _, sign in steps]))
            * sizes[tuple(level - down for level, (down, _) in zip(node, steps, strict=True))]
            for steps in signs
        )
    met = [node for node, many in kinds.items() if many]
    steps = [
        (column, level) for column, height in enumerate(heights) for level in range(1, height + 1)
    ]
    wide = len(steps) + len(met)
    rows, limits = [], []
    for place, node in enumerate(met):
        for column, level in enumerate(node):
            row = np.zeros(wide)
            row[len(steps) + place] = 1
            if level:
                row[steps.index((column, level))] = -1
            rows.append(row)
            limits.append(0.0 if level else 1.0)
    for place, (column, level) in enumerate(steps):
        if level > 1:
            row = np.zeros(wide)
            row[place], row[steps.index((column, level - 1))] = 1, -1
            rows.append(row)
            limits.append(0.0)
    for parts, sign, limit in (
        (problem.worths, 1, problem.worths[:, 0].sum() - problem.floor),
        (problem.shown, -1, None),
    ):
        row = np.zeros(wide)
        row[: len(steps)] = [
            sign * (parts[column, level - 1] - parts[column, level]) for column, level in steps
        ]
        rows.append(row / parts[:, 0].sum())
        limits.append((bound - 1) if limit is None else limit / parts[:, 0].sum())
    gain = np.zeros(wide)
    gain[len(steps) :] = [-kinds[node] for node in met]
    return float(-linprog(gain, A_ub=np.array(rows), b_ub=limits, bounds=(0, 1)).fun)


@settings(max_examples=30)
@given(records, shares, measures, models)
def test_programs_are_never_below_the_truth(
    rows: Records, share: str, measure: Utility, model: Sensitivity
) -> None:
    people = People.of(Personal(share, measure=measure, model=model), table_of(rows))
    for problem in problems(people):
        nodes = lattice(problem)
        own = problem.shown[:, 0].sum()
        kept = summed(problem.worths, nodes) >= problem.floor
        shown, sizes = summed(problem.shown, nodes) / own, problem.sizes(nodes)
        for bound in problem.bounds():
            there = kept & (shown <= bound * (1 + 1e-9))
            solved = problem.solve(bound)
            if there.any():
                assert solved is not None
                assert solved[0] >= sizes[there].max() * (1 - 1e-6)
        lowest = problem.bounds()[0]
        assert (
            shown[kept & (shown > 0)] >= lowest * (1 - 1e-6)
        ).all()  # no node is below all bounds


@settings(max_examples=20)
@given(records, shares, measures, models)
def test_planes_come_to_the_program_with_a_variable_for_everyone(
    rows: Records, share: str, measure: Utility, model: Sensitivity
) -> None:
    people = People.of(Personal(share, measure=measure, model=model), table_of(rows))
    for problem in problems(people):
        bound = 1.0 if share == "1" else problem.bounds()[-2:][0] * 1.01
        solved = problem.solve(min(bound, 1.0), 500)
        assert solved is not None
        assert solved[0] == pytest.approx(
            with_a_variable_for_everyone(problem, min(bound, 1.0)), rel=1e-4
        )
        assert problem.programs < 500


@settings(max_examples=30)
@given(records, shares, measures, models)
def test_what_is_rounded_is_repaired_and_can_be_no_coarser(
    rows: Records, share: str, measure: Utility, model: Sensitivity
) -> None:
    people = People.of(Personal(share, measure=measure, model=model), table_of(rows))
    for problem in problems(people):
        for bound in problem.bounds():
            solved = problem.solve(bound)
            for node in problem.nodes(solved[1]) if solved else ():
                worth = int(summed(problem.worths, [node])[0])
                assert worth >= problem.floor
                for column in range(3):
                    if node[column] < problem.heights[column]:
                        coarser = tuple(
                            level + (other == column) for other, level in enumerate(node)
                        )
                        assert summed(problem.worths, [coarser])[0] < problem.floor


def test_the_factor_that_the_paper_claims_is_not_kept() -> None:
    """One column: 1, 10, 1000 people at its levels, worth 1, 9/10 and 0 of which 9/10 is to be
    kept; the sensitivity is 1.
    """
    theta, least_kept, most_shown, epsilon = 0.9, 0.5, 1.3, 0.1
    assert (1 - theta) / (1 - theta * least_kept) + 1 / most_shown < 1  # what the theorem asks for
    crowd: dict[Node, int] = {(0,): 1, (1,): 10, (2,): 1000}
    problem = Relaxation(
        (2,),
        np.array([[10, 9, 0]]),
        np.array([[1, 1, 1]]),
        9,
        lambda nodes: np.array([crowd[node] for node in nodes]),
    )
    assert problem.bounds() == [1.0]
    solved = problem.solve(1.0)
    assert solved is not None
    value, x = solved
    assert value == pytest.approx(100.9)  # far above the 10 that are possible
    assert x == pytest.approx([0.1, 0.1])
    accepted = [
        node
        for node in problem.rounded(x)
        if summed(problem.worths, [node])[0] >= least_kept * problem.floor
    ]
    assert accepted == [(0,)]  # whatever is drawn, the record as it is comes out: 1 / risk is 1
    claimed = crowd[1,] / (most_shown * (1 + epsilon))
    assert claimed > 6.9 > 1
    assert set(problem.nodes(x)) == {(1,)}  # repair finds what no threshold gives


def risks(people: People, seed: int = 1) -> Floats:
    found = people.solve(Seeded(seed), lambda done, total, what: None)
    for want, chosen in zip(people.wanted, found, strict=True):
        assert (chosen.worth >= want.floor).all()
        assert (
            people.crowds.sum_of(people.utility, want.rows, chosen.levels) == chosen.worth
        ).all()
    return np.concatenate([chosen.risk for chosen in found])


@settings(max_examples=20)
@given(records, shares, measures, models, st.sampled_from([1, 3, 50]))
def test_every_record_keeps_its_utility_and_no_risk_is_below_the_lowest(
    rows: Records, share: str, measure: Utility, model: Sensitivity, effort: int
) -> None:
    table = table_of(rows)
    people = People.of(Personal(share, "relaxed", measure, model, effort=effort), table)
    found = risks(people)
    assert (found >= risks(People.of(Personal(share, "exact", measure, model), table))).all()
    assert (found == risks(people)).all()


def test_it_is_near_the_lowest_risks_of_a_small_table() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (str(rng.choice([*"abcd"])), str(rng.integers(8)), str(rng.choice([*"fm"])))
        for _ in range(60)
    ]
    for share in ("1/3", "1/2", "4/5"):
        lowest = risks(People.of(Personal(share), table_of(rows)))
        found, as_they_are = (
            risks(People.of(Personal(share, solver="relaxed", effort=effort), table_of(rows)))
            for effort in (300, 1)
        )
        assert found.mean() < 1.1 * lowest.mean() < as_they_are.mean()


def test_it_ends_after_its_effort_and_can_be_stopped() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (str(rng.choice([*"abcd"])), str(rng.integers(8)), str(rng.choice([*"fm"])))
        for _ in range(40)
    ]
    for effort in (1, 2, 20):
        told: list[tuple[int, int]] = []
        people = People.of(Personal("1/2", solver="relaxed", effort=effort), table_of(rows))
        people.solve(Seeded(1), lambda done, total, what: told.append((done, total)))  # noqa: B023
        assert all(done <= total == effort for done, total in told[1:-1])
        assert bool(told[1:-1]) == (effort > 1)

    def stop(done: int, total: int, what: str) -> None:
        if done > 1:
            raise Stopped("enough")

    with pytest.raises(Stopped):
        People.of(Personal("1/2", solver="relaxed"), table_of(rows)).solve(Seeded(1), stop)


def test_a_table_without_rows_is_released() -> None:
    assert len(risks(People.of(Personal("1/2", solver="relaxed"), table_of([])))) == 0
