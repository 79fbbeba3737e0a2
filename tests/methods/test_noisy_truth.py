"""An adversary who knows all but the coins: the exact law of what the shipped noisy counts put out,
on every tiny table.

Chance is replaced by enumeration (`enumeration`), and an outcome is all that leaves: the table's
rows and types, and the certificate. Bounded noise is followed to its end, in fractions. That of the
printed matrix has no end, so values that together weigh less than a stated `CUT` are left out, and
both sides of a comparison are allowed as much. Broken twins, each a small change to the shipped
code, must fail the same check.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack.coins import ZERO, Interval, law, probabilistic, standard
from shoal.attack.semantic import breach, releases
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.schema import Schema
from shoal.lattice import Node
from shoal.methods import noisy_counts
from shoal.methods.noisy_counts import KDGS, CountPlan, NoisyCounts, noisy
from shoal.methods.searching import search
from shoal.methods.searching.scores import SCORES, Candidates, Score
from shoal.privacy.bounded import BoundedCountParameters, bounded_count_parameters
from shoal.privacy.noise import NoisyCountParameters, noise_scale
from shoal.privacy.sharing import CountParameters
from shoal.releases.release import Release
from tests.methods.test_safepub_truth import (
    CHAIN,
    CLASS,
    CROWD,
    PAIR,
    SELECT,
    Database,
    Remembered,
    Telling,
    World,
    everything,
    growth,
    most,
    noised,
)

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


# Levels by a search


SEARCHED = NoisyCounts(3, "1/5", levels="search", split="2/3")
PARTLY = replace(SEARCHED, k=3)
"""Where rows need so many records that the search may look at a part of them."""


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "select", Remembered(SELECT))


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a tiny table is too large to be searched as a whole."""
    monkeypatch.setattr(search, "WANTED", 2)
    monkeypatch.setattr(search, "LEAST", 1)


def searched_law(method: NoisyCounts, table: shoal.Table) -> Law:
    """The law of what leaves, from the noisy number of records to the counts."""
    parameters = method.plan(table.schema).noise.parameters
    assert parameters is not None
    kind = noised(table.rows, Needed(parameters.half))
    return law(lambda chance: everything(method.release(table, chance)), kind)


@dataclass(frozen=True)
class Needed:
    """How many records a row needs, all of which may be looked at."""

    k: int
    beta: Fraction = Fraction(1)


def chosen_levels(found: Law) -> Law:
    """The law of the levels alone, which are on the certificate."""
    levels: Law = {}
    for outcome, weight in found.items():
        at = str(json.loads(outcome[2])["levels"])
        levels[at] = levels.get(at, ZERO) + weight
    return levels


def searched(
    method: NoisyCounts, world: World, databases: Sequence[Database]
) -> tuple[Interval, Interval]:
    """The least δ of the choice of levels at its share of ε, and of all at ε."""
    laws = {database: searched_law(method, world.table(database)) for database in databases}
    levels = {database: chosen_levels(found) for database, found in laws.items()}
    assert method.split is not None
    share = growth(method.epsilon * (1 - method.split))
    pairs = list(world.neighbours(databases))
    return (
        most(standard(levels[one], levels[other], share) for one, other in pairs),
        most(standard(laws[one], laws[other], growth(method.epsilon)) for one, other in pairs),
    )


@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize(
    ("method", "world", "records"),
    [
        (SEARCHED, CHAIN, 2),
        (replace(SEARCHED, score="groups", counts=True), CHAIN, 2),
        (replace(SEARCHED, score="classification", classes=("ill",)), CLASS, 2),
    ],
    ids=["granularity", "groups", "classification"],
)
def test_levels_by_a_search_keep_their_share_and_the_promise(
    method: NoisyCounts, world: World, records: int
) -> None:
    choice, together = searched(method, world, world.databases(records))
    assert choice.high == 0
    assert method.delta / 10 < together.low <= together.high <= method.delta


@pytest.mark.usefixtures("remembered", "small_samples")
def test_a_search_on_a_sample_keeps_its_share_and_the_promise() -> None:
    assert PARTLY.crowd(CHAIN.table((1, 0, 0)).schema) == 4
    choice, together = searched(PARTLY, CHAIN, CHAIN.databases(2))
    assert choice.high == 0
    assert together.high <= PARTLY.delta


@pytest.mark.slow
@pytest.mark.usefixtures("remembered", "small_samples")
@pytest.mark.parametrize("score", [name for name in SCORES if name != "classification"])
def test_a_search_by_every_score_keeps_its_share_and_the_promise(score: str) -> None:
    for method in (replace(SEARCHED, score=score), replace(PARTLY, score=score)):
        choice, together = searched(method, CHAIN, CHAIN.databases(4))
        assert choice.high == 0
        assert together.high <= method.delta


def test_a_person_with_several_rows_is_protected_through_a_search() -> None:
    method = NoisyCounts(4, "3/5", levels="search", unit="who", rows=2, ceiling={"x": 1})
    laws: dict[Database, Law] = {}
    for database in ((0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 1, 0)):
        table = CROWD.table(database)
        laws[database] = searched_law(method, table)
    pairs = CROWD.neighbours(list(laws))
    found = most(standard(laws[one], laws[other], growth(method.epsilon)) for one, other in pairs)
    assert method.delta / 10 < found.low <= found.high <= method.delta


def test_levels_that_are_chosen_keep_no_semantic_anonymity_and_none_is_promised() -> None:
    """A row of one record moves the choice, though it is never shown itself."""
    method = replace(SEARCHED, k=2)

    def run(rows: tuple[str, ...]) -> Law:
        return searched_law(method, CHAIN.table(tuple(rows.count(value) for value in "abc")))

    table = CHAIN.table((1, 1, 1))
    assert method.promise(table.schema).semantic_k is None
    assert replace(method, levels={}, split=None).promise(table.schema).semantic_k == 2
    assert breach(run, list("abc"), 3, 2) is not None


class NotTaken(NoisyCounts):
    """The counts have the whole of ε, and the search its share once more."""

    def plan(self, schema: Schema) -> CountPlan:
        given = NoisyCounts(self.epsilon, self.delta, self.k, levels={}).plan(schema)
        return replace(super().plan(schema), noise=given.noise)


@pytest.mark.parametrize("twin", [threshold_one_lower, half_the_bounded_noise])
def test_twins_of_counts_after_a_search_are_caught(
    twin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noisy_counts, "noisy", twin)
    assert searched(SEARCHED, CHAIN, CHAIN.databases(2))[1].low > SEARCHED.delta


def test_a_search_that_is_not_taken_from_the_counts_epsilon_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SCORES, "telling", Telling())
    method = replace(SEARCHED, delta=Fraction(1, 8), score="telling")
    pair = [(1, 0, 0), (2, 0, 0)]
    assert searched(method, CHAIN, pair)[1].high <= method.delta
    unpaid = NotTaken(3, "1/8", levels="search", split="2/3", score="telling")
    assert searched(unpaid, CHAIN, pair)[1].low > method.delta


def louder(
    nodes: Candidates, score: Score, sample: Counts, k: int, epsilon: Fraction, *rest: Any
) -> Node:
    return SELECT(nodes, score, sample, k, 2 * epsilon, *rest)


def by_the_true_score(
    nodes: Candidates, score: Score, sample: Counts, k: int, epsilon: Fraction, *rest: Any
) -> Node:
    scores = score.on(nodes, sample, k)
    return max(map(nodes.node, range(nodes.size)), key=scores.of)


@pytest.mark.parametrize("twin", [louder, by_the_true_score])
def test_twins_of_the_search_are_caught(
    twin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCORES, "telling", Telling())
    method = replace(SEARCHED, score="telling")
    databases = [(0, 2, 0), (0, 3, 0), (1, 2, 0)]
    assert searched(method, CHAIN, databases)[0].high == 0
    monkeypatch.setattr(search, "select", twin)
    assert searched(method, CHAIN, databases)[0].low > 0


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
