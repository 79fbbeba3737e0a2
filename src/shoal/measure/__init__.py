"""How good and how risky a table is: information loss, utility, risk of re-identification."""

from shoal.measure.loss import LOSSES, Loss, normalised
from shoal.measure.risk import Assessment, assess

__all__ = ["LOSSES", "Assessment", "Loss", "assess", "normalised"]
