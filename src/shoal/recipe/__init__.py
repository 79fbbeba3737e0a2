"""Recipes: one TOML file that says what to read, who is who, what to do and what to write.

The doors use it.
"""

from shoal.recipe.drafting import draft
from shoal.recipe.running import CheckedRecipe, Recipe
from shoal.recipe.schema import BUILDERS, METHODS, MODELS, options_of

__all__ = ["BUILDERS", "METHODS", "MODELS", "CheckedRecipe", "Recipe", "draft", "options_of"]
