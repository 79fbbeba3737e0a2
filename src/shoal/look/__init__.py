"""One look for reports, charts and notebooks: colours, HTML, pictures and pages.

Nothing here knows what it shows. Uses `errors` and `exact`; every room that shows something to
people uses it. Altair is loaded when a picture is drawn.
"""

from shoal.look.markup import Html, entries, table, tag, together
from shoal.look.pages import page, section
from shoal.look.pictures import Picture, Pictured, plotted
from shoal.look.zoned import Zone

__all__ = [
    "Html",
    "Picture",
    "Pictured",
    "Zone",
    "entries",
    "page",
    "plotted",
    "section",
    "table",
    "tag",
    "together",
]
