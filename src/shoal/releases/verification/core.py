"""`verify`: does a written release keep what its certificate says? And what can nobody see?

The order of all checks is here; what each looks at is in the other modules. No name of a method
occurs: what differs between methods is in their checks, which `catalogue` lists.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.arguments import typed
from shoal.data.commitments import OpenedTable, commitment
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.table_files import TableFiles
from shoal.errors import FileError, ShoalError, listed
from shoal.releases.certificate import Certificate
from shoal.releases.verification.catalogue import CHECKS
from shoal.releases.verification.claims import Claims, read_claims
from shoal.releases.verification.contents import content_faults, require_known
from shoal.releases.verification.labels import (
    hierarchy_faults,
    is_ordered,
    label_faults,
    unsettled,
)
from shoal.releases.verification.method import MethodCheck, OpenEnd, Place
from shoal.releases.verification.models import ClaimedModel
from shoal.releases.verification.promised import (
    assumes_public_choices,
    promise_faults,
    statement,
    variant_faults,
)
from shoal.releases.verification.reading import (
    ReleasedTables,
    StatedFile,
    read_certificate,
    read_rows,
)
from shoal.releases.verification.words import NOT_VALID, SEEDED, named, on_one_line, word

__all__ = ["Verdict", "unchecked", "verify"]

_LOG = logging.getLogger(__name__)

COMMITMENT = "register_commitment"
"""Where a certificate has what commits to a register."""

_ROLES = {
    "quasi": "quasi-identifying",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}
"""The roles with which columns are released, in words."""


@typed
class Verdict(list[str]):
    """The failures of a certificate and its table, one line each: equal to [] if nothing is wrong.

    `statement` is the promise in words that are derived from its structure, never quoted; None if
    something is wrong. `unchecked` says in words what the files cannot show, and `places` where on
    the certificate that is: whatever lies there, or below, could have been changed unnoticed.
    Everything else was checked.
    """

    def __init__(self, failures: Iterable[str] = ()) -> None:
        super().__init__(failures)
        self.statement: str | None = None
        self.unchecked: list[str] = []
        self.places: list[Place] = []

    @property
    def failures(self) -> list[str]:
        """What does not hold, without that a seed was used, which a certificate says itself."""
        return [fault for fault in self if fault != SEEDED]

    def _repr_html_(self) -> str:
        """The verdict as notebooks show it."""
        from shoal.releases.verification.cards import card_of_verdict

        return card_of_verdict(self).html()


@typed
def verify(
    certificate: str | os.PathLike[str],
    released: str | os.PathLike[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    recipe: str | None = None,
    register: OpenedTable | None = None,
    checks: Sequence[MethodCheck[Any]] = (),
) -> Verdict:
    """What does not hold about a certificate and its table, one line each; empty if all is well.

    With `hierarchies` of generalised columns, released values are also looked up among the labels
    of their levels. With the digest of a `recipe`, the certificate must not name another. With
    a `register` and the key to it, people must have been counted in that one. `checks` are those of
    methods that Shoal does not have: without its check, no release of such a method passes. What
    the files alone cannot show is passed over, and listed in the verdict. Whatever the files are,
    the answer is a verdict.
    """
    from polars.exceptions import PanicException

    verdict = Verdict()
    try:
        paper = read_certificate(Path(certificate))
        if recipe is not None and paper.recipe not in (None, recipe):
            verdict.append("the recipe is not the one that was followed: their digests differ")
        examination = Examination.of(paper, hierarchies or {}, register, checks)
        # One by one, so that faults found before an error stay.
        for fault in examination.faults(Path(released)):
            verdict.append(fault)
        if not verdict:
            _complete(verdict, examination, recipe)
    except ShoalError as error:
        verdict.append(str(error))
    except (Exception, PanicException):
        # The files are anybody's: whatever they lead to, they fail.
        verdict.append(NOT_VALID)
    verdict[:] = map(on_one_line, verdict)
    _LOG.info("verified %s: %s", os.fspath(certificate), "faults" if verdict else "holds")
    return verdict


def _complete(verdict: Verdict, examination: "Examination", recipe: str | None) -> None:
    """Add what is promised, and what was not checked."""
    # First everything that may raise, so that a failed verdict never has a statement.
    words = on_one_line(statement(examination.claims))
    ends = list(examination.open_ends(recipe))
    verdict.statement = words
    verdict.unchecked = [on_one_line(end.words) for end in ends]
    verdict.places = [place for end in ends for place in end.places]


def unchecked(
    certificate: Certificate | str | os.PathLike[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> list[str]:
    """What a certificate (or its file) says that the released files alone cannot show."""
    paper = certificate
    if not isinstance(paper, Certificate):
        paper = read_certificate(Path(paper))
    try:
        ends = Examination.of(paper, hierarchies or {}).open_ends(None)
        return [on_one_line(end.words) for end in ends]
    except ShoalError:
        raise
    except Exception:
        raise FileError(NOT_VALID) from None


@dataclass
class Examination:
    """One certificate under examination; `unsettled` columns are known once the table was read."""

    claims: Claims
    check: MethodCheck[Any]
    hierarchies: Mapping[str, Hierarchy]
    register: OpenedTable | None = None
    unsettled: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        paper: Certificate,
        hierarchies: Mapping[str, Hierarchy],
        register: OpenedTable | None = None,
        checks: Sequence[MethodCheck[Any]] = (),
    ) -> "Examination":
        # What is Shoal's own cannot be replaced.
        known = {**{check.name: check for check in checks}, **CHECKS}
        require_known(paper, known)
        return cls(read_claims(paper), known[paper.method], hierarchies, register)

    # Faults, in the order in which they are looked for

    def faults(self, path: Path) -> Iterator[str]:
        """What does not hold about the certificate and the table at a path."""
        paper = self.claims.certificate
        if paper.file is None:
            raise FileError(
                "the certificate does not belong to a file", "write the release with Release.write"
            )
        if paper.private is not True:
            yield SEEDED
        yield from promise_faults(self.claims)
        promise = self.claims.promise_name
        if promise not in self.check.promises:
            yield f"the method {paper.method!r} does not promise {promise}"
        yield from content_faults(paper, self.check)
        # From here on, only what the record holds is looked at; an unreadable part ends it.
        record = self.check.parse(self.claims)
        yield from variant_faults(self.claims, self.check.variant(record))
        yield from self._completeness_faults(record)
        yield from self.check.derivation(record)
        yield from self._register_faults()
        # Tables are read last: a digest is compared before a reader sees a byte.
        files = self._files(path)
        changed = list(self._changed(path, files))
        yield from changed
        if not changed:
            yield from self._table_faults(record, files)

    def _completeness_faults(self, record: object) -> Iterator[str]:
        """Whether the certificate says truly that records may be left out, or that none are."""
        stated = self.claims.certificate.whole
        whole = self.check.whole(record)
        if stated and not whole:
            yield "the certificate says that no record was left out, though some may be"
        if whole and not stated:
            yield "the certificate says that records were left out, which its method does not do"

    def _register_faults(self) -> Iterator[str]:
        """Whether the register that is given is the one that people were counted in."""
        if self.register is None:
            return
        claimed = self.claims.certificate.derived.get(COMMITMENT)
        if claimed is None:
            yield "a register is given, and the certificate does not commit to any"
            return
        kinds = {name: self.claims.kind(name) for name in self.claims.quasi}
        absent = [name for name in kinds if name not in self.register.table.names]
        if absent:
            yield f"the register has no column {listed(absent)}"
        elif commitment(self.register, kinds) != claimed:
            yield "the register or its key is not the one that the certificate commits to"

    @cached_property
    def _stated(self) -> dict[str | None, StatedFile]:
        """The files of all tables by name, as the certificate has them; that of the first is None.

        They lie in the same folder.
        """
        file = self.claims.certificate.file or {}
        stated: dict[str | None, StatedFile] = {None: StatedFile.read(file)}
        for name, further in file.get("further", {}).items():
            stated[name] = StatedFile.read(further)
        return stated

    def _files(self, path: Path) -> dict[str | None, TableFiles]:
        """The files of all tables by name; that of the first is None, and lies at a path."""
        first = self._stated[None]
        files: dict[str | None, TableFiles] = {}
        if first.in_parts or path.is_dir():
            first.require_own(path)
            files[None] = first.files(path)
        else:
            files[None] = TableFiles.of([path])
        for name, stated in self._stated.items():
            if name is not None:
                files[name] = stated.files(path)
        return files

    def _changed(self, path: Path, files: Mapping[str | None, TableFiles]) -> Iterator[str]:
        """Whether the files are those that the certificate was written for."""
        changed = {
            name: difference
            for name, stated in self._stated.items()
            if (difference := files[name].difference(stated.sha256)) is not None
        }
        further = [name for name in self._stated if name is not None]
        if changed:
            first, difference = next(iter(changed.items()))
            called = "the table" if first is None else f"the table {listed(map(str, changed))}"
            yield f"{called} is not the one that the certificate was written for: {difference}"
        elif tuple(further) != self.check.further:
            yield "the tables differ from those that the method makes"
        for stated in self._stated.values():
            yield from stated.faults(path)

    def _table_faults(
        self, record: object, files: Mapping[str | None, TableFiles]
    ) -> Iterator[str]:
        claims = self.claims
        rows = {name: read_rows(some, claims) for name, some in files.items()}
        further = {str(name): table for name, table in rows.items() if name is not None}
        shape = self.check.shape(record)
        tables = ReleasedTables(claims, shape, rows[None], further, self.hierarchies)
        own_columns = [column.name for column in claims.columns if column.table is None]
        if list(tables.table.names) != own_columns:
            yield "the columns differ from the certificate"
            return
        if any(column.role not in _ROLES for column in claims.columns):
            yield "a column has a role with which no column is released"
        yield from hierarchy_faults(claims, self.hierarchies)
        yield from label_faults(tables)
        # Not a fault: what labels do not settle is listed as not checked.
        self.unsettled = tuple(unsettled(tables))
        if not is_ordered(tables):
            yield (
                "the rows are not in the order of their values: "
                "what decides their order instead may reveal more than they do"
            )
        yield from self.check.released(record, tables)
        yield from self._model_faults(tables)

    def _model_faults(self, tables: ReleasedTables) -> Iterator[str]:
        for claimed in self.claims.models:
            if claimed.model is not None and self._is_checkable(claimed):
                failing = claimed.model.failing(tables.groups)
                if failing:
                    groups = len(tables.groups.sizes)
                    yield f"{failing:,} of {groups:,} groups do not satisfy {claimed.called}"

    def _is_checkable(self, claimed: ClaimedModel) -> bool:
        """Whether the released table shows if a model holds."""
        model = claimed.model
        if model is None or not model.shown:
            return False
        if model.of_groups_alone:
            return True
        # It compares groups with the input, of which the release must be all.
        all_there = self.claims.certificate.whole or self.check.models_of_release
        kept_back = [column.name for column in self.claims.columns if column.kept_back]
        return all_there and claimed.column not in kept_back

    # What is not checked

    def open_ends(self, recipe: str | None) -> Iterator[OpenEnd]:
        """What is not checked; the digest of a recipe is, where it is given."""
        claims = self.claims
        record = self.check.parse(claims)
        for place, claimed in enumerate(claims.models):
            if claimed.model is None:
                yield OpenEnd(claimed.called, (("parameters", "models", place),))
            elif not self._is_checkable(claimed):
                yield OpenEnd(claimed.called)
        if claims.unit is not None and "rows" not in self.check.parameters.split():
            # Methods that bound rows have words of their own for it.
            yield OpenEnd(f"that each value of {claims.unit!r} gave one row, drawn by chance")
        yield from self.check.trusted(record, self.hierarchies)
        if COMMITMENT in claims.certificate.derived and self.register is None:
            words = "which register people were counted in: it is shown by the register and its key"
            yield OpenEnd(words, (("derived", COMMITMENT),))
        yield from self._open_levels()
        parameters = claims.certificate.parameters
        free = [name for name in self.check.free(record) if name in parameters]
        if free:
            yield OpenEnd(
                f"the parameters {listed(free)}: "
                "the released files do not depend on them in a way that shows",
                tuple(("parameters", name) for name in free),
            )
        yield from self._open_hierarchies()
        yield OpenEnd(
            f"what the columns are, which the owner declared: {self._columns_in_words()}",
            self._places_of_columns("role", "type"),
        )
        yield from self._open_choices()
        if recipe is None or claims.certificate.recipe is None:
            words = "the number of the release and the digest of its recipe"
            yield OpenEnd(words, (("number",), ("recipe",)))
        else:
            yield OpenEnd("the number of the release", (("number",),))

    def _open_choices(self) -> Iterator[OpenEnd]:
        """What the owner saw before they chose, which no file shows."""
        if not assumes_public_choices(self.claims):
            return
        words = "that nothing was chosen after looking at the data"
        if self.claims.certificate.chosen_after_looking:
            words = (
                "that nothing but what is listed was chosen after looking at the data, "
                "and that what is said to be public was"
            )
        yield OpenEnd(words, (("chosen_after_looking",),))

    def _open_levels(self) -> Iterator[OpenEnd]:
        bare = self.claims.without_tree(self.hierarchies)
        levels = [name for name in self.claims.levels if name in bare or name in self.unsettled]
        if levels:
            yield OpenEnd(
                f"the levels of {listed(levels)}: "
                "they do not show without hierarchies, or in labels that occur at several levels",
                tuple(("levels", name) for name in levels),
            )

    def _open_hierarchies(self) -> Iterator[OpenEnd]:
        places: list[Place] = [
            ("parameters", "models", place, key)
            for place, claimed in enumerate(self.claims.models)
            for key in claimed.counts_by
        ]
        digests: list[Place] = []
        for place, column in enumerate(self.claims.columns):
            given = column.name in self.hierarchies
            if column.has_hierarchy and (column.kept_back or not given):
                places.append(("columns", place, "hierarchy"))
            # Without a digest, the hierarchy given cannot be told from another.
            unknown = column.role == "quasi" and column.digest is None
            if unknown or (column.digest is not None and not given):
                digests.append(("columns", place, "hierarchy_sha256"))
        if places:
            words = "hierarchies and populations by which models of sensitive columns count"
            yield OpenEnd(words, tuple(places))
        if digests:
            words = "by which hierarchies released texts are read, where none is known"
            yield OpenEnd(words, tuple(digests))

    def _columns_in_words(self) -> str:
        return ", ".join(
            f"{named(column.name)} is {_ROLES[column.role]}, {word(column.kind)}"
            for column in self.claims.columns
        )

    def _places_of_columns(self, *keys: str) -> tuple[Place, ...]:
        columns = range(len(self.claims.columns))
        return tuple(("columns", place, key) for place in columns for key in keys)
