"""The two zones as they look: what only the owner may see, and what may be published.

Colour is never the only mark: each zone has its words and its sign. Uses `markup`; `pages` and
`pictures` use it.
"""

from collections.abc import Callable
from enum import Enum

from shoal.look.markup import Html, tag

__all__ = ["Zone"]

_LOCK = (
    '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">'
    '<path fill="none" stroke="currentColor" stroke-width="1.6" d="M5 7V5a3 3 0 0 1 6 0v2"/>'
    '<rect x="3" y="7" width="10" height="7" rx="1.2" fill="currentColor"/></svg>'
)
_DOCUMENT = (
    '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">'
    '<path fill="none" stroke="currentColor" stroke-width="1.6" d="M3.5 1.5h6l3 3v10h-9z"/>'
    '<path fill="none" stroke="currentColor" stroke-width="1.2" d="M5.5 7h5M5.5 9.5h5M5.5 12h3"/>'
    "</svg>"
)


class Zone(Enum):
    """Who may see something."""

    OWNER = "owner"
    RELEASED = "released"

    @property
    def words(self) -> str:
        """What the band of the zone says."""
        if self is Zone.OWNER:
            return "Owner only – reveals information about the input"
        return "May be published"

    @property
    def short(self) -> str:
        """The same, beside a single figure."""
        return "Owner only" if self is Zone.OWNER else "May be published"

    @property
    def sign(self) -> Html:
        """A closed lock, or a document that lies open."""
        return Html(_LOCK if self is Zone.OWNER else _DOCUMENT)

    def band(self) -> Html:
        """The band across a page."""
        return tag("p", self.sign, " ", self.words, cls=f"band {self.value}")

    def badge(self, words: Callable[[str], str] = str) -> Html:
        """The mark beside a heading or a picture; `words` gives its text in another language."""
        return tag("span", self.sign, " ", words(self.short), cls=f"badge {self.value}")
