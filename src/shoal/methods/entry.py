"""`Entry`: what others need to know about a method without knowing the method.

Each method's module has one; `catalogue` lists them.

It is data only: the rooms below read it, and nobody outside `methods` asks for a method's name or
class.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shoal.data.tables import Role

__all__ = ["AsViews", "Entry", "Guide"]


@dataclass(frozen=True)
class AsViews:
    """How a release shows the true values of everybody in a group.

    With this, it can be checked together with other releases.
    """

    mark: str | None = None
    """The released column that numbers the groups, where groups may look alike."""
    apart: str | None = None
    """The further table that holds the sensitive values of every group.

    Else they stand beside the people.
    """
    drawn: bool = False
    """Whether people who fit a group may have been left out of it by chance."""
    known_roles: tuple[Role, ...] = (Role.QUASI,)
    """The roles of the released columns that people are known by."""


@dataclass(frozen=True)
class Guide:
    """When to take a method, in a few words each, for whoever has to choose one."""

    need: str = ""
    """What somebody needs who should take it."""

    promise: str = ""
    """What it promises to one person, in a sentence."""

    cost: str = ""
    """What is given up for that."""

    leaves_open: str = ""
    """What can be found out nevertheless."""

    example: str = ""
    """A case that it fits."""


@dataclass(frozen=True)
class Entry:
    """A method as the catalogue has it."""

    method: type[Any]
    """The class: a frozen dataclass of the method's parameters."""

    summary: str
    """What it releases, in a few words."""

    draft: tuple[str, ...]
    """The lines of a `[method]` section in a drafted recipe.

    "?" stands where only a person can decide.
    """

    guide: Guide = Guide()
    """When to take it; every method of the catalogue says so."""

    public_algorithm: bool = True
    """Whether the promise holds against someone who knows the algorithm."""

    public_choices: bool | tuple[str, str] = True
    """Whether its promise assumes that all that is chosen was chosen without looking at the data.

    A parameter and a value if it does only where the parameter has that value.
    """

    truthful: bool = True
    """Whether every released value is a generalisation of a value that was in the table, and counts
    are true.
    """

    subset: bool = False
    """Whether only some records are released, by chance or because few are alike."""

    generalises: Literal["quasi", "released"] = "quasi"
    """Which columns have levels: the quasi-identifying ones, or all released ones with a hierarchy.
    """

    needs_quasi: bool = True
    """Whether the table must have a quasi-identifying column."""

    needs_hierarchies: bool = True
    """Whether every quasi-identifying column must have a hierarchy."""

    adds: tuple[str, ...] = ()
    """The columns it adds to the released table."""

    tables: tuple[str, ...] = ()
    """The names of the tables it releases besides the first."""

    as_views: AsViews | None = None
    """How its releases become views.

    None if they do not show the values of everybody in a group.
    """

    not_judged: str = ""
    """Why a release cannot be compared with the input record by record; empty if it can."""

    trades: Literal["", "risk", "limits"] = ""
    """What its parameters trade for utility: the risk of records, or limits of values.

    Empty if that is not weighed for an owner.
    """

    not_compared: str = ""
    """Why its released table cannot be compared with another as records are; empty if it can."""

    attack: Literal["values", "people"] = "values"
    """What someone who knows the algorithm looks for: the values of people who are known, or who
    a record is about.
    """

    not_attacked: str = ""
    """Why there is nothing to find for someone who knows the algorithm and the people.

    Empty if there may be.
    """

    suppresses: bool = False
    """Whether whole groups may be left out, or released as rows of stars."""

    own_ranges: bool = False
    """Whether groups have ranges of their own beside the values of hierarchies."""

    leaves_out: bool = False
    """Whether records may be left out by lot."""

    proof: str = ""
    """The proof that nothing can be learnt but what is shown, as a page of docs/proofs.

    Empty if there is none.
    """

    levels_note: str = ""
    """What an owner must know who looks at the table at chosen levels before a release."""

    again_note: str = ""
    """What an owner must know who releases the same table by this method a second time."""

    def assumes_public_choices(self, parameters: Mapping[str, Any]) -> bool:
        """Whether its promise assumes that all was chosen without looking, with some parameters."""
        if isinstance(self.public_choices, bool):
            return self.public_choices
        name, value = self.public_choices
        return bool(parameters.get(name) == value)

    @property
    def name(self) -> str:
        """The name of the method, in recipes and certificates."""
        return str(self.method.name)
