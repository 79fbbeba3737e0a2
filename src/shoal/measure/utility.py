"""What a release is still good for: classifiers trained on it, count queries asked of it. Uses
`tables`, `hierarchy`, `counts`.

Both read every released value as the set of leaves it may stand for: a value of any level of the
column's hierarchy, a range, or a list of values in braces. Rows need not be in the input's order,
and suppressed ones may be there or not. The draws here decide what is measured, never what is
released, so a seed is an argument. How both are defined, and why
so: docs/measures.md.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from shoal.counts import Counts, group, smallest
from shoal.data.hierarchy.texts import ANY, Texts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Column, Role, Table
from shoal.data.tables import table as as_table
from shoal.errors import ColumnError, HierarchyError, ParameterError, ShoalError, TooLargeError
from shoal.exact.numbers import Exact
from shoal.exact.numbers import fraction as exact
from shoal.measure.risk import MARKERS
from shoal.zones import owner_only

__all__ = ["Accuracy", "Classifier", "QueryError", "classification", "queries", "spread"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Classifier = Literal["tree", "logistic", "unpruned"]

SMALLEST_LEAF = 0.001
"""A leaf of a decision tree has at least this share of the training records: what pruning does in
C4.5.
"""


MOST_PAIRS = 2 << 30
"""Distinct records × groups that are worth comparing where a release has values of several levels
side by side.
"""


@owner_only
@dataclass(frozen=True)
class Accuracy:
    """How well a class column can be predicted, as shares of the input's records that are predicted
    right.

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
class QueryError:
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
) -> tuple[Accuracy, ...]:
    """How well classifiers trained on a release predict the input, by cross-validation; one answer
    a class and classifier.

    `features` are by default all released columns but the class and identifying ones. A class
    column must be released as it is. A record that was suppressed trains nothing, and is tested
    like all others.
    """
    release = released if isinstance(released, Table) else as_table(released)
    classes = (class_columns,) if isinstance(class_columns, str) else tuple(class_columns)
    if not 2 <= folds <= max(original.rows, 2):
        raise ParameterError(
            f"folds={folds}; it takes a whole number from 2 to the number of records"
        )
    ways = tuple(classifiers)
    for way in ways:
        if way not in get_args(Classifier):
            raise ParameterError(
                f"classifier {way!r} is unknown; it takes 'tree', 'logistic' or 'unpruned'"
            )
    given = None if features is None else tuple(features)
    answers: list[Accuracy] = []
    for column in classes:
        possible = [
            name
            for name in original.names
            if name in release.names and original.roles.get(name) is not Role.IDENTIFYING
        ]
        used = [name for name in (possible if given is None else given) if name != column]
        for name in (column, *used):
            if name not in original.names or name not in release.names:
                raise ColumnError(
                    f"column {name!r} is not in both tables; name columns that were released"
                )
        if not used:
            raise ColumnError(f"no features are left to predict {column!r} from; name some")
        answers += _cross_validate(original, release, column, used, ways, folds, seed)
    return tuple(answers)


def queries(
    original: Table,
    released: Any,
    *,
    names: Iterable[str] | None = None,
    count: int = 1000,
    columns: int = 3,
    selectivity: Exact = 0.01,
    bound: Exact = 0.001,
    rate: Exact = 1,
    seed: int = 0,
) -> QueryError:
    """How far off count queries are on a release that is read as uniform within its values.

    Each query asks for the records whose values in `columns` random columns lie in random sets,
    which together select a share `selectivity` of the domain: neighbouring values of numbers and
    dates, any values of text. `names` are the columns to draw from, by default the
    quasi-identifying ones. `bound` is a share of the records, so that queries with hardly any
    answer do not decide everything. `rate` is the chance with which each record was drawn, if the
    release is a sample: answers are divided by it.
    """
    release = released if isinstance(released, Table) else as_table(released)
    share, least = exact(selectivity, "selectivity", 0, 1, above=True), exact(bound, "bound", 0, 1)
    drawn = float(exact(rate, "rate", 0, 1, above=True))
    drawn_from = tuple(original.quasi if names is None else names)
    if count < 1 or not 1 <= columns <= len(drawn_from):
        raise ParameterError(
            f"count={count}, columns={columns}: it takes at least one query, over 1 to {len(drawn_from)} columns "
            "(the quasi-identifying ones, or those named)"
        )
    readings = [_Reading.of(original, release, name) for name in drawn_from]
    truths = _Answers(
        group(
            drawn_from, [r.leaf.astype(np.uint32) for r in readings], [r.leaves for r in readings]
        )
    )
    answers = _Answers(
        group(
            drawn_from,
            [r.codes.astype(np.uint32) for r in readings],
            [len(r.may_be) for r in readings],
        )
    )
    chance = np.random.default_rng(seed)
    errors = np.empty(count)
    floor = float(least) * original.rows
    for i in range(count):
        picked = sorted(chance.choice(len(drawn_from), columns, replace=False).tolist())
        wanted = [readings[j].some(float(share) ** (1 / columns), chance) for j in picked]
        truth = truths.sum(picked, [leaves.astype(np.float64) for leaves in wanted])
        answer = answers.sum(
            picked, [readings[j].share(leaves) for j, leaves in zip(picked, wanted, strict=True)]
        )
        gap, scale = abs(answer / drawn - truth), max(truth, floor)
        errors[i] = gap / scale if scale else float(gap > 0)
    return QueryError(
        count, columns, float(share), floor, float(errors.mean()), float(np.median(errors))
    )


def spread(original: Table, released: Table, name: str) -> tuple[Ints, Floats]:
    """How many records have each leaf of a column: of the input, and of a release read as uniform
    within its values.
    """
    reading = _Reading.of(original, released, name)
    rows = np.bincount(reading.codes, minlength=len(reading.may_be)) / np.maximum(
        reading.may_be.sum(axis=1), 1
    )
    return np.bincount(reading.leaf, minlength=reading.leaves), rows @ reading.may_be


class _Answers:
    """Sums over the records of a table; tables of the few columns that one query asks for are
    kept.
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
    """One column in both tables: the input's as leaves, the release's as codes of which
    `may_be[code][leaf]` tells all.
    """

    name: str
    ordered: bool
    asked: Ints  # the leaves that queries ask for: all but the missing value, numbers and dates in their order
    leaf: Ints
    codes: Ints
    may_be: Bools
    labels: tuple[str, ...]
    level: tuple[Ints, ...]

    @property
    def leaves(self) -> int:
        return int(self.may_be.shape[1])

    @classmethod
    def of(cls, original: Table, release: Table, name: str) -> "_Reading":
        """The column, read by its hierarchy, or by the values of the input where it has none."""
        for table, which in ((original, "input"), (release, "release")):
            if name not in table.names:
                raise ColumnError(f"the {which} has no column {name!r}")
        if name in original.hierarchies:
            domain, leaf = original.hierarchy(name), original.leaves(name)
        else:
            column = original.column(name)
            values = len(column.keys)
            domain = Hierarchy(
                (column.labels,), (np.arange(values, dtype=smallest(values)),), column.kind
            )
            leaf = column.codes
        there = release.column(name)
        may_be = _may_be(there, domain, name)
        levels = tuple(codes.astype(np.int64) for codes in domain.maps)
        ordered = domain.kind is not Kind.TEXT
        asked = [i for i, text in enumerate(domain.labels[0]) if text]
        if ordered and not domain.cuts:
            asked.sort(key=lambda i: domain.kind.key(domain.labels[0][i]))  # type: ignore[arg-type,return-value]
        places = np.array(asked, dtype=np.int64)
        return cls(
            name,
            ordered,
            places,
            leaf.astype(np.int64),
            there.codes.astype(np.int64),
            may_be,
            there.labels,
            levels,
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
        return np.asarray(self.may_be @ wanted.astype(np.float64) / self.may_be.sum(axis=1))


def _may_be(column: Column, domain: Hierarchy, name: str) -> Bools:
    """Which leaves every value of a released column may stand for."""
    shown = {label for label in column.labels if label != ANY}
    # A text may name values of several levels ("White" in a race hierarchy): prefer the level that
    # has them all.
    whole = [level for level, labels in enumerate(domain.labels) if shown <= set(labels)]
    texts = Texts.of(domain, whole[0] if whole else None)
    read = [texts(label) for label in column.labels]
    rows = [found for found in read if found is not None and found.any()]
    if unread := len(read) - len(rows):
        raise HierarchyError(
            f"column {name!r}: {unread} released value{'s are' if unread > 1 else ' is'} not in its hierarchy at any level; "
            "give the hierarchy the release was made with"
        )
    return np.array(rows, dtype=np.bool_).reshape(len(column.labels), len(domain.maps[0]))


# Classification


@dataclass(frozen=True, eq=False)
class _Features:
    """Coded features of some rows, and where each code lies among the leaves of its column."""

    codes: Ints  # rows × columns
    places: tuple[Floats, ...]

    def of(self, rows: Bools) -> "_Features":
        return _Features(self.codes[rows], self.places)

    def numbers(self) -> Floats:
        """For trees: the middle of the leaves a value stands for."""
        return np.column_stack(
            [places[codes] for places, codes in zip(self.places, self.codes.T, strict=True)]
        )


def _cross_validate(
    original: Table,
    release: Table,
    column: str,
    used: Sequence[str],
    classifiers: Sequence[Classifier],
    folds: int,
    seed: int,
) -> Iterator[Accuracy]:
    readings = [_Reading.of(original, release, name) for name in used]
    target = _Reading.of(original, release, column)
    trains = ~_suppressed(original, readings)
    released_class = target.may_be.argmax(axis=1)[target.codes]
    if (target.may_be.sum(axis=1)[target.codes[trains]] > 1).any():
        raise ColumnError(
            f"class column {column!r} is generalised in the release; measure classes that were released as they are"
        )
    plain = _Features(
        np.column_stack([reading.leaf for reading in readings]),
        tuple(np.arange(reading.leaves, dtype=np.float64) for reading in readings),
    )
    shown_class = released_class[trains]

    order = np.random.default_rng(seed).permutation(original.rows)
    fold = np.empty(original.rows, dtype=np.int64)
    fold[order] = np.arange(original.rows) % folds
    shown, mapped, twin = _at_levels_of_release(readings, trains, target.leaf, shown_class, order)
    shown_fold = np.where(twin >= 0, fold[twin], -1)

    for classifier in classifiers:
        right = {"majority": 0, "original": 0, "released": 0}
        for held_out in range(folds):
            test, rest, others = fold == held_out, fold != held_out, shown_fold != held_out
            truth = target.leaf[test]
            most = np.full(len(truth), np.bincount(target.leaf[rest]).argmax())
            by_original = _predict(
                classifier, plain.of(rest), target.leaf[rest], plain.of(test), most
            )
            by_release = _predict(
                classifier, shown.of(others), shown_class[others], mapped.of(test), most
            )
            for which, guess in (
                ("majority", most),
                ("original", by_original),
                ("released", by_release),
            ):
                right[which] += int((guess == truth).sum())
        majority, best, got = (number / original.rows for number in right.values())
        relative = (got - majority) / (best - majority) if best > majority else None
        yield Accuracy(column, classifier, folds, majority, best, got, relative)


def _suppressed(original: Table, readings: Sequence[_Reading]) -> Bools:
    """Which released rows say nothing in any quasi-identifying feature, or in any feature where
    roles are not known.
    """
    known = [
        reading for reading in readings if original.roles.get(reading.name) is Role.QUASI
    ] or readings
    silent = np.ones(len(known[0].codes), dtype=np.bool_)
    for reading in known:
        silent &= np.array([label in MARKERS for label in reading.labels], dtype=np.bool_)[
            reading.codes
        ]
    return silent


def _at_levels_of_release(
    readings: Sequence[_Reading], trains: Bools, classes: Ints, shown_classes: Ints, order: Ints
) -> tuple[_Features, _Features, Ints]:
    """The release's training rows, the input's records as the release would have shown them, and
    who may be whom.

    For every training row the last has a record it may be made of, each record once; -1 where none
    is left. Which of several equal records it is makes no difference to what can be learned from
    the row.
    """
    shown = np.column_stack([reading.codes[trains] for reading in readings])
    present = [np.unique(codes) for codes in shown.T]
    places, columns = [], []
    for reading, codes in zip(readings, present, strict=True):
        column, beyond = _generalised(reading, codes)
        may_be = np.concatenate((reading.may_be, beyond))
        places.append((may_be @ np.arange(reading.leaves)) / may_be.sum(axis=1))
        columns.append(column)
    mapped = np.column_stack(columns)
    overlap = any(
        reading.may_be[codes].sum(axis=0).max(initial=0) > 1
        for reading, codes in zip(readings, present, strict=True)
    )
    if not overlap:
        twin = _twins(
            np.column_stack((mapped, classes)), np.column_stack((shown, shown_classes)), order
        )
    else:  # values of several levels side by side: a record's groups are those that cover it
        may_bes, leaves = (
            [reading.may_be for reading in readings],
            np.column_stack([reading.leaf for reading in readings]),
        )
        _, first, rows = np.unique(_cells(leaves), return_index=True, return_inverse=True)
        _, kinds, group_of = np.unique(_cells(shown), return_index=True, return_inverse=True)
        groups = shown[kinds]
        if len(first) * len(groups) > MOST_PAIRS:
            raise TooLargeError(
                f"comparing {len(first):,} distinct records with {len(groups):,} groups of several levels would take too long; "
                "measure on a sample of the input and a release of that sample"
            )
        tightest_first = np.argsort(
            np.sum(
                [np.log(m.sum(axis=1))[codes] for m, codes in zip(may_bes, groups.T, strict=True)],
                axis=0,
            ),
            kind="stable",
        )
        found = _tightest(may_bes, leaves[first], groups, tightest_first)[rows]
        mapped = np.where((found >= 0)[:, None], groups[found], mapped)
        twin = np.full(len(shown), -1, dtype=np.int64)
        left = order
        members = np.split(
            np.argsort(group_of, kind="stable"),
            np.cumsum(np.bincount(group_of, minlength=len(groups)))[:-1],
        )
        for which in tightest_first:
            covered = left
            for m, code, column in zip(may_bes, groups[which], leaves.T, strict=True):
                covered = covered[m[code][column[covered]]]
            its = members[which]
            own = _twins(
                classes[covered][:, None], shown_classes[its][:, None], np.arange(len(covered))
            )
            twin[its[own >= 0]] = covered[own[own >= 0]]
            left = left[~np.isin(left, twin[its])]
    return _Features(shown, tuple(places)), _Features(mapped, tuple(places)), twin


def _generalised(reading: _Reading, present: Ints) -> tuple[Ints, Bools]:
    """Every record's released code, where its leaf has one; the others get new codes at the
    release's level, returned too.
    """
    may_be = reading.may_be[present]
    covered = may_be.any(axis=0)
    code = np.where(covered, present[may_be.argmax(axis=0)] if len(present) else 0, -1)
    level = next(
        (codes for codes in reading.level if all(_is_node(leaves, codes) for leaves in may_be)),
        reading.level[0],
    )
    nodes = np.unique(level[~covered])
    code[~covered] = len(reading.may_be) + np.searchsorted(nodes, level[~covered])
    return code[reading.leaf], level == nodes[:, None]


def _is_node(leaves: Bools, level: Ints) -> bool:
    """Whether some leaves are just those of one value of a level."""
    return bool((leaves == (level == level[leaves.argmax()])).all())


def _tightest(may_be: Sequence[Bools], records: Ints, groups: Ints, order: Ints) -> Ints:
    """For every record (as leaves) the first group, in an order, that covers it; -1 if none
    does.
    """
    found = np.full(len(records), -1, dtype=np.int64)
    step = max((1 << 24) // max(len(groups), 1), 1)
    for start in range(0, len(records), step):
        some = records[start : start + step]
        covers = np.ones((len(some), len(groups)), dtype=np.bool_)
        for m, codes, leaves in zip(may_be, groups[order].T, some.T, strict=True):
            covers &= m[codes][:, leaves].T
        found[start : start + step] = np.where(covers.any(axis=1), order[covers.argmax(axis=1)], -1)
    return found


def _twins(records: Ints, released: Ints, order: Ints) -> Ints:
    """For every released row an equal record, each record once, the first in an order first; -1
    where none is left.
    """
    cells = _cells(np.concatenate((records, released)))
    ours, theirs = cells[: len(records)], cells[len(records) :]
    ours_by_cell = order[np.argsort(ours[order], kind="stable")]
    sorted_cells = ours[ours_by_cell]
    theirs_by_cell = np.argsort(theirs, kind="stable")
    wanted = theirs[theirs_by_cell]
    rank = np.arange(len(wanted)) - np.searchsorted(wanted, wanted)
    at = np.searchsorted(sorted_cells, wanted) + rank
    there = at < np.searchsorted(sorted_cells, wanted, side="right")
    twin = np.full(len(released), -1, dtype=np.int64)
    twin[theirs_by_cell[there]] = ours_by_cell[at[there]]
    return twin


def _cells(rows: Ints) -> Ints:
    """One number a row, the same for equal rows."""
    cell = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        cell = np.unique(cell * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[
            1
        ].astype(np.int64)
    return cell


def _predict(
    classifier: Classifier, train: _Features, classes: Ints, test: _Features, otherwise: Ints
) -> Ints:
    """What a classifier says about some rows; who has learned nothing says what is said
    `otherwise`.
    """
    if not len(classes):
        return otherwise
    if (classes == classes[0]).all():
        return np.full(len(test.codes), classes[0])
    # Equal rows train as one with a weight.
    _, first, weight = np.unique(
        _cells(np.column_stack((train.codes, classes))), return_index=True, return_counts=True
    )
    train, classes = _Features(train.codes[first], train.places), classes[first]
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise ShoalError(
            "measuring classifiers needs scikit-learn; install it with: pip install 'shoal[utility]'"
        ) from None
    if classifier != "logistic":
        smallest = (
            SMALLEST_LEAF if classifier == "tree" else 0.0
        )  # unpruned, as scikit-learn's default, it learns by heart
        tree = DecisionTreeClassifier(min_weight_fraction_leaf=smallest, random_state=0)
        return np.asarray(
            tree.fit(train.numbers(), classes, sample_weight=weight).predict(test.numbers()),
            dtype=np.int64,
        )
    encoder = OneHotEncoder(handle_unknown="ignore", dtype=np.float64).fit(train.codes)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # stopping after these steps is good enough to compare two tables
        regression = LogisticRegression(max_iter=200).fit(
            encoder.transform(train.codes), classes, sample_weight=weight
        )
    return np.asarray(regression.predict(encoder.transform(test.codes)), dtype=np.int64)
