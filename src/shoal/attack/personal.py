"""The attack on personal generalisation by someone with a register who knows the algorithm.

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
from shoal.methods.method import silent
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
    known = method
    if method.choice not in register.names:
        # Nobody's wish is known then, but all that are possible are tried.
        known = replace(method, choice=None, wishes={})
    people = People.of(known, register)
    everyone = people.crowds.everyone
    _, wishes = method.sums(people.hierarchies)
    rows = np.arange(everyone.distinct)
    wanted = []
    for sensitivity, share in wishes.values():
        wanted.append(Wanted.of(sensitivity, people.utility, share, rows))
    solutions = replace(people, wanted=wanted).solve(chance or Chance(), silent)

    # A person counts once, whichever wishes lead to the same release.
    release = _released(people, solutions)
    row_of = np.tile(rows, len(solutions))
    pairs = np.stack([release, row_of])
    released, rows_released = np.unique(pairs, axis=1)
    releases = int(release.max(initial=-1)) + 1
    count = everyone.count[rows_released]
    left = np.bincount(released, count, releases).astype(np.int64)

    crowds = [_sizes(people, solution.levels) for solution in solutions]
    fitting = np.concatenate(crowds)
    codes = [people.rows.column(name) for name in people.hierarchies]
    # Wishes come one after the other, each with all rows.
    here = people.want * everyone.distinct + people.crowds.find(codes)
    return Recognition(people.rows.count, fitting[here], left[release[here]])


def _released(people: People, solutions: Sequence[Chosen]) -> Ints:
    """The number of the release of every wish and row, equal where the texts are equal."""
    texts = []
    cards = []
    all_levels = np.concatenate([solution.levels for solution in solutions])
    for column, hierarchy in enumerate(people.hierarchies.values()):
        labels, text_at = hierarchy.texts()
        levels = all_levels[:, column].astype(np.intp)
        leaves = np.tile(people.crowds.everyone.codes[column], len(solutions))
        texts.append(text_at[levels, leaves])
        cards.append(len(labels))
    return ranks(texts, cards)


def _sizes(people: People, levels: npt.NDArray[np.uint8]) -> Ints:
    """The crowd of every row at its levels."""
    nodes, node_of = np.unique(levels, axis=0, return_inverse=True)
    node_of = node_of.ravel()
    sizes = np.zeros(len(levels), dtype=np.int64)
    for number, node in enumerate(nodes.tolist()):
        here = node_of == number
        sizes_at_node = people.crowds.sizes(tuple(node))
        sizes[here] = sizes_at_node[here]
    return sizes
