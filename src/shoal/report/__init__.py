"""Reports for people: what a release promises, and, for its owner, what is left of the data.

`shoal.report.public` and `shoal.report.owner` give HTML; `Reported` is what reports are about. Uses
the rooms above it, and shows what they know by `look`; the command line uses it.
"""

from shoal.report.for_owner import owner
from shoal.report.for_public import public
from shoal.report.subject import Published, Reported

__all__ = ["Published", "Reported", "owner", "public"]
