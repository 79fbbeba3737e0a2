"""How good and how risky a table is: information loss, utility, risk of re-identification."""

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
