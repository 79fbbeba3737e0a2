"""How good and how risky a table is: information loss, utility, risk of re-identification.

Each name loads its module when it is first used: whoever needs a loss loads no classifier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.measure.loss import LOSSES, Loss, normalised
    from shoal.measure.ratings import RatingError, Training, rmse
    from shoal.measure.risk import Assessment, assess
    from shoal.measure.utility import Accuracy, CountErrors, Workload, classification, queries

__all__ = [
    "LOSSES",
    "Accuracy",
    "Assessment",
    "CountErrors",
    "Loss",
    "RatingError",
    "Training",
    "Workload",
    "assess",
    "classification",
    "normalised",
    "queries",
    "rmse",
]

_MODULES = ("loss", "ratings", "risk", "utility")
"""Those that have these names, each in its `__all__`."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            known = import_module(f"{__name__}.{module}")
            if name in known.__all__:
                return getattr(known, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
