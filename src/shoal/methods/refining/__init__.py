"""A private tree of refinements: dense regions end fine, sparse ones coarse.

`order` says which column is refined next, by what is public or bought; `growing` grows the tree;
`tree` offers both to the methods that release groups. The proof is docs/proofs/refining.md.
"""

from shoal.methods.refining.growing import Boxes, grow
from shoal.methods.refining.order import (
    Refinable,
    RefiningOrder,
    RefiningStep,
    bought_order,
    public_order,
)
from shoal.methods.refining.tree import GrownTree, RefiningBudget, require_refinable

__all__ = [
    "Boxes",
    "GrownTree",
    "Refinable",
    "RefiningBudget",
    "RefiningOrder",
    "RefiningStep",
    "bought_order",
    "grow",
    "public_order",
    "require_refinable",
]
