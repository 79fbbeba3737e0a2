"""Edges of several views: what is exactly at a limit, not decided, left out or drawn; a change of any of these is noticed."""

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import BudgetError, InfeasibleError, InputError
from shoal.ledger import Ledger
from shoal.views import (
    OUTSIDE,
    Candidate,
    Register,
    View,
    Views,
    certify,
    check,
    plan,
    possible,
    restore,
    subsets,
    verify,
)
from shoal.views import planning as room
from shoal.views.beliefs import bounded
from shoal.views.cells import components
from shoal.views.intervals import clopper_pearson
from shoal.views.model import Value
from shoal.views.planning import Outlook, best_choice
from shoal.views.regions import Region, obstacle, regions
from tests.views.test_views import CONDITION, NAMES, SEEN, brute, chapter, worlds
from tests.views_files import BY_SEX, DONALD, people, run

TABLE: list[Value] = [CONDITION[name] for name in NAMES[:7]]
HALF = Fraction(1, 2)


def pairs() -> list[Candidate]:
    """The two views by which the chapter restores Donald."""
    return [Candidate(name, frozenset(map(NAMES.index, SEEN[name]))) for name in ("6.5A", "6.5B")]


# What is not decided


OPEN = """
gamma = "3/4"
[register]
person = "name"
types = { age = "integer" }
people = [{ name = "A", age = 22 }, { name = "B", age = 27 }, { name = "C", age = 28 }, { name = "D", age = 35 }]
[sensitive]
column = "ill"
[[views]]
table = "table.csv"
columns = { age = "age" }
"""


@pytest.fixture
def open_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two groups that share people: in one everybody has a, in the other half of them."""
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("age,ill\n20-30,a\n20-30,a\n25-40,a\n25-40,b\n")
    Path("views.toml").write_text(OPEN)
    return tmp_path


def test_what_is_not_decided_has_no_certificate(open_: Path) -> None:
    with pytest.raises(InfeasibleError, match="may not be kept"):
        certify("views.toml")


def test_what_is_not_decided_leaves_check_with_1(open_: Path) -> None:
    done = run("views", "check", "views.toml", "--json")
    assert (done.exit_code, json.loads(done.stdout)["private"]) == (1, None)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("views.toml").write_text(DONALD)
    pl.DataFrame({"name": NAMES[:7], "ill": TABLE, "other": ["x"] * 7}).write_csv("table.csv")
    return tmp_path


def test_what_is_not_decided_leaves_restore_with_1(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.views.checking.count", lambda *given: None)
    monkeypatch.setattr("shoal.views.checking.ENOUGH", 10**9)
    done = run("views", "restore", "views.toml", "--data", "table.csv", "--views", "1", "--json")
    assert (done.exit_code, json.loads(done.stdout)["private"]) == (1, None), done.output


def test_a_ledger_refuses_what_bounds_leave_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.views.checking.count", lambda *given: None)
    monkeypatch.setattr("shoal.views.checking.ENOUGH", 10**9)
    others = tmp_path / "others.toml"
    others.write_text(
        '[[views]]\nwhere = "age between 24 and 27"\nvalues = { SARS = 2, virus = 2, flu = 1 }\n'
    )
    ledger = Ledger.create(tmp_path / "ledger", gamma="3/4")
    with pytest.raises(BudgetError, match=r"cannot be decided.*leave it open"):
        ledger.release(BY_SEX, people(), others=others)


def test_where_the_least_is_the_limit_and_the_most_above_it_that_is_not_decided() -> None:
    groups = View("groups", range(4), {"flu": 3, "gout": 1}, ({"flu": 1, "gout": 1}, {"flu": 2}))
    found = check(Views(4, [groups]))
    assert found.private is None
    assert found.exposed == ()
    assert [(one.person, one.value, one.low, one.high) for one in found.undecided] == [
        (who, "flu", HALF, Fraction(1)) for who in range(4)
    ]


def test_a_single_view_bounds_how_many_have_a_value() -> None:
    views = Views(
        5,
        [
            View("A", range(4), ["flu", "cold", "gout", "gout"]),
            View("B", range(3, 5), ["flu", "cold"]),
        ],
    )
    beliefs = [belief for part in components(views) for belief in bounded(views, part)]
    (three,) = (belief for belief in beliefs if belief.people == (0, 1, 2))
    assert three.between("flu") == (Fraction(0), Fraction(1, 3))
    assert three.between("gout") == (Fraction(1, 3), Fraction(2, 3))


def test_how_sure_one_is_that_somebody_is_not_in_the_table_is_not_the_largest() -> None:
    assert check(Views(4, [View("A", range(4), ["flu"])], complete=False)).largest == Fraction(1, 4)


# Who exposes whom


def share(views: Views, names: Sequence[str], person: int, value: Value) -> Fraction:
    """How probable a value is for a person by some of the views, by trying all tables."""
    number, has = brute(views.only(names))
    return Fraction(has[person][value], number) if person in has else Fraction(0)


@pytest.mark.parametrize("near", [12, 2])
@settings(max_examples=60)
@given(views=st.one_of(worlds(), worlds(outside=True)))
def test_views_are_said_to_expose_alone_only_if_they_do_and_none_is_needless(
    near: int, views: Views
) -> None:
    with pytest.MonkeyPatch.context() as here:
        here.setattr("shoal.views.checking.NEAR", near)
        exposed = check(views).exposed
    for one in exposed:
        by_them = share(views, one.views, one.person, one.value)
        assert one.alone is (by_them > one.limit)
        assert near < 12 or one.alone
        if one.alone:
            for name in one.views:
                fewer = [other for other in one.views if other != name]
                assert share(views, fewer, one.person, one.value) <= one.limit
        else:
            assert one.views == tuple(
                view.name for view in views.shown if one.person in view.members
            )


@pytest.mark.parametrize("number", [11, 12])
def test_where_it_takes_too_many_views_it_is_not_said_that_few_do(number: int) -> None:
    """A chain of pairs from somebody who is known: with the one who is, twelve views are searched, and thirteen are not."""
    links = [View(str(at), [at, at + 1], ["a", "b"]) for at in range(number)]
    (last,) = (
        one
        for one in check(Views(number + 1, [*links, View("known", [0], ["a"])])).exposed
        if one.person == number
    )
    if number == 11:
        assert (last.views, last.alone) == ((*map(str, range(11)), "known"), True)
    else:
        assert (last.views, last.alone) == (("11",), False)


def test_groups_of_which_it_is_not_public_who_is_in_which_are_not_blamed() -> None:
    groups = View("groups", [1, 2], ["a"], ({"a": 1},))
    found = check(Views(3, [View("A", [0, 1], ["a", "b"]), View("B", [1], ["a"]), groups]))
    (first,) = (one for one in found.exposed if one.person == 0)
    assert (first.value, first.low, first.views, first.alone) == (
        "b",
        Fraction(1),
        ("A", "B"),
        True,
    )


# Groups of which it is not public who is in which


def test_beside_joined_groups_what_other_views_prove_still_holds() -> None:
    groups = View("groups", range(4), {"x": 2, "y": 2}, ({"x": 1, "y": 1}, {"x": 1, "y": 1}))
    found = check(Views(6, [groups, View("A", [3, 4], ["x", "y"]), View("B", [4, 5], ["x", "z"])]))
    assert found.private is False
    assert found.of(3).between("y") == (Fraction(1), Fraction(1))
    assert {one.person for one in found.exposed} == {3, 4, 5}


def known(source: Random, left_out: bool) -> tuple[Views, Views, Views]:
    """Groups that are joined beside other views; the same for someone who knows who is in which; and the other views."""
    number = source.randint(2, 6)
    table = source.choices("abc", k=number)
    of = [
        0,
        *source.choices([*range(source.randint(1, 3)), *([-1] if left_out else [])], k=number - 1),
    ]
    groups = [[who for who in range(number) if of[who] == group] for group in sorted({*of} - {-1})]
    bags = [Counter(table[who] for who in own) for own in groups]
    sets = [
        [who for who in range(number) if source.random() < 0.4]
        for _ in range(source.choice([0, 0, 1, 2]))
    ]
    others = [
        View(f"other {k}", who, [table[one] for one in who]) for k, who in enumerate(sets) if who
    ]
    joined = View("groups", range(number), sum(bags, Counter[str]()), tuple(map(dict, bags)))
    apart = [View(str(k), own, bag) for k, (own, bag) in enumerate(zip(groups, bags, strict=True))]
    return Views(number, [joined, *others]), Views(number, [*apart, *others]), Views(number, others)


def holds(shown: Views, seen: Views, others: Views) -> bool:
    """Whether nobody can be surer than the bounds, and somebody is as sure: who knows all, or who has seen no groups."""
    by, all_, few = check(shown), brute(seen), brute(others)
    for who in all_[1]:
        for value in "abc":
            low, high = by.of(who).between(value)
            surer, other = (
                Fraction(has[who][value], number) if who in has else Fraction(0)
                for number, has in (all_, few)
            )
            if surer > high or low > (max(surer, other) if others.shown else surer):
                return False
    return True


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_bounds_hold_for_someone_who_knows_who_is_in_which_group(source: Random) -> None:
    assert holds(*known(source, left_out=False))


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_bounds_hold_for_someone_who_knows_who_was_left_out_of_all_groups(source: Random) -> None:
    assert holds(*known(source, left_out=True))


def test_who_was_left_out_of_groups_may_have_what_no_group_shows() -> None:
    groups = View("groups", range(3), ["a", "b"], ({"a": 1, "b": 1},))
    found = check(Views(3, [groups, View("other", [2], ["z"])]))
    assert [(one.person, one.value) for one in found.exposed] == [(2, "z")]


def test_of_whoever_may_have_been_left_out_nothing_is_certain() -> None:
    found = check(Views(3, [View("groups", range(3), ["a", "a"], ({"a": 2},))]))
    assert found.of(0).between("a") == (Fraction(0), Fraction(1))
    assert found.private is None


def test_bounds_of_the_joined_bag_would_be_caught() -> None:
    """The broken twin: groups that are joined count as one view."""
    source, wrong = Random(1), 0
    for _ in range(30):
        shown, seen, others = known(source, left_out=False)
        first, *rest = shown.shown
        wrong += not holds(
            Views(len(shown.names), [View(first.name, first.members, first.shown), *rest]),
            seen,
            others,
        )
    assert wrong > 5


# Plans


def test_a_plan_is_followed_where_its_share_is_exactly_the_least() -> None:
    views = chapter("6.3A", "6.3B")
    assert len(restore(views, TABLE, pairs(), adversary="aware", least=Fraction(8, 45)).added) == 2
    assert not restore(
        views, TABLE, pairs(), adversary="aware", least=Fraction(8, 45) + Fraction(1, 10**9)
    ).added


def test_a_plan_that_was_drawn_is_followed_by_the_least_that_its_share_is() -> None:
    views = chapter("6.3A", "6.3B")
    by = plan(views, pairs(), effort=1)
    assert 0 < by.low < by.high
    assert len(restore(views, TABLE, pairs(), adversary="aware", effort=1, least=by.low).added) == 2
    for least in ((by.low + by.high) / 2, by.high):
        assert not restore(views, TABLE, pairs(), adversary="aware", effort=1, least=least).added


def test_where_nothing_restores_somebody_no_procedure_does_in_any_table() -> None:
    """Two of three are known to have flu: 2/3 for each, which by itself would allow a share of 2/3."""
    views = Views(
        7,
        [
            View("A", range(7), ["flu", "flu", "gout", "flu", "cold", "cold", "gout"]),
            View("B", range(3, 7), ["flu", "cold", "cold", "gout"]),
        ],
    )
    assert check(views).largest == Fraction(2, 3)
    assert plan(views, subsets(views, 2)).bound == 0


def test_a_plans_share_is_not_that_of_the_tables_it_was_chosen_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tables by which it is chosen are made to be lucky ones: in all of them every limit holds."""
    views = chapter("6.3A", "6.3B")
    lucky = [
        table
        for table in possible(views, 200)
        if check(views.also(*(one.view(table) for one in pairs()))).private
    ]
    used: set[int] = set()

    def drawn(of: Views, number: int, seed: int = 0) -> list[list[Value]]:
        if number != room.DRAWN:
            return possible(of, number, seed)
        used.add(seed)
        return (
            [lucky[at % len(lucky)] for at in range(number)]
            if seed == 0
            else possible(of, number, seed)
        )

    monkeypatch.setattr(room, "possible", drawn)
    by = plan(views, pairs(), effort=1)
    assert 0 in used
    assert len(by.candidates) == 2
    assert by.low < Fraction(8, 45) < by.high < HALF


def test_all_shares_that_are_drawn_hold_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """In two regions, for one and for two views: each may be wrong with a part of what all may be."""
    errors: list[float] = []

    def told(hits: float, tries: float, error: float) -> tuple[float, float]:
        errors.append(error)
        return clopper_pearson(hits, tries, error)

    monkeypatch.setattr(room, "clopper_pearson", told)
    one = chapter("6.3A", "6.3B").shown
    views = Views(
        14,
        [
            *one,
            *(
                View(f"{view.name} too", [who + 7 for who in view.members], view.shown)
                for view in one
            ),
        ],
    )
    both = [
        *pairs(),
        *(
            Candidate(f"{own.name} too", frozenset(who + 7 for who in own.people))
            for own in pairs()
        ),
    ]
    by = plan(views, both, effort=1, most=2, confidence="9/10")
    assert by.confidence == Fraction(9, 10)
    assert max(errors) * 2 * 2 <= 0.1 + 1e-12


def options_of(given_: Sequence[Sequence[tuple[int, int]]]) -> list[list[Outlook]]:
    """For each region some outlooks, by how many candidates they take and how many tenths of the tables they restore."""
    return [
        [
            Outlook(
                (at,),
                tuple(Candidate(f"{at} {k}", frozenset({at})) for k in range(size)),
                Fraction(tenths, 10),
                Fraction(1),
            )
            for size, tenths in own
        ]
        for at, own in enumerate(given_)
    ]


def test_the_best_of_several_regions_is_that_with_the_largest_product() -> None:
    source = Random(2)
    for _ in range(300):
        regions_ = range(source.randint(1, 3))
        options = options_of(
            [[(source.randint(0, 3), source.randint(1, 9)) for _ in range(4)] for _ in regions_]
        )
        most = source.randint(0, 6)
        able = [
            some for some in product(*options) if sum(len(one.candidates) for one in some) <= most
        ]
        found = best_choice(options, most, prod)
        assert (found is None) is (not able)
        if found is not None:
            assert sum(len(one.candidates) for one in found) <= most
            assert prod(one.low for one in found) == max(
                prod(one.low for one in some) for some in able
            )


def test_views_go_where_all_limits_hold_most_often_and_not_where_a_single_region_gains_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = chapter("6.3A", "6.3B").shown
    views = Views(
        14,
        [
            *one,
            *(
                View(f"{view.name} too", [who + 7 for who in view.members], view.shown)
                for view in one
            ),
        ],
    )
    options = iter(options_of([[(1, 2), (2, 5)], [(1, 1), (2, 3)]]))
    monkeypatch.setattr(room, "_options", lambda *given_: next(options))
    by = plan(views, [], most=3)
    assert (len(by.candidates), by.low) == (
        3,
        Fraction(2, 10) * Fraction(3, 10),
    )  # 1/2 · 1/10 is less, 1/2 + 1/10 more


# What is proven


def test_what_could_not_be_counted_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    views = chapter("6.3A", "6.3B")
    (left,) = restore(views, TABLE, pairs(), most=1).unrestored
    assert left.proven == "candidates"
    monkeypatch.setattr(Region.tally, "__defaults__", (1,))  # the longest that a set may take
    (left,) = restore(views, TABLE, pairs(), most=1).unrestored
    assert left.proven is None


@pytest.mark.parametrize("seed", range(6))
def test_weights_that_prove_nothing_are_no_proof(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linear program in floats may be wrong: what it says is computed again."""
    source, solve = Random(seed), scipy.optimize.linprog

    def wrong(*given_: Any, **options: Any) -> Any:
        done = solve(*given_, **options)
        done.fun = 1.0
        done.eqlin.marginals = [source.uniform(-1, 1) for _ in done.eqlin.marginals]
        return done

    views = chapter("6.3A", "6.3B")
    (region,) = regions(views, [], [3])
    monkeypatch.setattr(scipy.optimize, "linprog", wrong)
    assert obstacle(region) is None


# Certificates


CERTIFIED = """
[register]
person = "name"
types = { age = "integer" }
people = [{ name = "A", age = 22 }, { name = "B", age = 27 }, { name = "C", age = 35 }, { name = "D", age = 36 }]
[sensitive]
column = "ill"
[[views]]
where = "age < 30"
values = ["a", "b"]
[[views]]
table = "table.csv"
columns = { age = "age" }
"""


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("views.toml", '"a", "b"', '"a", "c"'),
        ("table.csv", "30-40,b", "30-40,c"),
        ("table.csv", "", ""),
    ],
)
def test_other_content_with_the_same_counts_is_not_what_was_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("views.toml").write_text(CERTIFIED)
    Path("table.csv").write_text("age,ill\n30-40,a\n30-40,b\n")
    before = certify("views.toml")
    before.write("paper.json")
    Path(file).write_text(Path(file).read_text().replace(old, new))
    after = certify("views.toml")
    assert (after.tables, after.largest, after.register) == (
        before.tables,
        before.largest,
        before.register,
    )
    assert len([one for one in verify("paper.json", "views.toml") if "certificate" in one]) == (
        2 if old else 0
    )


# Ledgers


def test_another_gamma_leaves_the_limits_of_single_values(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2", limits={"SARS": "1/3"})
    views = ledger.together(BY_SEX.release(people()), people(), gamma="2/3")
    assert (views.gamma, dict(views.limits)) == (Fraction(2, 3), {"SARS": Fraction(1, 3)})


def test_a_limit_is_of_the_value_however_it_is_written(tmp_path: Path) -> None:
    levels = people().frame.to_native().with_columns(ill=pl.Series([7, 7, 1, 2, 3, 4, 5, 6]))
    table = shoal.table(
        levels,
        quasi=["sex", "age"],
        sensitive=["ill"],
        identifying=["name"],
        hierarchies=people().hierarchies,
    )
    ledger = Ledger.create(tmp_path / "ledger", gamma="9/10", limits={"07": "1/3"})
    assert dict(ledger.together(BY_SEX.release(table), table).limits) == {"7": Fraction(1, 3)}
    with pytest.raises(BudgetError, match="is not kept"):
        ledger.release(BY_SEX, table)


def test_with_a_ledger_it_is_still_not_known_who_of_the_register_is_in_the_table(
    tmp_path: Path,
) -> None:
    ledger = Ledger.create(tmp_path / "ledger", gamma="1/2")
    ledger.release(BY_SEX, people())
    more = pl.concat(
        [people().frame.to_native().select("sex", "age"), pl.DataFrame({"sex": ["M"], "age": [29]})]
    )
    trees = {name: people().hierarchies[name] for name in ("sex", "age")}
    register = Register(
        shoal.table(more, hierarchies=trees, types={"age": "integer"}), complete=False
    )
    views = ledger.together_with(
        Views(9, [register.view("oldest", "age > 28", [])], complete=False), register
    )
    assert views.complete is False
    assert check(views).of(8).shares == {OUTSIDE: 1}
    with pytest.raises(InputError, match="not complete"):
        ledger.together_with(Views(9, []), register)


# The command line


def test_the_table_may_lack_people_of_a_register_that_has_more(files: Path) -> None:
    Path("views.toml").write_text(
        DONALD.replace("[register]", "[register]\ncomplete = false").replace(
            '"Garcia", age = 28 }', '"Garcia", age = 28 }, { name = "Zoe", age = 22 }'
        )
    )
    done = run("views", "restore", "views.toml", "--data", "table.csv", "--json")
    assert done.exit_code in (0, 1), done.output
    assert (
        json.loads(done.stdout)["tables_before"]
        == check(shoal.views.load("views.toml")).tables_text
    )


def test_the_sensitive_column_of_the_command_line_counts_for_that_of_the_file(files: Path) -> None:
    Path("views.toml").write_text(DONALD.replace('"ill"', '"other"'))
    restoring = ("views", "restore", "views.toml", "--data", "table.csv")
    assert run(*restoring).exit_code == 2  # the views are not true of that column
    assert run(*restoring, "--sensitive", "ill").exit_code == 0


def test_a_ceiling_holds_with_the_table_too(files: Path) -> None:
    aware = (
        "views",
        "restore",
        "views.toml",
        "--data",
        "table.csv",
        "--adversary",
        "aware",
        "--json",
    )
    assert len(json.loads(run(*aware).stdout)["views"]) == 2
    done = run(*aware, "--ceiling", "9/10")
    assert (done.exit_code, json.loads(done.stdout)["views"]) == (1, [])
