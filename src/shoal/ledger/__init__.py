"""What a data set has already given away: a durable, append-only ledger of releases with a budget.

`Ledger` (in `book`) is the door; `entries` has a record per kind of entry, `account` adds up,
`shown` knows what releases show together, `witnesses` notices older copies, and `fingerprint`
distinguishes tables. It uses the log and every room above. The ledger stays with the owner of the
data: nothing of it is in a release.
"""

from shoal.ledger.account import Budget
from shoal.ledger.book import Destination, Ledger, Provenance
from shoal.ledger.entries import LedgerEntry

__all__ = ["Budget", "Destination", "Ledger", "LedgerEntry", "Provenance"]
