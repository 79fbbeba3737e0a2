"""A schema says what is released, and refuses what would reveal more."""

import polars as pl
import pytest

import shoal
from shoal.data.schema import Role, Schema
from shoal.errors import ColumnError, HierarchyError, ParameterError

AGES = shoal.hierarchy.intervals(low=0, high=99, widths=[10])


def schema(**options: object) -> Schema:
    frame = pl.DataFrame({"name": ["Ann", "Bob"], "age": [31, 47], "ill": ["flu", "gout"]})
    given: dict[str, object] = {
        "identifying": ["name"],
        "quasi": ["age"],
        "sensitive": ["ill"],
        "hierarchies": {"age": AGES},
        **options,
    }
    return shoal.table(frame, **given).schema  # type: ignore[arg-type]


def test_all_columns_but_the_identifying_ones_are_released_in_their_order() -> None:
    assert schema().released == ("age", "ill")
    assert schema().having(Role.SENSITIVE) == ("ill",)


def test_a_public_hierarchy_is_given_and_one_from_the_rows_refused() -> None:
    assert schema().public("age").height == AGES.height
    with pytest.raises(HierarchyError, match="'ill' has no hierarchy"):
        schema().public("ill")
    [column] = shoal.table(pl.DataFrame({"age": ["31", "47"]})).records(["age"])
    derived = shoal.hierarchy.derive(column, shoal.hierarchy.mask)
    with pytest.raises(HierarchyError, match="derived from the rows"):
        schema(hierarchies={"age": derived}).public("age")


def test_a_unit_is_an_identifying_column() -> None:
    schema().require_unit("name")
    schema().require_unit(None)
    for unit in ("age", "nobody", "row"):
        with pytest.raises(ParameterError) as raised:
            schema().require_unit(unit)
        assert raised.value.option == "unit"


def test_types_that_are_read_off_the_values_are_refused() -> None:
    schema().require_declared()
    guessed = Schema({"x": Role.QUASI}, {}, {}, frozenset({"x"}))
    with pytest.raises(ColumnError, match="declare it"):
        guessed.require_declared()


def test_a_column_without_a_role_has_no_schema() -> None:
    with pytest.raises(ColumnError, match="no role for column 'ill'"):
        schema(sensitive=[])
