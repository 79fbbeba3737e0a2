"""Every page that a test opens, once more in each other language: what is still English there.

Tests of screens go everywhere, and provoke what goes wrong. So nothing has to be walked again to
know what a page would say in another language: the same template is filled a second time.
"""

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from shoal.look.zoned import Zone
from shoal.workbench.pages import Here
from shoal.workbench.texts import LANGUAGES, translator

_MARKED = re.compile(r'<span lang="en">(.*?)</span>', re.DOTALL)
"""What a page marks since it is not known in its language."""


class Blank:
    """A pen that draws nothing: what is in charts is tested with them."""

    def svg(self, draw: Any, language: str = "en") -> str:
        """An empty chart."""
        return ""


def still_english(page: str) -> list[str]:
    """What a page shows in English, though it is in another language."""
    return _MARKED.findall(page)


def twin(here: Here, language: str) -> Here:
    """The same request, in another language."""
    made = copy.copy(here)
    made.__dict__.pop("_", None)
    made.__dict__["language"] = language
    made.desk = copy.copy(here.desk)
    made.desk.__dict__["pen"] = Blank()
    return made


@contextmanager
def watched() -> Iterator[list[tuple[str, str, str]]]:
    """What is still English on any page that is made meanwhile: its language, template and text."""
    found: list[tuple[str, str, str]] = []
    page = Here.page

    def watching(
        here: Here, template: str, *, zone: Zone = Zone.OWNER, status: int = 200, **context: Any
    ) -> Any:
        made = page(here, template, zone=zone, status=status, **context)
        for language in LANGUAGES:
            if language != "en":
                given = context | {"_": translator(language)}
                other = page(twin(here, language), template, zone=zone, status=status, **given)
                shown = bytes(other.body).decode()
                found.extend((language, template, text) for text in still_english(shown))
        return made

    with mock.patch.object(Here, "page", watching):
        yield found
