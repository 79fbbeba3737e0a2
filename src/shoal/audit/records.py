"""What the entries of an audit's log say: a record per kind of entry. `Audit` uses it.

The first entry also has a secret key, which no record has: without it, a digest of the log would be
a way to try values out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from shoal.audit.model import Decision
from shoal.audit.secret import Secret, simplest
from shoal.exact.numbers import printed

__all__ = ["Asked", "Begun", "number_text"]

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Begun:
    """A table was put under audit.

    public: the columns that conditions are about
    named: the public column that names people
    data: the digest of all data in the store
    """

    people: int
    public: tuple[str, ...]
    named: str | None
    secrets: tuple[Secret, ...]
    data: str

    @classmethod
    def from_dict(cls, facts: Json) -> "Begun":
        secrets = tuple(Secret(**secret) for secret in facts["secrets"])
        public = tuple(facts["public"])
        return cls(facts["people"], public, facts["named"], secrets, facts["data"])

    def to_dict(self) -> dict[str, Any]:
        return {
            "people": self.people,
            "public": list(self.public),
            "named": self.named,
            "secrets": [secret.to_dict() for secret in self.secrets],
            "data": self.data,
        }


@dataclass(frozen=True)
class Asked:
    """A query was asked, and answered or denied."""

    what: ClassVar[str] = "asked"

    analyst: str
    query: str
    aggregate: str
    column: str
    decision: Decision

    @classmethod
    def from_dict(cls, facts: Json) -> "Asked":
        value = None if facts["value"] is None else simplest(Fraction(facts["value"]))
        people = int(facts["people"], 16)
        decision = Decision(people, facts["answered"], facts["relation"], value)
        return cls(facts["analyst"], facts["query"], facts["aggregate"], facts["column"], decision)

    def to_dict(self) -> dict[str, Any]:
        decision = self.decision
        value = None if decision.value is None else number_text(Fraction(decision.value))
        return {
            "analyst": self.analyst,
            "query": self.query,
            "aggregate": self.aggregate,
            "column": self.column,
            "people": f"{decision.people:x}",
            "answered": decision.answered,
            "relation": decision.relation,
            "value": value,
        }


def number_text(value: Fraction) -> str:
    """A number for the store.

    Of one with digits that were added, the shortest text would take long to find.
    """
    return str(value) if value.denominator > 10**100 else printed(value)
