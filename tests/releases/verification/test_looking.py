"""`verify` checks the list of what was chosen after looking, and says what it cannot check."""

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.releases.looking import LateChoice
from tests.releases.verification.forging import faults, method, people, put

NOT_A_LIST = "what the certificate lists as chosen after looking at the data is not a list of that"


def listing(*places: str) -> shoal.Release:
    made = method().release(people())
    promise = method().promise(people().schema)
    choices = [LateChoice(place) for place in places]
    return made.with_certificate(made.certificate.choosing(promise, choices))


def test_a_list_is_accepted_and_what_no_file_shows_is_said(tmp_path: Path) -> None:
    table = listing("roles", "hierarchies.age", "method.epsilon").write(tmp_path)
    verdict = shoal.verify(tmp_path / "certificate.json", table)
    assert verdict == []
    assert any("nothing but what is listed was chosen after" in end for end in verdict.unchecked)
    assert ("chosen_after_looking",) in verdict.places


def test_that_nothing_was_chosen_after_looking_is_not_checked(tmp_path: Path) -> None:
    table = listing().write(tmp_path)
    verdict = shoal.verify(tmp_path / "certificate.json", table)
    assert "that nothing was chosen after looking at the data" in verdict.unchecked


@pytest.mark.parametrize(
    "given",
    [
        [],
        [{"place": "elsewhere"}],
        [{"place": "hierarchies.nobody"}],
        [{"place": "method.nothing"}],
        [{"place": "roles", "rows": "3200"}],
        [{"place": "roles"}, {"place": "roles"}],
    ],
)
def test_anything_else_is_a_fault(given: Any, tmp_path: Path) -> None:
    assert NOT_A_LIST in faults(listing("roles"), tmp_path, put("chosen_after_looking", given))


@pytest.mark.parametrize("given", ["roles", ["roles"], [{"place": 1}]])
def test_a_list_of_other_things_is_not_a_certificate(given: Any, tmp_path: Path) -> None:
    found = faults(listing("roles"), tmp_path, put("chosen_after_looking", given))
    assert len(found) == 1
    assert "not a valid certificate" in found[0]


def test_a_promise_about_the_table_alone_has_no_such_list(tmp_path: Path) -> None:
    made = shoal.Optimal([shoal.KAnonymity(5)]).release(people())
    found = faults(made, tmp_path, put("chosen_after_looking", [{"place": "roles"}]))
    assert found == [
        "the certificate lists what was chosen after looking, "
        "but its promise does not depend on that"
    ]
    honest = shoal.verify(tmp_path / "certificate.json", made.write(tmp_path))
    assert ("chosen_after_looking",) not in honest.places
