"""The check of disclosure functions: levels of the path, and steps that were safe."""

import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import Hierarchy
from shoal.errors import (
    InfeasibleError,
)
from shoal.methods.disclosure import (
    Disclosure,
)
from shoal.privacy.models import (
    parse_model,
)
from shoal.privacy.promises import Coincidence
from shoal.releases.release import Release
from shoal.releases.verification import unchecked
from tests.methods.test_disclosure import DIVERSE, TREES, table


def checked(
    release: Release,
    folder: Path,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    **changes: Any,
) -> str:
    """What verify says, once the certificate says something else."""
    paper = release.certificate
    given = {**paper.parameters, **changes.pop("parameters", {})}
    folder = folder / "out"
    replace(release, certificate=replace(paper, parameters=given, **changes, private=True)).write(
        folder
    )
    return str(shoal.verify(folder / "certificate.json", folder / "release.csv", hierarchies))


@pytest.mark.parametrize(
    "model",
    [
        "2-anonymity",
        "2-diversity of ill",
        "entropy 3/2-diversity of ill",
        "recursive (2, 2)-diversity of ill",
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"local": True},
        {"path": ["town", ["town", "sex"]]},
        {"floor": {"town": 1}, "path": ["town"], "local": True},
    ],
)
def test_verify_finds_nothing_wrong_with_any_release(
    model: str, options: dict[str, Any], tmp_path: Path
) -> None:
    draw, made = random.Random(7), 0
    for at in range(8):
        towns = "".join(draw.choices("abcd", k=draw.choice([4, 12, 40])))
        given = table(towns, draw.choices("vwxyz", k=len(towns)))
        with suppress(InfeasibleError):
            release = Disclosure((parse_model(model),), **options).release(given)
            assert checked(release, tmp_path / str(at), TREES) == "[]"
            made += 1
    assert made > 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameters": {"rule": "any"}}, "not ones that the method takes"),
        ({"parameters": {"floor": {"who": 1}}}, "not ones that the method takes"),
        ({"parameters": {"floor": {"town": -1}}}, "not ones that the method takes"),
        ({"parameters": {"path": [["who"], ["town"]]}}, "not ones that the method takes"),
        ({"parameters": {"path": [["sex"]]}, "levels": {"town": 1, "sex": 0}}, "not of the path"),
        ({"levels": {"town": 0, "sex": 1}}, "not of the path"),
        ({"levels": {"town": 0}}, "not for all columns"),
        ({"whole": False}, "records were left out"),
        (
            {
                "parameters": {
                    "models": [
                        {
                            "is": "t-closeness",
                            "column": "ill",
                            "t": "1",
                            "distance": "equal",
                            "hierarchy": None,
                        }
                    ]
                },
                "promise": Coincidence(("1-closeness of ill",)).to_dict(),
                "statement": Coincidence(("1-closeness of ill",)).statement,
            },
            "not ones that the method takes",
        ),
    ],
)
def test_verify_finds_parameters_and_levels_that_cannot_be(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    release = Disclosure(DIVERSE, path=["town", "town"]).release(table("aabb", "wxyz"))
    assert checked(release, tmp_path / "fine", TREES) == "[]"
    assert said in checked(release, tmp_path, **changes)


def test_verify_finds_levels_beyond_a_path_that_is_not_given(tmp_path: Path) -> None:
    release = Disclosure(DIVERSE).release(table("aabb", "wxyz"))
    assert "not of the path" in checked(
        release, tmp_path / "a", TREES, levels={"town": 99, "sex": 0}
    )
    assert "not of the path" in checked(
        release, tmp_path / "b", TREES, levels={"town": 0, "sex": 1}
    )
    assert any("'town', 'sex'" in what for what in unchecked(release.certificate))
    assert not any("'town', 'sex'" in what for what in unchecked(release.certificate, TREES))


@pytest.mark.parametrize("local", [False, True])
def test_verify_finds_a_step_down_that_is_not_safe_whoever_has_what(
    local: bool, tmp_path: Path
) -> None:
    """The first safe table, called that of the rule of permutations.

    And groups that go by themselves, one step too far.
    """
    release = Disclosure(DIVERSE, path=["town", "town"], rule="first-safe").release(
        table("aabb", "wxwx")
    )
    changes: dict[str, Any] = {"levels": {}} if local else {}
    said = checked(
        release, tmp_path, TREES, parameters={"rule": "permutations", "local": local}, **changes
    )
    assert "step 1 of the path was taken down" in said


def test_verify_finds_a_group_that_no_table_of_the_path_shows(tmp_path: Path) -> None:
    """By the path, sexes are never hidden while towns are shown."""
    release = Disclosure(DIVERSE, path=["town", ["town", "sex"]], local=True).release(
        table("aabb", "wxyz")
    )
    assert checked(release, tmp_path / "fine", TREES) == "[]"
    hidden = replace(release, table=release.table.with_columns(sex=pl.lit("*")))
    assert "a group shows values that no table of the path has" in checked(hidden, tmp_path, TREES)
