"""The promise of a certificate: its words, its variants, and the models that it names."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import suppress
from shoal.methods.disclosure import Disclosure
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.privacy.models import DeltaPresence, DistinctDiversity, KAnonymity, Model
from shoal.releases.sealed import canonical
from shoal.releases.verification import verify
from tests.releases.verification.forging import both, forge, put

MODELS: tuple[Model, ...] = (KAnonymity(2), DistinctDiversity("ill", 2))
METHODS: dict[str, Any] = {
    "dropped": Optimal(MODELS),
    "starred": Optimal(MODELS, suppressed="star"),
    "median": Mondrian(MODELS),
    "permutations": Disclosure(MODELS),
    "first-safe": Disclosure(MODELS, rule="first-safe"),
}


def table() -> shoal.Table:
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m"] * 5, "ill": ["a", "b"] * 10})
    trees = {"sex": suppress(["f", "m"])}
    return shoal.table(frame, quasi=["sex"], sensitive=["ill"], hierarchies=trees)


def variants(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The promise with other things said of stars and merging, and what it then leaves open."""
    plain = {
        name: part for name, part in content["promise"].items() if name not in ("starred", "merged")
    }
    more: list[dict[str, Any]] = [{}, {"starred": True}, {"starred": 1}, {"merged": False}]
    more += [{"merged": 0}, {"starred": True, "merged": False}]
    return [{**plain, **parts} for parts in more]


@pytest.mark.parametrize("name", METHODS)
def test_stars_and_merging_follow_from_the_parameters(name: str, tmp_path: Path) -> None:
    path, paper = METHODS[name].release(table()).write(tmp_path), tmp_path / "certificate.json"
    assert verify(paper, path) == []
    content = json.loads(paper.read_text(encoding="utf-8"))
    elsewhere = [method.release(table()).certificate for method in METHODS.values()]
    lists = {tuple(certificate.unprotected) for certificate in elsewhere}
    assert len(lists) == 4
    holding = 0
    for promise in variants(content):
        for unprotected in lists:
            changes = [put("promise", promise), put("unprotected", list(unprotected))]
            forge(paper, both(*changes))
            honest = canonical(promise) == canonical(content["promise"])
            honest &= list(unprotected) == content["unprotected"]
            holding += honest
            assert bool(verify(paper, path)) != honest, (promise, unprotected)
    assert holding == 1


def test_a_model_that_nobody_can_check_is_promised_and_listed(tmp_path: Path) -> None:
    population = table().count(["sex"])
    method = Optimal((KAnonymity(2), DeltaPresence(0, 1, population)))
    path = method.release(table()).write(tmp_path)
    verdict = verify(tmp_path / "certificate.json", path)
    assert verdict == []
    assert "(0, 1)-presence" in str(verdict.statement)
    assert any(line.startswith("delta-presence (") for line in verdict.unchecked)
    assert ("parameters", "models", 1, "population") in verdict.places
