"""`shoal serve`: an audit behind HTTP. Uses `audit`; the command line uses it.

It holds no logic that a user of `Audit` would miss: only keys, limits, the form and timing of
replies, and log lines. `app` has the routes, `bodies` what is sent and received, `door` who may
come in and when replies leave, `middleware` what happens around every request, `connections` what
happens below HTTP.
"""

from shoal.service.app import application
from shoal.service.limits import ServiceLimits
from shoal.service.run import serve

__all__ = ["ServiceLimits", "application", "serve"]
