"""Which bags of values satisfy the models of a method, by the code that ships.

Also how little has to be remembered of a part of the table while values are given out to it one
after the other. Uses the models; `counting` and `knowledge` use it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.counts import smallest
from shoal.errors import ParameterError
from shoal.methods.coincident import fewest, satisfied
from shoal.privacy.models import (
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
)

__all__ = ["FAILED", "Bag", "Judge", "Recollection"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bag: TypeAlias = tuple[int, ...]
"""How often every value occurs."""

FAILED = "failed"
"""What is remembered of a part that fails whatever values are still to come."""

_FINEST = 1 << 40
"""The denominator that a probability is rounded to before a model judges it."""


class Judge:
    """Which bags of values satisfy all models.

    total: how often every value occurs in the table
    leaf: the code that models know every value by, below `leaves`
    """

    def __init__(
        self,
        models: Sequence[Model],
        column: str,
        total: Ints,
        leaf: Ints,
        leaves: int,
    ) -> None:
        for model in models:
            if isinstance(model, DeltaPresence) or set(model.columns) - {column}:
                raise ParameterError(
                    f"{model} is not a model of column {column!r}, which is attacked",
                    "attack another column",
                )
        self.models = models
        self.column = column
        self.total = total
        self.leaf = leaf
        self.leaves = leaves
        self.least = fewest(models)
        self.memory = Recollection.of(models)
        self._known: dict[Bag, bool] = {}

    def only(self, model: Model) -> "Judge":
        """A judge of the same values by one model."""
        return Judge([model], self.column, self.total, self.leaf, self.leaves)

    def holds(self, bags: npt.NDArray[Any]) -> Bools:
        """Which bags (one line per bag, one column per value) satisfy all models in the table."""
        # Some models compare a group with the whole table. The bags may not fit into it together,
        # so they are judged in a table that repeats it: its shares are the same.
        # Rounded up: the tables that each bag needs.
        tables = -(-bags // self.total)
        repeats = tables.max(axis=1).sum() + 1
        rest = repeats * self.total - bags.sum(axis=0)
        every = np.vstack([bags, rest])
        bag, value = np.nonzero(every)
        leaves = self.leaf[value].astype(smallest(self.leaves))
        count = every[bag, value].astype(np.int64)
        columns = {self.column: (leaves, self.leaves)}
        return satisfied(self.models, bag, len(bags), columns, count)

    def hold(self, bags: Sequence[Bag]) -> list[bool]:
        """The same for several bags; each is judged only once."""
        new = list(dict.fromkeys(bag for bag in bags if bag not in self._known))
        if new:
            held = self.holds(np.array(new, dtype=np.int64)).tolist()
            self._known.update(zip(new, held, strict=True))
        return [self._known[bag] for bag in bags]

    def believed(self, belief: Sequence[Fraction]) -> bool:
        """Whether a distribution of the values satisfies the models; it is rounded to 2^-40."""
        exact = lcm(*(share.denominator for share in belief)) * self.least
        scale = min(exact, _FINEST)
        # A value that is possible at all must not be rounded away.
        bag = [max(round(share * scale), 1) if share else 0 for share in belief]
        bags = np.array([bag], dtype=np.int64)
        return bool(self.holds(bags)[0])


@dataclass(frozen=True)
class Recollection:
    """What is remembered of a part of some size while values are given out.

    It is as little as the models need, and None at first. `step` gives what is remembered once a
    value occurs a number of times, or `FAILED`. `sure` says that the part will satisfy the models,
    given by how much the values to come can multiply the product of n^n over all frequencies n at
    most.
    """

    step: Callable[[Any, int, int, int], Any]
    sure: Callable[[Any, int, int], bool] = lambda seen, size, more: False

    @classmethod
    def of(cls, models: Sequence[Model]) -> "Recollection":
        kinds = {type(model) for model in models}
        counted = {KAnonymity, DistinctDiversity, PSensitive}
        if kinds <= counted:
            return cls._of_diversity(_most_different(models))
        if kinds <= {*counted, EntropyDiversity}:
            entropies = [model for model in models if isinstance(model, EntropyDiversity)]
            least = max(Fraction(model.l) for model in entropies)
            return cls._of_entropy(_most_different(models), least)
        if kinds <= {*counted, EntropyDiversity, RecursiveDiversity}:
            return cls(_with_frequency)
        return cls(_with_value)

    @classmethod
    def _of_diversity(cls, most: int) -> "Recollection":
        """How many values are different, as far as that matters."""
        return cls(
            lambda seen, value, often, size: min((seen or 0) + 1, most),
            lambda seen, size, more: seen == most,
        )

    @classmethod
    def _of_entropy(cls, most: int, least: Fraction) -> "Recollection":
        """The entropy is log size − log product / size, at least log l: the product is limited."""

        @cache
        def limit(size: int) -> int:
            return int((size * least.denominator) ** size // least.numerator**size)

        def step(
            seen: Any,
            value: int,
            often: int,
            size: int,
        ) -> Any:
            different, power = seen or (0, 1)
            power *= often**often
            if power > limit(size):
                return FAILED
            return min(different + 1, most), power

        def sure(seen: Any, size: int, more: int) -> bool:
            if seen is None:
                return False
            different, power = seen
            return different == most and power * more <= limit(size)

        return cls(step, sure)


def _with_frequency(
    seen: Any,
    value: int,
    often: int,
    size: int,
) -> Any:
    """All frequencies, where it does not matter which value has which."""
    frequencies = () if seen is None else seen
    return tuple(sorted((*frequencies, often)))


def _with_value(
    seen: Any,
    value: int,
    often: int,
    size: int,
) -> Any:
    """All frequencies with their values."""
    pairs = () if seen is None else seen
    return (*pairs, (value, often))


def _most_different(models: Sequence[Model]) -> int:
    """The number of different values beyond which no model asks for more."""
    most = 1
    for model in models:
        if isinstance(model, DistinctDiversity):
            most = max(most, model.l)
        elif isinstance(model, PSensitive):
            most = max(most, model.p)
    return most
