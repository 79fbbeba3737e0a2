"""The evaluation of personal generalisation: its tables, and that shares are of the exact risk."""

from shoal.experiments import RunSetting, find
from shoal.experiments import fouad as module
from shoal.experiments.tables import census


def test_a_wide_table_has_its_columns_and_rows() -> None:
    table = module._wide(5, 40, 0.5, seed=1)
    assert (len(table.names), table.rows) == (5, 40)
    assert set(table.hierarchies) == set(table.names)
    assert module._wide(5, 40, 0.5, seed=1).frame.to_dict(as_series=False) == table.frame.to_dict(
        as_series=False
    )


def test_fewer_columns_are_quasi_identifying() -> None:
    narrowed = module._narrowed(census(50), 3)
    assert len(narrowed.quasi) == 3


def test_a_given_table_is_taken_instead_of_one_made_by_code() -> None:
    given = census(60)
    assert module._people(RunSetting(table=given), 10, 20) is given
    assert module._people(RunSetting(), 10, 20).rows == 10
    assert module._people(RunSetting(quick=False), 10, 20).rows == 20


def test_experiments_about_people_take_a_table() -> None:
    assert find("fouad-accuracy").takes
