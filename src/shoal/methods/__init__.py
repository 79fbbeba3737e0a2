"""Ways to release a table, one folder or module each, and the catalogue of them. Uses every room above; the doors use it."""

from shoal.methods.method import (
    Job,
    Method,
    Progress,
    Schema,
    beforehand,
    begin,
    conjunction,
    crowd_of,
    people_of,
    require_bound,
    require_people,
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
    "people_of",
    "require_bound",
    "require_people",
    "short_names",
    "silent",
    "syntactic",
]
