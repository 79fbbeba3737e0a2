"""Someone who knows the algorithm: on the papers' tables and on small ones, by counting, by trying all inputs, by sampling."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.attack import AttackResult, Effort, beliefs, expose, first_safe, inputs
from shoal.attack.coins import Enumerated
from shoal.attack.counting import CountingProblem, PeopleClass, drawn, ways
from shoal.attack.enumeration import enumerated
from shoal.attack.judge import Judge
from shoal.attack.knowledge import Knowledge
from shoal.attack.minimality import counted
from shoal.attack.sampling import interval
from shoal.chance import Seeded
from shoal.cli.app import app
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import ColumnError, InfeasibleError, InputError, ParameterError, TooLargeError
from shoal.methods import Method
from shoal.methods.coincident import Coincident
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.privacy.models import (
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
)

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def tree(size: int) -> Hierarchy:
    return Hierarchy.from_lines(
        [[str(i), f"{i // 2 * 2}-{i // 2 * 2 + 1}", "*"] for i in range(size)], "integer"
    )


TREES = {"a": tree(8), "b": tree(4)}


def known(rows: list[tuple[int, int]]) -> Table:
    return shoal.table(
        pl.DataFrame(rows, schema=["a", "b"], orient="row"), quasi=["a", "b"], hierarchies=TREES
    )


def owned(rows: list[tuple[int, int]], ill: str) -> Table:
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row").with_columns(
        ill=pl.Series(list(ill))
    )
    return shoal.table(frame, quasi=["a", "b"], sensitive=["ill"], hierarchies=TREES)


def of_everyone(found: AttackResult) -> list[tuple[dict[Any, Fraction], dict[Any, Fraction]]]:
    """What everyone is shown to have, and has to the attacker."""

    def some(shares: Any) -> dict[Any, Fraction]:
        return {value: share for value, share in shares.items() if share}

    return [
        (some(found.of(row).apparent), some(found.of(row).inherent)) for row in range(found.people)
    ]


# The papers' tables


PATIENTS = pl.DataFrame(
    {"age": ["old", "old", "middle", "middle", "young", "young"], "sex": list("MMMFFF")}
)
CONDITIONS = ["heart disease", "viral infection", "cancer", "cancer", "flu", "ulcer"]
PLAIN = {
    "age": shoal.hierarchy.suppress(["old", "middle", "young"]),
    "sex": shoal.hierarchy.suppress(["M", "F"]),
}


@pytest.mark.parametrize("how", [None, "enumeration"])
def test_the_patients_of_table_4_1_are_betrayed_by_the_table_that_was_not_released(
    how: Any,
) -> None:
    people = shoal.table(PATIENTS, quasi=["age", "sex"], hierarchies=PLAIN)
    frame = PATIENTS.with_columns(condition=pl.Series(CONDITIONS))
    private = shoal.table(frame, quasi=["age", "sex"], sensitive=["condition"], hierarchies=PLAIN)
    method = Optimal((EntropyDiversity("condition", 2),))
    release = method.release(private)
    assert release.certificate.levels == {"age": 1, "sex": 0}  # table (c)
    possible = inputs(method, people, release.table, "condition")
    assert len(possible) == 4
    assert all(given[2:4] == ("cancer", "cancer") for given in possible)
    found = expose(method, people, release.table, "condition", effort=Effort(how))
    assert found.left == Fraction(4, 36)
    assert [found.of(row).inherent.get("cancer", 0) for row in range(6)] == [0, 0, 1, 1, 0, 0]
    assert [found.of(row).apparent["cancer"] for row in range(6)] == [THIRD] * 6
    assert (found.certain, found.surer, found.broken) == (2, 6, 2)
    assert found.gain == Fraction(2, 3)
    assert found.of(2).broken == ("entropy 2-diversity of condition",)


def test_the_disclosure_sets_of_table_5_3_have_four_and_eight_inputs() -> None:
    alice, brenda, clare, diana, ellen, fen = names = [
        "Alice",
        "Brenda",
        "Clare",
        "Diana",
        "Ellen",
        "Fen",
    ]
    ill = dict(
        zip(names, ["flu", "tracheitis", "cancer", "cancer", "pneumonia", "gastritis"], strict=True)
    )
    g1 = [[alice, brenda], [clare, diana], [ellen, fen]]
    g2 = [[alice, brenda, clare], [diana, ellen, fen]]
    g3 = [[alice, brenda, clare, diana], [ellen, fen]]

    def diverse(bag: Counter[Any]) -> bool:
        return len(bag) >= 2

    after_g1 = first_safe([g1], g2, [[ill[one] for one in group] for group in g2], diverse)
    assert len(after_g1) == 4
    assert {(one[clare], one[diana]) for one in after_g1} == {("cancer", "cancer")}
    assert Counter(one[alice] for one in after_g1) == {"flu": 2, "tracheitis": 2}
    coincident = first_safe([g1], g3, [[ill[one] for one in group] for group in g3], diverse)
    assert len(coincident) == 8
    for person in (alice, brenda, clare, diana):
        assert Counter(one[person] for one in coincident) == {
            "flu": 2,
            "tracheitis": 2,
            "cancer": 4,
        }
    with pytest.raises(TooLargeError, match="479,001,600"):
        first_safe([], [list(range(12))], [list(range(12))], diverse)


# Counting is trying everything


MODELS: list[Model] = [
    DistinctDiversity("ill", 2),
    EntropyDiversity("ill", "3/2"),
    RecursiveDiversity("ill", 2, 2),
    PSensitive("ill", 2, 3),
    TCloseness("ill", "0.3"),
]
METHODS: list[Callable[[Model], Method]] = [
    lambda model: Mondrian((model,)),
    lambda model: Mondrian((model, KAnonymity(2)), ranges="observed"),
    lambda model: Optimal((model,)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("make", METHODS, ids=["mondrian", "observed", "optimal"])
@settings(max_examples=2)
@given(data=st.data())
def test_counting_finds_what_trying_all_inputs_finds(
    make: Callable[[Model], Method], model: Model, data: st.DataObject
) -> None:
    counting_is_trying(make, model, data, 5)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("make", METHODS, ids=["mondrian", "observed", "optimal"])
@settings(max_examples=20)
@given(data=st.data())
def test_counting_finds_so_on_more_tables(
    make: Callable[[Model], Method], model: Model, data: st.DataObject
) -> None:
    counting_is_trying(make, model, data, 6)


def counting_is_trying(
    make: Callable[[Model], Method], model: Model, data: st.DataObject, most: int
) -> None:
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=4, max_size=most)
    )
    ill = "".join(data.draw(st.sampled_from("xyz")) for _ in rows)
    method = make(model)
    try:
        released = method.release(owned(rows, ill)).table
    except InfeasibleError:
        return
    knowledge = Knowledge(method, known(rows), released, "ill")
    by_counting = counted(method, knowledge, Effort(tries=100))
    tried = enumerated(knowledge)
    if by_counting is not None:
        assert of_everyone(by_counting) == of_everyone(tried)
        assert (by_counting.left, by_counting.broken) == (tried.left, tried.broken)
        assert by_counting.unknown == 0
    truth = tried.of(0).inherent
    assert truth[ill[0]] > 0  # what is true is never ruled out


def test_cuts_that_several_groups_lie_across_are_counted_together() -> None:
    """The column b is widest and tried first; both groups lie across its cut."""
    rows = [(4, 0), (3, 0), (1, 3), (5, 1), (0, 3), (0, 0)]
    method = Mondrian((EntropyDiversity("ill", 2),))
    released = method.release(owned(rows, "zxyyzx")).table
    assert released.select("a", "b").n_unique() == 2
    found = expose(method, known(rows), released, "ill", effort=Effort("counting"))
    assert found.left == Fraction(2, 3)
    assert of_everyone(found) == of_everyone(
        expose(method, known(rows), released, "ill", effort=Effort("enumeration"))
    )


def problem() -> tuple[CountingProblem, Judge]:
    judge = Judge([DistinctDiversity("ill", 2)], "ill", np.array([4, 5, 1]), np.arange(3), 3)
    classes = [PeopleClass(0, 3), PeopleClass(0, 2), PeopleClass(1, 2), PeopleClass(1, 2)]
    candidates = (((0,), (1, 2, 3)), ((0, 2), (1, 3)))
    return CountingProblem(((3, 2, 0), (1, 3, 0)), tuple(classes), candidates), judge


def test_ways_are_those_of_all_assignments() -> None:
    """Two groups, four classes, two candidates: by brute force over the people."""
    given, judge = problem()
    members = [[0, 1, 2], [3, 4], [5, 6], [7, 8]]
    number: Counter[int] = Counter()
    has: dict[tuple[int, int, int], int] = {}
    bags = [[value for value, often in enumerate(bag) for _ in range(often)] for bag in given.bags]
    for one in _all(bags[0]):
        for other in _all(bags[1]):
            values = (*one, *other)
            mask = 0
            for bit, candidate in enumerate(given.candidates):
                parts = [
                    [values[person] for at in part for person in members[at]] for part in candidate
                ]
                mask |= all(len(set(part)) >= 2 for part in parts) << bit
            number[mask] += 1
            for at, people in enumerate(members):
                for person in people:
                    has[mask, at, values[person]] = has.get((mask, at, values[person]), 0) + 1
    found = ways(given, judge)
    assert sum(number.values()) == given.assignments
    for mask, (some, table) in found.items():
        for at in range(4):
            for value in range(3):
                assert Fraction(table[at][value], some) == Fraction(
                    has.get((mask, at, value), 0), number[mask]
                )
    total = sum(some for some, _ in found.values())
    assert {mask: Fraction(some, total) for mask, (some, _) in found.items()} == {
        mask: Fraction(some, given.assignments) for mask, some in number.items()
    }
    assert ways(given, judge, refused=True)[0] == found[0]
    with pytest.raises(TooLargeError, match="sample them"):
        ways(given, judge, most=5)


def _all(values: Sequence[Any]) -> set[tuple[Any, ...]]:
    if not values:
        return {()}
    return {
        (value, *rest)
        for at, value in enumerate(values)
        for rest in _all([*values[:at], *values[at + 1 :]])
    }


# Broken twins and what is safe


SMALL: list[Model] = [DistinctDiversity("ill", 2), EntropyDiversity("ill", "3/2")]


def how_often_broken(
    make: Callable[[Model], Method], model: Model, people: int, seed: int
) -> tuple[int, int, int]:
    """Of twenty random tables how many are released, tell more than they show, and violate their model."""
    draw = random.Random(seed)
    released = changed = broken = 0
    for _ in range(20):
        rows = [(draw.randrange(6), draw.randrange(4)) for _ in range(people)]
        ill = "".join(draw.choice("xyz") for _ in range(people))
        method = make(model)
        try:
            shown = method.release(owned(rows, ill)).table
        except InfeasibleError:
            continue
        found = expose(method, known(rows), shown, "ill")
        released, changed, broken = (
            released + 1,
            changed + (found.changed > 0),
            broken + (found.broken > 0),
        )
    return released, changed, broken


@pytest.mark.parametrize(
    "model",
    [SMALL[0], pytest.param(SMALL[1], marks=pytest.mark.slow)],
    ids=lambda model: model.name,
)
def test_mondrian_is_broken_on_many_random_tables(model: Model) -> None:
    released, changed, broken = how_often_broken(lambda model: Mondrian((model,)), model, 24, 1)
    assert released == 20
    assert changed > 10
    assert broken > 5


def test_optimal_is_broken_on_some_random_tables() -> None:
    released, changed, broken = how_often_broken(lambda model: Optimal((model,)), SMALL[0], 5, 5)
    assert released >= 15
    assert changed >= 3
    assert broken >= 1


def test_a_choice_that_does_not_look_at_the_values_tells_nothing() -> None:
    for method in (Mondrian((KAnonymity(3),)), Optimal((KAnonymity(3),))):
        rows = [(0, 0), (0, 1), (1, 2), (3, 3), (4, 0), (5, 1), (5, 3)]
        found = expose(method, known(rows), method.release(owned(rows, "xxxyyzz")).table, "ill")
        assert found.how == "counting"
        assert (found.left, found.changed) == (Fraction(1), 0)


SIX = [(0, 0), (1, 1), (2, 3), (3, 0), (4, 2), (5, 3)]


@pytest.mark.parametrize("scheme", ["forest", "UU", "UA", "interleaved"])
@pytest.mark.parametrize("ill", ["xxyxyx", pytest.param("xyxxyz", marks=pytest.mark.slow)])
def test_coincident_generalisation_tells_what_it_shows(scheme: Any, ill: str) -> None:
    method = Coincident((DistinctDiversity("ill", 2),), size=2, scheme=scheme)
    shown = method.release(owned(SIX, ill), Seeded(1)).table
    found = expose(method, known(SIX), shown, "ill")
    assert (found.how, found.changed, found.unknown) == ("enumeration", 0, 0)
    assert all(apparent == inherent for apparent, inherent in of_everyone(found))


def test_coincident_generalisation_of_people_who_are_alike_tells_nothing() -> None:
    """All coins are followed: who of those who are alike goes where is drawn."""
    method = Coincident((DistinctDiversity("ill", 2),), size=2)
    rows = [(0, 0), (0, 0), (4, 3), (4, 3)]
    shown = method.release(owned(rows, "xyxy"), Seeded(1)).table
    assert expose(method, known(rows), shown, "ill").changed == 0


FIVE = [(0, 0), (1, 1), (3, 2), (4, 3), (5, 3)]


@pytest.mark.parametrize("ranges", ["narrower", pytest.param("boundary", marks=pytest.mark.slow)])
def test_who_was_left_out_by_lot_is_not_known_and_nothing_is_learnt_of_the_others(
    ranges: Any,
) -> None:
    method = Coincident((DistinctDiversity("ill", 2),), size=2, ranges=ranges)
    shown = method.release(owned(FIVE, "xxyxy"), Seeded(2)).table
    assert len(shown) == 4
    found = expose(method, known(FIVE), shown, "ill")
    assert (found.how, found.changed) == ("enumeration", 0)
    assert all(apparent == inherent for apparent, inherent in of_everyone(found))


def test_someone_who_fits_no_group_was_left_out() -> None:
    rows = [(0, 0), (1, 0), (7, 3)]
    method = Coincident((DistinctDiversity("ill", 2),), size=2, ranges="hierarchy")
    made = (method.release(owned(rows, "xyz"), Seeded(seed)).table for seed in range(50))
    found = expose(
        method, known(rows), next(one for one in made if set(one["a"]) == {"0-1"}), "ill"
    )
    assert (found.unknown, found.changed) == (1, 0)
    with pytest.raises(ParameterError, match="nothing is said of row 2"):
        found.of(2)


def test_a_coincident_twin_that_leaves_out_records_by_their_values_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of five people is left out if they have x, else the last: if it is the last, the first does not have x."""
    release = Coincident.release

    def twin(self: Coincident, people: Table, chance: Any = None, **more: Any) -> Any:
        rows = range(1, 5) if people.frame["ill"][0] == "x" else range(4)
        others = [name for name, role in people.roles.items() if role == "insensitive"]
        frame = people.frame[list(rows), :].to_native()
        some = shoal.table(
            frame, quasi=["a", "b"], sensitive=["ill"], insensitive=others, hierarchies=TREES
        )
        return release(self, some, chance, **more)

    monkeypatch.setattr(Coincident, "release", twin)
    method = Coincident((DistinctDiversity("ill", 2),), size=2)
    shown = method.release(owned(FIVE, "yxxyy"), Seeded(2)).table
    found = expose(method, known(FIVE), shown, "ill")
    assert found.of(0).inherent == {"x": 0, "y": 1}
    assert found.of(0).apparent == {"x": HALF, "y": HALF}


def test_too_many_who_may_have_been_left_out_are_refused() -> None:
    rows = [(i % 8, i % 4) for i in range(41)]
    method = Coincident((DistinctDiversity("ill", 2),), size=4)
    shown = method.release(owned(rows, "xyz" * 13 + "xy"), Seeded(2)).table
    with pytest.raises(ParameterError, match="left out by lot"):
        expose(method, known(rows), shown, "ill")
    with pytest.raises(TooLargeError, match="possible inputs"):
        expose(method, known(rows), shown, "ill", effort=Effort("enumeration"))


class NotDrawn(Enumerated):
    def choice(self, n: int, size: int) -> Any:
        return np.arange(size)


def test_a_coincident_twin_that_leaves_out_the_first_safe_groups_is_caught() -> None:
    """As ERRATA has it: six people, pairs, UA with exclusion that is not drawn."""
    method = Coincident((DistinctDiversity("ill", 2),), size=2, scheme="UA")
    shown = method.release(owned(SIX, "xxxyxy"), NotDrawn([], Fraction(0))).table
    assert enumerated(Knowledge(method, known(SIX), shown, "ill"), NotDrawn).certain == 2


# Sampling


def test_samples_bound_what_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.attack.sampling.FEWEST", 40)  # bounds hold for any number
    rows = [(4, 0), (3, 0), (1, 3), (5, 1), (0, 3), (0, 0)]
    method = Mondrian((EntropyDiversity("ill", 2),))
    shown = method.release(owned(rows, "zxyyzx")).table
    exact = expose(method, known(rows), shown, "ill", effort=Effort("counting"))
    found = expose(method, known(rows), shown, "ill", effort=Effort("sampling", tries=80, seed=3))
    assert found.accepted is not None
    assert 40 <= found.accepted[0] <= found.accepted[1] == 80
    for row in range(6):
        bounds = found.of(row).bounds
        assert bounds is not None
        assert all(
            low <= exact.of(row).inherent.get(value, 0) <= high
            for value, (low, high) in bounds.items()
        )


def test_too_few_samples_say_nothing() -> None:
    rows = [(6, 3), (5, 2), (3, 1), (2, 1), (2, 1), (1, 3), (2, 3), (2, 2)]
    method = Mondrian((DistinctDiversity("ill", 2),))
    found = expose(
        method,
        known(rows),
        method.release(owned(rows, "zzzzyzxx")).table,
        "ill",
        effort=Effort("sampling", tries=20),
    )
    assert (found.inferences, found.unknown, found.changed) == ((), 8, 0)
    with pytest.raises(ParameterError, match="nothing is said"):
        found.of(0)


def test_samples_of_a_puzzle_are_those_that_are_counted() -> None:
    given, judge = problem()
    hits = drawn(given, judge, 20_000, np.random.default_rng(5))
    number, has = ways(given, judge, refused=True)[0]
    for at, (_, people) in enumerate(given.classes):
        for value in range(3):
            low, high = interval(int((hits[:, at] == value).sum()), len(hits), 12)
            assert low <= Fraction(has[at][value], number * people) <= high


def test_a_puzzle_that_is_too_large_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(6, 3), (5, 2), (3, 1), (2, 1), (2, 1), (1, 3), (2, 3), (2, 2)]
    method = Mondrian((DistinctDiversity("ill", 2),))
    shown = method.release(owned(rows, "zzzzyzxx")).table
    exact = expose(method, known(rows), shown, "ill")
    assert exact.changed

    def too_large(*args: object, **more: object) -> None:
        raise TooLargeError("as if")

    monkeypatch.setattr("shoal.attack.mondrian.ways", too_large)
    found = expose(method, known(rows), shown, "ill", effort=Effort(tries=1_000))
    assert found.left is None
    for row in range(8):
        for value, (low, high) in (found.of(row).bounds or {}).items():
            assert low <= exact.of(row).inherent.get(value, 0) <= high


@pytest.mark.parametrize(("hits", "tries"), [(0, 50), (3, 50), (25, 50), (50, 50)])
def test_intervals_are_those_of_clopper_and_pearson(hits: int, tries: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    low, high = interval(hits, tries, 10)
    expected = stats.binomtest(hits, tries).proportion_ci(1 - 0.01 / 10, method="exact")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-6)


# Adult, and what is refused


@pytest.mark.slow
def test_mondrian_betrays_people_of_adult(shared_data: Path) -> None:
    quasi = ["age", "education", "workclass"]
    frame = pl.read_csv(shared_data / "adult" / "adult.csv", separator=";").select(
        *quasi, "occupation"
    )
    folder = shared_data / "adult" / "hierarchies"
    trees = {
        name: shoal.hierarchy.read(
            folder / f"{name}.csv", kind="integer" if name == "age" else "text"
        )
        for name in quasi
    }
    method = Mondrian((DistinctDiversity("occupation", 2),))
    released = method.release(
        shoal.table(frame, quasi=quasi, sensitive=["occupation"], hierarchies=trees)
    ).table
    found = expose(
        method,
        shoal.table(frame.select(quasi), quasi=quasi, hierarchies=trees),
        released,
        "occupation",
    )
    assert (
        found.people,
        found.changed,
        found.surer,
        found.broken,
        found.certain,
        found.unknown,
    ) == (
        30162,
        738,
        347,
        125,
        125,
        0,
    )
    truth = frame["occupation"].to_list()
    certain = [
        (row, max(one.inherent, key=one.inherent.__getitem__))
        for one in found.inferences
        if one.broken
        for row in one.rows
    ]
    assert all(
        truth[row] == value for row, value in certain
    )  # the attacker, who never saw the column, is right about all


RECIPE = """
[source]
path = "people.csv"
[source.types]
a = "integer"
b = "integer"
[roles]
name = "identifying"
a = "quasi"
b = "quasi"
ill = "sensitive"
[hierarchies.a]
file = "a.csv"
[hierarchies.b]
file = "b.csv"
[method]
name = "mondrian"
models = ["2-diversity of ill"]
"""


def test_the_command_prints_who_is_exposed_and_why_without_reading_the_column(
    tmp_path: Path,
) -> None:
    rows = [(5, 2), (0, 3), (4, 0), (3, 2), (4, 1), (6, 1), (2, 2), (3, 3)]
    people = pl.DataFrame(rows, schema=["a", "b"], orient="row").with_columns(
        name=pl.Series([f"p{i}" for i in range(8)]), ill=pl.Series(list("zzzxzzzx"))
    )
    people.write_csv(tmp_path / "people.csv")
    for name, hierarchy in TREES.items():
        shoal.hierarchy.write(hierarchy, tmp_path / f"{name}.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    recipe, made = str(tmp_path / "recipe.toml"), str(tmp_path / "made")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        return done.output

    run("release", recipe, "--out", made)
    people.with_columns(ill=pl.lit("secret"), name=pl.lit("nobody")).write_csv(
        tmp_path / "people.csv"
    )
    told = json.loads(run("attack", made, "--recipe", recipe, "--json"))
    method = Mondrian((DistinctDiversity("ill", 2),))
    found = expose(method, known(rows), method.release(owned(rows, "zzzxzzzx")).table, "ill")
    assert (
        (told["changed"], told["surer"], told["broken"])
        == (found.changed, found.surer, found.broken)
        == (8, 4, 1)
    )
    assert told["largest_gain"] == pytest.approx(float(found.gain))
    row = told["exposed"][0]["row"] - 1
    assert row in found.most_exposed()[0].rows
    assert told["exposed"][0]["public"] == {"a": str(rows[row][0]), "b": str(rows[row][1])}
    shown = " ".join(run("attack", made, "--recipe", recipe, "--most", "1").split())
    assert "was not cut between" in shown
    assert "secret" not in shown
    assert "by counting all inputs that lead to it" in shown
    assert "at least" not in shown
    for wrong in (["--recipe", recipe, "--column", "a"], [made, "--recipe", recipe], []):
        done = CliRunner().invoke(app, ["attack", made, *wrong])
        assert done.exit_code == 2
    assert "give --recipe" in done.output
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.attack.mondrian.ways", partial(ways, most=0))
        patch.setattr("shoal.attack.mondrian.FEWEST", 1)
        sampled = " ".join(run("attack", made, "--recipe", recipe).split())
    assert "sampling them where there are too many" in sampled
    assert "inferred at least" in sampled


def test_attacks_that_cannot_work_are_refused() -> None:
    rows = [(0, 0), (0, 1), (1, 2), (3, 3), (4, 0), (5, 1)]
    method = Mondrian((DistinctDiversity("ill", 2),))
    released = method.release(owned(rows, "xyxyxy")).table
    with pytest.raises(ColumnError, match="6 people and 3"):
        expose(method, known(rows), released[:3], "ill")
    with pytest.raises(InputError, match="hierarchy"):
        expose(method, known(rows), released.with_columns(a=pl.lit("blue")), "ill")
    with pytest.raises(InputError, match="recipe of the release"):
        expose(Mondrian((DistinctDiversity("ill", 2), KAnonymity(6))), known(rows), released, "ill")
    with pytest.raises(ParameterError, match="cannot be counted"):
        expose(
            Mondrian(method.models, relaxed=True),
            known(rows),
            released,
            "ill",
            effort=Effort("counting"),
        )
    counts = shoal.counts.Counts(
        ("a",), (np.zeros(1, dtype=np.uint8),), (1,), np.ones(1, dtype=np.int64)
    )
    with pytest.raises(ParameterError, match="attack another column"):
        Judge(
            [DeltaPresence(0, 1, counts)],
            "ill",
            np.ones(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            1,
        )


def test_samples_of_a_method_with_coins_are_the_same_for_the_same_seed() -> None:
    frame = pl.DataFrame({"a": list(range(6))})
    given = shoal.table(
        frame.with_columns(ill=pl.Series(list("xxxyxz"))),
        quasi=["a"],
        sensitive=["ill"],
        hierarchies={"a": TREES["a"]},
    )
    public = shoal.table(frame, quasi=["a"], hierarchies={"a": TREES["a"]})
    method = Coincident(("2-diversity of ill",), 2, depth=1)  # type: ignore[arg-type]
    tried = (method.release(given, Seeded(seed)).table for seed in range(99))
    released = next(
        one for one in tried if Knowledge(method, public, one, "ill").group_of is not None
    )
    kept = {
        expose(
            method, public, released, "ill", effort=Effort("sampling", tries=25, seed=1)
        ).accepted
        for _ in range(3)
    }
    assert len(kept) == 1


def test_what_cannot_be_sampled_points_to_the_proof() -> None:
    frame = pl.DataFrame({"a": [0, 1] * 20})
    given = shoal.table(
        frame.with_columns(ill=pl.Series(list("wxyz") * 10)),
        quasi=["a"],
        sensitive=["ill"],
        hierarchies={"a": TREES["a"]},
    )
    public = shoal.table(frame, quasi=["a"], hierarchies={"a": TREES["a"]})
    for size, why in ((4, "fit several"), (6, "left out by lot")):
        method = Coincident(("1-diversity of ill",), size)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=f"{why}.*proofs/coincident"):
            expose(method, public, method.release(given).table, "ill")


def test_beliefs_weigh_inputs() -> None:
    assert beliefs({("x",): Fraction(1), ("y",): Fraction(3)}) == [
        {"x": Fraction(1, 4), "y": Fraction(3, 4)}
    ]
