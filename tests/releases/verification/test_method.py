"""The check of a method: `verify` goes by each of its fields."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.methods.optimal import Optimal
from shoal.privacy.models import TCloseness
from shoal.releases.release import Release
from shoal.releases.verification import Verdict, core
from shoal.releases.verification.catalogue import CHECKS
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.reading import TableShape
from tests.releases.verification.forging import people


@cache
def release() -> Release:
    return Optimal((TCloseness("ill", "1/4"),)).release(people(10))


def verdict_by(check: MethodCheck[Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Verdict:
    """What is found by another check of the same method."""
    path = release().write(folder)
    monkeypatch.setattr(core, "CHECKS", {**CHECKS, "optimal": check})
    return shoal.verify(folder / "certificate.json", path)


def saying(text: str) -> Callable[..., Iterator[str]]:
    return lambda *given: iter([text])


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "promises": ({"promises": ("sampled",)}, "does not promise"),
    "parameters": ({"parameters": "models suppression"}, "the certificate states"),
    "further": ({"further": ("buckets",)}, "the tables differ from those that the method makes"),
    "derivation": ({"derivation": saying("it does not follow")}, "it does not follow"),
    "released": ({"released": saying("a row is wrong")}, "a row is wrong"),
    "whole": ({"whole": lambda record: False}, "no record was left out, though some may be"),
    "variant": ({"variant": lambda record: {"starred": True}}, "stars or merging"),
    "shape": ({"shape": lambda record: TableShape(grouped_by="ill")}, "groups do not satisfy"),
}


@pytest.mark.parametrize(("changes", "words"), OTHERS.values(), ids=OTHERS)
def test_every_part_of_a_check_is_looked_at(
    changes: Mapping[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = CHECKS["optimal"]
    assert verdict_by(right, tmp_path, monkeypatch) == []
    found = verdict_by(replace(right, **changes), tmp_path, monkeypatch)
    assert any(words in fault for fault in found), found


def test_what_a_check_leaves_open_is_listed_with_its_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = OpenEnd("whether it rained", (("derived", "rain"),))
    right = CHECKS["optimal"]
    other = replace(right, trusted=lambda record, trees: iter([end]), free=saying("loss"))
    found = verdict_by(other, tmp_path, monkeypatch)
    assert found == []
    assert end.words in found.unchecked
    assert ("derived", "rain") in found.places
    assert ("parameters", "loss") in found.places
    assert ("parameters", "suppression") not in found.places
    assert ("parameters", "suppression") in verdict_by(right, tmp_path, monkeypatch).places


def test_no_check_that_is_brought_replaces_one_of_shoals_own(tmp_path: Path) -> None:
    """Or a program could let a release pass that Shoal itself refuses."""
    path = release().write(tmp_path)
    other = replace(CHECKS["optimal"], derivation=saying("it does not follow"))
    assert shoal.verify(tmp_path / "certificate.json", path, checks=[other]) == []


def test_models_are_of_the_release_itself_only_where_a_check_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closeness compares groups with the input, of which a release with gaps is not all."""
    folder = tmp_path / "out"
    dropping = Optimal((TCloseness("ill", "1/2"),), suppression="1/2").release(people(10))
    path = dropping.write(folder)
    checks = [replace(CHECKS["optimal"], models_of_release=own) for own in (False, True)]
    listed = []
    for check in checks:
        monkeypatch.setattr(core, "CHECKS", {**CHECKS, "optimal": check})
        unchecked = shoal.verify(folder / "certificate.json", path).unchecked
        listed.append(any("t-closeness" in line for line in unchecked))
    assert listed == [True, False]


def test_a_check_that_says_no_more_leaves_the_rest_as_it_is_with_most_methods() -> None:
    def nothing(*given: object) -> Iterator[Any]:
        return iter(())

    check = MethodCheck("plain", (), "", lambda claims: None, nothing, nothing, nothing)
    tables: Any = None
    assert list(check.released(None, tables)) == []
    assert check.whole(None) is False
    assert check.shape(None) == TableShape()
    assert check.variant(None) == {}
    assert (check.derived, check.further, check.models_of_release) == ("", (), False)
