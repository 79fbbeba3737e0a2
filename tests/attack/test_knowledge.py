"""What the attacker knows: released texts are read as they were written, and place people."""

from typing import Any

import polars as pl
import pytest

from shoal.attack.knowledge import Knowledge, require_attackable
from shoal.chance import Seeded
from shoal.errors import ColumnError, InputError, ParameterError
from shoal.methods.coincident import Coincident
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.privacy.models import DistinctDiversity, KAnonymity
from tests.attack.people import HALF, known, owned
from tests.regions import METHODS

ROWS = [(0, 0), (1, 1), (3, 3), (3, 2), (4, 0), (5, 1)]
ILL = "xyxyxy"


def knowledge(method: Any, released: Any = None, rows: Any = ROWS) -> Knowledge:
    if released is None:
        released = method.release(owned(ROWS, ILL), Seeded(1)).table
    return Knowledge(method, known(rows), released, "ill")


@pytest.mark.parametrize(
    "method",
    [
        Mondrian((KAnonymity(2),)),
        Mondrian((KAnonymity(2),), ranges="observed"),
        Optimal((KAnonymity(2),)),
    ],
    ids=["boundary", "observed", "optimal"],
)
def test_everyone_is_in_the_group_whose_texts_fit_them(method: Any) -> None:
    seen = knowledge(method)
    assert seen.group_of is not None
    assert len(set(seen.group_of.tolist())) == len(seen.labels) > 1
    bags: dict[tuple[int, str], int] = {}
    for group, value in zip(seen.group_of.tolist(), ILL, strict=True):
        bags[group, value] = bags.get((group, value), 0) + 1
    for group, bag in enumerate(seen.bags.tolist()):
        assert bag == [bags.get((group, value), 0) for value in "xy"]


def test_a_group_shows_shares() -> None:
    seen = knowledge(Mondrian((KAnonymity(6),)))
    assert seen.labels == [("*", "*")]
    assert seen.apparent(0) == {"x": HALF, "y": HALF}


def test_people_who_fit_several_groups_have_no_known_group() -> None:
    released = pl.DataFrame({"a": ["*"] * 3 + ["0-7"] * 3, "b": ["*"] * 6, "ill": list(ILL)})
    assert knowledge(Mondrian((KAnonymity(3),)), released).group_of is None


def test_only_methods_that_make_ranges_may_show_any_range() -> None:
    released = pl.DataFrame({"a": ["0-2"] * 2 + ["3-5"] * 4, "b": ["*"] * 6, "ill": list(ILL)})
    assert knowledge(Mondrian((KAnonymity(2),)), released).group_of is not None
    with pytest.raises(InputError, match="texts in column 'a' that its hierarchy does not have"):
        assert knowledge(Optimal((KAnonymity(2),)), released).group_of is None


def test_only_some_methods_leave_people_out() -> None:
    model = DistinctDiversity("ill", 2)
    released = pl.DataFrame({"a": ["*"] * 4, "b": ["*"] * 4, "ill": list("xyxy"), "group": [1] * 4})
    assert knowledge(Coincident((model,), size=2), released).left_out == 2
    with pytest.raises(ColumnError, match="6 people and 4 released records"):
        knowledge(Mondrian((model,)), released)
    with pytest.raises(ColumnError, match="3 people and 4 released records"):
        knowledge(Coincident((model,), size=2), released, ROWS[:3])


def test_a_method_outside_the_catalogue_can_be_attacked_too() -> None:
    class Own(Mondrian):
        name = "own"

    seen = knowledge(Own((KAnonymity(6),)))
    assert seen.entry.method is Own
    assert seen.group_of is not None


@pytest.mark.parametrize("method", METHODS)
def test_there_is_nothing_to_find_in_a_private_tree(method: str) -> None:
    with pytest.raises(ParameterError, match="which is proven"):
        require_attackable(METHODS[method])
