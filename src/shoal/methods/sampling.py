"""Random sampling: every record is released unchanged, or not at all.

It is a baseline for comparison.

Uses `counts` and `chance`; the catalogue lists it.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from shoal.arguments import keep, typed
from shoal.chance import Chance
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.exact.numbers import Exact, fraction
from shoal.methods.entry import Entry, Guide
from shoal.methods.method import Progress, begin
from shoal.privacy.promises import Promise, Sampled
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import lay_out, released
from shoal.releases.release import Release

__all__ = ["RandomSample"]


@typed
@dataclass(frozen=True, init=False)
class RandomSample:
    """Each record unchanged, with the same probability, independently (Poisson sampling).

    probability: the chance that a record is released
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used

    >>> print(RandomSample("1/10").probability)
    1/10
    """

    probability: Fraction
    unit: str | None

    name: ClassVar[str] = "sampling"

    def __init__(self, probability: Exact, unit: str | None = None) -> None:
        keep(self, probability=fraction(probability, "probability", 0, 1), unit=unit)

    def promise(self, schema: Schema) -> Promise:
        """The probability, and nothing about those who were drawn."""
        schema.require_unit(self.unit)
        return Sampled(self.probability, self.unit)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The records drawn, in an order that their values alone decide."""
        job = begin(self, table, chance, progress)
        rows = job.table.count(released(job.table), {})
        job.progress(0, 1, "drawing records")
        drawn = replace(rows, count=job.chance.binomial(rows.count, self.probability))
        job.progress(1, 1, "drawing records")
        return Release(
            lay_out(job.table, {}, drawn),
            certify(job.table, self, job.promise, job.chance),
            Facts(records=job.rows),
        )


ENTRY = Entry(
    method=RandomSample,
    summary="every record unchanged, or not at all",
    draft=('probability = "?"  # that a record is released, such as 0.1',),
    public_algorithm=False,
    public_choices=False,
    subset=True,
    needs_quasi=False,
    needs_hierarchies=False,
    not_attacked=(
        "records are released unchanged, so knowing the algorithm adds nothing; shoal assess says "
        "how easily they are recognised"
    ),
    guide=Guide(
        need="Colleagues may recognise people, and need only some records",
        promise="Your record is released with the given probability, and otherwise not at all.",
        cost="All records that are not drawn",
        leaves_open="Everything about whoever is drawn",
        example="Trying out an analysis",
    ),
)
