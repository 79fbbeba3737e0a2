"""The tables that experiments make by code."""

from shoal.experiments.tables import COLUMNS, census, census_frame


def test_the_census_has_a_hierarchy_for_every_column_and_covers_it() -> None:
    table = census(500)
    assert tuple(table.names) == COLUMNS
    assert table.rows == 500
    for name in COLUMNS:
        table.count([name])
        assert name in table.hierarchies


def test_the_same_seed_makes_the_same_people() -> None:
    assert census_frame(50, 2).equals(census_frame(50, 2))
    assert not census_frame(50, 2).equals(census_frame(50, 3))


def test_columns_depend_on_each_other() -> None:
    import polars as pl

    frame = census_frame(5_000)
    well_paid = pl.col("salary-class") == "above 50,000"
    degree = pl.col("education").is_in(["master", "professional", "doctorate"])
    with_degree = frame.filter(degree).select(well_paid.mean()).item()
    without = frame.filter(~degree).select(well_paid.mean()).item()
    assert with_degree > without + 0.2
