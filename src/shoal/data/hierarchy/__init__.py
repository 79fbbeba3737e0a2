"""Hierarchies: what a value becomes at every level, and how to make one.

Uses `errors`, `disk`, `memory` and `kinds`; tables, methods and measures use it.
"""

from shoal.data.hierarchy.build import dates, derive, groups, intervals, mask, order, suppress
from shoal.data.hierarchy.check import Finding, Problems, problems, uncovered
from shoal.data.hierarchy.domains import read_groups, read_values
from shoal.data.hierarchy.lines import Lines, read, read_lines, write
from shoal.data.hierarchy.outline import level_figures, outline
from shoal.data.hierarchy.tree import Hierarchy

__all__ = [
    "Finding",
    "Hierarchy",
    "Lines",
    "Problems",
    "dates",
    "derive",
    "groups",
    "intervals",
    "level_figures",
    "mask",
    "order",
    "outline",
    "problems",
    "read",
    "read_groups",
    "read_lines",
    "read_values",
    "suppress",
    "uncovered",
    "write",
]
