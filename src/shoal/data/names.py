"""Names of columns: whether they can be told apart, and whether they are names at all.

Uses `kinds`. `tables`, `sources`, `csv_files` and `databases` use it. Messages give the places of
columns and not their names, since a line that is taken for names may be a record.
"""

import re
import unicodedata
from collections.abc import Sequence

from shoal.data.kinds import Kind
from shoal.errors import ColumnError

__all__ = ["like_a_record", "require_names"]

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
"""Letters, marks and symbols that have no ink."""

_OWN = "\0"  # no file has it; it begins the names of columns that Shoal adds for itself


def require_names(names: Sequence[str], where: str = "") -> None:
    """ColumnError unless every column has a name that people and programs can tell from the others.

    where: the file, for the message
    """
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        looks = _looks(name)
        if not looks:
            raise ColumnError(f"column {place} has no name", "give it one", where=where)
        if looks in seen:
            raise ColumnError(
                f"the names of columns {seen[looks]} and {place} differ only in case, blanks, "
                "invisible characters or Unicode form",
                "rename one",
                where=where,
            )
        seen[looks] = place


def _looks(name: str) -> str:
    """A name without what cannot be seen, or is lost when names are copied."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    visible = "".join(letter for letter in folded if _is_visible(letter))
    return " ".join(visible.split())


def _is_visible(letter: str) -> bool:
    if letter.isspace() or letter == _OWN:
        return True
    return unicodedata.category(letter) not in ("Cf", "Cc") and not _INVISIBLE.match(letter)


def like_a_record(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether names look like values: numbers, dates, values of the column, or spelled like them.

    A column may be called like one of its values, such as `urban`. That alone is no sign where
    other names are words above columns of numbers, as no record would have those.

    >>> like_a_record(["name", "ward"], [["Ann", "Bea"], ["w1", "w2"]])
    False
    >>> like_a_record(["Ann", "w1"], [["Bea", "Cid"], ["w2", "w3"]])
    True
    """
    columns = list(zip(names, below, strict=True))
    words = sum(_is_word_above_numbers(name, values) for name, values in columns)
    for name, values in columns:
        if name and (_like_a_value(name) or (name in values and words < _CERTAIN)):
            return True
        if not re.search(r"[\d@]", name):
            continue
        spellings = {_spelling(value) for value in values[:100] if value}
        if spellings == {_spelling(name)}:
            return True
    return False


_CERTAIN = 2
"""Names that are words above columns of numbers, from which they are names for certain."""


def _is_word_above_numbers(name: str, values: Sequence[str]) -> bool:
    """Whether a column has numbers or dates only, and its name is none."""
    known = [value for value in values[:100] if value]
    return bool(name and known) and not _like_a_value(name) and all(map(_like_a_value, known))


def _spelling(text: str) -> str:
    """How a text is written: "P-0012" is letters, a dash and digits."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", text))


def _like_a_value(name: str) -> bool:
    for kind in (Kind.FLOAT, Kind.DATE):
        try:
            kind.key(name)
        except (ValueError, TypeError):
            continue
        return True
    return False
