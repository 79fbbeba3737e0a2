"""`Schema`: all that a promise may depend on.

Uses `kinds` and `hierarchy`; tables have one, and methods state promises by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, HierarchyError, ParameterError, plural
from shoal.zones import OWNER_ONLY

__all__ = ["ROW", "Role", "Schema"]

ROW = "row"
"""The unit of a promise about single rows; no column of people may be called so."""


class Role(StrEnum):
    """What a column is to someone who wants to recognise a person."""

    IDENTIFYING = "identifying"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True)
class Schema:
    """The columns in the table's order, their roles, types and hierarchies. No data.

    A type that is read off the values is `guessed`: then even the type is data.
    """

    roles: Mapping[str, Role]
    kinds: Mapping[str, Kind]
    hierarchies: Mapping[str, Hierarchy]
    guessed: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        mark = OWNER_ONLY if self.reveals else ""
        known = f"{len(self.hierarchies):,} with a hierarchy"
        return f"<{mark}shoal.Schema of {plural(len(self.roles), 'column')}, {known}>"

    def _repr_html_(self) -> str:
        """The columns as notebooks show them."""
        from shoal.data.cards import card_of_schema

        return card_of_schema(self).html()

    @property
    def reveals(self) -> bool:
        """Whether the schema itself reveals information about the rows: it was read off them."""
        return bool(self.guessed) or any(tree.derived for tree in self.hierarchies.values())

    @property
    def released(self) -> tuple[str, ...]:
        """The names of the columns that are released: all but the identifying ones."""
        return tuple(name for name, role in self.roles.items() if role is not Role.IDENTIFYING)

    def having(self, role: Role) -> tuple[str, ...]:
        """The names of the columns with a role, in the table's order."""
        return tuple(name for name, given in self.roles.items() if given is role)

    def public(self, name: str) -> Hierarchy:
        """The hierarchy of a column.

        HierarchyError if it has none, or one derived from the rows.
        """
        if name not in self.hierarchies:
            raise HierarchyError(
                f"column {name!r} has no hierarchy, so its domain is not declared", "give it one"
            )
        hierarchy = self.hierarchies[name]
        if hierarchy.derived:
            raise HierarchyError(
                f"the hierarchy of column {name!r} was derived from the rows: its values and "
                "levels reveal information about them, and no budget pays for that",
                "build it from a declared domain",
            )
        return hierarchy

    def require_declared(self) -> None:
        """ColumnError if the type of a released column is read off its values.

        One odd value would show in the certificate.
        """
        for name in self.released:
            if name in self.guessed:
                raise ColumnError(
                    f"the type of column {name!r} would be read off its values, which reveals "
                    "information about them",
                    "declare it as text, integer, float or date",
                )

    def require_unit(self, unit: str | None) -> None:
        """ParameterError if this is not a column that tells people apart."""
        if unit == ROW:
            raise ParameterError(
                "'row' would read like a single row in the promise",
                "rename that column",
                option="unit",
            )
        if unit is not None and self.roles.get(unit) is not Role.IDENTIFYING:
            raise ParameterError(
                f"{unit!r} is not an identifying column",
                "give the column of people that role",
                option="unit",
            )
