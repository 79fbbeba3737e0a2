"""What notebooks show of judgements and forecasts.

Uses `look`; the classes load it when a notebook asks.
"""

from shoal.errors import listed, plural
from shoal.exact.numbers import percent
from shoal.look import Zone, entries
from shoal.look.notebooks import NOTHING, Card, first_of, fold, note, paragraph
from shoal.studies.candidates import ComparedRelease, ReleaseComparison
from shoal.studies.forecasting import Between, Forecast
from shoal.studies.judging import Judgement

__all__ = ["card_of_forecast", "card_of_judgement", "card_of_releases"]

_MOST = 40
"""Rows of a table of figures."""


def card_of_judgement(judgement: Judgement) -> Card:
    """What is kept and what is lost; values are in `columns`."""
    title = f"{judgement.kept:,} of {judgement.records:,} records are kept"
    title += f", in {plural(judgement.groups, 'group')}"
    made = f"{judgement.release or 'no number'}, by {judgement.method or 'an unknown method'}"
    facts = [("release", made), ("kept", percent(judgement.share))]
    if judgement.rate is not None:
        facts.append(("chance of being drawn", f"{judgement.rate:.6g}"))
    if judgement.queries is not None:
        asked = f"{percent(judgement.queries.median)} of {judgement.queries.count:,} asked"
        facts.append(("median error of count queries", asked))
    losses = [
        [name.replace("_", " "), percent(lost.normalised), f"{lost.raw:,.6g}"]
        for name, lost in judgement.losses.items()
    ]
    parts: list[object] = [entries(facts)]
    if losses:
        parts.append(first_of("loss", _MOST, ["loss", "of all there is", "raw"], losses))
    if judgement.accuracies:
        rows = [
            [f"{one.column} by {one.classifier}", *map(percent, (one.original, one.released))]
            for one in judgement.accuracies
        ]
        head = ["predicted right", "trained on the input", "on the release"]
        parts.append(first_of("classifier", _MOST, head, rows))
    levels = [
        [column.column, _level(column.level), f"{len(column.values):,}"]
        for column in judgement.columns
    ]
    head = ["column", "released at level", "values there"]
    parts.append(fold("Columns", first_of("column", _MOST, head, levels)))
    if judgement.unknown:
        parts.append(fold("Not measured", entries(judgement.unknown)))
    return Card(title, parts, Zone.OWNER)


def _level(level: int | None) -> str:
    return "several" if level is None else str(level)


def card_of_forecast(forecast: Forecast) -> Card:
    """What to expect of each way to release."""
    rows = [
        [
            one.way,
            "yes" if one.truthful else "no",
            _between(one.information),
            _between(one.kept),
            NOTHING if one.crowd is None else f"{one.crowd:,}",
            _between(one.error),
        ]
        for one in forecast.expectations
    ]
    head = ["way", "true counts", "information", "records", "crowd", "error of counts"]
    drawn = "a public table" if forecast.by_like else "made-up tables"
    parts: list[object] = [
        paragraph(forecast.promise.statement),
        first_of("way", _MOST, head, rows),
        note(f"A forecast, not a promise: by {drawn} of {plural(forecast.records, 'record')}."),
    ]
    if forecast.refused:
        parts.append(fold("Not possible", entries(forecast.refused)))
    if forecast.concern is not None:
        parts.append(note(f"Note: {forecast.concern}"))
    title = f"What to expect of {plural(forecast.stated, 'record')}"
    return Card(title, parts, Zone.RELEASED)


def _between(share: Between | None) -> str:
    if share is None:
        return NOTHING
    low, high = percent(share.low), percent(share.high)
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def card_of_releases(comparison: ReleaseComparison) -> Card:
    """Releases of one table side by side, and which of them no other beats."""
    unbeaten = [one.name for one in comparison.releases if one.unbeaten]
    title = f"No other beats {listed(unbeaten)}" if unbeaten else "Releases of one table"
    loss = comparison.loss or "loss"
    head = ["release", "promise", "kept", "highest risk", f"{loss} lost", "beaten by"]
    rows = [_compared(one, comparison.loss) for one in comparison.releases]
    ranked = f"Ranked by the {comparison.risk} risk and by {loss}, among promises of a kind."
    return Card(title, [first_of("release", _MOST, head, rows), note(ranked)], Zone.OWNER)


def _compared(one: ComparedRelease, loss: str | None) -> list[str]:
    risk = None if one.assessment is None else one.assessment.prosecutor.highest
    figures = [_share(one.share), _share(risk), _share(one.loss(loss))]
    beaten = ", ".join(one.beaten_by) or ("none" if one.unbeaten else one.unranked or NOTHING)
    return [one.name, one.promise, *figures, beaten]


def _share(share: float | None) -> str:
    return NOTHING if share is None else percent(share)
