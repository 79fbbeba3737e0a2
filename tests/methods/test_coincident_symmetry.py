"""The checker of group sequences against all permutations, and against an adversary who weighs all
assignments of values.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise, permutations
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ParameterError, TooLargeError
from shoal.methods.coincident import symmetry
from shoal.methods.coincident.symmetry import Partition, Symmetry, coincident
from tests.assignments import Assignments, Bag, Predicate

Groups = list[list[int]]

AGAINST_THEOREM_15: list[Groups] = [
    [[2, 4], [0, 1], [3, 5]],
    [[3, 4], [0, 1], [2, 5]],
    [[1, 2, 3], [0, 4, 5]],
]
TABLE_5_2: list[Groups] = [[[0, 1], [2, 3], [4, 5]], [[0, 1, 2], [3, 4, 5]], [[0, 1, 2, 3], [4, 5]]]
CONDITIONS: Bag = (0, 1, 2, 2, 3, 4)  # of Alice, Brenda, Clare, Diana, Ellen and Fen


def runs(people: int, size: int) -> Groups:
    return [list(range(start, start + size)) for start in range(0, people, size)]


def trees(leaves: int, size: int, depth: int) -> list[Groups]:
    """Leaves, then pairs of them, and so on, as `schemes` merges them."""
    return [runs(leaves * size, size << level) for level in range(depth + 1)]


def interleaved(blocks: int, half: int, depth: int) -> list[Groups]:
    """Leaves of two halves, one half of each of three leaves, all three leaves, then trees of
    these.
    """
    people = 6 * half * blocks
    mixed = [
        [start + 2 * half * leaf + half * side + k for leaf in range(3) for k in range(half)]
        for start in range(0, people, 6 * half)
        for side in (0, 1)
    ]
    return [runs(people, 2 * half), mixed, *trees(blocks, 6 * half, depth)]


# An adversary: all assignments of a bag of values to people are equally likely to him


class Adversary(Assignments):
    """What he believes of everybody when the first safe grouping of a sequence is released."""

    def disclosed(
        self, sequence: Sequence[Groups], predicate: Predicate
    ) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """For every release there can be, its place in the sequence and the places of the worlds
        that lead to it.
        """
        left = np.ones(len(self.worlds), dtype=np.bool_)
        for place, grouping in enumerate(sequence):
            chosen = left & np.all(
                [self.safe(frozenset(group), predicate) for group in grouping], axis=0
            )
            left &= ~chosen
            yield from ((place, worlds) for worlds in self.alike(grouping, np.flatnonzero(chosen)))

    def learns(self, sequence: Sequence[Groups], predicate: Predicate) -> bool:
        """Whether he ever believes more of someone than how often values occur in the released
        group.
        """
        for place, worlds in self.disclosed(sequence, predicate):
            often = self.has[worlds].sum(axis=0)  # of so many worlds, exactly
            for group in sequence[place]:
                if (
                    often[group] != often[group[:1]]
                ).any():  # if all are alike, each is what the group shows (Lemma 3)
                    return True
        return False


adversary = cache(Adversary)


def distinct(p: int) -> Predicate:
    return lambda counts: sum(c > 0 for c in counts) >= p


def at_most_half(counts: Bag) -> bool:
    return 2 * max(counts) <= sum(counts)


def made_up(seed: int) -> Predicate:
    """A predicate without rhyme or reason: every bag is safe or not by lot, and large ones more
    often.
    """
    return lambda counts: Random(f"{seed} {counts}").random() < 0.25 + 0.1 * sum(counts)


PREDICATES: list[Predicate] = [
    distinct(2),
    distinct(3),
    at_most_half,
    made_up(1),
    made_up(2),
    made_up(3),
]
BAGS: dict[int, list[Bag]] = {
    4: [(0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 2), (0, 1, 2, 3)],
    5: [(0, 0, 0, 1, 1), (0, 0, 1, 1, 2), (0, 0, 1, 2, 3)],
    6: [
        (0, 0, 0, 0, 1, 1),
        (0, 0, 0, 1, 1, 1),
        (0, 0, 1, 1, 2, 2),
        (0, 0, 0, 1, 1, 2),
        (0, 0, 1, 1, 2, 3),
    ],
}


def learnt(sequence: Sequence[Groups]) -> bool:
    """Whether some adversary learns something."""
    people = sum(len(group) for group in sequence[0])
    return any(
        adversary(bag).learns(sequence, predicate)
        for bag in BAGS[people]
        for predicate in PREDICATES
    )


def drawn(random: Random) -> list[Groups]:
    """A sequence of groupings of few people.

    Groups of one size more often than not, as others hardly ever pass.
    """
    people = random.choice([4, 5, 6, 6])
    sequence = []
    for _ in range(random.choice([2, 2, 3, 4])):
        order = random.sample(range(people), people)
        size = random.choice([size for size in (2, 2, 3, people) if people % size == 0] or [people])
        if random.random() < 0.2:
            cuts = sorted({0, people, *random.sample(range(1, people), random.choice([1, 2]))})
        else:
            cuts = list(range(0, people + 1, size))
        sequence.append([order[start:end] for start, end in pairwise(cuts)])
    return sequence


def by_all_permutations(sequence: Sequence[Groups]) -> bool:
    """The condition, word for word."""
    people = sum(len(group) for group in sequence[0])
    for place, grouping in enumerate(sequence):
        earlier = [{frozenset(group) for group in groups} for groups in sequence[:place]]
        reached = {(person, person) for person in range(people)}
        for image in permutations(range(people)):
            if all({image[p] for p in group} == set(group) for group in grouping) and all(
                {frozenset(image[p] for p in group) for group in groups} == groups
                for groups in earlier
            ):
                reached |= set(enumerate(image))
        if any(
            (one, other) not in reached for group in grouping for one in group for other in group
        ):
            return False
    return True


# What passes


@pytest.mark.parametrize(
    "sequence",
    [
        *(
            trees(leaves, size, depth)
            for leaves, size, depth in [
                (1, 3, 0),
                (2, 3, 1),
                (8, 3, 3),
                (8, 2, 1),
                (6, 2, 1),
                (16, 2, 4),
            ]
        ),
        *(
            interleaved(blocks, half, depth)
            for blocks, half, depth in [(1, 1, 0), (1, 3, 0), (2, 1, 1), (4, 1, 2), (4, 2, 1)]
        ),
        [TABLE_5_2[0], TABLE_5_2[2]],
    ],
)
def test_the_shipped_trees_forests_and_interleaved_blocks_pass(sequence: list[Groups]) -> None:
    assert coincident(sequence)


@pytest.mark.parametrize("whole", [trees(8, 2, 3), interleaved(4, 1, 2)])
def test_what_a_group_of_any_level_went_through_passes_too(whole: list[Groups]) -> None:
    for level, grouping in enumerate(whole):
        for group in grouping:
            inside = [
                [sorted({*part} & {*group}) for part in parts] for parts in whole[: level + 1]
            ]
            assert coincident([[part for part in parts if part] for parts in inside])


def test_anything_may_be_first() -> None:
    assert coincident([[[0], [1, 2], [3, 4, 5]]])
    assert coincident([])


def test_names_of_people_may_be_anything() -> None:
    assert coincident([[("Ann",), ("Bob",)], [("Ann", "Bob")]])
    assert coincident([[("Ann",), ("Bob", "Cay")], [("Ann", "Bob", "Cay")]]) == Symmetry(
        1, ("Ann", "Bob")
    )


# What does not


def test_the_counterexample_to_theorem_15_does_not_pass_and_leaks() -> None:
    verdict = coincident(AGAINST_THEOREM_15)
    assert verdict == Symmetry(2, (1, 2))
    assert (
        str(verdict)
        == "not shown to be coincident: in sequence[2] no permutation that keeps all groups "
        "takes 1 to 2"
    )
    knows = adversary((0, 0, 1, 1, 2, 2))
    assert knows.learns(AGAINST_THEOREM_15, distinct(2))
    left = [
        knows.worlds[worlds].tolist()
        for place, worlds in knows.disclosed(AGAINST_THEOREM_15, distinct(2))
        if place == 2
    ]
    assert [[0, 0, 1, 1, 2, 2]] in left  # everybody's value is certain


def test_definition_23_asks_of_one_grouping_at_a_time_which_is_not_enough() -> None:
    *earlier, last = AGAINST_THEOREM_15
    assert coincident(earlier)
    assert all(coincident([one, last]) for one in earlier)
    assert not coincident([*earlier, last])


def test_asking_of_the_last_grouping_only_is_not_enough() -> None:
    """As in figure 5.4(B): neighbours in the sequence fit, and lower groups break."""
    sequence = [
        [[0, 1], [2, 4], [3, 5], [6, 7]],
        [[0, 1], [2, 3], [4, 5], [6, 7]],
        [[0, 1, 2, 3], [4, 5, 6, 7]],
    ]
    assert all(coincident(list(two)) for two in pairwise(sequence))
    assert coincident(sequence) == Symmetry(2, (0, 2))
    assert adversary((0, 0, 0, 0, 1, 1, 1, 1)).learns(sequence, distinct(2))


@pytest.mark.parametrize(
    "leaves", [[[0], [1, 2]], [[0, 1], [2, 3, 4]], [[0, 1], [2, 3], [4, 5, 6]]]
)
def test_leaves_of_unequal_size_do_not_pass(leaves: Groups) -> None:
    assert coincident([leaves, [[person for leaf in leaves for person in leaf]]]).place == 1


def test_halves_of_other_leaves_than_three_do_not_pass() -> None:
    leaves, _, *above = interleaved(1, 1, 0)
    assert coincident([leaves, [[0, 1, 2], [3, 4, 5]], *above]).place == 1


def test_the_disclosure_sets_of_table_5_3_are_four_and_eight() -> None:
    """Table 5.2's first grouping is not released, as Clare and Diana have the same."""
    first, second, third = TABLE_5_2
    knows = adversary(CONDITIONS)
    own = knows.worlds.tolist().index(list(CONDITIONS))

    def disclosed(sequence: list[Groups]) -> tuple[int, int]:
        for place, worlds in knows.disclosed(sequence, distinct(2)):
            if own in worlds:
                return place, len(worlds)
        raise AssertionError("released nothing")

    assert disclosed([first, second]) == (1, 4)
    assert disclosed([first, third]) == (1, 8)
    assert knows.learns([first, second], distinct(2))
    assert not knows.learns([first, third], distinct(2))
    assert coincident([first, second]) == Symmetry(1, (0, 2))
    assert coincident([first, third])


# How good the checker is


@given(st.integers(0, 1 << 40))
def test_the_checker_agrees_with_trying_all_permutations(seed: int) -> None:
    sequence = drawn(Random(seed))
    assert bool(coincident(sequence)) == by_all_permutations(sequence)


@pytest.mark.parametrize("number", [600, pytest.param(5000, marks=pytest.mark.slow)])
def test_where_it_says_yes_nobody_learns_anything(number: int) -> None:
    random = Random(7)
    yes = no = harmless = 0
    for _ in range(number):
        sequence = drawn(random)
        if coincident(sequence):
            yes += 1
            assert not learnt(sequence), sequence
        else:
            no += 1
            harmless += not learnt(sequence)
    print(f"{yes} pass; of {no} that do not, {harmless} leak nothing for what was tried")
    assert yes > number // 10
    assert harmless < no // 3  # sufficient, not necessary; but seldom in vain


def test_a_checker_of_one_grouping_at_a_time_would_be_caught() -> None:
    """Definition 23 is what a broken twin would check."""
    random = Random(7)

    def twin(sequence: list[Groups]) -> bool:
        return all(
            coincident([one, other])
            for place, other in enumerate(sequence)
            for one in sequence[:place]
        )

    assert any(
        twin(sequence) and not coincident(sequence) and learnt(sequence)
        for sequence in (drawn(random) for _ in range(5000))
    )


# What is refused


@pytest.mark.parametrize(
    ("sequence", "said"),
    [
        ([[[0, 1]], [[0], [1], []]], r"sequence\[1\] has a group without anyone"),
        ([[[0, 1]], [[0, 2]]], r"sequence\[1\] does not have everyone of sequence\[0\]"),
        ([[[0, 1]], [[0]]], r"sequence\[1\] does not have everyone of sequence\[0\]"),
        (
            [[[0, 1], [1]]],
            r"sequence\[0\] does not have everyone of sequence\[0\] in exactly one group",
        ),
        ([[[0, 1]], [[0, 1], [1]]], r"sequence\[1\] does not have everyone"),
    ],
)
def test_groupings_of_different_people_are_refused(sequence: list[Partition], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        coincident(sequence)


def test_more_people_than_can_be_searched_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLargeError, match="65 people, more than 64"):
        coincident([runs(65, 5)])
    monkeypatch.setattr(symmetry, "_MOST_STEPS", 10)
    with pytest.raises(TooLargeError, match="no answer within 10 steps"):
        coincident(trees(8, 2, 3))
