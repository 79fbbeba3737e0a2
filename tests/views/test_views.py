"""γ-privacy of several views: the numbers of the dissertation's chapter, all small cases by brute force, and those who draw."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, chi2

from shoal.errors import InfeasibleError, InputError, ParameterError, TooLargeError
from shoal.views import OUTSIDE, View, Views, check, possible
from shoal.views.beliefs import bounded
from shoal.views.cells import Constraints, components
from shoal.views.counting import Counted
from shoal.views.dense import Dense
from shoal.views.importance import estimate
from shoal.views.intervals import clopper_pearson
from shoal.views.steps import steps_of

# The numbers of chapter 6, as corrected

NAMES = [
    "Alan",
    "Bob",
    "Clark",
    "Donald",
    "Ellen",
    "Fen",
    "Garcia",
    "Helen",
    "Jessica",
    "Kathy",
    "Lucy",
]
CONDITION = dict(zip(NAMES, "HSVSVSFSVHV", strict=True))
SEEN = {
    "6.3A": ["Alan", "Bob", "Clark", "Donald"],
    "6.3B": ["Donald", "Ellen", "Fen", "Garcia"],
    "6.5A": ["Clark", "Donald"],
    "6.5B": ["Donald", "Ellen"],
    "6.7": ["Helen", "Jessica", "Kathy", "Lucy"],
    "6.8": ["Donald", "Lucy"],
}


def chapter(*names: str) -> Views:
    people = NAMES if "6.7" in names else NAMES[:7]
    return Views(
        people,
        [
            View(one, map(NAMES.index, SEEN[one]), [CONDITION[who] for who in SEEN[one]])
            for one in names
        ],
    )


@pytest.mark.parametrize(
    ("names", "tables", "largest"),
    [
        (["6.3A"], 12, "1/2"),
        (["6.3A", "6.3B"], 45, "4/5"),
        (["6.3A", "6.3B", "6.5A"], 18, "2/3"),
        (["6.3A", "6.3B", "6.5B"], 18, "2/3"),
        (["6.3A", "6.3B", "6.5A", "6.5B"], 8, "1/2"),
        (["6.3A", "6.3B", "6.7"], 540, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.8"], 243, "8/9"),
        (["6.3A", "6.3B", "6.7", "6.8", "6.5A"], 90, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.8", "6.5B"], 90, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.5A", "6.5B"], 96, "1/2"),
    ],
)
def test_the_chapters_views_leave_so_many_tables_and_are_so_sure(
    names: list[str], tables: int, largest: str
) -> None:
    found = check(chapter(*names))
    assert (found.how, found.tables, found.tables_text, found.largest) == (
        "exact",
        tables,
        str(tables),
        Fraction(largest),
    )
    assert found.private is (Fraction(largest) <= Fraction(1, 2))


def test_donald_is_exposed_by_both_views_and_alan_is_not() -> None:
    found = check(chapter("6.3A", "6.3B"))
    (one,) = found.exposed
    assert (one.name, one.value, one.probability, one.exact) == (
        "Donald",
        "S",
        Fraction(4, 5),
        True,
    )
    assert one.views == ("6.3A", "6.3B")
    assert found.of("Alan").shares == {
        "H": Fraction(1, 3),
        "S": Fraction(2, 5),
        "V": Fraction(4, 15),
    }
    assert found.of("Ellen").shares == {
        "F": Fraction(1, 3),
        "S": Fraction(2, 5),
        "V": Fraction(4, 15),
    }


def test_views_that_have_nothing_to_do_with_it_are_not_blamed() -> None:
    (one,) = check(chapter("6.7", "6.3A", "6.3B")).exposed
    assert one.views == ("6.3A", "6.3B")


@pytest.mark.parametrize("k", range(2, 9))
def test_k_views_that_share_one_person(k: int) -> None:
    """Section 6.4.2: 3K + 1 people, of whom the last is in K views."""
    value = {3 * i + j: (1, 2, i + 3)[j] for i in range(k) for j in range(3)} | {3 * k: 1}
    views = [
        View(str(i), who := [3 * i, 3 * i + 1, 3 * i + 2, 3 * k], [value[one] for one in who])
        for i in range(k)
    ]
    found = check(Views(3 * k + 1, views))
    assert found.of(3 * k).shares[1] == Fraction(2**k, 2**k + 1) == found.largest


# Brute force


def brute(views: Views) -> tuple[int, dict[int, Counter[object]]]:
    """All tables of values that people's views show, one by one: how many fit, and how often everybody has each value."""
    inside = sorted(set().union(*(view.members for view in views.shown)))
    number, has = 0, {person: Counter[object]() for person in inside}
    bags = [
        (view.members, dict(zip(views.values, views.bag(view), strict=True)))
        for view in views.shown
    ]
    able = [
        [value for value in views.values if all(bag[value] for who, bag in bags if one in who)]
        for one in inside
    ]
    for given_ in product(*able):
        table = dict(zip(inside, given_, strict=True))
        if all(
            Counter(table[one] for one in view.members if table[one] is not OUTSIDE) == view.shown
            for view in views.shown
        ):
            number += 1
            for person, value in table.items():
                has[person][value] += 1
    return number, has


@st.composite
def worlds(draw: st.DrawFn, outside: bool = False) -> Views:
    people = draw(st.integers(1, 7))
    kinds = draw(st.integers(1, 3))
    table = draw(
        st.lists(st.integers(-1 if outside else 0, kinds - 1), min_size=people, max_size=people)
    )
    sets = draw(st.lists(st.sets(st.integers(0, people - 1), min_size=1), min_size=1, max_size=5))
    views = [
        View(f"v{k}", who, Counter(table[one] for one in who if table[one] >= 0))
        for k, who in enumerate(sets)
    ]
    return Views(people, views, complete=not outside)


def agrees(views: Views) -> None:
    number, has = brute(views)
    for how in ("exact", "enclosed"):
        found = check(views, how=how)
        seen = set()
        for belief in found.beliefs:
            for person in belief.people:
                seen.add(person)
                for value in views.values:
                    low, high = belief.between(value)
                    assert low <= Fraction(has[person][value], number) <= high
                    assert how == "enclosed" or low == high
        assert seen == set(has)
        assert how == "enclosed" or found.tables == number


@settings(max_examples=200)
@given(worlds())
def test_counting_agrees_with_trying_all_tables(views: Views) -> None:
    agrees(views)


@pytest.mark.slow
@settings(max_examples=2000)
@given(worlds())
def test_counting_agrees_with_trying_all_tables_many_times(views: Views) -> None:
    agrees(views)


@settings(max_examples=100)
@given(worlds(outside=True))
def test_counting_agrees_where_some_of_the_register_are_not_in_the_table(views: Views) -> None:
    agrees(views)


@settings(max_examples=100)
@given(worlds(), st.randoms(use_true_random=False))
def test_every_order_of_cells_counts_the_same_and_so_does_value_by_value(
    views: Views, source: Random
) -> None:
    for part in components(views):
        cells = list(range(len(part.constraints.cells)))
        expected = Counted.of(part.constraints)
        for _ in range(3):
            source.shuffle(cells)
            cut = source.randrange(len(cells) + 1)
            steps = tuple(steps_of(part.constraints, cells[:cut], cells[cut:]))
            found = Counted._forwards(part.constraints, steps, 10**6, rounded=False)
            assert (found.tables, found.sums) == (expected.tables, expected.sums)
            drawn = found.drawn(source)
            assert [sum(own) for own in drawn] == [size for size, _ in part.constraints.cells]


@settings(max_examples=80)
@given(worlds(), st.integers(0, 1000))
def test_arrays_count_the_same_within_their_bounds_and_tell_equal_shares(
    views: Views, seed: int
) -> None:
    for part in components(views):
        try:
            found = Dense.of(part.constraints)
        except TooLargeError:
            assert len(part.constraints.bags) == 1
            continue
        encloses(found, Counted.of(part.constraints), seed)


def encloses(found: Dense, exact: Counted, seed: int) -> None:
    pairs = [(c, v, share) for c, own in enumerate(exact.shares) for v, share in enumerate(own)]
    for c, v, share in pairs:
        assert abs(found.shares[c][v] - share) <= share * found.error + found.faint
    assert found.error < Fraction(1, 10**8)
    assert 10**found.digits == pytest.approx(
        exact.tables, rel=1e-6
    ) or found.digits == pytest.approx(
        len(str(exact.tables)) - 1 + np.log10(float("0." + str(exact.tables)[:15]) * 10), abs=1e-6
    )
    assert all(found.equal(pairs, Random(seed)))
    close = Fraction(1, 10**20)
    assert not any(found.equal([(c, v, share + close) for c, v, share in pairs], Random(seed)))


def large() -> Constraints:
    """Three views of 40 to 60 people that share some with each other."""
    source = np.random.default_rng(4)
    value = source.choice(4, 120)
    sets = [
        np.arange(0, 50),
        np.arange(42, 95),
        np.concatenate([np.arange(90, 120), np.arange(10)]),
    ]
    (part,) = components(
        Views(120, [View(str(k), who.tolist(), value[who].tolist()) for k, who in enumerate(sets)])
    )
    return part.constraints


def test_arrays_count_large_views() -> None:
    encloses(Dense.of(large()), Counted.of(large()), 1)


def test_arrays_that_forget_those_in_one_view_only_would_be_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from shoal.views import dense

    table = dense._table
    monkeypatch.setattr(
        dense,
        "_table",
        lambda last, z, prime: table(last, z, prime) if last < 9 else (np.ones(last + 1), 0.0),
    )
    with pytest.raises(AssertionError):
        encloses(Dense.of(large()), Counted.of(large()), 1)


def test_what_arrays_cannot_hold_is_refused() -> None:
    with pytest.raises(TooLargeError, match="multiplications"):
        Dense.of(large(), 1000)
    (part,) = components(entangled())
    with pytest.raises(TooLargeError, match="places"):
        Dense.of(part.constraints)


def test_large_views_are_checked_by_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.views.checking.QUICK", 10)
    views = chapter("6.3A", "6.3B", "6.7", "6.8")
    found = check(views)
    assert (found.how, found.confidence, found.tables, found.private) == (
        "enclosed",
        None,
        None,
        False,
    )
    assert found.digits == pytest.approx(np.log10(243))
    (low, high) = found.of("Donald").between("S")
    assert low <= Fraction(8, 9) <= high
    assert found.exposed[0].views == ("6.3A", "6.3B")
    assert check(views.within("8/9")).private is True
    assert check(views.within(Fraction(8, 9) - Fraction(1, 10**20))).private is None


@settings(max_examples=100)
@given(worlds(), st.randoms(use_true_random=False))
def test_views_that_no_table_shows_are_refused(views: Views, source: Random) -> None:
    """Bags are exchanged between views of one size, which no table may have shown."""
    bags = [view.shown for view in views.shown]
    source.shuffle(bags)
    if any(
        sum(bag.values()) != len(view.members) for bag, view in zip(bags, views.shown, strict=True)
    ):
        return
    mixed = Views(
        len(views.names),
        [View(view.name, view.members, bag) for view, bag in zip(views.shown, bags, strict=True)],
    )
    if brute(mixed)[0]:
        agrees(mixed)
    else:
        with pytest.raises(InfeasibleError, match="contradict"):
            check(mixed)


# The algorithm as printed


def printed(
    people: int, views: list[tuple[list[int], Counter[int]]], values: int
) -> list[tuple[int, ...]]:
    """The tables that Algorithm 6.2 can reach, if the vertex it finds is one that is no table wherever there is such.

    It may take any vertex; here those are looked for that an objective of one coordinate leads to. As every table it reaches is
    weighed by how improbable that was, its estimates tend to the shares among these.
    """
    from scipy.optimize import linprog

    size = people * values
    rows = [[float(at // values == person) for at in range(size)] for person in range(people)]
    sums = [1.0] * people
    for who, bag in views:
        for value in range(values):
            rows.append([float(at // values in who and at % values == value) for at in range(size)])
            sums.append(float(bag[value]))
    objectives = [sign * np.eye(size)[at] for at in range(size) for sign in (1, -1)]

    def accepted(chosen: tuple[int, ...]) -> bool:
        fixed = [
            (1, 1) if at // values < len(chosen) and chosen[at // values] == at % values else (0, 1)
            for at in range(size)
        ]
        found = [
            linprog(one, A_eq=rows, b_eq=sums, bounds=fixed, method="highs-ds")
            for one in objectives
        ]
        return all(
            one.status == 0 and np.abs(one.x - np.round(one.x)).max() < 1e-6 for one in found
        )

    reached: list[tuple[int, ...]] = [()]
    for _ in range(people):
        reached = [
            (*chosen, value)
            for chosen in reached
            for value in range(values)
            if accepted((*chosen, value))
        ]
    return reached


def test_the_printed_algorithm_is_certain_where_one_half_is_true() -> None:
    table, sets = [1, 1, 0, 0, 0], [[0, 2, 3, 4], [1, 2, 4], [1, 2, 3]]
    bags = [Counter(table[one] for one in who) for who in sets]
    reached = printed(5, list(zip(sets, bags, strict=True)), 2)
    assert {given_[0] for given_ in reached} == {1}
    found = check(
        Views(
            5, [View(str(k), who, bag) for k, (who, bag) in enumerate(zip(sets, bags, strict=True))]
        )
    )
    assert (found.tables, found.of(0).shares) == (2, {0: Fraction(1, 2), 1: Fraction(1, 2)})


def test_theorem_22_is_false_for_two_views() -> None:
    """Six people of whom each has halves of two values: the only point with these values, so a vertex, and no table."""
    halves = [
        "ac",
        "bd",
        "ab",
        "cd",
        "ad",
        "bc",
    ]  # two in view A only, two in both, two in view B only
    rows, sums = [], []
    places = [(person, value) for person, two in enumerate(halves) for value in two]
    for person in range(6):
        rows.append([float(at[0] == person) for at in places])
        sums.append(1.0)
    for who in ({0, 1, 2, 3}, {2, 3, 4, 5}):
        for value in "abcd":
            rows.append([float(at[0] in who and at[1] == value) for at in places])
            sums.append(1.0)
    assert np.allclose(np.array(rows) @ np.full(12, 0.5), sums)
    assert np.linalg.matrix_rank(np.array(rows)) == 12
    found = check(
        Views(6, [View("A", range(4), list("abcd")), View("B", range(2, 6), list("abcd"))])
    )
    assert found.tables == 48


# Those who draw


UNIFORM = 1e-7  # chance that a test of uniformity fails though all is well


def uniform(seen: Mapping[object, int], among: int) -> bool:
    expected = sum(seen.values()) / among
    off = (
        sum((number - expected) ** 2 for number in seen.values()) / expected
        + (among - len(seen)) * expected
    )
    return bool(off < chi2.isf(UNIFORM, among - 1))


@pytest.mark.parametrize(
    "names", [["6.3A", "6.3B"], ["6.3A", "6.3B", "6.5A", "6.5B"], ["6.3A", "6.3B", "6.7", "6.8"]]
)
def test_tables_are_drawn_uniformly(names: list[str]) -> None:
    views = chapter(*names)
    tables = check(views).tables
    assert tables is not None
    seen: Counter[object] = Counter(tuple(one) for one in possible(views, 40 * tables, seed=1))
    assert len(seen) <= tables
    assert uniform(seen, tables)


def test_a_sampler_that_takes_people_one_by_one_is_caught() -> None:
    """The chapter's: a value that is possible is as likely as any other, without weights."""
    views = chapter("6.3A", "6.3B")
    source, seen = Random(1), Counter[object]()
    tables = {tuple(map(str, one)) for one in possible(views, 3000)}
    assert len(tables) == 45
    for _ in range(40 * 45):
        left, chosen = tables, tuple[str, ...]()
        for at in range(7):
            chosen = (*chosen, source.choice(sorted({one[at] for one in left})))
            left = {one for one in left if one[: at + 1] == chosen}
        seen[chosen] += 1
    assert not uniform(seen, 45)


@settings(max_examples=60)
@given(worlds(), st.integers(0, 1000))
def test_what_is_drawn_could_have_shown_the_views(views: Views, seed: int) -> None:
    (table,) = possible(views, 1, seed)
    for view in views.shown:
        assert Counter(table[person] for person in view.members) == view.shown


def puzzles() -> Iterable[Views]:
    """Views that overlap in several people, drawn by a seed: too many tables to try, few enough to count."""
    source = np.random.default_rng(5)
    for _ in range(6):
        value = source.choice(4, 40, p=[0.4, 0.3, 0.2, 0.1])
        sets = [np.flatnonzero(source.random(40) < 0.25).tolist() for _ in range(4)]
        yield Views(
            40, [View(str(k), who, value[who].tolist()) for k, who in enumerate(sets) if who]
        )


def missed(views: Views, how: str, runs: int, confidence: float, tries: int) -> int:
    """In how many runs some bound does not hold."""
    exact = {person: belief for belief in check(views).beliefs for person in belief.people}
    wrong = 0
    for seed in range(runs):
        found = check(views, how=how, confidence=confidence, tries=tries, seed=seed)  # type: ignore[arg-type]
        wrong += any(
            not low <= exact[belief.people[0]].shares.get(value, Fraction(0)) <= high
            for belief in found.beliefs
            for value in belief.shares
            for low, high in [belief.between(value)]
        )
        assert found.confidence == Fraction(str(confidence))
    return wrong


def at_most(runs: int, chance: float) -> int:
    """The most of so many runs that fail with this chance, but for one time in ten million."""
    from scipy.stats import binom

    return int(binom.isf(1e-7, runs, chance))


@pytest.mark.parametrize("how", ["sampling", "importance"])
def test_intervals_cover_as_stated(how: str) -> None:
    for views in (next(iter(puzzles())), chapter("6.3A", "6.3B")):
        assert missed(views, how, 25, 0.8, 800 if how == "importance" else 200) <= at_most(25, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sampling", "importance"])
def test_intervals_cover_as_stated_many_times(how: str) -> None:
    for views in (next(iter(puzzles())), chapter("6.3A", "6.3B")):
        assert missed(views, how, 200, 0.8, 800 if how == "importance" else 200) <= at_most(
            200, 0.2
        )


def test_intervals_for_single_probabilities_would_be_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broken twin: no allowance for how many bounds are to hold together."""
    monkeypatch.setattr("shoal.views.checking.claims", lambda puzzle: 1)
    views = next(iter(puzzles()))
    assert missed(views, "sampling", 60, 0.8, 200) > at_most(60, 0.2)


def test_weights_are_what_makes_importance_right() -> None:
    """Where a table is probable to be drawn it counts for less: without that, shares would be off."""
    views = chapter("6.3A", "6.3B", "6.5A")
    (part, *_) = components(views)
    exact = Counted.of(part.constraints)
    guess = estimate(part.constraints, 50_000, np.random.default_rng(1))
    for c, shares in enumerate(exact.shares):
        for v, share in enumerate(shares):
            assert abs(guess.shares[c, v] - float(share)) <= 6 * guess.deviations[c, v] + 1e-12
    assert 10**guess.logarithm == pytest.approx(exact.tables, rel=0.05)


@pytest.mark.parametrize("hits", [0, 1, 7, 50, 99, 100])
@pytest.mark.parametrize("error", [0.05, 1e-6])
def test_bounds_are_those_of_clopper_and_pearson(hits: int, error: float) -> None:
    low, high = clopper_pearson(hits, 100, error)
    assert low == pytest.approx(beta.ppf(error / 2, hits, 101 - hits) if hits else 0, abs=2e-9)
    assert high == pytest.approx(
        beta.isf(error / 2, hits + 1, 100 - hits) if hits < 100 else 1, abs=2e-9
    )
    assert hits == 0 or low < beta.ppf(error / 2, hits, 101 - hits)
    assert hits == 100 or high > beta.isf(error / 2, hits + 1, 100 - hits)


# Which way is taken


def entangled() -> Views:
    source = np.random.default_rng(2)
    value = source.choice(5, 200)
    sets = [np.flatnonzero(source.random(200) < 0.3).tolist() for _ in range(8)]
    return Views(200, [View(str(k), who, value[who].tolist()) for k, who in enumerate(sets)])


def test_what_is_too_entangled_even_for_samples_is_not_decided_and_the_rest_is() -> None:
    views = entangled()
    found = check(views, most=1000, tries=100)
    assert (found.how, found.private, found.tables_text, found.confidence) == (
        "bounded",
        None,
        "not counted",
        None,
    )
    assert "are worth" in found.views.notes[0]
    assert found.undecided
    assert not found.exposed
    more = Views(
        203, [*views.shown, View("a", [200, 201], ["x", "y"]), View("b", [201, 202], ["x", "z"])]
    )
    assert check(more, most=1000, tries=100).private is False
    with pytest.raises(TooLargeError, match="more than 1,000 steps"):
        check(views, how="exact", most=1000)


@settings(max_examples=100)
@given(worlds())
def test_bounds_of_single_views_hold(views: Views) -> None:
    number, has = brute(views)
    for part in components(views):
        for belief in bounded(views, part):
            for person in belief.people:
                for value in views.values:
                    low, high = belief.between(value)
                    assert low <= Fraction(has[person][value], number) <= high


def test_bounds_of_views_as_shares_would_be_caught() -> None:
    """What one view says of everybody in it bounds nobody: together views are surer."""
    views = chapter("6.3A", "6.3B")
    alone = max(Fraction(view.shown["S"], view.size) for view in views.shown)
    assert alone < check(views).of("Donald").shares["S"]


def test_where_counting_takes_too_long_the_method_and_the_sample_size_are_told() -> None:
    found = check(chapter("6.3A", "6.3B", "6.7"), most=1)
    assert (found.how, found.confidence, found.tables) == ("importance", Fraction(99, 100), None)
    assert found.effective is not None
    assert found.effective > 400
    assert [(one.name, one.value, one.exact) for one in found.exposed] == [("Donald", "S", False)]
    assert found.tables_text.startswith("about 10^2.7")


def chain(people: int) -> Views:
    """Each view shares two people with the next."""
    source = np.random.default_rng(3)
    value = source.choice(4, people)
    return Views(
        people,
        [
            View(str(at), who := range(at, min(at + 8, people)), value[who].tolist())
            for at in range(0, people - 2, 6)
        ],
    )


def test_long_chains_are_counted_with_roundings_accounted_for() -> None:
    views = chain(120)
    exact, enclosed = check(views, how="exact"), check(views, how="enclosed")
    for one, other in zip(exact.beliefs, enclosed.beliefs, strict=True):
        for value, share in one.shares.items():
            low, high = other.between(value)
            assert low <= share <= high
            assert high - low < Fraction(1, 10**10)
    assert enclosed.digits == pytest.approx(
        len(exact.tables_text) - 1 + float("0." + exact.tables_text[:15]), abs=1
    )


def test_a_very_long_chain_is_not_counted_in_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.views.counting.PATIENCE", 1e5)
    found = check(chain(1500))
    assert (found.how, found.confidence, found.tables) == ("enclosed", None, None)
    assert found.tables_text.startswith("about 10^")


# What is said of views


def test_limits_of_single_values_count_beside_gamma() -> None:
    views = chapter("6.3A")
    assert check(views).private is True
    strict = Views(views.names, views.shown, "1/2", {"H": "1/5"})
    assert {(one.name, one.value) for one in check(strict).exposed} == {
        (name, "H") for name in NAMES[:4]
    }
    lax = Views(views.names, chapter("6.3A", "6.3B").shown, "1/2", {"S": 0.8})
    assert check(lax).private is True


def test_who_may_be_outside_the_table_is_said_and_has_no_limit() -> None:
    views = Views(4, [View("A", range(4), ["flu"])], "1/4", complete=False)
    found = check(views)
    assert (found.tables, found.private) == (4, True)
    assert found.of(0).shares == {"flu": Fraction(1, 4), OUTSIDE: Fraction(3, 4)}
    with pytest.raises(InputError, match="not complete"):
        Views(4, [View("A", range(4), ["flu"])])


def test_people_in_no_view_change_nothing() -> None:
    more = Views([*NAMES[:7], "Zoe"], chapter("6.3A", "6.3B").shown)
    found = check(more)
    assert (found.tables, found.largest) == (45, Fraction(4, 5))
    with pytest.raises(ParameterError, match="in no view"):
        found.of("Zoe")


def test_a_part_of_a_view_leaves_its_rest() -> None:
    """Four people and three of them: the fourth is known."""
    views = Views(4, [View("A", range(4), list("abcc")), View("B", range(3), list("abc"))])
    assert check(views).of(3).shares == {"c": Fraction(1)}
    assert {part.constraints for part in components(views)} == {
        Constraints(((1, (0,)),), ((1,),)),
        Constraints(((3, (0,)),), ((1, 1, 1),)),
    }


def test_views_by_position_fall_apart() -> None:
    """Two tables whose groups are intervals of one order leave only differences of their borders."""
    views = [View(f"a{at}", range(at, at + 6), [0, 1, 2, 0, 1, 2]) for at in range(0, 60, 6)]
    views += [
        View(f"b{at}", range(at, at + 4), [(at + i) % 3 for i in range(4)])
        for at in range(0, 60, 4)
    ]
    assert all(len(part.constraints.bags) == 1 for part in components(Views(60, views)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: View("A", [0, 0], ["x", "y"]), "twice"),
        (lambda: View("A", [0], {"x": -1}), "whole number"),
        (lambda: View("A", [0], {"x": True}), "whole number"),
        (lambda: View("A", [0], "x"), "list"),
        (lambda: View("A", [0], [OUTSIDE]), "not in the table"),
        (lambda: Views(1, [View("A", [1], ["x"])]), "register"),
        (
            lambda: Views(2, [View("A", [0], ["x"]), View("A", [1], ["x"])]),
            "several views have the name",
        ),
        (lambda: Views(1, [], gamma=2), "gamma"),
        (lambda: Views(1, [View("A", [0], ["x", "y"])]), "cannot be more"),
        (lambda: check(Views(1, []), how="guess"), "how="),  # type: ignore[arg-type]
        (lambda: check(Views(1, []), confidence=1), "confidence"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(make: object, words: str) -> None:
    with pytest.raises((ParameterError, InputError), match=words):
        make()  # type: ignore[operator]


def test_no_views_leave_one_table_and_nobody_exposed() -> None:
    found = check(Views(3, []))
    assert (found.tables, found.private, found.largest) == (1, True, Fraction(0))
    assert not found.exposed


def test_a_share_that_is_exactly_its_limit_is_told_from_one_that_is_not_where_counts_are_rounded() -> (
    None
):
    views = chain(60)
    belief = check(views, how="exact").beliefs[7]
    value, share = next((value, share) for value, share in belief.shares.items() if 0 < share < 1)
    for limit in (share, share - Fraction(1, 10**25)):
        found = check(views.within(limit), how="enclosed")
        low, high = found.of(belief.people[0]).between(value)
        assert (low == high == limit) is (limit == share)
        assert (
            (belief.people[0], value) in {(one.person, one.value) for one in found.undecided}
        ) is (limit != share)
