"""The predictor of ratings, and what it tells of a release."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import shoal
from bench.columns import make
from shoal.errors import ColumnError, InputError, ParameterError
from shoal.experiments.ratings import draw
from shoal.measure import ratings as measured
from shoal.measure.ratings import Ratings, Training, item_means, rmse, train

NAMES: dict[str, Any] = {"person": "person", "item": "item", "value": "rating"}
NOISE = 0.5


def error(truth: np.ndarray, guess: np.ndarray) -> float:
    return float(np.sqrt(np.mean((truth - guess) ** 2)))


@pytest.fixture(scope="module")
def planted() -> tuple[Ratings, Ratings]:
    """Two tastes, habits and noise, 3,000 people with about fifteen of forty items: what is known,
    and what is asked."""
    rng = np.random.default_rng(3)
    people, items = 3000, 40
    exact = (
        3
        + rng.normal(0, 0.4, items)
        + rng.normal(0, 0.5, (people, 1))
        + rng.normal(size=(people, 2)) @ rng.normal(0, 0.7, (2, items))
    )
    there = rng.random((people, items)) < 0.4
    record, item = np.nonzero(there)
    value = exact[there] + rng.normal(0, NOISE, len(record))
    asked = rng.random(len(record)) < 0.1
    every = Ratings(record, item, value)
    return every.only(~asked), every.only(asked)


def test_planted_factors_are_found_up_to_the_noise(planted: tuple[Ratings, Ratings]) -> None:
    known, asked = planted
    model = train(known, 40)
    found = error(asked.value, model.predict(known, asked.record, asked.item))
    means = error(asked.value, item_means(known, 40)[asked.item])
    assert NOISE < found < 1.2 * NOISE < 0.6 * means
    assert model.noise == pytest.approx(NOISE**2, rel=0.1)
    assert model.habit == pytest.approx(0.25, rel=0.25)
    assert not model.block.any()


def test_shuffled_values_predict_worse(planted: tuple[Ratings, Ratings]) -> None:
    known, asked = planted
    shuffled = replace(known, value=np.random.default_rng(0).permutation(known.value))
    right = train(known, 40, Training(rounds=10)).predict(known, asked.record, asked.item)
    wrong = train(shuffled, 40, Training(rounds=10)).predict(known, asked.record, asked.item)
    assert error(asked.value, wrong) > 1.5 * error(asked.value, right)


def test_habits_alone_are_better_than_means_and_worse_than_factors(
    planted: tuple[Ratings, Ratings],
) -> None:
    known, asked = planted
    none, some = (
        error(
            asked.value,
            train(known, 40, Training(factors=f, rounds=15)).predict(
                known, asked.record, asked.item
            ),
        )
        for f in (0, 2)
    )
    assert some < none < error(asked.value, item_means(known, 40)[asked.item])


def test_a_weight_is_as_good_as_repeated_records() -> None:
    rng = np.random.default_rng(5)
    record = np.sort(rng.integers(60, size=200))
    times = rng.integers(1, 5, 60)
    once = Ratings(
        record,
        rng.integers(12, size=200),
        rng.integers(1, 6, 200).astype(float),
        times[record].astype(float),
    )
    repeated = np.concatenate([np.flatnonzero(times[record] > turn) for turn in range(4)])
    turns = np.concatenate([np.full(int((times[record] > turn).sum()), turn) for turn in range(4)])
    often = Ratings(record[repeated] + 60 * turns, once.item[repeated], once.value[repeated])
    assert len(often) == once.weights.sum()
    one, other = train(once, 12), train(often, 12)
    np.testing.assert_allclose(one.mean, other.mean)
    np.testing.assert_allclose(one.factors, other.factors)
    assert (one.habit, one.noise) == pytest.approx((other.habit, other.noise))
    np.testing.assert_allclose(item_means(once, 12), item_means(often, 12))


def test_chunks_change_nothing(
    planted: tuple[Ratings, Ratings], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _ = planted
    whole = train(known, 40, Training(rounds=3))
    monkeypatch.setattr(measured, "CHUNK", 7)  # less than many records have
    parts = train(known.only(known.record < 300), 40, Training(rounds=3))
    monkeypatch.setattr(measured, "CHUNK", 1000)
    np.testing.assert_allclose(train(known, 40, Training(rounds=3)).factors, whole.factors)
    np.testing.assert_allclose(
        parts.factors, train(known.only(known.record < 300), 40, Training(rounds=3)).factors
    )


def test_items_that_no_chain_of_records_joins_are_predicted_by_habit_alone() -> None:
    rng = np.random.default_rng(1)
    record = np.repeat(np.arange(400), 2)
    side = record % 2
    item = np.stack([2 * side[::2], 2 * side[::2] + 1], axis=1).ravel()
    taste = rng.normal(size=400)[record]
    ratings = Ratings(
        record, item, 3 + np.where(item % 2, -taste, taste) + 0.1 * rng.normal(size=800)
    )
    model = train(ratings, 5)
    assert model.block[0] == model.block[1] != model.block[2] == model.block[3] != model.block[4]
    known = Ratings(np.array([0, 0]), np.array([0, 1]), np.array([5.0, 1.0]))
    asked = model.predict(known, np.zeros(5, dtype=np.int64), np.arange(5))
    assert asked[0] > 4
    assert asked[1] < 2
    assert asked[2:] == pytest.approx(
        [3, 3, 3], abs=0.3
    )  # neither a good nor a bad mood, and no taste known there


def test_the_fold_in_is_the_ridge_that_it_stands_for() -> None:
    rng = np.random.default_rng(2)
    ratings = Ratings(np.repeat(np.arange(50), 3), rng.integers(4, size=150), rng.normal(3, 1, 150))
    rest = Ratings(
        50 + np.repeat(np.arange(50), 3), 4 + rng.integers(3, size=150), rng.normal(3, 1, 150)
    )
    both = Ratings(
        *(
            np.concatenate([getattr(one, name) for one in (ratings, rest)])
            for name in ("record", "item", "value")
        )
    )
    model = train(both, 7, Training(factors=2, rounds=5))
    model = replace(model, low=-np.inf, high=np.inf)
    assert sorted(set(model.block.tolist())) == [0, 1]
    item, value = np.array([0, 1, 1, 4, 6]), np.array([1.0, 5.0, 4.0, 2.0, 2.0])
    design = np.zeros((7, 5))
    design[:, 0] = 1
    for i in range(7):
        design[i, 1 + 2 * model.block[i] : 3 + 2 * model.block[i]] = model.factors[i]
    prior = np.diag([1 / model.habit, 1, 1, 1, 1])
    known = design[item]
    person = np.linalg.solve(
        known.T @ known / model.noise + prior, known.T @ (value - model.mean[item]) / model.noise
    )
    found = model.predict(Ratings(np.full(5, 9), item, value), np.full(7, 9), np.arange(7))
    np.testing.assert_allclose(found, model.mean + design @ person)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.integers(0, 4),
            st.sampled_from([-1e6, 0.0, 1.0, 1.0, 2.0, 5.0]),
            st.integers(1, 9),
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 3),
)
def test_predictions_are_numbers_within_the_values_seen(
    rows: list[tuple[int, int, float, int]], factors: int
) -> None:
    record, item, value, weight = (np.array(column) for column in zip(*rows, strict=True))
    ratings = Ratings(record, item, value.astype(float), weight.astype(float))
    model = train(ratings, 6, Training(factors=factors, rounds=8))
    asked = np.arange(6)
    for known in (ratings, ratings.only(np.zeros(0, dtype=np.int64))):
        found = model.predict(known, asked, asked[::-1].copy())  # item 5 and person 5 are nowhere
        assert (found >= value.min()).all()
        assert (found <= value.max()).all()


def test_constant_ratings_are_predicted_exactly() -> None:
    ratings = Ratings(np.arange(6) // 2, np.arange(6) % 3, np.full(6, 4.0))
    assert (
        train(ratings, 4).predict(ratings, np.zeros(4, dtype=np.int64), np.arange(4)).tolist()
        == [4.0] * 4
    )


def test_nothing_is_learnt_from_nothing() -> None:
    empty = Ratings(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    for learn in (train, item_means):
        with pytest.raises(InputError, match="no ratings"):
            learn(empty, 3)


# The measure


@pytest.fixture(scope="module")
def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    made = draw(2000, 30, 16_000, seed=1).frame()
    return made[:-1500], made[-1500:]


def released(known: pl.DataFrame) -> pl.DataFrame:
    return known.rename({"person": "record"})


def test_a_release_of_everything_is_as_good_as_the_input(
    frames: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    known, asked = frames
    found = rmse(
        shoal.table(known),
        released(known),
        **NAMES,
        held_out=shoal.table(asked),
        training=Training(rounds=10),
    )
    assert (found.asked, found.known, found.records) == (
        1500,
        len(known),
        known["person"].n_unique(),
    )
    assert found.released == pytest.approx(found.original)
    assert found.original is not None
    assert found.item_means is not None
    assert found.original < 0.97 * found.item_means


def test_counts_stand_for_repeated_records_and_shuffled_values_are_worse(
    frames: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    known, asked = frames
    single = (
        known.group_by("item", "rating")
        .len("count")
        .sort("item", "rating")
        .with_row_index("record")
    )
    again = (
        single.select(pl.all().repeat_by("count").explode())
        .with_columns(pl.int_range(pl.len()).alias("record"))
        .drop("count")
    )
    mixed = single.with_columns(pl.col("rating").shuffle(seed=1))
    one, other, worse = (
        rmse(
            shoal.table(known), frame, **NAMES, held_out=shoal.table(asked), training=Training(1, 5)
        )
        for frame in (single, again, mixed)
    )
    assert one.records == other.records == len(known)
    assert one.released == pytest.approx(other.released)
    assert one.released is not None
    assert worse.released is not None
    assert one.released + 0.03 < worse.released


def test_ratings_are_held_out_by_a_seed_where_none_are_given(
    frames: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    table = shoal.table(frames[0])
    one, same, other = (
        rmse(table, released(frames[0]), **NAMES, training=Training(rounds=2, seed=seed))
        for seed in (1, 1, 2)
    )
    assert one == same != other
    assert one.asked + one.known == len(frames[0])
    assert 0.07 < one.asked / len(frames[0]) < 0.13


def test_texts_of_a_file_and_numbers_of_a_frame_are_the_same_ratings(
    frames: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    known, asked = (frame[:400] for frame in frames)
    numbers = rmse(
        shoal.table(known),
        released(known),
        **NAMES,
        held_out=shoal.table(asked),
        training=Training(rounds=3),
    )
    texts = rmse(
        shoal.table(known.cast(pl.String)),
        released(known).cast(pl.String),
        **NAMES,
        held_out=shoal.table(asked),
        training=Training(rounds=3),
    )
    for name in ("original", "released", "item_means"):
        assert getattr(texts, name) == pytest.approx(getattr(numbers, name), rel=1e-3)
    assert (texts.asked, texts.known, texts.records) == (
        numbers.asked,
        numbers.known,
        numbers.records,
    )


def test_frames_will_do_and_values_called_count_are_no_weights(
    frames: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    known, asked = (frame[:400] for frame in frames)
    tables = rmse(
        shoal.table(known),
        shoal.table(released(known)),
        **NAMES,
        held_out=shoal.table(asked),
        training=Training(rounds=3),
    )
    known, asked = (frame.rename({NAMES["value"]: "count"}) for frame in (known, asked))
    assert (
        rmse(
            known,
            released(known),
            **NAMES | {"value": "count"},
            held_out=asked,
            training=Training(rounds=3),
        )
        == tables
    )


def test_an_empty_release_predicts_nothing(frames: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    found = rmse(
        shoal.table(frames[0]), released(frames[0])[:0], **NAMES, training=Training(rounds=2)
    )
    assert found.records == 0
    assert found.released is None
    assert found.original is not None


def test_nothing_asked_and_nothing_known_are_no_errors(
    frames: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    some = frames[0][:5]
    nothing = rmse(shoal.table(some), released(some), **NAMES, share=0)
    assert (nothing.asked, nothing.item_means, nothing.original, nothing.released) == (
        0,
        None,
        None,
        None,
    )
    unknown = rmse(shoal.table(some), released(some), **NAMES, share=1)
    assert unknown.known == 0
    assert unknown.item_means is None
    assert unknown.original is None
    assert unknown.released is not None


def test_one_person_and_unknown_items_and_people_are_predicted() -> None:
    one = pl.DataFrame({"person": ["ann"] * 3, "item": ["a", "b", "c"], "rating": [5, 4, 5]})
    asked = pl.DataFrame(
        {"person": ["ann", "bob", "ann"], "item": ["z", "a", None], "rating": [5, 1, 1]}
    )
    found = rmse(shoal.table(one), released(one), **NAMES, held_out=shoal.table(asked))
    assert found.asked == 2  # one row says of no item
    assert found.released is not None
    assert 0 < found.released < 4


def test_what_is_no_rating_is_refused_without_its_value() -> None:
    bad = pl.DataFrame({"person": [1, 2], "item": [1, 1], "rating": ["secret", "3"]})
    with pytest.raises(ColumnError, match="rating") as caught:
        rmse(shoal.table(bad), released(bad), **NAMES)
    assert "secret" not in str(caught.value)
    infinite = bad.with_columns(rating=pl.Series([1.0, np.inf]))
    with pytest.raises(ColumnError, match="rating"):
        rmse(shoal.table(infinite), released(infinite), **NAMES)
    good = bad.with_columns(rating=pl.Series([1, 2]))
    with pytest.raises(ParameterError, match="share=2"):
        rmse(shoal.table(good), released(good), **NAMES, share=2)
    with pytest.raises(ParameterError, match="factors=-1"):
        Training(factors=-1)
    with pytest.raises(ParameterError, match="rounds=0"):
        Training(rounds=0)
    with pytest.raises(ColumnError, match="record"):
        rmse(shoal.table(good), good, **NAMES)


# The made ratings


def test_made_ratings_are_as_real_ones_are(tmp_path: Path) -> None:
    made = draw(5000, 100, 30_000)
    assert len(made) == 30_000
    assert 3.4 < made.value.mean() < 3.8
    assert 1.0 < made.value.std() < 1.2
    assert set(made.value.tolist()) == {1, 2, 3, 4, 5}
    frame = made.frame()
    assert not frame.select("person", "item").is_duplicated().any()
    often = np.sort(np.bincount(made.item, minlength=100))
    assert often[-1] > 10 * often[50] > 0
    assert abs(np.corrcoef(np.arange(len(made)), made.person)[0, 1]) < 0.03
    again = make(5000, 100, 30_000, tmp_path / "ratings.csv")
    assert pl.read_csv(again).equals(frame.cast(pl.Int64))
    assert [path.name for path in tmp_path.iterdir()] == ["ratings.csv"]
