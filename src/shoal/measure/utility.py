"""What a release is still good for: classifiers trained on it, count queries asked of it.

Both read every released value as the set of leaves it may stand for: a value of any level of the
column's hierarchy, a range, or a list of values in braces. Rows need not be in the input's order,
and suppressed ones may be there or not. The draws here decide what is measured, never what is
released, so a seed is an argument. How both are defined, and why: docs/reference/measures.md.
Uses tables, hierarchies and `counts`; `judging` uses it.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from shoal.arguments import keep, typed_fields
from shoal.counts import Counts, group, smallest
from shoal.data import free_memory
from shoal.data.hierarchy.texts import ANY, Texts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Role, Table
from shoal.data.tables import table as as_table
from shoal.errors import (
    ColumnError,
    HierarchyError,
    ParameterError,
    ShoalError,
    TooLargeError,
    plural,
)
from shoal.exact.numbers import Exact, fraction, whole
from shoal.measure.risk import MARKERS
from shoal.measure.trees import C45Tree
from shoal.zones import owner_only

__all__ = [
    "Accuracy",
    "Classifier",
    "CountErrors",
    "Workload",
    "classification",
    "queries",
    "spread",
]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Classifier = Literal["tree", "logistic", "unpruned", "c4.5"]

SMALLEST_LEAF = 0.001
"""A leaf of a decision tree has at least this share of the training records: what pruning does in
C4.5.
"""


_RECORD = 32
"""Bytes that a value of a record takes while classifiers learn: as a code, twice as a feature."""

MOST_PAIRS = 2 << 30
"""Distinct records × groups that are worth comparing where a release has values of several levels
side by side.
"""


@owner_only
@dataclass(frozen=True)
class Accuracy:
    """How well a class column can be predicted.

    The figures are shares of the input's records whose class is predicted correctly.

    `relative` puts `released` on the scale from `majority` (0: the most frequent class always) to
    `original` (1: trained on the input); it may lie outside, and is None where the input itself
    predicts no better than the majority.
    """

    column: str
    classifier: Classifier
    folds: int
    majority: float
    original: float
    released: float
    relative: float | None


@owner_only
@dataclass(frozen=True)
class CountErrors:
    """The relative errors of count queries: |estimate − truth| / max(truth, `bound` records)."""

    count: int
    columns: int
    selectivity: float
    bound: float
    mean: float
    median: float


def classification(
    original: Table,
    released: Any,
    class_columns: str | Iterable[str],
    *,
    features: Iterable[str] | None = None,
    classifiers: Iterable[Classifier] = ("tree", "logistic"),
    folds: int = 10,
    seed: int = 0,
    levels: Mapping[str, Sequence[int]] | None = None,
) -> tuple[Accuracy, ...]:
    """How well classifiers trained on a release predict the input, by cross-validation.

    There is one result per class and classifier.

    `features` are by default all released columns but the class and identifying ones. A class
    column must be released unchanged. A record that was suppressed trains nothing, and is tested
    like all others. `levels` are those that released values may be of, where that is known: without
    it, a text that several levels have is read as what it covers at any of them.
    """
    release = _as_table(released)
    if isinstance(class_columns, str):
        class_columns = (class_columns,)
    if not 2 <= folds <= max(original.rows, 2):
        raise ParameterError(
            "is out of range",
            "it takes a whole number from 2 to the number of records",
            option="folds",
            given=str(folds),
        )
    ways = tuple(classifiers)
    for way in ways:
        if way not in get_args(Classifier):
            raise ParameterError(
                f"classifier {way!r} is unknown",
                "it takes 'tree', 'logistic', 'unpruned' or 'c4.5'",
            )
    if features is None:
        shared = [name for name in original.names if name in release.names]
        features = [name for name in shared if original.roles.get(name) is not Role.IDENTIFYING]
    possible = tuple(features)
    fold = _folds(original.rows, folds, seed)
    answers: list[Accuracy] = []
    for column in class_columns:
        used = [name for name in possible if name != column]
        _require_in_both(original, release, (column, *used))
        if not used:
            raise ColumnError(f"no features are left to predict {column!r} from", "name some")
        sides = _Sides.of(original, release, [*used, column], levels).written_out()
        task = _Task.of(sides, column, used, fold)
        answers += [task.accuracy(way) for way in ways]
    return tuple(answers)


def _as_table(given: Any) -> Table:
    return given if isinstance(given, Table) else as_table(given)


def _require_in_both(original: Table, release: Table, names: Iterable[str]) -> None:
    for name in names:
        if name not in original.names or name not in release.names:
            raise ColumnError(
                f"column {name!r} is not in both tables", "name columns that were released"
            )


@typed_fields
@dataclass(frozen=True, init=False)
class Workload:
    """Random count queries: how many, over how many columns each, and how much each asks for.

    Each asks for the records whose values in `columns` random columns lie in random sets, which
    together select a share `selectivity` of the domain: neighbouring values of numbers and dates,
    any values of text. Errors are relative to at least a share `bound` of the records, so that
    queries with hardly any answer do not decide everything.
    """

    count: int
    columns: int
    selectivity: Fraction
    bound: Fraction

    def __init__(
        self,
        count: int = 1000,
        columns: int = 3,
        selectivity: Exact = 0.01,
        bound: Exact = 0.001,
    ) -> None:
        keep(
            self,
            count=whole(count, "count"),
            columns=whole(columns, "columns"),
            selectivity=fraction(selectivity, "selectivity", 0, 1, above=True),
            bound=fraction(bound, "bound", 0, 1),
        )


def queries(
    original: Table,
    released: Any,
    workload: Workload | None = None,
    *,
    names: Iterable[str] | None = None,
    rate: Exact = 1,
    seed: int = 0,
    levels: Mapping[str, Sequence[int]] | None = None,
) -> CountErrors:
    """How far off count queries are on a release that is read as uniform within its values.

    `names` are the columns to draw from, by default the quasi-identifying ones. `rate` is the
    chance that each record was drawn, if the release is a sample: answers are divided by it.
    `levels` are as in `classification`.
    """
    asked = workload or Workload()
    release = _as_table(released)
    drawn = float(fraction(rate, "rate", 0, 1, above=True))
    drawn_from = tuple(original.quasi if names is None else names)
    if asked.columns > len(drawn_from):
        raise ParameterError(
            f"is more than the {len(drawn_from)} to draw from",
            "name more with `names`, or ask about fewer",
            option="columns",
            given=str(asked.columns),
        )
    sides = _Sides.of(original, release, drawn_from, levels)
    readings = [sides.reading(name) for name in drawn_from]
    leaves = [reading.leaf.astype(np.uint32) for reading in readings]
    codes = [reading.codes.astype(np.uint32) for reading in readings]
    cards = [reading.leaves for reading in readings]
    truths = _Answers(group(drawn_from, leaves, cards, sides.original.rows.count))
    cards = [len(reading.may_be) for reading in readings]
    answers = _Answers(group(drawn_from, codes, cards, sides.release.rows.count))

    # Every column selects the same share, and all of them together the selectivity.
    share = float(asked.selectivity) ** (1 / asked.columns)
    floor = float(asked.bound) * original.rows
    chance = np.random.default_rng(seed)
    errors = np.empty(asked.count)
    for i in range(asked.count):
        columns = sorted(chance.choice(len(drawn_from), asked.columns, replace=False).tolist())
        wanted = [readings[j].some(share, chance) for j in columns]
        truth = truths.sum(columns, [leaves.astype(np.float64) for leaves in wanted])
        parts = [readings[j].share(leaves) for j, leaves in zip(columns, wanted, strict=True)]
        estimate = answers.sum(columns, parts) / drawn
        errors[i] = _relative(abs(estimate - truth), max(truth, floor))
    return CountErrors(
        count=asked.count,
        columns=asked.columns,
        selectivity=float(asked.selectivity),
        bound=floor,
        mean=float(errors.mean()),
        median=float(np.median(errors)),
    )


def _relative(gap: float, scale: float) -> float:
    """An error relative to a scale; where that is 0, any error is 1."""
    if scale:
        return gap / scale
    return float(gap > 0)


def spread(
    original: Table,
    released: Table,
    name: str,
    levels: Mapping[str, Sequence[int]] | None = None,
) -> tuple[Ints, Floats]:
    """How many records have each leaf of a column, in the input and in a release.

    The release is read as uniform within its values.
    """
    sides = _Sides.of(original, released, [name], levels)
    reading = sides.reading(name)
    rows = np.bincount(reading.codes, sides.release.rows.count, len(reading.may_be))
    weights = rows / np.maximum(reading.may_be.sum(axis=1), 1)
    before = np.bincount(reading.leaf, sides.original.rows.count, reading.leaves)
    return before.astype(np.int64), weights @ reading.may_be


class _Answers:
    """Sums over the records of a table.

    Tables of the few columns that one query asks for are kept.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self._over: dict[tuple[int, ...], Counts] = {}

    def sum(self, columns: Sequence[int], weights: Sequence[Floats]) -> float:
        """The sum over records of the product of their values' weights."""
        key = tuple(columns)
        if key not in self._over:
            self._over[key] = self.counts.over([self.counts.names[j] for j in key])
        table = self._over[key]
        product = table.count.astype(np.float64)
        for codes, weight in zip(table.codes, weights, strict=True):
            product *= weight[codes]
        return float(product.sum())


@dataclass(frozen=True, eq=False)
class _Reading:
    """One column in both tables: as leaves in the input, as codes in the release.

    `may_be[code][leaf]` says which leaves a code may stand for.
    """

    name: str
    ordered: bool
    asked: Ints
    """The leaves that queries ask for: all but the missing value, numbers and dates in order."""

    leaf: Ints
    codes: Ints
    may_be: Bools
    labels: tuple[str, ...]
    level: tuple[Ints, ...]

    @property
    def leaves(self) -> int:
        return int(self.may_be.shape[1])

    @classmethod
    def of(
        cls,
        original: "_CountedSide",
        release: "_CountedSide",
        name: str,
        levels: Sequence[int] | None,
    ) -> "_Reading":
        """The column, read by its hierarchy, or by the values of the input where it has none."""
        table = original.table
        leaf = original.codes(name)
        if name in table.hierarchies:
            domain = table.hierarchy(name)
            leaf = table.leaf_of(name)[leaf]
        else:
            labels = table.labels(name)
            leaves = np.arange(len(labels), dtype=smallest(len(labels)))
            domain = Hierarchy((labels,), (leaves,), table.kind(name))
        shown = release.table.labels(name)
        ordered = domain.kind is not Kind.TEXT
        texts = domain.labels[0]
        asked = [i for i, text in enumerate(texts) if text]
        if ordered and not domain.cuts:
            keys: list[Any] = [domain.kind.key(text) for text in texts]
            asked.sort(key=keys.__getitem__)
        return cls(
            name,
            ordered,
            np.array(asked, dtype=np.int64),
            leaf.astype(np.int64),
            release.codes(name).astype(np.int64),
            _may_be(shown, domain, name, levels),
            shown,
            tuple(codes.astype(np.int64) for codes in domain.maps),
        )

    def some(self, share: float, chance: np.random.Generator) -> Bools:
        """A random set of leaves, about a share of the domain."""
        number = max(round(share * len(self.asked)), min(len(self.asked), 1))
        wanted = np.zeros(self.leaves, dtype=np.bool_)
        if self.ordered:
            start = int(chance.integers(len(self.asked) - number + 1))
            wanted[self.asked[start : start + number]] = True
        else:
            wanted[chance.choice(self.asked, number, replace=False)] = True
        return wanted

    def share(self, wanted: Bools) -> Floats:
        """Which share of what each released value may be is wanted."""
        covered = self.may_be @ wanted.astype(np.float64)
        return np.asarray(covered / self.may_be.sum(axis=1))


@dataclass(frozen=True, eq=False)
class _CountedSide:
    """The records of a table by some columns, in the order of their values."""

    table: Table
    rows: Counts
    is_written_out: bool = False
    """Whether rows are single records, and not those that differ."""

    def codes(self, name: str) -> npt.NDArray[Any]:
        """The code of every row in a column."""
        codes = self.rows.column(name)
        return np.repeat(codes, self.rows.count) if self.is_written_out else codes

    def written_out(self) -> "_CountedSide":
        """The same, by single records; TooLargeError if these do not fit into memory."""
        free_memory.require(
            self.rows.total * _RECORD * len(self.rows.names),
            f"classification by {self.rows.total:,} single records",
            "leave it out, or use a larger machine",
        )
        return replace(self, is_written_out=True)


@dataclass(frozen=True, eq=False)
class _Sides:
    """The input and its release, by the same columns."""

    original: _CountedSide
    release: _CountedSide
    levels: Mapping[str, Sequence[int]]

    @classmethod
    def of(
        cls,
        original: Table,
        release: Table,
        names: Sequence[str],
        levels: Mapping[str, Sequence[int]] | None = None,
    ) -> "_Sides":
        for table, which in ((original, "input"), (release, "release")):
            for name in names:
                if name not in table.names:
                    raise ColumnError(f"the {which} has no column {name!r}")
        distinct = list(dict.fromkeys(names))
        return cls(
            _CountedSide(original, original.count(distinct, {})),
            _CountedSide(release, release.count(distinct, {})),
            levels or {},
        )

    def written_out(self) -> "_Sides":
        """The same, by single records."""
        return replace(
            self, original=self.original.written_out(), release=self.release.written_out()
        )

    def reading(self, name: str) -> _Reading:
        """A column of both."""
        return _Reading.of(self.original, self.release, name, self.levels.get(name))


def _may_be(
    released: Sequence[str], domain: Hierarchy, name: str, levels: Sequence[int] | None = None
) -> Bools:
    """Which leaves every value of a released column may stand for."""
    shown = {label for label in released if label != ANY}
    # A text may name values of several levels ("White" in a race hierarchy): prefer the level that
    # has them all.
    whole = [level for level, labels in enumerate(domain.labels) if shown <= set(labels)]
    at = levels
    if levels is None and whole:
        at = whole[:1]
    texts = Texts.of(domain, at)
    read = [texts(label) for label in released]
    rows = [leaves for leaves in read if leaves is not None and leaves.any()]
    unread = len(read) - len(rows)
    if unread:
        are = "is" if unread == 1 else "are"
        raise HierarchyError(
            f"{plural(unread, 'released value')} {are} not in its hierarchy at any level",
            "give the hierarchy the release was made with",
            where=f"column {name!r}",
        )
    return np.array(rows, dtype=np.bool_).reshape(len(released), len(domain.maps[0]))


# Classification


@dataclass(frozen=True, eq=False)
class _Features:
    """Coded features of some rows, and where each code lies among the leaves of its column."""

    codes: Ints
    """Rows × columns."""

    places: tuple[Floats, ...]

    def of(self, rows: Bools) -> "_Features":
        return _Features(self.codes[rows], self.places)

    def numbers(self) -> Floats:
        """For trees: the middle of the leaves a value stands for."""
        columns = zip(self.places, self.codes.T, strict=True)
        return np.column_stack([places[codes] for places, codes in columns])


@dataclass(frozen=True, eq=False)
class _Folds:
    """Which records are held out together, and the random order in which that was decided."""

    number: int
    of_record: Ints
    order: Ints


def _folds(records: int, number: int, seed: int) -> _Folds:
    order = np.random.default_rng(seed).permutation(records)
    fold = np.empty(records, dtype=np.int64)
    fold[order] = np.arange(records) % number
    return _Folds(number, fold, order)


@dataclass(frozen=True, eq=False)
class _Training:
    """What a classifier learns from: features, classes, and the fold of each row; -1 has none."""

    features: _Features
    classes: Ints
    fold: Ints

    def without(self, held_out: int) -> tuple[_Features, Ints]:
        """The rows of all other folds."""
        rest = self.fold != held_out
        return self.features.of(rest), self.classes[rest]


@dataclass(frozen=True, eq=False)
class _Task:
    """A class column to predict: from the input, and from the release."""

    column: str
    folds: _Folds
    original: _Training
    released: _Training
    mapped: _Features
    """The input's records as the release would have shown them."""

    @classmethod
    def of(
        cls,
        sides: "_Sides",
        column: str,
        used: Sequence[str],
        folds: _Folds,
    ) -> "_Task":
        """Predicting a column from the used ones."""
        readings = [sides.reading(name) for name in used]
        target = sides.reading(column)
        trains = ~_suppressed(sides.original.table, readings)
        shown_codes = target.codes[trains]
        if (target.may_be.sum(axis=1)[shown_codes] > 1).any():
            raise ColumnError(
                f"class column {column!r} is generalised in the release",
                "measure classes that were released unchanged",
            )
        plain = _Features(
            np.column_stack([reading.leaf for reading in readings]),
            tuple(np.arange(reading.leaves, dtype=np.float64) for reading in readings),
        )
        shown_class = target.may_be.argmax(axis=1)[shown_codes]
        shown, mapped, twin = _at_levels_of_release(
            readings, trains, target.leaf, shown_class, folds.order
        )
        # A released row is held out together with the record that it may be made of.
        shown_fold = np.where(twin >= 0, folds.of_record[twin], -1)
        return cls(
            column=column,
            folds=folds,
            original=_Training(plain, target.leaf, folds.of_record),
            released=_Training(shown, shown_class, shown_fold),
            mapped=mapped,
        )

    def accuracy(self, classifier: Classifier) -> Accuracy:
        """How well a classifier predicts the held-out records, over all folds."""
        right = np.zeros(3)  # of the majority, of the input, of the release
        for held_out in range(self.folds.number):
            right += self._right(classifier, held_out)
        majority, best, achieved = (right / len(self.folds.order)).tolist()
        relative = None
        if best > majority:
            relative = (achieved - majority) / (best - majority)
        return Accuracy(
            column=self.column,
            classifier=classifier,
            folds=self.folds.number,
            majority=majority,
            original=best,
            released=achieved,
            relative=relative,
        )

    def _right(self, classifier: Classifier, held_out: int) -> list[int]:
        """How many records of a fold the majority, the input and the release predict right."""
        test = self.folds.of_record == held_out
        truth = self.original.classes[test]
        features, known = self.original.without(held_out)
        majority = np.full(len(truth), np.bincount(known).argmax())
        plain = self.original.features.of(test)
        by_original = _predict(classifier, features, known, plain, majority)
        features, known = self.released.without(held_out)
        by_release = _predict(classifier, features, known, self.mapped.of(test), majority)
        guesses = (majority, by_original, by_release)
        return [int((guess == truth).sum()) for guess in guesses]


def _suppressed(original: Table, readings: Sequence[_Reading]) -> Bools:
    """Which released rows say nothing in any quasi-identifying feature.

    Where roles are not known, all features count.
    """
    quasi = [reading for reading in readings if original.roles.get(reading.name) is Role.QUASI]
    looked_at = quasi or readings
    silent = np.ones(len(looked_at[0].codes), dtype=np.bool_)
    for reading in looked_at:
        markers = np.array([label in MARKERS for label in reading.labels], dtype=np.bool_)
        silent &= markers[reading.codes]
    return silent


def _at_levels_of_release(
    readings: Sequence[_Reading], trains: Bools, classes: Ints, shown_classes: Ints, order: Ints
) -> tuple[_Features, _Features, Ints]:
    """The release's training rows, the input's records as it would have shown them, and twins.

    For every training row the last has a record it may be made of, each record once; -1 where none
    is left. Which of several equal records it is makes no difference to what can be learned from
    the row.
    """
    shown = np.column_stack([reading.codes[trains] for reading in readings])
    present = [np.unique(codes) for codes in shown.T]
    places = []
    columns = []
    overlap = False
    for reading, codes in zip(readings, present, strict=True):
        column, beyond = _generalised(reading, codes)
        columns.append(column)
        may_be = np.concatenate((reading.may_be, beyond))
        places.append((may_be @ np.arange(reading.leaves)) / may_be.sum(axis=1))
        values_of_leaf = reading.may_be[codes].sum(axis=0)
        overlap |= values_of_leaf.max(initial=0) > 1
    mapped = np.column_stack(columns)
    if overlap:
        mapped, twin = _covering(readings, mapped, shown, (classes, shown_classes), order)
    else:
        records = np.column_stack((mapped, classes))
        twin = _twins(records, np.column_stack((shown, shown_classes)), order)
    return _Features(shown, tuple(places)), _Features(mapped, tuple(places)), twin


def _covering(
    readings: Sequence[_Reading],
    mapped: Ints,
    shown: Ints,
    classes: tuple[Ints, Ints],
    order: Ints,
) -> tuple[Ints, Ints]:
    """As `_at_levels_of_release`, where values of several levels are side by side.

    A record's groups are those that cover it, and it goes to the tightest of them.
    """
    own_classes, shown_classes = classes
    may_bes = [reading.may_be for reading in readings]
    leaves = np.column_stack([reading.leaf for reading in readings])
    _, first, rows = np.unique(_cells(leaves), return_index=True, return_inverse=True)
    _, kinds, group_of = np.unique(_cells(shown), return_index=True, return_inverse=True)
    groups = shown[kinds]
    if len(first) * len(groups) > MOST_PAIRS:
        raise TooLargeError(
            f"comparing {len(first):,} distinct records with {len(groups):,} groups of several "
            "levels would take too long",
            "measure on a sample of the input and a release of that sample",
        )
    size = np.zeros(len(groups))
    for may_be, codes in zip(may_bes, groups.T, strict=True):
        size += np.log(may_be.sum(axis=1))[codes]
    tightest_first = np.argsort(size, kind="stable")
    group = _tightest(may_bes, leaves[first], groups, tightest_first)[rows]
    mapped = np.where((group >= 0)[:, None], groups[group], mapped)

    # Each group takes records it covers, the tightest first, so that loose ones take what is left.
    twin = np.full(len(shown), -1, dtype=np.int64)
    left = order
    ends = np.cumsum(np.bincount(group_of, minlength=len(groups)))[:-1]
    members = np.split(np.argsort(group_of, kind="stable"), ends)
    for which in tightest_first:
        covered = left
        for may_be, code, column in zip(may_bes, groups[which], leaves.T, strict=True):
            covered = covered[may_be[code][column[covered]]]
        rows_of_group = members[which]
        place = _twins(
            own_classes[covered][:, None],
            shown_classes[rows_of_group][:, None],
            np.arange(len(covered)),
        )
        paired = place >= 0
        twin[rows_of_group[paired]] = covered[place[paired]]
        left = left[~np.isin(left, twin[rows_of_group])]
    return mapped, twin


def _generalised(reading: _Reading, present: Ints) -> tuple[Ints, Bools]:
    """The released code of every record whose leaf has one, and new codes for the others.

    Of several codes it is the tightest. The new codes are at the release's level; what they cover
    is returned too.
    """
    tightest_first = np.argsort(reading.may_be[present].sum(axis=1), kind="stable")
    present = present[tightest_first]
    may_be = reading.may_be[present]
    covered = may_be.any(axis=0)
    code = np.full(reading.leaves, -1, dtype=np.int64)
    if len(present):
        code[covered] = present[may_be.argmax(axis=0)][covered]
    level = _level_of(may_be, reading.level)
    beyond = level[~covered]
    nodes = np.unique(beyond)
    code[~covered] = len(reading.may_be) + np.searchsorted(nodes, beyond)
    return code[reading.leaf], level == nodes[:, None]


def _level_of(may_be: Bools, levels: Sequence[Ints]) -> Ints:
    """The first level that has every released value, or else the finest."""
    for level in levels:
        if all(_is_node(leaves, level) for leaves in may_be):
            return level
    return levels[0]


def _is_node(leaves: Bools, level: Ints) -> bool:
    """Whether some leaves are just those of one value of a level."""
    value = level[leaves.argmax()]
    return bool((leaves == (level == value)).all())


def _tightest(may_be: Sequence[Bools], records: Ints, groups: Ints, order: Ints) -> Ints:
    """For every record (as leaves), the first group in an order that covers it; -1 if none does."""
    first = np.full(len(records), -1, dtype=np.int64)
    step = max((1 << 24) // max(len(groups), 1), 1)
    for start in range(0, len(records), step):
        part = records[start : start + step]
        covers = np.ones((len(part), len(groups)), dtype=np.bool_)
        for of_column, codes, leaves in zip(may_be, groups[order].T, part.T, strict=True):
            covers &= of_column[codes][:, leaves].T
        place = np.where(covers.any(axis=1), order[covers.argmax(axis=1)], -1)
        first[start : start + step] = place
    return first


def _twins(records: Ints, released: Ints, order: Ints) -> Ints:
    """For every released row, an equal record; -1 where none is left.

    Each record is used once, in the given order.
    """
    cells = _cells(np.concatenate((records, released)))
    cell_of_record = cells[: len(records)]
    cell_of_row = cells[len(records) :]
    records_by_cell = order[np.argsort(cell_of_record[order], kind="stable")]
    rows_by_cell = np.argsort(cell_of_row, kind="stable")

    # The n-th row of a cell gets the n-th record of it, if there is one.
    available = cell_of_record[records_by_cell]
    wanted = cell_of_row[rows_by_cell]
    rank = np.arange(len(wanted)) - np.searchsorted(wanted, wanted)
    place = np.searchsorted(available, wanted) + rank
    enough = place < np.searchsorted(available, wanted, side="right")
    twin = np.full(len(released), -1, dtype=np.int64)
    twin[rows_by_cell[enough]] = records_by_cell[place[enough]]
    return twin


def _cells(rows: Ints) -> Ints:
    """One number per row, the same for equal rows."""
    cell = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        values = int(column.max(initial=0)) + 1
        # Numbered anew after each column, so that the numbers never overflow.
        _, number = np.unique(cell * values + column, return_inverse=True)
        cell = number.astype(np.int64)
    return cell


def _predict(
    classifier: Classifier, train: _Features, classes: Ints, test: _Features, otherwise: Ints
) -> Ints:
    """What a classifier predicts for some rows; `otherwise` where there is nothing to learn."""
    if not len(classes):
        return otherwise
    if (classes == classes[0]).all():
        return np.full(len(test.codes), classes[0])
    # Equal rows train as one with a weight.
    cells = _cells(np.column_stack((train.codes, classes)))
    _, first, weight = np.unique(cells, return_index=True, return_counts=True)
    train = _Features(train.codes[first], train.places)
    classes = classes[first]
    if classifier == "c4.5":
        return C45Tree.fitted(train.codes, classes, weight).predict(test.codes)
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise ShoalError(
            "measuring classifiers needs scikit-learn",
            "install it with: pip install 'shoal[utility]'",
        ) from None
    if classifier != "logistic":
        # Unpruned, which is scikit-learn's default, a tree learns by heart.
        share = SMALLEST_LEAF if classifier == "tree" else 0.0
        tree = DecisionTreeClassifier(min_weight_fraction_leaf=share, random_state=0)
        tree.fit(train.numbers(), classes, sample_weight=weight)
        return np.asarray(tree.predict(test.numbers()), dtype=np.int64)
    encoder = OneHotEncoder(handle_unknown="ignore", dtype=np.float64).fit(train.codes)
    regression = LogisticRegression(max_iter=200)
    with warnings.catch_warnings():
        # Stopping after these steps is good enough to compare two tables.
        warnings.simplefilter("ignore")
        regression.fit(encoder.transform(train.codes), classes, sample_weight=weight)
    return np.asarray(regression.predict(encoder.transform(test.codes)), dtype=np.int64)
