"""Every experiment can be found, run and shown."""

import math

import pytest

from shoal import experiments
from shoal.errors import ParameterError

ALL = experiments.experiments()


def test_names_are_unique_and_say_their_paper() -> None:
    names = [each.name for each in ALL]
    assert len(set(names)) == len(names)
    papers = {"SafePub": "safepub", "Li": "li", "Wang": "wang", "Fouad": "fouad", "Zhang": "zhang"}
    for each in ALL:
        assert each.name.startswith(papers[each.paper] + "-")
        assert all((each.figure, each.shows, each.printed))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ParameterError, match="there is no experiment 'figure'"):
        experiments.run("figure")


@pytest.mark.slow
@pytest.mark.parametrize("name", [each.name for each in ALL])
def test_a_quick_run_gives_tables_and_charts(name: str) -> None:
    result = experiments.run(name)
    assert result.panels
    assert result.findings.found
    for panel in result.panels:
        assert panel.rows
        for row in panel.rows:
            assert len(row) == len(panel.head)
            assert all(math.isfinite(cell) for cell in row if isinstance(cell, float))
    assert result.plot().to_dict()
