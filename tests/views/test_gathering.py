"""Views with all that a ledger knows."""

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import BudgetError, InputError
from shoal.ledger import Ledger
from shoal.views import (
    OUTSIDE,
    Register,
    Views,
    check,
)
from tests.views_files import BY_SEX, people


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
