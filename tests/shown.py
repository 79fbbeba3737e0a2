"""One of everything that notebooks show, made from a table whose every name and value is markup."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from shoal.audit import Secret
from shoal.releases.verification import Verdict
from shoal.views import View, Views, check, restore
from shoal.views.candidates import Candidate
from tests.conftest import ROOT

__all__ = ["CELL", "HOSTILE", "PUBLIC", "everything", "shown_classes", "table"]

loose: Any = shoal  # which takes more than a type checker allows

HOSTILE = "<script>alert('x')</script>\"&"
"""What would run if it were not escaped."""

CELL = "cell-of-somebody"
"""The beginning of every value of a column that only the input has."""

PUBLIC = frozenset(
    {
        "schema",
        "hierarchy",
        "release",
        "certificate",
        "verdict",
        "failing verdict",
        "forecast",
        "explanation",
        "count explanation",
        "experiment",
    }
)
"""What is not about an input that no budget paid for."""

ROWS = 120


def table() -> shoal.Table:
    """People with a name, an age, and two columns whose names and values are markup."""
    frame = pl.DataFrame(
        {
            "name": [f"{CELL} {row}" for row in range(ROWS)],
            "age": [20 + row % 10 for row in range(ROWS)],
            HOSTILE: [f"{HOSTILE}{row % 2}" for row in range(ROWS)],
            "ill": [f"{HOSTILE}{row % 3}" for row in range(ROWS)],
        }
    )
    return shoal.table(
        frame,
        identifying=["name"],
        quasi=["age", HOSTILE],
        sensitive=["ill"],
        hierarchies={
            "age": shoal.hierarchy.intervals(20, 29, widths=[5]),
            HOSTILE: shoal.hierarchy.suppress([f"{HOSTILE}{row}" for row in range(2)]),
        },
        types={"name": "text", "age": "integer", HOSTILE: "text", "ill": "text"},
    )


def everything(folder: Path) -> dict[str, Any]:
    """One of each class that notebooks show; see `shown_classes`."""
    people = table()
    ledger = shoal.Ledger.create(folder / "<script>.db", epsilon=9, delta="1e-2", witness=False)
    release = ledger.release(loose.NoisyCounts(2, "1e-3"), people, folder / "out")
    files = (folder / "out" / "certificate.json", folder / "out" / "release.csv")
    optimal = loose.Optimal(["5-anonymity"]).release(people)
    audit = shoal.Audit.new(
        folder / "audit.db",
        people.selecting(["age", HOSTILE, "ill"], types={"age": "integer"}),
        Secret("age", low=0, high=99),
        public=[HOSTILE],
    )
    lines = [[f"{CELL} {row}", "*"] for row in range(ROWS)]
    derived = shoal.Hierarchy.from_lines(lines, derived=True)
    guessing = people.selecting(people.names, hierarchies={"name": derived})
    return {
        "table": people,
        "schema": people.schema,
        "revealing schema": guessing.with_roles(quasi=people.names).schema,
        "hierarchy": people.hierarchy(HOSTILE),
        "derived hierarchy": derived,
        "release": release,
        "certificate": release.certificate,
        "verdict": shoal.verify(*files),
        "failing verdict": Verdict([HOSTILE]),
        "assessment": loose.assess(people, details=True),
        "comparison": shoal.compare(people, people),
        "preview": shoal.preview(people, models=[shoal.KAnonymity(5)]),
        "judgement": loose.judge(people, optimal, queries=3),
        "releases": shoal.compare(people, {HOSTILE: optimal, "other": optimal}),
        "forecast": shoal.forecast(
            people.schema, records=200, values={"name": 3, "ill": 3}, epsilon=1, delta="1e-6"
        ),
        "explanation": shoal.explain(1, "1e-6"),
        "count explanation": shoal.explain_counts(1, "1e-6", 5),
        "ledger": ledger,
        "account": ledger.account(),
        "audit": audit,
        "experiment": shoal.experiments.run("safepub-parameters"),
        **_views(),
    }


def _views() -> dict[str, Any]:
    """Views that expose somebody, and what restores that."""
    names = [f"{CELL} {person}" for person in range(3)]
    one = View(HOSTILE, [0, 1], [f"{CELL} flu", "cold"])
    other = View("B", [1, 2], [f"{CELL} flu", "gout"])
    views = Views(names, [one, other], notes=(HOSTILE,))
    restored = restore(
        views, ["cold", f"{CELL} flu", "gout"], [Candidate("C", frozenset({0, 1, 2}))]
    )
    return {"views": views, "checked": check(views), "restored": restored}


def shown_classes() -> Iterator[str]:
    """The names of all classes that show themselves to notebooks."""
    for path in sorted((ROOT / "src" / "shoal").rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        if "_repr_html_" not in code:
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                if any(method.name == "_repr_html_" for method in methods):
                    yield node.name
