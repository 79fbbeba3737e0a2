"""Files for tests of views: the chapter's example, and eight people with recipe and register."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from typer.testing import CliRunner, Result

import shoal
from shoal.cli.app import app
from shoal.data.hierarchy import Hierarchy, suppress
from shoal.data.tables import Table
from shoal.privacy.models import KAnonymity

DONALD = """
[register]
person = "name"
people = [
  { name = "Alan", age = 23 }, { name = "Bob", age = 24 }, { name = "Clark", age = 25 },
  { name = "Donald", age = 26 }, { name = "Ellen", age = 27 }, { name = "Fen", age = 28 },
  { name = "Garcia", age = 28 },
]
[sensitive]
column = "ill"
[[views]]
name = "A"
where = "age <= 26"
values = ["H", "S", "V", "S"]
[[views]]
name = "B"
where = "age >= 26"
values = ["S", "V", "S", "F"]
"""
"""The chapter's two views, of which Donald is in both; γ is one half if nothing is said."""

RECIPE = """
[source]
path = "people.csv"
types = { age = "integer" }

[roles]
name = "identifying"
sex = "quasi"
age = "quasi"
ill = "sensitive"

[hierarchies]
sex.file = "sex.csv"
age.file = "age.csv"

[method]
name = "optimal"
models = ["1-anonymity"]
floor = { sex = 0, age = 2 }
ceiling = { sex = 0, age = 2 }

[ledger]
path = "own.ledger"
"""
"""A release by sex; the ledger is beside it."""

REGISTER = """
gamma = "1/2"
[register]
file = "register.csv"
person = "name"
types = { age = "integer" }
hierarchies = { age = "age.csv", sex = "sex.csv" }
"""

AGES = Hierarchy.from_lines(
    [[str(age), "young" if age < 26 else "old", "*"] for age in range(20, 30)], "integer"
)
SECRETS = ("heart", "SARS", "virus", "gout")


def people(
    ill: Sequence[str] = ("heart", "SARS", "virus", "SARS", "flu", "virus", "SARS", "gout"),
) -> Table:
    """Eight people; each half of them is safe alone, and both ways to halve them are not."""
    frame = pl.DataFrame(
        {
            "name": [*"ABCDEFGH"],
            "sex": [*"MMMMFFFF"],
            "age": [23, 24, 25, 26, 26, 27, 28, 28],
            "ill": list(ill),
        }
    )
    return shoal.table(
        frame,
        quasi=["sex", "age"],
        sensitive=["ill"],
        identifying=["name"],
        hierarchies={"sex": suppress(["F", "M"]), "age": AGES},
    )


def at(**levels: int) -> Any:
    """A release at these levels, whatever they show."""
    return shoal.Optimal((KAnonymity(1),), floor=levels, ceiling=levels)


BY_SEX, BY_AGE, NOBODY = at(sex=0, age=2), at(sex=1, age=1), at(sex=1, age=2)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def numbered(name: str = "receipt") -> Table:
    """People with a column that nobody is known by, and that tells rows apart."""
    held = people().frame.to_native().with_columns(pl.Series(name, [f"r{at}" for at in range(8)]))
    roles: dict[str, Any] = {
        "quasi": ["sex", "age"],
        "sensitive": ["ill"],
        "identifying": ["name"],
        "insensitive": [name],
    }
    return shoal.table(held, **roles, hierarchies=people().hierarchies)


def laid_out(folder: Path) -> Path:
    """The people, their register, hierarchies, and a recipe by sex and one by age, in a folder."""
    people().frame.to_native().write_csv(folder / "people.csv")
    people().frame.select("name", "sex", "age").to_native().write_csv(folder / "register.csv")
    (folder / "sex.csv").write_text("F;*\nM;*\n")
    (folder / "age.csv").write_text("".join(";".join(line) + "\n" for line in AGES.lines()))
    (folder / "one.toml").write_text(RECIPE)
    (folder / "two.toml").write_text(RECIPE.replace("sex = 0, age = 2", "sex = 1, age = 1"))
    return folder


def two_releases(folder: Path) -> None:
    """Two releases in a folder that is laid out, and VIEWS.toml, by which they keep γ together."""
    BY_SEX.release(people()).write(folder / "one")
    NOBODY.release(people()).write(folder / "two")
    views = '[[views]]\nname = "s"\nrelease = "one"\n[[views]]\nname = "n"\nrelease = "two"\n'
    (folder / "VIEWS.toml").write_text(REGISTER + views)
