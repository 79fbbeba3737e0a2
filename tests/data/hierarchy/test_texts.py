"""A released text stands for one set of values, whoever writes it and whoever reads it.

That holds whatever labels the hierarchy has.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy, dates, intervals, problems
from shoal.data.hierarchy.cover import covers
from shoal.data.hierarchy.texts import Axis, Texts
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError, InfeasibleError, InputError
from shoal.measure import utility
from shoal.methods.axes import axis_of
from shoal.methods.method import Method
from shoal.privacy.models import DistinctDiversity, KAnonymity
from shoal.releases.release import Release
from shoal.views import Register
from shoal.views.checking import check
from shoal.views.model import Views

AGES = [20, 24, 25, 29, 30, 31, 32, 34]
ILLS = [*"abababab"]
SHIFTED = Hierarchy.from_lines(
    [[str(age), f"{(age - 1) // 5 * 5}-{(age - 1) // 5 * 5 + 4}", "*"] for age in range(16, 46)],
    Kind.INTEGER,
)
"""20 is in "15-19", 21 to 25 are in "20-24", and so on, as in a hierarchy that comes with adult."""


def held(tree: Hierarchy = SHIFTED, ages: list[Any] = AGES, ills: list[str] = ILLS) -> shoal.Table:
    return shoal.table(
        pl.DataFrame({"age": ages, "ill": ills}),
        quasi=["age"],
        sensitive=["ill"],
        hierarchies={"age": tree},
        types={"age": tree.kind},
    )


def register(table: shoal.Table) -> Register:
    return Register(
        shoal.table(
            table.frame.select("age").to_native(),
            hierarchies=dict(table.hierarchies),
            types={"age": table.kind("age")},
        )
    )


def true(release: Release, table: shoal.Table) -> None:
    """Every view shows what its people really have."""
    [column] = table.records(["ill"])
    ills = [column.labels[code] for code in column.codes.tolist()]
    for view in register(table).of_release(release, "r"):
        shown, own = Counter(view.bag), Counter(ills[one] for one in view.people)
        assert shown == own if not view.parts else shown <= own


def test_the_smallest_table_whose_ranges_equalled_labels(tmp_path: Path) -> None:
    table = held()
    release = shoal.Mondrian((DistinctDiversity("ill", 2),)).release(table)
    true(release, table)
    path = release.write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert shoal.verify(paper, path, {"age": SHIFTED}) == []
    texts, axis = Texts.of(SHIFTED), Axis.of("age", SHIFTED)
    for text in set(release.table["age"].to_list()):
        values = texts(text)
        assert values is not None
        assert covers(SHIFTED)(text) == values.sum()
        run = axis.run(text)
        assert run is not None
        assert axis.means(text, *run)
    found = check(Views(8, register(table).of_release(release, "r")))
    assert found.private is True


def test_a_range_that_equals_a_label_is_written_in_another_way() -> None:
    axis = Axis.of("age", SHIFTED)
    places = {int(label): place for place, label in enumerate(axis.labels)}
    assert axis.text(places[20], places[24]) == "[20, 24]"
    assert axis.text(places[21], places[25]) == "21-25"
    assert axis.text(places[20], places[25]) == "20-25"
    assert axis.run("20-24") == (places[21], places[25])
    assert axis.run("[20, 24]") == (places[20], places[24])


# What a text stands for, by everyone who reads it

LABELS = {
    Kind.INTEGER: ["1-3", "[1, 3]", "[1; 3]", "2", "02", "2+", "<3", "1 to 4", "-1 to 2", "{1, 2}"],
    Kind.FLOAT: ["[1, 3]", "[1; 3]", "[1, 3)", "2", "<3", ">=2", "2.0", "[0, 4]"],
    Kind.DATE: ["[2024-01-01, 2024-01-03]", "2024-01-02", "2024-W01", "20240102", "2024-01"],
    Kind.TEXT: ["{a, b}", "a", "b, c", "a or missing", "missing", "{missing}", "{a, b} or missing"],
}
VALUES = {
    Kind.INTEGER: [*map(str, range(-1, 6))],
    Kind.FLOAT: ["-1", "0", "0.5", "1", "2", "3", "4.25"],
    Kind.DATE: [f"2024-01-0{day}" for day in range(1, 7)],
    Kind.TEXT: ["a", "b", "c", "b, c", "a or missing", "missing", "{a, b}", "*"],
}


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Few values under labels that look like ranges or sets, mostly of other values."""
    kind = draw(st.sampled_from([*Kind]))
    leaves = draw(st.lists(st.sampled_from(VALUES[kind]), min_size=2, unique=True))
    words = [*LABELS[kind], "or missing", "x", "y", "*", "{x, y}", *leaves]
    path, parents = [[leaf] for leaf in leaves], leaves
    for _ in range(draw(st.integers(0, 2))):
        over = {below: draw(st.sampled_from(words)) for below in dict.fromkeys(parents)}
        parents = [over[below] for below in parents]
        for line, label in zip(path, parents, strict=True):
            line.append(label)
    root = draw(st.sampled_from(["*", "any", words[0]]))
    lines = [[*line, root] for line in path]
    assume(not problems(lines, kind).fatal)
    return Hierarchy.from_lines(lines, kind)


@given(hierarchies(), st.booleans(), st.data())
@settings(max_examples=100)
def test_every_run_is_read_as_its_places_by_everyone(
    tree: Hierarchy, missing: bool, data: st.DataObject
) -> None:
    """By the hierarchy, a register, measures and verification: the set of the run, or around it."""
    values: list[str | None] = [*tree.labels[0], *([None] if missing else [])]
    table = held(tree, values, ["x"] * len(values))
    axis = axis_of(table, "age", "boundary", (), whole=data.draw(st.booleans()))
    own, column = table.hierarchy("age"), table.records(["age"])[0]
    leaf_at = np.argsort(axis.place)
    texts, leaf = Texts.of(own), table.leaf_of("age")
    covered = covers(own)
    people = Texts.of_values(column.labels, column.keys, column.kind, own, leaf)
    meanings: dict[str, list[bool]] = {}
    beside_levels = []
    for low in range(axis.size):
        for high in range(low, axis.size):
            text = axis.text(low, high)
            read = texts(text)
            assert read is not None
            run = np.zeros(len(read), dtype=np.bool_)
            run[leaf_at[low : high + 1]] = True
            whole = set(np.flatnonzero(run)) <= set(np.flatnonzero(read))
            assert whole, text  # says no more than is true
            if not axis.is_label(text):
                extra = read & ~run
                assert not extra[leaf_at[: axis.size]].any(), text
            assert meanings.setdefault(text, read.tolist()) == read.tolist()
            fits = people(text)
            assert fits is not None
            assert fits.tolist() == read[leaf].tolist(), text
            if text and not any(text in labels for labels in own.labels):
                beside_levels.append(text)
            assert covered(text) == max(int(read[: own.leaves].sum()), 1)
    # Measures read a text that no level has by the same rules.
    for text in dict.fromkeys(beside_levels):
        release = shoal.table(pl.DataFrame({"age": [text]}), types={"age": "text"})
        [shown] = release.records(["age"])
        assert utility._may_be(shown.labels, own, "age")[0].tolist() == meanings[text]


METHODS: dict[str, Callable[[], Method]] = {
    "mondrian": lambda: shoal.Mondrian((KAnonymity(2),)),
    "relaxed": lambda: shoal.Mondrian((KAnonymity(2),), relaxed=True),
    "observed": lambda: shoal.Mondrian((KAnonymity(2),), ranges="observed"),
    "narrower": lambda: shoal.Coincident((DistinctDiversity("ill", 1),), size=2),
    "boundary": lambda: shoal.Coincident((DistinctDiversity("ill", 1),), size=2, ranges="boundary"),
    "hierarchy": lambda: shoal.Coincident((DistinctDiversity("ill", 1),), size=2, order="curve"),
    "disclosure": lambda: shoal.Disclosure((DistinctDiversity("ill", 1),)),
    "local": lambda: shoal.Disclosure((DistinctDiversity("ill", 2),), local=True),
    "optimal": lambda: shoal.Optimal((KAnonymity(2),)),
    "starred": lambda: shoal.Optimal((KAnonymity(2),), suppression="0.5", suppressed="star"),
}


@pytest.mark.parametrize("name", METHODS)
@given(tree=hierarchies(), data=st.data())
@settings(max_examples=15)
def test_what_a_release_shows_is_true_of_whom_it_is_read_as(
    name: str, tree: Hierarchy, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Everyone with a record in a group is among the people of its view; verify reads the same."""
    values = [*tree.labels[0], None]
    ages = data.draw(st.lists(st.sampled_from(values), min_size=4, max_size=12))
    ills = data.draw(st.lists(st.sampled_from("ab"), min_size=len(ages), max_size=len(ages)))
    table = held(tree, ages, ills)
    try:
        release = METHODS[name]().release(table, Seeded(1))
    except (InfeasibleError, HierarchyError):  # the latter of groups that could not be told apart
        return
    true(release, table)
    folder = tmp_path_factory.mktemp("out")
    path = release.write(folder)
    faults = shoal.verify(folder / "certificate.json", path, {"age": tree})
    assert [one for one in faults if "seed" not in one] == []


# What texts are read by


def test_a_release_is_read_by_the_hierarchy_that_it_went_by(tmp_path: Path) -> None:
    table = held()
    release = shoal.Mondrian((DistinctDiversity("ill", 2),)).release(table)
    other = intervals(16, 45, widths=[5])
    people = table.frame.select("age").to_native()
    bare = Register(shoal.table(people, types={"age": "integer"}))
    with pytest.raises(InputError, match="the register has no hierarchy for column 'age'"):
        bare.of_release(release, "r")
    wrong = Register(shoal.table(people, types={"age": "integer"}, hierarchies={"age": other}))
    with pytest.raises(InputError, match="the register has another hierarchy for column 'age'"):
        wrong.of_release(release, "r")
    path = release.write(tmp_path)
    fault, *_ = shoal.verify(tmp_path / "certificate.json", path, {"age": other})
    assert "is not the one that the release went by" in fault
    level = shoal.Optimal((KAnonymity(1),), ceiling={"age": 0}).release(table)
    assert len(bare.of_release(level, "values as they are need none")) == 8


def test_a_text_at_a_known_level_means_what_it_covers_there() -> None:
    tree = Hierarchy.from_lines([["1", "2", "*"], ["2", "1", "*"], ["3", "1", "*"]], Kind.INTEGER)
    table = held(tree, [1, 2, 3, 1, 2, 3], [*"abbabb"])
    level = shoal.Optimal((KAnonymity(2),), floor={"age": 1}, ceiling={"age": 1}).release(table)
    true(level, table)
    assert [len(view.people) for view in register(table).of_release(level, "r")] == [2, 4]


def test_digests_do_not_depend_on_the_order_or_spelling_of_values() -> None:
    lines = [["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"]]
    one = Hierarchy.from_lines(lines, Kind.INTEGER)
    for other in (lines[::-1], [[f"0{leaf}", *rest] for leaf, *rest in lines]):
        assert Hierarchy.from_lines(other, Kind.INTEGER).digest == one.digest
    assert Hierarchy.from_lines(lines).of_kind(Kind.INTEGER).with_missing().digest == one.digest
    swapped = [["1", "low", "*"], ["3", "low", "*"], ["2", "high", "*"]]
    assert Hierarchy.from_lines(swapped, Kind.INTEGER).digest != one.digest


def test_a_week_is_not_released_as_its_monday() -> None:
    days = [f"2025-01-{day:02}" for day in range(6, 20)]
    tree = dates("2025-01-06", "2025-01-19", ["week"])
    release = shoal.Optimal((KAnonymity(7),)).release(held(tree, days, [*"ab"] * 7))
    assert set(release.table["age"].to_list()) == {"2025-W02", "2025-W03"}


# What a hierarchy's own check notices


def warned(lines: list[list[str]], kind: Kind = Kind.TEXT) -> list[str]:
    return [one.name for one in problems(lines, kind).minor]


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.INTEGER])
def test_a_label_that_reads_as_other_values_than_it_covers_is_noticed(kind: Kind) -> None:
    found = problems(SHIFTED.lines(), kind)
    assert [one.name for one in found.minor] == ["misleading label"]
    assert "'15-19' at level 1 covers 16 to 20" in found.warnings[0]
    for good in (intervals(0, 99, widths=[5, 10], bottom=10, top=90), intervals(-9, 9, widths=[3])):
        assert warned(good.lines(), kind) == []


def test_a_label_with_two_meanings_is_noticed() -> None:
    assert warned([["a", "a", "*"], ["b", "a", "*"], ["c", "c", "*"]]) == ["two meanings"]
    assert warned([["a", "*", "any"], ["b", "x", "any"], ["c", "x", "any"]]) == ["two meanings"]
    assert warned([["a", "{a, c}", "*"], ["b", "{a, c}", "*"], ["c", "x", "*"]]) == [
        "misleading label"
    ]
    for week in (
        dates("2024-12-28", "2025-01-12", ["week", "iso-year"]),
        dates("2024-02-28", "2024-03-02"),
    ):
        assert set(warned(week.lines(), Kind.DATE)) <= {"merges nothing"}


def test_the_order_of_rows_does_not_tell_what_a_text_stands_for() -> None:
    """A label of two levels is shown for different values; the same rows have the same order."""
    lines = [
        ["a", "*", "*", "*"],
        ["b", "x", "w", "*"],
        ["c", "a", "x", "*"],
        ["d", "x", "w", "*"],
        ["x", "a", "x", "*"],
    ]
    tree = Hierarchy.from_lines(lines)
    shown = [
        METHODS["mondrian"]().release(held(tree, ages, list("abab")), Seeded(1)).table.rows()
        for ages in (["x", "b", "x", "d"], ["a", "d", "a", "d"])
    ]
    assert shown[0] == shown[1] or sorted(shown[0]) != sorted(shown[1])
