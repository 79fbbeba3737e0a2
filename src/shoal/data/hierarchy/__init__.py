"""Hierarchies: what a value becomes at every level, and how to make one. Uses `errors` and `kinds`."""

from shoal.data.hierarchy.build import dates, derive, groups, intervals, mask, order, suppress
from shoal.data.hierarchy.check import Problem, Problems, problems, uncovered
from shoal.data.hierarchy.lines import Lines, read, read_lines, write
from shoal.data.hierarchy.tree import Hierarchy

__all__ = [
    "Hierarchy",
    "Lines",
    "Problem",
    "Problems",
    "dates",
    "derive",
    "groups",
    "intervals",
    "mask",
    "order",
    "problems",
    "read",
    "read_lines",
    "suppress",
    "uncovered",
    "write",
]
