"""What ARX saved: projects (.deid) and hierarchies (.ahs), read and never run.

`read` gives a project as values: data, roles, types, hierarchies, levels, models, quality model and
research subset; `shoal.recipe.from_arx` makes a recipe of it. `hierarchy` reads a saved hierarchy.
Java objects are only parsed: no class of theirs is loaded, and a file that is not what it should be
is an error. Recipes use it.
"""

from shoal.arx.builders import hierarchy
from shoal.arx.project import ArxProject, Attribute, Criterion, Quality, read

__all__ = ["ArxProject", "Attribute", "Criterion", "Quality", "hierarchy", "read"]
