"""`posterior`: what somebody believes who knows a procedure and sees what it put out. Uses `model`; tests and docs use it.

Views tell by what they show. That they were chosen, or that nothing was, tells too: in a table where the procedure would have
done something else, this is not what it would have put out. For small cases all tables are there to be asked.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from shoal.arguments import typed
from shoal.errors import ParameterError, TooLargeError
from shoal.views.cells import countable
from shoal.views.model import OUTSIDE, Value, Views, contradiction

__all__ = ["Posterior", "posterior", "worlds"]

Table = tuple[Value, ...]
"""Everybody's value."""

Put = TypeVar("Put", bound=Hashable)


@dataclass(frozen=True)
class Posterior:
    """What is believed once an output was seen.

    share: how probable the output was beforehand
    beliefs: for everybody, how probable each value is
    """

    share: Fraction
    beliefs: tuple[Mapping[Value, Fraction], ...]

    @property
    def largest(self) -> Fraction:
        """The largest probability of a value, of anybody."""
        return max(
            (
                one
                for belief in self.beliefs
                for value, one in belief.items()
                if value is not OUTSIDE
            ),
            default=Fraction(0),
        )


@typed
def worlds(views: Views, most: int = 100_000) -> list[Table]:
    """All tables that could have shown the views, one by one; TooLargeError beyond so many. All people must be in some view.

    >>> from shoal.views import View
    >>> worlds(Views(3, [View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])]))
    [('cold', 'flu', 'gout')]
    """
    countable(views)
    own: list[list[int]] = [[] for _ in views.names]
    for k, view in enumerate(views.shown):
        for person in view.members:
            own[person].append(k)
    if not all(own):
        raise ParameterError(
            "somebody is in no view, so that they may have any value; leave them out of the register"
        )
    left = [dict(zip(views.values, views.bag(view), strict=True)) for view in views.shown]
    found: list[Table] = []
    for table in _filled(own, left, views.values, []):
        if len(found) == most:
            raise TooLargeError(f"there are more than {most:,} possible tables")
        found.append(table)
    if not found:
        raise contradiction()
    return found


def _filled(
    own: Sequence[Sequence[int]],
    left: Sequence[dict[Value, int]],
    values: Sequence[Value],
    given: list[Value],
) -> Iterator[Table]:
    if len(given) == len(own):
        yield tuple(given)
        return
    mine = own[len(given)]
    for value in values:
        if all(left[k][value] for k in mine):
            for k in mine:
                left[k][value] -= 1
            yield from _filled(own, left, values, [*given, value])
            for k in mine:
                left[k][value] += 1


@typed
def posterior(
    procedure: Callable[[Table], Put | Mapping[Put, Fraction]], tables: Sequence[Table]
) -> dict[Put, Posterior]:
    """For every output of a procedure what is then believed by someone who knows the procedure.

    procedure: from a table to its output; or to each output's probability, where it flips coins
    tables: all that are possible and equally likely before

    >>> told = posterior(lambda table: table[0] == "flu", [("flu", "cold"), ("cold", "flu"), ("gout", "flu")])
    >>> told[False].share, told[False].beliefs[0]
    (Fraction(2, 3), {'cold': Fraction(1, 2), 'gout': Fraction(1, 2)})
    """
    if not tables:
        raise ParameterError("there are no tables; give all that are possible")
    reached: dict[Put, list[tuple[Table, Fraction]]] = {}
    for table in tables:
        put = procedure(table)
        law = put if isinstance(put, Mapping) else {put: Fraction(1)}
        if sum(law.values()) != 1:
            raise ParameterError("the probabilities of a procedure's outputs do not add up to 1")
        for one, probable in law.items():
            if probable:
                reached.setdefault(one, []).append((table, Fraction(probable)))
    found = {}
    for one, own in reached.items():
        weight = sum(probable for _, probable in own)
        beliefs: list[Counter[Value]] = [Counter() for _ in tables[0]]
        for table, probable in own:
            for person, value in enumerate(table):
                beliefs[person][value] += probable  # type: ignore[assignment]
        found[one] = Posterior(
            Fraction(weight) / len(tables),
            tuple(
                {value: Fraction(often) / weight for value, often in belief.items()}
                for belief in beliefs
            ),
        )
    return found
