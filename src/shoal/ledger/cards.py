"""What notebooks show of ledgers.

Uses `look`; the classes load it when a notebook asks.
"""

from typing import Any

from shoal.errors import ShoalError
from shoal.ledger.account import Account, amount
from shoal.ledger.book import Ledger
from shoal.ledger.entries import LedgerEntry, Reserved
from shoal.look import Zone, entries
from shoal.look.notebooks import NOTHING, Card, alarm, first_of

__all__ = ["card_of_account", "card_of_ledger"]

_ENTRIES = 20
"""The latest entries of a ledger that are listed."""


def card_of_ledger(ledger: Ledger) -> Card:
    """What is in a ledger now, or why that cannot be said."""
    title = f"Ledger {ledger.path.name}"
    try:
        account = ledger.account()
    except ShoalError as error:
        return Card(title, [alarm(str(error))], Zone.OWNER)
    return Card(title, card_of_account(account).parts, Zone.OWNER)


def card_of_account(account: Account) -> Card:
    """What is spent and left, and the latest entries."""
    facts = [("spent", account.spent_text)]
    if account.limit is not None and account.left is not None:
        facts.append(("budget", amount(*account.limit)))
        facts.append(("left", account.left.rounded(up=False)))
    else:
        facts.append(("budget", "none"))
    if account.gamma is not None:
        facts.append(("γ of all views together", str(account.gamma)))
    rows = [_row(entry) for entry in reversed(account.entries)]
    listed = first_of("entry", _ENTRIES, ["entry", "time", "what", "method", "spends"], rows)
    return Card("Account of a ledger", [entries(facts), listed], Zone.OWNER)


def _row(entry: LedgerEntry[Any]) -> list[str]:
    method = cost = NOTHING
    if isinstance(entry.facts, Reserved):
        method, spends = entry.facts.method, entry.facts.cost
        cost = "no bound" if spends.delta is None else amount(spends.epsilon, spends.delta)
    return [str(entry.number), entry.time, entry.what, method, cost]
