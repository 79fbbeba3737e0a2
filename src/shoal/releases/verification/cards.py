"""What notebooks show of a verdict.

Uses `look`, which knows nothing of what it shows; `Verdict` loads it when a notebook asks.
"""

from shoal.errors import plural
from shoal.look import Zone
from shoal.look.notebooks import Card, alarm, fold, paragraph, points
from shoal.releases.verification.core import Verdict

__all__ = ["card_of_verdict"]


def card_of_verdict(verdict: Verdict) -> Card:
    """What does not hold; or what holds, and what the files cannot show."""
    if verdict:
        return Card("This release fails", [alarm(line) for line in verdict], None)
    parts: list[object] = [] if verdict.statement is None else [paragraph(verdict.statement)]
    if verdict.unchecked:
        number = plural(len(verdict.unchecked), "thing")
        parts.append(fold(f"The files cannot show {number}", points(verdict.unchecked)))
    return Card("The release holds in all that its files can show", parts, Zone.RELEASED)
