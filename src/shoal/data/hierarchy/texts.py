"""Released texts: what a run of values is called (`Axis`), and which values a text stands for (`Texts`).

Uses `ranges`, `tree` and `kinds`.

Written and read side by side, for a released text has one meaning: methods whose groups have ranges of their own write by
`Axis`; verification, views, measures and comparisons read by `Texts`. The rules, first to last:

1. `*` is any value.
2. A label of the hierarchy is what it covers. Without a level to read by, a text that several levels have is what it covers at
   all of them together.
3. The empty text is a missing value, and `X or missing` is X or a missing value.
4. `{a, b}` is each of its labels and values; where commas may be read in several ways, by all of them.
5. A single value; a range such as `10-19`, `90+` or `[0, 5)`; `[first, last]` for dates.

A column without a hierarchy has its values for labels. Nobody declared them, so rules 3 to 5 count beside rule 2.
What is written is read first: a spelling that would be read as other values is not used.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from shoal.counts import Codes, smallest
from shoal.data.hierarchy import ranges
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind

__all__ = ["ANY", "Axis", "Bools", "Texts"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ANY = "*"
"""Any value, whatever the root of the hierarchy is called."""

_OR_MISSING = " or missing"
_MISSING = "missing"  # what a missing value is called within a set
_MOST_PARTS = 100_000  # ways to part one text, above which it is not read as a set
_DAYS = re.compile(r"\[(\S+), (\S+)\]")


class Texts:
    """Which values of a column every released text stands for: flags, one per value, or None where it is not a text of it.

    >>> tree = Hierarchy.from_lines([["31", "30s", "*"], ["38", "30s", "*"], ["44", "40s", "*"]], Kind.INTEGER)
    >>> texts = Texts.of(tree)
    >>> [texts(text).tolist() for text in ("38", "30s", "38-50")]
    [[False, True, False], [True, True, False], [False, True, True]]
    >>> texts("red") is None
    True
    """

    def __init__(
        self,
        levels: Sequence[tuple[Sequence[str], Codes]],
        kind: Kind,
        keys: Sequence[Key | None],
        *,
        tree: Hierarchy | None,
        fixed: bool = False,
    ) -> None:
        """Levels of labels, with every value's code; `fixed` if texts are of these alone. Without `keys` values are intervals."""
        self.kind, self.fixed = kind, fixed
        self.number = len(levels[0][1])
        self._levels, self._keys, self._tree = levels, keys, tree

    @classmethod
    def of(cls, tree: Hierarchy, level: int | None = None) -> "Texts":
        """By a hierarchy: of its leaves, the missing value among them if it has one."""
        levels = list(zip(tree.labels, tree.maps, strict=True))
        keys = [] if tree.cuts else [tree.kind.key(text) for text in tree.labels[0]]
        chosen = levels if level is None else levels[level : level + 1]
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
        """By the values of a column and their texts; if it has a hierarchy, also given every value's leaf in it."""
        if tree is None or leaf is None:
            own = np.arange(len(keys), dtype=np.uint64)
            return cls([(labels, own)], kind, keys, tree=None)
        levels = [
            (own, codes.take(leaf)) for own, codes in zip(tree.labels, tree.maps, strict=True)
        ]
        chosen = levels if level is None else levels[level : level + 1]
        return cls(chosen, kind, keys, tree=tree, fixed=level is not None)

    def __call__(self, text: str) -> Bools | None:
        if text == ANY:
            return np.ones(self.number, dtype=np.bool_)
        known = self._label(text)
        if self.fixed or (known is not None and self._tree is not None):
            return known
        spelled = self.spelled(text)
        if known is None or spelled is None:
            return spelled if known is None else known
        return known | spelled

    def spelled(self, text: str) -> Bools | None:
        """What a text stands for if it is not a label: a missing value, a set, a value or a range."""
        if text == "":
            return self._missing
        if text.endswith(_OR_MISSING):
            inner = self(text.removesuffix(_OR_MISSING))
            if inner is not None:
                return inner | self._missing
        if text.startswith("{") and text.endswith("}"):
            return self._set(text[1:-1].split(", "))
        if self._keys or not self.number:
            run = self.run(text)
            return None if run is None else self._flags(run)
        return self._intervals(text)

    # Labels

    def is_label(self, text: str) -> bool:
        return self._canonical(text) in self._places

    def _label(self, text: str) -> Bools | None:
        places = self._places.get(self._canonical(text))
        if places is None:
            return None
        found = np.zeros(self.number, dtype=np.bool_)
        for level, code in places:
            found |= self._levels[level][1] == code
        return found

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        """Of every label its levels, and its code at each."""
        found: dict[str, list[tuple[int, int]]] = {}
        for level, (labels, _) in enumerate(self._levels):
            for code, label in enumerate(labels):
                found.setdefault(self._canonical(label), []).append((level, code))
        return found

    def _canonical(self, text: str) -> str:
        """Numbers and dates as they are released: the label "039" of whole numbers becomes 39."""
        if self.kind is Kind.TEXT or not text:
            return text
        try:
            return self.kind.text(self.kind.key(text))
        except (ValueError, TypeError, OverflowError):
            return text

    def value(self, text: str) -> Bools | None:
        """What a text stands for if values are shown as they are."""
        known = self._label(text)
        if known is not None:
            return known
        return self._missing if text == "" else self._value(text)

    # Sets

    def _set(self, parts: list[str]) -> Bools | None:
        """The values of a list that may be parted at its commas in several ways; None if there is no such way."""
        if len(parts) * self.widest > _MOST_PARTS:
            return None  # whoever wrote that wants it to take long
        tokens: dict[tuple[int, int], Bools] = {}
        for start in range(len(parts)):
            for stop in range(start + 1, min(start + self.widest, len(parts)) + 1):
                value = self.element(", ".join(parts[start:stop]))
                if value is not None:
                    tokens[start, stop] = value
        from_start, to_end = {0}, {len(parts)}
        for start, stop in sorted(tokens):
            if start in from_start:
                from_start.add(stop)
        for start, stop in sorted(tokens, reverse=True):
            if stop in to_end:
                to_end.add(start)
        if len(parts) not in from_start:
            return None
        found = np.zeros(self.number, dtype=np.bool_)
        for (start, stop), value in tokens.items():
            if start in from_start and stop in to_end:
                found |= value
        return found

    @cached_property
    def widest(self) -> int:
        """How many parts of a list one label may be: 1 if no label has a comma in it."""
        return 1 + max(
            (label.count(", ") for labels, _ in self._levels for label in labels), default=0
        )

    def element(self, text: str) -> Bools | None:
        """What a text stands for within a set."""
        if text == _MISSING:
            known = self._label(text)
            return self._missing if known is None else known | self._missing
        return self.value(text) if text else None

    # Values and ranges

    @cached_property
    def _missing(self) -> Bools:
        if self._keys:
            return np.array([key is None for key in self._keys], dtype=np.bool_)
        found = np.zeros(self.number, dtype=np.bool_)
        if self._tree is not None and self._tree.has_missing:
            found[-1] = True
        return found

    def _value(self, text: str) -> Bools | None:
        """A single value that is not a label; of text, only where no hierarchy says which there are."""
        if self.kind is Kind.TEXT:
            return None if self._tree is not None else np.zeros(self.number, dtype=np.bool_)
        try:
            key = self.kind.key(text)
        except (ValueError, TypeError, OverflowError):
            return None
        if not self._keys and self._tree is not None:
            found: Bools = np.arange(self.number) == self._tree.find(key)
            return found
        at = self._sorted_keys
        return self._flags((bisect_left(at, key), bisect_right(at, key)))  # type: ignore[type-var]

    def run(self, text: str) -> tuple[int, int] | None:
        """From where to before where a value or range lies among the values in their order; None if it is neither."""
        if self.kind is Kind.TEXT:
            return None if self._tree is not None else (0, 0)
        keys = self._sorted_keys
        try:
            key = self.kind.key(text)
            return bisect_left(keys, key), bisect_right(keys, key)  # type: ignore[type-var]
        except (ValueError, TypeError, OverflowError):
            pass  # not a single value
        if self.kind is Kind.DATE:
            return self._days(text)
        found = ranges.parse(text, self.kind)
        if found is None:
            return None
        before = bisect_left if found.low_in else bisect_right
        after = bisect_right if found.high_in else bisect_left
        start = before(keys, found.low)
        return start, max(start, after(keys, found.high))

    def _days(self, text: str) -> tuple[int, int] | None:
        days = _DAYS.fullmatch(text)
        try:
            first, last = (self.kind.key(day) for day in days.groups()) if days else (None, None)
        except (ValueError, OverflowError):
            return None
        if first is None or last is None or first > last:  # type: ignore[operator]
            return None
        keys = self._sorted_keys
        return bisect_left(keys, first), bisect_right(keys, last)

    @cached_property
    def _order(self) -> Ints:
        """The values from the smallest to the largest, the missing one left out."""
        there = [at for at, key in enumerate(self._keys) if key is not None]
        there.sort(key=lambda at: self._keys[at])  # type: ignore[arg-type,return-value]
        return np.array(there, dtype=np.int64)

    @cached_property
    def _sorted_keys(self) -> list[Key]:
        return [self._keys[at] for at in self._order.tolist()]

    def _flags(self, run: tuple[int, int]) -> Bools:
        found = np.zeros(self.number, dtype=np.bool_)
        found[self._order[slice(*run)]] = True
        return found

    def _intervals(self, text: str) -> Bools | None:
        """The leaves that lie in a range, or the one that a single value lies in."""
        tree, value = self._tree, self._value(text)
        found = ranges.parse(text, self.kind)
        if tree is None or value is not None or found is None:
            return value
        low, high, low_in, high_in = self._bounds
        starts = (found.low < low) | ((found.low == low) & (found.low_in | ~low_in))
        ends = (high < found.high) | ((high == found.high) & (found.high_in | ~high_in))
        inside = np.zeros(self.number, dtype=np.bool_)
        inside[: len(low)] = starts & ends
        return inside

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats, Bools, Bools]:
        """Where every interval begins and ends; of whole numbers half open, as `ranges.parse` gives them."""
        tree = self._tree
        cuts = np.array(tree.cuts if tree is not None else (), dtype=np.float64)
        low, high = cuts[:-1], cuts[1:]
        left = tree is not None and tree.closed == "left"
        low_in, high_in = np.full(len(low), left), np.full(len(low), not left)
        if tree is not None and tree.end_closed:
            low_in[:1], high_in[-1:] = True, True
        if self.kind is not Kind.INTEGER:
            return low, high, low_in & np.isfinite(low), high_in & np.isfinite(high)
        first = np.ceil(low) + ((low == np.ceil(low)) & ~low_in)
        stop = np.ceil(high) + ((high == np.ceil(high)) & high_in)
        return first, stop, np.ones_like(low_in), np.zeros_like(high_in)


@dataclass(frozen=True, eq=False)
class Axis:
    """A quasi-identifying column as places on a line: every cut falls between two places.

    Numbers and dates lie in their order, text in the order of its hierarchy, a missing value last. `size` counts the
    places, `missing` is that of the missing value, or -1.
    """

    name: str
    place: Codes  # of every leaf, or of every code of a column without hierarchy
    size: int
    missing: int
    labels: Sequence[str]  # of every place
    hierarchy: Hierarchy | None
    ordered: bool
    kind: Kind

    @classmethod
    def of(cls, name: str, hierarchy: Hierarchy, missing: bool = True) -> "Axis":
        """The axis of a hierarchy; not `missing` leaves out the place of a missing value that comes last."""
        labels, kind = hierarchy.labels[0], hierarchy.kind
        order = list(range(len(labels)))
        ordered = kind is not Kind.TEXT
        if ordered and not hierarchy.cuts:
            keys = [kind.key(text) for text in labels]
            order.sort(key=lambda leaf: (keys[leaf] is None, keys[leaf]))
        at, size = order.index(labels.index("")) if "" in labels else -1, len(labels)
        if at == size - 1 and not missing:
            at, size = -1, size - 1
        place = np.argsort(order).astype(smallest(len(order)))
        shown = [labels[leaf] for leaf in order]
        return cls(name, place, size, at, shown, hierarchy, ordered, kind)

    def text(self, low: int, high: int) -> str:
        """What a run of places is called in the release: the first spelling that is read as these places.

        Where there is none, the finest label that all of them have in common, which says less and nothing else.
        """
        for text in self._spellings(low, high):
            if self.means(text, low, high):
                return text
        return ANY if self.hierarchy is None else self._common(self.hierarchy, low, high)

    def is_label(self, text: str) -> bool:
        """Whether a text is a value of some level, or any value."""
        return text == ANY or self._texts.is_label(text)

    def run(self, text: str) -> tuple[int, int] | None:
        """The run of places that a text is read as; None if it is not one."""
        return self._run(self._texts(text), self.size if self.is_label(text) else len(self.place))

    def means(self, text: str, low: int, high: int) -> bool:
        """Whether a text is read as a run of places, and nothing else."""
        if self.is_label(text):
            return self._run_of(text) == (low, high)
        if low < high == self.missing and text.endswith(_OR_MISSING):
            return self.means(text.removesuffix(_OR_MISSING), low, high - 1)
        if self.ordered and not self._of_intervals:
            return self._texts.run(text) == (low, high + 1)
        if self.hierarchy is not None and text.startswith("{") and self._texts.widest == 1:
            return self._chain(text[1:-1].split(", ")) == (low, high)
        return self.run(text) == (low, high)

    def _common(self, hierarchy: Hierarchy, low: int, high: int) -> str:
        """The finest label that all places of a run have in common."""
        leaves = self._leaf_at[low : high + 1]
        for labels, codes in zip(hierarchy.labels[:-1], hierarchy.maps, strict=False):
            own = codes.take(leaves)
            label: str = labels[int(own[0])]
            if label and (own == own[0]).all():
                return label
        return hierarchy.labels[-1][0]

    @cached_property
    def ends(self) -> list[Ints]:
        """For every level of the hierarchy above its leaves, lowest first: the places at which a value of that level ends."""
        if self.hierarchy is None:
            return []
        above = [codes[np.argsort(self.place)] for codes in self.hierarchy.maps[1:]]
        return [np.flatnonzero(codes[1:] != codes[:-1]) for codes in above]

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

    def _run(self, values: Bools | None, size: int) -> tuple[int, int] | None:
        """The run of places that some values are among so many; None if they are not one.

        Labels may cover a missing value that has no place here; other texts may not.
        """
        if values is None:
            return None
        there = np.flatnonzero(values.take(self._leaf_at)[:size])
        if not len(there) or there[-1] - there[0] + 1 != len(there):
            return None
        return int(there[0]), int(there[-1])

    @cached_property
    def _runs(self) -> dict[str, tuple[int, int] | None]:
        return {}

    def _run_of(self, text: str) -> tuple[int, int] | None:
        """The run of places that a label is, or what a missing value is called within a set."""
        if text not in self._runs:
            if text == _MISSING:
                self._runs[text] = self._run(self._texts.element(text), len(self.place))
            else:
                self._runs[text] = self.run(text)
        return self._runs[text]

    def _chain(self, labels: Sequence[str]) -> tuple[int, int] | None:
        """The run of places that labels are together; None unless each begins where the one before ends."""
        runs = [self._run_of(label) for label in labels]
        for one, after in pairwise(runs):
            if one is None or after is None or one[1] + 1 != after[0]:
                return None
        return None if runs[0] is None or runs[-1] is None else (runs[0][0], runs[-1][1])

    # Spellings

    def _spellings(self, low: int, high: int) -> Iterator[str]:
        """What a run of places may be called, the shortest first."""
        if low == high:
            yield self.labels[low]
        if self.hierarchy is not None and low == 0 and high == self.size - 1:
            yield self.hierarchy.labels[-1][0]
        if low < high == self.missing:
            for text in self._spellings(low, high - 1):
                yield f"{text}{_OR_MISSING}"
        elif high != self.missing:
            yield from self._ranges(low, high) if self.ordered else self._sets(low, high)

    def _ranges(self, low: int, high: int) -> Iterator[str]:
        first, last = self.labels[low], self.labels[high]
        if self.hierarchy is not None and self.hierarchy.cuts:
            cuts = self.hierarchy.cuts
            yield from self._intervals(self.hierarchy, cuts[low], cuts[high + 1])
        elif self.kind is Kind.INTEGER:
            ends = ranges.exact(first), ranges.exact(last)
            yield from _from_to(*ends, self.labels[0].startswith("-"))
        else:
            yield f"[{first}, {last}]"
            yield f"[{first}; {last}]"  # numbers only: of dates it is read as nothing

    def _intervals(self, hierarchy: Hierarchy, low: float, high: float) -> Iterator[str]:
        whole, closed = self.kind is Kind.INTEGER, hierarchy.closed == "left"
        if math.isinf(low) and math.isinf(high):
            return
        far = hierarchy.end_closed and (
            high == hierarchy.cuts[-1] if closed else low == hierarchy.cuts[0]
        )
        if whole:  # the same whole numbers from the first to before the next one, and the far end of the domain
            low, high, closed = low + (not closed and not far), high + (not closed or far), True
        if math.isinf(low):
            end = ranges.exact(high)
            yield ranges.below(end, not closed)
            yield f"{'<' if closed else '≤'} {ranges.plain(end)}"
        elif math.isinf(high):
            end = ranges.exact(low)
            if whole:
                yield ranges.or_more(end)
            yield ranges.above(end, closed)
            yield f"{'≥' if closed else '>'} {ranges.plain(end)}"
        elif whole:
            negative = min(filter(math.isfinite, hierarchy.cuts)) < 0
            yield from _from_to(ranges.exact(low), ranges.exact(high - 1), negative)
        else:
            low_in = closed or (hierarchy.end_closed and low == hierarchy.cuts[0])
            high_in = not closed or (hierarchy.end_closed and high == hierarchy.cuts[-1])
            text = ranges.between(ranges.exact(low), ranges.exact(high), low_in, high_in)
            yield text
            yield text.replace(",", ";")

    def _sets(self, low: int, high: int) -> Iterator[str]:
        """The fewest values of the hierarchy, of any level, that cover just these leaves."""
        if self.hierarchy is None:
            yield "{" + ", ".join(self.labels[low : high + 1]) + "}"
            return
        found, place = list[str](), low
        while place <= high:
            fits = (value for value in self._values[place] if value[0] <= high + 1)
            stop, text = next(
                (one for one in fits if self._run_of(one[1]) == (place, one[0] - 1)),
                (place, ""),
            )
            if stop == place:
                return  # this value's own label is read as more
            found.append(text)
            place = stop
        yield found[0] if len(found) == 1 else "{" + ", ".join(found) + "}"

    @cached_property
    def _values(self) -> list[list[tuple[int, str]]]:
        """For every place the values of the hierarchy, widest first, that begin there: the place behind them, and their texts."""
        begin: list[list[tuple[int, str]]] = [[] for _ in self.labels]
        if self.hierarchy is not None:
            for codes, labels in zip(
                reversed(self.hierarchy.maps), reversed(self.hierarchy.labels), strict=True
            ):
                starts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()]
                for first, stop in zip(starts, [*starts[1:], len(codes)], strict=True):
                    begin[first].append((stop, labels[codes[first]] or _MISSING))
        return begin


def _from_to(first: Decimal, last: Decimal, negative: bool) -> Iterator[str]:
    """Whole numbers from one to another, both included."""
    yield ranges.from_to(first, last, negative)
    yield f"[{ranges.plain(first)}, {ranges.plain(last)}]"
    yield f"[{ranges.plain(first)}; {ranges.plain(last)}]"
