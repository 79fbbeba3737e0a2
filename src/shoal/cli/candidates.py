"""What `shoal compare` shows of several releases: promises, figures, and which ones none beats."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.cli.terminal import figures, listing, percent, title
from shoal.errors import listed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.measure.risk import Assessment
    from shoal.studies.candidates import ComparedRelease, ReleaseComparison

__all__ = ["pages"]

_UNKNOWN = "?"
_BY_SIZE = ("discernibility", "group_size")

_RISKS = {"highest": "highest risk", "average": "average risk", "at_risk": "share at risk"}


def pages(found: "ReleaseComparison") -> "Iterator[RenderableType]":
    """The comparison as tables and sentences."""
    yield title("What is promised")
    yield figures(*((release.name, _promise(release)) for release in found.releases))
    yield title("Records, groups, and risks of being recognised")
    head = ["", "records", "kept", "groups", "k", "highest", "average", "at risk", "loss"]
    rows = [["input", *_figures(found.input, 1.0), percent(0.0)]]
    for release in found.releases:
        own = _figures(release.assessment, release.share)
        rows.append([release.name, *own, _loss(release, found.loss)])
    yield listing(head, *rows)
    yield from _notes(found)
    yield from _losses(found)
    yield from _frontier(found)


def _promise(release: "ComparedRelease") -> str:
    return release.promise if release.method is None else f"{release.method}: {release.promise}"


def _figures(found: "Assessment | None", share: float | None) -> list[str]:
    """Records kept, groups, k and risks."""
    if found is None or share is None:
        return [_UNKNOWN] * 7
    risk = found.prosecutor
    return [
        f"{found.records:,}",
        _short(share),
        f"{found.groups:,}",
        "none" if found.k is None else f"{found.k:,}",
        *map(_short, (risk.highest, risk.average, risk.at_risk)),
    ]


def _loss(release: "ComparedRelease", name: str | None) -> str:
    lost = None if name is None else release.losses.get(name)
    return _UNKNOWN if lost is None else _short(lost)


def _short(share: float) -> str:
    """A share in the little room of a table: ">99.9 %" is not 100 %."""
    return percent(share).replace("over ", ">")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _notes(found: "ReleaseComparison") -> Iterator[str]:
    """What the figures are of."""
    yield (
        f"\nRisks are the prosecutor's in each table, by {listed(found.columns)}; at risk are "
        f"those above {percent(found.input.threshold)}."
    )
    if found.loss is not None:
        of = "" if found.loss in _BY_SIZE else f" of {listed(found.measured)}"
        yield (
            f"Loss is {_words(found.loss)}{of}, from 0 % for the input to 100 % for nothing left; "
            "a record that is not kept has lost everything."
        )
    if found.loss in _BY_SIZE and "granularity" not in found.losses:
        yield "Most losses need hierarchies: give a --recipe, or each --hierarchy."
    everyone = {"input": found.input} | {one.name: one.assessment for one in found.releases}
    people = [name for name, own in everyone.items() if own is not None and own.people is not None]
    if people:
        yield f"Risks are of people in {listed(people)}, and of rows elsewhere."


def _losses(found: "ReleaseComparison") -> "Iterator[RenderableType]":
    """The other losses that are known for all."""
    others = [name for name in found.losses if name != found.loss]
    if others:
        yield title("Other losses")
        rows = [
            [release.name, *(_loss(release, name) for name in others)] for release in found.releases
        ]
        yield listing(["", *map(_words, others)], *rows)


def _frontier(found: "ReleaseComparison") -> "Iterator[RenderableType]":
    """Which releases no other beats, by whom others are beaten, and which cannot be ranked."""
    by = f"{_RISKS[found.risk]} and {_words(found.loss or 'loss')}"
    kinds: dict[str, list[str]] = {}
    for release in found.releases:
        if release.unbeaten:
            kinds.setdefault(release.kind or "no promise", []).append(release.name)
    if kinds:
        yield title(f"No other with the same kind of promise beats, by {by}")
        yield figures(*((kind, ", ".join(names)) for kind, names in kinds.items()))
    beaten = [
        (one.name, f"by {', '.join(one.beaten_by)}") for one in found.releases if one.beaten_by
    ]
    if beaten:
        yield title("Beaten: worse in something, better in nothing, the promise included")
        yield figures(*beaten)
    unranked = [(one.name, one.unranked) for one in found.releases if one.unranked is not None]
    if unranked:
        yield title("Not ranked")
        yield figures(*unranked)
    ranked = [release for release in found.releases if release.unranked is None]
    if len({release.kind for release in ranked}) > 1:
        names = [release.name for release in ranked if not release.outdone_by]
        yield (
            f"\nBy {by} alone, no other beats "
            f"{', '.join(names)}. That says nothing about promises: they differ in kind, and no "
            "figure ranks one kind above another."
        )
