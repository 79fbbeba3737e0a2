"""Charts as files: a page of HTML, PNG or SVG; the owner's never by a release.

Uses `look`, `data.disk` and `judging`; the command line and what has a `save` use it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from shoal.data.disk import replacing
from shoal.errors import ParameterError
from shoal.look.drawing import FORMS, content, library
from shoal.look.pages import page
from shoal.look.pictures import Picture, Pictured, plotted, zone_of
from shoal.look.zoned import Zone
from shoal.studies.judging import refuse_beside_a_release

__all__ = ["Saved", "require", "save"]

PAGE = "html"
"""The form that also has the tables and words of pictures, and is dark where the reader's is."""


def require(path: str | os.PathLike[str], zone: Zone = Zone.OWNER) -> str:
    """The form a chart is saved in, by the suffix of the file; an error if it cannot be saved."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in (PAGE, *FORMS):
        raise ParameterError(
            f"{Path(path).name!r} is not a name for a chart", "let it end in .html, .png or .svg"
        )
    if zone is Zone.OWNER:
        refuse_beside_a_release(path)
    library()
    return form


def save(pictures: Sequence[Picture], path: str | os.PathLike[str]) -> None:
    """Write pictures as one chart, or as a page of HTML with their tables, by the suffix.

    FileError if one of them is the owner's, and a release is there.
    """
    form = require(path, zone_of(pictures))
    as_page = form == PAGE and pictures
    written = _page(pictures) if as_page else content(plotted(pictures), form)
    with replacing(path) as file:
        file.write(written)


def _page(pictures: Sequence[Picture]) -> bytes:
    """Pictures below each other, under the finding of the first."""
    figures = [picture.html(titled=place > 0) for place, picture in enumerate(pictures)]
    return page(pictures[0].title, *figures, zone=zone_of(pictures)).encode()


class Saved(Pictured):
    """Something for the owner to look at that can be written as a file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as a page of HTML without a script, as PNG or as SVG, by the suffix.

        FileError beside a release.
        """
        save(self.pictures(), path)
