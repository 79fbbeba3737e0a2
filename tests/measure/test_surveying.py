"""Surveys of levels: the same figures as the space of solutions, to search in."""

from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.errors import FileError, ParameterError, Stopped
from shoal.measure.spaces import solution_space
from shoal.measure.surveying import LevelSurvey, Narrowing, survey
from tests.methods.examples import people

PEOPLE = people()
MODELS = [shoal.KAnonymity(2), shoal.KAnonymity(3)]


def test_a_survey_sums_up_to_the_space_of_solutions() -> None:
    found = survey(PEOPLE, MODELS)
    wanted = solution_space(PEOPLE, MODELS, suppression="0.2")
    got = found.space(found.matching(Narrowing()), 0.2)
    assert got.squares == wanted.squares
    assert got.best == wanted.best
    assert (got.nodes, got.seen) == (wanted.nodes, wanted.seen)


def test_the_slow_way_by_any_model_finds_the_same() -> None:
    table = shoal.demo.table(200)
    fast = survey(table, [shoal.KAnonymity(4)])
    slow = survey(table, [shoal.KAnonymity(4), shoal.DistinctDiversity("diagnosis", 1)])
    order = [np.lexsort(one.levels.T) for one in (fast, slow)]
    assert np.allclose(fast.lost[order[0]], slow.lost[order[1]])
    assert np.allclose(fast.failing[order[0]][:, 0], slow.failing[order[1]][:, 0])
    assert not slow.failing[:, 1].any()


def test_levels_are_narrowed_down() -> None:
    found = survey(PEOPLE, MODELS)
    column, height = next(iter(found.heights.items()))
    low = found.matching(Narrowing(at_most={column: 0}))
    high = found.matching(Narrowing(at_least={column: 1}))
    assert (low ^ high).all()
    assert (found.levels[low][:, 0] == 0).all()
    assert found.suppressed[found.matching(Narrowing(suppression=0.1))].max() <= 0.1
    assert found.lost[found.matching(Narrowing(loss=0.5))].max() <= 0.5
    satisfied = found.matching(Narrowing(satisfied=("3-anonymity",)))
    assert satisfied.any()
    assert (found.suppressed[satisfied] == 0).all()
    with pytest.raises(ParameterError, match="was not looked at"):
        found.matching(Narrowing(satisfied=("9-anonymity",)))
    assert found.at({column: height}) is None
    best = found.best(satisfied, 3)
    assert [one.loss for one in best] == sorted(one.loss for one in best)
    assert found.at(best[0].levels) == best[0]


def test_of_many_combinations_some_are_drawn() -> None:
    found = survey(PEOPLE, MODELS, most=5)
    assert found.seen == 5
    assert not found.is_whole
    assert len(np.unique(found.levels, axis=0)) == 5
    whole = survey(PEOPLE, MODELS)
    for at in range(found.seen):
        place = found.place(at)
        assert whole.at(place.levels) == place
    assert survey(PEOPLE, MODELS, most=5, seconds=0).seen == 1


def test_a_survey_is_kept_in_a_file(tmp_path: Path) -> None:
    found = survey(PEOPLE, MODELS)
    found.write(tmp_path / "survey.npz")
    again = LevelSurvey.read(tmp_path / "survey.npz")
    assert again.heights == found.heights
    assert again.models == found.models == ("2-anonymity", "3-anonymity")
    assert (again.levels == found.levels).all()
    assert (again.failing == found.failing).all()
    assert "owner only" in repr(again)
    (tmp_path / "survey.npz").write_bytes(b"PK\x03\x04")
    for name in ("survey.npz", "missing.npz"):
        with pytest.raises(FileError):
            LevelSurvey.read(tmp_path / name)


def test_a_survey_stops_when_asked() -> None:
    def stop(done: int, total: int, what: str) -> None:
        raise Stopped("stopped")

    with pytest.raises(Stopped):
        survey(shoal.demo.table(200), MODELS, progress=stop)
