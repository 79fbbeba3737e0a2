"""The catalogue of ready-made hierarchies, and `ready`, which makes one.

None of them is made from rows: their values are those of public lists and rules, or those that
somebody declares. Uses `people`, `places` and `classifications`.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from shoal.arguments import typed
from shoal.data.hierarchy.build import domain_texts
from shoal.data.hierarchy.ready_made.classifications import CLASSIFICATIONS
from shoal.data.hierarchy.ready_made.form import ReadyMade, WrittenForm
from shoal.data.hierarchy.ready_made.people import PEOPLE
from shoal.data.hierarchy.ready_made.places import PLACES
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError, ParameterError, listed

__all__ = ["READY", "entry", "form_of", "ready"]

READY = {made.name: made for made in (*PEOPLE, *PLACES, *CLASSIFICATIONS)}
"""Every ready-made hierarchy, by its name."""


@typed
def entry(name: str) -> ReadyMade:
    """What is known of a ready-made hierarchy: its levels, its forms, its source and licence.

    >>> entry("countries").levels
    ('country', 'finest region', 'sub-region', 'region')
    """
    if name in READY:
        return READY[name]
    near = get_close_matches(name, READY, n=1, cutoff=0.5)
    fix = f"did you mean {near[0]!r}?" if near else f"there are {listed(READY)}"
    raise ParameterError("is not a ready-made hierarchy", fix, option="name", given=repr(name))


@typed
def ready(
    name: str,
    *,
    form: str | None = None,
    values: Iterable[object] | None = None,
    root: str = "*",
) -> Hierarchy:
    """A hierarchy that nobody has to write: countries, occupations, diseases, postcodes and more.

    `READY` has them all. `form` says how the values are written, such as "alpha-3" for countries.
    `values` are those that may occur, if not all of them do; where there are too many to list, such
    as whole British postcodes, they are needed. A value that is not in the list is an error.

    >>> ready("countries", values=["FR", "BR"]).lines()[0]
    ['FR', 'Western Europe', 'Western Europe', 'Europe', '*']
    >>> ready("icd-10").lines()[0]
    ['A00', 'A00-A09', 'A00-B99', '*']
    """
    made = entry(name)
    chosen = form_of(made, form)
    if values is None:
        return _whole(made, chosen, root)
    if chosen.path is None:
        raise ParameterError(
            f"cannot be chosen for {name!r}",
            "leave them out, or use another builder",
            option="values",
        )
    texts = domain_texts(values, Kind.TEXT)
    paths = [chosen.path(text) for text in texts]
    unknown = [text for text, path in zip(texts, paths, strict=True) if path is None]
    if unknown:
        raise _not_in(made, chosen, unknown)
    return Hierarchy.from_lines(
        [[text, *path, root] for text, path in zip(texts, paths, strict=True) if path is not None]
    )


def form_of(made: ReadyMade, form: str | None) -> WrittenForm:
    """A form of a ready-made hierarchy by its name; the first if none is named."""
    name = made.form if form is None else form
    if name not in made.forms:
        raise ParameterError(
            f"is not one of {made.name!r}",
            f"it takes {listed(made.forms)}",
            option="form",
            given=repr(form),
        )
    return made.forms[name]


def _whole(made: ReadyMade, form: WrittenForm, root: str) -> Hierarchy:
    """All values that a form has."""
    if form.build is not None:
        return form.build(root)
    if form.leaves is None or form.path is None:
        raise ParameterError(
            f"{made.about} such as {form.example!r} are too many to list",
            "give `values`, those that may occur, from a public list",
        )
    lines = [[leaf, *(form.path(leaf) or ()), root] for leaf in form.leaves()]
    if root == "*":
        # Tests have checked these, which takes several times as long as to make them.
        return Hierarchy.from_sound_lines(lines, Kind.TEXT)
    return Hierarchy.from_lines(lines)


def _not_in(made: ReadyMade, form: WrittenForm, unknown: Sequence[str]) -> HierarchyError:
    what = f"1 of the declared values is not one of {made.name!r}, {unknown[0]!r}"
    if len(unknown) > 1:
        what = (
            f"{len(unknown):,} of the declared values are not of {made.name!r}, "
            f"{unknown[0]!r} first"
        )
    return HierarchyError(
        what, f"write them as {form.example!r}, choose another `form`, or leave them out"
    )
