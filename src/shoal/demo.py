"""A made-up hospital, to try Shoal on without anybody's data.

Uses `tables`, `hierarchy` and `files`; docs and tests use it. The stays are drawn by a seeded
generator of the standard library, so that everybody has the same table. That is making data, not
protecting it: the chance that releases are made with lives elsewhere and cannot be seeded. Nobody
in here exists, and the postal codes are invented; age, sex, season, ward, diagnosis and length of
stay depend on each other as in real wards.
"""

import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from shoal.arguments import typed
from shoal.data import hierarchy
from shoal.data.disk import replacing
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.data.tables import table as as_table
from shoal.errors import FileError, ParameterError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["arx_project", "hierarchies", "hospital", "table", "write"]

QUASI = ("age", "sex", "postcode", "admitted", "ward", "insurance")
"""What a neighbour, a colleague or an employer may know about a stay."""

FIRST = dt.date(2024, 1, 1)
LAST = dt.date(2025, 12, 31)
OLDEST = 105
LONGEST = 365

ENOUGH = 20_000
"""Rows of a hospital large enough for a release that keeps detail, and nearly all of the rows."""


class _Illness(NamedTuple):
    """An illness: how often it is treated, where, at which age, how long, and how it ends.

    women, men: how many of 10,000 stays are theirs
    winter: how many times as often in winter as in summer
    """

    name: str
    chapter: str
    ward: str
    women: int
    men: int
    age: int
    spread: int
    stay: float
    deaths: float
    winter: float = 1.0


_ILLNESSES = (
    _Illness("childbirth", "pregnancy and birth", "obstetrics", 900, 0, 31, 5, 3, 0),
    _Illness("pre-eclampsia", "pregnancy and birth", "obstetrics", 60, 0, 32, 6, 6, 0.001),
    _Illness("newborn jaundice", "pregnancy and birth", "paediatrics", 70, 80, 0, 0, 3, 0),
    _Illness("acute bronchitis", "lungs", "paediatrics", 110, 140, 3, 3, 4, 0, 3.0),
    _Illness("appendicitis", "digestion", "general surgery", 130, 150, 24, 14, 4, 0.001),
    _Illness("gallstones", "digestion", "general surgery", 260, 140, 56, 16, 4, 0.004),
    _Illness("inguinal hernia", "digestion", "general surgery", 25, 240, 59, 16, 2, 0.001),
    _Illness("hip fracture", "injuries", "orthopaedics", 330, 130, 81, 9, 12, 0.05, 1.3),
    _Illness("worn knee", "joints", "orthopaedics", 280, 190, 69, 9, 8, 0.002),
    _Illness("broken forearm", "injuries", "orthopaedics", 120, 110, 38, 26, 2, 0, 1.2),
    _Illness("concussion", "injuries", "general surgery", 120, 160, 34, 24, 2, 0.002),
    _Illness("heart attack", "heart and vessels", "cardiology", 170, 340, 70, 12, 7, 0.07, 1.2),
    _Illness("heart failure", "heart and vessels", "cardiology", 350, 330, 79, 10, 9, 0.08, 1.2),
    _Illness("atrial fibrillation", "heart and vessels", "cardiology", 210, 240, 72, 11, 4, 0.01),
    _Illness("high blood pressure", "heart and vessels", "cardiology", 170, 90, 68, 14, 4, 0.003),
    _Illness("stroke", "nervous system", "neurology", 210, 240, 74, 12, 10, 0.07),
    _Illness("epilepsy", "nervous system", "neurology", 90, 110, 44, 24, 5, 0.01),
    _Illness("multiple sclerosis", "nervous system", "neurology", 60, 25, 40, 11, 5, 0.001),
    _Illness("pneumonia", "lungs", "internal medicine", 200, 270, 72, 17, 8, 0.1, 2.0),
    _Illness("influenza", "lungs", "internal medicine", 80, 80, 55, 26, 5, 0.03, 9.0),
    _Illness("chronic bronchitis", "lungs", "internal medicine", 130, 170, 70, 10, 8, 0.04, 1.6),
    _Illness("diabetes", "metabolism", "internal medicine", 130, 180, 60, 18, 8, 0.01),
    _Illness("HIV infection", "infections", "internal medicine", 8, 26, 43, 10, 7, 0.01),
    _Illness("alcohol dependence", "mental health", "psychiatry", 90, 260, 47, 11, 9, 0.002),
    _Illness("depression", "mental health", "psychiatry", 220, 130, 46, 16, 30, 0.001),
    _Illness("schizophrenia", "mental health", "psychiatry", 70, 100, 38, 13, 28, 0.001),
    _Illness("breast cancer", "cancer", "oncology", 200, 2, 62, 12, 5, 0.03),
    _Illness("prostate cancer", "cancer", "oncology", 0, 150, 70, 8, 5, 0.03),
    _Illness("colon cancer", "cancer", "oncology", 120, 160, 71, 11, 9, 0.05),
    _Illness("leukaemia", "cancer", "oncology", 40, 50, 58, 22, 12, 0.08),
    _Illness("tick-borne encephalitis", "infections", "neurology", 6, 9, 48, 16, 11, 0.01, 0.1),
)
_RARE = _Illness("Creutzfeldt-Jakob disease", "nervous system", "neurology", 1, 0, 66, 4, 19, 0.5)
"""Exactly one patient has it: whoever knows of her illness finds her row, whatever is hidden."""

_WARDS = {
    "surgical": ["general surgery", "orthopaedics"],
    "medical": ["internal medicine", "cardiology", "oncology"],
    "mind and nerves": ["neurology", "psychiatry"],
    "family": ["obstetrics", "paediatrics"],
}
_SEXES = ("female", "male", "diverse")
_INSURANCES = ("statutory", "private", "self-paid")
_OUTCOMES = {"home": ["home"], "elsewhere": ["rehabilitation", "transferred"], "died": ["died"]}

# A town, its suburbs and the villages around it: codes, and how many of a thousand patients come
# from each. Three codes of villages are so small that a patient from there is soon alone.
_PLACES = (
    ("071", ("01", "03", "05", "07", "09", "11", "13", "15", "17", "19"), 56),
    ("072", ("05", "12", "18", "24", "31", "37", "42", "49"), 34),
    ("075", ("20", "34", "51", "68", "82"), 22),
    ("079", ("06", "27", "55"), 8),
    ("079", ("73", "88", "94"), 2),
)
_POSTCODES = {prefix + end: weight for prefix, ends, weight in _PLACES for end in ends}

_PATIENTS = range(100_000, 1_000_000)
_WINTER = (12, 1, 2, 3)
_NURSED = ("hip fracture", "stroke", "worn knee")
# What can wait is not done on Sundays.
_PLANNED = ("worn knee", "inguinal hernia", "gallstones", "prostate cancer")


@typed
def hospital(rows: int = 4000) -> "pl.DataFrame":
    """The stays of a made-up hospital in two years, one row each, the same at every call.

    >>> hospital(rows=2).columns[:6]
    ['patient', 'age', 'sex', 'postcode', 'admitted', 'ward']
    """
    import polars as pl

    if rows < 0:
        raise ParameterError(
            "is out of range", "it takes a whole number from 0", option="rows", given=str(rows)
        )
    draw = Random(7)
    numbers: Sequence[int] = range(rows)
    # As long as numbers of six digits suffice, they do not reveal the order of rows.
    if rows <= len(_PATIENTS):
        numbers = draw.sample(_PATIENTS, rows)
    totals = [illness.women + illness.men for illness in _ILLNESSES]
    rare = rows // 3
    records = []
    for place, number in enumerate(numbers):
        illness = _RARE if place == rare else draw.choices(_ILLNESSES, totals)[0]
        records.append((f"P{number:06d}", *_stay(illness, draw)))
    schema = {
        "patient": pl.String,
        "age": pl.Int64,
        "sex": pl.String,
        "postcode": pl.String,
        "admitted": pl.Date,
        "ward": pl.String,
        "diagnosis": pl.String,
        "stay": pl.Int64,
        "insurance": pl.String,
        "outcome": pl.String,
    }
    return pl.DataFrame(records, schema=schema, orient="row")


def _stay(illness: _Illness, draw: Random) -> tuple[object, ...]:
    """Everything but the patient's number. The order of draws decides the table, and stays."""
    either = 0.5 if illness.women and illness.men else 0
    sex = draw.choices(_SEXES, [illness.women, illness.men, either])[0]
    age = _age(illness, draw)
    postcode = None
    if draw.random() > 0.008:
        postcode = draw.choices(list(_POSTCODES), [*_POSTCODES.values()])[0]
    days = _days(illness, age, draw)
    insurance = _insurance(age, postcode, draw)
    outcome = _outcome(illness, age, draw)
    admitted = _admitted(illness, draw)
    return (
        age,
        sex,
        postcode,
        admitted,
        illness.ward,
        illness.name,
        days,
        insurance,
        outcome,
    )


def _age(illness: _Illness, draw: Random) -> int:
    youngest, oldest = 18, OLDEST
    if illness.ward == "paediatrics":
        youngest, oldest = 0, 17
    elif illness.ward == "obstetrics":
        youngest = 16
    elif illness.spread >= 20:
        youngest = 5
    age = round(draw.gauss(illness.age, illness.spread))
    return min(max(age, youngest), oldest)


def _days(illness: _Illness, age: int, draw: Random) -> int:
    """How long a stay is: partly as usual for the illness, and longer for the old."""
    drawn = draw.expovariate(1 / illness.stay)
    longer = max(age - 75, 0) * 0.08
    days = round(drawn * 0.6 + illness.stay * 0.4 + longer)
    return min(max(days, 1), LONGEST)


def _insurance(age: int, postcode: str | None, draw: Random) -> str:
    """The suburbs and the old are insured privately more often; some without an address pay."""
    suburb = postcode is not None and postcode.startswith("072")
    private = 0.05 + 0.09 * suburb + 0.05 * (age > 60)
    paid = 0.03 if postcode is None else 0.004
    return draw.choices(_INSURANCES, [1 - private, private, paid])[0]


def _outcome(illness: _Illness, age: int, draw: Random) -> str:
    died = draw.random() < illness.deaths * (0.4 + age / 60)
    old = 0.3 if age > 80 else 0.04
    nursed = draw.random() < old + 0.3 * (illness.name in _NURSED)
    if died:
        return "died"
    if nursed:
        return "rehabilitation"
    if draw.random() < 0.03:
        return "transferred"
    return "home"


def _admitted(illness: _Illness, draw: Random) -> dt.date:
    months = range(1, 13)
    weights = [illness.winter if month in _WINTER else 1.0 for month in months]
    year = draw.choice((2024, 2025))
    month = draw.choices(months, weights)[0]
    day = dt.date(year, month, draw.randint(1, 28))
    sunday = day.weekday() == 6
    if sunday and day < LAST and illness.name in _PLANNED:
        return day + dt.timedelta(days=1)
    return day


@typed
def hierarchies() -> dict[str, Hierarchy]:
    """Public hierarchies for all columns but the patient's number; none depends on the rows."""
    chapters: dict[str, list[str]] = {}
    for illness in (*_ILLNESSES, _RARE):
        chapters.setdefault(illness.chapter, []).append(illness.name)
    return {
        "age": hierarchy.intervals(0, OLDEST, widths=[5, 10, 20, 40], top=90),
        "sex": hierarchy.suppress(_SEXES),
        "postcode": hierarchy.mask(_POSTCODES, steps=[1, 2]),
        "admitted": hierarchy.dates(FIRST, LAST, ["month", "quarter", "year"]),
        "ward": hierarchy.groups(_WARDS),
        "insurance": hierarchy.suppress(_INSURANCES),
        "diagnosis": hierarchy.groups(chapters),
        "stay": hierarchy.intervals(1, LONGEST, cuts=[[4, 8, 15, 29], [8]]),
        "outcome": hierarchy.groups(_OUTCOMES),
    }


@typed
def table(rows: int = 4000) -> Table:
    """The hospital as a `Table` with roles and hierarchies.

    >>> table().sensitive
    ('diagnosis',)
    """
    return as_table(
        hospital(rows),
        identifying=["patient"],
        quasi=QUASI,
        sensitive=["diagnosis"],
        insensitive=["stay", "outcome"],
        hierarchies=hierarchies(),
    )


@typed
def write(directory: str | os.PathLike[str], rows: int = 4000) -> Path:
    """Write hospital.csv, hierarchies/*.csv and the recipe hospital.toml into a directory.

    Gives the recipe's path.
    """
    from shoal.data import files

    folder = Path(directory)
    try:
        (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot make {folder}: {error.strerror}", "give a directory you may write to"
        ) from None
    files.write(hospital(rows), folder / "hospital.csv")
    for name, tree in hierarchies().items():
        hierarchy.write(tree, folder / "hierarchies" / f"{name}.csv")
    with replacing(folder / "hospital.toml") as file:
        file.write(_RECIPE.encode())
    return folder / "hospital.toml"


@typed
def arx_project(path: str | os.PathLike[str], rows: int = 4000) -> Path:
    """Write the hospital as an ARX project, as far as `shoal.arx` reads one, to try it with.

    It lacks ARX's own serialised parts, so that ARX does not open it. Gives its path.
    """
    from zipfile import ZIP_DEFLATED, ZipFile

    people, trees = hospital(rows), hierarchies()
    roles = dict.fromkeys(people.columns, "INSENSITIVE")
    roles |= {"patient": "IDENTIFYING", "diagnosis": "SENSITIVE"}
    roles |= dict.fromkeys(QUASI, "QUASI_IDENTIFYING")
    types = {"age": "Integer", "stay": "Integer", "admitted": "Date/Time"}
    parts = {"data/input.csv": people.write_csv(separator=";", null_value="NULL")}
    defined = []
    for name, role in roles.items():
        kind = types.get(name, "String")
        shown = "<format>yyyy-MM-dd</format>" if kind == "Date/Time" else ""
        tree = ""
        if name in QUASI:
            lines = trees[name].lines()
            if people[name].null_count():
                lines = [*lines, ["NULL"] * (len(lines[0]) - 1) + ["*"]]
            parts[f"input/hierarchies/{name}.csv"] = "".join(f"{';'.join(x)}\n" for x in lines)
            tree = f"<ref>hierarchies/{name}.csv</ref><min>All</min><max>All</max>"
        defined.append(
            f"<assigment><name>{name}</name><type>{role}_ATTRIBUTE</type>"
            f"<datatype>{kind}</datatype>{shown}{tree}</assigment>"
        )
    parts |= {
        "metadata.xml": "<metadata><version>3.9.1</version></metadata>",
        "project.xml": "<project><name>hospital</name><separator>;</separator></project>",
        "input/definition.xml": f"<definition>{''.join(defined)}</definition>",
        "input/config.xml": _ARX_CONFIG,
    }
    with replacing(path) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return Path(path)


_ARX_CONFIG = """\
<config>
  <practicalMonotonicity>false</practicalMonotonicity>
  <relativeMaxOutliers>0.05</relativeMaxOutliers>
  <metric>Loss (0.5/1.0/1.0)</metric>
  <criteria>
    <criterion>5-anonymity</criterion>
    <criterion>distinct-2-diversity for attribute 'diagnosis'</criterion>
    <criterion>(0.05)-sample-uniqueness</criterion>
  </criteria>
</config>
"""

_RECIPE = """\
# A made-up hospital, released with differential privacy: whether a stay is in the table or not
# makes hardly any difference to what is released, and that also holds against someone who knows
# this recipe and the program.
# Try: shoal release hospital.toml --out released

missing = "category"  # a postal code that is not known is a value of its own

[source]
path = "hospital.csv"
types = { age = "integer", admitted = "date", stay = "integer" }

[roles]
patient = "identifying"
age = "quasi"
sex = "quasi"
postcode = "quasi"
admitted = "quasi"
ward = "quasi"
insurance = "quasi"
diagnosis = "sensitive"
stay = "insensitive"
outcome = "insensitive"

# Public: from what anybody knows about ages, wards and the calendar, not from the rows.
[hierarchies]
age = { file = "hierarchies/age.csv" }
sex = { file = "hierarchies/sex.csv" }
postcode = { file = "hierarchies/postcode.csv" }
admitted = { file = "hierarchies/admitted.csv" }
ward = { file = "hierarchies/ward.csv" }
insurance = { file = "hierarchies/insurance.csv" }
diagnosis = { file = "hierarchies/diagnosis.csv" }
stay = { file = "hierarchies/stay.csv" }
outcome = { file = "hierarchies/outcome.csv" }

[method]
name = "auto"  # what keeps most: all stays, with noisy counts
epsilon = 1
delta = 1e-6
# What those who use the release asked for; 1 for the other columns.
importance = { age = 3, diagnosis = 3, stay = 2 }

[output]
format = "csv"
"""
