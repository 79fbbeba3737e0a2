"""Colours: legible on both kinds of page, and exchanged in drawings."""

import pytest

from shoal.look.palette import COLOURS, SERIES, colour, style_sheet, with_variables


def _brightness(code: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted((_brightness(one), _brightness(other)))
    return (lighter + 0.05) / (darker + 0.05)


TEXTS = [
    ("ink", "paper"),
    ("ink", "raised"),
    ("ink", "released"),
    ("muted", "paper"),
    ("accent", "paper"),
    ("alarm", "paper"),
    ("owner-ink", "owner"),
]


@pytest.mark.parametrize(("text", "ground"), TEXTS)
@pytest.mark.parametrize("dark", [0, 1])
def test_texts_have_the_contrast_of_aa(text: str, ground: str, dark: int) -> None:
    assert _contrast(COLOURS[text][dark], COLOURS[ground][dark]) >= 4.5


@pytest.mark.parametrize("mark", ["before", "after", "owner-line"])
@pytest.mark.parametrize("dark", [0, 1])
def test_marks_can_be_seen(mark: str, dark: int) -> None:
    assert _contrast(COLOURS[mark][dark], COLOURS["paper"][dark]) >= 2.5


def test_before_and_after_differ_in_grey() -> None:
    assert _contrast(colour("before"), colour("after")) > 1.3


def test_no_two_colours_are_the_same_on_a_light_page() -> None:
    codes = [light for light, _ in COLOURS.values()]
    assert len(set(codes)) == len(codes)  # a drawing is coloured anew by its codes


def test_a_drawing_takes_the_colours_of_its_page() -> None:
    drawing = f'<path fill="{colour("after")}" stroke="#123456"/>'
    assert with_variables(drawing) == '<path fill="var(--after)" stroke="#123456"/>'
    assert all(f"--{name}:" in style_sheet() for name in (*COLOURS, *SERIES))
