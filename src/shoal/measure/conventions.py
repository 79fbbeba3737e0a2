"""Thresholds that people go by, as data, and whether an assessment keeps them.

Each convention says what it asks of which figure, and where that is written. Uses `risk` and
`gates`; `Assessment.verdict` and the doors use it.

A convention is about one table. It promises nothing against someone who knows the algorithm.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from shoal.exact.numbers import percent
from shoal.measure.gates import many, not_judged
from shoal.measure.risk import THRESHOLD, Assessment
from shoal.zones import brief, owner_only

__all__ = ["CAVEAT", "CONVENTIONS", "Convention", "ConventionResult", "RiskVerdict", "judged"]

Figure = Literal["k", "at_risk", "marketer"]
"""What a convention limits: the smallest group, the share at risk, or the average risk."""

CAVEAT = "Keeping a group size is not a promise against someone who knows the algorithm."

_ROUNDING = Fraction(1, 1 << 40)
"""More than the error of an average that was added up in floats."""


@brief
@dataclass(frozen=True)
class Convention:
    """A threshold that people go by.

    limit: the least number of records in a group for `k`, the largest share for the others
    source: the document that has it
    note: what to know about reading it that way
    """

    name: str
    figure: Figure
    limit: Fraction
    source: str
    note: str = ""

    @property
    def asks(self) -> str:
        """What must hold.

        >>> CONVENTIONS[1].asks
        'groups of 5 or more, risk 20 %'
        """
        share = percent(float(self.limit))
        match self.figure:
            case "k":
                risk = percent(float(1 / self.limit))
                return f"groups of {self.limit} or more, risk {risk}"
            case "at_risk":
                above = percent(float(THRESHOLD))
                return f"at most {share} with a risk above {above}"
            case "marketer":
                return f"average risk of at most {share}"

    def keeps(self, value: Fraction) -> bool:
        """Whether a figure is within the limit, exactly."""
        return value >= self.limit if self.figure == "k" else value <= self.limit


_GLOSSARY = (
    "Glossary of Statistical Disclosure Control, joint UNECE/Eurostat work session on statistical "
    "data confidentiality, Geneva, 2005: threshold rule"
)
_EL_EMAM = (
    "K. El Emam, Guide to the De-Identification of Personal Health Information, 2013: Cell size "
    "precedents"
)
_ONTARIO = (
    "Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured "
    "Data, 2025, as reported by others"
)
_ARX = "ARX Data Anonymization Tool, default thresholds of its risk analysis (ModelRisk)"
_OF_CELLS = "It is about cells of published tables; here a group is taken for a cell."
_ABOUT = "The guidelines give the risk {risk} and the group size {size}; the size is compared."

CONVENTIONS = (
    Convention("threshold rule of 3", "k", Fraction(3), f"{_GLOSSARY}; {_EL_EMAM}", _OF_CELLS),
    Convention(
        "threshold rule of 5",
        "k",
        Fraction(5),
        f"{_GLOSSARY}; {_EL_EMAM}; {_ARX}: highest risk 0.2",
    ),
    Convention(
        "ACRO default",
        "k",
        Fraction(10),
        "ACRO (AI-SDC), tools for automatic checking of research outputs: safe_threshold 10",
        _OF_CELLS,
    ),
    Convention(
        "CMS cell size",
        "k",
        Fraction(11),
        "Centers for Medicare & Medicaid Services, CMS Cell Size Suppression Policy, 8 May 2017: "
        "no cell of 1 to 10",
        _OF_CELLS,
    ),
    Convention(
        "EMA policy 0070",
        "k",
        Fraction(11),
        "European Medicines Agency, External guidance on the implementation of policy 0070, "
        "EMA/90915/2016: risk of 0.09, as reported by others",
        "0.09 is usually read as groups of 11, whose risk 1/11 is 0.0909; 0.09 to the letter "
        "would be groups of 12.",
    ),
    Convention(
        "Ontario, low invasion",
        "k",
        Fraction(11),
        _ONTARIO,
        _ABOUT.format(risk="0.09", size=11),
    ),
    Convention(
        "Ontario, medium invasion",
        "k",
        Fraction(15),
        _ONTARIO,
        _ABOUT.format(risk="0.075", size=15),
    ),
    Convention(
        "Ontario, high invasion",
        "k",
        Fraction(20),
        _ONTARIO,
        _ABOUT.format(risk="0.05", size=20),
    ),
    Convention("ARX, records at risk", "at_risk", Fraction(1, 20), _ARX),
    Convention("ARX, success rate", "marketer", Fraction(1, 20), _ARX),
)
"""From the weakest to the strictest group size, then those on shares."""


@owner_only
@dataclass(frozen=True)
class ConventionResult:
    """A convention and what the table has.

    `value` and `passed` are None where that cannot be judged: there are no records, rows are not
    people, or the assessment used another threshold.
    """

    convention: Convention
    value: Fraction | None
    passed: bool | None

    @property
    def shown(self) -> str:
        """The figure for people: a number of records, or a share."""
        if self.value is None:
            return "not judged"
        return str(self.value) if self.convention.figure == "k" else percent(float(self.value))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        convention = self.convention
        return {
            "name": convention.name,
            "asks": convention.asks,
            "figure": convention.figure,
            "limit": float(convention.limit),
            "value": None if self.value is None else float(self.value),
            "passed": self.passed,
            "source": convention.source,
            "note": convention.note,
        }


@owner_only
@dataclass(frozen=True)
class RiskVerdict:
    """What the figures of an assessment mean, and which conventions they keep.

    `line` says it in plain English; a parameter in it stands in backticks. `of` is whom the figures
    are of.
    """

    line: str
    of: Literal["records", "people"]
    results: tuple[ConventionResult, ...]

    @property
    def passed(self) -> tuple[str, ...]:
        return tuple(result.convention.name for result in self.results if result.passed)

    @property
    def failed(self) -> tuple[str, ...]:
        return tuple(result.convention.name for result in self.results if result.passed is False)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        conventions = [result.to_dict() for result in self.results]
        return {"line": self.line, "of": self.of, "conventions": conventions}


def judged(assessment: Assessment) -> RiskVerdict:
    """What the figures mean, and which conventions they keep.

    >>> import polars, shoal
    >>> found = shoal.assess(polars.DataFrame({"age": [31, 31, 31, 47, 47, 47]}), quasi=["age"])
    >>> judged(found).passed
    ('threshold rule of 3',)
    """
    why_not = not_judged(assessment)
    values = {} if why_not else dict(_values(assessment))
    results = []
    for convention in CONVENTIONS:
        value = values.get(convention.figure)
        passed = None if value is None else convention.keeps(value)
        results.append(ConventionResult(convention, value, passed))
    if why_not:
        line = f"No convention can be judged: {why_not}."
    else:
        line = _line(assessment, [one for one in results if one.convention.figure == "k"])
    return RiskVerdict(line, _of(assessment), tuple(results))


def _of(assessment: Assessment) -> Literal["records", "people"]:
    return "records" if assessment.people is None else "people"


def _values(assessment: Assessment) -> Iterator[tuple[Figure, Fraction]]:
    """The figures that conventions limit, exactly or rounded to the safe side."""
    risk = assessment.prosecutor
    number = assessment.records
    if assessment.person is not None:
        number = assessment.people or 0
    yield "k", Fraction(assessment.k or 0)
    if assessment.threshold == float(THRESHOLD):
        yield "at_risk", Fraction(risk.records_at_risk, number)
    if assessment.person is None and assessment.journalist is None:
        yield "marketer", Fraction(assessment.groups, number)
    else:
        yield "marketer", Fraction(assessment.marketer) + _ROUNDING


def _line(assessment: Assessment, results: Sequence[ConventionResult]) -> str:
    """The verdict, by the conventions on group sizes."""
    passed = [result.convention for result in results if result.passed]
    failed = [result.convention for result in results if result.passed is False]
    if not passed:
        outcome = f"This fails every convention on group sizes, even {failed[0].name!r}."
    elif not failed:
        outcome = f"This passes every convention on group sizes, up to {_called(passed[-1])}."
    else:
        outcome = f"This passes {_called(passed[-1])} and fails {_called(failed[0])}."
    caveat = f" {CAVEAT}" if passed else ""
    return f"{_meaning(assessment)} {outcome}{caveat}"


def _meaning(assessment: Assessment) -> str:
    """What the smallest group means for somebody in it."""
    of_people = _of(assessment) == "people"
    someone = "Someone" if of_people else "If every row is another person, someone"
    k = assessment.k or 0
    chance = f"with a probability of up to 1 in {k:,}, the smallest group"
    if k == 1:
        uniques = many(assessment.uniques, "person" if of_people else "record")
        verb = "is" if assessment.uniques == 1 else "are"
        chance = f"for certain: {uniques} {verb} alone with these values"
    return f"{someone} known to be in the table can be recognised by these columns {chance}."


def _called(convention: Convention) -> str:
    return f"{convention.name!r} ({convention.asks})"
