"""What notebooks show of experiments.

Uses `look`; `Result` loads it when a notebook asks.
"""

from shoal.experiments.experiment import Result
from shoal.look import Zone
from shoal.look.notebooks import Card, first_of, note, paragraph

__all__ = ["card_of_result"]

_ROWS = 12
"""Rows of a panel that are shown."""


def card_of_result(result: Result) -> Card:
    """What the paper shows, what is seen here, and the first rows of every table."""
    experiment = result.experiment
    parts: list[object] = [
        paragraph(experiment.shows),
        note(f"In the paper: {experiment.printed}"),
        note(f"Here: {result.findings.found}"),
    ]
    for panel in result.panels:
        rows = [[_cell(cell) for cell in row] for row in panel.rows]
        parts += [paragraph(panel.title), first_of("row", _ROWS, panel.head, rows)]
    zone = Zone.OWNER if result.data is not None else Zone.RELEASED
    return Card(f"{experiment.paper}, {experiment.figure}", parts, zone)


def _cell(cell: object) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
