"""Simulations: figures of releases that are thrown away, which survive being written as JSON."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.errors import ParameterError, ShoalError
from shoal.releases.certificate import Certificate
from shoal.studies.candidates import compare
from shoal.studies.pairs import PairShares, pairs_of
from shoal.studies.simulating import Details, Simulation, measure, rank, simulate
from tests.methods.examples import people
from tests.report.conftest import ONE_OF_EACH

PEOPLE = people()


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_method_can_be_simulated(name: str) -> None:
    made, details = simulate(PEOPLE, ONE_OF_EACH[name], name)
    assert made.released is None
    written = json.loads(json.dumps({"made": made.to_dict(), "details": details.to_dict()}))
    again = Simulation.from_dict(written["made"])
    assert again.to_dict() == made.to_dict()
    assert Details.from_dict(written["details"]).to_dict() == details.to_dict()
    assert "owner only" in repr(again)
    assert rank([made, again]).releases[0].name == name


def test_a_simulation_cannot_be_taken_for_a_release(tmp_path: Path) -> None:
    made, details = simulate(PEOPLE, ONE_OF_EACH["noisy-counts"], "ε 1")
    for parts in (made.to_dict(), details.to_dict()):
        assert parts["not_for_release"] is True
        with pytest.raises((ShoalError, KeyError)):
            Certificate.from_json(json.dumps(parts))
    assert "nothing was spent" in made.to_dict()["notice"]
    assert not {"number", "certificate", "rows", "table", "file"} & made.to_dict().keys()
    (tmp_path / "certificate.json").write_text(json.dumps(made.to_dict()))
    with pytest.raises(ShoalError):
        shoal.Release.read(tmp_path)


def test_simulations_are_ranked_as_releases_are() -> None:
    methods = {f"k {k}": shoal.Optimal([shoal.KAnonymity(k)], suppression=1) for k in (2, 3, 5)}
    releases = {name: method.release(PEOPLE) for name, method in methods.items()}
    wanted = compare(PEOPLE, releases)
    made = [measure(PEOPLE, release, name)[0] for name, release in releases.items()]
    found = rank([Simulation.from_dict(json.loads(json.dumps(one.to_dict()))) for one in made])
    assert [one.name for one in found.releases] == list(methods)
    for mine, theirs in zip(found.releases, wanted.releases, strict=True):
        assert mine.unbeaten == theirs.unbeaten
        assert mine.risk("highest") == theirs.risk("highest")
    assert found.pictures()


def test_what_is_not_a_simulation_is_refused() -> None:
    with pytest.raises(ParameterError, match="not the figures"):
        Simulation.from_dict({"name": "x"})
    with pytest.raises(ParameterError):
        rank([])


def test_pairs_of_an_unchanged_table_are_the_same_before_and_after() -> None:
    release = shoal.Optimal([shoal.KAnonymity(1)]).release(PEOPLE)
    for pair in pairs_of(PEOPLE, release):
        assert np.allclose(pair.before, pair.after)
        assert np.isclose(np.sum(pair.before), 1, atol=1e-4)
        assert pair.moved < 1e-6
        assert pair.pictures()[0].rows


def test_pairs_count_records_as_the_table_has_them() -> None:
    table = shoal.demo.table(400)
    made, details = simulate(table, shoal.Optimal([shoal.KAnonymity(2)], suppression=1), "two")
    pair = details.pair("ward", "sex")
    assert pair is not None
    frame = shoal.demo.hospital(400)
    women = frame.filter(frame["sex"] == "female").height / frame.height
    at = pair.columns.index("sex")
    values = pair.values[at]
    told: dict[str, float] = dict(zip(values, np.sum(pair.before, axis=1 - at), strict=True))
    level: Any = pair.levels[at]
    if level == 0:
        assert np.isclose(told["female"], women, atol=1e-4)
    assert np.isclose(sum(told.values()), 1, atol=1e-4)
    assert PairShares.from_dict(pair.to_dict()) == pair
    assert details.column("age") is not None
    assert details.column("nothing") is None
    assert made.records == 400
