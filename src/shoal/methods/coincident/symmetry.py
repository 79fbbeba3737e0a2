"""Is a sequence of groupings safe to choose from? A checker for new schemes; it sees no data.

Someone tries the groupings of a sequence in turn and releases the first whose groups are all safe.
Who knows the sequence learns nothing from the choice if people of a group can stand for each other:
if a permutation of people takes one to the other, keeps every released group, and takes groups of
every earlier grouping to groups of that grouping, of all of them *at once*
(docs/proofs/coincident.md). Found by backtracking with colour refinement, so the answer is exact.
Uses `errors`.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shoal.arguments import typed
from shoal.errors import ParameterError, TooLargeError, plural

__all__ = ["Partition", "Symmetry", "coincident"]

Partition: TypeAlias = Sequence[Collection[Hashable]]
"""People in groups: everyone is in one."""

MOST_PEOPLE = 64
"""How many people a sequence may have; a scheme repeats itself long before."""

_MOST_STEPS = 20_000
"""Refinements, for one grouping, before the search gives up.

The shipped schemes of 64 people need up to 7,200.
"""

_Colours: TypeAlias = list[int]
_Groups: TypeAlias = list[list[list[int]]]  # of every grouping


@dataclass(frozen=True)
class Symmetry:
    """Whether people of a group can always stand for each other, and if not, where two cannot.

    place: of the grouping in the sequence; None if all is well
    people: two people of one of its groups whom no permutation takes to each other
    """

    place: int | None = None
    people: tuple[Hashable, Hashable] | None = None

    def __bool__(self) -> bool:
        return self.place is None

    def __str__(self) -> str:
        if self.people is None:
            return "coincident: people of one group can always stand for each other"
        one, other = self.people
        return (
            f"not shown to be coincident: in sequence[{self.place}] no permutation that keeps all "
            f"groups takes {one} to {other}"
        )


@typed
def coincident(sequence: Sequence[Partition]) -> Symmetry:
    """Whether releasing the first safe grouping of a sequence reveals only what its groups show.

    Yes is a proof, for every predicate on the values of a group and all values; no is none: the
    condition is sufficient.

    >>> pairs, four = [[0, 1], [2, 3], [4, 5]], [[0, 1, 2, 3], [4, 5]]
    >>> three = [[0, 1, 2], [3, 4, 5]]
    >>> print(coincident([pairs, four]))
    coincident: people of one group can always stand for each other
    >>> print(coincident([pairs, three]))
    not shown to be coincident: in sequence[1] no permutation that keeps all groups takes 0 to 2
    """
    people = _people(sequence)
    number = {person: at for at, person in enumerate(people)}
    groupings = [
        [[number[person] for person in group] for group in grouping] for grouping in sequence
    ]
    for place, grouping in enumerate(groupings):
        search = _Permutations(groupings[:place], grouping, len(people))
        for group in grouping:
            for other in group[1:]:
                if not search.swaps(group[0], other):
                    return Symmetry(place, (people[group[0]], people[other]))
    return Symmetry()


def _people(sequence: Sequence[Partition]) -> list[Hashable]:
    """All people, each once; ParameterError where a grouping has others, or has someone twice."""
    people = [person for group in sequence[0] for person in group] if sequence else []
    if len(people) > MOST_PEOPLE:
        raise TooLargeError(
            f"the sequence has {len(people):,} people, more than {MOST_PEOPLE}",
            "check a smaller case of the scheme",
        )
    for place, grouping in enumerate(sequence):
        if not all(grouping):
            raise ParameterError(f"sequence[{place}] has a group without anyone", "leave it out")
        if Counter(person for group in grouping for person in group) != Counter(set(people)):
            raise ParameterError(
                f"sequence[{place}] does not have everyone of sequence[0] in exactly one group",
                "put each into one group, and nobody else",
            )
    return people


class _Permutations:
    """The permutations that keep the groups of one grouping and permute those of earlier ones."""

    def __init__(self, earlier: _Groups, kept: list[list[int]], people: int) -> None:
        self.groups = earlier
        self.colours = [0] * people
        self.orbit = list(range(people))  # a person of the same orbit, the orbit's own at last
        self.steps = 0
        for colour, group in enumerate(kept):
            for person in group:
                self.colours[person] = colour

    def swaps(self, one: int, other: int) -> bool:
        """Whether a permutation takes one person to the other.

        All that it takes to each other is remembered.
        """
        if self._root(one) == self._root(other):
            return True
        found = self._extended(*self._marked(self.colours, one, self.colours, other))
        for person, image in enumerate(found or ()):
            self.orbit[self._root(person)] = self._root(image)
        return found is not None

    def _root(self, person: int) -> int:
        while self.orbit[person] != person:
            person = self.orbit[person]
        return person

    def _marked(
        self, left: _Colours, one: int, right: _Colours, other: int
    ) -> tuple[_Colours, _Colours]:
        """Both colourings with a colour of their own for two people."""
        marked_left = left.copy()
        marked_right = right.copy()
        marked_left[one] = marked_right[other] = len(left)
        return marked_left, marked_right

    def _extended(self, left: _Colours, right: _Colours) -> list[int] | None:
        """A permutation that takes every colour on the left to the same on the right, if any."""
        refined = self._refined(left, right)
        if refined is None:
            return None
        left, right = refined
        sizes = Counter(left)
        open_ = [person for person, colour in enumerate(left) if sizes[colour] > 1]
        if not open_:  # refined, so a group's colours are those of a group
            image = {colour: person for person, colour in enumerate(right)}
            return [image[colour] for colour in left]
        one = min(open_, key=lambda person: sizes[left[person]])
        for other, colour in enumerate(right):
            if colour == left[one]:
                found = self._extended(*self._marked(left, one, right, other))
                if found is not None:
                    return found
        return None

    def _refined(self, left: _Colours, right: _Colours) -> tuple[_Colours, _Colours] | None:
        """Colours told apart by the colours in people's groups, until none are.

        None if both sides differ by that.
        """
        number = 0
        while True:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise TooLargeError(
                    f"no answer within {plural(_MOST_STEPS, 'step')}",
                    "check a smaller case of the scheme",
                )
            seen = self._neighbours(left), self._neighbours(right)
            if Counter(seen[0]) != Counter(seen[1]):
                return None
            names = {colour: name for name, colour in enumerate(sorted(set(seen[0])))}
            left = [names[colour] for colour in seen[0]]
            right = [names[colour] for colour in seen[1]]
            if len(names) == number:
                return left, right
            number = len(names)

    def _neighbours(self, colours: _Colours) -> list[tuple[int, ...]]:
        """For everyone the own colour, and those of their group in every grouping."""
        seen: list[tuple[int, ...]] = [(colour,) for colour in colours]
        for grouping in self.groups:
            for group in grouping:
                within = (-1, *sorted(colours[person] for person in group))
                for person in group:
                    seen[person] += within
        return seen
