"""Classifications whose codes say where they belong: occupations, industries, diseases.

Labels are codes too, which all languages share, and such that none reads as the code of something
else: 251* is all that begins with 251, and J18.- the category J18 with all below it. Uses
`form`; the catalogue uses it.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

from shoal.data.hierarchy.ready_made.form import Path, ReadyMade, WrittenForm, rows

__all__ = ["CLASSIFICATIONS"]

CODES = "codes and their order are facts, free to use; titles are not included"


# Occupations and industries


@cache
def _unit_groups() -> dict[str, Path]:
    """The unit groups of ISCO-08, each with what it is in."""
    found: dict[str, Path] = {}
    for row in rows("isco-08.csv"):
        minor = row["minor group"]
        for digit in row["unit groups"]:
            found[minor + digit] = _beginnings(minor + digit, 3, 2, 1)
    return found


@cache
def _classes(point: str = ".") -> dict[str, Path]:
    """The classes of NACE Rev. 2, each with what it is in."""
    found: dict[str, Path] = {}
    for row in rows("nace-2.csv"):
        division, group = row["group"].split(".")
        for digit in row["classes"]:
            code = f"{division}{point}{group}{digit}"
            found[code] = (*_beginnings(code, len(code) - 1, 2), row["section"])
    return found


def _beginnings(code: str, *lengths: int) -> Path:
    """A code with all behind some of its characters masked; a point is not."""
    return tuple(
        code[:length] + "".join("." if rest == "." else "*" for rest in code[length:])
        for length in lengths
    )


def _cut(paths: dict[str, Path], length: int) -> dict[str, Path]:
    """The same for codes of which only the first characters are known."""
    found: dict[str, Path] = {}
    for code, path in paths.items():
        # A label that tells the last of these characters is as fine as the code itself.
        coarser = [label for label in path if label[length - 1 : length] in ("*", "")]
        found[code[:length]] = tuple(label[:length] for label in coarser)
    return found


def _listed(paths: Callable[[], dict[str, Path]], example: str) -> WrittenForm:
    return WrittenForm(example, leaves=paths, path=lambda value: paths().get(value))


# Diseases


@cache
def _categories(file: str) -> dict[str, Path]:
    """Three-character categories, each with its block and its chapter.

    A block is a range of codes, whether or not all of them are in use.
    """
    found: dict[str, Path] = {}
    for row in rows(file):
        block = row["block"]
        for category in (*_between(block[:3], block[-3:]), *row.get("others", "").split()):
            found[category] = (block, row["chapter"])
    return found


def _between(first: str, last: str) -> Iterator[str]:
    for letter in range(ord(first[0]), ord(last[0]) + 1):
        for number in range(100):
            code = f"{chr(letter)}{number:02}"
            if first <= code <= last:
                yield code


_WITH_FIVE = 246_000
"""About how many codes of three to five characters there can be: 111 in each category."""


def _finer(file: str, point: str, listed: int, example: str) -> WrittenForm:
    """Codes of four characters or more; those with so many digits behind three can be listed."""
    written = re.compile(f"(...)({re.escape(point)}[0-9A-Z]{{1,4}})?")
    in_list = re.compile(f"...(?:{re.escape(point)}[0-9]{{1,{max(listed, 1)}}})?")

    def path(value: str) -> Path | None:
        match = written.fullmatch(value)
        above = _categories(file).get(match[1]) if match else None
        return None if above is None else (f"{value[:3]}{point}-", *above)

    def leaves() -> Iterator[str]:
        for category in _categories(file):
            yield category
            for digits in range(1, listed + 1):
                for number in range(10**digits):
                    yield f"{category}{point}{number:0{digits}}"

    def is_listed(value: str) -> bool:
        return in_list.fullmatch(value) is not None and path(value) is not None

    if not listed:
        return WrittenForm(example, path=path)
    size = _WITH_FIVE if listed > 1 else 0
    return WrittenForm(example, leaves=leaves, path=path, lists=is_listed, size=size)


def _diseases(file: str, listed: bool) -> dict[str, WrittenForm]:
    forms = {
        "category": _listed(lambda: _categories(file), "J18"),
        "dotted": _finer(file, ".", int(listed), "J18.9"),
        "plain": _finer(file, "", int(listed), "J189"),
    }
    if listed:
        # As in national versions, such as the German one.
        forms["dotted-5"] = _finer(file, ".", 2, "E11.74")
        forms["plain-5"] = _finer(file, "", 2, "E1174")
    return forms


CLASSIFICATIONS = (
    ReadyMade(
        "isco-08",
        "occupations: the codes of ISCO-08",
        ("unit group", "minor group", "sub-major group", "major group"),
        {
            "unit": _listed(_unit_groups, "2512"),
            "minor": _listed(lambda: _cut(_unit_groups(), 3), "251"),
            "sub-major": _listed(lambda: _cut(_unit_groups(), 2), "25"),
        },
        "International Labour Organization, International Standard Classification of Occupations "
        "2008",
        CODES,
    ),
    ReadyMade(
        "nace-2",
        "industries: the codes of NACE Rev. 2",
        ("class", "group", "division", "section"),
        {
            "class": _listed(_classes, "62.01"),
            "plain": _listed(lambda: _classes(""), "6201"),
            "group": _listed(lambda: _cut(_classes(), 4), "62.0"),
            "division": _listed(lambda: _cut(_classes(), 2), "62"),
        },
        "Regulation (EC) No 1893/2006, annex I",
        CODES,
    ),
    ReadyMade(
        "icd-10",
        "diseases: the codes of ICD-10",
        ("code", "category", "block", "chapter"),
        _diseases("icd-10.csv", listed=True),
        "World Health Organization, ICD-10, version of 2019",
        CODES,
    ),
    ReadyMade(
        "icd-10-cm",
        "diseases: the codes of the American ICD-10-CM",
        ("code", "category", "block", "chapter"),
        _diseases("icd-10-cm.csv", listed=False),
        "National Center for Health Statistics, ICD-10-CM, April 2026",
        "public domain",
    ),
)
"""Their entries."""
