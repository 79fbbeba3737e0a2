"""Views that could be shown in addition: who would be in them.

Uses `model`, and `register` for public columns; `restoring` and `planning` choose among them.

A candidate is a set of people, by a condition on what is public. What it would show is known to
whoever has the table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise

from shoal.arguments import typed
from shoal.data.kinds import Key
from shoal.data.tables import Table
from shoal.errors import InputError, ParameterError, plural
from shoal.exact.numbers import whole
from shoal.views.model import OUTSIDE, Outside, Value, View, Views, in_order
from shoal.views.register import Register
from shoal.zones import brief

__all__ = [
    "PLACES",
    "Candidate",
    "PublicColumns",
    "free",
    "fresh",
    "public",
    "refinements",
    "require_fit",
    "subsets",
    "truth",
]

PLACES = 2_000_000
"""People of all candidates of one call, each counted once per candidate: about 100 MB."""

PublicColumns = Mapping[str, Sequence[Key | None]]
"""Public columns: everybody's value in the order of the register, None where it is missing."""


@brief
@dataclass(frozen=True)
class Candidate:
    """People of whom a view could be shown; its name says by which condition."""

    name: str
    people: frozenset[int]

    def view(self, table: Sequence[Value]) -> View:
        """What it shows of a table: everybody's value, `OUTSIDE` for those who are not in it.

        Values are in their own order, as that of the people who have them would reveal it.

        >>> Candidate("the first two", frozenset({0, 1})).view(["flu", "cold", "flu"]).bag
        {'cold': 1, 'flu': 1}
        """
        held = [table[person] for person in self.people]
        values = [value for value in held if not isinstance(value, Outside)]
        return View(self.name, self.people, sorted(values, key=in_order))


# What is public, and what is true


@typed
def public(register: Register) -> dict[str, list[Key | None]]:
    """The public columns of a register, without the one that names people."""
    names = [name for name in register.people.names if name != register.person]
    return {
        column.name: [column.keys[code] for code in column.codes.tolist()]
        for column in register.people.records(names)
    }


@typed
def truth(
    register: Register,
    data: Table,
    column: str,
    *,
    complete: bool = True,
) -> list[Value]:
    """Everybody's value in a table, by the column that names people, or otherwise row by row."""
    named_by = [] if register.person is None else [register.person]
    data = data.in_memory([column, *named_by], in_order=register.person is None)
    (secret,) = data.records([column])
    texts = [register.canonical(key) for key in secret.keys]
    values: list[Value] = [texts[code] for code in secret.codes.tolist()]
    people = len(register.names)
    if register.person is None:
        if len(values) != people:
            raise InputError(
                f"the table has {len(values):,} rows and the register {people:,} people, "
                "whom no column names",
                "give the register a column `person`, or rows in the same order",
            )
        return values
    (named,) = data.records([register.person])
    row: dict[str, int] = {}
    for place, code in enumerate(named.codes.tolist()):
        # By text, as the register and the table may have read names as different types.
        if row.setdefault(named.labels[code], place) != place:
            raise InputError(
                f"column {register.person!r} of the table names somebody twice",
                "give everybody one row",
            )
    strangers = len(row.keys() - set(register.names))
    if strangers:
        raise InputError(
            f"the table has {plural(strangers, 'person')} not in the register", "add them there"
        )
    if complete and len(row) < people:
        raise InputError(
            f"{people - len(row):,} of the register are not in the table",
            "if that is so, say that the register is not complete",
        )
    return [values[row[name]] if name in row else OUTSIDE for name in register.names]


def require_fit(views: Views, table: Sequence[Value]) -> None:
    """InputError if a table could not have shown the views."""
    if len(table) != len(views.people):
        raise InputError(
            f"the table has values for {len(table):,} people, "
            f"and the register has {len(views.people):,}",
            "give everybody's",
        )
    if views.complete and any(value is OUTSIDE for value in table):
        raise InputError(
            "somebody in the register is not in the table", "say that the register is not complete"
        )
    for view in views.views:
        # The message names the view and nothing of the table.
        if Candidate("", view.people).view(table).bag != view.bag:
            raise InputError(
                f"view {view.name!r} was not shown of this table: it has other values",
                "give the table that it is of",
            )


# Candidates


@typed
def refinements(
    views: Views,
    columns: PublicColumns,
    *,
    conditions: int = 1,
    same: Mapping[str, str] | None = None,
    places: int = PLACES,
) -> list[Candidate]:
    """Parts of earlier views: those of one whose public values are in an interval, or one text.

    conditions: on how many columns at once
    same: for some views the one column whose intervals are taken, such as that of their own
        condition; for others all columns are
    places: people that all candidates may have together. Where they would have more, intervals of
        large views end at fewer values, spread evenly

    >>> men = Views(4, [View("men", range(4), "heart SARS SARS virus".split())])
    >>> [one.name for one in refinements(men, {"age": [23, 24, 25, 25]})]
    ['men: age 23 to 24', 'men: age 24 to 25', 'men: age 25']
    """
    _require_columns(views, columns)
    sole = same or {}
    selections = []
    for view in views.views:
        available = columns
        if view.name in sole:
            available = {sole[view.name]: columns[sole[view.name]]}
        selections += [
            _Selection(f"{view.name}: ", view.people, chosen, len(view.people))
            for chosen in _chosen(available, conditions)
        ]
    return _useful(views, _parts(selections, places))


@typed
def free(
    views: Views,
    columns: PublicColumns,
    *,
    conditions: int = 1,
    largest: int | None = None,
    places: int = PLACES,
) -> list[Candidate]:
    """Those of the whole register whom intervals and texts of public columns select.

    largest: how many people a candidate may have; by default as many as the largest view.
        `conditions` and `places` are as for `refinements`
    """
    _require_columns(views, columns)
    if largest is None:
        largest = max((len(view.people) for view in views.views), default=0)
    else:
        largest = whole(largest, "largest", 1)
    everybody = frozenset(range(len(views.people)))
    selections = [
        _Selection("", everybody, chosen, largest) for chosen in _chosen(columns, conditions)
    ]
    return _useful(views, _parts(selections, places))


@typed
def subsets(views: Views, size: int) -> list[Candidate]:
    """All sets of `size` people of an earlier view, by their names: for small views."""
    names: dict[frozenset[int], str] = {}
    for view in views.views:
        for people in combinations(sorted(view.people), whole(size, "size", 1)):
            listed = ", ".join(views.people[person] for person in people)
            names.setdefault(frozenset(people), f"{view.name}: {listed}")
    return _useful(views, names)


def fresh(views: Views, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates that can be shown beside the views: of people in the register, under new names."""
    taken = {view.name for view in views.views}
    renamed = []
    for candidate in candidates:
        people = candidate.people
        if not people or min(people) < 0 or max(people) >= len(views.people):
            raise ParameterError(
                f"candidate {candidate.name!r} has nobody, or people who are not in the register"
            )
        name, number = candidate.name, 2
        # Names tell views apart in every result.
        while name in taken:
            name, number = f"{candidate.name} ({number})", number + 1
        taken.add(name)
        renamed.append(Candidate(name, people))
    return renamed


def _require_columns(views: Views, columns: PublicColumns) -> None:
    for name, values in columns.items():
        if len(values) != len(views.people):
            raise ParameterError(
                f"column {name!r} has {len(values):,} values "
                f"for {len(views.people):,} people of the register"
            )


_Chosen = tuple[tuple[str, Sequence[Key | None]], ...]
"""Columns that conditions are on, with their names."""


def _chosen(columns: PublicColumns, conditions: int) -> list[_Chosen]:
    """The columns of every set of up to `conditions` conditions, fewer first."""
    number = min(whole(conditions, "conditions", 1), len(columns))
    sizes = range(1, number + 1)
    return [chosen for size in sizes for chosen in combinations(columns.items(), size)]


@dataclass(frozen=True, eq=False)
class _Selection:
    """People, and the columns by which some of them are selected, up to `largest`."""

    prefix: str
    people: frozenset[int]
    columns: _Chosen
    largest: int

    @property
    def rank(self) -> tuple[int, int]:
        """Its size: the larger, the later it is made."""
        return len(self.columns), len(self.people)

    def parts(self, places: int) -> list[tuple[frozenset[int], str]]:
        """Those whom conditions on all columns select, with as many interval ends as fit."""
        ends = len(self.people)
        while ends > 1 and self._exceeds(places, ends):
            # Few steps, and not many fewer ends than would fit.
            ends = ends * 3 // 4
        return [
            (frozenset(people), f"{self.prefix}{text}")
            for people, text, done in self._selected(self.people, self.columns, "", ends)
            if done
        ]

    def _exceeds(self, places: int, ends: int) -> bool:
        """Whether a selection by this many ends has more people than there are places."""
        selected = self._selected(self.people, self.columns, "", ends)
        return any(used > places for used in accumulate(len(people) for people, *_ in selected))

    def _selected(
        self, people: Set[int], columns: _Chosen, text: str, ends: int
    ) -> Iterator[tuple[Set[int], str, bool]]:
        """Those whom conditions select, and whether these are on all columns.

        Also on the first columns alone, as going over these takes time as well.
        """
        (name, values), *others = columns
        largest = len(people) if others else self.largest
        for some, condition in _runs(people, name, values, ends, largest):
            yield some, text + condition, not others
            if others:
                yield from self._selected(some, tuple(others), f"{text}{condition}, ", ends)


def _parts(selections: Sequence[_Selection], places: int) -> dict[frozenset[int], str]:
    """Everything that is selected, with its first text.

    Small selections come first, and what they do not need of their share of places is for others.
    """
    left = whole(places, "places", 1)
    parts: list[list[tuple[frozenset[int], str]]] = [[] for _ in selections]
    # Those with fewer conditions first, and of these the ones with few people.
    turns = sorted(range(len(selections)), key=lambda turn: selections[turn].rank)
    for done, turn in enumerate(turns):
        parts[turn] = selections[turn].parts(left // (len(turns) - done))
        used = sum(len(people) for people, _ in parts[turn])
        left = max(left - used, 0)
    first: dict[frozenset[int], str] = {}
    for selected in parts:
        for people, text in selected:
            first.setdefault(people, text)
    return first


def _runs(
    people: Set[int],
    name: str,
    values: Sequence[Key | None],
    ends: int,
    largest: int,
) -> Iterator[tuple[Set[int], str]]:
    """Those whom intervals of a column select that end at occurring values; of texts, single ones.

    A set that was given changes with the next one.

    ends: at how many values intervals may begin or end; where there are more, at every second, or
        third, …
    largest: people that may be selected
    """
    having: dict[Key, list[int]] = {}
    for person in people:
        value = values[person]
        if value is not None:
            having.setdefault(value, []).append(person)
    ordered = sorted(having)
    # Texts have no order that an interval of them would mean anything in.
    single = bool(ordered) and isinstance(ordered[0], str)
    number = len(ordered) if single else min(ends, len(ordered))
    cuts = [len(ordered) * at // max(number, 1) for at in range(number + 1)]
    # Neighbouring values that stay together.
    steps = [ordered[start:end] for start, end in pairwise(cuts)]
    for first, step in enumerate(steps):
        inside: set[int] = set()
        last_step = first + 1 if single else number
        for last in range(first, last_step):
            for value in steps[last]:
                inside.update(having[value])
            if len(inside) > largest:
                break
            low, high = step[0], steps[last][-1]
            yield inside, f"{name} {low}" if low == high else f"{name} {low} to {high}"


def _useful(views: Views, names: Mapping[frozenset[int], str]) -> list[Candidate]:
    """Candidates without those that reveal nothing new, or everything about one person."""
    known = {view.people for view in views.views}
    return [
        Candidate(text, people)
        for people, text in names.items()
        if len(people) > 1 and people not in known
    ]
