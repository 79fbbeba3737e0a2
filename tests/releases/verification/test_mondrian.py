"""The check of Mondrian: splits and ranges that its promise allows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.releases.verification import unchecked, verify
from tests.methods.test_mondrian import MIDDLE, quasi_only


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
