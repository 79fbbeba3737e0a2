"""Of methods that do not look at values only what groups show is learnt, with suppression too."""

from fractions import Fraction
from typing import Any

import pytest

from shoal.attack import expose
from shoal.errors import InputError
from shoal.methods.optimal import Optimal
from tests.attack.people import known, owned


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_where_models_do_not_look_at_values_only_what_groups_show_is_learnt(
    suppressed: Any,
) -> None:
    rows = [(0, 0), (0, 0), (1, 0), (1, 0), (4, 2), (4, 2), (7, 3)]
    method = Optimal(("2-anonymity",), suppression=Fraction(1, 4), suppressed=suppressed)
    shown = method.release(owned(rows, "xyxyxyz")).table
    found = expose(method, known(rows), shown, "ill")
    assert (found.how, found.changed) == ("counting", 0)
    assert found.left == 1
    assert found.unknown == (suppressed == "drop")
    assert all(apparent == inherent for apparent, inherent in of_those_who_are_in(found))
    others = [(3, 3), *rows[1:]]
    with pytest.raises(InputError, match="give the recipe of the release"):
        expose(method, known(others), shown, "ill")


def of_those_who_are_in(found: Any) -> Any:
    """What those are shown to have, and have to the attacker, of whom something is said."""
    return [(one.apparent, one.inherent) for one in found.inferences]


def test_where_everybody_is_suppressed_nothing_is_said() -> None:
    rows = [(0, 0), (7, 3)]
    method = Optimal(("3-anonymity",), suppression=1)
    shown = method.release(owned(rows, "xy")).table
    assert len(shown) == 0
    assert expose(method, known(rows), shown, "ill").unknown == 2
