"""Choices that were made after looking: their places, their words, and what certificates have."""

from dataclasses import replace

import pytest

from shoal.chance import Chance
from shoal.errors import FileError, ParameterError
from shoal.privacy.promises import Coincidence, Promise, Syntactic
from shoal.releases.cards import card_of_certificate, card_of_release
from shoal.releases.certificate import Certificate, certify
from shoal.releases.certificate_page import certificate_page
from shoal.releases.looking import TITLE, LateChoice, choices_of, parts_of
from shoal.releases.release import Release
from tests.releases.people import people
from tests.releases.test_release import StandIn

CONCERNED, NOT_CONCERNED = Coincidence(("2-anonymity",)), Syntactic(("2-anonymity",))
CHOICES = (LateChoice("roles"), LateChoice("missing", "a < b is the rule"))


def paper(promise: Promise = CONCERNED) -> Certificate:
    made = certify(people(), StandIn(), promise, Chance())
    return made.choosing(promise, CHOICES)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("roles", "the roles of columns"),
        ("method", "the method"),
        ("method.name", "the method"),
        ("method.epsilon", "epsilon of the method"),
        ('hierarchies."post code"', "the hierarchy of 'post code'"),
        ("source.types", "what is read: types"),
    ],
)
def test_places_are_said_in_words(place: str, words: str) -> None:
    assert str(LateChoice(place)) == words


@pytest.mark.parametrize(
    "place",
    ["", "rolls", "ledger.path", "method.a.b", "hierarchies.post code", "roles\n", "roles = 1\nx"],
)
def test_a_place_on_which_no_release_depends_is_refused(place: str) -> None:
    with pytest.raises(ParameterError):
        parts_of(place)


@pytest.mark.parametrize("why", ["x" * 501, "two\nlines", "\x1b[2J"])
def test_a_reason_is_short_and_on_one_line(why: str) -> None:
    with pytest.raises(ParameterError, match="the reason why roles was public"):
        LateChoice("roles", why)


@pytest.mark.parametrize(
    "given",
    [
        "roles",
        ["roles"],
        [{"place": 1}],
        [{"public": "x"}],
        [{"place": "roles", "more": "x"}],
        [{"place": "roles", "public": ""}],
        [{"place": "roles"}, {"place": "roles", "public": "x"}],
    ],
)
def test_what_is_not_a_list_of_choices_is_refused(given: object) -> None:
    with pytest.raises(ParameterError):
        choices_of(given)  # type: ignore[arg-type]


def test_a_certificate_lists_them_where_the_promise_assumes_otherwise() -> None:
    listed = paper()
    assert listed.chosen_after_looking == [
        {"place": "roles"},
        {"place": "missing", "public": "a < b is the rule"},
    ]
    assert Certificate.from_json(listed.to_json()) == listed
    text = " ".join(str(listed).split())
    assert f"{TITLE} The promise assumes that all that is chosen was chosen without" in text
    assert "- the roles of columns - what missing values count as; the owner says that" in text
    assert paper(NOT_CONCERNED).chosen_after_looking == ()


def test_a_certificate_without_any_is_written_as_it_always_was() -> None:
    bare = replace(paper(), chosen_after_looking=())
    assert "looking" not in bare.to_json()
    assert TITLE not in str(bare)
    assert Certificate.from_json(bare.to_json()) == bare


def test_options_of_other_methods_and_columns_that_are_not_released_do_not_matter() -> None:
    made = certify(people(), StandIn(), CONCERNED, Chance())
    released = made.columns[0]["name"]
    given = [f"hierarchies.{released}", "hierarchies.nobody", "method.nothing", "method.name"]
    listed = made.choosing(CONCERNED, [LateChoice(place) for place in given])
    places = [one["place"] for one in listed.chosen_after_looking]
    assert places == [f"hierarchies.{released}", "method.name"]


def test_pages_and_cards_show_them_escaped() -> None:
    listed = paper()
    release = Release(people().frame.to_native(), listed)
    for html in (
        certificate_page(listed),
        card_of_certificate(listed).html(),
        card_of_release(release).html(),
    ):
        assert TITLE in html
        assert "a &lt; b is the rule" in html


def test_older_readers_would_refuse_it_rather_than_pass_it_over() -> None:
    from shoal.releases.certificate import DOCUMENT
    from shoal.releases.sealed import unsealed

    names = [name for name in vars(paper()) if name != "chosen_after_looking"]
    with pytest.raises(FileError):
        unsealed(paper().to_json(), DOCUMENT, names)
