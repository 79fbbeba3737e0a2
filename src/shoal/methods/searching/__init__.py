"""A private choice of the levels to release at, for its own share of ε.

`scores` says how good a node of the lattice is, `search` chooses one. Methods that release groups
at one node use both.
"""

from shoal.methods.searching.scores import SCORES, Candidates, Score, candidates, require_score
from shoal.methods.searching.search import STEPS, LevelSearch

__all__ = ["SCORES", "STEPS", "Candidates", "LevelSearch", "Score", "candidates", "require_score"]
