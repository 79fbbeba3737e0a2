"""`posterior`: what somebody believes who knows a procedure and sees its output.

Uses `model`; tests and docs use it.

Views reveal something by what they show. That they were chosen, or that nothing was, reveals more:
in a table where the procedure would have done something else, this would not have been its output.
For small cases all tables can be listed.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from shoal.arguments import typed
from shoal.errors import ParameterError, TooLargeError
from shoal.views.cells import require_countable, views_of_people
from shoal.views.model import OUTSIDE, Value, Views, contradiction
from shoal.zones import brief

__all__ = ["Posterior", "posterior", "worlds"]

World = tuple[Value, ...]
"""Everybody's value in one possible table."""

Output = TypeVar("Output", bound=Hashable)


@brief
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
        shares = [
            share
            for belief in self.beliefs
            for value, share in belief.items()
            if value is not OUTSIDE
        ]
        return max(shares, default=Fraction(0))


@typed
def worlds(views: Views, limit: int = 100_000) -> list[World]:
    """All tables that could have shown the views; TooLargeError if there are more than `limit`.

    Everybody must be in some view.

    >>> from shoal.views import View
    >>> one, other = View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])
    >>> worlds(Views(3, [one, other]))
    [('cold', 'flu', 'gout')]
    """
    require_countable(views)
    numbers = views_of_people(views)
    if not all(numbers):
        raise ParameterError(
            "somebody is in no view, so that they may have any value",
            "leave them out of the register",
        )
    bags = [views.bag(view) for view in views.views]
    left = [dict(zip(views.values, bag, strict=True)) for bag in bags]
    tables: list[World] = []
    for table in _filled(numbers, left, views.values, []):
        if len(tables) == limit:
            raise TooLargeError(f"there are more than {limit:,} possible tables")
        tables.append(table)
    if not tables:
        raise contradiction()
    return tables


def _filled(
    numbers: Sequence[Sequence[int]],
    left: Sequence[dict[Value, int]],
    values: Sequence[Value],
    given: list[Value],
) -> Iterator[World]:
    """All ways to complete a table of which some people have their values.

    numbers: everybody's views
    left: what is left in the bag of every view
    """
    if len(given) == len(numbers):
        yield tuple(given)
        return
    for value in values:
        bags = [left[k] for k in numbers[len(given)]]
        if all(bag[value] for bag in bags):
            for bag in bags:
                bag[value] -= 1
            yield from _filled(numbers, left, values, [*given, value])
            for bag in bags:
                # Bags are shared by all branches, so each one puts back what it took.
                bag[value] += 1


@typed
def posterior(
    procedure: Callable[[World], Output | Mapping[Output, Fraction]], tables: Sequence[World]
) -> dict[Output, Posterior]:
    """For every output of a procedure what someone then believes who knows the procedure.

    procedure: from a table to its output; or to each output's probability, where it flips coins
    tables: all that are possible and equally likely before

    >>> tables = [("flu", "cold"), ("cold", "flu"), ("gout", "flu")]
    >>> after = posterior(lambda table: table[0] == "flu", tables)
    >>> after[False].share, after[False].beliefs[0]
    (Fraction(2, 3), {'cold': Fraction(1, 2), 'gout': Fraction(1, 2)})
    """
    if not tables:
        raise ParameterError("there are no tables", "give all that are possible")
    reached: dict[Output, list[tuple[World, Fraction]]] = {}
    for table in tables:
        output = procedure(table)
        # Without coins the output is certain.
        law = output if isinstance(output, Mapping) else {output: Fraction(1)}
        if sum(law.values()) != 1:
            raise ParameterError("the probabilities of a procedure's outputs do not add up to 1")
        for possible, chance in law.items():
            if chance:
                reached.setdefault(possible, []).append((table, Fraction(chance)))
    return {output: _after(weighed, len(tables)) for output, weighed in reached.items()}


def _after(weighed: Sequence[tuple[World, Fraction]], number: int) -> Posterior:
    """What is believed given the tables that lead to an output, of all `number`, by chance."""
    weight = sum((chance for _, chance in weighed), Fraction(0))
    people = len(weighed[0][0])
    sums: list[dict[Value, Fraction]] = [{} for _ in range(people)]
    for table, chance in weighed:
        for person, value in enumerate(table):
            sums[person][value] = sums[person].get(value, Fraction(0)) + chance
    for own in sums:
        for value in own:
            own[value] /= weight
    return Posterior(weight / number, tuple(sums))
