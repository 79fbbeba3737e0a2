"""Tables that experiments make by code, so that they run from a plain clone.

`census` is shaped like the tables of the papers: nine columns about adults, with hierarchies, that
depend on each other. Nobody in it exists. It is drawn by a seeded generator: this is making data,
not protecting it.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.data import hierarchy
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.data.tables import table as as_table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "census", "census_frame"]

COLUMNS = (
    "sex",
    "age",
    "origin",
    "marital-status",
    "education",
    "region",
    "workclass",
    "occupation",
    "salary-class",
)
"""The columns of `census`."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_SEXES = ["female", "male"]
_ORIGINS = {
    "native": ["born here", "parents born abroad"],
    "abroad": ["neighbouring country", "same continent", "overseas"],
}
_MARITAL = {
    "with a partner": ["married", "civil partnership", "married, living apart"],
    "alone": ["single", "divorced", "widowed", "separated"],
}
_EDUCATION = {
    "school": ["none", "primary", "lower secondary", "secondary, not finished", "secondary"],
    "vocational": ["apprenticeship", "vocational school", "master craftsman"],
    "university": ["some university", "bachelor", "master", "professional", "doctorate"],
}
_REGIONS = {
    f"{quarter} {part}": [f"{quarter} {part} {number}" for number in range(1, 6)]
    for quarter in ("north", "south")
    for part in ("coast", "plain", "hills", "city")
}
_WORK = {
    "public": ["national government", "regional government", "local government"],
    "private": ["company", "small firm"],
    "own": ["self-employed", "own company"],
    "none": ["without pay"],
}
_OCCUPATIONS = {
    "manual": ["farming", "fishing", "construction", "machines", "transport", "cleaning"],
    "service": ["sales", "clerical", "care", "protection", "household"],
    "professional": ["technical", "teaching", "management"],
}
_SALARIES = ["up to 50,000", "above 50,000"]


@lru_cache(maxsize=4)
def census(records: int, seed: int = 1) -> Table:
    """A made-up census of adults, all columns quasi-identifying, with hierarchies for all."""
    frame = census_frame(records, seed)
    return as_table(frame, quasi=list(COLUMNS), hierarchies=_hierarchies())


def census_frame(records: int, seed: int = 1) -> "pl.DataFrame":
    """The rows of `census`."""
    import polars as pl

    draw = np.random.default_rng(seed)
    sex = draw.integers(0, 2, records)
    age = np.clip(17 + draw.gamma(3.2, 7.0, records), 17, 90).astype(np.int64)
    schooling = _education(draw, age)
    marital = _marital(draw, age)
    occupation = _near(draw, schooling / 12, _sizes(_OCCUPATIONS), 0.22)
    work = _weighted(draw, records, np.array([3, 5, 8, 52, 20, 8, 3, 1]))
    region = _weighted(draw, records, 1 / np.arange(1, 41) ** 0.7)
    origin = _weighted(draw, records, np.array([0.74, 0.1, 0.07, 0.05, 0.04]))
    codes = {
        "sex": (_SEXES, sex),
        "origin": (_leaves(_ORIGINS), origin),
        "marital-status": (_leaves(_MARITAL), marital),
        "education": (_leaves(_EDUCATION), schooling),
        "region": (_leaves(_REGIONS), region),
        "workclass": (_leaves(_WORK), work),
        "occupation": (_leaves(_OCCUPATIONS), occupation),
        "salary-class": (_SALARIES, _salary(draw, age, schooling, marital, sex)),
    }
    columns = {name: pl.Series(labels).gather(places) for name, (labels, places) in codes.items()}
    return pl.DataFrame({**columns, "age": age}).select(COLUMNS)


def _hierarchies() -> dict[str, Hierarchy]:
    groups = {
        "origin": _ORIGINS,
        "marital-status": _MARITAL,
        "education": _EDUCATION,
        "region": _REGIONS,
        "workclass": _WORK,
        "occupation": _OCCUPATIONS,
    }
    trees = {name: hierarchy.groups(labels) for name, labels in groups.items()}
    trees["sex"] = hierarchy.suppress(_SEXES)
    trees["salary-class"] = hierarchy.suppress(_SALARIES)
    trees["age"] = hierarchy.intervals(0, 100, widths=[5, 10, 20, 40])
    return trees


def _leaves(groups: dict[str, list[str]]) -> list[str]:
    return [leaf for leaves in groups.values() for leaf in leaves]


def _sizes(groups: dict[str, list[str]]) -> int:
    return len(_leaves(groups))


def _weighted(draw: np.random.Generator, records: int, weights: Floats) -> Ints:
    """Places drawn by weights."""
    return draw.choice(len(weights), records, p=weights / weights.sum())


def _near(draw: np.random.Generator, share: Floats, size: int, spread: float) -> Ints:
    """Places near a share of the scale, with some spread: columns that depend on each other."""
    moved = share + draw.normal(0, spread, len(share))
    return np.asarray(np.clip(moved, 0, 0.999) * size, dtype=np.int64)


def _education(draw: np.random.Generator, age: Ints) -> Ints:
    """Thirteen degrees in their order: the young have not finished, the old had less of it."""
    mean = 0.62 - 0.35 * (age < 22) - 0.004 * np.maximum(age - 50, 0)
    return _near(draw, mean, _sizes(_EDUCATION), 0.2)


def _marital(draw: np.random.Generator, age: Ints) -> Ints:
    """Married with age, and after that divorced or widowed."""
    chance_of_partner = np.clip((age - 20) / 18, 0.02, 0.66)
    partner = draw.random(len(age)) < chance_of_partner
    kind_of_pair = _weighted(draw, len(age), np.array([0.93, 0.04, 0.03]))
    once_married = draw.random(len(age)) < np.clip((age - 25) / 40, 0, 0.9)
    widowed = once_married & (draw.random(len(age)) < np.clip((age - 50) / 40, 0, 0.9))
    parted = np.where(draw.random(len(age)) < 0.15, 6, 4)
    alone = np.where(widowed, 5, np.where(once_married, parted, 3))
    return np.where(partner, kind_of_pair, alone)


def _salary(
    draw: np.random.Generator, age: Ints, schooling: Ints, marital: Ints, sex: Ints
) -> Ints:
    """A quarter earns more: with education, experience and a partner."""
    score = 0.45 * (schooling - 8) + 0.05 * (np.minimum(age, 55) - 40)
    score = score + 1.9 * (marital <= 1) + 0.5 * sex - 2.6
    return np.asarray(draw.random(len(age)) < 1 / (1 + np.exp(-score)), dtype=np.int64)
