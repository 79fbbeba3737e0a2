"""Hierarchies: what a value becomes at every level, and how to make one. Uses `errors` and `kinds`."""

from shoal.hierarchy.check import Problems, problems
from shoal.hierarchy.tree import Hierarchy

__all__ = ["Hierarchy", "Problems", "problems"]
