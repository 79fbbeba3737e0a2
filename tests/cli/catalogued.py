"""A recipe for every method of the catalogue, and what its folder needs."""

from pathlib import Path

import shoal
from tests.methods.examples import AGES, PLACES, people

RECIPE = """
[source]
path = "people.csv"
[source.types]
age = "integer"
[roles]
name = "identifying"
age = "quasi"
town = "quasi"
ill = "sensitive"
[hierarchies.age]
file = "age.csv"
[hierarchies.town]
file = "town.csv"
[method]
"""

SECTIONS = {
    "safepub": 'epsilon = "1/2"\ndelta = "2/5"\nceiling = { age = 1 }',
    "noisy-counts": 'epsilon = "ln(2)"\ndelta = 0.26\nlevels = { age = 1 }',
    "noisy-counts, counted": (
        'epsilon = "ln(2)"\ndelta = 0.26\nlevels = { age = 1 }\ncounts = true'
    ),
    "columns": 'epsilon = 2\ndelta = "9/10"\nk = 1\nmost = 2\nschema = [["age", "town"], ["ill"]]',
    "buckets": 'column = "ill"\nlimits = { others = "1/2" }\nsolver = "two"',
    "personal": 'utility = "1/2"',
    "coincident": 'models = ["2-diversity of ill"]\nsize = 4',
    "disclosure": 'models = ["3-anonymity", "2-diversity of ill"]',
    "kdgs": "k = 1\nlevels = { age = 1 }",
    "optimal": 'models = ["3-anonymity", "2-diversity of ill"]',
    "mondrian": 'models = ["3-anonymity", "2-diversity of ill"]',
    "sampling": 'probability = "1/2"',
}
"""The options of every method, and of variants of some after a comma."""


def write_recipe(folder: Path, name: str, rows: int = 60) -> Path:
    """A recipe in a folder, with its source and hierarchies."""
    frame = people(rows).frame.to_native().drop("tag")
    frame.write_csv(folder / "people.csv")
    for column, tree in {"age": AGES, "town": PLACES}.items():
        shoal.hierarchy.write(tree, folder / f"{column}.csv")
    recipe = folder / "recipe.toml"
    method = name.partition(",")[0]
    recipe.write_text(f'{RECIPE}name = "{method}"\n{SECTIONS[name]}\n', encoding="utf-8")
    return recipe
