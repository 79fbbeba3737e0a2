"""`Counts`, `Lattice` and `Groups`: distinct coded rows, and what becomes of them at every node. The one hot place."""

from shoal.counts.counts import Counts
from shoal.counts.lattice import Groups, Histogram, Lattice, Node

__all__ = ["Counts", "Groups", "Histogram", "Lattice", "Node"]
