"""What was looked at, and what was chosen after that.

A promise about an algorithm assumes that roles, hierarchies and parameters were chosen without
looking at the data (docs/proofs/looking.md). The workbench notes which figures of the rows it
showed. What is decided after that goes on a list in the recipe, which the certificate repeats where
the promise assumes otherwise. Uses `recipe` and `releases`; `pages` records, every screen shows.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.data import toml
from shoal.errors import ParameterError
from shoal.recipe.editing import Draft
from shoal.releases.looking import PLACES, LateChoice
from shoal.workbench.projects import Project

__all__ = ["LIST", "Late", "changed", "explain_public", "late", "look", "matters", "record"]

LIST = "chosen_after_looking"
"""The key of a recipe with what was chosen after looking."""

_LOOKED = "looked"
"""The note on figures that were shown: when each was shown first."""

EARLIER = "figures that were shown earlier"
"""What was looked at where the notes on it are gone."""

_AFTER = "chosen-after"
"""The note on choices: which figures had been shown, and whether the person knows what it means."""


@dataclass(frozen=True)
class Late:
    """A choice that was made after looking.

    figures: what had been shown before
    understood: whether the person has said that they know what it means
    """

    choice: LateChoice
    figures: tuple[str, ...] = ()
    understood: bool = False


def look(project: Project, figures: str) -> None:
    """Note that figures computed from the rows were shown."""
    if figures in _noted(project.note(_LOOKED)):
        return
    with project.noting(_LOOKED) as noted:
        noted.setdefault(figures, {"when": time.time(), "source": _source(project)})


def figures_seen(project: Project) -> tuple[str, ...]:
    """The figures that were shown so far, the first one first.

    What another recipe of the folder has shown of the same source is known too. So is something if
    the recipe lists choices made after looking and the notes are gone.
    """
    found = _noted(project.note(_LOOKED))
    beside = [_noted(notes) for notes in project.noted_beside(_LOOKED)]
    if any(beside):
        source = _source(project)
        for notes in beside:
            found |= {
                name: one
                for name, one in notes.items()
                if name not in found and one["source"] == source
            }
    if not found and _listed(project.draft()):
        return (EARLIER,)
    return tuple(sorted(found, key=lambda name: float(found[name]["when"])))


def _noted(given: Any) -> dict[str, dict[str, Any]]:
    """The figures in a note, as far as it can be read."""
    if not isinstance(given, dict):
        return {}
    return {
        name: one
        for name, one in given.items()
        if isinstance(one, dict) and isinstance(one.get("when"), int | float) and "source" in one
    }


def _source(project: Project) -> object:
    return project.draft().get("source", "path")


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The choices in which two recipes differ, by their places.

    >>> changed({"roles": {"age": "quasi"}}, {"roles": {}, "method": {"epsilon": 1}})
    ['roles', 'method.epsilon']
    """
    return [toml.at(place) for place in _changed(before, after)]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for section in PLACES:
        one, other = before.get(section), after.get(section)
        if one == other:
            continue
        one, other = one or {}, other or {}
        by_key = isinstance(one, Mapping) and isinstance(other, Mapping)
        if section not in ("hierarchies", "method") or not by_key:
            yield (section,)
            continue
        for key in dict.fromkeys([*one, *other]):
            if one.get(key) != other.get(key):
                yield (section, key)


def record(project: Project, draft: Draft, places: Iterable[str]) -> list[str]:
    """Put choices on the list in a recipe; those that were not there before.

    A reason why a choice was public goes, as it was about what was chosen then.
    """
    known = _listed(draft)
    given = list(dict.fromkeys(places))
    new = [place for place in given if place not in known or known[place].public]
    if not new:
        return []
    _put(draft, {**known, **{place: LateChoice(place) for place in new}})
    seen = list(figures_seen(project))
    with project.noting(_AFTER) as noted:
        noted |= {place: {"figures": seen, "understood": False} for place in new}
    return new


def _listed(draft: Draft) -> dict[str, LateChoice]:
    """The choices on the list of a recipe, by place; what is not a choice is passed over."""
    found = {}
    given = draft.get(LIST)
    for one in given if isinstance(given, list) else ():
        parts = {"place": one} if isinstance(one, str) else one
        try:
            choice = LateChoice(**parts)
        except (TypeError, ParameterError):
            continue
        found[choice.place] = choice
    return found


def _put(draft: Draft, choices: Mapping[str, LateChoice]) -> None:
    written = [one.to_dict() if one.public else one.place for one in choices.values()]
    draft.set(LIST, to=written)


def late(project: Project, draft: Draft) -> list[Late]:
    """What was chosen after looking, as far as the recipe lists it."""
    noted = project.note(_AFTER, dict) or {}
    found = []
    for place, choice in _listed(draft).items():
        about = noted.get(place, {})
        figures = tuple(about.get("figures", ()))
        found.append(Late(choice, figures, bool(about.get("understood"))))
    return found


def understand(project: Project) -> None:
    """Note that the person knows what all choices so far mean."""
    with project.noting(_AFTER) as noted:
        noted |= {place: {**one, "understood": True} for place, one in noted.items()}


def explain_public(draft: Draft, place: str, why: str) -> None:
    """Say why a choice was public; no reason takes an earlier one back.

    The choice stays on the list: nobody can show what would have been chosen without looking.
    """
    known = _listed(draft)
    if place not in known:
        raise ParameterError("nothing was chosen there after looking", "reload the page")
    _put(draft, {**known, place: LateChoice(place, " ".join(why.split()))})


def matters(draft: Draft) -> bool:
    """Whether the promise may assume that nothing was chosen after looking.

    So it does while no method was chosen.
    """
    from shoal.methods.catalogue import CATALOGUE, entry_of

    parameters = draft.section("method")
    name = parameters.get("name")
    return name not in CATALOGUE or entry_of(name).assumes_public_choices(parameters)
