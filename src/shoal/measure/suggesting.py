"""`suggest`: which columns look identifying, quasi-identifying or sensitive, and why.

Nothing takes a role by it: an owner who agrees names the columns. A reason never has a value of the
table. Uses `signs`; `assess` at the command line and drafts of recipes use it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.arguments import typed
from shoal.data import tables
from shoal.data.kinds import Kind
from shoal.data.schema import Role
from shoal.data.tables import Table
from shoal.errors import ColumnError, plural
from shoal.exact.numbers import percent
from shoal.measure.signs import NAME_SIGNS, VALUE_SIGNS, NameSign, ValueSign
from shoal.zones import owner_only

__all__ = ["LISTED", "LOOKED_AT", "Suggestion", "suggest"]

LISTED = 250_000
"""A column with more different values than this is not listed: its values are only counted."""
LOOKED_AT = 1_000
"""How many values of a column are compared with patterns, evenly spread over all of them."""

_NEARLY_ALL = 0.9
"""The share of different values from which a column identifies people, whatever its name."""
_MANY = 0.5
"""The share of different values from which a name such as `id` or `number` is believed."""
_ENOUGH = 10
"""More values than a column such as `phone` has that says only whether there is one."""
_ALIKE = 0.8
"""The share of values that must fit a pattern; the others may be mistyped."""
_SHARED = 20
"""Rows per value, on average, from which a column has few values that many share."""


@owner_only
@dataclass(frozen=True)
class Suggestion:
    """What a column looks like.

    `role` is None where nothing suggests one; `reasons` says then what is known. `safe_harbour` has
    the letters of the identifiers in HIPAA's safe harbour that it seems to hold: see
    `shoal.measure.signs.SAFE_HARBOUR`.
    """

    column: str
    role: Role | None
    reasons: tuple[str, ...]
    safe_harbour: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {
            "column": self.column,
            "role": None if self.role is None else self.role.value,
            "reasons": list(self.reasons),
            "safe_harbour": list(self.safe_harbour),
        }


@typed
def suggest(table: Any, *, look: bool = True) -> tuple[Suggestion, ...]:
    """What the columns without a role look like, in the table's order.

    `table` is a Table or a dataframe. It goes by the names of columns, the number of their
    different values, and at most 1,000 values of each; of a column with over 250,000 values only
    by its name and their number. Without `look` it goes by names alone: roles that are chosen by
    such suggestions reveal nothing about the rows.

    >>> import polars
    >>> people = polars.DataFrame({"mail": ["a@b.org", "c@d.org"], "sex": ["f", "m"]})
    >>> [(one.column, one.role.value, one.safe_harbour) for one in suggest(people)]
    [('mail', 'identifying', ('F',)), ('sex', 'quasi', ())]
    """
    table = table if isinstance(table, Table) else tables.table(table)
    if not look:
        return tuple(map(_by_name, table.unmentioned))
    # A column that nobody has chosen must not make the table invalid.
    whole = replace(table, missing="category")
    return tuple(_suggestion(_Looked.at(whole, name)) for name in table.unmentioned)


def _by_name(column: str) -> Suggestion:
    """What the name of a column says; words that also name other things come last."""
    fitting = [sign for sign in NAME_SIGNS if sign.matches(column)]
    if not fitting:
        return Suggestion(column, None, ("its name says nothing",))
    sign = min(fitting, key=lambda sign: (sign.weak, sign.role is not Role.IDENTIFYING))
    letters = (sign.letter,) if sign.letter else ()
    return Suggestion(column, sign.role, (f"named like {sign.what}",), letters)


@dataclass(frozen=True)
class _Looked:
    """What is looked at in a column."""

    column: str
    rows: int
    """How many rows have a value."""
    values: int | None
    """How many different ones; None where they cannot be compared."""
    texts: Sequence[str]
    """Some of the values."""
    fractional: bool
    """Whether they are numbers with decimals, which are measured and not given."""

    @classmethod
    def at(cls, table: Table, name: str) -> "_Looked":
        values = table.source.distinct(name)
        if values is None:
            return cls(name, table.rows, None, (), False)
        if values > LISTED:
            fractional = table.kind(name) is Kind.FLOAT
            return cls(name, table.rows, values, (), fractional)
        try:
            labels = [label for label in table.labels(name) if label]
            rows, values = table.known(name)
        except ColumnError:
            return cls(name, table.rows, None, (), False)
        texts = _spread(labels)
        return cls(name, rows, values, texts, _share(_is_fractional, texts) >= _ALIKE)

    @property
    def share(self) -> float:
        """How many different values there are for each row that has one."""
        return 0.0 if not self.rows else (self.values or 0) / self.rows

    def differs(self, enough: float) -> bool:
        """Whether more than a share of the rows have another value."""
        return self.rows > 1 and self.share > enough

    def may_identify(self, *, sure: bool) -> bool:
        """Whether there are enough values for what a sign says; more where it is not sure."""
        return self.differs(_MANY) or (sure and (self.values or 0) > _ENOUGH)


def _suggestion(looked: _Looked) -> Suggestion:
    if looked.values is None:
        return Suggestion(looked.column, None, ("its values cannot be compared",))
    named, shaped = _named(looked), _shaped(looked)
    signs = [sign for sign in (named, shaped) if sign is not None]
    roles = [sign.role for sign in signs]
    letters = [sign.letter for sign in signs if sign.letter]
    reasons = [] if named is None else [f"named like {named.what}"]
    reasons += [] if shaped is None else [f"its values look like {shaped.what}"]
    role = roles[0] if roles else None
    if Role.IDENTIFYING in roles:
        role = Role.IDENTIFYING
    elif role is None and looked.differs(_NEARLY_ALL):
        role = Role.QUASI if looked.fractional else Role.IDENTIFYING
    reasons += _counted(looked)
    return Suggestion(looked.column, role, tuple(reasons), tuple(dict.fromkeys(letters)))


def _named(looked: _Looked) -> NameSign | None:
    """The sign in the name of a column, identifying ones first."""
    fitting = [sign for sign in NAME_SIGNS if sign.matches(looked.column)]
    for sign in fitting:
        if sign.role is Role.IDENTIFYING and looked.may_identify(sure=not sign.weak):
            return sign
    return next((sign for sign in fitting if sign.role is not Role.IDENTIFYING), None)


def _shaped(looked: _Looked) -> ValueSign | None:
    """The sign in the values of a column, if nearly all of them have it."""
    for sign in VALUE_SIGNS:
        if _share(sign.matches, looked.texts) < _ALIKE:
            continue
        if sign.role is not Role.IDENTIFYING or looked.may_identify(sure=True):
            return sign
    return None


def _counted(looked: _Looked) -> Iterator[str]:
    """What the number of values says."""
    values = looked.values or 0
    if not looked.rows:
        yield "it has no values"
    elif looked.differs(_NEARLY_ALL):
        if values == looked.rows:
            yield "every row has another value"
        else:
            yield f"nearly every row has another value ({percent(looked.share)})"
    elif values == 1:
        yield "all rows have the same value"
    elif looked.rows >= _SHARED * values:
        yield f"{plural(values, 'value')}, each shared by about {looked.rows // values:,} rows"
    else:
        yield f"{plural(values, 'value')} in {plural(looked.rows, 'row')}"
    if values > LISTED:
        yield "too many values to look at them"


def _spread(texts: Sequence[str]) -> Sequence[str]:
    """At most as many texts as are looked at, evenly spread over all of them."""
    step = -(-len(texts) // LOOKED_AT) or 1
    return texts[::step]


def _share(matches: Callable[[str], bool], texts: Sequence[str]) -> float:
    return sum(map(matches, texts)) / len(texts) if texts else 0.0


def _is_fractional(text: str) -> bool:
    whole, point, _ = text.partition(".")
    if not point or not whole.lstrip("-").isdigit():
        return False
    try:
        return Kind.FLOAT.key(text) is not None
    except ValueError:
        return False
