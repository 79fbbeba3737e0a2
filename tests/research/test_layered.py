"""Algorithm 4 and equation 10 of the personal generalisation paper do not make Algorithm 3
differentially private: shown by the code that ships.
"""

import warnings
from fractions import Fraction
from math import exp, log

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError
from shoal.research import FrequentScore, Layers, frequency_bound, layered_exponential
from tests.research.test_frequent import BETA, EPSILON, TOWNS, TREE, drawn, people, shows

UNIFORM = FrequentScore(model="uniform")
HALF = Layers(theta="4/5", sigma="5/8")  # σθ is one half


def points(table: Table, seed: int, layers: Layers = HALF) -> dict[tuple[str, ...], int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return layered_exponential(
            table, EPSILON, BETA, layers=layers, score=UNIFORM, chance=Seeded(seed)
        )


def test_it_warns_that_it_is_not_differentially_private() -> None:
    with pytest.warns(UserWarning, match="NOT differentially private"):
        layered_exponential(people("vvww"), 1, "0.5", score=UNIFORM, chance=Seeded(1))


def test_of_as_many_copies_as_are_accepted_one_less_changes_all() -> None:
    """t is 4/5 of the records, and half of them are accepted: 60 of 120 are, 59 of 119 are not."""
    enough, too_few = people("v" * 60 + "w" * 60), people("v" * 59 + "w" * 60)
    seen = 0
    for seed in range(12):
        seen += ("v",) in points(enough, seed)
        assert ("v",) not in points(too_few, seed)
    # Each of 60 is sampled with 1/2 and shown unchanged with about 1/5: all but never none.
    assert seen >= 11


def test_what_comes_out_fits_as_many_records_as_are_accepted() -> None:
    towns = "aaabbcd"
    table = shoal.table(
        pl.DataFrame({"x": list("vvvvvww"), "town": list(towns)}),
        quasi=["x", "town"],
        hierarchies={"x": TREE, "town": TOWNS},
    )
    above = {"a": "x", "b": "x", "c": "y", "d": "y"}
    layers = Layers(theta="1/2", sigma="2/3")
    for seed in range(4):
        for x, town in points(table, seed, layers):
            fits = sum(
                x in ("*", own) and town in (place, above[place], "*")
                for own, place in zip("vvvvvww", towns, strict=True)
            )
            assert fits >= Fraction(2, 3) * Fraction(7, 2)


def test_equation_10_is_what_it_prints() -> None:
    t = frequency_bound(1, "0.01", "1/2", columns=3, height=4, most=1, influence=2, slack="1/2")
    rate = (1 + log(0.5)) / (3 * 2 * 0.5)
    chernoff = 2 / (0.5 * 0.25) * (log(200) + 3 * log(4))
    copies = 0.5 * 4**3 * exp(rate) / (0.5 * 0.5)
    assert t - 1 <= max(chernoff, copies) < t
    with pytest.raises(ParameterError, match="slack"):
        frequency_bound(1, "0.01", "1/2", columns=3, height=4, most=1, influence=2, slack=1)


def test_the_t_that_equation_10_asks_for_does_not_help() -> None:
    """With t copies of a value they show, all but surely, and with one less they never do."""
    t = frequency_bound(EPSILON, "0.01", BETA, columns=1, height=2, most=2, influence=2)
    assert t > 60
    enough, too_few = people("v" * t + "w"), people("v" * (t - 1) + "w")
    for seed in range(10):
        assert shows(drawn(enough, t, Seeded(seed)), "v")
        assert not shows(drawn(too_few, t, Seeded(seed)), "v")


def test_what_cannot_be_is_refused() -> None:
    for name in ("theta", "sigma", "step"):
        with pytest.raises(ParameterError, match=name):
            Layers(**{name: 0})
    with pytest.warns(UserWarning, match="NOT"), pytest.raises(ParameterError, match="no quasi"):
        layered_exponential(people("vvww").with_roles(sensitive=["x"]), 1, "0.5")
    with pytest.warns(UserWarning, match="NOT"), pytest.raises(InfeasibleError, match="no layer"):
        # All records are asked for, which no point between the nodes has.
        layered_exponential(
            people("vwwwww"), 1, "0.5", layers=Layers(theta=1), score=UNIFORM, chance=Seeded(2)
        )
