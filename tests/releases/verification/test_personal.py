"""The check of personal generalisation: the utility that every record keeps."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from shoal.chance import Seeded
from shoal.methods.personal import Personal
from shoal.privacy.promises import LowestRisk
from shoal.releases.verification import unchecked
from tests.methods.test_personal import TREES, some_people


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
