"""A question gets one reply for everyone, and data that nothing can be promised for is refused."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.attack import disclosed
from shoal.audit import Audit, Query, Reply, Secret, expressions
from shoal.audit.knowledge import knowledge
from shoal.audit.secret import simplest
from shoal.errors import ColumnError, ParameterError, QueryError
from tests.audit.salaries import (
    NAMES,
    PEOPLE,
    VALUES,
    contradictions,
    made,
    people,
)

# What is asked and replied


def test_the_first_maximum_over_two_is_answered_and_one_person_is_denied(place: str) -> None:
    audit = made(place)
    assert audit.ask("max(salary)") == Reply(max(VALUES))
    assert audit.ask("max(salary) where name = 'p3'").denied
    assert str(audit.ask("max(salary) where name = 'p3'")) == "denied"
    assert [str(line.reply) for line in audit.transcript()] == [str(max(VALUES)), "denied"]
    assert audit.transcript()[1].query == "max(salary) where name = 'p3'"
    assert audit.transcript(after=1, most=5) == audit.transcript()[1:]


def test_a_count_is_answered_and_leaves_no_trace(place: str) -> None:
    audit = made(place)
    assert audit.ask("count(*) where dept = 'X' and age < 30") == Reply(5)
    assert audit.ask(audit.query("count")) == Reply(PEOPLE)
    assert audit.transcript() == ()


def test_the_same_people_get_the_same_reply_without_a_new_entry(place: str) -> None:
    audit = made(place)
    for text in (
        "max(salary) where dept = 'X'",
        "max(salary) where not dept = 'Y'",
        "max(salary) where dept in ('X')",
    ):
        assert audit.ask(text) == Audit.open(place).ask(text) == Reply(max(VALUES[::2]))
    assert len(audit.transcript()) == 1


def test_sums_without_bounds_are_exact_and_a_mean_is_a_sum(place: str) -> None:
    audit = made(place, Secret("salary"), salary=[f"{value}.10" for value in VALUES])
    total = Fraction(sum(VALUES)) + Fraction(PEOPLE, 10)
    assert audit.ask("sum(salary)") == Reply(simplest(total))
    assert audit.ask("mean(salary)") == Reply(total / PEOPLE)
    assert len(audit.transcript()) == 1
    assert audit.ask("sum(salary) where name = 'p1'").denied
    assert not contradictions(place, {})


def test_dithered_sums_are_about_right_and_replay(place: str) -> None:
    audit = made(
        place,
        Secret("salary", low=0, high=200, dither=True),
        salary=[f"{value}.10" for value in VALUES],
    )
    total = Fraction(sum(VALUES)) + Fraction(PEOPLE, 10)
    answer = audit.ask("sum(salary)").answer
    assert answer is not None
    assert abs(answer - total) <= Fraction(PEOPLE + 1, 20)  # the last digit is a tenth
    assert audit.ask("sum(salary) where name = 'p1'").denied
    assert not contradictions(place, {})


def test_minima_are_audited_as_maxima_are(place: str) -> None:
    audit = made(place, Secret("salary", family="min", low=0, high=200))
    assert audit.ask("min(salary)") == Reply(min(VALUES))
    assert audit.ask("min(salary) where name in ('p1')").denied
    assert not contradictions(place, {})


def test_a_column_answers_one_kind_of_query_the_first_one_or_the_one_it_was_made_for(
    place: str,
) -> None:
    audit = made(place)
    audit.ask("max(salary)")
    for text in ("min(salary)", "sum(salary)", "mean(salary)", "sum(salary) where name = 'p1'"):
        with pytest.raises(QueryError, match="max only"):
            audit.ask(text)
        with pytest.raises(QueryError, match="max only"):
            Audit.open(place).ask(text)
    assert len(audit.transcript()) == 1


def test_columns_are_audited_apart(place: str) -> None:
    secrets = [
        Secret("salary", family="max", low=0, high=200),
        Secret("bonus", family="min", low=0, high=50),
    ]
    table = people(bonus=[value % 7 for value in VALUES])
    audit = Audit.new(place, table, secrets, public=["name"])
    assert audit.ask("max(salary)").answer == max(VALUES)
    assert audit.ask("min(bonus) where name = 'p1'").denied
    assert [(one.secret.column, one.answered, one.denied) for one in audit.state()] == [
        ("salary", 1, 0),
        ("bonus", 0, 1),
    ]
    assert not contradictions(place, {})


def test_what_another_process_asked_is_known_here(place: str) -> None:
    here, there = made(place), Audit.open(place)
    there.ask("max(salary)")
    assert (
        here.ask("max(salary) where not name = 'p1'").denied
        == there.ask("max(salary) where not name = 'p1'").denied
    )
    assert here.transcript() == there.transcript()
    assert here.state() == there.state()
    assert here.head() == there.head()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("max(wage)", "nothing can be asked"),
        ("max(age)", "nothing can be asked"),
        ("max(salary) where salary > 3", "secret"),
        ("max(salary) where age < 0", "nobody"),
        ("max(salary", "expected"),
    ],
)
def test_what_may_not_be_asked_is_refused_and_not_logged(
    tmp_path: Path, text: str, why: str
) -> None:
    audit = made(str(tmp_path / "a"))
    with pytest.raises(QueryError, match=why):
        audit.ask(text)
    assert audit.transcript() == ()


def test_people_are_listed_by_name_or_by_row_where_that_is_public(tmp_path: Path) -> None:
    named = made(str(tmp_path / "a"))
    assert named.ask(named.query("max", "salary", people=["p1", "p3", "p1"])) == named.ask(
        "max(salary) where name in ('p3', 'p1')"
    )
    for wrong in ([], ["p1", "nobody"], ["p1"] * 41, [3]):
        with pytest.raises(QueryError):
            named.query("max", "salary", people=wrong)
    numbered = Audit.new(tmp_path / "b", people(), Secret("salary"), public=["dept"], rows=True)
    assert numbered.ask(numbered.query("max", "salary", people=[1, 2, 3])) == Reply(max(VALUES[:3]))
    assert numbered.ask("max(salary) where row <= 3") == Reply(max(VALUES[:3]))
    neither = Audit.new(tmp_path / "c", people(), Secret("salary"), public=["dept"])
    with pytest.raises(QueryError, match="no public column names"):
        neither.query("max", "salary", people=[1])
    with pytest.raises(QueryError):
        neither.query("max", "salary", where="row = 1")


def test_a_query_has_a_condition_or_a_list(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    for aggregate, column, parts in (
        ("max", "salary", {"where": "age = 20", "people": ["p1"]}),
        ("max", None, {}),
        ("count", "salary", {}),
        ("median", "salary", {}),
    ):
        with pytest.raises(QueryError):
            audit.query(aggregate, column, **parts)  # type: ignore[arg-type]
    with pytest.raises(QueryError):
        audit.ask(Query("max", "salary", expressions.Atom("wage", "=", ("x",))))


# What is put under audit


def test_a_row_is_one_person_where_people_have_names(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="a row is one person"):
        made(str(tmp_path / "a"), name=["p0", *NAMES[:-1]])
    with pytest.raises(ColumnError, match="make it public too"):
        Audit.new(tmp_path / "a", people(), Secret("salary"), public=["dept"], named="name")


def test_only_public_and_secret_columns_are_copied_and_in_an_order_that_tells_nothing(
    tmp_path: Path,
) -> None:
    table = people(illness=["Zanzibar fever"] * PEOPLE)
    Audit.new(tmp_path / "a", table, Secret("salary"), public=["dept"])
    assert b"Zanzibar" not in (tmp_path / "a").read_bytes()
    audit = Audit.open(tmp_path / "a")
    assert list(audit._public["dept"].codes) == [0] * 20 + [1] * 20
    assert audit._values["salary"].scaled.tolist() == [*VALUES[::2], *VALUES[1::2]]


# Bounds of each person, people in several rows, means


def ranked() -> pl.DataFrame:
    """Two grades, whose bounds are public."""
    grades = ["low", "high"] * 10
    tops = [10 if grade == "low" else 1000 for grade in grades]
    pay = [5 if grade == "low" else 500 for grade in grades]
    return pl.DataFrame({"grade": grades, "top": tops, "pay": pay})


def test_people_may_have_bounds_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    table = shoal.table(ranked(), types={"top": "integer", "pay": "integer"}, rows_are_people=True)
    secret = Secret("pay", low=0, high_column="top", width=4, dither=True)
    audit = Audit.new(tmp_path / "a", table, secret, public=["grade", "top"])
    assert not audit.ask("sum(pay)").denied
    assert not audit.ask("sum(pay) where grade = 'low'").denied
    [known] = knowledge(audit)
    assert [(each.low, each.people) for each in known.bins if each.people] == [
        ("8", 10),
        ("512", 10),
    ]
    again = Audit.open(tmp_path / "a")
    assert again.secrets[0].high_column == "top"
    assert disclosed(again) == ()


@pytest.mark.parametrize(
    ("given", "public", "problem"),
    [
        ({"high_column": "top", "width": 4}, ["grade"], "has public bounds"),
        ({"high_column": "top"}, ["grade", "top"], "`width` is not given"),
        ({"high_column": "top", "width": 20}, ["grade", "top"], "more closely than `width`"),
        ({"high_column": "top", "high": 9, "width": 4}, ["grade", "top"], "given twice"),
        ({"high_column": "top", "width": 4, "family": "max"}, ["grade", "top"], "are for sums"),
        ({"high_column": "tip", "width": 4}, ["grade", "top"], "tip"),
    ],
)
def test_bounds_of_each_person_that_do_not_fit_are_refused(
    tmp_path: Path, given: dict[str, Any], public: list[str], problem: str
) -> None:
    table = shoal.table(ranked(), types={"top": "integer", "pay": "integer"}, rows_are_people=True)
    dither = given.get("family") is None
    with pytest.raises((ColumnError, ParameterError), match=problem):
        Audit.new(
            tmp_path / "a", table, Secret("pay", low=0, dither=dither, **given), public=public
        )


def test_a_value_outside_someones_own_bounds_is_refused(tmp_path: Path) -> None:
    frame = ranked().with_columns(pay=pl.lit(11))
    table = shoal.table(frame, types={"top": "integer", "pay": "integer"}, rows_are_people=True)
    secret = Secret("pay", low=0, high_column="top", width=4, dither=True)
    with pytest.raises(ColumnError, match="10 values of 20 are outside"):
        Audit.new(tmp_path / "a", table, secret, public=["grade", "top"])


VISITS = pl.DataFrame(
    {
        "patient": ["p1", "p1", "p2", "p3", "p3", "p3"],
        "ward": ["X", "X", "X", "Y", "Y", "Y"],
        "cost": [10, 20, 5, 1, 2, 3],
    }
)


@pytest.mark.parametrize(("family", "answer"), [("sum", 41), ("max", 20), ("min", 1)])
def test_people_in_several_rows_count_once(tmp_path: Path, family: Any, answer: int) -> None:
    table = shoal.table(VISITS, types={"patient": "text", "cost": "integer"})
    secret = Secret("cost", family)
    audit = Audit.new(tmp_path / "a", table, secret, public=["ward"], unit="patient")
    assert audit.people == 3
    assert audit.ask(f"{family}(cost)") == Reply(answer)
    assert audit.ask("count(*) where ward = 'X'") == Reply(2)


def test_people_in_several_rows_need_one_public_value_and_a_family(tmp_path: Path) -> None:
    table = shoal.table(VISITS, types={"patient": "text", "cost": "integer"})
    with pytest.raises(ParameterError, match="`family` does not say"):
        Audit.new(tmp_path / "a", table, Secret("cost"), public=["ward"], unit="patient")
    moved = VISITS.with_columns(ward=pl.Series(list("XYXYYY")))
    table = shoal.table(moved, types={"patient": "text", "cost": "integer"})
    secret = Secret("cost", "sum")
    with pytest.raises(ColumnError, match="'ward' differs between rows of one person"):
        Audit.new(tmp_path / "b", table, secret, public=["ward"], unit="patient")


def test_a_mean_is_a_decimal_from_which_its_sum_can_be_recovered(place: str) -> None:
    audit = made(place, Secret("salary"), salary=[*range(39), 40])
    mean = audit.ask("mean(salary)")
    assert str(mean) == "19.52"  # of 40 people, to 0.01
    assert mean.answer == Fraction(781, 40)
    assert round(Fraction(str(mean)) * 40) == 781
