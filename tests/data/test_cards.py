"""What notebooks show of tables, schemas and hierarchies."""

import pandas as pd
import polars as pl

import shoal
from shoal.data.cards import card_of_hierarchy, card_of_schema, card_of_table
from shoal.look import Zone


def test_a_table_shows_its_columns_and_what_is_said_of_its_rows() -> None:
    html = card_of_table(shoal.demo.table(200)).html()
    assert "Table of 200 rows × 10 columns" in html
    for text in ("patient", "identifying", "6 levels, 106 values", "a value of their own"):
        assert text in html, text


def test_a_column_without_a_role_says_so() -> None:
    assert "none yet" in card_of_table(shoal.table(pl.DataFrame({"age": [1]}))).html()


def test_types_that_are_read_off_the_values_are_the_owners() -> None:
    frame = pd.DataFrame({"age": pd.Series([1, "x"], dtype=object)})
    table = shoal.table(frame, quasi=["age"])
    assert "text, read off the values" in card_of_table(table).html()
    assert card_of_schema(table.schema).zone is Zone.OWNER
    declared = shoal.table(frame, quasi=["age"], types={"age": "text"})
    assert card_of_schema(declared.schema).zone is Zone.RELEASED


def test_a_table_whose_rows_are_elsewhere_is_not_asked_for_types() -> None:
    table = shoal.table(pl.LazyFrame({"age": [1, 2]}))
    assert "as it is stored" in card_of_table(table).html()


def test_many_columns_are_counted() -> None:
    frame = pl.DataFrame({f"column {n}": [n] for n in range(60)})
    assert "and 20 columns more" in card_of_table(shoal.table(frame)).html()


def test_a_hierarchy_is_a_tree_with_its_levels() -> None:
    html = card_of_hierarchy(shoal.hierarchy.intervals(0, 19, widths=[5, 10])).html()
    assert html.count("<details open>") == 1
    assert "level 2, covers 10 values" in html
    assert "<p>0, 1, 2, 3, 4</p>" in html
    assert "Public: its values and levels were declared" in html


def test_a_large_hierarchy_is_abbreviated_everywhere_alike() -> None:
    tree = shoal.hierarchy.intervals(0, 99_999, widths=[10, 100, 10_000])
    html = card_of_hierarchy(tree).html()
    assert len(html) < 16_000
    assert "and 89 more" in html
    # The last value of a level has as many values listed as the first.
    below = [part.count("level 2, covers") for part in html.split("level 3, covers")[1:]]
    assert set(below) == {11}


def test_a_hierarchy_that_was_derived_shows_no_value() -> None:
    tree = shoal.Hierarchy.from_lines([["flu", "*"], ["gout", "*"]], derived=True)
    card = card_of_hierarchy(tree)
    assert card.zone is Zone.OWNER
    assert "flu" not in card.html()
    assert repr(tree).startswith("<owner only: ")


def test_missing_values_have_a_word() -> None:
    tree = shoal.hierarchy.suppress(["f", "m"]).with_missing()
    assert "f, m, missing" in card_of_hierarchy(tree).html()
