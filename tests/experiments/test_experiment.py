"""An experiment has a setting, and gives tables, charts and a finding."""

import json

import pytest

import shoal
from shoal.errors import ParameterError
from shoal.experiments import Experiment, Panel, Plot, Result, RunSetting
from shoal.experiments.experiment import Findings
from shoal.look import Zone

PANEL = Panel("sizes", ("a.b", "size", "by"), ((1, 2.5, "x"), (2, None, "y")), Plot("a.b", "size"))
LOG = Panel("logs", ("n", "s"), (("few", 1), ("many", 100)), Plot("n", "s", "n", "bar", log_y=True))


def _of(takes: str = "", data: str | None = None) -> Result:
    def run(setting: RunSetting) -> Findings:
        return Findings((PANEL, LOG), "as printed")

    experiment = Experiment("e", "Paper", "figure 1", "sizes", "they grow", run, takes)
    return Result(experiment, quick=True, data=data, findings=run(RunSetting()))


def test_quick_and_full_settings_have_values_of_their_own() -> None:
    assert RunSetting(quick=True).of(1, 2) == 1
    assert RunSetting(quick=False).of(1, 2) == 2


def test_runs_draw_differently_and_a_seed_repeats_them() -> None:
    setting = RunSetting(seed=3)
    first, second = (setting.chance(run).below(2**64) for run in (0, 1))
    assert first != second
    assert first == RunSetting(seed=3).chance(0).below(2**64)
    assert first != RunSetting(seed=4).chance(0).below(2**64)


def test_progress_counts_from_none_to_all() -> None:
    seen: list[tuple[int, int]] = []
    setting = RunSetting(progress=lambda done, total, what: seen.append((done, total)))
    assert list(setting.each("ab", "letters")) == ["a", "b"]
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_a_result_is_plain_values() -> None:
    plain = json.loads(json.dumps(_of().to_dict()))
    assert (plain["name"], plain["paper"], plain["figure"]) == ("e", "Paper", "figure 1")
    assert plain["not_for_release"] is False
    assert plain["tables"][0]["rows"][1] == {"a.b": 2, "size": None, "by": "y"}


def test_a_result_about_a_given_table_is_owner_only() -> None:
    result = _of("a table", "people.csv")
    assert result.notice
    assert result.to_dict()["not_for_release"] is True
    assert Zone.OWNER.words in result.plot().to_json()
    assert Zone.OWNER.words not in _of().plot().to_json()


def test_a_panel_is_a_dataframe() -> None:
    assert PANEL.frame().rows() == [(1, 2.5, "x"), (2, None, "y")]


def test_charts_show_what_can_be_drawn() -> None:
    first, second = _of().plot().to_dict()["vconcat"]
    assert len(first["data"]["values"]) == 1  # the other has no value
    assert first["encoding"]["x"]["title"] == "a.b"
    assert first["encoding"]["x"]["type"] == "quantitative"
    assert second["encoding"]["x"]["type"] == "ordinal"
    assert second["encoding"]["y"]["scale"]["type"] == "log"


def test_an_experiment_without_data_refuses_a_table() -> None:
    table = shoal.table(PANEL.frame())
    with pytest.raises(ParameterError, match="does not look at data"):
        _of().experiment.refuse(RunSetting(table=table))
    _of("a table").experiment.refuse(RunSetting(table=table))
