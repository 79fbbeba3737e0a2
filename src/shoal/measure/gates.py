"""`RiskLimits`: what an assessment must stay within, for pipelines that stop where it does not.
Uses `risk`.

A table that cannot be judged by a limit violates it: there is nothing in it, or its rows are not
people.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction

from shoal.arguments import typed
from shoal.errors import ParameterError, listed, plural
from shoal.exact.numbers import Exact, fraction, percent, printed, whole
from shoal.measure.risk import Assessment

__all__ = ["Amount", "RiskLimits", "Violation"]


@dataclass(frozen=True)
class Amount:
    """A number of records, or a share of them.

    >>> Amount.of(10, "max_uniques").is_share, Amount.of("1%", "max_uniques").amount
    (False, Fraction(1, 100))
    """

    text: str
    amount: Fraction
    is_share: bool

    @classmethod
    def of(cls, given: "Amount | Exact", option: str) -> "Amount":
        """10 is a number of records; 0.01, 1/100 and 1% are the same share."""
        if isinstance(given, Amount):
            return given
        if not isinstance(given, str):
            # Also what is not a number at all, which no message shows.
            given = printed(fraction(given, option))
        text = given
        if text.isdecimal():
            return cls(text, fraction(text, option), False)
        try:
            return cls(text, share(text, option), True)
        except ParameterError as error:
            fix = "it takes a number of records such as 10, or a share such as 1%"
            raise ParameterError(error.what, fix, option=option, given=text) from None

    @property
    def is_all(self) -> bool:
        return self.is_share and self.amount == 1

    def is_exceeded(self, number: int, records: int) -> bool:
        """Whether a number of the records is more than this."""
        return number > (self.amount * records if self.is_share else self.amount)


def share(given: Exact, option: str) -> Fraction:
    """A share of a whole: 0.2, 1/5 and 20% are the same.

    >>> share("20%", "threshold")
    Fraction(1, 5)
    """
    if isinstance(given, str) and given.endswith("%"):
        return fraction(given[:-1], option, 0, 100) / 100
    return fraction(given, option, 0, 1)


@dataclass(frozen=True)
class Violation:
    """A limit that is not kept: which one, its value, and what the table has instead."""

    limit: str
    given: str
    what: str

    def __str__(self) -> str:
        return f"{self.limit}={self.given}: {self.what}"


@typed
@dataclass(frozen=True)
class RiskLimits:
    """Limits on the risks of a table.

    min_k: records in the smallest group
    max_risk: the highest prosecutor risk of a record
    max_at_risk, max_uniques: records at risk, or alone in their group: a number such as 10, or a
    share such as "1%"
    min_l: distinct sensitive values in every group
    max_t: the distance of any group from the table, for every sensitive column (t-closeness)

    >>> import polars, shoal
    >>> people = shoal.table(polars.DataFrame({"age": [31, 31, 47]}), quasi=["age"])
    >>> [str(violation) for violation in RiskLimits(min_k=2).violated(shoal.assess(people))]
    ['min_k=2: the smallest group has 1 record']
    """

    min_k: int | None = None
    max_risk: Exact | None = None
    max_at_risk: Amount | Exact | None = None
    max_uniques: Amount | Exact | None = None
    min_l: int | None = None
    max_t: Exact | None = None

    def __post_init__(self) -> None:
        converted: dict[str, Callable[..., object]] = {
            "min_k": whole,
            "min_l": whole,
            "max_risk": share,
            "max_at_risk": Amount.of,
            "max_uniques": Amount.of,
            "max_t": lambda given, option: fraction(given, option, 0, 1),
        }
        for name, convert in converted.items():
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, convert(given, name))
        for name in self._never_violated():
            raise ParameterError(
                "can never be violated: it holds for every table",
                "give a stricter limit, or none",
                option=name,
                given=self._given(name),
            )

    def require_possible(self, threshold: Fraction) -> None:
        """ParameterError if no record can be at risk above a threshold.

        Whoever limits the number of such records believes that the limit is checked.
        """
        if self.max_at_risk is not None and threshold == 1:
            raise ParameterError(
                "can never be violated with `threshold=1`: no risk is above 1",
                "lower the threshold",
                option="max_at_risk",
            )

    def names(self) -> list[str]:
        """The limits that are given."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]

    def violated(self, assessment: Assessment) -> list[Violation]:
        """The limits that are not kept.

        All of them where there is nothing to judge, or rows are not people.
        """
        why = not_judged(assessment)
        if why:
            return [Violation(name, self._given(name), why) for name in self.names()]
        return [
            Violation(name, self._given(name), what)
            for name, what in self._exceeded(assessment)
            if getattr(self, name) is not None
        ]

    def _exceeded(self, assessment: Assessment) -> Iterator[tuple[str, str]]:
        risk = assessment.prosecutor
        k = assessment.k or 0
        people = assessment.people if assessment.person is not None else None
        number = assessment.records if people is None else people
        who = "record" if people is None else "person"
        if self.min_k is not None and k < self.min_k:
            yield "min_k", f"the smallest group has {many(k, who)}"
        # Exact, where 1/k as a float is not.
        if self.max_risk is not None and Fraction(self.max_risk) * k < 1:
            yield "max_risk", f"the highest risk is {risk.highest:.4g}"
        at_risk = risk.records_at_risk
        if _is_exceeded(self.max_at_risk, at_risk, number):
            share = percent(risk.at_risk)
            above = f"{assessment.threshold:g}"
            yield (
                "max_at_risk",
                f"{many(at_risk, who)} ({share}) {_is(at_risk)} at risk above {above}",
            )
        uniques = assessment.uniques
        if _is_exceeded(self.max_uniques, uniques, number):
            share = percent(assessment.sample_uniqueness)
            yield (
                "max_uniques",
                f"{many(uniques, who)} ({share}) {_is(uniques)} alone in their group",
            )
        yield from self._sensitive(assessment)

    def _sensitive(self, assessment: Assessment) -> Iterator[tuple[str, str]]:
        for name, diversity in assessment.sensitive.items():
            if self.min_l is not None and diversity.distinct < self.min_l:
                values = plural(diversity.distinct, "distinct value")
                yield "min_l", f"a group has {values} of {name!r}"
            # Closeness is the float nearest to the exact distance: compared with the float nearest
            # to t.
            if self.max_t is not None and diversity.closeness > float(Fraction(self.max_t)):
                distance = f"{diversity.closeness:.4g}"
                yield "max_t", f"a group is {distance} away from the table in {name!r}"

    def _never_violated(self) -> list[str]:
        """The limits that no table violates."""
        idle = {
            "min_k": self.min_k == 1,
            "max_risk": self.max_risk == 1,
            "max_at_risk": isinstance(self.max_at_risk, Amount) and self.max_at_risk.is_all,
            "max_uniques": isinstance(self.max_uniques, Amount) and self.max_uniques.is_all,
            "min_l": self.min_l == 1,
            "max_t": self.max_t == 1,
        }
        return [name for name, is_idle in idle.items() if is_idle]

    def _given(self, name: str) -> str:
        value = getattr(self, name)
        if isinstance(value, Amount):
            return value.text
        return f"{float(value):g}" if isinstance(value, Fraction) else str(value)


def _is_exceeded(limit: object, number: int, records: int) -> bool:
    return isinstance(limit, Amount) and limit.is_exceeded(number, records)


REPEATED_FIX = (
    "Name the column that tells people apart with `person`, or give `rows_are_people` if every row "
    "is a different person"
)


def repeats(assessment: Assessment) -> str:
    """By which columns people seem to be in several rows."""
    return f"people seem to be in several rows, by {listed(assessment.repeated)}"


def not_judged(assessment: Assessment) -> str:
    """Why a table cannot be judged; empty if it can."""
    if assessment.k is None:
        reason = "every row is suppressed" if assessment.rows else "the table has no rows"
        return f"nothing to judge: {reason}"
    if assessment.repeated:
        return f"rows are not people: {repeats(assessment)}. {REPEATED_FIX}"
    return ""


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def many(number: int, who: str) -> str:
    """A number of records or people.

    >>> many(2, "person"), many(1, "record")
    ('2 people', '1 record')
    """
    return f"{number:,} people" if who == "person" and number != 1 else plural(number, who)
