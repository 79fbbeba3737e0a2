"""The minimality attack: rule out every input on which the method would have released something else.

Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing (VLDB 2007). The attacker knows who is in the
table and their quasi-identifying values, the method with its parameters, and the release. Exhaustive, so for small tables.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import factorial, prod
from typing import Any

import narwhals as nw

from shoal.errors import ColumnError, TooLargeError
from shoal.kinds import Key
from shoal.methods import Method
from shoal.tables import Table, table

__all__ = ["beliefs", "inputs"]

LARGEST = 100_000  # inputs worth trying one by one

Values = tuple[Key | None, ...]


def inputs(method: Method, people: Table, released: Any, column: str) -> list[Values]:
    """Every way to give the released values of a sensitive column to the people that leads to the very same release.

    `people` has all columns of the input but the sensitive one, with their roles and hierarchies.
    """
    shown = nw.from_native(released, eager_only=True)
    if column in people.names or column not in shown.columns:
        raise ColumnError(f"column {column!r} must be in the release and not among what is known of the people")
    values = Counter(shown[column].to_list())
    if values.total() != people.rows:
        raise ColumnError(
            f"{people.rows:,} people and {values.total():,} released records; the attack needs all of them released"
        )
    ways = factorial(people.rows) // prod(map(factorial, values.values()))
    if ways > LARGEST:
        raise TooLargeError(f"there are {ways:,} possible inputs and at most {LARGEST:,} are tried; take a smaller table")
    target = list(shown.iter_rows())
    return [given for given in _orders(values) if _released(method, people, column, given) == target]


def beliefs(possible: Sequence[Values]) -> list[dict[Key | None, Fraction]]:
    """For every person what the attacker believes about them once only these inputs are left, all equally likely.

    >>> beliefs([("flu", "cold"), ("flu", "gout")])
    [{'flu': Fraction(1, 1)}, {'cold': Fraction(1, 2), 'gout': Fraction(1, 2)}]
    """
    return [
        {value: Fraction(often, len(possible)) for value, often in Counter(values).items()}
        for values in zip(*possible, strict=True)
    ]


def _released(method: Method, people: Table, column: str, values: Values) -> list[tuple[Any, ...]]:
    frame = people.frame.with_columns(nw.new_series(column, list(values), backend=people.frame.implementation))
    roles: dict[str, list[str]] = {}
    for name, role in people.roles.items():
        roles.setdefault(role.value, []).append(name)
    roles.setdefault("sensitive", []).append(column)
    given = table(frame.to_native(), **roles, hierarchies=people.hierarchies, types=people.types, missing=people.missing)
    return list(nw.from_native(method.release(given).table, eager_only=True).iter_rows())


def _orders(values: Counter[Any]) -> Iterator[Values]:
    """All different orders of some values."""
    if not values.total():
        yield ()
    for value in [value for value, often in values.items() if often]:
        values[value] -= 1
        for rest in _orders(values):
            yield (value, *rest)
        values[value] += 1
