"""The risks of a project's table as its recipe stands, worked out once for each question.

A question is all that the figures depend on besides the rows: roles, who is a person, thresholds.
Uses `measure`, `recipe` and `tables`; the screens on roles and risk use it, and the job that looks
at columns. Everything here is the owner's.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from math import comb
from typing import Any
from weakref import WeakKeyDictionary

from shoal.data.schema import Role
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.measure.gates import share
from shoal.measure.risk import THRESHOLD, Assessment, assess
from shoal.measure.uniqueness import (
    EXACT_COLUMNS,
    LARGEST_SET,
    MOST_SETS,
    ORDERS,
    ColumnRisk,
    IdentifyingSet,
    PopulationUniqueness,
)
from shoal.recipe.editing import Draft
from shoal.recipe.people import people_said
from shoal.workbench.projects import Project
from shoal.workbench.words import is_whole

__all__ = [
    "RiskQuestion",
    "assessed",
    "detailed",
    "details_of",
    "effort",
    "is_quick",
    "known",
    "question_of",
    "with_details",
]

NOTE = "risk"
"""The note of what is chosen on the screens and is not part of a recipe."""

UNIQUE = "1/20"
"""Sets of columns are listed by which more than this share of people is unique, by default."""

_QUICK = 4_000_000
"""Cells up to which columns are looked at, and risks worked out, before a page is shown."""

_KEPT = 24
"""Assessments that are kept of a table."""


@dataclass(frozen=True)
class RiskQuestion:
    """What is asked about a table.

    threshold: the risk above which somebody is at risk
    unique_share: sets of columns count that make more than this share of people unique
    fraction: the share of the population that the table holds, if known
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifying: tuple[str, ...] = ()
    person: str | None = None
    household: str | None = None
    rows_are_people: bool = False
    threshold: str = str(THRESHOLD)
    unique_share: str = "0"
    fraction: str | None = None

    @property
    def at_risk(self) -> Fraction:
        """The risk above which somebody is at risk."""
        return Fraction(self.threshold)

    @property
    def plain(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> "RiskQuestion":
        """A question from its plain values."""
        lists = {name: tuple(value) for name, value in plain.items() if isinstance(value, list)}
        return cls(**{**plain, **lists})


def question_of(project: Project, draft: Draft, columns: Sequence[str]) -> RiskQuestion:
    """What the screens ask about a table with some columns, by its recipe and what was chosen."""
    roles = draft.section("roles")
    having = {
        role: tuple(name for name in columns if roles.get(name) == role.value) for role in Role
    }
    said = people_said(draft)
    chosen = chosen_for(project)
    household = chosen.get("household")
    return RiskQuestion(
        quasi=having[Role.QUASI],
        sensitive=having[Role.SENSITIVE],
        identifying=having[Role.IDENTIFYING],
        person=said.column if said.column in columns else None,
        household=household if household in columns else None,
        rows_are_people=said.rows,
        threshold=chosen.get("threshold", str(THRESHOLD)),
        unique_share=chosen.get("unique_share", UNIQUE),
        fraction=chosen.get("fraction"),
    )


# What is chosen on the screens


def chosen_for(project: Project) -> dict[str, str]:
    """What was chosen for the figures of a project, as far as it can still be read."""
    noted = project.note(NOTE)
    return noted if isinstance(noted, dict) else {}


def choose(project: Project, name: str, value: str | None) -> None:
    """Choose something for the figures; None takes it back."""
    with project.noting(NOTE) as noted:
        noted[name] = value
        if value is None:
            del noted[name]


def threshold_of(text: str) -> str:
    """A risk as a text: 5 is groups of five, which is 1/5; 20%, 0.2 and 1/5 are the same."""
    text = text.strip().replace(" ", "").replace(",", ".")
    if is_whole(text) and int(text) > 1:
        return f"1/{int(text)}"
    risk = share(text, "threshold")
    if not 0 < risk < 1:
        raise ParameterError(
            "a risk above which people are at risk lies between 0 and 1",
            "give a group size such as 5, or a risk such as 20%",
        )
    return str(risk)


# Figures


class _Assessments:
    """The assessments of one table, the latest used last."""

    def __init__(self) -> None:
        self.known: OrderedDict[tuple[Any, ...], Assessment] = OrderedDict()
        self.lock = threading.Lock()

    def find(self, keys: Sequence[tuple[Any, ...]]) -> Assessment | None:
        with self.lock:
            for key in keys:
                if key in self.known:
                    self.known.move_to_end(key)
                    return self.known[key]
        return None

    def keep(self, key: tuple[Any, ...], found: Assessment) -> Assessment:
        with self.lock:
            self.known[key] = found
            while len(self.known) > _KEPT:
                self.known.popitem(last=False)
        return found


_TABLES: WeakKeyDictionary[Table, _Assessments] = WeakKeyDictionary()
_LOCK = threading.Lock()


def _kept(table: Table) -> _Assessments:
    with _LOCK:
        return _TABLES.setdefault(table, _Assessments())


def assessed(table: Table, question: RiskQuestion, *, sensitive: bool = False) -> Assessment:
    """The risks of a table without its roles, with those of a question.

    sensitive: look at the diversity of sensitive columns too, which takes most of the time
    """
    found = known(table, question, sensitive=sensitive)
    if found is not None:
        return found
    plain = _plain(question)
    return _kept(table).keep((plain, sensitive), _assess(table, plain, sensitive=sensitive))


def known(table: Table, question: RiskQuestion, *, sensitive: bool = False) -> Assessment | None:
    """The same if it was worked out before."""
    plain = _plain(question)
    return _kept(table).find([(plain, True), (plain, sensitive)])


def is_quick(table: Table) -> bool:
    """Whether a page may wait for the figures of a table."""
    return table.rows * len(table.names) <= _QUICK


def _plain(question: RiskQuestion) -> RiskQuestion:
    """A question without what only details depend on."""
    return replace(question, unique_share="0", fraction=None)


def detailed(table: Table, question: RiskQuestion) -> Assessment:
    """The same with each column's share in the risk and the smallest identifying sets."""
    kept = _kept(table)
    key = (question, "details")
    return kept.find([key]) or kept.keep(
        key, _assess(table, question, sensitive=False, details=True)
    )


def _assess(
    table: Table, question: RiskQuestion, *, sensitive: bool, details: bool = False
) -> Assessment:
    roles = table.with_roles(
        quasi=question.quasi, sensitive=question.sensitive, identifying=question.identifying
    )
    return assess(
        roles,
        sensitive=None if sensitive else (),
        person=question.person,
        household=question.household,
        rows_are_people=question.rows_are_people,
        threshold=question.at_risk,
        unique_share=Fraction(question.unique_share),
        fraction=None if question.fraction is None else Fraction(question.fraction),
        details=details,
    )


def effort(table: Table, question: RiskQuestion) -> int:
    """How many rows `detailed` goes through, over all sets of columns that it looks at."""
    columns = len(question.quasi)
    shares = 2**columns if columns <= EXACT_COLUMNS else ORDERS * columns
    sets = 0
    for size in range(1, min(LARGEST_SET, columns) + 1):
        if comb(columns, size) > MOST_SETS:
            break
        sets += comb(columns, size)
    # Telling people apart sorts what else is only counted.
    each = 1 if question.person is None else 10
    return table.rows * (shares + sets) * each


def details_of(assessment: Assessment) -> dict[str, Any]:
    """What `detailed` adds, as plain values for JSON."""
    population = assessment.population_uniqueness
    return {
        "column_risks": [asdict(one) for one in assessment.column_risks or ()],
        "identifying_sets": [asdict(one) for one in assessment.identifying_sets or ()],
        "population_uniqueness": None if population is None else asdict(population),
    }


def with_details(assessment: Assessment, details: Mapping[str, Any]) -> Assessment:
    """An assessment with what `details_of` told of it."""
    sets = [
        IdentifyingSet(tuple(one["columns"]), one["uniques"], one["share"])
        for one in details["identifying_sets"]
    ]
    population = details["population_uniqueness"]
    return replace(
        assessment,
        column_risks=tuple(ColumnRisk(**one) for one in details["column_risks"]),
        identifying_sets=tuple(sets),
        population_uniqueness=population and PopulationUniqueness(**population),
    )
