"""Places: countries, the states of the US and of Germany, and postcodes.

Uses `build` and `form`; the catalogue uses it.
"""

import math
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from shoal.data.hierarchy.build import mask
from shoal.data.hierarchy.ready_made.form import Path, ReadyMade, WrittenForm, rows
from shoal.data.hierarchy.tree import Hierarchy

__all__ = ["PLACES"]

FACTS = "facts, free to use"


# Countries and states

_PARENTS = {
    "Northern Africa": ("Northern Africa", "Africa"),
    "Eastern Africa": ("Sub-Saharan Africa", "Africa"),
    "Middle Africa": ("Sub-Saharan Africa", "Africa"),
    "Southern Africa": ("Sub-Saharan Africa", "Africa"),
    "Western Africa": ("Sub-Saharan Africa", "Africa"),
    "Caribbean": ("Latin America and the Caribbean", "Americas"),
    "Central America": ("Latin America and the Caribbean", "Americas"),
    "South America": ("Latin America and the Caribbean", "Americas"),
    "Northern America": ("Northern America", "Americas"),
    "Central Asia": ("Central Asia", "Asia"),
    "Eastern Asia": ("Eastern Asia", "Asia"),
    "South-eastern Asia": ("South-eastern Asia", "Asia"),
    "Southern Asia": ("Southern Asia", "Asia"),
    "Western Asia": ("Western Asia", "Asia"),
    "Eastern Europe": ("Eastern Europe", "Europe"),
    "Northern Europe": ("Northern Europe", "Europe"),
    "Southern Europe": ("Southern Europe", "Europe"),
    "Western Europe": ("Western Europe", "Europe"),
    "Australia and New Zealand": ("Australia and New Zealand", "Oceania"),
    "Melanesia": ("Melanesia", "Oceania"),
    "Micronesia": ("Micronesia", "Oceania"),
    "Polynesia": ("Polynesia", "Oceania"),
    # M49 puts it into no region.
    "Antarctica": ("Antarctica", "Antarctica"),
}
"""The sub-region and the region of M49 that each of its finest regions lies in."""


@cache
def _countries(form: str) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for row in rows("countries.csv"):
        finest = row["sub-region"]
        names = [row[form]]
        if form == "name":
            names += filter(None, row["other names"].split("|"))
        found |= dict.fromkeys(names, (finest, *_PARENTS[finest]))
    return found


@cache
def _states(file: str, form: str, above: tuple[str, ...]) -> dict[str, Path]:
    return {row[form]: tuple(row[level] for level in above) for row in rows(file)}


def _country_form(form: str, example: str) -> WrittenForm:
    return WrittenForm(
        example,
        leaves=lambda: _countries(form),
        path=lambda value: _countries(form).get(value),
    )


def _state_forms(
    file: str, above: tuple[str, ...], examples: Mapping[str, str]
) -> dict[str, WrittenForm]:
    def form(name: str) -> WrittenForm:
        return WrittenForm(
            examples[name],
            leaves=lambda: _states(file, name, above),
            path=lambda value: _states(file, name, above).get(value),
        )

    return {name: form(name) for name in examples}


# Postcodes

_LETTERS = string.ascii_uppercase
_DIGITS = string.digits


@dataclass(frozen=True)
class _Pattern:
    """How postcodes are written: 9 is a digit, A a letter, [xyz] one of these, all else itself.

    hidden: how many characters each level hides
    """

    text: str
    hidden: tuple[int, ...]

    @property
    def alphabets(self) -> list[str]:
        """The characters that may stand at every place."""
        found = []
        for part in re.findall(r"\[[^]]*\]|.", self.text):
            if part.startswith("["):
                found.append(part[1:-1])
            else:
                found.append({"9": _DIGITS, "A": _LETTERS}.get(part, part))
        return found

    def matches(self, value: str) -> bool:
        alphabets = self.alphabets
        return len(value) == len(alphabets) and all(
            character in allowed for character, allowed in zip(value, alphabets, strict=True)
        )

    def path(self, value: str) -> Path | None:
        if not self.matches(value):
            return None
        return [value[:-hidden] + "*" * hidden for hidden in self.hidden]

    def build(self, root: str) -> Hierarchy:
        return mask(alphabet=self.alphabets, steps=self.hidden, root=root)


def _pattern(example: str, text: str, *hidden: int, listed: bool = True) -> WrittenForm:
    pattern = _Pattern(text, hidden)
    if not listed:
        return WrittenForm(example, path=pattern.path)
    size = math.prod(map(len, pattern.alphabets))
    return WrittenForm(example, path=pattern.path, build=pattern.build, size=size)


_CANADIAN = "ABCEGHJKLMNPRSTVWXYZ"
_FIRST_CANADIAN = "ABCEGHJKLMNPRSTVXY"
_IRISH = "ACDEFHKNPRTVWXY"

_BRITISH_AREAS = [row["area"] for row in rows("british-areas.csv")]
_DISTRICT = re.compile(f"({'|'.join(_BRITISH_AREAS)})([0-9]{{1,2}}|[0-9][A-Z])")
_UNIT = re.compile(rf"({_DISTRICT.pattern}) ?([0-9])[A-Z]{{2}}")


def _districts() -> Iterator[str]:
    for area in _BRITISH_AREAS:
        for number in range(10):
            yield f"{area}{number}"
            yield from (f"{area}{number}{last}" for last in _DIGITS + _LETTERS)


def _british_district(value: str) -> Path | None:
    match = _DISTRICT.fullmatch(value)
    return None if match is None else (match[1],)


def _british_unit(value: str) -> Path | None:
    match = _UNIT.fullmatch(value)
    return None if match is None else (f"{match[1]} {match[4]}", match[1], match[2])


@cache
def _routing_keys() -> dict[str, Path]:
    keys = [f"{letter}{number:02}" for letter in _IRISH for number in range(100)]
    return {key: (key[0],) for key in (*keys, "D6W")}


def _eircode(value: str) -> Path | None:
    key = value[:3]
    unique = re.fullmatch(" ?[0-9A-Z]{4}", value[3:])
    return (key, key[0]) if unique and key in _routing_keys() else None


_SMALL = frozenset(row["prefix"] for row in rows("small-zips.csv"))
"""The first three digits of ZIP codes with 20,000 people or fewer by the census of 2000 or 2010."""


def _safe_zip(value: str, digits: int) -> Path | None:
    if re.fullmatch(f"[0-9]{{{digits}}}", value) is None or value.startswith("000"):
        return None
    first = "000" if value[:3] in _SMALL else value[:3]
    return (first + "*" * (digits - 3),)


def _safe_zips(digits: int, example: str) -> WrittenForm:
    return WrittenForm(
        example,
        # No place has 000, and by the rule it stands for all that are hidden.
        leaves=lambda: (f"{number:0{digits}}" for number in range(10 ** (digits - 3), 10**digits)),
        path=lambda value: _safe_zip(value, digits),
    )


_POSTCODES: dict[str, tuple[str, dict[str, WrittenForm]]] = {
    "at": ("postcodes of Austria", {"whole": _pattern("1010", "[123456789]999", 1, 2, 3)}),
    "au": ("postcodes of Australia", {"whole": _pattern("2000", "9999", 1, 2, 3)}),
    "be": ("postcodes of Belgium", {"whole": _pattern("1000", "[123456789]999", 1, 2, 3)}),
    "br": (
        "postcodes of Brazil",
        {
            "first-5": _pattern("01310", "99999", 1, 2, 3, 4),
            "whole": _pattern("01310-100", "99999-999", 4, 5, 6, 7, 8, listed=False),
        },
    ),
    "ca": (
        "postcodes of Canada",
        {
            "first-3": _pattern("K1A", f"[{_FIRST_CANADIAN}]9[{_CANADIAN}]", 1, 2),
            "whole": _pattern(
                "K1A 0B1",
                f"[{_FIRST_CANADIAN}]9[{_CANADIAN}] 9[{_CANADIAN}]9",
                4,
                5,
                6,
                listed=False,
            ),
        },
    ),
    "ch": ("postcodes of Switzerland", {"whole": _pattern("8001", "[123456789]999", 1, 2, 3)}),
    "de": ("postcodes of Germany", {"whole": _pattern("10115", "99999", 1, 2, 3, 4)}),
    "dk": ("postcodes of Denmark", {"whole": _pattern("2100", "9999", 1, 2, 3)}),
    "es": ("postcodes of Spain", {"whole": _pattern("28013", "[012345]9999", 1, 2, 3, 4)}),
    "fr": ("postcodes of France", {"whole": _pattern("75001", "99999", 1, 2, 3, 4)}),
    "gb": (
        "postcodes of the United Kingdom",
        {
            "outward": WrittenForm("SW1A", leaves=_districts, path=_british_district),
            "whole": WrittenForm("SW1A 1AA", path=_british_unit),
        },
    ),
    "ie": (
        "postcodes of Ireland",
        {
            "routing-key": WrittenForm(
                "A65", leaves=_routing_keys, path=lambda value: _routing_keys().get(value)
            ),
            "whole": WrittenForm("A65 F4E2", path=_eircode),
        },
    ),
    "in": ("postcodes of India", {"whole": _pattern("110001", "[123456789]99999", 3, 4, 5)}),
    "it": ("postcodes of Italy", {"whole": _pattern("00118", "99999", 1, 2, 3, 4)}),
    "jp": (
        "postcodes of Japan",
        {
            "first-3": _pattern("100", "999", 1, 2),
            "whole": _pattern("100-0001", "999-9999", 2, 3, 5, 6, 7, listed=False),
        },
    ),
    "nl": (
        "postcodes of the Netherlands",
        {
            "digits": _pattern("1012", "[123456789]999", 1, 2, 3),
            "whole": _pattern("1012 AB", "[123456789]999 AA", 2, 3, 4, 5, 6, listed=False),
            "plain": _pattern("1012AB", "[123456789]999AA", 1, 2, 3, 4, 5, listed=False),
        },
    ),
    "no": ("postcodes of Norway", {"whole": _pattern("0150", "9999", 1, 2, 3)}),
    "pl": (
        "postcodes of Poland",
        {
            "whole": _pattern("00-950", "99-999", 1, 2, 4, 5),
            "plain": _pattern("00950", "99999", 1, 2, 3, 4),
        },
    ),
    "se": (
        "postcodes of Sweden",
        {
            "plain": _pattern("11455", "[123456789]9999", 1, 2, 3, 4),
            "whole": _pattern("114 55", "[123456789]99 99", 1, 3, 4, 5),
        },
    ),
    "us": (
        "postcodes of the United States",
        {
            "whole": _pattern("20500", "99999", 1, 2, 3, 4),
            "first-3": _pattern("205", "999", 1, 2),
        },
    ),
}
"""By country: what they are, and how its postcodes are written.

The patterns may allow codes that no place has. They never have a code in two places.
"""

_POSTCODE_LEVELS: dict[str, tuple[str, ...]] = {
    "gb": ("unit", "sector", "district", "area"),
    "ie": ("code", "routing key", "letter"),
}


def _postcodes() -> Iterator[ReadyMade]:
    for code, (about, forms) in _POSTCODES.items():
        levels = _POSTCODE_LEVELS.get(code, ("code", "fewer and fewer leading characters"))
        yield ReadyMade(
            f"postcodes-{code}",
            about,
            levels,
            forms,
            "how the country's postal operator writes them; see the Universal Postal Union's "
            "addressing systems",
            FACTS,
        )


PLACES: Sequence[ReadyMade] = (
    ReadyMade(
        "countries",
        "countries, in the regions of the United Nations",
        ("country", "finest region", "sub-region", "region"),
        {
            "alpha-2": _country_form("alpha-2", "FR"),
            "alpha-3": _country_form("alpha-3", "FRA"),
            "numeric": _country_form("numeric", "250"),
            "name": _country_form("name", "France"),
        },
        "ISO 3166-1; regions by the United Nations' M49, with Taiwan in Eastern Asia",
        FACTS,
    ),
    ReadyMade(
        "us-states",
        "states and territories of the United States, in census divisions and regions",
        ("state", "division", "region"),
        _state_forms(
            "us-states.csv",
            ("division", "region"),
            {"postal": "CA", "fips": "06", "name": "California"},
        ),
        "US Census Bureau, census regions and divisions; FIPS codes of states",
        "public domain",
    ),
    ReadyMade(
        "german-states",
        "Länder of Germany, West and East",
        ("Land", "West or East"),
        _state_forms(
            "german-states.csv",
            ("part",),
            {"code": "BY", "number": "09", "name": "Bayern"},
        ),
        "ISO 3166-2:DE; numbers of the official municipality key; parts as Destatis reports them",
        FACTS,
    ),
    *_postcodes(),
    ReadyMade(
        "postcodes-us-hipaa",
        "ZIP codes of the United States, by the rule of HIPAA's safe harbour",
        ("code", "first three digits, 000 where few live"),
        {"whole": _safe_zips(5, "20500"), "first-3": _safe_zips(3, "205")},
        "45 CFR 164.514(b)(2)(i)(B); prefixes with 20,000 people or fewer by the censuses of 2000 "
        "and 2010",
        "public domain",
    ),
)
"""Their entries."""
