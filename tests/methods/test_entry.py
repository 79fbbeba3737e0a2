"""Entries of the catalogue: what they say is true of their methods, and agrees with itself."""

from dataclasses import FrozenInstanceError, replace
from inspect import signature

import pytest

from shoal.data.schema import Role
from shoal.methods.catalogue import CATALOGUE, entries
from shoal.methods.entry import AsViews, Entry
from shoal.methods.sampling import RandomSample
from tests.conftest import ROOT

every_entry = pytest.mark.parametrize("entry", list(entries()), ids=list(CATALOGUE))


@every_entry
def test_a_draft_names_parameters_of_the_method_alone(entry: Entry) -> None:
    assert entry.draft
    for line in entry.draft:
        if " = " in line and not line.startswith("#"):
            assert line.split(" = ")[0] in signature(entry.method).parameters


@every_entry
def test_an_entry_agrees_with_itself(entry: Entry) -> None:
    assert entry.summary
    assert not entry.summary.endswith(".")
    views = entry.as_views
    if views is not None:
        # Views are true of the table, so their method is truthful; what they name is released.
        assert entry.truthful
        assert views.mark is None or views.mark in entry.adds
        assert views.apart is None or views.apart in entry.tables
        assert Role.IDENTIFYING not in views.known_roles
        assert not views.drawn or entry.subset
    if entry.proof:
        assert (ROOT / "docs" / "proofs" / f"{entry.proof}.md").exists()


@every_entry
def test_a_guide_is_short_and_its_promise_a_sentence_to_one_person(entry: Entry) -> None:
    parts = vars(entry.guide)
    for name, text in parts.items():
        assert text[0].isupper(), name
        assert text.endswith(".") == (name == "promise"), name
        assert len(text) <= 130, name
        assert "|" not in text, name
    assert " you" in parts["promise"].lower().replace("your", " you")


@every_entry
def test_an_entry_goes_by_the_name_of_its_method(entry: Entry) -> None:
    assert entry.name == entry.method.name
    assert isinstance(entry.name, str)


@every_entry
def test_an_entry_is_data_that_nobody_changes(entry: Entry) -> None:
    with pytest.raises(FrozenInstanceError):
        entry.truthful = not entry.truthful  # type: ignore[misc]
    assert hash(entry) == hash(replace(entry))
    assert entry.generalises in ("quasi", "released")


def test_what_an_entry_does_not_say_is_what_most_methods_are() -> None:
    plain = Entry(RandomSample, "a sample", ("probability = ?",))
    assert plain.name == "sampling"
    assert (plain.public_algorithm, plain.truthful, plain.subset) == (True, True, False)
    assert (plain.needs_quasi, plain.needs_hierarchies) == (True, True)
    assert (plain.adds, plain.tables, plain.as_views, plain.not_judged) == ((), (), None, "")
    assert AsViews().known_roles == (Role.QUASI,)
