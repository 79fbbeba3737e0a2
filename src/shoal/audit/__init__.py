"""Answering queries one by one, exactly or not at all, so that nobody's value is found out.

`Audit` (in `book`) is the door. `secret` says what is public of a column, `model` what auditors
have in common; `maxima` and `sums` are the auditors; `expressions` is the language of queries;
`records` are the entries of the log, and `store` keeps the data, the log and the keys. `Binding`
audits any queries about small sets of tables. It uses the log, `chance` and `tables`.
"""

from shoal.audit.binding import Binding, BoundReply, apart
from shoal.audit.book import Audit, Line, Reply, SecretState
from shoal.audit.expressions import Query
from shoal.audit.secret import Secret

__all__ = [
    "Audit",
    "Binding",
    "BoundReply",
    "Line",
    "Query",
    "Reply",
    "Secret",
    "SecretState",
    "apart",
]
