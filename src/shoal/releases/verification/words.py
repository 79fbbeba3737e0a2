"""Names and texts from certificates, put so that they cannot pass for words of ours.

A certificate is anybody's file: what it calls its columns may hold line breaks, escape sequences,
or a sentence that reads like a verdict. Uses nothing; every module here uses it.
"""

import re

__all__ = ["NOT_TAKEN", "NOT_VALID", "SEEDED", "named", "on_one_line", "word"]

NOT_VALID = "not a valid Shoal certificate: a part is missing, or is not what it should be"
NOT_TAKEN = "the parameters are not ones that the method takes"
SEEDED = "the release was made with a seed, as a test: nothing is promised"

_LONGEST_LINE = 1000
"""Characters of a failure, whatever a file calls its columns."""

_LONGEST_NAME = 60
"""Characters of a name in the words of a promise."""


def on_one_line(text: str) -> str:
    r"""A text on one line, without anything that a terminal would obey.

    >>> print(on_one_line("holds\n\x1b[2J"))
    holds\n\x1b[2J
    """
    shown = text
    if len(text) > _LONGEST_LINE:
        shown = f"{text[:_LONGEST_LINE]}…"
    return "".join(map(_printable, shown))


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def named(name: str) -> str:
    """A name in quotes, and not long enough to bury what is said."""
    if len(name) > _LONGEST_NAME:
        return repr(f"{name[:_LONGEST_NAME]}…")
    return repr(name)


def word(value: object) -> str:
    """A plain word as it is; anything else in quotes.

    >>> word("k-anonymity"), word("holds: everything")
    ('k-anonymity', "'holds: everything'")
    """
    text = str(value)
    if re.fullmatch(r"[\w./-]{1,60}", text):
        return text
    return named(text)
