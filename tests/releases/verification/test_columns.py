"""The check of columns: what follows from the parameters, and what groups may show."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.releases.sealed import canonical, seal_of
from shoal.releases.verification import unchecked
from shoal.releases.verification.columns import Composition
from tests.methods.examples import AGES, FILMS
from tests.methods.test_columns import every_method, made


@every_method
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_verify_agrees_and_finds_a_changed_byte(name: str, form: str, tmp_path: Path) -> None:
    release = made(name)
    assert len(release.table)
    path, paper = release.write(tmp_path, form), tmp_path / "certificate.json"
    assert shoal.verify(paper, path) == []
    assert shoal.verify(paper, path, {"age": AGES}) == []
    for file in (path, paper):
        content = file.read_bytes()
        for place in (len(content) // 3, len(content) // 2, len(content) - 2):
            file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            assert shoal.verify(paper, path)
        file.write_bytes(content)


def forged(tmp_path: Path, change: Callable[[dict[str, Any]], None], name: str) -> list[str]:
    """What is found wrong with a release whose certificate was changed by someone who seals it
    again.
    """
    path, paper = made(name).write(tmp_path), tmp_path / "certificate.json"
    content = {key: value for key, value in json.loads(paper.read_text()).items() if key != "seal"}
    change(content)
    paper.write_text(canonical({**content, "seal": seal_of(content)}))
    return shoal.verify(paper, path)


def _set(part: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content[part].update(values)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("long", _set("derived", epsilon_group="3"), "spend more together"),
        ("wide", _set("derived", delta_group="1/60"), "spend more together"),
        ("wide many", _set("derived", epsilon_group="0.52*ln(100)"), "spend more together"),
        (
            "long composed",
            lambda content: content["derived"].update(delta_group="1/1000"),
            "spend more together",
        ),
        ("long composed", _set("derived", composition="sum"), "not composed as"),
        ("long printed", _set("derived", scale="1/2"), "narrower"),
        ("long", _set("derived", most=2), "how many groups"),
        ("long", _set("derived", k=2), "k is not"),
        (
            "wide",
            _set("derived", schema=[["ill"], ["age", "town"]]),
            "not the one that the parameters give",
        ),
        ("long", _set("derived", schema=[FILMS[:3], FILMS[3:], FILMS[3:]]), "twice"),
        ("long bought", _set("derived", schema=[FILMS]), "not a clustering into 2"),
        ("long bought", _set("derived", epsilon_schema=None), "not paid for"),
        ("long bought", _set("derived", epsilon_columns="1.6"), "do not add up"),
        ("wide public", _set("parameters", public=None), "comes from nowhere"),
        ("wide", _set("parameters", schema=None, groups=[2]), "comes from nowhere"),
        ("wide", _set("parameters", epsilon="1"), "epsilon or delta of the promise"),
        ("wide", _set("promise", semantic_k=3), "statement"),
        ("wide persons", _set("derived", delta="1/20"), "delta of a row"),
        ("wide", _set("derived", rows_seen=300), "rows_seen"),
        ("wide bounded", _set("levels", age=1), "levels"),
        ("long printed", _set("derived", scale="99"), "wider"),
        ("long printed", _set("derived", threshold=4), "its smallest count is k"),
        ("long", _set("derived", bound=1), "smaller than epsilon and delta allow"),
        ("long", _set("derived", bound=99), "larger than epsilon and delta ask"),
        ("long", _set("derived", threshold=3), "not the bound of the noise and k"),
        ("long", _set("derived", noise="printed"), "not that of the parameters"),
        ("long", _set("parameters", noise="printed"), "not that of the parameters"),
        ("wide", _set("derived", delta_group="1e-9"), "not the one that its epsilon leaves"),
        ("wide", _set("derived", half=99), "more likely than not"),
        ("wide", _set("parameters", value="stars"), "a person goes with an item"),
        ("long", _set("parameters", item=None), "a person goes with an item"),
        ("wide", _set("parameters", groups=[2]), "not ones that the method takes"),
        ("long bought", _set("parameters", items=FILMS[1:]), "items that were not declared"),
        ("long bought", _set("parameters", items=[]), "that nobody declared"),
    ],
)
def test_a_certificate_that_does_not_follow_is_found(
    tmp_path: Path, name: str, change: Any, said: str
) -> None:
    assert any(said in fault for fault in forged(tmp_path, change, name))


@pytest.mark.parametrize("schema", [[[f"c{i}"] for i in range(4000)], "c" * 4000, ["c"] * 4000])
def test_nothing_is_computed_with_a_schema_that_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: object
) -> None:
    computed: list[object] = []
    monkeypatch.setattr(Composition, "delta", lambda self, each: computed.append(self))
    assert forged(tmp_path, _set("derived", schema=schema), "wide")
    assert not computed


def _changed(
    name: str, change: Callable[[pl.DataFrame], pl.DataFrame], tmp_path: Path
) -> list[str]:
    release = made(name)
    changed = replace(release, table=change(release.table))
    return shoal.verify(tmp_path / "certificate.json", changed.write(tmp_path, "parquet"))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "wide",
            lambda frame: frame.with_columns(ill=pl.lit("gout")),
            "'ill' has values in groups",
        ),
        (
            "wide",
            lambda frame: pl.concat(
                [frame, frame.tail(1).with_columns(ill=pl.lit(None, pl.String))]
            ),
            "no value at all",
        ),
        (
            "wide",
            lambda frame: frame.with_columns(column_group=pl.col("column_group") + 1),
            "belongs to no group",
        ),
        ("wide", lambda frame: frame.reverse(), "not in the order"),
        ("wide", lambda frame: frame.unique(maintain_order=True), "fewer than threshold = "),
        (
            "wide bounded",
            lambda frame: frame.with_columns(count=pl.lit(2)),
            "fewer than threshold = ",
        ),
        (
            "wide bounded",
            lambda frame: pl.concat([frame.head(1), frame]),
            "twice, each time with a count",
        ),
        (
            "long",
            lambda frame: frame.with_columns(film=pl.lit("film 4")),
            "schema does not have there",
        ),
        ("long", lambda frame: frame.with_columns(film=pl.lit(None, pl.String)), "lacks its item"),
        ("long", lambda frame: frame.with_columns(column_group=pl.lit(3)), "belongs to no group"),
        ("long", lambda frame: frame.with_columns(record=pl.col("record") * 2), "not numbered"),
        ("long", lambda frame: frame.with_columns(record=pl.lit(1)), "an item twice"),
        ("long", lambda frame: frame.with_columns(stars=3 - pl.col("stars")), "not in the order"),
        (
            "long",
            lambda frame: renumbered(frame, frame["record"].max() - frame["record"]),
            "not in the order",
        ),
        (
            "long overlapping",
            lambda frame: frame.with_columns(count=pl.lit(2)),
            "fewer than threshold = ",
        ),
        (
            "long overlapping",
            lambda frame: frame.with_columns(count=pl.int_range(pl.len()) + 3),
            "two counts",
        ),
        (
            "long",
            lambda frame: (
                frame.filter(pl.col("record") != 1)
                .with_columns(record=pl.col("record") - 1)
                .head(2)
            ),
            "fewer than threshold = ",
        ),
    ],
)
def test_a_table_with_something_that_may_not_be_released_is_found(
    tmp_path: Path, name: str, change: Any, said: str
) -> None:
    assert _changed(name, lambda frame: frame, tmp_path) == []
    assert any(said in fault for fault in _changed(name, change, tmp_path))


def renumbered(frame: pl.DataFrame, by: pl.Series) -> pl.DataFrame:
    """Records in another order, and numbered in it."""
    return (
        frame.with_columns(by.alias("by"))
        .sort("by", maintain_order=True)
        .with_columns(record=pl.col("by") + 1)
        .drop("by")
    )


@every_method
def test_what_cannot_be_seen_is_named(name: str) -> None:
    told = unchecked(made(name).certificate)
    assert any("nobody knows" in line for line in told)
    assert any("schema was" in line for line in told)
