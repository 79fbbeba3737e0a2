"""The check of optimal generalisation: levels within bounds, and no more stars than allowed."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.privacy.models import (
    KAnonymity,
)
from shoal.releases.release import Release
from shoal.releases.verification import verify
from tests.releases.people import AGES
from tests.releases.verification.forging import TREES, Change, faults, people, put, without


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


@cache
def release(suppressed: Any = "drop") -> Release:
    """A release at level 1 of the age and 0 of the sex, of which a tenth may be suppressed."""
    method = shoal.Optimal(
        (KAnonymity(3),), suppression="1/10", floor={"age": 1}, suppressed=suppressed
    )
    return method.release(people(10))


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_a_release_verifies_with_and_without_hierarchies(suppressed: str, tmp_path: Path) -> None:
    assert release(suppressed).certificate.levels == {"age": 1, "sex": 0}
    assert faults(release(suppressed), tmp_path) == []
    assert faults(release(suppressed), tmp_path, trees=TREES) == []


def test_starred_records_verify_with_and_without_hierarchies(tmp_path: Path) -> None:
    """A star is not a label of its columns at the levels of the others."""
    method = shoal.Optimal(
        (KAnonymity(3),), suppression="1/10", suppressed="star", ceiling={"age": 1, "sex": 0}
    )
    frame = pl.DataFrame(
        {"age": [31] * 10 + [59], "sex": ["f"] * 10 + ["m"], "ill": ["flu", "gout"] * 5 + ["flu"]}
    )
    table = shoal.table(frame, quasi=["age", "sex"], sensitive=["ill"], hierarchies=TREES)
    starred = method.release(table)
    assert "*,*,flu" in starred.write(tmp_path).read_text(encoding="utf-8")
    assert faults(starred, tmp_path) == []
    assert faults(starred, tmp_path, trees=TREES) == []


FORGERIES: dict[str, tuple[Change, str]] = {
    "a level below its floor": (put("levels.age", 0), "which the parameters do not allow"),
    "a level above its ceiling": (
        put("parameters.ceiling", {"age": 0}),
        "which the parameters do not allow",
    ),
    "a level too few": (without("levels.sex"), "does not give a level"),
    "a level too many": (put("levels.ill", 0), "does not give a level"),
    "a loss of another type": (put("parameters.loss", 5), "the method takes"),
    "a loss without a name": (put("parameters.loss", {}), "the method takes"),
    "a share that is not one": (put("parameters.suppression", "few"), "the method takes"),
    "records suppressed otherwise": (put("parameters.suppressed", "hide"), "the method takes"),
    "a floor below none": (put("parameters.floor", {"age": -1}), "the method takes"),
    "no record left out": (put("whole", True), "no record was left out"),
    "nothing to suppress": (put("parameters.suppression", "0"), "records were left out, which"),
    "stars that are not promised": (put("parameters.suppressed", "star"), "stars or merging"),
}


@pytest.mark.parametrize(("change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_is_found(change: Change, words: str, tmp_path: Path) -> None:
    found = faults(release(), tmp_path, change)
    assert any(words in fault for fault in found), found


def test_a_group_that_does_not_satisfy_the_models_is_found(tmp_path: Path) -> None:
    def cut(lines: list[str]) -> list[str]:
        """All but two rows of the first group."""
        group = lines[0].rpartition(",")[0]
        return lines[:2] + [line for line in lines if not line.startswith(group)]

    [fault] = faults(release(), tmp_path, rows=cut)
    assert fault.startswith("1 of 4 groups do not satisfy k-anonymity")
