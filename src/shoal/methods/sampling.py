"""Random sampling: every record is released as it is, or not at all. A baseline that people compare with."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import group
from shoal.data.tables import Table
from shoal.exact.numbers import Exact, fraction
from shoal.methods import Progress, Schema, people_of
from shoal.methods.entry import Entry
from shoal.privacy.promises import Promise, Sampled
from shoal.releases.certificate import certify
from shoal.releases.layout import lay_out, released
from shoal.releases.release import Release

__all__ = ["RandomSample"]


@typed
@dataclass(frozen=True)
class RandomSample:
    """Each record with the same probability, independently of all others (Poisson sampling), unchanged.

    `unit` is the identifying column that tells whose rows belong together: one row of each person is drawn, and only that is
    used.

    >>> print(RandomSample("1/10").probability)
    1/10
    """

    probability: Exact
    unit: str | None = None

    name: ClassVar[str] = "sampling"

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", fraction(self.probability, "probability", 0, 1))

    def promise(self, schema: Schema) -> Promise:
        """The probability, and nothing about those who were drawn."""
        schema.require_unit(self.unit)
        return Sampled(self.probability, self.unit)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The records drawn, in an order of their own."""
        promise = self.promise(Schema.of(table))
        chance = chance or Chance()
        table = people_of(self, table, chance)
        columns = [table.column(name) for name in released(table)]
        rows = group(
            [column.name for column in columns],
            [column.codes for column in columns],
            [max(len(column.keys), 1) for column in columns],
        )
        if progress:
            progress(0, table.rows, "drawing records")
        drawn = replace(rows, count=chance.binomial(rows.count, Fraction(self.probability)))
        if progress:
            progress(table.rows, table.rows, "drawing records")
        return Release(lay_out(table, {}, rows=drawn), certify(table, self, promise, chance))


ENTRY = Entry(
    method=RandomSample,
    summary="every record unchanged, or not at all",
    draft=('probability = "?"  # that a record is released, such as 0.1',),
    public_algorithm=False,
    subset=True,
    needs_quasi=False,
    needs_hierarchies=False,
)
