"""Ways to release a table, one folder or module each, and the catalogue of them.

Uses every room above; the ledger, the attacks, recipes and the doors use it.
"""

from shoal.methods.method import (
    Job,
    Method,
    Progress,
    Schema,
    beforehand,
    begin,
    conjunction,
    crowd_of,
    delta_concerns,
    granularity_lost,
    level_ranges,
    people_of,
    protected,
    require_bound,
    require_people,
    searched,
    short_names,
    silent,
    syntactic,
)

__all__ = [
    "Job",
    "Method",
    "Progress",
    "Schema",
    "beforehand",
    "begin",
    "conjunction",
    "crowd_of",
    "delta_concerns",
    "granularity_lost",
    "level_ranges",
    "people_of",
    "protected",
    "require_bound",
    "require_people",
    "searched",
    "short_names",
    "silent",
    "syntactic",
]
