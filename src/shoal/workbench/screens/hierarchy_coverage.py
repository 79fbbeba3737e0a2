"""Coverage: which values of the table a hierarchy lacks, and how to mend it. Owner only.

What is added comes from the rows, and is marked so unless the owner says that anybody could know
it. Uses `trees` and the page of `hierarchies`; `app` uses it.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from shoal.data.coverage import Uncovered, uncovered_values
from shoal.data.hierarchy import Hierarchy, add_values
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import RecipeError, ShoalError
from shoal.workbench.pages import Opened, Submitted
from shoal.workbench.screens.hierarchies import COVERED, SEEN, address_of, begun, column_page
from shoal.workbench.trees import (
    TREES,
    HierarchyColumn,
    adopt,
    as_derived,
    column_of,
    columns_of,
    put,
)

__all__ = ["router"]

router = APIRouter(prefix="/p/{project}/hierarchies")

LISTED = 200
"""Missing values that are listed, at most."""


def _covering(here: Opened, column: HierarchyColumn, tree: Hierarchy) -> Table:
    return replace(here.desk.tables.bare(here.project), hierarchies={column.name: tree})


@dataclass(frozen=True)
class Coverage:
    """Which values of a table a hierarchy has; owner only.

    below, above: whether numbers or dates lie outside of the domain on that side
    """

    missing: Uncovered
    values: int
    rows: int
    below: bool = False
    above: bool = False
    groups: tuple[str, ...] = ()
    has_ends: bool = False


def _coverage(here: Opened, column: HierarchyColumn, tree: Hierarchy) -> Coverage:
    table = _covering(here, column, tree)
    missing = uncovered_values(table, column.name)
    values = sum(key is not None for key in table.keys(column.name))
    ends = column.builder == "intervals" and "file" not in column.section
    below = above = False
    if ends and missing.values:
        numbers = [float(value) for value in missing.values]
        low, high = column.section.get("low"), column.section.get("high")
        below = low is not None and min(numbers) < float(low)
        above = high is not None and max(numbers) > float(high)
    here.looked(COVERED)
    groups = tree.labels[min(1, tree.height)] if not tree.cuts else ()
    return Coverage(missing, values, table.rows, below, above, groups, ends)


@router.get("/coverage")
def coverage(here: Annotated[Opened, Depends()], column: str) -> HTMLResponse:
    """How many values of the table the saved hierarchy lacks; owner only."""
    chosen = column_of(here.draft, column)
    try:
        found = _coverage(here, chosen, TREES.of(here.draft, column))
    except ShoalError as error:
        return here.page("hierarchy_coverage.html", column=chosen, coverage=None, error=error)
    if not here.is_part:
        return column_page(here, chosen, begun(here, chosen, ""), coverage=found)
    return here.page("hierarchy_coverage.html", column=chosen, coverage=found, listed=False)


@dataclass(frozen=True)
class Lacking:
    """A column whose hierarchy lacks values of the table; owner only.

    missing: None if the hierarchy cannot be made at all
    """

    name: str
    missing: Uncovered | None
    values: int
    rows: int


@router.get("/checked")
def checked(here: Annotated[Opened, Depends()]) -> HTMLResponse:
    """The columns whose hierarchies lack values of the table; owner only."""
    here.looked(COVERED)
    table = here.desk.tables.bare(here.project)
    found = []
    for column in columns_of(here.draft):
        if not column.has or column.name not in table.names:
            continue
        values = sum(key is not None for key in table.keys(column.name))
        missing = None
        with suppress(ShoalError):
            covering = _covering(here, column, TREES.of(here.draft, column.name))
            missing = uncovered_values(covering, column.name)
        if missing is None or missing.values:
            found.append(Lacking(column.name, missing, values, table.rows))
    template = "hierarchy_checked.html" if here.is_part else "hierarchy_checked_page.html"
    return here.page(template, at="hierarchies", lacking=found)


@router.post("/missing")
def missing(here: Annotated[Opened, Depends()], given: Submitted) -> HTMLResponse:
    """The values that the saved hierarchy lacks, for the owner who asks."""
    chosen = column_of(here.draft, str(given.get("column", "")))
    found = _coverage(here, chosen, TREES.of(here.draft, chosen.name))
    here.looked(SEEN)
    if not here.is_part:
        return column_page(here, chosen, begun(here, chosen, ""), coverage=found, listed=LISTED)
    return here.page("hierarchy_coverage.html", column=chosen, coverage=found, listed=LISTED)


@router.post("/add")
def add(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Add the values that a hierarchy lacks, all or the chosen ones, below a group."""
    chosen = column_of(here.draft, str(given.get("column", "")))
    tree = TREES.of(here.draft, chosen.name)
    lacking = _coverage(here, chosen, tree).missing.values
    wanted = {str(value) for value in given.getlist("value")}
    values = [value for value in lacking if value in wanted or given.get("all")]
    to = str(given.get("to", "")).strip() or tree.labels[-1][0]
    if tree.kind is Kind.TEXT and chosen.kind not in (None, Kind.TEXT):
        tree = tree.of_kind(chosen.kind)
    grown = add_values(tree, values, to)
    put(here, chosen.name, as_derived(grown, given.get("made_from") != "public"), from_rows=True)
    return here.go(address_of(here, chosen))


@router.post("/open")
def open_end(here: Annotated[Opened, Depends()], given: Submitted) -> Response:
    """Let intervals go on beyond an end: all that lies there becomes one value.

    The end stays where it was declared, so nothing of the rows gets into the hierarchy.
    """
    chosen = column_of(here.draft, str(given.get("column", "")))
    section = dict(chosen.section)
    end, beyond = ("low", "bottom") if given.get("end") == "low" else ("high", "top")
    if chosen.builder != "intervals" or end not in section:
        raise RecipeError("the hierarchy has no such end", "build it anew")
    section.setdefault(beyond, section.pop(end))
    section.pop(end, None)
    TREES.of(here.draft, chosen.name, section)
    adopt(here, chosen.name, section)
    return here.go(address_of(here, chosen))
