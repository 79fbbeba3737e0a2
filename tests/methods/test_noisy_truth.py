"""An adversary who knows all but the coins: the exact law of what the shipped noisy counts put out,
on every tiny table.

Chance is replaced by enumeration (`enumeration`), and an outcome is all that leaves: the table's
rows and types, and the certificate. Bounded noise is followed to its end, in fractions. That of the
printed matrix has no end, so values that together weigh less than a stated `CUT` are left out, and
both sides of a comparison are allowed as much. Broken twins, each a small change to the shipped
code, must fail the same check.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack.coins import Interval, law, probabilistic, standard
from shoal.attack.semantic import breach, releases
from shoal.chance import Chance
from shoal.methods import noisy_counts
from shoal.methods.noisy_counts import KDGS, NoisyCounts, noisy
from shoal.privacy.bounded import BoundedCountParameters, bounded_count_parameters
from shoal.privacy.noise import NoisyCountParameters, noise_scale
from shoal.privacy.sharing import CountParameters
from shoal.releases.release import Release
from tests.methods.test_safepub_truth import CHAIN, CLASS, PAIR, World, everything, growth, most

CUT = Fraction(1, 10**4)
SLACK = Fraction(1, 10**3)
ONE_PAIR = World({"x": "01"}, {"x": PAIR})
Law = dict[Any, Interval]


def laws(method: NoisyCounts, world: World, records: int, cut: Fraction = CUT) -> dict[Any, Law]:
    def of(table: shoal.Table) -> Law:
        return law(lambda chance: everything(method.release(table, chance)), cut=cut)

    return {database: of(world.table(database)) for database in world.databases(records)}


def lost(method: NoisyCounts, world: World, records: int, cut: Fraction = CUT) -> Interval:
    """The least δ that the laws allow at the promised ε."""
    found = laws(method, world, records, cut)
    least = standard if method.definition == "standard" else probabilistic
    pairs = world.neighbours(list(found))
    return most(least(found[one], found[other], growth(method.epsilon)) for one, other in pairs)


METHODS = {
    "probabilistic": NoisyCounts("ln(4)", "1/10", 2, "probabilistic", noise="printed", levels={}),
    "standard": NoisyCounts("ln(4)", "1/10", k=2, noise="printed", levels={}),
    "counts": NoisyCounts("ln(4)", "1/5", k=1, counts=True, noise="printed", levels={}),
    "levels": NoisyCounts("ln(4)", "1/10", k=2, levels={"x": 1}, noise="printed"),
}
BOUNDED = {
    "bounded": NoisyCounts("ln(4)", "1/10", levels={}),
    "bounded, k = 2": NoisyCounts("ln(4)", "1/10", k=2, levels={}),
    "bounded, counts": NoisyCounts("ln(2)", "1/7", counts=True, levels={}),
    "bounded, levels": NoisyCounts("ln(4)", "1/10", k=2, levels={"x": 1}),
}
NOT_CUT = Fraction(0)
ALL_BUT = 1 - Fraction(1, 10**9)
"""Nearly all of δ is used: the noise could not be smaller."""


@pytest.mark.parametrize("method", BOUNDED.values(), ids=BOUNDED)
def test_bounded_noise_keeps_the_promise_exactly_and_uses_all_of_it(method: NoisyCounts) -> None:
    found = lost(method, CHAIN, 3, NOT_CUT)
    assert found.low > method.delta * ALL_BUT
    assert found.high <= method.delta


def test_bounded_noise_keeps_the_promise_where_two_rows_are_released() -> None:
    assert lost(BOUNDED["bounded"], ONE_PAIR, 5, NOT_CUT).high <= Fraction(1, 10)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_promise_holds_for_all_neighbours_in_both_orders(method: NoisyCounts) -> None:
    found = lost(method, CHAIN, 2 if method.k == 1 else 3)
    assert found.high <= Fraction(method.delta) + SLACK
    assert found.low > Fraction(method.delta) / 2  # and the check sees what there is to see


def test_the_promise_holds_where_two_rows_are_released() -> None:
    assert lost(METHODS["standard"], ONE_PAIR, 4).high <= Fraction(1, 10) + SLACK


def test_columns_without_a_hierarchy_count_too() -> None:
    method = METHODS["standard"]
    assert lost(method, CLASS, 3).high <= Fraction(method.delta) + SLACK


def test_with_a_delta_of_0_every_row_of_the_domain_gets_a_count_and_nothing_is_lost() -> None:
    method = NoisyCounts(
        "ln(4)", 0, definition="standard", counts=True, levels={}
    )  # both definitions are one here
    assert lost(method, ONE_PAIR, 2).high <= SLACK
    frame = pl.DataFrame({"x": ["0"] * 50}, schema={"x": pl.String})
    seen = {row for _ in range(60) for row in method.release(_table(frame)).table["x"].to_list()}
    assert seen == {"0", "1"}


def _table(frame: pl.DataFrame) -> shoal.Table:
    return shoal.table(frame, quasi=["x"], hierarchies={"x": PAIR}, missing="refuse")


# Twins


def below_k(count: Any, parameters: CountParameters, chance: Chance) -> Any:
    return noisy(count, replace(parameters, k=parameters.k - 1), chance)


def no_coin(count: Any, parameters: NoisyCountParameters, chance: Chance) -> Any:
    large = count >= parameters.k
    found = np.zeros_like(count)
    noise = chance.discrete_laplaces(parameters.scale, int(large.sum()))
    found[large] = np.maximum(count[large] + noise, parameters.k)
    return found


def no_noise(count: Any, parameters: NoisyCountParameters, chance: Chance) -> Any:
    return np.where(noisy(count, parameters, chance) > 0, count, 0)


def threshold_one_lower(count: Any, parameters: BoundedCountParameters, chance: Chance) -> Any:
    return noisy(count, replace(parameters, k=parameters.k - 1), chance)


def not_cut_off(count: Any, parameters: BoundedCountParameters, chance: Chance) -> Any:
    """Geometric noise, as the law of bounded noise is away from its ends."""
    noise = chance.discrete_laplaces(noise_scale(parameters.epsilon), len(count))
    return np.where(count + noise >= parameters.threshold, count + noise, 0)


def half_the_bounded_noise(count: Any, parameters: BoundedCountParameters, chance: Chance) -> Any:
    twin = bounded_count_parameters(parameters.epsilon * 2, parameters.delta, parameters.k)
    return noisy(count, twin, chance)


def bounded_by_twice_delta(count: Any, parameters: BoundedCountParameters, chance: Chance) -> Any:
    return noisy(count, replace(parameters, delta=2 * parameters.delta), chance)


BOUNDED_TWINS: dict[str, Callable[..., Any]] = {
    "threshold one lower": threshold_one_lower,
    "not cut off": not_cut_off,
    "half the noise": half_the_bounded_noise,
    "twice delta": bounded_by_twice_delta,
}


@pytest.mark.parametrize("twin", BOUNDED_TWINS.values(), ids=BOUNDED_TWINS)
def test_broken_twins_of_bounded_noise_are_caught(
    twin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    method = NoisyCounts("ln(2)", "1/9", levels={})
    assert lost(method, ONE_PAIR, 2).high <= method.delta + SLACK
    monkeypatch.setattr(noisy_counts, "noisy", twin)
    assert lost(method, ONE_PAIR, 2).low > method.delta + SLACK


def half_the_noise(count: Any, parameters: NoisyCountParameters, chance: Chance) -> Any:
    twin = replace(parameters)
    vars(twin)["scale"] = parameters.scale / 2
    return noisy(count, twin, chance)


def twice_delta(count: Any, parameters: NoisyCountParameters, chance: Chance) -> Any:
    return noisy(count, replace(parameters, delta=2 * parameters.delta), chance)


TWINS: dict[str, Callable[..., Any]] = {
    "no coin": no_coin,
    "no noise": no_noise,
    "half the noise": half_the_noise,
    "twice delta": twice_delta,
}


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS)
@pytest.mark.parametrize(
    "method", [METHODS["probabilistic"], METHODS["standard"]], ids=["probabilistic", "standard"]
)
def test_broken_twins_are_caught(
    twin: Callable[..., Any], method: NoisyCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noisy_counts, "noisy", twin)
    assert lost(method, CHAIN, 3).low > Fraction(method.delta) + SLACK


@pytest.mark.parametrize("method", [METHODS["standard"], BOUNDED["bounded"]])
def test_a_count_of_all_records_on_the_certificate_is_caught(
    method: NoisyCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = NoisyCounts.release

    def telling(self: NoisyCounts, table: shoal.Table, chance: Chance) -> Release:
        release = shipped(self, table, chance)
        return replace(
            release, certificate=replace(release.certificate, derived={"records": table.rows})
        )

    monkeypatch.setattr(NoisyCounts, "release", telling)
    assert lost(method, CHAIN, 3).low > Fraction(1, 2)


# Semantic k-anonymity, of the whole release


def semantic(method: Any, k: int, records: int = 3) -> Any:
    def run(rows: tuple[str, ...]) -> Any:
        table = CHAIN.table(tuple(rows.count(value) for value in "abc"))
        found = law(lambda chance: everything(method.release(table, chance)), cut=CUT)
        shown: dict[Any, Fraction] = {outcome: weight.low for outcome, weight in found.items()}
        return {**shown, "left out": 1 - sum(shown.values())}

    return breach(run, list("abc"), records, k)


@pytest.mark.parametrize(
    "method",
    [
        METHODS["probabilistic"],
        METHODS["levels"],
        BOUNDED["bounded, k = 2"],
        BOUNDED["bounded, levels"],
        KDGS(2),
        KDGS(2, levels={"x": 1}),
    ],
)
def test_semantic_k_anonymity_holds(method: Any) -> None:
    assert semantic(method, 2) is None


@pytest.mark.parametrize("method", [METHODS["probabilistic"], BOUNDED["bounded, k = 2"], KDGS(2)])
def test_semantic_k_anonymity_fails_for_a_larger_k(method: Any) -> None:
    assert semantic(method, 3) is not None


def test_one_record_behind_a_row_keeps_no_semantic_anonymity_and_none_is_promised() -> None:
    method = BOUNDED["bounded"]
    table = CHAIN.table((1, 1, 1))
    assert semantic(method, 2) is not None
    assert method.promise(table.schema).semantic_k is None
    assert BOUNDED["bounded, k = 2"].promise(table.schema).semantic_k == 2


@pytest.mark.parametrize("method", [METHODS["probabilistic"], BOUNDED["bounded, k = 2"]])
def test_a_k_one_too_small_is_caught(method: NoisyCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noisy_counts, "noisy", below_k)
    assert semantic(method, 2, 2) is not None


# Semantic anonymity beside it, by the law of the shipped code

SMALL = Fraction(1, 10**4)


def broken(method: NoisyCounts, k: int) -> Any:
    """The first table of up to three records over two rows that semantic k-anonymity does not
    protect.
    """
    like = _table(pl.DataFrame({"x": ["0", "1"]}))
    algorithm = releases(method, like, SMALL)
    return breach(algorithm, [("0",), ("1",)], 3, k)


@pytest.mark.parametrize(
    ("definition", "noise"),
    [("probabilistic", "printed"), ("standard", "printed"), ("standard", "bounded")],
)
def test_noisy_counts_keep_semantic_anonymity_by_their_law(definition: Any, noise: Any) -> None:
    method = NoisyCounts(
        "ln(4)", "1/5", k=2, definition=definition, levels={}, counts=True, noise=noise
    )
    assert broken(method, 2) is None
    found = broken(method, 3)  # more than is promised is not kept
    assert found is not None
    assert found.database in ((("0",), ("0",)), (("1",), ("1",)))
    assert "probability" in found.statement


@pytest.mark.parametrize("twin", [below_k])
def test_a_twin_of_noisy_counts_that_releases_smaller_rows_is_caught_by_breach(
    monkeypatch: pytest.MonkeyPatch, twin: Any
) -> None:
    monkeypatch.setattr(noisy_counts, "noisy", twin)
    found = broken(NoisyCounts("ln(4)", "1/5", k=2, counts=True, levels={}), 2)
    assert found is not None
    assert (len(found.database), found.replaceable) == (1, 0)


RARE = Fraction(1, 10**9)


def rarely_below_k(count: Any, parameters: CountParameters, chance: Chance) -> Any:
    """Rows of k − 1 records are shown too, once in a thousand million times."""
    drawn = noisy(count, parameters, chance)
    almost = np.flatnonzero(count == parameters.k - 1)
    drawn[almost[chance.bernoulli(RARE, len(almost))]] = parameters.k
    return drawn


def test_a_twin_that_hardly_ever_shows_a_smaller_row_is_caught_by_a_fine_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method = NoisyCounts("ln(4)", "1/5", k=2, counts=True, levels={})
    like = _table(pl.DataFrame({"x": ["0", "1"]}))
    rows = [("0",), ("1",)]
    assert breach(releases(method, like, RARE / 1000), rows, 2, 2) is None
    monkeypatch.setattr(noisy_counts, "noisy", rarely_below_k)
    found = breach(releases(method, like, RARE / 1000), rows, 2, 2)
    assert found is not None
    assert (len(found.database), found.replaceable) == (1, 0)
    assert {found.present, found.absent} in ({RARE, 0}, {1 - RARE, 1})
    assert breach(releases(method, like, RARE / 1000), rows, 2, 2, epsilon=10) is not None
