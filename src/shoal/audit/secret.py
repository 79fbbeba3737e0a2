"""`Secret`: a column that is asked about, what is public of it, and its exact values.

`Audit` uses it. It uses `exact`, `tables` and the auditors.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TYPE_CHECKING, Any, Literal

from shoal.arguments import typed
from shoal.audit.dither import FINE
from shoal.audit.model import STRATEGIES, Costed, Number, Strategy
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, ParameterError, TooLargeError, listed, plural
from shoal.exact.numbers import Exact, fraction, printed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from shoal.data.tables import Table

__all__ = [
    "FAMILIES",
    "FAMILY_OF",
    "Family",
    "KindBounds",
    "PeopleInRows",
    "Secret",
    "exact_values",
    "simplest",
]

Family = Literal["max", "min", "sum"]
FAMILIES: tuple[Family, ...] = ("max", "min", "sum")

FAMILY_OF: Mapping[str, Family] = {"max": "max", "min": "min", "sum": "sum", "mean": "sum"}
"""What is audited for an aggregate; a mean is a sum over a known number of people."""

CLOSE = 1000
"""Bounds this far apart, or less, are close together: 1 is at least a thousandth of that."""


@typed
@dataclass(frozen=True)
class Secret:
    """A column that is asked about, and what is public of its values.

    family: "max", "min" or "sum" (means too); if None, the first query decides. A column has one
        only, since several together would reveal more
    low, high: bounds of all values
    width: how far apart the values that are possible for a person stay at least. It may be left
        out, for 1, where there are no bounds or these are close together, as for ages
    integers: all values are whole numbers; None for whatever the data says, which is then public
    distinct: no two people have the same value
    strategy: "binding", "simulatable", or "simple", which is unsafe
    dither: for sums within bounds, which need it unless there are very few whole numbers: a secret
        random part of `unit` is added to each value, once, as values with few digits could be
        worked out. Answers are off by at most half a unit per person
    unit: all values are multiples of it; if None, of the last decimal that occurs, which is then
        public
    low_column, high_column: for sums, public columns with everyone's bounds, in place of one bound
        for all. For bounds of groups, a column has those of everyone's group
    """

    column: str
    family: Family | None = None
    low: Exact | None = None
    high: Exact | None = None
    width: Exact | None = None
    integers: bool | None = None
    distinct: bool = False
    strategy: Strategy = "binding"
    dither: bool = False
    unit: Exact | None = None
    low_column: str | None = None
    high_column: str | None = None

    def __post_init__(self) -> None:
        if self.dither and self.family in ("max", "min"):
            raise ParameterError(f"dither is for sums; {self.family} does not need it")
        if self.bound_columns and self.family in ("max", "min"):
            raise ParameterError(
                f"bounds of each person are for sums, and {self.family} takes one bound for all",
                "give `low` and `high`",
            )
        if self.dither or self.bound_columns:
            object.__setattr__(self, "family", "sum")
        self._require_one_bound("low", self.low, self.low_column)
        self._require_one_bound("high", self.high, self.high_column)
        _require_known("family", self.family, (None, *FAMILIES))
        _require_known("strategy", self.strategy, STRATEGIES)
        for name in ("low", "high", "width", "unit"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, fraction(given, name))
        if self.width is None:
            object.__setattr__(self, "width", self._default_width())
        if self.unit is not None and Fraction(self.unit) <= 0:
            raise ParameterError("must be above 0", option="unit", given=str(self.unit))
        low, high = self.bounds
        if low is not None and high is not None and low > high:
            raise ParameterError(
                f"the lower bound {low} is above the upper one, {high}", "give the lower one first"
            )

    @property
    def bound_columns(self) -> tuple[str, ...]:
        """The public columns with bounds."""
        return tuple(name for name in (self.low_column, self.high_column) if name is not None)

    def _require_one_bound(self, side: str, given: object, column: str | None) -> None:
        if given is not None and column is not None:
            raise ParameterError(
                f"the {side} bound is given twice", f"leave out `{side}` or `{side}_column`"
            )

    @property
    def bounds(self) -> tuple[Fraction | None, Fraction | None]:
        """The lower and the upper bound of all values."""
        low = None if self.low is None else Fraction(self.low)
        high = None if self.high is None else Fraction(self.high)
        return low, high

    def _default_width(self) -> Fraction:
        """1 where that promises something; otherwise ParameterError."""
        low, high = self.bounds
        if self.bound_columns:
            between = "where everyone has bounds of their own"
        elif low is None and high is None:
            return Fraction(1)
        elif low is None or high is None:
            between = "of values that have one bound"
        elif high - low > CLOSE:
            between = f"between {printed(low)} and {printed(high)}"
        else:
            return Fraction(1)
        raise ParameterError(
            f"`width` is not given, and the usual 1 promises little {between}",
            "give how far apart a person's possible values stay at least, wide enough that "
            "knowing a value that closely does no harm: for yearly salaries, thousands",
        )

    def families(self, people: int) -> tuple[Family, ...]:
        """What can be asked of that many people: each of these by itself, if `family` is None."""
        if self.bound_columns:
            return ("sum",)
        families: list[Family] = []
        for family in FAMILIES if self.family is None else (self.family,):
            with suppress(ParameterError, TooLargeError):
                self.auditor(family, people)
                families.append(family)
        return tuple(families)

    def auditor(
        self, family: Family, people: int, bounds: "KindBounds | None" = None
    ) -> Costed[Any]:
        """Who decides about one aggregate of this column.

        ParameterError if what is public does not allow any auditor.

        bounds: everyone's, where public columns have them
        """
        from shoal.audit.maxima import Maxima, Minima

        unit = None if self.unit is None else Fraction(self.unit)
        low = _multiple(self.low, unit, up=True)
        high = _multiple(self.high, unit, up=False)
        width = self._width(unit)
        if self.distinct and unit is not None and width < 2 * people * unit:
            raise ParameterError(
                f"{people:,} different values that are multiples of {printed(unit)} "
                "could give each other away",
                "leave `distinct` out if that is not public, or ask for a larger `width`",
            )
        if bounds is not None:
            return self._sums_by_kind(people, bounds, width, unit)
        if family == "sum":
            return self._sums(people, low, high, width, unit)
        auditor = Maxima if family == "max" else Minima
        return auditor(people, low, high, width, bool(self.integers), self.distinct, self.strategy)

    def _width(self, unit: Fraction | None) -> Number:
        width = _multiple(self.width, unit, up=True)
        assert width is not None  # __post_init__ has set it
        return width

    def _sums(
        self,
        people: int,
        low: Number | None,
        high: Number | None,
        width: Number,
        unit: Fraction | None,
    ) -> Costed[Any]:
        """The auditor of sums."""
        from shoal.audit.sums import Sums

        if self.distinct:
            raise ParameterError(
                "sums are audited for values that may be equal",
                "leave `distinct` out, or ask about max or min",
            )
        if self.dither:
            if unit is None or low is None or high is None:
                raise ParameterError(
                    "dither is for sums within public bounds",
                    "give `low` and `high`, or leave it out",
                )
            last = unit / FINE
            high, width = high + unit - last, width + unit
            return Sums(people, low, high, width, strategy=self.strategy, unit=last)
        if self.low is None and self.high is None:
            # Other multiples of the unit are always possible.
            return Sums(people, width=width, strategy=self.strategy)
        if self.integers:
            return Sums(people, low, high, width, integers=True, strategy=self.strategy)
        raise ParameterError(
            "values that have few digits can be worked out from sums",
            "make the audit with dither, which adds a secret part of the last digit to each value, "
            "or ask about max or min",
        )

    def _sums_by_kind(
        self, people: int, bounds: "KindBounds", width: Number, unit: Fraction | None
    ) -> Costed[Any]:
        """The auditor of sums where people have different bounds."""
        from shoal.audit.sums import Sums

        if not self.dither or unit is None:
            raise ParameterError(
                "sums within bounds of each person need dither", "make the audit with `dither`"
            )
        last = unit / FINE
        lows = [Fraction(_multiple(low, unit, up=True) or 0) for low in bounds.lows]
        highs = [Fraction(_multiple(high, unit, up=False) or 0) for high in bounds.highs]
        tops = [high + unit - last for high in highs]
        return Sums(
            people, lows, tops, width + unit, strategy=self.strategy, unit=last, kinds=bounds.kinds
        )

    def to_dict(self) -> dict[str, Any]:
        """For the log: exact numbers are texts."""
        facts = asdict(self)
        for name, value in facts.items():
            if isinstance(value, Fraction):
                facts[name] = printed(value)
        return facts


def _require_known(option: str, given: object, known: Sequence[object]) -> None:
    if given not in known:
        names = listed(name for name in known if name is not None)
        raise ParameterError("is unknown", f"known are {names}", option=option, given=repr(given))


def _multiple(end: Exact | None, unit: Fraction | None, *, up: bool) -> Number | None:
    """A bound, or a width, rounded to a multiple of the unit: no value is between."""
    if end is None:
        return None
    if unit is None:
        return simplest(Fraction(end))
    steps = Fraction(end) / unit
    return simplest((ceil(steps) if up else floor(steps)) * unit)


def simplest(value: Fraction) -> Number:
    """A number as an integer, where it is one."""
    return value.numerator if value.denominator == 1 else value


# The values of a table


@dataclass(frozen=True, eq=False)
class KindBounds:
    """The public bounds of each kind of people, and everyone's kind."""

    lows: tuple[Fraction, ...]
    highs: tuple[Fraction, ...]
    kinds: "npt.NDArray[np.int32]"


def exact_values(
    table: "Table", secret: Secret, people: "PeopleInRows | None" = None
) -> tuple[list[Fraction], Secret]:
    """The exact values of a secret column, checked against what is said to be public of them.

    Also the secret with nothing left open. Someone's rows are added up, or their largest or
    smallest value is taken.
    """
    people = people or PeopleInRows.in_rows(table, None)
    column = _Checked(table, secret.column)
    values = column.numbers()
    integers = column.integers(secret, values)
    values = people.combined(values, secret)
    low, high = secret.bounds
    lows = _each(table, secret.low_column, low, people)
    highs = _each(table, secret.high_column, high, people)
    ends = zip(lows, values, highs, strict=True)
    column.require(
        [value for least, value, most in ends if not _within(value, least, most)],
        "outside the public bounds",
        "widen them",
    )
    if secret.distinct and len(set(values)) < len(values):
        raise ColumnError(
            f"column {secret.column!r} is said to hold no value twice, and does",
            "leave `distinct` out",
        )
    unit = _unit(secret, integers, values)
    odd = [value for value in values if (value / unit).denominator != 1]
    column.require(odd, "not divisible by the unit", "give a smaller `unit`, or none")
    return values, replace(secret, integers=integers, unit=unit)


@dataclass(frozen=True, eq=False)
class _Checked:
    """A column whose values are checked; errors have their number, and never a value."""

    table: "Table"
    name: str

    def numbers(self) -> list[Fraction]:
        """The values as exact numbers; ColumnError if some are missing, or are not numbers."""
        values: list[Fraction] = []
        missing: list[object] = []
        wrong: list[object] = []
        # many people have the same value, which is read once
        known: dict[object, Fraction] = {}
        for value in self.table.frame.get_column(self.name).to_list():
            if value is None or value == "" or value != value:
                missing.append(value)
                continue
            try:
                if value not in known:
                    text = value.strip() if isinstance(value, str) else value
                    known[value] = fraction(text, self.name)
                values.append(known[value])
            except ParameterError:
                wrong.append(value)
        fix = "leave those rows out, or fill them: queries are about people who have a value"
        self.require(missing, "missing", fix)
        self.require(wrong, "not numeric", "clean it")
        return values

    def integers(self, secret: Secret, values: Sequence[Fraction]) -> bool:
        """Whether the column is of whole numbers; ColumnError if it is said to be, and is not."""
        declared = self.table.types.get(self.name)
        if declared not in (None, Kind.INTEGER, Kind.FLOAT):
            raise ColumnError(
                f"column {self.name!r} is declared as {declared}, and an audit is about numbers",
                "declare it as integer or float",
            )
        whole = all(value.denominator == 1 for value in values)
        integers = whole if declared is None else declared is Kind.INTEGER
        if secret.integers is not None:
            integers = secret.integers
        if integers and not whole:
            raise ColumnError(
                f"column {self.name!r} is said to hold whole numbers, and does not",
                "declare its type as float",
            )
        return integers

    def require(self, values: Sequence[object], problem: str, fix: str) -> None:
        """ColumnError if there are values with a problem."""
        if not values:
            return
        verb = "is" if len(values) == 1 else "are"
        number = f"{plural(len(values), 'value')} of {self.table.rows:,}"
        raise ColumnError(f"column {self.name!r}: {number} {verb} {problem}", fix)


def _each(
    table: "Table", column: str | None, given: Fraction | None, people: "PeopleInRows"
) -> Sequence[Fraction | None]:
    """Everyone's bound: from a public column, or the same for all."""
    if column is None:
        return (given,) * len(people.first)
    bounds = _Checked(table, column).numbers()
    return [bounds[row] for row in people.first]


@dataclass(frozen=True, eq=False)
class PeopleInRows:
    """Who is in which rows.

    first: the number of everyone's first row
    of: the person of each row; None if every row is one
    """

    first: list[int]
    of: list[int] | None = None

    @classmethod
    def in_rows(cls, table: "Table", unit: str | None) -> "PeopleInRows":
        """One person per row, or per value of a column."""
        if unit is None:
            return cls(list(range(table.rows)))
        table.require_people(unit)
        [column] = table.records([unit])
        first: dict[int, int] = {}
        for row, code in enumerate(column.codes):
            first.setdefault(int(code), row)
        number = {code: place for place, code in enumerate(first)}
        return cls(list(first.values()), [number[int(code)] for code in column.codes])

    def combined(self, values: list[Fraction], secret: Secret) -> list[Fraction]:
        """One value for each person: the sum, the largest or the smallest of their rows."""
        if self.of is None:
            return values
        if secret.family is None:
            raise ParameterError(
                "people are in several rows, and `family` does not say what counts of each",
                "give sum, max or min",
            )
        rows: list[list[Fraction]] = [[] for _ in self.first]
        for person, value in zip(self.of, values, strict=True):
            rows[person].append(value)
        if secret.family == "sum":
            return [sum(each, Fraction(0)) for each in rows]
        return [max(each) if secret.family == "max" else min(each) for each in rows]

    def require_same(self, table: "Table", names: Sequence[str]) -> None:
        """ColumnError if someone's rows differ in a public column."""
        if self.of is None:
            return
        for column, name in zip(table.records(names), names, strict=True):
            codes = list(column.codes)
            pairs = zip(codes, self.of, strict=True)
            if any(code != codes[self.first[person]] for code, person in pairs):
                raise ColumnError(
                    f"column {name!r} differs between rows of one person",
                    "leave it out of the public columns, which are about people",
                )


def _within(value: Fraction, low: Fraction | None, high: Fraction | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _unit(secret: Secret, integers: bool, values: Sequence[Fraction]) -> Fraction:
    """What all values are multiples of: as it is given, or else the last decimal that occurs."""
    if secret.unit is not None:
        return Fraction(secret.unit)
    if integers:
        return Fraction(1)
    common = lcm(*(value.denominator for value in values))
    for digits in range(400):
        if 10**digits % common == 0:
            return Fraction(1, 10**digits)
    # Values that are not decimals have a unit of their own.
    return Fraction(1, common)
