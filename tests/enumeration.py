"""The exact law of what shipped code does: `shoal.attack.coins`, under the name that tests have for
it.
"""

from shoal.attack.coins import (
    ONE,
    ZERO,
    Enumerated,
    Interval,
    exp,
    flipped,
    law,
    point,
    probabilistic,
    shipped,
    standard,
)

__all__ = [
    "ONE",
    "ZERO",
    "Enumerated",
    "Interval",
    "exp",
    "flipped",
    "law",
    "point",
    "probabilistic",
    "shipped",
    "standard",
]
