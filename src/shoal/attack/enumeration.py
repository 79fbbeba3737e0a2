"""The attack by enumeration: the method is run on all inputs that a release allows.

The shipped method is run along every path of its chance, and each input that leads to the release
counts with its probability. Uses `knowledge` and `coins`; `minimality` uses it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any

from shoal.attack.coins import Enumerated, law
from shoal.attack.counting import orders_of
from shoal.attack.inferences import AttackResult, Inference
from shoal.attack.knowledge import WHO, Knowledge, Value, Values
from shoal.chance import Chance
from shoal.errors import InputError, TooLargeError
from shoal.methods.disclosure import orders

__all__ = ["LARGEST", "Inputs", "PossibleInput", "enumerated", "named", "possible", "require_few"]

LARGEST = 100_000
"""Inputs that are tried one by one at most."""

_UNNAMED = 10**15
"""From this number of inputs on, messages do not say how many more there are."""


@dataclass(frozen=True)
class PossibleInput:
    """An input that may lead to the release.

    prior: its probability before the release is seen
    weight: the probability that the method makes this release of it, with these groups
    groups: everyone's group; -1 for those who are left out
    """

    values: Values
    prior: Fraction
    weight: Fraction
    groups: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Inputs:
    """All ways to give people values that their group shows, and to leave some people out.

    People who were left out or suppressed have any of the released values.
    """

    knowledge: Knowledge

    @cached_property
    def number(self) -> int:
        """The number of inputs; a lower bound if it is far beyond `LARGEST`."""
        knowledge = self.knowledge
        left_out = knowledge.left_out
        if knowledge.group_of is not None:
            of_groups = prod(map(orders_of, knowledge.bags.tolist()))
            return of_groups * int(len(knowledge.keys) ** left_out)
        if left_out:
            # Those who were left out have any bag of the released values.
            bags = comb(len(knowledge.keys) + left_out - 1, left_out)
            if bags > LARGEST:
                return bags
            groups = comb(knowledge.people.rows, left_out)
            return sum(map(orders_of, self._bags())) * groups
        everyone = knowledge.bags.sum(axis=0).tolist()
        return orders_of(everyone)

    def _bags(self) -> Iterator[list[int]]:
        """How often values may occur in the input: people who were left out have any of them."""
        values = range(len(self.knowledge.keys))
        released = self.knowledge.bags.sum(axis=0).tolist()
        for missing in combinations_with_replacement(values, self.knowledge.left_out):
            more = Counter(missing)
            yield [released[value] + more[value] for value in values]

    def __iter__(self) -> Iterator[tuple[Values, Fraction]]:
        """Every input with its prior probability.

        All bags are equally likely, and so are all ways to spread one.
        """
        if self.knowledge.group_of is None:
            return self._over_everyone()
        return self._over_groups(self.knowledge.group_of.tolist())

    def _over_everyone(self) -> Iterator[tuple[Values, Fraction]]:
        bags = list(self._bags())
        for bag in bags:
            prior = Fraction(1, len(bags) * orders_of(bag))
            often = Counter(dict(zip(self.knowledge.keys, bag, strict=True)))
            for values in orders(often):
                yield values, prior

    def _over_groups(self, group_of: Sequence[int]) -> Iterator[tuple[Values, Fraction]]:
        keys = self.knowledge.keys
        orders_of_groups = []
        for bag in self.knowledge.bags.tolist():
            often = Counter(dict(zip(keys, bag, strict=True)))
            orders_of_groups.append(list(orders(often)))
        members: list[list[int]] = [[] for _ in orders_of_groups]
        suppressed: list[int] = []
        for row, group in enumerate(group_of):
            (suppressed if group < 0 else members[group]).append(row)
        number = prod(map(len, orders_of_groups))
        for missing in product(range(len(keys)), repeat=len(suppressed)):
            prior = self._prior(missing) / number
            given: list[Value] = [None] * len(group_of)
            for row, code in zip(suppressed, missing, strict=True):
                given[row] = keys[code]
            for chosen in product(*orders_of_groups):
                for rows, values in zip(members, chosen, strict=True):
                    for row, value in zip(rows, values, strict=True):
                        given[row] = value
                yield tuple(given), prior

    def _prior(self, missing: Sequence[int]) -> Fraction:
        """The probability that those who are known to be suppressed have these values.

        All bags of the whole table are equally likely, as where it is not known who was left out;
        given the released values, the others are drawn from an urn that gains with every draw.
        """
        urn = [often + 1 for often in self.knowledge.bags.sum(axis=0).tolist()]
        total = sum(urn)
        probability = Fraction(1)
        for code in missing:
            probability *= Fraction(urn[code], total)
            urn[code] += 1
            total += 1
        return probability


def require_few(number: int) -> None:
    """TooLargeError if there are more inputs than can be tried."""
    if number > LARGEST:
        raise TooLargeError(
            f"there are at least {named(number)} possible inputs and {LARGEST:,} can be tried",
            "take a smaller table",
        )


def named(inputs: int) -> str:
    """A number of inputs as a message has it.

    >>> named(12_000), named(10**40)
    ('12,000', '10^15')
    """
    if inputs < _UNNAMED:
        return f"{inputs:,}"
    return "10^15"


@dataclass(frozen=True)
class _Outcome:
    """What the method makes of an input: its rows, everyone's group, and the released columns."""

    rows: tuple[tuple[str, ...], ...]
    groups: tuple[int, ...]
    names: tuple[str, ...]


def possible(knowledge: Knowledge, kind: type[Enumerated] = Enumerated) -> Iterator[PossibleInput]:
    """Every input that may lead to the release, once for each grouping of people that does."""
    inputs = Inputs(knowledge)
    require_few(inputs.number)
    target: tuple[tuple[str, ...], ...] | None = None
    for values, prior in inputs:
        outcomes = law(partial(_outcome, knowledge, values), kind)
        for outcome, weight in outcomes.items():
            if outcome is None:
                continue
            if target is None:
                # Only the columns that the method makes are compared.
                target = knowledge.rows_of(knowledge.frame, outcome.names)
            if outcome.rows == target:
                yield PossibleInput(values, prior, weight.exact, outcome.groups)


def _outcome(knowledge: Knowledge, values: Values, chance: Chance) -> _Outcome | None:
    """What the method makes of an input; None if it releases nothing.

    Where the release does not show who is in which group, everyone carries their number through it.
    """
    group_of = knowledge.group_of
    frame = knowledge.release_of(values, chance, numbered=group_of is None)
    if frame is None:
        return None
    names = tuple(name for name in frame.columns if name != WHO)
    rows = knowledge.rows_of(frame, names)
    if group_of is not None:
        return _Outcome(rows, tuple(group_of.tolist()), names)
    # Those who do not come out of the method were left out.
    groups = [-1] * knowledge.people.rows
    labels = knowledge.labels_of(frame)
    for person, label in zip(frame[WHO].to_list(), labels, strict=True):
        groups[int(person)] = knowledge.place.get(label, -1)
    return _Outcome(rows, tuple(groups), names)


def enumerated(knowledge: Knowledge, kind: type[Enumerated] = Enumerated) -> AttackResult:
    """What is inferred of everyone by trying all inputs."""
    number = knowledge.people.rows
    weight_of_value: list[dict[Value, Fraction]] = [{} for _ in range(number)]
    weight_of_group: list[dict[int, Fraction]] = [{} for _ in range(number)]
    total = Fraction(0)
    for candidate in possible(knowledge, kind):
        weight = candidate.prior * candidate.weight
        total += weight
        for person, group in enumerate(candidate.groups):
            # A person who was left out is in no group.
            if group < 0:
                continue
            _add(weight_of_value[person], candidate.values[person], weight)
            _add(weight_of_group[person], group, weight)
    if not total:
        raise InputError(
            "no input leads to this release by this method", "give the recipe of the release"
        )
    inferences = []
    for person in range(number):
        if weight_of_group[person]:
            values, groups = weight_of_value[person], weight_of_group[person]
            inferences.append(_inference(knowledge, person, values, groups))
    unknown = number - len(inferences)
    return AttackResult("enumeration", number, tuple(inferences), total, unknown)


def _inference(
    knowledge: Knowledge,
    person: int,
    weight_of_value: Mapping[Value, Fraction],
    weight_of_group: Mapping[int, Fraction],
) -> Inference:
    """What is inferred of one person, given the weights of their values and groups.

    Someone who may be in several groups is shown what these show, by how probable each is.
    """
    total = sum(weight_of_group.values(), Fraction(0))
    apparent: dict[Value, Fraction] = {}
    for group, weight in weight_of_group.items():
        for key, share in knowledge.apparent(group).items():
            _add(apparent, key, share * weight / total)
    shares = [weight_of_value.get(key, Fraction(0)) / total for key in knowledge.keys]
    why = ["other inputs would have led to another release"]
    return knowledge.inference([person], apparent, shares, why)


def _add(weights: dict[Any, Fraction], key: Any, weight: Fraction) -> None:
    weights[key] = weights.get(key, Fraction(0)) + weight
