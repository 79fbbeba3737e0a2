"""Ways to release a table, one module each, and what all of them keep. Uses every room above; the doors use it.

A method is a frozen dataclass of its parameters. It states its promise from the schema alone, before any data is seen,
and makes a `Release` from a `Table` and a source of chance.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, ClassVar, Protocol

from shoal.arguments import described, missing_of
from shoal.chance import Chance
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.people import drawn, require_unit
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, HierarchyError, ParameterError, listed
from shoal.privacy.calculus import delta_concern
from shoal.privacy.models import Model, parse_model
from shoal.privacy.promises import Promise, Syntactic
from shoal.releases.release import Release

__all__ = [
    "Method",
    "Progress",
    "Schema",
    "beforehand",
    "conjunction",
    "crowd_of",
    "people_of",
    "require_bound",
    "require_people",
    "short_names",
    "silent",
    "syntactic",
]

Progress = Callable[[int, int, str], None]
"""Called from time to time with (done, total, what); may raise `Stopped`."""


@dataclass(frozen=True)
class Schema:
    """All that a promise may depend on: the columns in the table's order, their roles, types and hierarchies. No data.

    Types that are read off the values are `guessed`: of these columns even the type is data.
    """

    roles: Mapping[str, Role]
    kinds: Mapping[str, Kind]
    hierarchies: Mapping[str, Hierarchy]
    guessed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: Table) -> "Schema":
        """The schema of a table; ColumnError if a column has no role."""
        if not isinstance(table, Table):
            raise ColumnError(
                f"a method releases a Table, not a {type(table).__name__}; make one with shoal.table(…, quasi=[…], …)"
            )
        table.require_roles()
        return cls(
            {name: table.roles[name] for name in table.names},
            {name: table.kind(name) for name in table.names},
            {name: table.hierarchy(name) for name in table.names if name in table.hierarchies},
            table.guessed,
        )

    def public(self, name: str) -> Hierarchy:
        """The hierarchy of a column; HierarchyError if it has none, or one that was derived from the rows."""
        if name not in self.hierarchies:
            raise HierarchyError(
                f"column {name!r} has no hierarchy, so its declared domain is not known; give it one"
            )
        if self.hierarchies[name].derived:
            raise HierarchyError(
                f"the hierarchy of column {name!r} was derived from the rows: its values and levels tell about them, and no "
                "budget pays for that; build it from a declared domain"
            )
        return self.hierarchies[name]

    def require_declared(self) -> None:
        """ColumnError if the type of a released column is read off its values: one odd value would show in the certificate."""
        for name in self.leaving:
            if name in self.guessed:
                raise ColumnError(
                    f"the type of column {name!r} would be read off its values, which tells about them; declare it as "
                    "text, integer, float or date"
                )

    def require_unit(self, unit: str | None) -> None:
        """ParameterError if this is not a column that tells people apart."""
        if unit == "row":
            raise ParameterError(
                "`unit` 'row' would read like a single row in the promise; rename that column"
            )
        if unit is not None and self.roles.get(unit) is not Role.IDENTIFYING:
            raise ParameterError(
                f"`unit` {unit!r} is no identifying column; give the column of people that role"
            )

    @property
    def leaving(self) -> tuple[str, ...]:
        """The names of the columns that are released, in the table's order."""
        return tuple(name for name, role in self.roles.items() if role is not Role.IDENTIFYING)

    def having(self, role: Role) -> tuple[str, ...]:
        """The names of the columns with a role, in the table's order."""
        return tuple(name for name, its in self.roles.items() if its is role)


class Method(Protocol):
    """A way to release a table."""

    name: ClassVar[str]

    def promise(self, schema: Schema) -> Promise:
        """What a release of a table with this schema will guarantee, whatever its rows are."""
        ...

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The release; `chance` is the operating system's unless a test gives another."""
        ...


def conjunction(models: Iterable[Model | str]) -> tuple[Model, ...]:
    """The models that a method is to satisfy all at once, some perhaps by their short names; ParameterError if there are none."""
    if not isinstance(models, Iterable) or isinstance(models, str) or not (given := tuple(models)):
        raise ParameterError("models are a list of at least one, such as [KAnonymity(5)]")
    found = tuple(parse_model(model) if isinstance(model, str) else model for model in given)
    for model in found:
        if lacking := missing_of(model, Model):
            raise ParameterError(
                f"`models` has {described(model)}, which has no {listed(lacking)}; give models, such as KAnonymity(5), their "
                "short names, or what docs/models.md asks of a model of your own"
            )
    return found


def syntactic(models: tuple[Model, ...], schema: Schema, unit: str | None = None) -> Syntactic:
    """The promise that every group satisfies some models, where a schema has the columns it speaks of."""
    if not schema.having(Role.QUASI):
        raise ParameterError(
            "the table has no quasi-identifying column to generalise; give one that role"
        )
    for column in sorted({column for model in models for column in model.columns}):
        if schema.roles.get(column) is not Role.SENSITIVE:
            raise ParameterError(
                f"a model protects column {column!r}, which is no sensitive column; give it that role"
            )
    schema.require_unit(unit)
    return Syntactic(short_names(models), unit)


def short_names(models: Iterable[Model]) -> tuple[str, ...]:
    """Models as a promise calls them; one that does not say how it prints goes by its name."""
    return tuple(
        model.name
        if type(model).__str__ is object.__str__ and not is_dataclass(model)
        else str(model)
        for model in models
    )


def beforehand(method: Method, table: Table) -> tuple[str, ...]:
    """What the owner should know before a table is released, or anything is spent on it; it tells about the number of rows."""
    told = []
    delta = getattr(method, "delta", None)
    if delta and table.rows and (concern := delta_concern(delta, table.rows)):
        told.append(concern)
    crowd = crowd_of(method, Schema.of(table))
    if crowd is not None and table.rows < crowd:
        told.append(
            f"a row is more likely than not to be released if about {crowd:,} records share it, and the table has "
            f"{table.rows:,}: expect an empty release; give a larger epsilon or delta, or a smaller k, if that is acceptable"
        )
    return tuple(told)


def crowd_of(method: Method, schema: Schema) -> int | None:
    """About how many records must share a row for it to be more likely than not to be released; None where that says nothing.

    It is computed from the parameters and the schema, which are public.
    """
    crowd = getattr(method, "crowd", None)
    found: int | None = None if crowd is None else crowd(schema)
    return found


def require_bound(unit: str | None, rows: int, definition: str) -> None:
    """ParameterError if these do not say how many rows of each person are used, or if the definition is not kept then."""
    if unit == "row":
        raise ParameterError(
            "`unit` 'row' would read like a single row in the promise; rename that column"
        )
    if rows > 1 and unit is None:
        raise ParameterError(
            "`rows` bounds how many rows each person gives; say with `unit` which column tells people apart"
        )
    if unit is not None and definition == "probabilistic":
        raise ParameterError(
            "the probabilistic definition is not kept where people have several rows and some are chosen at random; "
            "ask for `definition` 'standard'"
        )


def require_people(method: Any, table: Table) -> None:
    """ColumnError if people are in several rows of a table, and neither its method nor its owner says what that means."""
    named = getattr(method, "person", None) or getattr(method, "unit", None)
    require_unit(
        table,
        None if named == "row" else named,
        [name for name in [getattr(method, "choice", None)] if name],
    )


def people_of(method: Any, table: Table, chance: Chance) -> Table:
    """The rows that a method may use: at most so many of each person as it says, or all where rows are people."""
    require_people(method, table)
    if method.unit is None:
        return table
    return drawn(table, method.unit, getattr(method, "rows", 1), chance)


def silent(done: int, total: int, what: str) -> None:
    """Says nothing."""
