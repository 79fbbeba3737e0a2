"""What every method keeps, and the road all of them walk.

Uses every room above; the methods use it.

A method is a frozen dataclass of its parameters. It states its promise from the schema alone,
before any data is seen, and makes a `Release` from counts and a source of chance. `begin` does once
what every release begins with.

A method may also say how many records must share a row for it to be released (`crowd`), what its
owner should know before anything is spent (`beforehand`), and which levels it searches
(`searched`). Whoever asks uses the functions of these names here, which know what to answer for a
method that does not say.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from shoal.arguments import described, missing_of
from shoal.chance import Chance
from shoal.data import free_memory
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.people import require_unit
from shoal.data.schema import ROW, Role, Schema
from shoal.data.tables import Table
from shoal.errors import ParameterError, listed
from shoal.exact.numbers import Exact
from shoal.privacy.calculus import delta_concern
from shoal.privacy.models import MODELS, Model, parse_model
from shoal.privacy.promises import Promise, Syntactic
from shoal.releases.release import Release

__all__ = [
    "Method",
    "Progress",
    "Task",
    "beforehand",
    "begin",
    "conjunction",
    "crowd_of",
    "delta_concerns",
    "level_ranges",
    "people_of",
    "protected",
    "refines",
    "require_bound",
    "require_people",
    "require_records",
    "searched",
    "short_names",
    "silent",
    "syntactic",
]

_LOG = logging.getLogger(__name__)

_RECORD, _CELL = 120, 10
"""Bytes per record, and per record and released column, of methods that draw for every record.

The most that was measured, for buckets and coincident generalisation.
"""

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


# What a method may say besides


@runtime_checkable
class WithCrowd(Protocol):
    """A method that releases rows only if enough records share them."""

    def crowd(self, schema: Schema) -> int | None:
        """About how many records must share a row to make its release more likely than not."""
        ...


@runtime_checkable
class WithConcerns(Protocol):
    """A method that can say beforehand, by the rows, what its owner should know."""

    def beforehand(self, table: Table) -> tuple[str, ...]:
        """What the owner should know before anything is spent.

        InfeasibleError if nothing can be released.
        """
        ...


@runtime_checkable
class WithSearch(Protocol):
    """A method that chooses among the levels of columns."""

    def searched(self, schema: Schema) -> Mapping[str, range] | None:
        """The levels of every column that is generalised; None if nothing is searched."""
        ...


def crowd_of(method: Method, schema: Schema) -> int | None:
    """About how many records must share a row to make its release more likely than not.

    None where that says nothing. It is computed from parameters and schema, which are public.
    """
    return method.crowd(schema) if isinstance(method, WithCrowd) else None


def beforehand(method: Method, table: Table) -> tuple[str, ...]:
    """What the owner should know before a table is released, or anything is spent on it.

    It reveals the number of rows.
    """
    people = _people(getattr(method, "unit", None), table)
    concerns = list(delta_concerns(getattr(method, "delta", None), people))
    crowd = crowd_of(method, table.schema)
    if crowd is not None and table.rows < crowd:
        concerns.append(
            f"a row is more likely than not to be released if about {crowd:,} records share it, "
            f"and the table has {table.rows:,}: expect an empty release; give a larger epsilon or "
            "delta, or a smaller k, if that is acceptable"
        )
    if isinstance(method, WithConcerns):
        concerns += method.beforehand(table)
    return tuple(concerns)


def delta_concerns(delta: Exact | None, people: int) -> tuple[str, ...]:
    """What to say of a δ that is too large for a number of people, if it is; owner only."""
    concern = delta_concern(delta, people) if delta and people else None
    return () if concern is None else (concern,)


def _people(unit: str | None, table: Table) -> int:
    """How many people there are: each row is one, unless a column tells them apart."""
    people = table.source.distinct(unit) if unit in table.names else None
    return table.rows if people is None else people


def searched(method: Method, schema: Schema) -> Mapping[str, range] | None:
    """The levels that a method chooses from, for every column that is generalised.

    None if it searches no lattice.
    """
    return method.searched(schema) if isinstance(method, WithSearch) else None


def refines(method: Method) -> bool:
    """Whether a method gives regions levels of their own, so that a column has several."""
    return "tree" in (getattr(method, "levels", None), getattr(method, "search", None))


def level_ranges(
    trees: Mapping[str, Hierarchy], floor: Mapping[str, int], ceiling: Mapping[str, int]
) -> dict[str, range]:
    """The levels of some columns, from their floors to their ceilings."""
    return {
        name: range(floor.get(name, 0), ceiling.get(name, tree.height) + 1)
        for name, tree in trees.items()
    }


# The road


@dataclass(frozen=True, eq=False)
class Task:
    """A release that has begun: what its method needs, found once.

    table: the rows that may be used, at most as many of each person as the method says
    rows: how many rows the table that came in has
    people: how many people these are of
    """

    table: Table
    rows: int
    people: int
    schema: Schema
    promise: Any
    chance: Chance
    progress: Progress


def begin(
    method: Any, table: Table, chance: Chance | None = None, progress: Progress | None = None
) -> Task:
    """State the promise before anything is counted, then draw the rows that may be used."""
    schema = table.schema
    promise = method.promise(schema)
    _LOG.info("releasing by %s: %s", method.name, promise.statement)
    chance = chance or Chance()
    if getattr(method, "unit", None) is not None:
        _require_values(table, schema)
    people = people_of(method, table, chance)
    number = _people(getattr(method, "unit", None), table)
    return Task(people, table.rows, number, schema, promise, chance, _logged(method.name, progress))


def _logged(method: str, progress: Progress | None) -> Progress:
    """A progress that also logs each step when it begins: what is done, never how much of it."""
    if not _LOG.isEnabledFor(logging.DEBUG):
        return progress or silent
    last = ""

    def report(done: int, total: int, what: str) -> None:
        nonlocal last
        if what != last:
            last = what
            _LOG.debug("%s: %s", method, what)
        if progress is not None:
            progress(done, total, what)

    return report


def _require_values(table: Table, schema: Schema) -> None:
    """ColumnError or HierarchyError if a value of any row is refused, whichever rows will be drawn.

    Else a release could be tried until the rows that are drawn happen to be good.
    """
    table.look_at(schema.released)
    for name in schema.released:
        if name in schema.hierarchies:
            table.leaf_of(name)


def silent(done: int, total: int, what: str) -> None:
    """Reports nothing."""


# What several methods ask for


def conjunction(models: Iterable[Model | str]) -> tuple[Model, ...]:
    """The models that a method is to satisfy all at once, some perhaps by their short names."""
    several = isinstance(models, Iterable) and not isinstance(models, str)
    given = tuple(models) if several else ()
    if not given:
        raise ParameterError("models are a list of at least one, such as [KAnonymity(5)]")
    return tuple(map(_model, given))


def _model(given: Model | str) -> Model:
    model = parse_model(given) if isinstance(given, str) else given
    if lacking := missing_of(model, Model):
        raise ParameterError(
            f"`models` has {described(model)}, which has no {listed(lacking)}",
            "give models, such as KAnonymity(5), their short names, or what "
            "docs/how-to/extend-model.md asks of a model of your own",
        )
    name = model.name
    if _is_own(model) and (name in MODELS or not re.fullmatch(r"[a-z][a-z0-9-]{0,59}", name)):
        raise ParameterError(
            f"`models` has {described(model)}, whose name a certificate cannot have",
            "a model of your own takes a name of its own, of small letters, digits and hyphens",
        )
    return model


def _is_own(model: Model) -> bool:
    """Whether a model is somebody's own, which verification does not know."""
    return MODELS.get(model.name) is not type(model)


def syntactic(models: tuple[Model, ...], schema: Schema, unit: str | None = None) -> Syntactic:
    """The promise that every group satisfies some models.

    ParameterError if the schema does not have the columns that these protect.
    """
    if not schema.having(Role.QUASI):
        raise ParameterError(
            "the table has no quasi-identifying column to generalise", "give one that role"
        )
    for column in protected(models):
        if schema.roles.get(column) is not Role.SENSITIVE:
            raise ParameterError(
                f"a model protects column {column!r}, which is not a sensitive column",
                "give it that role",
            )
    schema.require_unit(unit)
    return Syntactic(short_names(models), unit)


def protected(models: Iterable[Model]) -> list[str]:
    """The columns that some models protect, which must be counted for them."""
    return sorted({column for model in models for column in model.columns})


def short_names(models: Iterable[Model]) -> tuple[str, ...]:
    """Models as a promise calls them; one of the owner's own is told as such, by its name.

    Nobody can take it for one that verification checks.
    """
    return tuple(map(_short_name, models))


def _short_name(model: Model) -> str:
    return f"{model.name} (a model of the owner's own)" if _is_own(model) else str(model)


def require_bound(unit: str | None, rows: int, definition: str) -> None:
    """ParameterError if it is not clear how many rows of each person are used.

    Also if the definition is not kept then.
    """
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
            "the probabilistic definition is not kept where people have several rows and some are "
            "chosen at random",
            "ask for `definition` 'standard'",
        )


def require_records(table: Table) -> None:
    """TooLargeError if the single records of a table do not fit into memory.

    For methods that draw for every record, to be asked before anything is drawn.
    """
    records = table.rows
    free_memory.require(
        records * (_RECORD + _CELL * len(table.released)),
        f"working on {records:,} single records, as this method does,",
        "use a method that works with counts, such as SafePub or Optimal, or a part of the table",
    )


def require_people(method: Any, table: Table) -> None:
    """ColumnError if people are in several rows, and nobody says what that means.

    The method may say it, or the owner of the table.
    """
    unit = getattr(method, "person", None) or getattr(method, "unit", None)
    choice = getattr(method, "choice", None)
    require_unit(table, None if unit == ROW else unit, [choice] if choice else [])


def people_of(method: Any, table: Table, chance: Chance) -> Table:
    """The rows that a method may use: as many of each person as it says, all if rows are people."""
    require_people(method, table)
    if method.unit is None:
        return table
    return table.bounded(method.unit, getattr(method, "rows", 1), chance)
