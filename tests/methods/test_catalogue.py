"""The catalogue names every method once, and loads it when asked."""

import subprocess
import sys
from dataclasses import fields, is_dataclass
from inspect import signature

import pytest

from shoal.errors import ParameterError
from shoal.methods.catalogue import CATALOGUE, entries, entry_of
from shoal.methods.entry import Entry
from tests.conftest import ROOT
from tests.methods.examples import EXAMPLES
from tests.methods.test_entry import every_entry


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


OF_A_LOSS = ("aggregate", "importance", "balance")
"""Parameters of `Optimal` that are kept as parts of its loss."""


@every_entry
def test_a_method_is_a_frozen_dataclass_of_its_parameters(entry: Entry) -> None:
    assert is_dataclass(entry.method)
    assert entry.method.__dataclass_params__.frozen  # type: ignore[attr-defined]
    parameters = list(signature(entry.method).parameters)
    if entry.name == "optimal":
        parameters = [name for name in parameters if name not in OF_A_LOSS]
    assert parameters == [field.name for field in fields(entry.method)]
    assert "unit" in parameters


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_entry_says_whether_the_promise_assumes_public_choices(name: str) -> None:
    method, tables = EXAMPLES[name]
    promise = method.promise(tables().schema)
    assert entry_of(method.name).assumes_public_choices(vars(method)) is promise.public_choices
