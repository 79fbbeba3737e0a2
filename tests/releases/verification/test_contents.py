"""A certificate that states more than its method writes, or than it may."""

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal import KDGS, Columns, KAnonymity, Mondrian, NoisyCounts
from shoal.data.hierarchy import Hierarchy, suppress
from shoal.data.kinds import Kind
from shoal.methods.method import Method
from shoal.releases.verification import verify
from tests.releases.verification.forging import Change, Content, forge


def _forgeries() -> dict[str, tuple[Method, Change, str]]:
    people = NoisyCounts(1, "1e-3", levels={"age": 2})
    every = {
        "nothing is left open": lambda paper: paper.update(unprotected=[]),
        "a column has a note": lambda paper: paper["columns"][0].update(note="4,711 records"),
        "the file has a note": lambda paper: paper["file"].update(records=4711),
        "the number is a word": lambda paper: paper.update(number="4,711 records"),
        "the recipe is a word": lambda paper: paper.update(recipe="4,711 records"),
    }
    forgeries: dict[str, tuple[Method, Change, str]] = {}
    for called, change in every.items():
        words = "not protected" if "open" in called else "states more"
        for method in (
            people,
            KDGS(3, levels={"age": 2}),
            Columns(2, "1e-3", k=3, schema=[["sex"]]),
        ):
            forgeries[f"{method.name}: {called}"] = method, change, words
    half = "more likely than not"
    forgeries["noisy-counts: half"] = people, lambda paper: paper["derived"].update(half=11), half
    forgeries["columns: half"] = (
        Columns(2, "1e-3", schema=[["sex"]]),
        lambda paper: paper["derived"].update(half=11),
        half,
    )
    forgeries["no domain"] = (
        NoisyCounts(1, 0, levels={}),
        lambda paper: paper["levels"].pop("sex"),
        "a declared domain",
    )

    def level(paper: Content) -> None:
        paper["levels"] = paper["parameters"]["levels"] = {"age": 2, "height": 4711}

    forgeries["a level of no column"] = people, level, "states more"
    splits = Mondrian((KAnonymity(3),), splits="middle")
    forgeries["a level of splits"] = (
        splits,
        lambda paper: paper["levels"].update(age=4711),
        "which splits do not have",
    )
    forgeries["more of a model"] = (
        splits,
        lambda paper: paper["parameters"]["models"][0].update(seen=4711),
        "more of a model",
    )
    return forgeries


@pytest.mark.parametrize("which", _forgeries())
def test_a_certificate_that_states_more_than_it_may_is_found(tmp_path: Path, which: str) -> None:
    method, change, words = _forgeries()[which]
    ages = Hierarchy.from_lines([[str(age), str(age // 2), "*"] for age in range(4)], Kind.INTEGER)
    trees = {"age": ages, "sex": suppress(["f", "m"])}
    frame = pl.DataFrame({"age": [0, 1, 2, 3] * 20, "sex": ["f", "m"] * 40})
    table = method.release(shoal.table(frame, quasi=["age", "sex"], hierarchies=trees)).write(
        tmp_path
    )
    assert verify(tmp_path / "certificate.json", table) == []
    forge(tmp_path / "certificate.json", change)
    faults = verify(tmp_path / "certificate.json", table)
    assert any(words in fault for fault in faults), faults


def test_items_that_were_not_declared_cannot_have_been_bought(tmp_path: Path) -> None:
    frame = pl.DataFrame({"who": [*range(50)] * 2, "item": ["a"] * 50 + ["b"] * 50})
    method = Columns(5, "1e-3", groups=1, buying="1/2", person="who", item="item", items=["a", "b"])
    table = method.release(shoal.table(frame, identifying=["who"], insensitive=["item"])).write(
        tmp_path
    )
    assert verify(tmp_path / "certificate.json", table) == []
    forge(tmp_path / "certificate.json", lambda paper: paper["parameters"].update(items=[]))
    assert any("nobody declared" in fault for fault in verify(tmp_path / "certificate.json", table))
