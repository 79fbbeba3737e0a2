"""`Reported`: what a report is about. `Published` is the part of it that anyone may see.

What is written for the public takes `Published` and nothing else, so it cannot show more than the
released files do. What takes time is computed when it is first asked for. Uses `releases`,
`measure`, `studies`, `recipe` and `ledger`; every report uses it.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Kind
from shoal.data.schema import Role
from shoal.data.tables import Table
from shoal.data.tables import table as as_table
from shoal.errors import ColumnError, ParameterError, ShoalError, listed
from shoal.ledger import Ledger
from shoal.ledger.account import Account
from shoal.look import Zone
from shoal.measure.risk import MARKERS, Assessment, assess
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from shoal.recipe import Recipe
from shoal.releases.certificate import Certificate
from shoal.releases.certificate_page import zone_of_release
from shoal.releases.layout import COUNT, grouping
from shoal.releases.release import CERTIFICATE, Release
from shoal.releases.verification import Verdict, verify
from shoal.studies.judging import Judgement, judge
from shoal.studies.promised import rows_are_people, unit_of
from shoal.studies.released import ReleasedForm, released_form, require_comparable, with_counts
from shoal.zones import OWNER_ONLY

__all__ = ["Published", "Reported"]

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Published:
    """What the released files show.

    rows, further: the released tables as a `Release` has them
    verification: what `verify` says of the files; None if they were not verified
    """

    certificate: Certificate
    rows: Any = field(repr=False)
    verification: Verdict | None = None
    further: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> "Published":
        """What the folder of a release shows: nothing else is opened."""
        folder = Path(directory)
        release = Release.read(folder)
        return cls.of(release, verify(folder / CERTIFICATE, folder))

    @classmethod
    def of(cls, release: Release, verification: Verdict | None = None) -> "Published":
        """What a release shows, without what its method learnt about the input."""
        return cls(release.certificate, release.rows, verification, release.further)

    @property
    def failures(self) -> list[str]:
        """What does not hold about the files, if they were verified."""
        return [] if self.verification is None else self.verification.failures

    @property
    def zone(self) -> Zone:
        """Who may see it."""
        return zone_of_release(self.certificate)

    @property
    def entry(self) -> Entry | None:
        """What the catalogue knows of the method; None of one that it does not have."""
        method = self.certificate.method
        return entry_of(method) if method in CATALOGUE else None

    @property
    def form(self) -> ReleasedForm:
        """How the released rows are to be read."""
        return released_form(self.certificate)

    @cached_property
    def table(self) -> Table:
        """The first released table, each row as often as it says, with the roles of its columns."""
        return self._as_table(self.rows, None)

    @cached_property
    def tables(self) -> dict[str, Table]:
        """All released tables; the first has no name."""
        others = {name: self._as_table(rows, name) for name, rows in self.further.items()}
        return {"": self.table, **others}

    def _as_table(self, rows: Any, name: str | None) -> Table:
        there = set(as_table(RowsWithCounts.of(rows)).names)
        counted = COUNT in there and (self.form.counted or name is not None)
        columns = {
            str(one["name"]): one for one in self.certificate.columns if one.get("table") == name
        }
        roles: dict[Role, list[str]] = {role: [] for role in Role}
        types: dict[str, Kind] = {}
        for called, column in columns.items():
            if called in there and not (counted and called == COUNT):
                roles[Role(column["role"])].append(called)
                is_text = called in self._as_texts
                types[called] = Kind.TEXT if is_text else Kind(column["type"])
        return as_table(
            with_counts(rows) if counted else RowsWithCounts.of(rows),
            types=types,
            quasi=roles[Role.QUASI],
            sensitive=roles[Role.SENSITIVE],
            insensitive=roles[Role.INSENSITIVE],
        )

    def level_of(self, name: str) -> int | None:
        """The level of all values of a column; None if they have several, or it was added."""
        certificate, entry = self.certificate, self.entry
        if name in certificate.levels:
            return certificate.levels[name]
        role = next(one["role"] for one in certificate.columns if one["name"] == name)
        refined = certificate.refined
        changed = role == Role.QUASI.value and (
            entry is None or entry.own_ranges or entry.needs_hierarchies or refined is not None
        )
        added = entry is not None and name in entry.adds
        by_region = refined is not None and any(column == name for column, _ in refined.steps)
        return None if changed or added or by_region else 0

    @cached_property
    def _as_texts(self) -> set[str]:
        """The columns whose released values are texts, whatever their type was."""
        added = () if self.entry is None else self.entry.adds
        names = {str(one["name"]) for one in self.certificate.columns}.difference(added)
        levels = self.certificate.levels
        return {name for name in names if name in levels or self.level_of(name) is None}

    @property
    def known_by(self) -> tuple[str, ...]:
        """The columns by which records of the released table are alike or not."""
        mark = [self.form.mark] if self.form.mark else []
        return (*grouping(self.table), *(name for name in mark if name not in self.table.quasi))

    @cached_property
    def assessment(self) -> Assessment:
        """The risks of the released table, as anyone can compute them.

        ShoalError where its rows are not records.
        """
        return self.assessed()

    def assessed(self, population: Table | None = None) -> Assessment:
        """The risks of the released table, its people among those of a population."""
        require_comparable(self.certificate)
        sensitive = [name for name in self.table.sensitive if name not in self.known_by]
        return assess(
            self.table,
            quasi=self.known_by,
            sensitive=sensitive,
            rows_are_people=rows_are_people(self.certificate),
            population=population,
            markers=() if self.form.complete else MARKERS,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Reported:
    """A release with what its owner knows besides: the input and the recipe, where there is one.

    classes, queries: what the utility is measured by, as in `judge`
    """

    release: Release
    verification: Verdict | None = None
    table: Table | None = None
    recipe: Recipe | None = None
    classes: tuple[str, ...] = ()
    queries: int = 0

    def __repr__(self) -> str:
        return f"{OWNER_ONLY}Reported({self.release!r})"

    @classmethod
    def read(
        cls,
        directory: str | os.PathLike[str],
        recipe: Recipe,
        *,
        classes: tuple[str, ...] = (),
        queries: int = 0,
    ) -> "Reported":
        """The release in a folder, with the input that its recipe reads."""
        folder = Path(directory)
        release = Release.read(folder)
        verification = verify(
            folder / CERTIFICATE, folder, recipe.hierarchies, recipe=recipe.digest
        )
        table = recipe.table()
        if absent := [name for name in classes if name not in table.names]:
            raise ColumnError(
                f"no column {listed(absent)} to predict", f"the input has {listed(table.names)}"
            )
        return cls(release, verification, table, recipe, classes, queries)

    @property
    def certificate(self) -> Certificate:
        """The certificate of the release."""
        return self.release.certificate

    @cached_property
    def published(self) -> Published:
        """The part that anyone may see: nothing that a method learnt about the input."""
        return Published.of(self.release, self.verification)

    @cached_property
    def unknown(self) -> dict[str, str]:
        """Why something is not known, by its name: "before", "after", "judgement", "ledger"."""
        return {}

    def _tried(self, name: str, make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except ShoalError as error:
            self.unknown[name] = str(error)
            return None

    @cached_property
    def before(self) -> Assessment | None:
        """The risks of the input, of people where a column tells them apart."""
        return self._tried("before", lambda: self._assessed(self._require(self.table)))

    def _assessed(self, table: Table) -> Assessment:
        known = grouping(table)
        unit = unit_of(self.certificate)
        person = unit if unit in table.names and unit not in known else None
        others = [name for name in table.sensitive if name not in known]
        return assess(table, quasi=known, sensitive=others, person=person)

    @cached_property
    def after(self) -> Assessment | None:
        """The risks of the released table; the input is the population, where that can be."""
        return self._tried("after", self._assessed_after)

    def _assessed_after(self) -> Assessment:
        """The prosecutor knows who is in the release, the journalist only who is in the input."""
        shown = self.published
        names = list(shown.known_by)
        levels = self.certificate.levels
        brought = all(shown.level_of(name) is not None for name in names)
        # Rows of the input would be counted, which are more than people where there is a unit.
        if self.table is None or not brought or unit_of(self.certificate) is not None:
            return shown.assessment
        given = {name: level for name, level in levels.items() if name in names}
        rows = self.table.write_back(names, given)
        types = {name: shown.table.kind(name) for name in names}
        return shown.assessed(as_table(rows, types=types, quasi=names))

    @cached_property
    def judgement(self) -> Judgement | None:
        """How the release compares with the input."""
        return self._tried("judgement", self._judged)

    def _judged(self) -> Judgement:
        table = self._require(self.table)
        return judge(table, self.release, classes=self.predicted, queries=self.queries)

    @property
    def predicted(self) -> tuple[str, ...]:
        """The classes that stand beside what they are predicted from, in the released table."""
        names = self.published.table.names
        return tuple(name for name in self.classes if name in names)

    def _require(self, table: Table | None) -> Table:
        if table is None:
            raise ParameterError("the input is not at hand", "give the recipe")
        return table

    @cached_property
    def ledger(self) -> Account | None:
        """The ledger that the recipe names, as it is now."""
        if self.recipe is None or self.recipe.ledger is None:
            self.unknown["ledger"] = "the recipe names no ledger"
            return None
        path = self.recipe.ledger
        return self._tried("ledger", lambda: Ledger(path).account())
