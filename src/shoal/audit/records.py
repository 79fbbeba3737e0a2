"""What the entries of an audit's log say: a record per kind of entry. `Audit` uses it.

The first entry also has a secret key, which no record has: without it, a digest of the log would be
a way to try values out.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar
from zlib import compress, decompress

from shoal.audit.model import Decision
from shoal.audit.secret import Secret, simplest
from shoal.exact.numbers import printed

__all__ = ["Asked", "Begun", "number_text", "people_of", "people_text"]

Json = Mapping[str, Any]

COMPRESSED = "zlib:"
"""Before a set of people that is compressed."""


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
    """A query was asked, and answered or denied.

    drawn: what was drawn for a dithered column, where anything was
    """

    what: ClassVar[str] = "asked"

    analyst: str
    query: str
    aggregate: str
    column: str
    decision: Decision
    drawn: str = field(default="", repr=False)

    @classmethod
    def from_dict(cls, facts: Json) -> "Asked":
        value = None if facts["value"] is None else simplest(Fraction(facts["value"]))
        people = people_of(facts["people"])
        decision = Decision(people, facts["answered"], facts["relation"], value)
        query, aggregate = facts["query"], facts["aggregate"]
        drawn = facts.get("drawn", "")
        return cls(facts["analyst"], query, aggregate, facts["column"], decision, drawn)

    def to_dict(self) -> dict[str, Any]:
        decision = self.decision
        value = None if decision.value is None else number_text(Fraction(decision.value))
        facts = {
            "analyst": self.analyst,
            "query": self.query,
            "aggregate": self.aggregate,
            "column": self.column,
            "people": people_text(decision.people),
            "answered": decision.answered,
            "relation": decision.relation,
            "value": value,
        }
        return {**facts, "drawn": self.drawn} if self.drawn else facts


def people_text(people: int) -> str:
    """A set of people for the store: hexadecimal, or compressed where that is shorter."""
    plain = f"{people:x}"
    size = (people.bit_length() + 7) // 8
    packed = COMPRESSED + b64encode(compress(people.to_bytes(size, "little"))).decode()
    return packed if len(packed) < len(plain) else plain


def people_of(text: str) -> int:
    """A set of people from the store."""
    if not text.startswith(COMPRESSED):
        return int(text, 16)
    packed = b64decode(text.removeprefix(COMPRESSED))
    return int.from_bytes(decompress(packed), "little")


def number_text(value: Fraction) -> str:
    """A number for the store.

    Of one with digits that were added, the shortest text would take long to find.
    """
    return str(value) if value.denominator > 10**100 else printed(value)
