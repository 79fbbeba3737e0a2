"""The language of queries: what a text means, what is refused, and whom a query is about."""

import datetime as dt
from array import array
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit.expressions import (
    DEEPEST,
    LONGEST,
    MOST,
    All,
    Atom,
    Condition,
    Not,
    Public,
    Query,
    Sign,
    Some,
    condition,
    cost,
    naming,
    parse,
    people,
)
from shoal.audit.model import members
from shoal.data.kinds import Kind
from shoal.errors import QueryError

KINDS = {
    "dept": Kind.TEXT,
    "age": Kind.INTEGER,
    "share": Kind.FLOAT,
    "born": Kind.DATE,
    'post "code"': Kind.TEXT,
    "not": Kind.TEXT,
}
ROWS: list[dict[str, Any]] = [
    dict(zip(KINDS, row, strict=True))
    for row in (
        ("X", 30, 0.1, dt.date(1990, 5, 1), "a'b", "in"),
        ("X", 41, 0.5, dt.date(1979, 1, 31), "", ""),
        ("Y", None, None, None, "ü, (", "x"),
        (None, -7, 2.0, dt.date(2000, 2, 29), "a'b", "y"),
    )
]
EVERYONE = (1 << len(ROWS)) - 1


def column(name: str) -> Public:
    values = [None if row[name] == "" else row[name] for row in ROWS]
    keys = [*sorted({value for value in values if value is not None}), None]
    return Public(KINDS[name], tuple(keys), array("l", map(keys.index, values)))


PUBLIC = {name: column(name) for name in KINDS}


def who(text: str) -> list[int]:
    return list(members(people(condition(text, KINDS, ["salary"]), PUBLIC, EVERYONE)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dept = 'X'", [0, 1]),
        ("dept != 'X'", [2, 3]),  # a missing value is not 'X'
        ("not dept = 'X'", [2, 3]),
        ("dept in ('X', 'Z')", [0, 1]),
        ("dept not in ('X')", [2, 3]),
        ("dept is missing", [3]),
        ("dept is not missing and age is not missing", [0, 1]),
        ("age >= 30", [0, 1]),
        ("not age >= 30", [2, 3]),
        ("age > 30.5", [1]),
        ("age = 30.0", [0]),
        ("age between -7 and 30", [0, 3]),
        ("age not between -7 and 30", [1, 2]),
        ("age < -.5e1", [3]),
        ("share = 0.1", [0]),
        ("share <= 5e-1", [0, 1]),
        ("born < '1990-01-01'", [1]),
        ("born in ('2000-02-29')", [3]),
        ('"post ""code""" = \'a\'\'b\'', [0, 3]),
        ('"post ""code""" = \'ü, (\'', [2]),
        ("\"not\" = 'in'", [0]),
        ("dept = 'X' or dept = 'Y' and age > 0", [0, 1]),
        ("(dept = 'X' or dept = 'Y') and not age > 30", [0, 2]),
        ("dept = 'X' AND NOT age Between 0 And 30", [1]),
        ("dept='X'and age<=41", [0, 1]),
    ],
)
def test_a_condition_selects_the_right_people(text: str, expected: list[int]) -> None:
    assert who(text) == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "character 1"),
        ("dept", "character 5"),
        ("dept = X", "character 8"),
        ("dept = ''", "character 8"),
        ("dept = 'X", "character 8"),
        ("dept < 'X'", "no order"),
        ("dept == 'X'", "character 6, at '=': there is no such sign; write = instead of =="),
        ("dept = = 'X'", "write = instead of =="),
        ("dept <> 'X'", "write != instead of <>"),
        ("age <> 3", "write != instead of <>"),
        ("age => 3", "write >= instead of =>"),
        ("age =< 3", "write <= instead of =<"),
        (
            'dept = "X"',
            "character 8, at 'X': column 'dept' is of type text; "
            "compare it with a value in single quotes, such as 'X'",
        ),
        ('born in ("1990-05-01")', "in single quotes, such as '2024-12-31'"),
        ("age = '30'", "a number"),
        ("age = 30x", "character 7"),
        ("share = 1e999", "not a float"),
        ("born = '1990'", "not a date"),
        ("salary > 3", "secret"),
        ("name = 'Ann'", "no public column"),
        ("dept = 'X' and", "character 15"),
        ("(dept = 'X'", "')'"),
        ("dept = 'X')", "character 11"),
        ("dept in ()", "character 10"),
        ("dept in ('X',)", "character 14"),
        ("age between 3", "character 14"),
        ("dept is 'X'", "is missing"),
        ("dept not = 'X'", "character 10"),
        ("dept = 'X'; drop table people", "character 11"),
        ("not", "character 4"),
        ("age = 1 -- x", "character 9"),
        ("dept = '\ud800'", "half a character"),
        ("not " * (DEEPEST + 2) + "age = 1", "deep"),
        ("(" * 5000, "deep"),
        (f"age in ({', '.join(['1'] * (MOST + 1))})", f"{MOST} values"),
        (" " * LONGEST + "age = 1", "characters"),
    ],
)
def test_a_text_that_is_not_a_condition_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(QueryError) as refused:
        condition(text, KINDS, ["salary"])
    assert place in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max(salary)", Query("max", "salary")),
        (" Mean ( \"a b\" ) WHERE dept = 'X' ", Query("mean", "a b", Atom("dept", "=", ("X",)))),
        ("count(*)", Query("count", None)),
        (
            "count(*) where not (age = 1)",
            Query("count", None, Not(Atom("age", "=", (Decimal(1),)))),
        ),
    ],
)
def test_a_query_is_an_aggregate_with_or_without_a_condition(text: str, expected: Query) -> None:
    assert parse(text, KINDS) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "max",
        "max(",
        "max()",
        "max(*)",
        "count(salary)",
        "median(salary)",
        "max(salary) dept",
        "max(a, b)",
        "'max'(a)",
    ],
)
def test_a_text_that_is_not_a_query_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parse(text, KINDS)


def texts(kind: Kind) -> st.SearchStrategy[Any]:
    match kind:
        case Kind.TEXT:
            return st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
        case Kind.DATE:
            return st.dates().map(str)
    return st.decimals(-1000, 1000, places=2) | st.integers(-50, 50).map(Decimal)


@st.composite
def atoms(draw: st.DrawFn) -> Atom:
    name = draw(st.sampled_from(sorted(KINDS)))
    kind = KINDS[name]
    signs: list[Sign] = ["=", "!=", "in", "missing"]
    if kind is not Kind.TEXT:
        signs += ["<", "<=", ">", ">=", "between"]
    sign = draw(st.sampled_from(signs))
    number = {"missing": (0, 0), "between": (2, 2), "in": (1, 4)}.get(sign, (1, 1))
    values = draw(st.lists(texts(kind), min_size=number[0], max_size=number[1]))
    return Atom(name, sign, tuple(values))


def joined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return inner.map(Not) | parts.map(All) | parts.map(Some)


CONDITIONS: st.SearchStrategy[Condition] = st.recursive(atoms(), joined, max_leaves=12)


@given(CONDITIONS)
def test_the_text_of_a_condition_is_read_back_as_the_same_condition(asked: Condition) -> None:
    assert condition(str(asked), KINDS) == asked
    query = Query("max", "sal ary", asked)
    assert parse(str(query), KINDS) == query


def holds(asked: Condition, row: dict[str, Any]) -> bool:
    """The meaning, once more and simply: one row at a time."""
    match asked:
        case Not():
            return not holds(asked.inner, row)
        case All():
            return all(holds(part, row) for part in asked.parts)
        case Some():
            return any(holds(part, row) for part in asked.parts)
    value = row[asked.column]
    if value is None or value == "":
        return asked.sign in ("missing", "!=")
    match KINDS[asked.column]:
        case Kind.DATE:
            given: list[Any] = [dt.date.fromisoformat(str(each)) for each in asked.values]
        case Kind.FLOAT:
            given = [float(each) for each in asked.values]
        case _:
            given = list(asked.values)
    match asked.sign:
        case "missing":
            return False
        case "in":
            return value in given
        case "between":
            return bool(given[0] <= value <= given[1])
    signs = {"=": "==", "!=": "!="}
    return bool(eval(f"value {signs.get(asked.sign, asked.sign)} given[0]"))


@given(CONDITIONS)
def test_a_condition_holds_for_exactly_the_rows_it_describes(asked: Condition) -> None:
    expected = [number for number, row in enumerate(ROWS) if holds(asked, row)]
    assert list(members(people(asked, PUBLIC, EVERYONE))) == expected


PIECES = st.sampled_from(
    [*"()=<>*,'\"", "and", "or", "not", "age", "dept", "1", "'X'", " ", "max(salary) where "]
)


@given(st.text(max_size=60) | st.lists(PIECES).map("".join))
def test_any_text_is_either_a_condition_or_refused(text: str) -> None:
    for read in (condition, parse):
        with suppress(QueryError):
            read(text, KINDS, ["salary"])


def test_a_list_of_people_is_a_condition_on_the_column_that_names_them() -> None:
    assert naming("age", Kind.INTEGER, ["030", 41]) == Atom("age", "in", (Decimal(30), Decimal(41)))
    assert naming("dept", Kind.TEXT, ["X"]) == Atom("dept", "in", ("X",))
    for wrong in (["x"], [""], [1.5]):
        with pytest.raises(QueryError):
            naming("age", Kind.INTEGER, wrong)  # type: ignore[arg-type]


def test_a_condition_costs_more_the_more_it_compares() -> None:
    single = condition("age = 1", KINDS)
    assert cost(None, 1_000) == 0
    assert cost(single, 1_000) == 5 * 1_000 + 100
    assert cost(Not(single), 1_000) == cost(single, 1_000)
    assert cost(condition("age = 1 or age in (2, 3)", KINDS), 1_000) == 2 * 5 * 1_000 + 3 * 100
