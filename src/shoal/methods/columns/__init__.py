"""Columns: sparse, wide and transactional tables, released group by group of columns with noisy
counts (Li and Li).

A schema says which columns, or items of the long form, belong into one group (`schemas`). Each
record is projected onto every group; projections without a value are dropped, and of more than
`most` groups a record gives as many at random. Each group is released on its own by noisy counts.
The proof that this keeps (ε, δ): docs/proofs/columns.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from shoal.arguments import typed, typed_but
from shoal.chance import Chance
from shoal.data.kinds import Key, Kind
from shoal.data.tables import Role, Table
from shoal.errors import ParameterError, listed, plural
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, fraction, whole
from shoal.methods import Progress, Schema, begin, delta_concerns, require_bound
from shoal.methods.columns.long import RECORD, Long
from shoal.methods.columns.schemas import ASSOCIATION, Groups, clustered, noise_of
from shoal.methods.columns.wide import COLUMN_GROUP, Wide
from shoal.methods.entry import Entry
from shoal.methods.noisy_counts import fixed
from shoal.privacy.calculus import delta_of, per_row
from shoal.privacy.noise import NoisyCountParameters, column_parameters
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import COUNT
from shoal.releases.release import Release
from shoal.zones import owner_only

__all__ = ["COLUMN_GROUP", "RECORD", "Columns", "schema_of"]

Names = tuple[tuple[str, ...], ...]
"""A schema: groups of columns, or of items, by their names."""


@owner_only
@dataclass(frozen=True, kw_only=True)
class ColumnsFacts(Facts):
    """How many projections the records gave, and how many rows are released."""

    projections: int
    released: int

    def figures(self) -> Iterator[str]:
        records, given = plural(self.records, "record"), plural(self.projections, "projection")
        yield f"{records} gave {given}, and {self.released:,} are released"


@typed_but("schema", "public")
@dataclass(frozen=True)
class Columns:
    """Groups of columns, each released by noisy counts, that together keep (ε, δ)-differential
    privacy, standard definition.

    The schema is given; or computed from a `public` table; or bought from the private one with a
    share of ε. With `person` and `item` the table is in long form: each row says that a person gave
    an item a value, and a record is a person.

    epsilon, delta: the promise; ε may be "ln(10)"
    k: how many records must share a projection, at least
    most: to how many groups a record may give values; to all of them unless given
    schema: groups of columns, or of items; they may overlap, and equal ones are released once
    groups: how many groups a computed schema has; several numbers make as many clusterings, which
    overlap
    public: a table of the same form whose rows are nobody's secret, to compute the schema from
    buying: the share of ε that buys the schema
    person, item, value: the columns of a long form; without `value` an item is there or not
    items: the items that there may be, where a long form's schema is bought
    looked_at: how many items of a person a bought schema looks at
    levels: for columns with a hierarchy the level that they are generalised to
    unit: the identifying column that tells whose rows belong together; each person gives at most
    `rows` of them
    counts: release each different record once, with a column `count`, instead of repeating it

    >>> from shoal import demo
    >>> people = demo.table()
    >>> method = Columns(2, "1e-4", schema=[["sex", "insurance"], ["ward", "diagnosis"]])
    >>> method.release(people).certificate.derived["most"]
    2
    """

    epsilon: Epsilon | Exact
    delta: Exact
    k: int = 10
    most: int | None = None
    schema: Sequence[Sequence[str]] | None = None
    groups: int | Sequence[int] = ()
    public: Table | None = None
    buying: Exact | None = None
    person: str | None = None
    item: str | None = None
    value: str | None = None
    items: Sequence[str] = ()
    looked_at: int = 10
    levels: Mapping[str, int] | None = None
    unit: str | None = None
    rows: int = 1
    counts: bool = False

    name: ClassVar[str] = "columns"

    def __post_init__(self) -> None:
        given: dict[str, Any] = {
            "epsilon": Epsilon.of(self.epsilon),
            "delta": delta_of(self.delta),
            "k": whole(self.k, "k"),
            "most": None if self.most is None else whole(self.most, "most"),
            "schema": None if self.schema is None else _groups(self.schema),
            "groups": _numbers(self.groups),
            "buying": None
            if self.buying is None
            else fraction(self.buying, "buying", 0, 1, above=True),
            "items": _names(self.items, "items"),
            "looked_at": whole(self.looked_at, "looked_at"),
            "rows": whole(self.rows, "rows"),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if self.public is not None and not isinstance(self.public, Table):
            raise ParameterError(
                f"`public` is a {type(self.public).__name__}; make a Table of it with shoal.table or shoal.read"
            )
        if (self.schema is not None) + (self.public is not None) + (self.buying is not None) != 1:
            raise ParameterError(
                "say where the schema comes from: give `schema`, or `public` to compute it from a public table, or `buying` to "
                "buy it with a share of epsilon; one of them"
            )
        if (self.schema is None) != bool(self.groups):
            raise ParameterError(
                "`groups` says how many groups a computed schema has; it goes with `public` and `buying` only"
            )
        if self.buying == 1:
            raise ParameterError("a `buying` of 1 leaves nothing to release; give a smaller share")
        if (self.person is None) != (self.item is None) or (
            self.value is not None and self.item is None
        ):
            raise ParameterError(
                "a long form has a `person` and an `item`, and perhaps a `value`; give both, or none of them"
            )
        if self.item is not None and self.item == self.value:
            raise ParameterError(
                f"{self.item!r} cannot be the `item` and the `value`; leave out `value` where there is none"
            )
        if self.items and (self.person is None or self.schema is not None):
            raise ParameterError(
                "`items` are those of a long form whose schema is computed; leave them out"
            )
        if self.person is not None and self.buying is not None and not self.items:
            raise ParameterError(
                "which items there are tells about people; declare them all with `items` to buy a schema"
            )
        if self.person is not None and (self.unit is not None or self.rows > 1):
            raise ParameterError(
                "in long form all rows of a `person` belong together; leave out `unit` and `rows`"
            )
        if self.person == "row":
            raise ParameterError(
                "a `person` 'row' would read like a single row in the promise; rename that column"
            )
        require_bound(self.unit, self.rows, "standard")

    # What is promised

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        """(ε, δ) by the standard definition, for one row or one person."""
        schema.require_unit(self.unit)
        schema.require_declared()
        fixed(schema, self.levels)
        names = self._vocabulary(schema)
        kind = None if self.item is None else schema.kinds[self.item]
        groups = sum(self._clusterings(names))
        if self.schema is not None:
            groups = len(placed := _placed(self.schema, names, kind))
            released = (
                {names[place] for places in placed for place in places}
                if self.person is None
                else {self.value}
            )
            if unused := [name for name in self.levels or {} if name not in released]:
                raise ParameterError(
                    f"`levels` names {listed(unused)}, which no group of the schema has; leave them out"
                )
        self._parameters(groups)  # what has none is refused before a ledger counts it
        if (buying := self._budget()[0]) is not None:
            pairs = len(names) * (len(names) - 1) // 2
            noise_of(ASSOCIATION * pairs if self.person is None else self.looked_at**2, buying)
        return DifferentialPrivacy(
            self.epsilon, self.delta, "standard", self.person or self.unit or "row"
        )

    def _clusterings(self, names: Sequence[str]) -> tuple[int, ...]:
        """How many groups each clustering has.

        More than there are columns, or items, are refused.
        """
        numbers = _numbers(self.groups)
        if max(numbers, default=0) > len(names):
            of = plural(len(names), "column" if self.person is None else "item")
            raise ParameterError(
                f"`groups` asks for {max(numbers):,} groups of {of}; ask for fewer"
            )
        return numbers

    def _budget(self) -> tuple[Epsilon | None, Epsilon, Fraction]:
        """What buys the schema, and what the groups have together: of a row, where people have
        several.
        """
        epsilon, delta = per_row(self.epsilon, self.delta, self.rows)
        if self.buying is None:
            return None, epsilon, delta
        return epsilon * Fraction(self.buying), epsilon * (1 - Fraction(self.buying)), delta

    def _parameters(self, groups: int) -> NoisyCountParameters:
        _, epsilon, delta = self._budget()
        return column_parameters(epsilon, delta, self._most(groups), self.k)

    def _most(self, groups: int) -> int:
        return groups if self.most is None else min(self.most, groups)

    def _vocabulary(self, schema: Schema) -> tuple[str, ...]:
        """All columns, or items, that a schema may have, in a public order.

        What does not fit is refused.
        """
        leaving = schema.released
        made = (
            COLUMN_GROUP,
            *((RECORD,) if self.person is not None else ()),
            *((COUNT,) if self.counts else ()),
        )
        if taken := [name for name in made if name in schema.roles]:
            raise ParameterError(
                f"the release has columns of its own called {listed(taken)}; rename those of the table"
            )
        if self.public is not None:
            absent = [
                name
                for name in ((self.person, *leaving) if self.person else leaving)
                if name not in self.public.names
            ]
            if absent:
                raise ParameterError(
                    f"`public` lacks the columns {listed(absent)}; give a table of the same form"
                )
        if self.person is None or self.item is None:
            if not leaving:
                raise ParameterError(
                    "every column is identifying, so there is none to group; give some column another role"
                )
            return leaving
        if schema.roles.get(self.person) is not Role.IDENTIFYING:
            raise ParameterError(
                f"`person` {self.person!r} is no identifying column; give the column of people that role"
            )
        own = tuple(name for name in (self.item, self.value) if name is not None)
        if absent := [name for name in own if name not in leaving]:
            raise ParameterError(
                f"no column that may leave is called {listed(absent)}; give `item` and `value` that are not identifying"
            )
        if others := [name for name in leaving if name not in own]:
            raise ParameterError(
                f"a long form releases items and values only, and there are {listed(others)} too; name one as `value`, and make "
                "the others identifying"
            )
        kind = schema.kinds[self.item]
        if self.item in schema.hierarchies:
            raise ParameterError(
                f"items are told apart, so {self.item!r} takes no hierarchy; group them in a schema instead"
            )
        if self.schema is not None:
            return _items([name for group in self.schema for name in group], kind)
        if self.items:
            return _items(self.items, kind)
        assert self.public is not None  # or the items were declared
        return _items([label for label in self.public.labels(self.item) if label], kind)

    # The release

    def crowd(self, schema: Schema) -> int:
        """How many records must share what a group shows of them for it to be more likely than not
        to be released.
        """
        names = self._vocabulary(schema)
        groups = sum(self._clusterings(names)) if self.schema is None else len(self.schema)
        return self._parameters(groups).half

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """Group by group the projections that were drawn, with the counts that were drawn, in the
        order of their values.
        """
        if self.public is table:
            raise ParameterError(
                "is the table to release itself",
                "give one that is nobody's secret",
                option="public",
            )
        job = begin(self, table, chance, progress)
        schema, chance, said = job.schema, job.chance, job.progress
        said(0, 3, "counting records")
        names, (_, at) = self._vocabulary(schema), fixed(schema, self.levels)
        form = self._form(job.table, names, at)
        said(1, 3, "grouping columns")
        groups = self._schema(form, names, schema, at, chance)
        parameters, most = self._parameters(len(groups)), self._most(len(groups))

        def done(place: int) -> None:
            said(
                2 * len(groups) + place, 3 * len(groups), "releasing groups of columns"
            )  # the last of three parts

        laid, given, released = form.release(groups, most, parameters, chance, done, self.counts)
        buying, epsilon, delta = self._budget()
        derived = {
            "schema": [[names[place] for place in places] for places in groups],
            "k": parameters.k,
            "most": most,
            "epsilon_schema": buying,
            "epsilon_columns": epsilon,
            "delta": delta,
            "definition": parameters.definition,
            "composition": "sum" if parameters.epsilon * most == epsilon else "optimal",
            "epsilon_group": parameters.epsilon,
            "delta_group": parameters.delta,
            "scale": parameters.scale,
            "half": parameters.half,
            "rows": self.rows,
        }
        levels = {name: level for name, level in at.items() if name in laid}
        made = certify(table, self, job.promise, chance, levels=levels, derived=derived)
        own = {
            name: {"name": name, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}
            for name in laid
        }
        own |= {column["name"]: dict(column) for column in made.columns}
        facts = ColumnsFacts(
            records=form.records,
            projections=given,
            released=released,
            crowd=self.crowd(schema),
            concerns=delta_concerns(self.delta, form.records),
        )
        result = table.like(laid)
        said(3, 3, "releasing groups of columns")
        return Release(result, replace(made, columns=[own[name] for name in laid]), facts)

    def _form(self, table: Table, names: Sequence[str], at: Mapping[str, int]) -> Wide | Long:
        if self.person is not None and self.item is not None:
            return Long.of(
                table, _keys(names, table.kind(self.item)), self.person, self.item, self.value, at
            )
        return Wide.of(table, names, at)

    def _schema(
        self,
        form: Wide | Long,
        names: tuple[str, ...],
        schema: Schema,
        at: Mapping[str, int],
        chance: Chance,
    ) -> Groups:
        """The groups by their places among the names."""
        if self.schema is not None:
            return _placed(
                self.schema, names, None if self.item is None else schema.kinds[self.item]
            )
        if self.public is not None:
            told = {name: level for name, level in at.items() if name in self.public.hierarchies}
            public = self._form(self.public, names, told)
            return clustered(public.distance(), self._clusterings(names))
        epsilon, _, _ = self._budget()
        assert epsilon is not None  # it is bought
        bought = (
            form.bought(epsilon, chance)
            if isinstance(form, Wide)
            else form.bought(epsilon, chance, self.looked_at)
        )
        return clustered(bought, self._clusterings(names))


@typed
def schema_of(
    table: Table,
    groups: int | Sequence[int],
    *,
    person: str | None = None,
    item: str | None = None,
    value: str | None = None,
    items: Sequence[str] = (),
    levels: Mapping[str, int] | None = None,
) -> Names:
    """A schema for `Columns` from a public table: one clustering of its columns or items, or
    several. Never from the private one.

    Columns are near each other by mean-square contingency; those that identify are left out. Items
    of a long form are near each other where the same people gave them the same value.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2], "c": [5, 6, 5, 6]})
    >>> schema_of(shoal.table(frame, quasi=["a", "b", "c"]), 2)
    (('a', 'c'), ('b',))
    """
    asked: dict[str, Any] = {
        "person": person,
        "item": item,
        "value": value,
        "items": items,
        "levels": levels,
    }
    method = Columns(1, Fraction(1, 2), groups=groups, public=table, **asked)
    schema = table.schema
    names, (_, at) = method._vocabulary(schema), fixed(schema, levels)
    numbers = method._clusterings(names)
    found = clustered(method._form(table, names, at).distance(), numbers)
    return tuple(tuple(names[place] for place in places) for places in found)


# What is given, checked


def _numbers(groups: int | Iterable[int]) -> tuple[int, ...]:
    return tuple(
        whole(number, "groups") for number in ((groups,) if isinstance(groups, int) else groups)
    )


def _names(given: Iterable[object], option: str) -> tuple[str, ...]:
    """Names of columns or items, as texts."""
    if isinstance(given, str):
        raise ParameterError(f"`{option}` is the text {given!r}; give a list of names")
    names = tuple(str(name) for name in given)
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise ParameterError(
            f"`{option}` names {listed(repeated)} twice in one group; once is enough"
        )
    return names


def _groups(schema: Iterable[Iterable[object]]) -> Names:
    given = tuple(schema) if isinstance(schema, Iterable) else ()
    if any(isinstance(one, str) or not isinstance(one, Iterable) for one in (schema, *given)):
        raise ParameterError(
            "`schema` is a list of groups, each a list of names, such as [['age', 'sex'], ['ward']]"
        )
    groups = tuple(_names(one, "schema") for one in given)
    if not groups or not all(groups):
        raise ParameterError(
            "`schema` has no group, or one without a name; give at least one name to each"
        )
    return groups


def _items(names: Iterable[str], kind: Kind) -> tuple[str, ...]:
    """The items by their canonical texts, each once, in their order."""
    return tuple(kind.text(key) for key in sorted(set(_keys(names, kind))))


def _keys(names: Iterable[str], kind: Kind) -> list[Key]:
    keys = []
    for name in names:
        try:
            key = kind.key(name)
        except (ValueError, TypeError, OverflowError):
            key = None
        if key is None:
            raise ParameterError(
                f"the item {name!r} is none of the declared type {kind.value!r} of items"
            )
        keys.append(key)
    return keys


def _placed(
    schema: Sequence[Sequence[str]], names: Sequence[str], kind: Kind | None = None
) -> Groups:
    """The groups by the places of their names, equal groups once."""
    places = {name: place for place, name in enumerate(names)}
    found: dict[tuple[int, ...], None] = {}
    for group in schema:
        own = group if kind is None else _items(group, kind)
        if absent := [name for name in own if name not in places]:
            raise ParameterError(
                f"`schema` names {listed(absent)}, which are no columns that may leave; where they are items of a long form, "
                "say so with `person` and `item`"
            )
        found[tuple(sorted(places[name] for name in own))] = None
    return tuple(found)


ENTRY = Entry(
    method=Columns,
    summary="sparse or wide tables: groups of columns, each on its own",
    draft=(
        'epsilon = "?"  # how much one record may matter',
        'delta = "?"  # the chance that this fails',
        "k = 10  # how many records must share what a group shows of them, at least",
        "most = 2  # to how many groups a record may give values",
        "groups = [2]  # that many groups of columns, found with a share of epsilon;",
        "buying = 0.1  # instead of both: schema = [[NAME, NAME], [NAME]]",
        "# Purchases, ratings, diagnoses in long form, a row for each item of a person:",
        '# person = "NAME", item = "NAME", value = "NAME" too; docs/columns.md',
    ),
    truthful=False,
    subset=True,
    generalises="released",
    needs_quasi=False,
    needs_hierarchies=False,
    adds=(COLUMN_GROUP,),
    not_judged=(
        "it releases groups of columns, each with parts of records, which cannot be compared with "
        "the input record by record; train what you need on the release, and test that on records "
        "of your own"
    ),
)
