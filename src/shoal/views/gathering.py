"""`gather`: views from a file or a release, with all that a ledger knows, ready to be checked.

Uses `files`, `register` and `candidates`; the command line uses it. A ledger comes as an argument,
as its room lies below this one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, runtime_checkable

from shoal.arguments import typed
from shoal.data.disk import Place
from shoal.data.tables import Table
from shoal.errors import InputError, ParameterError, ShoalError, listed, toml_spelling
from shoal.exact.numbers import Exact
from shoal.releases.release import Release
from shoal.views.candidates import Candidate, public, refinements, truth
from shoal.views.candidates import free as free_candidates
from shoal.views.files import ViewsFile, as_toml, others_of
from shoal.views.model import Value, View, Views
from shoal.views.register import Register, sensitive_columns
from shoal.zones import brief

__all__ = ["Gathered", "Remembers", "gather", "gather_release", "gather_releases", "load"]


@runtime_checkable
class Remembers(Protocol):
    """What a ledger does here: it adds all that was shown before to views."""

    def together(
        self,
        release: Release,
        table: Table,
        column: str | None = None,
        *,
        person: str | None = None,
        others: Place | None = None,
    ) -> Views: ...

    def together_with(
        self, views: Views, register: Register, column: str | None = None
    ) -> Views: ...


@brief
@dataclass(frozen=True, eq=False)
class Gathered:
    """Views, the register that they are of, and the sensitive column they are about, if known.

    by_row: whether people are rows of the owner's table, whatever names them
    """

    views: Views
    register: Register
    column: str | None = None
    by_row: bool = False

    def within(self, gamma: Exact) -> "Gathered":
        """The same with another γ."""
        return replace(self, views=self.views.within(gamma))

    def with_ledger(self, ledger: Remembers, column: str | None = None) -> "Gathered":
        """The same with all that a ledger knows of a sensitive column, by default its own."""
        chosen = column or self.column
        views = ledger.together_with(self.views, self.register, chosen)
        return replace(self, views=views, column=chosen)

    def truth(self, data: Table, column: str | None = None) -> list[Value]:
        """Everybody's value in the table itself."""
        chosen = column or self.column
        if chosen is None:
            raise ParameterError(
                "should name the sensitive column of the table",
                "give it, or name it in [sensitive]",
                option="sensitive",
            )
        return truth(self.register, data, chosen, complete=self.views.complete)

    def candidates(
        self,
        *,
        conditions: int = 1,
        free: bool = False,
    ) -> list[Candidate]:
        """Views that could be shown in addition, by up to `conditions` public columns.

        free: also those that are not a part of an earlier view
        """
        columns = public(self.register)
        candidates = refinements(self.views, columns, conditions=conditions)
        if free:
            candidates += free_candidates(self.views, columns, conditions=conditions)
        return candidates

    def toml(self, views: Sequence[View]) -> str:
        """More views of these people as TOML.

        It can be appended to the file they came from or, for a release, be a file that a recipe
        names in [views].
        """
        if not self.by_row:
            return as_toml(views, self.views.people)
        # A recipe has no column that names people, so rows are numbered there.
        rows = [str(row + 1) for row in range(len(self.views.people))]
        return as_toml(views, rows, self.column)


@typed
def load(path: Place) -> Views:
    """The views of a TOML file (docs: several releases together)."""
    return gather(path).views


@typed
def gather(path: Place) -> Gathered:
    """The views of a TOML file, with their register and the sensitive column, if it is named."""
    file = ViewsFile.read(path)
    try:
        register = file.register()
        return Gathered(file.views(register), register, file.subject.column)
    except ShoalError as error:
        # The name will do: whoever gave the path knows the folder.
        raise error.at(file.path.name, toml_spelling) from None


@typed
def gather_release(
    release: Release,
    table: Table,
    ledger: Remembers,
    *,
    column: str | None = None,
    person: str | None = None,
    others: Place | None = None,
) -> Gathered:
    """The views of a release of a table, with all that a ledger knows.

    column: the sensitive one, where there are several
    person: the column that names people; otherwise rows are numbered
    others: a file of what others have shown of the same people
    """
    views = ledger.together(release, table, column, person=person, others=others)
    chosen = column or sensitive_columns(release.certificate)[0]
    return Gathered(views, Register.of_rows(table, chosen, person), chosen, by_row=True)


@typed
def gather_releases(
    releases: Mapping[str, Release],
    table: Table,
    column: str,
    *,
    known: Sequence[str] | None = None,
    person: str | None = None,
    others: Place | None = None,
    gamma: Exact = Fraction(1, 2),
) -> Gathered:
    """The views of several releases of a table, by the names that they are to have.

    InputError where they cannot be counted together, or were not shown of the table as it is.

    column: the sensitive one
    known: the columns that people are known by; the quasi-identifying ones by default
    person: the column that names people; otherwise rows are numbered
    others: a file of what others have shown of the same people
    """
    if known is not None:
        quasi = [name for name in known if name != column]
        table = table.with_roles(quasi=quasi, sensitive=[column])
    # Files of what others have shown may name people, and do so by the numbers of their rows.
    register = Register.of_rows(table, column)
    names = register.names if person is None else Register.of_rows(table, column, person).names
    shown: list[View] = []
    for name, release in releases.items():
        shown += register.of_release(release, name, column)
    if others is not None:
        shown += others_of(others, register, column)
    untrue = _untrue(shown, truth(register, table, column))
    if untrue:
        raise InputError(
            f"what {listed(untrue)} showed is not true of the table as it is now",
            "leave it out, or give the table that it was shown of",
        )
    views = Views(names, shown, gamma, notes=tuple(register.notes))
    return Gathered(views, register, column, by_row=True)


def _untrue(shown: Sequence[View], values: Sequence[Value]) -> list[str]:
    """The releases and tables of which a view does not show what people have."""
    names = [view.name for view in shown if not view.true_of(values)]
    return list(dict.fromkeys(name.rpartition("/")[0] or name for name in names))
