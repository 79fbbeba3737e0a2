"""The hierarchies of a recipe that is being written: which are needed, what one is, how to begin.

Uses `editing`, `loading` and `running`; the workbench uses it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from typing import Any, Literal

from shoal.data.hierarchy import READY, Hierarchy
from shoal.data.hierarchy.lines import derived_note
from shoal.data.hierarchy.ready_made import ReadyMade
from shoal.data.kinds import Kind
from shoal.data.schema import Role
from shoal.data.sources import LOOKED_AT
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.measure.signs import NAME_SIGNS, READY_SIGNS
from shoal.methods.auto import AUTO, name_of
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from shoal.recipe.editing import Draft
from shoal.recipe.loading import examined, mistakes
from shoal.recipe.running import Recipe
from shoal.recipe.schema import PLACEHOLDER

__all__ = [
    "Need",
    "Start",
    "chosen_entry",
    "hierarchy_in",
    "is_from_rows",
    "needs",
    "section_from_rows",
    "starting",
    "texts_of",
]

Need = Literal["needed", "useful", "unused"]
"""Whether the method needs a hierarchy of a column, would generalise along one, or would not."""

FEW = 2
"""Values of a column that is best released as it is or not at all."""

MANY = 100
"""Different texts from which a list of codes is easier to keep in a file."""


def needs(draft: Draft) -> dict[str, Need]:
    """Every column that may be released, and whether its hierarchy matters to the method.

    As long as there is no method, quasi-identifying columns need one.
    """
    entry = chosen_entry(draft)
    found: dict[str, Need] = {}
    for name, role in draft.section("roles").items():
        if role in (Role.IDENTIFYING, PLACEHOLDER):
            continue
        generalised = role == Role.QUASI or (entry is not None and entry.generalises == "released")
        needed = role == Role.QUASI and (entry is None or entry.needs_hierarchies)
        if needed:
            found[name] = "needed"
        elif generalised or entry is None:
            found[name] = "useful"
        else:
            found[name] = "unused"
    return found


def chosen_entry(draft: Draft) -> Entry | None:
    """What is known about the method of a draft; None if it has none yet."""
    method = draft.get("method")
    options: Mapping[str, Any] = method if isinstance(method, Mapping) else draft.content
    name = options.get("name") if isinstance(method, Mapping) else method
    if name == AUTO:
        return entry_of(name_of(bool(options.get("truthful"))))
    return entry_of(name) if isinstance(name, str) and name in CATALOGUE else None


def hierarchy_in(draft: Draft, name: str, section: Mapping[str, Any] | None = None) -> Hierarchy:
    """The hierarchy of a column as a draft says, or by another section in its place.

    The rest of the draft may have mistakes. RecipeError if the section itself has one.
    """
    if section is None:
        section = draft.section("hierarchies", name)
    types = draft.section("source", "types")
    source: dict[str, Any] = {"path": draft.get("source", "path") or "none"}
    if name in types and types[name] != PLACEHOLDER:
        source["types"] = {name: types[name]}
    alone = {
        "source": source,
        "roles": {name: Role.QUASI.value},
        "hierarchies": {name: dict(section)},
        # A method that asks nothing of the rest.
        "method": {"name": "sampling", "probability": 1},
    }
    written = examined(draft.path, alone)
    if written.content is None or written.wrong:
        raise mistakes(draft.path, written.wrong)
    return Recipe(draft.path, written.content, "").build(name)


def is_from_rows(draft: Draft, name: str) -> bool:
    """Whether a note beside the file of a column's hierarchy says that it was made from rows."""
    file = draft.get("hierarchies", name, "file")
    return isinstance(file, str) and derived_note(draft.path.parent / file).exists()


@dataclass(frozen=True)
class Start:
    """How the hierarchy of a column may begin, with "?" where only a person can say.

    reason: why, without a value of the table
    """

    section: Mapping[str, Any]
    reason: str

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left that only a person can say."""
        return PLACEHOLDER not in self.section.values()


AGE = "The name is that of an age: years in steps of 5, 10 and 20, and 90 or more as one value."
DATE = "The column has dates: days in months and years."
BIRTH = "The name is that of a date of birth: days in months, years and decades."
YEAR = "The name is that of a year: intervals of 5, 10 and 20 years."
POSTCODE = "The name is that of a postcode: the last characters are masked, one after the other."
NUMBERS = "The column has numbers: intervals, each level wider than the one before."
SUPPRESS = "The column has hardly any values: each is shown as it is, or not at all."
YES_NO = "Its values are a yes and a no: each is shown as it is, or not at all."
GROUPS = "The column has texts: values in groups that you name."
FILE = "The column has many different texts: a list of codes is easier to keep in a file."

READY_NAME = (
    "The name is that of something for which a list is ready-made: see how values are written."
)
READY_VALUES = "The values are written as those of a list that is ready-made."

REASONS = (
    AGE,
    DATE,
    BIRTH,
    YEAR,
    POSTCODE,
    NUMBERS,
    SUPPRESS,
    YES_NO,
    GROUPS,
    FILE,
    READY_NAME,
    READY_VALUES,
)
"""Every reason that `starting` gives."""

FIRST_DAY, LAST_DAY = "1900-01-01", "2099-12-31"
"""Days between which those of most tables lie, so that they reveal nothing about any."""


_KINDS = {
    "an age": Kind.INTEGER,
    "a date of birth": Kind.DATE,
    "a date about a person": Kind.DATE,
}
"""The types that columns most likely have, by what their name says."""


def starting(
    name: str,
    kind: Kind | None,
    values: int | None = None,
    texts: Collection[str] | None = None,
) -> Start:
    """A builder to begin with, by the name and type of a column.

    kind: None if the type is not known; then only the name counts
    values: how many different values the column has, if that may be used
    texts: the values themselves, if it may be used how they are written; nothing else of the rows
        is

    >>> starting("age", Kind.INTEGER).section["widths"]
    [5, 10, 20]
    >>> starting("ZIP code", Kind.TEXT).section["name"]
    'postcodes-us'
    """
    certain = (sign for sign in NAME_SIGNS if not sign.weak)
    what = next((sign.what for sign in certain if sign.matches(name)), "")
    if kind is None:
        kind = _KINDS.get(what, Kind.TEXT)
    if kind is Kind.DATE:
        return _dates(born=what == "a date of birth")
    if kind in (Kind.TEXT, Kind.INTEGER):
        ready = _ready(name, kind, texts)
        if ready is not None:
            return ready
        if texts is not None and (pair := _yes_no(texts)):
            return Start({"build": "suppress", "values": list(pair)}, YES_NO)
    if what == "a postcode":
        return _postcodes(texts)
    if kind is Kind.INTEGER and (what == "a date of birth" or _names_years(name)):
        return Start({"build": "ready", "name": "years"}, YEAR)
    if kind is not Kind.TEXT:
        return _numbers(kind, of_age=what == "an age")
    if (values is not None and values <= FEW) or what == "a sex":
        return Start({"build": "suppress", "values": PLACEHOLDER}, SUPPRESS)
    if values is not None and values > MANY:
        return Start({"build": "file", "file": PLACEHOLDER}, FILE)
    return Start({"build": "group", "tree": PLACEHOLDER}, GROUPS)


_ALIKE = 0.8
"""The share of values that must be in a list; the others may be mistyped."""

_BY_VALUES = (
    ("sex", "words"),
    ("sex", "capitals"),
    ("sex", "german"),
    ("countries", "alpha-3"),
    ("countries", "name"),
    ("us-states", "name"),
    ("german-states", "name"),
    ("marital-status", "words"),
    ("marital-status", "german"),
    ("isced-2011", "eurostat"),
    ("icd-10", "dotted"),
    ("nace-2", "class"),
)
"""Forms of ready-made hierarchies whose values are hardly those of anything else."""


def _ready(name: str, kind: Kind, texts: Collection[str] | None) -> Start | None:
    """A ready-made hierarchy for a column; None if there is none that fits."""
    sign = next((sign for sign in READY_SIGNS if sign.matches(name)), None)
    if sign is not None:
        made = READY[sign.hierarchy]
        shares = {form: _share(made, form, kind, texts) for form in made.forms}
        form = max(shares, key=shares.__getitem__)
        if shares[form] >= _ALIKE:
            return Start(_ready_section(made, form), READY_NAME)
    if kind is Kind.TEXT and texts is not None and len(texts) >= FEW:
        for hierarchy, form in _BY_VALUES:
            if _share(READY[hierarchy], form, kind, texts) == 1:
                return Start(_ready_section(READY[hierarchy], form), READY_VALUES)
    return None


def _ready_section(made: ReadyMade, form: str) -> dict[str, str]:
    section = {"build": "ready", "name": made.name}
    if form != made.form:
        section["form"] = form
    return section


def _share(made: ReadyMade, form: str, kind: Kind, texts: Collection[str] | None) -> float:
    """The share of values that are written as a form has them; all, if none may be looked at."""
    written = made.forms[form]
    path = written.path
    if path is None or not written.is_listed:
        return 0
    if not texts:
        return 1
    if kind is Kind.INTEGER:
        # Zeros at the front are lost, and found again.
        texts = [text.zfill(len(written.example)) for text in texts]
    has = written.lists or (lambda text: path(text) is not None)
    return sum(map(has, texts)) / len(texts)


_YES_NO = (
    ("0", "1"),
    ("no", "yes"),
    ("No", "Yes"),
    ("N", "Y"),
    ("n", "y"),
    ("false", "true"),
    ("False", "True"),
    ("FALSE", "TRUE"),
    ("nein", "ja"),
    ("Nein", "Ja"),
    ("N", "J"),
    ("n", "j"),
)
"""How a no and a yes are written."""


def _yes_no(texts: Collection[str]) -> tuple[str, str] | None:
    """The writing of yes and no that all values have; None if there is none."""
    return next((pair for pair in _YES_NO if texts and set(texts) <= set(pair)), None)


_LONGEST_POSTCODE = 5
"""Digits up to which all postcodes of a length are listed."""


def _postcodes(texts: Collection[str] | None) -> Start:
    """Masked postcodes, of the length that all have if they are digits."""
    lengths = {len(text) if text.isdecimal() and text.isascii() else 0 for text in texts or ()}
    length = lengths.pop() if len(lengths) == 1 else 0
    if not 1 < length <= _LONGEST_POSTCODE:
        return Start({"build": "mask", "length": PLACEHOLDER, "steps": [1, 2, 3]}, POSTCODE)
    steps = list(range(1, length))
    return Start({"build": "mask", "length": length, "steps": steps}, POSTCODE)


def _names_years(name: str) -> bool:
    return any(sign.hierarchy == "years" and sign.matches(name) for sign in READY_SIGNS)


def _dates(born: bool) -> Start:
    levels = ["month", "year", "decade"] if born else ["month", "year"]
    ends = {"first": FIRST_DAY, "last": LAST_DAY}
    return Start({"build": "dates", **ends, "levels": levels}, BIRTH if born else DATE)


def _numbers(kind: Kind, of_age: bool) -> Start:
    section: dict[str, Any] = {"build": "intervals"}
    if kind is Kind.FLOAT:
        section["kind"] = kind.value
    widths = {"widths": [5, 10, 20]}
    if of_age:
        return Start({**section, "low": 0, "top": 90, **widths}, AGE)
    return Start({**section, "low": PLACEHOLDER, "high": PLACEHOLDER, **widths}, NUMBERS)


def texts_of(table: Table, name: str) -> list[str] | None:
    """The values of a column, to see how they are written; None if they are very many."""
    number = table.source.distinct(name)
    if number is None or number > LOOKED_AT:
        return None
    return [label for label in table.labels(name) if label]


# From the rows


def section_from_rows(table: Table, name: str) -> dict[str, Any]:
    """A section made of the values that a column has, for where nobody can say them without it.

    Numbers get intervals with rounded ends, beyond which everything is one value if only a few rows
    lie there. Texts are shown as they are, or not at all. The hierarchy is made from the rows, and
    has to be marked so. ParameterError if the column has no values.

    >>> import polars as pl
    >>> from shoal.data.tables import table
    >>> rents = table(pl.DataFrame({"rent": [180, 420, 511, 530, 1092]}))
    >>> section_from_rows(rents, "rent")
    {'build': 'intervals', 'low': 0, 'high': 1100, 'widths': [50, 100, 500]}
    """
    kind = table.kind(name)
    keys = table.keys(name)
    values = [key for key in keys if key is not None]
    if not values:
        raise ParameterError("the column has no values")
    if kind not in (Kind.INTEGER, Kind.FLOAT):
        return {"build": "suppress", "values": [kind.text(key) for key in values]}
    numbers = [Decimal(kind.text(key)) for key in values]
    usual = _usual(table, name, numbers)
    section: dict[str, Any] = {"build": "intervals"}
    if kind is Kind.FLOAT:
        section["kind"] = kind.value
    low, high, widths = _rounded(usual, whole=kind is Kind.INTEGER)
    section["low" if numbers[0] >= low else "bottom"] = _plain(low)
    section["high" if numbers[-1] <= high else "top"] = _plain(high)
    return {**section, "widths": [_plain(width) for width in widths]}


_UNUSUAL = 0.01
"""The share of rows on either side that may lie far from all others."""


def _usual(table: Table, name: str, numbers: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """The ends between which numbers lie, without a few that are far from all others."""
    counted = table.count([name])
    labels, kind = table.keys(name), table.kind(name)
    pairs = sorted(
        (Decimal(kind.text(key)), int(count))
        for code, count in zip(counted.column(name), counted.count, strict=True)
        if (key := labels[int(code)]) is not None
    )
    total = sum(count for _, count in pairs)
    sides = []
    for side in (pairs, pairs[::-1]):
        few = 0
        for number, count in side:
            few += count
            if few > _UNUSUAL * total:
                sides.append(number)
                break
    low, high = sides
    # What is not far away belongs to the others.
    reach = high - low
    return (
        numbers[0] if low - numbers[0] <= reach else low,
        numbers[-1] if numbers[-1] - high <= reach else high,
    )


def _rounded(
    ends: tuple[Decimal, Decimal], *, whole: bool
) -> tuple[Decimal, Decimal, list[Decimal]]:
    """Ends with a digit or two and widths that suit them: 1, 5, 10, 50 and so on."""
    low, high = ends
    span = high - low
    exponent = span.adjusted() if span else (0 if whole else high.adjusted())
    if span and span < 3 * Decimal(1).scaleb(exponent):
        exponent -= 1
    if whole:
        exponent = max(exponent, 0)
    step = Decimal(1).scaleb(exponent)
    low, high = floor(low / step) * step, ceil(high / step) * step
    if 0 < low <= span:
        low = Decimal(0)
    if low == high:
        high += step
    span = high - low
    chain = [Decimal(digit).scaleb(power + exponent) for power in range(-2, 3) for digit in (1, 5)]
    smallest = 1 if whole else 0
    widths = [width for width in chain if span / 50 < width < span * 3 / 5 and width > smallest]
    return low, high, widths or [2 * step if whole else step]


def _plain(number: Decimal) -> int | float:
    """A number as a recipe writes it."""
    return int(number) if number == number.to_integral_value() else float(number)
