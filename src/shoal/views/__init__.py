"""Several releases of one table together: is everybody still safe? Uses every room above; the command line uses it.

`model` has views and registers, `cells` takes them apart, `counting` counts all tables that could have shown them, `importance`
estimates where there are too many, `checking` says who is exposed, and `sources` reads views from files and releases.
"""

from shoal.views.checking import Belief, Checked, Exposed, check, possible
from shoal.views.model import OUTSIDE, View, Views
from shoal.views.sources import Register, load

__all__ = ["OUTSIDE", "Belief", "Checked", "Exposed", "Register", "View", "Views", "check", "load", "possible"]
