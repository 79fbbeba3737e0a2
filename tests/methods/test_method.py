"""What every method keeps: what owners are told, how a release begins, what is asked for."""

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.errors import ColumnError, HierarchyError, ParameterError
from shoal.methods import method as method_module
from shoal.methods.method import (
    beforehand,
    begin,
    conjunction,
    crowd_of,
    delta_concerns,
    level_ranges,
    people_of,
    protected,
    require_bound,
    searched,
    short_names,
    silent,
    syntactic,
)
from shoal.methods.noisy_counts import KDGS, NoisyCounts
from shoal.methods.sampling import RandomSample
from shoal.privacy.models import DistinctDiversity, KAnonymity, TCloseness
from shoal.privacy.promises import Syntactic
from tests.methods.examples import AGES, PLACES, people
from tests.methods.examples import table as table_of


def test_owners_are_told_beforehand_of_an_empty_release_and_of_a_large_delta() -> None:
    [concern] = beforehand(KDGS(300), people())
    assert "expect an empty release" in concern
    large, empty = beforehand(NoisyCounts("1/100", "1/10", k=250, levels={}), people())
    assert "not below 1/200" in large
    assert "expect an empty release" in empty
    assert searched(KDGS(3), people().schema) is None


loose: Any = shoal  # which takes more than a type checker allows


def test_as_many_records_as_are_asked_for_are_released_more_likely_than_not() -> None:
    schema = shoal.demo.table(10).schema
    for method in (loose.SafePub(1, "1e-6"), loose.SafePub("ln(3)", "1e-4", "standard")):
        parameters = method.plan(schema).parameters
        crowd = crowd_of(method, schema)
        assert crowd is not None

        def chance(n: int, beta: float = float(parameters.beta), k: int = parameters.k) -> float:
            from scipy.stats import binom

            return float(binom.sf(k - 1, n, beta))

        assert chance(crowd) >= 0.5 > chance(crowd - 3)
    counts = shoal.NoisyCounts(1, "1e-6", levels={})
    assert crowd_of(counts, schema) == 15
    assert crowd_of(shoal.NoisyCounts(1, "1e-6", noise="printed", levels={}), schema) == 34
    assert crowd_of(shoal.NoisyCounts(1, 0, levels={}), schema) is None
    assert crowd_of(loose.Optimal(["2-anonymity"]), schema) is None


def test_a_method_that_says_nothing_has_no_crowd_no_concerns_and_no_search() -> None:
    plain: Any = RandomSample("1/2")
    assert crowd_of(plain, people().schema) is None
    assert beforehand(plain, people()) == ()
    assert searched(plain, people().schema) is None


def test_concerns_of_a_method_come_after_those_of_all() -> None:
    class Worried(RandomSample):
        delta = Fraction(1, 10)

        def crowd(self, schema: Schema) -> int:
            return 201

        def beforehand(self, table: Table) -> tuple[str, ...]:
            return ("it may rain",)

    large, crowd, rain = beforehand(Worried("1/2"), people())
    assert "not below 1/200" in large
    assert "about 201 records share it, and the table has 200" in crowd
    assert rain == "it may rain"
    assert beforehand(Worried("1/2"), people(201))[1:] == ("it may rain",)


def test_a_delta_is_of_no_concern_where_it_is_0_or_small_or_there_are_no_records() -> None:
    assert len(delta_concerns("1/10", 200)) == 1
    for delta, records in ((None, 200), (0, 200), ("1e-9", 200), ("1/10", 0)):
        assert delta_concerns(delta, records) == ()


def test_a_delta_is_measured_by_people_where_a_column_tells_them_apart() -> None:
    rows = pl.DataFrame({"who": [f"p{n % 50}" for n in range(500)], "age": [30] * 500})
    table = shoal.table(rows, identifying=["who"], quasi=["age"], types={"who": "text"})
    [concern] = beforehand(NoisyCounts(1, "1/40", unit="who", levels={}), table)
    assert "not below 1/50" in concern
    assert beforehand(NoisyCounts(1, "1/60", unit="who", levels={}), table) == ()


def test_levels_range_from_the_floor_to_the_ceiling() -> None:
    trees = {"age": AGES, "town": PLACES}
    assert level_ranges(trees, {}, {}) == {"age": range(3), "town": range(3)}
    assert level_ranges(trees, {"age": 1}, {"town": 0}) == {"age": range(1, 3), "town": range(1)}


# The road


@dataclass(frozen=True)
class Watching:
    """A method that notes when its promise is stated."""

    seen: list[str]
    unit: str | None = None
    rows: int = 1
    name: str = "watching"

    def promise(self, schema: Schema) -> SimpleNamespace:
        self.seen.append("promise")
        return SimpleNamespace(statement="a promise")


def test_a_release_begins_with_its_promise_and_has_all_rows_where_rows_are_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method, table = Watching([]), people(20)
    monkeypatch.setattr(method_module, "people_of", watched(method.seen, people_of))
    job = begin(method, table)
    assert method.seen == ["promise", "rows"]
    assert (job.promise.statement, job.rows, job.table.rows) == ("a promise", 20, 20)
    assert job.schema == table.schema
    assert job.chance.private
    assert job.progress is silent


def watched(seen: list[str], right: Any) -> Any:
    """The function, which notes that rows are drawn."""

    def noting(*given: Any) -> Any:
        seen.append("rows")
        return right(*given)

    return noting


def test_at_most_as_many_rows_of_each_person_are_used_as_the_method_says() -> None:
    frame = pl.concat([people(10).frame.to_native()] * 3)
    several = table_of(frame)
    for rows in (1, 2, 3):
        job = begin(Watching([], "name", rows), several, Seeded(1))
        assert (job.rows, job.table.rows) == (30, 10 * rows)
    with pytest.raises(ColumnError, match="'name' is identifying and repeats"):
        begin(Watching([]), several)
    assert people_of(Watching([]), people(10), Seeded(1)).rows == 10


@pytest.mark.parametrize("seed", range(5))
def test_a_value_that_is_refused_is_refused_whichever_rows_are_drawn(seed: int) -> None:
    frame = people(10).frame.to_native()
    odd = frame.with_columns(town=pl.lit("Atlantis")).head(1)
    with pytest.raises(HierarchyError, match="'town'"):
        begin(Watching([], "name"), table_of(pl.concat([frame, odd])), Seeded(seed))


# What several methods ask for


def test_models_are_given_as_such_or_by_their_short_names() -> None:
    models = conjunction(["2-diversity of ill", KAnonymity(3)])
    assert models == (DistinctDiversity("ill", 2), KAnonymity(3))
    assert protected((*models, TCloseness("born", "1/2"))) == ["born", "ill"]
    assert short_names(models) == ("distinct 2-diversity of ill", "3-anonymity")


@pytest.mark.parametrize("wrong", [(), [], "3-anonymity", 5, None])
def test_models_that_are_not_a_list_of_at_least_one_are_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="a list of at least one"):
        conjunction(wrong)


def test_what_is_not_a_model_is_refused_by_what_it_lacks() -> None:
    with pytest.raises(
        ParameterError, match=r"`models` has .*, which has no 'achieved', 'columns'"
    ):
        conjunction([object()])  # type: ignore[list-item]


class Own:
    """A model of somebody's own."""

    hereditary = False
    columns = ()
    meaning = "nothing"

    def __init__(self, name: str = "own") -> None:
        self.name = name

    def __str__(self) -> str:
        return "5-anonymity"

    def holds(self, groups: Any) -> Any:
        return groups.sizes > 0

    def achieved(self, groups: Any, kept: Any = None) -> int:
        return 0


def test_a_model_of_ones_own_is_told_as_such_whatever_it_prints() -> None:
    own: Any = Own()
    models = conjunction(["5-anonymity", own])
    assert short_names(models) == ("5-anonymity", "own (a model of the owner's own)")


@pytest.mark.parametrize("name", ["k-anonymity", "5-anonymity", "Own", "own model", "", "o" * 61])
def test_a_model_of_ones_own_cannot_pass_for_another(name: str) -> None:
    own: Any = Own(name)
    with pytest.raises(ParameterError, match="a name of its own"):
        conjunction([own])


def test_a_syntactic_promise_needs_the_columns_that_it_is_about() -> None:
    schema = people().schema
    models = conjunction(["2-diversity of ill"])
    assert syntactic(models, schema) == Syntactic(("distinct 2-diversity of ill",))
    assert syntactic(models, schema, "name").unit == "name"
    with pytest.raises(ParameterError, match="'town', which is not a sensitive column"):
        syntactic(conjunction(["2-diversity of town"]), schema)
    with pytest.raises(ParameterError, match="no quasi-identifying column"):
        syntactic(models, people(quasi=[], insensitive=["age", "town", "tag"]).schema)
    with pytest.raises(ParameterError, match="unit"):
        syntactic(models, schema, "tag")


def test_how_many_rows_of_each_person_are_used_must_be_clear() -> None:
    require_bound(None, 1, "probabilistic")
    require_bound("name", 3, "standard")
    for unit, rows, definition, said in (
        ("row", 1, "standard", "rename that column"),
        (None, 2, "standard", "say with `unit`"),
        ("name", 1, "probabilistic", "ask for `definition` 'standard'"),
    ):
        with pytest.raises(ParameterError, match=said):
            require_bound(unit, rows, definition)
