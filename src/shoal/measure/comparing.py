"""`compare`: two tables side by side, such as an input and its release, or two releases.

Uses `risk` and the grammar of texts.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.arguments import typed
from shoal.data.hierarchy import Hierarchy
from shoal.data.hierarchy.cover import covers
from shoal.data.tables import Table
from shoal.errors import ParameterError, plural
from shoal.look.pictures import Picture, Pictured
from shoal.measure.risk import MARKERS, Assessment, assess
from shoal.zones import NOT_FOR_RELEASE, owner_only

__all__ = ["Comparison", "Side", "compare"]


@owner_only
@dataclass(frozen=True)
class Side:
    """One of two tables.

    loss: the granularity lost by the rows it has, from 0 to 1; None if that of a column is not
    known
    losses: the same for every column of which it is known; `loss_unknown` says why it is not for
    the others
    loss_of_input, losses_of_input: over all rows of the input, if A is it: rows that are not there
    have lost everything
    values: how many distinct values every column has
    """

    assessment: Assessment
    loss: float | None
    losses: Mapping[str, float]
    loss_unknown: Mapping[str, str]
    values: Mapping[str, int]
    loss_of_input: float | None = None
    losses_of_input: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **self.assessment.to_dict(),
            "loss": self.loss,
            "losses": dict(self.losses),
            "loss_unknown": dict(self.loss_unknown),
            "values": dict(self.values),
            "loss_of_input": self.loss_of_input,
            "losses_of_input": dict(self.losses_of_input),
        }


@owner_only
@dataclass(frozen=True)
class Comparison(Pictured):
    """Two tables side by side; `a_is_input` says whether A is taken for what B was made from."""

    a: Side
    b: Side
    a_is_input: bool

    def _repr_html_(self) -> str:
        """Both tables as notebooks show them."""
        from shoal.measure.cards import card_of_comparison

        return card_of_comparison(self).html()

    def pictures(self) -> tuple[Picture, ...]:
        """The risks and the group sizes of both tables, as charts."""
        from shoal.measure.pictures import of_comparison

        return of_comparison(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        sides = {"a": self.a.to_dict(), "b": self.b.to_dict()}
        if not self.a_is_input:
            return sides
        return {**NOT_FOR_RELEASE, **sides}


@typed
def compare(
    a: Table,
    b: Table,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    unit: str | None = None,
    rows_are_people: bool = False,
    marks: Sequence[str] = (),
    a_is_input: bool = False,
    complete: Collection[str] = (),
) -> Comparison:
    """How two tables differ in records, groups, risks, values and loss.

    Groups are those of their quasi-identifying columns.

    hierarchies: of these columns; where every one has one, the loss is known
    unit: the column that tells people apart, in a table that has it
    marks: columns that number groups which may look alike, in a table that has them
    a_is_input: whether B was made from A; it is also taken for granted where nothing in A is
    generalised and A has no fewer rows
    complete: "a", "b" or both: the tables in which a row of "*" alone is a record that was
    generalised, not one that was suppressed

    >>> import polars, shoal
    >>> one = shoal.table(polars.DataFrame({"age": ["31", "34"]}), quasi=["age"])
    >>> other = shoal.table(polars.DataFrame({"age": ["*", "*"]}), quasi=["age"])
    >>> compare(one, other).a.assessment.k
    1
    """
    if not a.quasi or not b.quasi:
        raise ParameterError(
            "there is no quasi-identifying column to compare by", "name them with `quasi`"
        )
    scales = {name: _Scale(tree.leaves, covers(tree)) for name, tree in (hierarchies or {}).items()}
    sides = []
    for name, table in (("a", a), ("b", b)):
        person = unit if unit in table.names else None
        assessment = assess(
            table,
            quasi=[*table.quasi, *(mark for mark in marks if mark in table.names)],
            person=person,
            rows_are_people=rows_are_people and person is None,
            markers=() if name in complete else MARKERS,
        )
        sides.append(_side(table, assessment, scales))
    one, other = sides
    if a_is_input or _may_be_input(one, other):
        rows = one.assessment.rows
        return Comparison(_of_input(one, rows), _of_input(other, rows), True)
    return Comparison(one, other, False)


@dataclass(frozen=True)
class _Scale:
    """What a column can lose: the leaves of its domain, and how many of them a text covers."""

    leaves: int
    covered: Callable[[str], int | None]

    @property
    def most(self) -> float:
        return 1 - 1 / self.leaves


def _side(table: Table, assessment: Assessment, scales: Mapping[str, _Scale]) -> Side:
    excess: dict[str, float] = {}
    unknown: dict[str, str] = {}
    for name in table.quasi:
        share = _excess(table, name, scales.get(name))
        if isinstance(share, str):
            unknown[name] = share
        else:
            excess[name] = share
    most = {name: scales[name].most for name in excess}
    total = None if unknown else _ratio(sum(excess.values()), sum(most.values()))
    return Side(
        assessment=assessment,
        loss=total,
        losses={name: _ratio(share, most[name]) for name, share in excess.items()},
        loss_unknown=unknown,
        values={name: len(table.keys(name)) for name in table.names},
    )


def _excess(table: Table, name: str, scale: _Scale | None) -> float | str:
    """The share of its domain that a cell covers beyond one leaf, on average.

    Or why that is not known.
    """
    if scale is None:
        return "no hierarchy is given"
    covered = [scale.covered(text) for text in table.labels(name)]
    if strange := covered.count(None):
        return f"{plural(strange, 'distinct value')} not in the hierarchy, at any level"
    if not table.rows:
        return "it has no rows"
    column = table.count([name], {})
    beyond = (np.array(covered, dtype=np.int64) - 1)[column.codes[0]]
    return float(beyond @ column.count) / table.rows / scale.leaves


def _may_be_input(a: Side, b: Side) -> bool:
    """Whether B may be made from A: nothing in A is generalised, and it has no fewer rows."""
    one, other = a.assessment, b.assessment
    return a.loss == 0 and one.rows >= other.rows and one.suppressed == 0


def _of_input(side: Side, rows: int) -> Side:
    """A side with its losses over all rows of the input."""
    own = side.assessment.rows
    absent = max(rows - own, 0)

    def over_all(loss: float) -> float:
        return _ratio(loss * own + absent, own + absent)

    loss = None if side.loss is None else over_all(side.loss)
    if not own and rows:
        loss = 1.0
    losses = {name: over_all(lost) for name, lost in side.losses.items()}
    return replace(side, loss_of_input=loss, losses_of_input=losses)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
