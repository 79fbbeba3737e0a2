"""`Lattice` and `Groups`: what becomes of counted rows at every combination of levels.

This is the one hot place.
"""

from shoal.lattice.lattice import Groups, Histogram, Lattice, Node

__all__ = ["Groups", "Histogram", "Lattice", "Node"]
