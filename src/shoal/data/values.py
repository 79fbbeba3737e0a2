"""Numbers, dates and missing values as people write them, turned into those that Shoal reads.

1.234,5 becomes 1234.5, and 18.10.1970 becomes 1970-10-18: still texts, as if the file had been
written so, and a declared type says how they compare. A column that is named, or declared to be of
such a type, must have nothing else; any other is turned only where all of its values are written
in this way. NA becomes a missing value before that. Uses `kinds`; `files` uses it.
"""

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal.data.formats import BY_COLUMN
from shoal.data.kinds import Kind
from shoal.errors import ColumnError, ParameterError, plural

__all__ = [
    "DURATION",
    "ValueOptions",
    "fitting_forms",
    "fitting_marks",
    "fitting_moments",
    "in_seconds",
]

DURATION = "duration"
"""In place of the form of a date: 26:30:00 becomes its seconds."""

# In nanoseconds.
_SECOND = 1_000_000_000
_MARKS = {"decimal": (",", "."), "thousands": (".", ",", "'", "’", " ", "\N{NO-BREAK SPACE}", "_")}
_USUAL = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y"),
)
"""Forms of dates that are tried."""

_CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S%.f", "%I:%M:%S %p", "%I:%M %p")
"""Forms of times of the day that are tried behind a date."""

_DATE_PARTS = frozenset("YymdBbFe")
_TIME_PARTS = frozenset("HIMSfpTR")
_DATE_NEEDS = (frozenset("Yy"), frozenset("mbB"), frozenset("de"))
_DURATION = r"^\s*-?(?:[0-9]+):[0-5]?[0-9](?::[0-5]?[0-9](?:\.[0-9]+)?)?\s*$"


@dataclass(frozen=True)
class ValueOptions:
    """How values are written in columns of texts; None is as Shoal writes them.

    decimal: the mark before decimals
    thousands: the mark between thousands
    dates: the form of dates, times or both, such as %d.%m.%Y; or that of each column by name;
        "duration" for hours, minutes and seconds. A column declared to be of dates has no times, so
        that of a form with both the days are taken
    missing_texts: texts that stand for a missing value, in all columns or in each by name
    """

    decimal: str | None = None
    thousands: str | None = None
    dates: str | Mapping[str, str] | None = None
    missing_texts: Iterable[str] | Mapping[str, Iterable[str]] | None = None

    def __post_init__(self) -> None:
        for option, marks in _MARKS.items():
            given = getattr(self, option)
            if given is not None and given not in marks:
                shown = ", ".join(map(repr, marks))
                raise ParameterError(
                    "cannot be used", f"it takes one of {shown}", option=option, given=repr(given)
                )
        if self.thousands is not None and self.thousands == (self.decimal or "."):
            raise ParameterError(
                f"`decimal` and `thousands` are both {self.thousands!r}",
                "give different ones; a point is before decimals unless `decimal` says otherwise",
            )
        forms = self.dates.values() if isinstance(self.dates, Mapping) else [self.dates]
        for form in forms:
            if form is not None:
                _require_form(form)
        object.__setattr__(self, "missing_texts", _kept_texts(self.missing_texts))

    def __bool__(self) -> bool:
        """Whether anything is given."""
        return not (self.decimal is self.thousands is self.dates is self.missing_texts is None)

    def __hash__(self) -> int:
        said = [
            tuple(said.items()) if isinstance(said, Mapping) else said
            for said in (self.dates, self.missing_texts)
        ]
        return hash((self.decimal, self.thousands, *said))

    def for_columns(self, names: Collection[str]) -> "ValueOptions":
        """The same, without what is said of columns other than these."""
        by_name: dict[str, Any] = {}
        for option in BY_COLUMN:
            said = getattr(self, option)
            if isinstance(said, Mapping):
                kept = {name: value for name, value in said.items() if name in names}
                by_name[option] = kept or None
        return replace(self, **by_name)

    def turned(
        self, lazy: pl.LazyFrame, kinds: Mapping[str, Kind | str]
    ) -> tuple[pl.LazyFrame, frozenset[str]]:
        """The same rows with such values turned, and which columns that was decided for by them.

        The rows are gone through once, to see which columns are written so. ColumnError if a column
        should be and is not.
        """
        schema = lazy.collect_schema()
        for option in BY_COLUMN:
            said = getattr(self, option)
            named = said if isinstance(said, Mapping) else ()
            unknown = [name for name in named if name not in schema]
            if unknown:
                raise ColumnError(
                    f"there is no column {unknown[0]!r}", f"`{option}` names columns of the file"
                )
        lazy = lazy.with_columns(self._without_missing(schema))
        texts = [name for name, dtype in schema.items() if dtype == pl.String]
        turns = [turn for name in texts for turn in self._turns(name, kinds.get(name))]
        if not turns:
            return lazy, frozenset()
        asked = [
            expression.alias(f"{place} {what}")
            for place, turn in enumerate(turns)
            for what, expression in (
                ("known", turn.is_known.sum()),
                ("fits", (turn.is_known & turn.turned.is_not_null()).sum()),
            )
        ]
        answers = lazy.select(asked).collect(engine="streaming").row(0, named=True)
        chosen: dict[str, pl.Expr] = {}
        for place, turn in enumerate(turns):
            known, fits = answers[f"{place} known"], answers[f"{place} fits"]
            if turn.required and fits < known:
                raise ColumnError(
                    f"{plural(known - fits, 'value')} of column {turn.name!r} "
                    f"{'is' if known - fits == 1 else 'are'} not written as {turn.form}",
                    "correct them, or say how this column is written",
                )
            if known and fits == known:
                chosen.setdefault(turn.name, turn.turned.alias(turn.name))
        guessed = frozenset(turn.name for turn in turns if not turn.required)
        return lazy.with_columns(chosen.values()), guessed

    def _without_missing(self, schema: Mapping[str, pl.DataType]) -> Iterator[pl.Expr]:
        """The columns in which some values stand for missing ones, with these missing."""
        for name, dtype in schema.items():
            said = self.missing_texts or ()
            texts = said.get(name, ()) if isinstance(said, Mapping) else said
            is_missing = _is_one_of(name, dtype, list(texts))
            if is_missing is not None:
                yield pl.when(~is_missing).then(_text(name)).alias(name)

    def _turns(self, name: str, declared: Kind | str | None) -> "Iterator[_Turning]":
        """What a column may be turned into; the first that fits counts."""
        kind = None if declared is None else Kind(declared)
        if isinstance(self.dates, Mapping):
            form = self.dates.get(name)
            if form is not None:
                day = kind is Kind.DATE
                yield _Turning(name, _date(name, form, day=day), form, required=True)
                return
        elif self.dates is not None and kind in (None, Kind.DATE, Kind.TEXT):
            # A date that is declared to be a text may have a time, which dates have not.
            required = kind is Kind.DATE
            if kind is not Kind.TEXT or _has_time(self.dates):
                turned = _date(name, self.dates, day=required)
                yield _Turning(name, turned, self.dates, required=required)
        has_marks = self.decimal is not None or self.thousands is not None
        if has_marks and kind in (None, Kind.INTEGER, Kind.FLOAT):
            yield _Turning(name, self._number(name), self._form(), required=kind is not None)

    def _number(self, name: str) -> pl.Expr:
        """The number of a text as Shoal writes it, missing if it is not one."""
        decimal = self.decimal or "."
        thousands = self.thousands or ""
        point = re.escape(decimal)
        whole = "[0-9]+"
        if thousands:
            whole = f"(?:[0-9]+|[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+)"
        form = (
            rf"^\s*[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?\s*$"
        )
        text = _text(name)
        plain = text.str.strip_chars()
        if thousands:
            plain = plain.str.replace_all(thousands, "", literal=True)
        plain = plain.str.replace(decimal, ".", literal=True)
        # As Shoal writes it, without zeros at the end of decimals.
        plain = plain.str.replace(r"^([+-]?[0-9]*\.[0-9]*?)0+$", "$1").str.strip_suffix(".")
        return pl.when(text.str.contains(form)).then(plain)

    def _form(self) -> str:
        between = f"{self.thousands or ''}234" if self.thousands else "234"
        return f"1{between}{self.decimal or '.'}5"


@dataclass(frozen=True)
class _Turning:
    """A way to turn the texts of a column; what is not written so becomes missing."""

    name: str
    turned: pl.Expr
    form: str
    required: bool

    @property
    def is_known(self) -> pl.Expr:
        text = _text(self.name)
        return text.is_not_null() & (text != "")


def _text(name: str) -> pl.Expr:
    # A name such as "^a$" or "*" would be taken for a pattern.
    return pl.selectors.by_name(name).as_expr()


def _is_one_of(name: str, dtype: pl.DataType, texts: list[str]) -> pl.Expr | None:
    """Whether a value is written as one of some texts, None if none can be.

    A number that a file stores as such is not written in any way, and is equal or not.
    """
    value = _text(name)
    if dtype.is_numeric():
        numbers = pl.Series(texts, dtype=pl.String).cast(dtype, strict=False).drop_nulls()
        return value.is_in(numbers.to_list()) if len(numbers) else None
    if not texts or dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Null):
        return None
    if isinstance(dtype, pl.Datetime):
        midnights = [f"{text}T00:00:00" for text in texts]
        return value.dt.strftime("%Y-%m-%dT%H:%M:%S%.f").is_in([*texts, *midnights])
    return value.cast(pl.String).is_in(texts)


def _date(name: str, form: str, *, day: bool = False) -> pl.Expr:
    """The date or time of a text as Shoal writes it, missing if it is not one.

    day: take the day alone, whatever the time
    """
    text = _text(name).str.strip_chars()
    if form == DURATION:
        return _seconds(text)
    if not _has_time(form):
        return _day(text.str.strptime(pl.Date, form, strict=False))
    if not _has_date(form):
        return _clock(text.str.strptime(pl.Time, form, strict=False))
    moment = text.str.strptime(pl.Datetime("us"), form, strict=False)
    date = _day(moment)
    if day:
        return date
    is_midnight = moment.dt.time() == dt.time(0)
    return pl.when(is_midnight).then(date).otherwise(date + "T" + _clock(moment.dt.time()))


def _day(moment: pl.Expr) -> pl.Expr:
    """The day of a date; 70 where a year of four digits should be is none."""
    return pl.when(moment.dt.year() >= 1000).then(moment.dt.strftime("%Y-%m-%d"))


def _clock(time: pl.Expr) -> pl.Expr:
    """A time of the day as Python writes it."""
    is_whole = time.dt.microsecond() == 0
    plain, fine = time.dt.strftime("%H:%M:%S"), time.dt.strftime("%H:%M:%S%.6f")
    return pl.when(is_whole).then(plain).otherwise(fine)


def _seconds(text: pl.Expr) -> pl.Expr:
    """Hours, minutes and seconds as seconds; missing if it is something else."""
    parts = text.str.strip_prefix("-").str.split(":")
    # Texts that are no durations may have fewer parts.
    first, second, seconds = (parts.list.get(place, null_on_oob=True) for place in range(3))
    hours, minutes = (part.cast(pl.Int64, strict=False) for part in (first, second))
    fraction = seconds.str.extract(r"(\.[0-9]+)$").str.strip_chars_end("0").str.strip_chars_end(".")
    whole = seconds.str.extract("^([0-9]+)").cast(pl.Int64, strict=False).fill_null(0)
    total = hours * 3600 + minutes * 60 + whole
    nothing = (total == 0) & fraction.fill_null("").eq("")
    sign = pl.when(text.str.starts_with("-") & ~nothing).then(pl.lit("-")).otherwise(pl.lit(""))
    written = sign + total.cast(pl.String) + fraction.fill_null("")
    return pl.when(text.str.contains(_DURATION)).then(written)


def in_seconds(lazy: pl.LazyFrame) -> tuple[pl.LazyFrame, frozenset[str]]:
    """The same rows with durations in seconds, whole numbers if all are, and these columns.

    >>> rows, names = in_seconds(pl.LazyFrame({"worked": [dt.timedelta(hours=26), None]}))
    >>> rows.collect()["worked"].to_list(), names
    ([93600, None], frozenset({'worked'}))
    """
    schema = lazy.collect_schema()
    durations = [name for name, dtype in schema.items() if isinstance(dtype, pl.Duration)]
    if not durations:
        return lazy, frozenset()
    parts = {name: _text(name).dt.total_nanoseconds() for name in durations}
    whole = [(part % _SECOND == 0).all().alias(name) for name, part in parts.items()]
    answers = lazy.select(whole).collect(engine="streaming").row(0, named=True)
    seconds = []
    for name, part in parts.items():
        number = part // _SECOND if answers[name] else part / _SECOND
        seconds.append(number.alias(name))
    return lazy.with_columns(seconds), frozenset(durations)


def fitting_forms(texts: pl.Series) -> tuple[str, ...]:
    """The usual forms of dates that all texts have: several where day and month may be either.

    >>> fitting_forms(pl.Series(["18.10.1970", "1.2.1988"])), fitting_forms(pl.Series(["1/2/88"]))
    (('%d.%m.%Y',), ('%d/%m/%y', '%m/%d/%y'))
    """
    frame = texts.alias("x").to_frame()
    fits = [frame.select(_date("x", form).is_not_null().all()).item() for form in _USUAL]
    return tuple(form for form, fit in zip(_USUAL, fits, strict=True) if fit and len(texts))


def fitting_moments(texts: pl.Series) -> tuple[str, ...]:
    """The usual forms of dates with a time of the day that all texts have.

    Those of a column that is declared to be of dates are read as days.

    >>> fitting_moments(pl.Series(["2023-04-10 10:59:00", "2023-05-01 00:00:00"]))
    ('%Y-%m-%d %H:%M:%S',)
    """
    frame = texts.alias("x").to_frame()
    days = ("%Y-%m-%d", *_USUAL)
    forms = [f"{day} {clock}" for day in days for clock in _CLOCKS]
    forms += [f"%Y-%m-%dT{clock}" for clock in _CLOCKS]
    fits = [frame.select(_date("x", form).is_not_null().all()).item() for form in forms]
    found = [form for form, fit in zip(forms, fits, strict=True) if fit and len(texts)]
    # One form of times is enough of each form of dates.
    return tuple({form[:8]: form for form in reversed(found)}.values())[::-1]


def fitting_marks(texts: pl.Series) -> tuple[str, str] | None:
    """The decimal comma, and a mark between thousands or none, if all texts have them.

    >>> fitting_marks(pl.Series(["1.234,5", "3"])), fitting_marks(pl.Series(["1,5", "x"]))
    ((',', '.'), None)
    """
    for thousands in ("", ".", "'", " "):
        number = ValueOptions(",", thousands or None)._number("x")
        if texts.alias("x").to_frame().select(number.is_not_null().all()).item():
            return ",", thousands
    return None


def _has_time(form: str) -> bool:
    return form != DURATION and bool(_parts(form) & _TIME_PARTS)


def _has_date(form: str) -> bool:
    return bool(_parts(form) & _DATE_PARTS)


def _parts(form: str) -> set[str]:
    return set(re.findall(r"%[-_0#]?(?:\.?[0-9]?)([a-zA-Z])", form))


def _kept_texts(given: Any) -> Any:
    """Texts for missing values as they are kept, of all columns or by name."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {name: _kept_texts(texts) for name, texts in given.items()} or None
    texts = () if isinstance(given, str) else tuple(given)
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ParameterError(
            "is not a list of texts",
            'write ["NA", "?"], or one list for each column; an empty text is missing anyway',
            option="missing_texts",
        )
    return texts


def _require_form(form: str) -> None:
    """ParameterError unless a form of dates can be read by."""
    if form == DURATION:
        return
    parts = _parts(form)
    is_date = parts >= {"F"} or all(parts & some for some in _DATE_NEEDS)
    whole = None
    if is_date or (parts and parts <= _TIME_PARTS):
        moment = pl.Series("x", [dt.datetime(2020, 2, 29, 13, 4, 5)])
        with suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException):
            whole = moment.dt.strftime(form).to_frame().select(_date("x", form)).item()
    if whole is None:
        raise ParameterError(
            "is not the form of a date or a time",
            "write it as %d.%m.%Y, %Y-%m-%d %H:%M or %H:%M, or give 'duration'",
            option="dates",
            given=repr(form),
        )
