"""Sizes and times as pages show them. Uses nothing; `pages` gives them to templates."""

import time

__all__ = ["is_whole", "size_in_words", "when_in_words"]

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def size_in_words(size: float) -> str:
    """A number of bytes for people.

    >>> size_in_words(812), size_in_words(2_516_935), size_in_words(88_416_869)
    ('812 bytes', '2.5 MB', '88 MB')
    """
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.1f} {unit}" if unit != "bytes" and size < 10 else f"{size:.0f} {unit}"


def when_in_words(seconds: float) -> str:
    """A moment, in seconds since 1970, by the clock of this machine.

    >>> len(when_in_words(0))
    16
    """
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def is_whole(text: str) -> bool:
    """Whether a text is a whole number from 0 on, of a length that somebody would type.

    >>> is_whole("12"), is_whole("-1"), is_whole("9" * 5000)
    (True, False, False)
    """
    return text.isdecimal() and len(text) <= 18
