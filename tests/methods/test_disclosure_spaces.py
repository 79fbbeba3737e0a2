"""Disclosure functions of small spaces: the tables of chapter 4, and the algorithms corrected."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from shoal.errors import (
    InfeasibleError,
    ParameterError,
    TooLargeError,
)
from shoal.methods.disclosure import (
    Predicate,
    Space,
    backward,
    disclosed,
    forward,
    forward_once,
    is_better,
    is_optimal,
    is_safe,
    optima,
    traditional,
)
from tests.assignments import diverse

# The tables of the paper

ZIPS = ("22030", "22031", "22040", "23000", "24000")
PLACES = Space(
    ZIPS,
    tuple(
        tuple(
            frozenset(z for z in ZIPS if z[:digits] == start)
            for start in sorted({z[:digits] for z in ZIPS})
        )
        for digits in range(5, -1, -1)
    ),
)
TWO = Predicate.at_least(2)


def test_tables_4_2_to_4_4_are_those_of_the_paper() -> None:
    assert PLACES.nested
    first, second, third = traditional(PLACES, TWO), backward(PLACES, TWO), forward(PLACES, TWO)
    assert tuple(first.values()) == (2, 2, 3, 5, 5)
    assert tuple(second.values()) == (3, 3, 3, 5, 5)
    assert tuple(third.values()) == (2, 2, 5, 5, 5)
    assert disclosed(PLACES, first)["22040"] == {"22040"}
    assert not is_safe(PLACES, first, TWO)
    for function in (second, third):
        assert is_safe(PLACES, function, TWO)
        assert is_optimal(PLACES, function, TWO)
        assert function in optima(PLACES, TWO)
    assert not is_optimal(PLACES, dict.fromkeys(ZIPS, 6), TWO)
    assert is_better(second, dict.fromkeys(ZIPS, 6))
    assert not is_better(second, third)
    assert not is_better(third, second)


def test_table_4_1_releases_c_and_reveals_that_clark_and_diana_have_cancer() -> None:
    conditions = ("heart", "virus", "cancer", "cancer", "flu", "ulcer")
    by_both, by_age, by_sex = (
        [[0, 1], [2], [3], [4, 5]],
        [[0, 1], [2, 3], [4, 5]],
        [[0, 1, 2], [3, 4, 5]],
    )
    space = Space.of_groups(conditions, by_both, by_age, by_sex, [range(6)])
    shown = traditional(space, Predicate.everybody(diverse(2)))
    assert shown[conditions] == 3
    possible = disclosed(space, shown)[conditions]
    assert len(possible) == 4
    assert {(way[2], way[3]) for way in possible} == {("cancer", "cancer")}


# Spaces


def partitions(states: Sequence[int]) -> Iterator[list[list[int]]]:
    if not states:
        yield []
        return
    for rest in partitions(states[1:]):
        yield [[states[0]], *rest]
        for i, piece in enumerate(rest):
            yield [*rest[:i], [states[0], *piece], *rest[i + 1 :]]


def spaces(seed: int, number: int, most: int) -> Iterator[tuple[random.Random, Space]]:
    """Random spaces; about half of them are nested."""
    draw = random.Random(seed)
    every = {n: list(partitions(range(n))) for n in range(2, most + 1)}
    for _ in range(number):
        n = draw.randint(2, most)
        if draw.random() < 0.5:
            schemas = draw.choices(every[n], k=draw.randint(1, 3))
        else:
            pieces, schemas = draw.choice(every[n]), []
            for _ in range(draw.randint(1, 3)):
                schemas.append(pieces)
                merged = draw.choice(every[len(pieces)]) if len(pieces) > 1 else [[0]]
                pieces = [[state for i in some for state in pieces[i]] for some in merged]
        yield draw, Space(tuple(range(n)), (*schemas, [range(n)]))  # type: ignore[arg-type]


def monotone(draw: random.Random, n: int) -> Predicate:
    """Any monotone predicate: what contains one of some sets, or weighs enough."""
    if draw.random() < 0.5:
        least = [
            frozenset(draw.sample(range(n), draw.randint(1, n))) for _ in range(draw.randint(1, 3))
        ]
        return Predicate(
            lambda some: any(one <= some for one in least), monotone=True
        ).with_every_split()
    weights = [draw.randint(1, 4) for _ in range(n)]
    enough = draw.randint(1, sum(weights))
    return Predicate(
        lambda some: sum(weights[state] for state in some) >= enough, monotone=True
    ).with_every_split()


@pytest.mark.parametrize(
    ("number", "most"), [(1000, 4), pytest.param(2000, 5, marks=pytest.mark.slow)]
)
def test_the_corrected_algorithms_are_safe_and_optimal_on_many_spaces(
    number: int, most: int
) -> None:
    seen: Counter[str] = Counter()
    for draw, space in spaces(1, number, most):
        n = len(space.states)
        counting = Predicate.at_least(draw.randint(1, n))
        for predicate in (counting, monotone(draw, n)):
            assert n > 3 or predicate.refuted(space) == []
            function = forward(space, predicate)
            assert is_safe(space, function, predicate)
            assert predicate is not counting or is_optimal(space, function, predicate)
            if space.nested:
                function = backward(space, predicate)
                assert is_optimal(space, function, predicate)
                seen["backward"] += 1
            once = replace(predicate, last=True)
            if not replace(once, split=None, monotone=False).refuted(space):
                function = forward_once(space, once)
                assert is_optimal(space, function, once)
                seen["once"] += 1
            seen["forward"] += 1
    assert seen["forward"] == 2 * number
    assert seen["backward"] > number
    assert seen["once"] > number // 5


def printed_backward(space: Space, predicate: Predicate) -> dict[Any, int]:
    """Algorithm 4.2 as it is printed: what is left is split as a whole, whatever its disclosure
    sets.
    """
    assert predicate.split is not None
    function = dict.fromkeys(space.states, len(space.schemas))
    done: frozenset[Any] = frozenset()
    for number in reversed(range(1, len(space.schemas))):
        rest = frozenset(space.states) - done
        for piece in space.schemas[number - 1]:
            part = predicate.split(rest, piece) if rest else rest
            function.update(dict.fromkeys(part, number))
            rest -= part
        done |= rest
    return function


def test_algorithm_4_2_as_printed_leaves_a_state_alone() -> None:
    schemas: Any = ([[0, 2], [3], [1, 4]], [[0, 2, 3], [1, 4]], [range(5)])
    space = Space(tuple(range(5)), schemas)
    printed = printed_backward(space, TWO)
    assert not is_safe(space, printed, TWO)
    assert disclosed(space, printed)[3] == {3}
    assert backward(space, TWO) == {0: 2, 1: 1, 2: 2, 3: 2, 4: 1}
    caught = [
        space
        for _, space in spaces(2, 600, 5)
        if space.nested and not is_safe(space, printed_backward(space, TWO), TWO)
    ]
    assert caught


def test_going_forward_need_not_be_optimal_where_states_weigh_differently() -> None:
    """The weights 1, 2, 2, 2, 3 with at least 5: some way to lay out the schemas shows it, and
    counting states never does.
    """
    weights = (1, 2, 2, 2, 3)
    heavy = Predicate(
        lambda some: sum(weights[state] for state in some) >= 5, monotone=True
    ).with_every_split()
    every = list(partitions(range(5)))
    worse = [
        space
        for one, other in combinations(every[::3], 2)
        for space in [Space(range(5), (one, other, [range(5)]))]  # type: ignore[arg-type]
        if not is_optimal(space, forward(space, heavy), heavy)
    ]
    assert worse
    assert all(is_safe(space, forward(space, heavy), heavy) for space in worse)
    assert all(is_optimal(space, forward(space, TWO), TWO) for space in worse)


def test_going_forward_once_needs_that_the_predicate_is_safe_at_last() -> None:
    """Figure 4.5: what is left at the end is one state, and that nothing is shown tells which."""
    space = Space(range(4), ([[0], [1, 2, 3]], [range(4)]))  # type: ignore[arg-type]
    once = forward_once(space, replace(TWO, last=True))  # which is not so
    assert not is_safe(space, once, TWO)
    assert replace(TWO, last=True).refuted(space) == [
        "last: the states that only the last schema could hide are not safe together"
    ]
    assert is_optimal(space, forward(space, TWO), TWO)
    alone = Space(range(4), ([[0], [1], [2, 3]], [range(4)]))  # type: ignore[arg-type]
    assert replace(TWO, last=True).refuted(alone) == []
    assert forward_once(alone, replace(TWO, last=True)) == {0: 2, 1: 2, 2: 1, 3: 1}


def test_a_wrong_declaration_is_refuted() -> None:
    space = Space(range(4), ([[0, 1], [2, 3]], [range(4)]))  # type: ignore[arg-type]
    thirds = Predicate(
        lambda some: bool(some) and sum(some) % 3 == 0, monotone=True
    ).with_every_split()
    assert thirds.refuted(space) == ["monotone: a safe set lies in one that is not safe"]
    for wrong in (
        lambda given, within: given & within,  # the rest may be unsafe
        lambda given, within: frozenset(),  # there are some
        lambda given, within: (
            frozenset(sorted(given & within)[:2])
            if len(given) >= 4 and len(given & within) > 1
            else frozenset()
        ),
    ):
        assert replace(TWO, split=wrong).refuted(space) == [
            "split: a part is not safe, leaves a rest that is not, or is not the largest"
        ]
    assert TWO.refuted(space) == []
    entropy = replace(Predicate.everybody(diverse(2)), monotone=True)
    assert entropy.refuted(Space.of_groups("aabb", [[0, 1], [2, 3]])) == [
        "monotone: a safe set lies in one that is not safe"
    ]


def test_algorithms_refuse_what_does_not_declare_what_they_need() -> None:
    space = Space(range(4), ([[0, 1], [2, 3]], [range(4)]))  # type: ignore[arg-type]
    for algorithm, lacking in (
        (backward, {"monotone": False}),
        (backward, {"split": None}),
        (forward, {"monotone": False}),
        (forward, {"split": None}),
        (forward_once, {"last": False}),
        (forward_once, {"monotone": False, "last": True}),
    ):
        with pytest.raises(ParameterError, match="does not declare"):
            algorithm(space, replace(TWO, **lacking))
    for algorithm in (backward, forward):
        with pytest.raises(InfeasibleError, match="all states together are not safe"):
            algorithm(space, Predicate.at_least(5))
    schemas: Any = ([[0, 1], [2, 3]], [[0, 2], [1, 3]], [range(4)])
    crossed = Space(tuple(range(4)), schemas)
    with pytest.raises(ParameterError, match="not nested"):
        backward(crossed, TWO)
    assert is_optimal(crossed, forward(crossed, TWO), TWO)


def test_spaces_that_are_invalid_or_too_large_are_refused() -> None:
    for states, schemas in (
        (range(0), ()),
        ("aa", (["a"],)),
        ("ab", (["a"], ["ab"])),
        ("ab", (["a", "b"],)),
        ("ab", ()),
    ):
        with pytest.raises(ParameterError):
            Space(states, schemas)  # type: ignore[arg-type]
    many = Space(range(30), ([[i] for i in range(30)], [range(30)]))  # type: ignore[arg-type]
    for ask in (
        lambda: TWO.refuted(many),
        lambda: optima(many, TWO),
        lambda: is_optimal(many, dict.fromkeys(range(30), 2), TWO),
    ):
        with pytest.raises(TooLargeError):
            ask()
