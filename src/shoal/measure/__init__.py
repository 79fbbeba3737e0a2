"""How good and how risky a table is: information loss, utility, risk of re-identification."""

from shoal.measure.loss import LOSSES, Loss, normalised

__all__ = ["LOSSES", "Loss", "normalised"]
