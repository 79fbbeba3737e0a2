"""What a register tells about personal generalisation to someone who knows the algorithm.

The risk of a record is counted by the people whom its released values fit. Whoever knows the
algorithm, its parameters and these people's values can run it for each of them, and keeps only
those who would have got the very same release.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import ranks
from shoal.data.tables import Table
from shoal.methods import silent
from shoal.methods.personal import People, Personal
from shoal.methods.personal.crowds import Chosen, Wanted

__all__ = ["Recognition", "recognised"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Recognition:
    """How many people the release of each person could be about.

    `fitting` counts those whom its values fit, `left` those who remain for someone who knows the
    algorithm. One number for every distinct row of the register, which `people` of it have.
    """

    people: Ints
    fitting: Ints
    left: Ints

    def mean(self, crowd: Ints) -> float:
        """The mean chance to name the right person among such crowds."""
        total = max(self.people.sum(), 1)
        return float((self.people / crowd).sum() / total)

    def alone(self, crowd: Ints) -> float:
        """The share of people whose crowd is one."""
        total = max(self.people.sum(), 1)
        return float(self.people[crowd == 1].sum() / total)


@typed
def recognised(method: Personal, register: Table, chance: Chance | None = None) -> Recognition:
    """What is left of the crowds for an attacker with the register.

    All people of the register are in the table. The attacker runs the method for everyone, with
    every wish that people may have, and does not know who has which. Of a heuristic solver even the
    draws are taken as known. The register has the roles and hierarchies of the table. Where it has
    no column of choices, everybody counts as having chosen nothing, and may have chosen anything
    for all the attacker knows.
    """
    # Without choices in the register nobody's wish is known, but all that are possible are tried.
    known = method if method.choice in register.names else replace(method, choice=None, wishes={})
    people = People.of(known, register)
    everyone = people.crowds.everyone
    _, wishes = method.sums(people.hierarchies)
    rows = np.arange(everyone.distinct)
    wanted = [
        Wanted.of(sensitivity, people.utility, share, rows)
        for sensitivity, share in wishes.values()
    ]
    solutions = replace(people, wanted=wanted).solve(chance or Chance(), silent)
    release = _released(people, solutions)
    # A person counts once, whichever wishes lead to the same release.
    row_of = np.tile(rows, len(solutions))
    pairs = np.unique(np.stack([release, row_of]), axis=1)
    releases = int(release.max(initial=-1)) + 1
    released, rows_released = pairs
    left = np.bincount(released, everyone.count[rows_released], releases).astype(np.int64)
    fitting = np.concatenate([_sizes(people, solution.levels) for solution in solutions])
    codes = [people.rows.codes[people.rows.names.index(name)] for name in people.hierarchies]
    here = people.want * everyone.distinct + people.crowds.find(codes)
    return Recognition(people.rows.count, fitting[here], left[release[here]])


def _released(people: People, solutions: Sequence[Chosen]) -> Ints:
    """The number of the release of every wish and row, equal where the texts are equal."""
    texts, cards = [], []
    for column, hierarchy in enumerate(people.hierarchies.values()):
        labels, text_at = hierarchy.texts()
        levels = np.concatenate([solution.levels[:, column] for solution in solutions])
        leaves = np.tile(people.crowds.everyone.codes[column], len(solutions))
        texts.append(text_at[levels.astype(np.intp), leaves])
        cards.append(len(labels))
    return ranks(texts, cards)


def _sizes(people: People, levels: npt.NDArray[np.uint8]) -> Ints:
    """The crowd of everyone's row, each at levels of its own."""
    nodes, node_of = np.unique(levels, axis=0, return_inverse=True)
    sizes = np.zeros(len(levels), dtype=np.int64)
    for number, node in enumerate(nodes.tolist()):
        here = node_of.ravel() == number
        sizes[here] = people.crowds.sizes(tuple(node))[here]
    return sizes
