"""How the rows of a released table are to be read, by the certificate beside it.

Uses the catalogue of methods; `judging` and the command line use it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Kind
from shoal.data.tables import table as as_table
from shoal.errors import ParameterError
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from shoal.releases.certificate import Certificate
from shoal.releases.layout import COUNT

__all__ = ["ReleasedForm", "released_form", "require_comparable", "with_counts"]


@dataclass(frozen=True)
class ReleasedForm:
    """What the rows of a released table are.

    mark: the column that numbers groups which may look alike, if there is one
    counted: whether a row stands for as many records as its column `count` says
    apart: the columns that are released in a table of their own
    complete: whether a row of "*" is a record like others, not one that was suppressed
    """

    mark: str | None = None
    counted: bool = False
    apart: tuple[str, ...] = ()
    complete: bool = False


def released_form(certificate: Certificate | None) -> ReleasedForm:
    """The form of a release; that of an ordinary table if there is no certificate."""
    if certificate is None:
        return ReleasedForm()
    entry = _entry(certificate)
    views = None if entry is None else entry.as_views
    starred = certificate.parameters.get("suppressed") == "star"
    # Where sensitive values are apart, the mark leads to them, and nobody is known by it.
    marked = views is not None and views.apart is None
    return ReleasedForm(
        mark=views.mark if views is not None and marked else None,
        counted=bool(certificate.parameters.get("counts")),
        apart=tuple(column["name"] for column in certificate.columns if column.get("table")),
        # Where regions are refined, what is not released is not there at all.
        complete=(certificate.whole or certificate.refined is not None) and not starred,
    )


def require_comparable(certificate: Certificate | None) -> None:
    """ParameterError if the rows of a release are not records, which says why."""
    entry = None if certificate is None else _entry(certificate)
    if entry is not None and entry.not_compared:
        raise ParameterError(f"this is a release by {entry.name}: {entry.not_compared}")


def with_counts(frame: Any) -> RowsWithCounts:
    """The rows of a released dataframe, each of which is there as often as its column says."""
    counted = as_table(frame, types={COUNT: Kind.INTEGER}).frame
    count = counted[COUNT].to_numpy().astype(np.int64)
    rows = RowsWithCounts(counted.drop(COUNT).to_native(), count)
    return rows.only(count > 0)


def _entry(certificate: Certificate) -> Entry | None:
    return entry_of(certificate.method) if certificate.method in CATALOGUE else None
