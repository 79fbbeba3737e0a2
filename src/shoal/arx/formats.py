"""Values as ARX's formats write them, turned into what Shoal reads: ISO dates and plain numbers.

ARX takes the patterns of Java's SimpleDateFormat and DecimalFormat. Uses `data`; `project` and
recipes use it.
"""

import datetime as dt
import re
from collections.abc import Callable

from shoal.data.kinds import Kind

__all__ = ["NULL", "converter", "strftime_of"]

NULL = "NULL"
"""What ARX calls a missing value, in any case of letters."""

_LETTERS = {
    "y": {1: "%Y", 2: "%y", 3: "%Y", 4: "%Y"},
    "M": {1: "%m", 2: "%m", 3: "%b", 4: "%B"},
    "d": {1: "%d", 2: "%d"},
    "E": {1: "%a", 2: "%a", 3: "%a", 4: "%A"},
    "D": {1: "%j", 2: "%j", 3: "%j"},
    "H": {1: "%H", 2: "%H"},
    "h": {1: "%I", 2: "%I"},
    "m": {1: "%M", 2: "%M"},
    "s": {1: "%S", 2: "%S"},
    "a": {1: "%p", 2: "%p"},
}
"""Java's letters, by how often they stand in a row, as strftime has them."""

_TIMES = "HhKkmsSa"
_NAMES = ("%b", "%B", "%a", "%A")
_COMMAS = "BG CA CS DA DE EL ES ET FI FR HR HU IS IT LT LV NB NL NO PL PT RO RU SK SL SR SV TR UK"
"""Languages that write decimals with a comma."""

_SPACES = "BG CS ET FI FR HU LT LV NB NO PL RU SK SV UK"
"""Those of them that group digits by spaces, and not by points."""

_SPACE = "[ \u00a0\u202f]"


def strftime_of(pattern: str) -> str | None:
    """A pattern of Java as strftime writes it; None if it has something that strftime lacks.

    >>> strftime_of("dd.MM.yyyy"), strftime_of("yyyy-MM-dd'T'HH:mm"), strftime_of("w/yyyy")
    ('%d.%m.%Y', '%Y-%m-%dT%H:%M', None)
    """
    written = []
    for match in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'", pattern):
        part = match[0]
        if part == "'":
            return None
        if match[1] is not None:
            literal = match[1].replace("''", "'") or "'"
            written.append(literal.replace("%", "%%"))
        elif match[2] is not None:
            directive = _LETTERS.get(match[2], {}).get(len(part))
            if directive is None:
                return None
            written.append(directive)
        else:
            written.append(part.replace("%", "%%"))
    return "".join(written)


Convert = Callable[[str], str]


def converter(kind: Kind, pattern: str | None, language: str | None) -> Convert | str:
    """What turns texts of a column into what Shoal reads, or why there is no such thing.

    It raises ValueError for a text that is not of the format. A missing value becomes empty.
    """
    if kind is Kind.DATE:
        return _dates(pattern, language)
    if kind is Kind.FLOAT and pattern:
        return _missing_or(_decimals(language))
    return _missing_or(lambda text: _checked(kind, text))


def _checked(kind: Kind, text: str) -> str:
    kind.key(text)
    return text


def _dates(pattern: str | None, language: str | None) -> Convert | str:
    if not pattern:
        return _missing_or(lambda text: _checked(Kind.DATE, text))
    written = strftime_of(pattern)
    if written is None:
        return f"its date format {pattern!r} has no counterpart"
    if any(letter in re.sub(r"'[^']*'", "", pattern) for letter in _TIMES):
        return f"its date format {pattern!r} has times of day, and dates are days in Shoal"
    if any(name in written for name in _NAMES) and language not in (None, "EN"):
        return f"its date format {pattern!r} has names of another language than English"
    if "%y" in written:
        # Java takes the century from the day on which it reads, and others do so otherwise.
        return f"its date format {pattern!r} does not say the century of a year"
    if "%Y" not in written:
        return f"its date format {pattern!r} has no year"
    return _missing_or(lambda text: dt.datetime.strptime(text.strip(), written).date().isoformat())


def _decimals(language: str | None) -> Convert:
    decimal, grouping = (",", "[.]") if language in _COMMAS.split() else (".", ",")
    if language in _SPACES.split():
        grouping = _SPACE
    whole = rf"[0-9]+|[0-9]{{1,3}}(?:{grouping}[0-9]{{3}})+"
    form = re.compile(rf"([+-]?)({whole}|)(?:{re.escape(decimal)}([0-9]*))?(E[+-]?[0-9]+)?")

    def convert(text: str) -> str:
        match = form.fullmatch(text.strip())
        if match is None:
            # A mark at another place would be dropped, and the number another one.
            raise ValueError("not a number of its language")
        sign, digits, decimals, exponent = match.groups(default="")
        number = sign + re.sub(grouping, "", digits) + (f".{decimals}" if decimals else "")
        return _checked(Kind.FLOAT, number + exponent)

    return convert


def _missing_or(convert: Convert) -> Convert:
    return lambda text: "" if not text or text.upper() == NULL else convert(text)
