"""The check of personal generalisation: the utility that every record keeps."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.methods.personal import Personal
from shoal.privacy.promises import LowestRisk
from shoal.releases.release import Release
from shoal.releases.verification import unchecked
from tests.methods.test_personal import TREES, some_people
from tests.releases.verification.forging import Change, both, faults, put


def forged(release: Any, folder: Path, **changes: Any) -> list[str]:
    """What verify finds where the parameters or the promise on the certificate were changed."""
    made = replace(release, certificate=replace(release.certificate, **changes, private=True))
    folder = made.write(folder / "out").parent
    return shoal.verify(folder / "certificate.json", folder / "release.csv", hierarchies=TREES)


def test_verify_finds_records_that_keep_too_little_and_promises_other_than_the_parameters(
    tmp_path: Path,
) -> None:
    release = Personal("0.5", measure="log").release(some_people(1, 40), Seeded(1))
    paper = release.certificate
    assert forged(release, tmp_path / "fine") == []
    lifted = {**paper.parameters, "utility": "9/10"}
    more = {**paper.promise, "utility": "0.9"}
    assert "not that of the parameters" in str(forged(release, tmp_path / "a", parameters=lifted))
    statement = LowestRisk("0.9", "exact", "log", "fixed", "table").statement
    told = forged(release, tmp_path / "b", parameters=lifted, promise=more, statement=statement)
    assert "keep less utility than is promised" in str(told)
    odd = replace(release, table=release.table.with_columns(town=pl.lit("Atlantis")))
    assert "that its hierarchy does not have" in str(forged(odd, tmp_path / "c"))
    assert any("lower risk" in what for what in unchecked(paper, TREES))
    assert any("hierarchies of" in what for what in unchecked(paper))


@cache
def release() -> Release:
    return Personal("1/2", measure="log", choice="choice").release(some_people(1, 40))


def wish(**changes: Any) -> dict[str, Any]:
    return {"rare": {"is": "Wish", "utility": "1/5", "weights": None, **changes}}


FORGERIES: dict[str, tuple[Change, str]] = {
    "another solver": (put("parameters.solver", "genetic"), "the promise is not that"),
    "another measure": (put("parameters.measure", "depth"), "the promise is not that"),
    "another model": (put("promise.model", "uniform"), "the promise is not that"),
    "a solver that nobody has": (
        both(put("parameters.solver", "magic"), put("promise.solver", "magic")),
        "the method takes",
    ),
    "more utility promised": (put("promise.utility", "0.9"), "the promise is not that"),
    "a wish for less": (put("parameters.wishes", wish()), "the promise is not that"),
    "a wish that is not one": (put("parameters.wishes", wish(size=3)), "the method takes"),
    "wishes of another kind": (put("parameters.wishes", wish(weights="x")), "the method takes"),
    "counted in a register": (put("promise.counted_in", "register"), "the promise is not that"),
    "a register that nobody counted in": (
        put("parameters.register", "Table"),
        "the promise is not that",
    ),
    "a register with a name": (put("parameters.register", "people.csv"), "the method takes"),
    "a choice of another type": (put("parameters.choice", 5), "the method takes"),
    "an importance of another type": (put("parameters.importance", "much"), "the method takes"),
    "a level": (put("levels", {"age": 1}), "does not give a level"),
    "records left out": (put("whole", False), "records were left out, which"),
}


@pytest.mark.parametrize(("change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_is_found(change: Change, words: str, tmp_path: Path) -> None:
    assert faults(release(), tmp_path, trees=TREES) == []
    found = faults(release(), tmp_path, change)
    assert any(words in fault for fault in found), found


@pytest.mark.parametrize("measure", ["leaves", "log", "depth"])
def test_a_record_that_keeps_too_little_is_found_by_every_measure(
    measure: Any, tmp_path: Path
) -> None:
    made = Personal("1/2", measure=measure).release(some_people(1, 40))
    assert faults(made, tmp_path, trees=TREES) == []
    hidden = [f"*,*,{line.split(',')[-1]}" for line in made.table.write_csv().splitlines()[1:]]
    found = faults(made, tmp_path, rows=lambda lines: sorted(hidden), trees=TREES)
    assert any("40 records of 40 keep less utility" in fault for fault in found), found
