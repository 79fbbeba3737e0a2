"""The catalogue names every method once, loads it when asked, and its entries say what is true of
their classes.
"""

import subprocess
import sys
from dataclasses import fields, is_dataclass
from inspect import signature

import pytest

from shoal.data.schema import Role
from shoal.errors import ParameterError
from shoal.methods.catalogue import CATALOGUE, entries, entry_of
from shoal.methods.entry import Entry
from tests.conftest import ROOT

every_entry = pytest.mark.parametrize("entry", list(entries()), ids=list(CATALOGUE))


def test_entries_are_listed_under_the_names_of_their_methods() -> None:
    assert [entry.name for entry in entries()] == list(CATALOGUE)
    assert len({entry.method for entry in entries()}) == len(CATALOGUE)


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="there is no method 'x'; known are 'safepub'"):
        entry_of("x")


def test_a_method_is_loaded_when_it_is_asked_for() -> None:
    program = (
        "import sys; from shoal.methods.catalogue import CATALOGUE, entry_of\n"
        "assert 'shoal.methods.safepub' not in sys.modules\n"
        "entry_of('sampling')\n"
        "assert 'shoal.methods.sampling' in sys.modules\n"
        "assert 'shoal.methods.safepub' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT / "src", check=True)


@every_entry
def test_a_method_is_a_frozen_dataclass_of_its_parameters(entry: Entry) -> None:
    assert is_dataclass(entry.method)
    assert entry.method.__dataclass_params__.frozen  # type: ignore[attr-defined]
    parameters = list(signature(entry.method).parameters)
    assert parameters == [field.name for field in fields(entry.method)]
    assert "unit" in parameters


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
