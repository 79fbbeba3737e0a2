"""Someone who knows the algorithm: what is found does not depend on how it is found."""

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attack import Effort, beliefs, expose, first_safe
from shoal.attack.enumeration import enumerated
from shoal.attack.judge import Judge
from shoal.attack.knowledge import Knowledge
from shoal.attack.minimality import counted
from shoal.errors import ColumnError, InfeasibleError, InputError, ParameterError, TooLargeError
from shoal.methods.coincident import Coincident
from shoal.methods.method import Method
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
from tests.attack.people import TREES, known, of_everyone, owned


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
def test_counting_finds_the_same_on_more_tables(
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


SMALL: list[Model] = [DistinctDiversity("ill", 2), EntropyDiversity("ill", "3/2")]


def how_often_broken(
    make: Callable[[Model], Method], model: Model, people: int, seed: int
) -> tuple[int, int, int]:
    """Of twenty random tables, how many are released, reveal more than they show, and violate their
    model.
    """
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


def test_a_choice_that_does_not_look_at_the_values_reveals_nothing() -> None:
    for method in (Mondrian((KAnonymity(3),)), Optimal((KAnonymity(3),))):
        rows = [(0, 0), (0, 1), (1, 2), (3, 3), (4, 0), (5, 1), (5, 3)]
        found = expose(method, known(rows), method.release(owned(rows, "xxxyyzz")).table, "ill")
        assert found.how == "counting"
        assert (found.left, found.changed) == (Fraction(1), 0)


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
        method = Coincident(("1-diversity of ill",), size)
        with pytest.raises(ParameterError, match=f"{why}.*proofs/coincident"):
            expose(method, public, method.release(given).table, "ill")


def test_beliefs_weigh_inputs() -> None:
    assert beliefs({("x",): Fraction(1), ("y",): Fraction(3)}) == [
        {"x": Fraction(1, 4), "y": Fraction(3, 4)}
    ]
