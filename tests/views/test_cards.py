"""What notebooks show of views, of what they reveal, and of what restores them."""

from shoal.look import Zone
from shoal.views import View, Views, check, restore
from shoal.views.candidates import Candidate
from shoal.views.cards import card_of_checked, card_of_restored, card_of_views

EXPOSING = Views(
    ["Ann", "Bob", "Cid"],
    [View("A", [0, 1], ["flu", "cold"]), View("B", [1, 2], ["flu", "gout"])],
)
KEEPING = Views(["Ann", "Bob"], [View("A", [0, 1], ["flu", "cold"])])


def test_views_are_listed_by_their_sizes_and_nobody_is_named() -> None:
    card = card_of_views(EXPOSING)
    assert card.title == "2 views of 3 people"
    assert card.zone is Zone.OWNER
    assert "Ann" not in card.html()


def test_what_views_reveal_is_counted() -> None:
    exposed = card_of_checked(check(EXPOSING))
    assert exposed.title == "Somebody is exposed"
    html = exposed.html()
    assert "3 of 3" in html
    assert "Ann" not in html
    kept = card_of_checked(check(KEEPING))
    assert kept.title == "Every limit holds for everybody"
    assert "0 of 2" in kept.html()


def test_the_people_counted_are_those_that_are_listed() -> None:
    views = Views(5, [View("A", [0, 1, 2], ["flu", "flu", "cold"]), View("B", [3, 4], ["a", "b"])])
    checked = check(views)
    people = {one.person for one in checked.exposed}
    assert f"{len(people)} of 5" in card_of_checked(checked).html()


def test_restoring_has_before_and_after() -> None:
    views = Views(4, [View("A", [0, 1], ["flu", "flu"])])
    restored = restore(views, ["flu", "flu", "cold", "gout"], [Candidate("C", frozenset({2, 3}))])
    html = card_of_restored(restored).html()
    assert "before" in html
    assert "2 of 4" in html
