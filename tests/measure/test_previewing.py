"""`preview` in a notebook: a table at given levels, before anything is released."""

from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import build
from shoal.errors import HierarchyError, ParameterError
from shoal.measure.previewing import SIZES, preview
from shoal.privacy.models import DistinctDiversity, KAnonymity, Model

loose: Any = preview  # which takes more than a type checker allows

TREES = {"age": build.intervals(0, 99, widths=[10, 50]), "sex": build.suppress(["f", "m"])}
ROWS = [
    (31, "f", "flu"),
    (34, "f", "cold"),
    (35, "m", "flu"),
    (39, "m", "flu"),
    (52, "f", "cold"),
    (58, "f", "flu"),
]


def people(rows: list[tuple[int, str, str]]) -> shoal.Table:
    schema = {"age": pl.Int64, "sex": pl.String, "ill": pl.String}
    frame = pl.DataFrame(rows, schema, orient="row")
    return shoal.table(frame, quasi=["age", "sex"], sensitive=["ill"], hierarchies=TREES)


PEOPLE = people(ROWS)


def test_levels_that_are_not_given_are_0() -> None:
    result = preview(PEOPLE, {"age": 1})
    assert result.levels == {"age": 1, "sex": 0}
    assert (result.records, result.groups, result.k) == (6, 3, 2)
    column = result.columns["age"]
    # Ten ranges, and missing values, which are a value of their own.
    assert (column.level, column.height, column.values) == (1, 3, 11)


def test_raw_values_lose_nothing_and_roots_lose_everything() -> None:
    assert preview(PEOPLE).loss == 0
    assert preview(PEOPLE, {"age": 3, "sex": 1}).loss == pytest.approx(1)
    assert preview(PEOPLE, {"age": 3, "sex": 1}).k == 6


def test_suppression_is_shown_for_several_k() -> None:
    result = preview(PEOPLE, {"age": 1})
    assert tuple(result.by_k) == SIZES
    assert result.by_k[2].records == 0
    assert (result.by_k[3].groups, result.by_k[3].records, result.by_k[3].loss) == (3, 6, 1)
    losses = [suppression.loss for suppression in result.by_k.values()]
    assert losses == sorted(losses)


def test_models_are_shown_one_by_one_and_together() -> None:
    models: list[Model] = [KAnonymity(2), DistinctDiversity("ill", 2)]
    result = preview(PEOPLE, {"age": 1}, models=models, suppression="1/3")
    assert {name: one.records for name, one in result.by_model.items()} == {
        "2-anonymity": 0,
        "distinct 2-diversity of ill": 2,
    }
    assert result.all_models is not None
    assert result.all_models.records == 2
    assert (result.allowed, result.within) == (2, True)
    assert preview(PEOPLE, {"age": 1}, models=models, suppression="0.3").within is False
    assert [group.kept for group in result.first] == [True, False, True]


def test_without_models_or_a_limit_nothing_is_judged() -> None:
    result = preview(PEOPLE, suppression=0.5)
    assert (result.all_models, result.within, result.by_model) == (None, None, {})
    assert preview(PEOPLE, models=[KAnonymity(2)]).within is None


def test_the_first_groups_are_those_of_the_smallest_values() -> None:
    result = preview(PEOPLE, {"age": 2}, groups=2)
    assert [(dict(group.values), group.records) for group in result.first] == [
        ({"age": "0-49", "sex": "f"}, 2),
        ({"age": "0-49", "sex": "m"}, 2),
    ]
    assert preview(PEOPLE, groups=0).first == ()


def test_another_measure_of_loss_may_be_named() -> None:
    assert preview(PEOPLE, {"age": 1}, loss="entropy").loss_model == "entropy"
    assert preview(PEOPLE, {"age": 1}).loss_model == "granularity"


def test_an_empty_table_has_no_groups_and_no_k() -> None:
    result = preview(people([]), {"age": 1}, models=[KAnonymity(2)], suppression=0.5)
    assert (result.records, result.groups, result.k, result.loss) == (0, 0, None, 0)
    assert (result.allowed, result.within, result.first) == (0, True, ())


def test_rows_are_previewed_as_rows_also_where_people_repeat() -> None:
    result = preview(people(ROWS * 3), {"age": 1})
    assert (result.records, result.groups, result.k) == (18, 3, 6)


def test_a_preview_as_plain_values_has_all_its_parts() -> None:
    plain = preview(PEOPLE, {"age": 1}, models=[KAnonymity(3)], suppression=1, groups=1).to_dict()
    assert plain["levels"] == {"age": 1, "sex": 0}
    assert plain["suppressed"][1] == {"k": 3, "records": 6, "loss": 1}
    assert plain["models"] == [{"model": "3-anonymity", "groups": 3, "records": 6, "loss": 1}]
    together = {"groups": 3, "records": 6, "loss": 1, "allowed": 6, "within": True}
    assert plain["all_models"] == together
    assert plain["first"] == [{"values": {"age": "30-39", "sex": "f"}, "records": 2, "kept": False}]


def test_a_column_without_a_hierarchy_is_refused_by_name() -> None:
    frame = pl.DataFrame({"age": [31], "sex": ["f"]})
    table = shoal.table(frame, quasi=["age", "sex"], hierarchies={"age": TREES["age"]})
    with pytest.raises(HierarchyError, match="no hierarchy for 'sex'; give each a hierarchy"):
        preview(table)


def test_a_table_without_quasi_identifying_columns_is_refused() -> None:
    with pytest.raises(ParameterError, match="no quasi-identifying column"):
        preview(shoal.table(pl.DataFrame({"age": [31]})))


@pytest.mark.parametrize(
    ("levels", "options", "message"),
    [
        ({"aged": 1}, {}, "`levels` names 'aged', which is not a quasi-identifying column"),
        ({"age": 4}, {}, "`levels` asks for level 4 of 'age', which has levels 0 to 3"),
        ({"age": -1}, {}, "`levels` asks for level -1 of 'age'"),
        ({}, {"loss": "regret"}, "loss='regret' is unknown; known are 'granularity'"),
        ({}, {"groups": -1}, "groups=-1 is out of range"),
        ({}, {"suppression": 2}, "suppression=2 is out of range"),
        ({}, {"models": ["5-anonymity"]}, "`models` has a str; give privacy models"),
    ],
)
def test_what_cannot_be_previewed_is_refused_by_its_option(
    levels: dict[str, int], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError) as error:
        loose(PEOPLE, levels, **options)
    assert message in str(error.value)
