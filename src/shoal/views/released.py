"""How released tables become groups of people: `Legend`, which releases are views, whom texts fit.

Uses `data` and the catalogue of `methods`; `register` uses it. Rows of a released table that look
alike become one group: the people of the register whose public values fit.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.data.components import representatives
from shoal.data.hierarchy.texts import ANY, Bools, Texts
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, InputError, listed
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import AsViews
from shoal.views.model import Value, View
from shoal.zones import brief

__all__ = [
    "Legend",
    "Reach",
    "ShownGroup",
    "ShownRow",
    "as_views",
    "everybody_fitting",
    "is_starred",
    "is_view",
    "rows_of",
    "text_of",
    "views_of_groups",
]


def as_views(method: str) -> AsViews | None:
    """How releases of a method become views; None if they do not."""
    return entry_of(method).as_views if method in CATALOGUE else None


def is_view(method: str, promise: Mapping[str, Any]) -> bool:
    """Whether a release shows the values of everybody in a group.

    It does not if some are fakes, or if one row of each person was drawn.
    """
    shown = as_views(method) is not None
    return shown and not promise.get("fakes") and not promise.get("unit")


@typed
@brief
@dataclass(frozen=True)
class Legend:
    """How a released table is to be read.

    columns: which column of the table belongs to a public column of the register
    sensitive: its column with the sensitive values
    values: what sensitive values of the table are called in the views, where the names differ
    group: a column that says which rows are one group, where groups may look alike
    count: a column with the number of records that a row stands for
    drawn: whether people who fit a group may have been left out of it by chance
    starred: whether rows that are all `*`, beside others, are the suppressed records: those who fit
        no other row, if everybody in the register is in the table
    levels: of their hierarchies that public columns were released at, where one holds for all rows
    unchanged: public columns whose values are released unchanged
    """

    columns: Mapping[str, str]
    sensitive: str
    values: Mapping[Any, Any] = field(default_factory=dict)
    group: str | None = None
    count: str | None = None
    drawn: bool = False
    starred: bool = True
    levels: Mapping[str, int] = field(default_factory=dict)
    unchanged: Collection[str] = ()

    @property
    def mentioned(self) -> list[str]:
        """All columns of the table that it names."""
        optional = [name for name in (self.group, self.count) if name is not None]
        return [*self.columns.values(), self.sensitive, *optional]


class ShownRow(NamedTuple):
    """A row of a released table: the texts of its public columns, its group, its value."""

    texts: tuple[str, ...]
    mark: str
    value: str
    records: int


class ShownGroup(NamedTuple):
    """People of the register who fit a group, and how often the group shows each value."""

    people: Sequence[int]
    bag: Counter[str | None]


def rows_of(frame: Any, name: str, legend: Legend) -> list[ShownRow]:
    """The rows of a released table by its legend, without those that stand for no record."""
    shown = nw.from_native(frame, eager_only=True)
    absent = [column for column in legend.mentioned if column not in shown.columns]
    if absent:
        raise ColumnError(
            f"{name!r} has no column {listed(absent)}", f"it has {listed(shown.columns)}"
        )

    def texts(column: str) -> Iterable[str]:
        return map(text_of, shown[column].to_list())

    number = len(shown)
    labels: Iterable[tuple[str, ...]] = [()] * number
    if legend.columns:
        labels = zip(*map(texts, legend.columns.values()), strict=True)
    marks = texts(legend.group) if legend.group else [""] * number
    counts = [1] * number
    if legend.count:
        counts = _counts(shown[legend.count].to_list(), legend.count)
    rows = zip(labels, marks, texts(legend.sensitive), counts, strict=True)
    return [ShownRow(*row) for row in rows]


def _counts(given: Iterable[object], column: str) -> list[int]:
    """The numbers of records that rows stand for."""
    try:
        # By way of text, as 1.5 must not become 1.
        counts = [int(str(number)) for number in given]
    except ValueError:
        counts = [-1]
    if min(counts, default=0) < 0:
        raise InputError(
            f"column {column!r} should have the number of records that each row stands for",
            "give a whole number of at least 0 in every row",
        )
    return counts


def text_of(value: object) -> str:
    """A value as text, as it is written into files."""
    # NaN is how pandas writes a missing value.
    if value is None or value != value:
        return ""
    return str(Kind.TEXT.key(value) or "")


def views_of_groups(
    name: str, groups: Sequence[ShownGroup], *, drawn: bool = False
) -> tuple[list[View], int]:
    """A view for every group of a release, and how many groups were joined.

    Where somebody fits several groups, it is not public who is in which. Such groups become one
    view that keeps the bags of all.
    """
    first: dict[int, int] = {}
    pairs = [
        (first.setdefault(person, number), number)
        for number, group in enumerate(groups)
        for person in group.people
    ]
    alike: dict[int, list[ShownGroup]] = {}
    for number, root in representatives(range(len(groups)), pairs).items():
        alike.setdefault(root, []).append(groups[number])
    views = []
    for number, some in enumerate(alike.values(), 1):
        people = set[int]().union(*(group.people for group in some))
        bag: Counter[Value] = Counter()
        for group in some:
            bag.update(group.bag)
        # Then nobody knows who of them has one of the values.
        left_out = drawn and len(people) > bag.total()
        parts: tuple[dict[str | None, int], ...] = ()
        if len(some) > 1 or left_out:
            parts = tuple(dict(group.bag) for group in some)
        views.append(View(f"{name}/{number}", sorted(people), bag, parts))
    joined = sum(len(some) for some in alike.values() if len(some) > 1)
    return views, joined


class Reach:
    """Whom a released text of a column may stand for."""

    def __init__(self, people: Table, column: str, source: str, legend: Legend) -> None:
        (self.column,) = people.records([column])
        self.codes = self.column.codes
        self.source = source
        self.unchanged = column in legend.unchanged
        tree, leaf = None, None
        if column in people.hierarchies and not self.unchanged:
            tree, leaf = people.hierarchy(column), people.leaf_of(column)
        self.texts = Texts.of_values(
            self.column.labels,
            self.column.keys,
            self.column.kind,
            tree,
            leaf,
            legend.levels.get(column),
        )
        self._known: dict[str, Bools] = {}
        # People sorted by their code, and where each code ends among them.
        self._by_code = np.argsort(self.codes, kind="stable")
        self._sizes = np.bincount(self.codes, minlength=len(self.column.keys))
        self._ends = np.cumsum(self._sizes)

    def number(self, text: str) -> int:
        """How many people of the register a text fits."""
        return int(self._sizes[self.fits(text)].sum())

    def people(self, text: str) -> npt.NDArray[np.int64]:
        """The people of the register whom a text fits."""
        codes = np.flatnonzero(self.fits(text))
        if not len(codes):
            return codes
        runs = np.split(codes, np.flatnonzero(np.diff(codes) > 1) + 1)
        starts = self._ends - self._sizes
        slices = []
        for run in runs:
            start, end = starts[run[0]], self._ends[run[-1]]
            slices.append(self._by_code[start:end])
        return np.concatenate(slices)

    def among(
        self,
        people: npt.NDArray[np.int64],
        text: str,
    ) -> npt.NDArray[np.int64]:
        """Those of some people whom a text fits."""
        return people[self.fits(text)[self.codes[people]]]

    def fits(self, text: str) -> Bools:
        """Which keys of the column a text fits."""
        if text not in self._known:
            fits = self.texts.value(text) if self.unchanged else self.texts(text)
            if fits is None:
                raise InputError(
                    f"{self.source!r} has a text in column {self.column.name!r} that is not a "
                    "value, range or set of it",
                    "give the register the type of the column, and the hierarchy of the release",
                )
            self._known[text] = fits
        return self._known[text]


def everybody_fitting(
    rows: int, reach: Mapping[str, Reach], texts: Sequence[str]
) -> npt.NDArray[np.int64]:
    """The people of a register, by the number of its rows, whom all texts of a group fit."""
    # The text that fits the fewest comes first: the others are then tried on these only.
    parts = sorted(
        zip(reach.values(), texts, strict=True), key=lambda part: part[0].number(part[1])
    )
    if not parts:
        return np.arange(rows)
    first, text = parts[0]
    people = first.people(text)
    for column, text in parts[1:]:
        people = column.among(people, text)
    return people


def is_starred(texts: Sequence[str]) -> bool:
    """Whether all public columns of a group are `*`."""
    return set(texts) == {ANY}
