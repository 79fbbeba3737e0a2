"""What can be wrong with a hierarchy, found and named.

Uses `kinds`, `ranges` and `texts`; `Hierarchy` and the command line use it. All problems are found
in one go. A hierarchy is public, so its own values may be named; those of a table may not, and are
listed only for someone who asks (`uncovered`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.data.hierarchy.ranges import Tiling, parse, tiling
from shoal.data.hierarchy.tree import changes, numbered
from shoal.data.kinds import Key, Kind
from shoal.errors import HierarchyError, plural

if TYPE_CHECKING:
    from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["Finding", "Problems", "faults", "problems", "tiling_of", "uncovered"]

# How many things of a kind a message names.
_NAMED = 5


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: a short name for programs, a sentence for people."""

    name: str
    message: str


@dataclass
class Problems:
    """Errors make a hierarchy unusable; warnings are worth a look."""

    fatal: list[Finding] = field(default_factory=list)
    minor: list[Finding] = field(default_factory=list)

    @property
    def errors(self) -> list[str]:
        return [finding.message for finding in self.fatal]

    @property
    def warnings(self) -> list[str]:
        return [finding.message for finding in self.minor]

    def error(self, name: str, message: str) -> None:
        self.fatal.append(Finding(name, message))

    def warn(self, name: str, message: str) -> None:
        self.minor.append(Finding(name, message))

    def refuse(self) -> None:
        """Raise HierarchyError with all errors, if there are any."""
        if self.fatal:
            raise HierarchyError("; ".join(self.errors))


def problems(
    lines: Sequence[Sequence[str]], kind: Kind = Kind.TEXT, *, numbers: Sequence[int] | None = None
) -> Problems:
    """Everything wrong with the lines of a hierarchy.

    numbers: those of the lines in their file, else 1, 2, 3…
    """
    from shoal.data.hierarchy.tree import Hierarchy

    findings = faults(lines, kind, numbers=numbers)
    if not findings.fatal:
        _check_meanings(findings, Hierarchy.from_sound_lines(lines, kind))
    return findings


def faults(
    lines: Sequence[Sequence[str]], kind: Kind = Kind.TEXT, *, numbers: Sequence[int] | None = None
) -> Problems:
    """What is wrong with the lines themselves, whatever releases make of their labels."""
    findings = Problems()
    numbers = numbers or range(1, len(lines) + 1)
    numbered_lines = list(zip(numbers, lines, strict=True))
    blank = [number for number, line in numbered_lines if not line]
    if blank:
        verb = "is" if len(blank) == 1 else "are"
        findings.warn("blank line", f"{_lines(blank)} {verb} empty and skipped")
    filled = [(number, line) for number, line in numbered_lines if line]
    if not filled:
        findings.error("empty", "the hierarchy is empty; give it one line per value")
        return findings
    grid = _regular(findings, filled)
    _check_cells(findings, grid)
    laid = tiling_of(grid.columns[0], kind)
    _check_values(findings, grid, kind, laid)
    if isinstance(laid, Tiling) and len(laid.order) == len(grid.numbers):
        _check_neighbours(findings, grid, laid)
    _check_paths(findings, grid)
    _check_root(findings, grid)
    _check_merging(findings, grid)
    return findings


class _LevelColumns:
    """The lines that have all levels, level by level: their texts, and codes for these."""

    def __init__(self, filled: "Sequence[tuple[int, Sequence[str]]]") -> None:
        self.numbers = [number for number, _ in filled]
        lines = [line for _, line in filled]
        self.columns: list[tuple[str, ...]] = list(zip(*lines, strict=True))
        self.codes = [numbered(column) for column in self.columns]

    @property
    def depth(self) -> int:
        return len(self.columns)

    @property
    def roots(self) -> list[str]:
        return list(dict.fromkeys(self.columns[-1]))

    def cardinality(self, level: int) -> int:
        return int(self.codes[level].max()) + 1

    def above(self, line: int) -> list[str]:
        """What the value of a line becomes."""
        return [column[line] for column in self.columns[1:]]


def _regular(findings: Problems, filled: "list[tuple[int, Sequence[str]]]") -> _LevelColumns:
    """The lines of the usual length; those of another are a problem, and so is a length of one."""
    depths = Counter(len(line) for _, line in filled)
    depth = depths.most_common(1)[0][0]
    ragged = [number for number, line in filled if len(line) != depth]
    if ragged:
        verb = "does" if len(ragged) == 1 else "do"
        findings.error(
            "ragged",
            f"ragged: {_lines(ragged)} {verb} not have the {plural(depth, 'level')} that most "
            "lines have; fill every line to the same length (and look at the separator)",
        )
    if depth < 2:
        findings.error(
            "one level",
            "there is only one level; add a root such as '*' to every line (or read the file with "
            "`add_root='*'`)",
        )
    return _LevelColumns([(number, line) for number, line in filled if len(line) == depth])


def _check_cells(findings: Problems, grid: _LevelColumns) -> None:
    spaced: set[int] = set()
    for level, column in enumerate(grid.columns):
        empty = _blank_cells(grid, level)
        if empty and level:
            findings.error(
                "blank cell",
                f"level {level} is blank in {_lines(empty)}; write what the value becomes there",
            )
        elif empty:
            findings.warn(
                "blank cell", f"the value in {_lines(empty)} is blank; it stands for missing values"
            )
        cells = zip(grid.numbers, column, strict=True)
        spaced.update(number for number, cell in cells if cell != cell.strip())
    if spaced:
        findings.warn(
            "spaces",
            f"cells begin or end with a space in {_lines(sorted(spaced))}; values match the "
            "table's exactly",
        )


def _blank_cells(grid: _LevelColumns, level: int) -> list[int]:
    """The lines whose cell at a level is blank and may not be.

    A blank value stands for missing ones, and only such a value may stay blank below the root.
    """
    column = grid.columns[level]
    blank = [line for line, cell in enumerate(column) if cell == ""]
    if 0 < level < grid.depth - 1:
        blank = [line for line in blank if grid.columns[0][line] != ""]
    return [grid.numbers[line] for line in blank]


def _check_values(
    findings: Problems,
    grid: _LevelColumns,
    kind: Kind,
    laid: Tiling | str | None,
) -> None:
    if isinstance(laid, str):
        findings.error(
            "intervals",
            f"the intervals at level 0 do not make one axis: {laid}; each must begin where the one "
            "before ends",
        )
    first: dict[Key | None, int] = {}
    misfits: list[str] = []
    twice: list[str] = []
    torn: list[str] = []
    for line, (number, value) in enumerate(zip(grid.numbers, grid.columns[0], strict=True)):
        try:
            key: Key | None = value if laid is not None else kind.key(value)
        except (ValueError, TypeError):
            misfits.append(f"{value!r} (line {number})")
            continue
        earlier = first.setdefault(key, line)
        if earlier != line:
            repeated = torn if grid.above(earlier) != grid.above(line) else twice
            repeated.append(f"{value!r} (lines {grid.numbers[earlier]} and {number})")
    if misfits:
        findings.error(
            "type",
            f"not of the declared type {kind.value!r}: {_some(misfits)}; declare another type, or "
            "correct them",
        )
    if twice:
        findings.error("duplicates", f"duplicates: {_some(twice)}; keep one line per value")
    if torn:
        findings.error("two paths", f"on two paths: {_some(torn)}; keep one line per value")


def _check_neighbours(findings: Problems, grid: _LevelColumns, laid: Tiling) -> None:
    for level in range(1, grid.depth):
        ordered = grid.codes[level][laid.order]
        if len(changes(ordered)) > ordered.max():
            findings.error(
                "intervals",
                f"level {level} merges intervals that are not neighbours; only neighbours can be "
                "merged",
            )


def _check_paths(findings: Problems, grid: _LevelColumns) -> None:
    for level in range(1, grid.depth - 1):
        codes, above = grid.codes[level], grid.codes[level + 1]
        # The last line to write decides a value's parent; a value on two paths then disagrees with
        # some line.
        parents = np.empty(codes.max() + 1, dtype=np.int64)
        parents[codes] = above
        disagreeing = np.flatnonzero(parents[codes] != above)
        torn = {grid.columns[level][line] for line in disagreeing}
        if not torn:
            continue
        becomes: dict[str, dict[str, None]] = {}
        pairs = zip(grid.columns[level], grid.columns[level + 1], strict=True)
        for label, parent in pairs:
            if label in torn:
                becomes.setdefault(label, {})[parent] = None
        paths = [f"{label!r} (becomes {_some(map(repr, over))})" for label, over in becomes.items()]
        findings.error(
            "two paths",
            f"on two paths from level {level} to {level + 1}: {_some(paths)}; give different "
            "things different names",
        )


def _check_root(findings: Problems, grid: _LevelColumns) -> None:
    roots = grid.roots
    if grid.depth > 1 and len(roots) > 1:
        findings.error(
            "two roots",
            f"{len(roots)} roots: {_some(map(repr, roots))}; give every line the same last level, "
            "such as '*' (read the file with `root='*'` to replace the last level, with "
            "`add_root='*'` to put one above)",
        )


def _check_merging(findings: Problems, grid: _LevelColumns) -> None:
    if grid.cardinality(0) == 1:
        return
    for level in range(1, grid.depth):
        if grid.cardinality(level) == grid.cardinality(level - 1):
            findings.warn(
                "merges nothing",
                f"level {level} merges nothing beyond level {level - 1}; it only costs time",
            )
    roots = grid.roots
    if len(roots) == 1 and roots[0] in grid.columns[0]:
        findings.warn(
            "root is a value",
            f"{roots[0]!r} is a value at level 0 and also the root; a reader cannot tell them "
            "apart",
        )


def _check_meanings(findings: Problems, tree: "Hierarchy") -> None:
    """Labels that a reader may take for values that they do not cover; `texts` reads releases."""
    from shoal.data.hierarchy.texts import ANY

    root = tree.labels[-1][0]
    covered = _covered(tree)
    several = []
    for label, runs in covered.items():
        if len(runs) > 1 and label != root:
            several.append(f"{label!r} (levels {_some(sorted(runs.values()))})")
    if several:
        findings.warn(
            "two meanings",
            f"some labels cover different values at different levels: {_some(several)}; where a "
            "release has several levels side by side, they mean all of these values. Give "
            "different things different names",
        )
    sizes = [size for _, size in covered.get(ANY, {})]
    partial = any(size < len(tree.maps[0]) for size in sizes)
    if partial and root != ANY:
        findings.warn(
            "two meanings",
            f"{ANY!r} covers some values only, and in a release it means any value; rename it",
        )
    misread = list(_misread(tree))
    if misread:
        findings.warn(
            "misleading label",
            f"some labels read as values they do not cover: {_some(misread)}; rename them, so "
            "that nobody who reads a release without the hierarchy is misled",
        )


def _covered(tree: "Hierarchy") -> dict[str, dict[tuple[int, int], int]]:
    """Of every label the runs of leaves it covers (the first, how many), and the lowest level."""
    covered: dict[str, dict[tuple[int, int], int]] = {}
    for level, (labels, codes) in enumerate(tree.levels):
        _, first, size = np.unique(codes, return_index=True, return_counts=True)
        runs = zip(first.tolist(), size.tolist(), strict=True)
        for label, run in zip(labels, runs, strict=True):
            covered.setdefault(label, {}).setdefault(run, level)
    return covered


def _misread(tree: "Hierarchy") -> Iterator[str]:
    """Labels that look like a range, a value or a set, and cover other values."""
    from shoal.data.hierarchy.texts import Axis, Texts

    tree = _typed(tree)
    texts, axis = Texts.of(tree), Axis.of("", tree)
    leaf_at = np.argsort(axis.place)
    below = set(tree.labels[0])
    for level in range(1, tree.height + 1):
        codes = tree.maps[level][leaf_at]
        for code, label in enumerate(tree.labels[level]):
            read = None if label in below else texts.spelled(label)
            if read is None:
                continue
            covers = codes == code
            if (read[leaf_at] != covers).any():
                places = np.flatnonzero(covers)
                ends = axis.labels[places[0]], axis.labels[places[-1]]
                yield f"{label!r} at level {level} covers {' to '.join(dict.fromkeys(ends))}"
        below |= set(tree.labels[level])


def _typed(tree: "Hierarchy") -> "Hierarchy":
    """A hierarchy of texts by the first type, of those besides text, that all its leaves have."""
    if tree.kind is not Kind.TEXT:
        return tree
    for kind in (Kind.INTEGER, Kind.FLOAT, Kind.DATE):
        try:
            return tree.of_kind(kind)
        except HierarchyError:
            continue
    return tree


def tiling_of(values: Sequence[str], kind: Kind) -> Tiling | str | None:
    """How leaves that are intervals lie side by side, or what is wrong with them.

    None if the leaves are plain values of their kind.
    """
    if kind not in (Kind.INTEGER, Kind.FLOAT) or _all_of_kind(values, kind):
        return None
    intervals = []
    for value in dict.fromkeys(values):
        interval = parse(value, kind) if value else None
        if interval is not None:
            intervals.append(interval)
        elif value:
            return None
    if not intervals:
        return None
    if "" in values:
        return "one value is blank; leave its line out, missing values are handled separately"
    try:
        return tiling(intervals)
    except ValueError as error:
        return str(error)


def _all_of_kind(values: Iterable[str], kind: Kind) -> bool:
    try:
        for value in values:
            kind.key(value)
    except (ValueError, TypeError):
        return False
    return True


def uncovered(hierarchy: "Hierarchy", keys: Iterable[Key | None]) -> list[Key]:
    """The keys of a column that a hierarchy does not have.

    They are values of the table, to be counted, or shown to its owner.
    """
    return [key for key in keys if key is not None and hierarchy.find(key) < 0]


def _lines(numbers: Sequence[int]) -> str:
    noun = "line" if len(numbers) == 1 else "lines"
    return f"{noun} {_some(numbers)}"


def _some(things: Iterable[object]) -> str:
    """Things as a message lists them, the first few by name."""
    texts = [str(thing) for thing in things]
    listed = ", ".join(texts[:_NAMED])
    more = len(texts) - _NAMED
    return f"{listed} and {more} more" if more > 0 else listed
