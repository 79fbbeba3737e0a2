"""Judgements and comparisons as pictures: what is lost, what is learnt, columns, and a map.

All of them are the owner's. Uses `look` and the results of this room, whose `pictures()` lead here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from math import floor, log10

from shoal.exact.numbers import percent
from shoal.look.charts import ChartAxis, MapPoint, bars, histogram, map_of, number
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.measure.utility import Accuracy
from shoal.studies.candidates import ComparedRelease, ReleaseComparison
from shoal.studies.judging import ColumnCounts, Judgement, Lost
from shoal.studies.own_levels import FittingRisk

__all__ = ["column_before_and_after", "column_shares", "of_judgement", "of_releases"]

_VALUES = 12
"""Values of a column that are drawn; others are put together."""

_HARDLY = 0.005
"""A change of a share that is not worth a title."""

_SHARE = ChartAxis("share of the records", shares=True)

LOST = {
    "granularity": "how many values a released one may stand for, of all in its column",
    "intensity": "how many levels up a value went, of all in its hierarchy",
    "discernibility": "how many records each record looks like",
    "entropy": "how much is missing to tell which value was there, by how frequent values are",
    "group_size": "how many records a group has on average",
    "ambiguity": "how many combinations of values a record may have come from",
    "divergence": "how far the input is from what one would guess from the release",
    "buckets": "how many others share a bucket with a person, those of large buckets more",
}
"""What the loss models count, in plain words."""


def of_judgement(judgement: Judgement) -> tuple[Picture, ...]:
    """All that is judged, most general first."""
    pictures: list[Picture] = []
    if judgement.losses:
        pictures.append(_losses(judgement.losses))
    if judgement.risk is not None:
        pictures.append(_fitting(judgement.risk))
    if judgement.buckets is not None:
        pictures += judgement.buckets.pictures()
    if judgement.accuracies:
        pictures.append(_accuracies(judgement.accuracies))
    if judgement.columns:
        pictures.append(_columns(judgement))
        pictures += (column_before_and_after(judgement, each) for each in judgement.columns)
    return tuple(pictures)


def _losses(losses: Mapping[str, Lost]) -> Picture:
    named = [(name.replace("_", " "), lost.normalised) for name, lost in losses.items()]
    first, share = named[0]
    return Picture(
        title=f"{percent(share)} is lost, measured by {first}",
        sentence=(
            "The loss by each model, from 0 % for the input to 100 % for nothing left. A record "
            "that is not kept is lost entirely."
        ),
        head=["model", "loss", "what it counts"],
        rows=[
            [name, percent(value), LOST.get(model, "")]
            for model, (name, value) in zip(losses, named, strict=True)
        ],
        draw=partial(
            bars,
            [(name, {"": value}) for name, value in named],
            ChartAxis("loss", shares=True, ends=(0, 1)),
        ),
        zone=Zone.OWNER,
    )


def _fitting(risk: FittingRisk) -> Picture:
    named = {"most exposed record": risk.highest, "record on average": risk.mean}
    return Picture(
        title=f"{percent(risk.alone)} of the released records fit one person of the input only",
        sentence=(
            "How likely the right person is named among those of the input whom a released record "
            "fits."
        ),
        head=["risk of the", "risk"],
        rows=[[name, percent(value)] for name, value in named.items()],
        draw=partial(
            bars,
            [(name, {"": value}) for name, value in named.items()],
            ChartAxis("chance of being recognised", shares=True),
        ),
        zone=Zone.OWNER,
    )


def _accuracies(accuracies: Sequence[Accuracy]) -> Picture:
    best = max(accuracies, key=lambda accuracy: accuracy.released)
    rows: list[tuple[str, dict[str, float | None]]] = []
    for accuracy in accuracies:
        trained: dict[str, float | None] = {
            "on the input": accuracy.original,
            "on the release": accuracy.released,
            "on nothing": accuracy.majority,
        }
        rows.append((f"{accuracy.column}, {accuracy.classifier}", trained))
    return Picture(
        title=(
            f"A classifier trained on the release predicts {best.column} for "
            f"{percent(best.released)} of the records, and for {percent(best.original)} if trained "
            "on the input"
        ),
        sentence=(
            "Records of the input whose class is predicted right, by classifiers trained on the "
            "input, on the release, or on nothing, which always name the most frequent class."
        ),
        head=["class, classifier", *rows[0][1]],
        rows=[
            [name, *(percent(share or 0.0) for share in shares.values())] for name, shares in rows
        ],
        draw=partial(
            bars,
            rows,
            ChartAxis("records predicted right", shares=True, ends=(0, 1)),
            colours=("before", "after", "faded"),
        ),
        zone=Zone.OWNER,
    )


# Columns


@dataclass(frozen=True)
class _Slice:
    """Some values of a column: how many records have them before and after."""

    name: str
    before: float
    after: float


def _columns(judgement: Judgement) -> Picture:
    """How much the shares of values have changed in each column."""
    moved = {}
    for column in judgement.columns:
        slices = [_Slice(each.value, each.before, each.after) for each in column.values]
        moved[column.column] = sum(abs(was - now) for was, now in _shares(slices)) / 2
    kept = sum(column.level == 0 for column in judgement.columns)
    named = [(f"{each.column} ({_level(each)})", moved[each.column]) for each in judgement.columns]
    left = "is left as it was" if kept == 1 else "are left as they were"
    return Picture(
        title=f"{kept} of {len(judgement.columns)} columns {left}",
        sentence=(
            "How far the shares of values have moved in each column: the records that would have "
            "to change their value for the release to have the shares of the input."
        ),
        head=["column", "level", "values", "moved"],
        rows=[
            [each.column, _level(each), f"{len(each.values):,}", percent(moved[each.column])]
            for each in judgement.columns
        ],
        draw=partial(
            bars,
            [(name, {"": share}) for name, share in named],
            ChartAxis("share of the records that would have to move", shares=True),
        ),
        zone=Zone.OWNER,
    )


def _level(column: ColumnCounts) -> str:
    if column.level is None:
        return "several levels"
    return f"level {column.level}" if column.level else "as it was"


def column_before_and_after(judgement: Judgement, column: ColumnCounts) -> Picture:
    """The shares of a column's values, before and after."""
    return column_shares(column, judgement.records, judgement.kept)


def column_shares(column: ColumnCounts, records: int, kept: int) -> Picture:
    """The shares of a column's values among the records of the input, and among those kept."""
    every = [_Slice(each.value or "missing", each.before, each.after) for each in column.values]
    slices, in_order = _sliced(every)
    shares = _shares(slices)
    shown = [
        (each.name, {"before": was, "after": now})
        for each, (was, now) in zip(slices, shares, strict=True)
    ]
    draw = partial(bars, shown, _SHARE)
    if in_order:
        draw = partial(histogram, shown, column.column, _SHARE)
    return Picture(
        title=f"{column.column}: {_largest_change(slices, shares)}",
        sentence=(
            f"The share of records with each value ({_level(column)}): of the "
            f"{records:,} records of the input, and of the {kept:,} that are "
            "in the release and not suppressed."
        ),
        head=["value", "records before", "share", "records after", "share"],
        rows=[
            [each.name, number(each.before), percent(was), number(round(each.after)), percent(now)]
            for each, (was, now) in zip(slices, shares, strict=True)
        ],
        draw=draw,
        zone=Zone.OWNER,
    )


def _shares(slices: Sequence[_Slice]) -> list[tuple[float, float]]:
    """The shares before and after."""
    was = sum(each.before for each in slices) or 1
    now = sum(each.after for each in slices) or 1
    return [(each.before / was, each.after / now) for each in slices]


def _largest_change(slices: Sequence[_Slice], shares: Sequence[tuple[float, float]]) -> str:
    changes = [abs(was - now) for was, now in shares]
    if not changes:
        return "there are no values"
    if len(slices) == 1:
        return f"only one value is left, {slices[0].name}"
    most = max(changes)
    if most < _HARDLY:
        return "no share of a value changes by more than half a percentage point"
    at = changes.index(most)
    was, now = shares[at]
    return f"the share of {slices[at].name} goes from {percent(was)} to {percent(now)}"


def _sliced(every: Sequence[_Slice]) -> tuple[list[_Slice], bool]:
    """Not too many values, and whether they have an order.

    Numbers and dates become intervals; of other values the most frequent are left, and the others
    put together.
    """
    if len(every) <= _VALUES:
        return list(every), False
    for binned in (_by_number(every), _by_date(every)):
        if binned is not None:
            return binned, True
    ranked = sorted(every, key=lambda each: (-each.before, -each.after, each.name))
    first, others = ranked[: _VALUES - 1], ranked[_VALUES - 1 :]
    rest = _together(f"{len(others):,} other values", others)
    return [*first, rest], False


def _together(name: str, slices: Iterable[_Slice]) -> _Slice:
    some = list(slices)
    return _Slice(name, sum(each.before for each in some), sum(each.after for each in some))


def _by_number(every: Sequence[_Slice]) -> list[_Slice] | None:
    """Numbers in intervals of a round length; None if some value is not a number.

    Postcodes and other codes are not: 07101 begins with a zero that counts.
    """
    if any(each.name[:1] == "0" and each.name[1:2].isdigit() for each in every):
        return None
    try:
        values = {each.name: float(each.name) for each in every if each.name != "missing"}
    except ValueError:
        return None
    low, high = min(values.values()), max(values.values())
    if not high - low < float("inf") or low == high:
        return None
    step = _round_step((high - low) / _VALUES)
    first = floor(low / step)
    bins: dict[int, list[_Slice]] = {at: [] for at in range(first, floor(high / step) + 1)}
    missing = [each for each in every if each.name == "missing"]
    for each in every:
        if each.name in values:
            bins[floor(values[each.name] / step)].append(each)
    whole = all(value.is_integer() for value in values.values()) and step >= 1
    slices = []
    for at, inside in bins.items():
        start, end = at * step, (at + 1) * step
        name = f"{start:g}–{end - 1:g}" if whole else f"{start:g} to {end:g}"
        slices.append(_together(f"{start:g}" if whole and step == 1 else name, inside))
    return slices + missing


def _round_step(least: float) -> float:
    """The smallest of …, 1, 2, 5, 10, … that is no less."""
    power = 10.0 ** floor(log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _by_date(every: Sequence[_Slice]) -> list[_Slice] | None:
    """Dates by month, year or decade; None if some value is not a date."""
    missing = [each for each in every if each.name == "missing"]
    dated = [each for each in every if each.name != "missing"]
    try:
        for each in dated:
            date.fromisoformat(each.name[:10])
    except ValueError:
        return None
    for length, end in ((7, ""), (4, ""), (3, "0s")):
        bins: dict[str, list[_Slice]] = {}
        for each in sorted(dated, key=lambda each: each.name):
            bins.setdefault(each.name[:length] + end, []).append(each)
        if len(bins) <= _VALUES:
            return [_together(name, some) for name, some in bins.items()] + missing
    return None


# Several releases


_RISK_WORDS = {
    "highest": "highest risk of a record",
    "average": "average risk of a record",
    "at_risk": "share of records at risk",
}

_NAMED = 6
"""Releases up to which a title names those that are not beaten."""

_FAR = 20
"""Risks that differ by more than this factor stand on a scale that multiplies."""


def of_releases(found: ReleaseComparison, this: str | None = None) -> tuple[Picture, ...]:
    """A map of the releases: risk against what is kept, with those that no other beats.

    this: the one that all is about, if there is one; the others are near it, and the input is left
    out
    """
    points = []
    for release in found.releases:
        risk, kept = release.risk(found.risk), _kept(release, found.loss)
        if risk is not None and kept is not None:
            beaten = None if release.unbeaten is None else not release.unbeaten
            is_this = release.name == this
            points.append(MapPoint(release.name, kept, float(risk), beaten, is_this))
    if not points:
        return ()
    reference = MapPoint("input", 1.0, getattr(found.input.prosecutor, found.risk), None)
    left_out = len(found.releases) - len(points)
    if this is None:
        points.insert(0, reference)
    risks = [point.y for point in points]
    far = min(risks) > 0 and max(risks) > _FAR * min(risks)
    unbeaten = [release.name for release in found.releases if release.unbeaten]
    return (
        Picture(
            title=_unbeaten(unbeaten, len(found.releases)),
            sentence=(
                "Lower right is better. Filled points are beaten by no other release with the "
                "same kind of promise; the line joins those that no release beats in both figures, "
                f"and rings are beaten.{_missing(left_out)}"
            ),
            head=["release", "promise", _RISK_WORDS[found.risk], "kept", "beaten by"],
            rows=[_release_row(release, found) for release in found.releases],
            draw=partial(
                map_of,
                points,
                ChartAxis(_kept_words(found.loss), shares=True),
                ChartAxis(_RISK_WORDS[found.risk], shares=True, log=far),
            ),
            zone=Zone.OWNER,
        ),
    )


def _kept(release: ComparedRelease, loss: str | None) -> float | None:
    """What a release keeps: all but its loss, or its share of records if no loss is known."""
    if loss is None:
        return release.share
    lost = release.loss(loss)
    return None if lost is None else 1 - lost


def _kept_words(loss: str | None) -> str:
    if loss is None:
        return "share of the records that is kept"
    return f"share of the information that is kept (by {loss.replace('_', ' ')})"


def _unbeaten(names: Sequence[str], number: int) -> str:
    if not names:
        return f"No ranking of {number} releases: too little is known of them"
    verb = "is" if len(names) == 1 else "are"
    title = f"{len(names)} of {number} releases {verb} beaten by no other"
    return f"{title}: {', '.join(names)}" if len(names) <= _NAMED else title


def _missing(number: int) -> str:
    if not number:
        return ""
    verb = "is" if number == 1 else "are"
    return f" {number} {verb} not on the map, as the figures are not known."


def _release_row(release: ComparedRelease, found: ReleaseComparison) -> list[str]:
    risk, kept = release.risk(found.risk), _kept(release, found.loss)
    beaten = ", ".join(release.beaten_by) or "none"
    if release.unbeaten is None:
        beaten = f"not ranked: {release.unranked}"
    return [
        release.name,
        release.promise,
        "unknown" if risk is None else percent(float(risk)),
        "unknown" if kept is None else percent(kept),
        beaten,
    ]
