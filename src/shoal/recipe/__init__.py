"""Recipes: one TOML file that says what to read, who is who, what to do and what to write.

The doors use it. Importing it is light: names load their modules when they are first used, as
whoever only edits a draft needs none of the methods.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.recipe.arx_projects import TakenOver, from_arx
    from shoal.recipe.drafting import draft, outline
    from shoal.recipe.running import CheckedRecipe, ExaminedRecipe, Recipe
    from shoal.recipe.schema import BUILDERS, METHODS, MODELS, options_of

_MODULES = {
    **dict.fromkeys(("BUILDERS", "METHODS", "MODELS", "options_of"), "schema"),
    **dict.fromkeys(("CheckedRecipe", "ExaminedRecipe", "Recipe"), "running"),
    **dict.fromkeys(("draft", "outline"), "drafting"),
    **dict.fromkeys(("TakenOver", "from_arx"), "arx_projects"),
}

__all__ = [
    "BUILDERS",
    "METHODS",
    "MODELS",
    "CheckedRecipe",
    "ExaminedRecipe",
    "Recipe",
    "TakenOver",
    "draft",
    "from_arx",
    "options_of",
    "outline",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"shoal.recipe.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
