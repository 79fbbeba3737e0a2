"""What notebooks show of releases and certificates."""

from typing import Any

import pytest

import shoal
from shoal.chance import Seeded
from shoal.look import Zone
from shoal.releases.cards import card_of_certificate, card_of_release

loose: Any = shoal


@pytest.fixture(scope="module")
def release() -> Any:
    return loose.Optimal(["5-anonymity"], suppression="1/10").release(shoal.demo.table(300))


def test_a_release_shows_its_promise_and_its_first_rows(release: shoal.Release) -> None:
    html = card_of_release(release).html()
    assert release.certificate.statement in html
    assert html.count('<th scope="row">') == 5
    number = release.rows.shape[0]
    assert f"the first of {number} rows × 9 columns" in html


def test_a_release_shows_the_same_rows_once_its_table_was_asked_for(
    release: shoal.Release,
) -> None:
    before = card_of_release(release).html()
    first = release.table.rows()[0]
    assert card_of_release(release).html() == before
    assert str(first[0]) in before


def test_nothing_that_a_method_learnt_on_its_way_is_shown(release: shoal.Release) -> None:
    assert release.facts.loss is not None
    assert f"{release.facts.loss:.6g}" not in card_of_release(release).html()
    assert card_of_release(release).zone is Zone.RELEASED


def test_a_certificate_says_what_is_not_protected(release: shoal.Release) -> None:
    html = card_of_certificate(release.certificate).html()
    assert release.certificate.unprotected[0] in html
    assert "<summary>Parameters</summary>" in html


def test_a_release_that_was_made_with_a_seed_is_not_to_be_published() -> None:
    seeded = loose.RandomSample("1/2").release(shoal.demo.table(50), chance=Seeded(1))
    assert repr(seeded).startswith("<owner only: ")
    for card in (card_of_release(seeded), card_of_certificate(seeded.certificate)):
        assert card.zone is Zone.OWNER
        assert "Not private" in card.html()
