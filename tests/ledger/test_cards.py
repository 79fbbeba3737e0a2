"""What notebooks show of ledgers."""

from pathlib import Path
from typing import Any

import shoal
from shoal.ledger.cards import card_of_ledger
from shoal.look import Zone

loose: Any = shoal


def test_a_ledger_shows_what_is_spent_and_left(tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "book.db", epsilon=3, delta="1e-5", witness=False)
    ledger.release(loose.NoisyCounts(1, "1e-6"), shoal.demo.table(100), tmp_path / "out")
    card = card_of_ledger(ledger)
    assert card.zone is Zone.OWNER
    html = card.html()
    for text in ("Ledger book.db", "ε 1, δ 1e-6", "ε 2, δ 9e-6", "noisy-counts", "completed"):
        assert text in html, text


def test_a_ledger_without_a_budget_says_so(tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "book.db", gamma="1/2", witness=False)
    html = card_of_ledger(ledger).html()
    assert "none" in html
    assert "γ of all views together" in html


def test_a_ledger_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    ledger = shoal.Ledger.create(path, witness=False)
    path.write_bytes(b"broken" * 100)
    assert "shoal-alarm" in ledger._repr_html_().split("</style>")[1]
