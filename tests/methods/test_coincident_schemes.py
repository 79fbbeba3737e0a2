"""Which groups merge until all are safe. Their law: test_coincident_truth."""

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.chance import Seeded
from shoal.errors import InfeasibleError
from shoal.methods.coincident.schemes import (
    LEFT_OUT,
    SCHEMES,
    Scheme,
    best_depth,
    merged,
    shaped,
)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.sampled_from(SCHEMES))
def test_groups_are_whole_leaves_or_interleaved_halves_and_all_safe(
    seed: int, scheme: Scheme
) -> None:
    draw = np.random.default_rng(seed)
    leaves, values = int(draw.integers(1, 40)), int(draw.integers(2, 5))
    bag = draw.integers(0, values, (2 * leaves, 2))

    def safe(numbers: Any, groups: int) -> Any:
        return np.array(
            [len(set(bag[numbers == group].ravel().tolist())) >= 2 for group in range(groups)],
            dtype=np.bool_,
        )

    depth = int(draw.integers(0, 4))
    if len(set(bag.ravel().tolist())) < 2:
        with pytest.raises(InfeasibleError):
            merged(leaves, safe, scheme, depth, Seeded(seed))
        return
    groups = merged(leaves, safe, scheme, depth, Seeded(seed))
    assert safe(groups, int(groups.max()) + 1).all()
    sizes = set(np.bincount(groups[groups != LEFT_OUT]).tolist())
    block = 6 if scheme == "interleaved" else 2
    tree, siblings = shaped(leaves, scheme, depth)
    allowed = {2, 2 * leaves, *(block * prod(siblings[:at]) for at in range(len(siblings) + 1))}
    allowed |= {3} if block == 6 else set()
    allowed |= {2 << level for level in range(9)} if scheme in ("UU", "UA") else set()
    assert sizes <= allowed
    assert (groups == LEFT_OUT).sum() in (0, 2 * (leaves - tree))


def test_a_tree_halves_first_then_takes_small_primes_and_leaves_few_over() -> None:
    assert shaped(1885, "forest", 8) == (1792, [2] * 8 + [7])
    assert shaped(1885, "forest", 4) == (1872, [2] * 4 + [3, 3, 13])
    assert shaped(1885, "interleaved", 2) == (1872, [2] * 2 + [2, 2, 3, 13])
    assert [shaped(leaves, "forest", 3)[0] for leaves in range(6)] == [0, 1, 2, 2, 4, 4]
    for leaves in (1, 2, 3, 7, 87, 100, 1885, 10_007, 1_000_003):
        tree, siblings = shaped(leaves, "forest", best_depth(leaves, "forest"))
        assert prod(siblings) == tree
        assert leaves - tree <= max(leaves / 20, 1)
        assert max(siblings, default=2) <= 13
