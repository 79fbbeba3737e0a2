"""`Facts`: what a method learnt about the input while it made a release.

Uses `exact`; `Release` carries it, and methods extend it.

All of it is for the owner only: it reveals information about the input that no budget paid for, and
is never written.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from shoal.errors import plural
from shoal.exact.numbers import percent
from shoal.zones import owner_only

__all__ = ["Entered", "Facts", "KeptFacts", "WithEarlier"]


@owner_only
@dataclass(frozen=True, kw_only=True)
class Facts:
    """What every release may tell its owner.

    records: how many records came in
    suppressed: how many of them are not in the release
    groups: how many groups are released, where there are groups
    crowd: about how many records must share a row for it to be more likely than not to be released
    loss: what the records have lost together, from 0 (the input) to 1 (nothing left), where that is
        known
    concerns: why the promise may be worth less than it seems
    """

    records: int = 0
    suppressed: int = 0
    groups: int | None = None
    crowd: int | None = None
    loss: float | None = None
    concerns: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """What the owner is told after a release, in plain sentences."""
        yield from self.figures()
        yield from self.concerns
        if self.loss is not None:
            yield f"loss {percent(self.loss)}, from 0 % for the input to 100 % for nothing left"

    def figures(self) -> Iterator[str]:
        """What this method in particular has to say."""
        if self.suppressed:
            share = percent(self.suppressed / self.records)
            yield f"{plural(self.suppressed, 'record')} suppressed, {share}"


@owner_only
@dataclass(frozen=True, kw_only=True)
class KeptFacts(Facts):
    """The facts of a method that releases some of the records.

    kept: how many
    used: how many could be, where only some rows of each person are drawn
    """

    kept: int
    used: int | None = None

    def figures(self) -> Iterator[str]:
        could = self.records
        if self.used is not None and self.used != self.records:
            records = plural(self.records, "record")
            yield f"{self.used:,} of {records} drawn, at most `rows` of each person"
            could = self.used
        share = f" ({percent(self.kept / could)})" if could else ""
        records = plural(could, "record")
        yield f"{self.kept:,} of {records} kept{share}, in {plural(self.groups or 0, 'group')}"


@owner_only
@dataclass(frozen=True)
class WithEarlier:
    """What a ledger with a γ found out about a release together with earlier ones.

    kept: whether γ is kept; None if that cannot be decided
    why: in words that name nobody; empty if it is kept
    entries: the earlier releases that show the same columns
    unmet: values with a limit of their own that nothing shows
    """

    kept: bool | None
    why: str
    entries: tuple[int, ...]
    unmet: tuple[str, ...]


@owner_only
@dataclass(frozen=True)
class Entered:
    """Where a ledger has a release.

    number: of the ledger's entry
    other_data: whether the data is not that of the release before
    together: how it stands with earlier releases, if the ledger has a γ
    override: why it was released although γ is not kept, if it was
    """

    number: int
    other_data: bool
    together: WithEarlier | None = None
    override: str | None = None
