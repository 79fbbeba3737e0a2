"""Releases of SafePub with their certificates, and what a forger does to them."""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.methods.safepub import SafePub
from shoal.releases.release import Release
from shoal.releases.sealed import canonical, seal_of

AGES = Hierarchy.from_lines(
    [[f"0{a}", f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(30, 60)], Kind.INTEGER
)
SEXES = Hierarchy.from_lines([["m", "*"], ["f", "*"]])
ILLS = Hierarchy.from_lines([["flu", "lung", "*"], ["cold", "lung", "*"], ["gout", "joint", "*"]])
TREES = {"age": AGES, "sex": SEXES}

Content = dict[str, Any]
Change = Callable[[Content], object]


def people(each: int = 400, **options: Any) -> Table:
    """Few kinds of people, and many of each: every release has groups."""
    kinds = [*product(["f", "m"], [31, 45], ["flu", "gout"])] * each
    sexes, ages, ills = (list(values) for values in zip(*kinds, strict=True))
    frame = pl.DataFrame(
        {"who": [i // 2 for i in range(len(kinds))], "sex": sexes, "age": ages, "ill": ills}
    )
    roles: dict[str, Any] = {"identifying": ["who"], "quasi": ["sex", "age"], "sensitive": ["ill"]}
    roles["rows_are_people"] = True  # where no unit is named
    return shoal.table(frame, **{**roles, "hierarchies": TREES, **options})


def method(**options: Any) -> SafePub:
    return SafePub(**{"epsilon": 2, "delta": "1e-4", "levels": {"age": 1, "sex": 0}, **options})


SEARCHED = {"levels": None}
METHODS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "searched": SEARCHED,
    "walked": {**SEARCHED, "search": "walk"},
    "probabilistic": {"definition": "probabilistic"},
    "few drawn": {"beta": "1/10"},
    "few drawn, probabilistic": {"definition": "probabilistic", "beta": "1/3"},
    "many drawn": {"beta": "9/10"},
    "chosen": {**SEARCHED, "beta": "auto"},
    "chosen by a public number": {"beta": "auto", "records": 3200},
    "ln": {**SEARCHED, "epsilon": "ln(9)", "split": "1/2"},
    "by person": {**SEARCHED, "definition": "standard", "unit": "who", "rows": 2},
    "one row a person": {"definition": "standard", "unit": "who"},
    "bounded": {**SEARCHED, "floor": {"sex": 0}, "ceiling": {"age": 1, "sex": 0}},
    "nothing to choose": {
        **SEARCHED,
        "floor": {"age": 1, "sex": 0},
        "ceiling": {"age": 1, "sex": 0},
    },
    "at the root": {**SEARCHED, "floor": {"age": 2, "sex": 1}},
}


@cache
def released(name: str) -> Release:
    """A release by one of the methods, made once."""
    return method(**METHODS[name]).release(people())


def forge(
    paper: Path,
    change: Change,
    table: Path | None = None,
    rows: Callable[[list[str]], list[str]] | None = None,
) -> None:
    """Change a certificate, and its table if asked for, and seal it anew."""
    content = json.loads(paper.read_text(encoding="utf-8"))
    del content["seal"]
    if table and rows:
        head, *lines = table.read_text(encoding="utf-8").splitlines()
        table.write_text("".join(f"{line}\n" for line in (head, *rows(lines))), encoding="utf-8")
        content["file"]["sha256"] = hashlib.sha256(table.read_bytes()).hexdigest()
    change(content)
    paper.write_text(canonical({**content, "seal": seal_of(content)}), encoding="utf-8")


def put(place: str, value: Any) -> Change:
    """The change that puts a value into a place such as "derived.k"."""

    def change(content: Content) -> None:
        *path, last = place.split(".")
        for key in path:
            content = content[key]
        content[last] = value

    return change


def both(*changes: Change) -> Change:
    return lambda content: [change(content) for change in changes]


def faults(
    release: Release,
    folder: Path,
    change: Change = lambda content: None,
    rows: Callable[[list[str]], list[str]] | None = None,
    trees: Mapping[str, Hierarchy] | None = None,
) -> list[str]:
    """What verify finds in a release whose certificate, or whose rows, somebody changed."""
    table = release.write(folder)
    forge(folder / "certificate.json", change, table, rows)
    return shoal.verify(folder / "certificate.json", table, trees)


def without(place: str) -> Change:
    """The change that drops what is at a place such as "levels.age"."""

    def change(content: Content) -> None:
        *path, last = place.split(".")
        for key in path:
            content = content[key]
        del content[last]

    return change
