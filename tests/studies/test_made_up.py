"""Made-up tables follow their law, and methods treat them as they would treat a dataframe."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data import hierarchy
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.schema import Role, Schema
from shoal.data.tables import Table
from shoal.errors import ColumnError, HierarchyError, InternalError, ParameterError
from shoal.methods.method import Method
from shoal.studies import made_up as module
from shoal.studies.made_up import CountedRows, Law, made_up, resampled

TREES = {
    "age": hierarchy.intervals(0, 99, widths=[10, 50]),
    "sex": hierarchy.suppress(["f", "m"]),
    "work": hierarchy.groups({"indoors": ["desk", "shop", "home"], "outdoors": ["farm", "sea"]}),
}

FREE = Law(steepest=4.0, dependence=0.0)
"""Columns that do not depend on each other."""

BOUND = Law(steepest=4.0, dependence=0.9)


def schema(trees: dict[str, Hierarchy] = TREES, **others: Role) -> Schema:
    roles = dict.fromkeys(trees, Role.QUASI) | others
    return Schema(roles, dict.fromkeys(roles, Kind.TEXT), trees)


def source(table: Table) -> CountedRows:
    assert isinstance(table.source, CountedRows)
    return table.source


def shares(table: Table, name: str) -> list[float]:
    """How frequent the values of a column are, the most frequent first."""
    rows = source(table).counted
    count = np.bincount(rows.column(name), rows.count)
    return sorted((count / rows.total).tolist(), reverse=True)


def test_a_seed_gives_one_table() -> None:
    one, same, other = (source(made_up(schema(), 500, BOUND, seed)).counted for seed in (1, 1, 2))
    assert one.count.tolist() == same.count.tolist()
    assert all(map(np.array_equal, one.codes, same.codes))
    assert not all(map(np.array_equal, one.codes, other.codes))


@pytest.mark.parametrize("law", [FREE, BOUND])
def test_values_have_the_shares_of_the_law_however_columns_depend(law: Law) -> None:
    table = made_up(schema(), 50_000, law, 3)
    drawn = {name: shares(table, name) for name in TREES}
    scale = np.arange(1, 101) ** -module.ON_A_SCALE
    assert drawn["age"][0] == pytest.approx(1 / scale.sum(), rel=0.1)
    # Of the two other columns one is about even, and one is steep.
    ratios = sorted(drawn[name][1] / drawn[name][0] for name in ("sex", "work"))
    exponents = (3 * FREE.steepest / 4, FREE.steepest / 4)
    assert ratios == pytest.approx([2**-exponent for exponent in exponents], abs=0.03)


def test_columns_that_depend_have_fewer_combinations() -> None:
    independent, dependent = (
        source(made_up(schema(), 20_000, law, 3)).counted for law in (FREE, BOUND)
    )
    assert dependent.distinct < 0.8 * independent.distinct


@pytest.mark.parametrize(
    ("labels", "kind", "expected"),
    [
        ([str(number) for number in range(30)], Kind.TEXT, True),
        ([str(number) for number in range(8)], Kind.TEXT, False),
        ([f"v{number}" for number in range(30)], Kind.TEXT, False),
        ([f"2024-01-{day:02}" for day in range(1, 31)], Kind.DATE, True),
    ],
)
def test_many_numbers_or_dates_are_a_scale(labels: list[str], kind: Kind, expected: bool) -> None:
    tree = hierarchy.suppress(labels, kind=kind)
    others = [hierarchy.suppress(["a", "b"])] * 20
    trees = {"x": tree} | {f"y{i}": other for i, other in enumerate(others)}
    exponents = {
        module._exponents(schema(trees), FREE, np.random.default_rng(seed))[0] for seed in range(5)
    }
    assert (exponents == {module.ON_A_SCALE}) is expected


@pytest.mark.parametrize(
    "method",
    [
        shoal.SafePub(1, "1e-3"),
        shoal.NoisyCounts(1, "1e-3", levels={"age": 1, "sex": 0, "work": 1}),
        shoal.NoisyCounts(1, "1e-3", levels={"age": 1, "sex": 0, "work": 1}, counts=True),
    ],
)
def test_a_method_finds_out_what_it_would_of_a_dataframe(method: Method) -> None:
    table = made_up(schema(), 3_000, BOUND, 1)
    rows = source(table).counted
    frame = pl.DataFrame(
        {
            name: np.array(source(table).keys[name])[np.repeat(rows.column(name), rows.count)]
            for name in rows.names
        }
    )
    texts = dict.fromkeys(TREES, Kind.TEXT)
    plain = shoal.table(
        frame, quasi=list(TREES), hierarchies=table.hierarchies, types=texts, missing="refuse"
    )
    one, other = (method.release(each, Seeded(5)).facts for each in (table, plain))
    assert one == other
    assert one.loss is not None
    assert 0 < one.loss < 1


def test_leaves_that_are_intervals_are_drawn_too() -> None:
    tree = hierarchy.intervals(0, 10, widths=[1, 5], kind="float")
    assert tree.cuts
    table = made_up(schema({"x": tree, "sex": TREES["sex"]}), 2_000, FREE, 1)
    facts = shoal.SafePub(1, "1e-3").release(table, Seeded(1)).facts
    assert facts.loss is not None
    assert facts.loss < 1


def test_a_column_without_a_hierarchy_needs_a_number_of_values() -> None:
    told = schema(illness=Role.SENSITIVE)
    with pytest.raises(HierarchyError, match=r"'illness' has no hierarchy.*`values`"):
        made_up(told, 100, FREE, 1)
    table = made_up(told, 1_000, FREE, 1, {"illness": 7})
    assert len(shares(table, "illness")) == 7
    assert table.roles["illness"] is Role.SENSITIVE


def test_a_hierarchy_that_was_derived_from_rows_is_refused() -> None:
    told = schema({**TREES, "sex": replace(TREES["sex"], derived=True)})
    with pytest.raises(HierarchyError, match="derived from the rows"):
        made_up(told, 100, FREE, 1)


def test_identifying_columns_and_missing_values_are_not_made_up() -> None:
    trees = {name: tree.with_missing() for name, tree in TREES.items()}
    table = made_up(schema(trees, name=Role.IDENTIFYING), 1_000, FREE, 1)
    assert table.names == tuple(TREES)
    assert all(None not in table.keys(name) for name in TREES)
    assert shoal.SafePub(1, "1e-3").release(table, Seeded(1)).facts.records == 1_000


def test_of_very_many_records_only_some_are_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 1_000)
    assert made_up(schema(), 8_000, BOUND, 1).rows == 1_000
    monkeypatch.setattr(module, "LARGEST", 100)
    assert resampled(public(), schema(), 8_000, 1).rows == 100


def public() -> Table:
    """A public table, whose people are all alike but for their sex."""
    frame = pl.DataFrame(
        {
            "age": [30] * 400,
            "sex": ["f"] * 300 + ["m"] * 100,
            "work": ["sea"] * 400,
            "pay": [1] * 400,
        }
    )
    return shoal.table(frame)


@pytest.mark.parametrize("records", [200, 400, 2_000])
def test_records_are_drawn_from_a_public_table_each_at_most_once(records: int) -> None:
    table = resampled(public(), schema(), records, 1)
    assert set(table.names) == set(TREES)
    assert table.rows == min(records, 400)
    assert shares(table, "sex")[0] == pytest.approx(0.75, abs=0.07)
    assert shares(table, "work")[0] == 1


def test_a_public_table_without_a_column_is_refused() -> None:
    with pytest.raises(ColumnError, match="illness"):
        resampled(public(), schema(illness=Role.SENSITIVE), 100, 1)


def test_a_public_table_without_records_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"like.*no records"):
        resampled(shoal.table(public().frame.head(0).to_native()), schema(), 100, 1)


def test_a_public_table_may_have_columns_without_a_hierarchy() -> None:
    table = resampled(public(), schema(pay=Role.INSENSITIVE), 100, 1)
    assert table.keys("pay") == ("1",)


def test_made_up_rows_are_nobodys() -> None:
    made = source(made_up(schema(), 10, FREE, 1))
    with pytest.raises(InternalError):
        made.write_back([])


@pytest.mark.parametrize("number", [0, -3, 10**12])
def test_a_number_of_values_that_no_column_has_is_refused(number: int) -> None:
    schema = Schema({"ill": Role.SENSITIVE}, {"ill": Kind.TEXT}, {})
    with pytest.raises(ParameterError):
        made_up(schema, 10, Law(3.5, 0.3), 1, {"ill": number})
