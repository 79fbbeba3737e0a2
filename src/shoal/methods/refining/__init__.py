"""A private tree of refinements: dense regions end fine, sparse ones coarse.

`order` says which column is refined next, by what is public or bought; `growing` grows the tree.
Methods that release groups use both. The proof is docs/proofs/refining.md.
"""

from shoal.methods.refining.growing import Boxes, grow
from shoal.methods.refining.order import RefiningStep, bought_order, public_order

__all__ = ["Boxes", "RefiningStep", "bought_order", "grow", "public_order"]
