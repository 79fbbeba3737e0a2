"""All inputs are tried, along all paths of the coins: coincident generalisation reveals what it
shows and no more, and its broken twins are caught.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.attack import Effort, expose
from shoal.attack.coins import Enumerated
from shoal.attack.enumeration import enumerated
from shoal.attack.knowledge import Knowledge
from shoal.chance import Seeded
from shoal.data.tables import Table
from shoal.errors import ParameterError, TooLargeError
from shoal.methods.coincident import Coincident
from shoal.privacy.models import DistinctDiversity
from tests.attack.people import HALF, TREES, known, of_everyone, owned

SIX = [(0, 0), (1, 1), (2, 3), (3, 0), (4, 2), (5, 3)]


@pytest.mark.parametrize("scheme", ["forest", "UU", "UA", "interleaved"])
@pytest.mark.parametrize("ill", ["xxyxyx", pytest.param("xyxxyz", marks=pytest.mark.slow)])
def test_coincident_generalisation_reveals_what_it_shows(scheme: Any, ill: str) -> None:
    method = Coincident((DistinctDiversity("ill", 2),), size=2, scheme=scheme)
    shown = method.release(owned(SIX, ill), Seeded(1)).table
    found = expose(method, known(SIX), shown, "ill")
    assert (found.how, found.changed, found.unknown) == ("enumeration", 0, 0)
    assert all(apparent == inherent for apparent, inherent in of_everyone(found))


def test_coincident_generalisation_of_people_who_are_alike_reveals_nothing() -> None:
    """All coins are followed: who of those who are alike goes where is drawn."""
    method = Coincident((DistinctDiversity("ill", 2),), size=2)
    rows = [(0, 0), (0, 0), (4, 3), (4, 3)]
    shown = method.release(owned(rows, "xyxy"), Seeded(1)).table
    assert expose(method, known(rows), shown, "ill").changed == 0


FIVE = [(0, 0), (1, 1), (3, 2), (4, 3), (5, 3)]


@pytest.mark.parametrize("ranges", ["narrower", pytest.param("boundary", marks=pytest.mark.slow)])
def test_who_was_left_out_by_lot_is_not_known_and_nothing_is_learnt_of_the_others(
    ranges: Any,
) -> None:
    method = Coincident((DistinctDiversity("ill", 2),), size=2, ranges=ranges)
    shown = method.release(owned(FIVE, "xxyxy"), Seeded(2)).table
    assert len(shown) == 4
    found = expose(method, known(FIVE), shown, "ill")
    assert (found.how, found.changed) == ("enumeration", 0)
    assert all(apparent == inherent for apparent, inherent in of_everyone(found))


def test_someone_who_fits_no_group_was_left_out() -> None:
    rows = [(0, 0), (1, 0), (7, 3)]
    method = Coincident((DistinctDiversity("ill", 2),), size=2, ranges="hierarchy")
    made = (method.release(owned(rows, "xyz"), Seeded(seed)).table for seed in range(50))
    found = expose(
        method, known(rows), next(one for one in made if set(one["a"]) == {"0-1"}), "ill"
    )
    assert (found.unknown, found.changed) == (1, 0)
    with pytest.raises(ParameterError, match="nothing is said of row 2"):
        found.of(2)


def test_a_coincident_twin_that_leaves_out_records_by_their_values_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of five people is left out if they have x, else the last: if it is the last, the
    first does not have x.
    """
    release = Coincident.release

    def twin(self: Coincident, people: Table, chance: Any = None, **more: Any) -> Any:
        rows = range(1, 5) if people.frame["ill"][0] == "x" else range(4)
        others = [name for name, role in people.roles.items() if role == "insensitive"]
        frame = people.frame[list(rows), :].to_native()
        some = shoal.table(
            frame, quasi=["a", "b"], sensitive=["ill"], insensitive=others, hierarchies=TREES
        )
        return release(self, some, chance, **more)

    monkeypatch.setattr(Coincident, "release", twin)
    method = Coincident((DistinctDiversity("ill", 2),), size=2)
    shown = method.release(owned(FIVE, "yxxyy"), Seeded(2)).table
    found = expose(method, known(FIVE), shown, "ill")
    assert found.of(0).inherent == {"x": 0, "y": 1}
    assert found.of(0).apparent == {"x": HALF, "y": HALF}


def test_too_many_who_may_have_been_left_out_are_refused() -> None:
    rows = [(i % 8, i % 4) for i in range(41)]
    method = Coincident((DistinctDiversity("ill", 2),), size=4)
    shown = method.release(owned(rows, "xyz" * 13 + "xy"), Seeded(2)).table
    with pytest.raises(ParameterError, match="left out by lot"):
        expose(method, known(rows), shown, "ill")
    with pytest.raises(TooLargeError, match="possible inputs"):
        expose(method, known(rows), shown, "ill", effort=Effort("enumeration"))


class NotDrawn(Enumerated):
    def choice(self, n: int, size: int) -> Any:
        return np.arange(size)


def test_a_coincident_twin_that_leaves_out_the_first_safe_groups_is_caught() -> None:
    """As ERRATA has it: six people, pairs, UA with exclusion that is not drawn."""
    method = Coincident((DistinctDiversity("ill", 2),), size=2, scheme="UA")
    shown = method.release(owned(SIX, "xxxyxy"), NotDrawn([], Fraction(0))).table
    assert enumerated(Knowledge(method, known(SIX), shown, "ill"), NotDrawn).certain == 2
