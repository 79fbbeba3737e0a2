"""What utility costs in risk is also a dataframe and plain values."""

import json
from fractions import Fraction

import polars as pl

import shoal
from shoal.methods.personal import Personal
from shoal.studies.curves import AnonymityComparison, Curve, Stair, Staircase
from shoal.studies.tradeoffs import FLOORS, tradeoff_of
from tests.methods.test_personal import TREES

Studies = list[Curve | Staircase | AnonymityComparison]


def test_all_are_data_too(studies: Studies) -> None:
    curve, stairs, comparison = studies
    assert curve.frame().columns == ["floor", "risk", "highest", "utility"]
    assert curve.frame().height == len(FLOORS)
    assert stairs.frame().columns == ["utility", "risk", "people", "level of town", "level of age"]
    assert comparison.frame()["k_anonymous"].to_list() == [0.4, 0.5]
    for one in studies:
        plain = one.to_dict()
        assert next(iter(plain)) == "not_for_release"
        assert json.loads(json.dumps(plain)) == plain


def test_a_step_says_how_many_people_it_fits_and_what_is_shown() -> None:
    table = shoal.table(
        pl.DataFrame({"town": list("aab"), "age": list("013")}),
        quasi=["town", "age"],
        hierarchies=TREES,
    )
    stairs = tradeoff_of(table, Personal("0.6", measure="depth"), 0)
    assert stairs.at("0.6") == Stair(
        Fraction(4, 5), 1.0, 2, {"town": 0, "age": 1}, {"town": "a", "age": "0"}
    )
    assert (
        stairs.at(1)
        == stairs.as_it_is
        == Stair(Fraction(1), 2.0, 1, {"town": 0, "age": 0}, {"town": "a", "age": "0"})
    )
    assert stairs.half == stairs.at("0.8")
    assert "shown" not in repr(stairs)
