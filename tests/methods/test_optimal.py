"""The optimal node: bounds, losses, suppression, and what the owner is told.

The search itself: tests/lattice.
"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import HierarchyError, InfeasibleError, ParameterError
from shoal.methods.method import searched
from shoal.methods.optimal import Optimal, OptimalFacts
from shoal.privacy.models import DistinctDiversity, KAnonymity
from tests.methods.examples import people

FIVES = Hierarchy.from_lines([[str(i), f"{i // 5 * 5}+", "*"] for i in range(10)])


def digits(values: str, ill: str = "") -> Table:
    """A record for every digit."""
    frame = pl.DataFrame({"x": list(values), "ill": list(ill or "a" * len(values))})
    return shoal.table(frame, quasi=["x"], sensitive=["ill"], hierarchies={"x": FIVES})


def facts_of(method: Optimal, table: Table) -> OptimalFacts:
    facts = method.release(table, Seeded(1)).facts
    assert isinstance(facts, OptimalFacts)
    return facts


def test_the_finest_node_that_keeps_the_models_is_taken() -> None:
    release = Optimal([KAnonymity(2)]).release(digits("001156"))
    assert release.certificate.levels == {"x": 1}
    assert release.table["x"].to_list() == ["0+"] * 4 + ["5+"] * 2
    assert release.certificate.whole


def test_suppression_may_keep_values_that_generalisation_would_lose() -> None:
    release = Optimal(["2-anonymity"], suppression="1/3").release(digits("001156"))
    assert release.certificate.levels == {"x": 0}
    assert release.table["x"].to_list() == ["0", "0", "1", "1"]
    assert release.suppressed == 2
    assert not release.certificate.whole
    assert next(release.facts.lines()) == "2 records suppressed, 33.3 %"


def test_starred_records_stay_and_show_nothing() -> None:
    method = Optimal(["2-anonymity"], suppression="1/3", suppressed="star")
    release = method.release(digits("001156"))
    assert sorted(release.table["x"].to_list()) == ["*", "*", "0", "0", "1", "1"]
    assert release.certificate.whole


def test_models_of_all_kinds_hold_at_once() -> None:
    table = digits("0001115", "aababba")
    release = Optimal([KAnonymity(2), DistinctDiversity("ill", 2)], suppression="1/7").release(
        table
    )
    assert release.certificate.levels == {"x": 0}
    assert release.suppressed == 1


@pytest.mark.parametrize("loss", ["granularity", "discernibility"])
def test_every_loss_is_told_from_0_to_1(loss: str) -> None:
    facts = facts_of(Optimal([KAnonymity(3)], loss=loss, suppression="1/10"), people())
    assert facts.loss is not None
    assert 0 < facts.loss <= 1
    assert 0 < facts.evaluated <= facts.nodes
    assert any(line.startswith("loss ") for line in facts.lines())


def test_levels_stay_within_floor_and_ceiling() -> None:
    table = digits("0" * 20)
    assert Optimal([KAnonymity(2)], floor={"x": 1}).release(table).certificate.levels == {"x": 1}
    with pytest.raises(InfeasibleError, match="no node satisfies 2-anonymity with at most 0 of 2"):
        Optimal([KAnonymity(2)], ceiling={"x": 0}).release(digits("01"))


def test_the_levels_that_are_searched_are_those_between_floor_and_ceiling() -> None:
    method = Optimal([KAnonymity(2)], floor={"age": 1}, ceiling={"town": 1})
    assert searched(method, people().schema) == {"age": range(1, 3), "town": range(2)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "beauty"}, "loss='beauty' is unknown; known are 'granularity'"),
        ({"suppressed": "hide"}, "suppressed"),
        ({"suppression": 2}, "suppression=2 is out of range"),
    ],
)
def test_invalid_parameters_raise(options: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Optimal([KAnonymity(2)], **options)  # type: ignore[arg-type]


def test_stars_that_are_values_of_a_level_are_refused_where_records_are_starred() -> None:
    tree = shoal.Hierarchy.from_lines([["a", "*", "any"], ["b", "x", "any"]])
    table = shoal.table(
        pl.DataFrame({"town": ["a", "a", "b"]}), quasi=["town"], hierarchies={"town": tree}
    )
    method = shoal.Optimal((KAnonymity(2),), suppression="1/2", suppressed="star")
    with pytest.raises(HierarchyError, match="beside other values"):
        method.release(table)
    shoal.Optimal((KAnonymity(2),), suppression="1/2").release(table)


def test_columns_are_put_together_as_asked(tmp_path: Path) -> None:
    table = digits("001156")
    geometric = Optimal(["2-anonymity"], aggregate="geometric mean", suppression=1)
    release = geometric.release(table)
    assert release.certificate.parameters["loss"]["by"] == "geometric mean"
    release.write(tmp_path / "out")
    assert not shoal.verify(tmp_path / "out/certificate.json", tmp_path / "out/release.csv")
    greedy = Optimal(["2-anonymity"], suppression=1, search="greedy").release(table)
    assert greedy.certificate.parameters["search"] == "greedy"
    weighed = Optimal(["2-anonymity"], importance={"x": "1/2"})
    assert weighed.release(table).certificate.parameters["loss"]["importance"] == {"x": 0.5}


@pytest.mark.parametrize(
    ("options", "blamed"),
    [
        ({"balance": "1/2"}, "balance"),
        ({"loss": "ambiguity", "aggregate": "sum"}, "aggregate"),
        ({"loss": "ambiguity", "importance": {"x": 1}}, "importance"),
        ({"aggregate": "sum", "balance": 2}, "balance"),
        ({"aggregate": "mode"}, "aggregate"),
        ({"importance": {"x": -1}}, "importance"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], blamed: str) -> None:
    with pytest.raises(ParameterError, match=blamed):
        Optimal(["2-anonymity"], **options)
