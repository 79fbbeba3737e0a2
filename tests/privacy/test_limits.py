"""Limits of F′-privacy: exact, named to the owner only, and promised in words that are true."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.kinds import Kind
from shoal.errors import ColumnError, InfeasibleError, InputError, ParameterError, ShoalError
from shoal.methods.buckets.settings import find_setting
from shoal.privacy.limits import BucketLimits, LimitClass, Limits, Linear

SECRET = "syphilis"
COUNTS: dict[Any, int] = {SECRET: 70, "flu": 29, None: 1}

counted = st.dictionaries(st.integers(0, 20), st.integers(0, 50), min_size=1, max_size=8)
rationals = st.fractions(0, 3, max_denominator=60)


# What the limits are


def test_a_limit_is_the_rational_that_was_written() -> None:
    limits = Limits.each({"a": 0.1, "b": "1/3", "c": 1, "d": "0.29"})
    assert limits.of(dict.fromkeys("abcd", 1)) == {
        "a": Fraction(1, 10),
        "b": Fraction(1, 3),
        "c": 1,
        "d": Fraction(29, 100),
    }


@given(counted, rationals, rationals)
def test_a_formula_is_exact_for_every_value_that_occurs(
    counts: dict[Any, int], a: Fraction, b: Fraction
) -> None:
    if not a and not b:
        return
    n = sum(counts.values())
    assert Limits.formula(a, b).of(counts) == {
        x: min(1, a * Fraction(o, n) + b) for x, o in counts.items() if o
    }


def test_the_paper_s_example() -> None:
    counts = {f"x{i}": count for i, count in enumerate([1] * 8 + [6] * 4 + [9] * 2, 1)}
    limits = Limits.formula(2, "0.05").of(counts)
    assert [limits[x] for x in ("x1", "x9", "x14")] == [
        Fraction(9, 100),
        Fraction(29, 100),
        Fraction(41, 100),
    ]


def test_classes_limit_each_of_their_values_and_others_have_their_own_limit() -> None:
    limits = Limits.classes(
        {"grave": ("0.05", [SECRET, "HIV"]), "harmless": (1, ["flu"])}, others=Linear(2, 0)
    )
    assert limits.of({"HIV": 1, "flu": 8, "cold": 1}) == {
        "HIV": Fraction(1, 20),
        "flu": 1,
        "cold": Fraction(1, 5),
    }


def test_a_missing_value_is_a_value() -> None:
    assert Limits.each({None: "0.5"}, others="0.9").of(COUNTS)[None] == Fraction(1, 2)


def test_a_counter_will_do_and_values_that_do_not_occur_have_no_limit() -> None:
    counts: Counter[Any] = Counter("aab")
    counts["c"] = 0
    assert set(Limits.formula(1, 0).of(counts)) == {"a", "b"}
    assert Limits.formula(1, 0).of({}) == {}


def test_text_in_a_recipe_names_the_key_of_its_column() -> None:
    classes = Limits.classes({"old": ("0.1", ["090", "91"])}, others=1).keyed(Kind.INTEGER)
    assert classes.of({90: 1, 91: 1, 5: 8}) == {90: Fraction(1, 10), 91: Fraction(1, 10), 5: 1}
    assert classes.named == (("old", Fraction(1, 10), (90, 91)),)
    assert Limits.each({"2020-01-31": "0.1"}).keyed(Kind.DATE).of({dt.date(2020, 1, 31): 1})
    with pytest.raises(ParameterError, match="two limits"):
        Limits.each({"39": "0.1", "039": "0.2"}).keyed(Kind.INTEGER)
    with pytest.raises(ColumnError):
        Limits.each({SECRET: "0.1"}).keyed(Kind.INTEGER)


@pytest.mark.parametrize("limit", [0, -1, "1.0001", "nan", "inf", True, "x", 2])
def test_a_limit_is_above_0_and_at_most_1(limit: Any) -> None:
    making: list[Callable[[], Limits]] = [
        lambda: Limits.each({SECRET: limit}),
        lambda: Limits.each({}, others=limit),
        lambda: Limits.classes({"class": (limit, [SECRET])}),
        lambda: Limits(((SECRET, limit),)),
    ]
    for make in making:
        with pytest.raises(ParameterError) as error:
            make()
        assert SECRET not in str(error.value)


def test_what_are_no_limits_is_refused() -> None:
    wrong: list[Any] = [
        lambda: Limits(()),
        lambda: Limits.each({}),
        lambda: Limits.formula(0, 0),
        lambda: Limits.formula(-1, 1),
        lambda: Limits.formula(1, "-0.01"),
        lambda: Limits.formula("nan", 1),
        lambda: Limits.classes({"a": ("0.1", ["x"]), "b": ("0.2", ["x"])}),
        lambda: Limits.classes({"a": ("0.1", "xy")}),
        lambda: Limits((("x", Fraction(1, 2)),), None, [LimitClass("a", Fraction(1, 10), ("x",))]),
    ]
    for make in wrong:
        with pytest.raises(ParameterError):
            make()


def test_limits_are_values() -> None:
    assert Limits.each({"a": 0.5}) == Limits.each({"a": "1/2"})
    assert len({Limits.formula(2, 0), Limits.formula("2", "0.0")}) == 1


# Who learns which value it is


def test_a_value_without_a_limit_is_an_error_that_does_not_name_it() -> None:
    with pytest.raises(InputError, match="2 sensitive values of the table have no limit") as error:
        Limits.each({"flu": "0.5"}).of(COUNTS)
    assert SECRET not in str(error.value)


def test_the_owner_learns_which_value_prevents_it_and_nobody_else() -> None:
    found = Limits.each({SECRET: "0.5", "typo": 1}, others=1).eligibility(COUNTS)
    assert not found.holds
    assert found.preventing == {SECRET: (Fraction(7, 10), Fraction(1, 2))}
    with pytest.raises(InfeasibleError) as error:
        found.require()
    public = [
        str(error.value),
        repr(error.value),
        repr(error.value.__dict__),
        repr(found),
        str(found),
        *found.concerns,
    ]
    assert error.value.__cause__ is error.value.__context__ is None
    for text in public:
        assert SECRET not in text
        assert "flu" not in text
        assert "typo" not in text


def test_a_solver_tells_no_value_either() -> None:
    limits = Limits.each({SECRET: "0.5"}, others=1).of(COUNTS)
    with pytest.raises(InfeasibleError) as error:
        find_setting([COUNTS[x] for x in limits], list(limits.values()), "two")
    assert SECRET not in str(error.value)
    assert "70" not in str(error.value)


@given(counted, st.lists(st.fractions("1/60", 1, max_denominator=60), min_size=21, max_size=21))
def test_limits_can_be_kept_if_and_only_if_no_share_is_larger(
    counts: dict[Any, int], given: list[Fraction]
) -> None:
    limits = Limits.each(dict(enumerate(given)))
    found = limits.eligibility(counts)
    exact = limits.of(counts)
    occurring = {x: o for x, o in counts.items() if o}
    try:
        setting = find_setting(
            list(occurring.values()), list(exact.values()), "two", max(sum(counts.values()), 1)
        )
        setting.check(list(occurring.values()), list(exact.values()))
    except InfeasibleError:
        assert not found.holds
    else:
        assert found.holds
        found.require()


def test_a_share_that_is_just_the_limit_can_be_kept() -> None:
    assert Limits.each({"a": "1/3"}, others=1).eligibility({"a": 1, "b": 2}).holds
    assert (
        not Limits.each({"a": Fraction(1, 3) - Fraction(1, 10**30)}, others=1)
        .eligibility({"a": 1, "b": 2})
        .holds
    )


def test_the_owner_is_warned_of_limits_of_1_and_of_limits_for_values_that_do_not_occur() -> None:
    found = Limits.each({SECRET: 1, "sifilis": "0.01"}, others="0.9").eligibility(COUNTS)
    assert found.unprotected == {SECRET: 70}
    assert found.unused == ("sifilis",)
    certain, unused = found.concerns
    assert (
        "1 sensitive value of the table, with 70 records, may be linked to a person with certainty"
        in certain
    )
    assert "never occurs" in unused
    assert not Limits.each({SECRET: "0.9"}, others="0.9").eligibility(COUNTS).concerns


def test_owners_learn_of_values_like_one_with_a_stricter_limit_but_for_capitals_or_spaces() -> None:
    counts = {"HIV": 1, "hiv": 1, " HIV  infection": 1, "flu": 7}
    found = Limits.each(
        {"HIV": "0.1", "HIV infection": "0.1", "Flu": "0.9"}, others="0.8"
    ).eligibility(counts)
    assert found.resembling == (
        "hiv",
        " HIV  infection",
    )  # the limit of flu is stricter than that of Flu
    assert (
        "2 sensitive values of the table may be the same as one with a stricter limit"
        in found.concerns[-1]
    )
    assert "hiv" not in found.concerns[-1].casefold()
    assert not Limits.each({1: "0.1"}, others="0.9").eligibility({1: 1, 2: 9, None: 1}).resembling


# l-diversity


@given(
    counted,
    st.fractions("1/30", 2, max_denominator=30),
    st.fractions("1/30", 1, max_denominator=30),
)
def test_the_smallest_l_keeps_the_limits_and_none_smaller_does(
    counts: dict[Any, int], a: Fraction, b: Fraction
) -> None:
    limits = Limits.formula(a, b)
    occurring = {x: o for x, o in counts.items() if o}
    found = limits.diversity(counts)
    if not occurring:
        assert found.holds
        return
    exact, n = limits.of(counts), sum(occurring.values())
    assert all(Fraction(1, found.least) <= limit for limit in exact.values())
    assert found.least == 1 or any(Fraction(1, found.least - 1) > limit for limit in exact.values())
    assert all(Fraction(o, n) <= Fraction(1, found.most) for o in occurring.values())
    assert any(Fraction(o, n) > Fraction(1, found.most + 1) for o in occurring.values())
    if found.holds and limits.eligibility(counts).holds:
        find_setting(list(occurring.values()), list(exact.values()), "anatomy")


def test_the_paper_s_table_has_no_l_that_does_but_limits_can_be_kept() -> None:
    counts: dict[Any, int] = {i: round(22_500 * 0.9267**i) for i in range(50)}
    limits = Limits.formula(8, "0.02")
    found = limits.diversity(counts)
    assert (found.least, found.most, found.holds) == (30, 13, False)
    assert "needs l = 30, and the most frequent value allows at most l = 13" in found.statement
    assert limits.eligibility(counts).holds
    assert (
        "2-diversity would keep these limits"
        in Limits.each({}, others="0.5").diversity({1: 2, 2: 2}).statement
    )


# The promise


def test_the_promise_says_against_whom_it_holds_and_against_whom_not() -> None:
    said = BucketLimits("disease", Limits.formula(8, "0.02")).statement
    for words in (
        "min{1, 8·f + 0.02}",
        "everybody's quasi-identifiers, both released tables, the limits and the algorithm",
        "all ways in which these people may have these values were equally likely",
        "not hold against someone who knows the values of others in a bucket",
        "how values go with quasi-identifiers",
        "nothing about several people together",
        "how often a value occurs, which the release shows",
        "limit 1 may be linked to people with certainty",
    ):
        assert words in said
    assert (
        "certainty"
        not in BucketLimits("disease", Limits.each({"a": "0.5"}, others="0.9")).statement
    )
    assert (
        "beyond what its 2 fake values can hide"
        in BucketLimits("disease", Limits.formula(8, 0), 2).statement
    )


def test_the_promise_is_about_limits_as_they_were_given() -> None:
    each = BucketLimits("disease", Limits.each({"a": "0.05", None: "0.2"}, others=Linear(2, 0)))
    assert (
        "given for 2 values by name (at least 0.05), and for any other min{1, 2·f + 0}"
        in each.statement
    )
    classes = BucketLimits(
        "disease", Limits.classes({"grave": ("0.05", ["a", dt.date(2020, 1, 1)])}, others="0.5"), 1
    )
    assert "0.05 for each value of the class 'grave', and for any other 0.5" in classes.statement
    assert json.loads(json.dumps(each.to_dict())) == {
        "promise": "F'-privacy",
        "column": "disease",
        "limits": {"values": [["a", "0.05"], [None, "0.2"]], "others": {"a": "2", "b": "0"}},
        "fakes": 0,
    }
    assert json.loads(json.dumps(classes.to_dict()))["limits"] == {
        "classes": {"grave": {"limit": "0.05", "values": ["a", "2020-01-01"]}},
        "others": "0.5",
    }


@pytest.mark.parametrize(
    "wrong", [("", Limits.formula(1, 0), 0), ("a", {"x": 1}, 0), ("a", Limits.formula(1, 0), -1)]
)
def test_a_promise_about_nothing_is_refused(wrong: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ShoalError):
        BucketLimits(*wrong)
