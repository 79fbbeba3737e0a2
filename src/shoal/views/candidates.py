"""Views that could be shown in addition: who would be in them. Uses `model`, and `sources` for a register; `restoring` and
`planning` choose among them.

A candidate is a set of people, by a condition on what is public. What it would show is known to whoever has the table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise

from shoal.arguments import typed
from shoal.data.kinds import Key
from shoal.data.tables import Table
from shoal.errors import InputError, ParameterError, plural
from shoal.exact.numbers import whole
from shoal.views.model import OUTSIDE, Outside, Value, View, Views
from shoal.views.sources import Register

__all__ = [
    "PLACES",
    "Candidate",
    "fits",
    "free",
    "fresh",
    "public",
    "refinements",
    "subsets",
    "truth",
]

PLACES = 2_000_000
"""People of all candidates of one call, each counted as often as there are candidates with them: about 100 MB."""

Columns = Mapping[str, Sequence[Key | None]]
"""Public columns: of everybody in the register the value, None where it is missing."""


@dataclass(frozen=True)
class Candidate:
    """People of whom a view could be shown; its name says by which condition."""

    name: str
    people: frozenset[int]

    def view(self, table: Sequence[Value]) -> View:
        """What it shows of a table: everybody's value, `OUTSIDE` for who is not in it.

        Values are in their own order, as that of the people who have them would tell of these.

        >>> Candidate("the first two", frozenset({0, 1})).view(["flu", "cold", "flu"]).bag
        {'cold': 1, 'flu': 1}
        """
        values = [
            value for person in self.people if not isinstance(value := table[person], Outside)
        ]
        return View(
            self.name,
            self.people,
            sorted(values, key=lambda one: (one is None, str(type(one)), one)),
        )


@typed
def public(register: Register) -> dict[str, list[Key | None]]:
    """The public columns of a register, without the one that names people."""
    found: dict[str, list[Key | None]] = {}
    for name in register.people.names:
        if name != register.person:
            column = register.people.column(name)
            found[name] = [column.keys[code] for code in column.codes.tolist()]
    return found


@typed
def truth(register: Register, data: Table, column: str, *, complete: bool = True) -> list[Value]:
    """Everybody's value in a table: by the column that names people in the register, or else row by row."""
    secret = data.column(column)
    told = [register._value(key) for key in secret.keys]
    values: list[Value] = [told[code] for code in secret.codes.tolist()]
    if register.person is None:
        if len(values) != len(register.names):
            raise InputError(
                f"the table has {len(values):,} rows and the register {len(register.names):,} people, whom no column names; "
                "give the register a column `person`, or rows in the same order"
            )
        return values
    named = data.column(register.person)
    row: dict[str, int] = {}
    for at, code in enumerate(named.codes.tolist()):
        if row.setdefault(named.labels[code], at) != at:
            raise InputError(
                f"column {register.person!r} of the table names somebody twice; give everybody one row"
            )
    if strangers := len(row.keys() - set(register.names)):
        raise InputError(
            f"the table has {plural(strangers, 'person')} not in the register; add them there"
        )
    if complete and len(row) < len(register.names):
        raise InputError(
            f"{len(register.names) - len(row):,} of the register are not in the table; if that is so, say that the register is "
            "not complete"
        )
    return [values[row[name]] if name in row else OUTSIDE for name in register.names]


@typed
def refinements(
    views: Views,
    columns: Columns,
    *,
    conditions: int = 1,
    same: Mapping[str, str] | None = None,
    places: int = PLACES,
) -> list[Candidate]:
    """Parts of earlier views: those of one view whose public values are in an interval, or are one text.

    conditions: on how many columns at once
    same: for some views the one column whose intervals are taken, as that of their own condition; else all columns are
    places: people that all candidates may have together. Where they would have more, intervals of large views end at fewer
        values, spread evenly

    >>> men = Views(4, [View("men", range(4), "heart SARS SARS virus".split())])
    >>> [one.name for one in refinements(men, {"age": [23, 24, 25, 25]})]
    ['men: age 23 to 24', 'men: age 24 to 25', 'men: age 25']
    """
    _fitting(views, columns)
    given = []
    for view in views.shown:
        own = (
            columns
            if same is None or view.name not in same
            else {same[view.name]: columns[same[view.name]]}
        )
        given += [
            _Source(f"{view.name}: ", view.members, chosen, len(view.members))
            for chosen in _chosen(own, conditions)
        ]
    return _useful(views, _parts(given, places))


@typed
def free(
    views: Views,
    columns: Columns,
    *,
    conditions: int = 1,
    largest: int | None = None,
    places: int = PLACES,
) -> list[Candidate]:
    """Whom intervals and texts of public columns select of the whole register, up to `largest` people: by itself as many as
    the largest view has. `conditions` and `places` as for `refinements`."""
    _fitting(views, columns)
    most = (
        max((len(view.members) for view in views.shown), default=0)
        if largest is None
        else whole(largest, "largest", 1)
    )
    everybody = frozenset(range(len(views.names)))
    return _useful(
        views,
        _parts(
            [_Source("", everybody, chosen, most) for chosen in _chosen(columns, conditions)],
            places,
        ),
    )


@typed
def subsets(views: Views, size: int) -> list[Candidate]:
    """Any so many people of an earlier view, by their names: for small views."""
    found: dict[frozenset[int], str] = {}
    for view in views.shown:
        for people in combinations(sorted(view.members), whole(size, "size", 1)):
            found.setdefault(
                frozenset(people), f"{view.name}: {', '.join(views.names[one] for one in people)}"
            )
    return _useful(views, found)


def fresh(views: Views, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates that can be shown beside the views: of people in the register, and called otherwise than views are."""
    taken = {view.name for view in views.shown}
    found = []
    for one in candidates:
        if not one.people or min(one.people) < 0 or max(one.people) >= len(views.names):
            raise ParameterError(
                f"candidate {one.name!r} has nobody, or people who are not in the register"
            )
        name, number = one.name, 2
        while name in taken:
            name, number = f"{one.name} ({number})", number + 1
        taken.add(name)
        found.append(one if name == one.name else Candidate(name, one.people))
    return found


def fits(views: Views, table: Sequence[Value]) -> None:
    """InputError if a table is not one that could have shown the views."""
    if len(table) != len(views.names):
        raise InputError(
            f"the table has values for {len(table):,} people, the register has {len(views.names):,}; give everybody's"
        )
    if views.complete and any(value is OUTSIDE for value in table):
        raise InputError(
            "somebody of the register is not in the table; say that the register is not complete"
        )
    for view in views.shown:
        if Candidate("", view.members).view(table).shown != view.shown:
            raise InputError(
                f"view {view.name!r} was not shown of this table: it has other values. Give the table that it is of"
            )


def _fitting(views: Views, columns: Columns) -> None:
    for name, values in columns.items():
        if len(values) != len(views.names):
            raise ParameterError(
                f"column {name!r} has {len(values):,} values for {len(views.names):,} people of the register"
            )


_Given = tuple[tuple[str, Sequence[Key | None]], ...]
"""Columns that conditions are on, with their names."""


@dataclass(frozen=True, eq=False)
class _Source:
    """People, and the columns by which some of them are selected, at most so many."""

    prefix: str
    people: frozenset[int]
    columns: _Given
    most: int

    def parts(self, places: int) -> list[tuple[frozenset[int], str]]:
        """Whom conditions on all the columns select, with as many ends of intervals as there are places for."""
        ends = len(self.people)
        while ends > 1 and any(
            used > places for used in accumulate(len(one) for one, *_ in self._found(ends))
        ):
            ends = ends * 3 // 4
        return [
            (frozenset(some), f"{self.prefix}{text}")
            for some, text, done in self._found(ends)
            if done
        ]

    def _found(self, ends: int) -> Iterator[tuple[Set[int], str, bool]]:
        """Whom conditions select, and whether these are all; also on the first columns alone, as that takes time as well."""

        def select(
            people: Set[int], columns: _Given, text: str
        ) -> Iterator[tuple[Set[int], str, bool]]:
            (name, values), *others = columns
            for some, own in _runs(
                people, name, values, ends, len(people) if others else self.most
            ):
                yield some, text + own, not others
                if others:
                    yield from select(some, tuple(others), f"{text}{own}, ")

        return select(self.people, self.columns, "")


def _chosen(columns: Columns, conditions: int) -> list[_Given]:
    """The columns of up to so many conditions, fewer first."""
    number = min(whole(conditions, "conditions", 1), len(columns))
    return [
        chosen for size in range(1, number + 1) for chosen in combinations(columns.items(), size)
    ]


def _parts(sources: Sequence[_Source], places: int) -> dict[frozenset[int], str]:
    """Whom all sources select. Small ones come first, and what they do not need of their share of the places is for others."""
    left = whole(places, "places", 1)
    found: list[list[tuple[frozenset[int], str]]] = [[] for _ in sources]
    turns = sorted(
        range(len(sources)), key=lambda at: (len(sources[at].columns), len(sources[at].people))
    )
    for done, at in enumerate(turns):
        found[at] = sources[at].parts(left // (len(turns) - done))
        left = max(left - sum(len(people) for people, _ in found[at]), 0)
    first: dict[frozenset[int], str] = {}
    for own in found:
        for people, text in own:
            first.setdefault(people, text)
    return first


def _runs(
    people: Set[int], name: str, values: Sequence[Key | None], ends: int, most: int
) -> Iterator[tuple[Set[int], str]]:
    """Whom intervals of a column select that end at values somebody has; of texts, single ones. A set changes with the next one.

    ends: at how many values intervals may begin or end; where there are more, at every second, or third, …
    most: people that may be selected
    """
    having: dict[Key, list[int]] = {}
    for person in people:
        value = values[person]
        if value is not None:
            having.setdefault(value, []).append(person)
    ordered = sorted(having)
    single = bool(ordered) and isinstance(ordered[0], str)
    number = len(ordered) if single else min(ends, len(ordered))
    cuts = [len(ordered) * at // max(number, 1) for at in range(number + 1)]
    steps = [
        ordered[start:end] for start, end in pairwise(cuts)
    ]  # neighbouring values that stay together
    for first, step in enumerate(steps):
        inside: set[int] = set()
        for last in range(first, first + 1 if single else number):
            inside.update(person for value in steps[last] for person in having[value])
            if len(inside) > most:
                break
            low, high = step[0], steps[last][-1]
            yield inside, f"{name} {low}" if low == high else f"{name} {low} to {high}"


def _useful(views: Views, found: Mapping[frozenset[int], str]) -> list[Candidate]:
    """Without those that tell nothing new, or of one person all."""
    known = {view.members for view in views.shown}
    return [
        Candidate(text, people)
        for people, text in found.items()
        if len(people) > 1 and people not in known
    ]
