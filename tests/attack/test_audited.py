"""The adversary of a whole audit, on audits that keep their promise and on one that does not."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
import shoal.attack.transcript as transcript
from shoal.attack import disclosed
from shoal.audit import Secret
from shoal.cli.app import app
from shoal.errors import TooLargeError
from shoal.zones import OWNER_ONLY

WHO = {"max": "Ann", "min": "Bea"}
"""Who has the extreme value."""

FRAME = pl.DataFrame({"name": ["Ann", "Bea", "Cid", "Dov"], "pay": [5.0, 1.5, 3.5, 2.5]})


def audit(place: Path, strategy: Any, frame: pl.DataFrame = FRAME, **given: Any) -> shoal.Audit:
    secret = Secret("pay", low=0, high=10, integers=False, strategy=strategy, **given)
    return shoal.Audit.new(
        place, shoal.table(frame, types={"name": "text"}), secret, public=["name"]
    )


def asked(audited: shoal.Audit, *queries: str) -> list[str]:
    return [str(audited.ask(query)) for query in queries]


@pytest.mark.parametrize("aggregate", ["max", "min"])
def test_a_denial_of_the_simple_strategy_reveals_who_has_the_extreme(
    tmp_path: Path, aggregate: str
) -> None:
    extreme, who = ("5", "Ann") if aggregate == "max" else ("1.5", "Bea")
    questions = (f"{aggregate}(pay)", f"{aggregate}(pay) where name != '{who}'")
    careless = audit(tmp_path / "a", "simple")
    assert asked(careless, *questions) == [extreme, "denied"]
    [value] = disclosed(careless)
    assert repr(value).startswith(OWNER_ONLY)
    assert careless.person(value.person) == {"name": who}
    assert str(float(value.low)).removesuffix(".0") == extreme
    careful = audit(tmp_path / "b", "binding")
    assert asked(careful, *questions) == [extreme, "denied"]
    assert disclosed(careful) == ()


def test_sums_reveal_values_by_the_simple_strategy_and_not_by_the_default(tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    frame = FRAME.with_columns(pay=pl.Series([0.5, 0.25, 6.0, 2.5]))
    questions = [
        f"sum(pay) where name in ({who})"
        for who in ("'Ann', 'Bea'", "'Bea', 'Cid', 'Dov'", "'Ann', 'Cid', 'Dov'")
    ]
    for strategy in ("simple", "binding"):
        audited = audit(tmp_path / strategy, strategy, frame, width=2, dither=True)
        assert asked(audited, *questions)[0] == "denied"
        values = disclosed(audited)
        people = {audited.person(value.person)["name"] for value in values}
        assert people == ({"Ann", "Bea"} if strategy == "simple" else set())
        assert all(value.high - value.low < 2.01 for value in values)


def test_nothing_is_disclosed_before_anything_is_asked(tmp_path: Path) -> None:
    assert disclosed(audit(tmp_path / "a", "simple")) == ()


def test_the_command_shows_whose_value_is_disclosed(tmp_path: Path) -> None:
    run = CliRunner().invoke
    for strategy, code in (("simple", 1), ("binding", 0)):
        place = tmp_path / strategy
        asked(audit(place, strategy), "max(pay)", "max(pay) where name != 'Ann'")
        result = run(app, ["audit", "attack", "--store", str(place)])
        assert result.exit_code == code
        assert ("Ann" in result.stdout) == (strategy == "simple")
        report = run(app, ["audit", "attack", "--json", "--store", str(place)])
        assert report.exit_code == code
        names = [value["person"]["name"] for value in json.loads(report.stdout)["disclosed"]]
        assert names == (["Ann"] if strategy == "simple" else [])


@pytest.mark.parametrize("aggregate", ["max", "min"])
def test_long_transcripts_are_judged_by_two_tables_for_everyone(
    tmp_path: Path, aggregate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "LARGEST", 0)
    questions = [
        f"{aggregate}(pay) where name in ({who})" for who in ("'Ann', 'Bea'", "'Cid', 'Dov'")
    ]
    careful = audit(tmp_path / "a", "binding")
    asked(careful, f"{aggregate}(pay)", *questions, f"{aggregate}(pay) where name != 'Ann'")
    assert disclosed(careful) == ()
    careless = audit(tmp_path / "b", "simple")
    asked(careless, f"{aggregate}(pay)", f"{aggregate}(pay) where name != '{WHO[aggregate]}'")
    with pytest.raises(TooLargeError):
        disclosed(careless)  # the tables made up for it sound different
