"""Exact randomness from the operating system. Uses `errors`; nothing else in the house draws a
random number.
"""

from shoal.chance.source import Chance, Seeded

__all__ = ["Chance", "Seeded"]
