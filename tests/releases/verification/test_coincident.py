"""The check of coincident generalisation: groups that merging gives, and forged ones."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import InfeasibleError
from shoal.methods.coincident import RANGES, Coincident, Ranges
from shoal.methods.coincident.schemes import (
    SCHEMES,
    Scheme,
)
from shoal.privacy.promises import Coincidence
from shoal.releases.verification import unchecked
from tests.methods.test_coincident import TREES, people


def forged(release: Any, folder: Path, **changes: Any) -> str:
    made = replace(release, certificate=replace(release.certificate, **changes, private=True))
    folder = made.write(folder / "out").parent
    return str(shoal.verify(folder / "certificate.json", folder / "release.csv", hierarchies=TREES))


def test_verify_finds_groups_that_are_not_what_is_promised(tmp_path: Path) -> None:
    release = Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1))
    paper = release.certificate
    assert forged(release, tmp_path / "fine") == "[]"
    one = release.table["ill"][0]
    same = release.table.with_columns(
        ill=pl.when(pl.col("group") == 1).then(pl.lit(one)).otherwise(pl.col("ill"))
    )
    assert "do not satisfy" in forged(replace(release, table=same), tmp_path / "a")
    mixed = release.table.with_columns(
        town=pl.when(pl.arange(pl.len()) == 1).then(pl.lit("d")).otherwise(pl.col("town"))
    )
    assert "several values in one group" in forged(replace(release, table=mixed), tmp_path / "b")
    uneven = release.table[1:]
    assert "size that merging does not give" in forged(
        replace(release, table=uneven), tmp_path / "c"
    )
    gap = release.table.with_columns(group=pl.col("group") + (pl.col("group") > 1))
    assert "not numbered one by one" in forged(replace(release, table=gap), tmp_path / "d")
    more = {**paper.promise, "models": ["distinct 3-diversity of ill"]}
    words = Coincidence(("distinct 3-diversity of ill",)).statement
    assert "not among the parameters" in forged(
        release, tmp_path / "e", promise=more, statement=words
    )
    assert any("drawn" in what for what in unchecked(paper))


def mixed(rows: int, seed: int) -> Table:
    """A column of every kind: whole numbers, intervals, dates and text, with values that are
    missing.
    """
    draw = np.random.default_rng(seed)
    days = [date(2020, 1, 1) + timedelta(days=day) for day in range(60)]
    trees = {
        "age": shoal.hierarchy.intervals(low=-20, high=80, widths=[5, 25]),
        "pay": Hierarchy.from_lines(
            [[f"[{low}, {low + 10})", f">={low // 50 * 50}", "*"] for low in range(0, 100, 10)],
            Kind.FLOAT,
        ),
        "born": Hierarchy.from_lines([[str(day), f"{day:%Y-%m}", "*"] for day in days], Kind.DATE),
        "town": Hierarchy.from_lines(
            [[f"{one}, {two}", f"in {one}", "*"] for one in "abcd" for two in "uvw"]
        ),
    }
    own: dict[str, list[Any]] = {
        "age": draw.integers(-20, 81, rows).tolist(),
        "pay": draw.uniform(0, 100, rows).tolist(),
        "born": draw.choice(np.array(days), rows).tolist(),
        "town": draw.choice(np.array([line[0] for line in trees["town"].lines()]), rows).tolist(),
    }
    for values in own.values():
        for at in draw.choice(rows, rows // 10, replace=False).tolist():
            values[at] = None
    frame = pl.DataFrame({**own, "ill": draw.choice(list("uvw"), rows).tolist()})
    return shoal.table(frame, quasi=list(own), sensitive=["ill"], hierarchies=trees)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ranges", RANGES)
def test_verify_finds_nothing_wrong_with_any_release(
    scheme: Scheme, ranges: Ranges, tmp_path: Path
) -> None:
    for seed, names in enumerate(
        (["age", "pay", "born", "town"], ["town", "age"], ["born"], ["pay"])
    ):
        table = mixed(150, seed)
        frame = table.frame.to_native().select(*names, "ill")
        trees = {name: tree for name, tree in table.hierarchies.items() if name in names}
        some = shoal.table(frame, quasi=names, sensitive=["ill"], hierarchies=trees)
        spare: Any = "records" if scheme in ("forest", "interleaved") and seed % 2 else "groups"
        with suppress(InfeasibleError):
            release = Coincident(
                ("2-diversity of ill",),
                4,
                scheme,
                2,
                None,
                ranges,
                spare,
            ).release(some)
            release.write(tmp_path / str(seed))
            assert (
                shoal.verify(
                    tmp_path / str(seed) / "certificate.json",
                    tmp_path / str(seed) / "release.csv",
                    trees,
                )
                == []
            )


@pytest.mark.parametrize(
    "text",
    [
        "Ann or Bob, 12 Elm Street",
        "3-100",
        "3-5 or nobody",
        "{a, c}",
        "{a",
    ],
)
def test_verify_finds_labels_that_are_neither_values_of_the_hierarchy_nor_ranges(
    text: str, tmp_path: Path
) -> None:
    release = Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1))
    column = "town" if "{" in text else "age"
    said = forged(
        replace(release, table=release.table.with_columns(pl.lit(text).alias(column))), tmp_path
    )
    assert f"column '{column}' has 1 value beyond its hierarchy" in said
    assert any("'age', 'town'" in what for what in unchecked(release.certificate))
    assert not any("'age', 'town'" in what for what in unchecked(release.certificate, TREES))


def test_verify_takes_ranges_for_what_they_are_only_where_there_are_some(tmp_path: Path) -> None:
    release = Coincident(("2-diversity of ill",), 4, ranges="boundary").release(people(), Seeded(1))
    assert forged(release, tmp_path / "a") == "[]"
    assert "beyond its hierarchy" in forged(
        release,
        tmp_path / "b",
        parameters={**release.certificate.parameters, "ranges": "hierarchy"},
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"depth": 0}, "size that merging does not give"),
        ({"depth": 1000}, "not ones that the method takes"),
        ({"size": 1}, "not ones that the method takes"),
        ({"scheme": "magic"}, "not ones that the method takes"),
        ({"order": "curve"}, "not ones that the method takes"),
        ({"spare": "nothing"}, "not ones that the method takes"),
        ({"scheme": "UA", "spare": "records"}, "not ones that the method takes"),
        ({"spare": "records"}, "not a whole number"),
        ({"size": 3, "scheme": "interleaved"}, "not ones that the method takes"),
    ],
)
def test_verify_finds_parameters_that_the_method_does_not_take_or_did_not_have(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    release = Coincident(("2-diversity of ill",), 4, depth=2).release(
        people(60, 2, "uuuuv"), Seeded(1)
    )
    assert release.table["group"].value_counts()["count"].max() > 4
    assert said in forged(
        release, tmp_path, parameters={**release.certificate.parameters, **changes}
    )


def test_groups_are_numbered_by_what_they_show_and_verify_finds_it_if_not(tmp_path: Path) -> None:
    release = Coincident(("2-diversity of ill",), 4).release(people(), Seeded(1))
    shown = release.table.group_by("group", maintain_order=True).first()
    order = [
        [int(part) if part.isdigit() else part for part in re.split("([0-9]+)", f"{age} {town}")]
        for age, town in zip(shown["age"], shown["town"], strict=True)
    ]
    assert order == sorted(order)
    last = int(release.table["group"].max())
    turned = release.table.with_columns(group=last + 1 - pl.col("group")).sort("group", "ill")
    assert "do not follow what the groups show" in forged(replace(release, table=turned), tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"levels": {"age": 1}}, "levels are named, which groups do not have"),
        ({"whole": True}, "no record was left out"),
        ({"columns": {"role": "sensitive"}}, "the group is not described"),
        ({"columns": {"type": "text"}}, "the group is not described"),
    ],
)
def test_verify_finds_columns_and_levels_that_the_method_does_not_have(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    release = Coincident(("2-diversity of ill",), 4).release(people(60), Seeded(1))
    columns = [dict(column) for column in release.certificate.columns]
    [group] = [column for column in columns if column["name"] == "group"]
    group |= changes.get("columns", {})
    assert said in forged(release, tmp_path, **{**changes, "columns": columns})
