"""The screens: a module each, with its routes and its step. Uses `pages`; `app` uses it.

They load together, when the first of them is asked for: the list of projects comes before.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import APIRouter

    from shoal.workbench.steps import Step

__all__ = ["new_projects", "routers", "steps"]

_STEPS = (
    "data",
    "roles",
    "hierarchies",
    "risk",
    "promise",
    "run",
    "explore",
    "release",
    "ask",
    "together",
    "attack",
)
"""The screens of a project, in the order of the steps."""

_PARTS = ("jobs", "looking", "approval", "hierarchy_coverage", "hierarchy_tree")
"""What belongs to several screens, or to a part of one."""


def steps() -> "tuple[Step, ...]":
    """The steps of a project."""
    return tuple(_screen(name).STEP for name in _STEPS)


def new_projects() -> "APIRouter":
    """The routes by which a project begins."""
    router: APIRouter = _screen("new").router
    return router


def routers() -> "tuple[APIRouter, ...]":
    """The routes of all screens but the first page and new projects."""
    return tuple(_screen(name).router for name in (*_PARTS, *_STEPS))


def _screen(name: str) -> Any:
    return import_module(f"shoal.workbench.screens.{name}")
