"""F′-privacy: a limit f′(x) on the probability that anybody is linked to a sensitive value x.

`Limits` says what the limits are, before any data is seen. How often each value occurs turns them
into fractions, and shows whether they can be kept and which l of l-diversity would keep them. Uses
`exact` and `kinds`; the method `Buckets` uses it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeVar

from shoal.arguments import keep, typed
from shoal.data.kinds import Key, Kind
from shoal.errors import InfeasibleError, InputError, ParameterError, plural
from shoal.exact.numbers import Exact, fraction, printed, whole
from shoal.privacy.promises import of_people, unit_of, unit_part
from shoal.zones import brief

__all__ = [
    "BlockedValue",
    "BucketLimits",
    "DiversityRange",
    "Eligibility",
    "LimitClass",
    "Limits",
    "Linear",
]

Value = Key | None
"""A sensitive value; None is the missing one."""

V = TypeVar("V", bound=Value)


class LimitClass(NamedTuple):
    """Values with one limit under one name; it holds for each of them, not for all together."""

    name: str
    limit: Fraction
    values: tuple[Value, ...]


@typed
@dataclass(frozen=True, init=False)
class Linear:
    """The limit min{1, a·f + b} of a value with the share f of all records.

    >>> print(Linear(8, "0.02"))
    min{1, 8·f + 0.02}
    """

    a: Fraction
    b: Fraction

    def __init__(self, a: Exact, b: Exact) -> None:
        keep(self, a=fraction(a, "a", 0), b=fraction(b, "b", 0))
        if not self.a and not self.b:
            raise ParameterError(
                "min{1, a·f + b} with a=0 and b=0 would allow no value at all",
                "give an a or a b above 0",
            )

    def __str__(self) -> str:
        return f"min{{1, {printed(self.a)}·f + {printed(self.b)}}}"

    def of(self, share: Fraction) -> Fraction:
        """The limit of a value with this share of the records, which is above 0."""
        return min(Fraction(1), self.a * share + self.b)


@typed
@brief
@dataclass(frozen=True, init=False)
class Limits:
    """A limit above 0 and at most 1 for every sensitive value.

    It is the one given for the value, or the one for all others.

    Values are keys of their column: text as text, whole numbers as numbers; None is the missing
    value. Make one with `each`, `formula` or `classes`. Without a limit for others, a value that
    was not named is an error.

    A limit by formula depends on how often a value occurs, and so on the data. It is as good as one
    that is given: a release of buckets shows the bag of all sensitive values exactly, and with it
    every share f and every limit, to anyone; and the promise is about who has which value, given
    that bag. It does mean that the limit of a value is known only with the data, that it grows with
    the number of people who have it, and that a value which nearly everybody has may be linked to
    nearly everybody. Where fake values are mixed in, the release shows f only roughly.

    >>> limits = Limits.each({"HIV": "0.05", "flu": 1}, others=Linear(2, "0.1"))
    >>> limits.of({"HIV": 1, "flu": 60, "asthma": 39})
    {'HIV': Fraction(1, 20), 'flu': Fraction(1, 1), 'asthma': Fraction(22, 25)}
    """

    given: tuple[tuple[Value, Fraction], ...]
    others: Fraction | Linear | None
    named: tuple[LimitClass, ...]
    """The classes, if the limits came as such."""

    def __init__(
        self,
        given: Iterable[tuple[Value, Exact]],
        others: Exact | Linear | None = None,
        named: Iterable[LimitClass] = (),
    ) -> None:
        if others is not None and not isinstance(others, Linear):
            others = _limit(others, "the limit of all others")
        pairs = enumerate(given, 1)
        keep(
            self,
            given=tuple((value, _limit(x, f"the limit of value {i}")) for i, (value, x) in pairs),
            others=others,
            named=tuple(named),
        )
        if len(dict(self.given)) < len(self.given):
            raise ParameterError("a sensitive value has two limits", "give every value one")
        if self.named and self.given != tuple(_pairs(self.named)):
            raise ParameterError(
                "the limits of classes are not those of their values",
                "make them with `Limits.classes`",
            )
        if not self.given and self.others is None:
            raise ParameterError("no limit is given", "give one for some value, or for all others")

    @classmethod
    def each(cls, limits: Mapping[V, Exact], others: Exact | Linear | None = None) -> "Limits":
        """One limit per value."""
        return cls(tuple(limits.items()), others)

    @classmethod
    def formula(cls, a: Exact, b: Exact) -> "Limits":
        """min{1, a·f + b} for every value, f being its share of the records.

        >>> Limits.formula(2, "0.05").of({"a": 1, "b": 49})
        {'a': Fraction(9, 100), 'b': Fraction(1, 1)}
        """
        return cls((), Linear(a, b))

    @classmethod
    def classes(
        cls,
        classes: Mapping[str, tuple[Exact, Iterable[Value]]],
        others: Exact | Linear | None = None,
    ) -> "Limits":
        """One limit per class of values.

        It holds for each value of the class, not for the class together.

        >>> limits = Limits.classes(
        ...     {"stigmatising": ("0.05", ["HIV", "depression"])}, others="0.5"
        ... )
        >>> limits.of({"depression": 1, "flu": 2})
        {'depression': Fraction(1, 20), 'flu': Fraction(1, 2)}
        """
        named = []
        for name, (limit, values) in classes.items():
            if isinstance(values, str):
                raise ParameterError(f"the class {name!r} takes a list of values, not one text")
            exact = _limit(limit, f"the limit of class {name!r}")
            named.append(LimitClass(name, exact, tuple(values)))
        return cls(tuple(_pairs(named)), others, named)

    def keyed(self, kind: Kind) -> "Limits":
        """The same limits for the keys of a column of this kind.

        In an integer column, for example, the text "39" names the number 39.

        >>> Limits.each({"39": "0.1"}).keyed(Kind.INTEGER).given
        ((39, Fraction(1, 10)),)
        """
        keys = kind.keys([value for value, _ in self.given], "of the limits")
        limits = (limit for _, limit in self.given)
        given = tuple(zip(keys, limits, strict=True))
        # The values of classes are those that are given, in the same order.
        rest = iter(keys)
        named = [
            LimitClass(name, limit, tuple(next(rest) for _ in values))
            for name, limit, values in self.named
        ]
        return Limits(given, self.others, named)

    def eased(self, theta: Exact) -> "Limits":
        """Limits that allow more or less, by one number: the θ of the paper's evaluation.

        It takes the place of the factor of a formula. Where there is none, it multiplies every
        limit, up to 1.

        >>> Limits.formula(2, "0.02").eased(8) == Limits.formula(8, "0.02")
        True
        >>> Limits.each({"HIV": "0.05"}, others="0.4").eased(3).of({"HIV": 1, "flu": 1})
        {'HIV': Fraction(3, 20), 'flu': Fraction(1, 1)}
        """
        factor = fraction(theta, "theta", 0, above=True)
        if isinstance(self.others, Linear):
            return Limits(self.given, Linear(factor, self.others.b), self.named)
        one = Fraction(1)
        given = [(value, min(one, factor * limit)) for value, limit in self.given]
        named = [
            LimitClass(name, min(one, factor * limit), values) for name, limit, values in self.named
        ]
        others = None if self.others is None else min(one, factor * self.others)
        return Limits(given, others, named)

    def of(self, counts: Mapping[V, int]) -> dict[V, Fraction]:
        """The limit of every value that occurs, given how often each does.

        A value without a limit raises InputError.
        """
        occurring = _occurring(counts)
        records, given = sum(occurring.values()), dict(self.given)
        limits = {}
        missing = 0
        for value, count in occurring.items():
            limit = given.get(value) or self._other(Fraction(count, records))
            if limit is None:
                missing += 1
            else:
                limits[value] = limit
        if missing:
            have = "has" if missing == 1 else "have"
            raise InputError(
                f"{plural(missing, 'sensitive value')} of the table {have} no limit",
                "give one for all others",
            )
        return limits

    def _other(self, share: Fraction) -> Fraction | None:
        """The limit of a value that has none of its own."""
        return self.others.of(share) if isinstance(self.others, Linear) else self.others

    def eligibility(self, counts: Mapping[V, int]) -> "Eligibility":
        """Whether buckets can keep the limits, and what to mind; owner only, as it names values."""
        occurring, limits = _occurring(counts), self.of(counts)
        records = sum(occurring.values())
        shares: dict[Value, tuple[Fraction, Fraction]] = {
            value: (Fraction(count, records), limits[value]) for value, count in occurring.items()
        }
        return Eligibility(
            {value: pair for value, pair in shares.items() if pair[0] > pair[1]},
            {value: count for value, count in occurring.items() if limits[value] == 1},
            tuple(value for value, _ in self.given if value not in occurring),
            self._resembling(limits.items()),
            shares,
        )

    def _resembling(self, limits: Iterable[tuple[Value, Fraction]]) -> tuple[Value, ...]:
        """Values that resemble one with a stricter limit.

        They differ from a text that was given this limit only by capitals or spaces.
        """
        strictest: dict[Value, Fraction] = {}
        for value, limit in self.given:
            folded = _folded(value)
            strictest[folded] = min(limit, strictest.get(folded, limit))
        return tuple(
            value for value, limit in limits if limit > strictest.get(_folded(value), limit)
        )

    def diversity(self, counts: Mapping[V, int]) -> "DiversityRange":
        """Which l-diversity would keep the limits, and which the table allows."""
        occurring, limits = _occurring(counts), self.of(counts)
        if not occurring:
            return DiversityRange(1, 1)
        strictest = min(limits.values())
        least = -(-strictest.denominator // strictest.numerator)  # 1 / limit, rounded up
        return DiversityRange(least, sum(occurring.values()) // max(occurring.values()))

    def to_dict(self) -> dict[str, Any]:
        """The limits as plain values.

        They are those given, by value or by class, and the one that holds for all others.
        """
        parts: dict[str, Any] = {}
        if self.named:
            parts["classes"] = {
                name: {"limit": printed(limit), "values": list(map(_plain, values))}
                for name, limit, values in self.named
            }
        elif self.given:
            parts["values"] = [[_plain(value), printed(limit)] for value, limit in self.given]
        if isinstance(self.others, Linear):
            parts["others"] = {"a": printed(self.others.a), "b": printed(self.others.b)}
        elif self.others is not None:
            parts["others"] = printed(self.others)
        return parts


class BlockedValue(NamedTuple):
    """A value with a larger share of a block of people than its limit.

    `agree` is what the people of the block have in common, by column.
    """

    agree: Mapping[str, str]
    value: Value
    share: Fraction
    limit: Fraction


@dataclass(frozen=True)
class Eligibility:
    """Whether buckets can keep limits, and what about them deserves a warning.

    They can if no value has a larger share of the table than its limit, nor of any block of people
    who share buckets. Which values prevent it is for the owner: neither the text nor the error nor
    the concerns of this object contain them.

    >>> eligibility = Limits.formula("0.5", "0.1").eligibility({"HIV": 2, "flu": 98})
    >>> eligibility.holds, eligibility.preventing
    (False, {'flu': (Fraction(49, 50), Fraction(59, 100))})
    >>> eligibility
    Eligibility(holds=False)
    """

    preventing: dict[Value, tuple[Fraction, Fraction]]
    """The values that prevent it, each with its share of the table and its limit."""

    unprotected: dict[Value, int]
    """The values with a limit of 1, and how often each occurs."""

    unused: tuple[Value, ...]
    """The values that were given a limit and do not occur: misspelt, perhaps."""

    resembling: tuple[Value, ...] = ()
    """Values with a larger limit than one from which they differ by capitals and spaces only: the
    same, perhaps.
    """

    shares: dict[Value, tuple[Fraction, Fraction]] = field(default_factory=dict)
    """All values that occur, each with its share of the table and its limit."""

    blocked: tuple[BlockedValue, ...] = ()
    """What prevents buckets within blocks of people, where these are asked for."""

    @property
    def holds(self) -> bool:
        return not self.preventing and not self.blocked

    def __repr__(self) -> str:
        return f"Eligibility(holds={self.holds})"

    def require(self) -> None:
        """Raise InfeasibleError unless the limits can be kept.

        The error does not say which value prevents it, as errors go into logs.
        """
        if self.preventing:
            raise InfeasibleError(
                "some value has a larger share of the table than its limit, "
                "so no buckets can keep that limit",
                "raise the limits of frequent values: `shoal limits` shows the owner which",
            )

    @property
    def concerns(self) -> tuple[str, ...]:
        """What the owner should know, and nobody else, as it follows from the data.

        No concern names a value.
        """
        return tuple(self._concerns())

    def _concerns(self) -> Iterator[str]:
        if self.unprotected:
            values = plural(len(self.unprotected), "sensitive value")
            records = plural(sum(self.unprotected.values()), "record")
            yield (
                f"{values} of the table, with {records}, may be linked to a person with "
                "certainty, as the limit is 1: such a record may be alone in its bucket, "
                "which publishes it exactly"
            )
        if self.unused:
            values = plural(len(self.unused), "value")
            own, occur = ("its", "occurs") if len(self.unused) == 1 else ("their", "occur")
            yield (
                f"{values} with a limit of {own} own never {occur} in the table; if that is a "
                "spelling mistake, the value that was meant has the limit of all others"
            )
        if self.resembling:
            values = plural(len(self.resembling), "sensitive value")
            yield (
                f"{values} of the table may be the same as one with a stricter limit, but for "
                "capitals or spaces: clean the column, or give it that limit too"
            )


@dataclass(frozen=True)
class DiversityRange:
    """How l-diversity relates to limits.

    Here a bucket is l-diverse if no value has more than 1/l of its records.

    `least` is the smallest l that keeps every limit, as 1/l is at most the strictest; `most` is the
    largest l that the table allows, as its most frequent value has more than 1/l of all records for
    any larger one.

    >>> print(Limits.formula(2, "0.05").diversity({"HIV": 1, "flu": 9, "cold": 40}).statement)
    no l-diversity would keep these limits: the strictest needs l = 12, and the most frequent \
value allows at most l = 1
    """

    least: int
    most: int

    @property
    def holds(self) -> bool:
        """Whether one l does both."""
        return self.least <= self.most

    @property
    def statement(self) -> str:
        if self.holds:
            return (
                f"{self.least}-diversity would keep these limits, with the strictest one for "
                f"every value: no bucket would have fewer than {plural(self.least, 'record')}"
            )
        return (
            f"no l-diversity would keep these limits: the strictest needs l = {self.least}, "
            f"and the most frequent value allows at most l = {self.most}"
        )


@typed
@brief
@dataclass(frozen=True)
class BucketLimits:
    """F′-privacy of a release of two tables.

    One has people with bucket numbers, the other buckets with the values of one `column`.

    `fakes` is how many values that nobody has were added to every bucket.

    >>> print(BucketLimits("disease", Limits.formula(2, "0.05")).statement.partition(";")[0])
    F′-privacy of 'disease': nobody is linked to a value of it with a probability above the limit \
of that value, which is min{1, 2·f + 0.05} with f its share of all records
    """

    column: str
    limits: Limits
    fakes: int = 0
    unit: str | None = None

    name: ClassVar[str] = "F'-privacy"
    public_choices: ClassVar[bool] = True
    unprotected: ClassVar[tuple[str, ...]] = (
        "people in several rows of the input, unless one row of each was drawn: "
        "what their buckets have in common reveals more than each bucket alone",
        "everybody's other columns, which are released unchanged: anyone can see who is "
        "in the table",
        "how often each sensitive value occurs, in the whole table and in every bucket",
        "against someone who knows the values of some people of a bucket, or how values relate "
        "to other columns: they learn more about the others",
        "facts about several people together: two people of a bucket cannot both have a value "
        "that occurs in it once",
        "several releases about the same people: with different buckets, they reveal more "
        "together than each alone",
    )

    def __post_init__(self) -> None:
        if not self.column:
            raise ParameterError("F'-privacy is about one column", "give its name")
        object.__setattr__(self, "fakes", whole(self.fakes, "fakes", 0))
        unit_of(self.unit)

    @property
    def statement(self) -> str:
        hidden, nearly = "", ""
        if self.fakes:
            hidden = f" beyond what its {plural(self.fakes, 'fake value')} can hide"
            nearly = " nearly"
        promised = (
            f"F′-privacy of {self.column!r}: nobody is linked to a value of it with a probability "
            f"above the limit of that value, which is {self._limits()}; against someone who knows "
            "who is in the table, everybody's quasi-identifiers, both released tables, the limits "
            "and the algorithm, and to whom, before, all ways in which these people may have "
            "these values were equally likely. It does not hold against someone who knows the "
            f"values of others in a bucket{hidden}, or who knows, or learns from the release, how "
            "values go with quasi-identifiers; and it says nothing about several people together, "
            "about whether somebody is in the table, or about how often a value occurs, which the "
            f"release shows{nearly}"
        )
        if self._certain():
            promised += ". A value with the limit 1 may be linked to people with certainty"
        return promised + of_people(self.unit)

    def _certain(self) -> bool:
        """Whether some value may have the limit 1."""
        others = self.limits.others
        limits = [limit for _, limit in self.limits.given]
        return isinstance(others, Linear) or others == 1 or 1 in limits

    def _limits(self) -> str:
        """The limits in words."""
        given, named, others = self.limits.given, self.limits.named, self.limits.others
        parts = [
            f"{printed(limit)} for each value of the class {name!r}" for name, limit, _ in named
        ]
        if given and not named:
            strictest = printed(min(limit for _, limit in given))
            parts.append(f"given for {plural(len(given), 'value')} by name (at least {strictest})")
        rest = None
        if isinstance(others, Linear):
            rest = f"{others} with f its share of all records"
        elif others is not None:
            rest = printed(others)
        if rest is not None:
            parts.append(f"and for any other {rest}" if given else rest)
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "promise": self.name,
            "column": self.column,
            "limits": self.limits.to_dict(),
            "fakes": self.fakes,
            **unit_part(self.unit),
        }


def _limit(limit: Exact, option: str) -> Fraction:
    return fraction(limit, option, 0, 1, above=True)


def _pairs(classes: Iterable[LimitClass]) -> Iterator[tuple[Value, Fraction]]:
    """The values of classes, each with its limit."""
    for _, limit, values in classes:
        for value in values:
            yield value, limit


def _occurring(counts: Mapping[V, int]) -> dict[V, int]:
    """The values that occur, and how often."""
    checked = {value: whole(count, "a count", 0) for value, count in counts.items()}
    return {value: count for value, count in checked.items() if count}


def _folded(value: Value) -> Value:
    """A text without what slips of the pen differ by."""
    return " ".join(value.split()).casefold() if isinstance(value, str) else value


def _plain(value: Value) -> str | int | float | None:
    return value if value is None or isinstance(value, str | int | float) else value.isoformat()
