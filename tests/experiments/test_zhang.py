"""Zhang's figures: what they must show, whatever the numbers are."""

import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError
from shoal.experiments import heart, zhang
from shoal.experiments.experiment import RunSetting
from shoal.privacy.models import PSensitive
from shoal.views import check


def test_binding_answers_more_than_simulatable_auditing_and_less_than_is_unsafe() -> None:
    simulatable, binding, simple = (
        sum(zhang._maxima_answered(200, strategy, 1))
        for strategy in ("simulatable", "binding", "simple")
    )
    assert simulatable < binding < simple
    rows = [
        (200, zhang.NAMES[name], count, 0.0, 0.0)
        for name, count in (("simple", 130), ("simulatable", 80), ("binding", 110))
    ]
    assert zhang._regained(rows) == 0.6


def test_binding_answers_nearly_all_sums_that_the_simple_strategy_does() -> None:
    pytest.importorskip("highspy")
    simple, binding = (
        zhang._sums_answered(10, strategy, 3, 2) for strategy in ("simple", "binding")
    )
    assert simple <= 9
    assert 5 <= binding <= simple + 1


def test_groups_grow_with_the_parameter() -> None:
    setting = RunSetting()
    people = zhang._people(setting, 5)
    assert len(people.keys("occupation")) == 5
    sizes = [
        zhang._smallest(people, PSensitive("occupation", parameter, 2), parameter, "UA", setting)
        for parameter in (2, 4)
    ]
    assert 2 <= (sizes[0] or 0) < (sizes[1] or 0)


def test_views_of_made_up_patients_expose_somebody_only_together() -> None:
    shown = heart.violated(3, 2, heart.WIDTHS["2 to 4 %"])
    assert check(shown.views).private is not True
    assert len(shown.levels) == 200
    kinds = dict(zhang._restored(2, "2 to 4 %", 3, RunSetting()))
    assert set(kinds) == {"own", "any"}
    assert all(count in (None, 0, 1, 2) for count in kinds.values())


def test_a_table_without_a_sensitive_column_is_refused() -> None:
    table = shoal.table(pl.DataFrame({"a": ["x", "y"]}), quasi=["a"])
    with pytest.raises(ParameterError, match="one sensitive one"):
        zhang._people(RunSetting(table=table))


def test_values_are_spread_evenly_or_by_coins() -> None:
    for spread, most in (("uniform", 0.2), ("binomial", 0.4)):
        counts = zhang._drawn_values(spread, 2000, 1)["value"].value_counts()["count"]
        assert most / 2 < counts.max() / 2000 < most  # type: ignore[operator]
