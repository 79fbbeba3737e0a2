"""The attack on personal generalisation by someone with a register who knows the algorithm.

Uses `shoal.methods.personal`, which has the arithmetic, as it tells owners of it; the command line,
docs and benchmarks use it.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from shoal.arguments import typed
from shoal.attack.knowledge import require_one_row_per_person, text_of
from shoal.chance import Chance
from shoal.data.sources import Memory
from shoal.data.tables import Table
from shoal.errors import ColumnError, listed
from shoal.methods.method import Progress, silent
from shoal.methods.personal import People, Personal
from shoal.methods.personal.recognition import Recognition, recognition
from shoal.zones import owner_only

__all__ = ["RecognisedPeople", "Recognition", "recognise", "recognised"]


@owner_only
@dataclass(frozen=True)
class RecognisedPeople:
    """What someone with a register who knows the algorithm makes of a release.

    records: how many are released
    named, named_as_counted: the mean chance to name the right person, and what it would be among
        all whom the released values fit
    alone, alone_as_counted: the share of records with one person left, and with one whom they fit
    replayed: whether running the method gives the very release, as it does unless it draws
    """

    records: int
    named: float
    named_as_counted: float
    alone: float
    alone_as_counted: float
    replayed: bool


@typed
def recognise(
    method: Personal,
    table: Table,
    released: Any,
    *,
    chance: Chance | None = None,
    progress: Progress = silent,
) -> RecognisedPeople:
    """What an attacker who knows the algorithm makes of a release of a table.

    The attacker is as for `recognised`. Where the method draws, another run is attacked, whose
    draws are known.

    released: the released dataframe
    """
    people = _people(method, table)
    seen = recognition(people, chance or Chance(), progress)
    return RecognisedPeople(
        records=people.rows.total,
        named=seen.mean(seen.left),
        named_as_counted=seen.mean(seen.fitting),
        alone=seen.alone(seen.left),
        alone_as_counted=seen.alone(seen.fitting),
        replayed=_shown(people, seen) == _texts(people, released),
    )


@typed
def recognised(method: Personal, table: Table, chance: Chance | None = None) -> Recognition:
    """What is left of the crowds of a table for an attacker who knows the algorithm.

    The attacker has the method's register, or the quasi-identifying columns of the table where it
    has none, and runs the method for everyone in it, with every wish that people may have. Who has
    which wish is known only where the column of choices is released. Of a heuristic solver even the
    draws are taken as known. Where the table has no column of choices, everybody counts as having
    chosen nothing, and may have chosen anything for all the attacker knows.
    """
    return recognition(_people(method, table), chance or Chance(), silent)


def _people(method: Personal, table: Table) -> People:
    """The table as the solvers see it."""
    require_one_row_per_person(method)
    if method.choice in table.names:
        return People.of(method, table)
    # Nobody's wish is known then, but all that are possible are tried.
    people = People.of(replace(method, choice=None, wishes={}), table)
    return replace(people, method=method)


def _shown(people: People, seen: Recognition) -> Counter[tuple[str, ...]]:
    """How often each combination of texts is released where the method is run."""
    columns = []
    for texts, codes in people.shown(seen.levels).values():
        columns.append([texts[code] for code in codes.tolist()])
    shown: Counter[tuple[str, ...]] = Counter()
    for row, often in zip(zip(*columns, strict=True), seen.people.tolist(), strict=True):
        shown[row] += often
    return shown


def _texts(people: People, released: Any) -> Counter[tuple[str, ...]]:
    """How often a release has each combination of texts."""
    frame = Memory.of(released).frame
    absent = [name for name in people.hierarchies if name not in frame.columns]
    if absent:
        raise ColumnError(
            f"the release has no column {listed(absent)}", "give a release of this table"
        )
    columns = [map(text_of, frame[name].to_list()) for name in people.hierarchies]
    return Counter(zip(*columns, strict=True))
