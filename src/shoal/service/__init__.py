"""`shoal serve`: an audit behind HTTP. Uses `audit`; the command line uses it.

It holds no logic that a user of `Audit` would miss: only keys, limits, the form and timing of
replies, and log lines. `app` has the routes, `bodies` what is sent and received, `door` who may
come in and when replies leave, `middleware` what happens around every request, `connections` what
happens below HTTP. Importing it is light, as the workbench uses `run` and `log` only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.service.limits import ServiceLimits

if TYPE_CHECKING:
    from shoal.service.app import application
    from shoal.service.run import serve

__all__ = ["ServiceLimits", "application", "serve"]

_MODULES = {"application": "app", "serve": "run"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        # A library that is missing is missed here, not once it serves.
        import_module("shoal.service.app")
        return getattr(import_module(f"shoal.service.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
