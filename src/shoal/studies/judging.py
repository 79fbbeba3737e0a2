"""`judge`: how good a release is, for its owner.

Uses `measure`, `lattice`, `methods`, `releases` and `look`; the command line uses it.

Everything here is a comparison with the input and reveals information about it: no promise covers
it. A
judgement is marked as not for release, in every form it takes, and cannot be written beside one.
What the figures mean: docs/how-to/judging.md.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.data.disk import finite, replacing
from shoal.data.frames import RowsWithCounts
from shoal.data.hierarchy.cover import covers
from shoal.data.hierarchy.texts import ANY
from shoal.data.kinds import Kind
from shoal.data.runs import in_runs
from shoal.data.tables import Role, Table
from shoal.data.tables import table as as_table
from shoal.errors import (
    ColumnError,
    FileError,
    HierarchyError,
    InputError,
    ParameterError,
    listed,
    plural,
)
from shoal.lattice import Groups, Lattice
from shoal.look.pictures import Picture, Pictured
from shoal.measure.loss import LOSSES, normalised, placed
from shoal.measure.risk import as_groups
from shoal.measure.utility import (
    Accuracy,
    Classifier,
    CountErrors,
    Workload,
    classification,
    spread,
)
from shoal.measure.utility import queries as count_queries
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.releases.certificate import Certificate
from shoal.releases.layout import grouping
from shoal.releases.release import Release
from shoal.studies.apart import BucketFigures, bucket_figures
from shoal.studies.own_levels import FittingRisk, OwnLevels
from shoal.studies.released import ReleasedForm, released_form, with_counts
from shoal.zones import NOT_FOR_RELEASE, owner_only

__all__ = [
    "ColumnCounts",
    "Judgement",
    "Lost",
    "ValueCount",
    "judge",
    "losses_by_size",
    "refuse_beside_a_release",
    "released_levels",
    "released_rows",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

CLASSIFIERS: tuple[Classifier, ...] = ("tree", "logistic", "c4.5")
"""What is trained on the input and on the release."""

FOLDS = 10
"""Parts of the input that classifiers are tested on, one after the other, as in the SafePub paper.
"""


@owner_only
@dataclass(frozen=True)
class Lost:
    """A loss as its model gives it, and on the scale from 0 (the input) to 1 (nothing left)."""

    raw: float
    normalised: float


@owner_only
@dataclass(frozen=True)
class ValueCount:
    """How many records have a value, in the input and in the release.

    `scaled` is the number in the release divided by the sampling rate.
    """

    value: str
    before: int
    after: float
    scaled: float | None


@owner_only
@dataclass(frozen=True)
class ColumnCounts:
    """The values of a column at the level it was released at, those that no record has left out.

    Where a column has values of several levels side by side, `level` is None: the values are then
    the leaves, and `after` is what one gets by taking every released value for any of its leaves
    with equal chance.
    """

    column: str
    level: int | None
    values: tuple[ValueCount, ...]


@owner_only
@dataclass(frozen=True)
class Judgement(Pictured):
    """What the owner should know about a release. It reveals information about the input.

    `records` are those of the input, `kept` those of them that are in the release and not
    suppressed, in `groups`; where counts are noisy, `kept` is as noisy as they are. `rate` is the
    chance with which a record was drawn, where the certificate states it. In `losses` every record
    that is not kept is lost entirely. `unknown` says for what could not be measured why. `buckets`
    is about a release that keeps sensitive values apart: its people are released unchanged. `risk`
    is by the people whom records fit, where they have levels of their own.
    """

    release: str | None
    method: str | None
    records: int
    kept: int
    share: float
    groups: int
    rate: float | None
    losses: Mapping[str, Lost]
    accuracies: tuple[Accuracy, ...]
    queries: CountErrors | None
    columns: tuple[ColumnCounts, ...] = field(repr=False)
    unknown: Mapping[str, str] = field(default_factory=dict)
    buckets: BucketFigures | None = None
    risk: FittingRisk | None = None

    def pictures(self) -> tuple[Picture, ...]:
        """What is lost, what can still be learnt, and each column before and after, as charts."""
        from shoal.studies.pictures import of_judgement

        return of_judgement(self)

    def _repr_html_(self) -> str:
        """The figures as notebooks show them."""
        from shoal.studies.cards import card_of_judgement

        return card_of_judgement(self).html()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, `not_for_release` first."""
        return {**NOT_FOR_RELEASE, **asdict(self)}

    def to_json(self) -> str:
        """One JSON object; what is infinite is null, for JSON has no such number."""
        return (
            json.dumps(finite(self.to_dict()), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON form into a file.

        FileError where that would be in the directory of a release.
        """
        refuse_beside_a_release(path)
        with replacing(path) as file:
            file.write(self.to_json().encode())


@typed
def judge(
    table: Table,
    release: Any,
    *,
    levels: Mapping[str, int] | None = None,
    columns: Iterable[str] | None = None,
    classes: str | Iterable[str] = (),
    queries: int = 0,
    seed: int = 0,
) -> Judgement:
    """How good a release of a table is.

    It compares records kept, losses, what can still be learnt, and counts before and after.

    release: a `Release`, or a released dataframe (or `Release.rows`)
    levels: of the generalised columns; else those of the certificate, else found by the released
    values
    columns: those whose loss is measured, to compare releases that generalise different ones; by
    default, those that the release generalises
    classes: columns to predict from all others by classifiers, which takes seconds and needs
    scikit-learn
    queries: how many count queries are asked
    seed: of the folds and queries, which decide what is measured and nothing else

    >>> from shoal import KAnonymity, Optimal, demo
    >>> people = demo.table()
    >>> judgement = judge(people, Optimal([KAnonymity(5)]).release(people))
    >>> judgement.kept == judgement.records, judgement.losses["granularity"].normalised < 1
    (True, True)
    """
    if isinstance(release, Release) and _keeps_apart(release):
        return _judged_apart(table, release, classes, queries, seed)
    certificate = release.certificate if isinstance(release, Release) else None
    chosen = released_levels(table, certificate, levels)
    rows, form = released_rows(release)
    mark = form.mark
    whole = _shown(table, rows, chosen, mark)
    # What is measured and was not generalised is at the lowest level.
    wanted = None if columns is None else dict.fromkeys(columns)
    own = {*table.quasi, *chosen}
    known = {**chosen, **{name: (0,) for name in wanted or () if name not in own}}
    shown_columns = [_read(table, whole, name, known) for name in whole.names if name != mark]
    generalised = [
        column
        for column in shown_columns
        if column.name in chosen or table.roles.get(column.name) is Role.QUASI
    ]
    keep = np.ones(len(rows.count), dtype=np.bool_)
    if not form.complete:
        keep = ~_suppressed(whole, generalised)
    released = _Released(whole, mark)
    if not keep.all():
        released = _Released(as_table(rows.only(keep), types=whole.types), mark)
    fixed = {name for name, at in chosen.items() if len(at) == 1}
    shown_columns = [column.only(keep, column.name in fixed) for column in shown_columns]
    names = {column.name for column in generalised} if wanted is None else set(wanted)
    measured = [column for column in shown_columns if column.name in names]
    if lacking := names - {column.name for column in measured}:
        raise _lacking(sorted(lacking))
    # With noisy counts, rows may be there more often than they were.
    noisy = certificate is not None and "scale" in certificate.derived
    if released.rows > table.rows and not noisy:
        raise _foreign()
    rate = _rate(certificate)
    shown = released.table
    losses, unknown, risk = _losses(table, released, measured, noisy, known)
    accuracies, unpredicted = _accuracies(table, shown, classes, seed, chosen)
    return Judgement(
        release=certificate.number if certificate else None,
        method=certificate.method if certificate else None,
        records=table.rows,
        kept=shown.rows,
        share=shown.rows / max(table.rows, 1),
        groups=len(released.sizes(grouping(table))),
        rate=None if rate is None else float(rate),
        losses=losses,
        accuracies=accuracies,
        queries=_queries(table, shown, queries, rate, seed, chosen) if queries else None,
        columns=tuple(_counted(table, shown, column, rate, chosen) for column in shown_columns),
        unknown=unknown | unpredicted,
        risk=risk,
    )


def refuse_beside_a_release(path: str | os.PathLike[str]) -> None:
    """FileError if a path leads into the directory of a release, or into a folder in it.

    Whoever gets that directory gets everything in it.
    """
    for way in (os.path.abspath(path), os.path.realpath(path)):
        for folder in Path(way).parents:
            if os.path.lexists(folder / "certificate.json"):
                raise FileError(
                    f"{os.fspath(path)} is in {folder}, where a release is, and the report reveals "
                    "information about the input",
                    "write it somewhere else",
                )


# Reading the release

_Levels = Mapping[str, Sequence[int]]
"""The levels that values of a column may have."""


def released_levels(
    table: Table, certificate: Certificate | None, given: Mapping[str, int] | None = None
) -> _Levels:
    """The levels of the generalised columns, as far as that is known."""
    refined: _Levels = {}
    if given is None and certificate is not None:
        given = certificate.levels
        if certificate.refined is not None:
            heights = {name: tree.height for name, tree in table.hierarchies.items()}
            refined = certificate.refined.levels(heights)
    return {**{name: (level,) for name, level in (given or {}).items()}, **refined}


@dataclass(frozen=True, eq=False)
class _Column:
    """A released column.

    It has its level, the values there, how many input records have each, and every released row's
    code. Equal rows may be one.
    """

    name: str
    level: int | None
    labels: Sequence[str]
    before: Ints
    codes: Ints  # -1 for "*" where that is not a value of the level
    count: Ints  # how often each released row is there

    def only(self, keep: Bools, fixed: bool) -> "_Column":
        """The rows that are not suppressed.

        A "*" that is left there is of another level than the other values.
        """
        codes, count = self.codes[keep], self.count[keep]
        if (codes >= 0).all():
            return replace(self, codes=codes, count=count)
        if fixed:
            raise HierarchyError(
                f"column {self.name!r} has '*' in rows that are not suppressed, and its level has "
                "no such value"
            )
        return replace(self, level=None, codes=codes, count=count)


def _foreign() -> InputError:
    return InputError(
        "the release has records that the input does not have",
        "judge it by the table it was made from",
    )


def _lacking(names: Iterable[str]) -> ColumnError:
    return ColumnError(
        f"the release has no column {listed(dict.fromkeys(names))}",
        "judge it by the roles it was made with",
    )


@dataclass(frozen=True, eq=False)
class _Released:
    """The released rows that are not suppressed.

    `mark` is the column that numbers groups which may look alike, if there is one.
    """

    table: Table
    mark: str | None

    @property
    def rows(self) -> int:
        return self.table.rows

    def sizes(self, names: Iterable[str]) -> Ints:
        """The sizes of the groups over some columns."""
        grouped = [name for name in names if name in self.table.names]
        if self.mark is not None:
            grouped.append(self.mark)
        return self.table.count(grouped, {}).count


def released_rows(release: Any) -> tuple[RowsWithCounts, ReleasedForm]:
    """The released rows, each as often as its count says, and how they are to be read.

    ParameterError if the rows of the release are not records.
    """
    if isinstance(release, RowsWithCounts):
        return release, ReleasedForm()
    if not isinstance(release, Release):
        return RowsWithCounts.of(as_table(release).frame.to_native()), ReleasedForm()
    certificate = release.certificate
    entry = entry_of(certificate.method) if certificate.method in CATALOGUE else None
    if entry is not None and entry.not_judged:
        raise ParameterError(f"this is a release by {certificate.method}: {entry.not_judged}")
    form = released_form(certificate)
    if form.counted:
        return with_counts(release.table), form
    return in_runs(release.rows), form


def _shown(table: Table, rows: RowsWithCounts, levels: _Levels, mark: str | None) -> Table:
    """The released rows as a table.

    Generalised values are texts; others have the types of the input.
    """
    shown = as_table(rows)
    if extra := [name for name in shown.names if name not in table.names and name != mark]:
        raise ColumnError(
            f"the input has no column {listed(extra)}",
            "judge the release by the table it was made from",
        )
    if lacking := [name for name in (*table.quasi, *levels) if name not in shown.names]:
        raise _lacking(lacking)
    texts = {*table.quasi, *levels, mark}
    types = {name: Kind.TEXT if name in texts else table.kind(name) for name in shown.names}
    return as_table(rows, types=types)


def _read(table: Table, shown: Table, name: str, levels: _Levels) -> _Column:
    """A released column by the level it has, or by the first one that has all its values."""
    [column], count = shown.runs([name])
    kind = table.kind(name)
    counted = table.count([name], {})
    values = table.keys(name)
    records = np.zeros(len(values), dtype=np.int64)
    records[counted.codes[0]] = counted.count
    quasi = table.roles.get(name) is Role.QUASI

    def canonical(text: str) -> str:
        try:
            return kind.text(kind.key(text))
        except (ValueError, TypeError, OverflowError):
            return text

    possible: list[tuple[int, Sequence[str], npt.NDArray[Any]]] = [
        (0, table.labels(name), np.arange(len(values)))
    ]
    if name in table.hierarchies and (quasi or name in levels):
        tree = table.hierarchy(name)
        at = levels.get(name, range(tree.height + 1))
        if not all(0 <= level <= tree.height for level in at):
            raise HierarchyError(
                f"column {name!r} has levels 0 to {tree.height}, and the release has {max(at)}"
            )
        possible = [
            (level, tree.labels[level], tree.maps[level][table.leaf_of(name)]) for level in at
        ]
    # A level that has all values, "*" too, is better than one beside whose values "*" can only mean
    # a suppressed record.
    for beside, (level, labels, code_of) in product(((), (ANY,)), possible):
        place = {canonical(label): code for code, label in enumerate(labels)}
        place |= {label: code for code, label in enumerate(labels)}
        codes = np.array(
            [place.get(text, place.get(canonical(text), -1)) for text in column.labels],
            dtype=np.int64,
        )
        strange = sum(
            code < 0 and text not in beside
            for code, text in zip(codes.tolist(), column.labels, strict=True)
        )
        if not strange:
            before = np.bincount(code_of, records, len(labels)).astype(np.int64)
            return _Column(name, level, labels, before, codes[column.codes], count)
    several = len(levels[name]) > 1 if name in levels else quasi
    if several:
        nothing = np.zeros(0, dtype=np.int64)
        return _Column(name, None, (), nothing, np.zeros_like(count), count)
    unknown = plural(strange, "released value")
    if name in levels:
        raise HierarchyError(
            f"column {name!r}: {unknown} not at level {level} of its hierarchy",
            "give the hierarchy it was released by",
        )
    raise ColumnError(
        f"column {name!r}: {unknown} not in the input",
        "judge the release by the table it was made from",
    )


def _suppressed(shown: Table, generalised: Sequence[_Column]) -> Bools:
    """Which rows say '*' in every generalised column.

    None do if '*' is a value at the level of each column or, where a level is not known, if all
    rows say it: then it is their group.
    """
    _, count = shown.runs([])
    silent = np.ones(len(count), dtype=np.bool_)
    for column in generalised:
        [own], _ = shown.runs([column.name])
        silent &= np.array([text == ANY for text in own.labels], dtype=np.bool_)[own.codes]
    if any(column.level is None for column in generalised):
        meant = bool(silent.all())
    else:
        meant = all(ANY in column.labels for column in generalised)
    return np.zeros_like(silent) if meant else silent


def _rate(certificate: Certificate | None) -> Fraction | None:
    """The chance with which each record was drawn, as far as the certificate states it."""
    if certificate is None or certificate.parameters.get("unit"):
        return None  # of a person with many rows, each row was drawn more rarely
    stated = certificate.derived.get("beta", certificate.promise.get("share"))
    return None if stated is None or not Fraction(stated) else Fraction(stated)


# Losses

_Measured = tuple[dict[str, Lost], dict[str, str], FittingRisk | None]
"""Losses, why others are not known, and the risk of records with levels of their own."""


def _losses(
    table: Table,
    released: _Released,
    columns: Sequence[_Column],
    noisy: bool,
    levels: _Levels,
) -> _Measured:
    """The loss by every model, why there is none where there is none, and the risk of records."""
    bare = [column.name for column in columns if column.name not in table.hierarchies]
    if bare or not columns:
        reason = (
            f"column {bare[0]!r} has no hierarchy" if bare else "no column is quasi-identifying"
        )
        return {}, {f"loss by {name}": reason for name in LOSSES}, None
    names = [column.name for column in columns]
    lattice = _lattice(table, names)
    several = any(len(at) > 1 for at in levels.values())
    if several or any(column.level is None for column in columns):
        return _losses_of_texts(table, released, lattice, noisy, levels)
    groups = lattice.groups(tuple(column.level or 0 for column in columns))
    kept = _kept(groups, columns, noisy)
    losses = {
        name: Lost(loss.of(groups, kept), normalised(loss, groups, kept))
        for name, loss in LOSSES.items()
    }
    if released.mark is not None:
        by_sizes = _by_sizes(table, released.sizes(names))
        losses |= _scaled(by_sizes, lattice, not released.rows)
    return losses, {}, None


def _lattice(table: Table, names: Sequence[str]) -> Lattice:
    return Lattice(table.count(names), {name: table.hierarchy(name) for name in names})


def _by_sizes(table: Table, released: Ints) -> dict[str, float]:
    """The raw losses that look at the sizes of released groups alone."""
    sizes = released[released > 0].astype(np.float64)
    lost = max(table.rows - int(sizes.sum()), 0)  # noisy counts may be more than there are
    return {
        "discernibility": float(sizes @ sizes) + lost * table.rows,
        "group_size": table.rows / max(len(sizes) + (lost > 0), 1),
    }


def losses_by_size(table: Table, names: Sequence[str], sizes: Ints) -> dict[str, Lost]:
    """The losses that follow from the sizes of released groups, so that they need no hierarchy."""
    lattice = as_groups(table.count(names, {}), names).lattice
    return _scaled(_by_sizes(table, sizes), lattice, not sizes.any())


def _scaled(raw: Mapping[str, float], lattice: Lattice, nothing: bool) -> dict[str, Lost]:
    return {
        name: Lost(value, placed(LOSSES[name], lattice, value, nothing))
        for name, value in raw.items()
    }


def _kept(groups: Groups, columns: Sequence[_Column], noisy: bool) -> Ints:
    """How many records of each group of the input are in the release.

    Where counts are noisy, not more than there are.
    """
    possible = np.logical_and.reduce([column.before[column.codes] > 0 for column in columns])
    if not noisy and not possible.all():
        raise _foreign()
    if not possible.any():
        return np.zeros(len(groups.sizes), dtype=np.int64)
    # A combination that no record has leads anywhere: whether it is that of the group is looked at
    # afterwards.
    rows = [column.codes[possible].astype(np.uint64) for column in columns]
    places = groups.find(rows).clip(0, len(groups.sizes) - 1)
    same = np.logical_and.reduce([groups.codes(j)[places] == codes for j, codes in enumerate(rows)])
    kept = np.zeros(len(groups.sizes), dtype=np.int64)
    np.add.at(kept, places[same], columns[0].count[possible][same])
    if not noisy and (not same.all() or (kept > groups.sizes).any()):
        raise _foreign()
    return np.minimum(kept, groups.sizes)


def _losses_of_texts(
    table: Table, released: _Released, lattice: Lattice, noisy: bool, levels: _Levels
) -> _Measured:
    """The losses of a release whose groups have individual ranges or sets, or several levels.

    They are those that need no levels, and all where every text is that of a level.
    """
    unknown = {
        f"loss by {name}": "the release has values of several levels side by side"
        for name in LOSSES
    }
    shown = released.table
    rows = shown.count(list(lattice.names), {})
    covered = []
    for name, tree, codes in zip(lattice.names, lattice.hierarchies, rows.codes, strict=True):
        leaves = [*map(covers(tree, levels.get(name)), shown.labels(name))]
        if strange := leaves.count(None):
            values = plural(strange, "released value")
            reason = f"column {name!r}: {values} not in its hierarchy, at any level"
            return {}, dict.fromkeys(unknown, reason), None
        covered.append(np.array(leaves, dtype=np.float64)[codes])
    own = OwnLevels.of(lattice, table, shown, levels)
    if own is not None and not noisy and not own.possible:
        raise _foreign()
    counts, sizes = rows.count, released.sizes(lattice.names)
    kept = own
    if own is not None and noisy:
        kept = own.kept()
        counts = sizes = kept.counts
    raw = _by_covers(table, lattice, covered, counts) | _by_sizes(table, sizes)
    if kept is not None:
        raw |= {
            "intensity": kept.intensity(),
            "entropy": kept.entropy(),
            "divergence": kept.divergence(),
        }
    losses = _scaled({name: raw[name] for name in LOSSES if name in raw}, lattice, not counts.any())
    unmeasured = {
        f"loss by {name}": unknown[f"loss by {name}"] for name in LOSSES if name not in raw
    }
    return losses, unmeasured, None if own is None else _risk(table, shown, own, levels)


def _by_covers(
    table: Table, lattice: Lattice, covered: Sequence[npt.NDArray[np.float64]], counts: Ints
) -> dict[str, float]:
    """The raw losses that look only at how many leaves the cells of every released row cover."""
    lost = table.rows - int(counts.sum())
    shares = float(lost * len(covered))
    possible = np.ones(len(counts))
    for tree, number in zip(lattice.hierarchies, covered, strict=True):
        shares += float(number @ counts) / tree.leaves
        possible *= number
    _, everything = LOSSES["ambiguity"].span(lattice)
    ambiguity = (float(possible @ counts) + lost * everything) / max(table.rows, 1)
    return {"granularity": shares, "ambiguity": ambiguity}


def _risk(table: Table, shown: Table, own: OwnLevels, levels: _Levels) -> FittingRisk | None:
    """How likely the right person is named, by the columns that people are known by."""
    known = [name for name in own.lattice.names if name in grouping(table)]
    if len(known) < len(own.lattice.names):
        by_known = OwnLevels.of(_lattice(table, known), table, shown, levels)
        return None if by_known is None else by_known.risk()
    return own.risk()


# What can still be learnt


def _accuracies(
    table: Table,
    shown: Table,
    classes: str | Iterable[str],
    seed: int,
    levels: _Levels,
) -> tuple[tuple[Accuracy, ...], dict[str, str]]:
    """The accuracies of classifiers for every class column, and why there are none for some."""
    accuracies: list[Accuracy] = []
    unknown = {}
    wanted = [classes] if isinstance(classes, str) else list(classes)
    if strange := [name for name in wanted if name not in shown.names]:
        raise ColumnError(
            f"no column {listed(strange)} to predict", f"the release has {listed(shown.names)}"
        )
    for name in wanted:
        if table.rows < 2:
            unknown[f"classification of {name}"] = "it takes two records"
            continue
        try:
            folds = min(FOLDS, table.rows)
            accuracies += classification(
                table,
                shown,
                name,
                classifiers=CLASSIFIERS,
                folds=folds,
                seed=seed,
                levels=levels,
            )
        except ColumnError as error:  # it was generalised, which is not a mistake of whoever asks
            unknown[f"classification of {name}"] = str(error)
    return tuple(accuracies), unknown


def _queries(
    table: Table, shown: Table, number: int, rate: Fraction | None, seed: int, levels: _Levels
) -> CountErrors:
    """The errors of count queries over the quasi-identifying columns, or all if there are none."""
    names = [name for name in shown.names if table.roles.get(name) is Role.QUASI] or list(
        shown.names
    )
    workload = Workload(number, min(3, len(names)))
    return count_queries(
        table, shown, workload, names=names, rate=rate or 1, seed=seed, levels=levels
    )


def _counted(
    table: Table, shown: Table, column: _Column, rate: Fraction | None, levels: _Levels
) -> ColumnCounts:
    """How many records have each value, before and after."""
    labels, before = column.labels, column.before
    after: npt.NDArray[Any]
    if column.level is not None:
        after = np.zeros(len(labels), dtype=np.int64)
        np.add.at(after, column.codes, column.count)
    else:
        tree = table.hierarchies.get(column.name)
        labels = table.labels(column.name)
        if tree is not None:
            labels = table.hierarchy(column.name).labels[0]
        before, after = spread(table, shown, column.name, levels)
    values = tuple(
        ValueCount(text, int(was), now, None if rate is None else float(now / rate))
        for text, was, now in zip(labels, before.tolist(), after.tolist(), strict=True)
        if was or now
    )
    return ColumnCounts(column.name, column.level, values)


# Sensitive values apart


def _keeps_apart(release: Release) -> bool:
    """Whether the sensitive values of a release are in a table of their own."""
    method = release.certificate.method
    views = entry_of(method).as_views if method in CATALOGUE else None
    return views is not None and views.apart is not None


def _judged_apart(
    table: Table, release: Release, classes: str | Iterable[str], queries: int, seed: int
) -> Judgement:
    """A release whose people are unchanged, and whose sensitive values are in buckets.

    Nothing is lost but who of a bucket has which of its values.
    """
    views = entry_of(release.certificate.method).as_views
    mark = None if views is None else views.mark
    people = _shown(table, in_runs(release.rows), {}, mark)
    if people.rows > table.rows:
        raise _foreign()
    columns = [_read(table, people, name, {}) for name in people.names if name != mark]
    figures = bucket_figures(table, release, queries, seed)
    most = max(people.rows - 1, 1) ** 2
    accuracies, unknown = _accuracies(table, people, classes, seed, {})
    if queries and figures.queries is None:
        unknown["count queries"] = "the release has one row per person, and the input more"
    certificate = release.certificate
    return Judgement(
        release=certificate.number,
        method=certificate.method,
        records=table.rows,
        kept=people.rows,
        share=people.rows / max(table.rows, 1),
        groups=figures.buckets,
        rate=None,
        losses={"buckets": Lost(float(figures.loss), figures.loss / most)},
        accuracies=accuracies,
        queries=None,
        columns=tuple(_counted(table, people, column, None, {}) for column in columns),
        unknown=unknown,
        buckets=figures,
    )
