"""Releases by a tree: each claim of a certificate is compared with what follows, anew."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import ceil, exp, log
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.exact.epsilon import Epsilon
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub
from shoal.privacy.refining import refining_parameters
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.releases.verification import refined, unchecked
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.refined import TreeClaim
from tests.releases.verification.forging import (
    TREES,
    Change,
    Content,
    both,
    faults,
    people,
    put,
    without,
)

METHODS: dict[str, Any] = {
    "counts": NoisyCounts(2, "1e-4", levels="tree"),
    "counted": NoisyCounts(2, "1e-4", levels="tree", counts=True, split="1/2"),
    "samples": SafePub(4, "1e-4", search="tree", split="1/2"),
    "chosen chance": SafePub(4, "1e-4", search="tree", split="1/2", beta="auto"),
    "bounded": NoisyCounts(2, "1e-4", levels="tree", floor={"age": 1}, ceiling={"sex": 0}),
    "by person": NoisyCounts(8, "1e-4", levels="tree", unit="who", rows=2),
}
EACH = ["counts", "samples"]
each_method = pytest.mark.parametrize("name", EACH)


@cache
def released(name: str) -> Release:
    """A release of eight kinds of people, 400 of each, made once."""
    made: Release = METHODS[name].release(people())
    return made


def found(
    name: str,
    folder: Path,
    change: Change = lambda content: None,
    rows: Callable[[list[str]], list[str]] | None = None,
) -> list[str]:
    return faults(released(name), folder, change, rows, TREES)


def said(text: str, all_faults: list[str]) -> bool:
    return any(text in fault for fault in all_faults)


def steps_changed(change: Callable[[list[Any]], list[Any]]) -> Change:
    def changed(content: Content) -> None:
        tree = content["derived"]["tree"]
        tree["steps"] = change(tree["steps"])

    return changed


@pytest.mark.parametrize("name", METHODS)
def test_a_release_by_a_tree_verifies_with_and_without_hierarchies(
    name: str, tmp_path: Path
) -> None:
    assert len(released(name).table) >= 4
    assert faults(released(name), tmp_path) == []
    assert found(name, tmp_path) == []


# The noise


def tail(scale: Fraction, m: int) -> float:
    """P[z > −m], added up term by term."""
    ratio = exp(-1 / scale)
    far = 60 * ceil(scale)
    terms = [ratio ** abs(z) for z in range(-far, far + 1)]
    above = sum(weight for z, weight in zip(range(-far, far + 1), terms, strict=True) if z > -m)
    return above / sum(terms)


@pytest.mark.parametrize("steps", [1, 2, 3, 6, 15])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(77, 64), Fraction(7, 2), Fraction(9)])
def test_what_the_tests_of_the_worst_path_lose_is_the_sum_of_their_ratios(
    scale: Fraction, steps: int
) -> None:
    bias = ceil(scale)
    scores = [1 - 2 * bias + bias * turn for turn in range(steps)]
    by_terms = sum(log(tail(scale, m) / tail(scale, m - 1)) for m in scores)
    assert float(refined._lost(scale, steps)) == pytest.approx(by_terms, rel=1e-9)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "ln(9)"])
@pytest.mark.parametrize("steps", [1, 4, 40])
def test_derived_noise_is_the_narrowest_that_is_accepted(epsilon: str, steps: int) -> None:
    scale = refining_parameters(epsilon, steps).scale
    limit = Epsilon.of(epsilon).bounds()[0]
    assert refined._lost(scale, steps) <= limit
    assert refined._lost(scale - Fraction(1, 64), steps) > limit


def noise(scale: Fraction) -> Change:
    """Another scale, with the bias and the cut that belong to it."""
    return both(
        put("derived.tree.scale", str(scale)),
        put("derived.tree.bias", ceil(scale)),
        put("derived.tree.cut", 2 * ceil(scale)),
    )


@each_method
def test_other_noise_is_found(name: str, tmp_path: Path) -> None:
    scale = Fraction(released(name).certificate.derived["tree"]["scale"])
    step = Fraction(1, 64)
    assert said("too narrow", found(name, tmp_path, noise(scale - step)))
    assert said("too narrow", found(name, tmp_path, noise(scale / 2 // step * step)))
    assert said("wider than", found(name, tmp_path, noise(scale + 2 * step)))
    assert said("was not derived", found(name, tmp_path, noise(scale + step / 2)))
    assert said("too narrow", found(name, tmp_path, noise(step)))


@each_method
@pytest.mark.parametrize("part", ["bias", "cut"])
def test_another_bias_or_cut_is_found(name: str, part: str, tmp_path: Path) -> None:
    value = released(name).certificate.derived["tree"][part]
    for other in (value - 1, value + 1):
        assert said("bias or cut", found(name, tmp_path, put(f"derived.tree.{part}", other)))


@each_method
def test_a_tree_that_nobody_pays_for_is_found(name: str, tmp_path: Path) -> None:
    assert said("nothing is paid", found(name, tmp_path, put("derived.epsilon_tree", None)))


@each_method
@pytest.mark.parametrize("part", ["epsilon_search", "epsilon_order", "epsilon_tree"])
def test_parts_of_epsilon_that_do_not_add_up_are_found(
    name: str, part: str, tmp_path: Path
) -> None:
    for other in (None, "1/7", "3"):
        assert said("add up", found(name, tmp_path, put(f"derived.{part}", other)))


@pytest.mark.parametrize(
    ("name", "part"), [("counts", "epsilon_counts"), ("samples", "epsilon_anonymisation")]
)
def test_a_release_that_has_the_trees_share_too_is_found(
    name: str, part: str, tmp_path: Path
) -> None:
    epsilon = str(METHODS[name].epsilon)
    assert said("add up", found(name, tmp_path, put(f"derived.{part}", epsilon)))


def test_parts_of_a_tree_where_there_is_none_are_found(tmp_path: Path) -> None:
    searched = NoisyCounts(2, "1e-4", levels="search").release(people())
    assert faults(searched, tmp_path) == []
    for part in ("epsilon_order", "epsilon_tree"):
        assert said("add up", faults(searched, tmp_path, put(f"derived.{part}", "1/10")))


@each_method
def test_the_other_definition_is_found(name: str, tmp_path: Path) -> None:
    places = ("promise", "parameters", "derived")
    change = both(*(put(f"{place}.definition", "probabilistic") for place in places))
    assert said("does not keep the definition", found(name, tmp_path, change))


# The chain


def chain(name: str) -> list[list[Any]]:
    steps: list[list[Any]] = released(name).certificate.derived["tree"]["steps"]
    return steps


def test_the_chain_has_every_level_below_the_ceilings() -> None:
    assert sorted(chain("counts")) == [["age", 0], ["age", 1], ["sex", 0]]
    assert chain("bounded") == [["age", 1]]
    assert released("bounded").certificate.levels == {"sex": 0}


@each_method
def test_a_chain_that_ends_early_repeats_or_climbs_is_found(name: str, tmp_path: Path) -> None:
    early = [step for step in chain(name) if step != ["age", 0]]
    assert said("end at the floors", found(name, tmp_path, steps_changed(lambda _: early)))
    for change in (lambda steps: [*steps, steps[-1]], lambda steps: steps[::-1]):
        assert said("from level to level", found(name, tmp_path, steps_changed(change)))


@each_method
def test_a_chain_that_leaves_out_a_level_is_found_with_the_hierarchy(
    name: str, tmp_path: Path
) -> None:
    others = [step for step in chain(name) if step != ["age", 1]]
    leaves_out = found(name, tmp_path, steps_changed(lambda _: others))
    assert said("levels of column 'age'", leaves_out)
    higher = steps_changed(lambda steps: [["sex", 1], *steps])
    assert said("levels of column 'sex'", found(name, tmp_path, higher))


UNCLEAR = Hierarchy.from_lines(
    [["1", "2", "12", "*"], ["2", "x", "12", "*"], ["3", "3", "3", "*"]], Kind.INTEGER
)
"""Level 1 has a label of the leaves, for another leaf."""

ROOTED = Hierarchy.from_lines([["1", "*", "*"], ["2", "*", "*"]], Kind.INTEGER)
"""Level 1 has the label of the root, for the same leaves unless values may be missing."""


@pytest.mark.parametrize("tree", [UNCLEAR, ROOTED])
@pytest.mark.parametrize("missing", ["refuse", "category"])
def test_levels_that_cannot_stand_side_by_side_are_left_out(
    tree: Hierarchy, missing: Any, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"age": [1, 2, 1] * 200})
    table = shoal.table(frame, quasi=["age"], hierarchies={"age": tree}, missing=missing)
    release = METHODS["counts"].release(table)
    through = [level for _, level in release.certificate.derived["tree"]["steps"]]
    unclear = tree is UNCLEAR or missing == "category"
    assert through == [
        level for level in range(tree.height - 1, -1, -1) if level != 1 or not unclear
    ]
    assert faults(release, tmp_path, trees={"age": tree}) == []
    every = steps_changed(lambda _: [["age", level] for level in range(tree.height - 1, -1, -1)])
    if tree is UNCLEAR:
        assert said("levels of column 'age'", faults(release, tmp_path, every, trees={"age": tree}))


def test_a_chain_beside_its_bounds_is_found(tmp_path: Path) -> None:
    ceiling = put("parameters.ceiling", {"age": 1, "sex": 0})
    assert said("from level to level", found("bounded", tmp_path, ceiling))
    assert said("end at the floors", found("bounded", tmp_path, put("parameters.floor", {})))


@each_method
def test_columns_that_a_tree_cannot_refine_are_found(name: str, tmp_path: Path) -> None:
    foreign = steps_changed(lambda steps: [*steps, ["who", 0]])
    assert said("not released", found(name, tmp_path, foreign))
    assert said("a level of its own", found(name, tmp_path, put("levels", {"sex": 0})))


def test_a_level_that_had_to_be_chosen_and_was_not_refined_is_found(tmp_path: Path) -> None:
    assert said("had to be chosen", found("bounded", tmp_path, put("parameters.ceiling", {})))


@pytest.mark.parametrize(
    "change",
    [
        put("derived.tree", []),
        put("derived.tree", "deep"),
        without("derived.tree.cut"),
        put("derived.tree.depth", 3),
        put("derived.tree.threshold", "7"),
        put("derived.tree.threshold", True),
        put("derived.tree.steps", []),
        put("derived.tree.steps", {"age": 0}),
        put("derived.tree.steps", [["age"]]),
        put("derived.tree.steps", [["age", -1]]),
        put("derived.tree.steps", [["age", "0"]]),
        put("derived.tree.steps", [[0, "age"]]),
        put("derived.tree.scale", "wide"),
        put("derived.tree.scale", "0"),
        put("derived.tree.bias", 1.5),
    ],
)
def test_a_tree_that_is_none_is_found(change: Change, tmp_path: Path) -> None:
    assert found("counts", tmp_path, change)


@each_method
def test_a_tree_where_none_was_asked_for_is_found(name: str, tmp_path: Path) -> None:
    option = "levels" if name == "counts" else "search"
    other = "search" if name == "counts" else "select"
    asked = found(name, tmp_path, put(f"parameters.{option}", other))
    assert said("not chosen as the parameters say", asked)
    assert found(name, tmp_path, put("derived.tree", None))


def test_a_very_long_chain_is_answered_at_once(tmp_path: Path) -> None:
    long = steps_changed(lambda steps: [*steps, *([["age", 0]] * 20_000)])
    assert said("from level to level", found("counts", tmp_path, long))
    other = steps_changed(lambda steps: [*steps, *(["who", n] for n in range(20_000, -1, -1))])
    assert said("not released", found("counts", tmp_path, other))


# The rows


def relabelled(column: int, text: str) -> Callable[[list[str]], list[str]]:
    """The rows with another value in a column."""

    def changed(lines: list[str]) -> list[str]:
        rows = [line.split(",") for line in lines]
        for row in rows:
            row[column] = text
        return [",".join(row) for row in rows]

    return changed


@each_method
def test_a_value_that_no_level_has_is_found(name: str, tmp_path: Path) -> None:
    assert said("no level of the tree has", found(name, tmp_path, rows=relabelled(1, "035-099")))


@each_method
def test_rows_beside_the_chain_are_found(name: str, tmp_path: Path) -> None:
    """The column that is refined first is at its root, and the other one at its leaves."""
    first = chain(name)[0][0]
    column = list(released(name).table.columns).index(first)
    beside = found(name, tmp_path, rows=relabelled(column, "*"))
    assert said("does not have together", beside)


def test_rows_above_a_ceiling_are_found(tmp_path: Path) -> None:
    assert found("bounded", tmp_path, rows=relabelled(0, "*"))


def test_a_sampled_row_that_shows_nothing_is_found(tmp_path: Path) -> None:
    release = METHODS["samples"].release(people(sensitive=[], identifying=["who", "ill"]))
    assert faults(release, tmp_path, trees=TREES) == []

    def at_root(lines: list[str]) -> list[str]:
        return ["*,*"] * len(lines)

    assert said("every column at its root", faults(release, tmp_path, rows=at_root, trees=TREES))


# What the files do not show


def test_what_is_not_checked_is_listed(tmp_path: Path) -> None:
    table = released("counts").write(tmp_path)
    paper = tmp_path / "certificate.json"
    threshold, steps = ("derived", "tree", "threshold"), ("derived", "tree", "steps", 0, 0)
    bare, settled = shoal.verify(paper, table), shoal.verify(paper, table, TREES)
    assert threshold in bare.places
    assert threshold in settled.places
    assert steps in bare.places
    assert steps not in settled.places
    assert any("grown by the noise" in line for line in unchecked(paper))


def test_the_claim_reads_what_the_method_wrote() -> None:
    certificate = Certificate.from_json(released("bounded").certificate.to_json())
    claim = TreeClaim.read(Claims(certificate, (), ()))
    assert claim is not None
    assert claim.names == ("age",)
    assert claim.steps == (("age", 1),)
    assert claim.nodes({"age": TREES["age"]}) == [{"age": 2}, {"age": 1}]
    # Three tenths choose levels, five sixths of which pay for tests.
    parameters = refining_parameters(METHODS["bounded"].epsilon * Fraction(1, 4), 1)
    assert (claim.scale, claim.bias, claim.cut) == (
        parameters.scale,
        parameters.bias,
        parameters.cut,
    )


# What an attacker found


@pytest.mark.parametrize("missing", [False, True])
@each_method
def test_a_column_with_one_level_beside_a_tree_is_ordered_by_that_level(
    name: str, missing: bool, tmp_path: Path
) -> None:
    # The label "b" is also a leaf, and comes last among those of its level.
    lines = [["b1", "z", "*"], ["b", "z", "*"], ["a", "y", "*"], ["c", "b", "*"]]
    trees = {"town": Hierarchy.from_lines(lines), "sex": TREES["sex"]}
    towns = ["b1", "a", "c", None if missing else "b"] * 600
    table = shoal.table(
        pl.DataFrame({"town": towns, "sex": ["f", "f", "f", "f", "m", "m", "m", "m"] * 300}),
        quasi=["town", "sex"],
        hierarchies=trees,
        rows_are_people=True,
    )
    only: dict[str, Any] = {"floor": {"town": 1}, "ceiling": {"town": 1}}
    methods: dict[str, Any] = {
        "counts": NoisyCounts(4, "1e-3", levels="tree", **only),
        "samples": SafePub(8, "1e-3", search="tree", split="1/2", **only),
    }
    release = methods[name].release(table)
    assert {"y", "b"} <= set(release.table["town"])
    assert faults(release, tmp_path, trees=trees) == []


@each_method
def test_a_column_with_one_level_beside_a_tree_keeps_its_type(name: str) -> None:
    methods: dict[str, Any] = {
        "counts": NoisyCounts(4, "1e-3", levels="tree", ceiling={"age": 0}),
        "samples": SafePub(8, "1e-3", search="tree", split="1/2", ceiling={"age": 0}),
    }
    assert methods[name].release(people()).table["age"].dtype == pl.Int64


@each_method
def test_rows_by_another_order_of_labels_are_found_where_the_hierarchy_is_given(
    name: str, tmp_path: Path
) -> None:
    # Which order of its labels a column is sorted by could tell anything.
    def turned(lines: list[str]) -> list[str]:
        refined = [line.rsplit(",", 1) for line in lines]
        by = {texts: place for place, texts in enumerate(dict.fromkeys(row[0] for row in refined))}
        return [",".join(row) for row in sorted(refined, key=lambda row: (-by[row[0]], row[1]))]

    assert faults(released(name), tmp_path, rows=turned) == []  # any order will do without it
    assert said("not in the order of their values", found(name, tmp_path, rows=turned))


@each_method
def test_a_refined_hierarchy_that_was_made_from_rows_is_found(name: str, tmp_path: Path) -> None:
    derived = {**TREES, "age": replace(TREES["age"], derived=True)}
    all_faults = faults(released(name), tmp_path, trees=derived)
    assert said("was made from rows of a table", all_faults)


def test_the_narrowest_noise_of_all_is_accepted(tmp_path: Path) -> None:
    release = NoisyCounts(500, "1e-4", levels="tree", split="1/100").release(people())
    assert release.certificate.derived["tree"]["scale"] == "1/64"
    assert faults(release, tmp_path, trees=TREES) == []
    assert faults(release, tmp_path, put("derived.tree.scale", "0")) != []
