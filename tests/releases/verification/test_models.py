"""Models, written anew, agree with those that releases are made by, on groups of all kinds."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.data.tables import Table
from shoal.errors import FileError
from shoal.privacy.models import (
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
)
from shoal.releases.certificate import plain
from shoal.releases.verification.models import (
    ClaimedModel,
    ReleasedGroups,
    WorstParts,
    released_groups,
)
from tests.privacy.test_models import TREE, groups_of

Row = tuple[int, int, int]
"""How often each of three values occurs in a group."""

MODELS: list[Model] = [
    KAnonymity(3),
    DistinctDiversity("value", 2),
    PSensitive("value", 2, 3),
    EntropyDiversity("value", 2),
    EntropyDiversity("value", "3/2"),
    RecursiveDiversity("value", 2, 2),
    RecursiveDiversity("value", "1/2", 1),
    TCloseness("value", "1/4"),
    TCloseness("value", "1/4", "ordered"),
    TCloseness("value", "1/4", "hierarchical", TREE),
    BetaLikeness("value", 1),
    BetaLikeness("value", 1, enhanced=True),
    DeltaDisclosure("value", "1/2"),
    DeltaDisclosure("value", 2, every_value=True),
]
rows_of_groups = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)).filter(any),
    min_size=1,
    max_size=4,
)


def table_of(rows: list[Row]) -> Table:
    """One group of `place` for every row."""
    records = [
        (f"{place}", f"{value}")
        for place, row in enumerate(rows)
        for value, count in enumerate(row)
        for _ in range(count)
    ]
    frame = pl.DataFrame(records, schema=["place", "value"], orient="row")
    return shoal.table(frame, quasi=["place"], sensitive=["value"])


def groups_anew(rows: list[Row]) -> ReleasedGroups:
    return released_groups(table_of(rows), ["place"], {"value": TREE.lines()}, None)


def anew(model: Model) -> ClaimedModel:
    return ClaimedModel.read(plain(model))


@given(rows_of_groups)
def test_as_many_groups_fail_as_by_the_models_of_releases(rows: list[Row]) -> None:
    groups, again = groups_of(*rows), groups_anew(rows)
    for model in MODELS:
        failing = int((~model.holds(groups)).sum())
        claimed = anew(model).model
        assert claimed is not None
        assert claimed.failing(again) == failing, str(model)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_model_has_the_name_that_promises_have(model: Model) -> None:
    assert anew(model).words() == str(model)
    assert anew(model).words(quoted=True) == str(model)


def test_a_column_that_is_not_a_word_is_quoted_where_it_is_shown() -> None:
    claimed = anew(DistinctDiversity("ill, and safe", 2))
    assert claimed.words() == "distinct 2-diversity of ill, and safe"
    assert claimed.words(quoted=True) == "distinct 2-diversity of 'ill, and safe'"
    assert claimed.called == "distinct-diversity (column = 'ill, and safe', l = 2)"


def test_the_bounds_of_a_presence_are_named_and_not_checked() -> None:
    stated = {"is": "delta-presence", "lowest": "0", "highest": "1/2", "population": "Counts"}
    claimed = ClaimedModel.read(stated)
    assert claimed.words() == "(0, 0.5)-presence"
    assert claimed.model is not None
    assert not claimed.model.shown
    assert claimed.counts_by == ["population"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"is": "k-anonymity", "k": 0},
        {"is": "k-anonymity", "k": "3"},
        {"is": "k-anonymity", "k": True},
        {"is": "distinct-diversity", "column": 5, "l": 2},
        {"is": "entropy-diversity", "column": "value", "l": "1/2"},
        {"is": "recursive-diversity", "column": "value", "c": "0", "l": 2},
        {"is": "t-closeness", "column": "value", "t": "2", "distance": "equal"},
        {"is": "t-closeness", "column": "value", "t": "1/2", "distance": "far"},
        {"is": "beta-likeness", "column": "value", "beta": "0", "enhanced": False},
        {"is": "beta-likeness", "column": "value", "beta": "1", "enhanced": 1},
        {"is": "delta-presence", "lowest": "1", "highest": "0", "population": "Counts"},
    ],
)
def test_a_model_that_no_method_takes_is_not_read(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ClaimedModel.read(wrong)


def test_more_than_the_parameters_of_a_model_is_not_read() -> None:
    with pytest.raises(FileError, match="more of a model"):
        ClaimedModel.read({"is": "k-anonymity", "k": 3, "seen": 4711})


def test_a_model_of_the_owners_own_is_known_by_name_only() -> None:
    claimed = ClaimedModel.read({"is": "mine", "k": 2})
    assert claimed.model is None
    assert claimed.called == "mine (a model of the owner's own, k = 2)"
    assert claimed.words() == claimed.words(quoted=True) == "mine (a model of the owner's own)"


@pytest.mark.parametrize("name", ["5-anonymity", "Mine", "all is well: mine", "m" * 61])
def test_a_model_of_the_owners_own_cannot_pass_for_another(name: str) -> None:
    with pytest.raises(FileError, match="not a plain word"):
        ClaimedModel.read({"is": name})


@given(rows_of_groups)
def test_parts_of_a_union_have_its_most_frequent_values(rows: list[Row]) -> None:
    groups = groups_anew(rows)
    everyone = list(range(len(rows)))
    worst = WorstParts([1, 3], groups.table, groups.lines, (), groups, [everyone, everyone])
    total = sorted((sum(column) for column in zip(*rows, strict=True)), reverse=True)
    first, second = worst.counts("value").groups
    assert first.total() == 1
    assert second.total() == min(3, sum(total))
    assert max(second.values()) == min(3, total[0])


def test_rows_of_stars_are_a_group_where_there_are_more_than_may_be() -> None:
    frame = pl.DataFrame({"place": ["*", "*", "a", "a", "a", "a"], "value": ["0"] * 6})
    table = shoal.table(frame, quasi=["place"], sensitive=["value"])
    few = released_groups(table, ["place"], {}, most_starred=1)  # type: ignore[arg-type]
    many = released_groups(table, ["place"], {}, most_starred=0)  # type: ignore[arg-type]
    shown = released_groups(table, ["place"], {}, None)
    assert (few.sizes, many.sizes, shown.sizes) == ([4], [2, 4], [2, 4])
