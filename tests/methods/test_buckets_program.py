"""The program over numbers of buckets: its bounds hold whatever HiGHS says."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from shoal.methods.buckets.problem import Problem
from shoal.methods.buckets.program import SolverPrecision, _Program, least
from shoal.methods.buckets.settings import find_setting, spread

Numbers = tuple[int, ...]


def problems(number: int, seed: int) -> Iterator[Problem]:
    """Small tables under limits that some buckets keep."""
    chance = random.Random(seed)
    while number:
        counts = [chance.randint(1, 4) for _ in range(chance.randint(2, 5))]
        n = sum(counts)
        limits = [max(Fraction(c, n), Fraction(1, chance.randint(1, 4))) for c in counts]
        problem = Problem.of(np.array(counts), limits, n)
        if n <= 12 and len(problem.sizes):
            number -= 1
            yield problem


def settings(problem: Problem) -> Iterator[Numbers]:
    """All numbers of buckets that can be filled, by trying them."""
    sizes = problem.sizes.tolist()

    def partitions(left: int, at: int) -> Iterator[Numbers]:
        if at == len(sizes):
            if not left:
                yield ()
            return
        for number in range(left // sizes[at] + 1):
            for rest in partitions(left - number * sizes[at], at + 1):
                yield (number, *rest)

    for numbers in partitions(problem.records, 0):
        if spread(problem.counts, problem.limits, sizes, numbers) is not None:
            yield numbers


def loss(problem: Problem, numbers: Numbers) -> int:
    pairs = zip(problem.sizes.tolist(), numbers, strict=True)
    return sum(number * (size - 1) ** 2 for size, number in pairs)


def with_all_cuts(problem: Problem) -> _Program:
    program = _Program(problem, 10.0)
    kinds = range(len(program.counts))
    for number in range(1, len(kinds) + 1):
        for chosen in combinations(kinds, number):
            program.cut(np.isin(np.array(kinds), chosen))
    return program


def test_the_bound_holds_for_any_weights_of_cuts() -> None:
    draw = np.random.default_rng(3)
    tight = 0
    for problem in problems(60, seed=4):
        program = with_all_cuts(problem)
        valid = list(settings(problem))
        losses = [loss(problem, numbers) for numbers in valid]
        weights = draw.normal(0.2, 1, len(program.cuts)) * (draw.random(len(program.cuts)) < 0.3)
        proven = program._proven(weights, float(draw.normal(0.5, 1)), np.zeros(len(problem.sizes)))
        assert proven.bound <= min(losses)
        for place, bound in enumerate(proven.with_one.tolist()):
            using = [
                lost for lost, numbers in zip(losses, valid, strict=True) if numbers[place] > 0
            ]
            assert bound <= min(using, default=bound)
            tight += bound == min(using, default=None)
    assert tight


def test_cuts_say_when_numbers_can_be_filled() -> None:
    """Each setting satisfies all cuts, and numbers that satisfy all can be filled."""
    for problem in problems(40, seed=5):
        program = with_all_cuts(problem)
        valid = set(settings(problem))
        cuts = np.array(program.cuts)
        for numbers in all_numbers(problem):
            satisfied = bool((cuts @ np.array(numbers) >= program.needs).all())
            assert satisfied == (numbers in valid)


def all_numbers(problem: Problem) -> Iterator[Numbers]:
    """All numbers of buckets of some sizes with all records, filled or not."""
    sizes = problem.sizes.tolist()
    records = problem.records
    for first, second in combinations(range(len(sizes)), 2):
        for number in range(records // sizes[first] + 1):
            rest = records - number * sizes[first]
            if rest % sizes[second] == 0:
                numbers = [0] * len(sizes)
                numbers[first] = number
                numbers[second] = rest // sizes[second]
                yield tuple(numbers)


@pytest.mark.parametrize("factor", [-1.0, 0.3, 3.0, 1e6])
def test_the_bound_holds_whatever_highs_says_of_the_program_without_whole_numbers(
    factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scipy.optimize

    honest = scipy.optimize.linprog

    def linprog(*given: Any, **options: Any) -> Any:
        result = honest(*given, **options)
        if result.status:
            return result
        cuts = options["A_ub"] is not None
        marginals = result.ineqlin.marginals * factor if cuts else np.zeros(0)
        prices = result.eqlin.marginals * factor
        return SimpleNamespace(
            status=0,
            x=result.x,
            ineqlin=SimpleNamespace(marginals=marginals),
            eqlin=SimpleNamespace(marginals=prices),
        )

    monkeypatch.setattr(scipy.optimize, "linprog", linprog)
    for problem in problems(20, seed=6):
        best = min(loss(problem, numbers) for numbers in settings(problem))
        outcome = least(problem, SolverPrecision(0.0, 10.0))
        assert outcome.bound <= best + 1e-6
        assert outcome.found is None or outcome.found.loss >= best


def test_hundreds_of_values_are_solved_within_a_thousandth() -> None:
    draw = np.random.default_rng(7)
    counts = draw.multinomial(40_000, np.full(400, 1 / 400) * np.linspace(0.5, 1.5, 400))
    shares = [Fraction(int(count), int(counts.sum())) for count in counts]
    limits = [8 * share + Fraction(1, 50) for share in shares]
    setting = find_setting(counts, limits, "optimal", 60)
    setting.check(counts, limits)
    assert setting.gap is not None
    assert setting.gap <= 1e-3
