"""The check of Mondrian: splits and ranges that its promise allows."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from shoal.methods.mondrian import Mondrian
from shoal.privacy.models import KAnonymity
from shoal.releases.release import Release
from shoal.releases.verification import unchecked, verify
from tests.methods.test_mondrian import MIDDLE, quasi_only
from tests.releases.verification.forging import TREES as FORGED_TREES
from tests.releases.verification.forging import Change, faults, people, put


def test_fixed_splits_promise_semantic_anonymity_and_verify_agrees(tmp_path: Path) -> None:
    table = quasi_only([1, 2, 60, 61], ["de"] * 4)
    release = MIDDLE.release(table)
    assert (
        release.certificate.promise
        == MIDDLE.promise(table.schema).to_dict()
        == {"promise": "semantic anonymity", "k": 2}
    )
    path = release.write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []
    assert "middle" in unchecked(tmp_path / "certificate.json")[0]
    assert (
        verify(
            tmp_path / "certificate.json", MIDDLE.release(quasi_only([3], ["de"])).write(tmp_path)
        )
        == []
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameters": {"splits": "median"}}, "depend on the rows"),
        ({"parameters": {"ranges": "observed"}}, "depend on the rows"),
        ({"parameters": {"relaxed": True}}, "depend on the rows"),
        ({"parameters": {"models": [{"is": "k-anonymity", "k": 1}]}}, "the k of the promise"),
        (
            {"parameters": {"models": [{"is": "distinct-diversity", "column": "age", "l": 2}]}},
            "other models",
        ),
        ({"columns": "sensitive"}, "released unchanged"),
        ({"whole": True}, "no record was left out"),
    ],
)
def test_a_certificate_that_promises_it_of_anything_else_is_found_out(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    release = MIDDLE.release(quasi_only([1, 2, 60, 61], ["de"] * 4))
    paper = release.certificate
    made = {
        "parameters": {**paper.parameters, **changes.get("parameters", {})},
        "columns": [{**one, "role": changes.get("columns", one["role"])} for one in paper.columns],
        "whole": changes.get("whole", False),
    }
    path = replace(release, certificate=replace(paper, **made)).write(tmp_path)
    assert any(said in fault for fault in verify(tmp_path / "certificate.json", path))


@cache
def median() -> Release:
    """Splits at the median, which promise no more than the models."""
    return Mondrian((KAnonymity(3),)).release(people(10))


def test_splits_at_the_median_verify_with_and_without_hierarchies(tmp_path: Path) -> None:
    assert faults(median(), tmp_path) == []
    assert faults(median(), tmp_path, trees=FORGED_TREES) == []


FORGERIES: dict[str, tuple[Change, str]] = {
    "splits of another kind": (put("parameters.splits", "random"), "the method takes"),
    "splits in the middle, which leave records out": (
        put("parameters.splits", "middle"),
        "no record was left out",
    ),
    "ranges of another kind": (put("parameters.ranges", "wide"), "the method takes"),
    "relaxed by a word": (put("parameters.relaxed", "yes"), "the method takes"),
    "a level": (put("levels.age", 1), "does not give a level"),
    "records left out": (put("whole", False), "records were left out, which"),
}


@pytest.mark.parametrize(("change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_of_splits_at_the_median_is_found(
    change: Change, words: str, tmp_path: Path
) -> None:
    found = faults(median(), tmp_path, change)
    assert any(words in fault for fault in found), found


def test_a_text_that_is_not_a_range_is_found_with_the_hierarchy(tmp_path: Path) -> None:
    def renamed(lines: list[str]) -> list[str]:
        return sorted(line.replace(line.split(",")[1], "Ann or Bob") for line in lines)

    assert faults(median(), tmp_path, rows=renamed) == []
    found = faults(median(), tmp_path, rows=renamed, trees=FORGED_TREES)
    assert any("column 'age' has 1 value beyond its hierarchy" in fault for fault in found), found
