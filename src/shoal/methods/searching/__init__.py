"""A private choice of the levels to release at, for its own share of ε.

`scores` says how good a node of the lattice is, `search` chooses one. Methods that release groups
at one node use both.
"""

from shoal.methods.searching.scores import (
    SCORES,
    Candidates,
    NodeByNode,
    Score,
    candidates,
    ramp,
    require_score,
    score_of,
)
from shoal.methods.searching.search import STEPS, LevelSearch

__all__ = [
    "SCORES",
    "STEPS",
    "Candidates",
    "LevelSearch",
    "NodeByNode",
    "Score",
    "candidates",
    "ramp",
    "require_score",
    "score_of",
]
