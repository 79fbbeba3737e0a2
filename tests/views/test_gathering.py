"""Views with all that a ledger knows."""

import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import BudgetError, InputError, ParameterError
from shoal.ledger import Ledger
from shoal.views import OUTSIDE, Register, View, Views, check, gather, gather_release, load
from shoal.views.files import others_of
from tests.views_files import BY_SEX, DONALD, people


def test_a_ledger_refuses_what_bounds_leave_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.views.checking.count", lambda *given: None)
    monkeypatch.setattr("shoal.views.checking.ENOUGH", 10**9)
    others = tmp_path / "others.toml"
    others.write_text(
        '[[views]]\nwhere = "age between 24 and 27"\nvalues = { SARS = 2, virus = 2, flu = 1 }\n'
    )
    ledger = Ledger.create(tmp_path / "ledger", gamma="3/4")
    with pytest.raises(BudgetError, match=r"cannot be decided.*leave it open"):
        ledger.release(BY_SEX, people(), others=others)


def test_another_gamma_keeps_the_limits_of_single_values(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2", limits={"SARS": "1/3"})
    views = ledger.together(BY_SEX.release(people()), people(), gamma="2/3")
    assert (views.gamma, dict(views.limits)) == (Fraction(2, 3), {"SARS": Fraction(1, 3)})


def test_a_limit_is_of_the_value_however_it_is_written(tmp_path: Path) -> None:
    levels = people().frame.to_native().with_columns(ill=pl.Series([7, 7, 1, 2, 3, 4, 5, 6]))
    table = shoal.table(
        levels,
        quasi=["sex", "age"],
        sensitive=["ill"],
        identifying=["name"],
        hierarchies=people().hierarchies,
    )
    ledger = Ledger.create(tmp_path / "ledger", gamma="9/10", limits={"07": "1/3"})
    assert dict(ledger.together(BY_SEX.release(table), table).limits) == {"7": Fraction(1, 3)}
    with pytest.raises(BudgetError, match="is not kept"):
        ledger.release(BY_SEX, table)


def test_with_a_ledger_it_is_still_not_known_who_of_the_register_is_in_the_table(
    tmp_path: Path,
) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2")
    ledger.release(BY_SEX, people())
    more = pl.concat(
        [people().frame.to_native().select("sex", "age"), pl.DataFrame({"sex": ["M"], "age": [29]})]
    )
    trees = {name: people().hierarchies[name] for name in ("sex", "age")}
    register = Register(
        shoal.table(more, hierarchies=trees, types={"age": "integer"}), complete=False
    )
    views = ledger.together_with(
        Views(9, [register.view("oldest", "age > 28", [])], complete=False), register
    )
    assert views.complete is False
    assert check(views).of(8).shares == {OUTSIDE: 1}
    with pytest.raises(InputError, match="not complete"):
        ledger.together_with(Views(9, []), register)


def test_a_file_is_gathered_with_its_register_and_column(tmp_path: Path) -> None:
    (tmp_path / "views.toml").write_text(DONALD)
    gathered = gather(tmp_path / "views.toml")
    assert (gathered.column, gathered.register.person) == ("ill", "name")
    assert gathered.views == load(tmp_path / "views.toml")
    assert gathered.within("9/10").views.gamma == Fraction(9, 10)


def test_what_is_wrong_with_a_file_names_the_file_and_the_section(tmp_path: Path) -> None:
    (tmp_path / "views.toml").write_text(DONALD + '[[views]]\npeople = ["Zoe"]\nvalues = ["S"]\n')
    with pytest.raises(
        InputError, match=r"^views\.toml: \[\[views\]\] number 3: view 'view 3' names"
    ):
        gather(tmp_path / "views.toml")


def test_the_truth_needs_a_column_and_candidates_may_be_free(tmp_path: Path) -> None:
    (tmp_path / "views.toml").write_text(DONALD)
    gathered = gather(tmp_path / "views.toml")
    names = ["Garcia", "Fen", "Ellen", "Donald", "Clark", "Bob", "Alan"]
    table = shoal.table(pl.DataFrame({"name": names, "ill": [*"FSVSVSH"], "other": [*"abcdefg"]}))
    assert gathered.truth(table) == [*"HSVSVSF"]
    assert gathered.truth(table, "other") == [*"gfedcba"]
    with pytest.raises(ParameterError, match="`sensitive` should name the sensitive column"):
        replace(gathered, column=None).truth(table)
    parts, free = gathered.candidates(), gathered.candidates(free=True)
    assert set(parts) < set(free)
    assert all(any(one.people <= view.people for view in gathered.views.views) for one in parts)


def test_a_release_is_gathered_by_rows_and_its_toml_is_a_file_of_its_own(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2")
    by_name = gather_release(BY_SEX.release(people()), people(), ledger, person="name")
    assert (by_name.column, by_name.views.people[:2]) == ("ill", ("A", "B"))
    assert by_name.register.people.names == ("sex", "age", "name")
    more = [View("two", [0, 2], ["SARS", None])]
    (tmp_path / "more.toml").write_text(by_name.toml(more))
    read = tomllib.loads((tmp_path / "more.toml").read_text())
    assert read["sensitive"] == {"column": "ill"}
    assert read["views"] == [{"name": "two", "people": ["1", "3"], "values": {"": 1, "SARS": 1}}]
    by_row = Register(by_name.register.people)
    assert others_of(tmp_path / "more.toml", by_row, "ill") == more
    assert others_of(tmp_path / "more.toml", by_row, "other") == []
