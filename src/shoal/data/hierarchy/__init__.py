"""Hierarchies: what a value becomes at every level, how to make one, and how to change it.

Uses `errors`, `disk`, `free_memory` and `kinds`; tables, methods and measures use it.
"""

from shoal.data.hierarchy.build import dates, derive, groups, intervals, mask, order, suppress
from shoal.data.hierarchy.check import Finding, Problems, problems, uncovered
from shoal.data.hierarchy.differ import Difference, difference
from shoal.data.hierarchy.domains import read_groups, read_values
from shoal.data.hierarchy.edit import (
    add_level,
    add_values,
    merge,
    move,
    remove_level,
    remove_values,
    rename,
)
from shoal.data.hierarchy.lines import Lines, read, read_lines, write
from shoal.data.hierarchy.outline import level_figures, outline
from shoal.data.hierarchy.ready_made import READY, ready
from shoal.data.hierarchy.tree import Hierarchy

__all__ = [
    "READY",
    "Difference",
    "Finding",
    "Hierarchy",
    "Lines",
    "Problems",
    "add_level",
    "add_values",
    "dates",
    "derive",
    "difference",
    "groups",
    "intervals",
    "level_figures",
    "mask",
    "merge",
    "move",
    "order",
    "outline",
    "problems",
    "read",
    "read_groups",
    "read_lines",
    "read_values",
    "ready",
    "remove_level",
    "remove_values",
    "rename",
    "suppress",
    "uncovered",
    "write",
]
