"""Entries of the catalogue, and the lists beside them."""

from importlib import resources

from shoal.data.hierarchy.ready_made.form import ReadyMade, WrittenForm, rows


def test_the_first_form_is_taken_if_none_is_named() -> None:
    made = ReadyMade("x", "", (), {"a": WrittenForm("1"), "b": WrittenForm("2")}, "", "")
    assert made.form == "a"


def test_a_form_that_has_neither_values_nor_a_builder_is_not_listed() -> None:
    assert not WrittenForm("1", path=lambda value: ()).is_listed
    assert WrittenForm("1", leaves=lambda: ["1"], path=lambda value: ()).is_listed


def test_the_readme_names_every_list_and_every_list_is_read() -> None:
    folder = resources.files("shoal.data.hierarchy.ready_made")
    said = folder.joinpath("README.md").read_text(encoding="utf-8")
    lists = [place.name for place in folder.iterdir() if place.name.endswith(".csv")]
    assert len(lists) == 9
    for name in lists:
        assert f"`{name}`" in said
        assert next(rows(name))
