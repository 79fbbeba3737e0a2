"""Views that contain others lose their part, and fall apart."""

from fractions import Fraction

from shoal.views import View, Views, check
from shoal.views.cells import Constraints, components


def test_a_view_within_another_leaves_the_rest_of_it() -> None:
    """Four people and three of them: the fourth is known."""
    views = Views(4, [View("A", range(4), list("abcc")), View("B", range(3), list("abc"))])
    assert check(views).of(3).shares == {"c": Fraction(1)}
    assert {part.constraints for part in components(views)} == {
        Constraints(((1, (0,)),), ((1,),)),
        Constraints(((3, (0,)),), ((1, 1, 1),)),
    }


def test_views_by_position_fall_apart() -> None:
    """Two tables whose groups are intervals of one order leave only the gaps between borders."""
    views = [View(f"a{at}", range(at, at + 6), [0, 1, 2, 0, 1, 2]) for at in range(0, 60, 6)]
    views += [
        View(f"b{at}", range(at, at + 4), [(at + i) % 3 for i in range(4)])
        for at in range(0, 60, 4)
    ]
    assert all(len(part.constraints.bags) == 1 for part in components(Views(60, views)))
