"""An adversary who knows all but the coins: the exact law of what is released by a tree, on every
tiny table.

A release by a tree has three parts, each with a share of ε: the order of steps with its threshold,
the tree, and what is released of its boxes. Of the noise of a test only its sign matters, so a test
is a coin with a known probability, and the laws of tree and release are exact. The order is bought
by noise without end, so values that together weigh less than a stated `CUT` are left out there, and
both sides of a comparison are allowed as much. Broken twins must fail the same checks.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, TypeVar
from unittest import mock

import numpy as np
import pytest

from shoal.attack.coins import ONE, ZERO, Enumerated, Interval, exp, law, probabilistic, standard
from shoal.attack.semantic import breach
from shoal.chance import Chance, Seeded
from shoal.counts import Counts
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.methods import noisy_counts, safepub
from shoal.methods.noisy_counts import CountPlan, NoisyCounts, noisy
from shoal.methods.refining import (
    GrownTree,
    Refinable,
    RefiningBudget,
    RefiningOrder,
    RefiningStep,
    bought_order,
    grow,
    growing,
    tree,
)
from shoal.methods.safepub import SafePub, SafePubPlan
from shoal.privacy.bounded import BoundedCountParameters
from shoal.privacy.refining import RefiningParameters, refining_parameters
from tests.methods.test_noisy_truth import (
    half_the_bounded_noise,
    not_cut_off,
    threshold_one_lower,
)
from tests.methods.test_safepub_truth import (
    CHAIN,
    CLASS,
    CROWD,
    GRID,
    MANY,
    Database,
    World,
    everything,
    growth,
    most,
    two_betas,
)

Law = dict[Any, Interval]
Method = NoisyCounts | SafePub
MethodKind = TypeVar("MethodKind", NoisyCounts, SafePub)
Place = frozenset[tuple[tuple[int, ...], tuple[int, ...]]]
"""At which levels every distinct row is, which the leaves of its columns name."""

CUT = Fraction(1, 10**4)
SLACK = Fraction(1, 10**2)

COUNTS = NoisyCounts(4, "1/8", levels="tree", split="1/2")
SAMPLES = SafePub("3/2", "1/5", split="1/3", search="tree")  # k = 2
METHODS: dict[str, Method] = {"counts": COUNTS, "samples": SAMPLES}
SIDES = [(1, 0, 0, 0), (1, 0, 1, 0), (1, 1, 0, 0)]
"""Tables of a grid: all records alike, or told apart by one of the columns alone."""

both_methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


# The law of a release, in parts


def tail(scale: Fraction, above: int) -> Interval:
    """The probability that noise is above −`above`."""
    ratio = exp(-1 / scale)
    if above > 0:
        return ONE - exp(-above / scale) / (ONE + ratio)
    return exp((above - 1) / scale) / (ONE + ratio)


def exceed(above: Any, parameters: RefiningParameters, chance: Enumerated) -> Any:
    """Tests by coins that have the law of their noise."""
    return chance.coins(tail(parameters.scale, m) for m in above.tolist())


SHIPPED_TESTS = growing.exceed


@pytest.fixture(autouse=True)
def coins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "exceed", exceed)
    # Noise is not drawn ahead, as none is drawn.
    monkeypatch.setattr(growing, "_Ahead", lambda chance: chance)


@dataclass(frozen=True, eq=False)
class FixedOrder(RefiningOrder):
    """An order whose threshold is known, too."""

    fixed: int = 0

    def threshold(self, crowd: Fraction | int, bias: int) -> int:
        return self.fixed


def fixed_order(threshold: int, *steps: tuple[int, int], records: int = 1) -> FixedOrder:
    chain = tuple(RefiningStep(column, level + 1, level) for column, level in steps)
    return FixedOrder(chain, (0.0,) * len(steps), records, threshold)


def down(threshold: int) -> FixedOrder:
    """The order of a world with one column of two steps."""
    return fixed_order(threshold, (0, 1), (0, 0))


@contextmanager
def by(order: RefiningOrder, grown: GrownTree | None = None) -> Iterator[None]:
    """Releases have this order, and this tree."""
    with mock.patch.object(RefiningBudget, "order", return_value=order):
        if grown is None:
            yield
            return
        with mock.patch.object(RefiningBudget, "grown", return_value=grown):
            yield


def budget_of(method: Method, table: Table) -> RefiningBudget:
    budget = method.plan(table.schema).tree
    assert budget is not None
    return budget


def place(grown: GrownTree) -> Place:
    """Where the tree puts every distinct row."""
    names = grown.budget.nodes.hierarchies
    leaves = [grown.counts.column(name) for name in names]
    levels = [grown.boxes.row_levels(column) for column in range(len(names))]
    rows = zip(zip(*leaves, strict=True), zip(*levels, strict=True), strict=True)
    return frozenset((tuple(map(int, leaf)), tuple(map(int, level))) for leaf, level in rows)


def trees(method: Method, table: Table, order: RefiningOrder) -> tuple[Law, dict[Place, GrownTree]]:
    """The law of the tree, and every tree that there may be."""
    budget = budget_of(method, table)
    counts = table.count(table.schema.released)
    known: dict[Place, GrownTree] = {}

    def run(chance: Chance) -> Place:
        grown = budget.grown(counts, order, 1, chance)
        found = place(grown)
        known[found] = grown
        return found

    return law(run), known


def given_tree(
    method: Method, table: Table, order: RefiningOrder, grown: GrownTree, cut: Fraction
) -> Law:
    """The law of what leaves once the tree is grown."""
    with by(order, grown):
        return law(lambda chance: everything(method.release(table, chance)), cut=cut)


def whole(method: Method, table: Table, order: RefiningOrder, cut: Fraction = Fraction(0)) -> Law:
    """The law of what leaves, from the order to the end."""
    with by(order):
        return law(lambda chance: everything(method.release(table, chance)), cut=cut)


def together(places: Law, given: Mapping[Place, Law]) -> Law:
    """The law of what leaves, from that of the tree and what leaves once it is grown."""
    found: Law = {}
    for one, weight in places.items():
        for outcome, chance in given[one].items():
            found[outcome] = found.get(outcome, ZERO) + weight * chance
    return found


# The check


@dataclass
class Found:
    """The least δ that the laws allow for tree, release and both together, at their ε."""

    tree: Interval
    release: Interval
    whole: Interval
    delta: Fraction

    @property
    def kept(self) -> bool:
        return self.tree.high == 0 and max(self.release.high, self.whole.high) <= self.delta

    @property
    def broken(self) -> set[str]:
        claims = {"tree": self.tree.low > 0}
        claims |= {name: getattr(self, name).low > self.delta for name in ("release", "whole")}
        return {name for name, fails in claims.items() if fails}


def examine(
    method: Method,
    world: World,
    databases: Sequence[Database],
    order: RefiningOrder,
    cut: Fraction = Fraction(0),
) -> Found:
    """Check all neighbours among the databases, given the order; its share of ε is not used."""
    tables = {database: world.table(database) for database in databases}
    grown = {database: trees(method, table, order) for database, table in tables.items()}
    given = {
        database: {
            one: given_tree(method, table, order, known, cut)
            for one, known in grown[database][1].items()
        }
        for database, table in tables.items()
    }
    wholes = {database: together(grown[database][0], given[database]) for database in databases}
    paid = Shares.of(method)
    pairs = list(world.neighbours(databases))
    return Found(
        most(
            standard(*seen(grown[one][0], grown[other][0]), growth(paid.tree))
            for one, other in pairs
        ),
        most(
            standard(given[one][mine], given[other][theirs], growth(paid.release))
            for one, other in pairs
            for mine in given[one]
            for theirs in given[other]
            if agree(mine, theirs)
        ),
        most(
            standard(wholes[one], wholes[other], growth(paid.tree) * growth(paid.release))
            for one, other in pairs
        ),
        method.delta,
    )


@dataclass(frozen=True)
class Shares:
    """What each part of a release may spend, by the promise alone."""

    order: Epsilon
    tree: Epsilon
    release: Epsilon

    @classmethod
    def of(cls, method: Method) -> "Shares":
        assert method.split is not None
        choosing = method.epsilon * (1 - method.split)
        return cls(
            choosing * tree.ORDER, choosing * (1 - tree.ORDER), method.epsilon * method.split
        )


def seen(one: Law, other: Law) -> tuple[Law, Law]:
    """The laws of where the rows are that both tables have."""
    both = leaves_of(one) & leaves_of(other)
    return restricted(one, both), restricted(other, both)


def leaves_of(places: Law) -> frozenset[tuple[int, ...]]:
    return frozenset(leaf for leaf, _ in next(iter(places)))


def restricted(places: Law, both: frozenset[tuple[int, ...]]) -> Law:
    found: Law = {}
    for one, weight in places.items():
        part = frozenset(row for row in one if row[0] in both)
        found[part] = found.get(part, ZERO) + weight
    return found


def agree(one: Place, other: Place) -> bool:
    """Whether two trees may be one: rows that both tables have are at the same levels."""
    levels = dict(one)
    return all(levels.get(leaf, level) == level for leaf, level in other)


# What ships


@both_methods
def test_tree_and_release_keep_their_shares_and_the_promise_together(method: Method) -> None:
    found = examine(method, CHAIN, CHAIN.databases(3), down(1))
    assert found.kept
    assert found.release.low > found.delta * Fraction(3, 4)
    assert found.whole.low > found.delta / 3  # so that there is something to break


@pytest.mark.slow
@both_methods
@pytest.mark.parametrize("threshold", [-2, 0, 2, 3, 5])
def test_every_table_of_four_records_keeps_the_promise(method: Method, threshold: int) -> None:
    assert examine(method, CHAIN, CHAIN.databases(4), down(threshold)).kept


@both_methods
def test_columns_without_a_hierarchy_keep_the_promise(method: Method) -> None:
    found = examine(method, CLASS, CLASS.databases(2), fixed_order(1, (0, 0)))
    assert found.kept
    assert found.whole.low > 0


@both_methods
def test_two_columns_keep_the_promise(method: Method) -> None:
    order = fixed_order(1, (1, 0), (0, 0))
    assert examine(method, GRID, [*GRID.databases(1), *SIDES[1:]], order).kept


@pytest.mark.slow
@both_methods
def test_every_table_of_three_records_and_two_columns_keeps_the_promise(method: Method) -> None:
    for order in (fixed_order(1, (0, 0), (1, 0)), fixed_order(2, (1, 0), (0, 0))):
        assert examine(method, GRID, GRID.databases(3), order).kept
    assert examine(method, CLASS, CLASS.databases(3), fixed_order(2, (0, 0))).kept


@both_methods
@pytest.mark.parametrize("option", ["floor", "ceiling"])
def test_bounds_on_levels_keep_the_promise(method: Method, option: str) -> None:
    """With a ceiling the first boxes are several; with a floor the last ones are large."""
    bounded = replace(method, **{option: {"x": 1}})  # type: ignore[arg-type]
    order = fixed_order(1, (0, 0 if option == "ceiling" else 1))
    assert examine(bounded, CHAIN, CHAIN.databases(2), order).kept


@both_methods
@pytest.mark.parametrize("database", [(0, 0, 0), (2, 1, 0), (1, 0, 1)])
def test_the_law_of_a_release_is_that_of_its_parts(method: Method, database: Database) -> None:
    """Tree and release share nothing but the tree."""
    table, order = CHAIN.table(database), down(1)
    places, known = trees(method, table, order)
    nothing = Fraction(0)
    given = {one: given_tree(method, table, order, known[one], nothing) for one in places}
    parts, found = together(places, given), whole(method, table, order)
    assert found.keys() == parts.keys()
    for outcome, weight in found.items():
        assert abs(float(weight - parts[outcome])) < 1e-80


def test_a_test_is_a_coin_with_the_law_of_its_noise() -> None:
    parameters = refining_parameters(1, 2)
    for above in (-3, 0, 1, 4):
        shipped = law(
            lambda chance, above=above: bool(  # type: ignore[misc]
                SHIPPED_TESTS(np.array([above]), parameters, chance)[0]
            ),
            cut=CUT,
        )
        missing = 1 - sum(weight.low for weight in shipped.values())
        coin = tail(parameters.scale, above)
        assert 0 <= missing < CUT
        assert coin.low - missing <= shipped[True].low <= shipped[True].high <= coin.high


def test_noise_that_is_drawn_ahead_is_used_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(growing, "_AHEAD", 4)
    drawn: list[int] = []

    class Counting(Seeded):
        def discrete_laplaces(self, scale: Fraction, size: int) -> Any:
            assert size >= 4
            drawn.extend(range(len(drawn), len(drawn) + size))
            return np.array(drawn[-size:])

    ahead = growing._Ahead(Counting(1))
    used = [ahead.discrete_laplaces(Fraction(2), size).tolist() for size in (1, 0, 2, 3, 9, 1)]
    numbers = [number for part in used for number in part]
    assert [len(part) for part in used] == [1, 0, 2, 3, 9, 1]
    assert numbers == drawn[: len(numbers)]


@both_methods
def test_the_shares_add_up_to_the_promise(method: Method) -> None:
    several = replace(method, unit="who", rows=3)
    for one in (method, several):
        schema = CROWD.table((1, 0, 0, 0)).schema
        plan = one.plan(schema)
        budget = plan.tree
        assert budget is not None
        counts = plan.noise if isinstance(plan, CountPlan) else plan.parameters
        parts = [budget.epsilon_order, budget.epsilon_tree, counts.epsilon]
        together = sum(part.bounds(60)[1] for part in parts)
        assert together <= method.epsilon.bounds(60)[0] / one.rows


def test_a_tree_keeps_no_semantic_anonymity_and_none_is_promised() -> None:
    """A row of one record moves the tests, though it is never shown itself."""
    method = replace(COUNTS, k=2)

    def run(rows: tuple[str, ...]) -> Law:
        table = CHAIN.table(tuple(rows.count(value) for value in "abc"))
        return whole(method, table, down(1))

    assert method.promise(CHAIN.table((1, 1, 1)).schema).semantic_k is None
    assert breach(run, list("abc"), 3, 2) is not None


# The order, which is bought


@pytest.fixture
def bought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "ORDER", Fraction(3, 4))


ORDERED = NoisyCounts(8, "1/8", levels="tree", split="1/2")


def orders(method: Method, table: Table, cut: Fraction) -> Law:
    """The law of all that is known of the order: more than is published."""
    budget = budget_of(method, table)
    counts = table.count(table.schema.released)

    def run(chance: Chance) -> Any:
        order = budget.order(counts, chance)
        return order.steps, order.fall, order.records

    return law(run, cut=cut)


def surely_lost(one: Law, other: Law, epsilon: Epsilon) -> Fraction:
    """What one law has above the other at ε, less what was left out of the other."""
    missing = 1 - sum(weight.low for weight in other.values())
    return standard(one, other, growth(epsilon)).low - growth(epsilon).high * missing


def orders_lost(world: World, databases: Sequence[Database], cut: Fraction) -> Fraction:
    laws = {database: orders(ORDERED, world.table(database), cut) for database in databases}
    for found in laws.values():
        assert 1 - sum(weight.low for weight in found.values()) < 10 * SLACK
    epsilon = Shares.of(ORDERED).order
    pairs = world.neighbours(databases)
    return max(surely_lost(laws[one], laws[other], epsilon) for one, other in pairs)


@pytest.mark.usefixtures("bought")
def test_an_order_by_noisy_numbers_keeps_its_share() -> None:
    assert orders_lost(CHAIN, CHAIN.databases(1), CUT) <= 0
    assert orders_lost(GRID, SIDES, CUT * 10) <= 0


def by_true_numbers(
    rows: Counts, columns: Refinable, epsilon: Epsilon, chance: Chance
) -> RefiningOrder:
    """The order by the numbers of records as they are."""
    with mock.patch.object(chance, "discrete_laplaces", lambda scale, size: np.zeros(size, int)):
        return bought_order(rows, columns, epsilon, chance)


def with_half_the_noise(
    rows: Counts, columns: Refinable, epsilon: Epsilon, chance: Chance
) -> RefiningOrder:
    return bought_order(rows, columns, epsilon * 2, chance)


def paid_for_one_column(
    rows: Counts, columns: Refinable, epsilon: Epsilon, chance: Chance
) -> RefiningOrder:
    """Each column has all of the order's ε."""
    return bought_order(rows, columns, epsilon * len(columns.trees), chance)


@pytest.mark.usefixtures("bought")
@pytest.mark.parametrize(
    ("twin", "world"),
    [(by_true_numbers, GRID), (with_half_the_noise, CHAIN), (paid_for_one_column, GRID)],
)
def test_twins_of_the_order_are_caught(
    twin: Callable[..., Any], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "bought_order", twin)
    databases = SIDES if world is GRID else CHAIN.databases(1)
    assert orders_lost(world, databases, CUT * 10) > SLACK


@pytest.mark.usefixtures("bought")
def test_an_order_by_the_rows_changes_what_is_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The steps are on the certificate: by true numbers one record decides on them."""
    monkeypatch.setattr(tree, "bought_order", by_true_numbers)
    first = [
        {steps[0].column for steps, *_ in orders(ORDERED, GRID.table(database), CUT)}
        for database in ((1, 1, 0, 0), (1, 0, 1, 0))
    ]
    assert first == [{0}, {1}]


@pytest.mark.usefixtures("bought")
def test_a_chance_chosen_with_the_order_keeps_the_orders_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SafePub's β is chosen by the number of records that the order is bought with."""
    monkeypatch.setattr(safepub, "chosen_parameters", two_betas)
    method = SafePub(8, "1/5", split="1/2", search="tree", beta="auto")
    laws: dict[Database, Law] = {}
    for database in [(0, 0, MANY - 1), (0, 0, MANY)]:
        table = CHAIN.table(database)
        records: Law = {}
        for (*_, number), weight in orders(method, table, CUT).items():
            records[number] = records.get(number, ZERO) + weight
        laws[database] = {}
        for number, weight in records.items():
            chance = _chance_of(method, table, number)
            laws[database][chance] = laws[database].get(chance, ZERO) + weight
    assert all(len(chances) == 2 for chances in laws.values())
    epsilon = Shares.of(method).order
    for one, other in CHAIN.neighbours(list(laws)):
        assert surely_lost(laws[one], laws[other], epsilon) <= 0


def _chance_of(method: SafePub, table: Table, records: int) -> str:
    """The β on the certificate, where about this many records are known of."""
    order = replace(down(1), records=records)
    outcome = next(iter(whole(method, table, order, Fraction(1, 2))))
    return str(json.loads(outcome[2])["derived"]["beta"])


# People with several rows


COUPLES = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 1, 0)]
"""Nobody; one person with one row, twice the same, or two; and two people."""


def crowds(
    method: Method, order: RefiningOrder, databases: Sequence[Database] = COUPLES
) -> Interval:
    """The least δ for neighbours that differ in one person, given the order."""
    laws = {database: whole(method, CROWD.table(database), order) for database in databases}
    paid = Shares.of(method)
    factor = growth(paid.tree) * growth(paid.release)
    pairs = CROWD.neighbours(databases)
    return most(standard(laws[one], laws[other], factor) for one, other in pairs)


ONE_ROW = replace(COUNTS, unit="who")
TWO_ROWS = replace(COUNTS, delta=Fraction(3, 5), unit="who", rows=2, ceiling={"x": 1})


@pytest.mark.parametrize(
    ("method", "order"), [(ONE_ROW, down(1)), (TWO_ROWS, fixed_order(1, (0, 0)))]
)
def test_a_person_with_several_rows_is_protected_as_a_whole(
    method: NoisyCounts, order: RefiningOrder
) -> None:
    found = crowds(method, order)
    assert method.delta / 10 < found.low <= found.high <= method.delta


@pytest.mark.slow
def test_two_people_with_several_rows_are_protected() -> None:
    samples = SafePub(3, "3/5", split="1/3", search="tree", unit="who", rows=2)
    for method in (samples, replace(samples, rows=1), ONE_ROW):
        assert crowds(method, down(1), CROWD.databases(2)).high <= method.delta
    found = crowds(TWO_ROWS, fixed_order(1, (0, 0)), CROWD.databases(2))
    assert found.high <= TWO_ROWS.delta


class OneRowPaid(NoisyCounts):
    """Two rows of a person are used, and paid for as if they were one."""

    def plan(self, schema: Schema) -> CountPlan:
        return replace(twin(NoisyCounts, self), rows=1).plan(schema)


def test_a_persons_rows_that_are_not_paid_for_are_caught() -> None:
    unpaid = twin(OneRowPaid, replace(TWO_ROWS, delta=Fraction(1, 8)))
    assert crowds(unpaid, fixed_order(1, (0, 0)), COUPLES[:3]).low > unpaid.delta


# Twins, each a small change to what ships


def twin(kind: type[MethodKind], method: Method) -> MethodKind:
    return kind(**{field.name: getattr(method, field.name) for field in fields(method)})


def tree_lost(method: Method, databases: Sequence[Database], order: RefiningOrder) -> Interval:
    """The least δ that the tree alone needs, where 0 is claimed."""
    laws = {database: trees(method, CHAIN.table(database), order)[0] for database in databases}
    epsilon = Shares.of(method).tree
    pairs = CHAIN.neighbours(databases)
    return most(standard(*seen(laws[one], laws[other]), growth(epsilon)) for one, other in pairs)


def half_the_noise(above: Any, parameters: RefiningParameters, chance: Enumerated) -> Any:
    return exceed(above, replace(parameters, scale=parameters.scale / 2), chance)


def by_the_true_count(above: Any, parameters: RefiningParameters, chance: Enumerated) -> Any:
    return above > 0


@both_methods
@pytest.mark.parametrize("tests", [half_the_noise, by_the_true_count])
def test_twins_of_the_tests_are_caught(
    method: Method, tests: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "exceed", tests)
    assert tree_lost(method, CHAIN.databases(2), down(1)).low > 0


def counted_twice(rows: Counts, *rest: Any) -> Any:
    return grow(replace(rows, count=2 * rows.count), *rest)


@both_methods
def test_parts_that_are_counted_twice_are_caught(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "grow", counted_twice)
    assert tree_lost(method, CHAIN.databases(2), down(2)).low > 0


def left_over(count: Any, parameters: BoundedCountParameters, chance: Chance) -> Any:
    """What was not released is pooled, and released if it is enough together: nobody paid."""
    drawn = noisy(count, parameters, chance)
    left = drawn == 0
    if count[left].sum() >= parameters.threshold:
        drawn[left] = count[left]
    return drawn


@pytest.mark.parametrize("twin", [threshold_one_lower, half_the_bounded_noise, left_over])
def test_twins_of_the_counts_are_caught(
    twin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noisy_counts, "noisy", twin)
    found = examine(COUNTS, CHAIN, CHAIN.databases(2), down(1))
    assert found.broken == {"release", "whole"}


def test_noise_that_is_not_cut_off_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    method, cut = replace(COUNTS, epsilon=Epsilon.of("2*ln(2)"), delta=Fraction(1, 9)), CUT * 10
    monkeypatch.setattr(noisy_counts, "noisy", not_cut_off)
    found = examine(method, CHAIN, CHAIN.databases(1), down(1), cut)
    assert found.release.low > method.delta + SLACK


class NotTaken(NoisyCounts):
    """The counts have the whole of ε, and the tree its share once more."""

    def plan(self, schema: Schema) -> CountPlan:
        given = replace(twin(NoisyCounts, self), levels={}, split=None).plan(schema)
        return replace(super().plan(schema), noise=given.noise)


def test_a_tree_that_is_not_taken_from_the_counts_epsilon_is_caught() -> None:
    found = examine(twin(NotTaken, COUNTS), CHAIN, CHAIN.databases(2), down(1))
    assert found.broken >= {"release", "whole"}


class Fewer(SafePub):
    """k is one too small."""

    def plan(self, schema: Schema) -> SafePubPlan:
        plan = super().plan(schema)
        return replace(plan, parameters=replace(plan.parameters, k=plan.parameters.k - 1))


class Unsampled(SafePub):
    """Every record is drawn."""

    def plan(self, schema: Schema) -> SafePubPlan:
        plan = super().plan(schema)
        return replace(plan, parameters=replace(plan.parameters, beta=Fraction(1)))


@pytest.mark.parametrize("kind", [Fewer, Unsampled])
def test_twins_of_the_samples_are_caught(kind: type[SafePub]) -> None:
    found = examine(twin(kind, SAMPLES), CHAIN, CHAIN.databases(2), down(1))
    assert "release" in found.broken


# The other definition


class Probabilistic(SafePub):
    """A tree by the probabilistic definition, which the shipped method refuses."""

    def _require_sense(self) -> None:
        pass


def test_the_probabilistic_definition_is_not_kept_by_a_tree_and_refused() -> None:
    """Trees that look alike put different numbers of records behind one released row."""
    options: dict[str, Any] = {"split": "99/100", "search": "tree"}
    careless = Probabilistic("100/99*ln(2)", "3/16", "probabilistic", **options)
    order = fixed_order(1000, (0, 0))
    four = whole(careless, CLASS.table((1, 0, 3, 0)), order)
    three = whole(careless, CLASS.table((1, 0, 2, 0)), order)
    factor = growth(careless.epsilon)
    assert probabilistic(four, three, factor).low > Fraction(1, 4) > careless.delta
    assert standard(four, three, factor).high < careless.delta
    with pytest.raises(ParameterError, match="definition"):
        SafePub("100/99*ln(2)", "3/16", "probabilistic", **options)
    with pytest.raises(ParameterError, match="definition"):
        NoisyCounts(1, "1/8", 1, "probabilistic", levels="tree", noise="printed")
