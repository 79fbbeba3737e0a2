"""What notebooks show of a verdict."""

from pathlib import Path

import shoal
from shoal.look import Zone
from shoal.releases.verification import Verdict
from shoal.releases.verification.cards import card_of_verdict


def test_a_verdict_says_what_holds_and_what_cannot_be_seen(tmp_path: Path) -> None:
    release = shoal.Optimal([shoal.KAnonymity(5)]).release(shoal.demo.table(300))
    written = release.write(tmp_path / "out")
    verdict = shoal.verify(tmp_path / "out" / "certificate.json", written)
    card = card_of_verdict(verdict)
    assert card.zone is Zone.RELEASED
    assert "The files cannot show" in card.html()


def test_a_verdict_of_a_release_that_fails_does_not_say_that_it_may_be_published() -> None:
    card = card_of_verdict(Verdict(["the digests differ"]))
    assert card.zone is None
    assert "the digests differ" in card.html()
    assert "May be published" not in card.html()
