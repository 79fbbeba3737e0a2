"""What notebooks show of views, of what they reveal together, and of what restores them.

Nobody is named: who is exposed is in `Checked.exposed`. Uses `look`; the classes load it when a
notebook asks.
"""

from shoal.errors import plural
from shoal.exact.numbers import percent
from shoal.look import Zone, entries
from shoal.look.notebooks import Card, first_of, fold, points
from shoal.views.checking import Checked
from shoal.views.model import Views
from shoal.views.restoring import Restored

__all__ = ["card_of_checked", "card_of_restored", "card_of_views"]

_VIEWS = 40
"""Views that are listed."""

_VERDICTS = {
    True: "Every limit holds for everybody",
    False: "Somebody is exposed",
    None: "Whether every limit holds is not decided",
}


def card_of_views(views: Views) -> Card:
    """The views by their names and sizes."""
    rows = [[view.name, f"{len(view.people):,}", f"{len(view.bag):,}"] for view in views.views]
    complete = "yes" if views.complete else "no"
    facts = [
        ("γ, the limit of every value", str(views.gamma)),
        ("limits of single values", f"{len(views.limits):,}"),
        ("everybody is in the table", complete),
    ]
    title = f"{plural(len(rows), 'view')} of {len(views.people):,} people"
    listed = first_of("view", _VIEWS, ["view", "people", "different values"], rows)
    return Card(title, [entries(facts), listed], Zone.OWNER)


def card_of_checked(checked: Checked) -> Card:
    """Whether limits hold, and for how many people they do not."""
    facts = [*_standing(checked), ("possible tables", checked.tables_text), ("how", checked.how)]
    if checked.confidence is not None:
        facts.append(("confidence", percent(float(checked.confidence))))
    parts: list[object] = [entries(facts)]
    if checked.views.notes:
        parts.append(fold("Notes", points(checked.views.notes)))
    return Card(_VERDICTS[checked.private], parts, Zone.OWNER)


def _standing(checked: Checked) -> list[tuple[str, str]]:
    """How many people are exposed, by the bounds alone: finding what exposes them takes longer."""
    exposed = undecided = 0
    for belief in checked.beliefs:
        limits = [(checked.views.limit(value), belief.between(value)) for value in belief.shares]
        is_exposed = any(low > limit for limit, (low, _) in limits)
        exposed += is_exposed * len(belief.people)
        is_open = any(high > limit for limit, (_, high) in limits)
        undecided += (is_open and not is_exposed) * len(belief.people)
    limit = f"{checked.largest_text} (limit {checked.views.gamma})"
    return [
        ("views", f"{len(checked.views.views):,}"),
        ("people exposed", f"{exposed:,} of {len(checked.views.people):,}"),
        ("people undecided", f"{undecided:,}"),
        ("largest probability of a value", limit),
    ]


def card_of_restored(restored: Restored) -> Card:
    """How everybody stands before and after."""
    before, after = _standing(restored.before), _standing(restored.after)
    rows = [[name, was, now] for (name, was), (_, now) in zip(before, after, strict=True)]
    parts = [first_of("figure", _VIEWS, ["of everybody", "before", "after"], rows)]
    title = f"{_VERDICTS[restored.private]}, with {plural(len(restored.added), 'view')} added"
    return Card(title, parts, Zone.OWNER)
