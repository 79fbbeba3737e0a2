"""Coincident generalisation: how people are put together, what groups show, what is refused, and
what verify finds.
"""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance import Seeded
from shoal.counts import Counts
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError, ShoalError
from shoal.methods.coincident import RANGES, Coincident, Ranges
from shoal.methods.coincident.grouping import by_curve, by_splits
from shoal.methods.coincident.schemes import (
    LEFT_OUT,
    SCHEMES,
    Scheme,
    best_depth,
    merged,
    shaped,
)
from shoal.privacy.promises import Coincidence
from shoal.releases.verification import unchecked

AGES = Hierarchy.from_lines(
    [[str(age), f"{age // 10 * 10}-{age // 10 * 10 + 9}", "*"] for age in range(100)]
)
TOWNS = Hierarchy.from_lines([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
TREES = {"age": AGES, "town": TOWNS}


def people(rows: int = 203, seed: int = 3, values: str = "uvwxyz") -> Table:
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": draw.integers(0, 100, rows).astype(str).tolist(),
            "town": draw.choice(list("abcd"), rows).tolist(),
            "ill": draw.choice(list(values), rows).tolist(),
        },
        schema={"age": pl.String, "town": pl.String, "ill": pl.String},
    )
    return shoal.table(frame, quasi=["age", "town"], sensitive=["ill"], hierarchies=TREES)


def rows_of(draw: np.random.Generator, rows: int, sizes: list[int]) -> Counts:
    codes = tuple(draw.integers(0, size, rows).astype(np.uint8) for size in sizes)
    return Counts(
        tuple(map(str, range(len(sizes)))), codes, tuple(sizes), draw.integers(0, 9, rows)
    )


def tree_of(draw: np.random.Generator, size: int) -> Hierarchy:
    """Leaves in tens at most, these in values of any length, below one root."""
    ends = [
        np.sort(draw.integers(0, size // width + 1, size)).astype(str).tolist() for width in (4, 2)
    ]
    lines = [
        [str(leaf), f"{high}.{low}", high, "*"]
        for leaf, (low, high) in enumerate(zip(*ends, strict=True))
    ]
    return Hierarchy.from_lines(lines)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_parts_have_everybody_once_and_reach_over_those_in_them(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 30, draw.integers(1, 4)).tolist()
    rows = rows_of(draw, int(draw.integers(1, 40)), sizes)
    runs = by_splits(rows, int(draw.integers(2, 6)))
    assert (np.bincount(runs.rows, runs.counts, rows.distinct) == rows.count).all()
    assert runs.part is not None and runs.low is not None and runs.high is not None  # noqa: PT018
    places = np.array(rows.codes)[:, runs.rows]
    assert ((runs.low[:, runs.part] <= places) & (places <= runs.high[:, runs.part])).all()
    assert (runs.high < np.array(sizes)[:, None]).all()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_a_curve_has_everybody_once_and_leaves_a_value_after_all_of_it(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 30, draw.integers(1, 4)).tolist()
    rows, trees = (
        rows_of(draw, int(draw.integers(1, 40)), sizes),
        [tree_of(draw, size) for size in sizes],
    )
    runs = by_curve(rows, trees)
    assert (np.bincount(runs.rows, runs.counts, rows.distinct) == rows.count).all()
    first = by_curve(
        Counts(("0",), (np.arange(sizes[0]),), (sizes[0],), np.ones(sizes[0], dtype=np.int64)),
        trees[:1],
    )
    for codes in trees[0].maps:
        visited = codes[first.rows]
        assert (visited[1:] != visited[:-1]).sum() + 1 == len(set(visited.tolist()))


def test_a_curve_through_more_columns_than_a_number_has_bits_for_takes_the_widest_values() -> None:
    draw = np.random.default_rng(1)
    rows, trees = rows_of(draw, 50, [20] * 40), [tree_of(draw, 20)] * 40
    runs = by_curve(rows, trees)
    assert sorted(runs.rows.tolist()) == list(range(50))


def test_a_part_at_the_end_of_a_column_of_256_places_begins_there() -> None:
    rows = Counts(
        ("a", "b"),
        (np.array([0, 255, 255, 255], dtype=np.uint8), np.arange(4, dtype=np.uint8)),
        (256, 4),
        np.ones(4, dtype=np.int64),
    )
    runs = by_splits(rows, 2)
    assert runs.low is not None
    assert runs.low[0].tolist() == [0, 255]


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6))
def test_two_people_part_where_the_widest_value_between_them_ends_nearest_to_the_middle(
    seed: int,
) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 40))
    levels = [
        np.sort(draw.choice(size - 1, int(draw.integers(0, size)), replace=False))
        for _ in range(int(draw.integers(0, 4)))
    ]
    before, after = sorted(draw.choice(size, 2, replace=False).tolist())
    rows = Counts(("age",), (np.array([before, after]),), (size,), np.array([2, 2]))
    runs = by_splits(rows, 2, [levels])
    assert runs.low is not None and runs.high is not None  # noqa: PT018
    end = int(runs.high[0, 0])
    assert runs.low.tolist() == [[0, end + 1]]
    assert before <= end < after
    inside = [[place for place in range(before, after) if place in own] for own in levels]
    widest = next((own for own in reversed(inside) if own), list(range(before, after)))
    middle = (before + after - 1) / 2
    assert end in widest
    assert abs(end - middle) == min(abs(place - middle) for place in widest)


def test_ranges_end_where_nobody_tells_them_to() -> None:
    """People who move without passing each other or the end of a value of the hierarchy show the
    same ranges.
    """
    ages = {(11, 13, 27, 31, 58, 59, 84, 91), (18, 19, 22, 38, 52, 56, 81, 99)}
    shown = set()
    for own in ages:
        frame = pl.DataFrame({"age": [str(age) for age in own], "ill": list("uvuvuvuv")})
        table = shoal.table(frame, quasi=["age"], sensitive=["ill"], hierarchies={"age": AGES})
        method = Coincident(("2-diversity of ill",), 2, ranges="boundary")
        shown.add(tuple(method.release(table).table["age"].unique(maintain_order=True).to_list()))
    assert len(shown) == 1


@pytest.mark.parametrize("closed", ["left", "right"])
def test_a_range_of_whole_numbers_has_the_far_end_of_its_domain(closed: str) -> None:
    texts = (
        ["[0, 5)", "[5, 10)", "[10, 15)", "[15, 20]"]
        if closed == "left"
        else ["[0, 5]", "(5, 10]", "(10, 15]", "(15, 20]"]
    )
    tree = Hierarchy.from_lines([[text, "*"] for text in texts], Kind.FLOAT)
    frame = pl.DataFrame({"pay": [0, 1, 6, 7, 12, 13, 19, 20], "ill": list("uvuvuvuv")})
    table = shoal.table(
        frame, quasi=["pay"], sensitive=["ill"], hierarchies={"pay": tree}, types={"pay": "integer"}
    )
    method = Coincident(("2-diversity of ill",), 4, ranges="boundary")
    shown = set(method.release(table).table["pay"].to_list())
    assert shown == (
        {"0-9", "10-20 or missing"} if closed == "left" else {"0-10", "11-20 or missing"}
    )


def test_splits_fall_between_groups() -> None:
    rows = Counts(("age",), (np.arange(12, dtype=np.uint8),), (12,), np.full(12, 2))
    runs = by_splits(rows, 3)
    assert runs.rows.tolist() == sorted(runs.rows.tolist())
    assert runs.part is not None
    ends = np.cumsum(runs.counts)[np.flatnonzero(np.diff(runs.part, append=-1))]
    assert (ends % 3 == 0).all()


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.sampled_from(SCHEMES))
def test_groups_are_whole_leaves_or_interleaved_halves_and_all_safe(
    seed: int, scheme: Scheme
) -> None:
    draw = np.random.default_rng(seed)
    leaves, values = int(draw.integers(1, 40)), int(draw.integers(2, 5))
    bag = draw.integers(0, values, (2 * leaves, 2))

    def safe(numbers: Any, groups: int) -> Any:
        return np.array(
            [len(set(bag[numbers == group].ravel().tolist())) >= 2 for group in range(groups)],
            dtype=np.bool_,
        )

    depth = int(draw.integers(0, 4))
    if len(set(bag.ravel().tolist())) < 2:
        with pytest.raises(InfeasibleError):
            merged(leaves, safe, scheme, depth, Seeded(seed))
        return
    groups = merged(leaves, safe, scheme, depth, Seeded(seed))
    assert safe(groups, int(groups.max()) + 1).all()
    sizes = set(np.bincount(groups[groups != LEFT_OUT]).tolist())
    block = 6 if scheme == "interleaved" else 2
    tree, siblings = shaped(leaves, scheme, depth)
    allowed = {2, 2 * leaves, *(block * prod(siblings[:at]) for at in range(len(siblings) + 1))}
    allowed |= {3} if block == 6 else set()
    allowed |= {2 << level for level in range(9)} if scheme in ("UU", "UA") else set()
    assert sizes <= allowed
    assert (groups == LEFT_OUT).sum() in (0, 2 * (leaves - tree))


def test_a_tree_halves_first_then_takes_small_primes_and_leaves_few_over() -> None:
    assert shaped(1885, "forest", 8) == (1792, [2] * 8 + [7])
    assert shaped(1885, "forest", 4) == (1872, [2] * 4 + [3, 3, 13])
    assert shaped(1885, "interleaved", 2) == (1872, [2] * 2 + [2, 2, 3, 13])
    assert [shaped(leaves, "forest", 3)[0] for leaves in range(6)] == [0, 1, 2, 2, 4, 4]
    for leaves in (1, 2, 3, 7, 87, 100, 1885, 10_007, 1_000_003):
        tree, siblings = shaped(leaves, "forest", best_depth(leaves, "forest"))
        assert prod(siblings) == tree
        assert leaves - tree <= max(leaves / 20, 1)
        assert max(siblings, default=2) <= 13


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("order", "ranges"),
    [("splits", None), ("splits", "boundary"), ("splits", "hierarchy"), ("curve", None)],
)
def test_every_group_shows_the_same_of_all_its_people_and_satisfies_the_models(
    scheme: Any, order: Any, ranges: Any
) -> None:
    method = Coincident(("2-diversity of ill",), 4, scheme, 3, order, ranges)
    release = method.release(people(), Seeded(1))
    shown = release.table.group_by("group").agg(
        pl.col("age", "town").n_unique(), pl.col("ill").n_unique().alias("values")
    )
    assert shown["age"].max() == shown["town"].max() == 1
    assert shown["values"].min() >= 2
    assert release.suppressed == 203 % 4
    assert release.table["group"].to_list() == sorted(release.table["group"].to_list())
    assert release.table["group"].n_unique() == release.facts.groups


def test_the_narrower_range_of_every_group_covers_fewer_leaves_than_either() -> None:
    """The groups are the same, as the draws are, so losses are of one group after the other."""
    table = people(400)
    made = {
        ranges: Coincident(("2-diversity of ill",), 4, ranges=ranges).release(table, Seeded(1))
        for ranges in RANGES
    }
    narrow, boundary, hierarchy = (
        shoal.judge(table, made[ranges]).losses["granularity"].normalised for ranges in RANGES
    )
    assert narrow < min(boundary, hierarchy)
    texts = {text for labels in AGES.labels for text in labels}
    shown = set(made["narrower"].table["age"].to_list())
    assert shown & texts
    assert shown - texts


def test_many_people_are_put_along_a_curve_and_the_certificate_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoal.methods.coincident.MANY", 200)

    def used(rows: int, **options: Any) -> tuple[str, str]:
        given = (
            Coincident(("2-diversity of ill",), 4, **options)
            .release(people(rows), Seeded(1))
            .certificate.parameters
        )
        return given["order"], given["ranges"]

    assert used(200) == ("splits", "narrower")
    assert used(201) == ("curve", "hierarchy")
    assert used(201, ranges="boundary") == ("splits", "boundary")
    assert used(201, order="splits") == ("splits", "narrower")
    assert used(200, order="curve") == ("curve", "hierarchy")


def test_records_may_be_left_out_instead_of_groups_that_are_safe() -> None:
    table = people(60, 1, "u" * 9 + "v")  # few groups to start with have both values
    method = Coincident(("2-diversity of ill",), 4, depth=3)
    release = method.release(table, Seeded(1))  # of 15 groups 8 fit, and fewer than 7 are safe
    assert (len(release.table), release.suppressed) == (32, 28)
    release = replace(method, spare="records").release(table, Seeded(1))
    assert (len(release.table), release.suppressed) == (32, 28)
    release = replace(method, depth=None).release(table, Seeded(1))
    assert (len(release.table), release.suppressed) == (60, 0)  # 14 fit, and one is safe


def test_people_with_the_same_values_are_put_into_groups_by_lot() -> None:
    frame = pl.DataFrame({"age": ["30"] * 8, "town": ["a"] * 8, "ill": list("uuuuvvvv")})
    table = shoal.table(frame, quasi=["age", "town"], sensitive=["ill"], hierarchies=TREES)
    method = Coincident(("1-diversity of ill",), 4)
    bags = {tuple(method.release(table, Seeded(seed)).table["ill"].to_list()) for seed in range(40)}
    assert len(bags) > 2


def test_the_usual_size_is_twice_what_the_models_ask_for() -> None:
    assert Coincident(("3-diversity of ill",)).size == 6
    assert Coincident(("3-diversity of ill", "7-anonymity")).size == 14
    assert Coincident(("entropy 3-diversity of ill",)).size == 6


def test_a_table_that_cannot_be_made_safe_is_refused_as_a_whole() -> None:
    for scheme in SCHEMES:
        with pytest.raises(InfeasibleError, match="even all records together do not satisfy"):
            Coincident(("2-diversity of ill",), 4, scheme).release(people(values="u"))
    with pytest.raises(InfeasibleError, match="fewer than 8 records"):
        Coincident(("2-diversity of ill",), 8).release(people(7))
    with pytest.raises(InfeasibleError, match="fewer than 12 records, which 3 groups have"):
        Coincident(("2-diversity of ill",), 4, "interleaved", spare="records").release(people(8))
    ill = pl.Series("ill", [*"uuuuuuuuuuuuuuuuv"])  # the last may be the one who is left out
    one_other = shoal.table(
        people(17).frame.to_native().with_columns(ill),
        quasi=["age", "town"],
        sensitive=["ill"],
        hierarchies=TREES,
    )
    refused = 0
    for seed in range(200):
        try:
            Coincident(("2-diversity of ill",), 4).release(one_other, Seeded(seed))
        except InfeasibleError as error:
            refused += "Keep this refusal secret" in str(error)
    assert 0 < refused < 40  # one of 17


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": 1}, "size"),
        ({"size": 5, "scheme": "interleaved"}, "even"),
        ({"scheme": "magic"}, "known are"),
        ({"order": "random"}, "known are"),
        ({"ranges": "observed"}, "known are"),
        ({"order": "curve", "ranges": "boundary"}, "no boundaries"),
        ({"order": "curve", "ranges": "narrower"}, "no boundaries"),
        ({"depth": -1}, "depth"),
        ({"spare": "nothing"}, "groups"),
        ({"spare": "records", "scheme": "UU"}, "leave `spare` out"),
        ({"depth": 41}, "above 40"),
        ({"models": ()}, "at least one"),
    ],
)
def test_invalid_parameters_raise(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Coincident(**{"models": ("2-diversity of ill",), **options})


def test_hierarchies_from_rows_and_a_column_called_group_are_refused_before_any_data_is_seen() -> (
    None
):
    method = Coincident(("2-diversity of ill",))
    derived = people().frame.to_native()
    table = shoal.table(
        derived,
        quasi=["age", "town"],
        sensitive=["ill"],
        hierarchies={"age": replace(AGES, derived=True), "town": TOWNS},
    )
    with pytest.raises(ShoalError, match="derived"):
        method.promise(table.schema)
    without = shoal.table(
        derived, quasi=["age", "town"], sensitive=["ill"], hierarchies={"age": AGES}
    )
    with pytest.raises(ShoalError, match="'town' has no hierarchy"):
        method.promise(without.schema)
    named = shoal.table(
        derived.rename({"town": "group"}),
        quasi=["age", "group"],
        sensitive=["ill"],
        hierarchies={"age": AGES, "group": TOWNS},
    )
    with pytest.raises(ParameterError, match="rename"):
        method.promise(named.schema)


def forged(release: Any, folder: Path, **changes: Any) -> str:
    made = replace(release, certificate=replace(release.certificate, **changes, private=True))
    folder = made.write(folder / "out").parent
    return str(shoal.verify(folder / "certificate.json", folder / "release.csv", hierarchies=TREES))


def test_verify_finds_groups_that_are_not_what_is_promised(tmp_path: Path) -> None:
    release = Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1))
    paper = release.certificate
    assert forged(release, tmp_path / "fine") == "[]"
    one = release.table["ill"][0]
    same = release.table.with_columns(
        ill=pl.when(pl.col("group") == 1).then(pl.lit(one)).otherwise(pl.col("ill"))
    )
    assert "do not satisfy" in forged(replace(release, table=same), tmp_path / "a")
    mixed = release.table.with_columns(
        town=pl.when(pl.arange(pl.len()) == 1).then(pl.lit("d")).otherwise(pl.col("town"))
    )
    assert "several values in one group" in forged(replace(release, table=mixed), tmp_path / "b")
    uneven = release.table[1:]
    assert "size that merging does not give" in forged(
        replace(release, table=uneven), tmp_path / "c"
    )
    gap = release.table.with_columns(group=pl.col("group") + (pl.col("group") > 1))
    assert "not numbered one by one" in forged(replace(release, table=gap), tmp_path / "d")
    more = {**paper.promise, "models": ["distinct 3-diversity of ill"]}
    words = Coincidence(("distinct 3-diversity of ill",)).statement
    assert "not among the parameters" in forged(
        release, tmp_path / "e", promise=more, statement=words
    )
    assert any("drawn" in what for what in unchecked(paper))


def mixed(rows: int, seed: int) -> Table:
    """A column of every kind: whole numbers, intervals, dates and text, with values that are
    missing.
    """
    draw = np.random.default_rng(seed)
    days = [date(2020, 1, 1) + timedelta(days=day) for day in range(60)]
    trees = {
        "age": shoal.hierarchy.intervals(low=-20, high=80, widths=[5, 25]),
        "pay": Hierarchy.from_lines(
            [[f"[{low}, {low + 10})", f">={low // 50 * 50}", "*"] for low in range(0, 100, 10)],
            Kind.FLOAT,
        ),
        "born": Hierarchy.from_lines([[str(day), f"{day:%Y-%m}", "*"] for day in days], Kind.DATE),
        "town": Hierarchy.from_lines(
            [[f"{one}, {two}", f"in {one}", "*"] for one in "abcd" for two in "uvw"]
        ),
    }
    own: dict[str, list[Any]] = {
        "age": draw.integers(-20, 81, rows).tolist(),
        "pay": draw.uniform(0, 100, rows).tolist(),
        "born": draw.choice(np.array(days), rows).tolist(),
        "town": draw.choice(np.array([line[0] for line in trees["town"].lines()]), rows).tolist(),
    }
    for values in own.values():
        for at in draw.choice(rows, rows // 10, replace=False).tolist():
            values[at] = None
    frame = pl.DataFrame({**own, "ill": draw.choice(list("uvw"), rows).tolist()})
    return shoal.table(frame, quasi=list(own), sensitive=["ill"], hierarchies=trees)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ranges", RANGES)
def test_verify_finds_nothing_wrong_with_any_release(
    scheme: Scheme, ranges: Ranges, tmp_path: Path
) -> None:
    for seed, names in enumerate(
        (["age", "pay", "born", "town"], ["town", "age"], ["born"], ["pay"])
    ):
        table = mixed(150, seed)
        frame = table.frame.to_native().select(*names, "ill")
        trees = {name: tree for name, tree in table.hierarchies.items() if name in names}
        some = shoal.table(frame, quasi=names, sensitive=["ill"], hierarchies=trees)
        spare: Any = "records" if scheme in ("forest", "interleaved") and seed % 2 else "groups"
        with suppress(InfeasibleError):
            release = Coincident(
                ("2-diversity of ill",),
                4,
                scheme,
                2,
                None,
                ranges,
                spare,
            ).release(some)
            release.write(tmp_path / str(seed))
            assert (
                shoal.verify(
                    tmp_path / str(seed) / "certificate.json",
                    tmp_path / str(seed) / "release.csv",
                    trees,
                )
                == []
            )


@pytest.mark.parametrize(
    "text",
    [
        "Ann or Bob, 12 Elm Street",
        "3-100",
        "3-5 or nobody",
        "{a, c}",
        "{a",
    ],
)
def test_verify_finds_labels_that_are_neither_values_of_the_hierarchy_nor_ranges(
    text: str, tmp_path: Path
) -> None:
    release = Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1))
    column = "town" if "{" in text else "age"
    said = forged(
        replace(release, table=release.table.with_columns(pl.lit(text).alias(column))), tmp_path
    )
    assert f"column '{column}' has 1 value beyond its hierarchy" in said
    assert any("'age', 'town'" in what for what in unchecked(release.certificate))
    assert not any("'age', 'town'" in what for what in unchecked(release.certificate, TREES))


def test_verify_takes_ranges_for_what_they_are_only_where_there_are_some(tmp_path: Path) -> None:
    release = Coincident(("2-diversity of ill",), 4, ranges="boundary").release(people(), Seeded(1))
    assert forged(release, tmp_path / "a") == "[]"
    assert "beyond its hierarchy" in forged(
        release,
        tmp_path / "b",
        parameters={**release.certificate.parameters, "ranges": "hierarchy"},
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"depth": 0}, "size that merging does not give"),
        ({"depth": 1000}, "not ones that the method takes"),
        ({"size": 1}, "not ones that the method takes"),
        ({"scheme": "magic"}, "not ones that the method takes"),
        ({"order": "curve"}, "not ones that the method takes"),
        ({"spare": "nothing"}, "not ones that the method takes"),
        ({"scheme": "UA", "spare": "records"}, "not ones that the method takes"),
        ({"spare": "records"}, "not a whole number"),
        ({"size": 3, "scheme": "interleaved"}, "not ones that the method takes"),
    ],
)
def test_verify_finds_parameters_that_the_method_does_not_take_or_did_not_have(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    release = Coincident(("2-diversity of ill",), 4, depth=2).release(
        people(60, 2, "uuuuv"), Seeded(1)
    )
    assert release.table["group"].value_counts()["count"].max() > 4
    assert said in forged(
        release, tmp_path, parameters={**release.certificate.parameters, **changes}
    )


def test_groups_are_numbered_by_what_they_show_and_verify_finds_it_if_not(tmp_path: Path) -> None:
    release = Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1))
    shown = release.table.group_by("group", maintain_order=True).first()
    order = [
        [int(part) if part.isdigit() else part for part in re.split("([0-9]+)", f"{age} {town}")]
        for age, town in zip(shown["age"], shown["town"], strict=True)
    ]
    assert order == sorted(order)
    last = int(release.table["group"].max())
    turned = release.table.with_columns(group=last + 1 - pl.col("group")).sort("group", "ill")
    assert "do not follow what the groups show" in forged(replace(release, table=turned), tmp_path)


def test_it_is_drawn_how_groups_that_look_alike_are_numbered() -> None:
    frame = pl.DataFrame({"town": list("abbc"), "ill": list("uwwv")})
    tree = Hierarchy.from_lines([[town, "*"] for town in "abc"])
    table = shoal.table(frame, quasi=["town"], sensitive=["ill"], hierarchies={"town": tree})
    method = Coincident(("2-diversity of ill",), 2, ranges="hierarchy")
    first = [method.release(table, Seeded(seed)).table["ill"][:2].to_list() for seed in range(40)]
    assert 0 < first.count(["u", "w"]) == 40 - first.count(["v", "w"]) < 40


def test_a_recipe_makes_it_and_judging_leaves_the_numbers_of_groups_aside(tmp_path: Path) -> None:
    people().frame.to_native().write_csv(tmp_path / "people.csv")
    for name, tree in TREES.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(";".join(line) for line in tree.lines()))
    (tmp_path / "recipe.toml").write_text("""
        source = { path = "people.csv" }
        roles = { town = "quasi", age = "quasi", ill = "sensitive" }
        hierarchies = { town = { file = "town.csv" }, age = { file = "age.csv" } }
        [method]
        name = "coincident"
        models = ["2-diversity of ill"]
        size = 4
        order = "splits"
        ranges = "narrower"
    """)
    recipe = shoal.Recipe.load(tmp_path / "recipe.toml")
    release = recipe.run()
    assert release.certificate.promise["promise"] == "coincidence"
    assert shoal.judge(recipe.table(), release).kept <= 200


def test_types_that_a_record_left_out_would_decide_are_refused() -> None:
    import pandas as pd

    frame = pd.DataFrame({"age": ["30"] * 9, "town": ["a"] * 9, "ill": [1.0, 2.0, None] * 3})
    table = shoal.table(frame, quasi=["age", "town"], sensitive=["ill"], hierarchies=TREES)
    with pytest.raises(ShoalError, match="declare it"):
        Coincident(("2-diversity of ill",), 4).promise(table.schema)


def test_the_certificate_says_what_depends_on_who_is_there_and_on_single_records() -> None:
    said = " ".join(
        Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1)).certificate.unprotected
    )
    assert "where their ranges end depends on them" in said
    assert "people who are in the table several times" in said
