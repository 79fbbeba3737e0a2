"""Connected components, compared with a search that walks from thing to thing."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.data.components import representatives

GROUPS = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=8)


def walked(start: int, groups: list[list[int]]) -> set[int]:
    """Everything that can be reached from a thing by way of groups."""
    reached, waiting = {start}, [start]
    while waiting:
        thing = waiting.pop()
        for group in groups:
            if thing in group:
                waiting += set(group) - reached
                reached |= set(group)
    return reached


@given(GROUPS)
def test_the_representative_is_the_smallest_thing_that_can_be_reached(
    groups: list[list[int]],
) -> None:
    expected = {thing: min(walked(thing, groups)) for thing in range(10)}
    assert representatives(range(10), groups) == expected


def test_without_groups_everything_stands_alone() -> None:
    assert representatives([3, 5], []) == {3: 3, 5: 5}
    assert representatives([], []) == {}


def test_a_long_chain_is_one_component() -> None:
    pairs = [(at, at + 1) for at in range(10_000)]
    assert set(representatives(range(10_001), pairs).values()) == {0}
    assert set(representatives(range(10_001), reversed(pairs)).values()) == {0}
