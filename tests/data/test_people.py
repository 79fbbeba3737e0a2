"""People, not rows: repeated people are noticed, counted once, and refused without a unit."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp, log, prod
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.attack.coins import law
from shoal.chance import Chance, Seeded
from shoal.cli.app import app
from shoal.data import bounding
from shoal.data.people import repeated
from shoal.data.sources import Memory
from shoal.data.tables import Table
from shoal.errors import ColumnError, InfeasibleError, InputError, ParameterError, RecipeError
from shoal.measure.risk import assess
from shoal.methods.buckets import Buckets
from shoal.methods.catalogue import CATALOGUE
from shoal.methods.columns import Columns
from shoal.methods.method import Method
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.methods.personal import Personal
from shoal.privacy.limits import Limits
from shoal.privacy.models import KAnonymity
from shoal.recipe import Recipe
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.releases.verification import unchecked, verify
from shoal.studies import tradeoffs
from shoal.studies.judging import judge
from shoal.views import Register
from tests.methods.examples import AGES, METHODS, PLACES, TOWNS, table

EACH = 5
PEOPLE = 300


def frame(number: int = PEOPLE, each: int = EACH, seed: int = 1) -> pl.DataFrame:
    """So many people with so many equal rows each."""
    random = np.random.default_rng(seed)
    everybody = pl.DataFrame(
        {
            "name": [f"Private Person {i}" for i in range(number)],
            "age": random.integers(0, 100, number),
            "town": random.choice(TOWNS, number),
            "ill": random.choice(["grippe", "größe", "gout"], number),
            "tag": random.permutation(number),
        }
    )
    return pl.concat([everybody] * each)


ALL: dict[str, Method] = {
    **{
        name: method
        for name, method in METHODS.items()
        if method.name not in ("buckets", "columns")
    },
    "buckets": Buckets("ill", Limits.formula(1, "1/2"), solver="two"),
    "columns": Columns(1, "9/10", k=1, schema=[["age", "town"], ["ill"]], levels={"age": 1}),
}
every_method = pytest.mark.parametrize("method", ALL.values(), ids=ALL)


def with_unit(method: Method, unit: str = "name") -> Method:
    changed = {"unit": unit}
    if "definition" in {field.name for field in fields(method)}:  # type: ignore[arg-type]
        changed["definition"] = "standard"
    made: Method = replace(method, **changed)  # type: ignore[type-var]
    return made


def test_every_method_of_the_catalogue_takes_a_unit_and_is_tried_here() -> None:
    assert {method.name for method in ALL.values()} == set(CATALOGUE)
    for method in ALL.values():
        assert "unit" in {field.name for field in fields(method)}  # type: ignore[arg-type]


# Releases


@every_method
def test_repeated_people_are_refused_unless_somebody_says_what_they_are(method: Method) -> None:
    with pytest.raises(
        ColumnError, match=r"'name' is identifying and repeats.*`unit`.*`rows_are_people`"
    ) as caught:
        method.release(table(frame()))
    assert "Private Person" not in str(caught.value)
    method.release(table(frame(), rows_are_people=True))


@every_method
@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_with_a_unit_everybody_has_one_row(method: Method, kind: Any) -> None:
    given = table(kind(frame(60).to_dict(as_series=False)))
    own = with_unit(method)
    stated = own.promise(given.schema)
    release = own.release(given)
    paper = release.certificate
    assert paper.promise == stated.to_dict()
    assert paper.promise["unit"] == paper.parameters["unit"] == "name"
    assert "'name'" in paper.statement
    if method.name in ("safepub", "noisy-counts", "columns"):
        return  # which show rows as often as noise, or a sample, says
    tags = nw.from_native(release.table, eager_only=True)["tag"].to_list()
    assert max(Counter(tags).values()) == 1
    assert "Private Person" not in repr(paper)


@every_method
def test_a_release_by_people_verifies_and_a_forged_unit_is_found(
    method: Method, tmp_path: Path
) -> None:
    path = with_unit(method).release(table(frame(60))).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path) == []
    assert any("'name' gave" in line for line in unchecked(paper))
    written = Certificate.from_json(paper.read_text(encoding="utf-8"))
    without = {key: value for key, value in written.promise.items() if key != "unit"}
    dp = written.promise["promise"] == "differential privacy"
    for promise, parameters in (
        ({**without, "unit": "row"} if dp else without, written.parameters),
        (written.promise, {**written.parameters, "unit": None}),
        ({**written.promise, "unit": "town"}, {**written.parameters, "unit": "town"}),
    ):
        forged = replace(written, promise=promise, parameters=parameters)
        paper.write_text(forged.to_json(), encoding="utf-8")
        assert verify(paper, path), (promise, parameters)


@every_method
def test_a_unit_that_is_not_identifying_is_refused(method: Method) -> None:
    for unit in ("tag", "nobody"):
        with pytest.raises(ParameterError, match="unit"):
            with_unit(method, unit).release(table(frame(20)))


def test_one_row_per_person_is_k_anonymous_by_people_and_rows_are_not() -> None:
    rows = frame()
    named = table(rows)
    exposed = Optimal((KAnonymity(5),)).release(replace(named, rows_are_people=True))
    assert fewest_people(exposed, rows) == 1
    assert fewest_people(Optimal((KAnonymity(5),), unit="name").release(named), rows) >= 5


def fewest_people(release: Release, rows: pl.DataFrame) -> int:
    """The fewest different people in a released group."""
    name_of = dict(zip(rows["tag"], rows["name"], strict=True))
    groups = defaultdict(set)
    for row in nw.from_native(release.table, eager_only=True).iter_rows(named=True):
        groups[row["age"], row["town"]].add(name_of[row["tag"]])
    return min(map(len, groups.values()))


def small_tables() -> list[list[tuple[str, str]]]:
    """Tables of two to four rows, each of one of three people and with one of two ages."""
    rows = list(product("abc", ["10", "25"]))
    return [list(some) for size in range(2, 5) for some in combinations(rows * 2, size)][::47]


def not_by_people(method: Any) -> bool:
    """Whether some draw in a small table gives a group of fewer than two people, or repeats one."""
    for rows in small_tables():
        names = [name for name, _ in rows]
        ages = [int(age) for _, age in rows]
        given = shoal.table(
            pl.DataFrame({"name": names, "age": ages}),
            quasi=["age"],
            identifying=["name"],
            hierarchies={"age": AGES},
        )

        def shown(chance: Chance, given: Table = given) -> tuple[str, ...] | None:
            try:
                return tuple(map(str, method.release(given, chance).table["age"].to_list()))
            except InfeasibleError:
                return None

        people = len(set(names))
        for released in law(shown):
            if released is None:
                wrong = people >= 2
            else:
                sizes = Counter(released)
                wrong = min(sizes.values(), default=0) < 2 or sizes.total() != people
            if wrong:
                return True
    return False


@pytest.mark.parametrize("method", [Optimal((KAnonymity(2),)), Mondrian((KAnonymity(2),))])
def test_no_group_of_any_small_table_has_fewer_people_than_k_whatever_is_drawn(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(method, unit="name")
    assert not not_by_people(own)
    right = bounding.chosen_rows
    twins: dict[str, Any] = {
        "two rows of each": lambda codes, rows, chance: right(codes, rows + 1, chance),
        "all rows": lambda codes, rows, chance: np.ones(len(codes), dtype=np.bool_),
        "not of everybody": lambda codes, rows, chance: (
            right(codes, rows, chance) & (codes != codes.max())
        ),
    }
    for name, twin in twins.items():
        monkeypatch.setattr(bounding, "chosen_rows", twin)
        assert not_by_people(own), name


def test_which_row_is_drawn_is_uniform_and_independent_between_people() -> None:
    people = np.array([0, 1, 0, 1, 1], dtype=np.uint8)
    values = np.array([2, 0, 0, 1, 1], dtype=np.uint8)

    def kept(chance: Chance, order: Sequence[int] = range(5)) -> tuple[tuple[int, int], ...]:
        rows = list(order)
        once = np.ones(5, dtype=np.int64)
        taken = bounding.bounded_rows(people[rows], [values[rows]], once, 1, chance) > 0
        return tuple(
            sorted(zip(people[rows][taken].tolist(), values[rows][taken].tolist(), strict=True))
        )

    found = law(kept)
    sixth = Fraction(1, 6)
    assert {taken: weight.exact for taken, weight in found.items()} == {
        ((0, of_first), (1, of_second)): sixth * (1 + of_second)
        for of_first, of_second in product((0, 2), (0, 1))
    }
    for order in permutations(range(5)):
        assert kept(Seeded(3), order) == kept(Seeded(3))


def test_equal_rows_are_drawn_together_or_one_by_one() -> None:
    people = np.array([0, 0, 1, 2, 2], dtype=np.uint8)
    values = np.array([0, 1, 0, 0, 2], dtype=np.uint8)
    count = np.array([3, 1, 2, 5, 4])
    each = np.repeat(np.arange(5), count)
    for rows, seed in product((1, 2, 4), range(20)):
        together = bounding.bounded_rows(people, [values], count, rows, Seeded(seed))
        once = np.ones(len(each), dtype=np.int64)
        alone = bounding.bounded_rows(people[each], [values[each]], once, rows, Seeded(seed))
        assert together.tolist() == np.bincount(each, alone, 5).tolist()
        assert np.bincount(people, together).tolist() == [min(rows, n) for n in (4, 2, 9)]


def test_drawing_keeps_types_whatever_the_rows_drawn_would_suggest() -> None:
    odd = pd.DataFrame({"name": ["a", "a", "b"], "age": pd.Series([1, "old", 3], dtype=object)})
    given = shoal.table(odd, identifying=["name"], quasi=["age"])
    taken = given.bounded("name", 1, Seeded(1))
    assert taken.rows == 2
    assert taken.kind("age") is given.kind("age")


def test_a_household_is_a_larger_unit() -> None:
    homes = frame(40, 1).with_columns(home=pl.Series([str(i // 4) for i in range(40)]))
    given = shoal.table(
        homes,
        quasi=["age", "town"],
        identifying=["name", "home"],
        sensitive=["ill"],
        insensitive=["tag"],
        hierarchies={"age": AGES, "town": PLACES},
    )
    made = Optimal((KAnonymity(3),), unit="home").release(given)
    assert len(made.table) == 10


def test_a_release_by_people_is_not_a_view_of_rows() -> None:
    given = table(frame(60))
    made = Optimal((KAnonymity(3),), unit="name").release(given)
    register = Register(
        Table(Memory(given.frame.select("age", "town")), hierarchies=given.hierarchies)
    )
    with pytest.raises(InputError, match="one row of each 'name'"):
        register.of_release(made, "it", "ill")


def test_a_ledger_spends_nothing_on_repeated_people(tmp_path: Path) -> None:
    book = shoal.Ledger.create(tmp_path / "ledger", epsilon=3, delta="99/100")
    with pytest.raises(ColumnError, match="rows are not people"):
        book.release(ALL["safepub"], table(frame()))
    assert not book.account().reserved


def test_rates_are_not_scaled_where_people_have_different_numbers_of_rows() -> None:
    given = table(frame(200))
    made = with_unit(ALL["sampling"]).release(given)
    assert judge(given, made).rate is None


def test_curves_are_of_people() -> None:
    given = table(frame(60))
    with pytest.raises(ColumnError, match="rows are not people"):
        tradeoffs.tradeoff(given, Personal("1/2"), ["1/2"])
    own = tradeoffs.tradeoff(given, Personal("1/2", unit="name"), ["1/2"])
    once = tradeoffs.tradeoff(table(frame(60, 1)), Personal("1/2"), ["1/2"])
    assert own.as_it_is.risk == once.as_it_is.risk
    with pytest.raises(ParameterError, match="one of each 'name'"):
        tradeoffs.tradeoff_of(given, Personal("1/2", unit="name"), 0)


# Who is noticed


def noticed(given: pl.DataFrame, quasi: list[str], **roles: Any) -> list[str]:
    made = shoal.table(given, quasi=quasi, **roles)
    return [one.column for one in repeated(made, quasi, made.unmentioned)]


def test_a_column_that_nobody_named_is_noticed_by_its_name_or_by_its_rows() -> None:
    rows = frame().drop("tag", "ill")
    assert noticed(rows, ["age", "town"]) == ["name"]
    assert noticed(rows.rename({"name": "xyz"}), ["age", "town"]) == ["xyz"]
    varied = rows.with_columns(age=pl.int_range(pl.len()) % 97)  # nothing agrees
    assert noticed(varied.rename({"name": "xyz"}), ["age", "town"]) == []
    for called in ("name", "patient", "Patient ID", "PatientID", "customer_no", "id", "ssn"):
        assert noticed(varied.rename({"name": called}), ["age", "town"]) == [called]
    for called in ("brand_name", "idle", "country", "insurance"):
        assert noticed(varied.rename({"name": called}), ["age", "town"]) == []


def test_ordinary_columns_are_not_noticed() -> None:
    random = np.random.default_rng(3)
    people = 4000
    rows = pl.DataFrame(
        {
            "person_id": random.permutation(people),
            "name": random.choice([f"Smith {i}" for i in range(9000)], people),
            "first_name": random.choice([f"Ann {i}" for i in range(90)], people),
            "age": random.integers(0, 100, people),
            "sex": random.choice(["f", "m"], people),
            "wage": (random.integers(0, 500, people) * 10.5),
            "region": random.choice(list("abcdefgh"), people),
            "phone": [None] * people,
        }
    )
    code = rows["region"] + pl.Series(random.integers(0, 200, people)).cast(pl.String)
    rows = rows.with_columns(postcode=code)
    assert noticed(rows, ["age", "sex"]) == []
    assert noticed(rows, ["region"]) == []
    assert (
        noticed(rows, ["age", "sex"], identifying=["person_id", "name", "phone", "postcode"]) == []
    )
    assert noticed(shoal.demo.table().frame.to_native(), ["age", "sex", "ward"]) == []


NUMBERS = (
    "mrn,MRN,record_id,case_id,study_id,nhs_number,subjid,subject,user,employee,customer,"
    "account_number,hadm_id,bene_id,voter_id,national id,persnr,pnr,idno,id_patient,Patienten-ID,"
    "key,patientid,patientIDNumber,ID of patient,person2"
)
NAMED = (
    "username,email,email_address,eMail,phone_number,name of patient,patientName,Full Name,surname"
)


@pytest.mark.parametrize("called", [*NUMBERS.split(","), *NAMED.split(",")])
def test_people_are_noticed_by_the_words_of_a_name(called: str) -> None:
    rows = frame(40).select(pl.col("name").alias(called), age=pl.int_range(pl.len()) % 97)
    assert noticed(rows, ["age"]) == [called]


OTHERS = (
    "customer_country_code,brand_name,company name,study,study name,code,number,patient_address,"
    "idle,user_age,Key1"
)


@pytest.mark.parametrize("called", OTHERS.split(","))
def test_a_word_that_does_not_belong_makes_another_name(called: str) -> None:
    rows = frame(40).select(pl.col("name").alias(called), age=pl.int_range(pl.len()) % 97)
    assert noticed(rows, ["age"]) == []


def test_a_sensitive_column_that_is_left_out_names_nobody() -> None:
    rows = frame(40).select("name", age=pl.int_range(pl.len()) % 97)
    table = shoal.table(rows, quasi=["age"], sensitive=["name"])
    assert assess(table).repeated == ()
    assert assess(table, sensitive=()).repeated == ()
    assert assess(shoal.table(rows, quasi=["age"])).repeated == ("name",)


@pytest.mark.parametrize("key", ["line", "id", "record_id", "row_no"])
def test_a_number_of_rows_does_not_excuse_names_that_repeat(key: str) -> None:
    rows = frame().select("name", age=pl.int_range(pl.len()) % 97)
    rows = rows.with_columns(pl.int_range(pl.len()).alias(key))
    for roles in ({"identifying": ["name", key]}, {"identifying": ["name"]}, {}):
        assert noticed(rows, ["age"], **roles) == ["name"]
    found = assess(rows.to_pandas(), quasi=["age"])
    assert found.repeated == ("name",)
    given = shoal.table(rows, identifying=["name", key], quasi=["age"], hierarchies={"age": AGES})
    with pytest.raises(ColumnError, match="'name' is identifying and repeats"):
        Optimal((KAnonymity(2),)).release(given)


def test_namesakes_are_excused_by_a_number_of_people() -> None:
    names = ["Ann"] * 3 + [f"Private Person {i}" for i in range(37)]
    rows = pl.DataFrame({"patient": range(40), "name": names, "age": [*range(20)] * 2})
    for roles in ({"identifying": ["patient", "name"]}, {}):
        assert noticed(rows, ["age"], **roles) == []
        twice = rows.with_columns(name=pl.int_range(40) // 2)
        assert noticed(twice, ["age"], **roles) == ["name"]
        parts = twice.rename({"name": "first_name"})
        renamed = {role: ["patient", "first_name"] for role in roles}
        assert noticed(parts, ["age"], **renamed) == []


@pytest.mark.parametrize(
    ("called", "values"),
    [
        ("person", ["adult", "child"]),
        ("patient", ["yes", "no"]),
        ("mobile", ["yes", "no"]),
        ("phone", ["iPhone", "Android"]),
    ],
)
def test_a_column_with_few_values_names_nobody(called: str, values: list[str]) -> None:
    rows = pl.DataFrame({called: values * 200, "age": [*range(100)] * 4})
    assert noticed(rows, ["age"]) == []
    assert noticed(rows, ["age"], identifying=[called]) == [called]


def test_a_register_with_repeated_people_is_refused() -> None:
    given = table(frame(60, 1))
    everybody = frame(60).select("name", "age", "town")
    for roles in ({"identifying": ["name"]}, {}):
        crowd = shoal.table(everybody, **roles)  # type: ignore[arg-type]
        with pytest.raises(ColumnError, match=r"the register: column 'name'.*rows are not people"):
            Personal("1/2", register=crowd).release(given)
    Personal("1/2", register=replace(crowd, rows_are_people=True)).release(given)


@pytest.mark.parametrize("place", ["adult/adult.csv", "acs/acs.csv", "survey/labour.csv"])
def test_no_column_of_real_tables_of_people_is_noticed(shared_data: Path, place: str) -> None:
    given = shoal.read(shared_data / place)
    for quasi in list(combinations(given.names, 2))[:40]:
        own = given.with_roles(quasi=quasi)
        assert repeated(own, own.quasi, own.unmentioned) == ()


def test_an_identifying_column_beside_one_that_tells_all_rows_apart_may_repeat() -> None:
    """It may be identifying only to be left out, unless it numbers people or its rows agree."""
    one = frame(PEOPLE, 1).with_columns(row=pl.int_range(PEOPLE).cast(pl.String))
    assert noticed(one, ["age"], identifying=["row", "town", "ill"]) == []
    five = frame().drop("tag").with_columns(row=pl.int_range(PEOPLE * EACH).cast(pl.String))
    assert noticed(five, ["age", "town"], identifying=["row", "name"]) == ["name"]
    other = five.with_columns(age=pl.int_range(pl.len()) % 97).rename({"name": "patient_id"})
    assert noticed(other, ["age", "town"], identifying=["row", "patient_id"]) == ["patient_id"]


def test_missing_names_are_nobody() -> None:
    rows = pl.DataFrame({"phone": ["1", "2", None, None], "age": [1, 2, 3, 4]})
    assert noticed(rows, ["age"], identifying=["phone"]) == []


# Assessing people

THREE = {  # Ann has two records in one group and one in another
    "who": ["Ann", "Ann", "Ann", "Bob", "Cem", "Cem"],
    "age": ["30", "30", "40", "30", "40", "50"],
    "ill": ["flu", "cold", "flu", "flu", "flu", "gout"],
    "home": ["x", "x", "x", "x", "y", "y"],
}


def test_risks_of_people_are_what_they_are_by_hand() -> None:
    """30: Ann, Bob; 40: Ann, Cem; 50: Cem."""
    found = assess(pl.DataFrame(THREE), quasi=["age"], person="who", threshold="1/2")
    assert (found.rows, found.records, found.people, found.groups) == (6, 6, 3, 3)
    assert (found.k, found.largest, found.uniques) == (1, 2, 1)
    assert found.sample_uniqueness == pytest.approx(1 / 3)
    assert found.prosecutor.highest == 1
    assert found.prosecutor.average == found.marketer == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert found.prosecutor.average_of_groups == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert found.prosecutor.records_at_risk == 1
    assert found.prosecutor.at_risk == pytest.approx(1 / 3)
    assert found.left_out == ("ill", "home")
    assert found.repeated == ()


def test_the_risk_of_a_household_is_that_somebody_of_it_is_recognised() -> None:
    by_person = assess(pl.DataFrame(THREE), quasi=["age"], person="who", household="home")
    assert by_person.households is not None
    assert by_person.households.number == 2  # Ann and Bob at 1/2 each, Cem at 1
    assert by_person.households.highest == 1
    assert by_person.households.average == pytest.approx((3 / 4 + 1) / 2)
    assert by_person.households.average_of_people == pytest.approx((3 / 4 + 3 / 4 + 1) / 3)
    assert by_person.households.households_at_risk == 2
    by_row = assess(pl.DataFrame(THREE), quasi=["age"], household="home", rows_are_people=True)
    assert by_row.households is not None  # three of 30 and one of 40, then one of 40 and one of 50
    first = 1 - (2 / 3) ** 3 * (1 / 2)
    assert by_row.households.average == pytest.approx((first + 1) / 2)
    counted = assess(pl.DataFrame(THREE), quasi=["age"], person="home")
    assert (counted.people, counted.k) == (2, 1)


def test_a_household_is_at_risk_above_the_threshold_exactly() -> None:
    homes = pl.DataFrame({"age": ["1"] * 5, "home": list("abcde")})
    found = assess(homes, quasi=["age"], household="home", threshold="1/5")
    assert found.households is not None
    assert found.households.households_at_risk == 0
    below = assess(homes, quasi=["age"], household="home", threshold="199999999999/1000000000000")
    assert below.households is not None
    assert below.households.households_at_risk == 5


def test_people_who_share_a_value_are_no_more_diverse_than_they_could_be() -> None:
    found = assess(pl.DataFrame(THREE), quasi=["age"], sensitive=["ill"], person="who")
    assert found.sensitive["ill"].distinct == 1  # of 40 both have flu, and of 30 both may
    alone = pl.DataFrame({"who": ["Ann"] * 3, "age": ["30"] * 3, "ill": ["a", "b", "c"]})
    assert assess(alone, quasi=["age"], sensitive=["ill"]).sensitive["ill"].distinct == 3
    counted = assess(alone, quasi=["age"], sensitive=["ill"], person="who").sensitive["ill"]
    assert (counted.distinct, counted.entropy, counted.recursive) == (1, 1, None)


def test_a_population_is_counted_by_people_too() -> None:
    population = shoal.table(
        pl.DataFrame({"who": ["Ann", "Ann", "Bob", "Dan", "Cem"], "age": ["30"] * 4 + ["40"]})
    )
    mine = pl.DataFrame({"who": ["Ann", "Ann", "Bob"], "age": ["30", "30", "30"]})
    found = assess(mine, quasi=["age"], person="who", population=population)
    assert found.journalist is not None
    assert found.journalist.highest == pytest.approx(1 / 3)
    assert found.outside == 0
    without = shoal.table(population.frame.select("age").to_native())
    rows = assess(mine, quasi=["age"], person="who", population=without)
    assert rows.journalist is not None
    assert rows.journalist.highest == pytest.approx(1 / 4)


records = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=14,
)


@given(records)
@settings(max_examples=150)
def test_people_are_counted_as_by_hand(rows: list[tuple[int, int, int, int, int]]) -> None:
    columns = ("who", "a", "b", "ill", "home")
    given = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Int64), orient="row")
    found = assess(
        given, quasi=["a", "b"], sensitive=["ill"], person="who", household="home", details=True
    )
    groups: dict[Any, set[int]] = defaultdict(set)
    own: dict[int, set[Any]] = defaultdict(set)
    for who, a, b, _, _ in rows:
        groups[a, b].add(who)
        own[who].add((a, b))
    risk = {who: max(1 / len(groups[cell]) for cell in cells) for who, cells in own.items()}
    assert found.people == len(risk)
    assert found.k == min(map(len, groups.values()))
    assert found.uniques == sum(one == 1 for one in risk.values())
    assert found.prosecutor.average == pytest.approx(sum(risk.values()) / len(risk))
    assert found.prosecutor.records_at_risk == sum(one > 0.2 for one in risk.values())
    homes: dict[int, set[int]] = defaultdict(set)
    for who, _, _, _, home in rows:
        homes[home].add(who)
    together = [1 - prod(1 - risk[who] for who in some) for some in homes.values()]
    assert found.households is not None
    assert found.households.average == pytest.approx(sum(together) / len(together))
    assert found.households.households_at_risk == sum(one > 0.2 + 1e-12 for one in together)
    assert found.identifying_sets is not None
    for one in found.identifying_sets:
        seen: dict[Any, set[int]] = defaultdict(set)
        for row in rows:
            named = dict(zip(columns, row, strict=True))
            seen[tuple(named[name] for name in one.columns)].add(row[0])
        assert one.uniques == len(set().union(*(some for some in seen.values() if len(some) == 1)))
    assert found.column_risks is not None
    assert sum(one.share for one in found.column_risks) == pytest.approx(1)
    least = {cell: worst(rows, cell, groups[cell]) for cell in groups}
    assert found.sensitive["ill"].distinct <= min(distinct for distinct, _ in least.values())
    assert found.sensitive["ill"].entropy <= min(entropy for _, entropy in least.values()) + 1e-9


def worst(rows: Any, cell: Any, people: set[int]) -> tuple[int, float]:
    """The least diversity of a group, over all ways to take one value of each of its people."""
    values = [
        sorted({ill for who, a, b, ill, _ in rows if who == one and (a, b) == cell})
        for one in people
    ]
    distinct, entropy = len(people), float(len(people))
    for chosen in product(*values):
        often = Counter(chosen)
        shares = [count / len(chosen) for count in often.values()]
        distinct = min(distinct, len(often))
        entropy = min(entropy, exp(-sum(share * log(share) for share in shares)))
    return distinct, entropy


@given(records)
def test_where_everybody_has_one_row_people_are_rows(
    rows: list[tuple[int, int, int, int, int]],
) -> None:
    given = pl.DataFrame(
        [(i, *row) for i, row in enumerate(rows)],
        schema=dict.fromkeys(("who", "x", "a", "b", "ill", "home"), pl.Int64),
        orient="row",
    )
    asked: dict[str, Any] = {"quasi": ["a", "b"], "sensitive": ["ill"], "details": True}
    by_row = assess(given, **asked, household="home", rows_are_people=True).to_dict()
    by_person = assess(given, **asked, household="home", person="who").to_dict()
    for name in ("person", "left_out"):
        del by_row[name], by_person[name]
    assert flat(by_person) == pytest.approx(flat(by_row))


def flat(content: Any, place: str = "") -> dict[str, Any]:
    """Numbers by their places."""
    if isinstance(content, dict):
        return {k: v for key in content for k, v in flat(content[key], f"{place}.{key}").items()}
    if isinstance(content, list | tuple):
        return flat(dict(enumerate(content)), place)
    return {place: content} if isinstance(content, int | float) else {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"person": "nobody"}, "no column 'nobody'"),
        ({"person": "age"}, "is also quasi-identifying or sensitive"),
        ({"person": "who", "household": "who"}, "named twice"),
        ({"household": "gap"}, "some of its values are missing"),
        ({"person": "gap"}, "some of its values are missing"),
    ],
)
def test_a_column_that_cannot_tell_people_apart_is_refused(
    options: dict[str, str], message: str
) -> None:
    given = pl.DataFrame({**THREE, "gap": ["a", None, "b", "b", "c", "d"]})
    with pytest.raises(ColumnError, match=message):
        assess(given, quasi=["age"], **options)  # type: ignore[arg-type]


def test_a_person_and_rows_that_are_people_contradict_each_other() -> None:
    with pytest.raises(ParameterError, match="contradict"):
        assess(pl.DataFrame(THREE), quasi=["age"], person="who", rows_are_people=True)


def test_households_of_the_survey_are_what_they_are(shared_data: Path) -> None:
    given = shoal.read(shared_data / "survey/households.csv")
    found = assess(given, quasi=["urbrur", "sex", "age", "relat"], household="ori_hid")
    cells = Counter(given.frame.select("urbrur", "sex", "age", "relat").iter_rows())
    safe: dict[Any, float] = defaultdict(lambda: 1.0)
    rows = given.frame.select("urbrur", "sex", "age", "relat", "ori_hid").iter_rows()
    for *cell, home in rows:
        safe[home] *= 1 - 1 / cells[tuple(cell)]
    assert found.households is not None
    assert found.households.number == len(safe) == 1000
    assert found.households.average == pytest.approx(1 - sum(safe.values()) / 1000)
    assert found.people is None


# At the command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame().drop("tag").write_csv("five.csv")
    frame().drop("tag").rename({"name": "xyz"}).write_csv("other.csv")
    Path("empty.csv").write_text("name,age,town,ill\n")
    Path("suppressed.csv").write_text("name,age,town,ill\na,*,*,x\nb,*,*,y\n")
    return tmp_path


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


LIMITS = [
    ("--min-k", "2"),
    ("--max-risk", "0.9"),
    ("--max-at-risk", "99%"),
    ("--max-uniques", "99%"),
    ("--min-l", "2"),
    ("--max-t", "0.99"),
]


@pytest.mark.parametrize("limit", LIMITS, ids=[option for option, _ in LIMITS])
@pytest.mark.parametrize("file", ["empty.csv", "suppressed.csv", "five.csv", "other.csv"])
def test_a_gate_that_cannot_judge_fails(folder: Path, file: str, limit: tuple[str, str]) -> None:
    for shape in ((), ("--json",)):
        found = run("assess", file, "-q", "age,town", "-s", "ill", *limit, *shape)
        assert found.exit_code == 1
        empty = file in ("empty.csv", "suppressed.csv")
        assert ("nothing to judge" if empty else "rows are not people") in found.stderr
        assert "Private Person" not in found.output
    assert json.loads(found.stdout)["violated"]


def test_that_people_repeat_is_said_before_anything_else(folder: Path) -> None:
    found = run("assess", "five.csv", "-q", "age,town", "--identifying", "name")
    assert found.exit_code == 0
    assert found.stderr.startswith("note: people seem to be in several rows, by 'name'")
    found = run("assess", "five.csv", "-q", "age,town", "--rows-are-people", "--min-k", "5")
    assert (found.exit_code, found.stderr) == (0, "")


def test_the_command_line_counts_people(folder: Path) -> None:
    asked = ("assess", "five.csv", "-q", "age,town", "--person", "name")
    found = run(*asked, "--json")
    told = json.loads(found.stdout)
    once = assess(frame(each=1), quasi=["age", "town"], rows_are_people=True).to_dict()
    assert found.exit_code == 0
    assert told["people"] == PEOPLE
    assert told["records"] == PEOPLE * EACH
    for key in ("k", "uniques", "sample_uniqueness", "groups", "largest"):
        assert told[key] == once[key]
    assert flat(told["prosecutor"]) == pytest.approx(flat(once["prosecutor"]))
    gate = run(*asked, "--min-k", "5")
    assert gate.exit_code == 1
    assert "--min-k 5: the smallest group has 1 person" in gate.stderr
    shown = run(*asked, "--household", "ill").stdout
    assert "average over people" in shown
    assert "Someone in a household is recognised" in shown


RECIPE = """{top}
[source]
path = "five.csv"
types = {{ age = "integer" }}

[roles]
name = "identifying"
age = "quasi"
town = "quasi"
ill = "sensitive"

[hierarchies]
age = {{ build = "intervals", low = 0, high = 99, widths = [10, 50] }}
town = {{ build = "suppress", values = ["Zürich", "Genève", "Łódź", "東京", "Oslo"] }}

[method]
name = "optimal"
models = ["5-anonymity"]
{more}
"""


def test_a_recipe_says_whose_rows_are_whose(folder: Path) -> None:
    path = folder / "recipe.toml"
    path.write_text(RECIPE.format(top="", more=""), encoding="utf-8")
    for command in (
        ("recipe", "check", "recipe.toml"),
        ("release", "recipe.toml", "--out", "out"),
        ("preview", "recipe.toml"),
    ):
        refused = run(*command)
        assert refused.exit_code == 2
        assert "'name' is identifying and repeats" in refused.stderr
        assert "Private Person" not in refused.output
    assert not (folder / "out").exists()
    with pytest.raises(RecipeError, match="rows are not people"):
        Recipe.load(path).run()
    path.write_text(RECIPE.format(top="rows_are_people = true", more=""), encoding="utf-8")
    assert run("recipe", "check", "recipe.toml").exit_code == 0
    path.write_text(RECIPE.format(top="", more='unit = "name"'), encoding="utf-8")
    checked = run("recipe", "check", "recipe.toml")
    assert "300, by 'name'" in checked.stdout
    assert "these records are people" in " ".join(checked.stdout.split())
    assert run("preview", "recipe.toml", "--json").exit_code == 0
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    assert len(pl.read_csv("out/release.csv")) == PEOPLE
    compared = run("compare", "five.csv", "out/release.csv", "--recipe", "recipe.toml", "--json")
    sides = json.loads(compared.stdout)
    assert (sides["a"]["people"], sides["a"]["k"]) == (PEOPLE, 1)
    assert sides["b"]["k"] >= 5
    both = RECIPE.format(top="rows_are_people = true", more='unit = "name"')
    path.write_text(both, encoding="utf-8")
    assert "leave one of them out" in run("recipe", "check", "recipe.toml").stderr


def test_looking_at_rows_says_so(folder: Path) -> None:
    for command in (
        ("compare", "five.csv", "five.csv", "-q", "age,town"),
        ("preview", "five.csv", "-q", "age", "--hierarchy", "age=age.csv", "--type", "age=integer"),
    ):
        Path("age.csv").write_text("".join(f"{age},*\n" for age in range(100)))
        found = run(*command)
        assert found.exit_code == 0, found.output
        assert "people seem to be in several rows" in found.stderr or command[0] == "preview"
    found = run("preview", "five.csv", "-q", "age", "--hierarchy", "age=age.csv")
    assert "by 'name'" in found.stderr
