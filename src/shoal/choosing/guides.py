"""When to take what is not a method of the catalogue.

Uses `methods` for the others; `recommending` and the docs show them.
"""

from shoal.arguments import typed
from shoal.choosing.deciding import AUDIT, ELSEWHERE
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Guide

__all__ = ["PAGES", "RUNNERS_UP", "UNPROTECTED", "WAYS", "guide_of"]

_AUDITED = Guide(
    need="No table is needed: a few questions about a number will do",
    promise="All answers together, whoever asks, leave your value uncertain by a width.",
    cost="Some questions are denied",
    leaves_open="How likely values are; whoever knows others' values may infer more",
    example="Salaries of a company",
)

_SYNTHETIC = Guide(
    need="Only totals of one or two columns in full detail, or made-up people to try out software",
    promise="Nothing by Shoal: it does not make synthetic data.",
    cost="No row is true of anybody; relations that were not measured are missing",
    leaves_open="Whatever the other tool does not promise",
    example="A test database",
)

UNPROTECTED = {
    AUDIT: (
        "how likely each value is: at least two that are a width apart stay possible, and no more "
        "is promised",
        "against someone who knows the values of some people: they may find out those of others",
        "facts about several people together, such as that one of two has a value",
        "public columns, and who is in the table",
    ),
    ELSEWHERE: ("whatever the other tool does not promise: read what it says about single people",),
}
"""What is not protected by what is not a method; promises of methods say it themselves."""

WAYS = (*CATALOGUE, AUDIT, ELSEWHERE)
"""All that may be recommended."""

PAGES = {
    "safepub": "how-to/safepub.md",
    "noisy-counts": "how-to/noisy-counts.md",
    "columns": "how-to/columns.md",
    "buckets": "how-to/buckets.md",
    "personal": "how-to/personal.md",
    "coincident": "how-to/coincident.md",
    "disclosure": "how-to/disclosure.md",
    "kdgs": "explanation/semantic-k-anonymity.md",
    "optimal": "how-to/baselines.md",
    "mondrian": "how-to/baselines.md",
    "sampling": "how-to/baselines.md",
    AUDIT: "how-to/auditing.md",
    ELSEWHERE: "how-to/how-much-is-left.md",
}
"""The page of the docs about each."""

RUNNERS_UP = {
    "noisy-counts": (
        "safepub",
        "It releases a sample of real records, and keeps about a third less. Take it if rows will "
        "be checked or linked one by one.",
    ),
    "safepub": (
        "noisy-counts",
        "It keeps about half as much again, but counts are off by a few.",
    ),
    "columns": (
        "noisy-counts",
        "It keeps how all columns relate, but needs people who look alike in all of them.",
    ),
    "buckets": (
        "coincident",
        "It keeps values beside people, but the other columns become ranges.",
    ),
    "personal": (
        "noisy-counts",
        "It holds against someone who knows the algorithm, but records no longer stand for people.",
    ),
    "coincident": (
        "buckets",
        "It keeps all other columns exact, but shows the sensitive values apart from people.",
    ),
    "disclosure": (
        "coincident",
        "It keeps far more, but leaves out a few records by lot.",
    ),
    "kdgs": (
        "noisy-counts",
        "It chooses levels by itself and hides who is in the table, but counts are off by a few.",
    ),
    "optimal": (
        "kdgs",
        "It holds against someone who knows the algorithm, but levels are fixed without looking.",
    ),
    "mondrian": (
        "kdgs",
        "Its levels are the same for all people, but numbers become wider intervals.",
    ),
    "sampling": (
        "personal",
        "It makes people harder to recognise, but values become coarser.",
    ),
    AUDIT: (
        "noisy-counts",
        "A table denies nothing and promises more, but shows numbers as ranges.",
    ),
    ELSEWHERE: (
        "noisy-counts",
        "Its values are true, but rare combinations and full detail are lost.",
    ),
}
"""What comes next, and why it is not taken."""


@typed
def guide_of(way: str) -> Guide:
    """When to take a way that may be recommended."""
    others = {AUDIT: _AUDITED, ELSEWHERE: _SYNTHETIC}
    return others[way] if way in others else entry_of(way).guide
