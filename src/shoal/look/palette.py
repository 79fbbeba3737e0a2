"""The colours, each under the name of what it means, for light and for dark pages.

Charts are drawn in the light colours; in a page they become variables of its style sheet, so that
one drawing serves both. Before is grey and after is teal; what needs more colours takes those of
Okabe and Ito, which colour-blind people can tell apart. Uses nothing.
"""

import re

__all__ = ["COLOURS", "HEAT", "SERIES", "colour", "style_sheet", "with_variables"]

COLOURS = {
    "ink": ("#1b2529", "#e6edee"),
    "muted": ("#56646a", "#a5b4b9"),
    "paper": ("#fffefc", "#12191c"),
    "raised": ("#f4f6f6", "#1b2529"),
    "line": ("#cfd8da", "#38474d"),
    "accent": ("#0b6e6e", "#4fc3bd"),
    "released": ("#e0f1f0", "#10393a"),
    "before": ("#7d898e", "#8b999e"),
    "after": ("#0e7c7b", "#45b8b2"),
    "faded": ("#c3cdd0", "#43545a"),
    "owner": ("#fdebc8", "#4a3505"),
    "owner-ink": ("#6b4500", "#ffd27a"),
    "owner-line": ("#d98e04", "#d99a1f"),
    "alarm": ("#b3261e", "#ff8a80"),
    "blue": ("#0072b2", "#56a9dd"),
    "orange": ("#e69f00", "#e6a91a"),
    "vermilion": ("#d55e00", "#f07f33"),
    "purple": ("#cc79a7", "#d68fb8"),
    "sky": ("#56b4e9", "#7cc5ee"),
    "green": ("#009e73", "#2db891"),
    "heat-1": ("#d3e9e7", "#1d3d3f"),
    "heat-2": ("#9ccfcb", "#27595a"),
    "heat-3": ("#5aa9a6", "#367d7b"),
    "heat-4": ("#2a7f80", "#5fb3ad"),
    "heat-5": ("#0d4f52", "#b4e3de"),
}
"""Every colour by its name: on a light page, and on a dark one."""

SERIES = ("after", "orange", "blue", "purple", "vermilion", "sky", "green")
"""What tells several things of a kind apart, in this order."""

HEAT = ("heat-1", "heat-2", "heat-3", "heat-4", "heat-5")
"""From little to much: darker on a light page, lighter on a dark one."""

_NAME_OF = {light: name for name, (light, _) in COLOURS.items()}


def colour(name: str) -> str:
    """A colour as charts have it."""
    return COLOURS[name][0]


def style_sheet() -> str:
    """The colours as variables of a style sheet. Paper is always light."""
    light = "".join(f"--{name}:{pair[0]};" for name, pair in COLOURS.items())
    dark = "".join(f"--{name}:{pair[1]};" for name, pair in COLOURS.items())
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    )


def with_variables(drawing: str) -> str:
    """A drawing whose colours are those of the page it is in.

    Only attributes have colours: a text may be anybody's.

    >>> with_variables('<text fill="#0b6e6e">#0b6e6e</text>')
    '<text fill="var(--accent)">#0b6e6e</text>'
    """
    return re.sub(r'(?<==")#[0-9a-f]{6}(?=")', lambda found: _variable(found.group()), drawing)


def _variable(code: str) -> str:
    name = _NAME_OF.get(code)
    return code if name is None else f"var(--{name})"
