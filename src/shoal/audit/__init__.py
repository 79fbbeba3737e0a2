"""Answering queries one by one, exactly or not at all, so that nobody's value is found out. Uses `chance` and `tables`.

`Audit` (in `book`) is the door. `model` says what auditors have in common; `maxima` and `sums` are the auditors; `expressions` is
the language of queries; `store` keeps the data, the log and the keys.
"""

from shoal.audit.book import Audit, Line, Reply, Secret, Standing
from shoal.audit.expressions import Query

__all__ = ["Audit", "Line", "Query", "Reply", "Secret", "Standing"]
