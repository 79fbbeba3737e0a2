"""A report as PDF, by WeasyPrint, which is an extra.

Nothing is fetched: a report has all it needs inside. Uses `look`; the command line uses it.
"""

import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from shoal.errors import InternalError, ShoalError
from shoal.look.palette import COLOURS, colour

__all__ = ["as_pdf", "require_printer"]

_MARKUP = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)
_VARIABLE = re.compile(rf"var\(--({'|'.join(COLOURS)})\)")


def require_printer() -> Any:
    """WeasyPrint; ShoalError if it, or what it draws with, is not installed."""
    try:
        # Where it does not find Pango it prints advice of its own.
        with redirect_stdout(StringIO()):
            import weasyprint
    except ImportError:
        raise ShoalError(
            "a PDF needs WeasyPrint", "install it with: pip install 'shoal[pdf]'"
        ) from None
    except OSError:
        raise ShoalError(
            "WeasyPrint needs the library Pango, which is not installed",
            "install it; on Debian: apt-get install libpangoft2-1.0-0",
        ) from None
    return weasyprint


def as_pdf(html: str) -> bytes:
    """A page of HTML as a PDF."""
    document = require_printer().HTML(string=on_paper(html), url_fetcher=_refuse)
    pdf: bytes = document.write_pdf()
    return pdf


def on_paper(html: str) -> str:
    """A page in the colours of paper: drawings have no variables where it is printed.

    Only tags and the style sheet have them: a text may be anybody's.

    >>> on_paper('<text fill="var(--accent)">var(--other)</text>')
    '<text fill="#0b6e6e">var(--other)</text>'
    """
    return _MARKUP.sub(lambda found: _coloured(found[0]), html)


def _coloured(markup: str) -> str:
    return _VARIABLE.sub(lambda found: colour(found[1]), markup)


def _refuse(url: str, *_: object, **__: object) -> Any:
    raise InternalError("a report asks for something that is not in it")
