"""Someone who has the register and runs personal generalisation for everybody in it."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from shoal.attack import recognised
from shoal.methods.personal import People, Personal
from tests.methods.test_personal import some_people


@pytest.mark.parametrize("seed", range(3))
def test_those_are_left_who_would_have_got_the_same_release(seed: int) -> None:
    register = some_people(seed, 12)
    method = Personal(Fraction(1, 2))
    found = recognised(method, register)
    release = method.release(register).table
    quasi = list(register.quasi)
    shown = Counter(release.select(quasi).rows())
    # Everybody's release, counted by how many people share it.
    assert sorted(np.repeat(found.left, found.people).tolist()) == sorted(
        shown[row] for row in release.select(quasi).rows()
    )
    assert (found.left <= found.fitting).all()
    assert found.people.sum() == register.rows


def test_crowds_are_summed_up_by_the_people_in_them() -> None:
    register = some_people(1, 12)
    found = recognised(Personal(1), register)
    rows = People.of(Personal(1), register).rows
    assert np.array_equal(found.people, rows.count)
    assert found.mean(found.people) == pytest.approx(rows.distinct / rows.total)
    alone = rows.count[rows.count == 1].sum() / rows.total
    assert found.alone(found.people) == pytest.approx(alone)
