"""The audit of a project: questions that are answered or denied. Uses `audit`; `ask` shows it.

The audit is a file beside the recipe, the same that `shoal audit` and `shoal serve` use.
"""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.audit import Audit, Reply
from shoal.audit.expressions import AGGREGATES, Query
from shoal.data.kinds import Kind
from shoal.errors import ParameterError, QueryError
from shoal.exact.numbers import fraction
from shoal.service import ServiceLimits
from shoal.workbench.projects import Project

__all__ = ["SIGNS", "Replied", "ask", "audit_of", "on_the_grid", "place_for_audit", "query_of"]

SIGNS = ("=", "!=", "<", "<=", ">", ">=")
"""How a condition compares a column with a value."""

CONDITIONS = 3
"""Conditions that the form has; more can be written as a text."""

_FILE = "questions.audit"


@dataclass(frozen=True)
class Replied:
    """A question and what came of it."""

    query: Query
    reply: Reply


def place_for_audit(project: Project) -> Path:
    """Where the audit of a project is kept, if the workbench makes it."""
    return project.folder / _FILE


def audit_of(project: Project) -> Audit | None:
    """The audit of a project, whoever made it; None if there is none."""
    files = sorted(project.folder.glob("*.audit"))
    own = place_for_audit(project)
    if own in files:
        return Audit.open(own)
    if len(files) > 1:
        raise ParameterError(
            "there are several audits in the folder of this project",
            f"call the one that is meant {_FILE}",
        )
    return Audit.open(files[0]) if files else None


def query_of(audit: Audit, form: Mapping[str, object]) -> Query:
    """The query that a form describes: written out, or put together from its parts."""
    given = {name: str(value).strip() for name, value in form.items()}
    aggregate = given.get("aggregate", "")
    if aggregate not in AGGREGATES:
        raise QueryError("choose what to ask for", f"known are {', '.join(AGGREGATES)}")
    column = None if aggregate == "count" else given.get("column") or None
    where = given.get("where") or " and ".join(_conditions(audit, given)) or None
    return audit.query(aggregate, column, where=where)


def _conditions(audit: Audit, given: Mapping[str, str]) -> Iterator[str]:
    for number in range(1, CONDITIONS + 1):
        name = given.get(f"by{number}", "")
        if not name:
            continue
        sign = given.get(f"sign{number}", "=")
        if name not in audit.public or sign not in SIGNS:
            raise QueryError("a condition compares a public column", "choose one from the list")
        value = _value(given.get(f"value{number}", ""), audit.public[name])
        quoted = name.replace('"', '""')
        yield f'"{quoted}" {sign} {value}'


def _value(text: str, kind: Kind) -> str:
    """A value as a query has it: a number, or a text in quotes."""
    if kind in (Kind.INTEGER, Kind.FLOAT):
        try:
            fraction(text, "value")
        except ParameterError:
            raise QueryError("this column is compared with a number", "type one") from None
        return text
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def ask(audit: Audit, query: Query, who: str) -> Replied:
    """Ask; a question that would take too long is refused, whatever its answer is."""
    return Replied(query, audit.ask(query, analyst=who, most=ServiceLimits().cost))


@contextmanager
def on_the_grid(quantum: float | None = None) -> Iterator[None]:
    """Let a block take a whole number of quanta, so that its time says little of what it did."""
    wanted = ServiceLimits().quantum if quantum is None else quantum
    start = time.monotonic()
    try:
        yield
    finally:
        spent = time.monotonic() - start
        time.sleep(math.ceil(spent / wanted) * wanted - spent)
