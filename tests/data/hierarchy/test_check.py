"""What is wrong with a hierarchy is found, all at once, and named."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.hierarchy import Hierarchy, problems, uncovered
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError
from tests.data.hierarchy.made import AGES


def names(lines: list[list[str]], kind: Kind = Kind.TEXT) -> tuple[list[str], list[str]]:
    found = problems(lines, kind)
    return [one.name for one in found.fatal], [one.name for one in found.minor]


@pytest.mark.parametrize(
    ("lines", "fatal", "minor"),
    [
        ([], ["empty"], []),
        ([[], []], ["empty"], ["blank line"]),
        ([["a"], ["b"]], ["one level"], []),
        ([["a", "*"], ["b"], ["c", "*"]], ["ragged"], []),
        ([["a", "x"], ["b", "*"]], ["two roots"], ["merges nothing"]),
        (
            [["a", "g", "x", "*"], ["b", "g", "y", "*"], ["c", "h", "y", "*"]],
            ["two paths"],
            ["merges nothing"],
        ),
        ([["a", "g", "*"], ["a", "h", "*"], ["b", "h", "*"]], ["two paths"], ["merges nothing"]),
        ([["a", "g", "*"], ["a", "g", "*"], ["b", "g", "*"]], ["duplicates"], ["merges nothing"]),
        ([["a", "g", "*"], ["b", "h", "*"]], [], ["merges nothing"]),
        ([["a", "*"], [], ["b", "*"]], [], ["blank line"]),
        ([["a", "", "*"], ["b", "g", "*"], ["c", "g", "*"]], ["blank cell"], []),
        ([["a", ""], ["b", ""]], ["blank cell"], []),
        ([["a", "g", "*"], ["", "", "*"], ["b", "g", "*"]], [], ["blank cell"]),
        ([["a ", "*"], ["b", "*"]], [], ["spaces"]),
        ([["*", "*"], ["b", "*"]], [], ["root is a value"]),
        ([["a", "*"]], [], []),
    ],
)
def test_every_problem_has_its_name(
    lines: list[list[str]], fatal: list[str], minor: list[str]
) -> None:
    assert names(lines) == (fatal, minor)
    if fatal:
        with pytest.raises(HierarchyError):
            Hierarchy.from_lines(lines)
    else:
        Hierarchy.from_lines(lines)


def test_all_problems_are_named_together_with_their_lines() -> None:
    lines = [
        ["a", "g", "*"],
        [],
        ["a", "g", "*"],
        ["b", "g"],
        ["c", "h", "x"],
        ["d", "", "*"],
        ["e", "g", "x"],
    ]
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_lines(lines)
    for part in (
        "duplicates: 'a' (lines 1 and 3)",
        "ragged: line 4",
        "2 roots: '*', 'x'",
        "'g' (becomes '*', 'x')",
        "line 6",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "kind", "fatal"),
    [
        ([["39", "*"], ["039", "*"]], Kind.INTEGER, ["duplicates"]),
        ([["39", "*"], ["x", "*"]], Kind.INTEGER, ["type"]),
        ([["39", "*"], ["40-49", "*"]], Kind.INTEGER, []),
        ([["39", "*"], ["41-49", "*"]], Kind.INTEGER, ["intervals"]),
        ([["39", "*"], ["40-49", "*"], ["45-50", "*"]], Kind.INTEGER, ["intervals"]),
        ([["39", "*"], ["40+", "*"]], Kind.INTEGER, []),
        ([["39", "*"], ["40+", "*"], ["", "*"]], Kind.INTEGER, ["intervals"]),
        ([["[0, 5[", "*"], ["[5, 9]", "*"]], Kind.FLOAT, []),
        ([["[0, 5]", "*"], ["]5, 9]", "*"]], Kind.FLOAT, []),
        ([["[0, 5]", "*"], ["[5, 9]", "*"]], Kind.FLOAT, ["intervals"]),
        ([["[0, 5)", "*"], ["(5, 9)", "*"]], Kind.FLOAT, ["intervals"]),
        ([["[0, 5)", "*"], ["[5, 7]", "*"], ["(7, 9]", "*"]], Kind.FLOAT, ["intervals"]),
        ([["(0, 5)", "*"], ["[5, 7]", "*"]], Kind.FLOAT, ["intervals"]),
        ([["[5, 0)", "*"]], Kind.FLOAT, ["type"]),
        ([["5", "*"], ["[6, 7)", "*"]], Kind.FLOAT, ["type"]),
        ([["0-1.5", "*"]], Kind.INTEGER, ["type"]),
        ([["<5", "g", "*"], ["[5, 6)", "h", "*"], [">=6", "g", "*"]], Kind.FLOAT, ["intervals"]),
        ([["2024-01-01", "*"], ["2024-13-01", "*"]], Kind.DATE, ["type"]),
    ],
)
def test_leaves_are_checked_by_their_type(
    lines: list[list[str]], kind: Kind, fatal: list[str]
) -> None:
    assert names(lines, kind)[0] == fatal


def test_values_outside_the_domain_are_found() -> None:
    assert uncovered(Hierarchy.from_lines(AGES, Kind.INTEGER), [1, 2, 12, None, 99]) == [2, 99]


@given(st.lists(st.text(string.printable, max_size=5), max_size=6), st.sampled_from(list(Kind)))
def test_any_lines_are_a_hierarchy_or_a_clear_error(cells: list[str], kind: Kind) -> None:
    lines = [cell.split(" ") for cell in cells]
    found = problems(lines, kind)
    try:
        tree = Hierarchy.from_lines(lines, kind)
    except HierarchyError:
        assert found.fatal
    else:
        assert not found.fatal
        assert sorted(tree.lines()) == sorted(line for line in lines if line)
