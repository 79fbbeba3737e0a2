"""The grammar of released texts: written by `Axis` and read by `Texts`, and nowhere else.

Uses `ranges`, `tree` and `kinds`. A released text has one meaning, so both sides live here: methods
whose groups have ranges of their own write by `Axis`; verification, views, measures and comparisons
read by `Texts`. The rules, first to last:

1. `*` is any value.
2. A label of the hierarchy is what it covers. Without a level to read by, a text that several
   levels have is what it covers at all of them together.
3. The empty text is a missing value, and `X or missing` is X or a missing value.
4. `{a, b}` is each of its labels and values; where commas may be read in several ways, by all of
   them.
5. A single value; a range such as `10-19`, `90+` or `[0, 5)`; `[first, last]` for dates.

A column without a hierarchy has its values for labels. Nobody declared them, so rules 3 to 5 count
beside rule 2. What is written is read first: a spelling that would be read as other values is not
used.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.counts import Codes, smallest
from shoal.data.hierarchy import ranges
from shoal.data.hierarchy.ranges import NumberRange
from shoal.data.hierarchy.tree import Hierarchy, changes
from shoal.data.kinds import Key, Kind

__all__ = ["ANY", "Axis", "Bools", "Texts"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Run = tuple[int, int]

ANY = "*"
"""Any value, whatever the root of the hierarchy is called; suppressed records show nothing else."""

_OR_MISSING = " or missing"
# What a missing value is called within a set.
_MISSING = "missing"
_COMMA = ", "
# Ways to part one text, above which it is not read as a set.
_MOST_PARTS = 100_000
_MISFITS = (ValueError, TypeError, OverflowError)


def _or_missing(text: str) -> str:
    return f"{text}{_OR_MISSING}"


def _without_missing(text: str) -> str | None:
    """X of the text `X or missing`; None if it is not such a text."""
    if text.endswith(_OR_MISSING):
        return text.removesuffix(_OR_MISSING)
    return None


def _set_of(labels: Iterable[str]) -> str:
    return "{" + _COMMA.join(labels) + "}"


def _parts_of_set(text: str) -> list[str] | None:
    """What stands between the commas of a set; None if the text is not one."""
    if text.startswith("{") and text.endswith("}"):
        return text[1:-1].split(_COMMA)
    return None


class _Level(NamedTuple):
    """The labels of a level, and for every value the code of its label."""

    labels: Sequence[str]
    codes: Codes


class Texts:
    """Which values of a column every released text stands for.

    The answer has one flag per value; it is None where the text is not one of this column.

    >>> lines = [["31", "30s", "*"], ["38", "30s", "*"], ["44", "40s", "*"]]
    >>> texts = Texts.of(Hierarchy.from_lines(lines, Kind.INTEGER))
    >>> [texts(text).tolist() for text in ("38", "30s", "38-50")]
    [[False, True, False], [True, True, False], [False, True, True]]
    >>> texts("red") is None
    True
    """

    def __init__(
        self,
        levels: Sequence[_Level],
        kind: Kind,
        keys: Sequence[Key | None],
        *,
        tree: Hierarchy | None,
        fixed: bool = False,
    ) -> None:
        """Use `of` or `of_values`.

        keys: of the values; none where values are intervals
        fixed: whether texts are labels of these levels, and nothing else
        """
        self.kind = kind
        self.fixed = fixed
        self.number = len(levels[0].codes)
        self._levels = levels
        self._keys = keys
        self._tree = tree

    @classmethod
    def of(cls, tree: Hierarchy, level: int | Sequence[int] | None = None) -> "Texts":
        """By a hierarchy: of its leaves, the missing value among them if it has one.

        level: the only one that texts are of, or those that they may be of, if that is known
        """
        levels = [_Level(labels, codes) for labels, codes in tree.levels]
        keys: list[Key | None] = []
        if not tree.cuts:
            keys = [tree.kind.key(text) for text in tree.labels[0]]
        chosen = _chosen(levels, level)
        return cls(chosen, tree.kind, keys, tree=tree, fixed=level is not None)

    @classmethod
    def of_values(
        cls,
        labels: Sequence[str],
        keys: Sequence[Key | None],
        kind: Kind,
        tree: Hierarchy | None = None,
        leaf: Codes | None = None,
        level: int | None = None,
    ) -> "Texts":
        """By the values of a column and their texts; with a hierarchy, given every value's leaf."""
        if tree is None or leaf is None:
            themselves = np.arange(len(keys), dtype=np.uint64)
            return cls([_Level(labels, themselves)], kind, keys, tree=None)
        levels = [_Level(texts, codes.take(leaf)) for texts, codes in tree.levels]
        chosen = _chosen(levels, level)
        return cls(chosen, kind, keys, tree=tree, fixed=level is not None)

    def __call__(self, text: str) -> Bools | None:
        if text == ANY:
            return np.ones(self.number, dtype=np.bool_)
        labelled = self._label(text)
        declared = labelled is not None and self._tree is not None
        if self.fixed or declared:
            return labelled
        spelled = self.spelled(text)
        if labelled is None:
            return spelled
        return labelled if spelled is None else labelled | spelled

    def spelled(self, text: str) -> Bools | None:
        """What a text stands for if it is not a label: a missing value, a set, a value, a range."""
        if text == "":
            return self._missing
        rest = _without_missing(text)
        if rest is not None:
            values = self(rest)
            if values is not None:
                return values | self._missing
        parts = _parts_of_set(text)
        if parts is not None:
            return self._set(parts)
        if self._keys or not self.number:
            run = self.run(text)
            if run is None:
                return None
            return self._flags(run)
        return self._intervals(text)

    # Labels

    def is_label(self, text: str) -> bool:
        return self.kind.canonical(text) in self._places

    def _label(self, text: str) -> Bools | None:
        places = self._places.get(self.kind.canonical(text))
        if places is None:
            return None
        covered = self._nothing()
        for level, code in places:
            covered |= self._levels[level].codes == code
        return covered

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        """The levels of every label, and its code at each."""
        places: dict[str, list[tuple[int, int]]] = {}
        for level, (labels, _) in enumerate(self._levels):
            for code, label in enumerate(labels):
                text = self.kind.canonical(label)
                places.setdefault(text, []).append((level, code))
        return places

    def value(self, text: str) -> Bools | None:
        """What a text stands for if values are shown unchanged."""
        labelled = self._label(text)
        if labelled is not None:
            return labelled
        if text == "":
            return self._missing
        return self._value(text)

    # Sets

    def _set(self, parts: Sequence[str]) -> Bools | None:
        """The values of a list, however it may be parted at its commas; None if in no way."""
        if len(parts) * self.widest > _MOST_PARTS:
            # Whoever wrote that wants it to take long.
            return None
        elements = self._elements(parts)
        from_start = {0}
        for start, stop in sorted(elements):
            if start in from_start:
                from_start.add(stop)
        if len(parts) not in from_start:
            return None
        to_end = {len(parts)}
        for start, stop in sorted(elements, reverse=True):
            if stop in to_end:
                to_end.add(start)
        listed = self._nothing()
        for (start, stop), values in elements.items():
            if start in from_start and stop in to_end:
                listed |= values
        return listed

    def _elements(self, parts: Sequence[str]) -> dict[Run, Bools]:
        """What may be an element of a list: from which part to before which, and its values."""
        elements: dict[Run, Bools] = {}
        for start in range(len(parts)):
            furthest = min(start + self.widest, len(parts))
            for stop in range(start + 1, furthest + 1):
                values = self.element(_COMMA.join(parts[start:stop]))
                if values is not None:
                    elements[start, stop] = values
        return elements

    @cached_property
    def widest(self) -> int:
        """How many parts of a list one label may be: 1 if no label has a comma in it."""
        labels = chain.from_iterable(level.labels for level in self._levels)
        commas = max((label.count(_COMMA) for label in labels), default=0)
        return 1 + commas

    def element(self, text: str) -> Bools | None:
        """What a text stands for within a set."""
        if text == _MISSING:
            labelled = self._label(text)
            if labelled is None:
                return self._missing
            return labelled | self._missing
        if not text:
            return None
        return self.value(text)

    # Values and ranges

    @cached_property
    def _missing(self) -> Bools:
        if self._keys:
            return np.array([key is None for key in self._keys], dtype=np.bool_)
        missing = self._nothing()
        if self._tree is not None and self._tree.has_missing:
            missing[-1] = True
        return missing

    def _value(self, text: str) -> Bools | None:
        """A single value that is not a label.

        A text may be one only where no hierarchy says which there are.
        """
        if self.kind is Kind.TEXT:
            return None if self._tree is not None else self._nothing()
        try:
            key = self.kind.key(text)
        except _MISFITS:
            return None
        if not self._keys and self._tree is not None:
            leaf: Bools = np.arange(self.number) == self._tree.find(key)
            return leaf
        return self._flags(self._equal(key))

    def run(self, text: str) -> Run | None:
        """From where to before where a value or range lies among the values in their order."""
        if self.kind is Kind.TEXT:
            return None if self._tree is not None else (0, 0)
        try:
            return self._equal(self.kind.key(text))
        except _MISFITS:
            pass  # not a single value
        if self.kind is Kind.DATE:
            return self._days(text)
        numbers = ranges.parse(text, self.kind)
        if numbers is None:
            return None
        before = bisect_left if numbers.low_in else bisect_right
        after = bisect_right if numbers.high_in else bisect_left
        start = before(self._sorted_keys, numbers.low)
        return start, max(start, after(self._sorted_keys, numbers.high))

    def _equal(self, key: Key | None) -> Run:
        """Where the values lie that equal a key."""
        keys = self._sorted_keys
        return bisect_left(keys, key), bisect_right(keys, key)  # type: ignore[type-var]

    def _days(self, text: str) -> Run | None:
        ends = ranges.parse_ends(text)
        if ends is None:
            return None
        try:
            first, last = map(self.kind.key, ends)
        except (ValueError, OverflowError):
            return None
        if first is None or last is None or first > last:  # type: ignore[operator]
            return None
        return bisect_left(self._sorted_keys, first), bisect_right(self._sorted_keys, last)

    @cached_property
    def _order(self) -> Ints:
        """The values from the smallest to the largest, the missing one left out."""
        known = [at for at, key in enumerate(self._keys) if key is not None]
        known.sort(key=lambda at: self._keys[at])  # type: ignore[arg-type,return-value]
        return np.array(known, dtype=np.int64)

    @cached_property
    def _sorted_keys(self) -> list[Key]:
        return [self._keys[at] for at in self._order.tolist()]

    def _nothing(self) -> Bools:
        return np.zeros(self.number, dtype=np.bool_)

    def _flags(self, run: Run) -> Bools:
        inside = self._nothing()
        inside[self._order[slice(*run)]] = True
        return inside

    def _intervals(self, text: str) -> Bools | None:
        """The leaves that lie in a range, or the one that a single value lies in."""
        value = self._value(text)
        numbers = ranges.parse(text, self.kind)
        if self._tree is None or value is not None or numbers is None:
            return value
        low, high, low_in, high_in = self._bounds
        same_low = (numbers.low == low) & (numbers.low_in | ~low_in)
        same_high = (high == numbers.high) & (numbers.high_in | ~high_in)
        begins = (numbers.low < low) | same_low
        ends = (high < numbers.high) | same_high
        inside = self._nothing()
        inside[: len(low)] = begins & ends
        return inside

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats, Bools, Bools]:
        """Where every interval begins and ends; of integers half open, as in `ranges.parse`."""
        tree = self._tree
        assert tree is not None
        cuts = np.array(tree.cuts, dtype=np.float64)
        low, high = cuts[:-1], cuts[1:]
        left = tree.closed == "left"
        low_in = np.full(len(low), left)
        high_in = np.full(len(low), not left)
        if tree.end_closed:
            low_in[:1] = True
            high_in[-1:] = True
        if self.kind is not Kind.INTEGER:
            low_in &= np.isfinite(low)
            high_in &= np.isfinite(high)
            return low, high, low_in, high_in
        # The first whole number inside, and the first behind.
        first, stop = np.ceil(low), np.ceil(high)
        first += (low == first) & ~low_in
        stop += (high == stop) & high_in
        return first, stop, np.ones_like(low_in), np.zeros_like(high_in)


def _chosen(levels: list[_Level], level: int | Sequence[int] | None) -> list[_Level]:
    """All levels, or those that texts are known to be of."""
    if level is None:
        return levels
    at = (level,) if isinstance(level, int) else level
    return [levels[one] for one in at]


@dataclass(frozen=True, eq=False)
class Axis:
    """A quasi-identifying column as places on a line: every cut falls between two places.

    Numbers and dates lie in their order, text in the order of its hierarchy, a missing value last.

    place: of every leaf, or of every code of a column without hierarchy
    size: how many places there are
    missing: the place of the missing value, or -1
    labels: of every place
    """

    name: str
    place: Codes
    size: int
    missing: int
    labels: Sequence[str]
    hierarchy: Hierarchy | None
    ordered: bool
    kind: Kind

    @classmethod
    def of(cls, name: str, hierarchy: Hierarchy, missing: bool = True) -> "Axis":
        """The axis of a hierarchy; not `missing` leaves out a missing value that comes last."""
        labels = hierarchy.labels[0]
        kind = hierarchy.kind
        order = list(range(len(labels)))
        ordered = kind is not Kind.TEXT
        if ordered and not hierarchy.cuts:
            keys = [kind.key(text) for text in labels]
            order.sort(key=lambda leaf: (keys[leaf] is None, keys[leaf]))
        size = len(labels)
        blank = order.index(labels.index("")) if "" in labels else -1
        if blank == size - 1 and not missing:
            blank = -1
            size -= 1
        place = np.argsort(order).astype(smallest(len(order)))
        shown = [labels[leaf] for leaf in order]
        return cls(name, place, size, blank, shown, hierarchy, ordered, kind)

    def text(self, low: int, high: int) -> str:
        """What a run of places is called in the release: the first spelling read as these places.

        Where there is none, the finest label that all of them have in common, which says less and
        nothing else.
        """
        for text in self._spellings(low, high):
            if self.means(text, low, high):
                return text
        if self.hierarchy is None:
            return ANY
        return self._common(self.hierarchy, low, high)

    def is_label(self, text: str) -> bool:
        """Whether a text is a value of some level, or any value."""
        return text == ANY or self._texts.is_label(text)

    def run(self, text: str) -> Run | None:
        """The run of places that a text is read as; None if it is not one."""
        size = self.size if self.is_label(text) else len(self.place)
        return self._run(self._texts(text), size)

    def means(self, text: str, low: int, high: int) -> bool:
        """Whether a text is read as a run of places, and nothing else."""
        if self.is_label(text):
            return self._run_of(text) == (low, high)
        rest = _without_missing(text)
        if low < high == self.missing and rest is not None:
            return self.means(rest, low, high - 1)
        if self.ordered and not self._of_intervals:
            return self._texts.run(text) == (low, high + 1)
        parts = _parts_of_set(text)
        # Without commas in labels there is one way to part the set, which is quicker to follow.
        if self.hierarchy is not None and parts is not None and self._texts.widest == 1:
            return self._chain(parts) == (low, high)
        return self.run(text) == (low, high)

    def _common(self, hierarchy: Hierarchy, low: int, high: int) -> str:
        """The finest label that all places of a run have in common."""
        leaves = self._leaf_at[low : high + 1]
        for labels, codes in hierarchy.levels[:-1]:
            covering = codes.take(leaves)
            first = int(covering[0])
            label: str = labels[first]
            if label and (covering == first).all():
                return label
        return hierarchy.labels[-1][0]

    @cached_property
    def ends(self) -> list[Ints]:
        """For every level above the leaves, lowest first: where its values end."""
        if self.hierarchy is None:
            return []
        return [changes(codes[self._leaf_at]) for codes in self.hierarchy.maps[1:]]

    # Reading back

    @cached_property
    def _texts(self) -> Texts:
        if self.hierarchy is not None:
            return Texts.of(self.hierarchy)
        keys = [self.kind.key(label) for label in self.labels]
        return Texts.of_values(self.labels, keys, self.kind)

    @property
    def _of_intervals(self) -> bool:
        return self.hierarchy is not None and bool(self.hierarchy.cuts)

    @cached_property
    def _leaf_at(self) -> Ints:
        """The leaf of every place, also of a missing value that has none on this axis."""
        return np.argsort(self.place)

    def _run(self, values: Bools | None, size: int) -> Run | None:
        """The run that some values are among the first `size` places; None if they are not one.

        Labels may cover a missing value that has no place here; other texts may not.
        """
        if values is None:
            return None
        places = np.flatnonzero(values.take(self._leaf_at)[:size])
        if not len(places):
            return None
        first, last = int(places[0]), int(places[-1])
        if last - first + 1 != len(places):
            return None
        return first, last

    @cached_property
    def _runs(self) -> dict[str, Run | None]:
        return {}

    def _run_of(self, text: str) -> Run | None:
        """The run of places that a label is, or what a missing value is called within a set."""
        if text not in self._runs:
            if text == _MISSING:
                values = self._texts.element(text)
                self._runs[text] = self._run(values, len(self.place))
            else:
                self._runs[text] = self.run(text)
        return self._runs[text]

    def _chain(self, labels: Sequence[str]) -> Run | None:
        """The run that labels are together; None unless each begins where the one before ends."""
        runs = [self._run_of(label) for label in labels]
        for before, after in pairwise(runs):
            if before is None or after is None or before[1] + 1 != after[0]:
                return None
        first, last = runs[0], runs[-1]
        if first is None or last is None:
            return None
        return first[0], last[1]

    # Spellings

    def _spellings(self, low: int, high: int) -> Iterator[str]:
        """What a run of places may be called, the shortest first."""
        if low == high:
            yield self.labels[low]
        if self.hierarchy is not None and low == 0 and high == self.size - 1:
            yield self.hierarchy.labels[-1][0]
        if low < high == self.missing:
            yield from map(_or_missing, self._spellings(low, high - 1))
        elif high == self.missing:
            return
        elif self.ordered:
            yield from self._ranges(low, high)
        else:
            yield from self._sets(low, high)

    def _ranges(self, low: int, high: int) -> Iterator[str]:
        first, last = self.labels[low], self.labels[high]
        if self.hierarchy is not None and self.hierarchy.cuts:
            yield from self._intervals(self.hierarchy, low, high)
        elif self.kind is Kind.INTEGER:
            ends = ranges.exact(first), ranges.exact(last)
            yield from ranges.whole_spellings(*ends, self.labels[0].startswith("-"))
        else:
            yield from ranges.inclusive_spellings(first, last)

    def _intervals(self, hierarchy: Hierarchy, first: int, last: int) -> Iterator[str]:
        """Neighbouring intervals, as one range."""
        cuts = hierarchy.cuts
        low, high = cuts[first], cuts[last + 1]
        left = hierarchy.closed == "left"
        ends_low = hierarchy.end_closed and low == cuts[0]
        ends_high = hierarchy.end_closed and high == cuts[-1]
        low_in = left or ends_low
        high_in = not left or ends_high
        if self.kind is not Kind.INTEGER:
            numbers = NumberRange(low, high, low_in, high_in)
            yield from ranges.range_spellings(numbers, False, False)
            return
        # The same whole numbers, from the first to before the next one.
        whole = NumberRange(low + (not low_in), high + high_in, True, False)
        # Cuts ascend, and only the first of them may be infinite on this side.
        negative = any(-math.inf < cut < 0 for cut in cuts[:2])
        yield from ranges.range_spellings(whole, True, negative)

    def _sets(self, low: int, high: int) -> Iterator[str]:
        """The fewest values of the hierarchy, of any level, that cover just these leaves."""
        if self.hierarchy is None:
            yield _set_of(self.labels[low : high + 1])
            return
        labels: list[str] = []
        place = low
        while place <= high:
            value = self._widest_value(place, high)
            if value is None:
                return
            place, label = value
            labels.append(label)
        if len(labels) == 1:
            yield labels[0]
        else:
            yield _set_of(labels)

    def _widest_value(self, place: int, high: int) -> tuple[int, str] | None:
        """The widest value from a place to at most another: the place behind it, and its text.

        None if even the value's own label is read as more.
        """
        for stop, label in self._values[place]:
            if stop <= high + 1 and self._run_of(label) == (place, stop - 1):
                return stop, label
        return None

    @cached_property
    def _values(self) -> list[list[tuple[int, str]]]:
        """For every place the values that begin there, widest first, as in `_widest_value`."""
        begin: list[list[tuple[int, str]]] = [[] for _ in self.labels]
        if self.hierarchy is None:
            return begin
        for labels, codes in reversed(self.hierarchy.levels):
            inner = changes(codes) + 1
            edges = [0, *inner.tolist(), len(codes)]
            for first, stop in pairwise(edges):
                label = labels[codes[first]] or _MISSING
                begin[first].append((stop, label))
        return begin
