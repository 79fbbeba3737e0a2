"""The steps from a file to a release, in their order, and what is left to do at each.

Each screen has one. Uses `projects`; `pages` shows them beside every screen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shoal.look.zoned import Zone

if TYPE_CHECKING:
    from shoal.workbench.projects import Project

__all__ = ["Standing", "Step"]

State = Literal["done", "todo", "needs", "look"]


@dataclass(frozen=True)
class Standing:
    """How far a step is: "needs" a decision, "todo" later, "done", or only to "look" at.

    note: what is missing, in a few words
    """

    state: State
    note: str = ""


@dataclass(frozen=True)
class Step:
    """A screen of a project.

    key: its part of the address
    standing: how far it is, by the project's files alone; it must be quick
    """

    key: str
    title: str
    zone: Zone
    standing: Callable[["Project"], Standing]
    roles: tuple[str, ...] = ("owner", "reviewer")
