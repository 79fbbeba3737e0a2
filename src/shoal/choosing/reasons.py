"""Why each answer leads where it does: one sentence for every answer, by what is recommended.

Uses the names of `deciding`; `recommending` takes the sentences from here.

A text is either the same for all ways, or there is one for some of them, and one for "the others".
"""

from collections.abc import Mapping

from shoal.choosing.deciding import AUDIT, ELSEWHERE
from shoal.choosing.questions import UNKNOWN

__all__ = ["reason_of"]

OTHERS = "the others"

_PRIVATE = ("noisy-counts", "safepub", "columns")
_FAMILIES = {
    **dict.fromkeys(_PRIVATE, "private"),
    **dict.fromkeys(("coincident", "disclosure", "kdgs", "optimal", "mondrian"), "groups"),
}

Texts = Mapping[str, str] | str


def reason_of(question: str, answer: str, method: str) -> str:
    """Why an answer leads to a method, or what it changes about it."""
    texts = _REASONS[question][answer]
    if isinstance(texts, str):
        return texts
    for name in (method, _FAMILIES.get(method, method), OTHERS):
        if name in texts:
            return texts[name]
    return texts[OTHERS]


_REASONS: dict[str, dict[str, Texts]] = {
    "who": {
        "anyone": {
            "private": (
                "Anyone may get it, also people who know a lot. A total ε of 1 is a strong promise "
                "that leaves a useful table."
            ),
            ELSEWHERE: "Anyone may get it, so take a tool that promises differential privacy.",
            OTHERS: "Anyone may get it, so nothing may depend on what recipients do not know.",
        },
        "contract": {
            "private": "A contract binds those who get it, so a total ε of 2 may do.",
            OTHERS: "A contract binds those who get it: it forbids what is not made impossible.",
        },
        "colleagues": {
            "private": "Colleagues answer for what they do with it, so a total ε of 3 may do.",
            OTHERS: "Colleagues answer for what they do with it.",
        },
        "questions": {
            AUDIT: "Nobody needs a table: questions are answered one by one, or denied.",
            OTHERS: (
                "Nobody needs the table itself, but a table that may be published answers any "
                "number of questions and denies none."
            ),
        },
        UNKNOWN: {
            "private": "You do not know who will get it: taken as anyone, with a total ε of 1.",
            OTHERS: "You do not know who will get it: taken as anyone.",
        },
    },
    "use": {
        "records": {
            "buckets": "They look at records: all columns but the sensitive one are unchanged.",
            "sampling": "They look at records, which are unchanged.",
            OTHERS: "They look at records and subgroups: values stay true and become coarser.",
        },
        "counts": {
            "noisy-counts": "They count: each different row is released once, with its count.",
            "columns": "They count: each different row is released once, with its count.",
            "kdgs": "They count: each different row is released once, with its count.",
            "buckets": "They count: shoal count estimates how many people have some values.",
            OTHERS: "They count and cross-tabulate: the rows of the release can be counted.",
        },
        "model": {
            "noisy-counts": "They train a model: levels are those that predict best.",
            "safepub": "They train a model: levels are those that predict best.",
            OTHERS: "They train a model, which learns from what is released; test it on the input.",
        },
        "join": {
            "buckets": "They join by exact values: all columns but the sensitive one stay exact.",
            "sampling": "They join by exact values, so values stay exact.",
            OTHERS: "They join by exact values, which is not possible with coarser ones.",
        },
        "totals": (
            "Totals at full detail are what synthetic data is made for: on a census, half of them "
            "were off by less than 13 %, and by 43 % with noisy counts."
        ),
        "software": "Software needs rows of the right form. They need not be about anybody.",
        UNKNOWN: "You do not know what they will do: taken as looking at records and subgroups.",
    },
    "ask": {
        "totals": {
            AUDIT: "Sums and means are answered, right to about the last digit.",
            OTHERS: "Sums and means are worked out from the table, as far as values are fine.",
        },
        "extremes": {
            AUDIT: "The highest or lowest values are answered exactly: one kind for each column.",
            OTHERS: "The highest and lowest values are not shown: a table shows ranges.",
        },
        "counts": "How many people have some values is counted in the table.",
        UNKNOWN: "You do not know what they will ask: a table answers whatever its columns can.",
    },
    "harm": {
        "membership": (
            "Nobody may tell whether someone is in it: only differential privacy promises that."
        ),
        "record": {
            "private": (
                "Which row is whose must not be found out: what is released would be nearly as "
                "likely without any one person."
            ),
            "groups": "Which row is whose must not be found out: people share rows with others.",
            "personal": (
                "Which row is whose must not be found out: each is shown at the lowest risk that "
                "keeps its utility."
            ),
            OTHERS: "Which row is whose cannot be found out, as no row is shown.",
        },
        "value": {
            "private": (
                "A value must not be found out. What is concluded hardly depends on one's own row, "
                "and this still holds when releases come together."
            ),
            AUDIT: "A value must not be found out: every value stays uncertain by a width.",
            OTHERS: "A value must not be found out: how likely it can become is limited.",
        },
        "least": {
            "sampling": "Nothing has to be hidden, only fewer records be given away.",
            AUDIT: "Nothing in particular has to be hidden, and yet no value is given away.",
            OTHERS: (
                "You name nothing that must not be found out, but not only colleagues get it: "
                "taken as everything."
            ),
        },
        UNKNOWN: (
            "You do not know what must not be found out: differential privacy holds against "
            "those who know most."
        ),
    },
    "algorithm": {
        "yes": "They may know how it was made, and the promise holds nevertheless.",
        "no": {
            "optimal": "Nobody who gets it knows the algorithm: a property of the table will do.",
            "mondrian": "Nobody who gets it knows the algorithm: a property of the table will do.",
            "personal": "Nobody who gets it knows the algorithm: so risks are as counted.",
            OTHERS: "Nobody who gets it knows the algorithm; it would hold against those, too.",
        },
        UNKNOWN: "You do not know whether the algorithm is known: taken as yes, as code is public.",
    },
    "rule": {
        "none": "No rule prescribes a model, so what has to be hidden decides.",
        "cells": {
            "safepub": "A rule asks for groups of 11: those of SafePub are larger.",
            OTHERS: "A rule asks for groups of 11, so k is 11.",
        },
        "nine": {
            "safepub": "A risk of at most 9 % needs groups of 12: those of SafePub are larger.",
            OTHERS: "A risk of at most 9 % needs groups of 12, since 1/11 is above it: k is 12.",
        },
        "diversity": {
            "private": "A rule asks for l-diversity, which is no part of differential privacy.",
            OTHERS: "A rule asks for l-diversity: groups have that many different values.",
        },
        UNKNOWN: {
            "safepub": "You do not know of a rule: groups are larger than the usual ones ask for.",
            OTHERS: "You do not know of a rule: groups of 12 satisfy the usual ones.",
        },
    },
    "shape": {
        "dozen": "In a few dozen columns many people look alike once values are coarser.",
        "wide": {
            "columns": (
                "In hundreds of columns no two people look alike, so groups of columns are "
                "released, each separately."
            ),
            OTHERS: "In hundreds of columns not all levels can be tried: a heuristic looks.",
        },
        "numbers": {
            "buckets": "Numbers must stay numbers, so they are released unchanged.",
            "mondrian": "Numbers get ranges as narrow as each group allows.",
            "coincident": "Numbers get ranges as narrow as each group allows.",
            OTHERS: "Numbers become intervals: give them hierarchies with narrow ones.",
        },
        UNKNOWN: {
            "private": "You do not know its shape: the promise holds for any.",
            OTHERS: "You do not know its shape: taken as up to a few dozen columns.",
        },
    },
    "rows": {
        "noisy": {
            "noisy-counts": "Counts may be off by a few: so all records count, and most is kept.",
            OTHERS: "Counts may be off by a few, though here rows are real records.",
        },
        "real": {
            "safepub": "Every row must be a real record: a sample of them is released.",
            "kdgs": "Every row must be a real record: those that enough share are released.",
            OTHERS: "Every row must be a real record, and is.",
        },
        "all": {
            "safepub": (
                "Every record must be in it, which no promise about single people allows: at least "
                "every row is a real record."
            ),
            OTHERS: "Every record must be in it, so none is left out.",
        },
        UNKNOWN: {
            "noisy-counts": "You do not know whether counts must be true: noise keeps most.",
            OTHERS: "You do not know whether counts must be true: here they are.",
        },
    },
    "person": {
        "row": "Every person is one row, so what holds for rows holds for people.",
        "several": {
            "columns": "People have several rows, one for each thing: `person` says whose.",
            OTHERS: "People have several rows: `unit` says whose, and one of each is drawn.",
        },
        "household": {
            "columns": "Households are protected as a whole: `person` says which.",
            OTHERS: "Households are protected as a whole: one row of each is drawn.",
        },
        UNKNOWN: {
            "columns": "You do not know what a person is: `person` takes the largest unit.",
            OTHERS: "You do not know what a person is: `unit` takes the largest, one row of each.",
        },
    },
    "people": {
        "thousand": {
            "private": "With up to 1,000 people, δ is 1e-5.",
            OTHERS: "With up to 1,000 people, there are few groups.",
        },
        "hundred-thousand": {
            "private": "With up to 100,000 people, δ is 1e-7.",
            OTHERS: "With up to 100,000 people, groups can be fine.",
        },
        "ten-million": {
            "private": "With up to 10 million people, δ is 1e-9.",
            OTHERS: "With up to 10 million people, groups can be very fine.",
        },
        "more": {
            "private": "With more than 10 million people, δ is 1e-12.",
            OTHERS: "With more than 10 million people, groups can be as fine as columns allow.",
        },
        UNKNOWN: {
            "private": "You do not know how many people there are: δ is 1e-12, enough for any.",
            OTHERS: "You do not know how many people there are: look at the groups first.",
        },
    },
    "before": {
        "once": {
            "private": "It is the only release, so it gets all of ε.",
            OTHERS: "It is the only release, so nothing can be put together with it.",
        },
        "before": {
            "private": "Something has been released before: half of ε is left for this.",
            OTHERS: "Something has been released before, which may reveal more together with this.",
        },
        "again": {
            "private": "It will be released again: only ε adds up, and this gets a quarter of it.",
            AUDIT: "It will be asked again: all answers ever given count.",
            OTHERS: "It will be released again: the more often, the more people are drawn.",
        },
        UNKNOWN: {
            "private": "You do not know of other releases: only ε adds up, a quarter is for this.",
            OTHERS: "You do not know of other releases: find out, as they count.",
        },
    },
}
"""Why, by question and answer."""
