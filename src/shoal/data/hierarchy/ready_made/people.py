"""What is known of most people: sex, age, marital status, education, dates and years.

Uses `build` and `form`; the catalogue uses it.
"""

from collections.abc import Mapping, Sequence

from shoal.data.hierarchy.build import dates, intervals
from shoal.data.hierarchy.ready_made.form import ReadyMade, WrittenForm
from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["PEOPLE"]

OWN = "made for Shoal"
FREE = "Apache-2.0, as Shoal itself"
FACTS = "facts, free to use"


def _listed(groups: Mapping[str, Sequence[str]] | Sequence[str]) -> WrittenForm:
    """Values in groups with names, or values that only the root is above."""
    paths: dict[str, tuple[str, ...]] = {}
    if isinstance(groups, Mapping):
        for group, values in groups.items():
            paths |= dict.fromkeys(values, (group,))
    else:
        paths = dict.fromkeys(groups, ())
    return WrittenForm(next(iter(paths)), leaves=lambda: paths, path=paths.get)


def _age(root: str) -> Hierarchy:
    return intervals(0, top=90, widths=[5, 10, 20], root=root)


def _days(root: str) -> Hierarchy:
    return dates("1900-01-01", "2099-12-31", ["month", "quarter", "year", "decade"], root=root)


def _years(root: str) -> Hierarchy:
    return intervals(1900, 2099, widths=[5, 10, 20], root=root)


PEOPLE = (
    ReadyMade(
        "sex",
        "sex or gender",
        ("sex",),
        {
            "words": _listed(["female", "male", "other", "unknown"]),
            "capitals": _listed(["Female", "Male", "Other", "Unknown"]),
            "letters": _listed(["F", "M", "X", "U"]),
            "small-letters": _listed(["f", "m", "x", "u"]),
            "numbers": _listed(["1", "2", "0", "9"]),
            "german": _listed(["weiblich", "männlich", "divers", "ohne Angabe"]),
            "german-letters": _listed(["w", "m", "d", "x"]),
        },
        "words: administrative gender of HL7 FHIR; numbers: ISO/IEC 5218",
        FACTS,
    ),
    ReadyMade(
        "age",
        "ages in whole years, 90 and above as one value",
        ("age", "5 years", "10 years", "20 years"),
        {"years": WrittenForm("39", build=_age)},
        f"{OWN}; one value from 90 on as 45 CFR 164.514(b)(2)(i)(C) asks",
        FREE,
    ),
    ReadyMade(
        "dates",
        "days from 1900 to 2099, written as 2024-12-31",
        ("day", "month", "quarter", "year", "decade"),
        {"iso": WrittenForm("2024-12-31", build=_days)},
        "the calendar; days as ISO 8601 writes them",
        FACTS,
    ),
    ReadyMade(
        "years",
        "years from 1900 to 2099, such as years of birth",
        ("year", "5 years", "10 years", "20 years"),
        {"years": WrittenForm("1987", build=_years)},
        OWN,
        FREE,
    ),
    ReadyMade(
        "marital-status",
        "marital status",
        ("status", "whether partnered"),
        {
            "words": _listed(
                {
                    "never married": ["never married"],
                    "partnered": ["married", "registered partnership"],
                    "formerly partnered": ["separated", "divorced", "widowed"],
                }
            ),
            "german": _listed(
                {
                    "ledig": ["ledig"],
                    "in Partnerschaft": ["verheiratet", "eingetragene Lebenspartnerschaft"],
                    "früher in Partnerschaft": ["getrennt lebend", "geschieden", "verwitwet"],
                }
            ),
        },
        f"the categories of the United Nations' recommendations for censuses; groups {OWN}",
        FREE,
    ),
    ReadyMade(
        "isced-2011",
        "education: levels 0 to 8 of ISCED 2011",
        ("level", "low, medium or high"),
        {
            "level": _listed({"0-2": "012", "3-4": "34", "5-8": "5678"}),
            "eurostat": _listed(
                {
                    "ED0-2": ["ED0", "ED1", "ED2"],
                    "ED3_4": ["ED3", "ED4"],
                    "ED5-8": ["ED5", "ED6", "ED7", "ED8"],
                }
            ),
        },
        "UNESCO Institute for Statistics, ISCED 2011; low, medium and high as Eurostat groups them",
        FACTS,
    ),
)
"""Their entries."""
