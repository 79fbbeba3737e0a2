"""`shoal serve`: an audit behind HTTP. Uses `audit`; the command line uses it.

It holds no logic that a user of `Audit` would miss: only keys, limits, the shape and the time of replies, and log lines.
"""

from shoal.service.app import application
from shoal.service.limits import Limits
from shoal.service.run import serve

__all__ = ["Limits", "application", "serve"]
