"""`View` and `Views`: what several releases of one table have shown.

Uses `errors`, `kinds` and `exact`; the rest of this room uses it.

People are numbered by their place in a register, which is public. A view is a set of these people
together with the bag of the sensitive values they have. What is secret is who of them has which.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from shoal.arguments import keep, typed
from shoal.data.kinds import Key
from shoal.errors import InfeasibleError, InputError, ParameterError, listed, plural
from shoal.exact.numbers import Exact, fraction
from shoal.zones import brief, owner_only

__all__ = ["OUTSIDE", "Outside", "Value", "View", "Views", "contradiction", "in_order"]


class Outside:
    """The value of people in the register who are not in the table. No bag or limit has it."""

    def __repr__(self) -> str:
        return "not in the table"

    def __lt__(self, other: object) -> bool:
        return False  # after every value


OUTSIDE = Outside()

Value = Key | None | Outside
"""A sensitive value; None is the missing one."""


@brief
@dataclass(frozen=True, init=False)
class View:
    """Some people of the register, and how often each sensitive value occurs among them.

    >>> View("men", [0, 1, 2], ["flu", "cold", "flu"]).bag
    {'flu': 2, 'cold': 1}
    """

    name: str
    people: frozenset[int]
    bag: Mapping[Value, int]
    parts: tuple[Mapping[Any, int], ...] = field(repr=False)
    """The bags of several groups of these people, where it is not public who is in which group,
    or who was left out."""

    def __init__(
        self,
        name: str,
        people: Iterable[int],
        bag: Mapping[Value, int] | Iterable[Value],
        parts: tuple[Mapping[Any, int], ...] = (),
    ) -> None:
        for part in (people, bag):
            if not isinstance(part, Iterable) or hasattr(part, "columns"):
                raise ParameterError(
                    "a view has a list of people, by their places, "
                    "and a list or dict of their values"
                )
        places = list(people)
        if len(set(places)) < len(places):
            raise ParameterError(f"view {name!r} names somebody twice", "name everybody once")
        counted = _counted(name, bag)
        # NaN is the one value that does not equal itself.
        if any(value != value for value in counted):
            raise ParameterError(
                f"view {name!r} has NaN for a value, which equals nothing",
                "write a missing value as None",
            )
        if OUTSIDE in counted:
            raise ParameterError(
                f"view {name!r} shows people who are not in the table",
                "give the values of those who are",
            )
        keep(self, name=name, people=frozenset(places), bag=counted, parts=parts)

    @property
    def size(self) -> int:
        """How many values it shows."""
        return sum(self.bag.values())

    def true_of(self, values: Sequence[Value]) -> bool:
        """Whether it shows what its people have, by everybody's value.

        Some people may be left out of joined groups: of these, whether they could have it.
        """
        inside = Counter(values[person] for person in self.people)
        return inside >= Counter(self.bag) if self.parts else inside == self.bag


def _counted(name: str, bag: Mapping[Value, int] | Iterable[Value]) -> dict[Value, int]:
    """How often each value occurs in a view, however its bag was given."""
    counted: dict[Value, int] = {}
    if isinstance(bag, str):
        raise ParameterError(f"view {name!r} has one text for its values", "give a list of them")
    if not isinstance(bag, Mapping):
        for value in bag:
            counted[value] = counted.get(value, 0) + 1
        return counted
    for value, often in bag.items():
        if isinstance(often, bool) or not isinstance(often, int) or often < 0:
            raise ParameterError(
                f"view {name!r} has a value whose count is not a whole number from 0"
            )
        if often:
            counted[value] = often
    return counted


@typed
@owner_only
@dataclass(frozen=True, init=False)
class Views:
    """A register, the views shown of its people, and how probable a value may be for anybody.

    people: the names of those in the register, or how many there are
    views: what was shown
    gamma: how probable a value may be for anybody, at most
    limits: the same for single values
    complete: whether everybody in the register is known to be in the table. If not, a view may
        show fewer values than it has people; who of them is in the table is then unknown too

    >>> one, other = View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])
    >>> both = Views(3, [one, other])
    >>> both.gamma, both.people
    (Fraction(1, 2), ('1', '2', '3'))
    """

    people: tuple[str, ...]
    views: tuple[View, ...]
    gamma: Fraction
    limits: Mapping[Any, Fraction]
    complete: bool
    notes: tuple[str, ...]
    """What the reader of a result should know about how the views were found."""

    def __init__(
        self,
        people: Sequence[str] | int,
        views: Iterable[View],
        gamma: Exact = Fraction(1, 2),
        limits: Mapping[Any, Exact] | None = None,
        complete: bool = True,
        notes: tuple[str, ...] = (),
    ) -> None:
        if isinstance(people, int):
            names = tuple(str(place + 1) for place in range(people))
        else:
            names = tuple(map(str, people))
        keep(
            self,
            people=names,
            views=tuple(views),
            gamma=fraction(gamma, "gamma", 0, 1),
            limits={
                value: fraction(limit, f"the limit of {value}", 0, 1)
                for value, limit in (limits or {}).items()
            },
            complete=complete,
            notes=notes,
        )
        called = [view.name for view in self.views]
        if len(set(called)) < len(called):
            repeated = sorted({name for name in called if called.count(name) > 1})
            raise ParameterError(f"several views have the name {listed(repeated)}")
        for view in self.views:
            self._require_fit(view)

    def _repr_html_(self) -> str:
        """The views as notebooks show them; nobody is named."""
        from shoal.views.cards import card_of_views

        return card_of_views(self).html()

    def _require_fit(self, view: View) -> None:
        """An error unless a view is about people of the register, with as many values."""
        people = len(view.people)
        lowest, highest = min(view.people, default=0), max(view.people, default=-1)
        if lowest < 0 or highest >= len(self.people):
            raise ParameterError(
                f"view {view.name!r} has people who are not in the register of {len(self.people):,}"
            )
        # Of joined groups some people may have been left out by chance.
        exact = self.complete and not view.parts
        if view.size > people:
            fix = "there cannot be more. Is somebody missing from the register?"
        elif exact and view.size < people:
            fix = (
                "there must be as many, or say that the register is not complete: "
                "that it has people who are not in the table"
            )
        else:
            return
        raise InputError(
            f"view {view.name!r} shows {plural(view.size, 'value')} "
            f"for {people:,} people of the register",
            fix,
        )

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """All values that are shown, in their order; that of people outside the table is last."""
        occurring = {value for view in self.views for value in view.bag}
        ordered = sorted(occurring, key=in_order)
        return tuple(ordered) if self.complete else (*ordered, OUTSIDE)

    def limit(self, value: Value) -> Fraction:
        """How probable a value may be for anybody; being in the table at all has no limit."""
        if isinstance(value, Outside):
            return Fraction(1)
        return self.limits.get(value, self.gamma)

    def bag(self, view: View) -> tuple[int, ...]:
        """How often each of `values` occurs in a view, with people outside the table."""
        counts = [view.bag.get(value, 0) for value in self.values]
        if not self.complete:
            # Those of whom no value is shown are the ones outside.
            counts[-1] = len(view.people) - view.size
        return tuple(counts)

    def also(self, *views: View) -> "Views":
        """These views and some more."""
        return replace(self, views=(*self.views, *views))

    def within(self, gamma: Exact) -> "Views":
        """The same views with another limit for all values that have none of their own."""
        return replace(self, gamma=fraction(gamma, "gamma", 0, 1))

    def only(self, names: Iterable[str]) -> "Views":
        """Some of these views, by their names."""
        kept = set(names)
        views = tuple(view for view in self.views if view.name in kept)
        return replace(self, views=views)

    def noting(self, notes: Iterable[str]) -> "Views":
        """The same views with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def in_order(value: Value) -> tuple[bool, str, Any]:
    """Sorts values of several types, the missing one last."""
    return value is None, str(type(value)), value


def contradiction() -> InfeasibleError:
    """What is raised where no table could have shown the views."""
    return InfeasibleError(
        "no table could have shown these views: they contradict each other. Is everyone they are "
        "about in the register, with the public values that the views went by?"
    )
