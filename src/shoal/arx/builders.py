"""Hierarchies that ARX saved (.ahs): they say how values are grouped, not which values there are.

Intervals of whole numbers know their domain. Orders, masks and intervals of decimals are made for
the values that somebody names. Labels are those that ARX writes. Uses `java` and `data`; recipes
use it.
"""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from shoal.arguments import typed
from shoal.arx.java import JavaObject, load
from shoal.data.disk import reading, unreadable
from shoal.data.hierarchy import Hierarchy, read
from shoal.data.hierarchy.tree import rooted
from shoal.data.kinds import Kind
from shoal.errors import FileError, HierarchyError, ParameterError, ShoalError

__all__ = ["from_file", "hierarchy", "is_saved"]

_SAVED = ".ahs"

_LARGEST_FILE = 64 << 20
_MOST_VALUES = 1_000_000
_MOST_LEVELS = 100

ANY = "*"


def from_file(
    file: str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    kind: Kind | str = Kind.TEXT,
    root: str | None = None,
    add_root: str | None = None,
    values: Iterable[object] | None = None,
) -> Hierarchy:
    """The hierarchy in a CSV file, or in one that ARX saved (.ahs), for some `values`.

    `root` replaces the last level and `add_root` goes above it.
    """
    if not is_saved(file):
        if values is not None:
            raise ParameterError(
                "is for hierarchies that ARX saved (.ahs)", "leave it out", option="values"
            )
        return read(
            file, separator=separator, encoding=encoding, kind=kind, root=root, add_root=add_root
        )
    for option, given in (("separator", separator), ("encoding", encoding)):
        if given is not None:
            raise ParameterError("is for CSV files", "leave it out", option=option)
    tree = hierarchy(file, values).of_kind(Kind.of(kind))
    if root is None and add_root is None:
        return tree
    return Hierarchy.from_lines(rooted(tree.lines(), root, add_root), tree.kind)


def is_saved(file: str | os.PathLike[str]) -> bool:
    """Whether a file's name says that ARX saved a hierarchy in it."""
    return os.fspath(file).lower().endswith(_SAVED)


@typed
def hierarchy(path: str | os.PathLike[str], values: Iterable[object] | None = None) -> Hierarchy:
    """The hierarchy in a file that ARX saved (.ahs), for some values of a column.

    values: the public domain of the column. Intervals of whole numbers need none; all others do,
        since ARX makes them from the values of a table
    """
    where = os.fspath(path)
    try:
        reading(path)
        size = Path(path).stat().st_size
        content = Path(path).read_bytes() if size <= _LARGEST_FILE else b""
    except (OSError, ValueError) as error:
        raise unreadable(f"the hierarchy {where}", error) from None
    saved = load(content, where)
    try:
        return _built(saved, None if values is None else [str(value) for value in values])
    except ShoalError as error:
        raise error.at(where) from None
    except RecursionError:
        raise FileError(f"{where} is not an ARX hierarchy") from None


def _built(saved: JavaObject, values: list[str] | None) -> Hierarchy:
    match saved.name:
        case "HierarchyBuilderIntervalBased":
            return _Intervals.of(saved).hierarchy(values)
        case "HierarchyBuilderOrderBased":
            return _ordered(saved, values)
        case "HierarchyBuilderRedactionBased":
            return _redacted(saved, _required(values))
        case "HierarchyBuilderDate" | "HierarchyBuilderPriorityBased":
            raise HierarchyError(
                f"{saved.name} has no counterpart",
                'export the hierarchy from ARX as CSV, or use build = "dates" or "group"',
            )
    raise FileError("not an ARX hierarchy", "it takes a file that ARX saved as .ahs")


def _required(values: list[str] | None) -> list[str]:
    if not values:
        raise ParameterError(
            "is needed: ARX makes this hierarchy from the values of a table",
            "name the values that the column may have, or export the hierarchy from ARX as CSV",
            option="values",
        )
    return values


def _kind(saved: JavaObject) -> Kind:
    """The type of the values."""
    datatype = saved.object("datatype")
    name = "" if datatype is None else datatype.name
    kinds = {"DataType$ARXInteger": Kind.INTEGER, "DataType$ARXDecimal": Kind.FLOAT}
    return kinds.get(name, Kind.TEXT)


# Groups of neighbours


@dataclass(frozen=True)
class _Function:
    """How the label of a group is made from its values, or from the ends of an interval."""

    given: JavaObject

    @classmethod
    def of(cls, given: object) -> "_Function":
        if not isinstance(given, JavaObject) or not given.name.startswith("AggregateFunction$"):
            raise _unknown("the label of a group")
        return cls(given)

    def label(self, values: Sequence[str]) -> str:
        given = self.given
        match given.name.removeprefix("AggregateFunction$"):
            case "GenericSet":
                return "{" + ", ".join(values) + "}"
            case "GenericBounds":
                return f"[{values[0]}, {values[-1]}]"
            case "GenericInterval":
                opened = "[" if given.get("lowerIncluded") is True else "]"
                closed = "]" if given.get("upperIncluded") is True else "["
                return f"{opened}{values[0]}, {values[-1]}{closed}"
            case "GenericConstant":
                constant = given.text("value")
                if constant is not None:
                    return constant
            case "GenericCommonPrefix":
                return self._prefix(values)
            case "GenericSetOfPrefixes":
                length = given.whole("length") or 1
                return "-".join(value[:length] for value in values)
        raise _unknown(f"the label {given.name!r}")

    def _prefix(self, values: Sequence[str]) -> str:
        first, last = min(values), max(values)
        pairs = zip(first, last, strict=False)
        shared = next((n for n, (one, two) in enumerate(pairs) if one != two), None)
        prefix = first if shared is None else first[:shared]
        redaction = self.given.text("redaction")
        if redaction is None:
            return prefix
        return prefix.ljust(max(map(len, values)), redaction[:1])


@dataclass(frozen=True)
class _Group:
    size: int
    function: _Function


def _levels(saved: JavaObject) -> list[list[_Group]]:
    """The groups of every level above the first, in their order."""
    given = saved.map("groups")
    if len(given) > _MOST_LEVELS or set(given) != set(range(len(given))):
        raise _unknown("its levels")
    levels = []
    for number in range(len(given)):
        groups = []
        for one in given[number].list("list") if isinstance(given[number], JavaObject) else []:
            size = one.whole("size") if isinstance(one, JavaObject) else None
            if size is None or size < 1:
                raise _unknown("a group")
            groups.append(_Group(size, _Function.of(one.object("function"))))
        if groups:
            levels.append(groups)
    return levels


def _unknown(what: str) -> FileError:
    return FileError(f"{what} is not what ARX saves", "export the hierarchy from ARX as CSV")


def _distinct(column: Sequence[tuple[object, str]]) -> list[str]:
    """Labels of groups, of which different ones get a number if they are called the same."""
    names: dict[str, dict[object, str]] = {}
    labels = []
    for group, label in column:
        known = names.setdefault(label, {})
        if group not in known:
            known[group] = f"{label}-{len(known)}" if known else label
        labels.append(known[group])
    return labels


# Intervals


@dataclass(frozen=True)
class _Interval:
    low: Fraction
    high: Fraction
    function: _Function


@dataclass(frozen=True)
class _Bounds:
    """Where intervals end: the last one is stretched to `coded`, beyond which values are only
    known to be outside; nothing lies beyond `extreme`.
    """

    repeated: Fraction
    coded: Fraction
    extreme: Fraction

    @classmethod
    def of(cls, given: JavaObject | None, usual: Fraction) -> "_Bounds":
        if given is None:
            return cls(usual, usual, usual)
        repeated = _fraction(given.get("repeatBound"), usual)
        coded = _fraction(given.get("snapBound"), repeated)
        return cls(repeated, coded, _fraction(given.get("labelBound"), coded))


def _fraction(given: object, usual: Fraction | None = None) -> Fraction:
    if given is None and usual is not None:
        return usual
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise _unknown("an end of an interval")
    return Fraction(given)


@dataclass(frozen=True)
class _Intervals:
    kind: Kind
    intervals: tuple[_Interval, ...]
    levels: list[list[_Group]]
    lower: _Bounds
    upper: _Bounds

    @classmethod
    def of(cls, saved: JavaObject) -> "_Intervals":
        kind = _kind(saved)
        if kind is Kind.TEXT:
            raise HierarchyError(
                "intervals of dates have no counterpart",
                'export the hierarchy from ARX as CSV, or use build = "dates"',
            )
        intervals = []
        for one in saved.list("intervals"):
            if not isinstance(one, JavaObject):
                raise _unknown("an interval")
            low, high = _fraction(one.get("min")), _fraction(one.get("max"))
            intervals.append(_Interval(low, high, _Function.of(one.object("function"))))
        if not intervals or any(one.low >= one.high for one in intervals):
            raise _unknown("an interval")
        if any(one.high != two.low for one, two in pairwise(intervals)):
            raise _unknown("a gap between intervals")
        lower = _Bounds.of(saved.object("lowerRange"), intervals[0].low)
        upper = _Bounds.of(saved.object("upperRange"), intervals[-1].high)
        return cls(kind, tuple(intervals), _levels(saved), lower, upper)

    def hierarchy(self, values: list[str] | None) -> Hierarchy:
        """All levels for some values, or for every whole number between the ends."""
        numbers = self._numbers(values)
        texts = [self._text(number) for number in numbers]
        columns = [texts]
        intervals: Sequence[_Interval] = self.intervals
        levels = self.levels
        while True:
            column = [self._labelled(intervals, number) for number in numbers]
            columns.append(_distinct(column))
            if len({group for group, _ in column}) == 1:
                break
            if not levels:
                columns.append([ANY] * len(texts))
                break
            intervals, levels = self._merged(intervals, levels[0]), levels[1:]
        if len(set(columns[-1])) > 1:
            columns.append([ANY] * len(texts))
        return Hierarchy.from_lines(list(zip(*columns, strict=True)), self.kind)

    def _numbers(self, values: list[str] | None) -> list[Fraction]:
        if values is None:
            if self.kind is not Kind.INTEGER:
                _required(values)
            first, last = math.ceil(self.lower.extreme), math.ceil(self.upper.extreme)
            if last - first > _MOST_VALUES:
                raise ParameterError(
                    f"is needed: the intervals cover more than {_MOST_VALUES:,} numbers",
                    "name the values that the column may have",
                    option="values",
                )
            return [Fraction(number) for number in range(first, last)]
        keys = [key for key in map(self.kind.key, values) if key is not None]
        numbers = sorted({Fraction(key) for key in keys if isinstance(key, int | float)})
        if any(not self.lower.extreme <= one < self.upper.extreme for one in numbers):
            raise ParameterError("has numbers outside all intervals", option="values")
        return numbers

    def _text(self, number: Fraction) -> str:
        if self.kind is Kind.INTEGER or number.denominator == 1:
            text = str(math.floor(number))
            return text if self.kind is Kind.INTEGER else f"{text}.0"
        return repr(float(number))

    def _labelled(self, intervals: Sequence[_Interval], number: Fraction) -> tuple[object, str]:
        """The interval that a number lies in, and its label."""
        if number < self.lower.coded:
            return "below", f"<{self._text(self.lower.coded)}"
        if number >= self.upper.coded:
            return "above", f">={self._text(self.upper.coded)}"
        first = _repeated(intervals, self.lower.repeated)
        last = _repeated(intervals, self.upper.repeated, ends_there=True)
        first = _Interval(self.lower.coded, first.high, first.function)
        last = _Interval(last.low, self.upper.coded, last.function)
        if first.high > last.low:
            first = last = _Interval(first.low, last.high, first.function)
        found = _repeated(intervals, number)
        if found.low < first.high:
            found = first
        elif found.high > last.low:
            found = last
        ends = (self._text(found.low), self._text(found.high))
        return (found.low, found.high), found.function.label(ends)

    @staticmethod
    def _merged(intervals: Sequence[_Interval], groups: Sequence[_Group]) -> list[_Interval]:
        """The intervals of the next level: as many of this level as each group has."""
        width = intervals[-1].high - intervals[0].low
        grouped = sum(group.size for group in groups)
        merged = []
        place = 0
        repeats = grouped >= len(intervals)
        while True:
            for group in groups:
                last = place + group.size
                if not repeats:
                    last = min(last, len(intervals))
                if last <= place:
                    continue
                if last - place > _MOST_VALUES:
                    raise _unknown("a group")
                turns, at = divmod(place, len(intervals))
                low = intervals[at].low + turns * width
                turns, at = divmod(last - 1, len(intervals))
                merged.append(_Interval(low, intervals[at].high + turns * width, group.function))
                place = last
            if repeats or place >= len(intervals):
                return merged


def _repeated(
    intervals: Sequence[_Interval], number: Fraction, *, ends_there: bool = False
) -> _Interval:
    """The interval of an endless repetition that a number lies in, or that ends with it."""
    low, high = intervals[0].low, intervals[-1].high
    width = high - low
    turns = math.floor((number - low) / width)
    if ends_there and number == low + turns * width:
        turns -= 1
    offset = turns * width
    for one in intervals:
        begins, ends = one.low + offset, one.high + offset
        if begins < number <= ends if ends_there else begins <= number < ends:
            return _Interval(begins, ends, one.function)
    raise _unknown("an interval")


# Orders and masks


def _ordered(saved: JavaObject, values: list[str] | None) -> Hierarchy:
    """Neighbours in an order, so many at a time."""
    kind = _kind(saved)
    comparator = saved.object("comparator")
    order = {} if comparator is None else comparator.map("val$map")
    places = {name: place for name, place in order.items() if isinstance(place, int)}
    if values is None and places:
        values = [str(name) for name in sorted(places, key=places.__getitem__)]
    texts = list(dict.fromkeys(_required(values)))
    if places:
        if any(text not in places for text in texts):
            raise ParameterError("has values that the order lacks", option="values")
        texts.sort(key=places.__getitem__)
    elif comparator is not None:
        texts.sort(key=lambda text: kind.key(text))  # type: ignore[arg-type,return-value]
    columns = [texts]
    parts = [[text] for text in texts]
    for groups in _levels(saved):
        if len(parts) == 1:
            break
        merged, labels = [], []
        for inner, function in _taken(parts, groups):
            merged.append([text for part in inner for text in part])
            labels.append(function.label(merged[-1]))
        parts = merged
        cells = zip(range(len(parts)), labels, parts, strict=True)
        columns.append(_distinct([(n, label) for n, label, part in cells for _ in part]))
    if len(parts) > 1:
        columns.append([ANY] * len(texts))
    return Hierarchy.from_lines(list(zip(*columns, strict=True)), kind)


def _taken(
    parts: Sequence[list[str]], groups: Sequence[_Group]
) -> Iterator[tuple[Sequence[list[str]], _Function]]:
    """As many parts as each group has, over and over until all are taken."""
    place = 0
    while place < len(parts):
        for group in groups:
            if place < len(parts):
                yield parts[place : place + group.size], group.function
                place += group.size


def _redacted(saved: JavaObject, values: list[str]) -> Hierarchy:
    """One character hidden after the other."""
    padding = _character(saved.get("paddingCharacter"))
    mask = _character(saved.get("redactionCharacter"))
    from_right = saved.text("redactionOrder") != "LEFT_TO_RIGHT"
    align_right = saved.text("aligmentOrder") == "RIGHT_TO_LEFT"
    texts = list(dict.fromkeys(values))
    length = max(map(len, texts))
    lines = []
    for text in texts:
        padded = text.rjust(length, padding) if align_right else text.ljust(length, padding)
        line = [text]
        for hidden in range(1, length + 1):
            if from_right:
                line.append(padded[: length - hidden] + mask * hidden)
            else:
                line.append(mask * hidden + padded[hidden:])
        lines.append(line)
    return Hierarchy.from_lines(lines)


def _character(given: Any) -> str:
    if isinstance(given, str) and len(given) == 1:
        return given
    raise _unknown("a character")
