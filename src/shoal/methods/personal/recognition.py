"""Who is left to someone with a register who knows the algorithm.

The risk of a record is counted by the people whom its released values fit. Whoever knows the
algorithm, its parameters and these people's values can run it for each of them, and keeps only
those who would have got the very same release. Uses `crowds`; `Personal` tells its owner what is
found here, and `attack` asks for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import ranks
from shoal.exact.numbers import percent
from shoal.methods.personal.crowds import Chosen, Wanted, comparable
from shoal.methods.personal.models import Ints
from shoal.zones import owner_only

if TYPE_CHECKING:
    from shoal.methods.method import Progress
    from shoal.methods.personal import People

__all__ = ["Recognition", "is_free", "recognition"]

Index = npt.NDArray[np.intp]


@owner_only
@dataclass(frozen=True, eq=False)
class Recognition:
    """How many people the release of each record could be about.

    `fitting` counts those whom its values fit, `left` those who remain for someone who knows the
    algorithm. One number for every distinct row of the table, which `people` of it have and which
    is shown at `levels`.
    """

    people: Ints
    fitting: Ints
    left: Ints
    levels: npt.NDArray[np.uint8]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recognition):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def mean(self, crowd: Ints) -> float:
        """The mean chance to name the right person among such crowds."""
        total = max(self.people.sum(), 1)
        return float((self.people / crowd).sum() / total)

    def alone(self, crowd: Ints) -> float:
        """The share of people whose crowd is one."""
        total = max(self.people.sum(), 1)
        return float(self.people[crowd == 1].sum() / total)

    def __str__(self) -> str:
        """What an owner is told."""
        named = percent(self.mean(self.left))
        counted = percent(self.mean(self.fitting))
        alone = percent(self.alone(self.left))
        alone_counted = percent(self.alone(self.fitting))
        return (
            "someone who has everybody's values and knows the algorithm names the right person "
            f"{named} of the time, not {counted} as counted; {alone} of people are alone to them, "
            f"not {alone_counted}"
        )


def is_free(people: "People") -> bool:
    """Whether the solution for the records is one for everybody whom the attacker tries.

    That is so if the register is the table, and nobody has another wish.
    """
    return people.method.register is None and len(people.wanted) == 1


def recognition(
    people: "People",
    chance: Chance,
    progress: "Progress",
    solutions: Sequence[Chosen] | None = None,
) -> Recognition:
    """What is left of the crowds of a table's records for an attacker with the register.

    The attacker runs the method for everyone in it, with every wish that people may have, and knows
    who has which only where the column of choices is released. `solutions` are those for everyone
    and every wish, where they are known.
    """
    everyone = people.crowds.everyone
    rows = np.arange(everyone.distinct)
    _, wishes = people.method.sums(people.hierarchies)
    wanted = []
    for sensitivity, share in wishes.values():
        wanted.append(Wanted.of(sensitivity, people.utility, share, rows))
    if solutions is None:
        solutions = replace(people, wanted=wanted).solve(chance, progress)

    release = _released(people, solutions)
    row_of = np.tile(rows, len(solutions))
    # A person counts once, whichever wishes lead to the same release.
    pairs = np.stack([release, row_of])
    released, rows_released = np.unique(pairs, axis=1)
    releases = int(release.max(initial=-1)) + 1
    count = everyone.count[rows_released]
    left = np.bincount(released, count, releases).astype(np.int64)

    pairs_of_wishes = zip(wanted, solutions, strict=True)
    fitting = np.concatenate([_sizes(people, want, chosen) for want, chosen in pairs_of_wishes])
    codes = [people.rows.column(name) for name in people.hierarchies]
    # Wishes come one after the other, each with all rows.
    here = people.want * everyone.distinct + people.crowds.find(codes)
    levels = np.concatenate([solution.levels for solution in solutions])[here]
    return Recognition(people.rows.count, fitting[here], left[release[here]], levels)


def _released(people: "People", solutions: Sequence[Chosen]) -> Index:
    """The number of the release of every wish and row, equal where all that is shown is equal."""
    shown = []
    cards = []
    distinct = people.crowds.everyone.distinct
    all_levels = np.concatenate([solution.levels for solution in solutions])
    for column, hierarchy in enumerate(people.hierarchies.values()):
        labels, text_at = hierarchy.texts()
        levels = all_levels[:, column].astype(np.intp)
        leaves = np.tile(people.crowds.everyone.codes[column], len(solutions))
        shown.append(text_at[levels, leaves])
        cards.append(len(labels))
    if people.choices_shown:
        shown.append(np.repeat(np.arange(len(solutions)), distinct))
        cards.append(len(solutions))
    return ranks(shown, cards)


def _sizes(people: "People", wanted: Wanted, chosen: Chosen) -> Ints:
    """The crowd of every row at its levels: what it shows, by its risk."""
    want = comparable(wanted, people.crowds)
    shown = people.crowds.sum_of(want.sensitivity, want.rows, chosen.levels)
    units = chosen.risk * float(want.sensitivity.unit)
    sensitive = shown > 0
    sizes = np.zeros(len(shown), dtype=np.int64)
    sizes[sensitive] = np.rint(shown[sensitive] / units[sensitive])
    # Where nothing sensitive is shown, the risk says nothing about the crowd.
    others = np.flatnonzero(~sensitive)
    nodes, node_of = np.unique(chosen.levels[others], axis=0, return_inverse=True)
    for number, node in enumerate(nodes.tolist()):
        here = others[node_of.ravel() == number]
        sizes[here] = people.crowds.sizes(tuple(node))[want.rows[here]]
    return sizes
