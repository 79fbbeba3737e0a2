"""Making hierarchies from a declared domain: intervals, dates, masking, order, groups, suppression.

Uses `errors`, `kinds` and the rest of this room. No builder looks at a table, so the number of levels and their values never
depend on the rows; `derive` does look at them, and marks what it makes.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate, pairwise, product
from typing import Any, Literal, Protocol

import numpy as np

from shoal.arguments import typed, typed_but
from shoal.counts import smallest
from shoal.data import memory
from shoal.data.hierarchy.ranges import above, below, between, exact, from_to, or_more, plain
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.errors import HierarchyError, ParameterError, TooLargeError, listed, plural

__all__ = ["dates", "derive", "groups", "intervals", "mask", "order", "suppress"]

Number = int | float | str | Decimal
Tree = Mapping[str, "Tree | Sequence[object]"]
"""Groups by name: each has a list of values, or groups again."""

MOST_LEAVES = 5_000_000  # about a gigabyte of texts
LONGEST = 1_000  # characters of a text that is made up, and levels of groups in groups
_TEXT = 60  # bytes of a text in memory, besides its characters
_WIDEST = 308  # powers of ten that floats have; numbers beyond would take hours to write out


@typed
def intervals(
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

    Each of `widths` (counted from `origin`), or each list of `cuts`, makes a level. Everything below `bottom` and from `top`
    on is one value at each of them; without `low` or `high` the domain is open there and `bottom` or `top` is a leaf itself.
    `closed` says on which side an interval includes its end. Of type integer, every integer is a leaf; of type float the
    first of `widths` or `cuts` is level 0 already, unless `step` says that only low, low + step, … occur. `end="open"`
    leaves the far end itself out of a float domain.

    >>> [level[-2:] for level in intervals(0, 120, widths=[5, 20], top=90).labels]
    [('119', '120'), ('85-89', '90+'), ('80-89', '90+'), ('*',)]
    >>> intervals(0, 1, widths=[0.25, 0.5], kind="float").labels[0]
    ('[0, 0.25)', '[0.25, 0.5)', '[0.5, 0.75)', '[0.75, 1]')
    """
    kind = Kind.of(kind, among=(Kind.INTEGER, Kind.FLOAT))
    if closed not in ("left", "right"):
        raise ParameterError(f"closed={closed!r}; it takes 'left' or 'right'")
    if end not in ("closed", "open"):
        raise ParameterError(f"end={end!r}; it takes 'closed' or 'open'")
    if widths and cuts:
        raise ParameterError("give `widths` or `cuts`, not both")
    for name, own, bound, other in (("low", low, bottom, "bottom"), ("high", high, top, "top")):
        if own is None and bound is None:
            raise ParameterError(f"give `{name}`, or `{other}` for a domain that is open there")
    ends = _Ends(
        *(
            None if x is None else _number(x, f"`{n}`", kind)
            for n, x in zip(_Ends.NAMES, (low, bottom, top, high), strict=True)
        )
    )
    grid = (
        _number(step, "`step`", kind)
        if step is not None
        else Decimal(1)
        if kind is Kind.INTEGER
        else None
    )
    if widths:
        start = _number(origin, "`origin`", kind)
        named = [
            (f"width {plain(w)}", _multiples(w, start, ends))
            for w in (_number(w, "one of `widths`", kind) for w in widths)
        ]
    else:
        named = [
            (f"list {i + 1} of `cuts`", _given(points, ends, kind)) for i, points in enumerate(cuts)
        ]
    if grid is not None:
        if end == "open":
            raise ParameterError(
                "end='open' is for continuous domains; lower `high` by one step instead"
            )
        return _discrete(ends, named, grid, closed, kind, root)
    return _continuous(ends, named, closed, end == "closed", root)


class _Ends:
    """Where a numeric domain begins and ends, and where its bottom and top values do; None where there is no such end."""

    NAMES = ("low", "bottom", "top", "high")

    def __init__(self, *given: Decimal | None) -> None:
        self.low, self.bottom, self.top, self.high = given
        known = [
            (name, value)
            for name, value in zip(self.NAMES, given, strict=True)
            if value is not None
        ]
        for (name, value), (after, beyond) in pairwise(known):
            if value > beyond or (value == beyond and name == "low" and after == "bottom"):
                raise ParameterError(
                    f"`{after}` must not be {'below' if value > beyond else 'equal to'} `{name}`"
                )

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


def _multiples(width: Decimal, origin: Decimal, ends: _Ends) -> set[Decimal]:
    if width <= 0:
        raise ParameterError(f"width {plain(width)}; `widths` are above 0")
    before = math.floor((ends.first - origin) / width)
    behind = math.ceil((ends.last - origin) / width)
    _afford(behind - before)
    points = (origin + width * i for i in range(before, behind + 1))
    return {point for point in points if ends.first <= point <= ends.last} | ends.bounds()


def _given(points: Sequence[Number], ends: _Ends, kind: Kind) -> set[Decimal]:
    if isinstance(points, str) or not isinstance(points, Iterable):
        raise ParameterError(
            "`cuts` is a list of lists, one for each level, as in cuts=[[10, 20, 30], [20]]"
        )
    found = {_number(point, "one of `cuts`", kind) for point in points}
    outside = sorted(point for point in found if not ends.first <= point <= ends.last)
    if outside:
        raise ParameterError(
            f"cut point {plain(outside[0])} is outside the domain, or beyond `bottom` or `top`; leave it out"
        )
    return found | ends.bounds()


def _nested(named: "list[tuple[str, set[Decimal]]]") -> None:
    for (fine, points), (coarse, fewer) in pairwise(named):
        if not fewer <= points:  # where is not said: `derive` has private ends
            raise ParameterError(
                f"{coarse} does not nest in {fine}, so that an interval would lie on two paths; "
                "a coarser level may only cut where the finer one does"
            )


def _discrete(
    ends: _Ends,
    named: "list[tuple[str, set[Decimal]]]",
    step: Decimal,
    closed: str,
    kind: Kind,
    root: str,
) -> Hierarchy:
    """Every value of the grid a leaf; an open end is one leaf more."""
    if step <= 0:
        raise ParameterError(f"`step` is {plain(step)}; it is above 0")
    if kind is Kind.FLOAT and (ends.low is None or ends.high is None):
        raise ParameterError(
            "a domain with a step needs `low` and `high`; leave `step` out for an open one"
        )
    after = (
        step if closed == "right" else Decimal(0)
    )  # a cut that is closed on the right belongs to the value before it
    low = ends.first + after - step if ends.low is None else ends.low
    high = ends.last + after if ends.high is None else ends.high
    count = int((high - low) / step) + 1
    _afford(count)
    if low + step * (count - 1) != high:
        raise ParameterError(
            "`high` is not `low` plus a whole number of steps; change one of them, or `step`"
        )
    if not named and ends.bounds():
        named = [("step", _multiples(step, low, ends))]
    _nested(named)
    values = [low + step * i for i in range(count)]
    texts = [plain(value) for value in values]
    negative = (ends.first if ends.low is None else low) < 0

    def place(point: Decimal) -> int:
        """The first leaf behind a cut."""
        steps = (point - low) / step
        return math.ceil(steps) if closed == "left" else math.floor(steps) + 1

    bottom, top = (None if bound is None else place(bound) for bound in (ends.bottom, ends.top))

    def label(start: int, stop: int) -> str:
        if stop == bottom:
            return below(low + step * stop)
        return (
            or_more(values[start])
            if start == top
            else from_to(values[start], values[stop - 1], negative)
        )

    levels = []
    for _, points in named:
        starts = sorted({0, *(start for start in map(place, points) if start < count)})
        levels.append(
            (
                starts,
                [label(*ends_of) for ends_of in zip(starts, [*starts[1:], count], strict=True)],
            )
        )
    if ends.low is not None and ends.high is not None:
        return _stacked(texts, levels, kind, root)
    cuts = [*map(float, values), float(high + step)]
    outer = {}
    if ends.low is None:
        cuts[0], outer[0] = -math.inf, label(0, 1)
    if ends.high is None:
        cuts[-1], outer[count - 1] = math.inf, label(count - 1, count)
    leaves = [outer.get(i, text) for i, text in enumerate(texts)]
    return replace(_stacked(leaves, levels, kind, root), cuts=_distinct(cuts), end_closed=False)


def _continuous(
    ends: _Ends, named: "list[tuple[str, set[Decimal]]]", closed: str, end_closed: bool, root: str
) -> Hierarchy:
    """The intervals of the first level as leaves."""
    if ends.high is not None and ends.high in (ends.low, ends.top):
        raise ParameterError("`high` must be above `low` and above `top`")
    if not named and not ends.bounds():
        raise ParameterError(
            "give `widths` or `cuts`; a continuous domain has no values of its own"
        )
    named = named or [("bottom and top", ends.bounds())]
    _nested(named)
    edges = [ends.low, *sorted(named[0][1] - {ends.low, ends.high}), ends.high]
    places = {edge: i for i, edge in enumerate(edges)}
    left, last = closed == "left", len(edges) - 1

    def label(start: int, stop: int) -> str:
        low, high = edges[start], edges[stop]
        if low is None or (high is not None and high == ends.bottom):
            return below(high, not left)  # type: ignore[arg-type]
        if high is None or low == ends.top:
            return above(low, left)
        return between(
            low,
            high,
            left or (start == 0 and end_closed),
            not left or (stop == last and end_closed),
        )

    levels = []
    for _, points in named:
        starts = [0, *sorted(places[point] for point in points - {ends.low, ends.high})]
        levels.append(
            (starts, [label(*ends_of) for ends_of in zip(starts, [*starts[1:], last], strict=True)])
        )
    cuts = [math.nan if edge is None else float(edge) for edge in edges]
    cuts[0], cuts[-1] = (
        -math.inf if ends.low is None else cuts[0],
        math.inf if ends.high is None else cuts[-1],
    )
    made = _stacked(levels[0][1], levels[1:], Kind.FLOAT, root)
    end_closed = end_closed and math.isfinite(cuts[-1] if left else cuts[0])
    return replace(made, cuts=_distinct(cuts), closed=closed, end_closed=end_closed)


def _distinct(cuts: list[float]) -> tuple[float, ...]:
    if len(set(cuts)) < len(cuts):
        raise ParameterError(
            "two cut points are the same floating-point number; leave one out, or declare `low` and `high`"
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

    `levels` is any choice of week, month, quarter, year and decade, the finer first; level 0 is the day. Weeks cross the ends
    of months and years, so above "week" there is only "iso-year", the year that ISO 8601 counts a week to.

    >>> dates("2024-12-30", "2025-01-01", ["month", "year"]).lines()[0]
    ['2024-12-30', '2024-12', '2024', '*']
    >>> dates("2024-12-30", "2025-01-01", ["week", "iso-year"]).lines()[0]
    ['2024-12-30', '2025-W01', 'ISO 2025', '*']
    """
    start, stop = (_day(day, name) for day, name in ((first, "first"), (last, "last")))
    if start > stop:
        raise ParameterError("`first` is after `last`; swap them")
    if isinstance(levels, str):
        levels = (levels,)
    if unknown := [level for level in levels if level not in PERIODS]:
        raise ParameterError(f"`levels` has {unknown[0]!r}; it takes {listed(PERIODS)}")
    for fine, coarse in pairwise(levels):
        if coarse not in COARSER[fine]:
            reason = (
                "weeks cross the ends of months and years"
                if "week" in (fine, coarse)
                else "the finer comes first"
            )
            allowed = ", ".join(map(repr, COARSER[fine])) or "only the root"
            raise ParameterError(
                f"{fine!r} does not nest in {coarse!r}: {reason}; above {fine!r} goes {allowed}"
            )
    chosen = [PERIODS[level] for level in ("day", *levels) if level != "day"]
    _afford((stop - start).days + 1, len(chosen) + 2)
    days = map(dt.date.fromordinal, range(start.toordinal(), stop.toordinal() + 1))
    return Hierarchy.from_lines(
        [[day.isoformat(), *(label(day) for label in chosen), root] for day in days], Kind.DATE
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
def mask(
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

    The domain is `values`, or every text of `length` characters of the `alphabet` (one for all places, or a list of one a
    place). `steps` are the numbers of characters masked at each level, by default 1, 2, 3…; the root comes above. With
    `pad`, shorter values are filled up to the longest before masking, and `align="right"` fills on the left.

    >>> mask(["10115", "10117", "80331"], steps=[1, 3]).lines()[1]
    ['10117', '1011*', '10***', '*']
    """
    if (values is None) == (length is None and isinstance(alphabet, str)):
        raise ParameterError(
            "give `values`, or `length` and `alphabet` for all texts of that length"
        )
    for name, given in (("side", side), ("align", align)):
        if given not in ("left", "right"):
            raise ParameterError(f"{name}={given!r}; it takes 'left' or 'right'")
    for name, character in (("symbol", symbol), ("pad", pad)):
        if character is not None and len(character) != 1:
            raise ParameterError(f"{name}={character!r}; it is one character")
    kind = Kind.of(kind)
    texts = list(_every(length, alphabet)) if values is None else _texts(values, kind)
    width = max(map(len, texts), default=0)
    if steps is None:
        steps = range(1, width)
    _afford(len(texts), len(steps) + 2, width)
    if any(not isinstance(step, int) or step < 1 for step in steps) or sorted(set(steps)) != list(
        steps
    ):
        raise ParameterError(
            "`steps` are whole numbers of masked characters, each above the one before, such as 1, 2, 4"
        )
    filled = (
        texts
        if pad is None
        else [
            text.ljust(width, pad) if align == "left" else text.rjust(width, pad) for text in texts
        ]
    )
    if side == "right":
        masked = [
            [text[: max(len(text) - n, 0)] + symbol * min(n, len(text)) for text in filled]
            for n in steps
            if n < width
        ]
    else:
        masked = [
            [symbol * min(n, len(text)) + text[n:] for text in filled] for n in steps if n < width
        ]
    return Hierarchy.from_lines(list(zip(texts, *masked, [root] * len(texts), strict=True)), kind)


def _every(length: int | None, alphabet: str | Sequence[str]) -> Iterator[str]:
    if isinstance(alphabet, str):
        if not isinstance(length, int) or length < 1:
            raise ParameterError("`length` is a whole number above 0")
        if length > LONGEST:
            raise TooLargeError(
                f"`length` is {_about(length)}, and {LONGEST:,} is the most; mask shorter texts, or give `values`"
            )
        alphabet = [alphabet] * length
    elif length not in (None, len(alphabet)):
        raise ParameterError(
            f"`length` is {length} and there are {len(alphabet)} alphabets; give one a place"
        )
    if any(not characters or len(set(characters)) < len(characters) for characters in alphabet):
        raise ParameterError("an `alphabet` is empty or has a character twice")
    _afford(math.prod(map(len, alphabet)), 2, len(alphabet))
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

    A size may be a list, one size a run. The order is the one given, or that of the type with `sort`.

    >>> order(["none", "primary", "secondary", "bachelor", "master"], [[2, 1, 2]]).labels[1]
    ('none to primary', 'secondary', 'bachelor to master')
    """
    kind = Kind.of(kind)
    texts = _texts(values, kind)
    if sort:
        texts.sort(key=lambda text: kind.key(text))  # type: ignore[arg-type,return-value]
    _afford(len(texts), len(sizes) + 2)
    starts, levels = list(range(len(texts))), []
    for number, size in enumerate(sizes, 1):
        runs = _runs(size, len(starts), number)
        starts = [starts[begin] for begin in accumulate(runs[:-1], initial=0)]
        spans = zip(starts, [*starts[1:], len(texts)], strict=True)
        levels.append(
            (
                starts,
                [texts[a] if b - a == 1 else f"{texts[a]} to {texts[b - 1]}" for a, b in spans],
            )
        )
        if len(set(levels[-1][1])) < len(starts):
            raise HierarchyError(
                f"two runs of level {number} would have the same label; make groups with names instead"
            )
    Hierarchy.from_lines(
        [[text, root] for text in texts], kind
    )  # refuses duplicates and what is not of the type
    return _stacked(texts, levels, kind, root)


def _runs(size: int | Sequence[int], total: int, level: int) -> list[int]:
    runs = [size] * -(-total // size) if isinstance(size, int) and size > 0 else size
    if not isinstance(runs, Sequence) or any(not isinstance(run, int) or run < 1 for run in runs):
        raise ParameterError(f"`sizes` of level {level}: a size is a whole number above 0")
    if not isinstance(size, int) and sum(runs) != total:
        raise ParameterError(
            f"`sizes` of level {level} sum to {sum(runs)}, and the level below has {plural(total, 'value')}"
        )
    return list(runs)


@typed_but("tree")
def groups(
    tree: Tree,
    *,
    values: Iterable[object] | None = None,
    rest: str | None = None,
    kind: Kind | str = Kind.TEXT,
    root: str = "*",
) -> Hierarchy:
    """Named groups of values, or of groups again. Where branches differ in depth, the shorter keep their last name.

    With `values`, the whole domain, those in no group go into the group `rest`; without `rest` they are an error.

    >>> groups({"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Asia": ["JP"]}).lines()
    [['FR', 'West', 'Europe', '*'], ['DE', 'West', 'Europe', '*'], ['PL', 'East', 'Europe', '*'], ['JP', 'Asia', 'Asia', '*']]
    """
    kind = Kind.of(kind)
    if not isinstance(tree, Mapping):
        raise ParameterError('groups are written as {"name": [values]}, and may be nested')
    paths = list(_paths(tree, (), kind))
    if values is not None:
        known = {kind.key(path[0]) for path in paths}
        absent = [text for text in _texts(values, kind) if kind.key(text) not in known]
        if absent and rest is None:
            which = f"1 value of the domain is in no group, {absent[0]!r}"
            if len(absent) > 1:
                which = f"{len(absent):,} values of the domain are in no group, {absent[0]!r} first"
            raise HierarchyError(
                f"{which}; put all values into groups, or give `rest`, the group of the others"
            )
        paths += [(text, str(rest)) for text in absent]
    depth = max(map(len, paths), default=0)
    # A value's own group is repeated upwards from below: (JP, Asia) becomes (JP, Asia, Asia).
    return Hierarchy.from_lines(
        [[*path[:1], *path[1:2] * (depth - len(path)), *path[1:], root] for path in paths], kind
    )


def _paths(
    tree: Tree | Sequence[object], above: tuple[str, ...], kind: Kind
) -> Iterator[tuple[str, ...]]:
    if len(above) > LONGEST // 2:  # Python's stack would not reach as far as twice that
        raise ParameterError(
            f"groups lie more than {LONGEST // 2} deep in groups; make them flatter"
        )
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _paths(below, (str(name), *above), kind)
    elif isinstance(tree, str) or not isinstance(tree, Iterable):
        raise ParameterError(f"group {above[0]!r}: its values come as a list, or as groups again")
    else:
        yield from ((text, *above) for text in _texts(tree, kind))


@typed
def suppress(
    values: Iterable[object], *, kind: Kind | str = Kind.TEXT, root: str = "*"
) -> Hierarchy:
    """Two levels: the value as it is, or nothing of it.

    >>> suppress(["male", "female"]).lines()
    [['male', '*'], ['female', '*']]
    """
    kind = Kind.of(kind)
    return Hierarchy.from_lines([[text, root] for text in _texts(values, kind)], kind)


class Coded(Protocol):
    """What `derive` needs of a table's column: its name, its type and the values that occur, in order, None for missing."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def keys(self) -> Sequence[Key | None]: ...


@typed
def derive(column: Coded, make: Callable[..., Hierarchy], **options: Any) -> Hierarchy:
    """A hierarchy over the values that a table's column happens to have, marked as derived from rows.

    `make` is a builder of this module; intervals and dates run from the smallest to the largest value there is. A promise
    that needs a public hierarchy refuses the result: its very shape tells about the rows.
    """
    keys = [key for key in column.keys if key is not None]
    if not keys:
        raise HierarchyError(
            f"column {column.name!r} has no values to derive a hierarchy from; declare its domain"
        )
    domain: tuple[object, ...] = (
        (keys[0], keys[-1])
        if make in (intervals, dates)
        else ([column.kind.text(key) for key in keys],)
    )
    if make is not dates:
        options = {"kind": column.kind} | options
    try:
        return replace(make(*domain, **options), derived=True)
    except (
        HierarchyError,
        TooLargeError,
    ) as error:  # their messages may name values, which are private here
        raise type(error)(
            f"column {column.name!r}: its values do not fit this kind of hierarchy (or are too many); declare the domain instead"
        ) from None


def _stacked(
    texts: Sequence[str],
    levels: "Sequence[tuple[Sequence[int], Sequence[str]]]",
    kind: Kind,
    root: str,
) -> Hierarchy:
    """Leaves in order, levels as the first leaves of their runs with a label each, and a root."""
    labels: list[tuple[str, ...]] = [tuple(texts)]
    maps = [np.arange(len(texts), dtype=smallest(len(texts)))]
    for starts, names in (*levels, ([0], [root])):
        marks = np.zeros(len(texts), dtype=np.int64)
        marks[list(starts)] = 1
        labels.append(tuple(names))
        maps.append((np.cumsum(marks) - 1).astype(smallest(len(names))))
    return Hierarchy(tuple(labels), tuple(maps), kind)


def _number(given: Number, name: str, kind: Kind) -> Decimal:
    try:
        number = exact(given)
    except ValueError:
        raise ParameterError(f"{name} is not a finite number") from None
    if number and abs(number.adjusted()) > _WIDEST:
        raise ParameterError(f"{name} has more than {_WIDEST} digits on one side of the point")
    if kind is Kind.INTEGER and number != number.to_integral_value():
        raise ParameterError(f"{name} is not an integer; round it, or declare kind='float'")
    return number


def _day(given: dt.date | str, name: str) -> dt.date:
    try:
        return Kind.DATE.key(given)  # type: ignore[return-value]
    except ValueError:
        raise ParameterError(f"`{name}` is not a date such as 2024-12-31") from None


def _texts(values: Iterable[object], kind: Kind) -> list[str]:
    """The values of a domain as texts; a text stays as it was written."""
    if isinstance(values, str) or not isinstance(values, Iterable) or hasattr(values, "columns"):
        raise ParameterError("`values` come as a list")
    texts: list[str] = []
    for value in values:
        try:
            key: Key | None = kind.key(value)
        except (ValueError, TypeError):
            raise HierarchyError(
                f"value {len(texts) + 1} is not of the declared type {kind.value!r}"
            ) from None
        if key is None:
            raise HierarchyError(
                f"value {len(texts) + 1} is missing; leave it out, missing values have a place of their own"
            )
        texts.append(value if isinstance(value, str) else kind.text(key))
    if not texts:
        raise HierarchyError("the domain has no values; declare at least one")
    return texts


def _afford(leaves: int, levels: int = 2, width: int = 0) -> None:
    """Refuse a hierarchy before it is made that would be too large, by the length of its texts too."""
    remedy = "take a smaller domain, or wider intervals with kind='float'"
    if leaves > MOST_LEAVES:
        raise TooLargeError(
            f"a hierarchy over {_about(leaves)} values, and {MOST_LEAVES:,} is the most; {remedy}"
        )
    needed = leaves * levels * (_TEXT + width)
    memory.require(needed, f"a hierarchy of {leaves:,} values and {levels:,} levels", remedy)


def _about(number: int) -> str:
    """A number that may have thousands of digits."""
    return f"{number:,}" if number < 10**18 else "more than 10^18"
