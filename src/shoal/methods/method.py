"""What every method keeps, and the road all of them walk. Uses every room above; the methods use it.

A method is a frozen dataclass of its parameters. It states its promise from the schema alone, before any data is seen,
and makes a `Release` from counts and a source of chance. `begin` does once what every release begins with.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, is_dataclass
from typing import Any, ClassVar, Protocol

from shoal.arguments import described, missing_of
from shoal.chance import Chance
from shoal.data.people import require_unit
from shoal.data.schema import ROW, Role, Schema
from shoal.data.tables import Table
from shoal.errors import ParameterError, listed
from shoal.privacy.calculus import delta_concern
from shoal.privacy.models import Model, parse_model
from shoal.privacy.promises import Promise, Syntactic
from shoal.releases.release import Release

__all__ = [
    "Job",
    "Method",
    "Progress",
    "Schema",
    "beforehand",
    "begin",
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


@dataclass(frozen=True, eq=False)
class Job:
    """A release that has begun: what its method needs, found once.

    table: the rows that may be used, at most as many of each person as the method says
    rows: how many rows the table that came in has
    """

    table: Table
    rows: int
    schema: Schema
    promise: Any
    chance: Chance
    progress: Progress


def begin(
    method: Any, table: Table, chance: Chance | None = None, progress: Progress | None = None
) -> Job:
    """State the promise before anything is counted, then draw the rows that may be used."""
    schema = table.schema
    promise = method.promise(schema)
    chance = chance or Chance()
    people = people_of(method, table, chance)
    return Job(people, table.rows, schema, promise, chance, progress or silent)


def silent(done: int, total: int, what: str) -> None:
    """Reports nothing."""


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
            "the table has no quasi-identifying column to generalise", "give one that role"
        )
    for column in sorted({column for model in models for column in model.columns}):
        if schema.roles.get(column) is not Role.SENSITIVE:
            raise ParameterError(
                f"a model protects column {column!r}, which is not a sensitive column",
                "give it that role",
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
    crowd = crowd_of(method, table.schema)
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
    if unit == ROW:
        raise ParameterError(
            "'row' would read like a single row in the promise", "rename that column", option="unit"
        )
    if rows > 1 and unit is None:
        raise ParameterError(
            "bounds how many rows each person gives",
            "say with `unit` which column tells people apart",
            option="rows",
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
        None if named == ROW else named,
        [name for name in [getattr(method, "choice", None)] if name],
    )


def people_of(method: Any, table: Table, chance: Chance) -> Table:
    """The rows that a method may use: at most so many of each person as it says, or all where rows are people."""
    require_people(method, table)
    if method.unit is None:
        return table
    return table.bounded(method.unit, getattr(method, "rows", 1), chance)
