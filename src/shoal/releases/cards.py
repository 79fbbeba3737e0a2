"""What notebooks show of releases and certificates: what their files show, no more.

Uses `look`; the classes load it when a notebook asks.
"""

from typing import Any

import narwhals as nw
import numpy as np

from shoal.data.frames import RowsWithCounts
from shoal.errors import plural
from shoal.look import Html, entries, table
from shoal.look.notebooks import Card, alarm, fold, note, paragraph, points
from shoal.releases import looking
from shoal.releases.certificate import Certificate
from shoal.releases.certificate_page import zone_of_release
from shoal.releases.release import Release

__all__ = ["card_of_certificate", "card_of_release"]

_ROWS = 5
"""Rows of a released table that are shown."""

_COLUMNS = 30
"""Columns of a released table that are shown."""

_OPEN = ("Promise", looking.TITLE, "Not protected")
"""What of a certificate is seen at once."""

_TEST = "Not private: the draws came from a seed. This is a test, and not to be published."


def card_of_release(release: Release) -> Card:
    """The promise in a line, and the first rows as they are released."""
    certificate = release.certificate
    parts: list[object] = [*_warning(certificate), paragraph(certificate.statement)]
    chosen = looking.in_sentences(certificate.chosen_after_looking)
    if chosen:
        parts += [note(looking.TITLE), points(line.removeprefix("- ") for line in chosen)]
    for name, frame in {"": release.rows, **release.further}.items():
        parts.append(_first_rows(name, frame))
    made = [("method", certificate.method), ("made by", f"Shoal {certificate.version}")]
    parts.append(entries(made))
    return Card(f"Release {certificate.number}", parts, zone_of_release(certificate))


def card_of_certificate(certificate: Certificate) -> Card:
    """What is promised and what is not protected; the rest where one opens it."""
    parts: list[object] = list(_warning(certificate))
    for title, lines in certificate.sections():
        if not lines:
            continue
        listed = points(line.removeprefix("- ") for line in lines)
        if title in _OPEN:
            parts += [note(title), listed]
        else:
            parts.append(fold(title, listed))
    title = f"Certificate of release {certificate.number}, by {certificate.method}"
    return Card(title, parts, zone_of_release(certificate))


def _warning(certificate: Certificate) -> list[Html]:
    return [] if certificate.private else [alarm(_TEST)]


def _first_rows(name: str, frame: Any) -> Html:
    """The first rows of a released table under its size."""
    rows = frame if isinstance(frame, RowsWithCounts) else None
    native = nw.from_native(frame if rows is None else rows.frame, eager_only=True).head(_ROWS)
    shown = [list(map(_cell, row))[:_COLUMNS] for row in native.rows()]
    if rows is not None:
        places = np.repeat(np.arange(len(shown)), rows.count[: len(shown)])[:_ROWS]
        shown = [shown[place] for place in places.tolist()]
    number, columns = frame.shape
    of = f"{plural(int(number), 'row')} × {plural(int(columns), 'column')}"
    caption = f"{name or 'Released table'}: the first of {of}"
    return table(native.columns[:_COLUMNS], shown, caption=caption, numbers=())


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
