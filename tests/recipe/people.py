"""A small table with its recipe, which many tests read, and the recipe's method for SafePub."""

from collections.abc import Callable
from pathlib import Path

RECIPE = """
missing = "category"

[source]
path = "people.csv"
separator = ";"
encoding = "utf-8"
types = { age = "integer" }

[roles]
name = "identifying"
age = "quasi"
sex = "quasi"
diagnosis = "sensitive"
visits = "insensitive"

[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10, 50]

[hierarchies.sex]
build = "suppress"
values = ["f", "m"]

[method]
name = "optimal"
suppression = 0.5

[[method.models]]
model = "k-anonymity"
k = 2

[output]
format = "csv"
"""


PEOPLE = "name;age;sex;diagnosis;visits\n" + "".join(
    f"{name};{age};{sex};{diagnosis};{visits}\n"
    for name, age, sex, diagnosis, visits in [
        ("Ann", 31, "f", "flu", 1),
        ("Bea", 34, "f", "cold", 2),
        ("Cid", 35, "m", "flu", 3),
        ("Dov", 39, "m", "flu", 1),
        ("Eve", 52, "f", "cold", 2),
        ("Fay", 58, "f", "flu", 5),
    ]
)


SAFEPUB = """
[method]
name = "safepub"
epsilon = "ln(2)"
delta = 1e-6
"""


Write = Callable[..., Path]
