"""What is shown in a notebook: figures about the input say that they are for the owner only."""

import re
from dataclasses import dataclass, make_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.data.commitments import OpenedTable
from shoal.measure.loss import LOSSES
from shoal.methods.columns.wide import Drawn, NullableColumn
from shoal.methods.optimal import search
from shoal.studies.tradeoffs import tradeoff, tradeoff_of
from shoal.zones import OWNER_ONLY, brief, owner_only


@brief
@dataclass
class Many:
    values: tuple[str, ...]
    inside: Any
    text: str
    share: Fraction | None = None


@owner_only
@dataclass
class Named:
    columns: tuple[str, ...]


loose: Any = shoal  # which takes more than a type checker allows

ROWS = 1237
COUNTED = re.compile(r"1,?237")


def people(library: Any = pl.DataFrame) -> shoal.Table:
    frame = {
        "age": [20 + i % 10 for i in range(ROWS)],
        "sex": ["fm"[i % 2] for i in range(ROWS)],
        "ill": [["flu", "cold", "gout"][i % 3] for i in range(ROWS)],
    }
    return shoal.table(
        library(frame),
        quasi=["age", "sex"],
        sensitive=["ill"],
        hierarchies={
            "age": shoal.hierarchy.intervals(20, 29, widths=[5]),
            "sex": shoal.hierarchy.suppress(["f", "m"]),
        },
        types={"age": "integer", "sex": "text", "ill": "text"},
    )


def shown(folder: Path) -> dict[str, Any]:
    """One of everything public that is made from a table."""
    table = people()
    ledger = shoal.Ledger.create(folder / "ledger.db", epsilon=9, delta="1e-2")
    release = ledger.release(loose.SafePub(1, "1e-4"), table, folder / "out")
    counts = table.count(["age", "sex"])
    lattice = shoal.Lattice(counts, {name: table.hierarchy(name) for name in table.quasi})
    judged = loose.judge(table, release, queries=5)
    found = loose.assess(table, details=True, fraction="1/10")
    personal = shoal.Personal("1/2")
    return {
        "table": table,
        "column": table.records(["age"])[0],
        "schema": table.schema,
        "release": release,
        "certificate": release.certificate,
        "optimal": loose.Optimal(["5-anonymity"]).release(table),
        "buckets": shoal.Buckets("ill", shoal.Limits.formula(1, "1/2"), "multi").release(table),
        "judgement": judged,
        "compared": loose.compare(table, [release]),
        "loss": judged.losses["granularity"],
        "counted": judged.columns[0],
        "value": judged.columns[0].values[0],
        "queries": judged.queries,
        "assessment": found,
        "risk": found.prosecutor,
        "diversity": found.sensitive["ill"],
        "uniqueness": found.population_uniqueness,
        "columns": found.column_risks,
        "counts": counts,
        "lattice": lattice,
        "groups": lattice.groups((0, 0)),
        "found": search(lattice, [shoal.KAnonymity(5)], LOSSES["granularity"]),
        "ledger": ledger,
        "entry": ledger.entries()[-1],
        "account": ledger.account(),
        "spent": ledger.spent(),
        "presence": shoal.DeltaPresence(0, 1, counts),
        "method": shoal.Personal("1/2", register=table),
        "curve": tradeoff(table, personal, ["1/2"]),
        "staircase": tradeoff_of(table, personal, 0),
        "hierarchy": table.hierarchy("age"),
    }


PUBLIC = ("release", "certificate", "optimal", "buckets", "schema", "hierarchy", "ledger", "spent")
MARKED: tuple[str, ...] = (
    "table",
    "column",
    "judgement",
    "loss",
    "counted",
    "value",
    "queries",
    "assessment",
)
MARKED += ("risk", "diversity", "uniqueness", "columns", "counts", "found", "entry", "account")
MARKED += ("compared", "presence", "method", "curve", "staircase")


def test_whatever_shows_a_figure_about_the_input_says_that_it_is_for_the_owner(
    tmp_path: Path,
) -> None:
    everything = shown(tmp_path)
    for name, thing in everything.items():
        if name in ("optimal", "buckets"):
            continue  # these release every record, so the number of rows is public
        for text in (repr(thing), str(thing), getattr(thing, "_repr_html_", str)()):
            assert not COUNTED.search(text) or "owner only" in text.lower(), name
    for name in MARKED:
        assert "owner only" in repr(everything[name]), name
    for name in PUBLIC:
        assert "owner only" not in repr(everything[name]), name


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_a_release_shows_what_its_files_show(library: Any) -> None:
    release = loose.Optimal(["700-anonymity"], suppression="1/2").release(people(library))
    assert release.facts
    assert str(release.facts.loss) not in repr(release)
    number, rows = release.certificate.number, len(release.table)
    assert repr(release) == f"<shoal.Release {number} by optimal: {rows:,} rows × 3 columns>"


def test_what_a_method_keeps_of_the_rows_while_it_works_is_marked() -> None:
    column = NullableColumn(("a",), np.zeros(1, dtype=np.uint8), listed=False)
    drawn = Drawn({"column": (None, np.zeros(1, dtype=np.uint8))}, projections=3, released=1)
    for thing in (column, drawn):
        assert repr(thing).startswith(OWNER_ONLY), type(thing)


def test_a_repr_counts_what_has_parts_and_leaves_out_what_is_not_there() -> None:
    assert repr(Many(("secret",) * 2000, None, "x" * 99, Fraction(1, 3))) == (
        f"Many(values=<2,000 items>, text='{'x' * 40}…', share=1/3)"
    )


def test_names_of_columns_are_shown_where_they_are_few() -> None:
    assert repr(Named(("age", "sex"))) == "owner only: Named(columns=('age', 'sex'))"
    assert repr(Named(("age",) * 20)) == "owner only: Named(columns=<20 items>)"


def test_what_is_the_owners_keeps_its_mark_inside_of_what_is_not() -> None:
    assert repr(Many((), Named(("age",)), "")) == (
        "Many(inside=owner only: Named(columns=('age',)))"
    )


def test_a_repr_ends_after_three_lines() -> None:
    fields = [(f"number_{place}", int) for place in range(50)]
    wide: Any = brief(make_dataclass("Wide", fields))
    text = repr(wide(*range(50)))
    assert text.endswith(", …)")
    assert len(text) < 240


def test_a_key_is_not_shown() -> None:
    opened = OpenedTable(people(), "ab" * 32)
    assert "abab" not in repr(opened)


def test_the_mark_comes_once() -> None:
    assert repr(loose.assess(people())).count("owner only") == 1
