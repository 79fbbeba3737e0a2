"""What a data set has already given away: a durable, append-only ledger of releases with a budget. Uses every room above.

`Ledger` (in `book`) is the door; `account` adds up, `store` keeps the chain of entries in SQLite, `pages` accounts for every
byte of that file, and `fingerprint` tells one table from another. The ledger stays with the owner of the data: nothing of it
is in a release.
"""

from shoal.ledger.account import Budget, Entry
from shoal.ledger.book import Ledger

__all__ = ["Budget", "Entry", "Ledger"]
