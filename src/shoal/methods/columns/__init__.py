"""Columns (Li and Li): sparse, wide and transactional tables, released by groups of columns.

A schema says which columns, or items of the long form, belong into one group (`schemas`). Each
record is projected onto every group; projections without a value are dropped, and of more than
`most` groups a record gives as many at random. Each group is released on its own by noisy counts.
The proof that this keeps (ε, δ): docs/proofs/columns.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from shoal.arguments import described, keep, typed, typed_but
from shoal.chance import Chance
from shoal.data.kinds import Key, Kind
from shoal.data.schema import ROW, Schema
from shoal.data.tables import Role, Table
from shoal.errors import ParameterError, listed, plural
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, fraction, whole
from shoal.methods.columns.long import RECORD, Long
from shoal.methods.columns.schemas import ASSOCIATION, Groups, clustered, noise_of
from shoal.methods.columns.wide import COLUMN_GROUP, Wide
from shoal.methods.entry import Entry, Guide
from shoal.methods.method import (
    Progress,
    Task,
    begin,
    delta_concerns,
    require_bound,
    require_records,
)
from shoal.methods.noisy_counts import derived_of, fixed
from shoal.privacy.calculus import delta_of, per_row
from shoal.privacy.promises import DifferentialPrivacy
from shoal.privacy.sharing import CountParameters, Noise, column_parameters, noise_named
from shoal.releases.certificate import Certificate, certify
from shoal.releases.facts import Facts
from shoal.releases.layout import COUNT
from shoal.releases.release import Release
from shoal.zones import brief, owner_only

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
        records = plural(self.records, "record")
        given = plural(self.projections, "projection")
        yield f"{records} gave {given}, and {self.released:,} are released"


@typed_but("schema", "public")
@brief
@dataclass(frozen=True, init=False)
class Columns:
    """Groups of columns, each by noisy counts, that together keep (ε, δ), standard definition.

    The schema is given; or computed from a `public` table; or bought from the private one with a
    share of ε. With `person` and `item` the table is in long form: each row says that a person gave
    an item a value, and a record is a person.

    epsilon: how much one person may matter: a number such as 0.5, or "ln(2)"
    delta: the chance that this fails, such as 1e-6
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
    unit: the identifying column that says whose rows belong together
    rows: how many rows of each person are used, at most
    counts: release each different record once, with a column `count`, instead of repeating it
    noise: "bounded", one noise for what is released and for its count, or "printed", the matrix of
        the paper, which releases less

    >>> from shoal import demo
    >>> people = demo.table()
    >>> method = Columns(2, "1e-4", schema=[["sex", "insurance"], ["ward", "diagnosis"]])
    >>> method.release(people).certificate.derived["most"]
    2
    """

    epsilon: Epsilon
    delta: Fraction
    k: int
    most: int | None
    schema: Names | None
    groups: tuple[int, ...]
    public: Table | None
    buying: Fraction | None
    person: str | None
    item: str | None
    value: str | None
    items: tuple[str, ...]
    looked_at: int
    levels: Mapping[str, int]
    unit: str | None
    rows: int
    counts: bool
    noise: Noise

    name: ClassVar[str] = "columns"

    def __init__(  # noqa: PLR0913  the parameters of the method
        self,
        epsilon: Epsilon | Exact,
        delta: Exact,
        k: int = 10,
        most: int | None = None,
        schema: Sequence[Sequence[str]] | None = None,
        groups: int | Sequence[int] = (),
        public: Table | None = None,
        buying: Exact | None = None,
        person: str | None = None,
        item: str | None = None,
        value: str | None = None,
        items: Sequence[str] = (),
        looked_at: int = 10,
        levels: Mapping[str, int] | None = None,
        unit: str | None = None,
        rows: int = 1,
        counts: bool = False,
        noise: Noise = "bounded",
    ) -> None:
        if buying is not None:
            buying = fraction(buying, "buying", 0, 1, above=True)
        keep(
            self,
            epsilon=Epsilon.of(epsilon),
            delta=delta_of(delta),
            k=whole(k, "k"),
            most=None if most is None else whole(most, "most"),
            schema=None if schema is None else _groups(schema),
            groups=_numbers(groups),
            public=public,
            buying=buying,
            person=person,
            item=item,
            value=value,
            items=_names(items, "items"),
            looked_at=whole(looked_at, "looked_at"),
            levels=dict(levels or {}),
            unit=unit,
            rows=whole(rows, "rows"),
            counts=counts,
            noise=noise_named(noise),
        )
        self._require_one_schema()
        self._require_long_form()
        require_bound(self.unit, self.rows, "standard")

    def _require_one_schema(self) -> None:
        """ParameterError unless the parameters say once where the schema comes from."""
        if self.public is not None and not isinstance(self.public, Table):
            raise ParameterError(
                f"is {described(self.public)}",
                "make a Table of it with shoal.table or shoal.read",
                option="public",
            )
        given = [source for source in (self.schema, self.public, self.buying) if source is not None]
        if len(given) != 1:
            raise ParameterError(
                "the schema must come from exactly one place",
                "give `schema`, or `public` to compute it from a public table, or `buying` to buy "
                "it with a share of epsilon",
            )
        if (self.schema is None) != bool(self.groups):
            raise ParameterError(
                "is the number of groups of a computed schema",
                "give it with `public` or `buying`, and only then",
                option="groups",
            )
        if self.buying == 1:
            raise ParameterError(
                "leaves nothing to release", "give a smaller share", option="buying", given="1"
            )

    def _require_long_form(self) -> None:
        """ParameterError if the parameters of a long form do not go together."""
        without_item = self.item is None and self.value is not None
        if (self.person is None) != (self.item is None) or without_item:
            raise ParameterError(
                "a long form has a `person` and an `item`, and perhaps a `value`",
                "give both `person` and `item`, or none of the three",
            )
        if self.item is not None and self.item == self.value:
            raise ParameterError(
                f"{self.item!r} cannot be both the `item` and the `value`",
                "leave out `value` if items have none",
            )
        if self.items and (self.person is None or self.schema is not None):
            raise ParameterError(
                "declares the items of a long form whose schema is computed",
                "leave it out",
                option="items",
            )
        if self.person is None:
            return
        if self.buying is not None and not self.items:
            raise ParameterError(
                "which items there are reveals something about people",
                "declare them all with `items` to buy a schema",
            )
        if self.unit is not None or self.rows > 1:
            raise ParameterError(
                "in long form all rows of a `person` belong together",
                "leave out `unit` and `rows`",
            )
        if self.person == ROW:
            raise ParameterError(
                "would read like a single row in the promise",
                "rename that column",
                option="person",
                given=repr(ROW),
            )

    @property
    def _is_long(self) -> bool:
        return self.person is not None

    # What is promised

    def promise(self, schema: Schema) -> DifferentialPrivacy:
        """(ε, δ) by the standard definition, for one row or one person."""
        schema.require_unit(self.unit)
        schema.require_declared()
        fixed(schema, self.levels)
        names = self._vocabulary(schema)
        groups = self._number(schema, names)
        self._require_levels_used(names)
        self._parameters(groups)  # what has none is refused before a ledger counts it
        buying = self._budget().buying
        if buying is not None:
            noise_of(self._sensitivity(names), buying)
        person = self.person or self.unit or ROW
        return DifferentialPrivacy(self.epsilon, self.delta, "standard", person)

    def _number(self, schema: Schema, names: Sequence[str]) -> int:
        """How many groups there will be."""
        if self.schema is None:
            return sum(self._clusterings(names))
        return len(_placed(self.schema, names, self._item_kind(schema)))

    def _item_kind(self, schema: Schema) -> Kind | None:
        """The type of the items of a long form."""
        return None if self.item is None else schema.kinds[self.item]

    def _require_levels_used(self, names: Sequence[str]) -> None:
        """ParameterError if a level is given for a column that no group of the schema has."""
        if self.schema is None:
            return
        released: set[str | None] = {self.value}
        if not self._is_long:
            groups = _placed(self.schema, names)
            released = {names[place] for places in groups for place in places}
        unused = [name for name in self.levels if name not in released]
        if unused:
            raise ParameterError(
                f"names {listed(unused)}, which no group of the schema has",
                "leave them out",
                option="levels",
            )

    def _sensitivity(self, names: Sequence[str]) -> int:
        """By how much one record moves the numbers that a bought schema looks at, together."""
        if self._is_long:
            return self.looked_at**2
        pairs = len(names) * (len(names) - 1) // 2
        return ASSOCIATION * pairs

    def _clusterings(self, names: Sequence[str]) -> tuple[int, ...]:
        """How many groups each clustering has.

        ParameterError if there are fewer columns, or items.
        """
        most = max(self.groups, default=0)
        if most > len(names):
            available = plural(len(names), "item" if self._is_long else "column")
            raise ParameterError(
                f"asks for {most:,} groups of {available}", "ask for fewer", option="groups"
            )
        return self.groups

    def _budget(self) -> "_ColumnsBudget":
        epsilon, delta = per_row(self.epsilon, self.delta, self.rows)
        if self.buying is None:
            return _ColumnsBudget(None, epsilon, delta)
        return _ColumnsBudget(epsilon * self.buying, epsilon * (1 - self.buying), delta)

    def _parameters(self, groups: int) -> CountParameters:
        budget = self._budget()
        most = self._most(groups)
        return column_parameters(budget.epsilon, budget.delta, most, self.k, self.noise)

    def _most(self, groups: int) -> int:
        return groups if self.most is None else min(self.most, groups)

    def _vocabulary(self, schema: Schema) -> tuple[str, ...]:
        """All columns, or items, that a schema may have, in a public order.

        ParameterError if the table does not fit.
        """
        added = [COLUMN_GROUP]
        if self._is_long:
            added.append(RECORD)
        if self.counts:
            added.append(COUNT)
        taken = [name for name in added if name in schema.roles]
        if taken:
            raise ParameterError(
                f"the release adds columns called {listed(taken)}", "rename those of the table"
            )
        self._require_public_columns(schema)
        if self.item is not None:
            return self._item_names(schema, self.item)
        if not schema.released:
            raise ParameterError(
                "every column is identifying, so there is none to group",
                "give some column another role",
            )
        return schema.released

    def _require_public_columns(self, schema: Schema) -> None:
        """ParameterError if the public table lacks a column of the private one."""
        if self.public is None:
            return
        needed = schema.released if self.person is None else (self.person, *schema.released)
        absent = [name for name in needed if name not in self.public.names]
        if absent:
            raise ParameterError(
                f"lacks the columns {listed(absent)}",
                "give a table of the same form",
                option="public",
            )

    def _item_names(self, schema: Schema, item: str) -> tuple[str, ...]:
        """The items that a schema may have; ParameterError if the table is not in long form."""
        if schema.roles.get(self.person or "") is not Role.IDENTIFYING:
            raise ParameterError(
                "is not an identifying column",
                "give the column of people that role",
                option="person",
                given=repr(self.person),
            )
        columns = [item] if self.value is None else [item, self.value]
        absent = [name for name in columns if name not in schema.released]
        if absent:
            raise ParameterError(
                f"no column that may be released is called {listed(absent)}",
                "give an `item` and a `value` that are not identifying",
            )
        others = [name for name in schema.released if name not in columns]
        if others:
            raise ParameterError(
                f"a long form releases only items and values, but the table also has "
                f"{listed(others)}",
                "name one as `value`, and make the others identifying",
            )
        if item in schema.hierarchies:
            raise ParameterError(
                f"items are released unchanged, so {item!r} takes no hierarchy",
                "group them in a schema instead",
            )
        kind = schema.kinds[item]
        if self.schema is not None:
            return _items([name for group in self.schema for name in group], kind)
        if self.items:
            return _items(self.items, kind)
        assert self.public is not None  # or the items were declared
        return _items([label for label in self.public.labels(item) if label], kind)

    # The release

    def crowd(self, schema: Schema) -> int:
        """How many records must share a group's values to make these likely to be released."""
        names = self._vocabulary(schema)
        groups = sum(self._clusterings(names)) if self.schema is None else len(self.schema)
        return self._parameters(groups).half

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """Group by group the projections and counts drawn, in the order of their values."""
        if self.public is table:
            raise ParameterError(
                "is the table to release itself",
                "give one that is nobody's secret",
                option="public",
            )
        if not self.counts:
            # What is drawn is released record by record.
            require_records(table)
        job = begin(self, table, chance, progress)
        job.progress(0, 3, "counting records")
        names = self._vocabulary(job.schema)
        _, levels = fixed(job.schema, self.levels)
        form = self._form(job.table, names, levels)
        job.progress(1, 3, "grouping columns")
        groups = self._schema(form, names, job, levels)
        parameters = self._parameters(len(groups))
        most = self._most(len(groups))

        def done(place: int) -> None:
            # The last of three parts.
            job.progress(2 * len(groups) + place, 3 * len(groups), "releasing groups of columns")

        drawn = form.release(groups, most, parameters, job.chance, done, self.counts)
        certificate = certify(
            table,
            self,
            job.promise,
            job.chance,
            levels={name: level for name, level in levels.items() if name in drawn.laid},
            derived={
                "schema": [[names[place] for place in places] for places in groups],
                **self._derived(parameters, most),
            },
        )
        facts = ColumnsFacts(
            records=form.records,
            projections=drawn.projections,
            released=drawn.released,
            crowd=self.crowd(job.schema),
            concerns=delta_concerns(self.delta, form.records),
        )
        released = table.like(drawn.laid)
        job.progress(3, 3, "releasing groups of columns")
        columns = _columns(certificate, list(drawn.laid))
        return Release(released, replace(certificate, columns=columns), facts)

    def _derived(self, parameters: CountParameters, most: int) -> dict[str, Any]:
        """What follows from the parameters, for the certificate."""
        budget = self._budget()
        is_sum = parameters.epsilon * most == budget.epsilon
        return {
            "k": parameters.k,
            "most": most,
            "epsilon_schema": budget.buying,
            "epsilon_columns": budget.epsilon,
            "delta": budget.delta,
            "definition": "standard",
            "composition": "sum" if is_sum else "optimal",
            "epsilon_group": parameters.epsilon,
            "delta_group": parameters.delta,
            **derived_of(parameters),
            "rows": self.rows,
        }

    def _form(self, table: Table, names: Sequence[str], levels: Mapping[str, int]) -> Wide | Long:
        if self.person is None or self.item is None:
            return Wide.of(table, names, levels)
        keys = _keys(names, table.kind(self.item))
        return Long.of(table, keys, self.person, self.item, self.value, levels)

    def _schema(
        self, form: Wide | Long, names: tuple[str, ...], job: Task, levels: Mapping[str, int]
    ) -> Groups:
        """The groups by their places among the names."""
        if self.schema is not None:
            return _placed(self.schema, names, self._item_kind(job.schema))
        if self.public is not None:
            trees = self.public.hierarchies
            public_levels = {name: level for name, level in levels.items() if name in trees}
            public = self._form(self.public, names, public_levels)
            return clustered(public.distance(), self._clusterings(names))
        epsilon = self._budget().buying
        assert epsilon is not None  # it is bought
        if isinstance(form, Wide):
            distance = form.bought(epsilon, job.chance)
        else:
            distance = form.bought(epsilon, job.chance, self.looked_at)
        return clustered(distance, self._clusterings(names))


@dataclass(frozen=True)
class _ColumnsBudget:
    """What buys the schema, and what the groups have together.

    Of a row, where people have several.
    """

    buying: Epsilon | None
    epsilon: Epsilon
    delta: Fraction


def _columns(certificate: Certificate, names: Sequence[str]) -> list[dict[str, Any]]:
    """The certificate's columns that are released, and those that the release adds."""
    columns = {column["name"]: dict(column) for column in certificate.columns}
    added = {"role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}
    return [columns.get(name) or {"name": name, **added} for name in names]


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
    """A schema for `Columns` from a public table, never from the private one.

    It is one clustering of the columns or items, or several. Columns are near each other by
    mean-square contingency; those that identify are left out. Items of a long form are near each
    other where the same people gave them the same value.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2], "c": [5, 6, 5, 6]})
    >>> schema_of(shoal.table(frame, quasi=["a", "b", "c"]), 2)
    (('a', 'c'), ('b',))
    """
    method = Columns(
        1,
        Fraction(1, 2),
        groups=groups,
        public=table,
        person=person,
        item=item,
        value=value,
        items=items,
        levels=levels,
    )
    schema = table.schema
    names = method._vocabulary(schema)
    _, at = fixed(schema, levels)
    form = method._form(table, names, at)
    clusters = clustered(form.distance(), method._clusterings(names))
    return tuple(tuple(names[place] for place in places) for places in clusters)


# What is given, checked


def _numbers(groups: int | Iterable[int]) -> tuple[int, ...]:
    numbers = (groups,) if isinstance(groups, int) else groups
    return tuple(whole(number, "groups") for number in numbers)


def _names(given: Iterable[object], option: str) -> tuple[str, ...]:
    """Names of columns or items, as texts."""
    if isinstance(given, str):
        raise ParameterError(f"is the text {given!r}", "give a list of names", option=option)
    names = tuple(map(str, given))
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ParameterError(
            f"names {listed(repeated)} twice in one group", "once is enough", option=option
        )
    return names


def _groups(schema: Iterable[Iterable[object]]) -> Names:
    given = tuple(schema) if isinstance(schema, Iterable) else ()
    if not all(map(_is_list, (schema, *given))):
        raise ParameterError(
            "is not a list of groups, each a list of names",
            "give one such as [['age', 'sex'], ['ward']]",
            option="schema",
        )
    groups = tuple(_names(names, "schema") for names in given)
    if not groups or not all(groups):
        raise ParameterError(
            "has no group, or one without a name",
            "give at least one name to each",
            option="schema",
        )
    return groups


def _is_list(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str)


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
                f"the item {name!r} does not have the declared type of items, {kind.value!r}",
                "name items of that type, or declare another",
            )
        keys.append(key)
    return keys


def _placed(
    schema: Sequence[Sequence[str]], names: Sequence[str], kind: Kind | None = None
) -> Groups:
    """The groups by the places of their names, equal groups once."""
    places = {name: place for place, name in enumerate(names)}
    groups: dict[tuple[int, ...], None] = {}
    for given in schema:
        group = given if kind is None else _items(given, kind)
        absent = [name for name in group if name not in places]
        if absent:
            raise ParameterError(
                f"names {listed(absent)}, which are not columns that may be released",
                "if they are items of a long form, give `person` and `item`",
                option="schema",
            )
        groups[tuple(sorted(places[name] for name in group))] = None
    return tuple(groups)


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
        '# person = "NAME", item = "NAME", value = "NAME" too; docs/how-to/columns.md',
    ),
    guide=Guide(
        need="Anyone may get it, and it has hundreds of columns, mostly empty",
        promise=(
            "What is concluded about you, from all groups of columns, hardly depends on "
            "whether you are in the table."
        ),
        cost="Relations between groups of columns are lost",
        leaves_open="What is true of most people like you",
        example="Purchases, ratings, diagnosis codes",
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
    not_compared="its rows are parts of records, each with the columns of one group",
    not_attacked=(
        "differential privacy holds against someone who knows the algorithm and all other records, "
        "which is proven (docs: proofs/columns)"
    ),
)
