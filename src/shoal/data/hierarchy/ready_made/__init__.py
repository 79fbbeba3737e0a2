"""Hierarchies that nobody has to write, from public lists and rules.

`README.md` beside this module says where each comes from and why it may be used. Uses the
builders of `hierarchy`; recipes, the command line and the workbench offer them.
"""

from shoal.data.hierarchy.ready_made.catalogue import READY, entry, form_of, ready
from shoal.data.hierarchy.ready_made.form import ReadyMade, WrittenForm

__all__ = ["READY", "ReadyMade", "WrittenForm", "entry", "form_of", "ready"]
