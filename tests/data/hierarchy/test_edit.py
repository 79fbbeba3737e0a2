"""Edited hierarchies are those that lines of a file would have made, and never a torn one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.hierarchy import (
    Hierarchy,
    add_level,
    add_values,
    difference,
    groups,
    intervals,
    merge,
    move,
    remove_level,
    remove_values,
    rename,
    suppress,
)
from shoal.errors import HierarchyError, ParameterError

EUROPE = {"Europe": {"West": ["FR", "DE"], "East": ["PL", "CZ"]}, "Asia": {"Far": ["JP", "KR"]}}


def countries() -> Hierarchy:
    return groups(EUROPE)


def path(tree: Hierarchy, value: str) -> list[str]:
    return next(line for line in tree.lines() if line[0] == value)


def test_a_group_gets_another_name() -> None:
    tree = rename(countries(), 2, "Europe", "EU")
    assert path(tree, "PL") == ["PL", "East", "EU", "*"]
    assert rename(tree, 3, "*", "any").labels[-1] == ("any",)
    assert rename(tree, 1, "East", "East") is tree


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(ParameterError, match="merge the two"):
        rename(countries(), 1, "West", "East")
    with pytest.raises(ParameterError, match="not groups"):
        rename(countries(), 0, "FR", "France")
    with pytest.raises(ParameterError, match="blank"):
        rename(countries(), 1, "West", " ")


def test_groups_are_merged_only_inside_one_group() -> None:
    tree = merge(countries(), 1, ["West", "East"], "Europe")
    assert path(tree, "CZ") == ["CZ", "Europe", "Europe", "*"]
    with pytest.raises(ParameterError, match="different groups above"):
        merge(countries(), 1, ["West", "Far"], "Both")
    assert merge(countries(), 1, ["West"], "East").cardinality(1) == 2


def test_a_value_takes_the_path_of_the_group_it_moves_to() -> None:
    tree = move(countries(), 0, ["CZ"], "Far")
    assert path(tree, "CZ") == ["CZ", "Far", "Asia", "*"]
    tree = move(countries(), 1, ["East"], "Asia")
    assert path(tree, "PL") == ["PL", "East", "Asia", "*"]


def test_a_group_that_is_left_empty_is_gone() -> None:
    tree = move(countries(), 0, ["JP", "KR"], "East")
    assert tree.labels[2] == ("Europe",)


def test_a_new_group_lies_beside_the_old_one() -> None:
    tree = move(countries(), 0, ["DE"], "Centre")
    assert path(tree, "DE") == ["DE", "Centre", "Europe", "*"]
    with pytest.raises(ParameterError, match="different groups above"):
        move(countries(), 0, ["DE", "JP"], "Centre")


def test_nothing_moves_below_the_root() -> None:
    with pytest.raises(ParameterError, match="only the root"):
        move(suppress(["f", "m"]), 0, ["f"], "g")


def test_values_are_added_to_a_group_or_a_new_one() -> None:
    tree = add_values(countries(), ["IT", "ES"], "West")
    assert path(tree, "ES") == ["ES", "West", "Europe", "*"]
    assert path(add_values(tree, ["BR"], "America"), "BR") == ["BR", "America", "America", "*"]
    assert add_values(suppress(["f"]), ["m"], "*").lines() == [["f", "*"], ["m", "*"]]
    with pytest.raises(HierarchyError, match="duplicates"):
        add_values(tree, ["FR"], "West")
    with pytest.raises(HierarchyError, match="intervals"):
        add_values(intervals(0, 1, widths=[0.5], kind="float"), ["2"], "*")


def test_values_are_removed_with_groups_that_become_empty() -> None:
    tree = remove_values(countries(), ["JP", "KR"])
    assert tree.labels[2] == ("Europe",)
    with pytest.raises(ParameterError, match="no value"):
        remove_values(suppress(["f"]), ["f"])


def test_a_level_is_added_and_removed() -> None:
    tree = add_level(countries(), 0, {"EU founders": ["FR", "DE"]})
    assert path(tree, "DE") == ["DE", "EU founders", "West", "Europe", "*"]
    assert path(tree, "JP") == ["JP", "JP", "Far", "Asia", "*"]
    assert remove_level(tree, 1).digest == countries().digest
    with pytest.raises(ParameterError, match="different groups above"):
        add_level(countries(), 0, {"x": ["FR", "JP"]})
    with pytest.raises(ParameterError, match="not in it"):
        add_level(countries(), 0, {"JP": ["FR", "DE"]})
    with pytest.raises(ParameterError, match="stay"):
        remove_level(tree, 0)


def test_intervals_stay_an_axis() -> None:
    tree = intervals(0, 1, widths=[0.25, 0.5], kind="float")
    named = rename(tree, 1, "[0, 0.5)", "low")
    assert named.cuts == tree.cuts
    assert named.find(0.3) == 1
    cut = remove_level(add_level(tree, 0), 1)
    assert cut.digest == tree.digest
    wide = add_level(tree, 0, {"low end": ["[0, 0.25)", "[0.25, 0.5)"]})
    assert wide.labels[1][0] == "low end"


def test_what_is_derived_stays_derived() -> None:
    tree = Hierarchy.from_lines([["a", "A", "*"], ["b", "B", "*"]], derived=True)
    assert rename(tree, 1, "A", "C").derived
    assert add_values(tree, ["c"], "A").derived


ACTS: dict[str, Callable[[Hierarchy], Hierarchy]] = {
    "move": lambda tree: move(tree, 0, ["secret"], "West"),
    "rename": lambda tree: rename(tree, 1, "secret", "West"),
    "merge": lambda tree: merge(tree, 1, ["secret", "West"], "x"),
    "remove": lambda tree: remove_values(tree, ["secret"]),
}


@pytest.mark.parametrize("act", ACTS)
def test_no_message_names_a_label(act: str) -> None:
    with pytest.raises(ParameterError) as refused:
        ACTS[act](countries())
    assert "secret" not in str(refused.value)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Hierarchy, Hierarchy]:
    """A random hierarchy, and the same after some edits that were possible."""
    leaves = draw(st.integers(2, 8))
    fine = draw(st.lists(st.integers(0, 3), min_size=leaves, max_size=leaves))
    coarse = draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))
    lines = [[f"v{leaf}", f"g{group}", f"h{coarse[group]}", "*"] for leaf, group in enumerate(fine)]
    first = tree = Hierarchy.from_lines(lines)
    for _ in range(draw(st.integers(0, 4))):
        level = draw(st.integers(0, tree.height - 1))
        label = draw(st.sampled_from(tree.labels[level]))
        other = draw(st.sampled_from([*tree.labels[min(level + 1, tree.height)], "new"]))
        act = draw(st.sampled_from(["move", "rename", "merge", "add", "remove"]))
        try:
            if act == "move":
                tree = move(tree, level, [label], other)
            elif act == "rename":
                tree = rename(tree, level, label, draw(st.sampled_from(["x", "y"])))
            elif act == "merge":
                tree = merge(tree, level, [label, draw(st.sampled_from(tree.labels[level]))], "m")
            elif act == "add":
                tree = add_level(tree, level, {"n": [label]})
            else:
                tree = remove_level(tree, level)
        except ParameterError:
            continue
    return first, tree


@given(edited())
def test_every_edit_gives_a_sound_hierarchy(pair: tuple[Hierarchy, Hierarchy]) -> None:
    _, tree = pair
    again = Hierarchy.from_lines(tree.lines())
    assert again.digest == tree.digest
    assert again.labels == tree.labels
    assert [codes.tolist() for codes in again.maps] == [codes.tolist() for codes in tree.maps]


@given(edited())
def test_hierarchies_differ_if_and_only_if_a_difference_is_found(
    pair: tuple[Hierarchy, Hierarchy],
) -> None:
    before, after = pair
    assert difference(before, after).is_none == (before.digest == after.digest)
