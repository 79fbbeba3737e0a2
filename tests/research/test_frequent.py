"""Algorithm 3 of the personal generalisation paper is not differentially private: shown by the code
that ships.
"""

import warnings
from fractions import Fraction
from inspect import signature

import polars as pl
import pytest

import shoal
from shoal import research
from shoal.attack.coins import Interval, exp, law, standard
from shoal.chance import Chance, Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError, TooLargeError
from shoal.research import FrequentScore, frequent, frequent_exponential

TREE = Hierarchy.from_lines([["v", "*"], ["w", "*"]])
TOWNS = Hierarchy.from_lines([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
EPSILON, BETA = Fraction(1), Fraction(1, 2)  # e^−1 < 1/2
Drawn = tuple[tuple[tuple[str, ...], int], ...]


def people(values: str) -> Table:
    return shoal.table(pl.DataFrame({"x": list(values)}), quasi=["x"], hierarchies={"x": TREE})


def drawn(table: Table, t: int, chance: Chance, score: FrequentScore | None = None) -> Drawn:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        often = frequent_exponential(table, t, EPSILON, BETA, score=score, chance=chance)
    return tuple(often.items())


def outcomes(values: str, t: int) -> dict[Drawn, Interval]:
    table = people(values)
    return law(lambda chance: drawn(table, t, chance))


def shows(outcome: Drawn, value: str) -> bool:
    return any(value in shown for shown, _ in outcome)


def test_it_warns_that_it_is_not_differentially_private() -> None:
    with pytest.warns(UserWarning, match="NOT differentially private"):
        frequent_exponential(people("vvww"), 2, 1, "0.5", chance=Seeded(1))


def test_of_exactly_t_copies_one_less_changes_all_with_a_probability_that_goes_to_1() -> None:
    found = []
    for t in (2, 4, 7):
        with_one, without = outcomes("v" * t + "w", t), outcomes("v" * (t - 1) + "w", t)
        assert not any(shows(outcome, "v") for outcome in without)
        seen = sum(weight.low for outcome, weight in with_one.items() if shows(outcome, "v"))
        for epsilon in (EPSILON, 100 * EPSILON):  # no epsilon helps
            assert standard(with_one, without, exp(epsilon)).low >= seen
        found.append(seen)
        # Each copy is sampled with 1 − β and shown unchanged nearly half the time: the choice is
        # nearly uniform.
        each = 1 - (1 - float(seen)) ** (1 / t)
        assert abs(each - float(1 - BETA) / 2) < 0.02
    assert found == sorted(found)
    assert found[-1] > Fraction(8, 10)
    enough, too_few = people("v" * 60 + "w"), people("v" * 59 + "w")
    for seed in range(30):  # (3/4)^60 is below 10⁻⁷
        assert shows(drawn(enough, 60, Seeded(seed)), "v")
        assert not shows(drawn(too_few, 60, Seeded(seed)), "v")


def test_away_from_the_threshold_the_same_adversary_learns_little() -> None:
    apart = standard(outcomes("vvvvvw", 4), outcomes("vvvvw", 4), exp(EPSILON))
    assert apart.high < Fraction(1, 10)


def test_frequent_generalisations_of_sampled_records_come_out_and_the_roots_once_more() -> None:
    table = shoal.table(
        pl.DataFrame({"x": list("vvvww"), "town": list("aabcd")}),
        quasi=["x", "town"],
        hierarchies={"x": TREE, "town": TOWNS},
    )
    fits: dict[tuple[str, ...], int] = {
        (x, town): sum(
            (x in ("*", mine)) and town in (place, upper, "*")
            for mine, place, upper in zip("vvvww", "aabcd", "xxxyy", strict=True)
        )
        for x in "vw*"
        for town in "abcdxy*"
    }
    counts = set()
    for seed in range(80):
        for t in (1, 3):
            score = FrequentScore(measure="depth", model="harmonic", power=2)
            shown = dict(drawn(table, t, Seeded(seed), score))
            assert all(fits[texts] >= t for texts in shown)
            assert shown["*", "*"] >= 1
            counts.add(sum(shown.values()))
    assert {2, 3, 4, 5} <= counts <= {1, 2, 3, 4, 5, 6}


def test_nothing_of_the_result_speaks_of_a_promise() -> None:
    shown = drawn(people("vvww"), 2, Seeded(1))
    assert all(
        isinstance(number, int) and all(text in ("v", "w", "*") for text in one)
        for one, number in shown
    )
    assert "release" not in dir(research)
    assert not {"delta", "certificate", "promise"} & set(signature(frequent_exponential).parameters)


def test_what_cannot_be_is_refused_without_values_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = people("vvww")
    for error, arguments in (
        (ParameterError, (0, 1, "0.5")),
        (ParameterError, (2, 1, "0.3")),
        (ParameterError, (2, 1, 1)),
        (ParameterError, (2, 0, "0.5")),
        (InfeasibleError, (5, 1, "0.5")),
    ):
        with pytest.warns(UserWarning, match="NOT"), pytest.raises(error) as caught:
            frequent_exponential(table, *arguments)
        assert "'v'" not in str(caught.value)
    with (
        pytest.warns(UserWarning, match="NOT"),
        pytest.raises(ParameterError, match="weights are 0"),
    ):
        frequent_exponential(table, 2, 1, "0.5", score=FrequentScore(weights={"x": 0}))
    with pytest.warns(UserWarning, match="NOT"), pytest.raises(ParameterError, match="no quasi"):
        frequent_exponential(table.with_roles(sensitive=["x"]), 2, 1, "0.5")
    monkeypatch.setattr(frequent, "LARGEST", 3)
    with pytest.warns(UserWarning, match="NOT"), pytest.raises(TooLargeError):
        frequent_exponential(table, 2, 1, "0.5")
