"""The public report: one page of HTML that follows from the files of a release, and nothing else.

It looks at no clock, path or environment: the same files give the same bytes. Uses `promising`,
`contents` and `provenance`; `for_owner`, the workbench and the command line use it.
"""

import os

from shoal.arguments import typed
from shoal.look import Html, page, tag
from shoal.report import contents, promising, provenance
from shoal.report.subject import Published

__all__ = ["chapters_of", "contents_list", "public"]

CHAPTERS = {
    "promise": "What is promised",
    "against": "Against whom it holds",
    "person": "What it means for one person",
    "not-promised": "What is not promised",
    "columns": "What the release contains",
    "values": "How often each value is released",
    "risks": "Groups, and risks that anyone can compute",
    "parameters": "How it was made",
    "check": "How to check it",
    "files": "Files, and how to cite them",
    "glossary": "Words",
}
"""The sections by their names, for whoever looks for one."""


@typed
def public(release: Published | str | os.PathLike[str]) -> str:
    """The public report on a release, or on the folder of one, as a page of HTML.

    >>> import shoal
    >>> made = shoal.release(shoal.demo.table(), epsilon=1, delta="1e-6")
    >>> page = public(Published.of(made))
    >>> page.startswith("<!DOCTYPE html>"), "script" in page
    (True, False)
    """
    shown = release if isinstance(release, Published) else Published.read(release)
    if shown.failures:
        return _failing(shown)
    title = f"What release {shown.certificate.number[:8]} promises"
    return page(
        title,
        _head(shown),
        contents_list(chapters_of(shown)),
        *promising.sections(shown),
        *contents.sections(shown),
        *provenance.sections(shown),
        zone=shown.zone,
    )


def _failing(shown: Published) -> str:
    """The page on a release that does not hold: what its files say is explained to nobody."""
    number = shown.certificate.number
    return page(
        f"Release {number[:8]} fails verification",
        tag("div", *promising.warnings(shown), tag("p", f"This page is about release {number}.")),
        *promising.sections(shown),
        provenance.checking(shown),
        zone=shown.zone,
    )


def _head(shown: Published) -> Html:
    """What a report begins with: what it is about, and what must be seen first."""
    certificate = shown.certificate
    about = (
        f"This page is about release {certificate.number}, a table about people that was made with "
        "Shoal. It says what was promised to these people and what was not, and it contains "
        "nothing that the released files do not show."
    )
    return tag("div", *promising.warnings(shown), tag("p", about))


def chapters_of(shown: Published) -> dict[str, str]:
    """The sections that a report on a release has, apart from the owner's."""
    if shown.failures:
        return {name: CHAPTERS[name] for name in ("promise", "check")}
    return CHAPTERS


def contents_list(chapters: dict[str, str]) -> Html:
    """Links to the sections."""
    links = [tag("li", tag("a", words, href=f"#{name}")) for name, words in chapters.items()]
    return tag("nav", tag("ul", *links), cls="contents", aria_label="Contents")
