"""`View` and `Views`: what several releases of one table have shown, and what everybody knew before. Uses `errors`, `kinds`
and `privacy.exact`; the rest of this room uses it.

People are numbered by their place in a register, which is public. A view is a set of these people together with the bag of the
sensitive values they have. What is secret is who of them has which.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from shoal.arguments import typed
from shoal.data.kinds import Key
from shoal.errors import InfeasibleError, InputError, ParameterError, listed, plural
from shoal.exact.numbers import Exact, fraction

__all__ = ["OUTSIDE", "Outside", "Value", "View", "Views"]


class Outside:
    """What someone of the register has who is not in the table: no value. It is in no bag, and no limit is about it."""

    def __repr__(self) -> str:
        return "not in the table"

    def __lt__(self, other: object) -> bool:
        return False  # after every value


OUTSIDE = Outside()

Value = Key | None | Outside
"""A sensitive value; None is the missing one."""


@dataclass(frozen=True)
class View:
    """Some people of the register, and how often each sensitive value occurs among them.

    >>> View("men", [0, 1, 2], ["flu", "cold", "flu"]).bag
    {'flu': 2, 'cold': 1}
    """

    name: str
    people: Iterable[int]
    bag: Mapping[Value, int] | Iterable[Value]
    parts: tuple[Mapping[Any, int], ...] = field(default=(), repr=False)
    """The bags of several groups of these people, where it is not public who is in which, or who was left out."""

    def __post_init__(self) -> None:
        for part in (self.people, self.bag):
            if not isinstance(part, Iterable) or hasattr(part, "columns"):
                raise ParameterError(
                    "a view has a list of people, by their places, and a list or dict of their values"
                )
        people = list(self.people)
        object.__setattr__(self, "people", frozenset(people))
        if len(self.members) < len(people):
            raise ParameterError(f"view {self.name!r} names somebody twice; name everybody once")
        counted: dict[Value, int] = {}
        if isinstance(self.bag, Mapping):
            for value, often in self.bag.items():
                if isinstance(often, bool) or not isinstance(often, int) or often < 0:
                    raise ParameterError(
                        f"view {self.name!r} has a value that occurs no whole number of times, from 0 on"
                    )
                if often:
                    counted[value] = often
        elif isinstance(self.bag, str):
            raise ParameterError(
                f"view {self.name!r} has one text for its values; give a list of them"
            )
        else:
            for value in self.bag:
                counted[value] = counted.get(value, 0) + 1
        if any(value != value for value in counted):
            raise ParameterError(
                f"view {self.name!r} has NaN for a value, which equals nothing; write a missing value as None"
            )
        if OUTSIDE in counted:
            raise ParameterError(
                f"view {self.name!r} shows people who are not in the table; give the values of those who are"
            )
        object.__setattr__(self, "bag", counted)

    @property
    def members(self) -> frozenset[int]:
        """The people."""
        assert isinstance(self.people, frozenset)
        return self.people

    @property
    def shown(self) -> Mapping[Value, int]:
        """The bag: how often each value occurs."""
        assert isinstance(self.bag, Mapping)
        return self.bag

    @property
    def size(self) -> int:
        """How many values it shows."""
        return sum(self.shown.values())


@typed
@dataclass(frozen=True)
class Views:
    """A register, the views that were shown of its people, and how sure nobody may become of anybody's value.

    people: the names of those in the register, or how many there are
    views: what was shown
    gamma: how probable a value may be for anybody, at most
    limits: the same for single values
    complete: whether everybody in the register is known to be in the table. If not, a view may show fewer values than it
        has people; who of them is in the table is then unknown too

    >>> both = Views(3, [View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])])
    >>> both.gamma, both.names
    (Fraction(1, 2), ('1', '2', '3'))
    """

    people: Sequence[str] | int
    views: Iterable[View]
    gamma: Exact = Fraction(1, 2)
    limits: Mapping[Any, Exact] = field(default_factory=dict)
    complete: bool = True
    notes: tuple[str, ...] = ()
    """What the reader of a result should know about how the views were found."""

    def __post_init__(self) -> None:
        number = self.people if isinstance(self.people, int) else None
        names = (
            tuple(str(i + 1) for i in range(number))
            if number is not None
            else tuple(map(str, self.people))  # type: ignore[arg-type]
        )
        object.__setattr__(self, "people", names)
        object.__setattr__(self, "views", tuple(self.views))
        object.__setattr__(self, "gamma", fraction(self.gamma, "gamma", 0, 1))
        limits = {
            value: fraction(limit, f"the limit of {value}", 0, 1)
            for value, limit in self.limits.items()
        }
        object.__setattr__(self, "limits", limits)
        called = [view.name for view in self.shown]
        if len(set(called)) < len(called):
            raise ParameterError(
                f"views are called alike: {listed(sorted({one for one in called if called.count(one) > 1}))}"
            )
        for view in self.shown:
            if view.members and (min(view.members) < 0 or max(view.members) >= len(names)):
                raise ParameterError(
                    f"view {view.name!r} has people who are not in the register of {len(names):,}"
                )
            if view.size > len(view.members) or (
                self.complete and not view.parts and view.size < len(view.members)
            ):
                raise InputError(
                    f"view {view.name!r} shows {plural(view.size, 'value')} for {len(view.members):,} of the register; "
                    + (
                        "there must be as many, or say that the register is not complete: that it has people who are not in "
                        "the table"
                        if view.size < len(view.members)
                        else "there cannot be more. Is somebody missing in the register?"
                    )
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of everybody in the register."""
        assert isinstance(self.people, tuple)
        return self.people

    @property
    def shown(self) -> tuple[View, ...]:
        """The views."""
        assert isinstance(self.views, tuple)
        return self.views

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """All values that are shown, in their order; what those outside the table have comes last."""
        found = {value for view in self.shown for value in view.shown}
        ordered = sorted(found, key=lambda one: (one is None, str(type(one)), one))
        return (*ordered, *([] if self.complete else [OUTSIDE]))

    def limit(self, value: Value) -> Fraction:
        """How probable a value may be for anybody; whether somebody is in the table has no limit."""
        if isinstance(value, Outside):
            return Fraction(1)
        return Fraction(self.limits.get(value, self.gamma))

    def bag(self, view: View) -> tuple[int, ...]:
        """How often each of `values` occurs in a view, with those outside the table."""
        return tuple(
            len(view.members) - view.size if value is OUTSIDE else view.shown.get(value, 0)
            for value in self.values
        )

    def also(self, *views: View) -> "Views":
        """These views and some more."""
        return replace(self, people=self.names, views=(*self.shown, *views))

    def within(self, gamma: Exact) -> "Views":
        """The same views with another limit for all values that have none of their own."""
        return replace(self, people=self.names, gamma=gamma)

    def only(self, names: Iterable[str]) -> "Views":
        """Some of these views, by their names."""
        kept = set(names)
        return replace(
            self, people=self.names, views=tuple(view for view in self.shown if view.name in kept)
        )


def contradiction() -> InfeasibleError:
    """What is raised where no table could have shown the views."""
    return InfeasibleError(
        "no table could have shown these views: they contradict each other. Is everyone they are about in the register, with the "
        "public values that the views went by?"
    )
