"""What a hierarchy looks like: its levels in figures, and its tree."""

from shoal.data.hierarchy import Hierarchy, groups, intervals, level_figures, outline
from shoal.data.hierarchy.outline import Branch, LevelFigures

COUNTRIES = groups({"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Asia": ["JP"]})


def test_every_level_has_its_figures() -> None:
    figures = level_figures(COUNTRIES)
    assert [level.values for level in figures] == [4, 3, 2, 1]
    assert figures[1] == LevelFigures(1, 3, (1, 2), 0.5, ("West", "East", "Asia"))


def test_examples_are_the_first_values_and_the_last_one() -> None:
    assert level_figures(intervals(0, 9, widths=[5]))[0].examples == ("0", "1", "2", "9")


def test_the_outline_has_every_value_once() -> None:
    france, germany, poland = (Branch(name, (), 0) for name in ("FR", "DE", "PL"))
    europe = Branch(
        "Europe", (Branch("West", (france, germany), 0), Branch("East", (poland,), 0)), 0
    )
    # "Asia" is repeated at two levels and drawn once.
    asia = Branch("Asia", (Branch("JP", (), 0),), 0)
    assert outline(COUNTRIES, 5) == Branch("*", (europe, asia), 0)


def test_branches_beyond_the_most_are_counted() -> None:
    drawn = outline(intervals(0, 99, widths=[10]), 2)
    assert (len(drawn.below), drawn.more) == (2, 8)
    assert [(branch.label, branch.more) for branch in drawn.below] == [("0-9", 8), ("10-19", 8)]
    assert [leaf.label for leaf in drawn.below[1].below] == ["10", "11"]


def test_a_value_that_stays_the_same_up_to_the_root_is_a_leaf() -> None:
    tree = Hierarchy.from_lines([["a", "a", "*"], ["b", "c", "*"]])
    assert outline(tree, 5).below == (Branch("a", (), 0), Branch("c", (Branch("b", (), 0),), 0))
