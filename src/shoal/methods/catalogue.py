"""The catalogue: every method by its name.

Recipes, views, the ledger, attacks, measures and the interfaces know methods only through it.

To add a method, write its folder with an `Entry`, and name that entry here. The conformance suite
runs over this list.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from shoal.errors import ParameterError, listed
from shoal.methods.entry import Entry

__all__ = ["CATALOGUE", "entries", "entry_of"]

CATALOGUE = {
    "safepub": "safepub.ENTRY",
    "noisy-counts": "noisy_counts.ENTRY",
    "columns": "columns.ENTRY",
    "buckets": "buckets.ENTRY",
    "personal": "personal.ENTRY",
    "coincident": "coincident.ENTRY",
    "disclosure": "disclosure.ENTRY",
    "kdgs": "noisy_counts.KDGS_ENTRY",
    "optimal": "optimal.ENTRY",
    "mondrian": "mondrian.ENTRY",
    "sampling": "sampling.ENTRY",
}
"""Where the entry of every method is; modules load when they are asked for."""


@cache
def entry_of(name: str) -> Entry:
    """The entry of a method; ParameterError if there is none of that name.

    >>> entry_of("safepub").method.__name__
    'SafePub'
    """
    if name not in CATALOGUE:
        raise ParameterError(f"there is no method {name!r}", f"known are {listed(CATALOGUE)}")
    module, _, place = CATALOGUE[name].rpartition(".")
    entry: Entry = getattr(import_module(f"shoal.methods.{module}"), place)
    return entry


def entries() -> Iterator[Entry]:
    """All entries, in the order of the catalogue."""
    return map(entry_of, CATALOGUE)
