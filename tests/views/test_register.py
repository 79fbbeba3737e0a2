"""A register turns releases and tables of others into views that are true."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy, suppress
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, FileError, InputError, QueryError
from shoal.privacy import DistinctDiversity, KAnonymity
from shoal.releases.release import Release
from shoal.views import Legend, Register, View, Views, check, load
from tests.regions import AGES, METHODS, TOWNS, by_region, leaves_of, town_table
from tests.views.cases import (
    written,
)


@pytest.fixture(scope="module")
def people() -> shoal.Table:
    return shoal.demo.table(240).with_roles(
        quasi=["age", "sex"],
        sensitive=["diagnosis"],
        identifying=["patient", "postcode", "admitted", "ward", "stay", "insurance", "outcome"],
    )


@pytest.fixture(scope="module")
def register(people: shoal.Table) -> Register:
    trees = {name: people.hierarchies[name] for name in ("age", "sex")}
    return Register(
        shoal.table(
            people.frame.select("age", "sex").to_native(),
            hierarchies=trees,
            types=people.types and {},
        )
    )


def truth(people: shoal.Table) -> list[str]:
    [column] = people.records(["diagnosis"])
    return [column.labels[code] for code in column.codes.tolist()]


def agrees(views: list[View], people: shoal.Table) -> None:
    """Every view shows what its people really have."""
    values = truth(people)
    for view in views:
        assert Counter(values[person] for person in view.people) == view.bag


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_the_groups_of_an_optimal_release_are_views(
    people: shoal.Table, register: Register, suppressed: str
) -> None:
    method = shoal.Optimal(
        (KAnonymity(5),),
        suppression="0.1",
        suppressed=suppressed,  # type: ignore[arg-type]
    )
    release = method.release(people)
    views = register.of_release(release, "r")
    agrees(views, people)
    covered = sum(len(view.people) for view in views)
    assert covered == (240 if suppressed == "star" else 240 - release.suppressed)
    assert check(Views(240, views)).tables


def test_the_ranges_of_mondrian_are_views(people: shoal.Table, register: Register) -> None:
    views = register.of_release(shoal.Mondrian((KAnonymity(4),)).release(people), "m")
    agrees(views, people)
    assert sum(len(view.people) for view in views) == 240


def test_buckets_are_views_and_people_who_look_alike_join_them(
    people: shoal.Table, register: Register
) -> None:
    method = shoal.Buckets("diagnosis", shoal.Limits.each({}, others="1/2"), solver="two")
    release = method.release(people, Seeded(1))
    agrees(register.of_release(release, "b"), people)
    assert any("joined" in note for note in register.notes)
    known = Register(
        shoal.table(people.frame.select("age", "sex", "patient").to_native()), "patient"
    )
    whole = people.with_roles(
        quasi=["age", "sex", "patient"],
        sensitive=["diagnosis"],
        identifying=["postcode", "admitted", "ward", "stay", "insurance", "outcome"],
    )
    views = known.of_release(method.release(whole, Seeded(2)), "b")
    agrees(views, people)
    assert not known.notes
    assert len(views) > 20
    fakes = shoal.Buckets(
        "diagnosis", shoal.Limits.each({}, others="1/2"), solver="two", fakes=1
    ).release(whole, Seeded(3))
    with pytest.raises(InputError, match="fakes"):
        known.of_release(fakes, "f")


def told_by_groups(release: Release, value: str) -> list[Fraction]:
    """The share of a value in every group of a release."""
    rows = release.table.select("group", "diagnosis").rows()
    sizes = Counter(group for group, _ in rows)
    return [
        Fraction(sum(one == value for at, one in rows if at == group), size)
        for group, size in sizes.items()
    ]


@pytest.mark.parametrize("rows", [240, 235])
def test_bounds_allow_for_someone_who_knows_who_is_in_which_coincident_group(rows: int) -> None:
    """Of 235 people three are left out by chance. Joined views alone reveal less than any group."""
    people = shoal.demo.table(rows).with_roles(
        quasi=["age", "sex"],
        sensitive=["diagnosis"],
        identifying=["patient", "postcode", "admitted", "ward", "stay", "insurance", "outcome"],
    )
    trees = {name: people.hierarchies[name] for name in ("age", "sex")}
    register = Register(
        shoal.table(people.frame.select("age", "sex").to_native(), hierarchies=trees)
    )
    release = shoal.Coincident((DistinctDiversity("diagnosis", 3),), size=8, depth=1).release(
        people, Seeded(1)
    )
    assert (release.suppressed > 0) is (rows == 235)
    views = register.of_release(release, "c")
    assert any("who is in which" in note for note in register.notes)
    assert sum(view.size for view in views) == rows - release.suppressed
    largest = max(max(told_by_groups(release, value)) for value in set(truth(people)))
    checked = check(Views(rows, views))
    assert (checked.how, checked.largest) == ("bounded", largest)
    assert (
        max(Fraction(max(view.bag.values()), view.size) for view in views) < largest
    )  # what joining alone would tell
    assert check(Views(rows, views, largest)).private is True
    assert check(Views(rows, views, largest - Fraction(1, 100))).private is not True
    young = register.view(
        "young",
        "age < 40",
        [one for one, age in zip(truth(people), ages(people), strict=True) if age < 40],
    )
    both = check(Views(rows, [*views, young], "9/10"))
    assert (both.private, both.tables_text, both.largest) == (None, "not counted", Fraction(1))


def ages(people: shoal.Table) -> list[int]:
    return [int(age) for age in people.frame["age"].to_list()]


def test_a_written_release_is_read_by_the_file(people: shoal.Table, tmp_path: Path) -> None:
    shoal.Mondrian((KAnonymity(4),)).release(people).write(tmp_path / "out")
    shoal.write(people.frame.select("age", "sex").to_native(), tmp_path / "people.csv")
    for name in ("age", "sex"):
        shoal.hierarchy.write(people.hierarchies[name], tmp_path / f"{name}.csv")
    text = """
gamma = 0.9
[register]
file = "people.csv"
types = { age = "integer" }
hierarchies = { age = "age.csv", sex = "sex.csv" }
[[views]]
name = "m"
release = "out"
"""
    views = load(written(tmp_path, text))
    agrees(list(views.views), people)


def test_releases_that_draw_are_not_views(people: shoal.Table, register: Register) -> None:
    release = shoal.RandomSample("1/2").release(people, Seeded(4))
    with pytest.raises(InputError, match="is not a view"):
        register.of_release(release, "s")


def test_two_releases_that_are_safe_alone_are_checked_together(
    people: shoal.Table, register: Register
) -> None:
    one = register.of_release(
        shoal.Mondrian((DistinctDiversity("diagnosis", 3),)).release(people), "m"
    )
    other = register.of_release(
        shoal.Optimal((DistinctDiversity("diagnosis", 3),)).release(people), "o"
    )
    alone = [check(Views(240, some)).largest for some in (one, other)]
    assert max(alone) <= check(Views(240, [*one, *other])).largest


def test_a_foreign_table_may_have_other_names_and_counts() -> None:
    register = Register(
        shoal.table(pl.DataFrame({"who": ["a", "b", "c", "d"], "age": [21, 25, 33, 38]})), "who"
    )
    foreign = pl.DataFrame(
        {"AGE": ["20-29", "30-39", "30-39"], "DX": ["J10", "J10", "I21"], "N": [2, 1, 1]}
    )
    views = register.of_table(
        foreign,
        "insurer",
        Legend({"age": "AGE"}, "DX", values={"J10": "flu", "I21": "heart"}, count="N"),
    )
    assert {tuple(sorted(view.people)): dict(view.bag) for view in views} == {
        (0, 1): {"flu": 2},
        (2, 3): {"flu": 1, "heart": 1},
    }


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("21", {0}),
        ("20-25", {0, 1}),
        (">=33", {2, 3}),
        ("[21, 33)", {0, 1}),
        ("{21, 38}", {0, 3}),
        ("*", {0, 1, 2, 3, 4}),
        ("", {4}),
        ("21-33 or missing", {0, 1, 2, 4}),
    ],
)
def test_a_text_of_a_table_stands_for_those_whom_it_fits(text: str, fits: set[int]) -> None:
    register = Register(
        shoal.table(pl.DataFrame({"age": [21, 25, 33, 38, None]}), types={"age": "integer"})
    )
    foreign = pl.DataFrame({"age": [text] * len(fits), "ill": ["x"] * len(fits)})
    (view,) = register.of_table(foreign, "t", Legend({"age": "age"}, "ill"))
    assert view.people == fits


def test_what_does_not_belong_to_the_register_is_refused() -> None:
    register = Register(shoal.table(pl.DataFrame({"age": [21, 25]})))
    foreign = pl.DataFrame({"age": ["young", "old"], "ill": ["x", "y"]})
    with pytest.raises(InputError, match="is not a value, range or set") as error:
        register.of_table(foreign, "t", Legend({"age": "age"}, "ill"))
    assert "young" not in str(error.value)
    with pytest.raises(ColumnError, match="register lacks"):
        register.of_table(foreign, "t", Legend({"wage": "age"}, "ill"))
    untyped = Register(shoal.table(pl.DataFrame({"age": ["21", "25"]}), types={"age": "text"}))
    with pytest.raises(InputError, match="1 groups that fit nobody"):
        untyped.of_table(
            pl.DataFrame({"age": ["20-29", "20-29"], "ill": ["x", "y"]}),
            "t",
            Legend({"age": "age"}, "ill"),
        )
    for count in (["1", ""], [1.5, 1.0], ["many", "1"], [-1, 1]):
        odd = pl.DataFrame({"age": ["21", "25"], "ill": ["x", "y"], "n": count})
        with pytest.raises(InputError, match="whole number of at least 0"):
            register.of_table(odd, "t", Legend({"age": "age"}, "ill", count="n"))
    with pytest.raises(ColumnError, match="no column"):
        register.of_table(foreign, "t", Legend({"age": "AGE"}, "ill"))
    with pytest.raises(QueryError):
        register.view("t", "age >", ["x"])
    with pytest.raises(ColumnError, match="name everybody once"):
        _ = Register(shoal.table(pl.DataFrame({"who": ["a", "a"]})), "who").names
    with pytest.raises(FileError):
        Release.read("nowhere")


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_a_column_of_the_register_makes_groups_whatever_its_role_was(role: str) -> None:
    held = pl.DataFrame(
        {"sex": [*"mmmmffff"], "age": [23, 24, 25, 26, 26, 27, 28, 28], "ill": [*"abcbdcba"]}
    )
    given = shoal.table(held, hierarchies={"sex": suppress(["f", "m"])})
    roles: dict[str, Any] = {"quasi": ["sex"], "sensitive": ["ill"]}
    roles[role] = [*roles.get(role, []), "age"]
    release = shoal.Optimal((KAnonymity(1),), floor={"sex": 0}, ceiling={"sex": 0}).release(
        given.with_roles(**roles)
    )
    known = Register(shoal.table(held.select("sex", "age"), types={"age": "integer"}))
    checked = check(Views(8, known.of_release(release, "it", "ill")))
    assert (checked.private, checked.largest) == (
        False,
        Fraction(1),
    )  # everybody but the last two has an age of their own
    less = Register(shoal.table(held.select("sex")))
    assert check(Views(8, less.of_release(release, "it", "ill"))).private is True


def test_buckets_whose_rows_can_be_joined_with_another_release_are_refused(
    people: shoal.Table,
) -> None:
    held = people.with_roles(
        quasi=["age", "sex"],
        sensitive=["diagnosis"],
        insensitive=["patient"],
        identifying=["postcode", "admitted", "ward", "stay", "insurance", "outcome"],
    )
    known = Register(
        shoal.table(
            people.frame.to_native().select("age", "sex"),
            hierarchies={k: people.hierarchies[k] for k in ("age", "sex")},
        )
    )
    buckets = shoal.Buckets("diagnosis", shoal.Limits.each({}, others="1/2"), solver="two").release(
        held, Seeded(1)
    )
    known.of_release(buckets, "buckets")
    with pytest.raises(InputError, match="'buckets' and 'groups' both show 'patient'"):
        known.of_release(shoal.Mondrian((KAnonymity(5),)).release(held, Seeded(1)), "groups")


def test_stars_are_those_who_fit_no_other_row_only_where_everybody_is_in_the_table() -> None:
    rows = pl.DataFrame({"age": ["30", "40", "40", "*"], "ill": ["flu", "flu", "gout", "SARS"]})
    ages = shoal.table(pl.DataFrame({"age": [30, 40, 40, 50]}), types={"age": "integer"})
    assert [
        view.parts for view in Register(ages).of_table(rows, "t", Legend({"age": "age"}, "ill"))
    ] == [
        (),
        (),
        (),
    ]
    more = shoal.table(pl.DataFrame({"age": [30, 30, 40, 40, 50]}), types={"age": "integer"})
    (joined,) = Register(more, complete=False).of_table(rows, "t", Legend({"age": "age"}, "ill"))
    checked = check(Views(5, [joined], complete=False))
    assert joined.parts
    assert not checked.exposed  # who may not be in the table has nothing for sure
    assert {one.low for one in checked.undecided} == {Fraction(0)}


def test_a_text_that_may_mean_several_things_stands_for_all_of_them() -> None:
    tree = Hierarchy.from_lines([["a", "b", "*"], ["b", "a", "*"]])
    register = Register(shoal.table(pl.DataFrame({"x": ["a", "b"]}), hierarchies={"x": tree}))
    (joined,) = register.of_table(
        pl.DataFrame({"x": ["a", "b"], "ill": ["flu", "gout"]}), "t", Legend({"x": "x"}, "ill")
    )
    assert (joined.people, len(joined.parts)) == (frozenset({0, 1}), 2)
    values = Register(shoal.table(pl.DataFrame({"x": ["a", "b", "a, b"]})), complete=False)
    (view,) = values.of_table(
        pl.DataFrame({"x": ["{a, b}"] * 2, "ill": ["flu", "gout"]}), "t", Legend({"x": "x"}, "ill")
    )
    assert view.people == {0, 1, 2}
    odd = Register(
        shoal.table(pl.DataFrame({"x": ["a, b", "a", "b", "c", "missing", None, "c or missing"]})),
        complete=False,
    )
    for text, who in (
        ("{a, b, c}", {0, 1, 2, 3}),
        ("{c, missing}", {3, 4, 5}),
        ("c or missing", {3, 5, 6}),
    ):
        (view,) = odd.of_table(
            pl.DataFrame({"x": [text], "ill": ["flu"]}), "t", Legend({"x": "x"}, "ill")
        )
        assert view.people == who


def test_rows_that_stand_for_no_record_are_not_a_group() -> None:
    ages = Register(shoal.table(pl.DataFrame({"age": [22, 27, 31, 38]}), types={"age": "integer"}))
    rows = {
        "age": ["20-29", "20-29", "30-39", "30-39", "25-35"],
        "ill": [*"ababa"],
        "n": [1, 1, 1, 1, 0],
    }
    checked = check(
        Views(4, ages.of_table(pl.DataFrame(rows), "t", Legend({"age": "age"}, "ill", count="n")))
    )
    assert (checked.how, checked.private) == ("exact", True)


@pytest.mark.parametrize("method", METHODS)
def test_a_private_tree_is_not_a_view_like_other_releases_of_its_method(method: str) -> None:
    table = town_table()
    known = table.selecting(["town", "age"], hierarchies={"town": TOWNS, "age": AGES})
    with pytest.raises(InputError, match="is not a view"):
        Register(known, kind=Kind.TEXT).of_release(by_region(method, table), "tree", "ill")


def test_texts_of_several_levels_fit_all_whom_they_stand_for() -> None:
    table = town_table()
    frame = by_region("sampled", table).table
    known = table.selecting(["town", "age"], hierarchies={"town": TOWNS, "age": AGES})
    register = Register(known, kind=Kind.TEXT)
    legend = Legend({"town": "town", "age": "age"}, "sex", drawn=True)
    views = register.of_table(frame.drop("ill"), "tree", legend)
    fitting = set()
    rows = set(frame.select("town", "age").rows())
    for number, (town, age) in enumerate(known.frame.select("town", "age").rows()):
        if any(town in leaves_of("town", t) and age in leaves_of("age", a) for t, a in rows):
            fitting.add(number)
    assert set().union(*(view.people for view in views)) == fitting
    # A fine group lies within a coarse one, so nobody knows who is in which.
    assert any(len(view.parts) > 1 for view in views)
    assert "were joined" in register.notes[0]
