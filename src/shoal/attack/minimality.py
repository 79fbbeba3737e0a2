"""The minimality attack: rule out every input that would have led to another release.

Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing (VLDB 2007); Zhang,
chapters 4 and 5. The attacker knows who is in the table and their quasi-identifying values, the
method with its parameters, and the release. What is left is the *disclosure set*; what it says of a
person is their *inherent* distribution, beside the *apparent* one that their group shows. `expose`
finds both: by counting (`mondrian`, `optimal`), by trying all inputs with exact weights of the
method's own coins (`enumeration`), or by sampling (`sampling`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import chain, product
from math import prod
from typing import Any, TypeVar

from shoal.arguments import typed
from shoal.attack import mondrian, optimal
from shoal.attack.counting import orders_of
from shoal.attack.enumeration import Inputs, enumerated, named, possible, require_few
from shoal.attack.inferences import AttackResult, Effort
from shoal.attack.knowledge import (
    Knowledge,
    Value,
    Values,
    require_attackable,
    require_one_row_per_person,
)
from shoal.attack.sampling import sampled
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.methods.disclosure import orders
from shoal.methods.method import Method, Progress, silent
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal

__all__ = ["FEW", "beliefs", "counted", "expose", "first_safe", "inputs"]

FEW = 3_000
"""Inputs that are tried one by one without being asked to."""

P = TypeVar("P", bound=Hashable)


@typed
def expose(
    method: Method,
    people: Table,
    released: Any,
    column: str,
    *,
    effort: Effort | None = None,
    kind: Kind | str | None = None,
    hierarchy: Hierarchy | None = None,
    progress: Progress = silent,
) -> AttackResult:
    """Everyone's inherent distribution of a sensitive column, given a release of a method.

    people: all columns of the input that others may know, with their roles and hierarchies; not the
        sensitive one
    released: the released dataframe. Of people whose group was suppressed nothing is found; for all
        the attacker knows, they have any of the released values. Coincident generalisation leaves
        out some people by lot: the attacker does not know who, and what is found of someone is what
        he believes if they are in the release
    effort: how inputs are found; by default counting where the structure allows it, else all inputs
        where they are few, else 1,000 samples
    kind, hierarchy: of the sensitive column, where the models need them
    """
    require_one_row_per_person(method)
    require_attackable(method)
    effort = effort or Effort()
    people = people.in_memory()
    knowledge = Knowledge(method, people, released, column, kind, hierarchy)
    if effort.how in (None, "counting"):
        result = counted(method, knowledge, effort, progress)
        if result is not None:
            return result
    if effort.how == "counting":
        raise ParameterError(
            f"the inputs of {method.name} cannot be counted here",
            "use `how='enumeration'` or `how='sampling'`",
        )
    number = Inputs(knowledge).number
    if effort.how == "enumeration" or (effort.how is None and number <= FEW):
        return enumerated(knowledge)
    # Samples are drawn group by group.
    _require_known_groups(knowledge, number)
    return sampled(knowledge, effort, progress)


@singledispatch
def counted(
    method: Method,
    knowledge: Knowledge,
    effort: Effort,
    progress: Progress = silent,
) -> AttackResult | None:
    """What is inferred by counting; None where the method or its release does not allow that."""
    return None


# Methods whose choice can be replayed without the values; see docs/explanation/minimality.md.
counted.register(Mondrian, mondrian.counted)
counted.register(Optimal, optimal.counted)


def _require_known_groups(knowledge: Knowledge, number: int) -> None:
    """Inputs can be sampled only where it is known who is in which group."""
    if knowledge.group_of is not None:
        return
    why = "people fit several released groups"
    if knowledge.left_out:
        by_lot = knowledge.entry.leaves_out
        why = "records were left out by lot" if by_lot else "nobody knows who was suppressed"
    fix = "attack the release of a smaller table"
    if knowledge.entry.proof:
        fix += (
            "; that nothing is learnt but what is shown is proven for all tables"
            f" (docs: proofs/{knowledge.entry.proof})"
        )
    raise ParameterError(
        f"{why}, so inputs cannot be sampled; all are tried where there are up to {FEW:,}, and here"
        f" there are at least {named(number)}",
        fix,
    )


@typed
def inputs(
    method: Method,
    people: Table,
    released: Any,
    column: str,
) -> dict[Values, Fraction]:
    """Every way to give the released values to the people that may lead to the very same release.

    Each has the probability that it does. `people` has all columns of the input but the sensitive
    one, with their roles and hierarchies.
    """
    weights: dict[Values, Fraction] = {}
    for candidate in possible(Knowledge(method, people.in_memory(), released, column)):
        before = weights.get(candidate.values, Fraction(0))
        weights[candidate.values] = before + candidate.weight
    return weights


@typed
def beliefs(possible: Iterable[Sequence[Value]]) -> list[dict[Value, Fraction]]:
    """The attacker's beliefs about every person once only these inputs are left.

    Inputs are equally likely, or have weights. >>> beliefs([("flu", "cold"), ("flu", "gout")])
    [{'flu': Fraction(1, 1)}, {'cold': Fraction(1, 2), 'gout': Fraction(1, 2)}]
    """
    # A mapping is an iterable too: of inputs with their weights.
    weights = possible if isinstance(possible, Mapping) else dict.fromkeys(possible, Fraction(1))
    if not all(isinstance(weight, Fraction | int) for weight in weights.values()):
        raise ParameterError(
            "has weights that are not fractions", "give each as one", option="possible"
        )
    total = sum(weights.values(), Fraction(0))
    people: list[dict[Value, Fraction]] = []
    for values, weight in weights.items():
        people = people or [{} for _ in values]
        for belief, value in zip(people, values, strict=True):
            belief[value] = belief.get(value, Fraction(0)) + weight / total
    return people


def first_safe(
    earlier: Sequence[Sequence[Sequence[P]]],
    groups: Sequence[Sequence[P]],
    shown: Sequence[Sequence[Any]],
    holds: Callable[[Counter[Any]], bool],
) -> list[dict[P, Any]]:
    """The disclosure set of the first safe grouping of a sequence.

    It has everyone's values in all inputs for which no earlier grouping is safe. `shown` are the
    values of every group, and `holds` says which bags of values are safe.

    >>> pairs, halves = [["Al", "Bo"], ["Cy", "Di"]], [["Al", "Bo", "Cy", "Di"]]
    >>> values = [["flu", "flu", "gout", "gout"]]
    >>> left = first_safe([pairs], halves, values, lambda bag: len(bag) > 1)
    >>> [list(people.values()) for people in left]
    [['flu', 'flu', 'gout', 'gout'], ['gout', 'gout', 'flu', 'flu']]
    """
    bags = [Counter(values) for values in shown]
    require_few(prod(orders_of(bag.values()) for bag in bags))
    people = list(chain.from_iterable(groups))

    def safe(grouping: Sequence[Sequence[P]], given: Mapping[P, Any]) -> bool:
        return all(holds(Counter(given[person] for person in part)) for part in grouping)

    left = []
    for chosen in product(*(list(orders(bag)) for bag in bags)):
        given = dict(zip(people, chain.from_iterable(chosen), strict=True))
        if not any(safe(grouping, given) for grouping in earlier):
            left.append(given)
    return left
