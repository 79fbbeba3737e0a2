"""What notebooks show of audits."""

from pathlib import Path

import polars as pl

import shoal
from shoal.audit import Secret
from shoal.audit.cards import card_of_audit
from shoal.look import Zone


def test_an_audit_shows_how_many_queries_were_answered_and_no_value(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [31, 45, 52], "pay": [1017, 2029, 3041]})
    table = shoal.table(frame, types={"age": "integer", "pay": "integer"})
    audit = shoal.Audit.new(
        tmp_path / "audit.db", table, Secret("pay", family="max"), public=["age"]
    )
    reply = audit.ask("max(pay)")
    assert reply.answer is not None
    card = card_of_audit(audit)
    assert card.zone is Zone.OWNER
    html = card.html()
    for text in ("Audit of 3 rows", "age (integer)", "pay"):
        assert text in html, text
    assert '<td class="shoal-number">1</td>' in html
    assert "3041" not in html
