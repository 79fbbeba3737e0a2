"""Several releases of one table together: is everybody still safe? Uses every room above; the command line uses it.

`model` has views and registers, `cells` takes them apart, `counting` counts all tables that could have shown them, `importance`
estimates where there are too many, `checking` says who is exposed, and `sources` reads views from files and releases.
`candidates` are views that could be shown in addition; `restoring` and `planning` choose among them, by `regions`, and `judging`
says what a choice tells. `certifying` puts on paper that several releases keep γ together.
"""

from shoal.views.candidates import Candidate, free, public, refinements, subsets, truth
from shoal.views.certifying import JointCertificate, certify, verify
from shoal.views.checking import Belief, Checked, Exposed, check, possible
from shoal.views.judging import Posterior, posterior, worlds
from shoal.views.model import OUTSIDE, View, Views
from shoal.views.planning import Outcome, Outlook, Plan, plan
from shoal.views.restoring import Restored, Row, Unrestored, restore
from shoal.views.sources import Register, load

__all__ = [
    "OUTSIDE",
    "Belief",
    "Candidate",
    "Checked",
    "Exposed",
    "JointCertificate",
    "Outcome",
    "Outlook",
    "Plan",
    "Posterior",
    "Register",
    "Restored",
    "Row",
    "Unrestored",
    "View",
    "Views",
    "certify",
    "check",
    "free",
    "load",
    "plan",
    "possible",
    "posterior",
    "public",
    "refinements",
    "restore",
    "subsets",
    "truth",
    "verify",
    "worlds",
]
