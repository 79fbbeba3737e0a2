"""What can be wrong with a hierarchy, found and named. Uses `kinds`; `Hierarchy` and the command line use it.

All problems are found in one go. A hierarchy is public, so its own values may be named; those of a table may not, and are
listed only for someone who asks (`uncovered`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.data.hierarchy.ranges import Axis, axis, parse
from shoal.data.hierarchy.tree import coded
from shoal.data.kinds import Key, Kind
from shoal.errors import HierarchyError, plural

if TYPE_CHECKING:
    from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["Problem", "Problems", "faults", "problems", "uncovered"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: a short name for programs, a sentence for people."""

    name: str
    message: str


@dataclass
class Problems:
    """Errors make a hierarchy unusable; warnings are worth a look."""

    fatal: list[Problem] = field(default_factory=list)
    minor: list[Problem] = field(default_factory=list)

    @property
    def errors(self) -> list[str]:
        return [problem.message for problem in self.fatal]

    @property
    def warnings(self) -> list[str]:
        return [problem.message for problem in self.minor]

    def error(self, name: str, message: str) -> None:
        self.fatal.append(Problem(name, message))

    def warn(self, name: str, message: str) -> None:
        self.minor.append(Problem(name, message))

    def refuse(self) -> None:
        """Raise HierarchyError with all errors, if there are any."""
        if self.fatal:
            raise HierarchyError("; ".join(self.errors))


def problems(
    lines: Sequence[Sequence[str]], kind: Kind = Kind.TEXT, *, numbers: Sequence[int] | None = None
) -> Problems:
    """Everything wrong with the lines of a hierarchy; `numbers` are the lines' numbers in their file, else 1, 2, 3…"""
    from shoal.data.hierarchy.tree import Hierarchy

    found = faults(lines, kind, numbers=numbers)
    if not found.fatal:
        _check_meanings(found, Hierarchy.from_sound_lines(lines, kind))
    return found


def faults(
    lines: Sequence[Sequence[str]], kind: Kind = Kind.TEXT, *, numbers: Sequence[int] | None = None
) -> Problems:
    """What is wrong with the lines themselves, whatever releases make of their labels."""
    found = Problems()
    numbers = numbers or range(1, len(lines) + 1)
    if blank := [number for number, line in zip(numbers, lines, strict=True) if not line]:
        found.warn(
            "blank line", f"{_lines(blank)} {'is' if len(blank) == 1 else 'are'} empty and skipped"
        )
    filled = [(number, line) for number, line in zip(numbers, lines, strict=True) if line]
    if not filled:
        found.error("empty", "the hierarchy is empty; give it one line a value")
        return found

    depth = Counter(len(line) for _, line in filled).most_common(1)[0][0]
    if ragged := [number for number, line in filled if len(line) != depth]:
        found.error(
            "ragged",
            f"ragged: {_lines(ragged)} {'has' if len(ragged) == 1 else 'have'} not the {plural(depth, 'level')} that most "
            "lines have; fill every line to the same length (and look at the separator)",
        )
        filled = [(number, line) for number, line in filled if len(line) == depth]
    if depth < 2:
        found.error(
            "one level",
            "there is only one level; add a root such as '*' to every line (or read the file with add_root='*')",
        )
    at = [number for number, _ in filled]
    columns = list(zip(*(line for _, line in filled), strict=True))
    codes = [coded(column) for column in columns]

    _check_cells(found, columns, at)
    laid = axis_of(columns[0], kind)
    _check_values(found, filled, kind, laid)
    if isinstance(laid, Axis) and len(laid.order) == len(filled):
        for level in range(1, depth):
            ordered = codes[level][laid.order]
            if np.count_nonzero(ordered[1:] != ordered[:-1]) > ordered.max():
                found.error(
                    "intervals",
                    f"level {level} merges intervals that are no neighbours; only neighbours can be merged",
                )
    for level in range(1, depth - 1):
        # The last line to write decides a value's parent; a value on two paths then disagrees with some line.
        parents = np.empty(codes[level].max() + 1, dtype=np.int64)
        parents[codes[level]] = codes[level + 1]
        torn = {
            columns[level][i] for i in np.flatnonzero(parents[codes[level]] != codes[level + 1])
        }
        if torn:
            above: dict[str, dict[str, None]] = {}
            for label, parent in zip(columns[level], columns[level + 1], strict=True):
                if label in torn:
                    above.setdefault(label, {})[parent] = None
            paths = (
                f"{label!r} (becomes {_some(map(repr, over))})" for label, over in above.items()
            )
            found.error(
                "two paths",
                f"on two paths from level {level} to {level + 1}: {_some(paths)}; give different things different names",
            )
    roots = list(dict.fromkeys(columns[-1]))
    if depth > 1 and len(roots) > 1:
        found.error(
            "two roots",
            f"{len(roots)} roots: {_some(map(repr, roots))}; give every line the same last level, such as '*' "
            "(read the file with root='*' to replace the last level, with add_root='*' to put one above)",
        )
    sizes = [int(column.max()) + 1 for column in codes]
    for level in range(1, depth):
        if sizes[level] == sizes[level - 1] and sizes[0] > 1:
            found.warn(
                "merges nothing",
                f"level {level} merges nothing that level {level - 1} has not merged; it only costs time",
            )
    if len(roots) == 1 and sizes[0] > 1 and roots[0] in columns[0]:
        found.warn(
            "root is a value",
            f"{roots[0]!r} is a value at level 0 and also the root; a reader cannot tell them apart",
        )
    return found


def _check_cells(found: Problems, columns: "list[tuple[str, ...]]", at: list[int]) -> None:
    spaced: set[int] = set()
    for level, column in enumerate(columns):
        # A blank value stands for missing ones, and only such a value may stay blank below the root.
        may_stay = columns[0] if 0 < level < len(columns) - 1 else [" "] * len(at)
        if empty := [
            number
            for number, cell, value in zip(at, column, may_stay, strict=True)
            if cell == "" and value != ""
        ]:
            if level:
                found.error(
                    "blank cell",
                    f"level {level} is blank in {_lines(empty)}; write what the value becomes there",
                )
            else:
                found.warn(
                    "blank cell",
                    f"the value in {_lines(empty)} is blank; it stands for missing values",
                )
        spaced.update(
            number for number, cell in zip(at, column, strict=True) if cell != cell.strip()
        )
    if spaced:
        found.warn(
            "spaces",
            f"cells begin or end with a space in {_lines(sorted(spaced))}; values match the table's exactly",
        )


def _check_values(
    found: Problems, filled: "list[tuple[int, Sequence[str]]]", kind: Kind, laid: Axis | str | None
) -> None:
    if isinstance(laid, str):
        found.error(
            "intervals",
            f"the intervals at level 0 do not make one axis: {laid}; each must begin where the one before ends",
        )
    first: dict[Key | None, int] = {}
    misfits: list[str] = []
    twice: list[str] = []
    torn: list[str] = []
    for i, (number, line) in enumerate(filled):
        try:
            key: Key | None = line[0] if laid is not None else kind.key(line[0])
        except (ValueError, TypeError):
            misfits.append(f"{line[0]!r} (line {number})")
            continue
        j = first.setdefault(key, i)
        if j != i:
            same = list(filled[j][1][1:]) == list(line[1:])
            (twice if same else torn).append(f"{line[0]!r} (lines {filled[j][0]} and {number})")
    if misfits:
        found.error(
            "type",
            f"not of the declared type {kind.value!r}: {_some(misfits)}; declare another type, or correct them",
        )
    if twice:
        found.error("duplicates", f"duplicates: {_some(twice)}; keep one line a value")
    if torn:
        found.error("two paths", f"on two paths: {_some(torn)}; keep one line a value")


def _check_meanings(found: Problems, tree: "Hierarchy") -> None:
    """Labels that a reader may take for other values than they cover; releases are read by `texts`."""
    from shoal.data.hierarchy.texts import ANY

    covered: dict[str, dict[tuple[int, int], int]] = {}
    for level, (labels, codes) in enumerate(zip(tree.labels, tree.maps, strict=True)):
        first, size = np.unique(codes, return_index=True, return_counts=True)[1:]
        for label, run in zip(labels, zip(first.tolist(), size.tolist(), strict=True), strict=True):
            covered.setdefault(label, {}).setdefault(run, level)
    several = [
        f"{label!r} (levels {_some(sorted(runs.values()))})"
        for label, runs in covered.items()
        if len(runs) > 1 and label != tree.labels[-1][0]
    ]
    if several:
        found.warn(
            "two meanings",
            f"some labels cover different values at different levels: {_some(several)}; where a release has several levels side "
            "by side, they mean all of these values. Give different things different names",
        )
    if any(size < len(tree.maps[0]) for _, size in covered.get(ANY, {})) and (
        tree.labels[-1][0] != ANY
    ):
        found.warn(
            "two meanings",
            f"{ANY!r} covers some values only, and in a release it means any value; rename it",
        )
    if misread := list(_misread(tree)):
        found.warn(
            "misleading label",
            f"some labels read as other values than they cover: {_some(misread)}; rename them, so that nobody who reads a "
            "release without the hierarchy is misled",
        )


def _misread(tree: "Hierarchy") -> Iterator[str]:
    """Labels that look like a range, a value or a set, and cover other values."""
    from shoal.data.hierarchy.texts import Axis, Texts

    for kind in (tree.kind,) if tree.kind is not Kind.TEXT else Kind:
        try:
            tree = tree.of_kind(kind)
        except HierarchyError:
            continue
        if kind is not Kind.TEXT:
            break
    texts, axis = Texts.of(tree), Axis.of("", tree)
    leaf_at = np.argsort(axis.place)
    below = set(tree.labels[0])
    for level in range(1, tree.height + 1):
        codes = tree.maps[level][leaf_at]
        for code, label in enumerate(tree.labels[level]):
            read = None if label in below else texts.spelled(label)
            if read is None:
                continue
            own = codes == code
            if (read[leaf_at] != own).any():
                covers = np.flatnonzero(own)
                ends = axis.labels[covers[0]], axis.labels[covers[-1]]
                yield f"{label!r} at level {level} covers {' to '.join(dict.fromkeys(ends))}"
        below |= set(tree.labels[level])


def axis_of(values: Sequence[str], kind: Kind) -> Axis | str | None:
    """The axis of leaves that are intervals, what is wrong with it, or None if the leaves are plain values of their kind."""
    if kind not in (Kind.INTEGER, Kind.FLOAT):
        return None
    try:
        for value in values:
            kind.key(value)
    except (ValueError, TypeError):
        ranges = [parse(value, kind) for value in dict.fromkeys(values) if value]
        if not ranges or None in ranges:
            return None
        if "" in values:
            return (
                "one value is blank; leave its line out, missing values have a place of their own"
            )
        try:
            return axis([one for one in ranges if one])
        except ValueError as error:
            return str(error)
    return None


def uncovered(hierarchy: "Hierarchy", keys: Iterable[Key | None]) -> list[Key]:
    """The keys of a column that a hierarchy does not have: values of the table, to be counted, or shown to its owner."""
    return [key for key in keys if key is not None and hierarchy.find(key) < 0]


def _lines(numbers: Sequence[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {_some(numbers)}"


def _some(things: Iterable[object], most: int = 5) -> str:
    listed = [str(thing) for thing in things]
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")
