"""Making hierarchies from a declared domain: intervals, dates, masking, order, groups, suppression.

Uses `errors`, `kinds`, `free_memory` and the rest of this room. No builder looks at a table, so the
number of levels and their values never depend on the rows; `derive` does look at them, and marks
what it makes.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, pairwise, product
from typing import Any, Literal, Protocol

import numpy as np

from shoal.arguments import typed, typed_but
from shoal.counts import smallest
from shoal.data import free_memory
from shoal.data.hierarchy import ranges
from shoal.data.hierarchy.ranges import plain
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.errors import HierarchyError, ParameterError, TooLargeError, listed, plural

__all__ = [
    "ColumnValues",
    "dates",
    "derive",
    "domain_texts",
    "groups",
    "intervals",
    "mask",
    "order",
    "suppress",
]

Number = int | float | str | Decimal
Tree = Mapping[str, "Tree | Sequence[object]"]
"""Groups by name: each has a list of values, or groups again."""

# About a gigabyte of texts.
MOST_LEAVES = 5_000_000
# Characters of a text that is made up, and levels of groups in groups.
LONGEST = 1_000
# Bytes of a text in memory, besides its characters.
_TEXT = 60
# Powers of ten that floats have; numbers beyond would take hours to write out.
_WIDEST = 308


@typed
def intervals(  # noqa: PLR0913  keyword options
    low: Number | None = None,
    high: Number | None = None,
    *,
    widths: Sequence[Number] = (),
    cuts: Sequence[Sequence[Number]] = (),
    bottom: Number | None = None,
    top: Number | None = None,
    closed: Literal["left", "right"] = "left",
    end: Literal["closed", "open"] = "closed",
    kind: Kind | str = Kind.INTEGER,
    step: Number | None = None,
    origin: Number = 0,
    root: str = "*",
) -> Hierarchy:
    """Intervals of the numbers from low to high, both included.

    Each of `widths` (counted from `origin`), or each list of `cuts`, makes a level. Everything
    below `bottom` and from `top` on is one value at each of them; without `low` or `high` the
    domain is open there and `bottom` or `top` is a leaf itself. `closed` says on which side an
    interval includes its end. Of type integer, every integer is a leaf; of type float the first of
    `widths` or `cuts` is level 0 already, unless `step` says that only low, low + step, … occur.
    `end="open"` leaves the far end itself out of a float domain.

    >>> [level[-2:] for level in intervals(0, 120, widths=[5, 20], top=90).labels]
    [('119', '120'), ('85-89', '90+'), ('80-89', '90+'), ('*',)]
    >>> intervals(0, 1, widths=[0.25, 0.5], kind="float").labels[0]
    ('[0, 0.25)', '[0.25, 0.5)', '[0.5, 0.75)', '[0.75, 1]')
    """
    kind = Kind.of(kind, among=(Kind.INTEGER, Kind.FLOAT))
    _require_choice("closed", closed, ("left", "right"))
    _require_choice("end", end, ("closed", "open"))
    if widths and cuts:
        raise ParameterError("give `widths` or `cuts`, not both")
    ends = _Ends.of(low, bottom, top, high, kind)
    levels = _levels_by_cuts(cuts, ends, kind)
    if widths:
        levels = _levels_by_width(widths, origin, ends, kind)
    if kind is Kind.INTEGER and step is None:
        step = 1
    if step is None:
        return _continuous(ends, levels, closed, end == "closed", root)
    if end == "open":
        raise ParameterError(
            "is for continuous domains",
            "lower `high` by one step instead",
            option="end",
            given=repr(end),
        )
    grid = _Grid.of(ends, _number(step, "step", kind), closed, kind)
    return _discrete(ends, levels, grid, kind, root)


@dataclass(frozen=True)
class _Ends:
    """Where a numeric domain begins and ends, and where its bottom and top values do.

    None where there is no such end.
    """

    low: Decimal | None
    bottom: Decimal | None
    top: Decimal | None
    high: Decimal | None

    @classmethod
    def of(
        cls,
        low: Number | None,
        bottom: Number | None,
        top: Number | None,
        high: Number | None,
        kind: Kind,
    ) -> "_Ends":
        given = {"low": low, "bottom": bottom, "top": top, "high": high}
        for name, beyond in (("low", "bottom"), ("high", "top")):
            if given[name] is None and given[beyond] is None:
                raise ParameterError(
                    f"give `{name}`, or `{beyond}` for a domain that is open there"
                )
        known: dict[str, Decimal] = {}
        for name, number in given.items():
            if number is not None:
                known[name] = _number(number, name, kind)
        for (name, value), (after, beyond_it) in pairwise(known.items()):
            if value > beyond_it:
                raise ParameterError(f"must not be below `{name}`", option=after)
            if value == beyond_it and (name, after) == ("low", "bottom"):
                raise ParameterError(f"must not be equal to `{name}`", option=after)
        return cls(*(known.get(name) for name in given))

    @property
    def first(self) -> Decimal:
        """Where the levels' own intervals begin."""
        return self.low if self.bottom is None else self.bottom  # type: ignore[return-value]

    @property
    def last(self) -> Decimal:
        """Where the levels' own intervals end."""
        return self.high if self.top is None else self.top  # type: ignore[return-value]

    def bounds(self) -> set[Decimal]:
        return {bound for bound in (self.bottom, self.top) if bound is not None}


@dataclass(frozen=True)
class _Cuts:
    """Where a level is cut, and how the level is called in a message."""

    name: str
    points: set[Decimal]


def _levels_by_width(
    widths: Sequence[Number],
    origin: Number,
    ends: _Ends,
    kind: Kind,
) -> list[_Cuts]:
    start = _number(origin, "origin", kind)
    levels = []
    for given in widths:
        width = _number(given, "widths", kind, listed=True)
        points = _multiples(width, start, ends)
        levels.append(_Cuts(f"width {plain(width)}", points))
    return levels


def _multiples(width: Decimal, origin: Decimal, ends: _Ends) -> set[Decimal]:
    if width <= 0:
        raise ParameterError(f"width {plain(width)} is not above 0", "give `widths` above 0")
    before = math.floor((ends.first - origin) / width)
    behind = math.ceil((ends.last - origin) / width)
    _require_room(behind - before)
    multiples = (origin + width * i for i in range(before, behind + 1))
    inside = {point for point in multiples if ends.first <= point <= ends.last}
    return inside | ends.bounds()


def _levels_by_cuts(cuts: Sequence[Sequence[Number]], ends: _Ends, kind: Kind) -> list[_Cuts]:
    levels = []
    for place, given in enumerate(cuts, 1):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ParameterError(
                "is not a list of lists",
                "give one list for each level, as in `cuts=[[10, 20, 30], [20]]`",
                option="cuts",
            )
        points = {_number(point, "cuts", kind, listed=True) for point in given}
        outside = [point for point in points if not ends.first <= point <= ends.last]
        if outside:
            raise ParameterError(
                f"cut point {plain(min(outside))} is outside the domain, or beyond `bottom` or "
                "`top`",
                "leave it out",
            )
        levels.append(_Cuts(f"list {place} of `cuts`", points | ends.bounds()))
    return levels


def _require_nested(levels: Sequence[_Cuts]) -> None:
    for fine, coarse in pairwise(levels):
        # Where they differ is not said: `derive` has private ends.
        if not coarse.points <= fine.points:
            raise ParameterError(
                f"{coarse.name} does not nest in {fine.name}, so that an interval would lie on two "
                "paths",
                "cut a coarser level only where the finer one is cut",
            )


@dataclass(frozen=True)
class _Grid:
    """The values low, low + step, … of a domain, as many as `count`; an open end is one more."""

    low: Decimal
    step: Decimal
    count: int
    closed: str

    @classmethod
    def of(
        cls,
        ends: _Ends,
        step: Decimal,
        closed: str,
        kind: Kind,
    ) -> "_Grid":
        if step <= 0:
            raise ParameterError("is not above 0", option="step", given=plain(step))
        if kind is Kind.FLOAT and (ends.low is None or ends.high is None):
            raise ParameterError(
                "a domain with a step needs `low` and `high`", "leave `step` out for an open one"
            )
        # A cut that is closed on the right belongs to the value before it.
        after = step if closed == "right" else Decimal(0)
        low = ends.first + after - step if ends.low is None else ends.low
        high = ends.last + after if ends.high is None else ends.high
        count = int((high - low) / step) + 1
        _require_room(count)
        if low + step * (count - 1) != high:
            raise ParameterError(
                "is not `low` plus a whole number of steps",
                "change one of them, or `step`",
                option="high",
            )
        return cls(low, step, count, closed)

    def value(self, place: int) -> Decimal:
        return self.low + self.step * place

    def first_behind(self, cut: Decimal) -> int:
        """The place of the first value behind a cut."""
        steps = (cut - self.low) / self.step
        if self.closed == "left":
            return math.ceil(steps)
        return math.floor(steps) + 1

    def starts(self, cuts: set[Decimal]) -> list[int]:
        """The places at which the intervals between some cuts begin."""
        places = {0, *map(self.first_behind, cuts)}
        return sorted(place for place in places if place < self.count)


def _discrete(
    ends: _Ends,
    levels: Sequence[_Cuts],
    grid: _Grid,
    kind: Kind,
    root: str,
) -> Hierarchy:
    """Every value of the grid is a leaf."""
    if not levels and ends.bounds():
        levels = [_Cuts("step", _multiples(grid.step, grid.low, ends))]
    _require_nested(levels)
    values = [grid.value(place) for place in range(grid.count)]
    texts = [plain(value) for value in values]
    negative = (ends.first if ends.low is None else grid.low) < 0
    bottom = None if ends.bottom is None else grid.first_behind(ends.bottom)
    top = None if ends.top is None else grid.first_behind(ends.top)

    def label(start: int, stop: int) -> str:
        if stop == bottom:
            return ranges.below(grid.value(stop))
        if start == top:
            return ranges.or_more(values[start])
        return ranges.from_to(values[start], values[stop - 1], negative)

    runs = []
    for level in levels:
        starts = grid.starts(level.points)
        runs.append(_Runs.of(starts, grid.count, label))
    if ends.low is not None and ends.high is not None:
        return _stacked(texts, runs, kind, root)
    cuts = [*map(float, values), float(grid.value(grid.count))]
    if ends.low is None:
        cuts[0] = -math.inf
        texts[0] = label(0, 1)
    if ends.high is None:
        cuts[-1] = math.inf
        texts[-1] = label(grid.count - 1, grid.count)
    tree = _stacked(texts, runs, kind, root)
    return replace(tree, cuts=_distinct(cuts), end_closed=False)


def _continuous(
    ends: _Ends,
    levels: Sequence[_Cuts],
    closed: str,
    end_closed: bool,
    root: str,
) -> Hierarchy:
    """The intervals of the first level are the leaves."""
    if ends.high is not None and ends.high in (ends.low, ends.top):
        raise ParameterError("must be above `low` and above `top`", option="high")
    if not levels and not ends.bounds():
        raise ParameterError("a continuous domain has no single values", "give `widths` or `cuts`")
    levels = levels or [_Cuts("bottom and top", ends.bounds())]
    _require_nested(levels)
    outer = {ends.low, ends.high}
    inner = sorted(levels[0].points - outer)
    edges = [ends.low, *inner, ends.high]
    places = {edge: place for place, edge in enumerate(edges)}
    left = closed == "left"
    last = len(edges) - 1

    def label(start: int, stop: int) -> str:
        low, high = edges[start], edges[stop]
        if low is None or (high is not None and high == ends.bottom):
            return ranges.below(high, not left)  # type: ignore[arg-type]
        if high is None or low == ends.top:
            return ranges.above(low, left)
        low_in = left or (start == 0 and end_closed)
        high_in = not left or (stop == last and end_closed)
        return ranges.between(low, high, low_in, high_in)

    runs = []
    for level in levels:
        starts = [0, *sorted(places[point] for point in level.points - outer)]
        runs.append(_Runs.of(starts, last, label))
    lowest = -math.inf if ends.low is None else float(ends.low)
    highest = math.inf if ends.high is None else float(ends.high)
    cuts = [lowest, *map(float, inner), highest]
    tree = _stacked(runs[0].labels, runs[1:], Kind.FLOAT, root)
    far = cuts[-1] if left else cuts[0]
    end_closed = end_closed and math.isfinite(far)
    return replace(tree, cuts=_distinct(cuts), closed=closed, end_closed=end_closed)


def _distinct(cuts: list[float]) -> tuple[float, ...]:
    if len(set(cuts)) < len(cuts):
        raise ParameterError(
            "two cut points are the same floating-point number",
            "leave one out, or declare `low` and `high`",
        )
    return tuple(cuts)


@typed
def dates(
    first: dt.date | str,
    last: dt.date | str,
    levels: Sequence[str] = ("month", "quarter", "year"),
    *,
    root: str = "*",
) -> Hierarchy:
    """The days from first to last, both included, in weeks, months, quarters, years or decades.

    `levels` is any choice of week, month, quarter, year and decade, the finer first; level 0 is the
    day. Weeks cross the ends of months and years, so above "week" there is only "iso-year", the
    year that ISO 8601 counts a week to.

    >>> dates("2024-12-30", "2025-01-01", ["month", "year"]).lines()[0]
    ['2024-12-30', '2024-12', '2024', '*']
    >>> dates("2024-12-30", "2025-01-01", ["week", "iso-year"]).lines()[0]
    ['2024-12-30', '2025-W01', 'ISO 2025', '*']
    """
    start, stop = _day(first, "first"), _day(last, "last")
    if start > stop:
        raise ParameterError("is after `last`", "swap them", option="first")
    if isinstance(levels, str):
        levels = (levels,)
    _require_periods(levels)
    chosen = [PERIODS[level] for level in levels if level != "day"]
    _require_room((stop - start).days + 1, len(chosen) + 2)
    days = [dt.date.fromordinal(at) for at in range(start.toordinal(), stop.toordinal() + 1)]
    runs = [_runs_of([label(day) for day in days]) for label in chosen]
    texts = [day.isoformat() for day in days]
    # Refuses a blank root.
    Hierarchy.from_lines([[texts[0], *(level.labels[0] for level in runs), root]], Kind.DATE)
    return _stacked(texts, runs, Kind.DATE, root)


def _require_periods(levels: Sequence[str]) -> None:
    """Refuse unknown periods, and those that do not nest."""
    unknown = [level for level in levels if level not in PERIODS]
    if unknown:
        raise ParameterError(f"has {unknown[0]!r}", f"it takes {listed(PERIODS)}", option="levels")
    for fine, coarse in pairwise(levels):
        if coarse in COARSER[fine]:
            continue
        reason = "the finer comes first"
        if "week" in (fine, coarse):
            reason = "weeks cross the ends of months and years"
        allowed = ", ".join(map(repr, COARSER[fine])) or "only the root"
        raise ParameterError(
            f"{fine!r} does not nest in {coarse!r}: {reason}", f"above {fine!r} goes {allowed}"
        )


PERIODS: dict[str, Callable[[dt.date], str]] = {
    "day": dt.date.isoformat,
    "week": lambda day: "{}-W{:02}".format(*day.isocalendar()),
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0-{day.year // 10:03}9",
    "iso-year": lambda day: f"ISO {day.isocalendar().year:04}",
}
COARSER: dict[str, tuple[str, ...]] = {
    "day": ("week", "month", "quarter", "year", "decade", "iso-year"),
    "week": ("iso-year",),
    "month": ("quarter", "year", "decade"),
    "quarter": ("year", "decade"),
    "year": ("decade",),
    "decade": (),
    "iso-year": (),
}


@typed
def mask(  # noqa: PLR0913  keyword options
    values: Iterable[object] | None = None,
    *,
    length: int | None = None,
    alphabet: str | Sequence[str] = "0123456789",
    side: Literal["left", "right"] = "right",
    steps: Sequence[int] | None = None,
    symbol: str = "*",
    pad: str | None = None,
    align: Literal["left", "right"] = "left",
    kind: Kind | str = Kind.TEXT,
    root: str = "*",
) -> Hierarchy:
    """Values masked character by character from one side, as postal codes are.

    The domain is `values`, or every text of `length` characters of the `alphabet` (one for all
    places, or a list of one per place). `steps` are the numbers of characters masked at each level,
    by default 1, 2, 3…; the root comes above. With `pad`, shorter values are filled up to the
    longest before masking, and `align="right"` fills on the left.

    >>> mask(["10115", "10117", "80331"], steps=[1, 3]).lines()[1]
    ['10117', '1011*', '10***', '*']
    """
    if (values is None) == (length is None and isinstance(alphabet, str)):
        raise ParameterError(
            "give `values`, or `length` and `alphabet` for all texts of that length"
        )
    _require_choice("side", side, ("left", "right"))
    _require_choice("align", align, ("left", "right"))
    _require_character("symbol", symbol)
    if pad is not None:
        _require_character("pad", pad)
    kind = Kind.of(kind)
    texts = list(_every(length, alphabet)) if values is None else domain_texts(values, kind)
    width = max(map(len, texts), default=0)
    if steps is None:
        steps = range(1, width)
    _require_room(len(texts), len(steps) + 2, width)
    _require_ascending(steps)
    if values is None and side == "right" and kind is Kind.TEXT:
        return _prefixes(texts, [step for step in steps if step < width], symbol, root)
    filled = texts
    if pad is not None:
        fill = str.ljust if align == "left" else str.rjust
        filled = [fill(text, width, pad) for text in texts]
    hide = _hide_right if side == "right" else _hide_left
    masked = [hide(filled, step, symbol) for step in steps if step < width]
    roots = [root] * len(texts)
    lines = list(zip(texts, *masked, roots, strict=True))
    return Hierarchy.from_lines(lines, kind)


def _prefixes(texts: Sequence[str], steps: Sequence[int], symbol: str, root: str) -> Hierarchy:
    """All texts of a length, masked from the right: those with a common beginning are a run.

    They come in an order in which that is so, which makes them far faster to lay out.
    """
    levels = []
    for step in steps:
        symbols = symbol * step
        begins = _runs_of([text[:-step] for text in texts])
        levels.append(_Runs(begins.starts, [begin + symbols for begin in begins.labels]))
    # Refuses a blank root, and texts that are blank.
    Hierarchy.from_lines([[texts[0], *(level.labels[0] for level in levels), root]])
    return _stacked(texts, levels, Kind.TEXT, root)


def _require_ascending(steps: Sequence[int]) -> None:
    whole = all(isinstance(step, int) and step >= 1 for step in steps)
    if not whole or sorted(set(steps)) != list(steps):
        raise ParameterError(
            "must be whole numbers of masked characters, each above the one before",
            "give some such as 1, 2, 4",
            option="steps",
        )


def _hide_right(texts: Sequence[str], hidden: int, symbol: str) -> list[str]:
    """The texts with their last characters masked; a shorter one is masked whole."""
    symbols = symbol * hidden
    return [text[:-hidden] + symbols[: len(text)] for text in texts]


def _hide_left(texts: Sequence[str], hidden: int, symbol: str) -> list[str]:
    symbols = symbol * hidden
    return [symbols[: len(text)] + text[hidden:] for text in texts]


def _every(length: int | None, alphabet: str | Sequence[str]) -> Iterator[str]:
    """Every text of a length, or with an alphabet for each place."""
    if isinstance(alphabet, str):
        if not isinstance(length, int) or length < 1:
            raise ParameterError(
                "is out of range",
                "it takes a whole number above 0",
                option="length",
                given=str(length),
            )
        if length > LONGEST:
            raise TooLargeError(
                f"is {_about(length)}, and {LONGEST:,} is the most",
                "mask shorter texts, or give `values`",
                option="length",
            )
        alphabet = [alphabet] * length
    elif length not in (None, len(alphabet)):
        raise ParameterError(
            f"is {length} and there are {len(alphabet)} alphabets",
            "give one per place",
            option="length",
        )
    for characters in alphabet:
        if not characters or len(set(characters)) < len(characters):
            raise ParameterError("is empty or has a character twice", option="alphabet")
    _require_room(math.prod(map(len, alphabet)), 2, len(alphabet))
    return map("".join, product(*alphabet))


@typed
def order(
    values: Iterable[object],
    sizes: Sequence[int | Sequence[int]],
    *,
    sort: bool = False,
    kind: Kind | str = Kind.TEXT,
    root: str = "*",
) -> Hierarchy:
    """Values in their order, in runs: level l merges `sizes[l - 1]` neighbours of the level below.

    A size may be a list, one size per run. The order is the one given, or that of the type with
    `sort`.

    >>> order(["none", "primary", "secondary", "bachelor", "master"], [[2, 1, 2]]).labels[1]
    ('none to primary', 'secondary', 'bachelor to master')
    """
    kind = Kind.of(kind)
    texts = domain_texts(values, kind)
    if sort:
        texts.sort(key=lambda text: kind.key(text))  # type: ignore[arg-type,return-value]
    _require_room(len(texts), len(sizes) + 2)

    def label(start: int, stop: int) -> str:
        if stop - start == 1:
            return texts[start]
        return ranges.first_to_last(texts[start], texts[stop - 1])

    starts = list(range(len(texts)))
    levels = []
    for number, size in enumerate(sizes, 1):
        merged = _sizes(size, len(starts), number)
        begins = accumulate(merged[:-1], initial=0)
        starts = [starts[begin] for begin in begins]
        runs = _Runs.of(starts, len(texts), label)
        if len(set(runs.labels)) < len(starts):
            raise HierarchyError(
                f"two runs of level {number} would have the same label",
                "make groups with names instead",
            )
        levels.append(runs)
    # Refuses duplicates, and values that are not of the type.
    Hierarchy.from_lines([[text, root] for text in texts], kind)
    return _stacked(texts, levels, kind, root)


def _sizes(size: int | Sequence[int], total: int, level: int) -> list[int]:
    """How many values of the level below each run of a level has."""
    sizes = size if isinstance(size, Sequence) else [size]
    if any(not isinstance(number, int) or number < 1 for number in sizes):
        raise ParameterError(
            f"has a size at level {level} that is not a whole number above 0", option="sizes"
        )
    if isinstance(size, int):
        # As many runs of this size as are needed; the last one may be shorter.
        return [size] * math.ceil(total / size)
    if sum(sizes) != total:
        raise ParameterError(
            f"of level {level} sum to {sum(sizes)}, and the level below has "
            f"{plural(total, 'value')}",
            "give sizes with that sum",
            option="sizes",
        )
    return list(sizes)


@typed_but("tree")
def groups(
    tree: Tree,
    *,
    values: Iterable[object] | None = None,
    rest: str | None = None,
    kind: Kind | str = Kind.TEXT,
    root: str = "*",
) -> Hierarchy:
    """Named groups of values, or of groups again.

    Where branches differ in depth, the shorter keep their last name. With `values`, the whole
    domain, those in no group go into the group `rest`; without `rest` they are an error.

    >>> tree = groups({"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Asia": ["JP"]})
    >>> tree.lines()[0], tree.lines()[3]
    (['FR', 'West', 'Europe', '*'], ['JP', 'Asia', 'Asia', '*'])
    """
    kind = Kind.of(kind)
    if not isinstance(tree, Mapping):
        raise ParameterError('groups are written as {"name": [values]}, and may be nested')
    paths = list(_paths(tree, (), kind))
    if values is not None:
        grouped = {kind.key(path[0]) for path in paths}
        domain = domain_texts(values, kind)
        absent = [text for text in domain if kind.key(text) not in grouped]
        if absent and rest is None:
            raise _ungrouped(absent)
        paths += [(text, str(rest)) for text in absent]
    depth = max(map(len, paths), default=0)
    lines = []
    for value, *above in paths:
        # A value's own group is repeated upwards from below: (JP, Asia) becomes (JP, Asia, Asia).
        repeated = above[:1] * (depth - len(above) - 1)
        lines.append([value, *repeated, *above, root])
    return Hierarchy.from_lines(lines, kind)


def _ungrouped(absent: Sequence[str]) -> HierarchyError:
    what = f"1 value of the domain is in no group, {absent[0]!r}"
    if len(absent) > 1:
        what = f"{len(absent):,} values of the domain are in no group, {absent[0]!r} first"
    return HierarchyError(
        what, "put all values into groups, or give `rest`, the group of the others"
    )


def _paths(
    tree: Tree | Sequence[object], above: tuple[str, ...], kind: Kind
) -> Iterator[tuple[str, ...]]:
    """Every value with the groups that it is in, the innermost first."""
    # Python's stack would not reach as far as twice that.
    if len(above) > LONGEST // 2:
        raise ParameterError(
            f"groups lie more than {LONGEST // 2} deep in groups", "make them flatter"
        )
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _paths(below, (str(name), *above), kind)
    elif isinstance(tree, str) or not isinstance(tree, Iterable):
        raise ParameterError(f"group {above[0]!r}: its values come as a list, or as groups again")
    else:
        yield from ((text, *above) for text in domain_texts(tree, kind))


@typed
def suppress(
    values: Iterable[object], *, kind: Kind | str = Kind.TEXT, root: str = "*"
) -> Hierarchy:
    """Two levels: the value unchanged, or nothing of it.

    >>> suppress(["male", "female"]).lines()
    [['male', '*'], ['female', '*']]
    """
    kind = Kind.of(kind)
    lines = [[text, root] for text in domain_texts(values, kind)]
    return Hierarchy.from_lines(lines, kind)


class ColumnValues(Protocol):
    """What `derive` needs of a table's column: its name, its type and its values.

    The values are those that occur, in order, None for missing.
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def keys(self) -> Sequence[Key | None]: ...


@typed
def derive(column: ColumnValues, make: Callable[..., Hierarchy], **options: Any) -> Hierarchy:
    """A hierarchy over the values that a table's column happens to have, marked as derived.

    `make` is a builder of this module; intervals and dates run from the smallest to the largest
    value there is. A promise that needs a public hierarchy refuses the result: its very shape
    reveals information about the rows.
    """
    keys = [key for key in column.keys if key is not None]
    if not keys:
        raise HierarchyError(
            f"column {column.name!r} has no values to derive a hierarchy from", "declare its domain"
        )
    domain: list[object] = [[column.kind.text(key) for key in keys]]
    if make in (intervals, dates):
        domain = [keys[0], keys[-1]]
    if make is not dates:
        options = {"kind": column.kind} | options
    try:
        return replace(make(*domain, **options), derived=True)
    except (HierarchyError, TooLargeError) as error:
        # Their messages may name values, which are private here.
        raise type(error)(
            f"column {column.name!r}: its values do not fit this kind of hierarchy (or are too "
            "many)",
            "declare the domain instead",
        ) from None


@dataclass(frozen=True)
class _Runs:
    """A level of runs of leaves: the first leaf of each, and its label."""

    starts: Sequence[int]
    labels: Sequence[str]

    @classmethod
    def of(cls, starts: Sequence[int], stop: int, label: Callable[[int, int], str]) -> "_Runs":
        """Runs that begin at some leaves, the last one ending before `stop`."""
        ends = pairwise([*starts, stop])
        labels = [label(first, behind) for first, behind in ends]
        return cls(starts, labels)


def _runs_of(labels: Sequence[str]) -> _Runs:
    """Runs of neighbouring leaves with the same label."""
    starts = [0, *(at for at, (one, next_) in enumerate(pairwise(labels), 1) if one != next_)]
    return _Runs(starts, [labels[start] for start in starts])


def _stacked(
    texts: Sequence[str],
    levels: Sequence[_Runs],
    kind: Kind,
    root: str,
) -> Hierarchy:
    """A hierarchy of leaves in order, levels of runs above them, and a root."""
    labels: list[tuple[str, ...]] = [tuple(texts)]
    maps = [np.arange(len(texts), dtype=smallest(len(texts)))]
    for level in (*levels, _Runs([0], [root])):
        marks = np.zeros(len(texts), dtype=np.int64)
        marks[list(level.starts)] = 1
        runs = np.cumsum(marks) - 1
        labels.append(tuple(level.labels))
        maps.append(runs.astype(smallest(len(level.labels))))
    return Hierarchy(tuple(labels), tuple(maps), kind)


# What is given


def _require_choice(option: str, given: str, choices: Sequence[str]) -> None:
    if given not in choices:
        fix = f"it takes {' or '.join(map(repr, choices))}"
        raise ParameterError("is unknown", fix, option=option, given=repr(given))


def _require_character(option: str, given: str) -> None:
    if len(given) != 1:
        raise ParameterError("is not one character", option=option, given=repr(given))


def _number(
    given: Number,
    option: str,
    kind: Kind,
    *,
    listed: bool = False,
) -> Decimal:
    """A number of the type that a hierarchy has; `listed` if the option is a list of them."""
    subject = "has a number that " if listed else ""
    try:
        number = ranges.exact(given)
    except ValueError:
        raise ParameterError(f"{subject}is not a finite number", option=option) from None
    if number and abs(number.adjusted()) > _WIDEST:
        digits = f"{subject}has more than {_WIDEST} digits on one side of the point"
        raise ParameterError(digits, option=option)
    if kind is Kind.INTEGER and number != number.to_integral_value():
        fix = "round it, or declare `kind='float'`"
        raise ParameterError(f"{subject}is not an integer", fix, option=option)
    return number


def _day(given: dt.date | str, name: str) -> dt.date:
    try:
        return Kind.DATE.key(given)  # type: ignore[return-value]
    except ValueError:
        raise ParameterError("is not a date such as 2024-12-31", option=name) from None


def domain_texts(values: Iterable[object], kind: Kind) -> list[str]:
    """The values of a domain as texts; a text stays as it was written."""
    if isinstance(values, str) or not isinstance(values, Iterable) or hasattr(values, "columns"):
        raise ParameterError("is not a list", "list the values of the domain", option="values")
    texts: list[str] = []
    for place, value in enumerate(values, 1):
        try:
            key: Key | None = kind.key(value)
        except (ValueError, TypeError):
            raise HierarchyError(
                f"value {place} is not of the declared type {kind.value!r}"
            ) from None
        if key is None:
            raise HierarchyError(
                f"value {place} is missing",
                "leave it out, missing values are handled separately",
            )
        texts.append(value if isinstance(value, str) else kind.text(key))
    if not texts:
        raise HierarchyError("the domain has no values", "declare at least one")
    return texts


def _require_room(leaves: int, levels: int = 2, width: int = 0) -> None:
    """Refuse a hierarchy that would be too large, by the length of its texts too."""
    remedy = "take a smaller domain, or wider intervals with `kind='float'`"
    if leaves > MOST_LEAVES:
        raise TooLargeError(
            f"a hierarchy over {_about(leaves)} values, and {MOST_LEAVES:,} is the most", remedy
        )
    needed = leaves * levels * (_TEXT + width)
    free_memory.require(needed, f"a hierarchy of {leaves:,} values and {levels:,} levels", remedy)


def _about(number: int) -> str:
    """A number that may have thousands of digits."""
    return f"{number:,}" if number < 10**18 else "more than 10^18"
