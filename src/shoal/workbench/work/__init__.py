"""What jobs do: a module for each kind, with a function `run(project, arguments, progress)`.

It returns what came of it as plain values for JSON. Uses the rooms above; `working` calls it in a
process of its own.
"""

__all__ = ["KINDS", "QUEUED"]

KINDS = {
    "attack": "attack",
    "audit": "audit",
    "candidate": "candidate",
    "columns": "columns",
    "findings": "findings",
    "forecast": "forecast",
    "release": "release",
    "report": "report",
    "restore": "restore",
    "space": "space",
    "together": "together",
    "verify": "verify",
}
"""Every kind of job, and the module that does it."""

QUEUED = ("candidate", "space")
"""Kinds that wait for their turn: they are as many as somebody likes to try. Others begin at once.
"""
