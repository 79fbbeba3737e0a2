"""The check of optimal generalisation: levels within bounds, and no more stars than allowed."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.privacy.models import (
    KAnonymity,
)
from shoal.releases.verification import verify
from tests.releases.people import AGES


@pytest.mark.parametrize(("allowed", "failing"), [("1/2", 0), ("1/100", 1)])
def test_more_stars_than_the_parameters_allow_are_a_group(
    allowed: str, failing: int, tmp_path: Path
) -> None:
    rows = pl.DataFrame({"age": [1] * 10 + [2], "ill": ["u", "v"] * 5 + ["w"]})
    table = shoal.table(rows, quasi=["age"], sensitive=["ill"], hierarchies={"age": AGES})
    starring = shoal.Optimal(
        (KAnonymity(2),), suppression="1/2", suppressed="star", ceiling={"age": 0}
    )
    made = starring.release(table)
    paper = replace(
        made.certificate, parameters={**made.certificate.parameters, "suppression": allowed}
    )
    path = replace(made, certificate=paper).write(tmp_path)
    assert len(verify(tmp_path / "certificate.json", path)) == failing
