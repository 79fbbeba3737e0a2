"""Exact randomness from the operating system.

Uses `errors`. No other room draws a random number.
"""

from shoal.chance.source import Chance, Seeded

__all__ = ["Chance", "Seeded"]
