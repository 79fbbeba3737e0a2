"""Several releases of one table together: is everybody still safe?

Uses every room above; the ledger and the command line use it.

`model` has views, `register` turns conditions, tables and releases into them, `files` reads them
from one file, and `gathering` adds what a ledger knows. `cells` takes them apart, `counting` and
`dense` count all tables that could have shown them, `importance` estimates where there are too
many, and `checking` finds who is exposed. `candidates` are views that could be shown in addition;
`restoring` and `planning` choose among them, by `regions`, and `judging` finds what a choice
reveals. `certifying` puts on paper that several releases keep γ together.
"""

from shoal.views.beliefs import CellBelief
from shoal.views.candidates import Candidate, free, public, refinements, subsets, truth
from shoal.views.certifying import JointCertificate, certify, verify
from shoal.views.checking import Checked, ExposedPerson, check, possible
from shoal.views.gathering import Gathered, gather, gather_release, gather_releases, load
from shoal.views.judging import Posterior, posterior, worlds
from shoal.views.model import OUTSIDE, View, Views
from shoal.views.planning import Outcome, Outlook, Plan, plan
from shoal.views.register import Register
from shoal.views.released import Legend
from shoal.views.restoring import BeforeAfter, Restored, Unrestored, restore

__all__ = [
    "OUTSIDE",
    "BeforeAfter",
    "Candidate",
    "CellBelief",
    "Checked",
    "ExposedPerson",
    "Gathered",
    "JointCertificate",
    "Legend",
    "Outcome",
    "Outlook",
    "Plan",
    "Posterior",
    "Register",
    "Restored",
    "Unrestored",
    "View",
    "Views",
    "certify",
    "check",
    "free",
    "gather",
    "gather_release",
    "gather_releases",
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
