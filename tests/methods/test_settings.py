"""Bucket settings: every answer is compared with brute force on small tables, and every shortcut of
the paper is caught.
"""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InfeasibleError, InternalError, ParameterError, ShoalError, TooLargeError
from shoal.methods.buckets import problem, settings
from shoal.methods.buckets.settings import (
    Setting,
    Solver,
    find_setting,
    fitting,
    smallest_bound,
    spread,
)

EXAMPLE = [1] * 8 + [6] * 4 + [9] * 2
"""The paper's Example 3."""

Case = tuple[tuple[int, ...], tuple[Fraction, ...], int]
Buckets = tuple[int, ...]


def by_formula(counts: Sequence[int], a: int | Fraction, b: str) -> list[Fraction]:
    return [min(Fraction(1), a * Fraction(count, sum(counts)) + Fraction(b)) for count in counts]


def cases(number: int, seed: int, most: int = 9) -> Iterator[Case]:
    """Small tables with all kinds of limits, most of them tight."""
    chance = random.Random(seed)
    for _ in range(number):
        counts = [chance.randint(1, 4) for _ in range(chance.randint(1, 5))]
        while sum(counts) > most:
            counts.pop()
        n = sum(counts)
        limits = []
        for count in counts:
            size = chance.randint(1, n)
            exact = Fraction(chance.randint(1, size), size)
            limits.append(
                chance.choice(
                    [exact, max(exact, Fraction(count, n)), Fraction(count, n), Fraction(1)]
                )
            )
        yield tuple(counts), tuple(limits), chance.randint(1, n)


# Brute force


def partitions(n: int, largest: int) -> Iterator[Buckets]:
    """All ways to cut n records into buckets, largest first."""
    if not n:
        yield ()
    for size in range(min(n, largest), 0, -1):
        for rest in partitions(n - size, size):
            yield (size, *rest)


def fillable(counts: Sequence[int], limits: Sequence[Fraction], buckets: Buckets) -> bool:
    """Whether these buckets can be filled, by trying every bag for every bucket."""

    @cache
    def rest(left: tuple[int, ...], at: int) -> bool:
        if at == len(buckets):
            return True
        size = buckets[at]
        choices = [
            [k for k in range(min(have, size) + 1) if Fraction(k, size) <= f]
            for have, f in zip(left, limits, strict=True)
        ]
        return any(
            rest(tuple(have - k for have, k in zip(left, bag, strict=True)), at + 1)
            for bag in product(*choices)
            if sum(bag) == size
        )

    return rest(tuple(counts), 0)


@cache
def least_loss(
    counts: tuple[int, ...], limits: tuple[Fraction, ...], largest: int, sizes: int
) -> int | None:
    """The least loss of all settings with at most so many sizes."""
    found = sorted(
        (sum((size - 1) ** 2 for size in buckets), buckets)
        for buckets in partitions(sum(counts), largest)
        if len(set(buckets)) <= sizes
    )
    return next((loss for loss, buckets in found if fillable(counts, limits, buckets)), None)


def answer(case: Case, solver: Solver, **options: Any) -> Setting | None:
    counts, limits, largest = case
    try:
        return find_setting(counts, limits, solver, largest, **options)
    except InfeasibleError:
        return None


def kept(
    setting: Setting, counts: Sequence[int], limits: Sequence[Fraction], largest: int | None = None
) -> bool:
    """Whether the bags of a setting hold all records and keep all limits, bucket by bucket and in
    fractions.
    """
    seen = [0] * len(counts)
    for size, number, bag in zip(setting.sizes, setting.buckets, setting.bags(), strict=True):
        if bag.shape != (number, size) or (largest is not None and size > largest):
            return False
        for bucket in bag.tolist():
            for value in set(bucket):
                seen[value] += bucket.count(value)
                if Fraction(bucket.count(value), len(bucket)) > limits[value]:
                    return False
    return seen == list(counts)


def faults(solver: Solver, sizes: int, tried: Iterable[Case], **options: Any) -> Iterator[Case]:
    """The cases on which a solver's answer is not valid, or not the best there is."""
    for case in tried:
        try:
            setting = answer(case, solver, **options)
        except InternalError:  # its own check
            yield case
            continue
        if (setting and setting.loss) != least_loss(*case, sizes) or (
            setting and not kept(setting, *case)
        ):
            yield case


TIGHT = list(cases(2000, 1))
UNFILLED: list[Case] = [
    ((2, 2, 2, 2, 1, 1), (*[Fraction(1, 3)] * 4, *[Fraction(1, 2)] * 2), 4),
    ((6, 6, 6, 3, 1), (*[Fraction(1, 3)] * 4, Fraction(1, 5)), 8),
]
"""Rare ones: every value finds its places, but of the two sizes the small buckets cannot be filled,
or the large ones.
"""


def test_two_sizes_are_the_best_two_on_thousands_of_small_tables() -> None:
    assert not list(faults("two", 2, [*TIGHT, *UNFILLED]))
    answers = [answer(case, "two") for case in TIGHT]
    assert 300 < sum(setting is None for setting in answers) < 1700
    assert sum(setting is not None and len(setting.sizes) == 2 for setting in answers) > 150


def test_the_program_finds_the_best_of_all_settings() -> None:
    tried = TIGHT[:300]
    assert not list(faults("optimal", sys.maxsize, tried, gap=0))
    assert any(
        setting and len(setting.sizes) > 2
        for setting in (answer(case, "optimal", gap=0) for case in tried)
    )


@pytest.mark.slow
def test_the_program_finds_the_best_of_all_settings_on_thousands_of_small_tables() -> None:
    assert not list(faults("optimal", sys.maxsize, cases(5000, 9, most=11), gap=0))


def test_several_sizes_are_valid_and_never_worse_than_two() -> None:
    for case in TIGHT[:1000]:
        two, multi = answer(case, "two"), answer(case, "multi")
        assert (two is None) == (multi is None)
        if two and multi:
            assert multi.loss <= two.loss
            assert kept(multi, *case)


@pytest.mark.parametrize("seed", range(3))
def test_two_sizes_are_the_best_two_on_larger_tables(seed: int) -> None:
    """Against every (S₁, b₁, S₂, b₂) and the plain conditions of Theorem 3."""
    chance = random.Random(seed)
    for _ in range(40):
        counts = [chance.randint(1, 30) for _ in range(chance.randint(2, 8))]
        n, largest = sum(counts), chance.randint(2, 14)
        limits = by_formula(
            counts, Fraction(chance.randint(2, 8), 2), chance.choice(["0", "0.05", "1/7"])
        )
        best = None
        for small, large in (
            (one, other) for other in range(1, largest + 1) for one in range(1, other + 1)
        ):
            for number in range(n // small + 1):
                if (n - small * number) % large:
                    continue
                numbers = number, (n - small * number) // large
                room = [
                    [limit * size // 1 * many for limit in limits]
                    for size, many in zip((small, large), numbers, strict=True)
                ]
                if all(
                    one + other >= count for one, other, count in zip(*room, counts, strict=True)
                ) and all(
                    sum(map(min, row, counts)) >= size * many
                    for row, size, many in zip(room, (small, large), numbers, strict=True)
                ):
                    loss = numbers[0] * (small - 1) ** 2 + numbers[1] * (large - 1) ** 2
                    best = loss if best is None else min(best, loss)
        found = answer((tuple(counts), tuple(limits), largest), "two")
        assert (found and found.loss) == best
        assert found is None or kept(found, counts, limits, largest)


def test_example_3() -> None:
    limits = by_formula(EXAMPLE, 2, "0.05")
    two = find_setting(EXAMPLE, limits, "two", 14)
    assert (two.sizes, two.buckets, two.loss) == ((4, 14), (9, 1), 250)
    assert float(two.mean_squared_error) == pytest.approx(5.102, abs=5e-4)
    best = find_setting(EXAMPLE, limits, "optimal", 14, gap=0)
    assert (best.sizes, best.buckets, best.loss, best.gap) == ((4, 5, 12), (7, 2, 1), 216, 0)
    for setting in (two, best):
        assert kept(setting, EXAMPLE, limits, 14)


def test_example_5_three_sizes_need_more_than_the_conditions_of_two() -> None:
    counts, limits = [5] * 10 + [20], [Fraction(1, 6)] * 10 + [Fraction(1)]
    sizes, numbers = np.array([4, 5, 30]), np.array([5, 4, 1])
    room = fitting(limits, sizes) * numbers
    have = np.minimum(room, np.array(counts)[:, None])
    assert (have.sum(axis=1) >= counts).all()
    assert (have.sum(axis=0) >= sizes * numbers).all()
    assert spread(counts, limits, sizes.tolist(), numbers.tolist()) is None


def test_buckets_can_be_filled_if_and_only_if_every_choice_of_sizes_can() -> None:
    chance = random.Random(5)
    seen = set()
    for _ in range(1500):
        sizes = sorted(chance.sample(range(1, 9), chance.randint(1, 4)))
        numbers = [chance.randint(1, 4) for _ in sizes]
        n = sum(size * number for size, number in zip(sizes, numbers, strict=True))
        cuts = sorted(chance.randint(0, n) for _ in range(chance.randint(0, 5)))
        counts = [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
        limits = [Fraction(chance.randint(1, 6), 6) for _ in counts]
        room = fitting(limits, sizes) * numbers
        every = all(
            sum(
                min(count, int(row[list(some)].sum()))
                for count, row in zip(counts, room, strict=True)
            )
            >= sum(sizes[j] * numbers[j] for j in some)
            for many in range(len(sizes) + 1)
            for some in combinations(range(len(sizes)), many)
        )
        setting = spread(counts, limits, sizes, numbers)
        seen.add(every)
        assert (setting is not None) == every
        assert setting is None or kept(setting, counts, limits)
    assert seen == {True, False}


def test_numbers_that_do_not_add_up_to_the_records_give_no_setting() -> None:
    assert spread([2, 2], [Fraction(1)] * 2, [1], [3]) is None
    assert spread([], [], [], []) is not None


# Smallest bound


def test_the_smallest_bound_is_the_smallest() -> None:
    for counts, limits, _ in cases(120, 2):
        bounded: tuple[tuple[Solver, int], ...] = (
            ("two", 2),
            ("multi", 2),
            ("optimal", sys.maxsize),
        )
        for solver, sizes in bounded:
            able = [
                largest
                for largest in range(1, sum(counts) + 1)
                if least_loss(counts, limits, largest, sizes) is not None
            ]
            try:
                found = smallest_bound(counts, limits, solver)
            except InfeasibleError:
                assert not able
            else:
                assert found == able[0]


def test_several_sizes_may_do_with_smaller_buckets_than_two() -> None:
    counts, limits = (4, 5, 8, 8, 3, 7), [Fraction(1, part) for part in (2, 5, 3, 3, 5, 3)]
    assert smallest_bound(counts, limits, "two") == smallest_bound(counts, limits, "multi") == 6
    assert smallest_bound(counts, limits, "optimal") == 5
    assert len(find_setting(counts, limits, "optimal").sizes) == 3


ADULT_EDUCATION = [
    9840,
    6678,
    5044,
    1627,
    1307,
    1008,
    820,
    627,
    542,
    449,
    375,
    288,
    222,
    151,
    72,
]  # nearly those of a well-known table, on which the smallest bound was 13.5 % off


def test_without_a_bound_all_sizes_are_searched_that_could_lose_less() -> None:
    improved = 0
    for a, b in ((2, "0.05"), (2, "0.02"), (8, "0.02")):
        for counts in (EXAMPLE, ADULT_EDUCATION):
            limits = by_formula(counts, a, b)
            found = find_setting(counts, limits, "two")
            far = find_setting(counts, limits, "two", min(sum(counts), 600))
            assert found.loss == far.loss
            assert found.searched is None
            near = find_setting(counts, limits, "two", smallest_bound(counts, limits, "two"))
            improved += found.loss < near.loss
    assert improved


def test_the_optimum_of_all_sizes_is_proven_without_a_bound() -> None:
    pytest.importorskip("scipy")
    limits = by_formula(EXAMPLE, 2, "0.05")
    found = find_setting(EXAMPLE, limits, "optimal", gap=0)
    assert found.loss == find_setting(EXAMPLE, limits, "optimal", sum(EXAMPLE), gap=0).loss
    assert found.gap is not None
    assert found.gap < 0.02


def test_a_search_that_stops_before_all_sizes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = ADULT_EDUCATION
    limits = by_formula(counts, 2, "0.02")
    bound = smallest_bound(counts, limits, "two")
    monkeypatch.setattr(settings, "HIGHEST", bound)
    assert find_setting(counts, limits, "two").searched == bound


def test_what_a_setting_with_a_large_bucket_loses_at_least_is_never_too_much() -> None:
    """Over all settings of one or two sizes of small tables: none with a bucket of that size loses
    less.
    """
    counts = np.array([5, 4, 3, 2])
    limits = [Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)]
    least = problem.Least.of(counts, limits)
    tried = 0
    for size in range(1, 15):
        for other in range(1, 15):
            for number in range(1, 15 // size + 1):
                rest = 14 - size * number
                if other != size and rest >= 0 and rest % other == 0:
                    made = spread(counts, limits, [size, other], [number, rest // other])
                    if made is not None:
                        tried += 1
                        assert least.with_a_bucket_of(max(made.sizes)) <= made.loss
                        assert least.reach(made.loss + 1) >= max(made.sizes)
    assert tried


def test_with_fakes_only_sizes_are_used_that_leave_values_to_be_fakes() -> None:
    """Two values may be in buckets of two.

    With a fake there must be a third, so that no bucket has two.
    """
    counts, limits = [40, 40, 10, 10, 10], [Fraction(1, 2)] * 2 + [Fraction(1, 4)] * 3
    assert 2 in find_setting(counts, limits, "two").sizes
    assert 2 not in find_setting(counts, limits, "two", fakes=1).sizes


def test_limits_that_are_all_tight_need_one_bucket_and_may_be_beyond_the_bound_looked_at() -> None:
    counts = [1000, 1001, 1003]
    tight = [Fraction(count, sum(counts)) for count in counts]
    with pytest.raises(InfeasibleError, match="at most 2,000 records"):
        smallest_bound(counts, tight, "two")
    assert smallest_bound(counts, tight, "two", 5000) == 3004
    assert find_setting(counts, tight, "two", 3004).sizes == (3004,)


# Anatomy


def test_anatomy_has_different_values_in_every_bucket_or_says_why_not() -> None:
    valid = 0
    for counts, limits, _ in TIGHT:
        if any(
            Fraction(count, sum(counts)) > limit
            for count, limit in zip(counts, limits, strict=True)
        ):
            continue
        least = -(-1 // min(limits))
        if max(counts) > sum(counts) // least:
            with pytest.raises(InfeasibleError, match="different values"):
                find_setting(counts, limits, "anatomy")
            continue
        setting = find_setting(counts, limits, "anatomy")
        valid += 1
        assert kept(setting, counts, limits)
        assert sum(setting.buckets) == sum(counts) // least
        assert min(setting.sizes) >= least
        if least > 1:
            assert all(
                len(set(bucket)) == len(bucket) for bag in setting.bags() for bucket in bag.tolist()
            )
    assert valid > 100


# Exact arithmetic


def floats(limits: Sequence[Fraction], sizes: Any) -> Any:
    """⌊f′·S⌋ as it would be without care."""
    return np.floor(np.array([float(limit) for limit in limits])[:, None] * np.array(sizes)).astype(
        np.int64
    )


def test_floats_are_wrong_in_some_cells_and_fractions_in_none() -> None:
    assert int(0.29 * 100) == 28
    limits = [Fraction(percent, 100) for percent in range(1, 100)]
    sizes = range(1, 1001)
    exact = fitting(limits, sizes)
    assert exact.tolist() == [
        [limit.numerator * size // limit.denominator for size in sizes] for limit in limits
    ]
    assert (floats(limits, sizes) != exact).sum() == 49
    assert fitting([Fraction(29, 100)], [100]).item() == 29


def test_numbers_beyond_any_machine_word_are_exact() -> None:
    huge = 10**40
    limits = [Fraction(huge - 1, 2 * huge), Fraction(huge + 1, 2 * huge), Fraction(1, 2)]
    assert fitting(limits, [2]).tolist() == [[0], [1], [1]]


def test_floats_for_what_fits_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    below = Fraction(1, 2) - Fraction(1, 10**20)
    leaking: Case = ((1,) * 4, (below,) * 4, 4)
    failing: Case = ((1,) * 49, (Fraction(1, 49),) * 49, 49)
    setting = answer(failing, "two")
    assert setting is not None
    assert setting.sizes == (49,)
    assert not list(faults("two", 2, [leaking]))
    for module in (problem, settings):
        monkeypatch.setattr(module, "fitting", floats)
    assert answer(failing, "two") is None
    assert list(faults("two", 2, [leaking]))


# Twins that leave out a step


def test_leaving_out_that_one_size_may_do_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_singles", lambda problem: [])
    assert any(faults("two", 2, TIGHT))


def test_leaving_out_that_buckets_must_be_filled_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(problem, "_fillable", lambda counts, sizes, fit: counts.sum() // sizes)
    assert any(faults("two", 2, TIGHT))


def edited(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for pairs with some of its text replaced."""
    import inspect

    source = inspect.getsource(settings._pairs)
    assert source.count(old) == 1, old
    scope = dict(vars(settings))
    exec(source.replace(old, new), scope)
    monkeypatch.setattr(settings, "_pairs", scope["_pairs"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # (7) without the common divisor
        ("np.nonzero(n % divisor == 0)[0]", "np.arange(len(divisor))"),
        # (7) without S₂b₂ ≤ n
        ("number // down, (problem.most[places]", "1 + 0 * number, (problem.most[places]"),
        # values that need large buckets
        ("start = np.maximum(start, np.where(slope > 0, -bound, 0).max(axis=0))", "pass"),
        # values that need small ones
        ("last = np.minimum(last, np.where(slope < 0, bound, last).min(axis=0))", "pass"),
        ("((slope != 0) | (base >= 0)).all(axis=0)", "True"),
        # (11) that keeps only the first pair, and one pair too few
        ("(below - 1 - loss) // step", "np.where(loss < below, 0, -1)"),
        ("(below - 1 - loss) // step", "(below - loss) // step - 1"),
        # small buckets that cannot be filled, and large ones
        ("np.maximum(0, -((small_most - number) // down))", "0 * number"),
        ("(problem.most[places] - second) // up)\n", "number // down)\n"),
        # one further than need be
        ("-((small_most - number) // down)", "-((small_most - number) // down) + 1"),
    ],
)
def test_leaving_out_a_step_of_the_search_for_pairs_would_be_noticed(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(old, new, monkeypatch)
    assert any(faults("two", 2, [*UNFILLED, *TIGHT]))


def test_limits_anew_for_every_part_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = by_formula(EXAMPLE, 2, "0.05")
    whole = problem.Problem.part

    def local(self: Any, counts: Any) -> Any:
        if counts.sum() == sum(EXAMPLE):
            return whole(self, counts)
        shares = [
            min(Fraction(1), 2 * Fraction(int(count), int(counts.sum())) + Fraction("0.05"))
            for count in counts
        ]
        return (
            problem.Problem.of(counts, shares, self.bound)
            if (self.limits != tuple(shares))
            else whole(self, counts)
        )

    monkeypatch.setattr(problem.Problem, "part", local)
    with pytest.raises(InternalError):
        find_setting(EXAMPLE, limits, "multi", 14)


def test_buckets_filled_one_after_the_other_would_be_noticed() -> None:
    class Blocks(Setting):
        def bags(self) -> list[Any]:
            return [bag.T.reshape(bag.shape) for bag in super().bags()]

    limits = by_formula(EXAMPLE, 2, "0.05")
    setting = find_setting(EXAMPLE, limits, "two", 14)
    assert kept(setting, EXAMPLE, limits)
    assert not kept(Blocks(setting.sizes, setting.buckets, setting.holds), EXAMPLE, limits)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: Setting(s.sizes, s.buckets, s.holds[::-1]),
        lambda s: Setting(s.sizes, (s.buckets[0] + 1, *s.buckets[1:]), s.holds),
        lambda s: Setting(s.sizes[::-1], s.buckets[::-1], s.holds[:, ::-1]),
        lambda s: Setting(
            (*s.sizes, 15), (*s.buckets, 0), np.column_stack((s.holds, 0 * s.holds[:, :1]))
        ),
        lambda s: Setting(s.sizes, s.buckets, s.holds[:-1]),
        lambda s: Setting((50,), (1,), s.holds.sum(axis=1, keepdims=True) - 1),
        lambda s: Setting((10,), (5,), s.holds.sum(axis=1, keepdims=True)),
    ],
)
def test_an_invalid_setting_does_not_pass_its_check(
    change: Callable[[Setting], Setting],
) -> None:
    limits = by_formula(EXAMPLE, 2, "0.05")
    setting = find_setting(EXAMPLE, limits, "two", 14)
    setting.check(EXAMPLE, limits)
    with pytest.raises(InternalError):
        change(setting).check(EXAMPLE, limits)


# HiGHS


@pytest.mark.parametrize("numbers", [{}, {50: 1}, {1: 50}, {4: -1, 9: 6}, {4: 11, 6: 1}, {4: 12.4}])
def test_what_highs_says_is_not_trusted(
    numbers: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    import scipy.optimize

    limits = by_formula(EXAMPLE, 2, "0.05")
    sizes = problem.Problem.of(np.array(EXAMPLE), limits, 14).sizes.tolist()

    def milp(c: Any, **_: Any) -> Any:
        x = np.zeros(len(c))
        x[: len(sizes)] = [numbers.get(size, 0) for size in sizes]
        return SimpleNamespace(x=x, status=0, get=lambda name: 0.0)

    monkeypatch.setattr(scipy.optimize, "milp", milp)
    setting = find_setting(EXAMPLE, limits, "optimal", 14)
    assert setting.loss == 250  # what several sizes come to
    assert setting.gap is not None
    assert 1 - Fraction(216, 250) <= setting.gap < 1  # 216 is the least loss
    assert kept(setting, EXAMPLE, limits)


def test_when_time_is_up_there_is_a_setting_with_what_is_known_of_it() -> None:
    counts = [1000 + 37 * i * i for i in range(30)]
    limits = by_formula(counts, 3, "0.02")
    setting = find_setting(counts, limits, "optimal", 50, seconds="1e-6")
    assert kept(setting, counts, limits, 50)
    assert setting.gap is not None
    assert 0 < setting.gap <= 1


def test_the_gap_is_kept() -> None:
    counts = [100 + 37 * i * i for i in range(12)]
    limits = by_formula(counts, 3, "0.02")
    exact, near = (find_setting(counts, limits, "optimal", 40, gap=gap) for gap in ("1e-6", "0.05"))
    assert exact.gap is not None
    assert near.gap is not None
    assert exact.gap <= 1e-6
    assert near.gap <= 0.05
    assert exact.loss <= near.loss <= exact.loss / (1 - near.gap) + 1


def test_without_scipy_the_other_solvers_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert find_setting([2, 2], [Fraction(1, 2)] * 2, "multi").buckets == (2,)
    with pytest.raises(ShoalError, match=r"pip install 'shoal\[buckets\]'"):
        find_setting([2, 2], [Fraction(1, 2)] * 2, "optimal", 2)


# What must always hold


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12),
    st.integers(2, 12),
    st.integers(1, 30),
    st.randoms(),
)
def test_every_answer_is_valid_and_does_not_depend_on_the_order_of_values(
    counts: list[int], halves: int, largest: int, chance: random.Random
) -> None:
    limits = (
        by_formula(counts, Fraction(halves, 2), "0.05")
        if sum(counts)
        else [Fraction(1)] * len(counts)
    )
    order = list(range(len(counts)))
    chance.shuffle(order)
    for solver in ("two", "multi"):
        found = answer((tuple(counts), tuple(limits), largest), solver)
        again = answer(
            (tuple(counts[i] for i in order), tuple(limits[i] for i in order), largest), solver
        )
        assert (found is None) == (again is None)
        if found and again:
            assert kept(found, counts, limits, largest)
            if solver == "two":
                assert (found.sizes, found.buckets) == (again.sizes, again.buckets)


@pytest.mark.parametrize("solver", ["optimal", "multi", "two", "anatomy"])
def test_no_record_needs_no_bucket(solver: Solver) -> None:
    for counts in ([], [0, 0]):
        setting = find_setting(counts, [Fraction(1, 2)] * len(counts), solver)
        assert not setting.sizes
        assert not setting.bags()
        assert smallest_bound(counts, [Fraction(1, 2)] * len(counts), solver) == 1
        assert setting.loss == setting.records == setting.mean_squared_error == 0


@pytest.mark.parametrize("solver", ["optimal", "multi", "two", "anatomy"])
def test_one_record_and_limits_of_one_make_buckets_of_one(solver: Solver) -> None:
    for counts in ([1], [0, 3, 2]):
        setting = find_setting(counts, [Fraction(1)] * len(counts), solver)
        assert (setting.sizes, setting.buckets, setting.loss) == ((1,), (sum(counts),), 0)


def test_a_large_table_is_filled_bucket_by_bucket() -> None:
    counts = [int(75_000 * 0.9267**i) for i in range(50)]
    limits = by_formula(counts, 8, "0.02")
    setting = find_setting(counts, limits, "multi", 50)
    fit = fitting(limits, range(51))
    total = np.zeros(50, dtype=np.int64)
    for size, bag in zip(setting.sizes, setting.bags(), strict=True):
        held = np.zeros((len(bag), 50), dtype=np.int64)
        np.add.at(held, (np.arange(len(bag))[:, None], bag), 1)
        assert (held <= fit[:, size]).all()
        total += held.sum(axis=0)
    assert total.tolist() == counts


# Errors


@pytest.mark.parametrize(
    ("counts", "limits", "largest", "reason"),
    [
        ([3, 1], ["1/2", "1"], 4, "larger share of the table than its limit"),
        ([5, 5], ["1/2", "1/2"], 1, "limit is below 1/1, so it fits into no bucket"),
        ([4, 4, 2], ["2/5", "2/5", "1"], 4, "no numbers of buckets of one size or two"),
        ([5, 5], ["1/2", "5/9"], 1, "limit is below 1/1"),
        ([4, 4, 4], ["3/8", "3/8", "3/8"], 2, "limit is below 1/2"),
        ([4, 4, 4, 4], ["2/7", "2/7", "2/7", "2/7"], 3, "limit is below 1/3"),
        ([3, 3, 3], ["1/3", "1/3", "2/5"], 2, "limit is below 1/2"),
        ([4, 3, 3], ["2/5", "1/3", "1/3"], 4, "no numbers of buckets of one size or two"),
        ([6, 6, 5], ["2/5", "2/5", "2/5"], 4, "no numbers of buckets of one size or two"),
    ],
)
def test_the_error_says_why_there_is_no_setting(
    counts: list[int], limits: list[str], largest: int, reason: str
) -> None:
    with pytest.raises(InfeasibleError, match=reason):
        find_setting(counts, [Fraction(limit) for limit in limits], "two", largest)


def test_what_cannot_be_used_is_refused() -> None:
    half = [Fraction(1, 2)] * 2
    wrong: list[tuple[Any, Any, dict[str, Any]]] = [
        ([1], half, {}),
        ([1, -1], half, {}),
        ([1, 1.0], half, {}),
        ([1, True], half, {}),
        ([1, 1], [0.5, 0.5], {}),
        ([1, 1], [Fraction(0), Fraction(1)], {}),
        ([1, 1], [Fraction(3, 2), Fraction(1)], {}),
        ([1, 1], half, {"solver": "best"}),
        ([1, 1], half, {"largest": 0}),
        ([1, 1], half, {"largest": 2.5}),
        ([1, 1], half, {"gap": -1}),
        ([1, 1], half, {"gap": "nan"}),
        ([1, 1], half, {"seconds": 0}),
        ([1, 1], half, {"seconds": float("inf")}),
    ]
    for counts, limits, options in wrong:
        with pytest.raises(ParameterError):
            find_setting(counts, limits, **{"solver": "two", **options})
    for sizes, numbers in (([0], [1]), ([2], [-1]), ([1, 1], [1, 1])):
        with pytest.raises(ParameterError):
            spread([1, 1], half, sizes, numbers)
    with pytest.raises(TooLargeError):
        find_setting([1 << 61, 1 << 61, 1 << 61], [Fraction(1)] * 3, "two", 5)
    with pytest.raises(TooLargeError):
        find_setting([1 << 30] * 2, half, "two", 1 << 30)
