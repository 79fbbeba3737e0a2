"""Released groups that share people are joined."""

from collections import Counter
from fractions import Fraction

from shoal.views import Views, check
from shoal.views.released import ShownGroup, views_of_groups


def test_buckets_with_people_who_look_alike_reveal_what_the_surest_bucket_does() -> None:
    """Two people look alike, in buckets of which one has a value twice; all are joined."""
    groups = [
        ShownGroup([0, 1, 2, 3], Counter("xxy")),
        ShownGroup([2, 3, 4, 5], Counter("xyz")),
    ]
    joined, number = views_of_groups("b", groups)
    assert number == 2
    assert [(sorted(view.members), view.size, len(view.parts)) for view in joined] == [
        ([0, 1, 2, 3, 4, 5], 6, 2)
    ]
    found = check(Views(6, joined, "3/5"))
    assert (found.largest, found.private) == (Fraction(2, 3), None)
    assert found.of(0).between("x") == (Fraction(1, 3), Fraction(2, 3))
