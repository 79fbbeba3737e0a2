"""`Picture`: a chart with all that belongs to it: the finding, how to read it, and its table.

Whoever cannot see the chart, or has no Altair, loses nothing but the drawing. Uses `drawing`,
`markup` and `zoned`; rooms that have something to show make pictures, reports lay them out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from shoal.arguments import typed
from shoal.errors import ParameterError, ShoalError
from shoal.look import drawing
from shoal.look.markup import Html, columns_of_figures, table, tag
from shoal.look.palette import with_variables
from shoal.look.zoned import Zone

__all__ = ["Picture", "Pictured", "plotted", "zone_of"]

Drawer = Callable[[Callable[[], Any]], str]
"""Makes SVG of what makes a chart."""

_FEW = 12
"""Rows up to which a table stands open below its chart."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A chart with its words and its table.

    title: the finding, as in "3 of 9 columns are left as they were"
    sentence: what is shown and how to read it; it is also the alternative text
    head, rows: the same figures as a table
    draw: makes the Altair chart when it is asked for
    """

    title: str
    sentence: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    draw: Callable[[], Any]
    zone: Zone

    def chart(self) -> Any:
        """The Altair chart under its title, marked with its zone."""
        return drawing.finished(self.draw(), self.title, self.zone)

    def html(
        self,
        *,
        variables: bool = True,
        titled: bool = True,
        svg: Drawer = drawing.drawn,
        words: Callable[[str], str] = str,
    ) -> Html:
        """A figure: the finding, the drawing and the table.

        variables: take the colours of the page, which may be dark; not every printer of PDF can
        titled: show the finding, which a heading above may have said already
        svg: makes the drawing, perhaps in another process
        words: gives a text in another language
        """
        badge = self.zone.badge(words) if self.zone is Zone.OWNER else None
        said = words(self.title)
        title = tag("strong", said, " ", badge) if titled else None
        caption = tag("figcaption", title, words(self.sentence))
        figures = table(
            [words(name) for name in self.head],
            [[words(cell) if isinstance(cell, str) else cell for cell in row] for row in self.rows],
            label=words(f"Table: {self.title}"),
            numbers=columns_of_figures(self.rows),
        )
        if len(self.rows) > _FEW:
            figures = tag("details", tag("summary", words("The same as a table")), figures)
        drawn = self._drawing(variables, svg, words)
        return tag("figure", caption, drawn, figures, cls=self.zone.value)

    def _drawing(self, variables: bool, svg: Drawer, words: Callable[[str], str]) -> Html:
        """The chart as SVG, or how to get one."""
        if not drawing.available():
            why = "There is no drawing, since Altair is not installed: pip install 'shoal[plots]'"
            return tag("p", words(why), cls="note")
        try:
            drawn = svg(self.draw)
        except ShoalError as error:
            return tag("p", words(str(error)), cls="note")
        if variables:
            drawn = with_variables(drawn)
        # Several drawings on one page must not share the names of their parts.
        own = sha256(drawn.encode()).hexdigest()[:8]
        drawn = drawn.replace('id="', f'id="p{own}').replace("url(#", f"url(#p{own}")
        # On a narrow screen it scrolls by itself, also by keys.
        label = f"{words(self.title)}. {words(self.sentence)}"
        return tag("div", Html(drawn), role="img", tabindex=0, aria_label=label)


@typed
def plotted(pictures: Sequence[Picture]) -> Any:
    """Pictures as one Altair chart, one below the other; ParameterError if there are none.

    It is the owner's if one of them is.
    """
    if not pictures:
        raise ParameterError("there is nothing to draw")
    if not all(isinstance(picture, Picture) for picture in pictures):
        raise ParameterError("has something that is not a Picture", option="pictures")
    drawn = [(picture.draw(), picture.title) for picture in pictures]
    return drawing.stacked(drawn, zone_of(pictures))


def zone_of(pictures: Sequence[Picture]) -> Zone:
    """The zone of several pictures: the owner's if one of them is."""
    zones = {picture.zone for picture in pictures}
    return Zone.OWNER if Zone.OWNER in zones else Zone.RELEASED


class Pictured:
    """Something that people may look at."""

    __slots__ = ()

    def pictures(self) -> tuple[Picture, ...]:
        """Charts with their findings and their tables."""
        raise NotImplementedError

    def plot(self) -> Any:
        """An Altair chart of all pictures, one below the other; needs `shoal[plots]`."""
        return plotted(self.pictures())
